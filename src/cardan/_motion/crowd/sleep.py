"""Islands at rest: loose bodies that are slow for long enough are not computed until something acts on them.

An island falls asleep when all points of its bodies are slower than `sleep`, and each body has been so for `REST`, of
which a faster step takes back `LOST`: then its velocities are set to zero, which is told as residual of that step. Of a
ball its centre counts, and a part of its turning. For in a large pile some ball always rattles or spins in its place
where nothing resists that, and moves nobody. The island wakes as a whole if one of its bodies

    is touched by a body that is awake,
    is pushed, by an effort or a wrench,
    is elsewhere than it fell asleep, or has a velocity.

So who sleeps follows from the state: of each tree `rest` tells how long it has been slow, and of one asleep to which
island it belongs, by the first tree of that. Bodies whose island holds a robot, or anything that moves as it is told,
stay awake, and so do bodies that touch nothing.

Source: Ericson, Real-Time Collision Detection (2005), section 2.3, for what islands at rest are good for.
Cost: 20 numbers are read for each body asleep.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, REAL, TRUTH, kernel, sqrt
from cardan._motion.crowd.batches import copy
from cardan._motion.crowd.tables import BITS, MASK, WOKEN, Crowd

# pyright: analyzeUnannotatedFunctions=false

REST = 0.5
"""How long an island is slow before it falls asleep [s]."""
LOST = 2
"""Steps in which a body is slow that one in which it is not outweighs: what swings is slow at up to 1.15 `sleep`."""
SPIN = 0.1
"""The part of a ball's turning that counts: one whose surface is ten times as fast as others may be stays awake."""
ASLEEP = 2
"""In place of whether a tree is stepped alone."""
NQ, NV = 7, 6  # of a loose body


@kernel(c=Crowd, t=INT, returns=TRUTH)
def is_pushed(c, t):
    """Return whether anything is asked of a loose body: it is not 0, or no number."""
    still = True
    for e in range(c.tree_v[t], c.tree_v[t] + NV):
        still = still and c.effort_rows[e] == 0.0
    if c.numbers_w > 0:
        for e in range(c.tree_wrench[t], c.tree_wrench[t] + NV):
            still = still and c.wrench_rows[e] == 0.0
    return not still


@kernel(c=Crowd, t=INT, returns=TRUTH)
def is_disturbed(c, t):
    """Return whether a body asleep is not as it fell asleep."""
    same = c.tree_pushed[t] == 0
    for e in range(c.tree_q[t], c.tree_q[t] + NQ):
        same = same and c.q[c.q_source[e]] == c.rest_q[c.q_source[e]]
    for e in range(c.tree_v[t], c.tree_v[t] + NV):
        same = same and c.v[c.v_source[e]] == 0.0
    return not same


@kernel(c=Crowd, t=INT, returns=INT)
def island_asleep(c, t):
    """Return where the first tree of a tree's island is in `rest`; -1 of one that is awake."""
    rest = c.rest[c.tree_rest[t]]
    return c.tree_world[t] * c.world_trees - 1 - rest if rest < 0 else -1


@kernel(c=Crowd, returns=INT)
def wake(c):
    """Wake the islands that are marked; return how many trees that are."""
    count = 0
    for t in range(c.trees):
        first = island_asleep(c, t)
        if first >= 0 and c.rest_woken[first] == 1:
            c.rest[c.tree_rest[t]] = 0
            count += 1
    for k in range(c.trees):
        c.rest_woken[k] = 0
    return count


@kernel(c=Crowd)
def wake_disturbed(c):
    """Wake the islands on whose bodies anything acts that their own world asks for."""
    for t in range(c.trees):
        if c.tree_loose[t] == 1:
            c.tree_pushed[t] = 1 if is_pushed(c, t) else 0
            first = island_asleep(c, t)
            if first >= 0 and is_disturbed(c, t):
                c.rest_woken[first] = 1
    wake(c)


@kernel(c=Crowd)
def wake_touched(c):
    """Wake the islands that a body awake touches, or may in this step, which is made anew if there are any."""
    for p in range(c.patches):
        for side in range(2):
            if is_asleep(c, c.found_shapes[p, side]):
                c.rest_woken[island_asleep(c, c.node_tree[c.shape_node[c.found_shapes[p, side]]])] = 1
    if wake(c) > 0:
        c.lacking = WOKEN


# --- what stands in the tables of a body asleep -----------------------------------------------------------------------


