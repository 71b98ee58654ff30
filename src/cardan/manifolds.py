"""Configuration spaces: how nv velocities move nq coordinates."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._algebra.manifolds import *

__getattr__, __dir__ = shown(__name__, "cardan._algebra.manifolds")
