"""SDF: what is read, against numbers worked out by hand; the planted faults and what each is told."""

from __future__ import annotations

import math
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import cardan
import cardan.formats
from cardan._reach.formats.load import describe
from cardan._reach.formats.reading import Options
from cardan._robot.records import Material
from cardan.description import Box, Capsule, Cone, Ellipsoid, Mesh, Plane
from cardan.errors import DescriptionError, DescriptionWarning
from cardan.joints import Fixed, FreeFlyer, Helical, Mimic, Prismatic, Revolute, Spherical, UnboundedRevolute, Universal
from cardan.spatial import SE3
from cardan.spatial.rotations import matrix_from_zyx
from mutations import mutant
from sdf_texts import TEXTS, collision, joint, link, model, sdf


@pytest.fixture(autouse=True)
def reference(reference_target):
    """Single calls of many models."""


def read(text: str, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return cardan.load_mechanism(text.encode(), **options)


def joints(text: str, **options):
    return {c.name: c for c in read(text, **options).joints}


def pose(x, y, z, roll, pitch, yaw) -> SE3:
    return SE3(matrix_from_zyx((yaw, pitch, roll)), (x, y, z))


def close(a, b, tolerance=1e-13) -> bool:
    return bool(np.allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=0.0, atol=tolerance))


def faults(text: str, **options) -> list[str]:
    return [str(fault) for fault in cardan.formats.check(text.encode(), **options)]


def errors(text: str, **options) -> list[str]:
    return [fault for fault in faults(text, **options) if "error:" in fault]


AXIS = "<axis><xyz>0 0 1</xyz></axis>"
TWO = link("base") + link("a", "<pose>1 2 3 0.1 0.2 0.3</pose>")
BASE, A = SE3.identity(), pose(1, 2, 3, 0.1, 0.2, 0.3)


def jointed(kind: str, inside: str = "<axis><xyz>0 0 1</xyz></axis>", version: str = "1.11", links: str = TWO):
    return joints(model(links + joint("j", kind, "base", "a", inside), version=version))["j"]


# --- poses and frames ---


def test_a_joint_stands_in_its_child_and_is_at_rest_where_the_links_are():
    c = jointed("revolute", "<pose>0.1 0 0 0 0 0.5</pose><axis><xyz>0 0 1</xyz></axis>")
    assert close(c.child_pose, pose(0.1, 0, 0, 0, 0, 0.5))
    assert close(c.parent_pose, A @ pose(0.1, 0, 0, 0, 0, 0.5))


def test_poses_of_a_chain_come_out_as_they_are_written():
    text = model(
        link("base") + link("a", '<pose relative_to="j"/>')
        + joint("j", "revolute", "base", "a", '<pose relative_to="base">0.1 0.7 0.3 0 0 0</pose>' + AXIS)
    )  # fmt: skip
    c = joints(text)["j"]
    assert tuple(c.parent_pose.translation) == (0.1, 0.7, 0.3)
    assert c.child_pose == SE3.identity()


def test_angles_in_degrees_and_quaternions_are_the_rotation_they_name():
    for text in (
        '<pose degrees="true">1 2 3 10 20 30</pose>',
        f"<pose>1 2 3 {math.radians(10)} {math.radians(20)} {math.radians(30)}</pose>",
        '<pose rotation_format="quat_xyzw">1 2 3 0.0381346 0.1893079 0.2392983 0.9515485</pose>',
    ):
        c = jointed("fixed", "", links=link("base") + link("a", text))
        assert close(c.parent_pose, pose(1, 2, 3, *map(math.radians, (10, 20, 30))), 1e-6)


def test_a_frame_without_relative_to_stands_in_what_it_is_attached_to():
    m = read(
        model(
            TWO + joint("j", "fixed", "base", "a", "")
            + '<frame name="f" attached_to="a"><pose>0 0 1 0 0 0</pose></frame>'
            + '<frame name="g" attached_to="f"><pose>0 1 0 0 0 0</pose></frame>'
            + '<frame name="h"><pose>5 0 0 0 0 0</pose></frame>'
            + '<frame name="k" attached_to="a"><pose relative_to="__model__">5 0 0 0 0 0</pose></frame>'
        )
    )  # fmt: skip
    frames = {f.name: f for f in m.frames}
    assert [frames[n].body for n in "fghk"] == ["a", "a", "base", "a"]
    assert close(frames["g"].pose, SE3(translation=(0, 1, 1)))
    assert close(frames["h"].pose, SE3(translation=(5, 0, 0)))
    assert close(frames["k"].pose, A.inverse() @ SE3(translation=(5, 0, 0)))


