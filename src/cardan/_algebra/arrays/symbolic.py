"""Arrays of scalars of any type, on which NumPy's functions work.

A kernel and a joint's `transform` receive their arguments as `SymbolicArray`: an array of dtype object with symbols
for entries. Comparisons give arrays of conditions. NumPy's functions act entry by entry (`BY_ENTRY`), by what stands
in `OWN` (`functions`), or are NumPy's own where these only add, multiply and move entries. All others would have to
look at values that are not there yet, and say so.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from cardan._algebra import scalar
from cardan._algebra.errors import TraceError, users_line


class SymbolicArray(np.ndarray):
    """An array of symbols (dtype object): an argument of a traced function, or what was made of one."""

    __array_priority__ = 1e6  # pyright: ignore -- NumPy's stub has a property; before symbols that pretend to be arrays

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return by_numpy(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return apply_function(function, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        try:
            return super().__getitem__(index)
        except IndexError:
            parts = index if isinstance(index, tuple) else (index,)
            if not any(isinstance(part, SymbolicArray) for part in parts):
                raise
            what = "a mask of computed conditions cannot pick entries: how many there are would be unknown"
            raise TraceError(f"{what}{users_line()}; use np.where(mask, x, 0).") from None

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a copy of another type: a plain array of numbers, if the entries have some."""
        return dressed(self.view(np.ndarray).astype(dtype, *args, **kwargs))

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.item())
        what = "a traced function cannot branch on an array of computed values"
        raise TraceError(f"{what}{users_line()}; choose entry by entry: np.where(condition, a, b).")


def symbolic(entries: Iterable[Any], shape: tuple[int, ...]) -> SymbolicArray:
    """Return scalars, row by row, as an array of a shape; one by one, as some symbols pretend to be arrays."""
    flat = tuple(entries)
    array = np.empty(len(flat), dtype=object)
    for k, entry in enumerate(flat):
        array[k] = entry
    return array.reshape(shape).view(SymbolicArray)


def as_argument(scalars: Sequence[Any]) -> np.ndarray:
    """Return the scalars a joint is called with, floats, batches or symbols, as the array it receives."""
    return scalars if isinstance(scalars, SymbolicArray) else symbolic(scalars, (len(scalars),))


def stack(nested: Any) -> np.ndarray:
    """Return nested sequences of scalars as one array [in their unit], batch dimensions first.

    Floats and batches are broadcast together; if any entry is a symbol the result has dtype object.

    Args:
        nested: nested sequences of scalars, of any unit.

    Examples:
        >>> cardan.spatial.stack([[1.0, np.zeros(5)], [0.0, 1.0]]).shape
        (5, 2, 2)
    """
    shape: list[int] = []
    flat = [nested]
    while isinstance(flat[0], (list, tuple)):
        shape.append(len(flat[0]))
        flat = [entry for row in flat for entry in row]
    if any(not isinstance(e, (float, int, bool, np.ndarray, np.generic)) for e in flat):
        return symbolic(flat, tuple(shape))
    kinds = [e.dtype for e in flat if isinstance(e, (np.ndarray, np.generic))]
    if not kinds:
        return np.array(flat, dtype=float).reshape(shape)
    dtype = np.result_type(*kinds)
    columns = np.broadcast_arrays(*(np.asarray(e, dtype=dtype) for e in flat))
    return np.stack(columns, axis=-1).reshape(*columns[0].shape, *shape)


def array_of(value: Any) -> np.ndarray:
    """Return an array of numbers, or a `SymbolicArray` if there are symbols in it."""
    return dressed(value if isinstance(value, np.ndarray) else np.asarray(value))


