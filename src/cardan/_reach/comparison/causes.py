"""What a comparison found, and likely causes: hypotheses that are tried on the numbers, and stated if they fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
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
        cause: what explains the numbers; empty where nothing that was tried does.

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


# How well a hypothesis has to fit, relative to the numbers: descriptions are written with six digits or more.
FITS = 1e-6
FACTORS = {
    1e3: "1000",
    1e6: "1e6",
    1e9: "1e9",
    math.pi / 180.0: "pi/180: degrees and radians",
    0.0254: "0.0254: inches and metres",
    0.0254**2: "0.0254^2: square inches and square metres",
    0.3048: "0.3048: feet and metres",
    0.45359237: "0.45359237: pounds and kilograms",
    9.80665: "9.80665: newtons and kilograms-force",
    9.81: "9.81: newtons and kilograms-force",
    2.0: "2",
    10.0: "10",
    100.0: "100: centimetres and metres",
    1e4: "1e4: square centimetres and square metres",
    math.tau: "2 pi: turns and radians",
    60.0 / math.tau: "60/(2 pi): turns a minute and rad/s",
}


def close(a: np.ndarray, b: np.ndarray) -> bool:
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    return bool(np.isfinite(size)) and bool(np.abs(a - b).max(initial=0.0) <= FITS * size)


def factor(a: float, b: float) -> str:
    """Return in what unit b = factor a may be, or nothing."""
    if a == 0.0 or b == 0.0 or not math.isfinite(a) or not math.isfinite(b):
        return ""
    ratio = abs(b / a)
    for value, name in FACTORS.items():
        for given, sign in ((value, ""), (1.0 / value, "1/")):
            if abs(ratio / given - 1.0) < FITS:  # relative: factors span 18 orders of magnitude
                words, _, meaning = name.partition(": ")
                number = f"1/({words})" if sign and "/" in words else f"{sign}{words}"
                return f"b is {number} times a" + (f" ({meaning})" if meaning else "")
    return ""


def of_numbers(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> str:
    """Return why numbers differ: a unit, a sign, an order."""
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if x.shape != y.shape:
        return ""
    # Before finite numbers are needed: factors of infinity say nothing.
    if x.size and np.isinf(x).all() and np.isfinite(y).all():
        return "a has no bound"
    if x.size and np.isinf(y).all() and np.isfinite(x).all():
        return "b has no bound"
    if not np.isfinite(x).all() or not np.isfinite(y).all() or not x.any() or not y.any():
        return "b has none" if x.any() and not y.any() else "a has none" if y.any() and not x.any() else ""
    k = int(np.abs(x).argmax())  # the ratio of the largest numbers is the least disturbed by rounding
    if close(x, -y):  # before factors: -1 would be one of them
        return "the sign is the other one"
    if x[k] and close(y, x * (y[k] / x[k])):
        return factor(x[k], y[k])
    return ""


def of_com(a: np.ndarray, b: np.ndarray) -> str:
    cause = of_numbers(a, b)
    if cause or not a.any() or not b.any():
        return cause
    for R, name in TURNS:
        if close(R @ a, b):
            return f"turned {name}"
    for signs in product((1.0, -1.0), repeat=3):
        if close(np.array(signs) * a, b):
            axes = ", ".join(axis for axis, sign in zip("xyz", signs, strict=True) if sign < 0.0)
            return f"mirrored: the sign of {axes} is the other one"
    return ""


def of_inertia(a: Inertia, b: Inertia) -> str:
    """Return why the inertia about the centre of mass differs: another point, other axes, a unit, a density."""
    J, K = at_com(a), at_com(b)
    shift_a, shift_b = point(a), point(b)
    if shift_a.any() and close(K, J + shift_a):
        return "b's is taken about the origin of the body frame, a's about the centre of mass"
    if shift_b.any() and close(J, K + shift_b):
        return "a's is taken about the origin of the body frame, b's about the centre of mass (or moved there twice)"
    k = np.unravel_index(int(np.abs(J).argmax()), J.shape)
    if J[k] and K[k] and close(K, J * (K[k] / J[k])):
        ratio = K[k] / J[k]
        if a.mass and abs(b.mass / a.mass / ratio - 1.0) < FITS and a.mass != b.mass:
            return "mass and inertia differ by one factor: another density"
        return factor(J[k], K[k])
    mirrored = 2.0 * np.diag(np.diag(J)) - J  # the diagonal stays, everything else changes its sign
    if close(K, mirrored):
        return "the products of inertia have the other sign"
    # After factors: axes explain what no factor does.
    if close(np.sort(np.linalg.eigvalsh(J)), np.sort(np.linalg.eigvalsh(K))):
        name = next((name for R, name in TURNS if close(R @ J @ R.T, K)), "")
        return "the same principal moments in other axes" + (f": turned {name}" if name else "")
    if close(np.diag(J), np.diag(K)):
        return "the moments are the same, the products of inertia are not"
    return ""


def at_com(inertia: Inertia) -> np.ndarray:
    return np.array([list(row) for row in inertia.inertia_at_com.matrix().rows()], dtype=float)


def point(inertia: Inertia) -> np.ndarray:
    """Return m (|c|^2 1 - c c^T): what the mass at its centre adds about the origin."""
    c = np.array(tuple(inertia.com), dtype=float)
    return float(inertia.mass) * (c @ c * np.eye(3) - np.outer(c, c))


def turn(R: np.ndarray) -> str:
    angle, u = _axis_angle(R)
    if angle < 1e-7:
        return ""
    name = next((name for S, name in TURNS if np.abs(S - R).max() < 1e-6), "")
    axis = " ".join(f"{e + 0.0:.4g}" for e in np.round(u, 9))
    return name or f"by {math.degrees(angle):.4g} degrees about ({axis})"


def _axis_angle(R: np.ndarray) -> tuple[float, np.ndarray]:
    """Return by how much a rotation turns [rad], and about which unit axis."""
    phi = np.array(rotation_vector_from_matrix(Matrix3.of(R)), dtype=float)
    angle = float(np.linalg.norm(phi))
    return angle, phi / (angle or 1.0)


def _turns() -> list[tuple[np.ndarray, str]]:
    """Return the 23 rotations that bring axes onto axes, the simple ones first, with names."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            R = np.zeros((3, 3))
            R[range(3), order] = signs
            if np.linalg.det(R) > 0.0 and not np.array_equal(R, np.eye(3)):
                angle, axis = _axis_angle(R)
                degrees = round(math.degrees(angle))
                found.append((R, degrees, _axis_name(axis, degrees)))
    found.sort(key=lambda e: (len(e[2].split("(")) > 1, e[1]))
    return [(R, f"by {degrees} degrees about {axis}") for R, degrees, axis in found]


def _axis_name(u: np.ndarray, degrees: int) -> str:
    u = u * np.sign(u[np.abs(u).argmax()]) if degrees == 180 else u
    signs = np.rint(u / np.abs(u).max()).astype(int)
    if np.abs(signs).sum() == 1:
        k = int(np.abs(signs).argmax())
        return ("-" if signs[k] < 0 else "") + "xyz"[k]
    return "(" + " ".join(map(str, signs)) + ")"


TURNS = _turns()
