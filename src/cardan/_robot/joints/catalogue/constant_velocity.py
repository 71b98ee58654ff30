"""The constant-velocity (homokinetic) joint: two Cardan joints, phased so that both shafts turn alike."""

from __future__ import annotations

from dataclasses import dataclass

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.scalar import atan2, is_zero, sqrt, where
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.davenport import other_branch
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._robot.joints.catalogue.universal import Universal
from cardan._robot.joints.coordinate_functions import finite_numbers
from cardan._robot.joints.joint import Axis, Joint, Scalars
from cardan._robot.joints.serial import Links, chain_bias, chain_subspace, chain_transform


@dataclass(frozen=True, slots=True)
class ConstantVelocity(Joint):
    """Bends about two axes, twice each, without twist. q: two angles of either cross [rad], v: their rates.

    R = R1(q0) R2(2 q1) R1(q0), p = length m, m = R1(q0) R2(q1) a3 and a3 = axis1 x axis2. This is Universal(axis1,
    axis2), the middle shaft m, then Universal(axis2, axis1) with the same angles. The middle shaft bisects the angle
    between the input shaft a3 (parent) and the output shaft R a3. So R turns about an axis normal to a3, and Rot(a3, t)
    R Rot(a3, -t) is again such a bend, for all t. The output shaft therefore turns by the same t as the input. Singular
    at q1 = +-pi/2, a bend by pi.

    Source: Hunt, Constant-velocity shaft couplings: a general theory (1973); Universal Joints and Driveshafts,
    Seherr-Thoss, Schmelz and Aucktor (2006), section 1.2.

    Args:
        axis1: first axis of the first cross, in the parent frame (and last of the second, in the child); normalised.
        axis2: the axis between, orthogonal to the first.
        length: of the middle shaft, between the centres of the crosses [m].

    Examples:
        >>> cardan.joints.ConstantVelocity(length=0.1).nv
        2
    """

    axis1: Axis = Vector3(1.0, 0.0, 0.0)
    axis2: Axis = Vector3(0.0, 1.0, 0.0)
    length: float = 0.0
    manifold = Euclidean(2, reach=1.2)
    _names_of_q = ("bend1", "bend2")

    def __post_init__(self) -> None:
        for name in ("axis1", "axis2"):
            object.__setattr__(self, name, unit_vector(getattr(self, name), f"{name} of a constant-velocity joint"))
        if abs(self.axis1.dot(self.axis2)) > 1e-9:
            axes = (tuple(self.axis1), tuple(self.axis2))
            raise ParameterError("axes of a constant-velocity joint", got=axes, expected="two orthogonal axes")
        (length,) = finite_numbers([self.length], "length of a constant-velocity joint")
        if length < 0.0:
            raise ParameterError("length of a constant-velocity joint", got=length, expected="0 or more [m]")
        object.__setattr__(self, "length", length)

    @property
    def links(self) -> Links:
        """Two universal joints with the middle shaft between, for the coordinates (q0, q1, q1, q0)."""
        # Without a length there is no pose between, and no operation for it.
        shaft = None if is_zero(self.length) else SE3(translation=self.axis1.cross(self.axis2) * self.length)
        return ((Universal(self.axis1, self.axis2), None), (Universal(self.axis2, self.axis1), shaft))

    def transform(self, q: Scalars) -> SE3:
        return chain_transform(self.links, _twice(q))

    def motion_subspace(self, q: Scalars) -> list[Motion]:
        outer, inner, inner_again, outer_again = chain_subspace(self.links, _twice(q))
        return [outer + outer_again, inner + inner_again]

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return chain_bias(self.links, _twice(q), _twice(v))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return the angles: R has the quaternion (cos q1 sin q0, sin q1, 0, cos q1 cos q0) in the joint's axes."""
        *vector, w = quaternion_xyzw_from_matrix(X_pc.rotation)
        x, y = (axis.dot(vector) for axis in (self.axis1, self.axis2))
        ahead = self.axis1 * y - self.axis2 * x + self.axis1.cross(self.axis2) * w
        # Both signs of the quaternion are the same bend; of the two, the middle shaft points forward in one.
        sign = where(ahead.dot(X_pc.translation) * self.length < 0.0, -1.0, 1.0)
        outer, inner = atan2(sign * x, sign * w), atan2(sign * y, sqrt(x * x + w * w))
        return (outer, inner) if near is None else other_branch((outer, inner, outer), (*near, near[0]))[:2]


def _twice(q: Scalars) -> Scalars:
    """Return the coordinates of both crosses."""
    return q[0], q[1], q[1], q[0]
