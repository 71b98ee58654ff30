"""Bodies and the joints between them, with all that acts along the joints, and equality constraints.

The joints of a MuJoCo body act in a row; here they are one joint: X(q) = X(0) exp(S_1 q_1) exp(S_2 q_2) ...

The coordinates are MuJoCo's own, in its order: q = qpos, v = qvel (but for a free joint's linear velocity). A reference
`ref`, the coordinate at which MuJoCo draws the body, is part of the placement: X(0) = X(ref) exp(-S ref).

Source: MuJoCo documentation, "Modeling: body, joint" and "Computation: kinematic tree"; the row is that of
`cardan.interop.mujoco_joints`, which goes the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3, Inertia, Symmetric3, Vector3
from cardan._algebra.spatial.rotations import rotation_about_axis
from cardan._motion.simulation.cutting import cut_bodies
from cardan._reach.formats.mjcf import context
from cardan._reach.interop.mujoco_joints import Step, X, Y, Z
from cardan._robot import joints as J
from cardan._robot.joints import Fixed, Joint, Limits, Spherical
from cardan._robot.joints.catalogue.chains import along
from cardan._robot.joints.catalogue.of_another import following
from cardan._robot.model import WORLD
from cardan._robot.records import Connection, Drive, Spring

# What a weld of MuJoCo's pulls with by default, a unit of inertia: d k / (1 - d) [1/s^2] and d b / (1 - d) [1/s] at the
# impedance d = 0.95, k = 1 / (d t^2) and b = 2 / (d t) at the time t = 0.02 s
PULL, SLOWED = 5e4, 2e3
ROUNDING = 1e-15  # how far off, relative to their length, a point may be from an axis that goes through it


@dataclass(frozen=True, slots=True)
class RowStep(Step):
    """One of MuJoCo's joints, in the body's frame at `ref`."""

    ref: float = 0.0  # its coordinate there

    @property
    def joint(self) -> J.Joint:
        if self.kind == "hinge":
            return J.Revolute(self.axis)
        return J.Prismatic(self.axis) if self.kind == "slide" else J.Spherical()

    @property
    def turned_back(self) -> SE3:
        """exp(-S ref), at the step's own point."""
        if self.kind == "slide":
            return SE3(translation=self.axis * -self.ref)
        return SE3(rotation_about_axis(self.axis, -self.ref)) if self.kind == "hinge" else SE3.identity()


@dataclass(frozen=True, slots=True)
class JointRow:
    """Steps in a row as one joint: X_parent_child = X_ref `before` joint(q) `after`^-1."""

    joint: J.Joint  # the joint; its coordinates are the steps' own, in their order
    before: SE3  # its parent frame in the body at `ref`
    after: SE3  # its child frame in the body


def row_of(steps: Sequence[RowStep]) -> JointRow:
    """Return steps as one joint: of the catalogue where one has just these coordinates, else a composite."""
    if not steps:
        return JointRow(J.Fixed(), SE3.identity(), SE3.identity())
    if steps[0].kind == "free":
        return JointRow(J.FreeFlyer(), SE3.identity(), SE3.identity())
    if len(steps) == 1:
        at = SE3(translation=steps[0].point)
        return JointRow(steps[0].joint, at @ steps[0].turned_back, at)
    return _of_catalogue(steps) or _composite(steps)


def _of_catalogue(steps: Sequence[RowStep]) -> JointRow | None:
    """Return the joint of the catalogue whose coordinates are those of slides, then hinges through one point."""
    slides = [step for step in steps if step.kind == "slide"]
    hinges = list(steps[len(slides) :])
    if any(step.ref for step in steps) or any(step.kind != "hinge" for step in hinges):
        return None
    point = hinges[0].point if hinges else Vector3.zero()
    gaps = [(point - step.point).cross(step.axis).norm_squared() for step in hinges]  # of axes from the point, squared
    if any(gap > (ROUNDING * ROUNDING) * point.norm_squared() for gap in gaps):
        return None
    try:
        joint = along([step.axis for step in slides], [step.axis for step in hinges])
    except ParameterError:  # parallel axes, or more than three
        return None
    return JointRow(joint, SE3(translation=point), SE3(translation=point))


