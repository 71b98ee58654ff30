"""Mimic joints and loops as MuJoCo's equality constraints, as stiff as it lets them be.

A ball joint is one point held (`connect`), a hinge two points of its axis, a fixed joint a `weld`; `opened` leaves no
others. MuJoCo's constraints are springs and dampers with a time constant of at least two steps, in parallel with
(1 - d)/d of the mass they feel, d <= 0.9999: gaps and errors of accelerations are of that order.

Source: MuJoCo documentation, "Computation: constraint model"; "Modeling: solver parameters".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cardan._algebra.spatial import SE3
from cardan._dynamics.coordinates.recognised import kind_of, turn_of
from cardan._reach.interop.emulated import Rope
from cardan._reach.interop.mujoco_joints import bounds, placed
from cardan._robot import joints as J
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import Connection, Model

TIME_CONSTANT = 1e-3
"""Of an equality [s]; MuJoCo raises it to two steps."""

STIFFEST = [0.9999, 0.9999, 0.001, 0.5, 2.0]
"""Impedances d at and away from 0, how far away, and the curve between: the largest MuJoCo has."""

ARM = 0.1
"""Half the distance of the two points of a hinge's axis [m], where the child has no size of its own."""


def can_close(c: Connection) -> bool:
    """Return whether a joint that closes a loop is one of MuJoCo's constraints."""
    return c.joint.nv == 0 or kind_of(c.joint) in (J.Spherical, J.Revolute, J.UnboundedRevolute)


def add_mimic(mj: Any, spec: Any, mimic: J.Mimic, names: Sequence[str], primary: Sequence[str]) -> None:
    """Hold the coordinates of a mimic joint at those of what it copies."""
    for own, other in zip(names, primary, strict=True):
        add_polynomial(mj, spec, own, other, (mimic.offset, mimic.multiplier))


def add_polynomial(mj: Any, spec: Any, joint: str, other: str, coefficients: Sequence[float]) -> None:
    """Hold one coordinate at a polynomial, constant first, of another."""
    equality = _equality(mj, spec, f"{joint}:follows", mj.mjtEq.mjEQ_JOINT, mj.mjtObj.mjOBJ_JOINT, joint, other)
    equality.data[:5] = [*coefficients, *(0.0,) * (5 - len(coefficients))]


def add_loop(mj: Any, spec: Any, bodies: dict[str, Any], model: Model, c: Connection) -> None:
    """Hold together what a joint closes a loop with."""
    if c.joint.nv == 0:
        ends = _sites(c, bodies, "", c.joint.transform(()), SE3.identity())
        _equality(mj, spec, c.name, mj.mjtEq.mjEQ_WELD, mj.mjtObj.mjOBJ_SITE, *ends)
        return
    hinge = hinge_of(c.joint) or turn_of(c.joint)
    if hinge is None:
        _connect(mj, spec, c.name, _sites(c, bodies, "", SE3.identity(), SE3.identity()))
        return
    for k, side in enumerate((-_arm(model, c), _arm(model, c))):
        point = SE3(translation=hinge.joint.axis * side)
        ends = _sites(c, bodies, f":{k}", hinge.before @ point, hinge.after.inverse() @ point)
        _connect(mj, spec, f"{c.name}:{k}", ends)


def _connect(mj: Any, spec: Any, name: str, ends: tuple[str, str]) -> None:
    _equality(mj, spec, name, mj.mjtEq.mjEQ_CONNECT, mj.mjtObj.mjOBJ_SITE, *ends)


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


def add_rope(mj: Any, spec: Any, bodies: dict[str, Any], rope: Rope) -> None:
    """Bound the distance of two points by a tendon."""
    tendon = spec.add_tendon(name=rope.name, limited=mj.mjtLimited.mjLIMITED_TRUE, range=bounds(*rope.bounds))
    tendon.solref_limit, tendon.solimp_limit = [TIME_CONSTANT, 1.0], STIFFEST
    for end, (body, X) in zip(("parent", "child"), rope.ends, strict=True):
        bodies[body].add_site(name=f"{rope.name}:{end}", **placed(X))
        tendon.wrap_site(f"{rope.name}:{end}")
