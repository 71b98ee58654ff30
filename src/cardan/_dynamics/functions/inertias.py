"""Inertias of links whose joints move freely, and of the whole robot, locked: public compiled functions."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from cardan._dynamics.algorithms.articulated import ArticulatedInertias
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.dynamics import without_loops
from cardan._dynamics.functions.vocabulary import Reals, algorithms
from cardan._robot.model import Model

Point = Literal["center_of_mass", "world"] | str
"""Where something of the whole robot is taken: its centre of mass, or the origin of a body or frame by name."""


@function
def articulated_inertias(model: Model, q: ArrayLike) -> ArticulatedInertias[Reals]:
    """Return the articulated-body inertias I^A of the links, and U = I^A S and D = S^T U + armature of their joints.

    I^A is what a link resists a push with while the joints beyond it move freely. These are the quantities of the
    articulated-body algorithm, `forward_dynamics`, by name.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        `ArticulatedInertias(inertia, U, D)`: I^A [kg, kg m, kg m^2], shape (..., nlinks, 6, 6), in the order of
        `model.link_names`, each in the child frame of its joint; U, (..., 6, nv), and D, (..., nv, nv), with columns
        along v. D has a block on its diagonal for each joint; its inverse is the acceleration by an effort of one while
        the links nearer to the root stand still.

    Raises:
        MechanismError: if joints move together (mimic joints, closed loops), or one moves nothing that has inertia.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> inertia, U, D = cardan.articulated_inertias(arm, q)
        >>> S = np.array(arm.joint("joint7").subspace(q[6:7]))
        >>> inertia.shape, bool(np.allclose(inertia[6] @ S, U[:, 6:7]))
        ((7, 6, 6), True)

    Peers: Pinocchio's data.Yaba (less U D^-1 U^T), U and Dinv of its joints' data after `aba`; Drake's articulated body
    inertia cache.

    Source: Featherstone (2008), table 7.1.
    """
    return algorithms.articulated_inertias(without_loops(model, "articulated_inertias"), q)


@function(returns=(6, 6))
def locked_inertia(model: Model, q: ArrayLike, *, at: Point = "center_of_mass", expressed_in: str = "world") -> Reals:
    """Return the inertia of the whole robot as one rigid body, its joints locked.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        at: the point it is about: `"center_of_mass"`, or the origin of `"world"` or of a body or frame by name.
        expressed_in: whose axes it is along: `"world"`, or a body or frame by name.

    Returns:
        Spatial inertias, shape (..., 6, 6), [linear; angular] [kg, kg m, kg m^2]: a twist at that point in these axes
        times them is the momentum. At the centre of mass the blocks are the mass times the identity, and the rotational
        inertia. Every body counts, those fixed on the world, too.

    Raises:
        UnknownNameError: for a frame that does not exist.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> inertia = cardan.locked_inertia(arm, q)
        >>> bool(np.allclose(inertia[:3, :3], arm.mass * np.eye(3))), bool(np.allclose(inertia[:3, 3:], 0.0))
        (True, True)

    Peers: iDynTree `getCentroidalRobotLockedInertia`, and `getRobotLockedInertia` with the base as `at` and
    `expressed_in`; Pinocchio's data.Ig after `ccrba`; Drake `CalcSpatialInertia`.

    Source: Orin, Goswami and Lee (2013), section 5.
    """
    return algorithms.locked_inertia(model, q, at, expressed_in)


@function(returns=(6,))
def average_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, *, at: Point = "center_of_mass", expressed_in: str = "world"
) -> Reals:
    """Return the twist with which the robot, its joints locked, has the momentum that it has: `locked_inertia` ^-1 h.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        at: as for `locked_inertia`.
        expressed_in: as for `locked_inertia`.

    Returns:
        Twists [linear; angular] [m/s, rad/s], shape (..., 6). At the centre of mass the linear part is its velocity.

    Raises:
        MechanismError: for a robot without mass, or one that together has no inertia about some axis.
        UnknownNameError: for a frame that does not exist.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> V = cardan.average_velocity(arm, q, v)
        >>> bool(np.allclose(cardan.locked_inertia(arm, q) @ V, cardan.centroidal_momentum(arm, q, v)))
        True

    Peers: iDynTree `getCentroidalAverageVelocity`, and `getAverageVelocity` with the base as `at` and `expressed_in`.

    Source: Orin, Goswami and Lee (2013), section 5; Traversaro, Pucci and Nori (2017).
    """
    return algorithms.average_velocity(model, q, v, at, expressed_in)
