"""What rays of a world meet first: lidars and height scans, by a compiled function of the coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays.repeat import each, when
from cardan._algebra.by_identity import known_of_each
from cardan._algebra.checked_numbers import truth
from cardan._algebra.errors import ParameterError, ShapeError
from cardan._algebra.scalar import where
from cardan._algebra.spatial import SE3, Matrix3, Scalar, Vector3
from cardan._dynamics.algorithms.health import is_sound
from cardan._dynamics.algorithms.kinematics import Kinematics
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.arguments import is_symbolic, numeric_array
from cardan._dynamics.call.function import Function, function
from cardan._dynamics.call.registry import handler_of
from cardan._motion.collision.candidate import FAR, length_and_direction, select
from cardan._motion.collision.rays import Hit, ball_about, check_ray, hit, meets_ball
from cardan._motion.simulation.articulation import Pattern, select_names
from cardan._motion.simulation.pairs import WORLD_NODE
from cardan._motion.simulation.state import State, coordinates_of
from cardan._motion.simulation.world_contents import WorldContents
from cardan._robot.description import Shape
from cardan._robot.geometry.shapes import GROUNDS, Geometry, Sphere
from cardan._robot.model import WORLD, Model

TOGETHER = 16
"""Rays of few states in one run of the program, which share its kinematics; a vector of numbers holds several runs."""

MOST = 256
"""Rays of many states in one run: nothing is copied to and fro, but the program has inputs and outputs for each."""


class RayHits(NamedTuple):
    """What rays meet first.

    Attributes:
        distance: along each ray [m], infinite if it meets nothing, NaN if it or the state is; shape (..., R).
        normal: unit vectors out of what is met, in the axes the rays are given in; 0 without it: shape (..., R, 3).
        shape: indices into the world's `shapes`, -1 if it meets nothing, shape (..., R).

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> cardan.raycast(world, world.initial, (2.0, 0.0, 3.0), (0.0, 0.0, -1.0)).shape.shape
        ()
    """

    distance: Any
    normal: Any
    shape: Any


class _Seen(NamedTuple):
    """From where rays are cast, and which shapes count, with their numbers among those of the world."""

    rays: int
    body: str
    yaw_only: bool
    shapes: tuple[tuple[int, Shape], ...]


class _Placed:
    """A shape, its number, and where it is: X_sr, the pose of the rays' frame in that of the shape."""

    def __init__(self, number: int, shape: Geometry, X_sr: SE3) -> None:
        self.number, self.shape, self.X_sr = number, shape, X_sr
        self.ball = None
        if not isinstance(shape, GROUNDS):  # terrains are seldom passed by, and look at their bounds
            middle, radius = ball_about(shape)
            self.ball = X_sr.inverse_act(middle), radius  # here, once for all rays

    def met(self, o: Vector3, d: Vector3) -> Hit:
        """Return where a ray meets the shape, its normal in the axes of the ray."""
        if self.ball is None:
            return self._hit(o, d)
        return when(meets_ball(*self.ball, o, d), lambda: self._hit(o, d), Hit(FAR, Vector3.zero()))

    def _hit(self, o: Vector3, d: Vector3) -> Hit:
        own = hit(self.shape, self.X_sr @ o, self.X_sr.rotation @ d)
        return Hit(own.distance, self.X_sr.rotation.transpose_apply(own.normal))


