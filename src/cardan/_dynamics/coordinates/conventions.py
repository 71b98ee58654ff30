"""Converters to other libraries' conventions: `cardan.conventions.to("mujoco", model)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from cardan._algebra.errors import UnknownNameError
from cardan._dynamics.call.signature import check_model
from cardan._dynamics.coordinates import peers
from cardan._dynamics.coordinates.convention import Convention
from cardan._dynamics.coordinates.peer_converter import PeerConverter
from cardan._robot.model import Model

__all__ = ["PEERS", "to"]

PEERS: dict[str, Callable[..., Convention]] = {
    "drake": peers.drake,
    "idyntree": peers.idyntree,
    "isaac": peers.isaac,
    "mujoco": peers.mujoco,
    "newton": peers.newton,
    "pinocchio": peers.pinocchio,
    "rigidbodydynamics": peers.rigidbodydynamics,
}
"""The libraries by name; a new one is a function in `peers.py` and a line here."""


def to(
    peer: str, model: Model, *, order: Sequence[str] | None = None, mimics: bool | None = None, **options: Any
) -> PeerConverter:
    """Return the converter between a model's vectors and those of another library for the same robot.

    Args:
        peer: name of the library: one of `PEERS`.
        model: the robot.
        order: names of the joints with coordinates, as they are numbered there. By default the library's rule for the
            tree: see docs/conventions.md.
        mimics: whether mimic joints have coordinates of their own there; by default what the library's reader does.
        options: the library's own, such as `representation="body"` for iDynTree.

    Raises:
        DTypeError: if the model is no model.
        UnknownNameError: for a library or option that does not exist.
        MechanismError: if the library has no such joint; the message names it.
        ParameterError: if `order` does not name every joint with coordinates once.

    Examples:
        >>> there = cardan.conventions.to("mujoco", arm)
        >>> there.configuration(q).shape
        (7,)
    """
    if peer not in PEERS:
        raise UnknownNameError("library", peer, PEERS, where="cardan.conventions")
    known = inspect.signature(PEERS[peer]).parameters
    for name in options:
        if name not in known:
            raise UnknownNameError("option", name, known, where=f"the conventions of {peer!r}")
    check_model("conventions.to", model)
    return _made(PEERS[peer], model, None if order is None else tuple(order), mimics, tuple(options.items()))


def _made(
    peer: Callable[..., Convention], model: Model, order: Sequence[str] | None, mimics: bool | None, options: Any
) -> PeerConverter:
    convention = peer(**dict(options))
    mimics = convention.mimics if mimics is None else mimics
    return PeerConverter(model, convention, order, mimics, (_made, (peer, model, order, mimics, options)))


__dir__ = __all__.copy
