"""Robots on the ground as their files have them: solved steps, starts in the ground, joints without inertia."""

import warnings

import numpy as np
import pytest

import cardan
from cardan import Inertia, Mechanism
from cardan import joints as J
from cardan._dynamics.call.function import Outline
from cardan._motion.collision import table
from cardan._motion.simulation import standing as beginnings
from cardan.description import Box, Capsule, HeightField, Shape, Sphere, TriangleMesh
from cardan.errors import MechanismError, StartWarning
from cardan.simulation import stand
from cardan.spatial import SE3, Vector3


@pytest.mark.full
def test_what_goes_round_in_circles_is_solved():
    """Nine of these steps had residuals up to 0.93 m/s: the primal-dual iteration went round in circles."""
    world = cardan.robots.humanoid().world("floating", ground=True)
    state = world.state(256)
    base = world.model.q_slice(world.model.joint_names[0])
    q = world.model.random_configuration((256,), seed=1)
    q[:, base] = state.q[:, base]
    state.q = q
    stand(state)
    state.q[:, 2] += 0.2  # m
    found = cardan.solvers.Featherstone(world, 0.002).rollout(state, steps=500)
    assert found.residual.max() < 1e-3
    assert not found.state.diverged.any()


GAINS = {"quadruped": cardan.Drive(200.0, 5.0), "humanoid": cardan.Drive(1000.0, 30.0)}


@pytest.mark.full
@pytest.mark.parametrize("solver", ["Featherstone", "XPBD", "Variational"])
@pytest.mark.parametrize("name", GAINS)
def test_robots_that_ship_stand_still_on_their_drives_and_lie_on_the_ground_without(name, solver):
    """Their feet alone touched: limp, the trunk came to lie 0.2 to 0.9 m below the ground. No stance was said."""
    robot = getattr(cardan.robots, name)()
    takes = getattr(cardan.solvers, solver)
    world = robot.with_drives({"*": GAINS[name]}).mechanism.world("floating", ground=True)
    start = world.state()
    stands = takes(world, 0.002).step(start, steps=1000)
    assert np.abs(stands.v).max() < 0.02
    np.testing.assert_allclose(stands.q, start.q, atol=0.05)
    limp = robot.world("floating", ground=True)
    lies = takes(limp, 0.002).step(limp.state(), steps=2000)
    assert np.abs(lies.v).max() < 0.05
    assert not lies.diverged.any()
    assert -1e-3 < lies.poses[..., 2].min() < 0.05  # of all links' frames


@pytest.mark.full
@pytest.mark.parametrize("name", GAINS)
def test_no_link_of_a_robot_that_ships_is_below_the_ground_however_it_falls(name):
    world = getattr(cardan.robots, name)().world("floating", ground=True)
    state = world.state(64)
    state.q = world.model.random_configuration((64,), seed=1)
    stand(state)
    lies = cardan.solvers.Featherstone(world, 0.002).step(state, steps=2000)
    assert not lies.diverged.any()
    assert lies.poses[..., 2].min() > -2e-3


def standing(name):
    """The world of a URDF of example-robot-data on the ground."""
    from robots_data import urdf_files

    file = next((file for file in urdf_files() if file.stem == name), None)
    if file is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse hulls
        return cardan.load_mechanism(file).world("floating", ground=True)


@pytest.mark.full
def test_a_step_is_the_same_program_in_every_trace(monkeypatch):
    """How many candidates two shapes have is asked once in a process, and is no part of the trace that asks."""
    world, digests = standing("g1_29dof_rev_1_0"), set()
    step = cardan.solvers.Featherstone(world, 1e-3, tables=False).function
    monkeypatch.setattr(table, "_COUNTS", {})  # as in a process that has not asked
    for _ in range(2):
        given = step.interface.required(world.model, {}, ("position",))
        digests.add(Outline.of(step.made_from.traced(world.model, *given).program).digest)
    assert len(digests) == 1


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["hyq_no_sensors", "talos_reduced", "g1_29dof_rev_1_0", "alex_nub_hands", "kinova"])
def test_robots_that_fall_limp_are_solved(name, dtype):
    """Of talos_reduced one step in thirty had residuals up to 1e38, and four of 32 worlds diverged."""
    world = standing(name)
    state = world.state(32, dtype)
    q = world.model.random_configuration((32,), seed=1)
    q[:, :7] = state.q[:, :7]
    state.q = q
    stand(state)
    found = cardan.solvers.Featherstone(world, 0.002).rollout(state, steps=600)
    assert found.residual.max() < 1e-3 if dtype == "float64" else np.quantile(found.residual, 0.99) < 1e-3
    assert not found.state.diverged.any()


