"""The elementary functions mean the same for every scalar type, and dual numbers differentiate them exactly."""

import math

import mpmath
import numpy as np
import pytest

from cardan import scalar
from cardan._compiler.program import Array, Graph, trace
from cardan._compiler.targets import evaluate
from cardan.errors import TraceError
from cardan.scalar import register_scalar
from duals import Dual, duals, tangent, value
from program_rules import verify
from representatives import in_turn

# name -> (reference on one number, sample points inside the domain and away from kinks)
UNARY = {
    "sin": (math.sin, (-2.5, -0.3, 0.4, 1.7, 40.0)),
    "cos": (math.cos, (-2.5, -0.3, 0.4, 1.7, 40.0)),
    "tan": (math.tan, (-1.2, -0.3, 0.4, 1.4, 40.0)),
    "asin": (math.asin, (-0.9, -0.3, 0.2, 0.6, 0.99)),
    "acos": (math.acos, (-0.9, -0.3, 0.2, 0.6, 0.99)),
    "sqrt": (math.sqrt, (1e-6, 0.25, 0.9, 2.0, 1e6)),
    "exp": (math.exp, (-30.0, -0.3, 0.4, 1.7, 20.0)),
    "log": (math.log, (1e-6, 0.25, 0.9, 2.0, 1e6)),
    "expm1": (lambda x: float(mpmath.expm1(x)), (-30.0, -0.9, 0.8, 1.7, 20.0)),
    "log1p": (lambda x: float(mpmath.log1p(x)), (-0.99, -0.3, 0.8, 2.0, 1e6)),
    "absolute": (abs, (-2.5, -0.3, 0.4, 1.7, 40.0)),
    "floor": (math.floor, (-2.5, -0.3, 0.4, 1.7, 40.25)),
    "sign": (lambda x: math.copysign(1.0, x), (-2.5, -0.3, 0.4, 1.7, 40.0)),
}
A, B = (-2.5, -0.3, 0.4, 1.7, 4.0), (0.5, -1.2, 2.0, -0.6, 3.0)
BINARY = {"atan2": math.atan2, "minimum": min, "maximum": max}
LOGICAL = {"logical_and": lambda a, b: a and b, "logical_or": lambda a, b: a or b}
RELATIVE = 4e-16  # of the correctly rounded value
CASES = [(n, f, (x,)) for n, (f, xs) in UNARY.items() for x in xs] + [
    (n, f, ab) for n, f in BINARY.items() for ab in zip(A, B, strict=True)
]
TRIPLE = 0.3  # what `where` returns at a < b is a + TRIPLE, else b - TRIPLE


def close(got, expected, relative=RELATIVE):
    return abs(float(got) - expected) <= relative * max(abs(expected), 1e-300)


def conditional(a, b):
    """A function that uses comparison, where and every logical function."""
    inside = scalar.logical_and(a < b, scalar.logical_not(b <= -1.0))
    return scalar.where(scalar.logical_or(inside, a > 3.0), a + TRIPLE, b - TRIPLE)


def conditional_reference(a, b):
    return a + TRIPLE if (a < b and not b <= -1.0) or a > 3.0 else b - TRIPLE


# --- floats ------------------------------------------------------------------------------------------------------


@in_turn(("name", "reference", "args"), CASES)
def test_floats(name, reference, args):
    assert getattr(scalar, name)(*args) == reference(*args)


@pytest.mark.parametrize(("name", "reference"), LOGICAL.items())
def test_truth_values(name, reference):
    for a in (False, True):
        assert scalar.logical_not(a) is (not a)
        for b in (False, True):
            assert getattr(scalar, name)(a, b) is reference(a, b)
            array = getattr(scalar, name)(np.array([a, a]), np.array([b, b]))
            assert array.dtype == bool
            assert array.tolist() == [reference(a, b)] * 2


