"""What a description says beside bodies and joints: every edit, model, world and file takes it along."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import SE3, Actuator, Drive, Group, Inertia, Limits, Mechanism, Spring
from cardan._robot.records import ACTUATOR_KINDS
from cardan.description import Box, Shape, Sphere
from cardan.errors import (
    DescriptionError,
    DuplicateNameError,
    MechanismError,
    ParameterError,
    ShapeError,
    UnknownNameError,
)
from cardan.joints import Fixed, FreeFlyer, Mimic, Prismatic, Revolute, Spherical
from json_things import bits, model_bits, there_and_back


def servo(joint, kp=30.0, kv=2.0, gear=1.0, name=None):
    return Actuator(name or f"{joint}_servo", joint, gear, "position", kp, (0.0, -kp, -kv))


def arm():
    """Two links, a hand fixed on the second, a finger that slides and one that copies it; all that can be said."""
    m = Mechanism("arm", gravity=(0.0, 0.0, -1.62))
    for name in ("upper", "fore", "hand", "left", "right"):
        m.add_body(name, Inertia(1.0, (0.1, 0.0, 0.2), [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]))
    drive, spring = Drive(30.0, 2.0), Spring(5.0, 0.25)
    m.add_joint("shoulder", Spherical(), "world", "upper", spring=Spring((1.0, 2.0, 3.0)))
    m.add_joint("elbow", Revolute((0, 1, 0)), "upper", "fore", SE3(translation=(0, 0, 1)), drive=drive, spring=spring)
    m.add_joint("flange", Fixed(), "fore", "hand", SE3(translation=(0, 0, 0.5)))
    m.add_joint("slide", Prismatic((1, 0, 0)), "hand", "left")
    m.add_joint("copy", Mimic(Prismatic((-1, 0, 0)), "slide"), "hand", "right")
    m.add_shape(Shape("hand", "collision", Box((0.1, 0.1, 0.1)), SE3(translation=(0, 0, 0.05)), margin=0.01))
    m.add_shape(Shape("left", "collision", Sphere(0.02), density=700.0))
    m.add_shape(Shape("world", "visual", Sphere(0.5)))
    m.add_actuator(servo("elbow"))
    m.add_actuator(Actuator("motor", "shoulder", [(1.0, 2.0, 3.0)], gain=1.0, bias=(0, 0, 0)))
    m.add_actuator(Actuator("tendon", ("elbow", "slide"), (0.02, 1.0), "general", effort_range=(0.0, math.inf)))
    m.add_group(Group("gripper", ["hand", "left", "right"], ["slide", "copy"]))
    m.add_group(Group("whole", ["upper", "fore"], ["elbow", "flange"], tip="gripper"))
    m.add_configuration("home", {"shoulder": (0.0, 0.0, 0.6, 0.8), "elbow": 0.5})
    m.add_configuration("grasp", {"slide": 0.04})
    m.disable_contact("upper", "hand")
    m.disable_contact("fore", "hand")
    m.disable_contact("world", "upper")
    return m


def names(m):
    return [a.name for a in m.actuators], list(m.groups)


# --- mechanisms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.add_actuator(Actuator("more", "slide")),
        lambda m: m.add_group(Group("more")),
        lambda m: m.add_configuration("more", {}),
        lambda m: m.disable_contact("left", "right"),
        lambda m: setattr(m, "gravity", (0, 0, 0)),
    ],
)
def test_mechanisms_differ_in_what_is_said_beside(change):
    m, other = arm(), arm()
    assert m == other == m.copy() == pickle.loads(pickle.dumps(m)) == copy.deepcopy(m)
    change(other)
    assert m == arm()
    assert other != m
    assert other == other.copy() == pickle.loads(pickle.dumps(other)) == cardan.from_json(cardan.to_json(other))


def test_a_prefix_goes_before_everything():
    m, report = arm().prefixed("l_")
    assert m.gravity == arm().gravity
    assert names(m) == (["l_elbow_servo", "l_motor", "l_tendon"], ["l_gripper", "l_whole"])
    assert m.actuators[2].joints == ("l_elbow", "l_slide")
    assert m.groups["l_whole"] == Group("l_whole", ("l_upper", "l_fore"), ("l_elbow", "l_flange"), "l_gripper")
    assert m.named_configurations["l_home"]["l_elbow"] == (0.5,)
    assert m.disabled_contacts == (("l_upper", "l_hand"), ("l_fore", "l_hand"), ("world", "l_upper"))
    assert report.renamed["home"] == "l_home"
    back = m.renamed({new: old for old, new in report.renamed.items()}).mechanism
    assert back == arm()


def test_two_arms_have_both_ones_actuators_and_one_home():
    both = arm().append(arm(), prefix="r_").mechanism
    assert len(both.actuators) == 6
    other = arm().prefixed("r_").mechanism.renamed({"r_elbow_servo": "elbow_servo"}).mechanism
    with pytest.raises(DuplicateNameError, match="actuator named 'elbow_servo'"):
        arm().append(other)
    other = Mechanism("hand")
    other.add_body("palm", Inertia(1.0))
    other.add_joint("wrist", Revolute(), "world", "palm")
    other.add_configuration("home", {"wrist": 0.3})
    home = arm().append(other).mechanism.named_configurations["home"]
    assert home == {"shoulder": (0.0, 0.0, 0.6, 0.8), "elbow": (0.5,), "wrist": (0.3,)}
    merged = arm().merge(other, "bolt", Fixed(), "hand", "palm", spring=None).mechanism
    assert set(merged.named_configurations) == {"home", "grasp"}


def test_a_locked_joint_leaves_configurations_and_its_actuators():
    m, report = arm().lock({"elbow": 0.1})
    assert names(m) == (["motor"], ["gripper", "whole"])
    assert report.removed == ("elbow_servo", "tendon")
    assert report.changed_joints == ("elbow",)
    assert "elbow" not in m.named_configurations["home"]
    assert m.groups["whole"].joints == ("elbow", "flange")
    model = arm().model().lock({"elbow": 0.1})
    assert model.annotations == m.annotations
    assert model.named_configurations["home"].tolist() == [0.0, 0.0, 0.6, 0.8, 0.0]


def test_another_kind_of_joint_keeps_what_it_can_have():
    m, report = arm().replace_joint("elbow", Revolute((1, 0, 0)))
    assert report.removed == ()
    assert m.annotations == arm().annotations
    assert m.joints[1].spring == Spring((5.0,), (0.25,))
    with pytest.raises(ParameterError, match="drive, spring"):
        arm().replace_joint("elbow", Spherical())
    m, report = arm().replace_joint("elbow", Spherical(), drive=Drive(), spring=Spring(1.0))
    assert report.removed == ("elbow_servo", "tendon")
    assert m.joints[1].spring.stiffness == (1.0,) * 3
    assert list(m.named_configurations["home"]) == ["shoulder"]


def test_with_a_body_go_its_shapes_pairs_and_groups():
    m, report = arm().remove("hand")
    assert report.removed == ("hand", "flange", "slide", "copy", "tendon")
    assert [s.body for s in m.shapes] == ["left", "world"]
    assert m.groups["gripper"].bodies == ("left", "right")
    assert m.disabled_contacts == (("world", "upper"),)
    assert m.named_configurations["grasp"] == {}
    m, report = arm().extract("upper", "fore")
    assert report.removed[-3:] == ("motor", "tendon", "gripper")
    assert m.groups["whole"].tip == ""
    assert m.disabled_contacts == ()
    assert m.shapes == ()


def test_what_is_on_merged_bodies_is_on_one():
    m, report = arm().merge_fixed()
    assert report.moved["hand"][0] == "fore"
    assert m.shapes[0].body == "fore"
    assert tuple(m.shapes[0].pose.translation) == (0.0, 0.0, 0.55)
    assert m.shapes[0].margin == 0.01
    assert m.groups["gripper"].bodies == ("fore", "left", "right")
    assert m.groups["whole"].joints == ("elbow",)
    assert m.disabled_contacts == (("upper", "fore"), ("world", "upper"))
    assert names(m) == names(arm())


def test_massless_leaves_leave_nothing_behind():
    m = arm()
    m.add_body("tip")
    m.add_joint("wobble", Revolute(), "left", "tip")
    m.add_actuator(Actuator("wobbler", "wobble"))
    m.add_group(Group("end", ["tip"], ["wobble"]))
    lean, report = m.without_massless_leaves()
    assert report.removed == ("tip", "wobble", "wobbler", "end")
    assert lean == arm()


def test_drives_take_the_place_of_the_actuators_that_said_them():
    m, report = arm().with_drives({"*": Drive(7.0, 1.0)})
    assert report.removed == ("elbow_servo",)
    assert names(m)[0] == ["motor", "tendon"]
    same = arm().with_drives({"elbow": Drive(30.0, 2.0)})
    assert same.report.removed == ()
    assert same.mechanism == arm()


@pytest.mark.parametrize(
    ("actuator", "drive"),
    [
        (servo("a", 30.0, 2.0, gear=3.0), Drive((270.0,), (18.0,))),
        (Actuator("v", "a", 2.0, "velocity", 5.0, (0.0, 0.0, -5.0)), Drive((0.0,), (20.0,))),
        (Actuator("p", "a", 1.0, "position", 5.0, (0.1, -5.0, 0.0)), None),
        (Actuator("p", "a", 1.0, "position", 5.0, (0.0, -4.0, 0.0)), None),
        (Actuator("p", "a", 1.0, "position", -5.0, (0.0, 5.0, 0.0)), None),
        (Actuator("p", "a", 1.0, "position"), None),
        (Actuator("g", "a", 1.0, "general", 5.0, (0.0, -5.0, 0.0)), None),
        (Actuator("p", ["a", "b"], 1.0, "position", 5.0, (0.0, -5.0, 0.0)), None),
        (Actuator("p", "a", [(1.0, 0.0, 0.0)], "position", 5.0, (0.0, -5.0, 0.0)), None),
        (Actuator("m", "a", 1.0, "effort", 1.0, (0.0, 0.0, 0.0)), None),
    ],
)
def test_an_actuator_that_is_a_drive(actuator, drive):
    assert actuator.drive() == drive


def test_it_prints_what_there_is_of_it():
    assert repr(arm()) == "<Mechanism 'arm': 5 bodies, 5 joints, 0 frames, 3 actuators, 2 groups, 2 configurations>"
    assert repr(Mechanism("m")) == "<Mechanism 'm': 0 bodies, 0 joints, 0 frames>"


def test_records_keep_nothing_of_what_they_were_made_of():
    joints, gear, coordinates = ["elbow"], [[2.0]], {"elbow": [0.5]}
    m = arm()
    m.add_actuator(Actuator("more", joints, gear))
    m.add_configuration("more", coordinates)
    model = m.model()
    joints[0], gear[0][0], coordinates["elbow"][0] = "slide", 3.0, 9.0
    assert m.actuators[-1] == Actuator("more", "elbow", 2.0)
    assert model.named_configurations["more"][4] == 0.5
    with pytest.raises(TypeError):
        m.named_configurations["more"]["elbow"] = 1.0
    with pytest.raises(TypeError):
        m.groups["x"] = None
    m.add_actuator(Actuator("last", "slide"))
    assert len(model.actuators) == 4


# --- models and worlds -----------------------------------------------------------------------------------------------


def test_a_model_carries_it_all():
    m = arm()
    model = m.model()
    assert tuple(model.gravity) == (0.0, 0.0, -1.62)
    assert (model.shapes, model.actuators, dict(model.groups)) == (m.shapes, m.actuators, dict(m.groups))
    assert model.disabled_contacts == m.disabled_contacts
    q = model.named_configurations["home"]
    assert q.tolist() == [0.0, 0.0, 0.6, 0.8, 0.5, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1.0
    for twin in (
        model.with_gravity((0, 0, 0)),
        model.with_inputs("mass"),
        model.with_values(mass=np.arange(1.0, 6.0)),
        model.spanning_tree(),
        pickle.loads(pickle.dumps(model)),
        cardan.from_json(cardan.to_json(model)),
    ):
        assert twin.annotations == model.annotations
        assert twin.named_configurations["home"].tolist() == q.tolist()


def test_a_configuration_is_the_same_from_any_root():
    m = arm().remove("shoulder").mechanism
    m.add_configuration("bent", {"elbow": 0.5, "slide": 0.03})
    pose = [
        cardan.frame_transform(m.model(), m.model().named_configurations["bent"], name) for name in ("hand", "left")
    ]
    relative = np.linalg.inv(pose[0]) @ pose[1]
    for root in ("hand", "left", "right"):
        model = m.model(root=root, base="floating")
        q = model.named_configurations["bent"]
        assert q[: model.q_slice("root").stop].tolist() == [0.0] * 6 + [1.0]
        X = [cardan.frame_transform(model, q, name) for name in ("hand", "left")]
        np.testing.assert_allclose(np.linalg.inv(X[0]) @ X[1], relative, atol=1e-15)


def test_a_joint_that_closes_a_loop_has_coordinates_where_it_does_not():
    m = Mechanism("bars")
    for k in range(3):
        m.add_body(f"b{k}", Inertia(1.0))
    places = [("world", "b0"), ("b0", "b1"), ("b1", "b2"), ("b2", "world")]
    for k, (parent, child) in enumerate(places):
        m.add_joint(f"j{k}", Revolute((0, 1, 0)), parent, child)
    m.add_actuator(Actuator("last", "j3"))
    m.add_configuration("bent", {"j0": 0.1, "j1": 0.2, "j2": 0.3, "j3": -0.6})
    assert m.model().named_configurations["bent"].tolist() == [0.1, 0.2, 0.3]
    assert m.model(closing=["j0"]).named_configurations["bent"].tolist() == [0.2, 0.3, -0.6]
    assert m.model().actuators == m.actuators
    assert m.model().spanning_tree().actuators == ()


def test_models_that_differ_in_it_are_two():
    """A function may read it: two of them shared one program, which had the other robot's numbers."""
    m, bare = arm(), arm().with_annotations(type(arm().annotations)()).mechanism
    assert bare.shapes == ()
    assert m.model() != bare.model()
    assert m.model().digest != bare.model().digest


