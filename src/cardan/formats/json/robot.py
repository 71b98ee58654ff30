"""JSON through the door every robot description goes through: mechanisms and models from files, with doubts."""

from __future__ import annotations

import math
import warnings
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from cardan.description import Mechanism, Mesh
from cardan.errors import DescriptionError, DescriptionWarning, Fault, ParameterError, quoted
from cardan.formats.json.codec import JsonSource, Text, opened_json
from cardan.formats.report import MAX_FAULTS
from cardan.formats.resources import Packages, check_packages, resolve
from cardan.formats.urdf.links import NO_INERTIA
from cardan.model import Model
from cardan.spatial import Inertia


def read_json_robot(
    source: JsonSource,
    *,
    packages: Packages | None = None,
    continuous: Literal["angle", "unit_complex"] = "angle",
    on_inertia: Literal["warn", "error", "ignore"] = "warn",
    trusted: bool = False,
) -> Mechanism | Model:
    """Return the mechanism, or the model, a JSON file holds.

    Args:
        source: path of a file, or its content as bytes or as text that begins with `{`.
        packages: where meshes are looked for whose file is not where it was, as for `read_urdf`; the other meshes, and
            all if this is not given, are those of the file.
        continuous: only `"angle"`, the default: what joints there are stands in the file.
        on_inertia: what to do about an inertia that is not positive definite or breaks the triangle inequality.
        trusted: import the modules of joint classes that are not registered; see `from_json`.

    Raises:
        DescriptionError: with every fault found, each with file, line and path.
    """
    if continuous != "angle":
        hint = "The joints of a .json file are what they are; make them UnboundedRevolute where it was written."
        raise ParameterError("option continuous", got=continuous, expected="'angle' for a .json file", hint=hint)
    if on_inertia not in ("warn", "error", "ignore"):
        raise ParameterError("option on_inertia", got=on_inertia, expected="'warn' or 'error' or 'ignore'")
    check_packages(packages)
    opened, thing = opened_json(source, trusted=trusted)
    if not isinstance(thing, (Mechanism, Model)):
        message = f"holds a {type(thing).__name__}, expected a mechanism or a model; cardan.from_json reads it"
        raise DescriptionError([Fault(opened.name, 1, message)])
    doubts = _doubts(opened, thing) if on_inertia != "ignore" else []
    if doubts and on_inertia == "error":
        raise DescriptionError([replace(doubt, severity="error") for doubt in doubts])
    for doubt in doubts:
        warnings.warn(DescriptionWarning(str(doubt)), stacklevel=2)
    return _with_meshes(thing, opened.name, packages) if packages and isinstance(thing, Mechanism) else thing


def check_json(source: JsonSource, *, packages: Packages | None = None, trusted: bool = False) -> list[Fault]:
    """Return all faults of a JSON file, errors and warnings, by line; an empty list if there are none."""
    check_packages(packages)
    try:
        opened, thing = opened_json(source, trusted=trusted)
        return _doubts(opened, thing)
    except DescriptionError as error:
        return sorted(error.faults, key=lambda fault: fault.line)


def _doubts(opened: Text, thing: Any) -> list[Fault]:
    bodies = thing.bodies if isinstance(thing, (Mechanism, Model)) else ()
    told = (
        (("bodies", k, "inertia"), f"body {quoted(body.name)}: {reason}")
        for k, body in enumerate(bodies)
        if body.inertia is not None
        for reason in _impossible(body.inertia)
    )
    return opened.faults(islice(told, MAX_FAULTS), "warning")


def _impossible(inertia: Inertia) -> list[str]:
    """Return why no body can have this inertia; what rounding leaves of moments about the centre of mass is none."""
    at_origin, at_com = (max(map(abs, J)) for J in (inertia.inertia_at_origin, inertia.inertia_at_com))
    if not math.isfinite(sum(inertia.inertia_at_com)):
        return ["the centre of mass is so far away that the inertia about it is too large for a number"]
    rounding = 1e-13 * at_origin
    if inertia.mass >= 0.0 and at_com <= max(NO_INERTIA, rounding):
        return []
    return inertia.faults(max(1e-9, rounding / max(at_com, NO_INERTIA)))


def _with_meshes(mechanism: Mechanism, name: str, packages: Packages) -> Mechanism:
    """Return the mechanism with the files of its meshes found where they are now."""
    folder = None if name.startswith("<") else Path(name).resolve().parent
    found = Mechanism(mechanism.name)
    for body in mechanism.bodies:
        found.add_body(body.name, body.inertia)
    for add, records in ((found.add_joint, mechanism.joints), (found.add_frame, mechanism.frames)):
        for record in records:
            add(**{field.name: getattr(record, field.name) for field in fields(record)})
    for shape in mechanism.shapes:
        found.add_shape(replace(shape, geometry=_found(shape.geometry, folder, packages)))
    return found


def _found(geometry: Any, folder: Path | None, packages: Packages) -> Any:
    if not isinstance(geometry, Mesh) or (geometry.path is not None and Path(geometry.path).is_file()):
        return geometry
    return replace(geometry, path=resolve(geometry.uri, folder, packages))
