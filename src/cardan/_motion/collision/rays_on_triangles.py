"""Rays on a surface of triangles: row by row of its grids, as far as the nearest face that was met.

A ray o + t d is in the plane of a face, m . x = e, at t = (e - m . o) / (m . d), and on the face if it is within its
three sides there. Both sides of a face are met. What is read of the grids is which face is the first.

Source: Ericson, Real-Time Collision Detection (2005), sections 5.3.3 and 5.3.6.
Cost: 60 operations for each row of a grid on the way, 80 for each face near it.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from cardan._algebra.arrays.repeat import repeat_while, when
from cardan._algebra.scalar import absolute, floor, logical_and, maximum, minimum, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR, PARALLEL, in_precision
from cardan._motion.collision.ray_spans import Hit, Span, slab
from cardan._motion.collision.triangle_grid import Face, Level, ground_of, in_row, on_levels
from cardan._robot.geometry.shapes import TriangleMesh

ROUNDING = 1e-12, 1e-6  # of the surface's size, in double and single precision: by how much faces overlap


def ray_on_triangles(shape: TriangleMesh, o: Vector3, d: Vector3) -> Hit:
    ground = ground_of(shape)
    grid = ground.faces
    slack = in_precision(o.x, *ROUNDING) * ground.size
    middle, halves = (ground.low + ground.high) * 0.5, (ground.high - ground.low) * 0.5
    whole = reduce(Span.of_both, (slab(*own) for own in zip(o - middle, d, halves, strict=True)))
    exists = logical_and(whole.enter <= whole.exit, whole.exit >= 0.0)
    begins, ends = (where(exists, maximum(t, 0.0), 0.0) for t in (whole.enter, whole.exit))

    def visited(k: Scalar, best: Any) -> Any:
        return _nearer(grid.face(k), k, o, d, slack, best)

    def in_level(level: Level, best: Any) -> Any:
        at = [o.y + d.y * t for t in (begins, ends)]
        low, high = minimum(*at) - level.half_y, maximum(*at) + level.half_y
        count = level.row(high) - level.row(low)
        first, step = where(d.y < 0.0, level.row(high), level.row(low)), where(d.y < 0.0, -1.0, 1.0)

        def along(k: Scalar, best: Any) -> tuple[Scalar, Any]:
            row = first + step * k
            own = slab(o.y - (level.y + (row + 0.5) / level.per_y), d.y, 0.5 / level.per_y + level.half_y)
            part = own.of_both(Span(begins, minimum(ends, best[0])))
            x = [o.x + d.x * t for t in (part.enter, part.exit)]
            columns = level.column(minimum(*x) - level.half_x), level.column(maximum(*x) + level.half_x)
            return k + 1.0, when(
                part.enter <= part.exit, lambda: in_row(grid, level, row, columns, visited, best), best
            )

        return repeat_while(grid.rows, lambda k, _: k <= count, along, 0.0 * first, best)[1]

    zero = 0.0 * sum((*o, *d), 0.0)  # batches of NumPy's keep their shape
    nearest, place = when(exists, lambda: on_levels(grid, in_level, (zero + FAR, zero)), (zero + FAR, zero))
    face = grid.face(floor(place))
    return Hit(where(nearest < 0.5 * FAR, _time(face, o, d), FAR), face.normal)


def _time(face: Face, o: Vector3, d: Vector3) -> Scalar:
    slope = face.normal.dot(d)
    moving = absolute(slope) > PARALLEL
    return where(moving, -face.height(o) / where(moving, slope, 1.0), -1.0)


def _nearer(face: Face, k: Scalar, o: Vector3, d: Vector3, slack: Scalar, best: Any) -> tuple[Scalar, Scalar]:
    nearest, known = best
    t = _time(face, o, d)
    within = logical_and(logical_and(t >= 0.0, t < nearest), face.has(o + d * t, slack))
    return where(within, t, nearest), where(within, k, known)
