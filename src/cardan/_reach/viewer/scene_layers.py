"""What is drawn of a robot, in layers that can be hidden: shapes, frames, centres of mass, inertias, closing joints.

A layer is one node of viser's scene, and everything in it an instance for each world: what moves is sent as one array
of positions and one of quaternions for each thing drawn, however many worlds there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import DescriptionWarning, ParameterError
from cardan._algebra.spatial import SE3, Inertia, Vector3
from cardan._compiler.runtime.extras import package
from cardan._dynamics.algorithms.centroidal import center_of_mass
from cardan._reach.pictures.scene import PALETTE
from cardan._reach.viewer.served_scene import Placement, quaternion_wxyz
from cardan._robot.geometry import shapes as S
from cardan._robot.geometry.mesh import metres, surface_of_file
from cardan._robot.geometry.touching import Contacts
from cardan._robot.model import Model
from cardan._robot.registered import mesh_reader

MASS_COLOUR, INERTIA_COLOUR, CLOSURE_COLOUR = (225, 60, 60), (80, 130, 225), (230, 40, 160)
DIFFUSE = 0.35  # opacity of ellipsoids of inertia, which lie inside the robot

# Sends what there is to see at configurations q, shape (worlds, nq), and poses in the scene.
Draw = Callable[[np.ndarray, Placement], None]


@dataclass(slots=True)
class Layer:
    """Something that is drawn of a robot, and can be hidden."""

    node: Any  # of viser's scene
    draw: Draw  # sends what there is to see
    things: Sequence[tuple[int, Any]] = ()  # of shapes: the row of the body's pose, and what viser shows there


def move(handle: Any, positions: np.ndarray, wxyz: np.ndarray) -> None:
    handle.batched_positions = np.ascontiguousarray(positions, np.float32)
    handle.batched_wxyzs = np.ascontiguousarray(wxyz, np.float32)


# --- shapes -------------------------------------------------------------------------------------------------------


def shapes(
    node: Any, scene: Any, path: str, drawn: Sequence[tuple[str, DrawnSurface]], at: Placement, pick: Callable[..., Any]
) -> Layer:
    """Add shapes of one role; `pick` is called with the body, and the world, of one that is clicked."""
    things = []
    for k, (body, surface) in enumerate(drawn):
        handle = _instances(scene, f"{path}/{k} {body.replace('/', ' ')}", surface, at, at.rows[body])
        handle.on_click(_clicked(pick, body))
        things.append((at.rows[body], handle))

    def draw(q: np.ndarray, at: Placement) -> None:
        for row, handle in things:
            move(handle, at.positions[:, row], at.wxyz[:, row])

    return Layer(node, draw, things)


def _clicked(pick: Callable[..., Any], body: str) -> Callable[[Any], Any]:
    async def note(event: Any) -> None:
        pick(body, event.instance_index or 0)

    return note


def _instances(scene: Any, path: str, surface: DrawnSurface, at: Placement, row: int) -> Any:
    where = {"batched_wxyzs": at.wxyz[:, row], "batched_positions": at.positions[:, row], "lod": "off"}
    if surface.glb:
        return scene.add_batched_glb(path, surface.glb, **where)
    *rgb, opacity = surface.rgba
    colour = tuple(round(255 * c) for c in rgb)
    look = {"batched_colors": colour, "opacity": None if opacity >= 1.0 else opacity, "side": "double"}
    faces = surface.faces.astype(np.uint32)
    return scene.add_batched_meshes_simple(path, surface.vertices, faces, flat_shading=surface.flat, **look, **where)


def surfaces(model: Model, role: str) -> list[tuple[str, DrawnSurface]]:
    """Return what can be drawn of the shapes of a role, with the bodies they are on.

    A body without visual shapes is seen by its collision shapes. Others are made up: a box for a link whose meshes are
    missing, and for every link of a model without any shapes.
    """
    shapes = [shape for shape in model.shapes if shape.role == role]
    if role == "visual":
        seen = {shape.body for shape in shapes}
        others = (s for s in model.shapes if s.role == "collision" and s.body not in seen and not _is_the_grid(s))
        shapes += [replace(shape, role="visual") for shape in others]
    own = {body: tuple(PALETTE[k % len(PALETTE)]) for k, body in enumerate(model.body_names)}
    found = [(s.body, surface) for s in shapes if (surface := _readable(s, own.get(s.body, PLAIN))) is not None]
    if role != "visual":
        return found
    drawn = {body for body, _ in found}
    bare = [shape.body for shape in shapes] if model.shapes else list(model.body_names)
    boxed = [body for body in dict.fromkeys(bare) if body not in drawn and body in model.body_names]
    return found + [(box.body, surface_of(box, own[box.body])) for box in link_boxes(model, boxed)]


def _is_the_grid(shape: S.Shape) -> bool:
    """Return whether a shape is the ground that the page's grid stands for."""
    up = shape.pose.rotation @ Vector3(0.0, 0.0, 1.0)
    return isinstance(shape.geometry, S.Plane) and tuple(up) == (0.0, 0.0, 1.0) and shape.pose.translation[2] == 0.0


