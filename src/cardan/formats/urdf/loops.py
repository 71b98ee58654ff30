"""What URDF has no element for and cardan reads and writes nevertheless: loops, and frames on links.

A loop is that of URDF+: `<loop name type>` with `<predecessor link>` and `<successor link>`, each with the `<origin>`
of the joint's frame on it, and an `<axis>`. A frame is that of Drake: `<frame name link xyz rpy/>`. Programs that know
neither skip both and see the tree.

Source: Chignoli, Slotine, Wensing and Kim, URDF+: an enhanced URDF for robots with kinematic loops (2024), and the
models of the authors' library; Drake's documentation of `multibody::Parser`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cardan.errors import quoted
from cardan.formats.urdf.links import Reading, read_pose
from cardan.formats.xml import Element
from cardan.model import FRAME_KINDS
from cardan.spatial import SE3


@dataclass(frozen=True, slots=True)
class UrdfFrame:
    """A frame on a link as read; whether the link exists is checked later."""

    name: str
    line: int
    link: str
    pose: SE3
    kind: Literal["operational", "sensor"]


def read_frame(r: Reading, element: Element) -> UrdfFrame | None:
    """Return a frame, or None if it lacks its name or link."""
    name, link, pose = r.report.text(element, "name"), r.report.text(element, "link"), read_pose(r, element)
    kind = element.attributes.get("kind", "operational")
    if kind not in FRAME_KINDS:
        r.report.error(
            element, f"frame {quoted(name or '')}: its kind is {quoted(kind)}, not 'operational' or 'sensor'"
        )
        return None
    return None if name is None or link is None else UrdfFrame(name, element.line, link, pose, kind)
