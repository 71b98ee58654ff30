"""Forces along the joints that answer within a step: drives, damping, dry friction, stops.

Each is a straight line in the acceleration a of its degree of freedom, cut off at both ends:

    f(a) = clip(f0 - w a, low, high)

    drive, to x_d, v_d          f0 = u + kp (x_d - x - dt v) + kd (v_d - v),   w = dt kd + dt^2 kp,   limits of efforts
    damping                     f0 = -d v,                                     w = dt d,              no ends
    spring                      f0 = k (rest - x - dt v),                      w = dt^2 k,            no ends
    a joint's own efforts       f0 = f(x + dt v, v),                           w = -dt f_v - dt^2 f_x, no ends
    dry friction                f0 = -(w / dt) v,                              w = RIGID D,           +-friction
    upper stop                  f = -(w / dt^2) max(d* + dt v + dt^2 a, 0),      w = RIGID D,           d = x - upper

with D the inertia that the joint feels (of long chains that of `chains`): so friction holds (what creeps is 1 / RIGID
of what would move) and stops are hard. A joint before its stop (d < 0) comes no further than to it, d* = d; one beyond
it comes back with the speed d / RETURN and no faster, d* = d dt / RETURN, whatever the step: it is not thrown, and what
was stopped does not bounce.
x are the coordinates of `Manifold.limit_coordinates`; x_d - x is the manifold's difference.

Along a coordinate x of a joint that follows others (`Follower`) they act alike:

    d2x/dt2 = g . a + bias,      tau = g f,      W = w g g^T,      1 / D = sum g_j^2 / D_j

A drive goes there to where the targets of the followed joints have x, and as fast.

Which part of its line an element is on is decided at an estimate of force and acceleration (f, a) by the sign of

    clip((w f + D (f0 - w a)) / (w + D), low, high),        of stops, whose f = -(w / dt^2) p,
    d* + dt v + dt^2 a + RIGID p

which is the right one wherever (f, a) obeys the joint's own D a = f + rest, so that a single joint is decided exactly,
and a light spring by its force, a hard stop by the impulse it takes (a primal-dual active set). f is right where it is
what this test gives, and by dt / D times the rest velocities are wrong: f0 - w a itself would hide a force on the
wrong part behind the RIGID rotor.

Source: Baraff and Witkin, Large steps in cloth simulation (1998) for the implicit force; Hintermueller, Ito and
Kunisch, The primal-dual active set strategy as a semismooth Newton method (2003), equation 2.4, for the decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.scalar import is_zero, maximum, minimum, where
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.aba import articulated_inertias
from cardan._dynamics.algorithms.applied import applied_efforts
from cardan._dynamics.algorithms.chains import free_inertias, is_chain
from cardan._dynamics.algorithms.crba import inertias_along
from cardan._dynamics.algorithms.grouped import singular
from cardan._dynamics.algorithms.linear import Armature, Factor, SingularError, diagonal
from cardan._dynamics.algorithms.passive import has_spring, to_rest
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._robot.joints.catalogue.of_another import Equipped, Follower
from cardan._robot.joints.derivation.derived import linearised_efforts
from cardan._robot.model import Model, Node

RIGID = 1e6  # by how many times the inertia that a joint feels friction that sticks, and a stop, is heavier than it
RIGID_IN_SINGLE = 1e3  # where they are felt along several velocities, or loops closed: sums round it
RETURN = 0.5
"""The time [s] in which all but 1 / e of a depth beyond a stop is recovered. A tenth of it throws an arm that begins a
radian outside. A stop gives back dt / RETURN / RIGID of the speed that it meets."""
DEAD = 1e-9  # a slope g as small as this is not felt less than it: at 0 what follows has no inertia


class Element(NamedTuple):
    """A force along one degree of freedom: clip(force - w a, low, high)."""

    force: Scalar
    w: Scalar
    low: Scalar = -math.inf
    high: Scalar = math.inf

    @property
    def is_line(self) -> bool:
        return _is_open(self.low) and _is_open(self.high)

    def at(self, a: Scalar) -> Scalar:
        return self._clipped(self.force - self.w * a)

    def _clipped(self, force: Scalar) -> Scalar:
        force = force if _is_open(self.low) else maximum(force, self.low)
        return force if _is_open(self.high) else minimum(force, self.high)

    unit = 1.0

    def effort(self, held: Scalar) -> Scalar:
        return held

    def _test(self, inertia: Scalar, f: Scalar, a: Scalar) -> Scalar:
        inverse = 1.0 / (self.w + inertia)  # shares first: the products of small robots are below single precision
        return (self.w * inverse) * f + self._share(inertia) * (self.force - self.w * a)

    def _share(self, inertia: Scalar) -> Scalar:
        """Return which part the line has in a test."""
        return inertia * (1.0 / (self.w + inertia))

    def error(self, inertia: Scalar, held: Scalar, a: Scalar) -> Scalar:
        """Return by how much a force is wrong at an acceleration."""
        right = self.at(a) if is_zero(self.w) else self._clipped(self._test(inertia, held, a))
        return maximum(abs(held - right) - self._rounding(inertia, held, a), 0.0)

    def _rounding(self, inertia: Scalar, held: Scalar, a: Scalar) -> Scalar:
        """Return what rounding makes of a force and its test: on a rigid line much, at an end of the range little."""
        share: Scalar = 1.0
        gaps = [abs(held - end) for end in (self.low, self.high) if not _is_open(end)]
        if gaps and not is_zero(self.w):
            share = where(reduce(minimum, gaps) <= 0.0, self._share(inertia), 1.0)
        return _rounded(held, share * self.force, share * (self.w * a))

    def linear(self, inertia: Scalar, held: Scalar | None = None, a: Scalar = 0.0) -> Line:
        """Return the part of the line it is on at the estimate of its force (0 for None) and of a."""
        if self.is_line:
            return Line(self.force, self.w)
        # the force does not answer to a: its part of the line is known without an estimate
        if is_zero(self.w):
            return Line(self._clipped(self.force), 0.0)
        test = self._test(inertia, 0.0 if held is None else held, a)
        # what is held stays so: rounding alone does not break it away
        slack = 0.0 if held is None else self._rounding(inertia, held, a)
        force, w = self.force, self.w
        for end, beyond in ((self.low, test <= self.low - slack), (self.high, test >= self.high + slack)):
            if not _is_open(end):
                force, w = where(beyond, end, force), where(beyond, 0.0, w)
        return Line(force, w)


class Stops(NamedTuple):
    """The stops of one degree of freedom: -stiffness p, p by how far a stop is passed, p > 0 of the upper one.

    p = max(above + dt^2 a, 0) - max(below - dt^2 a, 0)
    """

    above: Scalar | None  # by how far the upper stop is passed without accelerating; None without an upper stop
    below: Scalar | None  # the same of the lower one
    stiffness: Scalar  # w / dt^2
    w: Scalar  # by how much the force falls with the acceleration while a stop is touched
    square: float  # dt^2
    rigid: Scalar  # w / D

    is_line = False

    @property
    def unit(self) -> Scalar:
        """Force for each unit of an error of p."""
        return self.stiffness

    def effort(self, held: Scalar) -> Scalar:
        """Return the force of a p."""
        return -self.stiffness * held

    def at(self, a: Scalar) -> Scalar:
        """Return p at an acceleration."""
        above = 0.0 if self.above is None else maximum(self.above + self.square * a, 0.0)
        below = 0.0 if self.below is None else maximum(self.below - self.square * a, 0.0)
        return above - below

    def error(self, inertia: Scalar, held: Scalar, a: Scalar) -> Scalar:
        """Return by how much p is wrong at an acceleration."""
        right, share, moved = 0.0, 1.0 / (1.0 + self.rigid), self.square * a
        sides = [(ahead, sign) for ahead, sign in ((self.above, 1.0), (self.below, -1.0)) if ahead is not None]
        for ahead, sign in sides:
            test = share * (ahead + sign * moved) + (self.rigid * share * sign) * held
            right = right + sign * maximum(test, 0.0)
        # p of the stop that is touched is a small difference; where it is 0, the test is rounded, by its share
        part = where(abs(held) > 0.0, 1.0, share)
        nearest = reduce(maximum, (ahead for ahead, _ in sides))
        return maximum(abs(held - right) - part * _rounded(nearest, moved), 0.0)

    def linear(self, inertia: Scalar, held: Scalar | None = None, a: Scalar = 0.0) -> Stopped:
        """Return the part of the line it is on at the estimate of p (0 for None) and of a."""
        yielded = 0.0 if held is None else self.rigid * held
        # between ends that cross, where both are passed, the lower stop counts: it is looked at last
        start: Scalar = 0.0
        w: Scalar = 0.0
        square: Scalar = 0.0
        for ahead, sign in ((self.above, 1.0), (self.below, -1.0)):
            if ahead is not None:
                passed = ahead + sign * (self.square * a + yielded) > 0.0
                start, w = where(passed, sign * ahead, start), where(passed, self.w, w)
                square = where(passed, self.square, square)
        return Stopped(-self.stiffness * start, w, start, square)


def _rounded(*terms: Scalar) -> Scalar:
    """Return what rounding makes of a sum of terms."""
    return where(is_double(terms), 4e-16, 4e-7) * sum(abs(e) for e in terms)


def _coming_back(depth: Scalar, dt: float) -> Scalar:
    """Return which part of a depth beyond a stop a step recovers; before the stop, what is left of the way."""
    return minimum(depth, min(dt / RETURN, 1.0) * depth)


def _is_open(end: Scalar) -> bool:
    """Return whether an end of an element's range is none; a symbol, such as a friction that is an input, is one."""
    return isinstance(end, float) and math.isinf(end)


