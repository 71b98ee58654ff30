"""How much of what contacts still do makes no energy, in each group of trees that push one another.

Restitution and friction of contacts that meet at once may make energy, most where heavy bodies meet light ones (Kane).
With s what is taken of a change d of impulses, w the weight, and v, x, v' velocities before, on the way and after, of a
group

    g . J (v + x) / 2  +  h w . (v - x) / 2  +  s d . J' (v_moved + v'(s)) / 2  <= 0,      0 <= s <= 1

The weight has worked along v and x, but all fall by h x. What d does is counted where bodies are then. A group is what
contacts that push, or loops, tie together. So no energy goes from one to another, and none feels how others meet.

Source: Glocker, Energetic consistency conditions for standard impacts (2013); Warshall, A theorem on Boolean matrices
(1962).
Cost: 20 operations a coordinate, and n^3 of n trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cardan._algebra.scalar import logical_and, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Scalar
from cardan._dynamics.algorithms.chains import trees_of
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact import WORLD
from cardan._robot.model import Model, Node

Tie = tuple[tuple[int, int], Any]
"""Two nodes, `WORLD` among them, and whether they are tied."""


class Fall(NamedTuple):
    """What weight does in a step: its impulse along v, of which a share acts before bodies move."""

    impulse: list[Scalar]
    share: float

    def works(self, p: Vector, v: Vector, free: Vector, mean: Vector) -> list[Scalar]:
        """Return the energy, along each coordinate, that weight and impulses p make of velocities v.

        These lead to `free` without p, and to `mean` with it.
        """
        after = (1.0 - self.share) ** 2 / self.share
        return [
            0.5 * (e * (x + old) + w * (self.share * (old - x) + after * (f - old)))
            for e, w, old, f, x in zip(p, self.impulse, v, free, mean, strict=True)
        ]


def dissipating_share(work: Scalar, slope: Scalar, curve: Scalar) -> Scalar:
    """Return the largest s of 0 to 1 with work + slope s + curve s^2 <= 0, curve >= 0; if there is none, the lowest."""
    # With c the curve, the larger root, or the middle between both where they are not real: (sqrt(..) - slope) / 2 c.
    squared, is_curved = slope * slope - 4.0 * curve * work, curve > 0.0
    far = (sqrt(maximum(squared, 0.0)) - slope) / where(is_curved, 2.0 * curve, 1.0)
    is_more = logical_and(is_curved, work + slope + curve > 0.0)
    return where(is_more, minimum(maximum(far, 0.0), 1.0), 1.0)


class Shares(NamedTuple):
    """What trees take of a change of their impulses, for their nodes and along v."""

    of_nodes: list[Scalar]
    along: list[Scalar]

    @staticmethod
    def of(model: Model, ties: Iterable[Tie], terms: Sequence[Vector]) -> Shares:
        """Return the largest with which no group makes energy; terms are work, slope and curve along v."""
        trees = trees_of(model)
        coordinates = [sorted({j for node in tree for j in node.v}) for tree in trees]
        numbers = [[sum((term[j] for j in own), 0.0) for term in terms] for own in coordinates]
        of_nodes: list[Scalar] = [0.0] * len(model.nodes)
        along: list[Scalar] = [0.0] * model.nv
        for tree, own, row in zip(trees, coordinates, groups(trees, [*_by_loops(model), *ties]), strict=True):
            share = dissipating_share(*_sums(row, numbers))
            for node in tree:
                of_nodes[node.index] = share
            for j in own:
                along[j] = share
        return Shares(of_nodes, along)


def groups(trees: Sequence[Sequence[Node]], ties: Iterable[Tie]) -> list[list[Any]]:
    """Return for every two trees whether ties lead from one to the other (Warshall)."""
    tree_of, count = {node.index: t for t, tree in enumerate(trees) for node in tree}, range(len(trees))
    found: list[list[Any]] = [[i == j for j in count] for i in count]
    for (a, b), holds in ties:
        if WORLD not in (a, b):
            i, j = tree_of[a], tree_of[b]
            found[i][j] = found[j][i] = logical_or(found[i][j], holds)
    for k in count:
        for i in count:
            for j in range(i):
                found[i][j] = found[j][i] = logical_or(found[i][j], logical_and(found[i][k], found[k][j]))
    return found


def _by_loops(model: Model) -> Iterator[Tie]:
    """Yield the ties of loops, which always hold."""
    for c in model.closures:
        yield (model.attachment(c.parent).node, model.attachment(c.child).node), True


def _sums(row: Sequence[Any], numbers: Sequence[Vector]) -> list[Scalar]:
    """Return the sums of the numbers of those trees for which a row holds."""
    total: list[Scalar] = [0.0] * 3
    for holds, own in zip(row, numbers, strict=True):
        total = [e + where(holds, more, 0.0) for e, more in zip(total, own, strict=True)]
    return total
