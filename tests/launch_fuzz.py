"""Random calls of compiled functions: shapes, strides, dtypes, containers, `out=`; native code against two oracles.

`python tests/launch_fuzz.py --cases 100000 --seed 0` runs them in a process of its own: a crash or a hang is reported
with the seed of its case, and the run goes on behind it. `--only SEED` shows one case.

A case is a function of its seed alone and is built anew for each call. One oracle is the NumPy target on the same
arguments: same class of exception or same numbers. The other knows which numbers an argument was made from, and lays
them out plainly: what reads memory wrongly on both targets is seen, too. All memory lies between guards; after a call
every byte that is not in `out` is as it was, and so is `out` if the call was refused.
"""

import argparse
import faulthandler
import mmap
import struct
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import cardan
from cardan.errors import DTypeError, ShapeError

BATCHES = [(), (), (), (1,), (0,), (2,), (5,), (8,), (17,), (3, 1, 2), (1, 4), (2, 0), (1, 1, 1), (70,)]
LARGE, HUGE = (1500,), (150_000,)  # beyond where the interpreter's lock is released, where threads are used
REAL = ["f8", "f4", "f2", "g", ">f8", ">f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", ">i4"]
OTHER = ["?", "c8", "c16", "O", "S3", "U5", "M8[s]", "m8[s]", "V8"]
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e200, 1e13]  # their neighbours in a batch stay as they are
GUARD = 64
TOLERANCE = {8: 1e-10, 4: 1e-3}


class Parts(NamedTuple):
    """Several results of different shapes."""

    vector: Any
    number: Any
    grid: Any


@dataclass
class Case:
    """One call: what is given, what it stands for, and all memory it involves."""

    number: int = 0
    kind: str = "call"
    arrays: list[Any] = field(default_factory=list)
    meanings: list[Any] = field(default_factory=list)
    memory: list[np.ndarray] = field(default_factory=list)
    batch: tuple[int, ...] = ()
    out: Any = None
    has_out: bool = False

    def allocate(self, dtype, shape, offset=0, dirt=b"\xa5"):
        """Return an array between guards; `offset` bytes off its natural alignment."""
        dtype = np.dtype(dtype)
        size = int(np.prod(shape)) * dtype.itemsize
        whole = np.frombuffer(bytearray(dirt * (size + 2 * GUARD + offset)), dtype=np.uint8)
        self.memory.append(whole)
        start = GUARD - whole.ctypes.data % 16 + offset
        return np.ndarray(shape, dtype, whole.data, start)


# --- what is called -----------------------------------------------------------------------------------------------


