"""USD: rigid bodies and joints of OpenUSD's UsdPhysics, read by the package `usd-core` (extra `usd`), and written."""

from cardan._reach.formats.usd.reader import read
from cardan._reach.formats.usd.writer import write

OPTIONS = frozenset({"model", "orphans"})

__all__ = ["OPTIONS", "read", "write"]
