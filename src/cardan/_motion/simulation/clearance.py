"""How far the shapes of a robot are apart, from one another and from obstacles, as compiled functions of q."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.errors import ParameterError, UnsupportedError
from cardan._algebra.scalar import absolute, logical_and, where
from cardan._algebra.spatial import SE3, Force, Vector3
from cardan._dynamics.algorithms.jacobians import columns_of
from cardan._dynamics.algorithms.kinematics import Kinematics, Reference
from cardan._dynamics.algorithms.tree import Vector
from cardan._dynamics.call.function import Function, function
from cardan._motion.collision.all_apart import are_apart
from cardan._motion.collision.distance import witnesses
from cardan._motion.collision.pushes import push_of_obstacles, push_of_two
from cardan._motion.contact.touching import ContactPair
from cardan._motion.simulation.articulation import Pattern
from cardan._motion.simulation.collide import MOST, check_pages, placed
from cardan._motion.simulation.pairs import WORLD_NODE, contact_pairs, select_pairs
from cardan._motion.simulation.solids import solid
from cardan._motion.simulation.state import coordinates_of
from cardan._motion.simulation.world_contents import WorldContents
from cardan._robot.description import Shape
from cardan._robot.geometry.shapes import Geometry
from cardan._robot.model import WORLD, Material, Model

MANY = 100_000
"""Pairs that `is_free` looks at: they are rows of numbers, of which a new function takes 0.2 ms each to be made."""
SINGLE = np.dtype(np.float32)  # to compare with the class takes longer
LARGEST = 1e30
"""Coordinates that sum up to more, NaN among them, are nowhere."""

Obstacles = Sequence[Shape | tuple[Any, Any]]  # any: checkers find no common type in a list of several shapes
"""Shapes fixed in the world: `Shape("world", "collision", ...)`, or geometries, each with its pose."""


class Clearance(NamedTuple):
    """How far P pairs of shapes are apart, in the world.

    Attributes:
        distance: of the surfaces [m], shape (..., P); negative, the depth, where they overlap.
        on_a: the nearest points on the first shapes [m], or the deepest, shape (..., P, 3).
        on_b: those on the second shapes [m], shape (..., P, 3).
        normal: unit vectors from the second shape to the first, shape (..., P, 3).

    Examples:
        >>> world = cardan.robots.quadruped().world("floating", ground=True)
        >>> near = cardan.clearance(world, world.initial)
        >>> near.distance.shape == (len(world.pairs),)
        True
    """

    distance: Any
    on_a: Any
    on_b: Any
    normal: Any


class Functions(NamedTuple):
    """The compiled functions of pairs."""

    pairs: tuple[ContactPair, ...]
    clearance: Function[..., Any]
    jacobian: Function[..., Any]
    apart: Function[..., Any]


def clearance(
    world: WorldContents | Model, q: Any, pairs: Pattern | None = None, obstacles: Obstacles | None = None
) -> Clearance:
    """Return how far pairs of shapes are apart, with the nearest points.

    Called on symbols, within a function of one's own, it is part of that function. Its derivatives are then right, and
    second ones of the distance, too; at kinks they are those of one of the sides.

    Args:
        world: whose `pairs` are looked at; or a model, of which those of its own shapes are that may touch. Neither has
            those that overlap where it begins, which an `OverlapWarning` names.
        q: configurations [rad, m], shape (..., nq), or a `State`. Pass the state if the model has inputs of its own for
            each world; of an array the model's own values count.
        pairs: which pairs: names or patterns, as for `World.with_contacts`; all by default. An empty list is none but
            those of obstacles.
        obstacles: shapes fixed in the world, `cardan.description.Shape("world", "collision", ...)` or a geometry with
            its pose. Each is paired with every collision shape on a body that moves, in their order, after the others.
            Meshes count as their convex hulls.

    Returns:
        distance [m], shape (..., P), on_a, on_b [m] and normal, shape (..., P, 3), in world axes.

    Raises:
        UnknownNameError: for pairs that do not exist.
        UnsupportedError: for shapes that have no distance, such as two planes; for more pairs than one program has.
        ParameterError: for something else than a world or model, an obstacle that is none, a state of other worlds, or
            if there is no pair.
        ShapeError, DTypeError: for an array that does not fit.

    Examples:
        >>> from cardan.description import Sphere
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> ball = Sphere(0.1), cardan.SE3(translation=(0.5, 0.0, 2.0))
        >>> near = cardan.clearance(dog, dog.neutral(), pairs=[], obstacles=[ball])
        >>> bool((near.distance > 0.0).all())
        True
    """
    functions = _of_distances(world, pairs, obstacles)
    model = model_of(world)
    q, inputs = coordinates_of("clearance", model, q)
    if not functions.pairs:
        batch = np.shape(q)[:-1]
        return Clearance(np.empty((*batch, 0)), *np.empty((3, *batch, 0, 3)))
    return functions.clearance(model, q, **inputs)


def clearance_jacobian(
    world: WorldContents | Model, q: Any, pairs: Pattern | None = None, obstacles: Obstacles | None = None
) -> Any:
    """Return the derivatives of the distances of `clearance` by motion: the rate of change of each is J v.

    The nearest points are held on their bodies, n . (J_a - J_b), which is exact except at kinks. There, where other
    points are as near, it is that of one of the sides.

    Args:
        world: as for `clearance`, and so are the others.
        q: configurations [rad, m], shape (..., nq), or a `State`.
        pairs: which pairs.
        obstacles: shapes fixed in the world.

    Returns:
        J, shape (..., P, nv) [m/s] for each velocity of one [rad/s, m/s].

    Raises:
        UnknownNameError, UnsupportedError, ParameterError, ShapeError, DTypeError: as `clearance`.

    Examples:
        >>> from cardan.description import Sphere
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> ball = Sphere(0.1), cardan.SE3(translation=(0.5, 0.0, 2.0))
        >>> cardan.clearance_jacobian(dog, dog.neutral(), pairs=[], obstacles=[ball]).shape[-1]
        18
    """
    functions = _of_distances(world, pairs, obstacles)
    model = model_of(world)
    q, inputs = coordinates_of("clearance_jacobian", model, q)
    if not functions.pairs:
        return np.empty((*np.shape(q)[:-1], 0, model.nv))
    return functions.jacobian(model, q, **inputs)


def is_free(
    world: WorldContents | Model,
    q: Any,
    margin: Any = 0.0,
    pairs: Pattern | None = None,
    obstacles: Obstacles | None = None,
) -> Any:
    """Return whether all pairs of shapes are farther apart than a margin.

    It costs less than `clearance`: of pairs that are far apart only their bounds are looked at, and a search for
    nearest points ends as soon as it knows.

    Args:
        world: as for `clearance`, and so are the others.
        q: configurations [rad, m], shape (..., nq), or a `State`.
        margin: [m], shape (...).
        pairs: which pairs.
        obstacles: shapes fixed in the world.

    Returns:
        Truth values, shape (...); false where q is NaN.

    Raises:
        UnknownNameError, UnsupportedError, ParameterError, ShapeError, DTypeError: as `clearance`.

    Examples:
        >>> from cardan.description import Sphere
        >>> dog = cardan.robots.quadruped().model(base="floating")
        >>> ball = Sphere(0.1), cardan.SE3(translation=(0.5, 0.0, 2.0))
        >>> bool(cardan.is_free(dog, dog.neutral(), pairs=[], obstacles=[ball]))
        True
    """
    if isinstance(margin, (list, tuple)) and any(isinstance(entry, (Shape, tuple)) for entry in margin):
        hint = "Names of pairs and obstacles follow it: obstacles=[...]."
        raise ParameterError("margin of is_free", got=margin, expected="a distance [m], or an array of some", hint=hint)
    functions = functions_of(world, pairs, obstacles)
    model = model_of(world)
    q, inputs = coordinates_of("is_free", model, q)
    if isinstance(margin, float) and getattr(q, "dtype", None) == SINGLE:
        margin = np.float32(margin)
    if not functions.pairs:
        return np.ones(np.broadcast_shapes(np.shape(q)[:-1], np.shape(margin)), bool)[()]
    return functions.apart(model, q, margin, **inputs) > 0.5


LAST = "last"
"""What was asked for last, and its functions: to compare twenty obstacles takes longer than to look at them."""
# By the world or model itself, so that functions live as long as it does.
_FUNCTIONS: ByIdentity[Any, dict[Any, Any]] = ByIdentity()


def functions_of(world: Any, pattern: Any, obstacles: Any = None) -> Functions:
    """Return the compiled functions of the pairs a pattern names, or of pairs that are given themselves."""
    if not isinstance(world, (WorldContents, Model)):
        raise ParameterError("whose clearance", got=world, expected="a cardan.World or a cardan.Model")
    chosen = tuple(pattern) if isinstance(pattern, (list, set, frozenset)) else pattern
    given = _several(obstacles)
    known = _FUNCTIONS.setdefault(world, {})
    last_chosen, last_given, last = known.get(LAST, (None, (), None))
    if last and last_chosen == chosen and len(last_given) == len(given) and all(map(operator.is_, last_given, given)):
        return last
    key = chosen, given
    try:
        hash(key)
    except TypeError:  # poses are arrays, which may change
        key = chosen, tuple(_obstacle(k, each) for k, each in enumerate(given))
    functions = known.get(key) or known.setdefault(key, _made(world, *key))
    if key[1] is given:
        known[LAST] = chosen, given, functions
    return functions


def _of_distances(world: Any, pattern: Any, obstacles: Any) -> Functions:
    """Return the functions of pairs that are few enough for a distance of each."""
    functions = functions_of(world, pattern, obstacles)
    _check_count(world, functions.pairs, MOST)
    return functions


def _check_count(world: Any, pairs: Sequence[ContactPair], most: int) -> None:
    if len(pairs) > most:
        what = f"{len(pairs)} pairs of shapes of {world.name!r}"
        instead = "ask for some pairs, pairs=pattern; for is_free instead of distances; or, of points, for a sphere "
        raise UnsupportedError(
            what, f"one program of {most} at most", instead + "about each cell of a grid that has some"
        )


def _several(obstacles: Any) -> tuple[Any, ...]:
    if isinstance(obstacles, (Shape, Geometry)) or not (obstacles is None or np.iterable(obstacles)):
        raise ParameterError("obstacles", got=obstacles, expected="several of them: a list")
    return () if obstacles is None else tuple(obstacles)


def model_of(world: WorldContents | Model) -> Model:
    """Return the model whose coordinates are given."""
    return world.model if isinstance(world, WorldContents) else world


def _made(world: WorldContents | Model, chosen: Any, obstacles: Sequence[Any]) -> Functions:
    if isinstance(chosen, tuple) and chosen and all(isinstance(pair, ContactPair) for pair in chosen):
        return Functions(chosen, *_functions(chosen))
    own = () if chosen == () else _own_pairs(world)
    pairs = (*own, *_with_obstacles(model_of(world), world.shapes, obstacles))
    if chosen:
        pairs = select_pairs(pairs, chosen, f"clearance of {world.name!r}")
    if not pairs and (obstacles or chosen is None):
        raise _nothing_to_meet(world, bool(obstacles))
    _check_count(world, pairs, MANY)
    check_pages(pairs)
    return Functions(pairs, *_functions(pairs))


def _own_pairs(world: WorldContents | Model) -> tuple[ContactPair, ...]:
    if isinstance(world, WorldContents):
        return tuple(world.pairs)
    shapes = [solid(shape) for shape in world.shapes]
    rest, own = world.start_configuration().tolist(), world.contact_surfaces
    return tuple(contact_pairs(world, shapes, world.disabled_contacts, rest, surfaces=own).touching)


def _with_obstacles(model: Model, shapes: Sequence[Shape], obstacles: Sequence[Any]) -> list[ContactPair]:
    fixed = [solid(_obstacle(k, given)) for k, given in enumerate(obstacles)]
    found, material = [], Material()
    for shape in map(solid, shapes) if fixed else ():
        if shape.role == "collision" and model.attachment(shape.body).node != WORLD_NODE:
            for other in fixed:
                own = shape.body, shape.geometry, shape.pose, WORLD, other.geometry, other.pose
                found.append(ContactPair(*own, material, f"{shape.name or shape.body}/{other.name}"))
    return found


def _nothing_to_meet(world: WorldContents | Model, has_obstacles: bool) -> ParameterError:
    if has_obstacles:
        got = "no collision shape on a body that moves"
        hint = "Give its description some: of a URDF `<collision>`, or `Mechanism.with_annotations`."
    else:
        got = "none that may touch"
        hint = "Make the world with `self_collision=True` or `ground=True`, or give `obstacles`."
    return ParameterError(f"clearance of {world.name!r}: pairs of shapes", got=got, expected="at least one", hint=hint)


def _obstacle(k: int, given: Any) -> Shape:
    name = f"obstacle#{k}"
    if isinstance(given, Shape):
        if given.body != WORLD:
            raise ParameterError(f"body of {name}", got=given.body, expected=f"{WORLD!r}: obstacles stand still")
        if given.role != "collision":
            hint = "Nothing touches what is visual: take `[s for s in shapes if s.role == 'collision']`."
            raise ParameterError(f"role of {name}", got=given.role, expected="'collision'", hint=hint)
        return Shape(WORLD, "collision", given.geometry, given.pose, given.name or name)
    geometry, pose = given if isinstance(given, tuple) and len(given) == 2 else (None, None)
    if not isinstance(geometry, Geometry):
        raise ParameterError(name, got=given, expected='a Shape("world", "collision", ...) or (geometry, pose)')
    matrix = pose.matrix() if isinstance(pose, SE3) else np.asarray(pose)
    if matrix.shape != (4, 4):
        hint = "What is not turned has cardan.SE3(translation=(x, y, z))."
        raise ParameterError(f"pose of {name}", got=pose, expected="an SE3 or a matrix of shape (4, 4)", hint=hint)
    return Shape(WORLD, "collision", geometry, SE3.of(pose), name)


def _functions(pairs: tuple[ContactPair, ...]) -> tuple[Function[..., Any], ...]:
    """Return distances, their Jacobian and whether all are apart, compiled for each model on first use."""

    @function
    def clearance(model: Model, q: Vector) -> Clearance:
        found = witnesses(placed(Kinematics(model, q), pairs))
        return Clearance(*map(list, zip(*((w.gap, w.on_a, w.on_b, w.n) for w in found), strict=True)))

    @function(returns=(len(pairs), "nv"))
    def clearance_jacobian(model: Model, q: Vector) -> Any:
        kinematics = Kinematics(model, q)
        found = witnesses(placed(kinematics, pairs))
        return [_row(kinematics, p, w.n, w.on_a.cross(w.n)) for p, w in zip(pairs, found, strict=True)]

    @function(shapes={"margin": ()}, returns=())
    def is_free(model: Model, q: Vector, margin: Any) -> Any:
        # Bounds that are NaN seem far apart: what is not known to be free is not.
        is_known = sum(map(absolute, q), 0.0) < LARGEST
        return where(logical_and(is_known, are_apart(placed(Kinematics(model, q), pairs), margin)), 1.0, 0.0)

    return clearance, clearance_jacobian, is_free


def pushes(model: Model, q: Vector, pairs: Sequence[ContactPair], reach: Any, band: float) -> list[Pushed]:
    """Return how much too near shapes are: for each shape that moves a row for all it meets of the world.

    Pairs of shapes that both move have a row each. The order is that in which the pairs come first.
    """
    kinematics, found = Kinematics(model, q), []
    shapes = placed(kinematics, pairs)
    for own in _together(pairs):
        pair, twos = pairs[own[0]], [shapes[k] for k in own]
        push = push_of_obstacles(twos, reach, band) if pair.b == WORLD else push_of_two(twos[0], reach, band)
        found.append(Pushed(push.error, [-e for e in _row(kinematics, pair, push.force, push.moment)]))
    return found


def rows_of_pairs(pairs: Sequence[ContactPair]) -> int:
    """Return how many rows `pushes` returns."""
    return len(_together(pairs))


def _together(pairs: Sequence[ContactPair]) -> list[list[int]]:
    """Return numbers of pairs: all of one shape and the world's, or one of two that move."""
    found: dict[Any, list[int]] = {}
    for k, pair in enumerate(pairs):
        found.setdefault((pair.a, pair.shape_a, pair.pose_a) if pair.b == WORLD else k, []).append(k)
    return list(found.values())


class Pushed(NamedTuple):
    """A row: how much too near shapes are [m], and how that changes by velocities."""

    error: Any
    row: list[Any]


def _row(kinematics: Kinematics, pair: ContactPair, n: Vector3, moment: Vector3) -> list[Any]:
    """Return n . (J_a - J_b): joints that move both bodies are in neither, and p x n is that of both points."""
    wrench = Force(n, moment)  # about the world's origin
    return [wrench.dot(column) for column in columns_of(kinematics, pair.a, Reference(WORLD, WORLD), pair.b)]
