"""Arrays of scalars of any type: what a kernel receives, and what NumPy's functions do with it."""

from cardan._algebra.arrays.cell import cell
from cardan._algebra.arrays.functions import determinant, interp, inverse, norm, solve
from cardan._algebra.arrays.implicit_function import implicit
from cardan._algebra.arrays.repeat import each, repeat, repeat_while, scan, when
from cardan._algebra.arrays.symbolic import SymbolicArray, array_of, as_argument, stack, symbolic

__all__ = [
    "SymbolicArray", "array_of", "as_argument", "cell", "determinant", "each", "implicit", "interp", "inverse", "norm",
    "repeat", "repeat_while", "scan", "solve", "stack", "symbolic", "when",
]  # fmt: skip