class Functions:
    """The functions, by number, ordinary and bound, on each target."""

    def __init__(self):
        arm = cardan.robots.double_pendulum().model()
        brick = cardan.Mechanism("brick")
        brick.add_body("brick", cardan.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
        brick = brick.model(base="floating")
        rock = cardan.Mechanism("rock")
        rock.add_body("rock", cardan.Inertia(2.0, (1.0, 0.0, 0.0)))
        rock = rock.model()

        @cardan.function(shapes={"x": (3,), "s": ()})
        def several(model, q, x, s, scale=2.0):
            grid = np.array([[q[1], 1.0], [s, q[0]]], dtype=object)
            return {"a": q[0] * x * scale, "b": s * s + x[0], "c": grid}

        @cardan.function(shapes={"s": ()})
        def number(model, s):
            return s * 3.0 + 1.0

        @cardan.function(shapes={"x": (3,), "s": (), "m": (2, 2)})
        def five(model, q, x, s, m, v, *, sign="plus"):
            k = 1.0 if sign == "plus" else -1.0
            return Parts(x * s, q[0] + k * v[1], [[m[0][1] * s, m[1][0]], [q[1], k * m[1][1]]])

        @cardan.function(shapes={"x": (3,), "y": (3,)})
        def cross(model, x, y):
            return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]

        self.table = [
            (arm, cardan.inverse_dynamics, (), {}),
            (arm, cardan.inverse_dynamics, ("external_forces",), {}),
            (arm, cardan.mass_matrix, (), {}),
            (arm, cardan.potential_energy, (), {}),
            (brick, cardan.forward_dynamics, (), {}),
            (brick, cardan.frame_velocity, (), {"frame": "brick"}),
            (rock, cardan.center_of_mass, (), {}),
            (arm, several, (), {}),
            (arm, several, (), {"scale": -1.0}),
            (arm, number, (), {}),
            (arm, five, (), {}),
            (arm, five, (), {"sign": "minus"}),
            (arm, cross, (), {}),
        ]
        self.bound, self.siblings = {}, {}
        self.cores, self.names, self.result = [], [], []
        for number_, (model, function, optional, _) in enumerate(self.table):
            names = [n for n in function.shapes if n in optional or not _is_optional(function, n)]
            known = {"nq": model.nq, "nv": model.nv, "nbodies": model.nbodies}
            self.names.append(names)
            self.cores.append([tuple(known.get(n, n) for n in function.shapes[name]) for name in names])
            ones = [np.ones(core) for core in self.cores[-1]]
            for dtype in ("f8", "f4"):  # what a call does must not depend on the cases before it
                self.call(Case(number_, "call", [x.astype(dtype) for x in ones]), "llvm")
                self.call(Case(number_, "call", [x.astype(dtype) for x in ones]), "default")
                self.call(Case(number_, "bound", [x.astype(dtype) for x in ones]), "llvm")
            plain = self.bind(number_, "numpy")(*ones)
            self.result.append(None if isinstance(plain, (dict, tuple)) else np.shape(plain))

    def bind(self, number, target):
        if (number, target) not in self.bound:
            model, function, optional, options = self.table[number]
            self.bound[number, target] = function.on(target).bind(model, *optional, **options)
        return self.bound[number, target]

    def call(self, case, target):
        """Make the call of a case on a target."""
        model, function, _, options = self.table[case.number]
        out = {"out": case.out} if case.has_out else {}
        if case.kind == "bound":
            return self.bind(case.number, target)(*case.arrays, **out)
        if target != "default":
            function = self.siblings.setdefault((function, target), function.on(target))
        names = self.names[case.number]
        if case.kind == "keywords":
            return function(model, *case.arrays[:1], **dict(zip(names[1:], case.arrays[1:], strict=True)), **options)
        return function(model, *case.arrays, **options)


def _is_optional(function, name):
    return function.parameters.parameters[name].default is None


# --- random calls -------------------------------------------------------------------------------------------------


def build(functions, seed):
    """Return the case of a seed, in memory of its own."""
    rng = np.random.default_rng(seed)
    case = Case(number=int(rng.integers(len(functions.table))))
    case.kind = ("call", "keywords", "bound", "bound")[rng.integers(4)]
    case.batch = BATCHES[rng.integers(len(BATCHES))]
    chance = rng.random()
    case.batch = HUGE if chance < 0.002 else LARGE if chance < 0.02 else case.batch
    plain = 0.9 if rng.random() < 0.5 else 0.3  # calls with nothing odd, one oddity, many
    single = rng.random() < 0.25
    for core in functions.cores[case.number]:
        array, meaning = random_argument(rng, case, core, plain, "f4" if single else "f8")
        case.arrays.append(array)
        case.meanings.append(meaning)
    if len(case.arrays) > 1 and rng.random() < 0.06:
        a, b = rng.permutation(len(case.arrays))[:2]
        case.arrays[a], case.meanings[a] = case.arrays[b], case.meanings[b]
    if case.kind == "bound" and rng.random() < 0.05:
        change_count(rng, case)
    if case.kind == "bound" and rng.random() < 0.6:
        case.has_out = True
        case.out = random_out(rng, functions, case, "f4" if single else "f8")
    return case


def change_count(rng, case):
    """Give one array too few, or one too many."""
    if rng.random() < 0.5:
        case.arrays.pop(), case.meanings.pop()
    else:
        case.arrays.append(case.arrays[0]), case.meanings.append(case.meanings[0])


