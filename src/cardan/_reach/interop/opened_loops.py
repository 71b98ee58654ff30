"""Loops cut through a body instead of a joint, for libraries that close loops by balls, hinges and welds alone.

The joint that closed the loop moves a *half* of its child, which has half of the inertia, and the halves are welded:

    a --joint-- b          a --joint-- b/2 = weld = b/2

Two halves held together are the body: nothing is approximated, and no light body is added that would spoil the numbers.
A half that is welded to what does not move, does not: its inertia makes no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from cardan._algebra.spatial import Inertia
from cardan._robot.joints import Fixed
from cardan._robot.model import Annotations, Body, Connection, Model

UNMOVED = Inertia(1.0, (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
"""Of a half that cannot move; any would do."""


def half_of(joint: str) -> str:
    """Return the name of the body a cut joint moves."""
    return f"{joint}:half"


def opened(model: Model, can_close: Callable[[Connection], bool]) -> Model:
    """Return a model of the same motions whose loops are closed only by joints that can close them.

    Closing joints that cannot are in its tree, after the others and by their names; each moves the body
    `half_of(name)`, which the weld `"<name>:weld"` holds on the joint's own child.

    Args:
        model: the model.
        can_close: whether a joint may close a loop.
    """
    cut = [c for c in model.closures if not can_close(c)]
    if not cut:
        return model
    halves = _halves(model, cut)
    taken: dict[str, list[Inertia]] = {}
    for c in cut:
        taken.setdefault(c.child, []).append(c.child_pose @ halves[c.name])
    bodies = tuple(replace(b, inertia=_without(b.inertia, taken.get(b.name, []))) for b in model.bodies)
    return replace(
        model,
        bodies=bodies + tuple(Body(half_of(name), inertia) for name, inertia in halves.items()),
        connections=model.connections + tuple(_to_half(c) for c in cut),
        closures=tuple(c for c in model.closures if can_close(c)) + tuple(_weld(c) for c in cut),
    )


def closed_again(model: Model, can_close: Callable[[Connection], bool]) -> Model:
    """Return the model with the bodies of `opened`, each half held by a fixed joint: it has the model's own q and v."""
    cut = [c for c in model.closures if not can_close(c)]
    return replace(
        model,
        bodies=model.bodies + tuple(Body(half_of(c.name)) for c in cut),
        connections=model.connections + tuple(_weld(c) for c in cut),
        closures=(),
        annotations=Annotations(),
    )


def _halves(model: Model, cut: list[Connection]) -> dict[str, Inertia]:
    """Return what each half has, in the joint's child frame: equal shares of all that moves with the child."""
    nodes = {c.name: model.attachments[c.child].node for c in cut}
    shares = Counter(nodes.values())
    found = {}
    for c in cut:
        node = nodes[c.name]
        if node < 0:
            found[c.name] = UNMOVED
            continue
        X = (model.attachments[c.child].pose @ c.child_pose).inverse()
        share = 1.0 / (1 + shares[node])
        found[c.name] = Inertia.from_parameters([share * e for e in (X @ model.nodes[node].inertia).parameters()])
    return found


def _without(inertia: Inertia | None, parts: list[Inertia]) -> Inertia | None:
    """Return what is left of a body; together with what is fixed to it, that is no less than nothing."""
    for part in parts:
        rest = [a - b for a, b in zip((inertia or Inertia.zero()).parameters(), part.parameters(), strict=True)]
        inertia = Inertia.from_parameters(rest)
    return inertia


def _to_half(c: Connection) -> Connection:
    """Return the joint in the tree; as where it closes the loop, nothing resists or limits it."""
    return Connection(c.name, c.joint, c.parent, half_of(c.name), c.parent_pose)


def _weld(c: Connection) -> Connection:
    return Connection(f"{c.name}:weld", Fixed(), c.child, half_of(c.name), c.child_pose)
