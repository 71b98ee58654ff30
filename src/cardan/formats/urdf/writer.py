"""The URDF writer: a mechanism or a model as URDF text; what URDF cannot say is refused, never dropped.

What is read from the text equals what was written, to the last bit almost everywhere, where URDF has the same form; a
link whose frame must move (see `urdf_form`) is named. Armatures, loops and frames use the extensions of docs/urdf.md,
which other programs skip.
"""

from __future__ import annotations

import html
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from cardan.description import Box, Capsule, Cylinder, Mechanism, Mesh, Shape, Sphere
from cardan.errors import DescriptionWarning, ParameterError
from cardan.formats.urdf.form import HINT, KINDS, across, urdf_form
from cardan.formats.urdf.joints import LOOP_ENDS, PASSIVE, UNLIMITED
from cardan.formats.urdf.numbers import axis, inertial, rpy
from cardan.formats.urdf.schema import ATTRIBUTES
from cardan.joints import Mimic, Planar, Revolute
from cardan.model import WORLD, Body, Connection, Frame, Model
from cardan.spatial import SE3

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class WrittenUrdf(NamedTuple):
    """A mechanism as URDF.

    Attributes:
        text: the file's content.
        moved: X_body_link of the links whose frame is not their body's: it had to move to the joint's.
    """

    text: str
    moved: dict[str, SE3]


def to_urdf(thing: Mechanism | Model) -> str:
    """Return a mechanism or a model as URDF text; `DescriptionWarning` names the links whose frames had to move.

    Raises:
        ParameterError: for what URDF cannot say, such as a joint of another type; JSON can.
        MechanismError: if the bodies are not one connected whole.
    """
    written = write_urdf(thing)
    if written.moved:
        names = ", ".join(repr(name) for name in list(written.moved)[:6]) + (", ..." if len(written.moved) > 6 else "")
        message = f"URDF has a link's frame at its joint: the frames of {names} moved there, with all that is on them"
        warnings.warn(DescriptionWarning(f"{thing.name}: {message}"), stacklevel=2)
    return written.text


def write_urdf(thing: Mechanism | Model) -> WrittenUrdf:
    """Return a mechanism or a model as URDF text, and which link frames moved; errors as for `to_urdf`."""
    if not isinstance(thing, (Mechanism, Model)):
        raise ParameterError("thing to write as URDF", got=thing, expected="a Mechanism or a Model")
    form = urdf_form(thing)
    on: dict[str, list[Shape]] = {WORLD: []} | {body.name: [] for body in form.bodies}
    for shape in form.shapes:
        on[shape.body].append(shape)
    _check_materials([shape for shapes in on.values() for shape in shapes])
    lines: list[str] = []
    for body in (*([None] if form.world else []), *form.bodies):
        lines += _link(body, on[WORLD if body is None else body.name])
    for c in form.tree:
        lines += _joint(c)
    for c in form.loops:
        lines += _loop(c)
    lines += [_frame(frame) for frame in form.frames]
    version = ' version="1.2"' if any(isinstance(s.geometry, Capsule) for s in form.shapes) else ""
    name = _text(form.name, "name of a robot")
    if not form.name.strip():
        raise ParameterError("name of a robot in URDF", got=form.name, expected="a text that is not empty")
    head = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={name}{version}>"]
    return WrittenUrdf("\n".join([*head, *lines, "</robot>", ""]), form.moved)


# --- links -------------------------------------------------------------------------------------------------------


def _link(body: Body | None, shapes: Sequence[Shape]) -> list[str]:
    """Return a link; None is the world."""
    name = WORLD if body is None else body.name
    inside = _inertial(body) if body is not None and body.inertia is not None else []
    for shape in shapes:
        inside += _shape(shape)
    start = f"  <link name={_text(name, 'name of a body')}"
    return [f"{start}>", *inside, "  </link>"] if inside else [f"{start}/>"]


def _inertial(body: Body) -> list[str]:
    inertia: Any = body.inertia
    if inertia.mass == 0.0 and any(inertia.first_moment):
        got = f"first moment {tuple(inertia.first_moment)} of no mass"
        raise ParameterError(f"inertia of body {body.name!r} in URDF", got=got, expected="a mass > 0", hint=HINT)
    com, entries = inertial(inertia)
    moments = " ".join(f'{name}="{entry!r}"' for name, entry in zip(ATTRIBUTES["inertia"], entries, strict=True))
    mass = f'      <mass value="{float(inertia.mass)!r}"/>'
    origin = _origin(SE3(translation=com), "      ")
    return ["    <inertial>", *origin, mass, f"      <inertia {moments}/>", "    </inertial>"]


