"""OpenUSD, an extra: imported when it is used, and not before."""

from __future__ import annotations

from functools import cache
from typing import Any

from cardan._algebra.errors import MissingExtraError


@cache
def pxr() -> Any:
    """Return the package `pxr` with the modules the reader uses.

    Raises:
        MissingExtraError: if it is not installed; the message says which command installs it.
    """
    try:
        import pxr as package  # pyright: ignore[reportMissingImports]
        from pxr import Ar, Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade  # noqa: F401 # pyright: ignore
    except ImportError:
        raise MissingExtraError("reading USD", "usd") from None
    return package
