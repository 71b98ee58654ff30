"""MJCF, read through MuJoCo: what is said of a file, and that nothing is dropped in silence."""

import contextlib
import math
import random
import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cardan
from cardan import joints as J
from cardan._reach.formats.mjcf import write
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from cardan._robot.records import Actuator, Drive, Spring
from cardan.errors import DescriptionError, DescriptionWarning
from cardan.formats import check, load_mechanism
from cardan.joints import Limits
from mjcf_texts import EVERYTHING
from mutations import mutant

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)


def mjcf(body="", before="", after=""):
    """A file with one moving body `a` and whatever more, a line each."""
    return f"""<mujoco model="m">
{before}
<worldbody>
<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom name="g" size="0.1"/></body>
{body}
</worldbody>
{after}
</mujoco>"""


def read(*parts, **options):
    return load_mechanism(mjcf(*parts), **options)


def remarks(*parts):
    return [fault.message for fault in cardan.formats.check(mjcf(*parts)) if fault.severity == "warning"]


def joint(inside):
    return read(f'<body name="b" pos="1 0 0">{inside}<geom size="0.1" pos="0 0 -0.3"/></body>').joints[-1]


# --- joints ---------------------------------------------------------------------------------------------------------

ROWS = [
    ('<joint name="k" axis="1 0 0"/>', J.Revolute((1, 0, 0))),
    ('<joint name="k" type="slide" axis="1 0 0"/>', J.Prismatic((1, 0, 0))),
    ('<joint name="k" type="ball"/>', J.Spherical()),
    ('<freejoint name="k"/>', J.FreeFlyer()),
    ('<joint name="k" axis="1 0 0"/><joint name="l" axis="0 1 0"/>', J.Universal((1, 0, 0), (0, 1, 0))),
    ('<joint name="k" type="slide" axis="0 0 1"/><joint name="l" axis="0 0 1"/>', J.Cylindrical((0, 0, 1))),
    (
        '<joint name="k" axis="0 0 1"/><joint name="l" axis="0 1 0"/><joint name="m" axis="1 0 0"/>',
        J.SphericalZYX(),
    ),
    (
        '<joint name="k" type="slide" axis="1 0 0"/><joint name="l" type="slide" axis="0 1 0"/>'
        '<joint name="m" type="slide" axis="0 0 1"/>',
        J.Translation(),
    ),
    (
        '<joint name="k" type="slide" axis="1 0 0"/><joint name="l" type="slide" axis="0 0 1"/>'
        '<joint name="m" axis="0 1 0"/>',
        J.D6([(1, 0, 0), (0, 0, 1)], [(0, 1, 0)]),
    ),
]


@pytest.mark.parametrize(("inside", "expected"), ROWS, ids=lambda x: type(x).__name__ if isinstance(x, J.Joint) else "")
def test_joints_of_one_body_are_the_joint_of_the_catalogue_that_has_their_coordinates(inside, expected):
    c = joint(inside)
    assert c.joint == expected
    assert c.name == "+".join(re.findall('name="(.)"', inside))


@pytest.mark.parametrize(
    "inside",
    [
        '<joint axis="1 0 0"/><joint axis="0 1 0" pos="0 0 0.1"/>',
        '<joint axis="1 0 0"/><joint type="slide" axis="1 0 0"/>',
        '<joint axis="1 0 0"/><joint axis="1 0 0"/>',
        '<joint axis="1 0 0" ref="10"/><joint axis="0 1 0"/>',
    ],
    ids=["apart", "slide second", "parallel", "ref"],
)
def test_what_no_joint_of_the_catalogue_is_is_a_composite(inside):
    assert isinstance(joint(inside).joint, J.Composite)


def test_the_coordinates_are_those_of_mujoco_whatever_the_reference():
    for text in ('<joint name="k" axis="1 0 0" pos="0 0.1 0" ref="30"/>', '<joint name="k" type="slide" ref="0.2"/>'):
        m = read(f'<body name="b" pos="1 0 0">{text}<geom size="0.1" pos="0 0 -0.3"/></body>')
        assert m.named_configurations["qpos0"]["k"] == pytest.approx((math.radians(30) if "axis" in text else 0.2,))
        there = mujoco.MjModel.from_xml_string(mjcf(f'<body name="b" pos="1 0 0">{text}<geom size="0.1"/></body>'))
        data = mujoco.MjData(there)
        data.qpos[:] = 0.0, 0.7
        mujoco.mj_kinematics(there, data)
        X = cardan.forward_kinematics(m.model(), [0.0, 0.7])[-1]
        np.testing.assert_allclose(X[:3, 3], data.body("b").xpos, atol=1e-15)
        np.testing.assert_allclose(X[:3, :3], data.body("b").xmat.reshape(3, 3), atol=1e-15)


def test_what_acts_along_a_joint():
    c = joint(
        '<joint name="k" axis="1 0 0" range="-90 45" damping="0.1" armature="0.2" frictionloss="0.3" stiffness="4" '
        'springref="90" actuatorfrcrange="-5 6"/>'
    )
    assert (c.damping, c.armature, c.friction) == ((0.1,), (0.2,), (0.3,))
    assert c.spring == Spring((4.0,), (pytest.approx(math.pi / 2),))
    assert c.limits.lower + c.limits.upper == pytest.approx((-math.pi / 2, math.pi / 4))
    assert c.limits.effort_lower + c.limits.effort == (-5.0, 6.0)


