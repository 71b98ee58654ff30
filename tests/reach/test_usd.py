"""The USD reader: units, axes, scale, masses, joints, faults. The extra `usd` brings what it needs."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cardan
from cardan._reach.formats.load import describe
from cardan._reach.formats.reading import Options
from cardan._robot.geometry import shapes
from cardan.errors import DescriptionError, DescriptionWarning, ParameterError
from cardan.joints import (
    D6,
    Cylindrical,
    Distance,
    Fixed,
    FreeFlyer,
    Polynomial,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from cardan.spatial.rotations import matrix_about_axis
from usd_faults import COLLIDES, DOUBTED, HEADER, MASS, PLANTED, REMARKED, at, body, joint, prim, world

pytest.importorskip("pxr", reason="the extra usd is not installed")


def read(text: str, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return cardan.formats.load_mechanism(text, **options)


def only_joint(kind: str, content: str = "", apis: str = "", **units):
    m = read(world(body("A"), body("B"), joint(kind, content, apis), **units))
    return next(c for c in m.joints if c.name == "J")


def remarks(text: str, **options) -> str:
    return "\n".join(map(str, describe(text, Options(**options)).report.faults()))


# --- units, axes, scale ----------------------------------------------------------------------------------------------


def test_a_file_opens_by_its_ending_and_by_its_content(tmp_path: Path) -> None:
    text = world(body("A"))
    file = tmp_path / "robot.usda"
    file.write_text(text)
    assert cardan.load(file).nv == 6
    assert cardan.load(text).nv == 6
    assert cardan.load(text.encode()).nv == 6
    assert read(text) == read(text.encode())


def test_binary_files_and_packages_open_too(tmp_path: Path) -> None:
    from pxr import Sdf, UsdUtils

    text = world(body("A"), body("B"), joint("Revolute"))
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    for name in ("robot.usdc", "robot.usd"):
        layer.Export(str(tmp_path / name))
    UsdUtils.CreateNewUsdzPackage(str(tmp_path / "robot.usdc"), str(tmp_path / "robot.usdz"))
    for name in ("robot.usdc", "robot.usd", "robot.usdz"):
        assert read(str(tmp_path / name)) == read(text), name
    assert read((tmp_path / name).read_bytes()) == read(text), name


def test_units_of_the_stage_become_metres_kilograms_and_seconds() -> None:
    text = world(
        body("A", MASS + "\npoint3f physics:centerOfMass = (100, 0, 0)\n" + at(x=300)),
        body("B"),
        joint("Prismatic", "float physics:lowerLimit = -50\nfloat physics:upperLimit = 200\n", ends="- A"),
        m=0.01,
        kg=1000,
    )
    m = read(text)
    inertia = m.bodies[0].inertia
    assert inertia.mass == 2000.0
    assert_allclose(tuple(inertia.com), (1, 0, 0))
    assert_allclose(inertia.inertia_at_com.matrix().rows()[2][2], 2.5 * 1000 * 1e-4, rtol=1e-6)
    assert_allclose((m.joints[0].limits.lower[0], m.joints[0].limits.upper[0]), (-0.5, 2.0))
    assert_allclose(m.named_configurations["initial"]["J"], 3.0)


def test_what_a_stage_does_not_say_of_units_means_what_usd_says() -> None:
    text = "#usda 1.0\n" + prim("Xform", "World", "", "", body("A", MASS + "\n" + at(y=100)))
    m = read(text)
    assert_allclose(m.named_configurations["initial"]["root"][:3], (0, 0, 1.0), atol=1e-15)  # Y is up, in centimetres
    assert "says no metersPerUnit" in remarks(text)
    assert "says no upAxis" in remarks(text)


def test_y_up_is_turned_so_that_z_is_up() -> None:
    text = world(body("A"), prim("PhysicsScene", "Scene", "float physics:gravityMagnitude = 981"), up="Y", m=0.01)
    m = read(text)
    assert_allclose(m.gravity, (0, 0, -9.81), rtol=1e-6)
    X = m.transform(m.named_configurations["initial"], "A", "world")
    assert_allclose(X[:3, :3], [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-15)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", (0, 0, -9.81)),
        ("float physics:gravityMagnitude = -inf", (0, 0, -9.81)),
        ("vector3f physics:gravityDirection = (1, 0, 0)\nfloat physics:gravityMagnitude = 2", (2, 0, 0)),
        ("vector3f physics:gravityDirection = (0, 0, 0)\nfloat physics:gravityMagnitude = 0", (0, 0, 0)),
    ],
)
def test_gravity(content: str, expected: tuple[float, ...]) -> None:
    assert_allclose(read(world(body("A"), prim("PhysicsScene", "S", content))).gravity, expected, atol=1e-15)


def test_scale_moves_anchors_and_centres_but_is_no_part_of_a_pose() -> None:
    scaled = at(x=1, scale=(2, 3, 4), turn=90)
    text = world(
        body("A", MASS + "\npoint3f physics:centerOfMass = (1, 1, 1)\n" + scaled),
        body("B"),
        joint("Fixed", "point3f physics:localPos0 = (1, 0, 0)"),
    )
    m = read(text)
    assert_allclose(tuple(m.bodies[0].inertia.com), (2, 3, 4))
    assert_allclose(m.joints[0].parent_pose.matrix(), [[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    X = m.transform(m.named_configurations["initial"], "A", "world")
    assert_allclose(X, [[0, -1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-15)


# --- masses ----------------------------------------------------------------------------------------------------------

BOX = "double size = 1\n"


def inertia_of(content: str, *inside: str):
    return read(world(body("A", content, *inside))).bodies[0].inertia


def test_principal_axes_turn_the_diagonal() -> None:
    half = math.sqrt(0.5)
    inertia = inertia_of(MASS + f"\nquatf physics:principalAxes = ({half}, 0, 0, {half})")
    assert_allclose(np.diag(inertia.inertia_at_com.matrix().rows()), (2, 1, 2.5), rtol=1e-6)


@pytest.mark.parametrize(
    ("own", "collider", "mass"),
    [
        ("", "", 1000.0),
        ("float physics:density = 500", "", 500.0),
        ("float physics:density = 500", "float physics:density = 20", 20.0),
        ("float physics:density = 500", "float physics:mass = 3", 3.0),
        ("float physics:mass = 7", "float physics:mass = 3", 7.0),
    ],
)
def test_mass_goes_before_density_and_the_body_before_its_colliders(own: str, collider: str, mass: float) -> None:
    inertia = inertia_of(own, prim("Cube", "C", BOX + collider, f"{COLLIDES} PhysicsMassAPI"))
    assert_allclose(inertia.mass, mass)
    assert_allclose(np.diag(inertia.inertia_at_com.matrix().rows()), mass / 6.0)


def test_density_of_a_material_counts_after_that_of_bodies() -> None:
    material = prim("Material", "Steel", "float physics:density = 7800", "PhysicsMaterialAPI")
    bound = prim("Cube", "C", BOX + "rel material:binding = </World/Steel>", f"{COLLIDES} MaterialBindingAPI")
    assert_allclose(read(world(body("A", "", bound), material)).bodies[0].inertia.mass, 7800)
    heavy = body("A", "float physics:density = 5", bound)
    assert_allclose(read(world(heavy, material)).bodies[0].inertia.mass, 5)


CENTRE = "point3f physics:centerOfMass = (1, 0, 0)\n"
MOMENTS = "float3 physics:diagonalInertia = (1, 2, 2.5)\n"


@pytest.mark.parametrize(
    ("own", "collider", "centre", "moments"),
    [
        ("", "", (0, 0, 1), (1, 1, 1)),
        ("", CENTRE, (0, 1, 1), (7, 1, 7)),
        ("", MOMENTS, (0, 0, 1), (2, 1, 2.5)),
        ("", CENTRE + MOMENTS, (0, 1, 1), (2, 1, 2.5)),
        ("float physics:mass = 3", MOMENTS, (0, 0, 1), (1, 0.5, 1.25)),
        (CENTRE, "", (1, 0, 0), (7, 13, 7)),
        (CENTRE + MOMENTS, "", (1, 0, 0), (1, 2, 2.5)),
    ],
)
def test_centre_and_moments_stated_by_a_collider_count_and_a_centre_alone_moves_no_matter(
    own: str, collider: str, centre: tuple[float, ...], moments: tuple[float, ...]
) -> None:
    """The answers of UsdPhysics' own ComputeMassProperties."""
    cube = BOX + "float physics:mass = 6\n" + collider + at(z=1, turn=90)
    inertia = inertia_of(own, prim("Cube", "C", cube, f"{COLLIDES} PhysicsMassAPI"))
    assert_allclose(tuple(inertia.com), centre, atol=1e-7)
    assert_allclose(np.diag(inertia.inertia_at_com.matrix().rows()), moments, rtol=1e-6)


