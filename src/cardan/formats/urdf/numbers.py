"""Numbers of URDF from what cardan holds: the shortest decimals from which the reader makes the same floats again.

URDF has other numbers than cardan: angles for a rotation matrix, the inertia about the centre of mass for the one about
the origin. Computing them rounds, and so does computing back; but mostly a decimal close by is read as exactly what is
held, and the shortest of them is what the file once said. Where there is none, the nearest float is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from cardan.formats.urdf.joints import unit_axis
from cardan.spatial import SE3, Inertia, Matrix3, Symmetric3, Vector3, checked_pose
from cardan.spatial.rotations import matrix_from_zyx, zyx_from_matrix

_DIGITS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 15, 16, 17)


def _shortened(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0  # + 0.0 makes -0.0 a 0.0


def rpy(R: Matrix3) -> tuple[float, float, float]:
    """Return (roll, pitch, yaw) with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    yaw, pitch, roll = zyx_from_matrix(R)

    def gives(angles: Sequence[float]) -> bool:
        return checked_pose("", SE3(matrix_from_zyx(angles[::-1]))).rotation == R

    return _shortest((roll, pitch, yaw), gives)


def axis(u: Vector3) -> tuple[float, float, float]:
    """Return the direction of a unit axis."""
    return _shortest(tuple(u), lambda numbers: any(numbers) and unit_axis(numbers) == u)


def _shortest(values: Sequence[float], gives: Callable[[Sequence[float]], bool]) -> Any:
    """Return numbers rounded to as few digits as give what is wanted; to 17 if none do."""
    values = tuple(float(value) + 0.0 for value in values)
    for digits in _DIGITS:
        rounded = tuple(_shortened(value, digits) for value in values)
        if gives(rounded):
            return rounded
    return values


def inertial(inertia: Inertia) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the centre of mass and the six entries of the inertia about it.

    Several centres give the same first moment; where the first of them leaves no exact entries, others are tried.
    """
    centres = [_centres(c, inertia.mass, h) for c, h in zip(inertia.com, inertia.first_moment, strict=True)]
    found = [_about(inertia, com) for com in product(*(some[:1] for some in centres))]
    if not found[0][2]:
        found += islice((trial for com in product(*centres) if (trial := _about(inertia, com))[2]), 1)
    com, entries, _ = found[-1]
    return com, entries


def _centres(value: float, mass: float, moment: float) -> list[float]:
    """Return up to four coordinates with the first moment wanted, the shortest first; `value` if there are none."""
    exact = dict.fromkeys(trial for trial in _trials(value) if trial * mass == moment)
    return list(exact)[:4] or [value + 0.0]


def _about(inertia: Inertia, com: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...], bool]:
    """Return a centre, the entries about it, and whether they give the inertia exactly."""
    shift = Symmetric3.point(Vector3(*com)) * inertia.mass
    entries, exact = [], True
    for held, moved in zip(inertia.inertia_at_origin, shift, strict=True):
        trials = (trial for trial in _trials(held - moved) if trial + moved == held)
        entry = next(trials, None)
        exact = exact and entry is not None
        entries.append(held - moved if entry is None else entry)
    return com, tuple(entries), exact


def _trials(value: float) -> Iterator[float]:
    yield 0.0
    for digits in _DIGITS:
        yield _shortened(value, digits)
    below = above = value
    for _ in range(4):
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        yield below
        yield above
