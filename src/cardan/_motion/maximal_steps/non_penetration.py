"""Contacts of a step by positions: what would overlap is moved apart as the joints allow, then velocities are set.

With J the Jacobian of the points' relative velocity in v where the step begins, x the mean velocity of the step, g the
impulses, and M what the joints feel of bodies, rotors and drives,

    positions     gap + h n . J x >= 0,  g_n >= 0,  and what sticks stays where it was: J_t x = 0,  |g_t| <= mu g_n
    velocities    n . J v' = 0 of what has pushed, or -e times the velocity of the approach,  |g_t| <= mu g_n

and each impulse moves all by M^-1 J^T g. Contact after contact is moved so, several times (projected Gauss and Seidel),
from the impulses of nearly rigid contacts on (`first_impulses`), the velocities from those that the positions left
where these are better: what opened a depth does not go on opening it.

A body in contact carries all that hangs on it. Impulses therefore move the mechanism, and not a body alone, whose
joints would hand on a small part of them in each pass where a light foot bears a heavy trunk. The passes over joints
have no part in what joints allow, so neither spoils the other.

Candidates are those of the configuration the step begins in, where shapes still are on their own sides; their planes
hold for the step. All of them are looked at; which of them push is decided by g_n >= 0.

On the world a point goes over its shape, and with it the lever r (`contact/moving_point.py`). Velocities that lead from
one place to the next are asked for at the lever of the step's middle, J x + h/2 w x r'.

Source: Mueller et al., Detailed rigid body simulation with extended position based dynamics (2020), sections 3.5, 3.6;
Jourdan, Alart and Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998).
Cost: an M^-1 b for each direction of each contact, twice `first_impulses`, 20 nv operations a contact in every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import is_zero, maximum, where
from cardan._algebra.spatial import Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.implicit import Snapshot, closed_solution
from cardan._dynamics.algorithms.linear import Rows, dot, with_diagonal
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._motion.collision import FAR
from cardan._motion.contact import WORLD, Contact, contacts
from cardan._motion.contact.cone import IMPACT
from cardan._motion.contact.equation import JointEquation, patches_of
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import (
    BodyState,
    ContactImpulse,
    Efforts,
    StepResult,
    System,
    response,
    together,
)
from cardan._motion.maximal_steps.first_impulses import Known, Point, first_impulses

SWEEPS = 2
"""Passes over the contacts for each over the joints: what `first_impulses` leaves is friction's regularisation."""


class Pushed(NamedTuple):
    """Velocities along v after contacts, the impulses at each, and by how much the last pass changed a velocity."""

    v: list[Scalar]
    impulses: list[Vector3]
    slack: Scalar


class Touch(NamedTuple):
    """A contact, in axes of its first body, and the mechanism at it.

    J is the points' relative velocity by the index in v; `moved` M^-1 J^T, the change of each entry of v by a unit
    impulse along each axis; G = J M^-1 J^T. `ahead` is what the velocity changes by as the point goes over its shape.
    """

    contact: Contact
    J: dict[int, Vector3]
    moved: list[Vector3]
    G: Matrix3
    ahead: Vector3

    @staticmethod
    def of(contact: Contact, response: Callable[[Vector], list[Scalar]], later: float) -> Touch:
        """Return the contact of a mechanism, of which M^-1 is known, at the lever that it has later [s]."""
        nv = contact.moment.model.nv
        J = {j: column.linear for j, column in contact.columns().items()}
        rows = [[J[j][k] if j in J else 0.0 for j in range(nv)] for k in range(3)]
        moved = [Vector3(*e) for e in zip(*map(response, rows), strict=True)]
        G = Matrix3(dot(row, [e[i] for e in moved]) for row in rows for i in range(3))
        return Touch(contact, J, moved, G, contact.turning(later) * later)

    def velocity(self, v: Vector) -> Vector3:
        return sum((column * v[j] for j, column in self.J.items()), self.ahead)

    def after(self, v: Vector, impulse: Vector3) -> list[Scalar]:
        return [e + column.dot(impulse) for e, column in zip(v, self.moved, strict=True)]

    def rebound(self) -> Scalar:
        """Return the velocity along the normal with which it leaves."""
        e, v_n = self.contact.material.restitution, self.contact.normal.dot(self.contact.velocity.linear)
        # Below IMPACT nothing bounces: what rests would tremble by the velocity that its weight gives it in a step.
        return 0.0 if is_zero(e) else where(v_n < -IMPACT, -e * v_n, 0.0)


