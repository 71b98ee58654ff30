"""Tables of a terrain are made once: a next trace of the same one finds them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cardan._algebra.by_identity import ByIdentity

T = TypeVar("T")


def made_once(make: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return a function that remembers what it makes of an object while that lives: to hash a terrain takes long."""
    known: ByIdentity[Any, T] = ByIdentity()

    def found(thing: Any) -> T:
        own = known.get(thing)
        return known.setdefault(thing, make(thing)) if own is None else own

    return found
