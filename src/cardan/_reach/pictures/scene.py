"""A robot at a configuration as coloured facets and lines in the world: what every picture draws.

A body without a shape that can be drawn is lines from its origin to the joints on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.errors import CardanError, NotFiniteError
from cardan._compiler.runtime.log import log
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._reach.pictures.surfaces import facets_of
from cardan._robot.geometry.shapes import Shape
from cardan._robot.model import WORLD, Model

Roles = Sequence[str]
PALETTE = (
    np.array([(122, 146, 184), (201, 168, 106), (143, 176, 140), (190, 130, 124), (150, 138, 176), (158, 158, 158)])
    / 255.0
)  # fmt: skip -- muted, so that what is drawn over bodies is seen; one after the other, so that they are told apart
LIGHT = np.array([0.35, -0.5, 0.79])  # towards the lamp, in world axes: above, in front and to the right
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
        colours.append(np.tile(colour_of(model, shape), (len(corners), 1)))
    bones, gaps = (np.array(ends, dtype=float).reshape(-1, 2, 3) for ends in _lines(model, kinematics, drawn))
    dots = [kinematics.pose(body).matrix()[:3, 3] for body in model.body_names if body not in drawn]
    found = Scene(joined(facets, (4, 3)), joined(colours, (4,)), bones, gaps, np.reshape(dots, (-1, 3)))
    if not np.isfinite(found.points()).all():
        raise NotFiniteError("pictures", "poses of the bodies", (), float("nan"), "Look at q, and at the description.")
    return found


def drawn_shapes(model: Model, roles: Roles) -> Iterator[tuple[Shape, np.ndarray]]:
    """Yield shapes and their facets, of each body those of one role; what cannot be drawn is logged."""
    of_body: dict[str, dict[str, list[tuple[Shape, np.ndarray]]]] = {}
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
    for by_role in of_body.values():
        yield from next(iter(by_role.values()))


def colour_of(model: Model, shape: Shape) -> np.ndarray:
    """Return the colour of a shape, as the description says it, or one of its body's own, shape (4,)."""
    if shape.rgba is not None:
        return np.array(shape.rgba)
    place = model.body_names.index(shape.body) if shape.body != WORLD else -1
    return np.append(PALETTE[place % len(PALETTE)], 1.0)


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
