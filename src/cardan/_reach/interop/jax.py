"""Functions of a robot as functions of JAX: one call of machine code in its programs, with derivatives and batches."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan._algebra.errors import DTypeError, ParameterError
from cardan._compiler.runtime.extras import jax_package
from cardan._dynamics.call.arguments import broadcast, check_core
from cardan._dynamics.call.function import Function, check_function
from cardan._dynamics.call.signature import token
from cardan._reach.interop.wrapper import Wrapper
from cardan._robot.model import Model

if TYPE_CHECKING:
    from cardan._reach.interop.jax_primitive import Call

__all__ = ["Wrapped", "wrap"]


def wrap(function: Function[..., Any], model: Model, **options: Any) -> Wrapped:
    """Return a function of a robot as a function of JAX's arrays.

    Args:
        function: one of cardan's, or your own made by `cardan.function`, or the `function` of a simulation's solver.
        model: the robot. The inputs of one with inputs (`Model.with_inputs`) are arguments, by keyword.
        options: values of the function's options, such as `frame="tool"`; they may be given when it is called, too.

    Returns:
        A callable with the function's arguments, without the model, for arrays of shape (..., core shape) in float32 or
        float64, leading dimensions broadcast. Results have the form of the function's own; tuples, named tuples and
        dictionaries are pytrees. Under `jax.jit` it is one call without Python; `vmap` adds a leading dimension;
        derivatives of any order are compiled programs, by the entries of arrays as they stand (nq of a configuration).

    Raises:
        MissingExtraError, TargetError: without jax, or with one too old.
        UnknownNameError: for an option that is none.
        ParameterError, DTypeError: if the function is not a compiled one, or the model none.

    Examples:
        >>> from cardan.interop.jax import wrap
        >>> torques = wrap(cardan.inverse_dynamics, arm)
        >>> import jax
        >>> jax.jit(torques)(q, v, a).shape
        (7,)
        >>> jax.jacrev(torques)(q, v, a).shape
        (7, 7)
    """
    return Wrapped(function, model, options)


def called(function: Function[..., Any], model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return what a function returns that is called where JAX traces, as in `jax.jit` or `jax.grad`."""
    return _wrapped(function, model)(*args, **kwargs)


def called_bound(*_: Any) -> Any:
    """Leave the arrays of a bound function to NumPy, which refuses what JAX traces."""
    return NotImplemented


@functools.lru_cache(maxsize=64)
def _wrapped(function: Function[..., Any], model: Model) -> Wrapped:
    return Wrapped(function, model, {})


class Wrapped(Wrapper):
    """A function of a robot, for JAX: what `wrap` returns.

    Attributes:
        function: the compiled function.
        model: the robot.
        options: what was given to `wrap`.

    Examples:
        >>> from cardan.interop.jax import wrap
        >>> wrap(cardan.frame_transform, arm, frame="tool")
        <frame_transform of arm7, for JAX>
    """

    framework = "JAX"

    def __init__(self, function: Function[..., Any], model: Model, options: Mapping[str, Any]) -> None:
        jax_package()
        check_function("function to wrap", function)
        if function.target not in (None, "llvm"):
            got, expected = f"one on {function.target!r}", 'one on native code: function.on("llvm")'
            raise ParameterError(f"function to wrap ({function.name})", got=got, expected=expected)
        super().__init__(function.on("llvm"), model, options, function.interface.open)
        self._calls: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results.

        Raises:
            TypeError: if an argument is missing, unknown, or given twice.
            ShapeError, DTypeError: for an array that does not fit; integers are refused.
        """
        given = self._given(args, kwargs)
        self._check_options(given)
        said = {n: 0.0 if _is_jax(value) else value for n, value in given.items()}
        arrays, options = self.function.interface.call(self.model, (), said)
        for name in arrays:
            # What cannot be an array at all; what is in one is seen later.
            value = given[name]
            if not hasattr(value, "__array__") and not isinstance(value, (int, float, complex, list, tuple)):
                got, expected = f"a {type(value).__name__}", "an array of numbers"
                raise DTypeError(self.function.name, name, got=got, expected=expected)
        run, form = self._run(tuple(arrays), options)
        return form.rebuilt(run(*(given[n] for n in arrays)))

    def _check_options(self, given: Mapping[str, Any]) -> None:
        """Raise for an array of JAX where an option is meant; one of floats may be a number to calculate with."""
        interface = self.function.interface
        for name in interface.open:
            value: Any = given[name]
            if _is_jax(value) and (value.dtype.kind != "f" or value.ndim or name in interface.fixed):
                hint = f"Give it to wrap(..., {name}=...), or mark it: jax.jit(..., static_argnames={name!r})."
                got = f"an array of JAX, {value.dtype}{list(value.shape)}"
                expected = "an option, known while tracing"
                raise DTypeError(self.function.name, name, got=got, expected=expected, hint=hint)

    def _run(self, names: tuple[str, ...], options: Any) -> Any:
        """Return what evaluates a choice of arrays and options, and the form of its results."""
        from cardan._reach.interop.jax_primitive import Call  # needs jax

        key = names, token(options)
        if key not in self._calls:
            call = Call(self.function, self.model, names, options)
            run = jax_package().jit(functools.partial(_evaluated, call), inline=True)
            self._calls[key] = run, call.form
        return self._calls[key]


@functools.cache
def _array_type() -> Any:
    return jax_package().Array


def _is_jax(value: Any) -> bool:
    return isinstance(value, _array_type())


def _evaluated(call: Call, *given: Any) -> list[Any]:
    jnp, where = jax_package().numpy, call.function.name
    arrays = {n: jnp.asarray(value) for n, value in zip(call.names, given, strict=True)}
    for name, array in arrays.items():
        if array.dtype not in (jnp.float32, jnp.float64):
            hint = f"Integers have no derivatives: {name}.astype(float); 2.0 for 2." if array.dtype.kind in "iu" else ""
            raise DTypeError(where, name, got=f"an array of {array.dtype}", expected="float32 or float64", hint=hint)
        check_core(where, name, array.shape, call.inputs[name])
    dtype = jnp.result_type(*arrays.values()) if arrays else jnp.zeros(()).dtype
    leading = {n: a.shape[: a.ndim - len(call.inputs[n])] for n, a in arrays.items()}
    try:
        batch = jnp.broadcast_shapes(*leading.values())  # dimensions may be symbols, when exported
    except ValueError:
        batch = broadcast(where, leading)  # which says more
    whole = {n: jnp.broadcast_to(a.astype(dtype), (*batch, *call.inputs[n])) for n, a in arrays.items()}
    return call.bind(_varying_alike(whole), dtype)


def _varying_alike(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arrays that vary over the same axes of a mesh: inside `shard_map`, all must before they meet."""
    jax = jax_package()
    axes = {n: _varying(jax.typeof(a)) for n, a in arrays.items()} if hasattr(jax, "typeof") else {}
    every = frozenset().union(*axes.values())
    if not every:
        return arrays
    cast = functools.partial(jax.lax.pcast, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary
    return {n: cast(a, tuple(every - axes[n])) if every - axes[n] else a for n, a in arrays.items()}


def _varying(kind: Any) -> frozenset[str]:
    """Return the axes of a mesh along which an array differs from device to device; newer versions say it elsewhere."""
    manual = getattr(kind, "manual_axis_type", None)
    return getattr(kind, "vma", frozenset()) if manual is None else manual.varying
