"""How poses and rotations come about: who wants to differentiate a product factor by factor can listen.

    with listening() as history:
        X = joint.transform(q)
    history.of(X)                       # ("product", (A, B)) if X was made as A @ B

Nothing is recorded while nobody listens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Origin = tuple[str, tuple[Any, ...]]


class History:
    """What was made of what."""

    __slots__ = ("_origins",)

    def __init__(self) -> None:
        self._origins: dict[int, tuple[Any, Origin]] = {}

    def add(self, result: Any, kind: str, *operands: Any) -> None:
        """Note how a result was made; it is kept alive, so that its identity stays its own."""
        self._origins.setdefault(id(result), (result, (kind, operands)))

    def of(self, result: Any) -> Origin | None:
        """Return how a result was made; None if it came from its entries."""
        found = self._origins.get(id(result))
        return found[1] if found is not None else None


_listener: ContextVar[History | None] = ContextVar("cardan_composition", default=None)


@contextmanager
def listening() -> Iterator[History]:
    """Record the products, inverses and transposes made inside, in this thread."""
    history = History()
    token = _listener.set(history)
    try:
        yield history
    finally:
        _listener.reset(token)


def noted(result: Any, kind: str, *operands: Any) -> Any:
    """Return a result, having told who listens how it was made."""
    history = _listener.get()
    if history is not None:
        history.add(result, kind, *operands)
    return result
