"""Robots that meet no other: each takes its step by the program of a robot alone, in a lane of its own.

A robot is alone if none of its shapes is near a shape of another tree. Which shapes are near is found anew in each step
(`narrow.are_near`), so a step is the same whatever was before, and whoever else is in the world. A robot with others at
its side is part of an island, and steps as `newton` says: by the same law, right to the same residual.
"""

from __future__ import annotations

from cardan._compiler.kernels import I64, INT, kernel, run
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(c=Crowd, program=INT, k=INT, alone=INT)
def run_trees(c, program, k, alone):
    """Run a program over the trees of a kind that are alone, or over the others."""
    first = c.kind_tree[k]
    start = 0
    for i in range(c.kind_rows[k] + 1):
        if i == c.kind_rows[k] or c.tree_alone[first + i] != alone:
            if i > start:
                run(program, i - start, start)
            start = i + 1


@kernel(c=Crowd, keys=I64[:], count=INT, returns=INT)
def leave_alone(c, keys, count):
    """Find which trees are alone, and drop what they have of pairs that are near; return how many are left."""
    if c.joined == 1:
        return count
    for t in range(c.trees):
        c.tree_alone[t] = c.tree_alike[t]
    for k in range(count):
        a = c.node_tree[c.shape_node[(keys[k] >> BITS) & MASK]]
        b = c.node_tree[c.shape_node[keys[k] & MASK]]
        if b >= 0 and a != b:
            c.tree_alone[a] = 0
            c.tree_alone[b] = 0
    left = 0
    for k in range(count):
        if c.tree_alone[c.node_tree[c.shape_node[(keys[k] >> BITS) & MASK]]] == 0:
            keys[left] = keys[k]
            left += 1
    return left
