"""MuJoCo, an extra: imported when it is used, and not before."""

from __future__ import annotations

from typing import Any

from cardan.errors import MissingExtraError


def mujoco(capability: str) -> Any:
    """Return the module `mujoco`.

    Args:
        capability: what it is wanted for, for the error.

    Raises:
        MissingExtraError: if it is not installed; the message says which command installs it.
    """
    try:
        import mujoco as module  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError(capability, "mujoco") from None
    return module


def mujoco_batch(capability: str) -> Any:
    """Return the module `mujoco.batch`, which steps many simulations at once; errors as `mujoco`."""
    mujoco(capability)
    from mujoco import batch  # pyright: ignore[reportMissingImports]

    return batch
