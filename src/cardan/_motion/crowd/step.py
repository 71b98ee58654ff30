"""A step of many bodies.

    1  trees:     M, the forces h, node rows, by the program of each kind
    2  pairs:     balls that may meet (`grid`), then shapes, by the program of each kind of pair
    3  islands:   trees that touch one another; a pattern of blocks for each (`sparse`)
    4  contacts:  the convex law of `contact/convex.py`, in joint space, island by island
    5  trees:     the state after the step

An island's numbers hang on its own trees and contacts alone, and sums are in their order. So its bits are the same
whoever is beside it. A step that lacks room in a list changes nothing but `lacking`, which says in which.

Source: Castro, Permenter and Han (2022), see `contact/cone.py`.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I32, I64, INT, LANES, REAL, TRUTH, fma, kernel, run, sqrt, tail
from cardan._motion.crowd.grid import find_levels, find_near, sort
from cardan._motion.crowd.sparse import (
    connect,
    eliminate,
    factor,
    find_block,
    find_pattern,
    find_triples,
    solve,
)
from cardan._motion.crowd.tables import Crowd

# pyright: reportIndexIssue=false

SKIN, AHEAD = 0.02, 2.0  # as of `contact/touching.py`
NEAR, PATCHES, CONTACTS, BLOCKS, TRIPLES, SIDES, PROGRAM = 1, 2, 3, 4, 5, 6, 7
ITERATIONS, TOWARDS, CONVERGED = 4, 0.7, 1e-3  # as of `contact/convex.py`
BITS = 26  # of the number of a shape in a key


# --- 1: trees -------------------------------------------------------------------------------------------------------


@kernel(c=Crowd)
def start_trees(c):
    for e in range(c.numbers_q):
        c.q_rows[e] = c.q[c.q_source[e]]
    for e in range(c.numbers_v):
        c.v_rows[e] = c.v[c.v_source[e]]
        c.effort_rows[e] = c.effort[c.v_source[e]]
    for k in range(c.kinds):
        run(c.start[k], c.kind_rows[k])


# --- 2: pairs -------------------------------------------------------------------------------------------------------


@kernel(node=F64[24], local=F64[12], found=F64[12])
def place_shape(node, local, found):
    """Find the pose of a shape in the world from that of its node and its own in it."""
    for i in range(3):
        for j in range(3):
            total = fma(node[3 * i + 1], local[3 + j], node[3 * i] * local[j])
            found[3 * i + j] = fma(node[3 * i + 2], local[6 + j], total)
        moved = fma(node[3 * i], local[9], node[9 + i])
        moved = fma(node[3 * i + 1], local[10], moved)
        found[9 + i] = fma(node[3 * i + 2], local[11], moved)


@kernel(node=F64[24], centre=F64[3], extent=REAL, returns=REAL)
def speed_of(node, centre, extent):
    """Return how far a point of a shape moves in a second, at most."""
    x = node[12] + node[16] * centre[2] - node[17] * centre[1]
    y = node[13] + node[17] * centre[0] - node[15] * centre[2]
    z = node[14] + node[15] * centre[1] - node[16] * centre[0]
    turning = sqrt(node[15] * node[15] + node[16] * node[16] + node[17] * node[17])
    return sqrt(x * x + y * y + z * z) + extent * turning


@kernel(c=Crowd)
def place_shapes(c):
    for s in range(c.shapes * c.worlds):
        node = c.node[c.shape_node[s]]
        centre = c.shape_centre[s]
        place_shape(node, c.shape_local[s], c.shape_pose[s])
        for i in range(3):
            total = fma(node[3 * i], centre[0], node[9 + i])
            total = fma(node[3 * i + 1], centre[1], total)
            c.ball[s, i] = fma(node[3 * i + 2], centre[2], total)
        extent = c.shape_extent[s]
        c.further[s] = c.shape_margin[s] + SKIN * extent + AHEAD * c.dt * speed_of(node, centre, extent)
        c.reach[s] = c.shape_radius[s] + c.further[s] if c.shape_radius[s] >= 0.0 else -1.0


@kernel(keys=I64[:], n=INT, key=INT, returns=TRUTH)
def contains(keys, n, key):
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < n and keys[low] == key


@kernel(c=Crowd, i=INT, j=INT, returns=TRUTH)
def may_touch(c, i, j):
    if c.shape_node[i] == c.shape_node[j]:
        return False
    if c.shape_group[i] & c.shape_mask[j] == 0 or c.shape_group[j] & c.shape_mask[i] == 0:
        return False
    if c.shape_family[i] >= 0 and c.shape_family[i] == c.shape_family[j]:
        return False
    first = min(i, j) % c.shapes
    second = max(i, j) % c.shapes
    return not contains(c.apart, c.apart_count, (first << BITS) | second)


@kernel(c=Crowd, i=INT, j=INT, count=INT, returns=INT)
def add_pair(c, i, j, count):
    """Add the key of two shapes, by kind, then by their numbers, the first on a node that moves."""
    if not may_touch(c, i, j):
        return count
    a = i
    b = j
    if c.shape_order[i] < c.shape_order[j]:  # as of `simulation/pairs.py`
        a = j
        b = i
    row = c.shape_kind[a] * c.shape_kinds + c.shape_kind[b]
    kind = c.pair_kind[row, 1] if c.shape_node[b] == c.nodes else c.pair_kind[row, 0]
    if kind < 0:
        return count
    if count == c.near_most:
        c.lacking = NEAR
        return count
    c.keys[count] = (kind << 2 * BITS) | (a << BITS) | b
    return count + 1


@kernel(c=Crowd, a=INT, b=INT, returns=TRUTH)
def is_near_ground(c, a, b):
    """Return whether the ball about a shape comes near a half space; near any other ground, always."""
    if c.ground_flat[b] == 0:
        return True
    plane = c.shape_pose[b]
    height = 0.0
    for k in range(3):
        height += plane[3 * k + 2] * (c.ball[a, k] - plane[9 + k])
    return height < c.reach[a] + c.further[b]


@kernel(c=Crowd, returns=INT)
def find_pairs(c):
    """Find keys of all pairs that may meet, sorted; return how many there are."""
    count = 0
    n = c.shapes
    for world in range(c.worlds):
        first = world * n
        radius = tail(c.reach, first)
        centre = tail(c.ball, first)
        grids = find_levels(radius, n, c.level, c.used, c.width)
        found = find_near(
            centre, radius, n, c.level, c.used, c.width, grids, c.cell, c.head, c.following, c.hash_mask, c.near,
            c.near_most,
        )  # fmt: skip
        if found < 0:
            c.lacking = NEAR
            return 0
        for k in range(found):
            count = add_pair(c, first + c.near[k, 0], first + c.near[k, 1], count)
        for g in range(c.grounds):
            b = first + c.ground[g]
            for s in range(n):
                if c.shape_radius[first + s] >= 0.0 and is_near_ground(c, first + s, b):
                    count = add_pair(c, first + s, b, count)
    sort(c.keys, c.spare, count)
    return count


@kernel(to=F64[:], at=INT, source=F64[:], first=INT, count=INT)
def copy(to, at, source, first, count):
    for e in range(count):
        to[at + e] = source[first + e]


@kernel(to=F64[12], source=F64[12])
def copy_pose(to, source):
    for e in range(12):
        to[e] = source[e]


@kernel(to=F64[3], source=F64[3])
def copy_three(to, source):
    for e in range(3):
        to[e] = source[e]


@kernel(c=Crowd, row=INT, a=INT, b=INT, kind=INT)
def gather_pair(c, row, a, b, kind):
    copy_pose(c.X_a[row], c.shape_pose[a])
    copy_pose(c.X_b[row], c.shape_pose[b])
    copy_pose(c.local[row], c.shape_local[a])
    copy(c.size_a, row * c.pair_sizes[kind, 0], c.shape_sizes, c.shape_first[a], c.pair_sizes[kind, 0])
    copy(c.size_b, row * c.pair_sizes[kind, 1], c.shape_sizes, c.shape_first[b], c.pair_sizes[kind, 1])
    if c.pair_fixed[kind] == 1:
        node = c.node[c.shape_node[a]]
        for e in range(3):
            c.w[row, e] = node[15 + e]
        copy_three(c.centre[row], c.shape_centre[a])


@kernel(c=Crowd, row=INT, a=INT, b=INT, kind=INT)
def keep_contacts(c, row, a, b, kind):
    """Keep the candidates of a pair that may touch in this step, as a patch."""
    points = c.pair_points[kind]
    reach = c.further[a] + c.further[b]
    first = c.contacts
    for p in range(row * points, (row + 1) * points):
        if c.gap[p] < reach:
            k = c.contacts
            if k == c.contact_most:
                c.lacking = CONTACTS
                return
            c.found_gap[k] = c.gap[p] - c.shape_margin[a] - c.shape_margin[b]
            for e in range(3):
                c.found_point[k, e] = c.point[3 * p + e]
                c.found_normal[k, e] = c.normal[3 * p + e]
                c.found_turning[k, e] = c.turning[3 * p + e] if c.pair_fixed[kind] == 1 else 0.0
            c.contacts = k + 1
    if c.contacts > first:
        n = c.patches
        if n == c.patch_most:
            c.lacking = PATCHES
            return
        c.found_shapes[n, 0] = a
        c.found_shapes[n, 1] = b
        c.found_first[n] = first
        c.found_count[n] = c.contacts - first
        c.patches = n + 1


@kernel(c=Crowd)
def find_contacts(c):
    c.contacts = 0
    c.patches = 0
    total = find_pairs(c)
    mask = (1 << BITS) - 1
    start = 0
    while start < total and c.lacking == 0:
        kind = c.keys[start] >> 2 * BITS
        stop = start
        while stop < total and c.keys[stop] >> 2 * BITS == kind:
            key = c.keys[stop]
            gather_pair(c, stop - start, (key >> BITS) & mask, key & mask, kind)
            stop += 1
        if c.pair_program[kind] == 0:
            c.lacking = PROGRAM
            c.wanted = kind
            return
        run(c.pair_program[kind], stop - start)
        for k in range(start, stop):
            keep_contacts(c, k - start, (c.keys[k] >> BITS) & mask, c.keys[k] & mask, kind)
        start = stop


# --- 3: islands -----------------------------------------------------------------------------------------------------


@kernel(c=Crowd, t=INT, returns=INT)
def root_of(c, t):
    while c.parent[t] != t:
        c.parent[t] = c.parent[c.parent[t]]
        t = c.parent[t]
    return t


@kernel(c=Crowd, s=INT, returns=INT)
def tree_of(c, s):
    """Return the tree of a shape; -1 of one that is fixed in the world."""
    return c.node_tree[c.shape_node[s]]


@kernel(c=Crowd)
def find_islands(c):
    """Number islands by their first trees; list trees and patches of each, in order."""
    for t in range(c.trees):
        c.parent[t] = t
        c.island_of[t] = -1
    for p in range(c.patches):
        a = tree_of(c, c.found_shapes[p, 0])
        b = tree_of(c, c.found_shapes[p, 1])
        c.island_of[a] = 0
        if b >= 0:
            c.island_of[b] = 0
            one = root_of(c, a)
            other = root_of(c, b)
            c.parent[max(one, other)] = min(one, other)
    count = 0
    for t in range(c.trees):
        if c.island_of[t] >= 0:
            root = root_of(c, t)
            if root == t:
                c.island_of[t] = count
                c.island_trees[count + 1] = 0
                c.island_patches[count + 1] = 0
                count += 1
            else:
                c.island_of[t] = c.island_of[root]
    c.islands = count
    c.island_trees[0] = 0
    c.island_patches[0] = 0
    for t in range(c.trees):
        if c.island_of[t] >= 0:
            c.island_trees[c.island_of[t] + 1] += 1
    for p in range(c.patches):
        c.island_patches[c.island_of[tree_of(c, c.found_shapes[p, 0])] + 1] += 1
    for i in range(count):
        c.island_trees[i + 1] += c.island_trees[i]
        c.island_patches[i + 1] += c.island_patches[i]
        c.island_going[i] = c.island_trees[i]
        c.island_count[i] = c.island_patches[i]
    for t in range(c.trees):
        if c.island_of[t] >= 0:
            i = c.island_of[t]
            k = c.island_going[i]
            c.members[k] = t
            c.member_of[t] = k - c.island_trees[i]
            c.island_going[i] = k + 1
    for p in range(c.patches):
        i = c.island_of[tree_of(c, c.found_shapes[p, 0])]
        c.patch_order[c.island_count[i]] = p
        c.island_count[i] += 1


@kernel(c=Crowd, i=INT)
def find_island_pattern(c, i):
    """Find the pattern of an island's matrix, behind that of the one before."""
    first = c.island_trees[i]
    n = c.island_trees[i + 1] - first
    words = (n + 31) // 32
    for w in range(n * words):
        c.bits[w] = 0
    for k in range(n):
        c.sizes[k] = c.tree_blocks[c.members[first + k]]
    for m in range(c.island_patches[i], c.island_patches[i + 1]):
        p = c.patch_order[m]
        a = tree_of(c, c.found_shapes[p, 0])
        b = tree_of(c, c.found_shapes[p, 1])
        if b >= 0 and a != b:
            connect(c.bits, words, c.member_of[a], c.member_of[b])
    eliminate(c.bits, n, words, c.order, c.degree)
    vector = c.island_vector[i]
    block = c.island_block[i]
    triple = c.island_triple[i]
    starts = tail(c.starts, vector + i)  # one more for each island
    rows = tail(c.rows, block)
    blocks = find_pattern(
        c.bits, n, words, c.order, c.sizes, c.place, c.columns, c.later, starts, rows, c.block_most - block
    )
    if blocks < 0:
        c.lacking = BLOCKS
        return
    columns = c.columns[n]
    triples = find_triples(
        starts, rows, columns, tail(c.triples, triple), tail(c.ends, vector), c.triple_most - triple
    )
    if triples < 0:
        c.lacking = TRIPLES
        return
    for k in range(n):
        c.tree_column[c.members[first + k]] = c.columns[c.place[k]]
    c.island_vector[i + 1] = vector + columns
    c.island_block[i + 1] = block + blocks
    c.island_triple[i + 1] = triple + triples


