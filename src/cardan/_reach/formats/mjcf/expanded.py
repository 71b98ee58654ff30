"""A file of MJCF with all it includes as one text, each element on a line of its own: what MuJoCo is given.

MuJoCo opens no file by itself here. Left out is what `schema.ELEMENTS` says is not read, with a remark, so that MuJoCo
compiles just what is read; what it must not be given (NaN, numbers beyond its 32 bits) is refused before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cardan._algebra.errors import DescriptionError
from cardan._reach.formats.mjcf.schema import NAMES, VOCABULARY, key_of
from cardan._reach.formats.reading import Options, Places
from cardan._reach.formats.report import NUMBER, At, Report
from cardan._reach.formats.source import MAX_BYTES, Source
from cardan._reach.formats.vocabulary import READ, Verdict, teller
from cardan._reach.formats.xml import MAX_DEPTH, MAX_ELEMENTS, Element, escaped, parse

MAX_INCLUDES = 16
# Counts of which fewer are costly: subdivisions of a built-in mesh, copies, activations of an actuator
LARGEST = {"params": 100, "count": 1e4, "actdim": 1e3}
MAX_ALL_BYTES = 4 * MAX_BYTES
MAX_NUMBER = 1e15  # counts, sizes and lengths beyond this are no robot's, and MuJoCo counts with 32 bits
COUNTS = ("count", "nrow", "ncol", "actdim", "params", "group", "condim", "contype", "conaffinity", "inertiagrouprange")


@dataclass(frozen=True, slots=True)
class Expanded:
    text: str  # well-formed MJCF
    places: list[At]  # the element of each line of the text
    textures: dict[str, str] = field(default_factory=dict)  # file of each texture, by name
    unread: set[str] = field(default_factory=set)  # names of height fields whose heights are in a file

    def place(self, info: str) -> At:
        """Return the place that MuJoCo's `line 12` stands for; the file as a whole where it says none."""
        found = re.search(r"\bline (\d+)", info)
        line = int(found[1]) if found else 0
        return self.places[line - 1] if 0 < line <= len(self.places) else 0


class _OpenElement(NamedTuple):
    element: Element
    folder: Path | None
    parent: str
    depth: int
    copies: float = 1.0  # that MuJoCo makes of it, by all <replicate> around it


