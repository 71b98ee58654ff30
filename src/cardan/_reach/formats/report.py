"""Collecting faults while reading on, and reading numbers that are numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from cardan._algebra.errors import CardanError, DescriptionError, Fault, close_names, did_you_mean, first_of, quoted
from cardan._algebra.spatial import SE3, Inertia, Symmetric3
from cardan._reach.formats.xml import Element
from cardan._robot.geometry.touching import MAX_CLASSES, Bits, either_way, groups_and_masks

MAX_FAULTS = 1000  # of a kind that are kept: nobody reads more
MAX_SUGGESTIONS = 30  # faults from which no nearest name is looked for: each takes milliseconds
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INFINITE = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


At = Element | str | int
"""Where something is: an element, the path of what it is about, or the line, from 1; 0 is the file as a whole."""


@dataclass(slots=True)
class Report:
    """The faults of one file, the first thousand of each kind, collected while a reader reads on.

    Errors are what stops the reading. Doubts are questionable inertias, about which `on_inertia` decides; warnings are
    shown whenever a description is read, remarks only by `check`: whatever a reader does not use is one.

    Args:
        file: what the file is called.
        errors, doubts, warnings, remarks: the faults of each kind.
        error_count: how many errors were noted, also beyond those that are kept.
        places: where each thing is described, by its kind and name, such as `("body", "base")`: what is found out about
            it later has a line, too.

    Throughout:
        at: where it is: a line, from 1, or 0 for the file as a whole; an `Element`, whose line it is; or, without
            lines, the path of what it is about.
        message: what is wrong, and what is right.
        kind: of the thing that is described, such as `"body"`.
        element: of XML, whose attribute, text or child is read. What is wrong with it becomes an error of its line.
        name: of the attribute; or what was not found.
        count: how many numbers are expected.
        default: what comes back if there is none [as for the attribute]; None makes the attribute required.
        raw: the text of the attribute, or of the element itself if there is no name.
        infinite: whether `inf` is a number here.
        owner: whose number it is, for the error.
        tag: of the child.
        required: whether its absence is an error, too.
        candidates: names there are, of which one may be meant.
        other: a report whose faults are added.

    Examples:
        >>> report = cardan.formats.Report("robot.box")
        >>> box = cardan.formats.parse(cardan.formats.Source("robot.box", b'<box size="1 2 3" mass="-1"/>', None))
        >>> report.text(box, "size"), report.numbers(box, "size", 3, None), report.number(box, "scale", 1.0)
        ('1 2 3', (1.0, 2.0, 3.0), 1.0)
        >>> report.non_negative(box, "mass", None, "the box"), report.one(box, "pose")
        (1.0, None)
        >>> report.numbers_of(box, "0 0", 2)
        (0.0, 0.0)
        >>> report.remark(1, "no colour"); report.warn(1, "no mesh"); report.doubt(1, "triangle inequality")
        >>> report.error(2, f"no link 'rool'{report.nearest('rool', ['root'])}")
        >>> with report.blamed(3):
        ...     cardan.Inertia(mass=-1.0)
        >>> with report.described("body", "box", 1):
        ...     body = cardan.Mechanism().add_body("box")
        >>> report.include(cardan.formats.Report("included.box"))
        >>> [fault.line for fault in report.faults()]
        [1, 1, 1, 1, 2, 3]
        >>> report.stop()
        Traceback (most recent call last):
        cardan.errors.DescriptionError: ...
    """

    file: str
    errors: list[Fault] = field(default_factory=list)
    doubts: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    remarks: list[Fault] = field(default_factory=list)
    error_count: int = 0
    places: dict[tuple[str, str], At] = field(default_factory=dict)

    def error(self, at: At, message: str) -> None:
        """Note an error at an element, place or line."""
        self.error_count += 1
        self._note(self.errors, at, message, "error")

    def doubt(self, at: At, message: str) -> None:
        """Note a questionable inertia."""
        self._note(self.doubts, at, message, "warning")

    def warn(self, at: At, message: str) -> None:
        """Note what a user has to know who only reads: a mesh that is missing, a joint that was left out."""
        self._note(self.warnings, at, message, "warning")

    def remark(self, at: At, message: str) -> None:
        """Note something harmless: what is not used, or probably not meant."""
        self._note(self.remarks, at, message, "warning")

    def _note(self, faults: list[Fault], at: At, message: str, severity: str) -> None:
        if len(faults) > MAX_FAULTS:
            return
        file, line = (at.file, at.line) if isinstance(at, Element) else ("", at if isinstance(at, int) else 0)
        kept = message if len(faults) < MAX_FAULTS else "there are more; only the first are shown"
        faults.append(Fault(file or self.file, line, kept, severity, at if isinstance(at, str) else ""))

    @contextmanager
    def blamed(self, at: At) -> Iterator[None]:
        """Return a context in which what records, joints or the mechanism refuse is an error at a place."""
        try:
            yield
        except CardanError as error:
            self.error(at, str(error))

    @contextmanager
    def described(self, kind: str, name: str, at: At) -> Iterator[None]:
        """Return a context as `blamed` does, for a thing that is described at a place, which is kept."""
        self.places.setdefault((kind, name), at)
        with self.blamed(at):
            yield

    def include(self, other: Report) -> None:
        """Add the faults of another report."""
        self.errors += other.errors
        self.doubts += other.doubts
        self.warnings += other.warnings
        self.remarks += other.remarks

    def stop(self) -> None:
        """Raise all errors so far.

        Raises:
            DescriptionError: if there are any.
        """
        if self.errors:
            raise DescriptionError(sorted(self.errors, key=lambda f: f.line))

    def faults(self) -> list[Fault]:
        """Return all faults by line."""
        return sorted(self.errors + self.doubts + self.warnings + self.remarks, key=lambda f: f.line)

    def nearest(self, name: str, candidates: Iterable[str]) -> str:
        """Return a question with the nearest names, or nothing; silent after many faults, for it takes time."""
        if self.error_count + len(self.remarks) >= MAX_SUGGESTIONS:
            return ""
        return did_you_mean(close_names(name, candidates))

    def text(self, element: Element, name: str) -> str | None:
        """Return a required, non-empty attribute."""
        value = element.attributes.get(name)
        if value is None or not value.strip():
            self.error(element, f"<{element.tag}> needs a non-empty attribute {name!r}")
            return None
        return value

    def numbers(self, element: Element, name: str, count: int, default: tuple[float, ...] | None) -> tuple[float, ...]:
        """Return finite numbers of an attribute [as it states them]."""
        raw = element.attributes.get(name)
        if raw is None:
            if default is None:
                self.error(element, f"<{element.tag}> needs the attribute {name!r}")
            return default or (0.0,) * count
        return self.numbers_of(element, raw, count, name) or default or (0.0,) * count

    def number(self, element: Element, name: str, default: float | None) -> float:
        """Return one finite number of an attribute [as it states it]."""
        return self.numbers(element, name, 1, None if default is None else (default,))[0]

    def numbers_of(
        self, element: Element, raw: str, count: int, name: str = "", *, infinite: bool = False
    ) -> tuple[float, ...]:
        """Return the numbers of a text [as it states them]; no number if it has others."""
        words, shown = raw.split(), f" {name}={raw[:60]!r}" if name else ""
        if len(words) != count or "${" in raw or "$(" in raw:
            expected = "1 number" if count == 1 else f"{count} numbers separated by spaces"
            self.error(element, f"<{element.tag}{shown}>: expected {expected}, got {len(words)}{_hint(raw)}")
            return ()
        where = f"<{element.tag} {name}=...>" if name else f"<{element.tag}>"
        return tuple(self._number(element, where, word, infinite) for word in words)

    def _number(self, element: Element, where: str, word: str, infinite: bool) -> float:
        if NUMBER.fullmatch(word) or (infinite and INFINITE.fullmatch(word)):
            value = float(word)
            if math.isfinite(value) or infinite:
                return value
            self.error(element, f"{where}: {word[:40]} is too large for a number")
        elif word.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            self.error(element, f"{where}: {word} is not a {'' if infinite else 'finite '}number")
        else:
            self.error(element, f"{where}: {word[:40]!r} is not a number{_hint(word)}")
        return 0.0

    def non_negative(self, element: Element, name: str, default: float | None, owner: str) -> float:
        """Return one number >= 0 of an attribute [as it states it]."""
        value = self.number(element, name, default)
        if value < 0.0:
            self.error(element, f"{owner}: <{element.tag} {name}=...>: {value:g} is negative; expected a number >= 0")
        return abs(value)

    def one(self, element: Element, tag: str, *, required: bool = False) -> Element | None:
        """Return the only child with a tag; a second one is an error."""
        found = list(element.all(tag))
        if len(found) > 1:
            self.error(found[1], f"a second <{tag}> in <{element.tag}> of line {element.line}; only one is allowed")
        if not found and required:
            name = element.attributes.get("name")
            self.error(element, f"<{element.tag}{f' name={name!r}' if name else ''}> needs a <{tag}> element")
        return found[0] if found else None


def listed(names: Iterable[str], most: int | None) -> str:
    """Return the first of some names, and how many there are."""
    return first_of([quoted(name) for name in names], most)


def bits_of_either(report: Report, kinds: Sequence[Bits]) -> Mapping[Bits, Bits]:
    """Return groups and masks for kinds of shapes of which one of two lets both touch; of too many, with a warning."""
    if len(kinds) > MAX_CLASSES and any(group != mask for group, mask in kinds):
        message = f"{len(kinds)} different pairs of bits, of which {MAX_CLASSES} can be kept exactly"
        report.warn(0, f"{message}; shapes touch only where both shapes' bits let them")
        return {bits: bits for bits in kinds}
    return groups_and_masks(kinds, either_way)


def _hint(raw: str) -> str:
    if "${" in raw or "$(" in raw:
        return "; this is a xacro expression: name the file .xacro, or declare xmlns:xacro in its first element"
    return "; use a decimal point, and spaces between numbers" if "," in raw else ""


def inertia_of(report: Report, at: At, link: str, mass: float, pose: SE3, entries: Sequence[float]) -> Inertia | None:
    """Return the inertia of a link from what a file says about the centre of mass; None, with a fault, if it is none.

    The entries, ixx, ixy, ixz, iyy, iyz, izz [kg m^2], are in the axes of the pose. A tensor no body can have, judged
    as it is written, is doubted.
    """
    if len(report.doubts) <= MAX_FAULTS:
        with np.errstate(over="ignore", invalid="ignore"):
            faults = Inertia(1.0, (0.0, 0.0, 0.0), Symmetric3(entries)).faults()
        for fault in faults:
            report.doubt(at, f"link {quoted(link)}: {fault}")
    with report.blamed(at):
        return finite(report, at, Inertia(mass, pose.translation, Symmetric3(entries).rotated(pose.rotation)))
    return None


def finite(report: Report, at: At, inertia: Inertia) -> Inertia | None:
    """Return an inertia; None, with an error, where about the link's origin it is no number any more."""
    if all(math.isfinite(e) for e in inertia.parameters()):
        return inertia
    report.error(at, "the inertia about the link's origin is too large for a number; are the units right?")
    return None
