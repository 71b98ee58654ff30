"""PyTorch: functions of a robot on its tensors, and a robot's constants as parameters of a module."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.interop.torch import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.interop.torch")
