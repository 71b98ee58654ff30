"""Mechanisms of revolute, prismatic and fixed joints as URDF text.

Lengths, angles and limits are written in full; masses' centres and moments to 15 digits, without the residue of
having been held at the origin. What URDF cannot say is refused, not dropped; only names, colours and textures of
shapes are left out.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from cardan.errors import MechanismError
from cardan.joints import Fixed, Limits, Prismatic, Revolute
from cardan.mechanism import Box, Capsule, Cylinder, Mechanism, Sphere
from cardan.model import WORLD
from cardan.spatial import SE3
from cardan.spatial.rotations import zyx_from_matrix


def _attribute(text: str) -> str:
    """Return a text as an XML attribute value, quoted."""
    return f'"{escape(text)}"'


def urdf_text(mechanism: Mechanism) -> str:
    """Return a mechanism as URDF; it is of version 1.2 if it needs it, for a capsule or for efforts without limit.

    Raises:
        MechanismError: for what URDF cannot say: joints of other types, child poses, armature, limits on one side,
            prismatic joints without limits, frames, no single root.
    """
    _check_tree(mechanism)
    lines: list[str] = []
    if any(c.parent == WORLD for c in mechanism.joints):
        lines.append(f'  <link name="{WORLD}"/>')
    for body in mechanism.bodies:
        lines += _link(body, [s for s in mechanism.shapes if s.body == body.name])
    for joint in mechanism.joints:
        lines += _joint(joint)
    new = any(isinstance(s.geometry, Capsule) for s in mechanism.shapes) or any(map(_lacks_a_rate, mechanism.joints))
    version = ' version="1.2"' if new else ""
    head = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={_attribute(mechanism.name)}{version}>"]
    return "\n".join([*head, *lines, "</robot>", ""])


def _check_tree(mechanism: Mechanism) -> None:
    if mechanism.frames:
        raise MechanismError(
            f"frame {mechanism.frames[0].name!r} cannot be written as URDF; make it a body on a Fixed joint."
        )
    if any(s.body == WORLD for s in mechanism.shapes):
        raise MechanismError("a shape of the world cannot be written as URDF; put it on a body on a Fixed joint.")
    children = {c.child for c in mechanism.joints}
    names = {b.name for b in mechanism.bodies} | {c.parent for c in mechanism.joints}
    roots = sorted(names - children)
    if len(roots) != 1 or WORLD in children:
        raise MechanismError(f"{mechanism.name!r} cannot be written as URDF: it needs one root, it has {roots}.")


def _numbers(values: Any) -> str:
    return " ".join(repr(float(v) + 0.0) for v in values)  # + 0.0 makes -0.0 a 0.0


def _origin(pose: SE3, indent: str) -> list[str]:
    if pose == SE3.identity():
        return []
    yaw, pitch, roll = zyx_from_matrix(pose.rotation)
    return [f'{indent}<origin xyz="{_numbers(pose.translation)}" rpy="{_numbers((roll, pitch, yaw))}"/>']


def _link(body: Any, shapes: list[Any]) -> list[str]:
    inside: list[str] = [] if body.inertia is None else _inertial(body.inertia)
    for shape in shapes:
        inside += [f"    <{shape.role}>", *_origin(shape.pose, "      ")]
        inside += [f"      <geometry>{_geometry(shape.geometry)}</geometry>", f"    </{shape.role}>"]
    name = _attribute(body.name)
    return [f"  <link name={name}>", *inside, "  </link>"] if inside else [f"  <link name={name}/>"]


def _inertial(inertia: Any) -> list[str]:
    residue = 1e-15 * max(map(abs, inertia.inertia_at_origin))
    entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), inertia.inertia_at_com, strict=True)
    moments = " ".join(f'{name}="{_clean(value, residue)!r}"' for name, value in entries)
    com = SE3(translation=tuple(_clean(c, 0.0) for c in inertia.com))
    mass = f'      <mass value="{float(inertia.mass)!r}"/>'
    return ["    <inertial>", *_origin(com, "      "), mass, f"      <inertia {moments}/>", "    </inertial>"]


def _clean(value: float, residue: float) -> float:
    """Return a number to 15 digits; 0 where it is not above the residue of a subtraction."""
    return float(np.format_float_scientific(value, precision=14)) if abs(value) > residue else 0.0


def _geometry(geometry: Any) -> str:
    if isinstance(geometry, Box):
        return f'<box size="{_numbers(geometry.size)}"/>'
    if isinstance(geometry, Sphere):
        return f'<sphere radius="{geometry.radius!r}"/>'
    if isinstance(geometry, (Capsule, Cylinder)):
        return f'<{type(geometry).__name__.lower()} radius="{geometry.radius!r}" length="{geometry.length!r}"/>'
    scale = "" if geometry.scale == (1.0, 1.0, 1.0) else f' scale="{_numbers(geometry.scale)}"'
    return f"<mesh filename={_attribute(geometry.uri)}{scale}/>"


def _joint(c: Any) -> list[str]:
    kind = _kind(c)
    lines = [f'  <joint name={_attribute(c.name)} type="{kind}">', *_origin(c.parent_pose, "    ")]
    lines += [f"    <parent link={_attribute(c.parent)}/>", f"    <child link={_attribute(c.child)}/>"]
    if kind != "fixed":
        lines.append(f'    <axis xyz="{_numbers(c.joint.axis)}"/>')
        bounds = {name: getattr(c.limits, name)[0] for name in ("lower", "upper", "velocity", "effort")}
        finite = " ".join(f'{name}="{bound!r}"' for name, bound in bounds.items() if math.isfinite(bound))
        lines += [f"    <limit {finite}/>"] if finite else []
        if c.damping[0] or c.friction[0]:
            lines.append(f'    <dynamics damping="{c.damping[0]!r}" friction="{c.friction[0]!r}"/>')
    return [*lines, "  </joint>"]


def _kind(c: Any) -> str:
    """Return URDF's name of the type of a joint, or raise `MechanismError`."""
    limits: Limits = c.limits
    bounds = np.isfinite([limits.lower or (), limits.upper or ()])
    kinds = {Fixed: "fixed", Prismatic: "prismatic", Revolute: "revolute" if bounds.any() else "continuous"}
    mirrored = Limits(limits.lower, limits.upper, limits.velocity, limits.effort).resolved(c.joint.nv)
    faults = {
        "only Revolute, Prismatic and Fixed joints": type(c.joint) not in kinds,
        "no child pose but the identity": c.child_pose != SE3.identity(),
        "no armature": any(c.armature),
        "limits from both sides or none": bounds.any() and not bounds.all(),
        "prismatic joints only with limits": isinstance(c.joint, Prismatic) and not bounds.all(),
        "the same limit of velocity and effort both ways": limits != mirrored,
    }
    found = [rule for rule, broken in faults.items() if broken]
    if found:
        raise MechanismError(f"joint {c.name!r} cannot be written as URDF, which knows {'; '.join(found)}.")
    return kinds[type(c.joint)]


def _lacks_a_rate(c: Any) -> bool:
    """Whether a joint must have a <limit> (it is no fixed or continuous one) but has one without velocity or effort."""
    rates = np.isfinite([*c.limits.velocity, *c.limits.effort])
    return bool(rates.size and not rates.all() and (rates.any() or _kind(c) != "continuous"))
