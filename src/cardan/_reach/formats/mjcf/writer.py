"""The MJCF writer: a mechanism or a model as MuJoCo's specification, printed with all digits.

`interop.to_mjspec` decides what is said and how; what MuJoCo cannot say is refused there by name. The specification is
compiled before it is printed, so that MuJoCo reads what is written. MuJoCo's own printer rounds to six digits.

Meshes keep a relative name, to be found beside the file as they were beside the description, or else the path where
they were found; their files are not opened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from cardan._algebra.errors import CardanError, MechanismError, ParameterError
from cardan._reach.formats.mjcf.expanded import MAX_NUMBER
from cardan._reach.formats.written import Written, check_is_robot, is_bounded, losses_of, refused, text_of
from cardan._reach.formats.xml import MAX_DEPTH, UNWRITABLE, Lines, element, escaped
from cardan._reach.interop.mujoco_collision import HULL_ERROR, as_there, geom_names
from cardan._reach.interop.mujoco_package import heard, mujoco
from cardan._reach.interop.mujoco_spec import to_mjspec
from cardan._robot.description import Mechanism
from cardan._robot.geometry.shapes import Cone, HeightField, Hull, Mesh, Shape, Sphere
from cardan._robot.geometry.touching import EVERYTHING
from cardan._robot.joints import D6, Fixed, Planar, PlanarAngle, SphericalZYX, UnboundedRevolute
from cardan._robot.model import WORLD, Body, Model
from cardan._robot.model.layout import outwards
from cardan._robot.records import ContactSurface, Material

Attributes = Mapping[str, Any]
MAX_BODIES_DEEP = MAX_DEPTH - 3  # of elements, two are above all bodies, and one is in the last
KINDS = {0: "none", 1: "affine"}  # of MuJoCo's biases
PAIR = {"geom1": "geomname1", "geom2": "geomname2", "condim": "condim", "friction": "friction", "margin": "margin"}


def to_mjcf(thing: Mechanism | Model) -> str:
    """Return a mechanism or a model as MJCF text; a `DescriptionWarning` names what it does not hold."""
    return text_of(write_mjcf(thing), thing.name, "MJCF")


def write_mjcf(thing: Mechanism | Model) -> Written:
    """Return a mechanism (with a fixed base) or a model as the text of a file of MJCF, and what that does not hold.

    UnsupportedError names what MuJoCo cannot say, or what is more than is read again; if MuJoCo refuses the whole, the
    message of the MechanismError is MuJoCo's.
    """
    check_is_robot(thing, "MJCF")
    mj = mujoco("writing MJCF")
    robot = thing.model() if isinstance(thing, Mechanism) else thing
    records = (robot, *robot.bodies, *robot.connections, *robot.frames, *robot.shapes, *robot.actuators)
    for name in (*(record.name for record in records), *robot.named_configurations):
        if UNWRITABLE.search(name):  # MuJoCo would cut it short at a zero
            hint = "write the robot as JSON, or name it otherwise"
            raise ParameterError("a name in MJCF", got=name, expected="characters XML can hold", hint=hint)
    _check_size(robot)
    named = zip(robot.shapes, geom_names(robot.shapes), strict=True)
    shapes = [replace(s, name=name, geometry=as_there(s.geometry)) for s, name in named]
    try:
        closed = [replace(s, geometry=Sphere(1.0)) if isinstance(s.geometry, Mesh) else s for s in shapes]
        spec = to_mjspec(robot, shapes=closed, annotations=True)  # no file of a mesh is opened: its name is printed
        lost = losses(robot, spec)
        with heard(mj):
            spec.compile()
    except CardanError:
        raise
    except ValueError as error:  # MuJoCo's
        raise MechanismError(f"{robot.name!r} as MJCF: MuJoCo refuses it: {error}") from None
    text = "\n".join(_Printer(mj, spec, robot, {s.name: s for s in shapes}).root()) + "\n"
    return Written(text, lost)


def _check_size(robot: Model) -> None:
    """Raise `UnsupportedError` for a robot that is too deep or too large: MuJoCo is not interrupted by Ctrl-C."""
    depths = {WORLD: 0}
    for _, body, below in outwards((WORLD,), robot.connections):
        depths[below] = depths[body] + 1
    deepest = max(depths, key=lambda body: depths[body])
    if depths[deepest] > MAX_BODIES_DEEP:
        why = f"at most {MAX_BODIES_DEEP} are read again"
        raise refused("a file of MJCF", f"body {deepest!r}", f"{depths[deepest]} bodies deep", why)


def _element(tag: str, attributes: Attributes, inside: Sequence[str] = ()) -> Lines:
    return element(tag, {key: _text(value) for key, value in attributes.items() if value is not None}, inside)


def _text(value: Any) -> str:
    """Return a value as it stands in an attribute: numbers with all their digits, texts escaped."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not abs(value) <= MAX_NUMBER:
            expected = f"numbers up to {MAX_NUMBER:g}: no larger one is read again"
            raise ParameterError("a number in MJCF", got=float(value), expected=expected, hint="Are the units right?")
        return repr(float(value))
    return " ".join(_text(e) for e in value)


