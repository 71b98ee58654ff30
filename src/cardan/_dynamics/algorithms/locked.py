"""The robot as one rigid body: its inertia with all joints locked, and the twist with which that body has its momentum.

    I = sum over bodies of X_rb I_b        h = sum over bodies of X_rb I_b V_b        V = I^-1 h

in the reference r: its origin is a frame's or the centre of mass, its axes are a frame's. At the centre of mass I is
m 1 beside J_c, so V is the velocity of the centre of mass beside J_c^-1 L; elsewhere it is moved there.

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013), section 5; Traversaro, Pucci and Nori, A
unified view of the equations of motion used for control design of humanoid robots (2017), for V.
Cost: O(n).
"""

from __future__ import annotations

from cardan._algebra.errors import MechanismError
from cardan._algebra.spatial import SE3, Inertia, Motion
from cardan._dynamics.algorithms.centroidal import centroidal_momentum, inverse_mass, total_inertia
from cardan._dynamics.algorithms.crba import composite_inertias
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import Factor, SingularError
from cardan._dynamics.algorithms.tree import Vector
from cardan._robot.model import Model

CENTER = "center_of_mass"


def locked_inertia(model: Model, q: Vector, at: str = CENTER, expressed_in: str = "world") -> Inertia:
    """Return the inertia of all bodies as one, in the reference.

    Args:
        model: the robot.
        q: configuration.
        at: name of the frame whose origin it is about, or `"center_of_mass"`.
        expressed_in: name of the frame whose axes it is along.
    """
    robot = _Locked(model, q)
    return robot.inertia(robot.reference(at, expressed_in))


def average_velocity(model: Model, q: Vector, v: Vector, at: str = CENTER, expressed_in: str = "world") -> Motion:
    """Return the twist of the locked robot that has the momentum of the moving one, in the reference."""
    robot = _Locked(model, q)
    X_wc, h, scale = robot.reference(CENTER, "world"), centroidal_momentum(model, q, v), inverse_mass(model)
    J_c = robot.inertia(X_wc).inertia_at_origin.matrix()
    try:
        V_c = Motion(h.linear * scale, tuple(Factor([list(row) for row in J_c.rows()]).solve(list(h.angular))))
    except SingularError:
        raise MechanismError(
            f"average_velocity: the bodies of model {model.name!r} together have no inertia about some axis, so the "
            "angular velocity is not determined; give the bodies rotational inertia."
        ) from None
    return (robot.reference(at, expressed_in).inverse() @ X_wc) @ V_c


class _Locked:
    """Poses, and the inertia of each tree in the frame of its first node."""

    def __init__(self, model: Model, q: Vector) -> None:
        self.model, self.kinematics = model, Kinematics(model, q)
        self.composite = composite_inertias(model, self.kinematics.relative)

    def reference(self, at: str, expressed_in: str) -> SE3:
        """Return X_wr."""
        pose = self.kinematics.pose
        if at != CENTER:
            return SE3(pose(expressed_in).rotation, pose(at).translation)
        total = total_inertia(self.model, self.kinematics.relative.X, self.composite)
        return SE3(pose(expressed_in).rotation, total.com)

    def inertia(self, X_wr: SE3) -> Inertia:
        """Return the sum in a reference, without the detour by the world's origin, from where digits would be lost."""
        X_rw = X_wr.inverse()
        total = X_rw @ self.model.world_inertia()
        for node in self.model.nodes:
            if node.parent < 0:
                total = total + (X_rw @ self.kinematics.relative.X[node.index]) @ self.composite[node.index]
        return total
