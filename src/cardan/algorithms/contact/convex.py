"""Convex contact: the accelerations of a step minimise a convex function, by Newton's method.

    phi(a) = |a - a_free|^2_M / 2 + contacts l(v + dt J a) + elements of the joints

whose gradient is the equation of motion with impulses of `cone`. A step of Newton's is the same equation with forces
linearised: contacts as impedances, joints as armatures. On the way from one estimate to the next all is affine in the
share s of it, so that phi'(s) = sum (p(s) - g(v(s))) . dv needs forces at the contacts alone, and no M: p are the
linearised impulses, g the law's.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), sections IV and V.
Cost: one solution of the equation of motion an iteration, 70 operations a contact and evaluation of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cardan.algorithms.aba import Accelerations
from cardan.algorithms.contact.cone import Cone, Reaction
from cardan.algorithms.contact.equation import Equation, Response, equation_of_motion
from cardan.algorithms.contact.point import Contact
from cardan.algorithms.drives import Elements
from cardan.algorithms.implicit import Moment
from cardan.algorithms.stepping import Solved
from cardan.algorithms.tree import Vector
from cardan.scalar import clip, maximum, where
from cardan.spatial import Force, Motion, Scalar

ITERATIONS = 4
SEARCH = 3
"""How often forces are evaluated on the way to an iteration's result, to stop where it is best."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Accelerations, and the forces with which they obey the equation of motion.

    Attributes:
        a: of the joints.
        twists: of the contacts at the step's end.
        impulses: at the contacts, on the lines of the iteration.
        forces: of the elements of the joints, on theirs.
    """

    a: Vector
    twists: list[Motion]
    impulses: list[Force]
    forces: list[Scalar]

    def towards(self, other: Estimate, share: Scalar) -> Estimate:
        """Return what is between."""
        return Estimate(
            [x + share * (y - x) for x, y in zip(self.a, other.a, strict=True)],
            [x + (y - x) * share for x, y in zip(self.twists, other.twists, strict=True)],
            [x + (y - x) * share for x, y in zip(self.impulses, other.impulses, strict=True)],
            [x + share * (y - x) for x, y in zip(self.forces, other.forces, strict=True)],
        )


def convex(
    moment: Moment,
    elements: Elements,
    contacts: Sequence[Contact],
    dt: float,
    warm: Vector | None = None,
    iterations: int | None = None,
) -> Solved:
    """Return the accelerations of an implicit step.

    Args:
        moment: the state.
        elements: the forces along the joints.
        contacts: what touches, or may.
        dt: the step.
        warm: accelerations to start at, those of the last step; those at which velocities stay, by default.
        iterations: of Newton's method; `ITERATIONS` by default.
    """
    equation = equation_of_motion(moment, contacts, dt)
    laws = [Cone.of(contact, dt) for contact in contacts]
    now = _start(equation, elements, warm)
    for k in range(iterations or ITERATIONS):
        reactions = [law.at(twist) for law, twist in zip(laws, now.twists, strict=True)]
        new = _newton(equation, elements, now, reactions)
        now = new if k == 0 or not SEARCH else now.towards(new, _share(laws, now, new, reactions))
    return Solved(Accelerations(list(now.a), moment.accelerations(now.a)), _residual(equation, elements, laws, now))


def _start(equation: Equation, elements: Elements, warm: Vector | None) -> Estimate:
    dt, a = equation.dt, [0.0] * equation.moment.model.nv if warm is None else list(warm)
    twists = [c.velocity for c in equation.contacts]
    if warm is not None:
        twists = [V + change * dt for V, change in zip(twists, equation.change(a).twists, strict=True)]
    return Estimate(a, twists, [], [element.at(a[j]) for j, element in elements])


def _newton(equation: Equation, elements: Elements, now: Estimate, reactions: Sequence[Reaction]) -> Estimate:
    """Return the solution with all forces linearised."""
    dt = equation.dt
    lines = elements.linear(now.forces, now.a)
    before = [(V - c.velocity) * (1.0 / dt) for V, c in zip(now.twists, equation.contacts, strict=True)]
    responses = []
    for reaction, change in zip(reactions, before, strict=True):
        Z = reaction.impedance
        responses.append(Response(reaction.impulse * (1.0 / dt) + Z @ change, Z))
    a, changes = equation.solve(elements.total(lines), responses)
    twists = [c.velocity + change * dt for c, change in zip(equation.contacts, changes, strict=True)]
    impulses = [line.at(change) * dt for line, change in zip(responses, changes, strict=True)]
    return Estimate(a, twists, impulses, elements.on(lines, a))


def _share(laws: Sequence[Cone], now: Estimate, new: Estimate, reactions: Sequence[Reaction]) -> Scalar:
    """Return how far to go: where phi'(s) = 0, between 0 and 1."""
    steps = [b - a for a, b in zip(now.twists, new.twists, strict=True)]

    def slope(s: Scalar) -> Scalar:
        at = now.towards(new, s)
        impulses = [law.at(twist).impulse for law, twist in zip(laws, at.twists, strict=True)]
        return _work(at.impulses, impulses, steps)

    start = _work(now.impulses, [reaction.impulse for reaction in reactions], steps)
    return _zero(slope, start, SEARCH)


def _work(impulses: Sequence[Force], others: Sequence[Force], steps: Sequence[Motion]) -> Scalar:
    return sum(((p - g).dot(step) for p, g, step in zip(impulses, others, steps, strict=True)), 0.0)


def _zero(slope: Callable[[Scalar], Scalar], start: Scalar, evaluations: int) -> Scalar:
    """Return where a rising function that starts below 0 is 0, 1 at most; by false positions (the Illinois rule)."""
    low, high, below, above = 0.0, 1.0, start, slope(1.0)
    end = above
    share = low
    for _ in range(evaluations - 1):
        share = clip(_secant(low, high, below, above), 0.0, 1.0)
        here = slope(share)
        rises = here > 0.0
        low, below, high, above = (
            where(rises, low, share),
            where(rises, 0.5 * below, here),
            where(rises, share, high),
            where(rises, here, 0.5 * above),
        )
    share = clip(_secant(low, high, below, above), 0.0, 1.0)
    return where(end <= 0.0, 1.0, share)


def _secant(low: Scalar, high: Scalar, below: Scalar, above: Scalar) -> Scalar:
    rise = above - below
    return low - below * ((high - low) / where(rise > 0.0, rise, 1.0))


def _residual(equation: Equation, elements: Elements, laws: Sequence[Cone], found: Estimate) -> Scalar:
    """Return by how much velocities are wrong, at most [m/s, rad/s]."""
    worst = elements.residual(found.forces, found.a)
    for contact, law, twist, impulse in zip(equation.contacts, laws, found.twists, found.impulses, strict=True):
        error = (impulse - law.at(twist).impulse).linear
        worst = maximum(worst, error.norm() * contact.inverse_mass)
    return worst
