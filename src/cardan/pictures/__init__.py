"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from cardan.pictures.maps import manipulability, workspace, yoshikawa
from cardan.pictures.robot_plot import plot
from cardan.pictures.trajectory_plot import plot_trajectory

__all__ = ["manipulability", "plot", "plot_trajectory", "workspace", "yoshikawa"]


def __dir__() -> list[str]:
    return list(__all__)
