"""The MJCF reader: what MuJoCo makes of a file, as a `Mechanism`. docs/mjcf.md says what is read.

Poses, inertias and properties of joints are those of the compiled model, names and lines those of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cardan._reach.formats.mjcf.actuators import read_actuators
from cardan._reach.formats.mjcf.compiled import compiled
from cardan._reach.formats.mjcf.context import MjcfReading, Names, names_of_marks, pose, seen_from_marks
from cardan._reach.formats.mjcf.expanded import MjcfExpansion
from cardan._reach.formats.mjcf.joints import KINDS, SIZES, Tree, ends_of_loops, read_loops, read_mimics
from cardan._reach.formats.mjcf.shapes import read_shapes
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import FilePlace, Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import parse
from cardan._reach.interop.mujoco_package import mujoco
from cardan._robot.description import Mechanism
from cardan._robot.joints import Mimic

INITIAL = "qpos0"  # the named configuration a file draws its robot in, where that is not neutral here

ROUNDING = 1e-12  # relative: quaternions are normalised and poses multiplied on the way


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
    text = MjcfExpansion(source, options, report).run(root)
    there = None if report.errors else compiled(mujoco("reading MJCF"), text, source, options, report)
    if there is None:
        return Description(None, report)
    gravity = tuple(map(float, there.model.opt.gravity))
    r = MjcfReading(there, report, Mechanism(there.spec.modelname or "mujoco", gravity))
    _read(r)
    return Description(None if report.errors else r.mechanism, report, _places(r))


def _read(r: MjcfReading) -> None:
    mimics, locked = read_mimics(r)
    Tree(r, mimics).read()
    if r.report.errors:
        return
    read_loops(r, locked)
    _read_frames(r)
    read_shapes(r)
    read_actuators(r)
    _read_configurations(r)
    bodies = {r.name("BODY", k): name for k, name in enumerate(r.bodies)}
    for exclude in r.there.spec.excludes:
        with r.report.blamed(r.there.text.place(exclude.info)):
            r.mechanism.disable_contact(bodies[exclude.bodyname1], bodies[exclude.bodyname2])
    _warn_of_tendons(r)
    if not r.mechanism.bodies:
        nothing = not (r.mechanism.shapes or r.mechanism.frames)
        say = r.report.error if nothing else r.report.warn
        say(0, f"the <worldbody> holds no body{' and nothing else' if nothing else ', only what stands in the world'}")


def _read_frames(r: MjcfReading) -> None:
    """Add sites and cameras that have names; one that a body or a site has already gets an ending."""
    m, names, ends = r.there.model, Names(r.bodies), ends_of_loops(r) | names_of_marks(r)
    kinds: Any = [("site", k, m.site_bodyid, m.site_pos, m.site_quat, "operational") for k in range(m.nsite)]
    kinds += [("camera", k, m.cam_bodyid, m.cam_pos, m.cam_quat, "sensor") for k in range(m.ncam)]
    for kind, k, bodies, positions, quaternions, use in kinds:
        name, place = r.name(kind.upper(), k), r.place(f"{kind}s", k)
        if not name:
            r.report.remark(place, f"a {kind} without a name is left out")
        elif name not in ends:
            with r.report.blamed(place):
                new = names.new(name)
                new = new if new == name else names.new(f"{name}_{kind}")
                r.mechanism.add_frame(new, r.bodies[bodies[k]], pose(positions[k], quaternions[k]), use)


def _read_configurations(r: MjcfReading) -> None:
    m = r.there.model
    given = r.names("KEY", m.nkey)
    names = Names(given)
    for k, name in enumerate(given):
        with r.report.blamed(r.place("keys", k)):
            r.mechanism.add_configuration(name or names.new(f"key{k}"), _coordinates(r, m.key_qpos[k]))
    drawn = _coordinates(r, m.qpos0)
    if INITIAL not in given and r.mechanism.bodies and not _begins_at(r.mechanism, drawn):
        r.mechanism.add_configuration(INITIAL, drawn)


def _begins_at(mechanism: Mechanism, drawn: Mapping[str, Sequence[float]]) -> bool:
    model = mechanism.model()
    starts = model.start_configuration(), model.neutral()
    known = [(model.slices[joint][0], own) for joint, own in drawn.items() if joint in model.slices]
    pairs = [(x, y) for at, own in known for q in starts for x, y in zip(own, q[at].tolist(), strict=True)]
    return all(abs(x - y) <= ROUNDING * max(1.0, abs(x)) for x, y in pairs)


def _coordinates(r: MjcfReading, qpos: Any) -> dict[str, tuple[float, ...]]:
    """Return MuJoCo's coordinates by joint; those of mimics are their primaries'."""
    m, by_joint = r.there.model, {}
    follows = {c.name for c in r.mechanism.joints if isinstance(c.joint, Mimic)}
    for k, own in sorted(r.parts.items()):
        kind, start = KINDS[m.jnt_type[k]], int(m.jnt_qposadr[k])
        part = [float(e) for e in qpos[start : start + SIZES[kind] + (kind in ("free", "ball"))]]
        if kind in ("free", "ball"):
            w, x, y, z = part[-4:]
            part[-4:] = [x, y, z, w]
            part = seen_from_marks(r, k, part)
        if own.joint not in follows:
            by_joint.setdefault(own.joint, []).extend(part)
    return {joint: tuple(part) for joint, part in by_joint.items()}


def _warn_of_tendons(r: MjcfReading) -> None:
    m = r.there.model
    for k in range(m.ntendon):
        name, place = r.name("TENDON", k), r.place("tendons", k)
        acts = (m.tendon_stiffness[k], m.tendon_damping[k], m.tendon_frictionloss[k], m.tendon_armature[k])
        if any((*acts, *m.tendon_stiffnesspoly[k], *m.tendon_dampingpoly[k])):
            why = "its stiffness, damping, friction and armature act on no joint here"
            r.report.warn(place, f"tendon {name!r} is left out: {why}")
        else:
            r.report.remark(place, f"tendon {name!r} is left out{', with its range' * bool(m.tendon_limited[k])}")


def _places(r: MjcfReading) -> dict[tuple[str, str], FilePlace]:
    m = r.there.model
    places = {("body", name): r.place("bodies", k) for k, name in enumerate(r.bodies) if k}
    places |= {("joint", part.joint): r.place("joints", k) for k, part in reversed(r.parts.items())}
    places |= {("frame", r.name("SITE", k)): r.place("sites", k) for k in range(m.nsite)}
    return places | {("actuator", r.name("ACTUATOR", k)): r.place("actuators", k) for k in range(m.nactuator)}
