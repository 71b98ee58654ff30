"""The joints: the protocol, its implementations, one a file, and limits."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._robot.joints import *

__getattr__, __dir__ = shown(__name__, "cardan._robot.joints")
