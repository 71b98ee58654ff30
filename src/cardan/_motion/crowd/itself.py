"""Whether a robot may touch itself in this step, or what is fixed in the world beside a robot that is held there.

Such a robot takes its step alone first. If no two of its shapes could touch in that step, that was its step: a contact
has no impulse where it is apart at the end (`contact/cone.py`). The gap d of two shapes changes only with the hinges j
between their nodes. A *hinge* is a coordinate that moves its frame as fast everywhere: its origin by s_j, and about it
by t_j, for each unit (`kinds.bounds_of`). It may be that of a slide or a screw. A point that is l from the origin is
moved by s_j + t_j l at most, and slides k further out carry it away:

    |change of d| <= sum L_j |change of q_j|,    L_j = s_j + t_j (l_j + sum s_k |q_k|)

The q_k are those of either end: let all coordinates change one after the other, the inner ones first. So what is
further out stands still at its old place meanwhile. From the other end it stands at its new one. If the root of a robot
is such a joint, what is fixed in the world and has an end is one more of its parts.

What a step does is bounded by L_j on the way, too. So a look counts each |q_k| as larger by `hinge_most`, and a slide
never has more room than that.

1. All pairs are read seldom, by balls and boxes. Those that could close before hinges have turned far are *close*
   (`close_pairs.py`). No other could, as long as no hinge has used the *room* that it has for that.
2. Of each close pair a lower bound of d is kept. A look takes from it what hinges have moved since the one before.
3. If that is less than the others allow, the pair is measured: by how far its shapes are apart now along the way that
   its last search found. If need be it is searched for, or its contact is found. Each proves what a search would find,
   so a step hangs on the state alone.
4. Then the robot is apart for the shortest time that a pair takes to close. What each hinge moves at its speed in that
   time is its room until the next look, with `horizon` steps at its velocity before or after.
5. If a pair could close in this step, the law of its contact says whether it does (`tried`).

`horizon` covers that friction pushes apart what slips: v_n - mu |v_t| >= -sqrt(1 + mu^2) |v|.

Of a robot that may meet others in this step the velocity after it is not known. Contact with itself is then looked for
as of two bodies, from a skin on (`touching.py`).

Source: Schwarzer, Saha and Latombe, Exact collision checking of robot paths (2004), for the bound on motion.
Cost: a step alone and 5 operations a hinge. A look takes 10 operations for each close pair, of few 6 for each vertex,
seldom a search. To read all pairs takes 12 operations for each, and boxes of what balls do not part.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, REAL, TRUTH, WIDTH, greater, kernel, run, scratch, tail, vectors
from cardan._motion.contact.touching import AHEAD, SKIN
from cardan._motion.crowd.batches import add_key, copy, end_of_kind, gather_pair, order_keys, run_pairs
from cardan._motion.crowd.close_pairs import (
    BARE,
    WHOLE,
    are_looked_at,
    gather_alike,
    keep_bounds,
    list_close,
    margin_with,
    number_of,
    robot_of,
    speed_of_paths,
    sum_paths,
    time_of_far,
)
from cardan._motion.crowd.placing import locate, speed_of
from cardan._motion.crowd.sides import find_twists
from cardan._motion.crowd.tables import APART, BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

SOON, LATER, FURTHER = 1.0, 6.0, 24.0
"""Steps beside `horizon`. A pair is searched for if it could close in `LATER`, or in `SOON` if it was once.

