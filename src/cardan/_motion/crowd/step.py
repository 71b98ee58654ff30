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

from cardan._compiler.kernels import F64, I32, INT, TRUTH, kernel
from cardan._motion.crowd.alone import UNKNOWN, finish_alone, stand_alone, try_alone
from cardan._motion.crowd.batches import copy, run_kinds, run_where
from cardan._motion.crowd.bounces import is_any_bouncing
from cardan._motion.crowd.islands import (
    COSTLY,
    are_laid_out,
    find_islands,
    is_heap,
    lay_out_island,
    may_be_swept,
    order_island,
)
from cardan._motion.crowd.narrow import (
    find_contacts,
    find_met,
    keep_impulses,
    list_where_needed,
    place_listed,
    place_touching,
)
from cardan._motion.crowd.newton import fill_contacts, iterate
from cardan._motion.crowd.parts import (
    BOUNCES,
    FACTORS,
    HEAPS,
    HINGES,
    LEAVING,
    MEETING,
    RESTING,
    ROBOTS,
    SLEEPERS,
    TOUCHED,
    call_part,
)
from cardan._motion.crowd.rigid import kick_bodies, move_bodies, share_impulses
from cardan._motion.crowd.sleep import ASLEEP, settle
from cardan._motion.crowd.sweeps import SWEEPING
from cardan._motion.crowd.tables import ORDER, TREES, WOKEN, Crowd

# pyright: analyzeUnannotatedFunctions=false

HEAPED = 300
"""Trees of a heap of balls from which on it is right after sweeps to `NEARLY`."""
HEAPED_RIGIDLY = 16
"""The same under XPBD, whose contacts do not give way: there sweeps to the end, and factors, take much longer."""
NEARLY = 1e-3
"""By how much velocities may be wrong after sweeps that no factor follows [m/s]."""


@kernel(rows=F64[:], source=I32[:], numbers=F64[:], n=INT, inlined=False)
def gather(rows, source, numbers, n):
    """Take numbers of the worlds as the trees have them."""
    for e in range(n):
        rows[e] = numbers[source[e]]


@kernel(rows=F64[:], source=I32[:], numbers=F64[:], n=INT, inlined=False)
def scatter(rows, source, numbers, n):
    """Give numbers of the trees to the worlds."""
    for e in range(n):
        numbers[source[e]] = rows[e]


@kernel(numbers=F64[:], n=INT, inlined=False)
def round_to_single(numbers, n):
    """Leave numbers the 24 bits that single precision has (Dekker 1971)."""
    for e in range(n):
        scaled = 536870913.0 * numbers[e]  # 2^29 + 1
        numbers[e] = scaled - (scaled - numbers[e])


@kernel(c=Crowd)
def read_controls(c):
    gather(c.effort_rows, c.v_source, c.effort, c.numbers_v)
    gather(c.position_rows, c.v_source, c.position, c.numbers_v)
    gather(c.velocity_rows, c.v_source, c.velocity, c.numbers_v)
    gather(c.wrench_rows, c.w_source, c.wrenches, c.numbers_w)


@kernel(c=Crowd)
def wake_all(c):
    """Have no tree asleep."""
    for w in range(c.worlds):
        c.world_awake[w] = c.world_trees
    for t in range(c.trees):
        c.tree_alone[t] = 0


@kernel(c=Crowd)
def start_trees(c):
    if c.sleep > 0.0:
        call_part(c, SLEEPERS)
    else:
        wake_all(c)
    if c.lacking != 0:
        return
    if c.done == 0 or c.sleep > 0.0:
        gather(c.q_rows, c.q_source, c.q, c.numbers_q)
        gather(c.v_rows, c.v_source, c.v, c.numbers_v)
    for k in range(c.kinds):
        if c.alone[k] == 0 or c.joined == 1:
            start_kind(c, k)


@kernel(c=Crowd, k=INT)
def start_kind(c, k):
    """Begin those trees of a kind that are not alone."""
    if c.start[k] != 0:
        run_where(c, c.tree_alone, c.start[k], k, 0)
        return
    for t in range(c.kind_tree[k], c.kind_tree[k] + c.kind_rows[k]):
        if c.tree_alone[t] == 0:
            c.lacking = TREES
            c.wanted = k


