"""Convex contact: the accelerations of a step are the minimum of a convex function (`problem`), by Newton's method.

An iteration decides which part of its law each force is on, linearises it there, and solves the equation of motion.
Decided at estimates of force and velocity both (a primal-dual active set) it takes one to four iterations, wherever it
starts, and no search. Where these do not end, as in one step of a hundred of a robot that falls on its limbs, it goes
on `downhill`.

By Coulomb's law W stays symmetric (`cone`), but iterations converge linearly: to 1 mm/s, beyond the first four. Of 100
steps of a robot that falls 1 to 3 do not in 16. There the convex law decides, downhill. Derivatives are those of few
iterations, which linear convergence does not serve: it has none.

It starts with the impulses that the contacts' present velocities ask for: those of the last step, if nothing happened
since; so nothing need be remembered. Of what lies still the first iteration is right, and is all there is.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), for the problem;
Hintermueller, Ito and Kunisch, The primal-dual active set strategy as a semismooth Newton method (2003).
Cost: that of `Problem.solved` an iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cardan._algebra.arrays.implicit_function import all_held, derivatives_taken
from cardan._algebra.arrays.repeat import converging, is_ours, only_where, repeat
from cardan._algebra.errors import UnsupportedError
from cardan._algebra.scalar import logical_or, where
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.drives import JointForces
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.stepping import Solved
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.collision.candidate import chosen
from cardan._motion.contact.at_minimum import AtMinimum, with_derivatives
from cardan._motion.contact.cone import FrictionCone
from cardan._motion.contact.descent import downhill
from cardan._motion.contact.equation import equation_of_motion
from cardan._motion.contact.point import Contact
from cardan._motion.contact.problem import Decision, Estimate, Problem, Tests

# The most that it takes, wherever it starts (above); after how many it goes downhill, by Coulomb's law in the second
# place; and after how many it gives up.
# Of 200 hard steps of eleven robots that fall, one took 36, and the others 15 on average.
ITERATIONS, IN_CIRCLES, LINEAR, MOST = 4, 8, 16, 50
# By how much velocities may be wrong [m/s, rad/s]: within the first iterations as little as rounding allows, in double
# and in single precision, so that derivatives agree with differences; beyond, what nobody sees.
EXACT, EXACT_IN_SINGLE, CONVERGED = 1e-9, 1e-5, 1e-3
# So many iterations, of so few contacts, are written out; of more contacts the first. That is faster than a loop, and
# longer. Those that follow the first are skipped where it is right. What a derivative is taken of is a loop: of a
# derivative the iterations are a small part of the time.
WRITTEN_OUT, FEW = 3, 32

Decided = Callable[[int], Tests]  # what gives the tests of a patch, by its number
Iterated = tuple[list[Tests], Decision, Estimate]  # what an iteration was decided by, what it decides, and found


def convex(
    moment: Snapshot,
    elements: JointForces,
    contacts: Sequence[Contact],
    dt: float,
    iterations: int | None = None,
    lifts: Vector = (),
) -> Solved:
    """Return the accelerations of an implicit step after so many iterations; by default after those it takes."""
    iterations = 1 if elements.are_lines and not contacts else iterations  # 1: there is nothing to decide
    equation = equation_of_motion(moment, contacts, dt)
    problem = Problem.of(equation, elements, lifts)
    decided, found = minimum(problem, iterations)
    if lifts and (derivatives_taken(found.a) or not is_ours(found.residual > 0.0)):
        by = "solver Featherstone with contact='coulomb'"
        raise UnsupportedError("derivatives of a step, or symbols that have them", by, "ask for contact='convex'")
    solved = zip(equation.contacts, problem.impulses(decided, found.a, found.lifts), strict=True)
    impulses = [g._replace(slip=contact.on_node(g.slip)) for contact, g in solved]
    a, impulses = with_derivatives(AtMinimum(moment, elements, contacts, found.a, impulses, list(found.efforts), dt))
    acting = zip(contacts, impulses, strict=True)
    wrenches = [FrictionCone.of(contact, dt).wrench(g) * (1.0 / dt) for contact, g in acting]
    return Solved(Accelerations(a, moment.changes(a)), all_held(found.residual), wrenches, found.efforts)


def minimum(problem: Problem, iterations: int | None) -> tuple[Decided, Estimate]:
    """Return the minimum after so many iterations, by default after those it takes, and the tests that decided on it.

    Of these, those of a patch are asked for where it is near.
    """
    decision, found = problem.start()
    state: Iterated = decision.tests, decision, found
    if derivatives_taken(problem.equation.moment.q):
        return _until_right(problem, *state, 0) if iterations is None else _after(problem, iterations, state)
    first = _next(problem, *state)
    return _first_or_further(problem, first) if iterations is None else _after(problem, iterations - 1, first)


def _next(problem: Problem, _: Any, decision: Any, found: Any) -> Iterated:
    return problem.solved(decision.tests.__getitem__, problem.elements.linear(decision.efforts, found.a))


def _after(problem: Problem, count: int, state: Iterated) -> tuple[Decided, Estimate]:
    held, _, found = repeat(count, partial(_next, problem), *state) if count else state
    return held.__getitem__, found


def _first_or_further(problem: Problem, first: Iterated) -> tuple[Decided, Estimate]:
    """Return what the first iteration left, if that is right: so is what lies still. Else go on."""
    goes = _goes_on(problem, (1.0,), first[2])

    def further() -> tuple[list[Tests], Estimate]:
        state, count = first, WRITTEN_OUT if len(problem.equation.contacts) <= FEW else 1
        for _ in range(count - 1):
            state = _next(problem, *state)
        decided, solution = _until_right(problem, *state, count)
        return problem.equation.of_each_patch(decided), solution

    last, solution = only_where(goes, further)
    return lambda k: chosen(goes, last[k], first[0][k]), chosen(goes, solution, first[2])


def _goes_on(problem: Problem, scratch: Any, found: Estimate) -> Any:
    """Return whether an estimate is not right yet: after how many iterations it was found comes first in `scratch`."""
    exact, is_first = where(is_double(problem.equation.moment.q), EXACT, EXACT_IN_SINGLE), scratch[0] < ITERATIONS
    of_joints = found.of_joints > where(is_first, EXACT, CONVERGED)
    return logical_or(found.residual > where(is_first, exact, CONVERGED), of_joints)


def _until_right(
    problem: Problem, held: list[Tests], decision: Decision, found: Estimate, done: int
) -> tuple[Decided, Estimate]:
    """Return the first estimate that is right, or the last, and the tests that decided on it.

    A state that is right keeps these: so what it solves again is the same.
    """

    def next_one(scratch: Any, old: Any) -> tuple[Any, Estimate]:
        count, held, decision = scratch
        goes, goes_down = _goes_on(problem, scratch, old), count >= (LINEAR if problem.lifts else IN_CIRCLES)

        def decided(k: int) -> Tests:
            return chosen(goes, decision.tests[k], held[k])

        own = replace(problem, lifts=[where(goes_down, 1.0, e) for e in problem.lifts])
        held, after, new = own.solved(decided, problem.elements.linear(decision.efforts, old.a))
        if isinstance(goes_down, bool) and not goes_down:
            return (count + 1.0, held, after), new
        lower, lowest = only_where(goes_down, lambda: downhill(own, held, old.a, new))
        tests = problem.equation.of_each_patch(lambda k: chosen(goes_down, lower.tests[k], after.tests[k]))
        efforts = chosen(goes_down, lower.efforts, after.efforts)
        return (count + 1.0, held, Decision(efforts, tests)), chosen(goes_down, lowest, new)

    start = float(done), held, decision
    most, first = MOST - done, ITERATIONS - done
    (_, last, _), solution = converging(most, first, partial(_goes_on, problem), next_one, start, found)
    went = _goes_on(problem, start, found)
    return lambda k: chosen(went, last[k], held[k]), solution
