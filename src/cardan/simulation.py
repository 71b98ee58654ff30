"""Worlds and their states: what a solver moves."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._motion.simulation import *

_show(__name__, "cardan._motion.simulation")
