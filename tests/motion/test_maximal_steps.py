"""Steps in maximal coordinates: against generalised ones, on every joint; what solvers take, and what they refuse."""

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia
from cardan._dynamics.algorithms import stepping
from cardan._motion.maximal_steps import Efforts, rigid_start, semi_implicit_step, variational, xpbd
from cardan._robot.joints.catalogue.of_another import renamed_primaries
from cardan.errors import UnsupportedError
from cardan.joints import CATALOGUE, Cable, Distance, FreeFlyer, Reversed, Revolute, Spherical
from cardan.simulation import solvers
from mechanisms import random_inertia, random_pose
from representatives import represented

pytestmark = pytest.mark.usefixtures("quick_target")
ORDERS = {"variational": 2, "xpbd": 1, "semi_implicit": 1}


STEPS = {
    "variational": lambda acting, *state, **options: acting(rigid_start(variational(**options), *state)),
    "xpbd": lambda acting, *state: acting(rigid_start(xpbd(), *state)),
    "semi_implicit": semi_implicit_step,
}
QUICK = {("variational", "Revolute"), ("xpbd", "Revolute"), ("semi_implicit", "Revolute")}
QUICK |= {("variational", "SphericalZYX"), ("semi_implicit", "SphericalZYX"), ("variational", "Mimic")}
methods = pytest.mark.parametrize("method", STEPS)
every_joint = pytest.mark.parametrize(
    ("joint", "method"),
    [
        pytest.param(
            j, m, id=f"{type(j).__name__}-{m}", marks=() if (m, type(j).__name__) in QUICK else pytest.mark.full
        )
        for j in CATALOGUE
        for m in STEPS
    ],
)


def step_of(method, h, **options):

    @cardan.function
    def maximal_step(model, q, v, tau):
        def acting(begun, *_):
            return begun.finish(Efforts(list(tau), [0.0] * model.nv))

        return STEPS[method](acting, model, q, v, h, **options)

    return maximal_step


@cardan.function
def rk4(model, q, v, tau, h: float):
    def rate(q, v):
        if model.closures:
            return cardan.constrained_forward_dynamics.kernel(model, q, v, tau).accelerations
        return cardan.forward_dynamics.kernel(model, q, v, tau)

    return stepping.rk4(model, q, v, rate, h)


def ways(function, model, q, v, tau, steps, *rest):
    """Every state on the way, and the gaps where a step tells of them."""
    gaps = 0.0
    states = [(q, v)]
    for _ in range(steps):
        q, v, *more = function(model, q, v, tau, *rest)
        states.append((q, v))
        gaps = max([gaps, *(np.abs(g).max(initial=0.0) for g in more[:1])])
    return states, gaps


def error(method, model, q, v, tau, T, h):
    (*_, (q1, v1)), gaps = ways(step_of(method, h), model, q, v, tau, round(T / h))
    (*_, (q2, v2)), _ = ways(rk4, model, q, v, tau, round(T / 1e-3), 1e-3)
    off = max(np.abs(cardan.difference(model, q2, q1)).max(), np.abs(v1 - v2).max())
    return off, gaps


def pair(joint, seed=0, armature=None):
    """Two bodies on a joint and a hinge, at awkward places, with a drive of some inertia at the hinge."""
    rng = np.random.default_rng(seed)
    m = cardan.Mechanism("pair")
    m.add_body("a", random_inertia(rng))
    m.add_body("b", random_inertia(rng))
    poses = [random_pose(rng) for _ in range(4)]
    hinge, first = Revolute((0.0, 0.6, 0.8)), joint
    if joint.primaries:
        first, hinge = hinge, renamed_primaries(joint, lambda _: "first")
    m.add_joint("first", first, "world", "a", *poses[:2])
    m.add_joint("second", hinge, "a", "b", *poses[2:], armature=armature)
    return m.model()


# --- against generalised coordinates ---


