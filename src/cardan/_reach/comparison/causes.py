"""What a comparison found, and what explains it where frames do: another point, other axes, a turned frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.spatial import Inertia, Matrix3
from cardan._algebra.spatial.rotations import rotation_vector_from_matrix

# Of differences: bodies and joints that are missing; how a joint moves; where the frame of a body is; mass, centre and
# inertia; limits and passive properties; shapes; frames, configurations, groups, actuators; gravity; and what the
# dynamics at random states shows that none of the others explains.
KINDS = ("structure", "motion", "frame", "inertia", "joint", "shape", "record", "gravity", "state")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two robots differ.

    Attributes:
        kind: one of `KINDS`.
        where: the name of the body, joint or other part, as the first robot has it, or the second if only that does.
        what: what of it: `"mass"`, `"limits.lower"`, `"is missing in b"`.
        a: of the first, or None.
        b: of the second, or None.
        cause: what explains it, where a frame, a joint or another body does.

    Examples:
        >>> cardan.comparison.Difference("joint", "knee", "limits.upper", 1.0, 2.0).what
        'limits.upper'
    """

    kind: str
    where: str
    what: str
    a: Any = None
    b: Any = None
    cause: str = ""

    def __str__(self) -> str:
        values = "" if self.a is None and self.b is None else f": {_shown(self.a)} in a, {_shown(self.b)} in b"
        return f"{self.where}: {self.what}{values}" + (f" -- {self.cause}" if self.cause else "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the comparison of two robots found.

    Attributes:
        a: name of the first.
        b: name of the second.
        differences: in the order of the tree, structure first.
        notes: what differs and makes no other robot of it: its name, the kind of coordinates, names for the same thing.
        errors: the largest differences at random states, relative to the largest number [-]: `"pose"`, `"mass matrix"`,
            `"bias forces"`; empty where the robots have not the same joints.

    Examples:
        >>> changed = mechanism.lock({"joint3": 0.0}).mechanism
        >>> found = cardan.compare(mechanism, changed)
        >>> found.differences[0].where
        'joint3'
    """

    a: str
    b: str
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether the two are the same robot."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        count = len(self.differences)
        verdict = "no difference" if not count else f"{count} difference{'s' * (count > 1)}"
        lines = [f"{self.a} (a) and {self.b} (b): {verdict}"]
        lines += [f"  {difference}" for difference in self.differences]
        lines += [f"  note: {note}" for note in self.notes]
        if self.errors:
            shown = ", ".join(f"{name} {error:.1e}" for name, error in self.errors.items())
            lines.append(f"  largest relative differences at random states: {shown}")
        return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (tuple, list)) or hasattr(value, "tolist"):
        return "(" + ", ".join(_shown(e) for e in value) + ")"
    return "nothing" if value is None else str(value)


# How well an explanation has to fit, relative to the numbers: descriptions are written with six digits or more.
FITS = 1e-6


def close(a: np.ndarray, b: np.ndarray) -> bool:
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    return bool(np.isfinite(size)) and bool(np.abs(a - b).max(initial=0.0) <= FITS * size)


def of_inertia(a: Inertia, b: Inertia) -> str:
    """Return why the inertia about the centre of mass differs: another point, or other axes."""
    J, K = at_com(a), at_com(b)
    shift_a, shift_b = point(a), point(b)
    if shift_a.any() and close(K, J + shift_a):
        return "b's is taken about the origin of the body frame, a's about the centre of mass"
    if shift_b.any() and close(J, K + shift_b):
        return "a's is taken about the origin of the body frame, b's about the centre of mass (or moved there twice)"
    if close(np.sort(np.linalg.eigvalsh(J)), np.sort(np.linalg.eigvalsh(K))):
        return "the same principal moments in other axes"
    return ""


def at_com(inertia: Inertia) -> np.ndarray:
    return np.array([list(row) for row in inertia.inertia_at_com.matrix().rows()], dtype=float)


def point(inertia: Inertia) -> np.ndarray:
    """Return m (|c|^2 1 - c c^T): what the mass at its centre adds about the origin."""
    c = np.array(tuple(inertia.com), dtype=float)
    return float(inertia.mass) * (c @ c * np.eye(3) - np.outer(c, c))


def turn(R: np.ndarray) -> str:
    """Return in words by how much a rotation turns, and about which axis; empty if it does not."""
    phi = np.array(rotation_vector_from_matrix(Matrix3.of(R)), dtype=float)
    angle = float(np.linalg.norm(phi))
    if angle < 1e-7:
        return ""
    axis = " ".join(f"{e + 0.0:.4g}" for e in np.round(phi / angle, 9))
    return f"by {math.degrees(angle):.4g} degrees about ({axis})"
