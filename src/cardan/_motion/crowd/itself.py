"""Whether a robot may touch itself in this step, if it may in more places than its program of a step alone has.

Such a robot takes its step alone first. If no two of its shapes could touch in that step, that was its step: a contact
has no impulse where it is apart at the end (`contact/cone.py`). The gap d of two shapes changes only with the hinges j
between their nodes, and no point of theirs is further from an axis than L_j:

    |change of d| <= sum L_j |change of q_j|

1. Of each pair a lower bound of d is kept. A look takes from it what hinges have moved since the one before.
2. A pair whose bound is not enough for some steps is measured: by balls, by boxes, then by how far its shapes are apart
   now along the way that its last search found. If need be it is searched for. Each proves what a search would find,
   so a step hangs on the state alone.
3. Then the robot is apart for the shortest time that a pair takes to close. In it each hinge has *room*: what it moves
   at its speed. There is no look before one has used its room, with `horizon` steps at its velocity before or after.
4. If a pair could close in this step, the law of its contact says whether it does (`tried`).

`horizon` covers that friction pushes apart what slips: v_n - mu |v_t| >= -sqrt(1 + mu^2) |v|.

Of a robot that may meet others in this step the velocity after it is not known. Contact with itself is then looked for
as of two bodies, from a skin on (`touching.py`).

Source: Schwarzer, Saha and Latombe, Exact collision checking of robot paths (2004), for the bound on motion.
Cost: a step alone and 5 operations a hinge. A look takes 7 operations for each pair, boxes of few, of very few 6 for
each vertex, seldom a search.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I32, INT, REAL, TRUTH, kernel, run, sqrt, tail
from cardan._motion.contact.touching import SKIN
from cardan._motion.crowd.batches import add_key, copy, end_of_kind, gather_pair, order_keys, run_pairs
from cardan._motion.crowd.tables import APART, BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

SOON, LATER, FURTHER = 1.0, 6.0, 24.0
"""Steps beside `horizon`. A pair is measured if its bound is not enough for `LATER`, or until another pair may close.

