"""Robots in other programs: whole in MuJoCo, as functions in JAX, PyTorch, CasADi, as problems in Crocoddyl."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.interop import *
    from cardan.interop import casadi as casadi
    from cardan.interop import crocoddyl as crocoddyl
    from cardan.interop import jax as jax
    from cardan.interop import torch as torch
