"""The URDF reader: every value arrives where it belongs."""

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.description import Box, Capsule, Cylinder, Mesh, Sphere
from cardan.errors import DescriptionError, DescriptionWarning, ParameterError
from cardan.formats import load, load_mechanism
from cardan.joints import Fixed, FreeFlyer, Mimic, Planar, Prismatic, Revolute, Spherical, UnboundedRevolute
from representatives import represented
from robots_data import robots_folder, urdf_files
from urdf_mechanisms import check_urdf

LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
INERTIAL = '<inertial>{origin}<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>'
REFUSED = {
    "alex_psyonic_hands.urdf": "mimics 'index_q1', which does not exist",
    "ur3.urdf": "<robot> needs a non-empty attribute 'name'",
}
"""Robots of example-robot-data that are truly faulty, and why."""


def two_links(joint: str, *, kind: str = "revolute", link: str = "") -> str:
    return (
        f'<robot name="r"><link name="a">{link}</link><link name="b"/>'
        f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{joint}</joint></robot>'
    )


def joint(text: str, *, kind: str = "revolute", **options):
    return load_mechanism(two_links(text, kind=kind), **options).joints[0]


def shapes(link: str, **options):
    return load_mechanism(f'<robot name="r"><link name="a">{link}</link></robot>', **options).shapes


# --- structure ---------------------------------------------------------------------------------------------------


def test_names_and_order_are_those_of_the_document():
    m = load_mechanism(
        """<?xml version="1.0"?>
        <robot name="arm">
          <joint name="z" type="fixed"><parent link="two"/><child link="three"/></joint>
          <link name="three"/><link name="one"/><link name="two"/>
          <joint name="a" type="fixed"><parent link="one"/><child link="two"/></joint>
        </robot>"""
    )
    assert m.name == "arm"
    assert [b.name for b in m.bodies] == ["three", "one", "two"]
    assert [(j.name, j.parent, j.child) for j in m.joints] == [("z", "two", "three"), ("a", "one", "two")]


def test_a_root_link_named_world_is_the_world():
    m = load_mechanism(
        '<robot name="r"><link name="world"/><link name="a"/>'
        '<joint name="j" type="fixed"><parent link="world"/><child link="a"/></joint></robot>'
    )
    assert [b.name for b in m.bodies] == ["a"]
    assert m.joints[0].parent == "world"
    assert m.model().joint_names == ("j",)


def test_a_joint_may_have_the_name_of_a_link():
    text = two_links(LIMIT).replace('name="j"', 'name="a"')
    assert load_mechanism(text).joints[0].name == "a"


def test_elements_of_other_programs_are_skipped():
    foreign = '<gazebo reference="a"><plugin y="z"/></gazebo><sensor/>'
    text = two_links(LIMIT).replace("</robot>", foreign + "</robot>")
    assert len(load_mechanism(text).joints) == 1
    told = [fault.message for fault in check_urdf(text)]
    assert [message.partition(" is skipped")[0] for message in told] == ["<sensor> in <robot>", "<plugin> in <gazebo>"]


