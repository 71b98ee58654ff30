"""Generalised coordinates: articulated bodies with drives, stops, friction and contacts inside the recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from cardan._algebra.arrays.implicit_function import all_held
from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import UnknownNameError, UnsupportedError, check_known
from cardan._algebra.scalar import maximum
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.balances import moved_by
from cardan._dynamics.algorithms.cluster import bends, openings_in_step
from cardan._dynamics.algorithms.drives import JointForces, check_determined
from cardan._dynamics.algorithms.implicit import Snapshot, implicit_dynamics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.algorithms.whips import followed, solved_in_step
from cardan._motion.contact import LAWS, contacts
from cardan._motion.contact.lengths import bounded, lengths
from cardan._motion.contact.point import Contact
from cardan._motion.maximal_steps.dissipation import without_gain
from cardan._motion.simulation.solvers.compiled_solver import CompiledSolver
from cardan._motion.simulation.solvers.solver import (
    SHARED,
    YES,
    checked_steps,
    left_out,
)
from cardan._motion.simulation.solvers.step_function import Outcome, Settings, StepInputs, state_after
from cardan._motion.simulation.solvers.table_steps import NoRow, TableSteps, what_is_no_row
from cardan._motion.simulation.world import World
from cardan._robot.joints.catalogue.of_another import Follower
from cardan._robot.records import Material

Integrator = Literal["implicit", "semi_implicit", "midpoint", "rk4"]
"""The first is of this page, the others are functions of `stepping`."""
Law = Literal["convex", "coulomb", "compliant"]
CONES = ("convex", "coulomb")
"""The laws that are solved by friction cones: they know all of a surface, and the bounds of joints."""
LEFT_OUT = ("restitution", "torsional", "rolling", "anisotropy")
"""What of a surface the compliant law does not know; nor does it take springs as stiff as the bounds of a distance."""


class Featherstone(CompiledSolver):
    """Articulated bodies in generalised coordinates, in O(n); the solver to begin with.

    The implicit integrator, the default, takes drives, damping, dry friction, stops and contacts into the recursion of
    articulated inertias, so that it stays stable with stiff gains at any step. The explicit ones (`"semi_implicit"`,
    `"midpoint"`, `"rk4"`) are more accurate for smooth motion, and take drives and damping alone.

    Args:
        world: what moves.
        dt: length of a step [s].
        integrator: see above.
        contact: `"convex"` (friction cones solved as a convex problem: right at every step and stiffness, but what
            slips fast is lifted), `"coulomb"` (the same cones by Coulomb's law, which lifts nothing: no derivatives),
            `"compliant"` (Hunt-Crossley forces: smooth, for derivatives and small steps), or None to let everything
            pass through everything else.
        iterations: of the solve for contacts, friction, stops and saturated drives; None for what each law needs. With
            1, joints chatter on their stops.
        limits: whether the joints' position limits are stops.
        tables: whether bodies are rows of tables that one program for each kind of thing runs over, in place of one
            program for all of the world. None decides: four robots or bodies that may touch one another are, and fewer
            of which many pairs may meet. Then the world has no size limit, but a step is no function that can be
            differentiated.
        sleep: a speed [m/s]. Loose bodies that touch something, and of which no point has been faster for half a
            second, fall asleep with all that they touch: they stand still, and cost nothing, until something touches or
            pushes them, or they are moved. None: no body sleeps. It takes tables.

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
        "constraint of the user": YES,
        "cable": YES,
        "distance": YES,
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
        limits: bool = True,
        tables: bool | None = None,
        sleep: float | None = None,
    ) -> None:
        check_known("integrator", integrator, get_args(Integrator), "Featherstone")
        if contact is not None and contact not in LAWS:
            raise UnknownNameError("contact law", contact, LAWS, where="Featherstone")
        if iterations is not None:
            checked_steps(iterations, "iterations")
        self.integrator, self.contact = integrator, contact
        self.iterations = iterations
        self.limits: bool = truth("limits", limits)
        self._ask(tables, sleep)
        super().__init__(world, dt)

    def features(self) -> Iterator[tuple[str, str]]:
        yield from left_out(self.world.model)

    def _no_row(self) -> NoRow | None:
        """See `CompiledSolver._no_row`."""
        if self.contact not in CONES or self.integrator != "implicit":
            asked = f"contact={self.contact!r} with integrator={self.integrator!r}"
            return NoRow(asked, "ask for contact='convex' and integrator='implicit'")
        return what_is_no_row(self.world)

    @cached_property
    def _by_tables(self) -> TableSteps:
        options = {"limits": self.limits, "iterations": self.iterations, "sleep": self.sleep, "law": self.contact}
        return TableSteps(self.world, self.dt, **options)

    @property
    def _bounded(self) -> list[str]:
        return [c.name for c, *_ in bounded(self.world.model)]

    def _check_support(self) -> None:
        super()._check_support()
        # With contacts, the equation of motion has a solution even here, but it is rounding alone.
        check_determined(self.world.model, self.world.kinematic)
        for pair in self.world.pairs if self.contact == "compliant" else ():
            for key in LEFT_OUT:
                if (
                    getattr(pair.material, key) != getattr(Material(), key)
                    or f"contact_{key}" in self.world.contact_inputs
                ):
                    by = f"solver Featherstone with contact={self.contact!r}"
                    raise UnsupportedError(f"the {key} of a surface ({pair.name})", by, "ask for contact='convex'")
        if self.contact:  # here, and not in the first step
            self._check_touching()
        if self._bounded and self.contact not in CONES:
            by = f"solver Featherstone with contact={self.contact!r}"
            raise UnsupportedError(f"the bounds of joint {self._bounded[0]!r}", by, "ask for contact='convex'")
        if self.integrator != "implicit":
            by = f"solver Featherstone with integrator={self.integrator!r}"
            for what, instead in self._implicit_only():
                raise UnsupportedError(what, by, f"{instead} integrator='implicit'")

    def _implicit_only(self) -> Iterator[tuple[str, str]]:
        """Yield what in the world takes the implicit integrator, and what to do instead."""
        model = self.world.model
        followers = [(c.name, c.joint.own) for c in model.connections if isinstance(c.joint, Follower)]
        parts: list[tuple[str, Any]] = [*((c.name, c) for c in model.connections), *followers]
        parts = [(name, own) for name, own in parts if own]
        if self.limits:
            given = [name for name, own in model.inputs.items() if own.constant in ("lower", "upper")]
            ends = [(name, [*(own.limits.lower or ()), *(own.limits.upper or ())]) for name, own in parts]
            stopped = [name for name, own in ends if np.isfinite(own).any()]
            instead = "ask for limits=False, or"
            yield from ((f"position limits that are given, {name!r}", instead) for name in given)
            yield from ((f"the position limits of joint {joint!r}", instead) for joint in stopped)
        for name, own in parts:
            if any(own.friction or ()):
                yield f"the dry friction of joint {name!r}", "use"
        if self._bounded:
            yield f"the bounds of joint {self._bounded[0]!r}", "use"
        if self.contact is not None and self.world.pairs:
            yield f"contacts ({self.world.pairs[0].name})", "ask for contact=None, or"

    @cached_property
    def settings(self) -> Settings:
        """What a step is made for."""
        pairs, dt, limits = tuple(self.world.pairs) if self.contact else (), self.dt, self.limits
        # where nothing touches, the convex law decides on which part of its line each force of a joint is
        options = (self.contact if pairs else "convex", self.iterations)
        return Settings(self.integrator, dt, pairs, limits, self.world.kinematic, options)

    @property
    def _outcomes(self) -> tuple[str, Outcome, Outcome, bool]:
        return "featherstone_step", step_state, find_forces, True


