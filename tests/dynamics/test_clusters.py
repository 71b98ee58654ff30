"""Loops as clusters: one joint between two ends, in the coordinates of the closed mechanism."""

import itertools
import re
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

import cardan
import linkages
from cardan._dynamics.algorithms.aba import borne_by_bodies, factored
from cardan._dynamics.algorithms.cluster import ClusterMember
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.grouped import grouped_accelerations, groups, taken_apart
from cardan._dynamics.algorithms.implicit import Snapshot, add_impedance
from cardan._dynamics.algorithms.linear import plus
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.spin import body_motions
from cardan._dynamics.algorithms.tree import relative_kinematics
from cardan._robot.joints.derivation import derived
from cardan._robot.joints.derivation.derived import _rates_of as rates_of
from cardan._robot.joints.derivation.derived import joint_rates
from cardan.errors import (
    DTypeError,
    MechanismError,
    NotFiniteError,
    ParameterError,
    ShapeError,
    UnknownNameError,
    UnsupportedError,
)
from cardan.robots import five_bar, four_bar, stewart_platform
from closeness import close

MECHANISMS = {
    "four_bar": lambda: four_bar().model(),
    "tilted": lambda: linkages.tilted(four_bar()).model(),
    "five_bar": lambda: five_bar().model(),
    "slider_crank": lambda: linkages.slider_crank_of_bars().model(),
    "bennett": lambda: linkages.bennett().model(),
    "parallelogram": lambda: linkages.parallelogram().model(),
    "ankle": lambda: linkages.parallel_ankle().model(),
    "scissor": lambda: linkages.scissor(11).model(),
    "cassie": lambda: linkages.leg().model(base="floating"),
    "humanoid": lambda: linkages.humanoid_with_ankles().model(base="floating"),
    "stewart": lambda: stewart_platform().model(),
    "excavator": lambda: linkages.excavator().model(),
}
FREEDOMS = {
    "four_bar": 1,
    "five_bar": 2,
    "bennett": 1,
    "parallelogram": 1,
    "ankle": 2,
    "cassie": 9,
    "stewart": 6,
    "excavator": 4,
}
each = pytest.mark.parametrize("name", MECHANISMS)


def state(model, seed=0, rows=5):
    rng = np.random.default_rng(seed)
    q = cardan.integrate(model, model.neutral(), 0.2 * rng.normal(size=(rows, model.nv)))
    return q, *(rng.normal(size=(rows, model.nv)) for _ in range(3))


def error(found, expected):
    return np.abs(found - expected).max() / max(1.0, np.abs(expected).max())


@pytest.mark.full
@each
def test_a_cluster_moves_as_the_loops_it_closes(name):
    loops = MECHANISMS[name]()
    model, tree = cardan.clustered(loops), loops.spanning_tree()
    assert model.nv == FREEDOMS.get(name, model.nv)
    assert not model.closures
    q, v, _, tau = state(model)
    out = cardan.converter(model, loops)
    x, dx = out.configuration(q), out.velocity(q, v)
    assert np.abs(cardan.loop_residual(loops, x)).max() < 1e-14
    accelerations = cardan.forward_dynamics(model, q, v, tau)
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, tau)).accelerations
    assert error(out.acceleration(q, v, accelerations), expected) < 1e-12
    assert error(cardan.inverse_dynamics(model, q, v, accelerations), tau) < 1e-11
    assert error(cardan.kinetic_energy(model, q, v), cardan.kinetic_energy(tree, x, dx)) < 1e-13


@pytest.mark.slow
def test_slices_are_those_of_each_joint_and_dependent_joints_have_none_in_v():
    loops = stewart_platform().model()
    slides = [f"slide{k}" for k in range(1, 7)]
    model = cardan.clustered(loops, independent=slides)
    q = model.random_configuration(seed=0)
    of_tree = cardan.converter(model, loops).configuration(q)
    for name in loops.joint_names:
        assert (q[model.q_slice(name)] == of_tree[loops.q_slice(name)]).all()
    v = np.zeros(model.nv)
    for k, name in enumerate(slides):
        v[model.v_slice(name)] = k + 1.0  # all of them were 0: the slices of all joints but the first were empty
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    rates = cardan.converter(model, loops).velocity(q, v)
    assert [rates[loops.v_slice(name)][0] for name in slides] == v.tolist()
    with pytest.raises(MechanismError, match=r"joint 'universal2' of a cluster is dependent.*follows slide1"):
        model.v_slice("universal2")
    with pytest.raises(UnknownNameError, match="slide7"):
        model.q_slice("slide7")
    first, own = model.joint_names[1], model.slices[model.joint_names[1]]
    assert (own[0].stop - own[0].start, own[1].stop - own[1].start) == (model.nq, model.nv)  # of the cluster, there
    assert model.q_slice(first) == slice(0, 2)


def test_models_take_loops_as_clusters_by_the_name_that_worlds_have_for_it():
    """Worlds took `loops="clusters"`, and models refused it."""
    m = four_bar()
    assert m.model(loops="clusters") == cardan.clustered(m.model())
    assert m.model(loops="constraints") == m.model()
    with pytest.raises(cardan.errors.ParameterError, match="loops: got 'cluster', expected 'constraints' or 'clus"):
        m.model(loops="cluster")
    with pytest.raises(MechanismError, match="has no joint that closes a loop"):
        cardan.robots.arm7().model(loops="clusters")


def test_slices_in_a_world_of_two_clusters_are_those_of_each():
    builder = cardan.WorldBuilder()
    for prefix in ("a_", "b_"):
        builder.add(four_bar(), prefix=prefix)
    model = builder.finalize(loops="clusters").model
    assert [model.q_slice(f"{p}{n}_joint").start for p in "ab" for n in ("_crank", "_coupler", "_rocker")] == [
        *range(6)
    ]
    independent = [name for name in model.joint_names if "dependent" not in _why(model, name)]
    assert [name[:2] for name in independent if model.joint(name).nv] == ["a_", "b_"]
    assert "joint 'b_" in "".join(_why(model, name) for name in model.joint_names)  # by its name in the world


def test_views_have_the_coordinates_of_each_joint_of_a_cluster():
    """The first joint had those of the whole cluster, and all others had none, without a word."""
    m = four_bar()
    world = m.world(loops="clusters")
    model, state = world.model, world.state(v=[2.0])
    for name in model.joint_names[1:]:
        assert world.view(joints=[name]).positions(state).ravel().tolist() == state.q[0, model.q_slice(name)].tolist()
    assert world.view(joints=["crank_joint"]).velocities(state).tolist() == [[[2.0]]]
    rocker = world.view(joints=["rocker_joint"])
    assert rocker.velocities(state).shape == (1, 1, 0)
    with pytest.raises(MechanismError, match=r"joint 'rocker_joint' of a cluster is dependent .* it follows"):
        rocker.set_velocities(state, 1.0)
    assert world.view().v_indices.tolist() == [[0]]


def test_joints_that_are_independent_in_part_have_that_part_in_v():
    m = cardan.Mechanism("sleeve")
    m.add_body("sleeve", linkages.inertia(0))
    m.add_joint("cylinder", cardan.joints.Cylindrical(), "world", "sleeve")
    m.add_joint("collar", cardan.joints.Revolute((0, 0, 1)), "world", "sleeve")
    model = cardan.clustered(m.model(closing=["collar"]))
    assert (model.nv, model.v_slice("cylinder")) == (1, slice(0, 1))


def test_worlds_begin_with_velocities_and_targets_by_independent_joint():
    first, second = (c.name for c in five_bar().model().connections if c.joint.nv and c.parent == "base")
    driven, _ = five_bar().with_drives({name: cardan.Drive(10.0, 1.0) for name in (first, second)})
    builder = cardan.WorldBuilder()
    builder.add(driven)
    builder.v[first], builder.v[second], builder.targets[second] = 1.0, 2.0, 0.5
    world = builder.finalize(loops="clusters")
    assert world.initial_velocity[world.model.v_slice(second)] == 2.0
    assert world.initial_velocity.tolist() == [1.0, 2.0]
    assert world.targets[world.model.v_slice(second)] == 0.5
    dependent = next(n for n in world.model.joint_names if _why(world.model, n))
    builder.v[dependent] = 1.0
    with pytest.raises(MechanismError, match=f"joint '{dependent}' of a cluster is dependent"):
        builder.finalize(loops="clusters")


def _why(model, name):
    try:
        model.v_slice(name)
    except MechanismError as error:
        return str(error)
    return ""


def test_joints_that_follow_joints_of_loops_have_no_slices_as_mimic_joints():
    m = four_bar()
    m.add_body("gear", cardan.Inertia(mass=1.0, com=[0.0, 0.0, 0.0], inertia=np.eye(3)))
    m.add_joint("meshes", cardan.joints.Mimic(cardan.joints.Revolute(), "crank_joint", -2.0), "world", "gear")
    model = cardan.clustered(m.model())
    assert model.q_slice("meshes").stop == model.q_slice("meshes").start
    assert model.v_slice("meshes").stop == model.v_slice("meshes").start


@pytest.mark.full
@each
def test_states_convert_both_ways(name):
    loops = MECHANISMS[name]()
    model, tree = cardan.clustered(loops), loops.spanning_tree()
    q, v, a, _ = state(model)
    out, back = cardan.converter(model, loops), cardan.converter(loops, model)
    x, dx, ddx = out.configuration(q), out.velocity(q, v), out.acceleration(q, v, a)
    opening = (cardan.loop_jacobian(loops, x) @ ddx[..., None])[..., 0] + cardan.loop_bias(loops, x, dx)
    assert np.abs(opening).max() < 1e-12
    for found, expected in ((back.configuration(x), q), (back.velocity(x, dx), v), (back.acceleration(x, dx, ddx), a)):
        np.testing.assert_array_equal(found, expected)
    efforts = back.effort(x, cardan.inverse_dynamics(tree, x, dx, ddx))
    assert error(cardan.inverse_dynamics(model, q, v, a), efforts) < 1e-12
    assert error(cardan.forward_kinematics(model, q), cardan.forward_kinematics(tree, x)) < 1e-14


