"""The URDF writer: what is read from its text is what was written; what URDF cannot say is refused by name."""

import math
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import cardan
from cardan import robots
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._reach.cli.main import main
from cardan.description import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from cardan.errors import DescriptionError, DescriptionWarning, MechanismError, ParameterError
from cardan.formats import write_urdf
from cardan.joints import (
    CATALOGUE,
    Fixed,
    FreeFlyer,
    Helical,
    Mimic,
    Planar,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    UnboundedRevolute,
    Universal,
)
from cardan.spatial import SE3
from cardan.spatial.rotations import matrix_from_zyx
from mechanisms import random_inertia
from representatives import represented
from rerooting import relative, state
from robots_data import short, urdf_files
from urdf_mechanisms import IN_URDF, check_urdf, expressible


def read(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return cardan.load_mechanism(text, **options)


def pathless(mechanism):
    """Shapes without the places of mesh files, which text in memory cannot know."""
    return [
        replace(s, geometry=replace(s.geometry, path=None)) if isinstance(s.geometry, Mesh) else s
        for s in mechanism.shapes
    ]


def without_rotation(things, *names):
    return [replace(t, **{name: SE3(translation=getattr(t, name).translation) for name in names}) for t in things]


def rotations(things, *names):
    return np.array([list(getattr(t, name).rotation) for t in things for name in names])


def assert_same_physics(a, b, moved, tolerance=1e-12, seed=0):
    """Poses, mass matrix and efforts at a random state; `moved`: X_body_link of b's links."""
    q, v, acc, _ = state(a, seed)
    ours, theirs = Kinematics(a, q, v, acc), Kinematics(b, q, v, acc)
    for name in a.frame_names:
        expected = ours.pose(name) @ moved[name] if name in moved else ours.pose(name)
        assert relative(theirs.pose(name).homogeneous(), expected.homogeneous()) < tolerance, name
    mass_matrix, inverse_dynamics = cardan.mass_matrix.kernel, cardan.inverse_dynamics.kernel
    assert relative(mass_matrix(a, q), mass_matrix(b, q)) < tolerance
    assert relative(inverse_dynamics(a, q, v, acc), inverse_dynamics(b, q, v, acc)) < tolerance
    for what in ("lower", "upper", "velocity_lower", "velocity_upper", "effort_lower", "effort_upper"):
        np.testing.assert_array_equal(getattr(a, what), getattr(b, what))
    for what in ("damping", "friction"):
        assert a.passive(what) == b.passive(what)


# --- round trips -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*URDF does not hold configurations")
@pytest.mark.parametrize("name", robots.ROBOTS)
def test_shipped_robots_come_back_to_the_last_bit(name):
    built = robots.ROBOTS[name]()
    for source in (cardan.to_urdf(built), robots.urdf_path(name)):
        come_back = read(source)
        for configuration, coordinates in built.named_configurations.items():  # URDF holds none
            come_back.add_configuration(configuration, coordinates)
        assert come_back == built


FAULTY = ("alex_description/urdf/alex_psyonic_hands.urdf", "ur_description/urdf/ur3.urdf")  # see test_pin_robots.py


FAULTLESS = [f for f in urdf_files() if short(f) not in FAULTY]


@pytest.mark.parametrize("file", represented(FAULTLESS, by=FAULTLESS[::16].count), ids=short)
def test_robots_of_the_world_come_back(file):
    """To the last bit, but for rotations (1e-15), whose three angles do not always give the same nine floats."""
    first = read(str(file))
    written = write_urdf(first)
    again = read(written.text)
    assert written.moved == {}
    assert again.name == first.name
    assert again.bodies == first.bodies
    poses = "parent_pose", "child_pose"
    assert without_rotation(again.joints, *poses) == without_rotation(first.joints, *poses)
    assert without_rotation(pathless(again), "pose") == without_rotation(pathless(first), "pose")
    for mine, yours, names in ((again.joints, first.joints, poses), (again.shapes, first.shapes, ("pose",))):
        np.testing.assert_allclose(rotations(mine, *names), rotations(yours, *names), atol=1e-15)
    assert [f for f in check_urdf(written.text) if f.severity == "error"] == []
    if first.joints:
        assert_same_physics(first.model(), again.model(), {}, tolerance=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("seed", represented(range(30), by=range(0, 30, 15).count))
def test_random_mechanisms_are_the_same_robot(seed):
    """Awkward poses on both sides: frames move, and everything on them with it."""
    m = expressible(seed)
    written = write_urdf(m)
    back = read(written.text)
    root = next(b.name for b in back.bodies if b.name not in {c.child for c in back.joints})
    assert root not in written.moved
    assert check_urdf(written.text) == []
    assert [b.name for b in back.bodies] == [b.name for b in m.bodies]
    assert [c.name for c in back.joints] == [c.name for c in m.joints]
    for c in back.joints:
        assert isinstance(c.joint, Planar) or c.child_pose == SE3.identity()
    for base in ("fixed", "floating"):
        a, b = (x.model(root=root, base=base) for x in (m, back))
        assert_same_physics(a, b, written.moved, seed=seed)
    placed, moved = shape_poses(m, root), shape_poses(back, root)
    for key, pose in placed.items():
        assert relative(pose, moved[key]) < 1e-13


def shape_poses(m, root):
    """World poses of the shapes at the neutral configuration."""
    model = m.model(root=root)
    k = Kinematics(model, model.neutral().tolist())
    return {s.body: (k.pose(s.body) @ s.pose).homogeneous() for s in m.shapes}


@pytest.mark.slow
@pytest.mark.parametrize("seed", represented(range(10), by=[0, 3].count))
def test_moving_needs_to_happen_only_once(seed):
    """What is written of what was read is the same text, and no frame moves any more."""
    again = write_urdf(read(write_urdf(expressible(seed, loops=2)).text))
    assert again.moved == {}
    back = read(again.text)
    third = read(write_urdf(back).text)
    assert (third.bodies, len(third.joints)) == (back.bodies, len(back.joints))


@pytest.mark.slow
@pytest.mark.parametrize("seed", represented(range(8), by=[0, 1, 5].count))
def test_loops_are_the_same_constraints(seed):
    """How far the two frames of a closing joint are apart is the same in any configuration."""
    m = expressible(seed, loops=4)
    written = write_urdf(m)
    back = read(written.text)
    root = next(b.name for b in back.bodies if b.name not in {c.child for c in (*back.joints[:-4],)})
    a, b = (x.model(root=root, base="floating") for x in (m, back))
    assert a.closure_names == b.closure_names == tuple(f"loop{k}" for k in range(4))
    assert_same_physics(a, b, written.moved, seed=seed)
    q, v, _, _ = state(a, seed)
    ours, theirs = Kinematics(a, q, v), Kinematics(b, q, v)
    for mine, yours in zip(a.closures, b.closures, strict=True):
        gaps = []
        for k, c in ((ours, mine), (theirs, yours)):
            X_wp, X_wc = k.pose(c.parent) @ c.parent_pose, k.pose(c.child) @ c.child_pose
            gaps.append((X_wp.inverse() @ X_wc).homogeneous())
        assert type(mine.joint) is type(yours.joint)
        assert relative(*gaps) < 1e-12
        assert mine.damping == yours.damping


# --- which frames move -------------------------------------------------------------------------------------------


def pair(joint, child_pose=None, **options):
    """Two bodies and a joint between them."""
    m = cardan.Mechanism("m")
    m.add_body("a")
    m.add_body("b", cardan.Inertia(1e-9, [0, 0, 1e-3], np.diag([2e-16, 2e-16, 1e-17])))
    m.add_joint("j", joint, options.pop("parent", "a"), options.pop("child", "b"), None, child_pose, **options)
    return m


R = matrix_from_zyx((0.3, -1.1, 2.0))
SOMEWHERE = SE3(R, (0.1, -0.2, 0.3))
Z = (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("joint", "pose", "moves"),
    [
        (Fixed(), SOMEWHERE, False),
        (Prismatic(Z), SOMEWHERE, False),
        (Revolute(Z), SE3(R), False),
        (Revolute(Z), SE3(translation=(0.0, 0.0, 0.7)), False),  # along the axis
        (Revolute(Z), SOMEWHERE, True),
        (Mimic(Prismatic(Z), "first", 2.0), SOMEWHERE, False),
        (Mimic(Revolute(Z), "first", 2.0), SOMEWHERE, True),
        (Mimic(Revolute(Z), "first", 2.0), SE3(R), False),
        (Spherical(), SE3(R), True),
        (FreeFlyer(), SOMEWHERE, True),
        (Planar(), SE3(R), True),
    ],
)
def test_a_frame_moves_only_where_it_must(joint, pose, moves):
    m = cardan.Mechanism("m")
    for name in "abc":
        m.add_body(name, random_inertia(np.random.default_rng(0)))
    m.add_joint("first", Revolute((1.0, 0.0, 0.0)), "a", "b")
    m.add_joint("j", joint, "b", "c", SOMEWHERE, pose)
    written = write_urdf(m)
    assert written.moved == ({"c": m.joints[1].child_pose} if moves else {})
    assert_same_physics(m.model(), read(written.text).model(), written.moved)
    if moves:
        with pytest.warns(DescriptionWarning, match="m: URDF has a link's frame at its joint: the frames of 'c' moved"):
            cardan.to_urdf(m)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cardan.to_urdf(m)


def test_planar_joints_keep_the_axis_they_were_read_with():
    text = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="planar"><parent link="a"/>'
    text += '<child link="b"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/></joint></robot>'
    m = read(text)
    written = write_urdf(m)
    assert 'axis xyz="0.0 1.0 0.0"' in written.text
    assert 'xyz="1.0 2.0 3.0" rpy="0.1 0.2 0.3"' in written.text
    assert written.moved == {}
    np.testing.assert_allclose(read(written.text).joints[0].parent_pose.matrix(), m.joints[0].parent_pose.matrix())


# --- the root ----------------------------------------------------------------------------------------------------


def graph(*joints):
    """Bodies a, b, c, ... and joints (type, parent, child)."""
    m = cardan.Mechanism("m")
    for name in sorted({end for _, *ends in joints for end in ends} - {"world"}):
        m.add_body(name, cardan.Inertia(1.0, (0.1, 0.0, 0.0), np.eye(3)))
    for k, (joint, parent, child) in enumerate(joints):
        m.add_joint(f"j{k}", joint, parent, child, SOMEWHERE if k else None)
    return m


def ends(text):
    return [(c.parent, c.child) for c in read(text).joints]


def test_joints_are_directed_from_the_root():
    assert ends(cardan.to_urdf(graph((Revolute(), "a", "b"), (Revolute(), "b", "c")))) == [("a", "b"), ("b", "c")]
    m = graph((Revolute(), "a", "b"), (Revolute(), "c", "b"))  # a and c are no one's child: a is the first
    written = write_urdf(m)
    assert ends(written.text) == [("a", "b"), ("b", "c")]
    assert_same_physics(m.model(root="a"), read(written.text).model(root="a"), written.moved)


def test_another_root_is_taken_where_a_joint_cannot_be_turned():
    m = graph((Revolute(), "a", "b"), (Planar(), "c", "b"))
    assert ends(cardan.to_urdf(m)) == [("b", "a"), ("c", "b")]
    turned = graph((Revolute(), "a", "b"), (Reversed(Spherical()), "b", "c"))
    assert ends(write_urdf(turned).text) == [("b", "a"), ("c", "b")]
    with pytest.raises(MechanismError, match=r"URDF cannot take joint 'j1', Reversed\(Planar\)"):
        cardan.to_urdf(graph((Planar(), "a", "b"), (Planar(), "c", "b")))


def test_a_robot_on_the_world_has_it_as_its_root():
    m = graph((Revolute(), "world", "b"), (Revolute(), "a", "b"), (Prismatic(), "c", "world"))
    written = write_urdf(m)
    assert ends(written.text) == [("world", "b"), ("b", "a"), ("world", "c")]
    assert_same_physics(m.model(), read(written.text).model(), written.moved)
    on_world = pair(Revolute(), parent="world")
    on_world.add_joint("k", Fixed(), "world", "a")
    on_world.add_shape(Shape("world", "collision", Box((9.0, 9.0, 0.1))))
    assert read(cardan.to_urdf(on_world)).shapes == on_world.shapes


def test_one_body_is_a_robot_and_frames_may_be_on_the_world():
    m = cardan.Mechanism("ball")
    m.add_body("ball", cardan.Inertia(1.0))
    m.add_frame("goal", "world", SOMEWHERE)
    assert read(cardan.to_urdf(m)) == m


# --- models ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["fixed", "floating", Planar()])
def test_models_come_back_with_their_base(base):
    model = robots.arm7().model(base=base)
    text = cardan.to_urdf(model)
    assert ('<link name="world"/>' in text) == (base != "fixed")
    back = cardan.load(text)
    for what in ("bodies", "connections", "frames", "gravity"):
        assert getattr(back, what) == getattr(model, what)


def test_a_model_of_a_file_is_written_as_that_file_and_with_another_root():
    assert cardan.to_urdf(cardan.load(robots.urdf_path("arm7"))) == cardan.to_urdf(robots.arm7())
    rerooted = robots.arm7().model(root="tool", base="floating")
    back = cardan.load(write_urdf(rerooted).text)
    assert back.connections[0].child == "tool"
    assert_same_physics(rerooted, back, write_urdf(rerooted).moved)


# --- what is said ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [Revolute((0.6, 0.0, -0.8)), Prismatic(Z)], ids=["revolute", "prismatic"])
@pytest.mark.parametrize(
    "limits",
    [
        cardan.Limits(),
        cardan.Limits(lower=[-1.0]),
        cardan.Limits(upper=[2.0], velocity=[3.0]),
        cardan.Limits(lower=[-1.0], upper=[2.0]),
        cardan.Limits(lower=[-1.0], upper=[2.0], effort=[3.0]),
        cardan.Limits(velocity=[2.0]),
        cardan.Limits(velocity=[0.0], effort=[3.0]),
        cardan.Limits(lower=[0.1], upper=[0.1], velocity=[2.0], effort=[3.0]),
    ],
)
def test_limits_come_back(joint, limits):
    m = pair(joint, limits=limits, damping=[0.1], friction=[0.2], armature=[1 / 3])
    assert read(cardan.to_urdf(m)) == m


def test_what_a_body_is_made_of_comes_back():
    m = pair(Revolute(Z))
    for k, geometry in enumerate((Box((1.0, 0.1, 0.0)), Sphere(1 / 3), Cylinder(0.1, 0.2), Capsule(0.1, 5e-324))):
        m.add_shape(Shape("b", "visual", geometry, SE3(translation=(0.1, 0.0, k)), f"shape {k}"))
    m.add_shape(Shape("b", "collision", Mesh("package://a/b.stl", None, (1, -1, 0.001)), rgba=(0, 1, 0.5, 1 / 3)))
    m.add_shape(Shape("b", "visual", Mesh("b.obj"), material="red", rgba=(1, 0, 0, 1), texture="red.png"))
    m.add_shape(Shape("b", "visual", Mesh("c.obj"), material="wood", texture="wood.png"))
    m.add_shape(Shape("b", "visual", Mesh("c.obj"), material="unknown"))
    m.add_frame("tool", "b", SE3(translation=(0.1, 1 / 3, 1e-300)))
    assert read(cardan.to_urdf(m)) == m
    assert 'version="1.2"' in cardan.to_urdf(m)  # for the capsule


def test_names_of_every_kind_come_back():
    names = ["a & b", "<c>", 'say "d"', "e's", "line\nbreak\ttab", "größe 模型", " spaces  "]
    m = cardan.Mechanism("robot <1> & \"2\" '3'")
    for name in names:
        m.add_body(name)
    for parent, child in pairwise(names):
        m.add_joint(f"to {child}", Revolute(), parent, child)
    m.add_frame("-- frame", names[2])
    assert read(cardan.to_urdf(m)) == m


@pytest.mark.parametrize("mass", represented([1.0, 1 / 3, 7e-5, 1.2e4, 0.0], by=(1 / 3, 0.0).count))
def test_inertias_come_back_to_the_last_bit(mass):
    rng = np.random.default_rng(0)
    m = cardan.Mechanism("m")
    for k in range(100):
        com = rng.normal(size=3) * 10.0 ** rng.integers(-3, 2) * (rng.random(3) < 0.8)
        tilted = random_inertia(rng).inertia_at_com.matrix()
        J = tilted if k % 4 else np.diag(rng.uniform(1, 1.5, size=3)).tolist()
        m.add_body(f"b{k}", cardan.Inertia(mass, com.tolist(), J))
        if k:
            m.add_joint(f"j{k}", Revolute(), f"b{k - 1}", f"b{k}")
    assert read(cardan.to_urdf(m)).bodies == m.bodies


def test_numbers_are_as_short_as_can_be():
    text = '<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0.1 -0.02 0.3"/><mass value="0.7"/>'
    text += '<inertia ixx="0.012" ixy="1e-05" ixz="0" iyy="0.013" iyz="-0.0002" izz="0.007"/></inertial></link>'
    text += '<joint name="j" type="continuous"><origin xyz="0 0.1 0" rpy="1.5708 0 -3.14159"/><parent link="a"/>'
    text += '<child link="b"/><axis xyz="0 0.6 0.8"/></joint></robot>'
    written = cardan.to_urdf(read(text))
    for part in (
        'xyz="0.1 -0.02 0.3"',
        'ixx="0.012" ixy="1e-05" ixz="0.0" iyy="0.013" iyz="-0.0002" izz="0.007"',
        'rpy="1.5708 0.0 -3.14159"',
        '<axis xyz="0.0 0.6 0.8"/>',
    ):
        assert part in written
    assert read(written) == read(text)


def test_continuous_joints_on_the_circle_need_the_option():
    m = pair(UnboundedRevolute(Z))
    text = cardan.to_urdf(m)
    assert read(text, continuous="unit_complex") == m
    assert read(text).joints[0].joint == Revolute(Z)


# --- refusals ----------------------------------------------------------------------------------------------------

EXPRESSIBLE = {type(joint) for joint in IN_URDF} | {UnboundedRevolute}


@pytest.mark.parametrize("joint", [j for j in CATALOGUE if type(j) not in EXPRESSIBLE], ids=lambda j: type(j).__name__)
def test_other_joints_are_refused_by_name(joint):
    with pytest.raises(MechanismError, match=rf"URDF cannot take joint 'j', {type(joint).__name__}.*JSON holds it"):
        cardan.to_urdf(pair(joint))


def model_with(**options):
    return robots.arm7().model(**options)


def with_frame_on(m, body, **options):
    m.add_shape(Shape(body, "visual", **options))
    return m


def two_materials():
    m = with_frame_on(pair(Revolute()), "a", geometry=Sphere(1.0), material="m", rgba=(1, 0, 0, 1))
    return with_frame_on(m, "b", geometry=Sphere(1.0), material="m")


def loose():
    m = pair(Revolute())
    m.add_body("c")
    return m


def closing(joint):
    m = pair(Revolute())
    m.add_joint("k", joint, "a", "b")
    return m


REFUSED = {
    "limits of a ball": (lambda: pair(Spherical(), limits=cardan.Limits(lower=[-1.0] * 3)), "limits of joint 'j'"),
    "limits on the circle": (lambda: pair(UnboundedRevolute(), limits=cardan.Limits(upper=[1.0])), "limits of joint"),
    "other order": (lambda: pair(UnboundedRevolute(order="sin_cos")), "joint 'j'.*order 'sin_cos'"),
    "effort one way": (
        lambda: pair(Revolute(), limits=cardan.Limits(effort=[2.0], effort_lower=[-1.0])),
        "effort_lower of joint 'j'.*both ways",
    ),
    "velocity by axis": (
        lambda: pair(Spherical(), limits=cardan.Limits(velocity=[1.0, 2.0, 3.0])),
        "velocity of joint 'j'.*one number",
    ),
    "damping by axis": (lambda: pair(Planar(), damping=[1.0, 1.0, 2.0]), "damping of joint 'j'.*one number"),
    "armature by axis": (lambda: pair(FreeFlyer(), armature=[1.0, 0, 0, 0, 0, 0]), "armature of joint 'j'"),
    "mimic of a screw": (
        lambda: pair(Mimic(Helical((0, 0, 1), 0.1), "k")),
        r"URDF cannot take joint 'j', Mimic\(Helical\)",
    ),
    "mimic of nothing": (lambda: pair(Mimic(Revolute(), "k")), "there is no joint named 'k'"),
    "helical loop": (lambda: closing(Helical((0, 0, 1), 0.1)), "URDF cannot take joint 'k', Helical"),
    "ellipsoid": (
        lambda: with_frame_on(pair(Revolute()), "b", geometry=Ellipsoid((1, 2, 3))),
        "geometry of a shape of 'b'.*Ellipsoid",
    ),
    "nameless mesh": (lambda: with_frame_on(pair(Revolute()), "b", geometry=Mesh("")), "a Mesh with a uri"),
    "material": (two_materials, "material 'm' without colour"),
    "control characters": (lambda: with_frame_on(pair(Revolute()), "b", geometry=Mesh("a\x00b")), "XML can hold"),
    "blank name": (lambda: renamed(" "), "name of a robot"),
    "gravity": (lambda: model_with(gravity=(0.0, 0.0, -1.62)), "URDF cannot take gravity.*with_gravity"),
    "inputs": (lambda: model_with().with_inputs("gravity"), "inputs of a model"),
    "massless moment": (lambda: first_moment_of_nothing(), "inertia of body 'x', a first moment"),
    "no robot": (lambda: Revolute(), "thing to write as URDF"),
    "two parts": (loose, "one root: 'c' is not connected to 'a'.*FreeFlyer"),
    "empty": (lambda: cardan.Mechanism("m"), "which has no body"),
}


def renamed(name):
    m = pair(Revolute())
    m.name = name
    return m


def first_moment_of_nothing():
    m = cardan.Mechanism("m")
    m.add_body("x", cardan.Inertia.from_parameters([0.0, 1.0, *[0.0] * 8]))
    return m


@pytest.mark.parametrize("case", REFUSED)
def test_what_urdf_cannot_say_is_refused(case):
    build, message = REFUSED[case]
    with pytest.raises((ParameterError, MechanismError, cardan.errors.UnknownNameError), match=message):
        cardan.to_urdf(build())


# --- the door ----------------------------------------------------------------------------------------------------


def test_save_and_convert(tmp_path, capsys):
    arm = robots.arm7()
    for name in ("arm.urdf", "arm.json"):
        cardan.save(arm, tmp_path / name)
        assert cardan.load_mechanism(tmp_path / name) == arm
    assert main(["convert", str(tmp_path / "arm.json"), str(tmp_path / "again.urdf")]) == 0
    assert (tmp_path / "again.urdf").read_bytes() == (tmp_path / "arm.urdf").read_bytes()
    assert main(["check", str(tmp_path / "again.urdf")]) == 0
    cardan.save(pair(Helical((0.0, 0.0, 1.0), 0.1)), tmp_path / "screw.json")
    capsys.readouterr()
    assert main(["convert", str(tmp_path / "screw.json"), str(tmp_path / "screw.urdf")]) != 0
    assert "URDF cannot take joint 'j', Helical" in capsys.readouterr().err
    assert not (tmp_path / "screw.urdf").exists()
    with pytest.raises(ParameterError, match=r"\.urdf or .*\.json"):
        cardan.save(arm, tmp_path / "arm.xacro")


def test_moved_frames_are_said_on_the_command_line(tmp_path, capsys):
    cardan.save(pair(Revolute(Z), SOMEWHERE), tmp_path / "m.json")
    assert main(["convert", str(tmp_path / "m.json"), str(tmp_path / "m.urdf")]) == 0
    assert "frames of 'b' moved" in capsys.readouterr().err


def test_unlimited_is_the_largest_float():
    text = cardan.to_urdf(pair(Prismatic(Z)))
    assert '<limit lower="-1.7976931348623157e+308" upper="1.7976931348623157e+308"' in text
    limits = read(text).joints[0].limits
    assert (limits.lower, limits.velocity) == ((-math.inf,), (math.inf,))


# --- URDF+ -------------------------------------------------------------------------------------------------------

FOUR_BAR = """<robot name="four_bar"><link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
<joint name="j1" type="continuous" independent="true">
  <parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
<joint name="j2" type="continuous" independent="false">
  <parent link="crank"/><child link="coupler"/><origin xyz="0 1 0"/><axis xyz="0 0 1"/></joint>
<loop name="closure" type="revolute">
  <predecessor link="coupler"><origin xyz="1 0 0"/></predecessor>
  <successor link="rocker"><origin xyz="0 1 0" rpy="0 0 0.5"/></successor><axis xyz="0 0 1"/></loop>
<joint name="j3" type="continuous" independent="false">
  <parent link="base"/><child link="rocker"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<frame name="tip" link="coupler" xyz="0.5 0 0" rpy="0 0 1"/></robot>"""


def test_loops_of_urdf_plus_are_read():
    m = read(FOUR_BAR)
    (fault,) = check_urdf(FOUR_BAR)
    assert "<joint independent=...> is skipped" in fault.message
    assert [c.name for c in m.joints] == ["j1", "j2", "j3", "closure"]  # after the joints of the tree
    model = m.model()
    assert model.closure_names == ("closure",)
    loop = model.closures[0]
    assert (loop.parent, loop.child, loop.joint) == ("coupler", "rocker", Revolute(Z))
    assert loop.parent_pose == SE3(translation=(1.0, 0.0, 0.0))
    assert tuple(loop.child_pose.translation) == (0.0, 1.0, 0.0)
    assert loop.limits == cardan.Limits().resolved(1)
    assert [(f.name, f.body) for f in m.frames] == [("tip", "coupler")]
    assert read(cardan.to_urdf(m)) == m
    assert read(cardan.to_urdf(model)) == m


def with_constraint(text, name="closure"):
    start, end = FOUR_BAR.index("<loop"), FOUR_BAR.index("</loop>") + len("</loop>")
    return f'{FOUR_BAR[:start]}<constraint name="{name}" {text}</constraint>{FOUR_BAR[end:]}'


ON_COUPLER = '<parent link="coupler"/><parent_origin xyz="1 0 0"/>'
ON_ROCKER = '<child link="rocker"/><child_origin xyz="0 1 0" rpy="0 0 0.5"/>'
CONSTRAINTS = {  # of the proposal, and the joint that each is
    "revolute": ('<parent_axis xyz="0 0 1"/>', '<child_axis xyz="0 0 1"/>', Revolute(Z)),
    "prismatic": ('<parent_axis xyz="0 0 1"/>', '<child_axis xyz="0 0 1"/>', Prismatic(Z)),
    "universal": ('<parent_axis xyz="0 0 1"/>', '<child_axis xyz="0 1 0"/>', Universal(Z, (0.0, 1.0, 0.0))),
    "ball": ("", "", Spherical()),
    "fixed": ("", "", Fixed()),
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_proposed_constraints_are_joints_that_close_loops(kind):
    on_parent, on_child, joint = CONSTRAINTS[kind]
    m = read(with_constraint(f'type="{kind}">{ON_COUPLER}{on_parent}{ON_ROCKER}{on_child}'))
    expected = read(FOUR_BAR).replace_joint("closure", joint).mechanism
    assert m.joints == expected.joints
    assert read(cardan.to_urdf(m)) == m if kind != "universal" else True


def test_each_axis_of_a_constraint_is_in_the_frame_of_its_own_origin():
    turned = ON_ROCKER.replace("0 0 0.5", "0 1.5707963267948966 0")  # whose x is the link's -z
    m = read(
        with_constraint(f'type="revolute">{ON_COUPLER}<parent_axis xyz="0 0 2"/>{turned}<child_axis xyz="-1 0 0"/>')
    )
    both = [read(FOUR_BAR).model(), m.model()]
    q = np.random.default_rng(0).normal(size=(5, 3))
    N = [np.linalg.svd(cardan.loop_jacobian(model, q))[2][:, 2:] for model in both]
    np.testing.assert_allclose(abs(np.sum(N[0] * N[1], axis=-1)), 1.0, atol=1e-12)


def test_faults_of_constraints_are_told():
    older = with_constraint('type="revolute"><predecessor link="coupler"/><successor link="rocker"/>')
    assert any("write it as <loop>" in fault.message for fault in check_urdf(older))
    assert not read(older).model().closures
    axes = '<parent_axis xyz="0 0 1"/><child_axis xyz="0 0 -1"/>'
    for text, said in (
        (f'type="universal">{ON_COUPLER}{ON_ROCKER}{axes}', "two axes that are not parallel"),
        (f'type="revolute">{ON_COUPLER}<child link="rockr"/>', "its child link 'rockr' does not exist; did you mean"),
        (f'type="gear">{ON_COUPLER}{ON_ROCKER}', "there is no joint type 'gear'"),
        (f'type="fixed">{ON_COUPLER}', "needs a <child> element"),
        (f'type="revolute">{ON_COUPLER}{ON_ROCKER}<axis xyz="0 0 1"/>', "has <parent_axis> and <child_axis>, not"),
        (f'type="fixed">{ON_COUPLER}{ON_ROCKER}<origin xyz="1 0 0"/>', "has <parent_origin> and <child_origin>, not"),
    ):
        with pytest.raises(DescriptionError, match=said):
            read(with_constraint(text))


@pytest.mark.slow
def test_universal_joints_of_loops_are_two_hinges_and_a_link_without_mass(tmp_path):
    """URDF has no universal joint. A Stewart platform written so moves as the one with universal joints."""
    platform, text = cardan.robots.stewart_platform(), cardan.Mechanism("stewart")
    for body in platform.bodies:
        text.add_body(body.name, body.inertia)
    for c in platform.joints:
        if not isinstance(c.joint, Universal):
            text.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose)
            continue
        text.add_body(f"{c.name}_cross")
        first, second = Revolute(c.joint.axis1), Revolute(c.joint.axis2)
        text.add_joint(f"{c.name}_first", first, c.parent, f"{c.name}_cross", c.parent_pose)
        text.add_joint(f"{c.name}_second", second, f"{c.name}_cross", c.child, None, c.child_pose)
    path = tmp_path / "stewart.urdf"
    with pytest.warns(DescriptionWarning, match="URDF has a link's frame at its joint"):
        path.write_text(cardan.to_urdf(text))
    slides = [f"slide{k}" for k in range(1, 7)]
    whole, found = platform.model(), cardan.load(path)
    model, of_file = cardan.clustered(whole, independent=slides), cardan.clustered(found, independent=slides)
    rng = np.random.default_rng(0)
    q = cardan.integrate(model, model.neutral(), 0.1 * rng.normal(size=(3, 6)))
    v, tau = rng.normal(size=(2, 3, 6))
    of_all = cardan.converter(model, whole).configuration(q)  # of the file's joints, too, in the same order
    there = cardan.converter(found, of_file).configuration(of_all)
    expected = cardan.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(cardan.forward_dynamics(of_file, there, v, tau), expected, rtol=1e-11)


def test_a_universal_joint_is_refused_with_what_to_write():
    text = '<robot name="r"><link name="a"/><link name="b"/><joint name="u" type="universal">'
    with pytest.raises(DescriptionError, match="two continuous joints, and between them a link without"):
        read(f'{text}<parent link="a"/><child link="b"/></joint></robot>')
