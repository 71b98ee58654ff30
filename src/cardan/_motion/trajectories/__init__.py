"""Motions in time: splines on the manifold, time laws, timing along paths, straight lines of poses."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import fetcher

if TYPE_CHECKING:
    from cardan._motion.trajectories.fourier import FourierSeries
    from cardan._motion.trajectories.least_time import time_optimal
    from cardan._motion.trajectories.point_to_point import MinimumJerk, Trapezoidal
    from cardan._motion.trajectories.pose_move import PoseMove, PoseSample
    from cardan._motion.trajectories.spline import Spline
    from cardan._motion.trajectories.time_laws import Timed, TimeLaw
    from cardan._motion.trajectories.trajectory import Sample, Trajectory

__all__ = [
    "FourierSeries",
    "MinimumJerk",
    "PoseMove",
    "PoseSample",
    "Sample",
    "Spline",
    "TimeLaw",
    "Timed",
    "Trajectory",
    "Trapezoidal",
    "time_optimal",
]

_HOMES = {
    ".fourier": "FourierSeries",
    ".point_to_point": "MinimumJerk Trapezoidal",
    ".pose_move": "PoseMove PoseSample",
    ".spline": "Spline",
    ".time_laws": "TimeLaw Timed",
    ".least_time": "time_optimal",
    ".trajectory": "Sample Trajectory",
}
__getattr__ = fetcher(__name__, _HOMES)
__dir__ = __all__.copy
