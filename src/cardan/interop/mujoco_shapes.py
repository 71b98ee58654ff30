"""Shapes as MuJoCo's geoms, without mass: bodies have their inertia already."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cardan.errors import UnsupportedError
from cardan.geometry.mesh import surface_of_file
from cardan.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from cardan.interop.mujoco_joints import LIBRARY, placed

SIZES: dict[type, tuple[str, Callable[[Any], list[float]]]] = {
    Box: ("BOX", lambda g: [0.5 * side for side in g.size]),
    Sphere: ("SPHERE", lambda g: [g.radius, 0.0, 0.0]),
    Ellipsoid: ("ELLIPSOID", lambda g: list(g.radii)),
    Cylinder: ("CYLINDER", lambda g: [g.radius, 0.5 * g.length, 0.0]),
    Capsule: ("CAPSULE", lambda g: [g.radius, 0.5 * g.length, 0.0]),
}
"""The type of each geometry there, and its half sizes."""

READ_THERE = (".stl", ".obj", ".msh")
"""Files of meshes MuJoCo reads."""

LEAVE_OUT = "Leave it out: shapes=False, or a selection of shapes."

VISUAL, COLLISION = 2, 3
"""Groups by which MuJoCo's viewer shows or hides geoms."""


def add_shapes(mj: Any, spec: Any, bodies: dict[str, Any], shapes: Iterable[Shape]) -> None:
    """Add geoms to bodies; those for looks touch nothing."""
    meshes: dict[tuple[Any, ...], str] = {}
    for shape in shapes:
        geom = bodies[shape.body].add_geom(mass=0.0, **placed(shape.pose))
        if shape.name:
            geom.name = shape.name
        if shape.rgba is not None:
            geom.rgba = list(shape.rgba)
        _set_geometry(mj, spec, geom, shape, meshes)
        _set_contact(geom, shape)


def _set_contact(geom: Any, shape: Shape) -> None:
    if shape.role == "visual":
        geom.group, geom.contype, geom.conaffinity = VISUAL, 0, 0
    else:
        geom.group = COLLISION


def _set_geometry(mj: Any, spec: Any, geom: Any, shape: Shape, meshes: dict[tuple[Any, ...], str]) -> None:
    geometry = shape.geometry
    if isinstance(geometry, Mesh):
        key = geometry.uri, geometry.path, tuple(geometry.scale)
        if key not in meshes:
            meshes[key] = f"mesh{len(meshes)}"
            _add_mesh(mj, spec, meshes[key], geometry)
        geom.type, geom.meshname = mj.mjtGeom.mjGEOM_MESH, meshes[key]
        return
    if type(geometry) not in SIZES:
        raise UnsupportedError(f"a {type(geometry).__name__}, the shape of body {shape.body!r},", LIBRARY, LEAVE_OUT)
    kind, size = SIZES[type(geometry)]
    geom.type, geom.size = getattr(mj.mjtGeom, f"mjGEOM_{kind}"), size(geometry)


def _add_mesh(mj: Any, spec: Any, name: str, geometry: Mesh) -> None:
    """Add a file of triangles, read by MuJoCo if it can, else by trimesh."""
    mesh = spec.add_mesh(name=name, scale=list(geometry.scale), inertia=mj.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    path = Path(geometry.path or geometry.uri)
    if path.is_file() and path.suffix.lower() in READ_THERE:
        mesh.file = str(path.resolve())
        return
    surface = surface_of_file(geometry.uri, geometry.path)
    mesh.uservert, mesh.userface = surface.vertices.ravel().tolist(), surface.faces.ravel().tolist()
