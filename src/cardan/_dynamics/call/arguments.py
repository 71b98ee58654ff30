"""What comes into every compiled function: it is checked, converted, or refused with its reason."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.errors import (
    ConfigurationError,
    DTypeError,
    NotFiniteError,
    OpenLoopError,
    ParameterError,
    ShapeError,
)
from cardan._compiler.runtime.memory import empty
from cardan._robot.model import Model

Shape = tuple[int | str, ...] | Callable[[Any], tuple[int, ...]]

KNOWN: dict[str, tuple[Shape, str]] = {
    **dict.fromkeys(("q", "q0", "q1"), (("nq",), "rad, m")),
    "qdot": (("nq",), "rad/s, m/s"),
    "v": (("nv",), "rad/s, m/s"),
    "a": (("nv",), "rad/s^2, m/s^2"),
    "tau": (("nv",), "N m, N"),
    "external_forces": (("nbodies", 6), "N, N m"),
}
"""Core shapes and units of the arguments every function knows by name."""

PIECE = 2**21  # bytes of copies of one row: few, so that they stay near; enough for several threads
DIMENSIONS = 32  # that NumPy broadcasts
OPEN = 1e-3  # from which gap on a loop is said to be open [m, rad]: what files round is less
FEW = 30  # numbers that Python sums in less time than NumPy


class Batch(NamedTuple):  # of arguments that are checked
    names: tuple[str, ...]
    arrays: list[np.ndarray]  # each of shape (size, entries), contiguous; if all rows are one, a view of that row
    shape: tuple[int, ...]  # the broadcast leading dimensions
    size: int  # their product
    dtype: np.dtype  # float64, or float32 if that is what came in


def check_shape(what: str, shape: Any) -> None:
    """Raise unless a declared core shape is one: numbers and names of sizes of a model, or a function of it."""
    entries = shape if isinstance(shape, (tuple, list)) else [None]
    if not callable(shape) and not all(_is_size(n) for n in entries):
        hint = "Other sizes are given by a function of the model: lambda model: (model.nv - 6,)."
        raise ParameterError(what, got=shape, expected="a tuple of whole numbers and 'nq', 'nv', 'nbodies'", hint=hint)


def _is_size(entry: Any) -> bool:
    return hasattr(Model, entry) if isinstance(entry, str) else isinstance(entry, (int, np.integer)) and int(entry) >= 0


def core_shape(shape: Shape, model: Any) -> tuple[int, ...]:
    """Return a shape with its names (nq, nv, nbodies) replaced by the model's numbers."""
    if callable(shape):
        return shape(model)
    return tuple(getattr(model, n) if isinstance(n, str) else n for n in shape)