def random_argument(rng, case, core, plain, usual):
    """Return an argument and the numbers it stands for; None for the latter if it must be refused or is symbolic."""
    batch, core, fits = list(case.batch), list(core), True
    if rng.random() < 0.2:
        batch = [1 if rng.random() < 0.4 else n for n in batch][rng.integers(len(batch) + 1) :]
    if rng.random() < 0.02:
        batch, fits = [*batch, 3], None  # may or may not broadcast
    if rng.random() < 0.03:
        fits = False
        core = [*core, 1] if rng.random() < 0.3 or not core else [n + int(rng.integers(1, 3)) for n in core]
    elif rng.random() < 0.02 and core:
        core, fits = core[:-1], None
    values = np.round(rng.normal(size=(*batch, *core)) * 2.0, 3)
    if rng.random() < 0.03 and values.size:
        values.flat[rng.integers(values.size)] = SPECIAL[rng.integers(len(SPECIAL))]
    if rng.random() < plain:
        array = case.allocate(usual, values.shape)
        with np.errstate(over="ignore"):
            array[...] = values
        return array, array.astype("f8") if fits is not False else None
    return odd_argument(rng, case, values, usual, fits)


def odd_argument(rng, case, values, usual, fits):
    chance = rng.random()
    if chance < 0.04:
        nonsense = [None, "text", {}, [[1.0], [1.0, 2.0]], object(), b"bytes", 1j, True, {1.0}, [None, 1.0], range(0)]
        return nonsense[rng.integers(len(nonsense))], None
    dtype = (
        usual
        if chance < 0.5
        else (OTHER if chance < 0.56 else REAL)[rng.integers(len(OTHER if chance < 0.56 else REAL))]
    )
    dtype = np.dtype(dtype)
    real = dtype.kind in "fiu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype.kind in "iu":
            values = np.nan_to_num(np.abs(values) if dtype.kind == "u" else values, posinf=7, neginf=3).clip(-99, 99)
        if dtype.kind in "MmV":
            cast = np.zeros(values.shape, dtype)
        else:
            cast = np.asarray(values.astype(dtype.newbyteorder("=")))
    array, cast = laid_out(rng, case, cast, dtype)
    meaning = cast.astype("f8") if real and fits is not False else None
    return contained(rng, array) if real else array, meaning


def laid_out(rng, case, values, dtype):
    """Return the same values in memory of a random layout, and the values (one layout repeats the first)."""
    kind, shape = rng.integers(10), values.shape
    if dtype.kind == "O":
        return values, values
    if kind == 0 and shape:  # every third
        array = case.allocate(dtype, (*shape[:-1], shape[-1] * 3))[..., ::3]
    elif kind == 1 and shape:  # backwards along an axis
        axis = int(rng.integers(len(shape)))
        array = np.flip(case.allocate(dtype, shape), axis)
    elif kind == 2:  # Fortran's order
        array = case.allocate(dtype, shape[::-1]).transpose()
    elif kind == 3:  # not aligned
        array = case.allocate(dtype, shape, offset=int(rng.integers(1, 16)))
    elif kind == 4 and shape and shape[0]:  # no stride
        values = np.broadcast_to(values[:1], shape)
        array = case.allocate(dtype, (1, *shape[1:]))
        array[...] = values[:1]
        return np.broadcast_to(array, shape), values
    elif kind == 5 and len(shape) > 1:  # axes exchanged
        order = rng.permutation(len(shape))
        array = case.allocate(dtype, [shape[k] for k in order]).transpose(np.argsort(order))
    elif kind == 6 and shape:  # the end of a longer one
        array = case.allocate(dtype, (shape[0] + 2, *shape[1:]))[2:]
    else:
        array = case.allocate(dtype, shape)
    array[...] = values
    if kind == 7:
        array.flags.writeable = False
    return array, values


class Sub(np.ndarray):
    """A subclass without a mind of its own."""


