"""Impulses of rigid contact, one contact after the other, and those to begin with.

    u = u_free + G g,    G = J M^-1 J^T              velocities at the contacts
    g_n >= 0,  u_n >= u*,  |g_t| <= mu g_n

Contact after contact is taken: the normal impulse that makes u_n = u* there, if it pushes; then the tangential one
towards u_t = 0, shortened to the cone. Sweeps converge linearly: they hand a load on by one contact each, and by the
ratio of two masses each where what is heavy rests on what is light. So they begin where Newton's method is after a few
iterations on the convex problem of `cone`, with both regularisations a small part of the inverse mass that is felt:

    (A + J^T W J) d = J^T W (v* - u),   g = W (v* - u - J d)      u the velocities without contact, d what is changed

with A what impulses along v meet, and have only what rounding and regularisation leave to do.

Source: Jourdan, Alart and Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998);
`contact/convex.py` for the impulses to begin with.
Cost: a factorisation in each of `ITERATIONS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import maximum, minimum, sqrt, where
from cardan._algebra.spatial import Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.proximal import is_double
from cardan._motion.contact.cone import SMALL, STICKING, FrictionCone, worst_error
from cardan._motion.contact.equation import JointEquation, OnJoints, Response
from cardan._motion.contact.point import Contact

# Of the impulses to begin with. Half of them let one stack of four in a thousand steps go astray, of 48 that began with
# small random velocities.
ITERATIONS = 8
# R_n / w, the regularisation of a nearly rigid contact, in double and single precision; R_t is that of `cone`, with a
# smaller one points of one body jam.
DOUBLE, SINGLE = 1e-6, 1e-3
# The difference of two eigenvalues, relative to their sum, that counts as 0: there its root has no derivative.
ISOTROPIC = 1e-4


class Point(NamedTuple):
    """A contact as a sweep sees it: n, mu, u*, and how far impulses go for a velocity along n and across it.

    Across, that is the inverse of the larger eigenvalue of G there: the longest step that overshoots in no direction.
    """

    normal: Vector3
    friction: Scalar
    wanted: Scalar
    along: Scalar
    across: Scalar

    @staticmethod
    def of(contact: Contact, G: Matrix3, wanted: Scalar) -> Point:
        n = contact.normal
        G_n = G @ n
        G_nn = n.dot(G_n)
        trace = G.trace() - G_nn  # of G across the normal, whose squares sum to:
        squares = sum((e * e for e in G.entries()), 0.0) - 2.0 * G_n.norm_squared() + G_nn * G_nn
        apart = sqrt(maximum(2.0 * squares - trace * trace, 0.0) + (ISOTROPIC * trace) ** 2)
        return Point(n, contact.material.friction, wanted, _over(G_nn), _over(0.5 * (trace + apart)))

    def impulse(self, g: Vector3, u: Vector3, G: Matrix3) -> Vector3:
        """Return the impulse in place of g, at which the velocity is u."""
        n = self.normal
        before = n.dot(g)
        g_n = maximum(before - (n.dot(u) - self.wanted) * self.along, 0.0)
        u = u + G @ (n * (g_n - before))
        g_t = (g - n * before) - (u - n * n.dot(u)) * self.across
        size = sqrt(g_t.norm_squared() + (SMALL * self.across) ** 2)
        return n * g_n + g_t * minimum(1.0, self.friction * g_n / size)


def _over(G: Scalar) -> Scalar:
    """Return 1 / G; 0 of what cannot move."""
    return where(G > 0.0, 1.0 / where(G > 0.0, G, 1.0), 0.0)  # the inner choice keeps derivatives finite


# --- impulses to begin with ---


class Known(NamedTuple):
    """An estimate: impulses at the contacts, and the twists there with them."""

    impulses: Sequence[Vector3]
    twists: Sequence[Motion]


def first_impulses(
    equation: JointEquation, A: Rows, twists: Sequence[Motion], wanted: Sequence[Scalar], known: Known | None = None
) -> list[Vector3]:
    """Return an impulse for each contact, in its axes, by the twists u and the v* wanted along normals (head)."""
    moment = equation.moment
    known = known or Known([Vector3.zero() for _ in twists], twists)
    if not twists:
        return []
    share = where(is_double(moment.q), DOUBLE, SINGLE)
    laws = []
    for contact, speed in zip(equation.contacts, wanted, strict=True):
        w = contact.inverse_mass
        laws.append(FrictionCone(contact.normal, contact.material.friction, w, w * share, w * STICKING, speed))

    def once(now: Any, impulses: Any) -> tuple[Any, Any]:
        parts = [law.part(law.test(g, u)) for law, g, u in zip(laws, impulses, now, strict=True)]
        responses = [
            Response(law.wrench(part.at(u)), part.impedance) for law, part, u in zip(laws, parts, twists, strict=True)
        ]
        added = equation.together(OnJoints(equation, A, [0.0] * len(A)), responses)
        changed = equation.changes(inverse(moment.model, moment.q, added.A)(added.b))
        now = [u + changed(k) for k, u in enumerate(twists)]
        return now, [part.at(u) for part, u in zip(parts, now, strict=True)]

    start = list(twists), [law.first(u) for law, u in zip(laws, twists, strict=True)]
    now, impulses = repeat(ITERATIONS, once, *start)
    found = [law.wrench(g).linear for law, g in zip(laws, impulses, strict=True)]
    before = [law.components(g) for law, g in zip(laws, known.impulses, strict=True)]
    # Those known, if they are better: an iteration need not converge.
    better = worst_error(laws, impulses, now) < worst_error(laws, before, known.twists)
    pairs = zip(found, known.impulses, strict=True)
    return [Vector3(*(where(better, new, old) for new, old in zip(*both, strict=True))) for both in pairs]
