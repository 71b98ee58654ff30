"""Joints whose coordinate is a function of others': beside multipliers, a closed loop, MuJoCo, and the laws."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan import joints as J
from cardan import scalar as s
from cardan._dynamics.algorithms import far_followers
from cardan._dynamics.algorithms.aba import is_tree
from cardan._dynamics.algorithms.grouped import groups
from cardan.errors import DescriptionWarning, MechanismError, ParameterError, UnsupportedError
from closeness import close
from duals import duals, tangent
from mechanisms import random_inertia, random_pose

FLEX = J.Polynomial([0.1, -0.4, 0.3, 0.05])


def arch(a, b):
    return s.sin(a) * b + 0.3 * a * a - 0.2 * b


def robot(joint, free=False, **properties):
    """A chain of four bodies, whose third joint is coupled, or free."""
    m = cardan.Mechanism("chain")
    for k, name in enumerate("pqrs"):
        inertia = np.diag([0.02, 0.03, 0.025]) * (1 + k)
        m.add_body(name, cardan.Inertia(mass=1.0 + 0.3 * k, com=[0.1, 0.2, 0.05 * k], inertia=inertia))
    m.add_joint(
        "a", J.Revolute((0.0, 0.6, 0.8)), "world", "p", cardan.SE3(translation=(0.1, 0.2, 0.3)), armature=[0.02]
    )
    m.add_joint("b", J.Prismatic((0.0, 1.0, 0.0)), "p", "q", cardan.SE3(translation=(0.3, 0.1, 0.0)))
    m.add_joint("c", joint.joint if free else joint, "q", "r", cardan.SE3(translation=(0.0, 0.2, 0.3)), **properties)
    m.add_joint("d", J.Revolute((0.0, 0.0, 1.0)), "r", "s", cardan.SE3(translation=(0.3, 0.0, 0.1)))
    return m


quick = pytest.mark.usefixtures("reference_target")
COUPLED = {
    "two": J.Coupled(J.Revolute((1.0, 0.0, 0.0)), ("a", "b"), arch),
    "cubic": J.Coupled(J.Helical((0.0, 0.6, 0.8), 0.2), "d", FLEX),
    "spline": J.Coupled(
        J.Prismatic((0.0, 0.0, 1.0)), "b", J.NaturalSpline([-2.0, 0.0, 1.0, 2.0], [0.3, -0.2, 0.4, 0.1])
    ),
}
each = pytest.mark.parametrize("joint", COUPLED.values(), ids=COUPLED)


def states(model, count=6, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.0, 1.0, (count, n)) for n in (model.nq, model.nv, model.nv)]


def rows(joint, model, q, v):
    """f, its gradient G and v^T H v, by dual numbers."""
    places = [model.q_slice(name).start for name in joint.primaries]
    x, rate = q[places].tolist(), v[places].tolist()

    def f(x):
        return joint.inner_configuration(x)[0]

    G = np.zeros(len(q))
    G[places] = [tangent(f(duals(x, unit))) for unit in np.eye(len(x)).tolist()]
    return float(f(x)), G, tangent(tangent(f(duals(duals(x, rate), rate))))


@quick
@each
def test_dynamics_are_those_of_a_free_joint_held_by_a_multiplier(joint):
    model, free = robot(joint, armature=[0.4]).model(), robot(joint, free=True, armature=[0.4]).model()
    Q, V, T = states(model)
    A, order = cardan.forward_dynamics(model, Q, V, T), [0, 1, 3]
    for q, v, tau, a in zip(Q, V, T, A, strict=True):
        x, G, g = rows(joint, model, q, v)
        qf, vf, tf = np.insert(q, 2, x), np.insert(v, 2, G @ v), np.insert(tau, 2, 0.0)
        K = np.zeros(4)
        K[order], K[2] = -G, 1.0
        M, h = cardan.mass_matrix(free, qf), cardan.bias_forces(free, qf, vf)
        kkt = np.block([[M, K[:, None]], [K[None], np.zeros((1, 1))]])
        expected = np.linalg.solve(kkt, [*(tf - h), g])[:4]
        np.testing.assert_allclose(a, expected[order], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(expected[2], G @ a + g, atol=1e-10)
        assert np.isclose(cardan.kinetic_energy(model, q, v), cardan.kinetic_energy(free, qf, vf), rtol=1e-12)
        np.testing.assert_allclose(cardan.center_of_mass(model, q), cardan.center_of_mass(free, qf), atol=1e-12)
        h1, h2 = cardan.centroidal_momentum(model, q, v), cardan.centroidal_momentum(free, qf, vf)
        np.testing.assert_allclose(h1, h2, atol=1e-12)


@quick
@each
def test_laws(joint):
    model = robot(joint, armature=[0.1], damping=[0.0]).model()
    q, v, a = states(model)
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-11)
    M = cardan.mass_matrix(model, q)
    np.testing.assert_allclose(cardan.kinetic_energy(model, q, v), np.einsum("ni,nij,nj->n", v, M, v) / 2, rtol=1e-13)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", M, a) + cardan.bias_forces(model, q, v), tau, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("follower", "primary"), [(11, 0), (6, 0), (11, 1)])
def test_joints_of_a_deep_arm_may_follow_one_that_carries_them(follower, primary):
    """The followers of a joint on the world were solved before what carries them: a was wrong by a hundred rad/s^2."""
    m, rng, above = cardan.Mechanism("arm"), np.random.default_rng(0), "world"
    for k in range(12):
        m.add_body(f"b{k}", random_inertia(rng))
        joint = J.Mimic(J.Revolute((1.0, 0.0, 0.0)), f"j{primary}", 0.5) if k == follower else J.Revolute()
        m.add_joint(f"j{k}", joint, above, f"b{k}", random_pose(rng))
        above = f"b{k}"
    model = m.model()
    q, v, a = states(model)
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-10)


@quick
def test_a_slider_crank_is_the_loop_it_stands_for():
    """The rod, of length l, turns by -asin(r sin q / l) - q, the piston is at r cos q + sqrt(l^2 - r^2 sin^2 q)."""
    r, rod_length = 0.3, 0.8

    def mechanism(rod, piston, **ends):
        m = cardan.Mechanism("engine")
        for name in ("crank", "rod", "piston"):
            m.add_body(name, cardan.Inertia(mass=1.2, com=[0.1, 0.0, 0.02], inertia=np.diag([0.01, 0.02, 0.03])))
        end = cardan.SE3(translation=(rod_length, 0.0, 0.0))
        m.add_joint("crank_joint", J.Revolute((0.0, 0.0, 1.0)), "world", "crank", damping=[0.1])
        m.add_joint("rod_joint", rod, "crank", "rod", cardan.SE3(translation=(r, 0.0, 0.0)))
        m.add_joint("piston_joint", piston, "world", "piston")
        if ends:
            m.add_joint("pin", J.Revolute((0.0, 0.0, 1.0)), "rod", "piston", end)
        return m.model(**ends)

    turn, slide = J.Revolute((0.0, 0.0, 1.0)), J.Prismatic((1.0, 0.0, 0.0))
    rod = J.Coupled(turn, "crank_joint", lambda q: -s.asin(s.sin(q) * (r / rod_length)) - q)
    piston = J.Coupled(slide, "crank_joint", lambda q: s.cos(q) * r + s.sqrt(rod_length**2 - (s.sin(q) * r) ** 2))
    loop, coupled = mechanism(turn, slide, closing=("pin",)), mechanism(rod, piston)
    assert (loop.nv, coupled.nv) == (3, 1)
    for angle, rate, tau in ((0.4, 2.0, 0.3), (2.5, -1.0, 0.0), (-1.2, 0.5, -2.0)):
        q = cardan.assemble(loop, [angle, *(float(j.inner_configuration([angle])[0]) for j in (rod, piston))])
        v = cardan.project_velocity(loop, q, [rate, 0.0, 0.0], fixed=("crank_joint",))
        expected = cardan.constrained_forward_dynamics(loop, q, v, [tau, 0.0, 0.0]).accelerations[0]
        np.testing.assert_allclose(cardan.forward_dynamics(coupled, [angle], [rate], [tau]), [expected], rtol=1e-11)


@pytest.mark.full
def test_energy_stays_in_a_long_motion():
    """Runge-Kutta of fourth order, 4 s at 1 ms, with an armature and a spring along the coupled coordinate."""
    model = robot(COUPLED["two"], armature=[0.1], spring=cardan.Spring(30.0, 0.2)).model()

    @cardan.function
    def step(model, q, v, h):
        def rate(q, v):
            return cardan.forward_dynamics(model, q, v, -cardan.passive_forces(model, q, v))

        k1 = rate(q, v)
        k2 = rate(q + 0.5 * h * v, v + 0.5 * h * k1)
        k3 = rate(q + 0.5 * h * v + 0.25 * h * h * k1, v + 0.5 * h * k2)
        k4 = rate(q + h * v + 0.5 * h * h * k2, v + h * k3)
        return q + h * v + h * h / 6.0 * (k1 + k2 + k3), v + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def energy(q, v):
        stretch = arch(q[0], q[1]) - 0.2
        return cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q) + 15.0 * stretch * stretch

    q, v = np.array([0.3, 0.1, -0.4]), np.array([0.5, -0.2, 0.8])
    start = energy(q, v)
    for _ in range(4000):
        q, v = step(model, q, v, 1e-3)
    assert abs(energy(q, v) - start) < 1e-7


@quick
def test_properties_act_along_the_coupled_coordinate():
    joint, q, v = COUPLED["two"], [0.4, -0.3, 0.2], [0.5, 1.0, -0.7]
    model = robot(joint, damping=[0.7], spring=cardan.Spring(3.0, 0.2)).model()
    x, G, _ = rows(joint, model, np.array(q), np.array(v))
    expected = G * (0.7 * (G @ v) + 3.0 * (x - 0.2))
    np.testing.assert_allclose(cardan.passive_forces(model, q, v), expected, atol=1e-13)
    rubbing = robot(joint, friction=[0.3]).model()
    np.testing.assert_allclose(cardan.passive_forces(rubbing, q, v), G * 0.3 * np.sign(G @ v), atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["drive", "saturated", "slides", "sticks"])
def test_drives_and_dry_friction_act_along_the_coupled_coordinate(what):
    """(M + w G G^T) a = tau - h + G (f - w g), with what a drive or friction is worth."""
    joint, q, v, dt = COUPLED["two"], [0.4, -0.3, 0.2], np.array([0.5, 1.0, -0.7]), 2e-3
    limits = cardan.Limits(effort=[2.0 if what == "saturated" else 1e3])
    own = {"drive": cardan.Drive(40.0, 3.0), "limits": limits} if what in ("drive", "saturated") else {}
    own = own or {"friction": [0.1 if what == "slides" else 1e4]}
    world = robot(joint, **own).world()
    model, goal, rate = world.model, [0.7, 0.1, 0.0], np.array([1.0, 0.5, 0.0])
    solver = cardan.solvers.Featherstone(world, dt=dt)
    found = solver.function(model, q, v, 0.0, effort=0.0 * v, position=goal, velocity=rate)
    x, G, g = rows(joint, model, np.array(q), v)
    M, h = cardan.mass_matrix(model, q), cardan.bias_forces(model, q, v)
    kp, kd = 40.0, 3.0
    w = dt * kd + dt**2 * kp
    f = kp * (rows(joint, model, np.array(goal), v)[0] - x - dt * G @ v) + kd * G @ (rate - v)
    if what != "drive":
        w, f = {"saturated": (0.0, 2.0 * np.sign(f)), "slides": (0.0, -0.1 * np.sign(G @ v))}.get(what, (1e9, 0.0))
    f = f - w * (G @ v / dt) if what == "sticks" else f
    expected = np.linalg.solve(M + w * np.outer(G, G), G * (f - w * g) - h)
    np.testing.assert_allclose(found["warm"], expected, rtol=1e-4 if what == "sticks" else 1e-10)
    with pytest.raises(UnsupportedError, match="of joint 'c', which follows several velocities"):
        cardan.solvers.XPBD(world, dt=dt)


@quick
def test_couplings_of_couplings_locks_and_names():
    m = robot(COUPLED["two"])
    m.add_body("t", cardan.Inertia(mass=0.5, com=[0.1, 0.0, 0.1], inertia=0.01 * np.eye(3)))
    m.add_joint("e", J.Mimic(J.Revolute((0.0, 1.0, 0.0)), "c", -2.0, 0.3), "s", "t")
    m.add_body("u", cardan.Inertia(mass=0.5, com=[0.0, 0.1, 0.1], inertia=0.01 * np.eye(3)))
    m.add_joint("f", J.Coupled(J.Prismatic((0.0, 1.0, 0.0)), ("e", "d"), lambda e, d: e * d), "t", "u")
    model, q = m.model(), np.array([0.4, -0.3, 0.2])
    c = arch(0.4, -0.3)
    e = 0.3 - 2.0 * c
    for name, x in (("c", c), ("e", e), ("f", e * 0.2)):
        node = next(n for n in model.nodes if n.name == name)
        assert float(node.joint.inner_configuration(node.configuration(q.tolist()))[0]) == pytest.approx(x, abs=1e-15)
    M = cardan.mass_matrix(model, q)
    held = m.lock({"a": 0.4}).mechanism.model()
    np.testing.assert_allclose(cardan.mass_matrix(held, q[1:]), M[1:, 1:], atol=1e-13)
    both = m.lock({"a": 0.4, "b": -0.3}).mechanism.model()
    np.testing.assert_allclose(cardan.mass_matrix(both, q[2:]), M[2:, 2:], atol=1e-13)
    other = m.prefixed("x_").mechanism
    np.testing.assert_allclose(cardan.mass_matrix(other.model(), q), M, atol=1e-15)


def test_files_and_copies():
    m = robot(COUPLED["cubic"], armature=[0.1])
    assert cardan.from_json(cardan.to_json(m)) == m
    assert pickle.loads(pickle.dumps(m.model())) == m.model()
    assert m.model().digest
    with pytest.raises(ParameterError, match="function"):
        cardan.to_json(robot(COUPLED["two"]))


WRONG = {
    "no function": (("a",), 3.0),
    "too few arguments": (("a", "b"), lambda a: a),
    "two numbers": (("a",), lambda a: (a, a)),
    "a kink by abs": (("a",), abs),
    "a kink by max": (("a",), lambda a: s.maximum(a, 0.0)),
    "of floats alone": (("a",), lambda a: float(a)),
    "reads coordinates": (("a",), J.Linear([1.0, 2.0])),
    "a name twice": (("a", "a"), lambda a, b: a + b),
    "no name": ((), lambda: 1.0),
}


@pytest.mark.parametrize(("by", "function"), WRONG.values(), ids=WRONG)
def test_what_is_no_coupling_is_refused_at_once(by, function):
    with pytest.raises(ParameterError, match="of a coupled joint"):
        J.Coupled(J.Revolute(), by, function)


def test_what_cannot_be_followed_is_named():
    def message(by, function, *others):
        m = robot(J.Coupled(J.Revolute((1.0, 0.0, 0.0)), by, function))
        with pytest.raises((MechanismError, cardan.errors.UnknownNameError)) as raised:
            m.model()
        return str(raised.value)

    assert "copies itself, through ['c']" in message("c", lambda c: c * c)
    assert "'nobody'" in message("nobody", lambda c: c * c)
    assert "is at nan while a are neutral" in message("a", lambda a: s.log(a - 1.0))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("pitch", [0.1, 1e-4, 1e-6, 1e-8])
def test_friction_of_a_fine_screw_holds_its_shaft(pitch, dtype):
    """At 1e-7 m for each rad it slid: 1e-3 was taken for the least slope that is felt."""
    m = cardan.Mechanism("screw", gravity=(0, 0, 0))
    for name in ("shaft", "nut"):
        m.add_body(name, cardan.Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("turn", J.Revolute((0, 0, 1)), "world", "shaft")
    rise = J.Coupled(cardan.joints.Prismatic((0, 0, 1)), ["turn"], cardan.joints.Polynomial([0.0, pitch]))
    m.add_joint("rise", rise, "world", "nut", friction=[10.0 / pitch])
    world = m.world()
    control = world.control(dtype=dtype)
    control.effort = [[1.0]]
    state = cardan.solvers.Featherstone(world, dt=1e-3).step(world.state(dtype=dtype), control, steps=100)
    assert abs(state.v[0, 0]) < 1e-8


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_geared_rotor_has_gyroscopic_moments(scale):
    """Of a rotor of moment I on a hinge along n, geared by N, the angular momentum beyond its carrier's is I N u n."""
    moment, ratio, axis = 2e-4 * scale, -90.0, np.array([0.0, 0.6, 0.8])
    across = 0.5 * moment
    tilt = np.outer(axis, axis)
    m = {}
    for name, gear in (("turns", ratio), ("still", 0.0)):
        m[name] = made = cardan.Mechanism(name)
        for body, own in (
            ("carrier", np.diag([0.03, 0.04, 0.05]) * scale),
            ("link", np.diag([0.01, 0.02, 0.015]) * scale),
            ("rotor", across * np.eye(3) + (moment - across) * tilt),
        ):
            made.add_body(body, cardan.Inertia(mass=scale, com=[0.0, 0.0, 0.0], inertia=own))
        made.add_joint("ball", J.Spherical(), "world", "carrier")
        made.add_joint("elbow", J.Revolute(axis), "carrier", "link")
        made.add_joint("gear", J.Mimic(J.Revolute(axis), "elbow", multiplier=gear), "carrier", "rotor")
    turns, still = (made.model() for made in m.values())
    rng = np.random.default_rng(0)
    q, v, a = turns.random_configuration(seed=1), rng.normal(size=4), rng.normal(size=4)
    extra = cardan.inverse_dynamics(turns, q, v, a) - cardan.inverse_dynamics(still, q, v, a)
    w, u = v[:3], v[3]
    expected = moment * ratio * (a[3] * axis + u * np.cross(w, axis))  # on the carrier, in its axes
    np.testing.assert_allclose(extra[:3], expected, rtol=1e-12, atol=1e-13 * moment * abs(ratio))
    along = moment * ratio * (ratio * a[3] + axis @ a[:3])  # what the motor's shaft feels, at the elbow
    np.testing.assert_allclose(extra[3], along, rtol=1e-12)
    armature = cardan.Mechanism("armature")  # the same inertia along the elbow, and no moment beside it
    for body in still.bodies:
        armature.add_body(body.name, body.inertia)
    for c in m["still"].joints:
        more = {"armature": [moment * ratio**2]} if c.name == "elbow" else {}
        armature.add_joint(c.name, c.joint, c.parent, c.child, **more)
    alone = cardan.inverse_dynamics(armature.model(), q, v, a) - cardan.inverse_dynamics(still, q, v, a)
    np.testing.assert_allclose(alone[:3], 0.0, atol=1e-12 * moment * ratio**2)
    np.testing.assert_allclose(alone[3], moment * ratio**2 * a[3], rtol=1e-10)


