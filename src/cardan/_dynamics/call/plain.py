"""Plain derivatives: by the entries of arrays as they stand, as the engines differentiate that cardan serves.

JAX and PyTorch know of no tangents: to them a configuration is nq numbers, and so is its gradient. From y = f(x, ...),

    pushed:  y_dot = sum over x of (dy/dx) x_dot          pulled:  x_bar = sum over y of (dy/dx)^T y_bar

with every direction and weight in the shape of the array it belongs to. dy/dx itself is the `jacobian`, for many
directions. All are compiled functions, so that each can be pushed and pulled again. They are made for one choice of
options, because the number of results may depend on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from cardan._algebra.errors import ParameterError, check_known
from cardan._compiler.program import Array, autodiff
from cardan._compiler.program.expr import many_follow, pushing
from cardan._compiler.runtime.memory import collection_paused
from cardan._dynamics.call.function import Function, made_into
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options, Signature
from cardan._dynamics.call.traced import OfProgram, Traced
from cardan._robot.model import Model

Way = Literal["pushed", "pulled", "jacobian"]


def plain_derivative(
    way: Way, of: Function, model: Model, wrt: Sequence[str], names: Sequence[str], options: Options = ()
) -> Function:
    """Return the compiled function of a plain derivative by some arguments, or inputs of the model.

    It takes the arrays by position. `names` are all that are given, in the function's order (`Function.interface.
    required` has them); other arguments are fixed as options. The model may be another one of the same shapes. Names of
    further arrays, by keyword, have a number behind them if they are taken.

    - `"pushed"`: the rates of all results, in their form and shapes. `<name>_dot` for each that moves is in its shape.
    - `"pulled"`: the gradients of all results weighed and summed, as a dictionary by the names of `wrt`, each in the
      argument's own shape. `weights_0`, `weights_1`, ..., one for each result, are in its shape.
    - `"jacobian"`: dy/dx for each of `wrt`, then for each result, as a dictionary in that order; what is known of the
      function serves (`Known`).

    Raises:
        UnknownNameError: for a name that is not among the arrays given.
        ParameterError: if there is no name, or one twice.
    """
    if not wrt or len({*wrt}) < len(wrt):
        raise ParameterError("what to differentiate by", got=tuple(wrt), expected="names of arguments, each once")
    for name in wrt:
        check_known("array argument", name, names, of.name)
    cores, extra = of.interface.cores(model), list[tuple[str, tuple[int, ...]]]()
    if way == "pushed":
        extra = [(f"{n}_dot", cores[n]) for n in wrt]
    elif way == "pulled":
        outputs = of.compiled(model, tuple(names), options).outputs
        extra = [(f"weights_{k}", y.shape) for k, y in enumerate(outputs)]
    taken = {*of.interface.arguments, *names, *model.inputs}
    named = tuple(Array(_free(name, taken), tuple(shape)) for name, shape in extra)
    own = tuple(n for n in names if n not in model.inputs)
    return _Plain(way, of, tuple(wrt), own, options, named).function()


def extra_names(of: Function) -> tuple[str, ...]:
    """Return what the directions or weights of a plain derivative are called, in order."""
    source = of.made_from
    return tuple(a.name for a in source.extra) if isinstance(source, _Plain) else ()


def _free(name: str, taken: set[str]) -> str:
    """Return a name, or that with the first number behind it that makes it another one than those taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


class _Plain(OfProgram):
    """A plain derivative of another function, by the arrays `wrt`.

    `own` are the arrays that are given, without the inputs of a model; `extra` are the directions or weights.
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
        self.way, self.of, self.wrt, self.own, self.options, self.extra = way, of, wrt, own, options, extra
        inner, by_keyword = of.interface, inspect.Parameter.KEYWORD_ONLY
        arguments = [inner.arguments[n].replace(default=inspect.Parameter.empty) for n in own]
        further = [inspect.Parameter(a.name, by_keyword) for a in extra]
        parameters = inspect.Signature([*list(inner.parameters.parameters.values())[:1], *arguments, *further])
        shapes = {n: inner.shapes.get(n, ()) for n in own} | {a.name: a.shape for a in extra}
        self.signature = Signature(f"{of.name}_{way}_{'_'.join(wrt)}", parameters, shapes)

    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced:
        extra = [a.name for a in self.extra]
        own = self.of.interface.order(model, {*names} - {*extra})
        # all directions go forward by the last derivative; one before that may go backwards
        with pushing(self.way == "jacobian" if order == 0 else self.way == "pulled" and order == 1 and many_follow()):
            inner = self.of.traced(model, own, self.options, order + 1)
        with collection_paused():
            if self.way == "pushed":
                found = autodiff.jacobian_vector_product(inner.program, self.wrt, extra)
                outputs, form = inner.program.outputs, inner.form
            elif self.way == "jacobian":
                found = autodiff.jacobian(inner.program, self.wrt)
                outputs, form = found.outputs, Form("dict", tuple(a.name for a in found.outputs))
            else:
                found = autodiff.vector_jacobian_product(inner.program, self.wrt, extra)
                shapes = {a.name: a.shape for a in inner.program.inputs}
                outputs, form = tuple(Array(n, shapes[n]) for n in self.wrt), Form("dict", self.wrt)
        program = autodiff.with_inputs_in_order(found, names)
        return Traced(replace(program, name=self.signature.name, outputs=outputs), form, inner.seconds)

    def content(self) -> Any:
        return self.way, self.of, self.wrt, self.own, self.options, tuple(self.extra)

    def function(self) -> Any:
        text = f"{self.of.name}, {self.way} along the entries of {', '.join(self.wrt)}."
        return made_into(self.of, self, text)

    def __reduce__(self) -> Any:
        return _Plain, (self.way, self.of, self.wrt, self.own, self.options, self.extra)
