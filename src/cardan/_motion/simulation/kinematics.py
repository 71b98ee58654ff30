"""Poses and twists of chosen bodies, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan._algebra.spatial import Force, Motion, Vector3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._dynamics.algorithms.applied import applied_efforts
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.call.function import function
from cardan._robot.model import Model


@function
def body_poses(model: Model, q: Any, bodies: Sequence[str] = ()) -> Any:
    """Return position [m] and quaternion xyzw of bodies in the world."""
    kinematics = Kinematics(model, q)
    poses = [kinematics.pose(body) for body in bodies]
    return [[*X.translation, *quaternion_xyzw_from_matrix(X.rotation)] for X in poses]


@function
def mass_center_twists(model: Model, q: Any, v: Any, bodies: Sequence[str] = ()) -> Any:
    """Return the velocities of bodies' centres of mass and their angular velocities, in world axes."""
    kinematics, found = Kinematics(model, q, v), []
    for body in bodies:
        twist, R = kinematics.twist(body), kinematics.pose(body).rotation
        found.append(Motion(R @ (twist.linear + twist.angular.cross(_com(model, body))), R @ twist.angular))
    return found


@function(shapes={"moving": lambda model: (model.nlinks, 6)})
def twists_of_mass_centers(model: Model, q: Any, moving: Any, bodies: Sequence[str] = ()) -> Any:
    """Return the twists of bodies at their origins in their axes: the inverse of `mass_center_twists`."""
    kinematics, found = Kinematics(model, q), []
    for body, row in zip(bodies, moving, strict=True):
        turn = kinematics.pose(body).rotation.transpose_apply
        V = Motion.of(tuple(row))
        angular = turn(V.angular)
        found.append(Motion(turn(V.linear) - angular.cross(_com(model, body)), angular))
    return found


def _com(model: Model, body: str) -> Vector3:
    inertia = model.body(body).inertia
    return Vector3.zero() if inertia is None else inertia.com


@function
def mass_centers(model: Model, q: Any, bodies: Sequence[str] = ()) -> Any:
    """Return where bodies' centres of mass are in the world [m]; the origin of one without inertia."""
    kinematics = Kinematics(model, q)
    return [kinematics.pose(body) @ _com(model, body) for body in bodies]


@function(shapes={"wrenches": ("nbodies", 6)})
def wrench_efforts(model: Model, q: Any, wrenches: Any) -> Any:
    """Return the efforts along the joints of wrenches on the bodies at their centres of mass, in world axes."""
    return applied_efforts(model, q, [Force.of(tuple(row)) for row in wrenches])
