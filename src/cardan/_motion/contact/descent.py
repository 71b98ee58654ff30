"""Downhill to the minimum of the convex problem, where the iteration of `convex` goes round in circles.

Let a be an estimate, and d the step to the solution with forces on the parts of their laws that the velocities at a ask
for, g(v) and f(a). It leads downhill, and along it

    phi'(s) = (1 - s) p_0 + s p_1 - p(s),      p = dt^2 f . d + g . u,   u = dt J d

rises with s. p(s) is of the forces that a + s d asks for, p_0 and p_1 of those with which both ends obey the equation
of motion. The root of phi' is found by halving. So phi falls in every pass, wherever they begin, and passes converge
quadratically at the end, as Newton's do.

Of a contact p(s) takes five numbers: b + c s is its velocity along the normal, h + (2 k + e s) s the square of its slip
v_t, and

    g . u = g_n c - |g_t| (k + e s) / |v_t|

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), section IV.
Cost: 25 operations a contact and a halving, 120 a contact beside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import converging, repeat_while, when
from cardan._algebra.scalar import maximum, sqrt, where
from cardan._algebra.spatial import Motion, Scalar
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import Cone, Impulse
from cardan._motion.contact.problem import NOTHING, Decision, Estimate, Problem, Row

CONVERGED = 1e-3  # by how much velocities may be wrong where it ends [m/s, rad/s]: what nobody sees
MOST = 40  # passes. Of 200 hard steps of eleven robots that fall, one took 28, and the others 7 on average.
# Halvings of a step, at most: edges of stops and cones are 1e-6 and 1e-3 of a step wide. With 12 a fifth of those hard
# steps did not end. Before that they end where phi' is so small a part of p_1 - p_0.
HALVINGS, FLAT = 22, 0.01


def descended(problem: Problem, start: Estimate) -> Estimate:
    """Return the minimum, from an estimate that is farther away than `CONVERGED`; it keeps its derivatives.

    The first pass goes all the way, so that the forces of the start need not be known.
    """
    seldom = replace(problem, is_short=True)

    def found() -> Estimate:
        blank = start._replace(impulses=[NOTHING] * len(start.impulses), efforts=[0.0] * len(start.efforts))
        return converging(MOST, 0, goes_on, next_one, (math.inf, _judged(seldom, blank)[0]), blank)[0]

    def goes_on(_: Any, old: Any) -> Any:
        return old.residual > CONVERGED

    def next_one(scratch: Any, old: Any) -> tuple[Any, Estimate]:
        flat, decision = scratch
        decision, new = _one_pass(seldom, decision, old, flat)
        return (0.0, decision), new

    return when(start.residual > CONVERGED, found, start)


def _one_pass(problem: Problem, decision: Decision, old: Estimate, flat: Scalar) -> tuple[Decision, Estimate]:
    """Return the lowest estimate on the way to where the decision leads, and the decision by its velocities."""
    _, new = problem.solved(decision, problem.lines(decision, old.a))
    s = _Way.between(problem, old.a, new.a).lowest(old, new, flat)
    impulses = [g.towards(h, s) for g, h in zip(old.impulses, new.impulses, strict=True)]
    mixed = Estimate(_mixed(old.a, new.a, s), impulses, new.residual, _mixed(old.efforts, new.efforts, s))
    return _judged(problem, mixed)


def _mixed(old: Vector, new: Vector, s: Scalar) -> list[Scalar]:
    return [x + (y - x) * s for x, y in zip(old, new, strict=True)]


def _judged(problem: Problem, at: Estimate) -> tuple[Decision, Estimate]:
    """Return the decision by what the velocities of an estimate ask for, and the estimate with its residual."""
    dt, own = problem.equation.dt, problem.of_patches(at.impulses)
    judged = problem.over_patches(partial(_judged_patch, dt), own, problem.equation.changes(at.a))
    worst = reduce(maximum, (error for _, error in judged), 0.0)
    residual = maximum(problem.elements.residual(at.efforts, at.a), sqrt(worst))
    efforts = [element.at(at.a[j]) for j, element in problem.elements]
    return Decision(efforts, [z for tests, _ in judged for z in tests]), at._replace(residual=residual)


def _judged_patch(dt: float, row: Row, impulses: Sequence[Impulse], change: Motion) -> tuple[list[Impulse], Scalar]:
    """Return z of what a patch's velocities ask for, and the square of by how much they are wrong with impulses."""

    def found() -> tuple[list[Impulse], Scalar]:
        tests: list[Impulse] = []
        worst: Scalar = 0.0
        for law, g, twist in zip(row.laws, impulses, row.twists(change, dt), strict=True):
            tests.append(law.test(law.at(twist), twist))
            worst = maximum(worst, law.squared_error(g, law.test(g, twist)))
        return tests, worst

    return row.near(found, ([NOTHING] * len(impulses), 0.0))