A search ends at what is enough for `FURTHER`.
"""
AT_ONCE = -1.0
"""In place of a reach: a pair is not searched for, since its contact is looked for at once."""
LOOKING, LISTING = 1, 2
"""Flags of robots: they are to be looked at; all of their pairs are to be read before."""


# --- how far two shapes are apart, at least ---------------------------------------------------------------------------


@kernel(c=Crowd, k=INT, returns=TRUTH)
def is_searched(c, k):
    """Return whether a close pair was searched for once."""
    way = c.close_way[k]
    return abs(way[0]) + abs(way[1]) + abs(way[2]) > 0.0


@kernel(c=Crowd, s=INT, n=INT, x=REAL, y=REAL, z=REAL, returns=REAL)
def lowest(c, s, n, x, y, z):
    """Return how far up a shape on a node begins along a direction: a hull by its vertices, another by its box."""
    R = c.node[n]
    up = R[9] * x + R[10] * y + R[11] * z
    i = R[0] * x + R[3] * y + R[6] * z
    j = R[1] * x + R[4] * y + R[7] * z
    k = R[2] * x + R[5] * y + R[8] * z
    own = c.shape_local[s]
    u = own[0] * i + own[3] * j + own[6] * k
    v = own[1] * i + own[4] * j + own[7] * k
    w = own[2] * i + own[5] * j + own[8] * k
    if c.shape_corners[s] == 0:
        up += c.shape_centre[s, 0] * i + c.shape_centre[s, 1] * j + c.shape_centre[s, 2] * k
        return up - abs(u) * c.shape_half[s, 0] - abs(v) * c.shape_half[s, 1] - abs(w) * c.shape_half[s, 2]
    corner = tail(c.corners, c.shape_corner[s])
    most = vectors(1)  # how far down each of eight is
    most[0] = corner[0, 0] * -u - corner[0, 1] * v - corner[0, 2] * w
    for m in range(1, c.shape_corners[s]):
        most[0] = greater(most[0], corner[m, 0] * -u - corner[m, 1] * v - corner[m, 2] * w)
    down = most[0, 0]
    for lane in range(1, WIDTH):
        down = max(down, most[0, lane])
    return own[9] * i + own[10] * j + own[11] * k + up - down


@kernel(c=Crowd, t=INT, k=INT, returns=REAL)
def apart_as_before(c, t, k):
    """Return how far the shapes of a pair are apart along the way that was found when it was searched for."""
    p = c.close_pair[k]
    a = (c.inner[p] >> BITS) & MASK  # in the first world: what shapes have in common is read there
    b = c.inner[p] & MASK
    first = c.tree_world[t] * c.shapes
    n = c.shape_node[first + a]
    R = c.node[n]
    own = c.shape_local[a]
    way = c.close_way[k]
    u = own[0] * way[0] + own[1] * way[1] + own[2] * way[2]
    v = own[3] * way[0] + own[4] * way[1] + own[5] * way[2]
    w = own[6] * way[0] + own[7] * way[1] + own[8] * way[2]
    x = R[0] * u + R[1] * v + R[2] * w
    y = R[3] * u + R[4] * v + R[5] * w
    z = R[6] * u + R[7] * v + R[8] * w
    return lowest(c, a, n, x, y, z) + lowest(c, b, c.shape_node[first + b], -x, -y, -z)


@kernel(c=Crowd, t=INT, k=INT, wanted=REAL, returns=REAL)
def measured(c, t, k, wanted):
    """Return a bound of a pair's gap that is wanted, or the best that is found without a search."""
    gap = c.close_gap[k]
    return max(gap, apart_as_before(c, t, k)) if not gap >= wanted and is_searched(c, k) else gap


@kernel(c=Crowd, t=INT, p=INT, returns=INT)
def key_of(c, t, p):
    """Return the key of a pair of a robot in its world."""
    first = c.tree_world[t] * c.shapes
    return c.inner[p] + (first << BITS) + first


@kernel(c=Crowd, t=INT, p=INT, returns=REAL)
def margin_of(c, t, p):
    """Return the gap below which a pair is to touch: less by a skin, BARE, if a step alone says how it moves."""
    return margin_with(c, p, BARE if c.tree_met[t] == 0 else WHOLE)


@kernel(c=Crowd, t=INT, returns=REAL)
def horizon_of(c, t):
    """Return for how many steps of its hinges a robot is to be apart; more if the velocity after them is unknown."""
    return c.horizon if c.tree_met[t] == 0 else max(c.horizon, AHEAD)


@kernel(c=Crowd, t=INT, returns=TRUTH)
def is_known_apart(c, t):
    """Return whether no hinge of a robot has used its room."""
    gone = 0
    v = c.hinge_v[t]
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        speed = max(abs(c.v_rows[v + i]), abs(c.v_after[v + i]))
        moved = abs(c.q_rows[q] - c.looked_q[q]) + c.horizon * c.dt * speed
        gone += 0 if moved <= c.hinge_room[v + i] else 1
    return gone == 0 and c.joined == 0


# --- a look at a robot ------------------------------------------------------------------------------------------------


