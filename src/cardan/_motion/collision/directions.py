"""All directions, cell by cell: a walk that finds one along which two shapes are less deep, or proves that none is.

A direction n is that of a point (u, v, 1) on a face of a cube about 0, and a cell is a square of these, of half side h.
With s(n) = min over C of n . x (`convex`), every point w of C bounds it: s(n) <= n . w. So nowhere in a cell is
s(n) > -t, if for its corners c

    w . c + t |c| <= 0

as that is convex in c. Two points are tried: the lowest of C along the middle of the cell, and the one that is nearest
to 0 of those known. A cell that neither rules out is cut in four, down to 1/1024 of a face, until s is more along the
middle of one. Of four cells each is done with all that it is cut in before the next one.

Source: Land and Doig, An automatic method of solving discrete programming problems (1960), for bounds and branches;
the bound is made here.
Cost: 150 operations for a cell, and a support point of both shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat_while
from cardan._algebra.scalar import floor, logical_and, logical_not, logical_or, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import chosen, select

LESS = 0.992  # of the depth that is known: a direction of less than that is looked for
FINEST = 2.0**-10  # of a face's side
MOST = 1000  # steps of a walk: four times as many as it takes for hulls


class Walk(NamedTuple):
    """Where a walk is: at a cell, all before which are done."""

    face: Scalar  # of the cube, 6 at the end
    x: Scalar  # the number of its column, of those of one size
    y: Scalar  # and row
    h: Scalar  # half of its side
    is_done: Scalar  # 1 if so, and the next one is to be found, else 0
    is_better: Scalar  # 1 if s is more along its middle, and it is to be looked at again, else 0

    @staticmethod
    def begin(zero: Scalar) -> Walk:
        return Walk(zero, zero, zero, zero + 0.5, zero, zero + 1.0)

    @property
    def goes_on(self) -> Any:
        return self.face < 5.5

    def left(self) -> Walk:
        """Return it at the next cell, if this one is done: beside it, or one of twice the size, which is done, too."""
        column, row = self.x - 2.0 * floor(0.5 * self.x), self.y - 2.0 * floor(0.5 * self.y)  # among four
        is_last = column * row > 0.5
        rises, ends = logical_and(is_last, self.h < 0.4), logical_and(is_last, self.h > 0.4)
        x = where(is_last, 0.5 * (self.x - 1.0), self.x + 1.0 - 2.0 * column)
        y = where(is_last, 0.5 * (self.y - 1.0), self.y + column)
        h, face = where(rises, 2.0 * self.h, self.h), where(ends, self.face + 1.0, self.face)
        return chosen(self.is_done > 0.5, self._replace(face=face, x=x, y=y, h=h, is_done=where(rises, 1.0, 0.0)), self)

    def is_deep(self, w: Vector3, enough: Scalar) -> Any:
        """Return whether n . w <= -sqrt(enough) for all directions n of the cell."""
        x, y, z = self._rolled(w, Vector3(w.z, w.x, w.y), Vector3(w.y, w.z, w.x))
        u, v = (((2.0 * k) * self.h - 1.0, (2.0 * k + 2.0) * self.h - 1.0) for k in (self.x, self.y))
        corners = [_is_deep(x * p + y * q + z, p * p + q * q + 1.0, enough) for p, q in product(u, v)]
        return reduce(logical_and, corners)

    def middle(self) -> Vector3:
        u, v = ((2.0 * k + 1.0) * self.h - 1.0 for k in (self.x, self.y))
        one = 1.0 + 0.0 * u
        return self._rolled(Vector3(u, v, one), Vector3(v, one, u), Vector3(one, u, v))

    def _rolled(self, first: Vector3, second: Vector3, third: Vector3) -> Vector3:
        """Return that of three which goes with the axis of the face, on its side."""
        is_behind = self.face > 2.5
        axis = self.face - where(is_behind, 3.0, 0.0)
        return select(axis < 0.5, first, select(axis < 1.5, second, third)) * where(is_behind, -1.0, 1.0)


def walked(walk: Walk, separation: Scalar, nearest: Vector3, lowest: Callable[[Vector3], Vector3]) -> Walk:
    """Return where a walk finds a direction of less depth than is known, or ends."""
    enough = (LESS * LESS) * separation * separation

    def further(walk: Walk) -> Walk:
        own = walk.left().left()
        n = own.middle()
        w = lowest(n)
        is_better = logical_not(logical_or(own.is_done > 0.5, _is_deep(n.dot(w), n.norm_squared(), enough)))
        is_deep = logical_or(own.is_deep(w, enough), own.is_deep(nearest, enough))
        is_done = logical_and(logical_not(is_better), reduce(logical_or, (own.is_done > 0.5, is_deep, own.h < FINEST)))
        own = own._replace(is_better=where(is_better, 1.0, 0.0), is_done=where(is_done, 1.0, 0.0))
        part = own._replace(x=2.0 * own.x, y=2.0 * own.y, h=0.5 * own.h)
        return chosen(logical_or(is_done, is_better), own, part)

    def going(walk: Walk) -> Any:
        return logical_and(walk.goes_on, walk.is_better < 0.5)

    return repeat_while(MOST, going, further, walk._replace(is_better=0.0 * walk.h))


def _is_deep(along: Scalar, squared: Scalar, enough: Scalar) -> Any:
    """Return whether along <= -sqrt(enough) |c|, by squares."""
    return logical_and(along < 0.0, along * along >= enough * squared)
