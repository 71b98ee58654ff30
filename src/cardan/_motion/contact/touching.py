"""The contacts of pairs of shapes at one moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.scalar import absolute, minimum
from cardan._algebra.spatial import SE3, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._motion.collision import Candidate, Two, points_of
from cardan._motion.collision.candidate import Z
from cardan._motion.contact.moving_point import lever_rate
from cardan._motion.contact.point import WORLD, AtRest, Contact, ContactsOfPair
from cardan._robot.geometry.shapes import GROUNDS, Capsule, Geometry, Hull, Plane, Sphere
from cardan._robot.geometry.support import box_about
from cardan._robot.records import Material

# Pairs are looked at that may come as near as this part of their sizes, or would at so many times their velocities.
SKIN, AHEAD = 0.02, 2.0


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
        material: of the contact, that of both surfaces combined or its own (`Mechanism.set_contact`); its stiffness is
            a number in the pairs of a world.
        name: the names of both shapes.
        margin: how far apart they feel one another [m]: the sum of both shapes', or the contact's own.
        surface_velocities: of both shapes [m/s, rad/s], in their axes.
        surface_velocity: how many times as fast their surfaces run [-].

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> world.pairs[0].b
        'world'
    """

    a: str
    shape_a: Geometry
    pose_a: SE3
    b: str
    shape_b: Geometry
    pose_b: SE3
    material: Material
    name: str
    margin: float = 0.0
    surface_velocities: tuple[Any, Any] = (None, None)
    surface_velocity: float = 1.0

    def __repr__(self) -> str:
        kinds = f"{type(self.shape_a).__name__} and {type(self.shape_b).__name__}"
        return f"<ContactPair {self.name!r}: {kinds}, friction {self.material.friction:g}>"


class _Collider(NamedTuple):
    """A shape of a pair, the node that it rides on, its pose there, and how its surface runs there."""

    shape: Geometry
    node: int
    X: SE3
    runs: Motion | None

    @staticmethod
    def of(moment: Snapshot, body: str, shape: Geometry, pose: SE3, twist: Any, times: Scalar) -> _Collider:
        at = moment.model.attachment(body)
        X = at.pose @ pose
        # How a sphere is turned does not matter: along its node's axes it costs least.
        runs = None if twist is None else X @ Motion(tuple(twist[:3]), tuple(twist[3:])) * times
        return _Collider(shape, at.node, SE3(None, X.translation) if isinstance(shape, Sphere) else X, runs)

    def pose_in_world(self, moment: Snapshot) -> SE3:
        return self.X if self.node == WORLD else moment.poses[self.node] @ self.X

    @property
    def centre(self) -> Vector3:
        """The middle of the shape in its node's frame: the origin of a plane or terrain."""
        return self.X.translation if isinstance(self.shape, GROUNDS) else self.X @ box_about(self.shape)[0]

    @property
    def half(self) -> Vector3:
        """Half the sides of the box about the shape; 0 of what has no end."""
        return Vector3.zero() if isinstance(self.shape, GROUNDS) else box_about(self.shape)[1]

    @property
    def extent(self) -> float:
        """How far the shape reaches from its centre, at most."""
        return float(self.half.norm())

    def moves_by(self, moment: Snapshot, dt: float) -> Scalar:
        """Return how far a point of the shape moves in a time, at most, at the velocities there are [m]."""
        if self.node == WORLD:
            return 0.0
        V, centre = moment.V[self.node], self.centre
        return (at_most(V.linear + V.angular.cross(centre)) + self.extent * at_most(V.angular)) * dt


def at_most(v: Vector3) -> Scalar:
    """Return what the length of a vector is at most: a root takes as long as fifteen sums."""
    return sum(map(absolute, v), 0.0)


def _reach(moment: Snapshot, pair: ContactPair, sides: tuple[_Collider, _Collider], dt: float) -> Scalar:
    """Return how near the bounds of a pair must be for it to be looked at in a step [m]."""
    extent, moves = (
        sum(own) for own in zip(*((side.extent, side.moves_by(moment, dt)) for side in sides), strict=True)
    )
    return pair.margin + SKIN * extent + AHEAD * moves


def contacts(moment: Snapshot, pairs: Iterable[ContactPair], skipping: float | None = None) -> list[Contact]:
    """Return what touches or may touch.

    Given the length of a step [s], pairs that cannot meet in it have candidates that are `FAR` away, at no point of
    theirs. This is for laws in which what is far does nothing at all, wherever it is.
    """
    listed = list(pairs)
    sides = []
    for pair in listed:
        a = _Collider.of(moment, pair.a, pair.shape_a, pair.pose_a, pair.surface_velocities[0], pair.surface_velocity)
        b = _Collider.of(moment, pair.b, pair.shape_b, pair.pose_b, pair.surface_velocities[1], pair.surface_velocity)
        sides.append((b, a) if a.node == WORLD else (a, b))  # the first on a node that moves
    placed = [Two(a.shape, a.pose_in_world(moment), b.shape, b.pose_in_world(moment)) for a, b in sides]
    reaches = [] if skipping is None else [_reach(moment, *both, skipping) for both in zip(listed, sides, strict=True)]
    found, at_rest = [], AtRest(moment.model)
    candidates_of = points_of(placed, [a.X for a, _ in sides], reaches or None)
    for k, (pair, (a, b), candidates) in enumerate(zip(listed, sides, candidates_of, strict=True)):
        centres, arms = (a.centre, b.centre), (at_rest.arms(a.X, a.half), at_rest.arms(b.X, b.half))
        lies = isinstance(a.shape, Capsule) and isinstance(b.shape, Plane)
        rate, axis, runs = lever_rate(a.shape, a.X), a.X.rotation @ Z if lies else None, (a.runs, b.runs)
        for part in _patches(candidates, a.shape, b.shape):
            least = reduce(minimum, (c.gap for c in part))
            nearness = reaches[k] - least if reaches and len(candidates) > 1 else None
            shared = ContactsOfPair(at_rest, (a.node, b.node), centres, arms, rate, nearness, axis, runs)
            for candidate in part:
                touching = candidate._replace(gap=candidate.gap - pair.margin)
                found.append(Contact(moment, shared, touching, pair.material))
    return found


def _patches(candidates: list[Candidate], a: Geometry, b: Geometry) -> list[list[Candidate]]:
    """Return candidates that are near together: a hull lies on level ground by one point alone, most of the time."""
    is_hull = isinstance(a, Hull) and isinstance(b, GROUNDS)
    return [candidates[:1], candidates[1:]] if is_hull else [candidates]
