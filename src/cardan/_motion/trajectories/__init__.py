"""Motions in time: splines on the manifold, time laws, timing along paths."""

from cardan._algebra.lazy import imported_later

with imported_later(globals()):
    from cardan._motion.trajectories.curves import FourierSeries, Spline
    from cardan._motion.trajectories.time_laws import MinimumJerk, Timed, TimeLaw, Trapezoidal
    from cardan._motion.trajectories.trajectory import Sample, Trajectory

__all__ = [
    "FourierSeries", "MinimumJerk", "Sample", "Spline", "TimeLaw", "Timed", "Trajectory",
    "Trapezoidal",
]  # fmt: skip
