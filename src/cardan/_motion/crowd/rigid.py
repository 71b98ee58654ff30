"""The second half of a step under XPBD: bodies go where contacts let them, then contacts give them their velocities.

The first solve was for positions. Bodies have moved by its mean velocities and joints are closed (`maximal_rows`). The
second solve is of the same islands by the same matrices, with other wanted velocities (`leaving_velocity`). By how much
it changes impulses acts on the bodies where they are: both at one point, which goes with the first body's centre of
mass.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, TRUTH, kernel, run
from cardan._motion.crowd.batches import copy, run_kinds
from cardan._motion.crowd.islands import root_of, unite
from cardan._motion.crowd.tables import Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(c=Crowd)
def move_bodies(c):
    """Move all bodies, and note what contacts did and by how much that is wrong."""
    run_kinds(c, c.tree_alone, c.carrying, 0)
    for i in range(c.islands):
        t = c.members[c.island_trees[i]]
        if not c.island_residual[i] <= c.tree_residual[t]:
            c.tree_residual[t] = c.island_residual[i]
    for k in range(c.contacts):
        copy(c.found_before[k], 0, c.found_impulse[k], 0, 3)
    run(c.leave, c.contacts)


@kernel(c=Crowd, k=INT)
def kick_nodes(c, k):
    """Add what a contact still does to both its nodes, about their origins where the step began."""
    node = c.node[c.node_a[k]]
    n = c.found_of[k]
    for side in range(2):
        s = c.node_a[k] if side == 0 else c.node_b[k]
        if s < c.nodes:
            sign = 1.0 if side == 0 else -1.0
            for i in range(3):
                p = node[9 + i] - c.node[s, 9 + i]
                for j in range(3):
                    p += node[3 * i + j] * c.found_point[n, j]
                c.wrench[1, i] = p + c.node_shift[c.node_a[k], i] - c.node_shift[s, i]
                c.wrench[0, i] = sign * (c.found_impulse[n, i] - c.found_before[n, i])
                c.node_kick[s, i] += c.wrench[0, i]
            for i in range(3):
                j = (i + 1) % 3
                m = (i + 2) % 3
                c.node_kick[s, 3 + i] += c.wrench[1, j] * c.wrench[0, m] - c.wrench[1, m] * c.wrench[0, j]


@kernel(c=Crowd, k=INT, returns=TRUTH)
def has_pushed(c, k):
    """Return whether a contact has had an impulse in either solve."""
    n = c.found_of[k]
    pushes = False
    for e in range(3):
        pushes = pushes or c.found_before[n, e] != 0.0 or c.found_impulse[n, e] != 0.0
    return pushes


@kernel(c=Crowd)
def add_work(c):
    """Give each tree what all have that push one another: no other feels how they meet."""
    for t in range(c.trees):
        c.parent[t] = t
    for k in range(c.contacts):
        if c.node_b[k] < c.nodes and has_pushed(c, k):
            unite(c, c.node_tree[c.node_a[k]], c.node_tree[c.node_b[k]])
    for t in range(c.trees):  # a root comes before the others
        root = root_of(c, t)
        for e in range(3):
            if root != t:
                c.tree_work[root, e] += c.tree_work[t, e]
    for t in range(c.trees):
        copy(c.tree_work[t], 0, c.tree_work[root_of(c, t)], 0, 3)


@kernel(c=Crowd)
def kick_bodies(c):
    for s in range(c.nodes):
        for e in range(6):
            c.node_kick[s, e] = 0.0
    for k in range(c.contacts):
        kick_nodes(c, k)
    run_kinds(c, c.tree_alone, c.kicking, 0)
    add_work(c)


@kernel(c=Crowd)
def share_impulses(c):
    """Note what contacts have done: of what the second solve changed a share."""
    for k in range(c.contacts):
        n = c.found_of[k]
        share = c.tree_share[c.node_tree[c.node_a[k]]]
        for e in range(3):
            before = c.found_before[n, e]
            c.found_impulse[n, e] = before + share * (c.found_impulse[n, e] - before)
