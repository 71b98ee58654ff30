"""Islands: trees that touch one another, each solved by itself.

An island is found by union-find over patches, and numbered by its first tree. Its trees and patches keep their order.
So what is computed of it hangs on nobody else.

Source: Tarjan, Efficiency of a good but not linear set union algorithm (1975).
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, TRUTH, kernel, tail
from cardan._motion.crowd.contact_rows import TORSIONAL
from cardan._motion.crowd.sparse import connect, eliminate, find_pattern, find_rows
from cardan._motion.crowd.tables import BLOCKS, Crowd

# pyright: analyzeUnannotatedFunctions=false

COSTLY = 1_000_000
"""Products of blocks, 430 million operations, from which on a factor takes longer than sweeps of boxes."""


@kernel(c=Crowd, t=INT, returns=INT)
def root_of(c, t):
    while c.parent[t] != t:
        c.parent[t] = c.parent[c.parent[t]]
        t = c.parent[t]
    return t


@kernel(c=Crowd, a=INT, b=INT)
def unite(c, a, b):
    one = root_of(c, a)
    other = root_of(c, b)
    c.parent[max(one, other)] = min(one, other)


@kernel(c=Crowd, s=INT, returns=INT)
def tree_of(c, s):
    """Return the tree of a shape; -1 of one that is fixed in the world."""
    return c.node_tree[c.shape_node[s]]


@kernel(c=Crowd)
def unite_trees(c):
    """Find which trees touch one another, and which anything acts on at all (`island_of` 0)."""
    for t in range(c.trees):
        c.parent[t] = t
        is_solved = c.tree_elements[t] > 0 or c.middle[c.tree_kind[t]] != 0
        c.island_of[t] = 0 if is_solved and c.tree_alone[t] == 0 else -1
    for p in range(c.patches):
        a = tree_of(c, c.found_shapes[p, 0])
        b = tree_of(c, c.found_shapes[p, 1])
        c.island_of[a] = 0
        if b >= 0:
            c.island_of[b] = 0
            unite(c, a, b)


@kernel(c=Crowd)
def number_islands(c):
    count = 0
    for t in range(c.trees):
        if c.island_of[t] >= 0:
            root = root_of(c, t)
            if root == t:
                c.island_of[t] = count
                c.island_long[count] = 0
                c.island_chain[count] = 0
                count += 1
                c.island_trees[count] = 0
                c.island_patches[count] = 0
            else:
                c.island_of[t] = c.island_of[root]
    c.islands = count


@kernel(c=Crowd)
def list_islands(c):
    """List trees and patches of each island, in order."""
    c.island_trees[0] = 0
    c.island_patches[0] = 0
    for t in range(c.trees):
        if c.island_of[t] >= 0:
            c.island_trees[c.island_of[t] + 1] += 1
    for p in range(c.patches):
        c.island_patches[c.island_of[tree_of(c, c.found_shapes[p, 0])] + 1] += 1
    for i in range(c.islands):
        c.island_trees[i + 1] += c.island_trees[i]
        c.island_patches[i + 1] += c.island_patches[i]
        c.island_going[i] = c.island_trees[i]  # where the next tree and the next patch go
        c.island_count[i] = c.island_patches[i]
    for t in range(c.trees):
        i = c.island_of[t]
        if i >= 0:
            c.island_long[i] = max(c.island_long[i], int(c.tree_borne[t] >= 0))
            c.island_chain[i] = max(c.island_chain[i], int(c.middle[c.tree_kind[t]] != 0))
            k = c.island_going[i]
            c.members[k] = t
            c.member_node[k] = c.tree_node[t]
            c.member_first[k] = c.tree_first[t]
            c.member_of[t] = k - c.island_trees[i]
            c.island_going[i] = k + 1
    for p in range(c.patches):
        i = c.island_of[tree_of(c, c.found_shapes[p, 0])]
        c.patch_order[c.island_count[i]] = p
        c.island_count[i] += 1


@kernel(c=Crowd, first=INT, end=INT, returns=(INT, INT))
def contacts_of(c, first, end):
    """Return the first contact of some islands and the one behind their last."""
    return c.patch_first[c.island_patches[first]], c.patch_first[c.island_patches[end]]


@kernel(c=Crowd, i=INT, returns=TRUTH)
def may_be_swept(c, i):
    """Return whether an island is of loose bodies alone, without moments at contacts."""
    is_loose = True
    for k in range(c.island_trees[i], c.island_trees[i + 1]):
        is_loose = is_loose and c.tree_loose[c.members[k]] == 1
    if c.twist_size > 3:
        first, end = contacts_of(c, i, i + 1)
        for k in range(first, end):
            is_loose = is_loose and c.law[k, TORSIONAL] == 0.0 and c.law[k, TORSIONAL + 1] == 0.0
    return is_loose


@kernel(c=Crowd, i=INT, returns=TRUTH)
def is_heap(c, i):
    """Return whether all patches of an island are single contacts, as of balls: there sweeps go far."""
    is_single = True
    for k in range(c.island_patches[i], c.island_patches[i + 1]):
        is_single = is_single and c.found_count[c.patch_order[k]] == 1
    return is_single


@kernel(c=Crowd, i=INT, most=INT, returns=TRUTH)
def order_island(c, i, most):
    """Find the order of elimination of an island's trees; False if that costs more products of blocks."""
    first = c.island_trees[i]
    n = c.island_trees[i + 1] - first
    for k in range(n):
        t = c.members[first + k]
        c.sizes[k] = c.tree_blocks[t] if c.tree_borne[t] < 0 else 0
        c.degree[k] = 0
    for m in range(c.island_patches[i], c.island_patches[i + 1]):
        p = c.patch_order[m]
        a = tree_of(c, c.found_shapes[p, 0])
        b = tree_of(c, c.found_shapes[p, 1])
        is_block = b >= 0 and a != b and c.tree_borne[a] < 0 and c.tree_borne[b] < 0
        if is_block and not connect(c, c.member_of[a], c.member_of[b]):
            return False
    return eliminate(c, n, most)