def _unless(value: Any, default: Any) -> Any:
    return None if np.array_equal(np.asarray(value, dtype=float), np.asarray(default, dtype=float)) else value


class _Printer:
    """Prints a specification that `to_mjspec` made of a model, part by part; `shapes` are by the names of its geoms."""

    def __init__(self, mj: Any, spec: Any, model: Model, shapes: Mapping[str, Shape]) -> None:
        self.mj, self.spec, self.model, self.shapes = mj, spec, model, shapes
        self.sensors = {frame.name for frame in model.frames if frame.kind == "sensor"}
        self.meshes: dict[Any, str] = {}
        for geometry in (shape.geometry for shape in shapes.values()):
            if isinstance(geometry, (Mesh, Hull)):
                error = f"{HULL_ERROR}{_text(geometry.error)}" if isinstance(geometry, Hull) and geometry.error else ""
                name = f"{type(geometry).__name__.lower()}{len(self.meshes)}{error}"
                self.meshes.setdefault(_key(geometry), name)

    def root(self) -> Lines:
        spec, inside = self.spec, [*self._inside(self.spec.worldbody)]
        excludes = (
            _element("exclude", {"name": e.name or None, "body1": e.bodyname1, "body2": e.bodyname2})
            for e in spec.excludes
        )
        pairs = (_element("pair", {key: getattr(p, said) for key, said in PAIR.items()}) for p in spec.pairs)
        keys = (_element("key", {"name": k.name, "qpos": k.qpos}) for k in spec.keys)
        parts = [
            _element("compiler", {"angle": "radian", "autolimits": True, "inertiafromgeom": False}),
            _element("option", {"gravity": self.model.gravity}),
            *_section("asset", self._assets()),
            *_section("worldbody", [inside]),
            *_section("contact", chain(excludes, pairs)),
            *_section("tendon", map(self._tendon, spec.tendons)),
            *_section("equality", map(self._equality, spec.equalities)),
            *_section("actuator", map(self._actuator, spec.actuators)),
            *_section("keyframe", keys),
        ]
        return _element("mujoco", {"model": spec.modelname}, [*chain.from_iterable(parts)])

    def _assets(self) -> Iterator[Lines]:
        looks = {s.material: s for s in self.shapes.values() if s.material}
        for name, shape in looks.items():
            yield _element("material", {"name": name, "rgba": shape.rgba})
        for key, name in self.meshes.items():
            if isinstance(key, Hull):
                yield _element("mesh", {"name": name, "vertex": [e for vertex in key.vertices for e in vertex]})
            else:
                yield _element("mesh", {"name": name, "file": key[0], "scale": _unless(key[1:], [1.0] * 3)})
        for field in self.spec.hfields:
            shares = np.array(field.userdata).reshape(field.nrow, field.ncol)[::-1]  # the file's first row is the last
            counts = {"nrow": field.nrow, "ncol": field.ncol}
            yield _element("hfield", {"name": field.name, **counts, "size": field.size, "elevation": shares.ravel()})

    def _inside(self, body: Any) -> Iterator[str]:
        yield from chain.from_iterable(self._own(body))
        stack: list[Any] = [(child, 0) for child in reversed(body.bodies)]
        while stack:
            item, depth = stack.pop()
            if isinstance(item, str):
                yield "  " * depth + item
                continue
            head = _element("body", {"name": item.name, **_place(item)})[0].removesuffix("/>") + ">"
            yield "  " * depth + head
            yield from ("  " * (depth + 1) + line for line in chain.from_iterable(self._own(item)))
            stack.append(("</body>", depth))
            stack += [(child, depth + 1) for child in reversed(item.bodies)]

    def _own(self, body: Any) -> Iterator[Lines]:
        if body.explicitinertial:
            moments = {"mass": body.mass, "diaginertia": body.inertia}
            yield _element("inertial", {**_place(body, "ipos", "iquat"), **moments})
        yield from map(self._joint, body.joints)
        yield from map(self._geom, body.geoms)
        for site in body.sites:
            tag = "camera" if site.name in self.sensors else "site"
            yield _element(tag, {"name": site.name, **_place(site)})

    def _joint(self, joint: Any) -> Lines:
        kind = joint.type.name.removeprefix("mjJNT_").lower()
        if kind == "free":
            damping = _unless(joint.damping[0], 0.0)
            return _element("joint", {"name": joint.name, "type": kind, "damping": damping})
        is_scalar, spring, is_on = kind in ("hinge", "slide"), joint.stiffness[0], self.mj.mjtLimited.mjLIMITED_TRUE
        attributes = {
            "name": joint.name,
            "type": kind,
            "pos": _unless(joint.pos, [0.0] * 3),
            "axis": joint.axis if is_scalar else None,
            "range": joint.range if joint.limited == is_on else None,
            "actuatorfrcrange": joint.actfrcrange if joint.actfrclimited == is_on else None,
            "stiffness": _unless(spring, 0.0),
            "springref": _unless(joint.springref, 0.0) if is_scalar and spring else None,
            "damping": _unless(joint.damping[0], 0.0),
            "frictionloss": _unless(joint.frictionloss, 0.0),
            "armature": _unless(joint.armature, 0.0),
        }
        return _element("joint", attributes)

    def _geom(self, geom: Any) -> Lines:
        shape = self.shapes[geom.name]
        is_mesh, is_field = isinstance(shape.geometry, (Mesh, Hull)), isinstance(shape.geometry, HeightField)
        attributes = {
            "name": geom.name,
            "type": "mesh" if is_mesh else geom.type.name.removeprefix("mjGEOM_").lower(),
            **_place(geom),
            "size": None if is_mesh or is_field else geom.size,
            "hfield": geom.hfieldname if is_field else None,
            "mesh": self.meshes[_key(shape.geometry)] if is_mesh else None,
            "contype": _unless(geom.contype, 1),
            "conaffinity": _unless(geom.conaffinity, 1),
            "condim": _unless(geom.condim, 3),
            "priority": _unless(geom.priority, 0),
            "friction": _unless(geom.friction, [1.0, 0.005, 0.0001]),
            "margin": _unless(geom.margin, 0.0),
            "surfacevel": _unless(geom.surfacevel, [0.0] * 6),
            "group": _unless(geom.group, 0),
            "material": shape.material or None,
            "rgba": shape.rgba,
            "mass": 0.0 if shape.density is None else None,
            "density": shape.density,
        }
        return _element("geom", attributes)

    def _tendon(self, tendon: Any) -> Lines:
        inside = [_element("joint", {"joint": w.target.name, "coef": w.coef})[0] for w in tendon.path]
        return _element("fixed", {"name": tendon.name}, inside)

    def _equality(self, e: Any) -> Lines:
        kind = e.type.name.removeprefix("mjEQ_").lower()
        of_coordinates = kind in ("joint", "tendon")
        ends = (kind, {"polycoef": e.data[:5]}) if of_coordinates else ("site", {})
        own = {f"{ends[0]}1": e.name1, f"{ends[0]}2": e.name2 or None, **ends[1]}
        return _element(kind, {"name": e.name, **own, "solref": e.solref, "solimp": e.solimp})

    def _actuator(self, a: Any) -> Lines:
        by_tendon = a.trntype == self.mj.mjtTrn.mjTRN_TENDON
        is_on = self.mj.mjtLimited.mjLIMITED_TRUE
        count = max((k + 1 for k, gear in enumerate(a.gear) if gear), default=1)
        attributes = {
            "name": a.name,
            "tendon" if by_tendon else "joint": a.target,
            "gear": _unless(a.gear[:count], [1.0]),
            "ctrlrange": a.ctrlrange if a.ctrllimited == is_on else None,
            "forcerange": a.forcerange if a.forcelimited == is_on else None,
            "gainprm": _unless(a.gainprm[0], 1.0),
            "biastype": KINDS[int(a.biastype)] if int(a.biastype) else None,
            "biasprm": a.biasprm[:3] if int(a.biastype) else None,
        }
        return _element("general", attributes)


