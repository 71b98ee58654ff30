"""A function bound to one model: the program itself, with as little as possible around it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan.errors import DTypeError, ShapeError
from cardan.functions.arguments import Batch, checked_batch
from cardan.functions.results import RESULT
from cardan.program import Program
from cardan.targets import Runner


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program for one model and one choice of options, ready to run."""

    program: Program
    run: Runner
    target: str
    rebuild: Callable[[dict[str, Any]], Any]
    seconds: float
    _layout: tuple[tuple[str, tuple[int, ...], int], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_layout", tuple((a.name, a.shape, a.size) for a in self.program.outputs))

    def door(self, name: str, slow: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a function that takes the arrays with the least in between, and leaves the rest to `slow`."""
        if [output.name for output in self.program.outputs] == [RESULT]:
            return self.run.door(name, slow, None)
        return self.run.door(name, slow, self._finish)

    def _finish(self, flat: np.ndarray) -> Any:
        """Return what the flattened outputs, shape (batch..., total), stand for: views of them."""
        batch, named, start = flat.shape[:-1], {}, 0
        for name, shape, size in self._layout:
            part = flat[..., start : start + size]
            named[name] = part.reshape(batch + shape) if shape else part[..., 0][()]
            start += size
        return self.rebuild(named)

    def results(self, flat: np.ndarray, batch: tuple[int, ...]) -> Any:
        """Return the flattened outputs, (size, total), in the form the kernel gave them, shapes (*batch, *core)."""
        return self._finish(flat.reshape((*batch, flat.shape[1])))


class Bound:
    """A function of one model with fixed options: `fast(q, v, a, out=tau)`. Made by `Function.bind`."""

    __slots__ = ("_compiled", "_cores", "_name", "_threads")

    def __init__(self, name: str, compiled: Compiled, cores: dict[str, tuple[int, ...]], threads: int | None) -> None:
        self._name, self._compiled, self._cores, self._threads = name, compiled, cores, threads
        door = compiled.door(name, functools.partial(Bound.__call__, self))
        if door is not None:
            # Python looks a call up on the type: a type of its own puts nothing between the caller and the door
            own = {"__slots__": (), "__call__": door, "__doc__": Bound.__doc__}
            self.__class__ = type("Bound", (Bound,), own)  # pyright: ignore[reportAttributeAccessIssue]

    def __call__(self, *arrays: Any, out: np.ndarray | None = None) -> Any:
        """Evaluate; the arrays are those of the function, in its order, broadcast against each other.

        Args:
            arrays: shapes (..., core shape).
            out: where to write the result: a contiguous, writable array of its shape and dtype. It may be one of the
                inputs. For a function with several results, what an earlier call of the same batch shape returned.

        Raises:
            ShapeError, DTypeError: for arrays or an `out` that do not fit.
            TypeError: for a wrong number of arrays.
        """
        batch = self._checked(arrays)
        compiled = self._compiled
        if out is None:
            return compiled.results(compiled.run(batch.arrays, batch.size, batch.dtype, self._threads), batch.shape)
        target = self._checked_out(out, batch)
        if any(np.may_share_memory(target, array) for array in batch.arrays):
            target[...] = compiled.run(batch.arrays, batch.size, batch.dtype, self._threads)
        else:
            compiled.run(batch.arrays, batch.size, batch.dtype, self._threads, target)
        return out

    def _checked(self, arrays: tuple[Any, ...]) -> Batch:
        if len(arrays) != len(self._cores):
            raise TypeError(
                f"{self._name} takes {len(self._cores)} arrays ({', '.join(self._cores)}), got {len(arrays)}"
            )
        return checked_batch(self._name, dict(zip(self._cores, arrays, strict=True)), self._cores)

    def _checked_out(self, out: Any, batch: Batch) -> np.ndarray:
        """Return `out` as (size, total), a view of it."""
        outputs = self._compiled.program.outputs
        if [output.name for output in outputs] != [RESULT]:
            return self._memory_of(out, batch)
        expected = (*batch.shape, *outputs[0].shape)
        if not isinstance(out, np.ndarray) or out.dtype != batch.dtype or not out.dtype.isnative:
            got = str(getattr(out, "dtype", type(out).__name__))
            raise DTypeError(self._name, "out", got=got, expected=f"an array of {batch.dtype}")
        if out.shape != expected:
            raise ShapeError(self._name, "out", got=out.shape, expected=str(expected))
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise DTypeError(self._name, "out", got="read-only or not contiguous", expected="contiguous and writable")
        return out.reshape(batch.size, outputs[0].size)

    def _memory_of(self, out: Any, batch: Batch) -> np.ndarray:
        """Return the memory, (size, total), of which the parts of an earlier result are views."""
        parts = list(out.values()) if isinstance(out, Mapping) else list(out) if isinstance(out, tuple) else [out]
        whole, total = getattr(parts[0], "base", None), len(self._compiled.program.results)
        if isinstance(whole, np.ndarray) and whole.size == batch.size * total and whole.dtype == batch.dtype:
            flat = whole.reshape(batch.size, total)
            again = self._compiled.results(flat, batch.shape)
            known = list(again.values()) if isinstance(again, Mapping) else list(again)
            if len(known) == len(parts) and all(map(_same_view, parts, known)) and whole.flags.writeable:
                return flat
        expected = f"what an earlier call of {self._name} with leading dimensions {batch.shape} returned"
        raise DTypeError(self._name, "out", got=f"a {type(out).__name__}", expected=expected)

    def __repr__(self) -> str:
        return f"<{self._name}({', '.join(self._cores)}) of one model, on {self._compiled.target}>"


def _same_view(a: Any, b: Any) -> bool:
    """Return whether two arrays show the same memory in the same way."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return False
    return a.__array_interface__ == b.__array_interface__ and a.strides == b.strides
