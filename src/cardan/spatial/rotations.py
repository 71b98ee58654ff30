"""Rotations and their charts: quaternion (x, y, z, w), rotation vector, modified Rodrigues parameters, Euler angles."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._algebra.spatial.rotations import *

_show(__name__, "cardan._algebra.spatial.rotations")