def test_turns_of_dependent_joints_with_dampers_stay_where_states_convert():
    """They were found from poses, so a coupler at -7.1 rad came back at -0.8."""
    whole, damped = four_bar(), cardan.Mechanism("damped")
    for body in whole.bodies:
        damped.add_body(body.name, body.inertia)
    for c in whole.joints:
        damping = None if c.name == "closing_joint" else [0.1]
        damped.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose, damping=damping)
    loops = damped.model()
    model = cardan.clustered(loops, ["crank_joint"])
    q = cardan.integrate(model, model.neutral(), [7.0])
    x = cardan.converter(model, loops).configuration(q)
    assert x.tolist() == q.tolist()
    assert x[loops.q_slice("coupler_joint")] < -6.5
    assert cardan.converter(loops, model).configuration(x).tolist() == q.tolist()


@pytest.mark.slow
def test_assembly_modes_with_the_same_independent_coordinates_are_not_the_same():
    """They were, and trajectories from one to the other ended elsewhere without a word."""
    model = cardan.clustered(four_bar().model(), ["crank_joint"])
    here, there = (mode.q for mode in cardan.assembly_modes(model, model.neutral()))
    assert cardan.is_same_configuration(model, [here, here], [here, there]).tolist() == [True, False]
    ahead = cardan.integrate(model, there, [0.4])
    for make in (
        lambda: cardan.trajectories.MinimumJerk(model, here, ahead, duration=1.0),
        lambda: cardan.trajectories.Trapezoidal(model, here, ahead, 1.0),
        lambda: cardan.trajectories.Spline(model, [0.0, 1.0, 2.0], [here, here, ahead]),
    ):
        with pytest.raises(
            ParameterError, match=r": configuration [12]: got 'another', expected one of the assembly mode"
        ):
            make()
    assert cardan.trajectories.MinimumJerk(model, there, ahead, duration=1.0).at(1.0).q.tolist() == ahead.tolist()


@cardan.function(returns=("nv",))
def by_groups(model, q, v, tau):
    relative = relative_kinematics(model, q)
    motions = body_motions(model, relative, q, v)
    p = [motions[node.index].force(node.inertia) for node in model.nodes]
    return grouped_accelerations(model, relative, groups(model), p, tau)[0]


def finger(armature=0.02):
    """A mimic chain on a mimic's primary, driven by rotors."""
    m = cardan.Mechanism("finger")
    above = "world"
    for k in range(4):
        m.add_body(f"b{k}", linkages.inertia(k))
        joint = cardan.joints.Revolute((0.0, 0.6, 0.8))
        joint = cardan.joints.Mimic(joint, "j1", 0.7) if k in (2, 3) else joint
        m.add_joint(f"j{k}", joint, above, f"b{k}", linkages.pose(0.1, 0.05 * k), armature=[armature])
        above = f"b{k}"
    return m.model()


@pytest.mark.slow
def test_groups_of_one_joint_are_the_articulated_bodies_of_trees():
    model = linkages.humanoid_with_ankles().model(base="floating").spanning_tree()

    @cardan.function(returns=("nv",))
    def by_bodies(model, q, v, tau):
        return cardan.forward_dynamics.kernel(model, q, v, tau)

    assert by_groups.program(model).operations == by_bodies.program(model).operations
    q, (v, tau) = model.random_configuration(seed=0), np.random.default_rng(0).normal(size=(2, model.nv))
    np.testing.assert_array_equal(by_groups(model, q, v, tau), by_bodies(model, q, v, tau))


@pytest.mark.slow
@pytest.mark.parametrize("make", [finger, lambda: finger(0.0), lambda: cardan.clustered(linkages.scissor(2).model())])
def test_groups_are_another_way_to_the_same_accelerations(make):
    model = make()
    rng = np.random.default_rng(0)
    q = cardan.integrate(model, model.neutral(), 0.2 * rng.normal(size=(5, model.nv)))
    v, tau = rng.normal(size=(2, 5, model.nv))
    assert len(groups(model)) == 2
    assert error(by_groups(model, q, v, tau), cardan.forward_dynamics(model, q, v, tau)) < 1e-12


def laden_platform():
    """A Stewart platform with drives' inertias at its legs, and arms on its plate, on a rod, and on the first leg."""
    bare = stewart_platform()
    m = cardan.Mechanism("laden")
    for body in bare.bodies:
        m.add_body(body.name, body.inertia)
    for c in bare.joints:
        armature = None if "ball" in c.name else [0.1 + 0.02 * k for k in range(c.joint.nv)]
        m.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose, armature=armature)
    for k, body in enumerate(("platform", "piston3", "cylinder1")):
        m.add_body(f"arm{k}", linkages.inertia(k))
        joint = cardan.joints.Revolute((0.0, 0.6, 0.8)) if k < 2 else cardan.joints.Spherical()
        m.add_joint(f"arm{k}", joint, body, f"arm{k}", linkages.pose(0.1, 0.2))
    return m


@pytest.mark.slow
@pytest.mark.parametrize(("base", "parts"), [("fixed", 8), ("floating", 1)])
def test_legs_are_solved_one_by_one_where_they_stand_on_the_world(base, parts):
    loops = laden_platform().model(base=base)
    model = cardan.clustered(loops)
    q, v, _, tau = state(model)
    relative = relative_kinematics(model, q[0].tolist())
    together = next(group for group in groups(model) if len(group.nodes) > 5)
    assert len(taken_apart(together, relative, [{} for _ in tau[0]])) == parts
    out = cardan.converter(model, loops)
    x, dx = out.configuration(q), out.velocity(q, v)
    accelerations = cardan.forward_dynamics(model, q, v, tau)
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, tau)).accelerations
    assert error(out.acceleration(q, v, accelerations), expected) < 1e-12
    assert error(cardan.inverse_dynamics(model, q, v, accelerations), tau) < 1e-11


def platform_of_bodies(base):
    return lambda: cardan.clustered(laden_platform().model(base=base))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        finger,
        lambda: cardan.clustered(linkages.scissor(2).model()),
        lambda: cardan.clustered(linkages.leg_with_ankle().model(base="floating")),
        platform_of_bodies("fixed"),
        platform_of_bodies("floating"),
        lambda: cardan.clustered(platform_on_hinges().model(closing=[f"ball{k}" for k in range(2, 7)])),
    ],
)
def test_groups_bear_what_answers_to_accelerations_along_velocities_and_on_bodies(make):
    """As (M + W + J^T Z J) a = tau - h, W full within groups, Z on every other node."""
    model = make()
    rng = np.random.default_rng(1)
    W = [{} for _ in range(model.nv)]
    for v in {node.v for node in model.nodes}:
        root = rng.normal(size=(len(v), len(v)))
        for i, row in zip(v, root @ root.T, strict=True):
            W[i] = dict(zip(v, row.tolist(), strict=True))
    touched = [node for node in model.nodes if node.index % 2]

    def impedance(node):
        return linkages.inertia(node.index % 3).articulated()

    @cardan.function(returns=("nv",))
    def by_bodies(model, q, v, tau):
        at = Snapshot(model, q, v)
        felt = lambda node: node.inertia.articulated() + impedance(node) if node in touched else node.inertia  # noqa: E731
        return borne_by_bodies(model, at.relative, at.p, tau, W, felt).a

    @cardan.function(returns=("nv",))
    def by_matrix(model, q, v, tau):
        at, A = Snapshot(model, q, v), plus(mass_matrix.kernel(model, q), W)
        for node in touched:
            add_impedance(A, at.columns(node.index), impedance(node))
        return factored(model, A).solve([t - h for t, h in zip(tau, bias_forces.kernel(model, q, v), strict=True)])

    q = cardan.integrate(model, model.neutral(), 0.05 * rng.normal(size=(5, model.nv)))
    v, tau = rng.normal(size=(2, 5, model.nv))
    assert error(by_bodies(model, q, v, tau), by_matrix(model, q, v, tau)) < 1e-12


def platform_on_hinges():
    """A Stewart platform on three hinges in place of its first ball joint."""
    bare, m = stewart_platform(), cardan.Mechanism("hinged")
    for body in bare.bodies:
        m.add_body(body.name, body.inertia)
    for name in ("first", "second"):
        m.add_body(name, cardan.Inertia(0.1, inertia=1e-3 * np.eye(3)))
    for c in bare.joints:
        if c.name != "ball1":
            m.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose)
    (ball,) = [c for c in bare.joints if c.name == "ball1"]
    m.add_joint("z", cardan.joints.Revolute((0, 0, 1)), ball.parent, "first", ball.parent_pose)
    m.add_joint("x", cardan.joints.Revolute((1, 0, 0)), "first", "second")
    m.add_joint("y", cardan.joints.Revolute((0, 1, 0)), "second", ball.child, None, ball.child_pose)
    return m