def test_what_is_not_used_refuses_no_file():
    """A soft limit without a gain was an error, though soft limits are not read."""
    more = "<safety_controller/><calibration rising='up'/>"
    assert load_mechanism(two_links(LIMIT + more)).joints == load_mechanism(two_links(LIMIT)).joints


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('<gazebo reference="a"><mu1>0</mu1></gazebo>', "<mu1> in <gazebo> is skipped: friction"),
        ('<gazebo reference="a"><turnGravityOff>true</turnGravityOff></gazebo>', "<turnGravityOff> in <gazebo>"),
        ('<gazebo reference="a"><turnGravityOff>false</turnGravityOff></gazebo>', None),
        ('<gazebo reference="a"><gravity>false</gravity></gazebo>', "<gravity> in <gazebo>"),
        ('<gazebo reference="a"><gravity>true</gravity></gazebo>', None),
        ('<gazebo reference="a"><kinematic>true</kinematic></gazebo>', "<kinematic> in <gazebo>"),
        ('<gazebo reference="a"><velocity_decay><linear>0.1</linear></velocity_decay></gazebo>', "<velocity_decay> in"),
        ('<mujoco><compiler balanceinertia="true"/></mujoco>', "<mujoco> in <robot>"),
        ('<drake:joint name="k" xmlns:drake="d"/>', "<drake:joint> in <robot> is skipped: Drake alone reads it"),
        ('<loop_joint name="l"/>', "<loop_joint> in <robot> is skipped: the robot is read without it"),
        (
            '<constraint name="c" type="fixed"><predecessor link="a"/></constraint>',
            "<predecessor> in <constraint> is skipped: the robot is read without it",
        ),
    ],
)
def test_what_would_move_a_robot_is_warned_of(more, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_mechanism(two_links(LIMIT).replace("</robot>", more + "</robot>"))
    messages = [str(warning.message) for warning in caught if warning.category is DescriptionWarning]
    assert not messages if told is None else any(told in message for message in messages)


# --- poses -------------------------------------------------------------------------------------------------------


def test_origin_is_roll_pitch_yaw():
    pose = joint(f'<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>{LIMIT}').parent_pose.matrix()
    (cr, cp, cy), (sr, sp, sy) = np.cos([0.1, 0.2, 0.3]), np.sin([0.1, 0.2, 0.3])
    Rx = [[1, 0, 0], [0, cr, -sr], [0, sr, cr]]
    Ry = [[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]]
    Rz = [[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]
    np.testing.assert_allclose(pose[:3, :3], np.array(Rz) @ Ry @ Rx, atol=1e-15)
    np.testing.assert_array_equal(pose[:3, 3], [1, 2, 3])


@pytest.mark.parametrize(
    ("origin", "translation"),
    [("", [0, 0, 0]), ("<origin/>", [0, 0, 0]), ('<origin rpy="0 0 0"/>', [0, 0, 0])]
    + [('<origin xyz=" 1\n 2\t3 "/>', [1, 2, 3]), ('<origin xyz="1. .5 -2e-1"/>', [1, 0.5, -0.2])],
)
def test_origin_is_optional_in_part_and_whole(origin, translation):
    pose = joint(origin + LIMIT).parent_pose.matrix()
    np.testing.assert_array_equal(pose[:3, 3], translation)
    np.testing.assert_array_equal(pose[:3, :3], np.eye(3))


def test_a_quaternion_turns_like_its_angles():
    s = math.sin(0.35)
    by_quaternion = joint(f'<origin quat_xyzw="0 {s} 0 {math.cos(0.35)}" xyz="1 0 0"/>{LIMIT}').parent_pose
    by_angles = joint(f'<origin rpy="0 0.7 0" xyz="1 0 0"/>{LIMIT}').parent_pose
    np.testing.assert_allclose(by_quaternion.matrix(), by_angles.matrix(), atol=1e-15)


# --- inertia -----------------------------------------------------------------------------------------------------


def body(inertial: str):
    return load_mechanism(f'<robot name="r"><link name="a">{inertial}</link></robot>').bodies[0].inertia


def test_inertia_is_about_the_centre_of_mass_in_link_axes():
    inertia = body(INERTIAL.format(origin='<origin xyz="0.1 0.2 0.3"/>'))
    assert inertia.mass == 2.0
    np.testing.assert_allclose(inertia.com, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(np.reshape(inertia.inertia_at_com.matrix(), (3, 3)), np.diag([1, 2, 2.5]), atol=1e-15)


def test_inertia_is_turned_by_its_origin():
    inertia = body(INERTIAL.format(origin=f'<origin xyz="1 0 0" rpy="0 0 {math.pi / 2}"/>'))
    np.testing.assert_allclose(inertia.com, [1, 0, 0])
    np.testing.assert_allclose(np.reshape(inertia.inertia_at_com.matrix(), (3, 3)), np.diag([2, 1, 2.5]), atol=1e-15)


@pytest.mark.parametrize(
    "zero",
    ["", INERTIAL.format(origin="").replace('"1"', '"0"').replace('"2"', '"0"').replace('"2.5"', '"0"')],
)
def test_a_link_may_be_massless(zero):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inertia = body(zero)
    assert inertia is None or inertia.mass == 0.0


IMPOSSIBLE = {
    "indefinite": ('ixx="-1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', "not positive definite"),
    "triangle": ('ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"', "triangle inequality"),
    "off-diagonal": ('ixx="1" ixy="5" ixz="0" iyy="1" iyz="0" izz="1"', "not positive definite"),
}


@pytest.mark.parametrize(("entries", "reason"), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
class TestImpossibleInertia:
    @staticmethod
    def text(entries):
        inertial = f'<inertial><mass value="1"/>\n<inertia {entries}/></inertial>'
        return f'<robot name="r">\n<link name="a">{inertial}</link></robot>'

    def test_it_is_warned_of(self, entries, reason):
        with pytest.warns(DescriptionWarning, match=reason) as caught:
            assert load_mechanism(self.text(entries)).bodies[0].inertia is not None
        assert str(caught[0].message).startswith("<string>:3: warning: link 'a'")

    def test_it_is_an_error_on_request(self, entries, reason):
        with pytest.raises(DescriptionError, match=reason) as caught:
            load_mechanism(self.text(entries), on_inertia="error")
        assert [(f.line, f.severity) for f in caught.value.faults] == [(3, "error")]

    def test_it_is_passed_over_on_request(self, entries, reason):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load_mechanism(self.text(entries), on_inertia="ignore")

    def test_check_shows_it(self, entries, reason):
        (fault,) = check_urdf(self.text(entries))
        assert (fault.severity, fault.line) == ("warning", 3)
        assert reason in fault.message


# --- joints ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", Revolute([0, 1, 0])),
        ("continuous", Revolute([0, 1, 0])),
        ("prismatic", Prismatic([0, 1, 0])),
        ("fixed", Fixed()),
        ("floating", FreeFlyer()),
        ("planar", Planar()),
        ("spherical", Spherical()),
        ("ball", Spherical()),
    ],
)
def test_every_joint_type(kind, expected):
    assert joint('<axis xyz="0 1 0"/>' + LIMIT, kind=kind).joint == expected


def test_a_continuous_joint_is_an_angle_without_bounds_or_a_point():
    limits = joint(LIMIT, kind="continuous").limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == ((-math.inf,), (math.inf,), (4,), (3,))
    assert isinstance(joint("", kind="continuous", continuous="unit_complex").joint, UnboundedRevolute)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 7.0, 1e200, 1e308])
