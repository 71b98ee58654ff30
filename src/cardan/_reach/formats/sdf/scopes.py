"""The scopes of SDF: a world, a model, a model in a model; each has names for what is in it; and their files.

An include is looked for beside the file that names it, then in the folders of `package_dirs` and in packages; a folder
stands for the newest SDF file its `model.config` names. What lies elsewhere is refused. A URDF is included as SDF.

A name leads down only: `arm::hand::tip` is `tip` in the model `hand` in the model `arm` of the scope it is said in.
What an include merges into its parent is named there as if it stood there, and keeps its own names among itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, cast

from cardan._algebra.errors import DescriptionError, quoted
from cardan._reach.formats.reading import Meshes, Packages, Places
from cardan._reach.formats.report import Report
from cardan._reach.formats.sdf.schema import VERSIONS, VOCABULARY
from cardan._reach.formats.sdf.values import RawPose, flag_attribute, flag_of, name_of, pose_of, text_of
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import MAX_ELEMENTS, Element, parse

MAX_DEPTH = 16  # files that include one another
MAX_INCLUDES = 1000  # includes of a description, counting a file as often as it is included
MAX_BYTES = 256 * 2**20  # of all files together
FRAMES_SINCE = (1, 7)  # the version that brought frames, and names for those that poses and axes are in
MANIFEST = "model.config"
Version = tuple[int, int]


@dataclass(slots=True, eq=False)
class SdfFile:
    """A file: its root element, and what it may name."""

    root: Element
    places: Places
    meshes: Meshes
    path: str
    version: Version
    size: int  # elements in it


@dataclass(slots=True)
class SdfFiles:
    """The files of one description; `urdf_as_sdf` makes elements of SDF of a URDF that is included."""

    report: Report
    packages: Packages | None
    urdf_as_sdf: Callable[[Source, Element], Element | None]
    known: dict[str, SdfFile | None] = field(default_factory=dict)
    bytes_left: int = MAX_BYTES
    includes_left: int = MAX_INCLUDES
    elements_left: int = MAX_ELEMENTS

    def first(self, source: Source) -> SdfFile | None:
        path = os.fspath(Path(source.name).resolve()) if source.folder is not None else ""
        return self._opened(parse(source), source, path)

    def included(self, uri: str, document: SdfFile, at: Element, above: Sequence[str]) -> SdfFile | None:
        """Return the file an <include> names, below those `above`; None, with a fault, if there is none to be read."""
        path = self._found(uri, document, at)
        if path is None:
            return None
        if path in above or len(above) >= MAX_DEPTH:
            why = "this file includes itself" if path in above else f"includes are nested more than {MAX_DEPTH} deep"
            self.report.error(at, f"<uri> {quoted(uri)}: {why}")
            return None
        if path not in self.known:
            self.known[path] = self._read(path, at)
        return self._counted(self.known[path], at)

    def _counted(self, found: SdfFile | None, at: Element) -> SdfFile | None:
        """Return a file unless too much is included: few files that include one another often make a million."""
        if found is None or self.includes_left < 0:
            return None
        self.includes_left -= 1
        self.elements_left -= found.size
        if self.includes_left >= 0 and self.elements_left >= 0:
            return found
        message = f"what is included has more than {MAX_INCLUDES} files or {MAX_ELEMENTS} elements together"
        self.report.error(at, message)
        self.includes_left = -1
        return None

    def _read(self, path: str, at: Element) -> SdfFile | None:
        try:
            source = Source.of(Path(path))
            self.bytes_left -= len(source.content)
            if self.bytes_left < 0:
                self.report.error(at, f"the files together have more than {MAX_BYTES} bytes")
                return None
            root = parse(source)
            root = self.urdf_as_sdf(source, root) if root.tag == "robot" else root
        except DescriptionError as error:
            self.report.errors += error.faults
            return None
        return None if root is None else self._opened(root, source, path)

    def _opened(self, root: Element, source: Source, path: str) -> SdfFile | None:
        version = _version(root, self.report)
        if version is None:
            return None
        VOCABULARY.review(self.report, root)
        if version >= FRAMES_SINCE:
            _drop_outdated(self.report, root)
        places = Places(source.folder, self.packages)
        return SdfFile(root, places, Meshes(places), path, version, sum(1 for _ in root.walk()))

    def _found(self, uri: str, document: SdfFile, at: Element) -> str | None:
        places = document.places
        try:
            named = list(places.candidates(uri))
            named += places.candidates(f"model://{uri}") if "://" not in uri else ()  # it may be that of a model, too
            allowed = [path for path in named if places.allow(path)]  # what is outside is not even looked at
            path = next((path for path in allowed if path.exists()), None)
            if path is not None and path.is_dir():
                return self._in_folder(path, uri, at)
        except (OSError, ValueError):
            named, allowed, path = [], [], None  # a name no file system accepts
        if path is not None:
            return os.path.realpath(path)
        why = "leads out of the folder of the description" if named and not allowed else "is not found"
        hint = "say where to look with package_dirs=[folder], a folder that contains it"
        self.report.error(at, f"<uri> {quoted(uri)} {why}; {hint}")
        return None

    def _in_folder(self, folder: Path, uri: str, at: Element) -> str | None:
        """Return the newest SDF file of a model's folder that is no newer than what is read."""
        manifest = folder / MANIFEST
        if not manifest.is_file():
            self.report.error(at, f"<uri> {quoted(uri)} is a folder without a {MANIFEST}; name the SDF file in it")
            return None
        try:
            root = parse(Source.of(manifest))
        except DescriptionError as error:
            self.report.errors += error.faults
            return None
        named = [(_numbers(e.attributes.get("version", "")), e.text.strip()) for e in root.all("sdf")]
        fitting = [(v or (0, 0), name) for v, name in named if name and (v is None or v <= VERSIONS[-1])]
        if not fitting:
            self.report.error(at, f"<uri> {quoted(uri)}: its {MANIFEST} names no <sdf> file of a version <= 1.12")
            return None
        path = folder / max(fitting)[1]
        if not Places(folder, self.packages).allow(path):
            self.report.error(at, f"<uri> {quoted(uri)}: its {MANIFEST} leads out of its folder")
            return None
        return os.path.realpath(path)


