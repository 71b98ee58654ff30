"""Robots and their functions in other programs: whole in MuJoCo, as functions in JAX and PyTorch (`interop.torch`)."""

from cardan.interop import jax
from cardan.interop.mujoco_collision import MujocoCollision
from cardan.interop.mujoco_spec import to_mjspec

__all__ = ["MujocoCollision", "jax", "to_mjspec"]
__dir__ = __all__.copy