@pytest.mark.parametrize("a", A)
def test_where_of_floats(a):
    assert [conditional(a, b) for b in B] == [conditional_reference(a, b) for b in B]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("asin", (1.0 + 1e-15,)),
        ("asin", (-2.0,)),
        ("acos", (1.0 + 1e-15,)),
        ("acos", (-2.0,)),
        ("sqrt", (-1e-300,)),
        ("log", (-1.0,)),
        ("sin", (math.inf,)),
        ("cos", (-math.inf,)),
        ("tan", (math.inf,)),
        *((name, (math.nan,)) for name in UNARY),
        *((name, args) for name in BINARY for args in ((math.nan, 1.0), (1.0, math.nan))),
    ],
)
def test_nan_outside_the_domain_in_floats_as_in_arrays(name, args):
    function = getattr(scalar, name)
    assert math.isnan(function(*args))
    with np.errstate(all="ignore"):
        assert np.isnan(function(*map(np.float64, args)))


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("exp", 1000.0, math.inf),
        ("exp", 709.79, math.inf),  # just above log(largest float)
        ("exp", 709.78, math.exp(709.78)),
        ("exp", math.inf, math.inf),
        ("exp", -math.inf, 0.0),
        ("exp", -1000.0, 0.0),
        ("log", 0.0, -math.inf),
        ("log", -0.0, -math.inf),
        ("log", math.inf, math.inf),
        ("sqrt", math.inf, math.inf),
        ("floor", math.inf, math.inf),
        ("floor", -math.inf, -math.inf),
        ("floor", -0.5, -1.0),
        ("sign", 0.0, 0.0),
        ("sign", -math.inf, -1.0),
        ("absolute", -math.inf, math.inf),
    ],
)
def test_limits_in_floats_as_in_arrays(name, x, expected):
    assert getattr(scalar, name)(x) == expected
    with np.errstate(all="ignore"):
        assert getattr(scalar, name)(np.float64(x)) == expected


def test_functions_of_a_float_return_floats():
    for name, (_, points) in UNARY.items():
        assert type(getattr(scalar, name)(points[0])) is float, name


# --- arrays ------------------------------------------------------------------------------------------------------


