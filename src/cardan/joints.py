"""The joints: the protocol, its implementations, one a file, and limits."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._robot.joints import *

_show(__name__, "cardan._robot.joints")
