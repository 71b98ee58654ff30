"""Functions on arrays that are on a device: checked, run there by the target `cuda`, and returned in the same kind.

What differs from library to library is a `Library`; all checks and the launch are here. Nothing is moved from device to
device, or converted to another precision: arrays that do not fit together are refused.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np

from cardan._algebra.errors import DTypeError, ParameterError, ShapeError
from cardan._compiler.targets.buffers import Buffer, overlap, row_stride
from cardan._compiler.targets.cuda.runner import DOUBLE, SINGLE, CudaProgram
from cardan._dynamics.call.arguments import broadcast, check_core
from cardan._dynamics.call.compiled import Bound, Compiled
from cardan._dynamics.call.function import Function
from cardan._robot.model import Model


class Layout(NamedTuple):
    address: int  # of its first entry
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in entries
    dtype: np.dtype | None  # None for one that NumPy has not
    device: int  # its number
    writable: bool = True


class Library(ABC):
    """What must be known of a library of arrays."""

    kind: str  # what its arrays are called

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Return whether a value is an array of this library, on a device."""

    @abstractmethod
    def layout(self, array: Any) -> Layout:
        """Return where an array lies."""

    @abstractmethod
    def stream(self, where: str, arrays: Mapping[str, Any], device: int) -> int:
        """Return the handle of the stream on which a device works now for who calls `where` with arrays, by name."""

    @abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: np.dtype, like: Any) -> Any:
        """Return a new array of any content, on the device of another one."""

    @abstractmethod
    def filled(self, number: float, dtype: np.dtype, like: Any) -> Any:
        """Return a number as an array, on the device of another one."""

    @abstractmethod
    def copied(self, where: str, name: str, array: Any, shape: tuple[int, ...]) -> Any:
        """Return an array broadcast to a shape and copied on its device; `ShapeError` if the library cannot do that."""


_SIBLINGS: WeakKeyDictionary[Function, Function] = WeakKeyDictionary()


def on_cuda(function: Any) -> Function:
    """Return a function on the target `cuda`; `ParameterError` for one of another target, or one that is checked."""
    if function.target not in (None, "cuda"):
        got = f"arrays on a device, for a function on({function.target!r})"
        raise ParameterError(function.name, got=got, expected="arrays of NumPy, or the function without target=")
    if function.checked:
        got, expected = "checked=True (or CARDAN_CHECK) and arrays on a device", "on(checked=False)"
        hint = "To look at results, the processor would have to wait for the device."
        raise ParameterError(function.name, got=got, expected=expected, hint=hint)
    if function.target == "cuda":
        return function
    if function not in _SIBLINGS:
        _SIBLINGS[function] = function.on("cuda")
    return _SIBLINGS[function]


