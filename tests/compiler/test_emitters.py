"""Machine code from the tables is LLVM's, bit for bit; `python tests/emitter_fuzz.py` tries 100 000 programs."""

import ctypes
import random

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, Instruction, Program, autodiff, trace
from cardan._compiler.program.ops import Op
from cardan._compiler.program.passes import Fused, joined_products
from cardan._compiler.targets import compile_program, default_target
from cardan._compiler.targets.llvm import plan
from cardan._compiler.targets.llvm.compiler import compile_program as compile_native
from cardan._compiler.targets.llvm.direct.lowering import spread
from cardan._compiler.targets.llvm.target import LoadedCode
from cardan._compiler.targets.llvm.text import llvm_text
from cardan._compiler.targets.llvm.writer import Lanes
from emitter_fuzz import Guarded, run_batch, tables
from mechanisms import random_state
from programs import LOOPS, evaluated, random_program, same
from representatives import represented

needs_native = pytest.mark.skipif(default_target() != "llvm", reason="native code is not for this processor")


def traced(function, n):
    return trace("f", lambda x: {"y": np.array(function(x), dtype=object)}, [Array("x", (n,))])


@pytest.fixture
def by(monkeypatch):
    """Results of a program, by an emitter."""

    def run(emitter, program, arrays):
        monkeypatch.setenv("CARDAN_EMITTER", emitter)
        return evaluated(program, "llvm", arrays)

    return run


# --- the order of steps ----------------------------------------------------------------------------------------------


