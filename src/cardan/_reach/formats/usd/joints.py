"""Joints of USD. Its generic joint, whose axes are locked one by one, becomes the simplest joint that is exactly it.

Locked are axes whose lower limit exceeds the upper one, and those whose limits are both 0. Of what remains,
translations come first, then rotations about x, y and z, each carried along by those before it, as Newton reads it;
UsdPhysics leaves it open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.errors import ParameterError, quoted
from cardan._algebra.spatial import SE3, Vector3
from cardan._reach.formats.usd import values
from cardan._reach.formats.usd.stage import Stage
from cardan._reach.formats.usd.values import Scene
from cardan._robot import joints as J
from cardan._robot.joints.catalogue.chains import along
from cardan._robot.joints.catalogue.of_another import following
from cardan._robot.records import Drive, Spring

# --- degrees of freedom of USD's joints: limits, drives and what else is said of each, in radians and metres ---
#
# USD states angles in degrees, and stiffness and damping of angular drives per degree.

DEGREE = math.pi / 180.0


@dataclass(frozen=True, slots=True)
class Dof:
    """A degree of freedom: its limits, what drives and resists it, where it is and is to go [rad, m, kg, s]."""

    name: str  # as its attributes have it: `angular`, `linear`, `rotX`, `transX`, ...
    is_angular: bool
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    drive_stiffness: float = 0.0
    drive_damping: float = 0.0
    spring_stiffness: float = 0.0
    spring_rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    target: float = 0.0  # of its drive
    state: float = 0.0

    @property
    def is_unlimited(self) -> bool:
        return self.lower == -math.inf and self.upper == math.inf


class Units(NamedTuple):
    """What a number of an attribute of a degree of freedom is worth, in radians or metres, kilograms and seconds."""

    position: float
    effort: float
    inertia: float  # also of an effort per radian or metre, as MuJoCo's gains are
    gain: float  # of an effort per position
    mujoco_position: float

    @staticmethod
    def of(stage: Stage, is_angular: bool) -> Units:
        if is_angular:
            moment = stage.mass * stage.length**2
            return Units(DEGREE, moment, moment, moment / DEGREE, stage.mujoco_angle)
        force = stage.mass * stage.length
        return Units(stage.length, force, stage.mass, force / stage.length, stage.length)


SINGLE = {
    "velocity": {"newton:velocityLimit": "position", "physxJoint:maxJointVelocity": "position"},
    "damping": {"newton:damping": "gain", "mjc:damping": "inertia"},
    "friction": {"newton:friction": "effort", "mjc:frictionloss": "effort"},
    "armature": dict.fromkeys(("newton:armature", "physxJoint:armature", "mjc:armature"), "inertia"),
    "spring_stiffness": {"mjc:stiffness": "inertia"},
    "spring_rest": {"mjc:springref": "mujoco_position"},
}
"""What one number says of a degree of freedom: attributes and their units; the first that is authored counts.

