"""Xacro: macros are expanded with the package `xacro`, then the result is read by the module of what it is.

The package runs in a process of its own, or in this one if the file is trusted. What a file names is found and read
here: where `reading.py` allows it, each file with the bounds of XML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from cardan._algebra.errors import DescriptionError, MissingExtraError, quoted
from cardan._reach.formats import sandbox
from cardan._reach.formats.reading import ALLOWING, Description, Options, Places, format_of_content, module_of
from cardan._reach.formats.report import FileLine, Report
from cardan._reach.formats.sandbox import SandboxBounds, SandboxError
from cardan._reach.formats.source import Source
from cardan._reach.formats.xacro import composition
from cardan._reach.formats.xml import MAX_DEPTH, MAX_ELEMENTS, Element, parse

# Its own, and those of the formats that files may expand to
OPTIONS = frozenset({"xacro_args", "continuous", "model", "orphans"})
BOUNDS = SandboxBounds(seconds=2.0, guarded=True)
MAX_BYTES = 16 * 2**20  # of all files together
OUTSIDE = f"is outside of the description's folder and package; {ALLOWING}"
_ENVIRONMENT = re.compile(r"\$\((?:opt)?env\s+([^\s)]+)")
_NOT_GIVEN = re.compile(r"Undefined substitution argument '?([^\s']+)|environment variable '([^']+)' is not set")


def read(source: Source, options: Options) -> Description:
    report = Report(source.name)
    root = expand(source, options, report)
    form = None if root is None else format_of_content(_start(root))
    if root is None or form is None:
        if root is not None:
            report.error(root, f"expands to <{root.tag[:60]}>, expected <robot>")
        return Description(None, report)
    reader = module_of(form)
    if hasattr(reader, "read_tree"):  # it takes elements, which know the files and lines they come from
        return reader.read_tree(source, options, root, report)
    found = reader.read(Source(source.name, _as_xml(root).encode(), source.folder, "utf-8"), options)
    report.include(found.report)
    return found._replace(report=report)


def expand(source: Source, options: Options, report: Report) -> Element | None:
    """Return the root element of what a file expands to, or None after an error; MissingExtraError without xacro."""
    if find_spec("xacro") is None:
        raise MissingExtraError("reading xacro", "xacro")
    expansion = Expansion(report, Places(source.folder, options.package_dirs), options.trusted)
    try:
        return expansion.run(source, {str(name): str(value) for name, value in options.xacro_args.items()})
    except SandboxError as error:
        report.error(FileLine(1, source.name), str(error))
    except DescriptionError as error:
        report.errors += error.faults
    return None


@dataclass(slots=True)
class Expansion:
    """The expansion of one file: what it may read, and which arguments it has."""

    report: Report
    places: Places
    trusted: bool
    bytes_left: int = MAX_BYTES
    declared: set[str] = field(default_factory=set)
    refused: DescriptionError | None = None

    def run(self, source: Source, arguments: dict[str, str]) -> Element | None:
        file = None if source.folder is None else str(source.folder / Path(source.name).name)
        argument = {"rows": self.rows(source, source.name), "file": file, "arguments": arguments}
        argument["environment"] = None if self.trusted else arguments
        made = sandbox.run(composition, argument, self.answer, None if self.trusted else BOUNDS)
        try:
            return self.outcome(made, source.name, arguments)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise SandboxError(f"its expansion cannot be understood: {type(error).__name__}") from None

    def outcome(self, made: Any, name: str, arguments: dict[str, str]) -> Element | None:
        for text, at in made["messages"]:
            self.report.remark(_line(at, name), f"xacro says: {str(text)[:500]}")
        if "error" in made:
            if self.refused is not None:
                raise self.refused
            self.report.error(_line(made["at"], name), self.with_hint(str(made["error"]), arguments))
            return None
        for each in arguments.keys() - self.declared:
            hint = self.report.nearest(each, self.declared)
            self.report.warn(0, f"xacro_args: {quoted(each)} is no <xacro:arg>{hint}")
        return _tree(made["rows"], name)

    def with_hint(self, message: str, arguments: dict[str, str]) -> str:
        found = _NOT_GIVEN.search(message)
        if found is None:
            return message
        name = found[1] or found[2]
        return f"{message}; pass xacro_args={{{name!r}: ...}}{self.report.nearest(name, arguments)}"

    def answer(self, question: str, text: str) -> Any:
        if question == "why not":
            is_allowed = os.path.isabs(text) and self.places.allow(text)  # others may be of another folder there
            return "" if self.trusted or is_allowed else f"{quoted(text)} {OUTSIDE}"
        if question == "find":
            folder = self.places.package(text)
            return {"folder": folder} if folder else {"error": f"package {quoted(text)} was not found; {ALLOWING}"}
        return self.included(text)

    def included(self, path: str) -> dict[str, Any]:
        path = re.sub(r".*?(package|model|file)://", r"\1://", path, count=1)  # behind the folder it does not mean
        file = self.places.file(path) if "://" in path else path
        if file is None:
            return {"error": f"{quoted(path)} {self.places.why_not(path)}", "missing": False}
        if why_not := self.answer("why not", file):
            return {"error": why_not, "missing": False}
        if not os.path.isfile(file):
            return {"error": f"{quoted(file)} was not found", "missing": True}
        try:
            return {"rows": self.rows(Source.of(Path(file)), file), "file": file}
        except DescriptionError as error:
            self.refused = error
            return {"error": str(error), "missing": False}

    def rows(self, source: Source, file: str) -> list[list[Any]]:
        self.bytes_left -= len(source.content)
        if self.bytes_left < 0:
            raise SandboxError(f"the files it includes have more than {MAX_BYTES} bytes")
        rows: list[list[Any]] = []
        waiting = [(0, parse(source))]
        while waiting:
            depth, e = waiting.pop()
            rows.append([depth, e.tag, e.attributes, e.text, e.line, file])
            waiting += [(depth + 1, child) for child in reversed(e.children)]
            if e.tag == "xacro:arg":
                self.declared.add(e.attributes.get("name", ""))
            for text in (e.text, *e.attributes.values()):
                self.declared.update(_ENVIRONMENT.findall(text) if "env" in text else ())
        return rows


def _line(at: Any, file: str) -> FileLine:
    return FileLine(at[0], at[1] or file) if at else FileLine(1, file)


def _tree(rows: Iterable[Any], file: str) -> Element | None:
    root = Element("", {}, 0)
    above = [root]
    for count, (depth, tag, attributes, text, line, name) in enumerate(rows):
        if count >= MAX_ELEMENTS or depth >= MAX_DEPTH:
            raise SandboxError(f"expands to more than {MAX_ELEMENTS} elements, or {MAX_DEPTH} deep")
        element = Element(tag, attributes, _line((line, name), file), text=text)
        del above[depth + 1 :]
        above[depth].children.append(element)
        above.append(element)
    return root.children[0]


def _as_xml(element: Element) -> str:
    """Return an element as XML, each of those in it on a line of its own; `expand` bounds the depth."""
    inside = "".join(["\n" * bool(element.children), *map(_as_xml, element.children)])
    return f"{_start(element)}{escape(element.text.strip())}{inside}</{element.tag}>\n"


def _start(element: Element) -> str:
    return f"<{element.tag}{''.join(f' {name}={quoteattr(text)}' for name, text in element.attributes.items())}>"
