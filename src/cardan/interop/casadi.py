"""Functions of a robot as functions of CasADi: compiled, with first and second derivatives, without Python."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.interop.casadi import *
