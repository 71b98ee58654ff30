"""Contacts by Newton's method, island by island: the iteration of `contact/convex.py`, in joint space.

    (M + W + sum G^T Z G) a = tau - h + sum G^T f

with G of a patch (`sides`), f - Z G a what its contacts do together, and W, tau of the lines that joints' forces are
on. A decision on the parts of all laws gives the matrix, its solution the next decision.

Source: Castro, Permenter and Han, An unconstrained convex formulation of compliant contact (2022); see `convex.py`.
Cost: an iteration takes 1300 operations for two loose bodies that touch, and the factor.
"""

from __future__ import annotations

from cardan._compiler.kernels import I32, INT, REAL, TRUTH, kernel, run, sqrt, tail
from cardan._motion.crowd.batches import run_joints
from cardan._motion.crowd.islands import contacts_of
from cardan._motion.crowd.long_trees import add_borne, add_ties, clear_borne, push_side, see_side
from cardan._motion.crowd.narrow import key_in_world, place_among
from cardan._motion.crowd.sides import BORNE, IDENTITY, NONE, add_block, add_product, clear, find_sides, sum_answers
from cardan._motion.crowd.sparse import begin_block, factor, find_block, solve
from cardan._motion.crowd.tables import Crowd

# pyright: analyzeUnannotatedFunctions=false

ITERATIONS, LINEAR, TOWARDS, EXACT, CONVERGED = 4, 16, 0.7, 1e-9, 1e-3  # as of `contact/convex.py`
# From iteration `LATE` on each goes a shorter part of the way than the one before, n / (n + its number since), which
# ends circles. What ends before goes its own way: shorter steps there would end less exactly.
LATE, SLOWLY = 30, 8.0
GROUP = 8
"""Islands that are solved together: what is known of their patches and contacts stays near the processor."""


@kernel(c=Crowd)
def fill_contacts(c):
    """Note of what contacts are, island by island, and find their laws."""
    count = 0
    for n in range(c.patches):
        p = c.patch_order[n]
        a = c.found_shapes[p, 0]
        b = c.found_shapes[p, 1]
        node_a = c.shape_node[a]
        node_b = c.shape_node[b]
        c.patch_first[n] = count
        c.patch_trees[n, 0] = c.node_tree[node_a]
        c.patch_trees[n, 1] = c.node_tree[node_b]
        own = place_among(c.own, c.own_count, key_in_world(c, a, b)) if c.own_count > 0 else -1
        both = c.shape_surface[a] * c.surface_count + c.shape_surface[b]
        surface = c.surface_count * c.surface_count + own if own >= 0 else both
        for k in range(c.found_first[p], c.found_first[p] + c.found_count[p]):
            c.found_of[count] = k
            c.shape_a[count] = a
            c.shape_b[count] = b
            c.node_a[count] = node_a
            c.node_b[count] = node_b
            c.surface_of[count] = surface
            count += 1
    c.patch_first[c.patches] = count
    run(c.begin, count)


# --- the equation of motion -----------------------------------------------------------------------------------------


@kernel(c=Crowd, n=INT, column=INT, starts=I32[:], rows=I32[:])
def add_column(c, n, column, starts, rows):
    """Add G_i^T T for all blocks i of a patch whose row is not above a column, T = Z G of that column."""
    for side in range(2):
        G = c.patch_sides[n, side]
        if G >= IDENTITY:
            tree = c.patch_trees[n, side]
            for k in range(c.tree_blocks[tree]):
                row = c.tree_column[tree] + k
                if row >= column:
                    at = find_block(starts, rows, row, column)
                    begin_block(c, at)
                    if G == IDENTITY:
                        add_block(c.L, at, c.T, 0)
                    else:
                        add_product(c.L, at, c.GT, G + k, c.T, 0)


@kernel(c=Crowd, n=INT, starts=I32[:], rows=I32[:])
def add_patch(c, n, starts, rows):
    """Add G^T Z G and G^T f of a patch to the matrix and the right side of its island."""
    sum_answers(c, n)
    done = c.Z[0, 0, 0] + c.Z[0, 1, 1] + c.Z[0, 2, 2]
    for e in range(6):
        done += abs(c.wrench[0, e])
    if done == 0.0:  # all of its contacts are open as they are decided: of those near, most are
        return
    for side in range(2):
        G = c.patch_sides[n, side]
        if G == BORNE:
            add_borne(c, n, side)
        elif G != NONE:
            push_side(c, n, side)
            tree = c.patch_trees[n, side]
            for k in range(c.tree_blocks[tree]):
                column = c.tree_column[tree] + k
                clear(c.T, 0)
                if G == IDENTITY:
                    add_block(c.T, 0, c.Z, 0)
                else:
                    add_product(c.T, 0, c.Z, 0, c.G, G + k)
                add_column(c, n, column, starts, rows)