def _section(tag: str, elements: Any) -> list[Lines]:
    lines = [*chain.from_iterable(elements)]
    return [_element(tag, {}, lines)] if lines else []


def _place(thing: Any, position: str = "pos", quaternion: str = "quat") -> dict[str, Any]:
    pos, quat = getattr(thing, position), getattr(thing, quaternion)
    is_default = any(map(math.isnan, quat)) or list(quat) == [1.0, 0.0, 0.0, 0.0]
    return {"pos": pos if position == "ipos" else _unless(pos, [0.0] * 3), "quat": None if is_default else quat}


def _key(mesh: Any) -> Any:
    """Return what tells meshes apart: file and scale, or of a hull itself."""
    if isinstance(mesh, Hull):
        return mesh
    is_relative = "://" not in mesh.uri and not mesh.uri.startswith("/")
    return (mesh.uri if is_relative else mesh.path or mesh.uri, *mesh.scale)


# --- what MJCF does not hold of a model, of which the rest is written ---

VELOCITY = "velocity limits of joints"
PACKAGES = "packages of meshes, of which the path is written, on"
COLOURS = "digits of colours, beyond single precision, of shapes on"
FIXED = "names of fixed joints"
USUAL = (VELOCITY, PACKAGES, COLOURS, FIXED)  # what nearly every robot has

