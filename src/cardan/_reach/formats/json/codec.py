"""Joints, mechanisms and models as JSON, exact to the last bit: docs/serialisation.md describes the files.

A file says what it holds and in which version of the schema: `{"cardan": "mechanism", "schema": 1, ...}`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import CardanError, DescriptionError, DTypeError, Fault, UnknownNameError, quoted
from cardan._algebra.spatial import SE3, Inertia
from cardan._compiler.runtime.staging import write_whole
from cardan._reach.formats.json import records
from cardan._reach.formats.json.kinds import FLAG, INERTIA, LIMITS, POSE, TEXT, VALUES, VECTOR, Kind, at, members
from cardan._reach.formats.json.text import WrongError, json_text, parsed, path_text, refuse, shown
from cardan._reach.formats.json.values import CONSTRAINT, JOINT
from cardan._reach.formats.reading import Description, Options, Places
from cardan._reach.formats.report import MAX_FAULTS, MAX_SUGGESTIONS, Report
from cardan._reach.formats.source import Source
from cardan._robot.description import Mechanism, Mesh, Shape
from cardan._robot.joints import Joint, Limits
from cardan._robot.model import Annotations, Body, Connection, Frame, Model
from cardan._robot.model.user_constraints import name_of
from cardan._robot.records import EARTH_GRAVITY, Actuator, Configuration, ContactSurface, Group

SCHEMA = 1
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

    Examples:
        >>> cardan.from_json(cardan.to_json(cardan.joints.Prismatic(axis=(0.0, 0.0, 1.0))))
        Prismatic(axis=(0.0, 0.0, 1.0))
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
        DescriptionError: with every fault found, each with file and path.

    Examples:
        >>> cardan.from_json(cardan.to_json(mechanism)) == mechanism
        True
    """
    if not isinstance(source, (str, bytes, os.PathLike)):
        expected = "a path, or JSON as text or bytes"
        raise DTypeError("from_json", "source", got=f"a {type(source).__name__}", expected=expected)
    if isinstance(source, str) and not source.lstrip("\ufeff \t\r\n").startswith("{"):
        source = Path(source)
    return opened_json(Source.of(source), trusted=truth("trusted", trusted))


# --- texts and their faults ---------------------------------------------------------------------------------------

Told = tuple[Sequence[str | int], str]  # the path to a value, and what is wrong with it


def faults_of(name: str, told: Iterable[Told], severity: str = "error") -> list[Fault]:
    return [Fault(name, 0, f"{path_text(path)}: {why}", severity) for path, why in told]


class _Faults:
    """What is wrong with a text, record by record."""

    def __init__(self) -> None:
        self.found: list[Told] = []

    @contextmanager
    def noted(self, *path: str | int) -> Iterator[None]:
        """Note what is wrong with the record at a path, and go on behind it."""
        try:
            yield
        except WrongError as wrong:
            self._note([*path, *wrong.path], wrong.message)
        except UnknownNameError as error:  # looking for near names takes time
            self._note(path, str(error) if len(self.found) < MAX_SUGGESTIONS else error.brief)
        except CardanError as error:
            self._note(path, str(error))

    def _note(self, path: Sequence[str | int], message: str) -> None:
        if len(self.found) < MAX_FAULTS:
            self.found.append((path, message))


def opened_json(source: Source, *, trusted: bool = False) -> Any:
    try:
        content = source.content.decode("utf-8-sig", "surrogatepass" if source.encoding else "strict")
    except UnicodeDecodeError as error:
        line = source.content.count(b"\n", 0, error.start) + 1
        raise DescriptionError([Fault(source.name, line, "is not UTF-8, as JSON must be")]) from None
    value, faults, thing = parsed(content, source.name), _Faults(), None
    with faults.noted():
        if type(value) is not dict or "cardan" not in value:
            refuse(value, 'an object with "cardan", the kind of thing, and "schema": 1')
        kind = at("cardan", TEXT.read, value["cardan"], trusted)
        if kind not in DOCUMENTS:
            raise WrongError(f"got {shown(kind)}, expected one of {', '.join(map(repr, DOCUMENTS))}", "cardan")
        if "schema" not in value:
            raise WrongError(f'the key "schema" is missing; this cardan writes "schema": {SCHEMA}')
        at("schema", _check_schema, value["schema"])
        thing = DOCUMENTS[kind].read({k: e for k, e in value.items() if k not in ("cardan", "schema")}, trusted, faults)
    if faults.found:
        raise DescriptionError(faults_of(source.name, faults.found))
    return thing


def _check_schema(schema: Any) -> None:
    if type(schema) is int and schema > SCHEMA:
        hint = "the file was written by a newer cardan; upgrade this one with  pip install --upgrade cardan"
        refuse(schema, f"{SCHEMA}, the newest this cardan knows", hint)
    if type(schema) is not int or schema != SCHEMA:
        refuse(schema, str(SCHEMA))


# --- mechanisms and models ----------------------------------------------------------------------------------------

