"""Arrays of scalars of any type, on which NumPy's functions work.

A kernel and a joint's `transform` receive their arguments as `SymbolicArray`: an array of dtype object with symbols
for entries. Comparisons give arrays of conditions. NumPy's functions act entry by entry (`entrywise`), by what stands
in `OWN` (`functions`), or are NumPy's own where these only add, multiply and move entries. All others would have to
look at values that are not there yet, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cardan._algebra.arrays.entrywise import apply_ufunc, refused
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
    dtype = np.result_type(*kinds) if kinds else np.dtype(float)
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


def _found(path: str) -> Any:
    place = np
    for name in path.split("."):
        place = getattr(place, name, None)
    return place


_MOVING = {_found(path) for path in MOVING.split()} - {None}  # the oldest NumPy has not all of them


def apply_function(function: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function of NumPy makes of arguments with symbols among them."""
    if function in OWN:
        return dressed(OWN[function](*bare(args), **{k: bare(v) for k, v in kwargs.items()}))
    if function in _MOVING:
        run = np.ndarray.__array_function__  # NumPy's own code; elementwise functions in it come back to the entries
        return dressed(run(np.empty(0).view(SymbolicArray), function, (SymbolicArray,), args, kwargs))
    raise refused(f"{function.__module__}.{function.__name__}")
