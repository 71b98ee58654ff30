"""Implicit steps: drives, friction and stops inside the recursion; the integrators' orders."""

from typing import get_args

import numpy as np
import pytest

import cardan
from cardan._dynamics.algorithms.aba import borne_by_bodies, is_tree
from cardan._dynamics.algorithms.drives import RETURN, RIGID
from cardan._dynamics.algorithms.implicit import Snapshot, add_impedance, implicit_dynamics
from cardan._dynamics.algorithms.linear import on_axes
from cardan._dynamics.algorithms.tree import weightless
from cardan._motion.simulation.solvers.featherstone import Integrator
from cardan.joints import CATALOGUE, Cable, Coupled
from cardan.robots import double_pendulum, four_bar
from cardan.spatial import Force, Inertia, Motion
from mechanisms import random_inertia, random_model, random_state
from representatives import represented
from spatial_recursion import outward
from stepping import explicit_step, implicit_step

HINGE = 0.1 + 2.0 * 0.25  # inertia of the pendulum about its hinge


def pendulum(gravity=(0.0, 0.0, -9.81), **properties):
    m = cardan.Mechanism("pendulum")
    m.add_body("rod", cardan.Inertia(mass=2.0, com=[0, 0, -0.5], inertia=np.diag([0.1, 0.1, 0.01])))
    m.add_joint("hinge", cardan.joints.Revolute(axis=[0, 1, 0]), "world", "rod", **properties)
    return m.model(gravity=gravity)


def moved(step, model, q, v, count, effort=0.0, position=0.0, dtype=float):
    """Return the last result of a number of steps, and the largest of each result on the way."""
    q, v, zero = np.array(q, dtype), np.array(v, dtype), np.zeros(model.nv, dtype)
    largest, found = {}, {}
    for _ in range(count):
        found = step(model, q, v, zero + dtype(effort), zero + dtype(position), zero)
        q, v = found["q"], found["v"]
        largest = {name: max(largest.get(name, -np.inf), np.max(value)) for name, value in found.items()}
    return found, largest


def springs_of_cables(model, q):
    """Stiffness and damping along v, and how far it is to where the springs are at rest."""
    spring, damper, rest = np.zeros((3, model.nv))
    for c in model.connections:
        if isinstance(c.joint, Cable):
            own = model.v_slice(c.name)
            spring[own] = c.joint.stretch_stiffness, c.joint.bend_stiffness, c.joint.bend_stiffness
            damper[own] = c.joint.stretch_damping, c.joint.bend_damping, c.joint.bend_damping
            rest[own] = -q[model.q_slice(c.name)]
    return spring, damper, rest


