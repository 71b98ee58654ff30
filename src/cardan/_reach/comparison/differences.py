"""What a comparison found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Of differences: bodies and joints that are missing; how a joint moves; where the frame of a body is; mass, centre and
# inertia; limits and passive properties; shapes; frames, configurations, groups, actuators; gravity.
KINDS = ("structure", "motion", "frame", "inertia", "joint", "shape", "record", "gravity")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two robots differ.

    Attributes:
        kind: one of `KINDS`.
        where: the name of the body, joint or other part, as the first robot has it, or the second if only that does.
        what: what of it: `"mass"`, `"limits.lower"`, `"is missing in b"`.
        a: of the first, or None.
        b: of the second, or None.
        cause: how something is turned or moved, and what that means.

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
        return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (tuple, list)) or hasattr(value, "tolist"):
        return "(" + ", ".join(_shown(e) for e in value) + ")"
    return "nothing" if value is None else str(value)
