"""Rigid bodies in maximal coordinates, the rows that joints are between them, and the way from and to coordinates.

A body is placed by its centre of mass p and its orientation R; it moves with the velocity v of the centre, in world
axes, and the angular velocity w in its own axes. It turns by Cayley's map, R' = R cay(h w), whose quaternion is
(h w / 2, 1) but for its length, so that with the momentum pi that goes with the turn, free motion keeps the momentum in
space exactly:

    pi = J w + h/2 w x J w + h^2/4 (w . J w) w        and after it        pi' = cay(h w)^T pi

A row is one constraint: how far it is from fulfilled, and the wrench on each body, about its centre of mass in its
own axes, that a unit of its multiplier is. Joints, closing ones, mimics and the bounds of a distance are all rows.

Coordinates keep no gaps. What velocities a step leaves is therefore projected to those the joints allow, in the metric
of the inertias: v = M^-1 sum X_b^T I_b V_b keeps the momentum along every motion that is allowed, and with it the order
of the step. (The nearest joint velocities, S^+ V, would lose half of the Coriolis forces.)

Source: Lee, Leok and McClamroch, Lie group variational integrators for the full body problem (2007), section 3;
Kobilarov, Crane and Desbrun, Lie group integrators for animation and control of vehicles (2009), for Cayley's map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import converging, repeat_while
from cardan._algebra.errors import UnsupportedError
from cardan._algebra.scalar import absolute, held, logical_and, maximum, sqrt, where
from cardan._algebra.spatial import SE3, Force, Inertia, Matrix3, Motion, MotionSubspace, Scalar, Vector3
from cardan._algebra.spatial import rotations as ro
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.drives import JointForces, Lines, Stopped, is_solid
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, gram, lumped, with_diagonal
from cardan._dynamics.algorithms.loops import JointRows, joint_rows, offset
from cardan._dynamics.algorithms.maximal import coordinates_of
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.tree import Relative, Vector, along_joints, relative_kinematics, twists
from cardan._robot.joints import Joint
from cardan._robot.model import Model, Node

NEWTON, MOST = 2, 30
"""Newton steps for the angular velocity of a momentum: what the first leave is (h |w|)^7 of it. What turns by a radian
in a step takes three more, and what turns by a million of them the most."""
DECISIONS = 8
"""So often, at most, a step decides on forces along joints: as long as any goes to another part of its law."""
EXACT, EXACT_IN_SINGLE = 1e-13, 1e-6
"""By which part of it a momentum may be wrong: else what turns fast gains momentum in each step."""


class Efforts(NamedTuple):
    """Efforts along v that answer to the acceleration: tau - W a."""

    tau: list[Scalar]
    W: list[Scalar]


class MovingBody:
    """Mass, centre of mass in the node's frame, inertia about it and its inverse.

    What moves without mass or inertia has no motion of its own: it raises `UnsupportedError`.
    """

    def __init__(self, node: Node) -> None:
        inertia: Inertia = node.inertia
        self.name, self.mass = node.name, inertia.mass
        if not is_solid(node):
            what = f"what joint {node.name!r} moves, which has no mass, or no inertia about some axis"
            instead = "give the link an inertia, or take cardan.solvers.Featherstone"
            raise UnsupportedError(what, "A step in maximal coordinates", instead)
        rows = [list(row) for row in inertia.inertia_at_com.matrix().rows()]
        self.com, inverse = inertia.com, Factor(rows).inverse()
        self.J, self.J_inverse = Matrix3(e for row in rows for e in row), Matrix3(e for row in inverse for e in row)
        self.frame = SE3(translation=-self.com)  # X_com_node

    def response(self, wrench: Force) -> Motion:
        """Return the change of velocity by an impulse, about the centre of mass in the body's axes."""
        return Motion(wrench.linear * (1.0 / self.mass), self.J_inverse @ wrench.angular)

    def impulse(self, change: Motion) -> Force:
        return Force(change.linear * self.mass, self.J @ change.angular)

    def momentum(self, placed: BodyState, angular: Vector3) -> Force:
        """Return the momentum at the centre of mass, in the body's axes, of its place and the part that turns."""
        return Force(placed.pose.rotation.transpose_apply(placed.v) * self.mass, angular)

    def momentum_of_turn(self, w: Vector3, h: float) -> Vector3:
        """Return pi of a turn, in the axes before it."""
        L = self.J @ w
        return L + w.cross(L) * (0.5 * h) + w * (0.25 * h * h * w.dot(L))

    def momentum_after_turn(self, w: Vector3, h: float) -> Vector3:
        """Return cay(h w)^T pi, in the axes after it: `momentum_of_turn` of the way back."""
        return self.momentum_of_turn(w, -h)

    def turn_of_momentum(self, momentum: Vector3, w: Vector3, h: float) -> Vector3:
        """Return the w whose turn has a momentum, by Newton's method from an estimate.

        Its derivatives are those of the first steps.
        """

        def nearer(w: Vector3) -> Vector3:
            L = self.J @ w
            slope = self.J + (w.skew() @ self.J - L.skew()) * (0.5 * h)
            slope = slope + (w.outer(L) * 2.0 + Matrix3.identity() * w.dot(L)) * (0.25 * h * h)
            b = self.momentum_of_turn(w, h) - momentum
            x, y, z = slope.columns()  # slope^-1 b by Cramer's rule: three unknowns need no pivoting
            yz = y.cross(z)
            return w - Vector3(b.dot(yz), x.dot(b.cross(z)), x.dot(y.cross(b))) * (1.0 / x.dot(yz))

        def is_wrong(w: Vector3) -> Any:
            error = self.momentum_of_turn(w, h) - momentum
            return error.norm_squared() > small * small * momentum.norm_squared()

        small = where(is_double([w.x]), EXACT, EXACT_IN_SINGLE)
        for _ in range(NEWTON):
            w = nearer(w)
        found = repeat_while(MOST, is_wrong, nearer, w)
        return w + Vector3(*map(held, found - w))


