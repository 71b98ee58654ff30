"""Functions that call others are differentiated by what is known of these: the same as by their programs."""

import subprocess
import sys
from dataclasses import replace
from unittest import mock

import mpmath
import numpy as np
import pytest

import cardan
import linkages
from cardan._compiler.program.expr import Graph, pushing
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import without_tangents
from cardan.errors import ProgramError
from program_rules import verify


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
        # inertias of drives: pulled back through inverse dynamics, weights of accelerations left them out
        made.add_joint(f"j{k}", joint, parent, f"b{k}", place, armature=[0.1, 0.2, 0.3][: joint.nv])
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


# --- second derivatives ---


@cardan.function(shapes={"w": ("nv",)}, returns=())
def weighed(model, q, v, tau, w):
    return w @ cardan.forward_dynamics(model, q, v, tau)


@cardan.function(returns=())
def of_midpoint(model, q, v, tau):
    """A cost through two steps and the efforts of the last state: calls within calls, and what they start from."""
    q, v = midpoint(model, q, v, tau)
    a = cardan.inverse_dynamics(model, q, v, 0.1 * tau)
    return v @ v + q @ q * v[0] + a @ np.sin(a)


@cardan.function(returns=())
def by_choice(model, q, v, tau):
    """Calls that are chosen, skipped, and repeated; roots that are guarded."""
    root = np.sqrt(np.maximum(v, 0.0))
    a, b = cardan.forward_dynamics(model, q, v, tau), cardan.forward_dynamics(model, q, root, np.ones(model.nv))
    c = cardan.when(v[0] > 0.0, lambda: tau @ cardan.inverse_dynamics(model, q, root, a), 0.0)
    d = cardan.repeat(2, lambda x: cardan.inverse_dynamics(model, q, x, 0.1 * v), v)
    return np.where(v[1] > 0.0, a, b) @ v + c + d @ d


@cardan.function(shapes={"efforts": (150, "nv")}, returns=())
def of_rollout(model, q, v, efforts):
    """A loop that stays a loop."""

    def step(state, row):
        q, v = state
        v = v + 0.01 * cardan.forward_dynamics(model, q, v, row)
        return (cardan.integrate(model, q, 0.01 * v), v), [v[0] * v[1]]

    (q, v), kept = cardan.scan(step, (q, v), efforts)
    return v @ v + sum(e[0] for e in kept)


def written_out(function, wrt, *args):
    """The Hessian of a function all of whose calls are differentiated as any other code is."""
    with mock.patch.object(Graph, "calls_are_known", property(lambda _: False)):
        return cardan.hessian(function, wrt).on("numpy")(*args)


def whole(blocks):
    return np.block([list(row) for row in blocks])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "sign"), [(of_midpoint, 1.0), (by_choice, 1.0), (by_choice, -1.0), (of_rollout, 1.0)]
)
def test_second_derivatives_are_those_of_the_program(robot, function, sign):
    q, (v, tau) = robot.random_configuration(seed=0), np.random.default_rng(1).normal(size=(2, robot.nv))
    last = np.linspace(0.0, 1.0, 150)[:, None] * tau if function is of_rollout else tau
    wrt = ("q", "v") if function is of_rollout else ("q", "v", "tau")
    args = robot, q, sign * np.abs(v), last
    found, expected = whole(cardan.hessian(function, wrt).on("numpy")(*args)), whole(written_out(function, wrt, *args))
    np.testing.assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())
    assert np.isfinite(found).all()


