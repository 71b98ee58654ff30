"""Two descriptions of robots compared: what differs, where first, and what most likely caused it."""

from cardan._reach.comparison.compare import compare
from cardan._reach.comparison.result import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare"]
__dir__ = __all__.copy