def test_an_inertia_by_its_six_numbers_counts_before_the_diagonal() -> None:
    """Newton writes it so. It was passed over, and the diagonal of the same body taken."""
    six = "\nfloat[] newton:inertia = [3, 4, 5, 0.1, 0.2, 0.3]"
    inertia = read(world(body("A", MASS + six, apis="NewtonMassAPI"), m=0.1)).bodies[0].inertia
    expected = 0.01 * np.array([[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]])
    assert_allclose(inertia.inertia_at_com.matrix().rows(), expected, rtol=1e-7)
    for wrong in ("[3, 4]", "[3, nan, 5, 0, 0, 0]"):
        text = world(body("A", MASS + f"\nfloat[] newton:inertia = {wrong}", apis="NewtonMassAPI"))
        assert "newton:inertia: expected six finite numbers" in remarks(text)


@pytest.mark.parametrize("m", [1.0, 0.01])
def test_a_mass_without_an_inertia_is_a_ball_as_openusd_has_it(m: float) -> None:
    """It had none here: what floated so had accelerations that are not finite."""
    from pxr import Usd, UsdPhysics

    text = world(body("A", "float physics:mass = 2"), m=m)
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(text)
    there = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/World/A"))
    mass, moments, *_ = there.ComputeMassProperties(lambda _: UsdPhysics.RigidBodyAPI.MassInformation())
    inertia = read(text).bodies[0].inertia
    assert inertia.mass == mass
    assert_allclose(np.diag(inertia.inertia_at_com.matrix().rows()), np.array(moments) * m * m, rtol=1e-6)


