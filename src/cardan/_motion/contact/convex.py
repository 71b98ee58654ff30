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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import aside, repeat, repeat_while, when
from cardan._algebra.scalar import maximum, sqrt
from cardan._algebra.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.drives import JointForces, Lines
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.stepping import Solved
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import Cone, Impulse, OnCone, Part, worst_error
from cardan._motion.contact.equation import Equation, Patch, Response, equation_of_motion
from cardan._motion.contact.point import Contact

ITERATIONS = 4  # the most that the iteration takes, wherever it starts (above)
# In how many iterations joints are looked at that carry no contact: so often as in a step that touches nothing.
# In later ones their limbs are what they were, articulated inertias and all, and cost nothing.
FREE_PASSES = 2
# Where velocities are wrong by more [m/s, rad/s], more iterations follow: so many times two at most. A robot that falls
# on its limbs needs them in one step of a hundred. The second of two begins so far from the last estimate to the next.
CONVERGED, FURTHER, TOWARDS = 1e-3, 8, 0.7
# So many alike iterations, of so many contacts, are written out: that is 6 to 15 % faster than a loop. More are one,
# and compile sooner: a contact takes 450 operations an iteration, and five boxes, each with each, have a hundred.
WRITTEN_OUT, MANY = 4, 32


NO_IMPEDANCE = ArticulatedInertia(Symmetric3.isotropic(0.0), Matrix3.zero(), Symmetric3.isotropic(0.0))


class Problem(NamedTuple):
    """What an iteration solves: the equation of motion with what its forces shall obey."""

    equation: Equation
    elements: JointForces
    laws: Sequence[Cone]

    def residual(self, found: Estimate) -> Scalar:
        """Return by how much velocities are wrong, at most [m/s, rad/s]."""
        error = worst_error(self.laws, found.impulses, found.twists)
        return maximum(self.elements.residual(found.efforts, found.a), sqrt(error))


class Estimate(NamedTuple):
    """Accelerations, and the forces with which they obey the equation of motion."""

    a: Vector  # of the joints
    twists: Sequence[Motion]  # of the contacts at the step's end
    impulses: Sequence[Impulse]  # at the contacts
    efforts: Vector  # by the elements of the joints


@dataclass(frozen=True, slots=True)
class Minimum:
    """What was found, with the laws it shall obey."""

    found: Estimate  # accelerations and forces
    residual: Scalar  # by how much velocities are wrong, at most [m/s, rad/s]
    laws: Sequence[Cone]  # of the contacts
    contacts: Sequence[Contact]  # in the axes they were solved in


def convex(
    moment: Snapshot, elements: JointForces, contacts: Sequence[Contact], dt: float, iterations: int | None = None
) -> Solved:
    """Return the accelerations of an implicit step after so many iterations of Newton's method."""
    least = minimum(moment, elements, contacts, dt, iterations)
    a = list(least.found.a)
    acting = zip(least.contacts, least.laws, least.found.impulses, strict=True)
    wrenches = [contact.on_node(law.wrench(g)) * (1.0 / dt) for contact, law, g in acting]
    return Solved(Accelerations(a, moment.changes(a)), least.residual, wrenches)


def minimum(
    moment: Snapshot, elements: JointForces, contacts: Sequence[Contact], dt: float, iterations: int | None = None
) -> Minimum:
    """Return the minimum after so many iterations; by default after `ITERATIONS`, and more where these do not do."""
    passes = iterations or ITERATIONS
    equation = equation_of_motion(moment, contacts, dt, passes, grouped=True)
    laws = [Cone.of(contact, dt) for contact in equation.contacts]
    for contact in equation.contacts:
        contact.ahead(dt)
    problem, now, lines = Problem(equation, elements, laws), _start(equation, elements, laws), []
    carrying = equation.carrying()
    free = min(passes, FREE_PASSES) if any(j not in carrying for j, _ in elements) else 0
    for _ in range(free):
        lines = elements.linear(now.efforts, now.a)
        now = _newton(equation, elements, laws, now, lines)
    if passes > free:
        now = _iterate(problem, now, lines, passes - free)
    residual = problem.residual(now)
    if iterations is None and laws:
        now, residual = aside(residual > CONVERGED, lambda: _further(problem, now, residual), (now, residual))
    return Minimum(now, residual, laws, equation.contacts)


def _further(problem: Problem, now: Estimate, residual: Scalar) -> tuple[Estimate, Scalar]:
    """Return the estimate after more iterations, until it is right, and its residual.

    Every other one begins between the last two estimates: an iteration that goes round in circles leaves them so.
    """
    once = _alike(problem, None)

    def twice(*values: Any) -> tuple[Any, ...]:
        before = Estimate(*values[:-1])
        found = once(*_between(before, once(*before)))
        return *found, problem.residual(found)

    *found, left = repeat_while(FURTHER, lambda *values: values[-1] > CONVERGED, twice, *now, residual)
    return Estimate(*found), left