def _composite(steps: Sequence[RowStep]) -> JointRow:
    at, placements = SE3.identity(), []
    for step in steps:
        here = at if step.kind == "slide" else SE3(translation=step.point)
        placements.append(at.inverse() @ here @ step.turned_back)
        at = here
    before = placements[0]
    placements[0] = SE3.identity()
    return JointRow(J.Composite([step.joint for step in steps], placements), before, at)


SEPARATOR = "+"  # between the names of the joints of one body, which together are one joint here

KINDS = ("free", "ball", "slide", "hinge")  # by MuJoCo's numbers
SIZES = {"free": 6, "ball": 3, "slide": 1, "hinge": 1}


class Tree:
    """Reads the bodies and joints of a description into its mechanism."""

    def __init__(self, r: context.MjcfReading, mimics: Mimics) -> None:
        self.r, self.m = r, r.there.model
        self.mimics, self.driven = mimics, context.drives(r)
        given, joints = r.names("BODY", self.m.nbody), r.names("JOINT", self.m.njnt)
        self.body_names = context.Names(given)
        r.bodies[:] = [WORLD, *(name or self.body_names.new(f"body{k}") for k, name in enumerate(given) if k)]
        self.joint_names = context.Names(joints)
        owners = [r.bodies[body] for body in self.m.jnt_bodyid]
        self.joints = [name or self.joint_names.new(f"{owners[k]}_joint") for k, name in enumerate(joints)]

    def read(self) -> None:
        context.read_marks(self.r)
        coupled = {joint for own, (others, _) in self.mimics.items() for joint in (own, *others)}
        for body in range(1, self.m.nbody):
            first, count = int(self.m.body_jntadr[body]), int(self.m.body_jntnum[body])
            numbers = list(range(first, first + count)) if count else []
            with self.r.report.described("body", self.r.bodies[body], self.r.place("bodies", body)):
                if count > 1 and coupled & set(numbers):
                    self._read_one_by_one(body, numbers)
                else:
                    self._read_together(body, numbers)

    def _read_together(self, body: int, numbers: list[int]) -> None:
        m, r = self.m, self.r
        name = _joined([self.joints[k] for k in numbers])
        if not numbers:
            name = self.joint_names.new(f"{r.bodies[body]}_fixed")
        elif len(numbers) > 1:
            name = self.joint_names.new(name)
        at = context.pose(m.body_pos[body], m.body_quat[body])
        row = row_of([self._step(k) for k in numbers])
        at = SE3.identity() if numbers and KINDS[m.jnt_type[numbers[0]]] == "free" else at
        if numbers and numbers[0] in r.marks:
            at, after = r.marks[numbers[0]]
            row = JointRow(row.joint, SE3.identity(), after)
        r.mechanism._add_body(r.bodies[body], self._inertia(body))
        if m.body_mocapid[body] >= 0:
            what = f"body {r.bodies[body]!r}, moved by motion capture, is read as fixed in the world"
            r.report.remark(r.place("bodies", body), what)
        self._add(name, row, r.bodies[m.body_parentid[body]], r.bodies[body], at, numbers)

    def _read_one_by_one(self, body: int, numbers: list[int]) -> None:
        """Add a body whose joints are several here, with massless bodies between, so that one can follow another."""
        m, r = self.m, self.r
        parent, at = r.bodies[m.body_parentid[body]], context.pose(m.body_pos[body], m.body_quat[body])
        for k in numbers:
            is_last = k == numbers[-1]
            child = r.bodies[body] if is_last else self.body_names.new(f"{r.bodies[body]}:{self.joints[k]}")
            r.mechanism._add_body(child, self._inertia(body) if is_last else None)
            self._add(self.joints[k], row_of([self._step(k)]), parent, child, at, [k])
            parent, at = child, SE3.identity()

    def _add(self, name: str, row: JointRow, parent: str, child: str, at: SE3, numbers: list[int]) -> None:
        r, start = self.r, 0
        sizes = [SIZES[KINDS[self.m.jnt_type[k]]] for k in numbers]
        for k, nv in zip(numbers, sizes, strict=True):
            r.parts[k] = context.JointPart(name, start, nv, sum(sizes))
            start += nv
            r.report.places.setdefault(("joint", name), r.place("joints", k))
        joint, poses = self._mimicking(row.joint, numbers), (at @ row.before, row.after)
        record = r.mechanism.add_joint(name, joint, parent, child, *poses, **self._along(numbers))
        assert record.joint.primaries or record.joint.nv == start

    def _mimicking(self, joint: Joint, numbers: list[int]) -> Joint:
        if not (len(numbers) == 1 and numbers[0] in self.mimics):
            return joint
        others, coefficients = self.mimics[numbers[0]]
        primaries = [self.joints[other] for other in others]
        if self.m.jnt_limited[numbers[0]]:
            named = ", ".join(map(repr, primaries))
            told = f"joint {self.joints[numbers[0]]!r}: its range limits {named}, which it follows, in MuJoCo alone"
            self.r.report.remark(self.r.place("joints", numbers[0]), told)
        if len(primaries) > 1:
            return J.Coupled(joint, primaries, J.Linear(coefficients[1:], coefficients[0]))
        return following(joint, primaries[0], coefficients)

    def _step(self, k: int) -> RowStep:
        m: Any = self.m
        kind: Any = KINDS[m.jnt_type[k]]
        ref = float(m.qpos0[m.jnt_qposadr[k]]) if kind in ("hinge", "slide") else 0.0
        axis, point = (Vector3(*map(float, vector[k])) for vector in (m.jnt_axis, m.jnt_pos))
        return RowStep(kind, axis, point, ref)

    def _inertia(self, body: int) -> Inertia | None:
        m = self.m
        if m.body_mass[body] == 0.0 and not any(m.body_inertia[body]):
            return None
        X = context.pose(m.body_ipos[body], m.body_iquat[body])
        a, b, c = map(float, m.body_inertia[body])
        at_com = Symmetric3((a, 0.0, 0.0, b, 0.0, c)).rotated(X.rotation)
        return Inertia(float(m.body_mass[body]), X.translation, at_com)

    def _along(self, numbers: list[int]) -> dict[str, Any]:
        each = [self._of_step(k) for k in numbers]

        def row(key: str) -> tuple[float, ...]:
            return tuple(value for step in each for value in step[key])

        return {
            **{key: row(key) for key in ("damping", "friction", "armature")},
            "limits": Limits(row("lower"), row("upper"), None, row("effort"), None, row("effort_lower")),
            "spring": Spring(row("stiffness"), row("rest")),
            "drive": Drive(row("kp"), row("kv")),
        }

    def _of_step(self, k: int) -> dict[str, Sequence[float]]:
        m, kind = self.m, KINDS[self.m.jnt_type[k]]
        first, nv = int(m.jnt_dofadr[k]), SIZES[kind]
        dofs = slice(first, first + nv)
        driven = self.driven.get(k, context.Driven())
        is_scalar = kind in ("hinge", "slide")
        lower, upper = context.bounds(m.jnt_limited[k] and is_scalar, m.jnt_range[k])
        own = context.bounds(m.jnt_actfrclimited[k], m.jnt_actfrcrange[k])
        effort = max(driven.effort[0], own[0]), min(driven.effort[1], own[1])
        effort = effort if effort[0] <= effort[1] else own  # ranges may have nothing in common
        stiffness = 0.0 if kind == "free" else float(m.jnt_stiffness[k])
        rest = float(m.qpos_spring[m.jnt_qposadr[k]]) if is_scalar else 0.0
        self._warn_of_laws(k, kind)
        alike = {"lower": lower, "upper": upper, "effort_lower": effort[0], "effort": effort[1]}
        alike |= {"stiffness": stiffness, "rest": rest if stiffness else 0.0}
        alike |= {"kp": driven.stiffness, "kv": driven.damping}
        return {
            "damping": [float(e) + driven.friction for e in m.dof_damping[dofs]],
            "friction": [float(e) for e in m.dof_frictionloss[dofs]],
            "armature": [float(e) + driven.armature for e in m.dof_armature[dofs]],
            **{key: [number] * nv for key, number in alike.items()},
        }

    def _warn_of_laws(self, k: int, kind: str) -> None:
        """Say what acts in a way no record here says."""
        m, dof = self.m, int(self.m.jnt_dofadr[k])
        if m.jnt_limited[k] and kind == "ball":
            self._warn(k, "the range of a ball, the largest angle of its rotation, is not kept")
        if m.jnt_stiffness[k] and kind == "free":
            self._warn(k, "the spring of a free joint, along the world's axes, is left out")
        if any(m.jnt_stiffnesspoly[k]) or any(m.dof_dampingpoly[dof]):
            self._warn(k, "stiffness and damping beyond the linear term are left out")
        if kind == "free" and (m.dof_armature[dof] or m.dof_frictionloss[dof]):
            why = "act along the world's axes in MuJoCo, here along its own"
            self._warn(k, f"armature and friction of a free joint {why}")

    def _warn(self, k: int, message: str) -> None:
        self.r.report.warn(self.r.place("joints", k), f"joint {self.joints[k]!r}: {message}")


