"""Dynamics with closed loops: M a + h = tau + K^T l,  K a + k = 0; at an impact M (v' - v) = K^T L,  K v' = -e K v.

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

import math
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from cardan._algebra.checked_numbers import not_negative
from cardan._algebra.errors import MechanismError, ParameterError
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.scalar import absolute, is_zero, where
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms.closed import Closed, Solver
from cardan._dynamics.algorithms.embedding import Embedded
from cardan._dynamics.algorithms.implicit import Snapshot, unbalanced
from cardan._dynamics.algorithms.linear import SingularError, dot
from cardan._dynamics.algorithms.loops import check_no_accelerations, joint_coordinates, with_loops
from cardan._dynamics.algorithms.proximal import SHARING, Semidefinite, regularization
from cardan._dynamics.algorithms.proximal_loops import Solved
from cardan._dynamics.algorithms.rnea import inverse_dynamics, node_forces
from cardan._dynamics.call.public import ArrayLike, Reals, public
from cardan._robot.model import Model

# scalars and wrenches here; arrays from the compiled functions
DERIVATIVES = "constrained_inverse_dynamics_derivatives"
Coordinates = TypeVar("Coordinates")
Wrenches = TypeVar("Wrenches")


class ConstrainedDynamics(NamedTuple, Generic[Coordinates, Wrenches]):
    """Accelerations of a mechanism with loops, and what holds them.

    Attributes:
        accelerations: a [rad/s^2, m/s^2], shape (..., nv).
        wrenches: [force; moment] [N, N m] of the closing joints on their children, in their child frames, shape
            (..., closures, 6), in the order of `model.closure_names`.
        residual: K a + k [m/s^2, rad/s^2], stabilization included, shape (..., nc), rows as those of `loop_jacobian`.
            It is rounding (1e-12 of the largest acceleration, 1e-4 in float32) unless the masses are too far apart, or
            constraints clash: then the accelerations are not to be used.
    """

    accelerations: Coordinates
    wrenches: Wrenches
    residual: Coordinates


class ConstrainedEfforts(NamedTuple, Generic[Coordinates, Wrenches]):
    """Efforts that make a motion of a mechanism with loops: M a + h = efforts + K^T l + unbalanced.

    Attributes:
        efforts: [N m, N], shape (..., nv), 0 where there is no drive.
        wrenches: of the closing joints, shape (..., closures, 6), as for `constrained_forward_dynamics`.
        unbalanced: efforts that are missing [N m, N], shape (..., nv): 0 wherever these drives can make the motion.
    """

    efforts: Coordinates
    wrenches: Wrenches
    unbalanced: Coordinates


@public(result=ConstrainedDynamics[Reals, Reals], options=("stabilization",), simplified=True)
def constrained_forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    stabilization: float = 0.0,
) -> ConstrainedDynamics[list[Scalar], list[Force]]:
    """Return the accelerations that the efforts tau produce while the loops stay closed, and what holds them.

    M a + h = tau + K^T l and K a + k = 0. Constraints may depend on one another (planar loops, Bennett's, a rod too
    many) and bodies may be light (to 1e-8 of the heaviest in float64, 1e-4 in float32): accelerations are right, and of
    all wrenches that hold the loops the smallest ones are returned.

    Derivatives by q (`cardan.derivative`) hold along motions that keep the rank of K. If a loop moves in spite of more
    constraints than it has freedoms (Bennett's), that is along motions that keep it closed.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed (`assemble`).
        v: velocities [rad/s, m/s], shape (..., nv), that keep them closed (`project_velocity`).
        stabilization: rate w [1/s] at which gaps that rounding or integration made decay: K a + k = -2 w K v - w^2 r
            (Baumgarte, critically damped). None by default. A value between 1 and 0.2 / step does; the larger, the more
            it disturbs the motion while there is a gap.

    Raises:
        MechanismError: if the model has no loops.
        ParameterError: for a rate that is no number >= 0.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> found = cardan.constrained_forward_dynamics(linkage, q, rest, rest)
        >>> bool(np.abs(cardan.loop_jacobian(linkage, q) @ found.accelerations).max() < 1e-9)
        True

    Peers: Pinocchio `constraintDynamics`.
    """
    with_loops(model, "constrained_forward_dynamics")
    rate = not_negative("stabilization", stabilization, "1/s")
    closed = Closed(model, q)
    moment, forces = Snapshot(model, q, v), node_forces(model, external_forces)
    k = closed.opening(q, v, None, 2.0 * rate, rate * rate)
    p = list(moment.p)
    for i, force in forces:
        p[i] = p[i] - force
    found = closed.solve(tau, k, p)
    a, multipliers = closed.with_derivatives(
        found,
        lambda a: unbalanced(moment, a, forces, tau),
        lambda a: closed.opening(q, v, a, 2.0 * rate, rate * rate),
    )
    return ConstrainedDynamics(a, closed.wrenches(multipliers), closed.residual(a, k))


class Impact(NamedTuple, Generic[Coordinates, Wrenches]):
    """What happens to a mechanism whose loops close in a moment.

    Attributes:
        velocities: v' [rad/s, m/s] after it, shape (..., nv).
        impulses: [force; moment] [N s, N m s] of the closing joints on their children, in their child frames, shape
            (..., closures, 6), in the order of `model.closure_names`.
    """

    velocities: Coordinates
    impulses: Wrenches


@public(result=Impact[Reals, Reals], shapes={"restitution": ()}, simplified=True, bounds={"restitution": (0.0, 1.0)})
def impact(
    model: Model, q: ArrayLike, v: ArrayLike, restitution: ArrayLike | None = None
) -> Impact[list[Scalar], list[Force]]:
    """Return the velocities just after the loops close, all in one moment, and the impulses that close them.

    M (v' - v) = K^T L and K v' = -e K v. A foot that lands, and holds, is a joint between it and the world.
    With e = 0 the kinetic energy that is lost is that of v' - v (Carnot), with e = 1 none is. Closing joints pull, too:
    if an impulse must push only, judge it, or simulate a world with contact.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities just before [rad/s, m/s], shape (..., nv); they need not keep the loops closed.
        restitution: e [-], shape (...), from 0 (the loops stay closed) to 1; 0 by default. For others all is NaN
            where a program is called without its checks: as C, in JAX.

    Raises:
        MechanismError: if the model has no loops.
        ParameterError: for a restitution that is none, with the row.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q = cardan.assemble(linkage)
        >>> after = cardan.impact(linkage, q, [1.0, 0.0, 0.0]).velocities
        >>> bool(np.abs(cardan.loop_jacobian(linkage, q) @ after).max() < 1e-12)
        True

    Peers: Pinocchio `impulseDynamics`.
    """
    with_loops(model, "impact")
    e: Scalar = 0.0
    if restitution is not None:  # without the checks of a call, what cannot be is said by NaN
        e = where(absolute(restitution - 0.5) <= 0.5, restitution, math.nan)
    closed = Closed(model, q)
    check_no_accelerations("impact", closed.moving)
    approach = closed.rate(q, v)
    change, impulses = closed.solve([0.0] * model.nv, [(1.0 + e) * rate for rate in approach])
    found = Solved([a + b for a, b in zip(v, change, strict=True)], impulses)
    after, multipliers = closed.with_derivatives(
        found,
        lambda u: [dot(row, [b - a for a, b in zip(v, u, strict=True)]) for row in closed.M],
        lambda u: [b + e * a for a, b in zip(approach, closed.rate(q, u), strict=True)],
    )
    return Impact(after, closed.wrenches(multipliers))


@public(result=ConstrainedEfforts[Reals, Reals], simplified=True)
def constrained_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    actuated: Sequence[str] | None = None,
) -> ConstrainedEfforts[list[Scalar], list[Force]]:
    """Return the efforts of the actuated joints that produce the accelerations a of closed loops.

    Args:
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities [rad/s, m/s], shape (..., nv), with K v = 0.
        a: accelerations [rad/s^2, m/s^2], shape (..., nv), with K a + k = 0, such as those of
            `constrained_forward_dynamics`.
        actuated: tuple of names of joints of the tree that have a drive; all by default. With more drives than
            freedoms, the efforts with the smallest sum of squares are returned, those of turning joints divided by a
            length of the bodies' size.

    Raises:
        UnknownNameError, MechanismError: for a joint of `actuated` that does not exist, or closes a loop; if the model
            has no loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> held = cardan.constrained_inverse_dynamics(linkage, q, rest, rest)
        >>> bool(np.allclose(held.unbalanced, 0.0))
        True
    """
    with_loops(model, "constrained_inverse_dynamics")
    chosen = range(model.nv) if actuated is None else joint_coordinates(model, actuated)
    closed = Closed(model, q)
    tree = inverse_dynamics.kernel(model, q, v, a, external_forces)
    weights = closed.drive_weights()
    units = identity_rows(model.nv)

    def found(solver: Solver) -> ConstrainedEfforts[list[Scalar], list[Scalar]]:
        columns = {i: solver.solve(units[i]).a for i in chosen}
        # each pair once: the factorisation reads one triangle, the residual of a step both
        L = [[columns[max(i, j)][min(i, j)] for j in chosen] for i in chosen]
        wanted = solver.solve(tree).a
        R = [[weights[i] if i == j else 0.0 for j in chosen] for i in chosen]
        own = dict(
            zip(chosen, Semidefinite(L, R, regularization(q, SHARING)).solve([wanted[i] for i in chosen]), strict=True)
        )
        efforts = [own.get(i, 0.0) for i in range(model.nv)]
        lacking = [t - e for t, e in zip(tree, efforts, strict=True)]
        # l' has K M^-1 (lacking + K^T l') = 0, and lacking = K^T l + unbalanced: l = -l'
        multipliers = [-e for e in solver.solve(lacking).multipliers]
        unbalanced = [e - carried for e, carried in zip(lacking, closed.efforts(multipliers), strict=True)]
        return ConstrainedEfforts(efforts, multipliers, unbalanced)

    efforts, multipliers, unbalanced = closed.by_either(found)
    return ConstrainedEfforts(efforts, closed.wrenches(multipliers), unbalanced)


@public(shapes={"efforts": ("nv",)}, simplified=True)
def loop_multipliers(model: Model, q: ArrayLike, efforts: ArrayLike) -> list[Scalar]:
    """Return the multipliers l of efforts that constraints make, K^T l: what each row of `loop_jacobian` pulls with.

    A motion leaves to them what it asks of the tree beyond tau, inverse_dynamics - tau, an impact M (v' - v).

    Args:
        model: a robot with closed loops, or with constraints (`with_constraints`).
        efforts: K^T l [N m, N], or [N m s, N s], shape (..., nv). Of others, the part that no motion feels counts.

    Returns:
        l [N, N m], where rows are m/s and rad/s, shape (..., nc). If rows depend on one another, the smallest ones.

    Raises:
        MechanismError: if the model has no loops and no constraints.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> a = cardan.constrained_forward_dynamics(linkage, q, rest, rest).accelerations
        >>> held = cardan.inverse_dynamics(linkage.spanning_tree(), q, rest, a)
        >>> bool(np.allclose(cardan.loop_jacobian(linkage, q).T @ cardan.loop_multipliers(linkage, q, held), held))
        True
    """
    with_loops(model, "loop_multipliers")
    closed = Closed(model, q)
    b = [-e for e in efforts]

    def lacking(a: ArrayLike) -> list[Scalar]:
        return [dot(row, a) - e for row, e in zip(closed.M, b, strict=True)]

    return closed.rows(closed.with_derivatives(closed.solve(b), lacking, closed.along).multipliers)


def sufficient_efforts(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    actuated: Sequence[str] | None = None,
) -> ConstrainedEfforts[list[Scalar], list[Force]]:
    """Return the efforts of drives that can make every motion, as `constrained_inverse_dynamics`, to differentiate.

    They are W E^T z of the z with E W E^T z + K^T l = M a + h, K z = 0: the least in sum tau_i^2 / W_i, W = |S_i|^2.
    """
    with_loops(model, DERIVATIVES)
    chosen = range(model.nv) if actuated is None else joint_coordinates(model, actuated)
    closed = Closed(model, q)
    W = [e if i in chosen else 0.0 for i, e in enumerate(closed.extents())]
    embedded = _embedding_of_drives(closed, W, actuated)
    tree = inverse_dynamics.kernel(model, q, v, a, external_forces)
    still: list[Scalar] = [0.0] * model.nv
    z, multipliers = closed.differentiated(
        embedded,
        embedded.solve(tree),
        lambda z: [w * e - t for w, e, t in zip(W, z, tree, strict=True)],
        closed.along,
    )
    wrenches = closed.wrenches([-e for e in multipliers])
    return ConstrainedEfforts([w * e for w, e in zip(W, z, strict=True)], wrenches, still)


def _embedding_of_drives(closed: Closed, W: Sequence[Scalar], actuated: Sequence[str] | None) -> Embedded:
    """Return the equation E W E^T z + K^T l = b; an error where the drives cannot make all motions."""
    expected = "joints that move every freedom of the mechanism: these cannot make all motions"
    try:
        embedded = closed.embedding([[w if i == j else 0.0 for j in range(len(W))] for i, w in enumerate(W)])
    except SingularError:
        raise ParameterError(f"{DERIVATIVES}: actuated", got=actuated, expected=expected) from None
    if embedded is None:
        raise MechanismError(
            f"{DERIVATIVES}: loops of model {closed.model.name!r} depend on one another where they are closed, so that "
            "no coordinates follow from others; use cardan.derivative(cardan.constrained_inverse_dynamics, ...)."
        )
    if sum(not is_zero(w) for w in W) < len(embedded.free):
        raise ParameterError(f"{DERIVATIVES}: actuated", got=actuated, expected=expected)
    return embedded
