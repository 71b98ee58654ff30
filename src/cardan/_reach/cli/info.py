"""`cardan info FILE`: layout, masses and tree of a robot."""

from __future__ import annotations

import argparse
from typing import Any

from cardan._algebra.errors import AssemblyError
from cardan._dynamics.algorithms.dependent import dependence
from cardan._dynamics.algorithms.loops import loop_residual
from cardan._dynamics.coordinates.conventions import walk
from cardan._dynamics.functions.assembly import assemble, loop_rank
from cardan._reach.cli.options import ROBOT, add, load_robot, table, tell
from cardan._robot.joints import Mimic
from cardan._robot.model import WORLD, Model
from cardan._robot.model.layout import PASSIVE


def fill(parser: argparse.ArgumentParser) -> None:
    add(parser, *ROBOT, "--json")


def run(args: argparse.Namespace) -> int:
    model = load_robot(args)
    data, found = described(model), closed(model)
    parts = [str(model), *([found["text"]] if found else []), masses(model), tree(model)]
    tell(args, data | ({"loops": found} if found else {}), "\n\n".join(parts))
    return 0


def described(model: Model) -> dict[str, Any]:
    """Return the robot as plain data; this layout is stable."""
    closures = [(c.name, type(c.joint).__name__, c.parent, c.child) for c in model.closures]
    return {
        **{key: getattr(model, key) for key in ("name", "nq", "nv", "mass")},
        "gravity": tuple(model.gravity),
        "joints": [_joint(model, c) for c in model.connections],
        "closures": [dict(zip(("name", "type", "parent", "child"), c, strict=True)) for c in closures],
        "bodies": [_body(b) for b in model.bodies],
        "frames": [{"name": f.name, "body": f.body} for f in model.frames],
    }


def _joint(model: Model, c: Any) -> dict[str, Any]:
    iq, iv = model.slices[c.name]
    bounds = ("lower", "upper", "velocity", "effort", "velocity_lower", "effort_lower")
    return {
        "name": c.name,
        "type": type(c.joint.joint if c.joint.primaries else c.joint).__name__,
        "parent": c.parent,
        "child": c.child,
        "q": [iq.start, iq.stop],
        "v": [iv.start, iv.stop],
        "mimic": _following(c.joint),
        "limits": {name: getattr(c.limits, name) for name in bounds},
        **{key: getattr(c, key) for key in PASSIVE},
    }


def _following(joint: Any) -> dict[str, Any] | None:
    """Return how a joint follows others; None for one with coordinates of its own."""
    if isinstance(joint, Mimic):
        return {key: getattr(joint, key) for key in ("primary", "multiplier", "offset")}
    return {"by": joint.by, "function": repr(joint.function)} if joint.primaries else None


def _body(body: Any) -> dict[str, Any]:
    mass, com, inertia = 0.0, None, None
    if body.inertia is not None:
        mass, com, inertia = body.inertia.mass, body.inertia.com, body.inertia.inertia_at_com.matrix().rows()
    return {"name": body.name, "mass": mass, "com": com, "inertia_at_com": inertia}


def closed(model: Model) -> dict[str, Any] | None:
    """Return how the loops of a robot move, at a closed configuration; None without loops."""
    if not model.has_loops:
        return None
    try:
        q = assemble(model)
    except AssemblyError as error:
        return {"text": f"loops: {error}"}
    rows, rank = len(loop_residual(model, q)), int(loop_rank(model, q))
    found = {"constraints": rows, "independent": rank, "mobility": model.nv - rank}
    following = {j for block in dependence(model) for j in block.columns}
    names = [n for n in model.joint_names if following.intersection(range(model.nv)[model.slices[n][1]])]
    how = f"{', '.join(names)} follow" if names else "no coordinates follow from others: by proximal steps"
    text = f"loops: {rows} constraints, {rank} independent, {model.nv - rank} of {model.nv} freedoms left; {how}"
    return {**found, "following": names, "text": text}


def masses(model: Model) -> str:
    rows = []
    for body in model.bodies:
        node = model.attachments[body.name].node
        shown = ("-", "-")
        if body.inertia is not None:
            shown = f"{body.inertia.mass:.6g}", f"({', '.join(f'{e:.4g}' for e in body.inertia.com)})"
        rows.append((body.name, *shown, model.nodes[node].name if node >= 0 else WORLD))
    return table(("body", "mass [kg]", "centre of mass [m]", "rides on joint"), rows)


def tree(model: Model) -> str:
    joints = ((c, f"[{c.name}: {type(c.joint).__name__.lower()}]", depth) for c, depth in walk(model))
    return "\n".join([WORLD, *(f"{'  ' * (depth + 1)}{c.child}  {joint}" for c, joint, depth in joints)])
