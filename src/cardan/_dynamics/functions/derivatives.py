"""Derivatives of any compiled function, by differentiating its program.

A derivative by a configuration (q, q0, q1) is along the tangent: nv columns, column j the rate of change as the
configuration moves to integrate(q, e_j). Constants that are inputs of the model count as arguments; one by a pose X has
six columns, along X exp(e_k). All derivatives are compiled functions themselves, with batches, targets,
`bind` and derivatives of their own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from cardan._algebra.errors import ParameterError, ShapeError, UnknownNameError, check_known, check_one_of
from cardan._algebra.manifolds import Euclidean
from cardan._compiler.program import Program, autodiff
from cardan._compiler.program.autodiff import MODES, Mode, Tangent
from cardan._compiler.program.expr import many_follow, pushing
from cardan._compiler.runtime.memory import collection_paused
from cardan._dynamics.call.arguments import Shape, core_shape
from cardan._dynamics.call.function import Function, check_function, made_into
from cardan._dynamics.call.results import RESULT, Form
from cardan._dynamics.call.signature import Options, Signature
from cardan._dynamics.call.traced import OfProgram, Source, Traced
from cardan._robot.model import Model


def derivative(
    of: Function[..., Any],
    wrt: str | Sequence[str],
    *,
    mode: Mode = "auto",
    tangent: bool | str | int | Sequence[str | int] = False,
) -> Function[..., Any]:
    """Return the compiled function of the derivatives of a compiled function.

    Args:
        of: y = of(model, q, ...), a function made by `cardan.function` or one of cardan's own.
        wrt: the name x of one of its array arguments, or of an input of the model (`Model.with_inputs`); or several
            names, whose derivatives are one program: what they share is computed once.
        mode: `"forward"` or `"reverse"` accumulation; by default the one with fewer directions.
        tangent: whether results that are configurations move along the tangent, too: nv rows, the velocity at which
            they move, instead of nq. With True these are the one result, or of several those of shape (nq,): in a
            dictionary or named tuple, of these the ones called q, q0, q1 or q_..., such as `q_next`; no rates, such as
            `q_dot`, `q_rate` or `q_vel`. Else their names, or their places in a tuple: `tangent=("goal",)`,
            `tangent=(0,)`; one may stand alone.

    Returns:
        A function of the same arguments; its results have the shapes (*y, nv) where x is a configuration, (*y, *x)
        otherwise. Several results come as a tuple if the function returns a tuple, else as a dictionary by name. By
        several arguments, a named tuple with what there is by each: `by.dq, by.dv, by.dtau` for q, v and tau.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input, or
            for a result of `tangent` that does not exist.
        ParameterError: if there is no such mode; when it is called, if it is not clear which result `tangent` means.

    Examples:
        >>> by_q = cardan.derivative(cardan.frame_transform, "q")
        >>> by_q(arm, q, "tool").shape
        (4, 4, 7)
        >>> by = cardan.derivative(cardan.inverse_dynamics, ("q", "v", "a"))(arm, q, v, a)
        >>> bool(np.allclose(by.da, cardan.mass_matrix(arm, q)))
        True

    Source: Griewank and Walther, Evaluating Derivatives (2008).
    """
    check_function("function to differentiate", of)
    check_one_of("mode", mode, MODES)
    names = wrt if isinstance(wrt, str) else _several(wrt)
    chosen = tangent if isinstance(tangent, bool) else (tangent,) if isinstance(tangent, (str, int)) else tuple(tangent)

    def transform(model: Model, program: Program, tangents: Sequence[Tangent]) -> Program:
        moving = moving_results(of.name, model, program, chosen) if chosen else ()
        rate = model.manifold.configuration_derivative_to_velocity_jacobian
        found = autodiff.jacobian(program, tangents, mode=mode, along=dict.fromkeys(moving, rate))
        if not isinstance(names, str):
            return found
        # by several arguments the form tells them apart (`_by_argument`), so that results keep their names
        named = [d._replace(name=y.name) for d, y in zip(found.outputs, program.outputs, strict=True)]
        return replace(found, outputs=tuple(named))

    made_by = _Maker(derivative, of, names, {"mode": mode, "tangent": chosen})
    called = (names,) if isinstance(names, str) else names
    text = f"Return the derivative of {of.name} by {_listed(names)}."
    return _made(made_by, "_".join((of.name, *(f"d{n}" for n in called))), text, transform, mode=mode)


def _several(names: Any) -> tuple[str, ...]:
    """Return the names of arguments, if they are such, each once."""
    found = tuple(names) if isinstance(names, (list, tuple)) else ()
    if not found or not all(isinstance(n, str) for n in found) or len({*found}) < len(found):
        expected = 'the name of an argument, or several, each once: ("q", "v", "tau")'
        raise ParameterError("what to differentiate by", got=names, expected=expected)
    return found


def gradient(of: Function[..., Any], wrt: str | Sequence[str]) -> Function[..., Any]:
    """Return the compiled function of the gradient of a function with a single number as result.

    It has the shape (nv,) where `wrt` is a configuration, that of the argument otherwise; reverse accumulation makes
    it cost a few times the function whatever its length.

    Args:
        of: a function with a single number as result, made by `cardan.function` or one of cardan's own.
        wrt: the name of one of its array arguments, or of an input of the model; or several names.

    Returns:
        A function of the same arguments. By several, its result is a named tuple: `by.dq, by.dv` for q and v.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: when it is called, if the function's result is not a single number.

    Examples:
        >>> slope = cardan.gradient(cardan.potential_energy, "q")
        >>> bool(np.allclose(slope(arm, q), cardan.gravity_forces(arm, q)))
        True
        >>> cardan.gradient(cardan.kinetic_energy, ("q", "v"))(arm, q, v).dv.shape
        (7,)
    """
    check_function("function to differentiate", of)
    names = wrt if isinstance(wrt, str) else _several(wrt)

    def transform(model: Model, program: Program, tangents: Sequence[Tangent]) -> Program:
        if program.entries != 1:
            what = f"function to take the gradient of ({of.name})"
            expected = "a function whose result is one number; use cardan.derivative for others"
            raise ParameterError(what, got=program.outputs, expected=expected)
        found = autodiff.jacobian(program, tangents, mode="reverse")
        return _one_result(found, tangents[0].shape) if isinstance(names, str) else found

    text = f"Return the gradient of {of.name} by {_listed(names)}."
    return _made(_Maker(gradient, of, names), _name(of, "gradient", names), text, transform, mode="reverse")


def hessian(of: Function[..., Any], wrt: str | Sequence[str]) -> Function[..., Any]:
    """Return the compiled function of the second derivatives of a function with a single number as result.

    Entry (i, j) is symmetric: for a configuration, v^T H v is the second derivative of t -> f(integrate(q, t v)) at 0.

    Args:
        of: a function with a single number as result, made by `cardan.function` or one of cardan's own.
        wrt: the name of one of its array arguments, or of an input of the model; or several names.

    Returns:
        A function of the same arguments. By several, its result has a block for each two: of `H.dq.dv` the rows are
        along q and the columns along v, and `np.block([list(row) for row in H])` is the whole, where all are vectors.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: when it is called, if the function's result is not a single number.

    Examples:
        >>> H = cardan.hessian(cardan.kinetic_energy, "v")(arm, q, v)
        >>> bool(np.allclose(H, cardan.mass_matrix(arm, q)))
        True
        >>> H = cardan.hessian(cardan.kinetic_energy, ("q", "v"))(arm, q, v)
        >>> H.dq.dv.shape, bool(np.allclose(H.dq.dv.T, H.dv.dq))
        ((7, 7), True)
    """
    check_function("function to differentiate", of)
    names = wrt if isinstance(wrt, str) else _several(wrt)

    def transform(model: Model, program: Program, tangents: Sequence[Tangent]) -> Program:
        found = autodiff.symmetric_jacobian(program, tangents)
        return _one_result(found, found.outputs[0].shape) if isinstance(names, str) else found

    text = f"Return the Hessian of {of.name} by {_listed(names)}."
    made_by, inner = _Maker(hessian, of, names), gradient(of, names)
    return _made(made_by, _name(of, "hessian", names), text, transform, inner=inner, mode="forward")


def weighed(of: Function[..., Any], shape: Shape, result: str = "") -> Function[..., Any]:
    """Return the function of weights . what a function returns, or of one of its results; given as `weights=`."""

    def kernel(model: Model, *given: Any, weights: Any, **named: Any) -> Any:
        found = of(model, *given, **named)
        return weights @ (getattr(found, result) if result else found)

    parameters = [*of.parameters.parameters.values(), inspect.Parameter("weights", inspect.Parameter.KEYWORD_ONLY)]
    kernel.__name__, kernel.__signature__ = f"weighed_{of.name}", inspect.Signature(parameters)
    declared = {**of.interface.declared, "weights": shape}
    return Function(kernel, declared, (), options=of.interface.fixed)


def _listed(names: str | tuple[str, ...]) -> str:
    return names if isinstance(names, str) else ", ".join(names)


def _name(of: Function[..., Any], kind: str, names: str | tuple[str, ...]) -> str:
    """Return the name of a function made from another one: by several arguments, with theirs."""
    return f"{of.name}_{kind}" if isinstance(names, str) else "_".join((of.name, kind, *names))


def jacobian_vector_product(of: Function[..., Any], wrt: str) -> Function[..., Any]:
    """Return the compiled function of the results' rate of change along a direction, given as `direction=`.

    The direction has shape (nv,) where `wrt` is a configuration, that of the argument otherwise. It costs about twice
    the function.

    Args:
        of: a function made by `cardan.function` or one of cardan's own.
        wrt: the name of one of its array arguments, or of an input of the model.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.

    Examples:
        >>> along = cardan.jacobian_vector_product(cardan.frame_transform, "q")
        >>> along(arm, q, "tool", direction=v).shape
        (4, 4)
    """
    _check_one_name(of, wrt)

    def transform(model: Model, program: Program, tangents: Sequence[Tangent]) -> Program:
        found = autodiff.jacobian_vector_product(program, tangents, ["direction"])
        return replace(found, outputs=program.outputs)

    extra = {"direction": lambda model: _tangent_shape(of, model, wrt)}
    text = f"Return the rate of change of {of.name} as {wrt} moves along `direction`."
    return _made(_Maker(jacobian_vector_product, of, wrt), f"{of.name}_jvp", text, transform, extra)


def vector_jacobian_product(of: Function[..., Any], wrt: str) -> Function[..., Any]:
    """Return the compiled function of the gradient of the results weighed with `weights=` and summed.

    It costs a few times the function, whatever the length of `wrt`. The function's result must be one array whose
    shape is declared (`returns=`), or a single number.

    Args:
        of: a function made by `cardan.function` or one of cardan's own.
        wrt: the name of one of its array arguments, or of an input of the model.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: when it is called, if the result is not of the declared shape.

    Examples:
        >>> back = cardan.vector_jacobian_product(cardan.inverse_dynamics, "a")
        >>> bool(np.allclose(back(arm, q, v, a, weights=v), v @ cardan.mass_matrix(arm, q)))
        True
    """
    _check_one_name(of, wrt)
    shape = of.made_from.returns or ()

    def transform(model: Model, program: Program, tangents: Sequence[Tangent]) -> Program:
        (tangent,) = tangents
        if [output.shape for output in program.outputs] != [core_shape(shape, model)]:
            expected = "one result of a declared shape: @cardan.function(returns=(...))"
            raise ParameterError(f"function to pull back through ({of.name})", got=program.outputs, expected=expected)
        return _one_result(autodiff.vector_jacobian_product(program, [tangent], ["weights"]), tangent.shape)

    text = f"Return the gradient by {wrt} of {of.name}, weighed with `weights`."
    made_by, extra = _Maker(vector_jacobian_product, of, wrt), {"weights": shape}
    return _made(made_by, f"{of.name}_vjp", text, transform, extra, mode="reverse")


class _Maker(NamedTuple):
    """The call that makes a function from another one: what tells it from others, here and in other processes."""

    maker: Callable[..., Function[..., Any]]
    of: Function[..., Any]
    wrt: str | tuple[str, ...]
    options: Mapping[str, Any] = MappingProxyType({})

    def __call__(self) -> Function[..., Any]:
        return self.maker(self.of, self.wrt, **self.options)


class _Transformed(OfProgram):
    """A function made from the program of another one, `of`, by the call `made_by`.

    For a model, `transform` gives the new program from the other's and from the directions of each argument. `extra`
    has the core shapes of further arrays, given by keyword. `mode` is the way that many directions go, if they do.
    """

    def __init__(
        self,
        made_by: _Maker,
        of: Function[..., Any],
        name: str,
        transform: Callable[[Model, Program, Sequence[Tangent]], Program],
        extra: Mapping[str, Shape],
        mode: Mode | None,
    ) -> None:
        self.made_by, self.of, self.transform, self.extra, self.mode = made_by, of, transform, dict(extra), mode
        self.wrt = (made_by.wrt,) if isinstance(made_by.wrt, str) else made_by.wrt
        inner = of.interface
        further = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in self.extra]
        parameters = inspect.Signature([*inner.parameters.parameters.values(), *further])
        self.signature = Signature(name, parameters, {**inner.declared, **self.extra}, inner.fixed, inner.bounds)

    def traced(self, model: Model, names: tuple[str, ...], options: Options, order: int = 0) -> Traced:
        for wrt in self.wrt:
            self._check_argument(model, wrt, names)
        # directions and weights are arguments of the derivative alone
        own = tuple(n for n in names if n not in self.extra)
        tangents = [_tangent(self.of, model, wrt) for wrt in self.wrt]
        inner = self._inner(model, own, options, order, tangents)
        # many small objects are made and all stay: the garbage collector would look for some to drop in vain
        with collection_paused():
            program = self.transform(model, inner.program, tangents)
        program = replace(autodiff.with_inputs_in_order(program, names), name=self.signature.name)
        form = _form(inner.form, program)
        if not isinstance(self.made_by.wrt, str):
            form = _by_argument(inner.form, program, self.wrt)
        return Traced(program, form, inner.seconds)

    def _inner(
        self, model: Model, names: tuple[str, ...], options: Options, order: int, tangents: Sequence[Tangent]
    ) -> Traced:
        """Return what is differentiated. Calls keep what is known of them where many directions go forward in the end.

        That is by the last derivative; one before that goes backwards.
        """
        sizes = [t.size for t in tangents]
        many = sum(sizes) >= model.nv if order == 0 else order == 1 and many_follow()
        serving = "forward" if order == 0 else "reverse"

        def traced(many: bool) -> Traced:
            with pushing(many):
                return self.of.traced(model, names, options, order + 1)

        inner = traced(many and self.mode in (serving, "auto"))
        if many and self.mode == "auto" and inner.program.order:
            goes = "reverse" if min(sizes) > inner.program.entries else "forward"
            return inner if goes == serving else traced(False)
        return inner

    def _check_argument(self, model: Model, wrt: str, names: tuple[str, ...]) -> None:
        if wrt not in self.of.interface.cores(model):
            known = (*self.of.interface.shapes, *self.of.interface.open, *model.inputs)
            raise UnknownNameError("array argument", wrt, known, where=self.of.name)
        if wrt not in names:
            got = "none" if wrt in self.of.interface.shapes else "an option, fixed while tracing"
            expected = "it given, in numbers: its derivative is taken"
            raise ParameterError(f"{self.of.name}: argument {wrt!r}", got=got, expected=expected)

    def content(self) -> Any:
        maker, of, wrt, options = self.made_by
        return maker.__name__, wrt, str(dict(options)), of

    def function(self) -> Function[..., Any]:
        return self.made_by()

    def __reduce__(self) -> Any:
        maker, of, wrt, options = self.made_by
        return _source, (maker, of, wrt, dict(options))


def _source(
    maker: Callable[..., Function[..., Any]], of: Function[..., Any], wrt: str, options: Mapping[str, Any]
) -> Source:
    return maker(of, wrt, **options).made_from


def _made(
    made_by: _Maker,
    name: str,
    text: str,
    transform: Callable[[Model, Program, Sequence[Tangent]], Program],
    extra: Mapping[str, Shape] = MappingProxyType({}),
    inner: Function | None = None,
    mode: Mode | None = None,
) -> Function[..., Any]:
    """Return the function that transforms the program of another one: by default, of the one its maker was given."""
    of = made_by.of
    taken = [n for n in extra if n in of.interface.arguments]
    if taken:
        expected = "a function without an argument of that name; wrap it in one that calls it otherwise"
        raise ParameterError(f"{name}: argument {taken[0]!r}", got=f"one of {of.name} itself", expected=expected)
    source = _Transformed(made_by, inner or of, name, transform, extra, mode)
    return made_into(of, source, f"{text}\n\nArguments as for it:\n\n{of.__doc__}" if of.__doc__ else text)


def _form(inner: Form, program: Program) -> Form:
    """Return the form of derivatives: those of a named tuple have no such class."""
    if len(program.outputs) == 1 and program.outputs[0].name == RESULT:
        return Form()
    return inner if inner.kind in ("tuple", "derivatives") else Form("dict", tuple(a.name for a in program.outputs))


def _by_argument(inner: Form, program: Program, wrt: Sequence[str]) -> Form:
    """Return the form of derivatives by several arguments: each as it would be alone."""
    alone = replace(inner, kind="dict", type=None) if inner.kind == "named" else inner
    names = tuple(a.name for a in program.outputs)
    return Form("derivatives", names, by=tuple(f"d{n}" for n in wrt), inner=alone)


def moving_results(where: str, model: Model, program: Program, chosen: bool | Sequence[str | int]) -> list[str]:
    """Return the names of the results that are configurations: those chosen, by name or place, or True for all.

    Raises:
        UnknownNameError, ShapeError: for a result that does not exist, or is of another shape.
        ParameterError: if it cannot be told which they are.
    """
    shapes = {a.name: a.shape for a in program.outputs}
    if chosen is not True:
        names = [f"{RESULT}_{n}" if isinstance(n, int) else n for n in chosen or ()]
        for name in names:
            check_known("result", name, shapes, where)
            if shapes[name] != (model.nq,):
                raise ShapeError(where, name, got=shapes[name], expected=f"({model.nq},), a configuration")
        return names
    found = [name for name, shape in shapes.items() if shape == (model.nq,) and CONFIGURATION.fullmatch(name)]
    unclear = len(found) > 1 and model.nq == model.nv and found[0] != found[0].removeprefix(f"{RESULT}_")
    # velocities that are the coordinates' rates: it makes no difference what is a configuration
    is_flat = all(isinstance(factor, Euclidean) for factor in model.manifold.factors)
    if not found or (unclear and not is_flat):
        expected = f"results of shape ({model.nq},): the one, one of a tuple, or called q, q0, q1, q_... (not q_dot)"
        hint = 'Say which are configurations: tangent=("goal",) by name, tangent=(0,) by place in a tuple.'
        raise ParameterError(f"configurations among the results of {where}", got=shapes, expected=expected, hint=hint)
    return found


_RATE = r"(.*_)?(d?dot|rates?|vel|velocity|velocities|acc|accelerations?|derivatives?)(_.*)?"
CONFIGURATION = re.compile(rf"{RESULT}(_\d+)?|q[01]?|q_(?!{_RATE}$).*")
"""What results that are configurations are called, and not their rates; those of a tuple have no names."""


def _tangent(of: Function[..., Any], model: Model, wrt: str) -> Tangent:
    """Return the directions along which an argument can move."""
    rows = None
    if of.interface.shapes.get(wrt) == ("nq",):
        rows = model.manifold.velocity_to_configuration_derivative_jacobian
    elif wrt in model.inputs and model.inputs[wrt].is_pose:
        rows = _pose_directions
    return Tangent(wrt, _tangent_shape(of, model, wrt), rows)


def _tangent_shape(of: Function[..., Any], model: Model, wrt: str) -> tuple[int, ...]:
    """Return the shape of a change of an argument or of a model's input."""
    if wrt in model.inputs:
        given = model.inputs[wrt]
        return (*given.shape[:-2], 6) if given.is_pose else given.shape
    shape = of.interface.shapes.get(wrt, ())
    return (model.nv,) if shape == ("nq",) else core_shape(shape, model)


