"""A mechanism as text: a tree to read, and a graph for Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from cardan._algebra.errors import visible
from cardan._robot.description.paths import Graph
from cardan._robot.model import WORLD, Body, Connection, Frame
from cardan._robot.model.table import closing_text, kind_of


def tree_text(name: str, bodies: Sequence[Body], joints: Sequence[Connection], frames: Sequence[Frame]) -> str:
    """Return the bodies as a tree of joints, part by part; joints that close loops at the end."""
    graph = Graph([b.name for b in bodies], joints, frames)
    mass = sum(b.inertia.mass for b in bodies if b.inertia is not None)
    lines = [f"{visible(name)}: {len(bodies)} bodies, {mass:.6g} kg, {len(joints)} joints, {len(frames)} frames"]
    children = {c.child for c in graph.tree.values()}
    seen: set[str] = set()
    for base in (WORLD, *[b.name for b in bodies if b.name not in children], *[b.name for b in bodies]):
        if base in seen or (base == WORLD and not graph.next_to[WORLD]):
            continue
        below: dict[str | None, list[tuple[str, str]]] = {}
        for visit in graph.traversal(base):
            seen.add(visit.body)
            if visit.parent is not None and visit.joint is not None:
                below.setdefault(visit.parent, []).append((visit.body, visit.joint))
        lines.append(visible(base))
        lines += _branches(graph, base, below, "")
    lines += [closing_text(c, kind_of(c.joint)) for c in graph.closures]
    return "\n".join(lines)


def _branches(graph: Graph, body: str, below: dict[str | None, list[tuple[str, str]]], indent: str) -> list[str]:
    lines, rest = [], list(below.get(body, ()))
    stack = [(rest, indent)]
    while stack:
        rest, indent = stack[-1]
        if not rest:
            stack.pop()
            continue
        child, joint = rest.pop(0)
        c = graph.tree[joint]
        arrow = "" if c.child == child else " (reversed)"
        last = not rest
        lines.append(f"{indent}{'└─' if last else '├─'}[{visible(joint)}: {kind_of(c.joint)}{arrow}]─ {visible(child)}")
        stack.append((list(below.get(child, ())), indent + ("   " if last else "│  ")))
    return lines


def graphviz_text(name: str, bodies: Sequence[Body], joints: Sequence[Connection], frames: Sequence[Frame]) -> str:
    """Return the mechanism as a graph in the DOT language: bodies, joints from parent to child, loops dashed."""
    graph = Graph([b.name for b in bodies], joints, frames)
    closing = {c.name for c in graph.closures}
    font = 'fontname="Helvetica"'
    lines = [f"digraph {_quoted(name)} {{", f"  node [shape=box, {font}];", f"  edge [{font}];"]
    if graph.next_to[WORLD] or any(WORLD in (c.parent, c.child) for c in joints):
        lines.append(f"  {_quoted(WORLD)} [shape=plaintext];")
    for b in bodies:
        mass = "massless" if b.inertia is None else f"{b.inertia.mass:.4g} kg"
        lines.append(f"  {_quoted(b.name)} [label={_quoted(b.name, mass)}];")
    for f in frames:
        lines.append(f"  {_quoted(f.name)} [shape=ellipse, style=dotted];")
        lines.append(f"  {_quoted(f.body)} -> {_quoted(f.name)} [style=dotted, arrowhead=none];")
    for c in joints:
        style = ", style=dashed, constraint=false" if c.name in closing else ""
        label = _quoted(c.name, kind_of(c.joint))
        lines.append(f"  {_quoted(c.parent)} -> {_quoted(c.child)} [label={label}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(*lines: str) -> str:
    """Return lines as one string of DOT."""
    return '"' + "\\n".join(visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
