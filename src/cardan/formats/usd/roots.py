"""Which files a description may read."""

from __future__ import annotations

import os
from pathlib import Path

from cardan.formats import resources
from cardan.formats.resources import Packages


def is_allowed(file: str, folder: Path | None, packages: Packages | None) -> bool:
    """Return whether a layer may be read: it, or the package (`robot.usdz[...]`) it is in."""
    return resources.allowed(file.partition("[")[0], folder, packages)
