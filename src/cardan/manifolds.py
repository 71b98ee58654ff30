"""Configuration spaces: how nv velocities move nq coordinates."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._algebra.manifolds import *
