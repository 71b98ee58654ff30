"""The semi-implicit step with springs for joints: what a joint does not allow is pushed back by its gap and rate.

In parts of h, with C the residuals of all joints along the wrenches T of the step's beginning,

    (M_q + A + W) d = h (tau + weight) + J^T g,                     u <- u + d
    v <- v + X d - h M^-1 T (k C + c T^T V),        x <- x moved by v

of which d is what efforts tau - W a, weight and contacts do as the joints allow, as in `rigid_step.py`. Efforts are
those of the part: so what rests feels its load together with what bears it, and stops are met where they are.

The spring of each row is by default as stiff as its bodies' inertia and h allow, k = 0.02 / (h^2 g) with
g = T^T M^-1 T, and half damped, c = sqrt(0.02) / (h g): some twelve such rows may add up on a body before it gets
unstable. Of order 1; gaps are those of springs that stretch. Coordinates keep none: each step begins with closed
joints, and its velocities are projected to those the joints allow (`bodies.py`).

Contacts are springs as well, k at most that of the material, with the damping that gives back its restitution and a
friction that is viscous up to mu f_n; g is what the mechanism feels there.

Source: Newton's `SolverSemiImplicit` for the idea; Hairer, Lubich and Wanner (2006), section I.1.5, for the bound.
Cost: all joints once in every part of a step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import log, maximum, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import dot
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact import Contact, contacts
from cardan._motion.contact.cone import SMALL
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import (
    BodyState,
    Efforts,
    PartialStep,
    Row,
    StepResult,
    System,
    response,
)
from cardan._motion.maximal_steps.distance_bounds import DistanceBounds
from cardan._motion.maximal_steps.non_penetration import Meeting, on_bodies
from cardan._motion.maximal_steps.rigid_step import fall_of
from cardan._robot.model import Model

STIFFNESS, DAMPING = 0.02, 0.5
"""k h^2 g, and the share of critical damping."""


class RowSpring(NamedTuple):
    """What holds a row."""

    row: Row
    stiffness: Scalar
    damping: Scalar

    def force(self, residual: Scalar, twists: Sequence[Motion]) -> Scalar:
        """Return what it pulls back with."""
        return -(self.stiffness * residual + self.damping * self.row.velocity(twists))


def semi_implicit_step(
    acting: Callable[[PartialStep, Vector, float], StepResult],
    model: Model,
    q: Vector,
    v: Vector,
    h: float,
    parts: int = 4,
    stiffness: float | None = None,
    damping: float | None = None,
    pairs: Sequence[ContactPair] = (),
) -> StepResult:
    """Return a step of h [s] in so many parts, in each of which efforts act: they finish what is begun from v.

    The springs have by default, for None, each row's own stiffness [N/m, N m/rad] and damping [N s/m, N m s/rad].
    """
    system, moment, part = System(model), Snapshot(model, q, v), h / parts
    start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    ends = DistanceBounds(system, joined, [b.moved(h) for b in start])
    holding = [_spring(system, row, part, stiffness, damping) for j in joined for row in j.rows]
    stopping = [_spring(system, row, part, stiffness, damping) for row in ends.rows]
    rows = [spring.row for spring in (*holding, *stopping)]
    touching = contacts(moment, pairs)
    meetings, cushions = [Meeting.of(contact, start) for contact in touching], _cushions(touching, moment, part)
    weight = fall_of(moment, 1.0, part).impulse

    def once(placed: Any, at: Any, u: Any, gaps: Any, totals: Any, slack: Any) -> tuple[Any, ...]:
        impulses = [cushion.force(gap, u) * part for cushion, gap in zip(cushions, gaps, strict=True)]
        pushed = weight
        for cushion, impulse in zip(cushions, impulses, strict=True):
            pushed = [e + column.dot(impulse) for e, column in zip(pushed, cushion.columns, strict=True)]

        def finish(loads: Efforts) -> StepResult:
            p = [e + part * tau for e, tau in zip(pushed, loads.tau, strict=True)]
            return StepResult([], [a + d for a, d in zip(u, response(model, q, loads.W)(p), strict=True)], [])

        found = acting(PartialStep(at, finish), u, part)
        twists = [b.twist() for b in placed]
        left = zip(holding, system.residuals(placed, joined), strict=True)
        forces = [*(spring.force(e, twists) for spring, e in left), *_pushes(ends, stopping, placed, twists)]
        pulled = system.impulses(rows, [part * f for f in forces])
        moves = system.twists(moment.relative, [new - old for new, old in zip(found.v, u, strict=True)])
        allowed = [body.impulse(twist) for body, twist in zip(system.bodies, moves, strict=True)]
        # What acts keeps its axes in the world, and contacts push both bodies at one point: no momentum is made.
        there, here = (on_bodies(meetings, impulses, bodies) for bodies in (start, placed))
        turns = [SE3(b.pose.rotation.T @ a.pose.rotation) for a, b in zip(start, placed, strict=True)]
        others = [turn @ (a - b) for turn, a, b in zip(turns, allowed, there, strict=True)]
        kick = [a + b + c for a, b, c in zip(pulled, others, here, strict=True)]
        placed = [b.moved(part) for b in system.started(placed, kick, part)]
        # The velocity of the turn is not that after it: the momentum is, in axes that have turned.
        slowed = zip(system.bodies, placed, strict=True)
        placed = [b._replace(w=body.J_inverse @ body.momentum_after_turn(b.w, part)) for body, b in slowed]
        at = model.manifold.integrate(at, [part * rate for rate in found.v])
        closing = zip(gaps, cushions, strict=True)
        gaps = [gap + part * c.contact.normal.dot(c.velocity(found.v)) for gap, c in closing]
        totals = [a + b for a, b in zip(totals, impulses, strict=True)]
        return placed, at, found.v, gaps, totals, maximum(slack, found.slack)

    begun = start, list(q), list(v), [c.gap for c in touching], [Vector3.zero() for _ in touching], 0.0
    placed, _, u, _, totals, slack = repeat(parts, once, *begun)
    spinning = [a * rate for a, rate in zip(model.passive("armature"), u, strict=True)]
    done = [meeting.done(g) for meeting, g in zip(meetings, totals, strict=True)]
    return system.coordinates_after(placed, q, 0.0, spinning)._replace(slack=slack, contacts=done)


class Cushion(NamedTuple):
    """A spring [N/m] with a damper [N s/m], and friction over slip while it holds [N s/m], where two shapes overlap.

    `columns` are those of J along v, in the axes of the contact's first body.
    """

    contact: Contact
    columns: list[Vector3]
    stiffness: Scalar
    damping: Scalar
    drag: Scalar

    @staticmethod
    def of(contact: Contact, felt: Callable[[Vector], list[Scalar]], h: float, among: int) -> Cushion:
        """Return what holds a contact, of so many between two bodies, in parts of h; `felt` is what joints feel."""
        J = {j: column.linear for j, column in contact.columns().items()}
        columns = [J.get(j, Vector3.zero()) for j in range(contact.moment.model.nv)]
        moved = [felt(row) for row in zip(*columns, strict=True)]
        G = Matrix3(dot(row, other) for row in zip(*columns, strict=True) for other in moved)
        material, n = contact.material, contact.normal
        least = SMALL * contact.inverse_mass  # slides may let a contact move along the normal alone, or not at all
        along = maximum(n.dot(G @ n), least)
        k = minimum(material.stiffness, STIFFNESS / (h * h * along))
        # A spring that may pull gives back the part e of a velocity with the share z = -log e / sqrt(pi^2 + log^2 e) of
        # critical damping; one that pushes alone gives back a little more. Below 1e-3 nobody sees it return.
        rate = -log(maximum(material.restitution, 1e-3))
        damping = 2.0 * rate / sqrt(math.pi**2 + rate * rate) * sqrt(k / along)
        return Cushion(contact, columns, k, damping, 1.0 / (h * among * maximum(G.trace() - along, least)))

    def velocity(self, v: Vector) -> Vector3:
        return sum((column * rate for column, rate in zip(self.columns, v, strict=True)), Vector3.zero())

    def force(self, gap: Scalar, v: Vector) -> Vector3:
        """Return the force on the first body."""
        n, mu, velocity = self.contact.normal, self.contact.material.friction, self.velocity(v)
        v_n = n.dot(velocity)
        f_n = where(gap < 0.0, maximum(-(self.stiffness * gap + self.damping * v_n), 0.0), 0.0)
        slip = velocity - n * v_n
        # SMALL keeps the root's derivative finite where nothing slips.
        size = self.drag * sqrt(slip.norm_squared() + SMALL * SMALL)
        return n * f_n - slip * (self.drag * minimum(1.0, mu * f_n / size))


def _cushions(touching: Sequence[Contact], moment: Snapshot, h: float) -> list[Cushion]:
    """Return what holds all contacts, in parts of h."""
    # Contacts between the same two bodies share their drag, so that together they do not turn the slip round.
    among = Counter(contact.nodes for contact in touching)
    felt = response(moment.model, moment.q)
    return [Cushion.of(contact, felt, h, among[contact.nodes]) for contact in touching]


def _spring(system: System, row: Row, h: float, stiffness: float | None, damping: float | None) -> RowSpring:
    inertia = 1.0 / system.gain(row)
    own = 2.0 * DAMPING * STIFFNESS**0.5 / h * inertia
    k = STIFFNESS / (h * h) * inertia if stiffness is None else stiffness
    return RowSpring(row, k, own if damping is None else damping)


def _pushes(
    ends: DistanceBounds, stopping: Sequence[RowSpring], placed: Sequence[BodyState], twists: Sequence[Motion]
) -> list[Scalar]:
    """Return the forces of bounds: rods hold, the others push where they are overrun."""
    found = []
    for bound, spring in zip(ends.bounds, stopping, strict=True):
        gap = bound.value(placed)
        force = spring.force(gap, twists)
        found.append(force if bound.sign == 0.0 else where(gap < 0.0, maximum(force, 0.0), 0.0))
    return found