def _joined(names: Sequence[str]) -> str:
    """Return the name of joints in a row: `name` of `name:0`, `name:1`, ..., as the writer calls them, else `a+b`."""
    stem = names[0].removesuffix(":0") if len(names) > 1 else ""
    is_numbered = stem and list(names) == [f"{stem}:{k}" for k in range(len(names))]
    return stem if is_numbered else SEPARATOR.join(names)


# --- equality constraints: what is held closes a loop, a coordinate held at another's mimics it ---

Mimics = dict[int, tuple[Sequence[int], Sequence[float]]]
"""What a joint follows, by number: another one by a polynomial, or several by a sum; the constant is first."""


def read_mimics(r: context.MjcfReading) -> tuple[Mimics, list[int]]:
    """Return what holds one hinge or slide at others, and the equalities that hold one where it is."""
    m, kinds = r.there.model, r.there.mj.mjtEq
    mimics: Mimics = {}
    locked: list[int] = []
    for k in range(m.neq):
        of_joints, of_tendons = (context.is_(m.eq_type[k], kind) for kind in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON))
        if not (of_joints or of_tendons) or not m.eq_active0[k]:
            continue
        own, others, coefficients = _line_of_joints(r, k) if of_joints else _line_of_tendons(r, k)
        if own < 0:
            _leave_out(r, k, "an equality of tendons, but a sum of two to seven joints,")
        elif of_joints and (others[0] < 0 or not any(m.eq_data[k][1:5])):
            locked.append(k)
        elif own in mimics or any(_leads_to(mimics, other, own) for other in others):
            _leave_out(r, k, "a joint that follows another already")
        else:
            mimics[own] = others, coefficients
    return mimics, locked