@pytest.mark.full
@every_joint
def test_every_joint_moves_as_in_generalised_coordinates_to_the_order_of_the_step(method, joint):
    model, rng = pair(joint), np.random.default_rng(5)
    q = cardan.integrate(model, model.neutral(), 0.5 * rng.normal(size=model.nv))
    v, tau = 0.5 * rng.normal(size=model.nv), 0.5 * rng.normal(size=model.nv)
    (coarse, gap), (fine, smaller) = (error(method, model, q, v, tau, 0.024, h) for h in (4e-3, 2e-3))
    order = ORDERS[method]
    crossing = 0.0 if order == 2 else 1e-4  # below, errors of the two halves of a step nearly cancel (XPBD's spline)
    assert fine < max(coarse / (0.75 * 2**order), crossing)
    assert coarse < (2e-3 if order == 2 else 0.3)
    assert smaller <= gap + 1e-12
    assert gap < (1e-5 if order == 2 else 1e-2)


@pytest.mark.parametrize("method", represented(["variational", "xpbd", "semi_implicit"], by=["semi_implicit"].count))
def test_a_closed_loop_moves_as_in_generalised_coordinates(method):
    model = cardan.robots.four_bar().model()
    q = cardan.assemble(model, [0.5, 0.0, 0.0], fixed=("crank_joint",))
    v, tau = cardan.project_velocity(model, q, [2.0, 0.0, 0.0], fixed=("crank_joint",)), np.array([0.1, 0.0, 0.0])
    (coarse, _), (fine, gap) = (error(method, model, q, v, tau, 0.04, h) for h in (4e-3, 2e-3))
    assert fine < coarse / (0.75 * 2 ** ORDERS[method])
    assert gap < (1e-6 if method == "variational" else 1e-2)


def test_armature_is_felt_at_the_joint():
    m = cardan.Mechanism("geared")
    m.add_body("arm", cardan.Inertia(1.0, (0.3, 0.0, 0.0), np.eye(3) * 0.01))
    m.add_joint("drive", Revolute((0.0, 1.0, 0.0)), "world", "arm", armature=[0.5])
    model = m.model()
    q, v, tau = np.array([0.3]), np.array([0.2]), np.array([1.0])
    coarse, fine = (error("variational", model, q, v, tau, 0.04, h)[0] for h in (4e-3, 2e-3))
    assert fine < coarse / 3.0 + 1e-9
    assert coarse < 1e-5


@pytest.mark.parametrize(
    ("joint", "method"),
    represented([(j, m) for j in (Revolute(), Spherical()) for m in STEPS], by=lambda c: c == (Revolute(), "xpbd")),
    ids=str,
)
def test_armature_does_not_push_where_bodies_turn_one_another(method, joint):
    """Where XPBD closes joints, drives were turned by nobody: accelerations were wrong at any step, and energy grew."""
    model, rng = pair(joint, armature=[0.3]), np.random.default_rng(5)
    q, v = model.random_configuration(seed=0), 2.0 * rng.normal(size=model.nv)
    coarse, fine = (error(method, model, q, v, 0.0 * v, 0.024, h)[0] for h in (4e-3, 2e-3))
    assert fine < 0.6 * coarse


# --- what the variational step keeps ---


@pytest.mark.slow
@pytest.mark.parametrize(("links", "turns", "most"), [(2, 0.1, 2e-3), (2, 0.2, 1e-2), (5, 0.1, 1e-2), (5, 0.2, 0.1)])
def test_joints_close_however_far_their_bodies_turn_in_a_step(links, turns, most, native_target):
    """Two iterations left gaps, and the first of these chains gained 1 %, the last 66 times its energy in 0.8 s."""
    b, before = cardan.WorldBuilder(gravity=(0.0, 0.0, 0.0)), "world"
    for k in range(links):
        b.add_link(f"link{k}", inertia=Inertia(1.0, (0.1, 0, 0), np.diag([1e-3, 4e-3, 5e-3])))
        b.add_joint(f"joint{k}", Spherical(), before, f"link{k}", SE3(translation=(0.2 if k else 0.0, 0, 0)))
        before = f"link{k}"
    b.add_articulation("chain", [f"joint{k}" for k in range(links)])
    world, dt = b.finalize(), 4e-3
    v = np.random.default_rng(0).normal(size=(16, world.model.nv))
    v *= turns / dt / np.abs(v).max(axis=1)[:, None]
    motion = solvers.Variational(world, dt).rollout(world.state(worlds=16, v=v), steps=200)
    energy = cardan.kinetic_energy(world.model, motion.q, motion.v)
    assert (energy / cardan.kinetic_energy(world.model, motion.q[0], v)).max() < 1.0 + most


