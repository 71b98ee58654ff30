"""Every error cardan raises on purpose."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._algebra.errors import *

__getattr__, __dir__ = shown(__name__, "cardan._algebra.errors")