class Lends:
    """Something with `__array__`."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def contained(rng, array):
    """Return a real array in one of many containers."""
    kind = rng.integers(16)
    if kind == 0 and array.size and array.dtype.char not in "efg":  # an empty list has no shape
        return array.tolist()
    if kind == 1:
        return array.view(Sub)
    if kind == 2 and array.dtype.kind == "f":
        return np.ma.masked_array(array)
    if kind == 3 and array.ndim == 2:
        return array.view(np.matrix)
    if kind == 4 and array.dtype.isnative and array.dtype.char not in "ge" and array.flags.c_contiguous and array.size:
        return memoryview(array)
    if kind == 5:
        return Lends(array)
    if kind == 6 and array.ndim == 0 and array.dtype.isnative:
        return array[()]
    if kind == 7 and array.ndim == 1 and array.dtype.isnative:
        return list(array) if array.dtype.char == "d" else array
    return array


def random_out(rng, functions, case, usual):
    """Return an output that mostly fits, sometimes one that shares memory with an input."""
    core = functions.result[case.number]
    if core is None:
        return random_out_of_parts(rng, functions, case)
    shape, kind = (*case.batch, *core), rng.integers(20)
    if kind == 0:
        return case.allocate(usual, (*shape, 1))
    if kind == 1:
        return case.allocate("f4" if usual == "f8" else ("f8", ">f4", "i4")[rng.integers(3)], shape)
    if kind == 2:
        out = case.allocate(usual, shape)
        out.flags.writeable = False
        return out
    if kind == 3 and shape:
        return case.allocate(usual, (*shape[:-1], 2 * shape[-1]))[..., ::2]
    if kind == 4:
        return case.allocate(usual, shape, offset=int(rng.integers(1, 8)))
    if kind == 5:
        return case.allocate(usual, shape[::-1]).transpose()
    if kind == 6:
        return [None, [0.0] * 3, 1.0, bytearray(64), Lends(np.empty(shape))][rng.integers(5)]
    if kind == 7:
        return case.allocate(usual, shape).view(Sub)
    if kind == 8:
        return case.allocate(">" + usual, shape)
    if kind in (9, 10, 11, 12):
        return sharing_out(rng, case, shape, usual)
    return case.allocate(usual, shape)


def sharing_out(rng, case, shape, usual):
    """Return an input itself, or an output that overlaps one, in whole or in part."""
    plain = [a for a in case.arrays if type(a) is np.ndarray and a.dtype == usual and a.flags.c_contiguous]
    same = [a for a in plain if a.shape == shape and a.flags.writeable]
    if same and rng.random() < 0.5:
        return same[rng.integers(len(same))]
    size = int(np.prod(shape))
    out = case.allocate(usual, (3 * size + 8,), dirt=b"\0")
    place = int(rng.integers(0, 2 * size + 1))
    for k, a in enumerate(case.arrays):
        if type(a) is np.ndarray and a.dtype == usual and a.size <= 2 * size + 8 and rng.random() < 0.7:
            start = int(rng.integers(0, out.size - a.size + 1))
            moved = out[start : start + a.size].reshape(a.shape)
            moved[...] = a
            case.arrays[k] = moved
    for k, a in enumerate(case.arrays):  # they may overlap each other, too: each means what is there now
        if case.meanings[k] is not None and type(a) is np.ndarray:
            case.meanings[k] = a.astype("f8")
    return out[place : place + size].reshape(shape)


def random_out_of_parts(rng, functions, case):
    """Return what an earlier call returned, of the same batch or another; or something else."""
    kind = rng.integers(4)
    batch = case.batch if kind else (4,)
    if kind == 1:
        return {"a": np.empty(3)} if rng.random() < 0.5 else case.allocate("f8", batch)
    arguments = [np.ones((*batch, *core)) for core in functions.cores[case.number]]
    earlier = functions.bind(case.number, "numpy")(*arguments)
    part = next(iter(earlier.values() if isinstance(earlier, dict) else earlier))
    if kind == 2 and isinstance(part, np.ndarray) and part.shape == np.shape(case.arrays[-1]):
        part[...] = 0.5  # an input that is part of the output
        case.arrays[-1], case.meanings[-1] = part, part.astype("f8")
    return earlier


# --- what must come of it -----------------------------------------------------------------------------------------


def attempt(call):
    """Return a call's result, or the class of what it raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (cardan.CardanError, TypeError, ValueError) as error:
            return type(error)