Fields = dict[str, Any]
LISTS = {
    "bodies": (records.BODY, lambda e: f"body {e.name!r}"),
    "joints": (records.CONNECTION, lambda e: f"joint {e.name!r}"),
    "frames": (records.FRAME, lambda e: f"frame {e.name!r}"),
    "shapes": (records.SHAPE, lambda e: f"a shape of {e.body!r}"),
    "actuators": (records.ACTUATOR, lambda e: f"actuator {e.name!r}"),
    "groups": (records.GROUP, lambda e: f"group {e.name!r}"),
    "configurations": (records.CONFIGURATION, lambda e: f"configuration {e.name!r}"),
    "contact_surfaces": (records.CONTACT_SURFACE, lambda e: f"contact of {e.a!r} and {e.b!r}"),
    "closures": (records.CONNECTION, lambda e: f"joint {e.name!r}"),
    "inputs": (records.INPUT, lambda e: f"input {e.name!r}"),
}
"""The lists of records a robot is made of, by their keys: what a record is, and what to call one."""


def _lists_data(**lists: Iterable[Any]) -> Fields:
    """Return lists of records; bodies and joints always, others where they are not empty."""
    data = {key: [LISTS[key][0].write(e, LISTS[key][1](e)) for e in things] for key, things in lists.items()}
    return {key: e for key, e in data.items() if e or key in ("bodies", "joints")}


def _entries(given: Fields, key: str) -> list[Any]:
    entries = given.get(key, [])
    return entries if type(entries) is list else at(key, refuse, entries, "a list of objects")


def _each(given: Fields, key: str, make: Callable[..., Any], trusted: bool, faults: _Faults) -> list[Any]:
    """Return what is made of each record of a list; after faults in an earlier list the records are only read."""
    sound, made = not faults.found, []
    for k, value in enumerate(_entries(given, key)):
        with faults.noted(key, k):
            keywords = LISTS[key][0].keywords(value, trusted)
            if sound:
                made.append(make(**keywords))
    return made


ANNOTATIONS = {
    "shapes": Shape,
    "actuators": Actuator,
    "groups": Group,
    "configurations": Configuration,
    "contact_surfaces": ContactSurface,
}
"""The lists of `Annotations`, beside the pairs, and what makes a record of each."""


def _annotations_data(own: Annotations) -> Fields:
    pairs = [records.PAIR.write(pair, "disabled contacts") for pair in own.disabled_contacts]
    data = _lists_data(**{key: getattr(own, key) for key in ANNOTATIONS})
    data |= {"disabled_contacts": pairs} if pairs else {}
    return data | {"self_collision": True} if own.self_collision else data


def _pairs(given: Fields, make: Callable[[str, str], Any], trusted: bool, faults: _Faults) -> list[Any]:
    made = []
    for k, value in enumerate(_entries(given, "disabled_contacts")):
        with faults.noted("disabled_contacts", k):
            made.append(make(*records.PAIR.read(value, trusted)))
    return made


def _touches_itself(given: Fields, trusted: bool) -> bool:
    return "self_collision" in given and at("self_collision", FLAG, given["self_collision"], trusted)


def _mechanism_data(m: Mechanism) -> Fields:
    gravity = {} if repr(tuple(m.gravity)) == repr(EARTH_GRAVITY) else {"gravity": VECTOR.write(m.gravity, "gravity")}
    lists = _lists_data(bodies=m.bodies, joints=m.joints, frames=m.frames)
    return {"name": TEXT.write(m.name, "name of a mechanism")} | gravity | lists | _annotations_data(m.annotations)


def _mechanism(value: Fields, trusted: bool, faults: _Faults) -> Mechanism:
    optional = ("gravity", "frames", *ANNOTATIONS, "disabled_contacts", "self_collision")
    given = members(value, ("name", "bodies", "joints"), optional)
    gravity = at("gravity", VECTOR.read, given["gravity"], trusted) if "gravity" in given else EARTH_GRAVITY
    m = Mechanism(at("name", TEXT.read, given["name"], trusted), gravity)
    adding: dict[str, Callable[..., Any]] = {
        "bodies": m._add_body,
        "joints": m.add_joint,
        "frames": m.add_frame,
        "shapes": lambda **keywords: m.add_shape(Shape(**keywords)),
        "actuators": lambda **keywords: m.add_actuator(Actuator(**keywords)),
        "groups": lambda **keywords: m.add_group(Group(**keywords)),
        "configurations": lambda name, coordinates=None: m.add_configuration(name, coordinates or {}),
        "contact_surfaces": lambda a, b, **own: m.set_contact(a, b, **own),
    }
    for key, add in adding.items():
        _each(given, key, add, trusted, faults)
    _pairs(given, m.disable_contact, trusted, faults)
    m.self_collision = _touches_itself(given, trusted)
    return m


