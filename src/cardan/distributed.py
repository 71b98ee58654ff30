"""Functions of a robot over more states than memory holds: in chunks, on many processes or machines."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.distributed import *

_show(__name__, "cardan._reach.distributed")
