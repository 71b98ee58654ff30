"""Whether numbers are those of a state that anything can come of.

A world that diverges keeps its last good state, so that one bad world among thousands makes no others slow, or wrong,
and nothing that is not a number gets out; how many steps were good says which worlds stand still.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real

from cardan._algebra.scalar import minimum, where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model

BEYOND = 1e30
"""Numbers of this size are no state's, in any unit; their squares still are numbers in single precision's exponent."""


def is_sound(*parts: Vector) -> Scalar:
    """Return whether all numbers are finite, and the sum of their sizes below `BEYOND`."""
    return _total([abs(x) for part in parts for x in part]) < BEYOND


def compared(model: Model, surfaces: Iterable[Scalar] = ()) -> list[Scalar]:
    """Return what is NaN where a limit, dry friction or a surface is that a world is given; else at most 1 in size.

    These are compared more than computed with: a NaN among them need not spread, and would be a stop that is none.
    """
    own = (model.lower, model.upper, model.effort_lower, model.effort_upper, model.passive("friction"))
    given = [*(x for values in own for x in values), *surfaces]
    return [minimum(abs(x), 1.0) for x in given if not isinstance(x, Real)]


def _total(terms: Vector) -> Scalar:
    """Return a sum by halves: one after the other, each addition waits for that before it, at the end of every step."""
    if len(terms) < 2:
        return terms[0] if terms else 0.0
    middle = len(terms) // 2
    return _total(terms[:middle]) + _total(terms[middle:])


def kept(sound: Scalar, new: Vector, old: Vector) -> list[Scalar]:
    return [where(sound, a, b) for a, b in zip(new, old, strict=True)]