def test_equalities():
    two = "".join(
        f'<body name="{n}" pos="{k} 0 0"><joint name="j{n}" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/></body>'
        for k, n in enumerate("bcd")
    )
    m = read(
        two,
        "",
        '<equality><joint joint1="jb" joint2="jc" polycoef="0.1 2 0 0 0"/><joint joint1="jd" polycoef="0.3 0 0 0 0"/>'
        '<connect name="pin" body1="b" body2="c" anchor="0.5 0 0"/><weld name="glue" body1="a" body2="d"/></equality>',
    )
    by_name = {c.name: c for c in m.joints}
    assert by_name["jb"].joint == J.Mimic(J.Revolute((0, 1, 0)), "jc", 2.0, 0.1)
    assert isinstance(by_name["pin"].joint, J.Spherical)
    assert tuple(by_name["pin"].child_pose.translation) == (-0.5, 0.0, 0.0)
    assert isinstance(by_name["glue"].joint, J.Fixed)
    locked = by_name["equality1"]
    assert (locked.parent, locked.child) == ("world", "d")
    assert locked.parent_pose.rotation == J.Revolute((0, 1, 0)).transform((0.3,)).rotation


def test_a_joint_that_follows_another_of_the_same_body_is_one_of_its_own():
    two = '<body name="b"><joint name="k" axis="1 0 0"/><joint name="l" axis="0 1 0"/><geom size="0.1"/></body>'
    m = read(two, "", '<equality><joint joint1="l" joint2="k"/></equality>')
    assert [(c.name, c.parent, c.child) for c in m.joints[1:]] == [("k", "world", "b:k"), ("l", "b:k", "b")]
    assert m.model().nv == 2


KNEE = """<body name="b" pos="1 0 0"><joint name="knee" axis="0 1 0" ref="20"/><geom size="0.1" pos="0.2 0 -0.3"/>
<body name="c" pos="0 0 -0.4"><joint name="glide" type="slide" axis="1 0 0" ref="0.02" armature="0.3" damping="0.5"/>
<geom size="0.1" pos="0 0 -0.2"/></body></body>"""