@quick
def test_a_slide_without_mass_is_a_tendon_with_a_spring():
    """Beside MuJoCo's fixed tendon, which is as long as a sum of coordinates."""
    mujoco = pytest.importorskip("mujoco")
    geom = '<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" contype="0" conaffinity="0"/>'
    text = f"""<mujoco><worldbody><body><joint name="hip" axis="0 1 0"/>{geom}
    <body name="shank" pos="0 0 -.3"><joint name="knee" axis="0 1 0" ref="0.2"/>{geom}</body></body></worldbody>
    <tendon><fixed name="band" stiffness="20" damping="0.3" springlength="0.2" armature="0.01">
    <joint joint="hip" coef="0.5"/><joint joint="knee" coef="-1.2"/></fixed></tendon></mujoco>"""
    with pytest.warns(DescriptionWarning, match=r"tendon 'band' is left out.*a Coupled slide may have them"):
        m = cardan.load_mechanism(text)
    m.add_body("band")
    length = J.Coupled(J.Prismatic((1.0, 0.0, 0.0)), ("hip", "knee"), J.Linear([0.5, -1.2]))
    m.add_joint("band", length, "world", "band", damping=[0.3], armature=[0.01], spring=cardan.Spring([20.0], [0.2]))
    model, there = m.model(), mujoco.MjModel.from_xml_string(text)
    data, q, v = mujoco.MjData(there), np.array([0.5, -0.7]), np.array([0.3, 1.0])
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(there, data)
    found = cardan.forward_dynamics(model, q, v, -cardan.passive_forces(model, q, v))
    np.testing.assert_allclose(found, data.qacc, rtol=1e-9)