def efforts_of_couplings(model, q, v, dt):
    """What acts along coupled coordinates x, each of one other, at the step's end with a = 0, and its fall with a.

    They move by d2x/dt2 = g a + bias with the slope g of the step's beginning, and feel g times the force along x.
    """
    force, fall = np.zeros((2, model.nv))
    for node in (node for node in model.nodes if isinstance(node.joint, Coupled)):
        (j,), own, rate = node.v, node.configuration(q), node.velocity(v)
        ((g,),), (bias,), (x,) = (
            node.joint.slopes(own),
            node.joint.curvature(own, rate),
            node.joint.inner_configuration(own),
        )
        after = [g * rate[0] + dt * (g * a + bias) for a in (0.0, -1e-3, 1e-3)]
        ends = [g * node.joint.joint.efforts([x + dt * u], [u])[0] for u in after]
        force[j] += ends[0]
        fall[j] += max((ends[1] - ends[2]) / 2e-3, 0.0)
    return force, fall


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("seed", represented(range(3), by=[2].count))
def test_one_step_of_proportional_derivative_control_is_the_closed_form(seed, all_joints_or):
    model = random_model(seed, joints=all_joints_or(CATALOGUE[3::4]))
    q, v, *_ = random_state(model, seed)
    rng = np.random.default_rng(seed)
    dt, kp, kd = 0.01, rng.uniform(10.0, 100.0, model.nv), rng.uniform(1.0, 10.0, model.nv)
    target, rate, effort = rng.normal(size=(3, model.nv))
    found = implicit_step(dt, kp, kd, limits=False)(model, q, v, effort, target, rate)
    error = cardan.difference(model, q, cardan.integrate(model, model.neutral(), target))
    spring, damper, rest = springs_of_cables(model, q)
    damping = np.array(model.passive("damping")) + damper
    coupled, fall = efforts_of_couplings(model, q, v, dt)
    M = cardan.mass_matrix(model, q) + np.diag(dt * (kd + damping) + dt * dt * (kp + spring) + fall)
    tau = coupled + effort + kp * (error - dt * v) + kd * (rate - v) - damping * v - cardan.bias_forces(model, q, v)
    tau += spring * (rest - dt * v)
    np.testing.assert_allclose(found["a"], np.linalg.solve(M, tau), rtol=1e-8, atol=1e-8)
    own = [c for c in model.connections if not c.joint.is_floating]  # whose axes do not turn with the body
    iv = np.concatenate([np.arange(model.nv)[model.v_slice(c.name)] for c in own])
    iq = np.concatenate([np.arange(model.nq)[model.q_slice(c.name)] for c in own])
    np.testing.assert_allclose(found["v"][iv], (v + dt * found["a"])[iv], atol=1e-12)
    np.testing.assert_allclose(found["q"][iq], cardan.integrate(model, q, dt * found["v"])[iq], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_impedances_in_the_recursion_are_those_in_joint_space(seed):
    model = random_model(seed, joints=[joint for joint in CATALOGUE if not joint.primaries])
    assert is_tree(model)
    q, v, *_ = random_state(model, seed)
    rng = np.random.default_rng(seed)
    tau, armature = rng.normal(size=model.nv), rng.uniform(0.0, 1.0, model.nv)
    touched = [int(i) for i in rng.integers(0, len(model.nodes), 3)]
    forces = [(i, Force(*rng.normal(size=(2, 3)))) for i in touched]
    impedances = [(i, random_inertia(rng).articulated()) for i in touched]
    moment = Snapshot(model, list(q), list(v))
    A = (cardan.mass_matrix(model, q) + np.diag(armature)).tolist()
    b, p = tau - cardan.bias_forces(model, q, v), list(moment.p)
    felt = [node.inertia.articulated() for node in model.nodes]
    for (i, force), (j, Z) in zip(forces, impedances, strict=True):
        for k, column in moment.columns(i).items():
            b[k] += force.dot(column)
        add_impedance(A, moment.columns(j), Z)
        p[i], felt[j] = p[i] - force, felt[j] + Z
    found = borne_by_bodies(model, moment.relative, p, tau, on_axes(armature), lambda node: felt[node.index])
    np.testing.assert_allclose(np.array(found.a, float), np.linalg.solve(A, b), rtol=1e-7, atol=1e-7)
    for dA, change in zip(found.dA, moment.changes(found.a), strict=True):
        np.testing.assert_allclose(dA.scalars(), change.scalars(), rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_points_accelerate_as_spatial_motion_has_it(seed):
    """Origins and U r give the forces of I A + V x* I V, of every joint there is."""
    model = random_model(seed)
    q, v, *_ = random_state(model, seed)
    motion = outward(model, list(q), list(v), [0.0] * model.nv, weightless(model))
    moment = Snapshot(model, list(q), list(v))
    own = zip(moment.motions, moment.V, strict=True)
    still = [Motion(m.origin - m.spin.w.cross(V.linear), m.spin.rate) for m, V in own]
    for found, expected in ((moment.p, motion.body_forces(model)), (still, motion.A), (moment.V, motion.V)):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.array(one.scalars(), float), np.array(other.scalars(), float), atol=1e-9)


@pytest.mark.slow
def test_without_an_armature_it_is_forward_dynamics(reference_target):
    model = random_model(1)
    q, v, *_ = random_state(model, 1)
    tau = np.ones(model.nv)
    found = implicit_dynamics(Snapshot(model, list(q), list(v)), tau)
    np.testing.assert_allclose(np.array(found.a, float), cardan.forward_dynamics(model, q, v, tau), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dry_friction_holds_what_it_can_and_does_not_creep(dtype):
    found, _ = moved(implicit_step(2e-3), pendulum(friction=[12.0]), [1.0], [0.0], 1000, dtype=dtype)
    assert abs(found["v"][0]) < 1e-7  # the load is 8.3 N m
    np.testing.assert_allclose(found["q"], 1.0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dry_friction_slows_what_it_cannot_hold_by_its_own_amount_until_it_stops(dtype):
    model, friction, dt = pendulum(friction=[2.0]), 2.0, 1e-3
    one, _ = moved(implicit_step(dt), model, [1.0], [0.0], 1, dtype=dtype)
    np.testing.assert_allclose(one["a"], (friction - 2.0 * 9.81 * 0.5 * np.sin(1.0)) / HINGE, rtol=1e-5)
    end, largest = moved(implicit_step(dt), model, [1.0], [0.0], 10000, dtype=dtype)
    assert abs(end["v"][0]) < 1e-7
    assert abs(2.0 * 9.81 * 0.5 * np.sin(end["q"][0])) < friction
    assert largest["residual"] < 1e-5


def test_friction_of_a_slider_stops_it_where_work_says():
    m = cardan.Mechanism("slider")
    m.add_body("box", cardan.Inertia(mass=1.5, com=[0, 0, 0], inertia=np.eye(3)))
    m.add_joint("slide", cardan.joints.Prismatic(axis=[1, 0, 0]), "world", "box", friction=[3.0])
    dt = 1e-3
    found, _ = moved(implicit_step(dt), m.model(), [0.0], [2.0], 3000)
    np.testing.assert_allclose(found["q"], 1.5 * 4.0 / (2 * 3.0) - 2.0 * dt / 2, atol=2e-6)
    assert abs(found["v"][0]) < 1e-8


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_stop_is_hard_holds_and_lets_go(dtype):
    model, step, dt = pendulum(limits=cardan.Limits(lower=[-0.5], upper=[0.3])), implicit_step(2e-3), 2e-3
    pressed, largest = moved(step, model, [-0.4], [0.0], 1000, effort=20.0, dtype=dtype)
    assert abs(pressed["v"][0]) < 2e-5
    load = 20.0 - 2.0 * 9.81 * 0.5 * np.sin(0.3)
    yielded = load * dt * RETURN / (RIGID * HINGE)
    np.testing.assert_allclose(pressed["q"] - 0.3, yielded, atol=1e-9 if dtype is np.float64 else 5e-8)
    assert largest["q"] - 0.3 < 2.0 * load / HINGE * dt**2  # what one step moves before it is seen
    free, _ = moved(step, model, pressed["q"], pressed["v"], 10, dtype=dtype)
    assert free["v"][0] < -0.05


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 5e-3, 1e-2])
def test_a_stop_gives_nothing_of_the_speed_back(dt):
    model, step = pendulum(limits=cardan.Limits(upper=[0.1]), gravity=(0, 0, 0)), implicit_step(dt)
    end, _ = moved(step, model, [0.1 - 2.3 * dt * 5.0], [5.0], 20)
    assert -1e-4 * 5.0 < end["v"][0] <= 0.0
    assert abs(end["q"][0] - 0.1) < 1e-5


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("upper", [(0.1, 0.1), (0.5, 0.1)])  # with two stops, and one that it does not touch
def test_a_chain_that_begins_beyond_its_stops_is_not_thrown(dt, upper):
    m = cardan.Mechanism("arm")
    for above, body, end in (("world", "thigh", upper[0]), ("thigh", "shank", upper[1])):
        m.add_body(body, cardan.Inertia(mass=1.0, com=[0, 0, -0.2], inertia=0.02 * np.eye(3)))
        m.add_joint(
            body,
            cardan.joints.Revolute(axis=[0, 1, 0]),
            above,
            body,
            cardan.SE3(translation=[0, 0, -0.4]),
            limits=cardan.Limits(lower=[-2.0], upper=[end]),
        )
    model, step = m.model(gravity=(0, 0, 0)), implicit_step(dt)
    depth = 0.8
    q, v, z = np.array([0.0, upper[1] + depth]), np.zeros(2), np.zeros(2)
    for _ in range(20):
        q, v, *_ = step(model, q, v, z, z, z).values()
        assert abs(v[1]) < 1.3 * depth / RETURN
        assert abs(v[0]) < 2.5 * depth / RETURN  # by momentum


def test_derivatives_of_a_step_on_a_stop_are_those_of_differences(reference_target):
    step, h = implicit_step(2e-3), 1e-6

    @cardan.function(shapes={"effort": ("nv",)}, returns=("nv",))
    def speed(model, q, v, effort):
        return step(model, q, v, effort, [0.0], [0.0])["v"]

    model = pendulum(limits=cardan.Limits(lower=[-0.5], upper=[0.3]))
    for q, v in ((0.2999, 2.0), (0.31, 0.0), (-0.52, -1.0), (0.31, -1.0)):
        x = np.array([[q], [v], [20.0]])
        for k, name in enumerate(("q", "v", "effort")):
            by = np.zeros((3, 1))
            by[k] = h
            expected = (speed(model, *(x + by)) - speed(model, *(x - by))) / (2.0 * h)
            np.testing.assert_allclose(np.ravel(cardan.derivative(speed, name)(model, *x)), expected, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_saturated_drive_gives_its_limit_and_no_more(dtype):
    model = pendulum(limits=cardan.Limits(effort=[5.0]))
    stiff = implicit_step(2e-3, 1e5, 1e3)
    found, _ = moved(stiff, model, [0.0], [0.0], 1, position=1.0, dtype=dtype)
    np.testing.assert_allclose(found["a"], 5.0 / HINGE, rtol=1e-6)
    held, largest = moved(stiff, model, [0.0], [0.0], 1500, position=0.3, dtype=dtype)
    np.testing.assert_allclose(held["q"], 0.3, atol=1e-4)
    assert largest["residual"] < 1e-6


def test_the_effort_given_beside_gains_is_limited_with_them():
    model = pendulum(limits=cardan.Limits(effort=[5.0]))
    found, _ = moved(implicit_step(2e-3), model, [0.0], [0.0], 1, effort=50.0)
    np.testing.assert_allclose(found["a"], 5.0 / HINGE, rtol=1e-9)


def test_loops_of_a_swinging_linkage_stay_closed_to_the_square_of_the_step():
    model = four_bar().model()
    gaps = []
    for dt in (0.01, 0.001):
        step = implicit_step(dt)
        q, v, z, gap = cardan.assemble(model, model.neutral()), np.zeros(model.nv), np.zeros(model.nv), 0.0
        for _ in range(round(2.0 / dt)):
            q, v, *_ = step(model, q, v, z, z, z).values()
            gap = max(gap, np.abs(cardan.loop_residual(model, q)).max())
        gaps.append(gap)
    assert gaps[0] < 0.02  # at 22 rad/s, 0.22 rad a step
    assert gaps[0] / gaps[1] > 50.0


# --- orders -----------------------------------------------------------------------------------------------------------


def energy_drift(integrator, dt, seconds=0.8):
    model = double_pendulum().model()
    q, v = np.array([2.0, 1.0]), np.zeros(2)
    step = explicit_step(integrator, dt)
    start, largest = cardan.potential_energy(model, q), 0.0
    for _ in range(round(seconds / dt)):
        q, v = step(model, q, v).values()
        energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
        largest = max(largest, abs(energy - start))
    return largest


ORDERS = [("semi_implicit", 1), ("midpoint", 2), ("rk4", 4)]


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "order"), ORDERS)
def test_energy_errors_fall_with_the_order(integrator, order):
    coarse, fine = energy_drift(integrator, 0.01), energy_drift(integrator, 0.005)
    assert np.log2(coarse / fine) > order - 0.4


