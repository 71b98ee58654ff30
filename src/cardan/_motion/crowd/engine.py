"""Makes the tables of a crowd for a world, and takes steps of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.spatial import SE3
from cardan._compiler.kernels import RowProgram, aligned_empty
from cardan._motion.collision.bounds import radius_about
from cardan._motion.collision.table import PAIRS, count_of
from cardan._motion.contact.point import _inverse_mass
from cardan._motion.crowd import programs
from cardan._motion.crowd.layout import GROUNDS, Kind, Tree, loose_model, own_model, trees_of
from cardan._motion.crowd.step import BLOCKS, CONTACTS, NEAR, PATCHES, PROGRAM, SIDES, TRIPLES, take_steps
from cardan._motion.crowd.tables import Crowd
from cardan._robot.geometry.support import box_about
from cardan._robot.geometry.shapes import Plane, Sphere
from cardan._robot.model import Model

EPS = 1e-5
MOST = 20


class Engine:
    """A world as tables, for so many worlds."""

    def __init__(self, model: Model, shapes: Sequence[Any], stiffness: Any, dt: float, worlds: int = 1) -> None:
        self.model, self.worlds, self.dt = model, worlds, dt
        self.c = c = Crowd(worlds=worlds, dt=dt, tolerance=EPS, most=MOST)
        self._kinds()
        self._tree_tables()
        self._shape_tables(shapes, stiffness)
        self._lists()

    # --- trees ---

    def _kinds(self) -> None:
        kinds: dict[Any, Kind] = {}
        loose = loose_model(self.model)
        for tree in trees_of(self.model):
            if tree.is_loose:
                kind = kinds.setdefault(loose, Kind(loose, [], []))
                kind.numbers.append(list(tree.nodes[0].inertia.parameters()))
            else:
                model = own_model(self.model, tree)
                kind = kinds.setdefault(model, Kind(model, [], []))
                kind.numbers.append([])
            kind.trees.append(tree)
        self.kinds = list(kinds.values())
        self.kind_of = {tree.nodes[0].index: (k, i) for k, kind in enumerate(self.kinds) for i, tree in enumerate(kind.trees)}

    def _tree_tables(self) -> None:
        c, W, model = self.c, self.worlds, self.model
        count = [len(kind.trees) for kind in self.kinds]
        c.kinds, c.trees = len(self.kinds), W * sum(count)
        q_source, v_source, rows = [], [], {}
        names = ("tree_world", "tree_blocks", "tree_first", "tree_mass", "tree_v", "tree_nv")
        table: dict[str, list[int]] = {name: [] for name in names}
        vectors = masses = velocities = 0
        spans = []
        for kind in self.kinds:
            nv, blocks = kind.model.nv, programs.blocks_of(kind.model.nv)
            spans.append((vectors, masses, len(q_source), len(v_source)))
            for w in range(W):
                for tree in kind.trees:
                    q_source += [w * model.nq + i for i in tree.q]
                    v_source += [w * model.nv + i for i in tree.v]
                    values = (w, blocks, vectors, masses, velocities, nv)
                    for name, value in zip(names, values, strict=True):
                        table[name].append(value)
                    vectors, masses, velocities = vectors + blocks, masses + blocks * (blocks + 1) // 2, velocities + nv
        for name, values in table.items():
            setattr(c, name, np.array(values, dtype=np.int32))
        c.numbers_q, c.numbers_v = len(q_source), len(v_source)
        c.q_source, c.v_source = np.array(q_source, np.int32), np.array(v_source, np.int32)
        c.allocate(max(len(q_source), 1), "q_rows", "q_after", "q")
        c.allocate(max(len(v_source), 1), "v_rows", "v_after", "effort_rows", "v", "effort", "a")
        c.effort[...] = 0.0
        c.allocate(masses, "mass")
        c.allocate(vectors, "force", "free", "change")
        c.allocate(c.trees, "tree_sound", "parent", "island_of", "members", "member_of", "tree_column")
        c.allocate(W, "residual", "sound")
        self.spans, self.vectors = spans, vectors

    def _node_tables(self, touching: dict[int, set[int]]) -> None:
        """Lay out node rows, and make the programs of trees: `touching` are the nodes of kinds that carry shapes."""
        c, W = self.c, self.worlds
        node_tree, node_jacobian, blocks_of_J = [], [], 0
        self.node_row: list[dict[int, int]] = []  # of each kind, the place of a node among its rows
        self.node_first = []
        starts, tree = [], 0
        J_first = []
        for k, kind in enumerate(self.kinds):
            kind.touching = tuple(sorted(touching.get(k, ())))
            self.node_row.append({i: n for n, i in enumerate(kind.touching)})
            self.node_first.append(len(node_tree))
            J_first.append(blocks_of_J)
            is_loose = bool(kind.numbers[0])
            blocks = programs.blocks_of(kind.model.nv)
            for _ in range(W * len(kind.trees)):
                for _ in kind.touching:
                    node_tree.append(tree)
                    node_jacobian.append(-1 if is_loose else blocks_of_J)
                    blocks_of_J += blocks
                tree += 1
        c.nodes = len(node_tree)
        c.node_tree = np.array([*node_tree, -1], np.int32)
        c.node_jacobian = np.array([*node_jacobian, -1], np.int32)
        c.allocate(c.nodes + 1, "node")
        world = [*np.eye(3).ravel(), 0, 0, 0, *[0.0] * 6, *(-np.array(self.model.gravity, float)), 0, 0, 0]
        c.node[-1] = world
        c.allocate(max(blocks_of_J, 1), "jacobian")
        self.programs, rows, start, finish = [], [], [], []
        for k, kind in enumerate(self.kinds):
            n, m = W * len(kind.trees), kind.model
            blocks = programs.blocks_of(m.nv)
            vectors, masses, q, v = self.spans[k]
            own = {name: given.shape for name, given in m.inputs.items()}
            numbers = np.tile(np.array(kind.numbers, float), (W, 1)) if own else None
            part = lambda a, first, size: a[first : first + size]  # noqa: E731
            arrays = {
                "q": part(c.q_rows, q, n * m.nq).reshape(n, m.nq),
                "v": part(c.v_rows, v, n * m.nv).reshape(n, m.nv),
                "effort": part(c.effort_rows, v, n * m.nv).reshape(n, m.nv),
                "mass": part(c.mass, masses, n * blocks * (blocks + 1) // 2).reshape(n, -1),
                "force": part(c.force, vectors, n * blocks).reshape(n, -1),
                "free": part(c.free, vectors, n * blocks).reshape(n, -1),
                "node": part(c.node, self.node_first[k], n * len(kind.touching)).reshape(n, -1),
                "jacobian": part(c.jacobian, J_first[k], n * len(kind.touching) * blocks).reshape(n, -1),
                "a": part(c.change, vectors, n * blocks).reshape(n, -1),
                "q_after": part(c.q_after, q, n * m.nq).reshape(n, m.nq),
                "v_after": part(c.v_after, v, n * m.nv).reshape(n, m.nv),
                "sound": part(c.tree_sound, sum(W * len(o.trees) for o in self.kinds[:k]), n).reshape(n, 1),
                **({name: numbers for name in own} if own else {}),
            }
            first = programs.start_of(m, kind.touching, self.dt, own)
            if own:
                first = _without(first, "jacobian")
            self.programs.append(RowProgram(first, arrays))
            start.append(self.programs[-1].address)
            self.programs.append(RowProgram(programs.finish_of(m, self.dt, own), arrays))
            finish.append(self.programs[-1].address)
            rows.append(n)
        c.start, c.finish, c.kind_rows = np.array(start), np.array(finish), np.array(rows, np.int32)

    # --- shapes ---

    def _shape_tables(self, shapes: Sequence[Any], stiffness: Any) -> None:
        c, W, model = self.c, self.worlds, self.model
        solids = [s for s in shapes if s.role == "collision"]
        owner = {}
        for k, kind in enumerate(self.kinds):
            for i, tree in enumerate(kind.trees):
                for n, node in enumerate(tree.nodes):
                    owner[node.index] = (k, i, n)
        touching: dict[int, set[int]] = {}
        placed = []
        for s in solids:
            at = model.attachments[s.body]
            where = owner[at.node] if at.node >= 0 else None
            if where:
                touching.setdefault(where[0], set()).add(where[2])
            placed.append((s, at, where))
        self._node_tables(touching)
        kinds, materials, rows = {}, {}, []
        sizes = []
        for w in range(W):
            for s, at, where in placed:
                X = at.pose @ s.pose
                g = s.geometry
                if isinstance(g, Sphere):
                    X = SE3(None, X.translation)
                node = c.nodes
                if where:
                    k, i, n = where
                    own = self.kinds[k]
                    node = self.node_first[k] + (w * len(own.trees) + i) * len(own.touching) + self.node_row[k][n]
                flat = isinstance(g, GROUNDS)
                middle, half = (X.translation, None) if flat else box_about(g)
                centre = X.translation if flat else X @ middle
                extent = 0.0 if flat else float(radius_about(half))
                own_sizes = programs.sizes_of(g)
                surface = materials.setdefault(s.surface, len(materials))
                weight = float(_inverse_mass(model, at.node, centre, extent)) if where else 0.0
                kind = kinds.setdefault(programs.kind_of(g), (len(kinds), g))[0]
                rows.append(
                    dict(
                        shape_node=node, shape_order=at.node, shape_kind=kind, shape_world=w, shape_local=programs.numbers_of(X),
                        shape_centre=[*centre], shape_radius=-1.0 if flat else extent, shape_margin=s.margin,
                        shape_extent=extent, shape_group=s.group, shape_mask=s.mask, shape_family=-1,
                        shape_surface=surface, shape_weight=weight, shape_first=len(sizes),
                        ground_flat=int(isinstance(g, Plane)),
                    )
                )
                sizes += own_sizes
        c.shapes = len(placed)
        for name in rows[0]:
            item = Crowd.fields[name].item
            setattr(c, name, np.array([row[name] for row in rows], dtype=item.dtype))
        c.shape_sizes = np.array([*sizes, 0.0])
        c.ground = np.array([i for i, (s, _, _) in enumerate(placed) if isinstance(s.geometry, GROUNDS)], np.int32)
        c.grounds = len(c.ground)
        n = len(rows)
        c.allocate(n, "shape_pose", "ball", "further", "reach", "level", "cell", "following")
        c.allocate(64, "used", "width")
        size = 1
        while size < 2 * c.shapes:
            size *= 2
        c.allocate(size, "head")
        c.hash_mask = size - 1
        c.apart, c.apart_count = np.zeros(1, np.int64), 0
        self._surfaces(list(materials), stiffness)
        self._pair_kinds([g for _, g in kinds.values()])

    def _surfaces(self, materials: Sequence[Any], stiffness: Any) -> None:
        from cardan._robot.records import Material

        rows = []
        for a, b in product(materials, repeat=2):
            m = (a or Material()).combined(b or Material())
            k = stiffness if m.stiffness is None else m.stiffness
            d = -1.0 if m.dissipation is None else m.dissipation
            rows.append([m.friction, m.restitution, k, d, m.torsional, m.rolling])
        self.c.surfaces, self.c.surface_count = np.array(rows, float), len(materials)
        self.lengths = bool(np.any(self.c.surfaces[:, 4:]))

    def _pair_kinds(self, kinds: Sequence[Any]) -> None:
        """Make the programs of pairs on first use: which kinds of shapes may meet."""
        c = self.c
        n = len(kinds)
        c.shape_kinds = n
        table = np.full((n * n, 2), -1, np.int32)
        made: list[Any] = []
        moving = {c.shape_kind[i] for i in range(len(c.shape_node)) if c.shape_node[i] != c.nodes}
        fixed = {c.shape_kind[i] for i in range(len(c.shape_node)) if c.shape_node[i] == c.nodes}
        for i, j in product(range(n), repeat=2):
            a, b = kinds[i], kinds[j]
            swapped = (type(a), type(b)) not in PAIRS
            if i in moving and (j in moving or j in fixed) and swapped and (type(b), type(a)) not in PAIRS:
                raise UnsupportedError(f"contact of {type(a).__name__} and {type(b).__name__}", "crowd", "")
            for on, others in ((0, moving), (1, fixed)):
                if i in moving and j in others:
                    table[i * n + j, on] = len(made)
                    made.append((a, b, bool(on), swapped))
        c.pair_kind = table
        self.made = made
        c.pair_points = np.array([count_of(a, b) for a, b, *_ in made] or [0], np.int32)
        c.pair_sizes = np.array([[programs.number_of_sizes(a), programs.number_of_sizes(b)] for a, b, *_ in made] or [[0, 0]], np.int32)
        c.pair_fixed = np.array([int(on) for _, _, on, _ in made] or [0], np.int32)

    # --- lists ---

    def _lists(self) -> None:
        n = self.c.shapes * self.worlds
        self._pair_programs: dict[int, RowProgram] = {}
        self.c.pair_program = np.zeros(len(self.made) + 1, np.int64)
        self._room_for_pairs(max(64, 8 * n))
        self._room_for_contacts(max(64, 16 * n))
        self._room_for_patches(max(64, 8 * n))
        self._room_for_blocks(max(64, 16 * n))
        self._room_for_triples(max(64, 64 * n))
        self._room_for_sides(max(64, 8 * n))
        c = self.c
        T = c.trees // self.worlds
        c.allocate(c.trees + 2, "island_trees", "island_patches", "island_vector", "island_block", "island_triple")
        c.allocate(c.trees + 2, "island_going", "island_count", "island_residual")
        c.allocate(T * ((T + 31) // 32) + 1, "bits")
        c.allocate(T + 1, "order", "degree", "sizes", "place", "columns", "later")
        c.allocate(self.vectors + c.trees + 2, "starts", "ends")
        c.allocate(self.vectors + 1, "x")
        c.allocate(1, "Z", "T", "wrench")
        c.wrench[...] = 0.0

    def _room_for_pairs(self, most: int) -> None:
        c = self.c
        c.near_most = most
        c.allocate(most, "near", "keys", "spare", "X_a", "X_b", "local", "w", "centre")
        points = int(c.pair_points.max())
        for name, size in (("size_a", c.pair_sizes[:, 0].max()), ("size_b", c.pair_sizes[:, 1].max())):
            c.allocate(most * max(int(size), 1), name)
        c.allocate(most * points, "gap")
        c.allocate(3 * most * points, "point", "normal", "turning")
        for kind, p in self._pair_programs.items():
            p.place(self._pair_arrays(*self.made[kind][:2], most))

    def _make_pair_program(self, kind: int) -> None:
        a, b, fixed, swapped = self.made[kind]
        arrays = self._pair_arrays(a, b, self.c.near_most)
        self._pair_programs[kind] = RowProgram(programs.pair_of(a, b, fixed, swapped), arrays)
        self.c.pair_program[kind] = self._pair_programs[kind].address

    def _pair_arrays(self, a: Any, b: Any, most: int) -> dict[str, np.ndarray]:
        c, n = self.c, count_of(a, b)
        found = {name: getattr(c, name) for name in ("X_a", "X_b", "local", "w", "centre")}
        for name, shape in (("size_a", a), ("size_b", b)):
            size = programs.number_of_sizes(shape)
            found[name] = getattr(c, name)[: most * size].reshape(most, size)
        found["gap"] = c.gap[: most * n].reshape(most, n)
        for name in ("point", "normal", "turning"):
            found[name] = getattr(c, name)[: most * n * 3].reshape(most, 3 * n)
        return found

    def _room_for_contacts(self, most: int) -> None:
        c = self.c
        c.contact_most, c.impulse_size = most, programs.impulse_size(self.lengths)
        c.allocate(most, "found_gap", "found_point", "found_normal", "found_turning")
        c.allocate(most, "row_a", "row_b", "row_gap", "row_point", "row_normal", "row_turning", "row_centres")
        c.allocate(most, "row_surface", "row_weight", "law", "answer", "row_change", "error")
        c.allocate(most * c.impulse_size, "test", "after", "impulse")
        c.allocate(most * programs.twist_size(self.lengths), "ahead")
        rows = lambda name: getattr(c, name).reshape(most, -1)  # noqa: E731
        arrays = dict(
            a=c.row_a, b=c.row_b, gap=rows("row_gap"), point=c.row_point, normal=c.row_normal, turning=c.row_turning,
            centres=c.row_centres, surface=c.row_surface, inverse_mass=rows("row_weight"), law=c.law,
            ahead=rows("ahead"), test=rows("test"), answer=c.answer, change=c.row_change, after=rows("after"),
            impulse=rows("impulse"), error=rows("error"),
        )  # fmt: skip
        gravity = self.model.gravity
        made = {
            "begin": programs.contact_of(self.dt, self.lengths),
            "response": programs.response_of(self.dt, self.lengths),
            "reaction": programs.reaction_of(self.dt, self.lengths),
        }
        self._contact_programs = {name: RowProgram(p, arrays) for name, p in made.items()}
        for name, p in self._contact_programs.items():
            setattr(c, name, p.address)

    def _room_for_patches(self, most: int) -> None:
        self.c.patch_most = most
        names = ("found_shapes", "found_first", "found_count", "patch_order", "patch_first", "patch_count")
        self.c.allocate(most, *names, "patch_trees", "patch_sides")

    def _room_for_blocks(self, most: int) -> None:
        self.c.block_most = most
        self.c.allocate(most, "rows", "L")

    def _room_for_triples(self, most: int) -> None:
        self.c.triple_most = most
        self.c.allocate(most, "triples")

    def _room_for_sides(self, most: int) -> None:
        self.c.side_most = most
        self.c.allocate(most, "G", "GT")

    def step(self, steps: int) -> None:
        more = {
            NEAR: lambda: self._room_for_pairs(2 * self.c.near_most),
            CONTACTS: lambda: self._room_for_contacts(2 * self.c.contact_most),
            PATCHES: lambda: self._room_for_patches(2 * self.c.patch_most),
            BLOCKS: lambda: self._room_for_blocks(2 * self.c.block_most),
            TRIPLES: lambda: self._room_for_triples(2 * self.c.triple_most),
            PROGRAM: lambda: self._make_pair_program(self.c.wanted),
            SIDES: lambda: self._room_for_sides(2 * self.c.side_most),
        }
        done = 0
        while done < steps:
            done += take_steps(self.c, steps - done)
            if done < steps:
                more[self.c.lacking]()


def _without(program: Any, name: str) -> Any:
    """Return a program without one of its outputs."""
    from dataclasses import replace

    from cardan._compiler.program.passes import PASSES
    from cardan._compiler.program.program import places_by_name

    gone = places_by_name(program.outputs)[name]
    results = [r for k, r in enumerate(program.results) if not gone.start <= k < gone.stop]
    outputs = tuple(o for o in program.outputs if o.name != name)
    return replace(program, outputs=outputs, results=tuple(results))