def test_a_sheared_collider_is_warned_about_whenever_the_file_is_read() -> None:
    """Its mass is that of another solid."""
    cube = prim("Cube", "C", at(turn=30), COLLIDES)
    with pytest.warns(DescriptionWarning, match="its transform shears it"):
        cardan.formats.load_mechanism(world(prim("Xform", "S", at(scale=(1, 3, 1)), "", body("A", "", cube))))


@pytest.mark.parametrize("said", ['token newton:massModel = "shell"', "bool mjc:shellinertia = true"])
def test_a_shell_is_warned_about_where_its_mass_counts(said: str) -> None:
    """It was weighed as a solid without a word."""
    cube = prim("Cube", "C", f"uniform {said}", COLLIDES)
    with pytest.warns(DescriptionWarning, match="weighed as a solid"):
        cardan.formats.load_mechanism(world(body("A", "", cube)))
    assert "shell" not in remarks(world(body("A", f"{MASS}\n{CENTRE}", cube)))


@pytest.mark.parametrize("kind", ["MjcActuator", "MjcTendon", "NewtonActuator"])
def test_what_would_move_a_robot_is_warned_about_whenever_the_file_is_read(kind: str) -> None:
    """Motors were lost without a word."""
    with pytest.warns(DescriptionWarning, match=f"/World/M: warning: {kind} is not used: "):
        cardan.formats.load_mechanism(world(body("A"), prim(kind, "M")))


def test_only_meshes_have_an_approximation() -> None:
    """Balls were told to touch as their hulls, which they do not."""
    ball = prim("Sphere", "S", 'uniform token physics:approximation = "boundingSphere"', COLLIDES)
    assert "approximation" not in remarks(world(body("A", MASS, ball)))


def test_several_colliders_are_one_body() -> None:
    far = prim("Sphere", "S", "double radius = 0.5\n" + at(x=2), COLLIDES)
    inertia = inertia_of("float physics:density = 1", prim("Cube", "C", BOX, COLLIDES), far)
    ball = math.pi / 6
    assert_allclose(inertia.mass, 1 + ball)
    assert_allclose(inertia.com[0], 2 * ball / (1 + ball))
    own = inertia_of("float physics:mass = 10", prim("Cube", "C", BOX, COLLIDES), far)
    assert_allclose(
        own.inertia_at_com.matrix().rows()[1][1], inertia.inertia_at_com.matrix().rows()[1][1] * 10 / (1 + ball)
    )


CUBE_MESH = (
    "point3f[] points = [(0,0,0),(1,0,0),(1,1,0),(0,1,0),(0,0,1),(1,0,1),(1,1,1),(0,1,1)]\n"
    "int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]\n"
    "int[] faceVertexIndices = [0,3,2,1, 4,5,6,7, 0,1,5,4, 2,3,7,6, 1,2,6,5, 0,4,7,3]\n"
)


def test_a_closed_mesh_has_a_mass_and_an_open_one_none() -> None:
    inertia = inertia_of("", prim("Mesh", "M", CUBE_MESH + at(scale=(2, 1, 1)), COLLIDES))
    assert_allclose(inertia.mass, 2000.0)
    assert_allclose(tuple(inertia.com), (1, 0.5, 0.5))
    opened = CUBE_MESH.replace("[4, 4, 4, 4, 4, 4]", "[4, 4, 4, 4, 4]").replace(", 0,4,7,3]", "]")
    text = world(body("A", "", prim("Mesh", "M", opened, COLLIDES)))
    assert "leaves the inside open" in remarks(text)


