"""Contacts found by MuJoCo: exact where an exact answer is known, those of our own pages, the same for any joint."""

import numpy as np
import pytest

import cardan
from cardan import joints as J
from cardan._motion.collision import points
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from cardan.errors import DTypeError, ParameterError
from cardan.interop import MujocoCollision
from mechanisms import random_pose

pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)
pytestmark = pytest.mark.usefixtures("quick_target")

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def pair_of(a, b):
    """Two free bodies with a shape each; the second is the ground if it is a plane."""
    builder = cardan.WorldBuilder()
    for k, shape in enumerate((b, a)):
        if isinstance(shape, Plane):
            builder.add_ground()
        else:
            builder.add_body(f"body{k}", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
            builder.add_shape(f"body{k}", shape, density=0.0)
    return builder.finalize()


def of(contacts, k=0):
    return contacts.gap[..., k], contacts.point[..., k, :], contacts.normal[..., k, :]


def test_an_ellipsoid_over_the_ground():
    world = pair_of(Ellipsoid((0.1, 0.2, 0.3)), Plane())
    found = MujocoCollision(world)([[0, 0, 0.32, 0, 0, 0, 1], [0, 0, 0.29, 0, 0, 0, 1], [0, 0, 1.0, 0, 0, 0, 1]])
    gap, point, normal = of(found)
    np.testing.assert_allclose(gap[:2], [0.02, -0.01], atol=1e-6)
    assert gap[2] == np.inf
    np.testing.assert_allclose(point[:2], [[0, 0, 0.02], [0, 0, -0.01]], atol=1e-6)
    np.testing.assert_allclose(normal, [[0, 0, 1]] * 3, atol=1e-12)
    assert found.pair.tolist() == [0]


def test_a_cylinder_stands_on_several_points():
    found = MujocoCollision(pair_of(Cylinder(0.1, 0.4), Plane()))([0.3, 0, 0.21, 0, 0, 0, 1])
    near = np.isfinite(found.gap)
    assert near.sum() >= 3
    np.testing.assert_allclose(found.gap[near], 0.01, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found.point[near, :2] - [0.3, 0], axis=-1), 0.1, atol=1e-9)


def test_a_mesh_by_its_convex_hull(tmp_path):
    path = tmp_path / "corner.obj"
    path.write_text(TETRAHEDRON)
    world = pair_of(Sphere(0.1), Mesh("corner.obj", str(path), (0.5, 0.5, 0.5)))
    q = world.model.neutral()
    ball, corner = (world.model.q_slice(f"body{k}_free") for k in (1, 0))
    q[corner][:3] = [1.0, 2.0, 3.0]
    q[ball][:3] = [1.1, 2.1, 2.88]  # 0.12 below the face z = 0
    gap, point, normal = of(MujocoCollision(world)(q))
    np.testing.assert_allclose(gap, 0.02, atol=1e-6)
    sign = 1.0 if world.pairs[0].a == "body1" else -1.0
    np.testing.assert_allclose(normal, [0, 0, -sign], atol=1e-6)
    np.testing.assert_allclose(point, [1.1, 2.1, 2.98 if sign > 0 else 3.0], atol=1e-4)


@pytest.mark.parametrize(
    ("a", "b"), [(Sphere(0.2), Plane()), (Sphere(0.2), Sphere(0.3)), (Sphere(0.2), Box((0.2, 0.3, 0.4)))]
)
def test_they_are_those_of_our_own_pages(a, b):
    world = pair_of(a, b)
    q = world.model.random_configuration((50,), seed=0)
    q[:, :3] *= 0.4
    found = MujocoCollision(world, reach=2.0)(q)
    (pair,) = world.pairs
    for row in range(len(q)):
        poses = [
            cardan.SE3() if body == "world" else cardan.SE3.of(cardan.frame_transform(world.model, q[row], body))
            for body in (pair.a, pair.b)
        ]
        (ours,) = points(pair.shape_a, poses[0], pair.shape_b, poses[1])
        if abs(ours.gap) < 1e-3 or ours.gap < -0.05:  # deep inside there are several answers
            continue
        gap, point, normal = (e[row] for e in of(found))
        np.testing.assert_allclose(gap, ours.gap, atol=1e-6)
        np.testing.assert_allclose(point, poses[0] @ ours.point, atol=1e-5)
        np.testing.assert_allclose(normal, poses[0].rotation @ ours.normal, atol=1e-5)


def test_any_joint_will_do():
    """One that MuJoCo does not have, shapes off the body's frame, batches."""
    m = cardan.Mechanism("odd")
    pose = random_pose(np.random.default_rng(1))
    m.add_body("b", cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("odd", J.Ellipsoid((0.1, 0.2, 0.3)), "world", "b", cardan.SE3(translation=(0, 0, 0.2)))
    m.add_shape(cardan.description.Shape("b", "collision", Capsule(0.05, 0.2), pose))
    world = m.world(ground=True)
    collision = MujocoCollision(world, reach=10.0)
    q = world.model.random_configuration((2, 3), seed=0)
    found = collision(q)
    assert found.gap.shape == (2, 3, len(found.pair))
    X = cardan.frame_transform(world.model, q, "b") @ np.array(pose.homogeneous(), dtype=float)
    ends = X[..., :3, 3:] + X[..., :3, 2:3] * [-0.1, 0.1]
    np.testing.assert_allclose(found.gap.min(-1), ends[..., 2, :].min(-1) - 0.05, atol=1e-9)
    assert (np.sort(found.gap, axis=-1) == found.gap).all()


def test_some_pairs_and_what_is_refused():
    world = pair_of(Sphere(0.1), Plane())
    assert MujocoCollision(world, pairs=[])(world.model.neutral()).gap.shape == (0,)
    with pytest.raises(ParameterError, match="reach"):
        MujocoCollision(world, reach=-1.0)
    with pytest.raises(DTypeError, match="a mechanism or a world"):
        MujocoCollision("panda")
    with pytest.raises(ParameterError, match=r"gone\.stl"):
        MujocoCollision(pair_of(Mesh("gone.stl"), Plane()))