def tumbled(integrator, dt, seconds=1.0):
    m = cardan.Mechanism("brick")
    m.add_body("brick", cardan.Inertia(mass=1.0, com=[0.1, 0, 0.2], inertia=np.diag([0.1, 0.2, 0.25])))
    model = m.model(root="brick", base="floating", gravity=(0, 0, 0))
    q, v = model.neutral(), np.array([0.3, -0.2, 0.1, 2.0, 1.0, 3.0])
    step = explicit_step(integrator, dt)
    for _ in range(round(seconds / dt)):
        q, v = step(model, q, v).values()
    return model, q, v


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "order"), ORDERS)
def test_positions_on_the_manifold_have_the_order(integrator, order):
    model, exact, _ = tumbled("rk4", 1 / 1024)
    errors = [np.linalg.norm(cardan.difference(model, tumbled(integrator, dt)[1], exact)) for dt in (1 / 32, 1 / 64)]
    assert np.log2(errors[0] / errors[1]) > order - 0.3
    assert abs(np.linalg.norm(tumbled(integrator, 1 / 32)[1][3:]) - 1.0) < 1e-12


def test_every_explicit_integrator_is_tested_above():
    assert {"implicit", *dict(ORDERS)} == set(get_args(Integrator))


# --- floating bodies --------------------------------------------------------------------------------------------------


