"""Springs for joints."""

from __future__ import annotations

from typing import Any

from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import is_finite
from cardan._motion.simulation.solvers.maximal import MaximalSolver
from cardan._motion.simulation.solvers.solver import checked_steps
from cardan._motion.simulation.world import World


class SemiImplicit(MaximalSolver):
    """Bodies that springs hold together: what a joint does not allow is pushed back by its gap and rate.

    Of order 1; gaps are those of the springs (`residual`). Contacts are springs, too, as stiff as their material if the
    step allows, damped so that they give back its restitution; their friction creeps, by the length of a part of a step
    times a few times the slope's pull.

    Args:
        world: what moves.
        dt: length of a step [s].
        stiffness: of the springs [N/m, N m/rad]; None for as stiff as each row's bodies and the step allow.
        damping: of the springs [N s/m, N m s/rad]; None likewise.
        parts: into which a step is cut, between which the springs are asked.
        substeps: into how many equal ones a step is cut.
        limits: whether the joints' position limits are stops.
        contacts: False to let everything pass through everything else.

    Raises:
        UnsupportedError: for a world with something the solver would leave out (`supports`).
        ParameterError: for values that cannot be.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> solver = cardan.solvers.SemiImplicit(world, dt=0.001)
        >>> bool(solver.step(world.state()).time[0] > 0.0)
        True

    Source: `algorithms/maximal_steps/semi_implicit.py`.
    """

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        stiffness: float | None = None,
        damping: float | None = None,
        parts: int = 4,
        substeps: int = 1,
        limits: bool = True,
        contacts: bool = True,
    ) -> None:
        for name, value in (("stiffness", stiffness), ("damping", damping)):
            if value is not None and not (is_finite(value) and value >= 0.0):
                raise ParameterError(name, got=value, expected="a number >= 0, or None")
        self.stiffness = None if stiffness is None else float(stiffness)
        self.damping = None if damping is None else float(damping)
        self.parts = checked_steps(parts, "parts")
        super().__init__(world, dt, substeps=substeps, limits=limits, contacts=contacts)

    def method(self) -> tuple[str, dict[str, Any]]:
        """Return how a step is taken."""
        return "semi_implicit", {"stiffness": self.stiffness, "damping": self.damping, "parts": self.parts}
