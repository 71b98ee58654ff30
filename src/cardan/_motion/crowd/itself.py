"""What a robot may touch of itself, if that is so much that its program of a step alone has none of it.

Such a robot takes its step alone first. If no two of its shapes could touch in that step, that was its step: a contact
has no impulse where it is apart at the end (`contact/cone.py`). How far apart two shapes are changes only with the
joints j between their nodes:

    |change of d| <= sum L_j |change of q_j|,      L_j: how far a point of the shape is from the axis, at most

So two shapes of gap d stay apart while the sum over L_j (|q_j - q_j'| + HORIZON dt |v_j|) is less than the *room*, d
less their margins: q' the coordinates at which d was found, v the greater velocity of those before and after the step.
HORIZON covers that friction pushes apart what slips: v_n - mu |v_t| >= -sqrt(1 + mu^2) |v|. When pairs are looked at,
each hinge is given the part T w_j of the room, w_j about its speed, with T the least that leaves room for all pairs.
Until a hinge has moved through its part, nothing of the robot touches itself, and nothing is looked at.

Balls and boxes bound d, and the way along which a search found two shapes apart: it is likely to part them again. Each
proves what the search would find, so a step hangs on the state alone.

Of a robot that may meet others in this step the velocity after it is not known. Contact with itself is then looked for
as of two bodies, from a skin on (`touching.py`).

Source: Schwarzer, Saha and Latombe, Exact collision checking of robot paths (2004), for the bound on motion; van den
Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.4, for the way that is kept.
Cost: a step alone and 5 operations a hinge; when pairs are looked at, 4 for each hinge between two shapes, 3 for each
corner of few, and seldom a search.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, REAL, TRUTH, fma, kernel, sqrt
from cardan._motion.contact.touching import SKIN
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

LATER, FURTHER = 6.0, 24.0
"""For so many steps beside `horizon` two shapes are to have room, or they are searched for; and where a search ends."""
SLOW = 0.1
"""What w is at least, of the greatest speed of a hinge."""
STILL = 1e-4
"""And at least [rad/s]."""
ROUNDING = 1e-6
"""Of sizes: by how much a search may be wrong."""
BEYOND = 1e300


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


@kernel(c=Crowd, a=INT, b=INT, skin=REAL, returns=REAL)
def room_within(c, a, b, skin):
    """Return how near two shapes at rest are to be looked at, with a skin about each, a part of its size."""
    return c.shape_room[a] + c.shape_room[b] + skin * (c.shape_extent[a] + c.shape_extent[b])


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def reach_of(c, a, b):
    """Return how near two shapes must be for contact to be looked for in this step: of one robot as its hinges move."""
    reach = c.further[a] + c.further[b]
    t = c.node_tree[c.shape_node[a]]
    if t != c.node_tree[c.shape_node[b]] or c.tree_hinges[t] == 0:
        return reach
    return min(reach, room_within(c, a, b, SKIN) + c.horizon * c.dt * between(c, a, b, c.hinge_speed))


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def margin_of(c, a, b):
    """Return how near two shapes of a robot must be to touch: by a skin less, if its step alone says how it moves."""
    t = c.node_tree[c.shape_node[a]]
    return room_within(c, a, b, 0.0 if c.tree_tried[t] == 1 else SKIN)


@kernel(c=Crowd, a=INT, b=INT, gap=REAL, returns=REAL)
def room_of(c, a, b, gap):
    """Return the room of two shapes that are so far apart at least."""
    return gap - margin_of(c, a, b) - ROUNDING * (c.shape_extent[a] + c.shape_extent[b])


@kernel(c=Crowd, s=INT, x=REAL, y=REAL, z=REAL, returns=REAL)
def lowest(c, s, x, y, z):
    """Return how low a shape reaches along a direction, in its own axes."""
    one = BEYOND
    two = BEYOND
    three = BEYOND
    four = BEYOND
    for k in range(c.shape_corners[s] // 4):  # four at once wait for one another less
        i = c.shape_corner[s] + 4 * k
        one = min(one, fma(x, c.corner[i, 0], fma(y, c.corner[i, 1], z * c.corner[i, 2])))
        two = min(two, fma(x, c.corner[i + 1, 0], fma(y, c.corner[i + 1, 1], z * c.corner[i + 1, 2])))
        three = min(three, fma(x, c.corner[i + 2, 0], fma(y, c.corner[i + 2, 1], z * c.corner[i + 2, 2])))
        four = min(four, fma(x, c.corner[i + 3, 0], fma(y, c.corner[i + 3, 1], z * c.corner[i + 3, 2])))
    x *= c.shape_swept[s, 0]
    y *= c.shape_swept[s, 1]
    z *= c.shape_swept[s, 2]
    return min(min(one, two), min(three, four)) - sqrt(x * x + y * y + z * z)


@kernel(c=Crowd, k=INT, a=INT, b=INT, returns=REAL)
def parted(c, k, a, b):
    """Return how far two shapes are apart along the way they were when they were searched for; 0 if they were not."""
    A = c.shape_pose[a]
    B = c.shape_pose[b]
    u = c.listed_way[k, 0]
    v = c.listed_way[k, 1]
    w = c.listed_way[k, 2]
    x = A[0] * u + A[1] * v + A[2] * w
    y = A[3] * u + A[4] * v + A[5] * w
    z = A[6] * u + A[7] * v + A[8] * w
    between_origins = x * (A[9] - B[9]) + y * (A[10] - B[10]) + z * (A[11] - B[11])
    low = lowest(
        c, b, -B[0] * x - B[3] * y - B[6] * z, -B[1] * x - B[4] * y - B[7] * z, -B[2] * x - B[5] * y - B[8] * z
    )
    return between_origins + lowest(c, a, u, v, w) + low


@kernel(c=Crowd, t=INT, room=REAL, along=REAL)
def keep_time(c, t, room, along):
    """Note for how long a robot is apart from itself at its pace, at most: two of its shapes have so much room."""
    if not room >= c.tree_time[t] * along:  # divisions take long
        c.tree_time[t] = room / along


@kernel(c=Crowd, t=INT, returns=TRUTH)
def is_known_apart(c, t):
    """Return whether a robot's hinges have moved so little since it was looked at that it is apart from itself."""
    gone = 0
    v = c.hinge_v[t]
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        speed = max(abs(c.v_rows[v + i]), abs(c.v_after[v + i]))
        moved = abs(c.q_rows[q] - c.checked_q[q]) + c.horizon * c.dt * speed
        gone += 0 if moved <= c.hinge_room[v + i] else 1
    return gone == 0 and c.tree_known[t] == 1 and c.joined == 0


