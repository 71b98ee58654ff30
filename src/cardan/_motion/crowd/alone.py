"""Robots that meet no other: each takes its step by the program of a robot alone, in a lane of its own.

A robot is alone if none of its shapes is near a shape of another tree (`narrow.are_near`). This hangs on the state
alone, so a step is the same whatever was before, and whoever else is in the world. A robot with others at its side is
part of an island, and steps as `newton` says: by the same law, right to the same residual. So does one that touches
itself, or what stays beside it, if its hinges are looked at (`itself`): its program has no such pairs.

Where a robot is listed with no other, and has room to move since, it is alone. So its shapes need not be placed.
"""

from __future__ import annotations

import math

from cardan._compiler.kernels import I32, I64, INT, kernel
from cardan._motion.crowd.batches import copy, run_kinds, run_where
from cardan._motion.crowd.itself import is_known_apart
from cardan._motion.crowd.sleep import ASLEEP
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

UNKNOWN = math.nan


@kernel(c=Crowd)
def try_alone(c):
    """Take the steps of robots whose hinges are looked at, and that meet no other, as if none touched itself."""
    for t in range(c.trees):
        if c.tree_met[t] == 1:
            copy(c.v_after, c.hinge_v[t], c.v_rows, c.hinge_v[t], c.tree_hinges[t])
    for k in range(c.kinds):
        if c.ending[k] != 0:
            run_where(c, c.tree_met, c.alone[k], k, 0)
    c.known_apart = 0
    for t in range(c.trees):
        is_free = c.tree_hinges[t] > 0 and c.tree_met[t] == 0  # else it may be nearer itself than it has room for
        c.tree_apart[t] = 1 if is_free and is_known_apart(c, t) else 0
        c.tree_touched[t] = 0
        c.tree_alone[t] = 1 if c.tree_apart[t] == 1 else c.tree_alone[t]
        c.known_apart += c.tree_apart[t]


@kernel(c=Crowd)
def finish_alone(c):
    """Take the steps of robots that are alone and were not tried."""
    for t in range(c.trees):
        is_tried = c.tree_hinges[t] > 0 and c.tree_met[t] == 0
        c.tree_near[t] = 1 if c.tree_alone[t] == 1 and not is_tried else 0
    run_kinds(c, c.tree_near, c.alone, 1)


@kernel(c=Crowd)
def look_at_room(c):
    """Find in which worlds a robot has moved so far since pairs were listed that others may be near."""
    for w in range(c.worlds):
        c.world_moved[w] = 0
    for t in range(c.trees):
        c.tree_near[t] = 0 if c.joined == 0 and c.tree_lonely[t] == 1 and c.tree_hinges[t] > 0 else 1
    run_kinds(c, c.tree_near, c.moving, 1)
    for t in range(c.trees):
        if c.tree_near[t] == 1 and c.tree_alike[t] == 1 and not c.tree_slack[t] >= 0.0:
            c.world_moved[c.tree_world[t]] = 1


@kernel(c=Crowd, flags=I32[:], keys=I64[:], count=INT, value=INT, returns=INT)
def keep_where(c, flags, keys, count, value):
    """Drop pairs of which no tree has a flag of this value; return how many are left."""
    left = 0
    for k in range(count):
        a = c.node_tree[c.shape_node[(keys[k] >> BITS) & MASK]]
        b = c.node_tree[c.shape_node[keys[k] & MASK]]
        if flags[a] == value or (b >= 0 and flags[b] == value):
            keys[left] = keys[k]
            left += 1
    return left


@kernel(c=Crowd, flags=I32[:], keys=I64[:], count=INT, value=INT)
def mark_meeting(c, flags, keys, count, value):
    """Give a flag to both trees of each pair of two that move, and to trees at the base of others; not if asleep.

    A pair of one tree counts where its program has no such pairs. Those that its hinges are looked at for are not here.
    """
    for k in range(count):
        a = c.node_tree[c.shape_node[(keys[k] >> BITS) & MASK]]
        second = keys[k] & MASK
        b = c.node_tree[c.shape_node[second]]
        if b < 0 and c.shape_base[second] >= 0 and c.shape_base[second] != c.tree_base[a]:
            flags[a] = value if flags[a] != ASLEEP else ASLEEP
        if b >= 0 and (a != b or c.tree_itself[a] == 0):
            flags[a] = value if flags[a] != ASLEEP else ASLEEP
            flags[b] = value if flags[b] != ASLEEP else ASLEEP


@kernel(c=Crowd, keys=I64[:], count=INT, world=INT, returns=INT)
def note_couples(c, keys, count, world):
    """Note which robots of a world are listed with others, and leave out what others have; return how many are left."""
    for m in range(world * c.world_trees, (world + 1) * c.world_trees):
        t = c.world_tree[m]
        c.tree_listed[t] = 1 if c.joined == 1 else 1 - c.tree_alike[t]
        c.tree_coupled[t] = 1 if c.tree_hinges[t] > 0 else c.tree_listed[t]
        for n in range(c.tree_ball[t], c.tree_ball[t + 1]):
            s = c.ball_shape[n]
            if s >= 0:
                copy(c.listed_balls[n], 0, c.ball[s], 0, 3)
                c.listed_balls[n, 3] = c.reach[s]
                c.tree_slack[t] = min(c.tree_slack[t], c.shape_slack[s]) if n > c.tree_ball[t] else c.shape_slack[s]
    if c.joined == 1:
        return count
    mark_meeting(c, c.tree_listed, keys, count, 1)
    mark_meeting(c, c.tree_coupled, keys, count, 1)
    return keep_where(c, c.tree_coupled, keys, count, 1)


@kernel(c=Crowd)
def stand_alone(c):
    """Have all robots alone that do not touch themselves, as if none met another."""
    for t in range(c.trees):
        c.tree_alone[t] = 1 - c.tree_touched[t] if c.tree_alike[t] == 1 else c.tree_alone[t]


@kernel(c=Crowd, keys=I64[:], count=INT, returns=INT)
def leave_alone(c, keys, count):
    """Find which trees are alone, and drop what they have of pairs that are near; return how many are left."""
    if c.joined == 1:
        return count
    stand_alone(c)
    mark_meeting(c, c.tree_alone, keys, count, 0)
    return keep_where(c, c.tree_alone, keys, count, 0)
