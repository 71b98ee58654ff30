"""A traced function made for a target, what there is to say of it, and the same bound to one model."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, Signature
from itertools import combinations
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError, ShapeError
from cardan._algebra.explained import meant
from cardan._compiler.program import Array, Program
from cardan._compiler.program.program import Region, places_of
from cardan._compiler.program.replay import times, whole
from cardan._compiler.runtime.memory import empty
from cardan._compiler.targets import Outline, Runner
from cardan._compiler.targets.llvm.fast_path import held_by
from cardan._compiler.targets.runner import PythonCall
from cardan._dynamics.call.arguments import Batch, check_finite, checked_batch, pieces
from cardan._dynamics.call.conversion import SecondTry
from cardan._dynamics.call.registry import handler_of
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options
from cardan._dynamics.call.traced import Traceable, Traced
from cardan._robot.model import Model
from cardan._robot.model.inputs import LIMITS


class Compiled:
    """A program for one model and one choice of options, ready to run on a target, its results in a form.

    `trace` gives the traced function. It is called only if somebody asks for it: a program from the disk has none. If
    it `read_files` while it was traced, no other model must be given it.
    """

    def __init__(
        self,
        outline: Outline,
        form: Form,
        run: Runner,
        target: str,
        trace: Callable[[], Traced],
        read_files: bool = False,
    ) -> None:
        self.inputs: tuple[Array, ...] = outline.inputs
        self.outputs: tuple[Array, ...] = outline.outputs
        self.digest: str = outline.digest
        self.passes: int = outline.passes
        self.read_files = read_files
        self.form = form
        self.run = run
        self.target = target
        self._trace = trace
        self.places: list[slice] = places_of(self.outputs)

    def times(self, count: int) -> Compiled:
        """Return the program run so many times as often, by the same machine code; see `program.replay.times`."""

        def trace() -> Traced:
            traced = self.traced
            return replace(traced, program=times(traced.program, count))

        other = copy.copy(self)
        other.run, other.passes, other._trace = self.run.times(count), self.passes * count, functools.cache(trace)
        return other

    @property
    def traced(self) -> Traced:
        return self._trace()

    @property
    def program(self) -> Program:
        return self.traced.program

    @property
    def is_single(self) -> bool:
        return self.form.kind == "one"

    def fast_path(
        self,
        name: str,
        slow: Callable[..., Any],
        parts: Sequence[tuple[int, int, int]],
        threads: int | None,
        *,
        packed: bool = False,
    ) -> Callable[..., Any] | None:
        """Return the fast path: a function that takes arrays with the least in between, and leaves the rest to `slow`.

        Its results come as the form says, or packed, side by side in one array (batch..., total).
        """
        if packed or self.is_single:
            return self.run.fast_path(PythonCall(name, slow, parts, packed, threads=threads))
        gathered = self.form.gathered
        finish = None if gathered else lambda *results: self.form.rebuilt(results)
        return self.run.fast_path(PythonCall(name, slow, parts, False, gathered, finish, threads))

    def shapes(self, packed: bool) -> list[tuple[int, ...]]:
        """Return the core shapes of the results, or of the one array where they are side by side."""
        return [(sum(a.size for a in self.outputs),)] if packed else [a.shape for a in self.outputs]

    def new_results(self, batch: Batch, packed: bool = False) -> list[np.ndarray]:
        """Return arrays for the results, of shapes (batch..., core...)."""
        return [empty((*batch.shape, *shape), batch.dtype) for shape in self.shapes(packed)]

    def write(
        self,
        name: str,
        batch: Batch,
        results: Sequence[np.ndarray],
        threads: int | None,
        checked: bool,
        packed: bool = False,
    ) -> None:
        """Write results into arrays such as `new_results` gives; if checked, raise unless all numbers are finite."""
        if checked:
            for argument, array in zip(batch.names, batch.arrays, strict=True):
                own = np.where(np.isinf(array), 0.0, array) if argument in LIMITS else array  # there may be none
                check_finite(name, argument, own, batch.shape)
        rows = [a.reshape(batch.size, math.prod(s)) for a, s in zip(results, self.shapes(packed), strict=True)]
        rows = [rows[0][:, place] for place in self.places] if packed else rows
        for place, arrays in pieces(batch):
            self.run.write(arrays, [row[place] for row in rows], place.stop - place.start, batch.dtype, threads)
        if checked:
            hint = "Its arguments are finite: look for a singular state, or one outside the function's domain."
            for array, shape in zip(results, self.shapes(packed), strict=True):
                check_finite(name, "the result", array.reshape(batch.size, *shape), batch.shape, hint)

    def returned(self, results: Sequence[np.ndarray]) -> Any:
        """Return the results in the form the kernel gave them; those without dimensions as numbers."""
        return self.form.rebuilt([array if array.ndim else array[()] for array in results])


def gufunc_signature(inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> str:
    """Return the NumPy generalized-ufunc signature of arrays, such as `(9),(9),(9)->(9)`."""
    sides = [",".join(f"({','.join(map(str, a.shape))})" for a in side) for side in (inputs, outputs)]
    return "->".join(sides)


def explanation(title: str, compiled: Compiled, units: Mapping[str, str]) -> str:
    """Return a program's arguments, operations, stages, memory traffic and machine code, a line each."""
    program, tree = compiled.program, compiled.traced.tree
    counts = ", ".join(f"{n} {op}" for op, n in program.operation_counts().most_common())
    read, written = (sum(a.size for a in side) for side in (program.inputs, program.outputs))
    passes = ", ".join(f"%{r.start} to %{r.stop - 1} {_how_often(r)}" for r in program.regions)
    any_number = " (by machine code for any number)" if whole(program) else ""
    lines = [
        title,
        "arguments: " + ", ".join(f"{a}" + (f" [{units[a.name]}]" if a.name in units else "") for a in program.inputs),
        f"simplified tree: {tree[1]} numbers that cost operations, of {tree[0]}" if tree else "",
        "operations left after each stage: " + ", ".join(_stages(program)),
        f"{program.operations} operations: {counts}",
        f"run again: {passes}{any_number}; {program.work} operations in all" if passes else "",
        f"{program.multiply_adds} of the sums take a product along (multiply-add)",
        f"{8 * read} bytes read and {8 * written} written a state, in float64",
        f"traced in {compiled.traced.seconds:.3f} s",
        *compiled.run.describe(),
    ]
    return "\n  ".join(line for line in lines if line)


