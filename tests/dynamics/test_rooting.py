"""Any body as the root: the physics stays the same, and converters lead from one tree to another and back.

The figures over 200 random mechanisms and real robots are printed by `python tests/rerooting.py`.
"""

import concurrent.futures
import pickle

import numpy as np
import pytest

import cardan
import rerooting
from cardan import SE3, Inertia, Limits, Mechanism
from cardan._dynamics.coordinates.model_converter import owners
from cardan.errors import DTypeError, MechanismError, ShapeError, UnknownNameError
from cardan.joints import (
    CATALOGUE,
    Composite,
    Ellipsoid,
    FloatingMRP,
    FreeFlyer,
    Mimic,
    OpenSimCustom,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalZYX,
    Spline,
    UnboundedRevolute,
    Universal,
)
from mechanisms import random_inertia, random_mechanism, random_pose, random_state
from representatives import represented

pytestmark = pytest.mark.usefixtures("quick_target")  # roots are told apart by physics, not by targets


@pytest.mark.slow
@pytest.mark.parametrize("seed", represented(range(9), by=[4].count))
def test_nothing_depends_on_the_root(seed):
    mechanism = list(rerooting.small_mechanisms(9))[seed]
    errors = rerooting.worst(mechanism, [b.name for b in mechanism.bodies], seed)
    assert max(errors.values()) < 1e-9
    assert max(errors["round trip of q"], errors["round trip of v, a, tau"]) < 1e-12


def test_the_small_mechanisms_have_every_kind_of_joint():
    kinds = {type(c.joint) for m in rerooting.small_mechanisms(9) for c in m.joints}
    assert kinds == {type(j) for j in CATALOGUE} | {rerooting.Bowl}


@pytest.mark.parametrize("name", ["quadruped", pytest.param("humanoid", marks=pytest.mark.full)])
def test_nothing_depends_on_the_root_of_a_robot(name):
    mechanism = getattr(cardan.robots, name)()
    assert max(rerooting.worst(mechanism, [b.name for b in mechanism.bodies][::9]).values()) < 1e-9


def test_names_order_and_limits_do_not_depend_on_the_root():
    m = random_mechanism(2)
    models = [m.model(root=b.name, base="floating") for b in m.bodies[::5]]
    for model in models:
        assert model.joint_names == models[0].joint_names
        assert model.body_names == models[0].body_names
        assert set(model.frame_names) == set(models[0].frame_names)
        np.testing.assert_array_equal(model.lower, models[0].lower)


def test_a_frame_can_be_the_root():
    m = random_mechanism(3, joints=CATALOGUE[1:8])
    model = m.model(root="frame2", base="floating")
    q, v, _ = random_state(model, 0)
    base = model.q_slice("root")
    X = cardan.frame_transform(model, q, "frame2")
    np.testing.assert_allclose(X[:3, 3], q[base][:3], atol=1e-14)
    twist = cardan.frame_velocity(model, q, v, "frame2", expressed_in="frame2")
    np.testing.assert_allclose(twist, v[model.v_slice("root")], atol=1e-14)
    fixed = m.model(root="frame2")
    np.testing.assert_allclose(cardan.frame_transform(fixed, fixed.neutral(), "frame2"), np.eye(4), atol=1e-15)


def test_each_part_gets_a_base_of_its_own():
    m = Mechanism("two")
    for body in "abcd":
        m.add_body(body, Inertia(1.0))
    m.add_joint("ab", Revolute(), "a", "b")
    m.add_joint("dc", Revolute(), "d", "c")
    model = m.model(base="floating")
    assert model.joint_names == ("root", "root_d", "ab", "dc")
    again = m.model(root="c", base="floating")
    assert again.joint_names == ("root", "root_a", "ab", "dc")
    assert (again.connection("dc").parent, again.connection("root").child) == ("c", "c")


# --- converters ---


