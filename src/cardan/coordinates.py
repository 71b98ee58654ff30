"""Every change of coordinates: other trees of a mechanism, other representations of the base, other libraries."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._dynamics.coordinates import *