# --- 4: contacts ----------------------------------------------------------------------------------------------------


@kernel(c=Crowd)
def begin_contacts(c):
    """Fill the rows of contacts, island by island, and begin with what keeps velocities as they are."""
    count = 0
    mask = c.surface_count
    for n in range(c.patches):
        p = c.patch_order[n]
        a = c.found_shapes[p, 0]
        b = c.found_shapes[p, 1]
        c.patch_first[n] = count
        c.patch_count[n] = c.found_count[p]
        for k in range(c.found_first[p], c.found_first[p] + c.found_count[p]):
            from_a = c.node[c.shape_node[a]]
            from_b = c.node[c.shape_node[b]]
            for e in range(24):
                c.row_a[count, e] = from_a[e]
                c.row_b[count, e] = from_b[e]
            c.row_gap[count] = c.found_gap[k]
            copy_three(c.row_point[count], c.found_point[k])
            copy_three(c.row_normal[count], c.found_normal[k])
            copy_three(c.row_turning[count], c.found_turning[k])
            surface = c.surfaces[c.shape_surface[a] * mask + c.shape_surface[b]]
            for e in range(3):
                c.row_centres[count, e] = c.shape_centre[a, e]
                c.row_centres[count, 3 + e] = c.shape_centre[b, e]
            for e in range(6):
                c.row_surface[count, e] = surface[e]
            c.row_weight[count] = c.shape_weight[a] + c.shape_weight[b]
            count += 1
    run(c.begin, count)


