"""What a format's elements and attributes mean to its reader: one table, which drives the remarks and makes the page.

A room states it in its `schema.py` as `ELEMENTS`: for each element its attributes and, in angle brackets, what may
stand in it, each with a verdict: `"read"`, `"remark: why it is not"`, `"warning: why"` of what would move or shape a
robot, or `"refused: why"`. A name that means something else elsewhere has a second entry under the end of its path,
`"equality/joint"` beside `"joint"`; the longer one counts. docs/build_formats.py makes docs/formats.md of all tables.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from cardan._reach.formats.report import MAX_SUGGESTIONS, At, Report
from cardan._reach.formats.xml import Element

Elements = Mapping[str, Mapping[str, str]]
# Nothing, whoever says it: zeros, false, bounds that are infinite, and the largest float32, which stands for them
_NOTHING = re.compile(r"([-+.,0\s()\[\]]|e[-+]?\d|false|inf(inity)?|3\.4028\d{1,20}e\+?38)*", re.IGNORECASE)
MORE_LINES = 3  # in which what is told of once is found again, as far as they are named


class Verdict(NamedTuple):
    """What becomes of an element or attribute.

    Args:
        kind: `"read"`, `"remark"`, `"warning"` or `"refused"`.
        why: it is not read.
        usual: the value that changes nothing, and needs no warning; by default zeros, false and infinity do not.

    Examples:
        >>> cardan.formats.Verdict.of("remark: sensors are not read").kind
        'remark'
    """

    kind: str
    why: str = ""
    usual: str = ""

    @staticmethod
    def of(text: str) -> Verdict:
        """Return a verdict as a table states it.

        Args:
            text: the verdict and, behind a colon, why; a warning may say what is usual, as `"warning unless 1: why"`.

        Raises:
            ValueError: for what is none.
        """
        said, _, why = text.partition(": ")
        kind, _, usual = said.partition(" unless ")
        if kind not in ("read", "remark", "warning", "refused") or bool(why) == (kind == "read"):
            raise ValueError(f"verdict {text!r}: expected 'read', 'remark: why', 'warning: why' or 'refused: why'")
        return Verdict(kind, why, usual)

    def on(self, *values: str) -> Verdict:
        """Return the verdict on something that has these values: a warning of what changes nothing is a remark.

        Args:
            values: the texts of an attribute, or of all that is in an element.

        Examples:
            >>> cardan.formats.Verdict.of("warning: nothing is damped here").on("0.0").kind
            'remark'
        """
        harmless = all(text == self.usual if self.usual else _NOTHING.fullmatch(text) for text in values)
        return Verdict("remark", self.why) if self.kind == "warning" and harmless else self


READ = Verdict("read")


def teller(report: Report, verdict: Verdict) -> Callable[[At, str], None]:
    """Return what tells of a verdict: an error, a warning or a remark."""
    return {"refused": report.error, "warning": report.warn}.get(verdict.kind, report.remark)


UNKNOWN, DRAKES = Verdict("remark"), Verdict("warning", "Drake alone reads it")


def verdicts(names: str, verdict: str = "read") -> dict[str, str]:
    """Return a line of such a table: one verdict on several names, which blanks separate."""
    return dict.fromkeys(names.split(), verdict)


def stated(why: Mapping[str, str], text: str) -> dict[str, str]:
    """Return verdicts: on names that are read; then, behind semicolons and under the reason, on those that are not."""
    read, *others = text.split(";")
    table = verdicts(read)
    for reason, names in (other.strip().split(": ") for other in others):
        table |= verdicts(names, why[reason])
    return table


@dataclass(slots=True)
class _Unread:
    """Something that is not used: where it is found first, what is known of it, and all its lines."""

    at: Element
    known: Mapping[str, Verdict]
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Vocabulary:
    """The elements of a format and what becomes of them.

    Args:
        name: of the format.
        elements: by tag, or by the end of its path, the verdicts on attributes and `<children>`. A tag that is read and
            has no entry has neither.
        foreign: why an element that is known from elsewhere is not read here, by tag.

    Throughout:
        report: where remarks and errors go.
        root: the first element of the file.
        tag: of an element.
        path: tags of the elements from the first one to one in it.

    Examples:
        >>> table = {"box": {"size": "read", "<pose>": "read", "colour": "remark: boxes are grey"}}
        >>> boxes = cardan.formats.Vocabulary("boxes", table)
        >>> boxes.attributes("box"), sorted(boxes.known(("box",)))
        (('size', 'colour'), ['<pose>', 'colour', 'size'])
        >>> report = cardan.formats.Report("a.box")
        >>> boxes.review(report, cardan.formats.parse(cardan.formats.Source("a.box", b"<box colour='red'/>", None)))
        >>> report.remarks[0].message
        '<box colour=...> is skipped: boxes are grey'
    """

    name: str
    elements: Elements
    foreign: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def table(self) -> Mapping[str, Mapping[str, Verdict]]:
        """The elements with verdicts that are read."""
        return {key: {name: Verdict.of(text) for name, text in known.items()} for key, known in self.elements.items()}

    @cached_property
    def parents(self) -> Mapping[str, list[str]]:
        """Where each tag may stand."""
        found: dict[str, list[str]] = {}
        for key, known in self.elements.items():
            for child in (name[1:-1] for name, verdict in known.items() if name[0] == "<" and verdict == "read"):
                found.setdefault(child, []).append(key.rpartition("/")[2])
        return {child: list(dict.fromkeys(parents)) for child, parents in found.items()}

    def attributes(self, tag: str) -> tuple[str, ...]:
        """Return the attributes of an element that are known, in their order."""
        return tuple(name for name in self.elements.get(tag, {}) if not name.startswith("<"))

    def known(self, path: tuple[str, ...]) -> Mapping[str, Verdict]:
        """Return what is known of the element at the end of a path of tags."""
        keys = ("/".join(path[start:]) for start in range(len(path)))
        return next((self.table[key] for key in keys if key in self.table), {})

    def review(self, report: Report, root: Element) -> None:
        """Remark on everything in a tree that its reader does not use, and refuse what it must not pass over.

        What occurs often is told of once, where it is first, with the lines of others.
        """
        unread: dict[tuple[str, str, Verdict], _Unread] = {}
        for element, known in self._read_elements(root):
            names = [(name, element) for name in element.attributes if not name.startswith("xmlns")]
            for key, at in names + [(f"<{child.tag}>", child) for child in element.children]:
                verdict = known.get(key, DRAKES if key.lstrip("<").startswith("drake:") else UNKNOWN)
                if verdict != READ:
                    verdict = verdict.on(*_texts(at) if at is not element else (element.attributes[key],))
                    unread.setdefault((element.tag, key, verdict), _Unread(at, known)).lines.append(at.line)
        for (tag, key, verdict), found in unread.items():
            lines, more = found.lines[1:], len(found.lines) - 1 - MORE_LINES
            again = ", ".join(map(str, lines[:MORE_LINES])) + (f" and {more} more" if more > 0 else "")
            also = f" (so in line {again}, too)" if lines else ""
            teller(report, verdict)(found.at, self._message(report, tag, key, verdict, found.known) + also)

    def _read_elements(self, root: Element) -> Iterator[tuple[Element, Mapping[str, Verdict]]]:
        """Yield the elements that are read and what is known of each, in document order."""
        longest = max((key.count("/") for key in self.elements), default=0)
        entries: dict[tuple[str, ...], Mapping[str, Verdict]] = {}  # there are few paths of what is read, cut to these
        waiting: list[tuple[Element, tuple[str, ...]]] = [(root, (root.tag,))]
        while waiting:
            element, path = waiting.pop()
            known = entries.get(path)
            if known is None:
                known = entries[path] = self.known(path)
            yield element, known
            inside = [child for child in element.children if known.get(f"<{child.tag}>") == READ]
            above = path[-longest:] if longest else ()
            waiting.extend((child, (*above, child.tag)) for child in reversed(inside))

    def _message(self, report: Report, tag: str, key: str, verdict: Verdict, known: Mapping[str, Verdict]) -> str:
        is_element = key.startswith("<")
        what = f"{key[:62]} in <{tag}>" if is_element else f"<{tag} {key[:60]}=...>"
        if verdict != UNKNOWN:
            said = "refused" if verdict.kind == "refused" else "skipped"
            return f"{what} is {said}: {verdict.why}"
        if not is_element:
            attributes = [name for name in known if not name.startswith("<")]
            return f"<{tag}> has no attribute {key[:60]!r}{report.nearest(key, attributes)}"
        return f"{what} is skipped{self._unknown(report, key[1:-1], known)}"

    def _unknown(self, report: Report, child: str, known: Mapping[str, Verdict]) -> str:
        """Return what an element that is not known where it stands may be meant to be."""
        if child in self.foreign:
            return f": it {self.foreign[child]}"
        if child in self.parents:
            places = " or ".join(f"<{parent}>" for parent in self.parents[child][:4])
            return f": it means nothing here: it belongs into {places}"
        near = []
        if ":" not in child and report.error_count + len(report.remarks) < MAX_SUGGESTIONS:
            children = [name[1:-1] for name in known if name.startswith("<")]
            near = difflib.get_close_matches(child[:40], children, n=1, cutoff=0.7)
        return f"; did you mean <{near[0]}>?" if near else f": it is no element of {self.name}"


def _texts(element: Element) -> Iterator[str]:
    """Yield all that an element says, and what is in it."""
    return (text for inner in element.walk() for text in (inner.text, *inner.attributes.values()))