def test_a_mesh_keeps_its_file_and_path_and_has_the_same_volume_from_there(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    file = tmp_path / "robot.usda"
    file.write_text(world(body("A", MASS, prim("Mesh", "M", CUBE_MESH + at(scale=(2, 1, 1)), COLLIDES)), m=0.1))
    mesh = read(str(file)).shapes[0].geometry
    assert isinstance(mesh, shapes.Mesh)
    assert mesh.uri == "robot.usda#/World/A/M"
    assert_allclose(mesh.volume, 2e-3)
    assert_allclose(tuple(mesh.inertia(1.0).com), (0.1, 0.05, 0.05))


# --- joints ----------------------------------------------------------------------------------------------------------


def test_limits_and_gains_are_per_degree() -> None:
    c = only_joint(
        "Revolute",
        'uniform token physics:axis = "Z"\nfloat physics:lowerLimit = -90\nfloat physics:upperLimit = 45\n'
        "float drive:angular:physics:stiffness = 10\nfloat drive:angular:physics:damping = 1\n"
        "float drive:angular:physics:maxForce = 5\nfloat physxJoint:armature = 0.25\n"
        "float physxJoint:maxJointVelocity = 180\nfloat newton:friction = 0.5",
        "PhysicsDriveAPI:angular",
        m=0.1,
        kg=2,
    )
    unit = 2 * 0.01
    assert_allclose(tuple(c.joint.axis), (0, 0, 1))
    assert_allclose((c.limits.lower[0], c.limits.upper[0]), (-math.pi / 2, math.pi / 4))
    assert_allclose((c.drive_stiffness[0], c.drive_damping[0]), (10 * unit * 180 / math.pi, unit * 180 / math.pi))
    assert_allclose((c.limits.effort[0], c.armature[0], c.friction[0]), (5 * unit, 0.25 * unit, 0.5 * unit))
    assert_allclose(c.limits.velocity[0], math.pi)


def test_of_several_programs_numbers_that_differ_the_one_taken_is_said() -> None:
    said = "".join(f"float {name}:armature = {x}\n" for name, x in (("physxJoint", 0.2), ("mjc", 0.3)))
    text = world(body("A"), body("B"), joint("Revolute", said))
    assert "mjc:armature is 0.3" in remarks(text)
    assert "physxJoint:armature is taken" in remarks(text)


def locked(*names: str) -> str:
    return "".join(f"float limit:{n}:physics:low = 1\nfloat limit:{n}:physics:high = -1\n" for n in names)


ALL = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@pytest.mark.parametrize(
    ("free", "kind"),
    [
        ((), Fixed),
        (("rotY",), Revolute),
        (("transZ",), Prismatic),
        (("transY", "rotY"), Cylindrical),
        (("rotX", "rotZ"), Universal),
        (("transX", "transY", "transZ"), Translation),
        (("rotX", "rotY", "rotZ"), Spherical),
        (ALL, FreeFlyer),
        (("transX", "rotZ"), D6),
        (("transX", "transY", "rotX", "rotZ"), D6),
    ],
)
def test_a_generic_joint_is_the_simplest_that_moves_so(free: tuple[str, ...], kind: type) -> None:
    text = world(
        body("A"),
        body("B"),
        prim("PhysicsJoint", "J", "rel physics:body0 = </World/A>\nrel physics:body1 = </World/B>\n"
             + locked(*(n for n in ALL if n not in free))),
    )  # fmt: skip
    c = next(c for c in read(text).joints if c.name == "J")
    assert type(c.joint) is kind
    assert c.joint.nv == len(free)


def test_three_rotations_with_limits_are_angles() -> None:
    content = "rel physics:body0 = </World/A>\nrel physics:body1 = </World/B>\n" + locked(*ALL[:3])
    content += "".join(
        f"float limit:rot{a}:physics:low = -{k}0\nfloat limit:rot{a}:physics:high = {k}0\n"
        for k, a in enumerate("XYZ", 1)
    )
    c = next(c for c in read(world(body("A"), body("B"), prim("PhysicsJoint", "J", content))).joints if c.name == "J")
    assert type(c.joint) is D6
    assert_allclose(np.degrees(c.limits.upper), (10, 20, 30))


def test_a_side_without_a_body_is_the_world_and_a_body_without_a_joint_flies() -> None:
    text = world(
        body("A", MASS + "\n" + at(x=1)),
        body("B", MASS + "\n" + at(y=2)),
        joint("Fixed", "point3f physics:localPos1 = (-1, 0, 0)", ends="- A"),
    )
    m = read(text)
    assert [(c.name, c.parent, c.child, type(c.joint)) for c in m.joints] == [
        ("J", "world", "A", Fixed),
        ("root", "world", "B", FreeFlyer),
    ]
    assert_allclose(m.named_configurations["initial"]["root"], (0, 2, 0, 0, 0, 0, 1))


@pytest.mark.parametrize("ends", ["A B", "B A"])
def test_a_body_that_no_force_moves_is_held_wherever_it_is_in_its_robot(ends: str) -> None:
    """Where a joint came to it from the other body, the robot fell with it, without a word."""
    held = body("B", MASS + "\nbool physics:kinematicEnabled = true\n" + at(x=2))
    root = prim("PhysicsRevoluteJoint", "hinge", "rel physics:body1 = </World/B>")
    m = read(world(body("A"), held, joint("Revolute", ends=ends), apis=""))
    (base,) = (c for c in m.joints if c.name == "root")
    assert (base.joint, base.child, tuple(base.parent_pose.translation)) == (Fixed(), "B", (2.0, 0.0, 0.0))
    assert m.model().nv == 1
    assert "kinematicEnabled is left out: a joint leads to it from the world" in remarks(world(body("A"), held, root))


def test_either_side_of_a_joint_may_be_first() -> None:
    text = world(body("A"), body("B"), joint("Revolute", 'uniform token physics:axis = "Y"', ends="B A"))
    c = read(text).joints[0]
    assert (c.parent, c.child) == ("B", "A")
    assert_allclose(read(text).model().nv, 7)


def test_poses_of_bodies_are_the_initial_configuration() -> None:
    text = world(
        body("A", MASS),
        body("B", MASS + "\n" + at(turn=30)),
        joint("Fixed", ends="- A", name="F"),
        joint("Revolute", 'uniform token physics:axis = "Z"'),
    )
    assert_allclose(np.degrees(read(text).named_configurations["initial"]["J"]), 30)


def test_excluded_joints_close_loops() -> None:
    text = world(
        body("A"), body("B"), body("C"),
        joint("Revolute", "bool physics:excludeFromArticulation = true", name="loop", ends="C A"),
        joint("Revolute", name="ab"), joint("Revolute", name="bc", ends="B C"), joint("Fixed", name="base", ends="- A"),
    )  # fmt: skip
    model = read(text).model()
    assert [c.name for c in model.closures] == ["loop"]


def test_joints_between_the_same_bodies_are_one_in_a_row() -> None:
    turned = "".join(f"quatf physics:localRot{k} = (0.70710678, 0, 0, 0.70710678)\n" for k in (0, 1))
    text = world(
        body("A"), body("B"), joint("Fixed", ends="- A", name="base"),
        joint("Revolute", 'uniform token physics:axis = "Z"\nfloat physics:upperLimit = 90', name="second"),
        joint("Revolute", 'uniform token physics:axis = "X"\n' + turned, name="first"),
    )  # fmt: skip
    c = next(c for c in read(text).joints if "+" in c.name)
    assert (c.name, type(c.joint)) == ("second+first", D6)
    assert_allclose(c.limits.upper, (math.pi / 2, math.inf))
    X = c.parent_pose @ c.joint.transform((0.3, 0.2)) @ c.child_pose.inverse()
    about_z_then_y = matrix_about_axis((0, 0, 1), math.cos(0.3), math.sin(0.3)) @ matrix_about_axis(
        (0, 1, 0), math.cos(0.2), math.sin(0.2)
    )
    assert_allclose(X.matrix()[:3, :3], [list(row) for row in about_z_then_y.rows()], atol=1e-7)


def test_a_distance_joint_bounds_the_distance() -> None:
    c = only_joint("Distance", "float physics:minDistance = 10\nfloat physics:maxDistance = 30", m=0.1)
    assert type(c.joint) is Distance
    assert_allclose((c.joint.minimum, c.joint.maximum), (1, 3))


def test_targets_of_drives_are_a_configuration() -> None:
    text = world(
        body("A"), body("B"),
        joint(
            "Revolute",
            "float drive:angular:physics:stiffness = 1\nfloat drive:angular:physics:targetPosition = 90",
            "PhysicsDriveAPI:angular",
        ),
    )  # fmt: skip
    assert_allclose(read(text).named_configurations["target"]["J"], math.pi / 2)
    world_of_it = read(text).world()
    assert_allclose(world_of_it.control().position[0, world_of_it.model.v_slice("J")], math.pi / 2)


@pytest.mark.parametrize(
    ("schema", "target", "content", "offset"),
    [
        ("NewtonMimicAPI", "newton:mimicJoint", "float newton:mimicCoef0 = 90\nfloat newton:mimicCoef1 = -2", 90),
        ("PhysxMimicJointAPI:rotX", "physxMimicJoint:rotX:referenceJoint", "float physxMimicJoint:rotX:gearing = 2", 0),
        ("MjcEqualityJointAPI", "mjc:target", "double mjc:coef1 = -2", 0),
    ],
)
def test_joints_that_copy(schema: str, target: str, content: str, offset: float) -> None:
    copy = joint("Revolute", f"rel {target} = </World/J>\n{content}", schema, name="K", ends="B C")
    text = world(body("A"), body("B"), body("C"), joint("Fixed", ends="- A", name="F"), copy, joint("Revolute"))
    found = next(c.joint for c in read(text).joints if c.name == "K")
    assert (found.primary, found.multiplier) == ("J", -2)
    assert_allclose(found.offset, math.radians(offset))
    assert read(text).model().nv == 1
    if schema.startswith("Mjc"):
        cubic = read(text.replace("coef1 = -2", "coef3 = -2")).joints
        assert next(c.joint for c in cubic if c.name == "K").function == Polynomial([0.0, 1.0, 0.0, -2.0])
    with pytest.raises(DescriptionError, match="/World/K: error: is Revolute and copies 'F', which is Fixed"):
        read(text.replace("</World/J>", "</World/F>"))


def test_orphans() -> None:
    text = world(body("A"), body("B"), joint("Revolute"), apis="")
    with pytest.warns(DescriptionWarning, match=r"/World/J.*belongs to no articulation"):
        assert len(cardan.formats.load_mechanism(text).joints) == 2
    assert len(read(text, orphans="keep").joints) == 2
    assert [type(c.joint) for c in read(text, orphans="drop").joints] == [FreeFlyer, FreeFlyer]
    with pytest.raises(DescriptionError, match="belongs to no articulation"):
        read(text, orphans="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cardan.formats.load_mechanism(text, orphans="keep")


def test_one_robot_of_several_by_path_or_name() -> None:
    def robot(name: str) -> str:
        return prim("Xform", name, "", "PhysicsArticulationRootAPI", body("arm"), body("hand"),
                    joint("Revolute", name="wrist", ends=f"{name}/arm {name}/hand"))  # fmt: skip

    text = world(robot("one"), robot("two"), apis="")
    both = read(text)
    assert {b.name for b in both.bodies} == {f"/World/{r}/{b}" for r in ("one", "two") for b in ("arm", "hand")}
    assert "called by their paths" in remarks(text)
    for chosen in ("/World/two", "two"):
        m = read(text, model=chosen)
        assert m.name == "two"
        assert [b.name for b in m.bodies] == ["arm", "hand"]
    with pytest.raises(DescriptionError, match=r"roots of articulations: /World/one, /World/two"):
        read(text, model="three")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", False),
        ("bool physxArticulation:enabledSelfCollisions = 1", True),
        ("bool physxArticulation:enabledSelfCollisions = 1\nbool newton:selfCollisionEnabled = 0", False),
    ],
)
def test_an_articulation_says_whether_it_collides_with_itself(said: str, expected: bool) -> None:
    assert read(world(body("A"), body("B"), joint("Revolute"), root=said)).self_collision is expected


