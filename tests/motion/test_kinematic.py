"""Joints that move as they are told: what touches them or rides on them feels it, and moves them by nothing."""

import numpy as np
import pytest

import cardan
from cardan.description import Box, Cylinder, Sphere
from cardan.errors import UnknownNameError, UnsupportedError
from cardan.joints import FreeFlyer, Prismatic, Revolute
from representatives import represented

G, DT, MU = 9.81, 1e-3, 0.5
SOLVERS = {
    "convex": ("Featherstone", {}),
    "compliant": ("Featherstone", {"contact": "compliant"}),
    "xpbd": ("XPBD", {}),
    "variational": ("Variational", {}),
    "semi_implicit": ("SemiImplicit", {}),
}


def solver_of(name, world, dt=DT):
    kind, options = SOLVERS[name]
    return getattr(cardan.solvers, kind)(world, dt, **options)


def box_on(joint, mass=0.0):
    """Return a world of a box of 8 kg on a plate without matter that a joint moves."""
    b = cardan.WorldBuilder()
    surface = cardan.Material(friction=MU, stiffness=1e6)
    b.add_ground(pose=cardan.SE3(translation=(0.0, 0.0, -0.06)))
    b.add_link("plate", inertia=cardan.Inertia(0.01, (0.0, 0.0, 0.0), np.eye(3) * 1e-4))
    b.add_shape("plate", Box((20.0, 20.0, 0.1)), density=mass, material=surface)
    b.add_joint("belt", joint, "world", "plate")
    b.add_articulation("conveyor", ["belt"])
    b.add_body("box", pose=cardan.SE3(translation=(0.0, 0.0, 0.15)))
    b.add_shape("box", Box((0.2, 0.2, 0.2)), material=surface)
    world = b.finalize()
    assert {pair.name for pair in world.pairs} == {"box/ground", "box/plate"}  # the belt glides along the ground
    return world.with_kinematic("belt")


@pytest.mark.slow
@pytest.mark.parametrize("name", represented(SOLVERS, by=["convex"].count))
def test_a_belt_carries_a_box_by_friction(name):
    world = box_on(Prismatic([1, 0, 0]))
    assert {pair.name for pair in world.pairs} == {"box/ground", "box/plate"}  # what is told touches no ground
    solver, control = solver_of(name, world), world.control()
    state = solver.step(world.state(), control, steps=50)
    control.velocity[:, 0] = 1.0
    motion = solver.rollout(state, control, steps=300, every=100)
    tolerance = 0.03 if name in ("convex", "compliant") else 0.01  # contacts that give way let the box rock
    assert np.allclose(motion.v[1:3, 0, 1], [MU * G * 0.1, MU * G * 0.2], atol=tolerance)
    assert np.isclose(motion.v[3, 0, 1], 1.0, atol=tolerance)
    assert np.allclose(motion.q[:, 0, 0], [0.0, 0.1, 0.2, 0.3], rtol=0.0, atol=1e-12)
    assert motion.v[3, 0, 0] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dt"), [("Featherstone", 1e-3), ("XPBD", 2e-3)])
