"""Joints that close loops and have forces: whichever joint of a loop closes it, the motion is the same."""

import warnings

import numpy as np
import pytest

import cardan
from cardan import SE3, Drive, Inertia, Spring
from cardan.errors import MechanismError, ParameterError, StartWarning
from cardan.joints import Cable, Distance, FreeFlyer, Limits
from cardan.simulation import cut_bodies
from cardan.solvers import XPBD, Featherstone, SemiImplicit, Variational
from representatives import represented

FORCES = {
    "damping": [0.05],
    "friction": [0.02],
    "armature": [0.003],
    "drive": Drive(20.0, 2.0),
    "limits": Limits(lower=[-0.3], upper=[0.03]),
    "spring": Spring(1.0, 0.3),
}
LAST = "closing_joint"


def bars(**forces):
    """The four-bar, with forces at the joint that closes its loop."""
    plain, made = cardan.robots.four_bar(), cardan.Mechanism("bars")
    assert plain.model().closures[0].name == LAST
    for body in plain.bodies:
        made.add_body(body.name, body.inertia)
    for c in plain.joints:
        own = forces if c.name == LAST else {}
        made.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose, **own)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("make", represented([Featherstone, Variational, XPBD, SemiImplicit], by=[Featherstone].count))
@pytest.mark.parametrize("name", represented(FORCES, by=["limits", "drive"].count))
def test_whichever_joint_closes_the_loop_the_motion_is_the_same(make, name):
    mechanism, found = bars(**{name: FORCES[name]}), []
    dt = 5e-4  # the coordinates of another tree are integrated with other errors, of this order
    for closing in ((), ("rocker_joint",)):
        world = mechanism.world(closing=closing)
        assert [c.name for c in world.model.closures] == [f"{LAST}_weld" if not closing else "rocker_joint"]
        motion = make(world, dt).rollout(world.state(), steps=400, every=20)
        assert not motion.state.diverged.any()
        q = [motion.q[:, 0, world.model.q_slice(joint)] for joint in ("crank_joint", LAST)]
        found.append(np.concatenate(q, axis=1))
    assert np.abs(found[0]).max() > 0.02
    np.testing.assert_allclose(found[0], found[1], atol=8.0 * dt)


def test_dynamics_and_energy_of_the_halves_are_those_of_the_whole():
    plain, cut = cardan.robots.four_bar(), cut_bodies(bars(damping=[0.05]))
    assert sum(b.inertia.mass for b in cut.bodies if b.inertia) == sum(
        b.inertia.mass for b in plain.bodies if b.inertia
    )
    model, halves = plain.model(), cut.model()
    q = cardan.assemble(model, [0.4, 0.0, 0.0], fixed=("crank_joint",))
    r = cardan.assemble(halves, [*q, 0.0], fixed=("crank_joint",))
    np.testing.assert_allclose(r[:3], q, atol=1e-9)
    a = cardan.constrained_forward_dynamics(model, q, np.zeros(3), [0.2, 0.0, 0.0]).accelerations
    b = cardan.constrained_forward_dynamics(halves, r, np.zeros(4), [0.2, 0.0, 0.0, 0.0]).accelerations
    np.testing.assert_allclose(b[:3], a, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("joint", [Cable(stretch_stiffness=300.0), Distance(0.1, 0.3, stiffness=300.0)])
def test_a_spring_between_two_bodies_keeps_their_momentum(joint):
    m = cardan.Mechanism("tied")
    for name, mass in (("a", 1.0), ("b", 3.0)):
        m.add_body(name, Inertia(mass, (0.0, 0.0, 0.0), 1e-2 * np.eye(3)))
        m.add_joint(f"{name}_free", FreeFlyer(), "world", name)
    m.add_joint("line", joint, "a", "b", SE3(translation=(0.0, 0.0, 0.05)))
    world = m.world(gravity=(0.0, 0.0, 0.0))
    state = world.state()
    state.v[0, :3] = -0.5, 0.2, 0.0
    motion = Featherstone(world, 1e-3).rollout(state, steps=500, every=50)
    momentum = cardan.centroidal_momentum(world.model, motion.q[:, 0], motion.v[:, 0])
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=5e-3)
    assert np.abs(motion.v[-1, 0, 6:9]).max() > 0.02  # it was pulled along
    assert np.abs(cardan.loop_residual(world.model, motion.q[:, 0])).max() < 1e-4


def test_a_world_begins_with_its_loops_closed():
    m = bars(spring=Spring(1.0, 0.3))
    q = cardan.assemble(cardan.robots.four_bar().model(), [0.4, 0.0, 0.0], fixed=("crank_joint",))
    b = cardan.WorldBuilder()
    b.add(m)
    b.q |= {"crank_joint": [q[0]], "coupler_joint": [q[1]], "rocker_joint": [q[2]]}
    world = b.finalize()
    assert abs(world.initial[world.model.q_slice(LAST)][0]) > 0.1
    assert np.abs(cardan.loop_residual(world.model, world.initial)).max() < 1e-6


def test_a_world_that_begins_with_an_open_loop_says_so():
    """A step closed a loop that was open by half a metre at hundreds of m/s, and nothing said why."""
    b = cardan.WorldBuilder()
    b.add(cardan.robots.four_bar())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        b.finalize()
    b.q["crank_joint"] = 1.0
    with pytest.warns(StartWarning, match=r"open: closing_joint by 0\.\d+ m or rad.*cardan\.assemble"):
        b.finalize()


def test_what_cannot_be_cut_is_told_and_what_need_not_be_is_left():
    plain = cardan.robots.four_bar()
    assert cut_bodies(plain) is plain
    with pytest.raises(ParameterError, match=r"a cardan\.Mechanism"):
        cut_bodies(plain.model())
    light = cardan.Mechanism("light")
    for name in "ab":
        light.add_body(name)
    for k, (parent, child) in enumerate((("world", "a"), ("a", "b"), ("b", "world"))):
        light.add_joint(f"j{k}", cardan.joints.Revolute((0, 0, 1)), parent, child, damping=[0.1])
    with pytest.raises(MechanismError, match="between bodies without inertia"):
        light.world()
