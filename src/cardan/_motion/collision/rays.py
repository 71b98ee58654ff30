"""Where a ray o + t d, |d| = 1, meets a shape: the line is within a convex shape for enter <= t <= exit.

    half space      n . x <= e      t = (e - n . o) / (n . d)    begins it where n . d < 0, ends it where n . d > 0
    ball            t = -o . d -+ sqrt(r^2 - |m|^2)              m = o - (o . d) d, the line's point nearest the centre
    ellipsoid       the ball of radius 1 of o / D and d / D, D = diag(radii), whose direction is no unit vector
    box             |x_i| <= s_i / 2 for all three i: the largest enter, the least exit
    cylinder        a ball of two coordinates, and |z| <= l / 2
    cone            |(x, y)| l <= r (l / 2 - z), of a quadratic of which one nappe counts, and |z| <= l / 2
    capsule         the cylinder and a ball about each end: the least enter, the largest exit, since all is one interval
    hull            the half spaces of its faces; of a flat one, both sides of its plane and its edges
    height field    its triangles, cell by cell (`rays_on_terrain`)
    triangles       those of a tree of boxes (`rays_on_triangles`)

A ray that begins outside meets the surface at enter, one that begins within at exit. What it does not meet is `FAR`
away. Normals point out of the shape: those of the half space, or of the round surface at the point that is met.
Balls use m and not o . o - r^2, of which little is left in float32 if the ray comes from far.

Source: Ericson, Real-Time Collision Detection (2005), sections 5.3.1 to 5.3.3, 5.3.7 and 5.3.8; Haines, Günther and
Akenine-Möller, Precision improvements for ray/sphere intersection (Ray Tracing Gems, 2019, chapter 7).
Cost: 22 operations for a plane, 40 a ball, 60 a box, 75 a cylinder, 100 a cone, 110 a capsule; of a hull 22 a face.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.scalar import clip, logical_and, maximum, where
from cardan._algebra.spatial import Scalar, Vector3
from cardan._motion.collision.candidate import FAR, Y, Z, length_and_direction, select
from cardan._motion.collision.ray_spans import Hit, Span, ball, below_tip, face_normal, half_space, slab
from cardan._motion.collision.rays_on_terrain import ray_on_height_field
from cardan._motion.collision.rays_on_triangles import ray_on_triangles
from cardan._robot.geometry.hull import planes_of_hull
from cardan._robot.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Hull,
    Plane,
    Sphere,
    TriangleMesh,
)
from cardan._robot.geometry.support import box_about

TINY = 1e-9  # the least semi-axis of an ellipsoid [m], and slope of a cone: that of a flat one divides


def hit(shape: Geometry, o: Vector3, d: Vector3) -> Hit:
    """Return where a ray from o along the unit vector d meets a shape, all in the shape's frame."""
    return RAYS[type(shape)](shape, o, d)


def check_ray(shape: Geometry) -> None:
    """Raise `UnsupportedError` for a shape that rays do not know."""
    if type(shape) not in RAYS:
        known = ", ".join(kind.__name__ for kind in RAYS)
        instead = f"shapes of these kinds: {known}. Or leave its body out: `bodies=` says which are seen"
        raise UnsupportedError(f"a ray that meets a {type(shape).__name__}", "cardan.raycast", instead)


def ball_about(shape: Geometry) -> tuple[Vector3, Scalar]:
    """Return the middle, in the shape's frame, and the radius of a ball about a shape that has an end [m]."""
    middle, half = box_about(shape)
    return middle, half.norm()


def meets_ball(middle: Vector3, radius: Scalar, o: Vector3, d: Vector3) -> Any:
    """Return whether a ray meets a ball, for less than that takes to say where."""
    way = middle - o
    along = way.dot(d)
    return logical_and((way - d * along).norm_squared() <= radius * radius, along >= -radius)


def _of_sphere(shape: Sphere, o: Vector3, d: Vector3) -> Hit:
    t = ball(o, d, shape.radius).distance
    return Hit(t, _outwards(o + d * t))


def _outwards(p: Vector3) -> Vector3:
    _, normal = length_and_direction(p, Z)
    return normal


