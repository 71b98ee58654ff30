"""Two descriptions of robots compared: what differs, where first, and what most likely caused it."""

from cardan.comparison.compare import compare
from cardan.comparison.result import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare"]


def __dir__() -> list[str]:
    return list(__all__)