@kernel(node_a=F64[24], node_b=F64[24], X=LANES[6])
def between_nodes(node_a, node_b, X):
    """Find how twists of b look in a, with the opposite sign: -X_ab = -[[R, [p] R], [0, R]], column by column."""
    for j in range(6):
        X[j] = 0.0
    for j in range(3):
        r = 0.0
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


@kernel(found=LANES[:, 6], at=INT, A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT, adds=TRUTH)
def multiply(found, at, A, a, B, b, adds):
    """found_at = A_a B_b, or adds it."""
    for j in range(6):
        column = found[at, j] if adds else A[a, 0] * 0.0
        for k in range(6):
            column = fma(A[a, k], B[b, j, k], column)
        found[at, j] = column


@kernel(A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT)
def transpose(A, a, B, b):
    """A_a = B_b^T."""
    for j in range(6):
        A[a, j] = 0.0
    for j in range(6):
        for i in range(6):
            A[a, j, i] = B[b, i, j]


@kernel(c=Crowd)
def find_sides(c):
    """Find for each patch by what the accelerations of its trees move its nodes apart, as seen from the first: G."""
    count = 0
    for n in range(c.patches):
        p = c.patch_order[n]
        for side in range(2):
            node = c.shape_node[c.found_shapes[p, side]]
            tree = c.node_tree[node]
            c.patch_trees[n, side] = tree
            c.patch_sides[n, side] = -2
            if tree < 0:
                continue
            J = c.node_jacobian[node]
            if side == 0 and J < 0:
                c.patch_sides[n, side] = -1
                continue
            blocks = c.tree_blocks[tree]
            if count + blocks + 1 > c.side_most:
                c.lacking = SIDES
                return
            if side == 1:
                between_nodes(c.node[c.shape_node[c.found_shapes[p, 0]]], c.node[node], c.G[count])
            same = side == 1 and tree == c.patch_trees[n, 0]
            first = c.patch_sides[n, 0] if same else count
            c.patch_sides[n, side] = -2 if same else count
            if J >= 0 or same:
                X = count
                if side == 1 and not same:  # the transform goes behind the blocks
                    X = count + blocks
                    for j in range(6):
                        c.G[X, j] = c.G[count, j]
                for k in range(blocks):
                    if side == 0:
                        for j in range(6):
                            c.G[first + k, j] = c.jacobian[J + k, j]
                    else:
                        multiply(c.G, first + k, c.G, X, c.jacobian, J + k, same)
            for k in range(blocks):
                transpose(c.GT, first + k, c.G, first + k)
            if not same:
                count += blocks