def _readable(shape: S.Shape, rgb: tuple[float, ...]) -> DrawnSurface | None:
    """Return what is drawn for a shape; None, and a warning, if it is a mesh that cannot be read."""
    try:
        return surface_of(shape, rgb)
    except ParameterError as error:
        if not isinstance(shape.geometry, S.Mesh):
            raise
        instead = "a box is drawn instead" if shape.role == "visual" else "it is not drawn"
        warnings.warn(f"link {shape.body!r}: {error} Of this link, {instead}.", DescriptionWarning, stacklevel=2)
        return None


def bounds(model: Model, shapes: Iterable[tuple[str, DrawnSurface]], at: Placement) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest coordinates of what is drawn in the first world, planes aside [m]."""
    endless = {shape.body for shape in model.shapes if isinstance(shape.geometry, S.Plane)}
    corners = [at.positions[0]]
    for body, surface in shapes:
        if body not in endless:
            low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
            box = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)
            corners.append(at.points([body] * len(box), box)[0])
    every = np.concatenate(corners)
    return every.min(axis=0), every.max(axis=0)


# --- what is not seen of a real robot -----------------------------------------------------------------------------


def axes(scene: Any, path: str, size: float, at: Placement) -> Draw:
    """Add the axes of all bodies and frames: x red, y green, z blue."""
    length = {"axes_length": 0.1 * size, "axes_radius": 0.004 * size}
    handle = scene.add_batched_axes(f"{path}/axes", _rows(at.wxyz), _rows(at.positions), **length)
    return lambda q, at: move(handle, _rows(at.positions), _rows(at.wxyz))


def _rows(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, array.shape[-1])


def mass_centre(scene: Any, path: str, size: float, model: Model, offsets: np.ndarray) -> Draw:
    handle = add_spheres(scene, f"{path}/point", 0.02 * size, offsets, MASS_COLOUR)

    def draw(q: np.ndarray, at: Placement) -> None:
        handle.batched_positions = np.asarray(center_of_mass(model, q) + offsets, np.float32)

    return draw


def inertias(scene: Any, path: str, model: Model, at: Placement) -> Draw:
    """Add for each body the ellipsoid of uniform density that has its mass and inertia."""
    heavy = [(b.name, b.inertia) for b in model.bodies if b.inertia is not None and b.inertia.mass > 0.0]
    names = [name for name, _ in heavy]
    centres = np.array([tuple(inertia.com) for _, inertia in heavy], dtype=float).reshape(-1, 3)
    found = [equivalent_ellipsoid(inertia) for _, inertia in heavy]
    turns = np.array([quaternion_wxyz(R) for _, R in found]).reshape(-1, 4)
    radii = np.tile(np.array([radii for radii, _ in found]).reshape(-1, 3), (len(at.positions), 1))

    def where(at: Placement) -> tuple[np.ndarray, np.ndarray]:
        return _rows(at.points(names, centres)), _rows(at.turns(names, turns))

    look = {"batched_scales": radii, "batched_colors": INERTIA_COLOUR, "opacity": DIFFUSE, "lod": "off"}
    handle = scene.add_batched_meshes_simple(f"{path}/solids", *unit_sphere(), *where(at)[::-1], **look)
    return lambda q, at: move(handle, *where(at))


def equivalent_ellipsoid(inertia: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Return the ellipsoid of uniform density with a mass and inertia: its semi-axes, (3,) [m], and their axes, (3, 3).

    With the principal moments A, B, C, the semi-axes are a = sqrt(5/2 (B + C - A) / m) and so on. A moment that breaks
    the triangle inequality gives an ellipsoid that is flat. The axes are the columns of a rotation matrix.
    """
    moments, axes = np.linalg.eigh(np.array(inertia.inertia_at_com.matrix().rows(), dtype=float))
    squares = 2.5 * (moments.sum() - 2.0 * moments) / float(inertia.mass)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return np.sqrt(np.maximum(squares, 0.0)), axes


