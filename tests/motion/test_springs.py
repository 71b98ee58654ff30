"""Springs at joints and efforts that joints exert themselves: laws of oscillators, under every solver."""

import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import cardan
from cardan import SE3, Inertia, Mechanism, Spring, solvers
from cardan.description import Plane, Shape, Sphere
from cardan.errors import JointError, UnsupportedError
from cardan.joints import Cable, Composite, Joint, Mimic, Prismatic, Revolute, Spherical, UnboundedRevolute, reverse
from cardan.manifolds import Euclidean

J, K, REST = 0.2, 8.0, 0.3
PERIOD = 2.0 * math.pi * math.sqrt(J / K)


def oscillator(spring=None, joint=None, **properties):
    """A wheel on a spring, without gravity."""
    m = Mechanism("oscillator", gravity=(0.0, 0.0, 0.0))
    m.add_body("wheel", Inertia(1.0, (0, 0, 0), np.diag([0.1, J, 0.3])))
    kind = Revolute((0, 1, 0)) if joint is None else joint
    m.add_joint("axle", kind, "world", "wheel", spring=spring or Spring(K, REST), **properties)
    return m


# --- laws ------------------------------------------------------------------------------------------------------------


def after(solver, time, steps, **options):
    world = oscillator().world()
    made = getattr(solvers, solver)(world, time / steps, **options)
    state = made.step(world.state(q=[[REST + 0.2]]), steps=steps)
    return state.q[0, 0] - REST, state.v[0, 0]


@pytest.mark.parametrize("solver", ["Featherstone", "Variational", "XPBD", "SemiImplicit"])
def test_the_period_is_that_of_an_oscillator(quick_target, solver):
    """A quarter of it brings the wheel to rest's place at full speed, with an error of the order of the step."""
    gaps = []
    for steps in (40, 80):
        x, v = after(solver, PERIOD / 4, steps)
        gaps.append(abs(x) / 0.2 + abs(v / (0.2 * math.sqrt(K / J)) + 1.0))
    assert gaps[0] < 0.08
    assert gaps[1] < 0.6 * gaps[0]


@pytest.mark.parametrize(("integrator", "error"), [("semi_implicit", 1e-4), ("midpoint", 1e-4), ("rk4", 1e-9)])
def test_energy_is_kept_and_the_period_is_exact(quick_target, integrator, error):
    x, v = after("Featherstone", PERIOD, 400, integrator=integrator)
    assert abs(x - 0.2) < error
    assert abs(v) < 0.2 * math.sqrt(K / J) * 1e-3
    assert abs(0.5 * J * v**2 + 0.5 * K * x**2 - 0.5 * K * 0.04) < error * 0.5 * K * 0.04


def test_with_damping_it_comes_to_rest_where_the_spring_does_not_pull(quick_target):
    world = oscillator(damping=[1.0]).world()
    state = solvers.Featherstone(world, 0.02).step(world.state(q=[[-1.0]]), steps=400)
    np.testing.assert_allclose(state.q, [[REST]], atol=1e-9)


@pytest.mark.parametrize("stiffness", [1e-9, 1.0, 1e9])
def test_any_stiffness_is_stable_at_any_step(quick_target, stiffness):
    world = oscillator(Spring(stiffness, REST)).world()
    for dtype in ("float64", "float32"):
        state = solvers.Featherstone(world, 0.01).step(world.state(dtype=dtype, q=[[1.0]]), steps=50)
        assert np.abs(state.q - REST).max() <= 0.7 * (1.0 + 1e-6)


def test_springs_are_drives_to_a_constant_target(quick_target):
    """The same implicit step as of a drive that is asked for the rest, on every kind of manifold."""
    rest = (0.3, -0.2, 0.1)
    for joint, at in ((Spherical(), rest), (UnboundedRevolute((0, 1, 0)), (3.0,)), (Prismatic(), (0.1,))):
        drive = cardan.Drive(20.0)
        sprung, driven = (
            oscillator(spring, joint, drive=d).world() for spring, d in ((Spring(20.0, at), None), (Spring(), drive))
        )
        control = driven.control()
        control.position = [at]
        states = [w.state(q=w.model.random_configuration((1,), seed=3)) for w in (sprung, driven)]
        found = solvers.Featherstone(sprung, 0.01).step(states[0], steps=5)
        expected = solvers.Featherstone(driven, 0.01).step(states[1], control, steps=5)
        np.testing.assert_allclose(found.q, expected.q, atol=1e-14)


