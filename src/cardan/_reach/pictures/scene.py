"""A robot at a configuration as coloured facets and lines in the world: what every picture draws.

A body without a shape that can be drawn is lines from its origin to the joints on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from cardan._algebra.errors import CardanError, NotFiniteError, ParameterError
from cardan._compiler.runtime.log import log
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._robot.geometry import shapes as S
from cardan._robot.geometry.mesh import surface_of_file, time_written
from cardan._robot.model import WORLD, Model

Roles = Sequence[str]
PALETTE = (
    np.array([(122, 146, 184), (201, 168, 106), (143, 176, 140), (190, 130, 124), (150, 138, 176), (158, 158, 158)])
    / 255.0
)  # fmt: skip -- muted, so that what is drawn over bodies is seen; one after the other, so that they are told apart
LIGHT = np.array([0.35, -0.5, 0.79])  # towards the lamp, in world axes: above, in front and to the right
VAST = 5.0  # times the sizes of all bodies' shapes together: such ground is drawn as a plane is, not at all
DIM = 0.45  # of the light comes from all around


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be drawn, in the world [m]."""

    facets: np.ndarray  # corners, shape (facets, 4, 3)
    colours: np.ndarray  # of the facets, red, green, blue and opacity in [0, 1], shape (facets, 4)
    bones: np.ndarray  # ends of lines within bodies and along joints that have moved them apart, shape (lines, 2, 3)
    gaps: np.ndarray  # ends of lines between the two sides of joints that close loops, shape (closing joints, 2, 3)
    dots: np.ndarray  # origins of bodies without facets, shape (bodies, 3)

    def points(self) -> np.ndarray:
        return np.concatenate([part.reshape(-1, 3) for part in (self.facets, self.bones, self.gaps, self.dots)])


def scene_of(model: Model, q: np.ndarray, roles: Roles) -> Scene:
    """Return a robot at one configuration, shape (nq,); NotFiniteError for poses that are not finite.

    Each body is drawn by its shapes of the first of the roles, `"visual"` or `"collision"`, of which it has some.
    """
    kinematics = Kinematics(model, tuple(float(e) for e in q))
    facets, colours, drawn = [], [], set()
    for shape, corners in drawn_shapes(model, roles):
        drawn.add(shape.body)
        facets.append(moved((kinematics.pose(shape.body) @ shape.pose).matrix(), corners))
        place = model.body_names.index(shape.body) if shape.body != WORLD else -1
        rgba = np.append(PALETTE[place % len(PALETTE)], 1.0) if shape.rgba is None else np.array(shape.rgba)
        colours.append(np.tile(rgba, (len(corners), 1)))
    bones, gaps = (np.array(ends, dtype=float).reshape(-1, 2, 3) for ends in _lines(model, kinematics, drawn))
    dots = [kinematics.pose(body).matrix()[:3, 3] for body in model.body_names if body not in drawn]
    found = Scene(joined(facets, (4, 3)), joined(colours, (4,)), bones, gaps, np.reshape(dots, (-1, 3)))
    if not np.isfinite(found.points()).all():
        raise NotFiniteError("pictures", "poses of the bodies", (), float("nan"), "Look at q, and at the description.")
    return found


def drawn_shapes(model: Model, roles: Roles) -> Iterator[tuple[S.Shape, np.ndarray]]:
    """Yield shapes and their facets, of each body those of one role, without vast ground.

    What cannot be drawn is logged.
    """
    of_body: dict[str, dict[str, list[tuple[S.Shape, np.ndarray]]]] = {}
    refused: dict[str, str] = {}
    done: set[str] = set()
    for role in roles:
        for shape in (s for s in model.shapes if s.role == role and s.body not in done):
            try:
                found = facets_of(shape.geometry)
            except (CardanError, OSError) as error:
                refused[str(error)] = shape.body
                continue
            if len(found):
                of_body.setdefault(shape.body, {}).setdefault(role, []).append((shape, found))
        done = set(of_body)
    if refused:
        message, body = next(iter(refused.items()))
        others = f" (and {len(refused) - 1} others)" if len(refused) > 1 else ""
        log().warning("not drawn, of body %r: %s%s", body, message, others)
    chosen = [both for by_role in of_body.values() for both in next(iter(by_role.values()))]
    size = sum(extent(corners) for shape, corners in chosen if shape.body != WORLD) or np.inf
    yield from (both for both in chosen if both[0].body != WORLD or extent(both[1]) <= VAST * size)


def _lines(model: Model, kinematics: Kinematics, drawn: set[str]) -> tuple[list[Any], list[Any]]:
    """Return lines within bodies and along joints, and lines across closing joints."""
    bones, gaps = [], []
    for c in (*model.connections, *model.closures):
        ends = ((c.parent, c.parent_pose), (c.child, c.child_pose))
        parent, child = ((kinematics.pose(body) @ pose).translation for body, pose in ends)
        for body, anchor in ((c.parent, parent), (c.child, child)):
            if body not in (WORLD, *drawn):
                bones.append((kinematics.pose(body).translation, anchor))
        if c in model.closures:
            gaps.append((parent, child))
        elif not c.joint.is_floating:
            bones.append((parent, child))
    return [ends for ends in bones if tuple(ends[0]) != tuple(ends[1])], gaps


def extent(points: np.ndarray) -> float:
    """Return the longest side of the box around points (..., 3) [m]; 1 if they are one."""
    return float(np.ptp(points.reshape(-1, 3), axis=0).max(initial=0.0)) or 1.0


