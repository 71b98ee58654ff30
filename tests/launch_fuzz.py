"""Random calls of compiled functions: shapes, strides, dtypes, aliases; native code against the NumPy target.

`python tests/launch_fuzz.py --cases 100000` runs them in a process of its own, so that a crash is reported with its
case. A case is a function of its seed alone.
"""

import argparse
import subprocess
import sys
import warnings
from collections import Counter
from itertools import combinations

import numpy as np

import cardan

BATCHES = [(), (), (1,), (0,), (2,), (5,), (17,), (3, 1, 2), (1, 4), (2, 0)]
DTYPES = ["f8"] * 8 + ["f4"] * 4 + ["f2", ">f8", ">f4", "i8", "i4", "u2", "i1", "g", "?", "c16", "O", "S3"]


class Cases:
    """The functions that are called, and how a random call looks."""

    def __init__(self):
        arm = cardan.robots.double_pendulum().model()
        floating = cardan.Mechanism("brick")
        floating.add_body("brick", cardan.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])))
        brick = floating.model(base="floating")

        @cardan.function(shapes={"x": (3,), "s": ()})
        def several(model, q, x, s, scale=2):
            return {"a": q[0] * x * scale, "b": s * s + x[0], "c": np.array([[q[1], 1.0], [s, q[0]]], dtype=object)}

        @cardan.function(shapes={"s": ()})
        def number(model, s):
            return s * 3.0 + 1.0

        @cardan.function
        def pair(model, q, v):
            return cardan.kinetic_energy(model, q, v), cardan.center_of_mass(model, q)

        self.table = [
            (arm, cardan.inverse_dynamics, {}),
            (arm, cardan.mass_matrix, {}),
            (brick, cardan.forward_dynamics, {}),
            (brick, cardan.frame_velocity, {"frame": "brick"}),
            (arm, several, {}),
            (arm, several, {"scale": -1}),
            (arm, number, {}),
            (arm, cardan.inverse_dynamics_derivatives, {}),
            (brick, pair, {}),
        ]
        self.bound = {}

    def case(self, seed):
        """Return model, function, arrays, options, whether bound, out (or None)."""
        rng = np.random.default_rng(seed)
        model, function, options = self.table[rng.integers(len(self.table))]
        program = function.on("numpy").program(model, **options)
        batch = BATCHES[rng.integers(len(BATCHES))]
        arrays = [random_array(rng, batch, a.shape) for a in program.inputs]
        if len(arrays) > 1 and rng.random() < 0.05:
            arrays[1] = arrays[0]
        bound = rng.random() < 0.5
        out = None
        if bound and rng.random() < 0.5:
            out = random_outs(rng, batch, program.outputs, arrays)
        return model, function, arrays, options, bound, out

    def bind(self, model, function, options, target):
        key = (id(model), id(function), tuple(options.items()), target)
        if key not in self.bound:
            self.bound[key] = function.on(target).bind(model, **options)
        return self.bound[key]


def random_array(rng, batch, core):
    """Return an array that mostly fits, laid out in one of many ways."""
    shape = list(batch)
    if rng.random() < 0.25:  # broadcasting
        shape = [1 if rng.random() < 0.4 else n for n in shape][rng.integers(len(shape) + 1) :]
    core = list(core)
    if rng.random() < 0.05:  # wrong
        core = core + [1] if rng.random() < 0.3 else [n + int(rng.integers(-1, 2)) for n in core]
    full = (*shape, *core)
    values = np.asarray(rng.normal(size=full) * 2.0)
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))] if rng.random() < 0.3 else "f8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.asarray(np.abs(values) if dtype.kind == "u" else values).astype(dtype)
    return laid_out(rng, np.asarray(array))


def laid_out(rng, array):
    """Return the same numbers in memory of another layout, or in another container."""
    kind = rng.integers(14)
    if kind == 0 and array.ndim:
        wide = np.zeros((*array.shape[:-1], array.shape[-1] * 3), dtype=array.dtype)
        wide[..., ::3] = array
        return wide[..., ::3]
    if kind == 1 and array.ndim:
        return np.ascontiguousarray(array[::-1])[::-1]
    if kind == 2:
        return np.asfortranarray(array)
    if kind == 3 and array.dtype != object:
        raw = np.frombuffer(b"\1" * 3 + array.tobytes(), dtype=np.uint8)[3:]
        return raw.view(array.dtype).reshape(array.shape) if array.size else array
    if kind == 4:
        array = array.copy()
        array.flags.writeable = False
        return array
    if kind == 5:
        return array.tolist()
    if kind == 6 and array.ndim:
        return np.broadcast_to(array[:1], array.shape)
    if kind == 7:
        return array.view(type("Sub", (np.ndarray,), {}))
    if kind == 8 and array.dtype.kind == "f":
        return np.ma.masked_array(array)
    if kind == 9 and array.ndim and array.dtype.kind in "fiu" and array.size:
        return memoryview(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))))
    return array


