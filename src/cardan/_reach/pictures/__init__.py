"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from cardan._reach.pictures.animation import animate
from cardan._reach.pictures.maps import manipulability, workspace, yoshikawa
from cardan._reach.pictures.robot_plot import plot
from cardan._reach.pictures.trajectory_plot import plot_trajectory

__all__ = ["animate", "manipulability", "plot", "plot_trajectory", "workspace", "yoshikawa"]
__dir__ = __all__.copy
