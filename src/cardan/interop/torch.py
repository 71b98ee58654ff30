"""PyTorch: functions of a robot on its tensors, and a robot's constants as parameters of a module."""

from cardan._reach.interop.torch import *