def energies(model, states):
    q, v = (np.array(x) for x in zip(*states, strict=True))
    return cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)


@pytest.mark.full
def test_the_energy_of_the_variational_step_does_not_drift_and_its_error_is_of_order_two():
    model = cardan.robots.double_pendulum().model()
    q, v, tau = np.array([1.5, 0.5]), np.zeros(2), np.zeros(2)
    worst = []
    for h in (8e-3, 4e-3, 2e-3):
        E = energies(model, ways(step_of("variational", h, iterations=3), model, q, v, tau, round(8.0 / h))[0])
        half = len(E) // 2
        worst.append(np.abs(E - E[0]).max())
        assert np.abs(E[half:] - E[0]).max() < 2.0 * np.abs(E[:half] - E[0]).max()
    np.testing.assert_allclose([worst[0] / worst[1], worst[1] / worst[2]], 4.0, rtol=0.25)


def test_a_tumbling_body_keeps_its_momentum_in_space_to_rounding():
    m = cardan.Mechanism("tumbling")
    m.add_body("body", cardan.Inertia(1.5, (0.1, -0.2, 0.05), np.diag([0.1, 0.2, 0.28])))
    m.add_joint("free", FreeFlyer(), "world", "body")
    model = m.model().with_gravity((0.0, 0.0, 0.0))
    q, v = model.neutral(), np.array([0.1, 0.2, -0.3, 0.1, 5.0, 0.2])
    states, _ = ways(step_of("variational", 5e-3), model, q, v, np.zeros(6), 60)
    h = np.array([cardan.centroidal_momentum(model, q, v) for q, v in states])
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-13)
    T = np.array([cardan.kinetic_energy(model, q, v) for q, v in states])
    assert np.abs(T / T[0] - 1.0).max() < 1e-3


# --- bounds, springs ---


def hanging(joint, start):
    m = cardan.Mechanism("hanging")
    m.add_body("ball", cardan.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3) * 0.01))
    m.add_joint("line", joint, "world", "ball")
    model = m.model()
    q = model.neutral()
    q[:3] = start
    return model, q


@pytest.mark.slow
@methods
@pytest.mark.parametrize("turned", [False, True], ids=["line", "reversed"])
def test_a_rope_holds_and_a_rod_swings_as_a_pendulum(method, turned):
    rope = Distance(maximum=0.5)
    model, q = hanging(Reversed(rope) if turned else rope, (0.0, 0.0, -0.5 if not turned else 0.5))
    tau, h = np.zeros(6), 2e-3
    states, _ = ways(step_of(method, h), model, q, np.zeros(6), tau, 40)
    ends = [np.asarray(cardan.frame_transform(model, q, "ball"))[:3, 3] for q, _ in states]
    np.testing.assert_allclose(np.linalg.norm(ends, axis=1), 0.5, atol=3e-4)
    if not turned:
        model, q = hanging(Distance(minimum=0.5, maximum=0.5), (0.3, 0.0, -0.4))
        states, _ = ways(step_of(method, h), model, q, np.zeros(6), tau, 40)
        assert np.abs(np.linalg.norm([q[:3] for q, _ in states], axis=1) - 0.5).max() < 1e-3
        assert states[-1][0][0] < 0.29


@methods
def test_a_slack_rope_lets_go(method):
    model, q = hanging(Distance(maximum=0.5), (0.0, 0.0, -0.2))
    states, _ = ways(step_of(method, 2e-3), model, q, np.zeros(6), np.zeros(6), 20)
    fallen = -0.2 - states[-1][0][2]
    assert fallen == pytest.approx(0.5 * 9.81 * 0.04**2, rel=0.1)


# --- solvers ---


@cardan.function
def rk4_of_springs(model, q, v, h: float):
    """A step of a model that is one joint with springs of its own."""
    joint = model.nodes[0].joint

    def rate(q, v):
        return cardan.forward_dynamics.kernel(model, q, v, joint.efforts(q, v))

    return stepping.rk4(model, q, v, rate, h)


