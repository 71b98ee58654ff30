"""`cardan info FILE`: layout, masses and tree of a robot."""

from __future__ import annotations

import argparse
from typing import Any

from cardan.cli.options import add_json, add_robot, harmless, load_robot, print_json, read_file, say, table
from cardan.description.text import graphviz_text
from cardan.joints import Mimic
from cardan.model import WORLD, Model


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("info", help="layout, masses and tree of a robot")
    add_robot(parser)
    add_json(parser)
    parser.add_argument("--graph", action="store_true", help="print bodies and joints as a graph for Graphviz (dot)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what there is to know about a robot."""
    if args.graph:
        print(harmless(graph(args)), end="")
        return 0
    model = load_robot(args)
    if args.json:
        print_json(described(model))
    else:
        say(f"{model}\n\n{masses(model)}\n\n{tree(model)}")
    return 0


def graph(args: argparse.Namespace) -> str:
    """Return the robot as a graph in Graphviz's language: what it is described by, before a base is chosen."""
    thing = read_file(args)
    if isinstance(thing, Model):
        return graphviz_text(thing.name, thing.bodies, (*thing.connections, *thing.closures), thing.frames)
    return thing.graphviz()


def described(model: Model) -> dict[str, Any]:
    """Return the robot as plain data; this layout is stable."""
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": model.mass,
        "gravity": tuple(model.gravity),
        "joints": [_joint(model, c) for c in model.connections],
        "closures": [
            {"name": c.name, "type": type(c.joint).__name__, "parent": c.parent, "child": c.child}
            for c in model.closures
        ],
        "bodies": [_body(b) for b in model.bodies],
        "frames": [{"name": f.name, "body": f.body} for f in model.frames],
    }


def _joint(model: Model, c: Any) -> dict[str, Any]:
    iq, iv = model.slices[c.name]
    names = ("lower", "upper", "velocity", "effort", "velocity_lower", "effort_lower")
    mimic = None
    if isinstance(c.joint, Mimic):
        mimic = {"primary": c.joint.primary, "multiplier": c.joint.multiplier, "offset": c.joint.offset}
    return {
        "name": c.name,
        "type": type(c.joint.joint if isinstance(c.joint, Mimic) else c.joint).__name__,
        "parent": c.parent,
        "child": c.child,
        "q": [iq.start, iq.stop],
        "v": [iv.start, iv.stop],
        "mimic": mimic,
        "limits": {name: getattr(c.limits, name) for name in names},
        "damping": c.damping,
        "friction": c.friction,
        "armature": c.armature,
    }


def _body(body: Any) -> dict[str, Any]:
    if body.inertia is None:
        return {"name": body.name, "mass": 0.0, "com": None, "inertia_at_com": None}
    inertia = [tuple(row) for row in body.inertia.inertia_at_com.matrix().rows()]
    return {
        "name": body.name,
        "mass": body.inertia.mass,
        "com": tuple(body.inertia.com),
        "inertia_at_com": inertia,
    }


def masses(model: Model) -> str:
    """Return the bodies with mass and centre of mass as a table."""
    rows = []
    for body in model.bodies:
        inertia = body.inertia
        shown = ("-", "-") if inertia is None else (f"{inertia.mass:.6g}", _vector(inertia.com))
        rows.append((body.name, *shown, str(model.attachments[body.name].node)))
    return table(("body", "mass [kg]", "centre of mass [m]", "rides on joint"), [_named(model, row) for row in rows])


def _named(model: Model, row: tuple[str, ...]) -> tuple[str, ...]:
    node = int(row[-1])
    return (*row[:-1], model.nodes[node].name if node >= 0 else WORLD)


def _vector(v: Any) -> str:
    return "(" + ", ".join(f"{e:.4g}" for e in v) + ")"


def tree(model: Model) -> str:
    """Return the tree of bodies, each with the joint it hangs on."""
    children: dict[str, list[Any]] = {}
    for c in model.connections:
        children.setdefault(c.parent, []).append(c)
    lines, stack = [WORLD], [(c, 1) for c in reversed(children.get(WORLD, []))]
    while stack:
        c, depth = stack.pop()
        kind = type(c.joint).__name__.lower()
        lines.append(f"{'  ' * depth}{c.child}  [{c.name}: {kind}]")
        stack += [(k, depth + 1) for k in reversed(children.get(c.child, []))]
    return "\n".join(lines)