@pytest.mark.slow
def test_second_derivatives_are_those_of_differences_in_50_digits(robot):
    rng = np.random.default_rng(3)
    q, (v, tau), d = robot.random_configuration(seed=2), rng.normal(size=(2, robot.nv)), rng.normal(size=(3, robot.nv))
    H = whole(cardan.hessian(of_midpoint, ("q", "v", "tau"))(robot, q, v, tau))
    with mpmath.workdps(50):

        def at(t):
            moved = [mpmath.mpf(e) * t for e in d.ravel().tolist()]
            by_q, by_v, by_tau = np.array(moved, dtype=object).reshape(3, -1)
            exact = [np.array([mpmath.mpf(e) for e in x.tolist()], dtype=object) for x in (q, v, tau)]
            there = np.array(cardan.integrate.kernel(robot, exact[0], by_q), dtype=object)
            return of_midpoint.made_from.kernel(robot, there, exact[1] + by_v, exact[2] + by_tau)

        h = mpmath.mpf(10) ** -12
        expected = float((at(h) - 2 * at(0 * h) + at(-h)) / h**2)
    assert abs(d.ravel() @ H @ d.ravel() - expected) < 1e-13 * np.abs(d.ravel() @ np.abs(H) @ d.ravel() + abs(expected))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [cardan.robots.five_bar, pytest.param(linkages.parallel_ankle, marks=pytest.mark.full)]
)
def test_second_derivatives_of_clusters(make):
    model = cardan.clustered(make().model())
    q = cardan.integrate(model, model.neutral(), np.full(model.nv, 0.1))
    args = model, q, *np.random.default_rng(1).normal(size=(2, model.nv))
    found = whole(cardan.hessian(of_midpoint, ("q", "v", "tau")).on("numpy")(*args))
    expected = whole(written_out(of_midpoint, ("q", "v", "tau"), *args))
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.slow
def test_second_derivatives_take_what_the_named_ones_take():
    arm, dog = cardan.robots.arm7().model(), cardan.robots.quadruped().model(base="floating")

    @cardan.function(shapes={"w": ("nv",), "wq": ("nq",)}, returns=())
    def step(model, q, v, tau, w, wq):
        after = v + 0.01 * cardan.forward_dynamics(model, q, v, tau)
        return w @ after + wq @ cardan.integrate(model, q, 0.01 * after)

    @cardan.function(returns=())
    def cost(model, q, v, tau):
        after = v + 0.01 * cardan.forward_dynamics(model, q, v, tau)
        return after @ after

    def operations(function, model):
        return cardan.hessian(function, ("q", "v", "tau")).trace(model).program.operations

    named = cardan.forward_dynamics_hessian.trace(arm).program.operations
    assert operations(weighed, arm) == named
    named = cardan.forward_dynamics_hessian.trace(dog).program.operations
    assert operations(weighed, dog) < 1.05 * named
    both, n = cardan.forward_dynamics_expansion.trace(dog).program.operations, 3 * dog.nv
    assert operations(step, dog) < 1.2 * (both + 6 * n * n)  # a base's six coordinates move with all there are
    assert operations(cost, dog) < both + dog.nv * n * n


def test_single_precision_and_batches(robot):
    q, (v, tau, w) = robot.random_configuration(seed=0), np.random.default_rng(1).normal(size=(3, robot.nv))
    hessian = cardan.hessian(weighed, ("q", "v", "tau"))
    double, args = whole(hessian(robot, q, v, tau, w)), [x.astype(np.float32) for x in (q, v, tau, w)]
    single = whole(hessian(robot, *args))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4 * np.abs(double).max())
    batch = hessian(robot, *(np.stack([x, 0.5 * x if k else x]) for k, x in enumerate(args)))
    np.testing.assert_array_equal(whole(type(batch)(*(type(r)(*(b[0] for b in r)) for r in batch))), single)


def test_a_program_with_calls_obeys_the_rules(robot):
    with pushing(True):
        program = verify(weighed.traced(robot, ("q", "v", "tau", "w"), (), 2).program)
    assert program.instructions.count_of(Op.CALLED) == robot.nv
    assert without_tangents(program).operations == weighed.trace(robot).program.operations
    with pytest.raises(ProgramError, match="no call number"):
        verify(replace(program, calls=()))


CALLING = """
import hashlib, sys
import cardan

@cardan.function
def calling(model, q, v, tau):
    a = cardan.forward_dynamics(model, q, v, tau)
    return cardan.inverse_dynamics(model, q, v, a), cardan.integrate(model, q, v)

print([m for m in sys.modules if m.endswith(("second_derivatives", "named_derivatives"))])
if len(sys.argv) > 1:
    print(cardan.inverse_dynamics.made_from.known is not None)
    sys.exit()
program = cardan.derivative(calling, "q").trace(cardan.robots.arm7().model()).program
print(hashlib.sha256(str(program).encode()).hexdigest())
"""


@pytest.mark.slow
def test_what_is_known_of_a_function_does_not_hang_on_what_was_imported():
    """`import cardan` imports no derivatives: a function that calls another one asks for them when it is traced."""
    first = "import cardan\ncardan.forward_dynamics_hessian, cardan.integrate_derivatives"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for code in (CALLING, first + CALLING)
    ]
    (alone, found), (after, expected) = (run.stdout.splitlines() for run in runs)
    assert alone == "[]" != after
    assert found == expected
    asked = subprocess.run([sys.executable, "-c", CALLING, "known"], capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines() == ["[]", "True"]  # where no trace came before, as JAX does
