"""Worlds and their states: what a solver moves."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._motion.simulation import *

__getattr__, __dir__ = shown(__name__, "cardan._motion.simulation")
