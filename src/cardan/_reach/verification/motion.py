"""The motion subspace, its rate, the bias and the constraint wrenches, against differences and against derivation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cardan._algebra.spatial import SE3, Force
from cardan._reach.verification.causes import adjoints, bias_cause, explained
from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.samples import (
    Samples,
    TransformAlone,
    columns,
    entries,
    rate_along,
    scaled,
    subspace_by_differences,
    vector,
)
from cardan._robot.joints import Joint
from cardan._robot.joints.first_checks import first_line

CONVERGED = 1e-5  # differences that are less sure than this belong to a function with a jump or a kink
KINK = 1e-7  # how far ahead and behind slopes are compared


@check("smooth", "transform has a derivative along every velocity", CONVERGED)
def smooth(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, (_, estimate) in zip(samples.q, samples.subspaces, strict=True):
        ledger.see(estimate, 0.0, q, label="uncertainty of the differences")
        here = entries(joint.transform(q))
        for e in np.eye(joint.nv):
            # A kink has two slopes, though central differences converge.
            behind, ahead = (entries(joint.transform(joint.integrate(q, scaled(e, h)))) for h in (-KINK, KINK))
            ledger.see((ahead - here) / KINK, (here - behind) / KINK, q, label="slope ahead, behind expected")
    if ledger.failed:
        ledger.cause = "the pose jumps or has a kink near q, or varies within 0.01 rad or m"


@check("motion subspace", "S(q) e_j = vee(X^-1 dX/dt) along integrate(q, t e_j)")
def subspace(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    got = [columns(joint.motion_subspace(q)) for q in samples.q]
    for q, S, (true, slack) in zip(samples.q, got, samples.subspaces, strict=True):
        ledger.see(S, true, q, label="S", slack=10.0 * slack)  # the estimate of the error may be a few times too small
    if ledger.failed and not ledger.cause:
        ledger.cause = _cause(joint, samples, got)


def _cause(joint: Joint, samples: Samples, got: list[np.ndarray]) -> str:
    true = [S for S, _ in samples.subspaces]
    rates, in_transform = _rate_cause(joint, samples, got, true), _transform_cause(joint, samples, got)
    in_subspace, entire = rates, True
    if not rates:
        in_subspace, entire = explained(np.array(got), np.array(true), adjoints(samples.poses), joint.velocity_names)
    causes = (in_subspace if entire or not in_transform else "", in_transform)
    return ", or ".join(c for c in causes if c) or "no simple error explains it"


VARIANTS: dict[str, Callable[[SE3], SE3]] = {
    "the rotation of transform is transposed, R^T where R belongs": lambda X: SE3(X.rotation.T, X.translation),
    "transform is inverted, X_cp where X_pc belongs": lambda X: X.inverse(),
    "the translation of transform has the wrong sign": lambda X: SE3(X.rotation, -X.translation),
    "the translation of transform is in child coordinates, to be multiplied by R": lambda X: SE3(
        X.rotation, X.rotation @ X.translation
    ),
    "the translation of transform is multiplied by R once too often": lambda X: SE3(
        X.rotation, X.rotation.transpose_apply(X.translation)
    ),
}


class _Variant(TransformAlone):
    def __init__(self, joint: Joint, change: Callable[[SE3], SE3]) -> None:
        super().__init__(joint)
        self.change = change

    def transform(self, q: object) -> SE3:
        return self.change(super().transform(q))


def _transform_cause(joint: Joint, samples: Samples, got: list[np.ndarray]) -> str:
    for words, change in VARIANTS.items():
        other = _Variant(joint, change)
        theirs = (subspace_by_differences(other, q)[0] for q in samples.q)
        if all(np.allclose(S, T, atol=1e-6) for S, T in zip(got, theirs, strict=True)):
            return f"S is right and {words}"
    return ""


def _rate_cause(joint: Joint, samples: Samples, got: list[np.ndarray], true: list[np.ndarray]) -> str:
    if joint.nq != joint.nv:  # else S would have another number of columns
        return ""
    maps = [np.array(joint.configuration_derivative_to_velocity_jacobian(q), dtype=float) for q in samples.q]
    if all(np.allclose(S, T @ K, atol=1e-6) for S, T, K in zip(got, true, maps, strict=True)) and joint.nv:
        return "the columns belong to the rates dq/dt, not to the velocities v of the manifold: multiply by J(q)"
    return ""


@check("motion subspace, derived", "S(q) is the one derived from transform by automatic differentiation", 1e-10)
def derived_subspace(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    _needs_derivation(samples)
    for q in samples.q:
        ledger.see(columns(joint.motion_subspace(q)), columns(samples.alone.motion_subspace(q)), q, label="S")
    if ledger.failed:
        wrong = subspace(joint, samples).failed
        ledger.cause = "see motion subspace" if wrong else "transform on symbols is not transform on floats"


def _needs_derivation(samples: Samples) -> None:
    try:
        samples.alone.motion_subspace(samples.q[0])
    except Exception as error:  # the joint's code may raise anything
        raise Skip(f"transform cannot be traced: {first_line(error)}") from None


@check("bias", "bias(q, v) = (dS/dt) v along integrate(q, t v), S of transform", 1e-8)
def bias(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    _needs_derivation(samples)
    for q, v in samples.states:
        rate, slack = rate_along(joint, q, v, lambda x, v=v: columns(samples.alone.motion_subspace(x)) @ np.array(v))
        ledger.see(vector(joint.bias(q, v)), rate, q, v, label="bias", slack=10.0 * slack)
    if ledger.failed and not ledger.cause:
        ledger.cause = bias_cause(joint, samples, ledger.place)


@check("bias, derived", "bias(q, v) is the one derived from transform", 1e-9)
def derived_bias(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    _needs_derivation(samples)
    for q, v in samples.states:
        ledger.see(vector(joint.bias(q, v)), vector(samples.alone.bias(q, v)), q, v, label="bias")
    if ledger.failed:
        ledger.cause = "see bias"


@check("rate of the motion subspace", "(dS/dt) v = bias(q, v),  dS/dt derived = by differences", 1e-8)
def subspace_rate(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        got = columns(joint.motion_subspace_rate(q, v))
        rate, slack = rate_along(joint, q, v, lambda x: columns(joint.motion_subspace(x)))
        ledger.see(got, rate, q, v, label="dS/dt", slack=10.0 * slack)


@check("twist, acceleration, torque", "v_J = S v,  a_J = S a + bias,  torque . v = f . v_J", 1e-12)
def uses(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    f = Force.of(np.random.default_rng(samples.seed).normal(size=6))
    for q, v, a in zip(samples.q, samples.v, samples.a, strict=True):
        S = columns(joint.motion_subspace(q))
        twist = vector(joint.twist(q, v))
        ledger.see(twist, S @ v, q, v, label="twist")
        ledger.see(vector(joint.spatial_acceleration(q, v, a)), S @ a + vector(joint.bias(q, v)), q, v, label="a_J")
        ledger.see(np.dot(np.asarray(joint.torque(q, f)), v), vector(f) @ twist, q, v, label="power")


@check("constraint wrenches", "T^T S = 0,  T^T T = 1,  T has 6 - nv columns", 1e-10)
def wrenches(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q in samples.q:
        T, S = columns(joint.constraint_wrench_subspace(q)), columns(joint.motion_subspace(q))
        ledger.see(T.T @ S, np.zeros((6 - joint.nv, joint.nv)), q, label="T^T S")
        ledger.see(T.T @ T, np.eye(6 - joint.nv), q, label="T^T T")
