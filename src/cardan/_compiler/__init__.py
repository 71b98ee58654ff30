"""Programs: from operations on symbols to functions on arrays.

Here belongs what makes code of a calculation and runs it: the representation, its passes and its differentiation
(`program`), machine code, C, CUDA and NumPy (`targets`), the cache on disk, threads and memory (`runtime`).
It knows nothing of robots.

May import: `_algebra`.
Begin with `program/program.py`, `program/passes.py` and `targets/numpy.py`, the definition all targets must equal.
"""
