"""Rays on height fields: a walk over the cells below the ray, from one side of a cell to the next.

Within its bounds the field is what is below its triangles. In cells, a ray is at u = u_0 + t u' and v = v_0 + t v'. It
leaves cell (j, i) at the least t where u or v is a whole number. On each of the cell's two triangles its height above
the surface, h(t), is linear; it crosses from one to the other where u - j = v - i. So the first end of such a stretch
where h has another sign than at first says on which triangle the ray meets the surface. The walk finds only which: the
distance is that to the triangle's plane.

A ray that comes in beside or below the surface meets the field's sides or base; so does one that begins within and
leaves there.

Source: Amanatides and Woo, A fast voxel traversal algorithm for ray tracing (1987), for the walk; the surface is that
of `height_field`.
Cost: 100 operations, and 90 for each cell on the way within the field's bounds.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import repeat_while, when
from cardan._algebra.scalar import (
    absolute,
    floor,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    where,
)
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR, PARALLEL, select
from cardan._motion.collision.ray_spans import Hit, Span, face_normal, slab
from cardan._motion.collision.terrain import Slopes, Terrain, cell_at, slopes, terrain_of
from cardan._robot.geometry.shapes import HeightField

ABOVE = 1e-3  # of a field's height: how far above its highest point a walk begins, clear of rounding


class _Line(NamedTuple):
    """A ray in cells: where it is at t is start + t way."""

    u: Scalar
    v: Scalar
    du: Scalar
    dv: Scalar
    z: Scalar
    dz: Scalar


class _Walk(NamedTuple):
    """What a pass leaves: the cell, and from which t on it was not looked at yet."""

    j: Scalar
    i: Scalar
    t: Scalar
    upper: Scalar  # 1 if the triangle that is met is that of the greater y
    met: Scalar
    done: Scalar


def ray_on_height_field(shape: HeightField, o: Vector3, d: Vector3) -> Hit:
    terrain = terrain_of(shape)
    top = terrain.highest + ABOVE * (terrain.highest - terrain.base)
    middle = Vector3(0.0, 0.0, 0.5 * (top + terrain.base))
    halves = 0.5 * shape.size[0], 0.5 * shape.size[1], 0.5 * (top - terrain.base)
    spans = [slab(*own) for own in zip(o - middle, d, halves, strict=True)]
    both = reduce(Span.of_both, spans)
    exists = logical_and(both.enter <= both.exit, both.exit >= 0.0)
    outside = both.enter >= 0.0
    start = where(logical_and(exists, outside), both.enter, 0.0)
    length = where(exists, both.exit - start, 0.0)
    line, per_x, per_y = _in_cells(shape, terrain, o + d * start, d)
    cells_away = Hit(FAR, Vector3.zero())

    def within() -> Hit:
        j, i = (cell_at(x, n) for x, n in ((line.u, terrain.columns), (line.v, terrain.rows)))
        is_below = _height(line, slopes(terrain, j, i, line.v - i > line.u - j), j, i, 0.0) < 0.0
        at_once = logical_and(outside, is_below)
        walk = _walked(terrain, line, length, (j, i), is_below, at_once)
        plane = slopes(terrain, floor(walk.j), floor(walk.i), walk.upper > 0.5)
        t = maximum(_time(line, plane, floor(walk.j), floor(walk.i)), 0.0)
        met = walk.met > 0.5
        leaves = where(at_once, start, where(is_below, start + length, FAR))
        normal = select(met, plane.normal(per_x, per_y), face_normal(spans, both, d))
        return Hit(where(met, start + t, leaves), normal)

    return when(exists, within, cells_away)


def _in_cells(shape: HeightField, terrain: Terrain, p: Vector3, d: Vector3) -> tuple[_Line, float, float]:
    """Return a ray from p along d in cells, and how many of them there are along a metre of x and of y."""
    columns, rows = terrain.columns - 1.0, terrain.rows - 1.0
    per_x, per_y = columns / shape.size[0], rows / shape.size[1]
    u, v = p.x * per_x + 0.5 * columns, p.y * per_y + 0.5 * rows
    return _Line(u, v, d.x * per_x, d.y * per_y, p.z, d.z), per_x, per_y


def _height(line: _Line, plane: Slopes, j: Scalar, i: Scalar, t: Scalar) -> Scalar:
    """Return how far above a triangle's plane a ray is at t [m]."""
    u, v = line.u + line.du * t - j, line.v + line.dv * t - i
    return line.z + line.dz * t - (plane.height + plane.by_u * u + plane.by_v * v)


