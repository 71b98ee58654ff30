"""Generalised coordinates: articulated bodies with drives, stops, friction and contacts inside the recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from cardan._algebra.errors import UnknownNameError, UnsupportedError
from cardan._algebra.spatial import Force, Vector3
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.drives import DriveCommand, JointForces
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_efforts
from cardan._dynamics.algorithms.implicit import Snapshot, implicit_dynamics
from cardan._dynamics.algorithms.kinematic import KinematicJoints
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.functions import Function
from cardan._motion.contact import LAWS, contacts
from cardan._motion.contact.point import WORLD as FIXED
from cardan._motion.contact.point import Contact
from cardan._motion.contact.touching import Pair
from cardan._motion.maximal_steps.bounds import has_bounds
from cardan._motion.simulation.collide import check_pages, owners_of
from cardan._motion.simulation.control import Control
from cardan._motion.simulation.pairs import ContactPair
from cardan._motion.simulation.solvers.solver import SHARED, YES, CompiledSolver, asked_of, checked_steps, left_out
from cardan._motion.simulation.solvers.step_function import state_after, step_function
from cardan._motion.simulation.state import State
from cardan._motion.simulation.world import World
from cardan._robot.geometry.contacts import ContactForces
from cardan._robot.model import Model

Integrator = Literal["implicit", "semi_implicit", "leapfrog", "midpoint", "rk4"]
Law = Literal["convex", "compliant", "hard"]
INTEGRATORS = ("implicit", *stepping.EXPLICIT)
LEFT_OUT = {"compliant": ("restitution", "torsional", "rolling"), "hard": ("torsional", "rolling")}
"""What of a surface a law of contact does not know."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a step is made for, beside the model.

    Args:
        dt: length of a step [s].
        integrator: how it is taken.
        contact: the law of contacts, or None.
        pairs: what may touch.
        iterations: passes over the joints and contacts of an implicit step; None for as many as they need.
        limits: whether the joints' position limits are stops.
        kinematic: names of the joints that move as they are told.
    """

    dt: float
    integrator: str
    contact: str | None
    pairs: tuple[ContactPair, ...]
    iterations: int | None
    limits: bool
    kinematic: tuple[str, ...] = ()


class Featherstone(CompiledSolver):
    """Articulated bodies in generalised coordinates, in O(n); the solver to begin with.

    The implicit integrator, the default, takes drives, damping, dry friction, stops and contacts into the recursion of
    articulated inertias, so that it stays stable with stiff gains at any step. The explicit ones (`"semi_implicit"`,
    `"leapfrog"`, `"midpoint"`, `"rk4"`) are more accurate for smooth motion, and take drives and damping alone.

    Args:
        world: what moves.
        dt: length of a step [s].
        integrator: see above.
        contact: `"convex"` (friction cones solved as a convex problem: right at every step and stiffness),
            `"compliant"` (Hunt-Crossley forces: smooth, for derivatives and small steps), `"hard"` (projected
            Gauss-Seidel), or None to let everything pass through everything else.
        iterations: of the solve for contacts, friction, stops and saturated drives; None for what each law needs, and
            without contacts for 2, or 1 where all forces are straight lines. With 1, joints chatter on their stops.
        substeps: into how many equal ones a step is cut.
        limits: whether the joints' position limits are stops.

    Raises:
        UnsupportedError: for a world with something the integrator would leave out.
        ParameterError, UnknownNameError: for values that cannot be.

    Examples:
        >>> world = cardan.robots.double_pendulum().world()
        >>> solver = cardan.solvers.Featherstone(world, dt=0.001)
        >>> state = solver.step(world.state(worlds=4), steps=10)
        >>> motion = solver.rollout(state, steps=20, every=10)
        >>> motion.q.shape
        (3, 4, 2)

    Source: Featherstone (2008), table 7.1; see `algorithms/implicit.py`, `drives.py`, `stepping.py` and `contact/`.
    """

    supports: ClassVar[Mapping[str, str]] = {
        **SHARED,
        "cable": YES,
        "distance": "its bounds: give it a stiffness, use cardan.solvers.XPBD or Variational, or a FreeFlyer for none",
        "contact": YES,
    }

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        integrator: Integrator = "implicit",
        contact: Law | None = "convex",
        iterations: int | None = None,
        substeps: int = 1,
        limits: bool = True,
    ) -> None:
        if integrator not in INTEGRATORS:
            raise UnknownNameError("integrator", integrator, INTEGRATORS, where="Featherstone")
        if contact is not None and contact not in LAWS:
            raise UnknownNameError("contact law", contact, LAWS, where="Featherstone")
        if iterations is not None:
            checked_steps(iterations, "iterations")
        self.integrator, self.contact, self.iterations, self.limits = integrator, contact, iterations, limits
        super().__init__(world, dt, substeps)

    def features(self) -> Iterator[tuple[str, str]]:
        for c in (*self.world.model.connections, *self.world.model.closures):
            if has_bounds(c.joint):
                yield "distance", f"the bounds of joint {c.name!r}, a Distance"
        yield from left_out(self.world.model)

    def _check_support(self) -> None:
        super()._check_support()
        self._check_surfaces()
        check_pages(self.world.pairs if self.contact else ())
        if self.integrator == "implicit":
            return
        model, by = self.world.model, f"solver Featherstone with integrator={self.integrator!r}"
        stopped = [c.name for c in model.connections if np.isfinite([*c.limits.lower, *c.limits.upper]).any()]  # pyright: ignore
        given = [name for name, own in model.inputs.items() if own.constant in ("lower", "upper")]
        if self.limits and given:
            raise UnsupportedError(
                f"position limits that are given, {given[0]!r}", by, "ask for limits=False, or integrator='implicit'"
            )
        rubbing = [c.name for c in model.connections if any(c.friction or ())]
        if self.limits and stopped:
            raise UnsupportedError(
                f"the position limits of joint {stopped[0]!r}", by, "ask for limits=False, or integrator='implicit'"
            )
        if rubbing:
            raise UnsupportedError(f"the dry friction of joint {rubbing[0]!r}", by, "use integrator='implicit'")
        if self.contact is not None and self.world.pairs:
            raise UnsupportedError(
                f"contacts ({self.world.pairs[0].name})", by, "ask for contact=None, or integrator='implicit'"
            )

    def _check_surfaces(self) -> None:
        for pair in self.world.pairs:
            for key in LEFT_OUT.get(self.contact or "", ()):
                if getattr(pair.material, key) or f"contact_{key}" in self.world.contact_inputs:
                    by = f"solver Featherstone with contact={self.contact!r}"
                    raise UnsupportedError(f"the {key} of a surface ({pair.name})", by, "ask for contact='convex'")

    @cached_property
    def settings(self) -> Settings:
        """What a step is made for."""
        pairs = self.world.pairs if self.contact else ()
        contact = self.contact if pairs else None
        dt, limits = self.dt / self.substeps, bool(self.limits)
        return Settings(dt, self.integrator, contact, pairs, self.iterations, limits, self.world.kinematic)

    @cached_property
    def function(self) -> Function[..., Any]:
        """One step (of `dt / substeps`) of model, q, v, count and, each optional, effort, position, velocity, wrenches.

        Results: q, v; warm, the accelerations; count, how many steps were good; residual. See `State`.
        """
        return step_function("featherstone_step", advanced, self.settings, simplified=True)

    @cached_property
    def _forces(self) -> Function[..., Any]:
        return step_function("contact_forces", acting, self.settings, simplified=True)

    @cached_property
    def _felt(self) -> tuple[np.ndarray, np.ndarray]:
        """Which pair each candidate is of; 1 where its force is found on the pair's first body, -1 on the second."""
        owners = owners_of(self.settings.pairs)
        first = [self.world.model.attachment(pair.a).node != FIXED for pair in self.settings.pairs]
        return owners, np.where(first, 1.0, -1.0)[owners, None]

    def contact_forces(self, state: State, control: Control | None = None) -> ContactForces:
        """Return the forces at the contacts in the step from a state, the first of its substeps.

        Args:
            state: where the step begins.
            control: what drives are asked for in it; see `step`.

        Returns:
            `ContactForces(force, torque, point, pair)`: shapes (worlds, C, 3), in world axes [N, N m, m], on the first
            body of each pair; candidates as those of `World.collide`, zero where nothing touches.

        Raises:
            ParameterError: for a state or control of other worlds.

        Examples:
            >>> stands = cardan.robots.quadruped().world("floating", ground=True)
            >>> felt = cardan.solvers.Featherstone(stands, dt=0.002).contact_forces(stands.state())
            >>> borne = felt.force[..., 2].sum(axis=-1)  # by the ground [N]
        """
        arrays = self._asked(state, control)
        if not self.settings.pairs:
            none = np.zeros((len(state), 0, 3), state.dtype)
            return ContactForces(none, none.copy(), none.copy(), np.empty(0, int))
        given = dict(zip(asked_of(control), arrays, strict=True))
        if state.constants:
            given |= {name: state.constants[name] for name in self._inputs}
        count = state.clock(self.settings.dt).good
        found = self._forces(self.world.model, state.q, state.v, count, **given)
        owners, signs = self._felt
        sign = signs.astype(state.dtype)
        return ContactForces(found["force"] * sign, found["torque"] * sign, found["point"], owners.copy())


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
    if settings.integrator == "implicit":
        moved, a, residual = implicit_step(told.model, q, told.v, servo, pairs, settings)
    else:
        moved, a, residual = explicit_step(told.model, q, told.v, servo, settings)
    return state_after(told, q, v, count, pairs, told.at_end(*moved, a), residual)


