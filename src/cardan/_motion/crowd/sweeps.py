"""Contacts of loose bodies by sweeps, begun with the impulses of the step before; what one does is in `sweep_rows`.

A sweep visits all contacts once. Contacts of one colour have no body in common, so they are visited at once, a lane
each. A contact gets the first colour that none before it has on either of its bodies. Islands are swept side by side,
and each has its own end: what others do changes none of its bits.

A sweep costs little and moves far in a heap of balls. In a tall stack the load creeps down by one box a sweep, which is
why stacks are solved by a factor.

Source: Fratarcangeli and others, Vivace: a practical Gauss-Seidel method for stable soft body dynamics (2016), for
colours.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, INT, WIDTH, kernel, lowest_one, run, sqrt
from cardan._motion.crowd.narrow import copy_three
from cardan._motion.crowd.tables import CHUNK, CONTACTS, Crowd

# pyright: analyzeUnannotatedFunctions=false

FEW_SWEEPS = 24
"""Sweeps that an island of balls begins with, and one more for each two of its trees: more take longer than factors."""
MOST_SWEEPS = 100
EARLY, LATER = 4, 8
"""After so many sweeps their rate tells where they end."""
ALONE = 63  # colours from which on each has one contact
SWEEPING, FOUND, SWEPT = 1, 2, 3  # of an island: it is being swept, its velocities are right, its forces are kept


# --- bodies -----------------------------------------------------------------------------------------------------------


@kernel(node=F64[24], J=F64[6], found=F64[10])
def turn_symmetric(node, J, found):
    """Put R J R^T behind the first four numbers; symmetric matrices are xx, xy, xz, yy, yz, zz."""
    m = 4
    for i in range(3):
        a = node[3 * i]
        b = node[3 * i + 1]
        d = node[3 * i + 2]
        x = a * J[0] + b * J[1] + d * J[2]
        y = a * J[1] + b * J[3] + d * J[4]
        z = a * J[2] + b * J[4] + d * J[5]
        for j in range(i, 3):
            found[m] = x * node[3 * j] + y * node[3 * j + 1] + z * node[3 * j + 2]
            m += 1


@kernel(c=Crowd, t=INT)
def begin_body(c, t):
    """Find a body's centre of mass and inverse inertia along the world's axes, and its change without contact."""
    node = c.node[c.tree_node[t]]
    for i in range(3):
        own = node[3 * i] * c.tree_com[t, 0] + node[3 * i + 1] * c.tree_com[t, 1] + node[3 * i + 2] * c.tree_com[t, 2]
        c.body[t, i] = node[9 + i] + own
    c.body[t, 3] = c.tree_inverse_mass[t]
    turn_symmetric(node, c.tree_inverse[t], c.body[t])
    b = c.tree_first[t]
    u = c.free[b, 3]
    v = c.free[b, 4]
    w = c.free[b, 5]
    x = c.free[b, 0] + v * c.tree_com[t, 2] - w * c.tree_com[t, 1]
    y = c.free[b, 1] + w * c.tree_com[t, 0] - u * c.tree_com[t, 2]
    z = c.free[b, 2] + u * c.tree_com[t, 1] - v * c.tree_com[t, 0]
    c.body_change[t] = 0.0
    for i in range(3):
        c.body_change[t, i] = c.dt * (node[3 * i] * x + node[3 * i + 1] * y + node[3 * i + 2] * z)
        c.body_change[t, 3 + i] = c.dt * (node[3 * i] * u + node[3 * i + 1] * v + node[3 * i + 2] * w)
    c.colours_of[t] = 0


@kernel(c=Crowd, t=INT)
def accelerate_body(c, t):
    """Find a body's acceleration, in its own axes at its origin."""
    node = c.node[c.tree_node[t]]
    p = c.body_change[t, 3]
    q = c.body_change[t, 4]
    r = c.body_change[t, 5]
    u = node[0] * p + node[3] * q + node[6] * r
    v = node[1] * p + node[4] * q + node[7] * r
    w = node[2] * p + node[5] * q + node[8] * r
    x = (
        node[0] * c.body_change[t, 0]
        + node[3] * c.body_change[t, 1]
        + node[6] * c.body_change[t, 2]
        - (v * c.tree_com[t, 2] - w * c.tree_com[t, 1])
    )
    y = (
        node[1] * c.body_change[t, 0]
        + node[4] * c.body_change[t, 1]
        + node[7] * c.body_change[t, 2]
        - (w * c.tree_com[t, 0] - u * c.tree_com[t, 2])
    )
    z = (
        node[2] * c.body_change[t, 0]
        + node[5] * c.body_change[t, 1]
        + node[8] * c.body_change[t, 2]
        - (u * c.tree_com[t, 1] - v * c.tree_com[t, 0])
    )
    rate = 1.0 / c.dt
    b = c.tree_first[t]
    c.change[b, 0] = rate * x
    c.change[b, 1] = rate * y
    c.change[b, 2] = rate * z
    c.change[b, 3] = rate * u
    c.change[b, 4] = rate * v
    c.change[b, 5] = rate * w
    c.change[b, 6] = 0.0
    c.change[b, 7] = 0.0


