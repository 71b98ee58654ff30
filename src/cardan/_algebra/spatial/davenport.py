"""Angles of successive rotations about given axes: Euler, Cardan and any other sequence of up to three.

R = exp([a1] q1) exp([a2] q2) exp([a3] q3), each axis carried along by the rotations before it. The angles follow from
where R takes the last axis (Paden and Kahan's subproblems), for axes at any angle to one another.

Source: Murray, Li and Sastry, A Mathematical Introduction to Robotic Manipulation (1994), section 3.3.2; Davenport,
Rotations about nonorthogonal axes (1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2 as float_atan2
from math import hypot, pi

from cardan._algebra.scalar import absolute, atan2, cos, floor, maximum, sqrt, where
from cardan._algebra.spatial.rotations import angle_about_axis, rotation_about_axis
from cardan._algebra.spatial.vector import Matrix3, Scalar, Vector3


def angles_about_axes(axes: Sequence[Vector3], R: Matrix3, near: Sequence[Scalar] | None = None) -> tuple[Scalar, ...]:
    """Return the angles [rad] about up to three unit axes that compose to R.

    Of the two solutions for three axes the one with the smaller middle angle is returned, or the one that is nearer to
    `near`; where the sequence is singular (first and last axis aligned) the first angle is 0. If R
    cannot be composed, the angles of a nearby rotation are returned.
    """
    if not axes:
        return ()
    if len(axes) == 1:
        return (angle_about_axis(axes[0], R),)
    if len(axes) == 2:
        first = _turn(axes[0], axes[1], R @ axes[1])
        return first, angle_about_axis(axes[1], rotation_about_axis(axes[0], -first) @ R)
    a1, a2, a3 = axes  # a1 . R a3 = constant + radius cos(q2 - phase)
    target = R @ a3
    level = a1.dot(target)
    along = a1.dot(a2) * a2.dot(a3)
    in_phase, quadrature = a1.dot(a3) - along, a1.dot(a2.cross(a3))
    radius, phase = hypot(in_phase, quadrature), float_atan2(quadrature, in_phase)
    if abs(a1.dot(a2)) < 1e-12 and abs(a2.dot(a3)) < 1e-12:
        aside = sqrt(a1.cross(target).norm_squared())  # well conditioned even where a1 and R a3 are aligned
    else:
        aside = sqrt(maximum(radius * radius - (level - along) * (level - along), 0.0))
    swing = atan2(aside, level - along)
    one, other = _wrapped(phase + swing), _wrapped(phase - swing)
    if near is None:
        # 1e-12: of two angles as large, rounding must not choose, or the branch would change from state to state.
        return _outer(axes, where(absolute(one) <= absolute(other) + 1e-12, one, other), R)
    solutions = [_outer(axes, second, R) for second in (one, other)]
    agreement = [sum((cos(q - e) for q, e in zip(angles, near, strict=True)), 0.0) for angles in solutions]
    a, b, c = (where(agreement[1] > agreement[0], other, one) for one, other in zip(*solutions, strict=True))
    return a, b, c


def _outer(axes: Sequence[Vector3], second: Scalar, R: Matrix3) -> tuple[Scalar, Scalar, Scalar]:
    """Return all three angles, given the one between."""
    a1, a2, a3 = axes
    first = _turn(a1, rotation_about_axis(a2, second) @ a3, R @ a3)
    rest = rotation_about_axis(a2, -second) @ rotation_about_axis(a1, -first) @ R
    return first, second, angle_about_axis(a3, rest)


def other_branch(angles: Sequence[Scalar], near: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return angles (a, b, c) about orthogonal axes, |b| <= pi/2, or (a + pi, pi - b, c + pi) if those are nearer.

    They are if the sum of the cosines of what they are away from `near` is larger.
    """
    a, b, c = angles
    farther = cos(a - near[0]) + cos(b) * cos(near[1]) + cos(c - near[2]) < 0.0
    return tuple(where(farther, other, own) for own, other in ((a, a + pi), (b, pi - b), (c, c + pi)))


def _turn(axis: Vector3, start: Vector3, end: Vector3) -> Scalar:
    """Return the angle about `axis` that brings `start` nearest to `end`; 0 if they lie on the axis.

    Measured between the parts across the axis, which keep their digits however near to the axis both are.
    """
    a, b = start - axis * axis.dot(start), end - axis * axis.dot(end)
    return atan2(axis.dot(a.cross(b)), a.dot(b))


def _wrapped(angle: Scalar) -> Scalar:
    return angle - 2.0 * pi * floor(angle / (2.0 * pi) + 0.5)
