"""Long trees in islands: the articulated recursion bears what touches their bodies, in place of a matrix.

    (M + W + sum J_i^T Z_i J_i) a = tau - h + sum J_i^T f_i

is solved in O(n) by a program (`TreeRows.bearing`), with f_i and Z_i of each node as data.

A patch between a body of a long tree and another that moves is a *tie*. Let P be the matrix of the island in which each
side of a tie has its own G^T Z G, and C what is left: C x is Z G_b x at the first side of each tie, and Z G_a x at the
second one. Conjugate gradients with P as what comes first solve

    (P + C) x = b        by        x = P^-1 (b + w),   w = -C x

All that they go over are wrenches and accelerations at the ties, twelve numbers of each.

Source: Featherstone (2008), table 7.1; Hestenes and Stiefel, Methods of conjugate gradients (1952).
Cost: a recursion an iteration, and one more for each step of conjugate gradients where there are ties.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, LANES, REAL, fma, kernel
from cardan._motion.crowd.batches import copy, run_joints
from cardan._motion.crowd.parts import TIES, call_part
from cardan._motion.crowd.sides import BORNE, IDENTITY, between_nodes, sum_answers
from cardan._motion.crowd.sparse import solve
from cardan._motion.crowd.tables import Crowd

# pyright: analyzeUnannotatedFunctions=false

CLOSE = 1e-3
"""At which part of the tolerance a step of conjugate gradients is the last."""
STEPS = 24
"""Steps of these for each tie, at most: twice as many as they take without rounding."""


@kernel(c=Crowd, tree=INT)
def clear_borne(c, tree):
    """Begin with nothing that the bodies of a tree bear."""
    for row in range(c.tree_borne[tree], c.tree_borne[tree] + c.tree_nodes[tree]):
        for e in range(27):
            c.borne[row, e] = 0.0


@kernel(c=Crowd, n=INT, side=INT, returns=INT)
def node_of(c, n, side):
    return c.shape_node[c.found_shapes[c.patch_order[n], side]]


@kernel(c=Crowd, n=INT)
def turn_to_first(c, n):
    """Find -X_ab of a patch, in `T`."""
    between_nodes(c.node[node_of(c, n, 0)], c.node[node_of(c, n, 1)], c.T[0])


@kernel(c=Crowd, n=INT, side=INT)
def add_borne(c, n, side):
    """Add what a patch does, Z and f, to what the node of a side bears."""
    add_wrench(c, n, side)
    row = c.node_borne[node_of(c, n, side)]
    m = 6
    for i in range(6):
        for j in range(i, 6):
            total = c.Z[0, i, j]
            if side == 1:
                c.wrench[1] = 0.0
                column = c.wrench[1]
                for k in range(6):
                    column = fma(c.Z[0, k], c.T[0, j, k], column)
                c.wrench[1] = column
                total = 0.0
                for k in range(6):
                    total += c.T[0, i, k] * c.wrench[1, k]
            c.borne[row, m] += total
            m += 1


@kernel(c=Crowd, n=INT, side=INT)
def add_wrench(c, n, side):
    """Add `wrench`, on the first node of a patch, to what the node of a side bears: of the second one G^T of it."""
    row = c.node_borne[node_of(c, n, side)]
    if side == 1:
        turn_to_first(c, n)
    for i in range(6):
        total = c.wrench[0, i]
        if side == 1:
            total = 0.0
            for k in range(6):
                total += c.T[0, i, k] * c.wrench[0, k]
        c.borne[row, i] += total


@kernel(c=Crowd, n=INT, side=INT)
def move_side(c, n, side):
    """Add G a of the side of a long tree to `wrench[1]`."""
    row = c.node_borne[node_of(c, n, side)]
    if side == 0:
        for k in range(6):
            c.wrench[1, k] += c.moved[row, k]
    else:
        turn_to_first(c, n)
        total = c.wrench[1]
        for k in range(6):
            total = fma(c.T[0, k], c.moved[row, k], total)
        c.wrench[1] = total


@kernel(c=Crowd, n=INT, side=INT)
def push_side(c, n, side):
    """Add G^T of `wrench` to the right side, or to what the body of a long tree bears."""
    G = c.patch_sides[n, side]
    tree = c.patch_trees[n, side]
    if G == BORNE:
        add_wrench(c, n, side)
    elif G == IDENTITY:
        c.x[c.tree_column[tree]] = c.x[c.tree_column[tree]] + c.wrench[0]
    else:
        for k in range(c.tree_blocks[tree]):
            total = c.x[c.tree_column[tree] + k]
            for e in range(6):
                total = fma(c.GT[G + k, e], c.wrench[0, e], total)
            c.x[c.tree_column[tree] + k] = total


@kernel(c=Crowd, n=INT, side=INT, a=LANES[:], first=INT)
def see_side(c, n, side, a, first):
    """Add G a to `wrench[1]`, of accelerations that are in their vector from `first` on, or as a long tree has them."""
    G = c.patch_sides[n, side]
    if G == BORNE:
        move_side(c, n, side)
    elif G == IDENTITY:
        c.wrench[1] = c.wrench[1] + a[first]
    else:
        total = c.wrench[1]
        for k in range(c.tree_blocks[c.patch_trees[n, side]]):
            for e in range(6):
                total = fma(c.G[G + k, e], a[first + k, e], total)
        c.wrench[1] = total


# --- ties -------------------------------------------------------------------------------------------------------------


@kernel(c=Crowd, i=INT)
def find_ties(c, i):
    """Find the patches that hold a body of a long tree and another that moves."""
    c.ties = 0
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        is_long = c.patch_sides[n, 0] == BORNE or c.patch_sides[n, 1] == BORNE
        if is_long and c.patch_trees[n, 0] >= 0 and c.patch_trees[n, 1] >= 0:
            c.tie_patch[c.ties] = n
            c.ties += 1


@kernel(c=Crowd, given=F64[:], seen=F64[:])
def cross_ties(c, given, seen):
    """Find C of accelerations at ties: Z times that of the other side."""
    for t in range(c.ties):
        sum_answers(c, c.tie_patch[t])
        for side in range(2):
            for i in range(6):
                total = 0.0
                for k in range(6):
                    total += c.Z[0, k, i] * given[12 * t + 6 - 6 * side + k]
                seen[12 * t + 6 * side + i] = total


@kernel(c=Crowd, i=INT, w=F64[:])
def push_ties(c, i, w):
    """Put b + G^T w on the right side, and in what long trees bear."""
    for k in range(c.island_vector[i + 1] - c.island_vector[i]):
        c.x[k] = c.right[k]
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        tree = c.members[m]
        if c.tree_borne[tree] >= 0:
            for row in range(c.tree_borne[tree], c.tree_borne[tree] + c.tree_nodes[tree]):
                copy(c.borne[row], 0, c.borne_first[row], 0, 6)
    for t in range(c.ties):
        for side in range(2):
            for e in range(6):
                c.wrench[0, e] = w[12 * t + 6 * side + e]
            push_side(c, c.tie_patch[t], side)


@kernel(c=Crowd, i=INT, w=F64[:], u=F64[:])
def respond(c, i, w, u):
    """Find u = G a at ties of the solution P^-1 (b + G^T w)."""
    push_ties(c, i, w)
    solve(c, i)
    run_joints(c, c.bearing, i, i + 1)
    for t in range(c.ties):
        for side in range(2):
            c.wrench[1] = 0.0
            see_side(c, c.tie_patch[t], side, c.x, c.tree_column[c.patch_trees[c.tie_patch[t], side]])
            for e in range(6):
                u[12 * t + 6 * side + e] = c.wrench[1, e]


@kernel(c=Crowd, a=F64[:], b=F64[:], returns=REAL)
def dot(c, a, b):
    total = 0.0
    for k in range(12 * c.ties):
        total += a[k] * b[k]
    return total


@kernel(c=Crowd, i=INT)
def follow_gradients(c, i):
    """Find what the cross terms of ties do, w, by conjugate gradients from w = 0 on."""
    respond(c, i, c.tie_w, c.tie_free)
    cross_ties(c, c.tie_free, c.tie_r)
    for k in range(12 * c.ties):
        c.tie_r[k] = -c.tie_r[k]
        c.tie_p[k] = 0.0
        c.tie_q[k] = 0.0
    before = 0.0
    change = 1.0
    count = 0
    while change > 0.0 and count < STEPS * c.ties:
        respond(c, i, c.tie_r, c.tie_u)
        for k in range(12 * c.ties):
            c.tie_u[k] -= c.tie_free[k]
        now = dot(c, c.tie_r, c.tie_u)
        share = now / before if before > 0.0 else 0.0
        for k in range(12 * c.ties):
            c.tie_p[k] = c.tie_u[k] + share * c.tie_p[k]
            c.tie_q[k] = c.tie_r[k] + share * c.tie_q[k]
        cross_ties(c, c.tie_p, c.tie_s)
        for k in range(12 * c.ties):
            c.tie_s[k] += c.tie_q[k]
        bend = dot(c, c.tie_p, c.tie_s)
        length = now / bend if bend > 0.0 and now > 0.0 else 0.0
        change = 0.0
        for k in range(12 * c.ties):
            c.tie_w[k] += length * c.tie_q[k]
            c.tie_r[k] -= length * c.tie_s[k]
            change = max(change, abs(length * c.tie_p[k]))
        change = change if c.dt * change > CLOSE * c.tolerance else 0.0
        before = now
        count += 1
    c.island_left[i] = c.dt * change


@kernel(c=Crowd, i=INT)
def keep_right(c, i):
    """Note the right side without what the cross terms of ties do."""
    for k in range(c.island_vector[i + 1] - c.island_vector[i]):
        c.right[k] = c.x[k]
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        tree = c.members[m]
        if c.tree_borne[tree] >= 0:
            for row in range(c.tree_borne[tree], c.tree_borne[tree] + c.tree_nodes[tree]):
                copy(c.borne_first[row], 0, c.borne[row], 0, 6)


@kernel(c=Crowd)
def follow_ties(c):
    """Add what the cross terms of the ties of `tied_island` do."""
    i = c.tied_island
    keep_right(c, i)
    for k in range(12 * c.ties):
        c.tie_w[k] = 0.0
    follow_gradients(c, i)
    push_ties(c, i, c.tie_w)


@kernel(c=Crowd, i=INT)
def add_ties(c, i):
    """Add what the cross terms of an island's ties do, if it has any; its matrix without them is factored.

    What is then to be solved is P alone, and what long trees bear is all there is to it.
    """
    c.island_left[i] = 0.0
    find_ties(c, i)
    if c.ties > 0:
        c.tied_island = i
        call_part(c, TIES)
