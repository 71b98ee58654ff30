"""Whether the step that a robot took alone stands, though it may touch itself.

The contacts that it may have are found, as if it were no longer alone. If the law of each says that it is open at the
velocities after that step, none of them has an impulse, and that was the step. A robot that pressed against itself in
the step before is not judged: it would mostly be in vain.

Cost: the contacts of those robots, and their twists.
"""

from __future__ import annotations

from cardan._compiler.kernels import INT, TRUTH, fma, kernel, run
from cardan._motion.crowd.alone import keep_where, run_where
from cardan._motion.crowd.narrow import drop_apart, find_patches, list_touching, order_keys, place_among
from cardan._motion.crowd.newton import fill_contacts
from cardan._motion.crowd.sides import between_nodes
from cardan._motion.crowd.tables import MASK, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(c=Crowd, key=INT, returns=TRUTH)
def was_pressed(c, key):
    """Return whether a contact of a pair had an impulse in the step before: the robot then hardly parts in this one."""
    k = place_among(c.kept_key, c.kept, key)
    while 0 <= k < c.kept and c.kept_key[k] == key:
        if c.kept_impulse[k, 0] != 0.0 or c.kept_impulse[k, 1] != 0.0 or c.kept_impulse[k, 2] != 0.0:
            return True
        k += 1
    return False


@kernel(c=Crowd, returns=INT)
def list_tried(c):
    """List the pairs of robots that are to be judged: those touch themselves by bounds, and did not do so before."""
    count = 0
    for t in range(c.trees):
        c.tree_near[t] = c.tree_touched[t] if c.tree_tried[t] == 1 else 0
        if c.tree_near[t] == 1:
            count = list_touching(c, t, count)
    if c.lacking != 0:
        return 0
    order_keys(c, count)
    for k in range(count):
        if was_pressed(c, c.keys[k]):
            c.tree_near[c.node_tree[c.shape_node[c.keys[k] & MASK]]] = 0
    return drop_apart(c, keep_where(c, c.tree_near, c.keys, count, 1))


@kernel(c=Crowd, k=INT)
def change_contact(c, k):
    """Find by how much the step alone changes the twist of a contact in a second; the contact is taken as open."""
    a = c.node_a[k]
    b = c.node_b[k]
    between_nodes(c.node[a], c.node[b], c.T[0])
    for e in range(6):
        c.wrench[0, e] = c.node_after[a, 12 + e] - c.node[a, 12 + e]
    for j in range(6):
        c.wrench[0] = fma(c.T[0, j], c.node_after[b, 12 + j] - c.node[b, 12 + j], c.wrench[0])
    for e in range(6):
        c.row_change[k, e] = c.wrench[0, e] / c.dt
    size = 1 + c.twist_size
    for e in range(size):
        c.test[size * k + e] = 0.0
    c.test[size * k] = -1.0


@kernel(c=Crowd)
def judge_tried(c):
    """Find which robots still touch themselves at the velocities after their step alone."""
    count = list_tried(c)
    if c.lacking == 0:
        find_patches(c, count)
    if c.lacking != 0 or count == 0:
        return
    for n in range(c.patches):
        c.patch_order[n] = n
    fill_contacts(c)
    for k in range(c.kinds):
        if c.ending[k] != 0:
            run_where(c, c.tree_near, c.ending[k], k, 1)
    for k in range(c.contacts):
        change_contact(c, k)
    run(c.reaction, c.contacts)
    for t in range(c.trees):
        c.tree_touched[t] = 0 if c.tree_near[t] == 1 else c.tree_touched[t]
    for k in range(c.contacts):
        if not c.error[k] <= 0.0:
            c.tree_touched[c.tree_a[k]] = 1