def run_case(functions, seed):
    """Run one case; return what kind it was, or raise AssertionError."""
    case, reference, pristine = (build(functions, seed) for _ in range(3))
    before = [memory.copy() for memory in case.memory]
    found = attempt(lambda: functions.call(case, "llvm"))
    expected = attempt(lambda: functions.call(reference, "numpy"))
    check_memory(case, pristine, before, refused=isinstance(found, type))
    if isinstance(found, type) or isinstance(expected, type):
        assert found is expected, f"llvm: {found}\nnumpy: {expected}"
        check_refusal(functions, pristine, found)
        return "refused"
    wild = wild_states(functions, pristine)
    compare(found, expected, wild)
    if case.has_out and case.out is not None:
        assert found is case.out, "the result is not `out`"
    if case.kind != "bound":
        again = attempt(lambda: functions.call(case, "default"))
        compare(again, found)
    plainly = from_meanings(functions, pristine)
    if plainly is not None:
        compare(found, plainly, wild)
    return "out" if case.has_out else "evaluated"


def from_meanings(functions, case):
    """Return the reference target's result on plain arrays of the numbers meant; None for symbols."""
    if any(m is None for m in case.meanings):
        return None
    dtype, arrays = common_dtype(case), []
    cores, lead = functions.cores[case.number], np.broadcast_shapes(*leading(functions, case))
    with np.errstate(all="ignore"):
        for meaning, core in zip(case.meanings, cores, strict=True):
            arrays.append(np.broadcast_to(meaning, (*lead, *core)).astype(dtype).copy())
    return functions.bind(case.number, "numpy")(*arrays)