Followed = tuple[int, Sequence[int], Sequence[float]]


def _line_of_joints(r: context.MjcfReading, k: int) -> Followed:
    """Return a joint, that which it follows, and the polynomial."""
    m = r.there.model
    own, other = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    start, *slopes = (float(e) for e in m.eq_data[k][:5])
    at, at_other = (float(m.qpos0[m.jnt_qposadr[joint]]) for joint in (own, other))
    return own, (other,), _moved((at + start, *slopes), at_other)


def _line_of_tendons(r: context.MjcfReading, k: int) -> Followed:
    """Return the same of tendons of some joints in all, which hold L_1 - L_1(qpos0) at a line of that of the other.

    The last one follows the others, up to six. No joint, -1, stands for what is none of this.
    """
    m = r.there.model
    (start, slope, *bends), (one, other) = m.eq_data[k][:5].tolist(), (int(m.eq_obj1id[k]), int(m.eq_obj2id[k]))
    tendons = [(one, 1.0), (other, -slope)] if other >= 0 else [(one, 1.0)]
    total, rest = dict[int, float](), start
    for tendon, factor in tendons:
        rest += factor * float(m.tendon_length0[tendon])
        for joint, coef in context.tendon(r, tendon).items():
            total[joint] = total.get(joint, 0.0) + factor * coef
    total = {joint: coef for joint, coef in total.items() if coef}
    wraps = all(context.tendon(r, tendon) for tendon, _ in tendons)
    if not 2 <= len(total) <= 7 or not wraps or (other >= 0 and any(bends)):
        return -1, (), ()
    *others, own = sorted(total)
    return own, others, (rest / total[own], *(-total[joint] / total[own] for joint in others))


def _moved(coefficients: Sequence[float], x: float) -> Sequence[float]:
    """Return the polynomial p(q - x) of q, for p with these coefficients, the constant first."""
    moved: list[float] = []
    for c in reversed(coefficients):
        moved = [a - x * b for a, b in zip([c, *moved], [*moved, 0.0], strict=True)]
    return moved


