"""What solvers in maximal coordinates share: every body by its own pose, joints as constraints between them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

from cardan._algebra.errors import UnsupportedError
from cardan._dynamics.algorithms.drives import DriveCommand
from cardan._dynamics.algorithms.kinematic import KinematicJoints
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.functions import Function
from cardan._motion.contact.touching import Pair
from cardan._motion.maximal_steps import (
    Body,
    advance,
    at_start,
    semi_implicit_start,
    variational_step,
    xpbd_step,
)
from cardan._motion.simulation.collide import check_pages
from cardan._motion.simulation.pairs import ContactPair
from cardan._motion.simulation.solvers.solver import SHARED, YES, CompiledSolver, left_out
from cardan._motion.simulation.solvers.step_function import state_after, step_function
from cardan._motion.simulation.world import World

STARTS: dict[str, Any] = {
    "variational": partial(at_start, variational_step),
    "xpbd": partial(at_start, xpbd_step),
    "semi_implicit": lambda **options: partial(semi_implicit_start, **options),
}
"""How a step is taken, by name, given its options."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a step is made for, beside the model.

    Args:
        method: one of `STARTS`.
        dt: length of a step [s].
        options: of the method, by name.
        pairs: what may touch.
        limits: whether the joints' position limits are stops.
        kinematic: names of the joints that move as they are told.
    """

    method: str
    dt: float
    options: tuple[tuple[str, Any], ...]
    pairs: tuple[ContactPair, ...]
    limits: bool
    kinematic: tuple[str, ...] = ()


class MaximalSolver(CompiledSolver):
    """A solver that moves every body by itself and brings joints together.

    A state is coordinates, which keep no gaps: each step begins with closed joints, and what velocities it leaves are
    projected to those the joints allow. `residual` is the largest gap of a step over its length, or by how much the
    last pass over contacts changed a velocity.

    Args:
        world: what moves.
        dt: length of a step [s].
        substeps: into how many equal ones a step is cut.
        limits: whether the joints' position limits are stops.
        contacts: False to let everything pass through everything else.

    Raises:
        UnsupportedError: for a world with something the solver would leave out.
        ParameterError: for values that cannot be.
    """

    supports: ClassVar[Mapping[str, str]] = {
        **SHARED,
        "distance": YES,
        "cable": YES,
        "link without inertia": "give it one, or take cardan.solvers.Featherstone",
        "contact": YES,
        "rolling friction": "take cardan.solvers.Featherstone, whose convex law has it",
    }

    def __init__(
        self, world: World, dt: float, *, substeps: int = 1, limits: bool = True, contacts: bool = True
    ) -> None:
        self.limits, self.contacts = limits, contacts
        super().__init__(world, dt, substeps)

    @abstractmethod
    def method(self) -> tuple[str, dict[str, Any]]:
        """Return how a step is taken, one of `STARTS`, and its options."""

    def features(self) -> Iterator[tuple[str, str]]:
        """Yield what is in the world that not every solver takes."""
        model = self.world.model
        yield from left_out(model)
        for node in model.nodes:
            if not _has_inertia(node):
                yield "link without inertia", f"what joint {node.name!r} moves, without mass or inertia"
        for pair in self.world.pairs if self.contacts else ():
            if pair.material.torsional or pair.material.rolling:
                yield "rolling friction", f"torsional or rolling friction ({pair.name})"

    def _check_support(self) -> None:
        super()._check_support()
        check_pages(self.world.pairs if self.contacts else ())

    @cached_property
    def settings(self) -> Settings:
        """What a step is made for."""
        method, options = self.method()
        pairs = self.world.pairs if self.contacts else ()
        dt, limits = self.dt / self.substeps, bool(self.limits)
        return Settings(method, dt, tuple(options.items()), pairs, limits, self.world.kinematic)

    @cached_property
    def function(self) -> Function[..., Any]:
        """One step (of `dt / substeps`) of model, q, v, count and, each optional, effort, position, velocity, wrenches.

        Results: q, v; warm, the mean accelerations; count, how many steps were good; residual. See `State`.
        """
        return step_function("maximal_step", advanced, self.settings)


def _has_inertia(node: Any) -> bool:
    try:
        Body(node)
    except UnsupportedError:
        return False
    return True


def advanced(
    told: KinematicJoints,
    q: Vector,
    v: Vector,
    count: Any,
    servo: DriveCommand,
    pairs: Sequence[Pair],
    settings: Settings,
) -> dict[str, Any]:
    """Return a state after a step."""
    start = STARTS[settings.method](**dict(settings.options), pairs=pairs)
    after = advance(told.model, q, told.v, servo, settings.dt, start, limits=settings.limits)
    moved = told.at_end(after.q, after.v, after.a)
    return state_after(told, q, v, count, pairs, moved, after.residual)
