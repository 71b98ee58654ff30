"""Worlds whose loops are open, as constraints and as clusters: what begins so is named, and a step says so."""

import warnings

import numpy as np
import pytest

import cardan
import linkages
from cardan.errors import StartWarning
from cardan.solvers import Featherstone


def world_of(mechanism=None, **options):
    return (mechanism or cardan.robots.four_bar()).world(**options)


def opened(world, by=0.04):
    q = world.initial.copy()
    q[1] += by
    return q


def test_loops_that_a_view_opens_are_named_by_the_first_step():
    """Nothing said so, and a crank that was set alone left at 64 rad/s."""
    world = world_of()
    state = world.state()
    world.view().set_positions(state, [[0.5, 0.0, 0.0]])
    solver = Featherstone(world, 1e-3)
    with pytest.warns(StartWarning, match="open: closing_joint"):
        state = solver.step(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.step(state)


@pytest.mark.parametrize("clusters", [False, True])
def test_a_state_that_begins_open_is_named_and_the_way_to_close_it_works(clusters):
    """A cluster was closed by its first step without a word, whatever that did; so was a state's own loop."""
    world = world_of(loops="clusters" if clusters else "constraints")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.state(q=world.initial)
    q, close = opened(world), cardan.normalize if clusters else cardan.assemble
    with pytest.warns(StartWarning, match=rf"open: closing_joint by 0\.01\d* m.*cardan\.{close.__name__}\(") as said:
        state = world.state(worlds=3, q=[world.initial, q, world.initial])
    assert said[0].message.things == ("closing_joint",)
    after = Featherstone(world, 1e-3).step(state)
    assert after.residual[1] > 1.0  # rad/s, or m/s
    assert not after.residual[[0, 2]].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = world.state(q=close(world.model, q))
    assert Featherstone(world, 1e-3).step(state).residual == 0.0


def test_a_named_configuration_of_clusters_that_is_open_is_named():
    m = cardan.robots.four_bar()
    m.add_configuration("initial", {"crank_joint": 0.3})
    with pytest.warns(StartWarning, match="open: closing_joint by"):
        m.world(loops="clusters")


def test_constants_of_one_world_may_open_its_loops():
    world = world_of().with_inputs(at=("rocker_joint", "parent_pose"))
    at = np.tile(world.state().constants["at"], (2, 1, 1))
    at[1, 0, 3] += 0.05
    with pytest.warns(StartWarning, match=r"closing_joint by 0\.04\d* m"):
        world.state(worlds=2, at=at)


@pytest.mark.slow
def test_loops_that_cannot_be_closed_are_named_and_no_step_of_theirs_is_right():
    """They had a residual of 0 at 1000 rad/s."""
    match = r"(?s)closing_joint by 0\.\d+ m.*impossible near there.*'closing_joint' open by 0\.05 "
    with pytest.warns(StartWarning, match=match):
        world = world_of(linkages.four_bar_too_far_apart(0.9))
    path = Featherstone(world, 1e-3).rollout(world.state(), steps=50)
    assert (path.residual[1:] > 1.0).all()


def test_coordinates_that_no_cluster_has_are_said_to_be_impossible():
    world = world_of(loops="clusters")
    with pytest.warns(StartWarning, match=r"(?s)closing_joint by 0\.5.*independent coordinates that is impossible"):
        world.state(q=[0.3, -3.0, 1.0])


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_how_large_a_mechanism_is_does_not_matter(scale):
    """A mechanism of micrometres may be open by its own size, within a millimetre."""
    world = linkages.scaled(cardan.robots.four_bar(), scale).world(loops="clusters")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.state(q=world.initial + [0.0, 1e-4, 0.0])
    with pytest.warns(StartWarning, match="open: closing_joint by"):
        world.state(q=opened(world))


def test_a_cluster_that_meets_a_toggle_at_speed_is_named():
    """A world stopped, and `divergences` knew of no joint, since the acceleration was finite."""
    m = cardan.robots.four_bar()
    m = m.replace_joint(
        "rocker_joint", m.model().joint("rocker_joint"), drive=cardan.Drive(1e-9)
    ).mechanism  # so it leads
    solver = Featherstone(world_of(m, loops="clusters"), 1e-3)
    state = solver.world.state(worlds=2)
    state.v[1] = 20.0
    state = solver.step(state, steps=100)
    (found,) = state.divergences()
    assert (found.world, found.joint) == (1, "crank_joint")
    assert found.time < 0.09


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::cardan.errors.StartWarning")  # the leg is drawn open
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("integrator", ["implicit", "rk4"])
@pytest.mark.parametrize("name", ["four_bar", "stewart", "excavator", "parallelogram", "leg"])
def test_motions_of_closed_loops_are_not_called_wrong(name, integrator, dtype):
    makers = {"four_bar": cardan.robots.four_bar, "stewart": cardan.robots.stewart_platform}
    world = world_of((makers.get(name) or getattr(linkages, name))())
    state = world.state(worlds=4, dtype=dtype, q=cardan.assemble(world.model, world.initial))
    pushed = np.random.default_rng(0).normal(size=state.v.shape)
    state.v = cardan.project_velocity(world.model, state.q, pushed)
    path = Featherstone(world, 1e-3, integrator=integrator).rollout(state, steps=300)
    assert path.residual.max() < 1e-4  # rad/s; mostly 0
    assert (path.residual > 0.0).mean() < 0.01


@pytest.mark.parametrize(
    ("q", "v", "match"),
    [
        (
            {"crank_joint": 0.3},
            {},
            r"'crank_joint' has shape \(1,\), expected \(3,\).*crank_joint.*rocker_joint\.angle, to",
        ),
        ({"coupler_joint": 0.3}, {}, r"'coupler_joint' has shape.*moves with crank_joint: give them there"),
        ({}, {"coupler_joint": 0.3}, r"'coupler_joint' of a cluster is dependent.*follows crank_joint"),
        ({}, {"crank_joint": [0.3, 0.1]}, r"'crank_joint' has shape \(2,\), expected \(1,\)"),
    ],
)
def test_starts_of_joints_of_clusters_say_what_they_are_made_of(q, v, match):
    """Who gave a crank's angle alone was told of shapes, and shown the insides of a cluster."""
    b = cardan.WorldBuilder()
    b.add(cardan.robots.four_bar())
    b.q |= q
    b.v |= v
    with pytest.raises((cardan.errors.ShapeError, cardan.errors.MechanismError), match=match):
        b.finalize(loops="clusters")


def test_a_cluster_is_locked_as_a_whole():
    model = cardan.clustered(cardan.robots.four_bar().model())
    first = next(name for name in model.joint_names if model.joint(name).nv and not model.joint(name).primaries)
    with pytest.raises(cardan.errors.ShapeError, match=r"They are crank_joint\.angle, .*, together"):
        model.lock({first: 0.1})
    assert model.lock({first: model.neutral()}).nv == 0


def flat_parallelogram(coupler=0.2) -> cardan.Mechanism:
    """Two cranks and a coupler, drawn flat: at its dead point, which the limits of both cranks exclude."""
    m = cardan.Mechanism("flat")
    m.add_body("base")
    heavy = cardan.Inertia(1.0, (0.05, 0.0, 0.0), 0.01 * np.eye(3))
    for name in ("crank", "rod", "rocker"):
        m.add_body(name, heavy)
    limits = cardan.Limits([0.6], [2.4])
    hinge = cardan.joints.Revolute((0, 1, 0))
    m.add_joint("crank_joint", hinge, "base", "crank", limits=limits, damping=[0.1])
    m.add_joint("rod_joint", hinge, "crank", "rod", cardan.SE3(translation=(0.1, 0, 0)))
    m.add_joint("rocker_joint", hinge, "base", "rocker", cardan.SE3(translation=(0.2, 0, 0)), limits=limits)
    ends = cardan.SE3(translation=(coupler, 0, 0)), cardan.SE3(translation=(0.1, 0, 0))
    m.add_joint("closing_joint", hinge, "rod", "rocker", *ends)
    return m


@pytest.mark.slow
def test_a_loop_that_is_drawn_beyond_its_limits_begins_within_them():
    """A Cassie's parallelograms lie flat at q = 0, beyond their limits: their stops threw them, and it diverged."""
    world = flat_parallelogram().world()
    at = cardan.limit_coordinates(world.model, world.initial)
    assert (at >= world.model.lower - 1e-3).all()
    assert (at <= world.model.upper + 1e-3).all()
    assert np.abs(cardan.loop_residual(world.model, world.initial)).max() < 1e-8
    state = world.state()
    for _ in range(100):
        state = Featherstone(world, 2e-3).step(state)
        assert np.abs(state.v).max() < 20.0
        assert not state.diverged.any()
    np.testing.assert_array_equal(flat_parallelogram().world().initial, world.initial)


@pytest.mark.slow
@pytest.mark.parametrize("loops", ["constraints", "clusters"])
def test_joints_that_follow_in_a_cluster_begin_within_their_limits(loops):
    """Clusters began as drawn, and the stops of their dependent joints threw them."""
    m, motors = linkages.parallel_ankle(), ("left_motor", "right_motor")
    for name in motors:
        m = m.replace_joint(name, m.model().joint(name), limits=cardan.Limits([0.2], [0.6])).mechanism
    world = m.world(loops=loops)
    at = world.initial[[world.model.q_slice(name).start for name in motors]]
    assert ((at >= 0.2 - 1e-3) & (at <= 0.6 + 1e-3)).all()


def test_a_loop_that_no_start_within_limits_closes_begins_as_it_is_drawn():
    m = flat_parallelogram()
    m = m.replace_joint(
        "crank_joint", cardan.joints.Revolute((0, 1, 0)), limits=cardan.Limits([-2.4], [-2.0])
    ).mechanism
    m.add_configuration("initial", {"rocker_joint": 0.0})
    world = m.world()
    np.testing.assert_array_equal(world.initial, np.zeros(3))