@pytest.mark.usefixtures("reference_target")
def test_a_drive_of_a_coupled_joint_is_no_body():
    """Its inertia was in the robot's as one body, and neither wrenches nor quantities of joints could be had."""
    driven, free = (robot(COUPLED["cubic"], armature=[e]).model() for e in (0.4, 0.0))
    q, v, a = states(driven)
    close(cardan.locked_inertia(driven, q), cardan.locked_inertia(free, q))
    close(cardan.average_velocity(driven, q, v), cardan.average_velocity(free, q, v))
    close(cardan.joint_wrenches(driven, q, v, a), cardan.joint_wrenches(free, q, v, a))
    for found, expected in zip(cardan.joint_quantities(driven, q, v), cardan.joint_quantities(free, q, v), strict=True):
        close(found, expected)


@quick
@pytest.mark.parametrize("k", [-2.0, 1.0, -1.0])  # those of 1 and -1 were taken for hinges
def test_a_mimic_joints_drive_has_effort_limits_of_its_own(k):
    """It was added to that of the joint it copies, and both together were cut off at that one's limits."""
    arm = {name: random_inertia(np.random.default_rng(k)) for k, name in enumerate("ab")}
    found = []
    for follower in (J.Mimic(J.Revolute(), "a", k, 0.1), J.Coupled(J.Revolute(), "a", J.Polynomial([0.1, k]))):
        m = cardan.Mechanism("hand")
        for (name, inertia), joint, gains, most in zip(
            arm.items(), (J.Revolute(), follower), ((20.0, 1.0), (30.0, 2.0)), (3.0, 0.5), strict=True
        ):
            m.add_body(name + "_link", inertia)
            limits = cardan.Limits(effort=[most])
            m.add_joint(name, joint, "world", name + "_link", drive=cardan.Drive(*gains), limits=limits)
        world = m.world()
        control = world.control()
        control.position[:] = 1.0
        found.append(cardan.solvers.Featherstone(world, dt=1e-3).step(world.state(q=[0.2]), control).v[0, 0])
    M = arm["a"].inertia_at_origin[5] + k * k * arm["b"].inertia_at_origin[5]
    np.testing.assert_allclose(found, 1e-3 * (3.0 + abs(k) * 0.5) / M, rtol=1e-9)


