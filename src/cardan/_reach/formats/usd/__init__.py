"""USD: rigid bodies and joints of OpenUSD's UsdPhysics, by the package `usd-core` (extra `usd`)."""

from cardan._reach.formats.usd.reader import read

OPTIONS = frozenset({"model", "orphans"})

__all__ = ["OPTIONS", "read"]