def robot():
    """A tree with every way to convert in it: mimics, loops of coordinates, joints with and without limits."""
    rng = np.random.default_rng(0)
    m = Mechanism("robot")
    for k in range(7):
        m.add_body(f"b{k}", random_inertia(rng))
    kinds = [Revolute((0, 0.6, 0.8)), Ellipsoid((0.4, 0.5, 0.7)), Spherical(), Universal(), Prismatic((1, 0, 0))]
    limits = {"j0": Limits([-1.0], [2.0], effort=[3.0], effort_lower=[-7.0]), "j3": Limits([-1, -2], [0.5, 1])}
    for k, joint in enumerate(kinds):
        m.add_joint(
            f"j{k}", joint, f"b{k // 2}", f"b{k + 1}", random_pose(rng), random_pose(rng), limits=limits.get(f"j{k}")
        )
    m.add_joint("follower", Mimic(Revolute((0, 1, 0)), "j0", -0.5, 0.2), "b5", "b6", random_pose(rng), random_pose(rng))
    return m


def same_physics(a, b, converter, q, v, tau, rtol=1e-10):
    """Bodies are in the same places, and efforts of the same work give the same accelerations."""
    q_b, v_b = converter.configuration(q), converter.velocity(q, v)
    np.testing.assert_allclose(
        cardan.forward_kinematics(b, q_b),
        cardan.forward_kinematics(a, q)[..., [a.body_names.index(n) for n in b.body_names], :, :],
        atol=1e-12,
    )
    acc = cardan.forward_dynamics(a, q, v, tau)
    f = np.random.default_rng(0).normal(size=(*q.shape[:-1], a.nbodies, 6))
    acc = cardan.forward_dynamics(a, q, v, tau, external_forces=f)
    there = cardan.forward_dynamics(b, q_b, v_b, converter.effort(q, tau), external_forces=converter.external_forces(f))
    expected = converter.acceleration(q, v, acc)
    np.testing.assert_allclose(there, expected, atol=rtol * np.abs(expected).max())


ROOTS = [(FreeFlyer(), "b6"), (FreeFlyer(), "b3"), (FloatingMRP(), "b6"), (FloatingMRP(), "b3")]


@pytest.mark.slow
@pytest.mark.parametrize(("base", "root"), represented(ROOTS, by=ROOTS[::3].count))
def test_between_floating_roots(base, root):
    m = robot()
    a, b = m.model(base="floating"), m.model(root=root, base=base)
    forth = cardan.converter(a, b)
    back = forth.inverse()
    assert forth.shared == {"j0", "j1", "j2", "j3", "j4"}
    q, v, acc = random_state(a, 1, (3, 2))
    tau = np.random.default_rng(2).normal(size=v.shape)
    same_physics(a, b, forth, q, v, tau)
    q_b, v_b = forth.configuration(q), forth.velocity(q, v)
    np.testing.assert_allclose(cardan.difference(a, q, back.configuration(q_b)), 0.0, atol=1e-12)
    np.testing.assert_allclose(back.velocity(q_b, v_b), v, atol=1e-12)
    np.testing.assert_allclose(back.acceleration(q_b, v_b, forth.acceleration(q, v, acc)), acc, atol=1e-12)
    np.testing.assert_allclose(back.effort(q_b, forth.effort(q, tau)), tau, atol=1e-12)
    power = np.einsum("...i,...i->...", tau, v)
    np.testing.assert_allclose(np.einsum("...i,...i->...", forth.effort(q, tau), v_b), power, atol=1e-12)


def test_the_acceleration_is_the_rate_of_the_velocity():
    m = robot()
    a, b = m.model(base="floating"), m.model(root="b4", base=FloatingMRP())
    c = cardan.converter(a, b)
    q, v, acc = random_state(a, 5)
    h = 1e-5

    def velocity(t):
        return c.velocity(cardan.integrate(a, q, v * t + 0.5 * acc * t * t), v + acc * t)

    np.testing.assert_allclose((velocity(h) - velocity(-h)) / (2 * h), c.acceleration(q, v, acc), atol=1e-7)
    there = (c.configuration(cardan.integrate(a, q, v * t)) for t in (-h, h))
    np.testing.assert_allclose(cardan.difference(b, *there) / (2 * h), c.velocity(q, v), atol=1e-7)