class _Line(NamedTuple):
    """The velocities of a contact on the way, by the letters of the head."""

    b: Scalar
    c: Scalar
    h: Scalar
    k: Scalar
    e: Scalar
    slip: Motion  # of u

    @staticmethod
    def of(law: Cone, start: Motion, u: Motion) -> _Line:
        v, slip = law.slip(start), law.slip(u)
        h, k, e = (_dot(*both) for both in ((v, v), (v, slip), (slip, slip)))
        return _Line(law.normal.dot(start.linear), law.normal.dot(u.linear), h, k, e, slip)

    def power(self, g: Impulse) -> Scalar:
        """Return g . u."""
        return g.normal * self.c + _dot(g.slip, self.slip)

    def power_asked(self, law: Cone, s: Scalar) -> Scalar:
        """Return g . u of the impulse that the velocities at s ask for."""
        rest = self.k + self.e * s
        squared = maximum(self.h + (self.k + rest) * s, 0.0)  # rounding may be below
        g_n, per_slip = law.at_speeds(self.b + self.c * s, squared)
        return g_n * self.c - per_slip * rest


def _lines(dt: float, row: Row, start: Motion, d: Motion) -> list[_Line]:
    """Return the lines of a patch's contacts, from its change at a and along d."""
    both = zip(row.laws, row.twists(start, dt), row.accelerations(d), strict=True)
    return [_Line.of(law, v, A * dt) for law, v, A in both]


def _power_asked(s: Scalar, row: Row, lines: Sequence[_Line]) -> Scalar:
    """Return g . u of a patch at s."""
    both = list(zip(row.laws, lines, strict=True))
    return row.near(lambda: sum((line.power_asked(law, s) for law, line in both), 0.0), 0.0)


class _Way(NamedTuple):
    """The way from one estimate to another: accelerations a + s d, and the lines of each patch's contacts."""

    problem: Problem
    a: Vector
    d: Vector
    lines: list[list[_Line]]

    @staticmethod
    def between(problem: Problem, old: Vector, new: Vector) -> _Way:
        d, dt = [y - x for x, y in zip(old, new, strict=True)], problem.equation.dt
        changes = problem.equation.changes(old), problem.equation.changes(d)
        return _Way(problem, old, d, problem.over_patches(partial(_lines, dt), *changes))

    def lowest(self, old: Estimate, new: Estimate, flat: Scalar) -> Scalar:
        """Return the root of phi', or 1 if it is farther away; what is as flat as is said is 0."""
        p_0, p_1 = self._power(old), self._power(new)
        flat = maximum(flat, FLAT * (p_1 - p_0))

        def halved(s: Scalar, low: Scalar, high: Scalar) -> tuple[Scalar, Scalar, Scalar]:
            rise = (1.0 - s) * p_0 + s * p_1 - self._power_asked(s)
            low, high = where(rise <= flat, s, low), where(rise >= -flat, s, high)
            return 0.5 * (low + high), low, high

        zero = 0.0 * p_0  # not from numbers alone: so the loop's body is traced once
        return repeat_while(1 + HALVINGS, lambda s, low, high: low < high, halved, 1.0 + zero, zero, 1.0 + zero)[0]

    def _power(self, at: Estimate) -> Scalar:
        """Return p of the forces of an estimate."""
        lines = (line for own in self.lines for line in own)
        return sum((line.power(g) for line, g in zip(lines, at.impulses, strict=True)), self._of_elements(at.efforts))

    def _power_asked(self, s: Scalar) -> Scalar:
        """Return p(s)."""
        a = [x + s * y for x, y in zip(self.a, self.d, strict=True)]
        total = self._of_elements([element.at(a[j]) for j, element in self.problem.elements])
        return total + sum(self.problem.over_patches(partial(_power_asked, s), self.lines), 0.0)

    def _of_elements(self, efforts: Vector) -> Scalar:
        """Return dt^2 f . d; of elements that are lines it is in p_0, p_1 and p(s) alike, and left out."""
        square, total = self.problem.equation.dt**2, 0.0
        for (j, element), held in zip(self.problem.elements, efforts, strict=True):
            if not element.is_line:
                total = total + element.effort(held) * (self.d[j] * square)
        return total


def _dot(a: Any, b: Any) -> Scalar:
    """Return the product of two slips, or of an impulse against one."""
    return a.linear.dot(b.linear) + a.angular.dot(b.angular)
