"""Where robots stand: moving whole articulations in the world, and putting them on the ground before they move.

With the root's joint X_wl = P J(q) C^-1, from the world's frame P to the link's frame C: of a floating one q is found
for a given X_wl, of a fixed one P = X_wl C J(q)^-1; its other joints on the world, if any, keep their places beside P.

With n the normal of a plane through the point p and h the support function of a shape at X = (R, t), the gap between
both is n . (t - p) - h(-R^T n) (`cardan.geometry.support`), of meshes, too. On a height field
it is less by the highest height below the shape: in the rectangle along the field's axes about its shadow. So it is on
triangles, by the highest corner of those that reach into the rectangle.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import stack
from cardan._algebra.errors import (
    AssemblyError,
    MechanismError,
    MissingExtraError,
    ParameterError,
    StartWarning,
    SunkenWarning,
    first_of,
    levels_inside,
)
from cardan._algebra.spatial import SE3, Motion, Vector3
from cardan._dynamics.algorithms.cluster import openings
from cardan._dynamics.algorithms.configuration import difference, normalize
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.call.arguments import are_open
from cardan._dynamics.functions.assembly import assemble, closed_near, free_coordinates
from cardan._motion.collision.support_points import SUPPORT_POINTS
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.arrays import given_limits
from cardan._motion.simulation.articulation import Articulation
from cardan._motion.simulation.depths import DEEP, depths_in_terrain
from cardan._motion.simulation.links import body_poses
from cardan._motion.simulation.pairs import PairList, depth, is_of_one_tree
from cardan._motion.simulation.state import State
from cardan._motion.simulation.world_contents import WorldContents
from cardan._robot.description import HeightField, Mesh, Plane, TriangleMesh
from cardan._robot.geometry.shapes import GROUNDS, Geometry
from cardan._robot.geometry.support import SUPPORT, reach
from cardan._robot.joints import Coupled, Distance, Fixed, Joint, Limits, Mimic
from cardan._robot.model import WORLD, Connection, Model
from cardan._robot.model.layout import said_start

LEVEL = 0.7
"""The least upward part of a ground's normal: what is steeper, by about 45 degrees, is a wall."""

MANY = 1000
"""Pairs deep in one another, after which no more are looked for: 1500 balls in one place have a million."""

LOOKED_AT = 64
"""Worlds that `warn_of_state` looks at: a warning shall cost little, and one world is like the next."""

ROUNDED = 1e-3
"""By how much limits may be passed that files give in few digits [rad, m]."""

CLOSED, STEPS, STARTS = 1e-8, 300, 32
"""Residual [m, rad] to which a start within limits is closed, in how many steps, and how many are tried.

A loop whose places have a few digits closes to no less than 1e-9 but where it is drawn. To ask for more leads there.
"""

PoseOf = Callable[[str], np.ndarray]
"""Where a body is: homogeneous matrices X_world_body, shape (..., 4, 4)."""


class Height(NamedTuple):
    """How high a shape is above a plane, or above what is below it of a terrain.

    The gap along the ground's normal [m], shape (...), and the upward part of that [-].
    """

    pair: ContactPair
    gap: np.ndarray
    rise: float


def heights(model: Model, pairs: Sequence[ContactPair], pose_of: PoseOf) -> tuple[list[Height], dict[str, str]]:
    """Return how high shapes are above planes and terrains fixed in the world; and of meshes that cannot be read, why.

    The second is by the name of the pair.
    """
    found, unread = [], {}
    for pair in pairs:
        ground = model.attachment(pair.b)
        if isinstance(pair.shape_b, GROUNDS) and ground.node < 0 and type(pair.shape_a) in SUPPORT:
            plane = (ground.pose @ pair.pose_b).matrix().astype(float)
            n, p = plane[:3, 2], plane[:3, 3]
            X = pose_of(pair.a) @ pair.pose_a.matrix().astype(float)
            # The support of a shape in a direction: how far it reaches down, along the plane's normal in its own axes.
            down = -np.swapaxes(X[..., :3, :3], -1, -2) @ n
            try:
                below = reach(pair.shape_a, down)
                top = TOPS[type(pair.shape_b)](pair.shape_b, plane, pair.shape_a, X)
            except (MissingExtraError, ParameterError) as error:  # a mesh whose file or reader is missing
                unread[pair.name] = str(error)
            else:
                found.append(Height(pair, (X[..., :3, 3] - p) @ n - below - top, float(n[2])))
    return found, unread