# --- followers that are far from what they follow ---------------------------------------------------------------------

FAR = {
    "one": [("right_forearm_joint", "left_shank_joint")],
    "three": [
        ("head_joint", "left_hip_roll_joint"),
        ("left_ankle_joint", "waist_joint"),
        ("right_thigh_joint", "head_joint"),
    ],
    "a row": [("left_shank_joint", "neck_joint"), ("left_ankle_roll_joint", "neck_joint")],
    "beyond": [("waist_joint", "left_wrist_roll_joint")],
}


def humanoid_with_far_followers(pairs):
    mechanism = cardan.robots.humanoid()
    for k, (follower, primary) in enumerate(pairs):
        joint = next(c.joint for c in mechanism.joints if c.name == follower)
        made = (
            J.Mimic(joint, primary, -0.7, 0.1),
            J.Coupled(joint, (primary,), lambda x: 0.5 * s.sin(x) + 0.2 * x),
        )[k % 2]
        mechanism = mechanism.replace_joint(follower, made).mechanism
    return mechanism


@pytest.mark.parametrize("name", ["one", *(pytest.param(name, marks=pytest.mark.slow) for name in list(FAR)[1:])])
def test_few_followers_far_away_take_little_more_than_the_tree(name):
    """They went by the mass matrix, at one and a half times the operations."""
    model, tree = (
        humanoid_with_far_followers(FAR[name]).model(base="floating"),
        cardan.robots.humanoid().model(base="floating"),
    )
    assert is_tree(model)
    assert groups(model) is None
    counts = [cardan.forward_dynamics.program(m).operations for m in (model, tree)]
    assert counts[0] < (1.0 + 0.14 * len(FAR[name])) * counts[1]
    q = model.random_configuration((5,), seed=0)
    v, tau = np.random.default_rng(0).normal(size=(2, 5, model.nv))
    a = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), tau, atol=1e-11)