class Touching:
    """The contacts of a step of h [s] that begins at a moment, at the levers that they have later [s].

    M is what impulses along v meet.
    """

    def __init__(self, moment: Snapshot, pairs: Iterable[ContactPair], M: Rows, h: float, later: float = 0.0) -> None:
        self.moment, self.M, self.h = moment, M, h
        response = inverse(moment.model, moment.q, M)
        self.touches = [Touch.of(contact, response, later) for contact in contacts(moment, pairs)]

    def by_positions(self, v: Vector, sweeps: int) -> Pushed:
        """Return the mean velocities of a step in which nothing overlaps at its end."""
        wanted = [touch.contact.gap * (-1.0 / self.h) for touch in self.touches]
        return self._swept(list(v), [Vector3.zero() for _ in self.touches], wanted, sweeps)

    def by_velocities(self, v: Vector, impulses: Sequence[Vector3], sweeps: int) -> Pushed:
        """Return the velocities with which what has pushed goes on, from those that such impulses led to."""
        never = -FAR / self.h  # as an approach nobody has: what did not push stays without an impulse
        wanted = [
            where(touch.contact.normal.dot(impulse) > 0.0, touch.rebound(), never)
            for touch, impulse in zip(self.touches, impulses, strict=True)
        ]
        return self._swept(list(v), list(impulses), wanted, sweeps)

    def _swept(self, v: list[Scalar], impulses: list[Vector3], wanted: Sequence[Scalar], sweeps: int) -> Pushed:
        """Return what passes make of velocities v that impulses have led to."""
        if not self.touches:
            return Pushed(v, impulses, 0.0)
        # Passes alone would take as many as bodies stand on one another; from these impulses on a few are enough.
        start = self._first_pass(v, impulses, wanted)
        points = [Point.of(t.contact, t.G, speed) for t, speed in zip(self.touches, wanted, strict=True)]

        def swept(v: list[Scalar], impulses: list[Vector3], _: Scalar) -> Pushed:
            slack, after = 0.0, []
            for touch, point, g in zip(self.touches, points, impulses, strict=True):
                after.append(point.impulse(g, touch.velocity(v), touch.G))
                v = touch.after(v, after[-1] - g)
                slack = maximum(slack, (touch.G @ (after[-1] - g)).norm())
            return Pushed(v, after, slack)

        return Pushed(*repeat(sweeps, swept, *start))

    def _first_pass(self, v: list[Scalar], impulses: Sequence[Vector3], wanted: Sequence[Scalar]) -> Pushed:
        """Return where the passes begin."""
        contacts = [touch.contact.in_tree() for touch in self.touches]
        equation = JointEquation(self.moment, patches_of(contacts), self.h)
        ahead = [Motion(c.in_axes(t.ahead), Vector3.zero()) for c, t in zip(contacts, self.touches, strict=True)]

        def twists(v: Vector) -> list[Motion]:
            of = equation.changes(v)
            return [of(k) + more for k, more in enumerate(ahead)]

        known = Known([c.in_axes(g) for c, g in zip(contacts, impulses, strict=True)], twists(v))
        free = self._after(v, [-g for g in impulses])
        found = first_impulses(equation, self.M, twists(free), wanted, known)
        first = [c.on_node(Force(g, Vector3.zero())).linear for c, g in zip(contacts, found, strict=True)]
        return Pushed(self._after(free, first), first, 0.0)

    def _after(self, v: list[Scalar], impulses: Sequence[Vector3]) -> list[Scalar]:
        for touch, impulse in zip(self.touches, impulses, strict=True):
            v = touch.after(v, impulse)
        return v


class Meeting(NamedTuple):
    """A contact where a step begins: a point that goes with the first body, and forces there on bodies that turn.

    Forces keep their directions in the world while the bodies turn, and both bodies feel them at one point: so no
    momentum is made, linear or angular, whatever a step takes for the point.
    """

    contact: Contact
    offset: Vector3  # from the first body's centre of mass to the point, in world axes
    axes: Matrix3  # those of the contact, in the world

    @staticmethod
    def of(contact: Contact, start: Sequence[BodyState]) -> Meeting:
        X = contact.moment.poses[contact.a]
        return Meeting(contact, X @ contact.point - start[contact.a].p, X.rotation)

    def done(self, impulse: Vector3) -> ContactImpulse:
        """Return what an impulse along the contact's axes was, in those of the world."""
        contact = self.contact
        return ContactImpulse(self.axes @ impulse, contact.moment.poses[contact.a] @ contact.point)

    def wrenches(self, force: Vector3, placed: Sequence[BodyState]) -> Iterable[tuple[int, Force]]:
        """Yield a force on the first body, along the contact's axes, and its reaction, as wrenches on the bodies."""
        f, point = self.axes @ force, placed[self.contact.a].p + self.offset
        for k, sign in zip(self.contact.nodes, (1.0, -1.0), strict=True):
            if k != WORLD:
                b, own = placed[k], f * sign
                turn = b.pose.rotation.transpose_apply
                yield k, Force(turn(own), turn((point - b.p).cross(own)))

    def velocity(self, placed: Sequence[BodyState]) -> Vector3:
        """Return the velocity of the first body's point relative to the other's, along the contact's axes."""
        point, found = placed[self.contact.a].p + self.offset, Vector3.zero()
        for k, sign in zip(self.contact.nodes, (1.0, -1.0), strict=True):
            if k != WORLD:
                b = placed[k]
                found = found + (b.v + (b.pose.rotation @ b.w).cross(point - b.p)) * sign
        return self.axes.transpose_apply(found)


