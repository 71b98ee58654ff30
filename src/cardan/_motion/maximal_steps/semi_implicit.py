"""The semi-implicit step with springs for joints: what a joint does not allow is pushed back by its gap and rate.

Bodies move with the velocities they have, in parts of h, and with C the residuals of all joints along the wrenches T of
the step's beginning,

    v <- v - h M^-1 T (k C + d T^T V),        x <- x moved by v

then gravity and efforts act where they have come to, as in an implicit step, v' = (M_q + W)^-1 (p + dt tau + W v).
The spring of each row is by default as stiff as its bodies' inertia and h allow, k = 0.02 / (h^2 g) with
g = T^T M^-1 T, and half damped, d = sqrt(0.02) / (h g): some twelve such rows may add up on a body before it gets
unstable. Of order 1; gaps are those of springs that stretch. Coordinates keep none: each step begins with closed
joints, and its velocities are projected to those the joints allow (`bodies.py`).

Contacts are springs as well, k at most that of the material, with the damping that gives back its restitution and a
friction that is viscous up to mu f_n; g is what the mechanism feels there, and it moves as the joints allow
(`non_penetration.py`). With them the weight acts in each part: what rests feels it together with what bears it.

Source: Newton's `SolverSemiImplicit` for the idea; Hairer, Lubich and Wanner (2006), section I.1.5, for the bound.
Cost: all joints once in every part of a step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.scalar import log, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import dot
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact import Contact, contacts
from cardan._motion.contact.cone import SMALL
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import (
    BodyState,
    ContactImpulse,
    Efforts,
    PartialStep,
    Row,
    StepResult,
    System,
    response,
)
from cardan._motion.maximal_steps.distance_bounds import DistanceBounds
from cardan._motion.maximal_steps.non_penetration import Meeting, on_bodies
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


def semi_implicit_start(
    model: Model,
    q: Vector,
    v: Vector,
    h: float,
    parts: int = 4,
    stiffness: float | None = None,
    damping: float | None = None,
    pairs: Sequence[ContactPair] = (),
) -> PartialStep:
    """Return a step of h [s] whose bodies have moved, in so many parts, so that efforts answer to where they are.

    The springs have by default, for None, each row's own stiffness [N/m, N m/rad] and damping [N s/m, N m s/rad].
    """
    system, part = System(model), h / parts
    placed = start = system.placed(q, v)
    joined = system.joined(start, system.near(q))
    ends = DistanceBounds(system, joined, [b.moved(h) for b in start])
    holding = [_spring(system, row, part, stiffness, damping) for j in joined for row in j.rows]
    stopping = [_spring(system, row, part, stiffness, damping) for row in ends.rows]
    rows = [spring.row for spring in (*holding, *stopping)]
    cushions = Cushions(system, start, Snapshot(model, q, v), pairs, part)
    falling = part if pairs else 0.0  # what rests feels its weight with what bears it
    for _ in range(parts):
        twists = [b.twist() for b in placed]
        left = zip(holding, system.residuals(placed, joined), strict=True)
        forces = [*(spring.force(e, twists) for spring, e in left), *_pushes(ends, stopping, placed, twists)]
        kick = system.impulses(rows, [part * f for f in forces])
        kick = [a + b for a, b in zip(kick, cushions.kick(placed), strict=True)]
        placed = system.started(placed, kick, part, falling)
        cushions.follow(placed)
        placed = [b.moved(part) for b in placed]
        # The velocity of the turn is not that after it: the momentum is, in axes that have turned.
        slowed = zip(system.bodies, placed, strict=True)
        placed = [b._replace(w=body.J_inverse @ body.momentum_after_turn(b.w, part)) for body, b in slowed]

    placed = [b._replace(v=b.v + model.gravity * (h - parts * falling)) for b in placed]

    def finish(loads: Efforts) -> StepResult:
        each = zip(loads.tau, loads.W, model.passive("armature"), v, strict=True)
        own = [h * tau + (w + a) * rate for tau, w, a, rate in each]
        return system.coordinates_after(placed, q, 0.0, own, loads.W)._replace(contacts=cushions.done())

    return PartialStep(system.configuration_of(placed, q)[0], finish)


class Cushion(NamedTuple):
    """A spring [N/m] with a damper [N s/m], and friction over slip while it holds [N s/m], where two shapes overlap.

    `moved` is M^-1 J^T, the change of each entry of v by a unit impulse along each axis of the contact's first body.
    """

    contact: Contact
    meeting: Meeting
    moved: list[Vector3]
    stiffness: Scalar
    damping: Scalar
    drag: Scalar

    @staticmethod
    def of(
        contact: Contact, felt: Callable[[Vector], list[Scalar]], start: Sequence[BodyState], h: float, among: int
    ) -> Cushion:
        """Return what holds a contact, of so many between two bodies, in parts of h; M^-1 is what the joints feel."""
        J = {j: column.linear for j, column in contact.columns().items()}
        rows = [[J[j][k] if j in J else 0.0 for j in range(contact.moment.model.nv)] for k in range(3)]
        moved = [Vector3(*e) for e in zip(*map(felt, rows), strict=True)]
        G = Matrix3(dot(row, [e[i] for e in moved]) for row in rows for i in range(3))
        material, n = contact.material, contact.normal
        along = n.dot(G @ n)
        k = minimum(material.stiffness, STIFFNESS / (h * h * along))
        # A spring that may pull gives back the part e of a velocity with the share z = -log e / sqrt(pi^2 + log^2 e) of
        # critical damping; one that pushes alone gives back a little more. Below 1e-3 nobody sees it return.
        rate = -log(maximum(material.restitution, 1e-3))
        damping = 2.0 * rate / sqrt(math.pi**2 + rate * rate) * sqrt(k / along)
        drag = 1.0 / (h * among * (G.trace() - along))
        return Cushion(contact, Meeting.of(contact, start), moved, k, damping, drag)

    def approach(self, placed: Sequence[BodyState]) -> Scalar:
        return self.contact.normal.dot(self.meeting.velocity(placed))

    def force(self, gap: Scalar, placed: Sequence[BodyState]) -> Vector3:
        """Return the force on the first body."""
        n, mu = self.contact.normal, self.contact.material.friction
        velocity = self.meeting.velocity(placed)
        v_n = n.dot(velocity)
        f_n = where(gap < 0.0, maximum(-(self.stiffness * gap + self.damping * v_n), 0.0), 0.0)
        slip = velocity - n * v_n
        # SMALL keeps the root's derivative finite where nothing slips.
        size = self.drag * sqrt(slip.norm_squared() + SMALL * SMALL)
        return n * f_n - slip * (self.drag * minimum(1.0, mu * f_n / size))


class Cushions:
    """What holds the contacts of a step in parts of h [s]: bodies begin at `start`, which is `moment` along joints."""

    def __init__(
        self, system: System, start: Sequence[BodyState], moment: Snapshot, pairs: Sequence[ContactPair], h: float
    ) -> None:
        self.system, self.start, self.moment, self.h = system, start, moment, h
        felt = response(moment.model, moment.q)
        touching = contacts(moment, pairs)
        # Contacts between the same two bodies share their drag, so that together they do not turn the slip round.
        among = Counter(contact.nodes for contact in touching)
        self.each = [Cushion.of(contact, felt, start, h, among[contact.nodes]) for contact in touching]
        self.gaps = [contact.gap for contact in touching]
        self.total = [Vector3.zero() for _ in touching]  # of the impulses of all parts until now

    def kick(self, placed: Sequence[BodyState]) -> list[Force]:
        """Return the impulses on the bodies in a part of the step, of contacts and of the joints that hand them on."""
        impulses = [cushion.force(gap, placed) * self.h for cushion, gap in zip(self.each, self.gaps, strict=True)]
        self.total = [old + new for old, new in zip(self.total, impulses, strict=True)]
        change: list[Scalar] = [0.0] * self.moment.model.nv
        for cushion, impulse in zip(self.each, impulses, strict=True):
            change = [e + column.dot(impulse) for e, column in zip(change, cushion.moved, strict=True)]
        twists = self.system.twists(self.moment.relative, change)
        allowed = [body.impulse(twist) for body, twist in zip(self.system.bodies, twists, strict=True)]
        meetings = [cushion.meeting for cushion in self.each]
        own, here = (on_bodies(meetings, impulses, bodies) for bodies in (self.start, placed))
        return [a - b + c for a, b, c in zip(allowed, own, here, strict=True)]

    def done(self) -> list[ContactImpulse]:
        return [cushion.meeting.done(g) for cushion, g in zip(self.each, self.total, strict=True)]

    def follow(self, placed: Sequence[BodyState]) -> None:
        """Keep the gaps after a part in which the bodies move as they do now."""
        parts = zip(self.each, self.gaps, strict=True)
        self.gaps = [gap + self.h * cushion.approach(placed) for cushion, gap in parts]


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
