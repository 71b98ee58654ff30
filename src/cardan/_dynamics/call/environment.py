"""What a trace knows: which models stand for others with symbols among their constants.

A function of a model with inputs (`Model.with_inputs`) is traced on a model with the inputs' symbols in their places.
Functions called within, and derivatives, must know what that model stands for; nobody else needs to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from cardan._robot.model import Model


class Standing(NamedTuple):
    """What a model with symbols in it stands for.

    Attributes:
        model: the model with inputs.
        values: theirs, by name.
    """

    model: Model
    values: Mapping[str, Any]


_known: ContextVar[dict[int, tuple[Model, Standing]] | None] = ContextVar("cardan_trace", default=None)


@contextmanager
def standing_for(model: Model, values: Mapping[str, Any]) -> Iterator[Model]:
    """Give a model with values in place of its inputs, known inside as standing for it."""
    if not values:
        yield model
        return
    twin = model.filled_with(values)
    token = _known.set({**(_known.get() or {}), id(twin): (twin, Standing(model, values))})
    try:
        yield twin
    finally:
        _known.reset(token)


def stands_for(model: Model) -> Standing | None:
    """Return what a model stands for; None for a model of numbers."""
    known = _known.get()
    found = known.get(id(model)) if known else None
    return found[1] if found else None
