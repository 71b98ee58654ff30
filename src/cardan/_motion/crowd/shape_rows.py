"""What a step computes of each pair of shapes: where they touch, or nearly, by the pages of `collision/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cardan._algebra.arrays.symbolic import entries_of, rebuilt
from cardan._algebra.spatial import SE3, Vector3
from cardan._compiler.program import Program
from cardan._motion.collision import Candidate, count_of
from cardan._motion.collision.convex import witness
from cardan._motion.collision.distance import SEARCHED, nearest_page
from cardan._motion.collision.table import PAIRS, Two, in_order, kind_of, of_sizes, sizes_of, within
from cardan._motion.contact.moving_point import lever_rate
from cardan._motion.crowd.rows import pose_of, row_program
from cardan._robot.geometry.shapes import Geometry, Hull


@dataclass(frozen=True, eq=False)
class ShapeSizes:
    """The numbers in which shapes that share programs differ."""

    most: Mapping[Any, int]  # vertices of a hull of each kind

    @staticmethod
    def of(shapes: Sequence[Geometry]) -> ShapeSizes:
        hulls = sorted((shape for shape in shapes if isinstance(shape, Hull)), key=lambda hull: len(hull.vertices))
        return ShapeSizes({row_kind(hull): len(hull.vertices) for hull in hulls})

    def form(self, shape: Geometry) -> list[Any]:
        return sizes_of(shape, self.most.get(row_kind(shape), 0))

    def numbers(self, shape: Geometry) -> list[float]:
        return [float(e) for e in entries_of(self.form(shape))]

    def shape(self, like: Geometry, numbers: Sequence[Any]) -> Any:
        """Return a shape with other numbers, which may be symbols."""
        return of_sizes(like, rebuilt(self.form(like), iter(numbers)))


def row_kind(shape: Geometry) -> Any:
    """Return what shapes that share programs have in common: they are few kinds, for each two have a program."""
    return kind_of(shape, doublings=2)


class ShapePair(NamedTuple):
    """Two kinds of shapes by one shape of each; the second one may be fixed in the world."""

    measures: ShapeSizes
    a: Geometry
    b: Geometry
    fixed: bool

    @property
    def points(self) -> int:
        """How many candidates such a pair has."""
        return count_of(self.a, self.b)

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.measures.numbers(self.a)), len(self.measures.numbers(self.b))

    def program(self) -> Program:
        """Return the program of the candidates, in the frame of the first shape's node.

        It is given the poses of both shapes in the world, that of the first in its node, sizes, and how near each must
        come. On what is fixed also the angular velocity of the node and the shape's centre there, by which the lever
        turns (`moving_point`).
        """

        def candidates(X_a: Any, X_b: Any, local: Any, size_a: Any, size_b: Any, **more: Any) -> dict[str, Any]:
            a, b = self.measures.shape(self.a, size_a), self.measures.shape(self.b, size_b)
            X_ab, X = Two(a, pose_of(X_a), b, pose_of(X_b)).X_ab, pose_of(local)
            two, is_other = in_order(Two(a, SE3(), b, X_ab))
            found = within(PAIRS[type(two.a), type(two.b)], two, more["reach"][0])
            found = [c.seen_from_b(X_ab) for c in found] if is_other else found
            found = [Candidate(c.gap, X @ c.point, X.rotation @ c.normal) for c in found]
            result = {"gap": [c.gap for c in found], "point": [[*c.point] for c in found]}
            result["normal"] = [[*c.normal] for c in found]
            if self.fixed:
                centre, rate = Vector3(*more["centre"]), lever_rate(a, X)
                w, dt = Vector3(*more["w"][:3]), more["w"][3]
                rates = [rate(w, c.normal, c.point - centre, dt) if rate else Vector3.zero() for c in found]
                result["turning"] = [[*w.cross(r)] for r in rates]
            return result

        columns = {"X_a": 12, "X_b": 12, "local": 12, "size_a": self.sizes[0], "size_b": self.sizes[1]}
        columns["reach"] = 1
        by = {"X_a": "pair_a", "local": "pair_a", "centre": "pair_a", "X_b": "pair_b"}
        return row_program("pair", columns | ({"w": 4, "centre": 3} if self.fixed else {}), candidates, by=by)

    def apart(self) -> Program:
        """Return the program of a pair's gap alone, and along which way to the first it is, in the axes of that.

        Of one of more than a reach [m] it may be less than that.
        """

        def apart(X_a: Any, X_b: Any, size_a: Any, size_b: Any, reach: Any) -> dict[str, Any]:
            a, b = self.measures.shape(self.a, size_a), self.measures.shape(self.b, size_b)
            two, is_other = in_order(Two(a, pose_of(X_a), b, pose_of(X_b)))
            if PAIRS[type(two.a), type(two.b)] in SEARCHED:
                gap, way, *_ = witness(*two, reach=reach[0])
            else:
                ((gap, _, way),) = nearest_page(two)(two.a, SE3(), two.b, two.X_ab)
            return {"apart": [gap], "way": [*(-(two.X_ab.rotation.transpose_apply(way)) if is_other else way)]}

        columns = {"X_a": 12, "X_b": 12, "size_a": self.sizes[0], "size_b": self.sizes[1], "reach": 1}
        return row_program("apart", columns, apart, by={"X_a": "pair_a", "X_b": "pair_b"})
