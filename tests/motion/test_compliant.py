"""Joints that give way: deflections of their loads, oscillations of their springs, and nothing where there is none."""

import numpy as np
import pytest

import cardan
from cardan import SE3, Drive, Inertia, Limits, Mechanism
from cardan._motion.simulation.solvers import XPBD, Featherstone, SemiImplicit, Variational
from cardan.errors import ParameterError, UnsupportedError
from cardan.joints import Fixed, Mimic, Revolute
from cardan.simulation import compliant

G, MASS, ARM = 9.81, 2.0, 0.3
COMPLIANCE = (1e-6, 2e-6, 1e-5, 1e-4, 3e-4, 2e-4)  # m/N along x, y, z, rad/(N m) about them


def arm(joint=None, compliance=None, **properties):
    m = Mechanism("arm")
    m.add_body("link", Inertia(MASS, (ARM, 0.0, 0.0), 0.05 * np.eye(3)))
    m.add_joint("hinge", joint or Revolute((0, 0, 1)), "world", "link", compliance=compliance, **properties)
    return m


def deflection(world, state):
    """What the hinge gives way by: its coordinates behind its own."""
    own = world.model.slices["hinge"][0]
    return state.q[0, own.start :]


@pytest.mark.slow
@pytest.mark.parametrize("make", [XPBD, Variational, Featherstone])
@pytest.mark.parametrize("softer", [1e-3, pytest.param(1.0, marks=pytest.mark.full)])
def test_the_static_deflection_is_compliance_times_load(make, softer):
    """A hinge about the vertical under a weight on an arm: it sinks, and tilts about the axis across the arm."""
    damped = {"damping": [5.0]}
    m = compliant(arm(compliance=[softer * c for c in COMPLIANCE], **damped))
    world = m.world()
    after = make(world, 5e-2).step(world.state(), steps=200)
    found = deflection(world, after)[1:]  # behind the angle: x, y, z, about x, about y
    load = MASS * G
    np.testing.assert_allclose(found[2], -load * softer * COMPLIANCE[2], rtol=0.01)
    np.testing.assert_allclose(found[4], load * ARM * softer * COMPLIANCE[4], rtol=0.01)
    np.testing.assert_allclose(found[[0, 1, 3]], 0.0, atol=1e-5 * softer)


def test_a_welded_body_oscillates_on_its_compliance(quick_target):
    """Along z with the frequency of its mass on the inverse of the compliance, with all that it moves by as its q."""
    m = compliant(arm(Fixed(), (0.0, 0.0, 1e-3, 0.0, 0.0, 0.0)))
    world = m.world(gravity=(0, 0, 0))
    assert world.model.nq == 1
    period = 2.0 * np.pi * np.sqrt(MASS * 1e-3)
    after = Featherstone(world, period / 400, integrator="rk4").step(world.state(q=[0.01]), steps=400)
    np.testing.assert_allclose(after.q, 0.01, rtol=1e-6)


@pytest.mark.parametrize("make", [XPBD, Variational, SemiImplicit, Featherstone])
def test_no_compliance_is_what_was_bit_for_bit(quick_target, make):
    plain, zero = arm().world(), compliant(arm(compliance=(0.0,) * 6)).world()
    states = [make(w, 1e-3).step(w.state(q=[0.3], v=[1.0]), steps=5) for w in (plain, zero)]
    np.testing.assert_array_equal(states[0].q, states[1].q)
    np.testing.assert_array_equal(states[0].v, states[1].v)


@pytest.mark.slow
def test_the_stiff_limit_is_the_rigid_joint():
    rigid, stiff = (arm(drive=Drive(50.0, 5.0), compliance=c) for c in (None, [1e-12] * 6))
    q = []
    for world in (rigid.world(gravity=(0, -G, 0)), compliant(stiff).world(gravity=(0, -G, 0))):
        q.append(XPBD(world, 2e-3).step(world.state(), steps=100).q[0, 0])
    np.testing.assert_allclose(q[1], q[0], rtol=1e-4)


def test_what_the_joint_had_stays_with_its_own_coordinates():
    limits = Limits(lower=[-1.0], upper=[2.0], effort=[3.0])
    m = compliant(arm(compliance=COMPLIANCE, limits=limits, drive=Drive(7.0, 8.0), damping=[0.1], armature=[0.2]))
    model = m.model()
    assert model.nv == 6
    assert (model.lower[0], model.upper[0], model.effort_upper[0]) == (-1.0, 2.0, 3.0)
    assert not np.isfinite([*model.lower[1:], *model.effort_upper[1:]]).any()
    for name, value in (("drive_stiffness", 7.0), ("drive_damping", 8.0), ("damping", 0.1), ("armature", 0.2)):
        np.testing.assert_array_equal(model.passive(name), [value, *np.zeros(5)])


def test_what_cannot_give_way_is_refused_by_name():
    with pytest.raises(UnsupportedError, match=r"joint 'hinge'.*simulation.compliant\(mechanism\)"):
        XPBD(arm(compliance=COMPLIANCE).world(), 1e-3)
    with pytest.raises(UnsupportedError, match=r"joint 'hinge' about y.*child_pose"):
        compliant(arm(Revolute((0.0, 0.6, 0.8)), COMPLIANCE))
    m = arm()
    m.add_body("other", Inertia(1.0, (0, 0, 0), np.eye(3)))
    m.add_joint("copy", Mimic(Revolute((0, 0, 1)), "hinge"), "link", "other", SE3(), compliance=COMPLIANCE)
    with pytest.raises(UnsupportedError, match=r"joint 'copy' which copies another"):
        compliant(m)
    with pytest.raises(ParameterError, match="mechanism"):
        compliant(m.model())
    assert cardan.simulation.compliant is compliant


def test_actuators_and_configurations_stay_what_they_were():
    """Failed before: the actuator was gone, and `home` the neutral configuration."""
    m = Mechanism("arm")
    m.add_body("link", Inertia(1.0, (0, 0, -0.5), np.eye(3) * 0.1))
    m.add_joint("hinge", Revolute((0, 1, 0)), "world", "link", compliance=[0, 1e-4, 0, 1e-3, 0, 0])
    m.add_actuator(cardan.Actuator("motor", "hinge", 50.0))
    m.add_configuration("home", {"hinge": 0.3})
    soft = compliant(m)
    assert soft.actuators[0].gear == ((50.0, 0.0, 0.0),)
    assert soft.model().named_configurations["home"].tolist() == [0.3, 0.0, 0.0]