def test_from_a_fixed_base_to_a_floating_one_and_back():
    m = robot()
    fixed, floating = m.model(), m.model(root="b6", base="floating")
    forth = cardan.converter(fixed, floating)
    q, v, acc = random_state(fixed, 3, (4,))
    X = cardan.frame_transform(fixed, q, "b6")
    np.testing.assert_allclose(cardan.frame_transform(floating, forth.configuration(q), "b6"), X, atol=1e-13)
    with pytest.raises(MechanismError, match=r"'root' of the source.*drop=\['root'\]"):
        cardan.converter(floating, fixed)
    back = cardan.converter(floating, fixed, drop=["root"])
    assert back.dropped == ("root",)
    np.testing.assert_allclose(back.configuration(forth.configuration(q)), q, atol=1e-14)
    q_b, v_b, acc_b = forth.configuration(q), forth.velocity(q, v), forth.acceleration(q, v, acc)
    np.testing.assert_allclose(back.acceleration(q_b, v_b, acc_b), acc, atol=1e-12)
    # what the fixed base's joints must give is what remains of the floating one's efforts when its base is held
    tau = cardan.inverse_dynamics(fixed, q, v, acc)
    np.testing.assert_allclose(back.effort(q_b, cardan.inverse_dynamics(floating, q_b, v_b, acc_b)), tau, atol=1e-10)


def test_between_kinds_of_coordinates():
    m = robot()
    a = m.remove("b6").mechanism
    changed = a.replace_joint("j0", UnboundedRevolute((0, 0.6, 0.8), order="sin_cos"), limits=Limits()).mechanism
    changed = changed.replace_joint("j2", SphericalZYX()).mechanism
    a, b = a.model(base="floating"), changed.model(root="b2", base="floating")
    c = cardan.converter(a, b)
    assert c.shared == {"j1", "j3", "j4"}
    q, v, _ = random_state(a, 0, (3,))
    same_physics(a, b, c, q, v, np.random.default_rng(2).normal(size=v.shape))
    q_b = c.configuration(q)
    np.testing.assert_allclose(q_b[..., b.q_slice("j0")][..., 0], np.sin(q[..., a.q_slice("j0")][..., 0]), atol=1e-14)
    np.testing.assert_allclose(cardan.difference(a, q, c.inverse().configuration(q_b)), 0.0, atol=1e-12)


def type_name(joint):
    return type(joint).__name__


MOVING = [j for j in CATALOGUE if j.nv and not j.primaries]


@pytest.mark.parametrize(
    "joint", represented(MOVING, by=lambda j: not isinstance(j, Spline | OpenSimCustom)), ids=type_name
)
def test_efforts_do_the_same_work_wherever_the_source_is(joint, monkeypatch):
    """On other branches of the coordinates (a pitch beyond pi/2), too, where the same pose has other rates."""
    monkeypatch.setenv("CARDAN_TARGET", "numpy")
    rng = np.random.default_rng(0)
    m = Mechanism("one")
    for body in "ab":
        m.add_body(body, random_inertia(rng))
    m.add_joint("j", joint, "a", "b", random_pose(rng), random_pose(rng))
    a, b = m.model(base="floating"), m.replace_joint("j", FreeFlyer()).mechanism.model(root="b", base="floating")
    c = cardan.converter(a, b)
    q, v, _ = random_state(a, 0, (40,))
    tau = rng.normal(size=v.shape)
    work = np.einsum("...i,...i->...", c.effort(q, tau), c.velocity(q, v))
    np.testing.assert_allclose(work, np.einsum("...i,...i->...", tau, v), atol=1e-9)


def test_efforts_beyond_a_pitch_of_a_right_angle():
    m = pendulum(SphericalZYX())
    c = cardan.converter(m.model(), m.replace_joint("j", Spherical()).mechanism.model())
    tau, v = np.array([1.0, 2.0, 3.0]), np.array([0.3, -0.5, 0.7])
    for pitch in (1.0, 2.0, -2.5):
        q = np.array([0.3, pitch, 0.2])
        assert c.effort(q, tau) @ c.velocity(q, v) == pytest.approx(tau @ v, abs=1e-12)