class Line(NamedTuple):
    """A force force - w a."""

    force: Scalar
    w: Scalar

    def at(self, a: Scalar) -> Scalar:
        return self.force - self.w * a


class Stopped(NamedTuple):
    """A force force - w a of a stop that is touched; 0 of one that is not."""

    force: Scalar  # of the line
    w: Scalar
    start: Scalar  # p without accelerating
    square: Scalar  # dt^2, or 0

    def at(self, a: Scalar) -> Scalar:
        """Return p at an acceleration."""
        return self.start + self.square * a


Pair = tuple[Scalar, Scalar]
Lines = Sequence[Line | Stopped]  # of each element, the part of its line that it is on


class DriveCommand(NamedTuple):
    """What drives are asked for, nv numbers each."""

    effort: Vector  # u, beside what gains ask for
    position: Vector  # x_d, in the coordinates of `Manifold.limit_coordinates`
    velocity: Vector  # v_d
    stiffness: Vector  # kp
    damping: Vector  # kd
    # on each body, at its centre of mass in world axes; None for no such wrench
    wrenches: Sequence[Force] | None = None


class Coordinate(NamedTuple):
    """A coordinate x that forces act along: one of the model's own, or of a joint that follows others."""

    slopes: Mapping[int, Scalar]  # g, by index in v
    inertia: Scalar  # D
    bias: Scalar = 0.0

    def rate(self, v: Vector) -> Scalar:
        """Return g . v."""
        return sum((g * v[j] for j, g in self.slopes.items()), 0.0)

    def acceleration(self, a: Vector) -> Scalar:
        return self.rate(a) + self.bias