class MjcfExpansion:
    """Writes the text: a stack of what is still to be written, elements and end tags."""

    def __init__(self, source: Source, options: Options, report: Report) -> None:
        self.source, self.report, self.files = source, report, Places(source.folder, options.package_dirs)
        self.lines: list[str] = []
        self.places: list[At] = []
        self.textures: dict[str, str] = {}
        self.unread: set[str] = set()
        self.included: dict[Path, int] = {}
        self.size, self.count = len(source.content), 0.0
        # of elements of one kind: where something was left out first, and how often which attribute ("": all of it)
        self.left_out: dict[tuple[str, Verdict], tuple[Element, Counter[str]]] = {}

    def run(self, root: Element) -> Expanded:
        stack: list[_OpenElement | str] = [_OpenElement(root, self.source.folder, "", 1)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                self._write(item, 0)
            elif item.element.tag == "include":
                stack += self._included(item)
            elif self._is_read(item):
                stack += self._opened(item)
        for (tag, verdict), (place, attributes) in self.left_out.items():
            count = max(attributes.values())
            often = f" ({count} times, here first)" if count > 1 else ""
            what = ", ".join(filter(None, attributes))
            teller(self.report, verdict)(place, f"<{tag}{' ' * bool(what)}{what}> is left out{often}: {verdict.why}")
        return Expanded("\n".join(self.lines), self.places, self.textures, self.unread)

    def _write(self, line: str, place: At) -> None:
        self.lines.append(line)
        self.places.append(place)

    def _is_read(self, item: _OpenElement) -> bool:
        element = item.element
        self.count += item.copies
        if item.depth > MAX_DEPTH or self.count > MAX_ELEMENTS:
            if not self.report.errors:
                what = f"more than {MAX_DEPTH} levels or {MAX_ELEMENTS} elements with all includes and copies"
                self.report.error(element, what)
            return False
        known = VOCABULARY.table[item.parent] if item.parent else {"<mujoco>": READ}
        verdict = known.get(f"<{element.tag}>")
        if verdict is None:
            meant = self.report.nearest(element.tag[:60], [name[1:-1] for name in known if name.startswith("<")])
            above = item.parent.rpartition("/")[2]
            self.report.error(element, f"<{element.tag[:60]}> is no element of <{above}>{meant}")
        elif verdict != READ:
            self._leave_out(element, "", verdict)
        return verdict == READ

    def _leave_out(self, element: Element, attribute: str, verdict: Verdict) -> None:
        tag = element.tag
        if verdict.kind == "refused":
            self.report.error(element, f"<{tag}{' ' * bool(attribute)}{attribute}>: {verdict.why}")
            return
        verdict = verdict.on(element.attributes[attribute]) if attribute else verdict
        _, attributes = self.left_out.setdefault((tag, verdict), (element, Counter()))
        attributes[attribute] += 1

    def _opened(self, item: _OpenElement) -> list[_OpenElement | str]:
        """Write the start of an element and return its children and its end."""
        element, key = item.element, key_of(item.parent, item.element.tag)
        attributes = self._attributes(element, key)
        self._rewrite(item, attributes)
        written = "".join(f' {name}="{escaped(value)}"' for name, value in attributes.items())
        self._write(f"<{element.tag}{written}>", element)
        copies = item.copies * _count(attributes) if element.tag == "replicate" else item.copies
        inside = [item._replace(element=e, parent=key, depth=item.depth + 1, copies=copies) for e in element.children]
        return [f"</{element.tag}>", *reversed(inside)]

    def _attributes(self, element: Element, key: str) -> dict[str, str]:
        known, kept = VOCABULARY.table[key], {}
        for name, value in element.attributes.items():
            verdict = known.get(name)
            if verdict == READ:
                self._check(element, name, value)
                kept[name] = value
            elif verdict is not None:
                self._leave_out(element, name, verdict)
            elif ":" not in name and name != "xmlns":
                meant = self.report.nearest(name[:60], VOCABULARY.attributes(key))
                self.report.error(element, f"<{element.tag}> has no attribute {name[:60]!r}{meant}")
        return kept

    def _check(self, element: Element, name: str, value: str) -> None:
        if name in NAMES:
            return
        bound = LARGEST.get(name, 2**32) if name in COUNTS else MAX_NUMBER
        for word in value.split():
            is_number = NUMBER.fullmatch(word) is not None
            if word.lower().lstrip("+-").startswith("nan") or (is_number and not abs(float(word)) <= bound):
                expected = "" if name not in COUNTS else f"; at most {bound:.3g} is expected"
                message = f"<{element.tag} {name}=...>: {word[:40]} is not a number that can be used{expected}"
                self.report.error(element, message)
                return

    def _rewrite(self, item: _OpenElement, attributes: dict[str, str]) -> None:
        """Give textures, and height fields from files, content that costs nothing: files stay closed."""
        tag, named = item.element.tag, item.parent == "asset"
        if tag not in ("texture", "hfield"):
            return
        file = attributes.pop("file", "")
        if named and not attributes.get("name"):
            attributes["name"] = PurePosixPath(file.replace("\\", "/")).stem or f"{tag} of line {len(self.lines) + 1}"
        if tag == "texture":
            if file and named:
                self.textures[attributes["name"]] = file
            attributes |= {"type": "2d", "builtin": "flat", "width": "1", "height": "1"}
        elif file or not attributes.get("elevation", "").split():  # without either it is level
            if file:
                self.unread.add(attributes.get("name", ""))
            for name in ("content_type", "elevation"):
                attributes.pop(name, None)
            attributes |= {"nrow": "2", "ncol": "2"}
        else:
            self._check_field(item.element, attributes)

    def _check_field(self, element: Element, attributes: dict[str, str]) -> None:
        """Refuse a height field with another number of heights than it says: MuJoCo's product may be beyond 32 bits."""
        counts = [attributes.get(name, "") for name in ("nrow", "ncol")]
        number = len(attributes["elevation"].split())
        is_count = all(count.isdecimal() and len(count) < 11 for count in counts)
        if not is_count or int(counts[0]) * int(counts[1]) != number:
            message = f"nrow={counts[0][:40]!r} and ncol={counts[1][:40]!r}, but {number} numbers in elevation"
            self.report.error(element, f"<hfield>: {message}")

    def _included(self, item: _OpenElement) -> list[_OpenElement | str]:
        element, file = item.element, item.element.attributes.get("file", "")
        found = self._found(item, file)
        if isinstance(found, str):
            self.report.error(element, f"<include file={file[:200]!r}>: {found}")
            return []
        if found in self.included:
            self.report.error(element, f"<include file={file[:200]!r}>: it is included already, and that only once")
            return []
        self.included[found] = self.included.get(Path(element.file), 0) + 1
        try:
            source = Source.of(found)
            self.size += len(source.content)
            root = parse(source)
        except DescriptionError as error:
            self.report.errors += error.faults
            return []
        if self.size > MAX_ALL_BYTES or self.included[found] > MAX_INCLUDES:
            limits = f"{MAX_ALL_BYTES} bytes or {MAX_INCLUDES} files deep"
            self.report.error(element, f"<include file={file[:200]!r}>: includes of more than {limits} are refused")
            return []
        inside = item._replace(folder=found.parent)
        return [inside._replace(element=child) for child in reversed(root.children)]

    def _found(self, item: _OpenElement, file: str) -> Path | str:
        """Return the file of an include, beside the description or beside what includes it; or why there is none."""
        if self.source.folder is None:
            return "a description given as text has no folder; save it as a file beside what it includes"
        left = False
        for folder in (self.source.folder, item.folder):
            try:
                path = ((folder or Path()) / file).resolve()
                if not self.files.allow(path):
                    left = True
                elif path.is_file():
                    return path
            except (OSError, ValueError):
                break
        if left:
            return "it leaves the folder of the description; allow that with package_dirs=[...], a folder of both"
        return "there is no such file"


def _count(attributes: Mapping[str, str]) -> float:
    """Return how many copies a <replicate> asks for; 1 where that is no number, which MuJoCo refuses."""
    said = attributes.get("count", "")
    return max(float(said), 1.0) if NUMBER.fullmatch(said) else 1.0
