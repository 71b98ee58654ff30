"""The files a description in SDF is made of: itself and those it includes, each parsed once.

An include is looked for beside the file that names it, then in the folders of `package_dirs` and in packages; a folder
stands for the newest SDF file its `model.config` names. What lies elsewhere is refused. A URDF is included as SDF.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cardan._algebra.errors import DescriptionError, quoted
from cardan._reach.formats.report import FilePlace, Report
from cardan._reach.formats.resources import Meshes, Packages, Places
from cardan._reach.formats.sdf.schema import VERSIONS, VOCABULARY
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
    """A file: its root element, where its faults go, and what it may name."""

    root: Element
    report: Report
    places: Places
    meshes: Meshes
    path: str
    version: Version
    size: int  # elements in it

    def place(self, element: Element) -> FilePlace:
        return FilePlace(element.line, file=self.report.file)


@dataclass(slots=True)
class SdfFiles:
    """The files of one description; `urdf_as_sdf` makes elements of SDF of a URDF that is included."""

    report: Report
    packages: Packages | None
    urdf_as_sdf: Callable[[Source, Report], Element | None]
    known: dict[str, SdfFile | None] = field(default_factory=dict)
    bytes_left: int = MAX_BYTES
    includes_left: int = MAX_INCLUDES
    elements_left: int = MAX_ELEMENTS

    def first(self, source: Source) -> SdfFile | None:
        path = os.fspath(Path(source.name).resolve()) if source.folder is not None else ""
        return self._opened(source, self.report, path)

    def included(self, uri: str, document: SdfFile, at: Element, above: Sequence[str]) -> SdfFile | None:
        """Return the file an <include> in a document names; None, with a fault, where there is none that may be read.

        `above` are paths of the files from the first to this one.
        """
        path = self._found(uri, document, at)
        if path is None:
            return None
        if path in above or len(above) >= MAX_DEPTH:
            why = "this file includes itself" if path in above else f"includes are nested more than {MAX_DEPTH} deep"
            document.report.error(at, f"<uri> {quoted(uri)}: {why}")
            return None
        if path not in self.known:
            self.known[path] = self._read(path, document, at)
        return self._counted(self.known[path], document, at)

    def _counted(self, found: SdfFile | None, document: SdfFile, at: Element) -> SdfFile | None:
        """Return a file unless too much is included: few files that include one another often make a million."""
        if found is None or self.includes_left < 0:
            return None
        self.includes_left -= 1
        self.elements_left -= found.size
        if self.includes_left >= 0 and self.elements_left >= 0:
            return found
        message = f"what is included has more than {MAX_INCLUDES} files or {MAX_ELEMENTS} elements together"
        document.report.error(at, message)
        self.includes_left = -1
        return None

    def _read(self, path: str, document: SdfFile, at: Element) -> SdfFile | None:
        shared = self.report
        report = Report(path, shared.errors, shared.doubts, shared.warnings, shared.remarks)
        try:
            source = Source.of(Path(path))
            self.bytes_left -= len(source.content)
            if self.bytes_left < 0:
                document.report.error(at, f"the files together have more than {MAX_BYTES} bytes")
                return None
            return self._opened(source, report, path)
        except DescriptionError as error:
            shared.errors += error.faults
            return None

    def _opened(self, source: Source, report: Report, path: str) -> SdfFile | None:
        root = parse(source)
        if root.tag == "robot" and report is not self.report:
            root = self.urdf_as_sdf(source, report)
            if root is None:
                return None
        version = _version(root, report)
        if version is None:
            return None
        VOCABULARY.review(report, root)
        if version >= FRAMES_SINCE:
            _drop_outdated(report, root)
        places = Places(source.folder, self.packages)
        return SdfFile(root, report, places, Meshes(places), path, version, sum(1 for _ in root.walk()))

    def _found(self, uri: str, document: SdfFile, at: Element) -> str | None:
        places = document.places
        try:
            named = list(places.candidates(uri))
            named += places.candidates(f"model://{uri}") if "://" not in uri else ()  # it may be that of a model, too
            allowed = [path for path in named if places.allow(path)]  # what is outside is not even looked at
            path = next((path for path in allowed if path.exists()), None)
            if path is not None and path.is_dir():
                return self._in_folder(path, uri, document, at)
        except (OSError, ValueError):
            named, allowed, path = [], [], None  # a name no file system accepts
        if path is not None:
            return os.path.realpath(path)
        why = "leads out of the folder of the description" if named and not allowed else "is not found"
        hint = "say where to look with package_dirs=[folder], a folder that contains it"
        document.report.error(at, f"<uri> {quoted(uri)} {why}; {hint}")
        return None

    def _in_folder(self, folder: Path, uri: str, document: SdfFile, at: Element) -> str | None:
        """Return the newest SDF file of a model's folder that is no newer than what is read."""
        manifest = folder / MANIFEST
        if not manifest.is_file():
            document.report.error(at, f"<uri> {quoted(uri)} is a folder without a {MANIFEST}; name the SDF file in it")
            return None
        try:
            root = parse(Source.of(manifest))
        except DescriptionError as error:
            self.report.errors += error.faults
            return None
        named = [(_numbers(e.attributes.get("version", "")), e.text.strip()) for e in root.all("sdf")]
        fitting = [(v or (0, 0), name) for v, name in named if name and (v is None or v <= VERSIONS[-1])]
        if not fitting:
            document.report.error(at, f"<uri> {quoted(uri)}: its {MANIFEST} names no <sdf> file of a version <= 1.12")
            return None
        path = folder / max(fitting)[1]
        if not Places(folder, self.packages).allow(path):
            document.report.error(at, f"<uri> {quoted(uri)}: its {MANIFEST} leads out of its folder")
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
