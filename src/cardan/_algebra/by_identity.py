"""What is known of objects, each by itself, while they live.

A `WeakKeyDictionary` takes objects that are equal for one, and forgets what it knows when the first of them dies.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ByIdentity(Generic[K, V]):
    """A dictionary of objects by their identity, whose entries go with them."""

    __slots__ = ("_alive", "values")

    def __init__(self) -> None:
        self.values: dict[int, V] = {}  # by the object's identity
        self._alive: dict[int, weakref.ref[Any]] = {}

    def get(self, key: K) -> V | None:
        return self.values.get(id(key))

    def setdefault(self, key: K, value: V) -> V:
        """Return what is known of an object; if nothing is, a value from now on, which must not hold the object."""
        number, values, alive = id(key), self.values, self._alive
        if number not in values:

            def forget(_: Any) -> None:
                values.pop(number, None)
                alive.pop(number, None)

            alive[number] = weakref.ref(key, forget)  # or the next object at this address would be taken for it
        return values.setdefault(number, value)

    def items(self) -> Iterator[tuple[K, V]]:
        """Yield the objects that are alive, and what is known of each."""
        for number, reference in list(self._alive.items()):
            key = reference()
            if key is not None and number in self.values:
                yield key, self.values[number]


def known_of_each(make: Callable[[K], V]) -> Callable[[K], V]:
    """Return a function that remembers what it makes of an object while that lives: to hash a large one takes long.

    What it makes must not hold the object.
    """
    known: ByIdentity[K, V] = ByIdentity()

    @functools.wraps(make)
    def found(thing: K) -> V:
        own = known.get(thing)
        return known.setdefault(thing, make(thing)) if own is None else own

    return found
