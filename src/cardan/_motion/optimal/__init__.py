"""Optimal control: problems of users' functions, solved by iterated Riccati recursions."""

from cardan._algebra.lazy import imported_later

with imported_later(globals()):
    from cardan._motion.optimal.descent import Solution, solve
    from cardan._motion.optimal.problem import Problem
    from cardan._motion.optimal.riccati_sweep import Riccati, riccati
    from cardan._motion.optimal.sampling import Rollout, predictive_sampling

__all__ = ["Problem", "Riccati", "Rollout", "Solution", "predictive_sampling", "riccati", "solve"]