def depths(model: Model, pairs: Sequence[ContactPair], pose_of: PoseOf) -> dict[str, np.ndarray]:
    """Return how deep shapes are in planes and terrains fixed in the world [m], by pair; not positive outside."""
    on_planes = [pair for pair in pairs if isinstance(pair.shape_b, Plane)]
    found = {h.pair.name: -h.gap for h in heights(model, on_planes, pose_of)[0]}
    terrains: dict[str, list[ContactPair]] = {}
    for pair in pairs:
        is_known = isinstance(pair.shape_b, GROUNDS) and type(pair.shape_a) in SUPPORT_POINTS
        if is_known and not isinstance(pair.shape_b, Plane) and model.attachment(pair.b).node < 0:
            terrains.setdefault(pair.name.partition("/")[2], []).append(pair)
    for those in terrains.values():
        ground, terrain = those[0], those[0].shape_b
        X = (model.attachment(ground.b).pose @ ground.pose_b).inverse().matrix().astype(float)
        poses = [X @ pose_of(pair.a) @ pair.pose_a.matrix().astype(float) for pair in those]
        own = depths_in_terrain(terrain, [pair.shape_a for pair in those], poses)
        found |= zip((pair.name for pair in those), own, strict=True)
    return found


def _top(field: HeightField, ground: np.ndarray, shape: Geometry, X: np.ndarray) -> np.ndarray:
    """Return the highest height of a field below a shape at poses X (..., 4, 4), -inf beside the field [m]."""
    heights = np.asarray(field.heights)
    first, last, beside = [], [], np.zeros(X.shape[:-2], bool)
    shadows = _shadow(ground, shape, X)
    for (low, high), side, count in zip(shadows, field.size, heights.shape[::-1], strict=True):
        beside |= (high < -0.5 * side) | (low > 0.5 * side)
        cells = [(x / side + 0.5) * (count - 1) for x in (low, high)]
        first.append(np.clip(np.floor(cells[0]), 0, count - 1).astype(int))
        last.append(np.clip(np.ceil(cells[1]), 0, count - 1).astype(int) + 1)
    corners = zip(*(np.ravel(c).tolist() for c in (*first, *last)), strict=True)
    tops = [heights[i:i_end, j:j_end].max() for j, i, j_end, i_end in corners]
    return np.where(beside, -np.inf, np.reshape(tops, beside.shape))


