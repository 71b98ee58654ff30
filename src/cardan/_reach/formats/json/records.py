"""Bodies, joints, frames, shapes and inputs, as the table of `kinds`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, get_args

from cardan._algebra.errors import close_names, did_you_mean, quoted
from cardan._reach.formats.json import kinds as K
from cardan._reach.formats.json.text import WrongError, refuse
from cardan._reach.formats.json.values import JOINT
from cardan._robot.geometry.shapes import ALL_BITS, Geometry, Shape
from cardan._robot.joints import Limits
from cardan._robot.model import Body, Connection, Drive, Frame, Material, Model
from cardan._robot.model.inputs import Input
from cardan._robot.records import Actuator, Configuration, ContactSurface, Group, Spring

GEOMETRIES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Geometry)}
"""Geometries by name; a new one adds the kinds of its fields that are no numbers."""
_MEASURES = {"size": K.NUMBERS, "radii": K.NUMBERS, "scale": K.NUMBERS, "uri": K.TEXT, "path": K.TEXT}
_MEASURES |= {key: K.listed(K.NUMBERS, of="rows of numbers") for key in ("heights", "vertices")}
_MEASURES["triangles"] = K.listed(K.listed(K.WHOLE, 3), of="three numbers of vertices each")
_WRITTEN: dict[str, Any] = {
    "scale": lambda mesh: None if repr(mesh.scale) == "(1.0, 1.0, 1.0)" else mesh.scale,
    "error": lambda hull: hull.error or None,
}


def _form(kind: type[Any]) -> K.Record:
    own = ((f.name, f.default is not dataclasses.MISSING) for f in dataclasses.fields(kind) if f.init)
    return K.Record(kind, *(K.Field(k, _MEASURES.get(k, K.NUMBER), optional, _WRITTEN.get(k)) for k, optional in own))


_FORMS = {name: _form(kind) for name, kind in GEOMETRIES.items()}


def _geometry(value: Any, trusted: bool) -> Any:
    if type(value) is not dict or len(value) != 1:
        refuse(value, f'a geometry, such as {{"Sphere": {{"radius": 0.1}}}}; they are {", ".join(GEOMETRIES)}')
    ((name, body),) = value.items()
    if name not in _FORMS:
        hint = did_you_mean(close_names(name, GEOMETRIES)) or f"; they are {', '.join(GEOMETRIES)}"
        raise WrongError(f"there is no geometry {quoted(name)}{hint}")
    return K.at(name, _FORMS[name].read, body, trusted)


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


def _coordinates(value: Any, trusted: bool) -> dict[str, Any]:
    if type(value) is not dict:
        refuse(value, 'coordinates by joint, such as {"elbow": [0.5]}')
    return {joint: K.at(joint, K.NUMBERS.read, own, trusted) for joint, own in value.items()}


NAMES = K.listed(K.TEXT, of="names")
DRIVE = K.Record(Drive, *(K.Field(key, K.NUMBERS, True, _unless_zero(key)) for key in ("stiffness", "damping")))
SPRING = K.Record(Spring, *(K.Field(key, K.NUMBERS, True, _unless_zero(key)) for key in ("stiffness", "rest")))
MATERIAL = K.Record(Material, *(K.Field(f.name, K.NUMBER, True) for f in dataclasses.fields(Material)))
BODY = K.Record(Body, K.Field("name", K.TEXT), K.Field("inertia", K.INERTIA, True))
CONNECTION = K.Record(
    Connection,
    *(K.Field("name", K.TEXT), K.Field("joint", JOINT), K.Field("parent", K.TEXT), K.Field("child", K.TEXT)),
    *(K.Field(key, K.POSE, True) for key in ("parent_pose", "child_pose")),
    K.Field("limits", K.LIMITS, True, _limits),
    *(K.Field(key, K.NUMBERS, True, _unless_zero(key)) for key in ("damping", "friction", "armature")),
    K.Field("drive", DRIVE, True),
    K.Field("compliance", K.NUMBERS, True, _unless_zero("compliance")),
    K.Field("spring", SPRING, True),
)
FRAME = K.Record(
    Frame,
    *(K.Field("name", K.TEXT), K.Field("body", K.TEXT), K.Field("pose", K.POSE, True)),
    K.Field("kind", K.TEXT, True, _unless("kind", "operational")),
)
_GEOMETRY = K.Kind(lambda g, what: {type(g).__name__: _FORMS[type(g).__name__].write(g, what)}, _geometry)
SHAPE = K.Record(
    Shape,
    *(K.Field("body", K.TEXT), K.Field("role", K.TEXT), K.Field("geometry", _GEOMETRY)),
    *(K.Field("pose", K.POSE, True), K.Field("rgba", K.NUMBERS, True)),
    *(K.Field(key, K.TEXT, True) for key in ("name", "material", "texture")),
    K.Field("surface", MATERIAL, True),
    *(K.Field(key, K.WHOLE, True, _unless(key, usual)) for key, usual in (("group", 1), ("mask", ALL_BITS))),
    *(K.Field("margin", K.NUMBER, True, _unless("margin", 0.0)), K.Field("density", K.NUMBER, True)),
    K.Field("surface_velocity", K.NUMBERS, True),
)
_GEAR = K.Field(
    "gear",
    K.listed(K.NUMBERS, of="gears"),
    True,
    lambda actuator: None if all(repr(row) == "(1.0,)" for row in actuator.gear) else actuator.gear,
)
ACTUATOR = K.Record(
    Actuator,
    *(K.Field("name", K.TEXT), K.Field("joints", NAMES), _GEAR),
    K.Field("kind", K.TEXT, True, _unless("kind", "effort")),
    *(K.Field("gain", K.NUMBER, True), K.Field("bias", K.NUMBERS, True)),
    *(K.Field(key, K.LIMIT, True, _unless(key, (-math.inf, math.inf))) for key in ("control_range", "effort_range")),
)
GROUP = K.Record(
    Group,
    *(K.Field("name", K.TEXT), K.Field("bodies", NAMES, True, _unless("bodies", ()))),
    *(K.Field("joints", NAMES, True, _unless("joints", ())), K.Field("tip", K.TEXT, True)),
)
_COORDINATES = K.Kind(
    lambda own, what: {K.TEXT.write(joint, what): K.NUMBERS.write(q, what) for joint, q in own.items()}, _coordinates
)
CONFIGURATION = K.Record(Configuration, K.Field("name", K.TEXT), K.Field("coordinates", _COORDINATES, True))
PAIR = K.listed(K.TEXT, 2, of="names of bodies")
CONTACT_SURFACE = K.Record(
    ContactSurface,
    *(K.Field("a", K.TEXT), K.Field("b", K.TEXT), K.Field("material", MATERIAL)),
    *(K.Field("shapes", NAMES, True, _unless("shapes", ("", ""))), K.Field("margin", K.NUMBER, True)),
)
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
