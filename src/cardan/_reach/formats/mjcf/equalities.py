"""Equality constraints: a point or a pose held closes a loop, a coordinate held at another's mimics it."""

from __future__ import annotations

from typing import Any

from cardan._algebra.spatial import SE3
from cardan._reach.formats.mjcf.context import SIDES, MjcfReading, Names, is_, pose
from cardan._robot.joints import Fixed, Joint, Spherical
from cardan._robot.records import Connection

Mimics = dict[int, tuple[int, float, float]]


def read_mimics(r: MjcfReading) -> tuple[Mimics, list[int]]:
    """Return what holds one hinge or slide at a line of another, and the equalities that hold one where it is."""
    m, kinds = r.there.model, r.there.mj.mjtEq
    mimics: Mimics = {}
    locked: list[int] = []
    for k in range(m.neq):
        if not is_(m.eq_type[k], kinds.mjEQ_JOINT) or not m.eq_active0[k]:
            continue
        own, other = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        if any(m.eq_data[k][2:5]) and other >= 0:
            _leave_out(r, k, "a polynomial of another joint beyond the linear term")
        elif other < 0 or m.eq_data[k][1] == 0.0:
            locked.append(k)
        elif own in mimics or _leads_to(mimics, other, own):
            _leave_out(r, k, "a joint that follows another already")
        else:
            start, factor = (float(e) for e in m.eq_data[k][:2])
            at, at_other = (float(m.qpos0[m.jnt_qposadr[joint]]) for joint in (own, other))
            mimics[own] = other, factor, at + start - factor * at_other
    return mimics, locked


def _leads_to(mimics: Mimics, joint: int, end: int) -> bool:
    """Return whether a joint follows, by way of others, the one at the end; or is it."""
    while joint != end and joint in mimics:
        joint = mimics[joint][0]
    return joint == end


def _leave_out(r: MjcfReading, k: int, what: str) -> None:
    name = r.name("EQUALITY", k)
    r.report.warn(r.place("equalities", k), f"equality {name!r} is left out: {what} is not kept")


def read_loops(r: MjcfReading, locked: list[int]) -> None:
    """Add a joint for each equality that closes a loop, after those of the tree."""
    m, kinds = r.there.model, r.there.mj.mjtEq
    given, taken = r.names("EQUALITY", m.neq), [c.name for c in r.mechanism.joints]
    names = Names([*taken, *given])
    closing: dict[Any, Joint] = {kinds.mjEQ_CONNECT: Spherical(), kinds.mjEQ_WELD: Fixed()}
    for k in range(m.neq):
        place = r.place("equalities", k)
        kind = kinds(int(m.eq_type[k]))
        if not m.eq_active0[k]:
            r.report.remark(place, f"equality {given[k]!r} is not active, and left out")
        elif k in locked or kind in closing:
            closed = _lock(r, k) if k in locked else (closing[kind], *_ends(r, k))
            name = given[k] if given[k] and given[k] not in taken else names.new(given[k] or f"equality{k}")
            if closed is None:
                continue
            if closed[1] == closed[2]:
                r.report.remark(place, f"equality {name!r} holds body {closed[1]!r} on itself")
                continue
            with r.report.blamed(place):
                r.mechanism.add_joint(name, *closed)
        elif kind != kinds.mjEQ_JOINT:
            _leave_out(r, k, f"an equality of kind {kind.name.removeprefix('mjEQ_').lower()}")


def _is_of_sites(r: MjcfReading, k: int) -> bool:
    return is_(r.there.model.eq_objtype[k], r.there.mj.mjtObj.mjOBJ_SITE)


def _ends(r: MjcfReading, k: int) -> tuple[str, str, SE3, SE3]:
    """Return two bodies, and the frames on them that are held together: those of two sites, or as the data says."""
    m, data = r.there.model, r.there.model.eq_data[k]
    ids = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    if _is_of_sites(r, k):
        one, other = (r.bodies[m.site_bodyid[i]] for i in ids)
        first, second = (pose(m.site_pos[i], m.site_quat[i]) for i in ids)
        return one, other, first, second
    one, other = (r.bodies[max(i, 0)] for i in ids)
    first, second = (SE3(translation=tuple(map(float, data[i : i + 3]))) for i in (0, 3))
    if is_(m.eq_type[k], r.there.mj.mjtEq.mjEQ_CONNECT):
        return one, other, first, second
    return one, other, pose(data[3:6], data[6:10]), first


def ends_of_loops(r: MjcfReading) -> set[str]:
    held = [k for k in range(r.there.model.neq) if _is_of_sites(r, k)]
    return {f"{r.name('EQUALITY', k)}:{side}" for k in held for side in SIDES}


def _lock(r: MjcfReading, k: int) -> tuple[Joint, str, str, SE3, SE3] | None:
    m, own = r.there.model, int(r.there.model.eq_obj1id[k])
    part = r.parts[own]
    c: Connection = next(c for c in r.mechanism.joints if c.name == part.joint)
    if part.nv != part.all:
        _leave_out(r, k, "one of several joints of a body, held where it is,")
        return None
    held = float(m.qpos0[m.jnt_qposadr[own]]) + float(m.eq_data[k][0])
    return Fixed(), c.parent, c.child, c.parent_pose @ c.joint.transform((held,)), c.child_pose