def _drop_outdated(report: Report, root: Element) -> None:
    """Take out, with a warning, what meant something before SDF 1.7 and is not read by SDF any more."""
    for element in root.walk():
        if element.tag == "pose" and element.attributes.pop("frame", "").strip():
            report.warn(element, "<pose frame=...> means nothing since SDF 1.7: write relative_to")
        outdated = next(element.all("use_parent_model_frame"), None)
        if outdated is not None:
            report.warn(outdated, "<use_parent_model_frame> means nothing since SDF 1.7: write <xyz expressed_in=...>")
            element.children = [child for child in element.children if child.tag != "use_parent_model_frame"]


def _numbers(version: str) -> Version | None:
    parts = version.strip().split(".")
    if len(parts) == 2 and all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        return int(parts[0]), int(parts[1])
    return None


def _version(root: Element, report: Report) -> Version | None:
    if root.tag != "sdf":
        hints = {
            "robot": "this is URDF: convert it first, with  cardan convert",
            "gazebo": "this is older than the SDF that is read",
        }
        hint = hints.get(root.tag, "is this SDF?")
        report.error(root, f"the root element is <{root.tag[:60]}>, expected <sdf>; {hint}")
        return None
    text = report.text(root, "version")
    version = _numbers(text or "")
    if version in VERSIONS:
        return version
    if text is not None:
        message = f"SDF version {text[:40]!r} is not known; the versions are 1.{VERSIONS[0][1]} to 1.{VERSIONS[-1][1]}"
        report.error(root, message)
    return None


Kind = Literal["link", "frame", "joint", "model"]
MODEL_FRAME = "__model__"
WORLD_FRAME = "world"
ROOT = "__root__"  # the frame of the file as a whole, on the one part that hangs on nothing
SEPARATOR = "::"
MAX_MODEL_DEPTH = 40
SCOPED_SINCE = (1, 8)  # before this version a name might contain the separator
_RESERVED = re.compile(r"__.*__")