def test_the_axis_is_normalised(scale):
    axis = joint(f'<axis xyz="{scale} 0 -{scale}"/>{LIMIT}').joint.axis
    np.testing.assert_allclose(axis, np.array([1, 0, -1]) / math.sqrt(2), rtol=1e-15)


def test_the_axis_is_x_by_default():
    assert joint(LIMIT).joint == Revolute([1, 0, 0])


@pytest.mark.parametrize(
    "normal", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (1, 2, 3), (1e-5, 0, 1), (1e-5, 1e-6, -1)]
)
def test_the_axis_of_a_planar_joint_is_its_normal(normal):
    text = '<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/><axis xyz="{} {} {}"/>'.format(*normal)
    j = joint(text, kind="planar")
    origin = joint('<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/>' + LIMIT).parent_pose.matrix()
    turned = j.child_pose.matrix()
    np.testing.assert_allclose(turned[:3, 2], np.array(normal) / np.linalg.norm(normal), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(turned), 1.0, atol=1e-14)
    np.testing.assert_allclose(j.parent_pose.matrix() @ np.linalg.inv(turned), origin, atol=1e-14)


def test_planar_motion_stays_in_the_plane_and_the_joint_is_at_the_origin_at_rest():
    model = load(two_links('<origin xyz="1 2 3"/><axis xyz="0 1 0"/>', kind="planar"))
    np.testing.assert_allclose(cardan.frame_transform(model, model.neutral(), "b")[:3, 3], [1, 2, 3], atol=1e-15)
    moved = cardan.frame_transform(model, np.array([0.7, -0.4, math.cos(0.5), math.sin(0.5)]), "b")
    assert moved[1, 3] == pytest.approx(2.0)
    np.testing.assert_allclose(np.hypot(moved[0, 3] - 1, moved[2, 3] - 3), math.hypot(0.7, 0.4))
    np.testing.assert_allclose(moved[:3, 1], [0, 1, 0], atol=1e-15)


def test_limits_damping_friction():
    j = joint(LIMIT + '<dynamics damping="0.5" friction="0.25"/>', kind="prismatic")
    assert (j.limits.lower, j.limits.upper, j.limits.effort, j.limits.velocity) == ((-1,), (2,), (3,), (4,))
    assert (j.damping, j.friction) == ((0.5,), (0.25,))


def test_missing_bounds_are_zero_as_the_specification_says_and_check_says_so():
    text = '<limit effort="1" velocity="1"/>'
    assert joint(text).limits.lower == joint(text).limits.upper == (0.0,)
    (fault,) = check_urdf(two_links(text))
    assert fault.message.startswith("locked, as lower and upper")


def test_urdf_1_2_may_leave_out_effort_and_velocity():
    text = two_links('<limit lower="0" upper="1" acceleration="3" jerk="9"/>').replace("<robot", '<robot version="1.2"')
    assert load_mechanism(text).joints[0].limits.effort == (math.inf,)
    assert [fault.message.split(" is skipped")[0] for fault in check_urdf(text)] == [
        "<limit acceleration=...>",
        "<limit jerk=...>",
    ]