def _how_often(region: Region) -> str:
    """Return how often a region is run, as words."""
    times = f"{region.passes} times" + f" while %{region.going} is true" * region.may_end_early
    return f"only if %{region.going} is true" if region.may_be_skipped else times


def _stages(program: Program) -> list[str]:
    """Return each stage with the operations it left, and what it saved."""
    before, lines = None, []
    for stage, left in program.history:
        saved = f" (-{before - left})" if before is not None and before != left else ""
        lines.append(f"{stage} {left}{saved}")
        before = left
    return lines


class _Signature:
    """What `inspect.signature` says of a bound function: its arrays with their defaults, and `out=`.

    From the first array without a default behind one with a default on, they are by keyword.
    """

    def __get__(self, of: Bound | None, owner: type) -> Any:
        if of is None:
            return None  # of the class nothing, that is: look at `__init__`
        kind, before, parameters = Parameter.POSITIONAL_OR_KEYWORD, False, []
        for name in of._cores:
            has_default = name in of._defaults
            kind = Parameter.KEYWORD_ONLY if before and not has_default else kind
            before = before or has_default
            parameters.append(Parameter(name, kind, default=of._defaults.get(name, Parameter.empty)))
        return Signature([*parameters, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])


class Bound:
    """A function of one model with fixed options: `fast(q, v, a, out=tau)`. Made by `Function.bind`.

    Arrays come by position or by keyword; those with a default may be left out. A packed one returns all results side
    by side in one array, shape (..., total): `places` says where each is.
    """

    __slots__ = ("_compiled", "_cores", "_defaults", "_fast_path", "_name", "_packed", "_threads", "made_by")

    def __init__(
        self,
        function: Traceable,
        model: Model,
        names: tuple[str, ...],
        options: Options,
        packed: bool,
        defaults: Mapping[str, Any],
    ) -> None:
        cores = function.interface.cores(model)
        self._defaults = {n: defaults[n] for n in names if n in defaults}
        self._name, self._threads, self._cores = function.name, function.threads, {n: cores[n] for n in names}
        self._compiled = function.compiled(model, names, options)
        # The arguments of `bind`.
        self.made_by: tuple[Any, Model, tuple[str, ...], Options, bool] = (function, model, names, options, packed)
        self._packed = packed

    def __call__(self, *arrays: Any, out: np.ndarray | None = None, **named: Any) -> Any:
        """Evaluate; the arrays are those of the function, in its order, broadcast against each other.

        Args:
            arrays: shapes (..., core shape); numbers, lists and other arrays are converted.
            out: where to write the result: a contiguous, writable array of its shape and dtype. It may be one of the
                inputs. For several results a tuple of such arrays, apart from each other, or what is returned: a named
                tuple, a dictionary. It is returned itself.
            named: arrays by keyword.

        Raises:
            ShapeError, DTypeError: for arrays or an `out` that do not fit.
            TypeError: for arrays that are missing, given twice, or not the function's.
        """
        arrays = self._complete(arrays, named)
        handler = handler_of(arrays)
        if handler is not None and (returned := handler.called_bound(self, arrays, out)) is not NotImplemented:
            return returned
        function, model, *_ = self.made_by
        if any(isinstance(a, type(model)) for a in arrays):
            raise TypeError(f"{self._name} takes {self._misfit(arrays, {})}")
        batch = checked_batch(self._name, dict(zip(self._cores, arrays, strict=True)), self._cores)
        function.interface.check_values(model, batch, function.takes_closed)
        given = self._compiled.new_results(batch, self._packed) if out is None else self._checked_out(out, batch)
        apart = out is None or not any(np.may_share_memory(a, b) for a in given for b in batch.arrays)
        results = given if apart else self._compiled.new_results(batch, self._packed)
        self._compiled.write(self._name, batch, results, self._threads, function.checked, self._packed)
        if not apart:
            for target, result in zip(given, results, strict=True):
                target[...] = result
        if out is not None:
            return out
        return results[0] if self._packed else self._compiled.returned(results)

    __signature__: Any = _Signature()

    @property
    def places(self) -> dict[str, Any]:
        """Indices of the results in a packed one's array, by name: `flat[places["q"]]`."""
        outputs = zip(self._compiled.outputs, self._compiled.places, strict=True)
        indices = [(..., place if array.shape else place.start) for array, place in outputs]
        return dict(zip(self._compiled.form.names, indices, strict=True))

    def __reduce__(self) -> Any:
        return bound, (*self.made_by, self._defaults)

    def _complete(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return all arrays in order: those by position, those by keyword, and the defaults of those left out."""
        first, names = dict(zip(self._cores, arrays, strict=False)), self._cores.keys()
        given = {**self._defaults, **first, **named}
        if len(arrays) > len(names) or given.keys() != names or first.keys() & named.keys():
            raise TypeError(f"{self._name} takes {self._misfit(arrays, named)}")
        return tuple([given[n] for n in names])

    def _misfit(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> str:
        """Return in words what a call should give, what it gives, and what is wrong with that."""
        first, model = list(self._cores)[: len(arrays)], self.made_by[1]
        wrong = [f"{len(self._cores)} arrays ({self._listed()}), got {len(arrays) + len(named)}"]
        if any(isinstance(a, type(model)) for a in arrays):
            wrong[0] += f", the model among them: it is bound to {model.name}"
        wrong += [f"there is no argument {n!r}{meant('', n, self._cores)}" for n in named if n not in self._cores]
        wrong += [f"{n} is given twice" for n in first if n in named]
        wrong += [f"missing {n}" for n in self._cores if n not in (*first, *named, *self._defaults)]
        return "; ".join(wrong)

    def _listed(self) -> str:
        return ", ".join(f"{n}={self._defaults[n]!r}" if n in self._defaults else n for n in self._cores)

    def _checked_out(self, out: Any, batch: Batch) -> list[np.ndarray]:
        compiled, one = self._compiled, self._packed or self._compiled.is_single
        arrays = [out] if one else compiled.form.parts(out)
        if arrays is None:
            expected = f"{compiled.form.describe()}, or a tuple of {len(compiled.outputs)} arrays"
            fields = list(out) if isinstance(out, Mapping) else getattr(out, "_fields", ())
            listed = f" ({', '.join(map(str, fields))})" if fields else ""
            got = f"a {type(out).__name__}{listed}" + (f" of {len(out)}" if isinstance(out, (tuple, list)) else "")
            raise DTypeError(self._name, "out", got=got, expected=expected)
        names = ["out"] if one else [f"out: {a.name}" for a in compiled.outputs]
        for name, array, shape in zip(names, arrays, compiled.shapes(self._packed), strict=True):
            self._check_array(name, array, (*batch.shape, *shape), batch.dtype)
        for (a, x), (b, y) in combinations(zip(names, arrays, strict=True), 2):
            if np.may_share_memory(x, y):
                raise DTypeError(self._name, b, got=f"in the memory of {a!r}", expected="memory of its own")
        return arrays

    def _check_array(self, name: str, array: Any, expected: tuple[int, ...], dtype: np.dtype) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != dtype or not array.dtype.isnative:
            own = isinstance(array, np.ndarray)  # others have a dtype, too: tensors, NumPy's own numbers
            got = str(array.dtype) if own else f"a {type(array).__name__}, no NumPy array"
            raise DTypeError(self._name, name, got=got, expected=f"an array of {dtype} of shape {expected}")
        if array.shape != expected:
            raise ShapeError(self._name, name, got=array.shape, expected=str(expected))
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise DTypeError(self._name, name, got="read-only or not contiguous", expected="contiguous and writable")

    def __repr__(self) -> str:
        return f"<{self._name}({self._listed()}) of one model, on {self._compiled.target}>"


def bound(
    function: Traceable,
    model: Model,
    names: tuple[str, ...],
    options: Options,
    packed: bool = False,
    defaults: Mapping[str, Any] | None = None,
) -> Bound:
    """Return a function of one model with fixed options: one that is called as its fast path is, if it has one.

    Defaults are those of arrays that may be left out; by default the function's own.
    """
    defaults = function.interface.defaults if defaults is None else defaults
    plain = Bound(function, model, names, options, packed, defaults)
    cores, parts = plain._cores.values(), function.interface.unit_parts(model, names)
    again, compiled = SecondTry(cores, functools.partial(Bound.__call__, plain), plain._complete), plain._compiled
    fast_path = (
        None
        if function.checked or function.interface.has_bounds(names)
        else compiled.fast_path(function.name, again, parts, function.threads, packed=packed)
    )
    if fast_path is None:
        return plain
    again.of(fast_path)
    quick = held_by(Bound, "_fast_path")(fast_path)
    for slot in Bound.__slots__:
        if slot != "_fast_path":
            setattr(quick, slot, getattr(plain, slot))
    return quick
