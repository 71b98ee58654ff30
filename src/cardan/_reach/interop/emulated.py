"""Joints a library lacks, made of joints it has and a constraint that leaves just their motions.

    Helical            a slide and a hinge on one axis, displacement = pitch angle
    ConstantVelocity   two universal joints, the second with the angles of the first backwards
    Distance           a free body, and a rope between the two origins
    free, off the world    a free body in the world: it is free of its parent, too

Nothing is approximated: the constraint's forces are those the joint has inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.spatial import SE3
from cardan._robot import joints as J
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import WORLD, Annotations, Connection, Drive, Model
from cardan._robot.records import Spring

ALONG_V = ("damping", "friction", "armature")
GAINS = ("drive_stiffness", "drive_damping", "spring_stiffness")
LIMITS = ("lower", "upper", "velocity", "effort", "velocity_lower", "effort_lower")


@dataclass(frozen=True, slots=True)
class Rope:
    """A distance that stays between bounds.

    Attributes:
        name: of the joint.
        ends: two bodies, each with the point on it.
        bounds: smallest and largest distance [m].
    """

    name: str
    ends: tuple[tuple[str, SE3], tuple[str, SE3]]
    bounds: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Emulated:
    """A model of joints a library has.

    Attributes:
        model: the model.
        couplings: pairs of coordinates, by joint and index there, the first a polynomial of the second.
        ropes: distances with bounds.
    """

    model: Model
    couplings: tuple[tuple[tuple[str, int], tuple[str, int], tuple[float, ...]], ...] = ()
    ropes: tuple[Rope, ...] = ()


def emulated(model: Model) -> Emulated:
    """Return the model with joints made of others where they can be."""
    kinds = {c.name: kind_of_emulation(c) for c in model.connections}
    for c in model.connections:
        if isinstance(c.joint, J.Mimic) and kinds.get(c.joint.primary) is not None:
            what = f"joint {c.name!r}, which mimics {c.joint.primary!r}"
            raise UnsupportedError(what, "what emulates joints for MuJoCo", "let it mimic a hinge or slide")
    made = [KINDS[kind](c) if (kind := kinds[c.name]) else (c, (), ()) for c in model.connections]
    return Emulated(
        replace(model, connections=tuple(c for c, _, _ in made), annotations=Annotations()),  # of other joints
        tuple(coupling for _, couplings, _ in made for coupling in couplings),
        tuple(rope for _, _, ropes in made for rope in ropes),
    )


def kind_of_emulation(c: Connection) -> str | None:
    """Return the key in `KINDS` of what a joint is made of; None for joints that stay."""
    hinge = hinge_of(c.joint)
    if hinge is not None:
        return "helical" if isinstance(hinge.joint, J.Helical) and hinge.joint.pitch != 0.0 else None
    if isinstance(c.joint, J.ConstantVelocity):
        return "constant velocity"
    if isinstance(c.joint, J.Distance) and not c.joint.has_efforts:
        return "distance"
    return "free" if isinstance(c.joint, (J.FreeFlyer, J.FloatingMRP)) and c.parent != WORLD else None


def _helical(c: Connection) -> tuple[Any, ...]:
    hinge: Any = hinge_of(c.joint)
    joint = J.Cylindrical(hinge.joint.axis)
    places = {"parent_pose": c.parent_pose @ hinge.before, "child_pose": c.child_pose @ hinge.after.inverse()}
    return _remade(c, joint, (None, 0), places), (((c.name, 0), (c.name, 1), (0.0, hinge.joint.pitch)),), ()


def _constant_velocity(c: Connection) -> tuple[Any, ...]:
    links: Any = c.joint.links  # pyright: ignore[reportAttributeAccessIssue]
    joint = J.Composite([link for link, _ in links], [placement or SE3.identity() for _, placement in links])
    couplings = tuple(((c.name, 3 - k), (c.name, k), (0.0, 1.0)) for k in range(2))
    return _remade(c, joint, (0, 1, None, None)), couplings, ()


def _distance(c: Connection) -> tuple[Any, ...]:
    joint: Any = c.joint
    bounds = joint.minimum, math.inf if joint.maximum is None else joint.maximum
    return _free(c)[0], (), (Rope(c.name, ((c.parent, c.parent_pose), (c.child, c.child_pose)), bounds),)


def _free(c: Connection) -> tuple[Any, ...]:
    along = (
        *(e for name in (*ALONG_V, *GAINS) for e in getattr(c, name)),
        *(1 / e for name in LIMITS for e in getattr(c.limits, name)),
    )
    if any(along):
        what = f"a limit, damping, friction, armature or spring of joint {c.name!r}, which does not hang on the world"
        raise UnsupportedError(what, "what emulates joints for MuJoCo", "take it off")
    return Connection(c.name, J.FreeFlyer(), WORLD, c.child), (), ()


KINDS: Mapping[str, Callable[[Connection], tuple[Any, ...]]] = {
    "helical": _helical,
    "constant velocity": _constant_velocity,
    "distance": _distance,
    "free": _free,
}
"""How each is made: the connection, the couplings and the ropes."""


def _remade(
    c: Connection, joint: J.Joint, source: Sequence[int | None], places: Mapping[str, SE3] | None = None
) -> Connection:
    """Return a connection with another joint, its properties those of the joint's own coordinate each comes from."""

    def spread(values: Sequence[float], nothing: float) -> tuple[float, ...]:
        return tuple(nothing if k is None else values[k] for k in source)

    nothing = {name: -math.inf if name.endswith("lower") else math.inf for name in LIMITS}
    limits = J.Limits(**{name: spread(getattr(c.limits, name), nothing[name]) for name in LIMITS})
    along: dict[str, Any] = {name: spread(getattr(c, name), 0.0) for name in ALONG_V}
    along["drive"] = Drive(spread(c.drive_stiffness, 0.0), spread(c.drive_damping, 0.0))
    along["spring"] = Spring(spread(c.spring_stiffness, 0.0), spread(c.spring_rest, 0.0))
    return replace(c, joint=joint, limits=limits, **along, **(places or {}))
