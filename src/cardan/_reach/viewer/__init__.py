"""Robots seen in a browser, moved and dragged there (extra `view`)."""

from cardan._reach.viewer.playback import Playback
from cardan._reach.viewer.shown_robot import ShownRobot
from cardan._reach.viewer.viewer import Viewer, show

__all__ = ["Playback", "ShownRobot", "Viewer", "show"]
__dir__ = __all__.copy
