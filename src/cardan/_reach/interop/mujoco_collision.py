"""Shapes as MuJoCo's geoms, without mass: bodies have their inertia already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from cardan._algebra.errors import UnsupportedError
from cardan._algebra.spatial import SE3
from cardan._reach.interop.mujoco_joints import LIBRARY, placed
from cardan._robot.description.editing import Parts, components
from cardan._robot.geometry import shapes as G
from cardan._robot.geometry.mesh import surface_of_file
from cardan._robot.geometry.touching import MAX_CLASSES, both_ways, groups_and_masks
from cardan._robot.model import Model
from cardan._robot.records import WORLD, Material

SIZES: dict[type[Any], tuple[str, Callable[[Any], list[float]], Callable[[list[float]], Any]]] = {
    G.Box: ("BOX", lambda g: [0.5 * side for side in g.size], lambda size: G.Box([2.0 * half for half in size])),
    G.Sphere: ("SPHERE", lambda g: [g.radius, 0.0, 0.0], lambda size: G.Sphere(size[0])),
    G.Ellipsoid: ("ELLIPSOID", lambda g: list(g.radii), G.Ellipsoid),
    G.Cylinder: (
        "CYLINDER",
        lambda g: [g.radius, 0.5 * g.length, 0.0],
        lambda size: G.Cylinder(size[0], 2.0 * size[1]),
    ),
    G.Capsule: ("CAPSULE", lambda g: [g.radius, 0.5 * g.length, 0.0], lambda size: G.Capsule(size[0], 2.0 * size[1])),
    G.Plane: ("PLANE", lambda g: [0.0, 0.0, 1.0], lambda _: G.Plane()),
}
"""The type of each geometry there, its half sizes, and what is made of these."""
OF_SIZES = {kind: made for kind, _, made in SIZES.values()}

SIDES = 64
"""Of the hull that a cone is there, which is up to 0.12 % of the radius within it."""

GROUNDS = (G.Plane, G.HeightField)  # between which MuJoCo finds no contact
Solid = tuple[str, G.Geometry, SE3]  # a shape: its body, what it is, X_body_shape
READ_THERE = (".stl", ".obj", ".msh")  # files of meshes MuJoCo reads
LEAVE_OUT = "leave it out: shapes=False, or shapes=[...] of others"

HULL_ERROR = ":error="  # what comes before the error [m] of a hull in the name of its mesh in a file
APART = "self_collision"  # how names of excludes begin that keep apart what is of one robot
VISUAL, COLLISION = 2, 3  # groups by which MuJoCo's viewer shows or hides geoms


def add_shapes(mj: Any, spec: Any, bodies: dict[str, Any], shapes: Sequence[G.Shape]) -> list[str]:
    """Add geoms that touch nothing to bodies, and return their names: the shapes' own, or `body:0`, `body:1`, ..."""
    assets: dict[Any, str] = {}
    names = geom_names(shapes)
    for name, shape in zip(names, shapes, strict=True):
        geom = bodies[shape.body].add_geom(name=name, mass=0.0, contype=0, conaffinity=0, **placed(shape.pose))
        geom.group = VISUAL if shape.role == "visual" else COLLISION
        if shape.surface_velocity is not None:
            geom.surfacevel = list(shape.surface_velocity)
        if shape.rgba is not None:
            geom.rgba = list(shape.rgba)
        set_geometry(mj, spec, geom, shape, assets)
    return names


def geom_names(shapes: Sequence[G.Shape]) -> list[str]:
    """Return a name for each shape; one that several have is kept by the first."""
    taken, count, names = {shape.name for shape in shapes}, Counter(), []
    for shape in shapes:
        name = shape.name
        while not name or (name in names):
            name = f"{shape.body}:{count[shape.body]}"
            count[shape.body] += 1
            name = "" if name in taken else name
        names.append(name)
    return names


