"""Names for what has none in MJCF: MuJoCo needs none, cardan gives everything one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from html import escape

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character no file of XML can hold."""


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


def escaped(text: str) -> str:
    """Return a text as it stands in an attribute on one line, where XML takes a bare line break or tab for a blank."""
    return escape(text).replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")
