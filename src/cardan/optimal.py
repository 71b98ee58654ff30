"""Optimal control: problems of users' functions, solved by iterated Riccati recursions."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._motion.optimal import *

_show(__name__, "cardan._motion.optimal")