def test_locked_joints():
    m = robot()
    at = {"j2": [0.1, 0.2, 0.3, np.sqrt(1 - 0.14)], "j4": 0.3}
    a, b = m.model(base="floating"), m.lock(at).mechanism.model(root="b5", base="floating")
    with pytest.raises(MechanismError, match=r"joints 'j2', 'j4' of the source"):
        cardan.converter(a, b)
    with pytest.raises(MechanismError, match=r"'j1' is not lost"):
        cardan.converter(a, b, drop=["j1", "j2", "j4"])
    down, up = cardan.converter(a, b, drop=["j2", "j4"]), cardan.converter(b, a)
    q, v, acc = random_state(b, 0, (2,))
    full = up.configuration(q)
    np.testing.assert_allclose(full[:, a.q_slice("j4")], 0.3, atol=1e-14)
    np.testing.assert_allclose(up.velocity(q, v)[:, a.v_slice("j4")], 0.0, atol=1e-14)
    np.testing.assert_allclose(cardan.difference(b, q, down.configuration(full)), 0.0, atol=1e-12)
    np.testing.assert_allclose(cardan.forward_kinematics(a, full), cardan.forward_kinematics(b, q), atol=1e-13)
    moving = cardan.inverse_dynamics(a, full, up.velocity(q, v), up.acceleration(q, v, acc))
    np.testing.assert_allclose(down.effort(full, moving), cardan.inverse_dynamics(b, q, v, acc), atol=1e-10)


def test_between_cuts_of_a_loop():
    m = Mechanism("four-bar")
    for k in range(3):
        m.add_body(f"b{k}", Inertia(1.0, (0.1, 0, 0.5), np.diag([0.1, 0.1, 0.05])))
    up, ahead = SE3(translation=(0, 0, 1)), SE3(translation=(1, 0, 0))
    axis = Revolute((0, 1, 0))
    m.add_joint("left", axis, "world", "b0")
    m.add_joint("top_left", axis, "b0", "b1", up)
    m.add_joint("right", axis, "world", "b2", ahead)
    m.add_joint("top_right", axis, "b1", "b2", SE3(translation=(1, 0, 0)), up)
    a, b = m.model(), m.model(closing=["top_left"])
    assert a.closure_names == ("top_right",)
    assert b.closure_names == ("top_left",)
    angle = np.linspace(-1.0, 1.0, 5)
    q = np.stack([angle, -angle, angle], axis=-1)  # a parallelogram: b1 stays level
    v = np.stack([np.ones(5), -np.ones(5), np.ones(5)], axis=-1)
    c = cardan.converter(a, b)
    assert set(c.shared) == {"left", "right"}
    q_b = c.configuration(q)
    expected = {"left": angle, "right": angle, "top_right": angle}
    for joint, value in expected.items():
        np.testing.assert_allclose(q_b[:, b.q_slice(joint)][:, 0], value, atol=1e-14)
    np.testing.assert_allclose(c.velocity(q, v), np.ones((5, 3)), atol=1e-14)
    np.testing.assert_allclose(c.inverse().configuration(q_b), q, atol=1e-14)


def test_within_limits_stays_within_limits():
    m = robot()
    a, b = m.model(base="floating"), m.model(root="b6", base="floating")
    c = cardan.converter(a, b)
    q = a.random_configuration((200,), seed=0)
    for model, at in ((a, q), (b, c.configuration(q))):
        x = cardan.limit_coordinates(model, at)
        assert (x >= model.lower).all()
        assert (x <= model.upper).all()
    low = c.limits(a.lower, -np.inf)
    np.testing.assert_array_equal(low[6:], b.lower[6:])
    assert np.isinf(low[:6]).all()
    with pytest.raises(ShapeError, match="values"):
        c.limits(a.lower[:-1], 0.0)
    for name in ("j0", "j3"):
        assert a.connection(name).limits == b.connection(name).limits