def _between(old: Any, new: Any) -> Any:
    """Return what lies between two estimates, `TOWARDS` the second: of a scalar, or of each part of what has parts."""
    if isinstance(old, (tuple, list)):
        parts = [_between(a, b) for a, b in zip(old, new, strict=True)]
        return parts if isinstance(old, list) else tuple.__new__(type(old), parts)
    return old + (new - old) * TOWARDS


def _iterate(problem: Problem, now: Estimate, staying: Lines, count: int) -> Estimate:
    """Return the estimate after iterations that are all alike: joints that carry no contact stay on their lines."""
    once = _alike(problem, staying)
    if count > WRITTEN_OUT or len(problem.laws) > MANY:
        return Estimate(*repeat(count, once, *now))
    for _ in range(count):
        now = once(*now)
    return now


def _alike(problem: Problem, staying: Lines | None) -> Callable[..., Estimate]:
    """Return an iteration that leaves joints that carry no contact on their lines, if these are given."""
    equation, elements, laws = problem
    carrying = equation.carrying()

    def once(*values: Any) -> Estimate:
        before = Estimate(*values)
        lines = elements.linear(before.efforts, before.a)
        for k, (j, _) in enumerate(elements):
            lines[k] = staying[k] if staying and j not in carrying else lines[k]
        return _newton(equation, elements, laws, before, lines)

    return once


def _start(equation: Equation, elements: JointForces, laws: Sequence[Cone]) -> Estimate:
    """Return what keeps the velocities as they are."""
    twists = [contact.velocity for contact in equation.contacts]
    impulses = [law.first(twist) for law, twist in zip(laws, twists, strict=True)]
    return Estimate([0.0] * equation.moment.model.nv, twists, impulses, [e.at(0.0) for _, e in elements])


def _newton(equation: Equation, elements: JointForces, laws: Sequence[Cone], now: Estimate, lines: Lines) -> Estimate:
    """Return the solution with all forces on the parts of their laws that the estimate is on."""
    dt, places, answers = equation.dt, _places(equation.patches), []
    for patch, own in zip(equation.patches, places, strict=True):
        answers.append(_answer(patch, laws[own], now.impulses[own], now.twists[own], dt))
    a, changes = equation.solve(elements.total(lines), [answer.response for answer in answers])
    twists: list[Motion] = []
    impulses: list[Impulse] = []
    for patch, own, answer, change in zip(equation.patches, places, answers, changes, strict=True):
        found = _reaction(patch, laws[own], answer, change, dt)
        twists += found[0]
        impulses += found[1]
    return Estimate(a, twists, impulses, elements.on(lines, a))


def _places(patches: Sequence[Patch]) -> list[slice]:
    """Return which contacts of all, one patch after the other, each patch has."""
    ends = list(accumulate((len(patch.contacts) for patch in patches), initial=0))
    return [slice(*both) for both in pairwise(ends)]


class _Answer(NamedTuple):
    """What the contacts of a patch do together, and the parts of their laws that they are on."""

    response: Response
    parts: list[OnCone]


def _answer(
    patch: Patch, laws: Sequence[Cone], impulses: Sequence[Impulse], twists: Sequence[Motion], dt: float
) -> _Answer:
    def found() -> _Answer:
        parts, force, Z = [], Force.zero(), NO_IMPEDANCE
        for contact, law, g, twist in zip(patch.contacts, laws, impulses, twists, strict=True):
            part = law.part(g, twist)
            parts.append(part.numbers)
            wrench, impedance = law.wrench(part.at(contact.ahead(dt))) * (1.0 / dt), part.impedance
            if patch.is_single:
                return _Answer(Response(wrench, impedance), parts)
            force, Z = force + contact.place @ wrench, Z + contact.place @ impedance
        return _Answer(Response(force, Z), parts)

    if patch.is_single:
        return found()
    none = OnCone(0.0, 0.0, Force.zero())
    nothing = _Answer(Response(Force.zero(), NO_IMPEDANCE), [none] * len(laws))
    return when(patch.near, found, nothing)


def _reaction(
    patch: Patch, laws: Sequence[Cone], answer: _Answer, change: Motion, dt: float
) -> tuple[list[Motion], list[Impulse]]:
    """Return twists at the step's end and impulses of a patch's contacts, from the change where it answers."""

    def found() -> tuple[list[Motion], list[Impulse]]:
        twists, impulses = [], []
        for contact, law, numbers in zip(patch.contacts, laws, answer.parts, strict=True):
            own = change if patch.is_single else contact.place.inverse_act(change)
            twists.append(contact.ahead(dt) + own * dt)
            impulses.append(Part(law, *numbers).at(twists[-1]))
        return twists, impulses

    if patch.is_single:
        return found()
    nothing = Impulse(0.0, Force.zero())
    return when(patch.near, found, ([Motion.zero()] * len(laws), [nothing] * len(laws)))