@kernel(c=Crowd, t=INT, lane=INT, k=INT, time=REAL, count=INT, returns=(REAL, INT))
def look_at_pair(c, t, lane, k, time, count):
    """Return for how long a robot is apart, with one of its pairs; list this one if it is to be searched for."""
    now = horizon_of(c, t) * c.dt
    p = c.close_pair[k]
    margin = margin_of(c, t, p)
    speed = speed_of_paths(c, p, lane)
    c.close_gap[k] = measured(c, t, k, margin + time * speed)
    is_known = is_searched(c, k)
    # Hulls and boxes are measured exactly, others by the boxes about them; two boxes are searched for in less time.
    at_once = is_known and c.shape_flat[(c.inner[p] >> BITS) & MASK] + c.shape_flat[c.inner[p] & MASK] > 2
    steps = (0.0 if at_once else SOON) if is_known else LATER
    if c.close_gap[k] >= margin + min(time, now + steps * c.dt) * speed:
        return min(time, (c.close_gap[k] - margin) / speed), count
    reach = AT_ONCE if at_once else margin + (now + FURTHER * c.dt) * speed
    return min(time, now + SOON * c.dt) if is_known else time, add_key(c, count, key_of(c, t, p), k, reach)


@kernel(c=Crowd, t=INT, lane=INT, k=INT, time=REAL, count=INT, returns=(REAL, INT))
def look_if_near(c, t, lane, k, time, count):
    """Look at a pair that could close within a time; note which one is the first to do so."""
    p = c.close_pair[k]
    if c.close_gap[k] >= margin_of(c, t, p) + time * speed_of_paths(c, p, lane):
        return time, count
    before = time
    time, count = look_at_pair(c, t, lane, k, time, count)
    if time < before:
        c.tree_nearest[t] = k
    return time, count


@kernel(c=Crowd, t=INT, lane=INT, time=REAL, count=INT, returns=INT)
def look_at(c, t, lane, time, count):
    """Find for how long a robot is apart from itself, of which far pairs say a time; list pairs to be searched for.

    The pair that said so in the last look comes first: most others need not be measured for less time.
    """
    first = number_of(c, t, c.tree_inner[t])
    nearest = c.tree_nearest[t]
    if first <= nearest < first + c.tree_close[t]:
        time, count = look_if_near(c, t, lane, nearest, time, count)
    for k in range(first, first + c.tree_close[t]):
        if k != nearest:
            time, count = look_if_near(c, t, lane, k, time, count)
    c.tree_time[t] = time
    return count


@kernel(c=Crowd, k=INT, flag=INT, rows=INT, count=INT, returns=INT)
def look_at_group(c, k, flag, rows, count):
    """Look at robots, after all of their pairs were read if the flag says so; mark those that have to wait for that."""
    sum_paths(c, k, rows)
    if flag == LISTING:
        list_close(c, k, rows)
    for lane in range(rows):
        t = c.kind_tree[k] + c.run_rows[lane]
        keep_bounds(c, t, lane)
        time = time_of_far(c, t)
        if flag == LISTING or time >= (c.horizon + SOON) * c.dt:
            count = look_at(c, t, lane, time, count)
        else:
            c.tree_flag[t] = LISTING
    return count


@kernel(c=Crowd, k=INT, count=INT, returns=INT)
def look_at_kind(c, k, count):
    """Look at those robots of a kind that are marked."""
    for t in range(c.kind_tree[k], c.kind_tree[k] + c.kind_rows[k]):
        c.tree_flag[t] = c.tree_near[t]
    for flag in range(LOOKING, LISTING + 1):
        rows = gather_alike(c, k, flag, c.kind_tree[k])
        while rows > 0:
            first = c.kind_tree[k] + c.run_rows[0] + 1
            run(c.looking[k], rows)
            count = look_at_group(c, k, flag, rows, count)
            rows = gather_alike(c, k, flag, first)
    return count


@kernel(c=Crowd, count=INT, returns=INT)
def search(c, count):
    """Search for the gaps of pairs that are listed, and leave those that could close in this step: return how many."""
    closing = 0
    start = 0
    while start < count:
        stop = end_of_kind(c, start, count)
        rows = gather_searched(c, start, stop)
        if rows > 0:
            run_pairs(c, c.apart_program, APART, c.keys[start] >> 2 * BITS, rows)
        if c.lacking != 0:
            return 0
        rows = 0
        for k in range(start, stop):
            if c.key_reach[k] != AT_ONCE:
                note_gap(c, rows, k)
                rows += 1
            if may_close(c, k):
                c.keys[closing] = c.keys[k]
                c.key_at[closing] = c.key_at[k]
                closing += 1
        start = stop
    return closing


