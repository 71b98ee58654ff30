"""Functions of a robot as functions of CasADi: compiled, with first and second derivatives, without Python."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.interop.casadi import *

_show(__name__, "cardan._reach.interop.casadi")
