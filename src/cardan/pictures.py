"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._reach.pictures import *

show(__name__, "cardan._reach.pictures")