@dataclass(slots=True, eq=False)
class Entry:
    """Something with a name and a frame: a link, a frame, a joint, or a model in a scope."""

    kind: Kind  # which
    name: str  # in its scope
    home: Scope  # the scope
    element: Element  # in the file; of a model that is included, the <include>
    document: SdfFile  # the file
    pose: RawPose  # as it is written
    attached_to: str = ""  # what a frame is fixed to, or the child of a joint; a name
    scope: Scope | None = None  # what is in a model
    is_merged: bool = False  # whether a model is one whose parts stand in its parent

    @property
    def full_name(self) -> str:
        return self.home.prefix + self.name


@dataclass(slots=True, eq=False)
class Scope:
    """A world or a model."""

    prefix: str  # goes before the names of what is in it, to make those of the mechanism
    element: Element  # in the file
    document: SdfFile  # the file
    is_world: bool = False  # whether it is a world, or a file's root
    static: bool = False  # whether nothing in it moves
    canonical: str = ""  # name of the link a model's frame is fixed to; the first one where it is empty
    placement: str = ""  # name of what a model's pose is the pose of; its own frame where it is empty
    owner: Entry | None = None  # the model whose inside it is; None for a world
    is_whole: bool = True  # whether all it includes was read
    files: tuple[str, ...] = ()  # that lead here by including one another
    depth: int = 0  # of models in models
    names: dict[str, Entry] = field(default_factory=dict)  # what is in it, by name
    # names that stand for what is in a merged model, and that model
    merged: dict[str, Entry] = field(default_factory=dict)

    def entries(self, kind: Kind) -> Iterator[Entry]:
        for entry in self.names.values():
            if entry.kind == kind:
                yield entry
            if entry.scope is not None:
                yield from entry.scope.entries(kind)

    @property
    def root(self) -> Scope:
        return self if self.owner is None else self.owner.home.root

    def find(self, name: str) -> Destination | None:
        models, scope, name = self._walked(name)
        if name in scope.names:
            return Destination(models, scope.names[name], scope)
        return Destination(models, None, scope) if name == scope.own_frame else None

    def may_have(self, name: str) -> bool:
        return not self._walked(name)[1].is_whole

    @property
    def own_frame(self) -> str:
        return WORLD_FRAME if self.is_world else MODEL_FRAME

    def _walked(self, name: str) -> tuple[tuple[Entry, ...], Scope, str]:
        models, scope = [], self
        while name not in scope.names and name != scope.own_frame:
            head, _, rest = name.partition(SEPARATOR)
            step = merged = scope.merged.get(name) or scope.merged.get(head)
            if merged is None:
                step = scope.names.get(head)
            else:  # its parts are named as if they stood here
                rest = name
            if step is None or step.scope is None or not rest:
                break
            models.append(step)
            scope, name = step.scope, rest
        return tuple(models), scope, name

    def visible(self) -> Iterator[str]:
        """Yield the names one may say here, for those who misspelled one."""
        yield from chain(self.names, self.merged)  # of many names and many faults, each takes but a few
        for entry in self.names.values():
            if entry.scope is not None:
                yield from (f"{entry.name}{SEPARATOR}{name}" for name in entry.scope.names)


class Destination(NamedTuple):
    """Where a name leads: through models, to an entry, or to the frame of a scope itself."""

    models: tuple[Entry, ...]
    entry: Entry | None
    scope: Scope


