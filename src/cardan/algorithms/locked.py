"""The robot as one rigid body: its inertia with all joints locked, and the twist with which that body has its momentum.

    I = sum over bodies of X_rb I_b        h = sum over bodies of X_rb I_b V_b        V = I^-1 h

in the reference r: its origin is a frame's or the centre of mass, its axes are a frame's. At the centre of mass I is
m 1 beside J_c, so V is the velocity of the centre of mass beside J_c^-1 L; elsewhere it is moved there.

Source: Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot (2013), section 5; Traversaro, Pucci and Nori, A
unified view of the equations of motion used for control design of humanoid robots (2017), for V.
Cost: O(n).
"""

from __future__ import annotations

from cardan.algorithms.centroidal import centroidal_momentum, inverse_mass, total_inertia
from cardan.algorithms.crba import composite_inertias
from cardan.algorithms.kinematics import Kinematics
from cardan.algorithms.linear import Factor, SingularError
from cardan.algorithms.tree import Vector
from cardan.errors import MechanismError
from cardan.model import Model
from cardan.spatial import SE3, Inertia, Motion, Vector3

CENTER = "center_of_mass"


def locked_inertia(model: Model, q: Vector, at: str = CENTER, expressed_in: str = "world") -> Inertia:
    """Return the inertia of all bodies as one, in the reference.

    Args:
        model: the robot.
        q: configuration.
        at: name of the frame whose origin it is about, or `"center_of_mass"`.
        expressed_in: name of the frame whose axes it is along.
    """
    total, X_wr = _reference(model, q, at, expressed_in)
    return X_wr.inverse() @ total


def average_velocity(model: Model, q: Vector, v: Vector, at: str = CENTER, expressed_in: str = "world") -> Motion:
    """Return the twist of the locked robot that has the momentum of the moving one, in the reference."""
    total, X_wr = _reference(model, q, at, expressed_in)
    h, scale = centroidal_momentum(model, q, v), inverse_mass(model)
    try:
        rows = [list(row) for row in total.inertia_at_com.matrix().rows()]
        V_c = Motion(h.linear * scale, tuple(Factor(rows).solve(list(h.angular))))
    except SingularError:
        raise MechanismError(
            f"average_velocity: the bodies of model {model.name!r} together have no inertia about some axis, so the "
            "angular velocity is not determined; give the bodies rotational inertia."
        ) from None
    return X_wr.inverse_act(SE3(translation=total.com) @ V_c)


def _reference(model: Model, q: Vector, at: str, expressed_in: str) -> tuple[Inertia, SE3]:
    """Return the inertia of all bodies in the world, and X_wr."""
    kinematics = Kinematics(model, q)
    total = total_inertia(model, kinematics.relative.X, composite_inertias(model, kinematics.relative))
    origin: Vector3 = total.com if at == CENTER else kinematics.pose(at).translation
    return total, SE3(kinematics.pose(expressed_in).rotation, origin)