@pytest.mark.slow
def test_legs_of_a_platform_whose_frame_may_be_turned_are_no_legs():
    model = cardan.clustered(platform_on_hinges().model(closing=[f"ball{k}" for k in range(2, 7)]))
    closed = replace(model.nodes[0].joint.closed, simplified=False)
    q = list(closed.start)
    assert len(closed.constraints(q).legs) == 5
    assert not replace(closed, simplified=True).constraints(q).legs
    by_ball = cardan.clustered(stewart_platform().model()).nodes[0].joint.closed
    assert len(replace(by_ball, simplified=True).constraints(list(by_ball.start)).legs) == 5


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.full] * (n != "four_bar")) for n in MECHANISMS])
def test_derivatives_are_those_by_differences(name):
    model = cardan.clustered(MECHANISMS[name]())
    q, v, _, tau = state(model, rows=1)
    q, v, tau = q[0], v[0], tau[0]
    by = cardan.forward_dynamics_derivatives(model, q, v, tau)
    steps = np.concatenate([h * np.eye(model.nv) for h in (1e-6, -1e-6)])
    for found, values in (
        (by.dq, cardan.forward_dynamics(model, cardan.integrate(model, q, steps), v, tau)),
        (by.dv, cardan.forward_dynamics(model, q, v + steps, tau)),
        (by.dtau, cardan.forward_dynamics(model, q, v, tau + steps)),
    ):
        ahead, behind = np.split(values, 2)
        assert error(found, (ahead - behind).T / 2e-6) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "bennett", "ankle", "stewart"])
def test_regressors_of_clusters(name):
    model = cardan.clustered(MECHANISMS[name]())
    q, v, a, _ = state(model)
    parameters = [b.inertia.parameters() if b.inertia else np.zeros(10) for b in model.bodies]
    Y = cardan.torque_regressor(model, q, v, a)
    close(Y @ np.concatenate(parameters), cardan.inverse_dynamics(model, q, v, a))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ankle", "stewart"])
def test_one_program_has_the_rates_of_all_joints_of_a_cluster(name, monkeypatch):
    """It had been one for each of them, which took two thirds of the first call of derivatives."""
    model, made = cardan.clustered(MECHANISMS[name]()), []
    monkeypatch.setattr(derived, "_rates_of", lambda joints, *state: made.append(joints) or rates_of(joints, *state))
    cardan.function(lambda model, q, v, a: cardan.inverse_dynamics_derivatives(model, q, v, a).dq).trace(model)
    members = [c.joint for c in model.connections if isinstance(c.joint, ClusterMember)]
    assert made == [members[0]._siblings[0]]
    q, v, a, _ = (x[0].tolist() for x in state(model))
    for k, together in enumerate(rates_of(made[0], q, v, a)):
        alone = joint_rates(members[k], q, v, a)  # of numbers
        for got, expected in zip(together or (), alone or (), strict=True):  # nothing of an independent slide
            close([s.scalars() for s in flat(got)], [s.scalars() for s in flat(expected)])


def flat(motions):
    return [s for e in motions for s in (e if isinstance(e, list) else [e])]


@pytest.mark.full
def test_peaucellier_draws_a_straight_line():
    m = linkages.peaucellier()
    model = cardan.clustered(m.model(), ["crank_joint"])
    q = cardan.integrate(model, model.neutral(), np.linspace(-0.5, 0.4, 20)[:, None])
    (corner,) = [c.parent_pose for c in m.joints if c.name == "Q"]
    at = cardan.frame_transform(model, q, "AQ") @ [*corner.translation, 1.0]
    np.testing.assert_allclose(at[:, 0], (1.0 - 0.5**2) / 0.7, rtol=1e-14)  # arms squared less sides squared
    assert np.ptp(at[:, 2]) > 0.5


@pytest.mark.slow
def test_configurations_stay_closed_however_far_they_go():
    loops = four_bar().model()
    model = cardan.clustered(loops, ["crank_joint"])
    rng = np.random.default_rng(0)
    q, step = model.random_configuration((50,), seed=0), rng.uniform(-3.0, 3.0, (50, 1))
    there = cardan.integrate(model, q, step)
    for each_q in (q, there, cardan.normalize(model, there + 1e-3 * rng.normal(size=there.shape))):
        assert np.abs(cardan.loop_residual(loops, each_q)).max() < 1e-13
    assert q[:, 0].max() - q[:, 0].min() > 5.0  # the crank turns all around
    np.testing.assert_allclose(cardan.difference(model, q, there), step, atol=1e-13)


def test_loops_are_closed_at_the_nearest_turn_of_every_angle():
    """Newton's way from afar turns joints round by up to thousands of radians."""
    loops = four_bar().model()
    model = cardan.clustered(loops, ["crank_joint"])
    far = model.neutral() + np.random.default_rng(0).uniform(-3.0, 3.0, (200, 3))
    found = cardan.normalize(model, far)
    is_closed = np.isfinite(found).all(axis=-1)
    assert is_closed.mean() > 0.8
    assert np.abs(found - far)[is_closed].max() < np.pi + 1e-9
    assert np.abs(cardan.loop_residual(loops, found[is_closed])).max() < 1e-12


def test_turns_stay_of_a_joint_that_others_in_the_loop_follow():
    """Where one joint turns half as far as another, a whole turn of that one opens the loop."""
    loops = geared(five_bar(), "right_joint", J.Mimic(J.Revolute((0, 1, 0)), "left_joint", 0.5)).model()
    model = cardan.clustered(loops, ["left_elbow"])
    far = model.neutral() + np.random.default_rng(0).uniform(-3.0, 3.0, (200, 3))
    found = cardan.normalize(model, far)
    is_closed = np.isfinite(found).all(axis=-1)
    moved = np.abs(found - far)[is_closed].max(axis=0)  # of left_joint, and of both elbows
    assert moved[0] > 10.0 > np.pi > moved[1:].max()
    configurations = cardan.converter(model, loops).configuration(found[is_closed])
    assert np.abs(cardan.loop_residual(loops, configurations)).max() < 1e-12


def test_the_assembly_mode_is_in_the_configuration():
    loops = four_bar().model()
    other = cardan.assemble(loops, [0.0, -1.6, 2.7], fixed=("crank_joint",))
    mirrored = cardan.clustered(loops, ["crank_joint"], near=other)
    np.testing.assert_allclose(mirrored.neutral(), other, atol=1e-12)
    assert np.abs(mirrored.neutral() - cardan.clustered(loops).neutral()).max() > 1.0
    q = mirrored.random_configuration((20,), seed=0)
    assert np.abs(cardan.loop_residual(loops, q)).max() < 1e-13


def near_parallelogram(angle, a=0.5, b=0.8, c=0.501, d=0.8005):
    """A crank that goes round in bars, opposite ones nearly alike: modes all but meet where it lies flat."""
    m, z, body = cardan.Mechanism("bars"), cardan.joints.Revolute([0, 0, 1]), cardan.Inertia(1.0, (0, 0, 0), np.eye(3))
    for name, joint, parent, x in (
        ("crank", "in", "world", 0.0),
        ("coupler", "k", "crank", a),
        ("rocker", "r", "world", d),
    ):
        m.add_body(name, body)
        m.add_joint(joint, z, parent, name, cardan.SE3(translation=[x, 0, 0]))
    m.add_joint("pin", z, "coupler", "rocker", cardan.SE3(translation=[b, 0, 0]), cardan.SE3(translation=[c, 0, 0]))
    A, D = a * np.array([np.cos(angle), np.sin(angle)]), np.array([d, 0.0])
    L = np.hypot(*(D - A))
    along = (b * b - c * c + L * L) / (2.0 * L)
    e = (D - A) / L
    B = A + along * e + np.sqrt(b * b - along**2) * np.array([-e[1], e[0]])
    k, r = np.arctan2(*(B - A)[::-1]), np.arctan2(*(B - D)[::-1])
    return cardan.clustered(m.model(), ["in"], near=[angle, k - angle, r])


def test_a_long_way_ends_in_its_own_assembly_mode():
    """Steps of 0.3 rad went through a toggle's neighbourhood into the other mode: 92 of these 200 ways."""
    model = near_parallelogram(1.0)
    u = np.linspace(-6.0, 6.0, 200)[:, None]
    q = np.broadcast_to(model.neutral(), (200, 3))
    found, fine = cardan.integrate(model, q, u), q
    for _ in range(1000):
        fine = cardan.integrate(model, fine, u / 1000)
    side = np.sign(np.sin(fine[:, 2] - fine[:, 0] - fine[:, 1]))
    assert (side == side[100]).all()
    np.testing.assert_allclose(found, fine, atol=1e-9)


@cardan.function
def rk4(model, q, v):
    """Runge and Kutta's fourth order on the manifold, in steps of 1 ms."""
    dt, still = 1e-3, 0.0 * v
    a1 = cardan.forward_dynamics(model, q, v, still)
    v2 = v + dt / 2 * a1
    a2 = cardan.forward_dynamics(model, cardan.integrate(model, q, dt / 2 * v), v2, still)
    v3 = v + dt / 2 * a2
    a3 = cardan.forward_dynamics(model, cardan.integrate(model, q, dt / 2 * v2), v3, still)
    v4 = v + dt * a3
    a4 = cardan.forward_dynamics(model, cardan.integrate(model, q, dt * v3), v4, still)
    q = cardan.integrate(model, q, dt / 6 * (v + 2 * v2 + 2 * v3 + v4))
    return {"q": q, "v": v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "drift"), [("four_bar", 1e-7), pytest.param("bennett", 1e-7, marks=pytest.mark.full)])
def test_ten_seconds_keep_energy_and_stay_closed(name, drift):
    loops = MECHANISMS[name]()
    model = cardan.clustered(loops)
    q, v = model.neutral(), np.full(model.nv, 3.0)
    energy = cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
    end = rk4.repeated(10_000)(model, q, v)
    q, v = end["q"], end["v"]
    assert abs(cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q) - energy) < drift
    assert np.abs(cardan.loop_residual(loops, q)).max() < 1e-14


@pytest.mark.slow
def test_where_the_independent_coordinate_determines_nothing_results_are_no_numbers():
    model = cardan.clustered(linkages.slider_crank_of_bars().model(), ["slide"])
    crank = cardan.clustered(linkages.slider_crank_of_bars().model(), ["crank_joint"])
    angle = 0.8  # of the crank at q = 0: from there it turns to its dead point
    dead = cardan.integrate(crank, crank.neutral(), [-angle])
    assert np.isnan(cardan.forward_dynamics(model, dead, [0.1], [0.1])).all()
    assert np.isfinite(cardan.forward_dynamics(crank, dead, [0.1], [0.1])).all()