class Afloat(cardan.joints.Joint):
    """A user's joint without constraints; S and bias are derived."""

    manifold = cardan.joints.FreeFlyer().manifold

    def transform(self, q):
        return self.manifold.pose(q)


def spinning(joint, *, described_from_hand=False, com=(0.1, 0.0, 0.2)):
    """Two bodies on a hinge in free flight, of which the hand is joined to the world; q, v and the hand's twist."""
    m = cardan.Mechanism("spinning")
    for body in ("base", "hand"):
        m.add_body(body, Inertia(1.0, com, np.diag([0.1, 0.2, 0.25])))
    m.add_joint("hinge", cardan.joints.Revolute(axis=[0, 1, 0]), "base", "hand")
    m.add_joint("free", joint, *(("hand", "world") if described_from_hand else ("world", "hand")))
    model = m.model(gravity=(0, 0, 0))
    X, V = cardan.SE3(translation=[0.4, -0.3, 0.2]), np.array([0.3, -0.2, 0.1, 2.0, 1.0, 3.0])
    pose = X.inverse() if described_from_hand else X
    twist = -np.array((X @ cardan.Motion.of(V)).scalars()) if described_from_hand else V
    q, v = model.neutral(), np.zeros(7)
    q[model.q_slice("free")], v[model.v_slice("free")] = joint.configuration_from_transform(pose), twist
    v[model.v_slice("hinge")] = 0.7
    return model, q, v


