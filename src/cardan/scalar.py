"""Elementary functions of a scalar of any type."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._algebra.scalar import *

show(__name__, "cardan._algebra.scalar")
