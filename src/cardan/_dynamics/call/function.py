"""The compiled function: the dispatch from a call to the program of its model.

`@cardan.function` makes one from plain Python. Called on arrays, it is traced once for the model, compiled and run on
the whole batch; called on symbols (its own, SymPy's, CasADi's ...) it is the plain Python again, so functions call one
another freely and everything is inlined.
"""

from __future__ import annotations

import functools
import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from weakref import WeakValueDictionary, ref

import numpy as np

from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import ParameterError, RecompilationWarning, StaleProgramError, levels_inside
from cardan._compiler.program import Program
from cardan._compiler.program.ops import Op
from cardan._compiler.program.program import places_of
from cardan._compiler.program.trace import counting_lines, table_of_lines
from cardan._compiler.runtime import reading
from cardan._compiler.targets import Outline, default_target, load_program, target_named
from cardan._compiler.targets.llvm import target as _native_target  # noqa: F401 -- now, not within a process' first call
from cardan._dynamics.call import store
from cardan._dynamics.call.arguments import Shape, checked_batch, is_symbolic, numeric_array, symbolic_array
from cardan._dynamics.call.compiled import Bound, Compiled, bound, explanation, gufunc_signature
from cardan._dynamics.call.registry import handler_of
from cardan._dynamics.call.repeated import Repeated
from cardan._dynamics.call.signature import Options, Signature, check_model, token
from cardan._dynamics.call.sites import CallSites
from cardan._dynamics.call.traced import Kernel, Source, Traced, stands_for
from cardan._robot.model import Model

if TYPE_CHECKING:
    from cardan._robot.model.model import ModelWithInputs

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Key = tuple[tuple[str, ...], Any, str]
"""What one program of a function is made for, besides the model: arrays, tokens of the options, the target."""
MANY = 3  # programs of one function for one model, from which on one more is worth a warning


