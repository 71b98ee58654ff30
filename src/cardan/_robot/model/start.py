"""Where a robot begins: as its description says; otherwise neutral, as far as its limits allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cardan._robot.joints import Mimic
from cardan._robot.joints.limits import move_to_middle
from cardan._robot.records import Configuration

# Configurations that say where a robot begins: those of MJCF files; one's own and those of USD files, which win.
STARTS = ("qpos0", "initial")


def said_start(configurations: Iterable[Configuration]) -> dict[str, tuple[float, ...]]:
    """Return the coordinates, by joint, that configurations say a robot begins with."""
    by_name = {c.name: c.coordinates for c in configurations}
    return {joint: own for name in STARTS for joint, own in by_name.get(name, {}).items()}


def start_configuration(model: Any) -> np.ndarray:
    """Return where a robot begins, shape (nq,); see `Model.start_configuration`."""
    q, closing = model.neutral(), _in_loops(model)
    said = said_start(model.annotations.configurations)
    for c in model.connections:
        own, along = model.slices[c.name]
        if c.name in said:
            q[own] = said[c.name]
        elif not isinstance(c.joint, Mimic) and c.joint.nv and closing.isdisjoint(range(own.start, own.stop)):
            q[own] = move_to_middle(c.joint.manifold, q[own].tolist(), model.lower[along], model.upper[along])
    return q


def _in_loops(model: Any) -> set[int]:
    """Return the indices in q of the joints that loops hang on: they close where their bodies are drawn."""
    found: set[int] = set()
    for c in model.closures:
        for node in _path(model, c.parent) ^ _path(model, c.child):
            found.update(model.nodes[node].q)
    return found


def _path(model: Any, body: str) -> set[int]:
    node, path = model.attachment(body).node, set()
    while node >= 0:
        path.add(node)
        node = model.nodes[node].parent
    return path
