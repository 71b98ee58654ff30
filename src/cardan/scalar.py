"""Elementary functions of a scalar of any type."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.scalar import *
