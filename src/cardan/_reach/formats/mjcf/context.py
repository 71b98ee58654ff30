"""What the modules of the reader share: the compiled model, the mechanism in the making, names of numbers, actuators.

Sites mark frames of balls and free joints: MuJoCo has these joints at their bodies, cardan anywhere.

ball     X_parent_child = body_pose R(qpos)     = parent_pose R(q) child_pose^-1
free     X_world_child  = X(qpos)               = parent_pose X(q) child_pose^-1
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cardan._algebra.spatial import SE3, rotations
from cardan._reach.formats.mjcf.compiled import CompiledMjcf
from cardan._reach.formats.report import At, Report, listed
from cardan._reach.interop.mujoco_joints import meant
from cardan._robot.description import Mechanism
from cardan._robot.records import Actuator

SIDES = ("parent", "child")
EXACT = 1e-9  # how well the marks of a ball have to fit where it is [m, -]: files print six digits or more


class Names:
    """Names of one kind of thing, each used once: MuJoCo needs none, cardan gives everything one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._count: Counter[str] = Counter()

    def new(self, wanted: str) -> str:
        """Return a name nobody has: the wanted one, or that with a number."""
        name = wanted
        while name in self._taken:
            self._count[wanted] += 1
            name = f"{wanted}_{self._count[wanted] + 1}"
        self._taken.add(name)
        return name


class JointPart(NamedTuple):
    joint: str  # name of the joint it is, or is part of
    v: int  # where its velocities begin in that
    nv: int  # how many it has
    all: int  # how many that joint has


@dataclass(slots=True)
class MjcfReading:
    there: CompiledMjcf  # as MuJoCo has it
    report: Report  # where faults go
    mechanism: Mechanism  # what has been made so far
    bodies: list[str] = field(default_factory=list)  # name of each of MuJoCo's bodies
    parts: dict[int, JointPart] = field(default_factory=dict)  # by the number of MuJoCo's joint
    # by the number of a ball or free joint, where sites `name:parent` and `name:child` mark its frames to be
    marks: dict[int, tuple[SE3, SE3]] = field(default_factory=dict)
    _infos: dict[str, dict[int, str]] = field(default_factory=dict)

    def place(self, kind: str, number: int) -> At:
        if kind not in self._infos:
            self._infos[kind] = {element.id: element.info for element in getattr(self.there.spec, kind)}
        return self.there.text.place(self._infos[kind].get(number, ""))

    def name(self, kind: str, number: int) -> str:
        """Return the name of one of MuJoCo's objects, such as a `"SITE"`; empty if it has none."""
        mj = self.there.mj
        return mj.mj_id2name(self.there.model, getattr(mj.mjtObj, f"mjOBJ_{kind}"), number) or ""

    def names(self, kind: str, count: int) -> list[str]:
        return [self.name(kind, k) for k in range(count)]


def is_(number: Any, kind: Any) -> bool:
    """Return whether a number of the compiled model stands for a kind; MuJoCo's kinds equal no number of NumPy."""
    return int(number) == int(kind)


def bounds(is_limited: object, values: Sequence[float]) -> tuple[float, float]:
    """Return a range of the compiled model, infinite where it does not count."""
    return meant(*map(float, values)) if is_limited else (-math.inf, math.inf)


def pose(position: Sequence[float], quaternion: Sequence[float]) -> SE3:
    """Return a pose from MuJoCo's position and quaternion (w, x, y, z)."""
    w, x, y, z = map(float, quaternion)
    return SE3(
        rotations.matrix_from_quaternion_xyzw(rotations.quaternion_normalize_xyzw((x, y, z, w))),
        tuple(map(float, position)),
    )


