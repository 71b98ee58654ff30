"""XML into a small tree that knows its lines, hardened against hostile files.

The standard library's expat does the parsing. Refused: document type declarations (and with them every entity), files
above 64 MiB, more than 200 levels or 400 000 elements. Parsing stops at the first malformed token.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from cardan.errors import DescriptionError, Fault

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 200
MAX_ELEMENTS = 400_000
CHUNK = 1 << 16


@dataclass(slots=True)
class Element:
    """An XML element: its tag, attributes, children, text and line (from 1)."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)


@dataclass(frozen=True, slots=True)
class Source:
    """A robot description as it was given: what to call it, its bytes, and the folder it is in."""

    name: str
    content: bytes
    folder: Path | None
    encoding: str | None = None  # known only for text

    @staticmethod
    def of(source: Any) -> Source:
        """Return a path, bytes, or text that begins with `<`, read.

        Raises:
            DescriptionError: if the file cannot be read or is larger than 64 MiB.
        """
        if isinstance(source, bytes):
            return Source("<bytes>", _bounded("<bytes>", source), None)
        if isinstance(source, str) and source.lstrip().startswith("<"):
            return Source("<string>", _bounded("<string>", source.encode("utf-8", "surrogatepass")), None, "utf-8")
        name = os.fspath(source)
        try:
            path = Path(name)
            size = path.stat().st_size
            if size > MAX_BYTES:
                raise _too_large(name, size)
            return Source(name, path.read_bytes(), path.resolve().parent)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DescriptionError([Fault(name, 0, f"cannot be read: {reason}")]) from None


def _too_large(name: str, size: int) -> DescriptionError:
    return DescriptionError([Fault(name, 0, f"has {size} bytes; a robot description may have at most {MAX_BYTES}.")])


def _bounded(name: str, content: bytes) -> bytes:
    if len(content) > MAX_BYTES:
        raise _too_large(name, len(content))
    return content


class _RefusedError(Exception):
    """Stops the parser: `message` says why."""


class _Builder:
    """Receives expat's events and builds the tree."""

    def __init__(self, parser: Any) -> None:
        self.parser, self.stack, self.count = parser, [], 0
        self.root: Element | None = None
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self.characters, self.doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise _RefusedError(f"has more than {MAX_ELEMENTS} elements")
        if len(self.stack) >= MAX_DEPTH:
            raise _RefusedError(f"elements are nested more than {MAX_DEPTH} deep")
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, tag: str) -> None:
        self.stack.pop()

    def characters(self, text: str) -> None:
        if self.stack and len(self.stack[-1].text) < 4096:
            self.stack[-1].text += text

    def doctype(self, *_: Any) -> None:
        raise _RefusedError("a DOCTYPE declaration is refused; remove it (a robot description needs none)")


def parse(source: Source) -> Element:
    """Return the root element.

    Raises:
        DescriptionError: with the line, if the content is not well-formed XML or is refused.
    """
    if not source.content.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise DescriptionError([Fault(source.name, 0, "is empty")])
    parser = expat.ParserCreate(source.encoding)
    builder = _Builder(parser)
    try:
        for start in range(0, len(source.content), CHUNK):
            parser.Parse(source.content[start : start + CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise DescriptionError([Fault(source.name, error.lineno, f"not well-formed XML: {reason}")]) from None
    except _RefusedError as refusal:
        raise DescriptionError([Fault(source.name, parser.CurrentLineNumber, str(refusal))]) from None
    except (LookupError, ValueError, UnicodeError) as error:
        raise DescriptionError([Fault(source.name, 1, f"its encoding cannot be read: {error}")]) from None
    if builder.root is None:
        raise DescriptionError([Fault(source.name, 0, "holds no XML element")])
    return builder.root
