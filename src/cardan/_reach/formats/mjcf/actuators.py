"""Actuators as records, and those that are exactly the drive of a joint as that, too."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from cardan._reach.formats.mjcf.found import Found, bounds, is_
from cardan._reach.formats.mjcf.marks import gear_from_marks
from cardan._reach.formats.mjcf.naming import Names
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


def drives(found: Found) -> dict[int, Driven]:
    """Return what actuators do to hinges and slides, by their numbers; before joints are added."""
    m, driven = found.there.model, {}
    on = Counter(joint for k in range(m.nactuator) if (joint := _scalar_joint(found, k)) is not None)
    for k in range(m.nactuator):
        joint = _scalar_joint(found, k)
        if joint is None:
            _warn_of_inertia(found, k)
            continue
        this, gear = driven.setdefault(joint, Driven()), float(m.actuator_gear[k][0])
        this.armature += gear * gear * float(m.actuator_armature[k])
        this.friction += gear * gear * float(m.actuator_damping[k])
        if on[joint] == 1:
            _drive(found, k, gear, this)
    return driven


def _scalar_joint(found: Found, k: int) -> int | None:
    """Return the hinge or slide an actuator acts on, and on nothing else."""
    mj, m = found.there.mj, found.there.model
    if mj.mjtTrn(int(m.actuator_trntype[k])) not in (mj.mjtTrn.mjTRN_JOINT, mj.mjtTrn.mjTRN_JOINTINPARENT):
        return None
    joint = int(m.actuator_trnid[k][0])
    kind = mj.mjtJoint(int(m.jnt_type[joint]))
    return joint if kind in (mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE) else None


def _warn_of_inertia(found: Found, k: int) -> None:
    m = found.there.model
    if m.actuator_armature[k] or m.actuator_damping[k]:
        message = (
            f"armature and damping of actuator {found.name('ACTUATOR', k)!r}, which acts on no single hinge or slide"
        )
        found.report.warn(
            found.place("actuators", k), f"{message}, are left out; M and forces are MuJoCo's without them"
        )


def _drive(found: Found, k: int, gear: float, this: Driven) -> None:
    """Set the drive that a servo is: gain u + bias_1 l + bias_2 l' with gain = -bias_1, or gain = -bias_2."""
    kind, gain, bias = _law(found, k)
    if gain is None or bias is None or kind not in ("position", "velocity"):
        return
    if not is_(found.there.model.actuator_dyntype[k], found.there.mj.mjtDyn.mjDYN_NONE):
        return
    this.stiffness, this.damping = -bias[1] * gear * gear, -bias[2] * gear * gear
    ends = [gear * e if gear else 0.0 for e in _range(found, k, "force")]
    this.effort = min(ends), max(ends)


def read_actuators(found: Found) -> None:
    """Add the actuators to the mechanism."""
    m = found.there.model
    given = [found.name("ACTUATOR", k) for k in range(m.nactuator)]
    names = Names(given)
    for k in range(m.nactuator):
        place = found.place("actuators", k)
        name = given[k] or names.new(f"actuator{k}")
        gears = _gears(found, k, name)
        if gears:
            kind, gain, bias = _law(found, k)
            ranges = {
                f"{which}_range": _range(found, k, key) for which, key in (("control", "ctrl"), ("effort", "force"))
            }
            with found.report.blamed(place):
                found.mechanism.add_actuator(
                    Actuator(name, tuple(gears), tuple(gears.values()), kind, gain, bias, **ranges)
                )
            _remark(found, k, name, gain)


def _remark(found: Found, k: int, name: str, gain: float | None) -> None:
    """Say what of an actuator's law is not kept."""
    m, mj, place = found.there.model, found.there.mj, found.place("actuators", k)
    if gain is None:
        found.report.remark(place, f"actuator {name!r} has no constant gain and affine bias; its law is not kept")
    if not is_(m.actuator_dyntype[k], mj.mjtDyn.mjDYN_NONE):
        found.report.remark(place, f"the activation of actuator {name!r}, which filters its control, is not kept")


def _gears(found: Found, k: int, name: str) -> dict[str, tuple[float, ...]]:
    """Return, by joint, the gear along each velocity; nothing, with a remark, for another transmission."""
    m, mj, place = found.there.model, found.there.mj, found.place("actuators", k)
    kind, target = mj.mjtTrn(int(m.actuator_trntype[k])), int(m.actuator_trnid[k][0])
    joint = _scalar_joint(found, k)
    if joint is not None:
        return _spread(found, {joint: (float(m.actuator_gear[k][0]),)})
    if kind == mj.mjtTrn.mjTRN_TENDON and (coefficients := _coefficients(found, target)):
        return _spread(found, {j: (coef * float(m.actuator_gear[k][0]),) for j, coef in coefficients})
    if kind == mj.mjtTrn.mjTRN_JOINT and not (
        is_(m.jnt_type[target], mj.mjtJoint.mjJNT_FREE) and any(m.actuator_gear[k][:3])
    ):
        gear = tuple(float(e) for e in m.actuator_gear[k][: found.slots[target].nv])
        return _spread(found, {target: gear_from_marks(found, target, gear)})
    along = kind.name.removeprefix("mjTRN_").lower()
    found.report.remark(
        place, f"actuator {name!r} is left out: a transmission of kind {along} here is along no joint's axes"
    )
    return {}


def _coefficients(found: Found, tendon: int) -> list[tuple[int, float]]:
    """Return joints and coefficients of a tendon whose length is a sum over joints; of any other nothing."""
    m, joint = found.there.model, found.there.mj.mjtWrap.mjWRAP_JOINT
    first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    wraps = [k for k in range(first, first + count) if is_(m.wrap_type[k], joint)]
    return [(int(m.wrap_objid[k]), float(m.wrap_prm[k])) for k in wraps]


def _spread(found: Found, gears: dict[int, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Return gears of MuJoCo's joints as gears of the joints they are part of, nv numbers each."""
    spread: dict[str, list[float]] = {}
    for joint, own in gears.items():
        slot = found.slots[joint]
        row = spread.setdefault(slot.joint, [0.0] * slot.all)
        for i, gear in enumerate(own):
            row[slot.v + i] += gear
    return {joint: tuple(row) for joint, row in spread.items()}


Kind = Literal["effort", "position", "velocity", "general"]


def _law(found: Found, k: int) -> tuple[Kind, float | None, tuple[float, ...] | None]:
    """Return kind, gain and bias of f = gain u + bias_0 + bias_1 l + bias_2 l'; None where the law is another."""
    m, mj = found.there.model, found.there.mj
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


def _kind(gain: float, bias: tuple[float, ...]) -> Kind:
    constant, length, rate = bias
    if not any(bias):
        return "effort"
    if constant == 0.0 and gain == -length > 0.0 and rate <= 0.0:
        return "position"
    return "velocity" if constant == 0.0 == length and gain == -rate > 0.0 else "general"


def _range(found: Found, k: int, key: str) -> tuple[float, float]:
    m = found.there.model
    row = int(m.actuator_ctrladr[k]) if key == "ctrl" else k
    return bounds(getattr(m, f"actuator_{key}limited")[row], getattr(m, f"actuator_{key}range")[row][:2])
