"""The pages are written in plain words: what can be counted of docs/glossary.md's rules is counted here.

Only prose counts: no block of code, and a table's cells one by one.
`python tests/project/test_plain_words.py PAGE...` reports on pages by hand; without a page on all that must hold.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MARGIN = 120  # columns of a line of prose
LONGEST = 25  # words of a sentence
COMMAS = 4  # of a sentence outside brackets: a fifth comma means a list of more than four things

GENERATED = {"docs/joints.md", "docs/faults.md", "docs/formats.md"}
"""Pages that a script writes from the code: their words are those of docstrings and messages."""

NOT_YET: tuple[str, ...] = ()
"""Pages, and folders of pages, that were not rewritten yet. It may only shrink: what holds must leave it."""

BANNED = {
    r"\bnone\b(?! of\b)": 'say "no", "invalid", "missing" or "NaN", not "none"',
    r"^(?-i:Of)\b": 'the subject comes first, not "Of ..."',
    r"\b(am|is|are|be|was|were|been) (told|heard|asked)\b": 'say who detects, reports or gives, not "is told"',
    r"\b(upon|for want of|in truth|as ever)\b": "the everyday word: on, without, really, as always",
    r"\bas (\w+ ){1,3}ha(s|ve) it\b": 'say "X defines it so", not "as X has it"',
    r"[,;] else\b": '"otherwise", not "else"',
    r"\bso (do|does|did|is|are|was|were|has|have)\b": "subject before verb, not \"so is ...\"",
    r"\bshall\b": '"must", "should" or "will", not "shall"',
    r"\bwhoever\b": "name who acts",
    r"\bwhat is asked\b": '"the request", "the task": a noun, not a clause',
    r"\bsets? this upon\b": '"runs this on"',
    r"\bthe door\b": 'the compiled way of a call is "the fast path"',
    r"\brooms?\b": '"module" or "wing", not "room"',
    r"\bnobody (else )?has\b|\bno other library\b|\bright at every step\b": 'a boast: "in one library" is what is true',
    r"^(?!.*\b4\.7\b).*\b71 times\b": "name both sides: 4.7 times a call, 71 times in batches",
}  # fmt: skip
"""Patterns that no sentence may have, in letters of any case, and what to write instead."""

ANY = re.compile("|".join(f"(?i:{pattern})" for pattern in BANNED))

SHORTENED = re.compile(r"\b(e\.g|i\.e|cf|et al|vs|fig|eq|no|p|pp|op)\.$", re.IGNORECASE)
MARKER = re.compile(r"^\s*([-*+]|\d+\.)\s+")


class Block(NamedTuple):
    """A stretch of prose that no sentence leaves: a paragraph, an item of a list, a heading, a cell of a table."""

    line: int
    text: str
    kind: str = "text"


class Finding(NamedTuple):
    """A place that breaks a rule."""

    line: int
    text: str
    rule: str


def lines_of_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page, numbered from 1; those of code and of comments are empty."""
    fence, empty, listed = None, True, False
    for number, line in enumerate(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).splitlines(), 1):
        opening = re.match(r"\s*(```+|~~~+)", line)
        indented = empty and not listed and line.startswith("    ")  # in a list such lines belong to an item
        prose = fence is None and not opening and not indented and not line.startswith((":::", "---"))
        yield number, line if prose else ""
        if fence is not None:
            fence = None if line.strip() == fence else fence
        elif opening:
            fence = opening[1]
        elif not indented:
            empty = not line.strip()
            listed = bool(MARKER.match(line)) or (listed and (empty or line.startswith(" ")))


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page."""
    begun, words = 0, []
    for number, line in [*lines_of_prose(text), (0, "")]:
        table, heading = line.lstrip().startswith("|"), line.startswith("#")
        if words and (not line.strip() or table or heading or MARKER.match(line)):
            yield Block(begun, " ".join(words))
            words = []
        if table:
            yield from (
                Block(number, cell, "cell") for cell in re.split(r"(?<!\\)\|", plain(line)) if cell.strip(" :-")
            )
        elif heading:
            yield Block(number, plain(line.lstrip("# ")), "heading")
        elif line.strip():
            begun = begun if words else number
            words.append(MARKER.sub("", line).strip())


def plain(text: str) -> str:
    """Return Markdown as its reader sees it; a piece of code is the one word CODE."""
    text = re.sub(r"(`+).+?\1", "CODE", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*\)", r"\1", text)
    return re.sub(r"\*\*|__|<[^>]+>", "", text)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a block."""
    begun = 0
    text = plain(text)
    for end in re.finditer(r"[.!?][\"')\]]*(?=\s|$)|$", text):
        if end.end() < len(text) and SHORTENED.search(text[: end.start() + 1]):
            continue
        if sentence := text[begun : end.end()].strip():
            yield sentence
        begun = end.end()


