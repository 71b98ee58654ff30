"""Elementary functions of a scalar of any type.

The algorithms of cardan are written once, over scalars. A scalar may be a Python float, a NumPy array (then every
operation acts on a whole batch), a symbol of cardan's own tracer, a SymPy or CasADi expression, an mpmath number or a
JAX array. `sin(x)` asks the type of `x` which function to call; arithmetic and comparison use Python's own operators.

A new scalar type is one call of `register_scalar`.
"""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from cardan._algebra import elementary

__all__ = [
    "absolute", "acos", "asin", "atan2", "clip", "cos", "cosh", "divide", "exp", "expm1", "floor", "is_finite",
    "is_symbol", "is_zero", "log", "log1p", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "power",
    "register_scalar", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "where",
]  # fmt: skip


class Scalar(Protocol):
    """What every type of scalar can do, so that a type checker can read the algorithms.

    A float has all of this, and so do arrays of numbers, symbols and the numbers of other libraries. Operands and
    comparisons are of any type: a comparison of symbols is a symbol. `float(x)` fails at run time for a symbol.

    Examples:
        >>> def square(x: cardan.spatial.Scalar) -> cardan.spatial.Scalar:
        ...     return x * x
        >>> square(3.0)
        9.0
    """

    def __add__(self, other: Any, /) -> Scalar: ...
    def __radd__(self, other: Any, /) -> Scalar: ...
    def __sub__(self, other: Any, /) -> Scalar: ...
    def __rsub__(self, other: Any, /) -> Scalar: ...
    def __mul__(self, other: Any, /) -> Scalar: ...
    def __rmul__(self, other: Any, /) -> Scalar: ...
    def __truediv__(self, other: Any, /) -> Scalar: ...
    def __rtruediv__(self, other: Any, /) -> Scalar: ...
    def __pow__(self, other: Any, /) -> Scalar: ...
    def __neg__(self) -> Scalar: ...
    def __abs__(self) -> Scalar: ...
    def __float__(self) -> float: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...


Backend = dict[str, Callable[..., Any]]


def _float_sqrt(x: float) -> float:
    try:
        return math.sqrt(x)
    except (ValueError, OverflowError):  # below 0, or an integer beyond every float
        return math.nan


_FLOAT: Backend = {
    **{name: getattr(elementary, name) for name in ("sin", "cos", "tan", "asin", "acos", "exp", "log", "atan2")},
    "sqrt": _float_sqrt,
    "absolute": abs,
    "floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
    "sign": lambda x: x if math.isnan(x) else float((x > 0) - (x < 0)),
    "minimum": lambda a, b: a if a < b or math.isnan(a) else b,  # a NaN on either side wins, as NumPy has it
    "maximum": lambda a, b: a if a > b or math.isnan(a) else b,
    "where": lambda condition, a, b: a if condition else b,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": lambda a: not a,
}
REQUIRED = tuple(_FLOAT)  # the functions every type of scalar has; what comes below can be derived from them


def _float_by(function: Callable[..., Any]) -> Callable[[float, float], float]:
    """Return a function of NumPy for two floats, with no warning of what is not finite."""

    def evaluate(x: float, y: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(np.float64(x), np.float64(y)))

    return evaluate


_FLOAT |= {
    **{name: getattr(elementary, name) for name in ("expm1", "log1p", "tanh")},
    "power": _float_by(operator.pow),
    "remainder": _float_by(np.remainder),
    "floor_divide": _float_by(np.floor_divide),
    "hypot": math.hypot,
    "held": lambda x, tangent: x,
}
_ARITY = dict.fromkeys(_FLOAT, 1) | dict.fromkeys(
    ("atan2", "minimum", "maximum", "logical_and", "logical_or", "power", "remainder", "floor_divide", "hypot", "held"),
    2,
)
_ARITY["where"] = 3


def _tanh(x: Any) -> Any:
    """Return (e^2x - 1) / (e^2x + 1), accurate near 0; beyond 22 it is +-1 to the last digit."""
    t = expm1(2.0 * clip(x, -22.0, 22.0))
    return t / (t + 2.0)


def general_power(x: Any, p: Any) -> Any:
    """Return x^p = +-e^(p log |x|), negative where x is and p is odd; at 0 in forms that have the right derivatives."""
    size, zero, whole, odd = absolute(x), x == 0.0, floor(p) == p, floor(0.5 * p) != 0.5 * p
    value = exp(p * log(where(zero, 1.0, size)))  # of 0 not even the branch not taken: its slope is infinite
    value = where(x < 0.0, where(whole, where(odd, -value, value), math.nan), value)
    at_0 = where(p == 1.0, x, where(p == 2.0, x * x, where(p < 0.0, math.inf, 0.0)))
    is_regular = logical_and(size > 0.0, size < math.inf)
    return where(logical_and(p == 0.0, logical_not(is_regular)), 1.0, where(zero, at_0, value))


