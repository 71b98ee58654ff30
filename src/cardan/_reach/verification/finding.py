"""What a check found: the identity, how far it is from holding, where, and the likely cause."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["passed", "failed", "skipped"]
Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check.

    Attributes:
        name: of the check.
        identity: what must hold, as a formula.
        status: `"passed"`, `"failed"` or `"skipped"`.
        error: the worst deviation found, [in the units of the quantity]; infinite where something is NaN or raises.
        tolerance: the largest deviation allowed [likewise] at that place.
        q: the configuration where it is worst; None if it does not depend on one.
        v: the velocity where it is worst; None if it does not depend on one.
        entries: the worst entries, in words: got and expected.
        cause: the likely cause of a failure, and how to mend it.
        note: what else is worth knowing; why a check was skipped.

    Examples:
        >>> finding = cardan.verify_joint(cardan.joints.Fixed(), samples=2).findings[0]
        >>> finding.plain()["status"]
        'passed'
    """

    name: str
    identity: str
    status: Status
    error: float = 0.0
    tolerance: float = 0.0
    q: Numbers | None = None
    v: Numbers | None = None
    entries: tuple[str, ...] = ()
    cause: str = ""
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether the identity does not hold."""
        return self.status == "failed"

    @property
    def message(self) -> str:
        """All of it in one paragraph."""
        if self.status == "skipped":
            return f"{self.name}: skipped: {self.note}"
        by = f"worst error {self.error:.2g}, tolerance {self.tolerance:.2g}"
        if not self.failed:
            return f"{self.name}: {self.identity} ({by})"
        parts = [f"{self.name}: {self.identity} does not hold ({by}){self._place()}."]
        parts += [f"{entry}." for entry in self.entries]
        parts += [f"Likely cause: {self.cause}."] if self.cause else []
        return " ".join(parts)

    def _place(self) -> str:
        places = [f"{name} = {short(x)}" for name, x in (("q", self.q), ("v", self.v)) if x is not None]
        return " at " + ", ".join(places) if places else ""

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "message": self.message}


def short(numbers: Numbers) -> str:
    """Return numbers as a readable tuple."""
    return "(" + ", ".join(f"{x:.4g}" for x in numbers) + ")"
