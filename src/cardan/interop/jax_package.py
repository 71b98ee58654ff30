"""JAX, an extra: imported when it is used, and not before."""

from __future__ import annotations

import re
from typing import Any

from cardan.errors import MissingExtraError, TargetError

LOWEST = (0, 6, 2)
"""The first version with all that is used: foreign functions that may be spread over devices among it."""


def package(capability: str) -> Any:
    """Return the module `jax`.

    Args:
        capability: what it is wanted for, for the error.

    Raises:
        MissingExtraError: if it is not installed; the message says which command installs it.
        TargetError: if it is too old.
    """
    try:
        import jax as module  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError(capability, "jax") from None
    if tuple(int(n) for n in re.findall(r"\d+", module.__version__)[:3]) < LOWEST:
        lowest = ".".join(map(str, LOWEST))
        raise TargetError(f"{capability} needs jax {lowest}, this is {module.__version__}: pip install --upgrade jax")
    return module
