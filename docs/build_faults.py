"""Builds the page of planted faults: `python docs/build_faults.py` writes docs/faults.md.

The tests of each reader plant faults in correct files, a row of a table each; the page shows the message of each
fault. The page's test makes it again, so the page cannot differ from the code.
"""

from __future__ import annotations

import importlib
import platform
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from cardan._algebra.errors import Fault, shortened
from cardan.formats import check

PAGE = Path(__file__).parent / "faults.md"
TESTS = Path(__file__).parents[1] / "tests"
LONGEST = 220
"""Letters of a message that the page shows: some messages list all known names."""
EXTRAS = {"MJCF": "mujoco", "USD": "usd-core", "xacro": "xacro"}
"""The package that reads a format for cardan: some of the messages are its own."""
HEAD = """<!-- made by docs/build_faults.py from the tests; change these instead -->
# Messages about faulty files

After this page you know the message that cardan gives for each kind of fault in a robot file. Each row is a test: it
plants one fault in a correct file and runs `cardan check`.

`cardan check` reports all faults of a file at once, each with its file (left out here), line or path. Its exit status
says whether there are any. `cardan.load` raises `DescriptionError` with the same messages. If something is not used, or
possible but probably unintended, the message is a warning ([formats](formats.md)) and not shown here. Long messages are
cut in the middle.
"""


class Planted(NamedTuple):
    """A fault in a file: its name, words or a pattern that its message must have, and the check of the file."""

    name: str
    expected: str
    check: Callable[[], list[Fault]]


# --- the tables of the tests ---


def table(module: str, name: str = "FAULTS") -> Any:
    """Return a table of a test's module."""
    for folder in (TESTS, TESTS / "reach"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return getattr(importlib.import_module(module), name)


def _urdf() -> Iterator[Planted]:
    for name, (content, _, expected) in table("test_urdf_faults").items():
        yield Planted(name, expected, partial(check, content))


def _named(module: str, faults: str = "FAULTS", **options: Any) -> Iterator[Planted]:
    for name, (content, expected) in table(module, faults).items():
        yield Planted(name, expected, partial(check, content, **options))


def _srdf() -> Iterator[Planted]:
    robot, around = table("test_srdf", "urdf")(), table("test_srdf", "srdf")
    for name, (inside, expected) in table("test_srdf").items():
        yield Planted(name, expected, partial(check, robot, srdf=around(inside)))


def _json() -> Iterator[Planted]:
    good = table("test_json_files", "GOOD")
    for old, new, expected in table("test_json_files"):
        name = f"{_code(old, 40)} becomes {_code(new, 60)}"
        yield Planted(name, expected, partial(check, good.replace(old, new, 1)))


def _mjcf() -> Iterator[Planted]:
    around = table("test_mjcf", "mjcf")
    for parts, _, expected in table("test_mjcf"):
        yield Planted(_code(" ".join(filter(None, parts)), 90), expected, partial(check, around(*parts)))


TABLES: dict[str, Callable[[], Iterator[Planted]]] = {
    "URDF": _urdf,
    "SDF": lambda: _named("test_sdf"),
    "MJCF": _mjcf,
    "USD": lambda: _named("usd_faults", "PLANTED"),
    "SRDF": _srdf,
    "xacro": lambda: _named("test_xacro", trusted=True),
    "JSON": _json,
}
"""The planted faults of each format."""

# --- the page ---


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *map(section, TABLES)])


def section(name: str) -> str:
    """Return the section of a format: its planted faults with their messages."""
    planted = list(TABLES[name]())
    rows = [f"| {_cell(fault.name)} | {_shown(_errors(fault)[0])} |" for fault in planted]
    head = [f"## {name}", "", made_with(name), "", "| planted fault | message |", "|---|---|"]
    return "\n".join([*head, *rows, ""])


def made_with(name: str) -> str:
    """Return the packages whose messages stand in a format's section: they change from version to version."""
    python = f"Python {'.'.join(platform.python_version_tuple()[:2])}"
    extra = EXTRAS.get(name)
    return f"With {extra} {version(extra)} and {python}." if extra else f"With {python}."


def _errors(planted: Planted) -> list[Fault]:
    """Return the errors with the expected words."""
    errors = [fault for fault in planted.check() if fault.severity == "error"]
    return [e for e in errors if planted.expected in str(e) or re.search(planted.expected, str(e))]


def _shown(fault: Fault) -> str:
    place = ":".join(part for part in (str(fault.line or ""), fault.where) if part)
    return _cell(f"{place}: " * bool(place) + _code(fault.message, LONGEST))


def _code(text: str, longest: int) -> str:
    """Return a text as code, on one line and without what cannot be seen."""
    visible = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    short = shortened(visible, longest)
    return f"`` {short} ``" if "`" in short else f"`{short}`" if short else "nothing"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
