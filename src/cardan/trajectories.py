"""Motions in time: splines on the manifold, time laws, timing along paths."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._motion.trajectories import *
