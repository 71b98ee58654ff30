"""Derivatives of programs: against 40 digits, against each other, on robots."""

import functools
import math

import mpmath
import numpy as np
import pytest

import cardan
from cardan import scalar
from cardan._compiler.program import Array, trace
from cardan._compiler.program.autodiff import jacobian, jacobian_vector_product, vector_jacobian_product
from cardan._compiler.targets import NumpyProgram
from cardan.errors import ParameterError, UnknownNameError
from program_rules import verify
from representatives import in_turn, represented

FUNCTIONS = {
    "add": lambda x, y: x + 2.0 * y,
    "sub": lambda x, y: 3.0 - x - y,
    "mul": lambda x, y: x * y * x,
    "div": lambda x, y: x / (1.0 + y * y) + 2.0 / x,
    "neg": lambda x, y: -(x * y),
    "sqrt": lambda x, y: scalar.sqrt(x * x + y),
    "sin": lambda x, y: scalar.sin(x * y),
    "cos": lambda x, y: scalar.cos(x - y) * x,
    "tan": lambda x, y: scalar.tan(x * y),
    "asin": lambda x, y: scalar.asin(x * y * 0.5),
    "acos": lambda x, y: scalar.acos(x * 0.7),
    "atan2": lambda x, y: scalar.atan2(y - 1.0, -x),
    "exp": lambda x, y: scalar.exp(x * y),
    "log": lambda x, y: scalar.log(x + y),
    "absolute": lambda x, y: scalar.absolute(x - y) + scalar.absolute(y - x * 0.1),
    "sign": lambda x, y: scalar.sign(x - y) * x,
    "floor": lambda x, y: scalar.floor(3.3 * x) * y,
    "minimum": lambda x, y: scalar.minimum(x * x, y) + scalar.minimum(x, 2.0 * y),
    "maximum": lambda x, y: scalar.maximum(x * x, y) + scalar.maximum(x, 2.0 * y),
    "where": lambda x, y: scalar.where(x < y, x * y, x - y) + scalar.where(y <= x, x * y, x / y),
    "logic": lambda x, y: scalar.where(scalar.logical_and(x < y, scalar.logical_not(x == y)), x**3, y**-2),
    "power": lambda x, y: x**5 + y**0.5,
}
POINTS = [(0.4, 0.9), (1.1, 0.3), (0.62, 0.61)]


def program_of(function):
    return trace("f", lambda x: {"y": np.array([function(x[0], x[1])], dtype=object)}, [Array("x", (2,))])


def run(program, *arrays):
    return NumpyProgram(program)([np.atleast_2d(a) for a in arrays], 1, np.dtype(np.float64))[0]


@pytest.mark.parametrize("name", FUNCTIONS)
@in_turn("mode", ["forward", "reverse", "auto"])
def test_every_operation_against_40_digits(name, mode):
    function = FUNCTIONS[name]
    derivative = verify(jacobian(program_of(function), "x", mode=mode))
    for x, y in POINTS:
        with mpmath.workdps(40):
            x0, y0 = mpmath.mpf(x), mpmath.mpf(y)
            expected = [mpmath.diff(lambda t: function(t, y0), x0), mpmath.diff(lambda t: function(x0, t), y0)]  # noqa: B023
        np.testing.assert_allclose(run(derivative, [x, y]), np.array(expected, dtype=float), rtol=4e-15, atol=1e-15)


def test_derivatives_of_derivatives():
    program = program_of(lambda x, y: scalar.sin(x * y) * scalar.exp(x) / (1.0 + y * y))
    for first in ("forward", "reverse"):
        for second in ("forward", "reverse"):
            hessian = run(jacobian(jacobian(program, "x", mode=first), "x", mode=second), [0.4, 0.9]).reshape(2, 2)
            np.testing.assert_allclose(hessian, hessian.T, atol=1e-15)
            assert jacobian(program, "x").outputs[0].shape == (1, 2)
            x, y = 0.4, 0.9
            e, s, c = math.exp(x), math.sin(x * y), math.cos(x * y)
            xx = e * (s + 2.0 * y * c - y * y * s) / (1.0 + y * y)
            assert hessian[0, 0] == pytest.approx(xx, rel=1e-14)


