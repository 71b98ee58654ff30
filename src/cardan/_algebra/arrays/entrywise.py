"""NumPy's elementwise functions on arrays of scalars of any type; and what to write in place of what cannot be."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from cardan._algebra import scalar
from cardan._algebra.errors import TraceError, users_line

# What NumPy does with arrays of objects by Python's operators alone.
BY_OPERATORS = {np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.matmul, np.square}
BY_OPERATORS |= {getattr(np, name) for name in ("vecdot", "matvec", "vecmat") if hasattr(np, name)}


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
_IDENTITY: dict[str, Any] = {"logical_and": True, "logical_or": False}  # of `np.all` and `np.any` of nothing


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
    """Return what an elementwise function, or its `reduce`, `accumulate` or `outer`, makes of arrays of symbols."""
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


# --- functions that would need numbers ---

_DECIDES = "what it returns would decide what the program does; choose with np.where, np.minimum, np.maximum"
_NONE = "there is no replacement: give its result to the function as an argument"

_DECIDING = ("argmax", "argmin", "argsort", "sort", "partition", "argpartition", "unique", "nonzero", "argwhere")
INSTEAD = {
    **dict.fromkeys(_DECIDING, _DECIDES),
    **dict.fromkeys(("searchsorted", "digitize"), "use np.interp, or cardan.where"),
    **dict.fromkeys(("select", "piecewise", "choose"), "use np.where, one inside the other"),
    **dict.fromkeys(("isclose", "allclose"), "use np.abs(a - b) <= tolerance"),
    **dict.fromkeys(("linalg.lstsq", "linalg.pinv"), "use cardan.solve(A.T @ A, A.T @ b)"),
    **dict.fromkeys(("round", "around", "rint", "fix", "trunc"), "use np.floor(x + 0.5)"),
    "median": _DECIDES,
    "var": "use np.mean((x - np.mean(x)) ** 2)",
    "std": "use np.sqrt(np.mean((x - np.mean(x)) ** 2))",
    "ptp": "use np.max(x) - np.min(x)",
    "linspace": "use a + (b - a) * np.linspace(0.0, 1.0, n)",
    "linalg.cholesky": "use cardan.solve(A, b, positive_definite=True)",
    "nan_to_num": "use np.where(np.isnan(x), 0.0, x)",
    "array_equal": "use np.all(a == b) in np.where",
    "copysign": "use np.where(y < 0, -np.abs(x), np.abs(x))",
    "arcsinh": "use np.log(x + np.sqrt(x * x + 1))",
    "arccosh": "use np.log(x + np.sqrt(x * x - 1))",
    "arctanh": "use 0.5 * (np.log1p(x) - np.log1p(-x))",
    "cbrt": "use np.sign(x) * np.abs(x) ** (1 / 3)",
    "exp2": "use 2.0 ** x",
    "log2": "use np.log(x) / np.log(2.0)",
    "log10": "use np.log(x) / np.log(10.0)",
    "modf": "use np.floor(x)",
    "divmod": "use x // y and x % y",
    "unwrap": "use x - 2 * np.pi * np.floor(x / (2 * np.pi) + 0.5)",
    "gradient": "use np.diff",
}


def refused(name: str) -> TraceError:
    """Return the error for a function of NumPy, such as `"numpy.linalg.eigh"`, that cannot act on symbols."""
    short = name.removeprefix("numpy.")
    hint = INSTEAD.get(short, _NONE)
    return TraceError(f"np.{short} needs numbers, and a traced function has none yet{users_line()}; {hint}.")
