"""The functions of the LLVM target are right to 2 units in the last place, everywhere, and at their special values."""

import math

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.targets import compile_program
from cardan._compiler.targets.libm.elementary import ASIN, ATAN, EXP, LOG
from cardan._compiler.targets.libm.far import FAST_RANGE
from cardan._compiler.targets.llvm import compiler
from cardan._compiler.targets.llvm.plan import Lanes
from cardan._compiler.targets.llvm.target import LoadedCode
from minimax import minimax, weighted_error

mp = pytest.importorskip("mpmath")
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2"}
NAMES = ["sin", "cos", "tan", "asin", "acos", "atan2", "exp", "log", "expm1", "log1p"]


def traced(name):
    function = getattr(cardan, name)
    inputs = [Array("x", (2 if name == "atan2" else 1,))]
    return trace(name, lambda x: {"y": np.array([function(*x)], dtype=object)}, inputs)


PROGRAMS = {name: traced(name) for name in NAMES}
N = 4000  # points of a kind


def run(name, x):
    """Evaluate one function: x is (n,), or (n, 2) for atan2's (y, x)."""
    x = np.ascontiguousarray(x)
    return compile_program(PROGRAMS[name], "llvm")([x.reshape(len(x), -1)], len(x), x.dtype)[:, 0]


def decades(rng, low, high, size=N):
    return 10.0 ** rng.uniform(low, high, size) * rng.choice([-1.0, 1.0], size)


def neighbours(x):
    return np.concatenate([np.nextafter(x, -np.inf), x, np.nextafter(x, np.inf)])


def angles(rng):
    k = np.concatenate([np.arange(1.0, 1500.0), np.floor(10.0 ** rng.uniform(3, 11.8, 1500))])
    edge = neighbours(np.array([*FAST_RANGE.values(), np.pi, 355.0, 1e22, 1e300]))
    hardest = [6381956970095103.0 * 2.0**797, 5319372648326541.0 * 2.0**-51, np.finfo(float).max]  # next to k pi/2
    kinds = [decades(rng, -323, 0), decades(rng, 0, 12), decades(rng, 11.9, 308.2), rng.uniform(-7, 7, N)]
    return np.concatenate([edge, hardest, [5e-324, -1e-310], *kinds, neighbours(k * (np.pi / 2))])


def units(rng):
    edge = neighbours(np.array([0.5, -0.5, 1e-310]))
    near_one = (1.0 - 10.0 ** rng.uniform(-16.2, -1, N)) * rng.choice([-1.0, 1.0], N)
    near_half = 0.5 + decades(rng, -17, -2)
    kinds = [rng.uniform(-1, 1, 2 * N), decades(rng, -323, 0), near_one, near_half, -near_half]
    return np.concatenate([edge, [1.0, -1.0, 5e-324], *kinds])


def exponents(rng):
    halves = neighbours((np.arange(-1070, 1020) + 0.5) * math.log(2.0))
    kinds = [rng.uniform(-745, 709.7, 2 * N), decades(rng, -323, 2.8), rng.uniform(-745.1, -708, N)]
    return np.concatenate([[709.782712893384, -745.1332191019411], halves, *kinds])


def positive(rng):
    edge = neighbours(np.array([2.0**-1022, 0.5**0.5, 2.0**0.5, 1e-320, 3.0]))
    near_one = 1.0 + decades(rng, -16.2, -0.5)
    kinds = [abs(decades(rng, -323, -308)), abs(decades(rng, -308, 308)), near_one, rng.uniform(0.4, 3.0, 2 * N)]
    return np.concatenate([edge, [5e-324, np.finfo(float).max], *kinds])


def near_exponents(rng):
    halves = neighbours((np.arange(-60, 1020) + 0.5) * math.log(2.0))
    kinds = [rng.uniform(-40, 709.7, 2 * N), decades(rng, -323, 2.8), rng.uniform(-2, 2, 3 * N), decades(rng, -18, 0)]
    return np.concatenate([[709.782712893384, -750.0, 5e-324], halves, *kinds])


