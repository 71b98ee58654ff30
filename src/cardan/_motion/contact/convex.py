"""Convex contact: the accelerations of a step are the minimum of a convex function, by Newton's method.

    phi(a) = |a - a_free|^2_M / 2 + potentials of the contacts (`cone`) and of the joints' elements

Its gradient is the equation of motion with their forces; an iteration decides which part of its law each of them is on,
linearises it there, and solves that equation: contacts as impedances, joints as armatures. Decided at estimates of
force and velocity both (a primal-dual active set) it takes two to four iterations, wherever it starts, and no search:
a search for the least phi stops at the edges of cones, which are as narrow as the regularisation of friction. One that
goes round in circles leaves them by beginning every other time between its last two estimates.

It starts with the impulses that the contacts' present velocities ask for: those of the last step, if nothing happened
since; so nothing need be remembered.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), for the problem.
Cost: one solution of the equation of motion and 150 operations a contact, an iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from cardan._algebra.arrays.implicit_function import all_held
from cardan._algebra.arrays.repeat import converging, repeat, when
from cardan._algebra.scalar import floor, logical_and, maximum, sqrt, where
from cardan._algebra.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.drives import JointForces, Lines
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.stepping import Solved
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.at_minimum import AtMinimum, with_derivatives
from cardan._motion.contact.cone import Cone, Impulse
from cardan._motion.contact.equation import Equation, Patch, Response, equation_of_motion
from cardan._motion.contact.point import Contact

# The most that the iteration takes, wherever it starts (above), but for a robot that falls on its limbs, in one step of
# a hundred: so many at most. Then every other one begins so far from the last estimate but one to the last.
ITERATIONS, MOST, TOWARDS = 4, 20, 0.7
# By how much velocities may be wrong [m/s, rad/s]: within the first iterations as little as rounding allows, in double
# and in single precision, so that derivatives agree with differences; beyond, what nobody sees.
EXACT, EXACT_IN_SINGLE, CONVERGED = 1e-9, 1e-5, 1e-3

NO_IMPEDANCE = ArticulatedInertia(Symmetric3.isotropic(0.0), Matrix3.zero(), Symmetric3.isotropic(0.0))


class Decision(NamedTuple):
    """What decides on which parts of their laws forces are."""

    efforts: Vector  # by the elements of the joints
    tests: Sequence[Impulse]  # z of the contacts (`cone`)


class Estimate(NamedTuple):
    """Accelerations, with the forces with which they obey the equation of motion."""

    a: Vector  # of the joints
    impulses: Sequence[Impulse]  # at the contacts
    residual: Scalar  # by how much velocities are wrong, at most [m/s, rad/s]


@dataclass(frozen=True, slots=True)
class Problem:
    """What an iteration solves: the equation of motion with what its forces shall obey."""

    equation: Equation
    elements: JointForces
    laws: Sequence[Cone]

    def of_patches(self, *of_contacts: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return each patch with its laws and its parts of what each contact has, one patch after the other."""
        ends = accumulate((len(patch.contacts) for patch in self.equation.patches), initial=0)
        places = [slice(*both) for both in pairwise(ends)]
        columns = (self.laws, *of_contacts)
        return [(p, *(c[own] for c in columns)) for p, own in zip(self.equation.patches, places, strict=True)]

    def start(self) -> tuple[Decision, Estimate]:
        """Return what keeps the velocities as they are."""
        contacts, tests = self.equation.contacts, []
        for contact, law in zip(contacts, self.laws, strict=True):
            tests.append(law.test(law.first(contact.velocity), contact.velocity))
        nothing = Estimate([0.0] * self.equation.moment.model.nv, [NOTHING] * len(tests), 1.0)
        return Decision([element.at(0.0) for _, element in self.elements], tests), nothing

    def lines(self, decision: Decision, a: Vector) -> Lines:
        return self.elements.linear(decision.efforts, a)

    def solved(self, decision: Decision, lines: Lines, share: Scalar = 1.0) -> tuple[Decision, Estimate]:
        """Return the solution with all forces on the parts of their laws that are decided on, and the next decision.

        This goes by a share of the way to where the solution is.
        """
        dt, parted = self.equation.dt, self.of_patches(decision.tests)
        responses = [_response(patch, laws, tests, dt) for patch, laws, tests in parted]
        a, changes = self.equation.solve(self.elements.total(lines), responses)
        efforts, worst = self.elements.on(lines, a), 0.0
        tests: list[Impulse] = []
        impulses: list[Impulse] = []
        for (patch, laws, own), change in zip(parted, changes, strict=True):
            reaction = _reaction(patch, laws, own, change, share, dt)
            tests += reaction.tests
            impulses += reaction.impulses
            worst = maximum(worst, reaction.squared_error)
        residual = maximum(self.elements.residual(efforts, a), sqrt(worst))
        return Decision(efforts, tests), Estimate(a, impulses, residual)


