"""Convex contact: the accelerations of a step are the minimum of a convex function, by Newton's method.

    phi(a) = |a - a_free|^2_M / 2 + potentials of the contacts (`cone`) and of the joints' elements

Its gradient is the equation of motion with their forces; an iteration decides which part of its law each of them is on,
linearises it there, and solves that equation: contacts as impedances, joints as armatures. Decided at estimates of
force and velocity both (a primal-dual active set) it takes two to four iterations, wherever it starts, and no search:
a search for the least phi stops at the edges of cones, which are as narrow as the regularisation of friction.

It starts with the impulses that the contacts' present velocities ask for: those of the last step, if nothing happened
since; so nothing need be remembered.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), for the problem.
Cost: one solution of the equation of motion and 150 operations a contact, an iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import maximum, sqrt
from cardan._algebra.spatial import Motion, Scalar
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.drives import JointForces, Lines
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.stepping import Solved
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import Cone, Impulse
from cardan._motion.contact.equation import Equation, Response, equation_of_motion
from cardan._motion.contact.point import Contact

ITERATIONS = 4
FREE_PASSES = 2
"""In how many iterations joints are looked at that carry no contact: so often as in a step that touches nothing.

In later ones their limbs are what they were, articulated inertias and all, and cost nothing.
"""

WRITTEN_OUT, MANY = 4, 32
"""So many alike iterations, of so many contacts, are written out: that is 6 to 15 % faster than a loop. More are one,
and compile sooner: a contact takes 450 operations an iteration, and five boxes, each with each, have a hundred."""

Carried = tuple[list[Any], list[Any], list[Any], list[Any]]
"""The parts of an estimate that an iteration begins with."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Accelerations, and the forces with which they obey the equation of motion.

    Attributes:
        a: of the joints.
        twists: of the contacts at the step's end.
        impulses: at the contacts.
        held: by the elements of the joints.
        lines: on which they are.
    """

    a: Vector
    twists: Sequence[Motion]
    impulses: Sequence[Impulse]
    held: Vector
    lines: Lines

    @property
    def carried(self) -> Carried:
        """What an iteration begins with, beside the lines."""
        return list(self.a), list(self.twists), list(self.impulses), list(self.held)


@dataclass(frozen=True, slots=True)
class Minimum:
    """What was found, with the laws it shall obey.

    Attributes:
        found: accelerations and forces.
        laws: of the contacts.
        elements: of the joints.
        contacts: in the axes they were solved in.
    """

    found: Estimate
    laws: Sequence[Cone]
    elements: JointForces
    contacts: Sequence[Contact]

    @property
    def residual(self) -> Scalar:
        """By how much velocities are wrong, at most [m/s, rad/s]."""
        found = self.found
        worst: Scalar = 0.0
        for law, twist, impulse in zip(self.laws, found.twists, found.impulses, strict=True):
            worst = maximum(worst, law.squared_error(impulse, twist))
        return maximum(self.elements.residual(found.held, found.a), sqrt(worst))

    @property
    def cone(self) -> Scalar:
        """By how much impulses are outside their cones, at most, as a velocity [m/s]."""
        worst: Scalar = 0.0
        for law, impulse in zip(self.laws, self.found.impulses, strict=True):
            worst = maximum(worst, law.inverse_mass * law.excess(impulse))
        return worst

    @property
    def complementarity(self) -> Scalar:
        """The velocity, at most, at which bodies part against an impulse: g . (v - v* + R g) / |g| [m/s]."""
        worst: Scalar = 0.0
        for law, twist, impulse in zip(self.laws, self.found.twists, self.found.impulses, strict=True):
            worst = maximum(worst, abs(law.slack(impulse, twist)))
        return worst


def convex(
    moment: Snapshot,
    elements: JointForces,
    contacts: Sequence[Contact],
    dt: float,
    iterations: int | None = None,
) -> Solved:
    """Return the accelerations of an implicit step.

    Args:
        moment: the state.
        elements: the forces along the joints.
        contacts: what touches, or may.
        dt: the step.
        iterations: of Newton's method; `ITERATIONS` by default.
    """
    least = minimum(moment, elements, contacts, dt, iterations)
    a = list(least.found.a)
    acting = zip(least.contacts, least.laws, least.found.impulses, strict=True)
    wrenches = [contact.on_node(law.wrench(g)) * (1.0 / dt) for contact, law, g in acting]
    return Solved(Accelerations(a, moment.changes(a)), least.residual, wrenches)


def minimum(
    moment: Snapshot, elements: JointForces, contacts: Sequence[Contact], dt: float, iterations: int | None = None
) -> Minimum:
    """Return all that `convex` finds, with the impulses."""
    iterations = iterations or ITERATIONS
    equation = equation_of_motion(moment, contacts, dt, iterations)
    laws = [Cone.of(contact, dt) for contact in equation.contacts]
    now = _start(equation, elements, laws)
    carrying = equation.carrying()
    free = min(iterations, FREE_PASSES) if any(j not in carrying for j, _ in elements) else 0
    for _ in range(free):
        now = _newton(equation, elements, laws, now, elements.linear(now.held, now.a))
    if iterations > free:
        now = _repeated(equation, elements, laws, now, iterations - free)
    return Minimum(now, laws, elements, equation.contacts)


def _repeated(equation: Equation, elements: JointForces, laws: Sequence[Cone], now: Estimate, count: int) -> Estimate:
    """Return the estimate after iterations that are all alike: joints that carry no contact stay on their lines."""
    staying, carrying = now.lines, equation.carrying()

    def once(a: Any, twists: Any, impulses: Any, held: Any) -> Carried:
        estimate = Estimate(a, twists, impulses, held, staying)
        lines = elements.linear(estimate.held, estimate.a)
        lines = [
            line if j in carrying else staying[k] for k, ((j, _), line) in enumerate(zip(elements, lines, strict=True))
        ]
        return _newton(equation, elements, laws, estimate, lines).carried

    values = now.carried
    if count > WRITTEN_OUT or len(laws) > MANY:
        values = repeat(count, once, *values)
    else:
        for _ in range(count):
            values = once(*values)
    a, twists, impulses, held = values
    return Estimate(a, twists, impulses, held, staying)


def _start(equation: Equation, elements: JointForces, laws: Sequence[Cone]) -> Estimate:
    """Return what keeps the velocities as they are."""
    twists = [contact.velocity for contact in equation.contacts]
    impulses = [law.first(twist) for law, twist in zip(laws, twists, strict=True)]
    return Estimate([0.0] * equation.moment.model.nv, twists, impulses, [e.at(0.0) for _, e in elements], [])


def _newton(equation: Equation, elements: JointForces, laws: Sequence[Cone], now: Estimate, lines: Lines) -> Estimate:
    """Return the solution with all forces on the parts of their laws that the estimate is on."""
    dt, contacts = equation.dt, equation.contacts
    estimates = zip(laws, now.impulses, now.twists, strict=True)
    parts = [law.decided(impulse, twist) for law, impulse, twist in estimates]
    responses = []
    for contact, part in zip(contacts, parts, strict=True):
        responses.append(Response(part.law.wrench(part.at(contact.ahead(dt))) * (1.0 / dt), part.impedance))
    a, changes = equation.solve(elements.total(lines), responses)
    twists = [contact.ahead(dt) + change * dt for contact, change in zip(contacts, changes, strict=True)]
    impulses = [part.at(twist) for part, twist in zip(parts, twists, strict=True)]
    return Estimate(a, twists, impulses, elements.on(lines, a), lines)
