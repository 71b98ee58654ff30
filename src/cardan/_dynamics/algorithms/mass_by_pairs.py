"""The mass matrix of many joints: one entry for each pair of coordinates that carry each other, in a loop.

Let S_i = [v; w] be the motion of coordinate i and F_i = I^c_i S_i = [f; n] the force that it takes, both in world axes
at the origin p_i of its node. Then, for j on the way from i to the world,

    M_ij = f_i . v_j + w_j . (n_i + (p_i - p_j) x f_i)

which is F_i^T S_j of `crba` with F_i moved to p_j in one step, where that page takes it from node to node. So no entry
needs another one. The moment is taken about p_j: about the world's origin, far away, most of it would cancel.

Source: Featherstone (2008), equation 6.13 and table 6.2, with its H here M.
Cost: O(n d), d the depth of the tree; about 20 operations an entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.spatial import Force, Inertia, Motion, Scalar, Vector3
from cardan._dynamics.algorithms.along import NodeRows
from cardan._dynamics.algorithms.entries import mass_matrix_entries
from cardan._dynamics.algorithms.tree import Relative, world_poses
from cardan._robot.model import Model, Node

BLOCK = 16
"""Rows and columns of a matrix that are made together: of two lanes they fit in half of a cache."""


class Freedom(NamedTuple):
    """A coordinate, in world axes."""

    p: Vector3  # where its node's origin is
    S: Motion
    F: Force
    armature: Scalar


def mass_matrix_by_pairs(
    model: Model, nodes: NodeRows, relative: Relative, composite: Sequence[Inertia], packed: bool
) -> Any:
    """Return the mass matrix, or the packed one, of the composite inertias I^c_i."""
    freedoms = nodes.coordinates(_freedoms(model, relative, composite))
    i, j = (np.array(places, np.int64) for places in mass_matrix_entries(model))
    nv = model.nv
    column = nodes.graph.new_column(len(i) if packed else nv * nv)
    # one place for each entry, or with that of its mirror image
    places = np.arange(len(i))[None] if packed else np.stack([i * nv + j, j * nv + i])

    def fill(own: np.ndarray, at: np.ndarray, entry: Any) -> None:
        freedoms.fill(column, i[own], j[own], at[:, own], entry)

    own = np.flatnonzero(i != j)
    if not packed:  # block by block, for entries of a column of a matrix lie far apart
        own = own[np.lexsort((j[own] // BLOCK, i[own] // BLOCK))]
    fill(own, places, _entry)
    fill(np.flatnonzero(i == j), places[:1], lambda i, j: _entry(i, j) + i.armature)
    if packed:
        return nodes.graph.array([column], (len(i),))
    apart = np.ones(nv * nv, bool)  # entries of coordinates that do not carry each other
    apart[places] = False
    zeros = np.flatnonzero(apart)
    freedoms.fill(column, zeros // nv, zeros % nv, zeros[None], lambda i, j: 0.0)
    return nodes.graph.array([column], (nv, nv))


def _freedoms(model: Model, relative: Relative, composite: Sequence[Inertia]) -> Any:
    poses = world_poses(model, relative)

    def freedoms(node: Node) -> list[Freedom]:
        R, p = poses[node.index]
        forces = [composite[node.index] @ s for s in relative.S[node.index]]
        return [
            Freedom(p, Motion(R @ s.linear, R @ s.angular), Force(R @ f.linear, R @ f.angular), rotor)
            for s, f, rotor in zip(relative.S[node.index], forces, node.armature, strict=True)
        ]

    return freedoms


def _entry(i: Freedom, j: Freedom) -> Scalar:
    (f, n), (v, w) = i.F, j.S
    return f.dot(v) + w.dot(n + (i.p - j.p).cross(f))