def block(depth, **surface):
    b = cardan.WorldBuilder("block")
    b.add_ground()
    b.add_body("block", pose=SE3(translation=[0.0, 0.0, 0.1 - depth]))
    b.add_shape("block", Box((0.2, 0.2, 0.2)), material=cardan.Material(**surface))
    return b.finalize()


@pytest.mark.filterwarnings("ignore::cardan.errors.StartWarning")
@pytest.mark.parametrize("depth", [0.02, 0.15])
def test_what_begins_in_the_ground_is_not_thrown(depth):
    """A robot that began 35 mm deep was thrown up by 0.37 m."""
    world = block(depth)
    path = cardan.solvers.Featherstone(world, 0.002).rollout(world.state(), steps=1000)
    assert path.v[:, 0, 2].max() < 1.01  # m/s
    assert path.q[:, 0, 2].max() - 0.1 < 1.0 / (2.0 * 9.81) + 0.01  # m: what 1 m/s gives
    assert abs(path.q[-1, 0, 2] - 0.1) < 1e-3


@pytest.mark.filterwarnings("ignore::cardan.errors.StartWarning")
def test_a_spring_with_dissipation_throws_as_it_is_asked_to():
    """10 kg on a spring of 4e4 N/m, 50 mm deep: sqrt(k/m x^2 - 2 g x) = 3 m/s."""
    world = block(0.05, stiffness=4e4, dissipation=0.0)
    m = world.model.mass
    path = cardan.solvers.Featherstone(world, 1e-4).rollout(world.state(), steps=600)
    assert path.v[:, 0, 2].max() == pytest.approx(np.sqrt(4 * 4e4 / m * 0.05**2 - 2 * 9.81 * 0.05), rel=0.05)


