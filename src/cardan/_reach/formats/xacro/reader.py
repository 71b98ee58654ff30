"""Reads a file written in xacro: expanded first, then read by the room of what it is: mostly URDF."""

from __future__ import annotations

import re
from importlib import import_module
from xml.sax.saxutils import escape, quoteattr

from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.urdf.reader import read_tree
from cardan._reach.formats.xacro.expansion import expand
from cardan._reach.formats.xml import Element

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
    formats = dict.fromkeys(import_module("cardan._reach.formats.load").FORMATS.values())
    text = written(root)
    form = next((form for form in formats if form.room != "xacro" and re.match(form.begins, text)), None)
    if form is None:
        report.error(root, f"expands to <{root.tag[:60]}>, expected <robot>")
        return Description(None, report)
    found = form.module().read(Source(source.name, text.encode(), source.folder, "utf-8"), options)
    for kind in ("errors", "doubts", "warnings", "remarks"):
        getattr(report, kind).extend(getattr(found.report, kind))
    return Description(found.thing, report, found.places)


def written(element: Element) -> str:
    """Return an element as XML, each of those in it in a line of its own; the depth is that which `expand` allows."""
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.attributes.items())
    inside = "".join(["\n" * bool(element.children), *map(written, element.children)])
    return f"<{element.tag}{attributes}>{escape(element.text.strip())}{inside}</{element.tag}>\n"
