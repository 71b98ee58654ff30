"""The shipped mechanisms as URDF text, exact to the last digit."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from cardan.errors import MechanismError
from cardan.joints import Fixed, Prismatic, Revolute
from cardan.mechanism import Box, Capsule, Cylinder, Mechanism, Sphere
from cardan.spatial import SE3
from cardan.spatial.rotations import zyx_from_matrix


def urdf_text(mechanism: Mechanism) -> str:
    """Return a mechanism of revolute, prismatic and fixed joints as URDF.

    Raises:
        MechanismError: for another joint, a child pose that is not the identity, or a prismatic joint without limits.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={quoteattr(mechanism.name)}>"]
    for body in mechanism.bodies:
        shapes = [s for s in mechanism.shapes if s.body == body.name]
        lines += _link(body, shapes)
    for joint in mechanism.joints:
        lines += _joint(joint)
    return "\n".join([*lines, "</robot>", ""])


def _numbers(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)


def _origin(pose: SE3, indent: str) -> list[str]:
    if pose == SE3.identity():
        return []
    yaw, pitch, roll = zyx_from_matrix(pose.rotation)
    return [f'{indent}<origin xyz="{_numbers(pose.translation)}" rpy="{_numbers((roll, pitch, yaw))}"/>']


def _link(body: Any, shapes: list[Any]) -> list[str]:
    inside: list[str] = []
    if body.inertia is not None:
        entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), body.inertia.inertia_at_com, strict=True)
        moments = " ".join(f'{name}="{_clean(value)!r}"' for name, value in entries)
        inside += ["    <inertial>", *_origin(SE3(translation=body.inertia.com), "      ")]
        inside += [
            f'      <mass value="{float(body.inertia.mass)!r}"/>',
            f"      <inertia {moments}/>",
            "    </inertial>",
        ]
    for shape in shapes:
        inside += [f"    <{shape.role}>", *_origin(shape.pose, "      ")]
        inside += [f"      <geometry>{_geometry(shape.geometry)}</geometry>", f"    </{shape.role}>"]
    name = quoteattr(body.name)
    return [f"  <link name={name}>", *inside, "  </link>"] if inside else [f"  <link name={name}/>"]


def _clean(value: float) -> float:
    """Return a moment without the residue of moving it to the origin and back (15 digits)."""
    return float(np.format_float_scientific(value, precision=14)) if abs(value) > 1e-15 else 0.0


def _geometry(geometry: Any) -> str:
    if isinstance(geometry, Box):
        return f'<box size="{_numbers(geometry.size)}"/>'
    if isinstance(geometry, Sphere):
        return f'<sphere radius="{geometry.radius!r}"/>'
    if isinstance(geometry, (Capsule, Cylinder)):
        return f'<{type(geometry).__name__.lower()} radius="{geometry.radius!r}" length="{geometry.length!r}"/>'
    return f"<mesh filename={quoteattr(geometry.uri)}/>"


def _joint(c: Any) -> list[str]:
    bounded = np.isfinite([*c.limits.lower, *c.limits.upper]).all()
    kinds = {Fixed: "fixed", Prismatic: "prismatic", Revolute: "revolute" if bounded else "continuous"}
    kind = kinds.get(type(c.joint))
    if kind is None or c.child_pose != SE3.identity() or (kind == "prismatic" and not bounded):
        raise MechanismError(f"joint {c.name!r} ({c.joint!r}) cannot be written as URDF by this writer.")
    lines = [f'  <joint name={quoteattr(c.name)} type="{kind}">', *_origin(c.parent_pose, "    ")]
    lines += [f"    <parent link={quoteattr(c.parent)}/>", f"    <child link={quoteattr(c.child)}/>"]
    if kind != "fixed":
        lines.append(f'    <axis xyz="{_numbers(c.joint.axis)}"/>')
        if bounded:
            named = ("lower", "upper", "velocity", "effort")
            lines.append("    <limit " + " ".join(f'{n}="{getattr(c.limits, n)[0]!r}"' for n in named) + "/>")
        if c.damping[0] or c.friction[0]:
            lines.append(f'    <dynamics damping="{c.damping[0]!r}" friction="{c.friction[0]!r}"/>')
    return [*lines, "  </joint>"]
