"""Derivatives: of the dynamics by their own recursions, and of any compiled function by differentiating its program.

A derivative by a configuration (q, q0, q1) is along the tangent: nv columns, column j the rate of change as the
configuration moves to integrate(q, e_j). Constants that are inputs of the model count as arguments; one by a pose X has
six columns, along X exp(e_k). All derivatives are compiled functions themselves, with batches, targets,
`bind` and derivatives of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from cardan.algorithms import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from cardan.errors import ParameterError, UnknownNameError
from cardan.functions.arguments import Shape, core_shape
from cardan.functions.dynamics import without_loops, wrenches
from cardan.functions.function import Function, function
from cardan.functions.results import RESULT
from cardan.functions.vocabulary import Reals, algorithms
from cardan.model import Model, economical
from cardan.program import Op, Program
from cardan.program.autodiff import Derivatives, pullback, pushforward
from cardan.program.replay import replay
from cardan.scalar import is_zero

Mode = Literal["auto", "forward", "reverse"]


@function
def inverse_dynamics_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_forces: ArrayLike | None = None
) -> InverseDynamicsDerivatives[Reals]:
    """Return the derivatives of `inverse_dynamics` by q, v and a.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        external_forces: as for `inverse_dynamics`; constant in the bodies' own frames.

    Returns:
        `InverseDynamicsDerivatives(dq, dv, da)`, each of shape (..., nv, nv); da is the mass matrix.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Peers: Pinocchio `computeRNEADerivatives`, MuJoCo `mjd_inverseFD` (by differences).

    Source: after Singh, Russo and Wensing (2022); see `algorithms/derivatives.py`.
    """
    return algorithms.inverse_dynamics_derivatives(economical(model), q, v, a, wrenches(external_forces))


@function
def forward_dynamics_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external_forces: ArrayLike | None = None
) -> ForwardDynamicsDerivatives[Reals]:
    """Return the derivatives of `forward_dynamics` by q, v and tau.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        tau: joint efforts [N m, N], shape (..., nv).
        external_forces: as for `forward_dynamics`; constant in the bodies' own frames.

    Returns:
        `ForwardDynamicsDerivatives(dq, dv, dtau)`, each of shape (..., nv, nv); dtau is the inverse of the mass matrix.

    Raises:
        MechanismError: if the model has closed loops; `derivative(constrained_forward_dynamics, ...)` is for them.
        ShapeError, DTypeError: for an array that does not fit.

    Peers: Pinocchio `computeABADerivatives`, MuJoCo `mjd_transitionFD` (by differences, of a step).

    Source: Carpentier and Mansard (2018), section IV.
    """
    model = without_loops(model, "forward_dynamics_derivatives")
    return algorithms.forward_dynamics_derivatives(economical(model), q, v, tau, wrenches(external_forces))


def derivative(of: Function, wrt: str, *, mode: Mode = "auto") -> Function:
    """Return the compiled function of the derivatives of a compiled function.

    Args:
        of: y = of(model, q, ...), a function made by `cardan.function` or one of cardan's own.
        wrt: the name x of one of its array arguments, or of an input of the model (`Model.with_inputs`).
        mode: `"forward"` or `"reverse"` accumulation; by default the one with fewer directions.

    Returns:
        A function of the same arguments; its results have the shapes (*y, nv) where x is a configuration, (*y, *x)
        otherwise. Several results come as a dictionary by name.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: if there is no such mode.

    Source: Griewank and Walther, Evaluating Derivatives (2008).
    """
    _check_function(of)
    if mode not in ("auto", "forward", "reverse"):
        raise ParameterError("mode", got=mode, expected="'auto', 'forward' or 'reverse'")

    def kernel(model: Model, *args: Any, **kwargs: Any) -> Any:
        program, inputs = _given(of, wrt, model, args, kwargs)
        basis = _Tangent(of, model, program, wrt, inputs)
        chosen = mode if mode != "auto" else "forward" if basis.size <= len(program.results) else "reverse"
        rows = _forward(program, inputs, basis) if chosen == "forward" else _reverse(program, inputs, basis)
        return _by_output(program, rows, basis.shape)

    return _derived(kernel, of, f"{of.name}_d{wrt}", f"Return the derivative of {of.name} by {wrt}.")


def gradient(of: Function, wrt: str) -> Function:
    """Return the compiled function of the gradient of a function with a single number as result.

    It has the shape (nv,) where `wrt` is a configuration, that of the argument otherwise; reverse accumulation makes
    it cost a few times the function whatever its length.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: when it is called, if the function's result is not a single number.
    """
    inner = derivative(of, wrt, mode="reverse")

    def kernel(model: Model, *args: Any, **kwargs: Any) -> Any:
        program, _ = _given(of, wrt, model, args, kwargs)
        if len(program.results) != 1:
            expected = "a function whose result is one number; use cardan.derivative for others"
            raise ParameterError(
                f"function to take the gradient of ({of.name})", got=program.outputs, expected=expected
            )
        result = np.asarray(inner.kernel(model, *args, **kwargs))
        return result.reshape(result.shape[len(program.outputs[0].shape) :])

    return _derived(kernel, of, f"{of.name}_gradient", f"Return the gradient of {of.name} by {wrt}.")


def hessian(of: Function, wrt: str) -> Function:
    """Return the compiled function of the second derivatives of a function with a single number as result.

    Entry (i, j) is symmetric: for a configuration, v^T H v is the second derivative of t -> f(integrate(q, t v)) at 0.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: when it is called, if the function's result is not a single number.
    """
    second = derivative(gradient(of, wrt), wrt, mode="forward")

    def kernel(model: Model, *args: Any, **kwargs: Any) -> Any:
        H = np.asarray(second.kernel(model, *args, **kwargs))
        n = int(np.sqrt(H.size))
        square = H.reshape(n, n).copy()
        symmetric = [
            [0.5 * (square[i, j] + square[j, i]) if i != j else square[i, i] for j in range(n)] for i in range(n)
        ]
        return np.array(symmetric, dtype=object).reshape(H.shape)

    return _derived(kernel, of, f"{of.name}_hessian", f"Return the Hessian of {of.name} by {wrt}.")


def jacobian_vector_product(of: Function, wrt: str) -> Function:
    """Return the compiled function of the results' rate of change along a direction, given as `direction=`.

    The direction has shape (nv,) where `wrt` is a configuration, that of the argument otherwise. It costs about twice
    the function.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
    """
    _check_function(of)

    def kernel(model: Model, *args: Any, direction: Any, **kwargs: Any) -> Any:
        program, inputs = _given(of, wrt, model, args, kwargs)
        basis = _Tangent(of, model, program, wrt, inputs)
        rates = basis.along(list(np.asarray(direction).ravel()))
        found = pushforward(program, replay(program, inputs), {k: {0: rate} for k, rate in rates.items()})
        return _by_output(program, [[found[r].get(0, 0.0)] for r in program.results], ())

    text = f"Return the rate of change of {of.name} as {wrt} moves along `direction`."
    return _derived(kernel, of, f"{of.name}_jvp", text, direction=lambda model: _tangent_shape(of, model, wrt))


def vector_jacobian_product(of: Function, wrt: str) -> Function:
    """Return the compiled function of the gradient of the results weighed with `weights=` and summed.

    It costs a few times the function, whatever the length of `wrt`. The function's result must be one array whose
    shape is declared (`returns=`), or a single number.

    Raises:
        UnknownNameError: when it is called, if neither the function nor the model has such an argument or input.
        ParameterError: when it is called, if the result is not of the declared shape.
    """
    _check_function(of)
    shape = of.returns or ()

    def kernel(model: Model, *args: Any, weights: Any, **kwargs: Any) -> Any:
        program, inputs = _given(of, wrt, model, args, kwargs)
        flat = list(np.asarray(weights).ravel())
        if len(flat) != len(program.results):
            expected = "one result of a declared shape: @cardan.function(returns=(...))"
            raise ParameterError(f"function to pull back through ({of.name})", got=program.outputs, expected=expected)
        basis = _Tangent(of, model, program, wrt, inputs)
        seeds: dict[int, Derivatives] = {}
        for r, weight in zip(program.results, flat, strict=True):
            known = seeds.setdefault(r, {})
            known[0] = known[0] + weight if 0 in known else weight
        rows = basis.pulled(program, pullback(program, replay(program, inputs), seeds), 1)
        return _array(rows[0], basis.shape)

    text = f"Return the gradient by {wrt} of {of.name}, weighed with `weights`."
    return _derived(kernel, of, f"{of.name}_vjp", text, weights=shape)


class _Tangent:
    """The directions of one argument: where its entries stand, and how they move along each."""

    def __init__(self, of: Function, model: Model, program: Program, wrt: str, inputs: list[Any]) -> None:
        names = [a.name for a in program.inputs]
        if wrt not in names:
            raise ParameterError(
                f"{of.name}: argument {wrt!r}", got="none", expected="it given: its derivative is taken"
            )
        k = names.index(wrt)
        self.start = sum(a.size for a in program.inputs[:k])
        entries = inputs[self.start : self.start + program.inputs[k].size]
        self.J: list[list[Any]] | None = None
        if of.shapes.get(wrt) == ("nq",):
            self.J = model.manifold.velocity_to_configuration_derivative_jacobian(entries)
        elif wrt in model.inputs and model.inputs[wrt].is_pose:
            self.J = _pose_directions(entries)
        self.shape = _tangent_shape(of, model, wrt)
        self.size = int(np.prod(self.shape, dtype=int))

    def seeds(self) -> dict[int, Derivatives]:
        """Return the derivative of each flattened input along each direction."""
        if self.J is None:
            return {self.start + j: {j: 1.0} for j in range(self.size)}
        return {self.start + i: {j: e for j, e in enumerate(row) if not is_zero(e)} for i, row in enumerate(self.J)}

    def along(self, direction: list[Any]) -> dict[int, Any]:
        """Return the rate of each flattened input along one direction."""
        rates: dict[int, Any] = {}
        for k, row in self.seeds().items():
            for j, e in row.items():
                rates[k] = rates[k] + direction[j] * e if k in rates else direction[j] * e
        return rates

    def pulled(self, program: Program, found: list[Derivatives], rows: int) -> list[list[Any]]:
        """Return the derivatives of each row along each direction, from those by the instructions."""
        by_input = {int(i.value): found[k] for k, i in enumerate(program.instructions) if i.op is Op.INPUT}
        total: list[list[Any]] = [[0.0] * self.size for _ in range(rows)]
        for k, row in self.seeds().items():
            for r, d in by_input.get(k, {}).items():
                for j, e in row.items():
                    total[r][j] = total[r][j] + d * e
        return total


def _tangent_shape(of: Function, model: Model, wrt: str) -> tuple[int, ...]:
    """Return the shape of a change of an argument or of a model's input."""
    if wrt in of.shapes:
        return (model.nv,) if of.shapes[wrt] == ("nq",) else core_shape(of.shapes[wrt], model)
    given = model.inputs[wrt]
    return (*given.shape[:-2], 6) if given.is_pose else given.shape


