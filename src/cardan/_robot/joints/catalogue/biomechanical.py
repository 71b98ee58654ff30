"""Joints of bodies that live: the ellipsoid, OpenSim's custom joint, and the condylar knee made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._algebra.by_fields import computed
from cardan._algebra.checked_numbers import numbers
from cardan._algebra.errors import ParameterError, check_one_of
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3, unit_vector
from cardan._algebra.spatial.davenport import other_branch
from cardan._algebra.spatial.rotations import matrix_from_xyz, rotation_about_axis, xyz_from_matrix
from cardan._robot.joints.coordinate_functions import Constant, CoordinateFunction, Linear, Polynomial
from cardan._robot.joints.joint import Axis, Joint, Scalars


@dataclass(frozen=True, slots=True)
class Ellipsoid(Joint):
    """The child's origin moves on an ellipsoid of the parent. q: three angles about x, y, z [rad], v: their rates.

    R = Rx(q0) Ry(q1) Rz(q2) and p = A n, with A = diag(radii) and n = R e_z. So p is the image, under A, of the child's
    z axis on the unit sphere. That axis is the surface normal only for a sphere. At q = 0 the child is
    at (0, 0, radius_z), so the neutral transform is not the identity. Singular at q1 = +-pi/2, where S has rank 2.

    Source: Seth, Sherman, Eastman and Delp, Minimal formulation of joint motion for biomechanisms (2010).

    Args:
        radii: semi-axes along x, y, z of the parent [m], positive.

    Examples:
        >>> cardan.joints.Ellipsoid(radii=(0.5, 0.7, 1.1)).nv
        3
    """

    radii: tuple[float, float, float] = (1.0, 1.0, 1.0)
    manifold = Euclidean(3)
    _names_of_q = ("qx", "qy", "qz")

    def __post_init__(self) -> None:
        expected = "three positive numbers [m]"
        radii = numbers("radii of an ellipsoid joint", self.radii, expected, lambda e: 0.0 < e < math.inf, count=3)
        object.__setattr__(self, "radii", radii)

    def transform(self, q: Scalars) -> SE3:
        R = matrix_from_xyz(q)
        (x, y, z), (a, b, c) = R[:, 2], self.radii
        return SE3(R, (a * x, b * y, c * z))

    def nearest_configuration(self, X_pc: SE3, near: Scalars | None = None) -> tuple[Scalar, ...]:
        angles = tuple(xyz_from_matrix(X_pc.rotation))
        return angles if near is None else other_branch(angles, near)


_AXES = (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))
_STILL = (Constant(), Constant(), Constant())


@dataclass(frozen=True, slots=True)
class OpenSimCustom(Joint):
    """A spatial transform by functions f of a few coordinates. q: the coordinates [their own units], v: their rates.

    R = R1(f1(q)) R2(f2(q)) R3(f3(q)), each axis carried along by the rotations before it;
    p = axis4 f4(q) + axis5 f5(q) + axis6 f6(q), in the parent frame.

    Singular if the functions' derivatives, or the turned axes, are dependent. With three rotations this happens if the
    second carries the third axis onto the first.

    Source: Seth, Sherman, Eastman and Delp, Minimal formulation of joint motion for biomechanisms (2010), section 2.

    Args:
        coordinates: names of the coordinates, one to six.
        rotations: f1, f2, f3 [rad]. Each is a `Constant`, `Linear`, `Polynomial`, `NaturalSpline` or your
            `CoordinateFunction`.
        translations: f4, f5, f6 [m].
        rotation_axes: three axes; normalised.
        translation_axes: three axes; normalised.

    Examples:
        >>> along, still = cardan.joints.Linear([1.0]), cardan.joints.Constant(0.0)
        >>> slide = cardan.joints.OpenSimCustom(["height"], translations=[along, still, still])
        >>> slide.transform([0.5]).translation
        (0.5, 0.0, 0.0)
    """

    coordinates: Sequence[str]
    rotations: Sequence[CoordinateFunction] = _STILL
    translations: Sequence[CoordinateFunction] = _STILL
    rotation_axes: Sequence[Axis] = _AXES
    translation_axes: Sequence[Axis] = _AXES

    def __post_init__(self) -> None:
        names = () if isinstance(self.coordinates, str) else tuple(self.coordinates)
        if not 1 <= len(set(names)) == len(names) <= 6 or not all(isinstance(n, str) and n for n in names):
            expected = "one to six different names"
            raise ParameterError("coordinates of a custom joint", got=self.coordinates, expected=expected)
        object.__setattr__(self, "coordinates", names)
        for name in ("rotations", "translations"):
            object.__setattr__(self, name, _three_functions(getattr(self, name), f"{name} of a custom joint"))
        for name in ("rotation_axes", "translation_axes"):
            object.__setattr__(self, name, _three_axes(getattr(self, name), f"{name} of a custom joint"))
        read = {k for f in (*self.rotations, *self.translations) for k in f.coordinates}
        # A coordinate that no function reads would move nothing: its column of S is 0 everywhere.
        if read != set(range(len(names))):
            what = "coordinates read by the functions of a custom joint"
            raise ParameterError(what, got=sorted(read), expected=repr([*range(len(names))]))

    @computed
    def manifold(self) -> Euclidean:
        """As many numbers as there are coordinates."""
        return Euclidean(len(self.coordinates), reach=1.0)

    def transform(self, q: Scalars) -> SE3:
        R, p = Matrix3.identity(), Vector3.zero()
        for axis, f in zip(self.rotation_axes, self.rotations, strict=True):
            R = R @ rotation_about_axis(axis, f(q))
        for axis, f in zip(self.translation_axes, self.translations, strict=True):
            p = p + axis * f(q)
        return SE3(R, p)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(self.coordinates)


def _three_functions(functions: Any, what: str) -> tuple[CoordinateFunction, ...]:
    if not isinstance(functions, (list, tuple)) or len(functions) != 3:
        raise ParameterError(what, got=functions, expected="three functions, `Constant()` where nothing moves")
    for f in functions:
        if not isinstance(f, CoordinateFunction):
            raise ParameterError(what, got=f, expected="a CoordinateFunction, such as `Linear([1.0])`")
    return tuple(functions)


def _three_axes(axes: Any, what: str) -> tuple[Vector3, ...]:
    if not isinstance(axes, (list, tuple)) or len(axes) != 3:
        raise ParameterError(what, got=axes, expected="three axes")
    return tuple(unit_vector(axis, what) for axis in axes)


# Polynomials in the flexion F [deg], from F^1 on: adduction (varus) and internal rotation of the tibia [deg], and the
# displacement of the femur relative to the tibia, upward and forward [mm].
ADDUCTION = (0.0791, -5.733e-4, -7.682e-6, 5.759e-8)
INTERNAL_ROTATION = (0.3695, -2.958e-3, 7.666e-6)
FEMUR_UP = (-0.0683, 8.804e-4, -3.750e-6)
FEMUR_FORWARD = (-0.1283, 4.796e-4)


def condylar_knee(side: str = "right") -> OpenSimCustom:
    """Return a knee of one degree of freedom: the femur is the parent, the tibia the child.

    Axes of both: x forward, y up, z to the right. q: flexion [rad], 0 when straight, positive as the heel goes back;
    measured for 0 to 120 degrees, and only there. R = Rz(-flexion) Rx(adduction) Ry(internal rotation); the translation
    of the tibia is the opposite of the femur's, as in Rajagopal et al. (who scale it by 0.8).

    Source: the coefficients are published: Walker, Rovick and Robertson, The effects of knee brace hinge design and
    placement on joint mechanics (1988). Axes and signs: Rajagopal et al., Full-body musculoskeletal model (2016).

    Args:
        side: `"right"` or `"left"`, its mirror image.

    Raises:
        ParameterError: if it is neither.

    Examples:
        >>> cardan.joints.condylar_knee().nv
        1
    """
    check_one_of("side of a knee", side, ("right", "left"))
    mirror = 1.0 if side == "right" else -1.0
    degree, millimetre = math.radians(1.0), 1e-3
    return OpenSimCustom(
        coordinates=("flexion",),
        rotation_axes=((0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        rotations=(Linear([1.0]), _of(ADDUCTION, mirror * degree), _of(INTERNAL_ROTATION, mirror * degree)),
        translations=(_of(FEMUR_FORWARD, -millimetre), _of(FEMUR_UP, -millimetre), Constant()),
    )


def _of(coefficients: tuple[float, ...], scale: float) -> Polynomial:
    """Return the polynomial of the flexion in radians."""
    return Polynomial([0.0, *(scale * c * math.degrees(1.0) ** k for k, c in enumerate(coefficients, start=1))])
