"""Plain derivatives: by the entries of arrays as they stand, as the engines differentiate that cardan serves.

JAX and PyTorch know of no tangents: to them a configuration is nq numbers, and so is its gradient. From y = f(x, ...),

    pushed:  y_dot = sum over x of (dy/dx) x_dot          pulled:  x_bar = sum over y of (dy/dx)^T y_bar

with every direction and weight in the shape of the array it belongs to. Both are compiled functions, so that each can
be pushed and pulled again; they are made for one choice of options, as the number of results may hang on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from cardan._algebra.errors import ParameterError, check_known
from cardan._compiler.program import Array, autodiff
from cardan._compiler.runtime.memory import collection_paused
from cardan._dynamics.call.function import Function, made_into
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options, Signature
from cardan._dynamics.call.traced import OfProgram, Traced
from cardan._robot.model import Model

Way = Literal["pushed", "pulled"]


def pushed(of: Function, model: Model, wrt: Sequence[str], names: Sequence[str], options: Options = ()) -> Function:
    """Return the compiled function of the rates of all results while some arguments move.

    Args:
        of: the function.
        model: the robot, or one of the same shapes as those the function will be called for.
        wrt: names of arrays that move, and of inputs of the model.
        names: of all arrays that are given, in the function's order (`Function.interface.required` has them).
        options: values of all other arguments, fixed.

    Returns:
        A function of the arrays by position, and by keyword `<name>_dot` for each that moves, in its shape (with a
        number behind it, if that name is taken). Its results have the form and shapes of the function's own.

    Raises:
        UnknownNameError: for a name that is not among the arrays given.
        ParameterError: if there is no name, or one twice.

    Examples:
        >>> rate = pushed(cardan.frame_transform, arm, ["q"], ["q"], (("frame", "tool"),))
        >>> rate(arm, q, q_dot=v).shape
        (4, 4)
    """
    directions = [(f"{n}_dot", shape) for n, shape in _arrays(of, model, wrt, names)]
    return _made("pushed", of, model, wrt, names, options, directions)


def pulled(of: Function, model: Model, wrt: Sequence[str], names: Sequence[str], options: Options = ()) -> Function:
    """Return the compiled function of the gradients, by some arguments, of all results weighed and summed.

    Args:
        of: the function.
        model: the robot, or one of the same shapes as those the function will be called for.
        wrt: names of the arrays to differentiate by, and of inputs of the model.
        names: of all arrays that are given, in the function's order (`Function.interface.required` has them).
        options: values of all other arguments, fixed.

    Returns:
        A function of the arrays by position, and by keyword `weights_0`, `weights_1`, ... (with a number behind it, if
        that name is taken), one for each result, in its shape. It returns a dictionary by the names of `wrt`, each in
        the argument's own shape.

    Raises:
        UnknownNameError: for a name that is not among the arrays given.
        ParameterError: if there is no name, or one twice.

    Examples:
        >>> back = pulled(cardan.inverse_dynamics, arm, ["v", "a"], ["q", "v", "a"])
        >>> by = back(arm, q, v, a, weights_0=v)
        >>> bool(np.allclose(by["a"], cardan.mass_matrix(arm, q) @ v))
        True
    """
    _arrays(of, model, wrt, names)
    outputs = of.compiled(model, tuple(names), options).outputs
    return _made("pulled", of, model, wrt, names, options, [(f"weights_{k}", y.shape) for k, y in enumerate(outputs)])


def extra_names(of: Function) -> tuple[str, ...]:
    """Return what the directions or weights of a plain derivative are called, in order."""
    source = of.made_from
    return tuple(a.name for a in source.extra) if isinstance(source, _Plain) else ()


def _arrays(of: Function, model: Model, wrt: Sequence[str], names: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
    """Return the arrays to differentiate by, with their shapes."""
    if not wrt or len({*wrt}) < len(wrt):
        raise ParameterError("what to differentiate by", got=tuple(wrt), expected="names of arguments, each once")
    for name in wrt:
        check_known("array argument", name, names, of.name)
    cores = of.interface.cores(model)
    return [(n, cores[n]) for n in wrt]


def _made(
    way: Way,
    of: Function,
    model: Model,
    wrt: Sequence[str],
    names: Sequence[str],
    options: Options,
    extra: Sequence[tuple[str, tuple[int, ...]]],
) -> Function:
    taken = {*of.interface.arguments, *names, *model.inputs}
    named = tuple(Array(_free(name, taken), tuple(shape)) for name, shape in extra)
    own = tuple(n for n in names if n not in model.inputs)
    return _function(_Plain(way, of, tuple(wrt), own, options, named))


def _free(name: str, taken: set[str]) -> str:
    """Return a name, or that with the first number behind it that makes it another one than those taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def _function(source: _Plain) -> Function:
    text = f"{source.of.name}, {source.way} along the entries of {', '.join(source.wrt)}."
    return made_into(source.of, source, text)


class _Plain(OfProgram):
    """A plain derivative of another function.

    Args:
        way: which.
        of: the function.
        wrt: names of the arrays it is differentiated by.
        own: names of the arrays that are given, without the inputs of a model.
        options: of the function.
        extra: the directions or weights.
    """

    def __init__(
        self,
        way: Way,
        of: Function,
        wrt: tuple[str, ...],
        own: tuple[str, ...],
        options: Options,
        extra: tuple[Array, ...],
    ) -> None:
        self.way: Way = way
        self.of, self.wrt, self.own, self.options, self.extra = of, wrt, own, options, extra
        inner, by_keyword = of.interface, inspect.Parameter.KEYWORD_ONLY
        arguments = [inner.arguments[n].replace(default=inspect.Parameter.empty) for n in own]
        further = [inspect.Parameter(a.name, by_keyword) for a in extra]
        parameters = inspect.Signature([*list(inner.parameters.parameters.values())[:1], *arguments, *further])
        shapes = {n: inner.shapes.get(n, ()) for n in own} | {a.name: a.shape for a in extra}
        self.signature = Signature(f"{of.name}_{way}_{'_'.join(wrt)}", parameters, shapes)

    def traced(self, model: Model, names: tuple[str, ...], options: Options) -> Traced:
        """Return the other function's program, differentiated."""
        extra = [a.name for a in self.extra]
        inner = self.of.traced(model, self.of.interface.order(model, {*names} - {*extra}), self.options)
        with collection_paused():
            if self.way == "pushed":
                found = autodiff.jacobian_vector_product(inner.program, self.wrt, extra)
                outputs, form = inner.program.outputs, inner.form
            else:
                found = autodiff.vector_jacobian_product(inner.program, self.wrt, extra)
                shapes = {a.name: a.shape for a in inner.program.inputs}
                outputs, form = tuple(Array(n, shapes[n]) for n in self.wrt), Form("dict", self.wrt)
        program = autodiff.with_inputs_in_order(found, names)
        return Traced(replace(program, name=self.signature.name, outputs=outputs), form, inner.seconds)

    def content(self) -> Any:
        """Return what it is made from, and how."""
        return self.way, self.of, self.wrt, self.own, self.options, tuple(self.extra)

    def function(self) -> Any:
        """Return the function, made anew."""
        return _function(self)

    def __reduce__(self) -> Any:
        return _Plain, (self.way, self.of, self.wrt, self.own, self.options, self.extra)
