"""Which shapes touch in a step, or may: balls by grids, then pairs of each kind by its program.

Pairs are listed with some room, and each step takes those of the list that are near. So the list is made anew only when
something has moved through that room; what a step finds does not hang on when that was. Contacts are in the order of
their keys: the kind of pair, then the numbers of both shapes. So their order is that of
no hash, and the same whoever else is there.

Source: Ericson, Real-Time Collision Detection (2005), chapters 2 and 7.
"""

from __future__ import annotations

from cardan._compiler.kernels import I64, INT, REAL, TRUTH, kernel, tail
from cardan._motion.crowd.alone import leave_alone, look_at_room, mark_meeting, note_couples
from cardan._motion.crowd.batches import (
    add_key,
    copy,
    end_of_kind,
    gather_pair,
    order_keys,
    run_kinds,
    run_pairs,
)
from cardan._motion.crowd.close_pairs import are_looked_at, boxes_apart
from cardan._motion.crowd.grid import do_meet, find_levels, find_near, sort
from cardan._motion.crowd.itself import list_touching, reach_of
from cardan._motion.crowd.placing import place
from cardan._motion.crowd.sleep import are_asleep, is_asleep
from cardan._motion.crowd.tables import BITS, CONTACTS, MASK, NEAR, PATCHES, PROGRAM, Crowd

# pyright: analyzeUnannotatedFunctions=false

STEPS = 6.0
"""For so many steps pairs are listed of what moves on as fast, beside the room that each shape has."""


@kernel(c=Crowd, world=INT)
def place_outside(c, world):
    """Place the shapes of a world that are on no tree that may be alone; what is fixed only before the first list."""
    for n in range(c.outsiders):
        s = world * c.shapes + c.outside[n]
        is_placed = c.shape_node[s] == c.nodes and c.listed_count[world] >= 0
        if not is_placed and not is_asleep(c, s):
            place(c, s)


@kernel(c=Crowd, t=INT)
def place_tree(c, t):
    """Place the shapes of a robot."""
    c.world_near[c.tree_world[t]] = 1
    for n in range(c.tree_ball[t], c.tree_ball[t + 1]):
        if c.ball_shape[n] >= 0:
            place(c, c.ball_shape[n])


@kernel(c=Crowd)
def place_listed(c):
    """Place the shapes of robots that are listed with others."""
    run_kinds(c, c.tree_listed, c.placing, 1)
    for world in range(c.worlds):
        c.world_near[world] = 0
    for t in range(c.trees):
        if c.tree_listed[t] == 1:
            place_tree(c, t)


@kernel(c=Crowd)
def place_touching(c):
    """Place the shapes of the other robots that touch themselves, whose nodes are placed (`itself.look_at_kind`)."""
    for t in range(c.trees):
        if c.tree_touched[t] == 1 and c.tree_listed[t] == 0:
            place_tree(c, t)


# --- which pairs may touch --------------------------------------------------------------------------------------------


