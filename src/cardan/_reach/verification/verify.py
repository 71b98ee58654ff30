"""The checklist, and the function that goes through it."""

from __future__ import annotations

from cardan._algebra.errors import DTypeError, ParameterError
from cardan._reach.verification import dynamics, laws, motion, numerics, rank, structure
from cardan._reach.verification.certificate import Certificate
from cardan._reach.verification.check import Check, Finding
from cardan._reach.verification.numerics import speed
from cardan._reach.verification.samples import Samples
from cardan._robot.joints import Joint, Limits
from cardan._robot.joints.limits import narrow_limits

CHECKS: tuple[Check, ...] = (
    structure.sizes,
    structure.transform,
    laws.rigid,
    motion.smooth,
    structure.shapes,
    structure.memory,
    structure.value,
    structure.serialisation,
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
    rank.rank,
    motion.wrenches,
    laws.limits,
    laws.round_trip,
    structure.traced,
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
    numerics.batches,
    numerics.single_precision,
    numerics.native,
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
            may be undefined elsewhere, as a linkage is where it cannot be closed.

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
    where = Samples(joint, samples, seed, limits)
    findings = _examined(joint, where)
    passed = {f.name for f in findings if f.status == "passed"}
    runs = {structure.shapes.name, structure.traced.name} <= passed
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
        singularities=rank.singularities(joint, where) if sound else (),
        speed=speed(joint, where) if runs else None,
    )


def _examined(joint: Joint, samples: Samples) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    broken = ""
    for examine in CHECKS:
        if broken:
            findings.append(examine.skipped(f"{broken!r} failed"))
            continue
        found = examine(joint, samples)
        findings.append(found)
        broken = found.name if found.failed and examine.essential else ""
    return tuple(findings)


def _size(joint: Joint, name: str) -> int:
    try:
        return int(getattr(joint, name))
    except (AttributeError, TypeError):
        return -1
