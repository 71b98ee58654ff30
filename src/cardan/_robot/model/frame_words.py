"""What is meant by a word that names no frame: another library's word for a reference, or a joint for its body."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cardan._robot.records import WORLD, Connection

_AT_THE_FRAME, _OF_THE_BODY, _OF_THE_WORLD = (
    "at='frame', expressed_in='world' (the default)",
    "at='frame', expressed_in='frame'",
    "at='world', expressed_in='world'",
)
WORDS = {
    "LOCAL_WORLD_ALIGNED": f"Pinocchio's LOCAL_WORLD_ALIGNED is {_AT_THE_FRAME}",
    "LOCAL": f"Pinocchio's LOCAL is {_OF_THE_BODY}",
    "WORLD": f"Pinocchio's WORLD is {_OF_THE_WORLD}; the frame is {WORLD!r}",
    "MIXED_REPRESENTATION": f"iDynTree's MIXED_REPRESENTATION is {_AT_THE_FRAME}",
    "BODY_FIXED_REPRESENTATION": f"iDynTree's BODY_FIXED_REPRESENTATION is {_OF_THE_BODY}",
    "INERTIAL_FIXED_REPRESENTATION": f"iDynTree's INERTIAL_FIXED_REPRESENTATION is {_OF_THE_WORLD}",
    "universe": f"Pinocchio's universe is {WORLD!r}",
}


def meant_by(word: Any, connections: Iterable[Connection]) -> str:
    """Return the end of a message about a frame that does not exist; empty where nothing is known of the word."""
    last = str(word).rpartition(".")[2]  # of an enumeration's member
    if last in WORDS:
        return f"{WORDS[last]}."
    moved = next((c.child for c in connections if c.name == word), None)
    return f"{word!r} is a joint; the body it moves is {moved!r}." if moved is not None else ""
