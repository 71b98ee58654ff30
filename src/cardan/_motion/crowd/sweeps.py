"""Contacts of loose bodies by sweeps, begun with the impulses of the step before; what one does is in `sweep_rows`.

A sweep visits all contacts once. Contacts of one colour have no body in common, so they are visited at once, a lane
each. A contact gets the first colour that none before it has on either of its bodies. Islands are swept side by side,
and each has its own end: what others do changes none of its bits.

A sweep costs little and moves far in a heap of balls. In a tall stack the load creeps down by one box a sweep, which is
why stacks are solved by a factor.

Source: Fratarcangeli and others, Vivace: a practical Gauss-Seidel method for stable soft body dynamics (2016), for
colours; O'Donoghue and Candes, Adaptive restart for accelerated gradient schemes (2015), for what goes ahead.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, REAL, WIDTH, kernel, lowest_one, run, sqrt
from cardan._motion.crowd.contact_rows import INVERSE_MASS
from cardan._motion.crowd.islands import contacts_of
from cardan._motion.crowd.tables import CONTACTS, Crowd

# pyright: analyzeUnannotatedFunctions=false

FEW_SWEEPS = 24
"""Sweeps that an island of balls begins with, and one more for each two of its trees: more take longer than factors."""
MOST_SWEEPS, MOST_RIGID_SWEEPS = 100, 1000
"""Rigid contacts hand on impulses alone: a pile of 30 balls takes up to 150 sweeps, one of 300 up to 400."""
AHEAD, FURTHER = 24, 0.5
"""Sweeps after which an island goes ahead of what they find, since many more are to come; and how far, at most.