class BodyState(NamedTuple):
    """A body's centre of mass and its velocity, in world axes; its quaternion (x, y, z, w), and w in its own axes."""

    p: Vector3
    r: tuple[Scalar, ...]
    v: Vector3
    w: Vector3

    @property
    def pose(self) -> SE3:
        """X_world_com."""
        return SE3(ro.matrix_from_quaternion_xyzw(self.r), self.p)

    def moved(self, h: float) -> BodyState:
        return self._replace(p=self.p + self.v * h, r=turned(self.r, self.w * h))

    def twist(self) -> Motion:
        """Return the twist at the centre of mass, in body axes."""
        return Motion(ro.matrix_from_quaternion_xyzw(self.r).transpose_apply(self.v), self.w)

    def turning_to(self, r: Sequence[Scalar], h: float) -> Vector3:
        """Return the w with r = self.r cay(h w)."""
        x, y, z, s = ro.quaternion_multiply_xyzw(ro.quaternion_conjugate_xyzw(self.r), r)
        return Vector3(x, y, z) * (2.0 / (h * s))  # s = 0 is half a turn in a step, which Cayley's map does not reach


def turned(r: Sequence[Scalar], x: Vector3) -> tuple[Scalar, ...]:
    """Return the orientation r cay(x)."""
    q = ro.quaternion_multiply_xyzw(r, (*(x * 0.5), 1.0))
    length = 1.0 / sqrt(dot(q, q))  # at least 1 before: r is of unit length, and (x / 2, 1) is longer
    return tuple(e * length for e in q)


class Row(NamedTuple):
    """One constraint: how far it is from fulfilled [m, rad]; for each body, its wrench for a unit of the multiplier."""

    residual: Scalar
    wrenches: dict[int, Force]

    def velocity(self, twists: Sequence[Motion]) -> Scalar:
        """Return the rate of the residual, or of the coordinate, for twists at the centres of mass."""
        return sum((wrench.dot(twists[k]) for k, wrench in self.wrenches.items()), 0.0)


