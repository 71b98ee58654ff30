"""Tables read at run time: one meaning in every target, kept once, and no part of programs without them."""

import pickle
import shutil

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.program.autodiff import jacobian_vector_product
from cardan._compiler.program.value_numbering import merge_identities
from cardan._compiler.targets import compile_program
from cardan._compiler.targets.cuda.text import cuda_text
from cardan._compiler.targets.llvm import compiler
from cardan._compiler.targets.llvm.target import LoadedCode
from cardan._compiler.targets.llvm.text import llvm_text
from cardan._compiler.targets.llvm.writer import Lanes
from cardan._compiler.targets.runner import Outline
from cardan.errors import ParameterError, UnsupportedError
from program_rules import verify
from programs import evaluated, run_c, same

LONG, SHORT = np.random.default_rng(0).normal(size=(10, 100)), np.arange(7.0) ** 2


def chained(x):
    """Reads at what was read, within a loop and behind it."""
    first = cardan.cell(LONG, x[0])
    last = cardan.repeat(3, lambda s: cardan.cell(SHORT, 2.0 * s) + cardan.sin(s) * first + 0.1 * s, x[1])
    return {"y": np.array([first * last, cardan.cell(LONG, -last), cardan.cell(SHORT, x[0] * 0.01)])}


PROGRAM = verify(trace("chained", chained, [Array("x", (2,))], regions=True))
INDICES = np.concatenate(
    [
        np.random.default_rng(1).normal(size=(300, 2)) * [600.0, 3.0],
        [
            [np.nan, 1.0],
            [np.inf, np.nan],
            [-np.inf, -np.inf],
            [999.0, 1e300],
            [999.9, -0.0],
            [1000.0, 6.0],
            [-0.5, 1.0],
        ],
    ]
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_targets_agree(dtype, tmp_path):
    x = INDICES.clip(-1e30, 1e30).astype(dtype)
    (expected,) = evaluated(PROGRAM, "numpy", [x])
    (found,) = evaluated(PROGRAM, "llvm", [x])
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    # What is read at a multiple of a sine may be another entry after rounding: few are.
    assert (np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True).mean()) > 0.99
    if shutil.which("gcc"):
        in_c = np.empty((len(x), 3), dtype)
        run_c(tmp_path, PROGRAM, [x], [in_c])
        assert (np.isclose(in_c, expected, rtol=tolerance, atol=tolerance, equal_nan=True).mean()) > 0.99