@dataclass(slots=True)
class Builder:
    """Makes scopes of elements, opening what they include."""

    library: SdfFiles
    plain: bool | str = False  # the model whose names are those of the mechanism; True: the one there is

    def fill(self, scope: Scope) -> None:
        """Put what stands in a scope's element into it."""
        for element in scope.element.children:
            if element.tag in ("link", "frame", "joint"):
                self._add_part(scope, element)
            elif element.tag == "model":
                self._add_model(scope, element, scope.document)
            elif element.tag == "include":
                self._add_included(scope, element)

    def _add_part(self, scope: Scope, element: Element) -> None:
        document, report, kind = scope.document, self.library.report, cast("Kind", element.tag)
        name = name_of(report, element)
        entry = Entry(kind, name or "", scope, element, document, pose_of(report, element))
        if kind == "frame":
            entry.attached_to = element.attributes.get("attached_to", "").strip()
        elif kind == "joint":
            entry.attached_to = text_of(report, element, "child")
        elif scope.is_world:
            report.error(element, "a <link> stands in a <model>, not in a <world>")
        if name is not None:
            self._register(scope, entry)

    def _add_model(self, scope: Scope, element: Element, document: SdfFile, include: Element | None = None) -> None:
        report, merges, is_moved = self.library.report, False, False
        name, pose = name_of(report, element), pose_of(report, element)
        static = flag_of(report, element, "static")
        if include is not None:
            merges = flag_attribute(report, include, "merge")
            name = text_of(report, include, "name") or name
            static = flag_of(report, include, "static", default=static)
            is_moved = next(include.all("pose"), None) is not None
            pose = pose_of(report, include) if is_moved else replace(pose, relative_to="")
        if scope.depth >= MAX_MODEL_DEPTH:
            report.error(element, f"models are nested more than {MAX_MODEL_DEPTH} deep")
            return
        is_plain = scope.is_world and self.plain in (name, True)
        prefix = scope.prefix if is_plain or merges else f"{scope.prefix}{name}{SEPARATOR}"
        files = scope.files if include is None else (*scope.files, document.path)
        inner = Scope(prefix, element, document, static=static or scope.static, files=files, depth=scope.depth + 1)
        inner.canonical = element.attributes.get("canonical_link", "").strip()
        inner.placement = element.attributes.get("placement_frame", "").strip()
        if include is not None:
            inner.placement = text_of(report, include, "placement_frame") or inner.placement
            if next(include.all("placement_frame"), None) is not None and not is_moved:
                message = "<include> with a <placement_frame> needs a <pose>, which says where that frame is"
                report.error(include, message)
        self.fill(inner)
        if name is not None:
            inner.owner = entry = Entry("model", name, scope, include or element, document, pose, "", inner)
            (self._merge if merges else self._register)(scope, entry)

    def _add_included(self, scope: Scope, element: Element) -> None:
        report = self.library.report
        uri = text_of(report, element, "uri", None)
        if not uri:
            return
        document = self.library.included(uri, scope.document, element, scope.files)
        if document is None:
            scope.is_whole = False
            return
        models = list(document.root.all("model"))
        if len(models) > 1:
            report.error(models[1], "a file that is included holds one <model>")
        if models:
            self._add_model(scope, models[0], document, element)
        elif any(child.tag in ("light", "actor") for child in document.root.children):
            report.remark(element, f"<uri> {quoted(uri)} holds a light or an actor and is skipped")
        else:
            report.error(element, f"<uri> {quoted(uri)}: {document.path} holds no <model>")

    def _register(self, scope: Scope, entry: Entry) -> None:
        report, name = self.library.report, entry.name
        if name == WORLD_FRAME or _RESERVED.fullmatch(name):
            report.error(entry.element, f"<{entry.kind} name={quoted(name)}>: the name is reserved; choose another")
            return
        if SEPARATOR in name and entry.document.version >= SCOPED_SINCE:
            report.error(
                entry.element, f"<{entry.kind} name={quoted(name)}>: a name may not contain '::'; choose another"
            )
        taken = scope.names.get(name) or scope.merged.get(name)
        if taken is not None:
            if entry.document.version >= FRAMES_SINCE or taken.kind == entry.kind:
                other = f"a {taken.kind} named {quoted(name)} in line {taken.element.line}"
                report.error(entry.element, f"there is already {other}; give this {entry.kind} another name")
                return
            entry.name = f"{name}_{entry.kind}"
            report.warn(
                entry.element, f"{entry.kind} {quoted(name)} has the name of a {taken.kind}: it is {entry.name!r}"
            )
            if entry.name in scope.names:
                return
        scope.names[entry.name] = entry

    def _merge(self, scope: Scope, entry: Entry) -> None:
        """Let what is in a model be named as if it stood in its parent."""
        inner, entry.is_merged = entry.scope, True
        entry.name = f"_merged__{entry.name}{MODEL_FRAME}"
        assert inner is not None
        self._register(scope, entry)
        for name in (*inner.names, *inner.merged):
            if name in scope.names or name in scope.merged:
                message = f"merging {quoted(entry.name)}: there is already something named {quoted(name)} here"
                self.library.report.error(entry.element, message)
            elif scope.is_world and name in inner.names and inner.names[name].kind == "link":
                message = f"merging into a <world>: link {quoted(name)} cannot stand there; leave out merge='true'"
                self.library.report.error(entry.element, message)
            else:
                scope.merged[name] = entry
