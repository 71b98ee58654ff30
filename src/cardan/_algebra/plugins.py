"""What other packages add by entry points, without being imported before it is used."""

from functools import cache
from typing import Any


@cache
def registered(group: str) -> dict[str, Any]:
    """Return the entry points (`importlib.metadata.EntryPoint`) of a group, such as `"cardan.formats"`, by name."""
    from importlib.metadata import entry_points  # here: it takes 20 ms, and few need it

    return {entry.name: entry for entry in entry_points(group=group)}