def length(sentence: str) -> int:
    """Return the number of words; signs alone are not counted."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def findings(text: str) -> Iterator[Finding]:
    """Yield what breaks a rule in a page."""
    for number, line in lines_of_prose(text):
        if len(line) > MARGIN and not line.lstrip().startswith("|") and " " in line.strip()[:MARGIN]:
            yield Finding(number, line, f"{len(line)} columns: wrap prose at {MARGIN}")
    for block in blocks(text):
        for sentence in sentences(block.text):
            words = length(sentence)
            if words > LONGEST:
                yield Finding(block.line, sentence, f"{words} words: at most {LONGEST}")
            flat = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", sentence)
            if block.kind == "text" and flat.count(",") > COMMAS:
                yield Finding(block.line, sentence, f"{flat.count(',')} commas: more than four things are a list")
            if ANY.search(sentence):
                yield from (Finding(block.line, sentence, rule) for rule in broken(sentence))


def broken(sentence: str) -> Iterator[str]:
    """Yield the rules of `BANNED` that a sentence breaks."""
    yield from (rule for pattern, rule in BANNED.items() if re.search(f"(?i:{pattern})", sentence))


def pages() -> list[str]:
    """Return the pages that people write."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [page.relative_to(ROOT).as_posix() for page in found]
    return [name for name in names if name not in GENERATED]


def report(name: str) -> str:
    """Return the findings of a page, one a line: where, the rule, the sentence."""
    found = sorted(set(findings((ROOT / name).read_text(encoding="utf-8"))))
    return "\n".join(f"{name}:{line}: {rule}: {text}" for line, text, rule in found)


def rewritten() -> list[str]:
    """Return the pages that must hold."""
    return [name for name in pages() if not name.startswith(NOT_YET)]


@pytest.mark.parametrize("name", rewritten())
def test_a_page_is_in_plain_words(name):
    found = report(name)
    assert not found, found


GUIDES = [name for name in rewritten() if not name.startswith(("README", "docs/api/", "docs/decisions/"))]


@pytest.mark.parametrize("name", GUIDES)
def test_a_page_begins_with_what_its_reader_can_do(name):
    found = [block for block in blocks((ROOT / name).read_text(encoding="utf-8")) if block.kind == "text"]
    begins = next(block.text for block in found if plain(block.text).strip())  # a picture may come before
    assert begins.startswith("After this page you"), (
        f"{name}: the first paragraph says what the reader can do: {begins}"
    )


@pytest.mark.parametrize("entry", NOT_YET)
def test_the_list_of_pages_to_rewrite_shrinks(entry):
    listed = [name for name in pages() if name.startswith(entry)]
    assert any(report(name) for name in listed), f"take {entry} off NOT_YET: it holds, or is gone"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("An option that is none is refused.", '"none"'),
        ("word " * 40, "at most 25"),
        ("We take a, b, c, d, e, f and g.", "list"),
        ("It is 71 times faster.", "both sides"),
        ("x " * 61, "wrap"),
        ("| fine | numbers that are none |", '"none"'),
        ("Fine.\n\n```\nnone\n```\n\nThe user is told.", "is told"),
    ],
)
def test_a_broken_rule_is_found(text, rule):
    assert any(rule in finding.rule for finding in findings(text))


def test_only_prose_counts():
    long = "none " * 50
    code = f"```\n{long}\n```\n\n    {long}\n\n`none none`"
    text = f"Short.\n\n{code}\n\n| {'a | ' * 80}\n\n<!-- {long} -->\nNone of it counts.\n"
    assert list(findings(text)) == []
    assert [*sentences("One, e.g. this. `cardan.x` is 1.5 times (so). Two?")] == [
        "One, e.g. this.", "CODE is 1.5 times (so).", "Two?"
    ]  # fmt: skip


if __name__ == "__main__":
    named = [Path(page).resolve().relative_to(ROOT).as_posix() for page in sys.argv[1:]] or rewritten()
    reports = {name: report(name) for name in named}
    for name, found in reports.items():
        print(found or f"{name}: nothing found")
    sys.exit(any(reports.values()))
