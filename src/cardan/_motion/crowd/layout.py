"""From a world to the tables of a crowd: trees by kind, node rows, shapes, which may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.spatial import SE3, Motion, Vector3
from cardan._compiler.kernels import aligned_zeros
from cardan._dynamics.algorithms.kinematic import heavy
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import supports
from cardan._motion.collision import has_page
from cardan._motion.contact.point import AtRest
from cardan._motion.contact.touching import SKIN, ContactPair
from cardan._motion.crowd.kinds import BASE, Ball, Kind, Tree, bounds_of, hinges_of, kinds_of
from cardan._motion.crowd.rows import numbers_of, pose_row
from cardan._motion.crowd.shape_rows import ShapePair, ShapeSizes, row_kind
from cardan._motion.crowd.sleep import SPIN
from cardan._motion.crowd.tables import BITS, MASK, Crowd
from cardan._motion.maximal_steps.rigid_step import Closing
from cardan._robot.geometry.shapes import Box, Geometry, HeightField, Hull, Plane, Shape, Sphere, TriangleMesh
from cardan._robot.geometry.support import box_about
from cardan._robot.model import WORLD, Material, Model
from cardan._robot.records import ContactSurface

SLACK = 0.1
"""How far a shape moves before pairs are listed again: of its size, or of that of a robot that may be alone."""
DRIFTING = 1.1
"""By how much faster than its velocity after the step says a point may move: its lever turns in a step."""
TURNING = 0.5
"""By how much faster, beside that, on what is fixed: a lever is seen as it is after half a step (`Contact.turning`)."""
SEVERAL = 4
"""Robots of a kind from which on a lane for each that meets no other is quicker than an island."""
MOST_MET = 128
"""Pairs of shapes of such a robot: each is code."""
# Of robots of more shapes some nearly always touch one another. One of 119 would compile 6 s what it hardly ever uses.
MOST_FIXED = 64
"""Its pairs with what is fixed in the world, where those with itself are no code."""
MOST_STAYING = 1000
"""Its pairs with what is fixed and has an end that its hinges are looked at for: of more, grids find those near."""
ROUNDING = 2e-6
"""Of sizes: by how much a search for a gap, or a candidate of two boxes, may be wrong."""
ENDLESS = {Plane: 1, HeightField: 2, TriangleMesh: 2}


class Scene(NamedTuple):
    """What a crowd is made of."""

    model: Model
    shapes: Sequence[Shape]  # for collision, in document order
    rules: Any  # which of them may touch: `simulation/pairs.Rules`
    stiffness: Sequence[float]  # of each shape's surface, where it has none of its own [N/m]
    kinematic: Sequence[str]
    pair: Callable[[int, int], ContactPair]  # two of them, the first on what moves
    closing: Closing | None = None  # how joints close, where contacts are rigid


class _Step(NamedTuple):
    """What a coordinate of a node, on the way from a shape to the root, moves points of the shape by, at most."""

    node: int
    coordinate: int  # its number among the hinges of the tree
    lever: float  # for each unit that it changes by [m], if all slides between are at 0
    turn: float  # how far it turns what is beyond it [rad]
    slide: float  # how far it moves its frame [m]


class Layout:
    """The places of a scene's things in the tables of so many worlds."""

    def __init__(self, scene: Scene, worlds: int) -> None:
        self.scene, self.worlds = scene, worlds
        self.kinds = kinds_of(scene.model, scene.kinematic, scene.closing is not None)
        self.own = sorted(scene.rules.surfaces.items(), key=lambda row: row[0])
        self.owner = {
            node.index: (k, i, n)
            for k, kind in enumerate(self.kinds)
            for i, tree in enumerate(kind.trees)
            for n, node in enumerate(tree.nodes)
        }
        self.poses = {  # of bodies, in the frames of nodes
            scene.model.bodies[k].name: kind.model.attachments[body.name].pose
            for kind in self.kinds
            for tree in kind.trees
            for k, body in zip(tree.bodies, kind.model.bodies, strict=True)
            if kind.model.attachments[body.name].node >= 0
        }
        number = {name: k for k, name in enumerate(scene.model.body_names)}
        bases = {tree.base for kind in self.kinds if kind.is_spread for tree in kind.trees}
        # of each shape: the body it is on, if that is one that trees of a kind at several places hang on; else -1
        self.base_of = np.array([k if (k := number.get(s.body, -1)) in bases else -1 for s in scene.shapes], np.int32)
        # of each shape: the kind of its tree, which of these that is, and which node of it; -1 of what is fixed
        at = [self.owner.get(scene.model.attachments[s.body].node, (-1, -1, -1)) for s in scene.shapes]
        touching: dict[int, set[int]] = {}
        for k, _, node in at:
            touching.setdefault(k, set()).add(node)
        for k, kind in enumerate(self.kinds):
            kind.touching = tuple(range(len(kind.model.nodes)) if kind.is_long else sorted(touching.get(k, ())))
        self.tree_of = np.array([place[:2] for place in at]).reshape(-1, 2)
        have_ends = [type(s.geometry) not in ENDLESS and not s.surface_velocity for s in scene.shapes]
        self.stays = (self.tree_of[:, 0] < 0) & np.array(have_ends, dtype=bool)  # is fixed, ends, and does not run
        self._find_what_robots_meet()
        self.first_tree = starts_of(self.worlds * len(kind.trees) for kind in self.kinds)
        self.first_ball = starts_of(self._rows(k) * len(k.balls) for k in self.kinds)
        self.first_vector = starts_of(self._rows(k) * k.blocks for k in self.kinds)
        self.first_matrix = starts_of(self._rows(k) * k.matrix_blocks for k in self.kinds)
        self.first_q = starts_of(self._rows(k) * k.model.nq for k in self.kinds)
        self.first_v = starts_of(self._rows(k) * k.model.nv for k in self.kinds)
        self.first_wrench = starts_of(self._rows(k) * 6 * k.model.nbodies for k in self.kinds)
        self.first_node = starts_of(self._rows(k) * len(k.touching) for k in self.kinds)
        self.first_borne = starts_of(self._rows(k) * len(k.touching) * k.is_long for k in self.kinds)
        self.first_axis = starts_of(self._rows(k) * len(k.axes) for k in self.kinds)

    def _rows(self, kind: Kind) -> int:
        return self.worlds * len(kind.trees)

    # --- trees and nodes ---

    def _find_what_robots_meet(self) -> None:
        """Find, of kinds of several robots, which pairs each has in itself and with what is fixed in the world.

        Those that its hinges are looked at for are not in its program. If there are none, and many in itself, it has
        only the others, of any number of robots.
        """
        for k, kind in enumerate(self.kinds):
            if kind.is_loose or kind.is_long:
                continue
            shapes = [np.flatnonzero((self.tree_of == (k, i)).all(axis=1)).tolist() for i in range(len(kind.trees))]
            is_driven = kind.kinematic or any(self.scene.shapes[i].surface_velocity for i in shapes[0])
            if not is_driven and not self.scene.closing:
                self._find_hinges(kind, (k, 0), shapes[0])
            met = [self._met((k, i), own, itself=not kind.hinges) for i, own in enumerate(shapes)]
            kind.touches_itself = not kind.hinges and len(met[0]) <= MOST_MET
            if len(kind.trees) < SEVERAL if kind.touches_itself else self.scene.closing:
                continue  # whether a step stands that took no notice of itself is asked of the convex law
            if not kind.touches_itself and not kind.hinges:
                met = [self._met((k, i), own, itself=False) for i, own in enumerate(shapes)]
            if kind.touches_itself or len(met[0]) <= MOST_FIXED:
                poses = Kinematics(kind.model, kind.model.neutral().tolist()).poses
                balls = [self._balls(poses, own) for own in shapes]
                kind.pairs, kind.balls = met[0], balls[0]
                kind.alike = [a == met[0] and b == balls[0] for a, b in zip(met, balls, strict=True)]
                kind.shapes = shapes
                partners = self.scene.rules.partners
                kind.is_lonely = all(
                    self._are_looked_at((k, i), partners(j)).all() for i, own in enumerate(shapes) for j in own
                )

    def _find_hinges(self, kind: Kind, own: tuple[int, int], shapes: Sequence[int]) -> None:
        """Find whether the hinges of a robot are looked at: if they alone change the gaps of some of its pairs."""
        partners = [self.scene.rules.partners(i) for i in shapes]
        kind.is_held = bounds_of(kind.model.nodes[0].joint) is not None
        staying = sum(int(self._stay(own, of_one).sum()) for of_one in partners)
        kind.is_held = kind.is_held and 0 < staying <= MOST_STAYING
        if any(self._are_looked_at(own, of_one).any() for of_one in partners):
            kind.hinges = hinges_of(kind.model, kind.is_held)
        if not kind.hinges or len(self._met(own, shapes, itself=False)) > MOST_FIXED:
            kind.hinges, kind.is_held = {}, False

    def _stay(self, own: tuple[int, int], partners: np.ndarray) -> np.ndarray:
        """Return which partners of a tree's shapes are fixed in the world, or on what it hangs on, and have an end."""
        kind = self.kinds[own[0]]
        base = kind.trees[own[1]].base if kind.is_spread else -1
        return self.stays[partners] & np.isin(self.base_of[partners], (-1, base))

    def _are_looked_at(self, own: tuple[int, int], partners: np.ndarray) -> np.ndarray:
        """Return for which partners of a tree's shapes its hinges are looked at: its own; what stays, if it is held."""
        is_own = (self.tree_of[partners] == own).all(axis=1)
        return is_own | (self._stay(own, partners) if self.kinds[own[0]].is_held else False)

    def _balls(self, poses: Sequence[SE3], shapes: Sequence[int]) -> tuple[Ball, ...]:
        """Return the balls about shapes, each with room to move in: that of the robot, with its nodes at poses."""
        found = []
        for i in shapes:
            shape, at = self.scene.shapes[i], self.scene.model.attachments[self.scene.shapes[i].body]
            centre, extent, _ = self._about(shape)
            found.append(Ball(self.owner[at.node][2], tuple(map(float, centre)), extent, self._room(i)))
        centres = [np.array([*map(float, poses[ball.node] @ Vector3(*ball.centre))]) for ball in found]
        size = max((float(np.linalg.norm(centre - sum(centres) / len(centres))) for centre in centres), default=0.0)
        return tuple(ball._replace(slack=SLACK * max(size, ball.extent)) for ball in found)

    def _met(self, own: tuple[int, int], shapes: Sequence[int], itself: bool) -> tuple[ContactPair, ...]:
        """Return the pairs of a tree that moves alone, with `itself` too, by the names of bodies that its kind has.

        Those with what its hinges are looked at for are left out.
        """
        model, kind, tree = self.scene.model, self.kinds[own[0]], self.kinds[own[0]].trees[own[1]]
        names = {model.bodies[k].name: b.name for k, b in zip(tree.bodies, kind.model.bodies, strict=True)}
        found = []
        for i in shapes:
            partners = self.scene.rules.partners(i)
            partners = partners[np.isin(self.base_of[partners], (-1, tree.base if kind.is_spread else -1))]
            is_own = (self.tree_of[partners] == own).all(axis=1)
            is_fixed = (self.tree_of[partners, 0] < 0) & ~self._are_looked_at(own, partners)
            for j in partners[is_fixed | (is_own & (partners > i) & itself)].tolist():
                pair: Any = self.scene.pair(i, j)
                at, pose = names.get(pair.b, WORLD), pair.pose_b
                if at == WORLD and self.base_of[j] >= 0:
                    at, pose = BASE, tree.hang.inverse() @ pose
                elif at == WORLD:
                    pose = model.attachments[pair.b].pose @ pose
                found.append(replace(pair, a=names[pair.a], b=at, pose_b=pose, name=""))
                if len(found) > MOST_MET:
                    return tuple(found)
        return tuple(found)

    def fill_trees(self, c: Crowd) -> None:
        model, W = self.scene.model, self.worlds
        c.kinds, c.trees = len(self.kinds), self.first_tree[-1]
        c.q_source = self._sources(model.nq, lambda tree: tree.q)
        c.v_source = self._sources(model.nv, lambda tree: tree.v)
        c.w_source = self._sources(6 * model.nbodies, lambda tree: [6 * b + e for b in tree.bodies for e in range(6)])
        c.numbers_q, c.numbers_v = len(c.q_source), len(c.v_source)
        c.kind_rows = wholes(self._rows(kind) for kind in self.kinds)
        c.kind_tree = wholes(self.first_tree[:-1])
        columns: dict[str, list[np.ndarray]] = {}

        def add(name: str, values: Any) -> None:
            columns.setdefault(name, []).append(np.asarray(values))

        for k, kind in enumerate(self.kinds):
            rows, blocks = np.arange(self._rows(kind)), kind.blocks
            add("tree_world", rows // len(kind.trees))
            add("tree_kind", np.full(len(rows), k))
            n = len(kind.touching)
            add("tree_nodes", np.full(len(rows), n))
            add("tree_borne", self.first_borne[k] + rows * n if kind.is_long else np.full(len(rows), -1))
            add("tree_blocks", np.full(len(rows), blocks))
            add("tree_first", self.first_vector[k] + rows * blocks)
            add("tree_mass", self.first_matrix[k] + rows * kind.matrix_blocks)
            add("tree_alike", np.resize(kind.alike or [False], len(rows)))
            add("tree_itself", np.full(len(rows), int(kind.touches_itself)))
            add("tree_is_held", np.full(len(rows), int(kind.is_held)))
            add("tree_lonely", np.full(len(rows), int(kind.is_lonely)))
            hinges = [kind.model.nodes[n] for n in kind.hinges]
            q, v = (sorted({j for node in hinges for j in getattr(node, key)}) or [0] for key in ("q", "v"))
            add("tree_hinges", np.resize(kind.alike or [False], len(rows)) * len(v if hinges else ()))
            add("hinge_q", self.first_q[k] + rows * kind.model.nq + q[0])
            add("hinge_v", self.first_v[k] + rows * kind.model.nv + v[0])
            add("tree_base", np.resize([tree.base if kind.is_spread else -1 for tree in kind.trees], len(rows)))
            add("tree_loose", np.full(len(rows), int(kind.is_loose)))
            add("tree_q", self.first_q[k] + rows * kind.model.nq)
            add("tree_v", self.first_v[k] + rows * kind.model.nv)
            add("tree_wrench", self.first_wrench[k] + rows * 6 * kind.model.nbodies)
            add("tree_axis", self.first_axis[k] + rows * len(kind.axes))
            still = np.full(len(rows), self.first_node[-1])
            add("tree_node", self.first_node[k] + rows if kind.is_loose and kind.touching else still)
            bodies = [tree.nodes[0].inertia for tree in kind.trees]
            moments = [stack(i.inertia_at_com.matrix().rows()) if kind.is_loose else np.zeros((3, 3)) for i in bodies]
            add("tree_com", np.tile([[*map(float, i.com)] for i in bodies], (W, 1)))
            add("tree_inverse_mass", np.tile([1.0 / float(i.mass) if i.mass else 0.0 for i in bodies], W))
            inverses = np.linalg.pinv(np.array(moments), hermitian=True)  # 0 where there is none
            add("tree_inverse", np.tile(inverses[:, *np.triu_indices(3)], (W, 1)))
        fill(c, {name: np.concatenate(parts) for name, parts in columns.items()})
        c.world_trees = c.trees // max(W, 1)
        c.world_tree = wholes(np.argsort(c.tree_world, kind="stable"))
        c.tree_rest = wholes(np.argsort(c.world_tree))

    def _paths(self) -> tuple[list[int], list[_Step]]:
        """Return for each shape where its path begins, and what moves it on the way from its node to the root."""
        first, rows = [0], list[_Step]()
        for shape in self.scene.shapes:
            k, _, n = self.owner.get(self.scene.model.attachments[shape.body].node, (-1, 0, -1))
            kind = self.kinds[k]
            if k >= 0 and kind.hinges:
                rows += self._steps(kind, n, shape)
            rows.append(_Step(0, 0, 0.0, 0.0, 0.0))  # the root or the world, which all have
            first.append(len(rows))
        return first, rows

    def _steps(self, kind: Kind, n: int, shape: Shape) -> Iterator[_Step]:
        """Yield what moves a shape on the way from its node to the root; or to the world, which then is number 0."""
        hinges, X, nodes = kind.hinges, self._pose_in_node(shape), kind.model.nodes
        middle, half = (np.array([*map(float, v)]) for v in box_about(shape.geometry))
        corners = [X @ Vector3(*(middle + half * signs)) for signs in product((-1.0, 1.0), repeat=3)]
        lowest = min(min(nodes[i].v) for i in hinges)
        reach = max(float(corner.norm()) for corner in corners)
        axis = hinges[n].axis if n in hinges else None
        arm = None if axis is None else max(float(axis.cross(corner).norm()) for corner in corners)
        while n in hinges:
            for j, slide, turn in zip(nodes[n].v, hinges[n].slides, hinges[n].turns, strict=True):
                lever = slide + (turn * reach if arm is None else arm)
                yield _Step(n + kind.is_held, j - lowest, lever, turn, slide)
            reach += hinges[n].offset + float(nodes[n].placement.translation.norm())
            arm, n = None, nodes[n].parent

    def fill_nodes(self, c: Crowd) -> None:
        c.nodes = self.first_node[-1]
        tree, path, borne = [np.empty(0, int)], [np.empty(0, int)], [np.empty(0, int)]
        paths = list[tuple[int, int]]()
        for k, kind in enumerate(self.kinds):
            rows, n = self._rows(kind), len(kind.touching)
            tree.append(np.repeat(self.first_tree[k] + np.arange(rows), n))
            own, none = np.arange(rows * n), np.full(rows * n, -1)
            starts = [-1] * n
            for m, node in enumerate(kind.touching if kind.axes else ()):
                starts[m] = len(paths)
                below = supports(kind.model, node)
                paths += [(axis, j) for axis, (i, j) in enumerate(kind.axes) if i in below] + [(-1, -1)]
            path.append(np.tile(starts, rows))
            borne.append(self.first_borne[k] + own if kind.is_long else none)
        columns = {"node_tree": tree, "node_axes": path, "node_borne": borne}
        fill(c, {name: np.concatenate([*parts, [-1]]) for name, parts in columns.items()})
        c.axis_number, c.axis_v = wholes(a for a, _ in paths), wholes(j for _, j in paths)
        c.allocate(nodes=c.nodes + 1, axes=self.first_axis[-1])
        c.node[-1], c.motion[-1, 6:9] = pose_row(SE3()), [-float(e) for e in self.scene.model.gravity]

    def _sources(self, size: int, places: Callable[[Tree], Sequence[int]]) -> np.ndarray:
        """Return which of so many numbers of each world, in all of them, each one of the trees' is."""
        parts = [np.empty(0, int)]
        for kind in self.kinds:
            own = np.array([places(tree) for tree in kind.trees], dtype=int)
            parts.append((np.arange(self.worlds)[:, None, None] * size + own).ravel())
        return wholes(np.concatenate(parts))

    # --- shapes ---

    def fill_shapes(self, c: Crowd) -> list[ShapePair]:
        """Fill what is known of shapes; return the kinds of pairs that may meet."""
        scene, W = self.scene, self.worlds
        measures = ShapeSizes.of([shape.geometry for shape in scene.shapes])
        kinds: dict[Any, tuple[int, Geometry]] = {}
        materials: dict[Any, int] = {}
        at_rest: dict[Any, AtRest] = {}
        felt: dict[Any, list[float]] = {}
        rows: list[dict[str, Any]] = []
        sizes: list[float] = []
        corners: list[np.ndarray] = []
        for family, shape in zip(scene.rules.families, scene.shapes, strict=True):
            own = self._placed(shape, at_rest, felt)
            geometry = shape.geometry
            own["shape_kind"] = kinds.setdefault(row_kind(geometry), (len(kinds), geometry))[0]
            own["shape_surface"] = materials.setdefault(shape.surface or Material(), len(materials))
            own |= {"shape_family": family, "shape_first": len(sizes), "shape_stiffness": scene.stiffness[len(rows)]}
            own |= {f"shape_{key}": getattr(shape, key) for key in ("margin", "group", "mask")}
            eights = _in_eights(geometry.vertices) if isinstance(geometry, Hull) else []
            own |= {"shape_corner": len(corners), "shape_corners": len(eights)}
            corners += eights
            own["shape_flat"] = 2 * isinstance(geometry, Hull) + isinstance(geometry, Box)
            own["shape_room"] = self._room(len(rows))
            twist = shape.surface_velocity or (0.0,) * 6
            runs = self._in_node(shape) @ Motion(tuple(twist[:3]), tuple(twist[3:]))
            own["shape_runs"] = [*map(float, runs.scalars())]
            sizes += measures.numbers(geometry)
            rows.append(own)
            own["shape_slack"] = SLACK * own["shape_extent"]
        c.shapes = len(rows)
        for name in rows[0] if rows else ():
            own = np.array([row[name] for row in rows])
            fill(c, {name: np.tile(own, (W, *[1] * (own.ndim - 1)))})
        node, step = [np.array([row[key] for row in rows]) for key in ("shape_node", "node_step")]
        c.shape_node = wholes((node + np.arange(W)[:, None] * step).ravel())
        c.shape_sizes = np.array([*sizes, 0.0])
        fill(c, {"corners": np.array(corners).reshape(-1, 3, 8)})
        c.shape_base, c.shape_stranger = np.tile(self.base_of, W), np.tile(scene.rules.is_stranger, W).astype(np.int32)
        self._fill_robots(c)
        tree, centre = c.node_tree[c.shape_node], np.linalg.norm(c.shape_centre, axis=1)
        c.tree_extent, c.tree_turned = np.zeros(c.trees), np.zeros(c.trees)
        for found, of_balls in ((c.tree_extent, 1.0), (c.tree_turned, SPIN)):
            size = np.where(c.shape_round, of_balls * c.shape_half[:, 0], c.shape_extent)
            reach = np.where(c.shape_endless, 1e300, centre + size)
            np.maximum.at(found, tree[tree >= 0], reach[tree >= 0])
        c.ground = wholes(i for i, shape in enumerate(scene.shapes) if type(shape.geometry) in ENDLESS)
        c.grounds = len(c.ground)
        c.apart, c.together = keys_of(scene.rules.apart), keys_of(scene.rules.together)
        c.apart_count, c.together_count = len(c.apart), len(c.together)
        of_two = [a.combined(b) for a, b in product(materials, repeat=2)]
        c.surfaces, c.surface_count = _surfaces([*of_two, *(own.material for _, own in self.own)]), len(materials)
        c.own, c.own_count = keys_of(both for both, _ in self.own), len(self.own)
        c.own_margin = np.array([self._margin(both, own) for both, own in self.own])
        self._fill_paths(c)
        found = self._pair_kinds(c, measures, [geometry for _, geometry in kinds.values()])
        self._fill_inner(c)
        return found

    def _fill_paths(self, c: Crowd) -> None:
        """Fill how far the points of shapes move with the hinges below them; and how far slips of contacts reach."""
        W, (first, steps) = self.worlds, self._paths()
        node, hinge, lever, turn, slide = np.array(steps, dtype=float).reshape(-1, 5).T.copy()
        c.path_node, c.path_v = wholes(node), wholes(hinge)
        c.slip = float(c.surfaces[:, 4:].sum(axis=1).max(initial=0.0))
        c.path_lever, c.path_turn, c.path_slide = lever + c.slip * turn, turn, slide
        drifting = DRIFTING + TURNING * any(kind.is_held for kind in self.kinds)
        c.horizon = drifting * float(np.hypot(1.0, c.surfaces[:, 0].max(initial=0.0)))
        c.path_first = wholes(np.tile(first[:-1], W))
        c.allocate(paths=len(steps))
        self._fill_units(c)

    def _fill_units(self, c: Crowd) -> None:
        """Fill what of each hinge counts as a radian, and how far one that slides may move at once.

        Both follow from the size of the robot, as the room of its shapes does.
        """
        c.hinge_unit, c.hinge_most = np.ones(c.numbers_v), np.full(c.numbers_v, np.inf)
        for k, kind in enumerate(self.kinds):
            size = max((ball.slack for ball in kind.balls), default=0.0) / SLACK or 1.0
            slide, turn = np.zeros((2, kind.model.nv))
            for n, own in kind.hinges.items():
                for j, *speeds in zip(kind.model.nodes[n].v, own.slides, own.turns, strict=True):
                    slide[j], turn[j] = np.maximum((slide[j], turn[j]), speeds)
            speed = np.maximum(turn, slide / size)
            unit = np.divide(1.0, speed, out=np.ones(len(speed)), where=speed > 0.0)
            own = slice(self.first_v[k], self.first_v[k + 1])
            c.hinge_unit[own] = np.tile(unit, self._rows(kind))
            c.hinge_most[own] = np.tile(np.where(slide > 0.0, SLACK * unit, np.inf), self._rows(kind))

    def _fill_inner(self, c: Crowd) -> None:
        """Fill the pairs of robots whose hinges say how far they are apart: of each in the order of keys."""
        first, count = np.zeros((2, c.trees), dtype=int)
        rows: list[tuple[int, tuple[int, int]]] = []
        for t in np.flatnonzero((c.tree_world == 0) & (c.tree_hinges > 0)).tolist():
            k = int(c.tree_kind[t])
            own = k, t - int(c.kind_tree[k])
            shapes = np.flatnonzero((self.tree_of == own).all(axis=1))
            met = {i: self.scene.rules.partners(i) for i in shapes.tolist()}
            looked = {i: partners[self._are_looked_at(own, partners)].tolist() for i, partners in met.items()}
            pairs = [(i, j) for i, others in looked.items() for j in others if i < j or self.stays[j]]
            first[t], count[t] = len(rows), len(pairs)
            rows += sorted(self._inner(c, i, j) for i, j in pairs)
        c.inner, c.inner_count = np.array([key for key, *_ in rows], dtype=np.int64), len(rows)
        both = (c.inner >> BITS) & MASK, c.inner & MASK
        room, c.inner_extent = (a[both[0]] + a[both[1]] for a in (c.shape_room, c.shape_extent))
        c.inner_margin = np.concatenate([room + (own + ROUNDING) * c.inner_extent for own in (0.0, SKIN)])
        c.inner_ends = wholes(np.array([ends for _, ends in rows]).reshape(-1, 2))
        c.shape_stays = np.tile(wholes(self.stays), self.worlds)
        alike = c.world_tree[c.tree_rest % max(c.world_trees, 1)]  # the same tree of the first world
        c.tree_inner, c.tree_pairs = wholes(first[alike]), wholes(count[alike])

    def _inner(self, c: Crowd, i: int, j: int) -> tuple[int, tuple[int, int]]:
        """Return the key of two shapes, and where the paths from them to the root meet."""
        a, b = (i, j) if c.shape_order[i] > c.shape_order[j] else (j, i)
        kind = int(c.pair_kind[c.shape_kind[a] * c.shape_kinds + c.shape_kind[b], int(self.stays[b])])
        ends = [int(c.path_first[a]), int(c.path_first[b])]
        while (far := [c.path_node[end] for end in ends])[0] != far[1]:
            ends[int(far[0] < far[1])] += 1
        return (kind << 2 * BITS) | (int(a) << BITS) | int(b), (ends[0], ends[1])

    def _margin(self, both: tuple[int, int], own: ContactSurface) -> float:
        return sum(self.scene.shapes[i].margin for i in both) if own.margin is None else own.margin

    def _room(self, i: int) -> float:
        """Return the largest margin that a shape has towards any other, beside that of the other."""
        margins = [self._margin(both, own) for both, own in self.own if i in both]
        return max([self.scene.shapes[i].margin, *margins])

    def _fill_robots(self, c: Crowd) -> None:
        """Fill which shapes are on trees that may be alone, and how far these may move."""
        c.shape_lane = np.zeros(len(c.shape_node), np.int32)
        c.ball_shape = np.full(self.first_ball[-1], -1, np.int32)
        firsts: list[int] = []
        for kind, first in zip(self.kinds, self.first_ball[:-1], strict=True):
            n = len(kind.balls)
            for row in range(self._rows(kind)):
                world, i = divmod(row, len(kind.trees))
                firsts.append(first + row * n)
                if n and kind.alike[i]:
                    own = world * c.shapes + np.array(kind.shapes[i])
                    c.ball_shape[firsts[-1] : firsts[-1] + n] = own
                    c.shape_lane[own], c.shape_slack[own] = 1, [ball.slack for ball in kind.balls]
                    c.shape_round[own] = 0  # its programs know of balls about boxes alone
        c.outside = wholes(np.flatnonzero(c.shape_lane[: c.shapes] == 0))
        c.outsiders = len(c.outside)
        c.tree_ball = wholes([*firsts, self.first_ball[-1]])

    def _in_node(self, shape: Shape) -> SE3:
        return self.poses.get(shape.body, self.scene.model.attachments[shape.body].pose) @ shape.pose

    def _pose_in_node(self, shape: Shape) -> SE3:
        X = self._in_node(shape)
        return SE3(None, X.translation) if isinstance(shape.geometry, Sphere) else X  # its turn does not matter

    def _about(self, shape: Shape) -> tuple[Vector3, float, Any]:
        """Return the middle of a shape in its node, how far it reaches from there, and half the sides of its box."""
        is_endless = type(shape.geometry) in ENDLESS
        middle, half = (Vector3.zero(), None) if is_endless else box_about(shape.geometry)
        return self._pose_in_node(shape) @ middle, float(half.norm()) if half is not None else 0.0, half

    def _placed(self, shape: Shape, at_rest: dict[Any, AtRest], felt: dict[Any, list[float]]) -> dict[str, Any]:
        """Return where a shape is, and what is felt of it: shapes that are alike share `at_rest` and `felt`."""
        geometry, at = shape.geometry, self.scene.model.attachments[shape.body]
        endless, X = ENDLESS.get(type(geometry), 0), self._pose_in_node(shape)
        centre, extent, half = self._about(shape)
        found: dict[str, Any] = {"shape_order": at.node, "shape_local": [*map(float, numbers_of(X))]}
        found |= {"shape_centre": [*map(float, centre)], "shape_extent": extent, "shape_endless": endless}
        found["shape_round"] = int(isinstance(geometry, Sphere))
        found["shape_half"] = [0.0] * 3 if half is None else [*map(float, half)]
        if at.node < 0:
            return found | {"shape_weight": [0.0, 0.0], "shape_node": self.first_node[-1], "node_step": 0}
        k, i, n = self.owner[at.node]
        kind = self.kinds[k]
        row, step = kind.touching.index(n), len(kind.trees) * len(kind.touching)
        found |= {"shape_node": self.first_node[k] + i * len(kind.touching) + row, "node_step": step}
        key = k, tuple(kind.numbers[i]) if kind.is_loose else ()
        if key not in at_rest:
            own = kind.model.filled_with({"inertial_parameters": kind.numbers[i]}) if kind.is_loose else kind.model
            at_rest[key] = AtRest(heavy(own, [node for node in own.nodes if node.name in kind.kinematic]))
        spot = (*key, n, *found["shape_local"], *found["shape_centre"], *found["shape_half"])
        if spot not in felt:
            rest = at_rest[key]
            arms = rest.arms(X, found["shape_half"])
            weight = (rest.inverse_mass_of_many if kind.is_long else rest.inverse_mass)(n, centre, arms)
            felt[spot] = [float(weight), float(rest.is_chain)]
        return found | {"shape_weight": felt[spot]}

    def _pair_kinds(self, c: Crowd, measures: ShapeSizes, kinds: Sequence[Geometry]) -> list[ShapePair]:
        n, still = len(kinds), c.shape_node == c.nodes
        c.shape_kinds = n
        moving, fixed = (set(c.shape_kind[own].tolist()) for own in (~still, still))
        table, found = np.full((n * n, 2), -1), list[ShapePair]()
        for i, j in product(range(n), repeat=2):
            for is_fixed, others in enumerate((moving, fixed)):
                # No two that may touch are without a page.
                if i in moving and j in others and has_page(type(kinds[i]), type(kinds[j])):
                    table[i * n + j, is_fixed] = len(found)
                    found.append(ShapePair(measures, kinds[i], kinds[j], bool(is_fixed)))
        c.pair_kind = wholes(table)
        c.pair_points = wholes([pair.points for pair in found])
        c.pair_sizes = wholes(np.array([pair.sizes for pair in found]).reshape(-1, 2))
        c.pair_fixed = wholes([pair.fixed for pair in found])
        return found


def _in_eights(vertices: Any) -> list[np.ndarray]:
    """Return the coordinates of points, eight in a row (3, 8); the last row ends with the last one again and again."""
    points = np.array(vertices, dtype=float)
    rows = np.pad(points, ((0, -len(points) % 8), (0, 0)), mode="edge").reshape(-1, 8, 3)
    return list(rows.transpose(0, 2, 1))


def _surfaces(materials: Iterable[Material]) -> np.ndarray:
    """Return the numbers of `contact_rows.SURFACE`."""
    rows = []
    for m in materials:
        k, d = (-1.0 if value is None else value for value in (m.stiffness, m.dissipation))
        rows.append([m.friction, m.restitution, k, d, m.torsional, m.rolling])
    return np.array(rows, dtype=float).reshape(-1, 6)


def starts_of(sizes: Iterable[int]) -> list[int]:
    return [0, *np.cumsum(list(sizes), dtype=int).tolist()]


def wholes(values: Any) -> np.ndarray:
    return np.ascontiguousarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.int32)


def keys_of(pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    return np.array(sorted((min(p) << BITS) | max(p) for p in pairs), dtype=np.int64)


def fill(c: Crowd, arrays: Mapping[str, np.ndarray]) -> None:
    """Put arrays into fields of their names."""
    for name, values in arrays.items():
        kind = Crowd.fields.get(name)
        if kind is not None:
            own = aligned_zeros(kind.numpy_shape(len(values)), kind.item.dtype)
            own[...] = values.reshape(own.shape)
            setattr(c, name, own)
