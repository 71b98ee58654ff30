"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from cardan.pictures.animation import animate
from cardan.pictures.maps import manipulability, workspace, yoshikawa
from cardan.pictures.robot_plot import plot
from cardan.pictures.trajectory_plot import plot_trajectory

__all__ = ["animate", "manipulability", "plot", "plot_trajectory", "workspace", "yoshikawa"]
__dir__ = __all__.copy
