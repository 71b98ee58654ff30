"""PyTorch: functions of a robot on its tensors, and a robot's constants as parameters of a module."""

from cardan.interop.torch_module import Module
from cardan.interop.torch_wrapped import Wrapped, called, wrap

__all__ = ["Module", "Wrapped", "called", "wrap"]


def __dir__() -> list[str]:
    return list(__all__)
