"""How checks are written: a function that shows pairs that must be equal to a ledger, which keeps the worst.

What a check found is a `Finding`: how far the identity is from holding, where, and the likely cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from cardan._reach.verification.samples import Numbers, Samples
from cardan._robot.joints import Joint
from cardan._robot.joints.first_checks import cause_of, first_line

Status = Literal["passed", "failed", "skipped"]


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
        numbers = {name: x for name, x in (("q", self.q), ("v", self.v)) if x is not None}
        places = [f"{name} = ({', '.join(f'{e:.4g}' for e in x)})" for name, x in numbers.items()]
        place = " at " + ", ".join(places) if places else ""
        parts = [f"{self.name}: {self.identity} does not hold ({by}){place}."]
        parts += [f"{entry}." for entry in self.entries]
        parts += [f"Likely cause: {self.cause}."] if self.cause else []
        return " ".join(parts)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "message": self.message}


ENTRIES = 3  # how many wrong entries are named


class Skip(Exception):  # noqa: N818 -- no error
    """Raised by a check that does not apply, with the reason."""


class Ledger:
    """Keeps the worst of what a check compares."""

    def __init__(self, name: str, identity: str, tolerance: float) -> None:
        self.name, self.identity, self.tolerance = name, identity, tolerance
        self.cause, self.note = "", ""  # the likely cause, which a check may set when `failed`; what else to know
        # The q and v being looked at, should the joint's code raise an error.
        self.now: tuple[Sequence[float] | None, Sequence[float] | None] = (None, None)
        self._ratio, self._error, self._limit = 0.0, 0.0, tolerance
        self._q: Numbers | None = None
        self._v: Numbers | None = None
        self._entries: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self._ratio > 1.0

    @property
    def place(self) -> Numbers | None:
        return self._q

    def see(
        self,
        got: Any,
        expected: Any,
        q: Sequence[float] | None = None,
        v: Sequence[float] | None = None,
        *,
        label: str = "value",
        slack: float = 0.0,
    ) -> None:
        """Compare two arrays; the tolerance is relative to one plus the largest expected entry, plus `slack`."""
        a, b = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
        if a.shape != b.shape:
            self.fail(f"{label} has shape {a.shape}, expected {b.shape}", q, v)
            return
        with np.errstate(all="ignore"):  # inf - inf is NaN, which the next line makes infinitely wrong
            gap = np.abs(a - b)
        gap = np.where(np.isfinite(gap), gap, np.inf)
        limit = self.tolerance * (1.0 + float(np.abs(b[np.isfinite(b)]).max(initial=0.0))) + slack
        error = float(gap.max(initial=0.0))
        if error / limit > self._ratio or self._q is None:
            self._keep(error / limit, error, limit, q, v)
            self._entries = _worst(label, a, b, gap, limit)
            # The most frequent mistake: a guard on one side of `where` alone.
            if self.failed and not np.isfinite(a).all():
                guard = "a division by zero or a root of zero; guard it with cardan.where on both sides"
                self.cause = f"{guard}. If the joint ends there, say so by its `domain`, or verify it within limits=..."

    def fail(self, reason: str, q: Sequence[float] | None = None, v: Sequence[float] | None = None) -> None:
        """Note that something is wrong that is no matter of size."""
        if not np.isinf(self._ratio):  # the first reason counts: others follow from it
            self._keep(np.inf, np.inf, self.tolerance, q, v)
            self._entries = (reason,)

    def _keep(self, ratio: float, error: float, limit: float, q: Any, v: Any) -> None:
        self._ratio, self._error, self._limit = ratio, error, limit
        self._q, self._v = (None if x is None else tuple(map(float, x)) for x in (q, v))

    def finding(self) -> Finding:
        if not self.failed:
            return Finding(self.name, self.identity, "passed", self._error, self._limit, note=self.note)
        place = (self._error, self._limit, self._q, self._v)
        return Finding(self.name, self.identity, "failed", *place, self._entries, self.cause, self.note)


def _worst(label: str, a: np.ndarray, b: np.ndarray, gap: np.ndarray, limit: float) -> tuple[str, ...]:
    wrong = [k for k in np.argsort(-gap, axis=None, kind="stable")[:ENTRIES] if gap.flat[k] > limit]
    places = [", ".join(map(str, np.unravel_index(k, a.shape))) for k in wrong]
    names = [f"{label}[{place}]" if place else label for place in places]
    pairs = [[f"{0.0 if abs(x.flat[k]) <= limit else x.flat[k]:.6g}" for x in (a, b)] for k in wrong]
    return tuple(f"{n} is {x}, expected {y}" for n, (x, y) in zip(names, pairs, strict=True))


@dataclass(frozen=True, slots=True)
class Check:
    """One identity and the function that examines it.

    Attributes:
        name: of the check.
        identity: what must hold, as a formula.
        tolerance: [-], relative to one plus the largest entry.
        examine: shows the ledger what must be equal; may raise `Skip`.
        essential: nothing else is examined if this fails.

    Examples:
        >>> check = cardan.verification.CHECKS[0]
        >>> check.skipped("it was asked for").status
        'skipped'
    """

    name: str
    identity: str
    tolerance: float
    examine: Callable[[Joint, Samples, Ledger], None]
    essential: bool = False

    def __call__(self, joint: Joint, samples: Samples) -> Finding:
        """Return what the check finds; whatever the joint's code raises is a finding."""
        ledger = Ledger(self.name, self.identity, self.tolerance)
        try:
            with np.errstate(all="ignore"):
                self.examine(joint, samples, ledger)
        except Skip as reason:
            return Finding(self.name, self.identity, "skipped", tolerance=self.tolerance, note=str(reason))
        except Exception as error:  # the joint's code may raise anything
            ledger.fail(f"it raises {type(error).__name__}: {first_line(error)}", *ledger.now)
            ledger.cause = cause_of(error)
        return ledger.finding()

    def skipped(self, reason: str) -> Finding:
        """Return the finding of a check that was not made.

        Args:
            reason: in words.
        """
        return Finding(self.name, self.identity, "skipped", tolerance=self.tolerance, note=reason)


def check(
    name: str, identity: str, tolerance: float = 1e-9, *, essential: bool = False
) -> Callable[[Callable[[Joint, Samples, Ledger], None]], Check]:
    """Make a `Check` of a function."""
    return lambda examine: Check(name, identity, tolerance, examine, essential)