def test_a_model_stands_where_its_placement_frame_shall_be():
    inner = link("l", "<pose>0.1 0.2 0.3 0.4 0 0</pose>")
    text = model(link("base") + f'<model name="m" placement_frame="l"><pose>1 2 3 0 0 0.5</pose>{inner}</model>'
                 + joint("j", "fixed", "base", "m::l", ""))  # fmt: skip
    assert close(joints(text)["j"].parent_pose, pose(1, 2, 3, 0, 0, 0.5))


def test_the_root_frame_marks_where_the_file_has_the_only_part():
    text = model("<pose>0 0 1 0.5 0 0</pose>" + link("l"))
    with pytest.warns(DescriptionWarning, match="root='__root__'"):
        m = cardan.load_mechanism(text.encode())
    stands = m.model(root="__root__")
    X = np.asarray(cardan.frame_transform(stands, stands.neutral(), "l"))
    assert close(X, pose(0, 0, 1, 0.5, 0, 0).matrix())


# --- joints ---


def test_each_type_of_joint_is_the_one_of_the_catalogue():
    axis, two = "<axis><xyz>0 0 2</xyz></axis>", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>1 1 0</xyz></axis2>"
    kinds = {
        "revolute": axis, "continuous": axis, "prismatic": axis, "screw": axis, "universal": two, "revolute2": two,
        "ball": "", "fixed": "",
    }  # fmt: skip
    found = {kind: jointed(kind, inside).joint for kind, inside in kinds.items()}
    assert found["revolute"] == found["continuous"] == Revolute([0, 0, 1])
    assert found["prismatic"] == Prismatic([0, 0, 1])
    assert found["universal"] == found["revolute2"] == Universal([1, 0, 0], [1, 1, 0])
    assert (found["ball"], found["fixed"]) == (Spherical(), Fixed())
    text = model(TWO + joint("j", "continuous", "base", "a", axis))
    assert isinstance(joints(text, continuous="unit_complex")["j"].joint, UnboundedRevolute)


def test_both_spellings_of_a_screw_are_the_same_travel():
    axis = "<axis><xyz>0 0 1</xyz></axis>"
    new = jointed("screw", f"<screw_thread_pitch>0.5</screw_thread_pitch>{axis}").joint
    old = jointed("screw", f"<thread_pitch>{-2.0 * math.pi / 0.5!r}</thread_pitch>{axis}").joint
    assert isinstance(new, Helical)
    assert isinstance(old, Helical)
    assert new.pitch == pytest.approx(0.5 / (2.0 * math.pi), rel=1e-15)
    assert old.pitch == pytest.approx(new.pitch, rel=1e-15)


def test_an_axis_is_in_the_axes_its_version_says():
    R = A.rotation
    plain = "<axis><xyz>0 1 0</xyz></axis>"
    of_model = "<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>"
    assert jointed("revolute", plain).joint == Revolute([0, 1, 0])
    turned = (
        jointed("revolute", plain, "1.4"),
        jointed("revolute", of_model, "1.6"),
        jointed("revolute", '<axis><xyz expressed_in="__model__">0 1 0</xyz></axis>'),
        jointed("revolute", '<axis><xyz expressed_in="base">0 1 0</xyz></axis>'),
    )
    for c in turned:
        assert isinstance(c.joint, Revolute)
        assert close(c.joint.axis, R.T @ cardan.spatial.Vector3(0.0, 1.0, 0.0))


def test_limits_damping_friction_and_spring_are_those_of_the_file():
    c = joints(TEXTS["properties"])["j"]
    assert (c.limits.lower, c.limits.upper, c.limits.effort, c.limits.velocity) == ((-1.0,), (2.0,), (30.0,), (4.0,))
    assert (c.damping, c.friction, c.spring_stiffness, c.spring_rest) == ((0.5,), (0.25,), (10.0,), (0.3,))


@pytest.mark.parametrize("none", ["<lower>-1e16</lower><upper>1e16</upper><effort>-1</effort><velocity>-1</velocity>",
                                  "<lower>-inf</lower><upper>inf</upper><effort>inf</effort>", ""])  # fmt: skip
def test_what_sdf_writes_for_no_limit_is_none(none):
    limits = jointed("revolute", f"<axis><xyz>0 0 1</xyz><limit>{none}</limit></axis>").limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == ((-math.inf,), *((math.inf,),) * 3)


