"""Packages that are extras: imported when they are used, and not before."""

from __future__ import annotations

import importlib
from typing import Any

from cardan.errors import MissingExtraError


def package(name: str, capability: str, extra: str) -> Any:
    """Return a module of an extra.

    Args:
        name: of the module.
        capability: what it is wanted for, for the error.
        extra: the extra that installs it.

    Raises:
        MissingExtraError: if it is not installed; the message says which command installs it.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(capability, extra) from None