@kernel(c=Crowd, n=INT)
def sum_answers(c, n):
    """Sum what the contacts of a patch do, at the origin of their node: the impedance and the wrench."""
    for j in range(6):
        c.Z[0, j] = 0.0
    c.wrench[0] = 0.0
    for k in range(c.patch_first[n], c.patch_first[n] + c.patch_count[n]):
        for e in range(6):
            c.wrench[0, e] += c.answer[k, e]
        m = 6
        for i in range(6):
            for j in range(i, 6):
                c.Z[0, i, j] += c.answer[k, m]
                m += 1
    for i in range(6):
        for j in range(i):
            c.Z[0, i, j] = c.Z[0, j, i]


@kernel(L=LANES[:, 6], at=INT, A=LANES[:, 6], a=INT)
def add_block(L, at, A, a):
    for j in range(6):
        L[at, j] = L[at, j] + A[a, j]


@kernel(c=Crowd, n=INT, column=INT, L=LANES[:, 6], starts=I32[:], rows=I32[:])
def add_column(c, n, column, L, starts, rows):
    """Add G_i^T T for all blocks i of a patch whose row is not above a column, T = Z G of that column."""
    for side in range(2):
        G = c.patch_sides[n, side]
        if G == -2:
            continue
        tree = c.patch_trees[n, side]
        for k in range(c.tree_blocks[tree]):
            row = c.tree_column[tree] + k
            if row >= column:
                at = find_block(starts, rows, row, column)
                if G < 0:
                    add_block(L, at, c.T, 0)
                else:
                    multiply(L, at, c.GT, G + k, c.T, 0, True)


