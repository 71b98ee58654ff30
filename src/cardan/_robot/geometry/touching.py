"""Where shapes touch, in many states, and what may touch what, as bits: from one rule to another, exactly.

Here two shapes may touch if each one's group has a bit of the other's mask; MuJoCo's geoms if either one's `contype`
has a bit of the other's `conaffinity`, and so SDF's by category and bitmask. Where both rules say the same of the same
bits, the bits stay. Else each class of shapes (those of the same bits) has a bit of its own, and its mask those of the
classes it may touch: then one of two asks what both ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from cardan._robot.geometry.shapes import ALL_BITS

MAX_CLASSES = 32
Bits = tuple[int, int]
T = TypeVar("T")
EVERYTHING: Bits = (1, ALL_BITS)  # group and mask of a shape of which nothing is said


def either_way(a: Bits, b: Bits) -> bool:
    """Return whether geoms of such (contype, conaffinity) may touch in MuJoCo; (category, bitmask) in SDF."""
    return bool(a[0] & b[1]) or bool(b[0] & a[1])


def both_ways(a: Bits, b: Bits) -> bool:
    """Return whether shapes of such (group, mask) may touch here."""
    return bool(a[0] & b[1]) and bool(b[0] & a[1])


def groups_and_masks(classes: Sequence[Bits], may_touch: Callable[[Bits, Bits], bool]) -> dict[Bits, Bits]:
    """Return bits for each class under which both rules say what `may_touch`, the rule they are meant by, says."""
    if all(either_way(a, b) == both_ways(a, b) for a in classes for b in classes):
        return {bits: bits for bits in classes}
    return one_bit_each(classes, may_touch)


def one_bit_each(classes: Sequence[T], may_touch: Callable[[T, T], bool]) -> dict[T, Bits]:
    """Return a bit of its own for each class, and the bits of those it may touch."""
    return {a: (1 << k, sum(1 << j for j, b in enumerate(classes) if may_touch(a, b))) for k, a in enumerate(classes)}


# --- what every way to find contacts returns ---


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
