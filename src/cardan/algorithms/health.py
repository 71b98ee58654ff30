"""Whether numbers are those of a state that anything can come of.

A world that diverges keeps its last good state, so that one bad world among thousands makes no others slow, or wrong,
and nothing that is not a number gets out; how many steps were good says which worlds stand still.
"""

from __future__ import annotations

from cardan.algorithms.tree import Vector
from cardan.scalar import where
from cardan.spatial import Scalar

BEYOND = 1e30
"""Numbers of this size are no state's, in any unit; their squares still are numbers in single precision's exponent."""


def is_sound(*parts: Vector) -> Scalar:
    """Return whether all numbers are finite, and the sum of their sizes below `BEYOND`."""
    total: Scalar = 0.0
    for part in parts:
        for x in part:
            total = total + abs(x)
    return total < BEYOND


def kept(sound: Scalar, new: Vector, old: Vector) -> list[Scalar]:
    """Return the new numbers where they are sound, else the old ones."""
    return [where(sound, a, b) for a, b in zip(new, old, strict=True)]
