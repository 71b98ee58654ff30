"""Mechanisms with closed loops: public compiled functions.

A model of a mechanism with loops is a spanning tree, with the coordinates q, and joints that close loops
(`Model.closures`), which have none and constrain q. Their nc constraints are rows in the order of
`Model.closure_names`, 6 - nv for each closing joint: lengths [m] or angles [rad] in which it is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from numpy.typing import ArrayLike

from cardan._algebra.errors import DTypeError, MechanismError, ParameterError
from cardan._dynamics.algorithms import ConstrainedDynamics, ConstrainedEfforts
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.dynamics import wrenches
from cardan._dynamics.functions.vocabulary import Reals, algorithms
from cardan._robot.model import Model


def with_loops(model: Model, where: str) -> Model:
    """Return a model that has loops, or raise `MechanismError`."""
    if not any(c.joint.num_constraints for c in model.closures):
        raise MechanismError(f"{where}: model {model.name!r} has no joint that closes a loop.")
    return model


@function
def loop_residual(model: Model, q: ArrayLike) -> Reals:
    """Return how far the closing joints are from closed.

    Args:
        model: a robot with closed loops.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Gaps [m, rad], shape (..., nc), in the order of `model.closure_names`; 0 where the loops are closed.

    Raises:
        MechanismError: if the model has no loops, or a closing joint's configuration is found by a search.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> bool(np.abs(cardan.loop_residual(linkage, cardan.assemble(linkage))).max() < 1e-12)
        True

    Peers: MuJoCo's data.efc_pos of an equality.

    Source: Featherstone (2008), section 8.2.
    """
    return algorithms.loop_residual(with_loops(model, "loop_residual"), q)


@function
def loop_jacobian(model: Model, q: ArrayLike) -> Reals:
    """Return K: velocities that keep the loops closed have K v = 0.

    It is the derivative of `loop_residual` where the loops are closed.

    Args:
        model: a robot with closed loops.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        K, shape (..., nc, nv), rows [m/s, rad/s] for each velocity of one.

    Raises:
        MechanismError: if the model has no loops.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> cardan.loop_jacobian(linkage, linkage.neutral()).shape[1] == linkage.nv
        True

    Peers: Pinocchio `getConstraintsJacobian`; MuJoCo's data.efc_J of an equality.

    Source: Featherstone (2008), section 8.2.
    """
    return algorithms.loop_jacobian(with_loops(model, "loop_jacobian"), q)


@function
def loop_bias(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return k: accelerations that keep the loops closed have K a + k = 0.

    Args:
        model: a robot with closed loops.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        k [m/s^2, rad/s^2], shape (..., nc).

    Raises:
        MechanismError: if the model has no loops.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> bool(np.allclose(cardan.loop_bias(linkage, q, rest), 0.0))
        True

    Source: Featherstone (2008), section 8.2.
    """
    return algorithms.loop_bias(with_loops(model, "loop_bias"), q, v)