def is_symbolic(value: Any) -> bool:
    """Return whether an argument holds symbols (of any library) instead of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype == object
    if isinstance(value, (list, tuple)):
        return any(is_symbolic(e) for e in value)
    if isinstance(value, (int, float, complex, str, bytes, np.generic, type(None), dict, Set, range, Iterator)):
        return False
    if _is_casadi(value) or _is_jax_tracer(value):
        return True
    try:
        memoryview(value)  # `array.array` lends its memory and has no `__array__`
    except TypeError:
        return not hasattr(value, "__array__")
    return False


def _is_casadi(value: Any) -> bool:
    return type(value).__module__.startswith("casadi")


def _is_jax_tracer(value: Any) -> bool:
    return any(c.__name__ == "Tracer" and c.__module__.startswith("jax") for c in type(value).__mro__)


def symbolic_array(where: str, name: str, value: Any, core: tuple[int, ...]) -> np.ndarray:
    """Return symbols as an array of objects of exactly the core shape; raise for another one: there is no batch.

    Axes of length 1 do not count: vectors are columns or rows in CasADi and SymPy.
    """
    if _is_casadi(value):  # by rows, while its own order is that of columns
        rows, columns = value.shape
        value = [[value[i, j] for j in range(columns)] for i in range(rows)]
    flat, shape = (list(value.ravel()), value.shape) if _is_jax_tracer(value) else (_flatten(value), _shape(value))
    if len(flat) != math.prod(core) or [n for n in shape if n != 1] != [n for n in core if n != 1]:
        hint = "Symbolic arguments have no batch dimensions. Objects are symbols: .astype(float) makes numbers of them."
        raise ShapeError(where, name, got=shape, expected=str(core), hint=hint)
    for e in flat:
        if isinstance(e, (str, bytes, type(None), dict)):
            raise DTypeError(where, name, got=f"an array with {e!r} in it", expected="numbers or symbols")
    return symbolic(flat, core)


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        return [e for part in value for e in _flatten(part)]
    return [value]


def _shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, (list, tuple)):
        return len(value), *(_shape(value[0]) if value else ())
    return ()


def numeric_array(where: str, name: str, value: Any) -> np.ndarray:
    """Return an argument as an array; raise `DTypeError` unless it is made of real numbers that NumPy can reach."""
    if type(value) is np.ndarray and value.dtype.kind in "fiu":
        return value
    if not isinstance(value, (np.ndarray, np.generic, float, int, list, tuple)):
        _check_reachable(where, name, value)
    if type(value) is not np.ndarray and isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        expected, hint = "an array of which every entry counts", "filled(...) gives its masked entries a number."
        raise DTypeError(where, name, got="masked in places", expected=expected, hint=hint)
    try:
        array = np.asarray(value)
    except ValueError:
        raise DTypeError(where, name, got="a ragged nested sequence", expected="an array of numbers") from None
    if array.dtype == object and type(value) is int:  # beyond NumPy's whole numbers
        with contextlib.suppress(OverflowError):  # beyond all floats, too
            array = np.asarray(float(value))
    if array.dtype.kind not in "fiu":
        kinds = {"c": "complex numbers", "b": "truth values", "U": "text", "S": "bytes", "O": "objects", "M": "dates"}
        got = f"an array of {kinds.get(array.dtype.kind, str(array.dtype))}"
        if array.dtype == object:
            got += f" such as {next(iter(array.ravel()), None)!r}"
        raise DTypeError(where, name, got=got, expected="real numbers (float64, float32 or integers)")
    return array


def _check_reachable(where: str, name: str, value: Any) -> None:
    """Raise `DTypeError` for what NumPy cannot read: what a library follows derivatives of, or keeps on a device."""
    is_tracer = _is_jax_tracer(value)
    if is_tracer or getattr(value, "requires_grad", False):
        got = "a tracer of JAX" if is_tracer else "a tensor that requires a gradient"
        hint = "Call it outside of jax.jit and jax.grad." if is_tracer else f"Give it {name}.detach()."
        raise DTypeError(where, name, got=got, expected="numbers: it is not differentiated", hint=hint)
    if is_on_device(value):  # NumPy would copy it to the processor
        got, expected = f"a {type(value).__name__} on a device", "an array of NumPy, CuPy or PyTorch"
        hint = (
            f"Nothing is moved unasked. cupy.asarray({name}) and cupy.from_dlpack({name}) take it where it is (within "
            f"JAX, cardan.interop.jax.wrap does); np.asarray({name}) copies it."
        )
        raise DTypeError(where, name, got=got, expected=expected, hint=hint)


def shaped_array(
    where: str, name: str, value: Any, *shapes: Sequence[Any], finite: bool = True, told: str = ""
) -> np.ndarray:
    """Return an argument as floats of its own, of one of some shapes; raise for another, and for what is not finite.

    In a shape a text is any number, and `...` at its beginning any leading dimensions; `told` says more about it.
    """
    array = np.array(numeric_array(where, name, value), dtype=float, order="C")
    check_shape_of(where, name, array.shape, *shapes, told=told)
    if finite:
        check_finite(where, name, array)
    return array


def is_on_device(value: Any) -> bool:
    """Return whether an array, of any library, is in the memory of a device."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    try:
        kind, _ = value.__dlpack_device__()
    except (AttributeError, BufferError, TypeError, ValueError, RuntimeError):  # no array, or one on several devices
        places: Any = getattr(value, "devices", None)  # a method of JAX's arrays
        found: Any = places() if callable(places) else ()
        return any(getattr(place, "platform", "cpu") != "cpu" for place in found)
    return int(kind) not in (1, 3)  # DLPack's kDLCPU and kDLCUDAHost are memory of the processor


