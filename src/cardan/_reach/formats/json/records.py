"""Bodies, joints, frames, shapes and inputs, as the table of `kinds`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from cardan._algebra.errors import close_names, did_you_mean, quoted
from cardan._reach.formats.json.kinds import (
    BOUNDS,
    INERTIA,
    LIMIT,
    LIMITS,
    NUMBER,
    NUMBERS,
    POSE,
    TEXT,
    WHOLE,
    Field,
    Kind,
    Record,
    at,
    listed,
)
from cardan._reach.formats.json.text import WrongError, refuse
from cardan._reach.formats.json.values import JOINT
from cardan._robot.description import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from cardan._robot.geometry.shapes import ALL_BITS
from cardan._robot.joints import Limits
from cardan._robot.model import Body, Connection, Drive, Frame, Material, Model
from cardan._robot.model.inputs import Input
from cardan._robot.records import Actuator, Configuration, Group, Spring

_SOLIDS = (Box, Sphere, Ellipsoid, Cylinder, Capsule, Mesh, Plane, HeightField)
GEOMETRIES: dict[str, type[Any]] = {kind.__name__: kind for kind in _SOLIDS}
"""Geometries by name; a new one adds its class, and the kinds of its fields that are no numbers."""
_MEASURES = {"size": NUMBERS, "radii": NUMBERS, "scale": NUMBERS, "uri": TEXT, "path": TEXT}
_MEASURES["heights"] = listed(NUMBERS, of="rows of numbers")
_WRITTEN = {"scale": lambda mesh: None if repr(mesh.scale) == "(1.0, 1.0, 1.0)" else mesh.scale}


def _form(kind: type[Any]) -> Record:
    own = ((f.name, f.default is not dataclasses.MISSING) for f in dataclasses.fields(kind))
    return Record(kind, *(Field(k, _MEASURES.get(k, NUMBER), optional, _WRITTEN.get(k)) for k, optional in own))


_FORMS = {name: _form(kind) for name, kind in GEOMETRIES.items()}


def _geometry_data(geometry: Any, what: str) -> dict[str, Any]:
    name = type(geometry).__name__
    return {name: _FORMS[name].write(geometry, what)}


def _geometry(value: Any, trusted: bool) -> Any:
    if type(value) is not dict or len(value) != 1:
        refuse(value, f'a geometry, such as {{"Sphere": {{"radius": 0.1}}}}; they are {", ".join(GEOMETRIES)}')
    ((name, body),) = value.items()
    if name not in _FORMS:
        hint = did_you_mean(close_names(name, GEOMETRIES)) or f"; they are {', '.join(GEOMETRIES)}"
        raise WrongError(f"there is no geometry {quoted(name)}{hint}")
    return at(name, _FORMS[name].read, body, trusted)


def _limits(c: Connection) -> Limits:
    """Return the bounds that differ from what `Limits.resolved` fills in."""
    held, default = c.limits, Limits().resolved(c.joint.nv)
    mirrored = {f"{key}_lower": tuple(-e for e in getattr(held, key)) for key in ("velocity", "effort")}
    usual = {key: mirrored.get(key, getattr(default, key)) for key in BOUNDS}
    different = {key: getattr(held, key) for key in BOUNDS if repr(getattr(held, key)) != repr(usual[key])}
    return Limits(**different)


def _unless_zero(key: str) -> Callable[[Any], Any]:
    return lambda thing: getattr(thing, key) if any(repr(float(e)) != "0.0" for e in getattr(thing, key)) else None


def _unless(key: str, usual: Any) -> Callable[[Any], Any]:
    """Return what reads an attribute, as None where it is as usual to the last bit."""
    return lambda thing: None if repr(getattr(thing, key)) == repr(usual) else getattr(thing, key)


def _gear(actuator: Actuator) -> Any:
    return None if all(repr(row) == "(1.0,)" for row in actuator.gear) else actuator.gear  # pyright: ignore


def _coordinates_data(coordinates: Any, what: str) -> dict[str, Any]:
    return {TEXT.write(joint, what): NUMBERS.write(own, what) for joint, own in coordinates.items()}


def _coordinates(value: Any, trusted: bool) -> dict[str, Any]:
    if type(value) is not dict:
        refuse(value, 'coordinates by joint, such as {"elbow": [0.5]}')
    return {joint: at(joint, NUMBERS.read, own, trusted) for joint, own in value.items()}


NAMES = listed(TEXT, of="names")
DRIVE = Record(Drive, *(Field(key, NUMBERS, True, _unless_zero(key)) for key in ("stiffness", "damping")))
SPRING = Record(Spring, *(Field(key, NUMBERS, True, _unless_zero(key)) for key in ("stiffness", "rest")))
MATERIAL = Record(Material, *(Field(f.name, NUMBER, True) for f in dataclasses.fields(Material)))
BODY = Record(Body, Field("name", TEXT), Field("inertia", INERTIA, True))
CONNECTION = Record(
    Connection,
    *(Field("name", TEXT), Field("joint", JOINT), Field("parent", TEXT), Field("child", TEXT)),
    *(Field(key, POSE, True) for key in ("parent_pose", "child_pose")),
    Field("limits", LIMITS, True, _limits),
    *(Field(key, NUMBERS, True, _unless_zero(key)) for key in ("damping", "friction", "armature")),
    Field("drive", DRIVE, True),
    Field("compliance", NUMBERS, True, _unless_zero("compliance")),
    Field("spring", SPRING, True),
)
FRAME = Record(
    Frame,
    *(Field("name", TEXT), Field("body", TEXT), Field("pose", POSE, True)),
    Field("kind", TEXT, True, _unless("kind", "operational")),
)
SHAPE = Record(
    Shape,
    *(Field("body", TEXT), Field("role", TEXT), Field("geometry", Kind(_geometry_data, _geometry))),
    *(Field("pose", POSE, True), Field("rgba", NUMBERS, True)),
    *(Field(key, TEXT, True) for key in ("name", "material", "texture")),
    Field("surface", MATERIAL, True),
    *(Field(key, WHOLE, True, _unless(key, usual)) for key, usual in (("group", 1), ("mask", ALL_BITS))),
    *(Field("margin", NUMBER, True, _unless("margin", 0.0)), Field("density", NUMBER, True)),
)
ACTUATOR = Record(
    Actuator,
    *(Field("name", TEXT), Field("joints", NAMES), Field("gear", listed(NUMBERS, of="gears"), True, _gear)),
    Field("kind", TEXT, True, _unless("kind", "effort")),
    *(Field("gain", NUMBER, True), Field("bias", NUMBERS, True)),
    *(Field(key, LIMIT, True, _unless(key, (-math.inf, math.inf))) for key in ("control_range", "effort_range")),
)
GROUP = Record(
    Group,
    *(Field("name", TEXT), Field("bodies", NAMES, True, _unless("bodies", ()))),
    *(Field("joints", NAMES, True, _unless("joints", ())), Field("tip", TEXT, True)),
)
CONFIGURATION = Record(
    Configuration, Field("name", TEXT), Field("coordinates", Kind(_coordinates_data, _coordinates), True)
)
PAIR = listed(TEXT, 2, of="names of bodies")
INPUT = Record(
    Input,
    Field("name", TEXT),
    Field("owner", TEXT, True),
    Field("constant", TEXT, True, lambda i: None if i.owner is None else i.constant),
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
