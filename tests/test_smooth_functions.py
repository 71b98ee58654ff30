"""Functions made of the operations: right near 0 and far away, with their first and second derivatives."""

import math

import mpmath as mp
import numpy as np
import pytest

import cardan
from cardan.program import Array, trace
from cardan.program.autodiff import jacobian
from cardan.targets import evaluate
from duals import Dual

POINTS = (0.0, -0.0, 1e-300, 1e-20, -1e-12, 1e-8, -1e-4, 0.01, 0.3, -0.5, 1.0, -3.0, 10.0, -18.0, 25.0, -40.0, 300.0)
FAR = (700.0, -700.0, -800.0, 1e5, -1e5, 1e300, -1e300, math.inf, -math.inf)
FUNCTIONS = {
    # value, first and second derivative
    "tanh": (mp.tanh, lambda x: mp.sech(x) ** 2, lambda x: -2 * mp.tanh(x) * mp.sech(x) ** 2),
    "sinh": (mp.sinh, mp.cosh, mp.sinh),
    "cosh": (mp.cosh, mp.sinh, mp.cosh),
    "expm1": (mp.expm1, mp.exp, mp.exp),
    "log1p": (mp.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2),
}


def program(function, size=1):
    return trace("f", lambda x: {"y": function(*x)}, [Array("x", (size,))])


def run(p, *x):
    with np.errstate(all="ignore"):
        return float(evaluate(p, [np.float64(e) for e in x], np.dtype(float))[0])


def exact(function, x):
    with mp.workdps(340):
        return function(mp.mpf(x))


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_two_derivatives(name, x):
    """Values to a few units in the last place, derivatives to those of 1 where they are smaller."""
    p = program(getattr(cardan, name))
    for k, reference in enumerate(FUNCTIONS[name]):
        if name == "log1p" and x <= -1.0:
            continue
        expected = float(exact(reference, x))
        assert abs(run(p, x) - expected) <= (5e-16 * abs(expected) if k == 0 else 1e-15 * max(abs(expected), 1.0))
        p = jacobian(p, "x")


@pytest.mark.parametrize("x", FAR)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_far_away_nothing_is_lost(name, x):
    p = program(getattr(cardan, name))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(p, x), getattr(np, name)(x), rtol=1e-15)
        np.testing.assert_allclose(getattr(cardan, name)(x), getattr(np, name)(x), rtol=1e-15)
    slope = run(jacobian(p, "x"), x)
    assert math.isfinite(slope) or (abs(x) > 709.0 and name not in ("tanh", "log1p")) or math.isinf(x)


@pytest.mark.parametrize(
    "make",
    [float, np.float64, lambda x: np.array([x]), mp.mpf, Dual],
    ids=["float", "float64", "array", "mpf", "dual"],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_arguments_of_every_number(name, make):
    got = getattr(cardan, name)(make(1e-10))
    got = got.value if isinstance(got, Dual) else got
    np.testing.assert_allclose(np.ravel(np.array(got, dtype=float))[0], getattr(math, name)(1e-10), rtol=4e-16)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_symbols_of_other_libraries(name):
    sympy, casadi = pytest.importorskip("sympy"), pytest.importorskip("casadi")
    a, x = sympy.Symbol("a", real=True), casadi.SX.sym("x")
    assert float(getattr(cardan, name)(a).subs(a, 0.3)) == pytest.approx(getattr(math, name)(0.3), rel=1e-13)
    f = casadi.Function("f", [x], [getattr(cardan, name)(x)])
    assert float(f(0.3)) == pytest.approx(getattr(math, name)(0.3), rel=1e-13)


# --- powers ----------------------------------------------------------------------------------------------------------

BASES = (2.0, -2.0, 0.5, -0.3, 0.0, -0.0, 1.0, -1.0, 1e-30, 1e30, math.inf, math.nan)


@pytest.mark.parametrize("p", [3, -2, 0, 1, 100, -7, 1.5, 0.5, 2.5, -0.5, 0.3, np.float64(2.0), np.int64(3)])
def test_powers_known_beforehand(p):
    power = program(lambda x: x**p)
    for x in BASES:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(run(power, x), np.float64(x) ** float(p), rtol=2e-14, err_msg=f"{x} ** {p}")


def test_a_whole_power_is_a_product():
    assert program(lambda x: x**4).operation_counts() == {"mul": 2}
    assert program(lambda x: x**-2).operation_counts() == {"mul": 1, "div": 1}


@pytest.mark.parametrize("p", [3.0, -2.0, 0.0, 1.0, 2.0, 7.0, -1.0, 1.5, 0.5, -0.5])
def test_traced_powers(p):
    """The sign of a zero is not kept."""
    power = program(lambda x, p: x**p, 2)
    for x in (abs(x) if x == 0.0 else x for x in BASES):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(run(power, x, p), np.float64(x) ** p, rtol=1e-13, err_msg=f"{x} ** {p}")


@pytest.mark.parametrize(("x", "p"), [(2.0, 3.0), (-2.0, 3.0), (-2.0, 2.0), (-2.0, -3.0), (0.7, -1.3), (3.0, 0.0)])
def test_slopes_of_traced_powers(x, p):
    slopes = jacobian(program(lambda x, p: x**p, 2), "x")
    by_x, by_p = (float(e) for e in evaluate(slopes, [np.float64(x), np.float64(p)], np.dtype(float)))
    assert by_x == pytest.approx(p * x ** (p - 1), rel=1e-13)
    if x > 0:
        assert by_p == pytest.approx(x**p * math.log(x), rel=1e-13)


@pytest.mark.parametrize(("p", "first", "second"), [(0, 0, 0), (1, 1, 0), (2, 0, 2), (3, 0, 0), (2.5, 0, 0)])
def test_slopes_at_zero(p, first, second):
    """Of a power known beforehand and of a traced one."""
    for function, x in ((lambda x: x**p, (0.0,)), (lambda x, p: x**p, (0.0, p))):
        slope = jacobian(program(function, len(x)), "x")
        assert run(slope, *x) == first
        assert run(jacobian(slope, "x"), *x) == second


def test_numbers_to_a_traced_power():
    p = program(lambda x: 2.0**x + 0.0**x + (-2.0) ** x)
    assert run(p, 3.0) == pytest.approx(8.0 + 0.0 - 8.0, abs=1e-13)
    assert run(p, 0.0) == 3.0
    assert math.isnan(run(p, 0.5))


# --- bounds and remainders -------------------------------------------------------------------------------------------


def test_clip_is_numpys():
    x = np.array([-3.0, -0.5, 0.2, 7.0, math.nan])
    np.testing.assert_array_equal(cardan.clip(x, -0.5, 1.0), np.clip(x, -0.5, 1.0))
    p = program(lambda x: cardan.clip(x, -0.5, 1.0))
    np.testing.assert_array_equal([run(p, e) for e in x], np.clip(x, -0.5, 1.0))


def test_remainders_are_pythons():
    p = program(lambda x: x % 0.7 + x // 0.3 + 5.0 % x)
    for x in (2.3, -1.1, 0.4):
        assert run(p, x) == pytest.approx(x % 0.7 + x // 0.3 + 5.0 % x, rel=1e-13)


def test_functions_of_arrays_of_symbols_go_entry_by_entry():
    def kernel(x, y):
        q = np.stack([x, y])
        return cardan.where(q > 0.0, cardan.tanh(q), cardan.clip(q, -0.2, 0.0)) @ cardan.maximum(q, [0.5, y])

    p = program(kernel, 2)
    assert run(p, 0.3, -0.6) == pytest.approx(math.tanh(0.3) * 0.5 + 0.2 * 0.6)
