"""Legs of a cluster: joints whose motion follows from the twist of one body, the platform P, that they hold.

If all coordinates x of one side of a loop depend, and those of the other side, which move P, do not, then

    (1)  dx/dt = A V_P,    A = -K_d^-1 T^T X^-1

with T the wrenches that the closing joint resists, in its own frame, X the pose of that frame in P, and V_P relative to
the body at which the two sides fork. A platform moved by at least six coordinates has no more numbers in V_P than in
these, and A is shorter than G = A dV_P/dv: a ball joint has three forces in T. With M the mass matrix of the leg alone,
and p what its own forces ask of x, P feels of a leg on the world

    (2)  A^T M A = X (T K_d^-T M K_d^-1 T^T),    A^T p

So a leg is eliminated in its own axes, and joints that move P are those of a tree (`grouped`).

Source: Khalil and Ibrahim, General solution for the dynamic modeling of parallel robots (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Inertia, Motion, MotionSubspace, Scalar
from cardan._dynamics.algorithms.linear import Rows, combined, ranges
from cardan._dynamics.algorithms.loops import Loop, Side
from cardan._dynamics.algorithms.tree import Relative, Vector
from cardan._robot.joints.catalogue.of_another import SubspaceOfFollower

TWIST = 6


class Leg(NamedTuple):
    mover: Side  # what moves P
    T: list[Force]
    X: SE3  # of the axes of T in P's
    rows: range  # of T in K
    inverse: dict[int, list[Scalar]]  # -K_d^-1: for each coordinate of the leg, along T

    def opening(self, relative: Relative, v: Vector) -> list[Scalar]:
        """Return T^T X^-1 V_P: by how much P opens the loop at velocities v."""
        V = self.X.inverse_act(self.mover.twist(relative, v))
        return [wrench.dot(V) for wrench in self.T]

    def felt(self, L: Rows, f: Vector) -> tuple[ArticulatedInertia, Force]:
        """Return what P feels (2) of an inertia and forces along T."""
        inertia = Inertia.zero().articulated()
        for wrench, row in zip(self.T, L, strict=True):
            inertia = inertia.minus_outer(wrench * -1.0, combined(self.T, row))
        return self.X @ inertia, self.X @ combined(self.T, f)


def legs(loops: Sequence[Loop], squares: Sequence[Any], inverses: Sequence[Rows]) -> Iterator[Leg]:
    """Yield the legs of a cluster, of the squares of K_d and their -K_d^-1."""
    dependent = {j for square in squares for j in square.columns}
    for loop, rows in zip(loops, ranges(len(loop.T) for loop in loops), strict=True):
        inverse = {
            j: [dict(zip(square.rows, row, strict=True)).get(i, 0.0) for i in rows]
            for square, found in zip(squares, inverses, strict=True)
            for j, row in zip(square.columns, found, strict=True)
            if square.rows[0] in rows and set(square.rows) <= set(rows)
        }
        for side, mover, X, sign in (
            (loop.child, loop.parent, loop.in_parent, -1.0),
            (loop.parent, loop.child, loop.child.frame, 1.0),
        ):
            moving = _coordinates(mover)
            if _coordinates(side) == set(inverse) and len(moving) >= TWIST and moving.isdisjoint(dependent):
                yield Leg(mover, [wrench * sign for wrench in loop.T], X, rows, inverse)


def _coordinates(side: Side) -> set[int]:
    return {j for node in side.nodes for j in node.v}


class SubspaceInLeg(SubspaceOfFollower):
    """That of a joint of a leg: S @ v goes by the twist of P."""

    leg: Leg
    inverse: Rows  # of -K_d^-1, along T, for the joint's coordinates
    platform: tuple[int, ...]  # which of the independent velocities are those of the joint that moves P
    rates: Callable[[Vector], Sequence[Scalar]]  # dx/dt of the joint

    def __new__(cls, S: MotionSubspace, G: Rows, *place: Any) -> SubspaceInLeg:
        found: Any = super().__new__(cls, S, G)
        found.leg, found.inverse, found.platform, found.rates = place
        return found

    def __matmul__(self, v: Vector) -> Motion:
        return self.S @ self.rates(v)
