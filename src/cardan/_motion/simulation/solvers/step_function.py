"""One step as a compiled function: what all solvers with one are given, and what each makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from numpy.typing import ArrayLike

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import Force
from cardan._dynamics.algorithms.drives import DriveCommand
from cardan._dynamics.algorithms.health import compared, is_sound, kept
from cardan._dynamics.algorithms.kinematic import KinematicJoints
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.function import Function, function
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.world_contents import CONTACT_INPUTS, contact_value
from cardan._robot.model import Model

ARRAYS = {"effort": ("nv",), "position": ("nv",), "velocity": ("nv",), "wrenches": ("nbodies", 6), "count": ()}
"""Core shapes of the arguments of a compiled step, beside q and v."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a step is made for, beside the model."""

    method: str  # an integrator of `Featherstone`, or one of `maximal.CLOSINGS`, or "semi_implicit"
    dt: float  # length of the step [s]
    pairs: tuple[ContactPair, ...]  # what may touch
    limits: bool  # whether the joints' position limits are stops
    kinematic: tuple[str, ...]  # names of the joints whose motion is given
    options: tuple[Any, ...]  # of the method, in the order that it takes them in
    targets: tuple[float, ...] | None = None  # what drives go to by default, along v [rad, m]; None if that is given


class StepInputs(NamedTuple):
    """Where a step begins, after how many good ones, and what acts in it: drives, wrenches on bodies, surfaces.

    q and v are as they were given; `joints` has the model and the velocities that the step is taken of.
    """

    joints: KinematicJoints
    q: Vector
    v: Vector
    count: Any
    command: DriveCommand
    pairs: Sequence[ContactPair]
    settings: Settings


Outcome = Callable[[StepInputs], dict[str, Any]]


def step_function(name: str, outcome: Outcome, settings: Settings, simplified: bool = False) -> Function[..., Any]:
    """Return what is made of one step as a function: `outcome` returns its results by name; see `cardan.function`."""

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
        contact_surface_velocity: ArrayLike | None = None,
    ) -> dict[str, Any]:
        if settings.targets is not None and model.nv != len(settings.targets):
            expected = f"that of the solver's world, of {len(settings.targets)} velocities"
            raise ParameterError("model of a step", got=f"{model.name!r}, of {model.nv}", expected=expected)
        given = (contact_friction, contact_restitution, contact_stiffness, contact_dissipation)
        given = (*given, contact_surface_velocity)
        pairs = with_surfaces(settings.pairs, given)
        q_0, v_0, rates = (cast(Any, array) for array in (q, v, velocity))  # of symbols, which algorithms read
        joints = KinematicJoints(model, settings.kinematic, q_0, v_0, rates, settings.dt)
        goal = settings.targets if position is None else position
        command = joints.compensate(drive_command(joints.model, effort, goal, velocity, wrenches))
        return outcome(StepInputs(joints, q_0, v_0, count, command, pairs, settings))

    step.__name__ = name
    setattr(step, "made_by", (step_function, name, outcome, settings, simplified))  # noqa: B010 - for `Kernel`
    return function(shapes=ARRAYS | dict.fromkeys(CONTACT_INPUTS, (len(settings.pairs),)), simplified=simplified)(step)


def state_after(given: StepInputs, after: tuple[Vector, Vector, Vector], residual: Any) -> dict[str, Any]:
    """Return what a step to q, v with accelerations a leaves.

    It is the state as it was, if what comes of it, or what it is `compared` with, is no number.
    """
    q, v, a = after
    surfaces = [contact_value(pair, name) for pair in given.pairs for name in CONTACT_INPUTS.values()]
    sound = is_sound(q, v, compared(given.joints.model, [x for x in surfaces if x is not None]))
    # Only sound steps count, so that the clock of a world stands still from the first step that is not.
    moved = {"q": kept(sound, q, given.q), "v": kept(sound, v, given.v), "warm": a}
    return moved | {"count": kept(sound, [given.count + 1.0], [given.count])[0], "residual": residual}


def with_surfaces(pairs: Sequence[ContactPair], surfaces: Sequence[Any]) -> Sequence[ContactPair]:
    """Return the pairs with what is given of surfaces, in the order of `CONTACT_INPUTS`: one value a pair, or None."""
    by_name = zip(CONTACT_INPUTS.values(), surfaces, strict=True)
    given = {name: values for name, values in by_name if values is not None}
    if not given:
        return pairs
    found: list[Any] = []
    for k, pair in enumerate(pairs):
        own = {field.name: getattr(pair.material, field.name) for field in fields(pair.material)}
        own |= {name: values[k] for name, values in given.items()}
        running = own.pop("surface_velocity", pair.surface_velocity)
        material: Any = SimpleNamespace(**own)  # a Material checks its numbers, which symbols are not
        found.append(replace(pair, material=material, surface_velocity=running))
    return found


def drive_command(model: Model, effort: Any, position: Any, velocity: Any, wrenches: Any) -> DriveCommand:
    """Return what drives are asked for: no effort and no velocity by default.

    Each is an array of symbols, along v but for the wrenches on the bodies, shape (nbodies, 6); or None.
    """
    still = [0.0] * model.nv
    rates = still if velocity is None else velocity
    gains = model.passive("drive_stiffness"), model.passive("drive_damping")
    acting = None if wrenches is None else [Force.of(tuple(row)) for row in wrenches]
    return DriveCommand(still if effort is None else effort, position, rates, *gains, acting)
