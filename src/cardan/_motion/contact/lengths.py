"""Bounds of `Distance` joints as contacts without friction.

Ropes pull their ends together, struts keep them apart:

    gap = d - minimum,  n = u           gap = maximum - d,  n = -u

with d the distance of the two ends and u the direction between them. A force along u is the same at any point of the
line: one at an end is at both, and so is the rate of d.
"""

from __future__ import annotations

import math

from cardan._algebra.scalar import sqrt
from cardan._algebra.spatial import Vector3
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._motion.collision import Candidate
from cardan._motion.contact.point import WORLD, AtRest, Contact, ContactsOfPair
from cardan._robot.joints import Distance, Joint, Reversed
from cardan._robot.model import Model
from cardan._robot.records import Connection, Material

# As stiff as the laws take it: nearly rigid, whatever hangs on it.
TAUT = Material(friction=0.0, stiffness=1e30)
TINY = 1e-30  # a square [m^2] beside which that of a length is 0: ends in one place have no direction, and no NaN


def bounds_of(joint: Joint) -> list[tuple[float, float]]:
    """Return sign and limit of each bound of a `Distance`, whichever way round; none of one that gives way.

    The sign is 1 where d may not be less, -1 where it may not be more, 0 where it is the limit.
    """
    inner = joint.joint if isinstance(joint, Reversed) else joint
    if not isinstance(inner, Distance) or inner.has_efforts:
        return []
    lower, upper = inner.minimum, math.inf if inner.maximum is None else inner.maximum
    if lower == upper:
        return [(0.0, lower)]
    found = [(1.0, lower)] if lower > 0.0 else []
    return found if math.isinf(upper) else [*found, (-1.0, upper)]


def bounded(model: Model) -> list[tuple[Connection, float, float]]:
    """Return the joints of a model that have bounds, with sign and limit of each."""
    return [(c, *own) for c in (*model.connections, *model.closures) for own in bounds_of(c.joint)]


def lengths(moment: Snapshot) -> list[Contact]:
    """Return what may touch for the bounds of a model's joints."""
    found = []
    for c, sign, limit in bounded(moment.model):
        ends = [_end(moment, c.child, c.child_pose.translation), _end(moment, c.parent, c.parent_pose.translation)]
        (a, own), (b, other) = sorted(ends, key=lambda end: end[0] == WORLD)  # the first on a node that moves
        shared = ContactsOfPair(AtRest(moment.model), (a, b), (own, other), ((), ()))
        place = other if b == WORLD else moment.poses[b] @ other
        along = own - moment.poses[a].inverse_act(place)
        d = sqrt(along.norm_squared() + TINY)
        for side in (sign,) if sign else (1.0, -1.0):
            candidate = Candidate(side * (d - limit), own, along * (side / d))
            found.append(Contact(moment, shared, candidate, TAUT))
    return found


def _end(moment: Snapshot, body: str, point: Vector3) -> tuple[int, Vector3]:
    """Return the node that a body's point is on, and where."""
    at = moment.model.attachment(body)
    return at.node, at.pose @ point
