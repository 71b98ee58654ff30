"""SDF as it is written: what is read back moves as what was written; what SDF cannot say is refused by name."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan._reach.formats.sdf.writer import write_sdf
from cardan._robot.records import EARTH_GRAVITY, Drive, Material, Spring
from cardan._robot.shipped import ROBOTS
from cardan.description import Box, Capsule, Cone, Cylinder, Ellipsoid, Hull, Mechanism, Mesh, Plane, Shape, Sphere
from cardan.errors import CardanError, DescriptionWarning, UnsupportedError
from cardan.formats.sdf import write
from cardan.joints import (
    Composite,
    Cylindrical,
    Fixed,
    FreeFlyer,
    Helical,
    Joint,
    Limits,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    UnboundedRevolute,
    Universal,
    reverse,
)
from cardan.manifolds import Euclidean
from cardan.spatial import SE3, Inertia
from cardan.spatial.rotations import matrix_from_zyx
from sdf_texts import TEXTS


@pytest.fixture(autouse=True)
def reference(reference_target):
    """Single calls of many models."""


def again(thing: Any) -> Mechanism:
    """Return what is read of what is written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return cardan.load_mechanism(write_sdf(thing).text.encode())


def pose(x, y, z, roll=0.0, pitch=0.0, yaw=0.0) -> SE3:
    return SE3(matrix_from_zyx((yaw, pitch, roll)), (x, y, z))


def differences(a: Any, b: Any) -> float:
    """Return the largest difference of poses, M and bias of two models at a random state, joint by joint."""
    rng = np.random.default_rng(0)
    by_child = {c.child: c for c in b.connections}
    q, p = a.random_configuration(seed=rng), np.array(b.neutral())
    v = rng.uniform(-1.0, 1.0, a.nv)
    order = np.zeros(b.nv, dtype=int)
    for c in a.connections:
        p[b.q_slice(by_child[c.child].name)] = q[a.q_slice(c.name)]
        order[b.v_slice(by_child[c.child].name)] = np.arange(a.nv)[a.v_slice(c.name)]
    names = list(a.body_names)
    M, bias = cardan.mass_matrix(a, q), cardan.bias_forces(a, q, v)
    worst = [
        np.abs(np.asarray(cardan.frame_transform(a, q, names)) - np.asarray(cardan.frame_transform(b, p, names))).max(),
        np.abs(M[np.ix_(order, order)] - cardan.mass_matrix(b, p)).max(initial=0.0)
        / max(1.0, np.abs(M).max(initial=0.0)),
        np.abs(bias[order] - cardan.bias_forces(b, p, v[order])).max(initial=0.0)
        / max(1.0, np.abs(bias).max(initial=0.0)),
    ]
    return float(max(worst))


def moves_alike(a: Mechanism, b: Mechanism) -> bool:
    return differences(a.model(), b.model()) < 1e-12


SOLID = Inertia(2.0, (0.1, -0.2, 0.3), [[0.3, 0.01, 0], [0.01, 0.4, 0.02], [0, 0.02, 0.5]])


class OwnHinge(Joint):
    """A hinge somebody wrote, about a line off its origin."""

    manifold = Euclidean(1)

    def transform(self, q):
        return SE3(translation=(0.0, 0.3, 0.0)) @ Revolute([0, 0, 1]).transform(q)


