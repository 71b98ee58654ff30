"""What other packages add by entry points: arrays, formats, targets, solvers, commands.

    [project.entry-points."cardan.arrays"]          # in the other package's pyproject.toml
    "dpnp.ndarray" = "my_package.dpnp_arrays"

Entry points are asked for only when a name is not among cardan's own: reading the metadata of all installed packages
takes milliseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan._algebra.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@functools.cache
def registered(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group, such as `"cardan.formats"`, by name; of two of one name the first counts."""
    from importlib.metadata import entry_points  # takes milliseconds, and most processes never come here

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return found


def plugin(group: str, name: str) -> Any:
    """Return what a package registered under a name, None if none did; raise `PluginError` if it cannot be loaded."""
    entry = registered(group).get(name)
    if entry is None:
        return None
    try:
        return entry.load()
    except Exception as error:  # whatever a stranger's module raises while it is imported
        package = entry.dist.name if entry.dist else "an unknown package"
        raise PluginError(group, name, package, entry.value, error) from error
