"""Makes the tables of a crowd, with room in its lists, and takes steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cardan._algebra.errors import UnsupportedError
from cardan._compiler.kernels import BoundKernel, RowProgram
from cardan._compiler.program import Program
from cardan._motion.crowd import parts
from cardan._motion.crowd.bounces import share_bounces, weighed_program
from cardan._motion.crowd.contact_rows import ContactRows
from cardan._motion.crowd.grid import LEVELS
from cardan._motion.crowd.kept import NOBODY, NOTHING, KeptImpulses
from cardan._motion.crowd.layout import Layout, Scene, starts_of
from cardan._motion.crowd.long_trees import follow_ties
from cardan._motion.crowd.maximal_rows import kicked_program, leaving_program, moved_program
from cardan._motion.crowd.sleep import REST, find_asleep, rest_islands, wake_touched
from cardan._motion.crowd.step import leave_contacts, meet, solve_by_factors, take_steps, try_those_apart
from cardan._motion.crowd.sweep_rows import accelerated_program, body_program, meeting_program, visit_program
from cardan._motion.crowd.sweeps import ALONE, sweep
from cardan._motion.crowd.tables import (
    APART,
    BLOCKS,
    CONTACTS,
    CROWDED,
    NEAR,
    ORDER,
    PART,
    PATCHES,
    PROGRAM,
    SIDES,
    TREES,
    Crowd,
)
from cardan._motion.crowd.tree_rows import TreeRows
from cardan._motion.crowd.tried import find_touching_themselves

TOLERANCE = 1e-5
"""By how much velocities may be wrong after the first iterations [m/s]."""
MOST = 100
"""Iterations of an island in a step."""
PARTS: dict[int, tuple[Any, ...]] = {
    parts.ROBOTS: (find_touching_themselves, "approach", "reaction"),
    parts.HEAPS: (sweep, "begin_body", "accelerate_body", "meet", "visit"),
    parts.FACTORS: (solve_by_factors, "response", "reaction"),
    parts.TIES: (follow_ties,),
    parts.LEAVING: (leave_contacts,),
    parts.BOUNCES: (share_bounces,),
    parts.MEETING: (meet,),
    parts.HINGES: (try_those_apart,),
    parts.SLEEPERS: (find_asleep,),
    parts.TOUCHED: (wake_touched,),
    parts.RESTING: (rest_islands,),
}
"""What parts of a step are, and the programs of contacts that they run."""


class Engine:
    """So many worlds of a scene as tables, with the programs that run over them."""

    def __init__(
        self,
        scene: Scene,
        dt: float,
        worlds: int = 1,
        *,
        limits: bool = True,
        pushed: bool = False,
        iterations: int | None = None,
        sleep: float | None = None,
        law: str = "convex",
    ) -> None:
        self.scene, self.dt, self.worlds = scene, dt, worlds
        self.layout = layout = Layout(scene, worlds)
        self.c = c = Crowd(worlds=worlds, dt=dt, tolerance=TOLERANCE, most=iterations or MOST)
        c.sleep, c.rest_steps = sleep or 0.0, math.ceil(REST / dt)
        layout.fill_trees(c)
        layout.fill_nodes(c)
        c.numbers_w = len(c.w_source) if pushed else 0
        self.trees = [TreeRows(kind, dt, limits, pushed, iterations, scene.closing, law) for kind in layout.kinds]
        c.hinged = int(any(kind.hinges for kind in layout.kinds))
        c.allocate(parts=len(PARTS))
        self._parts: list[BoundKernel] = []
        self._add_trees()
        self.pairs = layout.fill_shapes(c)
        lengths, running = (bool(np.any(own)) for own in (c.surfaces[:, 4:], c.shape_runs))
        self.contacts = ContactRows(dt, lengths, running, scene.closing is not None, law == "coulomb")
        c.twist_size = self.contacts.twist
        self._forget_pairs()
        self._add_room()
        self._take_steps = take_steps.bound(c)
        self._told: KeptImpulses | None = None  # what was kept of the last step, if these tables have it

    # --- trees ---

    def _add_trees(self) -> None:
        c, layout = self.c, self.layout
        c.allocate(
            q=c.numbers_q, v=c.numbers_v, w=len(c.w_source), trees=c.trees, bodies=2 * c.trees + 1, kinds=c.kinds
        )
        c.allocate(vectors=layout.first_vector[-1], matrices=layout.first_matrix[-1])
        c.allocate(borne=layout.first_borne[-1], balls=layout.first_ball[-1])
        self._name_arrays()
        rows = c.kind_rows.tolist()
        elements = [rows_of.elements for rows_of in self.trees]
        held = starts_of(n * size for n, size in zip(rows, elements, strict=True))
        c.allocate(held=held[-1])
        own = zip(rows, elements, held[:-1], strict=True)
        c.tree_elements = np.repeat(elements, rows).astype(np.int32)
        c.tree_held = np.concatenate([start + size * np.arange(n) for n, size, start in own]).astype(np.int32)
        self._programs: list[RowProgram] = []
        self._tree_arrays = [self._arrays_of(k, first) for k, first in enumerate(held[:-1])]
        for k, rows_of in enumerate(self.trees):
            if rows_of.kind.pairs is not None:
                made = rows_of.placing(), rows_of.moving(), rows_of.alone()
                c.placing[k], c.moving[k], c.alone[k] = (self._made(p, k) for p in made)
                if rows_of.kind.hinges:
                    c.looking[k], c.ending[k] = (self._made(p, k) for p in (rows_of.placing("node"), rows_of.ending()))
            else:
                self._add_tree_programs(k)

    def _name_arrays(self) -> None:
        """Find what a step is given, and the row of its results, by the names of a state's and a control's arrays."""
        c, W = self.c, self.worlds
        sizes = c.numbers_q, c.numbers_v, c.numbers_v, W, W
        self.row = np.zeros(sum(sizes))
        c.q, c.v, c.a, c.residual, c.good = np.split(self.row, np.cumsum(sizes)[:-1])
        rows = {name: array.reshape(W, -1) for name, array in (("q", c.q), ("v", c.v), ("warm", c.a))}
        self.results = rows | {"residual": c.residual, "count": c.good}
        names = "q", "v", "effort", "position", "velocity", *("wrenches",) * bool(c.numbers_w)
        self.given = {"count": c.good} | {name: getattr(c, name) for name in names}

    def _add_tree_programs(self, k: int) -> None:
        """Make what steps the trees of a kind that meet others: of robots not before one does."""
        c, rows_of = self.c, self.trees[k]
        c.start[k] = self._made(rows_of.start(), k)
        c.finish[k] = self._made(leaving_program(rows_of) if rows_of.closing else rows_of.finish(), k)
        if rows_of.closing:
            c.carrying[k], c.kicking[k] = (self._made(own(rows_of), k) for own in (moved_program, kicked_program))
        if c.parts[parts.BOUNCES]:
            self._add_weighing(k)
        if rows_of.elements:
            both = rows_of.lines(), rows_of.reaction()
            c.lines[k], c.joint_reaction[k] = (self._made(p, k) for p in both)
        if rows_of.is_chain:
            c.middle[k] = self._made(rows_of.middle(), k)
        if rows_of.kind.is_long:
            c.bearing[k] = self._made(rows_of.bearing(), k)

    def _add_weighing(self, k: int) -> None:
        """Make what finds the energy that contacts make of the trees of a kind; of long ones it is unknown."""
        if not self.trees[k].kind.is_long:
            self.c.weighing[k] = self._made(weighed_program(self.trees[k]), k)

    def _made(self, program: Any, k: int) -> int:
        """Make what runs a program over the trees of a kind; return where it is."""
        self._programs.append(RowProgram(program, self._tree_arrays[k], int(self.c.kind_rows[k])))
        return self._programs[-1].address

    def _arrays_of(self, k: int, held: int) -> dict[str, np.ndarray]:
        """Return the rows of a kind of tree: parts of the tables."""
        c, layout, rows_of = self.c, self.layout, self.trees[k]
        kind, model, n = rows_of.kind, rows_of.model, int(c.kind_rows[k])
        blocks, touching = kind.blocks, len(kind.touching)
        along_v = {"v": "v_rows", "v_after": "v_after", "a": "a_rows", "going": "v_after"}
        along_v |= {name: f"{name}_rows" for name in ("effort", "position", "velocity", "tau", "W")}
        along_v |= {"coriolis_of": "coriolis_rows"}
        vectors = {name: name for name in ("force", "free", "line", "armature", "before", "change")}
        vectors |= {"acting": "force", "freely": "free"}
        of_tree = "sound", "error", "residual", "slack", "work", "share"
        groups: list[tuple[int, int, dict[str, str]]] = [
            (layout.first_q[k], model.nq, {"q": "q_rows", "q_after": "q_after", "went": "q_after"}),
            (layout.first_v[k], model.nv, along_v),
            (layout.first_vector[k], blocks, vectors),
            (layout.first_matrix[k], kind.matrix_blocks, {"mass": "mass"}),
            (layout.first_node[k], touching, {name: name for name in ("node", "motion", "node_after")}),
            (layout.first_node[k], touching, {"shift": "node_shift", "kick": "node_kick"}),
            (layout.first_axis[k], len(kind.axes), {"axis": "axis"}),
            (layout.first_borne[k], touching * kind.is_long, {name: name for name in ("borne", "asked", "moved")}),
            (layout.first_wrench[k], 6 * model.nbodies, {"wrenches": "wrench_rows"}),
            (layout.first_ball[k], len(kind.balls), {"listed": "listed_balls"}),
            (held, rows_of.elements, {"held": "held", "held_after": "held_after"}),
            (layout.first_tree[k], 1, {name: f"tree_{name}" for name in of_tree} | {"gap": "tree_residual"}),
        ]
        found: dict[str, np.ndarray] = {"run_rows": c.run_rows}
        for start, size, arrays in groups:
            for name, own in arrays.items():
                found[name] = getattr(c, own)[start : start + n * size].reshape(n, -1)
        for name in model.inputs:
            found[name] = np.tile(np.array(kind.numbers, dtype=float), (self.worlds, 1))
        return found

    def _forget_pairs(self) -> None:
        """Know nothing of how far robots are apart from themselves."""
        c = self.c
        c.allocate(inner=self.worlds * c.inner_count)
        c.tree_close[...] = 0
        c.hinge_room[...] = c.far_room[...] = -1.0

    # --- lists ---

    def _add_room(self) -> None:
        c = self.c
        shapes, trees, vectors = c.shapes * self.worlds, c.trees, self.layout.first_vector[-1]
        alone = trees // max(self.worlds, 1)
        c.pair_kinds, c.hash_mask = len(self.pairs), (1 << max(2 * c.shapes - 1, 1).bit_length()) - 1
        c.allocate(shapes=shapes, world_shapes=c.shapes, worlds=self.worlds, pair_kinds=c.pair_kinds + 1)
        c.allocate(levels=LEVELS, heads=c.hash_mask + 1, islands=trees + 2, world_trees=alone + 1)
        c.allocate(degrees=CROWDED + 1, columns=vectors + trees + 2, one=1, both=2)
        c.kept, c.laid_patches = 0, -1
        self._pair_programs: dict[tuple[int, int], RowProgram] = {}
        self._contact_programs: dict[str, RowProgram] = {}
        self._room: dict[int, tuple[Callable[[int], None], str]] = {
            NEAR: (self._room_for_pairs, "near_most"),
            CONTACTS: (self._room_for_contacts, "contact_most"),
            PATCHES: (
                lambda most: c.allocate(np.empty, patches=most, ties=12 * most if c.bearing.any() else 0),
                "patch_most",
            ),
            BLOCKS: (lambda most: c.allocate(np.empty, blocks=most), "block_most"),
            SIDES: (lambda most: c.allocate(np.empty, sides=most), "side_most"),
        }
        for give, name in self._room.values():
            setattr(c, name, 64 + 8 * shapes)
            give(64 + 8 * shapes)
        for name in ("begin", "leave") if self.contacts.rigid else ("begin",):
            self._add_contact_program(name)

    def _room_for_pairs(self, most: int) -> None:
        c, points, sizes = self.c, int(self.c.pair_points.max(initial=1)), self.c.pair_sizes.max(axis=0, initial=1)
        c.allocate(np.empty, near=most, sizes_a=most * int(sizes[0]), sizes_b=most * int(sizes[1]))
        c.allocate(np.empty, gaps=most * points, points=3 * most * points)
        c.listed_most = most // self.worlds
        c.listed_count[...] = -1
        for (_, kind), program in self._pair_programs.items():
            program.place(self._arrays_of_pairs(kind))

    def _arrays_of_pairs(self, kind: int) -> dict[str, np.ndarray]:
        c, pair = self.c, self.pairs[kind]
        most, n = c.near_most, pair.points
        found = {"X_a": c.shape_pose, "X_b": c.shape_pose, "local": c.shape_local, "centre": c.shape_centre}
        found |= {"reach": c.pair_reach, "apart": c.pair_gap, "way": c.pair_way}
        columns = {"size_a": pair.sizes[0], "size_b": pair.sizes[1], "gap": n}
        columns |= dict.fromkeys(("point", "normal", "turning"), 3 * n)
        return (
            vars(c)
            | found
            | {name: getattr(c, name)[: most * size].reshape(most, size) for name, size in columns.items()}
        )

    def _add_pair_program(self, lacking: int, kind: int) -> None:
        c, pair = self.c, self.pairs[kind]
        program, addresses = (pair.apart(), c.apart_program) if lacking == APART else (pair.program(), c.pair_program)
        own = self._pair_programs[lacking, kind] = RowProgram(program, self._arrays_of_pairs(kind))
        addresses[kind] = own.address

    def _room_for_contacts(self, most: int) -> None:
        c, kept = self.c, self.kept() if self._contact_programs else None
        c.allocate(np.empty, contacts=most, colours=most + ALONE + 2, met_impulses=4 * most)
        c.allocate(np.empty, impulses=most * self.contacts.impulse, twists=most * self.contacts.twist)
        if kept is not None:
            self._told = None
            self.recall(kept)
        arrays = self._contact_arrays() if self._contact_programs else {}
        for program in self._contact_programs.values():
            program.place(arrays)

    def _add_part(self, number: int) -> None:
        """Compile a part of a step, with the programs of contacts that it runs."""
        part, *names = PARTS[number]
        for name in names:
            if name not in self._contact_programs:
                self._add_contact_program(name)
        self._parts.append(part.bound(self.c))
        self.c.parts[number] = self._parts[-1].address
        for k in np.flatnonzero(self.c.start) if number == parts.BOUNCES else ():
            self._add_weighing(int(k))

    def _add_contact_program(self, name: str) -> None:
        c, own = self.c, self.contacts
        make: dict[str, Callable[[], Program]] = {
            "begin": (lambda: own.begin_rigid(leaving=False)) if own.rigid else own.begin,
            "leave": lambda: own.begin_rigid(leaving=True),
            "response": own.response,
            "reaction": own.reaction,
            "approach": own.approach,
            "begin_body": lambda: body_program(self.dt),
            "accelerate_body": lambda: accelerated_program(self.dt),
            "meet": lambda: meeting_program(own.twist, own.rigid, own.coulomb),
            "visit": lambda: visit_program(own.rigid),
        }
        made = self._contact_programs[name] = RowProgram(make[name](), self._contact_arrays())
        setattr(c, name, made.address)
        if name == "visit":
            c.lanes = made.code.image.width

    def _contact_arrays(self) -> dict[str, np.ndarray]:
        """Return what programs of contacts, and of bodies that are swept, are given, by the names of their columns.

        These are the tables themselves, but for some under other names.
        """
        named = {"a": "node", "b": "node"} | {name: f"found_{name}" for name in ("gap", "point", "normal", "turning")}
        named |= {"surface": "surfaces", "stiffness": "shape_stiffness", "pushed": "found_impulse"}
        named |= {name: f"tree_{name}" for name in ("com", "inverse_mass", "inverse")} | {"twist": "body_change"}
        for end in "ab":
            named |= {f"{name}_{end}": f"shape_{name}" for name in ("centre", "weight", "runs")}
            named |= {f"ending_{end}": "node_after", f"motion_{end}": "motion"}
            named |= {f"body_{end}": "body"} | dict.fromkeys((f"twist_{end}", f"after_{end}"), "body_change")
        tables = vars(self.c)
        return tables | {name: tables[array] for name, array in named.items()}

    # --- steps ---

    def kept(self) -> KeptImpulses:
        """Return the impulses of the step before, and who is at rest since when."""
        c, n = self.c, self.c.kept
        rest = [a.reshape(self.worlds, -1).copy() for a in (c.rest, c.rest_q)] if c.sleep else NOBODY
        own = c.kept_key[:n].copy(), c.kept_feature[:n].copy(), c.kept_impulse[:n].copy()
        self._told = KeptImpulses(*own, c.shapes, *rest)
        return self._told

    def recall(self, kept: KeptImpulses | None) -> None:
        """Begin the next step with what was kept, if that is of such worlds."""
        if kept is self._told is not None:
            return
        c = self.c
        if kept is None or kept.shapes != c.shapes:
            kept = NOTHING
        kept = kept.of_kinds(self._kinds_of_pairs)
        n = len(kept.key)
        c.rest[...] = 0
        sizes = (self.worlds, c.world_trees), (self.worlds, c.numbers_q // max(self.worlds, 1))
        if c.sleep and (kept.rest.shape, kept.rest_q.shape) == sizes:
            known = kept.rest.ravel().clip(-c.world_trees, c.rest_steps)[c.tree_rest]  # a file may hold anything
            c.rest[c.tree_rest], c.rest_q[...] = known * c.tree_loose, kept.rest_q.ravel()
        while n > c.contact_most:
            self._grow(CONTACTS)
        c.kept = n
        c.kept_key[:n], c.kept_feature[:n], c.kept_impulse[:n] = kept.key, kept.feature, kept.impulse

    def _kinds_of_pairs(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return of which kind pairs of shapes are, as `narrow.list_pair` finds it; a file may hold any numbers."""
        c, count = self.c, len(self.c.shape_kind)
        a, b = a % count, b % count
        return c.pair_kind[c.shape_kind[a] * c.shape_kinds + c.shape_kind[b], (c.shape_node[b] == c.nodes).astype(int)]

    def touching(self) -> tuple[np.ndarray, ...]:
        """Return the contacts of the step before: shapes (n, 2), numbers of candidates, forces, torques, points (n, 3).

        All vectors are in world axes.
        """
        c = self.c
        shapes = np.repeat(c.found_shapes[: c.patches], c.found_count[: c.patches], axis=0)  # found patch by patch
        node = c.node[c.shape_node[shapes[:, 0]]]
        R = node[:, :9].reshape(-1, 3, 3)
        point = (R @ c.found_point[: c.contacts, :, None])[..., 0] + node[:, 9:12]
        torque = np.zeros((c.contacts, 3))
        if self.contacts.lengths:  # rows are in the order of islands
            row = np.argsort(c.found_of[: c.contacts])
            normal, law = c.law[row, :3], c.law[row]
            slip = c.impulse.reshape(-1, 7)[row, 4:]
            along = (normal * slip).sum(axis=1, keepdims=True) * normal
            own = slip * law[:, 12:13] + along * (law[:, 11:12] - law[:, 12:13])
            torque = (R @ own[..., None])[..., 0] / self.dt
        force = c.found_impulse[: c.contacts] / self.dt
        return shapes, c.found_feature[: c.contacts].copy(), force, torque, point

    def step(self, steps: int, joined: bool = False) -> None:
        """Take steps of all worlds, from what the tables hold to what they hold then.

        If all is `joined`, contacts of robots that meet no other and of bodies asleep are listed as well.
        """
        c, self._told = self.c, None
        c.steps, c.done, c.joined = steps, 0, int(joined)
        if joined:
            c.rest[...] = 0
        self._take_steps()
        while c.lacking:
            self._mend(c.lacking)
            self._take_steps()
        if c.sleep:
            c.rest_q[...] = c.q  # where those asleep are

    def _mend(self, lacking: int) -> None:
        """Make what a step lacks."""
        c = self.c
        if lacking in (PROGRAM, APART):
            self._add_pair_program(lacking, c.wanted)
        elif lacking == TREES:
            self._add_tree_programs(c.wanted)
        elif lacking == PART:
            self._add_part(c.wanted)
        elif lacking == ORDER:
            raise UnsupportedError(
                f"an island of robots and more than {CROWDED} bodies that touch one another",
                "a step of many bodies",
                "let fewer bodies touch the robot at once",
            )
        else:
            self._grow(lacking)

    def _grow(self, lacking: int) -> None:
        """Give a list twice the room."""
        give, name = self._room[lacking]
        most = 2 * getattr(self.c, name)
        setattr(self.c, name, most)
        self.c.laid_patches = -1
        try:
            give(most)
        except MemoryError as error:
            instead = (
                "begin with bodies apart (StartWarning names those in one another), or step fewer worlds in a call"
            )
            what = f"a step of {self.c.trees} bodies and robots with lists of {most} entries ({name})"
            raise UnsupportedError(what, "the memory of this machine", instead) from error
