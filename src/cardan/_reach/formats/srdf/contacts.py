"""SRDF: which links' collisions the robot's own description says not to look for.

Read are `<disable_collisions link1="..." link2="..."/>`; groups, states and end effectors are no part of the dynamics.
"""

from __future__ import annotations

import os

from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import parse


def disabled_contacts(source: str | bytes | os.PathLike[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of links that an SRDF file disables, as `WorldBuilder.add(disabled=...)` takes them.

    Args:
        source: path of an SRDF file, or its content as bytes or as text that begins with `<`.

    Raises:
        DescriptionError: with every fault found, each with file and line.

    Examples:
        >>> text = '<robot name="r"><disable_collisions link1="a" link2="b" reason="Never"/></robot>'
        >>> cardan.formats.disabled_contacts(text)
        (('a', 'b'),)
    """
    opened = Source.of(source)
    report, root = Report(opened.name), parse(opened)
    if root.tag != "robot":
        report.error(root, f"the root element is <{root.tag[:60]}>, expected <robot>; is this an SRDF?")
    for element in root.all("disable_default_collisions"):
        report.error(element, "<disable_default_collisions> is not read: name the pairs in <disable_collisions>")
    pairs = []
    for element in root.all("disable_collisions"):
        one, other = report.text(element, "link1"), report.text(element, "link2")
        if one is not None and other is not None:
            pairs.append((one, other))
    report.stop()
    return tuple(dict.fromkeys(pairs))
