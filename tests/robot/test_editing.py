"""Editing a mechanism: a new one each time, the same physics, and a report; printing, building, seen without a root."""

import copy
import dataclasses
import warnings

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia, Limits, Mechanism
from cardan.description import Box, Shape, Sphere
from cardan.errors import (
    CardanError,
    DuplicateNameError,
    MechanismError,
    ParameterError,
    ShapeError,
    UnknownNameError,
)
from cardan.joints import (
    CATALOGUE,
    Cable,
    Fixed,
    FreeFlyer,
    Helical,
    Mimic,
    Prismatic,
    Revolute,
    Spherical,
    UnboundedRevolute,
)
from mechanisms import random_inertia, random_mechanism, random_pose, random_state


def arm():
    """Three links, a fixed tool of some mass with a frame and a shape, a massless tip, a mimic finger."""
    rng = np.random.default_rng(0)
    m = Mechanism("arm")
    for name in ("base", "upper", "fore", "tool", "finger"):
        m.add_body(name, random_inertia(rng))
    m.add_body("tip")
    m.add_joint("shoulder", Revolute((0, 0, 1)), "base", "upper", random_pose(rng), random_pose(rng))
    limits = Limits([-1.0], [1.0], velocity=[2.0])
    m.add_joint("elbow", Revolute((0, 1, 0)), "upper", "fore", random_pose(rng), limits=limits, damping=[0.1])
    m.add_joint("flange", Fixed(), "fore", "tool", random_pose(rng), random_pose(rng))
    m.add_joint("grip", Mimic(Prismatic((1, 0, 0)), "elbow", 0.1), "tool", "finger", random_pose(rng))
    m.add_joint("tip_mount", Fixed(), "finger", "tip", SE3(translation=(0, 0, 0.1)))
    m.add_frame("camera", "tool", random_pose(rng))
    m.add_shape(Shape("tool", "visual", Box((0.1, 0.1, 0.2)), random_pose(rng)))
    m.add_shape(Shape("tip", "collision", Sphere(0.01)))
    return m


def untouched(m):
    """A mechanism that must not change while it is edited."""
    return m, m.copy()


def poses(model, names, q):
    return {name: cardan.frame_transform(model, q, name) for name in names}


def test_prefixes_and_names():
    m, before = untouched(arm())
    left, report = m.prefixed("left/")
    assert m == before
    assert [b.name for b in left.bodies][:2] == ["left/base", "left/upper"]
    assert left.joints[3].joint.primary == "left/elbow"
    assert left.shapes[0].body == "left/tool"
    assert report.renamed["elbow"] == "left/elbow"
    assert "renamed: elbow -> left/elbow" in str(report)
    assert left.prefixed("").mechanism == left
    other = m.renamed({"fore": "forearm", "elbow": "knee"}).mechanism
    assert other.joints[3].joint.primary == "knee"
    assert [c.parent for c in other.joints][2] == "forearm"
    with pytest.raises(UnknownNameError, match="did you mean 'elbow'"):
        m.renamed({"elbo": "x"})
    with pytest.raises(DuplicateNameError, match="body"):
        m.renamed({"fore": "upper"})
    with pytest.raises(DuplicateNameError, match="joint"):
        m.renamed({"elbow": "shoulder"})


def test_two_arms_on_a_body():
    torso = Mechanism("torso")
    torso.add_body("torso", Inertia(10.0))
    torso.add_frame("left_mount", "torso", SE3(translation=(0, 0.3, 1)))
    right = SE3(translation=(0, -0.3, 1))
    both, report = torso.merge(arm(), "left_shoulder", Fixed(), "left_mount", "base", prefix="left/")
    both, _ = both.merge(arm(), "right_shoulder", Revolute((1, 0, 0)), "torso", "camera", right, prefix="right/")
    assert report.renamed["base"] == "left/base"
    model = both.model(root="torso", base="floating")
    assert model.nv == 6 + 2 + 1 + 2
    np.testing.assert_allclose(model.mass, 10.0 + 2 * arm().model().mass)
    q = model.neutral()
    np.testing.assert_allclose(cardan.frame_transform(model, q, "left/base")[:3, 3], [0, 0.3, 1])
    np.testing.assert_allclose(cardan.frame_transform(model, q, "right/camera"), right.homogeneous(), atol=1e-14)
    with pytest.raises(DuplicateNameError, match=r"give prefix=\.\.\."):
        both.append(arm(), prefix="left/")
    apart = torso.append(arm()).mechanism.model(base="floating")
    assert apart.joint_names[:2] == ("root", "root_base")
    with pytest.raises(UnknownNameError, match="body"):
        torso.merge(arm(), "x", Fixed(), "nowhere", "base")


