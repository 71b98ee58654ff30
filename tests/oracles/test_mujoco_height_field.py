"""Height fields through MuJoCo: contacts that are a plane's, descriptions there and back, a robot that stands."""

import numpy as np
import pytest

import cardan
from cardan._reach.formats.mjcf.writer import write_mjcf
from cardan.description import Box, HeightField, Mechanism, Plane, Shape, Sphere
from cardan.errors import DescriptionError, UnsupportedError
from cardan.interop import to_mjspec
from cardan.spatial import SE3, Matrix3, Vector3
from mechanisms import random_pose

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)
pytestmark = pytest.mark.usefixtures("quick_target")

SLOPE = np.array([0.3, -0.2])
UP = np.array([*-SLOPE, 1.0]) / np.sqrt(1.0 + SLOPE @ SLOPE)
X, Y = np.meshgrid(np.linspace(-1.0, 1.0, 11), np.linspace(-1.5, 1.5, 16))
RAMP = HeightField(SLOPE[0] * X + SLOPE[1] * Y - 3.0, (2.0, 3.0), 0.2)
GRID = np.random.default_rng(0).uniform(-0.3, 0.4, (4, 6))
WAVES = HeightField(GRID, (1.5, 0.9), 0.2)
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def over(field, shape, pose=None):
    b = cardan.WorldBuilder()
    b.add_shape("world", field, pose, name="terrain")
    b.add_body("body", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("body", shape, density=0.0)
    return b.finalize()


def at(position, quaternion=(0.0, 0.0, 0.0, 1.0)):
    return np.array([*position, *quaternion])


def nearest(world, rows):
    """Return the smallest gap of each configuration, as MuJoCo finds it."""
    m = to_mjspec(world).compile()
    m.pair_margin[:] = 0.05
    d, found = mujoco.MjData(m), []
    for q in cardan.conventions.to("mujoco", world.model).configuration(np.atleast_2d(rows)):
        d.qpos = q
        mujoco.mj_forward(m, d)
        found.append(d.contact.dist.min())
    return np.array(found)


def test_rays_are_mujocos():
    """From above: from within, MuJoCo's meet the block below the least height for itself."""
    world = over(WAVES, Sphere(0.1))
    m = to_mjspec(world).compile()
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    rng = np.random.default_rng(0)
    o = np.column_stack([rng.uniform(-1.0, 1.0, (1000, 2)), np.full(1000, 0.6)])
    along = rng.normal(size=(1000, 3)) * (1.0, 1.0, 0.1) - (0.0, 0.0, 0.6)
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    found, one = cardan.raycast(world, world.initial, o, along, bodies="world"), np.zeros(1, np.int32)
    expected = [mujoco.mj_ray(m, d, *ray, None, 1, 1, one) for ray in zip(o, along, strict=True)]
    assert 200 < np.isfinite(found.distance).sum() < 900
    np.testing.assert_allclose(np.where(np.isfinite(found.distance), found.distance, -1.0), expected, atol=1e-6)


def test_mujoco_has_every_height_in_single_precision():
    robot = Mechanism("hill")
    robot.add_body("base")
    robot.add_joint("weld", cardan.joints.Fixed(), "world", "base")
    pose = SE3(Matrix3.identity(), (1.0, 2.0, 3.0))
    for name in ("one", "two"):
        robot.add_shape(Shape("world", "collision", WAVES, pose, name))
    there = to_mjspec(robot).compile()
    assert there.nhfield == 1
    assert there.ngeom == 2
    heights = there.hfield_data.reshape(4, 6) * there.hfield_size[0, 2] + there.geom_pos[0, 2] - 3.0
    np.testing.assert_allclose(heights, GRID, atol=1e-7)
    np.testing.assert_allclose(there.hfield_size[0], [0.75, 0.45, np.ptp(GRID), 0.2])


def surface(shape):
    vertices, _ = shape.geometry.surface()
    return np.array([tuple(shape.pose @ Vector3(*vertex)) for vertex in vertices])


@pytest.mark.parametrize("field", [WAVES, RAMP, HeightField(np.full((2, 3), 0.4), (1.0, 2.0), 0.1)])
def test_mjcf_there_and_back(field):
    robot = Mechanism("hill")
    robot.add_body("base", cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_joint("root", cardan.joints.FreeFlyer(), "world", "base")
    robot.add_shape(Shape("world", "collision", field, random_pose(np.random.default_rng(1)), "hill"))
    written = write_mjcf(robot)
    assert any("heights" in loss for loss in written.losses)
    (back,) = cardan.load_mechanism(written.text).shapes
    np.testing.assert_allclose(surface(back), surface(robot.shapes[0]), atol=3e-7)
    assert back.geometry.thickness == field.thickness
    assert back.geometry.size == field.size
    robot = cardan.load_mechanism(written.text)
    again = write_mjcf(robot)
    assert not any("heights" in loss for loss in again.losses)
    (twice,) = cardan.load_mechanism(again.text).shapes
    assert twice.geometry == back.geometry


HILL = (
    '<mujoco><asset><hfield name="h" {}/></asset><worldbody><geom type="hfield" hfield="h" pos="0 0 1"/>'
    '<body name="b" pos="0 0 2"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
)


def hill(attributes):
    return cardan.load_mechanism(HILL.format(attributes))


def test_mjcf_rows_run_downwards_in_a_file():
    robot = hill('nrow="2" ncol="3" size="1 2 0.5 0.1" elevation="3 4 5  1 2 1"')
    terrain, _ = robot.shapes
    assert terrain.geometry.size == (2.0, 4.0)
    assert terrain.geometry.thickness == 0.1
    assert terrain.role == "collision"
    np.testing.assert_allclose(terrain.geometry.heights, [[0, 0.125, 0], [0.25, 0.375, 0.5]], atol=1e-7)
    (gap,) = nearest(robot.world(ground=False), at((1.0 - 1e-6, 2.0 - 1e-6, 1.6)))
    assert gap == pytest.approx(0.0, abs=1e-4)


def test_mjcf_level_and_from_a_file():
    assert hill('nrow="7" ncol="3" size="1 2 0.5 0.1"').shapes[0].geometry.relief == 0.0
    text = HILL.format('file="h.png" size="1 2 0.5 0.1"')
    assert any("its heights are in a file" in fault.message for fault in cardan.formats.check(text))
    assert len(cardan.load_mechanism(text).shapes) == 1


@pytest.mark.parametrize(
    "attributes",
    [
        'nrow="2" ncol="2" elevation="0 0 1" size="1 1 1 1"',
        'nrow="65537" ncol="65537" elevation="0 1" size="1 1 1 1"',
        'nrow="-2" ncol="-2" elevation="0 0 1 1" size="1 1 1 1"',
        f'nrow="{"9" * 5000}" ncol="2" elevation="0 1" size="1 1 1 1"',
        'nrow="1" ncol="2" elevation="0 1" size="1 1 1 1"',
        'elevation="0 1 1 1" size="1 1 1 1"',
        'nrow="2" ncol="2" elevation="0 nan 1 1" size="1 1 1 1"',
        'nrow="2" ncol="2" elevation="0 inf 1 1" size="1 1 1 1"',
        'nrow="2" ncol="2" elevation="0 1 1 1" size="1 0 1 1"',
    ],
)
def test_hostile_mjcf(attributes):
    with pytest.raises(DescriptionError):
        hill(attributes)


def test_what_mujoco_would_ignore_is_refused():
    """It finds no contact of two surfaces without an end, and says nothing."""
    world = over(Plane(), WAVES)
    for ask in (lambda w: cardan.solvers.MuJoCo(w, 0.002), to_mjspec):
        with pytest.raises(UnsupportedError, match=r"'body/terrain'.*HeightField and a Plane"):
            ask(world)
    with pytest.raises(UnsupportedError, match=r"terrain.*Plane and a HeightField"):
        to_mjspec(world.model)
    standing = Mechanism("both")
    standing.add_body("base")
    standing.add_joint("weld", cardan.joints.Fixed(), "world", "base")
    standing.add_shape(Shape("world", "collision", Plane()))
    standing.add_shape(Shape("base", "collision", WAVES))
    assert to_mjspec(standing).compile().ngeom == 2


def test_a_field_on_a_body_that_moves():
    world = over(Box((0.4, 0.4, 0.1)), HeightField(np.zeros((3, 3)), (1.0, 1.0), 0.1))
    turned = at((0.0, 0.0, -0.07), (0.0, 0.0, np.sin(0.2), np.cos(0.2)))
    np.testing.assert_allclose(nearest(world, turned), 0.02, atol=1e-6)


def test_a_quadruped_stands_on_waves():
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 41), np.linspace(-1.0, 1.0, 41))
    waves = HeightField(0.01 * np.sin(6.0 * x) * np.cos(5.0 * y), (2.0, 2.0), 0.2)
    dog, _ = cardan.robots.quadruped().with_drives({"*": cardan.Drive(stiffness=60.0, damping=2.0)})
    dog.add_shape(Shape("world", "collision", waves, name="waves"))
    world = dog.world(base="floating", ground=False)
    state, control = world.state(), world.control()
    crouched = np.tile([0.0, 0.7, -1.4], 4)
    state.q[:, 2], state.q[:, 7:], control.position[:, 6:] = 0.37, crouched, crouched
    solver = cardan.solvers.MuJoCo(world, dt=0.002)
    state = solver.step(state, control, steps=250)
    assert not state.diverged.any()
    assert 0.2 < state.q[0, 2] < 0.36
    assert abs(state.v).max() < 0.5
    assert abs(nearest(world, state.q)) < 5e-3


def test_our_own_contacts_are_mujocos():
    """A ball near terrain without sharp edges, up to what planes of triangles miss at these."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 21), np.linspace(-1.0, 1.0, 21))
    field = HeightField(0.03 * np.sin(5.0 * x) * np.cos(4.0 * y), (2.0, 2.0), 0.2)
    world, rng = over(field, Sphere(0.05)), np.random.default_rng(5)
    state = world.state(100)
    state.q[:] = [at(p) for p in np.column_stack([rng.uniform(-0.8, 0.8, (100, 2)), np.zeros(100)])]
    heights = 0.03 * np.sin(5.0 * state.q[:, 0]) * np.cos(4.0 * state.q[:, 1])
    state.q[:, 2] = heights + rng.uniform(0.047, 0.055, 100)
    found, expected = world.collide(state).gap.min(axis=-1), nearest(world, state.q)
    np.testing.assert_allclose(found, expected, atol=5e-4)
    assert np.median(np.abs(found - expected)) < 1e-5