# --- mechanics -------------------------------------------------------------------------------------------------------


def test_passive_forces_are_the_slope_of_the_springs_energy():
    m = oscillator(Spring((1.0, 2.0, 3.0)), Spherical())
    model = m.model()
    q = cardan.integrate(model, model.neutral(), [0.4, -0.3, 0.2])
    x = cardan.limit_coordinates(model, q)
    np.testing.assert_allclose(cardan.passive_forces(model, q, np.zeros(3)), x * [1.0, 2.0, 3.0], atol=1e-14)
    slide = oscillator(Spring(4.0, 0.5), Prismatic()).model()
    np.testing.assert_allclose(cardan.passive_forces(slide, [[0.0], [0.5], [2.0]], np.zeros((3, 1)))[:, 0], [-2, 0, 6])
    assert slide.passive("spring_stiffness") == (4.0,)
    assert slide.passive("spring_rest") == (0.5,)


def follower(spring, copied, multiplier=-2.0, offset=0.1):
    m = oscillator(spring, Revolute((0, 1, 0)))
    m.add_body("other", Inertia(1.0, (0, 0, 0), np.eye(3)))
    joint = Mimic(Revolute((0, 1, 0)), "axle", multiplier, offset)
    m.add_joint("copy", joint, "wheel", "other", spring=copied)
    return m


def test_a_mimic_has_its_spring_at_its_own_angle(quick_target):
    model = follower(Spring(K, REST), Spring(3.0, 0.7)).model()
    x = np.array([[0.2], [-1.0]])
    expected = K * (x - REST) - 2.0 * 3.0 * ((-2.0 * x + 0.1) - 0.7)
    np.testing.assert_allclose(cardan.passive_forces(model, x, np.zeros((2, 1))), expected, atol=1e-14)
    assert model.passive("spring_stiffness") == (K + 12.0,)
    rest = model.passive("spring_rest")
    np.testing.assert_allclose(cardan.passive_forces(model, [rest], np.zeros((1, 1))), 0.0, atol=1e-14)
    assert follower(Spring(), Spring(3.0, 0.7)).model().passive("spring_rest") == (-0.3,)
    still = follower(Spring(K, REST), Spring(3.0, 0.7), multiplier=0.0).model()
    assert still.passive("spring_stiffness") == (K,)
    assert still.passive("spring_rest") == (REST,)


def test_every_world_has_its_own_springs(quick_target):
    """Failed before: a spring could not rest at a negative angle in one of many worlds."""
    world = oscillator().world().with_inputs("spring_stiffness", "spring_rest")
    state, rest, stiffness = world.state(2, spring_rest=[-0.4]), [[[-0.4]], [[0.2]]], [[[K]], [[2.0 * K]]]
    world.view().set_constants(state, "spring_rest", rest)
    world.view().set_constants(state, "spring_stiffness", stiffness)
    found = solvers.Featherstone(world, 0.01).step(state, steps=30)
    for k in range(2):
        alone = oscillator(Spring(stiffness[k][0][0], rest[k][0][0])).world()
        expected = solvers.Featherstone(alone, 0.01).step(alone.state(), steps=30)
        np.testing.assert_allclose(found.q[k], expected.q[0], rtol=1e-12)


