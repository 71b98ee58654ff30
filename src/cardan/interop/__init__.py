"""Robots in other programs: whole in MuJoCo, as functions in JAX, PyTorch, CasADi, as problems in Crocoddyl."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.interop import *
    from cardan.interop import casadi as casadi
    from cardan.interop import crocoddyl as crocoddyl
    from cardan.interop import cuda as cuda
    from cardan.interop import jax as jax
    from cardan.interop import torch as torch

_show(__name__, "cardan._reach.interop", "jax torch cuda casadi crocoddyl")
