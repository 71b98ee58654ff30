"""Robots seen in a browser, moved and dragged there (extra `view`)."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.viewer import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.viewer")
