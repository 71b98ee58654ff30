"""Downhill to the minimum of the convex problem, where the iteration of `convex` goes round in circles.

Let a be an estimate, and d the step to the solution with forces on the parts of their laws that the velocities at a ask
for, g(v) and f(a). It leads downhill, and along it

    phi'(s) = p_1 - (1 - s) dt^2 d . M d - p(s),      p = dt^2 f . d + g . u,   u = dt J d

rises with s. p(s) is of the forces that a + s d asks for, p_1 of those of the solution. The root of phi' is found by
halving. So phi falls in every pass, wherever they begin, and passes converge quadratically at the end, as Newton's do.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), section IV.
Cost: 90 operations a contact and a halving, 120 a contact beside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import in_loop, repeat_while
from cardan._algebra.scalar import maximum, where
from cardan._algebra.spatial import Motion, Scalar
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact.cone import Impulse
from cardan._motion.contact.problem import NOTHING, Decision, Estimate, Problem, Row, Tests

# Halvings of a step, at most: edges of stops and cones are 1e-6 and 1e-3 of a step wide. With 12 a fifth of 200 hard
# steps of eleven robots that fall did not end. They end where phi' is so small a part of dt^2 d . M d.
HALVINGS, FLAT = 22, 0.01


def downhill(problem: Problem, decided: Sequence[Tests], old: Vector, new: Estimate) -> tuple[Decision, Estimate]:
    """Return the lowest place on the way from accelerations to a solution, and the decision by its velocities.

    Where that is on the way, forces are still those of the solution: it is no estimate yet, and what is left of the way
    counts as error.
    """
    way = _Way.between(problem, decided, old, new.a)
    s = way.lowest(new)
    a = [x + y * s for x, y in zip(way.a, way.d, strict=True)]
    left = reduce(maximum, (abs(y) for y in way.d), 0.0) * ((1.0 - s) * problem.equation.dt)
    at = Estimate(a, maximum(new.residual, left), new.of_joints, problem.elements.at(a), new.lifts)
    tests = way.over_patches(partial(_asked, problem.equation.dt), _changes(problem, a))
    return Decision(at.efforts, tests), at


def _changes(problem: Problem, a: Vector) -> list[Motion]:
    """Return J a of the patches, zeros of those that are far."""
    equation = problem.equation
    return equation.everywhere(equation.of_each_patch(equation.changes(a)))


def _asked(dt: float, row: Row, change: Motion) -> list[Impulse]:
    """Return z of what a patch's velocities ask for."""
    none = [NOTHING] * len(row.laws)
    laws = list(zip(row.laws, row.twists(change, dt), strict=True))
    return row.near(lambda: [law.test(law.at(twist), twist) for law, twist in laws], none)


Line = tuple[Motion, Motion]
"""How a contact's velocity changes along the way, v and u."""


def _lines(dt: float, row: Row, start: Motion, d: Motion) -> list[Line]:
    """Return the lines of a patch's contacts, from its change at a and along d."""
    return [(v, A * dt) for v, A in zip(row.twists(start, dt), row.accelerations(d), strict=True)]


def _power(row: Row, lines: Sequence[Line], tests: Tests) -> Scalar:
    """Return g . u of a patch with the forces of a solution."""
    own = list(zip(row.laws, lines, tests, strict=True))
    return row.near(lambda: sum((law.wrench(law.part(z).at(v + u)).dot(u) for law, (v, u), z in own), 0.0), 0.0)


def _power_asked(s: Scalar, row: Row, lines: Sequence[Line]) -> Scalar:
    """Return g . u of a patch at s."""
    own = list(zip(row.laws, lines, strict=True))
    return row.near(lambda: sum((law.wrench(law.at(v + u * s)).dot(u) for law, (v, u) in own), 0.0), 0.0)


class _Way(NamedTuple):
    """The way from one estimate to another: accelerations a + s d, and the lines of each patch's contacts.

    Patches that are alike go through one block: a shorter program, and a slower one, of what is seldom done.
    """

    problem: Problem
    rows: list[Row]
    tests: list[Tests]  # by which the forces of the solution were decided
    a: Vector
    d: Vector
    lines: list[list[Line]]

    @staticmethod
    def between(problem: Problem, decided: Sequence[Tests], old: Vector, new: Vector) -> _Way:
        rows, tests = (problem.equation.everywhere(own, 1.0) for own in (problem.rows, decided))
        d = [y - x for x, y in zip(old, new, strict=True)]
        way = _Way(problem, rows, tests, old, d, [])
        changes = _changes(problem, old), _changes(problem, d)
        return way._replace(lines=way.over_patches(partial(_lines, problem.equation.dt), *changes))

    def over_patches(self, body: Callable[..., Any], *of_patches: Sequence[Any]) -> list[Any]:
        """Return what a body makes of each patch's row and what else it has."""
        alike: dict[Any, list[int]] = {}
        for k, row in enumerate(self.rows):
            alike.setdefault(row.kind, []).append(k)
        found: dict[int, Any] = {}
        for members in alike.values():
            columns = ([column[k] for k in members] for column in (self.rows, *of_patches))
            found |= zip(members, in_loop(body, *columns), strict=True)
        return [found[k] for k in range(len(self.rows))]

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

    def _power(self, new: Estimate) -> Scalar:
        """Return p of the forces of the solution."""
        return sum(self.over_patches(_power, self.lines, self.tests), self._of_elements(new.efforts))

    def _power_asked(self, s: Scalar) -> Scalar:
        """Return p(s)."""
        a = [x + s * y for x, y in zip(self.a, self.d, strict=True)]
        total = self._of_elements(self.problem.elements.at(a))
        return total + sum(self.over_patches(partial(_power_asked, s), self.lines), 0.0)

    def _of_elements(self, efforts: Vector) -> Scalar:
        """Return dt^2 f . d."""
        square, total = self.problem.equation.dt**2, 0.0
        for (along, element), held in zip(self.problem.elements, efforts, strict=True):
            total = total + element.effort(held) * (along.rate(self.d) * square)
        return total