@kernel(c=Crowd, i=INT)
def lay_out_island(c, i):
    """Find the pattern of an island's matrix, behind that of the one before."""
    first = c.island_trees[i]
    n = c.island_trees[i + 1] - first
    vector = c.island_vector[i]
    block = c.island_block[i]
    starts = tail(c.starts, vector + i)  # one more for each island
    rows = tail(c.rows, block)
    blocks = find_pattern(c, n, starts, rows, c.block_most - block)
    if blocks < 0:
        c.lacking = BLOCKS
        return
    columns = c.columns[n]
    find_rows(starts, rows, columns, tail(c.row_first, vector), tail(c.row_next, block))
    for k in range(n):
        c.tree_column[c.members[first + k]] = c.columns[c.place[k]]
    c.island_vector[i + 1] = vector + columns
    c.island_block[i + 1] = block + blocks


@kernel(c=Crowd, returns=TRUTH)
def are_laid_out(c):
    """Return whether all islands are those whose matrices were laid out last, and note what they are."""
    is_same = c.laid_patches == c.patches
    c.laid_patches = -1
    for p in range(c.patches):
        for side in range(2):
            is_same = is_same and c.laid_shapes[p, side] == c.found_shapes[p, side]
            c.laid_shapes[p, side] = c.found_shapes[p, side]
    for t in range(c.trees):
        is_same = is_same and c.laid_island[t] == c.island_of[t]
        c.laid_island[t] = c.island_of[t]
    for i in range(c.islands):
        is_same = is_same and c.laid_swept[i] == c.island_swept[i]
        c.laid_swept[i] = c.island_swept[i]
    if is_same:
        c.laid_patches = c.patches
    return is_same


@kernel(c=Crowd)
def find_islands(c):
    unite_trees(c)
    number_islands(c)
    list_islands(c)
