"""Robots seen in a browser, moved and dragged there (extra `view`)."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.viewer import *

_show(__name__, "cardan._reach.viewer")
