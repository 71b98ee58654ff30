"""Other libraries' words for cardan's functions, read from where they are said: the docstrings' lines `Peers:`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LINE = re.compile(r"^\s*Peers:(.*?)(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
WORDS = re.compile(r"([A-Za-z][\w.]*)((?: `[\w!]+`)+)")


def words_of(function: Any) -> dict[str, str]:
    """Return the libraries by their words for a function: `{"rnea": "Pinocchio"}`."""
    said = LINE.search(getattr(function, "__doc__", None) or "")
    found = WORDS.findall(" ".join(said[1].split())) if said else []
    return {word: library for library, words in found for word in re.findall(r"`([\w!]+)`", words)}


def said_of(word: str, public: Mapping[str, Any]) -> str:
    """Return the end of a message about a word that is not cardan's: whose it is, and what it is called here.

    Args:
        word: what was asked for.
        public: cardan's functions by their names.
    """
    for name, function in public.items():
        library = words_of(function).get(word)
        if library:
            return f": {library}'s {word} is cardan.{name}"
    return ""
