"""Downhill to the minimum of the convex problem, where the iteration of `convex` goes round in circles.

Let a be an estimate, and d the step to the solution with forces on the parts of their laws that the velocities at a ask
for, g(v) and f(a). It leads downhill, and along it

    phi'(s) = p_1 - (1 - s) dt^2 d . M d - p(s),      p = dt^2 f . d + g . u,   u = dt J d

rises with s. p(s) is of the forces that a + s d asks for, p_1 of those of the solution. The root of phi' is found by
halving. So phi falls in every pass, wherever they begin, and passes converge quadratically at the end, as Newton's do.

Of a contact p(s) takes five numbers: b + c s is its velocity along the normal, h + (2 k + e s) s the square of its slip
v_t, and

    g . u = g_n c - |g_t| (k + e s) / |v_t|

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), section IV.
Cost: 25 operations a contact and a halving, 120 a contact beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import maximum, where
from cardan._algebra.spatial import Motion, Scalar
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import Cone, Impulse
from cardan._motion.contact.problem import NOTHING, Decision, Estimate, Problem, Row

# Halvings of a step, at most: edges of stops and cones are 1e-6 and 1e-3 of a step wide. With 12 a fifth of 200 hard
# steps of eleven robots that fall did not end. They end where phi' is so small a part of dt^2 d . M d.
HALVINGS, FLAT = 22, 0.01


def downhill(problem: Problem, old: Vector, new: Estimate) -> tuple[Decision, Estimate]:
    """Return the lowest place on the way from accelerations to a solution, and the decision by its velocities.

    Where that is on the way, forces are still those of the solution: it is no estimate yet, and what is left of the way
    counts as error.
    """
    seldom = replace(problem, is_short=True)
    way = _Way.between(seldom, old, new.a)
    s = way.lowest(new)
    a = [x + y * s for x, y in zip(way.a, way.d, strict=True)]
    left = reduce(maximum, (abs(y) for y in way.d), 0.0) * ((1.0 - s) * problem.equation.dt)
    at = Estimate(a, new.impulses, maximum(new.residual, left), [e.at(a[j]) for j, e in problem.elements])
    asked = seldom.over_patches(partial(_asked, problem.equation.dt), problem.equation.changes(a))
    return Decision(at.efforts, [z for tests in asked for z in tests]), at


def _asked(dt: float, row: Row, change: Motion) -> list[Impulse]:
    """Return z of what a patch's velocities ask for."""
    none = [NOTHING] * len(row.laws)
    laws = list(zip(row.laws, row.twists(change, dt), strict=True))
    return row.near(lambda: [law.test(law.at(twist), twist) for law, twist in laws], none)


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

    def lowest(self, new: Estimate) -> Scalar:
        """Return the root of phi', or 1 if it is farther away."""
        square = self.problem.equation.dt**2 * self.problem.equation.quadratic(self.d)
        p_1 = self._power(new)
        flat = FLAT * square

        def halved(s: Scalar, low: Scalar, high: Scalar) -> tuple[Scalar, Scalar, Scalar]:
            rise = (p_1 - (1.0 - s) * square) - self._power_asked(s)
            low, high = where(rise <= flat, s, low), where(rise >= -flat, s, high)
            return 0.5 * (low + high), low, high

        zero = 0.0 * p_1  # not from numbers alone: so the loop's body is traced once
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
        """Return dt^2 f . d."""
        square, total = self.problem.equation.dt**2, 0.0
        for (j, element), held in zip(self.problem.elements, efforts, strict=True):
            total = total + element.effort(held) * (self.d[j] * square)
        return total


def _dot(a: Any, b: Any) -> Scalar:
    """Return the product of two slips, or of an impulse against one."""
    return a.linear.dot(b.linear) + a.angular.dot(b.angular)