def read_marks(r: MjcfReading) -> None:
    m, mj = r.there.model, r.there.mj
    for k in range(m.njnt):
        is_free = is_(m.jnt_type[k], mj.mjtJoint.mjJNT_FREE)
        if is_free or is_(m.jnt_type[k], mj.mjtJoint.mjJNT_BALL):
            sites = [mj.mj_name2id(m, mj.mjtObj.mjOBJ_SITE, f"{r.name('JOINT', k)}:{side}") for side in SIDES]
            body = int(m.jnt_bodyid[k])
            if min(sites) >= 0 and [int(m.site_bodyid[s]) for s in sites] == [int(m.body_parentid[body]), body]:
                parent, child = (pose(m.site_pos[s], m.site_quat[s]) for s in sites)
                if is_free or _fits(m, k, parent, child):
                    r.marks[k] = parent, child


def _fits(m: Any, k: int, parent: SE3, child: SE3) -> bool:
    """Return whether the marks of a ball meet in its centre when it is at rest."""
    body = int(m.jnt_bodyid[k])
    there = pose(m.body_pos[body], m.body_quat[body]) @ child
    pairs = [(child.translation, m.jnt_pos[k]), (there.translation, parent.translation)]
    pairs += zip(there.rotation.rows(), parent.rotation.rows(), strict=True)
    return all(abs(a - b) <= EXACT for one, other in pairs for a, b in zip(one, other, strict=True))


def names_of_marks(r: MjcfReading) -> set[str]:
    return {f"{r.name('JOINT', k)}:{side}" for k in r.marks for side in SIDES}


def seen_from_marks(r: MjcfReading, k: int, part: list[float]) -> list[float]:
    """Return coordinates of a ball or free joint, whose quaternion is (x, y, z, w), between the marked frames."""
    if k not in r.marks:
        return part
    parent, child = r.marks[k]
    x, y, z, w = part[-4:]
    if len(part) == 4:
        parent = child = SE3(child.rotation)
    X = parent.inverse() @ pose(part[:-4] or (0.0, 0.0, 0.0), (w, x, y, z)) @ child
    place = X.translation if len(part) > 4 else ()
    return [*map(float, place), *map(float, rotations.quaternion_xyzw_from_matrix(X.rotation))]


def gear_from_marks(r: MjcfReading, k: int, gear: tuple[float, ...]) -> tuple[float, ...]:
    """Return the gear about a ball's or free joint's own axes, given that about its body's."""
    if k not in r.marks:
        return gear
    about = r.marks[k][1].rotation.T.rows()
    turned = tuple(sum(float(r) * e for r, e in zip(row, gear[-3:], strict=True)) for row in about)
    return (*gear[:-3], *turned)


@dataclass(slots=True)
class Driven:
    """What actuators do to one of MuJoCo's joints, all along its coordinate."""

    stiffness: float = 0.0  # of the drive
    damping: float = 0.0  # of the drive
    effort: tuple[float, float] = (-math.inf, math.inf)  # smallest and largest effort of the drive
    armature: float = 0.0  # inertia of actuators, felt at the joint
    friction: float = 0.0  # damping of actuators, felt at the joint


def drives(r: MjcfReading) -> dict[int, Driven]:
    """Return what actuators do to hinges and slides, by their numbers; before joints are added."""
    m, driven, servos = r.there.model, {}, _servos(r)
    for k in range(m.nactuator):
        joint = _scalar_joint(r, k)
        if joint is None:
            continue
        this, gear = driven.setdefault(joint, Driven()), float(m.actuator_gear[k][0])
        this.armature += gear * gear * float(m.actuator_armature[k])
        this.friction += gear * gear * float(m.actuator_damping[k])
        if k in servos:
            _drive(r, k, gear, this)
    return driven


def aims(r: MjcfReading) -> dict[int, float]:
    """Return where position servos hold MuJoCo's joints without a control: at the one within their range nearest to 0.

    There are none if that is 0 for all.
    """
    found = dict[int, float]()
    for k, joint in _servos(r).items():
        gear = float(r.there.model.actuator_gear[k][0])
        if gear and _law(r, k)[0] == "position":
            lower, upper = _range(r, k, "ctrl")
            found[joint] = min(max(0.0, lower), upper) / gear
    return found if any(found.values()) else {}


