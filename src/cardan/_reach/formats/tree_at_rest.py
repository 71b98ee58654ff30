"""A directed tree at rest, which the writers of URDF, SDF and MJCF make of a mechanism; axes and their directions.

A joint of the tree leads away from its root; with every coordinate zero, X the poses of bodies,

    X_child = X_parent parent_pose child_pose^-1
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from cardan._algebra.spatial import SE3, Matrix3, Vector3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import Forest
from cardan._robot.joints import Fixed, Joint, Mimic
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import WORLD, Connection, Model

Joints = tuple[Connection, ...]
EMPTY = "add one with add_body"


def without_mimic(joint: Joint) -> Any:
    """Return the joint that a mimic moves as; any other joint itself."""
    return joint.joint if isinstance(joint, Mimic) else joint


def as_hinge(c: Connection, kinds: Collection[type[Joint]]) -> Connection:
    """Return a joint that a format has under another name, such as a user's own hinge, as one of the format's kinds."""
    hinge = hinge_of(without_mimic(c.joint))
    if hinge is None or type(hinge.joint) not in kinds:
        return c
    joint = replace(c.joint, joint=hinge.joint) if isinstance(c.joint, Mimic) else hinge.joint
    poses = {"parent_pose": c.parent_pose @ hinge.before, "child_pose": c.child_pose @ hinge.after.inverse()}
    return replace(c, joint=joint, **poses)


def joints_of(thing: Mechanism | Model) -> Joints:
    """Return all joints: those of a mechanism, or those of a model's tree and then its closures."""
    return (*thing.connections, *thing.closures) if isinstance(thing, Model) else tuple(thing.joints)


def has_given_base(model: Model) -> bool:
    """Return whether a model hangs on the world by just the joint that `cardan.load` adds by itself."""
    first, *others = joints_of(model)
    is_given = first == Connection("root", Fixed(), WORLD, first.child)
    return is_given and all(WORLD not in (c.parent, c.child) for c in others)


def connected(bodies: Iterable[str], joints: Iterable[Connection]) -> Forest:
    forest = Forest((WORLD, *bodies))
    for c in joints:
        forest.join(c.parent, c.child)
    return forest


def outwards(starts: Iterable[str], joints: Iterable[Connection]) -> Iterator[tuple[Connection, str, str]]:
    """Yield the joints of spanning trees, each with the body it comes from and the one it leads to.

    A tree begins at each start that none of those before is connected to.
    """
    at: dict[str, list[Connection]] = {}
    for c in joints:
        at.setdefault(c.parent, []).append(c)
        at.setdefault(c.child, []).append(c)
    reached: set[str] = set()
    for start in starts:
        waiting = [] if start in reached else [start]
        reached.add(start)
        while waiting:
            here = waiting.pop()
            for c in at.get(here, ()):
                other = c.child if here == c.parent else c.parent
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
                    yield c, here, other


def poses_at_rest(
    starts: Iterable[str], joints: Iterable[Connection], given: dict[str, SE3]
) -> tuple[dict[str, SE3], dict[str, Connection]]:
    """Return X_root_body of the bodies, and the joint that leads to each where it is directed so.

    Trees may begin at `starts`, all bodies among them, of which some have a pose that is given.
    """
    poses: dict[str, SE3] = {}
    tree: dict[str, Connection] = {}
    starts = tuple(starts)
    for c, here, other in outwards(starts, joints):
        X = c.parent_pose @ c.child_pose.inverse()
        start = poses.setdefault(here, given.get(here, SE3.identity()))
        poses[other] = start @ (X if other == c.child else X.inverse())
        if other == c.child:
            tree[other] = c
    for body in starts:
        poses.setdefault(body, given.get(body, SE3.identity()))
    return poses, tree


def unit_axis(xyz: Sequence[float]) -> Vector3:
    """Return a direction at unit length; one that has it, to rounding, as it is."""
    largest = max(map(abs, xyz))
    if largest <= 1.0 and abs(math.hypot(*xyz) - 1.0) <= 2.0 * sys.float_info.epsilon:
        return Vector3(*xyz)
    scaled = [e / largest for e in xyz]  # the squares of the numbers as given may be too large or small
    return Vector3(*(e / math.hypot(*scaled) for e in scaled))


def rotation_onto(normal: Vector3) -> Matrix3:
    """Return the shortest rotation that turns z onto a unit normal; about x where the normal is -z."""
    x, y, z = normal
    sideways = x * x + y * y
    if sideways == 0.0:
        return Matrix3.identity() if z > 0.0 else Matrix3.diagonal(1.0, -1.0, -1.0)
    one_plus_z = 1.0 + z if z > 0.0 else sideways / (1.0 - z)
    return matrix_from_quaternion_xyzw((-y, x, 0.0, one_plus_z))