def test_locking():
    m, before = untouched(arm())
    locked, report = m.lock({"elbow": 0.4})
    assert m == before
    assert report.changed_joints == ("elbow", "grip")
    assert "changed: joint grip" in str(report)
    whole, part = m.model(), locked.model()
    q = np.array([0.3, 0.4])
    for name in ("tool", "finger", "camera"):
        np.testing.assert_allclose(
            cardan.frame_transform(part, [0.3], name), cardan.frame_transform(whole, q, name), atol=1e-15
        )
    np.testing.assert_array_equal(whole.lock({"elbow": 0.4}).nv, part.nv)
    for words, configurations in (("mimics 'elbow'", {"grip": 0.1}), ("no joint named 'elb'", {"elb": 0.1})):
        with pytest.raises((MechanismError, UnknownNameError), match=words):
            m.lock(configurations)
    with pytest.raises(ShapeError, match="elbow"):
        m.lock({"elbow": [0.1, 0.2]})


def test_replacing_a_joint():
    m, before = untouched(arm())
    screw, report = m.replace_joint("elbow", Helical((0, 1, 0), 0.01))
    assert m == before
    assert report.changed_joints == ("elbow",)
    assert screw.joints[1].limits == m.joints[1].limits
    assert screw.joints[1].damping == (0.1,)
    ball = m.remove("grip").mechanism.replace_joint("elbow", Spherical(), Limits(), damping=[0.1] * 3).mechanism
    assert ball.model().nv == 4
    with pytest.raises(ParameterError, match="new values for its limits"):
        m.remove("grip").mechanism.replace_joint("elbow", Spherical(), damping=[0.1] * 3)
    with pytest.raises(ParameterError, match="damping"):
        m.remove("grip").mechanism.replace_joint("elbow", Spherical(), Limits())
    with pytest.raises(MechanismError, match="cannot copy"):
        m.replace_joint("elbow", Spherical(), Limits(), damping=[0.1] * 3)
    with pytest.raises(ParameterError, match="a joint, such as"):
        m.replace_joint("elbow", Spherical)
    assert m.replace_joint("shoulder", FreeFlyer(), Limits()).mechanism.model().nv == 7


def test_removing():
    m, before = untouched(arm())
    rest, report = m.remove("tool")
    assert m == before
    assert report.removed == ("tool", "flange", "grip", "camera")
    assert [b.name for b in rest.bodies] == ["base", "upper", "fore", "finger", "tip"]
    assert [s.body for s in rest.shapes] == ["tip"]
    assert m.remove("camera").mechanism.frames == ()
    with pytest.raises(MechanismError, match="'grip' copies 'elbow'"):
        m.remove("elbow")
    with pytest.raises(UnknownNameError):
        m.remove("nothing")


def test_extracting():
    m, before = untouched(arm())
    part, report = m.extract("fore", "tool")
    assert m == before
    assert [c.name for c in part.joints] == ["flange"]
    assert [f.name for f in part.frames] == ["camera"]
    assert set(report.removed) == {"base", "upper", "finger", "tip", "shoulder", "elbow", "grip", "tip_mount"}
    with pytest.raises(MechanismError, match="copies"):
        m.extract("tool", "finger")
    hung = random_mechanism(0, joints=CATALOGUE[1:5])
    hung.add_joint("bolt", Fixed(), "world", "body")
    assert "bolt" in hung.extract("body", "body0").report.removed
    assert "bolt" not in hung.extract("world", "body", "body0").report.removed


def test_a_massless_end_that_exerts_efforts_on_what_it_copies_stays():
    m = Mechanism("cables", gravity=(0.0, 0.0, 0.0))
    m.add_body("link", Inertia(1.0))
    m.add_body("end")
    m.add_joint("cable", Cable(stretch_stiffness=1.0), "world", "link")
    m.add_joint("copy", Mimic(Cable(stretch_stiffness=5.0), "cable"), "link", "end")
    lean = m.without_massless_leaves().mechanism
    for model in (m.model(), lean.model()):
        assert cardan.passive_forces(model, [0.1, 0.0, 0.0], np.zeros(3))[0] == pytest.approx(0.6)


