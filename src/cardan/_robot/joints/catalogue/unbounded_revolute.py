"""The revolute joint without a seam: the angle as a point on the unit circle."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.manifolds import UnitComplex
from cardan._algebra.manifolds.unit_complex import Order
from cardan._algebra.scalar import cos, sin
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.rotations import angle_about_axis, matrix_about_axis
from cardan._robot.joints.joint import Axis, ConstantSubspaceJoint, Scalars, computed


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
