"""Drives as MuJoCo's servos: one actuator for each coordinate that has one, by the name of its joint there.

    position    force = stiffness (ctrl - x) - damping v      ctrl = target + (damping v_target + effort) / stiffness
    velocity    force = damping (ctrl - v)                    ctrl = v_target + effort / damping

The second where the stiffness is 0. The force of both is cut off at the joint's limits of effort.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from cardan._algebra.errors import UnsupportedError
from cardan._reach.interop.chains import Chain
from cardan._reach.interop.mujoco_joints import LIBRARY, is_planar
from cardan._robot.joints import Mimic
from cardan._robot.model import Connection


def add_drives(
    mj: Any, spec: Any, c: Connection, chain: Chain, names: Sequence[str], said: Collection[tuple[str, int]] = ()
) -> None:
    """Add the actuators of a joint, but for those of its coordinates that are `said` already."""
    for k, (stiffness, damping) in enumerate(zip(c.drive_stiffness, c.drive_damping, strict=True)):
        if (stiffness or damping) and (c.name, k) not in said:
            _check(c, chain, k, stiffness)
            _add_servo(mj, spec, c, names, k, stiffness, damping)


def _add_servo(
    mj: Any, spec: Any, c: Connection, names: Sequence[str], k: int, stiffness: float, damping: float
) -> None:
    name = servo_name(c, names, k)
    is_ball = name not in names
    servo = spec.add_actuator(name=name, target=names[0 if is_ball else k], trntype=mj.mjtTrn.mjTRN_JOINT)
    if is_ball:
        servo.gear = [*list(c.child_pose.rotation.columns())[k], 0.0, 0.0, 0.0]
    if stiffness:
        servo.set_to_position(kp=stiffness, kv=damping)
    else:
        servo.set_to_velocity(kv=damping)


def servo_name(c: Connection, names: Sequence[str], k: int) -> str:
    """Return what the servo of a joint's k-th coordinate is called; a ball has three of them."""
    return names[k] if len(names) == c.joint.nv else f"{c.name}:{k}"


def _check(c: Connection, chain: Chain, k: int, stiffness: float) -> None:
    """Raise where a servo there would not be the drive here."""
    what = ""
    if isinstance(c.joint, Mimic):
        what = f"the drive of joint {c.name!r}, which mimics {c.joint.primary!r}"
    elif chain.steps[0].kind == "free" or (is_planar(c) and k < 2):
        what = f"the drive of joint {c.name!r} along axes that are not fixed in its parent"
    elif chain.steps[0].kind == "ball" and stiffness:
        what = f"the stiffness of the drive of joint {c.name!r}, a ball, whose error is a rotation"
    if what:
        raise UnsupportedError(what, LIBRARY, "drive hinges and slides, and balls by damping alone")
