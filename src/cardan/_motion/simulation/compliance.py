"""Joints that give way: their compliance as coordinates with springs, which every solver takes.

A joint with compliance gives way along directions that it otherwise resists. What it gives way by is part of the state:
two bodies on it are not where its own coordinates say. So it becomes the joint itself, and behind it a slide or a turn
along each axis of its child frame that has compliance, on a spring of 1 / compliance,

    X = X_J(q) D(e),        f = -e / compliance

and a solver that takes springs implicitly takes compliances however small.

Source: Macklin, Mueller and Chentanez, XPBD (2016), section 4, for compliance as the inverse of a stiffness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError, UnsupportedError
from cardan._robot.description import Mechanism
from cardan._robot.joints import D6, Composite, Limits
from cardan._robot.records import Connection, Drive, Spring

NAMES = ("x", "y", "z", "about x", "about y", "about z")
ROUNDING = 1e-9
"""How much of a unit direction may be rounding."""


def compliant(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose joints give way by their `compliance`, as springs along coordinates of their own.

    A joint with compliance keeps its name, and its coordinates come first; those it gives way by follow them [m, rad],
    linear ones first, along and about the axes of its child frame. Compliance along what a joint moves anyway is
    nothing; joints without are as they were. Joints move on the same, so that targets and limits of their own are as
    before, and so are actuators; in named configurations nothing gives way.

    Args:
        mechanism: with `compliance` at some joints [m/N, rad/(N m)].

    Raises:
        UnsupportedError: for compliance of a joint that copies another or closes a loop, or along an axis of the child
            frame that is neither the joint's own nor across it.
        ParameterError: for something that is no mechanism.

    Examples:
        >>> cardan.simulation.compliant(mechanism).model().nv
        7

    Peers: Newton's `joint_compliance` (XPBD alone).
    """
    if not isinstance(mechanism, Mechanism):
        raise ParameterError("mechanism", got=mechanism, expected="a cardan.Mechanism")
    tree = {c.name for c in mechanism.model().connections}
    for c in mechanism.joints:
        if any(c.compliance or ()):
            if c.joint.primaries or c.name not in tree:
                instead = "give it to the primary joint, or to another joint of the loop"
                raise _refused(c, "which copies another or closes a loop", instead)
            mechanism = _giving_way(mechanism, c)
    return mechanism


def _giving_way(mechanism: Mechanism, c: Connection) -> Mechanism:
    """Return the mechanism with slides and turns on springs behind one joint."""
    axes = _axes(c)
    if not axes:
        return mechanism.replace_joint(c.name, c.joint, compliance=(0.0,) * 6).mechanism
    units = [tuple(row) for row in np.eye(3)]
    # What gives way is small: the order of turns matters little.
    behind = D6([units[i] for i in axes if i < 3], [units[i - 3] for i in axes if i >= 3])
    joint = Composite([c.joint, behind]) if c.joint.nv else behind
    springs = [1.0 / c.compliance[i] for i in axes]  # pyright: ignore[reportOptionalSubscript]
    given = mechanism.replace_joint(c.name, joint, **_properties(c, springs), compliance=(0.0,) * 6).mechanism
    return given.with_annotations(mechanism.annotations.widened(c.name, c.joint.nv, len(axes))).mechanism


def _axes(c: Connection) -> list[int]:
    """Return the axes of the child frame along and about which a joint gives way: those it resists, as wholes."""
    S = [column.scalars() for column in c.joint.motion_subspace(c.joint.manifold.neutral())]
    moves = np.array(S, float).reshape(-1, 6)
    found = []
    for i, unit in enumerate(np.eye(6)):
        if c.compliance[i]:  # pyright: ignore[reportOptionalSubscript]
            resisted = np.linalg.norm(unit - np.linalg.pinv(moves) @ (moves @ unit)) if len(moves) else 1.0
            if ROUNDING < resisted < 1.0 - ROUNDING:  # a spring along it would pull at the joint's own coordinates
                what = f"{NAMES[i]}, which is neither along its motion nor across it"
                raise _refused(c, what, "turn its child_pose so that an axis is the joint's")
            found += [i] if resisted > 0.5 else []
    return found


def _properties(c: Connection, springs: Sequence[float]) -> dict[str, Any]:
    """Return what a joint had, of its own coordinates, and springs at more of them."""
    n, still = len(springs), [0.0] * len(springs)

    def longer(values: Sequence[float] | None, more: Sequence[float]) -> list[float] | None:
        return None if values is None else [*values, *more]

    own = {name: longer(getattr(c, name), still) for name in ("damping", "friction", "armature")}
    ends = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf}
    ends |= {"velocity_lower": -np.inf, "effort_lower": -np.inf}
    limits = Limits(**{name: longer(getattr(c.limits, name), [end] * n) for name, end in ends.items()})
    drive = Drive([*c.drive_stiffness, *still], [*c.drive_damping, *still])
    spring = Spring([*c.spring_stiffness, *springs], [*c.spring_rest, *still])
    return {**own, "limits": limits, "drive": drive, "spring": spring}


def _refused(c: Connection, what: str, instead: str) -> UnsupportedError:
    return UnsupportedError(f"the compliance of joint {c.name!r} {what}", "cardan.simulation.compliant", instead)
