"""Kernels: plain Python functions on numbers and arrays that LLVM compiles, for what a program cannot say.

A program has no branches and no whole numbers. Sorting, grids, graphs and factors of sparse matrices need both. They
are written here as Python functions in a small part of the language (`translate.py`), so that they can be read, run and
tested as Python, and are compiled to do the same.
"""

from cardan._compiler.kernels.kernel import BoundKernel, Kernel, kernel
from cardan._compiler.kernels.language import (
    are_positive,
    call,
    floor,
    fma,
    greater,
    is_any,
    lowest_one,
    run,
    scratch,
    sqrt,
    tail,
    turn,
    unrolled,
    vectors,
)
from cardan._compiler.kernels.record import Record, RowProgram, aligned_zeros
from cardan._compiler.kernels.types import F64, I32, I64, INT, LANES, PROGRAM, REAL, TRUTH, VECTOR, WIDTH

__all__ = [
    "F64", "I32", "I64", "INT", "LANES", "PROGRAM", "REAL", "TRUTH", "VECTOR", "WIDTH", "BoundKernel", "Kernel",
    "Record", "RowProgram", "aligned_zeros", "are_positive", "call", "floor", "fma", "greater", "is_any", "kernel",
    "lowest_one", "run", "scratch", "sqrt", "tail", "turn", "unrolled", "vectors",
]  # fmt: skip