def above_minus_one(rng):
    near_minus_one = -1.0 + abs(decades(rng, -15.9, 0))
    edge = neighbours(np.array([2.0**-54, 2.0**53, 2.0**60, 0.5**0.5 - 1, 2.0**0.5 - 1, 1e-310]))
    kinds = [decades(rng, -323, -0.01), abs(decades(rng, 0, 308)), near_minus_one, rng.uniform(-0.9, 3.0, 3 * N)]
    return np.concatenate([edge, [-(2.0**-54), -1e-310, 5e-324, np.finfo(float).max], *kinds])


def points(rng):
    y = decades(rng, -300, 280)
    pairs = [
        (rng.normal(size=2 * N), rng.normal(size=2 * N)),
        (decades(rng, -323, 308), decades(rng, -323, 308)),
        (y, y * decades(rng, -20, 20)),
        (y, y * (1.0 + decades(rng, -16.2, -1))),
        (decades(rng, -323, -300), rng.normal(size=N)),
    ]
    return np.concatenate([np.stack(pair, axis=1) for pair in pairs])


SAMPLES = {"sin": angles, "cos": angles, "tan": angles, "asin": units, "acos": units}
SAMPLES |= {"exp": exponents, "log": positive, "atan2": points, "expm1": near_exponents, "log1p": above_minus_one}


def worst(name, x, got):
    """Return the largest error against mpmath in units in the last place of the exact value."""
    function = getattr(mp, name)
    with mp.workprec(140):
        exact = [function(*(mp.mpf(float(e)) for e in np.atleast_1d(row))) for row in x]
        nearest = np.array([float(e) for e in exact])
        digit = np.maximum(np.frexp(nearest)[1] - 53, -1074)
        rest = [float(mp.ldexp(e - mp.mpf(float(n)), -int(d))) for e, n, d in zip(exact, nearest, digit, strict=True)]
    return np.abs((got - nearest) / np.ldexp(1.0, digit) - rest).max()


@pytest.mark.slow
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", NAMES)
def test_double_to_two_units_in_the_last_place(name, every):
    x = SAMPLES[name](np.random.default_rng(0))
    assert len(x) > 20_000
    x = x[::every]
    assert worst(name, x, run(name, x)) < 2.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_an_angle_gives_the_same_bits_beside_a_far_one(name, dtype):
    x = np.random.default_rng(3).uniform(-1e4, 1e4, 4096).astype(dtype)
    beside = x.copy()
    beside[::3] = 3e13
    expected, found = run(name, x), run(name, beside)
    kept = beside == x
    assert found[kept].tobytes() == expected[kept].tobytes()


OWN_SINGLE = ("sin", "cos")  # computed in single precision; the others are rounded from double precision


@pytest.mark.parametrize("name", NAMES)
def test_single_is_rounded_from_double_or_close_to_it(name):
    """Against NumPy's double precision, whose error is nothing here."""
    with np.errstate(over="ignore"):
        x = SAMPLES[name](np.random.default_rng(1)).astype(np.float32)
    x = x[np.isfinite(x).reshape(len(x), -1).all(axis=1)]
    columns = x.astype(np.float64).reshape(len(x), -1).T
    with np.errstate(all="ignore"):
        exact = getattr(np, NUMPY.get(name, name))(*columns)
        rounded = exact.astype(np.float32)
        finite = np.isfinite(rounded)
        got = run(name, x)
        error = np.abs(got - exact)[finite] / np.spacing(np.abs(rounded[finite]))
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    assert finite.sum() > 8000
    assert error.max() < (2.0 if name in OWN_SINGLE else 0.51)


