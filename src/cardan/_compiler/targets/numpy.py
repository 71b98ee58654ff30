"""The reference target: each instruction is one NumPy operation on a whole batch. It defines what a program means."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from cardan._compiler.program.ops import SPEC
from cardan._compiler.program.program import Program
from cardan._compiler.program.replay import WITHOUT, Functions, Run, Walk, times
from cardan._compiler.targets.runner import Arrays, Runner

CHUNK = 1024  # states at a time: temporaries of this length stay in the cache

_NUMPY: Functions = {op: None if op in WITHOUT else spec.numpy for op, spec in SPEC.items()}


def evaluate(program: Program | Walk, columns: Sequence[Any], dtype: np.dtype) -> list[Any]:
    """Return one array or scalar for each flattened output of a program, or of its `walk_of`.

    There is one array (or scalar) of `dtype` for each flattened input, all of broadcastable shapes. The whole
    computation runs in that dtype, float64 or float32.
    """
    walk = program if isinstance(program, Walk) else walk_of(program)
    shape = np.broadcast_shapes(*map(np.shape, columns)) if walk.program.regions else ()

    def filled(value: Any) -> Any:  # NumPy may round a function of one number and of an array differently
        return value if np.shape(value) == shape else np.full(shape, value)

    return Run(walk, columns, dtype.type, filled).results()


def walk_of(program: Program) -> Walk:
    """Return a program to be run by NumPy's functions, which frees each value behind its last reader."""
    return Walk(program, _NUMPY, _freed(program, program.instructions.args))


def _freed(program: Program, operands: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the values that nothing needs after each instruction: none that each pass of a region needs."""
    last = [-1] * len(operands)
    for k, args in enumerate(operands):
        for a in args:
            last[a] = k
    for region in program.regions:
        for k in range(region.start, region.stop):
            for a in operands[k]:
                if a < region.start and last[a] < region.stop:
                    last[a] = -1
    for r in program.read_elsewhere():
        last[r] = -1
    freed: list[tuple[int, ...]] = [()] * len(operands)
    for a, k in enumerate(last):
        if k >= 0:
            freed[k] += (a,)
    return freed


class NumpyProgram(Runner):
    def __init__(self, program: Program) -> None:
        self.program, self.outputs = program, program.outputs

    @functools.cached_property
    def walk(self) -> Walk:
        return walk_of(self.program)

    def write(self, arrays: Arrays, results: Arrays, batch: int, dtype: np.dtype, threads: int | None = None) -> None:
        rows = [array.reshape(batch, array.size // max(batch, 1)) for array in arrays]
        with np.errstate(all="ignore"):
            for start in range(0, batch, CHUNK):
                part = slice(start, min(start + CHUNK, batch))
                columns = [np.ascontiguousarray(c) for array in rows for c in array[part].T]
                values = iter(evaluate(self.walk, columns, dtype))
                for column in chain.from_iterable(result[part].T for result in results):
                    column[...] = next(values)

    def times(self, count: int) -> NumpyProgram:
        return NumpyProgram(times(self.program, count))

    def describe(self) -> list[str]:
        return [f"numpy: {self.program.operations} array operations on up to {CHUNK} states at a time"]
