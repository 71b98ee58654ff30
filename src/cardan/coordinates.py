"""Every change of coordinates: other trees of a mechanism, other representations of the base, other libraries."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._dynamics.coordinates import *

__getattr__, __dir__ = shown(__name__, "cardan._dynamics.coordinates")
