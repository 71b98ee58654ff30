"""NumPy's elementwise functions on arrays of scalars of any type."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from cardan._algebra import scalar
from cardan._algebra.arrays.elsewhere import refused
from cardan._algebra.errors import TraceError, users_line

BY_OPERATORS = {np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.matmul, np.square}
BY_OPERATORS |= {getattr(np, name) for name in ("vecdot", "matvec", "vecmat") if hasattr(np, name)}
"""What NumPy does with arrays of objects by Python's operators alone."""


def _named(names: str) -> dict[str, Callable[..., Any]]:
    """Return functions of `scalar` that NumPy has by the same names."""
    return {name: getattr(scalar, name) for name in names.split()}


UNARY: dict[str, Callable[[Any], Any]] = {
    **_named("sin cos tan sinh cosh tanh sqrt exp expm1 log log1p absolute sign floor logical_not"),
    "arcsin": scalar.asin,
    "arccos": scalar.acos,
    "arctan": lambda x: scalar.atan2(x, 1.0),
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "fabs": scalar.absolute,
    "ceil": lambda x: -scalar.floor(-x),
    **dict.fromkeys(("deg2rad", "radians"), lambda x: x * (pi / 180.0)),
    **dict.fromkeys(("rad2deg", "degrees"), lambda x: x * (180.0 / pi)),
    "conjugate": lambda x: x,
    "invert": scalar.logical_not,
    "isnan": lambda x: x != x,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **_named("minimum maximum logical_and logical_or"),
    "arctan2": scalar.atan2,
    "hypot": scalar.hypot,
    "power": scalar.power,
    "float_power": scalar.power,
    "floor_divide": scalar.floor_divide,
    "remainder": scalar.remainder,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "bitwise_and": scalar.logical_and,
    "bitwise_or": scalar.logical_or,
}
BY_ENTRY: dict[str, Callable[..., Any]] = {**UNARY, **BINARY, "clip": scalar.clip}
"""What each elementwise function of NumPy is on one entry, by its name."""
_IDENTITY: dict[str, Any] = {"logical_and": True, "logical_or": False}


@functools.cache
def by_entry(ufunc: np.ufunc) -> Any:
    """Return the function that acts likewise on arrays of objects."""
    if ufunc in BY_OPERATORS or _is_of_objects(ufunc):
        return ufunc
    name = ufunc.__name__
    return np.frompyfunc(BY_ENTRY[name], ufunc.nin, 1, identity=_IDENTITY.get(name))


def _is_of_objects(ufunc: np.ufunc) -> bool:
    """Return whether a function was made for objects: by `np.frompyfunc`, which `np.vectorize` uses."""
    return all(set(kinds) <= set("O->") for kinds in ufunc.types)


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what an elementwise function, or its `reduce`, `accumulate` or `outer`, makes of plain arrays of symbols.

    Raises:
        TraceError: if it needs numbers, or is to write into an array of numbers.
    """
    known = ufunc.__name__ in BY_ENTRY or ufunc in BY_OPERATORS or _is_of_objects(ufunc)
    if not known or method not in ("__call__", "reduce", "accumulate", "outer"):
        raise refused(ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}")
    options = {k: v for k, v in options.items() if not (k == "dtype" and v in (None, bool, object))}
    out = options.pop("out", (None,))[0]
    with np.errstate(all="ignore"):  # numbers among the entries may overflow, as they may in a program
        result = getattr(by_entry(ufunc), method)(*inputs, **options)
    if out is None:
        return result
    if out.dtype != object:
        what = "an array of numbers cannot hold symbols"
        raise TraceError(f"{what}{users_line()}; begin with np.zeros_like(q), or write x = x + q instead of x += q.")
    out[...] = result
    return out
