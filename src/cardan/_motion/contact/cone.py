"""The impulse of a contact in a step, as Coulomb's cone has it, regularised so that it is one of a convex problem.

    v* - v - R g  in the normal cone of  |g_t| <= mu g_n  at g,        R = diag(R_n, R_t, R_t)

v is the velocity at the step's end, g the impulse, v* the wanted velocity: the depth recovered in a step, or the
rebound. That is g(v) = projection of y = R^-1 (v* - v) on the cone in the norm of R:

    stick     |y_t| <= mu y_n               g = y
    slide     else, y_n + m |y_t| > 0       g_n = (y_n + m |y_t|) / (1 + mu m), g_t = mu g_n y_t / |y_t|
    apart     else                          g = 0

with m = mu R_t / R_n. R_n = 1 / (k dt (dt + d)) is the spring k with the dissipation time d, by default
SETTLING / sqrt(k w), or the depth over `RECOVERY` if that is longer; both R have a floor, in parts of the inverse mass
w that is felt, that makes a contact nearly rigid.

What meets faster than `IMPACT` meets as rigid bodies do (Newton): R_n is that floor, and v* = -e v_n. Where e is 0, v*
takes the gap that is left instead, so that what is stopped touches, and the spring bears it from there.

In Newton's method the part of the cone is decided at an estimate of both g and v, by the projection of

    z = g + (v* - v - R g) / w

which leaves a solution where it is, like that of y, but moves with v by the mass that is felt and not by the
stiffness: so a step goes to the other side of the cone's edge when the impulse says so, not when the velocity has
crossed a slip of R_t g. On its part the impulse is linear in the velocity, g = W (v* - v), W symmetric and not
negative:

    stick     W = R^-1
    slide     W = e e^T / (R_n + mu^2 R_t) + (1 - n n^T - t t^T) / (w (|z_t| / mu z_n' - 1) + R_t)

with t = z_t / |z_t|, e = n + mu t and z_n' the normal part of z's projection.

That law opens a contact by mu |v_t|: it lifts what slips, and throws up what slips fast. Coulomb's law does not. It
projects z along the surface alone, and friction does not follow the normal impulse within an iteration:

    slide     z_n' = max(z_n, 0),  e = n,  g = W (v* - v) + mu z_n' t

Where nothing couples the normal with the slip, as on a ball, that is right at once. Elsewhere it converges linearly.

Torsional and rolling friction add slips, the angular velocities about the normal and across it times lengths: the cone
is elliptic in all of them. So it is with two coefficients: mu is the larger one, and slips along `narrow` count by the
smaller one's share of it.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), equations 17 to 25;
Hintermueller, Ito and Kunisch, The primal-dual active set strategy as a semismooth Newton method (2003), for z.
Cost: 45 operations for an impulse, 110 for W.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cardan._algebra.scalar import absolute, is_zero, logical_and, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3, Vector3
from cardan._dynamics.algorithms.proximal import is_double
from cardan._motion.contact.point import Contact

# The least R_n / w. In single precision, a spring as stiff as steps of its period resolve (Castro, equation 41).
SINGLE, DOUBLE = 1.0 / (4.0 * math.pi**2), 1e-4
# R_t / w: what creeps is this share of what would slide in a step (Castro, section V.B); points of one body that stick
# a little askew do not jam.
STICKING = 1e-3
# R_t / w for the estimate to begin with, where a contact comes or goes at such a speed [m/s]: as if the velocity were
# right to a hundredth part of its change. In a slower one less: what lies still creeps as it did in the last step, so
# that one iteration is right.
SOFT, CALM = 1e-2, 3e-3
# The dissipation time where no dissipation is given, in 1 / sqrt(k w): a mass 1 / w on the spring swings once. With
# 0.3 a box just above its critical angle is 2 % off at 0.25 ms, with 2 (critical) a spin's friction 1 % at 1 ms.
SETTLING = 0.6
# The dissipation time of such a contact, in steps: it recovers half of a depth in a step.
DAMPED = 1.0
# The speed [m/s] at which a depth is left, at most, by rigid contacts and where no dissipation is given: what begins in
# the ground, or is deep in it after a blow, is not thrown. A spring bears what it bore.
RECOVERY = 1.0
# The approach [m/s] from which what is in contact meets as rigid bodies do, and from which anything bounces. So fast is
# what swings on a spring that its weight presses by a millimetre.
IMPACT = 0.1
# The restitution below which v* passes from e |v_n| to what is left of the gap.
SLIGHT = 1e-2
SMALL = 1e-12  # the slip [m/s] below which its direction is nothing but rounding


def blow(contact: Contact, law: FrictionCone, dt: float) -> tuple[Scalar, Scalar]:
    """Return whether what meets within a step does so as rigid bodies, and the velocity along the normal after it.

    So does what was apart half a step ago, however slow it is: the spring would give back a part of its speed. (A whole
    step ago, what has just been stopped was apart or not by its rounding.) What slips or spins is the spring's: the
    convex law would lift it by its friction times its slip.
    """
    e, gap, v_n = contact.material.restitution, contact.gap, contact.normal.dot(contact.velocity.linear)
    bounces, way, is_fast = e > 0.0, dt * v_n, v_n < -IMPACT
    if contact.material.dissipation is None:  # else the spring is asked to give back what it does
        bounces = logical_or(bounces, contact.pair.is_rigid)
    lift = 4.0 * law.friction * law.friction * _squared(law.slip(contact.velocity))
    comes = logical_and(2.0 * gap > way, lift < v_n * v_n)
    hits = logical_and(bounces, logical_and(logical_or(is_fast, comes), gap + way < 0.0))
    e = 0.0 if is_zero(e) else where(is_fast, e, 0.0)
    return hits, -e * v_n - maximum(gap, 0.0) * (1.0 / dt) * (1.0 - minimum(e * (1.0 / SLIGHT), 1.0))


class Impulse(NamedTuple):
    """An impulse by its components: along the normal, and against the slips."""

    normal: Scalar
    slip: Force


class FrictionCone(NamedTuple):
    """The law of one contact in a step."""

    normal: Vector3  # n
    friction: Scalar  # mu
    inverse_mass: Scalar  # w [1/kg]
    R_n: Scalar  # regularisation along the normal [1/kg]
    R_t: Scalar  # and along the slips [1/kg]
    wanted: Scalar  # v*, along the normal
    torsional: Scalar = 0.0  # slip over angular velocity about the normal [m]
    rolling: Scalar = 0.0  # and across it [m]
    narrow: Vector3 | None = None  # the direction of the smaller coefficient, if there are two
    share: Scalar = 1.0  # of it in the larger
    lifts: Scalar = 1.0  # 1 by the convex law, which opens by mu times the slip; 0 by Coulomb's

    @staticmethod
    def of(contact: Contact, dt: float) -> FrictionCone:
        material, w, double = contact.material, contact.inverse_mass, is_double(contact.moment.q)
        rigid, R_t = w * where(double, DOUBLE, SINGLE), w * STICKING
        spring = 1.0 / (material.stiffness * dt * dt)
        if material.dissipation is None:
            own = maximum(SETTLING / sqrt(material.stiffness * w), contact.gap * (-1.0 / RECOVERY))
        else:
            own = material.dissipation * maximum(-contact.gap, 0.0)
        delay = maximum(own, where(rigid > spring, DAMPED * dt, 0.0))
        delay = where(contact.gap < 0.0, delay, 0.0)
        rate = 1.0 / (dt + delay)
        R_n, wanted = maximum(rigid, spring * dt * rate), -contact.gap * rate
        spin, roll = (_over(e, material.friction) for e in (material.torsional, material.rolling))
        law = FrictionCone(contact.normal, material.friction, w, R_n, R_t, wanted, spin, roll)
        law = law if contact.along is None else law._in_two_directions(contact.along, material.anisotropy)
        hits, after = blow(contact, law, dt)
        # A soft contact would add its own rebound, and take (1 + e) R_n / w of the speed.
        return law._replace(R_n=where(hits, minimum(R_t, rigid), R_n), wanted=where(hits, after, wanted))

    def _in_two_directions(self, along: Vector3, ratio: float) -> FrictionCone:
        """Return the law with a friction across a direction that is so many times that along it."""
        if ratio > 1.0:
            return self._replace(friction=self.friction * ratio, narrow=along, share=1.0 / ratio)
        return self._replace(narrow=self.normal.cross(along), share=ratio)

    @property
    def has_friction(self) -> bool:
        return not is_zero(self.friction)

    def slip(self, twist: Motion) -> Motion:
        """Return the slips of a twist: of the points, and of turning."""
        if not self.has_friction:
            return Motion.zero()
        v = twist.linear
        return Motion(self._narrowed(v - self.normal * self.normal.dot(v)), self._lengths(twist.angular))

    def _narrowed(self, v: Vector3) -> Vector3:
        if self.narrow is None:
            return v
        return v - self.narrow * (self.narrow.dot(v) * (1.0 - self.share))

    def _lengths(self, w: Vector3) -> Vector3:
        if is_zero(self.torsional) and is_zero(self.rolling):
            return Vector3.zero()
        return w * self.rolling + self.normal * (self.normal.dot(w) * (self.torsional - self.rolling))

    def first(self, twist: Motion) -> Impulse:
        """Return the impulse that a twist asks for, if the contact were soft."""
        comes = minimum(absolute(self.normal.dot(twist.linear)) * (1.0 / CALM), 1.0)
        R_t = maximum(self.R_t, comes * (SOFT * self.inverse_mass))
        return self._asked(twist, maximum(self.R_n, SINGLE * self.inverse_mass), R_t)

    def at(self, twist: Motion) -> Impulse:
        """Return the impulse that a twist asks for, g(v)."""
        return self._asked(twist, self.R_n, self.R_t)

    def _asked(self, twist: Motion, R_n: Scalar, R_t: Scalar) -> Impulse:
        """Return the projection of y."""
        along = 1.0 / R_n
        y = Impulse((self.wanted - self.normal.dot(twist.linear)) * along, _against(self.slip(twist)) * (1.0 / R_t))
        return self.project(y, self.lifts * self.friction * R_t * along)

    def part(self, z: Impulse) -> Part:
        mu = self.friction
        if not self.has_friction:
            return Part(self, where(z.normal > 0.0, 1.0 / self.R_n, 0.0), 0.0, Force.zero())
        size, m = self._size(z), self.lifts * mu
        sticks, reach = size <= mu * z.normal, z.normal + m * size
        touches = reach > 0.0
        bound = mu * reach  # mu z_n', times 1 + mu m
        beyond = maximum(size * (1.0 + mu * m) - bound, 0.0)
        # What does not touch divides by 1: both branches stay finite, and so do their derivatives.
        drag = bound / where(touches, self.inverse_mass * beyond + self.R_t * bound, 1.0)
        along = where(sticks, 1.0 / self.R_n, 1.0 / (self.R_n + mu * m * self.R_t))
        t = z.slip * where(sticks, 0.0, 1.0 / size)
        held = (1.0 - self.lifts) * where(touches, bound, 0.0)
        return Part(self, where(touches, along, 0.0), where(touches, drag, 0.0), t, held)

    def squared_error(self, g: Impulse, z: Impulse) -> Scalar:
        """Return the square of by how much velocities are wrong: w |g - projection of z| [m/s]."""
        right = self.project(z, self.lifts * self.friction)
        normal, slip = g.normal - right.normal, g.slip - right.slip
        return (self.inverse_mass * self.inverse_mass) * (normal * normal + _squared(slip))

    def test(self, g: Impulse, twist: Motion) -> Impulse:
        """Return z of the head, which decides on the part of the cone."""
        per_mass = 1.0 / self.inverse_mass
        z_n = g.normal * (1.0 - self.R_n * per_mass) + (self.wanted - self.normal.dot(twist.linear)) * per_mass
        return Impulse(z_n, g.slip * (1.0 - self.R_t * per_mass) + _against(self.slip(twist)) * per_mass)

    def project(self, y: Impulse, m: Scalar, share: Scalar | None = None) -> Impulse:
        """Return the projection on the cone, in a norm in which m is mu R_t / R_n; `share` is 1 / (1 + mu m)."""
        if not self.has_friction:
            return Impulse(maximum(y.normal, 0.0), Force.zero())
        normal, slips = self._shares(y.normal, self._size(y), m, share)
        return Impulse(normal, y.slip * slips)

    def _shares(self, normal: Scalar, size: Scalar, m: Scalar, share: Scalar | None = None) -> tuple[Scalar, Scalar]:
        """Return the normal part of a projection, and the share of y_t that is in it, from y_n and |y_t|."""
        mu = self.friction
        slides = maximum((normal + m * size) * (1.0 / (1.0 + mu * m) if share is None else share), 0.0)
        sticks = size <= mu * normal
        return where(sticks, normal, slides), where(sticks, 1.0, mu * slides / size)

    def _size(self, y: Impulse) -> Scalar:
        """Return |y_t|, never 0."""
        return sqrt(_squared(y.slip) + (SMALL / self.inverse_mass) ** 2)

    def components(self, impulse: Vector3) -> Impulse:
        normal = self.normal.dot(impulse)
        return Impulse(normal, Force(impulse - self.normal * normal, Vector3.zero()))

    def wrench(self, impulse: Impulse) -> Force:
        """Return an impulse as a wrench at the point."""
        slip = impulse.slip
        return Force(self.normal * impulse.normal + self._narrowed(slip.linear), self._lengths(slip.angular))


class Part(NamedTuple):
    """A part of the cone, on which the impulse is W (v* - v), and what friction is held."""

    law: FrictionCone  # whose it is
    along: Scalar  # of W, along the normal, or the edge that slides
    drag: Scalar  # of W, along slips that do not change the edge
    t: Force  # the direction of friction that slides; 0 where it sticks
    held: Scalar = 0.0  # friction along t that does not follow the normal impulse: all of it by Coulomb's law

    def at(self, twist: Motion) -> Impulse:
        """Return W (v* - v), and what friction is held."""
        law, slip = self.law, self.law.slip(twist)
        with_t, m = self.t.dot(slip), law.lifts * law.friction
        normal = self.along * (law.wanted - law.normal.dot(twist.linear) - m * with_t)
        return Impulse(normal, _against(slip) * self.drag + self.t * (self.drag * with_t + m * normal + self.held))

    def turned(self, twist: Motion) -> Part:
        """Return the same part with t against the slip, for second derivatives: t turns, and so does its drag."""
        slip, slides = self.law.slip(twist), _squared(self.t) > 0.0
        return self._replace(t=_against(slip) * where(slides, 1.0 / sqrt(where(slides, _squared(slip), 1.0)), 0.0))

    @property
    def impedance(self) -> ArticulatedInertia:
        """W, at the point."""
        law, n = self.law, self.law.normal
        t = law.wrench(Impulse(0.0, self.t))
        edge = Force(n, Vector3.zero()) + t * (law.lifts * law.friction)
        sliding = _square(edge, self.along) + _square(t, -self.drag)
        about = Symmetric3.outer_square(n)
        across = Symmetric3.isotropic(1.0) - about
        turning = across * (law.rolling * law.rolling) + about * (law.torsional * law.torsional)
        if law.narrow is not None:
            across = across - Symmetric3.outer_square(law.narrow) * (1.0 - law.share * law.share)
        return sliding + ArticulatedInertia(across * self.drag, Matrix3.zero(), turning * self.drag)


def _against(slip: Motion) -> Force:
    return Force(-slip.linear, -slip.angular)


def _squared(slip: Force | Motion) -> Scalar:
    return slip.linear.norm_squared() + slip.angular.norm_squared()


def _square(force: Force, factor: Scalar) -> ArticulatedInertia:
    """Return factor f f^T."""
    scaled = force * factor
    upper = [Symmetric3(a[i] * b[j] for i in range(3) for j in range(i, 3)) for a, b in zip(scaled, force, strict=True)]
    return ArticulatedInertia(upper[0], scaled.linear.outer(force.angular), upper[1])


def _over(length: Scalar, friction: Scalar) -> Scalar:
    """Return a length in parts of the friction; 0 of a surface without."""
    if is_zero(length) or is_zero(friction):
        return 0.0
    rubs = friction > 0.0  # a friction given for each world may be 0 in some of them
    return where(rubs, length / where(rubs, friction, 1.0), 0.0)
