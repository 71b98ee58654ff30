"""Worlds: how they are built, what they are told to be, and the tables of the joints."""

import functools
import os
import pickle
import re
import warnings
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest

import cardan
from cardan import SE3, Drive, Inertia, Limits, Material, Mechanism, WorldBuilder
from cardan.description import Box, Capsule, Cylinder, Mesh, Plane, Shape, Sphere
from cardan.errors import (
    DescriptionWarning,
    DuplicateNameError,
    MechanismError,
    OverlapWarning,
    ParameterError,
    ShapeError,
    StartWarning,
    UnknownNameError,
)
from cardan.joints import (
    D6,
    Cable,
    Distance,
    Fixed,
    FreeFlyer,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    UnboundedRevolute,
)
from cardan.simulation import contact_pairs, stand
from cardan.solvers import XPBD, Featherstone, SemiImplicit
from contact_worlds import stack_world
from mechanisms import random_mechanism

TURNED = SE3([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1.0, 2.0, 3.0])
HALF = np.sqrt(0.5)


def pendulum(name="pendulum"):
    m = Mechanism(name)
    m.add_body("bob", Inertia(1.0, (0, 0, -0.5), np.eye(3) * 0.01))
    m.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob")
    return m


def walker(name="walker", foot=0.05):
    """A trunk with two legs of one joint each, with shapes."""
    m = Mechanism(name)
    m.add_body("trunk", Inertia(5.0, (0, 0, 0), np.eye(3) * 0.1))
    m.add_shape(Shape("trunk", "collision", Box((0.2, 0.2, 0.1)), name="trunk"))
    for side, y in (("left", 0.1), ("right", -0.1)):
        m.add_body(f"{side}_leg", Inertia(1.0, (0, 0, -0.2), np.eye(3) * 0.01))
        m.add_body(f"{side}_foot", Inertia(0.1, (0, 0, 0), np.eye(3) * 1e-3))
        limits = Limits([-0.5], [1.5])
        hip = SE3(translation=[0, y, 0])
        m.add_joint(f"{side}_hip", Revolute([0, 1, 0]), "trunk", f"{side}_leg", hip, limits=limits)
        m.add_joint(f"{side}_ankle", Fixed(), f"{side}_leg", f"{side}_foot", SE3(translation=[0, 0, -0.4]))
        m.add_shape(Shape(f"{side}_foot", "collision", Sphere(foot), name=f"{side}_sole"))
    return m


# --- the seed's examples -------------------------------------------------------------------------------------------


def test_a_joint_begins_with_its_coordinates():
    """The seed's first example: one hinge, begun at 0.5 rad and 10 rad/s."""
    b = WorldBuilder()
    b.add_link("body")
    b.add_shape("body", Box((1, 1, 1)))
    b.add_joint("hinge", Revolute([0, 0, 1]), "world", "body")
    b.add_articulation("arm", ["hinge"])
    b.q["hinge"], b.v["hinge"] = 0.5, 10.0
    state = b.finalize().state()
    assert (state.q == 0.5).all()
    assert (state.v == 10.0).all()


def test_a_body_begins_at_its_pose():
    """The seed's second: the free joint that add_body adds has the pose as its coordinates."""
    b = WorldBuilder()
    b.add_body("box", pose=TURNED)
    b.add_shape("box", Box((1, 1, 1)))
    state = b.finalize().state()
    np.testing.assert_allclose(state.q, [[1, 2, 3, 0, 0, HALF, HALF]], atol=1e-15)
    np.testing.assert_allclose(state.newton()[0], [[[1, 2, 3, 0, 0, HALF, HALF]]], atol=1e-15)


def test_a_free_joint_of_ones_own_begins_at_the_pose_whatever_its_anchors():
    """The seed's third; anchors that are not the identity are part of the coordinates (Newton's erred)."""
    parent, child = SE3(TURNED.rotation, [0.3, 0, 0]), SE3(translation=[0, 0.1, 0])
    b = WorldBuilder()
    b.add_link("box", pose=TURNED)
    b.add_joint("free", FreeFlyer(), "world", "box", parent, child)
    b.add_articulation("box", ["free"])
    state = b.finalize().state()
    np.testing.assert_allclose(state.newton()[0], [[[1, 2, 3, 0, 0, HALF, HALF]]], atol=1e-15)
    assert np.abs(state.q[0, :3] - [1, 2, 3]).max() > 0.1


