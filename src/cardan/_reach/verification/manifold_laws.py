"""The laws of the configuration space: moving, coming back, rates."""

from __future__ import annotations

import numpy as np

from cardan._reach.verification.check import Ledger, check
from cardan._reach.verification.differences import derivative, entries, scaled
from cardan._reach.verification.samples import Samples, floats
from cardan._robot.joints import Joint


@check("integrate and difference", "difference(q, integrate(q, v)) = v,  integrate(q, 0) = q", 1e-10)
def inverse_maps(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Go and come back."""
    for q, v in samples.states:
        step = scaled(v, 0.3)
        ledger.see(joint.difference(q, joint.integrate(q, step)), step, q, step, label="v")
        still = joint.integrate(q, (0.0,) * joint.nv)
        ledger.see(entries(joint.transform(still)), entries(joint.transform(q)), q, label="pose of integrate(q, 0)")
        ledger.see(joint.normalize(joint.integrate(q, v)), joint.integrate(q, v), q, v, label="integrate(q, v)")


@check("velocity maps", "K(q) J(q) = 1 with dq/dt = J v, v = K dq/dt", 1e-10)
def velocity_maps(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Multiply the two maps, and use them."""
    for q, v in samples.states:
        J = np.array(joint.velocity_to_configuration_derivative_jacobian(q), dtype=float).reshape(joint.nq, joint.nv)
        K = np.array(joint.configuration_derivative_to_velocity_jacobian(q), dtype=float).reshape(joint.nv, joint.nq)
        ledger.see(K @ J, np.eye(joint.nv), q, label="K J")
        qdot = joint.velocity_to_configuration_derivative(q, v)
        ledger.see(qdot, J @ v, q, v, label="dq/dt")
        ledger.see(joint.configuration_derivative_to_velocity(q, qdot), v, q, v, label="v")


@check("rate of the coordinates", "d integrate(q, t v)/dt = J(q) v at t = 0")
def retraction(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Differentiate the motion."""
    for q, v in samples.states:
        rate, slack = derivative(lambda t, q=q, v=v: joint.integrate(q, scaled(v, t)), 0.05)
        expected = floats(joint.velocity_to_configuration_derivative(q, v))
        ledger.see(expected, rate, q, v, label="J v", slack=10.0 * slack)
    if ledger.failed:
        ledger.cause = (
            "the manifold's integrate and its velocity map belong to different velocities (body or parent frame)"
        )


@check("rate of the local coordinates", "d difference(q0, q(t))/dt = that of local_coordinates(q0, q, v)", 1e-8)
def chart_rates(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Differentiate the chart around another configuration."""
    for q, v in samples.states:
        q0 = joint.integrate(q, scaled(v, -0.3))
        rate, slack = derivative(
            lambda t, q=q, v=v, q0=q0: joint.difference(q0, joint.integrate(q, scaled(v, t))), 0.05
        )
        ledger.see(joint.local_coordinates(q0, q, v)[1], rate, q, v, label="rate", slack=10.0 * slack)


@check("preferred coordinates", "transform(principal_value(q)) = transform(normalize(q)) = transform(q)", 1e-10)
def representatives(joint: Joint, samples: Samples, ledger: Ledger) -> None:
    """Other coordinates of the same configuration have the same pose."""
    for q, X in zip(samples.q, samples.poses, strict=True):
        for name in ("principal_value", "normalize"):
            other = getattr(joint, name)(q)
            ledger.see(entries(joint.transform(other)), entries(X), q, label=f"transform({name}(q))")
