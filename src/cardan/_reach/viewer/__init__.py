"""Robots seen in a browser, moved and dragged there (extra `view`).

The page, its widgets and its protocol are viser's; here is what a robot needs of them. `viewer.py` has what users call,
`shown_robot.py` one robot, `playback.py` a trajectory. `served_scene.py` has viser's server, the one thread that
changes what it shows, and poses of everything in all worlds, by one compiled call; nothing else sends. What is drawn:
`scene_layers.py` (a function for each layer, contacts, the surfaces of shapes). What moves it: `controls.py` (sliders,
one number a degree of freedom, on any manifold; handles).
"""

from cardan._reach.viewer.playback import Playback
from cardan._reach.viewer.shown_robot import ShownRobot
from cardan._reach.viewer.viewer import Viewer, show

__all__ = ["Playback", "ShownRobot", "Viewer", "show"]
__dir__ = __all__.copy
