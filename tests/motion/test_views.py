"""Views: what is selected, read and written."""

import re

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia, Mechanism, WorldBuilder
from cardan.errors import (
    ConfigurationError,
    MechanismError,
    NotFiniteError,
    ParameterError,
    ShapeError,
    UnknownNameError,
)
from cardan.joints import D6, FloatingMRP, FreeFlyer, Revolute, Spherical
from test_world import TURNED, pendulum, walker

pytestmark = pytest.mark.usefixtures("reference_target")
ANCHORS = (SE3(TURNED.rotation, [0.3, 0, 0.1]), SE3(TURNED.rotation, [0, 0.2, -0.1]))


def arm(name="arm"):
    """Two hinges on a fixed base with an anchor, and a wrist."""
    m = Mechanism(name)
    for body in ("base", "upper", "fore", "tool"):
        m.add_body(body, Inertia(1.0, (0.1, 0, 0), np.eye(3) * 0.01))
    m.add_joint("mount", Revolute([0, 0, 1]), "world", "base", *ANCHORS)
    m.add_joint("shoulder", Revolute([0, 1, 0]), "base", "upper", SE3(translation=[0, 0, 0.5]))
    m.add_joint("elbow", Revolute([0, 1, 0]), "upper", "fore", SE3(translation=[0.4, 0, 0]))
    m.add_joint("wrist", Spherical(), "fore", "tool", SE3(translation=[0.3, 0, 0]))
    return m


@pytest.fixture(scope="module")
def world():
    """Two floating walkers, two arms that can be moved, a pendulum between."""
    b = WorldBuilder()
    b.add(walker(), prefix="robot1_", base="floating", pose=TURNED, name="robot1")
    b.add(pendulum(), name="pendulum")
    b.add(walker(), prefix="robot2_", base="floating", name="robot2")
    for k in (1, 2):
        b.add(arm(), prefix=f"arm{k}_", name=f"arm{k}", pose=SE3(translation=[k, 0, 0]))
    return b.finalize(movable_bases=True)


@pytest.fixture
def state(world):
    rng = np.random.default_rng(0)
    q, v = world.model.random_configuration((3,), seed=rng), rng.standard_normal((3, world.model.nv))
    return world.state(3, q=q, v=v)


# --- selection -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["robot*", re.compile(r"robot\d"), ["robot2", "*t1"], {"robot2", "robot1"}])
def test_articulations_are_chosen_by_pattern_list_or_expression(world, pattern):
    view = world.view(pattern)
    assert view.names == ("robot1", "robot2")  # in the world's order
    assert view.shape == (2, 8)


def test_a_list_of_names_keeps_its_order(world, state):
    """A policy whose joints come in another order than the file's had the angles of others, without a word."""
    hips = ["robot1_right_hip", "robot1_left_hip"]
    view = world.view("robot1", joints=hips, links=["robot1_right_leg", "robot1_trunk"])
    assert view.joints == (tuple(hips),)
    assert view.links == (("robot1_right_leg", "robot1_trunk"),)
    q = [state.q[:, world.model.q_slice(name)] for name in hips]
    np.testing.assert_array_equal(view.positions(state)[:, 0], np.concatenate(q, axis=1))
    view.set_positions(state, [[[0.1, 0.2]]])
    assert (state.q[:, world.model.q_slice("robot1_left_hip")] == 0.2).all()
    usual = world.view("robot1", joints=sorted(hips), links=["robot1_trunk", "robot1_right_leg"])
    np.testing.assert_array_equal(view.link_poses(state)[:, :, ::-1], usual.link_poses(state))
    np.testing.assert_array_equal(view.mass_matrix(state)[..., ::-1, ::-1], usual.mass_matrix(state))
    np.testing.assert_array_equal(view.jacobian(state)[:, :, ::-1][..., ::-1], usual.jacobian(state))
    np.testing.assert_array_equal(view.limits()[:, ::-1], usual.limits())
    assert world.view(["robot2", "robot1"]).names == ("robot2", "robot1")