def acting(
    told: KinematicJoints,
    q: Vector,
    v: Vector,
    count: Any,
    servo: DriveCommand,
    pairs: Sequence[Pair],
    settings: Settings,
) -> dict[str, Any]:
    """Return the contact forces of a step."""
    solution = solved_implicitly(Snapshot(told.model, q, told.v), servo, pairs, settings)
    found = [in_world(*each) for each in zip(solution.touching, solution.solved.wrenches, strict=True)]
    force, torque, point = zip(*found, strict=True)
    return {"force": list(force), "torque": list(torque), "point": list(point)}


def implicit_step(
    model: Model, q: Vector, v: Vector, servo: DriveCommand, pairs: Sequence[Pair], settings: Settings
) -> tuple[stepping.Moved, Vector, Any]:
    """Return the state after an implicit step, the accelerations and the residual of their solve."""
    solved = solved_implicitly(Snapshot(model, q, v), servo, pairs, settings).solved
    a = solved.found.a
    return stepping.implicit(model, q, v, a, settings.dt), a, solved.residual


class Solution(NamedTuple):
    """The accelerations of an implicit step, and what touches."""

    solved: stepping.Solved
    touching: Sequence[Contact]


def solved_implicitly(moment: Snapshot, servo: DriveCommand, pairs: Sequence[Pair], settings: Settings) -> Solution:
    """Return the accelerations of an implicit step."""
    dt = settings.dt
    elements = JointForces(moment.model, moment.q, moment.v, servo, dt, limits=settings.limits)
    elements.add(gyroscopic_efforts(moment, dt))
    if settings.contact is None:
        passes = settings.iterations or (1 if elements.are_lines else 2)
        return Solution(stepping.free_accelerations(moment, elements, dt, passes), ())
    touching = contacts(moment, pairs)
    return Solution(LAWS[settings.contact](moment, elements, touching, dt, settings.iterations), touching)


def in_world(contact: Contact, wrench: Force) -> tuple[Vector3, Vector3, Vector3]:
    """Return force and torque on a contact's first body, and where they act, in world axes."""
    X = contact.moment.poses[contact.a]
    return X.rotation @ wrench.linear, X.rotation @ wrench.angular, X @ contact.point


def explicit_step(
    model: Model, q: Vector, v: Vector, servo: DriveCommand, settings: Settings
) -> tuple[stepping.Moved, Vector, Any]:
    """Return the state after an explicit step, its mean accelerations and the residual, 0."""

    def rate(q: Vector, v: Vector) -> Vector:
        elements = JointForces(model, q, v, servo, 0.0, limits=False)
        tau, _ = elements.total(elements.linear())
        return implicit_dynamics(Snapshot(model, q, v), tau, dt=settings.dt).a

    moved = stepping.EXPLICIT[settings.integrator](model, q, v, rate, settings.dt)
    return moved, [(after - before) * (1.0 / settings.dt) for after, before in zip(moved.v, v, strict=True)], 0.0
