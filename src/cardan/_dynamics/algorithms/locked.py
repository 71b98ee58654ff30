"""The robot as one rigid body: its inertia with all joints locked, and the twist with which that body has its momentum.

    I = sum over bodies of X_rb I_b        h = sum over bodies of X_rb I_b V_b        V = I^-1 h

in the reference r: its origin is a frame's or the centre of mass, its axes are a frame's. At the centre of mass I is
m 1 beside J_c, so V is the velocity of the centre of mass beside J_c^-1 L; elsewhere it is moved there.

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013), section 5; Traversaro, Pucci and Nori, A
unified view of the equations of motion used for control design of humanoid robots (2017), for V.
Cost: O(n).
"""

from __future__ import annotations

from typing import Literal

from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import SE3, Inertia, Motion
from cardan._dynamics.algorithms.centroidal import center_of_mass, centroidal_momentum, inverse_mass
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import Factor, SingularError
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._dynamics.call.public import ArrayLike, public
from cardan._robot.model import Model

CENTER = "center_of_mass"
Point = Literal["center_of_mass", "world"] | str
"""Where something of the whole robot is taken: its centre of mass, or the origin of a body or frame by name."""


@public(returns=(6, 6))
def locked_inertia(model: Model, q: ArrayLike, *, at: Point = CENTER, expressed_in: str = "world") -> Inertia:
    """Return the inertia of the whole robot as one rigid body, its joints locked.

    Args:
        at: the point it is about: `"center_of_mass"`, or the origin of `"world"` or of a body or frame by name.
        expressed_in: whose axes it is along: `"world"`, or a body or frame by name.

    Returns:
        Spatial inertias, shape (..., 6, 6), [linear; angular] [kg, kg m, kg m^2]: a twist at that point in these axes
        times them is the momentum. At the centre of mass the blocks are the mass times the identity, and the rotational
        inertia. Every body counts, those fixed on the world, too.

    Examples:
        >>> inertia = cardan.locked_inertia(arm, q)
        >>> bool(np.allclose(inertia[:3, :3], arm.mass * np.eye(3))), bool(np.allclose(inertia[:3, 3:], 0.0))
        (True, True)

    Peers: iDynTree `getCentroidalRobotLockedInertia`, and `getRobotLockedInertia` with the base as `at` and
    `expressed_in`; Pinocchio's data.Ig after `ccrba`; Drake `CalcSpatialInertia`.
    """
    X_rw, relative = _reference(model, q, at, expressed_in).inverse(), relative_kinematics(model, q)
    composite, total = composite_inertias(model, relative), X_rw @ model.world_inertia()
    # each tree in the reference, without the detour by the world's origin, from where digits would be lost
    for node in model.nodes:
        if node.parent < 0:
            total = total + (X_rw @ relative.X[node.index]) @ composite[node.index]
    return total


@public(returns=(6,))
def average_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, *, at: Point = CENTER, expressed_in: str = "world"
) -> Motion:
    """Return the twist with which the robot, its joints locked, has the momentum that it has: `locked_inertia` ^-1 h.

    Args:
        at: as for `locked_inertia`.
        expressed_in: as for `locked_inertia`.

    Returns:
        Twists [linear; angular] [m/s, rad/s], shape (..., 6). At the centre of mass the linear part is its velocity.

    Raises:
        MechanismError: for a robot without mass, or one that together has no inertia about some axis.

    Examples:
        >>> V = cardan.average_velocity(arm, q, v)
        >>> bool(np.allclose(cardan.locked_inertia(arm, q) @ V, cardan.centroidal_momentum(arm, q, v)))
        True

    Peers: iDynTree `getCentroidalAverageVelocity`, and `getAverageVelocity` with the base as `at` and `expressed_in`.
    """
    h, scale = centroidal_momentum.kernel(model, q, v), inverse_mass(model)
    J_c = locked_inertia.kernel(model, q).inertia_at_origin.matrix()
    try:
        # at the centre of mass I is block diagonal, so that three equations are left of six
        V_c = Motion(h.linear * scale, tuple(Factor([list(row) for row in J_c.rows()]).solve(list(h.angular))))
    # points on one line have no inertia about it
    except SingularError:
        raise MechanismError(
            f"average_velocity: the bodies of model {model.name!r} together have no inertia about some axis, so the "
            "angular velocity is not determined; give the bodies rotational inertia."
        ) from None
    return (_reference(model, q, at, expressed_in).inverse() @ _reference(model, q, CENTER, "world")) @ V_c


def _reference(model: Model, q: Vector, at: str, expressed_in: str) -> SE3:
    pose = Kinematics(model, q).pose
    origin = center_of_mass.kernel(model, q) if at == CENTER else pose(at).translation
    return SE3(pose(expressed_in).rotation, origin)