def test_a_step_to_a_toggle_bends():
    loops = linkages.slider_crank_of_bars().model()
    closed = cardan.clustered(loops, ["slide"]).joint("crank_joint").closed
    crank = cardan.clustered(loops, ["crank_joint"])
    h, n = 0.001, np.array([30, 10, 5])  # steps before the dead point, which is at -0.8
    q0, q1 = (cardan.integrate(crank, crank.neutral(), (k * h - 0.8)[:, None]).tolist() for k in (n, n - 1))
    found = [closed.bend(a, closed.difference(a, b), b) / h for a, b in zip(q0, q1, strict=True)]
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], 0.5 / (n[1:] - 1.0) ** 2, rtol=0.3)


@pytest.mark.parametrize("name", ["four_bar", "ankle", pytest.param("stewart", marks=pytest.mark.slow)])
def test_a_short_step_is_predicted_to_second_order(name):
    """What is left of it is of third order, and closed in the next pass."""
    model = cardan.clustered(MECHANISMS[name]())
    closed = next(node.joint.closed for node in model.nodes if not node.joint.by)
    u = np.random.default_rng(0).normal(size=closed.nv)

    @cardan.function(shapes={"u": ("nv",)})
    def left(model, q, u):
        way = closed.part.manifold.difference(q, closed.integrate(q, u))
        return [a - b for a, b in zip(way, closed.constraints(q).step(q, u), strict=True)]

    errors = [np.linalg.norm(left(model, closed.start, h * u)) for h in (4e-2, 2e-2, 1e-2)]
    np.testing.assert_allclose(np.divide(errors[:2], errors[1:]), 8.0, rtol=0.1)


@pytest.mark.full
@pytest.mark.parametrize("integrator", ["implicit", "semi_implicit", "rk4"])
def test_steps_shortly_before_a_toggle_say_that_they_are_wrong(integrator):
    driven = rocker_mechanism_with(drive=cardan.Drive(1e-9))  # by which it is independent
    world = driven.world(loops="clusters")
    contact = "convex" if integrator == "implicit" else None
    solver = cardan.solvers.Featherstone(world, dt=1e-3, integrator=integrator, contact=contact)
    state = world.state()
    state.v[0] = 2.0
    path = solver.rollout(state, steps=450)
    energy = cardan.kinetic_energy(world.model, path.q, path.v) + cardan.potential_energy(world.model, path.q)
    wrong = ~(path.residual[:, 0] == 0.0)
    first = wrong.argmax()
    assert wrong[first:].all()
    assert 380 < first < 400
    np.testing.assert_allclose(energy[: first + 1], energy[0, 0], rtol=0.02)


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["ankle", "cassie", "bennett", "parallelogram", "slider_crank", "stewart"])
def test_motions_far_from_toggles_are_not_called_wrong(name, dtype):
    make = {"bennett": linkages.bennett, "cassie": linkages.leg, "stewart": stewart_platform}
    make |= {"slider_crank": linkages.slider_crank_of_bars, "ankle": linkages.parallel_ankle}
    world = make.get(name, linkages.parallelogram)().world(loops="clusters")
    state = world.state(worlds=8, dtype=dtype)
    state.v[:] = np.random.default_rng(0).normal(size=state.v.shape)
    assert not cardan.solvers.Featherstone(world, dt=1e-3).rollout(state, steps=200).residual.any()


@pytest.mark.full
@pytest.mark.parametrize("follower", ["", "outside"])
def test_tables_step_clusters(follower):
    builder = cardan.simulation.WorldBuilder()
    linkage = FOLLOWERS[follower]() if follower else four_bar()
    for k in range(4):
        builder.add(linkage, prefix=f"m{k}_", name=f"m{k}", pose=cardan.SE3(translation=(0.0, 2.0 * k, 0.0)))
        builder.add_shape(f"m{k}_rocker", cardan.description.Sphere(0.02))
    world = builder.finalize(loops="clusters")
    one, tables = (cardan.solvers.Featherstone(world, 1e-3, tables=asked) for asked in (False, None))
    assert tables.tables
    np.testing.assert_allclose(*(s.step(world.state(), steps=300).q for s in (one, tables)), atol=1e-13)


def rocker_mechanism_with(**own):
    m = four_bar()
    (c,) = [c for c in m.joints if c.name == "rocker_joint"]
    return m.replace_joint("rocker_joint", c.joint, **own).mechanism


def rocker_with(**own):
    return rocker_mechanism_with(**own).model()


@pytest.mark.slow
def test_passive_properties_count_along_the_coordinates_of_their_joints():
    model = cardan.clustered(rocker_with(damping=[0.3], spring=cardan.Spring(2.0, 0.1)), ["crank_joint"])
    q, v, _, _ = state(model, rows=1)
    (rate,), x = model.joint("rocker_joint").slopes(q[0]), q[0, 2]
    expected = rate[0] * (0.3 * rate[0] * v[0] + 2.0 * (x - 0.1))
    np.testing.assert_allclose(cardan.passive_forces(model, q[0], v[0]), expected, rtol=1e-12)
    independent = cardan.clustered(rocker_with(friction=[0.2], armature=[0.1]), ["rocker_joint"])
    assert (independent.passive("friction"), independent.passive("armature")) == ((0.2,), (0.1,))
    assert cardan.clustered(rocker_with(friction=[0.2])).joint("crank_joint").velocity_names[0] == "crank_joint.dangle"


def test_a_spring_pulls_from_where_it_rests_whatever_mode_is_neutral():
    loops = rocker_with(spring=cardan.Spring(2.0, 4.0))  # no crank brings the rocker there
    near = cardan.assemble(loops, [1.0, -0.9, 0.4], fixed=("crank_joint",))
    model = cardan.clustered(loops, ["rocker_joint"], near=near)
    assert abs(near[2]) > 0.1
    np.testing.assert_allclose(cardan.passive_forces(model, near, [0.0]), 2.0 * (near[2] - 4.0), rtol=1e-12)


@pytest.mark.slow
def test_an_assembly_mode_is_given_by_coordinates_of_some_joints():
    loops = four_bar().model()
    modes = cardan.assembly_modes(model := cardan.clustered(loops, ["crank_joint"]), model.neutral())
    assert len(modes) == 2
    for mode in modes:
        given = {name: mode.q[loops.q_slice(name)] for name in ("crank_joint", "coupler_joint")}
        found = cardan.clustered(loops, ["crank_joint"], near=given)
        np.testing.assert_allclose(found.neutral(), mode.q, atol=1e-12)
        assert cardan.assembly_mode(found, found.neutral()) == mode.name
    near = cardan.clustered(loops, near={"crank_joint": 0.1, "coupler_joint": -1.6, "rocker_joint": 2.7}).neutral()
    assert np.abs(near - modes[1].q).max() < 0.2  # they cannot all stay: loops are closed near them
    for wrong, message in (
        ({"rocker": 1.0}, "did you mean 'rocker_joint'"),
        ({"closing_joint": 1.0}, "no joint with coordinates named 'closing_joint'"),
        ({"rocker_joint": [1.0, 2.0]}, r"shape \(2,\), expected \(1,\)"),
        ({"rocker_joint": np.nan}, "finite numbers"),
    ):
        with pytest.raises(cardan.CardanError, match=message):
            cardan.clustered(loops, near=wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", pytest.param("cassie", marks=pytest.mark.full)])
def test_drives_of_dependent_joints_have_their_inertia(name):
    m = {"four_bar": four_bar, "cassie": linkages.leg}[name]()
    closing = m.model().closure_names
    for k, c in enumerate(m.joints):
        if c.name not in closing:
            m = m.replace_joint(c.name, c.joint, armature=[0.1 + 0.02 * k + j for j in range(c.joint.nv)]).mechanism
    loops = m.model(base="fixed" if name == "four_bar" else "floating")
    model, tree = cardan.clustered(loops), loops.spanning_tree()
    q, v, _, tau = state(model)
    out = cardan.converter(model, loops)
    x, dx = out.configuration(q), out.velocity(q, v)
    a = cardan.forward_dynamics(model, q, v, tau)
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, tau)).accelerations
    assert error(out.acceleration(q, v, a), expected) < 1e-12
    assert error(cardan.kinetic_energy(model, q, v), cardan.kinetic_energy(tree, x, dx)) < 1e-13
    assert error(cardan.centroidal_momentum(model, q, v), cardan.centroidal_momentum(tree, x, dx)) < 1e-13


def ends(mechanism, dt, duration):
    """Where a world ends, by loops and by clusters, in the coordinates of all joints."""
    found = []
    for clusters in (False, True):
        world = mechanism.world(loops="clusters" if clusters else "constraints")
        state = cardan.solvers.Featherstone(world, dt=dt).step(world.state(), world.control(), steps=int(duration / dt))
        found.append(state.q[0])
    return found


def test_a_dependent_joint_rests_on_its_stop():
    world = rocker_mechanism_with(limits=cardan.Limits([-0.07], [1.0])).world(loops="clusters")
    state = cardan.solvers.Featherstone(world, dt=1e-3).step(world.state(), world.control(), steps=500)
    np.testing.assert_allclose(state.q[0, 2], -0.07, atol=1e-6)


@pytest.mark.parametrize("own", [{"limits": cardan.Limits([-0.07], [1.0])}, {"friction": [0.5]}])
def test_explicit_steps_refuse_stops_and_friction_of_dependent_joints(own):
    world = rocker_mechanism_with(**own).world(loops="clusters")
    with pytest.raises(UnsupportedError, match=r"integrator='rk4' cannot take the .* of joint 'rocker_joint'"):
        cardan.solvers.Featherstone(world, dt=1e-3, integrator="rk4", contact=None)


