"""Matrices along v of many joints: made by a loop over the joints, and one over pairs of coordinates.

An entry (i, j) is 0 where neither coordinate carries the other (`entries`). Blocks on the diagonal are those of joints;
each other entry is made of what the two coordinates have, so no entry needs another one. Results are the columns that
the loops write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cardan._algebra.arrays.cell import Table
from cardan._algebra.spatial import Force, Vector3
from cardan._dynamics.algorithms.along import NodeRows, Nodes
from cardan._dynamics.algorithms.entries import Entries
from cardan._dynamics.algorithms.linear import add_block, zeros
from cardan._dynamics.algorithms.tree import supports
from cardan._robot.model import Model, Node

Coordinate = TypeVar("Coordinate")

BLOCK = 16
"""Rows and columns of a matrix that are made together: of two lanes they fit in half of a cache."""


def moved(force: Force, lever: Vector3) -> Force:
    """Return a force with its moment taken about another point, from which the lever goes to where it was taken."""
    return Force(force.linear, force.angular + lever.cross(force.linear))


class Pairs(NamedTuple):
    """Coordinates i, and those j of other joints that carry them."""

    i: np.ndarray
    j: np.ndarray

    @staticmethod
    def of(model: Model) -> Pairs:
        """Return all pairs of a model, block by block: entries of a column of a matrix lie far apart."""
        carriers, found = [list[int]()], (list[int](), list[int]())  # the world's are behind those of the nodes
        for node in model.nodes:
            own = carriers[node.parent + 1]
            carriers.append([*own, *node.v])
            for k in node.v:
                found[0].extend([k] * len(own))
                found[1].extend(own)
        i, j = (np.array(own, np.int64) for own in found)
        order = np.lexsort((j // BLOCK, i // BLOCK))
        return Pairs(i[order], j[order])


class BranchMatrix:
    """A matrix in a column of a program, dense or with the entries at some places alone."""

    def __init__(self, nodes: NodeRows, entries: Entries | None, pairs: int) -> None:
        nv = nodes.model.nv
        self.has_zeros = entries is None and 2 * pairs + sum(len(v) ** 2 for v in nodes.places("v")) < nv * nv
        self.nodes, self.nv, self.shape = nodes, nv, (nv, nv) if entries is None else (len(entries.rows),)
        self.places = np.arange(nv * nv)  # of an entry in the column; -1 for those that are left out
        self.is_lower = entries is not None and bool(np.all(np.array(entries.rows) >= np.array(entries.columns)))
        if entries is not None:
            self.places[:] = -1
            self.places[np.array(entries.rows) * nv + entries.columns] = np.arange(len(entries.rows))
        self.column = nodes.graph.new_column(int(np.prod(self.shape)))
        self.written = np.zeros(int(np.prod(self.shape)), bool)

    def at(self, i: Any, j: Any) -> np.ndarray:
        return self.places[np.asarray(i, np.int64) * self.nv + j]

    def put(self, node: Any, block: Sequence[Sequence[Any]]) -> None:
        """Put a joint's own block, in a loop over nodes."""
        for a, row in enumerate(block):
            for b, value in enumerate(row):
                first = next(v for v in self.nodes.places("v") if max(a, b) < len(v))
                own = [v if max(a, b) < len(v) else first for v in self.nodes.places("v")]
                self.put_at([self.at(v[a], v[b]) for v in own], node.row, value)

    def put_pair(self, i: np.ndarray, j: np.ndarray, row: int, at_i: Any, at_j: Any) -> None:
        """Put entries (i, j) and (j, i) in a loop; of a lower triangle, whose entries are the same, one of them.

        Which one that is changes from pair to pair: a joint may be listed before those that carry it.
        """
        if self.is_lower:
            i, j = np.maximum(i, j), np.minimum(i, j)
        self.put_at(self.at(i, j), row, at_i)
        self.put_at(self.at(j, i), row, at_j)

    def put_at(self, places: Any, row: int, value: Any) -> None:
        """Put an entry in a loop, at the place that a table names; none, if all places are left out."""
        is_left_out = np.asarray(places) < 0
        if is_left_out.all():
            return
        if is_left_out.any():
            raise AssertionError("a loop writes some entries of a matrix that are left out, and some that are not")
        graph = self.nodes.graph
        write = graph.add_to if self.has_zeros else graph.put_in  # what is added to begins with zeros
        write(self.column, graph.link(Table(places), row), value)
        self.written[np.asarray(places)] = True

    def result(self) -> Any:
        return self.nodes.graph.array([self.column], self.shape, self.written)


def branch_matrices(
    nodes: Nodes,
    places: Sequence[Entries | None],
    blocks: Callable[[Node], Sequence[Sequence[Sequence[Any]]]],
    coordinates: Callable[[Node], Sequence[Coordinate]] | None = None,
    entries: Callable[[Coordinate, Coordinate], Sequence[tuple[Any, Any]]] | None = None,
) -> list[Any]:
    """Return matrices: of each, a joint's own blocks, and the entries (i, j) and (j, i) where j carries i.

    `coordinates` gives what each coordinate of a joint has, `entries` makes both of two of these, for each matrix;
    without them all others are 0. Of a matrix with `places` there are the entries at these alone.
    """
    model = nodes.model
    if isinstance(nodes, NodeRows):
        return _in_columns(nodes, places, blocks, coordinates, entries)
    found = [zeros(model.nv, model.nv) for _ in places]
    own: list[list[tuple[int, Coordinate]]] = []
    for node in model.nodes:
        for matrix, block in zip(found, blocks(node), strict=True):
            add_block(matrix, node.v, node.v, block)
        if coordinates and entries:
            own.append([*zip(node.v, coordinates(node), strict=True)])
            for (k, i), (m, j) in product(own[-1], (e for n in supports(model, node.parent) for e in own[n])):
                for matrix, (at_i, at_j) in zip(found, entries(i, j), strict=True):
                    matrix[k][m] = matrix[k][m] + at_i
                    matrix[m][k] = matrix[m][k] + at_j  # of joints that share a coordinate, this is the same entry
    return [matrix if own is None else own.of(matrix) for own, matrix in zip(places, found, strict=True)]


def _in_columns(
    nodes: NodeRows,
    places: Sequence[Entries | None],
    blocks: Callable[[Node], Sequence[Sequence[Sequence[Any]]]],
    coordinates: Callable[[Node], Sequence[Coordinate]] | None,
    entries: Callable[[Coordinate, Coordinate], Sequence[tuple[Any, Any]]] | None,
) -> list[Any]:
    graph, pairs = nodes.graph, Pairs.of(nodes.model)
    matrices = [BranchMatrix(nodes, own, len(pairs.i) if coordinates else 0) for own in places]

    def put(node: Node) -> tuple[()]:
        for matrix, block in zip(matrices, blocks(node), strict=True):
            matrix.put(node, block)
        return ()

    nodes.each(put)
    own = nodes.coordinates(coordinates) if coordinates else None
    nodes.trace()
    if own and entries and len(pairs.i):
        start, row = graph.opened()
        i, j = (own.of(graph.link(Table(k), row)) for k in pairs)
        for matrix, (at_i, at_j) in zip(matrices, entries(i, j), strict=True):
            matrix.put_pair(*pairs, row, at_i, at_j)
        graph.closed(start, len(pairs.i))
    return [matrix.result() for matrix in matrices]
