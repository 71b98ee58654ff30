"""Geoms as shapes: for collision where they may touch anything, else to be seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cardan._algebra.spatial import SE3, Matrix3, Vector3
from cardan._reach.formats.mjcf.compiled import MeshFile
from cardan._reach.formats.mjcf.found import Found, pose
from cardan._robot.geometry.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from cardan._robot.geometry.touching import MAX_CLASSES, Bits, either_way, groups_and_masks
from cardan._robot.records import Material

PRIMITIVES: dict[str, Callable[[Any], Geometry]] = {
    "PLANE": lambda size: Plane(),
    "SPHERE": lambda size: Sphere(size[0]),
    "CAPSULE": lambda size: Capsule(size[0], 2.0 * size[1]),
    "ELLIPSOID": lambda size: Ellipsoid(size),
    "CYLINDER": lambda size: Cylinder(size[0], 2.0 * size[1]),
    "BOX": lambda size: Box([2.0 * half for half in size]),
}
"""What is made of the half sizes of a type."""

GREY = (0.5, 0.5, 0.5, 1.0)
"""The colour of a geom that names none: then its material's counts."""


def read_shapes(found: Found) -> None:
    """Add the geoms of all bodies."""
    bits = _bits(found)
    geoms = {geom.id: geom for geom in found.there.spec.geoms}
    for number in range(found.there.model.ngeom):
        with found.report.blamed(found.place("geoms", number)):
            _read_shape(found, geoms[number], bits)


def _bits(found: Found) -> dict[Bits, Bits]:
    """Return groups and masks for what geoms may touch: where MuJoCo asks one of two, cardan asks both."""
    solid = sorted({bits for bits in found.there.touching if any(bits)})
    if len(solid) > MAX_CLASSES:
        message = f"{len(solid)} different pairs of contype and conaffinity, of which {MAX_CLASSES} can be kept exactly"
        found.report.warn(0, f"{message}; shapes touch only where both geoms' bits let them")
        return {bits: bits for bits in solid}
    return groups_and_masks(solid, either_way)


def _read_shape(found: Found, geom: Any, bits: dict[Bits, Bits]) -> None:
    m, number = found.there.model, geom.id
    X = pose(m.geom_pos[number], m.geom_quat[number])
    shaped = _geometry(found, number, X)
    if shaped is None:
        return
    geometry, X = shaped
    touching = found.there.touching[number]
    group, mask = bits.get(touching, (1, 0xFFFFFFFF))
    found.mechanism.add_shape(
        Shape(
            found.bodies[m.geom_bodyid[number]],
            "collision" if any(touching) else "visual",
            geometry,
            X,
            found.name("GEOM", number),
            **_look(found, number),
            surface=_surface(m, number) if any(touching) else None,
            group=group,
            mask=mask,
            margin=max(float(m.geom_margin[number]), 0.0),
            density=_density(found, geom, geometry),
        )
    )


def _geometry(found: Found, number: int, X: SE3) -> tuple[Geometry, SE3] | None:
    """Return the geometry and its pose; None for what cardan has no shape for."""
    mj, m = found.there.mj, found.there.model
    kind = mj.mjtGeom(int(m.geom_type[number])).name.removeprefix("mjGEOM_")
    if kind in PRIMITIVES:
        return PRIMITIVES[kind]([float(e) for e in m.geom_size[number]]), X
    if kind == "MESH":
        mesh = int(m.geom_dataid[number])
        moved = pose(m.mesh_pos[mesh], m.mesh_quat[mesh])  # to the mesh's centre and principal axes
        return _mesh(found, found.there.meshes[found.name("MESH", mesh)], number, X @ moved.inverse())
    if kind == "HFIELD":
        field = _height_field(found, int(m.geom_dataid[number]))
        if field is None:
            message = "a geom of type hfield is left out: its heights are in a file, and pictures are not read"
            found.report.remark(found.place("geoms", number), f"{message}; say them inline, as elevation")
        return None if field is None else (field, X)
    found.report.remark(found.place("geoms", number), f"a geom of type {kind.lower()} is left out: cardan has none")
    return None


def _height_field(found: Found, number: int) -> HeightField | None:
    """Return a height field, whose lowest height is 0 there; None where its heights are in a file."""
    m = found.there.model
    if found.name("HFIELD", number) in found.there.text.unread:
        return None
    rows, columns, start = (int(e[number]) for e in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
    x, y, relief, thickness = (float(e) for e in m.hfield_size[number])
    shares = m.hfield_data[start : start + rows * columns].reshape(rows, columns)
    return HeightField(relief * shares.astype(float), (2.0 * x, 2.0 * y), thickness)


def _mesh(found: Found, file: MeshFile, number: int, X: SE3) -> tuple[Geometry, SE3]:
    """Return a mesh by its file. MuJoCo takes `refpos` and `refquat` from its vertices before it scales them."""
    # x = S R^T (p - p_ref) = R^T S p - S R^T p_ref, which a pose and a scale can say if S R^T = R^T S
    turn = pose(file.position, file.quaternion)
    back = turn.rotation.T
    offset = Vector3(*(s * e for s, e in zip(file.scale, back @ turn.translation, strict=True)))
    if len(set(file.scale)) > 1 and turn.rotation != Matrix3.identity():
        message = "a mesh with a refquat and different scales has a skewed frame; it is kept with its scales alone"
        found.report.remark(found.place("geoms", number), message)
    return Mesh(file.uri, file.path, file.scale), X @ SE3(back, -offset)


def _look(found: Found, number: int) -> dict[str, Any]:
    """Return colour, material and texture."""
    m = found.there.model
    rgba, material = m.geom_rgba[number], int(m.geom_matid[number])
    is_grey = tuple(rgba) == GREY
    if material < 0:
        return {"rgba": None if is_grey else _colour(rgba)}
    textures = [found.name("TEXTURE", int(k)) for k in m.mat_texid[material] if k >= 0]
    file = next((found.there.text.textures[name] for name in textures if name in found.there.text.textures), "")
    rgba = m.mat_rgba[material] if is_grey else rgba
    return {"rgba": _colour(rgba), "material": found.name("MATERIAL", material), "texture": file}


def _colour(rgba: Any) -> tuple[float, ...]:
    """Return a colour; MuJoCo has it in single precision, whose shortest digits are those of the file."""
    return tuple(min(max(float(str(e)), 0.0), 1.0) for e in rgba)


def _surface(m: Any, number: int) -> Material | None:
    """Return what contact feels: `condim` says which of the friction counts; None for what none means."""
    slide, spin, roll = (float(e) for e in m.geom_friction[number])
    condim = int(m.geom_condim[number])
    surface = Material(
        friction=slide if condim > 1 else 0.0,
        torsional=spin if condim > 3 else 0.0,
        rolling=roll if condim > 4 else 0.0,
    )
    return None if surface == Material() else surface


def _density(found: Found, geom: Any, geometry: Geometry) -> float | None:
    """Return the density of a geom that its body has its mass from, and of any other that names one."""
    mj = found.there.mj
    if geom.typeinertia == mj.mjtGeomInertia.mjINERTIA_SHELL or isinstance(geometry, Plane):
        return None
    if math.isnan(geom.mass):
        return float(geom.density)
    if isinstance(geometry, Mesh) or not geometry.volume:
        return None
    return float(geom.mass) / geometry.volume
