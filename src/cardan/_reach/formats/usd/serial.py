"""Several joints between the same two bodies, in the same direction: one joint, of which they are the links in a row.

So exporters write bodies of MuJoCo with several joints. As joints of UsdPhysics each would hold what the other frees;
where all of them agree on how the bodies stand at zero, X_0 = A_i B_i^-1, they are read as MuJoCo means them, with A_i,
B_i the frames of joint i in the bodies:

    X = A_1 J_1 B_1^-1 B_2 J_2 B_2^-1 ... B_n J_n B_n^-1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Vector3
from cardan._reach.formats.usd.joints import Properties, UsdJoint
from cardan._reach.formats.usd.stage import Stage
from cardan._robot.joints import D6, Composite, Joint, Limits, Prismatic, Revolute
from cardan._robot.records import Drive, Spring

CLOSE = 1e-5
"""How far frames may be apart and still be meant to be one [m, rad]: they are products of float32 rotations."""


def with_chains(stage: Stage, joints: Sequence[UsdJoint]) -> list[UsdJoint]:
    """Return joints with those in a row made one, which stands where the first of them did."""
    rows: dict[tuple[str, str], list[UsdJoint]] = {}
    for joint in joints:
        if isinstance(joint.joint, (Revolute, Prismatic)) and not joint.is_excluded and joint.copying is None:
            rows.setdefault(joint.bodies, []).append(joint)
    made: dict[str, UsdJoint | None] = {}
    for row in rows.values():
        if 1 < len(row) <= 6 and _agree(row):
            chain = _chain(row)
            made |= {joint.path: None for joint in row} | {row[0].path: chain}
            kind = type(chain.joint).__name__
            told = f"{len(row)} joints between two bodies, in a row: they are read as one, {chain.name!r} ({kind})"
            stage.report.remark(stage.where(row[0].prim), told)
    return [new for joint in joints if (new := made.get(joint.path, joint)) is not None]


def _agree(row: Sequence[UsdJoint]) -> bool:
    at_zero = [(j.poses[0] @ j.poses[1].inverse()).matrix() for j in row]
    return all(np.abs(X - at_zero[0]).max() < CLOSE for X in at_zero)


def _chain(row: Sequence[UsdJoint]) -> UsdJoint:
    steps = [SE3.identity(), *(a.poses[1].inverse() @ b.poses[1] for a, b in pairwise(row))]
    joint, last = _joint([j.joint for j in row], steps), row[-1].poses[1]
    if isinstance(joint, D6):  # all at one point: its frames are those of the first
        last = row[0].poses[1]
    return replace(
        row[0],
        joint=joint,
        poses=(row[0].poses[0], last),
        properties=_together([j.properties for j in row]),
        name="+".join(j.name for j in row),
        may_touch=all(j.may_touch for j in row),
    )


def _joint(joints: Sequence[Joint], steps: Sequence[SE3]) -> Joint:
    """Return a D6 joint where it is one: translations first, all rotations about one point; else a composite."""
    linear: list[Vector3] = []
    angular: list[Vector3] = []
    turned = SE3.identity()
    for joint, step in zip(joints, steps, strict=True):
        turned = turned @ SE3(step.rotation)
        is_turn = isinstance(joint, Revolute)
        if max(map(abs, step.translation)) > CLOSE or (angular and not is_turn):
            return Composite(joints, steps)
        (angular if is_turn else linear).append(turned.rotation @ joint.axis)  # pyright: ignore
    try:
        return D6(linear, angular)
    except ParameterError:  # axes that are parallel, or too many
        return Composite(joints, steps)


def _together(parts: Sequence[Properties]) -> Properties:
    """Return the properties of all degrees of freedom, one after the other."""

    def row(values: Iterable[Sequence[float]]) -> tuple[float, ...]:
        return tuple(e for value in values for e in value)

    limits = Limits(*(row(getattr(p.limits, f.name) for p in parts) for f in fields(Limits)[:4]))
    drives = [p.drive or Drive((0.0,), (0.0,)) for p in parts]
    springs = [p.spring or Spring((0.0,), (0.0,)) for p in parts]
    drive = Drive(*(row(getattr(d, k) for d in drives) for k in ("stiffness", "damping")))
    spring = Spring(*(row(getattr(s, k) for s in springs) for k in ("stiffness", "rest")))
    others = (row(getattr(p, k) for p in parts) for k in ("damping", "friction", "armature", "targets", "states"))
    return Properties(limits, drive, spring, *others)
