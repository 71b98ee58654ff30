"""The command line: `cardan COMMAND FILE ...`."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show

if TYPE_CHECKING:
    from cardan._reach.cli import *

show(__name__, "cardan._reach.cli")
