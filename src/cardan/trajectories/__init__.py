"""Motions in time: splines on the manifold, time laws, timing along paths, straight lines of poses."""

from typing import TYPE_CHECKING

from cardan.lazy import fetcher

if TYPE_CHECKING:
    from cardan.trajectories.fourier import FourierSeries
    from cardan.trajectories.least_time import time_optimal
    from cardan.trajectories.point_to_point import MinimumJerk, Trapezoidal
    from cardan.trajectories.pose_move import PoseMove, PoseSample
    from cardan.trajectories.spline import Spline
    from cardan.trajectories.time_laws import TimeLaw
    from cardan.trajectories.timed import Timed
    from cardan.trajectories.trajectory import Sample, Trajectory

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
    ".time_laws": "TimeLaw",
    ".least_time": "time_optimal",
    ".timed": "Timed",
    ".trajectory": "Sample Trajectory",
}
__getattr__ = fetcher(__name__, _HOMES)
__dir__ = __all__.copy
