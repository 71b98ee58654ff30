"""JSON through the door every robot description goes through: mechanisms and models from files, with doubts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from cardan._algebra.errors import Fault, quoted
from cardan._algebra.spatial import Inertia
from cardan._reach.formats.json.codec import Text, opened_json
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import MAX_FAULTS, NO_INERTIA, At, Report
from cardan._reach.formats.resources import Packages, Places
from cardan._reach.formats.source import Source
from cardan._robot.description import Mechanism, Mesh
from cardan._robot.model import Model


def read(source: Source, options: Options) -> Description:
    """Return the mechanism, or the model, a JSON file holds.

    Of `package_dirs` this is made: meshes whose file is not where it was are looked for there; the others, and all if
    it is not given, are those of the file.
    """
    report = Report(source.name)
    opened, thing = opened_json(source, trusted=options.trusted)
    if not isinstance(thing, (Mechanism, Model)):
        message = f"holds a {type(thing).__name__}, expected a mechanism or a model; cardan.from_json reads it"
        report.error(1, message)
        return Description(None, report)
    if options.on_inertia != "ignore":
        report.doubts += _doubts(opened, thing)
    if options.package_dirs:
        thing = _with_meshes(thing, source.folder, options.package_dirs)
    return Description(thing, report, _Places(opened, thing))


@dataclass(frozen=True)
class _Places(Mapping[tuple[str, str], At]):
    """The lines on which the records of a robot begin; the text is gone through when the first is asked for."""

    opened: Text
    thing: Mechanism | Model

    @cached_property
    def lines(self) -> dict[tuple[str, str], int]:
        """The line of each record, by its kind and name."""
        lists = _named_records(self.thing)
        paths = {(kind, part.name): (key, k) for key, (kind, parts) in lists.items() for k, part in enumerate(parts)}
        return dict(zip(paths, self.opened.lines(paths.values()), strict=True))

    def __getitem__(self, part: tuple[str, str]) -> At:
        """Return the line of a record."""
        return self.lines[part]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Iterate over the kinds and names of the records."""
        return iter(self.lines)

    def __len__(self) -> int:
        """Return how many records have a name and a place."""
        return len(self.lines)


def _named_records(thing: Mechanism | Model) -> dict[str, tuple[str, Sequence[Any]]]:
    """Return the records that have a name, in the order of the file: its key for them -> what they are, and they."""
    lists: dict[str, tuple[str, Sequence[Any]]] = {
        "bodies": ("body", thing.bodies),
        "joints": ("joint", thing.joints if isinstance(thing, Mechanism) else thing.connections),
        "frames": ("frame", thing.frames),
        "actuators": ("actuator", thing.annotations.actuators),
    }
    return lists if isinstance(thing, Mechanism) else lists | {"closures": ("joint", thing.closures)}


def _doubts(opened: Text, thing: Mechanism | Model) -> list[Fault]:
    told = (
        (("bodies", k, "inertia"), f"body {quoted(body.name)}: {reason}")
        for k, body in enumerate(thing.bodies)
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


def _with_meshes(thing: Any, folder: Path | None, packages: Packages) -> Any:
    """Return the mechanism or model with the files of its meshes found where they are now."""
    shapes = tuple(replace(s, geometry=_found(s.geometry, folder, packages)) for s in thing.shapes)
    annotations = replace(thing.annotations, shapes=shapes)
    if isinstance(thing, Model):
        return replace(thing, annotations=annotations)
    return thing.with_annotations(annotations).mechanism


def _found(geometry: Any, folder: Path | None, packages: Packages) -> Any:
    if not isinstance(geometry, Mesh) or (geometry.path is not None and Path(geometry.path).is_file()):
        return geometry
    return replace(geometry, path=Places(folder, packages).file(geometry.uri))
