"""Forward kinematics: poses, twists and accelerations of bodies and frames.

A twist or acceleration is given in a *reference*: the point `at` and the axes `expressed_in`, each of which is
`"frame"` (the frame asked for), `"world"`, or the name of any frame. With X_rf the frame's pose in the reference and
W_r the reference's own twist,

    V_r = X_rf V_f          dV_r/dt = X_rf A_f - W_r x V_r

so an acceleration is the time derivative of the components of the twist; at the frame in world axes it is that of the
origin's position, taken twice. Relative to a frame g it is X_rf V_f - X_rg V_g that is taken, with the rate

    dV_r/dt = X_rf A_f - X_rg A_g - W_r x V_r

Source: Featherstone (2008), section 2.10; Traversaro and Saccon, Multibody dynamics notation (2019).
"""

from __future__ import annotations

from typing import NamedTuple

from cardan._algebra.spatial import SE3, Motion, Vector3
from cardan._dynamics.algorithms.tree import (
    Vector,
    accelerations,
    relative_kinematics,
    twists,
    velocity_products,
    world_poses,
)
from cardan._robot.model import Model
from cardan._robot.records import WORLD


class Reference(NamedTuple):
    """Where a motion is taken and along which axes: names of two frames."""

    at: str
    expressed_in: str

    @staticmethod
    def of(frame: str, at: str, expressed_in: str) -> Reference:
        """Return the reference with `"frame"` replaced by the name of the frame."""
        return Reference(*(frame if name == "frame" else name for name in (at, expressed_in)))


class Kinematics:
    """Poses of every frame and, if v is given, twists; if a is given, too, accelerations."""

    def __init__(self, model: Model, q: Vector, v: Vector | None = None, a: Vector | None = None) -> None:
        self.model = model
        self.relative = relative_kinematics(model, q)
        self.poses = world_poses(model, self.relative.X)
        self.twists = twists(model, self.relative, v) if v is not None else None
        if v is not None and a is not None and self.twists is not None:
            c = velocity_products(model, self.relative, q, v, self.twists)
            self.accelerations = accelerations(model, self.relative, c, a)

    def pose(self, frame: str) -> SE3:
        """Return X_wf, the pose of a frame in the world."""
        at = self.model.attachment(frame)
        return self.poses[at.node] @ at.pose if at.node >= 0 else at.pose

    def twist(self, frame: str) -> Motion:
        """Return the twist of a frame relative to the world, in its own axes at its origin."""
        assert self.twists is not None
        at = self.model.attachment(frame)
        return at.pose.inverse_act(self.twists[at.node]) if at.node >= 0 else Motion.zero()

    def acceleration(self, frame: str) -> Motion:
        """Return the spatial acceleration of a frame, in its own axes at its origin."""
        at = self.model.attachment(frame)
        return at.pose.inverse_act(self.accelerations[at.node]) if at.node >= 0 else Motion.zero()

    def reference_pose(self, reference: Reference) -> SE3:
        """Return X_wr."""
        return SE3(self.pose(reference.expressed_in).rotation, self.pose(reference.at).translation)

    def reference_twist(self, reference: Reference) -> Motion:
        """Return W_r, the twist of the reference itself, in its own axes."""
        to_axes = self.pose(reference.expressed_in).rotation.transpose_apply
        velocity = self.pose(reference.at).rotation @ self.twist(reference.at).linear
        return Motion(to_axes(velocity), self.twist(reference.expressed_in).angular)

    def in_reference(self, frame: str, reference: Reference) -> SE3:
        """Return X_rf, the pose of a frame in a reference."""
        if reference == (frame, frame):
            return SE3.identity()
        X_wf, X_wr = self.pose(frame), self.reference_pose(reference)
        offset = Vector3.zero() if reference.at == frame else X_wr.inverse_act(X_wf.translation)
        return SE3(X_wr.rotation.T @ X_wf.rotation, offset)


def forward_kinematics(model: Model, q: Vector) -> list[SE3]:
    """Return the pose of every body in the world."""
    kinematics = Kinematics(model, q)
    return [kinematics.pose(body) for body in model.body_names]


def body_velocities(model: Model, q: Vector, v: Vector, at: str = "frame", expressed_in: str = "world") -> list[Motion]:
    """Return the twist of every body."""
    return [_velocity(k, b, at, expressed_in) for k in [Kinematics(model, q, v)] for b in model.body_names]


def body_accelerations(
    model: Model, q: Vector, v: Vector, a: Vector, at: str = "frame", expressed_in: str = "world"
) -> list[Motion]:
    """Return the acceleration of every body."""
    return [_acceleration(k, b, at, expressed_in) for k in [Kinematics(model, q, v, a)] for b in model.body_names]


def frame_transform(model: Model, q: Vector, frame: str, relative_to: str = "world") -> SE3:
    """Return the pose of one frame in another."""
    kinematics = Kinematics(model, q)
    pose = kinematics.pose(frame)
    return pose if relative_to == "world" else kinematics.pose(relative_to).inverse() @ pose


def frame_velocity(
    model: Model,
    q: Vector,
    v: Vector,
    frame: str,
    at: str = "frame",
    expressed_in: str = "world",
    relative_to: str = "world",
) -> Motion:
    """Return the twist of a frame relative to another."""
    return _velocity(Kinematics(model, q, v), frame, at, expressed_in, relative_to)


def frame_acceleration(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    frame: str,
    at: str = "frame",
    expressed_in: str = "world",
    relative_to: str = "world",
) -> Motion:
    """Return the time derivative of the components of `frame_velocity`."""
    return _acceleration(Kinematics(model, q, v, a), frame, at, expressed_in, relative_to)


def _velocity(kinematics: Kinematics, frame: str, at: str, expressed_in: str, relative_to: str = "world") -> Motion:
    return _twist(kinematics, frame, Reference.of(frame, at, expressed_in), relative_to)


def _twist(kinematics: Kinematics, frame: str, reference: Reference, relative_to: str) -> Motion:
    """Return V_r, less that of what it is relative to."""
    V_r = kinematics.in_reference(frame, reference) @ kinematics.twist(frame)
    if relative_to == WORLD:
        return V_r
    return V_r - kinematics.in_reference(relative_to, reference) @ kinematics.twist(relative_to)


def _acceleration(kinematics: Kinematics, frame: str, at: str, expressed_in: str, relative_to: str = "world") -> Motion:
    reference = Reference.of(frame, at, expressed_in)
    if reference == (frame, frame) and relative_to == WORLD:
        return kinematics.acceleration(frame)  # W_r = V_r
    A_r = kinematics.in_reference(frame, reference) @ kinematics.acceleration(frame)
    if relative_to != WORLD:
        A_r = A_r - kinematics.in_reference(relative_to, reference) @ kinematics.acceleration(relative_to)
    return A_r - kinematics.reference_twist(reference).cross(_twist(kinematics, frame, reference, relative_to))
