"""Actuators as records, and those that are exactly the drive of a joint as that, too."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from cardan._reach.formats.mjcf.context import MjcfReading, Names, bounds, gear_from_marks, is_
from cardan._robot.records import Actuator


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
    m, driven = r.there.model, {}
    on = Counter(joint for k in range(m.nactuator) if (joint := _scalar_joint(r, k)) is not None)
    for k in range(m.nactuator):
        joint = _scalar_joint(r, k)
        if joint is None:
            if m.actuator_armature[k] or m.actuator_damping[k]:
                whose = f"actuator {r.name('ACTUATOR', k)!r}, which acts on no single hinge or slide"
                message = f"armature and damping of {whose}, are left out; M and forces are MuJoCo's without them"
                r.report.warn(r.place("actuators", k), message)
            continue
        this, gear = driven.setdefault(joint, Driven()), float(m.actuator_gear[k][0])
        this.armature += gear * gear * float(m.actuator_armature[k])
        this.friction += gear * gear * float(m.actuator_damping[k])
        if on[joint] == 1:
            _drive(r, k, gear, this)
    return driven


def _scalar_joint(r: MjcfReading, k: int) -> int | None:
    mj, m = r.there.mj, r.there.model
    if mj.mjtTrn(int(m.actuator_trntype[k])) not in (mj.mjtTrn.mjTRN_JOINT, mj.mjtTrn.mjTRN_JOINTINPARENT):
        return None
    joint = int(m.actuator_trnid[k][0])
    kind = mj.mjtJoint(int(m.jnt_type[joint]))
    return joint if kind in (mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE) else None


def _drive(r: MjcfReading, k: int, gear: float, this: Driven) -> None:
    """Set the drive that a servo is: gain u + bias_1 l + bias_2 l' with gain = -bias_1, or gain = -bias_2."""
    kind, gain, bias = _law(r, k)
    if gain is None or bias is None or kind not in ("position", "velocity"):
        return
    if not is_(r.there.model.actuator_dyntype[k], r.there.mj.mjtDyn.mjDYN_NONE):
        return
    this.stiffness, this.damping = -bias[1] * gear * gear, -bias[2] * gear * gear
    ends = [gear * e if gear else 0.0 for e in _range(r, k, "force")]
    this.effort = min(ends), max(ends)


def read_actuators(r: MjcfReading) -> None:
    m = r.there.model
    given = r.names("ACTUATOR", m.nactuator)
    names = Names(given)
    for k in range(m.nactuator):
        place, name = r.place("actuators", k), given[k] or names.new(f"actuator{k}")
        gears = _gears(r, k, name)
        if not gears:
            continue
        kind, gain, bias = _law(r, k)
        ranges = _range(r, k, "ctrl"), _range(r, k, "force")
        with r.report.blamed(place):
            r.mechanism.add_actuator(Actuator(name, tuple(gears), tuple(gears.values()), kind, gain, bias, *ranges))
        if gain is None:
            r.report.remark(place, f"actuator {name!r} has no constant gain and affine bias; its law is not kept")
        if not is_(m.actuator_dyntype[k], r.there.mj.mjtDyn.mjDYN_NONE):
            r.report.remark(place, f"the activation of actuator {name!r}, which filters its control, is not kept")


def _gears(r: MjcfReading, k: int, name: str) -> dict[str, tuple[float, ...]]:
    """Return, by joint, the gear along each velocity; nothing, with a remark, for another transmission."""
    m, mj, spread = r.there.model, r.there.mj, dict[str, list[float]]()
    for joint, own in _gears_in_mujoco(r, k).items():
        part = r.parts[joint]
        row = spread.setdefault(part.joint, [0.0] * part.all)
        for i, gear in enumerate(own):
            row[part.v + i] += gear
    if not spread:
        along = mj.mjtTrn(int(m.actuator_trntype[k])).name.removeprefix("mjTRN_").lower()
        why = f"a transmission of kind {along} here is along no joint's axes"
        r.report.remark(r.place("actuators", k), f"actuator {name!r} is left out: {why}")
    return {joint: tuple(row) for joint, row in spread.items()}


def _gears_in_mujoco(r: MjcfReading, k: int) -> dict[int, tuple[float, ...]]:
    """Return, by the number of MuJoCo's joint, the gear along each of its velocities."""
    m, mj = r.there.model, r.there.mj
    kind, target, gear = int(m.actuator_trntype[k]), int(m.actuator_trnid[k][0]), m.actuator_gear[k]
    joint = _scalar_joint(r, k)
    if joint is not None:
        return {joint: (float(gear[0]),)}
    if is_(kind, mj.mjtTrn.mjTRN_TENDON):  # one whose length is a sum over joints; others wrap no joint
        first, count = int(m.tendon_adr[target]), int(m.tendon_num[target])
        wraps = [w for w in range(first, first + count) if is_(m.wrap_type[w], mj.mjtWrap.mjWRAP_JOINT)]
        return {int(m.wrap_objid[w]): (float(m.wrap_prm[w]) * float(gear[0]),) for w in wraps}
    is_force_in_world = any(gear[:3]) and is_(m.jnt_type[target], mj.mjtJoint.mjJNT_FREE)
    if is_(kind, mj.mjtTrn.mjTRN_JOINT) and not is_force_in_world:
        return {target: gear_from_marks(r, target, tuple(float(e) for e in gear[: r.parts[target].nv]))}
    return {}


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
