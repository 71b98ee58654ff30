"""The description a model is made from."""

from cardan._robot.description.mechanism import Mechanism
from cardan._robot.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Hull,
    Mesh,
    Plane,
    Shape,
    Sphere,
    TriangleMesh,
    inertia_of_shapes,
)

__all__ = [
    "Box", "Capsule", "Cone", "Cylinder", "Ellipsoid", "HeightField", "Hull", "Mechanism", "Mesh", "Plane",
    "Shape", "Sphere", "TriangleMesh", "inertia_of_shapes",
]  # fmt: skip
__dir__ = __all__.copy
