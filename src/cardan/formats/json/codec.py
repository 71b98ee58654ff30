"""Joints, mechanisms and models as JSON, exact to the last bit: docs/serialisation.md describes the files.

A file says what it holds and in which version of the schema: `{"cardan": "mechanism", "schema": 1, ...}`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cardan.description import Mechanism, Shape
from cardan.errors import CardanError, DescriptionError, DTypeError, Fault
from cardan.formats.json import records
from cardan.formats.json.numbers import (
    at,
    inertia,
    inertia_data,
    items,
    limits,
    limits_data,
    members,
    numbers_data,
    pose,
    pose_data,
    text,
    text_data,
    vector,
)
from cardan.formats.json.text import WrongError, json_text, line_of, parsed, path_text, refuse, shown
from cardan.formats.json.values import Reader
from cardan.formats.urdf.xml import Source
from cardan.joints import Joint, Limits
from cardan.model import Body, Connection, Frame, Model
from cardan.spatial import SE3, Inertia
from cardan.staging import write_whole

SCHEMA = 1
MAX_FAULTS = 1000
JsonSource = str | bytes | os.PathLike[str]


def to_json(thing: Any, file: str | os.PathLike[str] | None = None, *, indent: int | None = 2) -> str:
    """Return a joint, mechanism or model (or limits, an inertia, a pose) as JSON; `from_json` gives an equal one back.

    Floats come back to the last bit. The same thing gives the same text.

    Args:
        thing: a `Joint`, `Mechanism`, `Model`, `Limits`, `Inertia` or `SE3`.
        file: where to write the text, too: whole, or not at all.
        indent: spaces a level; None for everything on one line.

    Raises:
        ParameterError: naming the joint and the parameter, for a value that has no form in JSON.
        DTypeError: for a thing of another type.
        OSError: if the file cannot be written; what was there before is then untouched.
    """
    name = next((name for name, kind in DOCUMENTS.items() if isinstance(thing, kind.type)), None)
    if name is None:
        expected = "a Joint, Mechanism, Model, Limits, Inertia or SE3"
        raise DTypeError("to_json", "thing", got=f"a {type(thing).__name__}", expected=expected)
    content = json_text({"cardan": name, "schema": SCHEMA, **DOCUMENTS[name].data(thing)}, indent)
    if file is not None:
        encoded = content.encode()
        write_whole({Path(file): lambda stream: stream.write(encoded)})
    return content


def from_json(source: JsonSource, *, trusted: bool = False) -> Any:
    """Return what `to_json` wrote.

    Nothing in the file is executed. Joint classes that are not cardan's are accepted if they were registered with
    `register_joint`.

    Args:
        source: path of a file, or its content as bytes or as text that begins with `{`.
        trusted: import the modules of joint classes that are not registered. Importing runs their code: only for files
            whose writer you trust as you trust the writer of a program you run.

    Raises:
        DescriptionError: with every fault found, each with file, line and path.
    """
    return opened_json(source, trusted=trusted)[1]


class Text(NamedTuple):
    """A JSON text and what to call it."""

    name: str
    content: str

    def fault(self, path: Sequence[str | int], message: str, severity: str = "error") -> Fault:
        """Return a fault of what stands at a path, with its line."""
        return Fault(self.name, line_of(self.content, path), f"{path_text(path)}: {message}", severity)


def opened_json(source: JsonSource, *, trusted: bool = False) -> tuple[Text, Any]:
    """Return the text of a JSON source and what it holds; see `from_json`."""
    opened = _opened(source)
    value = parsed(opened.content, opened.name)
    faults = _Faults(opened)
    thing = None
    with faults.noted():
        thing = _document(value, Reader(trusted), faults)
    if faults.found:
        raise DescriptionError(faults.found)
    return opened, thing


def _opened(source: JsonSource) -> Text:
    if isinstance(source, str) and is_json_text(source):
        return Text("<string>", source.removeprefix("\ufeff"))
    if not isinstance(source, (str, bytes, os.PathLike)):
        expected = "a path, or JSON as text or bytes"
        raise DTypeError("from_json", "source", got=f"a {type(source).__name__}", expected=expected)
    opened = Source.of(source if isinstance(source, bytes) else Path(source))
    try:
        return Text(opened.name, opened.content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = opened.content.count(b"\n", 0, error.start) + 1
        raise DescriptionError([Fault(opened.name, line, "is not UTF-8, as JSON must be")]) from None


def is_json_text(source: str | bytes) -> bool:
    """Return whether this is JSON itself, not the path of a file."""
    begin = source[:64] if isinstance(source, str) else source[:64].decode("utf-8-sig", "replace")
    return begin.lstrip("\ufeff \t\r\n").startswith("{")


class _Faults:
    """What is wrong with a text, record by record."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.found: list[Fault] = []

    @contextmanager
    def noted(self, *path: str | int) -> Iterator[None]:
        """Note what is wrong with the record at a path, and go on behind it."""
        try:
            yield
        except WrongError as wrong:
            self._note([*path, *wrong.path], wrong.message)
        except CardanError as error:
            self._note(path, str(error))

    def _note(self, path: Sequence[str | int], message: str) -> None:
        if len(self.found) < MAX_FAULTS:
            self.found.append(self.text.fault(path, message))


