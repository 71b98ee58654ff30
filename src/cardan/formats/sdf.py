"""SDF, the format of Gazebo, read and written."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.formats.sdf import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.formats.sdf")