def random_out(rng, batch, core, arrays):
    """Return an output that mostly fits, sometimes one that shares memory with an input."""
    shape, kind = (*batch, *core), rng.integers(10)
    if kind == 0:
        return np.empty((*shape, 1))
    if kind == 1:
        return np.empty(shape, dtype="f4")
    if kind == 2:
        out = np.empty(shape)
        out.flags.writeable = False
        return out
    if kind == 3:
        return np.empty((2, *shape))[::-1][0] if shape else np.empty(())
    if kind == 4 and shape:
        return np.empty((*shape[:-1], 2 * shape[-1]))[..., ::2]
    if kind in (5, 6):
        fitting = [a for a in arrays if isinstance(a, np.ndarray) and a.shape == shape and a.dtype == np.float64]
        if fitting:
            return fitting[0]
    if kind == 7 and isinstance(arrays[0], np.ndarray) and arrays[0].dtype == np.float64 and shape == arrays[0].shape:
        size = arrays[0].size
        memory = np.zeros(2 * size + 1)
        memory[:size] = arrays[0].ravel()
        arrays[0] = memory[:size].reshape(shape)
        start = int(rng.integers(0, size + 1))
        return memory[start : start + size].reshape(shape)
    return np.empty(shape)


def random_outs(rng, batch, outputs, arrays):
    """Return what may be given for all results: an array, or for several a tuple, a list or a dictionary."""
    outs = [
        random_out(rng, batch, a.shape, arrays) if rng.random() < 0.2 else np.empty((*batch, *a.shape)) for a in outputs
    ]
    if len(outs) == 1:
        return random_out(rng, batch, outputs[0].shape, arrays)
    if rng.random() < 0.1:
        outs[1] = outs[0]
    if rng.random() < 0.1:
        memory = np.empty(outs[0].size + outs[1].size + 1)
        start = int(rng.integers(0, outs[0].size + 2))
        outs[0] = memory[: outs[0].size].reshape(outs[0].shape)
        outs[1] = memory[start : start + outs[1].size].reshape(outs[1].shape) if start else outs[1]
    kind = rng.integers(8)
    if kind == 0:
        return outs[:-1]
    if kind == 1 and outputs[0].name == "a":
        return dict(zip((a.name for a in outputs), outs, strict=True))
    return outs if kind == 2 else tuple(outs)


def parts(value):
    """Return the arrays of one result, or of several."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (tuple, list)) else [value]


def snapshot(array):
    return np.array(array, dtype=object, copy=True) if not isinstance(array, np.ndarray) else array.tobytes()


def attempt(call):
    """Return a call's result, or the class of what it raised."""
    try:
        return call()
    except (cardan.CardanError, TypeError, ValueError) as error:
        return type(error)


def run_case(cases, seed):
    """Run one case on both targets; return what kind it was, or raise AssertionError."""
    model, function, arrays, options, bound, out = cases.case(seed)
    before = [snapshot(a) for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = attempt(lambda: function.on("numpy")(model, *arrays, **options))
        symbols = any(np.asarray(a).dtype == object for a in arrays)  # bound functions take numbers only
        refused = _refuses(out, expected) or (bound and symbols)
        if bound:
            fast = cases.bind(model, function, options, "llvm")
            found = attempt(lambda: fast(*arrays) if out is None else fast(*arrays, out=out))
        else:
            found = attempt(lambda: function.on("llvm")(model, *arrays, **options))
            again = attempt(lambda: function(model, *arrays, **options))
            _same(again, found, exact=True)
    if isinstance(expected, type) or refused:
        assert isinstance(found, type), f"{found!r} instead of {expected or 'a refusal'}"
        return "refused"
    assert not isinstance(found, type), f"{found} instead of {expected!r}"
    if out is not None:
        assert found is out
        found, expected = parts(found), parts(expected)
    _same(found, expected)
    for a, old in zip(arrays, before, strict=True):
        shared = out is not None and isinstance(a, np.ndarray) and any(np.may_share_memory(a, o) for o in parts(out))
        if not shared:
            assert np.array_equal(snapshot(a), old) if not isinstance(a, np.ndarray) else snapshot(a) == old
    return "out" if out is not None else "evaluated"


def _refuses(out, expected):
    if out is None or isinstance(expected, type):
        return False
    outs, wanted = parts(out), parts(expected)
    if len(outs) != len(wanted) or any(np.may_share_memory(a, b) for a, b in combinations(outs, 2)):
        return True
    return any(map(_refuses_one, outs, wanted))


def _refuses_one(out, expected):
    right = out.shape == np.shape(expected) and out.dtype == np.asarray(expected).dtype
    return not (right and out.flags.c_contiguous and out.flags.writeable)


def _same(found, expected, exact=False):
    if isinstance(expected, type) or isinstance(found, type):
        assert found == expected, f"{found} and {expected}"
        return
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
    if isinstance(expected, (dict, tuple, list)):
        assert type(found) is type(expected)
        for a, b in zip(parts(found), parts(expected), strict=True):
            _same(a, b, exact)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if expected.dtype == object:  # objects are taken for symbols: the function runs on them as plain Python
        found, expected = found.astype(complex), expected.astype(complex)
    size = np.abs(expected[np.isfinite(expected)]).max(initial=1e-300)
    tolerance = 0.0 if exact else size * (1e-3 if expected.dtype == np.float32 else 1e-11)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inside", action="store_true")
    args = parser.parse_args()
    if not args.inside:
        command = [sys.executable, __file__, "--inside", "--cases", str(args.cases), "--seed", str(args.seed)]
        sys.exit(subprocess.run(command, check=False).returncode)
    cases, counts = Cases(), Counter()
    for seed in range(args.seed, args.seed + args.cases):
        sys.stderr.write(f"\r{seed}") if seed % 1000 == 0 else None
        try:
            counts[run_case(cases, seed)] += 1
        except AssertionError as error:
            counts["wrong"] += 1
            print(f"\nseed {seed}: {str(error)[:300]}")
    print(f"\n{args.cases} cases: {dict(counts)}")
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
