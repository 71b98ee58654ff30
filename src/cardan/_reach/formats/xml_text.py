"""XML as text: elements as lines, and what may stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

Lines = list[str]

UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character no file of XML can hold."""

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def element(tag: str, attributes: Mapping[str, str], *inside: Sequence[str], open: bool = False) -> Lines:
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
    """Return an element's lines as one."""
    return ["".join(map(str.strip, lines))]


def numbers(values: Iterable[Any]) -> str:
    """Return numbers with all their digits, separated by blanks."""
    return " ".join(repr(float(number) + 0.0) for number in values)  # + 0.0 makes -0.0 a 0.0


def escaped(text: str) -> str:
    """Return a text as it stands in an element or an attribute; XML takes a bare line break or tab for a blank."""
    text = escape(text, quote=False).replace('"', "&quot;")
    return text.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")
