"""Arrays on a device: NumPy's copied there and back, those of other libraries taken where they are."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.interop.cuda import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.interop.cuda")
