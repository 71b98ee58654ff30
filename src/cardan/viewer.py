"""Robots seen in a browser, moved and dragged there (extra `view`)."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.viewer import *
