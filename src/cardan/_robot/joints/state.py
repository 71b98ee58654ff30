"""A joint as a value: its parameters are read once, when it enters a mechanism, and cannot change afterwards.

Parameters are what `cardan._algebra.content` reads of an instance; that module alone walks through objects, this one
keeps what it met from changing. What a user's class does beside that, with class attributes and the globals its methods
read, is seen in what they write (`derivation/programs.py`).
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np

from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.content import Content, Parts, UnknownContentError, parts
from cardan._algebra.errors import JointError

T = TypeVar("T")
_frozen: ByIdentity[Any, bool] = ByIdentity()


def is_frozen(joint: Any) -> bool:
    """Return whether a joint is one that a mechanism keeps."""
    return _frozen.get(joint) is not None


def freeze(joint: T) -> T:
    """Return the joint as a mechanism keeps it: with parts of its own (`copied`), which nobody else can change."""
    twin = joint if is_frozen(joint) else copied(joint)
    keep(twin)
    return twin


def keep(joint: Any) -> None:
    """Make a joint that nobody else holds one that a mechanism keeps."""
    if not is_frozen(joint):
        _make_read_only(joint)
        _frozen.setdefault(joint, True)


def copied(thing: T) -> T:
    """Return a thing with parts of its own, arrays read-only; itself, if none of its parts can change."""
    found = parts_of(thing)
    # Symbols, functions and modules stand for themselves; a copy of a symbol would be another one.
    themselves = {id(e): e for e in found.apart}
    if all(id(part) in themselves or _is_immutable(part) for part in found.met):
        return thing
    twin = copy.deepcopy(thing, themselves)
    _make_read_only(twin)
    return twin


def _make_read_only(thing: Any) -> None:
    for part in parts_of(thing).met:
        if isinstance(part, np.ndarray):
            part.setflags(write=False)


def parts_of(thing: Any) -> Parts:
    """Return what a joint or a task is made of, or raise `JointError` if a part cannot be read."""
    try:
        return parts(thing)
    except UnknownContentError as error:
        raise JointError(
            f"{type(thing).__name__}: among its parameters is {error}, which cannot be read; keep numbers, texts, "
            "arrays, functions, or objects with such attributes."
        ) from None


def _is_immutable(part: Any) -> bool:
    """Return whether a thing cannot change if its parts do not; of classes, only cardan's own keep that promise."""
    if isinstance(part, np.ndarray):
        return not part.flags.writeable and part.base is None
    kind = type(part)
    parameters = vars(kind).get("__dataclass_params__")
    lasting = issubclass(kind, tuple) or (parameters is not None and parameters.frozen)
    return kind in (tuple, frozenset, Content) or (lasting and kind.__module__.startswith("cardan."))
