"""Dynamics: public compiled functions.

Common to all: `model` is a `Model`; q has shape (..., nq), v, a and tau (..., nv); leading dimensions broadcast.
Velocities of joints are in rad/s and m/s, efforts in N m and N, along each degree of freedom.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import Force
from cardan._dynamics.call.function import function
from cardan._dynamics.functions.vocabulary import Reals, Reference, algorithms
from cardan._robot.model import Model


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


@function(returns=("nv",), simplified=True)
def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_forces: ArrayLike | None = None
) -> Reals:
    """Return the joint efforts tau = M a + C v + g - J^T f that produce the accelerations a.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        external_forces: wrenches [force; moment] on the bodies [N, N m], shape (..., nbodies, 6), in the order of
            `model.body_names`, each in its body's own frame at its origin; none by default.

    Returns:
        Efforts [N m, N], shape (..., nv). Armature is included, joint damping and friction are not (`passive_forces`).
        Of a model with closed loops, those of its spanning tree, the loops left open (`constrained_inverse_dynamics`).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> cardan.inverse_dynamics(arm, q, v, a).shape
        (7,)
        >>> batch = arm.random_configuration((4096,), seed=0)
        >>> cardan.inverse_dynamics(arm, batch, v, a).shape
        (4096, 7)

    Peers: Pinocchio `rnea`, MuJoCo `mj_inverse` `mj_rne`, Drake `CalcInverseDynamics`, iDynTree `inverseDynamics`,
    Newton `eval_inverse_dynamics_force`, RigidBodyDynamics.jl `inverse_dynamics`, roboticstoolbox `rne`.

    Source: Luh, Walker and Paul (1980); Featherstone (2008), table 5.1.
    """
    return algorithms.inverse_dynamics(model, q, v, a, wrenches(external_forces))


@function(returns=("nbodies", 6))
def joint_wrenches(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external_forces: ArrayLike | None = None
) -> Reals:
    """Return the wrenches that go through the joints, all six components: what their bearings and sensors feel.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`.

    Returns:
        Wrenches [force; moment] [N, N m], shape (..., joints, 6), in the order of `model.joint_names`, fixed and mimic
        joints among them: of the parent on the child, in the joint's child frame (where `child_pose` places it on the
        child) at its origin. Along the freedoms, S^T f, they are the efforts of `inverse_dynamics`, less armature times
        acceleration: a rotor's own inertia is not felt by the bearing. A base that floats freely transmits nothing.

    Raises:
        MechanismError: if the model has closed loops, whose forces are not determined by the tree: give those of the
            joints that close them as external forces on `model.spanning_tree()`.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> f = cardan.joint_wrenches(arm, q, v, a)
        >>> wrist = f[arm.joint_names.index("joint7")]
        >>> S = np.array(arm.joint("joint7").subspace(q[6:7]))
        >>> bool(np.allclose(S.T @ wrist + arm.passive("armature")[6] * a[6], cardan.inverse_dynamics(arm, q, v, a)[6]))
        True

    Peers: Pinocchio's data.f after `rnea`, MuJoCo's data.cfrc_int (about the centre of mass, moment first), iDynTree
    `inverseDynamicsWithInternalJointForceTorques`, RigidBodyDynamics.jl's jointwrenches of `inverse_dynamics!`, Drake's
    reaction forces.

    Source: Featherstone (2008), table 5.1, equations 5.9 and 5.10.
    """
    model = without_loops(model, "joint_wrenches")
    return algorithms.joint_wrenches(model, q, v, a, wrenches(external_forces))


@function(returns=("nv",), simplified=True)
def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external_forces: ArrayLike | None = None
) -> Reals:
    """Return the accelerations a = M^-1 (tau - C v - g + J^T f) that the efforts tau produce.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        tau: joint efforts [N m, N], shape (..., nv).
        external_forces: wrenches on the bodies [N, N m], as for `inverse_dynamics`.

    Returns:
        Accelerations [rad/s^2, m/s^2], shape (..., nv).

    Raises:
        MechanismError: if the model has closed loops (`constrained_forward_dynamics`).
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> tau = cardan.inverse_dynamics(arm, q, v, a)
        >>> bool(np.allclose(cardan.forward_dynamics(arm, q, v, tau), a))
        True

    Peers: Pinocchio `aba`, MuJoCo `mj_forward`, RigidBodyDynamics.jl `dynamics`, roboticstoolbox `accel`.

    Source: Featherstone (1983); Featherstone (2008), table 7.1.
    """
    model = without_loops(model, "forward_dynamics")
    return algorithms.forward_dynamics(model, q, v, tau, wrenches(external_forces))


@function(returns=("nv", "nv"), simplified=True)
def mass_matrix(model: Model, q: ArrayLike, *, packed: bool = False) -> Reals:
    """Return the joint-space mass matrix M: the kinetic energy is v^T M v / 2.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        packed: whether to return the entries at `packed_indices(mass_matrix, model)` alone, shape (..., n).

    Returns:
        M [kg m^2, kg m, kg], shape (..., nv, nv), symmetric; armature is on its diagonal.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> M = cardan.mass_matrix(arm, q)
        >>> bool(np.isclose(v @ M @ v / 2, cardan.kinetic_energy(arm, q, v)))
        True

    Peers: Pinocchio `crba`, MuJoCo `mj_fullM`, Drake `CalcMassMatrix`, iDynTree `getFreeFloatingMassMatrix`, Newton
    `eval_mass_matrix`, RigidBodyDynamics.jl `mass_matrix`, roboticstoolbox `inertia`.

    Source: Walker and Orin (1982); Featherstone (2008), table 6.2.
    """
    M = algorithms.mass_matrix(model, q)
    return algorithms.mass_matrix_entries(model).of(M) if packed else M


@function(returns=("nv", "nv"), simplified=True)
def mass_matrix_inverse(model: Model, q: ArrayLike, *, packed: bool = False) -> Reals:
    """Return the inverse of the mass matrix.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        packed: whether to return the entries at `packed_indices(mass_matrix_inverse, model)` alone, shape (..., n).

    Returns:
        M^-1, shape (..., nv, nv) [1/(kg m^2), 1/kg], symmetric.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> identity = cardan.mass_matrix_inverse(arm, q) @ cardan.mass_matrix(arm, q)
        >>> bool(np.allclose(identity, np.eye(7)))
        True

    Peers: Pinocchio `computeMinverse`.

    Source: Featherstone (2008), section 6.5 (the factors L^T D L of M), or table 7.1 on unit efforts in deep trees; see
    `algorithms/mass_inverse.py`.
    """
    inverse = algorithms.mass_matrix_inverse(model, q)
    return algorithms.mass_matrix_inverse_entries(model).of(inverse) if packed else inverse


@function(returns=("nv", "nv"))
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return a Coriolis matrix C: C v + g is the bias and dM/dt - 2 C is skew-symmetric.

    Both hold for joints of every kind. (C is not unique; only C v is.)

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        C, shape (..., nv, nv) [N m s/rad, N s/m].

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> h = cardan.coriolis_matrix(arm, q, v) @ v + cardan.gravity_forces(arm, q)
        >>> bool(np.allclose(h, cardan.bias_forces(arm, q, v)))
        True

    Peers: Pinocchio `computeCoriolisMatrix`, roboticstoolbox `coriolis`.

    Source: Niemeyer and Slotine (1991); Echeandia and Wensing (2021).
    """
    return algorithms.coriolis_matrix(model, q, v)


@function(returns=("nv",), simplified=True)
def bias_forces(model: Model, q: ArrayLike, v: ArrayLike, external_forces: ArrayLike | None = None) -> Reals:
    """Return C v + g - J^T f: the efforts at zero acceleration, gravity among them.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        external_forces: as for `inverse_dynamics`.

    Returns:
        Efforts [N m, N], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> still = cardan.bias_forces(arm, q, np.zeros(7))
        >>> bool(np.allclose(still, cardan.gravity_forces(arm, q)))
        True

    Peers: Pinocchio `nle` `nonLinearEffects`, Drake `CalcBiasTerm` (without gravity), iDynTree `generalizedBiasForces`,
    RigidBodyDynamics.jl `dynamics_bias`; MuJoCo's data.qfrc_bias.

    Source: Featherstone (2008), table 5.1 with zero acceleration.
    """
    return algorithms.bias_forces(model, q, v, wrenches(external_forces))


@function(returns=("nv",), simplified=True)
def gravity_forces(model: Model, q: ArrayLike) -> Reals:
    """Return g: the efforts that hold the robot still against gravity, the gradient of `potential_energy`.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).

    Returns:
        Efforts [N m, N], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> weightless = arm.with_gravity((0.0, 0.0, 0.0))
        >>> cardan.gravity_forces(weightless, q).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    Peers: Pinocchio `computeGeneralizedGravity`, iDynTree `generalizedGravityForces`, Drake
    `CalcGravityGeneralizedForces` (of the opposite sign: what gravity does), roboticstoolbox `gravload`.

    Source: Featherstone (2008), table 5.1 at rest.
    """
    return algorithms.gravity_forces(model, q)


@function(returns=("nv",))
def passive_forces(model: Model, q: ArrayLike, v: ArrayLike) -> Reals:
    """Return damping v + friction sign(v) + stiffness (x - rest): what joints resist, and take from the drives.

    x are the coordinates of `limit_coordinates`. What joints exert by themselves (`Joint.efforts`), as a cable does, is
    subtracted. `inverse_dynamics(...) + passive_forces(model, q, v)` is what the drives must give.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).

    Returns:
        Efforts [N m, N], shape (..., nv).

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> pendulum = cardan.robots.double_pendulum().model()
        >>> cardan.passive_forces(pendulum, [0.1, 0.2], [0.0, 0.0]).shape
        (2,)

    Peers: MuJoCo `mj_passive` (of the opposite sign: what the joints do).

    Source: Coulomb's and viscous friction, as URDF's <dynamics> has them; springs as MuJoCo's.
    """
    return algorithms.passive_forces(model, q, v)


@function
def torque_regressor(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Reals:
    """Return Y: tau = Y p with p = `model.inertial_parameters()`, ten numbers a body.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        v: velocities [rad/s, m/s], shape (..., nv).
        a: accelerations [rad/s^2, m/s^2], shape (..., nv).

    Returns:
        Y, shape (..., nv, 10 nbodies) [N m, N, each by the parameter's unit]. Armature is not among the parameters: Y p
        is the inverse dynamics of the robot without it.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> Y = cardan.torque_regressor(arm, q, v, a)
        >>> bool(np.allclose(Y @ arm.inertial_parameters(), cardan.inverse_dynamics(arm, q, v, a)))
        True

    Peers: Pinocchio `computeJointTorqueRegressor`, iDynTree `inverseDynamicsInertialParametersRegressor`.

    Source: Atkeson, An and Hollerbach (1986).
    """
    return algorithms.torque_regressor(model, q, v, a)


@function(shapes={"force": (3,), "torque": (3,), "point": (3,)}, returns=("nbodies", 6))
def wrench_at(
    model: Model,
    q: ArrayLike,
    frame: str,
    force: ArrayLike,
    torque: ArrayLike | None = None,
    *,
    point: ArrayLike | None = None,
    expressed_in: Reference = "world",
) -> Reals:
    """Return the `external_forces` of a force and a torque applied at a frame: as the dynamics take them.

    Args:
        model: the robot.
        q: configurations [rad, m], shape (..., nq).
        frame: name of the body or frame it is applied at (`model.frame_names`).
        force: force [N], shape (..., 3).
        torque: torque beside that of the force [N m], shape (..., 3); none by default.
        point: where the force is applied, in the frame [m], shape (..., 3); its origin by default.
        expressed_in: whose axes force and torque are along: `"frame"` (the one asked for), `"world"`, or a body or
            frame by name.

    Returns:
        Wrenches on the bodies [N, N m], shape (..., nbodies, 6), each in its body's own frame: 0 but for the one that
        carries the frame. Those of several forces add up. Not constant while the robot moves: make it anew at each
        configuration.

    Raises:
        UnknownNameError, ParameterError: for a frame or reference that does not exist, or is fixed on the world.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> push = cardan.wrench_at(arm, q, "tool", (0.0, 0.0, -10.0))
        >>> J = cardan.jacobian(arm, q, "tool")
        >>> felt = cardan.inverse_dynamics(arm, q, v, a) - cardan.inverse_dynamics(arm, q, v, a, push)
        >>> bool(np.allclose(felt, J[:3].T @ (0.0, 0.0, -10.0)))
        True

    Peers: MuJoCo `mj_applyFT` (which gives efforts), Drake `AddInForcesOnBody`.

    Source: Featherstone (2008), equation 2.26.
    """
    zero = (0.0, 0.0, 0.0)
    wrench = Force(tuple(force), zero if torque is None else tuple(torque))  # pyright: ignore -- rows of scalars
    return algorithms.wrench_at(model, q, frame, wrench, point, expressed_in)