def test_a_box_stays_where_it_is_on_a_turntable(name, dt):
    """It crept by dt/2 of its centripetal acceleration: 3.8 mm in this second."""
    rate, radius, rubber = 5.0, 0.3, cardan.Material(friction=5.0)
    b = cardan.WorldBuilder("turntable")
    b.add_link("table", inertia=cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("table", Cylinder(1.0, 0.1), density=0.0, material=rubber)
    b.add_joint("drum", Revolute([0, 0, 1]), "world", "table")
    b.add_articulation("turntable", ["drum"])
    b.add_body("crate", pose=cardan.SE3(translation=[radius, 0, 0.1]))
    b.add_shape("crate", Box((0.1, 0.1, 0.1)), material=rubber)
    world = b.finalize()
    state = world.state(v=[rate, 0.0, rate * radius, 0.0, 0.0, 0.0, rate])
    state = getattr(cardan.solvers, name)(world, dt=dt).step(state, steps=int(1.0 / dt))
    turn, x, y = state.q[0, :3]
    np.testing.assert_allclose([x, y], [radius * np.cos(turn), radius * np.sin(turn)], atol=2e-4)


@pytest.mark.slow
def test_spheres_that_spin_bounce_off_in_passing_as_others_do():
    """Without friction, at all speeds of a spin that both share; 7 % of their energy went at 300 rad/s."""
    b, rng, N = cardan.WorldBuilder(gravity=(0, 0, 0)), np.random.default_rng(1), 50
    for k, x in enumerate((0.0, 0.35)):
        b.add_body(f"ball{k}", pose=cardan.SE3(translation=[x, 0, 0]))
        b.add_shape(f"ball{k}", Sphere(0.1), material=cardan.Material(friction=0.0, restitution=1.0))
    world = b.finalize()
    state = world.state(N)
    state.q[:, 8:10] = rng.uniform(-0.15, 0.15, (N, 2))
    state.v[:, 6] = -1.0
    spun = state.copy()
    spun.v[:, [5, 11]] = 300.0
    solver = cardan.solvers.Featherstone(world, dt=1e-3)
    plain, spun = (solver.step(s, steps=400) for s in (state, spun))
    linear = [np.linalg.norm(cardan.body_velocities(world.model, s.q, s.v)[..., :3], axis=-1) for s in (plain, spun)]
    np.testing.assert_allclose(linear[1], linear[0], atol=4e-3)


@pytest.mark.full
def test_a_lift_bears_the_weight_and_what_it_speeds_up():
    world = box_on(Prismatic([0, 0, 1]))
    solver, control = solver_of("variational", world), world.control()
    state, w, size = solver.step(world.state(), control, steps=20), 5.0, 0.1
    for k in range(200):
        control.velocity[:, 0] = size * w * np.sin(w * DT * (k + 1))
        felt = solver.contact_forces(state, control).force[..., 2].sum()
        if k % 50 == 25:
            assert np.isclose(felt, 8.0 * (G + size * w * w * np.cos(w * DT * (k + 0.5))), rtol=2e-3)
        state = solver.step(state, control)
    assert np.isclose(state.q[0, 0], size * (1.0 - np.cos(w * 0.2)), atol=1e-3)
    assert np.isclose(state.q[0, 3], state.q[0, 0] + 0.15, atol=1e-4)


@pytest.mark.parametrize("name", ["convex", "variational", "semi_implicit"])
def test_a_pendulum_on_a_cart_that_is_shaken(name):
    b = cardan.WorldBuilder()
    b.add_link("cart", inertia=cardan.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3) * 0.1))
    b.add_link("bob", inertia=cardan.Inertia(2.0, (0.0, 0.0, -0.5), np.eye(3) * 0.05))
    b.add_joint("rail", Prismatic([1, 0, 0]), "world", "cart")
    b.add_joint("hinge", Revolute([0, -1, 0]), "cart", "bob")  # angle: to +x
    b.add_articulation("all", ["rail", "hinge"])
    world = b.finalize().with_kinematic("rail")
    dt, w, size = 1e-3, 6.0, 0.2
    solver, control, state = solver_of(name, world, dt), world.control(), world.state()

    def rates(t, y):
        return np.array([y[1], -(G * np.sin(y[0]) + size * w * w * np.cos(w * t) * np.cos(y[0])) / 0.55])

    y = np.array([0.0, 0.0])
    for k in range(200):
        control.velocity[:, 0] = size * w * np.sin(w * dt * (k + 1))
        state = solver.step(state, control)
        mid = y + 0.5 * dt * rates(k * dt, y)
        y = y + dt * rates((k + 0.5) * dt, mid)
    assert np.allclose([state.q[0, 1], state.v[0, 1]], y, atol=2e-3)
    assert abs(y[0]) > 0.2


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.full
def test_every_world_moves_as_it_is_told_whatever_pushes(dtype):
    world = box_on(FreeFlyer())
    solver = cardan.solvers.Featherstone(world, DT)
    state, control = world.state(3, dtype), world.control(3, dtype)
    control.velocity[:, :6] = [[0.0] * 6, [0.1, 0.0, 0.2, 0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 0.1, 0.0, 0.0]]
    control.apply_force("plate", (1e3, -1e3, 1e4), (10.0, 20.0, 30.0))
    control.effort[:, 0] = 1e3
    again = state.copy()
    state = solver.step(state, control, steps=100)
    for _ in range(100):
        again = solver.step(again, control)
    q = state.q.copy()
    q[:, :7] = world.initial[:7]
    for _ in range(100):
        q = cardan.integrate(world.model, q, DT * control.velocity)
    assert np.allclose(state.q[:, :7], q[:, :7], atol=1e-12 if dtype == "float64" else 1e-5)
    assert (state.v[:, :6] == control.velocity[:, :6]).all()
    assert state == again
    rest = solver.step(state, steps=3)  # nobody tells them anything
    assert (rest.v[:, :6] == 0.0).all()
    assert np.allclose(rest.q[:, :7], state.q[:, :7], rtol=0.0, atol=4 * np.finfo(dtype).eps)


