"""The SDF reader: a model or a world into a `Mechanism`, every fault with its file and line.

Links stand where their poses put them; a joint is at rest there. Names are those of the file, without the model's own
where there is but one model; in models in models, and in a world of several, they are scoped as Gazebo does,
`model::link`. Static models are fixed on the world. A part that hangs on nothing floats on a joint of its own, unless
it is all there is in the file: then the caller's base is its base.

Source: the specification of SDFormat 1.12 (sdformat.org/spec) and its pose-frame semantics.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3, Matrix3
from cardan._reach.formats.reading import Description, Options, Packages
from cardan._reach.formats.report import Report, listed
from cardan._reach.formats.sdf.frames import Attached, Frames, SdfReading
from cardan._reach.formats.sdf.joints import JointReader, SdfJoint, as_mimic
from cardan._reach.formats.sdf.links import SdfLink, read_link, refiltered
from cardan._reach.formats.sdf.scopes import (
    MODEL_FRAME,
    ROOT,
    SEPARATOR,
    Builder,
    Destination,
    Entry,
    Scope,
    SdfFile,
    SdfFiles,
)
from cardan._reach.formats.sdf.values import flag_of, vector_of
from cardan._reach.formats.sdf.writer import write_sdf
from cardan._reach.formats.source import Source
from cardan._reach.formats.urdf.reader import read as read_urdf
from cardan._reach.formats.written import connected
from cardan._reach.formats.xml import Element, parse
from cardan._robot.description import Mechanism
from cardan._robot.joints import Fixed, FreeFlyer, Joint
from cardan._robot.model import WORLD
from cardan._robot.model.layout import resolve_mimics
from cardan._robot.records import EARTH_GRAVITY, Frame

SHOWN = 3
WORLD_GRAVITY = (0.0, 0.0, -9.8)  # what SDF says of a world that does not


def read(source: Source, options: Options) -> Description:
    report = Report(source.name)
    library = SdfFiles(report, options.package_dirs, partial(_urdf_as_sdf, report, options.package_dirs))
    document = library.first(source)
    if document is None:
        return Description(None, report)
    element = _chosen_root(report, document, options.model)
    if element is None:
        return Description(None, report)
    models = [e for e in element.children if e.tag in ("model", "include")]
    others = [e for e in element.children if e.tag in ("frame", "joint")]
    scope = Scope("", element, document, is_world=True, files=(document.path,))
    Builder(library, options.model or (len(models) == 1 and not others)).fill(scope)
    if options.model is not None and options.model not in scope.names:
        hint = report.nearest(options.model, scope.names) or f"; the models are {', '.join(map(quoted, scope.names))}"
        report.error(element, f"there is no model {quoted(options.model)}{hint}")
    reading = SdfReading(report, Frames(report), options.continuous)
    gravity = EARTH_GRAVITY if element.tag == "sdf" else vector_of(report, element, "gravity", WORLD_GRAVITY)
    parts = _Parts(reading, scope, options.model)
    if report.errors:
        return Description(None, report)
    mechanism = Mechanism(_name(scope, options.model), gravity)
    parts.add_to(mechanism, is_floating=element.tag == "world" and options.model is None)
    return Description(None if report.errors else mechanism, report)


def _urdf_as_sdf(report: Report, packages: Packages | None, source: Source, root: Element) -> Element | None:
    """Return a URDF that is included as the writer of SDF has it."""
    found = read_urdf(source, Options(package_dirs=packages))
    report.include(found.report)
    with report.blamed(root):
        if found.thing is not None:
            if found.thing.actuators:
                report.warn(root, f"{len(found.thing.actuators)} actuator(s) of the URDF are left out: SDF has none")
            return parse(Source(source.name, write_sdf(found.thing).text.encode(), source.folder, "utf-8"))
    return None


def _chosen_root(report: Report, document: SdfFile, chosen: str | None) -> Element | None:
    """Return the world of a file, or its root where it has models alone."""
    root = document.root
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
        which = f"choose with model={quoted(other.attributes.get('name', '...'))}"
        report.warn(other, f"<{other.tag}> is left out: outside of a <world> the first is read; {which}")
    return replace(root, children=models[:1])


def _name(scope: Scope, only: str | None) -> str:
    """Return the name of the mechanism: that of the one model, or of the world."""
    models = [entry for entry in scope.names.values() if entry.kind == "model" and entry.scope is not None]
    if len(models) == 1 and models[0].scope is not None and models[0].scope.prefix == "":
        return models[0].name  # that of its include, if it has one
    return only or scope.element.attributes.get("name", "").strip() or "mechanism"


def _body(link: Attached) -> str:
    return WORLD if link is None else link.full_name


class _Parts:
    """Links, joints and frames as read, in document order; put into a mechanism if all is right."""

    def __init__(self, r: SdfReading, scope: Scope, only: str | None) -> None:
        self.r = r
        self.links: list[SdfLink] = []
        self.joints: list[SdfJoint] = []
        self.frames: list[tuple[Entry, Frame]] = []
        scopes = [scope] if only is None else [e.scope for e in scope.names.values() if e.name == only and e.scope]
        links = [link for s in scopes for link in s.entries("link")]
        r.has_masks = any(e.tag == "collide_bitmask" for link in links for e in link.element.walk())
        for inner in scopes:
            self._read(inner)
        without = [link for link in self.links if next(link.entry.element.all("inertial"), None) is None]
        if without:
            count = f"{len(without)} link(s), {listed([link.entry.name for link in without], SHOWN)}"
            usual = "without <inertial>, as SDF says, 1 kg and 1 kg m^2 about every axis"
            r.report.remark(without[0].entry.element, f"{usual}: {count}")
        if not self.links and not r.report.errors:
            r.report.warn(scope.element, f"<{scope.element.tag}> holds no <link>: the mechanism has no body")
        by_entry = {joint.entry: joint for joint in self.joints}
        self.joints = [as_mimic(r, joint, by_entry) for joint in self.joints]
        for document in {link.entry.document for link in self.links}:
            document.meshes.tell(r.report)

    def _read(self, scope: Scope) -> None:
        r = self.r
        for entry in scope.entries("model"):
            inner = entry.scope
            if inner is None or not inner.is_whole:
                continue
            r.frames.link(Destination((), None, inner))  # a canonical link that does not exist is an error
            if not inner.static and not any(e.tag in ("link", "model", "include") for e in inner.element.children):
                message = f"model {quoted(entry.name)} has no <link>; a model needs one"
                r.report.error(entry.element, message)
        self.links += [read_link(r, entry) for entry in scope.entries("link")]
        joints = [JointReader(r, entry).read() for entry in scope.entries("joint")]
        self.joints += [joint for joint in joints if joint is not None]
        for entry in scope.entries("frame"):
            if entry.name.endswith(f"{SEPARATOR}{MODEL_FRAME}"):
                continue  # SDF 1.7 wrote out those of models in models
            here = Destination((), entry, entry.home)
            link = r.frames.link(here)
            pose = r.frames.on_link(link, here)
            kind = "sensor" if entry.element.attributes.get("cardan:kind") == "sensor" else "operational"
            with r.report.blamed(entry.element):
                self.frames.append((entry, Frame(entry.full_name, _body(link), pose, kind)))

    def add_to(self, mechanism: Mechanism, *, is_floating: bool) -> None:
        """Put what was read into a mechanism; faults found even now go to the report."""
        r = self.r
        for link in self.links:
            with self.r.report.described("body", link.entry.full_name, link.entry.element):
                mechanism._add_body(link.entry.full_name, link.inertia)
        with r.report.blamed(1):
            for shape in refiltered(r.report, [shape for link in self.links for shape in link.shapes]):
                mechanism.add_shape(shape)
        self._set_self_collision(mechanism)
        self._add_joints(mechanism)
        self._add_bases(mechanism, is_floating=is_floating)
        sensors = [(x.entry, frame) for x in (*self.links, *self.joints) for frame in x.sensors]
        for entry, frame in (*self.frames, *sensors):
            with self.r.report.described("frame", frame.name, entry.element):
                mechanism.add_frame(frame.name, frame.body, frame.pose, frame.kind)

    def _set_self_collision(self, mechanism: Mechanism) -> None:
        """Let links of a model touch where either says so itself, or its model does for all that say nothing."""
        report, apart = self.r.report, dict[Scope, list[str]]()
        for entry in (link.entry for link in self.links):
            said = flag_of(report, entry.home.element, "self_collide")
            if flag_of(report, entry.element, "self_collide", default=said):
                mechanism.self_collision = True
            else:
                apart.setdefault(entry.home, []).append(entry.full_name)
        for links in apart.values() if mechanism.self_collision else ():
            for pair in combinations(links, 2):
                mechanism.disable_contact(*pair)

    def _add_joints(self, mechanism: Mechanism) -> None:
        """Fix the links of static models on the world; joints between them, which cannot move, are left out."""
        for link in self.links:
            if link.entry.home.static:
                self._fix(mechanism, link.entry, f"{link.entry.full_name}_static", Fixed())
        idle, moving = [], []
        for j in self.joints:
            is_idle = all(link is None or link.home.static for link in (j.parent, j.child))
            (idle if is_idle else moving).append(j)
        if idle:
            names = listed([joint.entry.full_name for joint in idle], SHOWN)
            message = f"{len(idle)} joint(s) between links of static models are left out: {names}"
            self.r.report.warn(idle[0].entry.element, message)
        for j in moving:
            with self.r.report.described("joint", j.entry.full_name, j.entry.element):
                ends = _body(j.parent), _body(j.child), j.parent_pose, j.child_pose
                mechanism.add_joint(j.entry.full_name, j.joint, *ends, j.limits, **j.properties)
        with self.r.report.blamed(1):
            resolve_mimics(mechanism.joints)

    def _fix(self, mechanism: Mechanism, link: Entry, name: str, joint: Joint) -> None:
        with self.r.report.described("joint", name, link.element):
            mechanism.add_joint(name, joint, WORLD, link.full_name, self.r.frames.in_root(link))

    def _add_bases(self, mechanism: Mechanism, *, is_floating: bool) -> None:
        """Let every part that hangs on nothing float, or mark where the file has the only one."""
        forest = connected((body.name for body in mechanism.bodies), mechanism.joints)
        children, taken = {c.child for c in mechanism.joints}, {c.name for c in mechanism.joints}
        entries = {link.entry.full_name: link.entry for link in self.links}
        firsts = [entries[body] for body in forest.anchors(entries, lambda body: body in children)]
        if not is_floating and len(firsts) == 1:
            self._mark_root(mechanism, firsts[0])
            return
        for link in firsts:
            name = f"{link.home.prefix}root"
            name = f"{name}_{link.name}" if name in taken else name
            taken.add(name)
            self._fix(mechanism, link, name, FreeFlyer())

    def _mark_root(self, mechanism: Mechanism, link: Entry) -> None:
        """Add a frame where the file's own is, if the root link does not stand there."""
        report, X = self.r.report, self.r.frames.in_root(link)
        if SE3.identity() == X:
            return
        where = f"link {quoted(link.name)} does not stand at the file's origin, where cardan.load puts it"
        note = report.remark if Matrix3.identity() == X.rotation else report.warn
        note(link.element, f"{where}; root={ROOT!r} puts it where it is")
        with report.blamed(link.element):
            mechanism.add_frame(ROOT, link.full_name, X.inverse())
