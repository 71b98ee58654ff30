"""USD as it is written: read again it is the same robot, to rounding; what it cannot say is refused or told."""

import re
import warnings

import numpy as np
import pytest

import cardan
import linkages
from cardan import compare, robots
from cardan import description as D
from cardan import joints as J
from cardan._reach.formats.usd.writer import write, write_usd
from cardan.errors import DescriptionWarning, ParameterError, UnsupportedError
from representatives import represented

pxr = pytest.importorskip("pxr", reason="the extra usd is not installed")


def read(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return cardan.load_mechanism(text)


def there_and_back(thing):
    return read(write_usd(thing).text)


def differences(thing, other):
    return [str(d) for d in compare(thing, other).differences]


ROBOTS = {
    "arm7": robots.arm7,
    "quadruped": robots.quadruped,
    "humanoid": robots.humanoid,
    "four_bar": robots.four_bar,
    "stewart": robots.stewart_platform,
    "ankle": linkages.parallel_ankle,
    "delta": linkages.delta,
    "excavator": linkages.excavator,
    "humanoid_with_rods": linkages.humanoid_with_rods,
}


def test_a_loop_that_is_open_at_rest_gives_no_configuration():
    """A joint that closes it has no coordinates, but came back in a configuration "initial" that nobody wrote."""
    robot = cardan.Mechanism("open")
    for name in ("a", "b"):
        robot.add_body(name, cardan.Inertia(1.0, (0.1, 0.2, 0.3), cardan.spatial.Matrix3.identity()))
    robot.add_joint("fly", J.FreeFlyer(), "world", "a")
    robot.add_joint("hinge", J.Revolute((0, 0, 1)), "a", "b", cardan.SE3(translation=(1, 0, 0)))
    robot.add_joint("close", J.Spherical(), "world", "b", cardan.SE3(translation=(0, 3, 0)))
    assert differences(robot, there_and_back(robot)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", represented([*ROBOTS], by=("arm7", "stewart", "excavator").count))
def test_the_same_robot_comes_back(name):
    robot = ROBOTS[name]()
    assert differences(robot, there_and_back(robot)) == []
    loops, again = robot.model(), there_and_back(robot).model()
    assert again.closure_names == loops.closure_names
    q = loops.random_configuration(seed=0)
    v, tau = np.random.default_rng(1).normal(size=(2, loops.nv))
    way = cardan.constrained_forward_dynamics if loops.closures else cardan.forward_dynamics
    found, expected = (way(model, q, v, tau) for model in (again, loops))
    a, b = (e.accelerations if loops.closures else e for e in (found, expected))
    np.testing.assert_allclose(a, b, atol=1e-12 * np.abs(b).max())


def every_joint():
    """A chain of all joints that USD has, in any direction, with all that it can say of them."""
    m, above = cardan.Mechanism("chain"), "world"
    all_ways = {"limits": cardan.Limits([-0.3], [0.7], velocity=[2.3], effort=[11.1]), "damping": [0.1]}
    all_ways |= {"friction": [0.03], "armature": [0.017], "drive": cardan.Drive(12.3, 0.7)}
    for k, (joint, said) in enumerate(
        [
            (J.Revolute((0.6, 0.0, 0.8)), all_ways | {"spring": cardan.Spring(3.3, 0.2)}),
            (J.Prismatic((0.0, -1.0, 0.0)), all_ways),
            (J.Revolute((0.0, 1.0, 0.0)), {}),
            (J.Mimic(J.Revolute((1.0, 0.0, 0.0)), "j2", multiplier=-0.3, offset=0.1), {}),
            (J.Coupled(J.Revolute((0.0, 0.0, 1.0)), ("j2",), J.Polynomial([0.1, 0.3, -0.7])), {}),
            (J.Universal((0.0, 0.6, 0.8), (1.0, 0.0, 0.0)), {"limits": cardan.Limits([-1.0, -2.0], [0.3, 0.7])}),
            (J.Cylindrical((0.6, 0.8, 0.0)), {}),
            (J.Translation(), {"damping": [0.3, 0.3, 0.3]}),
            (J.Spherical(), {"damping": [0.7, 0.7, 0.7]}),
            (J.D6([(1.0, 0.0, 0.0)], [(0.0, 0.0, 1.0)]), {"drive": cardan.Drive([1.3, 0.3], [0.1, 0.7])}),
            (J.D6([], [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]), {}),
            (J.Distance(0.1, 2.3), {}),
            (J.FreeFlyer(), {}),
            (J.Fixed(), {}),
        ]
    ):
        m.add_body(f"b{k}", linkages.inertia(k))
        ends = (linkages.pose(0.1 * k, 0.2, z, zyx=(0.1 * k, z, 0.7)) for z in (0.3, -0.7))
        m.add_joint(f"j{k}", joint, above, f"b{k}", *ends, **said)
        above = f"b{k}"
    return m


@pytest.mark.slow
def test_every_joint_and_what_is_said_of_it():
    m = every_joint()
    again = there_and_back(m)
    assert differences(m, again) == []
    for one, other in zip(m.joints, again.joints, strict=True):
        assert type(one.joint) is type(other.joint)
        for key in ("damping", "friction", "armature", "drive_stiffness", "drive_damping", "spring_stiffness"):
            assert getattr(one, key) == getattr(other, key)
        for key in ("lower", "upper", "velocity", "effort"):
            assert tuple(getattr(one.limits, key) or ()) == tuple(getattr(other.limits, key) or ())


def test_where_drives_go_comes_back():
    m = every_joint()
    m.add_configuration("target", {"j0": [0.3], "j1": [-0.1], "j9": [0.1, -0.7]})
    assert differences(m, there_and_back(m)) == []
    m = every_joint()
    m.add_configuration("target", {"j0": [0.3], "j2": [0.1]})  # which has no drive
    assert write_usd(m).losses == ("configurations 'target'",)


@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.0, 0.2, 0.1), (1e3, -7.0, 0.3)])
def test_a_point_comes_back_as_one(com):
    """Its inertia was 1e-14 of its mass, or what rounding made of 0, of which reading warned."""
    m = cardan.Mechanism("m")
    m.add_body("b", cardan.Inertia(0.7, com))
    m.add_joint("j", J.Revolute((0.0, 0.0, 1.0)), "world", "b")
    text = write_usd(m).text
    again = read(text).bodies[0].inertia
    np.testing.assert_allclose(again.parameters(), cardan.Inertia(0.7, com).parameters(), rtol=1e-14)
    assert max(map(abs, again.inertia_at_com)) <= 1e-15 * (com @ np.array(com))
    edited = re.sub(r"(?<!cardan:)physics:diagonalInertia = .*", "physics:diagonalInertia = (1, 1, 1)", text)
    edited = re.sub(r"custom double3 cardan:physics:diagonalInertia.*", "", edited)
    np.testing.assert_allclose([*read(edited).bodies[0].inertia.inertia_at_com], [1, 0, 0, 1, 0, 1], atol=1e-9)


