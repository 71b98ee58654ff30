"""Which entries of matrices over the joints' coordinates can be other than 0, as the branches of the tree say.

Efforts feel what is before and behind them on the way to the root: the entry (i, j) of the mass matrix, and of the
derivatives of inverse dynamics, is 0 where neither coordinate carries the other. Accelerations feel the whole of their
tree, but no other tree. Of symmetric matrices the lower triangle is enough.

Source: Featherstone (2008), section 6.4 (branch-induced sparsity).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from cardan._dynamics.algorithms.linear import Rows
from cardan._robot.model import Model

Element = TypeVar("Element")
Matrices = TypeVar("Matrices", bound=tuple)


class Entries(NamedTuple):
    rows: Any  # of places in a matrix, row by row
    columns: Any  # of the same places

    def of(self, matrix: Rows) -> Any:
        rows = list(matrix)
        return [rows[i][j] for i, j in zip(self.rows, self.columns, strict=True)]


def mass_matrix_entries(model: Model) -> Entries:
    """Return the places of M: its lower triangle, along branches."""
    return _lower(_of_branches(model))


def mass_matrix_inverse_entries(model: Model) -> Entries:
    """Return the places of M^-1: its lower triangle, tree by tree."""
    return _lower(_of_trees(model))


def inverse_dynamics_derivatives_entries(model: Model) -> tuple[Entries, Entries, Entries]:
    """Return the places of each derivative of the efforts: along branches."""
    full = _of_branches(model)
    return _places(full), _places(full), _lower(full)


def forward_dynamics_derivatives_entries(model: Model) -> tuple[Entries, Entries, Entries]:
    """Return the places of each derivative of the accelerations: tree by tree."""
    full = _of_trees(model)
    return _places(full), _places(full), _lower(full)


def inverse_dynamics_hessian_entries(model: Model) -> tuple[Entries, Entries, Entries, Entries]:
    """Return the places of each second derivative of the efforts, weighed: along branches."""
    full = _of_branches(model)
    return _lower(full), _places(full), _lower(full), _places(full)


def forward_dynamics_hessian_entries(model: Model) -> tuple[Entries, Entries, Entries, Entries]:
    """Return the places of each second derivative of the accelerations, weighed: by trees, by v twice by branches."""
    full = _of_trees(model)
    return _lower(full), _places(full), _lower(_of_branches(model)), _places(full)


def packed_matrices(matrices: Matrices, places: Sequence[Entries]) -> Matrices:
    """Return a named tuple of matrices with the entries of each at its places."""
    return type(matrices)(*(own.of(matrix) for own, matrix in zip(places, matrices, strict=True)))


def _of_branches(model: Model) -> list[set[int]]:
    """Return, for each coordinate, those that carry it or are carried by it; mimic joints share theirs."""
    found: list[set[int]] = [set() for _ in range(model.nv)]
    carriers: list[list[int]] = []  # the coordinates of each node, and of those that carry it
    for node in model.nodes:
        carriers.append([*(carriers[node.parent] if node.parent >= 0 else ()), *node.v])
        for a in node.v:
            found[a].update(carriers[-1])
    for a, own in enumerate(found):  # what carries a coordinate feels it, too
        for b in list(own):
            found[b].add(a)
    return found


def _of_trees(model: Model) -> list[set[int]]:
    """Return, for each coordinate, those of its tree, and of trees a mimic joint ties to it."""
    found = _of_branches(model)
    # a mimic joint ties two branches, and what hangs on them
    for tied in overlapping(found):
        for k in tied:
            found[k] = set(tied)
    return found


def overlapping(sets: Sequence[set[Element]]) -> Iterator[list[int]]:
    """Yield which sets share elements, directly or by others; empty ones are left out."""
    having: dict[Element, list[int]] = {}
    for k, own in enumerate(sets):
        for element in own:
            having.setdefault(element, []).append(k)
    taken = set[int]()
    for first, own in enumerate(sets):
        block = [first] if own and first not in taken else []
        for k in block:
            joined = {other for element in sets[k] for other in having.pop(element, ())} - {k} - taken
            taken |= joined
            block += joined
        if block:
            yield sorted(block)


def _places(rows: list[set[int]]) -> Entries:
    places = [(i, j) for i, row in enumerate(rows) for j in sorted(row)]
    return Entries([i for i, _ in places], [j for _, j in places])


def _lower(rows: list[set[int]]) -> Entries:
    return _places([{j for j in row if j <= i} for i, row in enumerate(rows)])
