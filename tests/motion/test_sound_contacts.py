"""Candidates of two shapes that are apart are two points, one of each shape: none is nearer than the shapes are."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan._robot.geometry.shapes import Hull
from two_shapes import SHAPES, compiled

BRICK = Hull([(0.25 * x, 0.15 * y, 0.35 * z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


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
