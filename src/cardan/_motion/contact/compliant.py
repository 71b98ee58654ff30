"""Compliant contact: Hunt and Crossley's normal force, Coulomb friction smoothed at small slip.

    f_n = k x+ (1 + d x')+,      x = depth, x' = its rate
    f_t = -mu f_n v_t / sqrt(|v_t|^2 + SLIP^2)

at the depth and velocity of the step's end, linearised in its acceleration: one solve a pass, continuous in everything,
for gradients and for small steps. Friction is that of the predicted normal force: where dt sqrt(k / m) > 1 take more
passes, or the convex law.

Source: Hunt and Crossley, Coefficient of restitution interpreted as damping in vibroimpact (1975).
Cost: one solution of the equation of motion a pass, 150 operations a contact.
"""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.scalar import is_zero, maximum, sqrt, where
from cardan._algebra.spatial import ArticulatedInertia, Force, Matrix3, Motion, Scalar, Symmetric3, Vector3
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.drives import JointForces
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.stepping import Solved
from cardan._motion.contact.equation import Response, equation_of_motion
from cardan._motion.contact.point import Contact

DISSIPATION = 1.0  # d [s/m] of a surface that does not say
SLIP = 1e-3  # the slip [m/s] at which friction is 1 / sqrt(2) of its limit: what creeps on a slope is of this size


def compliant(
    moment: Snapshot, elements: JointForces, contacts: Sequence[Contact], dt: float, iterations: int | None = None
) -> Solved:
    """Return the accelerations of an implicit step after so many passes, 1 by default."""
    passes = iterations or 1
    equation = equation_of_motion(moment, contacts, dt)
    contacts, lines = equation.contacts, elements.linear()

    def solved(responses: Sequence[Response]) -> tuple[list[Scalar], list[Motion]]:
        added = equation.without_contacts(elements.total(lines))
        a, changes = equation.solve(equation.together(added, responses))
        return a, [changes(k) for k in range(len(contacts))]

    responses = [response(c, c.velocity, -c.drift(dt), dt) for c in contacts]
    a, changes = solved(responses)
    for _ in range(passes - 1):
        lines = elements.linear(elements.on(lines, a), a)
        responses = [response(c, c.ahead(dt) + A * dt, A, dt) for c, A in zip(contacts, changes, strict=True)]
        a, changes = solved(responses)
    worst: Scalar = 0.0
    for c, line, A in zip(contacts, responses, changes, strict=True):
        error = line.at(A).linear - force(c, (c.ahead(dt) + A * dt).linear, dt)
        worst = maximum(worst, error.norm_squared() * (dt * c.inverse_mass) ** 2)
    residual = maximum(elements.residual(elements.on(lines, a), a), sqrt(worst))
    wrenches = [c.on_node(line.at(A)) for c, line, A in zip(contacts, responses, changes, strict=True)]
    return Solved(Accelerations(a, moment.changes(a)), residual, wrenches)


def force(contact: Contact, velocity: Vector3, dt: float) -> Vector3:
    """Return the force at a velocity of the points at the step's end."""
    normal, slipping, v_t, _ = _parts(contact, velocity, dt)
    return contact.normal * normal - v_t * slipping


def response(contact: Contact, twist: Motion, acceleration: Motion, dt: float) -> Response:
    """Return the force about a twist at the step's end and its acceleration J a, linearised in the latter."""
    normal, slipping, v_t, slope = _parts(contact, twist.linear, dt)
    n, tangential = contact.normal, dt * slipping
    Z = Symmetric3.outer_square(n) * (slope - tangential) + Symmetric3.isotropic(tangential)
    f = n * normal - v_t * slipping + Z @ acceleration.linear
    return Response(Force(f, Vector3.zero()), ArticulatedInertia(Z, Matrix3.zero(), Symmetric3.isotropic(0.0)))


def _parts(contact: Contact, velocity: Vector3, dt: float) -> tuple[Scalar, Scalar, Vector3, Scalar]:
    """Return f_n, mu f_n / |v_t|, v_t, and -d f_n / d(normal acceleration)."""
    k, d = contact.material.stiffness, contact.material.dissipation
    d = DISSIPATION if d is None else d
    v_n = contact.normal.dot(velocity)
    v_t = velocity - contact.normal * v_n
    depth, damping = maximum(-contact.gap - dt * v_n, 0.0), maximum(1.0 - d * v_n, 0.0)
    normal = k * depth * damping
    slope = where(normal > 0.0, dt * k * (d * depth + dt * damping), 0.0)
    mu = contact.material.friction
    slipping = 0.0 if is_zero(mu) else mu * normal / sqrt(v_t.norm_squared() + SLIP * SLIP)
    return normal, slipping, v_t, slope