def bare(value: Any) -> Any:
    """Return an argument as what does not bring NumPy back here: plain arrays, and symbols in such."""
    if isinstance(value, SymbolicArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(bare(e) if isinstance(e, (SymbolicArray, list, tuple)) else e for e in value)
    if isinstance(value, (np.ndarray, np.generic)) or getattr(value, "__array_ufunc__", None) is None:
        return value
    return _boxed(value)


def _boxed(scalar: Any) -> np.ndarray:
    """Return a symbol in an array of shape (), as some pretend to be arrays."""
    return symbolic((scalar,), ()).view(np.ndarray)


def dressed(value: Any) -> Any:
    """Return a result with its arrays of objects as symbolic ones."""
    if isinstance(value, np.ndarray):
        return value.view(SymbolicArray) if value.dtype == object else value
    if type(value) in (list, tuple):
        return type(value)(map(dressed, value))
    return value


def by_numpy(ufunc: np.ufunc, method: str, inputs: Iterable[Any], options: Mapping[str, Any]) -> Any:
    """Return what an elementwise function of NumPy makes of arguments with symbols among them."""
    arrays = [bare(x) if isinstance(x, NUMBERS) else _boxed(x) for x in inputs]
    return dressed(apply_ufunc(ufunc, method, arrays, options))


# What NumPy itself makes an array of; whatever else stands beside an array of symbols is one symbol.
NUMBERS = (np.ndarray, np.generic, float, int, list, tuple)
OWN: dict[Any, Callable[..., Any]] = {}  # what stands in for a function of NumPy; it gets and gives plain arrays

# NumPy's functions that only add, multiply, compare and move entries.
MOVING = """
    all any append array_split atleast_1d atleast_2d atleast_3d average block broadcast_arrays broadcast_to
    column_stack concatenate copy copyto cross cumprod cumsum delete diag diagflat diagonal diff dot dsplit dstack
    einsum expand_dims fill_diagonal flip fliplr flipud hsplit hstack inner insert kron linalg.cross linalg.diagonal
    linalg.matmul linalg.matrix_power linalg.matrix_transpose linalg.multi_dot linalg.outer linalg.tensordot
    linalg.trace linalg.vecdot max mean meshgrid min moveaxis ndim outer polyval prod ravel repeat reshape resize roll
    rollaxis rot90 shape size split squeeze stack sum swapaxes take tensordot tile trace transpose trapezoid tril
    triu vander vdot vsplit vstack
"""


# The oldest NumPy has not all of them.
_PLACES = ((np.linalg, path.removeprefix("linalg.")) if "." in path else (np, path) for path in MOVING.split())
_MOVING = {getattr(place, name, None) for place, name in _PLACES} - {None}


def apply_function(function: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function of NumPy makes of arguments with symbols among them."""
    if function in OWN:
        return dressed(OWN[function](*bare(args), **{k: bare(v) for k, v in kwargs.items()}))
    if function in _MOVING:
        run: Any = (
            np.ndarray.__array_function__
        )  # NumPy's own code; elementwise functions in it come back to the entries
        return dressed(run(np.empty(0).view(SymbolicArray), function, (SymbolicArray,), args, kwargs))
    raise refused(f"{function.__module__}.{function.__name__}")


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


_DECIDES = "what it returns would decide what the program does; choose with np.where, np.minimum, np.maximum"
_LEAST = "use cardan.solve(A.T @ A, A.T @ b), of a wide A with independent rows A.T @ cardan.solve(A @ A.T, b)"
_NONE = "there is no replacement: give its result to the function as an argument"

_DECIDING = ("argmax", "argmin", "argsort", "sort", "partition", "argpartition", "unique", "nonzero", "argwhere")
INSTEAD = {
    **dict.fromkeys(_DECIDING, _DECIDES),
    **dict.fromkeys(("searchsorted", "digitize"), "use np.interp, or cardan.where"),
    **dict.fromkeys(("select", "piecewise", "choose"), "use np.where, one inside the other"),
    **dict.fromkeys(("isclose", "allclose"), "use np.abs(a - b) <= tolerance"),
    **dict.fromkeys(("linalg.lstsq", "linalg.pinv"), _LEAST),
    **dict.fromkeys(("round", "around", "rint"), "use np.floor(x + 0.5)"),
    **dict.fromkeys(("fix", "trunc", "modf"), "use np.sign(x) * np.floor(np.abs(x))"),
    "median": _DECIDES,
    "var": "use np.mean((x - np.mean(x)) ** 2)",
    "std": "use np.sqrt(np.mean((x - np.mean(x)) ** 2))",
    "ptp": "use np.max(x) - np.min(x)",
    "linspace": "use a + (b - a) * np.linspace(0.0, 1.0, n)",
    **dict.fromkeys(("linalg.norm(ord=1)", "linalg.norm(ord=inf)"), "use np.sum(np.abs(x)), np.max(np.abs(x)) for inf"),
    "linalg.cholesky": "use cardan.solve(A, b, positive_definite=True)",
    "nan_to_num": "use np.where(np.isnan(x), 0.0, x)",
    "array_equal": "use np.all(a == b) in np.where",
    "copysign": "use np.where(y < 0, -np.abs(x), np.abs(x))",
    "arcsinh": "use np.sign(x) * np.log1p(np.abs(x) + x * x / (1 + np.sqrt(x * x + 1)))",
    "arccosh": "use np.log(x + np.sqrt(x * x - 1))",
    "arctanh": "use 0.5 * (np.log1p(x) - np.log1p(-x))",
    "cbrt": "use np.sign(x) * np.abs(x) ** (1 / 3)",
    "exp2": "use 2.0 ** x",
    "log2": "use np.log(x) / np.log(2.0)",
    "log10": "use np.log(x) / np.log(10.0)",
    "divmod": "use x // y and x % y",
    "unwrap": "of a difference x of angles use x - 2 * np.pi * np.floor(x / (2 * np.pi) + 0.5)",
}


def refused(name: str) -> TraceError:
    """Return the error for a function of NumPy, such as `"numpy.linalg.eigh"`, that cannot act on symbols."""
    short = name.removeprefix("numpy.")
    hint = INSTEAD.get(short, _NONE)
    return TraceError(f"np.{short} needs numbers, and a traced function has none yet{users_line()}; {hint}.")


# --- nested values: arrays, tuples, lists, spatial objects, and what says what it is made of ---


def shape_of(value: Any) -> Any:
    """Return the shape of nested values: () for a scalar, that of an array, a list of those of a sequence's entries."""
    if isinstance(value, np.ndarray):
        return value.shape
    return [shape_of(part) for part in value] if isinstance(value, (tuple, list)) else ()


def entries_of(value: Any) -> Iterator[Any]:
    """Yield the scalars of nested values. An object of another class may say what it is made of (`__parts__`)."""
    if isinstance(value, np.ndarray):
        yield from value.ravel().tolist()
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from entries_of(part)
    elif hasattr(type(value), "__parts__"):
        yield from entries_of(value.__parts__())
    else:
        yield value


def rebuilt(template: Any, entries: Iterator[Any]) -> Any:
    """Return other entries in the form of a value."""
    if isinstance(template, np.ndarray):
        return symbolic((next(entries) for _ in range(template.size)), template.shape)
    if isinstance(template, list):
        return [rebuilt(part, entries) for part in template]
    if isinstance(template, tuple):
        return tuple.__new__(type(template), [rebuilt(part, entries) for part in template])
    if hasattr(type(template), "__parts__"):
        return type(template).__of_parts__(rebuilt(template.__parts__(), entries))
    return next(entries)
