"""What a robot may touch of itself, if that is so much that its program of a step alone has none of it.

How far apart two of its shapes are changes only with the joints j between their nodes:

    |change of d| <= sum L_j |change of q_j|,      L_j: how far a point of the shape is from the hinge, at most

So two shapes of gap d stay apart in a step while the sum over L_j (|q_j - q_j'| + AHEAD dt |v_j|) is less than the
*room* d - (what contact is looked for in), q' the coordinates at which d was found. When pairs are looked at, each
hinge is given the part T w_j of the room, w_j about its speed, with T the least that leaves room for all pairs. Until
a hinge has moved through its part, nothing of the robot touches itself, and nothing is looked at. This proves what the
search would find, so a step hangs on the state alone.

Source: Schwarzer, Saha and Latombe, Exact collision checking of robot paths (2004), for the bound on motion.
Cost: 5 operations a hinge; when pairs are looked at, 4 for each hinge between two shapes, and the search of few.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, REAL, TRUTH, kernel
from cardan._motion.contact.touching import AHEAD, SKIN
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

LATER = 6.0
"""For so many steps two shapes are to have room beside `AHEAD`; those that have less are searched for."""
SLOW = 0.1
"""What w is at least, of the greatest speed of a hinge."""
STILL = 1e-4
"""And at least [rad/s]."""
ROUNDING = 1e-6
"""Of sizes: by how much a search may be wrong."""


@kernel(c=Crowd, key=INT, returns=TRUTH)
def is_of_itself(c, key):
    """Return whether both shapes are of one robot whose program of a step alone does not have such pairs."""
    a = c.node_tree[c.shape_node[(key >> BITS) & MASK]]
    return a == c.node_tree[c.shape_node[key & MASK]] and c.tree_itself[a] == 0 and c.tree_alike[a] == 1


@kernel(c=Crowd, a=INT, b=INT, along_v=F64[:], returns=REAL)
def between(c, a, b, along_v):
    """Return the sum of levers times numbers of the hinges between the nodes of two shapes of a robot."""
    first = c.hinge_v[c.node_tree[c.shape_node[a]]]
    i = c.path_first[a]
    j = c.path_first[b]
    total = 0.0
    while c.path_node[i] != c.path_node[j]:  # parents have lower numbers
        if c.path_node[i] > c.path_node[j]:
            total += c.path_lever[i] * abs(along_v[first + c.path_v[i]])
            i += 1
        else:
            total += c.path_lever[j] * abs(along_v[first + c.path_v[j]])
            j += 1
    return total


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def skin_of(c, a, b):
    """Return how near two shapes at rest must be for contact to be looked for."""
    return c.shape_room[a] + c.shape_room[b] + SKIN * (c.shape_extent[a] + c.shape_extent[b])


@kernel(c=Crowd, a=INT, b=INT, gap=REAL, returns=REAL)
def room_of(c, a, b, gap):
    """Return the room of two shapes that are so far apart at least."""
    return gap - skin_of(c, a, b) - ROUNDING * (c.shape_extent[a] + c.shape_extent[b])


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def reach_of(c, a, b):
    """Return how near two shapes must be for contact to be looked for in this step: of one robot as its hinges move."""
    reach = c.further[a] + c.further[b]
    t = c.node_tree[c.shape_node[a]]
    if t != c.node_tree[c.shape_node[b]] or c.tree_hinges[t] == 0:
        return reach
    return min(reach, skin_of(c, a, b) + AHEAD * c.dt * between(c, a, b, c.v_rows))


@kernel(c=Crowd, t=INT, returns=TRUTH)
def is_known_apart(c, t):
    """Return whether a robot's hinges have moved so little since it was looked at that it is apart from itself."""
    gone = 0
    v = c.hinge_v[t]
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        moved = abs(c.q_rows[q] - c.checked_q[q]) + AHEAD * c.dt * abs(c.v_rows[v + i])
        gone += 0 if moved <= c.hinge_room[v + i] else 1
    return gone == 0 and c.tree_known[t] == 1 and c.joined == 0


@kernel(c=Crowd, t=INT)
def begin_check(c, t):
    """Find how far the hinges of a robot have moved since it was looked at, and about how fast they are."""
    v = c.hinge_v[t]
    c.tree_busy[t] = 1 if c.tree_time[t] < AHEAD * c.dt else 0
    fastest = STILL
    c.tree_before[t] = c.tree_moved[t]
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        c.hinge_moved[v + i] = abs(c.q_rows[q] - c.checked_q[q])
        c.checked_q[q] = c.q_rows[q]
        fastest = max(fastest, SLOW * abs(c.v_rows[v + i]))
    c.tree_pace[t] = 0.0
    for i in range(c.tree_hinges[t]):
        c.hinge_pace[v + i] = max(fastest, abs(c.v_rows[v + i]))
        c.tree_moved[t] += c.hinge_lever[v + i] * c.hinge_moved[v + i]
        c.tree_pace[t] += c.hinge_lever[v + i] * c.hinge_pace[v + i]
    c.tree_known[t] = 0
    c.tree_time[t] = 2.0 * c.tree_slack[t] / c.tree_pace[t]  # what is not listed has room for both shapes


@kernel(c=Crowd)
def look_at_hinges(c):
    """Find which robots are to be placed: those listed with others, and those not known to be apart from themselves."""
    for world in range(c.worlds):
        c.world_near[world] = 0
    for t in range(c.trees):
        c.tree_apart[t] = 0
        if c.tree_hinges[t] > 0 and c.tree_coupled[t] == 1:
            if is_known_apart(c, t):
                c.tree_apart[t] = 1
            else:
                begin_check(c, t)
        c.tree_near[t] = 0 if c.tree_apart[t] == 1 and c.tree_met[t] == 0 else c.tree_coupled[t]
        if c.tree_near[t] == 1:
            c.world_near[c.tree_world[t]] = 1


@kernel(c=Crowd)
def give_room(c):
    """Give each hinge of robots that were looked at the part of the room that its speed asks for."""
    for t in range(c.trees):
        if c.tree_near[t] == 1 and c.tree_hinges[t] > 0 and c.tree_apart[t] == 0 and c.joined == 0:
            c.tree_known[t] = 1 - c.tree_busy[t]
            for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
                c.hinge_room[v] = c.tree_time[t] * c.hinge_pace[v]
