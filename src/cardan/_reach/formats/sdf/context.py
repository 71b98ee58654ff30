"""What every part of an SDF is read with: where faults go, where things are, what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from cardan._algebra.spatial import SE3
from cardan._reach.formats.report import At, Report
from cardan._reach.formats.sdf.frames import Frames
from cardan._reach.formats.sdf.scopes import Entry, Target
from cardan._reach.formats.sdf.values import pose_of
from cardan._reach.formats.xml import Element


@dataclass(slots=True)
class Reading:
    """What every part needs: where faults go, and where things are."""

    report: Report
    frames: Frames
    continuous: str = "angle"
    has_masks: bool = False  # whether any shape says with which it collides
    places: dict[tuple[str, str], At] = field(default_factory=dict)


def pose_on(r: Reading, entry: Entry, element: Element) -> SE3:
    """Return X_entry_element for an element on a link, or joint, that has no frame of its own."""
    pose = pose_of(entry.document.report, element)
    if not pose.relative_to:
        return pose.X
    found = r.frames.find(entry.home, pose.relative_to, pose.at, f"pose of <{element.tag}>")
    return pose.X if found is None else r.frames.between(Target((), entry, entry.home), found) @ pose.X
