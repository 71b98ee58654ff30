"""Optimal control: problems of users' functions, solved by iterated Riccati recursions."""

from cardan._algebra.lazy import imported_later

with imported_later(globals()):
    from cardan._motion.optimal.descent import Solution, solve
    from cardan._motion.optimal.problem import Problem
    from cardan._motion.optimal.riccati_sweep import Riccati, riccati

__all__ = ["Problem", "Riccati", "Solution", "riccati", "solve"]
__dir__ = __all__.copy
