"""Forward kinematics: poses, twists and accelerations of bodies and frames.

A twist or acceleration is given in a *reference*: the point `at` and the axes `expressed_in`, each of which is
`"frame"` (the frame asked for), `"world"`, or the name of any frame. With X_rf the frame's pose in the reference and
W_r the reference's own twist,

    V_r = X_rf V_f          dV_r/dt = X_rf A_f - W_r x V_r

so an acceleration is the time derivative of the components of the twist; at the frame in world axes it is that of the
origin's position, taken twice. Relative to a frame g it is X_rf V_f - X_rg V_g that is taken, with the rate

    dV_r/dt = X_rf A_f - X_rg A_g - W_r x V_r

Source: Featherstone (2008), section 2.8 for poses, sections 2.10 and 2.11 and equation 5.7 for motions; Traversaro and
Saccon, Multibody dynamics notation (2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cardan._algebra.errors import ParameterError
from cardan._algebra.scalar import is_symbol
from cardan._algebra.spatial import SE3, Motion, Vector3
from cardan._dynamics.algorithms.along import NodeRows, Nodes, nodes_of
from cardan._dynamics.algorithms.spin import BodyMotion, at_rest, body_motions
from cardan._dynamics.algorithms.tree import (
    Relative,
    Vector,
    accelerations,
    poses_along,
    relative_poses,
    subspaces,
    twists,
)
from cardan._dynamics.call.public import ArrayLike, public
from cardan._dynamics.call.results import packed
from cardan._robot.model import Model
from cardan._robot.records import WORLD

Frames = str | int | Sequence[str] | Sequence[int] | NDArray[np.integer[Any]]
"""A body or frame by name (`Model.frame_names`) or index there, or several: then a leading axis counts them."""

FrameName = Literal["frame", "world"] | str
"""Where a motion is taken, or along whose axes: the frame asked for, the world, or a body or frame by name."""

OfFrame = TypeVar("OfFrame")


@dataclass(frozen=True, eq=False, slots=True)
class Rider:
    """A body that a loop over bodies is at: the row of its node, and its pose there."""

    node: Any
    pose: SE3


class Reference(NamedTuple):
    """Where a motion is taken and along which axes: two frames."""

    at: str | Rider
    expressed_in: str | Rider

    @staticmethod
    def of(frame: str | Rider, at: str, expressed_in: str) -> Reference:
        """Return the reference with `"frame"` replaced by the name of the frame."""
        return Reference(*(frame if name == "frame" else name for name in (at, expressed_in)))


class Kinematics:
    """Poses of every frame and, if v is given, twists; if a is given, too, accelerations; of many joints in `loops`."""

    def __init__(
        self, model: Model, q: Vector, v: Vector | None = None, a: Vector | None = None, *, loops: bool = False
    ) -> None:
        self.model, self.q, self._nodes = model, q, nodes_of(model, q) if loops else Nodes(model)
        self._X, self._J = relative_poses(self._nodes, q)
        self.poses = poses_along(self._nodes, self._X)
        self.twists = twists(model, self.relative, v) if v is not None else None
        if v is not None and a is not None and self.twists is not None:
            # Here, and not where one is asked for, which may be within a loop. Programs drop the other one.
            self.motions = body_motions(model, self.relative, q, v, a, at_rest())
            self.accelerations = accelerations(model, self.relative, q, v, a, self.twists)

    @cached_property
    def relative(self) -> Relative:
        """Relative kinematics: poses alone need no motion subspaces, which take long for a cluster."""
        return Relative(self._X, subspaces(self._nodes, self.q), self._J)

    def pose(self, frame: str | Rider) -> SE3:
        node, pose = self._place(frame)
        return pose if node is None else self.poses[node] @ pose

    def twist(self, frame: str | Rider) -> Motion:
        """Return the twist of a frame relative to the world, in its own axes at its origin."""
        assert self.twists is not None
        node, pose = self._place(frame)
        return Motion.zero() if node is None else pose.inverse_act(self.twists[node])

    def acceleration(self, frame: str | Rider) -> Motion:
        """Return the spatial acceleration of a frame, in its own axes at its origin."""
        node, pose = self._place(frame)
        return Motion.zero() if node is None else pose.inverse_act(self.accelerations[node])

    def motion(self, frame: str | Rider) -> BodyMotion:
        """Return how a frame accelerates, in its own axes."""
        node, pose = self._place(frame)
        return at_rest() if node is None else self.motions[node].at(pose)

    def _place(self, frame: str | Rider) -> tuple[Any, SE3]:
        """Return the node that a frame rides on, or None for the world, and its pose there."""
        if isinstance(frame, Rider):
            return frame.node, frame.pose
        at = self.model.attachment(frame)
        return at.node if at.node >= 0 else None, at.pose

    def of_bodies(self, of: Callable[[Any], Any], names: Sequence[str] | None = None) -> Any:
        """Return an array of what a function makes of bodies, all by default: by its name or, in a loop, as a rider."""
        names = self.model.body_names if names is None else names
        if not isinstance(self._nodes, NodeRows):
            return [of(body) for body in names]
        attached, shape = [self.model.attachments[body] for body in names], list[int]()

        def numbers(node: Any, pose: SE3) -> list[Any]:
            found = packed(of(Rider(node, pose)))
            shape[:] = found.shape
            return found.ravel().tolist()

        columns = self._nodes.riders([at.node for at in attached], [at.pose for at in attached], numbers)
        return self._nodes.graph.array(columns, (len(names), *shape))

    def reference_pose(self, reference: Reference) -> SE3:
        return SE3(self.pose(reference.expressed_in).rotation, self.pose(reference.at).translation)

    def reference_twist(self, reference: Reference) -> Motion:
        """Return W_r, the twist of the reference itself, in its own axes."""
        to_axes = self.pose(reference.expressed_in).rotation.transpose_apply
        velocity = self.pose(reference.at).rotation @ self.twist(reference.at).linear
        return Motion(to_axes(velocity), self.twist(reference.expressed_in).angular)

    def in_reference(self, frame: str | Rider, reference: Reference) -> SE3:
        """Return X_rf, the pose of a frame in a reference."""
        # no operations, and no rounding, for a frame in its own axes at its own origin
        if reference == (frame, frame):
            return SE3.identity()
        X_wf, X_wr = self.pose(frame), self.reference_pose(reference)
        # the place of the frame seen from itself: no operations
        offset = Vector3.zero() if reference.at == frame else X_wr.inverse_act(X_wf.translation)
        return SE3(X_wr.rotation.T @ X_wf.rotation, offset)


@public(returns=("nbodies", 4, 4))
def forward_kinematics(model: Model, q: ArrayLike) -> list[SE3]:
    """Return the poses of all bodies in the world.

    Returns:
        Homogeneous matrices X, shape (..., nbodies, 4, 4) [m], in the order of `model.body_names`: coordinates in the
        world = X coordinates in the body.

    Examples:
        >>> X = cardan.forward_kinematics(arm, q)
        >>> X[arm.body_names.index("upper_arm_roll")].shape
        (4, 4)

    Peers: Pinocchio `forwardKinematics` `framesForwardKinematics`, MuJoCo `mj_kinematics`.
    """
    kinematics = Kinematics(model, q, loops=True)
    return kinematics.of_bodies(kinematics.pose)


@public(returns=("nbodies", 6))
def body_velocities(
    model: Model, q: ArrayLike, v: ArrayLike, *, at: FrameName = "frame", expressed_in: FrameName = "world"
) -> list[Motion]:
    """Return the twists [linear; angular] of all bodies; by default at each body's origin, in world axes.

    Returns:
        Twists [m/s, rad/s], shape (..., nbodies, 6), in the order of `model.body_names`.

    Examples:
        >>> cardan.body_velocities(arm, q, v).shape == (arm.nbodies, 6)
        True

    Peers: Drake `EvalBodySpatialVelocityInWorld`; MuJoCo's data.cvel, at another point and angular first.
    """
    kinematics = Kinematics(model, q, v, loops=True)
    return kinematics.of_bodies(lambda body: _velocity(kinematics, body, at, expressed_in))


@public(returns=("nbodies", 6))
def body_accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
) -> list[Motion]:
    """Return the time derivatives of the components of `body_velocities`; without gravity.

    Returns:
        Accelerations [m/s^2, rad/s^2], shape (..., nbodies, 6), in the order of `model.body_names`.

    Examples:
        >>> cardan.body_accelerations(arm, q, v, a).shape == (arm.nbodies, 6)
        True

    Peers: Drake `EvalBodySpatialAccelerationInWorld`.
    """
    kinematics = Kinematics(model, q, v, a, loops=True)
    return kinematics.of_bodies(lambda body: _acceleration(kinematics, body, at, expressed_in))


@public(returns=(4, 4))
def frame_transform(model: Model, q: ArrayLike, frame: Frames, *, relative_to: str = "world") -> SE3 | list[SE3]:
    """Return the pose X of a body or frame: coordinates in `relative_to` = X coordinates in `frame`.

    Returns:
        Homogeneous matrices [m], shape (..., 4, 4), or (..., n, 4, 4).

    Examples:
        >>> position = cardan.frame_transform(arm, q, "tool")[:3, 3]
        >>> cardan.frame_transform(arm, q, "tool", relative_to="upper_arm_roll").shape
        (4, 4)

    Peers: Pinocchio `updateFramePlacement` `updateFramePlacements`, Drake `CalcRelativeTransform`, iDynTree
    `getWorldTransform` `getRelativeTransform`, RigidBodyDynamics.jl `transform_to_root`; MuJoCo's data.xpos and
    data.xmat, roboticstoolbox `fkine`.
    """
    kinematics = Kinematics(model, q)
    if relative_to == "world":
        return each_frame(model, frame, kinematics.pose)
    return each_frame(model, frame, lambda name: kinematics.pose(relative_to).inverse() @ kinematics.pose(name))


@public(returns=(6,))
def frame_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Frames,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> Motion | list[Motion]:
    """Return the twist [linear; angular] of a body or frame.

    Returns:
        Twists [m/s, rad/s], shape (..., 6), or (..., n, 6).

    Examples:
        >>> J = cardan.jacobian(arm, q, "tool")
        >>> bool(np.allclose(cardan.frame_velocity(arm, q, v, "tool"), J @ v))
        True

    Peers: Pinocchio `getFrameVelocity`, MuJoCo `mj_objectVelocity` (angular first), Drake `CalcSpatialVelocity`
    (angular first), iDynTree `getFrameVel`, RigidBodyDynamics.jl `twist_wrt_world` `relative_twist`
    (angular first, at the world's origin).
    """
    kinematics = Kinematics(model, q, v)
    return each_frame(model, frame, lambda name: _velocity(kinematics, name, at, expressed_in, relative_to))


@public(returns=(6,))
def frame_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: Frames,
    *,
    at: FrameName = "frame",
    expressed_in: FrameName = "world",
    relative_to: str = "world",
) -> Motion | list[Motion]:
    """Return the time derivative of the components of `frame_velocity`; without gravity.

    At the frame in world axes the linear part is the acceleration of the frame's origin; at the frame in its own axes
    the whole is the spatial acceleration.

    Returns:
        Accelerations [m/s^2, rad/s^2], shape (..., 6), or (..., n, 6).

    Examples:
        >>> J, rate = cardan.jacobian(arm, q, "tool"), cardan.jacobian_derivative(arm, q, v, "tool")
        >>> bool(np.allclose(cardan.frame_acceleration(arm, q, v, a, "tool"), J @ a + rate @ v))
        True

    Peers: Pinocchio `getFrameClassicalAcceleration` `getFrameAcceleration` (the linear rows, and the spatial
    acceleration at the frame in its own axes), MuJoCo `mj_objectAcceleration` (angular first, gravity in it),
    Drake `CalcSpatialAcceleration` (angular first), iDynTree `getFrameAcc`.
    """
    kinematics = Kinematics(model, q, v, a)
    return each_frame(model, frame, lambda name: _acceleration(kinematics, name, at, expressed_in, relative_to))


def _velocity(
    kinematics: Kinematics, frame: str | Rider, at: str, expressed_in: str, relative_to: str = "world"
) -> Motion:
    return _twist(kinematics, frame, Reference.of(frame, at, expressed_in), relative_to)


def _twist(kinematics: Kinematics, frame: str | Rider, reference: Reference, relative_to: str) -> Motion:
    """Return V_r, less that of what it is relative to."""
    V_r = kinematics.in_reference(frame, reference) @ kinematics.twist(frame)
    if relative_to == WORLD:
        return V_r
    return V_r - kinematics.in_reference(relative_to, reference) @ kinematics.twist(relative_to)


def _acceleration(
    kinematics: Kinematics, frame: str | Rider, at: str, expressed_in: str, relative_to: str = "world"
) -> Motion:
    reference = Reference.of(frame, at, expressed_in)
    if reference == (frame, frame) and relative_to == WORLD:
        return kinematics.acceleration(frame)  # W_r = V_r
    if reference == (frame, WORLD) and relative_to == WORLD:
        motion, R = kinematics.motion(frame), kinematics.pose(frame).rotation
        return Motion(R @ motion.origin, R @ motion.spin.rate)
    A_r = kinematics.in_reference(frame, reference) @ kinematics.acceleration(frame)
    if relative_to != WORLD:
        A_r = A_r - kinematics.in_reference(relative_to, reference) @ kinematics.acceleration(relative_to)
    return A_r - kinematics.reference_twist(reference).cross(_twist(kinematics, frame, reference, relative_to))


def each_frame(model: Model, frame: Any, of: Callable[[str], OfFrame]) -> OfFrame | list[OfFrame]:
    if isinstance(frame, str | int | np.integer):
        return of(_name(model, frame))
    if not isinstance(frame, tuple) or not frame:
        got = "a float" if is_symbol(frame) else frame  # floats are arguments of programs
        raise ParameterError("frame", got=got, expected="a name, or at least one in a sequence of names or indices")
    return [of(_name(model, one)) for one in frame]


def _name(model: Model, frame: Any) -> Any:
    """Return a frame's name, given that or its index in `Model.frame_names`."""
    if isinstance(frame, bool) or not isinstance(frame, int | np.integer):
        return frame  # whether there is such a name is seen where it is looked up
    if not 0 <= frame < len(model.frame_names):
        raise ParameterError("index of a frame", got=int(frame), expected=f"0 to {len(model.frame_names) - 1}")
    return model.frame_names[frame]
