"""Functions made of the operations: right near 0 and far away, with their first and second derivatives."""

import math
import shutil
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.program.autodiff import jacobian
from cardan._compiler.targets import evaluate
from duals import Dual
from programs import evaluated, run_c
from representatives import in_turn

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


@pytest.mark.parametrize("name", FUNCTIONS)
@in_turn("x", POINTS)
def test_values_and_two_derivatives(name, x):
    """Values to a few units in the last place, derivatives to those of 1 where they are smaller."""
    p = program(getattr(cardan, name))
    for k, reference in enumerate(FUNCTIONS[name]):
        if name == "log1p" and x <= -1.0:
            continue
        expected = float(exact(reference, x))
        assert abs(run(p, x) - expected) <= (5e-16 * abs(expected) if k == 0 else 1e-15 * max(abs(expected), 1.0))
        p = jacobian(p, "x")


@pytest.mark.parametrize("name", FUNCTIONS)
@in_turn("x", FAR)
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


def divided(count, dtype, seed=0):
    """Return dividends and divisors over all scales; half of them rounded multiples and their neighbours."""
    rng, single = np.random.default_rng(seed), dtype == np.float32
    far = 30 if single else 290
    y = (rng.choice((-1.0, 1.0), count) * 10.0 ** rng.uniform(-far, far, count)).astype(dtype)
    y[: count // 4] = 2 * np.pi
    ratio = 10.0 ** rng.uniform(-3, 7 if single else 15.5, count)
    x = (rng.choice((-1.0, 1.0), count) * ratio * y).astype(dtype)
    x[::2] = (np.floor(ratio).astype(dtype) * y)[::2]
    x[::4] = np.nextafter(x[::4], dtype(0.0))
    kept = np.isfinite(x) & (x != 0.0)
    return x[kept], y[kept]


DIVISIONS = trace("f", lambda x, y: {"r": x % y, "n": x // y}, [Array("x", ()), Array("y", ())])
LENGTH = trace("f", lambda x, y: {"h": cardan.scalar.hypot(x, y)}, [Array("x", ()), Array("y", ())])


@pytest.mark.parametrize("target", ["numpy", "llvm"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_remainders_have_the_bits_of_numpys(dtype, target):
    x, y = divided(20_000, dtype)
    r, n = (e[:, 0] for e in evaluated(DIVISIONS, target, [x[:, None], y[:, None]]))
    np.testing.assert_array_equal(r, np.remainder(x, y))
    np.testing.assert_array_equal(np.signbit(r), np.signbit(y))
    for k in range(0, len(x), 29):  # quotients against exact ones, as NumPy's are not the nearest
        assert int(n[k]) == math.floor(Fraction(float(x[k])) / Fraction(float(y[k])))


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs a C compiler")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_remainders_in_c_whatever_is_joined(tmp_path, dtype):
    x, y = divided(20_000, dtype)
    r, n = np.empty_like(x), np.empty_like(x)
    native = ["-O3", "-march=native", "-ffp-contract=fast"]  # products are joined to sums, where the processor can
    for flags in ([], native):
        run_c(tmp_path, DIVISIONS, [x, y], [r, n], *flags)
        np.testing.assert_array_equal(r, np.remainder(x, y))
        (tmp_path / "f.so").unlink()


@pytest.mark.parametrize("target", ["numpy", "llvm"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_remainders_of_extremes_are_numpys(dtype, target):
    large, small = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
    values = np.array([0.0, 1.0, 3.0, 0.1, 7e-2, np.inf, np.nan, large, 0.3 * large, small, 5 * small], dtype)
    x, y = (e.ravel() for e in np.meshgrid(*[np.concatenate([values, -values])] * 2))
    with np.errstate(all="ignore"):
        r, n = np.remainder(x, y), np.floor_divide(x, y)
        known = (np.abs(x / y) < (2.0**24 if dtype == np.float32 else 2.0**53)) | ~np.isfinite(x / y) & (y == 0.0)
        known |= np.isinf(x) | np.isnan(x / y)
    found = [e[:, 0] for e in evaluated(DIVISIONS, target, [x[:, None], y[:, None]])]
    np.testing.assert_array_equal(found[0], np.where(known, r, np.nan))
    np.testing.assert_array_equal(found[1][known], n[known])
    for ours, theirs in zip(found, (r, n), strict=True):  # zeros have signs
        told = known & ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours)[told], np.signbit(theirs)[told])


def test_slopes_of_remainders_are_1_and_minus_the_quotient():
    x = np.array([0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 7.3, -7.3, 7.3, -7.3, 1e-300])
    y = np.array([1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 2.0, 2.0, -2.0, -2.0, 1e-300])
    for mode in ("forward", "reverse"):
        p = jacobian(DIVISIONS, ["x", "y"], mode=mode)
        by_x, n_by_x, by_y, n_by_y = (e[:, 0] for e in evaluated(p, "llvm", [x[:, None], y[:, None]]))
        np.testing.assert_array_equal(by_x, np.ones_like(x))
        np.testing.assert_array_equal(by_y, -np.floor(x / y))
        assert not n_by_x.any()
        assert not n_by_y.any()
        beyond = [np.array([[1e20], [-1e17]]), np.array([[3.0], [7.0]])]
        assert not np.stack(evaluated(p, "llvm", beyond)[1::2]).any()  # the quotient's


@pytest.mark.parametrize("target", ["numpy", "llvm"])
@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 300), (np.float32, 36)])
def test_lengths_neither_overflow_nor_vanish(dtype, far, target):
    rng, eps = np.random.default_rng(0), np.finfo(dtype).eps
    x, y = (10.0 ** rng.uniform(-far, far, (2, 5000))).astype(dtype)
    y[::2] = x[::2] * dtype(0.75)
    x[:6], y[:6] = [0.0, 0.0, -2.0, np.inf, -np.inf, 3.0], [0.0, -2.0, 0.0, 1.0, np.inf, -4.0]
    x[6:9], y[6:9] = [1.0, -0.1, 3.0], [1.0, 0.1, -3.0]  # neither is the larger one
    (h,) = evaluated(LENGTH, target, [x[:, None], y[:, None]])
    np.testing.assert_allclose(h[:, 0], np.hypot(x, y), rtol=2 * eps)
    finite = np.isfinite(x)
    expected = [e[finite] / np.maximum(np.hypot(x, y)[finite], np.finfo(dtype).tiny) for e in (x, y)]
    for mode in ("forward", "reverse"):
        found = evaluated(jacobian(LENGTH, ["x", "y"], mode=mode), target, [x[:, None], y[:, None]])
        for slope, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(slope[finite, 0], wanted, rtol=4 * eps, atol=eps)


def test_lengths_are_curved_where_one_side_is_0_or_both_are_as_long():
    x, y = np.array([0.0, 2.0, 1.0, -1.0, 3.0]), np.array([-2.0, 0.0, 1.0, 1.0, 4.0])
    second = jacobian(jacobian(LENGTH, ["x"], mode="reverse"), ["x", "y"], mode="forward")
    by_xx, by_xy = (e[:, 0] for e in evaluated(second, "numpy", [x[:, None], y[:, None]]))
    np.testing.assert_allclose(by_xx, y * y / np.hypot(x, y) ** 3, atol=1e-15)
    np.testing.assert_allclose(by_xy, -x * y / np.hypot(x, y) ** 3, atol=1e-15)


def test_functions_of_arrays_of_symbols_go_entry_by_entry():
    def kernel(x, y):
        q = np.stack([x, y])
        return cardan.where(q > 0.0, cardan.tanh(q), cardan.clip(q, -0.2, 0.0)) @ cardan.maximum(q, [0.5, y])

    p = program(kernel, 2)
    assert run(p, 0.3, -0.6) == pytest.approx(math.tanh(0.3) * 0.5 + 0.2 * 0.6)
