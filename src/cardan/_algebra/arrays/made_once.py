"""What is made of traced values, made once in a program although many ask for it.

Operations are shared in any case (decision 14). This saves the time to write them again: a joint of a cluster asks for
what all its loops have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def made_once(key: Hashable, values: Iterable[Any], make: Callable[[], T], other: Callable[[], T] | None = None) -> T:
    """Return what `make` makes of values: of traced ones what there is already by the same key of the same values.

    What was made in a region that may be skipped is made again behind it. `other` makes it of values that are not
    traced, of which nothing is kept.
    """
    own = list(values)
    traced = next((e for e in own if hasattr(type(e), "__made_once__")), None)
    return (other or make)() if traced is None else traced.__made_once__(key, own, make)