def test_two_axes_have_limits_and_damping_each():
    inside = "".join(
        f"<{tag}><xyz>{xyz}</xyz><limit><lower>{-k}</lower><upper>{k}</upper></limit>"
        f"<dynamics><damping>{k}</damping></dynamics></{tag}>"
        for tag, xyz, k in (("axis", "1 0 0", 1), ("axis2", "0 1 0", 2))
    )
    c = jointed("universal", inside)
    assert (c.limits.lower, c.limits.upper, c.damping) == ((-1.0, -2.0), (1.0, 2.0), (1.0, 2.0))


def test_a_mimic_follows_from_its_reference_on():
    follower = joints(TEXTS["mimic"])["k"].joint
    assert isinstance(follower, Mimic)
    assert (follower.primary, follower.multiplier, follower.offset) == ("j", 2.0, 0.5 - 2.0 * 0.1)


def test_a_joint_may_hang_on_the_world_and_another_close_a_loop():
    text = model(
        TWO + joint("w", "fixed", "world", "base", "") + joint("j", "revolute", "base", "a")
        + joint("k", "ball", "world", "a", "")
    )  # fmt: skip
    m = read(text).model()
    assert (m.joint_names, m.closure_names) == (("w", "j"), ("k",))
    assert close(m.closures[0].parent_pose, A)


# --- inertia and shapes ---


def test_the_inertia_is_about_the_centre_of_mass_in_its_pose():
    inertia = read(model(link("l"))).bodies[0].inertia
    R = matrix_from_zyx((0.6, -0.5, 0.4))
    moments = np.array([[0.3, 0.01, 0.0], [0.01, 0.4, 0.0], [0.0, 0.0, 0.5]])
    R = np.array([list(row) for row in R.rows()])
    assert (inertia.mass, close(inertia.com, (0.1, -0.2, 0.3))) == (2.0, True)
    xx, xy, xz, yy, yz, zz = inertia.inertia_at_com
    assert close([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], R @ moments @ R.T)


def test_automatic_inertia_is_that_of_the_collision_shapes():
    a, b = read(TEXTS["automatic_inertia"]).bodies
    box, capsule = Box((0.2, 0.3, 0.4)).inertia(300.0), Capsule(0.1, 0.4).inertia(900.0)
    assert a.inertia.mass == pytest.approx(box.mass + capsule.mass + Cone(0.2, 0.5).inertia(300.0).mass, rel=1e-14)
    (shape,) = (s for s in read(TEXTS["automatic_inertia"]).shapes if isinstance(s.geometry, Cone))
    assert shape.geometry == Cone(0.2, 0.5)
    assert close(b.inertia.parameters(), Ellipsoid((0.1, 0.2, 0.3)).inertia_of_mass(7.0).parameters())


def shape_of(inside: str, tag: str = "collision"):
    (shape,) = read(model(link("l", "", f'<{tag} name="s">{inside}</{tag}>'))).shapes
    return shape


def test_shapes_are_those_of_the_file():
    geometry = "<geometry>{}</geometry>"
    box = shape_of("<pose>1 0 0 0 0 0</pose>" + geometry.format("<box><size>1 2 3</size></box>"))
    assert (box.geometry, box.name, box.body, tuple(box.pose.translation)) == (
        Box((1, 2, 3)),
        "s",
        "l",
        (1.0, 0.0, 0.0),
    )
    mesh = shape_of(geometry.format("<mesh><uri>model://no/mesh.dae</uri><scale>1 2 3</scale></mesh>"))
    assert mesh.geometry == Mesh("model://no/mesh.dae", None, (1.0, 2.0, 3.0))
    plane = shape_of(geometry.format("<plane><normal>0 1 0</normal></plane>"))
    assert plane.geometry == Plane()
    assert close(plane.pose.rotation @ cardan.spatial.Vector3(0.0, 0.0, 1.0), (0, 1, 0))


def test_a_visual_has_the_colour_of_its_material():
    look = "<material><diffuse>1 0.5 0 0.8</diffuse><pbr><metal><albedo_map>a.png</albedo_map></metal></pbr></material>"
    ball = "<geometry><sphere><radius>1</radius></sphere></geometry>"
    shape = shape_of(ball + look + "<transparency>0.5</transparency>", "visual")
    assert (shape.rgba, shape.texture) == ((1.0, 0.5, 0.0, 0.4), "a.png")


