"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none).

`scene.py` has a geometry as four-cornered facets, and a robot as coloured facets and lines: both kinds of picture draw
those, matplotlib's (`robot_plot.py`, `animation.py`, `maps.py`) and the SVG of a notebook (`html.py`).
`arguments.py` checks what is given. A new shape is one branch of `scene.facets_of`.
"""

from cardan._reach.pictures.animation import animate
from cardan._reach.pictures.maps import manipulability, workspace, yoshikawa
from cardan._reach.pictures.robot_plot import plot
from cardan._reach.pictures.trajectory_plot import plot_trajectory

__all__ = ["animate", "manipulability", "plot", "plot_trajectory", "workspace", "yoshikawa"]
__dir__ = __all__.copy
