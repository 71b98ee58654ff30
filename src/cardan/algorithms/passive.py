"""Passive joint forces: viscous damping and dry friction, as the robot description states them.

They are not part of `inverse_dynamics`, `bias_forces` or `forward_dynamics`; add or subtract what is returned here.
"""

from __future__ import annotations

from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.scalar import sign
from cardan.spatial import Scalar


def passive_forces(model: Model, v: Vector) -> list[Scalar]:
    """Return damping v + friction sign(v): the efforts the drives spend against the joints' own resistance."""
    damping, friction = model.passive("damping"), model.passive("friction")
    return [d * rate + (f * sign(rate) if f else 0.0) for d, f, rate in zip(damping, friction, v, strict=True)]