def pair(joint: Any, **properties: Any) -> Mechanism:
    """Return two bodies with a joint between, its frames nowhere special."""
    m = Mechanism("pair")
    m.add_body("a", SOLID)
    m.add_body("b", SOLID)
    m.add_joint("weld", Fixed(), "world", "a", pose(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    m.add_joint("j", joint, "a", "b", pose(1, 2, 3, 0.1, 0.2, 0.3), pose(0.3, 0.1, 0.2, -0.3, 0.4, 0.2), **properties)
    return m


# --- joints ---


@pytest.mark.parametrize(
    "joint",
    [
        Revolute([0, 0.6, 0.8]), Prismatic([1, 2, 2]), Helical([0, 1, 0], 0.03), Helical([0, 1, 0], 0.0), Spherical(),
        Universal([1, 0, 0], [1, 1, 0]), Fixed(), Composite((Revolute([1, 0, 0]), Revolute([0, 0.6, 0.8]))),
        reverse(Universal([1, 0, 0], [0, 1, 0])), OwnHinge(),
    ],
    ids=lambda j: type(j).__name__,
)  # fmt: skip
def test_a_joint_sdf_has_moves_as_before(joint):
    m = pair(joint)
    assert moves_alike(m, again(m))


def test_an_unbounded_revolute_is_a_continuous_joint():
    m = pair(UnboundedRevolute([0, 0, 1]))
    found = cardan.load_mechanism(write_sdf(m).text.encode(), continuous="unit_complex")
    assert moves_alike(m, found)


def test_what_a_joint_has_comes_back():
    limits = Limits(lower=(-1.0,), upper=(math.inf,), velocity=(3.0,), effort=(4.0,))
    more = {"damping": (0.1,), "friction": (0.2,), "armature": (0.3,), "spring": Spring(5.0, 0.25)}
    m = pair(Revolute([0, 0, 1]), limits=limits, **more)
    c, d = m.joints[1], again(m).joints[1]
    for key in ("joint", "limits", "damping", "friction", "armature", "spring"):
        assert getattr(c, key) == getattr(d, key), key


def test_mimics_and_screws_come_back():
    m = pair(Helical([0, 0, 1], 0.5 / math.pi))
    m.add_body("c", SOLID)
    m.add_joint("k", Mimic(Helical([0, 1, 0], 0.25 / math.pi), "j", 0.7, 0.1), "b", "c")
    assert [c.joint for c in again(m).joints] == [c.joint for c in m.joints]


def test_a_loop_that_is_closed_at_rest_is_written_and_another_refused():
    m = pair(Revolute([0, 0, 1]))
    X = m.transform({}, "b", "world")
    m.add_joint("closure", Spherical(), "world", "b", SE3.of(X))
    assert again(m).model().closure_names == ("closure",)
    m.add_joint("open", Spherical(), "world", "b")
    with pytest.raises(UnsupportedError, match="joint 'open', which closes a loop that is open by"):
        write(m)


def test_joints_that_run_to_the_world_or_upwards_move_as_before():
    m = Mechanism("m")
    m.add_body("a", SOLID)
    m.add_body("b", SOLID)
    m.add_joint("j", Revolute([0, 1, 0]), "a", "world", pose(1, 0, 0), pose(0, 0, 1, 0.5))
    m.add_joint("k", Prismatic([0, 0, 1]), "b", "a", pose(0, 2, 0), pose(0, 0, 1, 0.5))
    assert moves_alike(m, again(m))


@pytest.mark.parametrize("joint", [Cylindrical([0, 0, 1]), Planar(), FreeFlyer()], ids=lambda j: type(j).__name__)
def test_a_joint_sdf_has_not_is_refused_by_name(joint):
    with pytest.raises(UnsupportedError, match=rf"joint 'j', {type(joint).__name__}.*JSON"):
        write(pair(joint))


@pytest.mark.parametrize(
    ("joint", "more", "message"),
    [
        (Revolute([0, 0, 1]), {"drive": Drive(1.0, 1.0)}, "drive_stiffness of joint 'j'"),
        (Revolute([0, 0, 1]), {"compliance": [1e-6] * 6}, "compliance of joint 'j'"),
        (Revolute([0, 0, 1]), {"limits": Limits(effort=(1.0,), effort_lower=(-2.0,))}, "effort_lower of joint 'j'"),
        (Spherical(), {"limits": Limits(upper=(1.0, 1.0, 1.0))}, "limits of joint 'j'"),
        # a continuous joint of SDF has no stops: these were lost without a word
        (UnboundedRevolute([0, 0, 1]), {"limits": Limits(upper=(1.0,))}, "limits of joint 'j'"),
        (Spherical(), {"damping": (1.0, 2.0, 3.0)}, "damping that differs, of joint 'j'"),
    ],
)
def test_a_property_sdf_has_not_is_refused_by_name(joint, more, message):
    with pytest.raises(UnsupportedError, match=message):
        write(pair(joint, **more))


# --- names and places ---


def test_scoped_names_become_models_in_models():
    m = Mechanism("m")
    for name in ("base", "arm::low", "arm::hand::palm"):
        m.add_body(name, SOLID)
    m.add_joint("weld", Fixed(), "world", "base")
    m.add_joint("shoulder", Revolute([0, 0, 1]), "base", "arm::low", pose(1, 0, 0, 0.3))
    m.add_joint("arm::wrist", Revolute([0, 1, 0]), "arm::low", "arm::hand::palm", pose(0, 1, 0, 0.3), pose(0, 0, 1))
    m.add_frame("arm::tip", "arm::hand::palm", pose(0, 0, 1))
    m.add_frame("arm::low::eye", "arm::low", pose(0, 0, 2), "sensor")
    m.add_frame("feeler", "base", pose(0, 0, 3), "sensor")
    b = again(m)
    assert moves_alike(m, b)
    assert {(f.name, f.body, f.kind) for f in b.frames} == {(f.name, f.body, f.kind) for f in m.frames}
    m.add_joint("hand::k", Revolute([0, 0, 1]), "base", "arm::low", pose(1, 0, 0, 0.3))
    with pytest.raises(UnsupportedError, match="the name 'hand::k'"):
        write(m)


def test_a_joint_named_like_a_link_gets_another_name():
    m = pair(Fixed())
    m.add_joint("b", Spherical(), "world", "b", SE3.of(m.transform({}, "b", "world")))
    with pytest.warns(DescriptionWarning, match="they end in _joint now"):
        text = write(m)
    assert [c.name for c in cardan.load_mechanism(text.encode()).joints] == ["weld", "j", "b_joint"]


@pytest.mark.parametrize("name", ["a b", "<&>\"'", "ä\u65e5", "a\nb\tc", "a:b", "..", "%s", "x" * 3000])
def test_names_come_back(name):
    m = Mechanism(name)
    m.add_body(name, SOLID)
    m.add_joint("j", Revolute([0, 0, 1]), "world", name)
    b = again(m)
    assert (b.name, b.bodies[0].name, b.joints[0].child) == (name,) * 3


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e6, 1e9])
def test_sizes_do_not_matter(size):
    m = Mechanism("m")
    for name in "ab":
        m.add_body(name, SOLID)
    ends = pose(size, 0, 0, 0.3, 0.2, 0.1), pose(0, size, 0, 0.5, 0.1, 0)
    m.add_joint("weld", Fixed(), "world", "a", pose(size, size, 0, 1, 0, 0))
    m.add_joint("j", Revolute([0, 0.6, 0.8]), "a", "b", *ends)
    c, d = m.joints[1], again(m).joints[1]
    for X, Y in ((c.parent_pose, d.parent_pose), (c.child_pose, d.child_pose)):
        assert np.abs(X.matrix() - Y.matrix()).max() <= 1e-14 * max(1.0, size)