def _leads_to(mimics: Mimics, joint: int, end: int) -> bool:
    """Return whether a joint follows, by way of others, the one at the end; or is it."""
    return joint == end or any(_leads_to(mimics, other, end) for other in mimics.get(joint, ((), ()))[0])


def _leave_out(r: context.MjcfReading, k: int, what: str) -> None:
    name = r.name("EQUALITY", k)
    r.report.warn(r.place("equalities", k), f"equality {name!r} is left out: {what} is not kept")


def read_loops(r: context.MjcfReading, locked: list[int]) -> None:
    """Add a joint for each equality that closes a loop, after those of the tree."""
    m, kinds = r.there.model, r.there.mj.mjtEq
    given, taken = r.names("EQUALITY", m.neq), [c.name for c in r.mechanism.joints]
    names = context.Names([*taken, *given])
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
                weights = _weights(r, *closed[1:3])
                if kind == kinds.mjEQ_WELD and weights:
                    _pull(r, weights, name, *closed[1:])
                else:
                    r.mechanism.add_joint(name, *closed)
        elif kind not in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON):
            _leave_out(r, k, f"an equality of kind {kind.name.removeprefix('mjEQ_').lower()}")


def _weights(r: context.MjcfReading, *bodies: str) -> list[float]:
    """Return the inverse inertias that a joint feels between two bodies of which motion capture moves one; or none."""
    m, ids = r.there.model, [r.bodies.index(name) for name in bodies]
    weights = m.body_invweight0[ids].sum(axis=0)
    return weights.tolist() if max(m.body_mocapid[ids]) >= 0 and weights.all() else []


def _pull(r: context.MjcfReading, weights: list[float], name: str, *ends: Any) -> None:
    """Add springs and dampers in place of a weld to a body that motion capture moves: MuJoCo's welds give way.

    A rigid one would pull an arm without bound to where it cannot reach.
    """
    inertias = [1.0 / weight for weight in weights for _ in range(3)]
    spring = Spring([PULL * e for e in inertias], [0.0] * 6)
    damping = [SLOWED * e for e in inertias]
    r.mechanism.add_joint(name, J.D6([X, Y, Z], [X, Y, Z]), *ends, spring=spring, damping=damping)
    r.mechanism = cut_bodies(r.mechanism)


def _is_of_sites(r: context.MjcfReading, k: int) -> bool:
    return context.is_(r.there.model.eq_objtype[k], r.there.mj.mjtObj.mjOBJ_SITE)


def _ends(r: context.MjcfReading, k: int) -> tuple[str, str, SE3, SE3]:
    """Return two bodies, and the frames on them that are held together: those of two sites, or as the data says."""
    m, data = r.there.model, r.there.model.eq_data[k]
    ids = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    if _is_of_sites(r, k):
        one, other = (r.bodies[m.site_bodyid[i]] for i in ids)
        return one, other, *(context.pose(m.site_pos[i], m.site_quat[i]) for i in ids)  # pyright: ignore[reportReturnType]
    one, other = (r.bodies[max(i, 0)] for i in ids)
    first, second = (SE3(translation=tuple(map(float, data[i : i + 3]))) for i in (0, 3))
    if context.is_(m.eq_type[k], r.there.mj.mjtEq.mjEQ_CONNECT):
        return one, other, first, second
    return one, other, context.pose(data[3:6], data[6:10]), first


def ends_of_loops(r: context.MjcfReading) -> set[str]:
    held = [k for k in range(r.there.model.neq) if _is_of_sites(r, k)]
    return {f"{r.name('EQUALITY', k)}:{side}" for k in held for side in context.SIDES}


def _lock(r: context.MjcfReading, k: int) -> tuple[Joint, str, str, SE3, SE3] | None:
    m, own = r.there.model, int(r.there.model.eq_obj1id[k])
    part = r.parts[own]
    c: Connection = next(c for c in r.mechanism.joints if c.name == part.joint)
    if part.nv != part.all:
        _leave_out(r, k, "one of several joints of a body, held where it is,")
        return None
    held = float(m.qpos0[m.jnt_qposadr[own]]) + float(m.eq_data[k][0])
    return Fixed(), c.parent, c.child, c.parent_pose @ c.joint.transform((held,)), c.child_pose
