"""The command line: `cardan COMMAND FILE ...`."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.cli import *

_show(__name__, "cardan._reach.cli")
