"""MJCF as MuJoCo compiles it: every default, class, frame, copy and unit is resolved there, and nowhere else.

Files of meshes are opened where a mass or a size depends on them, and nowhere else: any other mesh stands in as a
tetrahedron, whose own frame MuJoCo moves as it would move the mesh's, and that is undone.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from cardan._algebra.errors import quoted
from cardan._reach.formats.mjcf.expanded import Expanded
from cardan._reach.formats.mjcf.fused import weigh_as_fused
from cardan._reach.formats.reading import Options
from cardan._reach.formats.report import FilePlace, Report
from cardan._reach.formats.resources import Meshes, Places
from cardan._reach.formats.source import Source
from cardan._reach.formats.xml import escaped
from cardan._reach.interop.mujoco_package import heard

TETRAHEDRON = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0]
FACES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


OFF: dict[str, tuple[str, ...]] = {
    "CLAMPCTRL": ("actuator_ctrllimited",),
    "DAMPER": ("dof_damping", "dof_dampingpoly", "tendon_damping", "tendon_dampingpoly"),
    "EQUALITY": ("eq_active0",),
    "FRICTIONLOSS": ("dof_frictionloss", "tendon_frictionloss"),
    "GRAVITY": (),
    "LIMIT": ("jnt_limited", "tendon_limited"),
    "SPRING": ("jnt_stiffness", "jnt_stiffnesspoly", "tendon_stiffness", "tendon_stiffnesspoly"),
}
"""What is nothing where a flag disables it."""
KEPT = {"ACTUATION": "forces of actuators", "CONTACT": "contacts"}
"""What stays, since it is chosen anew whenever cardan simulates."""


@dataclass(frozen=True, slots=True)
class MeshFile:
    """A mesh as the description has it.

    Attributes:
        uri: the file's name as it is written, with the folder of meshes; the mesh's own name where it has no file.
        path: where it is; None if it is missing, outside, or no file.
        scale: along its axes.
        position: `refpos`, which is taken from its vertices before they are scaled.
        quaternion: `refquat`, (w, x, y, z), by whose inverse they are turned.
    """

    uri: str
    path: str | None
    scale: tuple[float, ...]
    position: tuple[float, ...]
    quaternion: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CompiledMjcf:
    """A description in MuJoCo.

    Attributes:
        mj: the package.
        spec: what was parsed; names, and the lines of its elements.
        model: what was compiled.
        text: what it was parsed from.
        meshes: by name.
        touching: (contype, conaffinity) of each geom.
    """

    mj: Any
    spec: Any
    model: Any
    text: Expanded
    meshes: dict[str, MeshFile]
    touching: list[tuple[int, int]]


def compiled(mj: Any, text: Expanded, source: Source, options: Options, report: Report) -> CompiledMjcf | None:
    """Return what MuJoCo makes of a text; None, with errors in the report, where it refuses it."""
    made = None
    with heard(mj) as told:
        try:
            spec = mj.MjSpec.from_string(text.text)
            made = _compiled(mj, spec, text, source, options, report)
        except Exception as error:  # MuJoCo raises ValueError for faults of the file, and errors of its own
            _blame(error, text, report)
    for message in told:
        report.remark(0, f"MuJoCo warns: {message}")
    return made


def _compiled(
    mj: Any, spec: Any, text: Expanded, source: Source, options: Options, report: Report
) -> CompiledMjcf | None:
    is_fused = spec.compiler.fusestatic
    spec.compiler.fusestatic = spec.compiler.discardvisual = False  # every body and geom stays
    spec.compiler.LRopt.mode = 0  # ranges of muscles are simulated, and not needed
    meshes = _Meshes(mj, spec, text, source, options, report).settle()
    touching = [_let_pass(geom) for geom in spec.geoms]
    if report.errors:
        return None
    m = spec.compile()
    if is_fused:
        other = spec.copy()
        other.compiler.fusestatic = True
        weigh_as_fused(mj, other.compile(), m, report)
    _switch_off(mj, m, report)
    return CompiledMjcf(mj, spec, m, text, meshes, touching)


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
        report.warn(0, f'<flag {name.lower()}="disable">: MuJoCo computes no {KEPT[name]}; they are read all the same')


def _blame(error: Exception, text: Expanded, report: Report) -> None:
    """Note what MuJoCo refuses, with its place."""
    message = str(error)
    told, _, element = message.partition("\nElement ")
    told = re.sub(r"^((XML )?Error: )+", "", told.strip())
    name = re.search(r"name '([^']+)'", element)
    owner = f" (element {name[1]!r})" if name else ""
    place = text.place(element) if "line " in element else _searched(told, text)
    report.error(place, f"MuJoCo refuses it: {told}{owner}")


def _searched(told: str, text: Expanded) -> FilePlace:
    """Return the place of what a message names, where MuJoCo says no line."""
    name = re.search(r"(\w+) '([^']*)'", told)
    if name is None:
        return FilePlace()
    wanted = f'name="{escaped(name[2])}"' if name[2] else f"<{name[1].removesuffix('frame')} "
    lines = zip(text.text.split("\n"), text.places, strict=True)
    return next((place for line, place in lines if wanted in line), FilePlace())


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
        self.needed = self._needed()

    def settle(self) -> dict[str, MeshFile]:
        """Give each mesh its file, or what stands in for it."""
        found = {mesh.name: self._settled(mesh) for mesh in list(self.spec.meshes)}
        self.files.tell(self.report)
        return found

    def _settled(self, mesh: Any) -> MeshFile:
        file, inline = mesh.file, len(mesh.uservert) > 0
        uri = self._uri(file) if file else mesh.name
        path = self.files.path(uri, self.text.place(mesh.info)) if file else None
        record = MeshFile(uri, path, tuple(mesh.scale), tuple(mesh.refpos), tuple(mesh.refquat))
        if mesh.name in self.needed and (path or inline):
            mesh.file = path or ""
            return record
        if mesh.name in self.needed:
            owner = self.needed[mesh.name]
            what = f"mesh file {quoted(uri)}, which" if file else f"mesh {mesh.name!r}, which has no vertices and"
            hint = "give the body an <inertial>, or the folder of the file by package_dirs=[...]"
            self.report.error(self.text.place(mesh.info), f"{what} decides {owner}, was not found; {hint}")
        mesh.file, mesh.content_type = "", ""
        mesh.uservert, mesh.userface = TETRAHEDRON, FACES
        mesh.usernormal, mesh.usertexcoord, mesh.userfacenormal, mesh.userfacetexcoord = [], [], [], []
        mesh.scale, mesh.refpos, mesh.refquat = [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        mesh.inertia = self.mj.mjtMeshInertia.mjMESH_INERTIA_EXACT
        return record

    def _uri(self, file: str) -> str:
        name = PurePosixPath(file.replace("\\", "/"))
        if self.spec.strippath:
            name = PurePosixPath(name.name)
        return str(PurePosixPath(self.spec.meshdir.replace("\\", "/")) / name)

    def _needed(self) -> dict[str, str]:
        """Return the names of meshes on which a mass or a size depends, each with what that is."""
        needed: dict[str, str] = {}
        for body in self.spec.bodies:
            weighs = self._is_weighed(body)
            for geom in body.geoms:
                if not geom.meshname:
                    continue
                if geom.type not in (self.mj.mjtGeom.mjGEOM_MESH, self.mj.mjtGeom.mjGEOM_SDF):
                    needed.setdefault(geom.meshname, "the size of a geom")
                elif weighs and self._has_mass(geom):
                    needed.setdefault(geom.meshname, f"the mass of {f'body {body.name!r}' if body.name else 'a body'}")
        return needed

    def _is_weighed(self, body: Any) -> bool:
        """Return whether a body has its mass from its geoms; the world's weighs nothing."""
        if body.id == 0:
            return False
        compiler, how = self.spec.compiler, self.mj.mjtInertiaFromGeom
        if compiler.inertiafromgeom == how.mjINERTIAFROMGEOM_AUTO:
            return not body.explicitinertial
        return compiler.inertiafromgeom == how.mjINERTIAFROMGEOM_TRUE

    def _has_mass(self, geom: Any) -> bool:
        first, last = self.spec.compiler.inertiagrouprange
        weight = geom.density if math.isnan(geom.mass) else geom.mass
        return first <= geom.group <= last and weight != 0.0
