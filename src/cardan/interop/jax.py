"""Functions of a robot as functions of JAX: one call of machine code in its programs, with derivatives and batches."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import shown

if TYPE_CHECKING:
    from cardan._reach.interop.jax import *

__getattr__, __dir__ = shown(__name__, "cardan._reach.interop.jax")
