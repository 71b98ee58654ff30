"""How deep brackets are nested in a text of USD: OpenUSD's parser runs out of stack where they are too deep."""

from __future__ import annotations

import re

import numpy as np

# what ends nowhere ends with its line or the text, so that each byte is looked at once
_QUOTED = re.compile(
    rb'#[^\n]*|//[^\n]*|/\*(?>[^*]|\*(?!/))*+(?:\*/)?|"""(?>[^"\\]|\\.|"(?!""))*+(?:""")?|\'\'\'(?>[^\'\\]|\\.|\'(?!\'\'))*+(?:\'\'\')?'
    rb'|"(?>[^"\\\n]|\\.)*+"?|\'(?>[^\'\\\n]|\\.)*+\'?|@@@(?>[^@]|@(?!@@))*+(?:@@@)?|@[^@\n]*+@?',
    re.DOTALL,
)
_OTHERS = bytes(set(range(256)) - set(b"([{)]}"))


def depth(text: bytes) -> int:
    """Return how many brackets of any kind are open at most, comments, strings and asset paths left aside."""
    brackets = np.frombuffer(_QUOTED.sub(b"", text).translate(None, delete=_OTHERS), dtype=np.uint8)
    steps = np.where(np.isin(brackets, np.frombuffer(b"([{", dtype=np.uint8)), 1, -1)
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0))
