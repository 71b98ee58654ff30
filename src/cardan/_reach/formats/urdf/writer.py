"""The URDF writer: a mechanism or a model as URDF text; what URDF cannot say is refused or told, never dropped.

Refused is what changes how the robot moves; what is said beside (gains of actuators, groups, configurations, what
contact feels) is left out, and listed.

What is read from the text equals what was written, to the last bit almost everywhere, where URDF has the same form; a
link whose frame must move (see `urdf_form`) is named. Armatures, loops and frames use the extensions of docs/urdf.md,
which other programs skip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from cardan._algebra.spatial import SE3
from cardan._reach.formats import written as W
from cardan._reach.formats.urdf import joints
from cardan._reach.formats.urdf.form import KINDS, across, urdf_form
from cardan._reach.formats.urdf.schema import VOCABULARY
from cardan._reach.formats.xml import DECLARATION, UNWRITABLE, element, escaped, numbers, on_a_line, value
from cardan._robot.description import Box, Capsule, Cylinder, Mechanism, Mesh, Shape, Sphere
from cardan._robot.geometry.shapes import ALL_BITS
from cardan._robot.joints import Mimic, Planar, Revolute
from cardan._robot.model import WORLD, Body, Connection, Frame, Model
from cardan._robot.records import EARTH_GRAVITY, Actuator


def to_urdf(thing: Mechanism | Model) -> str:
    """Return a mechanism or a model as URDF text.

    A `DescriptionWarning` names the links whose frames had to move, and one each thing that URDF cannot say.

    Args:
        thing: a mechanism or a model.

    Raises:
        UnsupportedError: for what URDF cannot say, such as a joint of another type; JSON can.
        MechanismError: if the bodies are not one connected whole.
        ParameterError: for what is no mechanism or model, and for constraints in code.

    Examples:
        >>> cardan.load_mechanism(cardan.to_urdf(mechanism)).name
        'arm7'
    """
    return W.text_of(write_urdf(thing), thing.name, "URDF")


def write_urdf(thing: Mechanism | Model) -> W.Written:
    """Return a mechanism or a model as URDF text, and which link frames moved; errors as for `to_urdf`.

    Args:
        thing: a mechanism or a model.

    Raises:
        UnsupportedError, MechanismError, ParameterError: as for `to_urdf`.

    Examples:
        >>> cardan.formats.write_urdf(mechanism).losses
        ()
    """
    W.check_is_robot(thing, "URDF")
    form = urdf_form(thing)
    on: dict[str, list[Shape]] = {WORLD: []} | {body.name: [] for body in form.bodies}
    for shape in form.shapes:
        on[shape.body].append(shape)
    _check_materials([shape for shapes in on.values() for shape in shapes])
    bodies, what = (*([Body(WORLD)] * form.world), *form.bodies), "name of a body"
    links = [element("link", {"name": _text(b.name, what)}, _inertial(b), *map(_shape, on[b.name])) for b in bodies]
    driven = [_transmission(a) for a in form.actuators if joints.is_transmission(a)]
    inside = [*links, *map(_joint, form.tree), *map(_loop, form.loops), *map(_frame, form.frames), *driven]
    name = {"name": _text(form.name, "name of a robot")}
    if not form.name.strip():
        raise W.refused("URDF", "the name of a robot", repr(form.name), "it has names that are not empty")
    version = {"version": "1.2"} if any(isinstance(s.geometry, Capsule) for s in form.shapes) else {}
    lines = [DECLARATION, *element("robot", name | version, *inside, open=True)]
    return W.Written("\n".join([*lines, ""]), tuple(_losses(thing)), form.moved)


def _losses(thing: Mechanism | Model) -> Iterator[str]:
    beside = thing.annotations
    if isinstance(thing, Mechanism) and tuple(thing.gravity) != EARTH_GRAVITY:
        yield f"gravity {tuple(thing.gravity)}"
    if beside.self_collision:
        yield "that shapes of one robot may touch one another"
    simple = [a for a in beside.actuators if joints.is_transmission(a)]
    lost = {
        **W.beside(beside),
        "actuators": [a.name for a in beside.actuators if not joints.is_transmission(a)],
        "gains and ranges of actuators": [a.name for a in simple if not joints.is_said_wholly(a)],
        "surfaces, groups, masks, margins, surface velocities or densities of shapes on": [
            s.body for s in beside.shapes if any(getattr(s, key) != usual for key, usual in _PLAIN_SHAPE.items())
        ],
    }
    yield from W.losses_of(lost)


_PLAIN_SHAPE = {"surface": None, "group": 1, "mask": ALL_BITS, "margin": 0.0, "surface_velocity": None, "density": None}


def _inertial(body: Body) -> list[str]:
    inertia: Any = body.inertia
    if inertia is None:
        return []
    if inertia.mass == 0.0 and any(inertia.first_moment):
        raise W.refused("URDF", f"inertia of body {body.name!r}", "a first moment of no mass")
    com, entries = W.inertial(inertia)
    moments = dict(zip(VOCABULARY.attributes("inertia"), map(repr, entries), strict=True))
    mass = element("mass", {"value": repr(float(inertia.mass))})
    return element("inertial", {}, _origin(SE3(translation=com)), mass, element("inertia", moments))


def _shape(shape: Shape) -> list[str]:
    what = f"a shape of {shape.body!r}"
    name = {"name": _text(shape.name, f"name of {what}")} if shape.name else {}
    geometry = on_a_line(element("geometry", {}, _geometry(shape, what)))
    return element(shape.role, name, _origin(shape.pose), geometry, _material(shape, what))


def _geometry(shape: Shape, what: str) -> list[str]:
    geometry = shape.geometry
    if isinstance(geometry, (Box, Sphere, Capsule, Cylinder)):
        return element(type(geometry).__name__.lower(), W.dimensions(geometry))
    if not isinstance(geometry, Mesh) or not geometry.uri.strip():
        why = "it has Box, Sphere, Cylinder, Capsule, and a Mesh with a uri"
        raise W.refused("URDF", f"geometry of {what}", geometry, why)
    scale = {} if geometry.scale == (1.0, 1.0, 1.0) else {"scale": numbers(geometry.scale)}
    return element("mesh", {"filename": _text(geometry.uri, f"mesh of {what}")} | scale)


def _material(shape: Shape, what: str) -> list[str]:
    if not (shape.material or shape.texture or shape.rgba is not None):
        return []
    color = [] if shape.rgba is None else element("color", {"rgba": numbers(shape.rgba)})
    file = {"filename": _text(shape.texture, f"texture of {what}")}
    texture = element("texture", file) if shape.texture else []
    return on_a_line(element("material", {"name": _text(shape.material, f"material of {what}")}, color, texture))


def _check_materials(shapes: Sequence[Shape]) -> None:
    """Raise if a shape has a material without a look that URDF would give it: that of an earlier shape."""
    seen: set[str] = set()
    for shape in shapes:
        if shape.rgba is not None or shape.texture:
            seen.add(shape.material)
        elif shape.material and shape.material in seen:
            what = f"material {shape.material!r} without colour, which has one on an earlier shape"
            raise W.refused("URDF", f"a shape of {shape.body!r}", what, "a material looks the same everywhere there")


def _joint(c: Connection) -> list[str]:
    inner = W.without_mimic(c.joint)
    is_endless = isinstance(inner, Revolute) and not W.is_bounded(c, "lower", "upper")
    kind = "continuous" if is_endless else KINDS[type(inner)]
    origin = c.parent_pose @ c.child_pose.inverse() if isinstance(c.joint, Planar) else c.parent_pose
    mimic = []
    if isinstance(c.joint, Mimic):
        ratio = {"multiplier": repr(float(c.joint.multiplier)), "offset": repr(float(c.joint.offset))}
        mimic = element("mimic", {"joint": _text(c.joint.primary, "name of a joint")} | ratio)
    ends = [element(tag, _on_link(body)) for tag, body in zip(joints.ENDS, (c.parent, c.child), strict=True)]
    inside = (_origin(origin), *ends, _axis(c), _limit(c, kind), _dynamics(c), mimic)
    return element("joint", {"name": _text(c.name, "name of a joint"), "type": kind}, *inside)


def _loop(c: Connection) -> list[str]:
    ends = zip(joints.LOOP_ENDS, (c.parent, c.child), (c.parent_pose, c.child_pose), strict=True)
    joined = [element(tag, _on_link(body), _origin(pose), open=True) for tag, body, pose in ends]
    kind = KINDS[type(c.joint)]
    upright = element("axis", {"xyz": "0.0 0.0 1.0"}) if isinstance(c.joint, Planar) else _axis(c)
    limit = _limit(c, kind) if W.is_bounded(c, "lower", "upper", "velocity", "effort") else []
    name = _text(c.name, "name of a joint")
    return element("loop", {"name": name, "type": kind}, *joined, upright, limit, _dynamics(c))


def _on_link(body: str) -> dict[str, str]:
    return {"link": _text(body, "name of a body")}


def _axis(c: Connection) -> list[str]:
    inner = W.without_mimic(c.joint)
    direction = across(c) if isinstance(inner, Planar) else getattr(inner, "axis", None)
    return [] if direction is None else element("axis", {"xyz": numbers(W.axis(direction))})


def _limit(c: Connection, kind: str) -> list[str]:
    """Return the limits; a number too large to be one stands for none where URDF wants a number."""
    bounds = {what: _one(c, what, getattr(c.limits, what) or ()) for what in ("velocity", "effort")}
    if kind in ("revolute", "prismatic"):
        bounds = {what: _one(c, what, getattr(c.limits, what)) for what in ("lower", "upper")} | bounds
    elif W.is_bounded(c, "lower", "upper"):
        raise W.refused("URDF", f"limits of joint {c.name!r}", c.limits, f"a {kind} joint has no position limits")
    elif kind == "fixed" or not any(map(math.isfinite, bounds.values())):
        return []
    finite = {w: b if math.isfinite(b) else math.copysign(joints.UNLIMITED, b) for w, b in bounds.items()}
    return element("limit", {what: repr(bound) for what, bound in finite.items()})


def _dynamics(c: Connection) -> list[str]:
    W.check_is_said(c, "URDF", "drive_stiffness", "drive_damping", "compliance", "spring_stiffness")
    values = {what: _one(c, what, getattr(c, what)) for what in joints.PASSIVE}
    if not any(values.values()):
        return []
    if not values["armature"]:
        del values["armature"]  # no part of URDF
    return element("dynamics", {what: repr(value) for what, value in values.items()})


def _one(c: Connection, what: str, values: Sequence[float]) -> float:
    if len(set(values)) > 1:
        why = "it has one number for all degrees of freedom"
        raise W.refused("URDF", f"{what} of joint {c.name!r}", tuple(values), why)
    return float(values[0]) + 0.0 if values else 0.0


def _transmission(actuator: Actuator) -> list[str]:
    kind = value("hardwareInterface", joints.INTERFACES[actuator.kind])
    name, ((moved, (gear,)),) = _text(actuator.name, "name of an actuator"), actuator._rows()
    joint = element("joint", {"name": _text(moved, "name of a joint")}, kind)
    motor = element("actuator", {"name": name}, kind, value("mechanicalReduction", repr(gear)))
    simple = value("type", f"transmission_interface/{joints.SIMPLE}")
    return element("transmission", {"name": f"{name}_transmission"}, simple, joint, motor)


def _frame(frame: Frame) -> list[str]:
    name = {"name": _text(frame.name, "name of a frame")}
    kind = {} if frame.kind == "operational" else {"kind": frame.kind}
    return element("frame", name | _on_link(frame.body) | _pose(frame.pose) | kind)


def _origin(pose: SE3) -> list[str]:
    return [] if pose == SE3.identity() else element("origin", _pose(pose))


def _pose(pose: SE3) -> dict[str, str]:
    return {"xyz": numbers(pose.translation), "rpy": numbers(W.rpy(pose.rotation))}


def _text(text: str, what: str) -> str:
    if UNWRITABLE.search(text):
        raise W.refused("URDF", what, repr(text), "it has the characters that XML can hold")
    return escaped(text)
