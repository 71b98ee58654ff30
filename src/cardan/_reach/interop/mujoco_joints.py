"""Joints in MuJoCo: hinges, slides, balls and free joints of a body, with what resists, limits and drives them.

MuJoCo takes these along its own velocities: where they are not a joint's own (the two slides of a planar joint, which
follow the parent's axes; free joints), only what is the same along both can be said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.spatial import SE3, Vector3
from cardan._algebra.spatial.rotations import quaternion_xyzw_from_matrix
from cardan._dynamics.coordinates.peer_converter import kind_of, turn_of
from cardan._robot import joints as J
from cardan._robot.joints.catalogue.chains import ChainJoint
from cardan._robot.joints.catalogue.of_another import kind_within
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import Connection, Model

# --- joints as hinges and slides in a row, the joints simulators have: a product of exponentials ---
#
# X(q) = X(0) exp(S_1 q_1) exp(S_2 q_2) ...          S_k a turn about, or a slide along, an axis in the child frame
#
# A chain of joints with placements between is one, too: every axis is carried to the child frame at q = 0.
#
# Source: Brockett (1984), robotic manipulators and the product of exponentials formula; Lynch and Park, Modern Robotics
# (2017), section 4.1.2.

Kind = Literal["hinge", "slide", "ball", "free"]
ORIGIN = Vector3.zero()
X, Y, Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Step:
    """One of the joints in the row, in the child frame at q = 0."""

    kind: Kind
    axis: Vector3 = Z  # of a hinge or slide
    point: Vector3 = ORIGIN  # where a hinge or ball is [m]

    def seen_from(self, X_ab: SE3) -> Step:
        """Return the step in the axes of a frame a, being given in those of b."""
        return Step(self.kind, X_ab.rotation @ self.axis, X_ab @ self.point)


@dataclass(frozen=True, slots=True)
class Chain:
    """A joint as steps in a row, from the parent to the child."""

    rest: SE3  # X(0), the child frame in the parent frame where all coordinates are 0
    steps: tuple[Step, ...]


def _row(kind: Kind, *axes: Vector3) -> tuple[Step, ...]:
    return tuple(Step(kind, axis) for axis in axes)


ROWS: dict[type[J.Joint], Callable[[Any], tuple[Step, ...]]] = {
    J.Spherical: lambda joint: (Step("ball"),),
    J.FreeFlyer: lambda joint: (Step("free"),),
    J.FloatingMRP: lambda joint: (Step("free"),),
    J.SphericalZYX: lambda joint: _row("hinge", Z, Y, X),
    J.Translation: lambda joint: _row("slide", X, Y, Z),
    J.Cylindrical: lambda joint: _row("slide", joint.axis) + _row("hinge", joint.axis),
    J.Planar: lambda joint: _row("slide", X, Y) + _row("hinge", Z),
    J.PlanarAngle: lambda joint: _row("slide", joint.x_axis, joint.y_axis) + _row("hinge", joint.normal),
}
"""Joints whose row is not found by itself: hinges, slides and chains are."""


def chain_of(joint: J.Joint) -> Chain | None:
    """Return a joint as steps in a row; None if it is no such row. A mimic joint is what it is made of."""
    joint = kind_within(joint)
    if joint.nv == 0:
        return Chain(joint.transform(()), ())
    if type(joint) in ROWS:
        return Chain(SE3.identity(), ROWS[type(joint)](joint))
    return _in_a_row(joint.links) if isinstance(joint, ChainJoint) else _one_step(joint)


def _one_step(joint: J.Joint) -> Chain | None:
    """Return a hinge or slide, whoever wrote it; its coordinate may be a point on the circle."""
    found = hinge_of(joint) or turn_of(joint)
    if found is None or (isinstance(found.joint, J.Helical) and found.joint.pitch != 0.0):
        return None
    kind: Kind = "slide" if isinstance(found.joint, J.Prismatic) else "hinge"
    return Chain(found.before @ found.after, (Step(kind, found.joint.axis).seen_from(found.after.inverse()),))


def _in_a_row(links: Sequence[tuple[Any, SE3 | None]]) -> Chain | None:
    """Return a chain of joints as one row, its steps seen from the last child frame."""
    rest, rows = SE3.identity(), []
    for joint, placement in links:
        chain = chain_of(joint)
        if chain is None:
            return None
        rest = (rest if placement is None else rest @ placement) @ chain.rest
        rows.append((rest, chain.steps))
    end = rest.inverse()
    return Chain(rest, tuple(step.seen_from(end @ X) for X, steps in rows for step in steps))


LIBRARY = "MuJoCo"
PASSIVE = ("armature", "damping", "friction")


def add_joints(mj: Any, body: Any, c: Connection, chain: Chain) -> list[str]:
    """Add a joint to its child body and return the names of its steps, which MuJoCo's joints are."""
    names = step_names(c.name, len(chain.steps))
    for k, (name, step) in enumerate(zip(names, chain.steps, strict=True)):
        step = step.seen_from(c.child_pose)
        joint = body.add_joint(name=name, type=getattr(mj.mjtJoint, f"mjJNT_{step.kind.upper()}"))
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
    armature, damping, friction = (getattr(c, name)[k] for name in PASSIVE)
    joint.armature, joint.damping[0], joint.frictionloss = armature, damping, friction
    if c.spring_stiffness[k]:
        # A spring there would not be the one here: along axes of its own, or where angles begin anew.
        kind = kind_within(c.joint)
        if (is_planar(c) and step.kind == "slide") or kind.manifold.nq != kind.manifold.nv:
            what = f"the spring of joint {c.name!r}, a {type(kind).__name__}"
            raise UnsupportedError(what, LIBRARY, "give springs to joints whose coordinates are angles and lengths")
        joint.stiffness[0], joint.springref = c.spring_stiffness[k], c.spring_rest[k]
    if c.joint.primaries:  # limits are those of what it copies
        return
    limits: Any = c.limits
    lower, upper, least, most = (e[k] for e in (limits.lower, limits.upper, limits.effort_lower, limits.effort))
    if math.isfinite(lower) or math.isfinite(upper):
        joint.limited, joint.range = mj.mjtLimited.mjLIMITED_TRUE, bounds(lower, upper)
    if math.isfinite(least) or math.isfinite(most):
        joint.actfrclimited, joint.actfrcrange = mj.mjtLimited.mjLIMITED_TRUE, bounds(least, most)


