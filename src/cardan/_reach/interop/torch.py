"""PyTorch: functions of a robot on its tensors."""

from cardan._reach.interop.torch_wrapped import Wrapped, wrap

__all__ = ["Wrapped", "wrap"]
__dir__ = __all__.copy
