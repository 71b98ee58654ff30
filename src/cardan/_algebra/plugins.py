"""What other packages add by entry points, without being imported before it is used."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def registered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group, such as `"cardan.formats"`, by name."""
    from importlib.metadata import entry_points  # here: it takes 20 ms, and few need it

    return {entry.name: entry for entry in entry_points(group=group)}
