"""What every reader is given and what it returns, and the formats there are; other packages add theirs."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import ModuleType
from typing import Any, Literal, NamedTuple

from cardan._algebra.errors import DescriptionError, DescriptionWarning, ParameterError, UnknownNameError
from cardan._algebra.lazy import plugin, registered
from cardan._reach.formats.report import At, Report
from cardan._reach.formats.resources import Packages, check_packages
from cardan._robot.description import Mechanism
from cardan._robot.model import Model

COMMON = frozenset({"package_dirs", "on_inertia", "srdf", "trusted"})  # options of all formats
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
        if not isinstance(self.xacro_args, Mapping):
            expected = "a mapping from the names of arguments to their values"
            raise ParameterError("option xacro_args", got=self.xacro_args, expected=expected)
        for key, words in _WORDS.items():
            if getattr(self, key) not in words:
                raise ParameterError(f"option {key}", got=getattr(self, key), expected=" or ".join(map(repr, words)))

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
                raise UnknownNameError("option", name, known, where="reading a robot description")
        return cls(**given)


class Description(NamedTuple):
    """What a reader found.

    Args:
        thing: the mechanism, or the model a JSON file holds; None if there are errors.
        report: all faults.
        places: where each thing was described: `("body", name)`, `("joint", name)`, `("frame", name)`, so that what is
            found out about it later has a line, too.

    Examples:
        >>> report = cardan.formats.Report("empty.dh")
        >>> cardan.formats.Description(cardan.Mechanism("empty"), report).thing.name
        'empty'
    """

    thing: Mechanism | Model | None
    report: Report
    places: Mapping[tuple[str, str], At] = {}


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
        >>> cardan.formats.Format("DH", "dh_tables.reader", (".dh",)).is_written
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
        >>> cardan.formats.register_format(cardan.formats.Format("DH", "dh_tables.reader", (".dh",)))
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
