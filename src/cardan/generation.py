"""Functions of a robot as source code for other machines: one file of C, or a library with its headers and CMake."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.generation import *

_show(__name__, "cardan._reach.generation")
