"""In which order a library numbers the joints of one tree. Fixed joints are passed through."""

from __future__ import annotations

from collections.abc import Iterator

from cardan._robot.model import WORLD, Connection, Model


def document(model: Model) -> list[str]:
    """Return the joints as the model has them: a floating base, then document order."""
    return [c.name for c in model.connections]


def depth_first(model: Model, by_name: bool = False) -> list[str]:
    """Return each joint before its children, branch after branch, siblings in document order, or sorted by name."""
    return [c.name for c, _ in walk(model, by_name)]


def walk(model: Model, by_name: bool = False) -> Iterator[tuple[Connection, int]]:
    """Yield the joints depth first, each with the number of those between it and the world."""
    children = _children(model, by_name)
    stack = [(c, 0) for c in reversed(children[WORLD])]
    while stack:
        c, depth = stack.pop()
        yield c, depth
        stack += [(child, depth + 1) for child in reversed(children[c.child])]


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
