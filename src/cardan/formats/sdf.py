"""SDF, the format of Gazebo, read and written."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.formats.sdf import *

_show(__name__, "cardan._reach.formats.sdf")
