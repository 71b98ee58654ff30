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
    """What actuators do to one of MuJoCo's joints, all along its coordinate.

    Attributes:
        stiffness: of the drive.
        damping: of the drive.
        effort: smallest and largest effort of the drive.
        armature: inertia of actuators, felt at the joint.
        friction: damping of actuators, felt at the joint.
    """

    stiffness: float = 0.0
    damping: float = 0.0
    effort: tuple[float, float] = (-math.inf, math.inf)
    armature: float = 0.0
    friction: float = 0.0


def drives(r: MjcfReading) -> dict[int, Driven]:
    """Return what actuators do to hinges and slides, by their numbers; before joints are added."""
    m, driven = r.there.model, {}
    on = Counter(joint for k in range(m.nactuator) if (joint := _scalar_joint(r, k)) is not None)
    for k in range(m.nactuator):
        joint = _scalar_joint(r, k)
        if joint is None:
            if m.actuator_armature[k] or m.actuator_damping[k]:
                whose = f"actuator {r.name('ACTUATOR', k)!r}, which acts on no single hinge or slide"
                told = f"armature and damping of {whose}, are left out; M and forces are MuJoCo's without them"
                r.report.warn(r.place("actuators", k), told)
            continue
        this, gear = driven.setdefault(joint, Driven()), float(m.actuator_gear[k][0])
        this.armature += gear * gear * float(m.actuator_armature[k])
        this.friction += gear * gear * float(m.actuator_damping[k])
        if on[joint] == 1:
            _drive(r, k, gear, this)
    return driven


def _scalar_joint(r: MjcfReading, k: int) -> int | None:
    """Return the hinge or slide an actuator acts on, and on nothing else."""
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
    """Add the actuators to the mechanism."""
    m = r.there.model
    given = r.names("ACTUATOR", m.nactuator)
    names = Names(given)
    for k in range(m.nactuator):
        place = r.place("actuators", k)
        name = given[k] or names.new(f"actuator{k}")
        gears = _gears(r, k, name)
        if gears:
            kind, gain, bias = _law(r, k)
            ranges = {f"{which}_range": _range(r, k, key) for which, key in (("control", "ctrl"), ("effort", "force"))}
            with r.report.blamed(place):
                r.mechanism.add_actuator(
                    Actuator(name, tuple(gears), tuple(gears.values()), kind, gain, bias, **ranges)
                )
            _remark(r, k, name, gain)


def _remark(r: MjcfReading, k: int, name: str, gain: float | None) -> None:
    """Say what of an actuator's law is not kept."""
    m, mj, place = r.there.model, r.there.mj, r.place("actuators", k)
    if gain is None:
        r.report.remark(place, f"actuator {name!r} has no constant gain and affine bias; its law is not kept")
    if not is_(m.actuator_dyntype[k], mj.mjtDyn.mjDYN_NONE):
        r.report.remark(place, f"the activation of actuator {name!r}, which filters its control, is not kept")


def _gears(r: MjcfReading, k: int, name: str) -> dict[str, tuple[float, ...]]:
    """Return, by joint, the gear along each velocity; nothing, with a remark, for another transmission."""
    m, mj, place = r.there.model, r.there.mj, r.place("actuators", k)
    kind, target = mj.mjtTrn(int(m.actuator_trntype[k])), int(m.actuator_trnid[k][0])
    joint = _scalar_joint(r, k)
    if joint is not None:
        return _spread(r, {joint: (float(m.actuator_gear[k][0]),)})
    if kind == mj.mjtTrn.mjTRN_TENDON and (coefficients := _coefficients(r, target)):
        return _spread(r, {j: (coef * float(m.actuator_gear[k][0]),) for j, coef in coefficients})
    is_force_in_world = any(m.actuator_gear[k][:3]) and is_(m.jnt_type[target], mj.mjtJoint.mjJNT_FREE)
    if kind == mj.mjtTrn.mjTRN_JOINT and not is_force_in_world:
        gear = tuple(float(e) for e in m.actuator_gear[k][: r.parts[target].nv])
        return _spread(r, {target: gear_from_marks(r, target, gear)})
    along = kind.name.removeprefix("mjTRN_").lower()
    why = f"a transmission of kind {along} here is along no joint's axes"
    r.report.remark(place, f"actuator {name!r} is left out: {why}")
    return {}


def _coefficients(r: MjcfReading, tendon: int) -> list[tuple[int, float]]:
    """Return joints and coefficients of a tendon whose length is a sum over joints; of any other nothing."""
    m, joint = r.there.model, r.there.mj.mjtWrap.mjWRAP_JOINT
    first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    wraps = [k for k in range(first, first + count) if is_(m.wrap_type[k], joint)]
    return [(int(m.wrap_objid[k]), float(m.wrap_prm[k])) for k in wraps]


def _spread(r: MjcfReading, gears: dict[int, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Return gears of MuJoCo's joints as gears of the joints they are part of, nv numbers each."""
    spread: dict[str, list[float]] = {}
    for joint, own in gears.items():
        part = r.parts[joint]
        row = spread.setdefault(part.joint, [0.0] * part.all)
        for i, gear in enumerate(own):
            row[part.v + i] += gear
    return {joint: tuple(row) for joint, row in spread.items()}


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
    return _kind(gain, bias), gain, bias


def _kind(gain: float, bias: tuple[float, ...]) -> str:
    constant, length, rate = bias
    if not any(bias):
        return "effort"
    if constant == 0.0 and gain == -length > 0.0 and rate <= 0.0:
        return "position"
    return "velocity" if constant == 0.0 == length and gain == -rate > 0.0 else "general"


def _range(r: MjcfReading, k: int, key: str) -> tuple[float, float]:
    m = r.there.model
    row = int(m.actuator_ctrladr[k]) if key == "ctrl" else k
    return bounds(getattr(m, f"actuator_{key}limited")[row], getattr(m, f"actuator_{key}range")[row][:2])
