"""Joints that copy others, as Newton, PhysX and MuJoCo write them on a joint's prim.

Newton: q = coef0 + coef1 q_target, coef0 in degrees or stage units. PhysX: q + gearing q_target + offset = 0, the
offset in degrees. MuJoCo: q = coef0 + coef1 q_target in radians or metres, and higher powers, which are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cardan._algebra.errors import quoted
from cardan._reach.formats.usd.dofs import Dof, Units
from cardan._reach.formats.usd.scene import schemas
from cardan._reach.formats.usd.stage import Stage
from cardan._reach.formats.usd.values import flag, number, targets
from cardan._robot.joints import Joint, Mimic, Prismatic, Revolute


class Copying(NamedTuple):
    """Which joint, by path, a joint copies, and how."""

    primary: str
    multiplier: float
    offset: float


def read_mimic(stage: Stage, prim: Any, dofs: Sequence[Dof]) -> Copying | None:
    """Return how a joint copies another; None for one that does not."""
    applied = schemas(prim)
    unit = Units.of(stage, bool(dofs) and dofs[0].is_angular).position
    if "NewtonMimicAPI" in applied and flag(prim, "newton:mimicEnabled", True):
        a, b = (number(stage, prim, f"newton:mimicCoef{k}", float(k)) for k in (0, 1))
        return _copying(stage, prim, "newton:mimicJoint", b, a * unit)
    if "MjcEqualityJointAPI" in applied:
        a, b, *higher = (number(stage, prim, f"mjc:coef{k}", float(k == 1)) for k in range(5))
        if any(higher):
            stage.report.error(stage.where(prim), "mjc:coef2 to mjc:coef4: a mimic joint is linear; leave them out")
        return _copying(stage, prim, "mjc:target", b, a)
    for schema in applied:
        name, _, axis = schema.partition(":")
        if name == "PhysxMimicJointAPI":
            start = f"physxMimicJoint:{axis}"
            gear, offset = (number(stage, prim, f"{start}:{key}", 0.0) for key in ("gearing", "offset"))
            return _copying(stage, prim, f"{start}:referenceJoint", -gear, -offset * unit)
    return None


def _copying(stage: Stage, prim: Any, name: str, multiplier: float, offset: float) -> Copying | None:
    named = targets(prim, name)
    if len(named) != 1:
        stage.report.error(stage.where(prim), f"{name} names {len(named)} joints, expected one to copy")
        return None
    return Copying(str(named[0]), multiplier, offset)


def copied(stage: Stage, prim: Any, joint: Joint, how: Copying, names: Mapping[str, tuple[str, Joint]]) -> Joint:
    """Return a joint that copies another, which must be a hinge or a slide as it is itself.

    Args:
        stage: takes the faults.
        prim: of the joint.
        joint: what it is.
        how: it copies.
        names: name and kind of each joint that is read and copies none itself, by path.
    """
    if how.primary not in names:
        told = f"copies {quoted(how.primary)}, which is no joint that is read and moves by itself"
        stage.report.error(stage.where(prim), told + stage.report.nearest(how.primary, names))
        return joint
    name, primary = names[how.primary]
    if not isinstance(joint, (Revolute, Prismatic)) or type(primary) is not type(joint):
        told = f"is {type(joint).__name__} and copies {name!r}, which is {type(primary).__name__}"
        stage.report.error(stage.where(prim), f"{told}; expected two hinges or two slides")
        return joint
    return Mimic(joint, name, how.multiplier, how.offset)
