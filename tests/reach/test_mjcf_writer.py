"""MJCF, written: MuJoCo reads the same masses to the last digits, and what comes back says the same."""

import math
import warnings

import numpy as np
import pytest

import cardan
from cardan import conventions
from cardan import joints as J
from cardan._reach.formats.mjcf import write
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Mesh, Plane, Shape, Sphere
from cardan._robot.records import Actuator, Drive, Material, Spring
from cardan.errors import DescriptionWarning, MechanismError, ParameterError, UnsupportedError
from cardan.formats import load_mechanism
from mechanisms import random_inertia, random_pose

mujoco = pytest.importorskip("mujoco", reason="needs the `mujoco` extra", exc_type=ImportError)

AXIS = (0.36, 0.48, 0.8)
SAID = [
    J.Revolute(AXIS),
    J.Prismatic(AXIS),
    J.Spherical(),
    J.FreeFlyer(),
    J.Universal((1, 0, 0), (0, 0.6, 0.8)),
    J.SphericalZYX(),
    J.Translation(),
    J.Cylindrical(AXIS),
    J.D6([(1, 0, 0), (0, 0.6, 0.8)], [(0, 0, 1), (1, 0, 0), (0, 1, 0)]),
    J.Planar(),
    J.PlanarAngle((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0)),
    J.UnboundedRevolute(AXIS),
    J.Composite([J.Revolute(AXIS), J.Prismatic((0, 0, 1))], [random_pose(np.random.default_rng(k)) for k in (3, 4)]),
]
REFUSED = [J.Helical((0, 0, 1), 0.1), J.Ellipsoid((1, 2, 3)), J.ConstantVelocity()]


def two_bodies(joint):
    """A body on a joint with poses, and one fixed to it."""
    rng = np.random.default_rng(0)
    m = cardan.Mechanism("two", gravity=(0.1, 0.2, -3.0))
    for name in ("b", "tool"):
        m.add_body(name, random_inertia(rng))
    m.add_joint("j", joint, "world", "b", random_pose(rng), random_pose(rng))
    m.add_joint("f", J.Fixed(), "b", "tool", random_pose(rng))
    m.add_frame("tip", "tool", random_pose(rng))
    return m


@pytest.mark.parametrize("joint", SAID, ids=lambda joint: type(joint).__name__)
def test_mujoco_reads_what_is_written_to_the_last_digits(joint, reference_target):
    m = two_bodies(joint)
    model, there = m.model(), mujoco.MjModel.from_xml_string(write(m))
    data, to = mujoco.MjData(there), conventions.to("mujoco", model)
    q, v = model.random_configuration(seed=1), np.linspace(-1.0, 1.0, model.nv)
    data.qpos[:], data.qvel[:] = to.configuration(q), to.velocity(q, v)
    mujoco.mj_forward(there, data)
    M = np.zeros((there.nv, there.nv))
    mujoco.mj_fullM(there, data, M)
    close(M, to.mass_matrix(q))
    close(data.qfrc_bias, to.bias_forces(q, v))
    close(data.site("tip").xpos, cardan.frame_transform(model, q, "tip")[:3, 3])
    assert there.body("tool").mass[0] == m.bodies[1].inertia.mass


def close(x, y):
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * max(1.0, np.abs(y).max(initial=0.0)))


@pytest.mark.parametrize("joint", REFUSED, ids=lambda joint: type(joint).__name__)
def test_what_mujoco_cannot_say_is_refused_by_name(joint):
    with pytest.raises(UnsupportedError, match=f"joint 'j', a {type(joint).__name__} between 'world' and 'b'"):
        write(two_bodies(joint))