def test_an_inertia_that_no_body_has_is_refused():
    """Negative moments mean to USD that they are not said: they were written as those of a point."""
    m = cardan.Mechanism("m")
    m._add_body("b", cardan.Inertia(1.0, inertia=np.diag([-0.5, -0.5, -0.5])))  # as a file has it
    m.add_joint("j", J.Revolute((0.0, 0.0, 1.0)), "world", "b")
    with pytest.raises(UnsupportedError, match="inertia of body 'b'"):
        write(m)


def test_shapes_frames_and_where_it_stands():
    m = cardan.Mechanism("shop")
    kinds = [D.Box((0.1, 0.2, 0.3)), D.Sphere(0.3), D.Ellipsoid((0.1, 0.2, 0.3)), D.Cylinder(0.1, 0.7)]
    for k, geometry in enumerate([*kinds, D.Capsule(0.1, 0.7), D.Cone(0.1, 0.7)]):
        m.add_body(f"b{k}", linkages.inertia(k))
        m.add_joint(
            f"j{k}", J.Revolute((0.0, 1.0, 0.0)), f"b{k - 1}" if k else "world", f"b{k}", linkages.pose(0.1, 0.3)
        )
        at = linkages.pose(0.1, 0.3, 0.7, zyx=(1.0, 0.2, 0.3))
        m.add_shape(D.Shape(f"b{k}", "collision", geometry, at, "pad", surface=cardan.Material(0.7, restitution=0.3)))
        m.add_shape(D.Shape(f"b{k}", "visual", geometry, at, rgba=(0.5, 0.25, 1.0, 1.0)))
    m.add_shape(D.Shape("world", "collision", D.Plane()))
    m.add_frame("tool", "b3", linkages.pose(0.1, 0.2, 0.3, zyx=(1.0, 2.0, 3.0)))
    m.add_frame("shelf", "world", linkages.pose(1.0, 2.0, 3.0))
    m.disable_contact("b0", "b5")
    m.self_collision = True
    m.add_configuration("initial", {"j0": (0.3,), "j2": (-0.7,)})
    again = there_and_back(m)
    assert differences(m, again) == []
    assert again.self_collision
    start = {name: tuple(np.round(q, 12)) for name, q in again.named_configurations["initial"].items()}
    assert start == {"j0": (0.3,), "j2": (-0.7,)}


