"""Optimal control: problems of users' functions, solved by iterated Riccati recursions."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._motion.optimal import *
