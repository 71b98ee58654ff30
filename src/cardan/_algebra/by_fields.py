"""What a dataclass is by its fields, without code of its own: importing cardan makes dozens of them.

`dataclass` writes the source of each method and compiles it, 0.1 ms each. The records that every import makes leave
comparing, hashing and showing to this class (`eq=False, repr=False`); `__init__` stays theirs, for it is called often.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, cast

from cardan._algebra.explained import Explained

T = TypeVar("T")


def computed(method: Callable[[Any], T]) -> T:
    """Return a property in place of what others have in their class; type checkers see the value itself."""
    return cast("T", property(method))


class ByFields(Explained):
    """A frozen dataclass made with `eq=False, repr=False`, which does the same as one that has its own."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(_compared(self))

    def __repr__(self) -> str:
        record: Any = self  # a dataclass, as the class says
        inside = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(record) if f.repr)
        return f"{type(self).__qualname__}({inside})"

    def __copy__(self: T) -> T:
        """Return a copy that shares all parts; by way of `__reduce__` it would take four times as long."""
        twin = object.__new__(type(self))
        for name, _ in _names(type(self)):
            object.__setattr__(twin, name, getattr(self, name))
        return twin


@functools.cache
def _names(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Return the names of the fields of a kind of record, each with whether it counts when two are compared."""
    return tuple((f.name, bool(f.compare)) for f in fields(kind))


def _compared(record: Any) -> tuple[Any, ...]:
    return tuple([getattr(record, name) for name, counts in _names(type(record)) if counts])
