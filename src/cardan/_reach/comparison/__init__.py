"""Two descriptions of robots compared: what differs, where first, and what most likely caused it."""

from cardan._reach.comparison.causes import Comparison, Difference
from cardan._reach.comparison.compare import compare

__all__ = ["Comparison", "Difference", "compare"]
__dir__ = __all__.copy
