"""What writers return, the text and what it could not say, and what they share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, NamedTuple

from cardan._algebra.errors import DescriptionWarning
from cardan._algebra.spatial import SE3
from cardan._reach.formats.xml import numbers
from cardan._robot.records import Connection

SHOWN = 6  # names that are listed of what nearly every robot has


class Written(NamedTuple):
    """A mechanism as text.

    Attributes:
        text: the file's content.
        losses: what the format cannot say, or says otherwise, such as `"groups 'arm', 'hand'"`.
        moved: X_body_link of the links whose frame is not their body's: in URDF it has to be that of the joint.

    Examples:
        >>> dict(cardan.formats.write_urdf(mechanism).moved)
        {}
    """

    text: str
    losses: tuple[str, ...] = ()
    moved: Mapping[str, SE3] = MappingProxyType({})


def text_of(written: Written, name: str, form: str) -> str:
    """Return the text, with a warning for each loss; `name` is the robot's."""
    for loss in written.losses:
        warnings.warn(DescriptionWarning(f"{name}: {form} does not hold {loss}"), stacklevel=3)
    return written.text


def losses_of(kinds: Mapping[str, Iterable[str]], shown: int | None = SHOWN) -> Iterator[str]:
    """Return what is lost, `{"groups": ["arm"]}`, each kind with its first names; one without names is not lost."""
    return (f"{what} {listed}" for what, names in kinds.items() if (listed := first_of(names, shown)))


def first_of(names: Iterable[str], shown: int | None = SHOWN) -> str:
    """Return the first of some names, each once, as text."""
    names = list(dict.fromkeys(names))
    more = f", ... ({len(names)} in all)" if len(names[:shown]) < len(names) else ""
    return ", ".join(map(repr, names[:shown])) + more


def is_bounded(c: Connection, *keys: str) -> bool:
    """Return whether some limits of a joint (`lower`, `effort`, ...) are finite."""
    return any(math.isfinite(bound) for key in keys for bound in getattr(c.limits, key))


def dimensions(solid: Any) -> dict[str, str]:
    """Return the lengths of a `Box`, `Sphere`, ..., which URDF and SDF call as its fields are called."""
    lengths = {f.name: getattr(solid, f.name) for f in fields(solid)}
    return {name: numbers(e if isinstance(e, tuple) else (e,)) for name, e in lengths.items()}
