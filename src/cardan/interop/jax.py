"""Functions of a robot as functions of JAX: one call of machine code in its programs, with derivatives and batches."""

from cardan._algebra.lazy import imported_later as _later

with _later(globals()):
    from cardan._reach.interop.jax import *
