"""Functions of Python floats are rounded to the nearest float, whatever the C library does."""

import math

import mpmath
import numpy as np
import pytest

from cardan import scalar
from cardan._algebra import elementary
from representatives import in_turn

FUNCTIONS = ["sin", "cos", "tan", "asin", "acos", "exp", "log", "expm1", "log1p", "tanh"]
WORST = [math.pi, math.pi / 2, 1e22, 6381956970095103.0 * 2.0**797, 1.0, -1.0, 0.5, 5e-324, 2.0**-27, 1.7e308]


def arguments(name):
    rng = np.random.default_rng(5)
    x = np.ldexp(rng.uniform(-1.0, 1.0, size=400), rng.integers(-40, 40, size=400))
    far = np.ldexp(rng.uniform(-1.0, 1.0, size=40), rng.integers(-1070, 1020, size=40))
    all_of_them = [*x.tolist(), *far.tolist(), *WORST]
    fits = {
        "asin": lambda x: abs(x) <= 1.0,
        "acos": lambda x: abs(x) <= 1.0,
        "log": lambda x: x > 0.0,
        "exp": lambda x: abs(x) < 700.0,
        "expm1": lambda x: abs(x) < 700.0,
        "log1p": lambda x: x > -1.0,
        "tanh": lambda x: abs(x) < 700.0,
    }
    return [e for e in all_of_them if fits.get(name, bool)(e)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_to_the_nearest_float(name):
    with mpmath.workprec(2300):
        for x in arguments(name):
            assert getattr(elementary, name)(x) == float(getattr(mpmath, name)(mpmath.mpf(x))), x


def test_angles_of_points_to_the_nearest_float():
    with mpmath.workprec(4400):
        for y, x in zip(arguments("sin"), reversed(arguments("cos")), strict=True):
            assert elementary.atan2(y, x) == float(mpmath.atan2(mpmath.mpf(y), mpmath.mpf(x))), (y, x)


@pytest.mark.parametrize("name", FUNCTIONS)
@in_turn("x", [0.0, -0.0, math.inf, -math.inf, math.nan, 2.0, -2.0, 1e3, -1e3])
def test_where_there_is_no_rounding_they_are_as_numpy_has_them(name, x):
    numpy_name = {"asin": "arcsin", "acos": "arccos"}.get(name, name)
    with np.errstate(all="ignore"):
        expected = float(getattr(np, numpy_name)(x))
    got = getattr(elementary, name)(x)
    np.testing.assert_allclose(got, expected, rtol=4e-16)
    assert math.copysign(1.0, got) == math.copysign(1.0, expected) or math.isnan(got)


@pytest.mark.parametrize("y", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan])
@in_turn("x", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan])
def test_angles_of_points_on_the_axes(y, x):
    got, expected = elementary.atan2(y, x), math.atan2(y, x)
    assert str(got) == str(expected)


def test_scalars_that_are_floats_use_them():
    assert all(getattr(scalar, name)(0.7) == getattr(elementary, name)(0.7) for name in FUNCTIONS)