# --- contacts, colour by colour ---------------------------------------------------------------------------------------


@kernel(c=Crowd, k=INT, a=INT, b=INT)
def colour_contact(c, k, a, b):
    """Give a contact a colour. A body that has all others has its further contacts one by one."""
    taken = c.colours_of[a]
    if b >= 0:
        taken |= c.colours_of[b]
    colour = lowest_one(taken ^ -1)
    if colour >= ALONE:
        colour = max(c.colours, ALONE)
    else:
        c.colours_of[a] |= 1 << colour
        if b >= 0:
            c.colours_of[b] |= 1 << colour
    c.colour[k] = colour
    while c.colours <= colour:
        c.colour_last[c.colours] = 0
        c.colours += 1
    c.colour_last[colour] += 1


@kernel(c=Crowd)
def place_colours(c):
    """Find where contacts of each colour begin, of whose number `colour_last` tells: each where a vector does."""
    total = 0
    for k in range(c.colours):
        size = c.colour_last[k]
        c.colour_first[k] = total
        c.colour_last[k] = total
        total += (size + WIDTH - 1) // WIDTH * WIDTH
    if total > c.contact_most:
        c.lacking = CONTACTS


@kernel(c=Crowd, i=INT, n=INT)
def place_patch(c, i, n):
    """Give each contact of a patch its place among those of its colour."""
    for k in range(c.patch_first[n], c.patch_first[n] + c.patch_count[n]):
        s = c.colour_last[c.colour[k]]
        c.colour_last[c.colour[k]] = s + 1
        c.place_of[k] = s
        c.met_contact[s] = k
        c.met_patch[s] = n
        c.met_island[s] = i
        c.met_trees[s, 0] = c.patch_trees[n, 0]
        c.met_trees[s, 1] = c.patch_trees[n, 1] if c.patch_trees[n, 1] >= 0 else c.trees


@kernel(c=Crowd)
def colour_contacts(c):
    """Put the contacts of the islands to be swept in the order of their colours."""
    c.colours = 0
    for i in range(c.islands):
        if c.island_swept[i] == SWEEPING:
            for n in range(c.island_patches[i], c.island_patches[i + 1]):
                for k in range(c.patch_first[n], c.patch_first[n] + c.patch_count[n]):
                    colour_contact(c, k, c.patch_trees[n, 0], c.patch_trees[n, 1])
    place_colours(c)
    if c.lacking != 0:
        return
    for i in range(c.islands):
        if c.island_swept[i] == SWEEPING:
            for n in range(c.island_patches[i], c.island_patches[i + 1]):
                place_patch(c, i, n)


@kernel(to=F64[10], source=F64[10])
def copy_body(to, source):
    for e in range(10):
        to[e] = source[e]


@kernel(c=Crowd, m=INT, s=INT)
def gather_contact(c, m, s):
    """Fill in, at place m of a chunk, what its program is given of a contact."""
    k = c.met_contact[s]
    p = c.patch_order[c.met_patch[s]]
    found = c.found_first[p] + k - c.patch_first[c.met_patch[s]]
    node = c.node[c.shape_node[c.found_shapes[p, 0]]]
    for e in range(12):
        c.met_node[m, e] = node[e]
    copy_three(c.met_point[m], c.found_point[found])
    for e in range(13):
        c.met_law[m, e] = c.law[k, e]
    for e in range(3):
        c.met_ahead[m, e] = c.ahead[c.twist_size * k + e]
    copy_body(c.met_a[m], c.body[c.met_trees[s, 0]])
    copy_body(c.met_b[m], c.body[c.met_trees[s, 1]])
    copy_three(c.met_impulse[s], c.found_impulse[found])


@kernel(c=Crowd, first=INT, last=INT)
def begin_contacts(c, first, last):
    """Find the rows of a chunk of contacts, and add what the impulses do that they had in the step before."""
    for s in range(first, last):
        gather_contact(c, s - first, s)
    run(c.meet, last - first, first)
    for s in range(first, last):
        a = c.met_trees[s, 0]
        b = c.met_trees[s, 1]
        c.body_change[a] = c.body_change[a] + c.met_after_a[s - first]
        if b < c.trees:
            c.body_change[b] = c.body_change[b] + c.met_after_b[s - first]