# --- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("Cube", "double size = 2", shapes.Box((4, 2, 6))),
        ("Sphere", "double radius = 2", shapes.Ellipsoid((4, 2, 6))),
        ("Cylinder", 'double radius = 1\ndouble height = 3\nuniform token axis = "X"', shapes.Cylinder(3, 6)),
        ("Capsule", 'double radius = 1\ndouble height = 3\nuniform token axis = "Z"', shapes.Capsule(2, 9)),
        ("Cone", 'double radius = 1\ndouble height = 3\nuniform token axis = "Z"', shapes.Cone(2, 9)),
    ],
)
def test_geometries_are_scaled(kind: str, content: str, expected: shapes.Geometry) -> None:
    m = read(world(body("A", MASS, prim(kind, "G", content + "\n" + at(scale=(2, 1, 3)), COLLIDES))))
    assert [(s.role, s.geometry) for s in m.shapes] == [("visual", expected), ("collision", expected)]


@pytest.mark.parametrize("kind", ["Cylinder", "Cone"])
def test_the_axis_of_what_is_round_is_where_usd_has_it(kind: str) -> None:
    for k, axis in enumerate("XYZ"):
        m = read(world(body("A", MASS, prim(kind, "G", f'uniform token axis = "{axis}"', COLLIDES))))
        assert_allclose(m.shapes[0].pose.matrix()[:3, 2], np.eye(3)[k], atol=1e-15)