def checked_batch(where: str, values: Mapping[str, Any], cores: Mapping[str, tuple[int, ...]]) -> Batch:
    """Return the arguments checked, broadcast against each other and flattened; raise for one that does not fit."""
    arrays = {name: numeric_array(where, name, value) for name, value in values.items()}
    for name, array in arrays.items():
        check_core(where, name, array.shape, cores[name])
    shape = broadcast(where, {name: a.shape[: a.ndim - len(cores[name])] for name, a in arrays.items()})
    dtype = common_dtype({a.dtype for a in arrays.values()})
    size = math.prod(shape)
    flat = [_rows(array, shape, cores[name], size, dtype) for name, array in arrays.items()]
    return Batch(tuple(arrays), flat, shape, size, dtype)


def _rows(array: np.ndarray, shape: tuple[int, ...], core: tuple[int, ...], size: int, dtype: np.dtype) -> np.ndarray:
    """Return an array as rows of one kind, (size, entries), as `Batch` has them."""
    full, entries = (*shape, *core), math.prod(core)
    widened = array if array.shape == full else np.broadcast_to(array, full)
    if size > 1 and all(step == 0 or n == 1 for step, n in zip(widened.strides, shape, strict=False)):
        row = np.ascontiguousarray(widened[(0,) * len(shape)], dtype=dtype)
        return np.broadcast_to(row.reshape(1, entries), (size, entries))
    if widened.dtype == dtype and widened.flags.c_contiguous:
        return widened.reshape(size, entries)
    return _copied(widened, dtype).reshape(size, entries)


