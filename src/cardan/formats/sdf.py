"""SDF, the format of Gazebo, read and written."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._reach.formats.sdf import *

show(__name__, "cardan._reach.formats.sdf")
