"""What belongs together: articulations, joints that belong to none, and bodies that nothing holds to the world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cardan._reach.formats.usd.joints import UsdJoint
from cardan._reach.formats.usd.layers import ancestors
from cardan._reach.formats.usd.scene import Scene
from cardan._reach.formats.usd.stage import Stage
from cardan._robot.description.rooting import Forest

WORLD_PATH = ""


def chosen(stage: Stage, scene: Scene, wanted: str | None) -> str | None:
    """Return the path below which things are read ("" for all), or None where nothing is called so.

    Args:
        stage: where.
        scene: what there is.
        wanted: the path of a prim, or the name of the root of an articulation.
    """
    if wanted is None:
        return ""
    roots = [str(root.GetPath()) for root in scene.roots]
    path = wanted.rstrip("/") if wanted.startswith("/") else next((r for r in roots if r.endswith("/" + wanted)), "")
    if path and any(is_below(body, path) for body in scene.bodies):
        return path
    shown = ", ".join(roots[:6]) or "none"
    told = f"model={wanted!r} is no prim with rigid bodies below it; roots of articulations: {shown}"
    stage.report.error(0, told)
    return None


def is_below(path: str, root: str) -> bool:
    """Return whether a path is another one or below it."""
    return not root or path == root or path.startswith(root + "/")


def without_orphans(stage: Stage, scene: Scene, joints: Sequence[UsdJoint]) -> list[UsdJoint]:
    """Return the joints that stay, in the order that closes loops by those that are excluded from articulations.

    An articulation is all that joints connect with a body or a joint at or below its root, not through the world. A
    joint of none is an orphan, about which the option `orphans` decides.
    """
    orphans, report = _orphans(scene, joints), stage.report
    what = stage.options.orphans
    notes = {
        "error": (report.error, ""),
        "warn": (report.warn, "; it is kept (orphans='keep' or 'drop' decides)"),
        "drop": (report.remark, "; it is left out, as orphans='drop' says"),
    }
    told = "belongs to no articulation: there is no PhysicsArticulationRootAPI on what it connects or above"
    for joint in orphans if what in notes else ():
        note, ending = notes[what]
        note(stage.where(joint.prim), f"the joint {told}{ending}")
    left = {joint.path for joint in orphans} if what == "drop" else set()
    kept = [joint for joint in joints if joint.path not in left]
    return sorted(kept, key=lambda joint: joint.is_excluded)


def _orphans(scene: Scene, joints: Sequence[UsdJoint]) -> list[UsdJoint]:
    members = [joint for joint in joints if not joint.is_excluded]
    parts = Forest(scene.bodies)
    for joint in members:
        if all(joint.bodies):
            parts.join(*joint.bodies)
    roots = {str(root.GetPath()) for root in scene.roots}
    rooted = {parts.find(body) for body in scene.bodies if _has_root(body, roots)}
    rooted |= {parts.find(body) for j in members if _has_root(j.path, roots) for body in j.bodies if body}
    return [joint for joint in members if not any(parts.find(body) in rooted for body in joint.bodies if body)]


def _has_root(path: str, roots: set[str]) -> bool:
    return not roots.isdisjoint((path, *ancestors(path)))


def floating(bodies: Iterable[str], joints: Sequence[UsdJoint], roots: Mapping[str, object]) -> list[str]:
    """Return for each part that nothing holds to the world the body it shall be moved by.

    It is the root of an articulation, or else the first body that is no joint's second.
    """
    bodies = list(bodies)
    parts = Forest([WORLD_PATH, *bodies])
    for joint in joints:
        parts.join(*joint.bodies)
    second = {joint.bodies[1] for joint in joints if joint.bodies[0]}
    ranks: dict[str, tuple[int, str]] = {}
    for body in bodies:
        part = parts.find(body)
        if part != parts.find(WORLD_PATH):
            rank = 0 if body in roots else 1 if body not in second else 2
            if part not in ranks or rank < ranks[part][0]:
                ranks[part] = rank, body
    return [body for _, body in ranks.values()]
