"""Arrays of scalars of any type: what a kernel receives, and what NumPy's functions do with it."""

from cardan.arrays.functions import determinant, interpolate, inverse, norm, solve
from cardan.arrays.symbolic import SymbolicArray, stack, symbolic

__all__ = ["SymbolicArray", "determinant", "interpolate", "inverse", "norm", "solve", "stack", "symbolic"]