def test_steps_that_need_not_wait_come_first():
    chains = [("mul", 10 * c + k, (10 * c + k - 1,) * 2) for c in (1, 2) for k in range(1, 5)]
    order = [value // 10 for _, value, _ in spread(chains, ahead=8)]
    assert order == [1, 2] * 4
    assert spread(chains, ahead=0) == chains


@pytest.mark.parametrize("ahead", [1, 7, 1000])
def test_a_step_comes_behind_those_it_takes(ahead):
    rng = random.Random(ahead)
    codes = ("mul", "add", "div", "sqrt", "xor")
    steps = [(rng.choice(codes), k, tuple(rng.choices(range(k), k=2))) for k in range(3, 400)]
    found = spread(steps, ahead)
    assert sorted(found, key=lambda step: step[1]) == steps
    known = {0, 1, 2}
    for _, value, args in found:
        assert known.issuperset(args)
        known.add(value)


# --- what is joined --------------------------------------------------------------------------------------------------


def test_products_join_the_sums_that_alone_take_them():
    x = [Instruction(Op.INPUT, (), float(k)) for k in range(3)]
    rest = [(Op.MUL, 0, 1), (Op.ADD, 2, 3), (Op.MUL, 0, 2), (Op.SUB, 5, 4), (Op.MUL, 1, 2), (Op.SUB, 6, 7)]
    rest += [
        (Op.MUL, 1, 1),
        (Op.ADD, 9, 8),
        (Op.SUB, 9, 10),
        (Op.MUL, 11, 0),
    ]  # one with two uses, one that is a result
    instructions = (*x, *(Instruction(op, tuple(args)) for op, *args in rest))
    program = Program("f", (Array("x", (3,)),), instructions, (Array("y", (2,)),), (12, 11))
    joined = joined_products(program)
    found = {k: (op, joined.args[k]) for k, op in enumerate(joined.ops) if isinstance(op, Fused)}
    assert found == {4: (Fused.FMA, (0, 1, 2)), 6: (Fused.FMS, (0, 2, 4)), 8: (Fused.FNMA, (1, 2, 6))}
    assert len(found) == program.multiply_adds
    assert [joined.ops[k] for k in (3, 5, 7)] == [Op.CONST] * 3


def test_no_product_joins_a_sum_that_is_computed_more_often(reference_target):
    @cardan.function(shapes={"x": (2,)})
    def grown(model, x):
        product = x[0] * x[1]
        return cardan.repeat(4, lambda y: cardan.sin(y) + product, x[0])

    program = grown.program(cardan.robots.double_pendulum().model())
    assert len(program.regions) == 1
    assert not any(isinstance(op, Fused) for op in joined_products(program).ops)


# --- the same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize("seed", represented(range(1000, 1040), by=range(1000, 1003).count))
def test_random_lines(seed):
    run_batch(seed, 20)


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize("seed", represented(range(48), by=range(4).count))
def test_random_loops(by, seed):
    """Loops beside and within each other, functions of computed values, tails of batches, both dtypes."""
    program = random_program(seed, LOOPS, 1 + seed % 3)
    for rows, dtype in ((11, np.float64), (3, np.float32)):
        given = list(np.random.default_rng(seed).uniform(-1.0, 1.0, (2, rows, 3)).astype(dtype))
        assert same(by("direct", program, given), by("llvm", program, given)), (rows, dtype)


def mean_of_rows(steps):
    """The gradient of a mean of what a loop keeps: it adds to a row of a column for each pass, outside of the loop."""

    @cardan.function(shapes={"x": (steps, 2)}, returns=())
    def mean(model, x):
        kept = cardan.scan(lambda s, row: (np.sin(s) + row, (s @ row, s[0])), x[0], x)[1]
        return np.mean(kept[0]) * kept[1][steps // 2] + np.mean(kept[1])

    return cardan.gradient(mean, "x").program(cardan.robots.double_pendulum().model())


@needs_native
@pytest.mark.slow
def test_rows_that_are_known_are_added_to_by_tables(by, monkeypatch):
    """Compiling them by LLVM took 12 s for 5000 rows, as each had a loop of its own that made it 0, too."""
    monkeypatch.setattr(autodiff, "LONG", 0)
    few, program = mean_of_rows(60), mean_of_rows(120)
    x = np.random.default_rng(0).normal(size=(11, 120, 2))
    assert same(by("direct", program, [x]), by("llvm", program, [x]))
    assert same(by("direct", program, [x[:3].astype("f")]), by("llvm", program, [x[:3].astype("f")]))
    for machine, size in tables():
        plans = [plan.plan_program(p, machine) for p in (few, program)]
        assert [len(p.direct) for p in plans] == [4, 4]
        loops = [llvm_text(p.program, Lanes(size // 8, "double"), p).count("\nloop") for p in plans]
        assert loops[0] == loops[1]


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.full)])
def test_a_robot(by, dtype):
    arm = cardan.load(cardan.robots.urdf_path("arm7"))
    given = [np.asarray(a, dtype=dtype) for a in random_state(arm, seed=0, shape=(21,))]
    for function, count in (
        (cardan.forward_dynamics, 3),
        (cardan.inverse_dynamics_derivatives, 3),
        (cardan.mass_matrix, 1),
    ):
        program = function.program(arm)
        assert same(by("direct", program, given[:count]), by("llvm", program, given[:count])), function.name


SPECIAL = [
    0.0,
    -0.0,
    5e-324,
    -1e-310,
    1e-40,
    -1e-40,
    2.0**-126,
    -1.5,
    1.5,
    3e38,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
    -np.nan,
]


def extreme(choose, a, b):
    """Return the smaller or larger: NaN if either is, and -0 below 0."""
    below = (a < b) | ((a == b) & np.signbit(a))
    chosen = np.where(below == (choose is cardan.minimum), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, chosen)


def assert_same_numbers(found, expected):
    real = ~np.isnan(expected)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found)[real], np.signbit(expected)[real])


@needs_native
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("choose", [cardan.minimum, cardan.maximum])
def test_bounds_are_right_beside_every_number(by, choose, dtype):
    """A bound takes fewer steps than two values, but treats zeros and what is no number as they do."""
    bounds, op = SPECIAL[:-2], Op.MIN if choose is cardan.minimum else Op.MAX
    n = len(bounds)
    instructions = [Instruction(Op.INPUT, (), 0.0), *(Instruction(Op.CONST, (), c) for c in bounds)]
    instructions += [Instruction(op, pair) for c in range(1, n + 1) for pair in ((0, c), (c, 0))]
    results = tuple(range(n + 1, 3 * n + 1))
    program = Program("f", (Array("x", (1,)),), tuple(instructions), (Array("y", (2 * n,)),), results)
    with np.errstate(over="ignore"):
        x, c = np.array(SPECIAL).astype(dtype)[:, None], np.array(bounds).astype(dtype)
    assert_same_numbers(by("direct", program, [x])[0], np.repeat(extreme(choose, x, c), 2, axis=1))


