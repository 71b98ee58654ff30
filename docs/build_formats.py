"""Builds the page of the elements that cardan reads of each format: `python docs/build_formats.py` writes docs/formats.md.

The readers judge a file by the same tables (`schema.py` of each reader), so the page cannot differ from them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from cardan._reach.formats.reading import FORMATS
from cardan._reach.formats.vocabulary import Verdict, Vocabulary

PAGE = Path(__file__).parent / "formats.md"
TAG = re.compile(r"<[^<>]+>")  # in a sentence: to a page of Markdown it would be HTML
HEAD = """<!-- made by docs/build_formats.py; change the schema.py of the reader instead -->
# What cardan reads of each format

After this page you know whether an element of your file has an effect. `cardan.load(path)` chooses the reader by the
file's ending. If the ending does not decide (`.xml`, text), the beginning of the content does.

- **Read**: the element has an effect.
- **Warning**: the element has no effect, and another value than the usual one would move or shape the robot otherwise.
  `cardan.load` warns of it, with file and line.
- **Remark**: the element has no effect. `cardan check` reports it with file and line.
- **Refused**: the element is an error, because without it the robot would be another one.

A name that is in no table gives a remark, with the nearest known name. Each table lists a name under the element that
contains it: attributes plain, elements `<so>`. A path `a/b` is an element `b` inside `a`. [Faults](faults.md) shows the
messages about faulty files.

| format | endings | written | read by |
|---|---|---|---|
"""
JSON = """## JSON

Everything `cardan.save` writes is read, and nothing else: a key that is not known is an error
([serialisation](serialisation.md); `src/cardan/_reach/formats/json/robot.schema.json` is the table).
"""


def vocabularies() -> Iterator[Vocabulary]:
    """Yield the tables of all readers that have one, in the order of `FORMATS`."""
    for form in {form.module: form for form in FORMATS.values()}.values():
        name = f"{form.module}.schema"
        if find_spec(form.module).submodule_search_locations and find_spec(name) is not None:
            schema = importlib.import_module(name)
            yield getattr(schema, "VOCABULARY", None) or Vocabulary(form.name, schema.ELEMENTS)


def page() -> str:
    """Return the page."""
    parts = [HEAD + "".join(f"{line}\n" for line in _formats())]
    parts += [_section(vocabulary) for vocabulary in vocabularies()]
    return "\n".join([*parts, JSON])


def _formats() -> Iterator[str]:
    for form in dict.fromkeys(FORMATS.values()):
        endings = " ".join(f"`{ending}`" for ending, other in FORMATS.items() if other == form)
        room = f"`formats/{form.module.rpartition('.')[2]}`"
        yield f"| {form.name} | {endings} | {'yes' if form.is_written else 'no'} | {room} |"


def _section(vocabulary: Vocabulary) -> str:
    rows = [_row(key, known) for key, known in vocabulary.table.items()]
    foreign = [f"- `<{tag}>` {_worded(why)}." for tag, why in vocabulary.foreign.items()]
    table = ["| element | read | warning | remark | refused |", "|---|---|---|---|---|", *rows]
    also = ["", "These elements do not belong to the format, but occur in its files:", "", *foreign] if foreign else []
    return "\n".join([f"## {vocabulary.name}", "", *table, *also, ""])


def _row(key: str, known: Mapping[str, Verdict]) -> str:
    read = " ".join(f"`{name}`" for name, verdict in known.items() if verdict.kind == "read")
    return _escaped(f"`{key}`", read, *(_why(known, kind) for kind in ("warning", "remark", "refused")))


def _why(known: Mapping[str, Verdict], kind: str) -> str:
    """Return the names with a verdict, those with one reason together."""
    reasons = dict.fromkeys(verdict.why for verdict in known.values() if verdict.kind == kind)
    return "; ".join(
        " ".join(f"`{name}`" for name, verdict in known.items() if verdict[:2] == (kind, why)) + f": {_worded(why)}"
        for why in reasons
    )


def _worded(why: str) -> str:
    """Return a reason with tags as code."""
    return TAG.sub(r"`\g<0>`", why)


def _escaped(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
