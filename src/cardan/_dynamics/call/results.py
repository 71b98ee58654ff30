"""What comes out of every compiled function: spatial objects and nested lists become arrays, and tuples come back.

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

from cardan._algebra.arrays import symbolic
from cardan._algebra.by_fields import ByFields
from cardan._algebra.errors import ResultError, first_of
from cardan._algebra.spatial import SE3, ArticulatedInertia, Force, Inertia, Matrix3, Motion, Symmetric3, Vector3
from cardan._algebra.spatial.motion import Columns

RESULT = "result"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Form(ByFields):
    # one result, a tuple, a dictionary, a named tuple, or derivatives by several arguments
    kind: Literal["one", "tuple", "dict", "named", "derivatives"] = "one"
    names: tuple[str, ...] = (RESULT,)  # of the results
    type: Any = None  # the class of the named tuple
    by: tuple[str, ...] = ()  # of derivatives, what they are called: `dq`, `dv`, ...; each is in the form `inner`
    inner: Form | None = None  # that form

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

    def parts(self, value: Any) -> list[Any] | None:
        """Return the results that are in something of this form, or in tuples instead; None if it has another form."""
        names = self.by if self.inner is not None else self.names
        if self.kind == "one":
            return [value]
        if self.kind == "dict" and isinstance(value, Mapping):
            return [value[name] for name in names] if set(value) == set(names) else None
        if not isinstance(value, (tuple, list)) or len(value) != len(names):
            return None
        if self.kind != "tuple" and getattr(value, "_fields", names) != names:  # in another order, say
            return None
        if self.inner is None:
            return list(value)
        inner = [self.inner.parts(part) for part in value]
        return None if None in inner else [e for part in inner for e in part or ()]

    def describe(self) -> str:
        if self.inner is not None:
            return f"a named tuple ({', '.join(self.by)}), each {self.inner.describe()}"
        kinds = {"one": "an array", "tuple": "a tuple", "dict": "a dictionary", "named": "a named tuple"}
        return kinds[self.kind] + (f" ({', '.join(self.names)})" if self.kind in ("dict", "named") else "")

    @property
    def gathered(self) -> type[tuple[Any, ...]] | tuple[str, ...] | None:
        """The class of the tuple that results in this form are, or the keys of the dictionary; None if neither."""
        if self.kind == "tuple":
            return tuple
        if self.kind == "dict":
            return self.names
        flat = self.inner is not None and self.inner.kind == "one"
        kind = derivatives_type(self.by) if flat else self.type
        # machine code makes the tuple itself, so making one must run no code but what `namedtuple` wrote
        written = "_tuple_new" in getattr(getattr(kind, "__new__", None), "__globals__", ())
        return kind if written and kind.__init__ is object.__init__ and type(kind) is type else None


@functools.cache
def derivatives_type(names: tuple[str, ...]) -> Any:
    """Return the class of named tuples of derivatives by arguments; what is in it can be pickled."""
    made: Any = namedtuple("Derivatives", names)
    made.__doc__ = "Derivatives by arguments, as `derivative` returns them for each alone."
    made.__module__ = __name__
    made.__reduce__ = lambda self: (_derivatives, (names, tuple(self)))
    return made


def _derivatives(names: tuple[str, ...], parts: tuple[Any, ...]) -> Any:
    return derivatives_type(names)(*parts)


def form_of(value: Any, where: str = "") -> tuple[Form, list[Any]]:
    """Return the form of what a kernel returned, and its results; raise for a dictionary whose keys are no names."""
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
    """Return a scalar, spatial object, array or nested sequence of these as an array of objects; ResultError if ragged.

    If it is `batched`, an array in it is a scalar (with a batch of values) instead of a sequence of scalars.
    """
    shape, flat = _flat(value, batched, where)
    return symbolic(flat, shape)


def _flat(value: Any, batched: bool, where: str) -> tuple[tuple[int, ...], list[Any]]:
    value = _plain(value)
    if isinstance(value, np.ndarray) and not batched:
        return value.shape, value.ravel().tolist()
    if not isinstance(value, (list, tuple)):
        return (), [value]
    if not any(issubclass(kind, TAKEN_APART) for kind in set(map(type, value))):  # a row of a large matrix
        return (len(value),), list(value)
    parts = [_flat(part, batched, where) for part in value]
    shapes = [shape for shape, _ in parts]
    if any(shape != shapes[0] for shape in shapes):
        got = f"a list of results of shapes {first_of(list(map(str, shapes)))}"
        raise ResultError(where, got=got, expected="one shape for all")
    return (len(parts), *(shapes[0] if shapes else ())), [e for _, flat in parts for e in flat]


SPATIAL = (SE3, Motion, Force, Columns, Inertia, ArticulatedInertia, Matrix3, Symmetric3, Vector3)
"""What is one result although some of it is made as a tuple."""
TAKEN_APART = (list, tuple, np.ndarray, *SPATIAL)


def _plain(value: Any) -> Any:
    if isinstance(value, SE3):
        return value.homogeneous()
    if isinstance(value, (Motion, Force)):
        return list(value.scalars())
    if isinstance(value, (Columns, Inertia, ArticulatedInertia)):
        return value.rows()
    if isinstance(value, (Matrix3, Symmetric3)):
        full = value.matrix() if isinstance(value, Symmetric3) else value
        return [list(row) for row in full.rows()]
    return value
