"""Reads a file written in xacro: expanded first, then read by the room of what it is: mostly URDF."""

from __future__ import annotations

import re
from importlib import import_module
from xml.sax.saxutils import escape, quoteattr

from cardan.formats.reading import Description, Options
from cardan.formats.report import Report
from cardan.formats.source import Source
from cardan.formats.urdf.reader import read_tree
from cardan.formats.xacro.expansion import expand
from cardan.formats.xml import Element

OPTIONS = frozenset({"xacro_args", "continuous", "model", "orphans"})
"""Its own, and those of the rooms that read what it expands to."""


def read(source: Source, options: Options) -> Description:
    """Return what a file written in xacro describes."""
    report = Report(source.name)
    root = expand(source, options, report)
    if root is None:
        return Description(None, report)
    if root.tag == "robot":
        return read_tree(source, options, root, report)
    return _read_elsewhere(source, options, root, report)


def _read_elsewhere(source: Source, options: Options, root: Element, report: Report) -> Description:
    """Read an expanded file of another format; its lines are those of the expanded text, an element each."""
    formats = dict.fromkeys(import_module("cardan.formats.load").FORMATS.values())
    text = written(root)
    form = next((form for form in formats if form.room != "xacro" and re.match(form.begins, text)), None)
    if form is None:
        report.error(root, f"expands to <{root.tag[:60]}>, expected <robot>")
        return Description(None, report)
    found = form.module().read(Source(source.name, text.encode(), source.folder, "utf-8"), options)
    for kind in ("errors", "doubts", "warnings", "remarks"):
        getattr(report, kind).extend(getattr(found.report, kind))
    return Description(found.thing, report, found.places)


def written(root: Element) -> str:
    """Return elements as XML, each in a line of its own."""
    parts: list[str] = []
    waiting: list[Element | str] = [root]
    while waiting:
        element = waiting.pop()
        if isinstance(element, str):
            parts.append(element)
            continue
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
        parts.append(f"<{element.tag}{attributes}>{escape(element.text.strip())}")
        waiting.append(f"</{element.tag}>\n")
        waiting += [*reversed(element.children), "\n"] if element.children else []
    return "".join(parts)