@kernel(c=Crowd, tree=INT, starts=I32[:])
def add_tree(c, tree, starts):
    """Add M + W and tau - h of a tree."""
    first = c.tree_column[tree]
    block = c.tree_mass[tree]
    for k in range(c.tree_blocks[tree]):
        vector = c.tree_first[tree] + k
        diagonal = starts[first + k]
        c.x[first + k] = c.force[vector] + c.line[vector]
        for r in range(c.tree_blocks[tree] - k):
            begin_block(c, diagonal + r)
            add_block(c.L, diagonal + r, c.mass, block)
            block += 1
        for e in range(6):
            c.L[diagonal, e, e] += c.armature[vector, e]


@kernel(c=Crowd, i=INT)
def solve_island(c, i):
    """Solve the equation of motion of an island with its forces as they are decided; no numbers if it has no solution.

    What long trees bear is made ready for their programs.
    """
    starts = tail(c.starts, c.island_vector[i] + i)
    rows = tail(c.rows, c.island_block[i])
    for b in range(c.island_block[i + 1] - c.island_block[i]):
        c.filled[b] = 0  # of one island after the other
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        if c.tree_borne[c.members[m]] >= 0:
            clear_borne(c, c.members[m])
        else:
            add_tree(c, c.members[m], starts)
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        add_patch(c, n, starts, rows)
    factor(c, i)
    if c.island_long[i] == 1:
        add_ties(c, i)
    solve(c, i)
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        tree = c.members[m]
        if c.tree_borne[tree] < 0:
            for k in range(c.tree_blocks[tree]):
                c.change[c.tree_first[tree] + k] = c.x[c.tree_column[tree] + k]


@kernel(c=Crowd, n=INT)
def change_patch(c, n):
    """Find by what the nodes of a patch are moved apart, G a, for each of its contacts."""
    c.wrench[1] = 0.0
    for side in range(2):
        if c.patch_sides[n, side] != NONE:
            see_side(c, n, side, c.change, c.tree_first[c.patch_trees[n, side]])
    for k in range(c.patch_first[n], c.patch_first[n + 1]):
        for e in range(6):
            c.row_change[k, e] = c.wrench[1, e]


# --- the iteration ----------------------------------------------------------------------------------------------------


@kernel(c=Crowd, i=INT, returns=(REAL, REAL))
def errors_of(c, i):
    """Return by how much velocities of an island are wrong, at most: at contacts, and by the joints' own forces.

    NaN if any of them is none. What joints hold is measured by rotors a million times as heavy as they feel (`drives`).
    """
    first, end = contacts_of(c, i, i + 1)
    worst = 0.0
    for k in range(first, end):
        worst = c.error[k] if not c.error[k] <= worst else worst
    held = 0.0
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        t = c.members[m]
        if c.tree_elements[t] > 0 and c.is_leaving == 0:
            held = c.tree_error[t] if not c.tree_error[t] <= held else held
    worst = sqrt(worst)
    if c.island_long[i] == 1:
        worst = c.island_left[i] if not c.island_left[i] <= worst else worst
    return worst, held


@kernel(c=Crowd, i=INT, returns=TRUTH)
def goes_on(c, i):
    """Return whether an island takes another iteration: it is not right yet, and after some not even nearly."""
    worst, held = errors_of(c, i)
    c.island_residual[i] = held if not held <= worst else worst
    count = c.island_count[i] + 1
    c.island_count[i] = count
    is_right = not worst > c.tolerance and not held > EXACT
    if is_right or count >= c.most:
        return False
    nearly = CONVERGED if c.leave == 0 else c.tolerance  # what is rigid is soon right, and else throws things
    return count < ITERATIONS or held > CONVERGED or worst > nearly


