"""Mechanism and Model: building, layout, locking, mimics, errors."""

import copy
import pickle

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia, Limits, Mechanism
from cardan.errors import DuplicateNameError, MechanismError, ParameterError, ShapeError, UnknownNameError
from cardan.joints import Fixed, FreeFlyer, Mimic, Planar, Prismatic, Revolute, Spherical, UnboundedRevolute
from mechanisms import random_mechanism, random_state, times


def two_links():
    m = Mechanism("arm")
    m.add_body("upper", Inertia(1.0, (0, 0, 0.5), np.diag([0.1, 0.1, 0.01])))
    m.add_body("fore", Inertia(0.5, (0, 0, 0.3), np.diag([0.05, 0.05, 0.01])))
    m.add_joint("shoulder", Revolute([0, 1, 0]), "world", "upper", limits=Limits([-1], [2], [3], [4]))
    m.add_joint("elbow", Revolute([0, 1, 0]), "upper", "fore", SE3(translation=(0, 0, 1)))
    m.add_frame("tool", "fore", SE3(translation=(0, 0, 0.6)))
    return m


def test_layout():
    model = two_links().model()
    assert (model.nq, model.nv, model.mass) == (2, 2, 1.5)
    assert model.joint_names == ("shoulder", "elbow")
    assert model.body_names == ("upper", "fore")
    assert model.frame_names == ("world", "upper", "fore", "tool")
    assert model.q_slice("elbow") == slice(1, 2)
    np.testing.assert_array_equal(model.lower, [-1, -np.inf])
    np.testing.assert_array_equal(model.velocity_lower, [-3, -np.inf])
    np.testing.assert_array_equal(model.effort_upper, [4, np.inf])
    text = str(model)
    assert text.splitlines()[3].split() == ["shoulder", "Revolute", "world", "->", "upper", "0", "0", "[-1,", "2]"]
    assert "nq = 2, nv = 2" in text
    np.testing.assert_allclose(cardan.frame_transform(model, [0.0, 0.0], "tool")[:3, 3], [0, 0, 1.6])


def test_document_order_is_kept_even_when_children_come_first():
    m = Mechanism("m")
    for name in "abc":
        m.add_body(name, Inertia(1.0, (0.1, 0, 0), np.eye(3)))
    m.add_joint("last", Revolute(), "b", "c")
    m.add_joint("middle", Spherical(), "a", "b")
    m.add_joint("first", Prismatic(), "world", "a")
    model = m.model()
    assert model.joint_names == ("last", "middle", "first")
    assert [model.q_slice(n) for n in model.joint_names] == [slice(0, 1), slice(1, 5), slice(5, 6)]
    assert [node.name for node in model.nodes] == ["first", "middle", "last"]
    q, v, a = random_state(model, seed=0)
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-12)


def test_bases():
    m = Mechanism("m")
    m.add_body("b", Inertia(1.0, (0, 0, 0), np.eye(3)))
    assert m.model().connection("root").joint == Fixed()
    assert m.model(base="floating").nq == 7
    assert m.model(base=Planar()).nq == 4
    with pytest.raises(ParameterError, match="'fixed', 'floating' or a joint"):
        m.model(base="flying")
    with pytest.raises(MechanismError, match="already hangs on the world"):
        two_links().model(base="floating")
    m.add_body("c", Inertia(1.0))
    forest = m.model(base="floating")
    assert forest.joint_names == ("root", "root_c")
    assert forest.nv == 12


def test_fixed_bodies_keep_their_frames_and_their_weight():
    m = two_links()
    m.add_body("hand", Inertia(0.2, (0.0, 0.1, 0.0), 0.001 * np.eye(3)))
    m.add_joint("wrist", Fixed(), "fore", "hand", SE3(translation=(0, 0, 0.6)), SE3(translation=(0.0, 0.05, 0.0)))
    model = m.model()
    assert model.q_slice("wrist") == slice(2, 2)
    assert len(model.nodes) == 2
    np.testing.assert_allclose(cardan.frame_transform(model, [0, 0], "hand")[:3, 3], [0, -0.05, 1.6])
    expected = (0.5 * 1.0 + 1.3 * 0.5 + 1.6 * 0.2) / 1.7
    np.testing.assert_allclose(cardan.center_of_mass(model, [0, 0])[2], expected)


