"""The way out of every compiled function: spatial objects and nested lists become arrays, and tuples come back.

What a kernel returns is one result, or several: a tuple, a named tuple or a dictionary of results. A list is one
result, its entries stacked.
"""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cardan.arrays import symbolic
from cardan.by_fields import ByFields
from cardan.errors import ResultError
from cardan.spatial import SE3, Force, Matrix3, Motion, MotionSubspace, Symmetric3, Vector3

RESULT = "result"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Form(ByFields):
    """The form a function returns its results in.

    Attributes:
        kind: one result, a tuple, a dictionary, a named tuple, or derivatives by several arguments.
        names: of the results.
        type: the class of the named tuple.
        by: of derivatives, what they are called: `dq`, `dv`, ...; each is in the form `inner`.
        inner: that form.
    """

    kind: Literal["one", "tuple", "dict", "named", "derivatives"] = "one"
    names: tuple[str, ...] = (RESULT,)
    type: Any = None
    by: tuple[str, ...] = ()
    inner: Form | None = None

    def rebuilt(self, results: Sequence[Any]) -> Any:
        """Return results, in the order of their names, in this form."""
        if self.inner is not None:
            n = len(self.inner.names)
            parts = [self.inner.rebuilt(results[k * n : (k + 1) * n]) for k in range(len(self.by))]
            return derivatives_type(self.by)(*parts)
        if self.kind == "one":
            return results[0]
        if self.kind == "dict":
            return dict(zip(self.names, results, strict=True))
        return tuple(results) if self.kind == "tuple" else self.type(*results)


@functools.cache
def derivatives_type(names: tuple[str, ...]) -> Any:
    """Return the class of named tuples of derivatives by arguments; what is in it can be pickled."""
    made: Any = namedtuple("Derivatives", names)  # pyright: ignore[reportUntypedNamedTuple]
    made.__doc__ = "Derivatives by arguments, as `derivative` returns them for each alone."
    made.__module__ = __name__
    made.__reduce__ = lambda self: (_derivatives, (names, tuple(self)))
    return made


def _derivatives(names: tuple[str, ...], parts: tuple[Any, ...]) -> Any:
    return derivatives_type(names)(*parts)


def form_of(value: Any, where: str = "") -> tuple[Form, list[Any]]:
    """Return the form of what a kernel returned, and its results.

    Raises:
        ResultError: for a dictionary whose keys are no names.
    """
    if isinstance(value, Mapping):
        nameless = [key for key in value if not isinstance(key, str)]
        if nameless:
            raise ResultError(where, got=f"a dictionary with the key {nameless[0]!r}", expected="texts as its keys")
        return Form("dict", tuple(value)), list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, SPATIAL):
        return Form("named", tuple(value._fields), type(value)), list(value)  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, tuple) and not isinstance(value, SPATIAL):
        return Form("tuple", tuple(f"{RESULT}_{k}" for k in range(len(value)))), list(value)
    return Form(), [value]


def packed(value: Any, *, batched: bool = False, where: str = "") -> np.ndarray:
    """Return a scalar, spatial object, array or nested sequence of these as an array of objects.

    Args:
        value: what a kernel or a joint's method returned.
        batched: whether an array in it is a scalar (with a batch of values) instead of a sequence of scalars.
        where: whose result it is, for the message.

    Raises:
        ResultError: if it is ragged.
    """
    shape, flat = _flat(value, batched, where)
    return symbolic(flat, shape)


def _flat(value: Any, batched: bool, where: str) -> tuple[tuple[int, ...], list[Any]]:
    value = _plain(value)
    if isinstance(value, np.ndarray) and not batched:
        return value.shape, value.ravel().tolist()
    if not isinstance(value, (list, tuple)):
        return (), [value]
    parts = [_flat(part, batched, where) for part in value]
    shapes = [shape for shape, _ in parts]
    if any(shape != shapes[0] for shape in shapes):
        raise ResultError(where, got=f"a list of results of shapes {_listed(shapes)}", expected="one shape for all")
    return (len(parts), *(shapes[0] if shapes else ())), [e for _, flat in parts for e in flat]


def _listed(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(map(str, shapes[:6])) + (", ..." if len(shapes) > 6 else "")


SPATIAL = (SE3, Motion, Force, MotionSubspace, Matrix3, Symmetric3, Vector3)
"""What is one result although some of it is made as a tuple."""


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