def test_guides_are_not_seen_and_what_does_not_collide_is_only_seen() -> None:
    guide = prim("Cube", "G", 'uniform token purpose = "guide"', COLLIDES)
    seen = prim("Cube", "V", "color3f[] primvars:displayColor = [(1, 0.5, 0)]\nfloat[] primvars:displayOpacity = [0.5]")
    off = prim("Cube", "N", 'bool physics:collisionEnabled = false\ntoken visibility = "invisible"', COLLIDES)
    found = read(world(body("A", MASS, guide, seen, off))).shapes
    assert [(s.name, s.role, s.rgba) for s in found] == [("G", "collision", None), ("V", "visual", (1, 0.5, 0, 0.5))]


def test_materials_of_physics() -> None:
    material = prim(
        "Material",
        "Rubber",
        "float physics:dynamicFriction = 0.75\nfloat physics:staticFriction = 1\nfloat physics:restitution = 0.5",
        "PhysicsMaterialAPI",
    )
    bound = prim("Cube", "C", "rel material:binding:physics = </World/Rubber>", f"{COLLIDES} MaterialBindingAPI")
    text = world(body("A", MASS, bound), material)
    surface = read(text).shapes[-1].surface
    assert (surface.friction, surface.restitution) == (0.75, 0.5)
    assert "physics:staticFriction is 1" in remarks(text)