def test_a_far_follower_without_inertia_of_its_own_goes_by_the_mass_matrix():
    mechanism = humanoid_with_far_followers(FAR["one"])
    mechanism.add_body("sensor")
    mechanism.add_joint("turned", J.Mimic(J.Revolute((0, 0, 1)), "waist_joint", 2.0), "head", "sensor")
    model = mechanism.model(base="floating")
    assert not is_tree(model)
    q, (v, tau) = model.random_configuration(seed=0), np.random.default_rng(0).normal(size=(2, model.nv))
    a = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), tau, atol=1e-11)


STEPS = """
import sys
import cardan
from cardan._dynamics.algorithms import far_followers
far_followers.MOST = int(sys.argv[1])
sys.path[:0] = [{tests!r}, {here!r}]
from test_coupled import FAR, humanoid_with_far_followers
import numpy as np
mechanism = humanoid_with_far_followers(FAR["three"]).with_drives({{"*": cardan.Drive(200.0, 5.0)}}).mechanism
world = mechanism.world("floating", ground=True)
state = world.state(3)
state.v[:] = 0.5 * np.random.default_rng(0).normal(size=state.v.shape)
after = cardan.solvers.Featherstone(world, 1e-3).step(state, steps=20)
print(far_followers.are_few(world.model), *after.v.ravel().tolist())
"""