@pytest.mark.full
@pytest.mark.parametrize(
    ("own", "apart"),
    [
        ({"limits": cardan.Limits([-0.07], [1.0])}, 1e-5),
        ({"limits": cardan.Limits(None, [0.3])}, 1e-5),
        ({"friction": [0.5]}, 3e-2),  # both steps are of first order
        ({"friction": [50.0]}, 1e-6),
    ],
)
def test_a_dependent_joint_has_stops_and_dry_friction(own, apart):
    by_loops, by_clusters = ends(rocker_mechanism_with(**own), 1e-3, 0.5)
    np.testing.assert_allclose(by_clusters, by_loops, atol=apart)


def test_solvers_in_maximal_coordinates_need_a_cluster_led_by_one_joint():
    with pytest.raises(UnsupportedError, match="XPBD cannot take the cluster at joint 'left_joint', which does not"):
        cardan.solvers.XPBD(five_bar().world(loops="clusters"), dt=1e-3)


@pytest.mark.full
@pytest.mark.parametrize(("name", "k"), [("left_elbow", 1), ("right_elbow", 3)])
def test_dependent_joints_of_several_freedoms_rest_on_their_stops(name, k):
    (c,) = [c for c in five_bar().joints if c.name == name]
    m = five_bar().replace_joint(name, c.joint, limits=cardan.Limits([-0.2], [0.2])).mechanism
    by_loops, by_clusters = ends(m, 1e-3, 0.5)
    np.testing.assert_allclose(by_clusters, by_loops, atol=1e-5)
    np.testing.assert_allclose(abs(by_clusters[k]), 0.2, atol=1e-6)


def with_all(mechanism, **own):
    """The mechanism with properties at every joint that has coordinates, each by the number of these."""
    for c in mechanism.model().connections:
        if c.joint.nv:
            given = {name: make(c.joint.nv) for name, make in own.items()}
            mechanism = mechanism.replace_joint(c.name, c.joint, **given).mechanism
    return mechanism


GAINS = {"drive": lambda n: cardan.Drive([40.0] * n, [2.0] * n)}


def by_multipliers(loops, x, dx, dt, way, rate, friction, most):
    """Accelerations of a step with drives and dry friction at all joints, by trying which of them slide or saturate."""
    tree, n = loops.spanning_tree(), len(dx)
    M, h = cardan.mass_matrix(tree, x), cardan.bias_forces(tree, x, dx)
    K, k = cardan.loop_jacobian(loops, x), cardan.loop_bias(loops, x, dx)
    _, sizes, rows = np.linalg.svd(K)
    N = rows[(sizes > 1e-9 * sizes[0]).sum() :].T
    still = -np.linalg.pinv(K, rcond=1e-9) @ k
    w, force, rigid = 2.0 * dt + 40.0 * dt**2, 40.0 * (way - dt * dx) + 2.0 * (rate - dx), 1e9
    choices = [(0, 1, -1)] * n if friction else [(0,)] * n, [(0, 1, -1)] * n if most else [(0,)] * n
    for case in itertools.product(*choices[0], *choices[1]):
        slides, saturates = np.array(case[:n]), np.array(case[n:])
        W = np.where(saturates == 0, w, 0.0) + (rigid * (slides == 0) if friction else 0.0)
        tau = np.where(saturates == 0, force, most * saturates)
        tau = tau + np.where(slides == 0, -rigid * dx / dt if friction else 0.0, -friction * slides)
        A = M + np.diag(W)
        a = still + N @ np.linalg.solve(N.T @ A @ N, N.T @ (tau - h - A @ still))
        holds, line = rigid * np.abs(dx / dt + a), force - w * a
        right = not friction or np.where(slides == 0, holds <= friction, (dx + dt * a) * slides > 0.0).all()
        if right and (not most or np.where(saturates == 0, np.abs(line) <= most, line * saturates >= most).all()):
            return a, (friction and (slides == 0).any())
    raise AssertionError


def driven_state(model, seed, size=0.3):
    """A state, and what drives go to."""
    rng = np.random.default_rng(seed)
    q, goal = cardan.integrate(model, model.neutral(), size * rng.normal(size=(2, model.nv)))
    return q, *rng.normal(size=(2, model.nv)), goal


def accelerations(world, dt, q, v, goal, rate):
    function = cardan.solvers.Featherstone(world, dt=dt).function
    position = cardan.limit_coordinates(world.model, goal)
    found = function(world.model, q, v, 0.0, effort=0.0 * v, position=position, velocity=rate)
    assert found["residual"] < 1e-9
    return found["warm"]


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.3, pytest.param(2.0, marks=pytest.mark.full)])
@pytest.mark.parametrize("most", [0.0, 1.0])
@pytest.mark.parametrize("make", [four_bar, pytest.param(five_bar, marks=pytest.mark.full)])
def test_drives_and_dry_friction_of_all_joints_act_as_with_multipliers(make, friction, most):
    own = GAINS | {"friction": lambda n: [friction] * n} | {"limits": lambda n: cardan.Limits(effort=[most or 1e9] * n)}
    mechanism, dt = with_all(make(), **own), 2e-3
    world, loops = mechanism.world(loops="clusters"), mechanism.model()
    out = cardan.converter(world.model, loops)
    for seed in range(6):
        q, v, rate, goal = driven_state(world.model, seed)
        x, dx, way = out.configuration(q), out.velocity(q, v), out.configuration(goal) - out.configuration(q)
        expected, sticks = by_multipliers(loops, x, dx, dt, way, out.velocity(q, rate), friction, most)
        found = out.acceleration(q, v, accelerations(world, dt, q, v, goal, rate))
        assert error(found, expected) < (1e-6 if sticks else 1e-13)  # friction that sticks creeps


@pytest.mark.full
@pytest.mark.parametrize("friction", [0.0, 0.03])
@pytest.mark.parametrize("name", ["five_bar", "ankle", "cassie", "stewart"])
def test_a_step_of_clusters_accelerates_as_one_of_constraints(name, friction):
    make = {"five_bar": five_bar, "ankle": linkages.parallel_ankle, "cassie": linkages.leg, "stewart": stewart_platform}
    mechanism, dt = with_all(make[name](), **GAINS, friction=lambda n: [friction] * n), 2e-3
    world, loops = mechanism.world(loops="clusters"), mechanism.world()
    out = cardan.converter(world.model, loops.model)
    for seed in range(3):
        q, v, rate, goal = driven_state(world.model, seed, 0.1)
        x = out.configuration(q)
        of_loops = x, out.velocity(q, v), out.configuration(goal), out.velocity(q, rate)
        found = out.acceleration(q, v, accelerations(world, dt, q, v, goal, rate))
        assert error(found, accelerations(loops, dt, *of_loops)) < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize(
    "own",
    [
        {"friction": [0.3]},
        {"drive": cardan.Drive([40.0], [2.0])},
        {"limits": cardan.Limits([-1e-3], [1e-3])},
        {"friction": [0.3], "damping": [0.2]},
    ],
)
def test_what_acts_along_dependent_joints_acts_in_turned_frames(own):
    """Where constraints are those of the simplified tree, friction, drives and stops without a damper were lost."""
    mechanism = linkages.tilted(linkages.slider_crank_of_bars())
    crank, rod = (c for c in mechanism.joints if c.name in ("crank_joint", "rod_joint"))
    mechanism = mechanism.replace_joint("crank_joint", crank.joint, drive=cardan.Drive([20.0], [1.0])).mechanism
    mechanism = mechanism.replace_joint("rod_joint", rod.joint, **own).mechanism
    world, loops = mechanism.world(loops="clusters"), mechanism.world()
    assert world.model.joint("rod_joint").simplified
    out, dt = cardan.converter(world.model, loops.model), 2e-3
    q, v, rate, goal = driven_state(world.model, 0)
    of_loops = out.configuration(q), out.velocity(q, v), out.configuration(goal), out.velocity(q, rate)
    found = out.acceleration(q, v, accelerations(world, dt, q, v, goal, rate))
    assert error(found, accelerations(loops, dt, *of_loops)) < 1e-3  # stops see how a step bends; it was 0.2


@pytest.mark.full
def test_a_step_with_drives_and_friction_of_dependent_joints_has_derivatives():
    world = with_all(five_bar(), **GAINS, friction=lambda n: [0.3] * n).world(loops="clusters")
    step = cardan.solvers.Featherstone(world, dt=2e-3).function
    q, v, rate, goal = driven_state(world.model, 0)
    given = {"count": 0.0, "effort": 0.0 * v, "velocity": rate, "v": v}
    given["position"] = cardan.limit_coordinates(world.model, goal)
    for name in ("v", "position"):
        found = cardan.derivative(step, name)(world.model, q, **given)["v"]
        ahead, behind = ([given | {name: given[name] + h * e} for e in np.eye(2)] for h in (1e-6, -1e-6))
        both = zip(ahead, behind, strict=True)
        differences = [step(world.model, q, **x)["v"] - step(world.model, q, **y)["v"] for x, y in both]
        np.testing.assert_allclose(found, np.transpose(differences) / 2e-6, rtol=1e-6)


@pytest.mark.full
def test_stops_of_joints_of_several_coordinates():
    joint = linkages.parallel_ankle().model().joint("left_top")
    limits = cardan.Limits([-0.02] * 2, [0.02] * 2)
    by_loops, by_clusters = ends(
        linkages.parallel_ankle().replace_joint("left_top", joint, limits=limits).mechanism, 1e-3, 0.2
    )
    np.testing.assert_allclose(by_clusters, by_loops, atol=1e-5)
    np.testing.assert_allclose(by_clusters[4], -0.02, atol=1e-6)


