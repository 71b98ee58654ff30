"""The tasks that ship: of bodies and frames (where they are, how they stand, where they look), and of the whole robot.

With X = X_rf the pose of a frame f in another one r (its root: the world, or any frame) and X_t the one that is asked
for, along the axes of the root,

    position      e = p - p_t                       de/dt = v
    orientation   e = log(R R_t^T)                  de/dt = J_l(e)^-1 w,   J_l(e)^-1 = J_r(-e)^-1

with v the velocity of f's origin and w its angular velocity, both relative to r: for joint k between the two, outwards
to f, S_k taken to f's origin; outwards to r, minus that. Joints that carry both are not looked at.

Source: Featherstone (2008), section 4.5; Barfoot (2017), section 7.1 for J_l.
Cost: about 30 operations a joint between the frames.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import ParameterError
from cardan._algebra.manifolds.manifold import identity_rows
from cardan._algebra.scalar import absolute, logical_and, maximum, where
from cardan._algebra.spatial import SE3, Matrix3, Motion, Vector3
from cardan._algebra.spatial.rotations import right_jacobian_inverse, rotation_vector_from_matrix
from cardan._algebra.spatial.vector import unit_vector
from cardan._dynamics.algorithms.centroidal import center_of_mass, center_of_mass_jacobian
from cardan._dynamics.algorithms.linear import Rows
from cardan._dynamics.algorithms.loops import loop_residual, sides, with_loops
from cardan._dynamics.algorithms.tree import Vector, relative_kinematics
from cardan._dynamics.call.arguments import are_all, check_configuration
from cardan._dynamics.call.function import function
from cardan._motion.tasks.task import PlaceTask, Task
from cardan._robot.model import Model
from cardan._robot.records import WORLD

UNIT = np.eye(4)
ROTATION = 1e-6  # how far R^T R of a target may be from 1: matrices written with seven digits are rotations


class RelativeMotion:
    """A frame as its root sees it; X is its pose X_rf."""

    def __init__(self, model: Model, q: Vector, frame: str, root: str) -> None:
        self.model, self.relative = model, relative_kinematics(model, q)
        self.frame, self.root = sides(model, model.attachment(frame), model.attachment(root))
        self.ends = [side.pose(self.relative) @ side.frame for side in (self.frame, self.root)]
        is_fork = not self.root.nodes and self.root.frame == SE3.identity()  # the root is the frame in which they fork
        self.X: SE3 = self.ends[0] if is_fork else self.ends[1].inverse() @ self.ends[0]

    def columns(self) -> list[Motion]:
        """Return for each of the nv velocities the twist [v; w] of the frame relative to its root, in root axes."""
        origin, columns = self.ends[0].translation, [Motion.zero()] * self.model.nv
        to_root = self.ends[1].rotation.transpose_apply
        for side, sign in ((self.frame, 1.0), (self.root, -1.0)):
            for node, X in zip(side.nodes, side.poses(self.relative), strict=True):
                for i, s in zip(node.v, self.relative.S[node.index], strict=True):
                    w = X.rotation @ s.angular
                    v = X.rotation @ s.linear + w.cross(origin - X.translation)
                    columns[i] = columns[i] + Motion(to_root(v), to_root(w)) * sign
        return columns


def rows_of(columns: Sequence[Vector3]) -> Rows:
    """Return the three rows of vectors side by side."""
    return [[column[k] for column in columns] for k in range(3)]


def turned_rows(error: Vector3, columns: Sequence[Motion]) -> Rows:
    """Return the rows of the rate of log(R R_t^T), given that and the twists."""
    J = right_jacobian_inverse(-error)
    return rows_of([J @ column.angular for column in columns])


def orientation_error(R: Matrix3, target: Any) -> Vector3:
    """Return log(R R_t^T)."""
    return rotation_vector_from_matrix(R @ Matrix3.of(target).T)


@function(shapes={"X": (4, 4)}, returns=())
def pose_defect(model: Model, X: Any) -> Any:
    """Return the largest entry of |R R^T - 1| of homogeneous matrices; 2 where det R < 0 or the last row is wrong."""
    R = X[:3, :3]
    off = [absolute(e) for e in (*(R @ R.T - UNIT[:3, :3]).ravel(), *(X[3] - UNIT[3]))]
    is_proper = logical_and(functools.reduce(maximum, off[9:]) == 0.0, np.linalg.det(R) > 0.0)
    return where(is_proper, functools.reduce(maximum, off[:9]), 2.0)


def check_rotations(what: str, R: np.ndarray) -> None:
    """Raise where matrices, shape (..., 3, 3), are no rotations, with the row of the first."""
    off = np.abs(R @ R.swapaxes(-1, -2) - UNIT[:3, :3]).max(axis=(-1, -2))
    wrong = ~((off <= ROTATION) & (np.linalg.det(R) > 0.0))
    expected = f"a rotation matrix, R^T R = 1 to {ROTATION} and det R = +1"
    _raise_for_first(what, wrong, R, expected, "Normalise it, or build it by SE3.")


def _raise_for_first(what: str, wrong: np.ndarray, got: np.ndarray, expected: str, hint: str = "") -> None:
    """Raise for the first row of a batch that is wrong; for none, return."""
    if wrong.any():
        row = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise ParameterError(f"{what}{list(row)}" if row else what, got=got[row].tolist(), expected=expected, hint=hint)


class PoseTask(Task):
    """A task whose targets are poses of a frame."""

    frame: str

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return 4, 4

    @property
    def lengths(self) -> Sequence[int]:
        return range(3)

    def check_target(self, model: Model, target: np.ndarray) -> None:
        if are_all(pose_defect(model, target) <= ROTATION):  # a tenth of the time of what says where
            return
        what, last = f"{type(self).__name__}({self.frame!r}).target", target[..., 3, :]
        expected = "0 0 0 1 as the last row of a homogeneous matrix"
        _raise_for_first(what, (last != UNIT[3]).any(axis=-1), last, expected)
        check_rotations(what, target[..., :3, :3])


@dataclass(frozen=True, eq=False)
class RelativeFrame(PoseTask):
    """A frame is to have a pose in another one.

    Error (6,): its origin minus the one that is asked for [m], and the rotation vector from the orientation that is
    asked for to its own [rad], both along the axes of `root`.

    Args:
        frame: name of a body or frame.
        root: name of the one in which the target is given.
        target: poses, an `SE3` or homogeneous matrices of shape (..., 4, 4) [m].
        weight, gain, priority: as for `Task`, with its errors.

    Examples:
        >>> X = cardan.frame_transform(arm, q, "tool", relative_to="elbow")
        >>> held = cardan.tasks.RelativeFrame("tool", "elbow", X)
        >>> bool(cardan.inverse_kinematics(arm, [held]).converged)
        True
    """

    frame: str
    root: str
    target: ArrayLike | SE3 | None = None

    def error(self, model: Model, q: Any, target: Any) -> Any:
        X, wanted = RelativeMotion(model, q, self.frame, self.root).X, SE3.of(target)
        return [*(X.translation - wanted.translation), *orientation_error(X.rotation, wanted.rotation)]

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        motion = RelativeMotion(model, q, self.frame, self.root)
        columns, error = motion.columns(), orientation_error(motion.X.rotation, SE3.of(target).rotation)
        return rows_of([c.linear for c in columns]) + turned_rows(error, columns)


@dataclass(frozen=True, eq=False)
class FramePose(PoseTask):
    """A frame is to have a pose in the world.

    Error (6,): as for `RelativeFrame`, along the axes of the world.

    Args:
        frame: name of a body or frame.
        target: poses, an `SE3` or homogeneous matrices of shape (..., 4, 4) [m].
        weight, gain, priority: as for `Task`, with its errors.

    Examples:
        >>> reach = cardan.tasks.FramePose("tool", cardan.frame_transform(arm, q, "tool"))
        >>> bool(cardan.inverse_kinematics(arm, [reach, cardan.tasks.Posture(arm.neutral(), weight=0.0)]).converged)
        True

    Peers: pink `FrameTask`, mink `FrameTask`.
    """

    frame: str
    target: ArrayLike | SE3 | None = None

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return RelativeFrame(self.frame, WORLD).error(model, q, target)

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return RelativeFrame(self.frame, WORLD).jacobian(model, q, target)


@dataclass(frozen=True, eq=False)
class FramePosition(PlaceTask):
    """The origin of a frame is to be at a place in the world.

    Error (3,): where it is minus where it is to be [m], along the axes of the world.

    Args:
        frame: name of a body or frame.
        target: places [m], shape (..., 3).
        weight, gain, priority: as for `Task`, with its errors.

    Examples:
        >>> place = cardan.tasks.FramePosition("tool", (0.4, 0.0, 0.6))
        >>> bool(cardan.inverse_kinematics(arm, [place]).converged)
        True
    """

    frame: str
    target: ArrayLike | None = None

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return list(RelativeMotion(model, q, self.frame, WORLD).X.translation - Vector3.of(target))

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return rows_of([c.linear for c in RelativeMotion(model, q, self.frame, WORLD).columns()])


@dataclass(frozen=True, eq=False)
class FrameOrientation(Task):
    """A frame is to have an orientation in the world.

    Error (3,): the rotation vector from the orientation asked for to its own [rad], along the axes of the world.

    Args:
        frame: name of a body or frame.
        target: rotation matrices, shape (..., 3, 3) [-].
        weight, gain, priority: as for `Task`, with its errors.

    Examples:
        >>> level = cardan.tasks.FrameOrientation("tool", np.eye(3))
        >>> bool(cardan.inverse_kinematics(arm, [level]).converged)
        True
    """

    frame: str
    target: ArrayLike | None = None

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return 3, 3

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return list(orientation_error(RelativeMotion(model, q, self.frame, WORLD).X.rotation, target))

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        motion = RelativeMotion(model, q, self.frame, WORLD)
        return turned_rows(orientation_error(motion.X.rotation, target), motion.columns())

    def check_target(self, model: Model, target: np.ndarray) -> None:
        check_rotations(f"{type(self).__name__}({self.frame!r}).target", target)


@dataclass(frozen=True, eq=False)
class LookAt(Task):
    """An axis of a frame, from its origin, is to point to a place in the world.

    Error (3,): the axis minus the direction to the place, unit vectors along the axes of the frame: of length
    2 sin(angle / 2), so the angle between the two [rad] where it is small; smooth at every angle.

    Args:
        frame: name of a body or frame, such as a camera's.
        axis: direction in that frame [-], three numbers of any length but 0.
        target: places [m], shape (..., 3).
        weight, gain, priority: as for `Task`, with its errors.

    Raises:
        ParameterError: for an axis without direction.

    Examples:
        >>> look = cardan.tasks.LookAt("tool", axis=(0.0, 0.0, 1.0), target=(1.0, 0.0, 0.5))
        >>> bool(cardan.inverse_kinematics(arm, [look]).converged)
        True
    """

    frame: str
    axis: Sequence[float] = (1.0, 0.0, 0.0)
    target: ArrayLike | None = None

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        object.__setattr__(self, "axis", tuple(unit_vector(self.axis, f"axis of LookAt({self.frame!r})")))

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return (3,)

    def error(self, model: Model, q: Any, target: Any) -> Any:
        seen = RelativeMotion(model, q, self.frame, WORLD).X.inverse_act(Vector3.of(target))
        return list(Vector3.of(self.axis) - seen / seen.norm())

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        """Return the rows of (1 - d d^T) R^T (v + w x r) / |r|, with r the way to the place and d along it."""
        motion = RelativeMotion(model, q, self.frame, WORLD)
        r = Vector3.of(target) - motion.X.translation
        distance, R = r.norm(), motion.X.rotation
        d = R.transpose_apply(r) / distance
        rates = [R.transpose_apply(c.linear + c.angular.cross(r)) / distance for c in motion.columns()]
        return rows_of([rate - d * d.dot(rate) for rate in rates])


@dataclass(frozen=True, eq=False)
class CenterOfMass(PlaceTask):
    """The centre of mass of all bodies is to be at a place in the world.

    Error (3,): where it is minus where it is to be [m], along the axes of the world.

    Args:
        target: places [m], shape (..., 3).
        weight, gain, priority: as for `Task`, with its errors; weight=(1, 1, 0) leaves the height free.

    Raises:
        MechanismError: when it is used, if no body has mass.

    Examples:
        >>> stand = cardan.tasks.CenterOfMass((0.0, 0.0, 0.5), weight=(1.0, 1.0, 0.0))
        >>> stand.target_shape(arm)
        (3,)
    """

    target: ArrayLike | None = None

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return list(center_of_mass.kernel(model, q) - Vector3.of(target))

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return center_of_mass_jacobian.kernel(model, q)


@dataclass(frozen=True, eq=False)
class Posture(Task):
    """The robot is to have a configuration.

    Error (nv,): `difference(target, q)`, the shortest way from there to where it is [rad, m].

    Args:
        target: configurations, shape (..., nq) [rad, m].
        weight, gain, priority: as for `Task`, with its errors; a weight of 0 for the joints that do not matter.

    Examples:
        >>> cardan.tasks.Posture(arm.neutral(), weight=0.01).target_shape(arm)
        (7,)

    Peers: pink `PostureTask`, mink `PostureTask`.
    """

    target: ArrayLike | None = None

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return (model.nq,)

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return list(model.manifold.difference(target, q))

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return model.manifold.difference_rate_jacobian(model.manifold.difference(target, q))

    def check_target(self, model: Model, target: np.ndarray) -> None:
        rows = target.reshape(math.prod(target.shape[:-1]), model.nq)
        check_configuration("Posture", "target", rows, model.unit_parts)


@dataclass(frozen=True, eq=False)
class Damping(Task):
    """The robot is to move as little as it can: a velocity costs, where the robot is does not.

    Error (nv,): 0, and it changes by v [rad/s, m/s].

    Args:
        weight, gain, priority: as for `Task`, with its errors; the gain has no effect.

    Examples:
        >>> cardan.tasks.Damping(weight=0.1).priority
        0
    """

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return [0.0] * model.nv

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        return identity_rows(model.nv)


@dataclass(frozen=True, eq=False)
class ClosedLoops(Task):
    """The joints that close loops are to be closed.

    Error (nc,): `loop_residual` [m, rad].

    Args:
        weight, gain, priority: as for `Task`, with its errors.

    Raises:
        MechanismError: when it is used, if the model has no loops.

    Examples:
        >>> linkage = cardan.robots.four_bar().model()
        >>> closed = cardan.inverse_kinematics(linkage, [cardan.tasks.ClosedLoops()])
        >>> bool(closed.converged)
        True
    """

    def error(self, model: Model, q: Any, target: Any) -> Any:
        return loop_residual.kernel(with_loops(model, "ClosedLoops"), q)