def test_edits_count_for_more_than_the_digits_behind_them():
    """A file that another program changed: its number does not round to the one in double any more."""
    text = write_usd(robots.four_bar()).text
    assert "float physics:mass = 0.3\n" in text
    assert "double cardan:physics:mass = 0.3\n" in text
    (crank,) = [b for b in read(text).bodies if b.name == "crank"]
    assert crank.inertia.mass == 0.3
    (crank,) = [
        b
        for b in read(text.replace("float physics:mass = 0.3\n", "float physics:mass = 0.5\n")).bodies
        if b.name == "crank"
    ]
    assert crank.inertia.mass == 0.5
    (crank,) = [b for b in read(re.sub(r".*cardan:physics.*\n", "", text)).bodies if b.name == "crank"]
    assert crank.inertia.mass == float(np.float32(0.3))


def test_openusd_finds_the_bodies_and_joints(tmp_path):
    place = tmp_path / "platform.usda"
    place.write_text(write_usd(robots.stewart_platform().model()).text)
    stage = pxr.Usd.Stage.Open(str(place))
    assert stage.GetDefaultPrim().GetName() == "stewart_platform"
    joints = [prim for prim in stage.Traverse() if prim.IsA(pxr.UsdPhysics.Joint)]
    assert len(joints) == 19
    left_out = [p.GetName() for p in joints if pxr.UsdPhysics.Joint(p).GetExcludeFromArticulationAttr().Get()]
    assert left_out == [f"ball{k}" for k in range(2, 7)]


def body(m, name, inertia=None):
    m.add_body(name, inertia or linkages.inertia(len(name)))
    return name


def test_names_that_usd_has_not_come_back():
    m = cardan.Mechanism("left arm 2")
    for k, name in enumerate(("joints", "my-link", "my_link", "2nd", "ß")):
        m.add_joint(f"joint_{k}.0", J.Revolute((0.0, 0.0, 1.0)), "world", body(m, name))
        m.add_shape(D.Shape(name, "visual", D.Sphere(0.1), name=f"{name} (ball)"))
    m.add_frame("tool.0", "my-link")
    again = there_and_back(m)
    assert again.name == m.name
    assert differences(m, again) == []
    assert [s.name for s in again.shapes] == [s.name for s in m.shapes]


def test_bodies_without_mass_and_without_size():
    m = cardan.Mechanism("light")
    for name, inertia in (("still", None), ("point", cardan.Inertia(0.3, (0.1, 0.0, 0.0), np.zeros((3, 3))))):
        m.add_body(name, inertia)
        m.add_joint(f"of_{name}", J.Revolute((0.0, 0.0, 1.0)), "world", name)
        m.add_shape(D.Shape(name, "collision", D.Sphere(0.1)))
    again = there_and_back(m)
    assert again.bodies[0].inertia is None
    np.testing.assert_allclose(again.bodies[1].inertia.parameters(), m.bodies[1].inertia.parameters(), atol=1e-14)