def raycast(
    world: WorldContents,
    q: Any,
    origins: Any,
    directions: Any,
    *,
    body: str = WORLD,
    yaw_only: bool = False,
    bodies: Pattern | None = None,
) -> RayHits:
    """Return the distance to the nearest collision shape along rays, the normal there, and which shape it is.

    A ray meets the surface of a shape; if it begins within the shape, where it comes out. The shapes are planes, height
    fields, triangles, spheres, capsules, cylinders, cones, ellipsoids, boxes and hulls, so that a `Mesh` counts as its
    hull. Rays end after 5e8 m.

    Args:
        world: what the rays may meet.
        q: configurations [rad, m], shape (..., nq), or a `State` of the world.
        origins: where rays begin [m], shape (..., R, 3), or (3,) for one ray.
        directions: along which they go, of any length but 0, likewise. Symbols and tensors that are shorter than 1e-15
            meet nothing.
        body: name of a body or frame on which the rays are given, in its axes and from its origin; by default in the
            world. Shapes of that body do not count, nor those fixed on it (of the world itself they do).
        yaw_only: whether the axes follow the body's heading alone, not its tilt, as a height scan's do: z stays upright
            and x is the body's x, seen from above.
        bodies: names or patterns of the bodies that count, such as `"world"`; by default all.

    Returns:
        `RayHits(distance, normal, shape)`: the batch is that of q, origins and directions together.

    Raises:
        UnknownNameError: for a body that does not exist.
        UnsupportedError: for a mesh that could not be read among the shapes that count.
        MissingExtraError: for hulls, without the extra `mesh`.
        ShapeError, ParameterError: for arrays that do not fit, and a direction of length 0.

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> grid = np.stack(np.meshgrid([-0.2, 0.0, 0.2], [-0.1, 0.1], [0.0]), axis=-1).reshape(-1, 3)
        >>> scan = cardan.raycast(world, world.initial, grid, (0, 0, -1.0), body="trunk", yaw_only=True, bodies="world")
        >>> scan.distance.shape, scan.normal[0].round(9).tolist()
        ((6,), [0.0, 0.0, 1.0])

    Peers: MuJoCo `mj_ray` `mj_multiRay`.
    """
    if not isinstance(world, WorldContents):
        raise ParameterError("world of raycast", got=world, expected="a cardan.World, such as mechanism.world()")
    by_world = isinstance(q, State)
    q, constants = coordinates_of("raycast", world.model, q)
    if by_world:
        constants = {name: np.expand_dims(value, 1) for name, value in constants.items()}
    if any(map(is_symbolic, (q, origins, directions))) or handler_of((q, origins, directions)):
        return _in_one_run(world, q, origins, directions, (body, yaw_only, bodies), constants)
    rays = [numeric_array("raycast", "origins", origins), numeric_array("raycast", "directions", directions)]
    for name, array in zip(("origins", "directions"), rays, strict=True):
        if array.shape[-1:] != (3,):
            raise ShapeError("raycast", name, got=array.shape, expected="(..., R, 3)")
    rays[1] = _of_usual_length(rays[1])
    try:
        o, d = np.broadcast_arrays(*rays)
    except ValueError:
        raise ShapeError(
            "raycast", "directions", got=rays[1].shape, expected=f"that of origins, {rays[0].shape}"
        ) from None
    if o.ndim == 1:
        found = raycast_many(world, q, o[None], d[None], (body, yaw_only, bodies), constants)
        return RayHits(*(part[..., 0, :] if k == 1 else part[..., 0] for k, part in enumerate(found)))
    return raycast_many(world, q, o, d, (body, yaw_only, bodies), constants)


def _in_one_run(world: WorldContents, q: Any, o: Any, d: Any, asked: Any, constants: Any) -> RayHits:
    """Return what rays of symbols meet, or of tensors: all in one run, so that derivatives go through the call."""
    if is_one := len(np.shape(o)) == 1:
        o, d = (e[None] if hasattr(e, "shape") else [e] for e in (o, d))
    if not (is_symbolic(d) or handler_of((d,))):
        d = _of_usual_length(numeric_array("raycast", "directions", d))
    if np.shape(d) != np.shape(o):
        d = d + 0.0 * o if handler_of((o, d)) else np.broadcast_to(d, np.shape(o))
    found = _compiled(world, np.shape(o)[-2], *asked)(world.model, q, o, d, **constants)
    return RayHits(found.distance[..., 0], found.normal[..., 0, :], found.shape[..., 0]) if is_one else found


def _of_usual_length(d: np.ndarray) -> np.ndarray:
    """Return directions whose squares are numbers in float32, too: those that are very short or long are scaled."""
    squared = np.einsum("...i,...i->...", d, d)
    if ((squared > 1e-12) & (squared < 1e12)).all():
        return d
    size = np.abs(d).max(axis=-1, keepdims=True, initial=0.0)
    if not size.all():
        raise ParameterError("direction of a ray", got=[0.0, 0.0, 0.0], expected="any length but 0")
    unusual = ((size < 1e-6) | (size > 1e6)) & np.isfinite(size)
    return np.divide(d, size, out=d.astype(np.result_type(d, np.float32)), where=unusual)


