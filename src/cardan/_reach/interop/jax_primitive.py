"""A primitive of JAX that calls compiled functions: how it is batched, differentiated, and handed to XLA.

It acts on arrays of shape (batch..., core...) with the same leading dimensions each. Its rate along directions of its
arguments is the function *pushed*, which is linear in the directions; the transpose of that is the function *pulled*
(`call/plain.py`). Both are calls of the same primitive, and differentiated likewise.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
from collections.abc import Mapping, Sequence, Set
from importlib import import_module
from typing import Any

import numpy as np

from cardan._algebra.errors import TargetError
from cardan._compiler.program import Array
from cardan._compiler.runtime.extras import jax_package
from cardan._compiler.targets.cuda.driver import driver
from cardan._compiler.targets.llvm.image import LOCK
from cardan._compiler.targets.llvm.target import MANY, few_states
from cardan._compiler.targets.llvm.xla import Handler, words_of
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.plain import Way, extra_names, plain_derivative
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options
from cardan._robot.model import Model

jax = jax_package()
jnp = jax.numpy
ad, batching, mlir = (import_module(f"jax.interpreters.{name}") for name in ("ad", "batching", "mlir"))
core = import_module("jax.extend.core")


class Call:
    """A function, on native code, for one model and one choice of its arrays and options: what the primitive computes.

    `outputs` are the results, where they are known without the program. Of a pushed function `made_of` is the call that
    it is the rate of, and which argument each direction belongs to.
    """

    def __init__(
        self,
        function: Function,
        model: Model,
        names: tuple[str, ...],
        options: Options,
        outputs: Sequence[Array] | None = None,
        made_of: tuple[Call, Mapping[str, str]] | None = None,
    ) -> None:
        self.function, self.model, self.names, self.options, self.made_of = function, model, names, options, made_of
        cores = function.interface.cores(model)
        self.inputs = {n: cores[n] for n in names}
        self._outputs = outputs
        self._derived: dict[tuple[Way, tuple[str, ...]], Call] = {}
        self._run: dict[np.dtype, Any] = {}

    def __repr__(self) -> str:
        return f"{self.function.name} of {self.model.name}"

    @property
    def outputs(self) -> Sequence[Array]:
        """The results. Those of a derivative are known before it is made: often only its transpose is wanted."""
        return self._outputs or self.compiled.outputs

    @property
    def compiled(self) -> Any:
        return self.function.compiled(self.model, self.names, self.options)

    @property
    def form(self) -> Form:
        return self.compiled.form

    def derived(self, way: Way, wrt: tuple[str, ...]) -> Call:
        """Return the call of the results' rates, of gradients, or of Jacobians by some arrays; see `call/plain.py`."""
        if (way, wrt) not in self._derived:
            function = plain_derivative(way, self.function, self.model, wrt, self.names, self.options)
            extra, outputs, made_of = extra_names(function), None, None
            if way == "pushed":
                outputs, made_of = self.outputs, (self, dict(zip(extra, wrt, strict=True)))
            if way == "pulled":
                outputs = [Array(n, self.inputs[n]) for n in wrt]
            names = function.interface.order(self.model, {*self.names, *extra})
            self._derived[way, wrt] = Call(function, self.model, names, (), outputs, made_of)
        return self._derived[way, wrt]

    def serves_jacobian(self, still: Set[str], directions: int) -> bool:
        """Return whether rates along many directions at one state are a known Jacobian times these."""
        before, owners = self.made_of or (self, {})
        known = getattr(before.function.made_from, "known", None)
        if known is None or not {*before.names} <= {*known.wrt} or still != {*self.names} - {*owners}:
            return False
        return directions >= sum(math.prod(self.inputs[n]) for n in owners)

    def bind(self, values: Mapping[str, Any], dtype: np.dtype) -> list[Any]:
        return PRIMITIVE.bind(*(values[n] for n in self.names), call=self, dtype=dtype)

    def at_once(self, dtype: np.dtype) -> Any:
        """Return the function of arrays, compiled by JAX: for calls that are in no program of its own."""
        if dtype not in self._run:
            self._run[dtype] = jax.jit(lambda *arrays: PRIMITIVE.bind(*arrays, call=self, dtype=dtype))
        return self._run[dtype]


PRIMITIVE: Any = core.Primitive("cardan")
PRIMITIVE.multiple_results = True


@PRIMITIVE.def_impl
def _evaluate(*arrays: Any, call: Call, dtype: np.dtype) -> list[Any]:
    with jax.disable_jit(False):  # else it would come here again
        return call.at_once(dtype)(*arrays)


@PRIMITIVE.def_abstract_eval
def _abstract(*arrays: Any, call: Call, dtype: np.dtype) -> list[Any]:
    batch = _leading(call, arrays)
    return [_spread_like(arrays, len(batch), jax.core.ShapedArray((*batch, *a.shape), dtype)) for a in call.outputs]


