"""Worlds and their states: what a solver moves."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._motion.simulation import *
