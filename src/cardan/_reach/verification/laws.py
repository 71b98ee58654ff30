"""Laws of the transform and of the configuration space: rigid motions, inverses, limits, rates, related joints."""

from __future__ import annotations

from functools import partial

import numpy as np

from cardan._algebra.errors import ReachError
from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.spatial import SE3, Motion
from cardan._reach.verification.check import Ledger, Skip, check
from cardan._reach.verification.samples import Samples, columns, entries, floats, rate_along, scaled, vector
from cardan._robot.joints import Joint, Limits, Reversed, reverse
from cardan._robot.joints.first_checks import rotation_fault

OFF = 1.3  # factor that takes a constrained configuration off its manifold


@check("rigid motion", "R^T R = 1, det R = 1", 1e-12)
def rigid(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, X in zip(samples.q, samples.poses, strict=True):
        _see_rotation(X, q, ledger)
    if ledger.failed and (fault := rotation_fault([_rotation(X) for X in samples.poses], ledger.tolerance)):
        ledger.cause = f"{fault.what}; {fault.cure}"


@check("off the manifold", "transform(k q) is a rigid motion, that of normalize(k q)", 1e-12)
def off_manifold(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Rounding and integrators leave the manifold; the transform must come back to it."""
    moved = [tuple(OFF * e for e in q) for q in samples.q]  # off every unit circle and sphere, and on every line
    back = [floats(joint.normalize(q)) for q in moved]
    if all(np.allclose(a, b) for a, b in zip(moved, back, strict=True)):
        raise Skip("every q is on the manifold")
    for q, normal in zip(moved, back, strict=True):
        X = joint.transform(q)
        _see_rotation(X, q, ledger)
        ledger.see(entries(X), entries(joint.transform(normal)), q, label="[R row by row, p]")
    if ledger.failed:
        ledger.cause = "transform uses its coordinates as they come; divide them by their norm first"


def _see_rotation(X: SE3, q: tuple[float, ...], ledger: Ledger) -> None:
    R = _rotation(X)
    ledger.see(R.T @ R, np.eye(3), q, label="R^T R")
    ledger.see(np.linalg.det(R), 1.0, q, label="det R")


def _rotation(X: SE3) -> np.ndarray:
    return np.array([list(row) for row in X.rotation.rows()], dtype=float)


@check("inverse of transform", "transform(configuration_from_transform(X)) = X", 1e-6)
def round_trip(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    kept, off = 0, 0.0
    # Each is a search: six are enough to find a wrong inverse.
    for q, X in zip(samples.q[:6], samples.poses, strict=False):
        try:
            found = floats(joint.configuration_from_transform(X))
        except ReachError as error:
            ledger.fail(f"the configuration found has a pose {error.residual:.3g} away", q)
            ledger.cause = (
                "nearest_configuration is not the inverse of transform"
                if type(joint).nearest_configuration is not Joint.nearest_configuration
                else "the search did not find q: S may be wrong, or q far from the random configurations; "
                "give the joint its own nearest_configuration"
            )
            return
        ledger.see(entries(joint.transform(found)), entries(X), q, label="[R row by row, p]")
        gap = np.abs(np.array(joint.difference(q, found), dtype=float)).max(initial=0.0)
        kept, off = kept + (gap < 1e-6), max(off, float(gap))
    if kept < min(6, len(samples.q)):
        ledger.note = f"another q with the same pose was found at {min(6, len(samples.q)) - kept} of 6 poses"


@check("limits", "random configurations keep to the limits, lower <= limit_coordinates(q) <= upper")
def limits(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    if not joint.nv:
        raise Skip("there is nothing to limit")
    low, high = finite_range(samples.bounds.lower, samples.bounds.upper, 0.5)
    # A box of its own for each coordinate: exchanged ones are found.
    lower, upper = low + 0.1 * (high - low), low + np.linspace(0.6, 0.8, joint.nv) * (high - low)
    bounds = Limits(lower=lower.tolist(), upper=upper.tolist())
    for q in joint.random_configuration((32,), seed=samples.seed, limits=bounds):
        x = np.array(joint.manifold.limit_coordinates(floats(q)), dtype=float)
        ledger.see(x, np.clip(x, lower, upper), floats(q), label="limit coordinates")


@check("integrate and difference", "difference(q, integrate(q, v)) = v,  integrate(q, 0) = q", 1e-10)
def inverse_maps(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        step = scaled(v, 0.3)
        ledger.see(joint.difference(q, joint.integrate(q, step)), step, q, step, label="v")
        still = joint.integrate(q, (0.0,) * joint.nv)
        ledger.see(entries(joint.transform(still)), entries(joint.transform(q)), q, label="pose of integrate(q, 0)")
        ledger.see(joint.normalize(joint.integrate(q, v)), joint.integrate(q, v), q, v, label="integrate(q, v)")


@check("velocity maps", "K(q) J(q) = 1 with dq/dt = J v, v = K dq/dt", 1e-10)
def velocity_maps(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        J = np.array(joint.velocity_to_configuration_derivative_jacobian(q), dtype=float).reshape(joint.nq, joint.nv)
        K = np.array(joint.configuration_derivative_to_velocity_jacobian(q), dtype=float).reshape(joint.nv, joint.nq)
        ledger.see(K @ J, np.eye(joint.nv), q, label="K J")
        qdot = joint.velocity_to_configuration_derivative(q, v)
        ledger.see(qdot, J @ v, q, v, label="dq/dt")
        ledger.see(joint.configuration_derivative_to_velocity(q, qdot), v, q, v, label="v")


@check("rate of the coordinates", "d integrate(q, t v)/dt = J(q) v at t = 0")
def retraction(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        rate, slack = rate_along(joint, q, v, lambda moved: moved, 0.05)
        expected = floats(joint.velocity_to_configuration_derivative(q, v))
        ledger.see(expected, rate, q, v, label="J v", slack=10.0 * slack)
    if ledger.failed:
        different = "different velocities (body or parent frame)"
        ledger.cause = f"the manifold's integrate and its velocity map belong to {different}"


@check("rate of the local coordinates", "d difference(q0, q(t))/dt = that of local_coordinates(q0, q, v)", 1e-8)
def chart_rates(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, v in samples.states:
        q0 = joint.integrate(q, scaled(v, -0.3))
        rate, slack = rate_along(joint, q, v, partial(joint.difference, q0), 0.05)
        ledger.see(joint.local_coordinates(q0, q, v)[1], rate, q, v, label="rate", slack=10.0 * slack)


@check("preferred coordinates", "transform(principal_value(q)) = transform(normalize(q)) = transform(q)", 1e-10)
def representatives(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for q, X in zip(samples.q, samples.poses, strict=True):
        for name in ("principal_value", "normalize"):
            other = getattr(joint, name)(q)
            ledger.see(entries(joint.transform(other)), entries(X), q, label=f"transform({name}(q))")


@check("reversal", "X_rev = X^-1,  S_rev = -Ad(X) S,  bias_rev = -Ad(X) bias", 1e-10)
def reversal(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    for other in (Reversed(joint), reverse(joint)) if not isinstance(joint, Reversed) else (reverse(joint),):
        for (q, v), X in zip(samples.states, samples.poses, strict=True):
            Ad = np.array(X.adjoint(), dtype=float)
            ledger.see(entries(other.transform(q)), entries(X.inverse()), q, label="X_rev")
            ledger.see(columns(other.motion_subspace(q)), -Ad @ columns(joint.motion_subspace(q)), q, label="S_rev")
            there: Motion = other.bias(q, v)
            ledger.see(vector(there), -Ad @ vector(joint.bias(q, v)), q, v, label="bias_rev")
    if ledger.failed:
        ledger.cause = "the reversal of this joint is in closed form and does not belong to it"


@check("equivalent chain", "X, S and bias are those of equivalent_chain(), with the same q and v", 1e-9)
def equivalence(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    stated = getattr(joint, "equivalent_chain", None)
    if stated is None:
        raise Skip("the class has no equivalent_chain() that returns a joint, such as a Composite")
    chain = stated() if callable(stated) else stated
    if not isinstance(chain, Joint) or (chain.nq, chain.nv) != (joint.nq, joint.nv):
        ledger.fail(f"equivalent_chain() returns {chain!r}")
        ledger.cause = f"it must return a joint of nq = {joint.nq}, nv = {joint.nv}"
        return
    for q, v in samples.states:
        ledger.see(entries(joint.transform(q)), entries(chain.transform(q)), q, label="[R row by row, p]")
        ledger.see(columns(joint.motion_subspace(q)), columns(chain.motion_subspace(q)), q, label="S")
        ledger.see(vector(joint.bias(q, v)), vector(chain.bias(q, v)), q, v, label="bias")
    if ledger.failed:
        ledger.cause = "the chain has another placement, axis or order of coordinates than the joint"