@pytest.mark.parametrize(
    ("options", "joints"),
    [
        ({}, ["root", "left_hip", "right_hip"]),
        ({"joints": "*_hip"}, ["left_hip", "right_hip"]),
        ({"joints": ["*left_hip"]}, ["left_hip"]),
        ({"joints": re.compile(".*hip")}, ["left_hip", "right_hip"]),
        ({"include": (Revolute,)}, ["left_hip", "right_hip"]),
        ({"exclude": [FreeFlyer]}, ["left_hip", "right_hip"]),
        ({"include": FreeFlyer}, ["root"]),
        ({"joints": "*left*", "exclude": (FreeFlyer, Spherical)}, ["left_hip"]),
    ],
)
def test_joints_are_chosen_by_name_and_type(world, options, joints):
    view = world.view("robot*", **options)
    assert view.joints == tuple(tuple(f"robot{k}_{j}" for j in joints) for k in (1, 2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pattern": "robots*"}, "articulation"),
        ({"pattern": ["robot1", "robot3"]}, "did you mean 'robot"),
        ({"pattern": re.compile("robot")}, "robot"),  # the whole name
        ({"joints": "*knee"}, "joint"),
        ({"links": "*_hand"}, "link"),
        ({"include": (Spherical,)}, "Spherical"),
        ({"joints": "*_hip", "exclude": (Revolute,)}, "Revolute"),
    ],
)
def test_an_empty_selection_is_an_error(world, options, said):
    with pytest.raises(UnknownNameError, match=said):
        world.view(**{"pattern": "robot*", **options})


@pytest.mark.parametrize("options", [{"pattern": 3}, {"pattern": []}, {"joints": [3]}, {"include": ("Revolute",)}])
def test_patterns_and_types_are_checked(world, options):
    with pytest.raises(ParameterError):
        world.view(**{"pattern": "robot*", **options})


# --- along q and v ---------------------------------------------------------------------------------------------------


def test_what_is_read_is_a_copy_and_what_is_set_is_written(world, state):
    view = world.view("robot*", joints="*_hip")
    x = view.positions(state)
    assert x.shape == (3, 2, 2)
    own = world.articulations["robot2"]
    np.testing.assert_array_equal(x[:, 1], state.q[:, own.q_slice][:, 7:])
    before = state.copy()
    x[...] = 0.0
    assert state == before
    view.set_positions(state, x + [0.1, 0.2])
    assert (state.q[:, own.q_slice][:, 7:] == [0.1, 0.2]).all()
    others = np.setdiff1d(np.arange(world.model.nq), view.q_indices)
    np.testing.assert_array_equal(state.q[:, others], before.q[:, others])
    np.testing.assert_array_equal(state.v, before.v)
    np.testing.assert_array_equal(view.positions(state), np.broadcast_to([0.1, 0.2], (3, 2, 2)))


@pytest.mark.parametrize("worlds", [[True, False, True], [0, 2], slice(None, None, 2), np.array([2, 0])])
def test_masks_choose_the_worlds(world, state, worlds):
    view = world.view("robot1", joints="*_hip")
    before = view.velocities(state)
    view.set_velocities(state, 5.0, worlds)
    assert (view.velocities(state)[[0, 2]] == 5.0).all()
    np.testing.assert_array_equal(view.velocities(state)[1], before[1])
    all_worlds = np.arange(6.0).reshape(3, 1, 2)
    view.set_velocities(state, all_worlds, worlds)  # values of all worlds, of which the mask takes its own
    np.testing.assert_array_equal(view.velocities(state)[[0, 2]], all_worlds[[0, 2]])
    view.set_velocities(state, all_worlds[:2] + 9.0, [True, False, True])
    np.testing.assert_array_equal(view.velocities(state)[[0, 2]], all_worlds[:2] + 9.0)


@pytest.mark.parametrize("worlds", [[1, 0, 1], np.array([0, 1, 1], np.uint8), [2, 2], [0, -3], True])
def test_a_world_chosen_twice_is_an_error(world, state, worlds):
    """A mask of 0 and 1 chose the worlds 0 and 1, whichever it meant."""
    before = state.copy()
    with pytest.raises(ParameterError, match=r"a mask of 3 bools, or indices, each once"):
        world.view("robot*").set_velocities(state, 1.0, worlds=worlds)
    with pytest.raises(ParameterError, match="each once"):
        world.control(3).apply_force("robot1_trunk", (1.0, 0.0, 0.0), worlds=worlds)
    assert state == before


def test_no_world_chosen_writes_nothing(world, state):
    before = state.copy()
    world.view("robot*").set_positions(state, world.view("robot*").positions(state) * 0, [False] * 3)
    assert state == before


