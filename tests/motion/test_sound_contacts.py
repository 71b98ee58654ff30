"""Candidates of two shapes that are apart are two points, one of each shape: none is nearer than the shapes are."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan._motion.collision.distance import witnesses
from cardan._motion.collision.table import Two
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Sphere
from cardan._robot.geometry.support import reach
from cardan.robots import double_pendulum
from representatives import in_turn
from two_shapes import OTHER, SHAPES, compiled, from_surface, matrices, pose, sized

BRICK = Hull([(0.25 * x, 0.15 * y, 0.35 * z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
SECOND = SHAPES | OTHER | {Ellipsoid: Ellipsoid((0.5, 0.1, 0.2)), Hull: BRICK}
KINDS = Hull, Box, Ellipsoid, Cone, Cylinder, Capsule, Sphere
PAIRS = [
    pytest.param(both, id="-".join(kind.__name__ for kind in both)) for both in combinations_with_replacement(KINDS, 2)
]
EIGHTHS = np.array([Rotation.from_euler("xyz", np.pi / 4 * np.array(n)).as_matrix() for n in np.ndindex(8, 8, 8)])


def distance_function(a, b):
    @cardan.function(shapes={"A": (4, 4), "B": (4, 4)})
    def distance(model, A, B):
        return [witnesses([Two(a, pose(A), b, pose(B))])[0].gap]

    return distance


def beside(rng, a, b, n):
    """Poses of shapes that are 1e-6 to 0.5 apart along a direction: edges and faces parallel, nearly so, or not."""
    M = Rotation.random(n, random_state=rng).as_matrix()
    kind = rng.integers(4, size=n)
    R = EIGHTHS[2 * rng.integers(4, size=(n, 3)) @ [64, 8, 1]]
    R[kind == 0] = Rotation.random((kind == 0).sum(), random_state=rng).as_matrix()
    R[kind == 1] = EIGHTHS[rng.integers(len(EIGHTHS), size=(kind == 1).sum())]
    tilt = (10.0 ** rng.uniform(-10.0, -0.5, n) * (kind == 2))[:, None] * rng.normal(size=(n, 3))
    R = R @ Rotation.from_rotvec(tilt).as_matrix()
    d = rng.integers(-1, 2, size=(n, 3)) + np.where(rng.random(n) < 0.5, 0.0, 0.3)[:, None] * rng.normal(size=(n, 3))
    d = np.where((d == 0.0).all(axis=1)[:, None], (1.0, 0.0, 0.0), d)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    far = reach(a, -d) + reach(b, np.einsum("nji,nj->ni", R, d)) + 10.0 ** rng.uniform(-6.0, -0.3, n)
    aside = np.cross(d, 0.4 * rng.normal(size=(n, 3))) * (rng.random(n) < 0.7)[:, None]
    p = rng.normal(size=(n, 3))
    return (M, p), (M @ R, p + np.einsum("nij,nj->ni", M, aside - d * far[:, None]))


def outside(shape, x):
    over = from_surface(shape, x) * (min(shape.radii) if isinstance(shape, Ellipsoid) else 1.0)
    return np.maximum(over, 0.0)


def found_apart(kinds, scale, dtype, n=3000):
    """Gaps, the distance, and how far points are outside of their shapes, of those that are apart, in sizes."""
    a, b = SHAPES[kinds[0]], SECOND[kinds[1]]
    A, B = beside(np.random.default_rng(21), a, b, n)
    A, B = ([X[0].astype(dtype), (scale * X[1]).astype(dtype)] for X in (A, B))
    large = [sized(shape, scale) for shape in (a, b)]
    gap, point, normal = compiled(large[0], A, large[1], B)
    (R_a, p_a), (R_b, p_b) = ([x.astype(float) for x in X] for X in (A, B))
    model = double_pendulum().model()
    distance = distance_function(*large)(model, matrices((R_a, p_a)), matrices((R_b, p_b)))[..., 0] / scale
    gap, point = gap.astype(float) / scale, point.astype(float) / scale
    opposite = np.einsum("nij,ncj->nci", R_a, point - gap[..., None] * normal) + (p_a - p_b)[:, None] / scale
    off = np.maximum(outside(a, point), outside(b, np.einsum("nji,ncj->nci", R_b, opposite)))
    apart = distance > 1e-5
    assert apart.mean() > 0.8
    return gap[apart], distance[apart], off[apart]


@pytest.mark.slow
@pytest.mark.parametrize("kinds", PAIRS)
@in_turn("scale", [1e-3, 1.0, 1e3])
@in_turn("dtype", [np.float64, np.float32])
def test_no_candidate_is_nearer_than_the_shapes_and_none_is_beside_them(kinds, scale, dtype):
    """Boxes side by side had one 1.7 mm nearer and 9 cm beside; tilted caps had some off their surface by a radius."""
    gap, distance, off = found_apart(kinds, scale, dtype)
    rounding = 5e-6 if dtype is np.float64 else 5e-4  # a search in single precision knows no direction better
    assert (distance[:, None] - gap).max() < (5e-6 if dtype is np.float64 else 1e-4)
    least = gap.min(axis=1)
    # Of boxes, edges that cross within 2.6 degrees of a face are left to that.
    late = 1e-3 + 2e-2 * distance if kinds == (Box, Box) else 1e-6
    assert (least - distance < late).all()
    within = gap < 1.0
    assert (off[within] < rounding + 0.02 * gap[within]).all()


@pytest.mark.parametrize("least", [1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
def test_hulls_that_all_but_touch_are_as_near_as_they_are(least):
    """A corner above a face. From 1e-14 to 1e-12 m apart one of seven was up to 4.7 mm deep."""
    a, rng, n = SHAPES[Hull], np.random.default_rng(22), 1000
    A, R = (Rotation.random(n, random_state=rng).as_matrix() for _ in range(2))
    p, up = rng.normal(size=(n, 3)), R[:, :, 2]
    corners = np.einsum("nij,kj->nki", A, a.vertices)
    lowest = corners[np.arange(n), np.einsum("nki,ni->nk", corners, up).argmin(axis=1)]
    gap = compiled(a, (A, p), BRICK, (R, p + lowest - up * (0.35 + least)))[0].min(axis=1)
    np.testing.assert_allclose(gap, least, atol=2e-10)


def test_thin_rods_that_cross_are_as_near_in_single_precision_as_in_double():
    """Rounding put the point where edges cross beside a rod, and a corner half a metre away was the nearest."""
    rod, rng, n = Box((1.0, 0.01, 0.01)), np.random.default_rng(23), 1000
    A, R = (Rotation.random(n, random_state=rng).as_matrix() for _ in range(2))
    across = np.cross(A[:, :, 0], R[:, :, 0])
    across /= np.linalg.norm(across, axis=1)[:, None]
    p = rng.normal(size=(n, 3))
    r = p + across * (0.01 + 10.0 ** rng.uniform(-3.0, -1.0, n))[:, None]
    r += 0.3 * (A[:, :, 0] * rng.uniform(-1, 1, (n, 1)) + R[:, :, 0] * rng.uniform(-1, 1, (n, 1)))
    double, single = (
        compiled(rod, (A.astype(t), p.astype(t)), rod, (R.astype(t), r.astype(t)))[0].min(axis=1)
        for t in (np.float64, np.float32)
    )
    np.testing.assert_allclose(single, double, atol=2e-6)