def test_a_surface_becomes_a_material_of_contact():
    surface = (
        "<surface><friction><ode><mu>0.5</mu></ode><torsional><patch_radius>0.1</patch_radius>"
        "<coefficient>0.25</coefficient></torsional></friction>"
        "<bounce><restitution_coefficient>0.3</restitution_coefficient></bounce></surface>"
    )
    shape = shape_of("<geometry><sphere><radius>1</radius></sphere></geometry>" + surface)
    torsional = 3.0 * math.pi / 16.0 * 0.1 * 0.25  # what the moment is over the normal force; it was twice that
    assert shape.surface == Material(friction=0.5, restitution=0.3, torsional=torsional)


def test_shapes_collide_where_their_bitmasks_meet():
    ball = "<geometry><sphere><radius>1</radius></sphere></geometry>"
    masks = {"a": "0x1", "b": "2", "c": "3", "d": None}
    inside = "".join(
        f'<collision name="{name}">{ball}'
        + (f"<surface><contact><collide_bitmask>{bits}</collide_bitmask></contact></surface>" if bits else "")
        + "</collision>"
        for name, bits in masks.items()
    )
    shapes = {s.name: s for s in read(model(link("l", "", inside))).shapes}
    touch = {(x, y) for x in shapes for y in shapes if x < y and shapes[x].may_touch(shapes[y])}
    assert touch == {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")}


def test_a_category_collides_where_either_is_in_the_others_bitmask():
    masks = {"a": (1, 2), "b": (2, 4), "c": (4, 8), "d": (16, 16)}  # category and bitmask

    def contact(category, bits):
        inside = f"<collide_bitmask>{bits}</collide_bitmask><category_bitmask>{category}</category_bitmask>"
        return f"<surface><contact>{inside}</contact></surface>"

    inside = "".join(collision(name, "<sphere/>", contact(*pair)) for name, pair in masks.items())
    shapes = {s.name: s for s in read(model(link("l", "", inside))).shapes}
    touch = {(x, y) for x in shapes for y in shapes if x <= y and shapes[x].may_touch(shapes[y])}
    assert touch == {("a", "b"), ("b", "c"), ("d", "d")}


def test_sensors_are_frames():
    m = read(model(link("l", "", '<sensor name="eye" type="camera"><pose>0 0 1 0 0 0</pose><topic>t</topic></sensor>')))
    (frame,) = m.frames
    assert (frame.name, frame.body, frame.kind, tuple(frame.pose.translation)) == (
        "l::eye",
        "l",
        "sensor",
        (0.0, 0.0, 1.0),
    )


# --- models, worlds, files ---


def test_a_world_is_one_mechanism_whose_models_float_or_stand():
    m = read(TEXTS["world"])
    assert m.name == "w"
    assert tuple(m.gravity) == (0.0, 1.0, -3.0)
    assert [b.name for b in m.bodies] == ["box::l", "arm::base", "arm::a", "floor::l"]
    kinds = {c.name: type(c.joint) for c in m.joints}
    assert kinds == {"arm::j": Revolute, "floor::l_static": Fixed, "box::root": FreeFlyer, "arm::root": FreeFlyer}
    robot = m.model()
    X = np.asarray(cardan.frame_transform(robot, robot.neutral(), "box::l"))
    assert close(X, (pose(1, 2, 3, 0.1, 0.2, 0.3) @ pose(0.3, -0.1, 0.5, 0.2, -0.4, 0.7)).matrix())


def test_one_model_of_a_world_has_plain_names_and_the_worlds_gravity():
    m = read(TEXTS["world"], model="arm")
    assert ([b.name for b in m.bodies], [c.name for c in m.joints]) == (["base", "a"], ["j"])
    assert tuple(m.gravity) == (0.0, 1.0, -3.0)
    assert tuple(read(sdf(f'<world name="w"><model name="m">{link("l")}</model></world>')).gravity) == (0.0, 0.0, -9.8)
    with pytest.raises(DescriptionError, match="there is no model 'leg'"):
        read(TEXTS["world"], model="leg")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A world, and beside it models in folders."""
    for name, inside in (
        ("wheel", link("hub", "<pose>0 0 1 0 0 0</pose>") + '<frame name="rim"><pose>1 0 0 0 0 0</pose></frame>'),
        ("car", "<include><uri>model://wheel</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>" + link("body")
         + joint("j", "revolute", "body", "left::hub")),
    ):  # fmt: skip
        place = tmp_path / name
        place.mkdir()
        (place / "new.sdf").write_text(model(inside, name))
        (place / "old.sdf").write_text("never read")
        (place / "model.config").write_text(
            f'<model><name>{name}</name><sdf version="1.4">old.sdf</sdf><sdf version="1.9">new.sdf</sdf></model>'
        )
    return tmp_path


def included(folder: Path, inside: str, **options):
    file = folder / "world.sdf"
    file.write_text(sdf(f'<world name="w">{inside}</world>'))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return cardan.load_mechanism(file, **options)


def test_an_include_names_places_and_fixes_what_it_includes(folder):
    inside = (
        "<include><uri>model://car</uri><name>taxi</name></include>"
        "<include><uri>wheel</uri><pose>5 0 0 0 0 0</pose><placement_frame>rim</placement_frame>"
        "<static>1</static></include>"
        "<include><uri>wheel/new.sdf</uri><name>spare</name></include>"
    )
    m = included(folder, inside, package_dirs=[folder])
    assert [b.name for b in m.bodies] == ["taxi::left::hub", "taxi::body", "wheel::hub", "spare::hub"]
    fixed = next(c for c in m.joints if c.name == "wheel::hub_static")
    assert close(fixed.parent_pose, SE3(translation=(4, 0, 1)))
    assert close(next(c for c in m.joints if c.name == "taxi::j").parent_pose, SE3(translation=(0, 1, 1)))


def test_a_urdf_may_be_included(folder):
    urdf = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/></joint></robot>"""
    (folder / "r.urdf").write_text(urdf)
    m = included(folder, "<include><uri>r.urdf</uri><pose>0 0 1 0 0 0</pose><static>0</static></include>")
    assert [b.name for b in m.bodies] == ["a", "b"]
    assert close(next(c for c in m.joints if c.name == "j").parent_pose, SE3(translation=(1, 0, 0)))
    (folder / "r.urdf").write_text(urdf.replace("continuous", "planar"))
    with pytest.raises(DescriptionError, match=r"r.urdf:1: error: SDF cannot take joint 'j', Planar"):
        included(folder, "<include><uri>r.urdf</uri></include>")


def test_actuators_of_a_urdf_that_is_included_are_warned_about(folder):
    """They were lost without a word: SDF has none, and a URDF is included as SDF."""
    (folder / "r.urdf").write_text(
        """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
        <child link="b"/></joint><ros2_control name="c" type="system"><joint name="j">
        <command_interface name="effort"/></joint></ros2_control></robot>"""
    )
    (folder / "world.sdf").write_text(sdf('<world name="w"><include><uri>r.urdf</uri></include></world>'))
    with pytest.warns(DescriptionWarning, match=r"r.urdf:1: warning: 1 actuator\(s\) of the URDF are left out"):
        cardan.load_mechanism(folder / "world.sdf")


def test_the_name_of_a_lone_include_is_that_of_the_mechanism(folder):
    """It was that of the file which is included."""
    (folder / "taxi.sdf").write_text(sdf("<include><uri>car</uri><name>taxi</name></include>"))
    assert cardan.load_mechanism(folder / "taxi.sdf", package_dirs=[folder]).name == "taxi"


def test_a_world_without_bodies_is_told_of(folder):
    with pytest.warns(DescriptionWarning, match="the mechanism has no body"):
        m = cardan.load_mechanism(sdf('<world name="w"><gravity>0 0 -1</gravity></world>').encode())
    assert (m.bodies, tuple(m.gravity)) == ((), (0.0, 0.0, -1.0))


def test_a_merged_include_stands_in_its_parent(folder):
    merged = '<include merge="true"><uri>wheel</uri><pose>0 0 2 0 0 0</pose></include>'
    inside = link("l") + merged + joint("j", "fixed", "l", "hub", "") + '<frame name="f" attached_to="rim"/>'
    m = included(folder, f'<model name="m">{inside}</model>')
    assert [b.name for b in m.bodies] == ["l", "hub"]
    assert close(next(c for c in m.joints if c.name == "j").parent_pose, SE3(translation=(0, 0, 3)))
    assert {f.name: f.body for f in m.frames} == {"rim": "hub", "f": "hub"}


def test_faults_of_an_included_file_name_that_file(folder):
    (folder / "wheel" / "new.sdf").write_text(model('\n<link name="hub"><pose>1 2</pose></link>'))
    with pytest.raises(DescriptionError) as caught:
        included(folder, "<include><uri>wheel</uri></include>")
    (fault,) = caught.value.faults
    assert (Path(fault.file), fault.line) == (folder / "wheel" / "new.sdf", 5)
    assert "expected 6 numbers" in fault.message


def test_a_file_that_lies_in_a_folder_of_package_dirs_is_found(folder):
    m = included(folder, "<include><uri>new.sdf</uri></include>", package_dirs=[folder / "wheel"])
    assert [b.name for b in m.bodies] == ["hub"]


def test_no_include_leads_out_of_the_folder_or_round(folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "m.sdf").write_text(model(link("l")))
    for uri in (f"file://{outside}/m.sdf", f"../{outside.name}/m.sdf", f"{outside}/m.sdf"):
        with pytest.raises(DescriptionError, match=r"leads out of the folder.*package_dirs=\[folder\]"):
            included(folder, f"<include><uri>{uri}</uri></include>")
    assert included(folder, f"<include><uri>file://{outside}/m.sdf</uri></include>", package_dirs=[outside]).bodies
    with pytest.raises(DescriptionError, match="'nowhere' is not found; say where to look with package_dirs"):
        included(folder, "<include><uri>nowhere</uri></include>")
    with pytest.raises(DescriptionError, match="this file includes itself"):
        included(folder, "<include><uri>world.sdf</uri></include>")
    (folder / "a.sdf").write_text(model("<include><uri>b.sdf</uri></include>", "a"))
    (folder / "b.sdf").write_text(model("<include><uri>a.sdf</uri></include>", "b"))
    with pytest.raises(DescriptionError, match="this file includes itself"):
        included(folder, "<include><uri>a.sdf</uri></include>")


@pytest.mark.slow
def test_a_few_files_that_include_one_another_often_are_no_million(folder):
    for k in range(10):
        names = "".join(f"<include><uri>f{k + 1}.sdf</uri><name>n{i}</name></include>" for i in range(8))
        (folder / f"f{k}.sdf").write_text(model(names + link("l")))
    (folder / "f10.sdf").write_text(model(link("l")))
    with pytest.raises(DescriptionError, match="more than 1000 files"):
        included(folder, "<include><uri>f0.sdf</uri></include>")


# --- what is not used ---


def test_links_of_a_model_touch_where_either_or_the_model_says_so():
    touches = "<self_collide>true</self_collide>"
    three = link("a") + link("b", inside="<self_collide>0</self_collide>") + link("c", inside="{}")
    for inside, expected in (("", (False, ())), (touches, (True, (("a", "b"),)))):
        m = read(model(three.format(inside)))
        assert (m.self_collision, m.disabled_contacts) == expected
    m = read(model(touches + link("a") + link("b")))
    assert (m.self_collision, m.disabled_contacts) == (True, ())
    assert read(cardan.formats.sdf.write(m)).self_collision


def test_everything_a_reader_skips_is_a_remark():
    told = faults(
        sdf(
            '<world name="w"><physics type="ode"/><light name="s"/><plugin name="p"/><nonsense/>'
            f'<model name="m" colour="red"><plugin name="p"/>{link("l", "", "<velocity_decay/><x/>")}</model></world>'
        )
    )
    for tag in ("physics", "light", "plugin", "nonsense", "colour", "velocity_decay", "<x>"):
        assert any(tag in fault for fault in told), tag


def test_faults_of_names_of_included_models_are_at_their_includes(tmp_path: Path):
    """They were at a line of the file that is included, in which nothing is wrong."""
    (tmp_path / "arm.sdf").write_text(model("\n\n" + link("a"), name="arm"))
    twice = "<include><uri>arm.sdf</uri></include>\n" * 2
    (tmp_path / "hall.sdf").write_text(sdf(f'<world name="hall">\n{twice}</world>'))
    (fault,) = cardan.formats.check(tmp_path / "hall.sdf")
    assert (Path(fault.file).name, fault.line) == ("hall.sdf", 5)
    assert "there is already a model named 'arm' in line 4" in fault.message


def test_a_collision_of_a_shape_that_is_not_had_is_a_warning():
    """The ground of a file was missing, and only `check` said so."""
    with pytest.warns(DescriptionWarning, match="a collision touches nothing: its <heightmap> is left out"):
        cardan.load_mechanism(model(link("a", inside=collision("c", "<heightmap/>"))).encode())


def test_what_changes_the_motion_and_is_not_had_is_a_warning():
    with pytest.warns(DescriptionWarning, match="asks for no gravity"):
        cardan.load_mechanism(model(link("l", "", "<gravity>false</gravity>")).encode())


def test_what_sdf_dropped_is_no_part_of_later_versions():
    old = '<pose frame="base">0 0 0 0 0 0</pose>', "<use_parent_model_frame>1</use_parent_model_frame>"
    text = model(TWO + f'<joint name="j" type="revolute"><parent>base</parent><child>a</child>{old[0]}'
                 f"<axis><xyz>0 1 0</xyz>{old[1]}</axis></joint>")  # fmt: skip
    with pytest.warns(DescriptionWarning, match="means nothing since SDF 1.7"):
        (c,) = cardan.load_mechanism(text.encode()).joints
    assert (c.joint, c.child_pose) == (Revolute([0, 1, 0]), SE3.identity())


def test_everything_has_a_place(folder):
    (folder / "w.sdf").write_text(TEXTS["world"])
    found = describe(folder / "w.sdf", Options())
    assert isinstance(found.thing, cardan.Mechanism)
    for kind, names in (("body", found.thing.bodies), ("joint", found.thing.joints), ("frame", found.thing.frames)):
        assert all((kind, x.name) in found.report.places for x in names)


# --- faults ---

FAULTS = {
    "no version": ("<sdf><model name='m'/></sdf>", "<sdf> needs a non-empty attribute 'version'"),
    "a version of the future": (model(link("l"), version="2.0"), "SDF version '2.0' is not known; the versions"),
    "nothing": (sdf(""), "<sdf> holds no <model> and no <world>"),
    "no link": (model(""), "model 'robot' has no <link>; a model needs one"),
    "no name": (model("<link/>"), "<link> needs a non-empty attribute 'name'"),
    "two of a name": (model(link("l") + link("l")), "there is already a link named 'l' in line 4"),
    "a reserved name": (model(link("__l__")), "the name is reserved"),
    "the world's name": (model(link("world")), "the name is reserved"),
    "a scoped name": (model(link("a::b")), "a name may not contain '::'"),
    "five numbers": (model(link("l", "<pose>1 2 3 4 5</pose>")), "<pose>: expected 6 numbers separated by"),
    "a comma": (model(link("l", "<pose>0,1 0 0 0 0 0</pose>")), "'0,1' is not a number; use a decimal point"),
    "not a number": (model(link("l", "<pose>nan 0 0 0 0 0</pose>")), "nan is not a finite number"),
    "a rotation format": (model(link("l", '<pose rotation_format="xyz">0 0 0 0 0 0</pose>')), "expected 'euler_rpy'"),
    "a zero quaternion": (
        model(link("l", '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>')), "the quaternion has no direction"),
    "a negative mass": (model(link("l", mass=-1.0)), "<mass>: -1 is too small; expected a number >= 0"),
    "no frame of that name": (model(link("base", '<pose relative_to="bsae">0 0 0 0 0 0</pose>')),
                              "pose of link 'base': there is no 'bsae' in model 'robot'; did you mean 'base'?"),
    "poses in a circle": (
        model(link("a", '<pose relative_to="b"/>') + link("b", '<pose relative_to="a"/>')
              + joint("j", "fixed", "a", "b", "")), "the poses go round in a circle: 'a' -> 'b' -> 'a'"),
    "frames in a circle": (
        model(link("l") + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'),
        "the attachments go round in a circle: 'f' -> 'g' -> 'f'"),
    "a joint of no kind": (model(TWO + joint("j", "revolut", "base", "a")), "no joint type 'revolut'; did you mean"),
    "a gearbox": (model(TWO + joint("j", "gearbox", "base", "a")), "joint 'j' is a gearbox: it ties the angles"),
    "no child of that name": (model(TWO + joint("j", "ball", "base", "b", "")), "child of joint 'j': there is no 'b'"),
    "no parent": (model(TWO + '<joint name="j" type="ball"><child>a</child></joint>'), "needs a <parent> element"),
    "a world as child": (model(TWO + joint("j", "ball", "a", "world", "")), "the child cannot be the world; swap"),
    "a joint on one link": (model(TWO + joint("j", "ball", "a", "a", "")), "connects body 'a' with itself"),
    "no second axis": (model(TWO + joint("j", "universal", "base", "a", AXIS)), "needs <axis> and <axis2>; add"),
    "parallel axes": (
        model(TWO + joint("j", "revolute2", "base", "a", AXIS + "<axis2><xyz>0 0 1</xyz></axis2>")), "not parallel"),
    "a zero axis": (
        model(TWO + joint("j", "revolute", "base", "a", "<axis><xyz>0 0 0</xyz></axis>")), "the axis has length 0"),
    "limits that cross": (
        model(TWO + joint("j", "revolute", "base", "a",
                          "<axis><xyz>0 0 1</xyz><limit><lower>1</lower><upper>-1</upper></limit></axis>")),
        "lower limit 1 exceeds upper limit -1; swap them?"),
    "a thread of no turn": (
        model(TWO + joint("j", "screw", "base", "a", "<thread_pitch>0</thread_pitch>" + AXIS)), "0 rad/m is no thread"),
    "a mimic of nothing": (
        model(TWO + joint("j", "revolute", "base", "a", '<axis><xyz>0 0 1</xyz><mimic joint="a"/></axis>')),
        "<mimic> of joint 'j': 'a' is no joint"),
    "a mimic of itself": (
        model(TWO + joint("j", "revolute", "base", "a", '<axis><xyz>0 0 1</xyz><mimic joint="j"/></axis>')), "mimic"),
    "an unknown canonical link": (model(link("l"), attributes=' canonical_link="k"'), "canonical_link: there is no"),
    "an unknown placement": (model(link("l"), attributes=' placement_frame="k"'), "placement_frame: there is no 'k'"),
    "nothing to weigh": (
        model('<link name="l"><inertial auto="true"/></link>'), "needs a <collision> with a volume and a density"),
    "two shapes in one": (
        model(link("l", "", collision("c", "<box/><sphere/>"))), "<geometry> holds one shape"),
    "a flag": (model("<static>maybe</static>" + link("l")), "<static>: 'maybe' is neither true nor false"),
    "a bitmask": (
        model(link("l", "", collision(
            "c", "<box/>", "<surface><contact><collide_bitmask>70000</collide_bitmask></contact></surface>"))),
        "is no whole number of 16 bits"),
    "another's include": (model("<include><uri>x</uri><experimental:params/></include>" + link("l")),
                          "<experimental:params> in <include> is refused"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_says_what_is_wrong(name):
    text, message = FAULTS[name]
    found = errors(text)
    assert any(message in fault for fault in found), found
    assert all(fault.split(":")[1].isdigit() for fault in found), found


def test_a_density_that_is_none_is_told_of_once():
    box = "<collision name='c'><density>x</density><geometry><box><size>1 1 1</size></box></geometry></collision>"
    assert [fault.split(": ", 2)[2] for fault in errors(model(link("l", box)))] == ["<density>: 'x' is not a number"]


def test_all_faults_are_told_at_once():
    text = model(
        link("a", "<pose>1 2 3</pose>") + link("b", mass=-1.0) + joint("j", "hinge", "a", "b")
        + joint("k", "revolute", "a", "c") + '<frame name="f" attached_to="nowhere"/>'
    )  # fmt: skip
    assert len(errors(text)) == 5


# --- hostile files ---


def outcome(content: bytes) -> str:
    """Return what became of reading a file: a mechanism, or faults with places."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cardan.load_mechanism(content)
    except DescriptionError as error:
        return "refused" if all(fault.line or "empty" in fault.message for fault in error.faults) else "no place"
    return "read"


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(100, 300), marks=pytest.mark.full)], ids=str)
def test_mutants_are_read_or_refused_with_a_place(seeds):
    texts = list(TEXTS.values())
    found = [outcome(mutant(texts[seed % len(texts)], random.Random(seed))) for seed in seeds]
    assert set(found) <= {"read", "refused"}


CORPUS = os.environ.get("CARDAN_SDF_CORPUS", "")


@pytest.mark.full
@pytest.mark.skipif(not CORPUS, reason="CARDAN_SDF_CORPUS names no corpus")
def test_the_corpus_is_read_or_refused_with_a_place():
    files = sorted(Path(CORPUS).rglob("*.sdf"))
    folders = sorted({file.parent.parent for file in Path(CORPUS).rglob("model.config")})
    for file in files:
        found = cardan.formats.check(file, package_dirs=folders)
        assert all(fault.line for fault in found if fault.severity == "error"), found


@pytest.mark.parametrize(
    ("decay", "is_warned_of"), [("<linear>0.1</linear>", True), ("<linear>0</linear>", False), ("", False)]
)
def test_a_damping_that_is_not_read_is_warned_of(decay, is_warned_of):
    text = (
        f'<sdf version="1.9"><model name="m">{link("l", "", f"<velocity_decay>{decay}</velocity_decay>")}</model></sdf>'
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cardan.load_mechanism(text)
    assert any("<velocity_decay> in <link> is skipped" in str(warning.message) for warning in caught) == is_warned_of