def whole():
    """A mechanism with everything MJCF can say."""
    rng = np.random.default_rng(1)
    m = cardan.Mechanism("whole", gravity=(0.0, 0.0, -1.0))
    for name in ("base", "arm", "hand", "left", "right"):
        m.add_body(name, random_inertia(rng))
    m.add_joint("root", J.FreeFlyer(), "world", "base", damping=[0.1] * 6)
    limits = J.Limits((-1.0, -math.inf), (2.0, 3.0), None, (5.0, 6.0), None, (-5.0, -7.0))
    more = {"damping": (0.1, 0.2), "friction": (0.3, 0.4), "armature": (0.5, 0.6), "spring": Spring((7, 0), (0.8, 0))}
    universal = J.Universal((1, 0, 0), (0, 1, 0))
    m.add_joint("x+y", universal, "base", "arm", random_pose(rng), limits=limits, drive=Drive((28, 0), (8, 0)), **more)
    m.add_joint("ball", J.Spherical(), "arm", "hand", random_pose(rng))
    m.add_joint("left", J.Prismatic((1, 0, 0)), "hand", "left", random_pose(rng), limits=J.Limits((0.0,), (0.1,)))
    m.add_joint("right", J.Mimic(J.Prismatic((-1, 0, 0)), "left", 2.0, 0.1), "hand", "right", random_pose(rng))
    m.add_joint("loop", J.Spherical(), "base", "left", random_pose(rng), random_pose(rng))
    m.add_joint("glue", J.Fixed(), "base", "right", random_pose(rng), random_pose(rng))
    m.add_frame("tip", "hand", random_pose(rng))
    m.add_frame("eye", "base", random_pose(rng), "sensor")
    look = {"rgba": (0.1, 0.2, 0.3, 0.4), "material": "steel"}
    solids = (Box((1, 2, 3)), Sphere(0.1), Capsule(0.1, 0.2), Cylinder(0.1, 0.2), Ellipsoid((0.1, 0.2, 0.3)))
    for k, solid in enumerate(solids):
        surface = Material(0.1 * k if k < 4 else None)  # that leaves friction to what it touches
        group = {"group": 1 << k % 3, "mask": 0b101, "margin": 0.01 * k, "surface": surface}
        m.add_shape(Shape("arm", "collision", solid, random_pose(rng), f"s{k}", **look, **group, density=10.0 + k))
    m.add_shape(Shape("world", "collision", Plane(), name="ground"))
    m.add_shape(Shape("hand", "visual", Mesh("meshes/a.stl", None, (1, 2, 3)), random_pose(rng), "skin"))
    m.add_actuator(Actuator("servo", "x+y", [(2.0, 0.0)], "position", 7.0, (0, -7, -2), (-1, 1), (-9, 9)))
    m.add_actuator(Actuator("motor", "left", 3.0, gain=1.0, bias=(0, 0, 0), control_range=(-2, 2)))
    m.add_actuator(Actuator("twist", "ball", [(1.0, 2.0, 3.0)], gain=1.0, bias=(0, 0, 0)))
    m.add_actuator(Actuator("both", ("x+y", "left"), [(0.0, 4.0), (5.0,)], "general", 6.0, (1, 2, 3)))
    m.add_configuration("home", {"root": (1, 2, 3, 0.5, 0.5, 0.5, 0.5), "x+y": (0.1, 0.2), "left": 0.05})
    m.disable_contact("base", "arm")
    return m


def test_a_mechanism_comes_back():
    m = whole()
    with pytest.warns(DescriptionWarning, match="mesh 'meshes/a.stl' is not looked for"):
        n = load_mechanism(write(m))
    assert (n.name, n.gravity, n.disabled_contacts) == (m.name, m.gravity, m.disabled_contacts)
    assert n.actuators == m.actuators
    assert {c.name: type(c.joint) for c in n.joints} == {c.name: type(c.joint) for c in m.joints}
    for key in ("damping", "friction", "armature", "drive"):
        assert [getattr(c, key) for c in n.joints] == [getattr(c, key) for c in m.joints], key
    x, y = (next(c for c in o.joints if c.name == "x+y") for o in (m, n))
    assert x.spring == y.spring
    assert x.limits == y.limits
    assert n.named_configurations["home"].keys() >= m.named_configurations["home"].keys()
    for joint, q in m.named_configurations["home"].items():
        np.testing.assert_allclose(n.named_configurations["home"][joint], q, atol=1e-15)
    assert [(f.name, f.body, f.kind) for f in n.frames] == [(f.name, f.body, f.kind) for f in m.frames]