@pytest.mark.slow
def test_a_crank_that_is_driven_moves_a_four_bar():
    plain = cardan.robots.four_bar().world()
    crank = plain.model.joint_names[[c.joint.nv > 0 for c in plain.model.connections].index(True)]
    world = plain.with_kinematic(crank)
    k = world.model.v_slice(crank).start
    control = world.control()
    control.velocity[:, k] = 0.5
    state = world.state()
    for name in ("convex", "variational"):
        end = solver_of(name, world).step(state, control, steps=200)
        assert np.isclose(end.q[0, k], state.q[0, k] + 0.1, atol=1e-9)
        assert np.abs(cardan.loop_residual(world.model, end.q)).max() < 1e-5
        assert not end.diverged.any()
        rates = cardan.loop_jacobian(world.model, end.q)[0] @ end.v[0]
        assert np.abs(rates).max() < 1e-4


def test_what_is_kinematic_is_told_and_refused_by_name():
    world = box_on(Prismatic([1, 0, 0]))
    plain = cardan.robots.double_pendulum().world()
    assert world.kinematic == ("belt",)
    assert plain.with_kinematic("sh*").with_kinematic(["elbow"]).kinematic == ("shoulder", "elbow")
    assert not plain.moves_like(plain.with_kinematic("shoulder"))
    with pytest.raises(UnknownNameError, match=r"^kinematic joints of world 'double_pendulum': there is no joint"):
        plain.with_kinematic("root")  # it is fixed
    with pytest.raises(UnsupportedError, match="joint 'elbow' in the tree of 'shoulder'"):
        cardan.solvers.XPBD(plain.with_kinematic("shoulder"), DT)
    crank = cardan.robots.four_bar().world()
    with pytest.raises(UnsupportedError, match="which moves as it is told"):
        cardan.solvers.XPBD(crank.with_kinematic(crank.model.joint_names[1]), DT)
    pytest.importorskip("mujoco")
    with pytest.raises(UnsupportedError, match="joint 'belt', which moves as it is told"):
        cardan.solvers.MuJoCo(world, DT)
    with pytest.raises(UnsupportedError, match="joint 'belt'"):
        cardan.interop.to_mjspec(world)


def test_explicit_integrators_move_them_too():
    world = cardan.robots.double_pendulum().world().with_kinematic("shoulder")
    control, state = world.control(), world.state(q=[0.0, 0.4])
    control.velocity[:, 0] = 2.0
    ends = [
        cardan.solvers.Featherstone(world, 1e-4, integrator=name, limits=False).step(state, control, steps=500)
        for name in ("implicit", "midpoint", "rk4")
    ]
    for end in ends:
        assert np.isclose(end.q[0, 0], 0.1)
        assert np.allclose(end.v, ends[-1].v, atol=5e-3)


def test_a_generated_step_asks_for_their_velocity():
    world = cardan.robots.double_pendulum().world().with_kinematic("shoulder")
    solver = cardan.solvers.Featherstone(world, DT)
    step = cardan.generation.step_of(solver)
    asked = np.zeros(2), np.zeros(2), np.array([2.0, 0.0])
    found = step(world.model, world.initial, np.zeros(2), *asked)
    control = world.control()
    control.velocity[0] = asked[2]
    assert np.allclose(found["q_next"], solver.step(world.state(), control).q[0])