def test_lock_changes_nothing_else(quick_target):
    model = random_mechanism(2).model(base="floating")
    q, v, a = random_state(model, seed=1)
    names = ["joint3", "joint8", "joint11"]
    names = [n for n in names if model.q_slice(n).stop > model.q_slice(n).start and "joint" in n]
    locked = model.lock({n: q[model.q_slice(n)] for n in names})
    keep_q, keep_v = np.ones(model.nq, bool), np.ones(model.nv, bool)
    for n in names:
        keep_q[model.q_slice(n)] = keep_v[model.v_slice(n)] = False
    if any(set(names) & {*c.joint.primaries} for c in model.connections):
        pytest.fail("choose joints without followers")
    v[~keep_v] = a[~keep_v] = 0.0
    assert locked.joint_names == model.joint_names
    assert locked.frame_names == model.frame_names
    np.testing.assert_allclose(
        cardan.forward_kinematics(locked, q[keep_q]), cardan.forward_kinematics(model, q), atol=1e-13
    )
    np.testing.assert_allclose(
        cardan.inverse_dynamics(locked, q[keep_q], v[keep_v], a[keep_v]),
        cardan.inverse_dynamics(model, q, v, a)[keep_v],
        atol=1e-11,
    )


def test_locking_a_primary_locks_its_mimics():
    model = mimic_robot().model()
    locked = model.lock({"a": 0.3})
    assert locked.nv == 1
    np.testing.assert_allclose(
        cardan.forward_kinematics(locked, [0.5]), cardan.forward_kinematics(model, [0.3, 0.5]), atol=1e-15
    )
    with pytest.raises(MechanismError, match="mimics 'a': lock that one"):
        model.lock({"b": 0.0})
    with pytest.raises(UnknownNameError):
        model.lock({"z": 0.0})
    with pytest.raises(ShapeError):
        model.lock({"a": [0.0, 1.0]})
    with pytest.raises(ParameterError, match="finite"):
        model.lock({"a": np.nan})


def mimic_robot(multiplier=-2.0, offset=0.1):
    rng = np.random.default_rng(0)
    m = Mechanism("gripper")
    for name in "abcd":
        m.add_body(name, Inertia(1.0, rng.normal(size=3), np.diag([1.0, 1.1, 1.2])))
    m.add_joint("b", Mimic(Revolute([1, 0, 0]), "a", multiplier, offset), "a", "b", armature=[0.1])
    m.add_joint("a", Revolute([0, 1, 0]), "world", "a")
    m.add_joint("c", Mimic(Prismatic([0, 0, 1]), "b", 0.5, 0.0), "world", "c")  # a mimic of a mimic
    m.add_joint("d", Revolute([0, 0, 1]), "b", "d")
    return m


