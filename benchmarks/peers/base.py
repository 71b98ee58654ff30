"""What a peer is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from benchmarks.robots import Robot
from benchmarks.timing import Calls


class Peer(Protocol):
    """Another library.

    Attributes:
        name: in tables.
        version: of what is installed.
        how: it is called, and what that compares; stands on the page.
    """

    name: str
    version: str
    how: str

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """Return by quantity what makes it ready to be timed.

        Any exception, here or later, becomes the reason shown in the table.
        """
        ...