# What stands in for a function that a type of scalar does not have itself.
_DERIVED: Backend = {
    "expm1": lambda x: exp(x) - 1.0,
    "log1p": lambda x: log(1.0 + x),
    "tanh": _tanh,
    "power": general_power,
    "remainder": lambda x, y: x - y * floor(x / y),
    "floor_divide": lambda x, y: floor(x / y),
    "hypot": lambda x, y: sqrt(x * x + y * y),
    "held": lambda x, tangent: x,
}


def _named(module: Any, names: Mapping[str, str] = MappingProxyType({})) -> Backend:
    """Return the functions of a module, where it calls some of them otherwise."""
    found = {name: getattr(module, names.get(name, name), None) for name in _FLOAT}
    return {name: function for name, function in found.items() if function is not None}


_ARC = {"asin": "arcsin", "acos": "arccos", "atan2": "arctan2"}
_NUMPY: Backend = _named(np, _ARC) | {"where": lambda condition, a, b: np.where(condition, a, b)[()]}
_NUMPY |= {"held": lambda x, tangent: x}


def _numpy_object(name: str) -> Callable[..., Any]:
    """Return the elementwise function that also serves arrays of objects (symbols in an array)."""
    plain = _NUMPY[name]
    elementwise = np.frompyfunc(lambda *args: _backend(args)[name](*args), _ARITY[name], 1)

    def evaluate(*args: Any) -> Any:
        kinds = {type(a) for a in args if isinstance(a, np.ndarray) and a.dtype == object}
        if not kinds:
            return plain(*args)
        result = elementwise(*(np.asarray(a) if type(a) in kinds else a for a in args))
        symbolic = next((kind for kind in kinds if kind is not np.ndarray), None)
        return result.view(symbolic) if symbolic and isinstance(result, np.ndarray) else result

    return evaluate


def _sympy() -> Backend:
    sp = importlib.import_module("sympy")
    names = {"absolute": "Abs", "minimum": "Min", "maximum": "Max"}
    names |= {"logical_and": "And", "logical_or": "Or", "logical_not": "Not"}
    choice = {"where": lambda condition, a, b: sp.Piecewise((a, condition), (b, True))}
    return _named(sp, names) | choice | {"power": operator.pow}


def _casadi() -> Backend:
    names = {"absolute": "fabs", "minimum": "fmin", "maximum": "fmax", "where": "if_else"}
    names |= {"logical_and": "logic_and", "logical_or": "logic_or", "logical_not": "logic_not"}
    backend = _named(importlib.import_module("casadi"), names)
    return backend | {"remainder": _DERIVED["remainder"], "floor_divide": _DERIVED["floor_divide"]}  # its own are C's


def _mpmath() -> Backend:
    mp = importlib.import_module("mpmath")

    def real(function: Callable[[Any], Any], lower: float, upper: float = math.inf) -> Callable[[Any], Any]:
        """Return `function` with NaN outside its real domain, where mpmath turns complex."""
        return lambda x: function(x) if lower <= x <= upper else mp.nan

    def power(x: Any, p: Any) -> Any:
        return mp.inf if x == 0 and p < 0 else mp.nan if x < 0 and mp.floor(p) != p else mp.power(x, p)

    backend = _named(mp) | {"absolute": mp.fabs, "power": power}
    backend |= {name: real(getattr(mp, name), -1.0, 1.0) for name in ("asin", "acos")}
    backend["sqrt"] = real(mp.sqrt, 0.0)
    backend["log"] = real(lambda x: mp.log(x) if x else -mp.inf, 0.0)
    backend["log1p"] = real(lambda x: mp.log1p(x) if x != -1 else -mp.inf, -1.0)
    backend |= {name: _FLOAT[name] for name in ("where", "logical_and", "logical_or", "logical_not")}
    backend["minimum"] = lambda a, b: a if a < b or mp.isnan(a) else b
    backend["maximum"] = lambda a, b: a if a > b or mp.isnan(a) else b
    return backend


# Looked up when the first scalar of a library is met: importing these takes a second.
_BY_MODULE: dict[str, Callable[[], Backend]] = {"sympy": _sympy, "casadi": _casadi, "mpmath": _mpmath}
_BY_MODULE |= dict.fromkeys(("jax", "jaxlib"), lambda: _named(importlib.import_module("jax.numpy"), _ARC))
_OUTER: set[type] = set()
_BY_TYPE: dict[type, Backend] = {float: _FLOAT, int: _FLOAT, bool: _FLOAT}


def register_scalar(scalar_type: type, functions: Backend, *, outer: bool = False) -> None:
    """Make `scalar_type` a scalar.

    Args:
        scalar_type: the class.
        functions: for each name in `REQUIRED`, its implementation; those of `expm1`, `log1p`, `tanh`, `power`,
            `remainder`, `floor_divide` and `hypot`, if it has better ones than exp(x) - 1, log(1 + x), x - y floor(x /
            y) and what follows from these.
        outer: whether it wraps other scalars (as a dual number does) and so decides where both meet.

    Raises:
        TypeError: if a function is missing.

    Examples:
        >>> sorted(cardan.scalar.REQUIRED)[:3]
        ['absolute', 'acos', 'asin']
    """
    missing = [name for name in REQUIRED if name not in functions]
    if missing:
        raise TypeError(f"register_scalar({scalar_type.__name__}): the functions {missing} are missing.")
    _BY_TYPE[scalar_type] = _DERIVED | functions
    if outer:
        _OUTER.add(scalar_type)


