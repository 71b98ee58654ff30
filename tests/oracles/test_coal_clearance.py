"""Distances of a robot from obstacles: those of coal."""

import numpy as np
import pytest

import cardan
from cardan.description import Box, Capsule, Hull, Sphere
from clearance_robots import OBSTACLES, solid_arm
from representatives import represented

coal = pytest.importorskip("coal", reason="needs coal", exc_type=ImportError)
trimesh = pytest.importorskip("trimesh", reason="needs the `mesh` extra", exc_type=ImportError)


def of_coal(shape):
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    assert isinstance(shape, Hull)
    hull = trimesh.convex.convex_hull(np.array(shape.vertices))
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    points.extend(np.array(hull.vertices))
    faces.extend(coal.Triangle(*map(int, face)) for face in hull.faces)
    return coal.Convex(points, faces)


def transform(X):
    X = np.array(X, dtype=float)
    return coal.Transform3s(np.ascontiguousarray(X[:3, :3]), np.ascontiguousarray(X[:3, 3]))


@pytest.mark.filterwarnings("ignore::cardan.errors.OverlapWarning")
@pytest.mark.parametrize("kind", represented(["capsule", "box", "hull"], by=["capsule"].count))
def test_distances_are_coals(kind):
    model = solid_arm(kind)
    obstacles = [(shape, X) for shape, X in OBSTACLES if isinstance(shape, (Sphere, Capsule, Box, Hull))]
    q = model.random_configuration(60, seed=6)
    own = [shape for shape in model.shapes if model.attachment(shape.body).node >= 0]
    near = cardan.clearance(model, q, pairs=[], obstacles=obstacles)
    poses = cardan.frame_transform(model, q, tuple(shape.body for shape in own))
    request = coal.DistanceRequest(True)
    request.enable_signed_distance = True
    theirs = [
        coal.distance(of_coal(shape.geometry), X, of_coal(other), transform(Y.homogeneous()), request, result)
        for at in poses
        for shape, X in zip(
            own, [transform(X @ s.pose.homogeneous()) for X, s in zip(at, own, strict=True)], strict=True
        )
        for other, Y in obstacles
        for result in [coal.DistanceResult()]
    ]
    expected = np.reshape(theirs, near.distance.shape)
    apart = expected > 1e-3
    assert apart.mean() > 0.8
    np.testing.assert_allclose(near.distance[apart], expected[apart], atol=1e-6)  # coal's own tolerance
    np.testing.assert_array_equal(near.distance[~apart] < 1e-3 + 1e-6, True)
