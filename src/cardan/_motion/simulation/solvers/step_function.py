"""One step as a compiled function: what all solvers with one are given, and what each makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from numpy.typing import ArrayLike

from cardan._algebra.spatial import Force
from cardan._dynamics.algorithms.drives import DriveCommand
from cardan._dynamics.algorithms.health import compared, is_sound, kept
from cardan._dynamics.algorithms.kinematic import KinematicJoints
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.functions import Function, function
from cardan._motion.contact.touching import Pair
from cardan._motion.simulation.pairs import ContactPair
from cardan._motion.simulation.solvers.solver import ARRAYS
from cardan._motion.simulation.world import CONTACT_INPUTS
from cardan._robot.model import Model


class StepSettings(Protocol):
    """What every step is made for.

    Attributes:
        dt: length of a step [s].
        pairs: what may touch.
        kinematic: names of the joints that move as they are told.
    """

    @property
    def dt(self) -> float: ...
    @property
    def pairs(self) -> tuple[ContactPair, ...]: ...
    @property
    def kinematic(self) -> tuple[str, ...]: ...


Outcome = Callable[[KinematicJoints, Vector, Vector, Any, DriveCommand, Sequence[Pair], Any], dict[str, Any]]
"""What is made of a step: `outcome(told, q, v, count, servo, pairs, settings)` returns the results by name."""


def step_function(
    name: str, outcome: Outcome, settings: StepSettings, *, simplified: bool = False
) -> Function[..., Any]:
    """Return what is made of one step as a function, compiled for each model on first use.

    Args:
        name: of the function.
        outcome: what is made of a step.
        settings: what a step is made for.
        simplified: as for `cardan.function`.
    """

    def step(
        model: Model,
        q: ArrayLike,
        v: ArrayLike,
        count: ArrayLike,
        effort: ArrayLike | None = None,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        contact_friction: ArrayLike | None = None,
        contact_restitution: ArrayLike | None = None,
        contact_stiffness: ArrayLike | None = None,
        contact_dissipation: ArrayLike | None = None,
    ) -> dict[str, Any]:
        given = (contact_friction, contact_restitution, contact_stiffness, contact_dissipation)
        pairs = with_surfaces(settings.pairs, given)
        told = KinematicJoints(model, settings.kinematic, q, v, velocity, settings.dt)  # pyright: ignore[reportArgumentType]
        servo = told.compensate(asked(told.model, effort, position, velocity, wrenches))  # pyright: ignore[reportArgumentType]
        return outcome(told, q, v, count, servo, pairs, settings)  # pyright: ignore[reportArgumentType]

    step.__name__ = name
    return function(shapes=ARRAYS | dict.fromkeys(CONTACT_INPUTS, (len(settings.pairs),)), simplified=simplified)(step)


def state_after(
    told: KinematicJoints,
    q: Vector,
    v: Vector,
    count: Any,
    pairs: Sequence[Pair],
    after: tuple[Vector, Vector, Vector],
    residual: Any,
) -> dict[str, Any]:
    """Return what a step to q, v with accelerations a leaves.

    It is the state as it was, if what comes of it, or what it is `compared` with, is no number.
    """
    q_after, v_after, a = after
    surfaces = [getattr(pair.material, name) for pair in pairs for name in CONTACT_INPUTS.values()]
    sound = is_sound(q_after, v_after, compared(told.model, [x for x in surfaces if x is not None]))
    moved = {"q": kept(sound, q_after, q), "v": kept(sound, v_after, v), "warm": a}
    return moved | {"count": kept(sound, [count + 1.0], [count])[0], "residual": residual}


class Surface(NamedTuple):
    """A `Material` whose numbers may be symbols."""

    friction: Any
    restitution: Any
    stiffness: Any
    dissipation: Any
    torsional: Any
    rolling: Any


def with_surfaces(pairs: Sequence[ContactPair], surfaces: Sequence[Any]) -> Sequence[Pair]:
    """Return the pairs with what is given of surfaces, in the order of `CONTACT_INPUTS`: one value a pair, or None."""
    by_name = zip(CONTACT_INPUTS.values(), surfaces, strict=True)
    given = {name: values for name, values in by_name if values is not None}
    if not given:
        return pairs
    found: list[Any] = []
    for k, pair in enumerate(pairs):
        own = {name: getattr(pair.material, name) for name in Surface._fields}
        own |= {name: values[k] for name, values in given.items()}
        found.append(replace(pair, material=Surface(**own)))  # pyright: ignore[reportArgumentType] -- as laws read it
    return found


def asked(
    model: Model, effort: Vector | None, position: Vector | None, velocity: Vector | None, wrenches: Any = None
) -> DriveCommand:
    """Return what drives are asked for: by default nothing, to stay in the neutral configuration, at rest.

    And the wrenches on the bodies, an array of symbols of shape (nbodies, 6), or None.
    """
    still = [0.0] * model.nv
    rest = position if position is not None else model.manifold.limit_coordinates(model.manifold.neutral())
    gains = model.passive("drive_stiffness"), model.passive("drive_damping")
    acting = None if wrenches is None else [Force.of(tuple(row)) for row in wrenches]
    return DriveCommand(
        still if effort is None else effort, rest, still if velocity is None else velocity, *gains, acting
    )
