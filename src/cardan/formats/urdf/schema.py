"""Which elements and attributes of URDF (1.0 to 1.2) and its extensions (docs/urdf.md) are known.

The reader remarks on what it would silently skip otherwise.
"""

from __future__ import annotations

import difflib

from cardan.formats.report import Report
from cardan.formats.source import Node

VERSIONS = ("1", "1.0", "1.1", "1.2")

_SHAPE = ("origin", "geometry", "material")
CHILDREN: dict[str, tuple[str, ...]] = {
    "robot": ("link", "joint", "material", "loop", "frame"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": _SHAPE,
    "collision": _SHAPE,
    "geometry": ("box", "sphere", "cylinder", "capsule", "mesh"),
    "material": ("color", "texture"),
    "joint": (
        *("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        *("safety_controller", "calibration"),
    ),
    "loop": ("predecessor", "successor", "axis", "limit", "dynamics"),
    "predecessor": ("origin",),
    "successor": ("origin",),
}
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "robot": ("name", "version"),
    "link": ("name", "type"),
    "inertial": (),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "visual": ("name",),
    "collision": ("name",),
    "geometry": (),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("filename", "scale"),
    "material": ("name",),
    "color": ("rgba",),
    "texture": ("filename",),
    "joint": ("name", "type", "independent"),
    "loop": ("name", "type"),
    "predecessor": ("link",),
    "successor": ("link",),
    "frame": ("name", "link", "xyz", "rpy", "quat_xyzw", "kind"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
    "dynamics": ("damping", "friction", "armature"),
    "mimic": ("joint", "multiplier", "offset"),
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
    "calibration": ("rising", "falling", "reference_position"),
}


PARENTS = {tag: [parent for parent, inside in CHILDREN.items() if tag in inside] for tag in ATTRIBUTES}
FOREIGN = {"pose": "is SDF's: write <origin xyz=... rpy=.../>", "inertia_matrix": "is no element of URDF: <inertia>"}
MAX_LOOKUPS = 2000  # of tags that are nearly known ones; beyond, a file is made to waste time


def remark_unknown(report: Report, root: Node) -> None:
    """Remark on unknown attributes, and on elements that mean nothing where they are, but would elsewhere or nearly."""
    waiting, lookups = [root], 0
    while waiting:
        element = waiting.pop()
        report.unknown_attributes(element, ATTRIBUTES[element.tag])
        known = CHILDREN.get(element.tag, ())
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


def _remark_misspelled(report: Report, element: Node, child: Node, known: tuple[str, ...]) -> None:
    meant = difflib.get_close_matches(child.tag[:40], known, n=1, cutoff=0.75)
    if meant:
        report.remark(child, f"<{child.tag}> in <{element.tag}> is skipped; did you mean <{meant[0]}>?")
