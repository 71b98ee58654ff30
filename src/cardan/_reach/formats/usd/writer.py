"""The USD writer: a mechanism or a model as a text of UsdPhysics; what USD cannot say is refused or told.

Source: UsdPhysics, the rigid body physics schema of OpenUSD (openusd.org).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Matrix3
from cardan._reach.formats import written as W
from cardan._reach.formats.usd.joint_writer import OTHER_COORDINATES, directly, joint_prim
from cardan._reach.formats.usd.prims import (
    Lines,
    called,
    number,
    placed,
    prim,
    prim_names,
    quaternion,
    row,
    single,
)
from cardan._reach.formats.usd.shapes import TINY
from cardan._robot import joints as J
from cardan._robot.description import Mechanism
from cardan._robot.description.rooting import Forest
from cardan._robot.geometry import shapes as G
from cardan._robot.geometry.mesh import surface_of_file
from cardan._robot.geometry.touching import EVERYTHING
from cardan._robot.model import WORLD, Body, Connection, Model
from cardan._robot.model.layout import TARGET
from cardan._robot.records import Material

POINT = 1e-14
"""Moments of a point [m^2]: 0 means that they are not said, and smaller ones than these are lost in rounding."""
ROUNDED = 1e-9
"""Share of the largest moment by which one below 0 is rounding: USD takes negative ones for what is not said."""


def write(thing: Mechanism | Model) -> str:
    """Return USD text; UnsupportedError for what the motion needs and USD cannot say, a warning for all else."""
    return W.text_of(write_usd(thing), thing.name, "USD")


def write_usd(thing: Mechanism | Model) -> W.Written:
    """Return a mechanism or a model as text of USD, and what that does not hold; errors as for `write`."""
    W.check_is_robot(thing, "USD")
    writer = _UsdWriter(thing)
    return W.Written("\n".join([*writer.whole(), ""]), tuple(writer.losses()))


def _is_massless(inertia: Any) -> bool:
    return inertia is None or not any(inertia.parameters())


def _mass(name: str, inertia: Any) -> Lines:
    """Return what a body weighs; 0 would mean that its shapes say so."""
    if _is_massless(inertia):
        return ["custom bool cardan:massless = 1"]
    moments, axes = np.linalg.eigh(np.array(inertia.inertia_at_com.matrix().rows(), dtype=float))
    about_origin = inertia.mass * sum(float(e) ** 2 for e in inertia.com)
    rounding = POINT * about_origin
    if moments[0] < -max(ROUNDED * abs(moments).max(), rounding):
        raise W.refused("USD", f"the inertia of body {name!r}", f"of principal moments {moments.tolist()}")
    axes = axes * np.sign(np.linalg.det(axes))
    # Moments 0 are not said in USD: those of a point are written as tiny ones, and which these are.
    is_point = moments.max() <= rounding
    point = POINT * (inertia.mass + about_origin)
    moments = np.full(3, point) if is_point else np.maximum(moments, 0.0)
    R = Matrix3.of(axes.tolist(), "principal axes")
    return [
        # readers that do not know of what has moments alone would take a mass of 0 from its colliders
        *([] if inertia.mass else ["custom bool cardan:massless = 1"]),
        *single("float", "physics:mass", inertia.mass or TINY),
        *single("point3f", "physics:centerOfMass", *map(float, inertia.com)),
        *single("float3", "physics:diagonalInertia", *map(float, moments)),
        *single("quatf", "physics:principalAxes", *quaternion(R)),
        *(single("float", "cardan:point", float(point)) if is_point else []),
    ]


def _geometry(shape: G.Shape) -> tuple[str, Lines, Sequence[float]]:
    """Return the type of a geometry, its attributes, and a scale."""
    match shape.geometry:
        case G.Box(size=size):
            return "Cube", ["double size = 1.0"], size
        case G.Sphere(radius=radius):
            return "Sphere", [f"double radius = {number(radius)}"], ()
        case G.Ellipsoid(radii=radii):
            return "Sphere", ["double radius = 1.0"], radii
        case G.Cylinder() | G.Capsule() | G.Cone():
            radius, length = shape.geometry.radius, shape.geometry.length
            size = [f"double radius = {number(radius)}", f"double height = {number(length)}"]
            return type(shape.geometry).__name__, ['uniform token axis = "Z"', *size], ()
        case G.Plane():
            return "Plane", ['uniform token axis = "Z"'], ()
    points, triangles = _surface(shape)
    rows = ", ".join(row(p) for p in points.tolist())
    counts, corners = [3] * len(triangles), triangles.ravel().tolist()
    hull = ['uniform token physics:approximation = "convexHull"'] if shape.role == "collision" else []
    mesh = [
        f"point3f[] points = [{rows}]",
        f"int[] faceVertexCounts = {counts}",
        f"int[] faceVertexIndices = {corners}",
    ]
    return "Mesh", [*mesh, 'uniform token subdivisionScheme = "none"', *hull], ()


def _surface(shape: G.Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return points [m] and triangles of a mesh or a hull; ParameterError for a file that is not found."""
    geometry = shape.geometry
    if isinstance(geometry, G.Hull):
        return geometry.surface()
    if not isinstance(geometry, G.Mesh):
        raise W.refused("USD", f"a shape on {shape.body!r}", f"a {type(geometry).__name__}")
    found = surface_of_file(geometry.uri, geometry.path)
    return np.asarray(found.vertices) * np.array(geometry.scale), np.asarray(found.faces)