def _spread_like(arrays: Sequence[Any], batch: int, result: Any) -> Any:
    """Return a result spread over a mesh of devices as the arguments are: along the leading dimensions."""
    sharding = getattr(arrays[0], "sharding", None) if arrays else None
    if sharding is None or sharding.mesh.empty:
        return result
    spec = jax.sharding.PartitionSpec(*tuple(sharding.spec)[:batch], *[None] * (result.ndim - batch))
    alike = jax.sharding.NamedSharding(sharding.mesh, spec)
    return arrays[0].update(shape=result.shape, dtype=result.dtype, sharding=alike)


def _leading(call: Call, arrays: Sequence[Any]) -> tuple[int, ...]:
    if not arrays:
        return ()
    return arrays[0].shape[: arrays[0].ndim - len(call.inputs[call.names[0]])]


def _batched(
    arrays: Sequence[Any], axes: Sequence[Any], *, call: Call, dtype: np.dtype
) -> tuple[list[Any], tuple[int, ...]]:
    """One more leading dimension; what has none is repeated along it."""
    (size,) = {a.shape[k] for a, k in zip(arrays, axes, strict=True) if k is not None}
    still = {n for n, k in zip(call.names, axes, strict=True) if k is None}
    moved = [
        jnp.broadcast_to(a, (size, *a.shape)) if k is None else jnp.moveaxis(a, k, 0)
        for a, k in zip(arrays, axes, strict=True)
    ]
    if call.serves_jacobian(still, size):
        own = (a if n in still else b for n, a, b in zip(call.names, arrays, moved, strict=True))
        results = _by_jacobian(call, dict(zip(call.names, own, strict=True)), dtype)
    else:
        results = PRIMITIVE.bind(*moved, call=call, dtype=dtype)
    return results, (0,) * len(results)


def _by_jacobian(call: Call, values: Mapping[str, Any], dtype: np.dtype) -> list[Any]:
    """The rates along many directions, of which each is a row of an array more: one Jacobian times all of them."""
    before, owners = call.made_of or (call, {})
    J = iter(before.derived("jacobian", tuple(owners.values())).bind(values, dtype))
    rates: list[Any] = [0.0] * len(call.outputs)
    for name in owners:
        for k, y in enumerate(call.outputs):
            i = "abcdefgh"[: len(y.shape)]
            rates[k] += jnp.einsum(f"...{i}j,z...j->z...{i}", next(J), values[name], precision="highest")
    return rates


batching.primitive_batchers[PRIMITIVE] = _batched


def _moved(
    arrays: Sequence[Any], directions: Sequence[Any], *, call: Call, dtype: np.dtype
) -> tuple[list[Any], list[Any]]:
    """The results, and their rates as those arguments move whose direction is not known to be 0."""
    values = dict(zip(call.names, arrays, strict=True))
    moving = {n: d for n, d in zip(call.names, directions, strict=True) if type(d) is not ad.Zero}
    along = call.derived("pushed", tuple(moving))
    _, owners = along.made_of or (call, {})
    rates = along.bind(values | {n: moving[owner] for n, owner in owners.items()}, dtype)
    return call.bind(values, dtype), rates


def _transposed(weights: Sequence[Any], *arrays: Any, call: Call, dtype: np.dtype) -> list[Any]:
    """The gradients by the arguments in which the call is linear, which are not known."""
    values = dict(zip(call.names, arrays, strict=True))
    linear = tuple(n for n, a in values.items() if ad.is_undefined_primal(a))
    given = [ad.instantiate_zeros(w) for w in weights]
    before, owners = call.made_of or (call, {})
    if linear == tuple(n for n in call.names if n in owners):  # of a rate: the function itself, pulled
        back = before.derived("pulled", tuple(owners[n] for n in linear))
    else:  # it is linear in these: its gradient is the same wherever they are
        back = call.derived("pulled", linear)
        values |= {n: ad.instantiate_zeros(ad.Zero(values[n].aval)) for n in linear}
    values |= zip(extra_names(back.function), given, strict=True)
    found = dict(zip(linear, back.bind(values, dtype), strict=True))
    return [found.get(n) for n in call.names]


ad.primitive_jvps[PRIMITIVE] = _moved
ad.primitive_transposes[PRIMITIVE] = _transposed

_TARGETS: dict[str, Handler] = {}  # what XLA knows, by name