def test_moments_without_a_mass_come_back():
    """Such a body came back with 1e-30 kg; now it has no mass, unless another program gives it one."""
    m = cardan.Mechanism("wheel")
    m.add_body("rotor", cardan.Inertia(0.0, (0.0, 0.0, 0.0), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("axle", J.Revolute((0.0, 0.0, 1.0)), "world", "rotor")
    m.add_shape(D.Shape("rotor", "collision", D.Sphere(0.1)))
    assert there_and_back(m).bodies[0].inertia == m.bodies[0].inertia
    text = write_usd(m).text
    assert read(re.sub(r".*cardan:physics:mass.*\n", "", text)).bodies[0].inertia.mass == 0.0
    assert read(text.replace("float physics:mass = 1e-30", "float physics:mass = 0.5")).bodies[0].inertia.mass == 0.5


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_numbers_of_any_size(size):
    m = cardan.Mechanism("sized")
    moments = size**3 * np.diag([1.0, 1.3, 0.9])
    m.add_body("link", cardan.Inertia(size, (0.3 * size, 0.1 * size, 0.0), moments))
    m.add_joint("hinge", J.Revolute((0.6, 0.0, 0.8)), "world", "link", linkages.pose(0.7 * size, 0.0, 0.1 * size))
    again = there_and_back(m)
    found, expected = (np.array(e.bodies[0].inertia.parameters()) for e in (again, m))
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_allclose(again.joints[0].parent_pose.translation, (0.7 * size, 0.0, 0.1 * size), rtol=1e-15)


def test_a_robot_rooted_elsewhere():
    arm = robots.arm7().model(root="tool")
    again = there_and_back(arm).model()
    q, v = arm.random_configuration(seed=0), np.ones(7)
    found, expected = (cardan.inverse_dynamics(model, q, v, v) for model in (again, arm))
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_clusters_are_refused_by_name():
    with pytest.raises(UnsupportedError, match="joint 'crank_joint', a ClusterMember"):
        write_usd(cardan.clustered(robots.four_bar().model()))


def test_bases():
    arm = robots.arm7()
    assert not there_and_back(arm).model().joint("root").nv  # load(base=) decides, as before
    assert there_and_back(arm.model()).joints[0].name == "root"
    dog = robots.quadruped().model(base="floating")
    again = there_and_back(dog).model()
    assert {*again.joint_names} == {*dog.joint_names}  # the reader puts what flies last
    assert "cardan:loose" not in write_usd(dog).text


def one_joint(joint, **said):
    m = cardan.Mechanism("one")
    m.add_joint("hinge", joint, "world", body(m, "link"), **said)
    return m


@pytest.mark.parametrize(
    ("joint", "said", "message"),
    [
        (J.Helical((0.0, 0.0, 1.0), 0.1), {}, "joint 'hinge', a Helical; JSON holds it"),
        (J.SphericalZYX(), {}, "joint 'hinge', a SphericalZYX"),
        (J.Universal((1.0, 0.0, 0.0), (0.6, 0.8, 0.0)), {}, "joint 'hinge', a Universal"),
        (J.Translation(), {"damping": [0.1, 0.2, 0.1]}, "damping of joint 'hinge', (0.1, 0.2, 0.1); it has one number"),
        (J.Spherical(), {"drive": cardan.Drive([1.0] * 3, [0.0] * 3)}, "such joints have no drives"),
        (J.Revolute(), {"limits": cardan.Limits([-1.0], [1.0], effort=[2.0], effort_lower=[-1.0])}, "both ways"),
        (J.Revolute(), {"compliance": [0.1] * 6}, "compliance of joint"),
    ],
)
def test_what_usd_cannot_say_is_refused(joint, said, message):
    with pytest.raises(UnsupportedError, match=re.escape(message)):
        write_usd(one_joint(joint, **said))


def test_a_linear_function_of_one_joint_is_a_mimic():
    m = one_joint(J.Revolute())
    m.add_body("other", linkages.inertia(1))
    m.add_joint("follower", J.Coupled(J.Revolute(), ("hinge",), J.Linear([0.3], 0.5)), "link", "other")
    text = write_usd(m).text
    assert "float newton:mimicCoef1 = 0.3" in text
    assert "NewtonMimicAPI" in text


def test_couplings_and_shapes_that_are_refused():
    with pytest.raises(UnsupportedError, match="joint 'finger0_tip', how it follows finger0_knuckle, wrist"):
        write_usd(linkages.hand())
    m = one_joint(J.Revolute())
    m.add_shape(D.Shape("world", "collision", D.HeightField([[0.0, 0.0], [0.0, 0.1]], (1.0, 1.0), 0.1)))
    with pytest.raises(UnsupportedError, match="shape on 'world', a HeightField"):
        write_usd(m)


@pytest.mark.slow
def test_that_a_body_floats_before_other_joints_in_q_is_told(tmp_path):
    told = "that joints by which bodies float come before others, as they do in q"
    dog = robots.quadruped().model(base="floating")
    assert f"{told} 'root'" in write_usd(dog).losses
    with pytest.warns(DescriptionWarning, match=told):
        cardan.save(dog, tmp_path / "dog.usda")
    back = cardan.load(tmp_path / "dog.usda")
    assert back.joint_names[-1] == "root"
    assert not any(told in loss for loss in write_usd(back).losses)


def test_what_is_lost_is_told(tmp_path):
    m = one_joint(J.Revolute())
    m.add_shape(D.Shape("link", "visual", D.Mesh("gone.stl")))
    m.add_shape(D.Shape("link", "collision", D.Sphere(0.1), group=2, surface=cardan.Material(0.7, rolling=0.1)))
    m.add_configuration("home", {"hinge": (0.1,)})
    losses = write_usd(m).losses
    for told in (
        "meshes of which no file is found, on 'link'",
        "more of surfaces than friction and restitution, on 'link'",
        "materials, textures, groups, masks, margins, surface velocities or densities of shapes on 'link'",
        "configurations 'home'",
    ):
        assert told in losses
    with pytest.warns(DescriptionWarning, match="USD does not hold configurations 'home'"):
        write(m)
    with pytest.raises(ParameterError, match=r"a name that ends in .*\.usda"):
        cardan.save(m, tmp_path / "robot.usdc")
