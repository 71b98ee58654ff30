"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.pictures import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.pictures")