def closures(scene: Any, path: str, size: float, model: Model, at: Placement) -> Draw:
    """Add a line between the two halves of every joint that closes a loop: of no length where a hinge is closed."""
    halves = [half for c in model.closures for half in ((c.parent, c.parent_pose), (c.child, c.child_pose))]
    names = [name for name, _ in halves]
    local = np.array([tuple(X.translation) for _, X in halves], dtype=float).reshape(-1, 3)
    ends = at.points(names, local).reshape(-1, 2, 3)
    line = scene.add_line_segments(f"{path}/lines", ends, CLOSURE_COLOUR, thickness=0.01 * size)
    balls = add_spheres(scene, f"{path}/halves", 0.012 * size, ends.reshape(-1, 3), CLOSURE_COLOUR)

    def draw(q: np.ndarray, at: Placement) -> None:
        ends = at.points(names, local).reshape(-1, 2, 3).astype(np.float32)
        line.points, balls.batched_positions = ends, _rows(ends)

    return draw


# --- boxes for links that have nothing to draw ---

THICKNESS = 0.12  # of a box, as a share of the link's length: thin enough that neighbours can be told apart
LEAST = 0.01  # thickness of a box [m] where a model has no lengths at all


def link_boxes(model: Model, bodies: list[str]) -> list[S.Shape]:
    """Return a box for each body that has an extent or a mass."""
    points = {body: extent_points(model, body) for body in bodies}
    reach = max((float(np.abs(found).max(initial=0.0)) for found in points.values()), default=0.0)
    least = max(0.2 * THICKNESS * reach, LEAST * (reach == 0.0))
    return [_box(body, found, least) for body, found in points.items() if len(found) > 1]


def extent_points(model: Model, body: str) -> np.ndarray:
    """Return the origins of a body, of the joints it carries, and its centre of mass, in its axes, shape (n, 3) [m]."""
    found = [c.parent_pose.translation for c in (*model.connections, *model.closures) if c.parent == body]
    inertia = model.body(body).inertia
    if inertia is not None and inertia.mass > 0.0:
        found.append(inertia.com)
    return np.array([(0.0, 0.0, 0.0), *(tuple(map(float, p)) for p in found)])


def _box(body: str, points: np.ndarray, least: float) -> S.Shape:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = max(0.5 * THICKNESS * float((high - low).max()), least)
    size, centre = high - low + 2.0 * margin, 0.5 * (low + high)
    return S.Shape(body, "visual", S.Box(tuple(size)), SE3(None, Vector3(*map(float, centre))))


# --- contacts: points, and arrows for forces, or for the normals where forces are not known ---

POINT_COLOUR, FORCE_COLOUR = (250, 190, 40), (60, 190, 90)
# Radii of a point, and of an arrow's head and shaft, as shares of the robot's size.
POINT, HEAD, SHAFT = 0.012, 0.02, 0.008


