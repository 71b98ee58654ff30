"""What a step computes of each tree: M and h as it begins, the lines of its joints' forces, the state as it ends.

Trees of a kind share these programs. What is computed is that of a step of one robot (`solvers/featherstone.py`), in
joint space: forces along the joints that answer to the acceleration are lines, tau - W a, decided on anew in each
iteration as in `contact/convex.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

from cardan._algebra.scalar import maximum, minimum, where
from cardan._algebra.spatial import ArticulatedInertia, Force, Vector3
from cardan._compiler.program import Program
from cardan._dynamics.algorithms import stepping
from cardan._dynamics.algorithms.aba import borne_by_bodies
from cardan._dynamics.algorithms.balances import moved_by
from cardan._dynamics.algorithms.chains import is_chain
from cardan._dynamics.algorithms.cluster import bends
from cardan._dynamics.algorithms.crba import mass_matrix
from cardan._dynamics.algorithms.drives import DriveCommand, JointForces, free_or_held_inertias
from cardan._dynamics.algorithms.gyroscopic import gyroscopic_couple, gyroscopic_efforts
from cardan._dynamics.algorithms.health import is_sound, kept
from cardan._dynamics.algorithms.implicit import Snapshot, implicit_dynamics
from cardan._dynamics.algorithms.kinematic import KinematicJoints
from cardan._dynamics.algorithms.linear import lumped, on_axes, with_diagonal
from cardan._dynamics.algorithms.rnea import bias_forces
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.algorithms.whips import followed, middle_velocities, slowing, solved_in_step
from cardan._motion.contact import LAWS
from cardan._motion.contact.touching import AHEAD, SKIN, at_most, contacts
from cardan._motion.crowd.kinds import BASE, Kind
from cardan._motion.crowd.rows import LANES, block_of, impedance_of, motion_row, pose_row, row_program
from cardan._motion.maximal_steps.bodies import finished, mean_rates
from cardan._motion.maximal_steps.dissipation import without_gain
from cardan._motion.maximal_steps.rigid_step import Closing, rigid_start
from cardan._robot.joints.derivation.programs import replaced
from cardan._robot.model import WORLD, Model, Node


class _Start(NamedTuple):
    """A tree as a step begins."""

    joints: KinematicJoints
    state: Snapshot
    forces: JointForces


@dataclass(frozen=True, eq=False)
class TreeRows:
    """The programs of a kind of tree.

    `pushed` says whether wrenches act on bodies. `closing` is how joints close where contacts are rigid, else None:
    bodies are carried on (`maximal_rows`) and keep their momenta as they turn, so joints feel weight and efforts.
    """

    kind: Kind
    dt: float
    limits: bool
    pushed: bool
    iterations: int | None
    closing: Closing | None
    law: str

    @property
    def model(self) -> Model:
        return self.kind.model

    def vector(self, values: Sequence[Any]) -> list[list[Any]]:
        """Return a vector of the tree as tables have it: so many numbers in each block."""
        size = self.kind.block
        padded = [*values, *[0.0] * (-len(values) % size)]
        return [[*padded[k : k + size], *[0.0] * (LANES - size)] for k in range(0, len(padded), size)]

    def values(self, blocks: Any) -> list[Any]:
        return [e for block in blocks for e in block[: self.kind.block]][: self.model.nv]

    @cached_property
    def is_chain(self) -> bool:
        return not self.closing and is_chain(self.model)

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What all its programs are given: the state, what drives are asked for, the inputs of its model."""
        nv = self.model.nv
        given = {"q": self.model.nq, "v": nv, "effort": nv, "position": nv, "velocity": nv}
        pushed = {"wrenches": (self.model.nbodies, 6)} if self.pushed else {}
        return given | pushed | {name: own.shape for name, own in self.model.inputs.items()}

    @cached_property
    def started(self) -> dict[str, Any]:
        """What programs are given that follow `start`: the same, and of a long chain what it leaves.

        That is the velocities that Coriolis forces are of (`whips`), and tau, which does not change.
        """
        own = {"coriolis_of": self.model.nv, "tau": self.model.nv}
        return self.columns | (own if self.is_chain else {})

    @cached_property
    def elements(self) -> int:
        """How many forces of its joints have to be decided on."""
        sizes: list[int] = []

        def count(**given: Any) -> dict[str, Any]:
            sizes.append(len(list(self._decided_on(**given))))
            return {}

        row_program("count", self.columns, count)
        return sizes[0]

    @cached_property
    def _inertias(self) -> Vector | None:
        """Inertias along v, for all its programs; None where they hang on what each tree is given."""
        rest = [0.0] * self.model.nv
        joints = KinematicJoints(self.model, self.kind.kinematic, self.model.manifold.neutral(), rest, rest, self.dt)
        return None if self.model.inputs else free_or_held_inertias(joints.model)

    def begun(self, **given: Any) -> _Start:
        values, wrenches = {name: given[name] for name in self.model.inputs}, given.get("wrenches")
        model = self.model.filled_with(values)
        q, v, effort, position, velocity = (list(given[name]) for name in ("q", "v", "effort", "position", "velocity"))
        joints = KinematicJoints(model, self.kind.kinematic, q, v, velocity, self.dt)
        gains = joints.model.passive("drive_stiffness"), joints.model.passive("drive_damping")
        acting = None if wrenches is None else [Force.of(tuple(row)) for row in wrenches]
        command = joints.compensate(DriveCommand(effort, position, velocity, *gains, acting))
        state = Snapshot(joints.model, q, list(joints.v), self.kind.is_long)
        own = {"limits": self.limits, "inertias": self._inertias}
        forces = JointForces(joints.model, state.q, state.v, command, self.dt, **own)
        return _Start(joints, state, forces)

    def _decided_on(self, **given: Any) -> JointForces:
        """Return the forces that are decided on."""
        forces = self.begun(**given).forces
        forces.without_decisions()
        return forces

    def start(self) -> Program:
        """Return the program of what a step begins with.

        Matrices come in blocks, each as columns of eight: `mass` the lower half of M, a column of blocks after the
        other. `axis` is how each velocity moves its node: a twist at that node's origin, and where that is. `free` are
        the accelerations without contact, where no force answers to them; `held` is what forces that do begin with.
        """

        def start(**given: Any) -> dict[str, Any]:
            joints, state, forces = self.begun(**given)
            state = followed(state, self.dt)
            if self.is_chain:
                forces.slow(state.v, slowing(state, forces.inertias, self.dt))
            tau, W = forces.without_decisions()  # all that need not be decided on: tau - W a
            found = self._node_rows(state) | {"held": forces.at([0.0] * joints.model.nv)}
            if self.is_chain:
                found |= {"coriolis_of": state.coriolis_of, "tau": tau}
            if self.kind.is_long:
                return found | {"W": W, "asked": self._asked(state, turning=True)}
            if not self.closing:
                tau = [a + b for a, b in zip(tau, gyroscopic_efforts(state, self.dt), strict=True)]
            return found | self._equation(state, tau, W)

        return row_program("start", self.columns, start, by="run_rows")

    def _equation(self, state: Snapshot, efforts: Vector, W: Vector) -> dict[str, Any]:
        count, M = self.kind.blocks, with_diagonal(mass_matrix.kernel(state.model, state.q), W)
        share = 1.0
        if self.closing:
            state = Snapshot(state.model, state.q, [0.0] * state.model.nv)
            share = 1.0 if self.elements else self.closing.share(W)
        found = {"mass": [block_of(M, r, c) for c in range(count) for r in range(c, count)]}
        found["force"] = self._acting(state, efforts, share)
        if not self.kind.is_loose:
            found["axis"] = self._axes(state)
        if not (self.elements or self.is_chain):
            found["free"] = self.vector([share * a for a in implicit_dynamics(state, efforts, on_axes(W)).a])
        return found

    def _acting(self, state: Snapshot, efforts: Vector, share: float = 1.0) -> list[Any]:
        """Return a share of tau - h."""
        h = bias_forces.kernel(state.model, state.q, state.coriolis_of)
        return self.vector([share * (t - e) for t, e in zip(efforts, h, strict=True)])

    def middle(self) -> Program:
        """Return the program of what the first iteration of a long chain leaves: Coriolis forces of the middle."""

        def middle(change: Any, **given: Any) -> dict[str, Any]:
            state = self.begun(**given).state
            u = middle_velocities(state, self.values(change), self.dt)
            state = state.with_coriolis_of(u)
            if self.kind.is_long:
                return {"coriolis_of": u, "asked": self._asked(state)}
            return {"coriolis_of": u, "force": self._acting(state, list(given["tau"]))}

        return row_program("middle", self.started | self._change, middle, by="run_rows")

    def _asked(self, state: Snapshot, turning: bool = False) -> Any:
        """Return p, the forces that a long tree's bodies ask for; less their own couples (`gyroscopic`), if `turning`.

        These act in the first iteration alone.
        """
        p = state.p

        def asked(node: Node) -> Sequence[Any]:
            couple = gyroscopic_couple(state, node, self.dt) if turning else None
            return (p[node.index] - Force(Vector3.zero(), couple or Vector3.zero())).scalars()

        return state.relative.nodes(state.model).table(asked)

    def _node_rows(self, state: Snapshot) -> dict[str, Any]:
        X, V, motions = state.poses, state.V, state.motions

        def rows(numbers: Callable[[int], list[Any]]) -> Any:
            if self.kind.is_long:
                return state.relative.nodes(state.model).table(lambda node: numbers(node.index))
            return [numbers(i) for i in self.kind.touching]

        return {"node": rows(lambda i: pose_row(X[i])), "motion": rows(lambda i: motion_row(V[i], motions[i]))}

    def placing(self, *names: str) -> Program:
        """Return the program of its node rows alone: of all, or of those in some tables."""

        def placing(**given: Any) -> dict[str, Any]:
            found = self._node_rows(self.begun(**given).state)
            return {name: found[name] for name in names or found}

        return row_program("placing", self.columns, placing, by="run_rows")

    def ending(self) -> Program:
        """Return the program of the motions of its nodes, and of their twists at other velocities."""

        def ending(v_after: Any, **given: Any) -> dict[str, Any]:
            V = self.begun(**given | {"v": v_after}).state.V
            after = [list(V[i].scalars()) for i in self.kind.touching]
            return {"motion": self._node_rows(self.begun(**given).state)["motion"], "node_after": after}

        return row_program("ending", self.columns | {"v_after": self.model.nv}, ending, by="run_rows")

    def moving(self) -> Program:
        """Return the program of the room that is left to its shapes before pairs have to be listed again [m].

        Roots take long, so lengths are bounded by sums.
        """

        def moving(listed: Any, **given: Any) -> dict[str, Any]:
            state = self.begun(**given).state
            slack: Any = math.inf
            for ball, row in zip(self.kind.balls, listed, strict=True):
                centre, V = Vector3(*ball.centre), state.V[ball.node]
                moved = state.poses[ball.node] @ centre - Vector3(*row[:3])
                speed = at_most(V.linear + V.angular.cross(centre)) + ball.extent * at_most(V.angular)
                reach = (1.0 + SKIN) * ball.extent + ball.margin + AHEAD * self.dt * speed
                slack = minimum(slack, ball.slack + row[3] - reach - at_most(moved))
            return {"slack": [slack]}

        return row_program("moving", self.columns | {"listed": (len(self.kind.balls), 4)}, moving, by="run_rows")

    def alone(self) -> Program:
        """Return the program of a whole step of a tree that meets no other: that of a robot in a world of its own."""

        def alone(q: Any, v: Any, **given: Any) -> dict[str, Any]:
            joints, state, forces = self.begun(q=q, v=v, **given)
            place = joints.model.nodes[0].placement  # of trees on a base
            known = self.kind.pairs or ()
            pairs = [replaced(p, b=WORLD, pose_b=place @ p.pose_b) if p.b == BASE else p for p in known]
            if self.closing:
                begun = rigid_start(self.closing, joints.model, q, joints.v, self.dt, pairs)
                found = finished(begun, forces, joints.v, self.dt)
                after = found.q, found.v, mean_rates(joints.v, found.v, self.dt)
                return self.ended(joints, after, q, v, found.error(self.dt))
            state = followed(state, self.dt)
            touching = contacts(state, pairs, self.dt)

            def find(at: Snapshot, is_first: bool) -> stepping.Solved:
                return LAWS[self.law](at, forces, touching, self.dt, 1 if is_first else self.iterations)

            solved, state = solved_in_step(state, forces, self.dt, find)
            solved = without_gain(solved, state, forces, touching, self.dt)
            return self._after(joints, q, v, list(solved.found.a), state, solved.residual)

        return row_program("alone", self.columns, alone, by="run_rows")

    def bearing(self) -> Program:
        """Return the program of the accelerations of a long tree under what its bodies bear.

        `borne` has, for each node, a wrench and an impedance as of a contact (`ContactRows.response`), `asked` the
        force p. `moved` are the accelerations of nodes beyond those at zero joint acceleration.
        """

        def bearing(borne: Any, asked: Any, line: Any, armature: Any, tau: Any, W: Any, **given: Any) -> dict[str, Any]:
            state = self.begun(**given).state
            if self.elements:
                tau, W = (
                    [a + b for a, b in zip(own, self.values(more), strict=True)]
                    for own, more in ((tau, line), (W, armature))
                )
            nodes = state.relative.nodes(state.model)
            rows, p = nodes.rows_of(borne.tolist()), nodes.rows_of(asked.tolist())
            rest = nodes.each(lambda node: Force.of(p[node.index]) - Force.of(rows[node.index][:6]))

            def felt(node: Node) -> ArticulatedInertia:
                return node.inertia.articulated() + impedance_of(rows[node.index][6:])

            found = borne_by_bodies(state.model, state.relative, rest, list(tau), on_axes(W), felt)
            return {"change": self.vector(found.a), "moved": [list(dA.scalars()) for dA in found.dA]}

        count = len(self.model.nodes)
        own = dict.fromkeys(("line", "armature"), (self.kind.blocks, LANES)) | {"W": self.model.nv}
        own |= {"borne": (count, 27), "asked": (count, 6)}
        return row_program("bearing", self.started | own, bearing, by="run_rows")

    def _axes(self, state: Snapshot) -> list[Any]:
        found = []
        for i, j in self.kind.axes:
            X, S = state.poses[i], state.relative.S[i][self.model.nodes[i].v.index(j)]
            found.append([*(X.rotation @ S.linear), *(X.rotation @ S.angular), *X.translation])
        return found

    def lines(self) -> Program:
        """Return the program of the lines that forces are on, by what they hold and the last accelerations."""

        def lines(held: Any, before: Any, **given: Any) -> dict[str, Any]:
            forces = self._decided_on(**given)
            tau, W = forces.total(forces.linear(list(held), self.values(before)))
            return {"line": self.vector(tau), "armature": self.vector(lumped(W))}

        return row_program("lines", self.columns | self._decided, lines, by="run_rows")

    def reaction(self) -> Program:
        """Return the program of what forces hold at new accelerations, and by how much velocities are wrong [m/s]."""

        def reaction(held: Any, before: Any, change: Any, **given: Any) -> dict[str, Any]:
            forces = self._decided_on(**given)
            a = self.values(change)
            lines = forces.linear(list(held), self.values(before))
            on = forces.on(lines, a)
            return {"held_after": on, "error": [forces.residual(on, a)]}

        return row_program("joint_reaction", self.columns | self._decided | self._change, reaction, by="run_rows")

    @property
    def _decided(self) -> dict[str, Any]:
        return {"held": self.elements, "before": (self.kind.blocks, LANES)}

    @property
    def _change(self) -> dict[str, Any]:
        return {"change": (self.kind.blocks, LANES)}

    def finish(self) -> Program:
        """Return the program of the state after a step with accelerations; `sound` is 1 if it is finite."""

        def finish(change: Any, **given: Any) -> dict[str, Any]:
            joints, state, _ = self.begun(**given)
            if self.is_chain:
                state = state.with_coriolis_of(list(given["coriolis_of"]))
            return self._after(joints, given["q"], given["v"], self.values(change), state)

        return row_program("finish", self.started | self._change, finish, by="run_rows")

    def _after(
        self, joints: KinematicJoints, q: Any, v: Any, a: list[Any], state: Snapshot, residual: Any = 0.0
    ) -> dict[str, Any]:
        moved = moved_by(state, a, self.dt, self.kind.is_long)
        return self.ended(joints, (moved.q, moved.v, a), q, v, residual)

    def ended(
        self, joints: KinematicJoints, after: tuple[Vector, Vector, Vector], q: Any, v: Any, residual: Any
    ) -> dict[str, Any]:
        """Return what a step from q, v leaves; q and v themselves if what comes of it is no number."""
        q_after, v_after, a = joints.at_end(*after)
        sound = is_sound(q_after, v_after, a)
        residual = reduce(maximum, (e * (1.0 / self.dt) for e in bends(joints.model, list(q), q_after)), residual)
        found = {"q_after": kept(sound, q_after, q), "v_after": kept(sound, v_after, v), "a": a}
        return found | {"sound": [where(sound, 1.0, 0.0)], "residual": [residual]}
