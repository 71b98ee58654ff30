"""Values are merged where they are equal, and nowhere else; programs are the same on every machine."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np
import pytest

import cardan
from cardan import scalar
from cardan._compiler.program import Array, Graph, Instruction, Op, Program, trace
from cardan._compiler.program.value_numbering import merge_identities
from cardan._robot.joints.coordinate_functions import Linear, Polynomial
from cardan.joints import OpenSimCustom, Spline
from cardan.manifolds import Euclidean
from cardan.spatial.rotations import matrix_about_axis, matrix_from_zyx, rotation_about_axis
from expressions import VARIABLES, disguised, random_expression, value
from program_rules import verify
from representatives import represented

# --- joints that were silently wrong ---


def on_it(joint):
    m = cardan.Mechanism("one")
    m.add_body("b", cardan.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
    m.add_joint("j", joint, "world", "b")
    return m.model()


def assert_consistent(joint, q, rtol=1e-11):
    """Gravity and its derivative follow from the potential energy, which needs the transform alone."""
    model, q = on_it(joint), np.atleast_1d(q).astype(float)
    expected = cardan.gradient(cardan.potential_energy, "q")(model, q)
    np.testing.assert_allclose(cardan.gravity_forces(model, q), expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    zero = np.zeros(model.nv)
    slope = cardan.hessian(cardan.potential_energy, "q")(model, q)
    got = cardan.inverse_dynamics_derivatives(model, q, zero, zero).dq
    np.testing.assert_allclose(got, slope, rtol=rtol, atol=rtol * np.abs(slope).max())


FRAMES = [
    cardan.SE3(matrix_from_zyx(angles), p)
    for angles, p in [
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((0.3, 0.0, 0.2), (0.3, 0.0, 0.1)),
        ((0.5, 0.2, 0.2), (0.5, 0.3, 0.2)),
        ((0.9, 0.2, 0.4), (0.6, 0.5, 0.6)),
    ]
]


@pytest.mark.full
@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("end", represented([1e-6, 1.0, 65536.0, 1e7], by=[1e-6, 65536.0].count))
@pytest.mark.parametrize("at", [-0.3, 0.2, 0.5, 0.9, 1.4])
def test_splines_in_any_unit(end, at):
    assert_consistent(Spline(frames=FRAMES, span=(0.0, end)), at * end)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coefficients", "q"),
    [
        ((0.0, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-17), 150.0),
        ((0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 5e-15), 120.0),
        ((0.0, 1e-2, 0.0, 0.0, 0.0, 0.0, 1e-14), 150.0),
    ],
)
def test_custom_joints_in_degrees(coefficients, q):
    joint = OpenSimCustom(("angle",), rotations=(Linear([np.pi / 180.0]), Linear([0.0]), Linear([0.0])))
    assert_consistent(joint, q)
    up = OpenSimCustom(("angle",), translations=(Linear([0.0]), Linear([0.0]), Polynomial(coefficients)))
    expected = sum(k * c * q ** (k - 1) for k, c in enumerate(coefficients) if k)
    assert up.motion_subspace([q])[0].linear[2] == pytest.approx(expected, rel=1e-14)
    assert_consistent(up, q)


def detent(q):
    u = q / 0.05
    return 0.1 * q + 0.01 * scalar.exp(-u * u)


def smooth_step(q):
    return 0.1 / (1.0 + scalar.exp(-20.0 * (q - 2.5)))


def wrapped(q):
    w = scalar.atan2(scalar.sin(q), scalar.cos(q))
    return 0.1 * w * w


def wrapped_by_sine(q):
    w = scalar.asin(scalar.sin(q))
    return 0.1 * w * w


def far_away(q):
    return 1e-9 * q + 1e-30 * q**9


@dataclass(frozen=True)
class Rising(cardan.Joint):
    """A screw whose height is any function of its angle."""

    height: object
    manifold = Euclidean(1)

    def transform(self, q):
        return cardan.SE3(rotation_about_axis((0.0, 0.0, 1.0), q[0]), (0.0, 0.0, self.height(q[0])))


class Detent(Rising):
    """The same with motion subspace and bias in closed form, of which the rates are derived."""

    def motion_subspace(self, q):
        u = q[0] / 0.05
        return [cardan.spatial.Motion((0.0, 0.0, 0.1 - 0.4 * u * scalar.exp(-u * u)), (0.0, 0.0, 1.0))]

    def bias(self, q, v):
        u = q[0] / 0.05
        slope = (16.0 * u * u - 8.0) * scalar.exp(-u * u)
        return cardan.spatial.Motion((0.0, 0.0, slope * v[0] * v[0]), (0.0, 0.0, 0.0))


@pytest.mark.usefixtures("quick_target")
@pytest.mark.parametrize("height", [detent, smooth_step, wrapped, wrapped_by_sine, far_away])
@pytest.mark.parametrize(
    "q", represented([-3.9, -0.02, 0.03, 1.1, 2.0, 2.6, 4.0, 1e4], by=[-3.9, 0.03, 2.6, 1e4].count)
)
def test_joints_of_any_function(height, q):
    assert_consistent(Rising(height), q, rtol=1e-10)


@pytest.mark.parametrize("q", [-0.02, 0.03, 0.4])
def test_rates_of_a_subspace_in_closed_form(q):
    assert_consistent(Detent(detent), q)


# --- merging ---


def merged(function, size=3):
    program = trace("f", lambda x: {"y": np.array(function(*x), dtype=object)}, [Array("x", (size,))])
    return verify(merge_identities(program))


def are_one(a, b):
    """Return whether two functions of three variables are merged."""
    results = merged(lambda *x: [a(*x), b(*x)]).results
    return results[0] == results[1]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lambda x, y, z: scalar.sqrt(x * x), lambda x, y, z: x),
        (lambda x, y, z: scalar.sqrt(x * x), lambda x, y, z: -x),
        (lambda x, y, z: scalar.sqrt(x * x * y), lambda x, y, z: x * scalar.sqrt(y)),
        (lambda x, y, z: scalar.atan2(scalar.sin(x), scalar.cos(x)), lambda x, y, z: x),
        (lambda x, y, z: scalar.asin(scalar.sin(x)), lambda x, y, z: x),
        (lambda x, y, z: scalar.log(x * y), lambda x, y, z: scalar.log(x) + scalar.log(y)),
        (lambda x, y, z: scalar.floor(x + y), lambda x, y, z: scalar.floor(x) + scalar.floor(y)),
        (lambda x, y, z: scalar.minimum(x, y), lambda x, y, z: scalar.maximum(x, y)),
        (lambda x, y, z: scalar.where(x < y, x, y), lambda x, y, z: scalar.where(y < x, x, y)),
        (lambda x, y, z: x * (0.1 + 0.2), lambda x, y, z: x * 0.3),
        (lambda x, y, z: x * 1.0000000000000002, lambda x, y, z: x),
        (lambda x, y, z: x + 1e-17 * x**8, lambda x, y, z: x),
        (lambda x, y, z: x * 2.0**-61, lambda x, y, z: x),
        (lambda x, y, z: x * 2.0**61, lambda x, y, z: x),
        (lambda x, y, z: x * 2.0**255, lambda x, y, z: 19.0 * x),
        (lambda x, y, z: scalar.sin(2.0 * x), lambda x, y, z: 2.0 * scalar.sin(x)),
        (lambda x, y, z: 0.0 * (1.0 / x) + scalar.exp(x), lambda x, y, z: scalar.exp(-x)),
    ],
)
def test_different_values_stay_apart(a, b):
    assert not are_one(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lambda x, y, z: scalar.sqrt(x) * scalar.sqrt(x), lambda x, y, z: x),
        (lambda x, y, z: scalar.sqrt(x * x), lambda x, y, z: abs(x)),
        (
            lambda x, y, z: (x / scalar.sqrt(z)) * (y / scalar.sqrt(z)),
            lambda x, y, z: x / scalar.sqrt(z) / scalar.sqrt(z) * y,
        ),
        (lambda x, y, z: scalar.sin(x + y - x), lambda x, y, z: scalar.sin(y)),
        (lambda x, y, z: scalar.sin(3.0 * x), lambda x, y, z: 3.0 * scalar.sin(x) - 4.0 * scalar.sin(x) ** 3),
        (lambda x, y, z: scalar.cos(x - y), lambda x, y, z: scalar.cos(y - x)),
        (lambda x, y, z: scalar.tan(x) * scalar.cos(x), lambda x, y, z: scalar.sin(x)),
        (lambda x, y, z: scalar.exp(x - y), lambda x, y, z: scalar.exp(-(y - x))),
        (lambda x, y, z: scalar.where(x < y, x * 2.0, y), lambda x, y, z: scalar.where(x < y, x + x, y)),
        (lambda x, y, z: scalar.minimum(x, y), lambda x, y, z: scalar.minimum(y, x)),
        (lambda x, y, z: x * 0.1 * 10.0, lambda x, y, z: x),
        (lambda x, y, z: x * (y + z) - x * z, lambda x, y, z: x * y),
    ],
)
def test_equal_values_are_found(a, b):
    assert are_one(a, b)


def test_nothing_gets_a_divisor_it_did_not_have():
    """(x^2 - 1) / (x - 1), which is there anyway, is no way to write x + 1."""
    program = merged(lambda x, y, z: [(x * x - 1.0) / (x - 1.0), x + 1.0, scalar.sqrt(x) * scalar.sqrt(x), x * 1.0])
    at = [np.array([[1.0, 0.0, 0.0], [-4.0, 0.0, 0.0]])]
    with np.errstate(all="ignore"):
        y = cardan._compiler.targets.NumpyProgram(program)(at, 2, np.dtype(float))
    assert y[0, 1] == 2.0
    assert y[1, 3] == -4.0


def test_no_sum_stands_for_a_product():
    """Near 0 the sums cancel to nothing."""

    def both_ways(x, y, z):
        e = scalar.exp(x)
        return [1.0 - scalar.cos(2.0 * x), 2.0 * scalar.sin(x) ** 2, (x + 1.0) * e - e, x * e]

    program = merged(both_ways)
    y = cardan._compiler.targets.NumpyProgram(program)([np.array([[1e-9, 0.0, 0.0]])], 1, np.dtype(float))
    np.testing.assert_allclose(y[0, [1, 3]], [2e-18, 1e-9], rtol=1e-8)


@pytest.mark.parametrize("axis", [(0.36, 0.48, 0.8), (1.0, 2.0, 3.0), (0.0, 1.0, 5.0), (0.3, -0.2, 1e-5)])
def test_rotations_about_any_axis_are_rotations(axis):
    """The components of a unit axis are rounded, their products again; what they came from is seen."""
    u = cardan.spatial.Vector3(*(e / np.sqrt(np.dot(axis, axis)) for e in axis))
    unit = cardan.joints.Revolute(axis=u).axis

    def product(angle, y, z):
        R = matrix_about_axis(unit, scalar.cos(angle), scalar.sin(angle))
        return [e for row in (R.T @ R).rows() for e in row]

    program = merged(product)
    assert [program.instructions[r].value for r in program.results] == [1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0]


def test_infinities_have_no_algebra():
    x, inf = Instruction(Op.INPUT, (), 0.0), Instruction(Op.CONST, (), np.inf)
    instructions = (x, inf, Instruction(Op.SUB, (1, 1)), Instruction(Op.MUL, (0, 1)), Instruction(Op.DIV, (3, 1)))
    program = merge_identities(Program("f", (Array("x", (1,)),), instructions, (Array("y", (2,)),), (2, 4)))
    assert program.operations == 3


def test_long_programs():
    """Neither depth nor a thousand angles cost more than in proportion."""

    def series(x, y, z):
        total = x
        for k in range(3000):
            total = total * 0.5 + y if k % 2 else total + scalar.sin(total)
        return [total]

    assert merged(series).operations > 3000


def pairs(seed, count):
    """Yield expressions with others, equal in disguise or different."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        e = random_expression(rng, 4)
        yield e, (disguised(rng, e) if k % 2 else random_expression(rng, 4))


