"""Where everything is: poses and attachments of SDF, resolved.

A pose says where something is relative to something else; what it is fixed to is another question. Both are chains of
names, which must end: poses at the frame of the scope, attachments at a link.

    X_scope_thing = X_scope_other pose        X_scope_model = X_scope_other pose (X_model_placement)^-1

Source: the pose-frame semantics of SDFormat (sdformat.org, tutorials "pose_frame_semantics").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from cardan._algebra.errors import quoted
from cardan._algebra.spatial import SE3
from cardan._reach.formats.report import Report
from cardan._reach.formats.sdf.scopes import Destination, Entry, Scope
from cardan._reach.formats.sdf.values import pose_of
from cardan._reach.formats.xml import Element

Attached = Entry | None  # A link, or the world
_ONE = SE3.identity()
NEAR = 4  # so many steps up two chains a common frame is looked for: there, poses come out as they are written
_SHOWN = 6


@dataclass(slots=True)
class Frames:
    """Resolves the names of one description; what leads nowhere, or round, is an error."""

    report: Report
    _poses: dict[Entry, SE3] = field(default_factory=dict)
    _references: dict[Entry, Destination | None] = field(default_factory=dict)
    _in_root: dict[Entry, SE3] = field(default_factory=dict)
    _links: dict[Entry | Scope, Attached] = field(default_factory=dict)
    _told: set[tuple[Scope, str, str]] = field(default_factory=set)

    def find(self, scope: Scope, name: str, at: Element, what: str) -> Destination | None:
        found = scope.find(name)
        if found is None and (scope, name, what) not in self._told and not scope.may_have(name):
            self._told.add((scope, name, what))
            names = list(islice(scope.visible(), _SHOWN + 1))
            shown = ", ".join(map(quoted, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
            others = f"; the names there are {shown}" if names else "; it is empty"
            hint = self.report.nearest(name, scope.visible()) or others
            where = "the world" if scope.is_world else f"model {quoted(scope.element.attributes.get('name', ''))}"
            self.report.error(at, f"{what}: there is no {quoted(name)} in {where}{hint}")
        return found

    def reference(self, entry: Entry) -> Destination | None:
        """Return what the pose of something is relative to; None stands for the frame of its scope."""
        if entry not in self._references:
            name = entry.pose.relative_to or entry.attached_to
            what = f"pose of {entry.kind} {quoted(entry.name)}" if entry.pose.relative_to else _says(entry)
            at = entry.pose.at if entry.pose.relative_to else entry.element
            self._references[entry] = self.find(entry.home, name, at, what) if name else None
        return self._references[entry]

    def pose(self, entry: Entry) -> SE3:
        """Return X_scope_entry, in the scope the entry stands in."""
        waiting, open_ = [entry], dict.fromkeys([entry])
        while waiting:
            current = waiting[-1]
            missing = next((e for e in self._needed(current) if e not in self._poses), None)
            if missing is None:
                X, placement = _product(self._along(self.reference(current)), current.pose.X), self._placement(current)
                self._poses[current] = X if placement is None else X @ self._along(placement).inverse()
                open_.pop(waiting.pop())
            elif missing in open_:
                self._refuse_cycle(list(open_), missing, "poses")
                self._poses[missing] = missing.pose.X
            else:
                waiting.append(missing)
                open_[missing] = None
        return self._poses[entry]

    def _needed(self, entry: Entry) -> Iterator[Entry]:
        """Yield what the pose of something is computed from."""
        for target in (self.reference(entry), self._placement(entry)):
            if target is not None:
                yield from target.models
                if target.entry is not None:
                    yield target.entry

    def _placement(self, entry: Entry) -> Destination | None:
        """Return what in a model its pose is the pose of; None for the model's own frame."""
        scope = entry.scope
        if scope is None or not scope.placement:
            return None
        return self.find(scope, scope.placement, scope.element, "placement_frame")

    def _along(self, target: Destination | None) -> SE3:
        """Return the pose of a target in the scope its name was said in; what it consists of is known."""
        X = SE3.identity()
        for model in () if target is None else target.models:
            X = _product(X, self._poses[model])
        return X if target is None or target.entry is None else _product(X, self._poses[target.entry])

    def in_root(self, frame: Entry | None) -> SE3:
        """Return X_root_frame: where something is in the file as a whole."""
        if frame is None:
            return SE3.identity()
        if frame not in self._in_root:
            self._in_root[frame] = _product(self.in_root(frame.home.owner), self.pose(frame))
        return self._in_root[frame]

    def between(self, a: Destination, b: Destination) -> SE3:
        """Return X_a_b."""
        above = dict(self._upwards(node_of(a)))
        for node, X in self._upwards(node_of(b)):
            if node in above:
                return _product(above[node].inverse(), X)
        return self.in_root(node_of(a)).inverse() @ self.in_root(node_of(b))

    def on_link(self, link: Attached, target: Destination) -> SE3:
        """Return X_link_target."""
        return self.in_root(node_of(target)) if link is None else self.between(Destination((), link, link.home), target)

    def on_entry(self, entry: Entry, element: Element) -> SE3:
        """Return X_entry_element for an element on a link, or joint, that has no frame of its own."""
        pose = pose_of(self.report, element)
        if not pose.relative_to:
            return pose.X
        found = self.find(entry.home, pose.relative_to, pose.at, f"pose of <{element.tag}>")
        return pose.X if found is None else self.between(Destination((), entry, entry.home), found) @ pose.X

    def _upwards(self, node: Entry | None) -> Iterator[tuple[Entry | None, SE3]]:
        """Yield the frames something is relative to, itself first, and its pose in each; a few of them."""
        X = SE3.identity()
        yield node, X
        for _ in range(NEAR):
            if node is None:
                return
            reference, home = self.reference(node), node.home.owner
            if node.scope is not None and node.scope.placement:
                step, node = self.pose(node), home
            else:  # as it is written
                step, node = node.pose.X, home if reference is None else node_of(reference)
            X = _product(step, X)
            yield node, X

    def link(self, target: Destination) -> Attached:
        """Return the link something is fixed to; None for the world, also where there is none, with a fault."""
        here: Entry | Scope | None = target.entry or target.scope
        path: dict[Entry | Scope, None] = {}
        while here is not None and here not in self._links and not (isinstance(here, Entry) and here.kind == "link"):
            if here in path:
                self._refuse_cycle([e for e in path if isinstance(e, Entry)], here, "attachments")
                here = None
                break
            path[here] = None
            here = self._next(here)
        found = self._links.get(here, here) if here is not None else None
        assert found is None or isinstance(found, Entry)
        self._links.update(dict.fromkeys(path, found))
        return found

    def _next(self, here: Entry | Scope) -> Entry | Scope | None:
        if isinstance(here, Scope):
            return self._canonical(here)
        if here.scope is not None:
            return here.scope
        if not here.attached_to:
            return here.home
        if here.pose.relative_to:
            found = self.find(here.home, here.attached_to, here.element, _says(here))
        else:
            found = self.reference(here)
        return None if found is None else found.entry or found.scope

    def _canonical(self, scope: Scope) -> Entry | Scope | None:
        if scope.is_world:
            return None
        if scope.canonical:
            found = self.find(scope, scope.canonical, scope.element, "canonical_link")
            return None if found is None else found.entry or found.scope
        entries = scope.names.values()
        direct = next((e for e in entries if e.kind == "link" or e.is_merged), None)
        return direct or next((e for e in entries if e.kind == "model"), None)

    def _refuse_cycle(self, path: list[Entry], start: Entry | Scope, what: str) -> None:
        names = [entry.name for entry in path]
        if isinstance(start, Entry) and start in path:
            names = names[path.index(start) :] + [start.name]
        shown = " -> ".join(map(quoted, names[:_SHOWN])) + (" -> ..." if len(names) > _SHOWN else "")
        self.report.error(
            start.element, f"the {what} go round in a circle: {shown}; fix one of them to a link or the model"
        )


def _product(X: SE3, Y: SE3) -> SE3:
    """Return X @ Y; most poses of a file are identities."""
    if _ONE == X:
        return Y
    return X if _ONE == Y else X @ Y


def node_of(target: Destination) -> Entry | None:
    return target.entry or target.scope.owner


def _says(entry: Entry) -> str:
    what = "attached_to" if entry.kind == "frame" else "child"
    return f"{what} of {entry.kind} {quoted(entry.name)}"


@dataclass(slots=True)
class SdfReading:
    """What every part needs: where faults go, and where things are."""

    report: Report
    frames: Frames
    continuous: str = "angle"
    has_masks: bool = False  # whether any shape says with which it collides
