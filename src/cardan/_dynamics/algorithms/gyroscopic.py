"""The gyroscopic moment of bodies that turn freely, at the middle of a step instead of at its beginning.

A body that turns about its centre of mass, or about the fixed point of a ball joint, with J about that point obeys

    (1)  J (w' - w) = dt (m - u x J u),   u = (w + w') / 2

under a moment m. That keeps energy and the size of the angular momentum where m = 0; u x J u of the step's beginning
lets both grow as soon as the body turns by some hundredths of a radian in a step. By one step of Newton's method,

    (2)  (J + dt/2 G) d = dt (m - w x J w),   G = [w] J - [J w],   d = w' - w

and what (1) exerts beyond the moment of the beginning is the couple

    (3)  c = -G d / 2 = J d / dt - (m - w x J w)

It is added to the efforts; so recursion, equation of motion and contacts stay symmetric. Of m the weight about the
point is known beforehand; other moments act as without the couple, to the order of the step.

A body turns freely if its joint to the body above has six freedoms, or three that are all turns about one point.
J is that of the body alone: what hangs on it in joints of its own keeps the gyroscopic moment of the beginning.

Source: Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), section IV.2.1: the midpoint rule keeps
quadratic invariants.
Cost: 110 operations a body that turns freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

import numpy as np

from cardan._algebra.scalar import is_zero, where
from cardan._algebra.spatial import Matrix3, Scalar, Symmetric3, Vector3
from cardan._dynamics.algorithms.grouped import own_motion
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._robot.model import Node


def gyroscopic_efforts(moment: Snapshot, dt: float) -> list[Scalar]:
    """Return J^T c along v: what the gyroscopic moments of a step's middle add to those of its beginning."""
    efforts: list[Scalar] = [0.0] * moment.model.nv
    for node in moment.model.nodes:
        couple = gyroscopic_couple(moment, node, dt)
        for j, column in moment.columns(node.index).items() if couple is not None else ():
            efforts[j] = efforts[j] + column.angular.dot(couple)
    return efforts


def gyroscopic_couple(moment: Snapshot, node: Node, dt: float) -> Vector3 | None:
    """Return c of a node's body in its axes; None of one that does not turn freely, or as its inertia says alone."""
    inertia, (S, _) = node.inertia, own_motion(moment.relative.S[node.index])
    about_com = len(S) == 6  # it turns any way: about any point, or about the origin of its frame
    turns = about_com or (len(S) == 3 and all(is_zero(e) for column in S for e in column.linear))
    if not turns or is_zero(inertia.mass):
        return None
    motion = moment.motions[node.index]
    J, w = (inertia.inertia_at_com if about_com else inertia.inertia_at_origin), motion.spin.w
    if not _is_positive(J):
        return None
    size = J[0] + J[3] + J[5]
    unit = where(size != 0.0, 1.0 / size, 0.0)  # of J: determinants of what is small or large leave float32's range
    J = J * unit
    L = J @ w
    rest = w.cross(L)  # w x J w - m
    if not about_com:
        rest = rest + (inertia.first_moment * unit).cross(motion.origin)
    G = Matrix3.from_columns(*(w.cross(column) for column in J.matrix().columns())) - L.skew()
    K = J.matrix() + G * (0.5 * dt)
    return (J @ _solution(K, rest * -1.0) + rest) * size


def _solution(K: Matrix3, b: Vector3) -> Vector3:
    """Return K^-1 b by Cramer's rule; 0 where K is singular."""
    x, y, z = K.columns()
    yz = y.cross(z)
    determinant = x.dot(yz)
    regular = determinant != 0.0
    return Vector3(b.dot(yz), b.dot(z.cross(x)), b.dot(x.cross(y))) * where(regular, 1.0 / determinant, 0.0)


def _is_positive(J: Symmetric3) -> bool:
    """Whether an inertia is positive definite, to rounding; one with symbols counts as that."""
    rows: Sequence[Vector3] = J.matrix().rows()
    # a symbol cannot be compared while tracing
    if not all(isinstance(e, Real) for row in rows for e in row):
        return True
    moments = np.linalg.eigvalsh(np.array([list(row) for row in rows], dtype=float))
    return bool(moments[0] > 1e-12 * moments.sum())