def test_bodies_on_a_fixed_joint_that_gives_way_stay_bodies():
    m = Mechanism("three")
    for name in ("base", "soft", "tip"):
        m.add_body(name, Inertia(1.0))
    m.add_joint("slide", Prismatic(), "world", "base")
    m.add_joint("mount", Fixed(), "base", "soft", compliance=[0, 0, 0, 0, 1e-3, 0])
    m.add_joint("bolt", Fixed(), "soft", "tip")
    lean = m.merge_fixed().mechanism
    assert [(c.name, c.compliance) for c in lean.joints] == [("slide", (0.0,) * 6), ("mount", (0, 0, 0, 0, 1e-3, 0))]


def test_massless_ends_become_frames_or_go():
    m, before = untouched(arm())
    m.add_body("feeler")
    m.add_joint("wobble", Revolute(), "tip", "feeler")
    m.add_frame("nib", "feeler")
    lean, report = m.without_massless_leaves()
    assert report.removed == ("feeler", "wobble", "nib", "tip_mount")
    assert report.became_frames == ("tip",)
    assert report.moved["tip"][0] == "finger"
    assert [f.name for f in lean.frames] == ["camera", "tip"]
    assert lean.shapes[-1].body == "finger"
    model, leaner = before.model(), lean.model()
    q = [0.2, 0.3]
    np.testing.assert_allclose(
        cardan.frame_transform(leaner, q, "tip"), cardan.frame_transform(model, q, "tip"), atol=1e-15
    )
    assert before.remove("tip").mechanism.without_massless_leaves().report == type(report)()
    assert str(type(report)()) == "nothing changed"


def test_a_report_names_what_another_mechanism_added():
    """A merge without a prefix printed "nothing changed"."""
    held = arm().merge(arm(), "wrist", Fixed(), "tip", "base", prefix="second/").report
    assert held.added[-1] == "wrist"
    assert "second/tip" in held.added
    assert "world" not in held.added
    other = Mechanism("gripper")
    other.add_body("hand", Inertia(0.3))
    _, report = arm().merge(other, "wrist", Fixed(), "tip", "hand")
    assert report.added == ("hand", "wrist")
    assert str(report) == "added: hand\nadded: wrist"


def test_a_report_names_what_has_other_values():
    """Other drives and other shapes printed "nothing changed"."""
    m = arm()
    driven, report = m.with_drives({"*": cardan.Drive(1.0, 1.0)})
    assert str(report) == "replaced: drive of shoulder\nreplaced: drive of elbow"
    assert str(driven.with_drives({"*": cardan.Drive(1.0, 1.0)}).report) == "nothing changed"
    assert m.with_annotations(type(m.annotations)()).report.replaced == ("shapes",)
    assert str(m.with_annotations(m.annotations).report) == "nothing changed"


def test_fixed_bodies_become_one():
    m, before = untouched(arm())
    one, report = m.merge_fixed()
    assert m == before
    assert report.became_frames == ("tool", "tip")
    assert [b.name for b in one.bodies] == ["base", "upper", "fore", "finger"]
    assert "moved: what was on tool is on fore" in str(report)
    a, b = m.model(), one.model()
    q, v, acc = random_state(a, 0)
    np.testing.assert_allclose(cardan.inverse_dynamics(b, q, v, acc), cardan.inverse_dynamics(a, q, v, acc), atol=1e-13)
    for name in ("tool", "camera", "tip", "finger"):
        X = [cardan.frame_transform(model, q, name) for model in (a, b)]
        np.testing.assert_allclose(*X, atol=1e-14)
    kept = m.merge_fixed(keep=["tool"]).mechanism
    assert [b.name for b in kept.bodies] == ["base", "upper", "tool", "finger"]
    np.testing.assert_allclose(
        cardan.inverse_dynamics(kept.model(), q, v, acc), cardan.inverse_dynamics(a, q, v, acc), atol=1e-13
    )
    with pytest.raises(UnknownNameError, match="keep"):
        m.merge_fixed(keep=["tol"])


