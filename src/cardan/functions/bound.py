"""A function bound to one model: the program itself, with as little as possible around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan.errors import DTypeError, ShapeError
from cardan.functions.arguments import Batch, checked_batch
from cardan.program import Program, Runner


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program for one model and one choice of options, ready to run."""

    program: Program
    run: Runner
    target: str
    rebuild: Callable[[dict[str, Any]], Any]
    seconds: float

    def results(self, flat: np.ndarray, batch: tuple[int, ...]) -> Any:
        """Return the flattened outputs, (size, total), in the form the kernel gave them, shapes (*batch, *core)."""
        named, start = {}, 0
        for output in self.program.outputs:
            part = flat[:, start : start + output.size]
            named[output.name] = part.reshape((*batch, *output.shape))[()]
            start += output.size
        return self.rebuild(named)


class Bound:
    """A function of one model with fixed options: `fast(q, v, a, out=tau)`. Made by `Function.bind`."""

    __slots__ = ("_compiled", "_cores", "_name", "_shapes", "_threads")

    def __init__(self, name: str, compiled: Compiled, cores: dict[str, tuple[int, ...]], threads: int | None) -> None:
        self._name, self._compiled, self._cores, self._threads = name, compiled, cores, threads
        self._shapes = tuple(cores.values())

    def __call__(self, *arrays: Any, out: np.ndarray | None = None) -> Any:
        """Evaluate; the arrays are those of the function, in its order, broadcast against each other.

        Args:
            arrays: shapes (..., core shape).
            out: where to write the result: a contiguous, writable array of its shape and dtype. It may be one of the
                inputs. Only for functions with one result.

        Raises:
            ShapeError, DTypeError: for arrays or an `out` that do not fit.
            TypeError: for a wrong number of arrays.
        """
        batch = self._single_state(arrays) or self._checked(arrays)
        compiled = self._compiled
        if out is None:
            return compiled.results(compiled.run(batch.arrays, batch.size, batch.dtype, self._threads), batch.shape)
        target = self._checked_out(out, batch)
        if any(np.may_share_memory(target, array) for array in batch.arrays):
            target[...] = compiled.run(batch.arrays, batch.size, batch.dtype, self._threads)
        else:
            compiled.run(batch.arrays, batch.size, batch.dtype, self._threads, target)
        return out

    def _single_state(self, arrays: tuple[Any, ...]) -> Batch | None:
        """Return the arrays as they are if they are one state in contiguous float64, the case of a control loop."""
        if len(arrays) != len(self._shapes):
            return None
        for array, shape in zip(arrays, self._shapes, strict=True):
            if type(array) is not np.ndarray or array.dtype != np.float64 or array.shape != shape:
                return None
            if not array.flags.c_contiguous or not array.dtype.isnative:
                return None
        return Batch(list(arrays), (), 1, _DOUBLE)

    def _checked(self, arrays: tuple[Any, ...]) -> Batch:
        if len(arrays) != len(self._cores):
            raise TypeError(
                f"{self._name} takes {len(self._cores)} arrays ({', '.join(self._cores)}), got {len(arrays)}"
            )
        return checked_batch(self._name, dict(zip(self._cores, arrays, strict=True)), self._cores)

    def _checked_out(self, out: Any, batch: Batch) -> np.ndarray:
        """Return `out` as (size, total), a view of it."""
        outputs = self._compiled.program.outputs
        if len(outputs) != 1:
            raise TypeError(f"{self._name} has {len(outputs)} results; out= serves functions with one")
        expected = (*batch.shape, *outputs[0].shape)
        if not isinstance(out, np.ndarray) or out.dtype != batch.dtype or not out.dtype.isnative:
            got = str(getattr(out, "dtype", type(out).__name__))
            raise DTypeError(self._name, "out", got=got, expected=f"an array of {batch.dtype}")
        if out.shape != expected:
            raise ShapeError(self._name, "out", got=out.shape, expected=str(expected))
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise DTypeError(self._name, "out", got="read-only or not contiguous", expected="contiguous and writable")
        return out.reshape(batch.size, outputs[0].size)

    def __repr__(self) -> str:
        return f"<{self._name}({', '.join(self._cores)}) of one model, on {self._compiled.target}>"


_DOUBLE = np.dtype(np.float64)
