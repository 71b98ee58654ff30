"""Dynamics with closed loops: M a + h = tau + K^T l,  K a + k = 0.

The wrenches of the closing joints, T l, solve G l = -(K a_free + k), a_free the tree's own accelerations (`closed`).

L = M^-1 - M^-1 K^T G^+ K M^-1 is the inverse inertia of the closed mechanism: a change of tau changes a by L times it.
Efforts on a set A of coordinates that make a given motion satisfy

    L_AA tau_A = (L tau_tree)_A,        tau_tree = M a + h

by proximal steps, too, R the squares of what a drive moves, 1 / |S_i|^2: the smallest efforts if there are more drives
than freedoms, whatever the masses.

Source: Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (2021);
Featherstone (2008), section 8.5; Baumgarte, Stabilization of constraints and integrals of motion (1972).
Cost: that of `closed`; for inverse dynamics, its solution for each actuated coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.closed import Closed
from cardan._dynamics.algorithms.proximal import SHARING, proximal, regularization
from cardan._dynamics.algorithms.rnea import bias_forces, inverse_dynamics
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model

# scalars and wrenches here; arrays from the compiled functions
Coordinates = TypeVar("Coordinates")
Wrenches = TypeVar("Wrenches")


class ConstrainedDynamics(NamedTuple, Generic[Coordinates, Wrenches]):
    """Accelerations of a mechanism with loops.

    Attributes:
        accelerations: nv scalars.
        wrenches: of each closing joint, in the order of `Model.closures`, on its child, in its child frame.
        residual: K a + k of these accelerations, rows as those of `loop_jacobian`: 0 but for rounding if all is well.
    """

    accelerations: Coordinates
    wrenches: Wrenches
    residual: Coordinates


class ConstrainedEfforts(NamedTuple, Generic[Coordinates, Wrenches]):
    """Efforts that make a motion of a mechanism with loops.

    Attributes:
        efforts: nv scalars, 0 where nothing is actuated.
        wrenches: of each closing joint, on its child, in its child frame.
        unbalanced: nv scalars, efforts that are missing: 0 if the actuated coordinates can make the motion.
    """

    efforts: Coordinates
    wrenches: Wrenches
    unbalanced: Coordinates


def constrained_forward_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    tau: Vector,
    external_forces: Sequence[Force] | None = None,
    stabilization: float = 0.0,
) -> ConstrainedDynamics[list[Scalar], list[Force]]:
    """Return the accelerations that the efforts tau produce, and the wrenches of the closing joints.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        tau: joint efforts.
        external_forces: wrench on each body, in the body's own frame at its origin.
        stabilization: w [1/s]; K a + k = -2 w K v - w^2 r makes the gap r decay as exp(-w t).
    """
    closed = Closed(model, q)
    bias = bias_forces(model, q, v, external_forces)
    k = closed.bias(q, v, 2.0 * stabilization, stabilization * stabilization)
    multipliers, inwards = closed.close(closed.mass.inwards([t - b for t, b in zip(tau, bias, strict=True)]), k)
    a = closed.accelerations(inwards)
    return ConstrainedDynamics(a, closed.wrenches(multipliers), closed.residual(a, k))


def constrained_inverse_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    external_forces: Sequence[Force] | None = None,
    actuated: Sequence[int] | None = None,
) -> ConstrainedEfforts[list[Scalar], list[Force]]:
    """Return the efforts that produce the accelerations a, which the loops allow.

    Args:
        model: the robot.
        q: configuration.
        v: velocity.
        a: acceleration, K a + k = 0.
        external_forces: wrench on each body, in the body's own frame at its origin.
        actuated: the coordinates that have efforts; all by default.
    """
    closed = Closed(model, q)
    tree = inverse_dynamics(model, q, v, a, external_forces)
    chosen = range(model.nv) if actuated is None else actuated
    units = identity_rows(model.nv)
    columns = {i: closed.response(units[i]) for i in chosen}
    L = [[columns[max(i, j)][min(i, j)] for j in chosen] for i in chosen]
    wanted = closed.response(tree)
    weights = closed.drive_weights()
    R = [[weights[i] if i == j else 0.0 for j in chosen] for i in chosen]
    found = proximal(L, R, [wanted[i] for i in chosen], regularization(q, SHARING))
    own = dict(zip(chosen, found, strict=True))
    efforts = [own.get(i, 0.0) for i in range(model.nv)]
    lacking = [t - e for t, e in zip(tree, efforts, strict=True)]
    multipliers = [-e for e in closed.close(closed.mass.inwards(lacking)).multipliers]
    unbalanced = [e - carried for e, carried in zip(lacking, closed.efforts(multipliers), strict=True)]
    return ConstrainedEfforts(efforts, closed.wrenches(multipliers), unbalanced)
