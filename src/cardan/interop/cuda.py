"""Arrays on a device: NumPy's copied there and back, those of other libraries taken where they are."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.interop.cuda import *
