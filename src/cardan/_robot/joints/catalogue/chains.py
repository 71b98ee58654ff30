"""Joints in a row without bodies in between, seen as one: universal, constant-velocity, D6 and composite joints.

    X = P_1 X_1(q_1) P_2 X_2(q_2) ...

S and bias are derived from X, which takes fewer operations than carrying those of each joint to the chain's end.

Source: Featherstone (2008), section 4.4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cardan._algebra.by_fields import computed
from cardan._algebra.checked_numbers import not_negative
from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean, Product
from cardan._algebra.scalar import atan2, is_zero, sqrt, where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3, checked_pose, unit_vector
from cardan._algebra.spatial.davenport import angles_about_axes, other_branch
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._robot.joints.catalogue.free_directions import SphericalZYX, Translation
from cardan._robot.joints.catalogue.one_axis import Cylindrical, Prismatic, Revolute
from cardan._robot.joints.derivation.programs import split
from cardan._robot.joints.joint import Axis, Joint, Scalars
from cardan._robot.joints.limits import Limits, is_bounded

Links = Sequence[tuple[Any, SE3 | None]]  # joints, each with the pose that comes before it (None for the identity)


def _split(links: Links, q: Sequence[Scalar], size: str) -> list[Sequence[Scalar]]:
    return split(q, *(getattr(joint, size) for joint, _ in links))[:-1]


class ChainJoint(Joint):
    """A joint that is a chain of others; implementations say which."""

    def _of_links(self, q: Scalars) -> Scalars:
        """Return the coordinates, or velocities, of the links, one after the other: by default the joint's own."""
        return q

    @property
    @abstractmethod
    def links(self) -> Links:
        """The joints in a row, each with the pose that comes before it (None for the identity)."""

    def transform(self, q: Scalars) -> SE3:
        X, links = None, self.links
        for (joint, placement), part in zip(links, _split(links, self._of_links(q), "nq"), strict=True):
            for factor in (placement, joint.transform(part)):
                X = factor if X is None else X if factor is None else X @ factor
        return X if X is not None else SE3.identity()

    def efforts(self, q: Scalars, v: Scalars) -> Sequence[Scalar]:
        parts = zip(self.links, _split(self.links, q, "nq"), _split(self.links, v, "nv"), strict=True)
        return [e for (joint, _), own, rates in parts for e in joint.efforts(own, rates)]

    @property
    def has_efforts(self) -> bool:
        return any(joint.has_efforts for joint, _ in self.links)


@dataclass(frozen=True, slots=True)
class Universal(ChainJoint):
    """Rotation about a first axis, then about a second one carried along. q: two angles [rad], v: their rates.

    Args:
        axis1: first axis, in the parent frame; normalised.
        axis2: second axis, in the child frame; normalised. Not parallel to the first; usually orthogonal.

    Examples:
        >>> cardan.joints.Universal(axis1=(1.0, 0.0, 0.0), axis2=(0.0, 1.0, 0.0)).nv
        2
    """

    axis1: Axis = Vector3(1.0, 0.0, 0.0)
    axis2: Axis = Vector3(0.0, 1.0, 0.0)
    manifold = Euclidean(2)
    _names_of_q = ("angle1", "angle2")

    def __post_init__(self) -> None:
        for name in ("axis1", "axis2"):
            object.__setattr__(self, name, unit_vector(getattr(self, name), f"{name} of a universal joint"))
        if self.axis1.cross(self.axis2).norm_squared() < 1e-12:
            axes = (tuple(self.axis1), tuple(self.axis2))
            raise ParameterError("axes of a universal joint", got=axes, expected="two axes that are not parallel")

    @property
    def links(self) -> Links:
        return ((Revolute(self.axis1), None), (Revolute(self.axis2), None))

    def nearest_configuration(self, X_pc: SE3) -> tuple[Scalar, ...]:
        return angles_about_axes((self.axis1, self.axis2), X_pc.rotation)