class JointedPair(NamedTuple):
    """A joint between two bodies: the index of each, -1 for the world, and its frame there about the centre of mass.

    One that closes a loop has no node, for it has no coordinates.
    """

    joint: Joint
    parent: tuple[int, SE3]
    child: tuple[int, SE3]
    node: Node | None

    def across(self, placed: Sequence[BodyState]) -> SE3:
        """Return the pose of the child frame in the parent frame, the bodies being where they are."""
        F, G = (frame if k < 0 else placed[k].pose @ frame for k, frame in (self.parent, self.child))
        return F.inverse() @ G

    def wrenches(self, X: SE3, wrench: Force) -> dict[int, Force]:
        """Return a wrench on the child, in its joint frame, and its opposite on the parent, by body."""
        (a, F), (b, G) = self.parent, self.child
        found = {b: G @ wrench} if b >= 0 else {}  # the world takes every wrench, and moves by none
        return found if a < 0 else found | {a: -(F @ (X @ wrench))}


class PlacedJoint(NamedTuple):
    """A joint at given poses of its bodies."""

    pair: JointedPair
    X: SE3  # pose of its child frame in its parent frame
    q: tuple[Scalar, ...]  # its configuration; a mimic's is its primary's
    S: MotionSubspace
    wrenches: list[Force]  # what it resists, in its child frame: as many as rows
    rows: list[Row]

    def effort_rows(self) -> list[Row]:
        """Return for every degree of freedom the wrenches of a unit of effort: S (S^T S)^-1, whose rate is S^+ V."""
        duals = [Force(*(self.S @ column)) for column in gram([s.scalars() for s in self.S]).inverse()]
        return [Row(0.0, self.pair.wrenches(self.X, dual)) for dual in duals]


