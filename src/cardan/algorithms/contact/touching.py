"""The contacts of pairs of shapes at one moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cardan.algorithms.contact.point import Contact
from cardan.algorithms.implicit import Moment


def contacts(moment: Moment, pairs: Iterable[Any]) -> list[Contact]:
    """Return the contacts of pairs."""
    raise NotImplementedError
