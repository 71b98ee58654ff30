"""Arrays on a device: NumPy's copied there and back, those of other libraries taken where they are."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._reach.interop.cuda import *

show(__name__, "cardan._reach.interop.cuda")
