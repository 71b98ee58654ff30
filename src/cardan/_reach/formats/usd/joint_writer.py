"""Joints of USD as text, their frames turned where USD wants an axis to be X, Y or Z (`joints` reads them)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.spatial import Matrix3, Vector3
from cardan._reach.formats import written as W
from cardan._reach.formats.usd.joints import DIRECTIONS, SINGLE, UNSAID, Units
from cardan._reach.formats.usd.prims import SI, Lines, called, in_unit, prim, quaternion, single
from cardan._robot import joints as J
from cardan._robot.joints.catalogue.of_another import following_directly, kind_within, polynomial_of
from cardan._robot.model import WORLD, Connection

Dof = tuple[str, bool]
"""A degree of freedom as attributes name it, and whether it is an angle."""
Said = tuple[Lines, Lines]
"""Schemas that are applied to a prim, and its attributes."""


def _turned(axis: Vector3) -> tuple[Matrix3, str]:
    """Return the rotation that turns an axis of USD onto one, and the letter of that axis."""
    letter = next((name for name, own in DIRECTIONS.items() if own == axis), None)
    return (Matrix3.identity(), letter) if letter else (W.rotation_onto(axis), "Z")


def _along(linear: Sequence[Vector3], angular: Sequence[Vector3]) -> tuple[Matrix3, list[Dof]] | None:
    """Return the rotation that turns axes of USD onto those of a joint, and its degrees of freedom; None for others.

    Rotations are about X, Y and Z, each carried along by those before it; translations come first.
    """
    directions = list(dict.fromkeys((*angular, *linear)))
    if all(axis in DIRECTIONS.values() for axis in directions):
        directions = list(DIRECTIONS.values())
    elif len(directions) == 2:
        directions.append(directions[0].cross(directions[1]))
    columns = np.array([tuple(axis) for axis in directions], dtype=float)
    is_turned = columns.shape == (3, 3) and np.abs(columns @ columns.T - np.eye(3)).max() < 1e-12
    places = [[directions.index(axis) for axis in own] for own in (linear, angular)]
    if not is_turned or np.linalg.det(columns) < 0.0 or any(own != sorted(own) for own in places):
        return None
    dofs = [(f"{way}{'XYZ'[k]}", way == "rot") for way, own in zip(WAYS, places, strict=True) for k in own]
    return Matrix3.of(columns.T.tolist(), "axes"), dofs


def _cylinder(joint: J.Cylindrical) -> tuple[Matrix3, list[Dof]]:
    R, letter = _turned(joint.axis)
    return R, [(f"{way}{letter}", way == "rot") for way in WAYS]


WAYS = ("trans", "rot")
X, Y, Z = DIRECTIONS.values()
GENERIC: dict[type, Any] = {
    J.Cylindrical: _cylinder,
    J.Universal: lambda joint: _along((), (joint.axis1, joint.axis2)),
    J.D6: lambda joint: _along(joint.linear, joint.angular),
    J.Translation: lambda _: _along((X, Y, Z), ()),
    J.FreeFlyer: lambda _: _along((X, Y, Z), (X, Y, Z)),
    **dict.fromkeys((J.Planar, J.PlanarAngle), lambda _: _along((X, Y), (Z,))),
}
"""Joints that are USD's generic one."""
OTHER_COORDINATES = (J.UnboundedRevolute, J.Planar, J.PlanarAngle)