@kernel(c=Crowd, i=INT)
def decide_again(c, i):
    """Take the next decision of an island; from some iterations on from part of the way, and ever less of it.

    From `LINEAR` on all its laws are convex.
    """
    count = c.island_count[i]
    first, end = contacts_of(c, i, i + 1)
    share = TOWARDS if count >= ITERATIONS and count % 2 == 1 else 1.0
    share = SLOWLY / (SLOWLY + float(count - LATE)) if count > LATE else share
    if count == LINEAR:
        for k in range(first, end):
            c.lifts[k] = 1.0
    size = 1 + c.twist_size
    for e in range(first * size, end * size):
        c.test[e] = c.after[e] if share == 1.0 else c.test[e] + share * (c.after[e] - c.test[e])
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        t = c.members[m]
        for e in range(c.tree_held[t], c.tree_held[t] + c.tree_elements[t]):
            c.held[e] = c.held_after[e] if share == 1.0 else c.held[e] + share * (c.held_after[e] - c.held[e])
        for k in range(c.tree_first[t], c.tree_first[t] + c.tree_blocks[t]):
            c.before[k] = c.change[k] if share == 1.0 else c.before[k] + share * (c.change[k] - c.before[k])


@kernel(c=Crowd, i=INT)
def keep_island_impulses(c, i):
    """Note the impulses of an island, along the axes of the world."""
    size = 1 + c.twist_size
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        p = c.patch_order[n]
        node = c.node[c.shape_node[c.found_shapes[p, 0]]]
        for k in range(c.patch_first[n], c.patch_first[n + 1]):
            m = c.found_of[k]
            g = c.impulse[size * k]
            x = g * c.law[k, 0] + c.impulse[size * k + 1]
            y = g * c.law[k, 1] + c.impulse[size * k + 2]
            z = g * c.law[k, 2] + c.impulse[size * k + 3]
            for e in range(3):
                c.found_impulse[m, e] = node[3 * e] * x + node[3 * e + 1] * y + node[3 * e + 2] * z


@kernel(c=Crowd, first=INT, end=INT, chains=INT)
def solve_group(c, first, end, chains):
    """Solve some islands with their forces as they are decided: those going on, or of these what has long chains."""
    begin, behind = contacts_of(c, first, end)
    run(c.response, behind - begin, begin)
    run_joints(c, c.lines, first, end)
    for i in range(first, end):
        if c.island_going[i] == 1 and (chains == 0 or c.island_chain[i] == 1):
            solve_island(c, i)
    run_joints(c, c.bearing, first, end)


@kernel(c=Crowd, first=INT, end=INT, chains=INT)
def react_group(c, first, end, chains):
    """Find what the forces of the same islands are at the accelerations found, and by how much they are wrong."""
    for i in range(first, end):
        if c.island_going[i] == 1 and (chains == 0 or c.island_chain[i] == 1):
            for n in range(c.island_patches[i], c.island_patches[i + 1]):
                change_patch(c, n)
    begin, behind = contacts_of(c, first, end)
    run(c.reaction, behind - begin, begin)
    run_joints(c, c.joint_reaction, first, end)


@kernel(c=Crowd, first=INT, end=INT)
def predict_group(c, first, end):
    """Take the first iteration of islands with long chains: it says with which velocities the others are taken."""
    chains = 0
    for i in range(first, end):
        chains += 1 if c.island_going[i] == 1 and c.island_chain[i] == 1 else 0
    if chains > 0:
        solve_group(c, first, end, 1)
        react_group(c, first, end, 1)
        for i in range(first, end):
            if c.island_going[i] == 1 and c.island_chain[i] == 1:
                decide_again(c, i)
        run_joints(c, c.middle, first, end)


@kernel(c=Crowd, first=INT, end=INT)
def iterate_group(c, first, end):
    """Solve some islands until none of them is going on."""
    going = 0
    sides = 0
    for i in range(first, end):
        going += c.island_going[i]
        for n in range(c.island_patches[i], c.island_patches[i + 1]):
            if c.island_going[i] == 1 and c.lacking == 0:
                sides = find_sides(c, n, sides)
    if going > 0 and c.lacking == 0:
        predict_group(c, first, end)
    while going > 0 and c.lacking == 0:
        solve_group(c, first, end, 0)
        react_group(c, first, end, 0)
        going = 0
        for i in range(first, end):
            if c.island_going[i] == 1:
                if goes_on(c, i):
                    decide_again(c, i)
                    going += 1
                else:
                    c.island_going[i] = 0
                    keep_island_impulses(c, i)


@kernel(c=Crowd)
def iterate(c):
    """Solve all islands that are going on."""
    for k in range(0, c.islands, GROUP):
        iterate_group(c, k, min(k + GROUP, c.islands))