@kernel(c=Crowd)
def start_islands(c):
    """Begin the trees that could have been alone, but are not."""
    for k in range(c.kinds):
        if c.alone[k] != 0 and c.joined == 0:
            start_kind(c, k)
    for t in range(c.trees):
        if c.tree_alone[t] != 1:
            for b in range(c.tree_first[t], c.tree_first[t] + c.tree_blocks[t]):
                c.before[b] = 0.0


@kernel(c=Crowd, stage=INT, returns=TRUTH)
def are_any(c, stage):
    """Return whether any island is at this stage of its sweeps; 0 of those that are not swept."""
    count = 0
    for i in range(c.islands):
        count += int(c.island_swept[i] == stage)
    return count > 0


@kernel(c=Crowd)
def sweep_marked(c):
    if are_any(c, SWEEPING):
        call_part(c, HEAPS)


@kernel(c=Crowd)
def sweep_heaps(c):
    """Sweep heaps of balls: small ones to the end, if that is soon."""
    few = HEAPED if c.leave == 0 else HEAPED_RIGIDLY
    for i in range(c.islands):
        c.island_swept[i] = SWEEPING if is_heap(c, i) and may_be_swept(c, i) else 0
        c.island_within[i] = c.tolerance if c.island_trees[i + 1] - c.island_trees[i] <= few else NEARLY
    sweep_marked(c)


@kernel(c=Crowd)
def lay_out_anew(c):
    """Lay out the matrices of islands that are not swept, but for those of loose bodies with costly factors."""
    c.island_vector[0] = 0
    c.island_block[0] = 0
    for i in range(c.islands):
        c.island_vector[i + 1] = c.island_vector[i]
        c.island_block[i + 1] = c.island_block[i]
        if c.island_swept[i] == 0:
            is_loose = may_be_swept(c, i)
            if order_island(c, i, COSTLY if is_loose else 1 << 40):
                lay_out_island(c, i)
            elif not is_loose:
                c.lacking = ORDER
        if c.lacking != 0:
            return
    c.laid_patches = c.patches


@kernel(c=Crowd)
def lay_out_islands(c):
    """Lay out islands, if they are not as they were; those left out are swept."""
    if not are_laid_out(c):
        lay_out_anew(c)
    if c.lacking != 0:
        return
    for i in range(c.islands):
        is_laid = c.island_block[i] < c.island_block[i + 1] or c.island_long[i] == 1
        c.island_going[i] = 1 if is_laid else 0
        if c.island_going[i] == 1:
            c.island_count[i] = 0
        elif c.island_swept[i] == 0:
            c.island_swept[i] = SWEEPING
            c.island_within[i] = NEARLY


@kernel(c=Crowd)
def solve_by_factors(c):
    """Solve all islands that were not swept; those with costly factors are swept now."""
    lay_out_islands(c)
    if c.lacking == 0:
        sweep_marked(c)
    if c.lacking == 0:
        iterate(c)


@kernel(c=Crowd)
def solve_islands(c):
    sweep_heaps(c)
    if c.lacking == 0 and are_any(c, 0):
        call_part(c, FACTORS)


@kernel(c=Crowd)
def leave_contacts(c):
    """Solve for contacts once more, for velocities (`rigid`)."""
    move_bodies(c)
    c.is_leaving = 1
    solve_islands(c)
    c.is_leaving = 0
    kick_bodies(c)


@kernel(c=Crowd)
def free_others(c):
    """Give trees that are in no island the accelerations that they have without contacts."""
    for t in range(c.trees):
        if c.island_of[t] < 0 and c.tree_alone[t] != 1:
            for k in range(c.tree_first[t], c.tree_first[t] + c.tree_blocks[t]):
                c.change[k] = c.free[k]


@kernel(c=Crowd)
def finish_trees(c):
    run_kinds(c, c.tree_alone, c.finish, 0)
    finish_alone(c)


@kernel(c=Crowd)
def settle_state(c):
    """Leave the state after the step the precision that it is kept in, and let islands fall asleep."""
    if c.single == 1:  # so that steps are the same however many of them a call takes
        round_to_single(c.q_after, c.numbers_q)
        round_to_single(c.v_after, c.numbers_v)
    if c.sleep > 0.0:
        call_part(c, RESTING)