@pytest.mark.slow
def test_stops_and_friction_along_several_velocities_hold_in_single_precision_and_by_the_compliant_law():
    (c,) = [c for c in five_bar().joints if c.name == "left_elbow"]
    own = {"limits": cardan.Limits([-0.2], [0.2]), "friction": [0.1]}
    mechanism = five_bar().replace_joint("left_elbow", c.joint, **own).mechanism
    found = []
    for clusters, contact, dtype in (
        (True, "convex", "float64"),
        (True, "convex", "float32"),
        (True, "compliant", "float64"),
        (False, "convex", "float32"),
    ):
        world = mechanism.world(loops="clusters" if clusters else "constraints")
        solver = cardan.solvers.Featherstone(world, dt=1e-3, contact=contact)
        found.append(solver.step(world.state(dtype=dtype), steps=500).q[0])
    np.testing.assert_allclose(found[0][1], -0.2, atol=1e-6)
    np.testing.assert_allclose(found[1:], found[:1] * 3, atol=1e-4)
    np.testing.assert_allclose(found[2], found[0], atol=1e-6)
    mechanism.add_shape(cardan.description.Shape("left_lower", "collision", cardan.description.Sphere(0.02)))
    with pytest.raises(UnsupportedError, match="limits of joint 'left_elbow', which follows several velocities"):
        cardan.solvers.Featherstone(mechanism.world(loops="clusters"), dt=1e-3, tables=True).tables


def test_dry_friction_of_a_dependent_joint_is_a_passive_force():
    model = cardan.clustered(rocker_with(friction=[0.2]), ["crank_joint"])
    q, v, _, _ = state(model)
    (g,) = np.array([model.joint("rocker_joint").slopes(own)[0] for own in q]).T
    np.testing.assert_allclose(cardan.passive_forces(model, q, v), (0.2 * abs(g) * np.sign(v[:, 0]))[:, None])


@pytest.mark.slow
def test_targets_that_the_loops_do_not_let_drives_reach_stop_the_world():
    world = with_all(linkages.parallel_ankle(), **GAINS).world(loops="clusters")
    solver, state, control = cardan.solvers.Featherstone(world, dt=1e-3), world.state(worlds=3), world.control(worlds=3)
    control.position += [[0.1, 0.0], [3.0, -3.0], [-0.1, 0.1]]
    assert solver.step(state, control, steps=3).diverged.tolist() == [False, True, False]


@pytest.mark.full
def test_a_world_of_clusters_moves_as_one_of_constraints():
    """Both steps are of first order, so half the step halves the difference."""
    off = [np.abs(np.subtract(*ends(four_bar(), dt, 0.2))).max() for dt in (2e-4, 1e-4)]
    assert off[1] < 1e-3
    np.testing.assert_allclose(off[0] / off[1], 2.0, rtol=0.1)


@pytest.mark.parametrize(("tilt", "said"), [(0.01, "still. They would move if a row.* is 0.00"), (0.5, "still.$")])
def test_loops_that_rounded_axes_lock_are_told_so(tilt, said):
    """Cassie's feet stand still in some files: hinges of a planar loop are parallel there to some digits."""
    m = cardan.Mechanism("foot")
    for name, length in (("crank", 0.1), ("rod", 0.4), ("foot", 0.15)):
        m.add_body(name, cardan.Inertia(mass=1.0, com=(length / 2, 0.0, 0.0), inertia=0.01 * np.eye(3)))
    at = [cardan.SE3(translation=(x, 0.0, 0.0)) for x in (0.1, 0.4, 0.35, 0.15)]
    hinge = cardan.joints.Revolute((0.0, 1.0, 0.0))
    m.add_joint("motor", hinge, "world", "crank", cardan.SE3(cardan.spatial.Matrix3.identity(), (0.0, 0.0, 0.3)))
    m.add_joint("rod", cardan.joints.Revolute((0.0, 1.0, tilt)), "crank", "rod", at[0])
    m.add_joint("toe", hinge, "world", "foot", at[2])
    m.add_joint("ball", cardan.joints.Spherical(), "rod", "foot", at[1], at[3])
    with pytest.raises(MechanismError, match="leaves no freedom: all its joints stand " + said):
        cardan.clustered(m.model())


@pytest.mark.parametrize(
    ("independent", "message"),
    [
        (
            ["crank_joint", "rocker_joint"],
            "do not determine the others of the loop closed by 'closing_joint'; those of 'crank",
        ),
        (["closing_joint"], "closes a loop and has no coordinates"),
    ],
)
def test_wrong_choices_are_refused_with_better_ones(independent, message):
    with pytest.raises(MechanismError, match=re.escape(message)):
        cardan.clustered(four_bar().model(), independent)


@pytest.mark.slow
def test_a_driven_joint_leads_unless_its_toggle_is_near():
    """A slide leads a crank but near its dead points, where the rod does; who asks for the slide there is told."""
    driven = linkages.slider_crank_of_bars(angle=0.8).with_drives({"slide": cardan.Drive(10.0, 1.0)}).mechanism
    model = driven.model()

    def leading(ahead):
        q = cardan.assemble(model, [ahead - 0.8, 1.07, 0.06], fixed=("crank_joint",))
        member = next(c.joint for c in cardan.clustered(model, near=q).connections if c.joint.is_placed)
        return member.closed.leading

    assert [leading(x) for x in (0.8, 0.3, -0.3)] == 3 * ["slide"]
    assert "slide" not in [leading(x) for x in (0.05, 0.03, 0.01, 1e-3, 0.0, -0.03)]
    dead = cardan.assemble(model, [-0.8, 1.07, 0.06], fixed=("crank_joint",))
    with pytest.raises(MechanismError, match=r"of 'slide' do not determine the others .*; those of 'rod_joint' do"):
        cardan.clustered(model, ["slide"], near=dead)


def test_clusters_are_written_and_read():
    own = {"armature": [0.1], "damping": [0.2], "friction": [0.3], "limits": cardan.Limits(None, [0.5], effort=[7.0])}
    own["drive"] = cardan.Drive(3.0, 0.1)
    model = cardan.clustered(rocker_with(**own), ["crank_joint"])
    assert cardan.from_json(cardan.to_json(model)) == model


@pytest.mark.full
@pytest.mark.parametrize("name", ["crank_joint", "rocker_joint"])
def test_joints_of_clusters_verify(name):
    model = cardan.clustered(rocker_with(armature=[0.1], damping=[0.2]), ["crank_joint"])
    certificate = cardan.verify_joint(model.joint(name))
    assert certificate.passed, str(certificate)


def test_actuators_at_dependent_joints_stay_there():
    m = four_bar()
    m.add_actuator(cardan.Actuator("turn", "crank_joint", gear=2.0))
    m.add_actuator(cardan.Actuator("help", ("rocker_joint", "crank_joint"), gear=(3.0, 0.5)))
    model = cardan.clustered(m.model(), ["crank_joint"])
    found = {a.name: dict(a._rows()) for a in model.actuators}
    assert found == {"turn": {"crank_joint": (2.0,)}, "help": {"rocker_joint": (3.0,), "crank_joint": (0.5,)}}
    assert cardan.from_json(cardan.to_json(model)) == model
    with pytest.raises(MechanismError, match="has the coordinates of the cluster; choose it among"):
        cardan.clustered(m.model(), ["rocker_joint"])


@pytest.mark.full
@pytest.mark.parametrize("name", ["left_joint", "right_elbow"])
def test_joints_of_clusters_of_several_freedoms_verify(name):
    certificate = cardan.verify_joint(cardan.clustered(five_bar().model()).joint(name), samples=4)
    assert certificate.passed, str(certificate)


@pytest.mark.slow
def test_some_loops_are_clusters_and_others_stay_constraints():
    m = linkages.parallel_ankle()
    m.add_joint("carries", cardan.joints.FreeFlyer(), "world", "shank")
    m.add_joint("holds", cardan.joints.Spherical(), "world", "foot")
    loops = m.model(closing=["left_ball", "right_ball", "holds"])
    model = cardan.clustered(loops, closing=["left_ball", "right_ball"])
    assert model.closure_names == ("holds",)
    assert model.nv == 8
    q, v, _, tau = state(model)
    K = cardan.loop_jacobian(model, q)
    v = v - (np.linalg.pinv(K) @ (K @ v[..., None]))[..., 0]  # the foot holds
    out = cardan.converter(model, loops)
    x, dx = out.configuration(q), out.velocity(q, v)
    found = cardan.constrained_forward_dynamics(model, q, v, tau)
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, tau))
    assert error(out.acceleration(q, v, found.accelerations), expected.accelerations) < 1e-11
    assert error(found.wrenches[:, 0], expected.wrenches[:, 2]) < 1e-10
    by = cardan.constrained_forward_dynamics_derivatives(model, q, v, tau)
    ahead, behind = (cardan.constrained_forward_dynamics(model, q, v + h * v, tau).accelerations for h in (1e-5, -1e-5))
    assert error((by.dv @ v[..., None])[..., 0], (ahead - behind) / 2e-5) < 1e-7


def geared(bare, name, joint, **acting):
    """A linkage in which a joint follows others: one of its own, or that of a wheel on its coupler."""
    m = cardan.Mechanism("geared")
    for body in bare.bodies:
        m.add_body(body.name, body.inertia)
    for c in bare.joints:
        own, more = (joint, acting) if c.name == name else (c.joint, {})
        m.add_joint(c.name, own, c.parent, c.child, c.parent_pose, c.child_pose, **more)
    if name == "gear":
        m.add_body("wheel", linkages.inertia(0))
        m.add_joint("gear", joint, "coupler", "wheel", linkages.pose(0.1, 0.2, 0.3), **acting)
    return m


J = cardan.joints
CAM = J.Coupled(J.Prismatic(), ("rocker_joint", "crank_joint"), lambda a, b: 0.1 * cardan.sin(a) * b)


