"""Hard contact: impulses that leave no rate of penetration, by projected Gauss-Seidel on the Delassus matrix.

    u = u_free + G g,    G = J (M + W)^-1 J^T        velocities at the contacts
    g_n >= 0,  u_n >= u*,  |g_t| <= mu g_n           u* closes the gap, or opens a share of the depth

A sweep takes contact after contact: the normal impulse that makes u_n = u* there, if it pushes; then the tangential one
towards u_t = 0, shortened to the cone. Sweeps converge linearly, slowly where contacts bear one another: they begin
with the impulses of nearly rigid contacts (`first_impulses`).

Source: Jourdan, Alart and Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998).
Cost: a factorisation, 9 n^2 / 2 entries of G for n contacts, 18 n^2 operations a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cardan._algebra.arrays.repeat import repeat
from cardan._algebra.scalar import is_zero, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Force, Matrix3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.drives import JointForces, Lines
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import Rows, dot
from cardan._dynamics.algorithms.stepping import Solved
from cardan._motion.contact.cone import SMALL, rebound
from cardan._motion.contact.equation import Change, JointEquation
from cardan._motion.contact.first_impulses import first_impulses
from cardan._motion.contact.point import Contact

SWEEPS = 15
ISOTROPIC = 1e-4
"""The difference of two eigenvalues, relative to their sum, that is none: at 0 it would have no derivative."""
RECOVERED = 0.1
"""Which share of a depth a step opens: the whole of it would throw bodies that were put into one another."""


def projected(
    moment: Snapshot,
    elements: JointForces,
    contacts: Sequence[Contact],
    dt: float,
    iterations: int | None = None,
) -> Solved:
    """Return the accelerations of an implicit step.

    Args:
        moment: the state.
        elements: the forces along the joints; where they are on their lines is decided before contacts are felt.
        contacts: what touches, or may.
        dt: the step.
        iterations: sweeps; `SWEEPS` by default.
    """
    contacts = [contact.in_tree() for contact in contacts]
    equation = JointEquation(moment, contacts, dt)
    lines, free = _decided(equation, elements)
    A = equation.matrix(elements.total(lines)[1])
    solve = inverse(moment.model, moment.q, A)
    rows = [_rows(J, moment.model.nv) for J in equation.J]
    moved = [[solve(row) for row in at] for at in rows]
    G = [[Matrix3(dot(row, x) for row in at for x in by) for by in moved] for at in rows]
    points = [Point.of(contact, row[k], dt) for k, (contact, row) in enumerate(zip(contacts, G, strict=True))]
    twists = [contact.ahead(dt) + change * dt for contact, change in zip(contacts, free.twists, strict=True)]
    first = first_impulses(equation, A, twists, [point.wanted for point in points])
    impulses, residual = _swept(points, G, [u.linear for u in twists], first, iterations or SWEEPS)
    a = list(free.a)
    for impulse, by in zip(impulses, moved, strict=True):
        for g, x in zip(impulse, by, strict=True):
            a = [e + (g * (1.0 / dt)) * d for e, d in zip(a, x, strict=True)]
    residual = maximum(residual, elements.residual(elements.on(lines, a), a))
    acting = zip(contacts, impulses, strict=True)
    wrenches = [contact.on_node(Force(impulse * (1.0 / dt), Vector3.zero())) for contact, impulse in acting]
    return Solved(Accelerations(a, moment.changes(a)), residual, wrenches)


def _decided(equation: JointEquation, elements: JointForces) -> tuple[Lines, Change]:
    """Return the lines of the elements after two passes without contact, and the accelerations on them."""
    lines = elements.linear()
    first = equation.solve(elements.total(lines), ())
    lines = elements.linear(elements.on(lines, first.a), first.a)
    return lines, equation.solve(elements.total(lines), ())


def _rows(J: dict[int, Motion], nv: int) -> Rows:
    """Return the three rows of the points' velocity."""
    return [[J[j].linear[k] if j in J else 0.0 for j in range(nv)] for k in range(3)]


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
        wanted = where(contact.gap > 0.0, -contact.gap, -RECOVERED * contact.gap) * (1.0 / dt)
        if not is_zero(contact.material.restitution):
            hits, leaving = rebound(contact, dt)
            wanted = where(hits, maximum(wanted, leaving), wanted)
        return Point.wanting(contact, G, wanted)

    @staticmethod
    def wanting(contact: Contact, G: Matrix3, wanted: Scalar) -> Point:
        """Return a contact with a wanted velocity."""
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


def _swept(
    points: Sequence[Point],
    G: Sequence[Sequence[Matrix3]],
    u: Sequence[Vector3],
    start: Sequence[Vector3],
    sweeps: int,
) -> tuple[list[Vector3], Scalar]:
    """Return the impulses, and the largest change of a velocity that the last sweep made [m/s]."""

    def swept(*before: Vector3) -> tuple[Vector3, ...]:
        impulses = list(before)
        for k, point in enumerate(points):
            here = u[k]
            for by, impulse in zip(G[k], impulses, strict=True):
                here = here + by @ impulse
            impulses[k] = point.impulse(impulses[k], here, G[k][k])
        return tuple(impulses)

    before = repeated(sweeps - 1, swept, start)
    last = repeated(1, swept, before)
    change: Scalar = 0.0
    for k, (old, new) in enumerate(zip(before, last, strict=True)):
        change = maximum(change, (G[k][k] @ (new - old)).norm())
    return last, change


def repeated(count: int, sweep: Callable[..., tuple[Vector3, ...]], impulses: Sequence[Vector3]) -> list[Vector3]:
    """Return the impulses after a number of sweeps."""
    if count == 0 or not impulses:
        return list(impulses)
    if len(impulses) == 1:
        return [repeat(count, lambda impulse: sweep(impulse)[0], *impulses)]
    return list(repeat(count, sweep, *impulses))


def _over(G: Scalar) -> Scalar:
    """Return 1 / G; 0 of what cannot move."""
    return where(G > 0.0, 1.0 / where(G > 0.0, G, 1.0), 0.0)