def bounds(lower: float, upper: float) -> list[float]:
    """Return bounds that MuJoCo accepts: finite, the lower below the upper, if only by a rounding error."""
    lower, upper = max(lower, -FAR), min(upper, FAR)
    return [lower, upper if upper > lower else math.nextafter(lower, math.inf)]


def meant(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds for which `bounds` says these."""
    upper = lower if upper == math.nextafter(lower, math.inf) else upper
    return (-math.inf if lower <= -FAR else lower), (math.inf if upper >= FAR else upper)


FAR = 1e10  # stands for an infinite bound beside a finite one


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
        instead = "springs of balls alone, at rest in the neutral orientation, are the same"
        raise UnsupportedError(what, LIBRARY, instead)
    joint.stiffness[0] = stiffness
    joint.armature, joint.damping[0], joint.frictionloss = armature, damping, friction


def _one_of(c: Connection, name: str) -> float:
    values = getattr(c, name)
    if len(set(values)) > 1:
        what = f"{name} {values} of joint {c.name!r}, which is not the same about all axes"
        raise UnsupportedError(what, LIBRARY, "give all axes the same")
    return values[0]


def _check_planar(c: Connection) -> None:
    """Raise where something along a planar joint's own axes is not the same along those of its parent."""
    limits: Any = c.limits
    slides = {name: getattr(c, name)[:2] for name in PASSIVE}
    effort = (*limits.effort[:2], *limits.effort_lower[:2])
    if any((*slides["armature"], *slides["friction"])) or any(map(math.isfinite, effort)):
        what = f"armature, friction or an effort limit along the plane of joint {c.name!r}"
        raise UnsupportedError(what, LIBRARY, "take it off, or make the joint two slides and a hinge")
    if len(set(slides["damping"])) > 1:
        what = f"damping {slides['damping']} along the plane of joint {c.name!r}"
        raise UnsupportedError(what, LIBRARY, "give both directions the same")


def is_planar(c: Connection) -> bool:
    """Return whether a joint's velocities are along its own axes, and those of its two slides along its parent's."""
    return isinstance(c.joint, (J.Planar, J.PlanarAngle))


def placed(X: SE3) -> dict[str, list[float]]:
    """Return a pose as MuJoCo's `pos` and `quat`, (w, x, y, z)."""
    x, y, z, w = quaternion_xyzw_from_matrix(X.rotation)
    return {"pos": list(X.translation), "quat": [w, x, y, z]}


# --- mimic joints and loops: MuJoCo's equality constraints, as stiff as it lets them be ---
#
# A ball joint is one point held (`connect`), a hinge two points of its axis, a fixed joint a `weld`. MuJoCo's
# constraints are springs and dampers with a time constant of at least two steps, in parallel with (1 - d)/d of the mass
# they feel, d <= 0.9999: gaps and errors of accelerations are of that order.
#
# Source: MuJoCo documentation, "Computation: constraint model"; "Modeling: solver parameters".

TIME_CONSTANT = 1e-3  # of an equality [s]; MuJoCo raises it to two steps
STIFFEST = [0.9999, 0.9999, 0.001, 0.5, 2.0]
"""Impedances d at and away from 0, how far away, and the curve between: the largest MuJoCo has."""

ARM = 0.1  # half the distance of the two points of a hinge's axis [m], where the child has no size of its own


def add_polynomial(mj: Any, spec: Any, joint: str, other: str, coefficients: Sequence[float]) -> None:
    """Hold one coordinate at a polynomial, constant first, of another."""
    equality = _equality(mj, spec, f"{joint}:follows", mj.mjtEq.mjEQ_JOINT, mj.mjtObj.mjOBJ_JOINT, joint, other)
    equality.data[:5] = [*coefficients, *(0.0,) * (5 - len(coefficients))]


def add_sum(mj: Any, spec: Any, joint: str, others: Sequence[str], function: J.Linear) -> None:
    """Hold one coordinate at a sum of others: the length of a tendon, which is 0 in the neutral configuration."""
    tendon = spec.add_tendon(name=f"{joint}:sum")
    for name, coef in zip((joint, *others), (1.0, *(-e for e in function.slopes)), strict=True):
        tendon.wrap_joint(name, coef)
    kinds = mj.mjtEq.mjEQ_TENDON, mj.mjtObj.mjOBJ_TENDON
    _equality(mj, spec, f"{joint}:follows", *kinds, tendon.name, "").data[:5] = [function.offset, 0.0, 0.0, 0.0, 0.0]


def add_loop(mj: Any, spec: Any, bodies: dict[str, Any], model: Model, c: Connection) -> None:
    """Close a loop; `UnsupportedError` for a joint of which MuJoCo has no constraint."""
    if c.joint.nv and kind_of(c.joint) not in (J.Spherical, J.Revolute, J.UnboundedRevolute):
        what = f"the loop that joint {c.name!r} closes, a {type(c.joint).__name__}"
        raise UnsupportedError(what, LIBRARY, "let a hinge, ball or fixed joint of the loop close it: add that last")
    kind = mj.mjtEq.mjEQ_WELD if c.joint.nv == 0 else mj.mjtEq.mjEQ_CONNECT
    hinge = (hinge_of(c.joint) or turn_of(c.joint)) if c.joint.nv else None
    if hinge is None:
        held = {"": (c.joint.transform(()) if c.joint.nv == 0 else SE3.identity(), SE3.identity())}
    else:
        points = [SE3(translation=hinge.joint.axis * side) for side in (-_arm(model, c), _arm(model, c))]
        held = {f":{k}": (hinge.before @ X, hinge.after.inverse() @ X) for k, X in enumerate(points)}
    for end, places in held.items():
        ends = _sites(c, bodies, end, *places)
        _equality(mj, spec, f"{c.name}{end}", kind, mj.mjtObj.mjOBJ_SITE, *ends)


def _equality(mj: Any, spec: Any, name: str, kind: Any, of: Any, name1: str, name2: str) -> Any:
    equality = spec.add_equality(name=name, type=kind, objtype=of, name1=name1, name2=name2)
    equality.solref, equality.solimp = [TIME_CONSTANT, 1.0], STIFFEST
    return equality


def _sites(c: Connection, bodies: dict[str, Any], end: str, at_parent: SE3, at_child: SE3) -> tuple[str, str]:
    """Mark where a joint's frames are in its bodies, and return the names of the marks."""
    names = f"{c.name}{end}:parent", f"{c.name}{end}:child"
    bodies[c.parent].add_site(name=names[0], **placed(c.parent_pose @ at_parent))
    bodies[c.child].add_site(name=names[1], **placed(c.child_pose @ at_child))
    return names


def _arm(model: Model, c: Connection) -> float:
    """Return half the distance of the two points of a hinge: the child's radius of gyration."""
    node = model.attachments[c.child].node
    inertia = model.nodes[node].inertia if node >= 0 else None
    if inertia is None or inertia.mass <= 0.0:
        return ARM
    J_c = inertia.inertia_at_com
    return math.sqrt(max(J_c[0] + J_c[3] + J_c[5], 0.0) / (2.0 * inertia.mass)) or ARM
