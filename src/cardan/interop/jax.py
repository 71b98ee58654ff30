"""Functions of a robot as functions of JAX: one call of machine code in its programs, with derivatives and batches."""

from typing import TYPE_CHECKING

from cardan._algebra.lazy import show_folder as _show

if TYPE_CHECKING:
    from cardan._reach.interop.jax import *

_show(__name__, "cardan._reach.interop.jax")