class System:
    """The bodies and joints of a model; bodies without inertia raise `UnsupportedError`."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.bodies, self.pairs = [MovingBody(node) for node in model.nodes], []
        for node in model.nodes:
            ends = self._in_body(node.parent, node.placement), self._in_body(node.index, SE3())
            self.pairs.append(JointedPair(node.joint, *ends, node))
        for c in model.closures:
            sides = (model.attachment(c.parent), c.parent_pose), (model.attachment(c.child), c.child_pose)
            parent, child = (self._in_body(at.node, at.pose @ pose) for at, pose in sides)
            self.pairs.append(JointedPair(c.joint, parent, child, None))

    def _in_body(self, node: int, pose: SE3) -> tuple[int, SE3]:
        return (node, self.bodies[node].frame @ pose) if node >= 0 else (-1, pose)

    def joined(self, placed: Sequence[BodyState], near: Sequence[Sequence[Scalar] | None]) -> list[PlacedJoint]:
        """Return all joints at the bodies' places; `near` are configurations of each, where there are some."""
        found = [_joined(pair, pair.across(placed), q) for pair, q in zip(self.pairs, near, strict=True)]
        return [_following(j, self._primaries(j.pair, found)) if _is_mimic(j.pair) else j for j in found]

    def joint(self, k: int, placed: Sequence[BodyState], near: Sequence[Sequence[Scalar] | None]) -> PlacedJoint:
        own = _joined(self.pairs[k], self.pairs[k].across(placed), near[k])
        if not _is_mimic(own.pair):
            return own
        # Only the mimic's own rows are moved: the primary joints are looked at where their bodies are now.
        numbers = {pair.node.name: i for i, pair in enumerate(self.pairs) if pair.node is not None}
        return _following(own, [self.joint(numbers[name], placed, near) for name in own.pair.joint.primaries])

    def residuals(self, placed: Sequence[BodyState], start: Sequence[PlacedJoint]) -> list[Scalar]:
        """Return how far all joints are from fulfilled at the bodies' places, along the wrenches of other ones.

        Those of the start, whose bases go on smoothly: T itself may change its sign from one pose to the next.
        """
        now, found = list(start), []
        for k, j in enumerate(start):
            if not _is_mimic(j.pair):
                X = j.pair.across(placed)
                now[k] = j._replace(X=X, q=j.pair.joint.nearest_configuration(X, j.q))
        for j in now:
            q = [e for p in self._primaries(j.pair, now) for e in p.q] if _is_mimic(j.pair) else j.q
            e = offset(j.pair.across(placed), j.pair.joint.transform(q))
            found += [wrench.dot(e) for wrench in j.wrenches]
        return found

    def _primaries(self, mimic: JointedPair, joined: Sequence[PlacedJoint]) -> list[PlacedJoint]:
        by_name = {j.pair.node.name: j for j in joined if j.pair.node is not None}
        return [by_name[name] for name in mimic.joint.primaries]

    def effort_rows(self, joined: Sequence[PlacedJoint]) -> list[Row]:
        """Return the nv rows of unit efforts, along v."""
        rows: dict[int, Row] = {}
        for j in joined:
            if j.pair.node is not None and not _is_mimic(j.pair):
                rows |= dict(zip(j.pair.node.v, j.effort_rows(), strict=True))
        return [rows[i] for i in range(self.model.nv)]

    def near(self, q: Vector | None) -> list[Sequence[Scalar] | None]:
        return [None if q is None or p.node is None else p.node.configuration(q) for p in self.pairs]

    def placed(self, q: Vector, v: Vector) -> list[BodyState]:
        kinematics, found = Kinematics(self.model, q, v), []
        assert kinematics.twists is not None
        for body, X, V in zip(self.bodies, kinematics.poses, kinematics.twists, strict=True):
            speed = X.rotation @ (V.linear + V.angular.cross(body.com))
            found.append(BodyState(X @ body.com, ro.quaternion_xyzw_from_matrix(X.rotation), speed, V.angular))
        return found

    def configuration_of(self, placed: Sequence[BodyState], near: Vector) -> tuple[list[Scalar], list[Scalar]]:
        """Return q, and for each joint what of its pose is not in it: the largest entry is the gap."""
        X = [b.pose @ body.frame for b, body in zip(placed, self.bodies, strict=True)]
        q, _, residual = coordinates_of(self.model, X, [Motion.zero()] * len(X), near)
        return q, [e for row in residual for e in row]

    def along(self, relative: Relative, wrenches: Sequence[Force], own: Vector) -> list[Scalar]:
        """Return what wrenches on the bodies, about their centres of mass in their axes, and `own` do along v."""
        forces = (body.frame.inverse_act(wrench) for body, wrench in zip(self.bodies, wrenches, strict=True))
        return along_joints(self.model, relative, forces, own)

    def twists(self, relative: Relative, v: Vector) -> list[Motion]:
        """Return the twists of the bodies, at their centres of mass in their axes, of a velocity."""
        V = twists(self.model, relative, v)
        return [body.frame @ twist for body, twist in zip(self.bodies, V, strict=True)]

    def gain(self, row: Row) -> Scalar:
        """Return J M^-1 J^T of one row: the inverse of the inertia that its bodies alone have against it."""
        return sum((f.dot(self.bodies[k].response(f)) for k, f in row.wrenches.items()), 0.0)

    def impulses(self, rows: Sequence[Row], multipliers: Vector) -> list[Force]:
        parts = zip(rows, multipliers, strict=True)
        wrenches = ((k, wrench * amount) for row, amount in parts for k, wrench in row.wrenches.items())
        return together(len(self.bodies), wrenches)

    def shifted(self, placed: Sequence[BodyState], rows: Sequence[Row], multipliers: Vector) -> list[BodyState]:
        """Return the bodies moved by M^-1 T l."""
        found, total = list(placed), self.impulses(rows, multipliers)
        # Bodies that no row touches stay the same symbols: they would be moved by 0 otherwise, at a price.
        for k in sorted({k for row in rows for k in row.wrenches}):
            b, change = placed[k], self.bodies[k].response(total[k])
            found[k] = b._replace(p=b.p + b.pose.rotation @ change.linear, r=turned(b.r, change.angular))
        return found

    def started(self, start: Sequence[BodyState], kick: Sequence[Force], h: float) -> list[BodyState]:
        """Return the bodies with the velocities, over a step of h, that impulses make."""
        found = []
        for body, b, impulse in zip(self.bodies, start, kick, strict=True):
            v = b.v + b.pose.rotation @ impulse.linear * (1.0 / body.mass)
            momentum = body.J @ b.w + impulse.angular
            found.append(b._replace(v=v, w=body.turn_of_momentum(momentum, body.J_inverse @ momentum, h)))
        return found

    def coordinates_after(self, placed: Sequence[BodyState], q: Vector, turned_for: float, own: Vector) -> StepResult:
        """Return the coordinates of bodies that have moved from q: their velocity has all momentum along the joints.

        Angular velocities of bodies are those of the turn for a time `turned_for` [s]; if it is 0, they are those of
        now. `own` is the momentum along v that is not the bodies'.
        """
        after, gaps = self.configuration_of(placed, q)
        parts = zip(self.bodies, placed, strict=True)
        momenta = [body.momentum(b, body.momentum_after_turn(b.w, turned_for)) for body, b in parts]
        p = self.along(relative_kinematics(self.model, after), momenta, own)
        return StepResult(after, response(self.model, after)(p), gaps)