class Moving(NamedTuple):
    """A joint in its own coordinates; of one that follows others the joint within."""

    joint: Any
    x: Vector
    rates: Vector
    places: Sequence[int]  # of its coordinates among all
    leading: Node | None = None  # the node, if it follows others


class JointForces:
    """All such forces of a model at one state, stops among them if `limits` is True, and the inertias for them.

    These are `free_or_held_inertias`, if they are not given.
    """

    def __init__(
        self,
        model: Model,
        q: Vector,
        v: Vector,
        servo: DriveCommand,
        dt: float,
        *,
        limits: bool = True,
        inertias: Sequence[Scalar] | None = None,
    ) -> None:
        self.dt, self.has_loops = dt, model.has_loops
        self.rigid = where(is_double(v), RIGID, RIGID_IN_SINGLE) if model.nv else RIGID
        self.efforts = [0.0] * model.nv if servo.wrenches is None else applied_efforts(model, q, servo.wrenches)
        known = free_or_held_inertias(model) if inertias is None else inertias
        self.along = [Coordinate({j: 1.0}, D) for j, D in enumerate(known)]
        joints = [self._moving(node, q, v) for node in model.nodes]
        self.of_coordinates: list[list[Element | Stops]] = [[] for _ in self.along]
        self._add_drives(model, q, v, servo)
        self._add_passive(model, v)
        self._add_springs(model, q, v)
        self._add_efforts(joints)
        if limits:
            self._add_stops(model, q, v)
        for own in joints:
            if isinstance(own.joint, Equipped):
                self._add_equipment(own, q, servo, limits)

    def _moving(self, node: Node, q: Vector, v: Vector) -> Moving:
        """Return a joint as it moves; the coordinates of one that follows others are added to those there are."""
        joint, own, rates = node.joint, node.configuration(q), node.velocity(v)
        if not (isinstance(joint, Follower) and (joint.has_efforts or joint.own)):
            return Moving(joint, own, rates, node.v)
        first, inertias = len(self.along), [self.along[j].inertia for j in node.v]
        for row, bias in zip(joint.slopes(own), joint.curvature(own, rates), strict=True):
            slopes = dict(zip(node.v, row, strict=True))
            self.along.append(Coordinate(slopes, _inertia_along(row, inertias), bias))
        x, places = joint.inner_configuration(own), range(first, len(self.along))
        return Moving(joint.joint, x, [self.along[k].rate(v) for k in places], places, node)

    def _add_drives(self, model: Model, q: Vector, v: Vector, servo: DriveCommand) -> None:
        has_springs = any(not is_zero(kp) for kp in servo.stiffness)
        error = model.manifold.toward(q, servo.position) if has_springs else [0.0] * model.nv
        ends = zip(model.effort_lower.tolist(), model.effort_upper.tolist(), strict=True)
        for j, own in enumerate(ends):
            gains, wanted = (servo.stiffness[j], servo.damping[j]), (error[j], servo.velocity[j])
            self._add_drive(j, servo.effort[j], gains, wanted, v[j], own)

    def _add_drive(self, j: int, effort: Scalar, gains: Pair, wanted: Pair, rate: Scalar, ends: Pair) -> None:
        (kp, kd), (error, wanted_rate), dt = gains, wanted, self.dt
        force = effort + kp * error + kd * wanted_rate - (dt * kp + kd) * rate
        w = dt * (dt * kp + kd)
        # no drive there: an element would cost a comparison in every pass
        if not (is_zero(force) and is_zero(w)):
            self.of_coordinates[j].append(Element(force, w, *ends))

    def _add_passive(self, model: Model, v: Vector) -> None:
        self.slow(v, model.passive("damping"))
        for j, friction in enumerate(model.passive("friction")):
            self._add_friction(j, v[j], friction)

    def _add_friction(self, j: int, rate: Scalar, most: Scalar) -> None:
        if not is_zero(most):
            w = self._rigid(j) * self.along[j].inertia
            self.of_coordinates[j].append(Element(-(w / self.dt) * rate, w, -most, most))

    def _rigid(self, j: int) -> Scalar:
        """Return by how many times w of friction that sticks, and of a stop, is more than D."""
        return self.rigid if self.has_loops or len(self.along[j].slopes) > 1 else RIGID

    def _add_springs(self, model: Model, q: Vector, v: Vector) -> None:
        for node in filter(has_spring, model.nodes):
            ahead = zip(to_rest(node, q), node.velocity(v), strict=True)
            for j, k, (error, rate) in zip(node.v, node.spring_stiffness, ahead, strict=True):
                if not is_zero(k):
                    self.of_coordinates[j].append(Element(k * (error - self.dt * rate), self.dt * self.dt * k))

    def _add_efforts(self, joints: Sequence[Moving]) -> None:
        dt = self.dt
        for own in joints:
            if own.joint.has_efforts:
                ahead = own.joint.integrate(own.x, [dt * e for e in own.rates])
                found = linearised_efforts(own.joint, ahead, own.rates)
                for j, force, k, d in zip(own.places, *found, strict=True):
                    w = dt * d + dt * dt * k
                    # a joint that pushes the more the further it goes has w < 0, which could make M + W indefinite
                    self.of_coordinates[j].append(Element(force, maximum(w, 0.0)))

    def _add_equipment(self, own: Moving, q: Vector, servo: DriveCommand, limits: bool) -> None:
        """Add dry friction, drives and stops along the coordinates of a joint that follows others."""
        equipped: Equipped = own.joint
        ends = equipped.limits.resolved(equipped.nv)
        for j, rate, most in zip(own.places, own.rates, equipped.friction, strict=False):
            self._add_friction(j, rate, most)
        gains = list(zip(equipped.drive_stiffness, equipped.drive_damping, strict=True))
        ways = self._ways(own, q, servo) if any(not is_zero(kp) for kp, _ in gains) else [0.0] * equipped.nv
        efforts = zip(ends.effort_lower or (), ends.effort or (), strict=True)
        for j, pair, way, rate, reach in zip(own.places, gains, ways, own.rates, efforts, strict=False):
            self._add_drive(j, 0.0, pair, (way, self.along[j].rate(servo.velocity)), rate, reach)
        if limits:
            x = equipped.manifold.limit_coordinates(own.x)
            for j, at, rate, lower, upper in zip(
                own.places, x, own.rates, ends.lower or (), ends.upper or (), strict=True
            ):
                self._add_stop(j, at, rate, lower, upper)

    def _ways(self, own: Moving, q: Vector, servo: DriveCommand) -> Sequence[Scalar]:
        """Return the way from x to where the targets of the joints that it follows have it."""
        node: Any = own.leading
        manifold, at = node.joint.manifold, node.configuration(q)
        goal = manifold.integrate(at, manifold.toward(at, node.velocity(servo.position)))
        return own.joint.manifold.difference(own.x, node.joint.inner_configuration(goal))

    def _add_stops(self, model: Model, q: Vector, v: Vector) -> None:
        ends = list(zip(model.lower.tolist(), model.upper.tolist(), strict=True))
        if all(_is_open(lower) and _is_open(upper) for lower, upper in ends):
            return
        x = model.manifold.limit_coordinates(q)
        for j, own in enumerate(ends):
            self._add_stop(j, x[j], v[j], *own)

    def _add_stop(self, j: int, x: Scalar, rate: Scalar, lower: float, upper: float) -> None:
        if _is_open(lower) and _is_open(upper):
            return
        dt, rigid = self.dt, self._rigid(j)
        w = rigid * self.along[j].inertia
        # a step bends by half of dt^2 times the bias: where x is stopped and follows one velocity, by nothing
        unbent = 0.5 if len(self.along[j].slopes) > 1 else 1.0
        moved = dt * rate - (unbent * dt * dt) * self.along[j].bias
        # an end at infinity would cost operations, and nothing would come of them
        above = None if _is_open(upper) else _coming_back(x - upper, dt) + moved
        below = None if _is_open(lower) else _coming_back(lower - x, dt) - moved
        self.of_coordinates[j].append(Stops(above, below, w / (dt * dt), w, dt * dt, rigid))

    def add(self, efforts: Vector) -> None:
        """Add efforts along v that do not answer to the acceleration."""
        self.efforts = [a + b for a, b in zip(self.efforts, efforts, strict=True)]

    def slow(self, v: Vector, damping: Vector) -> None:
        """Add damping along v."""
        for own, rate, c in zip(self.of_coordinates, v, damping, strict=False):
            if not is_zero(c):
                own.append(Element(-c * rate, self.dt * c))

    @property
    def inertias(self) -> list[Scalar]:
        """D of each degree of freedom."""
        return [along.inertia for along in self.along[: len(self.efforts)]]

    def __iter__(self) -> Iterator[tuple[Coordinate, Element | Stops]]:
        for along, own in zip(self.along, self.of_coordinates, strict=True):
            for element in own:
                yield along, element

    @property
    def are_lines(self) -> bool:
        """Whether none of them has an end, so that one pass is exact."""
        return all(element.is_line for _, element in self)

    def at(self, a: Vector) -> list[Scalar]:
        """Return what elements hold at accelerations."""
        return [element.at(along.acceleration(a)) for along, element in self]

    def linear(self, held: Vector | None = None, a: Vector | None = None) -> list[Line | Stopped]:
        """Return the line of every element at estimates of what they hold and of the accelerations."""
        return [
            element.linear(
                along.inertia, None if held is None else held[k], along.bias if a is None else along.acceleration(a)
            )
            for k, (along, element) in enumerate(self)
        ]

    def total(self, lines: Lines) -> tuple[list[Scalar], Armature]:
        """Return efforts tau and armature W along v of lines, of wrenches on bodies, and of what was added."""
        tau = list(self.efforts)
        W: Armature = [{} for _ in tau]
        for (along, _), line in zip(self, lines, strict=True):
            force = line.force - line.w * along.bias
            for j, g in along.slopes.items():
                tau[j] = tau[j] + g * force
                for i, other in along.slopes.items():
                    W[j][i] = W[j].get(i, 0.0) + g * other * line.w
        return tau, W

    def without_decisions(self) -> tuple[list[Scalar], list[Scalar]]:
        """Return tau and W along v of forces on which nothing is to be decided, and keep the others alone."""
        lines, others = list[list[Any]](), list[list[Any]]()
        for along, own in zip(self.along, self.of_coordinates, strict=True):
            is_line = len(along.slopes) == 1  # of what follows several, W has more than a diagonal
            is_known = [is_zero(element.w) or (is_line and element.is_line) for element in own]
            lines.append([element for element, known in zip(own, is_known, strict=True) if known])
            others.append([element for element, known in zip(own, is_known, strict=True) if not known])
        self.of_coordinates = lines
        tau, W = self.total(self.linear())
        self.efforts, self.of_coordinates = [0.0] * len(tau), others
        return tau, diagonal(W)

    def on(self, lines: Lines, a: Vector) -> list[Scalar]:
        """Return what elements hold on the lines at accelerations: a force, or of stops a position."""
        return [line.at(along.acceleration(a)) for (along, _), line in zip(self, lines, strict=True)]

    def residual(self, held: Vector, a: Vector) -> Scalar:
        """Return by how much velocities are wrong, at most, for forces that are not their elements' [rad/s, m/s].

        That is dt |f - clip(test)| / D.
        """
        worst: Scalar = 0.0
        for (along, element), own in zip(self, held, strict=True):
            inertia = element.w if is_zero(along.inertia) else along.inertia
            if not (element.is_line or is_zero(inertia)):
                felt = element.unit * (self.dt / inertia)
                worst = maximum(worst, element.error(along.inertia, own, along.acceleration(a)) * felt)
        return worst