def _document(value: Any, reader: Reader, faults: _Faults) -> Any:
    """Return the thing a file holds."""
    if type(value) is not dict or "cardan" not in value:
        refuse(value, 'an object with "cardan", the kind of thing, and "schema": 1')
    kind = at("cardan", text, value["cardan"])
    if kind not in DOCUMENTS:
        raise WrongError(f"got {shown(kind)}, expected one of {', '.join(map(repr, DOCUMENTS))}", "cardan")
    if "schema" not in value:
        raise WrongError(f'the key "schema" is missing; this cardan writes "schema": {SCHEMA}')
    at("schema", _check_schema, value["schema"])
    return DOCUMENTS[kind].read({k: e for k, e in value.items() if k not in ("cardan", "schema")}, reader, faults)


def _check_schema(schema: Any) -> None:
    if type(schema) is int and schema > SCHEMA:
        hint = "the file was written by a newer cardan; upgrade this one with  pip install --upgrade cardan"
        refuse(schema, f"{SCHEMA}, the newest this cardan knows", hint)
    if type(schema) is not int or schema != SCHEMA:
        refuse(schema, str(SCHEMA))


# --- mechanisms and models ----------------------------------------------------------------------------------------

Fields = dict[str, Any]


def _each(given: Fields, key: str, read: Any, make: Any, reader: Reader, faults: _Faults) -> list[Any]:
    """Return what is made of each record of a list; after faults in an earlier list the records are only read."""
    sound, made = not faults.found, []
    for k, value in enumerate(at(key, items, given.get(key, []), "a list of objects")):
        with faults.noted(key, k):
            fields = read(value, reader)
            if sound:
                made.append(make(**fields))
    return made


def _mechanism_data(m: Mechanism) -> Fields:
    frames, shapes = [records.frame_data(e) for e in m.frames], [records.shape_data(e) for e in m.shapes]
    return {
        "name": text_data(m.name, "name of a mechanism"),
        "bodies": [records.body_data(e) for e in m.bodies],
        "joints": [records.joint_data(e) for e in m.joints],
        **({"frames": frames} if frames else {}),
        **({"shapes": shapes} if shapes else {}),
    }


def _mechanism(value: Fields, reader: Reader, faults: _Faults) -> Mechanism:
    given = members(value, ("name", "bodies", "joints"), ("frames", "shapes"))
    m = Mechanism(at("name", text, given["name"]))
    _each(given, "bodies", records.body_fields, m.add_body, reader, faults)
    _each(given, "joints", records.joint_fields, m.add_joint, reader, faults)
    _each(given, "frames", records.frame_fields, m.add_frame, reader, faults)
    _each(given, "shapes", records.shape_fields, lambda **fields: m.add_shape(Shape(**fields)), reader, faults)
    return m


def _model_data(model: Model) -> Fields:
    frames = [records.frame_data(e) for e in model.frames]
    closures = [records.joint_data(e) for e in model.closures]
    inputs = [records.input_data(e) for e in model.inputs.values()]
    return {
        "name": text_data(model.name, "name of a model"),
        "gravity": numbers_data(model.gravity, "gravity"),
        "bodies": [records.body_data(e) for e in model.bodies],
        "joints": [records.joint_data(e) for e in model.connections],
        **({"frames": frames} if frames else {}),
        **({"closures": closures} if closures else {}),
        **({"inputs": inputs} if inputs else {}),
    }


def _model(value: Fields, reader: Reader, faults: _Faults) -> Model | None:
    given = members(value, ("name", "gravity", "bodies", "joints"), ("frames", "closures", "inputs"))
    name, gravity = at("name", text, given["name"]), at("gravity", vector, given["gravity"])
    bodies = _each(given, "bodies", records.body_fields, Body, reader, faults)
    joints = _each(given, "joints", records.joint_fields, Connection, reader, faults)
    frames = _each(given, "frames", records.frame_fields, Frame, reader, faults)
    closures = _each(given, "closures", records.joint_fields, Connection, reader, faults)
    if faults.found:
        return None
    model = Model(name, tuple(bodies), tuple(joints), tuple(frames), gravity, tuple(closures))
    for k, e in enumerate(at("inputs", items, given.get("inputs", []), "a list of objects")):
        with faults.noted("inputs", k):
            model = records.with_input(model, e)
    return model


# --- everything a file may hold -----------------------------------------------------------------------------------


class Document(NamedTuple):
    """A kind of thing a file may hold: its type, how it is written and read."""

    type: type[Any]
    data: Callable[[Any], Fields]
    read: Callable[[Fields, Reader, _Faults], Any]


def _single(name: str, kind: type[Any], data: Callable[[Any], Fields], read: Callable[[Any, Reader], Any]) -> Document:
    """Return the document of a thing that stands under its own name."""

    def read_it(value: Mapping[str, Any], reader: Reader, _: _Faults) -> Any:
        return at(name, read, members(value, (name,))[name], reader)

    return Document(kind, lambda thing: {name: data(thing)}, read_it)


DOCUMENTS: dict[str, Document] = {
    "mechanism": Document(Mechanism, _mechanism_data, _mechanism),
    "model": Document(Model, _model_data, _model),
    "joint": _single("joint", Joint, records.joint_object_data, lambda value, reader: reader.joint(value)),
    "limits": _single("limits", Limits, lambda e: limits_data(e, "limits"), lambda value, _: limits(value)),
    "inertia": _single("inertia", Inertia, lambda e: inertia_data(e, "inertia"), lambda value, _: inertia(value)),
    "pose": _single("pose", SE3, lambda e: pose_data(e, "pose"), lambda value, _: pose(value)),
}
"""The kinds of things by the name a file gives them."""