def arm(limits=None, **joint):
    m = cardan.Mechanism("arm")
    m.add_body("link", cardan.Inertia(1.0, (0.3, 0.0, 0.0), np.eye(3) * 0.01))
    m.add_joint("hinge", Revolute((0.0, 1.0, 0.0)), "world", "link", limits=limits, **joint)
    return m


SOLVERS = {"Variational": solvers.Variational, "XPBD": solvers.XPBD, "SemiImplicit": solvers.SemiImplicit}
each = pytest.mark.parametrize("solver", SOLVERS)


@each
def test_drives_bring_the_arm_where_they_are_asked_to(solver, native_target):
    drive = cardan.Drive(stiffness=200.0, damping=20.0)
    world = arm(drive=drive).world()
    control = world.control()
    control.position = [[0.4]]
    state = SOLVERS[solver](world, 5e-3).step(world.state(), control, steps=200)
    droop = 9.81 * 0.3 * np.cos(state.q[0, 0]) / 200.0  # sags about y, down being positive
    np.testing.assert_allclose(state.q, 0.4 + droop, atol=2e-3)
    assert np.abs(state.v).max() < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("solver", represented(SOLVERS, by=["Variational"].count))
def test_a_cable_swings_on_its_springs(solver, native_target):
    m = cardan.Mechanism("cable")
    m.add_body("end", cardan.Inertia(0.5, (0.05, 0.0, -0.1), np.diag([2e-3, 3e-3, 2e-3])))
    springs = {"stretch_stiffness": 200.0, "bend_stiffness": 2.0, "stretch_damping": 1.0, "bend_damping": 0.02}
    m.add_joint("cable", Cable(axis=(0.0, 0.0, 1.0), **springs), "world", "end")
    world = m.world()
    q, v = np.array([0.01, 0.3, -0.2]), np.zeros(3)
    off = []
    for h in (2e-3, 1e-3):
        found = SOLVERS[solver](world, h).step(world.state(q=[q]), steps=round(0.05 / h))
        off.append(found.q[0])
    for _ in range(50):
        q, v = rk4_of_springs(world.model, q, v, 1e-3)
    coarse, fine = (np.abs(x - q).max() for x in off)
    assert coarse < 0.05
    assert fine < coarse / 1.6


@pytest.mark.slow
@each
def test_a_stop_holds_and_friction_sticks(solver, native_target):
    world = arm(cardan.Limits(lower=[-0.5], upper=[0.1])).world()
    state = SOLVERS[solver](world, 5e-3).step(world.state(), steps=100)
    np.testing.assert_allclose(state.q, 0.1, atol=5e-3)
    stuck = arm(friction=[5.0]).world()
    state = SOLVERS[solver](stuck, 5e-3).step(stuck.state(), steps=40)
    np.testing.assert_allclose(state.q, 0.0, atol=1e-3)
    assert not state.diverged.any()


@each
@pytest.mark.parametrize("dt", [1e-4, 1e-2])
def test_a_stop_gives_nothing_of_the_speed_back(solver, dt, native_target):
    world = arm(cardan.Limits(upper=[0.1])).world(gravity=(0, 0, 0))
    start = world.state(q=[[0.1 - 2.3 * dt * 5.0]], v=[[5.0]])
    state = SOLVERS[solver](world, dt).step(start, steps=20)
    assert -1e-4 * 5.0 < state.v[0, 0] <= 1e-12
    chords = 1e-4 if solver == "SemiImplicit" else 1e-5  # its bodies go straight on in each part of a step
    np.testing.assert_allclose(state.q, 0.1, atol=chords)


@each
def test_steps_are_repeated_bit_for_bit_in_both_precisions(solver):
    world = cardan.robots.double_pendulum().world()
    for dtype in ("float64", "float32"):
        state = world.state(worlds=3, dtype=dtype, q=np.array([[1.0, 0.2], [0.1, 0.2], [2.0, -1.0]]))
        take = SOLVERS[solver](world, 1e-3)
        once = take.step(state, steps=3)
        thrice = take.step(take.step(take.step(state)))
        np.testing.assert_array_equal(once.q, thrice.q)
        assert once.q.dtype == dtype
        reference = solvers.Featherstone(world, 1e-3).step(state, steps=3)
        np.testing.assert_allclose(once.q, reference.q, atol=3e-4)


