"""What the modules of the reader share: the compiled model, the mechanism in the making, which number has which name.

Sites mark frames of balls and free joints: MuJoCo has these joints at their bodies, cardan anywhere.

ball     X_parent_child = body_pose R(qpos)     = parent_pose R(q) child_pose^-1
free     X_world_child  = X(qpos)               = parent_pose X(q) child_pose^-1
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import (
    matrix_from_quaternion_xyzw,
    quaternion_normalize_xyzw,
    quaternion_xyzw_from_matrix,
)
from cardan._reach.formats.mjcf.compiled import CompiledMjcf
from cardan._reach.formats.report import FilePlace, Report
from cardan._reach.interop.mujoco_joints import meant
from cardan._robot.description import Mechanism

SIDES = ("parent", "child")
EXACT = 1e-9  # how well the marks of a ball have to fit where it is [m, -]: files print six digits or more


class Names:
    """Names of one kind of thing, each used once: MuJoCo needs none, cardan gives everything one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._count: Counter[str] = Counter()

    def new(self, wanted: str) -> str:
        """Return a name nobody has: the wanted one, or that with a number."""
        name = wanted
        while name in self._taken:
            self._count[wanted] += 1
            name = f"{wanted}_{self._count[wanted] + 1}"
        self._taken.add(name)
        return name


class JointPart(NamedTuple):
    joint: str  # name of the joint it is, or is part of
    v: int  # where its velocities begin in that
    nv: int  # how many it has
    all: int  # how many that joint has


@dataclass(slots=True)
class MjcfReading:
    there: CompiledMjcf  # as MuJoCo has it
    report: Report  # where faults go
    mechanism: Mechanism  # what has been made so far
    bodies: list[str] = field(default_factory=list)  # name of each of MuJoCo's bodies
    parts: dict[int, JointPart] = field(default_factory=dict)  # by the number of MuJoCo's joint
    # by the number of a ball or free joint, where sites `name:parent` and `name:child` mark its frames to be
    marks: dict[int, tuple[SE3, SE3]] = field(default_factory=dict)
    _infos: dict[str, dict[int, str]] = field(default_factory=dict)

    def place(self, kind: str, number: int) -> FilePlace:
        if kind not in self._infos:
            self._infos[kind] = {element.id: element.info for element in getattr(self.there.spec, kind)}
        return self.there.text.place(self._infos[kind].get(number, ""))

    def name(self, kind: str, number: int) -> str:
        """Return the name of one of MuJoCo's objects, such as a `"SITE"`; empty if it has none."""
        mj = self.there.mj
        return mj.mj_id2name(self.there.model, getattr(mj.mjtObj, f"mjOBJ_{kind}"), number) or ""

    def names(self, kind: str, count: int) -> list[str]:
        return [self.name(kind, k) for k in range(count)]


def is_(number: Any, kind: Any) -> bool:
    """Return whether a number of the compiled model stands for a kind; MuJoCo's kinds equal no number of NumPy."""
    return int(number) == int(kind)


def bounds(is_limited: object, values: Sequence[float]) -> tuple[float, float]:
    """Return a range of the compiled model, infinite where it does not count."""
    return meant(*map(float, values)) if is_limited else (-math.inf, math.inf)


def pose(position: Sequence[float], quaternion: Sequence[float]) -> SE3:
    """Return a pose from MuJoCo's position and quaternion (w, x, y, z)."""
    w, x, y, z = map(float, quaternion)
    return SE3(matrix_from_quaternion_xyzw(quaternion_normalize_xyzw((x, y, z, w))), tuple(map(float, position)))


def read_marks(r: MjcfReading) -> None:
    m, mj = r.there.model, r.there.mj
    for k in range(m.njnt):
        is_free = is_(m.jnt_type[k], mj.mjtJoint.mjJNT_FREE)
        if is_free or is_(m.jnt_type[k], mj.mjtJoint.mjJNT_BALL):
            sites = [mj.mj_name2id(m, mj.mjtObj.mjOBJ_SITE, f"{r.name('JOINT', k)}:{side}") for side in SIDES]
            body = int(m.jnt_bodyid[k])
            if min(sites) >= 0 and [int(m.site_bodyid[s]) for s in sites] == [int(m.body_parentid[body]), body]:
                parent, child = (pose(m.site_pos[s], m.site_quat[s]) for s in sites)
                if is_free or _fits(m, k, parent, child):
                    r.marks[k] = parent, child


def _fits(m: Any, k: int, parent: SE3, child: SE3) -> bool:
    """Return whether the marks of a ball meet in its centre when it is at rest."""
    body = int(m.jnt_bodyid[k])
    there = pose(m.body_pos[body], m.body_quat[body]) @ child
    pairs = [(child.translation, m.jnt_pos[k]), (there.translation, parent.translation)]
    pairs += zip(there.rotation.rows(), parent.rotation.rows(), strict=True)
    return all(abs(a - b) <= EXACT for one, other in pairs for a, b in zip(one, other, strict=True))


def names_of_marks(r: MjcfReading) -> set[str]:
    return {f"{r.name('JOINT', k)}:{side}" for k in r.marks for side in SIDES}


def seen_from_marks(r: MjcfReading, k: int, part: list[float]) -> list[float]:
    """Return coordinates of a ball or free joint, whose quaternion is (x, y, z, w), between the marked frames."""
    if k not in r.marks:
        return part
    parent, child = r.marks[k]
    x, y, z, w = part[-4:]
    if len(part) == 4:
        parent = child = SE3(child.rotation)
    X = parent.inverse() @ pose(part[:-4] or (0.0, 0.0, 0.0), (w, x, y, z)) @ child
    place = X.translation if len(part) > 4 else ()
    return [*map(float, place), *map(float, quaternion_xyzw_from_matrix(X.rotation))]


def gear_from_marks(r: MjcfReading, k: int, gear: tuple[float, ...]) -> tuple[float, ...]:
    """Return the gear about a ball's or free joint's own axes, given that about its body's."""
    if k not in r.marks:
        return gear
    about = r.marks[k][1].rotation.T.rows()
    turned = tuple(sum(float(r) * e for r, e in zip(row, gear[-3:], strict=True)) for row in about)
    return (*gear[:-3], *turned)
