"""Bodies of closed loops that move while all others stand still: a rod between two balls turns about itself.

    (1)  K v = 0,      J_b v = 0 of all bodies b outside B,      J_b v the same of all within

B is one body that joints of the loops hold, or two between two such joints that move as one (a cylinder and its
piston). Such a freedom is inner if (1) has solutions in every configuration that is looked at. No drive of the others
determines it.

Cost: two singular value decompositions for each B and configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cardan._algebra.errors import first_of
from cardan._dynamics.algorithms.dependent import DEPENDENT, in_unit, lengths, unit_of_length
from cardan._dynamics.algorithms.jacobians import jacobian
from cardan._dynamics.algorithms.loops import constraints
from cardan._robot.model import Model


def inner_freedoms(part: Model, places: Sequence[Sequence[float]]) -> dict[tuple[str, ...], int]:
    """Return the number of inner freedoms (1) of bodies of a cluster's part, at closed configurations."""
    body_of = {node.index: next(c.child for c in part.connections if c.name == node.name) for node in part.nodes}
    motions = [_motions(part, q, tuple(body_of[node.index] for node in part.nodes)) for q in places]
    found: dict[tuple[int, ...], int] = {}
    for own in _held(part):
        if not any(set(other) < set(own) for other in found):
            count = min(_inner(J, own) for J in motions)
            found |= {own: count} if count else {}
    return {tuple(body_of[i] for i in own): count for own, count in found.items()}


def told_of_inner(part: Model, places: Sequence[Sequence[float]]) -> str:
    """Return in words which bodies have inner freedoms, and how to take these away; empty if none has."""
    found = inner_freedoms(part, places)
    if not found:
        return ""
    names = first_of([" with ".join(map(repr, bodies)) for bodies in found])
    return (
        f" Inner freedoms: {sum(found.values())}, of {names}, which can move while all other bodies stand still. "
        "A Universal joint in place of a ball at one end of a rod takes one away."
    )


def _held(part: Model) -> Iterator[tuple[int, ...]]:
    """Yield each B, by its nodes, but not all that move at all: those that two joints hold, and pairs of these."""
    ends = [(node.parent, node.index) for node in part.nodes]
    ends += [(part.attachment(c.parent).node, part.attachment(c.child).node) for c in part.closures]
    joints = {node.index: sum(node.index in pair for pair in ends) for node in part.nodes}
    single = [(i,) for i, count in joints.items() if count > 1]
    pairs = [pair for pair in ends if all(joints.get(i) == 2 for i in pair)]
    return (own for own in (*single, *pairs) if len(own) < len(joints))


def _motions(part: Model, q: Sequence[float], bodies: tuple[str, ...]) -> np.ndarray:
    """Return the twists of every body in the world, shape (bodies, 6, m), in units, along the m motions K v = 0."""
    J = np.array(jacobian.kernel(part, q, bodies, at="world"), dtype=float)
    J[:, :3] /= unit_of_length(part)
    K = np.array(in_unit(part, constraints(part, q))[0], dtype=float)
    return J * np.array(lengths(part)) @ _null(K)


def _inner(J: np.ndarray, own: Iterable[int]) -> int:
    first, *others = own
    rows = np.concatenate([np.delete(J, [first, *others], axis=0), J[others] - J[first]])
    return _null(rows.reshape(-1, J.shape[-1])).shape[1]


def _null(A: np.ndarray) -> np.ndarray:
    """Return the vectors that a matrix maps to 0, as columns."""
    _, s, rows = np.linalg.svd(A)
    return rows[int((s > DEPENDENT * s.max(initial=0.0)).sum()) :].T
