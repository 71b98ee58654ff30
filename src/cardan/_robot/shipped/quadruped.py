"""A quadruped: a trunk on four legs of three joints each."""

from __future__ import annotations

from typing import Any

from cardan._algebra.checked_numbers import positive
from cardan._robot.description import Mechanism
from cardan._robot.joints import Fixed, Limits, Revolute
from cardan._robot.shipped.solids import add_box, add_rod, add_sphere, at

LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
_HIP = Limits(lower=[-0.9], upper=[0.9], velocity=[20.0], effort=[40.0])
_THIGH = Limits(lower=[-1.6], upper=[2.6], velocity=[20.0], effort=[40.0])
_SHANK = Limits(lower=[-2.7], upper=[-0.3], velocity=[20.0], effort=[50.0])


def quadruped(trunk_mass: float = 8.0, leg_length: float = 0.44) -> Mechanism:
    """Return a four-legged robot, 12 joints; at q = 0 the legs are straight, x is forward, y left.

    Each leg has a hip turning about x, then a thigh and a shank turning about y, and ends in a foot, the only shape
    that touches anything.

    Args:
        trunk_mass: [kg].
        leg_length: from thigh joint to foot [m]; thigh and shank are half each.

    Examples:
        >>> cardan.robots.quadruped().model(base="floating").nv
        18
    """
    positive("trunk mass of a quadruped", trunk_mass)
    half = positive("leg length of a quadruped", leg_length) / 2
    m = Mechanism("quadruped")
    add_box(m, "trunk", trunk_mass, (0.46, 0.20, 0.14))
    for leg, (front, left) in LEGS.items():
        _add_leg(m, leg, front, left, half)
    return m


def _add_leg(m: Mechanism, leg: str, front: int, left: int, half: float) -> None:
    hip, thigh, shank, foot = (f"{leg}_{part}" for part in ("hip", "thigh", "shank", "foot"))
    add_rod(m, hip, 0.7, 0.08, 0.04, along="y", centre=(0.0, left * 0.04, 0.0))
    add_rod(m, thigh, 1.0, half, 0.025, centre=(0.0, 0.0, -half / 2))
    add_rod(m, shank, 0.25, half, 0.015, centre=(0.0, 0.0, -half / 2))
    add_sphere(m, foot, 0.06, 0.02, touches=True)
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    damped: dict[str, Any] = {"damping": [0.05]}
    corner = at(front * 0.20, left * 0.06, 0)
    m.add_joint(f"{hip}_joint", Revolute(x), "trunk", hip, parent_pose=corner, limits=_HIP, **damped)
    m.add_joint(f"{thigh}_joint", Revolute(y), hip, thigh, parent_pose=at(0, left * 0.08, 0), limits=_THIGH, **damped)
    m.add_joint(f"{shank}_joint", Revolute(y), thigh, shank, parent_pose=at(0, 0, -half), limits=_SHANK, **damped)
    m.add_joint(f"{foot}_joint", Fixed(), shank, foot, parent_pose=at(0, 0, -half))