def _find_backend(scalar_type: type) -> Backend:
    for base in scalar_type.__mro__:
        if base in _BY_TYPE and base is not float:  # float last: others' numbers derive from it, with their own sine
            return _BY_TYPE[base]
        if issubclass(base, (np.ndarray, np.generic)):
            return _NUMPY_ANY
        builder = _BY_MODULE.get(base.__module__.partition(".")[0])
        if builder is not None:
            return _DERIVED | builder()
    if issubclass(scalar_type, float):
        return _FLOAT
    if scalar_type.__module__.startswith("cardan._algebra.spatial."):
        raise TypeError(
            f"{scalar_type.__name__} is no scalar: cardan.sin, log and the like act entry by entry. {OF_POSES}"
        )
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
OF_POSES = (
    "The logarithm of a pose X is cardan.SE3.log(X), the twist between two is cardan.pose_error(X, Y), and the pose of "
    "a twist is cardan.SE3.exp(twist)."
)


def _entrywise_log(x: Any, of: Callable[..., Any] = _NUMPY_ANY["log"]) -> Any:
    """Return the logarithm; raise for homogeneous matrices, of which none entry by entry can be meant: it is -inf."""
    if x.shape[-2:] == (4, 4):
        last = np.asarray(x)[..., 3, :]
        numbers = last.dtype != object or not any(map(is_symbol, last.flat))
        if last.size and numbers and (last == (0.0, 0.0, 0.0, 1.0)).all():
            raise TypeError(f"cardan.log acts entry by entry, and these are homogeneous matrices. {OF_POSES}")
    return of(x)


_NUMPY_ANY["log"] = _entrywise_log
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


def expm1(x: Any) -> Any:
    """Return e to the power x, minus 1; accurate near 0."""
    return _backend((x,))["expm1"](x)


def log1p(x: Any) -> Any:
    """Return the natural logarithm of 1 + x, accurate near 0; NaN for x < -1."""
    return _backend((x,))["log1p"](x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent, accurate near 0: a smooth step from -1 to 1."""
    return _backend((x,))["tanh"](x)


def sinh(x: Any) -> Any:
    """Return the hyperbolic sine, accurate near 0."""
    return 0.5 * (expm1(x) - expm1(-x))


def cosh(x: Any) -> Any:
    """Return the hyperbolic cosine."""
    return 0.5 * (exp(x) + exp(-x))


def power(x: Any, p: Any) -> Any:
    """Return x to the power p: 1 for p = 0, NaN for x < 0 unless p is a whole number.

    A whole number p known beforehand is a product: `x ** 3`. A traced one is e^(p log |x|), good to |p log x| units in
    the last place; at x = 0 its slope for 0 < p < 1, which is infinite, counts as 0. So do second derivatives of any p
    between 1 and 2.
    """
    return _backend((x, p))["power"](x, p)


def remainder(x: Any, y: Any) -> Any:
    """Return x - y floor(x / y): with the sign of y, below |y|."""
    return _backend((x, y))["remainder"](x, y)


def floor_divide(x: Any, y: Any) -> Any:
    """Return the largest whole number not above x / y."""
    return _backend((x, y))["floor_divide"](x, y)


def hypot(x: Any, y: Any) -> Any:
    """Return the square root of x^2 + y^2."""
    return _backend((x, y))["hypot"](x, y)


def absolute(x: Any) -> Any:
    """Return |x|."""
    return _backend((x,))["absolute"](x)


def floor(x: Any) -> Any:
    """Return the largest integer not above x."""
    return _backend((x,))["floor"](x)


def held(x: Any, tangent: Any = 0.0) -> Any:
    """Return x, with the derivative of something else that is known to be as large, or with none.

    It is JAX's `stop_gradient` and `custom_jvp`. Programs of cardan heed it. To other libraries' symbols it is x.
    """
    return _backend((x, tangent))["held"](x, tangent)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1."""
    return _backend((x,))["sign"](x)


def is_symbol(x: Any) -> bool:
    """Return whether x is a scalar but no machine number and no array of these: a symbol of this or another library."""
    kind = type(x)
    if issubclass(kind, (float, int, np.generic, np.ndarray)):
        return False
    return any(base in _BY_TYPE or base.__module__.partition(".")[0] in _BY_MODULE for base in kind.__mro__)


def is_zero(x: Any) -> bool:
    """Return whether a scalar is known to be 0 here and now: a number, not a symbol or a batch."""
    return isinstance(x, (float, int)) and x == 0.0


def is_finite(x: Any) -> bool:
    """Return whether this is one real number of any type, NumPy's among them, that a float can hold."""
    try:
        return isinstance(x, Real) and math.isfinite(x)
    except OverflowError:  # an integer beyond every float
        return False


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


def clip(x: Any, lower: Any, upper: Any) -> Any:
    """Return x, or the bound it is beyond."""
    return minimum(maximum(x, lower), upper)


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


__dir__ = __all__.copy
