"""Robots and their functions in other programs: whole in MuJoCo, as functions in JAX, PyTorch and CasADi."""

from cardan._reach.interop import jax
from cardan._reach.interop.mujoco_collision import MujocoCollision
from cardan._reach.interop.mujoco_spec import to_mjspec

__all__ = ["MujocoCollision", "jax", "to_mjspec"]
__dir__ = __all__.copy
