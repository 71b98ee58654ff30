"""Every error cardan raises on purpose."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._algebra.errors import *

_show(__name__, "cardan._algebra.errors")
