"""Bodies that are homogeneous solids, and the checks of what a builder is given."""

from __future__ import annotations

import math
from typing import Any

from cardan._algebra.checked_numbers import positive
from cardan._algebra.spatial import SE3, checked_pose
from cardan._algebra.spatial.rotations import matrix_from_zyx
from cardan._robot.description import Box, Cylinder, Mechanism, Shape, Sphere

_ONTO = {"x": (0.0, math.pi / 2, 0.0), "y": (0.0, 0.0, -math.pi / 2), "z": (0.0, 0.0, 0.0)}


def all_positive(what: str, **values: float) -> None:
    """Raise `ParameterError` unless all parameters of a robot are finite and above 0."""
    for name, value in values.items():
        positive(f"{name} of {what}", value)


def add_box(
    m: Mechanism, name: str, mass: float, size: Any, centre: Any = (0.0, 0.0, 0.0), touches: bool = False
) -> None:
    """Add a body that is a homogeneous box: mass [kg], side lengths [m], centre in the body frame [m].

    It is a collision shape, too, if it `touches`.
    """
    _add_solid(m, name, mass, Box(size), SE3(translation=centre), touches)


def add_sphere(
    m: Mechanism, name: str, mass: float, radius: float, centre: Any = (0.0, 0.0, 0.0), touches: bool = False
) -> None:
    """Add a body that is a homogeneous sphere; a collision shape, too, if it `touches`."""
    _add_solid(m, name, mass, Sphere(radius), SE3(translation=centre), touches)


def add_rod(
    m: Mechanism, name: str, mass: float, length: float, radius: float, along: str = "z", centre: Any = (0.0, 0.0, 0.0)
) -> None:
    """Add a body that is a homogeneous cylinder along an axis of its frame."""
    _add_solid(m, name, mass, Cylinder(radius, length), checked_pose(name, SE3(matrix_from_zyx(_ONTO[along]), centre)))


def _add_solid(m: Mechanism, name: str, mass: float, solid: Any, pose: SE3, touches: bool = False) -> None:
    m.add_body(name, pose @ solid.inertia_of_mass(mass))
    m.add_shape(Shape(name, "visual", solid, pose))
    if touches:
        m.add_shape(Shape(name, "collision", solid, pose))


def at(x: float, y: float, z: float) -> SE3:
    """Return a pose without rotation."""
    return SE3(translation=(float(x), float(y), float(z)))