def _shape(shape: Shape) -> list[str]:
    what = f"a shape of {shape.body!r}"
    name = f" name={_text(shape.name, f'name of {what}')}" if shape.name else ""
    geometry = f"      <geometry>{_geometry(shape, what)}</geometry>"
    return [
        f"    <{shape.role}{name}>",
        *_origin(shape.pose, "      "),
        geometry,
        *_material(shape, what),
        f"    </{shape.role}>",
    ]


def _geometry(shape: Shape, what: str) -> str:
    geometry = shape.geometry
    if isinstance(geometry, Box):
        return f'<box size="{_numbers(geometry.size)}"/>'
    if isinstance(geometry, Sphere):
        return f'<sphere radius="{geometry.radius!r}"/>'
    if isinstance(geometry, (Capsule, Cylinder)):
        return f'<{type(geometry).__name__.lower()} radius="{geometry.radius!r}" length="{geometry.length!r}"/>'
    if not isinstance(geometry, Mesh) or not geometry.uri.strip():
        expected = "a Box, Sphere, Cylinder, Capsule, or a Mesh with a uri"
        raise ParameterError(f"geometry of {what} in URDF", got=geometry, expected=expected, hint=HINT)
    scale = "" if geometry.scale == (1.0, 1.0, 1.0) else f' scale="{_numbers(geometry.scale)}"'
    return f"<mesh filename={_text(geometry.uri, f'mesh of {what}')}{scale}/>"


def _material(shape: Shape, what: str) -> list[str]:
    if not (shape.material or shape.texture or shape.rgba is not None):
        return []
    color = "" if shape.rgba is None else f'<color rgba="{_numbers(shape.rgba)}"/>'
    texture = f"<texture filename={_text(shape.texture, f'texture of {what}')}/>" if shape.texture else ""
    start = f"      <material name={_text(shape.material, f'material of {what}')}"
    return [f"{start}>{color}{texture}</material>" if color or texture else f"{start}/>"]


def _check_materials(shapes: Sequence[Shape]) -> None:
    """Raise if a shape has a material without a look that URDF would give it: that of an earlier shape."""
    seen: set[str] = set()
    for shape in shapes:
        if shape.rgba is not None or shape.texture:
            seen.add(shape.material)
        elif shape.material and shape.material in seen:
            got = f"material {shape.material!r} without colour, which has one on an earlier shape"
            expected = "the same colour and texture for a material everywhere"
            raise ParameterError(f"a shape of {shape.body!r} in URDF", got=got, expected=expected, hint=HINT)


# --- joints ------------------------------------------------------------------------------------------------------


def _joint(c: Connection) -> list[str]:
    kind = _kind(c)
    origin = c.parent_pose @ c.child_pose.inverse() if isinstance(c.joint, Planar) else c.parent_pose
    return [
        f'  <joint name={_text(c.name, "name of a joint")} type="{kind}">',
        *_origin(origin, "    "),
        f"    <parent link={_text(c.parent, 'name of a body')}/>",
        f"    <child link={_text(c.child, 'name of a body')}/>",
        *_axis(c),
        *_limit(c, kind),
        *_dynamics(c),
        *_mimic(c),
        "  </joint>",
    ]


def _loop(c: Connection) -> list[str]:
    ends = []
    for tag, body, pose in zip(LOOP_ENDS, (c.parent, c.child), (c.parent_pose, c.child_pose), strict=True):
        start = f"    <{tag} link={_text(body, 'name of a body')}"
        ends += [f"{start}>", *_origin(pose, "      "), f"    </{tag}>"]
    kind = KINDS[type(c.joint)]
    upright = ['    <axis xyz="0.0 0.0 1.0"/>'] if isinstance(c.joint, Planar) else _axis(c)
    start = f'  <loop name={_text(c.name, "name of a joint")} type="{kind}">'
    bounded = any(map(math.isfinite, (*_of(c, "lower"), *_of(c, "upper"), *_of(c, "velocity"), *_of(c, "effort"))))
    return [start, *ends, *upright, *(_limit(c, kind) if bounded else []), *_dynamics(c), "  </loop>"]


def _kind(c: Connection) -> str:
    """Return URDF's type of a joint: a revolute one without limits is continuous."""
    inner = c.joint.joint if isinstance(c.joint, Mimic) else c.joint
    limited = any(map(math.isfinite, (*_of(c, "lower"), *_of(c, "upper"))))
    return "continuous" if isinstance(inner, Revolute) and not limited else KINDS[type(inner)]


