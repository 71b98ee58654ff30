"""Every robot description, read and written: by the format of its file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cardan._algebra.errors import DescriptionError, DescriptionWarning, Fault, MechanismError, ParameterError
from cardan._compiler.runtime.staging import write_whole
from cardan._reach.formats import reading
from cardan._reach.formats.plausibility import CHECKS, LOADED, review
from cardan._reach.formats.report import listed
from cardan._reach.formats.source import Source
from cardan._reach.formats.srdf.reader import add_to
from cardan._reach.formats.written import SHOWN
from cardan._robot.description import Mechanism, Mesh
from cardan._robot.joints import Joint
from cardan._robot.model import WORLD, Model
from cardan._robot.shipped import BUILDERS

RobotSource = str | bytes | os.PathLike[str]

AMBIGUOUS = (".xml", "")  # endings that several formats have
_ROOM = "cardan._reach.formats"
_URDF = reading.Format("URDF", f"{_ROOM}.urdf", (".urdf",), "<robot", is_written=True)
_MJCF = reading.Format("MJCF", f"{_ROOM}.mjcf", (".mjcf",), "<mujoco", is_written=True)
for _form in (
    _URDF,
    reading.Format("SDF", f"{_ROOM}.sdf", (".sdf", ".world"), "<sdf", is_written=True),
    reading.Format("JSON", f"{_ROOM}.json", (".json",), r"\{", is_written=True),
    _MJCF,
    reading.Format("USD", f"{_ROOM}.usd", (".usda",), "#usda|PXR-USDC|PK\x03\x04", is_written=True),
    reading.Format("USD", f"{_ROOM}.usd", (".usd", ".usdc", ".usdz")),
    reading.Format("xacro", f"{_ROOM}.xacro", (".xacro",)),
    reading.Format("SRDF", f"{_ROOM}.srdf", (".srdf",)),
):
    reading.FORMATS.update(dict.fromkeys(_form.endings, _form))

NO_BODY = "holds no body, only what stands in the world; load_mechanism returns that"
_LOOKED_AT = 1 << 16  # bytes of a file


def _format(source: Source) -> reading.Format:
    ending = Path(source.name).suffix.lower() if source.folder is not None else ""
    form = None if ending in AMBIGUOUS else reading.format_of_ending(ending)
    if form is None:  # as of robot.urdf.orig
        form = reading.format_of_content(source.content[:_LOOKED_AT].decode("utf-8-sig", "replace"))
    if form is None and ending not in AMBIGUOUS:
        known = ", ".join((*reading.FORMATS, *reading.formats_of_others()))
        raise DescriptionError([Fault(source.name, 0, f"no reader for {ending!r} files; known: {known}")])
    return form or _URDF


def _opened(source: RobotSource) -> Source:
    """Return a description; by its name that of a robot that ships, unless a file is called so."""
    if isinstance(source, str) and source in BUILDERS and not os.path.exists(source):
        text = reading.module_of(reading.FORMATS[".json"]).write(BUILDERS[source]())
        return Source(source, text.encode(), None, "utf-8")
    return Source.of(source)


def describe(source: RobotSource, options: reading.Options) -> reading.Description:
    """Return what a robot description holds; ParameterError for an option that means nothing in its format."""
    opened = _opened(source)
    form = _format(opened)
    reader = reading.module_of(form)
    for option in fields(options):
        given = getattr(options, option.name)
        if option.name not in reader.OPTIONS | reading.COMMON and given != getattr(reading.Options(), option.name):
            expected = f"it left out: {form.name} has no such option"
            raise ParameterError(f"option {option.name}", got=given, expected=expected)
    found = reader.read(opened, options)
    if isinstance(found.thing, Mechanism):
        review(found.thing, found.report, LOADED)
    if options.srdf is None or found.thing is None:
        return found
    if isinstance(found.thing, Mechanism):
        add_to(found.thing, options, found.report)
    else:
        found.report.error(1, "holds a model, to which no SRDF can be added; save its mechanism")
    return found._replace(thing=None) if found.report.errors else found


def read_robot(source: RobotSource, **options: Any) -> Mechanism | Model:
    """Return what a robot description holds: a mechanism, or a JSON file's model; the arguments are those of `load`.

    Args:
        source: as for `load`.
        options: as for `load`.

    Examples:
        >>> type(cardan.formats.read_robot(cardan.robots.urdf_path("arm7"))).__name__
        'Mechanism'
    """
    made = reading.Options.of(options)
    return reading.outcome(describe(source, made), made)


def options_for(source: RobotSource, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some options that mean something in the format of a description."""
    reading.Options.of(options)
    known = reading.module_of(_format(_opened(source))).OPTIONS | reading.COMMON
    return {name: value for name, value in options.items() if name in known}


