"""Joints of USD. Its generic joint, whose axes are locked one by one, becomes the simplest joint that is exactly it.

Locked are axes whose lower limit exceeds the upper one, and those whose limits are both 0. Of what remains,
translations come first, then rotations about x, y and z, each carried along by those before it, as Newton reads it;
UsdPhysics leaves it open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Vector3
from cardan._reach.formats.usd.dofs import Dof, Properties, limited, properties
from cardan._reach.formats.usd.mimics import Copying, read_mimic
from cardan._reach.formats.usd.scene import Scene
from cardan._reach.formats.usd.stage import Stage
from cardan._reach.formats.usd.values import authored, flag, number, rotation, targets, token, vector
from cardan._robot.joints import (
    D6,
    Cylindrical,
    Distance,
    Fixed,
    FreeFlyer,
    Joint,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)

DIRECTIONS = {"X": Vector3(1.0, 0.0, 0.0), "Y": Vector3(0.0, 1.0, 0.0), "Z": Vector3(0.0, 0.0, 1.0)}
_KINDS_OF_DRIVES = ("angular", "linear", "transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@dataclass(frozen=True, slots=True)
class UsdJoint:
    """A joint as read; bodies are paths, "" is the world."""

    prim: Any
    joint: Joint
    bodies: tuple[str, str]
    poses: tuple[SE3, SE3]
    is_excluded: bool
    may_touch: bool
    properties: Properties
    name: str
    copying: Copying | None = None

    @property
    def path(self) -> str:
        """Its name below what is above its prim."""
        return f"{str(self.prim.GetPath()).rpartition('/')[0]}/{self.name}"


def read_joint(stage: Stage, scene: Scene, prim: Any) -> UsdJoint | None:
    """Return a joint, or None where it joins nothing or is faulty."""
    before = stage.report.error_count
    if not flag(prim, "physics:jointEnabled", True):
        stage.report.remark(stage.where(prim), "physics:jointEnabled is false: the joint is left out")
        return None
    first, second = (_side(stage, scene, prim, side) for side in (0, 1))
    kind = str(prim.GetTypeName())
    made = _JOINTS[kind](stage, prim)
    if first is None or second is None or stage.report.error_count > before:
        return None
    (one, X_one), (other, X_other) = first, second
    if one == other:
        what = "one body, with itself" if one else "nothing that moves"
        stage.report.warn(stage.where(prim), f"joins {what}, and is left out")
        return None
    joint, dofs = made
    _remark_drives(stage, prim, dofs)
    with stage.report.blamed(stage.where(prim)):
        return UsdJoint(
            prim,
            joint,
            (one, other),
            (X_one, X_other),
            flag(prim, "physics:excludeFromArticulation", False),
            flag(prim, "physics:collisionEnabled", False),
            properties(stage, prim, dofs),
            prim.GetName(),
            read_mimic(stage, prim, dofs),
        )
    return None


def _side(stage: Stage, scene: Scene, prim: Any, side: int) -> tuple[str, SE3] | None:
    """Return the body on one side of a joint, and X_body_joint; the world for none."""
    local = vector(stage, prim, f"physics:localPos{side}", (0.0, 0.0, 0.0))
    turned = SE3(rotation(stage, prim, f"physics:localRot{side}"))
    named = targets(prim, f"physics:body{side}")
    if len(named) > 1:
        stage.report.error(stage.where(prim), f"physics:body{side} names {len(named)} prims, expected one")
        return None
    target = stage.usd.GetPrimAtPath(named[0]) if named else stage.usd.GetPseudoRoot()
    if not target:
        meant = stage.report.nearest(str(named[0]), scene.bodies)
        told = f"physics:body{side} names {quoted(str(named[0]))}, which does not exist{meant}"
        stage.report.error(stage.where(prim), told)
        return None
    posed, body = stage.pose(target), scene.body_of(target)
    if posed is None:
        return None
    if str(target.GetPath()) == body:
        return body, SE3(translation=tuple((posed.stretch @ local).tolist())) @ turned
    anchor = posed.point(local) @ turned
    owner = stage.pose(scene.bodies[body]) if body else None
    if body and owner is None:
        return None
    return body, anchor if owner is None else owner.pose.inverse() @ anchor


def _remark_drives(stage: Stage, prim: Any, dofs: Sequence[Dof]) -> None:
    """Remark on drives of what does not move, and on limits that hold it."""
    names = [dof.name for dof in dofs]
    for name in _KINDS_OF_DRIVES:
        if name not in names and any(authored(prim, f"drive:{name}:physics:{key}") for key in ("stiffness", "damping")):
            told = f"the drive {name!r} has no degree of freedom of that name to act on here"
            stage.report.remark(stage.where(prim), told)


# --- one function a type: the joint and its degrees of freedom --------------------------------------------------------

Made = tuple[Joint, list[Dof]]


def _axis(stage: Stage, prim: Any) -> Vector3:
    return DIRECTIONS[token(stage, prim, "physics:axis", ("X", "Y", "Z"))]


def _single(stage: Stage, prim: Any, name: str, is_angular: bool) -> Dof:
    dof = limited(stage, prim, name, is_angular, "physics:lowerLimit", "physics:upperLimit")
    if dof.lower > dof.upper:
        told = "physics:lowerLimit is larger than physics:upperLimit; a joint that is to be held is a PhysicsFixedJoint"
        stage.report.error(stage.where(prim), told)
        return replace(dof, lower=-math.inf, upper=math.inf)
    return dof


def _spherical(stage: Stage, prim: Any) -> Made:
    cone = [number(stage, prim, f"physics:coneAngle{k}Limit", -1.0, infinite=True) for k in (0, 1)]
    if any(0.0 <= angle < 180.0 for angle in cone):
        told = f"limits its axis to a cone of {cone[0]:g} and {cone[1]:g} degrees, which no limit of cardan's can say"
        stage.report.remark(stage.where(prim), told)
    return Spherical(), [Dof(f"ball{axis}", True) for axis in "XYZ"]


def _distance(stage: Stage, prim: Any) -> Made:
    low, high = (number(stage, prim, f"physics:{k}Distance", -1.0, infinite=True) for k in ("min", "max"))
    made: Joint = FreeFlyer()
    with stage.report.blamed(stage.where(prim)):
        made = Distance(max(low, 0.0) * stage.length, high * stage.length if 0.0 <= high < math.inf else None)
    return made, [Dof(f"free{k}", k >= 3) for k in range(6)]


def _generic(stage: Stage, prim: Any) -> Made:
    dofs = [dof for kind in ("trans", "rot") for axis in "XYZ" if (dof := _free(stage, prim, kind + axis)) is not None]
    if any(authored(prim, f"limit:distance:physics:{key}") for key in ("low", "high")):
        stage.report.remark(stage.where(prim), "its limit on the distance is not read: a PhysicsDistanceJoint is")
    return joint_of(dofs, _has_drives(prim)), dofs


def _free(stage: Stage, prim: Any, name: str) -> Dof | None:
    """Return an axis of a generic joint, or None if it is locked."""
    low, high = f"limit:{name}:physics:low", f"limit:{name}:physics:high"
    dof = limited(stage, prim, name, name.startswith("rot"), low, high)
    return None if dof.lower > dof.upper or dof.lower == dof.upper == 0.0 else dof


def _has_drives(prim: Any) -> bool:
    """Return whether something about single axes is said, so that a joint of quaternions could not hold it."""
    return any(
        authored(prim, f"drive:{name}:physics:{key}")
        for name in _KINDS_OF_DRIVES
        for key in ("stiffness", "damping", "maxForce", "targetPosition")
    )


def joint_of(dofs: Sequence[Dof], is_driven: bool) -> Joint:
    """Return the simplest joint that moves as the free axes of a generic one do, with coordinates for each."""
    linear = [DIRECTIONS[dof.name[-1]] for dof in dofs if not dof.is_angular]
    angular = [DIRECTIONS[dof.name[-1]] for dof in dofs if dof.is_angular]
    needs_angles = is_driven or not all(dof.is_unlimited for dof in dofs if dof.is_angular)
    match len(linear), len(angular):
        case 0, 0:
            return Fixed()
        case 0, 1:
            return Revolute(angular[0])
        case 1, 0:
            return Prismatic(linear[0])
        case 1, 1 if linear == angular:
            return Cylindrical(linear[0])
        case 0, 2:
            return Universal(*angular)
        case 3, 0:
            return Translation()
        case 0, 3 if not needs_angles:
            return Spherical()
        case 3, 3 if not needs_angles and all(dof.is_unlimited for dof in dofs):
            return FreeFlyer()
    return D6(linear, angular)


_JOINTS: dict[str, Callable[[Stage, Any], Made]] = {
    "PhysicsRevoluteJoint": lambda stage, p: (Revolute(_axis(stage, p)), [_single(stage, p, "angular", True)]),
    "PhysicsPrismaticJoint": lambda stage, p: (Prismatic(_axis(stage, p)), [_single(stage, p, "linear", False)]),
    "PhysicsFixedJoint": lambda stage, p: (Fixed(), []),
    "PhysicsSphericalJoint": _spherical,
    "PhysicsDistanceJoint": _distance,
    "PhysicsJoint": _generic,
}