def test_chains_of_fixed_bodies_report_where_all_of_them_are():
    m = Mechanism("stack")
    for k in range(4):
        m.add_body(f"b{k}", Inertia(1.0))
    for k in (2, 1, 0):
        m.add_joint(f"j{k}", Fixed(), f"b{k}", f"b{k + 1}", SE3(translation=(0, 0, 1.0)))
    one, report = m.merge_fixed()
    assert [b.name for b in one.bodies] == ["b0"]
    heights = {name: (onto, X.translation[2]) for name, (onto, X) in report.moved.items()}
    assert heights == {"b1": ("b0", 1.0), "b2": ("b0", 2.0), "b3": ("b0", 3.0)}
    assert one.bodies[0].inertia.mass == 4.0
    np.testing.assert_allclose(tuple(one.bodies[0].inertia.com), (0, 0, 1.5))


TREE = """\
arm: 6 bodies, MASS kg, 6 joints, 1 frames
base
└─[shoulder: Revolute]─ upper
   └─[elbow: Revolute]─ fore
      └─[flange: Fixed]─ tool
         └─[grip: Prismatic = 0.1 elbow + 0]─ finger
            └─[tip_mount: Fixed]─ tip
closing: base <-[brace: Spherical]-> tool"""


def test_printing():
    m = arm()
    m.add_joint("brace", Spherical(), "base", "tool")
    assert str(m) == TREE.replace("MASS", f"{m.model().mass:.6g}")
    assert repr(m) == "<Mechanism 'arm': 6 bodies, 6 joints, 1 frames>"
    forest = Mechanism("forest")
    for body in "abc":
        forest.add_body(body)
    forest.add_joint("ba", Revolute(), "b", "a")
    forest.add_joint("ca", Revolute(), "c", "a")
    assert str(forest).splitlines()[1:] == ["b", "└─[ba: Revolute]─ a", "   └─[ca: Revolute (reversed)]─ c"]


# --- seen without a root ---


def test_transforms_in_either_order(quick_target):
    m = random_mechanism(4, joints=CATALOGUE[1:12])
    model = m.model()
    q = model.random_configuration((3,), seed=0)
    at = {name: q[:, model.q_slice(name)] for name in model.joint_names if model.joint(name).nq}
    X = {b.name: cardan.frame_transform(model, q, b.name) for b in m.bodies}
    X |= {f.name: cardan.frame_transform(model, q, f.name) for f in m.frames}
    names = list(X)
    for a, b in zip(names, names[5:] + names[:5], strict=True):
        expected = np.linalg.inv(X[a]) @ X[b]
        np.testing.assert_allclose(m.transform(at, b, a), expected, atol=1e-12)
        np.testing.assert_allclose(
            m.transform(at, a, b) @ m.transform(at, b, a), np.eye(4) * np.ones((3, 1, 1)), atol=1e-12
        )
    assert m.transform(at, "body3", "body3").shape == (4, 4)
    np.testing.assert_allclose(
        m.transform({}, "body5", "body"), cardan.frame_transform(model, model.neutral(), "body5"), atol=1e-12
    )


def test_subspaces_in_either_order():
    m = random_mechanism(6, joints=[*CATALOGUE[1:12], CATALOGUE[-1]])
    model = m.model()
    q = model.random_configuration(seed=0)
    at = {name: q[model.q_slice(name)] for name in model.joint_names if model.q_slice(name) != slice(0, 0)}
    at = {name: value for name, value in at.items() if value.size}
    base, tip = m.bodies[0].name, m.bodies[-1].name
    for a, b in ((base, tip), (tip, base), ("frame2", "frame7")):
        S = m.motion_subspace(at, b, a)
        assert tuple(S) == m.path(*(m_body(m, x) for x in (b, a)))
        v = np.random.default_rng(0).normal(size=model.nv)
        expected = relative_twist(model, q, v, b, a)
        total = sum(S[name] @ velocity_of(model, name, v) for name in S)
        np.testing.assert_allclose(total, expected, atol=1e-11)
    single = next(c for c in m.joints if isinstance(c.joint, Spherical))
    forth = m.motion_subspace(at, single.child, single.parent)[single.name]
    back = m.motion_subspace(at, single.parent, single.child)[single.name]
    Ad = np.array(SE3.of(m.transform(at, single.child, single.parent)).adjoint(), dtype=float)
    np.testing.assert_allclose(back, -Ad @ forth, atol=1e-13)


def m_body(m, name):
    return next((f.body for f in m.frames if f.name == name), name)


def velocity_of(model, joint, v):
    kind = model.joint(joint)
    return v[model.v_slice(kind.primaries[0] if kind.primaries else joint)]


