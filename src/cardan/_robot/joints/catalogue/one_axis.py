"""Joints about or along one axis: revolute, prismatic, helical and cylindrical ones; and one along a curve of poses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cardan._algebra.by_fields import computed
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.manifolds.plane import Order
from cardan._algebra.scalar import absolute, cos, floor, is_finite, sin, sqrt, where
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, checked_pose, log_se3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, matrix_about_axis, rotation_about_axis
from cardan._robot.joints.coordinate_functions import finite_numbers, polynomial
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Joint, Scalars
from cardan._robot.joints.quantities import unwrap_angle

TURNS = 8  # to either side that are tried for a screw whose pitch varies


@dataclass(frozen=True, slots=True)
class Revolute(ConstantSubspaceJoint):
    """Rotation about a fixed axis. q: angle [rad], v: its rate [rad/s].

    Args:
        axis: direction in the parent (and child) frame; normalised.

    Examples:
        >>> cardan.joints.Revolute(axis=(0.0, 1.0, 0.0)).transform([0.0]).rotation
        ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(1)
    _names_of_q = ("angle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a revolute joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[0]))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(Vector3.zero(), self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return (angle_about_axis(self.axis, X_pc.rotation),)


@dataclass(frozen=True, slots=True)
class UnboundedRevolute(ConstantSubspaceJoint):
    """Rotation about a fixed axis, q a point on the unit circle. v: rate of the angle [rad/s].

    A q off the circle is projected onto it.

    Args:
        axis: direction in the parent (and child) frame; normalised.
        order: `"cos_sin"` for q = (cos, sin), `"sin_cos"` for q = (sin, cos).

    Examples:
        >>> cardan.joints.UnboundedRevolute(axis=(0.0, 0.0, 1.0)).neutral()
        (1.0, 0.0)
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    order: Order = "cos_sin"
    _names_of_v = ("dangle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of an unbounded revolute joint"))
        UnitComplex(self.order)  # refuses an unknown order

    @computed
    def manifold(self) -> UnitComplex:
        """The unit circle."""
        return UnitComplex(self.order)

    def transform(self, q: Scalars) -> SE3:
        return SE3(matrix_about_axis(self.axis, *self.manifold.unit_cos_sin(q)))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(Vector3.zero(), self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        angle = angle_about_axis(self.axis, X_pc.rotation)
        return self.manifold.pack(cos(angle), sin(angle))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.manifold.pack("cos", "sin")


@dataclass(frozen=True, slots=True)
class Prismatic(ConstantSubspaceJoint):
    """Translation along a fixed axis. q: displacement [m], v: its rate [m/s].

    Args:
        axis: direction in the parent (and child) frame; normalised.

    Examples:
        >>> cardan.joints.Prismatic(axis=(0.0, 0.0, 1.0)).transform([0.5]).translation
        (0.0, 0.0, 0.5)
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(1, reach=1.0)
    _names_of_q = ("displacement",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a prismatic joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(translation=self.axis * q[0])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis, Vector3.zero())]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return (self.axis.dot(X_pc.translation),)


@dataclass(frozen=True, slots=True)
class Helical(ConstantSubspaceJoint):
    """Rotation about an axis with a proportional translation along it. q: angle [rad], v: its rate [rad/s].

    Args:
        axis: direction in the parent (and child) frame; normalised.
        pitch: translation per angle [m/rad]; any finite number, negative for a left-handed screw.

    Examples:
        >>> cardan.joints.Helical(axis=(0.0, 0.0, 1.0), pitch=0.01).nv
        1
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    pitch: float = 0.01
    manifold = Euclidean(1)
    _names_of_q = ("angle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a helical joint"))
        if not is_finite(self.pitch):
            raise ParameterError("pitch of a helical joint", got=self.pitch, expected="a finite number [m/rad]")
        object.__setattr__(self, "pitch", float(self.pitch))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[0]), self.axis * (self.pitch * q[0]))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis * self.pitch, self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        """Return the angle; its number of turns is read from the translation."""
        angle = angle_about_axis(self.axis, X_pc.rotation)
        # Without a pitch nothing tells the turns, and the division fails.
        if self.pitch == 0.0:
            return (angle,)
        by_translation = self.axis.dot(X_pc.translation) / self.pitch
        turns = floor((by_translation - angle) / (2.0 * math.pi) + 0.5)
        return (angle + 2.0 * math.pi * turns,)


@dataclass(frozen=True, slots=True)
class Cylindrical(ConstantSubspaceJoint):
    """Translation along an axis and rotation about it. q: displacement [m], angle [rad]; v: their rates.

    The lower pair C: a prismatic and a revolute joint on one axis, in either order.

    Source: Reuleaux, Theoretische Kinematik (1875); Featherstone (2008), table 4.1.

    Args:
        axis: direction in the parent (and child) frame; normalised.

    Examples:
        >>> cardan.joints.Cylindrical(axis=(0.0, 0.0, 1.0)).nv
        2
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    manifold = Euclidean(2, reach=(1.0, math.pi))
    _names_of_q = ("displacement", "angle")

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a cylindrical joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[1]), self.axis * q[0])

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis, Vector3.zero()), Motion(Vector3.zero(), self.axis)]

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return self.axis.dot(X_pc.translation), angle_about_axis(self.axis, X_pc.rotation)


