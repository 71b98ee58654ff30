"""The robot as one rigid body: its inertia with all joints locked, and the twist with which that body has its momentum.

    I = sum over bodies of X_rb I_b        h = sum over bodies of X_rb I_b V_b        V = I^-1 h

in the reference r: its origin is a frame's or the centre of mass, its axes are a frame's. At the centre of mass I is
m 1 beside J_c, so V is the velocity of the centre of mass beside J_c^-1 L; elsewhere it is moved there.

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013), section 5; Traversaro, Pucci and Nori, A
unified view of the equations of motion used for control design of humanoid robots (2017), for V.
Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import SE3, Inertia, Motion
from cardan._dynamics.algorithms.centroidal import about_com, inverse_mass, momenta_of, total_inertia
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
    whole = _Whole(model, q)
    return whole.seen_from(whole.reference(at, expressed_in))


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
    whole = _Whole(model, q)
    momenta, scale = momenta_of(model, whole.relative, v), inverse_mass(model)
    h = about_com(model, whole.relative, whole.composite, momenta)
    centre = whole.reference(CENTER, "world")
    J_c = whole.seen_from(centre).inertia_at_origin.matrix()
    try:
        # at the centre of mass I is block diagonal, so that three equations are left of six
        V_c = Motion(h.linear * scale, tuple(Factor([list(row) for row in J_c.rows()]).solve(list(h.angular))))
    # points on one line have no inertia about it
    except SingularError:
        raise MechanismError(
            f"average_velocity: the bodies of model {model.name!r} together have no inertia about some axis, so the "
            "angular velocity is not determined; give the bodies rotational inertia."
        ) from None
    return (whole.reference(at, expressed_in).inverse() @ centre) @ V_c


class _Whole:
    """A robot with all joints locked."""

    def __init__(self, model: Model, q: Vector) -> None:
        self.model, self.q = model, q
        self.relative = relative_kinematics(model, q, loops=True)

    @cached_property
    def composite(self) -> Sequence[Inertia]:
        return composite_inertias(self.model, self.relative)

    def reference(self, at: str, expressed_in: str) -> SE3:
        """Return the pose of a reference in the world."""
        names, world = {at, expressed_in} - {CENTER, "world"}, {"world": SE3.identity()}
        poses = {name: self._kinematics.pose(name) for name in sorted(names)} | world
        if at == CENTER:
            return SE3(poses[expressed_in].rotation, total_inertia(self.model, self.relative.X, self.composite).com)
        return SE3(poses[expressed_in].rotation, poses[at].translation)

    @cached_property
    def _kinematics(self) -> Kinematics:
        return Kinematics(self.model, self.q)

    def seen_from(self, X_wr: SE3) -> Inertia:
        """Return the inertia in a reference."""
        X_rw = X_wr.inverse()
        total = X_rw @ self.model.world_inertia()
        # Each tree in the reference, without the detour by the world's origin, from where digits would be lost. Wheels
        # for the drives of joints that follow others come behind the links: they are no bodies.
        for node in self.model.nodes[: self.model.nlinks]:
            if node.parent < 0:
                total = total + (X_rw @ self.relative.X[node.index]) @ self.composite[node.index]
        return total