def test_shapes_come_back_and_touch_what_they_did():
    m = whole()
    with pytest.warns(DescriptionWarning):
        n = load_mechanism(write(m))
    before, after = ({s.name: s for s in o.shapes} for o in (m, n))
    assert before.keys() == after.keys()
    for name, shape in before.items():
        other = after[name]
        for key in ("body", "role", "material", "rgba", "margin", "density", "surface", "geometry"):
            assert getattr(shape, key) == getattr(other, key), (name, key)
        np.testing.assert_allclose(np.array(other.pose.translation), np.array(shape.pose.translation), atol=1e-14)
        for second, its in before.items():
            if shape.role == its.role == "collision":
                assert other.may_touch(after[second]) == shape.may_touch(its)


def test_hulls_of_many_vertices_come_back_whole():
    """Before, what was read had 71 of 100 vertices, and touched up to 3 mm beside; its error was lost."""
    pytest.importorskip("scipy", reason="needs the `mesh` extra")
    corners = np.random.default_rng(0).normal(size=(100, 3))
    hull = Hull(corners / np.linalg.norm(corners, axis=1)[:, None] * (0.1, 0.08, 0.05), 8.5e-4)
    m = two_bodies(J.Revolute())
    m.add_shape(Shape(m.bodies[-1].name, "collision", hull))
    (found,) = (s.geometry for s in load_mechanism(write(m)).shapes if isinstance(s.geometry, Hull))
    np.testing.assert_allclose(sorted(found.vertices), sorted(hull.vertices), atol=1e-12)
    assert found.error == 8.5e-4  # was 0


def test_a_written_file_is_read_as_mjcf_by_either_ending(tmp_path):
    arm = cardan.robots.arm7()
    for name in ("arm.xml", "arm.mjcf"):
        cardan.save(arm, tmp_path / name)
        model = cardan.load(tmp_path / name)
        q = model.random_configuration(seed=0)
        close(cardan.mass_matrix(model, q), cardan.mass_matrix(arm.model(), q))


def test_an_actuator_whose_law_is_not_known_is_left_out_with_a_warning():
    m = two_bodies(J.Revolute())
    m.add_actuator(Actuator("muscle", "j", kind="general"))
    with pytest.warns(DescriptionWarning, match="actuator 'muscle' is left out: its gain or bias is not known"):
        assert "muscle" not in write(m)


def test_names_are_escaped_and_what_mujoco_refuses_is_said():
    m = cardan.Mechanism('a<b>&"c"')
    m.add_body("it's <one>", random_inertia(np.random.default_rng(0)))
    m.add_joint("j&k", J.Revolute(), "world", "it's <one>")
    n = load_mechanism(write(m))
    assert (n.name, n.bodies[0].name, n.joints[0].name) == (m.name, m.bodies[0].name, "j&k")
    with pytest.raises(ParameterError, match="a Mechanism or a Model"):
        write(3)


def test_a_name_mujoco_has_already_is_its_error():
    m = two_bodies(J.Revolute(AXIS))
    m.add_actuator(Actuator("j", "j", gain=1.0, bias=(0, 0, 0)))
    with pytest.raises(MechanismError, match=r"MuJoCo refuses it: .*repeated name 'j' in actuator"):
        write(m.with_drives({"j": Drive(2.0)}).mechanism)


@pytest.mark.parametrize("joint", [J.FreeFlyer(), J.Spherical()], ids=lambda joint: type(joint).__name__)
def test_a_ball_and_a_free_joint_come_back_where_they_were_with_their_coordinates(joint, reference_target):
    m = two_bodies(joint)
    q = m.model().random_configuration(seed=3)
    m.add_configuration("home", {"j": [*q[:-4], *(q[-4:] * np.sign(q[-1]))]})
    m.add_actuator(Actuator("twist", "j", [(0.0,) * (joint.nv - 3) + (1.0, 2.0, 3.0)], gain=1.0, bias=(0, 0, 0)))
    n = load_mechanism(write(m))
    (before, _), (after, _) = m.joints, n.joints
    for x, y in ((before.parent_pose, after.parent_pose), (before.child_pose, after.child_pose)):
        close(np.array(y.translation), np.array(x.translation))
        close(np.array([*y.rotation.rows()]), np.array([*x.rotation.rows()]))
    assert list(n.named_configurations) == ["home"]
    close(np.array(n.named_configurations["home"]["j"]), np.array(m.named_configurations["home"]["j"]))
    close(np.array(n.actuators[0].gear), np.array(m.actuators[0].gear))
    assert {difference.where for difference in cardan.compare(m, n).differences} <= {"twist"}, "whose gear is rounded"
    assert [frame.name for frame in n.frames] == ["tip"]