@cardan.function
def from_home(model, q):
    return q - model.named_configurations["home"]


@cardan.function
def reach(model, q):
    return cardan.frame_transform(model, q, "b")[2, 3] - model.shapes[0].geometry.radius


@cardan.function
def driven(model, q):
    return len(model.groups) * model.actuators[0].gear[0][0] * q


@cardan.function
def apart(model, q):
    return len(model.disabled_contacts) * q


def annotated(home=0.25, radius=0.1, gear=1.0, pairs=()):
    m = Mechanism("m")
    for name in ("b", "c"):
        m.add_body(name, Inertia(1.0))
    m.add_joint("j", Revolute((0, 1, 0)), "world", "b")
    m.add_joint("k", cardan.joints.Fixed(), "b", "c")
    m.add_configuration("home", {"j": home})
    m.add_shape(Shape("b", "collision", Sphere(radius)))
    m.add_actuator(Actuator("motor", "j", gear=gear))
    m.add_group(cardan.Group("all", joints=("j",)))
    for pair in pairs:
        m.disable_contact(*pair)
    return m.model()


@pytest.mark.parametrize(
    ("function", "changed", "results"),
    [
        (from_home, {"home": 0.75}, (0.75, 0.25)),
        (reach, {"radius": 0.4}, (-0.1, -0.4)),
        (driven, {"gear": 3.0}, (1.0, 3.0)),
        (apart, {"pairs": [("b", "c")]}, (0.0, 1.0)),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_a_function_that_reads_it_has_the_numbers_of_its_own_robot(function, changed, results):
    """One program served all models that were equal but for their annotations."""
    found = [np.ravel(function(model, [1.0]))[0] for model in (annotated(), annotated(**changed))]
    np.testing.assert_allclose(found, results, atol=1e-12)


def test_a_world_takes_gravity_pairs_and_configurations_from_its_mechanism():
    m = arm()
    world = m.world()
    assert tuple(world.model.gravity) == (0.0, 0.0, -1.62)
    assert tuple(m.world(gravity=(0, 0, -1)).model.gravity) == (0.0, 0.0, -1.0)
    assert world.model.annotations == world.mechanism.annotations == m.annotations
    home = world.model.named_configurations["home"]
    assert world.state(q=home).q[0].tolist() == home.tolist()
    m.add_shape(Shape("upper", "collision", Sphere(0.02), SE3(translation=(1, 0, 0))))
    m.self_collision = True
    assert {(p.a, p.b) for p in m.world().pairs} == {("left", "upper")}
    assert not m.world(self_collision=False).pairs
    b = cardan.WorldBuilder()
    b.add(m, "l_")
    b.add(m, "r_", pose=SE3(translation=(2, 0, 0)))
    b.disable_contact("l_left", "r_left")
    world = b.finalize()
    assert [a.name for a in world.model.actuators][::3] == ["l_elbow_servo", "r_elbow_servo"]
    assert ("l_left", "r_left") in world.mechanism.disabled_contacts
    pairs = {frozenset((p.a, p.b)) for p in world.pairs}
    assert frozenset(("l_left", "r_left")) not in pairs
    assert frozenset(("l_left", "r_upper")) in pairs
    with pytest.raises(DuplicateNameError):
        b.add(m, "l_")


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "said", "act"),
    [
        (UnknownNameError, "elbw", lambda m: m.add_actuator(Actuator("a", "elbw"))),
        (DuplicateNameError, "motor", lambda m: m.add_actuator(Actuator("motor", "elbow"))),
        (ShapeError, "a joint that moves", lambda m: m.add_actuator(Actuator("a", "flange"))),
        (ShapeError, "expected 1 or 3", lambda m: m.add_actuator(Actuator("a", "shoulder", [(1.0, 1.0)]))),
        (ParameterError, "cardan.Actuator", lambda m: m.add_actuator("motor")),
        (ParameterError, "each a text", lambda m: Actuator("a", ("elbow", 1))),
        (ParameterError, "each once", lambda m: Actuator("a", ("elbow", "elbow"))),
        (ParameterError, "each once", lambda m: Actuator("a", ())),
        (ParameterError, "one for each joint", lambda m: Actuator("a", ("elbow", "slide"), (1.0,))),
        (ParameterError, "smaller first", lambda m: Actuator("a", "elbow", control_range=(1.0, -1.0))),
        (ParameterError, "'effort' or", lambda m: Actuator("a", "elbow", kind="torque")),
        (ParameterError, "3 finite numbers", lambda m: Actuator("a", "elbow", bias=(0.0, 1.0))),
        (UnknownNameError, "hnd", lambda m: m.add_group(Group("g", ["hnd"]))),
        (UnknownNameError, "elbw", lambda m: m.add_group(Group("g", [], ["elbw"]))),
        (DuplicateNameError, "whole", lambda m: m.add_group(Group("whole"))),
        (ParameterError, "cardan.Group", lambda m: m.add_group("whole")),
        (ParameterError, "each a text", lambda m: Group("g", "hand")),
        (ParameterError, "name of a group", lambda m: Group("g", tip=None)),
        (DuplicateNameError, "home", lambda m: m.add_configuration("home", {})),
        (UnknownNameError, "elbw", lambda m: m.add_configuration("c", {"elbw": 0.0})),
        (UnknownNameError, "copy", lambda m: m.add_configuration("c", {"copy": 0.0})),
        (ShapeError, r"\(4,\)", lambda m: m.add_configuration("c", {"shoulder": (0.0, 0.0, 0.0)})),
        (ParameterError, "finite", lambda m: m.add_configuration("c", {"elbow": math.nan})),
        (ParameterError, "not 0", lambda m: m.add_configuration("c", {"shoulder": (0.0,) * 4})),
        (ParameterError, "finite", lambda m: m.add_configuration("c", {"elbow": "bent"})),
        (ParameterError, "a mapping", lambda m: m.add_configuration("c", [0.5])),
        (UnknownNameError, "hnd", lambda m: m.disable_contact("hnd", "fore")),
        (ParameterError, "three finite numbers", lambda m: Mechanism("m", gravity=(0, 0))),
        (ParameterError, "three finite numbers", lambda m: setattr(m, "gravity", (0, 0, math.inf))),
        (UnknownNameError, "tool", lambda m: m.with_annotations(Mechanism_of("tool").annotations)),
        (
            ParameterError,
            "stiffness of the spring",
            lambda m: m.replace_joint("elbow", Revolute(), spring=Spring(-1.0)),
        ),
        (
            ParameterError,
            "rest of the spring",
            lambda m: m.replace_joint("elbow", Revolute(), spring=Spring(1.0, [0, 0])),
        ),
        (ParameterError, "a cardan.Spring", lambda m: m.replace_joint("elbow", Revolute(), spring=Drive(1.0))),
    ],
)
def test_what_is_wrong_is_said(error, said, act):
    m = arm()
    with pytest.raises(error, match=said):
        act(m)
    assert m == arm()


