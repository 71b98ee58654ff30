"""A step of many bodies.

    1  trees:     M, the forces h and node rows, by the program of each kind (`tree_rows`)
    2  contacts:  balls that may meet, then shapes, by the program of each kind of pair (`narrow`)
    3  islands:   trees that touch one another (`islands`)
    4  forces:    by sweeps where balls are heaped (`sweeps`), by Newton's method and a factor otherwise (`newton`)
    5  trees:     the state after the step

What is computed of an island hangs on its own trees and contacts alone, and sums are in their order. So its bits are
the same whoever is beside it. A step that lacks room in a list changes nothing but `lacking`, which says in which.
"""

from __future__ import annotations

import math

from cardan._compiler.kernels import INT, kernel, run
from cardan._motion.crowd.islands import (
    COSTLY,
    find_islands,
    is_heap,
    lay_out_island,
    leave_out_island,
    may_be_swept,
    order_island,
)
from cardan._motion.crowd.narrow import find_contacts, keep_impulses, place_shapes
from cardan._motion.crowd.newton import fill_contacts, find_sides, iterate
from cardan._motion.crowd.sweeps import SWEEPING, sweep
from cardan._motion.crowd.tables import ORDER, Crowd

# pyright: analyzeUnannotatedFunctions=false

UNKNOWN = math.nan
HEAPED = 300
"""Trees of a heap of balls from which on it is right after sweeps to `NEARLY`."""
NEARLY = 1e-3
"""By how much velocities may be wrong after sweeps that no factor follows [m/s]."""


@kernel(c=Crowd)
def start_trees(c):
    for e in range(c.numbers_q):
        c.q_rows[e] = c.q[c.q_source[e]]
    for e in range(c.numbers_v):
        c.v_rows[e] = c.v[c.v_source[e]]
        c.effort_rows[e] = c.effort[c.v_source[e]]
        c.position_rows[e] = c.position[c.v_source[e]]
        c.velocity_rows[e] = c.velocity[c.v_source[e]]
    for e in range(c.numbers_w):
        c.wrench_rows[e] = c.wrenches[c.w_source[e]]
    for t in range(c.trees):
        for k in range(c.tree_first[t], c.tree_first[t] + c.tree_blocks[t]):
            c.before[k] = 0.0
    for k in range(c.kinds):
        run(c.start[k], c.kind_rows[k])


@kernel(c=Crowd)
def sweep_heaps(c):
    """Sweep heaps of balls: small ones to the end, if that is soon."""
    for i in range(c.islands):
        c.island_swept[i] = SWEEPING if is_heap(c, i) and may_be_swept(c, i) else 0
        c.island_within[i] = c.tolerance if c.island_trees[i + 1] - c.island_trees[i] <= HEAPED else NEARLY
    sweep(c)


@kernel(c=Crowd)
def lay_out_islands(c):
    """Lay out the matrices of islands that are not swept; those of loose bodies with costly factors are swept, too."""
    sides = 0
    c.island_vector[0] = 0
    c.island_block[0] = 0
    c.island_triple[0] = 0
    for i in range(c.islands):
        c.island_going[i] = 0
        if c.island_swept[i] == 0 and not order_island(c, i, COSTLY if may_be_swept(c, i) else 1 << 40):
            if not may_be_swept(c, i):
                c.lacking = ORDER
                return
            c.island_swept[i] = SWEEPING
            c.island_within[i] = NEARLY
        if c.island_swept[i] != 0:
            leave_out_island(c, i)
            continue
        c.island_going[i] = 1
        c.island_count[i] = 0
        lay_out_island(c, i)
        for n in range(c.island_patches[i], c.island_patches[i + 1]):
            if c.lacking == 0:
                sides = find_sides(c, n, sides)
        if c.lacking != 0:
            return


@kernel(c=Crowd)
def begin_islands(c):
    sweep_heaps(c)
    lay_out_islands(c)
    if c.lacking == 0:
        sweep(c)


@kernel(c=Crowd)
def finish_trees(c):
    for t in range(c.trees):
        if c.island_of[t] < 0:
            for k in range(c.tree_first[t], c.tree_first[t] + c.tree_blocks[t]):
                c.change[k] = c.free[k]
    for k in range(c.kinds):
        run(c.finish[k], c.kind_rows[k])
    for e in range(c.numbers_q):
        c.q[c.q_source[e]] = c.q_after[e]
    for e in range(c.numbers_v):
        c.v[c.v_source[e]] = c.v_after[e]
    for t in range(c.trees):
        for e in range(c.tree_nv[t]):
            c.a[c.v_source[c.tree_v[t] + e]] = c.a_blocks[c.tree_first[t] + e // 6, e % 6]


@kernel(c=Crowd)
def judge_worlds(c):
    """Find each world's residual, and count the step where all of it was sound."""
    for w in range(c.worlds):
        c.residual[w] = 0.0
        c.world_sound[w] = 1
    for i in range(c.islands):
        w = c.tree_world[c.members[c.island_trees[i]]]
        c.residual[w] = c.island_residual[i] if c.island_residual[i] > c.residual[w] else c.residual[w]
    for t in range(c.trees):
        if c.tree_sound[t] == 0.0:
            c.world_sound[c.tree_world[t]] = 0
            c.residual[c.tree_world[t]] = UNKNOWN
    for w in range(c.worlds):
        c.good[w] += float(c.world_sound[w])


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
        fill_contacts(c)
        begin_islands(c)
        if c.lacking != 0:
            return n
        iterate(c)
        keep_impulses(c)
        finish_trees(c)
        judge_worlds(c)
    return steps