def test_a_joint_of_several_keeps_its_name():
    (joint, _) = load_mechanism(write(two_bodies(J.Universal((1, 0, 0), (0, 0.6, 0.8))))).joints
    assert (joint.name, type(joint.joint)) == ("j", J.Universal)


COUPLED = """<mujoco><worldbody>
  <body name="a"><joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0" pos="0 .1 0"/><geom size=".1" pos="0 0 .2"/>
    <body name="b" pos="1 0 0"><joint name="z" axis="0 1 0"/><geom size=".1"/></body></body>
</worldbody><equality><joint joint1="z" joint2="x"/></equality></mujoco>"""


def test_massless_bodies_between_joints_are_written_as_joints_of_one_body(reference_target):
    m = load_mechanism(COUPLED)
    with pytest.warns(DescriptionWarning, match=r"massless bodies between joints of one body: 'a:x'"):
        text = write(m)
    assert cardan.compare(m, load_mechanism(text))


def test_a_mesh_of_a_package_that_is_not_found_keeps_its_name():
    """It was `package:/robot/a.stl` when read again, which is in no package."""
    m = two_bodies(J.Revolute(AXIS))
    m.add_shape(Shape("b", "visual", Mesh("package://robot/a.stl"), name="skin"))
    assert load_mechanism(write(m)).shapes[0].geometry.uri == "package://robot/a.stl"


def lossy():
    """A mechanism with what MJCF cannot say."""
    m = two_bodies(J.Revolute(AXIS)).with_drives({"j": Drive(2.0)}).mechanism
    m.add_body("copying", random_inertia(np.random.default_rng(1)))
    m._add_body("odd", cardan.Inertia(1e-3, (0, 0, 0), ((1e-6, 0, 0), (0, 1e-6, 0), (0, 0, 5e-6))))
    m.add_joint("glue", J.Fixed(), "tool", "odd")
    limits = J.Limits((-1.0,), (1.0,), (3.0,))
    m.add_joint("copy", J.Mimic(J.Revolute(), "j"), "tool", "copying", limits=limits, compliance=[0.1] * 6)
    m.add_shape(Shape("b", "visual", Sphere(0.1), texture="a.png", group=2, surface=Material(0.1)))
    m.add_shape(Shape("b", "collision", Sphere(0.1), surface=Material(0.0, stiffness=7.0)))
    m.add_shape(Shape("b", "visual", Cone(0.1, 0.2)))
    m.add_group(cardan._robot.records.Group("arm", ("b",)))
    m.add_actuator(Actuator("open", "j"))
    return m


LOST = (
    "velocity limits of joints 'copy'",
    "limits (lower, upper, effort) of joints that mimic another 'copy'",
    "compliance of joints 'copy'",
    "textures of shapes on 'b'",
    "cones, but as hulls of 64 sides, on 'b'",
    "stiffness and dissipation, or moments without friction, of surfaces on 'b'",
    "surfaces, groups, masks and margins of shapes that are only seen, on 'b'",
    "that the gain of actuators is not known, which is 1 there: 'open'",
    "drives (drive stiffness, drive damping) of joints alone, but as actuators 'j'",
    "groups 'arm'",
)


def test_what_mjcf_does_not_hold_is_named():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        write(lossy())
    told = " | ".join(str(warning.message) for warning in heard)
    assert [loss for loss in LOST if loss not in told] == []
    assert "bodies 'b', 'tool', 'odd'" in told, "of which one is impossible"


def test_what_is_whole_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(two_bodies(J.Revolute(AXIS)).renamed({"f": "tool_fixed"}).mechanism)


def test_a_hinge_that_closes_a_loop_and_comes_back_as_two_balls_is_named():
    """It came back so without a word."""
    with pytest.warns(DescriptionWarning, match="hinges that close loops, but as two balls each: 'closing_joint'"):
        write(cardan.robots.four_bar())