def _inertia_along(row: Sequence[Scalar], inertias: Sequence[Scalar]) -> Scalar:
    """Return D of a coordinate that follows velocities by a row of slopes."""
    if any(map(is_zero, inertias)):
        return 0.0
    felt = sum(g * g * (1.0 / D) for g, D in zip(row, inertias, strict=True))
    return 1.0 / maximum(felt, DEAD * DEAD * reduce(maximum, (1.0 / D for D in inertias)))


def joint_inertias(model: Model) -> list[Scalar]:
    """Return D: the inertia along every degree of freedom in the neutral configuration, all others held."""
    return inertias_along(model, relative_kinematics(model, model.manifold.neutral()))


def free_or_held_inertias(model: Model) -> list[Scalar]:
    """Return the same, but of chains with all joints beyond free."""
    held = joint_inertias(model)
    return free_inertias(model, held) if is_chain(model) else held


def is_driven(model: Model) -> bool:
    """Return whether there is a drive, so that targets count."""
    followers = [node.joint.own for node in model.nodes if isinstance(node.joint, Follower)]
    gains = [e for c in (*model.nodes, *followers) if c for e in (*c.drive_stiffness, *c.drive_damping)]
    return not all(map(is_zero, gains))


def coupling(model: Model, *, limits: bool) -> Iterator[str]:
    """Yield the joints that follow several velocities and have a drive, dry friction or, if `limits`, stops."""
    for node in model.nodes:
        own = node.joint.own if isinstance(node.joint, Follower) and node.joint.nv > 1 else None
        stops = (*(own.limits.lower or ()), *(own.limits.upper or ())) if own and limits else ()
        if own and (any((*own.friction, *own.drive_stiffness, *own.drive_damping)) or any(map(math.isfinite, stops))):
            yield node.name


