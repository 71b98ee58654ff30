"""What every reader is given and what it returns; where files are; the formats there are, also of other packages.

A description may name files in its folder and below, in the package it is in (the nearest folder above with a
package.xml or model.config), in the caller's `package_dirs`, and in what the environment names: ROS_PACKAGE_PATH,
share/ of AMENT_PREFIX_PATH, GZ_SIM_RESOURCE_PATH and GAZEBO_MODEL_PATH. Nothing else is looked at: not for its
existence either. Links are followed first, but for those in the folders of the environment, which are the user's own.
"""

from __future__ import annotations

import importlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import (
    DescriptionError,
    DescriptionWarning,
    ParameterError,
    UnknownNameError,
    check_one_of,
    quoted,
)
from cardan._algebra.lazy import plugin, registered
from cardan._reach.formats.report import At, Report, listed
from cardan._robot.description import Mechanism
from cardan._robot.model import Model

Packages = Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]]
MANIFESTS = ("package.xml", "model.config")
ALLOWING = "pass package_dirs=[FOLDER], or --package FOLDER, to say where it is and to allow it"
MAX_FOLDERS = 5_000  # of ROS_PACKAGE_PATH that are searched for packages
MAX_DEPTH = 5  # of them
MAX_MESHES = 10_000  # different ones of one description that are looked for
SHOWN_MESHES = 3
_NAME = re.compile(rb"<name>\s*([^<\s]{1,200})\s*</name>")


def check_packages(packages: Any) -> None:
    expected = "a list of folders that contain packages, or a mapping from package name to folder"
    if isinstance(packages, (str, bytes, os.PathLike)) or not isinstance(packages, (Mapping, Sequence, type(None))):
        hint = "Write [folder] for one folder."
        raise ParameterError("option package_dirs", got=packages, expected=expected, hint=hint)
    places = packages.values() if isinstance(packages, Mapping) else packages or ()
    if not all(isinstance(place, (str, os.PathLike)) for place in places):
        raise ParameterError("option package_dirs", got=packages, expected=expected)


