"""Patches of contacts: by what velocities of trees move the nodes of both sides apart, and what contacts do there.

    G_a = J_a,  G_b = -X_ab J_b         at the origin of the first body's node, in its axes

A column of J is how a joint's axis moves the body: (R^T (u + w x (p_a - p)), R^T w) for one that moves p by u and turns
about w. A joint that carries both bodies has both columns, and their sum is zero to the last bit.
A side of a loose body that comes first is the identity; one of a long tree has no matrix (`long_trees`).
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, LANES, REAL, fma, kernel, unrolled, vectors
from cardan._motion.crowd.tables import SIDES, Crowd

# pyright: analyzeUnannotatedFunctions=false

IDENTITY, NONE, BORNE = -1, -2, -3  # in place of a side's first block; `BORNE` of a long tree


@kernel(node_a=F64[16], node_b=F64[16], X=LANES[6])
def between_nodes(node_a, node_b, X):
    """Find how twists of b look in a, with the opposite sign: -X_ab = -[[R, [p] R], [0, R]], column by column."""
    for j in range(6):
        X[j] = 0.0
    for j in range(3):
        for i in range(3):
            r = node_a[i] * node_b[j] + node_a[3 + i] * node_b[3 + j] + node_a[6 + i] * node_b[6 + j]
            X[j, i] = -r
            X[3 + j, 3 + i] = -r
    x = node_b[9] - node_a[9]
    y = node_b[10] - node_a[10]
    z = node_b[11] - node_a[11]
    u = node_a[0] * x + node_a[3] * y + node_a[6] * z
    v = node_a[1] * x + node_a[4] * y + node_a[7] * z
    w = node_a[2] * x + node_a[5] * y + node_a[8] * z
    for j in range(3):
        X[3 + j, 0] = v * X[j, 2] - w * X[j, 1]
        X[3 + j, 1] = w * X[j, 0] - u * X[j, 2]
        X[3 + j, 2] = u * X[j, 1] - v * X[j, 0]


@kernel(c=Crowd, a=INT, b=INT)
def find_twists(c, a, b):
    """Find the twist of a node relative to another one, before a step and after one alone, in its own axes."""
    between_nodes(c.node[a], c.node[b], c.T[0])
    for e in range(6):
        c.wrench[0, e] = c.motion[a, e]
        c.wrench[1, e] = c.node_after[a, e]
    for j in range(6):
        c.wrench[0] = fma(c.T[0, j], c.motion[b, j], c.wrench[0])
        c.wrench[1] = fma(c.T[0, j], c.node_after[b, j], c.wrench[1])


@kernel(c=Crowd, row=INT, node=F64[16], sign=REAL, first=INT, v=INT)
def add_axis(c, row, node, sign, first, v):
    """Add to a column of G how an axis moves what is at a node's origin."""
    axis = c.axis[row]
    x = node[9] - axis[6]
    y = node[10] - axis[7]
    z = node[11] - axis[8]
    linear_x = axis[0] + (axis[4] * z - axis[5] * y)
    linear_y = axis[1] + (axis[5] * x - axis[3] * z)
    linear_z = axis[2] + (axis[3] * y - axis[4] * x)
    block = first + v // 6
    for i in range(3):
        along = node[i] * linear_x + node[3 + i] * linear_y + node[6 + i] * linear_z
        about = node[i] * axis[3] + node[3 + i] * axis[4] + node[6 + i] * axis[5]
        c.G[block, v % 6, i] += sign * along
        c.G[block, v % 6, 3 + i] += sign * about


@kernel(found=LANES[:, 6], at=INT, A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT)
def add_product(found, at, A, a, B, b):
    """found_at += A_a B_b."""
    for j in range(6):
        column = found[at, j]
        for k in range(6):
            column = fma(A[a, k], B[b, j, k], column)
        found[at, j] = column


@kernel(A=LANES[:, 6], a=INT)
def clear(A, a):
    for j in range(6):
        A[a, j] = 0.0


@kernel(A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT)
def add_block(A, a, B, b):
    for j in range(6):
        A[a, j] = A[a, j] + B[b, j]


@kernel(A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT)
def transpose(A, a, B, b):
    """A_a = B_b^T."""
    clear(A, a)
    for j in range(6):
        for i in range(6):
            A[a, j, i] = B[b, i, j]


@kernel(c=Crowd, n=INT, side=INT, first=INT)
def add_side(c, n, side, first):
    """Add J_a, or -X_ab J_b, to the blocks from `first` on."""
    shapes = c.found_shapes[c.patch_order[n]]
    a = c.node[c.shape_node[shapes[0]]]
    node = c.shape_node[shapes[side]]
    k = c.node_axes[node]
    if k < 0:
        between_nodes(a, c.node[node], c.G[first])
        return
    axes = c.tree_axis[c.node_tree[node]]
    sign = 1.0 if side == 0 else -1.0
    while c.axis_number[k] >= 0:
        add_axis(c, axes + c.axis_number[k], a, sign, first, c.axis_v[k])
        k += 1


@kernel(c=Crowd, n=INT, count=INT, returns=INT)
def find_sides(c, n, count):
    """Find G and G^T of both sides of a patch behind so many blocks; return how many there are then."""
    for side in range(2):
        tree = c.patch_trees[n, side]
        same = side == 1 and tree == c.patch_trees[n, 0]
        c.patch_sides[n, side] = NONE
        if tree < 0:
            continue
        if c.tree_borne[tree] >= 0:
            c.patch_sides[n, side] = BORNE
            continue
        if side == 0 and c.tree_loose[tree] == 1:
            c.patch_sides[n, side] = IDENTITY
            continue
        blocks = c.tree_blocks[tree]
        if count + blocks > c.side_most:
            c.lacking = SIDES
            return count
        first = c.patch_sides[n, 0] if same else count
        if not same:
            c.patch_sides[n, side] = first
            for k in range(blocks):
                clear(c.G, first + k)
            count += blocks
        add_side(c, n, side, first)
        for k in range(blocks):
            transpose(c.GT, first + k, c.G, first + k)
    return count


@kernel(c=Crowd, n=INT)
def sum_answers(c, n):
    """Sum what the contacts of a patch do, at the origin of their node: Z and f."""
    totals = vectors(4)
    for m in unrolled(4):
        totals[m] = 0.0
    for k in range(c.patch_first[n], c.patch_first[n + 1]):
        for m in unrolled(4):
            totals[m] = totals[m] + c.answer[k, m]
    c.wrench[0] = totals[0]
    clear(c.Z, 0)
    e = 8
    for i in range(6):
        for j in range(i, 6):
            c.Z[0, i, j] = totals[e // 8, e % 8]
            c.Z[0, j, i] = c.Z[0, i, j]
            e += 1
