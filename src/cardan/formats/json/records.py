"""Bodies, joints, frames and shapes as plain data (`..._data`) and back, as the keywords they are made of.

What equals its default to the last bit is not written: an identity, no limit, no friction, no name of a shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cardan.description import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from cardan.formats.json.numbers import (
    BOUNDS,
    at,
    bounds_data,
    inertia,
    inertia_data,
    limits,
    members,
    number,
    number_data,
    numbers,
    numbers_data,
    pose,
    pose_data,
    text,
    text_data,
)
from cardan.formats.json.text import WrongError, refuse
from cardan.formats.json.values import Reader, Writer
from cardan.formats.report import nearest
from cardan.joints import Joint, Limits
from cardan.model import Body, Connection, Frame, Model
from cardan.model.inputs import Input
from cardan.spatial import SE3

Fields = dict[str, Any]
PASSIVE = ("damping", "friction", "armature")


def body_data(body: Body) -> Fields:
    """Return a body as it is written."""
    data: Fields = {"name": text_data(body.name, "name of a body")}
    if body.inertia is not None:
        data["inertia"] = inertia_data(body.inertia, f"inertia of body {body.name!r}")
    return data


def body_fields(value: Any, _: Reader) -> Fields:
    """Return the keywords of a body."""
    given = members(value, ("name",), ("inertia",))
    return {"name": at("name", text, given["name"])} | _present(given, {"inertia": inertia})


def joint_data(c: Connection) -> Fields:
    """Return a joint between two bodies as it is written."""
    what = f"joint {c.name!r}"
    data: Fields = {
        "name": text_data(c.name, "name of a joint"),
        "joint": Writer().object(c.joint, what),
        "parent": text_data(c.parent, f"parent of {what}"),
        "child": text_data(c.child, f"child of {what}"),
        **_pose_data("parent_pose", c.parent_pose, what),
        **_pose_data("child_pose", c.child_pose, what),
    }
    bounds = _limits_data(c.limits, c.joint.nv, what)
    if bounds:
        data["limits"] = bounds
    for name in PASSIVE:
        values = numbers_data(getattr(c, name), f"{name} of {what}")
        if any(repr(e) != "0.0" for e in values):
            data[name] = values
    return data


def joint_fields(value: Any, reader: Reader) -> Fields:
    """Return the keywords of a joint between two bodies."""
    given = members(value, ("name", "joint", "parent", "child"), ("parent_pose", "child_pose", "limits", *PASSIVE))
    fields: Fields = {key: at(key, text, given[key]) for key in ("name", "parent", "child")}
    fields["joint"] = at("joint", reader.joint, given["joint"])
    readers: dict[str, Callable[[Any], Any]] = {"parent_pose": pose, "child_pose": pose, "limits": limits}
    return fields | _present(given, readers | dict.fromkeys(PASSIVE, numbers))


def joint_object_data(joint: Joint) -> Fields:
    """Return a joint on its own as it is written."""
    return Writer().object(joint, f"joint {type(joint).__name__}")


def frame_data(frame: Frame) -> Fields:
    """Return a frame as it is written."""
    what = f"frame {frame.name!r}"
    names = {"name": text_data(frame.name, "name of a frame"), "body": text_data(frame.body, f"body of {what}")}
    kind = {} if frame.kind == "operational" else {"kind": frame.kind}
    return names | _pose_data("pose", frame.pose, what) | kind


def frame_fields(value: Any, _: Reader) -> Fields:
    """Return the keywords of a frame."""
    given = members(value, ("name", "body"), ("pose", "kind"))
    return {key: at(key, text, given[key]) for key in ("name", "body")} | _present(given, {"pose": pose, "kind": text})


def shape_data(shape: Shape) -> Fields:
    """Return a shape as it is written."""
    what = f"a shape of {shape.body!r}"
    data: Fields = {key: text_data(getattr(shape, key), f"{key} of {what}") for key in ("body", "role")}
    data["geometry"] = _geometry_data(shape.geometry, what)
    data |= _pose_data("pose", shape.pose, what)
    if shape.rgba is not None:
        data["rgba"] = numbers_data(shape.rgba, f"colour of {what}")
    texts = {key: text_data(getattr(shape, key), f"{key} of {what}") for key in ("name", "material", "texture")}
    return data | {key: value for key, value in texts.items() if value}


def shape_fields(value: Any, _: Reader) -> Fields:
    """Return the keywords of a shape."""
    given = members(value, ("body", "role", "geometry"), ("pose", "rgba", "name", "material", "texture"))
    fields: Fields = {key: at(key, text, given[key]) for key in ("body", "role")}
    fields["geometry"] = at("geometry", _geometry, given["geometry"])
    readers: dict[str, Callable[[Any], Any]] = {"pose": pose, "rgba": numbers}
    return fields | _present(given, readers | dict.fromkeys(("name", "material", "texture"), text))


GEOMETRIES: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "Box": (Box, ("size",)),
    "Sphere": (Sphere, ("radius",)),
    "Ellipsoid": (Ellipsoid, ("radii",)),
    "Cylinder": (Cylinder, ("radius", "length")),
    "Capsule": (Capsule, ("radius", "length")),
    "Mesh": (Mesh, ("uri", "path", "scale")),
}
"""Geometries by name, with their fields; a new one adds a line."""


def _geometry_data(geometry: Any, what: str) -> Fields:
    name = type(geometry).__name__
    data: Fields = {}
    for key in GEOMETRIES[name][1]:
        value = getattr(geometry, key)
        if value is not None and not (key == "scale" and repr(value) == "(1.0, 1.0, 1.0)"):
            data[key] = _DATA.get(key, number_data)(value, f"{key} of {what}")
    return {name: data}


_DATA: dict[str, Callable[[Any, str], Any]] = {
    "size": numbers_data,
    "radii": numbers_data,
    "scale": numbers_data,
    "uri": text_data,
    "path": text_data,
}
_READ: dict[str, Callable[[Any], Any]] = {
    "size": numbers,
    "radii": numbers,
    "scale": numbers,
    "uri": text,
    "path": text,
}


def _geometry(value: Any) -> Any:
    if type(value) is not dict or len(value) != 1:
        refuse(value, f'a geometry, such as {{"Sphere": {{"radius": 0.1}}}}; they are {", ".join(GEOMETRIES)}')
    ((name, body),) = value.items()
    if name not in GEOMETRIES:
        hint = nearest(name, GEOMETRIES) or f"; they are {', '.join(GEOMETRIES)}"
        raise WrongError(f"there is no geometry {name[:80]!r}{hint}")
    return at(name, _made, body, *GEOMETRIES[name])


def _made(value: Any, kind: type[Any], keys: Sequence[str]) -> Any:
    optional = [key for key in keys if key in ("path", "scale")]
    given = members(value, [key for key in keys if key not in optional], optional)
    return kind(**_present(given, {key: _READ.get(key, number) for key in keys}))


def input_data(given: Input) -> Fields:
    """Return a constant of a model that is an input as it is written."""
    data: Fields = {"name": text_data(given.name, "name of an input")}
    return data if given.owner is None else data | {"owner": given.owner, "constant": given.constant}


def with_input(model: Model, value: Any) -> Model:
    """Return the model with one more input."""
    given = members(value, ("name",) if type(value) is not dict or len(value) == 1 else ("name", "owner", "constant"))
    names = {key: at(key, text, e) for key, e in given.items()}
    if len(names) == 1:
        return model.with_inputs(names["name"])
    return model.with_inputs(**{names["name"]: (names["owner"], names["constant"])})


def _present(given: Fields, readers: dict[str, Callable[[Any], Any]]) -> Fields:
    """Return the optional parts that are there."""
    return {key: at(key, read, given[key]) for key, read in readers.items() if key in given}


def _pose_data(key: str, value: SE3, what: str) -> Fields:
    data = pose_data(value, f"{key} of {what}")
    return {key: data} if data else {}


def _limits_data(given: Limits, nv: int, what: str) -> Fields:
    """Return the bounds that differ from what `Limits.resolved` fills in."""
    held = {key: bounds_data(getattr(given, key), f"limits of {what}") for key in BOUNDS}
    default = {key: bounds_data(getattr(Limits().resolved(nv), key), what) for key in BOUNDS}
    for key in ("velocity", "effort"):
        default[f"{key}_lower"] = bounds_data([-e for e in getattr(given, key)], what)
    return {key: values for key, values in held.items() if repr(values) != repr(default[key])}
