"""Bodies, joints, frames, shapes and inputs, as the table of `kinds`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

from cardan._algebra.errors import close_names, did_you_mean, quoted
from cardan._reach.formats.json import kinds as K
from cardan._reach.formats.json.text import WrongError, refuse
from cardan._reach.formats.json.values import JOINT
from cardan._robot.geometry.shapes import Geometry, Shape
from cardan._robot.joints import Limits
from cardan._robot.model import Body, Connection, Drive, Frame, Material, Model
from cardan._robot.model.inputs import Input
from cardan._robot.records import Actuator, Configuration, ContactSurface, Group, Spring

NAMES = K.listed(K.TEXT, of="names")
PAIR = K.listed(K.TEXT, 2, of="names of bodies")
OTHER = "other"  # a friction that is left to the other surface
FRICTION = K.Kind(
    lambda mu, what: mu if mu == OTHER else K.NUMBER.write(mu, what),
    lambda value, trusted: None if value == OTHER else K.NUMBER.read(value, trusted),
)
MATERIAL = K.Record(
    Material,
    K.Field("friction", FRICTION, True, lambda m: OTHER if m.friction is None else m.friction),
    *(K.Field(f.name, K.NUMBER, True) for f in dataclasses.fields(Material)[1:-1]),
    K.Field("priority", K.WHOLE, True),
)

_TEXTS = ("name", "body", "parent", "child", "role", "kind", "material", "texture", "tip", "a", "b", "uri", "path")
_NOTHING = ("stiffness", "damping", "rest", "friction", "armature", "compliance")  # where all numbers are 0
_KINDS: dict[str, Any] = {
    **dict.fromkeys(_TEXTS, K.TEXT),
    **dict.fromkeys(("joints", "bodies", "shapes"), NAMES),
    **dict.fromkeys(("pose", "parent_pose", "child_pose"), K.POSE),
    **dict.fromkeys((*_NOTHING, "size", "radii", "scale", "rgba", "surface_velocity", "bias"), K.NUMBERS),
    **dict.fromkeys(("group", "mask"), K.WHOLE),
    **dict.fromkeys(("control_range", "effort_range"), K.LIMIT),
    **dict.fromkeys(("heights", "vertices"), K.listed(K.NUMBERS, of="rows of numbers")),
    "triangles": K.listed(K.listed(K.WHOLE, 3), of="three numbers of vertices each"),
    "gear": K.listed(K.NUMBERS, of="gears"),
    "inertia": K.INERTIA,
    "joint": JOINT,
    "limits": K.LIMITS,
    "surface": MATERIAL,
}
"""Kinds of the fields of records and geometries, by name; those that are not here are numbers."""


def _limits(c: Connection) -> Limits:
    """Return the bounds that differ from what `Limits.resolved` fills in."""
    held, default = c.limits, Limits().resolved(c.joint.nv)
    mirrored = {f"{key}_lower": tuple(-e for e in getattr(held, key)) for key in ("velocity", "effort")}
    usual = {key: mirrored.get(key, getattr(default, key)) for key in K.BOUNDS}
    different = {key: getattr(held, key) for key in K.BOUNDS if repr(getattr(held, key)) != repr(usual[key])}
    return Limits(**different)


def _unless_zero(key: str) -> Callable[[Any], Any]:
    return lambda thing: getattr(thing, key) if any(repr(float(e)) != "0.0" for e in getattr(thing, key)) else None


def _unless(key: str, usual: Any) -> Callable[[Any], Any]:
    """Return what reads an attribute, as None where it is as usual to the last bit."""
    return lambda thing: None if repr(getattr(thing, key)) == repr(usual) else getattr(thing, key)


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    **{key: _unless_zero(key) for key in _NOTHING},
    "limits": _limits,
    "gear": lambda actuator: None if all(repr(row) == "(1.0,)" for row in actuator.gear) else actuator.gear,
}


def record(made: type[Any], **needed: Any) -> K.Record:
    """Return the kind of a record: its fields in their order; what is as by default is left out, but for the needed."""
    fields = []
    for f in dataclasses.fields(made):
        has_default = f.default is not dataclasses.MISSING
        get = _WRITTEN.get(f.name) or (_unless(f.name, f.default) if has_default else None)
        is_optional = f.name not in needed and (has_default or f.default_factory is not dataclasses.MISSING)
        if f.init:
            fields.append(K.Field(f.name, needed.get(f.name) or _KINDS.get(f.name, K.NUMBER), is_optional, get))
    return K.Record(made, *fields)


GEOMETRIES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Geometry)}
"""Geometries by name; a new one adds the kinds of its fields that are no numbers."""
_FORMS = {name: record(kind) for name, kind in GEOMETRIES.items()}


def _geometry(value: Any, trusted: bool) -> Any:
    if type(value) is not dict or len(value) != 1:
        refuse(value, f'a geometry, such as {{"Sphere": {{"radius": 0.1}}}}; they are {", ".join(GEOMETRIES)}')
    ((name, body),) = value.items()
    if name not in _FORMS:
        hint = did_you_mean(close_names(name, GEOMETRIES)) or f"; they are {', '.join(GEOMETRIES)}"
        raise WrongError(f"there is no geometry {quoted(name)}{hint}")
    return K.at(name, _FORMS[name].read, body, trusted)


def _coordinates(value: Any, trusted: bool) -> dict[str, Any]:
    if type(value) is not dict:
        refuse(value, 'coordinates by joint, such as {"elbow": [0.5]}')
    return {joint: K.at(joint, K.NUMBERS.read, own, trusted) for joint, own in value.items()}


_KINDS |= {
    "drive": record(Drive),
    "spring": record(Spring),
    "geometry": K.Kind(lambda g, what: {type(g).__name__: _FORMS[type(g).__name__].write(g, what)}, _geometry),
    "coordinates": K.Kind(
        lambda own, what: {K.TEXT.write(joint, what): K.NUMBERS.write(q, what) for joint, q in own.items()},
        _coordinates,
    ),
}
BODY, CONNECTION, FRAME, SHAPE = map(record, (Body, Connection, Frame, Shape))
ACTUATOR, GROUP, CONFIGURATION = map(record, (Actuator, Group, Configuration))
CONTACT_SURFACE = record(ContactSurface, material=MATERIAL)
INPUT = K.Record(
    Input,
    K.Field("name", K.TEXT),
    K.Field("owner", K.TEXT, True),
    K.Field("constant", K.TEXT, True, lambda i: None if i.owner is None else i.constant),
)


def with_input(model: Model, value: Any) -> Model:
    """Return the model with one more input: a constant of the model, or of one body, joint or frame of it."""
    names = INPUT.keywords(value, False)
    if len(names) == 1:
        return model.with_inputs(names["name"])
    for key in ("owner", "constant"):
        if key not in names:
            raise WrongError(f"the key {key!r} is missing")
    return model.with_inputs(**{names["name"]: (names["owner"], names["constant"])})
