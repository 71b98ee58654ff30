"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.pictures import *

_show(__name__, "cardan._reach.pictures")