def test_controls_through_a_view(world):
    control, view = world.control(2), world.view("arm*", joints="*_elbow")
    view.set_efforts(control, [[[1.0], [2.0]]])
    view.set_targets(control, 0.3, worlds=[1])
    view.set_velocity_targets(control, -1.0)
    assert view.efforts(control).tolist() == [[[1.0], [2.0]]] * 2
    assert view.targets(control).tolist() == [[[0.0], [0.0]], [[0.3], [0.3]]]
    assert (view.velocity_targets(control) == -1.0).all()
    assert np.count_nonzero(control.effort) == np.count_nonzero(control.velocity) == 4
    assert world.view("robot*", joints="*hip").limits().tolist() == [[[-0.5, 1.5]] * 2] * 2


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("pattern", [("*", None), ("robot1", None), ("arm*", "*_elbow"), ("robot*", None)])
def test_places_beside_one_another_are_written_as_places_one_by_one(world, count, pattern):
    """All worlds at once go by a slice where there is one; their mask goes by indices."""
    view, (one, other) = world.view(pattern[0], joints=pattern[1]), (world.control(count), world.control(count))
    efforts = np.arange(1.0, 1.0 + view.v_indices.size * count).reshape(count, *view.shape)
    view.set_efforts(one, efforts)
    view.set_efforts(other, efforts, worlds=np.ones(count, dtype=bool))
    np.testing.assert_array_equal(one.effort, other.effort)
    np.testing.assert_array_equal(one.effort[:, view.v_indices], efforts)
    assert np.count_nonzero(one.effort) == efforts.size
    pushed = world.view(pattern[0])
    wrenches = np.arange(1.0, 1.0 + 6 * pushed.body_indices.size * count).reshape(count, *pushed.body_indices.shape, 6)
    pushed.set_wrenches(one, wrenches)
    pushed.set_wrenches(other, wrenches, worlds=np.ones(count, dtype=bool))
    np.testing.assert_array_equal(one.wrenches, other.wrenches)
    np.testing.assert_array_equal(pushed.wrenches(one), wrenches)