@kernel(c=Crowd, n=INT, L=LANES[:, 6], x=LANES[:], starts=I32[:], rows=I32[:])
def add_patch(c, n, L, x, starts, rows):
    """Add G^T Z G and G^T f of a patch to the matrix and the right side of its island."""
    sum_answers(c, n)
    for side in range(2):
        G = c.patch_sides[n, side]
        if G == -2:
            continue
        tree = c.patch_trees[n, side]
        for k in range(c.tree_blocks[tree]):
            column = c.tree_column[tree] + k
            if G < 0:
                x[column] = x[column] + c.wrench[0]
                for j in range(6):
                    c.T[0, j] = c.Z[0, j]
            else:
                moved = x[column]
                for e in range(6):
                    moved = fma(c.GT[G + k, e], c.wrench[0, e], moved)
                x[column] = moved
                multiply(c.T, 0, c.Z, 0, c.G, G + k, False)
            add_column(c, n, column, L, starts, rows)


@kernel(c=Crowd, i=INT, returns=TRUTH)
def solve_island(c, i):
    """Solve the equation of motion of an island with its contacts as they answer: the change of its accelerations."""
    vector = c.island_vector[i]
    starts = tail(c.starts, vector + i)
    rows = tail(c.rows, c.island_block[i])
    L = tail(c.L, c.island_block[i])
    x = tail(c.x, vector)
    for b in range(c.island_block[i + 1] - c.island_block[i]):
        for j in range(6):
            L[b, j] = 0.0
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        tree = c.members[m]
        first = c.tree_column[tree]
        block = c.tree_mass[tree]
        for k in range(c.tree_blocks[tree]):
            x[first + k] = c.force[c.tree_first[tree] + k]
            for r in range(c.tree_blocks[tree] - k):
                add_block(L, starts[first + k] + r, c.mass, block)
                block += 1
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        add_patch(c, n, L, x, starts, rows)
    columns = c.island_vector[i + 1] - vector
    is_positive = factor(starts, columns, tail(c.triples, c.island_triple[i]), tail(c.ends, vector), L)
    solve(starts, rows, columns, L, x)
    return is_positive


