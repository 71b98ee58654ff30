"""How joints place and move the bodies below them: with frames of bodies that may have been moved, joint by joint.

If X_A(q) and X_B(q) lead from the parent to the child in the two robots, and T is where the frame of B's body is in
that of A's, T_child = X_A(q)^-1 T_parent X_B(q) must be the same at all q. If it is the identity, all is equal; if it
is another, the frame was moved, or the body was. If it changes with q, the joint is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardan._algebra.spatial import SE3, Matrix3
from cardan._algebra.spatial.rotations import rotation_vector_from_matrix
from cardan._reach.comparison.differences import Difference
from cardan._reach.comparison.matching import JointChain, is_fixed, moved_by
from cardan._robot.joints import Coupled, Joint, Mimic
from cardan._robot.model import Connection

Pose = np.ndarray  # A pose as a matrix, (4, 4)
SAMPLES = 4


@dataclass(frozen=True, slots=True)
class JointPlacing:
    """What became of a joint: the place of B's child frame in A's, and what differs."""

    offset: Pose
    difference: Difference | None = None
    note: str = ""


def compare_placing(mine: JointChain, theirs: JointChain, above: Pose, tolerance: float) -> JointPlacing:
    a, b = _single(mine.moving), _single(theirs.moving)
    name = mine.moving.name
    if a.nq == b.nq:
        offset = _constant(lambda q: _offset(mine, theirs, above, q, q), _configurations(a), tolerance)
        if offset is not None:
            return JointPlacing(offset, note="" if type(a) is type(b) or a.nq == 0 else _other_kind(name, a, b))
    else:
        offset = _by_poses(mine, theirs, above, tolerance)
        if offset is not None and a.nv == 1 and _is_reversed(mine, theirs, above):
            difference = Difference("motion", name, "moves the other way")
            return JointPlacing(offset, difference, _other_kind(name, a, b))
        if offset is not None:
            return JointPlacing(offset, note=_other_kind(name, a, b))
    return _explained(mine, theirs, above, name, tolerance)


def _other_kind(name: str, a: Joint, b: Joint) -> str:
    return f"joint {name!r} moves alike and has other coordinates: {type(a).__name__} in a, {type(b).__name__} in b"


def _single(c: Connection) -> Joint:
    joint = moved_by(c.joint)
    return joint.joint if isinstance(joint, (Coupled, Mimic)) else c.joint


def _configurations(joint: Joint) -> list[tuple[float, ...]]:
    neutral = tuple(map(float, joint.neutral()))
    return [neutral, *(tuple(map(float, q)) for q in joint.random_configuration((SAMPLES,), seed=7))]


def pose(chain: JointChain, q: tuple[float, ...]) -> Pose:
    """Return X_above_body with a joint in a configuration."""
    result = np.eye(4)
    for c in chain.joints:
        joint = _single(c)
        X = joint.transform(q if c is chain.moving and not is_fixed(c) else joint.neutral())
        result = result @ (c.parent_pose @ X @ c.child_pose.inverse()).matrix()
    return result


def inverse(X: Pose) -> Pose:
    return SE3.of(X).inverse().matrix()


def _offset(mine: JointChain, theirs: JointChain, above: Pose, q: Any, r: Any) -> Pose:
    return inverse(pose(mine, q)) @ above @ pose(theirs, r)


def _constant(of: Callable[[Any], Pose], configurations: list[Any], tolerance: float) -> Pose | None:
    """Return a pose that is the same in all configurations, or None."""
    first = of(configurations[0])
    size = 1.0 + float(np.abs(first[:3, 3]).max())
    return first if all(np.abs(of(q) - first).max() <= tolerance * size for q in configurations[1:]) else None


def _is_reversed(mine: JointChain, theirs: JointChain, above: Pose) -> bool:
    """Return whether the velocity of the second of two joints that move alike has the other sign."""
    ends = []
    for chain in (mine, theirs):
        joint = _single(chain.moving)
        ends.append([pose(chain, tuple(map(float, joint.integrate(joint.neutral(), (h,))))) for h in (0.0, 0.1)])
    steps = [inverse(start) @ end for start, end in ([ends[0], [above @ X for X in ends[1]]])]
    return not np.allclose(*steps, atol=1e-6)


def _by_poses(mine: JointChain, theirs: JointChain, above: Pose, tolerance: float) -> Pose | None:
    """Return the identity if the second joint can follow the first, whatever its coordinates are."""
    c, joint = theirs.moving, _single(theirs.moving)
    if len(theirs.joints) > 1 or joint.nv != _single(mine.moving).nv:
        return None
    for q in _configurations(_single(mine.moving)):  # all samples: a joint may follow at one by chance
        wanted = inverse(above) @ pose(mine, q)
        X = inverse(c.parent_pose.matrix()) @ wanted @ c.child_pose.matrix()
        try:
            r = tuple(map(float, joint.nearest_configuration(SE3.of(X))))
        except (NotImplementedError, ArithmeticError, ValueError):
            return None
        if np.abs(pose(theirs, r) - wanted).max() > tolerance * (1.0 + np.abs(wanted[:3, 3]).max()):
            return None
    return np.eye(4)


def _explained(mine: JointChain, theirs: JointChain, above: Pose, name: str, tolerance: float) -> JointPlacing:
    a, b = _single(mine.moving), _single(theirs.moving)
    kinds = type(moved_by(a)).__name__, type(moved_by(b)).__name__
    if kinds[0] != kinds[1] or a.nq != b.nq:
        return JointPlacing(np.eye(4), Difference("motion", name, "another kind of joint", *kinds))
    configurations = _configurations(a)
    place = _constant(lambda q: above @ pose(theirs, q) @ inverse(pose(mine, q)), configurations, max(tolerance, 1e-7))
    if place is not None:
        at = inverse(pose(mine, configurations[0])) @ place @ pose(mine, configurations[0])
        cause = f"the joint{shift(np.eye(4), at)}, in its own axes"
        return JointPlacing(np.eye(4), Difference("motion", name, "is elsewhere on the body above", cause=cause))
    return JointPlacing(np.eye(4), _axes(mine, theirs, above, name))


def _axes(mine: JointChain, theirs: JointChain, above: Pose, name: str) -> Difference:
    """Return the axes of a joint with one coordinate, seen in the body above, if they differ."""
    lines = [_axis(chain) for chain in (mine, theirs)]
    if lines[0] is not None and lines[1] is not None:
        a, b = (tuple(float(e) + 0.0 for e in np.round(u, 9)) for u in (lines[0], above[:3, :3] @ lines[1]))
        if not np.allclose(a, b, atol=1e-9):
            return Difference("motion", name, "axis", a, b)
    return Difference("motion", name, "moves otherwise")


def _axis(chain: JointChain) -> np.ndarray | None:
    """Return the direction in which, or about which, a joint moves, in the body above; None for one with more."""
    joint = _single(chain.moving)
    if joint.nq != 1 or joint.nv != 1:
        return None
    h = 1e-4  # central: the error is h^2, and rounding 1e-16 / h
    X, Y = pose(chain, (-h,)), pose(chain, (h,))
    W = (Y[:3, :3] - X[:3, :3]) @ pose(chain, (0.0,))[:3, :3].T
    turning = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
    moving = Y[:3, 3] - X[:3, 3]
    u = turning if np.linalg.norm(turning) > 1e-9 else moving  # a screw turns and shifts: its axis is that of the turn
    return u / np.linalg.norm(u) if u.any() else None


def shift(X: Pose, Y: Pose, tolerance: float = 0.0) -> str:
    """Return in words how Y is turned and moved from X, in the axes of X; empty if they are the same."""
    if np.abs(X - Y).max() <= tolerance * (1.0 + np.abs(Y[:3, 3]).max()):
        return ""
    between = inverse(X) @ Y
    turned = _turn(between[:3, :3])
    words = f" is turned {turned}" if turned else ""
    if np.abs(between[:3, 3]).max() > 1e-9:
        words += (" and" if words else " is") + " moved by " + _vector(between[:3, 3])
    return words or " is the same"


def _vector(p: np.ndarray) -> str:
    return "(" + " ".join(f"{e + 0.0:.4g}" for e in np.where(np.abs(p) < 1e-12, 0.0, p)) + ") m"


def _turn(R: np.ndarray) -> str:
    """Return in words by how much a rotation turns, and about which axis; empty if it does not."""
    phi = np.array(rotation_vector_from_matrix(Matrix3.of(R)), dtype=float)
    angle = float(np.linalg.norm(phi))
    if angle < 1e-7:
        return ""
    axis = " ".join(f"{e + 0.0:.4g}" for e in np.round(phi / angle, 9))
    return f"by {math.degrees(angle):.4g} degrees about ({axis})"
