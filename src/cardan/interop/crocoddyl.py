"""Problems of optimal control for the solvers of Crocoddyl: compiled steps and costs are its action models."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.interop.crocoddyl import *

_show(__name__, "cardan._reach.interop.crocoddyl")
