"""Where shapes touch, or nearly: all pairs of a world, by a compiled function of the coordinates; or two alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_identity import known_of_each
from cardan._algebra.errors import MissingExtraError, ParameterError, UnsupportedError
from cardan._algebra.scalar import where
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.function import Function, function
from cardan._motion.collision import Candidate, Two, check_page, count_of, points_of
from cardan._motion.collision.candidate import far_in
from cardan._motion.collision.table import unit_of
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.state import State
from cardan._motion.simulation.world_contents import WorldContents
from cardan._robot.geometry.shapes import Geometry, Hull, Mesh, Sphere
from cardan._robot.geometry.touching import Contacts
from cardan._robot.model import Model

MOST = 30_000
"""Pairs whose candidates one program has: to trace so many takes up to a minute."""


class ContactPoints(NamedTuple):
    """Candidates for contact, in the world; as `Contacts`, without the pairs they are of.

    Attributes:
        gap: distance of the surfaces [m], shape (..., n).
        point: on the surface of the first shape, in the world [m], shape (..., n, 3).
        normal: unit vectors in world axes that push the first shape away, shape (..., n, 3).

    Examples:
        >>> from cardan.description import Sphere
        >>> X = cardan.SE3(translation=(0.0, 0.0, 0.5))
        >>> found = cardan.simulation.contact_points(Sphere(0.1), X, Sphere(0.1), cardan.SE3())
        >>> round(float(found.gap[0]), 12)
        0.3
    """

    gap: Any
    point: Any
    normal: Any


def collide_function(pairs: tuple[ContactPair, ...]) -> Function[..., Any]:
    """Return gaps, points and normals of pairs as a function of model and q, compiled for each model on first use."""

    @function(simplified=True)
    def collide(model: Model, q: Vector) -> ContactPoints:
        twos = placed(Kinematics(model, q), pairs)
        found = points_of(twos, [two.X_a for two in twos])
        return _together([(candidate, two) for those, two in zip(found, twos, strict=True) for candidate in those])

    return collide


def placed(kinematics: Kinematics, pairs: Sequence[ContactPair]) -> list[Two]:
    """Return shapes of pairs where bodies are; each has one pose, by which `are_apart` knows it."""
    known: dict[Any, SE3] = {}

    def pose(body: str, shape: Geometry, own: SE3) -> SE3:
        key = body, shape, own
        if key not in known:
            X = kinematics.pose(body) @ own
            # How a sphere is turned does not matter: along the world's axes it is cheap.
            known[key] = SE3(None, X.translation) if isinstance(shape, Sphere) else X
        return known[key]

    return [Two(p.shape_a, pose(p.a, p.shape_a, p.pose_a), p.shape_b, pose(p.b, p.shape_b, p.pose_b)) for p in pairs]


def check_pages(pairs: Sequence[ContactPair]) -> None:
    """Raise `UnsupportedError` for a pair of shapes of which no page of `algorithms/collision` knows."""
    for pair in pairs:
        for shape in (pair.shape_a, pair.shape_b):
            if isinstance(shape, Mesh):  # a world makes hulls of those that it can read
                _raise_unread(pair, shape)
        try:
            check_page(type(pair.shape_a), type(pair.shape_b))
        except UnsupportedError as error:
            raise UnsupportedError(f"pair {pair.name!r}, {error.what}", error.by, error.instead) from None


def _raise_unread(pair: ContactPair, mesh: Mesh) -> None:
    try:
        Hull.of(mesh)
    except (MissingExtraError, ParameterError) as error:
        instead = "mend it, give the body another shape, or leave the pair out (disable_contact, with_contacts)"
        raise UnsupportedError(
            f"pair {pair.name!r}: a mesh that cannot be read ({error})", "contact", instead
        ) from None


def _together(found: Sequence[tuple[Candidate, Two]]) -> ContactPoints:
    gaps = [where(c.gap >= far_in(unit_of(two)), math.inf, c.gap) for c, two in found]  # NaN stays NaN
    return ContactPoints(gaps, [c.point for c, _ in found], [c.normal for c, _ in found])


@known_of_each
def _compiled(world: WorldContents) -> tuple[Function[..., Any], np.ndarray]:
    """Return the function of a world's pairs, and which pair each candidate is of."""
    return collide_function(tuple(world.pairs)), owners_of(world.pairs)


def collide(world: WorldContents, state: State) -> Contacts:
    """Return where the shapes of a world's pairs touch, or nearly, in a state: see `World.collide`."""
    if state.world is not world:
        raise ParameterError("state to collide", got=state, expected=f"a state of {world!r}")
    if not world.pairs:
        point, normal = np.empty((2, len(state), 0, 3), state.dtype)
        return Contacts(np.empty((len(state), 0), state.dtype), point, normal, np.empty(0, int))
    if len(world.pairs) > MOST:
        what = f"candidates of all {len(world.pairs)} pairs of shapes of world {world.name!r}"
        instead = "ask for those of some pairs, world.with_contacts(pattern).collide, or for what touches, "
        instead += "solver.contact_forces(state)"
        raise UnsupportedError(what, f"one program of {MOST} at most", instead)
    compiled, owners = _compiled(world)
    found = compiled(world.model, state.q, **state.model_constants)
    return Contacts(found.gap, found.point, found.normal, owners.copy())


def owners_of(pairs: Sequence[ContactPair]) -> np.ndarray:
    """Return which pair each candidate is of; how many a pair has does not depend on the poses."""
    check_pages(pairs)  # with the name of the pair, which `points` does not know
    counts = [count_of(pair.shape_a, pair.shape_b) for pair in pairs]
    return np.repeat(np.arange(len(counts)), counts)


def contact_points(shape_a: Geometry, X_a: Any, shape_b: Geometry, X_b: Any) -> ContactPoints:
    """Return where two shapes touch, or nearly: n points, as many for the same types of shapes in every pose.

    Args:
        shape_a: one shape, such as `cardan.description.Box((0.1, 0.2, 0.3))`.
        X_a: X_world_a, its pose: an `SE3`, or homogeneous matrices of shape (..., 4, 4).
        shape_b: the other.
        X_b: X_world_b, likewise.

    Returns:
        gap [m], shape (..., n), negative where they overlap, infinite for points that do not exist in a pose; point on
        the surface of A [m] and normal, which pushes A away from B, in world axes, shape (..., n, 3).

    Raises:
        UnsupportedError: for two shapes that have no page in `algorithms/collision`.
        ShapeError: for poses that are none.

    Examples:
        >>> from cardan.description import Plane, Sphere
        >>> above = cardan.SE3(translation=(0.0, 0.0, 0.5))
        >>> round(float(cardan.simulation.contact_points(Sphere(0.1), above, Plane(), cardan.SE3()).gap[0]), 12)
        0.4
    """
    poses = SE3.of(X_a), SE3.of(X_b)
    two = Two(shape_a, poses[0], shape_b, poses[1])
    ((own,), X) = points_of([two]), poses[0]
    found = _together([(Candidate(c.gap, X @ c.point, X.rotation @ c.normal), two) for c in own])
    batch = np.broadcast_shapes(*(np.asarray(e).shape for X in poses for e in (*X.rotation.entries(), *X.translation)))

    def stacked(entries: Sequence[Any]) -> np.ndarray:
        return np.stack([np.broadcast_to(e, batch) for e in entries], axis=-1)

    vectors = (np.stack([stacked(v) for v in each], axis=-2) for each in (found.point, found.normal))
    return ContactPoints(stacked(found.gap), *vectors)