@pytest.mark.usefixtures("reference_target")
def test_a_polynomial_of_another_joint_couples():
    """MuJoCo's equality is soft and has no bias: at rest, and as stiff as it can be, it gives the same acceleration."""
    stiff = 'solref="0.0002 1" solimp="0.99999 0.99999 0.0001"/>'
    equality = f'<joint joint1="glide" joint2="knee" polycoef="0.01 0.02 -0.05 0.03 0.01" {stiff}'
    text = mjcf(KNEE, '<option><flag contact="disable"/></option>', f"<equality>{equality}</equality>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        m = load_mechanism(text)
        assert load_mechanism(write(m).encode()).joints[-1].joint == m.joints[-1].joint
    glide = m.joints[-1].joint
    assert isinstance(glide, J.Coupled)
    there = mujoco.MjModel.from_xml_string(text)
    data, model = mujoco.MjData(there), m.model()
    for q in ([0.3, 0.8], [-0.5, -1.0]):
        data.qpos[:] = [*q, *glide.inner_configuration([q[1]])]
        data.qvel[:] = 0.0
        mujoco.mj_forward(there, data)
        np.testing.assert_allclose(data.efc_pos, 0.0, atol=1e-15)
        a = cardan.forward_dynamics(model, q, [0.0, 0.0], [0.0, 0.0])
        np.testing.assert_allclose(data.qacc[:2], a, rtol=1e-3)


def test_a_sum_of_joints_on_a_tendon_couples(tmp_path):
    joints = {"first": 1.0, "second": -2.0, "third": 0.5}
    bodies = (f'<body><joint name="{n}" ref="{k}0"/><geom size="0.1"/></body>' for k, n in enumerate(joints))
    fixed = "".join(f'<joint joint="{n}" coef="{c}"/>' for n, c in joints.items())
    text = f"""<mujoco><worldbody>{"".join(bodies)}</worldbody><tendon><fixed name="sum">{fixed}</fixed></tendon>
        <equality><tendon tendon1="sum" polycoef="0.2 0 0 0 0"/></equality></mujoco>"""
    robot = load_mechanism(text)
    third = robot.joints[-1].joint
    assert third.primaries == ("first", "second")
    there = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(there)
    data.qpos[:] = [0.3, 0.8, *third.inner_configuration([0.3, 0.8])]
    mujoco.mj_forward(there, data)
    assert abs(data.efc_pos[0]) < 1e-15
    cardan.save(robot, tmp_path / "again.mjcf")
    again = load_mechanism(tmp_path / "again.mjcf").joints[-1].joint
    np.testing.assert_allclose(again.inner_configuration([0.3, 0.8]), data.qpos[2:], atol=1e-14)


@pytest.mark.parametrize(
    "equality",
    ['tendon1="both" polycoef="0.2 0 0 0 0"', 'tendon1="one" tendon2="other" polycoef="0.1 0.5 0 0 0"'],
)
def test_a_line_of_tendons_of_two_joints_couples(equality):
    tendons = {"both": {"knee": 2, "glide": -3}, "one": {"knee": 2}, "other": {"glide": 4}}
    fixed = "".join(
        f'<fixed name="{t}">{"".join(f"""<joint joint="{j}" coef="{c}"/>""" for j, c in of.items())}</fixed>'
        for t, of in tendons.items()
    )
    text = mjcf(KNEE, "", f"<tendon>{fixed}</tendon><equality><tendon {equality}/></equality>")
    glide = load_mechanism(text).joints[-1].joint
    there = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(there)
    data.qpos[:] = [0.0, 0.8, *glide.inner_configuration([0.8])]
    mujoco.mj_forward(there, data)
    assert glide.primary == "knee"
    assert abs(data.efc_pos[0]) < 1e-15
    bent = mjcf(
        KNEE, "", f"<tendon>{fixed}</tendon><equality><tendon {equality.replace('0 0 0', '1 0 0')}/></equality>"
    )
    left_out = [fault.message for fault in check(bent) if "an equality of tendons" in fault.message]
    assert len(left_out) == ("tendon2" in equality)


def test_a_coupled_joint_has_its_own_friction_and_drive():
    rough = KNEE.replace('armature="0.3"', 'frictionloss="0.1"')
    equality = '<equality><joint joint1="glide" joint2="knee" polycoef="0 0 1 0 0"/></equality>'
    world = read(rough, "", equality).world()
    found = [
        solver(world, dt=1e-3).step(world.state(), steps=200).q[0]
        for solver in (cardan.solvers.Featherstone, cardan.solvers.MuJoCo)
    ]
    np.testing.assert_allclose(*found, atol=1e-4)
    driven = read(rough, "", f'{equality}<actuator><position joint="glide" kp="10"/></actuator>')
    (glide,) = [c for c in driven.joints if c.name == "glide"]
    assert (glide.friction, glide.drive_stiffness) == ((0.1,), (10.0,))


ON_HINGE = '<body name="b"><joint name="a"/><geom size="0.1"/></body>'
SERVO, MOTOR = '<position name="servo" joint="a" kp="40"/>', '<motor name="motor" joint="a"/>'
HELD = '<intvelocity name="held" joint="a" kp="9" actrange="-1 1"/>'
MUSCLE = '<muscle name="flesh" joint="a" lengthrange="-1 1"/>'
SPRING = '<general name="spring" joint="a" gainprm="500" biastype="affine" biasprm="0 -200"/>'


@pytest.mark.parametrize(
    ("actuators", "named"),
    [(SERVO, ""), (MOTOR, ""), (SERVO + MOTOR, "'servo'"), (SPRING, "'spring'"), (HELD, "'held'"), (MUSCLE, "'flesh'")],
)
def test_actuators_that_push_without_a_control_and_are_no_drives_are_named(actuators, named):
    """A servo that shares its joint is no drive; it held the joint in MuJoCo, and let it go here without a word."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m = read(ON_HINGE, f"<actuator>{actuators}</actuator>")
    found = [str(w.message) for w in said if "push in MuJoCo without a control" in str(w.message)]
    assert len(found) == bool(named)
    assert all(named in text for text in found)
    assert bool(m.joints[-1].drive.stiffness[0]) == (actuators == SERVO)


def test_a_servo_that_filters_its_control_is_a_drive_as_it_is_when_read_again():
    """It pulls to 0 without a control, as others do. It let go here, and was a drive after a round trip."""
    servo = '<general name="servo" joint="a" dyntype="filter" gainprm="40" biastype="affine" biasprm="0 -40 -2"/>'
    m = read(ON_HINGE, f"<actuator>{servo}</actuator>")
    assert (m.joints[-1].drive.stiffness, m.joints[-1].drive.damping) == ((40.0,), (2.0,))
    assert load_mechanism(write(m)).joints == m.joints


def test_actuators_of_groups_that_are_off_are_told_of_when_the_file_is_read():
    """They were left out as something about how MuJoCo computes."""
    with pytest.warns(DescriptionWarning, match="those that it disables act as all others do"):
        read(ON_HINGE, f'<option actuatorgroupdisable="1"/><actuator>{SERVO}</actuator>')


def test_a_flag_that_disabled_springs_in_older_files_is_refused():
    """MuJoCo 4 refuses it. It was passed over here, and the springs acted."""
    with pytest.raises(DescriptionError, match=r'no such flag; write spring="disable" and damper="disable"'):
        read(ON_HINGE, '<option><flag passive="disable"/></option>')


@pytest.mark.parametrize(("ends", "gear", "aim"), [("0.4 1", 1, 0.4), ("-1 -0.5", 2, -0.25), ("-1 1", 1, 0.0)])
def test_a_servo_whose_range_excludes_0_is_held_where_mujoco_holds_it(ends, gear, aim):
    """MuJoCo clamps a control of 0 to the range: the servo was held at 0, without a word."""
    servo = f'<position name="servo" joint="a" kp="40" ctrllimited="true" ctrlrange="{ends}" gear="{gear}"/>'
    world = read(ON_HINGE, f"<actuator>{servo}</actuator>").world()
    at = world.model.v_slice("a")
    np.testing.assert_allclose(world.control().position[0, at], aim)
    np.testing.assert_array_equal(np.delete(world.control().position[0], at), 0.0)


@pytest.mark.parametrize(
    "actuator", ['velocity kv="2" ctrlrange="1 3"', 'motor ctrlrange="-3 -1"', 'position kp="2" ctrlrange="1 3"']
)
def test_an_actuator_that_no_control_lets_rest_is_named(actuator):
    """A wheel whose servo may not stand turned in MuJoCo and stood here, without a word; positions have a target."""
    said = remarks(ON_HINGE, f'<actuator><{actuator} name="servo" joint="a" ctrllimited="true"/></actuator>')
    assert [m.endswith("and not here: 'servo'") for m in said] == ([] if "kp" in actuator else [True])
    assert not remarks(ON_HINGE, '<actuator><motor joint="a" ctrllimited="true" ctrlrange="0 1"/></actuator>')


# --- shapes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("group", "drawn"), [(0, 2), (2, 2), (3, 1)])
def test_a_body_is_drawn_with_the_geoms_that_touch_as_mujoco_shows_them(group, drawn):
    """Adroit's table has legs that are only seen and a top that touches: pictures had no top."""
    top = f'<geom type="box" size="1 1 0.1" group="{group}" rgba="1 0 0 1"/>'
    leg = '<geom type="box" size="0.1 0.1 0.5" contype="0" conaffinity="0"/>'
    m = read(f'<body name="table"><freejoint/>{top}{leg}</body>')
    own = [shape for shape in m.shapes if shape.body == "table"]
    assert [shape.role for shape in own].count("visual") == drawn
    assert [shape.role for shape in own].count("collision") == 1
    again = load_mechanism(write(m))
    assert len(again.shapes) == len(m.shapes)
    alone = read(f'<body name="table"><freejoint/>{top}</body>')
    assert [shape.role for shape in alone.shapes if shape.body == "table"] == ["collision"]


def contacts_here_and_there(text):
    """Return by the names of two shapes their friction, and radius of rolling, in MuJoCo's contacts and in a world."""
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    there = {
        frozenset((mj.geom(c.geom1).name, mj.geom(c.geom2).name)): tuple(c.friction[[0, 3]] * [c.dim > 1, c.dim > 4])
        for c in data.contact
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they begin in one another
        world = cardan.load_mechanism(text).world(keep_overlapping=True)
    felt = {frozenset(pair.name.split("/")): pair.material for pair in world.pairs}
    return {both: (felt[both].friction, felt[both].rolling) for both in there}, there


def test_a_body_of_which_one_joint_follows_another_does_not_touch_its_parent():
    """The hips of dm_control's quadruped touched its torso: their joints are two here, with a body between."""
    geom = '<geom size="0.3"/>'
    text = mjcf(
        f'<body name="trunk" pos="0 0 3"><freejoint/>{geom}<body name="side" pos="1 0 0">{geom}</body>'
        '<body name="hip" pos="0.2 0 0"><joint name="yaw"/><joint name="lift" axis="0 1 0"/><geom size="0.3"/>'
        f'<body name="cap" pos="0.1 0 0">{geom}</body></body></body>',
        after='<equality><joint joint1="lift" joint2="yaw" polycoef="0 2 0 0 0"/></equality>',
    )
    robot = load_mechanism(text)
    assert [c.name for c in robot.joints if c.child == "hip"] == ["lift"]
    for each in (robot, load_mechanism(write(robot))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they begin in one another
            pairs = {frozenset((pair.a, pair.b)) for pair in each.world(keep_overlapping=True).pairs}
        assert pairs == {frozenset(("a", name)) for name in ("trunk", "side", "hip", "cap")}


def ball(name, height, *said):
    place = f'<body name="{name}" pos="0 0 {height}"><freejoint/>'
    return f'{place}<geom name="{name}" type="sphere" size="0.1" {" ".join(said)}/></body>'


def test_a_geom_of_condim_1_slides_on_its_like_alone():
    """Files whose limbs do not rub on one another (condim 1) stand on a floor of 3 with its friction, as in MuJoCo."""
    rough, floor = 'friction="0.7 0.1 0.1"', '<geom name="floor" type="plane" size="1 1 1" friction="0.7 0.1 0.1"/>'
    sole, leg = (ball(name, height, 'condim="1"', rough) for name, height in (("sole", 0.09), ("leg", 0.28)))
    here, there = contacts_here_and_there(mjcf(floor + sole + leg))
    assert here == there == {frozenset(("floor", "sole")): (0.7, 0.0), frozenset(("sole", "leg")): (0.0, 0.0)}


@pytest.mark.parametrize("condim", [1, 3, 6])
@pytest.mark.parametrize(("of_floor", "of_ball"), [(0, 1), (1, 0), (-2, -1), (3, -3)])
def test_of_two_geoms_the_one_of_the_higher_priority_says_the_friction(of_floor, of_ball, condim):
    """Feet and pads of the usual models say so; they had a mean of both frictions, without a word."""
    floor = f'<geom name="floor" type="plane" size="1 1 1" friction="0.9 0.1 0.2" priority="{of_floor}" condim="6"/>'
    foot = ball("foot", 0.09, f'condim="{condim}" friction="0.3 0.1 0.1" priority="{of_ball}"')
    here, there = contacts_here_and_there(mjcf(floor + foot))
    of_foot = (0.3 * (condim > 1), 0.1 * (condim > 4))
    assert here == there == {frozenset(("floor", "foot")): of_foot if of_ball > of_floor else (0.9, 0.2)}
    robot = load_mechanism(mjcf(floor + foot))
    assert [s.surface.priority for s in robot.shapes if s.name in ("floor", "foot")] == [of_floor, of_ball]
    for again in (load_mechanism(write(robot)), cardan.from_json(cardan.to_json(robot))):
        assert again.shapes == robot.shapes


def test_shapes():
    m = read(
        '<body name="b"><joint/><geom type="sphere" size="0.1"/><geom type="capsule" size="0.1 0.2" margin="0.01"/>'
        '<geom type="ellipsoid" size="0.1 0.2 0.3"/><geom type="cylinder" size="0.1 0.2"/>'
        '<geom type="box" size="0.1 0.2 0.3" density="500"/><geom type="mesh" mesh="gone" mass="0" contype="0" '
        'conaffinity="0" pos="1 2 3" euler="10 20 30"/></body><geom type="plane" size="1 1 1" condim="1"/>',
        '<default><geom group="3"/></default><asset><mesh name="gone" file="gone.stl" scale="2 2 2"/></asset>',
    )
    solids = [Plane(), Sphere(0.1), Sphere(0.1), Capsule(0.1, 0.4), Ellipsoid((0.1, 0.2, 0.3)), Cylinder(0.1, 0.4)]
    solids += [Box((0.2, 0.4, 0.6)), Mesh("gone.stl", None, (2, 2, 2))]
    assert [shape.geometry for shape in m.shapes] == solids
    assert [shape.role for shape in m.shapes] == ["collision"] * 7 + ["visual"]
    assert m.shapes[0].body == "world"
    assert m.shapes[0].surface.friction is None
    assert m.shapes[3].margin == 0.01
    assert m.shapes[6].density == 500.0
    mesh = m.shapes[7].pose  # MuJoCo moves a mesh to its centre of mass and principal axes; this is undone
    np.testing.assert_allclose(mesh.translation, (1.0, 2.0, 3.0), atol=1e-15)
    turn = mujoco.MjModel.from_xml_string(mjcf('<site name="s" euler="10 20 30"/>')).site_quat[0]
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, turn)
    np.testing.assert_allclose(list(mesh.rotation.entries()), matrix, atol=1e-15)


@pytest.mark.parametrize(
    "bits", [((1, 1), (1, 1)), ((1, 0), (1, 1), (2, 3)), ((4, 1), (2, 4), (0, 6), (1, 0)), ((-(2**31), 1), (3, 0))]
)
def test_groups_and_masks_let_touch_what_contype_and_conaffinity_do(bits):
    geoms = "".join(f'<geom name="{k}" size="1" contype="{a}" conaffinity="{b}"/>' for k, (a, b) in enumerate(bits))
    shapes = [s for s in read(f'<body name="b"><joint/>{geoms}</body>').shapes if s.body == "b"]
    for (a, b), one in zip(bits, shapes, strict=True):
        for (c, d), other in zip(bits, shapes, strict=True):
            assert one.may_touch(other) == bool(a & d or c & b)


# --- everything else ------------------------------------------------------------------------------------------------


def test_frames_configurations_and_excluded_contacts():
    m = read(
        '<body name="b"><freejoint name="f"/><geom size="1"/><site name="s" pos="1 2 3"/><site name="b"/>'
        '<camera name="eye"/><site/></body>',
        '<option gravity="0 0 -3"/>',
        '<keyframe><key qpos="1 1 2 3 0 0 1 0"/></keyframe><contact><exclude body1="a" body2="b"/></contact>',
    )
    frames = {frame.name: frame for frame in m.frames}
    assert frames.keys() == {"s", "b_site", "eye"}
    assert tuple(frames["s"].pose.translation) == (1.0, 2.0, 3.0)
    assert frames["eye"].kind == "sensor"
    assert m.named_configurations["key0"] == {"j": (1.0,), "f": (1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0)}
    assert m.disabled_contacts == (("a", "b"),)
    assert m.gravity == (0.0, 0.0, -3.0)


def test_actuators_and_drives():
    m = read(
        '<body name="b"><joint name="k"/><joint name="l" axis="0 1 0"/><geom size="1"/><site name="o"/></body>',
        "",
        '<tendon><fixed name="t"><joint joint="j" coef="2"/><joint joint="l" coef="-3"/></fixed></tendon>'
        '<actuator><motor name="m" joint="k" gear="5" ctrlrange="-1 1"/>'
        '<position name="p" joint="l" kp="7" kv="2" gear="2" forcerange="-4 6"/>'
        '<velocity name="v" joint="k" kv="3"/><motor name="w" tendon="t" gear="2"/><muscle name="x" joint="j"/>'
        '<motor name="s" site="o"/></actuator>',
    )
    by_name = {actuator.name: actuator for actuator in m.actuators}
    assert by_name.keys() == {"m", "p", "v", "w", "x"}
    assert by_name["m"] == Actuator("m", "k+l", [(5.0, 0.0)], "effort", 1.0, (0, 0, 0), (-1, 1))
    servo = Actuator("p", "k+l", [(0.0, 2.0)], "position", 7.0, (0, -7, -2), effort_range=(-4, 6))
    assert by_name["p"] == servo
    assert by_name["v"].kind == "velocity"
    assert by_name["w"].joints == ("j", "k+l")
    assert by_name["w"].gear == ((4.0,), (0.0, -6.0))
    assert by_name["x"].gain is None
    c = m.joints[-1]
    assert c.drive == Drive((0.0, 28.0), (0.0, 8.0))  # two actuators on the first coordinate are no one drive
    assert (c.limits.effort_lower, c.limits.effort) == ((-math.inf, -8.0), (math.inf, 12.0))


NEVER = Limits().resolved(1)
FLAGS = [
    ("spring", '<joint stiffness="3"/>', "spring", Spring((0.0,), (0.0,))),
    ("damper", '<joint damping="3"/>', "damping", (0.0,)),
    ("frictionloss", '<joint frictionloss="3"/>', "friction", (0.0,)),
    ("constraint", '<joint frictionloss="3"/>', "friction", (0.0,)),
    ("limit", '<joint range="-1 1"/>', "limits", NEVER),
]


@pytest.mark.parametrize(("flag", "inside", "attribute", "expected"), FLAGS)
def test_what_a_flag_disables_is_not_there(flag, inside, attribute, expected):
    option = f'<option><flag {flag}="disable"/></option>'
    b = read(f"<body>{inside}<geom size='0.1'/></body>", option).joints[-1]
    assert getattr(b, attribute) == expected


def test_equalities_that_a_flag_disables_close_no_loop():
    weld = '<equality><weld body1="a"/></equality>'
    assert [c.name for c in read("", "", weld).joints] == ["j", "equality0"]
    assert [c.name for c in read("", '<option><flag equality="disable"/></option>', weld).joints] == ["j"]


def test_a_weld_to_a_body_that_motion_capture_moves_is_a_spring():
    """As stiff as MuJoCo's at rest: the weight of what it holds lowers it by 9.81 / 5e4 m, whatever that is."""
    held = '<body name="hand" mocap="true"/><body name="b"><freejoint name="k"/><geom size="0.1"/></body>'
    m = read(held, "", '<equality><weld name="w" body1="hand" body2="b"/></equality>')
    (spring,) = (c.spring for c in m.joints if c.name == "w")
    np.testing.assert_allclose(
        spring.stiffness[:3], 5e4 * sum(float(b.inertia.mass) for b in m.bodies if b.name[0] == "b")
    )
    assert [c.name for c in m.model().closures] == ["w_weld"]


REMARKS = [
    (("", "<visual/>"), "<visual> is left out: it is about how things are shown"),
    (("", '<default><default class="hand" group="1"/></default>'), "<default group> .* refuses the file"),
    (("", '<option timestep="0.01" integrator="Euler"/>'), "<option timestep, integrator> is left out"),
    (("", "", '<sensor><gyro site="s"/></sensor>'), "<sensor> is left out: sensors are not read"),
    (
        ('<geom size="1" solref="0.01 1"/><geom size="1" solref="0.01 1"/>',),
        r"<geom solref> .* \(2 times, here first\)",
    ),
    (("<site/>",), "a site without a name is left out"),
    (('<body name="b" mocap="true"/>',), "body 'b', moved by motion capture, is read as fixed"),
    (
        (
            '<body><joint name="k" range="0 9"/><geom size="1"/></body>',
            "",
            '<equality><joint joint1="k" joint2="j"/></equality>',
        ),
        "its range limits 'j', which it follows, in MuJoCo alone",
    ),
    (("", '<option density="1"/>'), "forces of the medium"),
    (("", '<option><flag contact="disable"/></option>'), "MuJoCo has no contacts"),
    (("", '<option><flag filterparent="disable"/></option>'), "no rule that parents never touch"),
    (('<body gravcomp="1"><joint/><geom size="1"/></body>',), "the compensation of gravity is not kept"),
    (('<body><joint type="ball" range="0 10"/><geom size="1"/></body>',), "the range of a ball"),
    (('<body><joint type="free" stiffness="1"/><geom size="1"/></body>',), "the spring of a free joint"),
    (("", "", '<tendon><fixed name="t" stiffness="1"><joint joint="j" coef="1"/></fixed></tendon>'), "tendon 't' is"),
    (
        ("", "", '<tendon><fixed name="t" range="0 1"><joint joint="j" coef="1"/></fixed></tendon>'),
        "ranges of tendons .* 't'",
    ),
    (("", "", '<equality><connect name="e" body1="a" anchor="0 0 0" active="false"/></equality>'), "'e' is not active"),
    (
        (
            '<geom name="floor" type="plane" size="1 1 1"/>',
            "",
            '<contact><pair geom1="g" geom2="floor" condim="6" friction="1 1 0 1 2"/></contact>',
        ),
        "to roll is 1 and 2, along axes that MuJoCo chooses; it is the smaller",
    ),
    (
        ("", "", '<actuator><motor name="m" joint="j" armature="1"/><muscle name="n" joint="j"/></actuator>'),
        "have no constant gain and affine bias: their laws are not kept: 'n'",
    ),
    (("", '<extension><plugin plugin="mujoco.pid"/></extension>'), "plugins are code, which cardan does not run"),
    (('<flexcomp name="f" type="grid" count="2 2 2"/>',), "deformable bodies are not read"),
    (
        ('<geom type="hfield" hfield="h"/>', '<asset><hfield name="h" file="h.png" size="1 1 1 1"/></asset>'),
        "type hfield",
    ),
    (
        ('<geom type="mesh" mesh="x" mass="0"/>', '<asset><mesh name="x" file="x.stl"/></asset>'),
        "mesh 'x.stl' is not looked for",
    ),
]


@pytest.mark.parametrize(("parts", "expected"), REMARKS)
def test_what_is_not_read_is_said(parts, expected):
    assert re.search(expected, "\n".join(remarks(*parts)))


SHOWN = (
    "a geom of type hfield is left out",
    "<default group> .* refuses the file",
    "forces of the medium",
    "MuJoCo has no contacts",
    "no rule that parents never touch",
    "the compensation of gravity is not kept",
    "the spring of a free joint",
    "tendon 't' is",
    "ranges of tendons .* 't'",
    "plugins are code",
    "deformable bodies",
    "mesh 'x.stl' is not looked for",
)


@pytest.mark.parametrize(("parts", "expected"), [case for case in REMARKS if case[1] in SHOWN])
def test_what_changes_the_motion_is_said_whenever_the_file_is_read(parts, expected):
    with pytest.warns(DescriptionWarning, match=expected):
        read(*parts)


def test_threads_that_read_at_once_leave_mujocos_warnings_to_whom_they_are():
    before = mujoco.get_mju_user_warning()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: read(), range(60)))
    assert mujoco.get_mju_user_warning() is before


