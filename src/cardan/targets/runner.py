"""What a target makes of a program."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.program.ops import Op
from cardan.program.program import Array, Program


@dataclass(frozen=True, slots=True)
class Outline:
    """All of a program but its instructions: what a target needs to run code it made of the program before.

    Attributes:
        name: of the function it computes.
        inputs: the arguments.
        outputs: the results.
        operations: how many are done for a state.
        digest: of what the program computes, in hexadecimal: equal for equal programs, on every machine.
    """

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    operations: int
    digest: str

    @staticmethod
    def of(program: Program) -> Outline:
        """Return the outline of a program."""
        return Outline(program.name, program.inputs, program.outputs, program.work, _digest(program))


def _digest(program: Program) -> str:
    layout = ([a.shape for a in program.inputs], [a.shape for a in program.outputs], program.results)
    layout = (*layout, program.regions) if program.regions else layout
    digest = hashlib.sha256(repr(([op.value for op in Op], layout)).encode())
    codes, ends, operands, values = program.instructions.columns()
    digest.update(codes)
    digest.update(np.insert(operands.astype(np.int64), ends, -1).tobytes())
    digest.update(values.tobytes())
    return digest.hexdigest()


class Runner(ABC):
    """A program on arrays."""

    @abstractmethod
    def __call__(
        self,
        arrays: Sequence[np.ndarray],
        batch: int,
        dtype: np.dtype,
        threads: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the flattened outputs, shape (batch, total).

        Args:
            arrays: the inputs, each contiguous and of the given dtype, `batch` rows one after the other.
            batch: number of states.
            dtype: float64 or float32.
            threads: at most so many; None for the setting of `set_num_threads`.
            out: where to write them: contiguous, of that shape and dtype, apart from the inputs; None for a new array.
        """

    def door(
        self,
        name: str,
        slow: Callable[..., Any],
        finish: Callable[[np.ndarray], Any] | None,
        parts: Sequence[tuple[int, int, int]] = (),
    ) -> Callable[..., Any] | None:
        """Return a function for Python that takes the arrays as they come, with the least in between; None if none.

        Args:
            name: of that function.
            slow: gets the arguments, as they came, that the function cannot serve itself.
            finish: turns the flattened outputs of one call, shape (batch..., total), into what is returned; None if
                there is one output, which is returned in its own shape.
            parts: (argument, start, stop) of entries that must not all be 0, such as a quaternion; where those of the
                first state are, `slow` says so.
        """
        return None

    def describe(self) -> list[str]:
        """Return what the target made of the program, a line each; compiled for float64 if it is not yet."""
        return []