@dataclass(frozen=True, slots=True)
class ConstantVelocity(ChainJoint):
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
        object.__setattr__(self, "length", not_negative("length of a constant-velocity joint", self.length, "m"))

    @property
    def links(self) -> Links:
        """Two universal joints with the middle shaft between, for the coordinates (q0, q1, q1, q0)."""
        # Without a length there is no pose between, and no operation for it.
        shaft = None if is_zero(self.length) else SE3(translation=self.axis1.cross(self.axis2) * self.length)
        return ((Universal(self.axis1, self.axis2), None), (Universal(self.axis2, self.axis1), shaft))

    def _of_links(self, q: Scalars) -> Scalars:
        return q[0], q[1], q[1], q[0]

    def efforts(self, q: Scalars, v: Scalars) -> Sequence[Scalar]:
        return Joint.efforts(self, q, v)

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        """Return the angles: R has the quaternion (cos q1 sin q0, sin q1, 0, cos q1 cos q0) in the joint's axes."""
        *vector, w = quaternion_xyzw_from_matrix(X_pc.rotation)
        x, y = (axis.dot(vector) for axis in (self.axis1, self.axis2))
        ahead = self.axis1 * y - self.axis2 * x + self.axis1.cross(self.axis2) * w
        # Both signs of the quaternion are the same bend; of the two, the middle shaft points forward in one.
        sign = where(ahead.dot(X_pc.translation) * self.length < 0.0, -1.0, 1.0)
        outer, inner = atan2(sign * x, sign * w), atan2(sign * y, sqrt(x * x + w * w))
        return (outer, inner) if near is None else other_branch((outer, inner, outer), (*near, near[0]))[:2]


@dataclass(frozen=True, slots=True)
class D6(ChainJoint):
    """Translations along up to three axes of the parent, then rotations about up to three axes, in order.

    Each rotation axis is carried along by the rotations before it. q: displacements [m], then angles [rad]; v: their
    rates. This is Newton's D6 joint; axes need not be orthogonal, but must be independent.

    Args:
        linear: axes of translation, in the parent frame; normalised.
        angular: axes of rotation, each in the frame left by the rotations before it; normalised.

    Examples:
        >>> cardan.joints.D6(linear=[(1.0, 0.0, 0.0)], angular=[(0.0, 0.0, 1.0)]).nv
        2
    """

    linear: Sequence[Axis] = ()
    angular: Sequence[Axis] = ()

    def __post_init__(self) -> None:
        for name in ("linear", "angular"):
            axes = getattr(self, name)
            if not isinstance(axes, (list, tuple, np.ndarray)) or len(axes) > 3:
                raise ParameterError(f"{name} axes of a D6 joint", got=axes, expected="a sequence of at most 3 axes")
            unit = tuple(unit_vector(axis, f"{name} axis {i} of a D6 joint") for i, axis in enumerate(axes))
            object.__setattr__(self, name, unit)
        if len(self.linear) > 1 and np.linalg.matrix_rank(np.array(self.linear, float), tol=1e-6) < len(self.linear):
            got = [tuple(a) for a in self.linear]
            raise ParameterError("linear axes of a D6 joint", got=got, expected="linearly independent axes")
        if any(first.cross(second).norm_squared() < 1e-12 for first, second in pairwise(self.angular)):
            got = [tuple(a) for a in self.angular]
            raise ParameterError("angular axes of a D6 joint", got=got, expected="neighbouring axes not parallel")

    @computed
    def manifold(self) -> Euclidean:
        """As many lengths and angles as there are axes."""
        reach = (1.0,) * len(self.linear) + (np.pi,) * len(self.angular)
        return Euclidean(len(reach), reach=reach)

    @property
    def links(self) -> Links:
        return (*((Prismatic(a), None) for a in self.linear), *((Revolute(a), None) for a in self.angular))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        lengths = tuple(along.dot(X_pc.translation) for along in _reciprocal(tuple(self.linear)))
        angles = None if near is None else near[len(lengths) :]
        return (*lengths, *angles_about_axes(tuple(self.angular), X_pc.rotation, angles))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        lengths = tuple(f"displacement{i}" for i in range(len(self.linear)))
        return lengths + tuple(f"angle{i}" for i in range(len(self.angular)))