def _of_ellipsoid(shape: Ellipsoid, o: Vector3, d: Vector3) -> Hit:
    inverse = Vector3(*(1.0 / maximum(r, TINY) for r in shape.radii))
    t = ball(o * inverse, d * inverse, 1.0).distance
    return Hit(t, _outwards((o + d * t) * inverse * inverse))


def _of_capsule(shape: Capsule, o: Vector3, d: Vector3) -> Hit:
    half = 0.5 * shape.length
    side = ball(Vector3(o.x, o.y, 0.0), Vector3(d.x, d.y, 0.0), shape.radius).of_both(slab(o.z, d.z, half))
    ends = [ball(o - Z * end, d, shape.radius) for end in (-half, half)]
    t = reduce(Span.of_either, ends, side).distance
    p = o + d * t
    return Hit(t, _outwards(p - Z * clip(p.z, -half, half)))


def _of_cylinder(shape: Cylinder, o: Vector3, d: Vector3) -> Hit:
    side = ball(Vector3(o.x, o.y, 0.0), Vector3(d.x, d.y, 0.0), shape.radius)
    return _between_caps(side, 0.5 * shape.length, o, d, 0.0, 1.0)


def _of_cone(shape: Cone, o: Vector3, d: Vector3) -> Hit:
    half = 0.5 * shape.length
    _, (r, h, _) = length_and_direction(Vector3(shape.radius, maximum(shape.length, TINY * shape.radius), 0.0), Y)
    return _between_caps(below_tip(o - Z * half, d, r, h), half, o, d, r, h)


def _between_caps(side: Span, half: Scalar, o: Vector3, d: Vector3, up: Scalar, out: Scalar) -> Hit:
    """Return what of a side round about z, and of caps at +-half, is met; `up` and `out` are of the side's normal."""
    caps = slab(o.z, d.z, half)
    both = side.of_both(caps)
    is_outside = both.enter >= 0.0
    on_cap = caps.last(is_outside) >= side.last(is_outside)
    t = both.distance
    p = o + d * t
    of_side = _outwards(Vector3(p.x, p.y, 0.0)) * out + Z * up
    return Hit(t, select(on_cap, Z * where(p.z < 0.0, -1.0, 1.0), of_side))


def _of_box(shape: Box, o: Vector3, d: Vector3) -> Hit:
    spans = [slab(p, v, 0.5 * size) for p, v, size in zip(o, d, shape.size, strict=True)]
    both = reduce(Span.of_both, spans)
    return Hit(both.distance, face_normal(spans, both, d))


def _of_hull(shape: Hull, o: Vector3, d: Vector3) -> Hit:
    faces = [(Vector3(x, y, z), e) for x, y, z, e in _faces(shape)]
    if not faces:  # a line or point, which rays pass by
        return Hit(FAR, Z)
    spans = [half_space(n.dot(o) - e, n.dot(d)) for n, e in faces]
    both = reduce(Span.of_both, spans)
    is_outside = both.enter >= 0.0
    normal = faces[0][0]
    for (n, _), span in zip(faces[1:], spans[1:], strict=True):
        normal = select(span.last(is_outside) >= both.last(is_outside), n, normal)
    return Hit(both.distance, normal)


@lru_cache(256)
def _faces(hull: Hull) -> Sequence[tuple[float, ...]]:
    """Return normal and offset of each face."""
    planes = planes_of_hull(np.array(hull.vertices)) * (1.0, 1.0, 1.0, -1.0)
    return tuple(tuple(plane) for plane in planes.tolist())


RAYS: dict[type, Callable[[Any, Vector3, Vector3], Hit]] = {
    Plane: lambda _, o, d: Hit(half_space(o.z, d.z).distance, Z),
    Sphere: _of_sphere,
    Capsule: _of_capsule,
    Cylinder: _of_cylinder,
    Cone: _of_cone,
    Ellipsoid: _of_ellipsoid,
    Box: _of_box,
    Hull: _of_hull,
    HeightField: ray_on_height_field,
    TriangleMesh: ray_on_triangles,
}
