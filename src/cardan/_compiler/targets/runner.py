"""What a target makes of a program."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_fields import ByFields
from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import Array, Program, places_of
from cardan._compiler.program.replay import whole
from cardan._compiler.runtime.memory import empty


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outline(ByFields):
    """All of a program but its instructions: what a target needs to run code it made of the program before."""

    name: str  # of the function it computes
    inputs: tuple[Array, ...]  # the arguments
    outputs: tuple[Array, ...]  # the results
    operations: int  # how many are done for a state
    # of what the program computes, in hexadecimal: equal for equal programs, on every machine. How often a program is
    # run as a whole is left out, as one machine code serves all counts.
    digest: str
    passes: int = 0  # how often it is run as a whole, on its own results; 0 if it is not repeated

    @staticmethod
    def of(program: Program) -> Outline:
        first = whole(program)
        passes = first.passes if first else 0
        return Outline(program.name, program.inputs, program.outputs, program.usual_work, _digest(program), passes)

    def times(self, count: int) -> Outline:
        """Return the outline of the program run so many times as often; see `program.replay.times`."""
        return replace(self, operations=self.operations * count, passes=self.passes * count) if self.passes else self


def _digest(program: Program) -> str:
    layout = ([a.shape for a in program.inputs], [a.shape for a in program.outputs], program.results)
    placed = [(a.name, a.in_lanes, a.by) for a in (*program.inputs, *program.outputs) if a.in_lanes or a.by]
    layout = (*layout, placed) if placed else layout
    regions = program.regions
    if whole(program):
        regions = (regions[0]._replace(passes=1), *regions[1:])
    layout = (*layout, regions) if regions else layout
    layout = (*layout, program.tables, program.columns) if program.tables or program.columns else layout
    # What came later is in no digest of a program without it.
    later = [op for op in (Op.CELL, Op.HELD) if not program.instructions.count_of(op)]
    digest = hashlib.sha256(repr(([op.value for op in Op if op not in later], layout)).encode())
    codes, ends, operands, values = program.instructions.columns()
    digest.update(codes)
    digest.update(np.insert(operands.astype(np.int64), ends, -1).tobytes())
    digest.update(values.tobytes())
    return digest.hexdigest()


Gathered = type[tuple[Any, ...]] | tuple[str, ...] | None
"""What several results are returned in: a kind of tuple, or a dictionary with these names; None for neither."""

Arrays = Sequence[np.ndarray]


class PythonCall(NamedTuple):
    name: str  # of the function
    slow: Callable[..., Any]  # gets the arguments, as they came, that the fast path cannot serve
    # (argument, start, stop) of entries that must not all be 0, such as a quaternion; `slow` says of which states
    parts: Sequence[tuple[int, int, int]] = ()
    packed: bool = False  # whether outputs are returned side by side, as one array of shape (batch..., total)
    gathered: Gathered = None  # what several outputs are returned in
    finish: Callable[..., Any] | None = None  # makes of several outputs what is returned
    threads: int | None = None  # that `slow` splits a large batch over; None for what `set_num_threads` set


class Runner(ABC):
    """A program on arrays."""

    outputs: tuple[Array, ...]  # the program's

    @abstractmethod
    def write(self, arrays: Arrays, results: Arrays, batch: int, dtype: np.dtype, threads: int | None = None) -> None:
        """Compute the outputs.

        Args:
            arrays: the inputs, each contiguous and of the given dtype, `batch` rows one after the other.
            results: where to write the outputs, each of shape (batch, entries) and of that dtype, apart from the inputs
                and from each other; the entries of a row lie one after the other, rows may be further apart.
            batch: number of states.
            dtype: float64 or float32.
            threads: at most so many; None for the setting of `set_num_threads`.
        """

    @abstractmethod
    def times(self, count: int) -> Runner:
        """Return the program run so many times as often, by the same machine code; see `program.replay.times`."""

    def __call__(
        self, arrays: Arrays, batch: int, dtype: np.dtype, threads: int | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the outputs side by side, shape (batch, total): a new array, or `out`; see `write`."""
        places = places_of(self.outputs)
        flat = empty((batch, places[-1].stop if places else 0), dtype) if out is None else out
        self.write(arrays, [flat[:, place] for place in places], batch, dtype, threads)
        return flat

    def fast_path(self, call: PythonCall) -> Callable[..., Any] | None:
        """Return a function for Python that takes the arrays as they come, with the least in between; None if none."""
        return None

    def describe(self) -> list[str]:
        """Return what the target made of the program, a line each; compiled for float64 if it is not yet."""
        return []
