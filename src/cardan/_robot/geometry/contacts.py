"""Where shapes touch, in many states: what every way to find it returns."""

from __future__ import annotations

from typing import Any, NamedTuple


class Contacts(NamedTuple):
    """Candidates for contact of many states: as many in every state, each with its gap.

    A point and its normal are those of the pair's first shape; the second one's point is `point - gap normal`.

    Attributes:
        gap: distance of the surfaces [m], negative where they overlap, infinite where a pair has fewer points of
            contact than it may have: shape (..., C).
        point: on the surface of the first shape, in the world [m], shape (..., C, 3).
        normal: unit vectors in world axes that push the first shape away from the second, shape (..., C, 3).
        pair: indices into the pairs, those of the world if they are its, shape (C,).

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> world.collide(world.state(worlds=2)).gap.shape[0]
        2
    """

    gap: Any
    point: Any
    normal: Any
    pair: Any


class ContactForces(NamedTuple):
    """What shapes do to one another where they touch: the candidates are those of `Contacts`, in the same order.

    Attributes:
        force: on the body of the pair's first shape, in world axes [N], shape (..., C, 3); the second's feels -force.
        torque: about the point, of torsional and rolling friction, in world axes [N m], shape (..., C, 3).
        point: where it acts, in the world [m], shape (..., C, 3).
        pair: indices into the world's pairs, shape (C,).
    """

    force: Any
    torque: Any
    point: Any
    pair: Any
