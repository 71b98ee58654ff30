"""A model in words: the layout table that `print(model)` shows, and hints for names that no frame has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cardan._algebra.errors import visible
from cardan._robot.joints import Joint, Mimic
from cardan._robot.records import WORLD, Connection

HEADER = ("joint", "type", "parent -> child", "q", "v", "position limits")


def layout_table(model: Any) -> str:
    """Return the joints of a model with their slices of q and v and their limits, as text."""
    lines = aligned([HEADER, *(_row(model, connection) for connection in model.connections)])
    sizes = f"{len(model.bodies)} bodies, {model.mass:.6g} kg, nq = {model.nq}, nv = {model.nv}"
    closing = [closing_text(c, type(c.joint).__name__) for c in model.closures]
    given = [f"given at every call: {name} {each.shape}" for name, each in model.inputs.items()]
    return "\n".join([f"{visible(model.name)}: {sizes}", lines[0], "-" * len(lines[0]), *lines[1:], *closing, *given])


def closing_text(c: Connection, kind: str) -> str:
    """Return a joint that closes a loop as a line."""
    return f"closing: {visible(c.parent)} <-[{visible(c.name)}: {kind}]-> {visible(c.child)}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def kind_of(joint: Joint) -> str:
    """Return what kind of joint it is, and what a mimic copies."""
    if isinstance(joint, Mimic):
        return f"{type(joint.joint).__name__} = {joint.multiplier:g} {visible(joint.primary)} + {joint.offset:g}"
    return type(joint).__name__


def _row(model: Any, c: Any) -> tuple[str, ...]:
    iq, iv = model.slices[c.name]
    between = f"{visible(c.parent)} -> {visible(c.child)}"
    pairs = zip(c.limits.lower, c.limits.upper, strict=True)
    shown = ["free" if math.isinf(a) and math.isinf(b) else f"[{a:.4g}, {b:.4g}]" for a, b in pairs]
    limits = shown[0] if len(set(shown)) == 1 else ", ".join(shown)
    return visible(c.name), kind_of(c.joint), between, _slice(iq), _slice(iv), limits


def _slice(s: slice) -> str:
    if s.stop == s.start:
        return "-"
    return str(s.start) if s.stop == s.start + 1 else f"{s.start}:{s.stop}"


# --- hints ---

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


def explain_word(word: Any, connections: Iterable[Connection]) -> str:
    """Return the end of a message about a frame that does not exist; empty where nothing is known of the word."""
    last = str(word).rpartition(".")[2]  # of an enumeration's member
    if last in WORDS:
        return f"{WORDS[last]}."
    moved = next((c.child for c in connections if c.name == word), None)
    return f"{word!r} is a joint; the body it moves is {moved!r}." if moved is not None else ""
