"""Whether the step that a robot took alone stands, though its hinges could have closed a pair of its shapes in it.

The contacts that it may have are found, as if it were no longer alone. If the law of each says that it is open at the
velocities after that step, none of them has an impulse, and that was the step.

Cost: the contacts of those robots, and their twists.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, fma, kernel, run
from cardan._motion.crowd.batches import run_kinds
from cardan._motion.crowd.close_pairs import number_of, robot_of
from cardan._motion.crowd.itself import look_at_robots
from cardan._motion.crowd.narrow import find_patches, place
from cardan._motion.crowd.newton import fill_contacts
from cardan._motion.crowd.sides import between_nodes
from cardan._motion.crowd.tables import BITS, MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(c=Crowd, k=INT)
def change_contact(c, k):
    """Find by how much the step alone changes the twist of a contact in a second; the contact is taken as open."""
    a = c.node_a[k]
    b = c.node_b[k]
    between_nodes(c.node[a], c.node[b], c.T[0])
    for e in range(6):
        c.wrench[0, e] = c.node_after[a, e] - c.node[a, 12 + e]
    for j in range(6):
        c.wrench[0] = fma(c.T[0, j], c.node_after[b, j] - c.node[b, 12 + j], c.wrench[0])
    for e in range(6):
        c.row_change[k, e] = c.wrench[0, e] / c.dt
    size = 1 + c.twist_size
    for e in range(size):
        c.test[size * k + e] = 0.0
    c.test[size * k] = -1.0


@kernel(c=Crowd, closing=INT)
def place_closing(c, closing):
    """Place the shapes of pairs whose keys are given, and find how the nodes of their robots move after the step."""
    for t in range(c.trees):
        c.tree_near[t] = 0
    for k in range(closing):
        c.tree_near[robot_of(c, c.keys[k])] = 1
    run_kinds(c, c.tree_near, c.placing, 1)
    run_kinds(c, c.tree_near, c.ending, 1)
    for k in range(closing):
        place(c, (c.keys[k] >> BITS) & MASK)
        place(c, c.keys[k] & MASK)


@kernel(c=Crowd, closing=INT)
def keep_ways(c, closing):
    """Note along which ways the pairs are apart whose contacts were found; forget those of pairs out of reach."""
    n = 0
    for k in range(closing):
        p = number_of(c, robot_of(c, c.keys[k]), c.close_pair[c.key_at[k]])
        for e in range(3):
            c.inner_way[p, e] = 0.0
        if n < c.patches and c.found_key[c.found_first[n]] == c.keys[k]:
            least = c.found_first[n]
            for m in range(c.found_first[n], c.found_first[n] + c.found_count[n]):
                least = m if c.found_gap[m] < c.found_gap[least] else least
            local = c.shape_local[(c.keys[k] >> BITS) & MASK]
            for e in range(3):
                for i in range(3):
                    c.inner_way[p, e] += local[3 * i + e] * c.found_normal[least, i]
            n += 1


@kernel(c=Crowd, closing=INT)
def judge_tried(c, closing):
    """Mark those robots alone that touch themselves after their step alone, by the keys of pairs that may close."""
    place_closing(c, closing)
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
