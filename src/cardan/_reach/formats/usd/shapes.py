"""Geometries of USD as shapes on bodies, scaled to metres.

A prim that collides is seen, too, unless it is hidden, is a guide or a proxy. What scales a round thing differently
across its axis counts with the larger factor, as in UsdPhysics; only a sphere becomes an ellipsoid, which it then is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cardan._algebra.spatial import SE3, Matrix3
from cardan._reach.formats.usd.materials import colour, physics_material
from cardan._reach.formats.usd.scene import Scene, schemas
from cardan._reach.formats.usd.stage import Posed, Stage
from cardan._reach.formats.usd.usd_package import pxr
from cardan._reach.formats.usd.values import flag, non_negative, token
from cardan._robot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere

AXES = ("X", "Y", "Z")
_TURNS = {  # cyclic: the axis z of cardan's shapes goes where the axis of USD's is
    "X": Matrix3.of([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "turn"),
    "Y": Matrix3.of([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], "turn"),
    "Z": Matrix3.identity(),
}


@dataclass(frozen=True, slots=True)
class Solid:
    """A geometry of USD: what it is, X_body_shape, and whether it collides."""

    prim: Any
    body: str
    geometry: Geometry
    pose: SE3
    collides: bool
    is_seen: bool


def read_solid(stage: Stage, scene: Scene, prim: Any) -> Solid | None:
    """Return a geometry; None, and a fault, where it has none here."""
    posed, body = stage.pose(prim), scene.body_of(prim)
    owner = stage.pose(scene.bodies[body]) if body else None
    collides = "PhysicsCollisionAPI" in schemas(prim) and flag(prim, "physics:collisionEnabled", True)
    if posed is None or (body and owner is None):
        return None
    kind = str(prim.GetTypeName())
    made = _GEOMETRIES[kind](stage, prim, posed) if kind in _GEOMETRIES else None
    if made is None:
        return None
    if posed.is_sheared:
        say = stage.report.warn if collides else stage.report.remark
        say(stage.where(prim), "its transform shears it; it is read as if it were scaled along its axes")
    geometry, turn = made
    pose = posed.pose if owner is None else owner.pose.inverse() @ posed.pose
    is_seen = _is_seen(prim) and not isinstance(geometry, Plane)
    return Solid(prim, body, geometry, pose @ SE3(turn), collides, is_seen)


def _is_seen(prim: Any) -> bool:
    imageable = pxr().UsdGeom.Imageable(prim)
    return imageable.ComputeVisibility() != "invisible" and imageable.ComputePurpose() in ("default", "render")


def shapes_of(stage: Stage, solid: Solid, body: str, group: tuple[int, int]) -> list[Shape]:
    """Return the visual and the collision shape of a geometry, as far as it is both."""
    name = solid.prim.GetName()
    found = []
    if solid.is_seen:
        rgba, looks = colour(solid.prim)
        found.append(Shape(body, "visual", solid.geometry, solid.pose, name, rgba, looks))
    if solid.collides:
        surface, density = physics_material(stage, solid.prim)
        found.append(
            Shape(
                body, "collision", solid.geometry, solid.pose, name,
                surface=surface, density=density, group=group[0], mask=group[1],
            )
        )  # fmt: skip
    return found


# --- one function a geometry: what it is in metres, and the turn from cardan's axes to USD's ------------------------

Made = tuple[Geometry, Matrix3] | None


def _cube(stage: Stage, prim: Any, posed: Posed) -> Made:
    size = non_negative(stage, prim, "size", 2.0)
    return Box([size * abs(s) for s in posed.scale]), Matrix3.identity()


def _sphere(stage: Stage, prim: Any, posed: Posed) -> Made:
    radius = non_negative(stage, prim, "radius", 1.0)
    radii = [radius * abs(s) for s in posed.scale]
    if max(radii) - min(radii) <= 1e-6 * max(radii):
        return Sphere(radii[0]), Matrix3.identity()
    return Ellipsoid(radii), Matrix3.identity()


def _round(
    kind: Callable[[float, float], Geometry], radius: float, height: float, stage: Stage, prim: Any, posed: Posed
) -> Made:
    """Return what is round about an axis; radius and height are those of one that does not say its own."""
    radius, height = _radius(stage, prim, radius), non_negative(stage, prim, "height", height)
    axis = AXES.index(token(stage, prim, "axis", ("Z", "X", "Y")))
    along = abs(posed.scale[axis])
    across = [abs(s) for k, s in enumerate(posed.scale) if k != axis]
    if abs(across[0] - across[1]) > 1e-6 * max(across):
        told = f"is scaled by {across[0]:g} and {across[1]:g} across its axis; it is read as round, with the larger"
        stage.report.remark(stage.where(prim), told)
    return kind(radius * max(across), height * along), _TURNS[AXES[axis]]


def _radius(stage: Stage, prim: Any, default: float) -> float:
    if not str(prim.GetTypeName()).endswith("_1"):
        return non_negative(stage, prim, "radius", default)
    ends = [non_negative(stage, prim, f"radius{end}", default) for end in ("Top", "Bottom")]
    if ends[0] != ends[1]:
        told = f"has two radii, {ends[0]:g} and {ends[1]:g}; it is read with the larger"
        stage.report.remark(stage.where(prim), told)
    return max(ends)


def _mesh(stage: Stage, prim: Any, posed: Posed) -> Made:
    return Mesh(f"{Path(stage.file).name}#{prim.GetPath()}", stage.mesh_file, posed.scale), Matrix3.identity()


_GEOMETRIES: dict[str, Callable[[Stage, Any, Posed], Made]] = {
    "Cube": _cube,
    "Sphere": _sphere,
    **dict.fromkeys(("Cylinder", "Cylinder_1"), partial(_round, Cylinder, 1.0, 2.0)),
    **dict.fromkeys(("Capsule", "Capsule_1"), partial(_round, Capsule, 0.5, 1.0)),
    "Mesh": _mesh,
    "Plane": lambda stage, prim, _: (Plane(), _TURNS[token(stage, prim, "axis", ("Z", "X", "Y"))]),
}
