"""PyTorch: functions of a robot on its tensors, and a robot's constants as parameters of a module."""

from cardan._reach.interop.torch_wrapped import Module, Wrapped, wrap

__all__ = ["Module", "Wrapped", "wrap"]
__dir__ = __all__.copy
