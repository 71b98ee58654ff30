"""Pairs of shapes in random poses, and their candidates for contact as arrays."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan._motion.collision import PAIRS, points
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Plane, Sphere
from cardan.spatial import SE3

SHAPES = {
    Sphere: Sphere(0.3),
    Capsule: Capsule(0.2, 0.8),
    Box: Box((0.4, 0.6, 0.8)),
    Cylinder: Cylinder(0.3, 0.5),
    Ellipsoid: Ellipsoid((0.2, 0.3, 0.4)),
    Hull: Hull([(0.3, 0, 0), (-0.2, 0.3, 0), (-0.2, -0.3, 0.1), (0.1, 0.1, 0.4), (-0.1, 0, -0.3), (0.2, 0.2, -0.2)]),
    Plane: Plane(),
    HeightField: HeightField([[-16.5, 1.5, 19.5], [-19.5, -1.5, 16.5]], (60.0, 50.0), 90.0),  # z = 0.6 x - 0.06 y
}
OTHER = {Box: Box((0.5, 0.3, 0.7)), Capsule: Capsule(0.1, 1.1), Sphere: Sphere(0.2), Cylinder: Cylinder(0.2, 0.6)}
EVERY_PAIR = pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: "-".join(kind.__name__ for kind in kinds))
LEVEL = np.eye(3), np.zeros(3)


def shapes_of(kinds):
    one, other = kinds
    return SHAPES[one], OTHER.get(other, SHAPES[other])


def random_poses(rng, n, spread=0.3):
    """Rotations (n, 3, 3) and translations (n, 3)."""
    return Rotation.random(n, random_state=rng).as_matrix(), spread * rng.normal(size=(n, 3))


def candidates(a, A, b, B):
    """Gaps (n, c), points and normals (n, c, 3), in the frame of A."""
    found = points(a, SE3(*A), b, SE3(*B))
    batch = np.broadcast_shapes(np.shape(A[1])[:-1], np.shape(B[1])[:-1])
    flat = np.stack([[np.broadcast_to(x, batch) for x in (c.gap, *c.point, *c.normal)] for c in found])
    flat = np.moveaxis(flat, (0, 1), (-2, -1))
    return flat[..., 0], flat[..., 1:4], flat[..., 4:7]


def smallest(a, A, b, B):
    return candidates(a, A, b, B)[0].min(axis=-1)