MIMIC = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="copy" type="{kind}"><parent link="a"/><child link="b"/>{limit}
  <mimic joint="leader"{factors}/></joint>
<joint name="leader" type="{leader}"><parent link="b"/><child link="c"/>{limit}</joint></robot>"""


def test_mimic():
    text = MIMIC.format(kind="prismatic", leader="revolute", limit=LIMIT, factors=' multiplier="-0.5" offset="0.1"')
    assert load_mechanism(text).joints[0].joint == Mimic(Prismatic([1, 0, 0]), "leader", -0.5, 0.1)
    assert load(text).nv == 1


def test_mimic_has_defaults():
    text = MIMIC.format(kind="revolute", leader="continuous", limit=LIMIT, factors="")
    assert load_mechanism(text).joints[0].joint == Mimic(Revolute([1, 0, 0]), "leader", 1.0, 0.0)


def test_the_mimic_of_a_fixed_joint_has_no_effect_and_check_says_so():
    text = MIMIC.format(kind="fixed", leader="revolute", limit=LIMIT, factors="")
    assert load_mechanism(text).joints[0].joint == Fixed()
    assert "has no effect" in check_urdf(text)[0].message


# --- shapes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "geometry"),
    [
        ('<box size="1 2 3"/>', Box((1, 2, 3))),
        ('<sphere radius="0.5"/>', Sphere(0.5)),
        ('<cylinder radius="0.5" length="2"/>', Cylinder(0.5, 2)),
        ('<capsule radius="0.5" length="2"/>', Capsule(0.5, 2)),
        ('<mesh filename="nowhere.stl" scale="1 1 -2"/>', Mesh("nowhere.stl", None, (1, 1, -2))),
    ],
)
def test_geometry(element, geometry):
    (shape,) = shapes(f'<collision name="n"><origin xyz="1 2 3"/><geometry>{element}</geometry></collision>')
    assert (shape.body, shape.role, shape.name, shape.geometry) == ("a", "collision", "n", geometry)
    np.testing.assert_array_equal(shape.pose.matrix()[:3, 3], [1, 2, 3])


def test_materials_are_found_by_name():
    ball = '<visual><geometry><sphere radius="1"/></geometry><material name="{}">{}</material></visual>'
    red = '<color rgba="1 0 0 1"/>'
    text = (
        f'<robot name="r"><link name="a">{ball.format("red", "")}{ball.format("blue", red)}</link>'
        f'<link name="b">{ball.format("blue", "")}{ball.format("none", "")}</link>'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        f'<material name="red">{red}<texture filename="t.png"/></material></robot>'
    )
    looks = [(s.body, s.material, s.rgba, s.texture) for s in load_mechanism(text).shapes]
    red = (1, 0, 0, 1)
    assert looks == [
        ("a", "red", red, "t.png"),
        ("a", "blue", red, ""),
        ("b", "blue", red, ""),
        ("b", "none", None, ""),
    ]
    assert [f.message for f in check_urdf(text)] == ["material 'none' has no colour and is not defined before"]


# --- where meshes are --------------------------------------------------------------------------------------------


@pytest.fixture
def robot_folder(tmp_path, monkeypatch):
    """A package with a mesh and a robot in it."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    for place in ("src/arm/meshes", "src/arm/urdf", "elsewhere/share/arm/meshes"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "src/arm/package.xml").write_text("<package><name>arm</name></package>")
    for place in ("src/arm/meshes/a.stl", "elsewhere/share/arm/meshes/a.stl"):
        (tmp_path / place).write_text("solid")
    return tmp_path


def mesh_path(uri: str, source: Path | None = None, **options) -> str | None:
    text = (
        f'<robot name="r"><link name="a"><visual><geometry><mesh filename="{uri}"/></geometry></visual></link></robot>'
    )
    if source is None:
        return load_mechanism(text, **options).shapes[0].geometry.path
    source.write_text(text)
    return load_mechanism(source, **options).shapes[0].geometry.path


URI = "package://arm/meshes/a.stl"


@pytest.mark.parametrize("as_mapping", [True, False])
def test_packages_are_found_by_argument(robot_folder, as_mapping):
    packages = {"arm": robot_folder / "src" / "arm"} if as_mapping else [robot_folder / "src"]
    assert mesh_path(URI, package_dirs=packages) == str(robot_folder / "src/arm/meshes/a.stl")
    assert mesh_path(URI, package_dirs={"leg": robot_folder}) is None


