"""Pictures of robots and of what they do (extra `plot`).

`scene.py` has a geometry as four-cornered facets, and a robot as coloured facets and lines: `robot_plot.py`
and `animation.py` draw those, and `html.py` shows them in a notebook.
A new shape is one branch of `scene.facets_of`.
"""

from cardan._reach.pictures.animation import animate
from cardan._reach.pictures.robot_plot import plot

__all__ = ["animate", "plot"]
__dir__ = __all__.copy