@needs_native
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_larger_of_sizes_is_right_for_every_number(by, dtype):
    """Of values that are never negative the bits are compared; of those that may be -0 they are not."""

    def pairs(a, b, larger):
        return [(abs(a), b * b), (larger(a, 0.0), abs(b)), (a * b, b * b), (abs(a), -abs(b))]

    program = traced(lambda x: [cardan.maximum(*pair) for pair in pairs(*x, cardan.maximum)], 2)
    with np.errstate(all="ignore"):
        x = np.array([(a, b) for a in SPECIAL for b in SPECIAL]).astype(dtype)
        expected = [extreme(cardan.maximum, *pair) for pair in pairs(*x.T, lambda a, c: extreme(max, a, c))]
    assert_same_numbers(by("direct", program, [x])[0], np.stack(expected, axis=1))


def test_a_number_too_large_for_a_float_is_infinite_there():
    """It raised OverflowError."""
    program = traced(lambda x: [cardan.minimum(x[0] * 2.0, 1e300), x[0] - 1e300], 1)
    x = np.ones((3, 1), dtype=np.float32)
    (found,) = evaluated(program, default_target(), [x])
    np.testing.assert_array_equal(found, [[2.0, -np.inf]] * 3)


# --- memory ---


def outside(x):
    """Results of every kind: computed, by functions too, arguments, numbers, repeated."""
    a, b, c = x
    d = cardan.sin(a * b) + cardan.where(a < b, c, 2.0) + cardan.where(b < c, a, 0.0)
    return [d, a, 3.0, cardan.exp(d * c), 0.0, d, *(a * k - d for k in range(90))]


WIDTHS = [(size, dtype, emitter) for size in (16, 32, 64) for dtype in "df" for emitter in ("llvm", "direct")]


@needs_native
@pytest.mark.parametrize(("size", "dtype", "emitter"), represented(WIDTHS, by=WIDTHS[::3].count))
def test_nothing_is_touched_around_inputs_results_and_workspace(monkeypatch, size, dtype, emitter):
    """At every width, with workspaces aligned to one vector; heaps were said to be aligned to vectors of 64 bytes."""
    monkeypatch.setattr(plan, "STACK", 0)
    monkeypatch.setenv("CARDAN_EMITTER", emitter)
    kind = np.dtype(dtype)
    lanes = Lanes(size // kind.itemsize, "double" if dtype == "d" else "float")
    if emitter == "direct" and not any(size == bytes for _, bytes in tables()):
        pytest.skip("no table for vectors of this size here")
    program = traced(outside, 3)
    code = LoadedCode(compile_native(program, kind, lanes), "")
    for rows in (1, lanes.width - 1, lanes.width, lanes.width + 1, 3 * lanes.width + 2):
        x = np.random.default_rng(rows).uniform(0.1, 1.0, (rows, 3)).astype(kind)
        (expected,) = evaluated(program, "numpy", [x])
        sizes = [x.nbytes, expected.nbytes, -(-code.heap // 64) * 64]
        for at_start in (False, True):
            with Guarded(sizes, at_start) as memory:
                given, result, _ = memory.arrays(sizes, [kind, kind, np.dtype(np.uint8)])
                given[:] = x.ravel()
                inputs, result_at, heap = memory.addresses
                places = (ctypes.c_int64 * 2)(result_at, expected.shape[1])
                code.entry((ctypes.c_void_p * 1)(inputs), places, rows, heap, 0)
                np.testing.assert_allclose(result.reshape(expected.shape), expected, atol=300 * np.finfo(kind).eps)
                del given, result, _


# --- the choice ------------------------------------------------------------------------------------------------------


@needs_native
def test_an_emitter_that_does_not_exist(by, monkeypatch):
    program = traced(lambda x: [x[0] + 1.0], 1)
    with pytest.raises(cardan.errors.TargetError, match="CARDAN_EMITTER is 'gcc', expected one of"):
        by("gcc", program, [np.ones((1, 1))])
    monkeypatch.setattr("cardan._compiler.targets.llvm.compiler.host_features", lambda: ("old", "+sse2"))
    with pytest.raises(cardan.errors.TargetError, match="no table for this processor"):
        by("direct", traced(lambda x: [x[0] + 3.0], 1), [np.ones((1, 1))])


@needs_native
def test_each_emitter_keeps_code_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "cache"))
    program = traced(lambda x: [x[0] * 7.0 + x[1]], 2)
    for emitter in ("", "llvm", ""):
        monkeypatch.setenv("CARDAN_EMITTER", emitter)
        compile_program(program, "llvm")([np.ones((1, 2))], 1, np.dtype(float))
    assert len(list((tmp_path / "cache").glob("*.entry"))) == 2