def flown(step, joint, **described):
    model, q, v = spinning(joint, **described)
    for _ in range(20):
        q, v = step(model, q, v).values()
    return np.concatenate([part.ravel() for part in cardan.eval_fk(model, q, v)])


def test_a_floating_robot_moves_the_same_however_its_joint_is_described(quick_target):
    step = explicit_step("semi_implicit", 0.02)
    expected = flown(step, cardan.joints.FreeFlyer())
    for joint in (Afloat(), cardan.joints.FloatingMRP(), cardan.joints.FreeFlyer()):
        there = flown(step, joint, described_from_hand=True)
        np.testing.assert_allclose(there, expected, atol=1e-12, err_msg=repr(joint))
    np.testing.assert_allclose(flown(step, Afloat()), expected, atol=1e-12)


def test_a_body_described_as_the_worlds_parent_keeps_its_momentum_to_rounding(quick_target):
    m = cardan.Mechanism("ball")
    m.add_body("ball", Inertia(2.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3)))
    m.add_joint("free", cardan.joints.FreeFlyer(), "ball", "world")
    model = m.model(gravity=(0, 0, 0))
    q, v = cardan.integrate(model, model.neutral(), np.array([3.0, 2.0, 1.0, 0.3, 0.2, 0.1])), np.arange(6.0)
    before = cardan.centroidal_momentum(model, q, v)
    found, _ = moved(implicit_step(0.05), model, q, v, 50)
    after = cardan.centroidal_momentum(model, found["q"], found["v"])
    np.testing.assert_allclose(after, before, atol=1e-11 * np.abs(before).max())


