"""Whether the step that a robot took alone stands, though its hinges could have closed a pair of its shapes in it.

The contacts that it may have are found, as if it were no longer alone. If the law of each says that it is open at the
velocities after that step, none of them has an impulse, and that was the step.

Most are parted before that by how fast the nodes of both shapes move towards one another: of what turns together little
is left.

Cost: the twists of those robots, 300 operations for each pair, and the contacts of those that are left.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, TRUTH, kernel, run
from cardan._motion.crowd.batches import run_kinds
from cardan._motion.crowd.close_pairs import BARE, STILL, margin_with, robot_of
from cardan._motion.crowd.itself import look_at_robots
from cardan._motion.crowd.narrow import find_patches
from cardan._motion.crowd.newton import fill_contacts
from cardan._motion.crowd.placing import place
from cardan._motion.crowd.sides import find_twists
from cardan._motion.crowd.tables import BITS, CONTACTS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(c=Crowd, k=INT)
def change_contact(c, k):
    """Find by how much the step alone changes the twist of a contact in a second; the contact is taken as open."""
    find_twists(c, c.node_a[k], c.node_b[k])
    for e in range(6):
        c.row_change[k, e] = (c.wrench[1, e] - c.wrench[0, e]) / c.dt
    size = 1 + c.twist_size
    for e in range(size):
        c.test[size * k + e] = 0.0
    c.test[size * k] = -1.0


@kernel(c=Crowd, closing=INT)
def move_nodes(c, closing):
    """Find how the nodes of robots move after the step, of whose pairs keys are given; the look has placed them."""
    for t in range(c.trees):
        c.tree_near[t] = c.tree_touched[t]  # reaches of robots that may meet others hang on that, too
    for k in range(closing):
        c.tree_near[robot_of(c, c.keys[k])] = 1
    run_kinds(c, c.tree_near, c.ending, 1)


@kernel(c=Crowd, k=INT, returns=TRUTH)
def nodes_may_close(c, k):
    """Return whether a pair of a robot may close in a step alone, as the twists of its nodes say.

    A candidate is on one of both shapes, and no farther from the other one than its gap. There they move at the speed
    of the middle of either at most, and what turning adds. That a farther candidate is at a greater speed is less than
    its gap is more.
    """
    p = c.close_pair[c.key_at[k]]
    gap = c.close_gap[c.key_at[k]]
    turning = c.speeds[k, 2] + STILL
    speed = c.speeds[k, 0] + turning * (c.shape_extent[c.shape_a[k]] + c.slip + gap)
    if c.node_b[k] != c.nodes:  # on what is fixed levers are those of the first shape (`Contact.turning`)
        speed = min(speed, c.speeds[k, 1] + turning * (c.shape_extent[c.shape_b[k]] + c.slip + gap))
    return not gap - margin_with(c, p, BARE) > c.horizon * c.dt * speed


@kernel(c=Crowd, closing=INT, returns=INT)
def leave_closing(c, closing):
    """Leave those pairs of keys that the twists of nodes may close; return how many."""
    if closing > c.contact_most:
        c.lacking = CONTACTS
        return 0
    for k in range(closing):
        c.shape_a[k] = (c.keys[k] >> BITS) & MASK
        c.shape_b[k] = c.keys[k] & MASK
        c.node_a[k] = c.shape_node[c.shape_a[k]]
        c.node_b[k] = c.shape_node[c.shape_b[k]]
    run(c.approach, closing)
    left = 0
    for k in range(closing):
        if nodes_may_close(c, k):
            c.keys[left] = c.keys[k]
            c.key_at[left] = c.key_at[k]
            left += 1
    return left


@kernel(c=Crowd, closing=INT)
def keep_ways(c, closing):
    """Note along which ways the pairs are apart whose contacts were found; forget those of pairs out of reach."""
    n = 0
    for k in range(closing):
        way = c.close_way[c.key_at[k]]
        for e in range(3):
            way[e] = 0.0
        if n < c.patches and c.found_key[c.found_first[n]] == c.keys[k]:
            least = c.found_first[n]
            for m in range(c.found_first[n], c.found_first[n] + c.found_count[n]):
                least = m if c.found_gap[m] < c.found_gap[least] else least
            local = c.shape_local[(c.keys[k] >> BITS) & MASK]
            for e in range(3):
                for i in range(3):
                    way[e] += local[3 * i + e] * c.found_normal[least, i]
            n += 1


@kernel(c=Crowd, closing=INT)
def judge_tried(c, closing):
    """Mark those robots alone that touch themselves after their step alone, by the keys of pairs that may close."""
    move_nodes(c, closing)
    closing = leave_closing(c, closing)
    for k in range(closing):
        place(c, (c.keys[k] >> BITS) & MASK)
        place(c, c.keys[k] & MASK)
    find_patches(c, closing)
    if c.lacking != 0:
        return
    keep_ways(c, closing)
    for n in range(c.patches):
        c.patch_order[n] = n
    fill_contacts(c)
    for k in range(c.contacts):
        change_contact(c, k)
    run(c.reaction, c.contacts)
    for k in range(c.contacts):
        if not c.error[k] <= 0.0:
            c.tree_touched[c.node_tree[c.node_a[k]]] = 1


@kernel(c=Crowd)
def find_touching_themselves(c):
    """Find which robots touch themselves, of those that took their steps alone."""
    closing = look_at_robots(c)
    if c.lacking == 0:
        judge_tried(c, closing)