@kernel(c=Crowd)
def end_step(c):
    """Leave the state after the step where the next one, or the call, looks for it."""
    if c.done + 1 == c.steps or c.sleep > 0.0:
        scatter(c.q_after, c.q_source, c.q, c.numbers_q)
        scatter(c.v_after, c.v_source, c.v, c.numbers_v)
        scatter(c.a_rows, c.v_source, c.a, c.numbers_v)
    else:  # what the next step begins with
        copy(c.q_rows, 0, c.q_after, 0, c.numbers_q)
        copy(c.v_rows, 0, c.v_after, 0, c.numbers_v)


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
        w = c.tree_world[t]
        if c.tree_alone[t] != ASLEEP and c.tree_residual[t] > c.residual[w]:  # nothing is above what is unknown
            c.residual[w] = c.tree_residual[t]
        if c.tree_sound[t] == 0.0:
            c.world_sound[w] = 0
            c.residual[w] = UNKNOWN
    for w in range(c.worlds):
        c.good[w] += float(c.world_sound[w])


@kernel(c=Crowd)
def find_near_robots(c):
    """List pairs where that is needed, and take the steps of robots alone."""
    list_where_needed(c)
    if c.lacking != 0:
        return
    place_listed(c)
    if c.hinged == 1:
        call_part(c, HINGES)


@kernel(c=Crowd)
def try_those_apart(c):
    """Take the steps of robots whose hinges are looked at, and that meet no other."""
    find_met(c)
    try_alone(c)


@kernel(c=Crowd)
def find_touching_robots(c):
    """Find which robots touch themselves."""
    settle(c)
    if c.hinged == 1:
        call_part(c, ROBOTS)
    if c.lacking == 0:
        place_touching(c)


@kernel(c=Crowd)
def meet(c):
    """Find where trees touch others or themselves, and what forces do to those, and to all that are not alone."""
    find_contacts(c)
    if c.lacking == 0 and c.sleep > 0.0:
        call_part(c, TOUCHED)
    if c.lacking == 0:
        start_islands(c)
    if c.lacking != 0:
        return
    find_islands(c)
    fill_contacts(c)
    solve_islands(c)
    free_others(c)
    if c.lacking == 0 and c.leave == 0 and is_any_bouncing(c):
        call_part(c, BOUNCES)


@kernel(c=Crowd, returns=TRUTH)
def may_meet(c):
    """Return whether shapes are listed, or a tree is not alone whose forces answer to its acceleration."""
    is_any = c.joined == 1
    for world in range(c.worlds):
        is_looked_at = c.world_awake[world] > 0 and c.world_near[world] == 1
        is_any = is_any or (is_looked_at and c.listed_count[world] > 0)
    for t in range(c.trees):
        is_solved = c.tree_elements[t] > 0 or c.middle[c.tree_kind[t]] != 0
        is_any = is_any or c.tree_touched[t] == 1 or (is_solved and c.tree_alike[t] == 0)
    return is_any


@kernel(c=Crowd)
def stay_apart(c):
    """Begin trees in a step in which nothing meets."""
    stand_alone(c)
    for t in range(c.trees):
        c.island_of[t] = -1
    start_islands(c)
    free_others(c)


@kernel(c=Crowd)
def move_others(c):
    """Take the steps of trees that touch others or themselves, and of all that have not taken theirs."""
    find_touching_robots(c)
    if c.lacking != 0:
        return
    if may_meet(c):
        call_part(c, MEETING)
    else:
        stay_apart(c)
    if c.lacking == 0 and c.leave != 0:
        call_part(c, LEAVING)
    if c.lacking == 0:
        finish_trees(c)
        if c.leave != 0:
            share_impulses(c)


@kernel(c=Crowd)
def take_step(c):
    """Take a step; it is not done if a list is too short, or something woke."""
    start_trees(c)
    if c.lacking == 0:
        find_near_robots(c)
    if c.lacking != 0:
        return
    c.islands = 0
    c.contacts = 0
    c.patches = 0
    if c.known_apart < c.trees:  # else all have taken theirs
        move_others(c)
    if c.lacking == 0:
        settle_state(c)
    if c.lacking != 0:
        return
    keep_impulses(c)
    end_step(c)
    judge_worlds(c)
    c.done += 1


@kernel(c=Crowd)
def take_steps(c):
    """Take those steps of a call that are not done; some stay if a list is too short."""
    read_controls(c)
    c.lacking = 0
    while c.done < c.steps and c.lacking == 0:
        take_step(c)
        if c.lacking == WOKEN:  # with those it is made anew
            c.lacking = 0
