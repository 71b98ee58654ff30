"""Height fields as ground: planes where they are level or tilted, triangles where they are not, robots that stand."""

import numpy as np
import pytest

import cardan
from cardan import WorldBuilder, solvers
from cardan._robot.geometry.shapes import HeightField, Plane, Sphere
from cardan.description import Box, Capsule, Cylinder, Shape
from cardan.spatial import SE3
from two_shapes import SHAPES, candidates, random_poses

SLOPE = np.array([0.3, -0.2])
SOLIDS = [kind for kind in SHAPES if kind not in (Plane, HeightField)]


def field_of(height, rows=9, columns=13, size=(20.0, 30.0), thickness=9.0):
    x, y = (np.linspace(-0.5, 0.5, n) * side for n, side in zip((columns, rows), size, strict=True))
    return HeightField(height(*np.meshgrid(x, y)), size, thickness)


def rotation_to(normal):
    x = np.cross([0.0, 1.0, 0.0], normal)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal], axis=1)


UP = np.array([*-SLOPE, 1.0]) / np.sqrt(1.0 + SLOPE @ SLOPE)
TILTED = rotation_to(UP)


@pytest.mark.parametrize("kind", SOLIDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("slope", [np.zeros(2), SLOPE], ids=["level", "ramp"])
def test_what_is_flat_is_a_plane(kind, slope):
    field = field_of(lambda x, y: slope[0] * x + slope[1] * y + 0.4)
    rng = np.random.default_rng(0)
    A, (R, p) = random_poses(rng, 1000), random_poses(rng, 1000)
    plane = R @ (TILTED if slope.any() else np.eye(3)), p + R @ np.array([0.0, 0.0, 0.4])
    ways = candidates(SHAPES[kind], A, field, (R, p)), candidates(SHAPES[kind], A, Plane(), plane)
    for found, expected in zip(*ways, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def nearest(vertices, triangles, p):
    """The signed distance of points from triangles below them, by looking at all: the sign is that of the height."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    found = np.full(len(p), np.inf)
    for u, v, w, n in zip(a, b, c, normal, strict=True):
        edges, corners = np.array([v - u, w - v, u - w]), np.array([u, v, w])
        height = (p - u) @ n
        foot = p - height[:, None] * n
        inside = np.all([np.cross(e, foot - o) @ n >= 0.0 for e, o in zip(edges, corners, strict=True)], axis=0)
        t = np.clip(np.einsum("nkj,kj->nk", p[:, None] - corners, edges) / (edges**2).sum(-1), 0.0, 1.0)
        to_edges = np.linalg.norm(p[:, None] - corners - t[..., None] * edges, axis=-1).min(axis=-1)
        found = np.minimum(found, np.where(inside, np.abs(height), to_edges))
    return found


def hills(seed=0, n=12):
    rng = np.random.default_rng(seed)
    field = HeightField(rng.uniform(0.0, 0.15, (n, n)), (n - 1.0, n - 1.0), 1.0)
    vertices, triangles = field.surface()
    upper = [t for t in triangles if np.cross(*(vertices[t[1:]] - vertices[t[0]]))[2] > 0.0]
    return field, vertices, np.array(upper)


def test_random_terrain_beside_all_its_triangles():
    """A ball near the surface: off by less than its radius times 1 - cos of an edge's angle."""
    field, vertices, triangles = hills()
    rng, radius = np.random.default_rng(1), 0.2
    xy = rng.uniform(-5.0, 5.0, (600, 2))
    p = np.column_stack([xy, rng.uniform(0.25, 0.35, 600)])
    gap, _, normal = candidates(Sphere(radius), (np.eye(3), p), field, (np.eye(3), np.zeros(3)))
    exact = nearest(vertices, triangles, p) - radius
    sharpest = 2.0 * np.arctan(0.15 * np.sqrt(2.0))
    near = np.abs(exact) < 0.05
    assert near.sum() > 100
    assert np.abs(gap[:, 0] - exact)[near].max() < (radius + 0.05) * (1.0 - np.cos(sharpest))
    assert np.median(np.abs(gap[:, 0] - exact)[near]) < 1e-12
    np.testing.assert_allclose(np.linalg.norm(normal, axis=-1), 1.0, atol=1e-12)


def test_a_level_field_is_a_block():
    """What came in beside the rim was at once as deep as it was below the surface, and was thrown up."""
    size, thickness = np.array([2.0, 4.0]), 0.5
    field, block = field_of(lambda x, y: 0.0 * x, size=size, thickness=thickness), Box((*size, thickness))
    places = np.random.default_rng(0).uniform([-1.3, -2.3, -0.8], [1.3, 2.3, 0.3], (4000, 3))
    beside = (np.abs(places[:, :2]) > 0.5 * size).any(axis=1)
    places = places[(places[:, 2] > -thickness) | ~beside]  # the edges of the base are none
    R, middle = np.broadcast_to(np.eye(3), (len(places), 3, 3)), np.array([0.0, 0.0, -0.5 * thickness])
    own, exact = (
        candidates(Sphere(0.1), (R, places), b, (np.eye(3), at)) for b, at in ((field, np.zeros(3)), (block, middle))
    )
    np.testing.assert_allclose(own[0], exact[0], atol=1e-12)
    np.testing.assert_allclose(own[2], exact[2], atol=1e-9)


@pytest.mark.parametrize("slope", [0.3, 2.0])
def test_the_rim_of_a_slope_is_met_along_a_unit_normal(slope):
    """Its length was 0.3 to 1.4, and where the surface falls to the rim gaps were not those of the solid."""
    field = field_of(lambda x, y: slope * x, 2, 2, (2.0, 2.0), thickness=1.0)
    places = np.random.default_rng(0).uniform([-1.2, -0.9, -0.2], [-1.0, 0.9, 0.2], (2000, 3)) - [0.0, 0.0, slope]
    both = np.concatenate([places, places * [-1.0, 1.0, 1.0] + [0.0, 0.0, 2.0 * slope]])
    gap, _, normal = candidates(Sphere(0.1), (np.eye(3), both), field, (np.eye(3), np.zeros(3)))
    np.testing.assert_allclose(np.linalg.norm(normal[:, 0], axis=-1), 1.0, atol=1e-12)
    exact = nearest(*map(np.array, field.surface()), both) - 0.1
    np.testing.assert_allclose(gap[:2000, 0], exact[:2000], atol=1e-12)
    assert (gap[2000:, 0] <= exact[2000:] + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("make", [solvers.XPBD, solvers.Variational])
def test_what_rolls_and_falls_over_the_rim_gains_no_energy(make):
    """Balls, and capsules that lie across the rim; a ball that came in below the surface rose by its depth at once."""
    field = field_of(lambda x, y: 0.0 * x, size=(2.0, 2.0), thickness=0.3)
    rng, count = np.random.default_rng(0), 24
    for shape, turn in ((Sphere(0.1), [0, 0, 0, 1]), (Capsule(0.1, 0.3), [0, np.sqrt(0.5), 0, np.sqrt(0.5)])):
        b = WorldBuilder()
        b.add_shape("world", field, name="ground")
        b.add_body("body")
        b.add_shape("body", shape, density=1000.0)
        world = b.finalize()
        q, v = np.tile(world.initial, (count, 1)), rng.normal(size=(count, 6))
        q[:, :2], q[:, 2], q[:, 3:] = rng.uniform([0.7, -1.2], [1.3, 1.2], (count, 2)), 0.101, turn
        motion = make(world, 2e-3).rollout(world.state(worlds=count, q=q, v=v), steps=400)
        energies = [
            cardan.kinetic_energy(world.model, *own) + cardan.potential_energy(world.model, own[0])
            for own in zip(motion.q, motion.v, strict=True)
        ]
        assert np.diff(energies, axis=0).max() < 1e-3 * world.model.mass


@pytest.mark.slow
@pytest.mark.parametrize("dt", [2e-3, 8e-3])
@pytest.mark.parametrize("make", [solvers.XPBD, solvers.Variational])
@pytest.mark.parametrize("shape", [Box((0.2, 0.16, 0.12)), Cylinder(0.08, 0.3)], ids=repr)
def test_what_falls_deep_into_steep_cells_is_moved_out_and_not_thrown(shape, make, dt):
    """It was moved out within one step, and turned by that: up to 1800 J/kg came in one."""
    rng, count = np.random.default_rng(5), 32
    b = WorldBuilder()
    b.add_shape("world", HeightField(rng.uniform(0.0, 0.75, (9, 9)), (2.0, 2.0), 0.5), name="ground")
    b.add_body("body", pose=SE3(translation=[0.0, 0.0, 1.2]))
    b.add_shape("body", shape, density=500.0)
    world = b.finalize()
    quaternion = rng.normal(size=(count, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1)[:, None]
    q = np.concatenate([rng.uniform(-0.6, 0.6, (count, 2)), np.full((count, 1), 1.1), quaternion], axis=1)
    v = rng.normal(size=(count, 6)) * [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]
    motion = make(world, dt).rollout(world.state(worlds=count, q=q, v=v), steps=int(0.8 / dt))
    energy = cardan.kinetic_energy(world.model, motion.q, motion.v) + cardan.potential_energy(world.model, motion.q)
    assert np.diff(energy, axis=0).max() < 2.0 * world.model.mass


def ball_on(ground, pose):
    b = WorldBuilder()
    b.add_shape("world", ground, pose, name="ground")
    b.add_body("ball", pose=SE3(translation=0.1 * UP))
    b.add_shape("ball", Sphere(0.1), density=1000.0)
    return b.finalize()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_ball_rolls_down_a_ramp_as_on_a_tilted_plane(dtype):
    ends = []
    for ground, pose in (
        (field_of(lambda x, y: SLOPE[0] * x + SLOPE[1] * y), SE3()),
        (Plane(), SE3(TILTED)),
    ):
        world = ball_on(ground, pose)
        state = world.state(dtype=dtype)
        state.q[:, :3] = 0.1 * UP
        ends.append(solvers.Featherstone(world, 2e-3).step(state, steps=300).q)
    assert ends[0][0, 0] < -0.2
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9 if dtype is np.float64 else 1e-3)


def rough(n):
    rng, k = np.random.default_rng(0), np.arange(-6, 7)
    kernel = np.exp(-(k**2) / 12.0)
    heights = np.apply_along_axis(np.convolve, 0, rng.normal(size=(n, n)), kernel, "same")
    heights = np.apply_along_axis(np.convolve, 1, heights, kernel, "same")
    return HeightField(heights * (0.05 / np.abs(heights).max()), (0.05 * (n - 1), 0.05 * (n - 1)), 1.0)


def dog_on(ground):
    dog, _ = cardan.robots.quadruped().with_drives({"*": cardan.Drive(stiffness=60.0, damping=2.0)})
    dog.add_shape(Shape("world", "collision", ground, name="ground"))
    return dog.world(base="floating", ground=False)


@pytest.mark.full
def test_a_quadruped_stands_on_rough_ground():
    world = dog_on(rough(200))
    state, control = world.state(4), world.control()
    crouched = np.tile([0.0, 0.7, -1.4], 4)
    state.q[:, :2] = [[0.0, 0.0], [1.0, -2.0], [-3.0, 0.5], [2.0, -4.0]]
    state.q[:, 7:], control.position[:, 6:] = crouched, crouched
    cardan.simulation.stand(state)
    assert (world.collide(state).gap.min(axis=-1) > -1e-12).all()
    solver = solvers.Featherstone(world, 2e-3)
    after = solver.step(state, control, steps=1000)
    assert not after.diverged.any()
    assert (np.abs(after.q[:, 2] - 0.34) < 0.08).all()
    assert np.abs(after.v).max() < 0.5
    assert -5e-3 < world.collide(after).gap.min() < 1e-3
    alone = [solver.step(state[k : k + 1], control, steps=1000).q for k in range(4)]
    assert np.concatenate(alone).tobytes() == after.q.tobytes()


def test_it_stands_on_a_level_field_as_on_a_plane():
    world, level = dog_on(Plane()), dog_on(field_of(lambda x, y: 0.0 * x + 0.25))
    np.testing.assert_allclose(level.state().q[0, 2] - 0.25, world.state().q[0, 2], atol=1e-12)
    beside = level.state()
    beside.q[:, 0] = 100.0
    before = beside.q.copy()
    cardan.simulation.stand(beside)
    np.testing.assert_array_equal(beside.q, before)