def test_packages_are_found_by_environment(robot_folder, monkeypatch):
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(["/nowhere", str(robot_folder / "elsewhere")]))
    assert mesh_path(URI) == str(robot_folder / "elsewhere/share/arm/meshes/a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(robot_folder / "src"))
    assert mesh_path(URI) == str(robot_folder / "src/arm/meshes/a.stl")


@pytest.mark.parametrize("uri", [URI, "../meshes/a.stl", "file://{}/src/arm/meshes/a.stl"])
def test_meshes_are_found_from_the_file(robot_folder, uri):
    found = mesh_path(uri.format(robot_folder), robot_folder / "src/arm/urdf/arm.urdf")
    assert Path(found).resolve() == (robot_folder / "src/arm/meshes/a.stl").resolve()


@pytest.mark.parametrize("uri", ["package://leg/a.stl", "b.stl", "http://x.org/a.stl", "package://", "x" * 5000])
def test_a_mesh_that_is_not_found_is_kept_by_name(uri, robot_folder):
    file = robot_folder / "r.urdf"
    assert mesh_path(uri, file) is None
    assert load_mechanism(file).shapes[0].geometry.uri == uri
    (fault,) = check_urdf(file)
    assert fault.severity == "warning"
    assert "was not found" in fault.message


# --- sources and options -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(tmp_path, encoding):
    declaration = '<?xml version="1.0" encoding="ISO-8859-1"?>' if encoding == "iso-8859-1" else ""
    content = (declaration + '<robot name="Gerät"><link name="a"/></robot>').encode(encoding)
    file = tmp_path / "r.urdf"
    file.write_bytes(content)
    for source in (content, file, str(file)):
        assert load_mechanism(source).name == "Gerät"


def test_text_is_text_whatever_its_declaration_says():
    text = '\n <?xml version="1.0" encoding="UTF-16"?><robot name="ü"><link name="a"/></robot>'
    assert load_mechanism(text.lstrip()).name == "ü"
    assert load_mechanism("\ufeff" + text.lstrip()).name == "ü"


@pytest.mark.parametrize(
    "options",
    [{"continuous": "degrees"}, {"on_inertia": "shout"}, {"package_dirs": "/one/folder"}, {"package_dirs": [3]}],
)
def test_wrong_options(options):
    with pytest.raises(ParameterError, match=f"option {next(iter(options))}: got .* expected"):
        load_mechanism(two_links(LIMIT), **options)


# --- real robots -------------------------------------------------------------------------------------------------

needs_robots = pytest.mark.skipif(robots_folder() is None, reason="the package example-robot-data is not installed")


@needs_robots
@pytest.mark.parametrize(
    "file", represented(urdf_files(), by=lambda f: f in urdf_files()[::4] or f.name in REFUSED), ids=lambda f: f.name
)
def test_robots_of_example_robot_data(file):
    if file.name in REFUSED:
        with pytest.raises(DescriptionError, match=f"{file.name}:\\d+: error: .*{REFUSED[file.name]}"):
            load_mechanism(file)
        return
    mechanism = load_mechanism(file, on_inertia="ignore")
    assert [f for f in check_urdf(file) if f.severity == "error"] == []
    children = {j.child for j in mechanism.joints}
    assert len(children) == len(mechanism.joints)
    assert len([b for b in mechanism.bodies if b.name not in children]) <= 1
    assert mechanism.model().nv == sum(j.joint.nv for j in mechanism.joints if not isinstance(j.joint, Mimic))


@needs_robots
@pytest.mark.parametrize("file", represented(urdf_files()[::9], by=urdf_files()[::18].count), ids=lambda f: f.name)
def test_a_damaged_robot_is_read_or_refused(file):
    content = file.read_bytes()
    random = np.random.default_rng(len(content))
    for _ in range(12):
        damaged = bytearray(content)
        for place in random.integers(len(content), size=random.integers(1, 4)):
            damaged[place : place + random.integers(1, 9)] = random.choice(list(b'0e-."<>/ a')).tobytes()[:1]
        check_urdf(bytes(damaged))


def test_joints_that_are_locked_for_want_of_limits_are_warned_of_once():
    """Newton's quadruped has twelve of them. Its legs stood still, and only `check` said why."""
    first, _, last = two_links('<limit effort="1" velocity="1"/>').partition("</robot>")[0].partition("<joint")
    more = last.replace('"j"', '"k"').replace('child link="b"', 'child link="c"')
    with pytest.warns(DescriptionWarning, match="missing and count as 0: joint 'j', joint 'k'") as told:
        joints = cardan.load_mechanism(f'{first}<link name="c"/><joint{last}<joint{more}</robot>').joints
    assert len(told) == 1
    assert [(c.limits.lower, c.limits.upper) for c in joints] == [((0.0,), (0.0,))] * 2