@pytest.mark.full
@pytest.mark.parametrize("speed", [0.03, 0.1, 0.3, 1.0, 30.0])
def test_friction_that_holds_does_so_in_single_precision(speed):
    """A force of the line was rounded there by as much as the friction: joints began to turn back, of residual 0."""
    dog = cardan.robots.quadruped()
    for c in list(dog.joints):
        if c.joint.nv == 1:
            dog = dog.replace_joint(c.name, c.joint, friction=[1.0], damping=[0.5]).mechanism
    world = dog.world("floating")
    solver, found = cardan.solvers.Featherstone(world, dt=2e-3), []
    for dtype in (np.float64, np.float32):
        state = world.state(dtype=dtype)
        state.v[:, 6:] = speed
        found.append(solver.step(state))
    assert max(state.residual.max() for state in found) < 1e-5 * max(1.0, speed)
    np.testing.assert_allclose(found[1].v, found[0].v, atol=1e-4 * max(0.1, speed))


def test_a_push_just_beyond_friction_moves_the_joint_in_single_precision():
    """0.09 rad/s^2 are 9e-6 rad/s in a step: an error of that size was taken for right, and the joint never moved."""
    m = cardan.Mechanism("wheel")
    m.add_body("wheel", Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3)))
    m.add_joint("hinge", cardan.joints.Revolute((0.0, 1.0, 0.0)), "world", "wheel", friction=[0.5])
    world = m.world()
    control = world.control(dtype="float32")
    control.effort[:] = 0.59
    after = cardan.solvers.Featherstone(world, 1e-4).step(world.state(dtype="float32"), control, steps=1000)
    np.testing.assert_allclose(after.v, [[0.009]], rtol=1e-3)


def test_a_joint_pressed_on_its_stop_stays_there_in_single_precision():
    """While others swing. The far stop's distance was taken for rounding: it went 18 mrad beyond, at 0.5 rad/s."""
    m, stops = cardan.Mechanism("chain"), cardan.Limits(lower=[-0.6], upper=[0.6])
    for k, above in enumerate(("world", "b0", "b1")):
        place = cardan.SE3(translation=[0.5 if k else 0.0, 0.0, 0.0])
        m.add_body(f"b{k}", Inertia(1.0, (0.3, 0.0, 0.0), 0.02 * np.eye(3)))
        limits = stops if k != 1 else cardan.Limits()
        m.add_joint(f"j{k}", cardan.joints.Revolute((0, 1, 0)), above, f"b{k}", place, limits=limits, damping=[0.05])
    world = m.world()
    path = cardan.solvers.Featherstone(world, 2e-3).rollout(world.state(dtype="float32"), steps=1000)
    assert path.q[:, 0, 0].max() == np.float32(0.6)
    assert np.abs(path.v[200:, 0, 0]).max() < 1e-6
    assert path.residual.max() < 1e-3
