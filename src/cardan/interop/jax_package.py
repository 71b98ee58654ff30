"""JAX, an extra: imported when it is used, and not before."""

from __future__ import annotations

from typing import Any

from cardan.runtime import extras

LOWEST = (0, 6, 2)
"""The first version with all that is used: foreign functions that may be spread over devices among it."""


def package() -> Any:
    """Return the module `jax`; errors as `extras.package`."""
    return extras.package("jax", "cardan.interop.jax", "jax", LOWEST)