@pytest.mark.parametrize(
    ("above", "at_it", "friction"),
    [
        ("rel material:binding:physics = </World/M>", "", 0.5),
        ("rel material:binding = </World/M>", "rel material:binding = </World/N>", 0.25),
        ('rel material:binding = </World/M> (\nbindMaterialAs = "strongerThanDescendants"\n)',
         "rel material:binding = </World/N>", 0.5),
        ("rel collection:all:includes = </World/A>\n"
         "rel material:binding:collection:physics:all = [</World/A.collection:all>, </World/M>]", "", 0.5),
    ],
)  # fmt: skip
def test_a_material_is_the_one_openusd_finds(above: str, at_it: str, friction: float) -> None:
    """A collection of prims, and a binding that is stronger than those below it, were passed over."""
    materials = [
        prim("Material", name, f"float physics:dynamicFriction = {mu}", "PhysicsMaterialAPI")
        for name, mu in (("M", 0.5), ("N", 0.25))
    ]
    cube = prim("Cube", "C", at_it, f"{COLLIDES} MaterialBindingAPI")
    text = world(body("A", f"{MASS}\n{above}", cube, apis="MaterialBindingAPI CollectionAPI:all"), *materials)
    (surface,) = (shape.surface for shape in read(text).shapes if shape.role == "collision")
    assert surface.friction == friction


def group(name: str, members: str, filtered: str) -> str:
    content = f"rel collection:colliders:includes = [{members}]\nrel physics:filteredGroups = [{filtered}]"
    return prim("PhysicsCollisionGroup", name, content, "CollectionAPI:colliders")


def test_collision_groups_keep_apart_what_they_filter() -> None:
    cubes = [body(n, MASS, prim("Cube", "C", "", COLLIDES)) for n in "ABCD"]
    text = world(*cubes, group("g", "</World/A>, </World/C>", "</World/h>"), group("h", "</World/B>, </World/C>", ""))
    a, b, c, d = (s for s in read(text).shapes if s.role == "collision")
    touching = {(x.body, y.body) for x in (a, b, c, d) for y in (a, b, c, d) if x.may_touch(y)}
    apart = {("A", "B"), ("A", "C"), ("B", "C"), ("C", "C")}
    assert touching == {(x, y) for x in "ABCD" for y in "ABCD"} - apart - {(y, x) for x, y in apart}


@pytest.mark.parametrize("count", [31, 32])
def test_as_many_sets_of_collision_groups_are_kept_as_a_mask_has_room_for(count: int) -> None:
    cubes = [body(f"B{k}", MASS, prim("Cube", "C", "", COLLIDES)) for k in range(count)]
    groups = [group(f"g{k}", f"</World/B{k}>", f"</World/g{max(k - 1, 0)}>") for k in range(count)]
    text = world(*cubes, *groups, body("Other", MASS, prim("Cube", "C", "", COLLIDES)))
    told = remarks(text)
    shapes = [s for s in read(text).shapes if s.role == "collision"]
    apart = {(x.body, y.body) for x in shapes for y in shapes if not x.may_touch(y)}
    kept = {(f"B{k}", f"B{max(k - 1, 0)}") for k in range(count)}
    assert ("a mask has room for 31" in told) == (count > 31)
    assert apart == (set() if count > 31 else kept | {(y, x) for x, y in kept})


def test_filtered_pairs_keep_bodies_apart() -> None:
    """Bodies that a joint connects do not touch anyway."""
    text = world(
        body("A", MASS + "\nrel physics:filteredPairs = </World/C>", apis="PhysicsFilteredPairsAPI"),
        body("B"), body("C"),
        joint("Revolute"), joint("Revolute", "bool physics:collisionEnabled = true", name="K", ends="B C"),
    )  # fmt: skip
    assert read(text).disabled_contacts == (("A", "C"),)


def test_frames() -> None:
    text = world(
        body(
            "A",
            MASS,
            prim("Xform", "tool", at(x=1)),
            prim("Sphere", "site", at(y=2), "MjcSiteAPI"),
            prim("Xform", "group", "", "", prim("Cube", "c")),
        )
    )
    m = read(text)
    assert [(f.name, f.body, tuple(f.pose.translation)) for f in m.frames] == [
        ("tool", "A", (1, 0, 0)),
        ("site", "A", (0, 2, 0)),
    ]


# --- composition -----------------------------------------------------------------------------------------------------


def test_references_and_instances_are_followed_within_the_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.usda").write_text(
        world(body("A"), prim("Xform", "V", "", "", prim("Cube", "c")), apis="")
    )
    file = tmp_path / "robot.usda"
    arms = [
        f'def "{name}" (\n instanceable = {word}\n prepend references = @./parts/arm.usda@\n)\n{{\n}}\n'
        for name, word in (("L", "true"), ("R", "false"))
    ]
    file.write_text(HEADER.format(m=1, kg=1, up="Z") + "".join(arms))
    m = read(str(file))
    assert [b.name for b in m.bodies] == ["/L/A", "/R/A"]
    assert len(m.shapes) == 2


@pytest.mark.parametrize(("unit", "scene"), [(np.pi / 180.0, ""), (1.0, 'uniform token mjc:compiler:angle = "radian"')])
def test_springs_of_mujoco_rest_in_its_angles_and_from_its_zero(unit: float, scene: str) -> None:
    spring = "float mjc:stiffness = 2\nfloat mjc:springref = 1\nfloat mjc:ref = 0.25"
    m = read(world(body("A"), body("B"), joint("Revolute", spring), prim("PhysicsScene", "scene", scene)))
    assert m.joints[0].spring.stiffness == (2.0,)
    assert m.joints[0].spring.rest == pytest.approx((0.75 * unit,))


