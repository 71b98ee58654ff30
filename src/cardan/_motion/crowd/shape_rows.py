"""What a step computes of each pair of shapes: where they touch, or nearly, by the pages of `collision/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.spatial import SE3, Vector3
from cardan._compiler.program import Program
from cardan._motion.collision import Candidate, check_page, count_of
from cardan._motion.collision.table import CONSTANT, PAIRS, Two, is_in_order, kind_of, of_sizes
from cardan._motion.contact.moving_point import lever_rate
from cardan._motion.crowd.rows import pose_of, row_program
from cardan._robot.geometry.shapes import Geometry


class ShapePair(NamedTuple):
    """Two kinds of shapes by one shape of each; the second one may be fixed in the world."""

    a: Geometry
    b: Geometry
    fixed: bool

    @property
    def points(self) -> int:
        """How many candidates such a pair has."""
        return count_of(self.a, self.b)

    @property
    def sizes(self) -> tuple[int, int]:
        return len(sizes_of(self.a)), len(sizes_of(self.b))

    def program(self) -> Program:
        """Return the program of the candidates, in the frame of the first shape's node.

        It is given the poses of both shapes in the world, that of the first in its node, and sizes. On what is fixed
        also the angular velocity of the node and the shape's centre there, by which the lever turns (`moving_point`).
        """
        check_page(type(self.a), type(self.b))
        in_order = is_in_order(Two(self.a, SE3(), self.b, SE3()))

        def candidates(X_a: Any, X_b: Any, local: Any, size_a: Any, size_b: Any, **moving: Any) -> dict[str, Any]:
            two = Two(with_sizes(self.a, size_a), pose_of(X_a), with_sizes(self.b, size_b), pose_of(X_b))
            a, b, X_ab, X = two.a, two.b, two.X_ab, pose_of(local)
            if in_order:
                found = PAIRS[type(a), type(b)](a, SE3(), b, X_ab)
            else:
                found = [c.seen_from_b(X_ab) for c in PAIRS[type(b), type(a)](b, SE3(), a, X_ab.inverse())]
            found = [Candidate(c.gap, X @ c.point, X.rotation @ c.normal) for c in found]
            result = {"gap": [c.gap for c in found], "point": [[*c.point] for c in found]}
            result["normal"] = [[*c.normal] for c in found]
            if self.fixed:
                w, centre, rate = Vector3(*moving["w"]), Vector3(*moving["centre"]), lever_rate(a, X)
                rates = [rate(w, c.normal, c.point - centre) if rate else Vector3.zero() for c in found]
                result["turning"] = [[*w.cross(r)] for r in rates]
            return result

        columns = {"X_a": 12, "X_b": 12, "local": 12, "size_a": self.sizes[0], "size_b": self.sizes[1]}
        return row_program("pair", columns | ({"w": 3, "centre": 3} if self.fixed else {}), candidates)


def sizes_of(shape: Geometry) -> list[float]:
    """Return the numbers that shapes of one kind differ in."""
    if isinstance(shape, CONSTANT):
        return []
    return [float(e) for field in fields(shape) for e in np.ravel(getattr(shape, field.name))]


def with_sizes(like: Geometry, numbers: Sequence[Any]) -> Any:
    """Return a shape of a kind with other numbers, which may be symbols."""
    if isinstance(like, CONSTANT):
        return like
    left, sizes = list(numbers), list[Any]()
    for field in fields(like):
        own = getattr(like, field.name)
        sizes.append(tuple(left[: np.size(own)]) if np.ndim(own) else left[0])
        del left[: np.size(own)]
    return of_sizes(like, sizes)


__all__ = ["ShapePair", "kind_of", "sizes_of", "with_sizes"]
