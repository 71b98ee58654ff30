"""JSON as text: written the same way every time, read with every fault in its place.

Written: UTF-8, floats by the shortest digits that give the same float back. A list or object stands on one line if it
fits, otherwise each of its items begins a line; in the lists of the top level every record is a block of its own.
Read: strictly JSON (no NaN, no comments), no key twice, nothing nested more than `MAX_DEPTH` deep.

Source: RFC 8259, The JavaScript Object Notation (JSON) Data Interchange Format (2017).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from cardan.errors import DescriptionError, Fault

WIDTH = 100
MAX_DEPTH = 100
Key = str | int
_SPACE = re.compile(r"[ \t\r\n]*")


class WrongError(Exception):
    """A value is not what it must be; `path` leads to it from the outside, as the readers it passes add their key."""

    def __init__(self, message: str, *path: Key) -> None:
        self.message, self.path = message, list(path)
        super().__init__(message)


class Refused:
    """What stands in a file and is no value: a constant JSON has not, an object with a key twice."""

    def __init__(self, why: str) -> None:
        self.why = why


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return plain data (dicts, lists, texts, numbers, booleans, None) as JSON; `indent` None: on one line."""
    return _line(value) if indent is None else _block(value, indent, 0, 0) + "\n"


def _block(value: Any, indent: int, depth: int, used: int) -> str:
    """Return a value that begins behind `used` characters of its line."""
    records = isinstance(value, list) and any(isinstance(e, dict) for e in value)
    if not isinstance(value, (dict, list)) or not value:
        return _line(value)
    if not (depth == 0 or (depth == 1 and records)):
        line = _line(value)
        if used + len(line) <= WIDTH:
            return line
    start = "\n" + " " * indent * (depth + 1)
    items: list[str] = []
    for key, item in value.items() if isinstance(value, dict) else ((None, e) for e in value):
        name = "" if key is None else f"{_text(key)}: "
        items.append(start + name + _block(item, indent, depth + 1, len(start) + len(name)))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + ",".join(items) + start[: -indent or None] + closing


def _line(value: Any) -> str:
    if type(value) is float:
        return _number(value)
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_text(k)}: {_line(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([_line(e) for e in value]) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} has no form in JSON")
    return float.__repr__(value)


def _text(text: str) -> str:
    """Return a text in quotes; half a surrogate pair, which UTF-8 has not, is escaped."""
    return json.dumps(text, ensure_ascii=not _is_unicode(text))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parsed(text: str, name: str) -> Any:
    """Return the value a JSON text holds; what is no value in it is `Refused`.

    Raises:
        DescriptionError: with the line, if it is not JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (column {error.colno})"
        raise DescriptionError([Fault(name, error.lineno, message)]) from None
    except RecursionError:
        message = f"lists and objects are nested more than {MAX_DEPTH} deep"
        raise DescriptionError([Fault(name, 0, message)]) from None


def _object(pairs: list[tuple[str, Any]]) -> Any:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))
    return Refused(f"the key {shown(twice)} stands here twice; keep one")


def _constant(text: str) -> Refused:
    wanted = text.lower().replace("infinity", "inf")
    return Refused(f'{text} is not JSON; where a number may be infinite, write "{wanted}" in quotes')


def _integer(digits: str) -> Any:
    return int(digits) if len(digits) <= 400 else Refused(f"{digits[:20]}... is too large for a number")


def shown(value: Any) -> str:
    """Return a value as it stands in the file, shortened, for an error."""
    if isinstance(value, Refused):
        return value.why
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(map(shown, list(value)[:6]))}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, float) and not math.isfinite(value):
        return "a number too large for a float"
    line = json.dumps(value)
    return line if len(line) <= 80 else line[:77] + "..."


def refuse(value: Any, expected: str, hint: str = "") -> NoReturn:
    """Raise that a value is not what is expected."""
    if isinstance(value, Refused):
        raise WrongError(value.why)
    raise WrongError(f"got {shown(value)}, expected {expected}" + (f"; {hint}" if hint else ""))


def path_text(path: Sequence[Key]) -> str:
    """Return a path as text: `joints[3].joint.Revolute.axis`, with names that are no identifiers in brackets."""
    text = ""
    for key in path:
        plain = isinstance(key, str) and key.isidentifier()
        text += f".{key}" if plain else f"[{json.dumps(key)[:60]}]"
    return text.removeprefix(".") or "the top level"


def line_of(text: str, path: Iterable[Key]) -> int:
    """Return the line on which the value at a path begins; the way is gone again through the text."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    at = _skip(text, 0)
    for key in path:
        found = _enter(decoder, text, at, key)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _enter(decoder: json.JSONDecoder, text: str, at: int, key: Key) -> int | None:
    """Return where the item with a key begins, in the list or object that begins at `at`; None if there is none."""
    is_object = text[at] == "{"
    if text[at] not in "{[" or is_object != isinstance(key, str):
        return None
    at, count = _skip(text, at + 1), 0
    while text[at] not in "}]":
        name: Key = count
        if is_object:
            name, at = decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # over the colon
        if name == key:
            return at
        _, at = decoder.raw_decode(text, at)
        at, count = _skip(text, at), count + 1
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None