def is_tame(e, at):
    """Return whether no part is so large there that sixty digits are too few for its sine (or all memory is)."""
    if isinstance(e, tuple) and not all(is_tame(arg, at) for arg in e[1:]):
        return False
    try:
        return abs(value(e, at)) < 1e9
    except OverflowError:
        return False


def agree(a, b):
    """Return whether two expressions are equal, by their values to sixty digits; numbers are the decimals written."""
    with mpmath.workdps(60):
        for size in ("1e-3", "0.7", "30"):
            at = {n: mpmath.mpf(size) * (k + 1) / 3 * (-1) ** k for k, n in enumerate(VARIABLES)}
            if not all(is_tame(e, {n: float(x) for n, x in at.items()}) for e in (a, b)):
                continue
            x, y = (value(e, at, lambda x: mpmath.mpf(repr(x))) for e in (a, b))
            if mpmath.isfinite(x) and mpmath.isfinite(y) and abs(x - y) > 1e-25 * (abs(x) + abs(y)) + 1e-35:
                return False
    return True


def surveyed(seed, count):
    """Return how many pairs were merged, how many wrongly, and how many are equal."""
    found, wrong, equal = 0, [], 0
    for a, b in pairs(seed, count):
        graph = Graph()
        at = dict(zip(VARIABLES, graph.symbols([Array("x", (3,))]), strict=True))
        results = tuple(graph.result(value(e, at)) for e in (a, b))
        y = [Array("y", (2,))]
        program = merge_identities(Program("f", (Array("x", (3,)),), tuple(graph.instructions), tuple(y), results))
        one, same = program.results[0] == program.results[1], agree(a, b)
        found, equal = found + (one and same), equal + same
        wrong += [(a, b)] if one and not same else []
    return found, wrong, equal


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), [(1, 400), pytest.param(2, 10000, marks=pytest.mark.full)])
def test_random_expressions(seed, count, record_property):
    found, wrong, equal = surveyed(seed, count)
    record_property("found", f"{found} of {equal} equal pairs among {count}")
    print(f"found {found} of {equal} equal pairs among {count}; {len(wrong)} wrong")
    assert not wrong
    assert found > 0.9 * equal > 0.4 * count


# --- the same on every machine ---

HASHES = Path(__file__).parents[2] / "benchmarks" / "program_hashes.py"


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "fewest"),
    [
        (["--urdf", cardan.robots.urdf_path("arm7")], 3),
        (["--joints"], 51),
        (["--functions", "inverse_dynamics"], 51),
    ],
)
def test_programs_do_not_depend_on_the_processor(words, fewest):
    def printed(**settings):
        command = [sys.executable, str(HASHES), *words]
        return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=True).stdout

    plain = printed(OPENBLAS_CORETYPE="Haswell")
    assert len(plain.splitlines()) >= fewest
    assert printed(OPENBLAS_CORETYPE="SkylakeX", GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-FMA") == plain