def test_mimic_is_the_full_robot_seen_through_the_coupling():
    """tau = G^T tau_full, M = G^T M_full G, with v_full = G v."""
    model = mimic_robot().model()
    free = Mechanism("free")
    for body in mimic_robot().bodies:
        free.add_body(body.name, body.inertia)
    for c in mimic_robot().joints:
        kind = c.joint.joint if c.joint.primaries else c.joint
        free.add_joint(c.name, kind, c.parent, c.child, c.parent_pose, c.child_pose, armature=c.armature)
    full = free.model()
    assert (model.nq, model.nv, full.nv) == (2, 2, 4)
    G = np.array([[-2.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])  # b, a, c, d from a, d
    q, v, a = np.array([0.3, -0.7]), np.array([0.5, 1.5]), np.array([-1.0, 2.0])
    full_q = G @ q + np.array([0.1, 0.0, 0.05, 0.0])
    np.testing.assert_allclose(
        cardan.inverse_dynamics(model, q, v, a), G.T @ cardan.inverse_dynamics(full, full_q, G @ v, G @ a), atol=1e-12
    )
    np.testing.assert_allclose(cardan.mass_matrix(model, q), G.T @ cardan.mass_matrix(full, full_q) @ G, atol=1e-12)
    tau = cardan.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(cardan.forward_dynamics(model, q, v, tau), a, atol=1e-12)
    bias = cardan.bias_forces(model, q, v) - cardan.gravity_forces(model, q)
    np.testing.assert_allclose(times(cardan.coriolis_matrix(model, q, v), v), bias, atol=1e-12)


def test_mimic_faults():
    def build(joint, primary=None):
        m = Mechanism("m")
        m.add_body("a", Inertia(1.0))
        m.add_body("b", Inertia(1.0))
        m.add_joint("a", primary or Revolute(), "world", "a")
        m.add_joint("b", joint, "a", "b")
        return m.model()

    with pytest.raises(UnknownNameError, match="mimic joint 'b'"):
        build(Mimic(Revolute(), "x"))
    with pytest.raises(MechanismError, match="copies itself"):
        build(Mimic(Revolute(), "b"))
    with pytest.raises(MechanismError, match="copies itself"):
        build(Mimic(Revolute(), "a"), primary=Mimic(Revolute(), "b"))
    with pytest.raises(MechanismError, match="same kind of coordinates"):
        build(Mimic(Revolute(), "a"), primary=UnboundedRevolute())


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda m: m.add_body("upper"), DuplicateNameError, "already a body named 'upper'"),
        (lambda m: m.add_body("world"), DuplicateNameError, "world"),
        (lambda m: m.add_body(""), ParameterError, "non-empty"),
        (lambda m: m.add_body("x", 3.0), ParameterError, "cardan.Inertia"),
        (lambda m: m.add_frame("tool", "fore"), DuplicateNameError, "frame"),
        (lambda m: m.add_frame("t", "for"), UnknownNameError, "did you mean 'fore'"),
        (lambda m: m.add_joint("elbow", Revolute(), "upper", "fore"), DuplicateNameError, "joint"),
        (lambda m: m.add_joint("j", Revolute(), "upper", "uper"), UnknownNameError, "did you mean 'upper'"),
        (lambda m: m.add_joint("j", Revolute(), "upper", "upper"), MechanismError, "with itself"),
        (lambda m: m.add_joint("j", Revolute, "upper", "fore"), ParameterError, "Revolute(axis=[0, 0, 1])"),
        (lambda m: m.add_joint("j", Revolute(), "upper", "fore", np.eye(3)), ParameterError, "SE3"),
        (
            lambda m: m.add_joint("j", Revolute(), "upper", "fore", SE3(2 * np.eye(3))),
            ParameterError,
            "rotation matrix",
        ),
        (lambda m: m.add_joint("j", Revolute(), "upper", "fore", damping=[-1]), ParameterError, "damping of joint 'j'"),
        (
            lambda m: m.add_joint("j", Revolute(), "upper", "fore", armature=[1, 2]),
            ParameterError,
            "got (1.0, 2.0), expected a finite number >= 0",
        ),
        (
            lambda m: m.add_joint("j", Revolute(), "upper", "fore", armature=0.1),
            ParameterError,
            "armature of joint 'j': got 0.1, expected 1 in a sequence: [0.1]",
        ),
        (lambda m: m.add_joint("j", Revolute(), "upper", "fore", limits=Limits([0, 1])), ParameterError, "1 numbers"),
        (lambda m: m.add_shape("box"), ParameterError, "Shape"),
        (lambda m: m.model(root="fores"), UnknownNameError, "root"),
        (lambda m: m.model(gravity=(0, 0)), ParameterError, "three finite numbers"),
        (lambda m: Mechanism("empty").model(), MechanismError, "no body"),
    ],
)
def test_errors_come_from_the_call_that_causes_them(act, error, words):
    m = two_links()
    before = (m.bodies, m.joints, m.frames, m.shapes)
    with pytest.raises(error) as info:
        act(m)
    assert words in str(info.value)
    assert (m.bodies, m.joints, m.frames, m.shapes) == before