@function(options=("stabilization",), simplified=True)
def constrained_forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    stabilization: float = 0.0,
) -> ConstrainedDynamics[Reals, Reals]:
    """Return the accelerations that the efforts tau produce while the loops stay closed, and what holds them.

    M a + h = tau + K^T l and K a + k = 0. Constraints may depend on one another (planar loops, Bennett's, a rod too
    many) and bodies may be light (to 1e-8 of the heaviest in float64, 1e-4 in float32): accelerations are right, and of
    all wrenches that hold the loops the smallest ones are returned.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq), with the loops closed (`assemble`).
        v: velocities [rad/s, m/s], shape (..., nv), that keep them closed (`project_velocity`).
        tau: joint efforts [N m, N], shape (..., nv).
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`.
        stabilization: rate w [1/s] at which gaps that rounding or integration made decay: K a + k = -2 w K v - w^2 r
            (Baumgarte, critically damped). None by default. A value between 1 and 0.2 / step does; the larger, the more
            it disturbs the motion while there is a gap.

    Returns:
        `ConstrainedDynamics(accelerations, wrenches, residual)`, shapes (..., nv), (..., closures, 6) and (..., nc):
        wrenches [force; moment] [N, N m] of the closing joints on their children, in their child frames; residual
        K a + k [m/s^2, rad/s^2], stabilization included, which is rounding (1e-12 of the largest acceleration, 1e-4 in
        float32) unless the masses are too far apart, or constraints clash: then the accelerations are not to be used.

    Derivatives by q (`cardan.derivative`) hold along motions that keep the rank of K; where a loop moves in spite of

    more constraints than it has freedoms (Bennett's), that is along motions that keep it closed.

    Raises:
        MechanismError: if the model has no loops.
        ParameterError: for a rate that is no number >= 0.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> found = cardan.constrained_forward_dynamics(linkage, q, rest, rest)
        >>> bool(np.abs(cardan.loop_jacobian(linkage, q) @ found.accelerations).max() < 1e-9)
        True

    Peers: Pinocchio `constraintDynamics`.

    Source: Carpentier, Budhiraja and Mansard (2021).
    """
    rate = _checked_rate(stabilization)
    return algorithms.constrained_forward_dynamics(
        with_loops(model, "constrained_forward_dynamics"), q, v, tau, wrenches(external_forces), rate
    )


@function(simplified=True)
def constrained_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    actuated: Sequence[str] | None = None,
) -> ConstrainedEfforts[Reals, Reals]:
    """Return the efforts of the actuated joints that produce the accelerations a of closed loops.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq), with the loops closed.
        v: velocities [rad/s, m/s], shape (..., nv), with K v = 0.
        a: accelerations [rad/s^2, m/s^2], shape (..., nv), with K a + k = 0, such as those of
            `constrained_forward_dynamics`.
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`.
        actuated: tuple of names of joints of the tree that have a drive; all by default. With more drives than
            freedoms, the efforts with the smallest sum of squares are returned, those of turning joints divided by a
            length of the bodies' size.

    Returns:
        `ConstrainedEfforts(efforts, wrenches, unbalanced)`, shapes (..., nv), (..., closures, 6), (..., nv): efforts
        [N m, N] are 0 where there is no drive; wrenches as for `constrained_forward_dynamics`. M a + h = efforts + K^T
        l + unbalanced, and unbalanced is 0 wherever these drives can make the motion.

    Raises:
        UnknownNameError, MechanismError: for a joint of `actuated` that does not exist, or closes a loop; if the model
            has no loops.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> q, rest = cardan.assemble(linkage), np.zeros(linkage.nv)
        >>> held = cardan.constrained_inverse_dynamics(linkage, q, rest, rest)
        >>> bool(np.allclose(held.unbalanced, 0.0))
        True

    Source: Carpentier, Budhiraja and Mansard (2021), Featherstone (2008), section 8.5; see `algorithms/constrained.py`.
    """
    chosen = None if actuated is None else joint_coordinates(model, actuated)
    return algorithms.constrained_inverse_dynamics(
        with_loops(model, "constrained_inverse_dynamics"), q, v, a, wrenches(external_forces), chosen
    )


def _checked_rate(rate: Any) -> float:
    if isinstance(rate, bool) or not isinstance(rate, Real) or not 0.0 <= float(rate) < float("inf"):
        raise ParameterError("stabilization", got=rate, expected="a finite rate >= 0 [1/s]")
    return float(rate)


def joint_coordinates(model: Model, names: Any) -> list[int]:
    """Return the velocity coordinates of joints of the tree."""
    if isinstance(names, str):
        raise DTypeError("loops", "joint names", got=f"the text {names!r}", expected=f"a tuple: ({names!r},)")
    for name in names:
        if name in model.closure_names:
            hint = "closes a loop and has no coordinates; choose another closing joint, model(closing=[...])"
            raise MechanismError(f"joint {name!r} {hint}.")
    own = {i for name in names for i in range(model.nv)[model.v_slice(name)]}
    return sorted(own)
