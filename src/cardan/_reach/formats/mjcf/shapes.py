"""Geoms as shapes: for collision where they may touch anything, else to be seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cardan._algebra.spatial import SE3, Matrix3, Vector3
from cardan._reach.formats.mjcf.compiled import MeshFile
from cardan._reach.formats.mjcf.context import MjcfReading, pose
from cardan._robot.geometry import shapes as S
from cardan._robot.geometry.shapes import Geometry, HeightField, Mesh, Plane, Shape
from cardan._robot.geometry.touching import EVERYTHING, MAX_CLASSES, Bits, either_way, groups_and_masks
from cardan._robot.records import Material

PRIMITIVES: dict[str, Callable[[Any], Geometry]] = {  # what is made of the half sizes of a type
    "PLANE": lambda size: Plane(),
    "SPHERE": lambda size: S.Sphere(size[0]),
    "CAPSULE": lambda size: S.Capsule(size[0], 2.0 * size[1]),
    "ELLIPSOID": lambda size: S.Ellipsoid(size),
    "CYLINDER": lambda size: S.Cylinder(size[0], 2.0 * size[1]),
    "BOX": lambda size: S.Box([2.0 * half for half in size]),
}

GREY = (0.5, 0.5, 0.5, 1.0)  # the colour of a geom that names none: then its material's counts


def read_shapes(r: MjcfReading) -> None:
    bits = _bits(r)
    geoms = {geom.id: geom for geom in r.there.spec.geoms}
    for number in range(r.there.model.ngeom):
        with r.report.blamed(r.place("geoms", number)):
            _read_shape(r, geoms[number], bits)


def _bits(r: MjcfReading) -> dict[Bits, Bits]:
    """Return groups and masks for what geoms may touch: where MuJoCo asks one of two, cardan asks both."""
    solid = sorted({bits for bits in r.there.touching if any(bits)})
    if len(solid) > MAX_CLASSES:
        message = f"{len(solid)} different pairs of contype and conaffinity, of which {MAX_CLASSES} can be kept exactly"
        r.report.warn(0, f"{message}; shapes touch only where both geoms' bits let them")
        return {bits: bits for bits in solid}
    return groups_and_masks(solid, either_way)


def _read_shape(r: MjcfReading, geom: Any, bits: dict[Bits, Bits]) -> None:
    m, number = r.there.model, geom.id
    X = pose(m.geom_pos[number], m.geom_quat[number])
    shaped = _geometry(r, number, X)
    if shaped is None:
        return
    touching = r.there.touching[number]
    role = "collision" if any(touching) else "visual"
    group, mask = bits.get(touching, EVERYTHING)
    contact = {"surface": _surface(m, number) if any(touching) else None, "group": group, "mask": mask}
    contact |= {"margin": max(float(m.geom_margin[number]), 0.0), "density": _density(r, geom, shaped[0])}
    body, name = r.bodies[m.geom_bodyid[number]], r.name("GEOM", number)
    r.mechanism.add_shape(Shape(body, role, *shaped, name, **_look(r, number), **contact))


def _geometry(r: MjcfReading, number: int, X: SE3) -> tuple[Geometry, SE3] | None:
    mj, m = r.there.mj, r.there.model
    kind = mj.mjtGeom(int(m.geom_type[number])).name.removeprefix("mjGEOM_")
    if kind in PRIMITIVES:
        return PRIMITIVES[kind]([float(e) for e in m.geom_size[number]]), X
    if kind == "MESH":
        mesh = int(m.geom_dataid[number])
        moved = pose(m.mesh_pos[mesh], m.mesh_quat[mesh])  # to the mesh's centre and principal axes
        return _mesh(r, r.there.meshes[r.name("MESH", mesh)], number, X @ moved.inverse())
    if kind == "HFIELD":
        field = int(m.geom_dataid[number])
        if r.name("HFIELD", field) not in r.there.text.unread:
            rows, columns, start = (int(e[field]) for e in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
            x, y, relief, thickness = (float(e) for e in m.hfield_size[field])
            shares = m.hfield_data[start : start + rows * columns].reshape(rows, columns)
            return HeightField(relief * shares.astype(float), (2.0 * x, 2.0 * y), thickness), X
        why = "its heights are in a file, and pictures are not read; say them inline, as elevation"
    else:
        why = "cardan has none"
    r.report.remark(r.place("geoms", number), f"a geom of type {kind.lower()} is left out: {why}")
    return None


def _mesh(r: MjcfReading, file: MeshFile, number: int, X: SE3) -> tuple[Geometry, SE3]:
    """Return a mesh by its file. MuJoCo takes `refpos` and `refquat` from its vertices before it scales them."""
    # x = S R^T (p - p_ref) = R^T S p - S R^T p_ref, which a pose and a scale can say if S R^T = R^T S
    turn = pose(file.position, file.quaternion)
    back = turn.rotation.T
    offset = Vector3(*(s * e for s, e in zip(file.scale, back @ turn.translation, strict=True)))
    if len(set(file.scale)) > 1 and turn.rotation != Matrix3.identity():
        message = "a mesh with a refquat and different scales has a skewed frame; it is kept with its scales alone"
        r.report.remark(r.place("geoms", number), message)
    return Mesh(file.uri, file.path, file.scale), X @ SE3(back, -offset)


def _look(r: MjcfReading, number: int) -> dict[str, Any]:
    m = r.there.model
    rgba, material = m.geom_rgba[number], int(m.geom_matid[number])
    is_grey = tuple(rgba) == GREY
    if material < 0:
        return {"rgba": None if is_grey else _colour(rgba)}
    textures = [r.name("TEXTURE", int(k)) for k in m.mat_texid[material] if k >= 0]
    file = next((r.there.text.textures[name] for name in textures if name in r.there.text.textures), "")
    rgba = m.mat_rgba[material] if is_grey else rgba
    return {"rgba": _colour(rgba), "material": r.name("MATERIAL", material), "texture": file}


def _colour(rgba: Any) -> tuple[float, ...]:
    """Return a colour; MuJoCo has it in single precision, whose shortest digits are those of the file."""
    return tuple(min(max(float(str(e)), 0.0), 1.0) for e in rgba)


def _surface(m: Any, number: int) -> Material | None:
    """Return what contact feels: `condim` says which of the friction counts; None for what none means."""
    condim, friction = int(m.geom_condim[number]), m.geom_friction[number]
    slide, spin, roll = (float(e) if condim > least else 0.0 for e, least in zip(friction, (1, 3, 4), strict=True))
    surface = Material(friction=slide, torsional=spin, rolling=roll)
    return None if surface == Material() else surface


def _density(r: MjcfReading, geom: Any, geometry: Geometry) -> float | None:
    """Return the density of a geom that its body has its mass from, and of any other that names one."""
    mj = r.there.mj
    if geom.typeinertia == mj.mjtGeomInertia.mjINERTIA_SHELL or isinstance(geometry, Plane):
        return None
    if math.isnan(geom.mass):
        return float(geom.density)
    if isinstance(geometry, Mesh) or not geometry.volume:
        return None
    return float(geom.mass) / geometry.volume
