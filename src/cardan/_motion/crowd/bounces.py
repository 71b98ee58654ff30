"""Where contacts bounce, all that push one another take a share of what contacts do: as much as makes no energy.

Restitution and friction of contacts that meet at once may make energy (`maximal_steps/dissipation`). With p = J^T g h
what contacts do along v, and v' = v_f + s M^-1 p the velocities after it

    s p . v  +  s (w / 2 - c) . M^-1 p  +  s^2 p . M^-1 p / 2  <= 0,      0 <= s <= 1

is the energy that they make. Impulses w of efforts and weights work along the mean of v and v'; those of Coriolis
forces, -c, do not. All of g is in its cones, and so is s g. A share is taken of trees that push one another where one
of them bounces: elsewhere contacts give back what is in their springs. Long trees do not know the energy that contacts
give them, and surfaces that run give more than there was: what pushes one of them keeps all.

Source: Glocker, Energetic consistency conditions for standard impacts (2013).
"""

from __future__ import annotations

from typing import Any

from cardan._compiler.kernels import INT, TRUTH, kernel
from cardan._compiler.program import Program
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_efforts
from cardan._dynamics.algorithms.implicit import Snapshot
from cardan._dynamics.algorithms.linear import dot, with_diagonal
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.algorithms.whips import followed
from cardan._motion.contact.cone import IMPACT
from cardan._motion.crowd.batches import run_kinds
from cardan._motion.crowd.contact_rows import WANTED
from cardan._motion.crowd.maximal_rows import loads_of
from cardan._motion.crowd.rigid import add_work, has_pushed, share_impulses
from cardan._motion.crowd.rows import LANES, row_program
from cardan._motion.crowd.tables import Crowd
from cardan._motion.crowd.tree_rows import TreeRows
from cardan._motion.maximal_steps.bodies import response
from cardan._motion.maximal_steps.dissipation import beside_contacts

# pyright: analyzeUnannotatedFunctions=false

AMPLE = 1e300
"""The energy [J] that long trees and surfaces that run are said to take."""


def weighed_program(tree: TreeRows) -> Program:
    """Return the program of what energy contacts make of a tree, and of its accelerations without them."""

    def weighed(change: Any, acting: Any, line: Any, armature: Any, **given: Any) -> dict[str, Any]:
        joints, state, forces = tree.begun(**given)
        state, model, q, h, a = followed(state, tree.dt), joints.model, state.q, tree.dt, tree.values(change)
        W, efforts = loads_of(tree, forces, armature).W, tree.values(acting)
        if tree.elements:
            efforts = [e + more for e, more in zip(efforts, tree.values(line), strict=True)]
        M = with_diagonal(mass_matrix.kernel(model, q), W)
        p = [h * (dot(row, a) - tau) for row, tau in zip(M, efforts, strict=True)]
        freely = response(model, q, W)(efforts)
        gained = [h * (e - f) for e, f in zip(a, freely, strict=True)]
        slope = dot(p, state.v) + h * dot(beside_contacts(state, _working(state, efforts, h), h), gained)
        curve = 0.5 * dot(p, gained)
        return {"free": tree.vector(freely), "work": [0.0, slope, curve]}

    vectors = dict.fromkeys(("change", "acting", "line", "armature"), (tree.kind.blocks, LANES))
    return row_program("weighed", tree.columns | vectors, weighed, by="run_rows")


def _working(state: Snapshot, efforts: Vector, h: float) -> list[Any]:
    """Return efforts less what does no work: Coriolis forces, and the couples of turning bodies."""
    moving, still = (bias_forces.kernel(state.model, state.q, v) for v in (state.coriolis_of, [0.0] * state.model.nv))
    found = zip(efforts, moving, still, gyroscopic_efforts(state, h), strict=True)
    return [e + a - b - couple for e, a, b, couple in found]


@kernel(c=Crowd, k=INT, returns=TRUTH)
def bounces(c, k):
    """Return whether a contact meets fast, and leaves as its restitution says."""
    v_n = 0.0
    for e in range(3):
        v_n += c.ahead[c.twist_size * k + e] * c.law[k, e]
    return c.surfaces[c.surface_of[k], 1] > 0.0 and v_n < -IMPACT and c.law[k, WANTED] > 0.0


@kernel(c=Crowd, i=INT, returns=TRUTH)
def runs(c, i):
    """Return whether a shape's surface runs."""
    is_any = False
    for e in range(6):
        is_any = is_any or c.shape_runs[i, e] != 0.0
    return is_any


@kernel(c=Crowd, t=INT)
def find_share(c, t):
    """Find which share of what contacts do a tree takes."""
    slope = c.tree_work[t, 1]
    curve = c.tree_work[t, 2]
    c.tree_share[t] = 1.0
    if c.tree_work[t, 0] > 0.0 and curve > 0.0 and slope + curve > 0.0:
        c.tree_share[t] = max(-slope / curve, 0.0)


@kernel(c=Crowd)
def share_bounces(c):
    """Take from all that bounces, and what it pushes, the energy that contacts make."""
    for t in range(c.trees):
        c.tree_work[t, 0] = 0.0
        c.tree_work[t, 1] = -AMPLE if c.tree_borne[t] >= 0 else 0.0
        c.tree_work[t, 2] = 0.0
    run_kinds(c, c.tree_alone, c.weighing, 0)
    for k in range(c.contacts):
        for e in range(3):
            c.found_before[k, e] = 0.0
    for k in range(c.contacts):
        if bounces(c, k):
            c.tree_work[c.node_tree[c.node_a[k]], 0] += 1.0
        if has_pushed(c, k) and (runs(c, c.shape_a[k]) or runs(c, c.shape_b[k])):
            c.tree_work[c.node_tree[c.node_a[k]], 1] -= AMPLE
    add_work(c)
    for t in range(c.trees):
        find_share(c, t)
        share = c.tree_share[t]
        if share < 1.0 and c.tree_alone[t] == 0:
            for b in range(c.tree_first[t], c.tree_first[t] + c.tree_blocks[t]):
                c.change[b] = c.free[b] + share * (c.change[b] - c.free[b])
    share_impulses(c)
    size = 1 + c.twist_size
    for k in range(c.contacts):
        share = c.tree_share[c.node_tree[c.node_a[k]]]
        for e in range(size):
            c.impulse[size * k + e] *= share


@kernel(c=Crowd, returns=TRUTH)
def is_any_bouncing(c):
    is_any = False
    for k in range(c.contacts):
        is_any = is_any or bounces(c, k)
    return is_any
