"""The SDF reader: a model or a world into a `Mechanism`, every fault with its file and line.

Links stand where their poses put them; a joint is at rest there. Names are those of the file, without the model's own
where there is but one model; in models in models, and in a world of several, they are scoped as Gazebo does,
`model::link`. Static models are fixed on the world. A part that hangs on nothing floats on a joint of its own, unless
it is all there is in the file: then the caller's base is its base.

Source: the specification of SDFormat 1.12 (sdformat.org/spec) and its pose-frame semantics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Matrix3
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import FilePlace, Report, listed
from cardan._reach.formats.resources import Packages
from cardan._reach.formats.sdf.documents import Document, Library
from cardan._reach.formats.sdf.frames import Attached, Frames, SdfReading
from cardan._reach.formats.sdf.joints import SdfJoint, as_mimic, read_joint
from cardan._reach.formats.sdf.links import SdfLink, read_link
from cardan._reach.formats.sdf.scopes import MODEL_FRAME, ROOT, SEPARATOR, Builder, Destination, Entry, Scope
from cardan._reach.formats.sdf.solids import refiltered
from cardan._reach.formats.sdf.values import vector_of
from cardan._reach.formats.sdf.writer import write_sdf
from cardan._reach.formats.source import Source
from cardan._reach.formats.tree_at_rest import connected
from cardan._reach.formats.urdf.reader import read as read_urdf
from cardan._reach.formats.xml import Element, parse
from cardan._robot.description import Mechanism
from cardan._robot.joints import Fixed, FreeFlyer, Joint
from cardan._robot.model import WORLD
from cardan._robot.model.layout import resolve_mimics
from cardan._robot.records import EARTH_GRAVITY, Frame

SHOWN = 3
WORLD_GRAVITY = (0.0, 0.0, -9.8)  # what SDF says of a world that does not


@dataclass(slots=True)
class _Parts:
    """What a description holds, as read."""

    links: list[SdfLink] = field(default_factory=list)
    joints: list[SdfJoint] = field(default_factory=list)
    frames: list[tuple[Entry, Frame]] = field(default_factory=list)


def read(source: Source, options: Options) -> Description:
    """Return what an SDF holds."""
    report = Report(source.name)
    library = Library(report, options.package_dirs, partial(_urdf_as_sdf, options.package_dirs))
    document = library.first(source)
    if document is None:
        return Description(None, report)
    element = _chosen_root(document, options.model)
    if element is None:
        return Description(None, report)
    scope = _scopes(library, document, element, options)
    if options.model is not None and options.model not in scope.names:
        hint = report.nearest(options.model, scope.names) or f"; the models are {', '.join(map(quoted, scope.names))}"
        report.error(element, f"there is no model {quoted(options.model)}{hint}")
    reading = SdfReading(report, Frames(report), options.continuous)
    gravity = EARTH_GRAVITY if element.tag == "sdf" else vector_of(report, element, "gravity", WORLD_GRAVITY)
    parts = _read(reading, scope, options.model)
    if report.errors:
        return Description(None, report)
    mechanism = Mechanism(_name(scope, options.model), gravity)
    _fill(reading, mechanism, parts, is_floating=element.tag == "world" and options.model is None)
    return Description(None if report.errors else mechanism, report, reading.places)


def _urdf_as_sdf(packages: Packages | None, source: Source, report: Report) -> Element | None:
    """Return a URDF that is included as the writer of SDF has it."""
    found = read_urdf(source, Options(package_dirs=packages))
    report.include(found.report)
    with report.blamed(1):
        if found.thing is not None:
            text = write_sdf(found.thing).text.encode()
            return parse(Source(source.name, text, source.folder, "utf-8"))
    return None


def _chosen_root(document: Document, chosen: str | None) -> Element | None:
    """Return the world of a file, or its root where it has models alone."""
    report, root = document.report, document.root
    worlds, models = list(root.all("world")), [*root.all("model"), *root.all("include")]
    if worlds:
        report.text(worlds[0], "name")
        for other in (*worlds[1:], *models):
            report.warn(other, f"<{other.tag}> is left out: the file's first <world> is read")
        return worlds[0]
    if not models:
        report.error(root, "<sdf> holds no <model> and no <world>")
        return None
    if chosen is not None:
        return root
    for other in models[1:]:
        name = quoted(other.attributes.get("name", "..."))
        report.warn(
            other, f"<{other.tag}> is left out: outside of a <world> the first is read; choose with model={name}"
        )
    return replace(root, children=models[:1])


def _scopes(library: Library, document: Document, element: Element, options: Options) -> Scope:
    models = [e for e in element.children if e.tag in ("model", "include")]
    others = [e for e in element.children if e.tag in ("frame", "joint")]
    plain = options.model or (len(models) == 1 and not others)
    scope = Scope("", element, document, is_world=True)
    Builder(library, plain).fill(scope, (document.path,))
    return scope


def _read(r: SdfReading, scope: Scope, only: str | None) -> _Parts:
    parts = _Parts()
    scopes = [scope] if only is None else [e.scope for e in scope.names.values() if e.name == only and e.scope]
    r.has_masks = any(
        e.tag == "collide_bitmask" for s in scopes for link in s.entries("link") for e in link.element.walk()
    )
    for inner in scopes:
        _check_models(r, inner)
        parts.links += [read_link(r, entry) for entry in inner.entries("link")]
        found = [read_joint(r, entry) for entry in inner.entries("joint")]
        parts.joints += [joint for joint in found if joint is not None]
        parts.frames += _frames(r, inner)
    _remark_on_inertia(r, parts.links)
    if not parts.links and not r.report.errors:
        r.report.warn(scope.element, f"<{scope.element.tag}> holds no <link>: the mechanism has no body")
    by_entry = {joint.entry: joint for joint in parts.joints}
    parts.joints = [as_mimic(r, joint, by_entry) for joint in parts.joints]
    for document in {link.entry.document for link in parts.links}:
        document.meshes.tell(document.report)
    return parts


def _check_models(r: SdfReading, scope: Scope) -> None:
    for entry in scope.entries("model"):
        inner = entry.scope
        if inner is None or not inner.is_whole:
            continue
        r.frames.link(Destination((), None, inner))
        if not inner.static and not any(e.tag in ("link", "model", "include") for e in inner.element.children):
            entry.document.report.error(entry.element, f"model {quoted(entry.name)} has no <link>; a model needs one")


def _frames(r: SdfReading, scope: Scope) -> Iterator[tuple[Entry, Frame]]:
    for entry in scope.entries("frame"):
        if entry.name.endswith(f"{SEPARATOR}{MODEL_FRAME}"):
            continue  # SDF 1.7 wrote out those of models in models
        here = Destination((), entry, entry.home)
        link = r.frames.link(here)
        pose = r.frames.on_link(link, here)
        kind = "sensor" if entry.element.attributes.get("cardan:kind") == "sensor" else "operational"
        with r.report.blamed(entry.at):
            yield entry, Frame(entry.full_name, _body(link), pose, kind)


def _remark_on_inertia(r: SdfReading, links: Sequence[SdfLink]) -> None:
    without = [link for link in links if next(link.entry.element.all("inertial"), None) is None]
    if without:
        names = listed([link.entry.name for link in without], SHOWN)
        told = f"without <inertial>, as SDF says, 1 kg and 1 kg m^2 about every axis: {len(without)} link(s), {names}"
        r.report.remark(without[0].entry.at, told)


def _fill(r: SdfReading, mechanism: Mechanism, parts: _Parts, *, is_floating: bool) -> None:
    for link in parts.links:
        with _placed(r, "body", link.entry.full_name, link.entry.at):
            mechanism.add_body(link.entry.full_name, link.inertia)
    with r.report.blamed(1):
        for shape in refiltered(r.report, [shape for link in parts.links for shape in link.shapes]):
            mechanism.add_shape(shape)
    _add_static(r, mechanism, parts)
    _add_joints(r, mechanism, parts)
    _add_bases(r, mechanism, parts, is_floating=is_floating)
    sensors = [(x.entry, frame) for x in (*parts.links, *parts.joints) for frame in x.sensors]
    for entry, frame in (*parts.frames, *sensors):
        with _placed(r, "frame", frame.name, entry.at):
            mechanism.add_frame(frame.name, frame.body, frame.pose, frame.kind)


@contextmanager
def _placed(r: SdfReading, kind: str, name: str, at: FilePlace) -> Iterator[None]:
    """Note where something is described, and what is refused of it."""
    r.places.setdefault((kind, name), at)
    with r.report.blamed(at):
        yield


def _name(scope: Scope, only: str | None) -> str:
    """Return the name of the mechanism: that of the one model, or of the world."""
    if only is not None:
        return only
    models = [entry for entry in scope.names.values() if entry.kind == "model"]
    named = models[0].element if len(models) == 1 and models[0].scope.prefix == "" else scope.element  # pyright: ignore
    return named.attributes.get("name", "").strip() or "mechanism"


def _add_static(r: SdfReading, mechanism: Mechanism, parts: _Parts) -> None:
    """Fix the links of static models on the world, and tell of joints between them, which cannot move."""
    for link in parts.links:
        if link.entry.home.static:
            _fix(r, mechanism, link.entry, f"{link.entry.full_name}_static", Fixed())
    idle = [joint for joint in parts.joints if _is_idle(joint)]
    if idle:
        names = listed([joint.entry.full_name for joint in idle], SHOWN)
        r.report.warn(idle[0].entry.at, f"{len(idle)} joint(s) between links of static models are left out: {names}")


def _fix(r: SdfReading, mechanism: Mechanism, link: Entry, name: str, joint: Joint) -> None:
    with _placed(r, "joint", name, link.at):
        mechanism.add_joint(name, joint, WORLD, link.full_name, r.frames.in_root(link))


def _is_idle(joint: SdfJoint) -> bool:
    return all(link is None or link.home.static for link in (joint.parent, joint.child))


def _add_joints(r: SdfReading, mechanism: Mechanism, parts: _Parts) -> None:
    for joint in parts.joints:
        name, poses = joint.entry.full_name, (joint.parent_pose, joint.child_pose)
        if not _is_idle(joint):
            with _placed(r, "joint", name, joint.entry.at):
                ends = _body(joint.parent), _body(joint.child)
                mechanism.add_joint(name, joint.joint, *ends, *poses, joint.limits, **joint.properties)
    with r.report.blamed(1):
        resolve_mimics(mechanism.joints)


def _body(link: Attached) -> str:
    return WORLD if link is None else link.full_name


def _add_bases(r: SdfReading, mechanism: Mechanism, parts: _Parts, *, is_floating: bool) -> None:
    """Let every part that hangs on nothing float, or mark where the file has the only one."""
    anchors = list(_loose(mechanism, parts))
    if not is_floating and len(anchors) == 1:
        _mark_root(r, mechanism, anchors[0])
        return
    taken = {c.name for c in mechanism.joints}
    for link in anchors:
        names = (f"{link.entry.home.prefix}root", f"{link.entry.home.prefix}root_{link.entry.name}")
        name = names[1] if names[0] in taken else names[0]
        taken.add(name)
        _fix(r, mechanism, link.entry, name, FreeFlyer())


def _loose(mechanism: Mechanism, parts: _Parts) -> Iterator[SdfLink]:
    """Yield of every part that does not hang on the world the first link that is no joint's child."""
    forest = connected((body.name for body in mechanism.bodies), mechanism.joints)
    children = {c.child for c in mechanism.joints}
    groups: dict[str, list[SdfLink]] = {}
    for link in parts.links:
        groups.setdefault(forest.find(link.entry.full_name), []).append(link)
    for part, links in groups.items():
        if part != forest.find(WORLD):
            yield next((link for link in links if link.entry.full_name not in children), links[0])


def _mark_root(r: SdfReading, mechanism: Mechanism, anchor: SdfLink) -> None:
    """Add a frame where the file's own is, if the root link does not stand there."""
    X = r.frames.in_root(anchor.entry)
    if SE3.identity() == X:
        return
    name = quoted(anchor.entry.name)
    told = (
        f"link {name} does not stand at the file's origin, where cardan.load puts it; root={ROOT!r} puts it where it is"
    )
    note = r.report.remark if Matrix3.identity() == X.rotation else r.report.warn
    note(anchor.entry.at, told)
    with r.report.blamed(anchor.entry.at):
        mechanism.add_frame(ROOT, anchor.entry.full_name, X.inverse())
