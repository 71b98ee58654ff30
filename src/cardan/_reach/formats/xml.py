"""XML: read into a small tree that knows its lines, hardened against hostile files; and written, as lines.

The standard library's expat does the parsing. Refused: document type declarations (and with them every entity), files
above 64 MiB, a tag or comment above 1 MiB, more than 256 attributes, 200 levels or 400 000 elements. Parsing stops at
the first malformed token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from xml.parsers import expat

from cardan._algebra.errors import DescriptionError, Fault
from cardan._reach.formats.source import Source

MAX_TOKEN = 2**20  # a tag with its attributes, or a comment; expat takes quadratic time for a long one
MAX_ATTRIBUTES = 256
MAX_DEPTH = 200  # readers of some formats recurse
MAX_ELEMENTS = 400_000  # about 1 kB of memory each
CHUNK = 1 << 16  # so that a bound is met before the whole file is read


@dataclass(slots=True)
class Element:
    """An XML element.

    Args:
        tag: its name.
        attributes: texts by name.
        line: where it begins in the file, from 1.
        children: the elements in it.
        text: what stands in it before and between these.
        file: what the file is called.

    Examples:
        >>> robot = cardan.formats.parse(cardan.formats.Source.of("<robot><link/><link/></robot>"))
        >>> len(list(robot.all("link"))), [element.tag for element in robot.walk()]
        (2, ['robot', 'link', 'link'])
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    file: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag.

        Args:
            tag: of the children.
        """
        return (child for child in self.children if child.tag == tag)

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything below it, in document order."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


class _RefusedError(Exception):
    """Stops the parser: `message` says why."""


class _Builder:
    def __init__(self, parser: Any, file: str) -> None:
        self.parser, self.file, self.stack, self.count = parser, file, [], 0
        self.root: Element | None = None
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = self.characters, self.doctype

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise _RefusedError(f"has more than {MAX_ELEMENTS} elements")
        if len(self.stack) >= MAX_DEPTH:
            raise _RefusedError(f"elements are nested more than {MAX_DEPTH} deep")
        if len(attributes) > MAX_ATTRIBUTES:
            raise _RefusedError(f"<{tag[:60]}> has more than {MAX_ATTRIBUTES} attributes")
        element = Element(tag, attributes, self.parser.CurrentLineNumber, file=self.file)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, tag: str) -> None:
        self.stack.pop()

    def characters(self, text: str) -> None:
        if self.stack and len(self.stack[-1].text) < 4096:  # longer than what any element holds that is read
            self.stack[-1].text += text

    def doctype(self, *_: Any) -> None:
        raise _RefusedError("a DOCTYPE declaration is refused; remove it (a robot description needs none)")


def _feed(parser: Any, content: bytes) -> None:
    for start in range(0, len(content), CHUNK):
        chunk = content[start : start + CHUNK]
        parser.Parse(chunk, False)
        if start + len(chunk) - parser.CurrentByteIndex > MAX_TOKEN:
            raise _RefusedError(f"a single tag or comment is longer than {MAX_TOKEN} bytes")
    parser.Parse(b"", True)


def parse(source: Source) -> Element:
    """Return the first element of a file, with all in it.

    Args:
        source: the file.

    Raises:
        DescriptionError: with the line, if the content is not well-formed XML or is refused.

    Examples:
        >>> cardan.formats.parse(cardan.formats.Source.of("<robot name='r'/>")).attributes
        {'name': 'r'}
    """
    if not source.content.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise DescriptionError([Fault(source.name, 0, "is empty")])
    parser = expat.ParserCreate(source.encoding)
    builder = _Builder(parser, source.name)
    try:
        _feed(parser, source.content)
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


def is_xacro(root: Element) -> bool:
    """Return whether a file is written in xacro, and not what xacro made of one."""
    elements = list(root.walk())
    if any(element.tag.startswith("xacro:") for element in elements):
        return True
    texts = (text for element in elements for text in element.attributes.values())
    return "xmlns:xacro" in root.attributes and any("${" in text or "$(" in text for text in texts)


Lines = list[str]

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # A character no file of XML can hold

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def element(tag: str, attributes: Mapping[str, str], *inside: Iterable[str], open: bool = False) -> Lines:
    """Return the lines of an element, each of those in it; `open`: an end tag even if there is nothing in it."""
    lines = [f"  {line}" for part in inside for line in part]
    if not lines and not open:
        return [f"<{_start(tag, attributes)}/>"]
    return [f"<{_start(tag, attributes)}>", *lines, f"</{tag}>"]


def value(tag: str, text: str, attributes: Mapping[str, str] | None = None) -> Lines:
    """Return an element that holds a text, which is escaped already, on its line."""
    return [f"<{_start(tag, attributes or {})}>{text}</{tag}>"]


def _start(tag: str, attributes: Mapping[str, str]) -> str:
    return tag + "".join(f' {name}="{text}"' for name, text in attributes.items())


def on_a_line(lines: Sequence[str]) -> Lines:
    return ["".join(map(str.strip, lines))]


def numbers(values: Iterable[Any]) -> str:
    """Return numbers with all their digits, separated by blanks."""
    return " ".join(repr(float(number) + 0.0) for number in values)  # + 0.0 makes -0.0 a 0.0


def escaped(text: str) -> str:
    """Return a text as it stands in an element or an attribute; XML takes a bare line break or tab for a blank."""
    text = escape(text, quote=False).replace('"', "&quot;")
    return text.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")
