"""What writers return, the text and what it could not say, and what they share: names of what is lost, numbers.

Files have other numbers than cardan: angles for a rotation matrix, the inertia about the centre of mass for the one
about the origin. Computing them rounds, and so does computing back; but mostly a decimal close by is read as exactly
what is held, and the shortest of them is what the file once said. If there is none, the nearest float is written.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from cardan._algebra.errors import DescriptionWarning, ParameterError
from cardan._algebra.spatial import SE3, Inertia, Matrix3, Symmetric3, Vector3, checked_pose
from cardan._algebra.spatial.rotations import matrix_from_zyx, zyx_from_matrix
from cardan._reach.formats.tree_at_rest import unit_axis
from cardan._reach.formats.xml import numbers
from cardan._robot.records import Connection

SHOWN = 6  # names that are listed of what nearly every robot has


class Written(NamedTuple):
    """A mechanism as text.

    Attributes:
        text: the file's content.
        losses: what the format cannot say, or says otherwise, such as `"groups 'arm', 'hand'"`.
        moved: X_body_link of the links whose frame is not their body's: in URDF it has to be that of the joint.

    Examples:
        >>> dict(cardan.formats.write_urdf(mechanism).moved)
        {}
    """

    text: str
    losses: tuple[str, ...] = ()
    moved: Mapping[str, SE3] = MappingProxyType({})


def text_of(written: Written, name: str, form: str) -> str:
    """Return the text, with a warning for each loss; `name` is the robot's."""
    for loss in written.losses:
        warnings.warn(DescriptionWarning(f"{name}: {form} does not hold {loss}"), stacklevel=3)
    return written.text


def losses_of(kinds: Mapping[str, Iterable[str]], shown: int | None = SHOWN) -> Iterator[str]:
    """Return what is lost, `{"groups": ["arm"]}`, each kind with its first names; one without names is not lost."""
    return (f"{what} {listed}" for what, names in kinds.items() if (listed := first_of(names, shown)))


def first_of(names: Iterable[str], shown: int | None = SHOWN) -> str:
    names = list(dict.fromkeys(names))
    more = f", ... ({len(names)} in all)" if len(names[:shown]) < len(names) else ""
    return ", ".join(map(repr, names[:shown])) + more


def is_bounded(c: Connection, *keys: str) -> bool:
    """Return whether some limits of a joint (`lower`, `effort`, ...) are finite."""
    return any(math.isfinite(bound) for key in keys for bound in getattr(c.limits, key))


def dimensions(solid: Any) -> dict[str, str]:
    lengths = {f.name: getattr(solid, f.name) for f in fields(solid)}
    return {name: numbers(e if isinstance(e, tuple) else (e,)) for name, e in lengths.items()}


Numbers = tuple[float, ...]


def rpy(R: Matrix3) -> Numbers:
    return _shortest(zyx_from_matrix(R)[::-1], lambda e: checked_pose("", SE3(matrix_from_zyx(e[::-1]))).rotation == R)


def axis(u: Vector3) -> Numbers:
    return _shortest(u, lambda e: any(e) and unit_axis(e) == u)


def _shortest(values: Sequence[float], gives: Callable[[Numbers], bool]) -> Numbers:
    """Return numbers rounded to as few digits as give what is wanted; as they are if none do."""
    rounded = (
        tuple(_rounded(value, digits) for value in values) for digits in range(1, 18)
    )  # 17 digits tell every float
    return next(filter(gives, rounded), tuple(float(value) + 0.0 for value in values))


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0  # + 0.0 makes -0.0 a 0.0


def inertial(inertia: Inertia) -> tuple[Numbers, Numbers]:
    """Return the centre of mass and the six entries of the inertia about it.

    Raises:
        ParameterError: if about the body's origin it is too large for a number: no reader takes it.

    Several centres give the same first moment; where the first of them leaves no exact entries, others are tried.
    """
    if not all(map(math.isfinite, inertia.parameters())):
        expected = "numbers that are finite about the body's origin, too"
        raise ParameterError("inertia to write", got=inertia, expected=expected, hint="Are the units right?")
    pairs = zip(inertia.com, inertia.first_moment, strict=True)
    centres = [_exact(c, lambda e, h=h: e * inertia.mass == h)[:4] or [c + 0.0] for c, h in pairs]
    trials = ((com, _about(inertia, com)) for com in product(*centres))
    first = com, entries = next(trials)
    if None in entries:
        com, entries = next((trial for trial in trials if None not in trial[1]), first)
    exactly = inertia.inertia_at_origin - Symmetric3.point(Vector3(*com)) * inertia.mass
    return com, tuple(near if e is None else e for e, near in zip(entries, exactly, strict=True))


def _about(inertia: Inertia, com: Numbers) -> list[Any]:
    shift = Symmetric3.point(Vector3(*com)) * inertia.mass
    pairs = zip(inertia.inertia_at_origin, shift, strict=True)
    return [next(iter(_exact(held - s, lambda e, held=held, s=s: e + s == held)), None) for held, s in pairs]


def _exact(value: float, gives: Callable[[float], bool]) -> list[float]:
    """Return the floats near a value that give what is wanted, those of few digits first."""
    trials = [0.0, *(_rounded(value, digits) for digits in range(1, 18))]
    below = above = value
    for _ in range(4):  # computing back rounds a few times, so the float meant is among the next ones
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        trials += below, above
    return list(dict.fromkeys(filter(gives, trials)))
