"""Functions of a robot as functions of PyTorch: one operator in its graphs, with derivatives and batches."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from cardan._algebra.errors import DTypeError, ParameterError
from cardan._compiler.targets import default_target
from cardan._dynamics.call.function import Function, check_function
from cardan._dynamics.call.signature import Options, is_number, token
from cardan._reach.interop.torch_operator import Program, evaluate, evaluated, program_of, torch
from cardan._reach.interop.torch_operator import called_bound as called_bound
from cardan._reach.interop.wrapper import Wrapper
from cardan._robot.model import Model


def wrap(function: Function[..., Any], model: Model, **options: Any) -> Wrapped:
    """Return a function of a robot as a function of PyTorch's tensors.

    Args:
        function: one of cardan's, or your own made by `cardan.function`, or the `function` of a simulation's solver.
        model: the robot. The inputs of one with inputs (`Model.with_inputs`) are arguments, by keyword.
        options: values of the function's options, such as `frame="tool"`; they may be given when it is called, too.

    Returns:
        A callable with the function's arguments, without the model, for tensors of shape (..., core shape), all on the
        CPU or on one CUDA device, all of float64 or all of float32, leading dimensions broadcast. Results have the form
        of the function's own.
        Gradients, rates (`torch.func.jvp`) and derivatives of these are compiled programs, by the entries of arrays as
        they stand (nq of a configuration); `torch.vmap` adds a leading dimension; `torch.compile` meets one operator.

    Raises:
        MissingExtraError, TargetError: when this module is imported, without torch, or with one too old.
        UnknownNameError: for an option that is none.
        ParameterError, DTypeError: if the function is not a compiled one, or the model none.

    Examples:
        >>> import torch
        >>> from cardan.interop.torch import wrap
        >>> torques = wrap(cardan.inverse_dynamics, arm)
        >>> speed = torch.zeros(7, dtype=torch.float64, requires_grad=True)
        >>> torques(torch.tensor(q), speed, torch.tensor(a)).square().sum().backward()
        >>> speed.grad.shape
        torch.Size([7])
    """
    return Wrapped(function, model, options)


def called(function: Function[..., Any], model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return what a function returns that was called with tensors among its arguments; other libraries' are refused."""
    return _wrapped(function, model, default_target())(*args, **kwargs)


@functools.lru_cache(maxsize=64)
def _wrapped(function: Function[..., Any], model: Model, target: str) -> Wrapped:
    """Return a function of any equal model, wrapped for where it runs by default now."""
    return Wrapped(function, model, {})


class _Plan(NamedTuple):
    name: str
    program: Program  # which only this holds
    form: Any  # see `_plainly`