def set_groups(spec: Any, names: Sequence[str], shapes: Sequence[G.Shape]) -> None:
    """Let shapes for collision touch by their groups and masks. MuJoCo gives a contact the larger friction of two."""
    solid = [(name, shape) for name, shape in zip(names, shapes, strict=True) if shape.role == "collision"]
    # MuJoCo asks groups and masks one way, cardan both.
    classes = sorted({(shape.group, shape.mask) for _, shape in solid})
    bits = groups_and_masks(classes, both_ways)
    if len(classes) > MAX_CLASSES and any(a != b for a, b in bits.items()):
        what = f"groups and masks of {len(classes)} kinds, of which one lets touch and the other does not"
        raise UnsupportedError(what, LIBRARY, "hand it a world, which lists its pairs, or make both masks agree")
    for name, shape in solid:
        surface, geom = shape.surface or Material(), spec.geom(name)
        # MuJoCo keeps 32 bits as a number with a sign.
        geom.contype, geom.conaffinity = (b - 2**32 if b >= 2**31 else b for b in bits[shape.group, shape.mask])
        if surface.anisotropy != 1.0:
            what = f"friction of two coefficients of shape {name!r}"
            raise UnsupportedError(what, LIBRARY, "give it to a pair (Mechanism.set_contact)")
        condim, friction = _friction(surface, f"shape {name!r}")
        # a geom of 1 takes the friction of what it touches
        geom.condim = 3 if surface.friction == 0.0 else condim
        geom.margin, geom.priority = shape.margin, surface.priority
        geom.friction = [friction[0], friction[2], friction[3]]


def keep_apart(spec: Any, model: Model, shapes: Iterable[G.Shape]) -> None:
    """Exclude what MuJoCo would let touch: two bodies of one articulation whose description has no self-collision.

    It leaves out itself what is fixed together, and a body with the one that carries it.
    """
    solid = {shape.body for shape in shapes if shape.role == "collision"}
    parts = Parts(model.bodies, (*model.connections, *model.closures), model.frames, model.annotations)
    said, node = {frozenset(pair) for pair in model.disabled_contacts}, model.attachments
    carrier = {n.index: n.parent for n in model.nodes}
    for bodies, _ in components(parts):
        for one, other in combinations([b for b in bodies if b in solid], 2):
            i, j = sorted((node[one].node, node[other].node))
            left_out = i == j or (i >= 0 and carrier[j] == i)
            if not left_out and frozenset((one, other)) not in said:
                name = f"{APART}:{len(spec.excludes)}"
                spec.add_exclude(name=name, bodyname1=one, bodyname2=other)


def ends_of(pair: Any) -> tuple[Solid, Solid]:
    return (pair.a, pair.shape_a, pair.pose_a), (pair.b, pair.shape_b, pair.pose_b)


def add_pairs(mj: Any, spec: Any, names: Sequence[str], shapes: Sequence[G.Shape], pairs: Iterable[Any]) -> None:
    """List what touches what, each pair with its own material."""
    geoms = {(s.body, s.geometry, s.pose): name for name, s in zip(names, shapes, strict=True) if s.role == "collision"}
    for pair in pairs:
        condim, friction = _friction(pair.material, f"contact pair {pair.name!r}")
        check_ends(pair.name, pair.shape_a, pair.shape_b)
        geom1, geom2 = (geoms[end] for end in ends_of(pair))
        spec.add_pair(geomname1=geom1, geomname2=geom2, condim=condim, friction=friction, margin=pair.margin)


def add_surfaces(spec: Any, names: Sequence[str], shapes: Sequence[G.Shape], surfaces: Iterable[Any]) -> None:
    """List contacts with a surface of their own; of several for one pair of shapes the last counts."""
    solid = [(name, shape) for name, shape in zip(names, shapes, strict=True) if shape.role == "collision"]
    found: dict[frozenset[str], tuple[G.Shape, G.Shape, Any]] = {}
    for own in surfaces:
        sides = zip((own.a, own.b), own.shapes, strict=True)
        chosen = [[(n, s) for n, s in solid if s.body == body and called in ("", s.name)] for body, called in sides]
        for (one, a), (other, b) in product(*chosen):
            found[frozenset((one, other))] = a, b, own
    for both, (a, b, own) in found.items():
        one, other = sorted(both)
        check_ends(f"{one}/{other}", a.geometry, b.geometry)
        condim, friction = _friction(own.material, f"contact of {own.a!r} and {own.b!r}")
        margin = a.margin + b.margin if own.margin is None else own.margin
        spec.add_pair(geomname1=one, geomname2=other, condim=condim, friction=friction, margin=margin)


def check_ends(name: str, a: G.Geometry, b: G.Geometry) -> None:
    """Raise `UnsupportedError` for two grounds: MuJoCo finds no contact of them, and does not say so."""
    if isinstance(a, GROUNDS) and isinstance(b, GROUNDS):
        what = f"contact pair {name!r}, a {type(a).__name__} and a {type(b).__name__}"
        instead = "let their groups and masks not touch, or make one of them a Box or a Mesh"
        raise UnsupportedError(what, LIBRARY, instead)


