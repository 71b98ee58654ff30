"""Frames of balls and free joints that sites mark: MuJoCo has these joints at their bodies, cardan anywhere.

ball     X_parent_child = body_pose R(qpos)     = parent_pose R(q) child_pose^-1
free     X_world_child  = X(qpos)               = parent_pose X(q) child_pose^-1
"""

from __future__ import annotations

from typing import Any

from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._reach.formats.mjcf.found import Found, is_, pose

SIDES = ("parent", "child")
EXACT = 1e-9
"""How well the marks of a ball have to fit where it is [m, -]."""


def read_marks(found: Found) -> None:
    """Note the marked frames of balls and free joints."""
    m, mj = found.there.model, found.there.mj
    for k in range(m.njnt):
        if is_(m.jnt_type[k], mj.mjtJoint.mjJNT_BALL) or is_(m.jnt_type[k], mj.mjtJoint.mjJNT_FREE):
            sites = [mj.mj_name2id(m, mj.mjtObj.mjOBJ_SITE, f"{found.name('JOINT', k)}:{side}") for side in SIDES]
            body = int(m.jnt_bodyid[k])
            if min(sites) >= 0 and [int(m.site_bodyid[s]) for s in sites] == [int(m.body_parentid[body]), body]:
                parent, child = (pose(m.site_pos[s], m.site_quat[s]) for s in sites)
                if is_(m.jnt_type[k], mj.mjtJoint.mjJNT_FREE) or _fits(m, k, parent, child):
                    found.marks[k] = parent, child


def _fits(m: Any, k: int, parent: SE3, child: SE3) -> bool:
    """Return whether the marks of a ball meet in its centre when it is at rest."""
    body = int(m.jnt_bodyid[k])
    there = pose(m.body_pos[body], m.body_quat[body]) @ child
    off = [abs(a - b) for a, b in zip(child.translation, m.jnt_pos[k], strict=True)]
    off += [abs(a - b) for a, b in zip(there.translation, parent.translation, strict=True)]
    for row, other in zip(there.rotation.rows(), parent.rotation.rows(), strict=True):
        off += [abs(a - b) for a, b in zip(row, other, strict=True)]
    return max(off) <= EXACT


def names_of_marks(found: Found) -> set[str]:
    """Return the names of the sites that are such marks."""
    return {f"{found.name('JOINT', k)}:{side}" for k in found.marks for side in SIDES}


def seen_from_marks(found: Found, k: int, part: list[float]) -> list[float]:
    """Return coordinates of a ball or free joint, whose quaternion is (x, y, z, w), between the marked frames."""
    if k not in found.marks:
        return part
    parent, child = found.marks[k]
    x, y, z, w = part[-4:]
    is_ball = len(part) == 4
    moved = pose((0.0, 0.0, 0.0) if is_ball else part[:3], (w, x, y, z))
    X = (SE3(child.rotation) if is_ball else parent).inverse() @ moved @ (SE3(child.rotation) if is_ball else child)
    return [*([] if is_ball else map(float, X.translation)), *map(float, quaternion_xyzw_from_matrix(X.rotation))]


def gear_from_marks(found: Found, k: int, gear: tuple[float, ...]) -> tuple[float, ...]:
    """Return the gear about a ball's or free joint's own axes, given that about its body's."""
    if k not in found.marks:
        return gear
    about = found.marks[k][1].rotation.T.rows()
    turned = tuple(sum(float(r) * e for r, e in zip(row, gear[-3:], strict=True)) for row in about)
    return (*gear[:-3], *turned)