It is searched for if it is still not enough, for `SOON` if it was once. A search ends at what is enough for `FURTHER`.
"""
SLOW, STILL = 0.1, 1e-4
"""How fast a hinge counts at least: of the fastest, and at all [rad/s]."""
GROUP = 16
"""Robots that are looked at together: where their shapes are stays near the processor."""
BEYOND = 1e300


# --- how far two shapes are apart, at least ---------------------------------------------------------------------------


@kernel(A=F64[12], a=F64[3], half_a=F64[3], B=F64[12], b=F64[3], half_b=F64[3], returns=REAL)
def boxes_apart(A, a, half_a, B, b, half_b):
    """Return how far the boxes about two shapes are apart along one of their axes; negative where they are not.

    Of both there are the pose, the middle of the box, and half its sides.
    """
    most = -BEYOND
    x = b[0] - a[0]
    y = b[1] - a[1]
    z = b[2] - a[2]
    for i in range(3):
        along_a = abs(A[i] * x + A[3 + i] * y + A[6 + i] * z) - half_a[i]
        along_b = abs(B[i] * x + B[3 + i] * y + B[6 + i] * z) - half_b[i]
        for j in range(3):
            along_a -= abs(A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j]) * half_b[j]
            along_b -= abs(B[i] * A[j] + B[3 + i] * A[3 + j] + B[6 + i] * A[6 + j]) * half_a[j]
        most = max(most, max(along_a, along_b))
    return most


@kernel(c=Crowd, t=INT, p=INT, returns=INT)
def number_of(c, t, p):
    """Return which one of the pairs of all worlds is a pair of a robot."""
    return c.tree_world[t] * c.inner_count + p


@kernel(c=Crowd, t=INT, p=INT, returns=TRUTH)
def is_searched(c, t, p):
    """Return whether a pair of a robot was searched for once."""
    way = c.inner_way[number_of(c, t, p)]
    return abs(way[0]) + abs(way[1]) + abs(way[2]) > 0.0


@kernel(c=Crowd, s=INT, n=INT, x=REAL, y=REAL, z=REAL, returns=REAL)
def lowest(c, s, n, x, y, z):
    """Return how far up a shape begins along a direction: a hull by its vertices, another by the box about it."""
    R = c.looked_pose[n]
    u = R[0] * x + R[3] * y + R[6] * z
    v = R[1] * x + R[4] * y + R[7] * z
    w = R[2] * x + R[5] * y + R[8] * z
    if c.shape_vertices[s] == 0:
        up = c.looked_ball[n, 0] * x + c.looked_ball[n, 1] * y + c.looked_ball[n, 2] * z
        return up - abs(u) * c.shape_half[s, 0] - abs(v) * c.shape_half[s, 1] - abs(w) * c.shape_half[s, 2]
    vertex = tail(c.shape_sizes, c.shape_first[s])
    one = BEYOND
    two = BEYOND
    last = 3 * (c.shape_vertices[s] - 1)
    for k in range((c.shape_vertices[s] + 1) // 2):  # from both ends: so two wait less for one another
        i = 3 * k
        one = min(one, u * vertex[i] + v * vertex[i + 1] + w * vertex[i + 2])
        i = last - i
        two = min(two, u * vertex[i] + v * vertex[i + 1] + w * vertex[i + 2])
    return min(one, two) + R[9] * x + R[10] * y + R[11] * z


@kernel(c=Crowd, t=INT, p=INT, returns=REAL)
def apart_as_before(c, t, p):
    """Return how far two shapes are apart along the way that was found when they were searched for."""
    i = c.tree_ball[t] + c.inner_balls[p, 0]
    j = c.tree_ball[t] + c.inner_balls[p, 1]
    R = c.looked_pose[i]
    way = c.inner_way[number_of(c, t, p)]
    x = R[0] * way[0] + R[1] * way[1] + R[2] * way[2]
    y = R[3] * way[0] + R[4] * way[1] + R[5] * way[2]
    z = R[6] * way[0] + R[7] * way[1] + R[8] * way[2]
    return lowest(c, (c.inner[p] >> BITS) & MASK, i, x, y, z) + lowest(c, c.inner[p] & MASK, j, -x, -y, -z)


@kernel(c=Crowd, t=INT, p=INT, gap=REAL, wanted=REAL, returns=REAL)
def measured(c, t, p, gap, wanted):
    """Return a bound of a pair's gap that is wanted, or the best that is found without a search."""
    i = c.tree_ball[t] + c.inner_balls[p, 0]
    j = c.tree_ball[t] + c.inner_balls[p, 1]
    x = c.looked_ball[i, 0] - c.looked_ball[j, 0]
    y = c.looked_ball[i, 1] - c.looked_ball[j, 1]
    z = c.looked_ball[i, 2] - c.looked_ball[j, 2]
    found = max(sqrt(x * x + y * y + z * z) - c.inner_extent[p], gap)
    if not found >= wanted:
        half_a = c.shape_half[(c.inner[p] >> BITS) & MASK]
        half_b = c.shape_half[c.inner[p] & MASK]
        boxes = boxes_apart(c.looked_pose[i], c.looked_ball[i], half_a, c.looked_pose[j], c.looked_ball[j], half_b)
        found = max(found, boxes)
    if not found >= wanted and is_searched(c, t, p):
        found = max(found, apart_as_before(c, t, p))
    return found


# --- a look at a robot ------------------------------------------------------------------------------------------------


@kernel(c=Crowd, t=INT, p=INT, returns=INT)
def key_of(c, t, p):
    """Return the key of a pair of a robot in its world."""
    first = c.tree_world[t] * c.shapes
    return c.inner[p] + (first << BITS) + first


@kernel(c=Crowd, t=INT, p=INT, returns=INT)
def place_of_margin(c, t, p):
    """Return where the gap is below which a pair is to touch: less by a skin, if a step alone says how it moves."""
    return p if c.tree_met[t] == 0 else p + c.inner_count


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


