"""The operator of PyTorch that runs compiled programs: `torch.ops.cardan.evaluate(arrays, program)`.

What PyTorch must know of it: results for tensors without data (to compile, and on the device "meta"), its gradient and
its rate along directions, which are the same operator on other programs, and what a batch of calls is: one call.
Nothing is ever computed elsewhere, or in another precision, than the arrays are in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from cardan._algebra.errors import DTypeError, TargetError
from cardan._compiler.runtime.extras import package
from cardan._dynamics.call.arguments import broadcast, check_core
from cardan._dynamics.call.compiled import Bound, bound
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.plain import Way, extra_names, plain_derivative
from cardan._dynamics.call.results import Form
from cardan._dynamics.call.signature import Options
from cardan._reach.interop import on_device
from cardan._reach.interop.on_device import Layout, Library
from cardan._robot.model import Model

LOWEST = (2, 13)  # the first version this was run on; it uses names of PyTorch that it promises to nobody
torch = package("torch", "cardan.interop.torch", "torch", LOWEST)

# --- tensors on CUDA devices: computed there, on PyTorch's current stream, by the target cuda ---

_DTYPES = {torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}


class Torch(Library):
    kind = "torch.Tensor"

    def holds(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.is_cuda

    def number_of(self, tensor: Any) -> int:
        return tensor.device.index

    def layout(self, array: Any) -> Layout:
        dtype, shape = _DTYPES.get(array.dtype), tuple(array.shape)
        holds_values = not array.is_neg()  # else they are the negatives of what is written
        return Layout(array.data_ptr(), shape, tuple(array.stride()), dtype, self.number_of(array), holds_values)

    def stream(self, where: str, arrays: Mapping[str, Any], device: int) -> int:
        return torch.cuda.current_stream(device).cuda_stream

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, like: Any) -> Any:
        return torch.empty(shape, dtype=like.dtype, device=like.device)

    def filled(self, number: float, dtype: np.dtype, like: Any) -> Any:
        return torch.full((), number, dtype=like.dtype, device=like.device)

    def copied(self, where: str, name: str, array: Any, shape: tuple[int, ...]) -> Any:
        return array.expand(shape).contiguous()


library = Torch()


def evaluate_there(arrays: Sequence[Any], program: Program) -> list[Any]:
    """Return the results for tensors on one device, without derivatives; errors as `on_device.called`."""
    compiled = on_device.on_cuda(program.function).compiled(program.model, program.names, program.options)
    plain = [array.detach().resolve_neg() for array in arrays]  # a view may say "negate me"
    given = dict(zip(program.names, plain, strict=True))
    cores = dict(zip(program.names, program.cores, strict=True))
    return on_device.Given(library, program.function.name, given, cores).results(compiled)


def called_bound(bound: Bound, arrays: Sequence[Any], out: Any) -> Any:
    """See `on_device.called_bound`; NotImplemented for tensors in the memory of the processor, which NumPy reads."""
    if not any(map(library.holds, arrays)):
        return NotImplemented
    function, _, names, *_ = bound.made_by
    given = {**dict(zip(names, arrays, strict=False)), "out": out}
    tracked = [n for n, x in given.items() if getattr(x, "requires_grad", False)]
    if tracked and torch.is_grad_enabled():
        expected = "a tensor without: a bound function has no gradient"
        hint = f"cardan.interop.torch.wrap({function.name}, model) has; {tracked[0]}.detach() needs none."
        raise DTypeError(function.name, tracked[0], got="one that requires a gradient", expected=expected, hint=hint)
    plain = [x.resolve_neg() if library.holds(x) else x for x in arrays]
    return on_device.called_bound(library, bound, plain, out)


# --- programs as the operator knows them: by a text, which says what is computed ---
#
# An operator takes tensors and plain data, and stays in a process for good. So there is one for all programs; which one
# it runs is told by a name with the digest of the program in it, and of a derivative, by how it follows from another:
#
#     inverse_dynamics-0c6e5f2b8a17d3e4        that | pulled by 0,1        that | pulled by 0,1 | pushed by 3
#
# Wrapped functions hold their programs, and these their derivatives; nothing else does, so what is dropped is freed.

THEN, BY = " | ", " by "


class Program:
    """A function of one model for one choice of arrays, by their names in order, and options. `program_of` makes it."""

    def __init__(self, name: str, function: Function, model: Model, names: tuple[str, ...], options: Options) -> None:
        self.name, self.function, self.model, self.names, self.options = name, function, model, names, options
        cores, compiled = function.interface.cores(model), function.compiled(model, names, options)
        self.cores = tuple(cores[n] for n in names)  # core shapes of the arrays
        self.results = tuple(a.shape for a in compiled.outputs)  # and of the results
        self._form: Form = compiled.form
        self._run = bound(function, model, names, options)
        self._derived: dict[tuple[Any, ...], Derived] = {}

    def evaluate(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(y) for y in self._form.parts(self._run(*arrays)) or ()]

    def derived(self, way: Way, wrt: Sequence[int]) -> Derived:
        key = way, *wrt
        if key not in self._derived:
            with _LOCK:
                if key not in self._derived:
                    name = f"{self.name}{THEN}{way}{BY}{','.join(map(str, wrt))}"
                    self._derived[key] = Derived(self, way, wrt, name)
        return self._derived[key]

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Derived:
    """A plain derivative of a program by some of its arrays, with a `program` of its own."""

    def __init__(self, of: Program, way: Way, wrt: Sequence[int], name: str) -> None:
        function = plain_derivative(way, of.function, of.model, [of.names[k] for k in wrt], of.names, of.options)
        extra = extra_names(function)
        names = function.interface.order(of.model, {*of.names, *extra})
        self._order = [[*of.names, *extra].index(n) for n in names]
        self.program = _kept(Program(name, function, of.model, names, ()))

    def arranged(self, arrays: Sequence[Any], extra: Sequence[Any]) -> list[Any]:
        """Return the program's arrays, from those of what it was derived from and the directions or weights."""
        given = [*arrays, *extra]
        return [given[k] for k in self._order]