def check_grounds(shapes: Iterable[G.Shape], node_of: Callable[[str], int]) -> None:
    """Raise `UnsupportedError` where two grounds that move against one another may touch by groups and masks."""
    grounds = [s for s in shapes if s.role == "collision" and isinstance(s.geometry, GROUNDS)]
    for one, other in combinations(grounds, 2):
        if node_of(one.body) != node_of(other.body) and one.may_touch(other):
            check_ends(f"{one.name or one.body}/{other.name or other.body}", one.geometry, other.geometry)


def _friction(surface: Material, owner: str) -> tuple[int, list[float]]:
    """Return the dimension of a contact's force, and its friction's coefficients: two across, of spin, two of rolling.

    Moments are at most the radius times the normal force, there and here; without friction there are none.
    """
    if surface.restitution > 0.0:
        raise UnsupportedError(f"the restitution of {owner}", LIBRARY, "make it 0")
    mu, spin, roll = surface.friction or 0.0, surface.torsional, surface.rolling
    condim = 1 if not mu else 6 if roll else 4 if spin else 3
    return condim, [mu, mu * surface.anisotropy, spin, roll, roll]


def as_there(geometry: G.Geometry) -> G.Geometry:
    """Return a geometry that MuJoCo has: it has no cones."""
    return G.Hull.cone(geometry.radius, geometry.length, SIDES) if isinstance(geometry, G.Cone) else geometry


def set_geometry(mj: Any, spec: Any, geom: Any, shape: G.Shape, assets: dict[Any, str]) -> None:
    """Give a geom a shape's geometry; meshes and height fields are added once, under the names in `assets`."""
    geometry = as_there(shape.geometry)
    if isinstance(geometry, G.Mesh):
        key = geometry.uri, geometry.path, tuple(geometry.scale)
        if key not in assets:
            assets[key] = f"mesh{len(assets)}"
            _add_mesh(mj, spec, assets[key], geometry)
        geom.type, geom.meshname = mj.mjtGeom.mjGEOM_MESH, assets[key]
        return
    if isinstance(geometry, G.Hull):
        if geometry not in assets:  # MuJoCo makes the hull of vertices without faces
            assets[geometry] = f"hull{len(assets)}"
            spec.add_mesh(name=assets[geometry], uservert=[e for vertex in geometry.vertices for e in vertex])
        geom.type, geom.meshname = mj.mjtGeom.mjGEOM_MESH, assets[geometry]
        return
    if isinstance(geometry, G.HeightField):
        _set_field(mj, spec, geom, geometry, assets)
        return
    if isinstance(geometry, G.Plane) and shape.body != WORLD:
        raise UnsupportedError(f"a plane on the moving body {shape.body!r}", LIBRARY, LEAVE_OUT)
    if type(geometry) not in SIZES:
        raise UnsupportedError(f"a {type(geometry).__name__}, the shape of body {shape.body!r}", LIBRARY, LEAVE_OUT)
    kind, size, _ = SIZES[type(geometry)]
    geom.type, geom.size = getattr(mj.mjtGeom, f"mjGEOM_{kind}"), size(geometry)


def _set_field(mj: Any, spec: Any, geom: Any, field: G.HeightField, assets: dict[Any, str]) -> None:
    """Give a geom a height field. MuJoCo keeps heights from 0 to 1 in single precision, the lowest at the geom's z = 0.

    Source: MuJoCo documentation, "XML reference: asset/hfield".
    """
    if field not in assets:
        assets[field] = f"heights{len(assets)}"
        lowest = field.lowest
        relief = field.relief or 1.0  # of level ground: its heights are 0 there, whatever they are multiplied by
        shares = [(height - lowest) / relief for row in field.heights for height in row]
        size = [0.5 * field.size[0], 0.5 * field.size[1], relief, field.thickness]
        counts = {"nrow": len(field.heights), "ncol": len(field.heights[0])}
        spec.add_hfield(name=assets[field], size=size, userdata=shares, **counts)
    up = np.zeros(3)
    mj.mju_rotVecQuat(up, np.array([0.0, 0.0, field.lowest]), np.array(geom.quat, dtype=float))
    geom.type, geom.hfieldname, geom.pos = mj.mjtGeom.mjGEOM_HFIELD, assets[field], geom.pos + up


def _add_mesh(mj: Any, spec: Any, name: str, geometry: G.Mesh) -> None:
    mesh = spec.add_mesh(name=name, scale=list(geometry.scale), inertia=mj.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    path = Path(geometry.path or geometry.uri)
    if path.is_file() and path.suffix.lower() in READ_THERE:
        mesh.file = str(path.resolve())
        return
    surface = surface_of_file(geometry.uri, geometry.path)
    mesh.uservert, mesh.userface = surface.vertices.ravel().tolist(), surface.faces.ravel().tolist()
