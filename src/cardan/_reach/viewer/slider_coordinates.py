"""Joint coordinates as numbers that can be set one by one, whatever the joint's configuration space is.

They are those in which limits are stated (`Manifold.limit_coordinates`): angles [rad] and lengths [m] themselves, the
rotation vector of an orientation. Every set of them is a configuration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardan._algebra.manifolds.manifold import finite_range
from cardan._algebra.manifolds.scalar_coordinates import configuration_of, scalar_coordinates
from cardan._dynamics.coordinates.model_converter import owners
from cardan._motion.simulation.standing import raised
from cardan._reach.pictures.freedoms import units
from cardan._robot.model import Model
from cardan._robot.records import WORLD, Connection

TURN, WAY = 3.1415, 1.0
"""How far sliders go where there is no limit: half a turn either way [rad]; this far [m] if it is not said."""
BEYOND = 1e9
"""From where on a limit is none [rad, m]: files write large numbers for it."""
STEPS = 1000
"""About how many steps a slider has."""


@dataclass(frozen=True, slots=True)
class SliderRange:
    """One degree of freedom as a slider has it.

    Args:
        joint: its joint's name.
        index: which of the joint's degrees of freedom it is.
        label: what it is called, with its unit.
        lower: least value.
        upper: largest value.
        step: a power of ten.
    """

    joint: str
    index: int
    label: str
    lower: float
    upper: float
    step: float

    def rounded(self, value: float) -> float:
        """Return a value as the slider can show it."""
        digits = max(0, -round(math.log10(self.step))) + 1
        return min(max(round(value, digits), self.lower), self.upper)


def slider_ranges(model: Model, way: float = WAY) -> list[SliderRange]:
    """Return the degrees of freedom of a model, in the order of v.

    Args:
        model: the robot.
        way: how far to go either way where a length has no limit [m].
    """
    return [_range(c, k, way) for c in owners(model) for k in range(c.joint.nv)]


def _range(c: Connection, k: int, way: float) -> SliderRange:
    unit = units(c.joint)[k]
    reach = TURN if unit == "rad" else way
    limits = c.limits.resolved(c.joint.nv, c.name)
    lower, upper = tuple(limits.lower or ())[k], tuple(limits.upper or ())[k]
    least, most = -math.inf if lower < -BEYOND else lower, math.inf if upper > BEYOND else upper
    lower, upper = map(float, finite_range(least, most, reach))
    step = 10.0 ** math.floor(math.log10(max(upper - lower, 1e-9) / STEPS * 2.0))
    name = c.name if c.joint.nv == 1 else f"{c.name} {_names(c)[k]}"
    return SliderRange(c.name, k, f"{name} [{unit}]", lower, upper, step)


def _names(c: Connection) -> Sequence[str]:
    """Return short names of a joint's slider coordinates."""
    if c.joint.nq == c.joint.nv:
        return c.joint.coordinate_names
    plain = {k: c.joint.coordinate_names[i] for i, k in scalar_coordinates(c.joint.manifold)}
    turning = iter(("rx", "ry", "rz") if c.joint.nv - len(plain) == 3 else ("angle",) * c.joint.nv)
    return [plain[k] if k in plain else next(turning) for k in range(c.joint.nv)]


def values_of(model: Model, joint: str, q: np.ndarray) -> tuple[float, ...]:
    """Return the slider coordinates of a joint at a configuration (nq,)."""
    own = tuple(map(float, q[model.q_slice(joint)]))
    return tuple(float(e) for e in model.joint(joint).manifold.limit_coordinates(own))


def with_value(model: Model, q: np.ndarray, place: SliderRange, value: float) -> np.ndarray:
    """Return a configuration (nq,) with one slider coordinate changed."""
    values = list(values_of(model, place.joint, q))
    values[place.index] = value
    changed = q.copy()
    changed[model.q_slice(place.joint)] = configuration_of(model.joint(place.joint).manifold, values)
    return changed


def lifted(model: Model, q: np.ndarray, by: float) -> np.ndarray:
    """Return the configuration (nq,) in which what floats freely in the world is higher by so much [m]."""
    q = q.copy()
    for c in owners(model):
        if c.parent == WORLD and c.joint.is_floating:
            q[model.q_slice(c.name)] = raised(c, q[model.q_slice(c.name)].tolist(), by)
    return q
