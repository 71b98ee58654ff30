"""Problems of optimal control for the solvers of Crocoddyl: compiled steps and costs are its action models."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.interop.crocoddyl import *
