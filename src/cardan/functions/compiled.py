"""A traced function made for a target, and bound to one model: the program itself, with little around it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.errors import DTypeError, ShapeError
from cardan.functions.arguments import Batch, check_finite, checked_batch
from cardan.functions.results import Form
from cardan.functions.traced import Traced
from cardan.program import Array, Program
from cardan.targets import Outline, Runner

if TYPE_CHECKING:
    from cardan.functions.function import Function
    from cardan.functions.signature import Options
    from cardan.model import Model


class Compiled:
    """A program for one model and one choice of options, ready to run.

    Args:
        outline: of the program: the arrays it takes and gives.
        form: the form its results are returned in.
        run: the program on a target.
        target: its name.
        trace: gives the traced function; called when it is asked for, as a program from the disk does without.
    """

    def __init__(
        self,
        outline: Outline,
        form: Form,
        run: Runner,
        target: str,
        trace: Callable[[], Traced],
    ) -> None:
        self.inputs, self.outputs = outline.inputs, outline.outputs
        self.form, self.run, self.target, self._trace = form, run, target, trace
        self.layout = tuple(_places(self.outputs))

    @property
    def traced(self) -> Traced:
        """Return the stage before this one."""
        return self._trace()

    @property
    def program(self) -> Program:
        """Return the program."""
        return self.traced.program

    @property
    def is_single(self) -> bool:
        """Return whether there is one result, returned as it is."""
        return self.form.kind == "one"

    def door(
        self, name: str, slow: Callable[..., Any], parts: Sequence[tuple[int, int, int]], *, packed: bool = False
    ) -> Callable[..., Any] | None:
        """Return a function that takes the arrays with the least in between, and leaves the rest to `slow`.

        Its results come as the form says, or packed, side by side in one array (batch..., total).
        """
        finish = _as_they_are if packed else None if self.is_single else self._finish
        return self.run.door(name, slow, finish, parts)

    def evaluate(
        self, name: str, batch: Batch, threads: int | None, checked: bool, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the flattened outputs, shape (size, total).

        Args:
            name: of the function, for messages.
            batch: the arguments.
            threads: over how many threads a large batch is split.
            checked: whether arguments and results must be finite.
            out: where to write.

        Raises:
            NotFiniteError: if they are not.
        """
        if checked:
            for argument, array in zip(batch.names, batch.arrays, strict=True):
                check_finite(name, argument, array, batch.shape)
        flat = self.run(batch.arrays, batch.size, batch.dtype, threads, out)
        if checked:
            hint = "Its arguments are finite: look for a singular state, or one outside the function's domain."
            check_finite(name, "the result", flat, batch.shape, hint)
        return flat

    def _finish(self, flat: np.ndarray) -> Any:
        """Return what the flattened outputs, shape (batch..., total), stand for: views of them."""
        results = []
        for place, shape in self.layout:
            part = flat[place]
            if len(shape) != 1:
                part = part.reshape(flat.shape[:-1] + shape) if shape else part[()]
            results.append(part)
        return self.form.rebuilt(results)

    def results(self, flat: np.ndarray, batch: tuple[int, ...]) -> Any:
        """Return the flattened outputs, (size, total), in the form the kernel gave them, shapes (*batch, *core)."""
        return self._finish(flat.reshape((*batch, flat.shape[1])))


def _as_they_are(flat: np.ndarray) -> np.ndarray:
    return flat


