"""The reference target: each instruction is one NumPy operation on a whole batch. It defines what a program means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from cardan.program.ops import SPEC, Op
from cardan.program.program import Program, Region, phases, rows_of
from cardan.targets.runner import Runner

CHUNK = 1024  # states at a time: temporaries of this length stay in the cache


def evaluate(program: Program, columns: Sequence[Any], dtype: np.dtype) -> list[Any]:
    """Return the flattened outputs of a program.

    Args:
        program: what to compute.
        columns: one array (or scalar) of `dtype` for each flattened input, all of broadcastable shapes.
        dtype: float64 or float32; the whole computation runs in it.

    Returns:
        One array or scalar for each flattened output.
    """
    number = dtype.type
    instructions = list(program.instructions)
    values: list[Any] = [None] * len(instructions)
    last_use = _last_uses(program)
    given: dict[int, Any] = {}
    tables = dict(zip(program.regions, rows_of(program), strict=True))
    kept: dict[tuple[int, float], Any] = {}
    shape = np.broadcast_shapes(*map(np.shape, columns)) if program.regions else ()

    def filled(value: Any) -> Any:  # NumPy may round a function of one number and of an array differently
        return value if np.shape(value) == shape else np.full(shape, value)

    def compute(k: int) -> None:
        op, args, value = instructions[k]
        if k in given:
            values[k] = given[k]
        elif op is Op.INPUT:
            values[k] = columns[int(value)]
        elif op is Op.CONST:
            values[k] = number(value)
        elif op is Op.KEPT:
            values[k] = kept[args[0], value]
        else:
            values[k] = SPEC[op].numpy(*[values[a] for a in args])
            for a in args:
                if last_use[a] == k:
                    values[a] = None  # frees its memory

    def run(parts: Sequence[Region | range]) -> None:
        for part in parts:
            if isinstance(part, range):
                for k in part:
                    compute(k)
                continue
            rows = tables[part]
            for n in range(part.passes):
                given.update({k: values[instructions[k].args[n]] for k in rows.picked})
                run(phases(program, part))
                kept.update({(k, n): values[k] for k in rows.kept})
                given.update({k: filled(values[after]) for k, after in part.carried})
            for k, _ in part.carried:
                del given[k]

    run(phases(program))
    return [values[r] for r in program.results]


def _last_uses(program: Program) -> list[int]:
    """Return the instruction that needs each value last; none, where it is needed in every pass of a region."""
    operands = program.args
    last = [-1] * len(operands)
    for k, args in enumerate(operands):
        for a in args:
            last[a] = k
    for region in program.regions:
        for k in range(region.start, region.stop):
            for a in operands[k]:
                if a < region.start and last[a] < region.stop:
                    last[a] = len(operands)
        for _, after in region.carried:
            last[after] = len(operands)
    for r in program.results:
        last[r] = len(operands)
    return last


class NumpyProgram(Runner):
    """A program as NumPy operations."""

    def __init__(self, program: Program) -> None:
        self.program, self.outputs = program, program.outputs

    def write(
        self,
        arrays: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        batch: int,
        dtype: np.dtype,
        threads: int | None = None,
    ) -> None:
        """Compute the outputs; see `Runner`. It runs on one thread."""
        rows = [array.reshape(batch, array.size // max(batch, 1)) for array in arrays]
        with np.errstate(all="ignore"):
            for start in range(0, batch, CHUNK):
                part = slice(start, min(start + CHUNK, batch))
                columns = [np.ascontiguousarray(c) for array in rows for c in array[part].T]
                values = iter(evaluate(self.program, columns, dtype))
                for column in chain.from_iterable(result[part].T for result in results):
                    column[...] = next(values)

    def describe(self) -> list[str]:
        """Return what is run: one NumPy operation after the other."""
        return [f"numpy: {self.program.operations} array operations on up to {CHUNK} states at a time"]


def compile_numpy(program: Program) -> NumpyProgram:
    """Return the program as a function on arrays."""
    return NumpyProgram(program)