@pytest.mark.slow
def test_steps_with_far_followers_are_those_of_the_mass_matrix():
    """In processes of their own: programs of equal models are kept."""
    here = Path(__file__).parent
    found = []
    for most in (far_followers.MOST, -1):
        code = STEPS.format(tests=str(here.parent), here=str(here))
        run = subprocess.run([sys.executable, "-c", code, str(most)], capture_output=True, text=True, check=True)
        is_few, *numbers = run.stdout.split()
        assert (is_few == "True") == (most > 0)
        found.append(np.array(numbers, dtype=float))
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_a_far_follower_may_have_a_rotor():
    """A rotor on a curve is two wheels, which follow as well and have no mass."""
    mechanism = cardan.robots.humanoid()
    mechanism.add_body("sensor", cardan.Inertia(mass=0.3, com=(0.0, 0.1, 0.0), inertia=np.diag([1e-3, 2e-3, 1e-3])))
    joint = J.Coupled(J.Revolute((0, 0, 1)), ("left_shank_joint",), lambda x: 0.5 * s.sin(x) + 0.2 * x)
    mechanism.add_joint("turned", joint, "head", "sensor", armature=[0.02])
    model = mechanism.model(base="floating")
    assert is_tree(model)
    q, (v, tau) = model.random_configuration(seed=0), np.random.default_rng(0).normal(size=(2, model.nv))
    a = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), tau, atol=1e-11)


