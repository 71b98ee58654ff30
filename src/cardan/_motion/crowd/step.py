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

from cardan._compiler.kernels import INT, TRUTH, kernel, run
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
from cardan._motion.crowd.sweeps import accelerate_body, begin_sweeps, keep_sweep, sweep_island
from cardan._motion.crowd.tables import ORDER, Crowd

# pyright: analyzeUnannotatedFunctions=false

FIRST_SWEEPS = 24
"""With which an island of balls begins: more take longer than the factor that may follow."""
MOST_SWEEPS = 100
SWEPT = 1e-3
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


@kernel(c=Crowd, i=INT)
def sweep_bodies(c, i):
    """Take what sweeps found of an island as its accelerations and impulses."""
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        accelerate_body(c, c.members[m])
    keep_sweep(c, i)


@kernel(c=Crowd, i=INT, returns=TRUTH)
def is_swept(c, i):
    """Sweep an island where that is enough, and return whether it was; else find the order of its matrix."""
    c.island_count[i] = 0
    if not may_be_swept(c, i):
        if not order_island(c, i, 1 << 40):
            c.lacking = ORDER
        return False
    if is_heap(c, i):
        begin_sweeps(c, i)
        if sweep_island(c, i, FIRST_SWEEPS, c.tolerance):
            return True
    if order_island(c, i, COSTLY):
        return False
    if c.island_count[i] == 0:
        begin_sweeps(c, i)
    sweep_island(c, i, MOST_SWEEPS, SWEPT)
    return True


@kernel(c=Crowd)
def begin_islands(c):
    """Sweep where that is enough, and lay out the matrices of all other islands."""
    sides = 0
    c.island_vector[0] = 0
    c.island_block[0] = 0
    c.island_triple[0] = 0
    for i in range(c.islands):
        c.island_swept[i] = int(is_swept(c, i))
        c.island_going[i] = 1 - c.island_swept[i]
        if c.lacking != 0:
            return
        if c.island_swept[i] == 1:
            sweep_bodies(c, i)
            leave_out_island(c, i)
            continue
        c.island_count[i] = 0
        lay_out_island(c, i)
        for n in range(c.island_patches[i], c.island_patches[i + 1]):
            if c.lacking == 0:
                sides = find_sides(c, n, sides)
        if c.lacking != 0:
            return


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
        c.residual[w] = c.island_residual[i] if not c.island_residual[i] <= c.residual[w] else c.residual[w]
    for t in range(c.trees):
        if c.tree_sound[t] == 0.0:
            c.world_sound[c.tree_world[t]] = 0
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