def undetermined(model: Model) -> list[Node]:
    """Return the joints that move nothing that has inertia, in one direction at least, and that nothing holds there."""

    def is_free(node: Node, inertias: Iterable[Scalar]) -> bool:
        return any(is_zero(D + held) for D, held in zip(inertias, _holding(node), strict=True))

    def own_inertias(node: Node) -> list[Scalar]:
        return [s.dot(node.inertia @ s) for s in node.joint.subspace(node.configuration(q))]

    def kind_of(node: Node) -> tuple[int, int]:
        return id(node.joint), 0 if id(node.inertia) in solid else id(node.inertia)

    # What a node itself feels is less than D, and enough to know of most. Robots of one kind share it. Solid bodies are
    # alike, as each resists whatever moves it.
    q = model.manifold.neutral()
    nodes = [node for node in model.nodes if not node.joint.primaries]
    solid = {key for key, node in {id(node.inertia): node for node in nodes}.items() if is_solid(node)}
    own = {kind: own_inertias(node) for kind, node in {kind_of(node): node for node in nodes}.items()}
    light = [node for node in nodes if is_free(node, own[kind_of(node)])]
    D = joint_inertias(model) if light else []
    return [node for node in light if is_free(node, [D[j] for j in node.v])]


def check_determined(model: Model, prescribed: Sequence[str] = ()) -> None:
    """Raise `MechanismError` for a joint whose acceleration nothing determines: see `undetermined`.

    That is one that moves nothing with inertia while all other joints are held, or while those that it carries are
    free. The latter is so for a floating base without mass that carries a hinge.

    Args:
        prescribed: names of joints that move as they are told.
    """
    for node in undetermined(model):
        if node.name not in prescribed:
            raise singular(node)
    of_inertia = {id(node.inertia): node for node in model.nodes}
    if model.has_loops or model.has_mimics or all(map(is_solid, of_inertia.values())):
        return  # loops hold, too; and what carries solid bodies alone always moves something
    holding: list[Scalar] = [0.0] * model.nv
    for node in model.nodes:
        told = 1.0 if node.name in prescribed else 0.0
        node.scatter(holding, [told + held for held in _holding(node)])
    # no place of symmetry, as the neutral configuration is: a chain of point masses is singular when stretched
    generic = model.manifold.integrate(model.manifold.neutral(), [0.3 + 0.1 * (k % 7) for k in range(model.nv)])
    articulated_inertias(model, relative_kinematics(model, generic), holding)


def _holding(node: Node) -> list[Scalar]:
    """Return what keeps a joint from moving freely along each of its velocities, whatever its unit."""
    own = zip(node.damping, node.drive_stiffness, node.drive_damping, node.spring_stiffness, strict=True)
    return [sum(gains) for gains in own]


def is_solid(node: Node) -> bool:
    """Whether a node's own inertia resists motion in every direction; what is not known yet is taken to."""
    try:
        Factor(node.inertia.inertia_at_com.matrix().rows())
    except SingularError:
        return False
    return not is_zero(node.inertia.mass)