def _scalar_joint(r: MjcfReading, k: int) -> int | None:
    mj, m = r.there.mj, r.there.model
    if mj.mjtTrn(int(m.actuator_trntype[k])) not in (mj.mjtTrn.mjTRN_JOINT, mj.mjtTrn.mjTRN_JOINTINPARENT):
        return None
    joint = int(m.actuator_trnid[k][0])
    kind = mj.mjtJoint(int(m.jnt_type[joint]))
    return joint if kind in (mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE) else None


def _servos(r: MjcfReading) -> dict[int, int]:
    """Return the joint of each actuator that is a drive: a servo, and alone on a hinge or slide.

    A servo is gain u + bias_1 l + bias_2 l' with gain = -bias_1, or gain = -bias_2. One whose u lags behind its control
    is a servo, too: it pulls to 0 without a control.
    """
    joints = {k: joint for k in range(r.there.model.nactuator) if (joint := _scalar_joint(r, k)) is not None}
    on = Counter(joints.values())
    own = {k: joint for k, joint in joints.items() if on[joint] == 1}
    return {k: joint for k, joint in own.items() if _law(r, k)[0] in ("position", "velocity")}


def _drive(r: MjcfReading, k: int, gear: float, this: Driven) -> None:
    """Set the drive that a servo is."""
    bias = _law(r, k)[2] or (0.0, 0.0, 0.0)
    this.stiffness, this.damping = -bias[1] * gear * gear, -bias[2] * gear * gear
    ends = [gear * e if gear else 0.0 for e in _range(r, k, "force")]
    this.effort = min(ends), max(ends)


def read_actuators(r: MjcfReading) -> None:
    m = r.there.model
    given = r.names("ACTUATOR", m.nactuator)
    names, servos, lost = Names(given), _servos(r), defaultdict[str, dict[int, str]](dict)
    for k in range(m.nactuator):
        place, name = r.place("actuators", k), given[k] or names.new(f"actuator{k}")
        gears = _gears(r, k)
        if _acts_uncalled(r, k, servos):
            lost["push in MuJoCo without a control, too, by a bias or a range without 0, and not here"][k] = name
        if _scalar_joint(r, k) is None and (m.actuator_armature[k] or m.actuator_damping[k]):
            lost["act on no single hinge or slide, and have armature or damping, which is left out"][k] = name
        if not gears:
            lost["are left out: they act along no joint's axes here"][k] = name
            continue
        kind, gain, bias = _law(r, k)
        ranges = _range(r, k, "ctrl"), _range(r, k, "force")
        with r.report.described("actuator", name, place):
            r.mechanism.add_actuator(Actuator(name, tuple(gears), tuple(gears.values()), kind, gain, bias, *ranges))
        if gain is None:
            lost["have no constant gain and affine bias: their laws are not kept"][k] = name
        elif not is_(m.actuator_dyntype[k], r.there.mj.mjtDyn.mjDYN_NONE):
            lost["filter their control by an activation, which is not kept"][k] = name
    for why, those in lost.items():
        r.report.warn(r.place("actuators", min(those)), f"these actuators {why}: {listed(those.values(), 3)}")


def _acts_uncalled(r: MjcfReading, k: int, servos: Mapping[int, int]) -> bool:
    """Return whether an actuator acts without a control, which is no target of a drive."""
    m, (lower, upper) = r.there.model, _range(r, k, "ctrl")
    is_biased = not is_(m.actuator_biastype[k], r.there.mj.mjtBias.mjBIAS_NONE) and any(m.actuator_biasprm[k])
    is_aimed = k in servos and _law(r, k)[0] == "position"
    return not is_aimed and (not lower <= 0.0 <= upper or (is_biased and k not in servos))


