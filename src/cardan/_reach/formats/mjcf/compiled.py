"""MJCF as MuJoCo compiles it: every default, class, frame, copy and unit is resolved there, and nowhere else.

Files of meshes are opened where a mass or a size depends on them, and nowhere else: any other mesh stands in as a
tetrahedron, whose own frame MuJoCo moves as it would move the mesh's, and that is undone.

With `<compiler fusestatic="true"/>` MuJoCo joins bodies without joints to what they are fixed to before it weighs them.
Here all bodies stay, with the same masses in all; what weighs the joined ones otherwise is refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from cardan._algebra.errors import quoted
from cardan._reach.formats.mjcf.expanded import Expanded
from cardan._reach.formats.reading import Meshes, Options, Places
from cardan._reach.formats.report import Report
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import escaped
from cardan._reach.interop.mujoco_package import heard

TETRAHEDRON = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0]
FACES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]

OFF: dict[str, tuple[str, ...]] = {  # what is nothing where a flag disables it
    "CLAMPCTRL": ("actuator_ctrllimited",),
    "DAMPER": ("dof_damping", "dof_dampingpoly", "tendon_damping", "tendon_dampingpoly"),
    "EQUALITY": ("eq_active0",),
    "FRICTIONLOSS": ("dof_frictionloss", "tendon_frictionloss"),
    "GRAVITY": (),
    "LIMIT": ("jnt_limited", "tendon_limited"),
    "SPRING": ("jnt_stiffness", "jnt_stiffnesspoly", "tendon_stiffness", "tendon_stiffnesspoly"),
}
# What stays, since it is chosen anew whenever cardan simulates
KEPT = {"ACTUATION": "forces of actuators", "CONTACT": "contacts", "FILTERPARENT": "rule that parents never touch"}


@dataclass(frozen=True, slots=True)
class MeshFile:
    uri: str  # the file's name as it is written, with the folder of meshes; the mesh's own name where it has no file
    path: str | None  # where it is; None if it is missing, outside, or no file
    scale: tuple[float, ...]  # along its axes
    position: tuple[float, ...]  # `refpos`, which is taken from its vertices before they are scaled
    quaternion: tuple[float, ...]  # `refquat`, (w, x, y, z), by whose inverse they are turned
    points: np.ndarray | None  # its vertices where it has no file, shape (n, 3), before all of that


@dataclass(frozen=True, slots=True)
class CompiledMjcf:
    mj: Any  # the package
    spec: Any  # what was parsed; names, and the lines of its elements
    model: Any  # what was compiled
    text: Expanded  # what it was parsed from
    meshes: dict[str, MeshFile]  # by name
    touching: list[tuple[int, int]]  # (contype, conaffinity) of each geom


def compiled(mj: Any, text: Expanded, source: Source, options: Options, report: Report) -> CompiledMjcf | None:
    """Return what MuJoCo makes of a text; None, with errors in the report, where it refuses it."""
    made = None
    with heard(mj) as messages:
        try:
            made = _compiled(mj, mj.MjSpec.from_string(text.text), text, source, options, report)
        except Exception as error:  # MuJoCo raises ValueError for faults of the file, and errors of its own
            _blame(error, text, report)
    for message in messages:
        report.remark(0, f"MuJoCo warns: {message}")
    return made


def _compiled(
    mj: Any, spec: Any, text: Expanded, source: Source, options: Options, report: Report
) -> CompiledMjcf | None:
    _check_fused(mj, spec.compiler, report)
    spec.compiler.fusestatic = spec.compiler.discardvisual = False  # every body and geom stays
    spec.compiler.LRopt.mode = 0  # ranges of muscles are simulated, and not needed
    meshes = _Meshes(mj, spec, text, source, options, report).settle()
    touching = [_let_pass(geom) for geom in spec.geoms]
    if report.errors:
        return None
    m = spec.compile()
    _switch_off(mj, m, report)
    return CompiledMjcf(mj, spec, m, text, meshes, touching)


def _check_fused(mj: Any, compiler: Any, report: Report) -> None:
    """Refuse what weighs fused bodies otherwise than those that stay."""
    from_geoms = compiler.inertiafromgeom == mj.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    asked = {"settotalmass": compiler.settotalmass > 0.0, "inertiafromgeom": from_geoms}
    asked |= {name: bool(getattr(compiler, name)) for name in ("balanceinertia", "boundinertia", "boundmass")}
    for name in (name for name, is_asked in asked.items() if is_asked and compiler.fusestatic):
        said = f'<compiler fusestatic="true" {name}=...>: {name} gives bodies that are fused other masses'
        report.error(0, f'{said} than those that stay, as all do here; write fusestatic="false"')


def _switch_off(mj: Any, m: Any, report: Report) -> None:
    """Take out of a compiled model what its flags disable: to MuJoCo it is not there."""
    bits = int(m.opt.disableflags)
    off = {name for name in (*OFF, *KEPT, "CONSTRAINT") if bits & int(getattr(mj.mjtDisableBit, f"mjDSBL_{name}"))}
    if "CONSTRAINT" in off:
        off |= {"EQUALITY", "FRICTIONLOSS", "LIMIT", "CONTACT"}
    for name in sorted(off & set(OFF)):
        for array in OFF[name]:
            getattr(m, array)[:] = 0
    if "GRAVITY" in off:
        m.opt.gravity[:] = 0.0
    for name in sorted(off & set(KEPT)):
        report.warn(0, f'<flag {name.lower()}="disable">: MuJoCo has no {KEPT[name]}; it is as usual here')


def _blame(error: Exception, text: Expanded, report: Report) -> None:
    """Note what MuJoCo refuses, at the line it says, or else where the text has what it names."""
    why, _, element = str(error).partition("\nElement ")
    why = re.sub(r"^((XML )?Error: )+", "", why.strip())
    place = text.place(element)
    named = None if "line " in element else re.search(r"(\w+) '([^']*)'", why)
    if named is not None:
        wanted = f'name="{escaped(named[2])}"' if named[2] else f"<{named[1].removesuffix('frame')} "
        lines = zip(text.text.split("\n"), text.places, strict=True)
        place = next((there for line, there in lines if wanted in line), place)
    name = re.search(r"name '([^']+)'", element)
    report.error(place, f"MuJoCo refuses it: {why}{f' (element {name[1]!r})' if name else ''}")


def _let_pass(geom: Any) -> tuple[int, int]:
    """Return what a geom may touch, and let it touch nothing: then no hull of it is computed."""
    bits = geom.contype & 0xFFFFFFFF, geom.conaffinity & 0xFFFFFFFF
    geom.contype = geom.conaffinity = 0
    return bits


class _Meshes:
    """The meshes of a description: found, and left closed where nothing depends on them."""

    def __init__(self, mj: Any, spec: Any, text: Expanded, source: Source, options: Options, report: Report) -> None:
        self.mj, self.spec, self.text, self.report = mj, spec, text, report
        self.files = Meshes(Places(source.folder, options.package_dirs))
        self.needed: dict[str, str] = {}  # what a mesh decides, by its name
        for body in self.spec.bodies:
            weighs = self._is_weighed(body)
            for geom in body.geoms:
                if not geom.meshname:
                    continue
                if geom.type not in (self.mj.mjtGeom.mjGEOM_MESH, self.mj.mjtGeom.mjGEOM_SDF):
                    self.needed.setdefault(geom.meshname, "the size of a geom")
                elif weighs and self._has_mass(geom):
                    owner = f"body {body.name!r}" if body.name else "a body"
                    self.needed.setdefault(geom.meshname, f"the mass of {owner}")

    def settle(self) -> dict[str, MeshFile]:
        found = {mesh.name: self._settled(mesh) for mesh in list(self.spec.meshes)}
        self.files.tell(self.report)
        return found

    def _settled(self, mesh: Any) -> MeshFile:
        file, inline, at = mesh.file, len(mesh.uservert) > 0, self.text.place(mesh.info)
        uri = self._uri(file) if file else mesh.name
        path = self.files.path(uri, at) if file else None
        points = np.array(mesh.uservert).reshape(-1, 3) if inline and not file else None
        record = MeshFile(uri, path, tuple(mesh.scale), tuple(mesh.refpos), tuple(mesh.refquat), points)
        if mesh.name in self.needed and (path or inline):
            mesh.file = path or ""
            return record
        if mesh.name in self.needed:
            owner = self.needed[mesh.name]
            what = f"mesh file {quoted(uri)}, which" if file else f"mesh {mesh.name!r}, which has no vertices and"
            why = self.files.places.why_not(uri) if file else "has no file"
            self.report.error(at, f"{what} decides {owner}, {why}; or give the body an <inertial>")
        mesh.file, mesh.content_type = "", ""
        mesh.uservert, mesh.userface = TETRAHEDRON, FACES
        mesh.usernormal, mesh.usertexcoord, mesh.userfacenormal, mesh.userfacetexcoord = [], [], [], []
        mesh.scale, mesh.refpos, mesh.refquat = [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        mesh.inertia = self.mj.mjtMeshInertia.mjMESH_INERTIA_EXACT
        return record

    def _uri(self, file: str) -> str:
        if file.startswith(("package:/", "model:/")):  # MuJoCo makes one slash of two, and no folder is before it
            return file.replace(":/", "://", 1)
        name = PurePosixPath(file.replace("\\", "/"))
        if self.spec.strippath:
            name = PurePosixPath(name.name)
        return str(PurePosixPath(self.spec.meshdir.replace("\\", "/")) / name)

    def _is_weighed(self, body: Any) -> bool:
        """Return whether a body has its mass from its geoms; the world's weighs nothing."""
        how, kinds = self.spec.compiler.inertiafromgeom, self.mj.mjtInertiaFromGeom
        if how == kinds.mjINERTIAFROMGEOM_AUTO:
            return body.id != 0 and not body.explicitinertial
        return body.id != 0 and how == kinds.mjINERTIAFROMGEOM_TRUE

    def _has_mass(self, geom: Any) -> bool:
        first, last = self.spec.compiler.inertiagrouprange
        weight = geom.density if math.isnan(geom.mass) else geom.mass
        return first <= geom.group <= last and weight != 0.0
