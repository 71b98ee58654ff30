"""Contacts of a step by positions: what would overlap is moved apart as the joints allow, then velocities are set.

With J the Jacobian of the points' relative velocity in v where the step begins, x the mean velocity of the step, g the
impulses, and M what the joints feel of bodies, rotors and drives,

    positions     gap + h n . J x >= 0,  g_n >= 0,  and what sticks stays where it was: J_t x = 0,  |g_t| <= mu g_n
    velocities    n . J v' = 0 of what has pushed, or -e times the velocity of the approach,  |g_t| <= mu g_n

and impulses move all by M^-1 J^T g (`rigid_impulses`). Velocities begin with the impulses of positions, but want
others: what opened a depth does not go on opening it.

Restitution and friction of contacts that meet at once may make energy, most where heavy bodies meet light ones (Kane).
So may forces that keep their directions while bodies turn. Velocities therefore change by a share s of what their
impulses g' do beyond g: as much as makes no energy in what touches one another (`dissipation`). Both g and g' are in
their cones, so g + s (g' - g) is; s = 0 leaves the velocities that closed gaps.

A body in contact carries all that hangs on it. Impulses therefore move the mechanism, and not a body alone, whose
joints would hand on a small part of them in each pass where a light foot bears a heavy trunk. The passes over joints
have no part in what joints allow, so neither spoils the other.

Candidates are those of the configuration the step begins in, where shapes still are on their own sides; their planes
hold for the step. All of them are looked at; which of them push is decided by g_n >= 0.

On the world a point goes over its shape, and with it the lever r (`contact/moving_point.py`). Velocities that lead from
one place to the next are asked for at the lever of the step's middle, J x + h/2 w x r'.

Source: Mueller et al., Detailed rigid body simulation with extended position based dynamics (2020), sections 3.5, 3.6;
`rigid_impulses.py` for the law.
Cost: twice `rigid_impulses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from cardan._algebra.scalar import is_zero, logical_or, maximum, minimum, where
from cardan._algebra.spatial import Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import with_diagonal
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._motion.collision import FAR
from cardan._motion.contact import WORLD, Contact, contacts
from cardan._motion.contact.cone import IMPACT, RECOVERY
from cardan._motion.contact.equation import JointEquation, patches_of
from cardan._motion.contact.touching import ContactPair
from cardan._motion.maximal_steps.bodies import (
    BodyState,
    ContactImpulse,
    StepResult,
    System,
    response,
    together,
)
from cardan._motion.maximal_steps.dissipation import Fall, Shares
from cardan._motion.maximal_steps.rigid_impulses import rigid_impulses


class Pushed(NamedTuple):
    """Velocities along v after contacts, the impulses at each, and all of them along v.

    `slack` is by how much the last pass changed a velocity.
    """

    v: list[Scalar]
    impulses: list[Vector3]
    p: list[Scalar]
    slack: Scalar


def closing_velocity(contact: Contact, h: float) -> Scalar:
    """Return the velocity along the normal with which a gap closes in a step; a depth is left no faster than so."""
    return minimum(contact.gap * (-1.0 / h), RECOVERY)


def leaving_velocity(contact: Contact, impulse: Vector3, h: float) -> Scalar:
    """Return the velocity along the normal with which a contact leaves that an impulse has pushed."""
    e, v_n = contact.material.restitution, contact.normal.dot(contact.velocity.linear)
    # Below IMPACT nothing bounces: what rests would tremble by the velocity that its weight gives it in a step.
    rebound = 0.0 if is_zero(e) else where(v_n < -IMPACT, -e * v_n, 0.0)
    never = -FAR / h  # as an approach nobody has: what did not push stays without an impulse
    return where(is_pushing(contact, impulse), rebound, never)


def is_pushing(contact: Contact, impulse: Vector3) -> Any:
    """Return whether an impulse is one; on its cone none is along the surface alone."""
    return contact.normal.dot(impulse) > 0.0


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


def on_bodies(meetings: Iterable[Meeting], impulses: Sequence[Vector3], placed: Sequence[BodyState]) -> list[Force]:
    parts = zip(meetings, impulses, strict=True)
    return together(len(placed), (wrench for m, impulse in parts for wrench in m.wrenches(impulse, placed)))


class Touched:
    """What contacts do in a step that begins with bodies at `start`, which is `moment` along the joints.

    Without contacts its mean velocity is v, weight included, as `fall` says. W is the inertia along v that is neither
    the bodies' nor the rotors'.
    Contacts are at the levers that they have in the middle of the step, impulses in the axes of their first bodies.
    """

    def __init__(
        self,
        system: System,
        start: Sequence[BodyState],
        moment: Snapshot,
        v: Vector,
        fall: Fall,
        W: Vector,
        h: float,
        pairs: Sequence[ContactPair],
    ) -> None:
        self.system, self.moment, self.free, self.fall, self.W, self.h = system, moment, v, fall, W, h
        self.M = with_diagonal(mass_matrix.kernel(moment.model, moment.q), W)
        self.response = inverse(moment.model, moment.q, self.M)
        self.contacts = contacts(moment, pairs)
        self.in_tree = [contact.in_tree() for contact in self.contacts]  # along v their Jacobians are sparse there
        self.ahead = [Motion(contact.turning(0.5 * h) * (0.5 * h), Vector3.zero()) for contact in self.in_tree]
        self.meetings = [Meeting.of(contact, start) for contact in self.contacts]
        wanted = [closing_velocity(contact, h) for contact in self.contacts]
        self.pushed = self._pushed(v, [Vector3.zero() for _ in wanted], wanted)

    def left(self, stepped: StepResult, placed: Sequence[BodyState]) -> StepResult:
        """Return the state with the velocities that bodies leave their contacts with, where they are now."""
        if not self.meetings:
            return stepped
        known = self.pushed.impulses
        wanted = [leaving_velocity(contact, g, self.h) for contact, g in zip(self.contacts, known, strict=True)]
        # Contacts, and what they meet, are along the axes in which the step began.
        model, none = self.system.model, [0.0] * len(stepped.v)
        seen = stepping.seen_from(model, self.moment.q, stepped.q, stepped.v)
        leaving = self._pushed(seen, known, wanted)
        more = [new - old for new, old in zip(leaving.impulses, known, strict=True)]
        along = self.system.along(relative_kinematics(model, stepped.q), on_bodies(self.meetings, more, placed), none)
        change = response(model, stepped.q, self.W)(along)
        terms = [
            self.fall.works(self.pushed.p, self.moment.v, self.free, self.pushed.v),
            [a * b for a, b in zip(along, stepped.v, strict=True)],
            [0.5 * a * b for a, b in zip(along, change, strict=True)],
        ]
        both = zip(self.contacts, known, leaving.impulses, strict=True)
        shares = Shares.of(
            model, [(c.nodes, logical_or(is_pushing(c, g), is_pushing(c, e))) for c, g, e in both], terms
        )
        v = [a + share * b for a, share, b in zip(stepped.v, shares.along, change, strict=True)]
        found = zip(self.meetings, known, more, strict=True)
        done = [meeting.done(g + d * shares.of_nodes[meeting.contact.a]) for meeting, g, d in found]
        return stepped._replace(v=v, slack=maximum(self.pushed.slack, leaving.slack), contacts=done)

    def _pushed(self, v: Vector, impulses: Sequence[Vector3], wanted: Sequence[Scalar]) -> Pushed:
        """Return what the law makes of velocities that impulses have led to."""
        if not self.contacts:
            return Pushed(list(v), [], [0.0] * len(v), 0.0)
        equation = JointEquation(self.moment, patches_of(self.in_tree), self.h)
        known = [contact.in_axes(g) for contact, g in zip(self.in_tree, impulses, strict=True)]
        free = self._after(v, self._along(known), -1.0)
        change = equation.changes(free)
        twists = [change(k) + more for k, more in enumerate(self.ahead)]
        found, slack = rigid_impulses(equation, self.M, twists, wanted, known)
        on_nodes = (c.on_node(Force(g, Vector3.zero())).linear for c, g in zip(self.in_tree, found, strict=True))
        p = self._along(found)
        return Pushed(self._after(free, p), list(on_nodes), p, slack)

    def _along(self, impulses: Sequence[Vector3]) -> list[Scalar]:
        """Return along v what impulses in the axes of trees are."""
        p: list[Scalar] = [0.0] * self.system.model.nv
        for contact, impulse in zip(self.in_tree, impulses, strict=True):
            for j, column in contact.columns().items():
                p[j] = p[j] + column.linear.dot(impulse)
        return p

    def _after(self, v: Vector, p: Vector, times: float = 1.0) -> list[Scalar]:
        """Return the velocities that impulses along v change it to, so many times."""
        return [a + times * b for a, b in zip(v, self.response(p), strict=True)]