def test_a_name_of_a_fixed_joint_that_is_lost_is_named():
    """It came back as that of its child with an ending, without a word."""
    with pytest.warns(DescriptionWarning, match="names of fixed joints 'f'"):
        text = write(two_bodies(J.Revolute(AXIS)))
    assert [c.name for c in load_mechanism(text).joints] == ["j", "tool_fixed"]


def test_colours_of_more_than_single_precision_are_named():
    m = two_bodies(J.Revolute(AXIS))
    m.add_shape(Shape("b", "visual", Sphere(0.1), rgba=(0.1, 0.2, 1 / 3, 1.0)))
    with pytest.warns(DescriptionWarning, match="digits of colours, beyond single precision, of shapes on 'b'"):
        write(m)


@pytest.mark.parametrize("name", ["a\x01", "a\x00b", "\ud800"])
def test_a_name_that_xml_cannot_hold_is_refused(name):
    m = cardan.Mechanism("m")
    m.add_body(name, random_inertia(np.random.default_rng(0)))
    m.add_joint("j", J.Revolute(AXIS), "world", name)
    with pytest.raises(ParameterError, match=r"a name in MJCF.*characters XML can hold"):
        write(m)


def chain(count):
    """Return a chain of so many links."""
    m = cardan.Mechanism("chain")
    for k in range(count):
        m.add_body(f"b{k}", cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
        m.add_joint(f"j{k}", J.Revolute(AXIS), f"b{k - 1}" if k else "world", f"b{k}")
    return m


def test_joints_that_come_elsewhere_in_q_are_named():
    """Those of two legs, written level by level, came leg by leg: Talos's q was in another order, without a word."""
    m = cardan.Mechanism("legs")
    for name, above in (("hip_l", "world"), ("hip_r", "world"), ("knee_l", "hip_l"), ("knee_r", "hip_r")):
        m.add_body(name, cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
        m.add_joint(f"{name}_joint", J.Revolute(AXIS), above, name)
    with pytest.warns(DescriptionWarning, match=r"order of joints in q, .*: 'hip_r_joint', 'knee_l_joint'$"):
        again = load_mechanism(write(m))
    assert [c.name for c in again.joints] == ["hip_l_joint", "knee_l_joint", "hip_r_joint", "knee_r_joint"]


def test_a_robot_too_deep_to_be_read_again_is_refused_before_mujoco_has_it():
    assert len(load_mechanism(write(chain(197))).bodies) == 197
    with pytest.raises(UnsupportedError, match=r"body 'b197', 198 bodies deep; at most 197 .*\. JSON holds it"):
        write(chain(198))


@pytest.mark.parametrize("x", [1.1e15, 1.8e19, 5e307, 1e308])
def test_a_number_that_is_not_read_again_is_refused(x):
    m = two_bodies(J.Revolute(AXIS))
    m.add_body("c", cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
    m.add_joint("k", J.Revolute(AXIS), "b", "c", damping=[x])
    with pytest.raises(ParameterError, match=r"a number in MJCF: got .*expected numbers up to 1e\+15"):
        write(m)


@pytest.mark.parametrize("touches", [True, False])
def test_shapes_of_one_robot_touch_as_its_description_says(touches, reference_target):
    """Balls about one point: what may touch in MuJoCo does; excludes that were made are no disabled contacts."""
    m = cardan.Mechanism("folded")
    for k, kind in enumerate((J.Fixed(), J.Revolute(AXIS), J.Fixed(), J.Revolute(AXIS), J.Revolute(AXIS))):
        m.add_body(f"b{k}", cardan.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
        m.add_joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}")
        m.add_shape(Shape(f"b{k}", "collision", Sphere(1.0 + 0.1 * k)))
    m.disable_contact("b4", "b2")
    m.self_collision = touches
    text = write(m)
    there = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(there)
    mujoco.mj_forward(there, data)
    found = {frozenset(there.body(there.geom_bodyid[g]).name for g in pair) for pair in data.contact.geom}
    again = load_mechanism(text)
    assert found == {frozenset((p.a, p.b)) for p in again.world(keep_overlapping=True).pairs}
    assert len(found) == (5 if touches else 0)
    assert (again.self_collision, again.disabled_contacts) == (touches, (("b4", "b2"),))
