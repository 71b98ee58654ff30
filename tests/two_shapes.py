"""Pairs of shapes in random poses, and their candidates for contact as arrays."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import cardan
from cardan._motion.collision import PAIRS, points
from cardan._motion.collision.convex import convex_convex
from cardan._motion.collision.flat_contact import flat_convex
from cardan._motion.collision.nearest_features import smooth_convex
from cardan._robot.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Hull,
    Plane,
    Sphere,
    TriangleMesh,
)
from cardan.robots import double_pendulum
from cardan.spatial import SE3

SHAPES = {
    Sphere: Sphere(0.3),
    Capsule: Capsule(0.2, 0.8),
    Box: Box((0.4, 0.6, 0.8)),
    Cylinder: Cylinder(0.3, 0.5),
    Ellipsoid: Ellipsoid((0.2, 0.3, 0.4)),
    Cone: Cone(0.3, 0.5),
    Hull: Hull([(0.3, 0, 0), (-0.2, 0.3, 0), (-0.2, -0.3, 0.1), (0.1, 0.1, 0.4), (-0.1, 0, -0.3), (0.2, 0.2, -0.2)]),
    Plane: Plane(),
    HeightField: HeightField([[-16.5, 1.5, 19.5], [-19.5, -1.5, 16.5]], (60.0, 50.0), 90.0),  # z = 0.6 x - 0.06 y
}
OTHER = {
    Box: Box((0.5, 0.3, 0.7)),
    Capsule: Capsule(0.1, 1.1),
    Sphere: Sphere(0.2),
    Cylinder: Cylinder(0.2, 0.6),
    Cone: Cone(0.2, 0.7),
}
SEARCHED = [kinds for kinds, page in PAIRS.items() if page in (convex_convex, flat_convex, smooth_convex)]


def each_of(pairs, some=1):
    """Parametrise by pairs of kinds, of which one in `some` stands for the others in the default run."""
    chosen = [pytest.param(kinds, marks=pytest.mark.full if n % some else []) for n, kinds in enumerate(pairs)]
    return pytest.mark.parametrize("kinds", chosen, ids=lambda kinds: "-".join(kind.__name__ for kind in kinds))


ELSEWHERE = {TriangleMesh}  # test_triangles
OWN = [kinds for kinds in PAIRS if kinds not in SEARCHED and not ELSEWHERE & {*kinds}]
EVERY_PAIR = each_of(OWN)  # of those with a closed form
SOME_PAIRS = each_of(OWN, some=3)
EVERY_SEARCHED_PAIR = each_of(SEARCHED)
SOME_SEARCHED_PAIRS = each_of(SEARCHED, some=3)
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


def after(M, A):
    """The poses M A."""
    return M[0] @ A[0], np.einsum("...ij,...j->...i", M[0], A[1]) + M[1]


def pose(x):
    return SE3([[x[i, j] for j in range(3)] for i in range(3)], [x[i, 3] for i in range(3)])


def gaps_function(a, b):
    @cardan.function(shapes={"A": (4, 4), "B": (4, 4)})
    def gaps(model, A, B):
        return [[c.gap, *c.point, *c.normal] for c in points(a, pose(A), b, pose(B))]

    return gaps


def matrices(A):
    n = len(A[1])
    X = np.zeros((n, 4, 4), A[1].dtype)
    X[:, :3, :3], X[:, :3, 3], X[:, 3, 3] = *A, 1.0
    return X


def compiled(a, A, b, B):
    """As `candidates`, by the program: all of it in the precision of the poses."""
    found = gaps_function(a, b)(double_pendulum().model(), matrices(A), matrices(B))
    assert found.dtype == A[1].dtype
    return found[..., 0], found[..., 1:4], found[..., 4:7]


def directions(rng, n):
    d = rng.normal(size=(n, 3))
    return d / np.linalg.norm(d, axis=-1, keepdims=True)


def sized(shape, scale):
    match shape:
        case Sphere(radius=r):
            return Sphere(scale * r)
        case Capsule(radius=r, length=length) | Cylinder(radius=r, length=length) | Cone(radius=r, length=length):
            return type(shape)(scale * r, scale * length)
        case Box(size=sizes) | Ellipsoid(radii=sizes):
            return type(shape)([scale * s for s in sizes])
        case Hull(vertices=vertices):
            return Hull((scale * np.array(vertices)).tolist())
        case HeightField(heights=heights, size=size, thickness=thickness):
            return HeightField(scale * np.array(heights), [scale * e for e in size], scale * thickness)
    return shape


def from_surface(shape, x):
    """Signed distance of points from a solid's surface; of an ellipsoid, what is zero on it."""
    match shape:
        case Sphere(radius=r):
            return np.linalg.norm(x, axis=-1) - r
        case Plane():
            return x[..., 2]
        case HeightField():  # the ramp of `SHAPES`
            return x @ np.array([-0.6, 0.06, 1.0]) / np.linalg.norm([-0.6, 0.06, 1.0])
        case Capsule(radius=r, length=length):
            z = np.clip(x[..., 2], -length / 2, length / 2)
            return np.linalg.norm(x - z[..., None] * np.array([0.0, 0.0, 1.0]), axis=-1) - r
        case Ellipsoid(radii=radii):
            return np.linalg.norm(x / np.array(radii), axis=-1) - 1.0
        case Box(size=size):
            over = np.abs(x) - np.array(size) / 2
        case Hull():
            planes = ConvexHull(np.array(shape.vertices)).equations
            return np.max(x @ planes[:, :3].T + planes[:, 3], axis=-1)
        case Cone(radius=r, length=length):
            rho, up = np.linalg.norm(x[..., :2], axis=-1), x[..., 2] + length / 2
            part = np.clip((up * length - (rho - r) * r) / (length**2 + r**2), 0.0, 1.0)  # of the way to the tip
            off = np.minimum(np.hypot(rho - r * (1 - part), up - length * part), np.hypot(rho - np.minimum(rho, r), up))
            return np.where((up > 0.0) & (rho < r * (1 - up / length)), -off, off)
        case Cylinder(radius=r, length=length):
            over = np.stack([np.linalg.norm(x[..., :2], axis=-1) - r, np.abs(x[..., 2]) - length / 2], axis=-1)
    return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)