def _places(outputs: Sequence[Array]) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Yield the indices of each result in the flattened outputs, and its shape, prepared for calls of microseconds."""
    start = 0
    for array in outputs:
        yield (..., slice(start, start + array.size) if array.shape else start), array.shape
        start += array.size


class Bound:
    """A function of one model with fixed options: `fast(q, v, a, out=tau)`. Made by `Function.bind`.

    A packed one returns all results side by side in one array, shape (..., total): `places` says where each is.
    """

    __slots__ = ("_compiled", "_cores", "_made_by", "_name", "_packed", "_threads")

    def __init__(
        self, function: Function, model: Model, names: tuple[str, ...], options: Options, packed: bool = False
    ) -> None:
        cores = function.interface.cores(model)
        self._name, self._threads, self._cores = function.name, function.threads, {n: cores[n] for n in names}
        self._compiled = compiled = function.compiled(model, names, options)
        self._made_by, self._packed = (function, model, names, options, packed), packed
        slow = functools.partial(Bound.__call__, self)
        parts = function.interface.unit_parts(model, names)
        door = None if function.checked else compiled.door(self._name, slow, parts, packed=packed)
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
        run = functools.partial(self._compiled.evaluate, self._name, batch, self._threads, self._made_by[0].checked)
        if out is None:
            flat = run()
            return (
                flat.reshape((*batch.shape, flat.shape[1]))
                if self._packed
                else self._compiled.results(flat, batch.shape)
            )
        target = self._checked_out(out, batch)
        if any(np.may_share_memory(target, array) for array in batch.arrays):
            target[...] = run()
        else:
            run(target)
        return out

    @property
    def places(self) -> dict[str, Any]:
        """Indices of the results in a packed one's array, by name: `flat[places["q"]]`."""
        return dict(zip(self._compiled.form.names, (place for place, _ in self._compiled.layout), strict=True))

    def __reduce__(self) -> Any:
        return Bound, self._made_by

    def _checked(self, arrays: tuple[Any, ...]) -> Batch:
        if len(arrays) != len(self._cores):
            raise TypeError(
                f"{self._name} takes {len(self._cores)} arrays ({', '.join(self._cores)}), got {len(arrays)}"
            )
        batch = checked_batch(self._name, dict(zip(self._cores, arrays, strict=True)), self._cores)
        function, model, *_ = self._made_by
        function.interface.check_configurations(model, batch)
        return batch

    def _checked_out(self, out: Any, batch: Batch) -> np.ndarray:
        """Return `out` as (size, total), a view of it."""
        if not (self._packed or self._compiled.is_single):
            return self._memory_of(out, batch)
        total = sum(a.size for a in self._compiled.outputs)
        expected = (*batch.shape, *((total,) if self._packed else self._compiled.outputs[0].shape))
        if not isinstance(out, np.ndarray) or out.dtype != batch.dtype or not out.dtype.isnative:
            got = str(getattr(out, "dtype", type(out).__name__))
            raise DTypeError(self._name, "out", got=got, expected=f"an array of {batch.dtype}")
        if out.shape != expected:
            raise ShapeError(self._name, "out", got=out.shape, expected=str(expected))
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise DTypeError(self._name, "out", got="read-only or not contiguous", expected="contiguous and writable")
        return out.reshape(batch.size, total)

    def _memory_of(self, out: Any, batch: Batch) -> np.ndarray:
        """Return the memory, (size, total), of which the parts of an earlier result are views."""
        parts = _parts(out)
        whole, total = getattr(parts[0], "base", None), sum(a.size for a in self._compiled.outputs)
        if isinstance(whole, np.ndarray) and whole.size == batch.size * total and whole.dtype == batch.dtype:
            flat = whole.reshape(batch.size, total)
            known = _parts(self._compiled.results(flat, batch.shape))
            if len(known) == len(parts) and all(map(_same_view, parts, known)) and whole.flags.writeable:
                return flat
        expected = f"what an earlier call of {self._name} with leading dimensions {batch.shape} returned"
        raise DTypeError(self._name, "out", got=f"a {type(out).__name__}", expected=expected)

    def __repr__(self) -> str:
        return f"<{self._name}({', '.join(self._cores)}) of one model, on {self._compiled.target}>"


def _parts(results: Any) -> list[Any]:
    """Return several results, those within others too, or one, as a list."""
    parts = list(results.values()) if isinstance(results, Mapping) else results
    return [e for part in parts for e in _parts(part)] if isinstance(parts, (list, tuple)) and parts else [results]


def _same_view(a: Any, b: Any) -> bool:
    """Return whether two arrays show the same memory in the same way."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return False
    return a.__array_interface__ == b.__array_interface__ and a.strides == b.strides