def _copied(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return a contiguous copy, in memory used before if it is large."""
    copied = empty(array.shape, dtype)
    copied[...] = array
    return copied


def pieces(batch: Batch) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Yield the rows in pieces, each with contiguous arrays: where all rows are one, the same copies for each piece."""
    same = [batch.size > 1 and array.strides[0] == 0 for array in batch.arrays]
    widest = max((array[0].nbytes for array, one in zip(batch.arrays, same, strict=True) if one), default=0)
    step = min(batch.size, max(PIECE // widest, 1)) if widest else batch.size
    copies = [_copied(a[:step], batch.dtype) if one else a for a, one in zip(batch.arrays, same, strict=True)]
    for start in range(0, batch.size, step or 1):
        rows = slice(start, min(start + step, batch.size))
        yield rows, [a[: rows.stop - start] if one else a[rows] for a, one in zip(copies, same, strict=True)]


def are_all(truth: Any) -> bool:
    """Return whether a truth value of NumPy, or each of an array, is true: of one, `all` takes a microsecond."""
    return truth is np.True_ or bool(truth.all())


def check_finite(where: str, name: str, array: np.ndarray, batch: Sequence[int] | None = None, hint: str = "") -> None:
    """Raise `NotFiniteError`, naming the first entry that is infinite or not a number; `batch`, if it was flattened."""
    # Python's sum of few takes half the time of a sum of squares, and that, of some, half the time of looking at each;
    # of many, BLAS would wake threads for it. (`dot` is quicker, and warns of squares that are too large.)
    if array.size <= FEW:
        is_finite = math.isfinite(sum(array.ravel().tolist()))
    else:
        is_finite = math.isfinite(np.vdot(array, array)) if array.size < 1000 else np.isfinite(array).all()
    if is_finite:
        return
    found = np.flatnonzero(~np.isfinite(array))
    if len(found):  # else a sum was too large
        shape = array.shape if batch is None else (*batch, *array.shape[1:])
        index = tuple(int(k) for k in np.unravel_index(found[0], shape)) if shape else ()
        raise NotFiniteError(where, name, index, float(array.reshape(-1)[found[0]]), hint)


def finite_batch(where: str, arrays: Mapping[str, Any], cores: Mapping[str, tuple[int, ...]]) -> Batch:
    """Return arguments as `checked_batch` does; raise for what is not finite."""
    batch = checked_batch(where, arrays, cores)
    for name, array in zip(batch.names, batch.arrays, strict=True):
        check_finite(where, name, array, batch.shape)
    return batch


def check_configuration(where: str, name: str, q: np.ndarray, parts: Iterable[tuple[int, int]]) -> None:
    """Raise where a quaternion, or a (cos, sin), of a configuration is 0 and so no orientation.

    q has the shape (size, nq); parts are where, (start, stop), these are (`Model.unit_parts`).
    """
    for start, stop in parts:
        rows = np.flatnonzero(q[:, stop - 1] == 0.0)  # few, and one column is read in a tenth of the time of four
        rows = rows[~q[rows, start:stop].any(axis=1)]
        if rows.size:
            raise ConfigurationError(where, name, start, stop, rows.tolist() if len(q) > 1 else ())


def are_open(residual: np.ndarray, units: Sequence[float]) -> np.ndarray:
    """Return whether a loop is open by more than `OPEN`, of a residual of shape (rows of a batch, rows of the loop)."""
    return np.any(np.abs(residual) > OPEN * np.array(units), axis=-1)


def check_closed(where: str, name: str, model: Model, q: np.ndarray) -> None:
    """Raise where a configuration of clusters, shape (size, nq), leaves a loop open."""
    for loop, residual, units in model.manifold.openings(q):
        if (is_open := are_open(residual, units)).any():
            rows = np.flatnonzero(is_open)
            gap = float(np.abs(residual[rows]).max())
            raise OpenLoopError(where, name, loop, gap, rows.tolist() if len(q) > 1 else ())


def name_of_row(name: str, number: int, batch: Sequence[int]) -> str:
    """Return what an entry of a batch that was flattened is called, as in `q[2, 0]`; the name alone without a batch."""
    return f"{name}{[int(k) for k in np.unravel_index(number, batch)]}" if batch else name


def check_within(where: str, name: str, array: np.ndarray, bounds: tuple[float, float], batch: Sequence[int]) -> None:
    """Raise `ParameterError`, naming the first row with an entry that is not within bounds; the batch was flattened."""
    least, most = bounds
    found = np.argwhere(~((array >= least) & (array <= most)))
    if len(found):
        what, got = f"{where}: {name_of_row(name, found[0, 0], batch)}", float(array[tuple(found[0])])
        raise ParameterError(what, got=got, expected=f"a number from {least:g} to {most:g}")


def check_core(where: str, name: str, shape: tuple[int, ...], core: tuple[int, ...]) -> None:
    """Raise `ShapeError` unless the shape of an array, of any library, ends in its core shape."""
    check_shape_of(where, name, shape, (..., *core))


def check_shape_of(where: str, name: str, shape: tuple[int, ...], *wanted: Sequence[Any], told: str = "") -> None:
    """Raise `ShapeError` unless a shape is one of those that are wanted, as `shaped_array` has them."""
    for one in wanted:
        if _fits(shape, one):
            return
    shapes = (str(tuple(one)).replace("Ellipsis", "...").replace("'", "") if one else "a number" for one in wanted)
    hint = "The batch comes first: is it transposed?" if any(_fits(shape[::-1], one) for one in wanted) else ""
    if not hint and wanted[0][-2:] == (4, 4):
        hint = "Of a place alone: cardan.SE3(translation=p); with a quaternion: cardan.SE3.from_quaternion(xyzw, p)."
    raise ShapeError(where, name, got=shape, expected=" or ".join(shapes) + told, hint=hint)


def _fits(shape: tuple[int, ...], wanted: Sequence[Any]) -> bool:
    is_led = len(wanted) > 0 and wanted[0] is ...
    core = tuple(wanted[1:] if is_led else wanted)
    own = shape[len(shape) - len(core) :] if is_led else shape
    if own == core:  # as nearly always, and told in a tenth of the time
        return True
    return len(own) == len(core) and all(isinstance(e, str) or e == n for n, e in zip(own, core, strict=True))


def broadcast(where: str, leading: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common leading dimensions, or raise `ShapeError` naming all of them."""
    for name, shape in leading.items():
        if len(shape) > DIMENSIONS:
            expected = f"at most {DIMENSIONS} leading (batch) dimensions"
            hint = "Make one of several: array.reshape(-1, ...)."
            raise ShapeError(where, name, got=shape, expected=expected, hint=hint)
    shapes = {*leading.values()}
    try:
        return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(f"{name}: {shape}" for name, shape in leading.items())
        name, shape = next(iter(leading.items()))
        hint = f"The leading (batch) dimensions are {listed}."
        raise ShapeError(where, name, got=shape, expected="leading dimensions that broadcast", hint=hint) from None


def common_dtype(dtypes: Iterable[np.dtype]) -> np.dtype:
    """Return float32 if that is what all floating-point arrays are, else float64."""
    floats = [d for d in dtypes if d.kind == "f"]
    single = bool(floats) and all(d.itemsize == 4 for d in floats)
    return np.dtype(np.float32 if single else np.float64)
