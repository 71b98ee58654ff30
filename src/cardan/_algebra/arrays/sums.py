"""Sums over bodies that may be skipped: one that is skipped adds nothing, and nothing of it is read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from cardan._algebra.scalar import is_zero, where


class Sums:
    """Numbers by keys, which begin as they are given, or at 0. What bodies of `only_where` add is read behind these.

    In a traced function sums are entries of columns, so that native code reads what is added, and nothing that is not.
    """

    def __init__(self, start: Mapping[Any, Any] = MappingProxyType({})) -> None:
        tracer = next((e for e in start.values() if hasattr(type(e), "__sum__")), None)
        # those of a traced function: of one without regions there are none
        self._places = {} if tracer is None else {key: tracer.__sum__(e) for key, e in start.items()}
        self._apart = {key: e for key, e in start.items() if self._places.get(key) is None}  # what is in no place

    def add(self, terms: Iterable[tuple[Hashable, Any]], condition: Any = None) -> None:
        """Add terms by their keys where a condition holds, that of the body around; None outside of such bodies."""
        new = getattr(type(condition), "__sum__", None)
        for key, term in terms:
            if is_zero(term):
                continue
            if new and key not in self._places:
                self._places[key] = new(condition)
            if new and self._places.get(key) is not None:
                self._places[key].add(condition, term)
            else:
                chosen = term if condition is None else where(condition, term, 0.0)
                self._apart[key] = self._apart[key] + chosen if key in self._apart else chosen

    def __getitem__(self, key: Hashable) -> Any:
        """Return a sum, after its last term."""
        place = self._places.get(key)
        if place is None:
            return self._apart.get(key, 0.0)
        return place.value() + self._apart[key] if key in self._apart else place.value()
