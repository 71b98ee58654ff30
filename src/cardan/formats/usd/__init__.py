"""USD: rigid bodies and joints of OpenUSD's UsdPhysics, by the package `usd-core` (extra `usd`)."""

from cardan.formats.usd.reader import read

OPTIONS = frozenset({"model", "orphans"})

__all__ = ["OPTIONS", "read"]
