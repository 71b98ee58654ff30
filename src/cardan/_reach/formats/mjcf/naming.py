"""Names for what has none in MJCF: MuJoCo needs none, cardan gives everything one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class Names:
    """Names of one kind of thing, each used once.

    Args:
        taken: names that nothing unnamed may be given.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._count: Counter[str] = Counter()

    def new(self, wanted: str) -> str:
        """Return a name nobody has: the wanted one, or that with a number."""
        name = wanted
        while name in self._taken:
            self._count[wanted] += 1
            name = f"{wanted}_{self._count[wanted] + 1}"
        self._taken.add(name)
        return name