def frames_at(model: Model, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return poses of frames in the world, shape (T, frames, 4, 4), for configurations (T, nq): nothing is compiled."""
    kinematics = Kinematics(model, tuple(q.T))
    poses = [np.broadcast_to(kinematics.pose(name).matrix(), (len(q), 4, 4)) for name in names]
    return np.array(poses, dtype=float).reshape(len(names), len(q), 4, 4).swapaxes(0, 1)


def moved(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points (..., 3) of a frame in the coordinates its pose is in."""
    return points @ pose[:3, :3].T + pose[:3, 3]


def normals_of(facets: np.ndarray) -> np.ndarray:
    """Return the outward unit normals of facets, (facets, 3): across both diagonals, 0 for a facet without area."""
    n = np.cross(facets[:, 2] - facets[:, 0], facets[:, 3] - facets[:, 1])
    length = np.linalg.norm(n, axis=-1, keepdims=True)
    return n / np.where(length > 0.0, length, 1.0)


def lit(facets: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Return the colours (facets, 4) in the light of a lamp far away."""
    towards = np.clip(normals_of(facets) @ LIGHT, 0.0, 1.0)
    return np.column_stack([colours[:, :3] * (DIM + (1.0 - DIM) * towards)[:, None], colours[:, 3]])


def joined(parts: Sequence[np.ndarray], core: tuple[int, ...]) -> np.ndarray:
    return np.concatenate([*parts, np.empty((0, *core))])


# --- the surface of a geometry, as facets of four corners each ---
#
# A triangle is a facet whose last two corners are one. Its corners run around it counter-clockwise, seen from outside.

AROUND = 16  # facets around an axis: smooth enough at the size of a robot's link in a picture
CELLS = 14  # of a grid along a mesh's longest side: a few hundred triangles are left of any mesh
_UNIT = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float)


def facets_of(geometry: S.Geometry) -> np.ndarray:
    """Return the surface of a geometry in its own frame [m], shape (facets, 4, 3); a half space has none."""
    match geometry:
        case S.Box(size):
            return _cube() * (0.5 * np.array(size))
        case S.Sphere(radius):
            return radius * _ball()
        case S.Ellipsoid(radii):
            return _ball() * np.array(radii)
        case S.Cylinder(radius, length):
            z = 0.5 * length
            return _revolved([0.0, radius, radius, 0.0], [-z, -z, z, z])
        case S.Cone(radius, length):
            return _revolved([0.0, radius, 0.0], [-0.5 * length, -0.5 * length, 0.5 * length])
        case S.Capsule(radius, length):
            along = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 2)
            z = radius * np.sin(along) + 0.5 * length * np.sign(along)
            return _revolved(radius * np.cos(along), z)
        case S.Mesh(uri, path, scale):
            facets = _read_facets(uri, path, time_written(path)) * np.array(scale)
            return facets if np.prod(scale) > 0.0 else facets[:, [1, 0, 2, 3]]  # a mirror runs round them backwards
        case S.Hull():
            vertices, triangles = geometry.surface()
            return vertices[triangles][:, [0, 1, 2, 2]]
        case S.Plane():
            return np.empty((0, 4, 3))
        case S.HeightField() | S.TriangleMesh():
            vertices, triangles = geometry.surface()
            is_coarse = len(triangles) <= 4 * CELLS * CELLS
            found = vertices[triangles] if is_coarse else coarsened(vertices, triangles)
            return found[:, [0, 1, 2, 2]]


def _cube() -> np.ndarray:
    sides = []
    for axis in range(3):
        for sign, corners in ((1.0, _UNIT), (-1.0, _UNIT[::-1])):
            side = np.full((4, 3), sign)
            side[:, [(axis + 1) % 3, (axis + 2) % 3]] = corners
            sides.append(side)
    return np.array(sides)


def _ball() -> np.ndarray:
    along = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 1)
    return _revolved(np.cos(along), np.sin(along))


def _revolved(radii: np.ndarray | list[float], heights: np.ndarray | list[float]) -> np.ndarray:
    """Return the surface that a line from below to above, at some distances from z, sweeps around z."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)
    ring = np.stack([np.cos(angle), np.sin(angle), np.ones_like(angle)], axis=-1)
    points = np.stack([radii, radii, heights], axis=-1)[:, None, :] * ring
    below, above = points[:-1], points[1:]
    return np.stack([below[:, :-1], below[:, 1:], above[:, 1:], above[:, :-1]], axis=2).reshape(-1, 4, 3)


@lru_cache(maxsize=512)
def _read_facets(uri: str, path: str | None, stamp: int) -> np.ndarray:
    surface = surface_of_file(uri, path)
    if not np.isfinite(surface.vertices).all():
        raise ParameterError(f"mesh {uri!r}", got=f"{path}: a corner that is not finite", expected="finite numbers")
    facets = coarsened(np.asarray(surface.vertices, dtype=float), np.asarray(surface.faces))[:, [0, 1, 2, 2]]
    facets.setflags(write=False)
    return facets


def coarsened(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the triangles that are left when all vertices in one cell of a grid become their mean, (n, 3, 3).

    Source: Rossignac and Borrel, Multi-resolution 3D approximations for rendering complex scenes (1993).
    """
    low = vertices.min(axis=0)
    side = np.ptp(vertices, axis=0).max() / CELLS
    if not side > 0.0:
        return np.empty((0, 3, 3))
    cells = np.floor((vertices - low) / side).astype(int)
    _, cell_of, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    cell_of = cell_of.reshape(-1)
    means = np.stack([np.bincount(cell_of, vertices[:, k]) for k in range(3)], axis=-1) / count[:, None]
    corners = cell_of[faces]
    a, b, c = corners.T
    kept = corners[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return means[kept[first]]