@in_turn("dtype", [np.float64, np.float32])
@in_turn("shape", [(), (1,), (3, 1, 2)])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_arrays_keep_shape_and_dtype(name, shape, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(0.1, 0.9, size=shape).astype(dtype) for _ in range(2))
    args = (a,) if name in UNARY else (a, b)
    got = getattr(scalar, name)(*args)
    assert np.shape(got) == shape
    assert np.asarray(got).dtype == dtype
    one = [getattr(scalar, name)(*map(float, e)) for e in zip(*map(np.ravel, args), strict=True)]
    np.testing.assert_allclose(np.ravel(got), one, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_among_arrays_keep_the_dtype(dtype):
    a = np.array([[-0.4], [0.7]], dtype)
    for got in (
        scalar.where(a < 0.0, a, 0.25),
        scalar.where(a < 0.0, -1.0, a),
        scalar.minimum(a, 0.25),
        scalar.maximum(0.25, a),
        scalar.atan2(1.0, a),
        conditional(a, 0.5),
    ):
        assert got.dtype == dtype
        assert got.shape == (2, 1)
    assert scalar.where(a < 0.0, a, 0.25).ravel().tolist() == [dtype(-0.4), dtype(0.25)]


def test_where_broadcasts_condition_and_branches():
    a, b = np.array(A)[:, None], np.array(B)
    expected = [[conditional_reference(x, y) for y in B] for x in A]
    np.testing.assert_array_equal(conditional(a, b), expected)


def test_arrays_of_symbols_go_entry_by_entry():
    graph = Graph()
    entries = np.array([graph.input(0), graph.input(1)], dtype=object)
    assert [type(e).__name__ for e in scalar.sin(entries)] == ["Expr", "Expr"]
    numbers = np.array([mpmath.mpf(1) / 3, 0.25], dtype=object)
    assert scalar.exp(numbers).tolist() == [mpmath.exp(mpmath.mpf(1) / 3), math.exp(0.25)]


# --- traced symbols ----------------------------------------------------------------------------------------------


def traced(function, *args):
    """Return function(*args) through a program."""
    spec = [Array("x", (len(args),))]
    program = verify(trace("f", lambda x: {"y": np.array([function(*x)], dtype=object)}, spec))
    return float(evaluate(program, [np.float64(a) for a in args], np.dtype(float))[0])


@in_turn(("name", "reference", "args"), CASES)
def test_traced(name, reference, args):
    assert close(traced(getattr(scalar, name), *args), reference(*args))


@pytest.mark.parametrize("a", A)
def test_where_of_traced_symbols(a):
    for b in B:
        assert traced(conditional, a, b) == conditional_reference(a, b)
        assert traced(lambda x, a=a: conditional(a, x), b) == conditional_reference(a, b)


def test_traced_symbols_refuse_to_branch():
    x = Graph().input(0)
    with pytest.raises(TraceError, match=r"cardan\.where\(condition, a, b\)"):
        min(x, 1.0)
    with pytest.raises(TraceError, match=r"not math's"):
        math.sin(x)


# --- other libraries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_sympy(name):
    sp = pytest.importorskip("sympy")
    symbols = sp.symbols("a b", real=True)[: 1 if name in UNARY else 2]
    expression = getattr(scalar, name)(*symbols)
    assert expression.free_symbols == set(symbols)
    for case, reference, args in CASES:
        if case == name:
            got = expression.subs(dict(zip(symbols, args, strict=True))).evalf(17)
            assert close(got, reference(*args), 1e-15)


def test_where_in_sympy():
    sp = pytest.importorskip("sympy")
    a, b = sp.symbols("a b", real=True)
    expression = conditional(a, b)
    for x in A:
        assert [float(expression.subs({a: x, b: y})) for y in B] == [conditional_reference(x, y) for y in B]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_casadi(name):
    ca = pytest.importorskip("casadi")
    symbols = [ca.SX.sym("a"), ca.SX.sym("b")][: 1 if name in UNARY else 2]
    function = ca.Function("f", symbols, [getattr(scalar, name)(*symbols)])
    for case, reference, args in CASES:
        if case == name:
            assert close(function(*args), reference(*args))


@pytest.mark.parametrize("kind", ["SX", "MX"])
def test_where_in_casadi(kind):
    ca = pytest.importorskip("casadi")
    a, b = getattr(ca, kind).sym("a"), getattr(ca, kind).sym("b")
    function = ca.Function("f", [a, b], [conditional(a, b)])
    for x in A:
        assert [float(function(x, y)) for y in B] == [conditional_reference(x, y) for y in B]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_mpmath_keeps_its_digits(name):
    with mpmath.workdps(40):
        own = {"absolute": abs, "minimum": min, "maximum": max}.get(name) or getattr(mpmath, name)
        for case, _, args in CASES:
            if case == name:
                exact = tuple(mpmath.mpf(a) + mpmath.mpf("1e-25") for a in args)
                got = getattr(scalar, name)(*exact)
                assert isinstance(got, mpmath.mpf)
                assert got == own(*exact)


def test_where_in_mpmath():
    for a in A:
        assert [conditional(mpmath.mpf(a), mpmath.mpf(b)) for b in B] == [
            conditional_reference(mpmath.mpf(a), mpmath.mpf(b)) for b in B
        ]


# --- the door for new scalar types -------------------------------------------------------------------------------


class Stranger:
    """No scalar."""


class Logged:
    """A number that remembers what was done to it."""

    def __init__(self, number, history=()):
        self.number, self.history = number, history


def logged(name):
    def evaluate_and_log(*args):
        numbers = [a.number if isinstance(a, Logged) else a for a in args]
        before = next(a.history for a in args if isinstance(a, Logged))
        return Logged(getattr(scalar, name)(*numbers), (*before, name))

    return evaluate_and_log


def test_an_unknown_type_is_refused_with_the_way_to_make_it_known():
    with pytest.raises(TypeError, match=r"Stranger is not a scalar cardan knows.*cardan\.scalar\.register_scalar"):
        scalar.sin(Stranger())
    with pytest.raises(TypeError, match="register_scalar"):
        scalar.atan2(1.0, "one")


def test_a_registered_scalar_works():
    names = [n for n in scalar.__all__ if n != "register_scalar"]
    with pytest.raises(TypeError, match=r"register_scalar\(Logged\).*'cos'.*are missing"):
        register_scalar(Logged, {"sin": logged("sin")})
    register_scalar(Logged, {name: logged(name) for name in names})
    got = scalar.atan2(1.0, scalar.sqrt(scalar.cos(Logged(0.3))))
    assert got.number == math.atan2(1.0, math.sqrt(math.cos(0.3)))
    assert got.history == ("cos", "sqrt", "atan2")
    assert scalar.where(True, 1.0, Logged(2.0)).number == 1.0


def test_a_subclass_of_a_scalar_is_one():
    class Length(float):
        pass

    class Angle(np.ndarray):
        pass

    assert scalar.sin(Length(0.5)) == math.sin(0.5)
    assert scalar.sin(np.array([0.5]).view(Angle))[0] == np.sin(0.5)


# --- dual numbers ------------------------------------------------------------------------------------------------

SLOPE_ERROR = 4e-15  # of a float derivative; the central difference below is exact to 25 digits


def central(function, args, direction):
    """Return the central difference along a direction, at 60 digits."""
    with mpmath.workdps(60):
        h = mpmath.mpf("1e-15")
        ahead = function(*(a + h * d for a, d in zip(args, direction, strict=True)))
        behind = function(*(a - h * d for a, d in zip(args, direction, strict=True)))
        return float((ahead - behind) / (2 * h))


OPERATORS = {
    "add": lambda a, b: a + b + 0.5,
    "radd": lambda a, b: 0.5 + a + b,
    "sub": lambda a, b: a - b - 0.5,
    "rsub": lambda a, b: 0.5 - (a - b),
    "mul": lambda a, b: a * b * 3.0,
    "rmul": lambda a, b: 3.0 * a * b,
    "div": lambda a, b: a / b / 3.0,
    "rdiv": lambda a, b: 3.0 / b + a,
    "neg": lambda a, b: -a * b,
    "pow": lambda a, b: a**3 + b**-2 + (a * a) ** 0.5,
    "where": conditional,
}
SMOOTH = [(n, getattr(scalar, n), a) for n, _, a in CASES if max(map(abs, a)) < 30.0 and min(map(abs, a)) > 1e-3] + [
    (n, f, ab) for n, f in OPERATORS.items() for ab in zip(A, B, strict=True)
]


@in_turn(("name", "function", "args"), SMOOTH)
def test_derivative_is_the_central_difference(name, function, args):
    direction = (0.7, -1.3)[: len(args)]
    got = function(*duals(args, direction))
    assert got.value == function(*args)
    slope = central(function, args, direction)
    assert got.tangent == pytest.approx(slope, rel=SLOPE_ERROR, abs=SLOPE_ERROR)


@in_turn(("name", "function", "args"), SMOOTH)
def test_duals_of_arrays(name, function, args):
    direction = (0.7, -1.3)[: len(args)]
    batch = tuple(np.full((3, 1, 2), a) for a in args)
    got, one = function(*duals(batch, direction)), function(*duals(args, direction))
    np.testing.assert_allclose(got.value, np.full((3, 1, 2), one.value), rtol=1e-15)
    np.testing.assert_allclose(np.broadcast_to(got.tangent, (3, 1, 2)), one.tangent, rtol=4e-15)


@in_turn(("name", "function", "args"), SMOOTH)
def test_duals_of_traced_symbols(name, function, args):
    direction = (0.7, -1.3)[: len(args)]
    one = function(*duals(args, direction))
    got = traced(lambda *x: tangent(function(*duals(x, direction))), *args)
    assert got == pytest.approx(one.tangent, rel=4e-15, abs=1e-300)


def test_duals_of_mpmath_numbers_keep_their_digits():
    with mpmath.workdps(40):
        x = mpmath.mpf(1) / 3
        got = scalar.asin(scalar.sin(Dual(x, mpmath.mpf(1))))
        assert abs(got.value - x) < mpmath.mpf("1e-38")
        assert abs(got.tangent - 1) < mpmath.mpf("1e-38")


def test_structural_zeros_stay_plain_numbers():
    x = Graph().input(0)
    assert tangent(Dual(x) * Dual(x) + scalar.sin(Dual(x))) == 0.0
    assert tangent(3.0) == 0.0
    assert value(3.0) == 3.0
    assert "Dual(1.0, 2.0)" in repr(Dual(1.0, 2.0))


def test_a_dual_meets_an_array_of_either_side():
    x, batch = Dual(2.0, 1.0), np.array([1.0, -1.0])
    for product in (x * batch, batch * x):
        assert type(product) is Dual
        assert product.tangent.tolist() == [1.0, -1.0]
    assert (batch < x).tolist() == [True, True]
    assert (x <= batch).tolist() == [False, False]
    assert scalar.maximum(batch, Dual(0.5, 3.0)).tangent.tolist() == [0.0, 3.0]
