"""Two descriptions of robots compared: what differs, and where first."""

from cardan._reach.comparison.compare import compare
from cardan._reach.comparison.differences import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare"]
__dir__ = __all__.copy
