"""The SDF writer: a mechanism or a model as a file with one model; what SDF cannot say is refused by name.

Poses are written as the reader takes them apart again: a joint in its parent, a link in the joint that leads to it.
What SDF has no word for and programs may skip stands in elements and attributes of the namespace `cardan`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from cardan._algebra.errors import ParameterError, UnsupportedError, first_of
from cardan._algebra.spatial import SE3, Inertia
from cardan._reach.formats import written as W
from cardan._reach.formats.sdf.form import KINDS, ModelParts, checked_steps, sdf_form
from cardan._reach.formats.sdf.joints import PASSIVE
from cardan._reach.formats.sdf.links import ENTRIES, PATCH
from cardan._reach.formats.xml import DECLARATION, UNWRITABLE, Lines, element, escaped, numbers, on_a_line, value
from cardan._robot.description import Box, Capsule, Cone, Cylinder, Ellipsoid, Mechanism, Mesh, Plane, Shape, Sphere
from cardan._robot.geometry.touching import EVERYTHING, Bits, both_ways, one_bit_each
from cardan._robot.joints import Mimic, Revolute, Universal
from cardan._robot.model import WORLD, Body, Connection, Frame, Model
from cardan._robot.records import EARTH_GRAVITY, Material

VERSION = "1.11"
_BITS = 16


def to_sdf(thing: Mechanism | Model) -> str:
    """Return SDF text; UnsupportedError for what the motion needs and SDF cannot say, a warning for all else."""
    return W.text_of(write_sdf(thing), thing.name, "SDF")


def write_sdf(thing: Mechanism | Model) -> W.Written:
    """Return a mechanism or a model as SDF text, and what it does not hold; errors as for `to_sdf`."""
    W.check_is_robot(thing, "SDF")
    writer = _SdfWriter(thing)
    lines = [DECLARATION, *element("sdf", {"version": VERSION, "xmlns:cardan": "cardan"}, writer.whole())]
    return W.Written("\n".join([*lines, ""]), (*writer.form.losses, *writer.losses()))


def _anchor(name: str) -> str:
    """Return what the link is called on which everything stands that is on the world."""
    return f"{re.sub(r'[^A-Za-z0-9]', '_', name)}_world"


class _SdfWriter:
    """Writes a mechanism part by part: what several parts need is the shapes by body, and the bits of all shapes."""

    def __init__(self, thing: Mechanism | Model) -> None:
        self.thing, self.form, self.masks = thing, sdf_form(thing), _masks(thing.shapes)
        self.shapes: dict[str, list[Shape]] = {}
        for shape in thing.shapes:
            self.shapes.setdefault(shape.body, []).append(shape)
        self.gravity = tuple(map(float, thing.gravity))
        top, bodies = self.form.top, [body.name for body in thing.bodies]
        joined = W.connected(bodies, W.joints_of(thing))
        all_hangs = {joined.find(body) for body in bodies} == {joined.find(WORLD)}
        several = len(top.models) > 1 or bool(top.frames or top.joints)
        # whether this is what a world of several models is read as: all in models, none without a base
        self.is_world = not top.links and WORLD not in self.shapes and all_hangs and several

    def losses(self) -> Lines:
        """Return what is written otherwise, and what only other readers of SDF do not take."""
        form, thing, losses = self.form, self.thing, []
        weightless = [b.name for b in thing.bodies if b.inertia is None]
        if weightless:
            losses.append(f"that bodies have no mass ({first_of(weightless)}): other readers refuse 0 kg")
        is_alone = len(form.loose) == 1 and not self.is_world and self.gravity == EARTH_GRAVITY
        for body, floats in form.loose.items():  # one part alone has the base that its reader chooses, others float
            if is_alone and floats:
                losses.append(f"that {body} floats: read it with base='floating'")
            elif not is_alone and not floats:
                losses.append(f"that {body} hangs on nothing: here it floats")
        coloured = dict.fromkeys(s.body for s in thing.shapes if s.role == "collision" and (s.rgba or s.texture))
        losses += [f"colours of collision shapes on {', '.join(coloured)}"] if coloured else []
        leaving = dict.fromkeys(s.body for s in thing.shapes if s.surface and s.surface.friction is None)
        losses += [f"friction that is left to what is touched, but 0, on {', '.join(leaving)}"] if leaving else []
        on_world = [f"{len(self.shapes[WORLD])} shapes of the world"] if WORLD in self.shapes else []
        on_world += [frame.name for frame in form.top.frames if frame.body == WORLD]
        if on_world and not self.is_world:
            losses.append(f"what is on no body: {', '.join(on_world)} (here on a link {_anchor(form.name)})")
        return losses

    def whole(self) -> Lines:
        """Return the world of several models, or all as one model, in a world where gravity asks for one."""
        top, name = self.form.top, self.form.name
        gravity = value("gravity", numbers(self.gravity))
        if self.is_world:
            parts = [self._model(group, inner) for inner, group in top.models.items()]
            parts += [self._joint(top, c) for c in top.joints.values()]
            parts += [_frame(top, frame, WORLD) for frame in top.frames]
            return element("world", {"name": _text(name)}, gravity, *parts)
        if len(checked_steps("the model's name", name)) > 1:
            raise UnsupportedError(f"the model's name {name!r}", "SDF", "'::' is reserved there; choose another")
        on_world = WORLD in self.shapes or any(frame.body == WORLD for frame in top.frames)
        model = self._model(top, name, world=on_world)
        return model if self.gravity == EARTH_GRAVITY else element("world", {"name": _text(name)}, gravity, model)

    def _model(self, group: ModelParts, name: str, *, world: bool = False) -> Lines:
        """Return a model and the models in it; `world`: with a link that stands for the world."""
        anchor = _anchor(name)
        if world and anchor in group.links:
            raise UnsupportedError(f"the name {anchor!r}", "SDF", "it stands for the world there; Mechanism.renamed")
        parts = []
        if world:  # a link fixed on the world, for what stands there, with its joint
            shapes = [self._shape(shape, f"{shape.role}_{i}") for i, shape in enumerate(self.shapes.get(WORLD, ()))]
            ends = (value("parent", WORLD), value("child", anchor))
            joint = element("joint", {"name": f"{anchor}_joint", "type": "fixed"}, *ends)
            parts = [[*element("link", {"name": anchor}, _inertial(None), *shapes), *joint]]
        parts += [self._link(group, body) for body in group.links.values()]
        parts += [self._model(inner, inner_name) for inner_name, inner in group.models.items()]
        parts += [self._joint(group, c) for c in group.joints.values()]
        parts += [_frame(group, frame, anchor) for frame in group.frames]
        touches = value("self_collide", "true") if self.thing.annotations.self_collision else []
        return element("model", {"name": _text(name)}, touches, *parts)

    def _link(self, group: ModelParts, body: Body) -> Lines:
        shapes = self.shapes.get(body.name, ())
        inside = [self._shape(shape, name) for shape, name in zip(shapes, _names(shapes), strict=True)]
        sensors = [_sensor(frame, frame.pose) for frame in self.form.sensors.get(body.name, ())]
        name = group.local(body.name, f"body {body.name!r}")
        leading = self.form.tree.get(body.name)
        if leading is not None and leading.name in group.joints and _stands_in_parent(group, leading):
            pose = _pose(leading.child_pose.inverse(), group.local(self.form.called[leading.name], ""))
        else:
            pose = _pose(self.form.poses[body.name])
        return element("link", {"name": _text(name)}, pose, _inertial(body), *inside, *sensors)

    def _shape(self, shape: Shape, name: str) -> Lines:
        what = f"shape {name!r} of {shape.body!r}"
        if shape.margin:
            raise W.refused("SDF", f"the margin of {what}", shape.margin)
        if shape.surface_velocity is not None:
            raise W.refused("SDF", f"the surface velocity of {what}", shape.surface_velocity)
        inside = [_pose(shape.pose), on_a_line(element("geometry", {}, _geometry(shape, what)))]
        if shape.role == "visual":
            inside.append(_look(shape))
        else:
            inside.append([] if shape.density is None else value("density", repr(shape.density)))
            bits = self.masks.get((shape.group, shape.mask))
            contact = [] if bits is None else element("contact", {}, bits)
            material = [] if shape.surface is None else _material(shape.surface, what)
            inside.append(on_a_line(element("surface", {}, *material, contact)) if contact or material else [])
        return element(shape.role, {"name": _text(name)}, *inside)

    def _joint(self, group: ModelParts, c: Connection) -> Lines:
        inner, what = W.without_mimic(c.joint), f"joint {c.name!r}"
        kind, travel = KINDS[type(inner)], getattr(inner, "pitch", None)
        if isinstance(inner, Revolute) or travel == 0.0:  # a screw that does not travel is a hinge
            kind = "revolute" if W.is_bounded(c, "lower", "upper") else "continuous"
        names = (WORLD if body == WORLD else group.local(body, what) for body in (c.parent, c.child))
        ends = [value(tag, _text(name)) for tag, name in zip(("parent", "child"), names, strict=True)]
        pitch = value("screw_thread_pitch", _turn(travel or 0.0)) if kind == "screw" else []
        armature = value("cardan:armature", numbers(c.armature)) if c.armature and any(c.armature) else []
        mimic = self._mimic(group, c)
        axes = [_axis(c, i, tag, direction, mimic) for i, (tag, direction) in enumerate(_axes(c, inner))]
        sensors = [_sensor(frame, c.child_pose.inverse() @ frame.pose) for frame in self.form.sensors.get(c.name, ())]
        pose = _pose(c.child_pose)  # in the child, but where the child is placed by this joint
        if self.form.tree.get(c.child) is c and _stands_in_parent(group, c):
            pose = _pose(c.parent_pose, "__model__" if c.parent == WORLD else group.local(c.parent, ""))
        attributes = {"name": _text(group.local(self.form.called[c.name], what)), "type": kind}
        return element("joint", attributes, pose, *ends, pitch, *axes, armature, *sensors)

    def _mimic(self, group: ModelParts, c: Connection) -> Lines:
        if not isinstance(c.joint, Mimic):
            return []
        leader = {"joint": _text(group.local(self.form.called[c.joint.primary], f"joint {c.name!r}"))}
        ratio = value("multiplier", repr(c.joint.multiplier)), value("offset", repr(c.joint.offset))
        return on_a_line(element("mimic", leader, *ratio, value("reference", "0")))


def _stands_in_parent(group: ModelParts, c: Connection) -> bool:
    """Return whether the pose of a joint can be given in its parent: both, and the child, are in one model."""
    on_world = c.parent == WORLD and not group.prefix
    return c.child in group.links and (on_world or c.parent in group.links)


def _inertial(body: Body | None) -> Lines:
    inertia: Any = Inertia.zero() if body is None or body.inertia is None else body.inertia
    if inertia.mass == 0.0 and any(inertia.first_moment):
        raise W.refused("SDF", f"inertia of body {body.name!r}", "a first moment of no mass")  # pyright: ignore
    com, entries = W.inertial(inertia)
    moments = [value(tag, repr(float(e))) for tag, e in zip(ENTRIES, entries, strict=True)]
    mass = value("mass", repr(float(inertia.mass)))
    return element("inertial", {}, mass, _pose(SE3(translation=com)), on_a_line(element("inertia", {}, *moments)))


def _names(shapes: Sequence[Shape]) -> list[str]:
    taken: dict[tuple[str, str], None] = {}
    for shape in shapes:
        name, count = shape.name or shape.role, 0
        while (shape.role, name) in taken:
            count += 1
            name = f"{shape.name or shape.role}_{count}"
        taken[shape.role, name] = None
    return [name for _, name in taken]


def _geometry(shape: Shape, what: str) -> Lines:
    geometry = shape.geometry
    if isinstance(geometry, (Box, Sphere, Ellipsoid, Capsule, Cylinder, Cone)):
        lengths = (value(tag, text) for tag, text in W.dimensions(geometry).items())
        return element(type(geometry).__name__.lower(), {}, *lengths)
    if isinstance(geometry, Plane):
        return element("plane", {}, value("normal", "0 0 1"))
    if not isinstance(geometry, Mesh) or not geometry.uri.strip():
        raise W.refused("SDF", f"the geometry of {what}", geometry)
    scale = [] if geometry.scale == (1.0, 1.0, 1.0) else value("scale", numbers(geometry.scale))
    return element("mesh", {}, value("uri", _text(geometry.uri)), scale)


def _look(shape: Shape) -> Lines:
    name = {"cardan:name": _text(shape.material)} if shape.material else {}
    colour = [] if shape.rgba is None else value("diffuse", numbers(shape.rgba))
    albedo = value("albedo_map", _text(shape.texture)) if shape.texture else []
    pbr = element("pbr", {}, element("metal", {}, albedo)) if albedo else []
    return on_a_line(element("material", name, colour, pbr)) if name or colour or pbr else []


def _material(surface: Material, what: str) -> list[Lines]:
    default = Material()
    for key in ("stiffness", "dissipation", "rolling", "anisotropy", "priority"):
        if getattr(surface, key) != getattr(default, key):
            raise W.refused("SDF", f"the {key} of the surface of {what}", getattr(surface, key))
    if surface.torsional and not surface.friction:
        raise W.refused("SDF", f"the surface of {what}", "torsional friction without friction")
    number = repr(surface.friction or 0.0)
    mu = value("mu", number) + value("mu2", number)
    torsional = value("patch_radius", repr(surface.torsional / PATCH)) + value("coefficient", "1.0")
    turning = element("torsional", {}, torsional) if surface.torsional else []
    friction = element("friction", {}, element("ode", {}, mu), turning)
    bounce = value("restitution_coefficient", repr(surface.restitution))
    return [friction, element("bounce", {}, bounce) if surface.restitution else []]


def _masks(shapes: Sequence[Shape]) -> dict[Bits, Lines]:
    """Return for each group and mask the bitmasks by which the same shapes collide; none where nothing is said."""
    kinds = list(dict.fromkeys((s.group, s.mask) for s in shapes if s.role == "collision"))
    if kinds in ([], [EVERYTHING]):
        return {}
    if all(group == mask < 1 << _BITS for group, mask in kinds):
        return {kind: value("collide_bitmask", str(kind[0])) for kind in kinds}
    if len(kinds) > _BITS:
        raise W.refused("SDF", "groups and masks of shapes", f"{len(kinds)} kinds", "it has 16 bits")
    bits = one_bit_each(kinds, both_ways).items()
    return {k: value("collide_bitmask", str(b)) + value("category_bitmask", str(a)) for k, (a, b) in bits}


def _axes(c: Connection, inner: Any) -> list[tuple[str, Any]]:
    """Return the axes of a joint that are written, by tag; a ball has one of no direction where something resists."""
    if isinstance(inner, Universal):
        return [("axis", inner.axis1), ("axis2", inner.axis2)]
    has_dynamics = any((*(c.damping or ()), *(c.friction or ())))
    is_written = hasattr(inner, "axis") or (has_dynamics and c.joint.nv == 3)
    return [("axis", getattr(inner, "axis", None))] if is_written else []


def _axis(c: Connection, i: int, tag: str, direction: Any, mimic: Lines) -> Lines:
    xyz = value("xyz", "0 0 1" if direction is None else numbers(W.axis(direction)))
    limits = {key: getattr(c.limits, key) for key in ("lower", "upper", "effort", "velocity")}
    bounds = [value(key, repr(float(e[i]))) for key, e in limits.items() if e is not None and math.isfinite(e[i])]
    acting = zip(PASSIVE, (c.damping, c.friction, c.spring_stiffness, c.spring_rest), strict=True)
    dynamics = [value(key, repr(float(e[i]))) for key, e in acting if e and e[i]]
    inside = {"limit": bounds, "dynamics": dynamics}
    return element(tag, {}, xyz, *(on_a_line(element(key, {}, *e)) for key, e in inside.items() if e), mimic)


def _turn(pitch: float) -> str:
    """Return the travel of a turn, from which the reader makes the pitch again, to the last bit if there is one."""
    travel = 2.0 * math.pi * pitch
    return repr(next(iter(W.exact(travel, lambda e: e / (2.0 * math.pi) == pitch)), travel))


def _frame(group: ModelParts, frame: Frame, anchor: str) -> Lines:
    what = f"frame {frame.name!r}"
    body = anchor if frame.body == WORLD else group.local(frame.body, what)
    if frame.body == WORLD and group.prefix:
        raise UnsupportedError(f"{what}, which is on the world", "SDF", "name it without '::' (Mechanism.renamed)")
    kind = {} if frame.kind == "operational" else {"cardan:kind": frame.kind}
    attributes = {"name": _text(group.local(frame.name, what)), "attached_to": _text(body)}
    return on_a_line(element("frame", attributes | kind, _pose(frame.pose)))


def _sensor(frame: Frame, pose: SE3) -> Lines:
    name = _text(frame.name.rpartition("::")[2])
    return on_a_line(element("sensor", {"name": name, "type": "custom"}, _pose(pose)))


def _pose(pose: SE3, relative_to: str = "") -> Lines:
    """Return a pose; nothing for the identity in the frame that counts anyway."""
    attributes = {"relative_to": _text(relative_to)} if relative_to else {}
    if pose == SE3.identity():
        return element("pose", attributes) if attributes else []
    return value("pose", f"{numbers(pose.translation)} {numbers(W.rpy(pose.rotation))}", attributes)


def _text(text: str) -> str:
    if UNWRITABLE.search(text) or text != text.strip():
        expected = "characters XML can hold, and no white space around"
        raise ParameterError("a name in SDF", got=text, expected=expected, hint=f"{W.INSTEAD}.")
    return escaped(text)