def freely(height):
    """A ball on a free joint of its own description."""
    m = Mechanism("ball")
    m.add_body("ball", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_shape(Shape("ball", "collision", Sphere(0.1)))
    m.add_joint("free", J.FreeFlyer(), "world", "ball", SE3(translation=[0.0, 0.0, height]))
    return m


def test_what_a_description_has_in_a_ground_that_is_asked_for_stands_on_it():
    with pytest.warns(StartWarning, match=r"ball by 0\.6 m would begin in the ground.*stands on it") as said:
        world = freely(-0.5).world(ground=True)
    assert [w.filename for w in said] == [__file__]
    assert world.state().poses[0, 0, 2] == pytest.approx(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert freely(3.0).world(ground=True).state().poses[0, 0, 2] == 3.0
    with pytest.warns(StartWarning, match="in one another: ball/ground by 600 mm"):  # it was put there
        freely(-0.5).world(ground=True, pose=SE3())


def valley(kind):
    """Ground between two slopes of 3 in 4, level at the bottom: z = max(0, |y| - 1) 3 / 4."""
    y = np.linspace(-4.0, 4.0, 9)
    heights = np.repeat(np.maximum(0.0, np.abs(y) - 1.0)[:, None] * 0.75, 9, axis=1)
    field = HeightField(heights, (8.0, 8.0), 1.0)
    if kind == "field":
        return field
    vertices, triangles = field.surface()
    upper = [t for t in triangles.tolist() if max(t) < heights.size]
    return TriangleMesh(vertices, triangles) if kind == "closed" else TriangleMesh(vertices[: heights.size], upper)


def on_ground(ground, shape, place, **kwargs):
    b = cardan.WorldBuilder("terrain")
    b.add_shape("world", ground, **kwargs)
    b.add_body("body", pose=SE3(translation=place))
    b.add_shape("body", shape)
    return b.finalize()


def told_depths(make):
    """The things that a warning of depths names, and its text."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = make()
    own = [str(w.message) for w in said if issubclass(w.category, StartWarning)]
    return found, " ".join(own)


@pytest.mark.parametrize("kind", ["field", "open", "closed"])
@pytest.mark.parametrize("tilt", [None, (0.3, -0.2, 0.5)])
def test_what_begins_deep_in_terrain_is_named_with_its_depth(kind, tilt):
    """It was named at the world's creation alone; on triangles nothing was said of a foot that was all below."""
    ground = valley(kind)
    X = SE3.from_rpy(tilt or (0.0, 0.0, 0.0), (3.0, -2.0, 1.0))
    world = on_ground(ground, Sphere(0.1), X @ Vector3(0.1, 0.2, 1.0), pose=X)
    for depth, along in ((0.05, 0.2), (0.35, 0.2), (0.05, 2.5)):  # m; on the bottom, and on a slope
        height = max(0.0, along - 1.0) * 0.75 + (0.1 - depth) / (0.8 if along > 1.0 else 1.0)
        q = world.state().q[0]
        q[:3] = list(X @ Vector3(0.1, along, height))
        _, said = told_depths(lambda q=q: world.state(3, q=[q] * 3))
        named = float(said.partition("body/world by ")[2].partition(" mm")[0])
        assert named == pytest.approx(1e3 * depth, rel=0.15 if along > 1.0 else 1e-3)
        _, again = told_depths(lambda q=q: on_ground(ground, Sphere(0.1), q[:3], pose=X))
        assert again.partition("Contact")[0] == said.partition("Contact")[0]


def test_faces_along_a_ray_are_no_warning_of_numpy():
    x, y = np.meshgrid(*[np.linspace(-1.0, 1.0, 21)] * 2, indexing="ij")
    z = 0.03 * np.sin(10.0 * x) * np.cos(10.0 * y)
    rows = np.arange(441).reshape(21, 21)
    a, b, c, d = (own.ravel() for own in (rows[:-1, :-1], rows[1:, :-1], rows[1:, 1:], rows[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    world = on_ground(TriangleMesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), faces), Sphere(0.2), (0.0, 0.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StartWarning)
        warnings.simplefilter("error", RuntimeWarning)
        world.state(q=[0.9, 0.9, 0.1, 0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize("shape", [Sphere(0.1), Box((0.2, 0.2, 0.2)), Capsule(0.1, 0.3)])
def test_what_stands_beside_a_wall_or_under_a_roof_is_not_named(shape):
    """A shape 3 mm in a wall of 2 m is not 2 m deep; and one under a table has nothing in it."""
    block = TriangleMesh.of(cardan.description.Hull([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 2)]))
    top = TriangleMesh.of(cardan.description.Hull([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (2, 3)]))
    for ground, place in ((block, (-0.097, 0.5, 1.0)), (top, (0.5, 0.5, 1.0))):
        world, said = told_depths(lambda ground=ground, place=place: on_ground(ground, shape, place))
        assert not said
        q = world.state().q[0]
        q[:3] = place
        assert not told_depths(lambda q=q, world=world: world.state(q=q))[1]
    world = on_ground(block, shape, (-1.0, 0.5, 1.0))
    q = world.state().q[0]
    q[:3] = 0.5, 0.5, 1.9
    assert "body/world by" in told_depths(lambda: world.state(q=q))[1]


def gripper(**properties):
    """A mass on a slide, with a finger without inertia."""
    m = Mechanism("gripper")
    m.add_body("hand", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_body("finger")
    m.add_joint("lift", J.Prismatic((0, 0, 1)), "world", "hand")
    m.add_joint("close", J.Revolute((1, 0, 0)), "hand", "finger", **properties)
    return m


def test_joints_of_a_description_that_move_nothing_with_inertia_stand_still():
    with pytest.warns(StartWarning, match="joints close move nothing that has inertia.*stand still") as said:
        world = gripper().world()
    assert [w.filename for w in said] == [__file__]
    state, control = world.state(q=[0.0, 0.3], v=[0.0, 2.0]), world.control()
    solver = cardan.solvers.Featherstone(world, 0.002)
    after = solver.step(state, steps=100)
    np.testing.assert_allclose(after.q, [[-9.81 * 0.5 * 0.2 * 0.202, 0.3]])
    control.velocity[:, 1] = 1.0
    assert solver.step(state, control, steps=100).q[0, 1] == pytest.approx(0.5)


def test_what_holds_a_joint_without_inertia_moves_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = gripper(drive=cardan.Drive(10.0, 1.0)).world()
    assert world.kinematic == ()


def test_a_world_of_ones_own_with_a_joint_that_moves_nothing_is_refused():
    b = cardan.WorldBuilder()
    b.add(gripper())
    with pytest.raises(MechanismError, match="joint 'close' moves nothing that has inertia"):
        cardan.solvers.Featherstone(b.finalize(), 0.002)


@pytest.mark.slow
def test_stops_and_drives_are_right_where_nothing_touches():
    """Two passes left most of these states wrong, of 512 by up to 531 rad/s; others go round in circles."""
    robot, _ = cardan.robots.humanoid().with_drives({"*": cardan.Drive(1000.0, 50.0)})
    world = robot.world()
    nv, rng = world.model.nv, np.random.default_rng(0)
    state = world.state(64, q=world.model.random_configuration(64, seed=0), v=rng.normal(size=(64, nv)))
    control = world.control(64)
    control.position = rng.normal(size=(64, nv))
    assert cardan.solvers.Featherstone(world, dt=0.002).step(state, control).residual.max() < 1e-3


@pytest.mark.parametrize(("multiplier", "upper", "is_told"), [(1.0, 1.0, False), (-1.0, 1.0, True), (2.0, 1.5, True)])
def test_limits_that_a_followed_joint_passes_are_told(multiplier, upper, is_told):
    """No solver applies them: PR2's gripper has limits that no motion of its fingers keeps."""
    m, box = Mechanism("hand"), Inertia(1.0)
    for name, joint, top in [("a", J.Revolute(), 1.0), ("b", J.Mimic(J.Revolute(), "a", multiplier), upper)]:
        m.add_body(f"finger_{name}", box)
        m.add_joint(name, joint, "world", f"finger_{name}", limits=cardan.Limits([0.0], [top]))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m.world()
    assert [w.message.things for w in said if "no effect" in str(w.message)] == [("b",)] * is_told


def test_a_floating_base_without_mass_that_carries_a_hinge_is_refused():
    """Along the hinge nothing tells its motion from that of the base; every world diverged at the first step."""
    world = cardan.robots.double_pendulum().world(base="floating")
    with pytest.raises(
        MechanismError, match=r"joint 'root' moves nothing that has inertia.*beyond a joint that is free"
    ):
        cardan.solvers.Featherstone(world, 0.001)
    held, _ = cardan.robots.double_pendulum().with_drives({"shoulder": cardan.Drive(damping=0.01)})
    solver = cardan.solvers.Featherstone(held.world(base="floating"), 0.001)
    assert not solver.step(solver.world.state(), steps=10).diverged.any()


SOLID, POINT = (Inertia(1.0, (0.2, 0.3, 0.4), turns) for turns in (np.eye(3), np.zeros((3, 3))))


@pytest.mark.parametrize(("hinges", "inertia", "refused"), [(6, SOLID, False), (7, SOLID, True), (4, POINT, True)])
def test_more_hinges_than_a_body_resists_are_refused(hinges, inertia, refused):
    """Their mass matrix has no inverse anywhere, which rounding hid: they were moved by numbers of no mechanism."""
    m = Mechanism("row")
    for k in range(hinges):
        m.add_body(f"b{k}", inertia if k == hinges - 1 else None)
        at = SE3(translation=(0.1, 0.05 * k, 0.2))
        m.add_joint(f"j{k}", J.Revolute(np.eye(3)[k % 3]), f"b{k - 1}" if k else "world", f"b{k}", at)
    world = m.world()
    if refused:
        with pytest.raises(MechanismError, match="joint 'j0' moves nothing that has inertia"):
            cardan.solvers.Featherstone(world, 0.001)
    else:
        assert not cardan.solvers.Featherstone(world, 0.001).step(world.state(), steps=10).diverged.any()


@pytest.mark.parametrize("inputs", [(), ("mass",)])
def test_point_masses_that_are_stretched_where_they_are_neutral_move(inputs):
    """Their mass matrix has no inverse there alone, so that the world is none that is refused."""
    m = Mechanism("whip")
    m.add_body("near")
    m.add_body("far", Inertia(1.0, (0.0, 0.0, -0.5), np.zeros((3, 3))))
    m.add_joint("first", J.Revolute((1, 0, 0)), "world", "near")
    m.add_joint("second", J.Revolute((1, 0, 0)), "near", "far", SE3(None, (0.0, 0.0, -0.5)))
    world = m.world().with_inputs(*inputs)
    solver, state = cardan.solvers.Featherstone(world, 0.0005), world.state(q=[0.3, 1.0])
    after = solver.step(state, steps=200)
    assert not after.diverged.any()
    fall = [cardan.potential_energy(m.model(), s.q[0]) for s in (state, after)]
    kinetic = cardan.kinetic_energy(m.model(), after.q[0], after.v[0])
    assert kinetic > 0.01
    assert kinetic == pytest.approx(fall[0] - fall[1], rel=0.02)


def test_what_begins_in_one_place_is_told_without_a_look_at_all_pairs(monkeypatch):
    """Of 1500 balls in one place there are a million pairs: making the world took minutes."""
    looked = []
    monkeypatch.setattr(beginnings, "MANY", 7)
    monkeypatch.setattr(beginnings, "depth", lambda kinematics, pair: looked.append(pair.name) or 0.1)
    b = cardan.WorldBuilder()
    for k in range(12):
        b.add_body(f"ball{k}")
        b.add_shape(f"ball{k}", Sphere(0.05), density=1000.0)
    with pytest.warns(StartWarning, match=r"in one another: ball1/ball0 by 100 mm.*not all were looked at"):
        b.finalize()
    assert len(looked) == 7
    monkeypatch.setattr(beginnings, "MANY", 1000)
    with pytest.warns(StartWarning) as said:
        b.finalize()
    assert "not all were looked at" not in str(said[0].message)
    assert len(looked) == 7 + 12 * 11 // 2