@dataclass(frozen=True)
class Places:
    """Where the files of one description are."""

    folder: Path | None = (
        None  # of the description; None for one that is no file, which may name files of packages alone
    )
    packages: Packages | None = None  # package name to folder, or folders that contain package folders

    def file(self, uri: str) -> str | None:
        return self._first(self.candidates(uri), os.path.isfile)

    def package(self, name: str) -> str | None:
        return self._first(self._package_folders(name), os.path.isdir)

    def allow(self, path: str | os.PathLike[str]) -> bool:
        try:
            real, plain = os.path.realpath(path), os.path.abspath(path)
        except (OSError, ValueError):
            return False  # a name no file system accepts
        return any(_is_in(real, root) for root in self._roots) or any(_is_in(plain, e) for e in self._environment)

    def why_not(self, uri: str) -> str:
        """Return why `file` found nothing: the end of a sentence about a file, and what the caller can do."""
        scheme = uri.partition("://")[0] if "://" in uri else ""
        if scheme not in ("", "file", "package", "model"):
            return f"was not found: {scheme[:20]}:// is not read, nothing is fetched from a network"
        if scheme in ("package", "model"):
            return f"was not found; {ALLOWING}"
        if self.folder is None:
            return f"is not looked for: a description that is no file may name files of packages alone; {ALLOWING}"
        candidates = list(self.candidates(uri))
        if any(map(self.allow, candidates)):
            return "was not found"
        where = f", in {quoted(os.path.dirname(os.path.abspath(candidates[0])))}" if candidates else ""
        return f"is outside of the description's folder and package{where}; {ALLOWING}"

    def _first(self, candidates: Iterable[Path], exists: Any) -> str | None:
        try:
            return next((str(c) for c in candidates if self.allow(c) and exists(c)), None)
        except (OSError, ValueError):
            return None

    def candidates(self, uri: str) -> Iterator[Path]:
        """Yield where a file may be, whether it is there, and may be named, or not."""
        scheme, separator, rest = uri.partition("://")
        if not separator:
            yield from () if self.folder is None else (self.folder / uri,)
        elif scheme == "file":
            yield Path(unquote(rest))
        elif scheme in ("package", "model"):
            # Some files leave the package's own name out by a slash too many: package:///NAME/...
            package, _, inside = rest.lstrip("/").partition("/")
            for place in self._package_folders(package):
                yield place / inside

    def _package_folders(self, name: str) -> Iterator[Path]:
        """Yield where a package may be: as the caller says, as the environment does, the description's own."""
        if not name or name in (".", ".."):
            return
        if isinstance(self.packages, Mapping):
            yield from (Path(self.packages[name]),) if name in self.packages else ()
        else:
            for place in map(Path, self.packages or ()):
                yield place / name
                if _is_called(place, name):
                    yield place
        for place in _listed("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"):
            yield place / name
            if place.name == name:
                yield place
        prefixes = _listed("AMENT_PREFIX_PATH")
        index = "share/ament_index/resource_index/packages"
        for prefix in sorted(prefixes, key=lambda prefix: not (prefix / index / name).exists()):
            yield prefix / "share" / name
        if self._own is not None and _is_called(self._own, name):
            yield self._own
        if name in self._crawled:
            yield self._crawled[name]

    @cached_property
    def _own(self) -> Path | None:
        """The package the description is in."""
        above = (self.folder, *self.folder.parents) if self.folder else ()
        return next((place for place in above if any((place / m).is_file() for m in MANIFESTS)), None)

    @cached_property
    def _roots(self) -> tuple[str, ...]:
        given = self.packages.values() if isinstance(self.packages, Mapping) else self.packages or ()
        own = (place for place in (self.folder, self._own) if place is not None)
        return tuple(os.path.realpath(place) for place in (*own, *given))

    @cached_property
    def _environment(self) -> tuple[str, ...]:
        shares = [prefix / "share" for prefix in _listed("AMENT_PREFIX_PATH")]
        named = _listed("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
        return tuple(os.path.abspath(place) for place in (*shares, *named))

    @cached_property
    def _crawled(self) -> Mapping[str, Path]:
        """Packages that lie deeper in the folders of ROS_PACKAGE_PATH, by name."""
        found: dict[str, Path] = {}
        waiting = [(place, 0) for place in reversed(_listed("ROS_PACKAGE_PATH"))]
        for _ in range(MAX_FOLDERS):
            if not waiting:
                break
            place, depth = waiting.pop()
            if (place / "package.xml").is_file():
                found.setdefault(place.name, place)
            elif depth < MAX_DEPTH:
                waiting += [(child, depth + 1) for child in _folders_in(place)]
        return found


@dataclass(slots=True)
class Meshes:
    """Finds the meshes of one description and remembers which are missing, to warn of all at once."""

    places: Places
    _known: dict[str, str | None] = field(default_factory=dict)
    _missing: dict[str, At] = field(default_factory=dict)

    def path(self, uri: str, at: At) -> str | None:
        if uri not in self._known:
            self._known[uri] = self.places.file(uri) if len(self._known) < MAX_MESHES else None
        if self._known[uri] is None:
            self._missing.setdefault(uri, at)
        return self._known[uri]

    def tell(self, report: Report) -> None:
        count = len(self._missing)
        first, at = next(iter(self._missing.items()), ("", 0))
        if count == 1:
            report.warn(at, f"mesh {quoted(first)} {self.places.why_not(first)}; it is kept by name")
        if count < 2:
            return
        names, why = listed(self._missing, SHOWN_MESHES), self.places.why_not(first)
        report.warn(at, f"{count} meshes are kept by name alone: {names}. The first {why}")


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _listed(*variables: str) -> list[Path]:
    return [Path(e) for name in variables for e in os.environ.get(name, "").split(os.pathsep) if e]


def _is_called(folder: Path, name: str) -> bool:
    """Return whether a package is called so: its folder, or in its package.xml."""
    if folder.name == name:
        return True
    try:
        with open(folder / "package.xml", "rb") as file:
            found = _NAME.search(file.read(1 << 16))
    except OSError:
        return False
    return found is not None and found[1] == name.encode()


def _folders_in(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            return sorted(Path(e.path) for e in entries if not e.name.startswith(".") and e.is_dir())
    except OSError:
        return []


COMMON = frozenset({"package_dirs", "on_inertia", "srdf", "trusted"})  # options of all formats
# What is meant by options that are none.
CLUSTERS = "loops are the model's: cardan.clustered(cardan.load(file))"
INSTEAD: dict[str, str] = dict.fromkeys(("loops", "clusters", "closing"), CLUSTERS)
FLOATING = ("base", "root_joint", "floating_base", "floating", "free_flyer")
INSTEAD |= dict.fromkeys(FLOATING, 'cardan.load(file, base="floating") makes it float')
_WORDS = {
    "on_inertia": ("warn", "error", "ignore"),
    "continuous": ("angle", "unit_complex"),
    "orphans": ("warn", "error", "keep", "drop"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """How a robot description is read: the options of `load`, which says what each means and makes it of them.

    Examples:
        >>> cardan.formats.Options.of({"continuous": "unit_complex"}).continuous
        'unit_complex'
    """

    package_dirs: Packages | None = None
    on_inertia: Literal["warn", "error", "ignore"] = "warn"
    continuous: Literal["angle", "unit_complex"] = "angle"
    trusted: bool = False
    model: str | None = None
    orphans: Literal["warn", "error", "keep", "drop"] = "warn"
    srdf: Any = None
    xacro_args: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_packages(self.package_dirs)
        truth("option trusted", self.trusted)
        if not isinstance(self.xacro_args, Mapping):
            expected = "a mapping from the names of arguments to their values"
            raise ParameterError("option xacro_args", got=self.xacro_args, expected=expected)
        for key, words in _WORDS.items():
            check_one_of(f"option {key}", getattr(self, key), words)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Return options as they were given by keyword.

        Args:
            given: the options, by name.

        Raises:
            UnknownNameError: for one that does not exist.
            ParameterError: for a value that one cannot have.
        """
        known = [option.name for option in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownNameError("option", name, known, "reading a robot description", INSTEAD.get(name, ""))
        return cls(**given)


class Description(NamedTuple):
    """What a reader found.

    Args:
        thing: the mechanism, or the model a JSON file holds; None if there are errors.
        report: all faults.

    Examples:
        >>> report = cardan.formats.Report("empty.dh")
        >>> cardan.formats.Description(cardan.Mechanism("empty"), report).thing.name
        'empty'
    """

    thing: Mechanism | Model | None
    report: Report


def outcome(found: Description, options: Options) -> Mechanism | Model:
    """Return what a description holds, and warn as `load` does at its end.

    Args:
        found: the description.
        options: of which `on_inertia` says what becomes of questionable inertias.

    Raises:
        DescriptionError: with all faults, if it has errors.

    Examples:
        >>> found = cardan.formats.Description(cardan.Mechanism("m"), cardan.formats.Report("m.dh"))
        >>> cardan.formats.outcome(found, cardan.formats.Options()).name
        'm'
    """
    report = found.report
    if options.on_inertia == "error":
        report.errors += [replace(doubt, severity="error") for doubt in report.doubts]
    report.stop()
    if found.thing is None:
        raise DescriptionError(report.faults())
    doubts = report.doubts if options.on_inertia == "warn" else []
    for fault in sorted(doubts + report.warnings, key=lambda f: f.line):
        warnings.warn(DescriptionWarning(str(fault)), stacklevel=3)  # where `load` is called
    return found.thing


# --- the formats there are, by the endings of their files and by how these begin ---
#
# `load.py` puts cardan's own into `FORMATS`. Those of other packages are looked at only for a file that is none of
# these: what `register_format` was given, then what entry points of the group `cardan.formats` lead to.

NEVER = r"(?!)"  # begins nothing: only the ending tells
GROUP = "cardan.formats"
_PREAMBLE = re.compile(r"(?:\s|\ufeff|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)


class Format(NamedTuple):
    """A format of robot descriptions.

    Args:
        name: of the format, as messages call it.
        module: name of the module that reads it, imported when the first such file is met. It has `OPTIONS`, a
            frozenset of the options of `load` that mean something in this format alone, `read(source, options)`, which
            returns a `Description`, and, if the format is written, `write(thing)`, which returns a text.
        endings: of its files, in lower case.
        begins: a regular expression for how the content begins, behind white space, comments and processing
            instructions of XML. It counts if the ending says nothing. By default only the ending tells.
        is_written: whether the module writes it.

    Examples:
        >>> cardan.formats.Format("DH", "dh_tables.reader", (".dht",)).is_written
        False
    """

    name: str
    module: str
    endings: tuple[str, ...]
    begins: str = NEVER
    is_written: bool = False


FORMATS: dict[str, Format] = {}  # cardan's own, by ending
_ADDED: dict[str, Format] = {}


def register_format(form: Format) -> None:
    """Let `load`, `check`, `save` and all commands know a format of another package, from now on.

    An entry point of the group `cardan.formats` does the same for everyone who installed that package.

    Args:
        form: the format.

    Raises:
        ParameterError: for an ending that another format has.

    Examples:
        >>> cardan.formats.register_format(cardan.formats.Format("DH", "dh_tables.reader", (".dht",)))
    """
    for ending in form.endings:
        other = FORMATS.get(ending) or _ADDED.get(ending, form)
        if other != form:
            raise ParameterError("ending of a format", got=ending, expected=f"another one: {other.name} has it")
    _ADDED.update(dict.fromkeys(form.endings, form))


def formats_of_others() -> Mapping[str, Format]:
    return {**_installed(), **_ADDED}


@cache
def _installed() -> dict[str, Format]:
    found: dict[str, Format] = {}
    for name in registered(GROUP):
        try:
            form = plugin(GROUP, name)
            found |= {ending: form for ending in form.endings if ending not in found}
        except Exception as error:  # a package that is broken is no reason not to read what others read
            cause = error.__cause__ or error
            message = f"entry point {name!r} of {GROUP} is left out: {type(cause).__name__}: {cause}"
            warnings.warn(DescriptionWarning(message), stacklevel=2)
    return found


def format_of_ending(ending: str) -> Format | None:
    return FORMATS.get(ending) or formats_of_others().get(ending)


def format_of_content(text: str) -> Format | None:
    preamble = _PREAMBLE.match(text)
    start = text[preamble.end() if preamble else 0 :]
    for formats in (FORMATS.values, lambda: formats_of_others().values()):  # others only if there is none of ours
        for form in formats():
            if re.match(form.begins, start):
                return form
    return None


def module_of(form: Format) -> ModuleType:
    return importlib.import_module(form.module)
