"""viser and trimesh, an extra: imported when they are used, and not before."""

from __future__ import annotations

import importlib
from typing import Any

from cardan.errors import MissingExtraError


def viser() -> Any:
    """Return the module `viser`.

    Raises:
        MissingExtraError: if it is not installed; the message says which command installs it.
    """
    return _module("viser")


def trimesh() -> Any:
    """Return the module `trimesh`; errors as `viser`."""
    return _module("trimesh")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError("the viewer", "view") from None
