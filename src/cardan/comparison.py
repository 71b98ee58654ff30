"""Two descriptions of robots compared: what differs, where first, and what most likely caused it."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.comparison import *

_show(__name__, "cardan._reach.comparison")