def test_unrelated_models_are_refused():
    m, arm = robot(), cardan.robots.arm7()
    with pytest.raises(MechanismError, match="not of one mechanism: bodies"):
        cardan.converter(m.model(base="floating"), arm.model(base="floating"))
    other = Mechanism("other")
    for b in m.bodies:
        other.add_body(b.name, b.inertia)
    for c in m.joints:
        pose = c.parent_pose @ SE3(translation=(0.0, 0.0, 1e-3)) if c.name == "j3" else c.parent_pose
        other.add_joint(c.name, c.joint, c.parent, c.child, pose, c.child_pose)
    with pytest.raises(MechanismError, match="body 'b4' is off by"):
        cardan.converter(m.model(base="floating"), other.model(base="floating"))
    with pytest.raises(MechanismError, match="Two bases fixed on different bodies"):
        cardan.converter(m.model(), m.model(root="b5"))
    c = cardan.converter(m.model(base="floating"), m.model(root="b1", base="floating"))
    with pytest.raises(MechanismError, match=r"has inputs \(mass\).*with_values"):
        cardan.converter(m.model().with_inputs("mass"), m.model())
    with pytest.raises(ShapeError, match="external_forces"):
        c.external_forces(np.zeros((3, 6)))


@pytest.mark.parametrize("models", [(None, "mujoco"), ("mujoco", None), (None, robot)])
def test_what_is_no_model_is_refused(models):
    source, target = (given or robot().model() for given in models)
    with pytest.raises(
        DTypeError, match=r"converter: argument '(source|target)' is .* expected a cardan.Model"
    ) as caught:
        cardan.converter(source, target)
    assert ("cardan.conventions.to('mujoco', model)" in str(caught.value)) == ("mujoco" in models)


def test_what_is_no_model_has_no_other_coordinates():
    for asked in (lambda: cardan.representation("arm", "mixed"), lambda: cardan.conventions.to("mujoco", robot())):
        with pytest.raises(DTypeError, match=r"argument 'model' is a (str|Mechanism), expected a cardan.Model"):
            asked()


def test_converters_pickle():
    m = robot()
    a, b = m.model(base="floating"), m.model(root="b6", base="floating")
    c = cardan.converter(a, b)
    q, v, _ = random_state(a, 0)
    there = c.velocity(q, v)
    again = pickle.loads(pickle.dumps(c))
    assert again.shared == c.shared
    np.testing.assert_array_equal(again.velocity(q, v), there)


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("no root named 'b9'", lambda m: m.model(root="b9")),
        ("there is no joint named 'j9'", lambda m: m.model(closing=["j9"])),
        ("'j1' closes no loop", lambda m: m.model(closing=["j1"])),
        ("a frame of the world", lambda m: m.add_frame("origin", "world") and m.model(root="origin")),
    ],
)
def test_roots_that_do_not_exist(words, make):
    with pytest.raises((MechanismError, UnknownNameError)) as caught:
        make(robot())
    assert words in str(caught.value)


# --- where other libraries' graphs go wrong (FACTS, section 7), one by one ---


def pendulum(joint, **poses):
    m = Mechanism("pendulum")
    m.add_body("a", Inertia(1.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.2, 0.3])))
    m.add_body("b", Inertia(1.0))
    m.add_joint("j", joint, "a", "b", **poses)
    return m


def test_graph_1_the_inertia_is_where_the_child_pose_puts_it():
    m = Mechanism("lever")
    m.add_body("b", Inertia(1.0))
    m.add_joint("j", Revolute((1, 0, 0)), "world", "b", child_pose=SE3(translation=(0.0, -1.0, 0.0)))
    np.testing.assert_allclose(cardan.gravity_forces(m.model(), [0.0]), [9.81])
    m.add_body("c", Inertia(1.0))
    m.add_joint("fixed", cardan.joints.Fixed(), "b", "c", child_pose=SE3(translation=(0.0, -1.0, 0.0)))
    np.testing.assert_allclose(cardan.gravity_forces(m.model(), [0.0]), [3 * 9.81])


def test_graph_1_kinetic_energy_and_centre_of_mass_are_the_same_from_three_roots():
    m = random_mechanism(0, joints=[Revolute((0, 0.6, 0.8)), Prismatic((1, 0, 0))])
    a = m.model(base="floating")
    q, v, _ = random_state(a, 0)
    for body in m.bodies:
        b = m.model(root=body.name, base="floating")
        c = cardan.converter(a, b)
        q_b, v_b = c.configuration(q), c.velocity(q, v)
        np.testing.assert_allclose(cardan.kinetic_energy(b, q_b, v_b), cardan.kinetic_energy(a, q, v))
        np.testing.assert_allclose(cardan.center_of_mass(b, q_b), cardan.center_of_mass(a, q), atol=1e-13)


