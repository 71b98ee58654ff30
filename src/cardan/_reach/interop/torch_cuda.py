"""PyTorch's tensors on CUDA devices: computed there, on PyTorch's current stream, by the target `cuda`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError
from cardan._compiler.runtime.extras import package
from cardan._dynamics.call.compiled import Bound
from cardan._reach.interop import on_device
from cardan._reach.interop.on_device import Layout, Library
from cardan._reach.interop.torch_programs import Program

torch = package("torch", "cardan.interop.torch", "torch")
_DTYPES = {torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}


class Torch(Library):
    """PyTorch."""

    kind = "torch.Tensor"

    def holds(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.is_cuda

    def number_of(self, tensor: Any) -> int:
        """Return the number of the device a tensor is on."""
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
    function = on_device.on_cuda(program.function)
    compiled = function.compiled(program.model, program.names, program.options)
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
