"""Mutants of XML files that know its structure: for readers of any format, to be fed hostile and broken descriptions.

`mutant(text, rng)` changes a few things of a file that is right: elements and attributes are deleted, doubled, swapped,
renamed, nested; numbers and names become wrong ones; now and then the bytes themselves are cut or flipped. The same
seed gives the same mutant.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

NUMBERS = (
    "nan", "inf", "-inf", "1e999", "-1", "0", "-0.0", "1e308", "1e-320", "1,5", "0x10", "1_000", "١٢", "abc", "",
    "1 2", "9" * 400, "${x}", "$(arg x)", "1e16", "-1e16", "1.7976931348623157e308",
)  # fmt: skip
WORDS = (
    "",
    " ",
    "world",
    "__root__",
    "__model__",
    "a::b",
    "::",
    "a" * 100_000,
    "\u202e",
    "..",
    "/etc/passwd",
    "true",
    "x" * 300,
)
MOST = 4
"""So many changes at once."""
Change = Callable[[Element, random.Random], None]


def mutant(text: str, rng: random.Random, uris: Sequence[str] = ()) -> bytes:
    """Return a mutant of a file.

    Args:
        text: of a file that can be read.
        rng: decides what is changed.
        uris: names of files, for those it includes: of the file itself, say.
    """
    for prefix, uri in re.findall(r"xmlns:(\w+)=[\"']([^\"']+)", text):
        ElementTree.register_namespace(prefix, uri)
    root = ElementTree.fromstring(text)
    for _ in range(rng.randint(1, MOST)):
        rng.choice(CHANGES)(root, rng)
    if uris and rng.random() < 0.3:
        for element in root.iter("uri"):
            element.text = rng.choice(uris)
    content = ElementTree.tostring(root)
    return _broken(content, rng) if rng.random() < 0.1 else content


def _any(root: Element, rng: random.Random) -> Element:
    return rng.choice(list(root.iter()))


def _parent(root: Element, rng: random.Random) -> Element:
    """Return an element with something in it, or the root."""
    return rng.choice([e for e in root.iter() if len(e)] or [root])


def _with_attributes(root: Element, rng: random.Random) -> Element:
    return rng.choice([e for e in root.iter() if e.attrib] or [root])


# --- elements ---


def delete(root: Element, rng: random.Random) -> None:
    """Delete an element."""
    parent = _parent(root, rng)
    if len(parent):
        parent.remove(rng.choice(list(parent)))


def double(root: Element, rng: random.Random) -> None:
    """Put an element in twice, or many times."""
    parent = _parent(root, rng)
    if len(parent):
        child = rng.choice(list(parent))
        for _ in range(rng.choice((1, 1, 1, 2, 50))):
            parent.insert(rng.randint(0, len(parent)), child)


def move(root: Element, rng: random.Random) -> None:
    """Put a copy of an element somewhere else."""
    child, place = _any(root, rng), _any(root, rng)
    place.append(copy.deepcopy(child))


def swap(root: Element, rng: random.Random) -> None:
    """Exchange what is in two elements."""
    one, other = _any(root, rng), _any(root, rng)
    one.text, other.text = other.text, one.text
    if rng.random() < 0.5:
        one.attrib, other.attrib = other.attrib, one.attrib


def rename(root: Element, rng: random.Random) -> None:
    """Call an element what another is called, or something else."""
    _any(root, rng).tag = rng.choice((_any(root, rng).tag, _any(root, rng).tag, "unknown", "ns:thing", "xacro:if"))


def nest(root: Element, rng: random.Random) -> None:
    """Nest an element in copies of itself."""
    element = _any(root, rng)
    for _ in range(rng.choice((1, 2, 30, 150, 400))):
        inner = Element(element.tag, dict(element.attrib))
        element.append(inner)
        element = inner


def many(root: Element, rng: random.Random) -> None:
    """Put many elements of one kind in, each with a name of its own."""
    element, parent = _any(root, rng), _parent(root, rng)
    for i in range(rng.choice((100, 1000))):
        parent.append(Element(element.tag, dict(element.attrib) | {"name": f"n{i}"}))


# --- texts and attributes ---


def corrupt_text(root: Element, rng: random.Random) -> None:
    """Make a number of a text another one, or none."""
    element = rng.choice([e for e in root.iter() if (e.text or "").strip()] or [root])
    words = (element.text or "").split() or [""]
    words[rng.randrange(len(words))] = rng.choice(NUMBERS)
    element.text = " ".join(words)


def corrupt_attribute(root: Element, rng: random.Random) -> None:
    """Make a number of an attribute another one, or none."""
    element = _with_attributes(root, rng)
    if element.attrib:
        key = rng.choice(list(element.attrib))
        words = element.attrib[key].split() or [""]
        words[rng.randrange(len(words))] = rng.choice(NUMBERS)
        element.set(key, " ".join(words))


def delete_attribute(root: Element, rng: random.Random) -> None:
    """Delete an attribute."""
    element = _with_attributes(root, rng)
    if element.attrib:
        del element.attrib[rng.choice(list(element.attrib))]


def add_attribute(root: Element, rng: random.Random) -> None:
    """Give an element an attribute of another, or one nobody knows."""
    other = _with_attributes(root, rng)
    key = rng.choice([*other.attrib, "unknown"])
    _any(root, rng).set(key, rng.choice((other.attrib.get(key, "x"), rng.choice(WORDS))))


def misname(root: Element, rng: random.Random) -> None:
    """Let a text or attribute name something else of the file: what makes cycles and doubles."""
    names = [value for e in root.iter() for value in e.attrib.values()] + list(WORDS)
    named = [e for e in root.iter() if (e.text or "").strip() and not len(e)]
    element = _with_attributes(root, rng)
    if named and rng.random() < 0.5:
        rng.choice(named).text = rng.choice(names)
    elif element.attrib:
        element.set(rng.choice(list(element.attrib)), rng.choice(names))


def _broken(content: bytes, rng: random.Random) -> bytes:
    """Return bytes that are cut, flipped, or have something before them."""
    at = rng.randrange(len(content) + 1)
    kind = rng.randrange(5)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + rng.randbytes(rng.choice((1, 8))) + content[at + 1 :]
    if kind == 2:
        return b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]>' + content
    if kind == 3:
        return content[:at] + content[rng.randrange(len(content) + 1) :]
    return b'<?xml version="1.0" encoding="utf-16"?>' + content


CHANGES: tuple[Change, ...] = (
    delete, double, move, swap, rename, nest, many, corrupt_text, corrupt_text, corrupt_text, corrupt_attribute,
    delete_attribute, add_attribute, misname, misname, misname,
)  # fmt: skip
"""What a mutant may suffer; the likelier ones more than once."""
