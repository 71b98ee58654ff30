"""Robots in other programs: whole in MuJoCo, as functions in JAX, PyTorch, CasADi, as problems in Crocoddyl."""

from cardan._reach.interop import jax
from cardan._reach.interop.mujoco_spec import to_mjspec

__all__ = ["jax", "to_mjspec"]
__dir__ = __all__.copy