_LOCK = RLock()
_ALIVE: WeakValueDictionary[str, Program] = WeakValueDictionary()


def program_of(function: Function, model: Model, names: tuple[str, ...], options: Options) -> Program:
    compiled = function.compiled(model, names, options)
    checks = function.interface.unit_parts(model, names), function.checked
    said = compiled.digest, compiled.passes, names, tuple(model.inputs), checks, function.threads, compiled.target
    digest = hashlib.sha256(repr(said).encode()).hexdigest()
    name = f"{function.name}-{digest[:24]}"
    with _LOCK:
        return _ALIVE.get(name) or _kept(Program(name, function, model, names, options))


def _kept(program: Program) -> Program:
    return _ALIVE.setdefault(program.name, program)


def program_named(name: str) -> Program:
    """Return the program of a name; that of a derivative is made anew where nobody made it yet in this process."""
    found = _ALIVE.get(name)
    if found is not None:
        return found
    first, *steps = name.split(THEN)
    program = _ALIVE.get(first)
    if program is None:
        function = first.rpartition("-")[0]
        raise TargetError(
            f"this process holds no program {first!r}: make it with cardan.interop.torch.wrap({function}, model), "
            "for the same model, and keep what that returns as long as graphs made with it are used."
        )
    for step in steps:
        way, _, wrt = step.partition(BY)
        program = program.derived("pushed" if way == "pushed" else "pulled", [int(k) for k in wrt.split(",")]).program
    return program


forward_ad = torch.autograd.forward_ad
_of_one_level = import_module("torch._functorch.autograd_function").enable_single_level_autograd_function