def _kind(c: Connection) -> tuple[str, Matrix3, list[Dof], Lines]:
    """Return a joint's type in USD, the rotation of its frames, its degrees of freedom and what else makes it."""
    inner = kind_within(c.joint)
    match inner:
        case J.Fixed():
            return "PhysicsFixedJoint", Matrix3.identity(), [], []
        case J.Spherical():
            return "PhysicsSphericalJoint", Matrix3.identity(), [(f"ball{e}", True) for e in "XYZ"], []
        case J.Distance(stiffness=None):
            bounds = ("min", inner.minimum), ("max", math.inf if inner.maximum is None else inner.maximum)
            said = [line for key, e in bounds for line in single("float", f"physics:{key}Distance", e)]
            return "PhysicsDistanceJoint", Matrix3.identity(), [(f"free{k}", k >= 3) for k in range(6)], said
        case J.Revolute() | J.UnboundedRevolute() | J.Prismatic():
            R, letter = _turned(inner.axis)
            is_slide = isinstance(inner, J.Prismatic)
            kind, dof = ("Prismatic", ("linear", False)) if is_slide else ("Revolute", ("angular", True))
            return f"Physics{kind}Joint", R, [dof], [f'uniform token physics:axis = "{letter}"']
    found = GENERIC.get(type(inner), lambda _: None)(inner)
    if found is None:
        raise W.refused("USD", f"joint {c.name!r}", f"a {type(inner).__name__}")
    return "PhysicsJoint", found[0], found[1], []


def _properties(c: Any, dofs: Sequence[Dof]) -> Said:
    """Return what is said of a joint besides limits and drives."""
    applied, lines = list[str](), list[str]()
    for key, names in SINGLE.items():
        (name, unit), *_ = names.items()
        own = tuple(getattr(c.limits if key == "velocity" else c, key) or ())
        numbers = {in_unit(getattr(Units.of(SI, turns), unit), e) for (_, turns), e in zip(dofs, own, strict=True)}
        if len(numbers) > 1:
            raise W.refused("USD", f"{key} of joint {c.name!r}", own, "it has one number for all degrees of freedom")
        if numbers - {getattr(UNSAID, key)}:
            applied.append("MjcJointAPI" if name.startswith("mjc") else "NewtonJointAPI")
            lines += single("float", name, *numbers)
    W.check_is_said(c, "USD", "compliance")
    return applied, lines


def _drives(c: Any, dofs: Sequence[Dof], aim: Sequence[float]) -> Said:
    """Return drives and where they go, in the coordinates limits are stated in."""
    applied, lines = list[str](), list[str]()
    efforts = c.limits.effort or (math.inf,) * len(dofs)
    rows = zip(dofs, c.drive_stiffness, c.drive_damping, efforts, aim or (0.0,) * len(dofs), strict=True)
    for (name, is_angular), stiffness, damping, effort, position in rows:
        # a D6 of three rotations would be read as a ball joint, but for drives
        if not (stiffness or damping or math.isfinite(effort) or (is_angular and isinstance(c.joint, J.D6))):
            continue
        if name.startswith(("ball", "free")):
            what = f"a drive or an effort limit of joint {c.name!r}"
            raise W.refused("USD", what, (stiffness, damping, effort), "such joints have no drives")
        unit, start = Units.of(SI, is_angular), f"drive:{name}:physics"
        applied.append(f"PhysicsDriveAPI:{name}")
        lines.append(f'uniform token {start}:type = "force"')
        lines += single("float", f"{start}:stiffness", in_unit(unit.gain, stiffness))
        lines += single("float", f"{start}:damping", in_unit(unit.gain, damping))
        if math.isfinite(effort):
            lines += single("float", f"{start}:maxForce", effort)
        if position:
            lines += single("float", f"{start}:targetPosition", in_unit(unit.position, position))
    return applied, lines