def test_reserved_names_are_refused():
    m = Mechanism("m")
    m.add_body("__a__", SOLID)
    with pytest.raises(UnsupportedError, match=r"the name '__a__'.*reserved"):
        write(m)


def test_what_is_on_the_world_stands_on_a_link_of_its_own():
    m = pair(Revolute([0, 0, 1]))
    m.add_shape(Shape("world", "collision", Plane(), pose(0, 0, 1, 0.1)))
    m.add_frame("mark", "world", pose(1, 0, 0))
    b = again(m)
    assert moves_alike(m, b)
    assert [s.geometry for s in b.shapes] == [Plane()]
    X = np.asarray(cardan.frame_transform(b.model(), b.model().neutral(), "mark"))
    assert np.allclose(X, pose(1, 0, 0).matrix())


def test_another_gravity_makes_a_world():
    m = Mechanism("m", gravity=(0.0, 1.0, -2.0))
    m.add_body("a", SOLID)
    m.add_joint("j", Revolute([0, 1, 0]), "world", "a")
    b = again(m)
    assert tuple(b.gravity) == (0.0, 1.0, -2.0)
    assert moves_alike(m, b)


def test_a_world_of_models_comes_back_as_one():
    frames = '<frame name="mark"><pose>0 0 1 0 0 0</pose></frame><frame name="on" attached_to="box::l"/>'
    m = cardan.load_mechanism(TEXTS["world"].replace("</world>", frames + "</world>").encode())
    b = again(m)
    assert moves_alike(m, b)
    assert [f.body for f in b.frames] == ["world", "box::l"]
    assert sorted(c.name for c in b.joints) == sorted(c.name for c in m.joints)
    assert tuple(b.gravity) == (0.0, 1.0, -3.0)


def test_a_model_is_written_with_its_base():
    m = Mechanism("m")
    m.add_body("a", SOLID)
    m.add_body("b", SOLID)
    m.add_joint("j", Revolute([0, 0, 1]), "a", "b", pose(1, 0, 0))
    assert again(m.model()) == again(m)
    floating = m.model(base="floating")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        read = cardan.load(write(floating).encode(), base="floating")
    assert differences(floating, read) < 1e-12


def test_what_the_motion_does_not_need_is_told():
    m = pair(Revolute([0, 0, 1]))
    m.add_actuator(cardan.Actuator("motor", "j"))
    m.add_configuration("home", {"j": 1.0})
    m.disable_contact("a", "b")
    assert write_sdf(m).losses == ("actuators 'motor'", "configurations 'home'", "disabled contacts 'a/b'")