def test_what_mujoco_warns_about_is_said_whatever_the_filters():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert any("'settotalmass' is deprecated" in r for r in remarks("", '<compiler settotalmass="3"/>'))


def test_white_space_in_a_name_stays_and_moves_no_line():
    text = mjcf(
        '<body name="b&#10;c"><joint name="k&#9;l"/><geom size="1"/></body>\n<body>\n<joint axis="0 0 0"/></body>'
    )
    with pytest.raises(DescriptionError) as caught:
        cardan.load(text)
    assert caught.value.faults[0].line == 7
    robot = read('<body name="b&#10;c"><joint name="k&#9;l"/><geom size="1"/></body>')
    again = load_mechanism(write(robot))
    assert [c.name for c in again.joints] == [c.name for c in robot.joints] == ["j", "k\tl"]
    assert again.bodies[-1].name == "b\nc"


FAULTS = [
    (("", "<compilr/>"), 2, "<compilr> is no element of <mujoco>; did you mean 'compiler'?"),
    (('<body><joint axs="1 0 0"/></body>',), 5, "<joint> has no attribute 'axs'; did you mean 'axis'"),
    (('<body><joint/><geom size="-1"/></body>',), 5, "size 0 must be positive in geom"),
    (('<body><joint/><geom size="one"/></body>',), 5, "bad format in attribute 'size'"),
    (("<body>\n<joint/></body>",), 5, "mass and inertia of moving bodies must be larger than mjMINVAL"),
    (('<body><joint/><geom size="nan"/></body>',), 5, "<geom size=...>: nan is not a number that can be used"),
    (('<body pos="0 0 1e200"/>',), 5, "<body pos=...>: 1e200 is not a number that can be used"),
    (('<body name="a"/>',), 5, "repeated name 'a' in body"),
    (('<body><geom size="1" class="x"/></body>',), 5, "unknown default class name 'x'"),
    (('<body>\n<joint axis="0 0 0"/><geom size="1"/></body>',), 6, "axis too small"),
    (('<body><joint/><joint type="free"/><geom size="1"/></body>',), 5, "more than 6 dofs in body"),
    (('<body><joint type="ball"/><joint/><geom size="1"/></body>',), 5, "ball followed by rotation"),
    (("", "", '<equality><weld body1="a" body2="z"/></equality>'), 7, "unknown element 'z' in equality constraint"),
    (("", "", '<equality>\n<joint joint1="z"/></equality>'), 8, "unknown element 'z'"),
    (("", "", '<actuator><motor joint="z"/></actuator>'), 7, "unknown transmission target 'z'"),
    (("", "", '<keyframe>\n<key qpos="1 2 3"/></keyframe>'), 8, "invalid qpos size, expected 1"),
    (("", "", '<contact><exclude body1="a" body2="z"/></contact>'), 7, "body 'z' not found"),
    (('<body><inertial mass="1" pos="0 0 0" diaginertia="1 1 9"/><joint/></body>',), 5, "A + B >= C"),
    (('<include file="more.xml"/>',), 5, "a description given as text has no folder"),
    (('<replicate count="100000"><body/></replicate>',), 5, "100000 is not a number that can be used"),
    (('<replicate count="9">' * 9 + "</replicate>" * 9,), 5, "elements with all includes and copies"),
    (('<replicate count="1e9"><body/></replicate>',), 5, "1e9 is not a number that can be used; at most 1e"),
    (("", "", '<actuator><general joint="j" dyntype="user" actdim="1e9"/></actuator>'), 7, "1e9 is not a number"),
    (("", '<asset><mesh builtin="sphere" params="1000" name="x"/></asset>'), 2, "1000 is not a number"),
    (("", '<asset><model file="x.xml"/></asset>'), 2, "other models are not attached"),
    (("<composite/>",), 5, "<composite> is no element of <worldbody>"),
    (("", '<compiler coordinate="global"/>'), 2, "global coordinates no longer supported"),
    (
        ('<body><joint/><geom type="mesh" mesh="x"/></body>', '<asset><mesh name="x" file="x.stl"/></asset>'),
        2,
        "mesh file 'x.stl', which decides the mass of a body, is not looked for: a description that is no file may",
    ),
    (("<body>",), 6, "not well-formed XML: mismatched tag"),
]