def _gears(r: MjcfReading, k: int) -> dict[str, tuple[float, ...]]:
    """Return, by joint, the gear along each velocity; nothing for another transmission."""
    spread = dict[str, list[float]]()
    for joint, own in _gears_in_mujoco(r, k).items():
        part = r.parts[joint]
        row = spread.setdefault(part.joint, [0.0] * part.all)
        for i, gear in enumerate(own):
            row[part.v + i] += gear
    return {joint: tuple(row) for joint, row in spread.items()}


def _gears_in_mujoco(r: MjcfReading, k: int) -> dict[int, tuple[float, ...]]:
    """Return, by the number of MuJoCo's joint, the gear along each of its velocities."""
    m, mj = r.there.model, r.there.mj
    kind, target, gear = int(m.actuator_trntype[k]), int(m.actuator_trnid[k][0]), m.actuator_gear[k]
    joint = _scalar_joint(r, k)
    if joint is not None:
        return {joint: (float(gear[0]),)}
    if is_(kind, mj.mjtTrn.mjTRN_TENDON):
        return {joint: (coef * float(gear[0]),) for joint, coef in tendon(r, target).items()}
    if not is_(kind, mj.mjtTrn.mjTRN_JOINT):
        return {}
    is_force_in_world = any(gear[:3]) and is_(m.jnt_type[target], mj.mjtJoint.mjJNT_FREE)
    if not is_force_in_world:
        return {target: gear_from_marks(r, target, tuple(float(e) for e in gear[: r.parts[target].nv]))}
    return {}


def tendon(r: MjcfReading, k: int) -> dict[int, float]:
    """Return the coefficients by joint of a tendon whose length is a sum over joints; others wrap no joint."""
    m, mj = r.there.model, r.there.mj
    first, count = int(m.tendon_adr[k]), int(m.tendon_num[k])
    wraps = [w for w in range(first, first + count) if is_(m.wrap_type[w], mj.mjtWrap.mjWRAP_JOINT)]
    return {int(m.wrap_objid[w]): float(m.wrap_prm[w]) for w in wraps}


def _law(r: MjcfReading, k: int) -> tuple[Any, float | None, tuple[float, ...] | None]:
    """Return kind, gain and bias of f = gain u + bias_0 + bias_1 l + bias_2 l'; None where the law is another."""
    m, mj = r.there.model, r.there.mj
    gain_kind = mj.mjtGain(int(m.actuator_gaintype[k]))
    bias_kind, dynamics = mj.mjtBias(int(m.actuator_biastype[k])), mj.mjtDyn(int(m.actuator_dyntype[k]))
    lags = (mj.mjtDyn.mjDYN_NONE, mj.mjtDyn.mjDYN_FILTER, mj.mjtDyn.mjDYN_FILTEREXACT)
    is_affine = bias_kind == mj.mjtBias.mjBIAS_AFFINE
    is_known = gain_kind == mj.mjtGain.mjGAIN_FIXED and (is_affine or bias_kind == mj.mjtBias.mjBIAS_NONE)
    if not is_known or dynamics not in lags or m.actuator_ctrlnum[k] != 1:
        return "general", None, None
    gain = float(m.actuator_gainprm[k][0])
    bias = tuple(float(e) for e in m.actuator_biasprm[k][:3]) if is_affine else (0.0, 0.0, 0.0)
    match bias:
        case (0.0, 0.0, 0.0):
            return "effort", gain, bias
        case (0.0, length, rate) if gain == -length > 0.0 and rate <= 0.0:
            return "position", gain, bias
        case (0.0, 0.0, rate) if gain == -rate > 0.0:
            return "velocity", gain, bias
    return "general", gain, bias


def _range(r: MjcfReading, k: int, key: str) -> tuple[float, float]:
    m = r.there.model
    row = int(m.actuator_ctrladr[k]) if key == "ctrl" else k
    return bounds(getattr(m, f"actuator_{key}limited")[row], getattr(m, f"actuator_{key}range")[row][:2])
