"""Joints fixed at given configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.errors import MechanismError, ParameterError, ShapeError, check_known
from cardan._robot.joints import Fixed, Mimic
from cardan._robot.model.layout import resolve_mimics
from cardan._robot.records import Connection

WITHOUT_MOTION: dict[str, Any] = dict.fromkeys(("limits", "damping", "friction", "armature", "drive", "spring"))
"""What has no meaning at a joint without degrees of freedom."""


def locked(connections: Sequence[Connection], configurations: Mapping[str, Any]) -> tuple[Connection, ...]:
    """Return the joints with some of them fixed, and with these all that mimic them.

    Args:
        connections: all joints.
        configurations: for each joint to lock, its own nq coordinates (a number where nq = 1).

    Raises:
        UnknownNameError, ShapeError, ParameterError, MechanismError: for an unknown joint, coordinates that do not fit,
            a mimic.
    """
    if not isinstance(configurations, Mapping):
        expected = "coordinates by joint: {'knee': 0.5}"
        hint = "To lock joints where q has them: {name: q[model.q_slice(name)] for name in names}."
        raise ParameterError("lock", got=configurations, expected=expected, hint=hint)
    mimics = resolve_mimics(connections)
    joints = {c.name: c.joint for c in connections}
    at = {name: _configuration(joints, name, value) for name, value in configurations.items()}
    at |= {n: at[m.primary] for n, m in mimics.items() if m.primary in at}

    def lock(c: Connection) -> Connection:
        X = mimics.get(c.name, c.joint).transform(at[c.name])
        return replace(c, joint=Fixed(), parent_pose=c.parent_pose @ X, **WITHOUT_MOTION)

    return tuple(lock(c) if c.name in at else c for c in connections)


def _configuration(joints: Mapping[str, Any], name: str, value: Any) -> tuple[float, ...]:
    check_known("joint", name, joints, "lock")
    joint = joints[name]
    if isinstance(joint, Mimic):
        raise MechanismError(f"joint {name!r} mimics {joint.primary!r}: lock that one.")
    q = np.atleast_1d(np.asarray(value, dtype=float))
    if q.shape != (joint.nq,):
        raise ShapeError("lock", name, got=q.shape, expected=f"({joint.nq},)", hint=f"{joint!r}")
    if not np.isfinite(q).all():
        raise ParameterError(f"configuration of joint {name!r}", got=tuple(q), expected="finite numbers")
    return tuple(q.tolist())
