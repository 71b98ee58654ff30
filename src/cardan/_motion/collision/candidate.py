"""A candidate for contact, and the few scalar tools all pairs of shapes share.

A pair of shapes has a fixed number of candidates, whatever their poses, and its page chooses by `where` alone: so
it is traced once and compiled. A candidate that does not exist in a pose (a corner clipped away) has the gap `FAR`.

    gap > 0     the two surfaces are that far apart at this candidate
    gap < 0     they overlap, and moving shape A by -gap along the normal parts them there

The point is on the surface of A, that of B faces it at `point - gap normal`. Both, and the normal, are in A's frame:
the place where the dynamics of A's body wants a force, and where most of the numbers are constants of the shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.scalar import absolute, minimum, sqrt, where
from cardan._algebra.spatial import SE3, Scalar, Vector3
from cardan._dynamics.algorithms.proximal import is_double

# The gap [m] of a candidate that does not exist: beyond any robot, and its square is still a number in float32.
FAR = 1e9
# Squared distance [m^2] below which two points are one: the direction between them is rounding alone.
COINCIDENT = 1e-30
# A component of a unit vector, or a squared sine, that counts as 0: far above what rounding leaves of 1 (2e-16).
PARALLEL = 1e-12
# What rounding leaves of a separation along a face's normal, relative to the sizes, in double and single precision.
# Along a product of two axes, which is divided by their sine, it is that over the sine.
ROUNDING = 1e-15, 5e-7

ASKEW = Vector3(0.36, 0.48, 0.8)  # no edge of a box is across it: each corner of a face has its own side
X, Y, Z = (Vector3(*row) for row in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


class Candidate(NamedTuple):
    """Where two shapes A and B touch, or nearly."""

    gap: Scalar  # distance of the surfaces along the normal [m], negative where they overlap; `FAR` if there is none
    point: Vector3  # on the surface of A, in A's frame [m]
    normal: Vector3  # unit vector from B to A, in A's frame: it pushes A away

    def seen_from_b(self, X_ba: SE3) -> Candidate:
        """Return the same candidate for the pair (B, A), X_ba being the pose of A in B."""
        opposite = self.point - self.normal * self.gap
        return Candidate(self.gap, X_ba @ opposite, -(X_ba.rotation @ self.normal))

    def in_metres(self, unit: float) -> Candidate:
        """Return a candidate whose lengths are in a unit [m]: one that does not exist is `far_in(unit)` away."""
        gap = self.gap if unit == 1.0 else where(self.gap >= FAR, far_in(unit), self.gap * unit)
        return Candidate(gap, self.point * unit, self.normal)


NOWHERE = Candidate(FAR, Vector3.zero(), Z)
"""What stands for a candidate of shapes that are out of reach."""


def far_in(unit: float) -> float:
    """Return how far away [m] a candidate is that does not exist, of shapes that are looked at in a unit."""
    return FAR * max(unit, 1.0)


def existing(condition: Any, candidate: Candidate) -> Candidate:
    """Return the candidate, `FAR` away where the condition does not hold."""
    return candidate._replace(gap=where(condition, candidate.gap, FAR))


def any_exists(candidates: Iterable[Candidate]) -> Any:
    """Return whether some candidate is not `FAR` away."""
    return reduce(minimum, (c.gap for c in candidates)) < 0.5 * FAR


def axis_of(X: SE3) -> Vector3:
    """Return the axis z of a capsule, or a plane's normal, from its pose."""
    *_, z = X.rotation.columns()
    return z


def crossings(x: Scalar, d: Scalar, h: Scalar) -> Iterator[Scalar]:
    """Return the t where x + t d is -h and where it is h; both far away if d is nearly 0."""
    moving = absolute(d) > PARALLEL  # else the divisor is 1: with 0, derivatives of what is not used would be NaN
    inverse = where(moving, 1.0 / where(moving, d, 1.0), 1e15)
    return ((side - x) * inverse for side in (-h, h))


def select(condition: Any, a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector3:
    return Vector3(*(where(condition, x, y) for x, y in zip(a, b, strict=True)))


def chosen(condition: Any, one: Any, other: Any) -> Any:
    """Return one or the other, entry by entry of what has parts."""
    if isinstance(one, (tuple, list)):
        parts = [chosen(condition, *both) for both in zip(one, other, strict=True)]
        return parts if isinstance(one, list) else tuple.__new__(type(one), parts)
    return where(condition, one, other)


def in_precision(x: Scalar, double: float, single: float) -> Scalar:
    """Return one of two numbers, for the precision the program runs in, which is seen in any x (`is_double`)."""
    return where(is_double((x,)), double, single)


def across(n: Vector3) -> tuple[Vector3, Vector3]:
    """Return two unit vectors across a unit vector and one another: n, u, v are right-handed."""
    other = select(absolute(n.dot(ASKEW)) < 0.9, ASKEW, Vector3(ASKEW.z, ASKEW.x, -ASKEW.y))
    _, v = length_and_direction(n.cross(other), Z)
    return v.cross(n), v


def length_and_direction(d: Vector3, otherwise: Vector3) -> tuple[Scalar, Vector3]:
    """Return |d| and d / |d|; 0 and the direction `otherwise` where d is nearly none. Derivatives are finite, too."""
    squared = d.norm_squared()
    apart = squared > COINCIDENT
    length = sqrt(where(apart, squared, 1.0))  # the root of 0 has no derivative
    return where(apart, length, 0.0), select(apart, d * (1.0 / length), otherwise)


def between_spheres(d: Vector3, centre: Vector3, radii: tuple[float, float], otherwise: Vector3) -> Candidate:
    """Return the candidate of a sphere of A round `centre` and one of B round `centre - d`."""
    distance, normal = length_and_direction(d, otherwise)
    return Candidate(distance - (radii[0] + radii[1]), centre - normal * radii[0], normal)
