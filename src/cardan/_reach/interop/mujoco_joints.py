"""Joints in MuJoCo: hinges, slides, balls and free joints of a body, with what resists, limits and drives them.

MuJoCo takes these along its own velocities: where they are not a joint's own (the two slides of a planar joint, which
follow the parent's axes; free joints), only what is the same along both can be said.
"""

from __future__ import annotations

import math
from typing import Any

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.spatial import SE3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._reach.interop.chains import Chain, Step
from cardan._robot import joints as J
from cardan._robot.model import Connection

LIBRARY = "MuJoCo"
PASSIVE = ("armature", "damping", "friction")


def add_joints(mj: Any, body: Any, c: Connection, chain: Chain) -> list[str]:
    """Add a joint to its child body and return the names of its steps, which MuJoCo's joints are."""
    names = step_names(c.name, len(chain.steps))
    for k, (name, step) in enumerate(zip(names, chain.steps, strict=True)):
        step = step.seen_from(c.child_pose)
        kind = getattr(mj.mjtJoint, f"mjJNT_{step.kind.upper()}")
        joint = body.add_joint(name=name, type=kind)
        if step.kind != "free":
            joint.pos = list(step.point)
        if step.kind in ("hinge", "slide"):
            joint.axis = list(step.axis)
            _add_properties(mj, joint, c, k, step)
        else:
            _add_properties_of_many(joint, c, step)
    return names


def step_names(joint: str, count: int) -> list[str]:
    """Return what the steps of a joint are called there.

    One has the joint's name; several have the parts of a name of as many, `hip_x+hip_y`, which is how a reader of MJCF
    calls the joints of one body together; else they are `name:0`, `name:1`, ...
    """
    parts = joint.split("+")
    if count == 1:
        return [joint]
    return parts if len(parts) == count and all(parts) else [f"{joint}:{k}" for k in range(count)]


def _add_properties(mj: Any, joint: Any, c: Connection, k: int, step: Step) -> None:
    if is_planar(c) and step.kind == "slide":
        _check_planar(c)
    armature, damping, friction = (_values(c, name)[k] for name in PASSIVE)
    joint.armature, joint.damping[0], joint.frictionloss = armature, damping, friction
    if c.spring_stiffness[k]:
        _check_spring(c, step)
        joint.stiffness[0], joint.springref = c.spring_stiffness[k], c.spring_rest[k]
    if isinstance(c.joint, J.Mimic):  # limits are those of what it copies
        return
    limits = c.limits
    lower, upper = _values(limits, "lower")[k], _values(limits, "upper")[k]
    least, most = _values(limits, "effort_lower")[k], _values(limits, "effort")[k]
    if math.isfinite(lower) or math.isfinite(upper):
        joint.limited, joint.range = mj.mjtLimited.mjLIMITED_TRUE, bounds(lower, upper)
    if math.isfinite(least) or math.isfinite(most):
        joint.actfrclimited, joint.actfrcrange = mj.mjtLimited.mjLIMITED_TRUE, bounds(least, most)


def _check_spring(c: Connection, step: Step) -> None:
    """Raise where a spring there would not be the one here: along axes of its own, or where angles begin anew."""
    kind, space = kind_within(c.joint), kind_within(c.joint).manifold
    if (is_planar(c) and step.kind == "slide") or space.nq != space.nv:
        what = f"the spring of joint {c.name!r}, a {type(kind).__name__}"
        raise UnsupportedError(what, LIBRARY, "give springs to joints whose coordinates are angles and lengths")


def bounds(lower: float, upper: float) -> list[float]:
    """Return bounds that MuJoCo accepts: finite, the lower below the upper, if only by a rounding error."""
    lower, upper = max(lower, -FAR), min(upper, FAR)
    return [lower, upper if upper > lower else math.nextafter(lower, math.inf)]


def meant(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds for which `bounds` says these."""
    upper = lower if upper == math.nextafter(lower, math.inf) else upper
    return (-math.inf if lower <= -FAR else lower), (math.inf if upper >= FAR else upper)


FAR = 1e10
"""Stands for an infinite bound beside a finite one."""


def _add_properties_of_many(joint: Any, c: Connection, step: Step) -> None:
    """Set what a ball or free joint has one number of, for all its velocities."""
    limits = (*c.limits.lower, *c.limits.upper, *c.limits.effort, *c.limits.effort_lower)  # pyright: ignore
    if any(map(math.isfinite, limits)):
        raise UnsupportedError(f"a limit of joint {c.name!r}, a {type(c.joint).__name__}", LIBRARY, "take it off")
    armature, damping, friction = (_one_of(c, name) for name in PASSIVE)
    at_origin = not any(c.child_pose.translation)
    in_joint_axes = at_origin and c.child_pose.rotation == c.child_pose.rotation.identity()
    along_others = armature or friction or (damping and not at_origin)  # one damping is the same along all axes
    if (step.kind == "free" and along_others) or (friction and not in_joint_axes):
        raise UnsupportedError(f"armature, damping or friction of joint {c.name!r}", LIBRARY, "take it off")
    stiffness = _one_of(c, "spring_stiffness")
    if stiffness and (step.kind == "free" or any(c.spring_rest)):
        what = f"the spring of joint {c.name!r}, a {type(c.joint).__name__}"
        raise UnsupportedError(
            what, LIBRARY, "springs of balls alone, at rest in the neutral orientation, are the same"
        )
    joint.stiffness[0] = stiffness
    joint.armature, joint.damping[0], joint.frictionloss = armature, damping, friction


def _one_of(c: Connection, name: str) -> float:
    """Return the one value of a joint's passive property."""
    values = set(_values(c, name))
    if len(values) > 1:
        raise UnsupportedError(
            f"{name} {_values(c, name)} of joint {c.name!r}, which is not the same about all axes",
            LIBRARY,
            "give all axes the same",
        )
    return values.pop()


def _check_planar(c: Connection) -> None:
    """Raise where something along a planar joint's own axes is not the same along those of its parent."""
    slides = {name: _values(c, name)[:2] for name in PASSIVE}
    effort = (*_values(c.limits, "effort")[:2], *_values(c.limits, "effort_lower")[:2])
    if any((*slides["armature"], *slides["friction"])) or any(map(math.isfinite, effort)):
        what = f"armature, friction or an effort limit along the plane of joint {c.name!r}"
        raise UnsupportedError(what, LIBRARY, "take it off, or make the joint two slides and a hinge")
    if len(set(slides["damping"])) > 1:
        what = f"damping {slides['damping']} along the plane of joint {c.name!r}"
        raise UnsupportedError(what, LIBRARY, "give both directions the same")


def is_planar(c: Connection) -> bool:
    """Return whether a joint's velocities are along its own axes, and those of its two slides along its parent's."""
    return isinstance(c.joint, (J.Planar, J.PlanarAngle))


def kind_within(joint: J.Joint) -> J.Joint:
    """Return the joint itself, or what a mimic joint is made of."""
    return joint.joint if isinstance(joint, J.Mimic) else joint


def _values(record: Any, name: str) -> tuple[float, ...]:
    return tuple(getattr(record, name))


def placed(X: SE3) -> dict[str, list[float]]:
    """Return a pose as MuJoCo's `pos` and `quat`, (w, x, y, z)."""
    x, y, z, w = quaternion_xyzw_from_matrix(X.rotation)
    return {"pos": list(X.translation), "quat": [w, x, y, z]}
