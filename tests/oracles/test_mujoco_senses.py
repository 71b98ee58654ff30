"""Rays of every kind of shape are those of MuJoCo's mj_ray; the IMU reads what its accelerometer and gyro do."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cardan
from cardan import WorldBuilder
from cardan.description import Cone, HeightField, Hull, Plane
from test_mujoco_pairs import GEOM
from two_shapes import SHAPES, random_poses

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)


def geom(shape):
    if isinstance(shape, Hull):
        return 'type="mesh" mesh="hull"'
    kind, size = GEOM[type(shape)]
    return f'type="{kind}" size="{" ".join(map(str, size(shape)))}"'


@pytest.mark.filterwarnings("ignore::cardan.errors.StartWarning")  # the eye has no shape
@pytest.mark.parametrize(
    "kind", [kind for kind in SHAPES if kind not in (Cone, HeightField)], ids=lambda kind: kind.__name__
)
def test_rays_are_mujocos(kind):
    shape, rng, n = SHAPES[kind], np.random.default_rng(0), 1000
    R, p = (e[0] for e in random_poses(rng, 1))
    mesh = f'<mesh name="hull" vertex="{" ".join(str(e) for v in SHAPES[Hull].vertices for e in v)}"/>'
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset>{mesh}</asset><worldbody><body mocap="true"><geom {geom(shape)}/></body></worldbody></mujoco>'
    )
    d = mujoco.MjData(m)
    d.mocap_pos[0], d.mocap_quat[0] = p, np.roll(Rotation.from_matrix(R).as_quat(), 1)
    mujoco.mj_kinematics(m, d)
    b = WorldBuilder("one")
    b.add_shape("world", shape, cardan.SE3(R, p), 0.0)
    b.add_body("eye", pose=cardan.SE3(translation=(0, 0, 9.0)), inertia=cardan.Inertia.zero())
    world = b.finalize()
    o, along = p + 0.7 * rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    along = 0.4 * along + p - o
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    if kind is Plane:  # MuJoCo's has one side
        o = o[(o - p) @ R[:, 2] > 0.0]
    found = cardan.raycast(world, world.initial, o, along[: len(o)])
    expected, normals, one = np.empty(len(o)), np.empty((len(o), 3)), np.zeros(1, np.int32)
    for k in range(len(o)):
        normal = np.zeros(3)
        expected[k] = mujoco.mj_ray(m, d, o[k], along[k], None, 1, -1, one, normal)
        normals[k] = normal
    met = expected >= 0.0
    assert met.sum() > 200
    np.testing.assert_array_equal(np.isfinite(found.distance), met)
    np.testing.assert_allclose(found.distance[met], expected[met], rtol=1e-9, atol=2e-6 if kind is Hull else 0.0)
    turned = np.abs(found.normal[met] - normals[met]).max(axis=-1) > 1e-5
    assert turned.mean() < 0.01  # at an edge


def test_an_imu_reads_what_mujocos_sensors_do(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(
        """<mujoco><option gravity="1 2 -9"/><worldbody>
        <body name="a" quat="0.8 0.1 0.5 0.2"><joint name="j0" axis="0 0 1"/><geom size="0.1"/>
        <body name="b" pos="0.2 0 0.4"><joint name="j1" axis="0 1 0.3"/><joint name="j2" type="slide" axis="1 0 0"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0"/>
        <site name="imu" pos="0.1 -0.05 0.2" quat="0.9 0.1 -0.3 0.2"/></body></body></worldbody>
        <sensor><accelerometer site="imu"/><gyro site="imu"/></sensor></mujoco>"""
    )
    m, model, rng = mujoco.MjModel.from_xml_path(str(file)), cardan.load(file), np.random.default_rng(0)
    d = mujoco.MjData(m)
    for _ in range(20):
        d.qpos[:], d.qvel[:] = rng.normal(size=(2, 3))
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(cardan.imu(model, d.qpos, d.qvel, d.qacc, "imu"), d.sensordata, atol=1e-11)