def _time(line: _Line, plane: Slopes, j: Scalar, i: Scalar) -> Scalar:
    """Return when a ray is in a triangle's plane."""
    fall = plane.by_u * line.du + plane.by_v * line.dv - line.dz
    moving = absolute(fall) > PARALLEL
    return _height(line, plane, j, i, 0.0) * where(moving, 1.0 / where(moving, fall, 1.0), 0.0)


def _walked(
    terrain: Terrain, line: _Line, length: Scalar, first: tuple[Scalar, Scalar], is_below: Any, at_once: Any
) -> _Walk:
    """Return the cell in which a ray meets the surface, if it does."""
    sign = where(is_below, -1.0, 1.0)
    lines = (line.u, line.du), (line.v, line.dv), (line.u - line.v, line.du - line.dv)
    inverses = [_inverse(rate) for _, rate in lines]
    zero = 0.0 * (line.u + line.v + line.z)  # no entry is a plain number, so that batches keep their shape

    def crossing(k: int, number: Scalar, t: Scalar) -> Scalar:
        """Return when one of the three families of lines is crossed at a number, or later than the walk goes."""
        at, rate = lines[k]
        return where(absolute(rate) > PARALLEL, maximum((number - at) * inverses[k], t), FAR)

    def further(walk: _Walk) -> _Walk:
        j, i, t, *_ = walk
        at_u, at_v = (crossing(k, number + where(lines[k][1] > 0.0, 1.0, 0.0), t) for k, number in ((0, j), (1, i)))
        end = minimum(minimum(at_u, at_v), maximum(length, t))
        diagonal = crossing(2, j - i, t)
        middle = minimum(diagonal, end)
        found = []
        for begins, stop in ((t, middle), (middle, end)):
            half = 0.5 * (begins + stop)
            is_upper = line.v + line.dv * half - i > line.u + line.du * half - j
            height = _height(line, slopes(terrain, j, i, is_upper), j, i, stop)
            found.append((sign * height <= 0.0, where(is_upper, 1.0, 0.0)))
        (first_met, first_upper), (second_met, second_upper) = found
        met = logical_or(first_met, second_met)
        over_u, over_v = at_u <= end, at_v <= end
        onward = logical_not(met)
        new_j = j + where(logical_and(onward, over_u), where(line.du > 0.0, 1.0, -1.0), 0.0)
        new_i = i + where(logical_and(onward, over_v), where(line.dv > 0.0, 1.0, -1.0), 0.0)
        inside = logical_and(_within(new_j, terrain.columns), _within(new_i, terrain.rows))
        goes_on = logical_and(logical_and(onward, inside), end < length)
        return _Walk(
            new_j,
            new_i,
            end,
            where(first_met, first_upper, second_upper),
            where(met, 1.0, 0.0),
            where(goes_on, 0.0, 1.0),
        )

    j, i = first
    start = _Walk(zero + j, zero + i, zero, zero, zero, zero + where(at_once, 1.0, 0.0))
    most = terrain.rows + terrain.columns
    return repeat_while(most, lambda walk: walk.done < 0.5, further, start)


def _inverse(rate: Scalar) -> Scalar:
    moving = absolute(rate) > PARALLEL
    return 1.0 / where(moving, rate, 1.0)


def _within(number: Scalar, count: int) -> Any:
    return logical_and(number >= 0.0, number <= float(count - 2))