def test_stiffness_and_rest_are_inputs():
    m = oscillator()
    model = m.model()
    varied = model.with_inputs("spring_stiffness", rest=("axle", "spring_rest"))
    assert varied.input_values() == {"spring_stiffness": [K], "rest": [REST]}
    q, v = np.full((2, 1), 0.5), np.zeros((2, 1))
    found = cardan.passive_forces(varied, q, v, spring_stiffness=[[1.0], [2.0]], rest=[[0.0], [0.1]])
    np.testing.assert_allclose(found[:, 0], [0.5, 0.8], atol=1e-15)
    filled = varied.with_values(spring_stiffness=[2.0], rest=[0.1])
    assert (filled.passive("spring_stiffness"), filled.passive("spring_rest")) == ((2.0,), (0.1,))
    assert filled.digest != model.digest
    slope = cardan.derivative(cardan.passive_forces, "rest")(varied, q, v, spring_stiffness=[2.0], rest=[0.0])
    np.testing.assert_allclose(slope, -2.0)


def test_a_spring_survives_rerooting_and_files():
    m = oscillator()
    m.add_body("hub", Inertia(1.0))
    m.add_joint("screw", cardan.joints.Helical((0, 0, 1), 0.1), "wheel", "hub", spring=Spring(2.0, 0.4))
    m = m.remove("axle").mechanism
    model = m.model(root="hub")
    assert model.passive("spring_stiffness") == (2.0,)
    np.testing.assert_allclose(cardan.passive_forces(model, [1.4], [0.0]), [2.0])
    for twin in (pickle.loads(pickle.dumps(model)), cardan.from_json(cardan.to_json(model))):
        assert twin.passive("spring_rest") == (0.4,)
        assert twin.digest == model.digest


# --- efforts of joints -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Detent(Joint):
    """A hinge that clicks: a periodic torque, and drag by the square of the speed."""

    depth: float = 0.5
    drag: float = 0.0
    manifold = Euclidean(1)

    def transform(self, q):
        return Revolute((0, 1, 0)).transform(q)

    def efforts(self, q, v):
        return (-self.depth * cardan.sin(4.0 * q[0]) - self.drag * v[0] * cardan.absolute(v[0]),)


def test_passive_forces_have_what_joints_exert():
    model = oscillator(Spring(), Detent(0.5, 0.1)).model()
    q, v = np.array([[0.3], [1.0]]), np.array([[2.0], [-1.0]])
    expected = 0.5 * np.sin(4.0 * q) + 0.1 * v * np.abs(v)
    np.testing.assert_allclose(cardan.passive_forces(model, q, v), expected, atol=1e-15)
    reversed_ = Mechanism("reversed")
    reversed_.add_body("a", Inertia(1.0))
    reversed_.add_body("b", Inertia(1.0))
    reversed_.add_joint("j", Detent(0.5, 0.1), "a", "b")
    np.testing.assert_allclose(cardan.passive_forces(reversed_.model(root="b"), q, v), expected, atol=1e-15)
    varied = model.with_inputs(depth=("axle", "depth"))
    found = cardan.passive_forces(varied, q, v, depth=2.0)
    np.testing.assert_allclose(found, 2.0 * np.sin(4.0 * q) + 0.1 * v * np.abs(v), atol=1e-15)


def test_joints_of_joints_exert_what_their_parts_do():
    cable = Cable(stretch_stiffness=10.0, bend_stiffness=2.0, bend_damping=0.5)
    q, v = (0.1, 0.2, -0.3), (1.0, 2.0, 3.0)
    assert reverse(cable).efforts(q, v) == cable.efforts(q, v) == (-1.0, -1.4, -0.9)
    both = Composite([Detent(), cable, Revolute()])
    assert both.has_efforts
    assert both.efforts((0.5, *q, 9.0), (1.0, *v, 9.0)) == [*Detent().efforts((0.5,), (1.0,)), -1.0, -1.4, -0.9, 0.0]
    copy = Mimic(Detent(), "other", -2.0, 0.1)
    assert copy.efforts((0.5,), (1.0,)) == (-2.0 * Detent().efforts((-0.9,), (-2.0,))[0],)
    for joint in (Revolute(), reverse(Revolute()), Composite([Revolute(), Prismatic()]), Mimic(Revolute(), "x")):
        assert not joint.has_efforts
        assert tuple(joint.efforts(joint.neutral(), (0.0,) * joint.nv)) == (0.0,) * joint.nv


