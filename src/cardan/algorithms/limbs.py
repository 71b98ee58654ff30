"""Limbs: a tree cut where it branches, for what the joints of one limb see of another.

Whatever happens in one limb, those of another feel it through six numbers alone, the acceleration of the body on which
they hang. Between the joints of one limb the entries of M = L^T D L tell it in fewer.
"""

from __future__ import annotations

from typing import NamedTuple

from cardan.model import Model, Node

LARGEST = 10
"""Coordinates of a limb at most: in longer ones the entries of L come to more than six numbers a body (counted)."""


class Limb(NamedTuple):
    """Joints between which accelerations are told by L.

    Attributes:
        handle: number of the limb at whose last body it hangs; -1 for the world.
        nodes: its joints, outwards.
    """

    handle: int
    nodes: list[Node]

    @property
    def v(self) -> list[int]:
        """Return its coordinates, outwards."""
        return [k for node in self.nodes for k in node.v]


def limbs(model: Model) -> list[Limb]:
    """Return the limbs of a tree, outwards: stretches without a branch, and branches that are small in all."""
    behind, children = [len(node.v) for node in model.nodes], [0] * len(model.nodes)
    for node in reversed(model.nodes):
        if node.parent >= 0:
            behind[node.parent] += behind[node.index]
            children[node.parent] += 1
    found: list[Limb] = []
    of: list[int] = []
    for node in model.nodes:
        at = of[node.parent] if node.parent >= 0 else -1
        small = at >= 0 and behind[found[at].nodes[0].index] <= LARGEST
        straight = at >= 0 and children[node.parent] == 1 and len(found[at].v) + len(node.v) <= LARGEST
        if not (small or straight):
            found.append(Limb(at, []))
            at = len(found) - 1
        found[at].nodes.append(node)
        of.append(at)
    return found
