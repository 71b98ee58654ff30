"""Programs to try loops on: run on arrays by any target, in C, and written at random."""

import ctypes
import random
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

import cardan
from cardan._compiler.program import Array, trace
from cardan._compiler.program.replay import repeated
from cardan._compiler.targets import compile_program
from cardan._compiler.targets.c import c_function, c_header, c_source
from program_rules import verify


def c_code(program, name, *, single=False, comment=""):
    """A program as C99: what is in the files `name.c` and `name.h`."""
    function = c_function(program, name, single=single)
    return SimpleNamespace(source=c_source(function, name, comment), header=c_header([function], name, comment))


def same(found, expected):
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(found, expected, strict=True))


def evaluated(program, target, arrays):
    rows, dtype = len(arrays[0]), arrays[0].dtype
    flat = compile_program(program, target)(arrays, rows, dtype)
    return [np.ascontiguousarray(part) for part in np.split(flat, np.cumsum([a.size for a in program.outputs])[:-1], 1)]


def long_chain(x, y, n=900):
    """Return something of many operations, most of which cross from block to block."""
    values = [*x, *y]
    for k in range(n):
        values.append(0.4 * values[k] + 0.4 * values[-1] * values[-5] + 0.2)
    return values[-3:], values[-6:-3]


def written_out(count, body, *start):
    for _ in range(count):
        start = (body(*start),) if len(start) == 1 else body(*start)
    return start[0] if len(start) == 1 else start


def run_c(tmp_path, program, arrays, results, *more):
    """Compile a program with every warning an error, and with more flags, and run it."""
    code = c_code(program, "f", single=arrays[0].dtype == np.float32)
    (tmp_path / "f.c").write_text(code.source)
    (tmp_path / "f.h").write_text(code.header)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, *more, "f.c", "-o", "f.so", "-lm"], check=True, cwd=tmp_path)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results)]
    ctypes.CDLL(str(tmp_path / "f.so")).f_batch(ctypes.c_size_t(len(arrays[0])), *pointers)


def item_by_item(body, *items):
    return [body(*row) for row in zip(*items, strict=True)]


LOOPS, WRITTEN_OUT = (cardan.repeat, cardan.each), (written_out, item_by_item)


class Writer:
    """Writes a program of random operations and loops, the same for the same seed, whatever the loops are."""

    def __init__(self, seed, loops):
        self.rng, (self.repeat, self.each) = random.Random(seed), loops

    def grow(self, pool, conditions, steps, depth):
        """Add values to a pool, and conditions."""
        rng = self.rng
        for _ in range(steps):
            kind, a, b = rng.randrange(11), rng.choice(pool), rng.choice(pool)
            if kind == 0:
                conditions.append(a < b + 0.01)
            elif kind < 7 or depth == 3:
                chosen = cardan.where(conditions[-1], a, 0.3 * b) if conditions else -a
                pool.append([0.0, 0.5 * a + 0.3 * b, 0.5 * a * b - 0.1, cardan.sin(a - b), chosen, -a, -0.5][kind % 7])
            else:
                loop = self.iterated if kind < 9 else self.one_by_one
                found, ahead = loop(pool, conditions, depth)
                rng.setstate(ahead)
                pool.extend(found)

    def iterated(self, pool, conditions, depth):
        """Return what a loop leaves of values; and how to go on with chance, however often its body was traced."""
        start = tuple(self.rng.choice(pool) for _ in range(self.rng.randint(1, 4)))
        count = self.rng.randint(2, 4)
        state = after = self.rng.getstate()

        def body(values):
            nonlocal after
            inner = self.inside(state, pool, conditions, depth, values)
            found = tuple(0.7 * cardan.clip(self.rng.choice(inner[-9:]), -2.0, 2.0) for _ in values[1:])
            found = (*found, self.rng.choice(inner))
            after = self.rng.getstate()
            return found

        return self.repeat(count, body, start), after

    def one_by_one(self, pool, conditions, depth):
        """Return what a body makes of items, and likewise."""
        width = self.rng.randint(1, 3)
        items = [[self.rng.choice(pool) for _ in range(width)] for _ in range(self.rng.randint(2, 4))]
        state = after = self.rng.getstate()

        def body(values):
            nonlocal after
            inner = self.inside(state, pool, conditions, depth, values)
            found = [cardan.clip(self.rng.choice(inner[-9:]), -2.0, 2.0) * 0.9, self.rng.choice(inner)]
            after = self.rng.getstate()
            return found

        return [e for found in self.each(body, items) for e in found], after

    def inside(self, state, pool, conditions, depth, values):
        """Return the pool of a body, the same each time it is traced."""
        self.rng.setstate(state)
        inner = [*pool, *values]
        self.grow(inner, list(conditions), 6, depth + 1)
        return inner

    def __call__(self, x, y):
        pool = [*x, *y]
        self.grow(pool, [], 14, 0)
        return tuple([self.rng.choice(pool[-12:]) for _ in side] for side in (x, y))


def random_program(seed, loops, count):
    """Return a random program, run several times."""
    arrays = [Array("x", (3,)), Array("y", (3,))]
    writer = Writer(seed, loops)
    results = lambda x, y: dict(zip("xy", map(np.array, writer(x, y)), strict=True))  # noqa: E731
    return verify(repeated(trace("f", results, arrays, regions=True), count, {"x": "x", "y": "y"}))


def where_all(condition, body, otherwise, *given):
    return chooses(condition, body(*given), otherwise)


def chooses(condition, a, b):
    if isinstance(b, (tuple, list)):
        return type(b)(chooses(condition, *pair) for pair in zip(a, b, strict=True))
    return cardan.where(condition, a, b)


def written_while(most, going, body, *start):
    return cardan.repeat(most, lambda *s: chooses(going(*s), body(*s), s), *start)


def never_skipped(program):
    """Return the same program without a word of what may be skipped."""
    return replace(program, regions=tuple(region._replace(going=None) for region in program.regions))


class Skipping(Writer):
    """Writes programs where bodies are skipped and loops left, too."""

    def __init__(self, seed, loops, when, repeat_while):
        super().__init__(seed, loops)
        self.when, self.repeat_while = when, repeat_while

    def iterated(self, pool, conditions, depth):
        kind = self.rng.randrange(4)
        if not kind:
            return super().iterated(pool, conditions, depth)
        first, jump = tuple(self.rng.choice(pool) for _ in range(3)), self.rng.random()
        state = self.rng.getstate()

        def body(*values):
            inner = self.inside(state, pool, conditions, depth, values)
            return tuple(0.7 * cardan.clip(self.rng.choice(inner[-9:]), -2.0, 2.0) for _ in range(3))

        if kind == 1:
            found = self.repeat_while(4, lambda a, b, c: a < b + 0.2, body, *first)
        else:
            found = self.when(first[0] < first[1], body, (first[2], 0.0, -first[0]), first[1])
        self.rng.seed(jump)  # a body may not be traced at all
        return found, self.rng.getstate()


def skipping_program(seed, *loops):
    arrays = [Array("x", (3,)), Array("y", (3,))]
    writer = Skipping(seed, *loops)
    results = lambda x, y: dict(zip("xy", map(np.array, writer(x, y)), strict=True))  # noqa: E731
    return repeated(trace("f", results, arrays, regions=True), 2, {"x": "x", "y": "y"})