def Mechanism_of(body):
    m = Mechanism()
    m.add_body(body)
    m.add_shape(Shape(body, "visual", Sphere(1.0)))
    return m


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
BOUNDS = st.lists(st.floats(allow_nan=False), min_size=2, max_size=2).map(sorted)
NAMES = st.text(min_size=1).filter(str.strip)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(NAMES, st.lists(FLOATS, min_size=12, max_size=12), BOUNDS, BOUNDS, st.sampled_from(ACTUATOR_KINDS))
def test_any_numbers_and_names_come_back(name, x, control, effort, kind):
    m = Mechanism("m", gravity=x[:3])
    m.add_body("b", Inertia(1.0))
    m.add_joint("j", Revolute(), "world", "b", spring=Spring(abs(x[3]), x[4]))
    m.add_actuator(Actuator(name, "j", x[5], kind, x[6], x[7:10], control, effort))
    m.add_group(Group(name, ["b"], ["j"], tip=name))
    m.add_configuration(name, {"j": x[10]})
    m.add_shape(Shape("b", "collision", Sphere(1.0), margin=abs(x[11]), density=abs(x[3])))
    for thing, twin in ((m, bits), (m.model(), model_bits)):
        assert twin(there_and_back(thing)) == twin(thing)


@pytest.mark.parametrize("kind", ["mechanism", "model"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"tendon"', '"motor"', "motor"),
        ('"tip": "gripper"', '"tip": 3', "a text in quotes"),
        ('"position"', '"torque"', "'effort' or"),
        ('["upper", "hand"]', '["upper", "hnd"]', "hnd"),
        ('"gain": 30.0', '"gain": "inf"', "gain"),
        ('"home"', '" "', "a non-empty text"),
        ('"coordinates": {', '"coordinates": {"elbw": [0.0], ', "elbw"),
        ('"margin": 0.01', '"margin": -0.01', "margin"),
        ('"rest"', '"rst"', "rst"),
        ('"body": "hand"', '"body": "hnd"', "hnd"),
        ('"body": "left"', '"body": "lft"', "lft"),
        ('"bias": [0.0', '"bias": ["inf"', "finite"),
    ],
)
def test_a_fault_in_a_file_is_said(kind, old, new, said):
    m = arm()
    text = cardan.to_json(m if kind == "mechanism" else m.model())
    assert old in text
    with pytest.raises(DescriptionError, match=said):
        cardan.from_json(text.replace(old, new, 1))


