"""Which pairs of a robot could close before its hinges have turned far: the others need not be looked at until then.

Of eight robots that are alike all pairs are read side by side. Each robot has a time. A pair is close if its shapes,
as far as balls and boxes about them say, could close in it at the speeds of the hinges:

    d < margin + time sum L_j |speed of j|

So no other closes as long as no hinge has moved further than by time times its speed: that is its room for this.

Cost: of a robot a pass over its paths, 12 operations for each pair, 150 for each that balls do not part in all eight.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, LANES, REAL, TRUTH, VECTOR, WIDTH, are_positive, greater, kernel, sqrt
from cardan._motion.crowd.batches import copy
from cardan._motion.crowd.placing import locate
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false

FAR = 0.03
"""How far hinges turn before far pairs may close, on the average [rad]; but that takes `AT_LEAST` steps.

Of a G1 some 25 of 579 pairs are close. With 0.08 its steps take up to a third more (measured).
"""
AT_LEAST = 12.0
SLOW, STILL = 0.1, 1e-4
"""How fast a hinge counts at least: of the fastest, and at all [rad/s]."""
BEYOND = 1e300
BARE, WHOLE = 0, 1  # whether pairs have a skin


# --- how far hinges have moved shapes ---------------------------------------------------------------------------------


@kernel(c=Crowd, t=INT, p=INT, returns=INT)
def number_of(c, t, p):
    """Return which one of the pairs of all worlds is a pair of a robot."""
    return c.tree_world[t] * c.inner_count + p


@kernel(c=Crowd, key=INT, returns=INT)
def robot_of(c, key):
    """Return the tree of the first shape of a pair, which moves."""
    return c.node_tree[c.shape_node[(key >> BITS) & MASK]]


@kernel(c=Crowd, i=INT, j=INT, returns=TRUTH)
def are_looked_at(c, i, j):
    """Return whether the hinges of a robot say how far two shapes are apart, of which the first is on that."""
    t = c.node_tree[c.shape_node[i]]
    if c.joined == 1 or t < 0 or c.tree_hinges[t] == 0:
        return False
    if t == c.node_tree[c.shape_node[j]]:
        return True
    is_base = c.shape_base[j] < 0 or c.shape_base[j] == c.tree_base[t]
    return c.tree_is_held[t] == 1 and c.shape_stays[j] == 1 and is_base


@kernel(c=Crowd, p=INT, skin=INT, returns=REAL)
def margin_with(c, p, skin):
    """Return the gap below which a pair is to touch: BARE, or with a skin."""
    return c.inner_margin[p + skin * c.inner_count]


@kernel(c=Crowd, k=INT, flag=INT, first=INT, returns=INT)
def gather_alike(c, k, flag, first):
    """Take up to eight robots of a kind, from one on, that have a flag and the same pairs; return how many."""
    rows = 0
    inner = 0
    for t in range(first, c.kind_tree[k] + c.kind_rows[k]):
        if c.tree_flag[t] == flag and (rows == 0 or c.tree_inner[t] == inner):
            inner = c.tree_inner[t]
            c.tree_flag[t] = 0
            c.run_rows[rows] = t - c.kind_tree[k]
            rows += 1
        if rows == WIDTH:
            break
    return rows


@kernel(c=Crowd, t=INT, lane=INT)
def put_hinges(c, t, lane):
    """Put into a lane how fast hinges are before or after the step, at most, and how far they moved since a look."""
    v = c.hinge_v[t]
    fastest = STILL
    for i in range(c.tree_hinges[t]):
        c.hinge_speed[v + i] = max(abs(c.v_rows[v + i]), abs(c.v_after[v + i]))
        fastest = max(fastest, SLOW * c.hinge_speed[v + i] / c.hinge_unit[v + i])
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        c.hinge_speed[v + i] = max(fastest * c.hinge_unit[v + i], c.hinge_speed[v + i])
        c.lane_speed[i, lane] = c.hinge_speed[v + i]
        c.lane_travel[i, lane] = abs(c.q_rows[q]) + min(c.hinge_most[v + i], BEYOND)
        c.lane_moved[i, lane] = abs(c.q_rows[q] - c.looked_q[q])
        c.looked_q[q] = c.q_rows[q]
        c.hinge_room[v + i] = -1.0  # until the look is over


@kernel(c=Crowd, k=INT, rows=INT)
def sum_paths(c, k, rows):
    """Find how far each shape has moved over its nodes, up to the root, and how fast it does."""
    t = c.kind_tree[k] + c.run_rows[0]
    for lane in range(WIDTH):
        put_hinges(c, c.kind_tree[k] + c.run_rows[lane] if lane < rows else t, lane)
    for n in range(c.tree_ball[t], c.tree_ball[t + 1]):
        i = c.path_first[c.ball_shape[n]]
        moved = c.lane_moved[0] * 0.0
        speed = moved
        travel = moved
        while c.path_node[i] > 0:
            c.path_moved[i] = moved
            c.path_speed[i] = speed
            lever = travel * c.path_turn[i] + c.path_lever[i]
            moved += c.lane_moved[c.path_v[i]] * lever
            speed += c.lane_speed[c.path_v[i]] * lever
            travel += c.lane_travel[c.path_v[i]] * c.path_slide[i]
            i += 1
        c.path_moved[i] = moved
        c.path_speed[i] = speed


@kernel(c=Crowd, p=INT, lane=INT, returns=REAL)
def speed_of_paths(c, p, lane):
    """Return how fast the shapes of a pair close, at most [m/s]."""
    return c.path_speed[c.inner_ends[p, 0], lane] + c.path_speed[c.inner_ends[p, 1], lane]


@kernel(c=Crowd, t=INT, lane=INT)
def keep_bounds(c, t, lane):
    """Take from the bounds of close pairs what hinges have moved; of no number nothing is left."""
    first = number_of(c, t, c.tree_inner[t])
    for k in range(first, first + c.tree_close[t]):
        ends = c.inner_ends[c.close_pair[k]]
        left = c.close_gap[k] - (c.path_moved[ends[0], lane] + c.path_moved[ends[1], lane])
        c.close_gap[k] = left if left >= -BEYOND else -BEYOND


@kernel(c=Crowd, t=INT, returns=REAL)
def time_of_far(c, t):
    """Return for how long no hinge uses the room that it has until far pairs could close."""
    time = BEYOND
    for i in range(c.tree_hinges[t]):
        q = c.hinge_q[t] + i
        v = c.hinge_v[t] + i
        left = (c.far_room[v] - abs(c.q_rows[q] - c.far_q[q])) / c.hinge_speed[v]
        if not left >= 0.0:
            return -1.0
        time = min(time, left)
    return time


# --- all pairs --------------------------------------------------------------------------------------------------------


@kernel(c=Crowd, s=INT, lane=INT)
def put_shape(c, s, lane):
    for e in range(9):
        c.lane_shape[s % c.shapes, e, lane] = c.shape_pose[s, e]
    for e in range(3):
        c.lane_shape[s % c.shapes, 9 + e, lane] = c.ball[s, e]


@kernel(c=Crowd, k=INT, rows=INT)
def put_shapes(c, k, rows):
    """Put into lanes where shapes are, and for how long far pairs are not to close."""
    for lane in range(WIDTH):
        t = c.kind_tree[k] + c.run_rows[lane if lane < rows else 0]
        for n in range(c.tree_ball[t], c.tree_ball[t + 1]):
            locate(c, c.ball_shape[n])
            put_shape(c, c.ball_shape[n], lane)
        first = c.tree_world[t] * c.shapes
        for s in range(first, first + c.shapes):
            if c.shape_stays[s] == 1:
                put_shape(c, s, lane)
        total = 0.0
        for v in range(c.hinge_v[t], c.hinge_v[t] + c.tree_hinges[t]):
            total += c.hinge_speed[v] / c.hinge_unit[v]
        time = FAR * float(c.tree_hinges[t]) / total
        c.lane_time[0, lane] = max(time, (c.horizon + AT_LEAST) * c.dt)


def gap_of_boxes(A, half_a, B, half_b, x, y, z):
    """Return how far the boxes about two shapes are apart, at least: along an axis, or from middle to middle.

    Of both there are the turn of the box and half its sides, and the way from one middle to the other.
    """
    length = sqrt(x * x + y * y + z * z)
    reach = length * 0.0
    found = reach - BEYOND
    for i in range(3):
        along_a = abs(A[i] * x + A[3 + i] * y + A[6 + i] * z)
        along_b = abs(B[i] * x + B[3 + i] * y + B[6 + i] * z)
        reach += along_a * half_a[i] + along_b * half_b[i]
        along_a -= half_a[i]
        along_b -= half_b[i]
        for j in range(3):
            along_a -= abs(A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j]) * half_b[j]
            along_b -= abs(B[i] * A[j] + B[3 + i] * A[3 + j] + B[6 + i] * A[6 + j]) * half_a[j]
        found = greater(found, greater(along_a, along_b))
    return greater(found, length - reach / length)


TYPES = {"A": F64[12], "half_a": F64[3], "B": F64[12], "half_b": F64[3]} | dict.fromkeys("xyz", REAL)
boxes_apart = kernel(**TYPES, returns=REAL)(gap_of_boxes)
IN_LANES = TYPES | {"A": LANES[12], "B": LANES[12]} | dict.fromkeys("xyz", VECTOR)
boxes_apart_in_lanes = kernel(**IN_LANES, returns=VECTOR, called="boxes_apart_in_lanes")(gap_of_boxes)


@kernel(c=Crowd, p=INT, returns=TRUTH)
def is_far(c, p):
    """Return whether the shapes of a pair are far apart in all robots; else find how far they are, in lanes."""
    a = (c.inner[p] >> BITS) & MASK
    b = c.inner[p] & MASK
    A = c.lane_shape[a]
    B = c.lane_shape[b]
    ends = c.inner_ends[p]
    margin = margin_with(c, p, WHOLE)  # with a skin: no far pair is looked at if the robot touches itself
    c.lane_wanted[0] = (c.path_speed[ends[0]] + c.path_speed[ends[1]]) * c.lane_time[0] + margin
    x = B[9] - A[9]
    y = B[10] - A[10]
    z = B[11] - A[11]
    near = c.lane_wanted[0] + c.inner_extent[p]
    c.lane_left[0] = x * x + y * y + z * z - near * near
    if are_positive(c.lane_left[0]):
        return True
    c.lane_gap[0] = boxes_apart_in_lanes(A, c.shape_half[a], B, c.shape_half[b], x, y, z)
    c.lane_left[0] = c.lane_gap[0] - c.lane_wanted[0]
    return are_positive(c.lane_left[0])


@kernel(c=Crowd, t=INT)
def forget_close(c, t):
    """Let no pair of a robot be close, and keep their ways for when they are close again."""
    first = number_of(c, t, c.tree_inner[t])
    for k in range(first, first + c.tree_close[t]):
        copy(c.inner_way[number_of(c, t, c.close_pair[k])], 0, c.close_way[k], 0, 3)
    c.tree_close[t] = 0


@kernel(c=Crowd, k=INT, rows=INT)
def list_close(c, k, rows):
    """List the pairs of robots that could close before their hinges have turned far."""
    put_shapes(c, k, rows)
    for lane in range(rows):
        t = c.kind_tree[k] + c.run_rows[lane]
        forget_close(c, t)
        for i in range(c.tree_hinges[t]):
            c.far_q[c.hinge_q[t] + i] = c.q_rows[c.hinge_q[t] + i]
            v = c.hinge_v[t] + i
            c.far_room[v] = min(c.lane_time[0, lane] * c.hinge_speed[v], c.hinge_most[v])
    first = c.tree_inner[c.kind_tree[k] + c.run_rows[0]]
    for p in range(first, first + c.tree_pairs[c.kind_tree[k] + c.run_rows[0]]):
        if not is_far(c, p):
            for lane in range(rows):
                if not c.lane_left[0, lane] >= 0.0:
                    t = c.kind_tree[k] + c.run_rows[lane]
                    n = number_of(c, t, first) + c.tree_close[t]
                    c.close_pair[n] = p
                    c.close_gap[n] = c.lane_gap[0, lane]
                    copy(c.close_way[n], 0, c.inner_way[number_of(c, t, p)], 0, 3)
                    c.tree_close[t] += 1
