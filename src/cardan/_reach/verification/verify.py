"""The checklist, the function that goes through it, and the certificate: what was found, as text and as plain data."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from cardan._algebra.errors import DTypeError, ParameterError
from cardan._dynamics.algorithms.cluster import ClusterMember
from cardan._dynamics.functions.modes import away_from_toggles
from cardan._reach.formats.json.text import jsonable
from cardan._reach.verification import dynamics, laws, motion
from cardan._reach.verification.check import Check, Finding, Samples
from cardan._reach.verification.dynamics import Cost, cost
from cardan._reach.verification.laws import Singularity
from cardan._robot.joints import Joint, Limits
from cardan._robot.joints.limits import narrow_limits

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
        cost: what the joint costs; None where it does not run.
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
    cost: Cost | None = None
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
            "findings": [jsonable(f.plain()) for f in self.findings],
            "singularities": [asdict(s) for s in self.singularities],
            "cost": asdict(self.cost) if self.cost else None,
            "limits": jsonable([self.limits.lower, self.limits.upper]) if self.limits else None,
        }

    def __str__(self) -> str:
        within = f", within {self.limits.lower} to {self.limits.upper}" if self.limits else ""
        parts = [
            f"{textwrap.shorten(self.joint, WIDTH - 20)}: nq = {self.nq}, nv = {self.nv}",
            f"{self.verdict} ({self.samples} configurations, seed {self.seed}{within})",
            "",
            f"{'check':31}{'error':>9}{'allowed':>10}   identity",
            "-" * WIDTH,
            *map(_row, self.findings),
        ]
        if self.singularities:
            parts += ["", "singular configurations found:", *(f"  {s.text}" for s in self.singularities)]
        if self.cost:
            derived = self.cost.derived_operations
            parts += ["", f"cost of transform, S and bias: {self.cost.operations} operations ({derived} if derived)"]
        for failure in self.failures[:EXPLAINED]:
            parts += ["", *textwrap.wrap(failure.message, WIDTH, subsequent_indent="    ")]
        others = ", ".join(f.name for f in self.failures[EXPLAINED:])
        if others:
            parts += ["", *textwrap.wrap(f"also failed, perhaps as a consequence: {others}", WIDTH)]
        return "\n".join(parts)


def _row(finding: Finding) -> str:
    mark, words = MARKS[finding.status], finding.note if finding.status == "skipped" else finding.identity
    numbers = f"{'':9}{'':10}" if finding.status == "skipped" else f"{finding.error:9.1e}{finding.tolerance:10.1e}"
    first = f"{textwrap.shorten(finding.name, 30):31}{numbers} {mark:>6}  "
    return "\n".join(textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)))


# --- the checklist ---

CHECKS: tuple[Check, ...] = (
    laws.sizes,
    laws.transform,
    laws.rigid,
    motion.smooth,
    laws.shapes,
    laws.memory,
    laws.value,
    laws.serialisation,
    laws.off_manifold,
    laws.inverse_maps,
    laws.velocity_maps,
    laws.retraction,
    laws.chart_rates,
    laws.representatives,
    motion.subspace,
    motion.derived_subspace,
    motion.bias,
    motion.derived_bias,
    laws.rank,
    motion.wrenches,
    laws.limits,
    laws.round_trip,
    laws.traced,
    motion.subspace_rate,
    motion.uses,
    laws.reversal,
    laws.equivalence,
    dynamics.kinetic_energy,
    dynamics.mass_matrix,
    dynamics.forward_inverse,
    dynamics.passivity,
    dynamics.power,
    dynamics.dynamics_derivatives,
    dynamics.batches,
    dynamics.single_precision,
    dynamics.native,
)
"""Every check, from what others rest on to what rests on others; a new one adds a line."""


def verify_joint(joint: Joint, samples: int = 12, seed: int = 0, *, limits: Limits | None = None) -> Certificate:
    """Check a joint against its definition and everything that follows from it.

    The truth is what differences of `joint.transform` along the manifold say; nothing else of the joint is trusted.

    Args:
        joint: an instance; parameters without symmetries find more.
        samples: number of configurations: the neutral one and random ones.
        seed: of the random numbers; the same seed gives the same findings.
        limits: positions within which the joint is looked at, beside those of its `domain`; all by default. The joint
            may be undefined elsewhere, as a linkage is where it cannot be closed. Joints of clusters are looked at away
            from toggles, by default.

    Returns:
        A `Certificate`: `print(certificate)`, `certificate.passed`, `certificate.failures`, `certificate.plain()`.

    Raises:
        DTypeError: if `joint` is no joint (a class, for one).
        ParameterError: if there are fewer than two samples; for limits of another length or outside of the domain.

    Examples:
        >>> certificate = cardan.verify_joint(cardan.joints.Revolute(axis=(0.0, 0.0, 1.0)), samples=2)
        >>> certificate.passed
        True
    """
    if not isinstance(joint, Joint):
        hint = f"Pass an instance: {joint.__name__}(...)." if isinstance(joint, type) else ""
        got = f"a {type(joint).__name__}"
        raise DTypeError("verify_joint", "joint", got=got, expected="an instance of a cardan.Joint", hint=hint)
    if samples < 2:
        raise ParameterError("samples of verify_joint", got=samples, expected="two or more")
    if limits is not None:
        narrow_limits(joint, limits)  # raises
    elif isinstance(joint, ClusterMember):
        limits = away_from_toggles(joint.closed)
    where = Samples(joint, samples, seed, limits)
    findings = _examined(joint, where)
    passed = {f.name for f in findings if f.status == "passed"}
    runs = {laws.shapes.name, laws.traced.name} <= passed
    sound = runs and motion.subspace.name in passed
    return Certificate(
        joint=repr(joint),
        type=type(joint).__name__,
        nq=_size(joint, "nq"),
        nv=_size(joint, "nv"),
        samples=samples,
        seed=seed,
        limits=limits,
        findings=findings,
        singularities=laws.singularities(joint, where) if sound else (),
        cost=cost(joint, where) if runs else None,
    )


def _examined(joint: Joint, samples: Samples) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    broken = ""
    for examine in CHECKS:
        found = examine.skipped(f"{broken!r} failed") if broken else examine(joint, samples)
        findings.append(found)
        if found.failed and examine.essential:
            broken = found.name
    return tuple(findings)


def _size(joint: Joint, name: str) -> int:
    try:
        return int(getattr(joint, name))
    except (AttributeError, TypeError):
        return -1
