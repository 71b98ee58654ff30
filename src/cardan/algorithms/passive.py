"""Passive joint forces: viscous damping and dry friction, as the robot description states them.

They are not part of `inverse_dynamics`, `bias_forces` or `forward_dynamics`; add or subtract what is returned here.
"""

from __future__ import annotations

from cardan.algorithms.tree import Vector
from cardan.model import Model
from cardan.scalar import is_zero, sign
from cardan.spatial import Scalar


def passive_forces(model: Model, v: Vector) -> list[Scalar]:
    """Return damping v + friction sign(v): the efforts the drives spend against the joints' own resistance."""
    damping, friction = model.passive("damping"), model.passive("friction")
    dry = [0.0 if is_zero(f) else f * sign(rate) for f, rate in zip(friction, v, strict=True)]
    return [d * rate + f for d, rate, f in zip(damping, v, dry, strict=True)]