def called(library: Library, function: Function, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return what a function returns for arrays of a library on a device; errors as `on_cuda` and `Given`."""
    arrays, options = function.interface.call(model, args, kwargs)
    compiled = on_cuda(function).compiled(model, tuple(arrays), options)
    given = Given(library, function.name, arrays, function.interface.cores(model))
    return compiled.form.rebuilt(given.results(compiled))


def called_bound(library: Library, bound: Bound, arrays: Sequence[Any], out: Any) -> Any:
    function, model, names, options, packed = bound.made_by
    if len(arrays) != len(names):
        raise TypeError(f"{function.name} takes {len(names)} arrays ({', '.join(names)}), got {len(arrays)}")
    compiled = on_cuda(function).compiled(model, names, options)
    given = Given(library, function.name, dict(zip(names, arrays, strict=True)), function.interface.cores(model))
    results = given.results(compiled, packed=packed, out=out)
    if out is not None:
        return out
    return results[0] if packed else compiled.form.rebuilt(results)


class Given:
    """Arrays of one library, device and precision, whose batches broadcast; DTypeError, ShapeError if they are not.

    They have names and core shapes; `where` is the function, for messages.
    """

    def __init__(self, library: Library, where: str, arrays: Mapping[str, Any], cores: Mapping[str, Any]) -> None:
        self.library, self.where = library, where
        first = next((n for n, x in arrays.items() if library.holds(x)), None)
        if first is None:
            hint = "Options are text, whole numbers, truth values, and tuples of these."
            got, expected = "given where an option belongs", "one of the arrays"
            raise DTypeError(where, library.kind, got=got, expected=expected, hint=hint)
        self.like = arrays[first]
        layout = library.layout(self.like)
        self._check_dtype(first, layout)
        self.dtype, self.device = cast("np.dtype", layout.dtype), layout.device
        self.arrays = {n: x if library.holds(x) else self._number(n, x, cores[n]) for n, x in arrays.items()}
        self.layouts = {n: library.layout(x) for n, x in self.arrays.items()}
        for name, found in self.layouts.items():
            self._check(name, found, first)
            check_core(where, name, found.shape, cores[name])
        leading = {n: x.shape[: len(x.shape) - len(cores[n])] for n, x in self.layouts.items()}
        self.batch, self.cores = broadcast(where, leading), cores
        self.size = math.prod(self.batch)
        self.stream = library.stream(where, self.arrays, self.device)

    def results(self, compiled: Compiled, *, packed: bool = False, out: Any = None) -> list[Any]:
        """Return the results of a program on `cuda`, new ones or those in `out`; `packed`: in one array."""
        held = [self._buffer(name) for name in self.arrays]
        shapes = [(*self.batch, *core) for core in compiled.shapes(packed)]
        if out is None:
            arrays = [self.library.empty(shape, self.dtype, self.like) for shape in shapes]
        else:
            arrays = self._given_out(compiled, out, packed, shapes)
        rows = [self._row_buffer(x, core) for x, core in zip(arrays, compiled.shapes(packed), strict=True)]
        if out is not None:
            self._check_apart(held, rows)
        if packed:  # one after the other in one row
            starts = [(rows[0].address + p.start * self.dtype.itemsize, p.stop - p.start) for p in compiled.places]
            rows = [rows[0]._replace(address=address, entries=entries) for address, entries in starts]
        cast("CudaProgram", compiled.run).launch(held, rows, self.size, self.stream)
        return arrays

    def _number(self, name: str, value: Any, core: tuple[int, ...]) -> Any:
        """Return a number as an array; all else is refused, also arrays of this library that are not on a device."""
        if core == () and _is_plain_number(value):
            return self.library.filled(float(value), self.dtype, self.like)
        raise self._of_another_kind(name, value)

    def _of_another_kind(self, name: str, value: Any) -> DTypeError:
        kind = f"{type(value).__module__}.{type(value).__name__}".replace("builtins.", "")
        kind += " in the memory of the processor" if kind == self.library.kind else ""
        expected = f"a {self.library.kind} on device {self.device}, as others are"
        hint = "All arrays of a call are of one library and on one device; nothing is moved unasked."
        return DTypeError(self.where, name, got=f"a {kind}", expected=expected, hint=hint)

    def _check(self, name: str, found: Layout, first: str) -> None:
        self._check_dtype(name, found)
        if found.dtype != self.dtype:
            got, expected = str(found.dtype), f"{self.dtype}, as {first!r} is"
            raise DTypeError(self.where, name, got=got, expected=expected, hint="Nothing is converted unasked.")
        if found.device != self.device:
            got, expected = f"on device {found.device}", f"on device {self.device}, as {first!r} is"
            raise DTypeError(self.where, name, got=got, expected=expected, hint="Nothing is moved unasked.")

    def _check_dtype(self, name: str, found: Layout) -> None:
        if found.dtype is None or found.dtype not in (SINGLE, DOUBLE):  # NumPy takes None for float64
            got = f"a {self.library.kind} of {found.dtype or 'a dtype that NumPy has not'}"
            hint = "Convert it on its device: nothing is converted unasked."
            raise DTypeError(self.where, name, got=got, expected="one of float64 or float32", hint=hint)

    def _buffer(self, name: str) -> Buffer:
        """Return an input as rows, copied on its device if they are not in step."""
        core, layout, array = self.cores[name], self.layouts[name], self.arrays[name]
        stride = row_stride(layout.shape, layout.strides, core, self.batch)
        if stride is None:
            array = self.library.copied(self.where, name, array, (*self.batch, *core))
            layout = self.library.layout(array)
            stride = math.prod(core) if self.size > 1 else 0
        return Buffer(layout.address, self.size, math.prod(core), stride, self.dtype, self.device, array)

    def _row_buffer(self, array: Any, core: tuple[int, ...]) -> Buffer:
        layout, entries = self.library.layout(array), math.prod(core)
        stride = row_stride(layout.shape, layout.strides, core, self.batch)
        if stride is None or (self.size > 1 and abs(stride) < entries):
            expected = "rows in step, each contiguous, and apart from each other"
            raise DTypeError(self.where, "out", got=f"with strides {layout.strides}", expected=expected)
        return Buffer(layout.address, self.size, entries, stride, self.dtype, self.device, array)

    def _given_out(self, compiled: Compiled, out: Any, packed: bool, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        arrays = [out] if packed else compiled.form.parts(out)
        if arrays is None:
            raise DTypeError(self.where, "out", got=f"a {type(out).__name__}", expected=compiled.form.describe())
        for array, shape in zip(arrays, shapes, strict=True):
            if not self.library.holds(array):
                raise self._of_another_kind("out", array)
            layout = self.library.layout(array)
            self._check("out", layout, next(iter(self.arrays)))
            if layout.shape != shape:
                raise ShapeError(self.where, "out", got=layout.shape, expected=str(shape))
            if not layout.writable:
                raise DTypeError(self.where, "out", got="read-only", expected="an array that may be written")
            self.library.stream(self.where, {**self.arrays, "out": array}, self.device)  # is that of the arguments
        return arrays

    def _check_apart(self, held: Sequence[Buffer], rows: Sequence[Buffer]) -> None:
        for k, row in enumerate(rows):
            others = [*zip(self.arrays, held, strict=True), *(("another result", other) for other in rows[:k])]
            for name, other in others:
                if overlap(row, other):
                    hint = "A launch writes some states before it has read others."
                    got, expected = f"in the memory of {name!r}", "memory of its own"
                    raise DTypeError(self.where, "out", got=got, expected=expected, hint=hint)


def _is_plain_number(value: Any) -> bool:
    """Return whether a value is a real number of Python, or of NumPy, as which calls by numbers hand it on."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "fiu"
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
