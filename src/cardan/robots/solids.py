"""Inertias and shapes of homogeneous solids, and the checks of what a builder is given."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from cardan.errors import ParameterError
from cardan.mechanism import Box, Cylinder, Mechanism, Shape, Sphere
from cardan.spatial import SE3, Inertia, Matrix3
from cardan.spatial.rotations import matrix_from_zyx

_ONTO = {"x": (0.0, math.pi / 2, 0.0), "y": (0.0, 0.0, -math.pi / 2), "z": (0.0, 0.0, 0.0)}


def positive(what: str, value: float) -> float:
    """Return a finite number above 0, or raise `ParameterError`."""
    if not isinstance(value, Real) or not math.isfinite(value) or value <= 0.0:
        raise ParameterError(what, got=value, expected="a finite number > 0")
    return float(value)


def add_box(m: Mechanism, name: str, mass: float, size: Any, centre: Any = (0.0, 0.0, 0.0)) -> None:
    """Add a body that is a homogeneous box: mass [kg], side lengths [m], centre in the body frame [m]."""
    x, y, z = size
    k = mass / 12.0
    inertia = Matrix3.diagonal(k * (y * y + z * z), k * (x * x + z * z), k * (x * x + y * y))
    m.add_body(name, Inertia(mass, centre, inertia))
    m.add_shape(Shape(name, "visual", Box(size), SE3(translation=centre)))


def add_sphere(m: Mechanism, name: str, mass: float, radius: float, centre: Any = (0.0, 0.0, 0.0)) -> None:
    """Add a body that is a homogeneous sphere."""
    k = 0.4 * mass * radius * radius
    m.add_body(name, Inertia(mass, centre, Matrix3.diagonal(k, k, k)))
    m.add_shape(Shape(name, "visual", Sphere(radius), SE3(translation=centre)))


def add_rod(
    m: Mechanism, name: str, mass: float, length: float, radius: float, along: str = "z", centre: Any = (0.0, 0.0, 0.0)
) -> None:
    """Add a body that is a homogeneous cylinder along an axis of its frame."""
    across, about = mass * (3.0 * radius * radius + length * length) / 12.0, 0.5 * mass * radius * radius
    moments = {axis: about if axis == along else across for axis in "xyz"}
    m.add_body(name, Inertia(mass, centre, Matrix3.diagonal(moments["x"], moments["y"], moments["z"])))
    pose = SE3(matrix_from_zyx(_ONTO[along]), centre)
    m.add_shape(Shape(name, "visual", Cylinder(radius, length), pose))


def at(x: float, y: float, z: float) -> SE3:
    """Return a pose without rotation."""
    return SE3(translation=(float(x), float(y), float(z)))
