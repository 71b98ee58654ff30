"""One door for every robot description, in and out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cardan.description import Mechanism
from cardan.errors import DescriptionError, Fault, MechanismError, ParameterError
from cardan.formats.json.codec import is_json_text, to_json
from cardan.formats.json.robot import check_json, read_json_robot
from cardan.formats.resources import Packages
from cardan.formats.source import is_content
from cardan.formats.urdf.reader import UrdfSource, check_urdf, read_urdf
from cardan.formats.urdf.writer import to_urdf
from cardan.joints import Joint
from cardan.model import WORLD, Model
from cardan.staging import write_whole


class Format(NamedTuple):
    """How a robot description is read, checked and written; `write` is None where it cannot be."""

    read: Callable[..., Mechanism | Model]
    check: Callable[..., list[Fault]]
    write: Callable[[Any], str] | None


_URDF = Format(  # a URDF names no code, whether it is trusted or not
    lambda source, *, trusted, **options: read_urdf(source, **options),
    lambda source, *, trusted, **options: check_urdf(source, **options),
    to_urdf,
)
FORMATS = {".urdf": _URDF, ".xml": _URDF._replace(write=None), ".json": Format(read_json_robot, check_json, to_json)}
"""Formats by ending; a new one adds a line."""


def _format(source: UrdfSource) -> Format:
    """Return the format of a source, by its ending or by how its content begins."""
    if isinstance(source, (str, bytes)) and is_json_text(source):
        return FORMATS[".json"]
    if not isinstance(source, os.PathLike) and not (isinstance(source, str) and not is_content(source)):
        return _URDF
    ending = Path(source).suffix.lower()
    if ending not in FORMATS and ending:
        known = ", ".join(FORMATS)
        raise DescriptionError([Fault(os.fspath(source), 0, f"no reader for {ending!r} files; known: {known}")])
    return FORMATS.get(ending, _URDF)


def read_robot(
    source: UrdfSource,
    *,
    packages: Packages | None = None,
    continuous: Literal["angle", "unit_complex"] = "angle",
    on_inertia: Literal["warn", "error", "ignore"] = "warn",
    trusted: bool = False,
) -> Mechanism | Model:
    """Return what a robot description holds: a mechanism, or a JSON file's model; the arguments are those of `load`."""
    return _format(source).read(
        source, packages=packages, continuous=continuous, on_inertia=on_inertia, trusted=trusted
    )


def load_mechanism(source: UrdfSource, **options: Any) -> Mechanism:
    """Return the mechanism of a robot description: URDF or JSON.

    Args:
        source: as for `load`.
        options: `packages`, `continuous`, `on_inertia`, `trusted`, as for `load`.

    Raises:
        DescriptionError: with every fault found, each with file and line; or if a JSON file holds a model.
    """
    thing = read_robot(source, **options)
    if isinstance(thing, Model):
        name = "<string>" if isinstance(source, bytes) or is_json_text(os.fspath(source)) else os.fspath(source)
        message = "holds a model, expected a mechanism; cardan.load and cardan.from_json read it"
        raise DescriptionError([Fault(name, 1, message)])
    return thing


def load(
    source: UrdfSource,
    *,
    base: str | Joint = "fixed",
    root: str = WORLD,
    gravity: Sequence[float] | None = None,
    closing: Sequence[str] = (),
    **options: Any,
) -> Model:
    """Return the model of a robot description.

    Args:
        source: path of a URDF or JSON file, or its content as bytes or as text that begins with `<` or `{`.
        base: `"fixed"`, `"floating"` (a free flyer), or any joint, between the world and the root link; it is named
            `root`. A model in a JSON file has its base already.
        root: the body or frame the base joint moves; by default the root link.
        closing: names of joints that shall close loops (see `Mechanism.model`).
        gravity: [m/s^2], in world axes; by default (0, 0, -9.81), or that of the model in a JSON file.
        options: `packages`, `continuous`, `on_inertia`, as for `read_urdf`; and `trusted`, for JSON: import the modules
            of joint classes that are not registered (see `from_json`).

    Raises:
        DescriptionError: with every fault found, each with file and line.
        MechanismError: if a base is asked for and there is one.
    """
    thing = read_robot(source, **options)
    if isinstance(thing, Mechanism):
        weight = {} if gravity is None else {"gravity": gravity}
        return thing.model(root=root, base=base, closing=closing, **weight)
    if base != "fixed" or root != WORLD or closing:
        asked = f"base={base!r}, root={root!r}"
        raise MechanismError(f"{asked}: {thing.name!r} is a model, whose base is chosen; save its mechanism.")
    return thing if gravity is None else thing.with_gravity(gravity)


def check(source: UrdfSource, *, packages: Packages | None = None, trusted: bool = False) -> list[Fault]:
    """Return all faults of a robot description, errors and warnings, by line; an empty list if there are none."""
    return _format(source).check(source, packages=packages, trusted=trusted)


def save(thing: Any, file: str | os.PathLike[str]) -> None:
    """Write a mechanism, a model, a joint, ... to a file in the format of its ending: `.json`, `.urdf`.

    JSON holds everything; URDF mechanisms and models only, with the joints it has (see `to_urdf`).

    The file is written beside its place and then renamed: it is the old one or the new one, never half of it.

    Raises:
        ParameterError: for another ending, or what has no form in the format.
        OSError: if the file cannot be written; what was there before is then untouched.
    """
    place = Path(file)
    write = FORMATS[place.suffix.lower()].write if place.suffix.lower() in FORMATS else None
    if write is None:
        known = " or ".join(ending for ending, form in FORMATS.items() if form.write is not None)
        raise ParameterError("file to save to", got=os.fspath(file), expected=f"a name that ends in {known}")
    content = write(thing).encode()
    write_whole({place: lambda stream: stream.write(content)})
