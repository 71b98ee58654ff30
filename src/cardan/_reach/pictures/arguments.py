"""What pictures are given, checked: models, motions, times, names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError, ParameterError, ShapeError
from cardan._dynamics.call.arguments import check_configuration, check_finite, checked_batch
from cardan._dynamics.call.signature import check_model
from cardan._motion.simulation import World
from cardan._robot.description import Mechanism
from cardan._robot.model import Model

ROLES = {True: ("visual", "collision"), False: (), "visual": ("visual",), "collision": ("collision",)}


def checked_model(where: str, model: Any) -> Model:
    """Return a model to draw: that of a mechanism or a world; of one with inputs that with its own values."""
    model = model.model() if isinstance(model, Mechanism) else model.model if isinstance(model, World) else model
    check_model(where, model)
    return model.with_values(**model.input_values()) if model.inputs else model


def checked_motion(where: str, model: Model, q: Any) -> np.ndarray:
    """Return configurations, shape (T, nq), of one or several; the neutral one for None."""
    batch = checked_batch(where, {"q": model.neutral() if q is None else q}, {"q": (model.nq,)})
    if len(batch.shape) > 1 or batch.size == 0:
        got = (*batch.shape, model.nq)
        raise ShapeError(where, "q", got=got, expected=f"({model.nq},) or (T, {model.nq}) with T of at least 1")
    found = batch.arrays[0].astype(float)
    check_finite(where, "q", found, batch.shape)
    check_configuration(where, "q", found, model.unit_parts)
    return found


def checked_rows(where: str, name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers of a shape, a row for each configuration; of a single one the row alone will do."""
    batch = checked_batch(where, {name: values}, {name: shape[1:]})
    if batch.shape != shape[:1] and (batch.shape or shape[0] != 1):
        raise ShapeError(where, name, got=(*batch.shape, *shape[1:]), expected=f"{shape}, a row for each of q")
    found = batch.arrays[0].astype(float).reshape(shape)
    check_finite(where, name, found)
    return found


def checked_frames(where: str, model: Model, frames: Any) -> tuple[str, ...]:
    """Return the names of frames: all bodies for True, none for False, one, or several; errors for unknown names."""
    if isinstance(frames, bool):
        return model.body_names if frames else ()
    if not isinstance(frames, Iterable):
        raise DTypeError(where, "frames", got=f"a {type(frames).__name__}", expected="a name, or several")
    names = (frames,) if isinstance(frames, str) else tuple(frames)
    for name in names:
        model.attachment(name)
    return names


def checked_roles(where: str, shapes: Any) -> Sequence[str]:
    if not isinstance(shapes, (bool, str)) or shapes not in ROLES:
        raise ParameterError(f"{where}: shapes", got=shapes, expected="True, False, 'visual' or 'collision'")
    return ROLES[shapes]
