"""What rigid contacts have computed of each tree, in place of accelerations: where bodies go, how they leave contacts.

A step solves for contacts twice, by the same matrices (`maximal_steps/non_penetration.py`). Accelerations a of the
first solve are mean velocities on the way, v + h a. Then bodies move and joints close. With v' the velocities that this
leaves, along the axes that bodies had before,

    free'  = free  + d,    force' = force + (M + W) d,    d = (v' - v) / h - a

are what the second solve begins with. It knows what bodies do without contacts, and finds contacts' impulses anew.
Their change g' - g acts on the bodies where they are then: as much of it as makes no energy in what pushes one another
(`dissipating_share`). `work` are the three numbers that this takes, first of each tree, then of all of its group.

Source: `maximal_steps/rigid_step.py`.
"""

from __future__ import annotations

from typing import Any

from cardan._algebra.spatial import Force, Vector3
from cardan._compiler.program import Program
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.linear import dot, with_diagonal
from cardan._dynamics.algorithms.tree import relative_kinematics
from cardan._motion.crowd.rows import LANES, row_program
from cardan._motion.crowd.tree_rows import TreeRows
from cardan._motion.maximal_steps.bodies import Efforts, System, mean_rates, response
from cardan._motion.maximal_steps.dissipation import dissipating_share
from cardan._motion.maximal_steps.rigid_step import carried, fall_of


def moved_program(tree: TreeRows) -> Program:
    """Return the program of where mean velocities take bodies; `shift` are the ways of those that carry shapes."""

    def moved(change: Any, acting: Any, line: Any, armature: Any, freely: Any, **given: Any) -> dict[str, Any]:
        joints, state, forces = tree.begun(**given)
        model, q, h = joints.model, state.q, tree.dt
        a, loads, system = tree.values(change), loads_of(tree, forces, armature), System(model)
        assert tree.closing
        start = system.placed(q, joints.v)
        stepped, placed = carried(tree.closing, system, start, state, [h * e for e in a], loads, h)
        seen = stepping.seen_from(model, q, stepped.q, stepped.v)
        d = [new - e for new, e in zip(mean_rates(joints.v, seen, h), a, strict=True)]
        M = with_diagonal(mass_matrix.kernel(model, q), loads.W)
        efforts = [f + e for f, e in zip(tree.values(acting), tree.values(line), strict=True)]
        p = [h * (dot(row, a) - tau) for row, tau in zip(M, efforts, strict=True)]  # of contacts
        mean, apart = ([v + h * e for v, e in zip(joints.v, own, strict=True)] for own in (a, tree.values(freely)))
        work = sum(fall_of(state, tree.closing.share(loads.W), h).works(p, joints.v, apart, mean), 0.0)
        force = [f + dot(row, d) for f, row in zip(tree.values(acting), M, strict=True)]
        free = [f + e for f, e in zip(tree.values(freely), d, strict=True)]
        shift = [list(placed[i].p - start[i].p) for i in tree.kind.touching]
        found = {"q_after": stepped.q, "v_after": stepped.v, "residual": [stepped.error(h)], "shift": shift}
        return found | {"force": tree.vector(force), "free": tree.vector(free), "work": [work, 0.0, 0.0]}

    vectors = dict.fromkeys(("change", "acting", "line", "armature", "freely"), (tree.kind.blocks, LANES))
    return row_program("moved", tree.columns | vectors, moved, by="run_rows")


def kicked_program(tree: TreeRows) -> Program:
    """Return the program of by what contacts may still change velocities, and what energy that takes.

    A kick is on a node, about its origin where the step began, in axes of the world.
    """

    def kicked(went: Any, going: Any, kick: Any, armature: Any, work: Any, **given: Any) -> dict[str, Any]:
        joints, state, forces = tree.begun(**given)
        model, q = joints.model, list(went)
        system, W = System(model), loads_of(tree, forces, armature).W
        poses, wrenches = Kinematics(model, q).poses, [Force.zero() for _ in system.bodies]
        for i, row in zip(tree.kind.touching, kick, strict=True):
            push, turn = Vector3(*row[:3]), poses[i].rotation.transpose_apply
            lever = state.poses[i].rotation @ system.bodies[i].com
            wrenches[i] = Force(turn(push), turn(Vector3(*row[3:]) - lever.cross(push)))
        p = system.along(relative_kinematics(model, q), wrenches, [0.0] * model.nv)
        change = response(model, q, W)(p)
        return {"change": tree.vector(change), "work": [work[0], dot(p, list(going)), 0.5 * dot(p, change)]}

    own: dict[str, Any] = {"went": tree.model.nq, "going": tree.model.nv, "work": 3}
    own |= {"kick": (len(tree.kind.touching), 6), "armature": (tree.kind.blocks, LANES)}
    return row_program("kicked", tree.columns | own, kicked, by="run_rows")


def leaving_program(tree: TreeRows) -> Program:
    """Return the program of the state after a step, whose velocities get a share of what contacts still do."""

    def leaving(went: Any, going: Any, change: Any, gap: Any, work: Any, **given: Any) -> dict[str, Any]:
        joints, share = tree.begun(**given).joints, dissipating_share(*work)
        v = [e + share * more for e, more in zip(list(going), tree.values(change), strict=True)]
        after = list(went), v, mean_rates(joints.v, v, tree.dt)
        return tree.ended(joints, after, given["q"], given["v"], gap[0]) | {"share": [share]}

    own: dict[str, Any] = {"went": tree.model.nq, "going": tree.model.nv, "gap": 1, "work": 3}
    own |= {"change": (tree.kind.blocks, LANES)}
    return row_program("leaving", tree.columns | own, leaving, by="run_rows")


def loads_of(tree: TreeRows, forces: Any, armature: Any) -> Efforts:
    """Return the efforts of all forces, of those that had to be decided on W alone; no other need be known then."""
    tau, W = forces.without_decisions()
    return Efforts(tau, [a + b for a, b in zip(W, tree.values(armature), strict=True)] if tree.elements else W)
