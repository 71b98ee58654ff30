"""Rotations and their charts: quaternion (x, y, z, w), rotation vector, modified Rodrigues parameters, Euler angles.

Every function takes and returns scalars of any type; a rotation matrix R maps body coordinates to outer coordinates.
Charts that are given an array of numbers, a batch of shape (..., 4), (..., 3) or (..., 3, 3), return such an array.
Charts that need a unit norm are projected: the matrix of a quaternion is that of the quaternion divided by its norm,
so it is a rotation whatever the norm (NaN for the zero quaternion).

Source: Shuster, A survey of attitude representations (1993); Schaub and Junkins, Stereographic orientation parameters
(1996); Sola et al., A micro Lie theory (2018).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import DTypeError
from cardan._algebra.scalar import Scalar, atan2, cos, divide, floor, sin, sqrt, where
from cardan._algebra.spatial.composition import noted
from cardan._algebra.spatial.stumpff import stumpff
from cardan._algebra.spatial.vector import Matrix3, Symmetric3, Vector3, components

Quaternion = tuple[Scalar, Scalar, Scalar, Scalar]


# --- arrays ------------------------------------------------------------------------------------------------------


def _on_arrays(**cores: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function of scalars take arrays of numbers, (..., *core) for each argument; then it returns one, too.

    An array of symbols is one state, and its result the spatial object: a joint's transform composes these.
    """

    def made(of_scalars: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(of_scalars)

        @functools.wraps(of_scalars)
        def of_any(*args: Any, **kwargs: Any) -> Any:
            if not any(map(_is_batch, (*args, *kwargs.values()))):
                return of_scalars(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            return stack(of_scalars(*(_entries(name, value, cores[name]) for name, value in given.items())))

        return of_any

    return made


def _is_batch(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype != object


def _entries(name: str, value: Any, core: tuple[int, ...]) -> Any:
    """Return an array of numbers as its entries, each a batch; what is none stays as it is."""
    if not _is_batch(value):
        return value
    if value.dtype.kind not in "fiu":
        raise DTypeError("cardan.spatial.rotations", name, got=f"of dtype {value.dtype}", expected="real numbers")
    numbers = value if value.dtype.kind == "f" else value.astype(float)
    return Matrix3.of(numbers, name) if core == (3, 3) else components(numbers, core, name)


# --- about an axis -----------------------------------------------------------------------------------------------


def matrix_about_axis(axis: Sequence[Scalar], cosine: Scalar, sine: Scalar) -> Matrix3:
    """Return the rotation about a unit axis u from the cosine and sine of the angle (Rodrigues).

    R = 1 + s [u] + (1 - c) [u]^2, written as c 1 + s [u] + (1 - c) u u^T so that an axis of zeros and ones folds.
    """
    u = Vector3.of(axis)
    along = Symmetric3.outer_square(u)
    entries = (Symmetric3.isotropic(1.0) - along) * cosine + along
    return entries.matrix() + u.skew() * sine


def rotation_about_axis(axis: Sequence[Scalar], angle: Scalar) -> Matrix3:
    """Return the rotation by `angle` [rad] about a unit axis."""
    return matrix_about_axis(axis, cos(angle), sin(angle))


def angle_about_axis(axis: Any, R: Matrix3) -> Scalar:
    """Return the angle in [-pi, pi] of the rotation about `axis` nearest to R."""
    u, R = Vector3.of(axis), Matrix3.of(R)
    return atan2(2.0 * u.dot(R.axial()), R.trace() - u.dot(R @ u))


# --- unit quaternions (x, y, z, w) -------------------------------------------------------------------------------


@_on_arrays(a=(4,), b=(4,))
def quaternion_multiply_xyzw(a: Sequence[Scalar], b: Sequence[Scalar]) -> Quaternion:
    """Return the quaternion of the composed rotation R(a) R(b)."""
    u, v = Vector3(*a[:3]), Vector3(*b[:3])
    x, y, z = v * a[3] + u * b[3] + u.cross(v)
    return x, y, z, a[3] * b[3] - u.dot(v)


@_on_arrays(q=(4,))
def quaternion_conjugate_xyzw(q: Sequence[Scalar]) -> Quaternion:
    """Return (-x, -y, -z, w): the inverse of a unit quaternion."""
    return -q[0], -q[1], -q[2], q[3]


@_on_arrays(q=(4,))
def quaternion_normalize_xyzw(q: Sequence[Scalar]) -> Quaternion:
    """Return q divided by its norm."""
    x, y, z, w = q
    scale = divide(1.0, sqrt(x * x + y * y + z * z + w * w))
    return x * scale, y * scale, z * scale, w * scale


@_on_arrays(q=(4,))
def quaternion_canonical_xyzw(q: Sequence[Scalar]) -> Quaternion:
    """Return the one of q and -q that has w >= 0."""
    negative = q[3] < 0.0
    return tuple(where(negative, -e, e) for e in q)


@_on_arrays(q=(4,))
def matrix_from_quaternion_xyzw(q: Sequence[Scalar]) -> Matrix3:
    """Return the rotation of q / |q|."""
    x, y, z, w = q
    s = divide(2.0, x * x + y * y + z * z + w * w)  # by |q|^2, not 1: R is a rotation whatever the norm
    xs, ys, zs = x * s, y * s, z * s
    xx, yy, zz = x * xs, y * ys, z * zs
    xy, xz, yz, wx, wy, wz = x * ys, x * zs, y * zs, w * xs, w * ys, w * zs
    return Matrix3(
        (1.0 - (yy + zz), xy - wz, xz + wy, xy + wz, 1.0 - (xx + zz), yz - wx, xz - wy, yz + wx, 1.0 - (xx + yy))
    )


@_on_arrays(R=(3, 3))
def quaternion_xyzw_from_matrix(R: Matrix3) -> Quaternion:
    """Return the unit quaternion of R with w >= 0, accurate for every rotation.

    Of the rows of 4 q q^T one of a large component is taken: of x and y if they are more than z and w, which the sign
    of R's last entry tells, and of these two the larger.

    Source: Shepperd, Quaternion from rotation matrix (1978), with Day's order of questions.
    """
    (m00, m01, m02), (m10, m11, m12), (m20, m21, m22) = R
    a, b, c = m21 - m12, m02 - m20, m10 - m01
    d, e, f = m01 + m10, m02 + m20, m12 + m21
    difference, total = m00 - m11, m00 + m11
    of_rest, of_last = 1.0 - m22, 1.0 + m22
    by_x, by_y = (of_rest + difference, d, e, a), (d, of_rest - difference, f, b)
    by_z, by_w = (e, f, of_last - total, c), (a, b, c, of_last + total)
    of_xy, of_zw = _choose(difference >= 0.0, by_x, by_y), _choose(total >= 0.0, by_w, by_z)
    x, y, z, w = _choose(m22 < 0.0, of_xy, of_zw)
    size = sqrt(x * x + y * y + z * z + w * w)  # 4 |q_k|, and |q_k| >= 1/2: at least 2, for every rotation
    inverse = 1.0 / where(w < 0.0, -size, size)
    return x * inverse, y * inverse, z * inverse, w * inverse


def _choose(condition: Any, a: Quaternion, b: Quaternion) -> Quaternion:
    return tuple(where(condition, x, y) for x, y in zip(a, b, strict=True))


# --- rotation vectors (axis times angle) -------------------------------------------------------------------------


@_on_arrays(phi=(3,))
def quaternion_xyzw_from_rotation_vector(phi: Sequence[Scalar]) -> Quaternion:
    """Return the unit quaternion of the rotation by |phi| [rad] about phi."""
    half = Vector3.of(phi) * 0.5
    c0, c1, *_ = stumpff(half.norm_squared())
    x, y, z = half * c1
    return x, y, z, c0


@_on_arrays(q=(4,))
def rotation_vector_from_quaternion_xyzw(q: Sequence[Scalar]) -> Vector3:
    """Return the rotation vector, of length at most pi, of the rotation of q / |q|."""
    x, y, z, w = quaternion_canonical_xyzw(q)
    v = Vector3(x, y, z)
    square = v.norm_squared()
    small = NEAR * square <= w * w
    # Both branches are computed, and derivatives go through both: each gets what it can do with.
    length = sqrt(where(small, 1.0, square))
    cosine = where(small, w, 1.0)
    near = divide(2.0 * _arctangent_ratio(divide(where(small, square, 0.0), cosine * cosine)), cosine)
    return v * where(small, near, 2.0 * atan2(length, w) / length)


TURN = 2.0 * math.pi
NEAR = 64.0  # tan^-2 of half the angle from which atan(t) / t loses nothing to its powers of t^2 on derivatives' way
TERMS = 10  # the first neglected at t^2 = 1 / 64, and what it adds to a third derivative, are below every rounding


def _arctangent_ratio(x: Scalar) -> Scalar:
    """Return atan(t) / t for a small x = t^2."""
    total: Scalar = 0.0
    for n in reversed(range(TERMS)):
        total = 1.0 / (2 * n + 1) - x * total
    return total


@_on_arrays(phi=(3,))
def matrix_from_rotation_vector(phi: Sequence[Scalar]) -> Matrix3:
    """Return exp([phi]) = 1 + c_1 [phi] + c_2 [phi]^2.

    Peers: Pinocchio `exp3`.
    """
    u = Vector3.of(phi)
    _, c1, c2, *_ = stumpff(u.norm_squared())
    square = (Symmetric3.point(u) * -c2).matrix()
    return noted(Matrix3.identity() + square + u.skew() * c1, "exponential", u)


@_on_arrays(R=(3, 3))
def rotation_vector_from_matrix(R: Matrix3) -> Vector3:
    """Return log(R), of length at most pi; accurate for every angle, pi included.

    Peers: Pinocchio `log3`.
    """
    return rotation_vector_from_quaternion_xyzw(quaternion_xyzw_from_matrix(R))


@_on_arrays(phi=(3,), near=(3,))
def rotation_vector_near(phi: Sequence[Scalar], near: Sequence[Scalar]) -> Vector3:
    """Return the rotation vector of the same rotation that is nearest to another, by whole turns along its axis.

    Of no rotation every axis is one: then whole turns are along `near`.
    """
    u, wanted = Vector3.of(phi), Vector3.of(near)
    square = u.norm_squared()
    turned = square > 0.0
    direction = Vector3(*(where(turned, a, b) for a, b in zip(u, wanted, strict=True)))
    other = wanted.norm_squared()
    # If both are 0 there is no direction: with 1 for its length the axis is 0, and finite.
    axis = direction * (1.0 / sqrt(where(turned, square, where(other > 0.0, other, 1.0))))
    return u + axis * (TURN * floor(axis.dot(wanted - u) / TURN + 0.5))


@_on_arrays(phi=(3,))
def right_jacobian(phi: Sequence[Scalar]) -> Matrix3:
    """Return J with: body angular velocity = J d(phi)/dt, for R = exp([phi])."""
    u = Vector3.of(phi)
    _, _, c2, c3, *_ = stumpff(u.norm_squared())
    return Matrix3.identity() - u.skew() * c2 - Symmetric3.point(u).matrix() * c3


@_on_arrays(phi=(3,))
def right_jacobian_inverse(phi: Sequence[Scalar]) -> Matrix3:
    """Return the inverse of `right_jacobian`; singular only at angles 2 pi k, k >= 1."""
    u = Vector3.of(phi)
    _, _, c2, c3, c4, _ = stumpff(u.norm_squared())
    # The last factor is 1/t^2 - (1 + cos t) / (2 t sin t) (Sola, equation 144) without its cancellation at 0.
    return Matrix3.identity() + u.skew() * 0.5 - Symmetric3.point(u).matrix() * (0.5 * (c3 - 2.0 * c4) / c2)


# --- modified Rodrigues parameters: axis tan(angle / 4) ----------------------------------------------------------


@_on_arrays(s=(3,))
def quaternion_xyzw_from_mrp(s: Sequence[Scalar]) -> Quaternion:
    """Return the unit quaternion (2 s, 1 - s.s) / (1 + s.s)."""
    sigma = Vector3.of(s)
    n = sigma.norm_squared()
    x, y, z = sigma * (2.0 / (1.0 + n))
    return x, y, z, (1.0 - n) / (1.0 + n)


@_on_arrays(q=(4,))
def mrp_from_quaternion_xyzw(q: Sequence[Scalar]) -> Vector3:
    """Return the parameters of length at most 1 (angle at most pi) of the rotation of q / |q|."""
    x, y, z, w = quaternion_canonical_xyzw(quaternion_normalize_xyzw(q))
    return Vector3(x, y, z) * (1.0 / (1.0 + w))  # of the two signs this is the one with w >= 0: no division by 0


@_on_arrays(s=(3,))
def matrix_from_mrp(s: Sequence[Scalar]) -> Matrix3:
    """Return 1 + (8 [s]^2 + 4 (1 - s.s) [s]) / (1 + s.s)^2."""
    sigma = Vector3.of(s)
    n = sigma.norm_squared()
    scale = 4.0 / ((1.0 + n) * (1.0 + n))
    square = (Symmetric3.point(sigma) * (-2.0 * scale)).matrix()
    return Matrix3.identity() + square + sigma.skew() * ((1.0 - n) * scale)


@_on_arrays(s=(3,))
def mrp_principal(s: Sequence[Scalar]) -> Vector3:
    """Return s, or its shadow where |s| > 1: parameters of length at most 1."""
    sigma = Vector3.of(s)
    n = sigma.norm_squared()
    outside = n > 1.0
    return sigma * where(outside, -1.0 / where(outside, n, 1.0), 1.0)  # the shadow of 0 would be at infinity


# --- Euler angles ------------------------------------------------------------------------------------------------


def _about(k: int, angle: Scalar) -> Matrix3:
    return rotation_about_axis(tuple(float(i == k) for i in range(3)), angle)


@_on_arrays(angles=(3,))
def matrix_from_zyx(angles: Sequence[Scalar]) -> Matrix3:
    """Return Rz(a) Ry(b) Rx(c) for (a, b, c) = (yaw, pitch, roll)."""
    a, b, c = angles
    return _about(2, a) @ _about(1, b) @ _about(0, c)


@_on_arrays(R=(3, 3))
def zyx_from_matrix(R: Matrix3) -> Vector3:
    """Return (yaw, pitch, roll), pitch in [-pi/2, pi/2]; where that is singular, yaw is 0 and roll carries the rest."""
    (xx, xy, xz), (yx, yy, yz), (zx, _, _) = R
    a = atan2(yx, xx)
    b = atan2(-zx, sqrt(xx * xx + yx * yx))
    ca, sa = cos(a), sin(a)
    # From R with the first turn taken back: zy and zz, which say the angle too, vanish where cos b does.
    return Vector3(a, b, atan2(sa * xz - ca * yz, ca * yy - sa * xy))


@_on_arrays(angles=(3,))
def matrix_from_xyz(angles: Sequence[Scalar]) -> Matrix3:
    """Return Rx(a) Ry(b) Rz(c)."""
    a, b, c = angles
    return _about(0, a) @ _about(1, b) @ _about(2, c)


@_on_arrays(R=(3, 3))
def xyz_from_matrix(R: Matrix3) -> Vector3:
    """Return (a, b, c) with R = Rx(a) Ry(b) Rz(c), b in [-pi/2, pi/2]; where that is singular, a is 0."""
    (_, _, xz), (yx, yy, yz), (zx, zy, zz) = R
    a = atan2(-yz, zz)
    b = atan2(xz, sqrt(yz * yz + zz * zz))
    ca, sa = cos(a), sin(a)
    return Vector3(a, b, atan2(ca * yx + sa * zx, ca * yy + sa * zy))


__all__ = [
    "angle_about_axis", "matrix_about_axis", "matrix_from_mrp", "matrix_from_quaternion_xyzw",
    "matrix_from_rotation_vector", "matrix_from_xyz", "matrix_from_zyx", "mrp_from_quaternion_xyzw", "mrp_principal",
    "quaternion_canonical_xyzw", "quaternion_conjugate_xyzw", "quaternion_multiply_xyzw", "quaternion_normalize_xyzw",
    "quaternion_xyzw_from_matrix", "quaternion_xyzw_from_mrp", "quaternion_xyzw_from_rotation_vector", "right_jacobian",
    "right_jacobian_inverse", "rotation_about_axis", "rotation_vector_from_matrix",
    "rotation_vector_from_quaternion_xyzw", "rotation_vector_near", "xyz_from_matrix", "zyx_from_matrix",
]  # fmt: skip
__dir__ = __all__.copy
