"""What a robot may touch of itself, if that is so much that its program of a step alone has none of it.

Such a robot takes its step alone first. If no two of its shapes could touch in that step, that was its step: a contact
has no impulse where it is apart at the end (`contact/cone.py`). How far apart two shapes are changes only with the
joints j between their nodes:

    |change of d| <= sum L_j |change of q_j|,      L_j: how far a point of the shape is from the axis, at most

So two shapes of gap d stay apart while the sum over L_j (|q_j - q_j'| + HORIZON dt |v_j|) is less than the *room*, d
less their margins: q' the coordinates at which d was found, v the greater velocity of those before and after the step.
HORIZON covers that friction pushes apart what slips: v_n - mu |v_t| >= -sqrt(1 + mu^2) |v|.

Room is kept as time on a *clock* of the robot. Each hinge has a pace w_j, about its speed. The clock runs as fast as
the hinges do, max |change of q_j| / w_j, so two shapes use up no more than sum L_j w_j of their room in its time. A
robot is looked at when the clock may reach the time of its first pair, and only pairs whose time is near are looked at.

Balls and boxes bound d, and the way along which a search found two shapes apart: it is likely to part them again. Each
proves what the search would find, so a step hangs on the state alone.

Of a robot that may meet others in this step the velocity after it is not known. Contact with itself is then looked for
as of two bodies, from a skin on (`touching.py`).

Source: Schwarzer, Saha and Latombe, Exact collision checking of robot paths (2004), for the bound on motion; van den
Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.4, for the way that is kept.
Cost: a step alone and 5 operations a hinge; when pairs are looked at, one comparison for each, 3 operations for each
corner of few, and seldom a search.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, REAL, TRUTH, fma, kernel, sqrt
from cardan._motion.contact.touching import SKIN
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

LATER, FURTHER, LONG = 6.0, 24.0, 96.0
"""Steps beside `horizon`: two shapes are to have room for so many, a search ends there, and a robot is looked at."""
SLOW = 0.1
"""What w is at least, of the greatest speed of a hinge."""
STILL = 1e-4
"""And at least [rad/s]."""
APT = 2.0
"""How many times as fast as its hinges the clock of a robot may run, before they are given other paces."""
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


@kernel(c=Crowd, t=INT, a=INT, b=INT, returns=REAL)
def margin_of(c, t, a, b):
    """Return how near two shapes of a robot must be to touch: by a skin less, if its step alone says how it moves."""
    return room_within(c, a, b, 0.0 if c.tree_tried[t] == 1 else SKIN)


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


@kernel(c=Crowd, way=F64[3], A=F64[12], a=INT, B=F64[12], b=INT, returns=REAL)
def parted(c, way, A, a, B, b):
    """Return how far two shapes are apart along the way they were when they were searched for; 0 if they were not."""
    u = way[0]
    v = way[1]
    w = way[2]
    x = A[0] * u + A[1] * v + A[2] * w
    y = A[3] * u + A[4] * v + A[5] * w
    z = A[6] * u + A[7] * v + A[8] * w
    between_origins = x * (A[9] - B[9]) + y * (A[10] - B[10]) + z * (A[11] - B[11])
    low = lowest(
        c, b, -B[0] * x - B[3] * y - B[6] * z, -B[1] * x - B[4] * y - B[7] * z, -B[2] * x - B[5] * y - B[8] * z
    )
    return between_origins + lowest(c, a, u, v, w) + low


# --- the clock of a robot --------------------------------------------------------------------------------------------


@kernel(c=Crowd, t=INT, p=INT, returns=INT)
def number_of(c, t, p):
    """Return which one of the pairs of all worlds is a pair of a robot."""
    return c.tree_world[t] * c.inner_count + p


@kernel(c=Crowd, t=INT, p=INT, returns=REAL)
def speed_within(c, t, p):
    """Return how fast the two shapes of a pair move over one another by the clock of their robot, at most [m/s]."""
    first = c.tree_world[t] * c.paths
    return c.path_speed[first + c.inner_ends[p, 0]] + c.path_speed[first + c.inner_ends[p, 1]]


@kernel(c=Crowd, t=INT, steps=REAL, returns=REAL)
def time_of(c, t, steps):
    """Return by how much the clock of a robot runs on in so many steps, and what `horizon` asks for, at its rate."""
    return (c.horizon + steps) * c.dt * c.tree_rate[t]


@kernel(c=Crowd, t=INT)
def sum_paths(c, t):
    """Find how fast each shape of a robot moves over its nodes before, one after the other up to the root."""
    first = c.tree_world[t] * c.paths
    for n in range(c.tree_ball[t], c.tree_ball[t + 1]):
        i = c.path_first[c.ball_shape[n]]
        total = 0.0
        while c.path_node[i] > 0:
            c.path_speed[first + i] = total
            total += c.path_lever[i] * c.hinge_pace[c.hinge_v[t] + c.path_v[i]]
            i += 1
        c.path_speed[first + i] = total


@kernel(c=Crowd, t=INT)
def set_pace(c, t):
    """Give the hinges of a robot the paces that they have now, and begin its clock anew: rooms stay as they are."""
    for p in range(c.tree_inner[t], c.tree_inner[t] + c.tree_pairs[t]):
        k = number_of(c, t, p)
        c.inner_until[k] = (c.inner_until[k] - c.tree_clock[t]) * speed_within(c, t, p)
    fastest = STILL
    for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
        fastest = max(fastest, SLOW * c.hinge_speed[v])
    c.tree_pace[t] = 0.0
    for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
        c.hinge_pace[v] = max(fastest, c.hinge_speed[v])
        c.tree_pace[t] += c.hinge_lever[v] * c.hinge_pace[v]
    sum_paths(c, t)
    c.tree_clock[t] = 0.0
    c.tree_rate[t] = 1.0
    for p in range(c.tree_inner[t], c.tree_inner[t] + c.tree_pairs[t]):
        c.inner_until[number_of(c, t, p)] /= speed_within(c, t, p)


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
    """Let the clock of a robot run as far as its hinges have moved since it was looked at."""
    v = c.hinge_v[t]
    moved = 0.0
    rate = 0.0
    speeds = 0.0
    unknown = 0.0
    c.tree_touched[t] = 0
    c.tree_known[t] = 0
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        change = abs(c.q_rows[q] - c.checked_q[q])
        c.checked_q[q] = c.q_rows[q]
        c.hinge_speed[v + i] = max(abs(c.v_rows[v + i]), abs(c.v_after[v + i]))
        moved = max(moved, change / c.hinge_pace[v + i])
        rate = max(rate, max(STILL, c.hinge_speed[v + i]) / c.hinge_pace[v + i])
        speeds += c.hinge_lever[v + i] * max(STILL, c.hinge_speed[v + i])
        unknown += 0.0 * change  # NaN where a coordinate is or was no number
    c.tree_clock[t] += moved + unknown
    c.tree_rate[t] = rate
    if not (c.tree_clock[t] < BEYOND and rate * c.tree_pace[t] <= APT * speeds):
        set_pace(c, t)


@kernel(c=Crowd)
def look_at_hinges(c):
    """Find which robots are to be looked at: those not known to be apart from themselves."""
    for t in range(c.trees):
        c.tree_touched[t] = 1 - c.tree_apart[t]
        c.tree_near[t] = 1 if c.tree_hinges[t] > 0 and c.joined == 0 and c.tree_apart[t] == 0 else 0
        if c.tree_near[t] == 1:
            begin_check(c, t)


@kernel(c=Crowd)
def give_room(c):
    """Give each hinge of robots that were looked at its part of the room: what its pace takes in their time."""
    for t in range(c.trees):
        if c.tree_near[t] == 1:
            c.tree_known[t] = 1
            for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
                c.hinge_room[v] = c.tree_time[t] * c.hinge_pace[v]
