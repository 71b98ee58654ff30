"""Two descriptions of robots compared: what differs, where first, and what most likely caused it."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.comparison import *
