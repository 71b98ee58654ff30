"""OpenSim's custom joint: three rotations and three translations, each a function of the joint's coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds import Euclidean
from cardan._algebra.spatial import SE3, Matrix3, Vector3, unit_vector
from cardan._algebra.spatial.rotations import rotation_about_axis
from cardan._robot.joints.coordinate_functions import Constant, CoordinateFunction
from cardan._robot.joints.joint import Axis, Joint, Scalars, computed

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
