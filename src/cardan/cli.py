"""The command line: `cardan COMMAND FILE ...`."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.cli import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.cli")
