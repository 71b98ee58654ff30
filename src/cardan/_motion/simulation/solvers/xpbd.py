"""Position-based dynamics over any joint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from cardan._dynamics.algorithms.tree import supports
from cardan._motion.simulation.solvers.maximal import MaximalSolver
from cardan._motion.simulation.solvers.solver import checked_steps
from cardan._motion.simulation.world import World


class XPBD(MaximalSolver):
    """Bodies move as they please, then one joint after the other moves them back: XPBD.

    Of order 1; loses energy at first order. Cheap with few iterations, at the price of gaps that `residual` shows.
    Drives, damping, friction and stops act with the weight as the joints allow, before bodies move. Contacts are rigid:
    nothing overlaps at a step's end, what sticks stays where it was, restitution is of the velocities after it.

    Args:
        world: what moves.
        dt: length of a step [s].
        iterations: over all joints; over contacts twice as many.
        substeps: into how many equal ones a step is cut.
        limits: whether the joints' position limits are stops.
        contacts: False to let everything pass through everything else.

    Raises:
        UnsupportedError: for a world with something the solver would leave out (`supports`).
        ParameterError: for values that cannot be.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> solver = cardan.solvers.XPBD(world, dt=0.001)
        >>> bool(solver.step(world.state()).time[0] > 0.0)
        True

    Source: `algorithms/maximal_steps/xpbd.py`.
    """

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        iterations: int = 4,
        substeps: int = 1,
        limits: bool = True,
        contacts: bool = True,
    ) -> None:
        self.iterations = checked_steps(iterations, "iterations")
        super().__init__(world, dt, substeps=substeps, limits=limits, contacts=contacts)

    supports: ClassVar[Mapping[str, str]] = {
        **MaximalSolver.supports,
        "what a kinematic joint moves by other joints": "its passes over the joints would push the joint back: take "
        "cardan.solvers.Featherstone or Variational",
    }

    def features(self) -> Iterator[tuple[str, str]]:
        yield from super().features()
        model, told = self.world.model, self.world.kinematic
        tree = {node.name: supports(model, node.index)[-1] for node in model.nodes}
        moved = {tree[joint]: joint for joint in told}
        others = [(node.name, tree[node.name]) for node in model.nodes if node.name not in told]
        ends = [(c.name, model.attachment(body).node) for c in model.closures for body in (c.parent, c.child)]
        others += [(name, tree[model.nodes[at].name]) for name, at in ends if at >= 0]
        for name, first in others:
            if first in moved:
                yield (
                    "what a kinematic joint moves by other joints",
                    f"joint {name!r} in the tree of {moved[first]!r}, which moves as it is told",
                )

    def method(self) -> tuple[str, dict[str, Any]]:
        """Return how a step is taken."""
        return "xpbd", {"iterations": self.iterations}
