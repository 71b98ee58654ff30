"""Every error cardan raises on purpose."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.errors import *