def _pose_directions(entries: list[Any]) -> list[list[Any]]:
    """Return how the entries of homogeneous matrices, row by row, move along X [e_k], six directions k a matrix."""
    count = len(entries) // 16
    rows: list[list[Any]] = [[0.0] * (6 * count) for _ in entries]
    for m in range(count):
        X = [entries[16 * m + 4 * i : 16 * m + 4 * i + 4] for i in range(3)]
        # X [e_k]: a translation along its own axes moves the last column, a turn the two other axes
        for i, (x, y, z, _) in enumerate(X):
            columns = {0: ((4, -z), (5, y)), 1: ((3, z), (5, -x)), 2: ((3, -y), (4, x)), 3: ((0, x), (1, y), (2, z))}
            for j, parts in columns.items():
                for k, rate in parts:
                    rows[16 * m + 4 * i + j][6 * m + k] = rate
    return rows


def _one_result(program: Program, shape: tuple[int, ...]) -> Program:
    """Return a program with its one output as the result, in another shape."""
    (output,) = program.outputs
    return replace(program, outputs=(output._replace(name=RESULT, shape=shape),))


def _check_one_name(of: Any, wrt: Any) -> None:
    check_function("function to differentiate", of)
    if not isinstance(wrt, str):
        hint = "cardan.derivative takes several, and goes backwards where there are fewer results."
        raise ParameterError("what to differentiate by", got=wrt, expected="the name of one argument", hint=hint)
