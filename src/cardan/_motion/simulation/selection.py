"""Names chosen by patterns."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Any

from cardan._algebra.errors import ParameterError, UnknownNameError
from cardan._robot.joints import Joint, Reversed
from cardan._robot.model import Model

Pattern = str | re.Pattern[str] | Sequence[str]


def chosen(kind: str, names: Sequence[str], pattern: Any, where: str = "view") -> list[str]:
    """Return the names a pattern matches, in their own order.

    Args:
        kind: what has the names, for messages.
        names: all there are.
        pattern: as file names have them (`"robot*"`), a list of such, or a compiled regular expression.
        where: for messages.

    Raises:
        UnknownNameError: if nothing matches; for a list, if something in it matches nothing.
        ParameterError: for another thing.
    """
    tests = [pattern] if isinstance(pattern, (str, re.Pattern)) else _listed(kind, pattern)
    matched: set[str] = set()
    for test in tests:
        found = {name for name in names if _matches(name, test)}
        if not found:
            shown = test if isinstance(test, str) else test.pattern
            raise UnknownNameError(f"{kind} that matches the pattern, nor one", shown, names, where)
        matched |= found
    return [name for name in names if name in matched]


def _listed(kind: str, pattern: Any) -> list[Any]:
    tests = list(pattern) if isinstance(pattern, (list, tuple, set, frozenset)) else []
    if not tests or not all(isinstance(test, (str, re.Pattern)) for test in tests):
        expected = "a pattern such as 'leg*', a list of names, or a compiled regular expression"
        raise ParameterError(f"pattern of {kind}", got=pattern, expected=expected)
    return tests


def _matches(name: str, test: Any) -> bool:
    return bool(test.fullmatch(name)) if isinstance(test, re.Pattern) else fnmatch.fnmatchcase(name, test)


def types(what: str, given: Any) -> tuple[type[Joint], ...]:
    """Return joint classes as a tuple, or raise `ParameterError`."""
    kinds = (given,) if isinstance(given, type) else tuple(given)
    if not all(isinstance(kind, type) and issubclass(kind, Joint) for kind in kinds):
        raise ParameterError(what, got=given, expected="classes of joints, such as cardan.joints.Revolute")
    return kinds


def is_of(model: Model, joint: str, kinds: tuple[type[Joint], ...]) -> bool:
    """Return whether a joint is of some classes; a reversed one is what it reverses."""
    own = model.joint(joint)
    return isinstance(own.joint if isinstance(own, Reversed) else own, kinds)
