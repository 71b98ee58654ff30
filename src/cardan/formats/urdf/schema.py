"""Which elements and attributes of URDF (1.0 to 1.2) and its extensions (docs/urdf.md) are known.

The reader remarks on what it would silently skip otherwise.
"""

from __future__ import annotations

import difflib

from cardan.formats.report import Report
from cardan.formats.xml import Element

VERSIONS = ("1", "1.0", "1.1", "1.2")

# tag: its attributes, and what may stand in it
ELEMENTS: dict[str, tuple[str, str]] = {
    "robot": ("name version", "link joint material loop frame"),
    "link": ("name type", "inertial visual collision"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "origin": ("xyz rpy quat_xyzw", ""),
    "visual": ("name", "origin geometry material"),
    "collision": ("name", "origin geometry material"),
    "geometry": ("", "box sphere cylinder capsule mesh"),
    "box": ("size", ""),
    "sphere": ("radius", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "mesh": ("filename scale", ""),
    "material": ("name", "color texture"),
    "color": ("rgba", ""),
    "texture": ("filename", ""),
    "joint": (
        "name type independent",
        "origin parent child axis limit dynamics mimic safety_controller calibration",
    ),
    "loop": ("name type", "predecessor successor axis limit dynamics"),
    "predecessor": ("link", "origin"),
    "successor": ("link", "origin"),
    "frame": ("name link xyz rpy quat_xyzw kind", ""),
    "parent": ("link", ""),
    "child": ("link", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort velocity acceleration deceleration jerk", ""),
    "dynamics": ("damping friction armature", ""),
    "mimic": ("joint multiplier offset", ""),
    "safety_controller": ("soft_lower_limit soft_upper_limit k_position k_velocity", ""),
    "calibration": ("rising falling reference_position", ""),
}
ATTRIBUTES = {tag: tuple(attributes.split()) for tag, (attributes, _) in ELEMENTS.items()}
CHILDREN = {tag: tuple(children.split()) for tag, (_, children) in ELEMENTS.items()}
PARENTS = {tag: [parent for parent, inside in CHILDREN.items() if tag in inside] for tag in ELEMENTS}
FOREIGN = {"pose": "is SDF's: write <origin xyz=... rpy=.../>", "inertia_matrix": "is no element of URDF: <inertia>"}
MAX_LOOKUPS = 2000  # of tags that are nearly known ones; beyond, a file is made to waste time


def remark_unknown(report: Report, root: Element) -> None:
    """Remark on unknown attributes, and on elements that mean nothing where they are, but would elsewhere or nearly."""
    waiting, lookups = [root], 0
    while waiting:
        element = waiting.pop()
        report.unknown_attributes(element, ATTRIBUTES[element.tag])
        known = CHILDREN[element.tag]
        for child in element.children:
            if child.tag in known:
                waiting.append(child)
            elif child.tag in PARENTS or child.tag in FOREIGN:
                place = " or ".join(f"<{parent}>" for parent in PARENTS.get(child.tag, ()))
                why = FOREIGN.get(child.tag, f"means nothing here: it belongs into {place}")
                report.remark(child, f"<{child.tag}> in <{element.tag}> is skipped: it {why}")
            elif lookups < MAX_LOOKUPS:
                lookups += 1
                _remark_misspelled(report, element, child, known)


def _remark_misspelled(report: Report, element: Element, child: Element, known: tuple[str, ...]) -> None:
    meant = difflib.get_close_matches(child.tag[:40], known, n=1, cutoff=0.75)
    if meant:
        report.remark(child, f"<{child.tag}> in <{element.tag}> is skipped; did you mean <{meant[0]}>?")