@kernel(c=Crowd)
def begin_sweeps(c):
    """Fill the rows of all contacts that are swept, and begin with the impulses of the step before."""
    for e in range(10):
        c.body[c.trees, e] = 0.0
    c.body_change[c.trees] = 0.0
    for i in range(c.islands):
        if c.island_swept[i] == SWEEPING:
            c.island_count[i] = 0
            for m in range(c.island_trees[i], c.island_trees[i + 1]):
                begin_body(c, c.members[m])
    colour_contacts(c)
    if c.lacking == 0:
        for k in range(c.colours):
            for first in range(c.colour_first[k], c.colour_last[k], CHUNK):
                begin_contacts(c, first, min(first + CHUNK, c.colour_last[k]))


# --- sweeps -----------------------------------------------------------------------------------------------------------


@kernel(c=Crowd, first=INT, last=INT)
def visit_contacts(c, first, last):
    """Visit a chunk of contacts that have no body in common."""
    for s in range(first, last):
        m = s - first
        c.met_before_a[m] = c.body_change[c.met_trees[s, 0]]
        c.met_before_b[m] = c.body_change[c.met_trees[s, 1]]
        c.met_before_a[m, 6] = c.met_impulse[s, 0]
        c.met_before_a[m, 7] = c.met_impulse[s, 1]
        c.met_before_b[m, 6] = c.met_impulse[s, 2]
    run(c.visit, last - first, first)
    own = c.met_island[first]  # whose worst error is at hand
    worst = c.island_worst[own]
    for s in range(first, last):
        m = s - first
        i = c.met_island[s]
        if i != own:
            c.island_worst[own] = worst
            own = i
            worst = c.island_worst[own]
        if c.island_swept[i] == SWEEPING:
            c.body_change[c.met_trees[s, 0]] = c.met_after_a[m]
            if c.met_trees[s, 1] < c.trees:
                c.body_change[c.met_trees[s, 1]] = c.met_after_b[m]
            c.met_impulse[s, 0] = c.met_after_a[m, 6]
            c.met_impulse[s, 1] = c.met_after_a[m, 7]
            c.met_impulse[s, 2] = c.met_after_b[m, 6]
            worst = c.met_after_b[m, 7] if not c.met_after_b[m, 7] <= worst else worst
    c.island_worst[own] = worst


@kernel(c=Crowd, i=INT, returns=INT)
def most_sweeps(c, i):
    """Return how many sweeps an island has at most: few where a factor may follow, and fewer where its rate is slow."""
    if c.island_within[i] > c.tolerance:
        return MOST_SWEEPS
    most = FEW_SWEEPS + (c.island_trees[i + 1] - c.island_trees[i]) // 2
    if c.island_count[i] == LATER:
        end = c.island_worst[i]
        rate = end / c.island_early[i]
        for _ in range((most - LATER) // (LATER - EARLY)):
            end *= rate
        if not end <= c.island_within[i] * c.island_within[i]:
            return LATER
    return most


@kernel(c=Crowd, i=INT, returns=INT)
def end_sweep(c, i):
    """Note how far an island is; return 1 if it goes on."""
    worst = c.island_worst[i]
    c.island_residual[i] = sqrt(worst)
    c.island_count[i] += 1
    if c.island_count[i] == EARLY:
        c.island_early[i] = worst
    is_right = worst <= c.island_within[i] * c.island_within[i]
    if not is_right and c.island_count[i] < most_sweeps(c, i):
        return 1
    c.island_swept[i] = FOUND if is_right or c.island_within[i] > c.tolerance else 0
    return 0


@kernel(c=Crowd, i=INT)
def keep_sweep(c, i):
    """Take what sweeps found of an island as its accelerations and impulses."""
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        accelerate_body(c, c.members[m])
    for n in range(c.island_patches[i], c.island_patches[i + 1]):
        p = c.patch_order[n]
        for m in range(c.patch_count[n]):
            s = c.place_of[c.patch_first[n] + m]
            copy_three(c.found_impulse[c.found_first[p] + m], c.met_impulse[s])
            for e in range(4, 1 + c.twist_size):  # moments, where other islands have them
                c.impulse[(1 + c.twist_size) * (c.patch_first[n] + m) + e] = 0.0


@kernel(c=Crowd)
def sweep(c):
    """Sweep islands side by side, each until its velocities are right to `island_within` [m/s], or so often."""
    going = 0
    for i in range(c.islands):
        going += int(c.island_swept[i] == SWEEPING)
    if going == 0:
        return
    begin_sweeps(c)
    if c.lacking != 0:
        return
    while going > 0:
        for i in range(c.islands):
            c.island_worst[i] = 0.0
        for k in range(c.colours):
            for first in range(c.colour_first[k], c.colour_last[k], CHUNK):
                visit_contacts(c, first, min(first + CHUNK, c.colour_last[k]))
        going = 0
        for i in range(c.islands):
            if c.island_swept[i] == SWEEPING:
                going += end_sweep(c, i)
    for i in range(c.islands):
        if c.island_swept[i] == FOUND:
            keep_sweep(c, i)
            c.island_swept[i] = SWEPT