def relative_twist(model, q, v, child, parent):
    """The twist of the child relative to the parent, in the child's frame."""
    V = [cardan.frame_velocity(model, q, v, f, at=child, expressed_in=child) for f in (child, parent)]
    return V[0] - V[1]


def test_traversals_from_any_base():
    m = arm()
    assert [tuple(v) for v in m.traversal("fore")][:3] == [
        ("fore", None, None), ("upper", "fore", "elbow"), ("base", "upper", "shoulder"),
    ]  # fmt: skip
    for base in (b.name for b in m.bodies):
        seen = set()
        for visit in m.traversal(base):
            assert visit.parent is None or visit.parent in seen
            seen.add(visit.body)
        assert seen == {b.name for b in m.bodies}
    assert m.path("tool", "base") == ("shoulder", "elbow", "flange")
    assert m.path("base", "tool") == ("flange", "elbow", "shoulder")


@pytest.mark.parametrize(
    ("words", "act"),
    [
        ("no body or frame named 'tol'; did you mean 'tool'", lambda m: m.transform({}, "tol", "base")),
        ("not connected", lambda m: m.transform({}, "tool", "world")),
        ("no joint with coordinates named 'grip'", lambda m: m.transform({"grip": 0.1}, "tool", "base")),
        ("a mapping {joint", lambda m: m.transform([0.1, 0.2], "tool", "base")),
    ],
)
def test_what_is_wrong_is_said(words, act):
    with pytest.raises(CardanError) as caught:
        act(arm())
    assert words in str(caught.value)


def test_frames_of_sensors(tmp_path):
    m = arm()
    m.add_frame("imu", "upper", SE3(translation=(0.0, 0.0, 0.1)), kind="sensor")
    m.add_frame("torque", "fore", kind="sensor")
    assert [f.name for f in m.frames if f.kind == "sensor"] == ["imu", "torque"]
    for file in ("arm.json", "arm.urdf"):  # URDF has a link's frame at its joint: some move
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cardan.errors.DescriptionWarning)
            cardan.save(m, tmp_path / file)
        assert {f.name: f.kind for f in cardan.load_mechanism(tmp_path / file).frames}["imu"] == "sensor"
    with pytest.raises(ParameterError, match="kind of frame"):
        m.add_frame("x", "upper", kind="sensors")
    text = '<robot name="r"><link name="a"/><frame name="f" link="a" kind="eye"/></robot>'
    with pytest.raises(cardan.DescriptionError, match="its kind is 'eye'"):
        cardan.load_mechanism(text)


def follower(**drive):
    """A heavy arm, and a massless pointer that copies its joint."""
    m = Mechanism("pointer")
    m.add_body("arm", Inertia(1.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.1, 0.1])))
    m.add_body("pointer")
    m.add_joint("p", Revolute((0, 0, 1)), "world", "arm")
    m.add_joint("m", Mimic(Revolute((0, 0, 1)), "p", 2.0), "world", "pointer", **drive)
    return m


def test_a_massless_leaf_stays_where_its_primary_feels_its_drive():
    for drive in ({"armature": [0.05]}, {"damping": [0.4]}, {"friction": [0.3]}, {"spring": cardan.Spring(0.2, 0.1)}):
        m = follower(**drive)
        lean, report = m.without_massless_leaves()
        assert lean == m
        assert report.removed == ()
        q, v = [0.3], [0.2]
        np.testing.assert_array_equal(cardan.mass_matrix(lean.model(), q), cardan.mass_matrix(m.model(), q))
        forces = [cardan.passive_forces(x.model(), q, v) for x in (lean, m)]
        np.testing.assert_array_equal(*forces)
    assert follower().without_massless_leaves().report.removed == ("pointer", "m")


def test_a_massless_leaf_that_is_copied_stays_while_its_copy_does():
    m = Mechanism("dial")
    m.add_body("dial")
    m.add_body("arm", Inertia(1.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.1, 0.1])))
    m.add_joint("p", Revolute((0, 0, 1)), "world", "dial")
    m.add_joint("m", Mimic(Revolute((0, 0, 1)), "p", 2.0), "world", "arm")
    assert m.without_massless_leaves().mechanism == m
    both = Mechanism("dials")
    both.add_body("a")
    both.add_body("b")
    both.add_joint("p", Revolute((0, 0, 1)), "world", "a")
    both.add_joint("m", Mimic(Revolute((0, 0, 1)), "p", 2.0), "world", "b")
    assert both.without_massless_leaves().mechanism.bodies == ()