def _axis(c: Connection) -> list[str]:
    inner: Any = c.joint.joint if isinstance(c.joint, Mimic) else c.joint
    direction = across(c) if isinstance(inner, Planar) else getattr(inner, "axis", None)
    return [] if direction is None else [f'    <axis xyz="{_numbers(axis(direction))}"/>']


def _of(c: Connection, name: str) -> Sequence[float]:
    return getattr(c.limits, name) or ()


def _limit(c: Connection, kind: str) -> list[str]:
    """Return the limits; a number too large to be one stands for none where URDF wants a number."""
    bounds = {"velocity": _one(c, "velocity", _of(c, "velocity")), "effort": _one(c, "effort", _of(c, "effort"))}
    for what in bounds:
        mirrored = tuple(-bound for bound in _of(c, what))
        if _of(c, f"{what}_lower") != mirrored:
            got, expected = _of(c, f"{what}_lower"), f"{mirrored}: the same limit both ways"
            raise ParameterError(f"{what}_lower of joint {c.name!r} in URDF", got=got, expected=expected, hint=HINT)
    if kind in ("revolute", "prismatic"):
        bounds = {"lower": _of(c, "lower")[0], "upper": _of(c, "upper")[0]} | bounds
    elif any(map(math.isfinite, (*_of(c, "lower"), *_of(c, "upper")))):
        got, expected = (tuple(_of(c, "lower")), tuple(_of(c, "upper"))), f"none: a {kind} joint has no position limits"
        raise ParameterError(f"limits of joint {c.name!r} in URDF", got=got, expected=expected, hint=HINT)
    elif kind == "fixed" or not any(map(math.isfinite, bounds.values())):
        return []
    numbers = {
        what: bound if math.isfinite(bound) else math.copysign(UNLIMITED, bound) for what, bound in bounds.items()
    }
    return ["    <limit " + " ".join(f'{what}="{bound!r}"' for what, bound in numbers.items()) + "/>"]


def _dynamics(c: Connection) -> list[str]:
    values = {what: _one(c, what, getattr(c, what)) for what in PASSIVE}
    if not any(values.values()):
        return []
    if not values["armature"]:
        del values["armature"]  # no part of URDF
    return ["    <dynamics " + " ".join(f'{what}="{value!r}"' for what, value in values.items()) + "/>"]


def _one(c: Connection, what: str, values: Sequence[float]) -> float:
    """Return the number all degrees of freedom have; 0 without any."""
    if len(set(values)) > 1:
        expected = "one number for all degrees of freedom"
        raise ParameterError(f"{what} of joint {c.name!r} in URDF", got=tuple(values), expected=expected, hint=HINT)
    return float(values[0]) + 0.0 if values else 0.0


def _mimic(c: Connection) -> list[str]:
    if not isinstance(c.joint, Mimic):
        return []
    numbers = f'multiplier="{float(c.joint.multiplier)!r}" offset="{float(c.joint.offset)!r}"'
    return [f"    <mimic joint={_text(c.joint.primary, 'name of a joint')} {numbers}/>"]


# --- frames, poses, texts ----------------------------------------------------------------------------------------


def _frame(frame: Frame) -> str:
    place = f"{_text(frame.name, 'name of a frame')} link={_text(frame.body, 'name of a body')}"
    kind = "" if frame.kind == "operational" else f' kind="{frame.kind}"'
    return f"  <frame name={place} {_pose(frame.pose)}{kind}/>"


def _origin(pose: SE3, indent: str) -> list[str]:
    return [] if pose == SE3.identity() else [f"{indent}<origin {_pose(pose)}/>"]


def _pose(pose: SE3) -> str:
    return f'xyz="{_numbers(pose.translation)}" rpy="{_numbers(rpy(pose.rotation))}"'


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value) + 0.0) for value in values)  # + 0.0 makes -0.0 a 0.0


def _text(text: str, what: str) -> str:
    """Return a text as an XML attribute value, quoted."""
    if _UNWRITABLE.search(text):
        raise ParameterError(f"{what} in URDF", got=text, expected="characters XML can hold", hint=HINT)
    escaped = html.escape(text, quote=False).replace('"', "&quot;")
    for white, reference in (("\n", "&#10;"), ("\r", "&#13;"), ("\t", "&#9;")):
        escaped = escaped.replace(white, reference)
    return f'"{escaped}"'
