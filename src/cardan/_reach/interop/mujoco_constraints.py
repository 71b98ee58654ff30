"""Mimic joints and loops as MuJoCo's equality constraints, as stiff as it lets them be.

A ball joint is one point held (`connect`), a hinge two points of its axis, a fixed joint a `weld`. MuJoCo's constraints
are springs and dampers with a time constant of at least two steps, in parallel with (1 - d)/d of the mass they feel,
d <= 0.9999: gaps and errors of accelerations are of that order.

Source: MuJoCo documentation, "Computation: constraint model"; "Modeling: solver parameters".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.spatial import SE3
from cardan._dynamics.coordinates.peer_converter import kind_of, turn_of
from cardan._reach.interop.mujoco_joints import placed
from cardan._robot import joints as J
from cardan._robot.joints.recognise import hinge_of
from cardan._robot.model import Connection, Model

TIME_CONSTANT = 1e-3  # of an equality [s]; MuJoCo raises it to two steps
STIFFEST = [0.9999, 0.9999, 0.001, 0.5, 2.0]
"""Impedances d at and away from 0, how far away, and the curve between: the largest MuJoCo has."""

ARM = 0.1  # half the distance of the two points of a hinge's axis [m], where the child has no size of its own


def add_polynomial(mj: Any, spec: Any, joint: str, other: str, coefficients: Sequence[float]) -> None:
    """Hold one coordinate at a polynomial, constant first, of another."""
    equality = _equality(mj, spec, f"{joint}:follows", mj.mjtEq.mjEQ_JOINT, mj.mjtObj.mjOBJ_JOINT, joint, other)
    equality.data[:5] = [*coefficients, *(0.0,) * (5 - len(coefficients))]


def add_loop(mj: Any, spec: Any, bodies: dict[str, Any], model: Model, c: Connection) -> None:
    """Close a loop; `UnsupportedError` for a joint of which MuJoCo has no constraint."""
    if c.joint.nv and kind_of(c.joint) not in (J.Spherical, J.Revolute, J.UnboundedRevolute):
        what = f"the loop that joint {c.name!r} closes, a {type(c.joint).__name__}"
        raise UnsupportedError(what, "MuJoCo", "let a hinge, ball or fixed joint of the loop close it: add that last")
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
