"""Elementary functions of a scalar of any type."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._algebra.scalar import *

_show(__name__, "cardan._algebra.scalar")