def test_what_does_not_depend_is_zero_and_costs_nothing():
    program = trace("f", lambda x, y: {"a": x * 2.0, "b": y[:1] * y[1:]}, [Array("x", (2,)), Array("y", (2,))])
    for mode in ("forward", "reverse"):
        derivative = jacobian(program, "x", mode=mode)
        assert derivative.operations == 0
        np.testing.assert_array_equal(run(derivative, [1.0, 2.0], [3.0, 4.0]), [2.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    assert [str(a) for a in derivative.outputs] == ["da_dx[2, 2]", "db_dx[1, 2]"]


def test_a_guarded_singularity_stays_guarded():
    def sinc(x, _):
        small = x * x < 1e-8
        safe = scalar.where(small, 1.0, x)
        return scalar.where(small, 1.0 - x * x / 6.0, scalar.sin(safe) / safe)

    for mode in ("forward", "reverse"):
        derivative = jacobian(program_of(sinc), "x", mode=mode)
        np.testing.assert_allclose(run(derivative, [0.0, 1.0]), [0.0, 0.0], atol=1e-300)
        np.testing.assert_allclose(run(derivative, [3e-5, 1.0]), [-1e-5, 0.0], rtol=1e-6)


def test_unknown_names_and_modes():
    program = program_of(FUNCTIONS["mul"])
    with pytest.raises(UnknownNameError, match="'z'"):
        jacobian(program, "z")
    with pytest.raises(ParameterError, match="mode"):
        jacobian(program, "x", mode="backward")


@pytest.fixture(scope="module")
def quadruped():
    model = cardan.robots.quadruped().model(base="floating")
    rng = np.random.default_rng(1)
    q, v, a = model.random_configuration(seed=3), rng.normal(size=model.nv), rng.normal(size=model.nv)
    return model, cardan.inverse_dynamics.program(model), (q, v, a)


@pytest.mark.parametrize("wrt", ["q", "v", "a"])
def test_the_two_modes_agree_on_a_robot(quadruped, wrt):
    _, program, state = quadruped
    forward, reverse = (run(verify(jacobian(program, wrt, mode=m)), *state) for m in ("forward", "reverse"))
    scale = np.abs(forward).max()
    np.testing.assert_allclose(forward, reverse, atol=1e-13 * scale)


def test_the_mass_matrix_is_the_derivative_by_the_acceleration(quadruped):
    model, program, state = quadruped
    derivative = jacobian(program, "a")
    M = cardan.mass_matrix(model, state[0])
    np.testing.assert_allclose(run(derivative, *state).reshape(M.shape), M, atol=1e-12 * np.abs(M).max())


def test_products_are_those_of_the_jacobian(quadruped):
    _, program, state = quadruped
    rng = np.random.default_rng(5)
    J = {x: run(jacobian(program, x), *state).reshape(len(state[1]), -1) for x in ("q", "v")}
    dq, dv, weights = rng.normal(size=len(state[0])), rng.normal(size=len(state[1])), rng.normal(size=len(state[1]))
    pushed = run(verify(jacobian_vector_product(program, ["q", "v"])), *state, dq, dv)
    np.testing.assert_allclose(pushed, J["q"] @ dq + J["v"] @ dv, rtol=1e-10, atol=1e-10)
    reverse = verify(vector_jacobian_product(program, ["v", "q"]))
    pulled = run(reverse, *state, weights)
    expected = np.concatenate([weights @ J["v"], weights @ J["q"]])
    np.testing.assert_allclose(pulled, expected, rtol=1e-10, atol=1e-10)
    assert reverse.operations < 5 * program.operations  # Baur and Strassen: a gradient costs a few evaluations


def test_native_code_of_a_derivative(quadruped):
    from cardan._compiler.targets import compile_program, default_target

    _, program, state = quadruped
    derivative = jacobian(program, "q")
    native = compile_program(derivative, default_target())([np.atleast_2d(x) for x in state], 1, np.dtype(np.float64))
    expected = run(derivative, *state)
    np.testing.assert_allclose(native[0], expected, atol=1e-13 * np.abs(expected).max())


GUARDED = {
    "root": (lambda x: scalar.where(x > 0.0, scalar.sqrt(x), 0.0), [(-1.0, 0.0), (0.0, 0.0), (4.0, 0.25)]),
    "sinc": (
        lambda x: scalar.where(x == 0.0, 1.0, scalar.sin(x) / x),
        [(0.0, 0.0), (1.0, math.cos(1.0) - math.sin(1.0))],
    ),
    "sinc, scaled": (lambda x: 3.0 * scalar.where(x == 0.0, 1.0, 2.0 * (scalar.sin(x) / x)) + x, [(0.0, 1.0)]),
    "nested": (
        lambda x: scalar.where(
            x > 0.0, scalar.where(x < 1.0, scalar.sqrt(x) * scalar.sqrt(1.0 - x), 0.0), scalar.log(-x)
        ),
        [(-2.0, -0.5), (0.0, math.inf), (0.5, 0.0), (1.0, 0.0), (2.0, 0.0)],
    ),
    "both sides": (
        lambda x: scalar.where(x > 0.0, scalar.exp(x), 1.0 + scalar.absolute(x)),
        [(-2.0, -1.0), (0.0, 0.0)],
    ),
    "minimum": (lambda x: scalar.minimum(scalar.sqrt(x), -1.0), [(0.0, 0.0), (4.0, 0.0)]),
    "maximum": (lambda x: scalar.maximum(scalar.sqrt(x), 1.0), [(0.0, 0.0), (4.0, 0.25)]),
    "root of a maximum": (lambda x: scalar.sqrt(scalar.maximum(x, 0.0)), [(-2.0, 0.0), (4.0, 0.25)]),
    "root of a maximum, further on": (
        lambda x: 1.0 / (3.0 * scalar.sqrt(scalar.maximum(x, 0.0)) * scalar.sqrt(scalar.maximum(x, 0.0))),
        [(-2.0, 0.0), (2.0, -1.0 / 12.0)],
    ),
    "bounds within bounds": (
        lambda x: scalar.sqrt(scalar.clip(scalar.minimum(x, 3.0), 0.0, 4.0)) + x,
        [(-2.0, 1.0), (1.0, 1.5), (7.0, 1.0)],
    ),
    "angle of bounds": (lambda x: scalar.acos(scalar.clip(x, -1.0, 1.0)), [(-2.0, 0.0), (0.0, -1.0), (2.0, 0.0)]),
    "angle of a minimum": (lambda x: scalar.asin(scalar.minimum(x, 1.0)), [(0.0, 1.0), (2.0, 0.0)]),
    "logarithm of a maximum": (lambda x: scalar.log(scalar.maximum(0.0, x)), [(-1.0, 0.0), (2.0, 0.5)]),
    "kinks": (
        lambda x: scalar.minimum(x, -x) + 10.0 * scalar.maximum(x, -x) + 100.0 * scalar.absolute(x),
        [(0.0, 11.0), (2.0, 109.0), (-2.0, -109.0)],
    ),
}


@pytest.mark.parametrize("name", GUARDED)
@in_turn("mode", ["forward", "reverse", "auto"])
def test_the_side_that_is_not_chosen_has_no_say(name, mode):
    function, expected = GUARDED[name]
    program = trace("f", lambda x: {"y": np.array([function(x[0])], dtype=object)}, [Array("x", (1,))])
    derivative = verify(jacobian(program, "x", mode=mode))
    product = verify(vector_jacobian_product(program, ["x"]))
    for x, slope in expected:
        with np.errstate(all="ignore"):
            assert run(derivative, [x]) == pytest.approx(slope, abs=1e-15)
            assert run(product, [x], [2.0]) == pytest.approx(2.0 * slope, abs=1e-15)


@pytest.mark.parametrize("name", ["root of a maximum", "angle of bounds", "angle of a minimum", "bounds within bounds"])
@pytest.mark.parametrize("modes", [("forward", "forward"), ("reverse", "forward"), ("forward", "reverse")])
def test_second_derivatives_of_bounds_are_0_beyond_them(name, modes):
    function, expected = GUARDED[name]
    program = trace("f", lambda x: {"y": np.array([function(x[0])], dtype=object)}, [Array("x", (1,))])
    for mode in modes:
        program = verify(jacobian(program, "x", mode=mode))
    beyond = [x for x, slope in expected if slope in (0.0, 1.0) and abs(x) > 1.0]
    assert beyond
    with np.errstate(all="ignore"):
        assert not np.any([run(program, [x]) for x in beyond])


def test_guarded_slopes_of_a_users_function():
    @cardan.function
    def f(model, q):
        return cardan.where(q[0] > 0.0, cardan.sqrt(q[0]), 0.0)

    model = cardan.robots.arm7().model()
    q = np.zeros((2, 7))
    q[1, 0] = 4.0
    for function in (cardan.gradient(f, "q"), *(cardan.derivative(f, "q", mode=m) for m in ("forward", "reverse"))):
        np.testing.assert_array_equal(function(model, q)[..., 0], [0.0, 0.25])


@functools.cache
def way_and_three_derivatives(d, mode):
    """Programs of log(exp(t d)) of unit quaternions about some rotation, and of its derivatives by t."""
    manifold = cardan.manifolds.UnitQuaternion()
    q = np.array([0.5, -0.1, 0.7, 0.5])
    q = q / np.linalg.norm(q)

    def there(t):
        moved = manifold.integrate(tuple(q), tuple(t[0] * e for e in d))
        return {"y": np.array(manifold.difference(tuple(q), moved), dtype=object)}

    programs = [trace("f", there, [Array("t", (1,))])]
    for _ in range(3):
        programs.append(jacobian(programs[-1], "t", mode=mode))
    return programs


ANGLES = [0.0, *(10.0**k for k in range(-20, 0)), 0.2499, 0.2507, 0.5, 3.0]


@pytest.mark.parametrize("angle", represented(ANGLES, by=ANGLES[::4].count))
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_three_derivatives_of_the_log_of_a_rotation(angle, mode):
    """The length of the way t d is t: log(exp(t d)) = t d has the derivatives d, 0, 0, near the identity, too."""
    d = np.array([0.6, -0.3, 0.74])
    for program, expected in zip(
        way_and_three_derivatives(tuple(d), mode), (angle * d, d, 0.0 * d, 0.0 * d), strict=True
    ):
        np.testing.assert_allclose(run(program, [angle]), expected, atol=2e-13)


BASES = [-3.0, -2.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5]
EXPONENTS = [-3.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0]


def test_powers_of_a_computed_exponent():
    """As C's pow: a negative base with an integer exponent has a value, and everything to the power 0 is 1."""
    program = program_of(lambda x, y: x**y)
    with np.errstate(all="ignore"):
        for x in BASES:
            for y in EXPONENTS:
                expected = abs(np.power(x, y)) if x == 0.0 else np.power(x, y)
                np.testing.assert_allclose(run(program, [x, y]), [expected], rtol=4e-15)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_slopes_of_powers_of_a_computed_exponent(mode):
    derivative = jacobian(program_of(lambda x, y: x**y), "x", mode=mode)
    with np.errstate(all="ignore"):
        for x, y in ((-2.0, 3.0), (-0.5, -2.0), (2.5, 0.5), (1.5, 0.0)):
            assert run(derivative, [x, y])[0] == pytest.approx(y * x ** (y - 1.0), rel=1e-14)


@pytest.mark.parametrize(("function", "expected"), [(lambda x: x**101, -1.0), (lambda x: (-2.0) ** (3.0 * x), -0.125)])
def test_powers_of_negative_numbers(function, expected):
    program = trace("f", lambda x: {"y": np.array([function(x[0])], dtype=object)}, [Array("x", (1,))])
    assert run(program, [-1.0])[0] == pytest.approx(expected, rel=1e-14)


def test_a_derivative_called_with_a_number_that_is_0():
    # the quotient of two numbers was Python's, which raises
    @cardan.function(shapes={"x": (), "y": ()})
    def size(model, x, y):
        return x * cardan.sqrt(y * y)

    @cardan.function(shapes={"x": ()})
    def slope(model, x):
        return cardan.derivative(size, "y")(model, x, 0.0)

    assert np.isnan(slope(cardan.robots.double_pendulum().model(), 2.0))