def raycast_many(world: WorldContents, q: Any, o: np.ndarray, d: np.ndarray, asked: Any, constants: Any) -> RayHits:
    """Return what rays of shape (..., R, 3) meet, in runs of several, whose rays are spread over all.

    Rays beside one another are then in one vector of numbers, and it is likely that none of them passes near a shape.
    """
    count, q = o.shape[-2], numeric_array("raycast", "q", q)
    batch = np.broadcast_shapes(q.shape[:-1], o.shape[:-2])
    if not count * math.prod(batch):
        none = np.empty((*batch, count, 3), np.result_type(q, o, d))
        return RayHits(none[..., 0], none, none[..., 0].astype(int))
    runs = -(-count // (MOST if math.prod(batch) >= TOGETHER else TOGETHER))
    each_run = -(-count // runs)
    parts = [_in_runs(array, runs, each_run) for array in (o, d)]
    found = _compiled(world, each_run, *asked)(world.model, q[..., None, :], *parts, **constants)
    distance, shape = (np.swapaxes(e, -1, -2) for e in (found.distance, found.shape))
    batch, normal = distance.shape[:-2], np.swapaxes(found.normal, -2, -3)
    flat = distance.reshape(*batch, -1)[..., :count], normal.reshape(*batch, -1, 3)[..., :count, :]
    return RayHits(*flat, shape.reshape(*batch, -1)[..., :count].astype(int))


def _in_runs(rays: np.ndarray, runs: int, each_run: int) -> np.ndarray:
    """Return rays (..., R, 3) as (..., runs, rays of a run, 3); the last ray fills what is left."""
    if runs == 1:
        return rays[..., None, :, :]
    spread = np.arange(runs * each_run).reshape(each_run, runs).T
    return rays[..., np.minimum(spread, rays.shape[-2] - 1), :]


@known_of_each
def _known(world: WorldContents) -> dict[Any, Any]:
    """Return the functions of a world's rays, by what was asked: they live as long as the world does."""
    return {}


def _compiled(
    world: WorldContents, count: int, body: str, yaw_only: bool, bodies: Pattern | None
) -> Function[..., Any]:
    """Return what so many rays meet, as a function; what sees the same shapes is the same."""
    key = count, body, truth("yaw_only", yaw_only), tuple(bodies) if isinstance(bodies, list | set) else bodies
    known = _known(world)
    if key not in known:
        seen = _Seen(*key[:3], tuple(_counting(world, body, bodies)))
        # by numbers of shapes: a terrain takes long to hash
        same = "function", *key[:3], tuple(number for number, _ in seen.shapes)
        known[key] = known.get(same) or known.setdefault(same, raycast_function(seen))
    return known[key]


def _counting(world: WorldContents, body: str, bodies: Pattern | None) -> list[tuple[int, Shape]]:
    """Return the collision shapes that count, with their numbers."""
    node = world.model.attachment(body).node
    known = [WORLD, *world.model.body_names]
    wanted = known if bodies is None else select_names("body", known, bodies, where="bodies of raycast")
    found = []
    for k, shape in enumerate(world.shapes):
        own = world.model.attachment(shape.body).node == node != WORLD_NODE
        if shape.role == "collision" and shape.body in wanted and not own:
            check_ray(shape.geometry)
            found.append((k, shape))
    return found


def raycast_function(seen: _Seen) -> Function[..., Any]:
    """Return what rays meet as a function of model, q, origins and directions, for as many rays as it is made for."""

    @function(shapes={"origins": (seen.rays, 3), "directions": (seen.rays, 3)})
    def raycast(model: Model, q: Vector, origins: Any, directions: Any) -> RayHits:
        kinematics = Kinematics(model, q)
        X_wr = _ray_frame(kinematics.pose(seen.body), seen.yaw_only)
        placed, sound = [], where(is_sound(q), 0.0, math.nan)  # here, once for all rays
        for k, shape in seen.shapes:
            X_ws = kinematics.pose(shape.body) @ shape.pose
            if isinstance(shape.geometry, Sphere):  # how it is turned does not matter
                X_ws = SE3(X_wr.rotation, X_ws.translation)
            placed.append(_Placed(k, shape.geometry, X_ws.inverse() @ X_wr))

        def first(o: Vector3, d: Vector3) -> tuple[Scalar, Vector3, Scalar]:
            _, along = length_and_direction(d, Vector3.zero())
            hit, number = _first(placed, o, along)
            distance = where(hit.distance >= FAR, math.inf, hit.distance)
            # What compares with NaN meets nothing: a state that is none would have a clear view.
            return where(is_sound([sound], o, d), distance, math.nan), hit.normal, number

        rays = ([Vector3(*row) for row in array] for array in (origins, directions))
        distance, normal, shape = zip(*each(first, *rays), strict=True)
        return RayHits(list(distance), list(normal), list(shape))

    return raycast


def _ray_frame(X: SE3, yaw_only: bool) -> SE3:
    if not yaw_only:
        return X
    (x, y, _), *_ = X.rotation.columns()
    _, (c, s, _) = length_and_direction(Vector3(x, y, 0.0), Vector3(1.0, 0.0, 0.0))
    return SE3(Matrix3([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)]), X.translation)


def _first(placed: Sequence[_Placed], o: Vector3, d: Vector3) -> tuple[Hit, Scalar]:
    """Return the nearest hit of a ray and the number of its shape."""
    nearest, number = Hit(FAR, Vector3.zero()), -1.0
    for shape in placed:
        found = shape.met(o, d)
        nearer = found.distance < nearest.distance
        normal = select(nearer, found.normal, nearest.normal)
        nearest = Hit(where(nearer, found.distance, nearest.distance), normal)
        number = where(nearer, float(shape.number), number)
    return nearest, number
