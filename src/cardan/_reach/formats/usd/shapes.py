"""Geometries of USD as shapes on bodies, scaled to metres.

A prim that collides is seen, too, unless it is hidden, is a guide or a proxy. What scales a round thing differently
across its axis counts with the larger factor, as in UsdPhysics; only a sphere becomes an ellipsoid, which it then is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import CardanError, ParameterError
from cardan._algebra.spatial import SE3, Inertia, Matrix3, Scalar, Symmetric3, Vector3
from cardan._reach.formats.reading import Options
from cardan._reach.formats.report import Report, finite
from cardan._reach.formats.source import Source
from cardan._reach.formats.usd import values
from cardan._reach.formats.usd.stage import Posed, Stage, opened, pxr
from cardan._robot.geometry.mesh import integrals_of_triangles
from cardan._robot.geometry.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from cardan._robot.geometry.triangles import is_closed
from cardan._robot.records import Material

# --- materials bound to geometries: what contact feels, and colours ---
#
# A binding for physics goes before one for all purposes. OpenUSD finds it: at the prim, above it, or by a collection.

Colour = tuple[float, float, float, float] | None


def physics_material(stage: Stage, prim: Any) -> tuple[Material | None, float | None]:
    """Return the surface of a geometry and the density of its matter [kg/m^3]; None for what is not said."""
    bound = _bound(prim, "physics")
    if bound is None or "PhysicsMaterialAPI" not in values.schemas(bound):
        return None, None
    static, dynamic = (values.non_negative(stage, bound, f"physics:{k}Friction", 0.0) for k in ("static", "dynamic"))
    if values.authored(bound, "physics:staticFriction") and static != dynamic:
        told = f"physics:staticFriction is {static:g}; cardan has one coefficient, the dynamic one, {dynamic:g}"
        stage.remark(bound, told)
    restitution = values.non_negative(stage, bound, "physics:restitution", 0.0)
    if restitution > 1.0:
        stage.error(bound, f"physics:restitution is {restitution:g}, expected a number in [0, 1]")
        restitution = 1.0
    density = values.number(stage, bound, "physics:density", 0.0) * stage.mass / stage.length**3
    return Material(friction=dynamic, restitution=restitution), density if density > 0.0 else None


def _bound(prim: Any, purpose: str = "") -> Any | None:
    """Return the material of a prim for a purpose; one for all purposes counts where there is none."""
    material, _ = pxr().UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial(purpose)
    return material.GetPrim() if material else None


def colour(prim: Any) -> tuple[Colour, str]:
    bound = _bound(prim)
    name = bound.GetName() if bound is not None else ""
    shown = _first(prim, "primvars:displayColor")
    if not shown and bound is not None:
        return _of_shader(bound), name
    return _rgba(shown, _first(prim, "primvars:displayOpacity")), name


def _first(prim: Any, name: str) -> list[float]:
    found = values.value(prim, name)
    return values.numbers_of(found[0]) if hasattr(found, "__getitem__") and len(found) else []


def _of_shader(material: Any) -> Colour:
    for shader in material.GetChildren():
        diffuse = values.numbers_of(values.value(shader, "inputs:diffuseColor"))
        if diffuse:
            return _rgba(diffuse, values.numbers_of(values.value(shader, "inputs:opacity")))
    return None


def _rgba(rgb: list[float], opacity: list[float]) -> Colour:
    """Return a colour within what can be shown; None for what is none. What is opaque need not say so."""
    numbers = [*rgb, *(opacity or [1.0])]
    if len(rgb) != 3 or len(numbers) != 4 or any(map(math.isnan, numbers)):
        return None
    r, g, b, a = (min(max(e, 0.0), 1.0) for e in numbers)
    return r, g, b, a


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


def read_solid(stage: Stage, scene: values.Scene, prim: Any) -> Solid | None:
    posed, body = stage.pose(prim), scene.body_of(prim)
    owner = stage.pose(scene.bodies[body]) if body else None
    collides = "PhysicsCollisionAPI" in values.schemas(prim) and values.flag(prim, "physics:collisionEnabled", True)
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
    seen, purpose = pxr().UsdGeom.Imageable(prim), ("default", "render")
    is_seen = seen.ComputeVisibility() != "invisible" and seen.ComputePurpose() in purpose
    is_seen = is_seen and not (collides and isinstance(geometry, Plane))
    return Solid(prim, body, geometry, pose @ SE3(turn), collides, is_seen)


def shapes_of(stage: Stage, solid: Solid, body: str, group: tuple[int, int]) -> list[Shape]:
    name = values.called(solid.prim)
    found = []
    if solid.is_seen:
        rgba, looks = colour(solid.prim)
        found.append(Shape(body, "visual", solid.geometry, solid.pose, name, rgba, looks))
    if solid.collides:
        surface, density = physics_material(stage, solid.prim)
        contact: dict[str, Any] = {"surface": surface, "density": density, "group": group[0], "mask": group[1]}
        found.append(Shape(body, "collision", solid.geometry, solid.pose, name, **contact))
    return found


# --- one function a geometry: what it is in metres, and the turn from cardan's axes to USD's ------------------------

Made = tuple[Geometry, Matrix3] | None


def _cube(stage: Stage, prim: Any, posed: Posed) -> Made:
    size = values.non_negative(stage, prim, "size", 2.0)
    return Box([size * abs(s) for s in posed.scale]), Matrix3.identity()


def _sphere(stage: Stage, prim: Any, posed: Posed) -> Made:
    radius = values.non_negative(stage, prim, "radius", 1.0)
    radii = [radius * abs(s) for s in posed.scale]
    if max(radii) - min(radii) <= 1e-6 * max(radii):
        return Sphere(radii[0]), Matrix3.identity()
    return Ellipsoid(radii), Matrix3.identity()


def _round(
    kind: Callable[[float, float], Geometry], radius: float, height: float, stage: Stage, prim: Any, posed: Posed
) -> Made:
    """Return what is round about an axis; radius and height are those of one that does not say its own."""
    radius, height = _radius(stage, prim, radius), values.non_negative(stage, prim, "height", height)
    axis = AXES.index(values.token(stage, prim, "axis", ("Z", "X", "Y")))
    along = abs(posed.scale[axis])
    across = [abs(s) for k, s in enumerate(posed.scale) if k != axis]
    if abs(across[0] - across[1]) > 1e-6 * max(across):
        told = f"is scaled by {across[0]:g} and {across[1]:g} across its axis; it is read as round, with the larger"
        stage.warn(prim, told)
    return kind(radius * max(across), height * along), _TURNS[AXES[axis]]


def _radius(stage: Stage, prim: Any, default: float) -> float:
    if not str(prim.GetTypeName()).endswith("_1"):
        return values.non_negative(stage, prim, "radius", default)
    ends = [values.non_negative(stage, prim, f"radius{end}", default) for end in ("Top", "Bottom")]
    if ends[0] != ends[1]:
        stage.warn(prim, f"has two radii, {ends[0]:g} and {ends[1]:g}; it is read with the larger")
    return max(ends)


_GEOMETRIES: dict[str, Callable[[Stage, Any, Posed], Made]] = {
    "Cube": _cube,
    "Sphere": _sphere,
    **dict.fromkeys(("Cylinder", "Cylinder_1"), partial(_round, Cylinder, 1.0, 2.0)),
    **dict.fromkeys(("Capsule", "Capsule_1"), partial(_round, Capsule, 0.5, 1.0)),
    "Cone": partial(_round, Cone, 1.0, 2.0),
    "Mesh": lambda stage, prim, posed: (
        Mesh(f"{Path(stage.file).name}#{prim.GetPath()}", stage.mesh_file, posed.scale),
        Matrix3.identity(),
    ),
    "Plane": lambda stage, prim, _: (Plane(), _TURNS[values.token(stage, prim, "axis", ("Z", "X", "Y"))]),
}

# --- meshes of USD: their triangles, and the inertia of what they enclose ---

_HULLS = ("convexHull", "boundingCube", "boundingSphere", "convexDecomposition")


def triangles_of(points: np.ndarray, counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the corners of triangles, shape (n, 3), fanned out of polygons.

    Points have the shape (m, 3), `counts` are those of each polygon's corners, and `corners` say which point each is.
    """
    if len(corners) != counts.sum() or (counts < 3).any():
        expected = "the sum of faceVertexCounts, each at least 3"
        raise ParameterError("faceVertexIndices", got=f"{len(corners)} of them", expected=expected)
    if len(corners) and not (corners.min() >= 0 and corners.max() < len(points)):
        raise ParameterError("faceVertexIndices", got="one that is no point", expected=f"0 to {len(points) - 1}")
    fans = counts - 2
    starts = np.repeat(np.cumsum(counts) - counts, fans)
    steps = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    return np.stack([corners[starts], corners[starts + steps + 1], corners[starts + steps + 2]], axis=1)


