"""The motion subspace, its rate, the bias and the constraint wrenches, against differences and against derivation.

The likely cause of a wrong S or bias is a simple error, tried on the true one, S_true of differences, at every sample.
An error is a matrix A of the pose; it explains S if S = A S_true holds at all samples. Everything is an array over the
samples: S has the shape (n, 6, nv), A (n, 6, 6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Force
from cardan._reach.verification.check import (
    Ledger,
    Samples,
    Skip,
    TransformAlone,
    check,
    columns,
    entries,
    rate_along,
    scaled,
    subspace_by_differences,
    vector,
)
from cardan._robot.joints import Joint
from cardan._robot.joints.first_checks import first_line

CLOSE = 1e-6  # differences know S_true to about 1e-9; errors that are made by mistake are of order one

Errors = dict[str, Callable[[np.ndarray], np.ndarray]]


def _turned(Ad: np.ndarray) -> np.ndarray:
    return Ad * np.kron(np.eye(2), np.ones((3, 3)))


# What is wrong, by words, and its matrix A of the adjoint Ad = [R, [p]R; 0, R]. Signs and factors the numbers show.
WHOLE: Errors = {
    "has linear and angular parts exchanged; a Motion is [linear; angular]": lambda Ad: np.roll(np.eye(6), 3, 0),
    "is expressed in the parent frame: dX X^-1 where X^-1 dX belongs": lambda Ad: Ad,
    "is expressed in the parent's axes: multiply by R^T": _turned,
    "is that of the parent relative to the child: -Ad(X) S": lambda Ad: -Ad,
}


def error_of(what: str, got: np.ndarray, true: np.ndarray, poses: Sequence[SE3]) -> str:
    """Return which error turns the true values into those given at every sample, shape (n, 6, columns); or nothing."""
    Ad = np.array([X.adjoint() for X in poses], dtype=float)
    return next((f"{what} {words}" for words, matrix in WHOLE.items() if _close(got, matrix(Ad) @ true)), "")


def _close(got: np.ndarray, true: np.ndarray) -> bool:
    """Return whether all entries agree, relative to one plus the largest of their sample."""
    size = np.abs(true).max(axis=(1, 2), keepdims=True, initial=0.0)
    return bool((np.abs(got - true) <= CLOSE * (1.0 + size)).all())


def bias_cause(joint: Joint, samples: Samples, q: Any) -> str:
    kinds = (joint, samples.alone)
    got, true = (np.array([vector(j.bias(q, v)) for q, v in samples.states])[:, :, None] for j in kinds)
    if not got.any():
        return "the bias is zero although S depends on q: leave `bias` out, and it is derived"
    if known := error_of("the bias", got, true, samples.poses) or _classical(samples, got, true):
        return known
    v = np.linspace(0.5, 1.0, joint.nv)
    once, twice = (vector(joint.bias(q, tuple(k * v))) for k in (1.0, 2.0))
    is_quadratic = np.allclose(twice, 4.0 * once, atol=CLOSE)
    return "" if is_quadratic else "the bias is not quadratic in v: bias(q, 2 v) must be 4 bias(q, v)"


def _classical(samples: Samples, got: np.ndarray, true: np.ndarray) -> str:
    """Return whether it is the acceleration of the child's origin, which has w x (S v)_linear in addition."""
    twists = np.array([columns(samples.alone.motion_subspace(q)) @ v for q, v in samples.states])
    extra = np.pad(np.cross(twists[:, 3:], twists[:, :3]), ((0, 0), (0, 3)))
    if not np.allclose(got, true + extra[:, :, None], atol=CLOSE):
        return ""
    return "the bias is the acceleration of the child's origin, R^T d2p/dt2: the term -w x (S v)_linear is missing"


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
    in_subspace = _rate_cause(joint, samples, got, true) or error_of("S", np.array(got), np.array(true), samples.poses)
    return ", or ".join(filter(None, (in_subspace, _transform_cause(joint, samples, got))))


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


def _transform_cause(joint: Joint, samples: Samples, got: list[np.ndarray]) -> str:
    for words, change in VARIANTS.items():
        other = TransformAlone(joint, change)
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