class Wrapped(Wrapper):
    """A function of a robot, for PyTorch; see `wrap`.

    Args:
        function: one made by `cardan.function`, or cardan's own.
        model: the robot.
        options: values of the function's options.

    Examples:
        >>> import torch
        >>> torch.compile(cardan.interop.torch.wrap(cardan.mass_matrix, arm), backend="eager")(torch.tensor(q)).shape
        torch.Size([7, 7])
    """

    framework = "PyTorch"

    def __init__(self, function: Function[..., Any], model: Model, options: Mapping[str, Any]) -> None:
        check_function("function to wrap", function)
        interface = function.interface
        super().__init__(function, model, options, interface.arguments)
        self._fixed = frozenset(n for n in interface.open if n in interface.fixed)
        self._open = frozenset(interface.open)
        self._cores = interface.cores(model)
        self._plans: dict[Any, _Plan] = {}
        self._by_position: dict[int, _Plan] = {}
        self._key = str(next(_COUNT))  # a text: a compiler takes numbers that change for sizes
        _ALIVE[self._key] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results.

        Raises:
            TypeError: if an argument is missing, unknown, or given twice.
            ShapeError: for a tensor whose shape does not fit.
            DTypeError: for one of another kind: integers, other precisions, on another device than others.
        """
        if not torch.compiler.is_compiling():
            plan = None if kwargs else self._by_position.get(len(args))
            if plan is not None and all(isinstance(x, torch.Tensor) for x in args):
                return _formed(plan.form, evaluated(args, plan.program))
        arrays, options = self._told_apart(args, kwargs)
        plan = _plan_of(self._key, tuple(arrays), options)
        if not torch.compiler.is_compiling() and [*map(id, arrays.values())] == [*map(id, args)]:
            self._by_position[len(args)] = plan
        tensors = self._tensors(arrays)
        results = evaluate(tensors, plan.name) if torch.compiler.is_compiling() else evaluated(tensors, plan.program)
        return _formed(plan.form, results)

    def _told_apart(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], Options]:
        given = self._given(args, kwargs)
        arrays = {n: given[n] for n in self._names if self._is_array(n, given[n])}
        return arrays, tuple((n, given[n]) for n in self._names if n in self._open and n not in arrays)

    def _is_array(self, name: str, value: Any) -> bool:
        if name in self._open:
            return name not in self._fixed and (isinstance(value, torch.Tensor) or is_number(value))
        return value is not None or name not in self._known

    def _tensors(self, arrays: Mapping[str, Any]) -> list[Any]:
        tensors = [x for x in arrays.values() if isinstance(x, torch.Tensor)]
        if len(tensors) == len(arrays):
            return tensors
        alike = {"dtype": tensors[0].dtype, "device": tensors[0].device} if tensors else {}
        return [x if isinstance(x, torch.Tensor) else self._tensor(n, x, alike) for n, x in arrays.items()]

    def _tensor(self, name: str, value: Any, alike: Mapping[str, Any]) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and self._cores[name] == ():
            return torch.full((), value, **alike)
        got = f"a {type(value).__module__}.{type(value).__name__}".replace("builtins.", "")
        hint = f"torch.as_tensor({name})."
        raise DTypeError(self.function.name, name, got=got, expected="a tensor of PyTorch, as others are", hint=hint)

    def _plan(self, names: tuple[str, ...], options: Options) -> _Plan:
        key = names, token(options)
        if key not in self._plans:
            if not names:
                expected = "at least one: its result is the same always, torch.as_tensor(function(model))"
                raise ParameterError(f"arrays of {self.function.name}", got=names, expected=expected)
            said = self.function.interface.settled(options)
            program = program_of(self.function, self.model, names, said)
            form = self.function.compiled(self.model, names, said).form
            count = len(form.names) if form.inner is None else len(form.by) * len(form.inner.names)
            self._plans[key] = _Plan(program.name, program, _plainly(form.rebuilt(range(count))))
        return self._plans[key]


_ALIVE: WeakValueDictionary[str, Wrapped] = WeakValueDictionary()
KINDS = types.SimpleNamespace()
"""Classes of named tuples, as attributes: where a compiler finds them, which knows no class but by its place."""
_COUNT = itertools.count()


@torch.compiler.assume_constant_result
def _plan_of(key: str, names: tuple[str, ...], options: Options) -> _Plan:
    """Return what a wrapped function runs: to a compiler a constant of these texts, which it holds its graph for."""
    return _ALIVE[key]._plan(names, options)


def _plainly(form: Any) -> Any:
    """Return what results are returned in, as plainly as a compiler reads it: a number, or (kind, keys, parts)."""
    if isinstance(form, int):
        return form
    if isinstance(form, dict):
        return "dict", tuple(form), tuple(map(_plainly, form.values()))
    kind = "tuple" if type(form) is tuple else f"{type(form).__name__}_{id(type(form))}"
    setattr(KINDS, kind, type(form))
    return kind, (), tuple(map(_plainly, form))


def _formed(form: Any, results: Any) -> Any:
    if isinstance(form, int):
        return results[form]
    kind, keys, forms = form
    parts = [_formed(part, results) for part in forms]
    if kind == "dict":
        return dict(zip(keys, parts, strict=True))
    return tuple(parts) if kind == "tuple" else getattr(KINDS, kind)(*parts)