def test_bodies_without_inertia_stay_so_and_are_told_of():
    m = pair(Revolute([0, 0, 1]))
    m.add_body("light")
    m.add_joint("k", Fixed(), "b", "light")
    assert again(m).bodies[2].inertia is None
    assert any("other readers refuse 0 kg" in loss for loss in write_sdf(m).losses)


# --- shapes ---


def test_shapes_come_back():
    m = pair(Revolute([0, 0, 1]))
    shapes = [
        Shape("a", "visual", Box((1, 2, 3)), pose(1, 2, 3), "box", (1, 0.5, 0.25, 1), "steel", "steel.png"),
        Shape("a", "visual", Mesh("package://robot/arm.dae", None, (1, 2, 3)), name="mesh"),
        Shape("b", "collision", Sphere(0.5), name="ball", surface=Material(0.5, 0.25, torsional=0.1), density=500.0),
        Shape("b", "collision", Cylinder(0.5, 1.0), name="can"),
        Shape("b", "collision", Cone(0.5, 1.0), name="hat"),
        Shape("b", "collision", Capsule(0.5, 1.0), name="pill"),
        Shape("b", "collision", Ellipsoid((1, 2, 3)), name="egg"),
    ]
    for shape in shapes:
        m.add_shape(shape)
    found = list(again(m).shapes)
    assert found[2].surface is not None
    assert math.isclose(found[2].surface.torsional, 0.1, rel_tol=1e-15)
    assert found[:2] + found[3:] == shapes[:2] + shapes[3:]
    m.add_frame("eye", "a", kind="sensor")
    told = [str(fault) for fault in cardan.formats.check(write(m).encode())]
    assert not any("no attribute 'cardan:" in fault for fault in told), "what is read was said to be passed over"


def test_groups_and_masks_touch_as_before():
    m = pair(Revolute([0, 0, 1]))
    kinds = ((1, 0xFFFFFFFF), (2, 4), (4, 2), (6, 1), (8, 0))
    for i, (group, mask) in enumerate(kinds):
        m.add_shape(Shape("a", "collision", Sphere(1.0), name=str(i), group=group, mask=mask))
    before, after = m.shapes, again(m).shapes
    table = [[[x.may_touch(y) for x in shapes] for y in shapes] for shapes in (before, after)]
    assert table[0] == table[1]


def test_shapes_sdf_has_no_word_for_are_refused_by_name():
    for more, message in (({"margin": 0.1}, "the margin"), ({"surface": Material(rolling=0.1)}, "the rolling")):
        m = pair(Revolute([0, 0, 1]))
        m.add_shape(Shape("a", "collision", Sphere(1.0), name="s", **more))
        with pytest.raises(UnsupportedError, match=f"{message}.* of .*'s' of 'a'"):
            write(m)


# --- round trips ---