def test_graph_2_the_floating_base_is_converted():
    m = pendulum(Revolute((0, 0, 1)), parent_pose=SE3(translation=(1.0, 0.0, 0.0)))
    a, b = m.model(base="floating"), m.model(root="b", base="floating")
    c = cardan.converter(a, b)
    q = np.array([0, 0, 0, 0, 0, 0, 1, np.pi / 2])
    np.testing.assert_allclose(c.configuration(q), [1, 0, 0, 0, 0, 0.5**0.5, 0.5**0.5, np.pi / 2], atol=1e-15)
    np.testing.assert_allclose(c.velocity(q, [0, 0, 0, 0, 0, 1, 0]), [1, 0, 0, 0, 0, 1, 0], atol=1e-15)


def test_graph_4_a_mimic_follows_a_reversed_primary():
    m = Mechanism("gear")
    for body in "abc":
        m.add_body(body, Inertia(1.0))
    m.add_joint("first", Revolute((0, 0, 1)), "a", "b")
    m.add_joint("second", Mimic(Revolute((0, 0, 1)), "first", 2.0, 0.3), "b", "c", SE3(translation=(1, 0, 0)))
    a, b = m.model(), m.model(root="c")
    q = np.array([0.4])
    X = [cardan.frame_transform(model, q, "c", relative_to="a") for model in (a, b)]
    np.testing.assert_allclose(X[0], X[1], atol=1e-15)


@pytest.mark.parametrize(
    "joint",
    [
        Composite([Revolute((1, 0, 0)), Ellipsoid((0.4, 0.5, 0.7))]),
        Ellipsoid((0.4, 0.5, 0.7)),
        SphericalZYX(),
        FreeFlyer(),
        Planar(),
        Universal(),
        Spherical(),
    ],
    ids=lambda j: type(j).__name__,
)
def test_graph_5_and_8_joints_that_others_cannot_reverse(joint):
    """The same q and v from both sides: so limits, also those of the three angles, stay as they are."""
    rng = np.random.default_rng(0)
    limits = Limits([-0.5] * joint.nv, [0.7] * joint.nv, effort=[2.0] * joint.nv, effort_lower=[-1.0] * joint.nv)
    m = pendulum(joint, parent_pose=random_pose(rng), child_pose=random_pose(rng), limits=limits)
    a, b = m.model(), m.model(root="b")
    q = a.random_configuration((3,), seed=0)
    X = [cardan.frame_transform(model, q, "b", relative_to="a") for model in (a, b)]
    np.testing.assert_allclose(X[0], X[1], atol=1e-14)
    assert a.connection("j").limits == b.connection("j").limits == limits.resolved(joint.nv)


def test_graph_6_locking_an_ellipsoid_keeps_its_radii():
    m = pendulum(Ellipsoid((0.4, 0.5, 0.7)))
    q = [0.3, -0.4, 0.5]
    locked = m.lock({"j": q}).mechanism.model()
    np.testing.assert_allclose(
        cardan.frame_transform(locked, np.zeros(0), "b"), cardan.frame_transform(m.model(), q, "b"), atol=1e-15
    )


def test_graph_10_loops_names_and_equality():
    m = pendulum(Revolute((0, 0, 1)))
    m.add_joint("again", Spherical(), "b", "a")
    assert m.model().closure_names == ("again",)
    assert [j.name for j in m.joints] == ["j", "again"]
    assert m == m.copy()
    assert "again" in str(m)
    assert Revolute((0, 0, 1)) == Revolute((0, 0, 1))
    assert Ellipsoid((1, 2, 3)) != Ellipsoid((3, 2, 1))


