"""Values of attributes, of the type they must have and finite; faults go to the report with the prim's path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import Matrix3
from cardan._algebra.spatial.rotations import matrix_from_quaternion_xyzw
from cardan._reach.formats.usd.stage import Stage, pxr

FAR = 1e30  # what is beyond means infinite: exporters write the largest float32


def authored(prim: Any, name: str) -> bool:
    attribute = prim.GetAttribute(name)
    return bool(attribute) and attribute.HasAuthoredValue()


def value(prim: Any, name: str) -> Any:
    """Return the value of an attribute, that of its schema if it has none of its own, or None.

    What rounds to it and stands behind `cardan:` is meant: the writer says so in double what USD has in single.
    """
    attribute, exactly = prim.GetAttribute(name), prim.GetAttribute(f"cardan:{name}")
    found = attribute.Get() if attribute else None
    return exactly.Get() if exactly and _rounds(exactly.Get(), found) else found


def called(prim: Any) -> str:
    """Return the name of a prim, which the writer says apart where names of USD cannot have it."""
    found = value(prim, "cardan:name")
    return str(prim.GetName() if found is None else found)


def _rounds(exactly: Any, found: Any) -> bool:
    """Return whether a value in double is the one found, in single precision."""
    if isinstance(found, float):
        with np.errstate(over="ignore"):
            return isinstance(exactly, float) and float(np.float32(exactly)) == found
    try:
        return bool(type(found)(exactly) == found)
    except Exception:  # Boost.Python's own class of errors, of a value of another kind
        return False


def numbers_of(found: Any) -> list[float]:
    """Return the numbers of a value that is a sequence of them, or is one; of any other none."""
    try:
        return [float(e) for e in found] if hasattr(found, "__getitem__") else [float(found)]
    except (TypeError, ValueError):
        return []


def number(stage: Stage, prim: Any, name: str, default: float, *, infinite: bool = False) -> float:
    """Return a number of an attribute; with `infinite` it may be."""
    found = value(prim, name)
    if found is None:
        return default
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return _wrong(stage, prim, name, found, "a number", default)
    if math.isnan(found) or not (infinite or math.isfinite(found)):
        return _wrong(stage, prim, name, found, "a finite number", default)
    return math.copysign(math.inf, found) if infinite and abs(found) > FAR else float(found)


def non_negative(stage: Stage, prim: Any, name: str, default: float) -> float:
    found = number(stage, prim, name, default)
    return found if found >= 0.0 else _wrong(stage, prim, name, found, "a number >= 0", default)


def vector(stage: Stage, prim: Any, name: str, default: Sequence[float]) -> tuple[float, ...]:
    found = value(prim, name)
    if found is None:
        return tuple(default)
    numbers = tuple(numbers_of(found))
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        return _wrong(stage, prim, name, numbers or found, "three finite numbers", tuple(default))
    return numbers


def rotation(stage: Stage, prim: Any, name: str) -> Matrix3:
    """Return the rotation of a quaternion; the identity for none."""
    found = value(prim, name)
    if found is None:
        return Matrix3.identity()
    try:
        q = (*map(float, found.imaginary), float(found.real))
    except AttributeError:
        return _wrong(stage, prim, name, found, "a quaternion", Matrix3.identity())
    norm = math.hypot(*q)
    if not 1e-6 < norm < 1e6:
        return _wrong(stage, prim, name, found, "a quaternion of length 1", Matrix3.identity())
    if abs(norm - 1.0) > 0.01:
        stage.remark(prim, f"{name} has the length {norm:.3g}; it is read as of length 1")
    return matrix_from_quaternion_xyzw([e / norm for e in q])


def token(stage: Stage, prim: Any, name: str, words: Sequence[str]) -> str:
    found = value(prim, name)
    if found is None:
        return words[0]
    expected = " or ".join(map(repr, words))
    return found if isinstance(found, str) and found in words else _wrong(stage, prim, name, found, expected, words[0])


def flag(prim: Any, name: str, default: bool) -> bool:
    found = value(prim, name)
    return default if found is None else bool(found)


def targets(prim: Any, name: str) -> list[Any]:
    relationship = prim.GetRelationship(name)
    return list(relationship.GetTargets()) if relationship else []


def array(prim: Any, name: str, columns: int = 1) -> np.ndarray | None:
    """Return an array of finite numbers, shape (n, columns) or (n,); None where it is none."""
    found = value(prim, name)
    try:
        numbers = np.array(found, dtype=float).reshape((-1, columns) if columns > 1 else (-1,))
    except (TypeError, ValueError):
        return None
    return numbers if found is not None and np.isfinite(numbers).all() else None


def _wrong(stage: Stage, prim: Any, name: str, got: Any, expected: str, instead: Any) -> Any:
    stage.error(prim, f"{name}: got {quoted(got)}, expected {expected}")
    return instead


# --- what there is on a stage, by kind, each with the rigid body it belongs to ---

MAX_PRIMS = 100_000
_WITH_AXIS = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
JOINTS = ("PhysicsJoint", "PhysicsFixedJoint", *_WITH_AXIS, "PhysicsSphericalJoint", "PhysicsDistanceJoint")
GEOMETRIES = ("Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Mesh", "Plane")
SITES = ("MjcSiteAPI", "NewtonSiteAPI")


@dataclass(slots=True)
class Scene:
    prims: list[Any] = field(default_factory=list)  # all that were visited
    bodies: dict[str, Any] = field(default_factory=dict)  # rigid ones, by path
    owner: dict[str, str] = field(default_factory=dict)  # path of a geometry or frame -> of its body, "" for the world
    joints: list[Any] = field(default_factory=list)
    geometries: list[Any] = field(default_factory=list)
    frames: list[Any] = field(default_factory=list)  # sites, and what has a pose and nothing in it
    roots: list[Any] = field(default_factory=list)  # of articulations
    groups: list[Any] = field(default_factory=list)  # of what collides
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
    return list(map(str, prim.GetPrimTypeInfo().GetAppliedAPISchemas()))


def _sort(stage: Stage, scene: Scene, prim: Any) -> None:
    path, kind, applied = str(prim.GetPath()), str(prim.GetTypeName()), schemas(prim)
    above = scene.owner.get(str(prim.GetPath().GetParentPath()), "")
    # A pose and nothing else: so exporters write frames of tools and sensors.
    is_bare = kind in ("Xform", "Camera") and not prim.GetAllChildrenNames()
    if "PhysicsRigidBodyAPI" in applied:
        if not flag(prim, "physics:rigidBodyEnabled", True):
            stage.remark(prim, "physics:rigidBodyEnabled is false: it is part of what is above it")
        else:
            scene.bodies[path] = prim
            above = path
    scene.owner[path] = above
    if "PhysicsArticulationRootAPI" in applied:
        scene.roots.append(prim)
    if kind in JOINTS:
        scene.joints.append(prim)
    elif any(site in applied for site in SITES) or (is_bare and above not in ("", path)):
        scene.frames.append(prim)
    elif kind in GEOMETRIES:
        scene.geometries.append(prim)
    elif kind == "PhysicsCollisionGroup":
        scene.groups.append(prim)
    elif kind == "PhysicsScene":
        scene.scenes.append(prim)
        stage.mujoco_angle = 1.0 if value(prim, "mjc:compiler:angle") == "radian" else stage.mujoco_angle