def test_steps_feel_what_joints_exert(quick_target):
    """Energy of a clicking hinge is kept by a method of order 4, and an implicit step converges to the same."""
    world = oscillator(Spring(), Detent(0.5)).world()
    start = world.state(q=[[0.3]])
    energy = lambda s: 0.5 * J * s.v**2 - 0.125 * np.cos(4.0 * s.q)  # noqa: E731
    exact = solvers.Featherstone(world, 1e-3, integrator="rk4").step(start, steps=500)
    np.testing.assert_allclose(energy(exact), energy(start), atol=1e-10)
    assert abs(exact.q - 0.3).max() > 0.1
    off = [
        np.abs(solvers.Featherstone(world, h).step(start, steps=round(0.5 / h)).q - exact.q).max() for h in (2e-3, 1e-3)
    ]
    assert off[1] < 0.6 * off[0] < 0.05


def test_an_implicit_step_knows_the_slope_of_stiff_efforts(quick_target):
    """At 1e6 N m a step of 10 ms is far beyond what an explicit one bears; v' = v + dt f(x + dt v') / J, linearised."""
    world = oscillator(Spring(), Detent(1e6, 50.0)).world()
    state = solvers.Featherstone(world, 0.01).step(world.state(q=[[0.05]]), steps=300)
    assert np.abs(state.q).max() < 1e-6
    x, v, dt = 0.3, 2.0, 0.01
    soft = oscillator(Spring(), Detent(0.5, 0.1)).world()
    found = solvers.Featherstone(soft, dt).step(soft.state(q=[[x]], v=[[v]]))
    ahead = x + dt * v
    force, k, d = -0.5 * math.sin(4 * ahead) - 0.1 * v * v, 2.0 * math.cos(4 * ahead), 0.2 * v
    a = force / (J + dt * d + dt * dt * k)
    np.testing.assert_allclose(found.v, [[v + dt * a]], atol=1e-14)


def test_a_hinge_with_efforts_is_no_hinge_to_those_who_would_lose_them():
    m = oscillator(Spring(), Detent())
    pytest.importorskip("mujoco")
    with pytest.raises(UnsupportedError, match="a Detent"):
        cardan.interop.to_mjspec(m)


@dataclass(frozen=True)
class TwoEfforts(Joint):
    """Returns more efforts than it has degrees of freedom."""

    manifold = Euclidean(1)

    def transform(self, q):
        return Revolute().transform(q)

    def efforts(self, q, v):
        return (-q[0], -v[0])


@dataclass(frozen=True)
class Branching(TwoEfforts):
    """Its efforts branch on a coordinate."""

    def efforts(self, q, v):
        return (-q[0],) if q[0] > 0.0 else (0.0,)


@pytest.mark.slow
def test_efforts_are_checked():
    with pytest.raises(JointError, match="efforts has 2 entries, expected nv = 1"):
        oscillator(Spring(), TwoEfforts())
    certificate = cardan.verify_joint(TwoEfforts(), 3)
    assert not certificate.passed
    assert "efforts" in str(certificate)
    causes = [finding.cause for finding in cardan.verify_joint(Branching(), 3).findings]
    assert any("branches on the value" in cause for cause in causes)  # not the page: it is wrapped after a path
    assert cardan.verify_joint(Detent(), 3).passed


# --- margins ---------------------------------------------------------------------------------------------------------


def test_a_ball_rests_where_margins_meet(quick_target):
    m = Mechanism("ball")
    m.add_body("ball", Inertia(1.0, (0, 0, 0), np.eye(3) * 4e-3))
    m.add_joint("lift", Prismatic((0, 0, 1)), "world", "ball", SE3(translation=(0, 0, 0.3)))
    m.add_shape(Shape("ball", "collision", Sphere(0.1), margin=0.02))
    m.add_shape(Shape("world", "collision", Plane(), margin=0.03))
    world = m.world()
    assert world.pairs[0].margin == 0.05
    state = solvers.Featherstone(world, 5e-3).step(world.state(), steps=400)
    np.testing.assert_allclose(0.3 + state.q, 0.15 - 9.81 / 5e4, atol=1e-5)
    np.testing.assert_allclose(world.collide(state).gap, 0.05, atol=2e-4)