@pytest.mark.slow
def test_a_mimic_reads_the_angle_whatever_the_order_of_its_primary():
    """Copying (cos, sin) as (sin, cos) would turn the follower by pi/2 - angle."""
    inertia = Inertia(1.0, (0.1, 0.2, 0.0), np.diag([0.01, 0.02, 0.03]))
    for first, second in (("cos_sin", "sin_cos"), ("sin_cos", "cos_sin"), ("sin_cos", "sin_cos")):
        m = Mechanism("pair")
        m.add_body("a", inertia)
        m.add_body("b", inertia)
        m.add_body("c", inertia)
        m.add_joint("p", UnboundedRevolute((0, 0, 1), order=first), "world", "a")
        m.add_joint("s", Mimic(UnboundedRevolute((0, 0, 1), order=second), "p", 2.0, 0.1), "world", "b")
        m.add_joint("t", Mimic(UnboundedRevolute((0, 0, 1), order=first), "s", 1.0), "world", "c")
        other = m.replace_joint("p", UnboundedRevolute((0, 0, 1), order=second)).mechanism
        for mechanism, order in ((m, first), (other, second)):
            model = mechanism.model(gravity=(0.0, -9.81, 0.0))
            q = np.array(UnboundedRevolute(order=order).manifold.from_angle(0.3))
            poses = [cardan.frame_transform(model, q, body) for body in "abc"]
            np.testing.assert_allclose([np.arctan2(X[1, 0], X[0, 0]) for X in poses], [0.3, 0.7, 0.7])
            work = cardan.gradient(cardan.potential_energy, "q")(model, q)
            np.testing.assert_allclose(cardan.gravity_forces(model, q), work, rtol=1e-12)
            np.testing.assert_allclose(mechanism.transform({"p": q}, "b", "world"), poses[1], atol=1e-15)


@pytest.mark.slow
def test_a_long_chain_of_mimics_is_resolved_link_by_link():
    m = Mechanism("chain")
    names = [f"b{k}" for k in range(3000)]
    for k, name in enumerate(names):
        m.add_body(name)
        joint = Mimic(Revolute(), names[k - 1], -1.0, 0.5) if k else Revolute()
        m.add_joint(name, joint, "world", name)
    model = m.model()  # in a time that grows with the chain alone: nothing here is walked anew for each mimic
    assert (model.nodes[-1].joint.primary, model.nodes[-1].joint.multiplier) == ("b0", -1.0)
    assert model.nodes[-1].joint.offset == pytest.approx(0.5)


def test_drives_by_patterns_leave_what_cannot_have_one():
    m = cardan.Mechanism("two")
    for body in "abc":
        m.add_body(body, random_inertia(np.random.default_rng(0)))
    m.add_joint("arm_1", Revolute([0, 0, 1]), "world", "a")
    m.add_joint("arm_2", Revolute([0, 0, 1]), "a", "b")
    m.add_joint("copy", Mimic(Revolute([0, 1, 0]), "arm_2"), "b", "c")
    driven, report = m.with_drives({"*": cardan.Drive(400.0, 40.0), "arm_2": cardan.Drive(10.0)})
    np.testing.assert_array_equal(driven.model().passive("drive_stiffness"), [400.0, 10.0])
    np.testing.assert_array_equal(driven.model().passive("drive_damping"), [40.0, 0.0])
    assert report.replaced == ("drive of arm_1", "drive of arm_2")
    assert not any(m.model().passive("drive_stiffness"))
    with pytest.raises(UnknownNameError, match="'leg'"):
        driven.with_drives({"leg": None})
    with pytest.raises(UnknownNameError):
        driven.with_drives({"copy": cardan.Drive(1.0)})


def test_a_copy_of_a_record_is_another_one_with_the_same_parts():
    mechanism = cardan.robots.quadruped()
    for record in (*mechanism.bodies, *mechanism.joints, *mechanism.frames, cardan.Material(friction=0.3)):
        twin = copy.copy(record)
        assert twin is not record
        assert twin == record
        assert type(twin) is type(record)
        for field in dataclasses.fields(record):
            assert getattr(twin, field.name) is getattr(record, field.name), field.name
