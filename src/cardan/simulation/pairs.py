"""Which shapes may touch: listed once, when a world is made; all of them are looked at in every step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from cardan.description import Shape
from cardan.errors import UnknownNameError
from cardan.geometry.shapes import Geometry
from cardan.model import WORLD, Material, Model
from cardan.spatial import SE3

Touching = Collection[tuple[str, str]]
"""Pairs of names of bodies."""


@dataclass(frozen=True, slots=True)
class ContactPair:
    """Two shapes that may touch, the first on a body that moves.

    Attributes:
        a: name of the body of the first shape.
        shape_a: the first geometry.
        pose_a: X_a_shape.
        b: name of the body of the second shape, or `"world"`.
        shape_b: the second geometry.
        pose_b: X_b_shape.
        material: of the contact, that of both surfaces combined.
        name: the names of both shapes.
    """

    a: str
    shape_a: Geometry
    pose_a: SE3
    b: str
    shape_b: Geometry
    pose_b: SE3
    material: Material
    name: str


class _Solid(NamedTuple):
    """A collision shape, the node it rides on, and what to call it."""

    shape: Shape
    node: int
    name: str


def contact_pairs(model: Model, shapes: Iterable[Shape], disabled: Touching = ()) -> tuple[ContactPair, ...]:
    """Return the pairs of collision shapes that may touch.

    Left out are shapes that do not move relative to one another, shapes of two bodies that a joint connects (also
    through bodies fixed on them; joints on the world count as none), groups that are in no mask of the other, and
    pairs of bodies that are disabled.

    Args:
        model: whose bodies the shapes are on.
        shapes: visual ones count for nothing.
        disabled: pairs of names of bodies, in either order.

    Raises:
        UnknownNameError: for a body that does not exist.
    """
    off = {frozenset(_known(model, pair)) for pair in disabled}
    joined = _joined(model)
    found = []
    for one, other in combinations(_solids(model, shapes), 2):
        nodes = frozenset((one.node, other.node))
        bodies = frozenset((one.shape.body, other.shape.body))
        if len(nodes) == 2 and nodes not in joined and bodies not in off and one.shape.may_touch(other.shape):
            found.append(_pair(one, other))
    return tuple(found)


def _solids(model: Model, shapes: Iterable[Shape]) -> list[_Solid]:
    found: list[_Solid] = []
    taken: dict[str, int] = {}
    for shape in shapes:
        if shape.role != "collision":
            continue
        base = shape.name or shape.body
        taken[base] = count = taken.get(base, 0) + 1
        found.append(_Solid(shape, model.attachment(shape.body).node, base if count == 1 else f"{base}#{count}"))
    return found


def _joined(model: Model) -> set[frozenset[int]]:
    """Return the pairs of nodes that a joint connects; what hangs on the world may touch it."""
    node = lambda body: model.attachment(body).node  # noqa: E731
    ends = (frozenset((node(c.parent), node(c.child))) for c in (*model.connections, *model.closures))
    return {pair for pair in ends if -1 not in pair}


def _known(model: Model, pair: Sequence[str]) -> Sequence[str]:
    for body in pair:
        if body != WORLD and body not in model.body_names:
            raise UnknownNameError("body", body, (WORLD, *model.body_names), where="disabled pairs")
    return pair


def _pair(one: _Solid, other: _Solid) -> ContactPair:
    a, b = (one, other) if one.node > other.node else (other, one)
    material = (a.shape.surface or Material()).combined(b.shape.surface or Material())
    return ContactPair(
        a.shape.body,
        a.shape.geometry,
        a.shape.pose,
        b.shape.body,
        b.shape.geometry,
        b.shape.pose,
        material,
        f"{a.name}/{b.name}",
    )
