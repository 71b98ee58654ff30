"""The reference target: each instruction is one NumPy operation on a whole batch. It defines what a program means."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from cardan.program.ops import LEAVES, SPEC, Op
from cardan.program.program import Program, Region, phases, rows_of
from cardan.targets.runner import Runner

CHUNK = 1024  # states at a time: temporaries of this length stay in the cache


Step = tuple[Callable[..., Any] | None, tuple[int, ...], tuple[int, ...]]
"""NumPy's function, None for what is there without an operation; the instructions whose values it takes; those of which
nothing else needs the value any more."""


class Walk:
    """A program as what walks through it looks at, made once: at each call that would take as long as the numbers.

    Attributes:
        ops: the operation of each instruction, ...
        values: ... and its value.
        steps: what is done for each.
        tables: what each region picks and keeps.
        parts: the phases of the program, and of each region.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.ops, self.values = program, program.instructions.ops, program.instructions.values
        functions = [None if op in LEAVES else SPEC[op].numpy for op in self.ops]
        operands = program.args
        self.steps: list[Step] = list(zip(functions, operands, _freed(program, operands), strict=True))
        self.tables = dict(zip(program.regions, rows_of(program), strict=True))
        self.parts = {within: phases(program, within) for within in (None, *program.regions)}


def evaluate(program: Program | Walk, columns: Sequence[Any], dtype: np.dtype) -> list[Any]:
    """Evaluate a program on columns of numbers.

    Args:
        program: what to compute.
        columns: one array (or scalar) of `dtype` for each flattened input, all of broadcastable shapes.
        dtype: float64 or float32; the whole computation runs in it.

    Returns:
        One array or scalar for each flattened output.
    """
    walk = program if isinstance(program, Walk) else Walk(program)
    number, steps = dtype.type, walk.steps
    values: list[Any] = [None] * len(steps)
    given: dict[int, Any] = {}
    kept: dict[tuple[int, float], Any] = {}
    shape = np.broadcast_shapes(*map(np.shape, columns)) if walk.tables else ()

    def filled(value: Any) -> Any:  # NumPy may round a function of one number and of an array differently
        return value if np.shape(value) == shape else np.full(shape, value)

    def leaf(k: int, args: tuple[int, ...]) -> Any:
        op, value = walk.ops[k], walk.values[k]
        if op is Op.CONST:
            return number(value)
        if k in given:
            return given[k]
        if op is Op.CARRIED:
            return values[args[0]]
        return kept[args[0], value] if op is Op.KEPT else columns[int(value)]

    def straight(part: range) -> None:
        for k, (function, args, freed) in zip(part, steps[part.start : part.stop], strict=True):
            if function is None:
                values[k] = leaf(k, args)
                continue
            if len(args) == 2:  # most; without a list of them it takes three quarters of the time
                a, b = args
                values[k] = function(values[a], values[b])
            else:
                values[k] = function(*[values[a] for a in args])
            for a in freed:
                values[a] = None  # frees its memory

    def run(within: Region | None) -> None:
        for part in walk.parts[within]:
            if isinstance(part, range):
                straight(part)
                continue
            rows = walk.tables[part]
            for n in range(part.passes):
                given.update({k: values[steps[k][1][n]] for k in rows.picked})
                run(part)
                kept.update({(k, n): values[k] for k in rows.kept})
                given.update({k: filled(values[after]) for k, after in part.carried})
            for k, _ in part.carried:
                del given[k]

    run(None)
    return [values[r] for r in walk.program.results]


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
        for _, after in region.carried:
            last[after] = -1
    for r in program.results:
        last[r] = -1
    freed: list[tuple[int, ...]] = [()] * len(operands)
    for a, k in enumerate(last):
        if k >= 0:
            freed[k] += (a,)
    return freed


class NumpyProgram(Runner):
    """A program as NumPy operations."""

    def __init__(self, program: Program) -> None:
        self.program, self.outputs = program, program.outputs

    @functools.cached_property
    def walk(self) -> Walk:
        """The program as calls look at it."""
        return Walk(self.program)

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
                values = iter(evaluate(self.walk, columns, dtype))
                for column in chain.from_iterable(result[part].T for result in results):
                    column[...] = next(values)

    def describe(self) -> list[str]:
        """Return what is run: one NumPy operation after the other."""
        return [f"numpy: {self.program.operations} array operations on up to {CHUNK} states at a time"]


def compile_numpy(program: Program) -> NumpyProgram:
    """Return the program as a function on arrays."""
    return NumpyProgram(program)