def _flies(c: Connection) -> bool:
    """Return whether a joint lets a body fly, as one does that the reader adds by itself."""
    plain = Connection(c.name, c.joint, c.parent, c.child)
    return c.parent == WORLD and isinstance(c.joint, J.FreeFlyer) and c == plain


class _UsdWriter:
    """Writes a mechanism part by part, below the prim of its name."""

    def __init__(self, thing: Mechanism | Model) -> None:
        self.thing = thing
        (self.root,) = prim_names([thing.name]).values()
        joints = directly([W.as_hinge(c, (J.Revolute, J.Prismatic)) for c in W.joints_of(thing)])
        bodies = [body.name for body in thing.bodies]
        forest, second = Forest((WORLD, *bodies)), {c.child for c in joints if c.parent != WORLD}
        self.closing = {c.name for c in joints if not forest.join(c.parent, c.child)}
        free = {c.name: c.child for c in joints if _flies(c) and c.child not in second and c.name not in self.closing}
        held = Forest((WORLD, *bodies), ((c.parent, c.child) for c in joints if c.name not in free))
        ends = Counter(map(held.find, (WORLD, *free.values())))  # no other way leads to what one lets fly
        flying = {name: body for name, body in free.items() if ends[held.find(body)] == 1}
        self.joints = [c for c in joints if c.name not in flying]
        # what the reader lets fly, if nothing says otherwise
        hung = Forest((WORLD, *bodies), ((c.parent, c.child) for c in self.joints))
        anchors, flown = hung.anchors(bodies, lambda body: body in second), set(map(hung.find, flying.values()))
        self.loose = [body for body in anchors if hung.find(body) not in flown]
        called = {"root"} if len(anchors) == 1 else {f"root_{body}" for body in anchors}
        self.aims = self._configuration(TARGET)
        self.renamed = [name for name in flying if name not in called]
        moving = [c for c in joints if c.joint.nq and c.name not in self.closing]
        last = max((k for k, c in enumerate(moving) if c.name not in flying), default=0)
        self.early = [c.name for c in moving[:last] if c.name in flying]
        self.poses = self._standing(joints)
        prims = prim_names(bodies)
        self.bodies = {name: f"/{self.root}/{own}" for name, own in prims.items()}
        self.scope, self.on_world, self.surfaces = prim_names(("joints", "fixed", "surfaces"), prims.values()).values()
        named = prim_names(c.name for c in self.joints)
        self.leading = {c.name: (f"/{self.root}/{self.scope}/{named[c.name]}", c.joint) for c in self.joints}
        self.materials: dict[Material, str] = {}
        self.lost, self.meshes = list[str](), list[str]()

    def _configuration(self, name: str) -> Mapping[str, Sequence[float]]:
        return next((c.coordinates for c in self.thing.annotations.configurations if c.name == name), {})

    def _standing(self, joints: Sequence[Connection]) -> dict[str, SE3]:
        """Return the poses of bodies in the configuration `initial`, or at rest."""
        given = self._configuration("initial")
        of = {c.name: tuple(given.get(c.name, c.joint.neutral())) for c in joints if not c.joint.primaries}
        moved = []
        for c in joints:
            if c.name not in self.closing:
                q = [e for name in c.joint.primaries or (c.name,) for e in of[name]]
                moved.append(replace(c, parent_pose=c.parent_pose @ c.joint.transform(q)))
        names = [body.name for body in self.thing.bodies]
        return W.poses_at_rest((WORLD, *names), moved, {WORLD: SE3.identity()})[0]

    def whole(self) -> Lines:
        units = ("kilogramsPerUnit = 1", "metersPerUnit = 1", 'upAxis = "Z"')
        head = ["#usda 1.0", "(", *(f"    {line}" for line in (f'defaultPrim = "{self.root}"', *units)), ")"]
        touches = ["custom bool newton:selfCollisionEnabled = 1"] if self.thing.annotations.self_collision else []
        roots = ["PhysicsArticulationRootAPI", *(["NewtonArticulationRootAPI"] if touches else [])]
        parts = {
            f'Xform "{self.on_world}"': self._on(WORLD),
            f'Scope "{self.scope}"': [line for c in self.joints for line in self._joint(c)],
        }
        bodies = [self._body(body) for body in self.thing.bodies]
        parts[f'Scope "{self.surfaces}"'] = [line for own in self.materials for line in self._felt(own)]
        scopes = [prim(f"def {kind}", [], inside) for kind, inside in parts.items() if inside]
        name = called(self.root, self.thing.name)
        return [*head, *prim(f'def Xform "{self.root}"', roots, name, touches, *bodies, *scopes), *self._gravity()]

    def _joint(self, c: Connection) -> Lines:
        aim = self.aims.get(c.name)
        aim = () if aim is None else [float(e) for e in c.joint.manifold.limit_coordinates(list(aim))]
        closes = c.name in self.closing
        return joint_prim(c, self.leading[c.name][0], self.bodies, self.leading, closes=closes, aim=aim)

    def _gravity(self) -> Lines:
        g = np.array(self.thing.gravity, dtype=float)
        size = float(np.linalg.norm(g))
        along = g / size if size else np.array([0.0, 0.0, -1.0])
        direction = single("vector3f", "physics:gravityDirection", *along.tolist())
        (scene,) = prim_names(["scene"], [self.root]).values()
        magnitude = single("float", "physics:gravityMagnitude", size)
        return prim(f'def PhysicsScene "{scene}"', [], direction, magnitude)

    def _body(self, body: Body) -> Lines:
        pairs = [
            pair for pair in self.thing.annotations.disabled_contacts if pair[0] == body.name and WORLD not in pair
        ]
        apart = ", ".join(f"<{self.bodies[other]}>" for _, other in pairs)
        filtered = [f"rel physics:filteredPairs = [{apart}]"] if pairs else []
        loose = ["custom bool cardan:loose = 1"] if body.name in self.loose else []
        schemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", *(["PhysicsFilteredPairsAPI"] if pairs else [])]
        name = self.bodies[body.name].rpartition("/")[2]
        own = (called(name, body.name), placed(self.poses[body.name]), _mass(body.name, body.inertia), filtered, loose)
        return prim(f'def Xform "{name}"', schemas, *own, self._on(body.name))

    def _on(self, body: str) -> Lines:
        """Return the frames and shapes on a body. What is on the world is a frame because of its schema."""
        site, lines = ["NewtonSiteAPI"] if body == WORLD else [], list[str]()
        own = {frame.name: frame for frame in self.thing.frames if frame.body == body}
        names = prim_names(own)
        for name, frame in own.items():
            lines += prim(f'def Xform "{names[name]}"', site, called(names[name], name), placed(frame.pose))
        taken = {*names.values()}
        for shape in self.thing.shapes:
            if shape.body != body:
                continue
            try:
                made = _geometry(shape)
            except ParameterError:
                self.lost.append(body)
                continue
            (name,) = prim_names([shape.name or shape.role], taken).values()
            taken.add(name)
            lines += self._shape(shape, made, name)
        return lines

    def _shape(self, shape: G.Shape, made: tuple[str, Lines, Sequence[float]], name: str) -> Lines:
        kind, size, scale = made
        self.meshes += [shape.body] if kind == "Mesh" else []
        schemas, lines = list[str](), called(name, shape.name)
        if shape.rgba is not None:
            lines.append(f"color3f[] primvars:displayColor = [{row(shape.rgba[:3])}]")
            lines.append(f"float[] primvars:displayOpacity = [{number(shape.rgba[3])}]")
        if shape.role == "collision":
            schemas += ["PhysicsCollisionAPI", *(["PhysicsMeshCollisionAPI"] if kind == "Mesh" else [])]
            lines.append('uniform token purpose = "guide"')
            if shape.surface is not None:
                own = self.materials.setdefault(shape.surface, f"surface{len(self.materials)}")
                schemas.append("MaterialBindingAPI")
                lines.append(f"rel material:binding:physics = </{self.root}/{self.surfaces}/{own}>")
        return prim(f'def {kind} "{name}"', schemas, size, lines, placed(shape.pose, tuple(scale)))

    def _felt(self, surface: Material) -> Lines:
        mu = surface.friction or 0.0
        numbers = [("staticFriction", mu), ("dynamicFriction", mu)]
        rows = (single("float", f"physics:{key}", e) for key, e in (*numbers, ("restitution", surface.restitution)))
        return prim(f'def Material "{self.materials[surface]}"', ["PhysicsMaterialAPI"], *rows)

    def losses(self) -> Iterator[str]:
        thing, beside, shapes = self.thing, self.thing.annotations, self.thing.shapes
        colliding = [s for s in shapes if s.role == "collision"]
        felt = [(s.body, s.surface) for s in colliding if s.surface is not None]
        driven = {c.name for c in self.joints if any(c.drive_stiffness)}
        held = {"initial", TARGET} if self.aims.keys() <= driven else {"initial"}
        lost = {
            "that bodies have no mass, but other programs weigh their shapes:": [
                body.name for body in thing.bodies if _is_massless(body.inertia)
            ],
            "that a robot need not float, as it does in other programs:": self.loose,
            "names of joints by which bodies float": self.renamed,
            "that joints by which bodies float come before others, as they do in q": self.early,
            "meshes of which no file is found, on": self.lost,
            "meshes and hulls, but by their points in single precision, on": self.meshes,
            "their own coordinates, but those of hinges and slides, of joints": [
                c.name for c in self.joints if isinstance(W.without_mimic(c.joint), OTHER_COORDINATES)
            ],
            "kinds of frames": [frame.name for frame in thing.frames if frame.kind != "operational"],
            **W.beside(beside),
            "configurations": [c.name for c in beside.configurations if c.name not in held],
            "disabled contacts": ["/".join(pair) for pair in beside.disabled_contacts if WORLD in pair],
            "more of surfaces than friction and restitution, on": [
                body for body, own in felt if own != Material(friction=own.friction or 0.0, restitution=own.restitution)
            ],
            "materials, textures, groups, masks, margins, surface velocities or densities of shapes on": [
                s.body for s in shapes if any(getattr(s, key) != usual for key, usual in PLAIN_SHAPE.items())
            ],
            "colours of collision shapes, and digits of colours, on": [
                s.body for s in shapes if s.rgba and (s in colliding or any(float(np.float32(e)) != e for e in s.rgba))
            ],
        }
        yield from W.losses_of(lost)


NOTHING = {"surface_velocity": None, "density": None, "material": "", "texture": ""}
PLAIN_SHAPE = {"group": EVERYTHING[0], "mask": EVERYTHING[1], "margin": 0.0, **NOTHING}