def response(model: Model, q: Vector, W: Vector | None = None) -> Callable[[Vector], list[Scalar]]:
    """Return what impulses along v change velocities by, loops closed, with W added to the joints' inertias."""
    M = mass_matrix.kernel(model, q)
    return inverse(model, q, M if W is None else with_diagonal(M, W))


def _is_mimic(pair: JointedPair) -> bool:
    return pair.node is not None and bool(pair.joint.primaries)


def _joined(pair: JointedPair, X: SE3, near: Sequence[Scalar] | None) -> PlacedJoint:
    if _is_mimic(pair):  # its rows are made of its primary's
        return PlacedJoint(pair, X, (), MotionSubspace([]), [], [])
    found: JointRows = joint_rows(pair.joint, X, near)
    rows = [Row(e, pair.wrenches(X, T)) for e, T in zip(found.residual, found.wrenches, strict=True)]
    return PlacedJoint(pair, X, found.q, found.S, found.wrenches, rows)


def _following(mimic: PlacedJoint, primaries: Sequence[PlacedJoint]) -> PlacedJoint:
    """Return a mimic with its six rows: its pose is that of its primaries' q, V - S_m S_p^+ V_p = 0."""
    joint, q = mimic.pair.joint, [e for p in primaries for e in p.q]
    S, e = joint.motion_subspace(q), offset(mimic.X, joint.transform(q)).scalars()
    units = [Force.of(tuple(float(i == k) for k in range(6))) for i in range(6)]
    efforts, rows = [row for p in primaries for row in p.effort_rows()], []  # whose rate is S_p^+ V_p
    for i, unit in enumerate(units):
        wrenches = mimic.pair.wrenches(mimic.X, unit)
        for s, row in zip(S, efforts, strict=True):
            for k, wrench in row.wrenches.items():
                part = wrench * -s.scalars()[i]
                wrenches[k] = wrenches[k] + part if k in wrenches else part
        rows.append(Row(e[i], wrenches))
    return mimic._replace(q=tuple(q), wrenches=units, rows=rows)


