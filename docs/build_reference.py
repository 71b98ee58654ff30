"""What the reference makes of docstrings before they are read as Markdown: units in brackets are no links."""

from __future__ import annotations

import re
from typing import Any

import griffe

CODE_OR_BRACKETS = re.compile(r"(`[^`]*`)|\](\s?)\[")


class Units(griffe.Extension):
    """Keeps `twists [linear; angular] [m/s, rad/s]` from being a link called 'linear; angular'."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escape the second of two neighbouring brackets."""
        if obj.docstring is not None:
            obj.docstring.value = CODE_OR_BRACKETS.sub(lambda m: m[1] or rf"]{m[2]}\[", obj.docstring.value)