The writer says the first. Where none is authored, it is as in `UNSAID`.
"""
UNSAID = Dof("", is_angular=False)
PASSIVE = ("damping", "friction", "armature")


def limited(stage: Stage, prim: Any, name: str, is_angular: bool, low: str, high: str) -> Dof:
    """Return a degree of freedom with the limits two attributes give it; lower > upper where they say so."""
    unit = Units.of(stage, is_angular).position
    lower = values.number(stage, prim, low, -math.inf, infinite=True)
    upper = values.number(stage, prim, high, math.inf, infinite=True)
    return Dof(name, is_angular, lower * unit, upper * unit)


def equipped(stage: Stage, prim: Any, dof: Dof) -> Dof:
    """Return a degree of freedom with all that is said of it beside its limits.

    Springs of MuJoCo's rest at a coordinate that is `mjc:ref` where USD's is 0.
    """
    own = {what: _single_dof(stage, prim, dof, what) for what in SINGLE}
    at_zero = values.number(stage, prim, "mjc:ref", 0.0) * Units.of(stage, dof.is_angular).mujoco_position
    own["spring_rest"] = own["spring_rest"] - at_zero if own["spring_stiffness"] else 0.0
    state = values.number(stage, prim, f"state:{dof.name}:physics:position", 0.0)
    return replace(_driven(stage, prim, dof), **own, state=state * Units.of(stage, dof.is_angular).position)


def properties(dofs: Sequence[Dof]) -> dict[str, Any]:
    """Return what `Mechanism.add_joint` is told of degrees of freedom."""

    def rows(*keys: str) -> list[tuple[float, ...]]:
        return [tuple(getattr(dof, key) for dof in dofs) for key in keys]

    return {
        "limits": J.Limits(*rows("lower", "upper", "velocity", "effort")),
        "drive": Drive(*rows("drive_stiffness", "drive_damping")),
        "spring": Spring(*rows("spring_stiffness", "spring_rest")),
        **dict(zip(PASSIVE, rows(*PASSIVE), strict=True)),
    }


def _driven(stage: Stage, prim: Any, dof: Dof) -> Dof:
    """Return a degree of freedom with its drive; one by acceleration is left out."""
    start, unit = f"drive:{dof.name}:physics", Units.of(stage, dof.is_angular)
    if f"PhysicsDriveAPI:{dof.name}" not in values.schemas(prim):
        if values.authored(prim, f"{start}:stiffness") or values.authored(prim, f"{start}:damping"):
            told = f"{start} has values, but PhysicsDriveAPI:{dof.name} is not applied: to UsdPhysics there is no drive"
            stage.remark(prim, told)
        return dof
    stiffness = values.non_negative(stage, prim, f"{start}:stiffness", 0.0) * unit.gain
    damping = values.non_negative(stage, prim, f"{start}:damping", 0.0) * unit.gain
    effort = values.number(stage, prim, f"{start}:maxForce", math.inf, infinite=True) * unit.effort
    target = values.number(stage, prim, f"{start}:targetPosition", 0.0) * unit.position
    if effort < 0.0:
        stage.error(prim, f"{start}:maxForce is negative, expected a number >= 0")
    dof = replace(dof, effort=max(effort, 0.0))
    is_force = values.token(stage, prim, f"{start}:type", ("force", "acceleration")) == "force"
    if (stiffness or damping) and not is_force:
        stage.warn(prim, f"{start}:type is 'acceleration': its gains go with the inertia it feels; it is left out")
        return dof
    return replace(dof, drive_stiffness=stiffness, drive_damping=damping, target=target)


def _single_dof(stage: Stage, prim: Any, dof: Dof, what: str) -> float:
    unit, usual = Units.of(stage, dof.is_angular), getattr(dof, what)
    said = {
        name: getattr(unit, worth) * values.number(stage, prim, name, usual, infinite=usual == math.inf)
        for name, worth in SINGLE[what].items()
        if values.authored(prim, name)
    }
    if what != "spring_rest":
        said = {name: abs(number) for name, number in said.items()}
    taken, *others = said or [""]
    for other in others:
        if not math.isclose(said[other], said[taken], rel_tol=1e-6):
            stage.warn(prim, f"{other} is {said[other]:.6g}, {taken} {said[taken]:.6g} [SI units]: {taken} is taken")
    return said.get(taken, usual)


# --- joints that copy others, as Newton, PhysX and MuJoCo write them on a joint's prim ---
#
# Newton: q = coef0 + coef1 q_target, coef0 in degrees or stage units. PhysX: q + gearing q_target + offset = 0, the
# offset in degrees. MuJoCo: q = coef0 + coef1 q_target + coef2 q_target^2 + ..., in radians or metres.


class Copying(NamedTuple):
    """Which joint, by path, a joint copies, and how."""

    primary: str
    coefficients: Sequence[float]  # of the polynomial of its coordinate, the constant first


def read_mimic(stage: Stage, prim: Any, dofs: Sequence[Dof]) -> Copying | None:
    applied = values.schemas(prim)
    unit = Units.of(stage, bool(dofs) and dofs[0].is_angular).position
    if "NewtonMimicAPI" in applied and values.flag(prim, "newton:mimicEnabled", True):
        a, b = (values.number(stage, prim, f"newton:mimicCoef{k}", float(k)) for k in (0, 1))
        return _copying(stage, prim, "newton:mimicJoint", a * unit, b)
    if "MjcEqualityJointAPI" in applied:
        coefficients = (values.number(stage, prim, f"mjc:coef{k}", float(k == 1)) for k in range(5))
        return _copying(stage, prim, "mjc:target", *coefficients)
    for schema in applied:
        name, _, axis = schema.partition(":")
        if name == "PhysxMimicJointAPI":
            start = f"physxMimicJoint:{axis}"
            gear, offset = (values.number(stage, prim, f"{start}:{key}", 0.0) for key in ("gearing", "offset"))
            return _copying(stage, prim, f"{start}:referenceJoint", -offset * unit, -gear)
    return None


def _copying(stage: Stage, prim: Any, name: str, *coefficients: float) -> Copying | None:
    named = values.targets(prim, name)
    if len(named) != 1:
        stage.error(prim, f"{name} names {len(named)} joints, expected one to copy")
        return None
    return Copying(str(named[0]), coefficients)


def copied(stage: Stage, prim: Any, joint: J.Joint, how: Copying, names: Mapping[str, tuple[str, J.Joint]]) -> J.Joint:
    """Return a joint that copies another hinge or slide; `names`: name and kind of those that copy none, by path."""
    if how.primary not in names:
        told = f"copies {quoted(how.primary)}, which is no joint that is read and moves by itself"
        stage.error(prim, told + stage.report.nearest(how.primary, names))
        return joint
    name, primary = names[how.primary]
    if not isinstance(joint, (J.Revolute, J.Prismatic)) or type(primary) is not type(joint):
        told = f"is {type(joint).__name__} and copies {name!r}, which is {type(primary).__name__}"
        stage.error(prim, f"{told}; expected two hinges or two slides")
        return joint
    return following(joint, name, how.coefficients)


DIRECTIONS = {"X": Vector3(1.0, 0.0, 0.0), "Y": Vector3(0.0, 1.0, 0.0), "Z": Vector3(0.0, 0.0, 1.0)}
_KINDS_OF_DRIVES = ("angular", "linear", "transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@dataclass(frozen=True, slots=True)
class UsdJoint:
    """A joint as read; bodies are paths, "" is the world."""

    prim: Any
    joint: J.Joint
    bodies: tuple[str, str]
    poses: tuple[SE3, SE3]
    is_excluded: bool
    dofs: tuple[Dof, ...]
    name: str
    copying: Copying | None = None

    @property
    def path(self) -> str:
        """Its name below what is above its prim."""
        return f"{str(self.prim.GetPath()).rpartition('/')[0]}/{self.name}"

    @property
    def called(self) -> str:
        """Its name; that of several in a row is made of theirs."""
        return values.called(self.prim) if self.name == self.prim.GetName() else self.name


def read_joint(stage: Stage, scene: Scene, prim: Any) -> UsdJoint | None:
    """Return a joint, or None where it joins nothing or is faulty."""
    before = stage.report.error_count
    if not values.flag(prim, "physics:jointEnabled", True):
        stage.remark(prim, "physics:jointEnabled is false: the joint is left out")
        return None
    if values.flag(prim, "physics:collisionEnabled", False):
        stage.warn(prim, "physics:collisionEnabled is left out: bodies that it joins touch by the world's rules")
    first, second = (_side(stage, scene, prim, side) for side in (0, 1))
    made = _JOINTS[str(prim.GetTypeName())](stage, prim)
    if first is None or second is None or stage.report.error_count > before:
        return None
    (one, X_one), (other, X_other) = first, second
    if one == other:
        what = "one body, with itself" if one else "nothing that moves"
        stage.warn(prim, f"joins {what}, and is left out")
        return None
    joint, dofs = made
    for name in _driven_axes(prim):
        if name not in [dof.name for dof in dofs]:
            stage.remark(prim, f"the drive {name!r} has no degree of freedom of that name to act on here")
    with stage.report.blamed(stage.where(prim)):
        excluded = values.flag(prim, "physics:excludeFromArticulation", False)
        said = tuple(equipped(stage, prim, dof) for dof in dofs)
        name, copying = prim.GetName(), read_mimic(stage, prim, dofs)
        return UsdJoint(prim, joint, (one, other), (X_one, X_other), excluded, said, name, copying)
    return None


def _side(stage: Stage, scene: Scene, prim: Any, side: int) -> tuple[str, SE3] | None:
    """Return the body on one side of a joint, and X_body_joint; the world for none."""
    local = values.vector(stage, prim, f"physics:localPos{side}", (0.0, 0.0, 0.0))
    turned = SE3(values.rotation(stage, prim, f"physics:localRot{side}"))
    named = values.targets(prim, f"physics:body{side}")
    if len(named) > 1:
        stage.error(prim, f"physics:body{side} names {len(named)} prims, expected one")
        return None
    target = stage.usd.GetPrimAtPath(named[0]) if named else stage.usd.GetPseudoRoot()
    if not target:
        meant = stage.report.nearest(str(named[0]), scene.bodies)
        stage.error(prim, f"physics:body{side} names {quoted(str(named[0]))}, which does not exist{meant}")
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


# --- one function a type: the joint and its degrees of freedom --------------------------------------------------------

Made = tuple[J.Joint, list[Dof]]


def _axis(stage: Stage, prim: Any) -> Vector3:
    return DIRECTIONS[values.token(stage, prim, "physics:axis", ("X", "Y", "Z"))]


def _single(stage: Stage, prim: Any, name: str, is_angular: bool) -> Dof:
    dof = limited(stage, prim, name, is_angular, "physics:lowerLimit", "physics:upperLimit")
    if dof.lower > dof.upper:
        told = "physics:lowerLimit is larger than physics:upperLimit; a joint that is to be held is a PhysicsFixedJoint"
        stage.error(prim, told)
        return replace(dof, lower=-math.inf, upper=math.inf)
    return dof


def _spherical(stage: Stage, prim: Any) -> Made:
    cone = [values.number(stage, prim, f"physics:coneAngle{k}Limit", -1.0, infinite=True) for k in (0, 1)]
    if any(0.0 <= angle < 180.0 for angle in cone):
        told = f"limits its axis to a cone of {cone[0]:g} and {cone[1]:g} degrees, which no limit of cardan's can say"
        stage.warn(prim, told)
    return J.Spherical(), [Dof(f"ball{axis}", True) for axis in "XYZ"]


def _distance(stage: Stage, prim: Any) -> Made:
    low, high = (values.number(stage, prim, f"physics:{k}Distance", -1.0, infinite=True) for k in ("min", "max"))
    made: J.Joint = J.FreeFlyer()
    with stage.report.blamed(stage.where(prim)):
        made = J.Distance(max(low, 0.0) * stage.length, high * stage.length if 0.0 <= high < math.inf else None)
    return made, [Dof(f"free{k}", k >= 3) for k in range(6)]


def _generic(stage: Stage, prim: Any) -> Made:
    dofs = [dof for kind in ("trans", "rot") for axis in "XYZ" if (dof := _free(stage, prim, kind + axis)) is not None]
    if any(values.authored(prim, f"limit:distance:physics:{key}") for key in ("low", "high")):
        stage.warn(prim, "its limit on the distance is not read: a PhysicsDistanceJoint is")
    return joint_of(dofs, bool(_driven_axes(prim))), dofs


def _free(stage: Stage, prim: Any, name: str) -> Dof | None:
    """Return an axis of a generic joint, or None if it is locked."""
    low, high = f"limit:{name}:physics:low", f"limit:{name}:physics:high"
    dof = limited(stage, prim, name, name.startswith("rot"), low, high)
    return None if dof.lower > dof.upper or dof.lower == dof.upper == 0.0 else dof


def _driven_axes(prim: Any) -> list[str]:
    """Return the axes of which something is said alone, which a joint of quaternions could not hold."""
    keys = ("stiffness", "damping", "maxForce", "targetPosition")
    said = {name: (f"drive:{name}:physics:{key}" for key in keys) for name in _KINDS_OF_DRIVES}
    return [name for name, own in said.items() if any(values.authored(prim, attribute) for attribute in own)]


def joint_of(dofs: Sequence[Dof], is_driven: bool) -> J.Joint:
    """Return the simplest joint that moves as the free axes of a generic one do, with coordinates for each."""
    linear = [DIRECTIONS[dof.name[-1]] for dof in dofs if not dof.is_angular]
    angular = [DIRECTIONS[dof.name[-1]] for dof in dofs if dof.is_angular]
    needs_angles = is_driven or not all(dof.is_unlimited for dof in dofs if dof.is_angular)
    match len(linear), len(angular):
        case 0, 0:
            return J.Fixed()
        case 0, 3 if not needs_angles:
            return J.Spherical()
        case 3, 3 if not needs_angles and all(dof.is_unlimited for dof in dofs):
            return J.FreeFlyer()
    return along(linear, angular)


_JOINTS: dict[str, Callable[[Stage, Any], Made]] = {
    "PhysicsRevoluteJoint": lambda stage, p: (J.Revolute(_axis(stage, p)), [_single(stage, p, "angular", True)]),
    "PhysicsPrismaticJoint": lambda stage, p: (J.Prismatic(_axis(stage, p)), [_single(stage, p, "linear", False)]),
    "PhysicsFixedJoint": lambda stage, p: (J.Fixed(), []),
    "PhysicsSphericalJoint": _spherical,
    "PhysicsDistanceJoint": _distance,
    "PhysicsJoint": _generic,
}

# --- several joints between the same two bodies, in the same direction: the links, in a row, of one joint ---
#
# So exporters write bodies of MuJoCo with several joints. As joints of UsdPhysics each would hold what the other frees;
# where all agree on how the bodies stand at zero, X_0 = A_i B_i^-1, they are read as MuJoCo means them. A_i, B_i are
# the frames of joint i in the bodies:
#
#     X = A_1 J_1 B_1^-1 B_2 J_2 B_2^-1 ... B_n J_n B_n^-1

CLOSE = 1e-5
"""How far frames may be apart and still be meant to be one [m, rad]: they are products of float32 rotations."""


def with_chains(stage: Stage, joints: Sequence[UsdJoint]) -> list[UsdJoint]:
    """Return joints with those in a row made one, which stands where the first of them did."""
    rows: dict[tuple[str, str], list[UsdJoint]] = {}
    for joint in joints:
        if isinstance(joint.joint, (J.Revolute, J.Prismatic)) and not joint.is_excluded and joint.copying is None:
            rows.setdefault(joint.bodies, []).append(joint)
    made: dict[str, UsdJoint | None] = {}
    for row in rows.values():
        at_zero = [(j.poses[0] @ j.poses[1].inverse()).matrix() for j in row]
        if 1 < len(row) <= 6 and all(np.abs(X - at_zero[0]).max() < CLOSE for X in at_zero):
            chain = _chain(row)
            made |= {joint.path: None for joint in row} | {row[0].path: chain}
            kind = type(chain.joint).__name__
            told = f"{len(row)} joints between two bodies, in a row: they are read as one, {chain.name!r} ({kind})"
            stage.remark(row[0].prim, told)
    return [new for joint in joints if (new := made.get(joint.path, joint)) is not None]


def _chain(row: Sequence[UsdJoint]) -> UsdJoint:
    steps = [SE3.identity(), *(a.poses[1].inverse() @ b.poses[1] for a, b in pairwise(row))]
    joint, last = _joint([j.joint for j in row], steps), row[-1].poses[1]
    if isinstance(joint, J.D6):  # all at one point: its frames are those of the first
        last = row[0].poses[1]
    return replace(
        row[0],
        joint=joint,
        poses=(row[0].poses[0], last),
        dofs=tuple(dof for j in row for dof in j.dofs),
        name="+".join(j.name for j in row),
    )


def _joint(joints: Sequence[J.Joint], steps: Sequence[SE3]) -> J.Joint:
    """Return a D6 joint where it is one: translations first, all rotations about one point; else a composite."""
    linear: list[Vector3] = []
    angular: list[Vector3] = []
    turned = SE3.identity()
    for joint, step in zip(joints, steps, strict=True):
        turned = turned @ SE3(step.rotation)
        is_turn = isinstance(joint, J.Revolute)
        if max(map(abs, step.translation)) > CLOSE or (angular and not is_turn):
            return J.Composite(joints, steps)
        (angular if is_turn else linear).append(turned.rotation @ joint.axis)  # pyright: ignore
    try:
        return J.D6(linear, angular)
    except ParameterError:  # axes that are parallel, or too many
        return J.Composite(joints, steps)