def _limits(c: Any, kind: str, dofs: Sequence[Dof]) -> Said:
    """Return limits; a generic joint is locked along all other axes, which a lower limit above the upper one says.

    Those of its free axes are said, too: to Newton an axis without limits is locked.
    """
    ends = zip(dofs, c.limits.lower, c.limits.upper, strict=True)
    scaled = {name: [in_unit(Units.of(SI, turns).position, e) for e in own] for (name, turns), *own in ends}
    if kind == "PhysicsJoint":
        axes = [f"{way}{axis}" for way in WAYS for axis in "XYZ"]
        bounds, keys = {f"limit:{axis}:physics": scaled.get(axis, [1.0, -1.0]) for axis in axes}, ("low", "high")
    elif kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        bounds, keys = {"physics": scaled[dofs[0][0]]}, ("lowerLimit", "upperLimit")
    elif W.is_bounded(c, "lower", "upper"):
        raise W.refused("USD", f"limits of joint {c.name!r}", c.limits, f"a {kind} has no such limits")
    else:
        return [], []
    bounded = {start: both for start, both in bounds.items() if len(bounds) > 1 or any(map(math.isfinite, both))}
    applied = [f"PhysicsLimitAPI:{start.split(':')[1]}" for start in bounded if kind == "PhysicsJoint"]
    rows = [(f"{start}:{key}", e) for start, both in bounded.items() for key, e in zip(keys, both, strict=True)]
    return applied, [line for row in rows for line in single("float", *row)]


def _following(c: Connection, leading: Mapping[str, tuple[str, J.Joint]]) -> Said:
    """Return by which polynomial a joint follows another."""
    joint: Any = c.joint
    if not joint.primaries:
        return [], []
    path, primary = leading[joint.primaries[0]]
    coefficients = polynomial_of(joint) or ()
    are_alike = isinstance(primary, (J.Revolute, J.Prismatic)) and type(primary) is type(joint.joint)
    if not (are_alike and 1 <= len(coefficients) <= 5):
        raise W.refused("USD", f"joint {c.name!r}", f"how it follows {', '.join(joint.primaries)}")
    numbers = [*coefficients, 0.0][: max(2, len(coefficients))]
    if len(numbers) > 2:
        start, applied, named_by = "mjc:coef", "MjcEqualityJointAPI", "mjc:target"
    else:
        start, applied, named_by = "newton:mimicCoef", "NewtonMimicAPI", "newton:mimicJoint"
        numbers[0] = in_unit(Units.of(SI, isinstance(primary, J.Revolute)).position, numbers[0])
    lines = [line for k, e in enumerate(numbers) for line in single("float", f"{start}{k}", e)]
    return [applied], [f"rel {named_by} = <{path}>", *lines]


def directly(joints: Sequence[Connection]) -> list[Connection]:
    """Return joints that follow others as ones that follow what follows none."""
    left = {c.name for c in joints if c.joint.primaries}
    found: dict[str, J.Joint] = {}
    while ready := [c for c in joints if c.name in left and left.isdisjoint(c.joint.primaries)]:
        found |= {c.name: following_directly(c.joint, found) for c in ready}
        left -= found.keys()
    return [replace(c, joint=found.get(c.name, c.joint)) for c in joints]


def joint_prim(
    c: Connection,
    path: str,
    bodies: Mapping[str, str],
    leading: Mapping[str, tuple[str, J.Joint]],
    *,
    closes: bool,
    aim: Sequence[float] = (),
) -> Lines:
    """Return a joint between bodies, given with their paths by name, as those that it may follow are.

    Drives go to the aim, in the coordinates limits are stated in.
    """
    kind, R, dofs, own = _kind(c)
    said = (_properties(c, dofs), _drives(c, dofs, aim), _limits(c, kind, dofs), _following(c, leading))
    lines = [f"rel physics:body{k} = <{bodies[b]}>" for k, b in enumerate((c.parent, c.child)) if b != WORLD]
    for k, pose in enumerate((c.parent_pose, c.child_pose)):
        lines += single("point3f", f"physics:localPos{k}", *map(float, pose.translation))
        lines += single("quatf", f"physics:localRot{k}", *quaternion(pose.rotation @ R))
    excluded = ["uniform bool physics:excludeFromArticulation = 1"] if closes else []
    applied = [name for names, _ in said for name in names]
    inside = [line for _, found in said for line in found]
    name = path.rpartition("/")[2]
    return prim(f'def {kind} "{name}"', applied, called(name, c.name), lines, own, excluded, inside)
