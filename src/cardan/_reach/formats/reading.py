"""What every reader is given and what it returns; `Format` says what the module of a format has."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

from cardan._algebra.errors import DescriptionError, DescriptionWarning, ParameterError, UnknownNameError
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
