"""Arrays on a device: NumPy's copied there and back, those of other libraries taken where they are."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.interop.cuda import *

_show(__name__, "cardan._reach.interop.cuda")