def along(linear: list[Vector3], angular: list[Vector3]) -> Joint:
    """Return the simplest joint with the coordinates of a `D6` of these unit axes."""
    X, Y, Z = Matrix3.identity().rows()
    match len(linear), len(angular):
        case 1, 0:
            return Prismatic(linear[0])
        case 0, 1:
            return Revolute(angular[0])
        case 1, 1 if linear == angular:
            return Cylindrical(linear[0])
        case 0, 2:
            return Universal(*angular)
        case 3, 0 if linear == [X, Y, Z]:
            return Translation()
        case 0, 3 if angular == [Z, Y, X]:
            return SphericalZYX()
    return D6(linear, angular)


def _reciprocal(axes: Sequence[Vector3]) -> Sequence[Vector3]:
    """Return the vectors, within what the axes span, whose product with one axis is 1 and with the others 0."""
    if len(axes) < 2:
        return axes
    a, b = axes[:2]
    # Of two axes the normal is the third: then components along it do not count.
    c = axes[2] if len(axes) == 3 else a.cross(b)
    volume = a.cross(b).dot(c)
    return [u * (1.0 / volume) for u in (b.cross(c), c.cross(a), a.cross(b))][: len(axes)]


@dataclass(frozen=True, slots=True)
class Composite(ChainJoint):
    """A chain of joints seen as one. q and v: those of the joints, one after the other.

    X = P_1 X_1(q_1) P_2 X_2(q_2) ...

    Args:
        joints: the joints, from parent to child; at most six degrees of freedom together.
        placements: the pose P_i before each joint, in the frame behind the one before; identities by default.

    Examples:
        >>> bolt = [cardan.joints.Revolute((0.0, 0.0, 1.0)), cardan.joints.Prismatic((1.0, 0.0, 0.0))]
        >>> cardan.joints.Composite(bolt).nv
        2
    """

    joints: Sequence[Joint]
    placements: Sequence[SE3] | None = None

    def __post_init__(self) -> None:
        joints = tuple(self.joints) if isinstance(self.joints, Iterable) else ()
        if not joints or not all(isinstance(j, Joint) for j in joints):
            expected = "at least one joint, all in one list; poses before them go to placements="
            raise ParameterError("joints of a composite joint", got=self.joints, expected=expected)
        if sum(j.nv for j in joints) > 6:
            raise ParameterError("joints of a composite joint", got=joints, expected="at most 6 degrees of freedom")
        placements = tuple(SE3.identity() for _ in joints) if self.placements is None else tuple(self.placements)
        if len(placements) != len(joints):
            expected = f"{len(joints)} poses, one before each joint"
            raise ParameterError("placements of a composite joint", got=placements, expected=expected)
        object.__setattr__(self, "joints", joints)
        poses = tuple(checked_pose(f"placement {i} of a composite joint", P) for i, P in enumerate(placements))
        object.__setattr__(self, "placements", poses)

    @computed
    def manifold(self) -> Product:
        """The product of the joints' manifolds."""
        return Product(tuple(joint.manifold for joint in self.joints))

    @computed
    def domain(self) -> Limits:
        """Those of the joints, one after the other."""
        if not any(map(is_bounded, self.joints)):
            return Limits()
        own = [joint.domain.resolved(joint.nv) for joint in self.joints]
        return Limits(*([e for part in own for e in getattr(part, side)] for side in ("lower", "upper")))

    @property
    def links(self) -> Links:
        # An identity is left out: a product with it is operations for nothing.
        identity = SE3.identity()
        pairs = zip(self.joints, self.placements or (), strict=True)
        return tuple((joint, None if identity == P else P) for joint, P in pairs)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(f"{i}.{name}" for i, joint in enumerate(self.joints) for name in joint.coordinate_names)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(f"{i}.{name}" for i, joint in enumerate(self.joints) for name in joint.velocity_names)