@kernel(keys=I64[:], n=INT, key=INT, returns=INT)
def place_among(keys, n, key):
    """Return where a key is among sorted ones, or -1."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < n and keys[low] == key else -1


@kernel(c=Crowd, i=INT, j=INT, returns=INT)
def key_in_world(c, i, j):
    return ((min(i, j) % c.shapes) << BITS) | max(i, j) % c.shapes


@kernel(c=Crowd, i=INT, j=INT, returns=TRUTH)
def may_touch(c, i, j):
    if c.shape_node[i] == c.shape_node[j]:
        return False
    key = key_in_world(c, i, j)
    if place_among(c.own, c.own_count, key) >= 0:
        return True
    if c.shape_group[i] & c.shape_mask[j] == 0 or c.shape_group[j] & c.shape_mask[i] == 0:
        return False
    is_of_one_family = c.shape_family[i] >= 0 and c.shape_family[i] == c.shape_family[j]
    if is_of_one_family or c.shape_stranger[i] & c.shape_stranger[j] != 0:
        return place_among(c.together, c.together_count, key) >= 0
    return place_among(c.apart, c.apart_count, key) < 0


@kernel(c=Crowd, a=INT, b=INT, box=REAL, further=REAL, returns=TRUTH)
def is_near_ground(c, a, b, box, further):
    """Return whether the middle of a shape, or the box about it, comes near a half space; near other ground, always."""
    if c.shape_endless[b] != 1:
        return True
    plane = c.shape_pose[b]
    own = c.shape_pose[a]
    height = 0.0
    for k in range(3):
        height += plane[3 * k + 2] * (c.ball[a, k] - plane[9 + k])
        tilt = plane[2] * own[k] + plane[5] * own[3 + k] + plane[8] * own[6 + k]
        height -= box * abs(tilt) * c.shape_half[a, k]
    return height < further + c.further[b]


@kernel(c=Crowd, a=INT, b=INT, returns=TRUTH)
def are_near(c, a, b):
    if c.shape_endless[b] != 0:
        return is_near_ground(c, a, b, 1.0, c.further[a])
    if c.shape_endless[a] != 0:
        return is_near_ground(c, b, a, 1.0, c.further[b])
    if not do_meet(c.ball, c.reach, a, b):
        return False
    if c.shape_round[a] == 1 and c.shape_round[b] == 1:
        return True
    x = c.ball[b, 0] - c.ball[a, 0]
    y = c.ball[b, 1] - c.ball[a, 1]
    z = c.ball[b, 2] - c.ball[a, 2]
    apart = boxes_apart(c.shape_pose[a], c.shape_half[a], c.shape_pose[b], c.shape_half[b], x, y, z)
    return not apart > c.further[a] + c.further[b]


# --- lists of pairs, with room for what moves a little ----------------------------------------------------------------


@kernel(c=Crowd, world=INT, returns=TRUTH)
def has_moved(c, world):
    """Return whether a shape of a world has moved so far since pairs were listed that others may be near."""
    if c.listed_count[world] < 0 or c.world_moved[world] == 1 or c.listed_joined != c.joined:
        return True
    if c.world_awake[world] == 0:
        return False
    for n in range(c.outsiders):
        s = world * c.shapes + c.outside[n]
        if c.shape_endless[s] == 0 and not is_asleep(c, s):
            total = 0.0
            for k in range(3):
                d = c.ball[s, k] - c.listed_ball[s, k]
                total += d * d
            slack = c.listed_radius[s] - c.reach[s]
            if not (slack >= 0.0 and total <= slack * slack):
                return True
    return False


@kernel(c=Crowd, i=INT, j=INT, at=INT, count=INT, returns=INT)
def list_pair(c, i, j, at, count):
    """List the key of two shapes that may touch: of both the one on the later node comes first."""
    if not may_touch(c, i, j) or are_looked_at(c, i, j) or are_looked_at(c, j, i):
        return count
    a = i
    b = j
    if c.shape_order[i] < c.shape_order[j]:
        a = j
        b = i
    row = c.shape_kind[a] * c.shape_kinds + c.shape_kind[b]
    kind = c.pair_kind[row, 1] if c.shape_node[b] == c.nodes else c.pair_kind[row, 0]
    if count >= c.listed_most:
        c.lacking = NEAR
        return count
    c.listed[at + count] = (kind << 2 * BITS) | (a << BITS) | b
    return count + 1


@kernel(c=Crowd, world=INT)
def list_pairs(c, world):
    """List the pairs of a world that are near or may soon be, in the order of their keys."""
    n = c.shapes
    first = world * n
    at = world * c.listed_most
    for s in range(first, first + n):
        copy(c.listed_ball[s], 0, c.ball[s], 0, 3)
        c.listed_radius[s] = c.reach[s] + c.shape_slack[s] + STEPS * c.pace[s] if c.shape_endless[s] == 0 else -1.0
    radius = tail(c.listed_radius, first)
    grids = find_levels(c, radius, n)
    found = find_near(c, tail(c.ball, first), radius, n, grids)
    if found < 0:
        c.lacking = NEAR
        return
    count = 0
    for k in range(found):
        count = list_pair(c, first + c.near[k, 0], first + c.near[k, 1], at, count)
    for g in range(c.grounds):
        b = first + c.ground[g]
        moves = c.shape_node[b] != c.nodes
        for s in range(first, first + n):
            if c.shape_endless[s] == 0 and (moves or is_near_ground(c, s, b, 0.0, c.listed_radius[s])):
                count = list_pair(c, s, b, at, count)
    count = note_couples(c, tail(c.listed, at), count, world)
    sort(tail(c.listed, at), c.spare, count)
    c.listed_count[world] = count if c.lacking == 0 else -1


@kernel(c=Crowd)
def list_where_needed(c):
    """List the pairs of worlds in which something has moved through the room it had."""
    for world in range(c.worlds):
        if c.world_awake[world] > 0 or c.listed_count[world] < 0:
            place_outside(c, world)
    look_at_room(c)
    moved = 0
    for world in range(c.worlds):
        c.world_moved[world] = 1 if has_moved(c, world) else 0
        moved += c.world_moved[world]
    if moved == 0:
        return
    for t in range(c.trees):
        c.tree_near[t] = c.world_moved[c.tree_world[t]]
    run_kinds(c, c.tree_near, c.placing, 1)
    for world in range(c.worlds):
        if c.world_moved[world] == 1 and c.lacking == 0:
            for s in range(world * c.shapes, (world + 1) * c.shapes):
                if c.shape_lane[s] == 1:
                    place(c, s)
            list_pairs(c, world)
    c.listed_joined = c.joined


@kernel(c=Crowd)
def find_met(c):
    """Find which robots whose hinges are looked at are near another tree: what is listed hangs on steps before."""
    for t in range(c.trees):
        c.tree_met[t] = c.tree_listed[t] if c.tree_hinges[t] == 0 or c.joined == 1 else 0
    for world in range(c.worlds):
        listed = c.listed_count[world] if c.world_awake[world] > 0 and c.world_near[world] == 1 else 0
        for k in range(world * c.listed_most, world * c.listed_most + listed):
            if is_of_hinges(c, c.listed[k]) and are_near(c, (c.listed[k] >> BITS) & MASK, c.listed[k] & MASK):
                mark_meeting(c, c.tree_met, tail(c.listed, k), 1, 1)


@kernel(c=Crowd, key=INT, returns=TRUTH)
def is_of_hinges(c, key):
    """Return whether a pair is of a robot whose hinges are looked at, and of what is no ground to it."""
    a = c.node_tree[c.shape_node[(key >> BITS) & MASK]]
    b = c.node_tree[c.shape_node[key & MASK]]
    is_other = b >= 0 or c.shape_base[key & MASK] >= 0
    return is_other and c.joined == 0 and (c.tree_hinges[a] > 0 or (b >= 0 and c.tree_hinges[b] > 0))


@kernel(c=Crowd, returns=INT)
def list_keys(c):
    """List the keys of pairs that are near, in order; return how many there are."""
    count = 0
    for world in range(c.worlds):
        start = count
        listed = c.listed_count[world] if c.world_awake[world] > 0 and c.world_near[world] == 1 else 0
        for k in range(world * c.listed_most, world * c.listed_most + listed):
            key = c.listed[k]
            if not are_asleep(c, key) and are_near(c, (key >> BITS) & MASK, key & MASK):
                count = add_key(c, count, key, 0, 0.0)
        middle = count
        for n in range(world * c.world_trees, (world + 1) * c.world_trees):
            t = c.world_tree[n]
            if c.tree_touched[t] == 1:
                count = list_touching(c, t, count)
        if start < middle < count:
            sort(tail(c.spare, start), c.keys, count - start)
    if c.lacking != 0:
        return 0
    order_keys(c, count)
    return count


# --- where they touch -------------------------------------------------------------------------------------------------


@kernel(c=Crowd, key=INT, feature=INT, p=INT, margin=REAL, fixed=TRUTH)
def keep_contact(c, key, feature, p, margin, fixed):
    k = c.contacts
    if k == c.contact_most:
        c.lacking = CONTACTS
        return
    c.found_key[k] = key
    c.found_feature[k] = feature
    c.found_gap[k] = c.gap[p] - margin
    for e in range(3):
        c.found_point[k, e] = c.point[3 * p + e]
        c.found_normal[k, e] = c.normal[3 * p + e]
        c.found_turning[k, e] = c.turning[3 * p + e] if fixed else 0.0
        c.found_impulse[k, e] = 0.0
    c.contacts = k + 1


@kernel(c=Crowd, row=INT, key=INT)
def keep_contacts(c, row, key):
    """Keep the candidates of a pair that may touch in this step, as a patch."""
    kind = key >> 2 * BITS
    a = (key >> BITS) & MASK
    b = key & MASK
    points = c.pair_points[kind]
    own = place_among(c.own, c.own_count, key_in_world(c, a, b)) if c.own_count > 0 else -1
    margin = c.own_margin[own] if own >= 0 else c.shape_margin[a] + c.shape_margin[b]
    first = c.contacts
    for m in range(points):
        p = row * points + m
        if not c.gap[p] >= c.pair_reach[row, 0]:
            keep_contact(c, key, m, p, margin, c.pair_fixed[kind] == 1)
    if c.contacts > first:
        n = c.patches
        if n + 1 == c.patch_most:  # one row of `patch_first` more
            c.lacking = PATCHES
            return
        c.found_shapes[n, 0] = a
        c.found_shapes[n, 1] = b
        c.found_first[n] = first
        c.found_count[n] = c.contacts - first
        c.patches = n + 1


@kernel(c=Crowd)
def recall_impulses(c):
    """Give contacts the impulses that they had in the step before; both lists are in the order of keys."""
    k = 0
    for n in range(c.contacts):
        key = c.found_key[n]
        feature = c.found_feature[n]
        while k < c.kept and (c.kept_key[k] < key or (c.kept_key[k] == key and c.kept_feature[k] < feature)):
            k += 1
        if k < c.kept and c.kept_key[k] == key and c.kept_feature[k] == feature:
            copy(c.found_impulse[n], 0, c.kept_impulse[k], 0, 3)


@kernel(c=Crowd, to=INT, source=INT)
def move_kept(c, to, source):
    c.kept_key[to] = c.kept_key[source]
    c.kept_feature[to] = c.kept_feature[source]
    copy(c.kept_impulse[to], 0, c.kept_impulse[source], 0, 3)


@kernel(c=Crowd, returns=INT)
def keep_asleep(c):
    """Move kept impulses of bodies asleep to the end of the room that there is; return where they begin."""
    first = c.contact_most
    if c.asleep > 0:
        for n in range(c.kept):
            k = c.kept - 1 - n
            if are_asleep(c, c.kept_key[k]):
                first -= 1
                move_kept(c, first, k)
    return first


@kernel(c=Crowd, k=INT, returns=INT)
def has_impulse(c, k):
    """Return 1 for a contact that did anything: one that did not is as one that was not found."""
    total = abs(c.found_impulse[k, 0]) + abs(c.found_impulse[k, 1]) + abs(c.found_impulse[k, 2])
    return int(0.0 * total < total)  # nor does one of an island that diverged


@kernel(c=Crowd)
def keep_impulses(c):
    """Note the impulses of contacts, in the order of their keys, between those of bodies asleep."""
    asleep = keep_asleep(c)
    to = 0
    for k in range(c.contacts):
        while asleep < c.contact_most and c.kept_key[asleep] < c.found_key[k]:
            move_kept(c, to, asleep)
            asleep += 1
            to += 1
        c.kept_key[to] = c.found_key[k]
        c.kept_feature[to] = c.found_feature[k]
        copy(c.kept_impulse[to], 0, c.found_impulse[k], 0, 3)
        to += has_impulse(c, k)  # the next one takes its place if not: no guess which do anything
    while asleep < c.contact_most:
        move_kept(c, to, asleep)
        asleep += 1
        to += 1
    c.kept = to


@kernel(c=Crowd, total=INT)
def find_patches(c, total):
    """Find the contacts of so many pairs."""
    c.contacts = 0
    c.patches = 0
    start = 0
    while start < total:
        kind = c.keys[start] >> 2 * BITS
        stop = end_of_kind(c, start, total)
        for k in range(start, stop):
            gather_pair(c, k - start, c.keys[k], reach_of(c, (c.keys[k] >> BITS) & MASK, c.keys[k] & MASK))
        run_pairs(c, c.pair_program, PROGRAM, kind, stop - start)
        if c.lacking != 0:
            return
        for k in range(start, stop):
            keep_contacts(c, k - start, c.keys[k])
        start = stop


@kernel(c=Crowd)
def find_contacts(c):
    find_patches(c, leave_alone(c, c.keys, list_keys(c)))
    if c.lacking != 0:
        return
    if c.asleep > 0 and c.contacts + c.kept > c.contact_most:
        c.lacking = CONTACTS  # those of bodies asleep stay with them
    recall_impulses(c)