@kernel(c=Crowd, first=INT, behind=INT, returns=INT)
def gather_searched(c, first, behind):
    """Gather those of some pairs whose gaps are searched for; return how many."""
    rows = 0
    for k in range(first, behind):
        if c.key_reach[k] != AT_ONCE:
            gather_pair(c, rows, c.keys[k], c.key_reach[k])
            locate(c, c.pair_a[rows])
            locate(c, c.pair_b[rows])
            rows += 1
    return rows


@kernel(c=Crowd, row=INT, k=INT)
def note_gap(c, row, k):
    """Note the gap of a pair that was searched for, and the way along which it is."""
    c.close_gap[c.key_at[k]] = c.pair_gap[row, 0]
    copy(c.close_way[c.key_at[k]], 0, c.pair_way[row], 0, 3)


@kernel(c=Crowd, k=INT, returns=TRUTH)
def may_close(c, k):
    """Return whether the hinges of a robot could close one of its pairs in a step alone.

    What they could close of a robot that may meet others counts as touching: the velocity after its step is not known.
    """
    t = robot_of(c, c.keys[k])
    time = -1.0
    if c.key_reach[k] != AT_ONCE:
        margin = margin_of(c, t, c.close_pair[c.key_at[k]])
        gap = c.close_gap[c.key_at[k]]
        time = (horizon_of(c, t) + FURTHER) * c.dt * ((gap - margin) / (c.key_reach[k] - margin))
    c.tree_time[t] = min(time, c.tree_time[t])
    if time >= horizon_of(c, t) * c.dt:
        return False
    c.tree_touched[t] = c.tree_met[t]
    return c.tree_met[t] == 0


@kernel(c=Crowd, returns=INT)
def look_at_robots(c):
    """Look at robots that are not known to be apart from themselves.

    Those keys are left that could close in this step, by the hinges; return how many.
    """
    count = 0
    for t in range(c.trees):
        c.tree_near[t] = 1 if c.tree_hinges[t] > 0 and c.joined == 0 and c.tree_apart[t] == 0 else 0
    for k in range(c.kinds):
        if c.ending[k] != 0:
            count = look_at_kind(c, k, count)
    if c.lacking != 0:
        return 0
    order_keys(c, count)
    closing = search(c, count)
    for t in range(c.trees):
        if c.tree_near[t] == 1 and c.lacking == 0:
            for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
                c.hinge_room[v] = min(c.tree_time[t] * c.hinge_speed[v], c.hinge_most[v])
    return closing


# --- how near its shapes must be to touch -----------------------------------------------------------------------------


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def closing_speed(c, a, b):
    """Return how fast a shape moves towards another one, at most, before a step and after one alone [m/s]."""
    find_twists(c, c.shape_node[a], c.shape_node[b])
    V = scratch(16)
    most = 0.0
    for k in range(2):
        for e in range(6):
            V[e] = c.wrench[k, e]
        most = max(most, speed_of(V, c.shape_centre[a], c.shape_extent[a]))
    return most


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def reach_of(c, a, b):
    """Return how near two shapes must be for contact to be looked for in this step."""
    most = c.further[a] + c.further[b]
    if not are_looked_at(c, a, b):
        return most
    skin = SKIN * (c.shape_extent[a] + c.shape_extent[b])
    changed = max(skin, 0.5 * (c.pace[a] + c.pace[b]))  # how much more contacts may let them close in the step
    room = c.shape_room[a] + c.shape_room[b]
    return min(most, room + changed + max(c.horizon, AHEAD) * c.dt * closing_speed(c, a, b))


@kernel(c=Crowd, t=INT, count=INT, returns=INT)
def list_touching(c, t, count):
    """List the pairs of a robot that may touch, of one that does touch itself."""
    first = number_of(c, t, c.tree_inner[t])
    for k in range(first, first + c.tree_close[t]):
        key = key_of(c, t, c.close_pair[k])
        a = (key >> BITS) & MASK
        b = key & MASK
        beyond = margin_with(c, c.close_pair[k], BARE)  # of a gap that is above the reach by that, no candidate is near
        if not c.close_gap[k] >= c.further[a] + c.further[b] + beyond:  # else twists need not be looked at
            near = reach_of(c, a, b) + beyond
            if not measured(c, t, k, near) >= near:
                count = add_key(c, count, key, k, 0.0)
    return count