def _pose_directions(entries: list[Any]) -> list[list[Any]]:
    """Return how the entries of homogeneous matrices, row by row, move along X [e_k], six directions k a matrix."""
    count = len(entries) // 16
    rows: list[list[Any]] = [[0.0] * (6 * count) for _ in entries]
    for m in range(count):
        X = [entries[16 * m + 4 * i : 16 * m + 4 * i + 4] for i in range(3)]
        for i, (x, y, z, _) in enumerate(X):
            columns = {0: ((4, -z), (5, y)), 1: ((3, z), (5, -x)), 2: ((3, -y), (4, x)), 3: ((0, x), (1, y), (2, z))}
            for j, parts in columns.items():
                for k, rate in parts:
                    rows[16 * m + 4 * i + j][6 * m + k] = rate
    return rows


def _forward(program: Program, inputs: list[Any], basis: _Tangent) -> list[list[Any]]:
    found = pushforward(program, replay(program, inputs), basis.seeds())
    return [[found[r].get(j, 0.0) for j in range(basis.size)] for r in program.results]


def _reverse(program: Program, inputs: list[Any], basis: _Tangent) -> list[list[Any]]:
    seeds: dict[int, Derivatives] = {}
    for i, r in enumerate(program.results):
        seeds.setdefault(r, {})[i] = 1.0
    found = pullback(program, replay(program, inputs), seeds)
    return basis.pulled(program, found, len(program.results))


