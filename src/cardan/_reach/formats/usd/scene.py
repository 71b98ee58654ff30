"""What there is on a stage, by kind, each with the rigid body it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cardan._reach.formats.usd.stage import Stage
from cardan._reach.formats.usd.usd_package import pxr
from cardan._reach.formats.usd.values import flag

MAX_PRIMS = 100_000
JOINTS = (
    "PhysicsJoint",
    "PhysicsFixedJoint",
    "PhysicsRevoluteJoint",
    "PhysicsPrismaticJoint",
    "PhysicsSphericalJoint",
    "PhysicsDistanceJoint",
)
GEOMETRIES = ("Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Mesh", "Plane")
SITES = ("MjcSiteAPI", "NewtonSiteAPI")


@dataclass(slots=True)
class Scene:
    """Prims by kind.

    Attributes:
        prims: all that were visited.
        bodies: rigid bodies by path.
        owner: the path of the body each geometry or frame is on, "" for the world, by its path.
        joints: joints.
        geometries: what has a shape.
        frames: sites, and what has a pose and nothing in it.
        roots: roots of articulations.
        groups: collision groups.
        scenes: physics scenes.
    """

    prims: list[Any] = field(default_factory=list)
    bodies: dict[str, Any] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)
    joints: list[Any] = field(default_factory=list)
    geometries: list[Any] = field(default_factory=list)
    frames: list[Any] = field(default_factory=list)
    roots: list[Any] = field(default_factory=list)
    groups: list[Any] = field(default_factory=list)
    scenes: list[Any] = field(default_factory=list)

    def body_of(self, prim: Any) -> str:
        """Return the path of the rigid body a prim is, or is part of; "" for none."""
        while prim and not prim.IsPseudoRoot():
            path = str(prim.GetPath())
            if path in self.owner:
                return self.owner[path]
            prim = prim.GetParent()
        return ""


def survey(stage: Stage) -> Scene:
    """Return all that is defined, loaded and active on a stage, instances written out."""
    scene = Scene()
    for prim in _walk(stage):
        if len(scene.prims) >= MAX_PRIMS:
            stage.report.error(0, f"has more than {MAX_PRIMS} prims; no more are read")
            break
        scene.prims.append(prim)
        _sort(stage, scene, prim)
    return scene


def _walk(stage: Stage) -> Iterator[Any]:
    """Yield the prims; those within a point instancer are patterns, not things."""
    Usd = pxr().Usd
    prims = iter(Usd.PrimRange.Stage(stage.usd, Usd.TraverseInstanceProxies()))
    for prim in prims:
        if prim.GetTypeName() == "PointInstancer":
            prims.PruneChildren()
        yield prim


def schemas(prim: Any) -> list[str]:
    """Return the names of the schemas applied to a prim, whether OpenUSD knows them here or not."""
    listed = prim.GetPrimTypeInfo().GetAppliedAPISchemas()
    return [str(name) for name in listed]


def _sort(stage: Stage, scene: Scene, prim: Any) -> None:
    path, kind, applied = str(prim.GetPath()), str(prim.GetTypeName()), schemas(prim)
    above = scene.owner.get(str(prim.GetPath().GetParentPath()), "")
    if "PhysicsRigidBodyAPI" in applied:
        if not flag(prim, "physics:rigidBodyEnabled", True):
            stage.report.remark(stage.where(prim), "physics:rigidBodyEnabled is false: it is part of what is above it")
        else:
            scene.bodies[path] = prim
            above = path
    scene.owner[path] = above
    if "PhysicsArticulationRootAPI" in applied:
        scene.roots.append(prim)
    if kind in JOINTS:
        scene.joints.append(prim)
    elif any(site in applied for site in SITES) or (above not in ("", path) and _is_bare(prim, kind)):
        scene.frames.append(prim)
    elif kind in GEOMETRIES:
        scene.geometries.append(prim)
    elif kind == "PhysicsCollisionGroup":
        scene.groups.append(prim)
    elif kind == "PhysicsScene":
        scene.scenes.append(prim)


def _is_bare(prim: Any, kind: str) -> bool:
    """Return whether a prim is a pose and nothing else: how exporters write frames of tools and sensors."""
    return kind in ("Xform", "Camera") and not prim.GetAllChildrenNames()
