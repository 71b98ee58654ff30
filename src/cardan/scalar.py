"""Elementary functions of a scalar of any type."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._algebra.scalar import *

__getattr__, __dir__ = shown(__name__, "cardan._algebra.scalar")
