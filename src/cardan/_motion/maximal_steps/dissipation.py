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
from functools import reduce
from typing import Any, NamedTuple

from cardan._algebra.arrays.repeat import when
from cardan._algebra.scalar import is_zero, logical_and, logical_not, logical_or, maximum, minimum, sqrt, where
from cardan._algebra.spatial import Force, Scalar
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.aba import Accelerations
from cardan._dynamics.algorithms.chains import trees_of
from cardan._dynamics.algorithms.closed import inverse
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.drives import JointForces
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_efforts
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import lumped, with_diagonal
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector
from cardan._motion.contact import WORLD, Contact
from cardan._motion.contact.cone import IMPACT
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
    def of(
        model: Model,
        ties: Iterable[Tie],
        terms: Sequence[Vector],
        asked: Sequence[Tie] | None = None,
        driven: Sequence[Tie] = (),
    ) -> Shares:
        """Return the largest with which no group makes energy; terms are work, slope and curve along v.

        With `asked`, groups of which no node is asked for that way take all, and so do those that surfaces drive.
        """
        trees = trees_of(model)
        coordinates = [sorted({j for node in tree for j in node.v}) for tree in trees]
        numbers = [[sum((term[j] for j in own), 0.0) for term in terms] for own in coordinates]
        are_asked, are_driven = (_marked(trees, marks or ()) for marks in (asked, driven))
        of_nodes: list[Scalar] = [0.0] * len(model.nodes)
        along: list[Scalar] = [0.0] * model.nv
        for tree, own, row in zip(trees, coordinates, groups(trees, [*_by_loops(model), *ties]), strict=True):
            share = dissipating_share(*_sums(row, numbers))
            if asked is not None:
                is_bound = _is_any(row, are_asked)
                if driven:
                    is_bound = logical_and(is_bound, logical_not(_is_any(row, are_driven)))
                share = where(is_bound, share, 1.0)
            for node in tree:
                of_nodes[node.index] = share
            for j in own:
                along[j] = share
        return Shares(of_nodes, along)


def groups(trees: Sequence[Sequence[Node]], ties: Iterable[Tie]) -> list[list[Any]]:
    """Return for every two trees whether ties lead from one to the other (Warshall)."""
    tree_of, count = _trees_of_nodes(trees), range(len(trees))
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


def _trees_of_nodes(trees: Sequence[Sequence[Node]]) -> dict[int, int]:
    return {node.index: t for t, tree in enumerate(trees) for node in tree}


def _by_loops(model: Model) -> Iterator[Tie]:
    """Yield the ties of loops, which always hold."""
    for c in model.closures:
        yield (model.attachment(c.parent).node, model.attachment(c.child).node), True


def _marked(trees: Sequence[Sequence[Node]], marks: Iterable[Tie]) -> list[Any]:
    """Return for every tree whether a mark holds whose first node is of it."""
    tree_of = _trees_of_nodes(trees)
    found: list[Any] = [False for _ in trees]
    for (a, _), holds in marks:
        found[tree_of[a]] = logical_or(found[tree_of[a]], holds)
    return found


def _is_any(row: Sequence[Any], marked: Sequence[Any]) -> Any:
    """Return whether a tree is marked for which a row holds."""
    return reduce(logical_or, map(logical_and, row, marked))


def _sums(row: Sequence[Any], numbers: Sequence[Vector]) -> list[Scalar]:
    """Return the sums of the numbers of those trees for which a row holds."""
    total: list[Scalar] = [0.0] * 3
    for holds, own in zip(row, numbers, strict=True):
        total = [e + where(holds, more, 0.0) for e, more in zip(total, own, strict=True)]
    return total


def beside_contacts(state: Snapshot, working: Vector, h: float) -> list[Scalar]:
    """Return what acts beside contacts, as it counts in the energy that these make in a step: w / 2 - c.

    w are efforts and weights, c Coriolis forces, which do no work. Floating bodies are carried as the world sees them
    (`stepping`): of their Coriolis forces those of turning are left.
    """
    model, turning = state.model, list(state.coriolis_of)
    for node in stepping.floating_nodes(model):
        for j, column in zip(node.v, state.relative.S[node.index], strict=True):
            turning[j] = 0.0 if all(map(is_zero, column.angular)) else turning[j]
    both = (bias_forces.kernel(model, state.q, v) for v in (turning, [0.0] * model.nv))
    found = zip(working, *both, gyroscopic_efforts(state, h), strict=True)
    return [0.5 * w - (turned - still - couple) for w, turned, still, couple in found]


def without_gain(
    solved: stepping.Solved, state: Snapshot, forces: JointForces, touching: Sequence[Contact], h: float
) -> stepping.Solved:
    """Return accelerations and wrenches of contacts that make no energy where one of them bounces."""
    if all(is_zero(contact.material.restitution) for contact in touching):
        return solved
    model, a, wrenches = state.model, list(solved.found.a), list(solved.wrenches)
    both = list(zip(touching, wrenches, strict=False))
    bouncing = [(contact.nodes, _bounces(contact, h)) for contact in touching]

    def shared() -> tuple[list[Scalar], list[Force]]:
        p: list[Scalar] = [0.0] * model.nv
        for contact, wrench in both:
            for j, column in contact.columns().items():
                p[j] = p[j] + h * column.dot(wrench)
        tau, W = forces.total(forces.linear(solved.efforts, a))
        gained = inverse(model, state.q, with_diagonal(mass_matrix.kernel(model, state.q), lumped(W)))(p)
        still = bias_forces.kernel(model, state.q, [0.0] * model.nv)
        beside = beside_contacts(state, [t - e for t, e in zip(tau, still, strict=True)], h)
        terms = [
            [0.0] * model.nv,
            [e * v + h * w * d for e, v, w, d in zip(p, state.v, beside, gained, strict=True)],
            [0.5 * e * d for e, d in zip(p, gained, strict=True)],
        ]
        pushing = [(contact.nodes, wrench.linear.norm_squared() > 0.0) for contact, wrench in both]
        runs = [contact.pair.runs != (None, None) for contact, _ in both]  # belts make energy
        driven = [tie for tie, own in zip(pushing, runs, strict=True) if own]
        shares = Shares.of(model, pushing, terms, bouncing, driven)
        lost = [(1.0 - s) * (1.0 / h) * d for s, d in zip(shares.along, gained, strict=True)]
        less = [wrench * shares.of_nodes[contact.a] for contact, wrench in both]
        return [e - d for e, d in zip(a, lost, strict=True)], [*less, *wrenches[len(both) :]]

    is_any = reduce(logical_or, (holds for _, holds in bouncing))
    found, acting = when(is_any, shared, (a, wrenches))
    return solved._replace(found=Accelerations(found, state.changes(found)), wrenches=acting)


def _bounces(contact: Contact, h: float) -> Any:
    """Return whether a contact meets fast, and leaves as its restitution says."""
    v_n = contact.normal.dot(contact.velocity.linear)
    meets = logical_and(v_n < -IMPACT, contact.gap + h * v_n < 0.0)
    return logical_and(meets, contact.material.restitution > 0.0)