def load_mechanism(source: RobotSource, **options: Any) -> Mechanism:
    """Return the mechanism of a robot description.

    Args:
        source: as for `load`.
        options: as for `load`.

    Raises:
        DescriptionError: with every fault found, each with file and line; or if a JSON file holds a model.

    Examples:
        >>> cardan.load_mechanism(cardan.robots.urdf_path("arm7")).name
        'arm7'
    """
    made = reading.Options.of(options)
    found = describe(source, made)
    if isinstance(found.thing, Model):
        found.report.error(1, "holds a model, expected a mechanism; cardan.load and cardan.from_json read it")
    thing = reading.outcome(found, made)
    assert isinstance(thing, Mechanism)
    return thing


def load(
    source: RobotSource,
    *,
    base: str | Joint = "fixed",
    root: str = WORLD,
    gravity: Sequence[float] | None = None,
    closing: Sequence[str] = (),
    **options: Any,
) -> Model:
    """Return the model of a robot description.

    Args:
        source: path of a file; its content as bytes or as text that begins as the format does (`<`, `{`); or the name
            of a robot that ships, as `"quadruped"`.
        base: `"fixed"`, `"floating"` (a free flyer), or any joint, between the world and the root link; it is named
            `root`. A model in a JSON file has its base already.
        root: the body or frame the base joint moves; by default the root link.
        closing: names of joints that shall close loops (see `Mechanism.model`).
        gravity: [m/s^2], in world axes; by default that of the description, or (0, 0, -9.81).
        options: by keyword: `package_dirs`, where `package://` and `model://` lead: folders that contain packages, or a
            mapping from package name to folder; `on_inertia`, `"warn"`, `"error"` or `"ignore"`, what to do about an
            impossible one; `srdf`, an SRDF file or its content, which adds groups, named configurations and disabled
            contacts; `trusted`, whether whoever wrote the files may run code here (xacro needs it: its expressions are
            Python's; JSON then imports the modules of joint classes that are not registered, see `from_json`); and
            those of single formats: `continuous` (URDF, SDF: coordinates of continuous joints, one `"angle"`, or
            `"unit_complex"`, q = (cos, sin)), `xacro_args` (xacro: values of arguments by name), `model` (the one model
            of an SDF world, the path of a prim or the name of an articulation of USD, to read alone) and `orphans`
            (USD: `"warn"`, `"error"`, `"keep"` or `"drop"` joints that belong to no articulation).

    Raises:
        DescriptionError: with every fault found, each with file and line.
        MechanismError: if a base is asked for and there is one.
        ParameterError: for an option that the format has not.

    Examples:
        >>> arm = cardan.load(cardan.robots.urdf_path("arm7"))
        >>> dog = cardan.load("quadruped", base="floating")
        >>> arm.nq, dog.nq - dog.nv
        (7, 1)

    Peers: Pinocchio `buildModelFromUrdf` `buildModelFromMJCF` `buildModelFromXML`, MuJoCo `MjModel` `MjSpec`, Drake
    `Parser`, RigidBodyDynamics.jl `parse_urdf`, Newton `parse_urdf` `parse_mjcf` `parse_usd`.
    """
    made = reading.Options.of(options)
    found = describe(source, made)
    thing = reading.outcome(found, made)
    if isinstance(thing, Mechanism):
        if not thing.bodies:
            raise DescriptionError([Fault(found.report.file, 0, NO_BODY)])
        return thing.model(root=root, base=base, closing=closing, gravity=gravity)
    if base != "fixed" or root != WORLD or closing:
        chosen = f"base={base!r}, root={root!r}"
        raise MechanismError(f"{chosen}: {thing.name!r} is a model, whose base is chosen; save its mechanism.")
    return thing if gravity is None else thing.with_gravity(gravity)


