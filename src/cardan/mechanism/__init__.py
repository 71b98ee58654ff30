"""The description a model is made from."""

from cardan.mechanism.mechanism import Mechanism
from cardan.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere, inertia_of_shapes

__all__ = ["Box", "Capsule", "Cylinder", "Ellipsoid", "Mechanism", "Mesh", "Shape", "Sphere", "inertia_of_shapes"]
