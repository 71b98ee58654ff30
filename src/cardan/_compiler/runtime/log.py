"""The logger of this package, `cardan`, loaded when there is something to say: that takes 2 ms, a first call 5."""

from __future__ import annotations

from typing import Any


def log() -> Any:
    """Return the logger, a `logging.Logger`."""
    import logging

    return logging.getLogger("cardan")
