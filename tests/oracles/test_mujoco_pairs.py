"""The gaps of two shapes: those of MuJoCo's contacts and of its mj_geomDistance."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from two_shapes import SOME_PAIRS, random_poses, shapes_of, smallest

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)

GEOM = {
    Sphere: ("sphere", lambda s: (s.radius,)),
    Capsule: ("capsule", lambda s: (s.radius, s.length / 2)),
    Cylinder: ("cylinder", lambda s: (s.radius, s.length / 2)),
    Box: ("box", lambda s: np.array(s.size) / 2),
    Ellipsoid: ("ellipsoid", lambda s: s.radii),
    Plane: ("plane", lambda s: (0, 0, 1)),
}


def mujoco_gaps(a, A, b, B):
    """The smallest distance of MuJoCo's contacts, and mj_geomDistance, for each of the poses."""
    (kind_a, size_a), (kind_b, size_b) = ((GEOM[type(s)][0], " ".join(map(str, GEOM[type(s)][1](s)))) for s in (a, b))
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><freejoint/><geom type="{kind_a}" size="{size_a}" margin="5" mass="1"/></body>'
        f'<body mocap="true"><geom type="{kind_b}" size="{size_b}" margin="5"/></body></worldbody></mujoco>'
    )
    d, contacts, distances = mujoco.MjData(m), [], []
    quaternions = [np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=-1) for R in (A[0], B[0])]
    for qa, pa, qb, pb in zip(quaternions[0], A[1], quaternions[1], B[1], strict=True):
        d.qpos[:], d.mocap_quat[0], d.mocap_pos[0] = (*pa, *qa), qb, pb
        mujoco.mj_kinematics(m, d)
        mujoco.mj_collision(m, d)
        contacts.append(min((c.dist for c in d.contact), default=math.nan))
        distances.append(mujoco.mj_geomDistance(m, d, 0, 1, 50.0, None))
    return np.array(contacts), np.array(distances)


@SOME_PAIRS
def test_gaps_are_mujocos(kinds):
    if not GEOM.keys() >= set(kinds):
        pytest.skip("hulls and terrain have tests of their own: test_convex, test_terrain")
    a, b = shapes_of(kinds)
    rng = np.random.default_rng(0)
    A, B = random_poses(rng, 1000), random_poses(rng, 1000)
    gap, (contacts, distances) = smallest(a, A, b, B), mujoco_gaps(a, A, b, B)
    assert (gap < 0.0).sum() > 100
    assert (gap > 0.0).sum() > 100
    if kinds == (Box, Box):  # MuJoCo's contacts of two boxes prefer faces, as ours do; its distance does not
        np.testing.assert_array_equal(gap < 0.0, distances < 0.0)
        assert (gap <= distances + np.maximum(1e-6, 2e-3 * distances)).all()  # 1 / cos of the angle to a face
        exact = (gap < 0.0) & (np.abs(gap - distances) < 1e-6)
        assert exact.sum() > 0.9 * (gap < 0.0).sum()
        assert np.abs(gap - distances)[gap < 0.0].max() < 1e-3
    elif kinds == (Box, Capsule):  # once the capsule's axis is in the box, MuJoCo's contacts are less than the depth
        outside = gap > -b.radius
        np.testing.assert_allclose(gap[outside], contacts[outside], atol=1e-9)
        np.testing.assert_allclose(gap[outside], distances[outside], atol=1e-9)
    else:
        np.testing.assert_allclose(gap, contacts, atol=1e-9)
        np.testing.assert_allclose(gap, distances, atol=1e-9)
