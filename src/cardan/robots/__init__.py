"""Mechanisms that ship with the package: as builders with parameters, and as URDF files.

A length, mass or other size that is not a positive number raises `ParameterError`.
"""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._robot.shipped import *

_show(__name__, "cardan._robot.shipped")
