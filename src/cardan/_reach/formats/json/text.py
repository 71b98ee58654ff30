"""JSON as text: written the same way every time, read with every fault in its place.

Written: UTF-8, floats by the shortest digits that give the same float back. A list or object stands on one line if it
fits, otherwise each of its items begins a line; in the lists of the top level every record is a block of its own.
Read: strictly JSON (no NaN, no comments), no key twice, nothing nested more than `MAX_NESTING` deep, at most
`MAX_VALUES` values.

Source: RFC 8259, The JavaScript Object Notation (JSON) Data Interchange Format (2017).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from cardan._algebra.errors import DescriptionError, Fault, shortened

WIDTH = 100
MAX_DEPTH = 100  # of values in values; each may take two levels of the text
MAX_NESTING = 2 * MAX_DEPTH + 20
MAX_VALUES = 4_000_000  # a value of two bytes takes up to a hundred in memory
Key = str | int


class WrongError(Exception):
    """A value is not what it must be; `path` leads to it from the outside, as the readers it passes add their key."""

    def __init__(self, message: str, *path: Key) -> None:
        self.message, self.path = message, list(path)
        super().__init__(message)


class Refused:
    """What stands in a file and is no value: a constant JSON has not, an object with a key twice."""

    def __init__(self, why: str) -> None:
        self.why = why


def jsonable(value: Any) -> Any:
    """Return nested data as what JSON can hold; infinite numbers become null."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [jsonable(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


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
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_text(k)}: {_line(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([_line(e) for e in value]) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _text(text: str) -> str:
    """Return a text in quotes; half a surrogate pair, which UTF-8 has not, is escaped."""
    return json.dumps(text, ensure_ascii=any("\ud800" <= c <= "\udfff" for c in text))


def parsed(text: str, name: str) -> Any:
    """Return the value a JSON text holds; what is no value in it is `Refused`, and too much of it an error."""
    if sum(map(text.count, "[{,")) > MAX_VALUES:
        raise DescriptionError([Fault(name, 0, f"holds more than {MAX_VALUES} values")])
    too_deep = DescriptionError([Fault(name, 0, f"lists and objects are nested more than {MAX_NESTING} deep")])
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (column {error.colno})"
        raise DescriptionError([Fault(name, error.lineno, message)]) from None
    except RecursionError:
        raise too_deep from None
    level = [value]
    for _ in range(MAX_NESTING):
        level = [e for outer in level for e in _inside(outer)]
    if level:
        raise too_deep
    return value


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if type(value) is dict else value if type(value) is list else ()


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
    return shortened(json.dumps(value), 77)


def refuse(value: Any, expected: str, hint: str = "") -> NoReturn:
    if isinstance(value, Refused):
        raise WrongError(value.why)
    raise WrongError(f"got {shown(value)}, expected {expected}" + (f"; {hint}" if hint else ""))


def path_text(path: Sequence[Key]) -> str:
    """Return a path as text: `joints[3].joint.Revolute.axis`, with names that are no identifiers in brackets."""
    text = ""
    for key in path:
        plain = isinstance(key, str) and key.isidentifier()
        text += f".{str(key)[:60]}" if plain else f"[{json.dumps(key)[:60]}]"
    return text.removeprefix(".") or "the top level"
