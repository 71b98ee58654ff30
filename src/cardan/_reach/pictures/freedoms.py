"""The degrees of freedom of a model: what each is called, and in what it is measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cardan._robot.joints import Joint
from cardan._robot.model import Model

ROUNDING = 1e-9
"""An angular part of a motion that is none."""


class Freedom(NamedTuple):
    """A degree of freedom: an entry of v.

    Attributes:
        place: in v.
        joint: whose it is.
        name: the joint's, and where it has several, behind a dot that of this one.
        unit: of the coordinate, `"rad"` or `"m"`.
    """

    place: int
    joint: str
    name: str
    unit: str


def freedoms(model: Model) -> list[Freedom]:
    """Return the degrees of freedom in the order of v."""
    return [each for name in model.joint_names for each in _of_joint(model, name)]


def _of_joint(model: Model, name: str) -> Iterator[Freedom]:
    indices = range(model.nv)[model.v_slice(name)]
    if not indices:
        return
    joint = model.joint(name)
    for place, unit, velocity in zip(indices, units(joint), joint.velocity_names, strict=True):
        yield Freedom(place, name, name if len(indices) == 1 else f"{name}.{velocity}", unit)


def units(joint: Joint) -> list[str]:
    """Return the unit of each coordinate in which a joint's limits are stated: what turns [rad], what shifts [m]."""
    q = tuple(float(e) for e in joint.neutral())
    return [
        "rad" if any(abs(float(e)) > ROUNDING for e in column.angular) else "m" for column in joint.motion_subspace(q)
    ]
