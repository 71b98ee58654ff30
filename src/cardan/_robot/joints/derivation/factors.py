"""Differentiation in the Lie algebra: a transform that is a product of motions, factor by factor.

    X = A B:    V = B^-1 V_A + V_B          bias = B^-1 bias_A + (B^-1 V_A) x V_B + bias_B
    X = A^-1:   V = -A V_A                  bias = -A bias_A

and the same for rotations alone. Only the factors, elementary motions most of them, are differentiated by their
entries; what would come out of the product's entries in long form never arises.

Source: Lynch and Park, Modern Robotics (2017), sections 3.3 and 5.1; Featherstone (2008), section 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cardan._algebra.spatial import SE3, Matrix3, Motion, Vector3
from cardan._algebra.spatial.composition import History
from cardan._algebra.spatial.rotations import matrix_from_rotation_vector

# Kinds of leaves and how many entries they have: a translation, a matrix, a rotation vector.
LEAVES = {"pose": 3, "rotation": 9, "exponential": 3}


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A rotation or pose: a leaf with entries of its own, or made of others."""

    kind: str  # `"product"`, `"inverse"`, or one of `LEAVES`
    operands: tuple[Factor, ...] = ()  # what it is made of; for the leaf of a pose, its rotation
    start: int = 0  # where the entries of a leaf are

    def own(self, entries: Sequence[Any]) -> Sequence[Any]:
        """Return the entries of a leaf, of those of all leaves."""
        return entries[self.start : self.start + LEAVES[self.kind]]

    def is_composed(self) -> bool:
        """Return whether there is anything to gain: something that is not a pose or rotation by its entries."""
        return self.kind not in ("pose", "rotation") or any(operand.is_composed() for operand in self.operands)


def take_apart(X: SE3, history: History) -> tuple[Factor, list[Any]]:
    """Return what a pose was made of, and the entries of its leaves, one after the other."""
    entries: list[Any] = []
    known: dict[int, Factor] = {}

    def part(thing: Any) -> Factor:
        if id(thing) not in known:
            known[id(thing)] = made(thing)
        return known[id(thing)]

    def made(thing: Any) -> Factor:
        kind, operands = history.of(thing) or ("pose" if isinstance(thing, SE3) else "rotation", (thing,))
        if kind not in LEAVES:
            return Factor(kind, tuple(map(part, operands)))
        below = (part(thing.rotation),) if kind == "pose" else ()
        start = len(entries)
        leaf = thing.translation if kind == "pose" else operands[0]
        entries.extend(leaf.entries() if isinstance(leaf, Matrix3) else leaf)
        return Factor(kind, below, start)

    return part(X), entries


def leaves(part: Factor) -> list[Factor]:
    """Return the leaves, each once, rotations before the poses they belong to."""
    below = [leaf for operand in dict.fromkeys(part.operands) for leaf in leaves(operand)]
    return list(dict.fromkeys([*below, part] if part.kind in LEAVES else below))


class Moving(NamedTuple):
    """A rotation or pose that moves along several directions."""

    at: Any  # where it is, a `Matrix3` or an `SE3`
    rates: list[Any]  # its angular velocity or twist along each direction, in its own frame
    biases: list[Any]  # the rates of these, if they are wanted


def moving_leaf(
    part: Factor, entries: Sequence[Any], R: Moving | None, rates: Sequence[Vector3], changes: Sequence[Vector3] = ()
) -> Moving:
    """Return how a leaf moves whose rotation moves as R says (None for a rotation), given its rates.

    Rates are angular velocities of a rotation, in its own frame, or velocities of a pose's origin, in the outer frame.
    With their time derivatives, the changes, biases come out, too.
    """
    if R is None:
        at = matrix_from_rotation_vector(Vector3(*entries)) if part.kind == "exponential" else Matrix3(entries)
        return Moving(at, list(rates), list(changes))
    turn = R.at.transpose_apply
    twists = [Motion(turn(v), w) for v, w in zip(rates, R.rates, strict=True)]
    biases = [
        Motion(turn(a) - V.angular.cross(V.linear), w) for a, V, w in zip(changes, twists, R.biases, strict=False)
    ]
    return Moving(SE3(R.at, Vector3(*entries)), twists, biases)


def product(A: Moving, B: Moving) -> Moving:
    """Return A B."""
    back = B.at.inverse_act if isinstance(B.at, SE3) else B.at.transpose_apply
    carried = [back(V) for V in A.rates]
    rates = [V + W for V, W in zip(carried, B.rates, strict=True)]
    biases = [back(a) + V.cross(W) + b for a, b, V, W in zip(A.biases, B.biases, carried, B.rates, strict=False)]
    return Moving(A.at @ B.at, rates, biases)


def inverse(A: Moving) -> Moving:
    """Return A^-1."""
    at = A.at.inverse() if isinstance(A.at, SE3) else A.at.T
    return Moving(at, [-(A.at @ V) for V in A.rates], [-(A.at @ b) for b in A.biases])


def put_together(part: Factor, leaf: Callable[[Factor, Moving | None], Moving]) -> Moving:
    """Return how a pose moves, given how its leaves do: `leaf(part, its rotation)`."""
    known: dict[int, Moving] = {}

    def moving(part: Factor) -> Moving:
        if id(part) not in known:
            operands = [moving(operand) for operand in part.operands]
            if part.kind in LEAVES:
                known[id(part)] = leaf(part, operands[0] if operands else None)
            else:
                known[id(part)] = product(*operands) if part.kind == "product" else inverse(*operands)
        return known[id(part)]

    return moving(part)