@kernel(c=Crowd, t=INT)
def begin_check(c, t):
    """Find how far the hinges of a robot have moved since it was looked at, and about how fast they are."""
    v = c.hinge_v[t]
    fastest = STILL
    c.tree_before[t] = c.tree_moved[t]
    c.tree_touched[t] = 0
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        c.hinge_moved[v + i] = abs(c.q_rows[q] - c.checked_q[q])
        c.checked_q[q] = c.q_rows[q]
        c.hinge_speed[v + i] = max(abs(c.v_rows[v + i]), abs(c.v_after[v + i]))
        fastest = max(fastest, SLOW * c.hinge_speed[v + i])
    c.tree_pace[t] = 0.0
    for i in range(c.tree_hinges[t]):
        c.hinge_pace[v + i] = max(fastest, c.hinge_speed[v + i])
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
        c.tree_touched[t] = 1 - c.tree_apart[t]
        if c.tree_hinges[t] > 0 and c.tree_coupled[t] == 1 and c.tree_apart[t] == 0:
            begin_check(c, t)
        c.tree_near[t] = 0 if c.tree_apart[t] == 1 and c.tree_met[t] == 0 else c.tree_coupled[t]
        if c.tree_near[t] == 1:
            c.world_near[c.tree_world[t]] = 1


@kernel(c=Crowd)
def give_room(c):
    """Give each hinge of robots that were looked at the part of the room that its speed asks for."""
    for t in range(c.trees):
        if c.tree_near[t] == 1 and c.tree_hinges[t] > 0 and c.tree_apart[t] == 0 and c.joined == 0:
            c.tree_known[t] = 1
            for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
                c.hinge_room[v] = c.tree_time[t] * c.hinge_pace[v]
