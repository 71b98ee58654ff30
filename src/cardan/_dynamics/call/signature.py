"""The signature of a compiled function: its arguments by name, which of them are arrays, which are options.

Arrays have a core shape and a batch before it: the names every function knows (`KNOWN`), those declared, and every
float, which is an array of shape (): a gain that changes compiles nothing anew. Options are what shapes the program
itself: text, whole numbers, truth values, None, and tuples of these; each value of an option is a program of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from cardan._algebra.by_fields import ByFields
from cardan._algebra.content import PLAIN, UnknownContentError, apart, content_of
from cardan._algebra.errors import DTypeError, MechanismError, ParameterError, UnknownNameError
from cardan._algebra.explained import meant
from cardan._dynamics.call.arguments import (
    KNOWN,
    Batch,
    Shape,
    check_closed,
    check_configuration,
    check_shape,
    check_within,
    core_shape,
    is_symbolic,
)
from cardan._robot.model import Model

Options = tuple[tuple[str, Any], ...]
OPTION = "an option: text, a whole number, a truth value, or a tuple of these"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Signature(ByFields):
    """The arguments of a function of a model; ParameterError if a declared or fixed name is not among them."""

    name: str  # of the function, for messages
    parameters: inspect.Signature  # of its kernel, the model first
    # core shapes of arrays beyond the names every function knows
    declared: Mapping[str, Shape] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()  # names of arguments that are options even where they are floats
    # least and greatest entry of arrays that have such: calls that give these take no fast path
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(init=False)  # core shapes of the arrays, in the order of the parameters
    # names of the other arguments: options, or numbers where a float is given
    open: tuple[str, ...] = field(init=False)
    positional: tuple[str, ...] = field(init=False)  # names of the arguments that may be given by position
    _defaults: dict[str, Any] = field(init=False)
    _names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._check_parameters()
        rest = self.arguments
        for what, given in (("shapes", self.declared), ("options", self.fixed), ("bounds", self.bounds)):
            unknown = [n for n in given if n not in rest]
            if unknown:
                expected = f"names among its arguments {list(rest)}"
                raise ParameterError(f"{what} of {self.name}", got=unknown, expected=expected)
        for n, shape in self.declared.items():
            check_shape(f"shape of argument {n!r} of {self.name}", shape)
        known = {n: shape for n, (shape, _) in KNOWN.items()} | {n: () for n in rest if self._is_number(rest[n])}
        known |= self.declared
        object.__setattr__(self, "shapes", {n: known[n] for n in rest if n in known})
        object.__setattr__(self, "open", tuple(n for n in rest if n not in known))
        object.__setattr__(self, "positional", tuple(n for n, p in rest.items() if p.kind != p.KEYWORD_ONLY))
        object.__setattr__(self, "_names", frozenset(rest))
        object.__setattr__(self, "_defaults", {n: p.default for n, p in rest.items() if p.default is not p.empty})

    def _check_parameters(self) -> None:
        """Raise unless every argument has a name it can be given by; the model may be by position only."""
        by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        by_position = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
        kinds = [p.kind for p in self.parameters.parameters.values()]
        if not kinds or kinds[0] not in by_position or any(kind not in by_name for kind in kinds[1:]):
            got, expected = str(self.parameters), "(model, q, v, ...): a name for each, no *args, **kwargs, or /"
            hint = "A decorator below @cardan.function keeps the names with functools.wraps."
            raise ParameterError(f"arguments of {self.name}", got=got, expected=expected, hint=hint)

    @property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """Return the parameters by name, without the model."""
        return dict(list(self.parameters.parameters.items())[1:])

    def _is_number(self, p: inspect.Parameter) -> bool:
        """Return whether an argument is a float whatever is given: by its default, or as it is annotated."""
        return p.name not in self.fixed and (type(p.default) is float or p.annotation in (float, "float"))

    @property
    def defaults(self) -> dict[str, Any]:
        """Return the values of arguments that are left out, but for None, which says that an array is not given."""
        return {n: value for n, value in self._defaults.items() if value is not None}

    @property
    def units(self) -> dict[str, str]:
        return {n: KNOWN[n][1] for n in self.shapes if n in KNOWN}

    def cores(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Return the core shapes of all arrays for a model: the function's own, open numbers, the model's inputs."""
        own = {name: core_shape(shape, model) for name, shape in self.shapes.items()}
        return own | dict.fromkeys(self.open, ()) | {name: given.shape for name, given in model.inputs.items()}

    def order(self, model: Model, names: Any) -> tuple[str, ...]:
        return tuple(n for n in (*self.arguments, *model.inputs) if n in names)

    def call(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], Options]:
        """Return the arrays of a call by name, in the order of the program's inputs, and the options.

        Raises:
            TypeError: if an argument is missing, unknown, or given twice.
            DTypeError, ParameterError: if the model is no model, data stand for an option, or inputs are missing.
        """
        check_model(self.name, model)
        given = self._bound(model, args, {n: v for n, v in kwargs.items() if n not in model.inputs})
        if model.inputs:
            given |= self._inputs(model, kwargs)
        arrays = {n: v for n, v in given.items() if self._is_array(model, n, v)}
        options = tuple((n, self._option(n, given[n])) for n in self.open if n not in arrays)
        return {n: arrays[n] for n in self.order(model, arrays)}, options

    def _bound(self, model: Model, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of each argument: what `inspect.Signature.bind` finds, in a tenth of its time."""
        given = {**self._defaults, **dict(zip(self.positional, args, strict=False)), **kwargs}
        twice = kwargs.keys() & set(self.positional[: len(args)]) if kwargs else False
        if twice or len(args) > len(self.positional) or given.keys() != self._names:
            try:
                self.parameters.bind(model, *args, **kwargs)
            except TypeError as error:
                # without annotations, which are for type checkers: (model, q, frame, *, at='frame')
                plain = inspect.Signature([p.replace(annotation=p.empty) for p in self.parameters.parameters.values()])
                raise TypeError(f"{self.name}{plain}: {error}{self._suggestion(kwargs, str(error))}") from None
        return given

    def _suggestion(self, kwargs: Mapping[str, Any], error: str) -> str:
        """Return what was meant by the first keyword that is no argument, which the error may not have named."""
        unknown = next((name for name in kwargs if name not in self._names), None)
        if unknown is None:
            return ""
        if unknown == "out":
            return f"; bound functions take it: {self.name}.bind(model)(..., out=array)"
        named = "" if repr(unknown) in error else f"; there is no argument {unknown!r}"
        return named + meant(self.name, unknown, self.arguments)

    def _is_array(self, model: Model, name: str, value: Any) -> bool:
        if name in self.shapes:
            return value is not None or self.arguments[name].default is not None
        return name in model.inputs or (name not in self.fixed and is_number(value) and not self._is_truth(name))

    def _is_truth(self, name: str) -> bool:
        """Return whether an argument is a truth value and nothing else, as it is annotated."""
        return self.arguments[name].annotation in (bool, "bool")

    def _option(self, name: str, value: Any) -> Any:
        """Return the value of an option: lists, and arrays of whole numbers, as tuples."""
        if self._is_truth(name) and not isinstance(value, (bool, np.bool_)):
            raise DTypeError(self.name, name, got=repr(value), expected="True or False")
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuU":
            value = value.tolist()
        if isinstance(value, list):
            value = tuple(self._option(name, e) for e in value)
        if isinstance(value, (np.ndarray, dict, set)) or (isinstance(value, tuple) and any(map(is_number, value))):
            hint = f"Is the order right? Data: @cardan.function(shapes={{{name!r}: (...)}}), or {name}: float."
            raise DTypeError(self.name, name, got=f"a {type(value).__name__}", expected=OPTION, hint=hint)
        return value

    def settled(self, options: Options) -> Options:
        """Return options as programs are made for them; raise `DTypeError` for data where an option belongs."""
        return tuple((n, self._option(n, value)) for n, value in options)

    def check_inputs(self, model: Model) -> None:
        """Raise for a model with an input that is called as an argument is."""
        taken = [n for n in model.inputs if n in self.parameters.parameters]
        if taken:
            hint = f"Call it otherwise: with_inputs(my_{taken[0]}=(owner, constant))."
            got = f"an argument of {self.name} itself"
            raise ParameterError(f"input {taken[0]!r} of the model", got=got, expected="another name", hint=hint)

    def _inputs(self, model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
        self.check_inputs(model)
        missing = [n for n in model.inputs if n not in given]
        if missing:
            shape = model.inputs[missing[0]].shape
            hint = "The model's own values: **model.input_values()."
            expected = f"{missing[0]}=..., shape (..., {', '.join(map(str, shape))})" if shape else f"{missing[0]}=..."
            got = tuple(n for n in model.inputs if n in given)
            raise ParameterError(f"{self.name}: inputs of the model", got=got, expected=expected, hint=hint)
        return {n: given[n] for n in model.inputs}

    def check_values(self, model: Model, batch: Batch, closed: bool) -> None:
        """Raise for numbers that would give NaN, and if `closed` for configurations that leave loops of clusters open.

        `ConfigurationError` is for a quaternion of norm 0, `ParameterError` for an entry out of its bounds.
        """
        for name, array in zip(batch.names, batch.arrays, strict=True):
            if self._is_configuration(name):
                check_configuration(self.name, name, array, model.unit_parts)
                if closed:
                    check_closed(self.name, name, model, array)
            if name in self.bounds:
                check_within(self.name, name, array, self.bounds[name], batch.shape)

    def has_bounds(self, names: Iterable[str]) -> bool:
        """Return whether some of the arguments have bounds."""
        return not self.bounds.keys().isdisjoint(names)

    def _is_configuration(self, name: str) -> bool:
        return self.shapes.get(name) == ("nq",) and name != "qdot"  # a rate of change may well be 0

    def unit_parts(self, model: Model, names: Iterable[str]) -> list[tuple[int, int, int]]:
        """Return where arguments of these names hold quaternions or (cos, sin): (argument, start, stop) each."""
        return [(k, *part) for k, name in enumerate(names) if self._is_configuration(name) for part in model.unit_parts]

    def required(self, model: Any, options: Mapping[str, Any], optional: Sequence[str] = ()) -> tuple[Any, Options]:
        """Return the names of the arrays that must be given, and all options, some left at their defaults.

        An option that is a float becomes a number, which is an array. `optional` are arrays to take along that may be
        left out. UnknownNameError and ParameterError are for unknown names, and options without a value.
        """
        check_model(self.name, model)
        for n in options.keys() - set(self.open) - {n for n in self.shapes if self._is_number(self.arguments[n])}:
            raise UnknownNameError("option", n, self.open, where=self.name)
        for n in set(optional) - self.shapes.keys():
            raise UnknownNameError("array argument", n, self.shapes, where=self.name)
        values = {n: options.get(n, self.arguments[n].default) for n in self.open}
        absent = [n for n, value in values.items() if value is inspect.Parameter.empty]
        if absent:
            raise ParameterError(f"{self.name}: options", got=dict(options), expected=f"values for {absent}")
        numbers = {n for n, value in values.items() if self._is_array(model, n, value)}
        own = {n for n in self.shapes if self.arguments[n].default is not None or n in optional}
        names = self.order(model, own | numbers | model.inputs.keys())
        return names, tuple((n, self._option(n, value)) for n, value in values.items() if n not in numbers)


def check_model(where: str, model: Any) -> None:
    if not isinstance(model, Model):
        hint = "Load one with cardan.load(file), or build one with Mechanism(...).model()."
        if isinstance(getattr(model, "model", None), Model):
            hint = f"That of a {type(model).__name__} is its .model."
        raise DTypeError(where, "model", got=f"a {type(model).__name__}", expected="a cardan.Model", hint=hint)


def refuse_inputs(model: Model, hint: str) -> None:
    if model.inputs:
        raise MechanismError(f"model {model.name!r} has inputs ({', '.join(model.inputs)}){hint}")


def is_number(value: Any) -> bool:
    """Return whether a value is a real number to calculate with: a float, or one in an array, or a symbol of one."""
    if isinstance(value, (float, np.floating)):
        return True
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind == "f"
    return (
        not isinstance(value, (str, int, tuple, list, np.ndarray)) and hasattr(value, "__mul__") and is_symbolic(value)
    )


def token(option: Any) -> Any:
    """Return what tells an option from others that Python calls equal: True from 1 and 1.0, 0.0 from -0.0.

    Of an object it is what the object is made of now: it may be changed, or have an `__eq__` that does not look at all.
    """
    kind = type(option)
    if kind is str:
        return option
    if kind in (tuple, list):
        return tuple(map(token, option))
    if kind is float or kind is complex:
        return kind, repr(option)
    if kind in PLAIN:
        return kind, option
    try:
        return apart(option) if isinstance(option, Enum) else content_of(option)
    except UnknownContentError:
        return apart(option)


def is_constant(option: Any) -> bool:
    """Return whether an option can be kept as it is: it cannot change."""
    if type(option) in (tuple, list):
        return PLAIN.issuperset(map(type, option)) or all(map(is_constant, option))
    return type(option) in PLAIN or isinstance(option, (np.generic, Enum))
