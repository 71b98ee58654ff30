"""The description a model is made from."""

from cardan.mechanism.mechanism import Mechanism
from cardan.mechanism.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere

__all__ = ["Box", "Capsule", "Cylinder", "Mechanism", "Mesh", "Shape", "Sphere"]
