"""Pictures of robots and of what they do (extra `plot`; the picture of a notebook needs none)."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.pictures import *