def surface(prim: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return points, shape (m, 3), in the mesh's own units, and triangles, shape (n, 3), of a mesh."""
    points = values.array(prim, "points", 3)
    counts, corners = (values.array(prim, f"faceVertex{k}") for k in ("Counts", "Indices"))
    if points is None or counts is None or corners is None or not len(counts):
        expected = "finite points, faceVertexCounts and faceVertexIndices"
        raise ParameterError("mesh", got="no surface", expected=expected)
    return points, triangles_of(points, counts.astype(int), corners.astype(int))


def mesh_inertia(stage: Stage, prim: Any, scale: Sequence[float]) -> Inertia:
    """Return the inertia at density 1 of what a mesh encloses, in its axes [m]; it must be closed."""
    points, triangles = surface(prim)
    if not is_closed(points, triangles):
        raise ParameterError("mesh", got="a surface that leaves the inside open", expected="a closed one, or a mass")
    hull = str(values.value(prim, "physics:approximation"))
    if hull in _HULLS:
        stage.remark(prim, f"physics:approximation is {hull!r}; its mass is computed from the mesh itself")
    return integrals_of_triangles(points[triangles] * np.array(scale), f"mesh {prim.GetPath()}")


def surface_of_usd(uri: str, file: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of a mesh of a file of USD, in its own units; the prim's path stands behind `#`."""
    path, report = uri.partition("#")[2], Report(file)
    with opened(Source.of(file), Options(), report) as stage:
        report.stop()
        prim = stage.usd.GetPrimAtPath(path) if stage is not None and path.startswith("/") else None
        if not prim or prim.GetTypeName() != "Mesh":
            raise ParameterError(f"mesh {uri!r}", got=f"no Mesh at {path!r}", expected=f"the path of one in {file}")
        return surface(prim)


# --- mass, centre of mass and inertia of a rigid body, by the precedence of UsdPhysics' MassAPI ---
#
# What the body says itself counts: mass before density, centre and inertia each for themselves. What it leaves out is
# computed from its colliders. Each has its own mass, or else a density: its own, the body's, its material's, or
# 1000 kg/m^3; and its own centre and inertia, where it states them. If the body has a mass, theirs is scaled to it.
#
# Source: UsdPhysics, "Mass properties" (openusd.org, rigid body physics proposal), and its ComputeMassProperties.

TINY = 1e-30  # written as the mass of what has moments without one, since 0 is not said [kg]
WATER = 1000.0  # density where nothing says it [kg/m^3], as in UsdPhysics
BALL = 0.1  # radius of what has a mass and no inertia [m], as in its ComputeMassProperties


def body_inertia(stage: Stage, body: Any, posed: Posed, solids: Sequence[Solid]) -> Inertia | None:
    """Return the inertia of a body in its axes, of itself and what collides of it; None where nothing says it.

    A mass of 0 means in USD that it is not said, so that the writer says otherwise that there is none.
    """
    mass = _positive(stage, body, "physics:mass") * stage.mass
    centre, tensor = _centre(stage, body, posed), _tensor(stage, body)
    if values.flag(body, "cardan:massless", False) and mass < 2.0 * TINY * stage.mass:  # an edit of the mass counts
        return None if tensor is None else _checked(stage, body, Inertia(0.0, (0.0, 0.0, 0.0), tensor))
    if mass > 0.0 and centre is not None and tensor is not None:
        return _checked(stage, body, Inertia(mass, centre, tensor))
    density = _positive(stage, body, "physics:density") * stage.mass / stage.length**3
    matter = Inertia.zero()
    for solid in solids:
        if not isinstance(solid.geometry, Plane):
            with stage.report.blamed(stage.where(solid.prim)):
                matter = matter + _of_solid(stage, posed, solid, density)
    if mass == 0.0 and matter.mass == 0.0:
        stage.doubt(body, "has no mass, and no collider of which a mass could be computed")
        return None
    if matter.mass > 0.0 and mass > 0.0:
        matter = Inertia.from_parameters([mass / matter.mass * e for e in matter.parameters()])
    elif matter.mass == 0.0 and tensor is None:
        told = "has a mass, but no physics:diagonalInertia, nor a collider of which it could be computed"
        stage.doubt(body, f"{told}: it is that of a ball of {BALL:g} m, as OpenUSD has it")
        tensor = Symmetric3.isotropic(0.4 * mass * BALL**2)
    return _checked(stage, body, _restated(mass or matter.mass, centre, tensor, matter))


def _restated(mass: Scalar, centre: Vector3 | None, tensor: Symmetric3 | None, matter: Inertia) -> Inertia:
    """Return the inertia of what states some of it. A centre alone is a point about which the matter is not moved."""
    if centre is None:
        centre = matter.com
    elif tensor is None:
        tensor = matter.inertia_at_com + Symmetric3.point(centre - matter.com) * matter.mass
    return Inertia(mass, centre, matter.inertia_at_com if tensor is None else tensor)


def _checked(stage: Stage, body: Any, inertia: Inertia) -> Inertia | None:
    if found := finite(stage.report, stage.where(body), inertia):
        with np.errstate(over="ignore", invalid="ignore"):
            faults = inertia.faults(1e-5)  # diagonals are float32
        for fault in faults:
            stage.doubt(body, fault)
    return found


def _positive(stage: Stage, prim: Any, name: str) -> float:
    """Return a number that means something if it is positive, or 0; negative ones are errors."""
    found = values.number(stage, prim, name, 0.0)
    if found < 0.0:
        stage.error(prim, f"{name} is {found:g}, expected a number > 0, or 0 to have it computed")
    return max(found, 0.0)


def _centre(stage: Stage, body: Any, posed: Posed) -> Vector3 | None:
    """Return the centre of mass in body axes; None where it is to be computed, which is written as -inf."""
    name = "physics:centerOfMass"
    if not values.authored(body, name) or values.numbers_of(values.value(body, name)) == [-math.inf] * 3:
        return None
    local = values.vector(stage, body, name, (0.0, 0.0, 0.0))
    return Vector3(*(float(e) for e in posed.stretch @ np.array(local)))


def _tensor(stage: Stage, body: Any) -> Symmetric3 | None:
    """Return the inertia about the centre of mass in body axes; None where it is to be computed, written as 0."""
    unit, six = stage.mass * stage.length**2, values.array(body, "newton:inertia")
    if "NewtonMassAPI" in values.schemas(body) and values.authored(body, "newton:inertia"):
        if six is not None and len(six) == 6:
            return Symmetric3([unit * float(six[k]) for k in (0, 3, 4, 1, 5, 2)])
        stage.error(body, "newton:inertia: expected six finite numbers, xx, yy, zz, xy, xz and yz")
    moments = values.vector(stage, body, "physics:diagonalInertia", (0.0, 0.0, 0.0))
    if not any(moments):
        if values.authored(body, "physics:principalAxes"):
            stage.remark(body, "physics:principalAxes has no effect: there is no physics:diagonalInertia to turn")
        return None
    if all(e == values.number(stage, body, "cardan:point", 0.0) for e in moments):
        return Symmetric3.isotropic(0.0)
    given = values.value(body, "physics:principalAxes")
    is_zero = not any((getattr(given, "real", 1.0), *getattr(given, "imaginary", ())))  # that means it is not said
    R = Matrix3.identity() if is_zero else values.rotation(stage, body, "physics:principalAxes")
    return Symmetric3.of(Matrix3.diagonal(*(unit * e for e in moments))).rotated(R)


def _of_solid(stage: Stage, posed: Posed, solid: Solid, density: float) -> Inertia:
    own_mass = _positive(stage, solid.prim, "physics:mass") * stage.mass
    own = _positive(stage, solid.prim, "physics:density") * stage.mass / stage.length**3
    unit = _of_density_1(stage, solid)
    if unit is None or unit.mass <= 0.0:
        return Inertia.zero()
    if values.value(solid.prim, "newton:massModel") == "shell" or values.flag(solid.prim, "mjc:shellinertia", False):
        stage.doubt(solid.prim, "newton:massModel or mjc:shellinertia makes it a shell; it is weighed as a solid")
    rho = own_mass / unit.mass if own_mass else own or density or physics_material(stage, solid.prim)[1] or WATER
    matter, own_axes = Inertia.from_parameters([rho * e for e in unit.parameters()]), stage.pose(solid.prim)
    if own_axes is None:
        return Inertia.zero()
    at = posed.pose.inverse() @ own_axes.pose
    centre, tensor = _centre(stage, solid.prim, own_axes), _tensor(stage, solid.prim)
    if centre is None and tensor is None:
        return solid.pose @ matter
    return at @ _restated(matter.mass, centre, tensor, at.inverse() @ solid.pose @ matter)


def _of_density_1(stage: Stage, solid: Solid) -> Inertia | None:
    if not isinstance(solid.geometry, Mesh):
        return solid.geometry.inertia(1.0)
    try:
        return mesh_inertia(stage, solid.prim, solid.geometry.scale)
    except CardanError as error:
        stage.doubt(solid.prim, f"its mass cannot be computed and is left out: {error}")
        return None
