"""Functions that call others are differentiated by what is known of these: the same as by their programs."""

import numpy as np
import pytest

import cardan


@cardan.function
def midpoint(model, q, v, tau):
    """Two calls in a chain, of the same function."""
    middle = v + 0.05 * cardan.forward_dynamics(model, q, v, tau)
    at = cardan.integrate(model, q, 0.05 * v)
    a = cardan.forward_dynamics(model, at, middle, tau)
    return cardan.integrate(model, q, 0.1 * middle), v + 0.1 * a


@cardan.function
def entangled(model, q, v, tau):
    """Arguments that are one another, constants, roots that are guarded, and a call that is chosen by state."""
    a = cardan.forward_dynamics(model, q, tau, tau) + cardan.forward_dynamics(model, q, v, np.ones(model.nv))
    b = cardan.inverse_dynamics(model, q, np.sqrt(np.maximum(v, 0.0)), a)
    c = cardan.repeat(2, lambda x: cardan.integrate(model, x, v), q)
    return np.where(v[0] > 0.0, b, a) - cardan.difference(model, c, q), c


@pytest.fixture(scope="module")
def robot():
    made = cardan.Mechanism("ball")
    parent = "world"
    for k, joint in enumerate((cardan.joints.Spherical(), cardan.joints.Revolute(axis=[0, 1, 0]))):
        made.add_body(f"b{k}", cardan.Inertia(mass=1.0 + k, com=[0.1, 0.2, 0.1 * k], inertia=np.diag([0.5, 0.6, 0.7])))
        place = cardan.SE3(rotation=np.eye(3), translation=[0.1, 0.2, 0.3])
        made.add_joint(f"j{k}", joint, parent=parent, child=f"b{k}", parent_pose=place)
        parent = f"b{k}"
    return made.model(root="world", base="fixed")


@pytest.mark.slow
@pytest.mark.parametrize("function", [midpoint, entangled])
def test_forward_is_reverse(robot, function):
    # forward by the named derivatives, in reverse by the program; masses have no named ones
    q, (v, tau) = robot.random_configuration(seed=0), np.random.default_rng(1).normal(size=(2, robot.nv))
    varied = robot.with_inputs("mass")
    for model, names, given in ((robot, ("q", "v", "tau"), {}), (varied, ("q", "mass"), varied.input_values())):
        by = [cardan.derivative(function, names, mode=mode) for mode in ("forward", "reverse")]
        for found, expected in zip(*(f.on("numpy")(model, q, v, tau, **given) for f in by), strict=True):
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, atol=1e-12 * np.abs(b).max())


@pytest.mark.slow
@pytest.mark.parametrize("drives", [("root", "crank_joint"), ("root",)])
def test_efforts_of_loops(drives):
    # by the equation that defines them where the drives suffice, else by the program
    linkage = cardan.robots.four_bar().model()
    q = cardan.assemble(linkage)
    v = cardan.project_velocity(linkage, q, np.ones(linkage.nv))
    a = cardan.constrained_forward_dynamics(linkage, q, v, np.ones(linkage.nv)).accelerations

    @cardan.function
    def twice(model, q, v, a):
        found = cardan.constrained_inverse_dynamics(model, q, v, a, actuated=drives)
        return 2.0 * found.efforts, found.wrenches, found.unbalanced

    by = [cardan.derivative(twice, ("q", "v", "a"), mode=mode) for mode in ("forward", "reverse")]
    for found, expected in zip(*(f.on("numpy")(linkage, q, v, a) for f in by), strict=True):
        for d, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(d, e, atol=1e-13)
    forward, reverse = (f.trace(linkage).program.operations for f in by)
    assert (20 * forward < reverse) == (drives == ("root", "crank_joint"))


def test_operations_are_those_of_the_named_derivatives(robot):
    named = cardan.forward_dynamics_derivatives.trace(robot).program.operations
    whole = cardan.derivative(midpoint, "tau", mode="forward").trace(robot).program.operations
    assert whole < 3 * named


@pytest.mark.slow
def test_a_step_takes_little_more_than_the_named_derivatives():
    """Its accelerations are found with their derivatives, and what it writes beside these is the configuration."""
    robot = cardan.robots.humanoid().model(base="floating")

    @cardan.function
    def step(model, q, v, tau):
        after = v + 0.01 * cardan.forward_dynamics(model, q, v, tau)
        return cardan.integrate(model, q, 0.01 * after), after

    named = cardan.forward_dynamics_derivatives.trace(robot).program.operations
    for tangent in (False, (0,)):
        whole = cardan.derivative(step, ("q", "v", "tau"), tangent=tangent).trace(robot).program
        assert whole.operations < 1.2 * named


def test_what_is_run_alone_is_as_before(robot):
    program = midpoint.trace(robot).program
    assert "held" not in program.operation_counts()
