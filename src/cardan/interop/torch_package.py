"""PyTorch, an extra: imported when it is used, and not before."""

from __future__ import annotations

from typing import Any

from cardan.errors import MissingExtraError, TargetError

LOWEST = (2, 13)
"""The first version these pages were run on; they use names of PyTorch that it promises to nobody."""


def package(capability: str) -> Any:
    """Return the module `torch`.

    Args:
        capability: what it is wanted for, for the error.

    Raises:
        MissingExtraError: if it is not installed; the message says which command installs it.
        TargetError: if it is too old.
    """
    try:
        import torch as module  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError(capability, "torch") from None
    if tuple(int(n) for n in module.__version__.split(".")[:2]) < LOWEST:
        lowest = ".".join(map(str, LOWEST))
        raise TargetError(f"{capability} needs torch {lowest}, this is {module.__version__}: pip install -U torch")
    return module