@kernel(c=Crowd, n=INT, x=LANES[:])
def change_patch(c, n, x):
    """Find by what the nodes of a patch are moved apart, G x, for each of its contacts."""
    total = c.wrench[0] * 0.0
    for side in range(2):
        G = c.patch_sides[n, side]
        if G == -2:
            continue
        tree = c.patch_trees[n, side]
        for k in range(c.tree_blocks[tree]):
            column = c.tree_column[tree] + k
            if G < 0:
                total = total + x[column]
            else:
                for e in range(6):
                    total = fma(c.G[G + k, e], x[column, e], total)
    c.wrench[0] = total
    for k in range(c.patch_first[n], c.patch_first[n] + c.patch_count[n]):
        for e in range(6):
            c.row_change[k, e] = c.wrench[0, e]


@kernel(c=Crowd, i=INT, returns=INT)
def move_on(c, i):
    """Take the next decision of an island from its reactions; return 1 if it goes on."""
    first = c.patch_first[c.island_patches[i]]
    last = c.island_patches[i + 1] - 1
    end = c.patch_first[last] + c.patch_count[last]
    worst = 0.0
    for k in range(first, end):
        worst = c.error[k] if c.error[k] > worst or c.error[k] != c.error[k] else worst
    residual = sqrt(worst)
    c.island_residual[i] = residual
    count = c.island_count[i] + 1
    c.island_count[i] = count
    if not residual > c.tolerance or count >= c.most:
        return 0
    if count >= ITERATIONS and not residual > CONVERGED:
        return 0
    share = TOWARDS if count >= ITERATIONS and count % 2 == 1 else 1.0
    for e in range(first * c.impulse_size, end * c.impulse_size):
        c.test[e] = c.after[e] if share == 1.0 else c.test[e] + share * (c.after[e] - c.test[e])
    return 1


@kernel(c=Crowd)
def solve_contacts(c):
    going = c.islands
    for i in range(c.islands):
        c.island_going[i] = 1
        c.island_count[i] = 0
    contacts = c.contacts
    while going > 0:
        run(c.response, contacts)
        for i in range(c.islands):
            if c.island_going[i] == 1:
                solve_island(c, i)
                x = tail(c.x, c.island_vector[i])
                for n in range(c.island_patches[i], c.island_patches[i + 1]):
                    change_patch(c, n, x)
        run(c.reaction, contacts)
        going = 0
        for i in range(c.islands):
            if c.island_going[i] == 1:
                c.island_going[i] = move_on(c, i)
                going += c.island_going[i]


# --- 5: trees ---------------------------------------------------------------------------------------------------------


@kernel(c=Crowd)
def finish_trees(c):
    for t in range(c.trees):
        i = c.island_of[t]
        for k in range(c.tree_blocks[t]):
            b = c.tree_first[t] + k
            c.change[b] = c.x[c.island_vector[i] + c.tree_column[t] + k] if i >= 0 else c.free[b]
    for k in range(c.kinds):
        run(c.finish[k], c.kind_rows[k])
    for w in range(c.worlds):
        c.residual[w] = 0.0
        c.sound[w] = 1
    for i in range(c.islands):
        w = c.tree_world[c.members[c.island_trees[i]]]
        c.residual[w] = c.island_residual[i] if not c.island_residual[i] <= c.residual[w] else c.residual[w]
    for t in range(c.trees):
        if c.tree_sound[t] == 0.0:
            c.sound[c.tree_world[t]] = 0
    for e in range(c.numbers_q):
        c.q[c.q_source[e]] = c.q_after[e]
    for e in range(c.numbers_v):
        c.v[c.v_source[e]] = c.v_after[e]
    for t in range(c.trees):
        for e in range(c.tree_nv[t]):
            c.a[c.v_source[c.tree_v[t] + e]] = c.change[c.tree_first[t] + e // 6, e % 6]


@kernel(c=Crowd, steps=INT, returns=INT)
def take_steps(c, steps):
    """Take steps; return how many were taken: fewer if a list is too short."""
    for n in range(steps):
        c.lacking = 0
        start_trees(c)
        place_shapes(c)
        find_contacts(c)
        if c.lacking != 0:
            return n
        find_islands(c)
        c.island_vector[0] = 0
        c.island_block[0] = 0
        c.island_triple[0] = 0
        for i in range(c.islands):
            find_island_pattern(c, i)
            if c.lacking != 0:
                return n
        begin_contacts(c)
        find_sides(c)
        if c.lacking != 0:
            return n
        solve_contacts(c)
        finish_trees(c)
    return steps