def _target(call: Call, dtype: np.dtype, rows: int, on_device: bool) -> str:
    """Return the name under which XLA knows a program: by its content, so that it is the same in every process."""
    compiled = call.function.on("cuda").compiled(call.model, call.names, call.options) if on_device else call.compiled
    run: Any = compiled.run  # of machine code or of kernels: both have an outline
    plain, outline = re.sub(r"\W", "_", call.function.name)[:80], run.outline
    again = f"_{outline.passes}_times" if outline.passes else ""
    kind = "_cuda" if on_device else "_few" * (rows <= few_states(dtype))
    name = f"cardan_{plain}_{outline.digest[:24]}_{dtype}{again}{kind}"
    with LOCK:
        if name not in _TARGETS:
            handler, platform = _handler(compiled, dtype, rows, on_device), "CUDA" if on_device else "cpu"
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(ctypes.c_void_p(handler.address)), platform=platform)
            jax.ffi.register_ffi_target_as_batch_partitionable(name)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(handler))  # XLA's threads may outlive all modules
            _TARGETS[name] = handler
    return name


def _handler(compiled: Any, dtype: np.dtype, rows: int, on_device: bool) -> Handler:
    run, shapes = compiled.run, [[a.shape for a in side] for side in (compiled.inputs, compiled.outputs)]
    if on_device:
        found = driver().on_all(run.outline, run.program, dtype == np.float32)
        return Handler(found.words, dtype, *shapes, device=True, keep=found)
    code = run.code(dtype, rows, for_good=True)
    return Handler(words_of(code, run.work, run.outline.passes), dtype, *shapes, keep=code)


def _lowered(context: Any, *operands: Any, call: Call, dtype: np.dtype, on_device: bool = False) -> Any:
    """The call as XLA has it; of arrays without entries there is nothing to call."""
    if all(0 in a.shape for a in context.avals_out):
        zeros = lambda *_, **__: [jnp.zeros(a.shape, dtype) for a in context.avals_out]  # noqa: E731
        return mlir.lower_fun(zeros, multiple_results=True)(context, *operands)
    batch = _leading(call, context.avals_in)
    known = all(isinstance(n, int) for n in batch)  # when exported, dimensions may be symbols
    rows = math.prod(batch) if known else MANY
    name = _target(call, dtype, rows, on_device)
    lowering = jax.ffi.ffi_lowering(name, extra_attributes=_spread(context, len(batch)) if known else {})
    return lowering(context, *operands)


def _spread(context: Any, batch: int) -> dict[str, Any]:
    """Return what says that states are independent: arrays spread over devices are computed where they are."""
    if not batch:
        return {}
    leading = {"num_batch_dims": mlir.ir.StringAttr.get(str(batch))}
    found: dict[str, Any] = {"mhlo.frontend_attributes": mlir.ir.DictAttr.get(leading)}
    if jax.config.jax_use_shardy_partitioner:
        rule = sharding_rule(batch, [a.shape for a in context.avals_in], [a.shape for a in context.avals_out])
        found["sdy.sharding_rule"] = mlir.ir.Attribute.parse(rule)
    return found


def sharding_rule(batch: int, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> str:
    """Return the rule by which Shardy, XLA's partitioner, spreads a call: leading dimensions alike, others apart.

    It names every dimension, i, j, ..., z, z_1, ..., in the order of appearance, and says their sizes. The first
    `batch` dimensions of all shapes are the leading ones.

    Examples:
        >>> sharding_rule(1, [(8, 7)], [(8, 3)])
        '#sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=7, k=3}, custom>'
    """
    sizes = dict(zip(map(_factor, range(batch)), (*inputs, *outputs)[0], strict=False))

    def named(shape: tuple[int, ...]) -> str:
        own = [_factor(len(sizes) + k) for k in range(len(shape) - batch)]
        sizes.update(zip(own, shape[batch:], strict=True))
        return f"[{', '.join([*map(_factor, range(batch)), *own])}]"

    sides = (", ".join(map(named, side)) for side in (inputs, outputs))
    arrays = "->".join(f"({side})" for side in sides)
    return f"#sdy.op_sharding_rule<{arrays} {{{', '.join(f'{n}={size}' for n, size in sizes.items())}}}, custom>"


def _factor(k: int) -> str:
    return chr(ord("i") + k) if k < 18 else f"z_{k - 17}"


def _elsewhere(context: Any, *_: Any, call: Call, dtype: np.dtype) -> Any:
    platforms = ", ".join(getattr(context.module_context, "platforms", ("another",)))
    raise TargetError(
        f"{call.function.name}: asked for on {platforms}, but under JAX cardan's functions run on CPUs and on NVIDIA's "
        'devices. Put the arrays there, jax.device_put(q, jax.devices("cpu")[0]), or all: '
        'jax.config.update("jax_platforms", "cpu").'
    )


mlir.register_lowering(PRIMITIVE, _lowered, platform="cpu")
mlir.register_lowering(PRIMITIVE, functools.partial(_lowered, on_device=True), platform="cuda")
mlir.register_lowering(PRIMITIVE, _elsewhere)
