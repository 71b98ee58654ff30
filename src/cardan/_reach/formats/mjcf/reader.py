"""The MJCF reader: what MuJoCo makes of a file, as a `Mechanism`. docs/mjcf.md says what is read.

Poses, inertias and properties of joints are those of the compiled model, names and lines those of the specification.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from cardan._algebra.errors import MissingExtraError
from cardan._algebra.spatial import SE3, Matrix3, Vector3
from cardan._reach.formats.mjcf.compiled import MeshFile, compiled
from cardan._reach.formats.mjcf.context import (
    MjcfReading,
    Names,
    aims,
    names_of_marks,
    pose,
    read_actuators,
    seen_from_marks,
)
from cardan._reach.formats.mjcf.expanded import MjcfExpansion
from cardan._reach.formats.mjcf.joints import KINDS, SIZES, Tree, ends_of_loops, read_loops, read_mimics
from cardan._reach.formats.reading import Description, Options
from cardan._reach.formats.report import Report, bits_of_either, listed
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import parse
from cardan._reach.interop.mujoco_collision import APART, HULL_ERROR, OF_SIZES
from cardan._reach.interop.mujoco_package import mujoco
from cardan._robot.description import Mechanism
from cardan._robot.geometry.shapes import GROUNDS, Geometry, HeightField, Hull, Mesh, Plane, Shape
from cardan._robot.geometry.touching import EVERYTHING, Bits
from cardan._robot.model.layout import TARGET
from cardan._robot.records import Material

INITIAL = "qpos0"  # the named configuration a file draws its robot in, where that is not neutral here

SHOWN = 2  # the last group that MuJoCo's viewer shows unless it is told otherwise

ROUNDING = 1e-12  # relative: quaternions are normalised and poses multiplied on the way


def read(source: Source, options: Options) -> Description:
    """Return what a file of MJCF holds; MissingExtraError without the extra `mujoco`."""
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
    return Description(None if report.errors else r.mechanism, report)


def _read(r: MjcfReading) -> None:
    mimics, locked = read_mimics(r)
    Tree(r, mimics).read()
    if r.report.errors:
        return
    read_loops(r, locked)
    _read_frames(r)
    # Groups and masks: where MuJoCo asks one of two, cardan asks both.
    bits = bits_of_either(r.report, sorted({bits for bits in r.there.touching if any(bits)}))
    geoms = {geom.id: geom for geom in r.there.spec.geoms}
    paired = {int(e) for ends in (r.there.model.pair_geom1, r.there.model.pair_geom2) for e in ends}
    untouched = [k for k in range(r.there.model.ngeom) if not any(r.there.touching[k]) and k not in paired]
    seen = {int(r.there.model.geom_bodyid[k]) for k in untouched}
    for number in range(r.there.model.ngeom):
        with r.report.blamed(r.place("geoms", number)):
            _read_shape(r, geoms[number], bits, number in paired, seen)
    _read_pairs(r)
    read_actuators(r)
    _read_configurations(r)
    _read_excludes(r)
    _warn_of_tendons(r)
    if not r.mechanism.bodies:
        nothing = not (r.mechanism.shapes or r.mechanism.frames)
        say = r.report.error if nothing else r.report.warn
        say(0, f"the <worldbody> holds no body{' and nothing else' if nothing else ', only what stands in the world'}")


def _read_excludes(r: MjcfReading) -> None:
    """Keep pairs of bodies apart; geoms of one robot touch, unless excludes that `to_mjspec` named say otherwise."""
    bodies = {r.name("BODY", k): name for k, name in enumerate(r.bodies)}
    of_one_robot = [e.name.startswith(APART) for e in r.there.spec.excludes]
    r.mechanism.self_collision = not any(of_one_robot)
    for exclude, is_said in zip(r.there.spec.excludes, of_one_robot, strict=True):
        if not is_said:
            with r.report.blamed(r.there.text.place(exclude.info)):
                r.mechanism.disable_contact(bodies[exclude.bodyname1], bodies[exclude.bodyname2])
    _keep_rows_apart(r)


def _keep_rows_apart(r: MjcfReading) -> None:
    """Keep a body whose joints are several here apart from what carries it: massless bodies are between them."""
    m, fixed_to = r.there.model, r.there.model.body_weldid
    for body in np.flatnonzero(m.body_jntnum > 1):
        first, carrier = int(m.body_jntadr[body]), fixed_to[m.body_parentid[body]]
        joints = {r.parts[k].joint for k in range(first, first + int(m.body_jntnum[body]))}
        if len(joints) > 1 and carrier:
            for one, other in product(np.flatnonzero(fixed_to == carrier), np.flatnonzero(fixed_to == body)):
                r.mechanism.disable_contact(r.bodies[one], r.bodies[other])


def _read_pairs(r: MjcfReading) -> None:
    """Give contacts between two geoms, which touch by name, the surfaces that are said of them."""
    m, places = r.there.model, {frozenset((p.geomname1, p.geomname2)): p.info for p in r.there.spec.pairs}
    known = {(shape.body, shape.name) for shape in r.mechanism.shapes}
    for k in range(m.npair):
        geoms = int(m.pair_geom1[k]), int(m.pair_geom2[k])
        names = [r.name("GEOM", number) for number in geoms]
        bodies = [r.bodies[m.geom_bodyid[number]] for number in geoms]
        place = r.there.text.place(places.get(frozenset(names), ""))
        if bodies[0] == bodies[1] or not known.issuperset(zip(bodies, names, strict=True)):
            r.report.warn(place, f"the pair {names[0]!r}, {names[1]!r} is left out: its geoms cannot touch here")
            continue
        with r.report.blamed(place):
            material = _material_of_pair(r, place, int(m.pair_dim[k]), [float(e) for e in m.pair_friction[k]])
            r.mechanism.set_contact(bodies[0], bodies[1], material, names, max(float(m.pair_margin[k]), 0.0))


def _material_of_pair(r: MjcfReading, place: Any, condim: int, friction: Sequence[float]) -> Material:
    """Return what contact of a pair feels; of two radii of rolling the smaller, with a warning."""
    (mu, across), spin = friction[:2] if condim > 1 else (0.0, 0.0), friction[2] if condim > 3 else 0.0
    one, other = friction[3:] if condim > 4 else (0.0, 0.0)
    if one != other:
        found = f"the friction of this pair to roll is {one:g} and {other:g}, along axes that MuJoCo chooses"
        r.report.warn(place, f"{found}; it is the smaller in all directions here")
    return Material(
        friction=mu, torsional=spin, rolling=min(one, other), anisotropy=across / mu if across != mu else 1.0
    )


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
            new = names.new(name)
            new = new if new == name else names.new(f"{name}_{kind}")
            with r.report.described("frame", new, place):
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
    aimed, qpos = aims(r), m.qpos0.copy()
    for k, aim in aimed.items():
        qpos[m.jnt_qposadr[k]] = aim
    if aimed and TARGET not in given:
        joints = {r.parts[k].joint for k in aimed}
        r.mechanism.add_configuration(TARGET, {j: own for j, own in _coordinates(r, qpos).items() if j in joints})


def _begins_at(mechanism: Mechanism, drawn: Mapping[str, Sequence[float]]) -> bool:
    model = mechanism.model()
    starts = model.start_configuration(), model.neutral()
    known = [(model.slices[joint][0], own) for joint, own in drawn.items() if joint in model.slices]
    pairs = [(x, y) for at, own in known for q in starts for x, y in zip(own, q[at].tolist(), strict=True)]
    return all(abs(x - y) <= ROUNDING * max(1.0, abs(x)) for x, y in pairs)


def _coordinates(r: MjcfReading, qpos: Any) -> dict[str, tuple[float, ...]]:
    """Return MuJoCo's coordinates by joint; those of mimics are their primaries'."""
    m, by_joint = r.there.model, {}
    follows = {c.name for c in r.mechanism.joints if c.joint.primaries}
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
            why = "its stiffness, damping, friction and armature act on no joint; a Coupled slide may have them"
            r.report.warn(place, f"tendon {name!r} is left out: {why}")
        elif not m.tendon_limited[k]:
            r.report.remark(place, f"tendon {name!r} is left out")
    limited = [k for k in range(m.ntendon) if m.tendon_limited[k]]
    if limited:
        names = listed((r.name("TENDON", k) for k in limited), 3)
        r.report.warn(r.place("tendons", limited[0]), f"ranges of tendons are left out, and stop nothing: {names}")


# --- geoms as shapes: for collision where they may touch anything, else to be seen ---

NOTHING = 0, 0  # the bits of a geom that touches by pairs alone
OWN_MESHES = ".msh"  # the ending of files that MuJoCo alone reads: where they touch they are hulls

WRITTEN = 128  # points of a mesh without a file that are kept whole: hulls of meshes, which are written so, have less
GREY = (0.5, 0.5, 0.5, 1.0)  # the colour of a geom that names none: then its material's counts


def _read_shape(r: MjcfReading, geom: Any, bits: Mapping[Bits, Bits], is_paired: bool, seen: Collection[int]) -> None:
    m, number = r.there.model, geom.id
    shaped = _geometry(r, number, pose(m.geom_pos[number], m.geom_quat[number]))
    if shaped is None:
        return
    touching = r.there.touching[number]
    role = "collision" if any(touching) or is_paired else "visual"
    group, mask = bits.get(touching, NOTHING if is_paired else EVERYTHING)
    contact = {"surface": _surface(m, number) if any(touching) else None, "group": group, "mask": mask}
    contact |= {"margin": max(float(m.geom_margin[number]), 0.0), "density": _density(r, geom, shaped[0])}
    contact["surface_velocity"] = (
        tuple(map(float, m.geom_surfacevel[number])) if any(m.geom_surfacevel[number]) else None
    )
    body, name = r.bodies[m.geom_bodyid[number]], r.name("GEOM", number)
    r.mechanism.add_shape(Shape(body, role, *shaped, name, **_look(r, number), **contact))
    if role == "collision" and _is_shown(r, number, seen, shaped[0]):
        r.mechanism.add_shape(Shape(body, "visual", *shaped, **_look(r, number)))


def _is_shown(r: MjcfReading, number: int, seen: Collection[int], geometry: Geometry) -> bool:
    """Return whether MuJoCo's viewer shows a geom that touches, beside others of its body that are only seen.

    It shows groups up to `SHOWN`, and here visual shapes stand for their body: a table whose legs alone are such had
    no top. Grounds are drawn in their own way.
    """
    m = r.there.model
    return m.geom_bodyid[number] in seen and m.geom_group[number] <= SHOWN and not isinstance(geometry, GROUNDS)


def _geometry(r: MjcfReading, number: int, X: SE3) -> tuple[Geometry, SE3] | None:
    mj, m = r.there.mj, r.there.model
    kind = mj.mjtGeom(int(m.geom_type[number])).name.removeprefix("mjGEOM_")
    if kind in OF_SIZES:
        return OF_SIZES[kind]([float(e) for e in m.geom_size[number]]), X
    if kind == "MESH":
        mesh = int(m.geom_dataid[number])
        moved = pose(m.mesh_pos[mesh], m.mesh_quat[mesh])  # to the mesh's centre and principal axes
        file = r.there.meshes[r.name("MESH", mesh)]
        if file.uri.lower().endswith(OWN_MESHES) and any(r.there.touching[number]):
            with suppress(MissingExtraError):
                start, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
                return Hull.of(m.mesh_vert[start : start + count].astype(float)), X
        return _mesh(r, file, number, X @ moved.inverse())
    if kind == "HFIELD":
        field = int(m.geom_dataid[number])
        if r.name("HFIELD", field) not in r.there.text.unread:
            rows, columns, start = (int(e[field]) for e in (m.hfield_nrow, m.hfield_ncol, m.hfield_adr))
            x, y, relief, thickness = (float(e) for e in m.hfield_size[field])
            shares = m.hfield_data[start : start + rows * columns].reshape(rows, columns)
            return HeightField(relief * shares.astype(float), (2.0 * x, 2.0 * y), thickness), X
        why = "its heights are in a file, and pictures are not read; say them inline, as elevation"
    else:
        why = "cardan has none"
    say = r.report.warn if any(r.there.touching[number]) else r.report.remark
    say(r.place("geoms", number), f"a geom of type {kind.lower()} is left out: {why}")
    return None


def _mesh(r: MjcfReading, file: MeshFile, number: int, X: SE3) -> tuple[Geometry, SE3]:
    """Return a mesh by its file, the hull of one without where it may touch.

    MuJoCo takes `refpos` and `refquat` from its vertices before it scales them.
    """
    # x = S R^T (p - p_ref) = R^T S p - S R^T p_ref, which a pose and a scale can say if S R^T = R^T S
    turn = pose(file.position, file.quaternion)
    back = turn.rotation.T
    offset = Vector3(*(s * e for s, e in zip(file.scale, back @ turn.translation, strict=True)))
    if len(set(file.scale)) > 1 and turn.rotation != Matrix3.identity():
        message = "a mesh with a refquat and different scales has a skewed frame; it is kept with its scales alone"
        r.report.remark(r.place("geoms", number), message)
    mesh: Geometry = Mesh(file.uri, file.path, file.scale)
    if file.points is not None and any(r.there.touching[number]):
        with suppress(MissingExtraError, ValueError):  # it is said where it matters, as of a file's mesh
            points, count = file.points * file.scale, len(file.points)
            mesh = Hull.of(points, max(count, 4), 0.0) if count <= WRITTEN else Hull.of(points)
            _, is_given, error = r.name("MESH", int(r.there.model.geom_dataid[number])).partition(HULL_ERROR)
            mesh = Hull(mesh.vertices, float(error)) if is_given else mesh
    return mesh, X @ SE3(back, -offset)


def _look(r: MjcfReading, number: int) -> dict[str, Any]:
    m = r.there.model
    rgba, material = m.geom_rgba[number], int(m.geom_matid[number])
    is_grey = tuple(rgba) == GREY
    if material < 0:
        return {"rgba": None if is_grey else _colour(rgba)}
    textures = [r.name("TEXTURE", int(k)) for k in m.mat_texid[material] if k >= 0]
    file = next((r.there.text.textures[name] for name in textures if name in r.there.text.textures), "")
    rgba = m.mat_rgba[material] if is_grey else rgba
    return {"rgba": _colour(rgba), "material": r.name("MATERIAL", material), "texture": file}


def _colour(rgba: Any) -> tuple[float, ...]:
    """Return a colour; MuJoCo has it in single precision, whose shortest digits are those of the file."""
    return tuple(min(max(float(str(e)), 0.0), 1.0) for e in rgba)


def _surface(m: Any, number: int) -> Material | None:
    """Return what contact feels: `condim` says which of the friction counts; None for what none means.

    The larger `condim` of two counts: so a geom of 1 slides on its like, and on others with their friction.
    """
    condim, (slide, spin, roll) = int(m.geom_condim[number]), map(float, m.geom_friction[number])
    surface = Material(
        friction=slide if condim > 1 else None,
        torsional=spin if condim > 3 else 0.0,
        rolling=roll if condim > 4 else 0.0,
        priority=int(m.geom_priority[number]),
    )
    return None if surface == Material() else surface


def _density(r: MjcfReading, geom: Any, geometry: Geometry) -> float | None:
    """Return the density of a geom that its body has its mass from, and of any other that names one."""
    mj = r.there.mj
    if geom.typeinertia == mj.mjtGeomInertia.mjINERTIA_SHELL or isinstance(geometry, Plane):
        return None
    if math.isnan(geom.mass):
        return float(geom.density)
    if isinstance(geometry, Mesh) or not geometry.volume:
        return None
    return float(geom.mass) / geometry.volume