def touching(found: Contacts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of all candidates those that touch: worlds (n,), points (n, 3) [m], normals (n, 3)."""
    gaps = np.asarray(found.gap)
    rows = np.argwhere(gaps <= 0.0)
    at = tuple(rows.T)
    worlds = rows[:, 0] if gaps.ndim > 1 else np.zeros(len(rows), int)
    return worlds, np.asarray(found.point)[at].reshape(-1, 3), np.asarray(found.normal)[at].reshape(-1, 3)


class TouchingPoints:
    def __init__(self, scene: Any, path: str) -> None:
        self._scene, self._path, self._balls, self._arrows = scene, path, None, None

    def draw(self, size: float, points: np.ndarray, arrows: np.ndarray) -> None:
        ends = np.stack([points, points + arrows], axis=1)[np.linalg.norm(arrows, axis=1) > 1e-3 * size]
        widths = {"shaft_radius": SHAFT * size, "head_radius": HEAD * size, "head_length": 2.5 * HEAD * size}
        balls = partial(add_spheres, self._scene, f"{self._path}/points", POINT * size, points, POINT_COLOUR)
        forces = partial(self._scene.add_arrows, f"{self._path}/forces", ends, FORCE_COLOUR, **widths)
        self._balls = _renewed(self._balls, "batched_positions", points, balls)
        self._arrows = _renewed(self._arrows, "points", ends, forces)


APART_COLOUR, DEEP_COLOUR = (70, 120, 230), (230, 60, 50)


class NearestPoints:
    def __init__(self, scene: Any, path: str) -> None:
        self._scene, self._path = scene, path
        self._shown: dict[str, tuple[Any, Any]] = {}

    def draw(self, size: float, ends: np.ndarray, is_deep: np.ndarray) -> None:
        for name, those, colour in (("apart", ~is_deep, APART_COLOUR), ("deep", is_deep, DEEP_COLOUR)):
            lines, balls = self._shown.get(name, (None, None))
            own, path = ends[those], f"{self._path}/{name}"
            line = partial(self._scene.add_line_segments, f"{path}/lines", own, colour, thickness=0.3 * POINT * size)
            both = partial(add_spheres, self._scene, f"{path}/points", 0.6 * POINT * size, own.reshape(-1, 3), colour)
            lines = _renewed(lines, "points", own, line)
            self._shown[name] = lines, _renewed(balls, "batched_positions", own.reshape(-1, 3), both)


def _renewed(handle: Any, name: str, array: np.ndarray, make: Callable[[], Any]) -> Any:
    """Return what shows an array: moved where there are as many of them, so that nothing flickers; else made anew."""
    if handle is not None and len(getattr(handle, name)) == len(array):
        setattr(handle, name, array.astype(np.float32))
        return handle
    if handle is not None:
        handle.remove()
    return make() if len(array) else None


# --- shapes as triangles, in the axes of the body they are on: primitives are made here, files are read by trimesh ---
#
# A file keeps the materials it has, unless the description gives the shape a colour. Files without normals of their own
# (STL) and boxes are shaded face by face, everything else smoothly.

PLANE_SIDE = 10.0  # of the part of a half space that is drawn [m]
PLAIN = (0.55, 0.58, 0.64)
SECTIONS = 32  # around what is round: its outline is off by r (1 - cos(pi / 32)), half a percent of its radius
# Of shapes whose description and file have no colour, by role; collision shapes show what is in them.
OPACITY = {"visual": 1.0, "collision": 0.45}


def trimesh() -> Any:
    return package("trimesh", "the viewer", "view")


@dataclass(frozen=True, slots=True)
class DrawnSurface:
    """Triangles of one colour, or a binary glTF file with materials of its own."""

    vertices: np.ndarray  # shape (n, 3) [m], in body axes
    faces: np.ndarray  # indices of vertices, shape (m, 3)
    rgba: tuple[float, ...]  # colour, in [0, 1]
    flat: bool = False  # whether every triangle is shaded as the plane it is
    glb: bytes = b""  # the file; empty where the colour counts


def surface_of(shape: S.Shape, rgb: tuple[float, ...] = PLAIN) -> DrawnSurface:
    """Return what is drawn for a shape, in a colour if it has none; ParameterError if its file cannot be read."""
    geometry, pose = shape.geometry, shape.pose.matrix()
    if isinstance(geometry, S.Mesh):
        return _of_file(shape, geometry, pose @ np.diag((*geometry.scale, 1.0)), rgb)
    mesh = _primitive(geometry).apply_transform(pose)
    is_flat = isinstance(geometry, S.Box | S.Plane | S.HeightField | S.Hull | S.TriangleMesh)
    return DrawnSurface(np.asarray(mesh.vertices), np.asarray(mesh.faces), _colour(shape, rgb), is_flat)


def _colour(shape: S.Shape, rgb: tuple[float, ...]) -> tuple[float, ...]:
    has_none = shape.rgba is None or shape.role == "collision"
    return (*rgb, OPACITY[shape.role]) if has_none else tuple(shape.rgba or ())


# --- primitives ---------------------------------------------------------------------------------------------------


def _primitive(geometry: S.Geometry) -> Any:
    creation = trimesh().creation
    match geometry:
        case S.Box():
            return creation.box(extents=geometry.size)
        case S.Sphere():
            return creation.icosphere(subdivisions=3, radius=max(geometry.radius, _POINT))
        case S.Ellipsoid():
            return creation.icosphere(subdivisions=3).apply_scale(np.maximum(geometry.radii, _POINT))
        case S.Capsule():
            return creation.capsule(height=geometry.length, radius=geometry.radius, count=(SECTIONS, SECTIONS // 2))
        case S.Cylinder() | S.Cone():
            r, z = max(geometry.radius, _POINT), 0.5 * geometry.length
            # corners twice: the ends share no vertex with the side, so that the edge between is shaded as one
            top = [(r, z), (r, z)] if isinstance(geometry, S.Cylinder) else []
            outline = [(0.0, -z), (r, -z), (r, -z), *top, (0.0, z)]
            return creation.revolve(outline, sections=SECTIONS, process=False)
        case S.Plane():
            corners = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
            faces = [(0, 1, 2), (0, 2, 3)]
            return trimesh().Trimesh(0.5 * PLANE_SIDE * np.array(corners), faces, process=False)
        case S.HeightField() | S.Hull() | S.TriangleMesh():
            return trimesh().Trimesh(*geometry.surface(), process=False)


_POINT = 1e-6  # least radius [m]: what has none cannot be turned the right side out


def unit_sphere() -> tuple[np.ndarray, np.ndarray]:
    mesh = trimesh().creation.icosphere(subdivisions=2)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def add_spheres(scene: Any, path: str, radius: float, centres: np.ndarray, colour: tuple[int, int, int]) -> Any:
    """Add a sphere about each of some points (n, 3) [m] to viser's scene, and return what shows them."""
    vertices, faces = unit_sphere()
    turns = np.tile((1.0, 0.0, 0.0, 0.0), (len(centres), 1))
    look = {"batched_colors": colour, "lod": "off"}
    return scene.add_batched_meshes_simple(path, radius * vertices, faces, turns, centres, **look)


# --- files --------------------------------------------------------------------------------------------------------


def _of_file(shape: S.Shape, mesh: S.Mesh, X: np.ndarray, rgb: tuple[float, ...]) -> DrawnSurface:
    parts = [part.apply_transform(X) for part in parts_of_file(mesh.uri, mesh.path)]
    bare = [trimesh().Trimesh(part.vertices, part.faces, process=False) for part in parts]  # without their looks
    whole = parts[0] if len(parts) == 1 else trimesh().util.concatenate(bare)
    has_look = any(part.visual.defined for part in parts)
    keeps = shape.rgba is None and shape.role == "visual" and has_look
    glb = bytes(trimesh().Scene(parts).export(file_type="glb")) if keeps else b""
    flat = str(mesh.path).lower().endswith(".stl") or mesh_reader(mesh.path) is not None
    return DrawnSurface(np.asarray(whole.vertices, float), np.asarray(whole.faces), _colour(shape, rgb), flat, glb)


def parts_of_file(uri: str, path: str | None) -> list[Any]:
    """Return the meshes in a file, each placed as the file says, in metres; ParameterError if it holds no triangle."""
    if path is None or not Path(path).is_file() or mesh_reader(path):
        return [surface_of_file(uri, path)]
    try:
        scene = trimesh().load_scene(path, process=False)
        parts = [part for part in scene.dump() if len(getattr(part, "faces", ())) > 0]
    except Exception as error:  # what a reader of a dozen formats raises on faulty files is not known
        raise ParameterError(f"mesh {uri!r}", got=f"{path}: {error}", expected="a mesh file trimesh can read") from None
    if not parts or not all(np.isfinite(part.vertices).all() for part in parts):
        raise ParameterError(f"mesh {uri!r}", got=f"{path}: no triangle, or not finite", expected="triangles")
    return [part.apply_scale(metres(scene.units)) for part in parts]