def test_idyntree_spherical_joints_have_a_subspace_from_either_side():
    rng = np.random.default_rng(0)
    m = pendulum(Spherical(), parent_pose=random_pose(rng), child_pose=random_pose(rng))
    q = {"j": m.joints[0].joint.random_configuration(seed=3)}
    ab, ba = m.motion_subspace(q, "b", "a")["j"], m.motion_subspace(q, "a", "b")["j"]
    Ad = np.array(SE3.of(m.transform(q, "b", "a")).adjoint(), dtype=float)
    np.testing.assert_allclose(ba, -Ad @ ab, atol=1e-14)
    h = 1e-6
    joint = m.joints[0].joint
    for k in range(3):
        e = h * np.eye(3)[k]
        moved = {"j": joint.integrate(tuple(q["j"]), tuple(e))}
        X, Y = (SE3.of(m.transform(x, "a", "b")) for x in (q, moved))
        step = cardan.spatial.log_se3(X.inverse() @ Y).scalars()
        np.testing.assert_allclose(np.array(step, dtype=float) / h, ba[:, k], atol=1e-5)


def test_idyntree_a_frame_as_floating_base_keeps_jacobians_and_momentum():
    m = random_mechanism(1, joints=CATALOGUE[1:8])
    model = m.model(root="frame1", base="floating")
    q, v, _ = random_state(model, 0)
    J = cardan.jacobian(model, q, "body3")
    np.testing.assert_allclose(J @ v, cardan.frame_velocity(model, q, v, "body3"), atol=1e-12)
    h = cardan.centroidal_momentum(model, q, v)
    np.testing.assert_allclose(cardan.centroidal_momentum_matrix(model, q) @ v, h, atol=1e-12)
    C = cardan.coriolis_matrix(model, q, v)
    bias = cardan.bias_forces(model, q, v) - cardan.gravity_forces(model, q)
    np.testing.assert_allclose(C @ v, bias, atol=1e-11)
    there = m.model(base="floating")
    c = cardan.converter(model, there)
    np.testing.assert_allclose(cardan.centroidal_momentum(there, c.configuration(q), c.velocity(q, v)), h, atol=1e-12)
    assert owners(model)[0].name == "root"


def test_graph_3_converters_give_new_arrays_and_leave_theirs_alone():
    m = robot()
    a, b = m.model(base="floating"), m.model(root="b2", base="floating")
    q, v, _ = random_state(a, 0)
    before = q.copy(), v.copy()
    c = cardan.converter(a, b)
    there = c.configuration(q), c.velocity(q, v)
    assert np.array_equal(q, before[0])
    assert np.array_equal(v, before[1])
    assert not np.array_equal(there[0], q)
    np.testing.assert_allclose(np.linalg.norm(there[0][3:7]), 1.0)


def test_graph_7_a_reference_configuration_is_a_configuration():
    """Where q = 0 shall be elsewhere is a pose on one side of the joint: X(q_ref) X(q), not X(q_ref + q)."""
    rng = np.random.default_rng(0)
    joint, q_ref, q = SphericalZYX(), rng.normal(size=3), rng.normal(size=3)
    shifted = pendulum(joint, parent_pose=joint.transform(q_ref)).model()
    expected = joint.transform(q_ref) @ joint.transform(q)
    np.testing.assert_allclose(cardan.frame_transform(shifted, q, "b"), expected.homogeneous(), atol=1e-15)
    np.testing.assert_allclose(
        cardan.frame_transform(pendulum(joint).lock({"j": q_ref}).mechanism.model(), [], "b"),
        joint.transform(q_ref).homogeneous(),
        atol=1e-15,
    )


