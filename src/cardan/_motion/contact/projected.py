"""Hard contact: impulses that leave no rate of penetration, by projected Gauss-Seidel on the Delassus matrix.

    u = u_free + G g,    G = J (M + W)^-1 J^T        velocities at the contacts
    g_n >= 0,  u_n >= u*,  |g_t| <= mu g_n           u* closes the gap, or opens a share of the depth

A sweep takes contact after contact: the normal impulse that makes u_n = u* there, if it pushes; then the tangential one
towards u_t = 0, shortened to the cone. Sweeps converge linearly: they hand a load on by one contact each, and by the
ratio of two masses each where what is heavy rests on what is light. So they begin where Newton's method is after a few
iterations on the convex problem of `cone`, with both regularisations a small part of the inverse mass that is felt:

    (A + J^T W J) d = J^T W (v* - u),   g = W (v* - u - J d)      u the velocities without contact, d what is changed

with A what impulses along v meet, and have only what rounding and regularisation leave to do.

Source: Jourdan, Alart and Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998);
`convex.py` for the impulses to begin with.
Cost: a factorisation, 9 n^2 / 2 entries of G for n contacts, 18 n^2 operations a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import is_zero, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.drives import JointForces
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import Rows, dot, with_diagonal
from cardan._dynamics.algorithms.proximal import is_double
from cardan._dynamics.algorithms.stepping import Solved
from cardan._motion.contact.cone import RECOVERY, SMALL, STICKING, Cone, rebound, worst_error
from cardan._motion.contact.equation import JointEquation, Response, singles
from cardan._motion.contact.point import Contact

SWEEPS = 15
# Of the impulses to begin with. Half of them let one stack of four in a thousand steps go astray, of 48 that began with
# small random velocities.
ITERATIONS = 8
# R_n / w, the regularisation of a nearly rigid contact, in double and single precision; R_t is that of `cone`, with a
# smaller one points of one body jam.
DOUBLE, SINGLE = 1e-6, 1e-3
# The difference of two eigenvalues, relative to their sum, that counts as 0: there its root has no derivative.
ISOTROPIC = 1e-4
# Which share of a depth a step opens, and no faster than `RECOVERY`: bodies that were put into one another are not
# thrown.
RECOVERED = 0.1


def projected(
    moment: Snapshot, elements: JointForces, contacts: Sequence[Contact], dt: float, iterations: int | None = None
) -> Solved:
    """Return the accelerations of an implicit step after so many sweeps, `SWEEPS` by default."""
    contacts = [contact.in_tree() for contact in contacts]
    equation = JointEquation(moment, singles(contacts), dt)
    # Where the joints' elements are on their lines is decided by two passes without contact.
    lines = elements.linear()
    first, _ = equation.solve(elements.total(lines), ())
    lines = elements.linear(elements.on(lines, first), first)
    a, changed = equation.solve(elements.total(lines), ())
    A = with_diagonal(equation.M, elements.total(lines)[1])
    solve = inverse(moment.model, moment.q, A)
    nv = range(moment.model.nv)
    rows = [[[J[j].linear[k] if j in J else 0.0 for j in nv] for k in range(3)] for J in equation.J]
    changes = [[solve(row) for row in at] for at in rows]  # M^-1 J^T: what an impulse along each axis changes
    G = [[Matrix3(dot(row, x) for row in at for x in by) for by in changes] for at in rows]
    points = [Point.of(contact, row[k], dt) for k, (contact, row) in enumerate(zip(contacts, G, strict=True))]
    twists = [contact.ahead(dt) + changed(k) * dt for k, contact in enumerate(contacts)]
    start = first_impulses(equation, A, twists, [point.wanted for point in points])
    impulses, residual = _sweep(points, G, [u.linear for u in twists], start, iterations or SWEEPS)
    for impulse, by in zip(impulses, changes, strict=True):
        for g, x in zip(impulse, by, strict=True):
            a = [e + (g * (1.0 / dt)) * d for e, d in zip(a, x, strict=True)]
    residual = maximum(residual, elements.residual(elements.on(lines, a), a))
    acting = zip(contacts, impulses, strict=True)
    wrenches = [contact.on_node(Force(impulse * (1.0 / dt), Vector3.zero())) for contact, impulse in acting]
    return Solved(Accelerations(a, moment.changes(a)), residual, wrenches)


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
    def of(contact: Contact, G: Matrix3, dt: float) -> Point:
        """Return a contact that closes its gap, opens a share of its depth, or bounces."""
        opening = minimum(-RECOVERED / dt * contact.gap, RECOVERY)
        wanted = where(contact.gap > 0.0, -contact.gap * (1.0 / dt), opening)
        if not is_zero(contact.material.restitution):
            hits, leaving = rebound(contact, dt)
            wanted = where(hits, maximum(wanted, leaving), wanted)
        return Point.wanting(contact, G, wanted)

    @staticmethod
    def wanting(contact: Contact, G: Matrix3, wanted: Scalar) -> Point:
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


def _sweep(
    points: Sequence[Point], G: Sequence[Sequence[Matrix3]], u: Sequence[Vector3], start: Sequence[Vector3], count: int
) -> tuple[list[Vector3], Scalar]:
    """Return the impulses, and the largest change of a velocity that the last sweep made [m/s]."""

    def once(*before: Vector3) -> tuple[Vector3, ...]:
        impulses = list(before)
        for k, point in enumerate(points):
            here = u[k]
            for by, impulse in zip(G[k], impulses, strict=True):
                here = here + by @ impulse
            impulses[k] = point.impulse(impulses[k], here, G[k][k])
        return tuple(impulses)

    before = _repeat_sweep(count - 1, once, start)
    last = _repeat_sweep(1, once, before)
    change: Scalar = 0.0
    for k, (old, new) in enumerate(zip(before, last, strict=True)):
        change = maximum(change, (G[k][k] @ (new - old)).norm())
    return last, change


def _repeat_sweep(count: int, sweep: Callable[..., tuple[Vector3, ...]], impulses: Sequence[Vector3]) -> list[Vector3]:
    if count == 0 or not impulses:
        return list(impulses)
    if len(impulses) == 1:  # `repeat` takes and gives one value alone
        return [repeat(count, lambda impulse: sweep(impulse)[0], *impulses)]
    return list(repeat(count, sweep, *impulses))


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
        laws.append(Cone(contact.normal, contact.material.friction, w, w * share, w * STICKING, speed))

    def once(now: Any, impulses: Any) -> tuple[Any, Any]:
        parts = [law.part(law.test(g, u)) for law, g, u in zip(laws, impulses, now, strict=True)]
        responses = [
            Response(law.wrench(part.at(u)), part.impedance) for law, part, u in zip(laws, parts, twists, strict=True)
        ]
        K = [list(row) for row in A]
        b: list[Scalar] = [0.0] * len(A)
        equation.add(K, b, equation.together(responses))
        changed = equation.changes(inverse(moment.model, moment.q, K)(b))
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