@pytest.mark.parametrize(
    ("joint", "counts"),
    [
        (Prismatic([0, 0, 1]), (1, 1, 1, 0)),
        (Revolute([0, 0, 1]), (1, 1, 0, 1)),
        (Spherical(), (4, 3, 0, 3)),
        (Fixed(), (0, 0, 0, 0)),
        (FreeFlyer(), (7, 6, 3, 3)),
        (Distance(maximum=1.0), (7, 6, 3, 3)),
        (D6(linear=[[0, 0, 1], [1, 0, 0]], angular=[[0, 1, 0]]), (3, 3, 2, 1)),
        (Cable([0, 0, 1]), (3, 3, 1, 2)),
    ],
    ids=lambda e: type(e).__name__ if hasattr(e, "nq") else "",
)
def test_the_seeds_table_of_joints(joint, counts):
    """Coordinates, velocities, linear and angular degrees of freedom. Our cable bends both ways, Newton's one."""
    m = Mechanism()
    m.add_body("link", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("joint", joint, "world", "link")
    world = m.world()
    table = (np.diff(world.q_starts)[0], np.diff(world.v_starts)[0], world.num_linear[0], world.num_angular[0])
    assert table == counts


def test_drives_go_where_the_description_says():
    m = Mechanism("arm")
    for k, (joint, above) in enumerate([(UnboundedRevolute([0, 0, 1]), "world"), (Revolute([0, 1, 0]), "link0")]):
        m.add_body(f"link{k}", Inertia(1.0, (0, 0, 0), np.eye(3)))
        m.add_joint(f"hinge{k}", joint, above, f"link{k}", drive=Drive(100.0, 30.0))
    m.add_configuration("target", {"hinge0": [np.cos(2.0), np.sin(2.0)], "hinge1": [0.7]})
    b = WorldBuilder(gravity=(0, 0, 0))
    b.add(m, prefix="a/")
    b.add(m, prefix="b/")
    b.targets["b/hinge1"] = 0.1
    world = b.finalize()
    np.testing.assert_allclose(world.targets, [2.0, 0.7, 2.0, 0.1])
    after = Featherstone(world, 0.01).step(world.state(), steps=1000)
    np.testing.assert_allclose(after.q[0, [2, 5]], [0.7, 0.1], atol=1e-6)
    b.remove("a/link0", "a/link1")
    np.testing.assert_allclose(b.finalize().targets, [2.0, 0.1])


@pytest.mark.parametrize("name", ["initial", "target"])
def test_configurations_of_a_description_are_those_of_its_clusters(name):
    m = cardan.robots.four_bar()
    m.add_configuration(name, {"crank_joint": [0.1]})
    world = m.world(loops="clusters")
    assert [c.name for c in world.model.annotations.configurations] == [name]
    found = {"initial": world.initial[world.model.q_slice("crank_joint")][0], "target": world.targets[0]}
    np.testing.assert_allclose(found[name], 0.1)
    assert world.targets.shape == (1,)


def test_an_array_without_axes_may_be_a_truth_value():
    world = pendulum().world()
    assert Featherstone(world, 0.01, limits=np.array(False)).limits is False
    with pytest.raises(ParameterError, match="expected True or False"):
        Featherstone(world, 0.01, limits=np.array([True]))


@pytest.mark.parametrize("option", ["check_orphans", "movable_bases", "keep_overlapping"])
@pytest.mark.parametrize("value", ["no", 0, None, []])
def test_what_is_no_truth_value_is_refused(option, value):
    """Python takes "no" for true."""
    b = WorldBuilder()
    b.add(pendulum())
    with pytest.raises(ParameterError, match=f"{option}: got .*, expected True or False"):
        b.finalize(**{option: value})
    with pytest.raises(ParameterError, match=r"loops: got .*, expected 'constraints' or 'clusters'"):
        b.finalize(loops=value)


@pytest.mark.parametrize(
    ("solver", "option"),
    [
        *((Featherstone, option) for option in ("limits", "tables")),
        *((XPBD, option) for option in ("limits", "contacts", "tables")),
        *((SemiImplicit, option) for option in ("limits", "contacts")),
    ],
)
def test_solvers_refuse_what_is_no_truth_value(solver, option):
    world = pendulum().world()
    for value in ("no", 0, []):
        with pytest.raises(ParameterError, match=f"{option}: got .*, expected True or False"):
            solver(world, 0.01, **{option: value})


def test_axes_targets_and_limits_are_where_the_seed_says():
    """Of each joint first the linear, then the angular degrees of freedom, from the joint's start on."""
    b = WorldBuilder()
    turned = SE3(TURNED.rotation, [0, 0, 1])
    joints = {
        "slide": Prismatic([1, 0, 0]),
        "held": Fixed(),
        "d6": D6(linear=[[0, 0, 1]], angular=[[0, 1, 0], [1, 0, 0]]),
        "hinge": Revolute([0, 0.6, 0.8]),
    }
    above = "world"
    for k, (name, joint) in enumerate(joints.items()):
        b.add_link(f"link{k}", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
        bounds = Limits([-k - 0.1 * i for i in range(joint.nv)], [k + 0.1 * i for i in range(joint.nv)])
        b.add_joint(name, joint, above, f"link{k}", turned, limits=bounds, drive=Drive(10.0 * k, 1.0))
        above = f"link{k}"
    b.add_articulation("arm", list(joints))
    b.targets["d6"] = [0.1, 0.2, 0.3]
    world = b.finalize()
    assert world.model.joint_names == tuple(joints)
    k = world.model.joint_names.index("d6")
    start, linear = world.v_starts[k], world.num_linear[k]
    np.testing.assert_array_equal(world.axes[start], [0, 0, 1])  # the first linear axis, in the parent frame
    np.testing.assert_array_equal(world.axes[start + linear], [0, 1, 0])  # the first angular one
    np.testing.assert_array_equal(world.control().position[0, start : start + 3], [0.1, 0.2, 0.3])
    assert world.limits[start].tolist() == [-2.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        world.limits[start] = [-1.0, 1.0]  # the world would not know of it
    assert world.limits[start + linear].tolist() == [-2.1, 2.1]
    np.testing.assert_allclose(world.axes[world.v_starts[3]], [0, 0.6, 0.8])
    assert world.q_starts.tolist() == [0, 1, 1, 4, 5]
    assert world.model.passive("drive_stiffness") == (0.0, 20.0, 20.0, 20.0, 30.0)
    assert world.model.passive("drive_damping") == (1.0,) * 5


# --- inertia of shapes ---------------------------------------------------------------------------------------------


def test_shapes_add_up_to_the_inertia_of_the_whole():
    """Two half cubes are the cube, wherever its frame is; and three solids by the parallel-axis theorem."""
    whole, halves = WorldBuilder(), WorldBuilder()
    for b in (whole, halves):
        b.add_body("cube")
    at = SE3(TURNED.rotation, [0.1, -0.4, 2.0])
    whole.add_shape("cube", Box((1, 1, 1)), at, density=300.0)
    for x in (-0.25, 0.25):
        halves.add_shape("cube", Box((0.5, 1, 1)), at @ SE3(translation=[x, 0, 0]), density=300.0)
    a, b = (builder.finalize().model.body("cube").inertia for builder in (whole, halves))
    np.testing.assert_allclose(b.parameters(), a.parameters(), rtol=1e-14, atol=1e-12)
    assert a.mass == pytest.approx(300.0)


def test_density_locked_inertia_and_shapes_without_mass():
    own = Inertia(2.0, (0, 0, 0.1), np.eye(3))
    b = WorldBuilder()
    b.add_body("plain", inertia=own)
    b.add_body("locked", inertia=own, lock_inertia=True)
    for body in ("plain", "locked"):
        b.add_shape(body, Sphere(0.1), density=1000.0)
        b.add_shape(body, Capsule(0.1, 0.2), density=0.0)
    b.add_shape("world", Box((1, 1, 1)))
    world = b.finalize()
    assert world.model.body("locked").inertia == own
    assert world.model.body("plain").inertia.mass == pytest.approx(2.0 + 1000.0 * 4 / 3 * np.pi * 1e-3)
    with pytest.raises(ParameterError, match="half space"):
        b.add_shape("plain", Plane())
    with pytest.raises(ParameterError, match="density"):
        b.add_shape("plain", Sphere(0.1), density=-1.0)
    assert len(b.finalize().shapes) == len(world.shapes)  # what was refused was not added


# --- orphans, articulations, compositions --------------------------------------------------------------------------


def test_orphan_joints_are_found_named_refused_and_kept_on_request():
    b = WorldBuilder()
    for name in ("a", "b", "c"):
        b.add_link(name, inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_joint("first", Revolute([0, 0, 1]), "world", "a")
    b.add_articulation("arm", ["first"])
    b.add_joint("loose one", Revolute([0, 0, 1]), "b", "c", SE3(translation=[1, 0, 0]))
    with pytest.raises(MechanismError, match=r"'loose one'.*check_orphans=False"):
        b.finalize()
    world = b.finalize(check_orphans=False)
    assert world.orphans == ("loose one",)
    assert list(world.articulations) == ["arm"]
    assert isinstance(world.model.joint("b_free"), FreeFlyer)  # in maximal coordinates it moves freely, so it does here
    assert world.links == ("a", "b", "c")
    assert b.finalize(check_orphans=False).model.joint_names == world.model.joint_names


def test_articulations_name_what_is_theirs():
    b = WorldBuilder()
    b.add(walker(), base="floating", prefix="one_")
    b.add(pendulum(), prefix="two_", pose=TURNED)
    b.add_body("ball", pose=TURNED)
    b.add_shape("ball", Sphere(0.1))
    world = b.finalize()
    one, two, ball = world.articulations.values()
    assert (one.name, two.name, ball.name) == ("one_walker", "two_pendulum", "ball")
    assert one.joints[0] == "one_root"
    assert (one.root, two.root, ball.root) == ("one_trunk", "two_bob", "ball")
    assert (one.is_floating, two.is_floating, ball.is_floating) == (True, False, True)
    assert (one.q_slice, two.q_slice, ball.q_slice) == (slice(0, 9), slice(9, 10), slice(10, 17))
    assert (one.v_slice, two.v_slice, ball.v_slice) == (slice(0, 8), slice(8, 9), slice(9, 15))
    assert one.links == ("one_trunk", "one_left_leg", "one_right_leg")
    assert "one_left_foot" in one.bodies
    X = cardan.frame_transform(world.model, world.initial, "two_bob")
    np.testing.assert_allclose(X, TURNED.matrix(), atol=1e-15)


def test_a_floating_robot_begins_at_its_pose():
    world = walker().world(base="floating", pose=TURNED)
    np.testing.assert_allclose(world.initial[:7], [1, 2, 3, 0, 0, HALF, HALF], atol=1e-15)
    free = cardan.frame_transform(world.model, world.model.neutral(), "trunk")
    np.testing.assert_array_equal(free, np.eye(4))  # it moves in the world's own axes


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4])
def test_a_robot_in_a_world_moves_as_its_model(seed):
    """The same tree whatever world it is in: same masses and forces, beside others."""
    m = random_mechanism(seed)
    alone = m.model(base="floating")
    b = WorldBuilder()
    b.add(pendulum())
    b.add(m, prefix="x_", base="floating")
    world = b.finalize()
    its = world.articulations["x_" + m.name]
    assert (its.nq, its.nv) == (alone.nq, alone.nv)
    q, v = alone.random_configuration(seed=seed), np.linspace(-1, 1, alone.nv)
    state = world.state()
    state.q[:, its.q_slice], state.v[:, its.v_slice] = q, v
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARDAN_TARGET", "numpy")
        both = cardan.bias_forces(world.model, state.q, state.v)[0, its.v_slice]
        np.testing.assert_allclose(both, cardan.bias_forces(alone, q, v), rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_world_of_one_robot_is_its_model(seed):
    """To the digest, annotations apart: the shape of the ground is one."""
    bare = type(walker().annotations)()
    m = random_mechanism(seed)
    for base in ("fixed", "floating"):
        pair = [replace(model, annotations=bare) for model in (m.world(base=base).model, m.model(base=base))]
        assert pair[0] == pair[1]
    pair = [replace(model, annotations=bare) for model in (walker().world(ground=True).model, walker().model())]
    assert pair[0] == pair[1]


def test_loops_and_mimics_survive():
    m = walker()
    m.add_joint("bar", Spherical(), "left_foot", "right_foot")
    m.add_body("follower", Inertia(0.1, (0, 0, 0), np.eye(3)))
    m.add_joint("copy", Mimic(Revolute([0, 1, 0]), "left_hip", 2.0, 0.0), "trunk", "follower")
    world = m.world(base="floating")
    assert world.model.closure_names == ("bar",)
    assert world.model.nv == 8
    assert "follower" in world.links


def test_what_copies_by_nothing_touches_as_what_carries_it():
    """A step beside what stands still divided by its inverse mass of 0."""
    m = pendulum()
    m.add_body("copy", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("copy", Mimic(Revolute([0, 1, 0]), "hinge", 0.0, 0.0), "world", "copy")
    for body, x in (("copy", 9.0), ("bob", 0.0), ("world", 5.0)):
        m.add_shape(Shape(body, "collision", Sphere(0.1), SE3(translation=[x, 0.0, 9.0])))
    world = m.world(self_collision=True)
    assert not any({pair.a, pair.b} == {"copy", "world"} for pair in world.pairs)
    assert any({pair.a, pair.b} == {"copy", "bob"} for pair in world.pairs)
    assert np.isfinite(Featherstone(world, dt=1e-3).step(world.state(q=[0.3])).q).all()


def test_nothing_is_added_by_what_fails():
    b = WorldBuilder()
    b.add(pendulum())
    before = repr(b)
    with pytest.raises(DuplicateNameError, match="bob"):
        b.add(pendulum())
    with pytest.raises(DuplicateNameError, match="articulation"):
        b.add(pendulum(), prefix="x_", name="pendulum")
    with pytest.raises(MechanismError, match="already hangs on the world"):
        b.add(pendulum(), prefix="y_", base="floating")
    with pytest.raises(DuplicateNameError):
        b.add_body("bob")
    with pytest.raises(ParameterError, match="load_mechanism"):
        b.add(pendulum().model())
    assert repr(b) == before
    assert b.finalize().name == "world"


@pytest.mark.parametrize(
    ("do", "error", "said"),
    [
        (lambda b: b.add_articulation("p", ["hinge"]), DuplicateNameError, "articulation named 'p'"),
        (lambda b: b.add_articulation("r", ["hinge"]), MechanismError, "is in articulation 'p'"),
        (lambda b: b.add_articulation("r", ["hinges"]), UnknownNameError, "did you mean 'hinge'"),
        (lambda b: b.add_articulation("r", "hinge"), ParameterError, "a list of names"),
        (lambda b: b.add_shape("bobb", Sphere(1)), UnknownNameError, "did you mean 'bob'"),
        (lambda b: b.add_shape("bob", Sphere(1), material="rubber"), ParameterError, "cardan.Material"),
        (lambda b: b.add_shape("bob", Sphere(1), group=-1), ParameterError, "32 bits"),
        (lambda b: b.add_link("l", pose=np.ones((4, 4))), ParameterError, "rotation"),
        (lambda b: b.q.update(hinge=[1, 2]) or b.finalize(), ShapeError, "'hinge'"),
        (lambda b: b.q.update(hinge=np.nan) or b.finalize(), ParameterError, "finite"),
        (lambda b: b.q.update(hing=1) or b.finalize(), UnknownNameError, "did you mean 'hinge'"),
        (lambda b: b.disable_contact("bob", "x"), UnknownNameError, "'x'"),
    ],
)
def test_what_is_refused(do, error, said):
    b = WorldBuilder()
    b.add(pendulum(), name="p")
    with pytest.raises(error, match=said):
        do(b)


@pytest.mark.parametrize("ground", [True, False])
def test_a_world_in_which_nothing_can_move_is_refused(ground):
    b = WorldBuilder("floor")
    if ground:
        b.add_ground()
    has = "shapes on the world alone" if ground else "nothing in it"
    with pytest.raises(MechanismError, match=f"world 'floor' has {has}, expected at least one link.*add_body"):
        b.finalize()
    with pytest.raises(MechanismError, match="mechanism 'bare' has no body"):
        b.add(Mechanism("bare"))


def test_an_articulation_is_one_tree_from_the_world_on():
    b = WorldBuilder()
    for name in "abc":
        b.add_link(name, inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_joint("ja", Revolute([0, 0, 1]), "world", "a")
    b.add_joint("jc", Revolute([0, 0, 1]), "world", "c")
    b.add_joint("jb", Revolute([0, 0, 1]), "a", "b")
    b.add_articulation("in pieces", ["ja", "jb"])
    with pytest.raises(MechanismError, match=r"'in pieces'.*\['jc'\] stand between"):
        b.finalize(check_orphans=False)


def test_a_link_is_where_its_joints_allow():
    b = WorldBuilder()
    b.add_link("bob", pose=SE3(cardan.spatial.rotations.rotation_about_axis((0.0, 1.0, 0.0), 0.5)))
    b.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob")
    b.add_articulation("p", ["hinge"])
    np.testing.assert_allclose(b.finalize().initial, [0.5], atol=1e-15)
    b.add_link("far", pose=SE3(translation=[5, 0, 0]))
    b.add_joint("h2", Revolute([0, 1, 0]), "world", "far")
    b.add_articulation("far", ["h2"])
    with pytest.raises(ParameterError, match="pose of link 'far'"):
        b.finalize()


def test_centre_is_between_limits_and_leaves_orientations():
    m = walker()
    m.add_body("ball", Inertia(1.0, (0, 0, 0), np.eye(3)))
    joint = D6(linear=[[1, 0, 0]], angular=[[0, 0, 1]])
    m.add_joint("head", joint, "trunk", "ball", limits=Limits([-1.0, -np.inf], [3.0, 1.0]))
    world = m.world(base="floating", pose=TURNED)
    q = world.centre()
    np.testing.assert_array_equal(q[:7], world.initial[:7])
    np.testing.assert_allclose(q[7:], [0.5, 0.5, 1.0, 0.0])


def test_centre_puts_lengths_beside_an_orientation_between_their_limits_too():
    m = Mechanism("cart")
    m.add_body("cart", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("plane", Planar(), "world", "cart", limits=Limits([-1.0, 0.5, -0.5], [3.0, 1.5, 1.0]))
    np.testing.assert_array_equal(m.world().centre(), [1.0, 1.0, 1.0, 0.0])


# --- what may touch ------------------------------------------------------------------------------------------------


def names(world):
    return {pair.name for pair in world.pairs}


def test_pairs_leave_out_neighbours_and_what_is_fixed_together():
    world = walker().world(base="floating", ground=True, self_collision=True)
    assert names(world) == {"right_sole/left_sole", "trunk/ground", "left_sole/ground", "right_sole/ground"}
    assert {pair.b for pair in world.pairs if pair.b == "world"} == {"world"}
    assert names(walker().world(base="floating", ground=True)) == {
        "trunk/ground", "left_sole/ground", "right_sole/ground",
    }  # fmt: skip


def test_groups_masks_and_disabled_pairs():
    b = WorldBuilder()
    b.add(walker(), base="floating", self_collision=True)
    b.add_ground()
    b.disable_contact("world", "trunk")
    b.add_body("ghost")
    b.add_shape("ghost", Sphere(0.1), group=2, mask=4)
    b.add_body("ball")
    b.add_shape("ball", Sphere(0.1), name="ball", group=4, mask=2)
    b.add_shape("ball", Sphere(0.1), role="visual")
    expected = {"right_sole/left_sole", "left_sole/ground", "right_sole/ground", "ball/ghost"}
    assert names(b.finalize()) == expected
    with pytest.raises(UnknownNameError, match="trunkk"):
        contact_pairs(b.finalize().model, (), [("trunkk", "world")])


def test_shapes_of_one_robot_that_overlap_at_rest_are_left_out_and_said():
    with pytest.warns(
        OverlapWarning, match="pairs of shapes never touch.*right_sole/left_sole.*keep_overlapping"
    ) as said:
        world = walker(foot=0.11).world(base="floating", ground=True, self_collision=True)
    assert said[0].message.pairs == world.overlapping == ("right_sole/left_sole",)
    assert repr(pickle.loads(pickle.dumps(said[0].message))) == repr(said[0].message)
    assert said[0].filename == __file__
    assert names(world) == {"trunk/ground", "left_sole/ground", "right_sole/ground"}
    assert names(walker(foot=0.1).world(base="floating", self_collision=True)) == {
        "right_sole/left_sole"
    }  # these just meet


@pytest.mark.filterwarnings("error")
def test_pairs_that_overlap_are_kept_if_asked_for_and_not_said_if_they_are_none():
    kept = walker(foot=0.11).world(base="floating", self_collision=True, keep_overlapping=True)
    assert (names(kept), kept.overlapping) == ({"right_sole/left_sole"}, ())
    m = walker(foot=0.11)
    m.disable_contact("left_foot", "right_foot")
    apart = m.world(base="floating", self_collision=True)
    assert (names(apart), apart.overlapping) == (set(), ())


def in_the_ground(*shapes):
    b = WorldBuilder()
    b.add(pendulum())
    for shape in shapes:
        b.add_shape("bob", *shape)
    b.add_ground()
    b.q["hinge"] = 0.1
    return b


def test_a_pair_with_the_world_is_left_out_only_if_no_joint_can_part_it():
    """A box turns out of the ground; a ball about the hinge is as deep whatever the hinge does."""
    with pytest.warns(StartWarning, match="bob/ground by 547 mm") as said:
        box = in_the_ground((Box((1, 1, 1)),), (Sphere(0.1), SE3(translation=[0, 0, 1]))).finalize()
    assert (names(box), box.overlapping) == ({"bob/ground", "bob#2/ground"}, ())
    assert said[0].message.things == ("bob/ground",)
    assert said[0].filename == __file__
    with pytest.warns(OverlapWarning, match="bob/ground"):
        ball = in_the_ground((Sphere(0.1),), (Sphere(0.1), SE3(translation=[0, 0, 1]))).finalize()
    assert (names(ball), ball.overlapping) == ({"bob#2/ground"}, ("bob/ground",))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_hangs_on_slides_keeps_its_pairs_with_the_ground(scale):
    """Decided by what the joints can do, of any size; not by whether they are free."""
    b = WorldBuilder()
    b.add_ground()
    for k, axis in enumerate(([0, 0, 1], [1, 0, 0])):
        b.add_link(f"b{k}")
        b.add_shape(f"b{k}", Sphere(0.1 * scale), name=f"b{k}")
        b.add_joint(f"j{k}", Prismatic(axis), "world", f"b{k}", parent_pose=SE3(translation=[scale * k, 0, 0]))
        b.add_articulation(f"a{k}", [f"j{k}"])
    with pytest.warns(OverlapWarning, match="b1/ground"):
        assert names(b.finalize()) == {"b0/ground", "b1/b0"}


def test_links_of_one_articulation_touch_only_if_asked_to():
    """A rope of 50 capsules: each with the ground, not with 48 others; with self_collision all but neighbours."""
    for own, count in ((False, 50), (True, 50 + 49 * 48 // 2)):
        b = WorldBuilder()
        b.add_ground(pose=SE3(translation=[0, 0, -9.0]))
        for k in range(50):
            b.add_link(f"l{k}")
            b.add_shape(f"l{k}", Capsule(0.008, 0.02), SE3([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], [0.02, 0, 0]))
            parent = "world" if k == 0 else f"l{k - 1}"
            b.add_joint(f"j{k}", Spherical(), parent, f"l{k}", SE3(translation=[0.04 * bool(k), 0, 0]))
        b.add_articulation("rope", [f"j{k}" for k in range(50)], self_collision=own)
        b.add_body("ball", pose=SE3(translation=[0, 0, 5.0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of many pairs
            assert len(b.finalize().pairs) == count


def test_articulations_of_one_mechanism_touch_one_another():
    m = Mechanism("two")
    for name, x in (("a", 0.0), ("b", 1.0)):
        m.add_body(name, Inertia(1.0, (0, 0, 0), np.eye(3)))
        m.add_joint(f"{name}_rail", Prismatic([1, 0, 0]), "world", name, SE3(translation=[x, 0, 0]))
        m.add_shape(Shape(name, "collision", Sphere(0.1), name=name))
    assert names(m.world()) == {"b/a"}


# --- where it begins -----------------------------------------------------------------------------------------------


def hinge_with(lower, upper):
    m = Mechanism("knee")
    m.add_body("shank", Inertia(1.0, (0, 0, -0.2), np.eye(3) * 0.01))
    m.add_joint("knee", Revolute([0, 1, 0]), "world", "shank", limits=Limits([lower], [upper]))
    return m


@pytest.mark.parametrize(
    ("limits", "start"), [((-1, 2), 0.0), ((-2.7, -0.3), -1.5), ((0.4, np.inf), 0.4), ((-np.inf, -0.2), -0.2)]
)
def test_a_world_begins_within_limits(limits, start):
    m = hinge_with(*limits)
    np.testing.assert_allclose(m.model().start_configuration(), [start])
    np.testing.assert_array_equal(m.world().initial, m.model().start_configuration())
    np.testing.assert_array_equal(m.world().state(2).q, [m.world().initial] * 2)


def test_a_world_begins_where_its_mechanism_says():
    """A configuration `initial` counts, of several mechanisms each its own; `b.q` counts more."""
    m = hinge_with(-2.7, -0.3)
    m.add_configuration("home", {"knee": -1.0})
    m.add_configuration("initial", {"knee": -0.5})
    assert m.model().start_configuration() == m.world().initial == [-0.5]
    again = cardan.from_json(cardan.to_json(m))
    assert again.world().initial == [-0.5]
    b = WorldBuilder()
    for name in ("one_", "two_", "three_"):
        b.add(m, prefix=name)
    b.add(hinge_with(-1, 1), prefix="four_")
    b.q["two_knee"] = -0.7
    np.testing.assert_allclose(b.finalize().initial, [-0.5, -0.7, -0.5, 0.0])


def test_joints_of_loops_begin_where_the_loop_is_closed():
    m = cardan.robots.five_bar()
    first = m.joints[0]
    model = m.replace_joint(first.name, first.joint, limits=Limits([0.5], [1.0])).mechanism.model()
    assert model.closures
    np.testing.assert_array_equal(model.start_configuration(), model.neutral())


# --- on the ground -------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_what_floats_and_was_put_nowhere_stands_on_the_ground():
    world = cardan.robots.quadruped().world(base="floating", ground=True)
    state = world.state(3, "float32")
    assert abs(world.collide(state).gap.min()) < 1e-6
    assert not np.shares_memory(state.q, world.initial)
    b = WorldBuilder()
    b.add_ground(pose=SE3(translation=[0, 0, -2.0]))
    b.add_body("ball")
    b.add_shape("ball", Sphere(0.1))
    b.add_body("high", pose=SE3(translation=[0, 0, 5.0]))
    b.add_shape("high", Sphere(0.1))
    b.add(walker(), "w/", base="floating", pose=SE3(translation=[1, 0, 3.0]))
    np.testing.assert_allclose(b.finalize().state().poses[0, :3, 2], [-1.9, 5.0, 3.0])


@pytest.mark.filterwarnings("error")
def test_what_its_own_description_puts_somewhere_stays_there():
    """A free joint of a file says where it is; a tether holds; what hangs on nothing is put on the ground."""
    m = Mechanism("balls")
    for name, joint in (("file", FreeFlyer()), ("tether", Distance(0.0, 0.5)), ("loose", None)):
        m.add_body(name, Inertia(1.0, (0, 0, 0), np.eye(3)))
        m.add_shape(Shape(name, "collision", Sphere(0.1)))
        if joint is not None:
            m.add_joint(f"{name}_joint", joint, "world", name, SE3(translation=[len(name), 0, 5.0]))
    world = m.world(base="floating", ground=True)
    heights = dict(zip(world.links, world.state().poses[0, :, 2], strict=True))
    assert heights == pytest.approx({"file": 5.0, "tether": 5.0, "loose": 0.1})
    b = WorldBuilder()
    b.add_ground()
    for name, joint in (("free", FreeFlyer()), ("held", Distance(0.0, 0.05))):
        b.add_link(name)
        b.add_shape(name, Sphere(0.005), name=name)
        b.add_joint(f"{name}_joint", joint, "world", name)
        b.add_articulation(name, [f"{name}_joint"])
    np.testing.assert_allclose(b.finalize().state().poses[0, :, 2], [0.005, 0.0])


def test_planes_that_move_are_no_height():
    b = WorldBuilder()
    b.add_ground()
    b.add_body("tray", inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add_shape("tray", Plane(), density=0.0)
    assert not b.finalize().initial[:3].any()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_it_stands_whatever_its_size_and_its_own_axes(scale):
    b = WorldBuilder()
    slope = SE3([[0.8, 0, 0.6], [0, 1, 0], [-0.6, 0, 0.8]], [0.0, 0.0, 3.0 * scale])
    b.add_ground(pose=slope)
    b.add_shape("world", Plane(), SE3([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], [0.0, 0.0, 0.0]), name="wall")
    m = Mechanism("box")
    m.add_body("box", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_shape(Shape("box", "collision", Box((2 * scale, 4 * scale, 6 * scale)), SE3(translation=[0, 0, scale])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StartWarning)  # in the wall
        b.add(m, base="floating")
        world = b.finalize()
    gaps = world.collide(world.state()).gap[0]
    on_slope = [k for k, pair in enumerate(world.collide(world.state()).pair) if world.pairs[pair].name == "box/ground"]
    assert abs(gaps[on_slope].min()) < 1e-12 * scale


def test_a_start_in_the_ground_is_said_with_its_depth():
    world = cardan.robots.quadruped().world(base="floating", ground=True).with_contacts("*_foot")
    low, high = world.initial.copy(), world.initial.copy()
    low[2], high[2] = low[2] - 0.3, high[2] - 0.009
    with pytest.warns(StartWarning, match="shapes in one another: .*foot/ground by 300 mm.*stand") as said:
        state = world.state(2, q=[high, low])
    assert [w.filename for w in said] == [__file__]
    assert len(said[0].message.things) == 4
    low[2] -= 1.0
    with pytest.warns(StartWarning, match="foot/ground by 1300 mm"):  # and not 1.3e+03
        world.state(q=low)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.state(2, q=high)
        stand(state)
    np.testing.assert_allclose(state.q, [world.initial] * 2)
    with pytest.warns(StartWarning, match="foot/ground by 357 mm.*trunk is fixed on the world.*base='floating'"):
        cardan.robots.quadruped().world(ground=True)
    with pytest.warns(StartWarning, match="trunk/ground by 50 mm"):
        walker().world(base="floating", ground=True, pose=SE3(translation=[0, 0, 0.0]))


def test_a_start_in_another_body_is_said_with_its_depth():
    """Two crates 150 mm in one another flew apart with 7 m/s, and nothing said why."""

    def crates(height):
        b = cardan.WorldBuilder("crates")
        b.add_ground()
        for name, z in (("low", 0.1), ("high", height), ("far", 5.0)):
            b.add_body(name, pose=SE3(translation=[0.0, 0.0, z]))
            b.add_shape(name, Box((0.2, 0.2, 0.2)))
        return b.finalize()

    with pytest.warns(StartWarning, match="high/low by 150 mm") as said:
        crates(0.15)
    assert said[0].message.things == ("high/low",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        crates(0.3)  # one stands on the other


def test_what_has_nothing_to_stand_with_is_said_once():
    m = Mechanism("ghost")
    m.add_body("ghost", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_shape(Shape("ghost", "visual", Sphere(0.1)))
    with pytest.warns(StartWarning, match="ghost will fall through the ground") as said:
        m.world(base="floating", ground=True)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.world(base="floating")
        m.world(ground=True)


CORNERS = "v 0 0 -0.3\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def of_mesh(path, scale=(1.0, 1.0, 2.0)):
    m = Mechanism("wedge")
    m.add_body("wedge", Inertia(1.0, (0, 0, 0.1), np.eye(3)))
    m.add_shape(Shape("wedge", "collision", Mesh("wedge.obj", path, scale), SE3(translation=[0, 0, -0.1])))
    return m


def test_a_mesh_stands_on_its_lowest_vertex(tmp_path):
    file = tmp_path / "wedge.obj"
    file.write_text(CORNERS)
    world = of_mesh(str(file)).world(base="floating", ground=True)
    np.testing.assert_allclose(world.initial[:3], [0, 0, 0.7])
    state = world.state(2)
    state.q[:, 3:] = [1.0, 0.0, 0.0, 0.0]  # upside down
    stand(state)
    np.testing.assert_allclose(state.q[:, 2], 1.9)
    with pytest.warns(StartWarning, match="wedge/ground by 700 mm"):
        world.state(q=world.model.neutral())
    file.write_text(CORNERS.replace("-0.3", "-0.5"))  # another mesh of the same name
    os.utime(file, ns=(1, 1))
    np.testing.assert_allclose(of_mesh(str(file)).world(base="floating", ground=True).initial[2], 1.1)


def test_a_mesh_that_cannot_be_read_is_said():
    with pytest.warns(
        StartWarning,
        match=r"stands without wedge/ground: mesh 'wedge.obj': got .no file that was found, or one outside",
    ) as said:
        world = of_mesh(None).world(base="floating", ground=True)
    assert len(said) == 1
    np.testing.assert_array_equal(world.initial, world.model.neutral())
    m = of_mesh(None)
    m.add_shape(Shape("wedge", "collision", Sphere(0.2)))  # this one carries it
    with pytest.warns(StartWarning, match="stands without wedge/ground"):
        assert m.world(base="floating", ground=True).initial[2] == pytest.approx(0.2)


# --- which touch ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("*_foot", {"left_sole/ground", "right_sole/ground"}),
        (["left_sole", "trunk"], {"left_sole/ground", "trunk/ground"}),
        (re.compile("trunk/.*"), {"trunk/ground"}),
        ("ground", {"left_sole/ground", "right_sole/ground", "trunk/ground"}),
    ],
)
def test_contacts_are_chosen_by_name(pattern, kept):
    world = walker().world(base="floating", ground=True)
    assert names(world.with_contacts(pattern)) == kept
    assert len(world.pairs) == 3
    with pytest.raises(UnknownNameError, match="did you mean 'left_foot'"):
        world.with_contacts("left_fot")


def test_contacts_are_chosen_more_often_than_a_number_has_bits():
    """Each choice here leaves one shape alone. It had a bit of its own, and the 64th was an `OverflowError`."""
    b, bodies = WorldBuilder(), [f"b{k}" for k in range(70)]
    for k, name in enumerate(bodies):
        b.add_body(name, pose=SE3(translation=(k, 0, 0)))
        b.add_shape(name, Sphere(0.1), density=1000.0)
    world = whole = b.finalize()
    for name in bodies:
        world = world.with_contacts([own for own in bodies if own != name])
    assert len(world.pairs) == len(whole.pairs) == 70 * 69 // 2
    world = world.with_contacts([f"b{k}" for k in range(35)]).with_contacts([f"b{k}" for k in range(35, 70)])
    assert len(world.pairs) == 35 * 35


@pytest.mark.parametrize("pattern", ["ground/left_*", "left_*/ground", ["ground/left_sole"], re.compile("ground/l.*")])
def test_the_names_of_a_pair_have_no_order(pattern):
    world = walker().world(base="floating", ground=True)
    assert names(world.with_contacts(pattern)) == {"left_sole/ground"}


@pytest.mark.parametrize("nothing", [[], ()])
def test_no_contacts_may_be_chosen(nothing):
    assert walker().world(base="floating", ground=True).with_contacts(nothing).pairs == ()


def test_contacts_that_are_not_there_are_named_as_contacts():
    world = walker().world(base="floating", ground=True).with_contacts("left_sole/ground")
    with pytest.raises(UnknownNameError, match=r"contacts of world 'walker'.*'ground', 'left_foot', 'left_sole'"):
        world.with_contacts(["x*"])


def mixed_labels():
    """Robots of one kind that do not touch themselves, among loose things with odd names."""
    b = WorldBuilder()
    b.add_ground()
    b.replicate(walker(), 3, base="floating")
    for k, name in enumerate(["a", "a/b", "b/a", "b", "a[1]", "a[", "sole", "left/sole"]):
        b.add_body(f"body{k}", pose=SE3(translation=[2.0 * k, 5.0, 1.0]))
        for _ in range(1 + k % 2):  # the second one of a name gets a number
            b.add_shape(f"body{k}", Sphere(0.1), name=name, group=1 + k % 3, mask=7 - (k == 6))
    b.disable_contact("body0", "body3")
    return b.finalize()


GLOBS = ["*", "a", "a/b", "a/a/b", "a/*", "*/a", "b*/a", "*b*", "?", "?/?", "*_sole", "left*", "left*sole", "*/ground"]
GLOBS += [
    "*sole/trunk*",
    "[ab]/[!b]",
    "[!0-9]*/*_trunk",
    "a[+-9]b",
    "a[/]b*",
    "a[[]1]",
    "a[",
    "a[]/b",
    "*[!]/b]*",
    "[/]a",
]
GLOBS += ["*a?b*", "***", "", "world", "body[01]", "world/a", "*/*/*", "*#2", "*\n*", "a[!]*", "nothing*", "[!/]?[/]?"]
TESTS = [*GLOBS, ["a", "b"], ["a/b/*", "*_trunk"], ["left/sole", "left*/sole"], ["a", "a/b/a"], ["a", "none"]]
TESTS += [re.compile(text) for text in ("a/.*", ".*/a", "a", "(?!a).*/b", ".*_(trunk|sole)/(?:ground|a)", "x")]
TESTS += [["a", re.compile(".*trunk/left.*")], ("body?", "*/ground"), [], [re.compile("a"), re.compile("b/a/b")]]


def written_out(pairs, pattern):
    """Return the names of pairs a pattern names, and whether each part of it names one: by all labels of each pair."""
    labels, solids = {}, pairs.rules.solids
    for i, j in pairs.rules:
        a, b = solids[i], solids[j]
        both = {f"{a.name}/{b.name}", f"{b.name}/{a.name}"}
        labels[pairs.pair(i, j).name] = {*both, a.name, b.name, a.shape.body, b.shape.body}
    tests = list(pattern) if isinstance(pattern, (list, tuple)) else [pattern]
    matches = [t.fullmatch if isinstance(t, re.Pattern) else functools.partial(fnmatchcase, pat=t) for t in tests]
    found = [{name for name, own in labels.items() if any(map(match, own))} for match in matches]
    return set().union(*found), all(found)


def chosen(world, pattern):
    """Return the names of the pairs that a pattern names, and whether it is not refused."""
    try:
        return names(world.with_contacts(pattern)), True
    except UnknownNameError:
        return None, False


def test_patterns_choose_the_pairs_that_the_names_of_all_pairs_say():
    """Names of pairs are not written out, as there may be a million; a glob is cut at the stroke between both."""
    world = mixed_labels()
    feet = world.with_contacts(["*_sole", "a/b/*"])  # chosen among those that were chosen
    for pattern in TESTS:
        for given in (world, feet, feet.with_contacts(["a*", "*trunk", "*/left_sole#2"])):
            wanted, is_known = written_out(given.pairs, pattern)
            assert chosen(given, pattern) == ((wanted, True) if is_known else (None, False)), pattern
    assert {chosen(world, pattern)[1] for pattern in TESTS} == {True, False}


@pytest.mark.slow
def test_tables_know_the_pairs_that_were_chosen_by_their_shapes():
    """Shapes that were not chosen pass through one another, those of one robot, too."""
    b = WorldBuilder()
    b.add_ground()
    for k in range(6):
        b.add_body(f"b{k}", pose=SE3(translation=[0, 0, 0.15 + 0.3 * k]))
        b.add_shape(f"b{k}", Sphere(0.1))
    world = b.finalize().with_contacts("b[023]").with_contacts(["ground", "b3/b4"])
    solver, state = Featherstone(world, 0.002), world.state()
    assert solver.tables
    state.q[0, 2::7] = 0.1 - 1e-4 + 0.19 * np.arange(6)  # each one in the next
    found = {world.pairs[k].name for k in solver.contact_forces(state).pair}
    assert found == {"b0/ground", "b4/b3"}


def test_pairs_can_be_read():
    world = walker().world(base="floating", ground=True).with_contacts("left_sole")
    assert str(world.pairs) == "(<ContactPair 'left_sole/ground': Sphere and Plane, friction 0.8>,)"
    assert world.pairs[0].material.friction == 0.8


def test_materials_combine():
    rough, smooth = Material(friction=0.9, stiffness=2e5, dissipation=2.0), Material(friction=0.4, restitution=0.3)
    both = rough.combined(smooth)
    assert both == smooth.combined(rough)
    assert both.friction == pytest.approx(0.6)
    assert both.restitution == 0.3
    assert both.stiffness == 2e5  # the other is not given: rigid beside it
    assert both.dissipation == 2.0
    assert smooth.combined(smooth).stiffness is None
    two = rough.combined(replace(smooth, stiffness=1e5, dissipation=1.0))
    assert two.stiffness == pytest.approx(2e5 / 3)
    assert smooth.combined(smooth).dissipation is None
    assert two.dissipation == pytest.approx(1e5 / 3e5 * 2.0 + 2e5 / 3e5 * 1.0)
    assert Material(friction=0.0, stiffness=1e9).combined(Material(stiffness=1e-9)).stiffness == pytest.approx(1e-9)


def test_the_stiffness_of_contacts_follows_the_masses_that_may_press_there_unless_it_is_given():
    def stiffness(*masses, **surface):
        return {p.name: p.material.stiffness for p in stack_world(masses, material=Material(**surface)).pairs}

    assert list(stiffness(1.0, 1000.0).values()) == [pytest.approx(1.001e7)] * 3  # the lower one bears both
    assert stiffness(1000.0) == {"box0/ground": pytest.approx(1e7)}
    assert stiffness(1e-3) == {"box0/ground": 5e4}
    assert stiffness(1000.0, stiffness=2e4) == {"box0/ground": pytest.approx(1e4)}
    varied = stack_world((1000.0,)).with_inputs("mass", "contact_stiffness", "contact_dissipation")
    np.testing.assert_allclose(varied.constants()["contact_stiffness"], 1e7)
    assert varied.constants()["contact_dissipation"].tolist() == [1.0]


@pytest.mark.parametrize(
    "wrong", [{"friction": -1}, {"restitution": 1.5}, {"stiffness": 0}, {"rolling": np.nan}, {"dissipation": "x"}]
)
def test_materials_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Material(**wrong)
    with pytest.raises(ParameterError, match=r"friction of a material: got -1, expected a finite number >= 0"):
        Material(friction=-1)


# --- drives ---------------------------------------------------------------------------------------------------------


def driven():
    m = walker()
    m = m.replace_joint("left_hip", Revolute([0, 1, 0]), drive=Drive(100.0, [5.0])).mechanism
    m.add_shape(Shape("trunk", "collision", Plane(), surface=Material(friction=0.3), group=2, mask=5))
    m.add_body("tail", Inertia(0.1, (0, 0, 0), np.eye(3)))
    m.add_joint("tail", Spherical(), "trunk", "tail", drive=Drive([1, 2, 3]), compliance=[1e-6] * 6)
    return m


def test_drives_and_surfaces_go_through_files_and_edits():
    m = driven()
    assert cardan.from_json(cardan.to_json(m)) == m
    assert cardan.to_json(cardan.from_json(cardan.to_json(m))) == cardan.to_json(m)
    model = m.model(base="floating")
    assert model.passive("drive_stiffness") == (0,) * 6 + (100.0, 0.0, 1.0, 2.0, 3.0)
    assert m.lock({"left_hip": 0.1}).mechanism.model(base="floating").passive("drive_damping") == (0.0,) * 10
    with pytest.raises(ParameterError, match="drive"):
        m.replace_joint("tail", Revolute([0, 0, 1]))


def test_urdf_refuses_what_it_has_no_word_for():
    m = pendulum()
    m.add_shape(Shape("bob", "collision", Sphere(0.1), surface=Material()))
    with pytest.warns(DescriptionWarning, match="URDF does not hold surfaces, groups, .* on 'bob'"):
        cardan.to_urdf(m)
    m = pendulum().replace_joint("hinge", Revolute([0, 1, 0]), drive=Drive(100.0)).mechanism
    with pytest.raises(MechanismError, match="URDF cannot take drive_stiffness of joint 'hinge'"):
        cardan.to_urdf(m)


def test_gains_are_inputs_and_part_of_the_digest():
    m = driven()
    model = m.model(base="floating")
    other = m.replace_joint("left_hip", Revolute([0, 1, 0]), drive=Drive(101.0, [5.0])).mechanism.model(base="floating")
    assert model.digest != other.digest
    varied = model.with_inputs("drive_stiffness", kd=("tail", "drive_damping"))
    assert varied.input_values()["drive_stiffness"].tolist() == list(model.passive("drive_stiffness"))
    filled = varied.with_values(drive_stiffness=np.arange(11.0), kd=[7.0, 8.0, 9.0])
    assert filled.passive("drive_stiffness") == tuple(np.arange(11.0))
    assert filled.passive("drive_damping")[-3:] == (7.0, 8.0, 9.0)


def test_a_mimic_adds_its_gains_along_its_primary():
    found = []
    for own, copied in (((0.0, 0.0), (10.0, 1.0)), ((90.0, 9.0), (0.0, 0.0))):
        m, y = pendulum().with_drives({"hinge": Drive(*own)}).mechanism, Revolute([0, 1, 0])
        m.add_body("copy", Inertia(1.0, (0, 0, 0), np.eye(3)))
        m.add_joint("copy", Mimic(y, "hinge", -3.0, 0.0), "world", "copy", drive=Drive(*copied))
        world = m.world()
        control = world.control()
        control.position[:], control.velocity[:] = 0.7, 0.2
        found.append(Featherstone(world, dt=1e-2).step(world.state(v=[0.3]), control).v[0, 0])
    np.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize(
    "wrong", [Drive(-1.0), Drive([1.0, 2.0]), Drive(np.inf), Drive(0, np.nan), Drive("stiff"), 3.0]
)
def test_drives_are_checked(wrong):
    m = Mechanism()
    m.add_body("bob")
    with pytest.raises(ParameterError, match="drive"):
        m.add_joint("hinge", Revolute([0, 1, 0]), "world", "bob", drive=wrong)


def test_a_closing_joint_has_no_drive():
    m = walker()
    m.add_joint("bar", Spherical(), "left_foot", "right_foot", drive=Drive(1.0))
    with pytest.raises(MechanismError, match="'bar' has a drive but closes a loop"):
        m.model()


# --- worlds as values ------------------------------------------------------------------------------------------------


def test_a_world_prints_what_is_in_it():
    b = WorldBuilder("scene")
    b.add(walker(), base="floating")
    b.add(pendulum())
    b.add_ground()
    assert str(b.finalize()).splitlines() == [
        "scene: nq = 10, nv = 9",
        "articulation  root              joints  links  q     v",
        "walker        trunk (floating)  5       3      0:9   0:8",
        "pendulum      bob (fixed)       1       1      9:10  8:9",
        "may touch: trunk/ground, left_sole/ground, right_sole/ground",
    ]


def test_a_world_does_not_change_with_what_it_was_made_of():
    m = pendulum()
    b = WorldBuilder()
    b.add(m)
    world = b.finalize()
    m.add_body("more")
    b.add_body("more")
    assert world.model.body_names == world.mechanism.model().body_names == ("bob",)
    for array in (world.initial, world.initial_velocity, world.targets):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0
    twin = pickle.loads(pickle.dumps(world))
    assert twin.model.digest == world.model.digest
    assert twin.pairs == world.pairs
    assert list(twin.articulations.values()) == list(world.articulations.values())


def test_cylinders_and_capsules_find_their_names():
    b = WorldBuilder()
    b.add_body("rod")
    b.add_shape("rod", Cylinder(0.1, 0.2))
    b.add_shape("rod", Capsule(0.1, 0.2))
    b.add_ground()
    assert [p.name for p in b.finalize().pairs] == ["rod/ground", "rod#2/ground"]


def test_pairs_that_a_world_was_not_made_with_are_refused():
    world = stack_world([1.0, 1.0])
    with pytest.raises(ParameterError, match=r"pairs of a world.*world.with_contacts\(...\)"):
        replace(world, pairs=(world.pairs[0],))
    assert replace(world, pairs=world.pairs).pairs == world.pairs


# --- Newton's arrays ---


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.full)])
def test_states_go_to_newtons_arrays_and_back(dtype, quick_target):
    builder = WorldBuilder()
    builder.add(cardan.robots.quadruped(), base="floating", prefix="a/")
    builder.add(cardan.robots.arm7(), prefix="b/", pose=cardan.SE3(translation=(2.0, 0.0, 0.0)))
    world = builder.finalize()
    q = world.model.random_configuration((5,), seed=0)
    v = np.random.default_rng(0).normal(size=(5, world.model.nv))
    state = world.state(5, dtype, q=q, v=v)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    body_q, body_qd = state.newton()
    joint_q, joint_qd = state.newton_joints()
    again = [
        cardan.State.from_newton(world, body_q=body_q, body_qd=body_qd, dtype=dtype),
        cardan.State.from_newton(world, body_q=body_q.reshape(-1, 7), body_qd=body_qd.reshape(-1, 6), dtype=dtype),
        cardan.State.from_newton(world, joint_q=joint_q, joint_qd=joint_qd, dtype=dtype),
        cardan.State.from_newton(world, joint_q=joint_q.reshape(-1), joint_qd=joint_qd.reshape(-1), dtype=dtype),
    ]
    for other in again:
        assert (len(other), other.dtype) == (5, state.dtype)
        assert np.abs(cardan.difference(world.model, state.q, other.q)).max() < tolerance
        assert np.allclose(other.v, state.v, atol=10.0 * tolerance)
        assert np.allclose(other.newton()[1], body_qd, atol=10.0 * tolerance)
    still = cardan.State.from_newton(world, body_q=body_q[0])
    assert (len(still), np.abs(still.v).max()) == (1, 0.0)


def test_whole_turns_are_those_near():
    world = pendulum().world()
    state = world.state(q=[2.0 * np.pi + 0.5])
    body_q, _ = state.newton()
    assert np.allclose(cardan.State.from_newton(world, body_q=body_q).q, 0.5)
    assert np.allclose(cardan.State.from_newton(world, body_q=body_q, near=[6.0]).q, state.q)


def test_newtons_arrays_that_do_not_fit_are_refused(quick_target):
    world = cardan.robots.arm7().world()
    (body_q, body_qd), (joint_q, _) = world.state().newton(), world.state().newton_joints()
    make = functools.partial(cardan.State.from_newton, world)
    for given in (
        {},
        {"joint_q": joint_q, "body_q": body_q},
        {"joint_q": joint_q, "body_qd": body_qd},
        {"body_qd": body_qd},
    ):
        with pytest.raises(ParameterError, match="or body_q"):
            make(**given)
    for given in ({"joint_q": joint_q[0, :5]}, {"body_q": body_q[..., :6]}, {"body_q": body_q[:, :3]}):
        with pytest.raises(cardan.errors.ShapeError, match="one after the other"):
            make(**given)
    body_q[0, 3, 0] += 0.5
    with pytest.raises(ParameterError, match="joints allow"):
        make(body_q=body_q)


def test_bodies_that_a_joint_connects_touch_where_that_is_enabled():
    def hinged():
        b = WorldBuilder()
        for name, x in (("upper", 0.0), ("lower", 1.0)):
            b.add_link(name, pose=cardan.SE3(translation=(x, 0.0, 0.0)))
            b.add_shape(name, Box((0.6, 0.1, 0.1)))
        b.add_joint("shoulder", Revolute([0, 1, 0]), "world", "upper")
        b.add_joint(
            "elbow",
            Revolute([0, 1, 0]),
            "upper",
            "lower",
            cardan.SE3(translation=(0.5, 0.0, 0.0)),
            cardan.SE3(translation=(-0.5, 0.0, 0.0)),
        )
        b.add_articulation("arm", ["shoulder", "elbow"])
        return b

    b = hinged()
    assert b.finalize().pairs == ()
    b.enable_contact("lower", "upper")
    assert names(b.finalize()) == {"lower/upper"}
    with pytest.raises(UnknownNameError, match="enable_contact"):
        b.enable_contact("lower", "hand")
    robot = WorldBuilder()
    robot.add(cardan.robots.quadruped(), base="floating")
    assert robot.finalize().pairs == ()
    robot.enable_contact("front_left_foot", "front_right_foot")
    assert names(robot.finalize()) == {"front_right_foot/front_left_foot"}


def test_lists_of_pairs_that_name_other_shapes_are_not_equal():
    world = cardan.robots.quadruped().world("floating", ground=True)
    front, rear, again = (world.with_contacts(names).pairs for names in ("front_*_foot", "rear_*_foot", "front_*_foot"))
    assert len(front) == len(rear)
    assert front != rear
    assert front == again


def test_no_list_of_all_bodies_is_made_for_each_body():
    """The world's name is none of a body, so all names were listed for each joint on the world and each shape on it."""

    class Table(dict):
        def __iter__(self):
            raise AssertionError("goes through all bodies")

    b = cardan.WorldBuilder()
    b.add_body("first")
    b._mechanism._bodies = Table(b._mechanism._bodies)
    b.add_body("second")
    b.add_shape("second", cardan.description.Sphere(0.1))
    b.add_ground()
    assert "second" in b._mechanism._bodies