@pytest.mark.parametrize(("parts", "line", "message"), FAULTS, ids=[message[:30] for _, _, message in FAULTS])
def test_faults_have_a_line_and_say_what_is_wrong(parts, line, message):
    with pytest.raises(DescriptionError) as caught:
        cardan.load(mjcf(*parts))
    fault = caught.value.faults[0]
    assert message in fault.message
    assert fault.line == line


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(20_000), marks=pytest.mark.full)], ids=["a few", "20 000"]
)
def test_mutants_are_read_or_refused_with_a_place(seeds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        assert load_mechanism(EVERYTHING).bodies
        for seed in seeds:
            with contextlib.suppress(DescriptionError):  # and nothing else
                load_mechanism(mutant(EVERYTHING, random.Random(seed)))


WARNED = (
    '<mujoco><compiler settotalmass="3"/><worldbody><body name="b"><joint/><geom size="1"/></body></worldbody></mujoco>'
)


def test_threads_that_read_at_once_hear_their_own_warnings_and_leave_the_handler():
    said = []
    mujoco.set_mju_user_warning(said.append)
    before = mujoco.get_mju_user_warning()
    try:
        with ThreadPoolExecutor(4) as pool:
            texts = [WARNED, WARNED.replace("settotalmass", "nothing"), mjcf("<body><joint/></body>")] * 8
            found = list(pool.map(lambda text: [f.message for f in check(text)], texts))
        assert [len([m for m in faults if "MuJoCo warns" in m]) for faults in found] == [1, 0, 0] * 8
        assert (mujoco.get_mju_user_warning(), said) == (before, [])
    finally:
        mujoco.set_mju_user_warning(None)


def test_no_log_is_written_and_a_warning_is_no_error(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = cardan.load_mechanism(WARNED)
        cardan.save(arm, tmp_path / "b.xml")
    for text in (WARNED, "<mujoco", "<mujoco/>", mjcf("<body><joint/></body>"), mjcf('<geom type="mesh" mesh="x"/>')):
        check(text)
    assert [file.name for file in tmp_path.iterdir()] == ["b.xml"]
    assert capfd.readouterr() == ("", "")


HOPPER = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="torso" pos="0 0 1.25">
<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1" ref="1.25"/>
<joint name="y" axis="0 1 0"/><geom name="trunk" type="box" size="0.1 0.1 0.25"/></body></worldbody></mujoco>"""


@pytest.mark.filterwarnings("error")
def test_a_world_begins_at_qpos0_and_stands_on_its_floor():
    """As gymnasium's Hopper: its torso hangs on slides, and is in the floor where they are 0."""
    world = load_mechanism(HOPPER).world()
    assert world.initial.tolist() == [0.0, 1.25, 0.0]
    assert [pair.name for pair in world.pairs] == ["trunk/floor"]
    state = cardan.solvers.Featherstone(world, 2e-3).step(world.state(), steps=500)
    there = mujoco.MjModel.from_xml_string(HOPPER)
    data = mujoco.MjData(there)
    mujoco.mj_step(there, data, 500)
    np.testing.assert_allclose(data.qpos, [0.0, 0.25, 0.0], atol=5e-3)
    np.testing.assert_allclose(state.q[0], data.qpos, atol=5e-3)


@pytest.mark.parametrize("low", [30, -30])
def test_qpos0_is_said_where_limits_exclude_it(low):
    """There a world would begin at the middle of the limits otherwise, and MuJoCo's does not."""
    m = load_mechanism(f"""<mujoco><worldbody><body name="b"><joint name="k" range="{low} 70"/>
        <geom size="0.1" pos="0 0 0.3"/></body></worldbody></mujoco>""")
    assert {name: dict(c) for name, c in m.named_configurations.items()} == (
        {"qpos0": {"k": (0.0,)}} if low > 0 else {}
    )
    np.testing.assert_array_equal(m.world().initial, [0.0])


FUSED = """<mujoco><compiler {}/><worldbody><body name="base"><geom size="0.2" density="1000"/>
<body name="arm" pos="0 0 0.3"><joint name="j" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.04"/>
<body name="flange" pos="0 0 0.4" euler="20 0 40"><inertial pos="0.1 0 0" mass="1.5" diaginertia="0.01 0.01 0.01"/>
<geom size="0.03" group="1"/><body pos="0.1 0 0"><joint name="k"/><geom size="0.1"/></body></body></body></body>
</worldbody>
</mujoco>"""


def test_masses_are_those_of_fused_bodies() -> None:
    text = FUSED.format('fusestatic="true"')
    m = mujoco.MjModel.from_xml_string(text)
    d, M = mujoco.MjData(m), np.zeros((2, 2))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, M)
    np.testing.assert_allclose(cardan.mass_matrix(load_mechanism(text).model(), np.zeros(2)), M, rtol=1e-9)


OTHERWISE = {
    "settotalmass": "10",
    "inertiafromgeom": "true",
    "balanceinertia": "true",
    "boundmass": "1",
    "boundinertia": "1",
}


@pytest.mark.parametrize(("name", "value"), OTHERWISE.items())
def test_what_gives_fused_bodies_other_masses_is_refused(name: str, value: str) -> None:
    with pytest.raises(
        DescriptionError, match=rf"{name} gives bodies that are fused other masses.*fusestatic=\"false\""
    ):
        load_mechanism(FUSED.format(f'fusestatic="true" {name}="{value}"'))
    load_mechanism(FUSED.format(f'fusestatic="false" {name}="{value}"'))


INLINE = """<mujoco><default><geom group="3"/></default><asset>
<mesh name="own" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .2 .2 .2" scale=".1 .1 .1" refpos="1 2 3" refquat=".5 .5 .5 .5"/>
<mesh name="built" builtin="sphere" params="2" scale=".1 .2 .3"/></asset>
<worldbody><body name="b"><freejoint/><inertial mass="1" pos="0 0 0" diaginertia=".1 .1 .1"/>
<geom type="mesh" mesh="own" pos=".1 .2 .3" quat=".8 .6 0 0"/><geom type="mesh" mesh="built" pos="1 0 0"/>
<geom type="mesh" mesh="own" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>"""


def test_meshes_without_a_file_collide_as_hulls_where_mujoco_has_them():
    pytest.importorskip("scipy", reason="needs the `mesh` extra")
    *solid, seen = load_mechanism(INLINE).shapes
    there = mujoco.MjModel.from_xml_string(INLINE)
    assert seen.geometry == Mesh("own", None, (0.1, 0.1, 0.1))
    for number, (shape, count) in enumerate(zip(solid, (4, 98), strict=True)):
        mesh, turn = there.geom_dataid[number], np.zeros(9)
        start, stop = there.mesh_vertadr[mesh], there.mesh_vertadr[mesh] + there.mesh_vertnum[mesh]
        mujoco.mju_quat2Mat(turn, there.geom_quat[number])
        theirs = there.mesh_vert[start:stop] @ turn.reshape(3, 3).T + there.geom_pos[number]
        ours = [shape.pose @ cardan.spatial.Vector3(*vertex) for vertex in shape.geometry.vertices]
        assert len(ours) == count
        assert max(np.abs(theirs - np.array([*p], float)).sum(axis=1).min() for p in ours) < 1e-7
