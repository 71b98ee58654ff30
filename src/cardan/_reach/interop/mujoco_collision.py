"""Collision by MuJoCo, of shapes no page in `algorithms/collision` knows: meshes, height fields, cylinders, ellipsoids.

The shapes alone are handed over, each on a body that is put where this library says, so that every joint will do.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import DTypeError, ParameterError
from cardan._algebra.scalar import is_finite
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.call.arguments import numeric_array
from cardan._dynamics.call.function import Function, function
from cardan._reach.interop.mujoco_joints import placed
from cardan._reach.interop.mujoco_package import mujoco
from cardan._reach.interop.mujoco_shapes import Solid, check_ends, ends_of, set_geometry
from cardan._robot.description import Mechanism
from cardan._robot.geometry.shapes import Ellipsoid, HeightField, Plane, Shape, Sphere
from cardan._robot.geometry.touching import Contacts
from cardan._robot.model import WORLD, Model

MANY = 8  # points a pair may have at most, the deepest first; as many as two boxes have there


HALVINGS = 20  # of a reach within which a pair has too many contacts: the nearest is then known to a millionth of it


class MujocoCollision:
    """Contacts of the pairs of a world, found by MuJoCo: `MujocoCollision(world)(state.q)`.

    A mesh counts as its convex hull, and each triangle of a height field, with the matter below it, as a prism of its
    own: the gap is that to the nearest prism, and what is deeper inside than it is wide may be pushed out sideways.
    A sphere or ellipsoid has one point of contact with anything but a height field, two other shapes up to `MANY`.

    Args:
        robot: a world, or a mechanism, of which `robot.world(ground=False)` is taken.
        pairs: of the world's pairs those to look at; by default all.
        reach: gaps up to which there are contacts [m].

    Attributes:
        pairs: what is looked at.
        pair: of each candidate its pair's index, shape (C,).

    Raises:
        MissingExtraError: without the extra `mujoco`.
        UnsupportedError, ParameterError: for a shape it cannot take, such as a file that is missing.

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> found = cardan.interop.MujocoCollision(world)(world.state().q)

    Source: MuJoCo documentation, "Computation: collision detection".
    """

    def __init__(self, robot: Any, *, pairs: Iterable[Any] | None = None, reach: float = 0.05) -> None:
        world = robot.world(ground=False) if isinstance(robot, Mechanism) else robot
        if not isinstance(getattr(world, "model", None), Model):
            raise DTypeError("MujocoCollision", "robot", got=type(robot).__name__, expected="a mechanism or a world")
        if not is_finite(reach) or reach < 0.0:
            raise ParameterError("reach", got=reach, expected="a finite number >= 0 [m]")
        self.model: Model = world.model
        self.pairs: tuple[Any, ...] = tuple(world.pairs if pairs is None else pairs)
        self.pair: np.ndarray = places_of(self.pairs)
        self._starts = np.searchsorted(self.pair, np.arange(len(self.pairs) + 1))
        self._mj = mujoco("MujocoCollision")
        self._reach = float(reach)
        self._compile()

    def _compile(self) -> None:
        """Make MuJoCo's model: what does not move stands in the world, all else on bodies that are put."""
        solids = list(dict.fromkeys(end for pair in self.pairs for end in ends_of(pair)))
        moving = [solid for solid in solids if self.model.attachment(solid[0]).node >= 0]
        spec, assets = self._mj.MjSpec(), {}
        for k, (body, geometry, pose) in enumerate(solids):
            at = self.model.attachment(body)
            fixed = at.node < 0
            home = spec.worldbody if fixed else spec.worldbody.add_body(name=str(moving.index(solids[k])), mocap=True)
            place = placed(at.pose @ pose) if fixed else {}
            geom = home.add_geom(name=str(k), contype=0, conaffinity=0, **place)
            shape = Shape(WORLD if fixed and isinstance(geometry, Plane) else body, "collision", geometry)
            set_geometry(self._mj, spec, geom, shape, assets)
        for pair in self.pairs:
            check_ends(pair.name, pair.shape_a, pair.shape_b)
        for a, b in (map(solids.index, ends_of(pair)) for pair in self.pairs):
            spec.add_pair(geomname1=str(a), geomname2=str(b), margin=self._reach, condim=1)
        self._there = spec.compile()
        self._data = self._mj.MjData(self._there)
        self._order = [self._there.body(str(k)).mocapid[0] for k in range(len(moving))]
        ids = [self._there.geom(str(k)).id for k in range(len(solids))]
        ends = [tuple(ids[solids.index(end)] for end in ends_of(pair)) for pair in self.pairs]
        self._pair_of = {frozenset(pair): (k, pair[0]) for k, pair in enumerate(ends)}
        theirs = zip(self._there.pair_geom1.tolist(), self._there.pair_geom2.tolist(), strict=True)
        self._numbers = {frozenset(pair): k for k, pair in enumerate(theirs)}
        self._poses = _poses_function(tuple(moving))

    def __call__(self, q: Any) -> Contacts:
        """Return the contacts in configurations, shape (..., nq)."""
        array = numeric_array("MujocoCollision", "q", q)
        shape = array.shape[:-1]
        found = np.asarray(self._poses(self.model, array), dtype=float)
        poses = found.reshape(math.prod(shape), len(self._order), 7)
        places = len(poses), len(self.pair)
        gap, point = np.full(places, np.inf), np.zeros((*places, 3))
        normal = np.broadcast_to([0.0, 0.0, 1.0], point.shape).copy()
        for row, own in enumerate(poses):
            self._look(own, gap[row], point[row], normal[row])
        sizes = (*shape, len(self.pair))
        return Contacts(gap.reshape(sizes), point.reshape(*sizes, 3), normal.reshape(*sizes, 3), self.pair.copy())

    def _find(self, data: Any) -> None:
        """Find the contacts. Of a pair that has more than MuJoCo tells, which takes the first it meets, the nearest.

        The margin of such a pair is cut in halves, between one within which there is no contact and one with too many.
        """
        margin, most = self._there.pair_margin, self._mj.mjMAXCONPAIR
        margin[:], empty, full = self._reach, np.zeros(len(margin)), np.full(len(margin), self._reach)
        left = np.ones(len(margin), dtype=bool)
        for _ in range(HALVINGS):
            count = self._counted(data)
            is_full, is_empty = count >= most, (count == 0) & (margin < self._reach)
            left = is_full | is_empty
            if not left.any():
                return
            full[is_full], empty[is_empty] = margin[is_full], margin[is_empty]
            margin[left] = 0.5 * (empty + full)[left]
        self._find_many(data, left, empty, full)

    def _find_many(self, data: Any, left: np.ndarray, empty: np.ndarray, full: np.ndarray) -> None:
        margin = self._there.pair_margin
        margin[left] = np.where(empty > 0.0, full, 0.0)[left]
        count = self._counted(data)
        most, ends = self._mj.mjMAXCONPAIR, list(self._numbers)
        for k in np.flatnonzero(left & (count >= most) & (margin == 0.0)):
            name = self.pairs[self._pair_of[ends[k]][0]].name
            warnings.warn(
                f"contact pair {name!r} overlaps at more points than the {most} MuJoCo tells, and a deeper one may be "
                "missing: make the height field coarser, or the other shape smaller.",
                stacklevel=5,
            )
        missed = left & (count == 0)
        if missed.any():
            margin[missed] = full[missed]
            self._counted(data)

    def _counted(self, data: Any) -> np.ndarray:
        """Find the contacts within the margins, and return how many each of MuJoCo's pairs has."""
        self._mj.mj_collision(self._there, data)
        found = [self._numbers[frozenset(ends)] for ends in data.contact.geom.tolist()]
        return np.bincount(np.array(found, dtype=int), minlength=len(self._numbers))

    def _look(self, poses: np.ndarray, gap: np.ndarray, point: np.ndarray, normal: np.ndarray) -> None:
        data = self._data
        data.mocap_pos[self._order], data.mocap_quat[self._order] = poses[:, :3], poses[:, 3:]
        self._mj.mj_kinematics(self._there, data)
        self._find(data)
        used = self._starts[:-1].copy()
        for k in np.argsort(data.contact.dist, kind="stable"):
            contact = data.contact[int(k)]
            pair, first = self._pair_of[frozenset(contact.geom.tolist())]
            slot = used[pair]
            if slot < self._starts[pair + 1]:
                n = contact.frame[:3] * (-1.0 if contact.geom[0] == first else 1.0)
                gap[slot], normal[slot] = contact.dist, n
                point[slot] = contact.pos + 0.5 * contact.dist * n  # MuJoCo's is half way
                used[pair] += 1


def places_of(pairs: Sequence[Any]) -> np.ndarray:
    """Return the index of its pair for each place that contacts of pairs have, shape (C,)."""
    return np.repeat(np.arange(len(pairs)), [_count(pair) for pair in pairs]).astype(int)


def _count(pair: Any) -> int:
    shapes = pair.shape_a, pair.shape_b
    is_one = any(isinstance(s, (Sphere, Ellipsoid)) for s in shapes)
    return 1 if is_one and not any(isinstance(s, HeightField) for s in shapes) else MANY


def _poses_function(solids: Sequence[Solid]) -> Function[..., Any]:
    """Return the poses of shapes as a function of model and q: position, and quaternion (w, x, y, z)."""

    @function
    def poses(model: Model, q: Any) -> Any:
        kinematics = Kinematics(model, q)
        there = [placed(kinematics.pose(body) @ pose) for body, _, pose in solids]
        return [[*place["pos"], *place["quat"]] for place in there]

    return poses