def on_bodies(meetings: Iterable[Meeting], impulses: Sequence[Vector3], placed: Sequence[BodyState]) -> list[Force]:
    parts = zip(meetings, impulses, strict=True)
    return together(len(placed), (wrench for m, impulse in parts for wrench in m.wrenches(impulse, placed)))


class Touched:
    """What contacts do in a step that begins with bodies at `start`, which is `moment` along the joints.

    Without contacts its mean velocity is v. W is the inertia along v that is neither the bodies' nor the rotors'.
    """

    def __init__(
        self,
        system: System,
        start: Sequence[BodyState],
        moment: Snapshot,
        v: Vector,
        W: Vector,
        h: float,
        pairs: Sequence[ContactPair],
        sweeps: int,
        later: float = 0.0,
    ) -> None:
        self.system, self.start, self.moment, self.W, self.sweeps = system, start, moment, W, sweeps
        M = with_diagonal(mass_matrix.kernel(moment.model, moment.q), W)
        self.touching = Touching(moment, pairs, M, h, later)
        self.pushed = self.touching.by_positions(v, sweeps)
        self.meetings = [Meeting.of(touch.contact, start) for touch in self.touching.touches]

    @property
    def kick(self) -> list[Force]:
        """The impulses on the bodies that take them from their velocities to those of `pushed`."""
        change = [new - old for new, old in zip(self.pushed.v, self.moment.v, strict=True)]
        twists = self.system.twists(self.moment.relative, change)
        return [body.impulse(e) for body, e in zip(self.system.bodies, twists, strict=True)]

    @property
    def wrenches(self) -> list[Force]:
        """The impulses of the contacts alone on the bodies where the step begins."""
        return on_bodies(self.meetings, self.pushed.impulses, self.start)

    def left(self, stepped: StepResult, placed: Sequence[BodyState]) -> StepResult:
        """Return the state with the velocities that bodies leave their contacts with, where they are now."""
        leaving = self.touching.by_velocities(stepped.v, self.pushed.impulses, self.sweeps)
        more = [new - old for new, old in zip(leaving.impulses, self.pushed.impulses, strict=True)]
        model, none = self.system.model, [0.0] * len(stepped.v)
        along = self.system.along(relative_kinematics(model, stepped.q), on_bodies(self.meetings, more, placed), none)
        change = response(model, stepped.q, self.W)(along)
        v = [a + b for a, b in zip(stepped.v, change, strict=True)]
        done = [meeting.done(g) for meeting, g in zip(self.meetings, leaving.impulses, strict=True)]
        return stepped._replace(v=v, slack=maximum(self.pushed.slack, leaving.slack), contacts=done)


def fallen(system: System, start: Sequence[BodyState], moment: Snapshot, loads: Efforts, h: float) -> list[Scalar]:
    """Return the velocity after weight and efforts have acted for a step, as the joints allow."""
    model = moment.model
    weights = [body.weight(b, model.gravity * h) for body, b in zip(system.bodies, start, strict=True)]
    change = response(model, moment.q, loads.W)(system.along(moment.relative, weights, [h * tau for tau in loads.tau]))
    return [a + b for a, b in zip(moment.v, change, strict=True)]


def estimated(moment: Snapshot, loads: Efforts, h: float, pairs: Sequence[ContactPair], sweeps: int) -> list[Scalar]:
    """Return the velocity after a step, about: that of joint space, with contacts by positions."""
    model, q, v = moment.model, moment.q, moment.v
    A = with_diagonal(mass_matrix.kernel(model, q), loads.W)
    b = [tau - bias for tau, bias in zip(loads.tau, bias_forces.kernel(model, q, v), strict=True)]
    after = [old + h * a for old, a in zip(v, closed_solution(moment, A, b, h), strict=True)]
    return Touching(moment, pairs, A, h).by_positions(after, sweeps).v
