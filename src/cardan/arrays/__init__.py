"""Arrays of scalars of any type: what a kernel receives, and what NumPy's functions do with it."""

from cardan.arrays import functions as _functions  # what NumPy's functions do with symbols
from cardan.arrays.linear import determinant, inverse, norm, solve
from cardan.arrays.symbolic import SymbolicArray, stack, symbolic
from cardan.arrays.tables import interpolate

__all__ = ["SymbolicArray", "determinant", "interpolate", "inverse", "norm", "solve", "stack", "symbolic"]
