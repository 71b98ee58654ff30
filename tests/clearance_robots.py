"""Robots of simple shapes among obstacles, for tests of clearance."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

import cardan
from cardan import SE3
from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Plane, Shape, Sphere

POINTS = [(0.3, 0, 0), (-0.2, 0.3, 0), (-0.2, -0.3, 0.1), (0.1, 0.1, 0.4), (-0.1, 0, -0.3), (0.2, 0.2, -0.2)]
SHAPES = (
    Sphere(0.2),
    Capsule(0.1, 0.5),
    Box((0.2, 0.3, 0.4)),
    Cylinder(0.15, 0.3),
    Ellipsoid((0.1, 0.2, 0.3)),
    Hull(POINTS),
    Cone(0.16, 0.31),
)


def _pose(k):
    return SE3(Rotation.random(random_state=k).as_matrix(), np.random.default_rng(k).uniform(-0.8, 0.8, 3))


OBSTACLES = [(shape, _pose(k)) for k, shape in enumerate((*SHAPES[:3], Plane(), *SHAPES[3:]))]


def solid_body(*shapes):
    """A floating body with shapes side by side."""
    b = cardan.WorldBuilder("body")
    b.add_body("body")
    for k, shape in enumerate(shapes):
        b.add_shape("body", shape, pose=SE3(translation=(0.1 * k, 0.0, -0.05 * k)), density=100.0)
    return b.finalize().model


@cache
def solid_arm(kind, scale=1.0):
    """The arm of seven joints, its cylinders as capsules, boxes or hulls."""
    arm = cardan.robots.arm7(scale)

    def solid(shape):
        geometry = shape.geometry
        if isinstance(geometry, Cylinder):
            geometry = _instead(geometry, kind)
        return Shape(shape.body, "collision", geometry, shape.pose)

    shapes = tuple(map(solid, arm.shapes))
    return arm.with_annotations(replace(arm.annotations, shapes=shapes)).mechanism.model()


def _instead(cylinder, kind):
    r, length = cylinder.radius, cylinder.length
    if kind == "capsule":
        return Capsule(0.8 * r, length)
    if kind == "box":
        return Box((1.4 * r, 1.4 * r, length))
    angles = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    ring = np.stack([r * np.cos(angles), r * np.sin(angles)], axis=-1)
    return Hull([(*xy, z) for xy in ring for z in (-0.5 * length, 0.5 * length)])
