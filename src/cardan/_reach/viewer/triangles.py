"""Shapes as triangles, in the axes of the body they are on: primitives are made here, files are read by trimesh.

A file keeps the materials it has, unless the description gives the shape a colour. Files without normals of their own
(STL) and boxes are shaded face by face, everything else smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._compiler.runtime.extras import package
from cardan._robot.geometry import shapes
from cardan._robot.geometry.mesh import metres, surface_of_file
from cardan._robot.registered import mesh_reader

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


def surface_of(shape: shapes.Shape, rgb: tuple[float, ...] = PLAIN) -> DrawnSurface:
    """Return what is drawn for a shape, in a colour if it has none; ParameterError if its file cannot be read."""
    geometry, pose = shape.geometry, shape.pose.matrix()
    if isinstance(geometry, shapes.Mesh):
        return _of_file(shape, geometry, pose @ np.diag((*geometry.scale, 1.0)), rgb)
    mesh = _primitive(geometry).apply_transform(pose)
    is_flat = isinstance(geometry, shapes.Box | shapes.Plane | shapes.HeightField)
    return DrawnSurface(np.asarray(mesh.vertices), np.asarray(mesh.faces), _colour(shape, rgb), is_flat)


def _colour(shape: shapes.Shape, rgb: tuple[float, ...]) -> tuple[float, ...]:
    has_none = shape.rgba is None or shape.role == "collision"
    return (*rgb, OPACITY[shape.role]) if has_none else tuple(shape.rgba or ())


# --- primitives ---------------------------------------------------------------------------------------------------


def _primitive(geometry: shapes.Geometry) -> Any:
    creation = trimesh().creation
    match geometry:
        case shapes.Box():
            return creation.box(extents=geometry.size)
        case shapes.Sphere():
            return creation.icosphere(subdivisions=3, radius=max(geometry.radius, _POINT))
        case shapes.Ellipsoid():
            return creation.icosphere(subdivisions=3).apply_scale(np.maximum(geometry.radii, _POINT))
        case shapes.Capsule():
            return creation.capsule(height=geometry.length, radius=geometry.radius, count=(SECTIONS, SECTIONS // 2))
        case shapes.Cylinder():
            return _cylinder(geometry.radius, geometry.length)
        case shapes.Plane():
            corners = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
            faces = [(0, 1, 2), (0, 2, 3)]
            return trimesh().Trimesh(0.5 * PLANE_SIDE * np.array(corners), faces, process=False)
        case shapes.HeightField():
            return trimesh().Trimesh(*geometry.surface(), process=False)
        case _:
            raise ParameterError("geometry of a shape", got=geometry, expected="a shape of cardan.geometry.shapes")


_POINT = 1e-9  # least radius [m]: what has none cannot be turned the right side out


def unit_sphere() -> tuple[np.ndarray, np.ndarray]:
    mesh = trimesh().creation.icosphere(subdivisions=2)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def add_spheres(scene: Any, path: str, radius: float, centres: np.ndarray, colour: tuple[int, int, int]) -> Any:
    """Add a sphere about each of some points (n, 3) [m] to viser's scene, and return what shows them."""
    vertices, faces = unit_sphere()
    turns = np.tile((1.0, 0.0, 0.0, 0.0), (len(centres), 1))
    look = {"batched_colors": colour, "lod": "off"}
    return scene.add_batched_meshes_simple(path, radius * vertices, faces, turns, centres, **look)


def _cylinder(radius: float, length: float) -> Any:
    """Return a cylinder whose ends share no vertex with its side, so that the edge between them is shaded as one."""
    angle = np.linspace(0.0, 2.0 * np.pi, SECTIONS, endpoint=False)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    rings = [np.column_stack([ring, np.full(SECTIONS, z)]) for z in (-0.5 * length, 0.5 * length)]
    k, after = np.arange(SECTIONS), np.roll(np.arange(SECTIONS), -1)
    side = np.concatenate([np.stack([k, after, SECTIONS + after], 1), np.stack([k, SECTIONS + after, SECTIONS + k], 1)])
    fan = np.stack([np.zeros(SECTIONS - 2, int), k[1:-1], k[2:]], axis=1)
    faces = np.concatenate([side, 2 * SECTIONS + fan[:, ::-1], 3 * SECTIONS + fan])
    return trimesh().Trimesh(np.concatenate([*rings, *rings]), faces, process=False)


# --- files --------------------------------------------------------------------------------------------------------


def _of_file(shape: shapes.Shape, mesh: shapes.Mesh, X: np.ndarray, rgb: tuple[float, ...]) -> DrawnSurface:
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