def test_graph_9_limits_of_a_floating_joint_and_asymmetric_ones_survive_reversal():
    limits = Limits([-1.0] * 6, [2.0] * 6, velocity=[3.0] * 6, velocity_lower=[-1.0] * 6, effort=[5.0] * 6)
    m = pendulum(FreeFlyer(), limits=limits)
    a, b = m.model(), m.model(root="b")
    for name in ("lower", "upper", "velocity_lower", "velocity_upper", "effort_lower", "effort_upper"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(b.velocity_lower, [-1.0] * 6)


def test_graph_what_others_accept_silently():
    m = pendulum(Revolute((0, 0, 2.0)), friction=[0.3])
    assert tuple(m.joints[0].joint.axis) == (0.0, 0.0, 1.0)
    assert m.model().passive("friction") == (0.3,)
    m.add_body("alone", Inertia(2.0))
    assert m.model().mass == 4.0
    assert m.model().joint_names == ("root", "root_alone", "j")
    for words, act in (
        ("with itself", lambda: m.add_joint("k", Revolute(), "a", "a")),
        ("non-empty", lambda: m.add_body("")),
        ("1 numbers", lambda: m.add_joint("k", Revolute(), "b", "alone", limits=Limits([0, 0], [1, 1]))),
        ("no joint named 'k'", lambda: m.lock({"k": 0.0})),
        ("already a joint named 'j'", lambda: m.add_joint("j", Revolute(), "b", "alone")),
        ("no body named 'c'", lambda: m.add_joint("k", Revolute(), "b", "c")),
    ):
        with pytest.raises(cardan.CardanError) as caught:
            act()
        assert words in str(caught.value)
    m.add_joint("root", Revolute(), "b", "alone")
    assert m.model(root="a").joint_names[0] == "root_a"
    m.add_joint("root_a", Revolute(), "b", "alone")
    with pytest.raises(cardan.errors.DuplicateNameError, match="base joint"):
        m.model(root="a")


def test_idyntree_1_and_2_the_coriolis_matrix_of_a_moving_base_from_any_root():
    m = robot()
    for root in ("b0", "b5"):
        model = m.model(root=root, base="floating")
        q, v, _ = random_state(model, 2)
        C = cardan.coriolis_matrix(model, q, v)
        h = 1e-6
        M = [cardan.mass_matrix(model, cardan.integrate(model, q, s * v)) for s in (-h, h)]
        np.testing.assert_allclose(C + C.T, (M[1] - M[0]) / (2 * h), atol=1e-6)
    body = Mechanism("body")
    body.add_body("b", Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
    model = body.model(base="floating")
    q, v, _ = random_state(model, 0)
    C = cardan.coriolis_matrix(model, q, v)
    np.testing.assert_allclose(C + C.T, 0.0, atol=1e-14)


def test_idyntree_4_accelerations_behind_a_joint_in_cosine_and_sine():
    rng = np.random.default_rng(0)
    models = []
    for joint in (UnboundedRevolute((0, 0.6, 0.8)), Revolute((0, 0.6, 0.8))):
        m = pendulum(joint, parent_pose=SE3(translation=(0.3, 0.1, 0.2)))
        models.append(m.model(base="floating"))
    q = models[1].random_configuration(seed=1)
    turning = np.append(q[:-1], [np.cos(q[-1]), np.sin(q[-1])])
    v, a = rng.normal(size=(2, 7))
    found = [cardan.frame_acceleration(model, x, v, a, "b") for model, x in zip(models, (turning, q), strict=True)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-13)


def test_idyntree_5_and_6_nothing_is_remembered_between_calls():
    m = pendulum(Revolute((0, 0, 1)))
    before = m.transform({}, "b", "a")
    moved = m.remove("j").mechanism
    moved.add_joint("j", Revolute((0, 0, 1)), "a", "b", SE3(translation=(1.0, 0.0, 0.0)))
    np.testing.assert_allclose(m.transform({}, "b", "a"), before)
    np.testing.assert_allclose(moved.transform({}, "b", "a")[:3, 3], [1.0, 0.0, 0.0])
    model = moved.model()
    q = model.random_configuration((64,), seed=0)
    expected = [moved.transform({"j": x}, "b", "a") for x in q]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: moved.transform({"j": x}, "b", "a"), q))
    np.testing.assert_array_equal(found, expected)


def test_loading_with_another_root():
    arm = cardan.load(cardan.robots.urdf_path("arm7"), root="tool", base="floating")
    assert (arm.connection("root").child, arm.connection("joint1").child) == ("tool", "base")
    np.testing.assert_array_equal(cardan.load(cardan.robots.urdf_path("arm7"), root="elbow").nv, 7)
    with pytest.raises(UnknownNameError, match="did you mean 'tool'"):
        cardan.load(cardan.robots.urdf_path("arm7"), root="tol")
    text = cardan.to_json(arm)
    with pytest.raises(MechanismError, match="save its mechanism"):
        cardan.load(text, root="base")