def test_a_plane_that_is_only_seen_is_not_lost() -> None:
    m = read(world(body("A", MASS), prim("Plane", "floor")))
    assert [(shape.role, shape.geometry) for shape in m.shapes] == [("visual", cardan.description.Plane())]


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named(name: str) -> None:
    text, message = PLANTED[name]
    with pytest.raises(DescriptionError, match=message):
        read(text)


@pytest.mark.parametrize("name", DOUBTED)
def test_a_doubtful_thing_is_warned_of(name: str) -> None:
    text, message = DOUBTED[name]
    with pytest.warns(DescriptionWarning, match=message):
        cardan.formats.load_mechanism(text)


@pytest.mark.parametrize("name", REMARKED)
def test_what_is_not_used_is_remarked_on(name: str) -> None:
    text, message = REMARKED[name]
    assert message in remarks(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cardan.formats.load_mechanism(text)
    assert not any(message in str(warning.message) for warning in caught if name != "shear")
    read(text)


def test_without_openusd_the_error_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['pxr'] = None\nimport cardan\n"
        "try: cardan.load('#usda 1.0\\n')\nexcept cardan.errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "cardan[usd]"' in done.stdout


def test_a_mesh_that_is_not_there_any_more_is_named(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    file = tmp_path / "robot.usda"
    file.write_text(world(body("A")))
    with pytest.raises(ParameterError, match="/World/M"):
        _ = shapes.Mesh("robot.usda#/World/M", str(file)).volume


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each mutant is read in a process of its own")
def test_mutants_are_read_or_refused_with_a_place(tmp_path: Path) -> None:
    from pxr import Sdf, UsdUtils

    text = world(
        body("A", BOX + MASS, prim("Mesh", "M", CUBE_MESH, COLLIDES)), body("B", MASS + "\n" + at(x=1, turn=20)),
        prim("PhysicsScene", "S"), joint("Fixed", ends="- A", name="F"),
        joint("Revolute", "float drive:angular:physics:stiffness = 1", "PhysicsDriveAPI:angular"),
    )  # fmt: skip
    (tmp_path / "robot.usda").write_text(text)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    layer.Export(str(tmp_path / "robot.usdc"))
    UsdUtils.CreateNewUsdzPackage(str(tmp_path / "robot.usdc"), str(tmp_path / "robot.usdz"))
    script = Path(__file__).parents[1] / "usd_mutants.py"
    done = subprocess.run([sys.executable, str(script), str(tmp_path), "150"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("m", "kg"), [(1e-3, 1e-3), (1e6, 1e-6), (2.54e-2, 0.4536)])
def test_the_same_robot_in_other_units(m: float, kg: float) -> None:
    def robot(length: float, mass: float) -> str:
        force, moment = mass * length, mass * length**2
        box = prim("Cube", "C", f"double size = {0.2 / length}", COLLIDES)
        ball = prim("Sphere", "S", f"double radius = {0.1 / length}", COLLIDES)
        slide = (
            f"float physics:upperLimit = {0.3 / length}\nfloat physxJoint:armature = {0.7 / mass}\n"
            f"float drive:linear:physics:stiffness = {40 / mass}\nfloat drive:linear:physics:maxForce = {9 / force}"
        )
        hinge = f"float newton:friction = {3 / moment}\nfloat newton:damping = {2 / moment}"
        return world(
            body("A", f"float physics:mass = {2 / mass}\n" + at(x=0.5 / length), box),
            body("B", f"float physics:density = {500 * length**3 / mass}", ball),
            body("D"),
            joint("Fixed", f"point3f physics:localPos1 = ({-0.5 / length}, 0, 0)", ends="- A", name="F"),
            joint("Prismatic", slide, "PhysicsDriveAPI:linear"),
            joint("Revolute", hinge, name="K", ends="B D"),
            prim("PhysicsScene", "Scene", f"float physics:gravityMagnitude = {3 / length}"),
            m=length,
            kg=mass,
        )

    one, other = read(robot(1, 1)), read(robot(m, kg))
    assert_allclose(one.gravity, (0, 0, -3))
    assert_allclose(other.gravity, one.gravity, rtol=1e-6)
    for a, b in zip(one.bodies[:2], other.bodies[:2], strict=True):
        assert_allclose(a.inertia.parameters(), b.inertia.parameters(), rtol=1e-6, atol=1e-12)
    for c, d in zip(one.joints, other.joints, strict=True):
        for key in ("drive_stiffness", "drive_damping", "armature", "friction", "damping"):
            assert_allclose(getattr(c, key), getattr(d, key), rtol=1e-6)
        assert_allclose((*c.limits.upper, *c.limits.effort), (*d.limits.upper, *d.limits.effort), rtol=1e-6)
        assert_allclose(c.child_pose.matrix(), d.child_pose.matrix(), rtol=1e-6)
