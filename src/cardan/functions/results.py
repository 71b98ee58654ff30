"""The way out of every compiled function: spatial objects and nested lists become arrays, and tuples come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cardan.arrays import symbolic
from cardan.spatial import SE3, Force, Matrix3, Motion, MotionSubspace, Symmetric3

RESULT = "result"


def named_results(value: Any) -> dict[str, np.ndarray]:
    """Return what a kernel returned as arrays of scalars by name: fields of a named tuple, keys of a dict, or one."""
    if isinstance(value, Mapping):
        return {str(key): packed(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: packed(getattr(value, name)) for name in value._fields}  # pyright: ignore[reportAttributeAccessIssue]
    return {RESULT: packed(value)}


def rebuilder(value: Any) -> Callable[[dict[str, Any]], Any]:
    """Return the function that gives results by name the form the kernel returned them in."""
    if isinstance(value, Mapping):
        return dict
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind: Any = type(value)
        return lambda results: kind(*results.values())
    return lambda results: results[RESULT]


def packed(value: Any, *, batched: bool = False) -> np.ndarray:
    """Return a scalar, spatial object, array or nested sequence of these as an array of objects.

    Args:
        value: what a kernel or a joint's method returned.
        batched: whether an array in it is a scalar (with a batch of values) instead of a sequence of scalars.
    """
    shape, flat = _flat(value, batched)
    return symbolic(flat, shape)


def _flat(value: Any, batched: bool) -> tuple[tuple[int, ...], list[Any]]:
    value = _plain(value)
    if isinstance(value, np.ndarray) and not batched:
        return value.shape, value.ravel().tolist()
    if not isinstance(value, (list, tuple)):
        return (), [value]
    parts = [_flat(part, batched) for part in value]
    inner = parts[0][0] if parts else ()
    return (len(parts), *inner), [e for _, flat in parts for e in flat]


def _plain(value: Any) -> Any:
    """Return a spatial object as nested lists."""
    if isinstance(value, SE3):
        return value.homogeneous()
    if isinstance(value, (Motion, Force)):
        return list(value.scalars())
    if isinstance(value, MotionSubspace):
        return value.rows()
    if isinstance(value, (Matrix3, Symmetric3)):
        full = value.matrix() if isinstance(value, Symmetric3) else value
        return [list(row) for row in full.rows()]
    return value
