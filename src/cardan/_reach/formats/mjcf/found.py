"""What the pages of the reader share: the compiled model, the mechanism in the making, which number has which name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw, quaternion_normalize_xyzw
from cardan._reach.formats.mjcf.compiled import Compiled
from cardan._reach.formats.report import Place, Report
from cardan._reach.interop.mujoco_joints import meant
from cardan._robot.description import Mechanism


class Slot(NamedTuple):
    """Where one of MuJoCo's joints is.

    Attributes:
        joint: name of the joint it is, or is part of.
        v: where its velocities begin in that.
        nv: how many it has.
        all: how many that joint has.
    """

    joint: str
    v: int
    nv: int
    all: int

    @property
    def is_whole(self) -> bool:
        """Whether it is that joint."""
        return self.nv == self.all


@dataclass(slots=True)
class Found:
    """A description half read.

    Attributes:
        there: as MuJoCo has it.
        report: where faults go.
        mechanism: what has been made so far.
        bodies: name of each of MuJoCo's bodies.
        slots: by the number of MuJoCo's joint.
        marks: by the number of a ball or free joint, where sites `name:parent` and `name:child` mark its frames to be.
    """

    there: Compiled
    report: Report
    mechanism: Mechanism
    bodies: list[str] = field(default_factory=list)
    slots: dict[int, Slot] = field(default_factory=dict)
    marks: dict[int, tuple[SE3, SE3]] = field(default_factory=dict)
    _infos: dict[str, dict[int, str]] = field(default_factory=dict)

    def place(self, kind: str, number: int) -> Place:
        """Return where an element was described: `kind` is the name of a list of the specification's."""
        if kind not in self._infos:
            self._infos[kind] = {element.id: element.info for element in getattr(self.there.spec, kind)}
        return self.there.text.place(self._infos[kind].get(number, ""))

    def name(self, kind: str, number: int) -> str:
        """Return the name of one of MuJoCo's objects, such as a `"SITE"`; empty if it has none."""
        mj = self.there.mj
        return mj.mj_id2name(self.there.model, getattr(mj.mjtObj, f"mjOBJ_{kind}"), number) or ""


def is_(number: object, kind: object) -> bool:
    """Return whether a number of the compiled model stands for a kind; MuJoCo's kinds equal no number of NumPy."""
    return int(number) == int(kind)  # pyright: ignore[reportArgumentType]


def bounds(is_limited: object, values: Sequence[float]) -> tuple[float, float]:
    """Return a range of the compiled model, infinite where it does not count."""
    return meant(*map(float, values)) if is_limited else (-math.inf, math.inf)


def pose(position: Sequence[float], quaternion: Sequence[float]) -> SE3:
    """Return a pose from MuJoCo's position and quaternion (w, x, y, z)."""
    w, x, y, z = map(float, quaternion)
    return SE3(matrix_from_quaternion_xyzw(quaternion_normalize_xyzw((x, y, z, w))), tuple(map(float, position)))
