"""Shapes on triangles are as far from them as coal says of the same triangles; pushed in, they are as deep."""

import numpy as np
import pytest

from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Hull, Sphere, TriangleMesh
from two_shapes import SHAPES, compiled, random_poses

coal = pytest.importorskip("coal", reason="needs coal")

BODIES = [
    Sphere(0.1),
    Capsule(0.06, 0.2),
    Ellipsoid((0.1, 0.15, 0.07)),
    Box((0.2, 0.3, 0.15)),
    Cylinder(0.08, 0.2),
    Cone(0.1, 0.2),
    Hull(0.4 * np.array(SHAPES[Hull].vertices)),
]


def hills(n=14, size=3.0):
    """Heights up to a quarter metre at random, at every 0.23 m."""
    field = HeightField(np.random.default_rng(2).uniform(0.0, 0.25, (n, n)), (size, size), 1.0)
    vertices, triangles = field.surface()
    upper = [t for t in triangles if np.cross(*(vertices[t[1:]] - vertices[t[0]]))[2] > 1e-9]
    return TriangleMesh(vertices, upper)


def there(mesh):
    vertices, triangles = mesh.surface()
    found = coal.BVHModelOBBRSS()
    found.beginModel(len(triangles), len(vertices))
    for t in triangles:
        found.addTriangle(*vertices[t])
    found.endModel()
    return found


def geometry(shape):
    match shape:
        case Sphere():
            return coal.Sphere(shape.radius)
        case Box():
            return coal.Box(*shape.size)
        case Capsule():
            return coal.Capsule(shape.radius, shape.length)
        case Cylinder():
            return coal.Cylinder(shape.radius, shape.length)
        case Cone():
            return coal.Cone(shape.radius, shape.length)
        case Ellipsoid():
            return coal.Ellipsoid(*shape.radii)
    points = coal.StdVec_Vec3s()
    points.extend(np.array(v) for v in shape.vertices)
    return coal.ConvexBase.convexHull(points, False, "Qt")


def distances(shape, R, p, ground):
    """Distances [m], negative where they overlap."""
    body, found = geometry(shape), np.empty(len(p))
    for k in range(len(p)):
        pose, level = coal.Transform3s(R[k], p[k]), coal.Transform3s()
        if coal.collide(body, pose, ground, level, coal.CollisionRequest(), coal.CollisionResult()):
            found[k] = -1.0
        else:
            found[k] = coal.distance(body, pose, ground, level, coal.DistanceRequest(), coal.DistanceResult())
    return found


@pytest.mark.full
@pytest.mark.parametrize("shape", BODIES, ids=lambda shape: type(shape).__name__)
def test_distances_and_depths_are_coals(shape, native_target):
    n, rng, mesh = 4000, np.random.default_rng(0), hills()
    R, p = random_poses(rng, n)
    p = np.column_stack([rng.uniform(-1.2, 1.2, (n, 2)), rng.uniform(0.15, 0.5, n)])
    level = np.broadcast_to(np.eye(3), (n, 3, 3)).copy(), np.zeros((n, 3))
    gap, _, normal = compiled(shape, (R, p), mesh, level)
    k = gap.argmin(axis=-1)
    least, along = gap[np.arange(n), k], np.einsum("nij,nj->ni", R, normal[np.arange(n), k])
    expected = distances(shape, R, p, there(mesh))
    above = p[:, 2] > 0.25  # none of these is behind the surface, which is met from the front alone
    apart = above & (expected > 1e-6) & (expected < 0.1)
    assert apart.sum() > 400
    assert not (least[above & (expected > 0.0)] < -1e-6).any()
    accurate = 1e-9 if isinstance(shape, (Sphere, Capsule)) else 2e-6
    np.testing.assert_allclose(least[apart], expected[apart], atol=accurate)
    for depth in (1e-4, 5e-3):
        inside = p[apart] - along[apart] * (least[apart] + depth)[:, None]
        pushed, *_ = compiled(shape, (R[apart], inside), mesh, (level[0][apart], level[1][apart]))
        deepest = pushed.min(axis=-1)
        lost = deepest > 0.0
        assert lost.mean() <= (0.0 if isinstance(shape, (Sphere, Capsule)) else 0.01)
        assert np.quantile(deepest[~lost] / -depth, 0.01) > 0.4
        assert np.quantile(deepest[~lost] / -depth, 0.99) < 1.3