Under XPBD piles of 100 and 300 balls then take half as many sweeps. With 0.6 some steps do not end, with 0.8 few do.
"""
ALONE = 63  # colours from which on each has one contact
SWEEPING, SWEPT = 1, 2  # of an island: it is being swept, its velocities are right


# --- contacts, colour by colour ---------------------------------------------------------------------------------------


@kernel(c=Crowd, k=INT)
def colour_contact(c, k):
    """Give a contact a colour. A body that has all others has its further contacts one by one."""
    a = c.node_tree[c.node_a[k]]
    b = c.node_tree[c.node_b[k]]  # -1 of the world
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


@kernel(c=Crowd, i=INT, k=INT)
def place_contact(c, i, k):
    """Give a contact its place among those of its colour, and note there of what it is."""
    s = c.colour_last[c.colour[k]]
    c.colour_last[c.colour[k]] = s + 1
    c.place_of[k] = s
    c.met_island[s] = i
    c.met_contact[s] = k
    c.met_found[s] = c.found_of[k]
    c.met_node[s] = c.node_a[k]
    c.met_a[s] = c.node_tree[c.node_a[k]]
    b = c.node_tree[c.node_b[k]]
    c.met_b[s] = b if b >= 0 else c.trees + i


@kernel(c=Crowd)
def colour_contacts(c):
    """Put the contacts of the islands to be swept in the order of their colours."""
    c.colours = 0
    for i in range(c.islands):
        if c.island_swept[i] == SWEEPING:
            first, end = contacts_of(c, i, i + 1)
            for k in range(first, end):
                colour_contact(c, k)
    place_colours(c)
    if c.lacking != 0:
        return
    for i in range(c.islands):
        if c.island_swept[i] == SWEEPING:
            first, end = contacts_of(c, i, i + 1)
            for k in range(first, end):
                place_contact(c, i, k)


@kernel(c=Crowd)
def begin_sweeps(c):
    """Fill the rows of all contacts that are swept, and begin with the impulses of the step before."""
    start = 0  # the first of islands to be swept that follow one another
    for i in range(c.islands + 1):
        if i == c.islands or c.island_swept[i] != SWEEPING:
            run(c.begin_body, c.island_trees[i] - c.island_trees[min(start, i)], c.island_trees[min(start, i)])
            start = i + 1
            continue
        c.island_count[i] = 0
        for e in range(10):
            c.body[c.trees + i, e] = 0.0
        c.body_change[c.trees + i] = 0.0
        for m in range(c.island_trees[i], c.island_trees[i + 1]):
            c.colours_of[c.members[m]] = 0
    colour_contacts(c)
    if c.lacking == 0:
        for k in range(c.colours):
            run(c.meet, c.colour_last[k] - c.colour_first[k], c.colour_first[k])


# --- sweeps -----------------------------------------------------------------------------------------------------------


@kernel(c=Crowd, s=INT, returns=INT)
def place_in_lanes(c, s):
    """Return where an impulse begins."""
    lane = s & (c.lanes - 1)  # there are 2, 4 or 8
    return 4 * (s - lane) + lane


@kernel(c=Crowd)
def visit_contacts(c):
    """Visit all contacts once, and find the worst error of each island."""
    for i in range(c.islands):
        c.island_worst[i] = 0.0
    for k in range(c.colours):
        first = c.colour_first[k]
        last = c.colour_last[k]
        if first == last:
            continue
        run(c.visit, last - first, first)
        own = c.met_island[first]  # whose worst error is at hand
        worst = c.island_worst[own]
        for s in range(first, last):
            if c.met_island[s] != own:
                c.island_worst[own] = worst
                own = c.met_island[s]
                worst = c.island_worst[own]
            error = c.met_impulse[place_in_lanes(c, s) + 3 * c.lanes]
            worst = error if not error <= worst else worst
        c.island_worst[own] = worst


@kernel(c=Crowd, i=INT, returns=INT)
def most_sweeps(c, i):
    """Return how many sweeps an island has at most: few where a factor may follow."""
    if c.island_within[i] > c.tolerance:
        return MOST_SWEEPS if c.leave == 0 else MOST_RIGID_SWEEPS
    return FEW_SWEEPS + (c.island_trees[i + 1] - c.island_trees[i]) // 2


@kernel(c=Crowd, i=INT)
def keep_sweep(c, i):
    """Take what sweeps found of an island as its accelerations and impulses."""
    run(c.accelerate_body, c.island_trees[i + 1] - c.island_trees[i], c.island_trees[i])
    first, end = contacts_of(c, i, i + 1)
    for k in range(first, end):
        for e in range(3):
            c.found_impulse[c.found_of[k], e] = c.met_impulse[place_in_lanes(c, c.place_of[k]) + e * c.lanes]
        for e in range(4, 1 + c.twist_size):  # moments, where other islands have them
            c.impulse[(1 + c.twist_size) * k + e] = 0.0


@kernel(c=Crowd, i=INT, returns=REAL)
def momentum_of(c, i):
    """Return how far an island goes ahead, as a part of its last step; 0 to begin anew, where the sweep turned back."""
    first, end = contacts_of(c, i, i + 1)
    turned = 0.0
    for k in range(first, end):
        at = place_in_lanes(c, c.place_of[k])
        for e in range(3):
            g = c.met_impulse[at + e * c.lanes]
            turned += c.law[k, INVERSE_MASS] * (c.swept_from[k, e] - g) * (g - c.swept_before[k, e])
    before = c.island_momentum[i]
    if c.island_count[i] == AHEAD or not turned <= 0.0:
        c.island_momentum[i] = 1.0
        return 0.0
    c.island_momentum[i] = 0.5 + sqrt(0.25 + before * before)
    return min((before - 1.0) / c.island_momentum[i], FURTHER)


@kernel(c=Crowd, i=INT)
def go_ahead(c, i):
    """Go ahead from what a sweep found, the way that it went: impulses, and twists with them."""
    share = momentum_of(c, i)
    first, end = contacts_of(c, i, i + 1)
    for k in range(first, end):
        at = place_in_lanes(c, c.place_of[k])
        for e in range(3):
            g = c.met_impulse[at + e * c.lanes]
            ahead = g + share * (g - c.swept_before[k, e]) if share > 0.0 else g
            c.swept_before[k, e] = g
            c.swept_from[k, e] = ahead
            c.met_impulse[at + e * c.lanes] = ahead
    for m in range(c.island_trees[i], c.island_trees[i + 1]):
        t = c.members[m]
        for e in range(6):
            V = c.body_change[t, e]
            c.body_change[t, e] = V + share * (V - c.body_before[t, e]) if share > 0.0 else V
            c.body_before[t, e] = V


@kernel(c=Crowd, i=INT, returns=INT)
def end_sweep(c, i):
    """Note how far an island is; return 1 if it goes on. Of one that does not nothing counts that is done further."""
    worst = c.island_worst[i]
    c.island_residual[i] = sqrt(worst)
    c.island_count[i] += 1
    is_right = worst <= c.island_within[i] * c.island_within[i]
    if not is_right and c.island_count[i] < most_sweeps(c, i):
        if c.island_count[i] >= AHEAD:
            go_ahead(c, i)
        return 1
    c.island_swept[i] = 0
    if is_right or c.island_within[i] > c.tolerance:
        c.island_swept[i] = SWEPT
        keep_sweep(c, i)
    return 0


@kernel(c=Crowd)
def sweep(c):
    """Sweep islands side by side, each until its velocities are right to `island_within` [m/s], or so often."""
    begin_sweeps(c)
    going = 1
    while going > 0 and c.lacking == 0:
        visit_contacts(c)
        going = 0
        for i in range(c.islands):
            if c.island_swept[i] == SWEEPING:
                going += end_sweep(c, i)