def test_the_joint_that_closes_a_loop_is_the_last_of_it():
    m = Mechanism("triangle")
    for body in "abc":
        m.add_body(body, Inertia(1.0))
    for pair in ("ab", "cb", "ca"):
        m.add_joint(pair, Revolute(), *pair)
    model = m.model()
    assert model.joint_names == ("root", "ab", "cb")
    assert model.closure_names == ("ca",)
    assert (model.connection("cb").parent, model.connection("cb").child) == ("b", "c")
    assert m.model(closing=["ab"]).closure_names == ("ab",)
    assert m.model(root="c").closure_names == ("ca",)
    m.add_joint("root", Revolute(), "world", "a")
    with pytest.raises(MechanismError, match="'root' closes no loop"):
        m.model(closing=["root"])


def test_what_mimics_needs_coordinates_closes_no_loop():
    m = Mechanism("triangle")
    for body in "abc":
        m.add_body(body, Inertia(1.0))
    m.add_joint("ab", Revolute(), "a", "b")
    m.add_joint("bc", Revolute(), "b", "c")
    m.add_joint("ca", Mimic(Revolute(), "ab"), "c", "a")
    assert m.model().closure_names == ("bc",)
    with pytest.raises(MechanismError, match="is copied by a mimic joint"):
        m.model(closing=["ab"])


def test_models_are_immutable_and_pickle():
    model = random_mechanism(1).model(base="floating")
    with pytest.raises(AttributeError):
        model.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        model.lower[0] = 1.0
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (twin.bodies, twin.connections, twin.frames) == (model.bodies, model.connections, model.frames)
        q, v, a = random_state(model, seed=0)
        np.testing.assert_array_equal(cardan.inverse_dynamics(twin, q, v, a), cardan.inverse_dynamics(model, q, v, a))


def test_random_configurations_keep_limits_and_are_reproducible():
    model = two_links().model()
    q = model.random_configuration((1000,), seed=0)
    assert q.shape == (1000, 2)
    assert (q[:, 0] >= -1).all()
    assert (q[:, 0] <= 2).all()
    np.testing.assert_array_equal(q, model.random_configuration(1000, seed=0))
    for no_shape in (-1, 1.5, "3", (2, -1), True):
        with pytest.raises(ParameterError, match="shape of random configurations: got"):
            model.random_configuration(no_shape)
        with pytest.raises(ParameterError, match="shape of random configurations: got"):
            Revolute().random_configuration(no_shape)


@pytest.mark.parametrize("seed", [-1, "a", 1.5])
def test_a_seed_of_random_configurations_that_is_none_is_named(seed):
    """These were NumPy's errors, which say nothing of seeds."""
    for of in (cardan.robots.arm7().model(), cardan.joints.Revolute()):
        with pytest.raises(ParameterError, match="seed of random configurations: got"):
            of.random_configuration(seed=seed)


def test_limit_coordinates_of_a_floating_robot():
    m = Mechanism("m")
    m.add_body("b", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint(
        "free", FreeFlyer(), "world", "b", limits=Limits(lower=[-1, -2, 0, -1, -1, -1], upper=[1, 2, 3, 1, 1, 1])
    )
    model = m.model()
    q = model.random_configuration((200,), seed=0)
    inside = cardan.limit_coordinates(model, q)
    assert (inside >= model.lower - 1e-12).all()
    assert (inside <= model.upper + 1e-12).all()


def test_gravity_is_a_field():
    model = two_links().model(gravity=(0, 0, 0))
    np.testing.assert_array_equal(cardan.gravity_forces(model, [0.3, 0.4]), [0.0, 0.0])
    earth = model.with_gravity((0, 0, -9.81))
    assert np.abs(cardan.gravity_forces(earth, [0.3, 0.4])).min() > 0.1


def test_the_table_shows_what_closes_loops_and_what_is_given():
    m = two_links()
    m.add_joint("brace", Spherical(), "upper", "fore")
    lines = str(m.model().with_inputs("gravity")).splitlines()
    assert lines[-2:] == ["closing: upper <-[brace: Spherical]-> fore", "given at every call: gravity (3,)"]
