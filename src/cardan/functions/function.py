"""The compiled function: an algorithm, its signature and a program for each model.

`@cardan.function` makes one from plain Python. Called on arrays, it is traced once for the model, compiled and run on
the whole batch; called on symbols (its own, SymPy's, CasADi's ...) it is the plain Python again, so functions call one
another freely and everything is inlined.
"""

from __future__ import annotations

import functools
import inspect
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any, overload
from weakref import WeakKeyDictionary

import numpy as np

from cardan.errors import DTypeError, ParameterError, UnknownNameError
from cardan.functions.arguments import SHAPES, Shape, checked_batch, core_shape, is_symbolic, symbolic_array
from cardan.functions.bound import Bound, Compiled
from cardan.functions.results import RESULT, named_results, rebuilder
from cardan.model import Model
from cardan.program import Array, Program, trace
from cardan.targets import SOURCES, compile_program, default_target

Options = tuple[tuple[str, Any], ...]


class Function:
    """A function of a model and arrays, compiled for each model on first use.

    Args:
        kernel: `kernel(model, q, v, ...)`, written over scalars; its array arguments arrive as arrays of symbols.
        shapes: core shapes of array arguments beyond the known names (q, v, a, tau, q0, q1, external_forces); entries
            are numbers or `"nq"`, `"nv"`, `"nbodies"`. All other arguments are options: fixed while tracing, hashable.
        returns: core shape of the result, where it is known.
        target: where it runs, `"llvm"` or `"numpy"`; by default CARDAN_TARGET, or native code.
        threads: over how many threads a large batch is split; by default what `set_num_threads` says.
        differentiates: whether the kernel takes the values of a model's inputs as arrays, to differentiate by them,
            instead of a model with these values in it.
    """

    def __init__(
        self,
        kernel: Callable[..., Any],
        shapes: Mapping[str, Shape] | None = None,
        returns: Shape | None = None,
        *,
        target: str | None = None,
        threads: int | None = None,
        differentiates: bool = False,
    ) -> None:
        functools.update_wrapper(self, kernel)
        self.kernel, self.returns, self.target, self.threads = kernel, returns, target, threads
        self.differentiates = differentiates
        self.name: str = getattr(kernel, "__name__", "function")
        self.parameters = inspect.signature(kernel)
        self.shapes = _array_shapes(self.name, self.parameters, dict(shapes or {}))
        rest = list(self.parameters.parameters.values())[1:]
        self._names = {p.name for p in rest}
        self._options = [p.name for p in rest if p.name not in self.shapes]
        self._positional = [p.name for p in rest if p.kind is p.POSITIONAL_OR_KEYWORD]
        self._default_values = {p.name: p.default for p in rest if p.default is not p.empty}
        self._leading = next((k for k, p in enumerate(rest) if p.name not in self.shapes), len(rest))
        self._doors: dict[int, dict[Any, Any]] = {}  # by the model's identity, while it lives
        self._cores: WeakKeyDictionary[Model, dict[str, tuple[int, ...]]] = WeakKeyDictionary()
        self._cache: WeakKeyDictionary[Model, dict[Any, Compiled]] = WeakKeyDictionary()

    def __call__(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        """Evaluate on arrays of shape (..., core shape), broadcast against each other, or on symbols.

        Raises:
            ShapeError, DTypeError: for an argument that does not fit.
            UnknownNameError: for a frame, body or joint that does not exist.
            TraceError: if the function's own code cannot be traced.
        """
        doors = self._doors.get(id(model))
        if doors is not None:
            door = (
                doors.get(len(args))
                if not kwargs and len(args) <= self._leading
                else doors.get(self._key(args, kwargs))
            )
            if door is not None:
                return door(*args[: self._leading])
        return self._call(model, *args, **kwargs)

    def _call(self, model: Model, /, *args: Any, **kwargs: Any) -> Any:
        """Evaluate, whatever the arguments are."""
        arrays, options = self.arguments(model, args, kwargs)
        cores = self._core_shapes(model)
        if model.filled or any(is_symbolic(value) for value in arrays.values()):
            symbols = {n: symbolic_array(self.name, n, value, cores[n]) for n, value in arrays.items()}
            return self._inline(model, symbols, options)
        batch = checked_batch(self.name, arrays, cores)
        compiled = self.compiled(model, tuple(arrays), options)
        flat = compiled.run(batch.arrays, batch.size, batch.dtype, self.threads)
        if len(arrays) == min(len(args), self._leading):
            self._open_door(model, compiled, args, kwargs)
        return compiled.results(flat, batch.shape)

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what tells calls with other options apart; None where it must be looked at closely."""
        rest = args[self._leading :]
        if not kwargs and not rest:
            return len(args)
        key = (min(len(args), self._leading), token(rest), token(tuple(kwargs.items())))
        try:
            hash(key)
        except (TypeError, ValueError):
            return None  # an array, or memory, among them
        return key

    def _open_door(self, model: Model, compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let later calls of this kind go straight to the machine code."""
        key = self._key(args, kwargs)
        if key is None:
            return
        if id(model) not in self._doors:
            number, doors = id(model), self._doors
            self._doors[number] = {"model": weakref.ref(model, lambda _: doors.pop(number, None))}
        if key not in self._doors[id(model)]:
            known, rest, all_doors = weakref.ref(model), args[self._leading :], self._doors[id(model)]

            def slow(*arrays: Any) -> Any:
                return self._call(known(), *arrays, *rest, **kwargs)  # pyright: ignore[reportArgumentType] -- its caller holds it

            all_doors[key] = compiled.door(self.name, slow)

    def bind(self, model: Model, *optional: str, **options: Any) -> Bound:
        """Return the function of one model with fixed options, for loops: less to check at each call.

        Args:
            model: the robot.
            optional: names of optional array arguments that will be given, such as `"external_forces"`.
            options: values of the options, such as `frame="tool"`.

        The values of a model's inputs (`Model.with_inputs`) come after the function's own arrays, in the inputs' order.
        """
        names, fixed = self._defaults(model, options)
        for name in set(optional) - self.shapes.keys():
            raise UnknownNameError("array argument", name, self.shapes, where=self.name)
        names = tuple(n for n in (*self.shapes, *model.inputs) if n in names or n in optional)
        cores = self._core_shapes(model)
        return Bound(self.name, self.compiled(model, names, fixed), {n: cores[n] for n in names}, self.threads)

    def _core_shapes(self, model: Model) -> dict[str, tuple[int, ...]]:
        if model not in self._cores:
            own = {name: core_shape(shape, model) for name, shape in self.shapes.items()}
            self._cores[model] = own | {name: given.shape for name, given in model.inputs.items()}
        return self._cores[model]

    def on(self, target: str | None = None, *, threads: int | None = None) -> Function:
        """Return the same function on another target, or with another number of threads."""
        sibling = Function(
            self.kernel,
            self.shapes,
            self.returns,
            target=target or self.target,
            threads=threads,
            differentiates=self.differentiates,
        )
        sibling._cache, sibling._cores = self._cache, self._cores  # kept by target, so a second `on` finds them
        return sibling

    def arguments(self, model: Any, args: Any, kwargs: Any) -> tuple[dict[str, Any], Options]:
        """Return the arrays that were given, and the options, by name."""
        if not isinstance(model, Model):
            hint = "Load one with cardan.load(file), or build one with Mechanism(...).model()."
            raise DTypeError(self.name, "model", got=f"a {type(model).__name__}", expected="a cardan.Model", hint=hint)
        inputs = {n: kwargs[n] for n in model.inputs if n in kwargs}
        if model.inputs:
            self._check_inputs(model, inputs)
            kwargs = {n: value for n, value in kwargs.items() if n not in inputs}
        given = {**self._default_values, **dict(zip(self._positional, args, strict=False)), **kwargs}
        if not self._fits(args, kwargs, given):
            self.parameters.bind(model, *args, **kwargs)  # raises: something is missing, unknown or given twice
        arrays = {n: given[n] for n in self.shapes if not self._left_out(n, given[n])} | inputs
        options = tuple((n, given[n]) for n in self._options)
        for n, value in options:
            if isinstance(value, (np.ndarray, list, dict, set)):
                hint = f"If it is data, declare it: @cardan.function(shapes={{{n!r}: (...)}})."
                expected = "an option: text, a number, a truth value"
                raise DTypeError(self.name, n, got=f"a {type(value).__name__}", expected=expected, hint=hint)
        return arrays, options

    def _check_inputs(self, model: Model, given: Mapping[str, Any]) -> None:
        taken = [n for n in model.inputs if n in self._names]
        if taken:
            hint = f"Call it otherwise: with_inputs(my_{taken[0]}=(owner, constant))."
            got = f"an argument of {self.name} itself"
            raise ParameterError(f"input {taken[0]!r} of the model", got=got, expected="another name", hint=hint)
        missing = [n for n in model.inputs if n not in given]
        if missing:
            shape = model.inputs[missing[0]].shape
            hint = "The model's own values: **model.input_values()."
            expected = f"{missing[0]}=..., shape (..., {', '.join(map(str, shape))})" if shape else f"{missing[0]}=..."
            raise ParameterError(f"{self.name}: inputs of the model", got=tuple(given), expected=expected, hint=hint)

    def _fits(self, args: tuple[Any, ...], kwargs: dict[str, Any], given: dict[str, Any]) -> bool:
        """Return whether every argument is there, once: what `inspect.Signature.bind` finds, ten times faster."""
        twice = kwargs.keys() & set(self._positional[: len(args)]) if kwargs else False
        return given.keys() == self._names and len(args) <= len(self._positional) and not twice

    def _left_out(self, name: str, value: Any) -> bool:
        return value is None and self.parameters.parameters[name].default is None

    def _inline(self, model: Model, symbols: Mapping[str, np.ndarray], options: Options) -> Any:
        value = self._run_kernel(model, symbols, options)
        results = {n: a if a.ndim else a[()] for n, a in self._named(model, value).items()}
        return rebuilder(value)(results)

    def _named(self, model: Model, value: Any) -> dict[str, np.ndarray]:
        results = named_results(value)
        if self.returns is not None:
            core, found = core_shape(self.returns, model), results[RESULT]
            if not core or found.shape[1:] != core:  # of several frames, one axis more
                results[RESULT] = found.reshape(core)
        return results

    def _run_kernel(self, model: Model, symbols: Mapping[str, np.ndarray], options: Options) -> Any:
        """Return what the kernel makes of symbols, those of the model's inputs among them."""
        if not self.differentiates:
            inputs = {n: symbols[n] for n in model.inputs}
            model = model.filled_with(inputs) if inputs else model
            symbols = {n: a for n, a in symbols.items() if n not in inputs}
        elif model.filled:
            model, symbols = model.filled.model, {**symbols, **model.filled.values}
        return self.kernel(model, **{n: _bare(a) for n, a in symbols.items()}, **dict(options))

    def compiled(self, model: Model, names: tuple[str, ...], options: Options) -> Compiled:
        """Return the program for the arrays and options given, traced once."""
        programs = self._cache.setdefault(model, {})
        target = self.target or default_target()
        key = (names, token(options), target)
        if key not in programs:
            programs[key] = self._compile(model, names, options, target)
        return programs[key]

    def _compile(self, model: Model, names: tuple[str, ...], options: Options, target: str) -> Compiled:
        started = time.perf_counter()
        rebuild: list[Any] = []

        def run_kernel(*symbols: np.ndarray) -> dict[str, np.ndarray]:
            value = self._run_kernel(model, dict(zip(names, symbols, strict=True)), options)
            rebuild.append(rebuilder(value))
            return self._named(model, value)

        cores = self._core_shapes(model)
        inputs = [Array(n, cores[n]) for n in names]
        program = trace(self.name, run_kernel, inputs)
        seconds = time.perf_counter() - started
        return Compiled(program, compile_program(program, target), target, rebuild[0], seconds)

    def _defaults(self, model: Model, options: Mapping[str, Any]) -> tuple[tuple[str, ...], Options]:
        """Return the required arrays, those of the model's inputs included, and the options with their defaults."""
        parameters = list(self.parameters.parameters.values())[1:]
        for name in options.keys() - set(self._options):
            raise UnknownNameError("option", name, self._options, where=self.name)
        own = [p.name for p in parameters if p.name in self.shapes and p.default is p.empty]
        names = (*own, *model.inputs)
        missing = [p.name for p in parameters if p.name not in self.shapes and p.default is p.empty]
        absent = [n for n in missing if n not in options]
        if absent:
            raise ParameterError(f"{self.name}: options", got=dict(options), expected=f"values for {absent}")
        fixed = tuple((p.name, options.get(p.name, p.default)) for p in parameters if p.name not in self.shapes)
        return names, fixed

    def program(self, model: Model, **options: Any) -> Program:
        """Return the program for a model: printable, countable. Optional array arguments are left out."""
        return self.compiled(model, *self._defaults(model, options)).program

    def explain(self, model: Model, **options: Any) -> str:
        """Return what the program for a model is made of and what became of it, as text."""
        compiled = self.compiled(model, *self._defaults(model, options))
        program = compiled.program
        counts = ", ".join(f"{n} {op}" for op, n in program.operation_counts().most_common())
        history = ", ".join(f"{stage} {n}" for stage, n in program.history)
        read, written = (sum(a.size for a in side) for side in (program.inputs, program.outputs))
        lines = [
            f"{self.name}{self.signature(model, **options)} for {model.name}",
            f"operations left after each stage: {history}",
            f"{program.operations} operations: {counts}",
            f"{program.multiply_adds} of the sums take a product along (multiply-add)",
            f"{8 * read} bytes read and {8 * written} written a state, in float64",
            f"traced in {compiled.seconds:.3f} s",
            *compiled.run.describe(),
        ]
        return "\n  ".join(lines)

    def source(self, model: Model, form: str = "ir", **options: Any) -> str:
        """Return the program for a model as text.

        Args:
            model: the robot.
            form: `"ir"` (one operation a line), `"c"` (C99) or `"llvm"` (what is compiled for this machine, float64).
            options: values of the options, such as `frame="tool"`.

        Raises:
            UnknownNameError: if there is no such form.
        """
        if form not in SOURCES:
            raise UnknownNameError("form", form, SOURCES, where=f"{self.name}.source")
        return SOURCES[form](self.program(model, **options))

    def signature(self, model: Model, **options: Any) -> str:
        """Return the NumPy generalized-ufunc signature for a model, such as `(9),(9),(9)->(9)`."""
        program = self.program(model, **options)
        sides = [
            ",".join(f"({','.join(map(str, a.shape))})" for a in side) for side in (program.inputs, program.outputs)
        ]
        return "->".join(sides)

    def __repr__(self) -> str:
        return f"<cardan function {self.name}{self.parameters}>"


def token(option: Any) -> Any:
    """Return what tells an option from others that Python calls equal: True from 1 and 1.0, 0.0 from -0.0."""
    if type(option) is str:
        return option
    if type(option) is tuple:
        return tuple(map(token, option))
    return (float, option.hex()) if type(option) is float else (type(option), option)


def _bare(array: np.ndarray) -> Any:
    """Return an array, or the scalar in one without dimensions."""
    return array if array.ndim else array[()]


def _array_shapes(where: str, parameters: inspect.Signature, declared: dict[str, Shape]) -> dict[str, Shape]:
    names = list(parameters.parameters)[1:]
    unknown = [n for n in declared if n not in names]
    if unknown:
        raise ParameterError(f"shapes of {where}", got=unknown, expected=f"names among its arguments {names}")
    known = {**SHAPES, **declared}
    return {n: known[n] for n in names if n in known}


@overload
def function(kernel: Callable[..., Any], /) -> Function: ...
@overload
def function(
    *, shapes: Mapping[str, Shape] | None = None, returns: Shape | None = None
) -> Callable[[Callable[..., Any]], Function]: ...
def function(
    kernel: Callable[..., Any] | None = None,
    /,
    *,
    shapes: Mapping[str, Shape] | None = None,
    returns: Shape | None = None,
) -> Any:
    """Make a compiled function of `kernel(model, q, v, ...)`.

    Use it as `@cardan.function`, or with arguments where there are arrays of other names:
    `@cardan.function(shapes={"target": (3,)})`. See `Function`.
    """
    if kernel is None:
        return lambda k: Function(k, shapes, returns)
    return Function(kernel, shapes, returns)
