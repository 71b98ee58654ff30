"""What a target makes of a program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


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
        self, name: str, slow: Callable[..., Any], finish: Callable[[np.ndarray], Any] | None
    ) -> Callable[..., Any] | None:
        """Return a function for Python that takes the arrays as they come, with the least in between; None if none.

        Args:
            name: of that function.
            slow: gets the arguments, as they came, that the function cannot serve itself.
            finish: turns the flattened outputs of one call, shape (batch..., total), into what is returned; None if
                there is one output, which is returned in its own shape.
        """
        return None

    def describe(self) -> list[str]:
        """Return what the target made of the program, a line each; compiled for float64 if it is not yet."""
        return []