NOTHING = Impulse(0.0, Force.zero())


def convex(
    moment: Snapshot, elements: JointForces, contacts: Sequence[Contact], dt: float, iterations: int | None = None
) -> Solved:
    """Return the accelerations of an implicit step after so many iterations of Newton's method, or those it takes."""
    equation = equation_of_motion(moment, contacts, dt, iterations or ITERATIONS, grouped=True)
    laws = [Cone.of(contact, dt) for contact in equation.contacts]
    for contact in equation.contacts:
        contact.ahead(dt)
    problem = Problem(equation, elements, laws)
    found = _iterate(problem, *problem.start(), iterations)
    solved = zip(equation.contacts, found.impulses, strict=True)
    impulses = [g._replace(slip=contact.on_node(g.slip)) for contact, g in solved]
    a, impulses = with_derivatives(AtMinimum(moment, elements, contacts, found.a, impulses, dt))
    acting = zip(contacts, impulses, strict=True)
    wrenches = [Cone.of(contact, dt).wrench(g) * (1.0 / dt) for contact, g in acting]
    return Solved(Accelerations(a, moment.changes(a)), all_held(found.residual), wrenches)


def _iterate(problem: Problem, decision: Decision, found: Estimate, iterations: int | None) -> Estimate:
    """Return the estimate after so many iterations; without a number the one that is right, or the last."""
    exact = where(is_double(problem.equation.moment.q), EXACT, EXACT_IN_SINGLE)

    def goes_on(scratch: Any, *values: Any) -> Any:
        return Estimate(*values).residual > where(scratch[0] < ITERATIONS, exact, CONVERGED)

    def next_one(scratch: Any, *values: Any) -> tuple[Any, ...]:
        count, decision = scratch[0], Decision(*scratch[1:])
        half, share = 0.5 * count, 1.0
        if iterations is None:
            share = where(logical_and(count >= ITERATIONS, half == floor(half)), TOWARDS, 1.0)
        decision, found = problem.solved(decision, problem.lines(decision, Estimate(*values).a), share)
        return ((count + 1.0, *decision), *found)

    start = (0.0, *decision)
    if iterations is None:
        return Estimate(*converging(MOST, ITERATIONS, goes_on, next_one, start, *found))
    return Estimate(*repeat(iterations, next_one, start, *found)[1:])


def _response(patch: Patch, laws: Sequence[Cone], tests: Sequence[Impulse], dt: float) -> Response:
    """Return what the contacts of a patch do together, on the parts of their laws that they are on."""

    def found() -> Response:
        force, Z = Force.zero(), NO_IMPEDANCE
        for contact, law, z in zip(patch.contacts, laws, tests, strict=True):
            part = law.part(z)
            wrench, impedance = law.wrench(part.at(contact.ahead(dt))) * (1.0 / dt), part.impedance
            if patch.is_single:
                return Response(wrench, impedance)
            force, Z = force + contact.place @ wrench, Z + contact.place @ impedance
        return Response(force, Z)

    return found() if patch.is_single else when(patch.near, found, Response(Force.zero(), NO_IMPEDANCE))


class _Reaction(NamedTuple):
    """What a change of velocity does to the contacts of a patch."""

    tests: list[Impulse]
    impulses: list[Impulse]
    squared_error: Scalar


def _reaction(
    patch: Patch, laws: Sequence[Cone], tests: Sequence[Impulse], change: Motion, share: Scalar, dt: float
) -> _Reaction:
    """Return what the contacts of a patch feel, on the parts of their laws that they were on, from the change."""

    def found() -> _Reaction:
        reaction = _Reaction([], [], 0.0)
        for contact, law, z in zip(patch.contacts, laws, tests, strict=True):
            own = change if patch.is_single else contact.place.inverse_act(change)
            twist = contact.ahead(dt) + own * dt
            g = law.part(z).at(twist)
            test = law.test(g, twist)
            worst = maximum(reaction.squared_error, law.squared_error(g, test))
            reaction = _Reaction([*reaction.tests, z.towards(test, share)], [*reaction.impulses, g], worst)
        return reaction

    none = [NOTHING] * len(laws)
    return found() if patch.is_single else when(patch.near, found, _Reaction(none, none, 0.0))