def _shadow(ground: np.ndarray, shape: Geometry, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return from where to where a shape at poses X reaches along x and y of a ground's frame [m]."""
    for axis in ground[:3, :2].T:
        along, ways = (X[..., :3, 3] - ground[:3, 3]) @ axis, np.swapaxes(X[..., :3, :3], -1, -2) @ axis
        yield along - reach(shape, -ways), along + reach(shape, ways)


def _top_of_triangles(mesh: TriangleMesh, ground: np.ndarray, shape: Geometry, X: np.ndarray) -> np.ndarray:
    """Return the highest corner of triangles that are near what is below a shape; as `_top`."""
    vertices, triangles = mesh.surface()
    low, high = vertices[triangles].min(axis=1), vertices[triangles].max(axis=1)
    tops = []
    for x_low, x_high, y_low, y_high in zip(
        *(np.ravel(e) for own in _shadow(ground, shape, X) for e in own), strict=True
    ):
        below = (low[:, 0] <= x_high) & (high[:, 0] >= x_low) & (low[:, 1] <= y_high) & (high[:, 1] >= y_low)
        tops.append(high[below, 2].max(initial=-np.inf))
    return np.reshape(tops, X.shape[:-2])


TOPS: dict[type, Callable[..., Any]] = {
    Plane: lambda *_: 0.0,
    HeightField: _top,
    TriangleMesh: _top_of_triangles,
}
"""How high a ground is below a shape, above its own z = 0 [m]."""


def warn_start(world: str, what: str, things: Iterable[str]) -> None:
    """Warn of how a world begins, and name the things that it is about."""
    warnings.warn(StartWarning(f"world {world!r}{what}", list(things)), stacklevel=levels_inside())


def _warn_of_unread(world: str, unread: Mapping[str, str]) -> None:
    if unread:
        first = next(iter(unread))
        more = f", and {len(unread) - 1} more such pairs" if len(unread) > 1 else ""
        warn_start(world, f": what stands on the ground stands without {first}{more}: {unread[first]}", unread)


def raised(c: Connection, q: Sequence[Any], by: Any, parent_pose: SE3 | None = None) -> np.ndarray:
    """Return the coordinates of a joint on the world, shape (..., nq), that put its child higher by so much [m]."""
    P = c.parent_pose if parent_pose is None else parent_pose  # of this world, where it is an input
    X = P.inverse() @ SE3(None, Vector3(0.0, 0.0, by)) @ P @ c.joint.transform(tuple(q))
    return stack(tuple(c.joint.nearest_configuration(X, tuple(q))))


def stand(state: State) -> None:
    """Move each articulation that floats up or down in z, until the lowest of its shapes touches level ground.

    On a height field it clears the highest height below each shape's shadow, and will drop by what that is too much.
    What has no shape that may touch a level plane of the world, or is beside its terrain, stays where it is. States
    begin so (`World.state`): call it again after joints were moved.

    Args:
        state: is changed.

    Warns:
        StartWarning: of meshes that cannot be read; they do not count.

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> state = world.state()
        >>> state.q[:, 7:] = [0.0, 0.9, -1.8] * 4  # crouched, and in the air
        >>> cardan.simulation.stand(state)
        >>> abs(float(world.collide(state).gap.min())) < 1e-12
        True
    """
    world, rows = state.world, np.arange(len(state))
    found, unread = heights(world.model, world.pairs.on_grounds(), _poses_of(world, state.q, state.model_constants))
    _warn_of_unread(world.name, unread)
    floating = [a for a in world.articulations.values() if a.is_floating]
    _lift(world.model, state.q, floating, found, lambda c: frame_of(state, c, "parent_pose", rows))


def _lift(
    model: Model, q: np.ndarray, lifted: Sequence[Articulation], found: Sequence[Height], frame: Callable[..., SE3]
) -> None:
    """Move articulations that float, in configurations (..., nq), up to where their lowest shape touches the ground."""
    heights_of, root_of = _heights_of(lifted, found), root_joints(model, lifted)
    for a in lifted:
        ways = [-h.gap / h.rise for h in heights_of[a.name] if h.rise > LEVEL]
        if ways:
            c = root_of[a.name]
            own = model.slices[c.name][0]
            before = list(np.moveaxis(q[..., own], -1, 0).astype(float))
            by = np.max(ways, axis=0)
            q[..., own] = raised(c, before, np.where(np.isfinite(by), by, 0.0), frame(c))


def _heights_of(those: Sequence[Articulation], found: Sequence[Height]) -> dict[str, list[Height]]:
    """Return by the names of articulations the heights of their shapes."""
    of_body: dict[str, list[Height]] = {}
    for height in found:
        of_body.setdefault(height.pair.a, []).append(height)
    return {a.name: [height for body in a.bodies for height in of_body.get(body, ())] for a in those}


def _poses_of(world: WorldContents, q: np.ndarray, constants: Mapping[str, np.ndarray]) -> PoseOf:
    """Return where bodies are in worlds, by one call of a compiled function."""
    bodies = list(dict.fromkeys(pair.a for pair in world.pairs.on_grounds()))
    found = body_poses(world.model, q, bodies=bodies, **constants) if bodies else ()
    poses = np.asarray(found, dtype=float)

    def pose_of(body: str) -> np.ndarray:
        own = poses[:, bodies.index(body)]
        return SE3.from_quaternion(own[:, 3:], own[:, :3]).matrix()

    return pose_of


def stood(pairs: PairList, there: Kinematics, loose: Sequence[Articulation]) -> Kinematics:
    """Return where bodies are if, from where they are, some articulations that float stand on level ground."""
    model, bodies = there.model, {body for a in loose for body in a.bodies}
    if not bodies:
        return there
    found, unread = heights(model, [pair for pair in pairs.on_grounds() if pair.a in bodies], _poses_in(there))
    _warn_of_unread(model.name, unread)
    q = np.array(there.q)
    _lift(model, q, loose, found, lambda c: c.parent_pose)
    return Kinematics(model, q.tolist())


def lifted_out(pairs: PairList, there: Kinematics, floating: Sequence[Articulation]) -> Kinematics:
    """Return where bodies are if, from where they are, what would begin deep in level ground stands on it.

    Warns:
        StartWarning: of what is lifted.
    """
    model = there.model
    found, _ = heights(model, pairs.on_grounds(), _poses_in(there))
    own = _heights_of(floating, found).items()
    depths = {name: -float(min((h.gap for h in those), default=0.0)) for name, those in own}
    deep = [a for a in floating if depths[a.name] > DEEP]
    if not deep:
        return there
    shown = first_of([f"{a.name} by {depths[a.name]:.3g} m" for a in deep])
    what = f": {shown} would begin in the ground, where the description has it: it stands on it."
    warn_start(model.name, what, [a.name for a in deep])
    return stood(pairs, there, deep)


def _poses_in(kinematics: Kinematics) -> PoseOf:
    """Return where bodies are in one configuration, without compiling anything."""
    return cache(lambda body: kinematics.pose(body).matrix().astype(float))


def warn_of_start(world: WorldContents, kinematics: Kinematics) -> None:
    """Warn of what would be thrown by the ground, or another body, or fall through it, where bodies of a world begin.

    Meshes are looked at only where they float: reading them takes time.
    """
    model, floating = world.model, [a for a in world.articulations.values() if a.is_floating]
    solid = {shape.body for shape in model.shapes if shape.role == "collision"}
    has_ground = any(isinstance(s.geometry, GROUNDS) and model.attachment(s.body).node < 0 for s in model.shapes)
    falling = [a.name for a in floating if solid.isdisjoint(a.bodies)] if has_ground else []
    if falling:
        what = (
            f": {first_of(falling)} will fall through the ground, without a collision shape to stand on: give one by "
        )
        warn_start(world.name, what + "add_shape.", falling)
    idle = list(_led_out(model))
    if idle:
        what = (
            f": position limits of joints {first_of(idle)} have no effect: they follow other joints, which go beyond. "
        )
        warn_start(world.name, what + "Limit those.", idle)
    loose = {body for a in floating for body in a.bodies}
    pose_of = _poses_in(kinematics)
    _warn_of_open_loops(world, world.initial[None], {})
    on_grounds, others = (
        (pair for pair in pairs if pair.a in loose or not isinstance(pair.shape_a, Mesh))
        for pairs in world.pairs.near(pose_of)
    )
    known = list(on_grounds)
    in_grounds = {name: float(own) for name, own in depths(model, known, pose_of).items()}
    others = chain((pair for pair in known if pair.name not in in_grounds), others)
    joints = root_joints(model, world.articulations.values())
    fixed = [a for a in world.articulations.values() if isinstance(joints[a.name].joint, Fixed)]
    root_of = {body: a.root for a in fixed for body in a.bodies}
    held = {pair.name: root_of[pair.a] for pair in known if pair.name in in_grounds and pair.a in root_of}
    _warn_of_depths(world.name, in_grounds | _depths_of(kinematics, _may_overlap(model, others, pose_of)), held)


def _depths_of(kinematics: Kinematics, pairs: Iterable[ContactPair]) -> dict[str, float]:
    """Return how deep shapes are in one another [m], up to the pair with which `MANY` are too deep."""
    found, deep = dict[str, float](), 0
    for pair in pairs:
        found[pair.name] = depth(kinematics, pair)
        deep += found[pair.name] > DEEP
        if deep == MANY:
            break
    return found


def _warn_of_open_loops(world: WorldContents, q: np.ndarray, constants: Mapping[str, np.ndarray]) -> None:
    """Warn of closing joints, those of clusters too, that configurations (rows, nq) leave open.

    The first step closes them at once, however far that is.
    """
    model = world.model.filled_with({name: _entries(value) for name, value in constants.items()})
    gaps, rows = dict[str, float](), dict[str, int]()
    for name, residual, units in openings(model, q.astype(float)):
        if are_open(residual, units).any():
            found = np.abs(residual).max(axis=-1)
            rows[name] = int(found.argmax())
            gaps[name] = found[rows[name]]
    if gaps:
        worst = max(gaps, key=lambda name: gaps[name])
        told = first_of([f"{name} by {gaps[name]:.3g} m or rad" for name in sorted(gaps, key=lambda name: -gaps[name])])
        own = world.model.filled_with({name: value[rows[worst]] for name, value in constants.items()})
        what = f" begins with loops that are open: {told}. Its first steps close them at any speed. "
        warn_start(world.name, what + _closed_by(own, q[rows[worst]]), gaps)


def within_limits(model: Model, q: np.ndarray, held: Collection[str]) -> np.ndarray:
    """Return a configuration whose joints on loops are within their limits; q itself where no such is found.

    A description may draw its loops where its limits exclude them, as a Cassie's, whose parallelograms lie flat at
    q = 0. There the stops would push joints through a dead point. Joints begin between their limits instead, at random
    the same each time, and the loops close near there: the start nearest to q counts. Joints that are held stay.
    """
    kept = {*held, *said_start(model.annotations.configurations)}
    lower, upper = model.lower - ROUNDED, model.upper + ROUNDED
    clusters: list[Any] = [c for c in model.connections if c.joint.is_placed and not c.joint.primaries]

    def is_within(at: np.ndarray) -> np.ndarray:
        x = _limited(model, at)
        found = (lower <= x) & (x <= upper)
        for c in clusters:  # of all their joints
            iq, iv = model.slices[c.name]
            found[:, iv] &= c.joint.manifold.beyond(at[:, iq])[:, None] <= ROUNDED
        return found

    inside = is_within(q[None])[0] if model.closures or clusters else np.ones(model.nv, dtype=bool)
    out = [c for c in model.connections if not inside[model.slices[c.name][1]].all() and not c.joint.primaries]
    beyond = [c.name for c in out if c.name not in kept]
    if not beyond:
        return q
    starts = np.tile(q, (STARTS, 1))
    between = model.random_configuration((STARTS,), seed=0)
    for name in beyond:
        starts[:, model.slices[name][0]] = between[:, model.slices[name][0]]
    found = starts
    if model.closures:
        found, _ = closed_near(model, starts, free_coordinates(model, list(kept)), CLOSED, STEPS)
    gone = np.zeros(STARTS, dtype=bool)
    for _, residual, units in openings(model, found):
        gone |= are_open(residual, units)
    good = np.flatnonzero(~gone & is_within(found).all(axis=-1))
    if not good.size:
        return q
    far = np.square(difference(model, q, found[good])).sum(axis=-1)
    return found[good[np.argmin(far)]]


def _limited(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the coordinates that limits bound of configurations (rows, nq), without compiling: (rows, nv)."""
    x: list[Any] = [*model.manifold.limit_coordinates(list(q.T))]
    return np.stack(np.broadcast_arrays(np.zeros(len(q)), *x), axis=-1)[:, 1:].astype(float)


def _closed_by(model: Model, q: np.ndarray) -> str:
    """Return what closes the loops of a configuration, or that nothing does."""
    by = assemble if model.closures else normalize
    try:
        if np.isfinite(by(model, q)).all():
            there = f"world.state(q=cardan.{by.__name__}(world.model, q))"
            return f"Begin with them closed, by {there}, or mend their joints' places."
    except AssemblyError as error:
        return f"That is impossible near there: {error}"
    return "With these independent coordinates that is impossible. Begin elsewhere, or mend their joints' places."


def _entries(values: np.ndarray) -> np.ndarray:
    """Return the entries of an input (rows, ...), each with its values in all rows."""
    found = np.empty(values.shape[1:], dtype=object)
    for k in np.ndindex(found.shape):
        found[k] = values[(slice(None), *k)].astype(float)
    return found


def _led_out(model: Model) -> Iterator[str]:
    """Yield joints with limits that those they copy lead them out of; coupled ones if they have any."""
    range_of = {c.name: _range(c.limits) for c in model.connections}
    for c in model.connections:
        lower, upper = range_of[c.name]
        if isinstance(c.joint, Mimic):
            ends = [c.joint.multiplier * end + c.joint.offset for end in range_of[c.joint.primary]]
        elif isinstance(c.joint, Coupled):
            ends = [-math.inf, math.inf]  # how far its function goes is not known
        else:
            continue
        if min(ends) < lower - ROUNDED or upper + ROUNDED < max(ends):
            yield c.name


def _range(limits: Limits) -> tuple[float, float]:
    return max(limits.lower or (-math.inf,)), min(limits.upper or (math.inf,))


def _may_overlap(model: Model, pairs: Iterable[ContactPair], pose_of: PoseOf) -> Iterator[ContactPair]:
    """Yield pairs of shapes that may be deep in one another, but for those of one tree: they were kept on purpose.

    Most are apart along the line between the origins of their shapes, or along an axis of one of them. That is quicker
    to say than how far: they are no deeper in one another than along any direction.
    """
    poses: dict[tuple[str, int], np.ndarray] = {}

    def pose(body: str, of_shape: SE3) -> np.ndarray:
        key = (body, id(of_shape))
        if key not in poses:
            poses[key] = pose_of(body) @ of_shape.matrix().astype(float)
        return poses[key]

    def is_apart(pair: ContactPair) -> bool:
        shapes = pair.shape_a, pair.shape_b
        if any(type(shape) not in SUPPORT or isinstance(shape, Mesh) for shape in shapes):
            return False
        A, B = pose(pair.a, pair.pose_a), pose(pair.b, pair.pose_b)
        way = B[:3, 3] - A[:3, 3]
        distance = np.sqrt(way @ way)
        n = np.array([*A[:3, :3].T, *B[:3, :3].T, *([way / distance] if distance > 0.0 else [])])
        n *= np.where(n @ way < 0.0, -1.0, 1.0)[:, None]
        deep = reach(shapes[0], n @ A[:3, :3]) + reach(shapes[1], -(n @ B[:3, :3])) - n @ way
        return bool(deep.min() <= DEEP)

    yield from (pair for pair in pairs if not is_of_one_tree(model, pair) and not is_apart(pair))


def warn_of_state(state: State) -> None:
    """Warn of what is in planes and terrains, of open loops and passed stops, in the first `LOOKED_AT` worlds."""
    if len(state):
        first = state[:LOOKED_AT]
        deep = {name: float(own.max()) for name, own in depths_in_grounds(first).items()}
        _warn_of_depths(state.world.name, deep)
        warn_of_joints(state)


def warn_of_joints(state: State) -> None:
    """Warn of loops that are open and joints beyond their stops, in the first worlds: a step throws them back."""
    first = state[:LOOKED_AT]
    _warn_of_open_loops(state.world, first.q, first.model_constants)
    world, model, x = first.world, first.world.model, _limited(first.world.model, first.q)
    ends = given_limits(model, first.model_constants)
    over = np.maximum(ends.get("lower", model.lower) - x, x - ends.get("upper", model.upper)).max(axis=0, initial=0.0)
    own = {c.name: over[model.slices[c.name][1]] for c in model.connections if not c.joint.primaries}
    if beyond := [name for name in own if name not in world.kinematic and own[name].max(initial=0.0) > DEEP]:
        shown = first_of([f"{name} by {own[name].max():.3g} rad or m" for name in beyond])
        what = f" begins beyond stops of joints: {shown}. Angles are in radians: np.radians(q)."
        warn_start(world.name, what, beyond)


def warn_of_sunken(state: State) -> None:
    """Warn of links that are below a plane of the world, for they have no collision shape, in the first worlds."""
    world = state.world
    solid = [shape for shape in world.model.shapes if shape.role == "collision"]
    planes = [shape.pose.matrix() for shape in solid if shape.body == WORLD and isinstance(shape.geometry, Plane)]
    light = sorted({*world.links} - {shape.body for shape in solid})
    if not light or not planes or not len(state):
        return
    first = state[:LOOKED_AT]
    poses = np.asarray(body_poses(world.model, first.q, bodies=light, **first.model_constants), dtype=float)
    heights = [(poses[..., :3] - X[:3, 3].astype(float)) @ X[:3, 2].astype(float) for X in planes]
    depth = dict(zip(light, -np.min(heights, axis=(0, 1)), strict=True))
    deep = sorted((name for name in light if depth[name] > DEEP), key=lambda name: -depth[name])
    if deep:
        told = first_of([f"{name} by {depth[name]:.3g} m" for name in deep], 3)
        what = f"world {world.name!r}: below the ground, for they have no collision shapes: {told}. Give them some by "
        warnings.warn(SunkenWarning(what + "add_shape.", deep), stacklevel=levels_inside())


def depths_in_grounds(state: State) -> dict[str, np.ndarray]:
    """Return how deep shapes are in planes and terrains of the world, as `depths`."""
    world = state.world
    return depths(world.model, world.pairs.on_grounds(), _poses_of(world, state.q, state.model_constants))


def _warn_of_depths(world: str, depths: Mapping[str, float], held: Mapping[str, str] = MappingProxyType({})) -> None:
    """Warn of pairs of shapes that are deeper in one another than `DEEP` [m] at the start.

    What holds shapes in a plane, the root of a robot that does not float, is named by pair.
    """
    deep = sorted((name for name in depths if depths[name] > DEEP), key=lambda name: -depths[name])
    if deep:
        deepest = first_of([f"{name} by {1e3 * depths[name]:.0f} mm" for name in deep])
        what = f" begins with shapes in one another: {deepest}. Contact pushes them apart. Begin higher, by "
        what += "world.state(q=...) or pose=; cardan.simulation.stand(state) puts what floats on level ground."
        if len(deep) >= MANY:
            what += " There may be more of them: not all were looked at."
        roots = list(dict.fromkeys(held[name] for name in deep if name in held))
        if roots:
            what += f" {first_of(roots)} is fixed on the world. If no joint of its own does that, base='floating' "
            what += "puts it on the ground."
        warn_start(world, what, deep)


def move_root(state: State, a: Articulation, rows: np.ndarray, poses: np.ndarray) -> None:
    """Put an articulation's root link at poses, (rows, 7), in some of the worlds, or raise `MechanismError`."""
    c, X = root_joint(state.world.model, a), SE3.from_quaternion(poses[..., 3:], poses[..., :3])
    iq = state.world.model.slices[c.name][0]
    if a.is_floating:
        X_joint = frame_of(state, c, "parent_pose", rows).inverse() @ X @ frame_of(state, c, "child_pose", rows)
        state.q[rows, iq] = stack(tuple(c.joint.nearest_configuration(X_joint)))
        return
    if a.name not in state.world.movable:
        raise MechanismError(
            f"articulation {a.name!r} hangs on the world by {c.name!r}, which does not float: its place is written "
            "into the program. Make the world with movable_bases=True (WorldBuilder.finalize, Mechanism.world), which "
            "gives every world its own; what closes a loop on the world cannot be moved."
        )
    q: Any = state.q[rows, iq]  # what a checker infers of arrays here costs it minutes
    P = X @ frame_of(state, c, "child_pose", rows) @ c.joint.transform(tuple(q.T.astype(float))).inverse()
    for name, joint in state.world.movable[a.name].items():
        beside = c.parent_pose.inverse() @ state.world.model.connection(joint).parent_pose
        state.constants[name][rows] = (P @ beside).matrix()


def turn_root(state: State, a: Articulation, rows: np.ndarray, twists: np.ndarray) -> None:
    """Give an articulation's root link twists, (rows, 6), in some of the worlds; only 0 to one fixed on the world."""
    if not a.is_floating:
        if twists.any():
            raise MechanismError(f"articulation {a.name!r} does not float: its root moves by its joints' velocities.")
        return
    c, model = root_joint(state.world.model, a), state.world.model
    V = frame_of(state, c, "child_pose", rows).inverse_act(Motion.of(tuple(twists.T.astype(float))))
    q = tuple(state.q[rows, model.slices[c.name][0]].T.astype(float))
    S = np.swapaxes(stack([column.scalars() for column in c.joint.motion_subspace(q)]), -1, -2)
    state.v[rows, model.slices[c.name][1]] = np.linalg.solve(S, stack(V.scalars())[..., None])[..., 0]


def root_joint(model: Model, a: Articulation) -> Connection:
    return next(c for c in model.connections if c.child == a.root)


def root_joints(model: Model, those: Iterable[Articulation]) -> dict[str, Connection]:
    """Return by the names of articulations the joints of their roots."""
    above = {c.child: c for c in model.connections}
    return {a.name: above[a.root] for a in those}


def moves_freely(joint: Joint) -> bool:
    """Return whether a joint neither holds nor bounds nor pulls: a tether does."""
    return joint.is_floating and not joint.has_efforts and not isinstance(joint, Distance)


def frame_of(state: State, c: Connection, constant: str, rows: np.ndarray) -> SE3:
    """Return a joint's frame in one of its bodies: the model's, or that of each world if it is an input."""
    model = state.world.model
    for name, given in model.inputs.items():
        if given.constant == constant and given.owner in (None, c.name):
            X = state.constants[name][rows].astype(float)
            return SE3.of(X if given.owner else X[:, model.joint_names.index(c.name)])
    return getattr(c, constant)
