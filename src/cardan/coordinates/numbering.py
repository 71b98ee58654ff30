"""In which order a library numbers the joints of one tree. Fixed joints are passed through."""

from __future__ import annotations

from cardan.model import WORLD, Connection, Model


def document(model: Model) -> list[str]:
    """Return the joints as the model has them: a floating base, then document order."""
    return [c.name for c in model.connections]


def depth_first(model: Model, by_name: bool = False) -> list[str]:
    """Return each joint before its children, branch after branch, siblings in document order, or sorted by name."""
    children = _children(model, by_name)
    found, stack = [], children[WORLD][::-1]
    while stack:
        c = stack.pop()
        found.append(c.name)
        stack += children[c.child][::-1]
    return found


def breadth_first(model: Model) -> list[str]:
    """Return the joints level by level, those of one level in the order of their parents, then document order."""
    children, level, found = _children(model), [WORLD], []
    while level:
        joints = [c for body in level for c in children[body]]
        found += [c.name for c in joints]
        level = [c.child for c in joints]
    return found


def _children(model: Model, by_name: bool = False) -> dict[str, list[Connection]]:
    children: dict[str, list[Connection]] = {body: [] for body in (WORLD, *model.body_names)}
    for c in sorted(model.connections, key=lambda c: c.name) if by_name else model.connections:
        children[c.parent].append(c)
    return children
