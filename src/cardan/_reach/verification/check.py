"""Checks: where they look, what is true there (the transform alone says), and the ledger that keeps the worst.

A check is a function that shows pairs that must be equal to a ledger. What it found is a `Finding`: how far the
identity is from holding, where, and the likely cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cardan._algebra.spatial import SE3
from cardan._robot.joints import Joint, Limits
from cardan._robot.joints.first_checks import cause_of, first_line
from cardan._robot.joints.limits import narrow_limits

Numbers = tuple[float, ...]
# Room left at both ends of bounded positions, as a part of their range, or of one where that has no end [rad, m].
MARGIN = 0.02
HALVED = 60  # times at most: then it is no step


class TransformAlone(Joint):
    """Another joint without its closed forms: motion subspace and bias are derived from the transform."""

    def __init__(self, joint: Joint, change: Callable[[SE3], SE3] = lambda X: X) -> None:
        self.joint, self.manifold, self.domain = joint, joint.manifold, joint.domain
        self.change = change  # of the transform, to try an error on it

    def transform(self, q: Any) -> SE3:
        return self.change(self.joint.transform(q))


@dataclass
class Samples:
    """Configurations (the neutral one if it is within the limits, then random ones), velocities and accelerations."""

    joint: Joint  # whose
    count: int = 12  # number of configurations
    seed: int = 0  # of the random numbers
    limits: Limits | None = None  # positions to keep within, beside those of the joint's domain

    @cached_property
    def bounds(self) -> Limits:
        """The positions to keep within, a little inside of what is allowed: differences look to both sides."""
        lower, upper = narrow_limits(self.joint, self.limits)
        # A range without an end has no share.
        room = np.where(np.isfinite(upper - lower), MARGIN * (upper - lower), MARGIN)
        return Limits(lower=(lower + room).tolist(), upper=(upper - room).tolist())

    def random(self, count: int) -> np.ndarray:
        found = self.joint.random_configuration((count,), seed=self.seed, limits=self.bounds)
        return found.reshape(count, self.joint.nq)

    def holds(self, q: Any) -> bool:
        x = np.array(self.joint.manifold.limit_coordinates(tuple(q)), dtype=float)
        return bool(np.all((x >= np.array(self.bounds.lower)) & (x <= np.array(self.bounds.upper))))

    def within(self, q: Numbers, v: Numbers) -> Numbers:
        """Return a velocity, halved until it leads from q to within the limits: beyond them nothing is asked."""
        for _ in range(HALVED):
            if self.holds(self.joint.integrate(q, v)):
                break
            v = tuple(0.5 * e for e in v)
        return v

    @cached_property
    def q(self) -> list[Numbers]:
        neutral = floats(self.joint.neutral())
        found = [floats(q) for q in self.random(max(self.count - 1, 1))]
        # The neutral one is where guards are missing.
        return [neutral if self.holds(neutral) else floats(self.random(self.count + 1)[-1]), *found]

    @cached_property
    def v(self) -> list[Numbers]:
        return self._normal(1)

    @cached_property
    def a(self) -> list[Numbers]:
        return self._normal(2)

    @property
    def states(self) -> list[tuple[Numbers, Numbers]]:
        return list(zip(self.q, self.v, strict=True))

    @cached_property
    def poses(self) -> list[SE3]:
        return [self.joint.transform(q) for q in self.q]

    @cached_property
    def subspaces(self) -> list[tuple[np.ndarray, float]]:
        """The true S at each configuration, by differences of the transform, with error estimates."""
        return [subspace_by_differences(self.joint, q) for q in self.q]

    @cached_property
    def alone(self) -> Joint:
        return TransformAlone(self.joint)

    def _normal(self, stream: int) -> list[Numbers]:
        rng = np.random.default_rng([self.seed, stream])
        return [floats(row) for row in rng.normal(size=(len(self.q), self.joint.nv))]


def floats(values: Any) -> Numbers:
    return tuple(float(e) for e in values)


def columns(motions: Sequence[Any]) -> np.ndarray:
    """Return motions or wrenches as the columns of a matrix of six rows."""
    return np.array([[float(e) for e in m.scalars()] for m in motions], dtype=float).reshape(-1, 6).T


def vector(motion: Any) -> np.ndarray:
    return np.array([float(e) for e in motion.scalars()])


# --- derivatives by differences, extrapolated until rounding stops them: independent of any formula or autodiff ---
#
#     f'(0) = (f(h) - f(-h)) / (2 h) + O(h^2),  h halved and the even powers eliminated one by one
#
# Source: Ridders, Adv. Eng. Software 4 (1982); Press et al., Numerical Recipes (2007), section 5.7.

STEP, LEVELS, SHORTER = 0.1, 6, 8
Function = Callable[[float], Any]


def derivative(f: Function, step: float = STEP) -> tuple[np.ndarray, float]:
    """Return f'(0) of a function with an array as value, and an estimate of its largest error.

    Where the function has no value so far away, as at the end of its domain, it begins with shorter steps.
    """

    def slope(h: float) -> np.ndarray:
        return (np.asarray(f(h), dtype=float) - np.asarray(f(-h), dtype=float)) / (2.0 * h)

    first = slope(step)
    for _ in range(SHORTER):
        if np.isfinite(first).all():
            break
        step *= 0.5  # the function may end nearby: shorter steps stay inside
        first = slope(step)
    table: list[list[np.ndarray]] = []
    best, estimate = np.zeros(0), np.inf  # what agrees best with its neighbours in the table
    for level in range(LEVELS):
        row = [slope(step / 2.0**level) if level else first]
        for order in range(1, level + 1):
            row.append(row[-1] + (row[-1] - table[-1][order - 1]) / (4.0**order - 1.0))
            error = max(_size(row[order] - row[order - 1]), _size(row[order] - table[-1][order - 1]))
            if error <= estimate or best.size == 0:  # beyond some level rounding makes it worse again
                best, estimate = row[order], error
        table.append(row)
    return (best, estimate) if np.isfinite(estimate) else (table[-1][0], np.inf)


def _size(x: np.ndarray) -> float:
    return float(np.abs(x).max(initial=0.0)) if np.isfinite(x).all() else np.inf


def scaled(v: Any, t: float) -> tuple[float, ...]:
    return tuple(t * float(e) for e in v)


def rate_along(
    joint: Joint, q: Any, v: Any, f: Callable[[Any], Any], step: float | None = None
) -> tuple[np.ndarray, float]:
    """Return df/dt along integrate(q, t v), and the error estimate; steps are shorter for larger velocities."""
    shorter = STEP / (1.0 + max((abs(float(e)) for e in v), default=0.0))
    return derivative(lambda t: f(joint.integrate(q, scaled(v, t))), shorter if step is None else step)


def twist_by_differences(joint: Joint, q: Any, v: Any) -> tuple[np.ndarray, float]:
    """Return vee(X^-1 dX/dt) along integrate(q, t v), six numbers, and the error estimate."""
    rate, estimate = rate_along(joint, q, v, lambda moved: entries(joint.transform(moved)))
    R = entries(joint.transform(q))[:9].reshape(3, 3)
    W = R.T @ rate[:9].reshape(3, 3)
    angular = 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
    return np.concatenate([R.T @ rate[9:], angular]), estimate


def subspace_by_differences(joint: Joint, q: Any) -> tuple[np.ndarray, float]:
    """Return S(q), 6 x nv, from the transform alone, and the error estimate."""
    columns = [twist_by_differences(joint, q, e) for e in np.eye(joint.nv)]
    S = np.array([column for column, _ in columns], dtype=float).reshape(joint.nv, 6).T
    return S, max((estimate for _, estimate in columns), default=0.0)


def entries(X: SE3) -> np.ndarray:
    """Return the twelve numbers of a pose: rotation row by row, then translation."""
    return np.array([*X.rotation.entries(), *X.translation], dtype=float)


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
        self.tolerance = tolerance
        self.cause, self.note = "", ""  # the likely cause, which a check may set when `failed`; what else to know
        # The q and v being looked at, should the joint's code raise an error.
        self.now: tuple[Sequence[float] | None, Sequence[float] | None] = (None, None)
        self._ratio = 0.0  # of the worst error to its tolerance
        self._worst = Finding(name, identity, "passed", tolerance=tolerance)

    @property
    def failed(self) -> bool:
        return self._ratio > 1.0

    @property
    def place(self) -> Numbers | None:
        return self._worst.q

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
        if error / limit > self._ratio or self.place is None:
            self._keep(error / limit, error, limit, q, v, _wrong(label, a, b, gap, limit))
            # The most frequent mistake: a guard on one side of `where` alone.
            if self.failed and not np.isfinite(a).all():
                guard = "a division by zero or a root of zero; guard it with cardan.where on both sides"
                self.cause = f"{guard}. If the joint ends there, say so by its `domain`, or verify it within limits=..."

    def fail(self, reason: str, q: Sequence[float] | None = None, v: Sequence[float] | None = None) -> None:
        """Note that something is wrong that is no matter of size."""
        if not np.isinf(self._ratio):  # the first reason counts: others follow from it
            self._keep(np.inf, np.inf, self.tolerance, q, v, (reason,))

    def _keep(self, ratio: float, error: float, limit: float, q: Any, v: Any, entries: tuple[str, ...]) -> None:
        q, v = (None if x is None else tuple(map(float, x)) for x in (q, v))
        self._ratio = ratio
        self._worst = replace(self._worst, error=error, tolerance=limit, q=q, v=v, entries=entries)

    def finding(self) -> Finding:
        if self.failed:
            return replace(self._worst, status="failed", cause=self.cause, note=self.note)
        return replace(self._worst, q=None, v=None, note=self.note)


def _wrong(label: str, a: np.ndarray, b: np.ndarray, gap: np.ndarray, limit: float) -> tuple[str, ...]:
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
            return self.skipped(str(reason))
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
