"""Candidates for contact: against mujoco's own collision, separating axes, and the laws any two shapes obey."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan.algorithms.collision import FAR, PAIRS, points
from cardan.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from cardan.spatial import SE3

SHAPES = {
    Sphere: Sphere(0.3),
    Capsule: Capsule(0.2, 0.8),
    Box: Box((0.4, 0.6, 0.8)),
    Cylinder: Cylinder(0.3, 0.5),
    Ellipsoid: Ellipsoid((0.2, 0.3, 0.4)),
    Plane: Plane(),
}
EVERY_PAIR = pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: "-".join(kind.__name__ for kind in kinds))


def shapes_of(kinds):
    return tuple(SHAPES[kind] for kind in kinds)


def random_poses(rng, n, spread):
    """Rotations (n, 3, 3) and translations (n, 3)."""
    return Rotation.random(n, random_state=rng).as_matrix(), spread * rng.normal(size=(n, 3))


def candidates(a, A, b, B):
    """Gaps (n, c), points and normals (n, c, 3), in the frame of A."""
    found = points(a, SE3(*A), b, SE3(*B))
    batch = np.broadcast_shapes(np.shape(A[1])[:-1], np.shape(B[1])[:-1])

    def together(vectors):
        return np.stack([np.stack([np.broadcast_to(x, batch) for x in v], axis=-1) for v in vectors], axis=-2)

    return (
        np.stack([np.broadcast_to(c.gap, batch) for c in found], axis=-1),
        together([c.point for c in found]),
        together([c.normal for c in found]),
    )


def in_world(A, x):
    return np.einsum("nij,ncj->nci", A[0], x) + A[1][:, None]


# --- surfaces: signed distances of points from solids ---------------------------------------------------------------


def from_surface(shape, x):
    """Signed distance of points from a solid's surface; of an ellipsoid, what is zero on it."""
    match shape:
        case Sphere(radius=r):
            return np.linalg.norm(x, axis=-1) - r
        case Plane():
            return x[..., 2]
        case Capsule(radius=r, length=length):
            z = np.clip(x[..., 2], -length / 2, length / 2)
            return np.linalg.norm(x - np.stack([0 * z, 0 * z, z], axis=-1), axis=-1) - r
        case Ellipsoid(radii=radii):
            return np.linalg.norm(x / np.array(radii), axis=-1) - 1.0
        case Box(size=size):
            over = np.abs(x) - np.array(size) / 2
        case Cylinder(radius=r, length=length):
            over = np.stack([np.linalg.norm(x[..., :2], axis=-1) - r, np.abs(x[..., 2]) - length / 2], axis=-1)
    return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)


@EVERY_PAIR
def test_points_are_on_both_surfaces(kinds):
    """The point is on A, point - gap normal on B; or, where boxes are apart, the gap is at most the distance."""
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(1)
    A, B = random_poses(rng, 2000, 0.3), random_poses(rng, 2000, 0.3)
    gap, point, normal = candidates(a, A, b, B)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-12)
    opposite = in_world(A, point - gap[..., None] * normal) - B[1][:, None]
    on_b = from_surface(b, np.einsum("nji,ncj->nci", B[0], opposite))
    off = np.maximum(np.abs(from_surface(a, point)), np.abs(on_b))[:, :]
    first = gap == gap.min(axis=-1, keepdims=True)
    exact = gap < (0.0 if kinds == (Box, Box) else FAR)
    exact &= first if Box in kinds else True
    print(kinds, off[exact].max(), exact.sum())
    assert off[exact].max() < (2e-3 if kinds == (Box, Box) else 1e-12)