class Function(Generic[P, R]):
    """A function of a model and arrays, compiled for each model on first use.

    Args:
        kernel: `kernel(model, q, v, ...)`, written over scalars; its array arguments arrive as arrays of symbols. Or
            the `Source` of a function made from another one, such as a derivative.
        shapes: core shapes of array arguments beyond the known names (q, v, a, tau, q0, q1, external_forces); entries
            are numbers or `"nq"`, `"nv"`, `"nbodies"`. Floats are arrays of shape (). All other arguments are options:
            fixed while tracing, hashable.
        returns: core shape of the result, where it is known.
        options: names of arguments that are options even where they are floats.
        simplified: whether the result depends on joint coordinates alone, not on where the bodies' frames are.
        bounds: least and greatest entry of some array arguments, in their units, such as [-]. Calls on arrays that give
            these are checked, and take the slow path: tens of microseconds.
        target: where it runs, `"llvm"`, `"numpy"` or `"cuda"`; by default where its arrays are: for those of NumPy,
            CARDAN_TARGET, or native code.
        threads: over how many threads a large batch is split; by default what `set_num_threads` says.
        checked: whether every call looks for arguments and results that are not finite, and for configurations that
            leave loops of clusters open; by default, whether CARDAN_CHECK is set. Such a call takes a few microseconds
            more, and some hundred with clusters.

    Throughout:
        model: the robot.
        names: names of the arrays that are given.
        optional: names of optional array arguments that will be given, such as `"external_forces"`.
        options: values of the options, such as `frame="tool"`.
        traced: what `trace` returned for the same model and options, if it is known.
        form: `"ir"` (one operation a line), `"c"` (C99) or `"llvm"` (what is compiled for this machine, float64).

    Examples:
        >>> mass_matrix = cardan.mass_matrix
        >>> print(mass_matrix.signature(arm))
        (7)->(7,7)
        >>> fast, packed = mass_matrix.bind(arm), mass_matrix.bind_packed(arm)
        >>> fast(q).shape, packed(q).shape
        ((7, 7), (49,))
        >>> bool(np.allclose(mass_matrix.on("numpy")(arm, q), fast(q)))
        True
        >>> mass_matrix.program(arm).operations > 100
        True
        >>> print(mass_matrix.explain(arm).splitlines()[0])
        mass_matrix(7)->(7,7) for arm7
        >>> "double" in mass_matrix.source(arm, "c")
        True
        >>> mass_matrix.trace(arm).program.name
        'mass_matrix'
        >>> mass_matrix.compiled(arm, ("q",), ()).passes, mass_matrix.traced(arm, ("q",), ()).form.names
        (0, ('result',))
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        kernel: Callable[Concatenate[Model, P], R] | Source,
        shapes: Mapping[str, Shape] | None = None,
        returns: Shape | None = None,
        *,
        options: Sequence[str] = (),
        simplified: bool = False,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        target: str | None = None,
        threads: int | None = None,
        checked: bool | None = None,
    ) -> None:
        if not isinstance(kernel, Source):
            functools.update_wrapper(self, kernel)
            name = getattr(kernel, "__name__", "function")
            interface = Signature(
                name, inspect.signature(kernel), dict(shapes or {}), tuple(options), dict(bounds or {})
            )
            kernel = Kernel(kernel, interface, returns, simplified)
        self.made_from: Source = kernel
        self.interface: Signature = kernel.signature  # its arguments
        self.name: str = kernel.signature.name
        self.parameters: inspect.Signature = kernel.signature.parameters  # those of the kernel, the model first
        self.target = target
        self.threads = threads
        self.checked: bool = os.environ.get("CARDAN_CHECK", "0") != "0" if checked is None else checked
        self._sites = CallSites(self.interface)
        self._fast_paths = self._sites.models.values
        self._cache: ByIdentity[Model, dict[Any, Compiled]] = ByIdentity()
        self._shared: WeakValueDictionary[Any, Compiled] = WeakValueDictionary()  # by the model's content
        self._repeated: dict[Any, Function[P, R]] = {}

    @overload
    def __call__(self, model: Model, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, model: ModelWithInputs, *args: Any, **kwargs: Any) -> R: ...  # those by keyword, too
    def __call__(self, model: Model, *args: Any, **kwargs: Any) -> R:
        """Evaluate on arrays of shape (..., core shape), broadcast against each other, or on symbols.

        Tensors of PyTorch come back as such, with their derivatives (`cardan.interop.torch.wrap`). Where JAX traces, as
        in `jax.jit` and `jax.grad`, a call is one of its program (`cardan.interop.jax.wrap`). Arrays on a device are
        computed there.

        Raises:
            ShapeError, DTypeError: for an argument that does not fit.
            UnknownNameError: for a frame, body or joint that does not exist.
            TraceError: if the function's own code cannot be traced.
        """
        fast_paths = self._fast_paths.get(id(model))
        if fast_paths is None:
            return self._call(model, args, kwargs)
        if not kwargs and (fast_path := fast_paths.get(len(args))) is not None:  # arrays alone, all by position
            return fast_path(*args)
        return self._sites.call(fast_paths, model, args, kwargs, self._call)

    def _call(self, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        handler = handler_of((*args, *kwargs.values()))
        if handler is not None:
            check_model(self.name, model)
            return handler.called(self, model, args, kwargs)
        arrays, options = self.interface.call(model, args, kwargs)
        cores = self.interface.cores(model)
        if stands_for(model) is not None or any(is_symbolic(value) for value in arrays.values()):
            symbols = {n: symbolic_array(self.name, n, value, cores[n]) for n, value in arrays.items()}
            return self.made_from.inline(model, symbols, options)
        batch = checked_batch(self.name, arrays, cores)
        self.interface.check_values(model, batch, self.takes_closed)
        compiled = self.compiled(model, tuple(arrays), options)
        results = compiled.new_results(batch)
        compiled.write(self.name, batch, results, self.threads, self.checked)
        if not self.checked:
            self._sites.open(model, args, kwargs, compiled, self._call, self.threads)
        return compiled.returned(results)

    def compiled(
        self, model: Model, names: tuple[str, ...], options: Options, traced: Traced | None = None
    ) -> Compiled:
        """Return the program for the arrays and options given, made once; of what was `traced`, if that is known.

        It is looked up by the model, then by the content of the model, then on disk; else it is traced. A model with a
        user's code in it has no digest and shares no program: what that code reads may be something else by now.
        """
        target, source = self.target or default_target(), self.made_from
        key = names, token(options), target
        programs = self._cache.setdefault(model, {})
        if key in programs:
            return programs[key]
        self._warn_of_many(model, programs, key)
        if isinstance(source, Repeated) and source.count > 1:  # one program, known to the function that is run once
            found = source.once.on(target).compiled(model, names, options).times(source.count)
            return programs.setdefault(key, found)
        digest = model.digest
        found = self._shared.get((digest, key)) if digest else None
        if found is None:
            found = self._made(model, options, key, traced)
            if digest and not found.read_files:
                # of several threads that made it at once all take one, whose machine code is loaded once
                found = self._shared.setdefault((digest, key), found)
        return programs.setdefault(key, found)

    def _made(self, model: Model, options: Options, key: Key, known: Traced | None) -> Compiled:
        """Return the program with its machine code: as it was found on disk, or traced now.

        StaleProgramError comes later, if a program from the disk must be traced, and that gives another one: because a
        global has changed, say.
        """
        names, _, target = key
        name = store.name_of(self.made_from, model, names, options) if target_named(target).keeps else None
        kept = store.load(name) if name else None
        if kept is None:
            read_before = reading.latest()
            traced = replace(known or self.made_from.traced(model, names, options), key=name)
            outline, read_files = Outline.of(traced.program), reading.latest() != read_before
            if name and not read_files:
                store.save(name, outline, traced.form)
            run = load_program(outline, lambda: traced.program, target)
            return Compiled(outline, traced.form, run, target, lambda: traced, read_files)
        (outline, form), first = kept, ref(model)

        @functools.cache
        def trace() -> Traced:  # for a model that is alive now: whoever asks has one
            alive = first() or next(m for m, programs in self._cache.items() if programs.get(key) is compiled)
            traced = known or self.made_from.traced(alive, names, options)
            if Outline.of(traced.program) != outline:
                raise StaleProgramError(self.name)
            return replace(traced, key=name)

        # all but the instructions is known; they are traced if somebody asks for them
        compiled = Compiled(outline, form, load_program(outline, lambda: trace().program, target), target, trace)
        return compiled

    def _warn_of_many(self, model: Model, programs: Mapping[Key, Any], key: Key) -> None:
        """Warn once, when another value of an option begins to cost."""
        alike = [known for known in programs if (known[0], known[2]) == (key[0], key[2])]
        if len(alike) == MANY:
            chosen = zip(self.interface.open, *(known[1] for known in alike), strict=False)
            names = [name for name, *values in chosen if len(set(values)) > 1]
            warnings.warn(RecompilationWarning(self.name, model.name, MANY + 1, names), stacklevel=levels_inside())

    def trace(self, model: Model, *optional: str, **options: Any) -> Traced:
        """Return the function traced for a model: its program and the form of its results, which can be pickled."""
        return self.traced(model, *self.interface.required(model, options, optional))

    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced:
        """Return the function traced for a model, the stage before compilation.

        Args:
            model: the robot.
            names: of the arrays that are given.
            options: values of the options.
            order: how many derivatives will be taken of it.
        """
        key, traced = (names, token(options), self.target or default_target()), None
        if order and key not in self._cache.setdefault(model, {}):
            traced = self.made_from.traced(model, names, options, order)
            if traced.program.order is not None:  # what is only run is another program
                return traced
        compiled = self.compiled(model, names, options, traced)
        if compiled.read_files:  # so does the trace of what is made from it
            reading.note()
        as_often = order == 0 or compiled.program.order is None
        return compiled.traced if as_often else self.made_from.traced(model, names, options, order)

    def bind(self, model: Model, *optional: str, **options: Any) -> Bound:
        """Return the function of one model with fixed options, for loops: less to check at each call.

        Numbers that have a default, here or in the function, may be left out of a call. The values of a model's inputs
        (`Model.with_inputs`) come after the function's own arrays, in the inputs' order.
        """
        return self._bind(model, optional, options, packed=False)

    def bind_packed(self, model: Model, *optional: str, **options: Any) -> Bound:
        """Return the same as `bind`, but its results are one array, side by side: a row of numbers for each state.

        `places` of what is returned says where each result is in it. One array takes a tenth of a microsecond less to
        make than each further one does, which counts if a step takes no longer.
        """
        return self._bind(model, optional, options, packed=True)

    def _bind(self, model: Model, optional: Sequence[str], options: Mapping[str, Any], packed: bool) -> Bound:
        names, fixed = self.interface.required(model, options, optional)
        numbers = {n: value for n, value in options.items() if n in names}
        for n, value in numbers.items():
            numeric_array(f"{self.name}.bind", n, value)
        return bound(self, model, names, fixed, packed, self.interface.defaults | numbers)

    def on(
        self, target: str | None = None, *, threads: int | None = None, checked: bool | None = None
    ) -> Function[P, R]:
        """Return the same function on another target, with another number of threads, or checking its numbers.

        Args:
            target: `"llvm"`, `"numpy"` or `"cuda"`; the same by default.
            threads: at most so many for a large batch; by default what `set_num_threads` says.
            checked: whether a call raises `NotFiniteError` for arguments and results that are not finite, and
                `OpenLoopError` for configurations that leave loops of clusters open.

        Raises:
            UnknownNameError: if there is no such target.
            ParameterError: if the number of threads is invalid.
        """
        if target is not None:
            target_named(target, where=self.name)
        threads = None if threads is None else whole("number of threads", threads, 1)
        checked = self.checked if checked is None else checked
        sibling = Function(self.made_from, target=target or self.target, threads=threads, checked=checked)
        functools.update_wrapper(sibling, self, updated=())
        sibling._cache, sibling._shared = self._cache, self._shared  # kept by target: a second `on` finds them
        return sibling

    @property
    def takes_closed(self) -> bool:
        """Whether a call refuses configurations that leave loops open; what returns one may close it (`normalize`)."""
        return self.checked and self.made_from.returns != ("nq",)

    def repeated(self, count: int, carry: Mapping[str, str] | None = None) -> Function[P, R]:
        """Return the function that runs this one several times on its own results, all in one program.

        Its results are those of as many calls, to the last bit, and those of the last one. Many short steps take less
        time so: a state stays in the processor's registers and first cache.

        Args:
            count: how often, at least once. All counts share one program and its machine code.
            carry: names of arguments, and of the results of the same shape that take their place in the next pass:
                `{"q": "q_next"}`. By default, all results with the name and shape of an argument. The other
                arguments are the same in each pass.

        Raises:
            ParameterError, DTypeError: for an invalid count or `carry`; when called, if nothing is carried.
            UnknownNameError, ShapeError: when called, for a name that does not exist, and shapes that differ.

        Examples:
            >>> @cardan.function
            ... def step(model, q, v):
            ...     return {"q": cardan.integrate(model, q, 0.01 * v), "v": v}
            >>> bool(np.allclose(step.repeated(10)(arm, q, v)["q"], q + 0.1 * v))
            True
        """
        source = Repeated(self, count, carry)
        key = source.count, source.carry
        if key not in self._repeated:
            text = f"Run {self.name} {source.count} times on its own results.\n\n{self.__doc__ or ''}".rstrip()
            self._repeated[key] = made_into(self, source, text)
        return self._repeated[key]

    def program(self, model: Model, **options: Any) -> Program:
        """Return the program for a model: printable, countable. Optional array arguments are left out."""
        return self._plain(model, options).program

    def explain(self, model: Model, *, by_line: bool = False, **options: Any) -> str:
        """Return what the program for a model is made of and what became of it, as text.

        Args:
            model: the robot.
            options: values of the options.
            by_line: whether the operations are listed by the line of source that wrote them, before the passes. The
                function is traced again for that. Operations of a derivative have no line: they are made from another
                program's.
        """
        compiled = self._plain(model, options)
        title = f"{self.name}{gufunc_signature(compiled.inputs, compiled.outputs)} for {model.name}"
        text = explanation(title, compiled, self.interface.units)
        if not by_line:
            return text
        with counting_lines() as counter:
            self.made_from.traced(model, *self.interface.required(model, options))
        return "\n  ".join([text, "operations by line, as traced:", *table_of_lines(counter)])

    def source(self, model: Model, form: str = "ir", **options: Any) -> str:
        """Return the program for a model as text.

        Raises:
            UnknownNameError: if there is no such form.
        """
        write: Any = target_named(form, "text", f"{self.name}.source").text
        return write(self.program(model, **options))

    def sparsity(self, model: Model, *optional: str, **options: Any) -> Any:
        """Return which entries of the results can be other than 0, for any values of the arguments.

        Of a derivative it is the sparsity pattern that solvers ask for. Read from the program, exact for what it does:
        an entry that is False is the constant 0 there; one that is True may still be 0 for reasons numbers alone know.

        Returns:
            Arrays of truth values, shaped and named as the results of one state.

        Examples:
            >>> pattern = cardan.derivative(cardan.frame_transform, "q").sparsity(arm, frame="elbow")
            >>> pattern.any(axis=(0, 1)).tolist()  # the joints that move the elbow
            [True, True, True, True, False, False, False]
        """
        traced = self.trace(model, *optional, **options)
        program, form = traced.program, traced.form
        found = np.ones(program.entries, bool)
        instructions = (program.instructions[r] for r in program.results)
        found[program.result_places()] = [i.op is not Op.CONST or i.value != 0.0 for i in instructions]
        places = places_of(program.outputs)
        return form.rebuilt([found[own].reshape(a.shape) for own, a in zip(places, program.outputs, strict=True)])

    def signature(self, model: Model, **options: Any) -> str:
        """Return the NumPy generalized-ufunc signature for a model, such as `(9),(9),(9)->(9)`."""
        compiled = self._plain(model, options)
        return gufunc_signature(compiled.inputs, compiled.outputs)

    def _plain(self, model: Model, options: Mapping[str, Any]) -> Compiled:
        return self.compiled(model, *self.interface.required(model, options))

    def __content__(self) -> Any:
        return self.made_from.content()

    def __reduce__(self) -> Any:
        return _rebuilt, (self.made_from, self.target, self.threads, self.checked)

    def __deepcopy__(self, memo: Any) -> Function[P, R]:
        return self

    def __repr__(self) -> str:
        return f"<cardan function {self.name}{self.parameters}>"


def check_function(what: str, function: Any) -> None:
    """Raise `ParameterError` unless this is a compiled function."""
    if not isinstance(function, Function):
        raise ParameterError(what, got=function, expected="one made by @cardan.function, or cardan's own")


def made_into(of: Function[P, R], source: Source, text: str) -> Function[P, R]:
    """Return a function made from another one, which runs where that does, with a docstring."""
    made = Function(source, target=of.target, threads=of.threads, checked=of.checked)
    made.__name__ = made.__qualname__ = source.signature.name
    made.__doc__ = text
    return made


def _rebuilt(source: Source, target: str | None, threads: int | None, checked: bool) -> Function:
    """Return a function that was pickled: the one a module holds, if it is that one."""
    found: Function = source.function() or _of_no_module(source)
    same = (found.target, found.threads, found.checked) == (target, threads, checked)
    return found if same else found.on(target, threads=threads, checked=checked)


@functools.lru_cache(maxsize=128)
def _of_no_module(source: Source) -> Function:
    made = Function(source)
    functools.update_wrapper(made, source.kernel)  # pyright: ignore[reportAttributeAccessIssue]
    return made


@overload
def function(kernel: Callable[Concatenate[Model, P], R], /) -> Function[P, R]: ...
@overload
def function(
    *,
    shapes: Mapping[str, Shape] | None = None,
    returns: Shape | None = None,
    options: Sequence[str] = (),
    simplified: bool = False,
) -> Callable[[Callable[Concatenate[Model, P], R]], Function[P, R]]: ...
def function(
    kernel: Callable[..., Any] | None = None,
    /,
    *,
    shapes: Mapping[str, Shape] | None = None,
    returns: Shape | None = None,
    options: Sequence[str] = (),
    simplified: bool = False,
) -> Any:
    """Make a compiled function of `kernel(model, q, v, ...)`.

    Use it as `@cardan.function`, or with arguments where there are arrays of other names:
    `@cardan.function(shapes={"target": (3,)})`. See `Function`.

    Args:
        kernel: `kernel(model, q, v, ...)`, written over scalars; its array arguments arrive as arrays of symbols.
        shapes: core shapes of array arguments of other names, as for `Function`.
        returns: core shape of the result, where it is known.
        options: names of arguments that are options even where they are floats.
        simplified: whether the result depends on joint coordinates alone, not on where the bodies' frames are.

    Returns:
        A `Function`, or, without a kernel, what makes one of it.

    Examples:
        >>> @cardan.function
        ... def energy(model, q, v):
        ...     return cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q)
        >>> energy(arm, q, v).shape
        ()
    """

    def made(kernel: Callable[..., Any]) -> Function[..., Any]:
        return Function(kernel, shapes, returns, options=options, simplified=simplified)

    return made if kernel is None else made(kernel)
