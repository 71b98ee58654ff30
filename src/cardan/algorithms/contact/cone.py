"""The force of a contact as the minimiser of a convex function: Coulomb's cone, regularised.

    g(v) = projection of y = R^-1 (v* - v) on the cone |g_t| <= mu g_n, in the norm of R = diag(R_n, R_t, R_t)

v is the velocity at the step's end, g the impulse, v* the wanted one: the depth recovered in a step, or the rebound.

    stick       |y_t| <= mu y_n                 g = y
    slide       else, if y_n + m |y_t| > 0      g_n = (y_n + m |y_t|) / (1 + mu m),  g_t = mu g_n y_t / |y_t|,  m = mu R_t / R_n
    apart       else                            g = 0

R_n = 1 / (k dt (dt + d)) is the spring k with the dissipation time d; both R have a floor that makes the contact nearly
rigid, of a share of the inverse mass w that is felt: more is beyond what single precision and a few iterations hold.

With torsional and rolling friction the slip has further components, the angular velocities about the normal and across
it times the lengths a, b: so the cone is elliptic in all of them, as friction that slides does not hold a turn.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022), equations 17 to 25.
Cost: 70 operations for the impulse, 60 for the impedance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from cardan.algorithms.contact.point import Contact
from cardan.scalar import is_zero, logical_and, maximum, sqrt, where
from cardan.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3, Vector3

NEARLY_RIGID = 1.0 / (4.0 * math.pi**2)
"""R_n / w of a contact whose spring, in steps of a period, is as stiff as steps can resolve (Castro, equation 41)."""
STICKING = 1e-3
"""R_t / w: what creeps is this share of what would slide in a step (Castro, section V.B)."""
IMPACT = 0.1
"""The approach [m/s] from which bodies bounce; slower ones come to rest."""
SMALL = 1e-12
"""The slip [m/s] below which its direction is nothing but rounding."""


class Slip(NamedTuple):
    """Components of slip: of the points, and of turning, in lengths times angular velocities."""

    linear: Vector3
    angular: Vector3

    def norm(self) -> Scalar:
        """Return its size [m/s], never 0."""
        return sqrt(self.linear.norm_squared() + self.angular.norm_squared() + SMALL * SMALL)


@dataclass(frozen=True, slots=True)
class Cone:
    """The law of one contact.

    Attributes:
        normal: n.
        friction: mu.
        R_n, R_t: regularisations [1/kg].
        wanted: normal velocity v*_n at the step's end without force.
        torsional, rolling: lengths of the slips of turning over that of the points [m].
    """

    normal: Vector3
    friction: Scalar
    R_n: Scalar
    R_t: Scalar
    wanted: Scalar
    torsional: Scalar
    rolling: Scalar

    @staticmethod
    def of(contact: Contact, dt: float) -> Cone:
        """Return the law of a contact in a step."""
        material, w = contact.material, contact.inverse_mass
        delay = material.dissipation * maximum(-contact.gap, 0.0)
        R_n = maximum(NEARLY_RIGID * w, 1.0 / (material.stiffness * dt * (dt + delay)))
        wanted = -contact.gap / (dt + delay)
        if not is_zero(material.restitution):
            v_n = contact.normal.dot(contact.velocity.linear)
            hits = logical_and(v_n < -IMPACT, contact.gap + dt * v_n < 0.0)
            wanted = where(hits, maximum(wanted, -material.restitution * v_n), wanted)
            R_n = where(hits, STICKING * w, R_n)
        lengths = (_over(e, material.friction) for e in (material.torsional, material.rolling))
        return Cone(contact.normal, material.friction, R_n, STICKING * w, wanted, *lengths)

    def at(self, twist: Motion) -> Reaction:
        """Return the impulse at a twist of the points, and the part of the cone it is on."""
        v_n = self.normal.dot(twist.linear)
        y_n = (self.wanted - v_n) * (1.0 / self.R_n)
        if is_zero(self.friction):
            return Reaction(self, maximum(y_n, 0.0), Slip(Vector3.zero(), Vector3.zero()), 1.0, False)
        slip = Slip(twist.linear - self.normal * v_n, self._lengths(twist.angular))
        size = slip.norm()
        sticks = size <= (self.friction * self.R_t) * y_n
        slides = maximum((y_n + size * (self.friction / self.R_n)) * self._share, 0.0)
        return Reaction(self, where(sticks, y_n, slides), slip, size, sticks)

    @property
    def _share(self) -> Scalar:
        """1 / (1 + mu m)."""
        return self.R_n / (self.R_n + self.friction * self.friction * self.R_t)

    def _lengths(self, w: Vector3) -> Vector3:
        """Return (a n n^T + b (1 - n n^T)) w."""
        if is_zero(self.torsional) and is_zero(self.rolling):
            return Vector3.zero()
        return w * self.rolling + self.normal * (self.normal.dot(w) * (self.torsional - self.rolling))


class Reaction(NamedTuple):
    """The impulse of a contact at a twist.

    Attributes:
        law: whose it is.
        normal: g_n.
        slip: of the points and of turning.
        size: of the slip.
        sticks: whether it is inside the cone.
    """

    law: Cone
    normal: Scalar
    slip: Slip
    size: Scalar
    sticks: Scalar

    @property
    def _drag(self) -> Scalar:
        """|g_t| / |slip|, of one sliding; at most 1 / R_t."""
        law = self.law
        return where(self.sticks, 1.0 / law.R_t, law.friction * self.normal / self.size)

    @property
    def impulse(self) -> Force:
        """The impulse g, as a wrench at the point."""
        n = self.law.normal * self.normal
        if is_zero(self.law.friction):
            return Force(n, Vector3.zero())
        drag, law = self._drag, self.law
        return Force(n - self.slip.linear * drag, law._lengths(self.slip.angular) * -drag)

    @property
    def impedance(self) -> ArticulatedInertia:
        """-dg / d(twist), symmetric and not negative.

        With t the slip's direction: 1/R_n n n^T + 1/R_t (1 - n n^T) where it sticks; where it slides,
        drag (1 - n n^T - t t^T) + share / R_n (n - mu t)(n - mu t)^T.
        """
        law, n = self.law, self.law.normal
        touches = self.normal > 0.0
        if is_zero(law.friction):
            return _square(Force(n, Vector3.zero()), where(touches, 1.0 / law.R_n, 0.0))
        drag = where(touches, self._drag, 0.0)
        along = where(touches, where(self.sticks, 1.0, law._share) / law.R_n, 0.0)
        mu = where(self.sticks, 0.0, law.friction / self.size)
        t = Force(self.slip.linear, law._lengths(self.slip.angular))
        edge = Force(n, Vector3.zero()) - t * mu
        across = where(self.sticks, 0.0, -drag / (self.size * self.size))
        return self._everywhere(drag) + _square(edge, along) + _square(t, across)

    def _everywhere(self, drag: Scalar) -> ArticulatedInertia:
        """Return drag (1 - n n^T) on all components of slip."""
        law = self.law
        normal = Symmetric3.outer_square(law.normal)
        across = Symmetric3.isotropic(1.0) - normal
        turning = across * (law.rolling * law.rolling) + normal * (law.torsional * law.torsional)
        return ArticulatedInertia(across * drag, Matrix3.zero(), turning * drag)


def _square(force: Force, factor: Scalar) -> ArticulatedInertia:
    """Return factor f f^T."""
    f, m = force
    outer = (f * factor).outer(m)
    return ArticulatedInertia(Symmetric3.outer_square(f) * factor, outer, Symmetric3.outer_square(m) * factor)


def _over(length: Scalar, friction: Scalar) -> Scalar:
    """Return a length in parts of the friction; 0 of a surface without."""
    return 0.0 if is_zero(length) or is_zero(friction) else length / friction
