"""The description a model is made from."""

from cardan.description.mechanism import Mechanism
from cardan.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere, inertia_of_shapes

__all__ = ["Box", "Capsule", "Cylinder", "Ellipsoid", "Mechanism", "Mesh", "Shape", "Sphere", "inertia_of_shapes"]
