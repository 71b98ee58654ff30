"""Environments of Gymnasium, with many worlds in one step; importing this registers them (extra `gym`)."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.gym import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.gym")
