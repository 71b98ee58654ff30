"""Forces along the joints that answer within a step: drives, damping, dry friction, stops.

Each is a straight line in the acceleration a of its degree of freedom, cut off at both ends:

    f(a) = clip(f0 - w a, low, high)

    drive, to x_d, v_d          f0 = u + kp (x_d - x - dt v) + kd (v_d - v),   w = dt kd + dt^2 kp,   limits of efforts
    damping                     f0 = -d v,                                     w = dt d,              no ends
    spring                      f0 = k (rest - x - dt v),                      w = dt^2 k,            no ends
    a joint's own efforts       f0 = f(x + dt v, v),                           w = -dt f_v - dt^2 f_x, no ends
    dry friction                f0 = -(w / dt) v,                              w = RIGID D,           +-friction
    upper stop                  f = -(w / dt^2) max(d* + dt v + dt^2 a, 0),      w = RIGID D,           d = x - upper

with D the inertia that the joint feels: so friction holds (what creeps is 1 / RIGID of what would move) and stops are
hard. A joint before its stop (d < 0) comes no further than to it, d* = d; one beyond it comes back with the speed
d / RETURN and no faster, d* = d dt / RETURN, whatever the step: it is not thrown, and what was stopped does not bounce.
x are the coordinates of `Manifold.limit_coordinates`; x_d - x is the manifold's difference.

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
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.scalar import is_zero, maximum, minimum, where
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.applied import applied_efforts
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.passive import has_spring, to_rest
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._robot.joints.catalogue.of_another import Follower
from cardan._robot.joints.derivation.derived import linearised_efforts
from cardan._robot.model import Model, Node

RIGID = 1e6  # by how many times the inertia that a joint feels friction that sticks, and a stop, is heavier than it
RETURN = 0.5
"""The time [s] in which all but 1 / e of a depth beyond a stop is recovered. A tenth of it throws an arm that begins a
radian outside. A stop gives back dt / RETURN / RIGID of the speed that it meets."""
FAR, DEAD = 10.0, 1e-3  # of a follower: where an open end is [rad, m], and the slope below which it does not count


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
        right, share, moved = 0.0, 1.0 / (1.0 + RIGID), self.square * a
        sides = [(ahead, sign) for ahead, sign in ((self.above, 1.0), (self.below, -1.0)) if ahead is not None]
        for ahead, sign in sides:
            test = share * (ahead + sign * moved) + (RIGID * share * sign) * held
            right = right + sign * maximum(test, 0.0)
        # p of the stop that is touched is a small difference; where it is 0, the test is rounded, by its share
        part = where(abs(held) > 0.0, 1.0, share)
        nearest = reduce(maximum, (ahead for ahead, _ in sides))
        return maximum(abs(held - right) - part * _rounded(nearest, moved), 0.0)

    def linear(self, inertia: Scalar, held: Scalar | None = None, a: Scalar = 0.0) -> Stopped:
        """Return the part of the line it is on at the estimate of p (0 for None) and of a."""
        yielded = 0.0 if held is None else RIGID * held
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


class JointForces:
    """All such forces of a model at one state, stops among them if `limits` is True, and the inertias for them."""

    def __init__(
        self, model: Model, q: Vector, v: Vector, servo: DriveCommand, dt: float, *, limits: bool = True
    ) -> None:
        self.dt = dt
        self.inertias = joint_inertias(model)
        self.efforts = [0.0] * model.nv if servo.wrenches is None else applied_efforts(model, q, servo.wrenches)
        self.of_joints: list[list[Element | Stops]] = [[] for _ in range(model.nv)]
        self._add_drives(model, q, v, servo)
        self._add_passive(model, v)
        self._add_springs(model, q, v)
        self._add_efforts(model, q, v)
        self._add_followers(model, q, v, limits)
        if limits:
            self._add_stops(model, q, v)

    def _add_drives(self, model: Model, q: Vector, v: Vector, servo: DriveCommand) -> None:
        dt = self.dt
        has_springs = any(not is_zero(kp) for kp in servo.stiffness)
        error = model.manifold.toward(q, servo.position) if has_springs else [0.0] * model.nv
        ends = zip(model.effort_lower.tolist(), model.effort_upper.tolist(), strict=True)
        for j, (low, high) in enumerate(ends):
            kp, kd = servo.stiffness[j], servo.damping[j]
            force = servo.effort[j] + kp * error[j] + kd * servo.velocity[j] - (dt * kp + kd) * v[j]
            w = dt * (dt * kp + kd)
            # no drive there: an element would cost a comparison in every pass
            if not (is_zero(force) and is_zero(w)):
                self.of_joints[j].append(Element(force, w, low, high))

    def _add_passive(self, model: Model, v: Vector) -> None:
        for j, damping in enumerate(model.passive("damping")):
            if not is_zero(damping):
                self.of_joints[j].append(Element(-damping * v[j], self.dt * damping))
        for j, friction in enumerate(model.passive("friction")):
            if not is_zero(friction):
                self.of_joints[j].append(self._friction(v, j, friction))

    def _friction(self, v: Vector, j: int, most: Scalar) -> Element:
        w = RIGID * self.inertias[j]
        return Element(-(w / self.dt) * v[j], w, -most, most)

    def _add_springs(self, model: Model, q: Vector, v: Vector) -> None:
        for node in filter(has_spring, model.nodes):
            ahead = zip(to_rest(node, q), node.velocity(v), strict=True)
            for j, k, (error, rate) in zip(node.v, node.spring_stiffness, ahead, strict=True):
                if not is_zero(k):
                    self.of_joints[j].append(Element(k * (error - self.dt * rate), self.dt * self.dt * k))

    def _add_efforts(self, model: Model, q: Vector, v: Vector) -> None:
        dt = self.dt
        for node in model.nodes:
            if node.joint.has_efforts:
                own, rates = node.configuration(q), node.velocity(v)
                found = linearised_efforts(node.joint, node.joint.integrate(own, [dt * e for e in rates]), rates)
                for j, force, k, d in zip(node.v, *found, strict=True):
                    w = dt * d + dt * dt * k
                    # a joint that pushes the more the further it goes has w < 0, which could make M + W indefinite
                    self.of_joints[j].append(Element(force, maximum(w, 0.0)))

    def _add_followers(self, model: Model, q: Vector, v: Vector, limits: bool) -> None:
        """Add dry friction and stops along x(q) of joints that follow one velocity, as forces along that: dx = g dq."""
        for node in model.nodes:
            joint: Any = node.joint
            if not (isinstance(joint, Follower) and joint.has_stops):
                continue
            (j,), own = node.v, node.configuration(q)
            w = RIGID * self.inertias[j]
            if any(joint.friction):
                felt = sum(friction * abs(g) for friction, (g,) in zip(joint.friction, joint.slopes(own), strict=True))
                self.of_joints[j].append(self._friction(v, j, felt))
            if limits and joint.limits.lower and joint.limits.upper:
                x = joint.joint.manifold.limit_coordinates(joint.inner_configuration(own))
                ends = zip(joint.limits.lower, joint.limits.upper, strict=True)
                for x_k, (g,), (lower, upper) in zip(x, joint.slopes(own), ends, strict=True):
                    self.of_joints[j].append(self._stops_of_follower(x_k, g, lower, upper, v[j], w))

    def _stops_of_follower(self, x: Scalar, g: Scalar, lower: float, upper: float, v: Scalar, w: Scalar) -> Stops:
        dt, is_along = self.dt, g > 0.0
        # an open end is far, not at infinity: times a slope of 0 that would not be a number
        above = -FAR if _is_open(upper) else _coming_back(x - upper, dt)
        below = -FAR if _is_open(lower) else _coming_back(lower - x, dt)
        felt = 1.0 / maximum(abs(g), DEAD)
        ahead, behind = where(is_along, above, below) * felt, where(is_along, below, above) * felt
        return Stops(ahead + dt * v, behind - dt * v, w / (dt * dt), w, dt * dt)

    def _add_stops(self, model: Model, q: Vector, v: Vector) -> None:
        dt, ends = self.dt, list(zip(model.lower.tolist(), model.upper.tolist(), strict=True))
        if all(_is_open(lower) and _is_open(upper) for lower, upper in ends):
            return
        x = model.manifold.limit_coordinates(q)
        for j, (lower, upper) in enumerate(ends):
            if not (_is_open(lower) and _is_open(upper)):
                w = RIGID * self.inertias[j]
                # an end at infinity would cost operations, and nothing would come of them
                above = None if _is_open(upper) else _coming_back(x[j] - upper, dt) + dt * v[j]
                below = None if _is_open(lower) else _coming_back(lower - x[j], dt) - dt * v[j]
                self.of_joints[j].append(Stops(above, below, w / (dt * dt), w, dt * dt))

    def add(self, efforts: Vector) -> None:
        """Add efforts along v that do not answer to the acceleration."""
        self.efforts = [a + b for a, b in zip(self.efforts, efforts, strict=True)]

    def __iter__(self) -> Iterator[tuple[int, Element | Stops]]:
        for j, own in enumerate(self.of_joints):
            for element in own:
                yield j, element

    @property
    def are_lines(self) -> bool:
        """Whether none of them has an end, so that one pass is exact."""
        return all(element.is_line for _, element in self)

    def linear(self, held: Vector | None = None, a: Vector | None = None) -> list[Line | Stopped]:
        """Return the line of every element at estimates of what they hold and of the accelerations."""
        return [
            element.linear(self.inertias[j], None if held is None else held[k], 0.0 if a is None else a[j])
            for k, (j, element) in enumerate(self)
        ]

    def total(self, lines: Lines) -> tuple[list[Scalar], list[Scalar]]:
        """Return efforts tau and armature W along v of lines, of wrenches on bodies, and of what was added."""
        tau = list(self.efforts)
        W: list[Scalar] = [0.0] * len(self.of_joints)
        for (j, _), line in zip(self, lines, strict=True):
            tau[j], W[j] = tau[j] + line.force, W[j] + line.w
        return tau, W

    def on(self, lines: Lines, a: Vector) -> list[Scalar]:
        """Return what elements hold on the lines at accelerations: a force, or of stops a position."""
        return [line.at(a[j]) for (j, _), line in zip(self, lines, strict=True)]

    def residual(self, held: Vector, a: Vector) -> Scalar:
        """Return by how much velocities are wrong, at most, for forces that are not their elements' [rad/s, m/s].

        That is dt |f - clip(test)| / D.
        """
        worst: Scalar = 0.0
        for (j, element), own in zip(self, held, strict=True):
            D = self.inertias[j]
            inertia = element.w if is_zero(D) else D
            if not (element.is_line or is_zero(inertia)):
                felt = element.unit * (self.dt / inertia)
                worst = maximum(worst, element.error(D, own, a[j]) * felt)
        return worst


def joint_inertias(model: Model) -> list[Scalar]:
    """Return D: the inertia along every degree of freedom in the neutral configuration, all others held."""
    relative = relative_kinematics(model, model.manifold.neutral())
    D: list[Scalar] = [0.0] * model.nv
    for node, inertia in zip(model.nodes, composite_inertias(model, relative), strict=True):
        node.scatter(D, [s.dot(inertia @ s) for s in relative.S[node.index]])
        node.scatter(D, node.armature)
    return D


def undetermined(model: Model) -> list[Node]:
    """Return the joints that move nothing that has inertia, in one direction at least, and that nothing holds there."""
    D, found = joint_inertias(model), []
    for node in (node for node in model.nodes if not node.joint.primaries):
        holding = zip(node.damping, node.drive_stiffness, node.drive_damping, node.spring_stiffness, strict=True)
        if any(is_zero(D[j] + sum(own)) for j, own in zip(node.v, holding, strict=True)):
            found.append(node)
    return found