def test_a_closing_joint_has_no_spring():
    m = arm()
    m.add_joint("loop", Revolute(), "hand", "world", limits=Limits(), spring=Spring(1.0))
    with pytest.raises(MechanismError, match="a spring but closes a loop"):
        m.model()
    assert m.joints[-1].reversed().spring == Spring((1.0,), (0.0,))
    m.add_joint("free", FreeFlyer(), "world", "left", spring=Spring(1.0))
    assert m.joints[-1].spring.rest == (0.0,) * 6


WRONG = {
    "a batch of inertias": lambda m: m.add_body("b", Inertia(np.array([1.0]))),
    "an inertia that overflows": lambda m: m.add_body("b", Inertia(1.0, (0.0, 0.0, 1e308))),
    "a truth value as a mass": lambda m: m.add_body("b", Inertia(True)),
    "a truth value in a pose": lambda m: m.add_frame("f", "hand", SE3(translation=(0.0, 0.0, True))),
    "text as gravity": lambda m: setattr(m, "gravity", "123"),
    "text in gravity": lambda m: setattr(m, "gravity", (0.0, 0.0, "-9.81")),
    "text as compliance": lambda m: m.replace_joint("elbow", Revolute((0, 1, 0)), compliance=["1e-5", 0, 0, 0, 0, 0]),
    "text as coordinates": lambda m: m.add_configuration("c", {"elbow": "0.5"}),
    "arrays as coordinates": lambda m: m.add_configuration("c", {"elbow": [np.array([0.5])]}),
    "nothing as a gear": lambda m: Actuator("a", "elbow", None),
    "bytes as a gear": lambda m: Actuator("a", "elbow", b"1"),
    "a number as names": lambda m: Group("g", 1),
    "text as a colour": lambda m: m.add_shape(Shape("hand", "visual", Sphere(0.1), rgba="1111")),
    "nothing in a colour": lambda m: m.add_shape(Shape("hand", "visual", Sphere(0.1), rgba=(None, 0, 0, 1))),
    "bytes that may change as limits": lambda m: Limits(upper=bytearray(b"12")),
    "bytes that may change": lambda m: cardan.Material(friction=bytearray(b"1")),
    "text in an array": lambda m: cardan.Material(friction=np.array("1")),
    "text in an array of objects": lambda m: Limits(upper=(np.array("1", dtype=object),)),
    "a truth value of NumPy": lambda m: cardan.Material(friction=np.True_),
    "a truth value in an axis": lambda m: Revolute((0, 0, True)),
    "a truth value as a limit": lambda m: Limits(upper=(True,)),
    "a complex number of NumPy": lambda m: Revolute((0, 0, np.complex128(1.0 + 2.0j))),
}
"""What was taken, or refused by Python alone."""


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_number_is_refused(what):
    with pytest.raises(ParameterError, match="expected"):
        WRONG[what](arm())