@kernel(c=Crowd, t=INT)
def sum_paths(c, t):
    """Find how far each shape of a robot has moved over its nodes before, up to the root, and how fast it does."""
    v = c.hinge_v[t]
    fastest = STILL
    for i in range(c.tree_hinges[t]):
        c.hinge_speed[v + i] = max(abs(c.v_rows[v + i]), abs(c.v_after[v + i]))
        fastest = max(fastest, SLOW * c.hinge_speed[v + i])
    for i in range(c.tree_hinges[t]):
        c.hinge_speed[v + i] = max(fastest, c.hinge_speed[v + i])
        q = c.hinge_q[t] + i
        c.hinge_moved[i] = abs(c.q_rows[q] - c.looked_q[q])
        c.looked_q[q] = c.q_rows[q]
        c.hinge_room[v + i] = -1.0  # until the look is over
    for n in range(c.tree_ball[t], c.tree_ball[t + 1]):
        i = c.path_first[c.ball_shape[n]]
        moved = 0.0
        speed = 0.0
        while c.path_node[i] > 0:
            c.path_moved[i] = moved
            c.path_speed[i] = speed
            moved += c.path_lever[i] * c.hinge_moved[c.path_v[i]]
            speed += c.path_lever[i] * c.hinge_speed[v + c.path_v[i]]
            i += 1
        c.path_moved[i] = moved
        c.path_speed[i] = speed


@kernel(gap=F64[:], margin=F64[:], ends=I32[:, 2], moved=F64[:], speed=F64[:], first=INT, n=INT, time=REAL, returns=INT)
def next_short(gap, margin, ends, moved, speed, first, n, time):
    """Take from the bounds of pairs what hinges have moved, up to one that could close in a time; return it, else n."""
    for p in range(first, n):
        i = ends[p, 0]
        j = ends[p, 1]
        gap[p] -= moved[i] + moved[j]
        if not gap[p] >= margin[p] + time * (speed[i] + speed[j]):
            return p
    return n


@kernel(c=Crowd, t=INT, p=INT, time=REAL, count=INT, returns=(REAL, INT))
def look_at_pair(c, t, p, time, count):
    """Return for how long a robot is apart, with one of its pairs; list this one if it is to be searched for."""
    now = c.horizon * c.dt
    n = number_of(c, t, p)
    margin = c.inner_margin[place_of_margin(c, t, p)]
    speed = c.path_speed[c.inner_ends[p, 0]] + c.path_speed[c.inner_ends[p, 1]]
    wanted = margin + min(time, now + LATER * c.dt) * speed
    if not c.inner_gap[n] >= wanted:
        c.inner_gap[n] = measured(c, t, p, c.inner_gap[n], wanted)
    is_known = not c.inner_gap[n] >= wanted and is_searched(c, t, p)
    if c.inner_gap[n] >= (margin + min(time, now + SOON * c.dt) * speed if is_known else wanted):
        return min(time, (c.inner_gap[n] - margin) / speed), count
    reach = margin + (now + FURTHER * c.dt) * speed
    return min(time, now + SOON * c.dt) if is_known else time, add_key(c, count, key_of(c, t, p), p, reach)


@kernel(c=Crowd, t=INT, count=INT, returns=INT)
def look_at(c, t, count):
    """Find for how long a robot is apart from itself, and list the pairs that are to be searched for."""
    begin = c.tree_inner[t]
    gap = tail(c.inner_gap, number_of(c, t, begin))
    margin = tail(c.inner_margin, place_of_margin(c, t, begin))
    ends = tail(c.inner_ends, begin)
    sum_paths(c, t)
    time = BEYOND
    worst = c.tree_worst[t]  # what was to close first comes first: the others need not be apart for longer
    for part in range(2):
        end = c.tree_pairs[t] if part == 0 else worst
        start = worst if part == 0 else 0
        p = next_short(gap, margin, ends, c.path_moved, c.path_speed, start, end, time)
        while p < end:
            before = time
            time, count = look_at_pair(c, t, begin + p, time, count)
            c.tree_worst[t] = p if time < before else c.tree_worst[t]
            p = next_short(gap, margin, ends, c.path_moved, c.path_speed, p + 1, end, time)
    c.tree_time[t] = time
    return count


@kernel(c=Crowd, k=INT, count=INT, returns=INT)
def look_at_kind(c, k, count):
    """Look at those robots of a kind that are marked."""
    first = c.kind_tree[k]
    behind = first + c.kind_rows[k]
    while first < behind:
        rows = 0
        while first < behind and rows < GROUP:
            if c.tree_near[first] == 1:
                c.run_rows[rows] = first - c.kind_tree[k]
                rows += 1
            first += 1
        run(c.looking[k], rows)
        for n in range(rows):
            count = look_at(c, c.kind_tree[k] + c.run_rows[n], count)
    return count


