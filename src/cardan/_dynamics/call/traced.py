"""From a function to a program: the stage before compilation, which can be held, printed, differentiated and pickled.

    Signature -> Traced -> (passes) -> Compiled(target) -> fast path

A `Source` makes a `Traced` for one model and one choice of arrays and options: from a kernel, by running it on symbols,
or from another function's program, by differentiating it (`derivatives.py`).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import pickle
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import Parameter
from itertools import count, islice
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.arrays.implicit_function import all_held, apart, changes, serves
from cardan._algebra.arrays.symbolic import entries_of
from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import FunctionReferenceError, ResultError
from cardan._algebra.manifolds.manifold import matrix_vector
from cardan._algebra.scalar import held
from cardan._compiler.program import Array, Program, trace
from cardan._compiler.program.expr import ColumnArray, Expr, Graph
from cardan._compiler.program.replay import replayed_results, straight
from cardan._compiler.runtime.memory import collection_paused
from cardan._dynamics.call.arguments import Shape, core_shape
from cardan._dynamics.call.registry import note_derivatives
from cardan._dynamics.call.results import Form, form_of, packed
from cardan._dynamics.call.signature import Options, Signature
from cardan._robot.model import Model, simplified_tree
from cardan._robot.model.simplify import costly_numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Traced(ByFields):
    """A function, traced for one model and one choice of its arrays and options."""

    program: Program  # what it computes
    form: Form  # how the program's outputs are returned
    seconds: float = field(default=0.0, compare=False)  # what the tracing took
    # the digest of all it is a function of: kernel, model, arrays and options; None where that is not known, or the
    # target keeps nothing
    key: str | None = field(default=None, compare=False)
    # for a function of the simplified tree, numbers that cost operations in the model's own and in that
    tree: tuple[int, int] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return str(self.program)


class Standing(NamedTuple):
    """What a model with symbols among its constants stands for: a model with inputs, and their values by name."""

    model: Model
    values: Mapping[str, Any]


_known: ContextVar[dict[int, tuple[Model, Standing]] | None] = ContextVar("cardan_trace", default=None)


@contextmanager
def standing_for(model: Model, values: Mapping[str, Any]) -> Iterator[Model]:
    """Give a model with values in place of its inputs, known inside as standing for it.

    A function of a model with inputs (`Model.with_inputs`) is traced on a model with the inputs' symbols in their
    places. Functions called within, and derivatives, must know what that model stands for; nobody else needs to.
    """
    if not values:
        yield model
        return
    twin = model.filled_with(values)
    token = _known.set({**(_known.get() or {}), id(twin): (twin, Standing(model, values))})
    try:
        yield twin
    finally:
        _known.reset(token)


def stands_for(model: Model) -> Standing | None:
    """Return what a model stands for; None for a model of numbers."""
    known = _known.get()
    found = known.get(id(model)) if known else None
    return found[1] if found else None


class Source(ABC):
    """What a compiled function is made from."""

    signature: Signature
    returns: Shape | None = None
    _known: Any = None

    @property
    def known(self) -> Any:
        """What is known of its derivatives, a `Known`; None for most. It may be noted in a module not yet imported."""
        note_derivatives()
        return self._known

    @known.setter
    def known(self, known: Any) -> None:
        self._known = known

    @abstractmethod
    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced:
        """Return the program for a model, for arrays of these names, in this order, and these options.

        `order` is how often it will be differentiated (`cardan.implicit`).
        """

    @abstractmethod
    def inline(self, model: Model, arrays: Mapping[str, np.ndarray], options: Options) -> Any:
        """Return the results, in their form, for arrays of symbols."""

    @abstractmethod
    def function(self) -> Any:
        """Return the function made from it, for one that was pickled; None if it must be made anew."""

    @abstractmethod
    def content(self) -> Any:
        """Return what tells this source from every other: things whose content (`_algebra/content.py`) says so."""


class Traceable(Protocol):
    """What a source needs of the function it is made from: `Function` itself is made of sources, and stands above."""

    target: str | None
    threads: int | None
    checked: bool

    @property
    def name(self) -> str: ...
    @property
    def interface(self) -> Signature: ...
    @property
    def made_from(self) -> Source: ...
    @property
    def takes_closed(self) -> bool: ...
    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced: ...
    def compiled(self, model: Model, names: tuple[str, ...], options: Options) -> Any: ...
    def on(self, target: str | None = None) -> Any: ...
    def repeated(self, count: int, carry: Mapping[str, str] | None = None) -> Any: ...


class OfProgram(Source):
    """What a function is made from that transforms the program of another one."""

    def inline(self, model: Model, arrays: Mapping[str, np.ndarray], options: Options) -> Any:
        """Return the results by running the program on symbols; its loops are loops there, where those are kept."""
        standing = stands_for(model)
        if standing is not None:
            model, arrays = standing.model, {**arrays, **standing.values}
        graph = next((e.graph for a in arrays.values() for e in a.ravel().tolist() if type(e) is Expr), None)
        traced = self.traced(model, self.signature.order(model, arrays), options, graph.order if graph else 0)
        if graph and traced.program.order is not None:
            graph.implicit = True
        entries = [e for a in traced.program.inputs for e in arrays[a.name].ravel().tolist()]
        has_loops = graph is not None and graph.regions is not None
        program = traced.program if has_loops else straight(traced.program)
        flat = iter(replayed_results(program, entries, program.regions))
        return traced.form.rebuilt([bare(symbolic(islice(flat, a.size), a.shape)) for a in program.outputs])


class Known(NamedTuple):
    """Derivatives of a function that are known: `by` has those by some arguments, of configurations by the tangent.

    `by` returns the parts of the first result by each argument, then those of the next one, as far as they are known;
    nothing where none are, for this model or with these options. Behind those of all results may be the results, where
    they are found on the way: then they take the place of the kernel's, which are computed by nobody.

    `back` pulls weights of all results back to these arguments, along tangents: it takes them as `weights` besides, and
    is a function whose derivatives by the arguments and the weights are known.
    """

    by: Callable[..., Sequence[Any]]
    wrt: tuple[str, ...]
    back: Any = None

    def of(
        self, kernel: Kernel, model: Model, arrays: Mapping[str, Any], options: Options, results: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Return a kernel's results, with these derivatives where they serve: dy = J dx."""
        x = {name: arrays[name] for name in self.wrt}
        order = min(serves([*x.values()], y) for y in results)
        if not order:
            return results
        others = {name: bare(a) for name, a in arrays.items() if name not in x} | dict(options)
        call = Call(
            self,
            model,
            others,
            kernel.signature.shapes,
            tuple(a.shape for a in x.values()),
            sum(y.size for y in results),
        )
        graph = next(e.graph for y in results for e in y.ravel().tolist() if type(e) is Expr)
        if order == 2:
            return call.noted(graph, [e for a in x.values() for e in a.ravel().tolist()], results)
        with graph.still():
            parts = [*self.by(model, **{name: bare(a) for name, a in x.items()}, **others)]
        n, found, moved = len(x), [], call.moved(x)
        results = [packed(y) for y in parts[n * len(results) :]] or results
        for k, y in enumerate(results[: len(parts) // n]):
            J = np.concatenate([packed(part).reshape(y.size, -1) for part in parts[n * k : n * (k + 1)]], axis=1)
            dy = matrix_vector([all_held(row) for row in J.tolist()], moved)
            found.append(symbolic(map(held, y.ravel().tolist(), dy), y.shape))
        return found + results[len(found) :]


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call of a function whose derivatives are known: what is not differentiated of it, and what sweeps ask."""

    known: Known
    model: Model
    others: Mapping[str, Any]  # arguments that are numbers, and options
    declared: Mapping[str, Shape]
    shapes: tuple[tuple[int, ...], ...]  # of the arguments by which it is known
    size: int  # entries of all results

    def noted(self, graph: Graph, x: Sequence[Any], results: list[np.ndarray]) -> list[np.ndarray]:
        """Return the results of a call as such, if it is known how they are pulled back."""
        given = [e for a in self.others.values() for e in entries_of(a)]
        if self.known.back is None or self.model.inputs or any(type(e) is Expr for e in given):
            return results
        number = count()
        return [
            symbolic((graph.called((self, next(number)), e, x) for e in y.ravel().tolist()), y.shape) for y in results
        ]

    def arguments(self, x: Sequence[Any]) -> dict[str, np.ndarray]:
        flat = iter(x)
        return {n: symbolic(islice(flat, math.prod(s)), s) for n, s in zip(self.known.wrt, self.shapes, strict=True)}

    def is_configuration(self, name: str) -> bool:
        return self.declared[name] == ("nq",)

    def moved(self, x: Mapping[str, np.ndarray]) -> list[Any]:
        """Return zeros with the derivatives of the arguments, of configurations along the tangent."""
        found, velocity = [], self.model.manifold.configuration_derivative_to_velocity
        for name, a in x.items():
            own = a.ravel().tolist()
            found += velocity(all_held(own), changes(own)) if self.is_configuration(name) else changes(own)
        return found

    def pushed(self, x: Sequence[Any]) -> list[Any]:
        """Return zeros with the derivatives of the results: J is what weights are pulled back by, transposed."""
        given, n = self.arguments(x), len(self.known.wrt)
        graph = next(e.graph for e in x if type(e) is Expr)
        with graph.still():
            weights = np.zeros(self.size)
            parts = self.known.back.made_from.known.by(self.model, **given, **self.others, weights=weights)
        columns = [row for k in range(n) for row in packed(parts[k * (n + 1) + n]).tolist()]
        return [*matrix_vector([all_held([*row]) for row in zip(*columns, strict=True)], self.moved(given))]

    def pulled(self, x: Sequence[Any], weights: Mapping[int, Any]) -> list[Any]:
        """Return what pulls weights of results, by number, back to the entries of the arguments."""
        given, found = self.arguments(x), []
        own = symbolic((weights.get(k, 0.0) for k in range(self.size)), (self.size,))
        adjoint = self.model.manifold.configuration_derivative_to_velocity_adjoint
        for name, g in zip(given, self.known.back(self.model, **given, **self.others, weights=own), strict=True):
            found += adjoint(given[name].tolist(), g.tolist()) if self.is_configuration(name) else g.tolist()
        return found


class Kernel(Source):
    """A plain Python function over scalars, `kernel(model, q, v, ...)`, run on symbols.

    It `returns` one result of that core shape, if it is declared, and none `packed`. One that is `simplified` depends
    on joint coordinates alone, so it is traced on an equivalent model with fewer numbers (`model/simplify.py`).
    """

    def __init__(
        self, kernel: Callable[..., Any], signature: Signature, returns: Shape | None, simplified: bool = False
    ) -> None:
        self.kernel, self.signature, self.returns, self.simplified = kernel, signature, returns, simplified

    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced:
        started = time.perf_counter()
        forms: list[Form] = []

        def run(*symbols: np.ndarray) -> dict[str, np.ndarray]:
            form, results = self._run(model, dict(zip(names, symbols, strict=True)), options)
            forms.append(form)
            return dict(zip(form.names, results, strict=True))

        cores = self.signature.cores(model)
        with collection_paused():
            program = trace(self.signature.name, run, [Array(n, cores[n]) for n in names], regions=True, order=order)
        tree = (costly_numbers(model), costly_numbers(simplified_tree(model))) if self.simplified else None
        return Traced(program, forms[0], time.perf_counter() - started, tree=tree)

    def inline(self, model: Model, arrays: Mapping[str, np.ndarray], options: Options) -> Any:
        form, results = self._run(model, arrays, options, called=True)
        return form.rebuilt([bare(a.array() if isinstance(a, ColumnArray) else a) for a in results])

    def _run(
        self, model: Model, arrays: Mapping[str, Any], options: Options, called: bool = False
    ) -> tuple[Form, list[np.ndarray]]:
        inputs = {n: arrays[n] for n in model.inputs}
        # a configuration alone moves along the tangent anyway: there is no more to know
        known = self.known if called or self.returns != ("nq",) else None
        arrays = {n: a for n, a in arrays.items() if n not in inputs}
        if known is not None:
            arrays |= {n: apart(arrays[n]) for n in known.wrt}
        with standing_for(model, inputs) as given:
            by_position, by_name = self._arguments({**{n: bare(a) for n, a in arrays.items()}, **dict(options)})
            given = simplified_tree(given) if self.simplified else given
            value = self.kernel(given, *by_position, **by_name)
            form, results = self._results(model, value, None if dict(options).get("packed") else self.returns)
            return form, results if known is None else known.of(self, given, arrays, options, results)

    def _arguments(self, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments behind the model: by position as far as the kernel itself takes them so.

        A kernel may stand in for another one (`functools.wraps`), with parameters that have no names: `*args`.
        """
        code = getattr(self.kernel, "__code__", None)  # its own; the signature may be another one's
        if code is None:
            return [], given
        places = len(given) if code.co_flags & inspect.CO_VARARGS else code.co_argcount - 1
        by_position: list[Any] = []
        for name, parameter in islice(self.signature.parameters.parameters.items(), 1, 1 + places):
            value = given.get(name, parameter.default)
            if parameter.kind is not Parameter.POSITIONAL_OR_KEYWORD or value is Parameter.empty:
                break
            by_position.append(value)
            given.pop(name, None)
        return by_position, given

    def _results(self, model: Model, value: Any, returns: Shape | None) -> tuple[Form, list[np.ndarray]]:
        where = self.signature.name
        if returns is None:
            form, results = form_of(value, where)
            return form, [_packed(result, where) for result in results]
        result, expected = _packed(value, where), core_shape(returns, model)
        if not result.size and not math.prod(expected):
            return Form(), [result.reshape(expected)]  # an empty list does not say how many columns it has
        if result.shape[max(0, len(result.shape) - len(expected)) :] != expected:
            raise ResultError(where, got=f"a result of shape {result.shape}", expected=f"{expected}, as it declares")
        return Form(), [result]

    def function(self) -> Any:
        found = resolved(self.kernel.__module__, self.kernel.__qualname__)
        return found if getattr(found, "made_from", None) is self else None

    def __reduce__(self) -> Any:
        if hasattr(self.kernel, "made_by"):  # by a function that makes it again from these
            return _made, self.kernel.made_by  # pyright: ignore[reportFunctionMemberAccess]
        module, name = self.kernel.__module__, self.kernel.__qualname__
        is_found = self.function() is not None
        libraries = [sys.modules[name] for name in BY_VALUE if name in sys.modules]
        is_sent = libraries and (not is_found or module == "__main__")
        code: bytes | None = libraries[0].dumps(self.kernel) if is_sent else None
        if code is None and not is_found:
            raise FunctionReferenceError(module, name)
        if code is not None:
            _SENT[code] = self
        shapes = tuple((n, s if callable(s) else tuple(s)) for n, s in self.signature.declared.items())
        return _kernel, (module, name, code, shapes, self.signature.fixed, self.returns, self.simplified)

    def content(self) -> Any:
        signature = self.signature
        called = (signature.name, str(signature.parameters), dict(signature.declared), signature.fixed)
        return (self.kernel, *called, self.returns, self.simplified)


def _packed(value: Any, where: str) -> Any:
    return value if isinstance(value, ColumnArray) else packed(value, where=where)


_SENT: WeakValueDictionary[bytes, Kernel] = WeakValueDictionary()
"""Kernels that went along as code, by that: in the process they came from they are themselves."""


def _kernel(
    module: str, name: str, code: bytes | None, shapes: Any, fixed: Any, returns: Any, simplified: bool
) -> Kernel:
    """Return a kernel from where it stands, or from its code: another one may stand there, one redefined, say."""
    known = getattr(resolved(module, name), "made_from", None) if code is None else _SENT.get(code)
    if isinstance(known, Kernel):
        return known
    found = resolved(module, name) if code is None else _loaded(code)
    if found is None:
        raise FunctionReferenceError(module, name)
    return _kernel_of(found, shapes, fixed, returns, simplified)


@functools.lru_cache(maxsize=128)  # what is unpickled twice is compiled once
def _made(make: Callable[..., Any], *arguments: Any) -> Kernel:
    return make(*arguments).made_from


@functools.lru_cache(maxsize=128)
def _kernel_of(kernel: Any, shapes: Any, fixed: Any, returns: Any, simple: bool) -> Kernel:
    name = getattr(kernel, "__name__", "function")
    return Kernel(kernel, Signature(name, inspect.signature(kernel), dict(shapes), fixed), returns, simple)


BY_VALUE = ("cloudpickle", "joblib.externals.cloudpickle", "ray.cloudpickle")
"""Libraries that send a function as code, if they are loaded. joblib, Dask and Ray bring one of them."""


_loaded = functools.lru_cache(maxsize=128)(pickle.loads)


def resolved(module: str, name: str) -> Any:
    """Return what a module holds under a name, with dots for what is within; None if there is no such thing."""
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def bare(array: np.ndarray) -> Any:
    """Return an array, or the scalar in one without dimensions."""
    return array if array.ndim else array[()]
