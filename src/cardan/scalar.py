"""Elementary functions of a scalar of any type.

The algorithms of cardan are written once, over scalars. A scalar may be a Python float, a NumPy array (then every
operation acts on a whole batch), a symbol of cardan's own tracer, a SymPy or CasADi expression, an mpmath number or a
JAX array. `sin(x)` asks the type of `x` which function to call; arithmetic and comparison use Python's own operators.

A new scalar type is one call of `register_scalar`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cardan import elementary

__all__ = [
    "absolute",
    "acos",
    "asin",
    "atan2",
    "cos",
    "divide",
    "exp",
    "floor",
    "is_zero",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "register_scalar",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "where",
]

Backend = dict[str, Callable[..., Any]]


_FLOAT: Backend = {
    "sin": elementary.sin,
    "cos": elementary.cos,
    "tan": elementary.tan,
    "asin": elementary.asin,
    "acos": elementary.acos,
    "sqrt": lambda x: math.sqrt(x) if x >= 0.0 else math.nan,
    "exp": elementary.exp,
    "log": elementary.log,
    "absolute": abs,
    "floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
    "sign": lambda x: x if math.isnan(x) else float((x > 0) - (x < 0)),
    "atan2": elementary.atan2,
    "minimum": lambda a, b: a if a < b or math.isnan(a) else b,
    "maximum": lambda a, b: a if a > b or math.isnan(a) else b,
    "where": lambda condition, a, b: a if condition else b,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": lambda a: not a,
}

_NUMPY: Backend = {
    name: getattr(np, {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2"}.get(name, name)) for name in _FLOAT
}


def _numpy_object(name: str) -> Callable[..., Any]:
    """Return the elementwise function that also serves arrays of objects (symbols in an array)."""
    plain = _NUMPY[name]
    elementwise = np.frompyfunc(lambda *args: _backend(args)[name](*args), _ARITY[name], 1)

    def evaluate(*args: Any) -> Any:
        if any(isinstance(a, np.ndarray) and a.dtype == object for a in args):
            return elementwise(*args)
        return plain(*args)

    return evaluate


_ARITY = dict.fromkeys(_FLOAT, 1) | {
    "atan2": 2,
    "minimum": 2,
    "maximum": 2,
    "where": 3,
    "logical_and": 2,
    "logical_or": 2,
}


def _sympy() -> Backend:
    sp = importlib.import_module("sympy")
    names = {"absolute": "Abs", "minimum": "Min", "maximum": "Max"}
    names |= {"logical_and": "And", "logical_or": "Or", "logical_not": "Not"}
    backend = {name: getattr(sp, names.get(name, name)) for name in _FLOAT if name != "where"}
    backend["where"] = lambda condition, a, b: sp.Piecewise((a, condition), (b, True))
    return backend


def _casadi() -> Backend:
    ca = importlib.import_module("casadi")
    names = {"absolute": "fabs", "minimum": "fmin", "maximum": "fmax", "where": "if_else"}
    names |= {"logical_and": "logic_and", "logical_or": "logic_or", "logical_not": "logic_not"}
    return {name: getattr(ca, names.get(name, name)) for name in _FLOAT}


def _mpmath() -> Backend:
    mp = importlib.import_module("mpmath")
    same = ("sin", "cos", "tan", "exp", "atan2", "floor", "sign")
    backend: Backend = {name: getattr(mp, name) for name in same}
    backend["absolute"] = mp.fabs

    def real(function: Callable[[Any], Any], lower: float, upper: float) -> Callable[[Any], Any]:
        """Return `function` with NaN outside its real domain, where mpmath turns complex."""
        return lambda x: function(x) if lower <= x <= upper else mp.nan

    backend |= {name: real(getattr(mp, name), -1.0, 1.0) for name in ("asin", "acos")}
    backend["sqrt"] = real(mp.sqrt, 0.0, math.inf)
    backend["log"] = real(lambda x: mp.log(x) if x else -mp.inf, 0.0, math.inf)
    backend |= {name: _FLOAT[name] for name in ("where", "logical_and", "logical_or", "logical_not")}
    backend["minimum"] = lambda a, b: a if a < b or mp.isnan(a) else b
    backend["maximum"] = lambda a, b: a if a > b or mp.isnan(a) else b
    return backend


def _jax() -> Backend:
    jnp = importlib.import_module("jax.numpy")
    names = {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2"}
    return {name: getattr(jnp, names.get(name, name)) for name in _FLOAT}


_BY_MODULE: dict[str, Callable[[], Backend]] = {
    "sympy": _sympy,
    "casadi": _casadi,
    "mpmath": _mpmath,
    "jax": _jax,
    "jaxlib": _jax,
}
_OUTER: set[type] = set()
_BY_TYPE: dict[type, Backend] = {float: _FLOAT, int: _FLOAT, bool: _FLOAT}


def register_scalar(scalar_type: type, functions: Backend, *, outer: bool = False) -> None:
    """Make `scalar_type` a scalar.

    Args:
        scalar_type: the class.
        functions: for each name in this module, its implementation.
        outer: whether it wraps other scalars (as a dual number does) and so decides where both meet.
    """
    missing = [name for name in _FLOAT if name not in functions]
    if missing:
        raise TypeError(f"register_scalar({scalar_type.__name__}): the functions {missing} are missing.")
    _BY_TYPE[scalar_type] = functions
    if outer:
        _OUTER.add(scalar_type)


def _find_backend(scalar_type: type) -> Backend:
    for base in scalar_type.__mro__:
        if base in _BY_TYPE and base is not float:
            return _BY_TYPE[base]
        if issubclass(base, (np.ndarray, np.generic)):
            return _NUMPY_ANY
        builder = _BY_MODULE.get(base.__module__.partition(".")[0])
        if builder is not None:
            return builder()
    if issubclass(scalar_type, float):
        return _FLOAT
    raise TypeError(
        f"{scalar_type.__module__}.{scalar_type.__qualname__} is not a scalar cardan knows; "
        "make it one with cardan.scalar.register_scalar(type, functions)."
    )


def _backend(args: tuple[Any, ...]) -> Backend:
    """Return the functions for the first argument that is more than a plain number, a wrapping scalar before others."""
    if len(args) > 1 and _OUTER:
        args = next(((arg,) for arg in args if type(arg) in _OUTER), args)
    for arg in args:
        scalar_type = type(arg)
        if scalar_type is float or scalar_type is int or scalar_type is bool:
            continue
        found = _BY_TYPE.get(scalar_type)
        if found is None:
            found = _BY_TYPE[scalar_type] = _find_backend(scalar_type)
        if found is not _FLOAT:
            return found
    return _FLOAT


_NUMPY_ANY: Backend = {name: _numpy_object(name) for name in _FLOAT}
_BY_TYPE[np.ndarray] = _NUMPY_ANY
_BY_TYPE[np.float64] = _BY_TYPE[np.float32] = _BY_TYPE[np.bool_] = _NUMPY


def sin(x: Any) -> Any:
    """Return the sine of x [rad]."""
    return _backend((x,))["sin"](x)


def cos(x: Any) -> Any:
    """Return the cosine of x [rad]."""
    return _backend((x,))["cos"](x)


def tan(x: Any) -> Any:
    """Return the tangent of x [rad]."""
    return _backend((x,))["tan"](x)


def asin(x: Any) -> Any:
    """Return the angle in [-pi/2, pi/2] whose sine is x; NaN outside [-1, 1]."""
    return _backend((x,))["asin"](x)


def acos(x: Any) -> Any:
    """Return the angle in [0, pi] whose cosine is x; NaN outside [-1, 1]."""
    return _backend((x,))["acos"](x)


def atan2(y: Any, x: Any) -> Any:
    """Return the angle in [-pi, pi] of the point (x, y); 0 at the origin."""
    return _backend((y, x))["atan2"](y, x)


def sqrt(x: Any) -> Any:
    """Return the square root; NaN for negative x."""
    return _backend((x,))["sqrt"](x)


def exp(x: Any) -> Any:
    """Return e to the power x."""
    return _backend((x,))["exp"](x)


def log(x: Any) -> Any:
    """Return the natural logarithm; NaN for negative x."""
    return _backend((x,))["log"](x)


def absolute(x: Any) -> Any:
    """Return |x|."""
    return _backend((x,))["absolute"](x)


def floor(x: Any) -> Any:
    """Return the largest integer not above x."""
    return _backend((x,))["floor"](x)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1."""
    return _backend((x,))["sign"](x)


def is_zero(x: Any) -> bool:
    """Return whether a scalar is known to be 0 here and now: a number, not a symbol or a batch."""
    return isinstance(x, (float, int)) and x == 0.0


def divide(a: Any, b: Any) -> Any:
    """Return a / b as IEEE 754 has it, where Python's floats would raise: NaN for 0 / 0, infinite for 1 / 0."""
    if isinstance(b, (float, int)) and b == 0.0 and isinstance(a, (float, int)):
        return math.nan if a == 0.0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two scalars."""
    return _backend((a, b))["minimum"](a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two scalars."""
    return _backend((a, b))["maximum"](a, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition holds, else b. Both are evaluated: keep both finite."""
    return _backend((condition, a, b))["where"](condition, a, b)


def logical_and(a: Any, b: Any) -> Any:
    """Return whether both conditions hold."""
    return _backend((a, b))["logical_and"](a, b)


def logical_or(a: Any, b: Any) -> Any:
    """Return whether at least one condition holds."""
    return _backend((a, b))["logical_or"](a, b)


def logical_not(a: Any) -> Any:
    """Return whether the condition does not hold."""
    return _backend((a,))["logical_not"](a)