def step_state(given: StepInputs) -> dict[str, Any]:
    joints, dt = given.joints, given.settings.dt
    if given.settings.method == "implicit":
        solved, _, start = solve(given)
        a, residual = solved.found.a, solved.residual
        moved = moved_by(start, a, dt)
        step = [dt * rate for rate in stepping.added(joints.v, dt, (1.0, a))]  # as it was moved by
    else:
        moved, residual, step = explicit_step(given), 0.0, None
        a = [(after - before) * (1.0 / dt) for after, before in zip(moved.v, joints.v, strict=True)]
    bent = [*bends(joints.model, given.q, moved.q, step), *openings_in_step(joints.model, given.q, joints.v, dt)]
    residual = reduce(maximum, (all_held(e) * (1.0 / dt) for e in bent), residual)
    return state_after(given, joints.at_end(*moved, a), residual)


def find_forces(given: StepInputs) -> dict[str, Any]:
    solved, touching, _ = solve(given)
    found: dict[str, Any] = {"force": [], "torque": [], "point": []}
    for contact, wrench in zip(touching, solved.wrenches[: len(touching)], strict=True):
        X = contact.moment.poses[contact.a]
        found["force"].append(X.rotation @ wrench.linear)
        found["torque"].append(X.rotation @ wrench.angular)
        found["point"].append(X @ contact.point)
    return found


def solve(given: StepInputs) -> tuple[stepping.Solved, Sequence[Contact], Snapshot]:
    """Return the accelerations of an implicit step, what touches, and the start; wrenches of lengths come last."""
    settings, dt = given.settings, given.settings.dt
    law, iterations = settings.options
    start = followed(Snapshot(given.joints.model, given.q, given.joints.v), dt)
    forces = JointForces(start.model, start.q, start.v, given.command, dt, limits=settings.limits)
    touching = contacts(start, given.pairs, dt if law in CONES else None)
    both = [*touching, *lengths(start)]

    def find(at: Snapshot, is_first: bool) -> stepping.Solved:
        return LAWS[law](at, forces, both, dt, 1 if is_first else iterations)

    solved, start = solved_in_step(start, forces, dt, find)
    if law in CONES:
        solved = without_gain(solved, start, forces, touching, dt)
    return solved, touching, start


def explicit_step(given: StepInputs) -> stepping.Moved:
    model, dt = given.joints.model, given.settings.dt

    def rate(q: Vector, v: Vector) -> Vector:
        forces = JointForces(model, q, v, given.command, 0.0, limits=False)  # of a step of 0: they do not answer
        tau, _ = forces.total(forces.linear())
        return implicit_dynamics(Snapshot(model, q, v), tau, dt=dt).a

    return getattr(stepping, given.settings.method)(model, given.q, given.joints.v, rate, dt)
