"""What inverse kinematics found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class InverseKinematics:
    """Configurations for targets, and what they reach.

    Attributes:
        q: the configuration found [rad, m], shape (..., nq), float64; where none does what is asked, that with the
            smallest squared error, each entry times its weight.
        converged: whether all entries of the tasks' errors are within the tolerance, and q within the limits [-],
            (...).
        residual: the largest entry of the errors at q [m, rad], without weights, of those whose weight is not 0, (...).
            Of both, tasks of lower priority are no part.
        restarts: how often a descent was begun anew, from a random configuration [-], (...).
        iterations: passes of all descents [-], (...).

    Examples:
        >>> found = cardan.inverse_kinematics(arm, frame="tool", target=cardan.frame_transform(arm, q, "tool"))
        >>> found.q.shape, bool(found.converged)
        ((7,), True)
    """

    q: np.ndarray
    converged: np.ndarray
    residual: np.ndarray
    restarts: np.ndarray
    iterations: np.ndarray

    def __str__(self) -> str:
        done, count = int(np.sum(self.converged)), int(np.size(self.converged))
        worst = float(np.max(self.residual, initial=0.0))
        return f"{done} of {count} problems solved, largest residual {worst:.3g}, {int(np.sum(self.restarts))} restarts"