def _model_data(model: Model) -> Fields:
    inputs = model.inputs.values()
    constraints = [CONSTRAINT.write(function, f"constraint {name_of(function)!r}") for function in model.constraints]
    return {
        "name": TEXT.write(model.name, "name of a model"),
        "gravity": VECTOR.write(model.gravity, "gravity"),
        **_lists_data(bodies=model.bodies, joints=model.connections, frames=model.frames),
        **_lists_data(closures=model.closures, inputs=inputs),
        **({"constraints": constraints} if constraints else {}),
        **_annotations_data(model.annotations),
    }


def _model(value: Fields, trusted: bool, faults: _Faults) -> Model | None:
    optional = ("frames", "closures", "inputs", "constraints", *ANNOTATIONS, "disabled_contacts", "self_collision")
    given = members(value, ("name", "gravity", "bodies", "joints"), optional)
    name = at("name", TEXT.read, given["name"], trusted)
    gravity = at("gravity", VECTOR.read, given["gravity"], trusted)
    kinds = {"bodies": Body, "joints": Connection, "frames": Frame, "closures": Connection}
    bodies, joints, frames, closures = (tuple(_each(given, k, kind, trusted, faults)) for k, kind in kinds.items())
    lists = {key: tuple(_each(given, key, kind, trusted, faults)) for key, kind in ANNOTATIONS.items()}
    pairs = tuple(_pairs(given, lambda *pair: pair, trusted, faults))
    annotations = Annotations(**lists, disabled_contacts=pairs, self_collision=_touches_itself(given, trusted))
    if faults.found:
        return None
    model = Model(name, bodies, joints, frames, gravity, closures, annotations=annotations)
    for k, e in enumerate(_entries(given, "inputs")):
        with faults.noted("inputs", k):
            model = records.with_input(model, e)
    for k, e in enumerate(_entries(given, "constraints")):
        with faults.noted("constraints", k):
            model = model.with_constraints(CONSTRAINT.read(e, trusted))
    return model


def _part(value: Any, trusted: bool) -> Any:
    """Return a model within a value, as the closed set of a cluster has one."""
    faults = _Faults()
    with faults.noted():
        model = _model(value, trusted, faults)
    for path, why in faults.found:
        raise WrongError(why, *path)
    return model


VALUES["Model"] = (Model, Kind(lambda model, _: _model_data(model), _part))

# --- everything a file may hold -----------------------------------------------------------------------------------


class Document(NamedTuple):
    """A kind of thing a file may hold: its type, how it is written and read."""

    type: type[Any]
    data: Callable[[Any], Fields]
    read: Callable[[Fields, bool, _Faults], Any]


def _single(name: str, type: type[Any], kind: Any) -> Document:
    def data(thing: Any) -> Fields:
        return {name: kind.write(thing, f"joint {thing.__class__.__name__}" if name == "joint" else name)}

    def read(value: Fields, trusted: bool, _: _Faults) -> Any:
        return at(name, kind.read, members(value, (name,))[name], trusted)

    return Document(type, data, read)


DOCUMENTS: dict[str, Document] = {
    "mechanism": Document(Mechanism, _mechanism_data, _mechanism),
    "model": Document(Model, _model_data, _model),
    "joint": _single("joint", Joint, JOINT),
    "limits": _single("limits", Limits, LIMITS),
    "inertia": _single("inertia", Inertia, INERTIA),
    "pose": _single("pose", SE3, POSE),
}
"""The kinds of things by the name a file gives them."""


# --- files through the door every robot description goes through: mechanisms and models, with doubts ---


def read(source: Source, options: Options) -> Description:
    """Return the mechanism, or the model, a JSON file holds.

    Meshes whose file is not where it was are looked for in `package_dirs`, if that is given.
    """
    report = Report(source.name)
    thing = opened_json(source, trusted=options.trusted)
    if not isinstance(thing, (Mechanism, Model)):
        message = f"holds a {type(thing).__name__}, expected a mechanism or a model; cardan.from_json reads it"
        report.error(0, message)
        return Description(None, report)
    if options.on_inertia != "ignore":
        told = (
            (("bodies", k, "inertia"), f"body {quoted(body.name)}: {reason}")
            for k, body in enumerate(thing.bodies)
            if body.inertia is not None
            for reason in body.inertia.faults()
        )
        report.doubts += faults_of(source.name, islice(told, MAX_FAULTS), "warning")
    if options.package_dirs:
        thing = _with_meshes(thing, Places(source.folder, options.package_dirs))
    return Description(thing, report)


def _with_meshes(thing: Any, places: Places) -> Any:

    def found(geometry: Any) -> Any:
        if not isinstance(geometry, Mesh) or (geometry.path is not None and Path(geometry.path).is_file()):
            return geometry
        return replace(geometry, path=places.file(geometry.uri))

    shapes = tuple(replace(s, geometry=found(s.geometry)) for s in thing.shapes)
    annotations = replace(thing.annotations, shapes=shapes)
    if isinstance(thing, Model):
        return replace(thing, annotations=annotations)
    return thing.with_annotations(annotations).mechanism