@each
def test_what_would_be_left_out_is_refused_by_name(solver):
    make = SOLVERS[solver]
    with pytest.raises(UnsupportedError, match=r"compliance of joint 'hinge'"):
        make(arm(compliance=(1e-5,) * 6).world(), 1e-3)
    empty = arm()
    empty.add_body("dummy")
    empty.add_joint("wrist", Spherical(), "link", "dummy")
    with pytest.raises(UnsupportedError, match=r"what joint 'wrist' moves"):
        make(empty.world(), 1e-3)


@pytest.mark.parametrize("solver", [solvers.XPBD, solvers.Variational])
def test_an_armature_that_follows_is_named_by_its_joint(solver):
    """A rotor that the layout had added was named, and mass asked for it."""
    m = cardan.Mechanism("geared")
    for name in ("shaft", "wheel"):
        m.add_body(name, Inertia(mass=1.0, com=(0.0, 0.0, 0.0), inertia=0.01 * np.eye(3)))
    m.add_joint("motor", Revolute(), "world", "shaft")
    follows = cardan.joints.Coupled(Revolute(), by=("motor",), function=cardan.joints.Polynomial([0.0, 1.0, 0.3]))
    m.add_joint("cam", follows, "world", "wheel", armature=[0.1])
    with pytest.raises(UnsupportedError, match=r"armature of joint 'cam', which follows others; take .*or leave"):
        solver(m.world(), 1e-3)


@each
def test_a_world_that_diverges_is_told(solver):
    world = cardan.robots.double_pendulum().world()
    state = world.state(worlds=2, v=[[0.0, 0.0], [1e200, 0.0]])
    after = SOLVERS[solver](world, 1e-3).step(state)
    assert after.diverged.tolist() == [False, True]
    assert np.isfinite(after.q).all()


@pytest.mark.full
@each
def test_a_step_is_differentiated(solver):
    world = cardan.robots.double_pendulum().world()
    step = SOLVERS[solver](world, 2e-3).function
    q, v, zero = np.array([1.0, 0.2]), np.array([0.3, -0.4]), np.zeros(())

    def after(q):
        return step(world.model, q, v, zero)["q"]

    slope = cardan.derivative(step, "q")(world.model, q, v, zero)["q"]
    h = 1e-6
    differences = np.stack([(after(q + h * e) - after(q - h * e)) / (2 * h) for e in np.eye(2)], axis=-1)
    np.testing.assert_allclose(slope, differences, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("make", [cardan.solvers.XPBD, cardan.solvers.Variational])
def test_what_turns_by_radians_in_a_step_keeps_its_momentum_and_gains_no_energy(make, dtype):
    """Two steps of Newton's method left a part of it, so that at 2 rad a step bodies had 1e46 times their energy."""
    b = cardan.WorldBuilder(gravity=[0, 0, 0])
    b.add_body("box")
    b.add_shape("box", cardan.description.Box((0.18, 0.16, 0.07)))
    world, dt = b.finalize(), 2e-3
    ways = np.random.default_rng(0).normal(size=(8, 3))
    turns = np.array([1.0, 2.0, 6.0, 30.0]).repeat(2)
    v = np.zeros((8, 6))
    v[:, 3:] = ways / np.linalg.norm(ways, axis=1, keepdims=True) * turns[:, None] / dt
    start = world.state(worlds=8, v=v, dtype=dtype)
    motion = make(world, dt).rollout(start, steps=200)
    small = 1e-10 if dtype == "float64" else 1e-3
    before = cardan.centroidal_momentum(world.model, start.q, start.v)[:, 3:]
    after = cardan.centroidal_momentum(world.model, motion.q, motion.v)[..., 3:]
    assert (np.linalg.norm(after - before, axis=-1) < small * np.linalg.norm(before, axis=-1)).all()
    energies = cardan.kinetic_energy(world.model, motion.q, motion.v)
    assert (energies < 1.1 * cardan.kinetic_energy(world.model, start.q, start.v)).all()  # it goes up and down
