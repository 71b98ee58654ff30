"""Benchmarks: cardan beside its peers in one run. `python -m benchmarks` prints the tables; see README.md."""
