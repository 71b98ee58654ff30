"""Joints about or along one axis: revolute, prismatic, helical and cylindrical ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cardan._algebra.by_fields import computed
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean, UnitComplex
from cardan._algebra.manifolds.plane import Order
from cardan._algebra.scalar import absolute, cos, floor, is_finite, sin, where
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, matrix_about_axis, rotation_about_axis
from cardan._robot.joints.coordinate_functions import finite_numbers, polynomial
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Joint, Scalars
from cardan._robot.joints.quantities import unwrap_angle


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


TURNS = 8


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