def riding(carrier):
    """A rocker that a motor turns, which is on the coupler, or on an arm beside the loop."""
    m = geared(four_bar(), "rocker_joint", J.Mimic(J.Revolute((0, 1, 0)), "motor", 0.5))
    m.add_body("arm", linkages.inertia(1))
    m.add_joint("shoulder", J.Revolute(), "world", "arm")
    m.add_body("rotor", linkages.inertia(2))
    m.add_joint("motor", J.Revolute(), carrier, "rotor")
    return m


FOLLOWERS = {
    "within": lambda: geared(
        five_bar(), "right_joint", J.Mimic(J.Revolute((0, 1, 0)), "left_joint", -1.0), damping=[0.3]
    ),
    "outside": lambda: geared(four_bar(), "gear", J.Mimic(J.Revolute(), "crank_joint", -2.0)),
    # a follower that is a hinge itself was taken for one, and the dynamics ended with an UnknownNameError
    "tilted": lambda: geared(linkages.tilted(four_bar()), "gear", J.Mimic(J.Revolute(), "crank_joint", -1.0, 0.1)),
    "cam": lambda: geared(four_bar(), "gear", CAM),
    "riding": lambda: riding("coupler"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.full] * (n != "tilted")) for n in FOLLOWERS])
def test_joints_that_follow_joints_of_a_loop_are_part_of_its_cluster(name):
    mechanism = FOLLOWERS[name]()
    loops = mechanism.model()
    model, tree = cardan.clustered(loops), loops.spanning_tree()
    assert model.nv == loops.nv - 2
    q, v, _, tau = state(model)
    out, back = cardan.converter(model, loops), cardan.converter(loops, model)
    x, dx = out.configuration(q), out.velocity(q, v)
    np.testing.assert_array_equal(back.configuration(x), q)
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, tau)).accelerations
    assert error(out.acceleration(q, v, cardan.forward_dynamics(model, q, v, tau)), expected) < 1e-11
    assert error(cardan.forward_kinematics(model, q), cardan.forward_kinematics(tree, x)) < 1e-13
    assert error(cardan.passive_forces(model, q, v), back.effort(x, cardan.passive_forces(tree, x, dx))) < 1e-12
    by, h = cardan.forward_dynamics_derivatives(model, q[0], v[0], tau[0]), 1e-6
    ends = [
        cardan.forward_dynamics(model, cardan.integrate(model, q[0], s * h * np.eye(model.nv)[0]), v[0], tau[0])
        for s in (1, -1)
    ]
    assert error(by.dq[:, 0], (ends[0] - ends[1]) / (2 * h)) < 1e-7
    solver = cardan.solvers.Featherstone(mechanism.world(loops="clusters"), dt=1e-3)
    state_of = solver.world.state(v=0.5 * np.eye(model.nv)[0])
    after = solver.step(state_of, steps=20)
    tree_q = cardan.converter(solver.world.model, loops).configuration(after.q)
    assert np.abs(cardan.loop_residual(loops, tree_q)).max() < 1e-12
    assert not after.diverged[0]


def test_followers_that_are_no_part_of_a_cluster_are_refused_by_name():
    both = J.Coupled(J.Revolute(), ("crank_joint", "motor"), lambda a, b: a + b)
    m = geared(four_bar(), "gear", both)
    m.add_body("rotor", linkages.inertia(1))
    m.add_joint("motor", J.Revolute(), "world", "rotor")
    with pytest.raises(MechanismError, match=r"'gear' follows 'crank_joint', a joint of the loop .*, and others that"):
        cardan.clustered(m.model())
    damped = geared(four_bar(), "gear", J.Mimic(J.Revolute(), "crank_joint", -2.0), damping=[0.1])
    with pytest.raises(MechanismError, match=r"'gear' follows 'crank_joint'.*properties .* of its own; give these to"):
        cardan.clustered(damped.model())
    own = {"drive": cardan.Drive(3.0, 0.1)}  # whose effort limits are not those of the joint that it copies
    driven = geared(five_bar(), "right_joint", J.Mimic(J.Revolute((0, 1, 0)), "left_joint", -1.0), **own)
    with pytest.raises(MechanismError, match=r"'right_joint' follows 'left_joint'.*give these to 'left_joint'"):
        cardan.clustered(driven.model())
    still = geared(four_bar(), "rocker_joint", J.Mimic(J.Revolute((0, 1, 0)), "crank_joint", 0.5))
    with pytest.raises(MechanismError, match="closed by 'closing_joint'"):
        cardan.clustered(still.model())
    with pytest.raises(MechanismError, match="loop closed by 'closing_joint' has a joint that follows one elsewhere"):
        cardan.clustered(riding("arm").model())


@pytest.mark.parametrize(
    ("closing", "kind", "message"),
    [
        ("closing_joint", DTypeError, "expected a tuple: ('closing_joint',)"),
        (["closing"], UnknownNameError, "did you mean"),
    ],
)
def test_unknown_loops_are_refused(closing, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        cardan.clustered(four_bar().model(), closing=closing)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e9])
def test_mechanisms_of_any_size_are_clusters(scale):
    m = linkages.scaled(linkages.slider_crank_of_bars(), scale)
    model = cardan.clustered(m.model(), ["crank_joint"])
    q = cardan.integrate(model, model.neutral(), [2.0])
    assert np.abs(cardan.loop_residual(m.model(), q)).max() < 1e-14 * max(scale, 1.0)


def test_bodies_within_a_cluster_are_where_circles_meet():
    """The coupler's end, beside the two circles about its pivot and the rocker's, in 40 digits."""
    model = cardan.clustered(four_bar().model(), ["crank_joint"])
    q = model.random_configuration((100,), seed=0)
    poses = dict(zip(model.body_names, np.moveaxis(cardan.forward_kinematics(model, q), 1, 0), strict=True))
    found = (poses["coupler"] @ [0.4, 0.0, 0.0, 1.0])[:, [0, 2]]
    mp.mp.dps = 40
    for crank, end in zip(poses["crank"] @ [0.15, 0.0, 0.0, 1.0], found, strict=True):
        x, z, pivot, coupler, rocker = map(mp.mpf, (crank[0], crank[2], 0.4, 0.4, 0.3))
        way = mp.sqrt((pivot - x) ** 2 + z**2)
        along = (way**2 + coupler**2 - rocker**2) / (2 * way)
        across = mp.sqrt(coupler**2 - along**2)
        u = ((pivot - x) / way, -z / way)
        ends = [(x + along * u[0] - s * across * u[1], z + along * u[1] + s * across * u[0]) for s in (1, -1)]
        assert min(max(abs(a - b) for a, b in zip(e, end.tolist(), strict=True)) for e in ends) < 1e-15


def by_rounding(model, q, v, tau, frames):
    """By how much accelerations of frames differ among states that are one but for the last digit, relatively."""
    rng, rows, eps = np.random.default_rng(0), 40, np.finfo(float).eps
    q, v, tau = (np.repeat(x[:, None], rows, axis=1) for x in (q, v, tau))
    x = cardan.integrate(model, q, eps * rng.uniform(-1.0, 1.0, v.shape))
    u, t = (given * (1.0 + eps * rng.uniform(-1.0, 1.0, given.shape)) for given in (v, tau))
    found = cardan.frame_acceleration(model, x, u, cardan.forward_dynamics(model, x, u, t), frames)
    return np.ptp(found, axis=1).max() / np.abs(found).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "roots"),
    [
        (four_bar, ("base", "crank", "coupler")),
        (linkages.parallel_ankle, ("shank", "foot", "left_rod", "right_crank")),
        (linkages.leg, ("pelvis", "tarsus", "rod", "drive")),
        (lambda: linkages.scissor(10), ("base", "rocker9", "coupler4", "crank0")),
        (linkages.leg_with_ankle, ("pelvis", "foot", "left_rod", "right_crank")),
        (linkages.humanoid_with_ankles, ("pelvis", "left_foot", "left_left_rod", "right_left_crank")),
    ],
    ids=("four_bar", "ankle", "cassie", "scissor", "leg", "humanoid"),
)
def test_a_floating_mechanism_may_be_rooted_within_its_cluster(make, roots):
    """Accelerations differ by 1e-13, or by twice what the last digit of the state means there.

    From a light foot a leg or a humanoid is felt as a whole. Of its mass matrix, scaled to a diagonal of 1, the
    condition number is 1e4 and 2e5 there, and 2e2 at the pelvis. So the last digit means 2e-13 and 3e-13.
    """
    m, frames = make(), list(roots)
    first, *others = (cardan.clustered(m.model(root=root, base="floating")) for root in roots)
    q, v, _, tau = state(first, rows=4)
    tau[:, first.v_slice("root")] = 0.0  # no wrench on a root
    a = cardan.forward_dynamics(first, q, v, tau)
    poses = cardan.frame_transform(first, q, frames)
    accelerations = cardan.frame_acceleration(first, q, v, a, frames)
    for other in others:
        to = cardan.converter(first, other)
        there, dx, efforts = to.configuration(q), to.velocity(q, v), to.effort(q, tau)
        assert error(cardan.frame_transform(other, there, frames), poses) < 1e-15
        ddx = to.acceleration(q, v, a)
        assert error(cardan.frame_acceleration(other, there, dx, ddx, frames), accelerations) < 1e-14
        ddx = cardan.forward_dynamics(other, there, dx, efforts)
        rounding = max(1e-13, 2.0 * by_rounding(other, there, dx, efforts, frames))
        assert rounding < 1e-12
        assert error(cardan.frame_acceleration(other, there, dx, ddx, frames), accelerations) < rounding