def responses(bodies: Sequence[MovingBody], rows: Sequence[Row], compliances: Vector, small: Scalar) -> Factor:
    """Return G = J M^-1 J^T of rows, factored; its diagonal is raised by compliances, and by a small share of itself.

    The share keeps G regular where rows depend on one another.
    """
    # In the order of the outermost body that they touch the factors of rows are as sparse as the tree.
    order = sorted(range(len(rows)), key=lambda i: max(rows[i].wrenches, default=-1))
    of_rows = [{k: bodies[k].response(f) for k, f in row.wrenches.items()} for row in rows]
    G: Rows = [[0.0] * len(rows) for _ in rows]
    for at, k in enumerate(order):
        for m in order[: at + 1]:
            r = of_rows[m]
            G[k][m] = G[m][k] = sum((f.dot(r[b]) for b, f in rows[k].wrenches.items() if b in r), 0.0)
        G[k][k] = G[k][k] * (1.0 + small) + compliances[k]
    return Factor(G, order)


class ContactImpulse(NamedTuple):
    """What a contact did to its first body in a step, and the point there where the step began, in world axes."""

    impulse: Vector3
    point: Vector3


class StepResult(NamedTuple):
    """A state after a step, with the gaps of the joints on the way [m, rad].

    And by how much velocities are wrong at most, because a search ended [m/s, rad/s]; what each contact did; and the
    velocities that efforts answered to, if those are others.
    """

    q: list[Scalar]
    v: list[Scalar]
    gaps: list[Scalar]
    slack: Scalar = 0.0
    contacts: Sequence[ContactImpulse] = ()
    felt: Sequence[Scalar] = ()

    def error(self, h: float) -> Scalar:
        """Return by how much velocities are wrong, at most, gaps included: each is to be closed within the step."""
        return reduce(maximum, (absolute(gap) * (1.0 / h) for gap in self.gaps), self.slack)


class PartialStep(NamedTuple):
    """A step that knows all but its efforts, at a configuration q: `finish` returns the state after it, given them.

    `estimate` returns for less the velocities that efforts answer to, if there is a way.
    """

    q: Sequence[Scalar]
    finish: Callable[[Efforts], StepResult]
    estimate: Callable[[Efforts], list[Scalar]] | None = None


def mean_rates(before: Vector, after: Vector, h: float) -> list[Scalar]:
    return [(new - old) * (1.0 / h) for old, new in zip(before, after, strict=True)]


def finished(begun: PartialStep, forces: JointForces, v: Vector, h: float) -> StepResult:
    """Return a step from velocities v under forces along joints, which are decided on; `slack` is theirs, too."""

    def efforts(lines: Lines) -> Efforts:
        tau, W = forces.total(lines)
        return Efforts(tau, lumped(W))

    def decide(_: Any, __: Any, lines: Any) -> Any:
        """Return lines decided on once more: which part of its line a force is on hangs on the acceleration."""
        acting = efforts(lines)
        a = mean_rates(v, begun.estimate(acting) if begun.estimate else begun.finish(acting).v, h)
        after = [_by_open(*both) for both in zip(lines, forces.linear(forces.on(lines, a), a), strict=True)]
        # Both ends of a drive have one w: their forces differ.
        both = [(x, y) for new, old in zip(after, lines, strict=True) for x, y in zip(new[:2], old[:2], strict=True)]
        return 0.0, sum((absolute(x - y) for x, y in both), 0.0), after

    lines = forces.linear()
    if not forces.are_lines:
        _, _, lines = converging(DECISIONS, 1, lambda _, changed, __: changed > 0.0, decide, 0.0, 1.0, lines)
    stepped = begun.finish(efforts(lines))
    a = mean_rates(v, stepped.felt or stepped.v, h)
    return stepped._replace(slack=maximum(forces.residual(forces.on(lines, a), a), stepped.slack))


def _by_open(old: Any, new: Any) -> Any:
    """Return a line that follows another: from one stop the way to the other is by neither, as it is for the joint."""
    if not isinstance(new, Stopped):
        return new
    jumps = logical_and(logical_and(old.w > 0.0, new.w > 0.0), absolute(new.start - old.start) > 0.0)
    return Stopped(*(where(jumps, 0.0, e) for e in new))


def together(count: int, wrenches: Iterable[tuple[int, Force]]) -> list[Force]:
    total = [Force.zero() for _ in range(count)]
    for k, wrench in wrenches:
        total[k] = total[k] + wrench
    return total
