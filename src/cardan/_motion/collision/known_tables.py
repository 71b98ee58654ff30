"""Tables of a terrain are made once: a next trace of the same one finds them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

KEPT = 16  # at most, of each kind: those of a million heights take 8 MB

T = TypeVar("T")


def made_once(make: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return a function that remembers what it makes of an object, by its identity: to hash a terrain takes long."""
    known: dict[int, tuple[Any, T]] = {}  # objects are held, so that no other one takes their place

    def found(thing: Any) -> T:
        if id(thing) not in known:
            if len(known) >= KEPT:
                known.clear()
            known[id(thing)] = thing, make(thing)
        return known[id(thing)][1]

    return found