@kernel(c=Crowd, t=INT, returns=TRUTH)
def is_placed(c, t):
    """Return whether these tables know where the shapes of a body asleep are."""
    same = c.tree_placed[t] == 1
    for e in range(c.tree_q[t], c.tree_q[t] + NQ):
        same = same and c.q_rows[e] == c.q[c.q_source[e]]
    return same


@kernel(c=Crowd)
def find_asleep(c):
    """Find which trees are asleep; one that is not yet placed is begun as others are."""
    if c.done == 0:
        wake_disturbed(c)
    for w in range(c.worlds):
        c.world_awake[w] = 0
    for t in range(c.trees):
        is_asleep = island_asleep(c, t) >= 0 and is_placed(c, t)
        c.tree_alone[t] = ASLEEP if is_asleep else 0
        c.tree_placed[t] = 1 if is_asleep else 0
        c.world_awake[c.tree_world[t]] += 1 - c.tree_placed[t]


@kernel(c=Crowd)
def settle(c):
    """Give bodies asleep that have just been placed their state after the step."""
    c.asleep = 0
    for t in range(c.trees):
        c.asleep += 1 if island_asleep(c, t) >= 0 else 0
        if c.tree_placed[t] == 0 and island_asleep(c, t) >= 0:
            c.tree_placed[t] = 1
            c.tree_alone[t] = ASLEEP
            c.tree_sound[t] = 1.0
            copy(c.q_after, c.tree_q[t], c.q_rows, c.tree_q[t], NQ)
            stop(c, t)


@kernel(c=Crowd, t=INT)
def stop(c, t):
    for e in range(c.tree_v[t], c.tree_v[t] + NV):
        c.v_after[e] = 0.0
        c.a_rows[e] = 0.0


@kernel(c=Crowd, s=INT, returns=TRUTH)
def is_asleep(c, s):
    """Return whether a shape is on a body asleep."""
    t = c.node_tree[c.shape_node[s]]
    return t >= 0 and c.tree_alone[t] == ASLEEP


@kernel(c=Crowd, key=INT, returns=TRUTH)
def are_asleep(c, key):
    """Return whether a pair of shapes is of bodies asleep, or of one and what is fixed."""
    a = c.node_tree[c.shape_node[(key >> BITS) & MASK]]
    b = c.node_tree[c.shape_node[key & MASK]]
    return c.asleep > 0 and c.tree_alone[a] == ASLEEP and (b < 0 or c.tree_alone[b] == ASLEEP)


# --- who falls asleep -------------------------------------------------------------------------------------------------


@kernel(c=Crowd, t=INT, extent=REAL, returns=REAL)
def speed_after(c, t, extent):
    """Return how fast a point so far from a loose body's origin is, at most [m/s]; 1e300 of what does not sleep."""
    if c.tree_loose[t] == 0 or c.tree_pushed[t] == 1 or c.tree_sound[t] == 0.0:
        return 1e300
    v = c.tree_v[t]
    linear = 0.0
    angular = 0.0
    for e in range(3):
        linear += c.v_after[v + e] * c.v_after[v + e]
        angular += c.v_after[v + 3 + e] * c.v_after[v + 3 + e]
    return sqrt(linear) + extent * sqrt(angular)


@kernel(c=Crowd, i=INT)
def rest_island(c, i):
    """Count how long an island has been slow; let it fall asleep if that is long enough."""
    fastest = 0.0
    least = c.rest_steps
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        t = c.members[m]
        k = c.tree_rest[t]
        speed = speed_after(c, t, c.tree_turned[t])
        c.rest[k] = min(c.rest[k] + 1, c.rest_steps) if speed <= c.sleep else max(c.rest[k] - LOST, 0)
        fastest = max(fastest, speed)
        least = min(least, c.rest[k])
    if least < c.rest_steps or fastest > c.sleep:
        return
    first = c.members[c.island_trees[i]]
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        t = c.members[m]
        c.island_residual[i] = max(c.island_residual[i], speed_after(c, t, c.tree_extent[t]))
        c.rest[c.tree_rest[t]] = c.tree_world[t] * c.world_trees - 1 - c.tree_rest[first]
        stop(c, t)


@kernel(c=Crowd)
def rest_islands(c):
    for t in range(c.trees):
        if c.island_of[t] < 0 and c.tree_alone[t] != ASLEEP:
            c.rest[c.tree_rest[t]] = 0
    for i in range(c.islands):
        rest_island(c, i)
