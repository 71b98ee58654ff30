"""The certificate: what was checked of a joint and what was found, as text and as plain data."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from cardan._reach.verification.check import Finding
from cardan._reach.verification.numerics import Speed
from cardan._reach.verification.rank import Singularity
from cardan._robot.joints import Limits

WIDTH = 100
EXPLAINED = 3  # failures told in full; the first ones are the causes
MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "-"}


@dataclass(frozen=True, slots=True)
class Certificate:
    """The outcome of `verify_joint`; `print` shows it.

    Attributes:
        joint: as it prints.
        type: name of its class.
        nq: number of coordinates; -1 if it cannot be told.
        nv: number of degrees of freedom; -1 if it cannot be told.
        samples: number of configurations looked at.
        seed: of the random numbers.
        findings: one for each check, in order; the first failure is the one to mend first.
        singularities: configurations found where S loses rank.
        speed: what the joint costs; None where it does not run.
        limits: the positions that were asked for; None for all of the joint's domain.

    Examples:
        >>> certificate = cardan.verify_joint(cardan.joints.Prismatic((0.0, 0.0, 1.0)), samples=2)
        >>> certificate.passed, certificate.failures, certificate.plain()["type"]
        (True, (), 'Prismatic')
    """

    joint: str
    type: str
    nq: int
    nv: int
    samples: int
    seed: int
    findings: tuple[Finding, ...]
    singularities: tuple[Singularity, ...] = ()
    speed: Speed | None = None
    limits: Limits | None = None

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings of the checks that failed."""
        return tuple(f for f in self.findings if f.failed)

    @property
    def verdict(self) -> str:
        """The outcome in one line."""
        count = {s: sum(f.status == s for f in self.findings) for s in MARKS}
        skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
        if self.passed:
            return f"passed: {count['passed']} checks{skipped}"
        return f"FAILED: {count['failed']} of {len(self.findings)} checks{skipped}"

    def plain(self) -> dict[str, Any]:
        """Return it as plain data; this layout is stable, infinite numbers are None."""
        plain = ("joint", "type", "nq", "nv", "samples", "seed", "passed", "verdict")
        return {
            "certificate": 1,
            **{key: getattr(self, key) for key in plain},
            "findings": [_finite(f.plain()) for f in self.findings],
            "singularities": [asdict(s) for s in self.singularities],
            "speed": asdict(self.speed) if self.speed else None,
            "limits": _finite([self.limits.lower, self.limits.upper]) if self.limits else None,
        }

    @property
    def _within(self) -> str:
        return f", within {self.limits.lower} to {self.limits.upper}" if self.limits else ""

    def __str__(self) -> str:
        parts = [
            f"{textwrap.shorten(self.joint, WIDTH - 20)}: nq = {self.nq}, nv = {self.nv}",
            f"{self.verdict} ({self.samples} configurations, seed {self.seed}{self._within})",
            "",
            f"{'check':31}{'error':>9}{'allowed':>10}   identity",
            "-" * WIDTH,
            *map(_row, self.findings),
        ]
        if self.singularities:
            parts += ["", "singular configurations found:", *(f"  {s.text}" for s in self.singularities)]
        if self.speed:
            s = self.speed
            parts += ["", f"cost of transform, S and bias: {s.operations} operations, {s.nanoseconds:.2g} ns a state"]
            parts[-1] += f" ({s.derived_operations} operations if derived)"
        for failure in self.failures[:EXPLAINED]:
            parts += ["", *textwrap.wrap(failure.message, WIDTH, subsequent_indent="    ")]
        others = ", ".join(f.name for f in self.failures[EXPLAINED:])
        if others:
            parts += ["", *textwrap.wrap(f"also failed, perhaps as a consequence: {others}", WIDTH)]
        return "\n".join(parts)


def _row(finding: Finding) -> str:
    mark, words = MARKS[finding.status], finding.note if finding.status == "skipped" else finding.identity
    numbers = f"{'':9}{'':10}" if finding.status == "skipped" else f"{finding.error:9.1e}{finding.tolerance:10.1e}"
    name = textwrap.shorten(finding.name, 30)
    first = f"{name:31}{numbers} {mark:>6}  "
    return "\n".join(textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