@pytest.mark.parametrize("emitter", ["direct", "llvm"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_lone_cell_is_the_entry(dtype, emitter, monkeypatch):
    monkeypatch.setenv("CARDAN_EMITTER", emitter)
    program = trace("lone", lambda x: {"y": np.array([cardan.cell(LONG, x[0]) + x[1] * 0.0])}, [Array("x", (2,))])
    x = np.stack([INDICES[:, 0], np.ones(len(INDICES))], 1).astype(dtype)
    floored = np.nan_to_num(np.floor(x[:, 0]), nan=0.0, posinf=999.0, neginf=0.0)
    entries = LONG.ravel()[floored.clip(0, 999).astype(int)].astype(dtype)
    for target in ("numpy", "llvm"):
        (found,) = evaluated(program, target, [x])
        np.testing.assert_array_equal(found[:, 0], entries)


ROWS = verify(
    trace(
        "rows",
        lambda x: {
            "face": np.array([cardan.cell(LONG, x[0] * 9.0 + float(k)) for k in range(9)]),
            "some": np.array([cardan.cell(LONG, x[1] + k) for k in (4.0, 2.0, 6.0, 7.0)]),
            "few": np.array([cardan.cell(SHORT, x[1] + 1.0), cardan.cell(SHORT, x[1] + 2.0)]),
        },
        [Array("x", (2,))],
    )
)


@pytest.mark.parametrize("emitter", ["direct", "llvm"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("apart", [False, True], ids=["inside", "anywhere"])
def test_numbers_beside_one_another_are_read_as_each_is(dtype, emitter, apart, monkeypatch):
    """In lanes that are all whole numbers within the table, and where some are between two, beyond its ends or NaN."""
    monkeypatch.setenv("CARDAN_EMITTER", emitter)
    rng = np.random.default_rng(2)
    x = np.stack([rng.integers(0, 110, 400), rng.integers(0, 990, 400)], 1).astype(dtype)
    x[:3] = [[0, 0], [110, 992], [109, 991]]
    if apart:
        odd = [[0.25, 3.0], [-0.25, -1.0], [-1.0, 3.5], [111.0, 993.0], [112.0, -8.0], [np.nan, np.nan], [1e6, -1e6]]
        x[rng.choice(400, 70, replace=False)] = np.tile(odd, (10, 1))
    expected = evaluated(ROWS, "numpy", [x])
    for found, wanted in zip(evaluated(ROWS, "llvm", [x]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    alone = [x[k : k + 1] for k in range(0, len(x), 40)]
    for n, wanted in enumerate(expected):
        one_by_one = np.concatenate([evaluated(ROWS, "llvm", [one])[n] for one in alone])
        np.testing.assert_array_equal(one_by_one, wanted[::40])


@pytest.mark.parametrize("scalar", ["double", "float"])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_numbers_beside_one_another_are_read_in_every_width(width, scalar, monkeypatch):
    dtype = np.dtype(np.float64 if scalar == "double" else np.float32)
    monkeypatch.setattr(compiler, "host_lanes", lambda _: Lanes(width, scalar))
    x = np.stack([np.arange(111), 9 * np.arange(111)], 1).astype(dtype)
    found = [np.empty((len(x), array.size), dtype) for array in ROWS.outputs]
    LoadedCode(compiler.compile_program(ROWS, dtype), "")([x], found, 0, len(x), passes=0)
    for own, wanted in zip(found, evaluated(ROWS, "numpy", [x]), strict=True):
        np.testing.assert_array_equal(own, wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_do_not_hang_on_the_split(dtype):
    x = INDICES.clip(-1e30, 1e30).astype(dtype)
    run = compile_program(PROGRAM, "llvm")
    whole = run([x], len(x), np.dtype(dtype))
    for size in (1, 3, 64):
        parts = [run([x[k : k + size]], len(x[k : k + size]), np.dtype(dtype)) for k in range(0, len(x), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_programs_keep_tables_once_and_tell_them_apart():
    assert [len(t) for t in PROGRAM.tables] == [1000, 7]
    assert pickle.loads(pickle.dumps(PROGRAM)) == PROGRAM
    assert "of table 1" in str(PROGRAM)
    other = trace("chained", lambda x: {"y": np.array([cardan.cell(SHORT, x[0])])}, [Array("x", (2,))])
    changed = trace("chained", lambda x: {"y": np.array([cardan.cell(SHORT + 1.0, x[0])])}, [Array("x", (2,))])
    assert other.instructions == changed.instructions
    assert other != changed
    assert Outline.of(other).digest != Outline.of(changed).digest
    both = trace(
        "both", lambda x: {"y": np.array([cardan.cell(SHORT, x[0]), cardan.cell(LONG, x[0])])}, [Array("x", (1,))]
    )
    merged = verify(merge_identities(both))
    assert merged.instructions.count_of(next(i.op for i in both.instructions if i.args)) == 2


def test_its_slope_is_0():
    def scaled(x):
        return {"y": np.array([cardan.cell(SHORT, x[0]) * x[0]])}

    rate = jacobian_vector_product(trace("scaled", scaled, [Array("x", (1,))]), ["x"])
    (found,) = evaluated(verify(rate), "numpy", [np.array([[2.5]]), np.array([[1.0]])])
    assert found.ravel().tolist() == [4.0]


def test_numbers_batches_and_refusals():
    assert cardan.cell(LONG, 101.7) == LONG[1, 1]
    np.testing.assert_array_equal(cardan.cell([1.0, 2.0], np.array([[-1.0, 0.5], [1.5, np.nan]])), [[1, 1], [2, 1]])
    assert cardan.cell(SHORT, np.arange(3, dtype=np.float32)).dtype == np.float32
    for table in ([], "map", [[1.0], [2.0, 3.0]]):
        with pytest.raises(ParameterError, match=r"table of cardan\.cell.*expected 1 to 16777216 numbers"):
            cardan.cell(table, 0.0)
    with pytest.raises(UnsupportedError, match=r"reads a table.*on\('llvm'\)"):
        cuda_text(PROGRAM)


def test_a_million_numbers():
    heights = np.random.default_rng(0).normal(size=10**6)
    program = trace("large", lambda x: {"y": np.array([cardan.cell(heights, x[0])])}, [Array("x", (1,))])
    x = np.array([[123456.7], [-1.0], [2e6]])
    assert len(llvm_text(program, Lanes(8, "double"))) < 25 * heights.size  # each is written once
    (found,) = evaluated(program, "llvm", [x])
    assert same([found[:, 0]], [heights[[123456, 0, -1]]])
