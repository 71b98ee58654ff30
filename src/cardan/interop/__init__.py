"""Robots as other programs have them, whole: bodies, joints, drives, loops and shapes."""

from cardan.interop.mujoco_collision import MujocoCollision
from cardan.interop.mujoco_spec import to_mjspec

__all__ = ["MujocoCollision", "to_mjspec"]
__dir__ = __all__.copy