def check(source: RobotSource, **options: Any) -> list[Fault]:
    """Return all faults of a robot description, errors, warnings and remarks, by line; an empty list if there are none.

    Among the remarks is what is possible and probably not meant (`plausibility.py`).

    Args:
        source: as for `load`.
        options: as for `load`.

    Examples:
        >>> cardan.formats.check(cardan.robots.urdf_path("arm7"))
        []
    """
    try:
        found = describe(source, reading.Options.of(options))
        if isinstance(found.thing, Mechanism):
            if not found.thing.bodies:
                found.report.error(0, NO_BODY)
            review(found.thing, found.report, CHECKS)
        return found.report.faults()
    except DescriptionError as error:
        return sorted(error.faults, key=lambda fault: fault.line)


def save(thing: Any, file: str | os.PathLike[str]) -> None:
    """Write a mechanism, a model, a joint, ... to a file in the format of its ending.

    These are `.json`, `.urdf`, `.sdf`, `.mjcf`, `.usda`; `.xml` is MJCF. JSON holds everything; the others mechanisms
    and models only, with what each can say.

    A `DescriptionWarning` names what a format does not hold, and meshes that the file names and that are not beside it.

    The file is written beside its place and then renamed: it is the old one or the new one, never half of it.

    Args:
        thing: a mechanism, a model, or, in JSON, a joint, limits, an inertia, a pose.
        file: where to write; its ending says in which format.

    Raises:
        ParameterError: for another ending, or what has no form in the format.
        OSError: if the file cannot be written; what was there before is then untouched.

    Examples:
        >>> cardan.save(mechanism, "arm.json")
        >>> cardan.load_mechanism("arm.json") == mechanism
        True
    """
    if not isinstance(file, (str, os.PathLike)):
        raise ParameterError("file to save to", got=file, expected="a path: cardan.save(thing, file)")
    place = Path(file)
    ending = place.suffix.lower()
    form = _MJCF if ending == ".xml" else reading.format_of_ending(ending)  # MuJoCo's users call their files so
    if form is None or not form.is_written:
        known = [
            ending for ending, form in {**reading.FORMATS, **reading.formats_of_others()}.items() if form.is_written
        ]
        expected = f"a name that ends in {' or '.join((*known, '.xml'))}"
        raise ParameterError("file to save to", got=os.fspath(file), expected=expected)
    text = reading.module_of(form).write(thing)
    content = text.encode()
    write_whole({place: lambda stream: stream.write(content)})
    _warn_of_meshes(thing, place, text)


def _warn_of_meshes(thing: Any, place: Path, text: str) -> None:
    """Warn of meshes that a text names relative to its file, and that are not there.

    A text that holds the place of a mesh, or its points, does not need that.
    """
    shapes = thing.shapes if isinstance(thing, (Mechanism, Model)) else ()
    meshes = {s.geometry.uri: s.geometry.path for s in shapes if isinstance(s.geometry, Mesh) and s.geometry.path}
    named = {uri: path for uri, path in meshes.items() if "://" not in uri and uri in text and path not in text}
    inside = [uri for uri in named if "#" in uri]  # prims of USD files
    missing = [uri for uri in named if uri not in inside and not (place.parent / uri).is_file()]
    if inside:
        told = f"{place.name} names meshes inside of USD files, which others do not open: {listed(inside, SHOWN)}"
        warnings.warn(DescriptionWarning(f"{thing.name}: {told}"), stacklevel=3)
    if missing:
        told = f"{place.name} names meshes that are not beside it: {listed(missing, SHOWN)}"
        mend = f"Save it beside the description, or copy them: the first is {named[missing[0]]!r}"
        warnings.warn(DescriptionWarning(f"{thing.name}: {told}. {mend}"), stacklevel=3)