@kernel(c=Crowd, count=INT, returns=INT)
def search(c, count):
    """Search for the gaps of pairs that are listed, and leave those that could close in this step: return how many."""
    closing = 0
    start = 0
    while start < count:
        stop = end_of_kind(c, start, count)
        for k in range(start, stop):
            t = c.node_tree[c.shape_node[c.keys[k] & MASK]]
            gather_pair(c, k - start, c.keys[k], c.key_reach[k])
            c.ball_a[k - start] = c.tree_ball[t] + c.inner_balls[c.key_at[k], 0]
            c.ball_b[k - start] = c.tree_ball[t] + c.inner_balls[c.key_at[k], 1]
        run_pairs(c, c.apart_program, APART, c.keys[start] >> 2 * BITS, stop - start)
        if c.lacking != 0:
            return 0
        for k in range(start, stop):
            if may_close(c, k - start, k):
                c.keys[closing] = c.keys[k]
                closing += 1
        start = stop
    return closing


@kernel(c=Crowd, row=INT, k=INT, returns=TRUTH)
def may_close(c, row, k):
    """Note the gap of a pair that was searched for; return whether its hinges could close it in a step alone.

    What they could close of a robot that may meet others counts as touching: the velocity after its step is not known.
    """
    p = c.key_at[k]
    t = c.node_tree[c.shape_node[c.keys[k] & MASK]]
    n = number_of(c, t, p)
    gap = c.pair_gap[row, 0]
    c.inner_gap[n] = gap
    copy(c.inner_way[n], 0, c.pair_way[row], 0, 3)
    margin = c.inner_margin[place_of_margin(c, t, p)]
    time = (c.horizon + FURTHER) * c.dt * ((gap - margin) / (c.key_reach[k] - margin))
    c.tree_time[t] = min(time, c.tree_time[t])
    if time >= c.horizon * c.dt:
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
        c.tree_touched[t] = 0
        c.tree_near[t] = 1 if c.tree_hinges[t] > 0 and c.joined == 0 and c.tree_apart[t] == 0 else 0
    for k in range(c.kinds):
        if c.looking[k] != 0:
            count = look_at_kind(c, k, count)
    if c.lacking != 0:
        return 0
    order_keys(c, count)
    closing = search(c, count)
    for t in range(c.trees):
        if c.tree_near[t] == 1 and c.lacking == 0:
            for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
                c.hinge_room[v] = c.tree_time[t] * c.hinge_speed[v]
    return closing


# --- how near its shapes must be to touch -----------------------------------------------------------------------------


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def closing_speed(c, a, b):
    """Return how fast two shapes of a robot close by the hinges between their nodes, at most, since its look [m/s]."""
    v = c.hinge_v[c.node_tree[c.shape_node[a]]]
    i = c.path_first[a]
    j = c.path_first[b]
    total = 0.0
    while c.path_node[i] != c.path_node[j]:  # parents have lower numbers
        if c.path_node[i] > c.path_node[j]:
            total += c.path_lever[i] * c.hinge_speed[v + c.path_v[i]]
            i += 1
        else:
            total += c.path_lever[j] * c.hinge_speed[v + c.path_v[j]]
            j += 1
    return total


@kernel(c=Crowd, a=INT, b=INT, returns=REAL)
def reach_of(c, a, b):
    """Return how near two shapes must be for contact to be looked for in this step."""
    most = c.further[a] + c.further[b]
    t = c.node_tree[c.shape_node[a]]
    if t != c.node_tree[c.shape_node[b]] or c.tree_hinges[t] == 0 or c.joined == 1:
        return most
    skin = c.shape_room[a] + c.shape_room[b] + SKIN * (c.shape_extent[a] + c.shape_extent[b])
    return min(most, skin + c.horizon * c.dt * closing_speed(c, a, b))


@kernel(c=Crowd, t=INT, count=INT, returns=INT)
def list_touching(c, t, count):
    """List the pairs of a robot that may touch, of one that does touch itself."""
    for p in range(c.tree_inner[t], c.tree_inner[t] + c.tree_pairs[t]):
        key = key_of(c, t, p)
        a = (key >> BITS) & MASK
        b = key & MASK
        gap = c.inner_gap[number_of(c, t, p)]
        if not gap >= c.further[a] + c.further[b]:
            reach = reach_of(c, a, b)
            if not measured(c, t, p, gap, reach) >= reach:
                count = add_key(c, count, key, p, 0.0)
    return count