def _given(of: Function, wrt: str, model: Model, args: Any, kwargs: Mapping[str, Any]) -> tuple[Program, list[Any]]:
    """Return the function's program for what is given, and the flattened arguments."""
    if wrt not in of.shapes and wrt not in model.inputs:
        raise UnknownNameError("array argument", wrt, (*of.shapes, *model.inputs), where=of.name)
    arrays, options = of.arguments(model, args, dict(kwargs))
    program = of.compiled(model, tuple(arrays), options).program
    return program, [e for array in arrays.values() for e in np.asarray(array, dtype=object).ravel()]


def _by_output(program: Program, rows: list[list[Any]], shape: tuple[int, ...]) -> Any:
    """Return rows of derivatives in the shape of the results: one array, or a dictionary by name."""
    parts, start = {}, 0
    for output in program.outputs:
        flat = [e for row in rows[start : start + output.size] for e in row]
        parts[output.name] = _array(flat, (*output.shape, *shape))
        start += output.size
    return parts[RESULT] if list(parts) == [RESULT] else parts


def _array(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def _check_function(of: Any) -> None:
    if not isinstance(of, Function):
        raise ParameterError(
            "function to differentiate", got=of, expected="one made by @cardan.function, or cardan's own"
        )


def _derived(kernel: Any, of: Function, name: str, doc: str, **arrays: Shape) -> Function:
    """Return a kernel as a function with the arguments of another, and further arrays by keyword."""
    parameters = list(of.parameters.parameters.values())
    extra = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in arrays]
    kernel.__signature__ = inspect.Signature([*parameters, *extra])
    kernel.__name__, kernel.__qualname__ = name, name
    kernel.__doc__ = f"{doc}\n\nArguments as for it:\n\n{of.__doc__}" if of.__doc__ else doc
    shapes = {**of.shapes, **arrays}
    return Function(kernel, shapes, target=of.target, threads=of.threads, differentiates=True)