@pytest.mark.parametrize("name", TEXTS)
def test_sdf_comes_back(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        m = cardan.load_mechanism(TEXTS[name].encode())
    if any(isinstance(shape.geometry, Hull) for shape in m.shapes):  # a cone, as what it is met
        with pytest.raises(UnsupportedError, match="Hull"):
            write(m)
        kept = tuple(shape for shape in m.shapes if not isinstance(shape.geometry, Hull))
        m = m.with_annotations(replace(m.annotations, shapes=kept)).mechanism
    b = again(m)
    assert moves_alike(m, b)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_urdf_to_sdf_to_urdf_is_the_same_robot(name, tmp_path: Path):
    m = cardan.load_mechanism(cardan.robots.urdf_path(name))
    cardan.save(m, tmp_path / "robot.sdf")
    through = cardan.load_mechanism(tmp_path / "robot.sdf")
    cardan.save(through, tmp_path / "robot.urdf")
    assert moves_alike(m, cardan.load_mechanism(tmp_path / "robot.urdf"))


CORPUS = os.environ.get("CARDAN_SDF_CORPUS", "")


@pytest.mark.full
@pytest.mark.skipif(not CORPUS, reason="CARDAN_SDF_CORPUS names no corpus")
def test_all_of_the_corpus_that_is_read_comes_back():
    folders = sorted({file.parent.parent for file in Path(CORPUS).rglob("model.config")})
    count = 0
    for file in sorted(Path(CORPUS).rglob("*.sdf")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DescriptionWarning)
            try:
                m = cardan.load_mechanism(file, package_dirs=folders)
            except CardanError:
                continue
        if not m.bodies:
            continue  # a world with nothing in it
        assert moves_alike(m, again(m)), file
        count += 1
    assert count > 80


# --- bases ---


def _loose(gravity=EARTH_GRAVITY) -> cardan.Mechanism:
    m = cardan.Mechanism("arm", gravity)
    for name in ("base", "tip"):
        m.add_body(name, cardan.Inertia(1.0, (0.0, 0.0, 0.1)))
    m.add_joint("hinge", cardan.joints.Revolute((0, 1, 0)), "base", "tip")
    return m


@pytest.mark.parametrize("gravity", [EARTH_GRAVITY, (0.0, 0.0, -1.62)])
def test_a_fixed_base_stays_one_in_a_world_of_other_gravity(gravity, tmp_path):
    """What hangs on nothing floats in a world."""
    model = _loose(gravity).model()
    cardan.save(model, tmp_path / "arm.sdf")
    back = cardan.load(tmp_path / "arm.sdf")
    assert (back.nv, tuple(back.gravity)) == (1, gravity)
    assert cardan.compare(model, back)


def test_bases_that_come_back_otherwise_are_told():
    assert write_sdf(_loose()).losses == ()
    assert write_sdf(_loose((0.0, 0.0, -1.62))).losses == ("that base hangs on nothing: here it floats",)
    (told,) = write_sdf(_loose().model(base="floating")).losses
    assert told == "that base floats: read it with base='floating'"


def test_what_is_on_the_world_is_told():
    m = _loose()
    m.add_frame("dock", "world")
    assert write_sdf(m).losses == ("what is on no body: dock (here on a link arm_world)",)


def test_a_fixed_base_of_models_in_models_stays_one():
    m = _loose().renamed({"base": "one::base", "tip": "two::tip", "hinge": "two::hinge"}).mechanism
    text = cardan.formats.sdf.write(m.renamed({"two::hinge": "hinge"}).mechanism.model())
    assert cardan.load(text).nv == 1


def test_a_joint_seen_from_its_child_is_written_from_its_parent_or_refused():
    for joint, parent, child in (
        (cardan.joints.Reversed(cardan.joints.Spherical()), "world", "base"),
        (cardan.joints.Spherical(), "base", "world"),
    ):
        m = _loose()
        m.add_joint("ball", joint, parent, child)
        with pytest.raises(UnsupportedError, match="ball"):
            write_sdf(m)


def test_two_parallel_hinges_are_no_universal_joint():
    m = _loose()
    hinge = cardan.joints.Revolute((0, 0, 1))
    m.add_joint("pair", cardan.joints.Composite([hinge, hinge]), "world", "base")
    with pytest.raises(UnsupportedError, match="pair"):
        write_sdf(m)


def test_colours_of_collision_shapes_are_told():
    m = _loose()
    m.add_shape(Shape("tip", "collision", Sphere(0.1), rgba=(1.0, 0.0, 0.0, 1.0)))
    assert write_sdf(m).losses == ("colours of collision shapes on tip",)


@pytest.mark.parametrize("name", ["a::b", "::", "x::", "__model__", "world"])
def test_a_name_of_a_model_that_is_not_read_again_is_refused(name: str) -> None:
    m = pair(Revolute((0, 0, 1)))
    m.name = name
    with pytest.raises(UnsupportedError, match=f"SDF cannot take the model's name '{name}'; .*reserved there"):
        write(m)


@pytest.mark.parametrize("kind", ["body", "frame"])
def test_a_model_that_is_called_as_something_else_is_refused(kind: str) -> None:
    """A body `a::b` is in a model `a`, so nothing beside that may be called `a`."""
    m = Mechanism("m")
    m.add_body("a" if kind == "body" else "c", Inertia(1.0))
    m.add_body("a::b", Inertia(1.0))
    m.add_joint("j", Revolute((0, 0, 1)), m.bodies[0].name, "a::b")
    if kind == "frame":
        m.add_frame("a", "c")
    with pytest.raises(UnsupportedError, match=r"SDF cannot take 'a' beside 'a::.*'; a model there has one of"):
        write(m)


def test_a_floating_base_that_is_called_otherwise_is_named():
    """`root` of a link in a nested model came back as that model's, and nothing said so."""
    m = cardan.Mechanism("outer")
    for model, link in (("m1", "a"), ("m2", "b")):
        m.add_body(f"{model}::{link}", cardan.Inertia(1.0, inertia=np.eye(3)))
    m.add_joint("root", cardan.joints.FreeFlyer(), "world", "m1::a")
    m.add_joint("m2::root", cardan.joints.FreeFlyer(), "world", "m2::b")
    written = write_sdf(m)
    assert [loss for loss in written.losses if "floating bases" in loss] == [
        "names of floating bases, which are no joints there 'root'"
    ]
    names = [c.name for c in cardan.load_mechanism(written.text).joints]
    assert names == ["m1::root", "m2::root"]