ENDS = ("lower", "upper", "effort", "effort_lower")
ACTING = ("damping", "friction", "armature", "drive_stiffness", "drive_damping", "spring_stiffness")
UNTOUCHED = (None, *EVERYTHING, 0.0)  # surface, group, mask and margin of a shape nothing is said of
# Joints whose velocities are not those of the hinges and slides they are there
IN_A_ROW = (D6, Planar, PlanarAngle, SphericalZYX, UnboundedRevolute)


def losses(model: Model, spec: Any) -> tuple[str, ...]:
    """Return what a specification, which `to_mjspec` made of a model, does not hold, or holds otherwise."""
    written = [body for body in model.bodies if spec.body(body.name) is not None]
    there, own = {a.name for a in spec.actuators}, {a.name for a in model.actuators}
    gone = {*model.body_names} - {body.name for body in written}
    unknown = [a for a in model.actuators if a.name in there and (a.gain is None or a.bias is None)]
    of_kinds = {
        "massless bodies between joints of one body:": [name for name in model.body_names if name in gone],
        "joints apart, but in a row of one body:": [c.name for c in model.connections if {c.parent, c.child} & gone],
        "inertias of their own, but with what is fixed together, of bodies": [
            b.name for b in written if not _has_its_own(b, spec.body(b.name))
        ],
        **_of_joints(model),
        **_of_shapes(model.shapes, model.contact_surfaces),
        "that the gain of actuators is not known, which is 1 there:": [a.name for a in unknown],
        "drives (drive stiffness, drive damping) of joints alone, but as actuators": [
            a.name for a in spec.actuators if a.name not in own
        ],
        "groups": [group.name for group in model.annotations.groups],
    }
    usual = {what: of_kinds.pop(what) for what in USUAL}
    return (*losses_of(usual), *losses_of(of_kinds, shown=None))