@dataclass(frozen=True, slots=True)
class VariableScrew(Joint):
    """Rotation about an axis with a translation whose pitch depends on the angle. q: angle [rad], v: its rate [rad/s].

    pitch(q) = h_0 + h_1 q + h_2 q^2 + ..., and the translation is its integral from 0 to q. If the pitch vanishes, the
    joint only turns. It is never singular.

    Throughout:
        angle: [rad].

    Source: the screw pair of Featherstone (2008), table 4.1, with a pitch h(q) in place of h.

    Args:
        axis: direction in the parent (and child) frame; normalised.
        pitch: the coefficients h_0 [m/rad], h_1 [m/rad^2], ..., at least one; one alone is the helical joint.

    Examples:
        >>> bolt = cardan.joints.VariableScrew(axis=(0.0, 0.0, 1.0), pitch=(0.01, 0.002))
        >>> round(bolt.translation(1.0), 12)
        0.011
    """

    axis: Axis = Vector3(0.0, 0.0, 1.0)
    pitch: Sequence[float] = (0.01,)
    manifold = Euclidean(1)
    _names_of_q = ("angle",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis of a variable screw joint"))
        object.__setattr__(self, "pitch", finite_numbers(self.pitch, "pitch of a variable screw joint"))

    def transform(self, q: Scalars) -> SE3:
        return SE3(rotation_about_axis(self.axis, q[0]), self.axis * self.translation(q[0]))

    def translation(self, angle: Scalar) -> Scalar:
        """Return the translation along the axis [m], the integral of the pitch."""
        return angle * polynomial([h / (k + 1) for k, h in enumerate(self.pitch)], angle)

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        return [Motion(self.axis * polynomial(self.pitch, q[0]), self.axis)]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return the axis times (dh/dq) v^2."""
        slope = polynomial([k * h for k, h in enumerate(self.pitch)][1:] or [0.0], q[0])
        return Motion(self.axis * (slope * (v[0] * v[0])), Vector3.zero())

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return the angle; of the 17 turns around `near`, or zero, it is in the one that fits the translation best."""
        angle, wanted = angle_about_axis(self.axis, X_pc.rotation), self.axis.dot(X_pc.translation)
        angle = angle if near is None else unwrap_angle(angle, near[0])
        best, error = angle, absolute(self.translation(angle) - wanted)
        # The translation is a polynomial of the angle, whose inverse has no closed form: the turns are tried.
        for turns in (sign * k for k in range(1, TURNS + 1) for sign in (1, -1)):
            other = angle + 2.0 * math.pi * turns
            distance = absolute(self.translation(other) - wanted)
            better = distance < error
            best, error = where(better, other, best), where(better, distance, error)
        return (best,)


@dataclass(frozen=True, slots=True)
class Spline(Joint):
    """Motion along a curve in SE(3). q: the curve's parameter [the unit of `span`], v: its rate.

    The curve is the cumulative cubic B-spline X = T_0 exp(w_1(q) V_1) ... exp(w_n(q) V_n), V_k = log(T_{k-1}^-1 T_k),
    with uniform knots and natural ends. The first and last screw V are continued by one more frame, so the curve starts
    in T_0, ends in T_n, and has no second derivative there. Outside the span the curve continues along those screws at
    constant speed. It is twice continuously differentiable everywhere. It approaches the frames between and does not
    reach them. Frames at equal steps along one screw give that screw. Singular only if frames turn back, so that the
    curve halts.

    Source: Lee and Terzopoulos, Spline joints for multibody dynamics (2008); the cumulative form after Kim, Kim and
    Shin, A general construction scheme for unit quaternion curves (1995), section 4.

    Args:
        frames: the control frames T_0, ..., T_n in the parent frame, at least two, each turned by less than pi.
        span: the coordinate [of any unit] at the first and at the last frame; 0 and 1 by default.

    Examples:
        >>> rail = cardan.joints.Spline([cardan.SE3(translation=(x, 0.0, 0.0)) for x in (0.0, 0.5, 1.0)])
        >>> rail.transform([0.0]).translation
        (0.0, 0.0, 0.0)
    """

    frames: Sequence[SE3]
    span: tuple[float, float] = (0.0, 1.0)
    _names_of_q = ("parameter",)

    def __post_init__(self) -> None:
        frames = tuple(checked_pose(f"frame {k} of a spline joint", T) for k, T in enumerate(self.frames))
        span = finite_numbers(self.span, "span of a spline joint", 2)
        if len(frames) < 2:
            raise ParameterError("frames of a spline joint", got=frames, expected="at least two poses")
        if len(span) != 2 or not span[0] < span[1]:
            raise ParameterError("span of a spline joint", got=span, expected="two numbers, increasing")
        object.__setattr__(self, "frames", frames)
        object.__setattr__(self, "span", span)
        for k, V in enumerate(self.screws):
            # Less than 1e-9 is no direction. Near half a turn (3.14) the logarithm has two answers.
            if max(map(abs, V.scalars())) < 1e-9 or V.angular.norm_squared() > 3.14**2:
                got = f"frames {k} and {k + 1}, apart by {V.scalars()}"
                expected = "neighbours that differ, by less than half a turn"
                raise ParameterError("frames of a spline joint", got=got, expected=expected)

    @property
    def screws(self) -> tuple[Motion, ...]:
        """The twists V_k from each control frame to the next."""
        return tuple(log_se3(a.inverse() @ b) for a, b in pairwise(self.frames))

    @computed
    def manifold(self) -> Euclidean:
        """One number, sampled as far as the span's ends."""
        return Euclidean(1, reach=max(map(abs, self.span)))

    def transform(self, q: Scalars) -> SE3:
        n, (first, last) = len(self.frames) - 1, self.span
        t = (q[0] - first) * (n / (last - first))
        X = self.frames[0]
        for k, V in enumerate(self.screws):
            X = X @ _along(V, _weight(t - float(k), at_start=k == 0, at_end=k == n - 1))
        return X


def _weight(u: Scalar, *, at_start: bool, at_end: bool) -> Scalar:
    """Return how much of the screw from frame k to k + 1 is done, u frames behind frame k."""
    # The weights sum the basis functions from frame k + 1 on; natural ends make the first and the last linear outside.
    if at_start and at_end:
        return u
    if at_end:
        return 1.0 - _weight(1.0 - u, at_start=True, at_end=False)
    ending = where(u < 2.0, 1.0 - (2.0 - u) * (2.0 - u) * (2.0 - u) / 6.0, 1.0)
    if at_start:
        return where(u < 0.0, u, where(u < 1.0, u - u * u * u / 6.0, ending))
    beginning = where(u < -1.0, 0.0, (u + 1.0) * (u + 1.0) * (u + 1.0) / 6.0)
    middle = (1.0 + 3.0 * u * (1.0 + u) - 2.0 * u * u * u) / 6.0
    return where(u < 0.0, beginning, where(u < 1.0, middle, ending))


def _along(V: Motion, w: Scalar) -> SE3:
    """Return exp(w V) of a constant twist V: a screw motion."""
    angle = sqrt(V.angular.norm_squared())
    if angle == 0.0:
        return SE3(translation=V.linear * w)
    axis, half = V.angular * (1.0 / angle), sin(0.5 * angle * w)
    along = axis * axis.dot(V.linear)
    sideways = (V.linear - along) * (sin(angle * w) / angle)
    bent = axis.cross(V.linear) * (2.0 * half * half / angle)
    return SE3(rotation_about_axis(axis, angle * w), along * w + sideways + bent)