@pytest.mark.parametrize(
    ("multiplier", "moment", "bare"),
    [(1.0, 0.01, 0), (-1.0, 0.01, 0), (2.0, 1e-12, 0), (2.0, 0.01, 6)],
    ids=["copies", "copies backwards", "next to no inertia", "six hinges without mass"],
)
def test_a_far_follower_moves_as_the_mass_matrix_says(multiplier, moment, bare):
    """One by 1 or -1 moved by itself, and others were found from what rounding left."""
    m, axes, pose = cardan.Mechanism("chain"), np.eye(3)[::-1], cardan.SE3(translation=(0.1, 0.1, 0.2))
    for k in range(12 + bare):
        m.add_body(f"b{k}", cardan.Inertia(1.0, (0.05, 0.1, 0.0), np.diag([0.01, 0.012, 0.014])) if k < 12 else None)
        m.add_joint(f"j{k}", J.Revolute(tuple(axes[k % 3])), f"b{k - 1}" if k else "world", f"b{k}", pose)
    m.add_body("follower", cardan.Inertia(100.0 * moment, (0.0, 0.0, 0.0), moment * np.eye(3)))
    m.add_joint("follows", J.Mimic(J.Revolute((0, 0, 1)), "j1", multiplier), f"b{11 + bare}", "follower", pose)
    m.add_body("load", cardan.Inertia(10.0, (0.0, 0.0, 0.1), np.diag([0.1, 0.12, 0.14])))
    m.add_joint("ball", J.Spherical() if not bare else J.Fixed(), "follower", "load")
    model = m.model()
    q, (v, tau) = model.random_configuration(seed=0), np.random.default_rng(0).normal(size=(2, model.nv))
    a = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), tau, atol=1e-10)


def test_a_far_follower_may_stand_still():
    """Where its slope was 0, but not at q = 0, accelerations were no numbers."""
    mechanism = cardan.robots.humanoid()
    joint = next(c.joint for c in mechanism.joints if c.name == "right_forearm_joint")
    joint = J.Coupled(joint, ("left_shank_joint",), lambda x: (x - 0.5) * (x - 0.5))
    model = mechanism.replace_joint("right_forearm_joint", joint).mechanism.model(base="floating")
    assert is_tree(model)
    q, (v, tau) = model.neutral(), np.random.default_rng(0).normal(size=(2, model.nv))
    q[model.q_slice("left_shank_joint")] = 0.5
    a = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.inverse_dynamics(model, q, v, a), tau, atol=1e-11)