def _has_its_own(body: Body, there: Any) -> bool:
    """Return whether MuJoCo's body weighs what the body does, at the same place."""
    inertia = body.inertia
    if inertia is None or not any(inertia.parameters()):
        return not there.explicitinertial
    return there.explicitinertial and there.mass == inertia.mass and tuple(there.ipos) == tuple(inertia.com)


def _of_joints(model: Model) -> dict[str, list[str]]:
    joints: Any = (*model.connections, *model.closures)
    mimics = [c for c in joints if c.joint.primaries]
    deep = [c.name for c, *_ in outwards((WORLD,), model.connections) if c.joint.nq]
    own = [c.name for c in model.connections if c.joint.nq]
    fixed = [c for c in model.connections if isinstance(c.joint, Fixed)]
    return {
        "the order of joints in q, which is depth first there:": [a for a, b in zip(own, deep, strict=True) if a != b],
        VELOCITY: [c.name for c in joints if is_bounded(c, "velocity", "velocity_lower")],
        "limits (lower, upper, effort) of joints that mimic another": [c.name for c in mimics if is_bounded(c, *ENDS)],
        "limits (lower, upper, effort), damping, friction, armature, drives and springs of joints that close loops": [
            c.name for c in model.closures if is_bounded(c, *ENDS) or any(any(getattr(c, key)) for key in ACTING)
        ],
        "their own coordinates, but those of hinges and slides, of joints": [
            c.name for c in joints if isinstance(c.joint, IN_A_ROW)
        ],
        "compliance of joints": [c.name for c in joints if any(c.compliance)],
        "hinges that close loops, but as two balls each:": [c.name for c in model.closures if c.joint.nv == 1],
        FIXED: [c.name for c in fixed if c.parent != WORLD and c.name != f"{c.child}_fixed"],  # its reader calls it so
    }


def _of_shapes(shapes: Iterable[Shape], pairs: Iterable[ContactSurface]) -> dict[str, list[str]]:
    shapes = tuple(shapes)
    surfaces = [(s.body, s.surface) for s in shapes if s.role == "collision"] + [(p.a, p.material) for p in pairs]
    return {
        # MuJoCo has colours in single precision, of which the shortest digits are printed
        COLOURS: [s.body for s in shapes if any(float(str(np.float32(e))) != e for e in s.rgba or ())],
        "textures of shapes on": [s.body for s in shapes if s.texture],
        "cones, but as hulls of 64 sides, on": [s.body for s in shapes if isinstance(s.geometry, Cone)],
        "stiffness and dissipation, or moments without friction, of surfaces on": [
            body for body, surface in surfaces if surface and surface != _said(surface)
        ],
        "surfaces, groups, masks and margins of shapes that are only seen, on": [
            s.body for s in shapes if s.role == "visual" and (s.surface, s.group, s.mask, s.margin) != UNTOUCHED
        ],
        "digits of heights beyond single precision, and a level other than the lowest's to measure them from, on": [
            s.body for s in shapes if isinstance(s.geometry, HeightField) and not _is_said(s.geometry)
        ],
        PACKAGES: [s.body for s in shapes if isinstance(s.geometry, Mesh) and "://" in s.geometry.uri],
    }


def _is_said(field: HeightField) -> bool:
    """Return whether heights are the same after MuJoCo had them in single precision, as parts of the highest."""
    heights = np.array(field.heights)
    shares = heights / (field.relief or 1.0)
    return not field.lowest and np.array_equal(shares.astype(np.float32) * np.float64(field.relief), heights)


def _said(surface: Material) -> Material:
    """Return what MuJoCo's friction says of a surface: nothing turns or rolls against it without friction."""
    if not surface.friction:
        return Material(friction=surface.friction, priority=surface.priority)
    said = ("friction", "torsional", "rolling", "anisotropy", "priority")
    return Material(**{key: getattr(surface, key) for key in said})
