"""The MJCF reader: what MuJoCo makes of a file, as a `Mechanism`. docs/mjcf.md says what is read.

Poses, inertias and properties of joints are those of the compiled model, names and lines those of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cardan._reach.formats.mjcf.actuators import read_actuators
from cardan._reach.formats.mjcf.compiled import compiled
from cardan._reach.formats.mjcf.equalities import ends_of_loops, read_loops, read_mimics
from cardan._reach.formats.mjcf.expanded import expanded
from cardan._reach.formats.mjcf.found import Found, pose
from cardan._reach.formats.mjcf.joints import KINDS, SIZES, Tree
from cardan._reach.formats.mjcf.marks import names_of_marks, seen_from_marks
from cardan._reach.formats.mjcf.naming import Names
from cardan._reach.formats.mjcf.shapes import read_shapes
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import Place, Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import parse
from cardan._reach.interop.mujoco_package import mujoco
from cardan._robot.description import Mechanism
from cardan._robot.joints import Mimic

INITIAL = "qpos0"
"""The named configuration a file draws its robot in, where that is not neutral here."""

ROUNDING = 1e-12


def read(source: Source, options: Options) -> Description:
    """Return what a file of MJCF holds.

    Raises:
        MissingExtraError: without the extra `mujoco`.
    """
    report, root = Report(source.name), parse(source)
    if root.tag != "mujoco":
        hint = "read the file that includes this one" if root.tag == "mujocoinclude" else "is this MJCF?"
        report.error(root, f"the root element is <{root.tag[:60]}>, expected <mujoco>; {hint}")
        return Description(None, report)
    text = expanded(source, root, options, report)
    there = None if report.errors else compiled(mujoco("reading MJCF"), text, source, options, report)
    if there is None:
        return Description(None, report)
    gravity = tuple(map(float, there.model.opt.gravity))
    found = Found(there, report, Mechanism(there.spec.modelname or "mujoco", gravity))
    _read(found)
    return Description(None if report.errors else found.mechanism, report, _places(found))


def _read(found: Found) -> None:
    mimics, locked = read_mimics(found)
    Tree(found, mimics).read()
    if found.report.errors:
        return
    read_loops(found, locked)
    _read_frames(found)
    read_shapes(found)
    read_actuators(found)
    _read_configurations(found)
    _disable_contacts(found)
    _warn_of_tendons(found)
    if not found.mechanism.bodies:
        nothing = not (found.mechanism.shapes or found.mechanism.frames)
        say = found.report.error if nothing else found.report.warn
        say(0, f"the <worldbody> holds no body{' and nothing else' if nothing else ', only what stands in the world'}")


def _read_frames(found: Found) -> None:
    """Add sites and cameras that have names; one that a body or a site has already gets an ending."""
    m, names, ends = found.there.model, Names(found.bodies), ends_of_loops(found) | names_of_marks(found)
    kinds: Any = (("SITE", "sites", m.nsite, m.site_bodyid, m.site_pos, m.site_quat, "operational"),)
    kinds += (("CAMERA", "cameras", m.ncam, m.cam_bodyid, m.cam_pos, m.cam_quat, "sensor"),)
    for kind, plural, count, bodies, positions, quaternions, use in kinds:
        for k in range(count):
            name, place = found.name(kind, k), found.place(plural, k)
            if name in ends:
                continue
            if not name:
                found.report.remark(place, f"a {kind.lower()} without a name is left out")
                continue
            with found.report.blamed(place):
                new = names.new(name)
                new = new if new == name else names.new(f"{name}_{kind.lower()}")
                found.mechanism.add_frame(new, found.bodies[bodies[k]], pose(positions[k], quaternions[k]), use)


def _read_configurations(found: Found) -> None:
    """Name the keyframes' configurations, and that in which the file draws the robot."""
    m = found.there.model
    given = [found.name("KEY", k) for k in range(m.nkey)]
    names = Names(given)
    for k, name in enumerate(given):
        with found.report.blamed(found.place("keys", k)):
            found.mechanism.add_configuration(name or names.new(f"key{k}"), _coordinates(found, m.key_qpos[k]))
    drawn = _coordinates(found, m.qpos0)
    if INITIAL not in given and found.mechanism.bodies and not _begins_at(found.mechanism, drawn):
        found.mechanism.add_configuration(INITIAL, drawn)


def _begins_at(mechanism: Mechanism, drawn: Mapping[str, Sequence[float]]) -> bool:
    """Return whether a mechanism begins at coordinates by joint without a word about it, and is neutral there."""
    model = mechanism.model()
    starts = model.start_configuration(), model.neutral()
    known = [(model.slices[joint][0], own) for joint, own in drawn.items() if joint in model.slices]
    return all(_near(own, q[at].tolist()) for at, own in known for q in starts)


def _near(a: Sequence[float], b: Sequence[float]) -> bool:
    """Return whether coordinates are the same but for rounding."""
    return all(abs(x - y) <= ROUNDING * max(1.0, abs(x)) for x, y in zip(a, b, strict=True))


def _coordinates(found: Found, qpos: Any) -> dict[str, tuple[float, ...]]:
    """Return MuJoCo's coordinates by joint; those of mimics are their primaries'."""
    m, by_joint = found.there.model, {}
    follows = {c.name for c in found.mechanism.joints if isinstance(c.joint, Mimic)}
    for k, slot in sorted(found.slots.items()):
        kind, start = KINDS[m.jnt_type[k]], int(m.jnt_qposadr[k])
        part = [float(e) for e in qpos[start : start + SIZES[kind] + (kind in ("free", "ball"))]]
        if kind in ("free", "ball"):
            w, x, y, z = part[-4:]
            part[-4:] = [x, y, z, w]
            part = seen_from_marks(found, k, part)
        if slot.joint not in follows:
            by_joint.setdefault(slot.joint, []).extend(part)
    return {joint: tuple(part) for joint, part in by_joint.items()}


def _disable_contacts(found: Found) -> None:
    bodies = {found.name("BODY", k): name for k, name in enumerate(found.bodies)}
    for exclude in found.there.spec.excludes:
        with found.report.blamed(found.there.text.place(exclude.info)):
            found.mechanism.disable_contact(bodies[exclude.bodyname1], bodies[exclude.bodyname2])


def _warn_of_tendons(found: Found) -> None:
    """Say which tendons there are; what they do is left out."""
    m = found.there.model
    for k in range(m.ntendon):
        name, place = found.name("TENDON", k), found.place("tendons", k)
        acts = (m.tendon_stiffness[k], m.tendon_damping[k], m.tendon_frictionloss[k], m.tendon_armature[k])
        if any(acts) or any(m.tendon_stiffnesspoly[k]) or any(m.tendon_dampingpoly[k]):
            told = "its stiffness, damping, friction and armature act on no joint here"
            found.report.warn(place, f"tendon {name!r} is left out: {told}")
        else:
            found.report.remark(
                place, f"tendon {name!r} is left out{', with its range' if m.tendon_limited[k] else ''}"
            )


def _places(found: Found) -> dict[tuple[str, str], Place]:
    m = found.there.model
    places = {("body", name): found.place("bodies", k) for k, name in enumerate(found.bodies) if k}
    places |= {("joint", slot.joint): found.place("joints", k) for k, slot in reversed(found.slots.items())}
    places |= {("frame", found.name("SITE", k)): found.place("sites", k) for k in range(m.nsite)}
    return places | {("actuator", found.name("ACTUATOR", k)): found.place("actuators", k) for k in range(m.nactuator)}
