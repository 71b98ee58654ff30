"""Dynamics: public compiled functions.

Common to all: `model` is a `Model`; q has shape (..., nq), v, a and tau (..., nv); leading dimensions broadcast.
Velocities of joints are in rad/s and m/s, efforts in N m and N, along each degree of freedom.
"""

from __future__ import annotations

from typing import Any

from cardan import algorithms
from cardan.errors import MechanismError
from cardan.functions.function import function
from cardan.model import Model, economical
from cardan.spatial import Force


def wrenches(external_forces: Any) -> list[Force] | None:
    """Return rows of six scalars as wrenches."""
    return None if external_forces is None else [Force.of(tuple(row)) for row in external_forces]


def without_loops(model: Model, where: str) -> Model:
    """Return a model that has no loops, or raise `MechanismError`."""
    closing = [c.name for c in model.closures if c.joint.num_constraints]
    if closing:
        names = ", ".join(map(repr, closing[:4])) + (", ..." if len(closing) > 4 else "")
        raise MechanismError(
            f"{where}: model {model.name!r} has closed loops (joints {names}), which its tree knows nothing of; use "
            "cardan.constrained_forward_dynamics, or model.spanning_tree() if the loops shall be left open."
        )
    return model


@function(returns=("nv",))
def inverse_dynamics(model, q, v, a, external_forces=None):
    """Return the joint efforts tau = M a + C v + g - J^T f that produce the accelerations a.

    Args:
        model: the robot.
        q: configurations, shape (..., nq).
        v: velocities, shape (..., nv).
        a: accelerations, shape (..., nv).
        external_forces: wrenches [force; moment] on the bodies [N, N m], shape (..., nbodies, 6), in the order of
            `model.body_names`, each in its body's own frame at its origin; none by default.

    Returns:
        Efforts, shape (..., nv). Armature is included, joint damping and friction are not (`passive_forces`). Of a
        model with closed loops, those of its spanning tree, the loops left open (`constrained_inverse_dynamics`).

    Source: Luh, Walker and Paul (1980); Featherstone (2008), table 5.1.
    """
    return algorithms.inverse_dynamics(economical(model), q, v, a, wrenches(external_forces))


@function(returns=("nv",))
def forward_dynamics(model, q, v, tau, external_forces=None):
    """Return the accelerations a = M^-1 (tau - C v - g + J^T f) that the efforts tau produce.

    Args:
        model: the robot.
        q: configurations, shape (..., nq).
        v: velocities, shape (..., nv).
        tau: joint efforts, shape (..., nv).
        external_forces: as for `inverse_dynamics`.

    Returns:
        Accelerations, shape (..., nv).

    Raises:
        MechanismError: if the model has closed loops (`constrained_forward_dynamics`).

    Source: Featherstone (1983); Featherstone (2008), table 7.1.
    """
    model = without_loops(model, "forward_dynamics")
    return algorithms.forward_dynamics(economical(model), q, v, tau, wrenches(external_forces))


@function(returns=("nv", "nv"))
def mass_matrix(model, q):
    """Return the joint-space mass matrix M, shape (..., nv, nv), symmetric; armature is on its diagonal.

    Source: Walker and Orin (1982); Featherstone (2008), table 6.2.
    """
    return algorithms.mass_matrix(economical(model), q)


@function(returns=("nv", "nv"))
def mass_matrix_inverse(model, q):
    """Return the inverse of the mass matrix, shape (..., nv, nv), by the articulated body algorithm."""
    return algorithms.mass_matrix_inverse(economical(model), q)


@function(returns=("nv", "nv"))
def coriolis_matrix(model, q, v):
    """Return a Coriolis matrix C, shape (..., nv, nv): C v + g is the bias and dM/dt - 2 C is skew-symmetric.

    Both hold for joints of every kind. (C is not unique; only C v is.)

    Source: Niemeyer and Slotine (1991); Echeandia and Wensing (2021).
    """
    return algorithms.coriolis_matrix(model, q, v)


@function(returns=("nv",))
def bias_forces(model, q, v, external_forces=None):
    """Return C v + g - J^T f, shape (..., nv): the efforts at zero acceleration."""
    return algorithms.bias_forces(economical(model), q, v, wrenches(external_forces))


@function(returns=("nv",))
def gravity_forces(model, q):
    """Return g, shape (..., nv): the efforts that hold the robot still against gravity."""
    return algorithms.gravity_forces(economical(model), q)


@function(returns=("nv",))
def passive_forces(model, v):
    """Return damping v + friction sign(v), shape (..., nv): what the joints' own resistance takes from the drives.

    `inverse_dynamics(...) + passive_forces(model, v)` is what the drives must give.
    """
    return algorithms.passive_forces(model, v)


@function
def torque_regressor(model, q, v, a):
    """Return Y, shape (..., nv, 10 nbodies): tau = Y p with p = `model.inertial_parameters()`.

    Armature is not among the parameters: Y p is the inverse dynamics of the robot without it.

    Source: Atkeson, An and Hollerbach (1986).
    """
    return algorithms.torque_regressor(model, q, v, a)
