"""What a step computes of each pair of shapes: where they touch, or nearly, by the pages of `collision/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.spatial import SE3, Vector3
from cardan._compiler.program import Program
from cardan._motion.collision import Candidate, check_page, count_of
from cardan._motion.collision.row_hull import HullTable
from cardan._motion.collision.table import CONSTANT, PAIRS, Two, of_sizes, within
from cardan._motion.contact.moving_point import lever_rate
from cardan._motion.crowd.rows import pose_of, row_program
from cardan._robot.geometry.shapes import Geometry, HeightField, Hull, Plane, TriangleMesh

ENDLESS = (Plane, HeightField, TriangleMesh)

FEW_HULLS = 32
"""Up to so many hulls each have a program of their own for the ground, with their vertices in it; others share one."""


@dataclass(frozen=True, eq=False)
class ShapeKinds:
    """Which shapes of a world share programs, and the numbers in which they differ."""

    hulls: HullTable | None

    @staticmethod
    def of(shapes: Sequence[Geometry]) -> ShapeKinds:
        hulls = list(dict.fromkeys(shape for shape in shapes if isinstance(shape, Hull)))
        return ShapeKinds(HullTable(hulls) if hulls else None)

    def has_own_program(self, hull: Hull, other: Geometry) -> bool:
        """Return whether a hull's vertices are constants where it meets another shape: the ground, if hulls are few."""
        hulls = len(self.hulls.rows) if self.hulls else 0
        return 0 < hulls <= FEW_HULLS and (isinstance(other, ENDLESS) or hulls == 1)

    def sizes(self, shape: Geometry) -> list[float]:
        """Return the numbers that shapes of one kind differ in."""
        if isinstance(shape, Hull) and self.hulls is not None:
            return self.hulls.rows[shape]
        if isinstance(shape, CONSTANT):
            return []
        return [float(e) for field in fields(shape) for e in np.ravel(getattr(shape, field.name))]

    def shape(self, like: Geometry, numbers: Sequence[Any], other: Geometry) -> Any:
        """Return a shape that meets another one with other numbers, which may be symbols."""
        if isinstance(like, Hull) and self.hulls is not None:
            return like if self.has_own_program(like, other) else self.hulls.hull(list(numbers))
        if isinstance(like, CONSTANT):
            return like
        left, sizes = list(numbers), list[Any]()
        for field in fields(like):
            own = getattr(like, field.name)
            sizes.append(tuple(left[: np.size(own)]) if np.ndim(own) else left[0])
            del left[: np.size(own)]
        return of_sizes(like, sizes)

    def pair(self, a: Geometry, b: Geometry) -> Any:
        """Return what pairs of shapes that one program knows have in common."""
        return tuple(self._of_pair(*both) for both in ((a, b), (b, a)))

    def _of_pair(self, shape: Geometry, other: Geometry) -> Any:
        if isinstance(shape, Hull):
            return shape if self.has_own_program(shape, other) else Hull
        return id(shape) if isinstance(shape, CONSTANT) else type(shape)


class ShapePair(NamedTuple):
    """Two kinds of shapes by one shape of each; the second one may be fixed in the world."""

    kinds: ShapeKinds
    a: Geometry
    b: Geometry
    fixed: bool

    @property
    def points(self) -> int:
        """How many candidates such a pair has."""
        return count_of(self.a, self.b)

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.kinds.sizes(self.a)), len(self.kinds.sizes(self.b))

    def program(self) -> Program:
        """Return the program of the candidates, in the frame of the first shape's node.

        It is given the poses of both shapes in the world, that of the first in its node, sizes, and how near each must
        come. On what is fixed also the angular velocity of the node and the shape's centre there, by which the lever
        turns (`moving_point`).
        """
        first, second = type(self.a), type(self.b)
        check_page(first, second)
        page = PAIRS.get((first, second))

        def candidates(X_a: Any, X_b: Any, local: Any, size_a: Any, size_b: Any, **more: Any) -> dict[str, Any]:
            a, b = self.kinds.shape(self.a, size_a, self.b), self.kinds.shape(self.b, size_b, self.a)
            X_ab, X = Two(a, pose_of(X_a), b, pose_of(X_b)).X_ab, pose_of(local)
            reach = more["further_a"][0] + more["further_b"][0]
            if page is not None:
                found = within(page, Two(a, SE3(), b, X_ab), reach)
            else:
                other = within(PAIRS[second, first], Two(b, SE3(), a, X_ab.inverse()), reach)
                found = [c.seen_from_b(X_ab) for c in other]
            found = [Candidate(c.gap, X @ c.point, X.rotation @ c.normal) for c in found]
            result = {"gap": [c.gap for c in found], "point": [[*c.point] for c in found]}
            result["normal"] = [[*c.normal] for c in found]
            if self.fixed:
                w, centre, rate = Vector3(*more["w"]), Vector3(*more["centre"]), lever_rate(a, X)
                rates = [rate(w, c.normal, c.point - centre) if rate else Vector3.zero() for c in found]
                result["turning"] = [[*w.cross(r)] for r in rates]
            return result

        columns = {"X_a": 12, "X_b": 12, "local": 12, "size_a": self.sizes[0], "size_b": self.sizes[1]}
        columns |= {"further_a": 1, "further_b": 1}
        by = {"X_a": "pair_a", "local": "pair_a", "centre": "pair_a", "X_b": "pair_b"}
        by |= {"further_a": "pair_a", "further_b": "pair_b"}
        return row_program("pair", columns | ({"w": 3, "centre": 3} if self.fixed else {}), candidates, by=by)