_library = torch.library.Library("cardan", "FRAGMENT")
_library.define("evaluate(Tensor[] arrays, str program) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
PLAIN = (torch.Tensor, torch.nn.Parameter)
DTYPES = (torch.float64, torch.float32)
evaluate: Any = torch.ops.cardan.evaluate.default
"""The operator: the results of a program, each of shape (*batch, *core), for arrays whose batches broadcast."""


def batch_of(program: Program, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return the leading dimensions of the results; arrays that do not fit, or are not alike, are refused."""
    where, first = program.function.name, arrays[0]
    for name, array, core in zip(program.names, arrays, program.cores, strict=True):
        if array.dtype not in DTYPES or array.layout != torch.strided:
            got, expected = f"a {array.layout} tensor of {array.dtype}", "a tensor of torch.float32 or torch.float64"
            hint = f"{name}.to_dense()." if array.layout != torch.strided else f"Convert it: {name}.to(torch.float64)."
            raise DTypeError(where, name, got=got.replace("torch.strided ", ""), expected=expected, hint=hint)
        if array.dtype != first.dtype:
            got, expected = str(array.dtype), f"{first.dtype}, as {program.names[0]!r} is"
            raise DTypeError(where, name, got=got, expected=expected, hint=f"Convert it: {name}.to({first.dtype}).")
        if array.device != first.device:
            got, expected = f"on {array.device}", f"on {first.device}, as {program.names[0]!r} is"
            hint = f"Move it: {name}.to({program.names[0]}.device)."
            raise DTypeError(where, name, got=got, expected=expected, hint=hint)
        check_core(where, name, array.shape, core)
    leading = {n: a.shape[: a.ndim - len(c)] for n, a, c in zip(program.names, arrays, program.cores, strict=True)}
    batch = leading[program.names[0]]
    if all(shape == batch for shape in leading.values()):
        return batch
    if all(type(n) is int for shape in leading.values() for n in shape):
        return broadcast(where, leading)
    return torch.broadcast_shapes(*leading.values())  # there are unknown sizes of a graph


def is_plain(arrays: Sequence[Any]) -> bool:
    """Return whether the operator would do nothing but compute, and record: no transform, no mode, no graph."""
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return False
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack() or torch._C._is_tracing():
        return False
    return all(type(a) in PLAIN and a.is_cpu and a.layout == torch.strided for a in arrays)


def is_recorded(arrays: Sequence[Any]) -> bool:
    """Return whether a gradient may be asked for."""
    return torch.is_grad_enabled() and any(a.requires_grad for a in arrays)


def evaluated(arrays: Sequence[Any], program: Program) -> list[Any]:
    """Return the results, by the operator only where it would do more than compute: it takes PyTorch 20 us to find."""
    if not is_plain(arrays):
        return evaluate(arrays, program.name)
    if is_recorded(arrays):
        return list(_Evaluated.apply(None, program.name, *arrays))
    return evaluate_plainly(arrays, program)


# --- where it runs ---


def evaluate_plainly(arrays: Sequence[Any], program: Program) -> list[Any]:
    dtype = arrays[0].dtype
    if dtype not in DTYPES or any(a.dtype != dtype for a in arrays):
        batch_of(program, arrays)  # says what is wrong; all else the program's own door does
    numbers = [a.numpy(force=a.requires_grad or a.is_neg()) for a in arrays]
    return [torch.from_numpy(y) for y in program.evaluate(numbers)]


def _on_cuda(arrays: Sequence[Any], name: str) -> list[Any]:
    program = program_named(name)
    batch_of(program, arrays)  # says what does not fit
    return evaluate_there(arrays, program)


def _elsewhere(arrays: Sequence[Any], name: str) -> list[Any]:
    program = program_named(name)
    batch_of(program, arrays)
    raise _of_device(program, arrays[0])


def _of_device(program: Program, array: Any) -> DTypeError:
    name, expected = program.names[0], "a tensor on the CPU or a CUDA device, where programs run"
    hint = f"Move it, and what else is given: {name}.cpu()."
    return DTypeError(program.function.name, name, got=f"on {array.device}", expected=expected, hint=hint)


def _without_data(arrays: Sequence[Any], name: str) -> list[Any]:
    program = program_named(name)
    batch = batch_of(program, arrays)
    if arrays[0].device.type not in ("cpu", "cuda", "meta"):
        raise _of_device(program, arrays[0])
    return [arrays[0].new_empty((*batch, *core)) for core in program.results]


# --- its derivatives ---


class _Evaluated(torch.autograd.function._SingleLevelFunction):
    """The operator below autograd, with its gradient and its rate, also within the transforms of `torch.func`."""

    @staticmethod
    def forward(below: Any, name: str, *arrays: Any) -> tuple[Any, ...]:
        if below is None:
            return tuple(evaluate_plainly(arrays, program_named(name)))
        keys, is_grad_enabled = below
        # PyTorch records nothing within `forward`, but transforms around this one have to.
        with torch.set_grad_enabled(is_grad_enabled), forward_ad._set_fwd_grad_enabled(True):
            return tuple(_below(keys, arrays, name))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        _, name, *arrays = inputs
        ctx.program = program_named(name)
        ctx.batch = output[0].shape[: output[0].ndim - len(ctx.program.results[0])]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*arrays)
        ctx.save_for_forward(*arrays)

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> tuple[Any, ...]:
        if all(w is None for w in weights):
            return (None,) * len(ctx.needs_input_grad)
        arrays, needed = ctx.saved_tensors, ctx.needs_input_grad[2:]
        back = ctx.program.derived("pulled", [k for k, is_needed in enumerate(needed) if is_needed])
        if any(w is None for w in weights):
            shapes = [(*ctx.batch, *core) for core in ctx.program.results]
            weights = tuple(arrays[0].new_zeros(s) if w is None else w for w, s in zip(weights, shapes, strict=True))
        found = iter(evaluated(back.arranged(arrays, weights), back.program))
        if not ctx.batch:  # nothing was broadcast
            return (None, None, *(next(found) if n else None for n in needed))
        by = (_summed(next(found), a.shape) if n else None for a, n in zip(arrays, needed, strict=True))
        return (None, None, *by)

    @staticmethod
    def jvp(ctx: Any, *rates: Any) -> tuple[Any, ...]:
        arrays, moving = ctx.saved_tensors, [k for k, rate in enumerate(rates[2:]) if rate is not None]
        along = ctx.program.derived("pushed", moving)
        return tuple(evaluated(along.arranged(arrays, [rates[2 + k] for k in moving]), along.program))


def _summed(array: Any, shape: tuple[int, ...]) -> Any:
    """Return the sum over the dimensions in which an argument was broadcast."""
    return array if array.shape == shape else array.sum_to_size(shape)


def _with_derivatives(keys: Any, arrays: Sequence[Any], name: str) -> list[Any]:
    below = keys, torch.is_grad_enabled()
    if torch._C._are_functorch_transforms_active():
        with _of_one_level():
            return list(_Evaluated.apply(below, name, *arrays))
    if forward_ad._current_level < 0 and not is_recorded(arrays):
        return _below(keys, arrays, name)
    return list(_Evaluated.apply(below, name, *arrays))


def _below(keys: Any, arrays: Sequence[Any], name: str) -> list[Any]:
    with torch._C._AutoDispatchBelowAutograd():
        return evaluate.redispatch(keys & torch._C._after_autograd_keyset, list(arrays), name)


# --- batches of calls ---


def _of_many(info: Any, in_dims: tuple[Any, ...], arrays: Sequence[Any], name: str) -> tuple[list[Any], list[int]]:
    dims, cores = in_dims[0], program_named(name).cores
    ranks = [a.ndim - len(c) - (d is not None) for a, d, c in zip(arrays, dims, cores, strict=True)]
    moved = [
        a if d is None else _led(a.movedim(d, 0), max(ranks) - rank)
        for a, d, rank in zip(arrays, dims, ranks, strict=True)
    ]
    results = evaluate(moved, name)
    return results, [0] * len(results)


def _led(array: Any, missing: int) -> Any:
    """Return an array with so many dimensions of length 1 behind its first."""
    return array.reshape(array.shape[:1] + (1,) * missing + array.shape[1:]) if missing else array


_library.impl("evaluate", lambda arrays, name: evaluate_plainly(arrays, program_named(name)), "CPU")
_library.impl("evaluate", _on_cuda, "CUDA")
_library.impl("evaluate", _elsewhere, "CompositeExplicitAutograd")
_library.impl("evaluate", _with_derivatives, "Autograd", with_keyset=True)
torch.library.register_fake("cardan::evaluate", _without_data, lib=_library)
torch.library.register_vmap("cardan::evaluate", _of_many, lib=_library)
