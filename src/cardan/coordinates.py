"""Every change of coordinates: other trees of a mechanism, other representations of the base, other libraries."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._dynamics.coordinates import *

_show(__name__, "cardan._dynamics.coordinates")