def lying_flat():
    """Bars of which two make up for the others: all joints stand in a line, where the linkage may fold either way."""
    points = {"a": (0.0, 0.0), "b": (0.3, 0.0), "c": (0.65, 0.0), "d": (0.4, 0.0)}
    links = {"crank": "ab", "coupler": "bc", "rocker": "dc"}
    joints = (("crank", "base", "a"), ("coupler", "crank", "b"), ("rocker", "base", "d"), ("closing", "coupler", "c"))
    children = {"closing": "rocker"}
    rows = [(f"{name}_joint", parent, children.get(name, name), point) for name, parent, point in joints]
    return linkages.planar(points, links, rows).model()


def test_a_linkage_that_lies_flat_is_a_cluster_elsewhere():
    loops = lying_flat()
    model = cardan.clustered(loops, ["crank_joint"])
    out, q = cardan.converter(model, loops), model.neutral()
    x, dx = out.configuration(q), out.velocity(q, [0.7])
    assert np.abs(cardan.loop_residual(loops, x)).max() < 1e-14
    found = out.acceleration(q, [0.7], cardan.forward_dynamics(model, q, [0.7], [0.3]))
    expected = cardan.constrained_forward_dynamics(loops, x, dx, out.effort(q, [0.3])).accelerations
    assert error(found, expected) < 1e-12
    with pytest.raises(MechanismError, match="give a configuration elsewhere"):
        cardan.clustered(loops, near=loops.neutral())


@pytest.mark.slow
def test_what_is_no_cluster_is_refused():
    with pytest.raises(DTypeError, match=r"is a Mechanism, .* Mechanism\(...\).model\(\)"):
        cardan.clustered(four_bar())
    with pytest.raises(MechanismError, match="its loops are clusters"):
        cardan.clustered(cardan.clustered(four_bar().model()))
    with pytest.raises(MechanismError, match="'tip_joint' has 2 freedoms, and independent are 1"):
        cardan.clustered(five_bar().model(), ["left_joint"])
    with pytest.raises(MechanismError, match="no joint that closes a loop"):
        cardan.clustered(cardan.robots.arm7().model())
    with pytest.raises(ShapeError, match=r"expected \(3,\)"):
        cardan.clustered(four_bar().model(), near=[0.0])
    with pytest.raises(NotFiniteError, match=r"clustered: near\[0\] is nan"):
        cardan.clustered(four_bar().model(), near=[np.nan, 0.0, 0.0])
    apart = linkages.four_bar_too_far_apart(2.0).model()
    for near, words in ((None, "cannot be closed. "), ({"crank_joint": 1.0}, "near the given configuration. ")):
        with pytest.raises(MechanismError, match=f"{words}Nearest to it, 'closing_joint' is open by 1.15 m or rad"):
            cardan.clustered(apart, near=near)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_checked_calls_refuse_open_loops_by_name(scale, dtype):
    """Numbers of an open cluster are those of no mechanism, and nothing but a world looked."""
    model = cardan.clustered(linkages.scaled(four_bar(), scale).model(), ["crank_joint"])
    q = model.random_configuration((3,), seed=0).astype(dtype)
    v = tau = np.ones((3, 1), dtype)
    careful = cardan.forward_dynamics.on(checked=True)
    found = careful(model, q, v, tau)
    assert np.array_equal(found, cardan.forward_dynamics(model, q, v, tau))
    q[1, 1] += 0.04
    for call in (careful, careful.bind(model), cardan.derivative(careful, "q").bind(model)):
        with pytest.raises(
            cardan.errors.OpenLoopError, match=r"1 rows of the batch \(1\) leaves loop 'closing_joint'"
        ) as e:
            call(*((model,) if call is careful else ()), q, v, tau)
        assert e.value.rows == (1,)
        assert 0.01 * scale < e.value.gap < 0.02 * scale
    again = cardan.normalize.on(checked=True)(model, q)  # it closes them, and so takes them
    assert np.isfinite(careful(model, again, v, tau)).all()


def test_what_newcomers_look_for_is_said(tmp_path):
    """A reader asked for clusters meant orphans."""
    cardan.save(four_bar(), tmp_path / "bars.urdf")
    with pytest.raises(UnknownNameError, match=r"loops are the model's: cardan.clustered\(cardan.load\(file\)\)"):
        cardan.load(tmp_path / "bars.urdf", loops="clusters")


@pytest.mark.parametrize("peer", ["mujoco", "pinocchio", "drake"])
def test_other_libraries_have_no_clusters(peer):
    """Efforts and what came back were 0 without a word: every joint of a cluster was taken for one that follows."""
    loops = five_bar().model()
    model = cardan.clustered(loops)
    with pytest.raises(MechanismError, match=r"joint 'left_joint' is one of a cluster, which .* not have: convert"):
        cardan.conventions.to(peer, model)
    q, v, tau = (x[0] for x in state(model)[:3])
    out, to = cardan.converter(model, loops), cardan.conventions.to(peer, loops)
    x = out.configuration(q)
    work = to.effort(x, out.effort(q, tau)) @ to.velocity(x, out.velocity(q, v))
    np.testing.assert_allclose(work, tau @ v, rtol=1e-12)


def ankle_with_stops(reach=0.2):
    """A parallel ankle, led by its own two angles, whose motors go so far both ways [rad]."""
    m = linkages.parallel_ankle()
    for name in ("left_motor", "right_motor"):
        m = m.replace_joint(name, m.model().joint(name), limits=cardan.Limits([-reach], [reach])).mechanism
    model = cardan.clustered(m.model(), independent=["ankle"])
    return model, [model.q_slice(name).start for name in ("left_motor", "right_motor")]


@pytest.mark.slow
def test_random_configurations_and_inverse_kinematics_keep_limits_of_dependent_joints():
    """Worlds alone knew them: motors that reach 0.2 rad were sent to 1.8 rad."""
    model, motors = ankle_with_stops()
    q = model.random_configuration((300,), seed=0)
    assert 0.19 < np.abs(q[:, motors]).max() <= 0.2

    anywhere = cardan.clustered(linkages.parallel_ankle().model(), independent=["ankle"])
    step = 0.15 * np.random.default_rng(0).normal(size=(50, 2))
    far = cardan.integrate(anywhere, np.tile(anywhere.neutral(), (50, 1)), step)
    poses = cardan.frame_transform(anywhere, far, "foot")
    found = cardan.inverse_kinematics(model, frame="foot", target=poses)
    reachable = np.abs(far[:, motors]).max(axis=1) <= 0.2
    assert 10 < reachable.sum() < 40
    np.testing.assert_array_equal(found.converged, reachable)
    beyond = cardan.inverse_kinematics(model, frame="foot", target=poses, limits=False)
    assert beyond.converged.all()


@pytest.mark.slow
def test_steps_of_inverse_kinematics_stop_at_limits_of_dependent_joints():
    pytest.importorskip("daqp")
    model, motors = ankle_with_stops()
    free = cardan.clustered(linkages.parallel_ankle().model(), independent=["ankle"])
    target = cardan.frame_transform(free, cardan.integrate(free, free.neutral(), [0.1, 0.4]), "foot")
    asked, q = cardan.tasks.FrameOrientation("foot", target=target[:3, :3]), model.neutral()
    for _ in range(60):
        q = cardan.integrate(model, q, 0.05 * cardan.solve_ik(model, q, [asked], 0.05))
    np.testing.assert_allclose(np.abs(q[motors]).max(), 0.2, atol=1e-3)


@pytest.mark.parametrize("make", [linkages.watt, linkages.delta])
def test_a_second_loop_through_a_cluster_is_refused(make):
    """It became a cluster of members of another one, of which nothing could be computed."""
    loops = make().model()
    first, *rest = loops.closure_names
    some = cardan.clustered(loops, closing=[first])
    with pytest.raises(MechanismError, match=r"joint '.*', through which '.*' closes a loop, is one of a cluster"):
        cardan.clustered(some, closing=rest)
    ladder = linkages.scissor(2).model()  # these share a body, and no joint
    one, other = ladder.closure_names
    both = cardan.clustered(cardan.clustered(ladder, closing=[one]), closing=[other])
    assert both.nv == cardan.clustered(ladder).nv


def test_the_table_of_a_model_says_what_leads_a_cluster_and_limits_of_all_its_joints():
    """All were of a kind `ClusterMember`, and dependent joints free."""
    lines = {line.split()[0]: line for line in str(ankle_with_stops()[0]).splitlines()[3:]}
    assert "Universal of a cluster led by ankle " in lines["ankle"]
    assert re.search(r"Revolute of a cluster  .*\[-0.2, 0.2\]$", lines["left_motor"])
    assert lines["left_top"].endswith("free")


@pytest.mark.usefixtures("reference_target")
def test_a_drive_of_a_dependent_joint_is_no_body():
    """Its inertia was in the robot's as one body, and quantities of joints could not be had."""
    bar = cardan.robots.four_bar()
    driven = bar.replace_joint("rocker_joint", bar.model().joint("rocker_joint"), armature=(0.3,)).mechanism
    found, expected = (cardan.clustered(m.model(), near=cardan.assemble(m.model())) for m in (driven, bar))
    q, v = found.neutral(), np.ones(found.nv)
    assert cardan.kinetic_energy(found, q, v) > cardan.kinetic_energy(expected, q, v) + 0.01
    close(cardan.locked_inertia(found, q), cardan.locked_inertia(expected, q))
    for a, b in zip(cardan.joint_quantities(found, q, v), cardan.joint_quantities(expected, q, v), strict=True):
        close(a, b)


def test_a_joint_that_its_cluster_moves_is_locked_by_the_cluster():
    """It was said to mimic the joint that has the coordinates."""
    model = four_bar().model(loops="clusters")
    with pytest.raises(MechanismError, match="'coupler_joint' is moved by its cluster: lock 'crank_joint', which has"):
        model.lock({"coupler_joint": 0.1})
    assert model.lock({"crank_joint": model.neutral()}).nv == 0
