"""Worlds and their states: what a solver moves."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._motion.simulation import *

show(__name__, "cardan._motion.simulation")