@pytest.mark.parametrize("every", [20011, pytest.param(17, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", OWN_SINGLE)
def test_single_angles_to_two_units_in_the_last_place(name, every):
    """Of all numbers of 32 bits between 1e-4 and 2e5, every so many."""
    first, last = (np.float32(x).view(np.uint32) for x in (1e-4, 2e5))
    x = np.arange(first, last, every, dtype=np.uint32).view(np.float32)
    exact = getattr(np, name)(x.astype(np.float64))
    error = np.abs(run(name, x) - exact) / np.spacing(np.abs(exact.astype(np.float32)))
    assert len(x) > 10_000
    assert error.max() < 1.6


@pytest.mark.slow
@pytest.mark.parametrize("scalar", ["double", pytest.param("float", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", NAMES)
def test_every_width_gives_the_same_bits(name, scalar, monkeypatch):
    dtype = np.float64 if scalar == "double" else np.float32
    with np.errstate(over="ignore"):
        x = SAMPLES[name](np.random.default_rng(2))[::37].astype(dtype)
    expected = run(name, x)
    for width in (1, 2, 4, 8, 16):
        monkeypatch.setattr(compiler, "host_lanes", lambda _, width=width: Lanes(width, scalar))
        code, found = (
            LoadedCode(compiler.compile_program(PROGRAMS[name], np.dtype(dtype)), ""),
            np.empty((len(x), 1), dtype),
        )
        code([x.reshape(len(x), -1)], [found], 0, len(x), passes=0)
        np.testing.assert_array_equal(found[:, 0], expected)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_a_far_angle_changes_nothing_in_its_neighbours(name):
    x = np.linspace(-5.0, 5.0, 64)
    alone, mixed = run(name, x), x.copy()
    mixed[::5] = 1e22
    changed = run(name, mixed)
    kept = mixed == x
    np.testing.assert_array_equal(changed[kept], alone[kept])
    np.testing.assert_array_equal(changed[~kept], run(name, np.array([1e22]))[0])


@pytest.mark.parametrize("name", ["sin", "tan", "asin"])
def test_odd_functions_are_odd_to_the_bit(name):
    x = SAMPLES[name](np.random.default_rng(3))
    np.testing.assert_array_equal(run(name, -x), -run(name, x))


# --- special values, as C99 (annex F) says -----------------------------------------------------------------------

TINY, INF, NAN = 5e-324, math.inf, math.nan
SPECIAL = {
    "sin": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (1.0, math.pi / 2), (-1.0, -math.pi / 2)]
    + [(1.0000000000000002, NAN), (-2.0, NAN), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "acos": [(1.0, 0.0), (-1.0, math.pi), (0.0, math.pi / 2), (-0.0, math.pi / 2), (TINY, math.pi / 2)]
    + [(1.0000000000000002, NAN), (-2.0, NAN), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (709.7827128933841, INF)]
    + [(1e308, INF), (-745.1332191019412, 0.0), (-1e308, 0.0), (-745.1332191019411, TINY)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, INF), (-INF, -1.0), (NAN, NAN)]
    + [(709.7827128933841, INF), (1e308, INF), (-1e308, -1.0)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, INF), (-1.0, -INF), (NAN, NAN)]
    + [(-1.0000000000000002, NAN), (-INF, NAN)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-TINY, NAN), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
}


def check(name, x, expected):
    got = run(name, x)
    np.testing.assert_array_equal(got, expected)
    real = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[real]), np.signbit(expected[real]))


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    x, expected = (np.array(column) for column in zip(*SPECIAL[name], strict=True))
    check(name, x, expected)
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    same = (single == x) | np.isnan(x)  # what single precision has, it treats alike
    check(name, single[same], expected[same].astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_special_values_of_the_angle_of_a_point(dtype):
    """All zeros, infinities, units and NaN: the results are multiples of pi/4, rounded, or zeros with y's sign."""
    values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
    x = np.array([(a, b) for a in values for b in values])
    check("atan2", x.astype(dtype), np.array([math.atan2(a, b) for a, b in x]).astype(dtype))


@pytest.mark.parametrize(
    ("y", "x", "expected"),
    [(TINY, 1.0, TINY), (-TINY, 2.0**60, -0.0), (TINY, TINY, math.pi / 4), (1e308, TINY, math.pi / 2)]
    + [(-1e308, -1e308, -3 * math.pi / 4), (TINY, -1.0, math.pi), (-0.0, -TINY, -math.pi)],
)
def test_extreme_points(y, x, expected):
    check("atan2", np.array([[y, x]]), np.array([expected]))


# --- the polynomials ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "coefficients"), [("EXP", EXP), ("LOG", LOG), ("ATAN", ATAN), ("ASIN", ASIN)])
def test_polynomials_approximate_to_58_bits(name, coefficients):
    assert weighted_error(name, coefficients) < -58.0


@pytest.mark.full
def test_polynomials_are_what_their_derivation_gives():
    assert tuple(minimax("LOG")) == LOG
    assert tuple(minimax("EXP")) == EXP