@pytest.mark.parametrize(
    ("set_it", "error", "said"),
    [
        (lambda v, s: v.set_positions(s, np.zeros((3, 2, 9))), ConfigurationError, "quaternion"),
        (lambda v, s: v.set_positions(s, np.zeros((3, 2, 8))), ShapeError, r"expected \(3, 2, 9\)"),
        (lambda v, s: v.set_velocities(s, np.zeros((4, 2, 8))), ShapeError, "velocities"),
        (lambda v, s: v.set_velocities(s, np.nan), NotFiniteError, "velocities"),
        (lambda v, s: v.set_velocities(s, 0.0, [True, False]), ParameterError, "a mask of 3 bools"),
        (lambda v, s: v.set_velocities(s, 0.0, [5]), ParameterError, "indices"),
        (lambda v, s: v.set_velocities(pendulum().world().state(3), 0.0), ParameterError, "one of <World"),
        (lambda v, s: v.positions(np.zeros(3)), ParameterError, "state or control"),
        (lambda v, s: v.set_root_poses(s, np.zeros((3, 2, 7))), ParameterError, "norm 0"),
        (lambda v, s: v.set_root_poses(s, np.zeros((3, 2, 6))), ShapeError, "root poses"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(world, state, set_it, error, said):
    before = state.copy()
    with pytest.raises(error, match=said):
        set_it(world.view("robot*"), state)
    assert state == before


def test_articulations_of_different_sizes_are_one_flat_view(world, state):
    view = world.view(["robot1", "pendulum", "arm2"])
    assert view.shape == (8 + 1 + 6,)
    own = [world.articulations[name].v_slice for name in view.names]
    np.testing.assert_array_equal(view.velocities(state), np.concatenate([state.v[:, s] for s in own], axis=1))
    view.set_velocities(state, np.arange(15.0))
    np.testing.assert_array_equal(state.v[:, own[1]], np.full((3, 1), 8.0))
    assert view.root_poses(state).shape == (3, 3, 7)
    assert view.link_poses(state).shape == (3, 3 + 1 + 4, 7)
    assert view.mass_matrix(state).shape == (3, 15, 15)
    with pytest.raises(MechanismError, match="differ in size"):
        view.jacobian(state)


def test_centre_of_some_worlds(world, state):
    before = state.copy()
    world.view("robot*").centre(state, worlds=[1])
    hips = world.view("robot*", joints="*_hip").positions(state)
    assert (hips[1] == 0.5).all()
    np.testing.assert_array_equal(state.q[[0, 2]], before.q[[0, 2]])
    np.testing.assert_array_equal(state.q[1, :7], before.q[1, :7])


# --- roots and links -------------------------------------------------------------------------------------------------


def frames(world, state, links):
    return cardan.frame_transform(world.model, state.q, list(links), **state.constants)


def matrix(poses):
    x, y, z, w = np.moveaxis(poses[..., 3:], -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def test_root_poses_are_those_of_the_root_links_whatever_the_anchors(world, state):
    for view in (world.view("robot*"), world.view("arm*"), world.view("*")):
        roots = [a.root for a in view.articulations]
        X, poses = frames(world, state, roots), view.root_poses(state)
        np.testing.assert_allclose(poses[..., :3], X[..., :3, 3], atol=1e-14)
        np.testing.assert_allclose(matrix(poses), X[..., :3, :3], atol=1e-13)


@pytest.mark.parametrize("pattern", ["robot*", "arm*"])
def test_moving_a_root_moves_all_that_hangs_on_it(world, state, pattern):
    """Every link by the same motion, floating or fixed, in chosen worlds; nothing else moves."""
    view, other = world.view(pattern), world.view("pendulum")
    before, links = state.copy(), [link for a in view.articulations for link in a.links]
    X_old, others = frames(world, state, links), other.link_poses(state)
    roots = view.root_poses(state)
    roots[..., 0] += 0.2
    roots[..., 3:] = [np.sin(0.3), 0, 0, 2 * np.cos(0.3)]  # of any length
    view.set_root_poses(state, roots, worlds=[True, False, True])
    X = frames(world, state, links)
    expected = roots / np.where(np.arange(7) < 3, 1.0, np.linalg.norm(roots[..., 3:], axis=-1, keepdims=True))
    np.testing.assert_allclose(view.root_poses(state)[[0, 2]], expected[[0, 2]], atol=1e-13)
    np.testing.assert_array_equal(X[1], X_old[1])
    np.testing.assert_array_equal(other.link_poses(state), others)
    n = len(view.articulations[0].links)
    for k in (0, 2):
        for first in (0, n):
            motion = X[k, first] @ np.linalg.inv(X_old[k, first])
            for i in range(first, first + n):
                np.testing.assert_allclose(X[k, i], motion @ X_old[k, i], atol=1e-12)
    joints = world.view(pattern, exclude=FreeFlyer)
    np.testing.assert_array_equal(joints.positions(state), joints.positions(before))


def test_moving_a_fixed_root_often_leaves_a_rigid_pose(world, state):
    view = world.view("arm1")
    for _ in range(50):
        view.set_root_poses(state, view.root_poses(state) + [1e-3, 0, 0, 0, 0, 0, 0])
    P = state.constants["arm1_mount_pose"][..., :3, :3]
    np.testing.assert_allclose(P @ P.swapaxes(-1, -2), np.broadcast_to(np.eye(3), P.shape), atol=1e-14)


def test_what_is_fixed_stays_unless_the_world_allows_it():
    world = arm().world()
    state = world.state()
    view = world.view("arm")
    with pytest.raises(MechanismError, match=r"'arm' hangs on the world by 'mount'.*movable_bases=True"):
        view.set_root_poses(state, view.root_poses(state))
    with pytest.raises(MechanismError, match="does not float"):
        view.set_root_twists(state, np.ones(6))
    view.set_root_twists(state, np.zeros(6))


def test_a_fixed_base_of_no_joint_moves_too():
    m = Mechanism("lamp")
    for body in ("foot", "head"):
        m.add_body(body, Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("neck", Revolute([0, 0, 1]), "foot", "head", SE3(translation=[0, 0, 1]))
    world = m.world(movable_bases=True, pose=TURNED)
    state, view = world.state(2), world.view("lamp")
    np.testing.assert_allclose(view.root_poses(state)[0, 0], [1, 2, 3, 0, 0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-15)
    view.set_root_poses(state, [0, 0, 5.0, 0, 0, 0, 1.0], worlds=[1])
    np.testing.assert_allclose(view.link_poses(state)[1, 0, 0, :3], [0, 0, 6])
    np.testing.assert_allclose(view.root_twists(state), 0.0)


AXES = np.eye(3).tolist()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("joint", [FreeFlyer(), FloatingMRP(), D6(AXES, AXES)], ids=lambda j: type(j).__name__)
def test_floating_roots_of_any_joint_anchors_and_direction(joint, reverse):
    b = WorldBuilder()
    b.add_link("body", inertia=Inertia(1.0, (0.1, 0, 0), np.eye(3)))
    ends = ("body", "world") if reverse else ("world", "body")
    b.add_joint("free", joint, *ends, *ANCHORS)
    b.add_articulation("one", ["free"])
    world = b.finalize()
    for dtype, close in {"float64": 1e-12, "float32": 1e-5}.items():
        q = 0.3 * world.model.random_configuration((2,), seed=3) + 0.7 * world.initial
        state = world.state(2, dtype, q=cardan.normalize(world.model, q))
        view, twist = world.view("one"), np.arange(12.0).reshape(2, 1, 6) / 5
        view.set_root_twists(state, twist)
        np.testing.assert_allclose(view.root_twists(state), twist, atol=10 * close)
        assert np.abs(state.v - twist[:, 0]).max() > 0.1
        pose = np.array([1.0, 2, 3, 0.6, 0, 0, 0.8])
        view.set_root_poses(state, pose)
        np.testing.assert_allclose(view.root_poses(state), np.broadcast_to(pose, (2, 1, 7)), atol=10 * close)
        assert state.q.dtype == dtype


def test_views_of_no_world(world):
    state, view = world.state(0), world.view("*")
    view.set_root_poses(state, view.root_poses(state))
    view.set_root_twists(state, np.zeros((0, 5, 6)))
    view.set_velocities(state, 1.0)
    assert view.root_poses(state).shape == (0, 5, 7)


def test_links_jacobians_and_mass_matrices(world, state):
    view = world.view("arm*", joints="*er", links="*_fore")
    assert view.links == (("arm1_fore",), ("arm2_fore",))
    assert view.joints == (("arm1_shoulder",), ("arm2_shoulder",))
    poses, twists = view.link_poses(state), view.link_twists(state)
    np.testing.assert_allclose(
        poses[:, :, 0, :3], frames(world, state, ["arm1_fore", "arm2_fore"])[..., :3, 3], atol=1e-14
    )
    V = cardan.frame_velocity(world.model, state.q, state.v, "arm2_fore", expressed_in="arm2_fore", **state.constants)
    np.testing.assert_allclose(twists[:, 1, 0], V, atol=1e-13)
    J, M = view.jacobian(state), view.mass_matrix(state)
    assert (J.shape, M.shape) == ((3, 2, 1, 6, 1), (3, 2, 1, 1))
    column = world.model.v_slice("arm2_shoulder").start
    whole = cardan.jacobian(world.model, state.q, "arm2_fore", **state.constants)
    np.testing.assert_array_equal(J[:, 1, 0, :, 0], whole[..., column])
    diagonal = cardan.mass_matrix(world.model, state.q, **state.constants)[:, column, column]
    np.testing.assert_array_equal(M[:, 1, 0, 0], diagonal)


# --- constants -------------------------------------------------------------------------------------------------------


def test_constants_of_each_world_through_a_view(world):
    varied = world.with_inputs("mass", "damping")
    state, view = varied.state(2), varied.view("robot*", joints="*_hip")
    assert view.constants(state, "mass").tolist() == [[[5.0, 1.0, 1.0]] * 2] * 2
    view.set_constants(state, "mass", [[[1, 2, 3], [4, 5, 6]]], worlds=[1])
    assert view.constants(state, "mass").tolist() == [[[5.0, 1.0, 1.0]] * 2, [[1, 2, 3], [4, 5, 6]]]
    view.set_constants(state, "damping", 0.5)
    assert state.constants["damping"].sum() == 4.0
    assert view.constants(state, "armature").shape == (2, 2, 2)  # no input: the model's own, to read
    assert varied.view("robot*", links="*leg").constants(state, "com").shape == (2, 2, 2, 3)
    with pytest.raises(MechanismError, match=r"world.with_inputs\('armature'\)"):
        view.set_constants(state, "armature", 1.0)
    before = state.copy()
    for wrong in (-1.0, [-1.0, 2.0, 2.0]):
        with pytest.raises(ParameterError, match=r"view: mass\[.*\]: got -1.0, expected a mass"):
            view.set_constants(state, "mass", wrong)
    assert state == before
    with pytest.raises(UnknownNameError, match="did you mean 'mass'"):
        view.constants(state, "masses")


def test_a_view_of_one_world_serves_its_variants(world):
    """The same coordinates: a view is of indices."""
    varied = world.with_inputs("gravity")
    assert world.view("robot*").positions(varied.state(2)).shape == (2, 2, 9)


# --- masks of worlds and articulations, what is excluded, fixed links ---


def test_a_mask_of_worlds_and_articulations(world, state):
    robots = world.view("robot*")
    count = len(robots.articulations)
    mask = np.zeros((len(state), count), dtype=bool)
    mask[0, 1] = mask[2, 0] = True
    before, values = robots.velocities(state), np.arange(robots.velocities(state).size, dtype=float)
    values = values.reshape(before.shape)
    robots.set_velocities(state, values, worlds=mask)
    assert np.array_equal(robots.velocities(state), np.where(mask[..., None], values, before))
    control = world.control(len(state))
    robots.set_efforts(control, 3.0, worlds=mask.tolist())
    assert np.array_equal(robots.efforts(control) == 3.0, np.broadcast_to(mask[..., None], before.shape))


def test_a_mask_of_articulations_of_different_sizes_and_of_roots(world, state):
    everything = world.view("*")
    assert everything.v_indices.ndim == 1
    mask = np.zeros((len(state), len(everything.articulations)), dtype=bool)
    mask[1, -1] = mask[0, 0] = True
    everything.set_velocities(state, 7.0, worlds=mask)
    for k, own in enumerate(everything.articulations):
        assert np.array_equal((state.v[:, own.v_slice] == 7.0).all(axis=-1), mask[:, k])
    floating = world.view([a.name for a in everything.articulations if a.is_floating])
    chosen = np.zeros((len(state), len(floating.articulations)), dtype=bool)
    chosen[1, 0] = True
    before = floating.root_poses(state)
    floating.set_root_poses(state, before + np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]), worlds=chosen)
    assert np.allclose((floating.root_poses(state) - before)[..., 2], chosen)


def test_masks_that_do_not_fit_are_refused(world, state):
    robots = world.view("robot*")
    for mask in (np.ones((len(state), 7), bool), np.ones((len(state), len(robots.names)))):
        with pytest.raises(ParameterError, match="mask of worlds and articulations"):
            robots.set_velocities(state, 1.0, worlds=mask)


def test_joints_and_links_are_excluded_by_pattern():
    world = cardan.robots.quadruped().world("floating")
    legs = world.view("quad*", exclude_joints=["root", "*_shank_*"])
    assert not any("shank" in joint or joint == "root" for joint in legs.joints[0])
    assert len(legs.joints[0]) == 8
    trunk = world.view("quad*", exclude_links=re.compile(".*_(hip|upper|lower|thigh|shank|foot).*"))
    assert trunk.links[0] == ("trunk",)
    with pytest.raises(UnknownNameError, match="exclude"):
        world.view("quad*", exclude_joints="*elbow*")
    with pytest.raises(UnknownNameError, match="left"):
        world.view("quad*", joints="*_shank_*", exclude_joints="*")


def test_fixed_links_have_poses_velocities_and_wrenches():
    world = cardan.robots.arm7().world().with_inputs("mass")
    model, state, control = world.model, world.state(2), world.control(2)
    state.q, state.v = model.random_configuration((2,), seed=3), np.ones((2, model.nv))
    view = world.view("arm7", links="*")
    assert set(view.links[0]) == set(world.articulations["arm7"].bodies) > set(world.links)
    assert view.links[0][: len(world.links)] == world.links
    tool_at = view.links[0].index("tool")
    given = state.model_constants
    X = cardan.frame_transform(model, state.q, "tool", **given)
    pose = view.link_poses(state)[:, 0, tool_at]
    assert np.allclose(pose[:, :3], X[:, :3, 3])
    assert np.allclose(cardan.SE3.from_quaternion(pose[:, 3:], pose[:, :3]).matrix(), X)
    V = cardan.frame_velocity(model, state.q, state.v, frame="tool", expressed_in="frame", **given)
    assert np.allclose(view.link_twists(state)[:, 0, tool_at], V)
    J = cardan.jacobian(model, state.q, "tool", **given)
    assert np.allclose(view.jacobian(state)[:, 0, tool_at], J)
    moving = world.view("arm7")
    assert np.array_equal(view.link_poses(state)[:, :, : len(world.links)], moving.link_poses(state))
    tool = world.view("arm7", links=["tool"])
    tool.set_wrenches(control, (0.0, 0.0, -5.0, 0.0, 0.0, 0.0), worlds=[1])
    assert control.wrenches[1, model.body_names.index("tool"), 2] == -5.0
    assert (np.count_nonzero(control.wrenches), tool.wrenches(control).shape) == (1, (2, 1, 1, 6))
    with pytest.raises(cardan.errors.MechanismError, match="body_indices"):
        print(tool.link_indices)