def common_dtype(case):
    """Return the dtype of the result by the documented rule: float32 if all that are floating are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtypes = [np.asarray(a).dtype for a in case.arrays]
    floats = [d.itemsize for d in dtypes if d.kind == "f"]
    return np.dtype("f4" if floats and set(floats) == {4} else "f8")


def check_refusal(functions, case, error):
    """What is right in every respect must not be refused."""
    cores = functions.cores[case.number]
    if len(case.arrays) != len(cores):
        assert issubclass(error, TypeError)
        return
    fits = all(m is not None and m.ndim >= len(c) and m.shape[m.ndim - len(c) :] == c
               for m, c in zip(case.meanings, cores, strict=True))  # fmt: skip
    if not fits:
        return
    try:
        lead = np.broadcast_shapes(*leading(functions, case))
    except ValueError:
        assert error is ShapeError
        return
    assert case.has_out, f"{error} though everything fits"
    core, out = functions.result[case.number], case.out
    if core is not None and isinstance(out, np.ndarray):
        fits = out.shape == (*lead, *core) and out.dtype == common_dtype(case) and out.dtype.isnative
        assert not (fits and out.flags.carray), f"{error} though `out` fits"
        assert error in (ShapeError, DTypeError)


def check_memory(case, pristine, before, *, refused):
    """No byte outside of `out` may have changed; none at all if the call was refused."""
    start, stop = (0, 0)
    if isinstance(case.out, np.ndarray) and not refused:
        start, stop = np.lib.array_utils.byte_bounds(case.out) if case.out.size else (0, 0)
    for now, old in zip(case.memory, before, strict=True):
        first = now.ctypes.data
        same = now == old
        same[max(start - first, 0) : max(stop - first, 0)] = True
        assert same.all(), f"{np.count_nonzero(~same)} bytes changed that were not to be written"
    for now, old in zip(case.arrays, pristine.arrays, strict=True):
        if isinstance(now, list):
            assert repr(now) == repr(old), "a list changed"


def leading(functions, case):
    """Return the batch shape of each meaning."""
    cores = functions.cores[case.number]
    return [m.shape[: m.ndim - len(c)] for m, c in zip(case.meanings, cores, strict=True)]


def wild_states(functions, case):
    """Return which states have an entry that is no number, or so large that rounding errors are not small."""
    if any(m is None for m in case.meanings):
        return np.False_
    wild = np.zeros(np.broadcast_shapes(*leading(functions, case)), bool)
    for meaning, lead in zip(case.meanings, leading(functions, case), strict=True):
        odd = ~(np.abs(meaning) < 1e6)
        wild = wild | odd.any(axis=tuple(range(len(lead), meaning.ndim)))
    return wild


def compare(found, expected, wild=None):
    """Raise AssertionError unless the results are alike: bit for bit, or but for wild states to a tolerance."""
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, f"{found!r} and {expected!r}"
    elif isinstance(expected, (dict, tuple)):
        assert type(found) is type(expected)
        found, expected = (r if isinstance(r, dict) else r._asdict() for r in (found, expected))
        assert found.keys() == expected.keys()
        for key in expected:
            compare(found[key], expected[key], wild)
    else:
        compare_arrays(np.asarray(found), np.asarray(expected), wild)


def compare_arrays(found, expected, wild):
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype), f"{found.dtype}{found.shape}"
    if expected.dtype == object:  # objects are taken for symbols: the function runs on them as plain Python
        found, expected = found.astype(complex), expected.astype(complex)
    if wild is None:
        np.testing.assert_array_equal(found, expected)
        return
    axes = tuple(range(wild.ndim, expected.ndim))
    tame = np.broadcast_to(~wild.reshape(wild.shape + (1,) * len(axes)), expected.shape)
    with np.errstate(all="ignore"):
        size = 1.0 + np.abs(np.where(tame, expected, 0.0)).max(axis=axes, keepdims=True, initial=0.0)
        off = np.abs(np.where(tame, found - expected, 0.0))
        wrong = off / size > TOLERANCE.get(expected.dtype.itemsize, 1e-10)
        wrong |= tame & np.isfinite(expected) & ~np.isfinite(found)
    assert not wrong.any(), f"off by {off[wrong].max()}"


# --- the program --------------------------------------------------------------------------------------------------


def run_inside(first, stop, place):
    """Run cases, noting in a file which one is under way: first seed, wrong ones and counts survive a crash."""
    faulthandler.enable()
    functions, counts = Functions(), Counter()
    with open(place, "r+b") as file, mmap.mmap(file.fileno(), 8) as note:
        for seed in range(first, stop):
            note[:] = struct.pack("<q", seed)
            if seed % 50 == 0:
                faulthandler.dump_traceback_later(120, exit=True)
            try:
                counts[run_case(functions, seed)] += 1
            except Exception as error:
                counts["WRONG"] += 1
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:400]}", flush=True)
            if seed % 1000 == 999 or seed == stop - 1:
                print("counts", dict(counts), flush=True)
                counts.clear()


def run_all(cases, first):
    """Run cases in processes of their own, a new one after each crash; return the counts."""
    total, stop = Counter(), first + cases
    with tempfile.NamedTemporaryFile() as note:
        note.write(struct.pack("<q", first))
        note.flush()
        while first < stop:
            command = [sys.executable, __file__, "--inside", note.name, "--cases", str(stop - first)]
            with subprocess.Popen([*command, "--seed", str(first)], stdout=subprocess.PIPE, text=True) as process:
                for line in process.stdout:
                    if line.startswith("counts "):
                        total.update(eval(line[7:]))
                    else:
                        print(line, end="", flush=True)
            if process.returncode == 0:
                break
            with open(note.name, "rb") as file:
                at = struct.unpack("<q", file.read(8))[0]
            total["CRASHED"] += 1
            print(f"seed {at}: process ended with {process.returncode} (negative: a signal; 1: it hung)", flush=True)
            first = at + 1
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run one case here and show it")
    parser.add_argument("--inside", metavar="FILE", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only is not None:
        functions = Functions()
        case = build(functions, args.only)
        print(functions.table[case.number], case.kind, case.batch, "out:", repr(case.out) if case.has_out else "none")
        for array in case.arrays:
            print(type(array), getattr(array, "dtype", ""), getattr(array, "strides", ""), repr(array)[:300])
        print(run_case(functions, args.only))
    elif args.inside:
        run_inside(args.seed, args.seed + args.cases, args.inside)
    else:
        total = run_all(args.cases, args.seed)
        print(f"{args.cases} cases from seed {args.seed}: {dict(total)}")
        sys.exit(1 if total["WRONG"] or total["CRASHED"] else 0)


if __name__ == "__main__":
    main()
