"""Drives as MuJoCo's servos: one actuator for each coordinate that has one, by the name of its joint there.

force = stiffness (ctrl - x) - damping v          position;  ctrl = target + damping / stiffness target_velocity
force = damping (ctrl - v)                        velocity, where the stiffness is 0;  ctrl = target_velocity
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardan.errors import UnsupportedError
from cardan.interop.chains import Chain
from cardan.interop.mujoco_joints import LIBRARY, is_planar
from cardan.model import Connection


def add_drives(mj: Any, spec: Any, c: Connection, chain: Chain, names: Sequence[str]) -> None:
    """Add the actuators of a joint."""
    for k, (stiffness, damping) in enumerate(zip(c.drive_stiffness, c.drive_damping, strict=True)):
        if stiffness or damping:
            _check(c, chain, k)
            _add_servo(mj, spec, c, names, k, stiffness, damping)


def _add_servo(
    mj: Any, spec: Any, c: Connection, names: Sequence[str], k: int, stiffness: float, damping: float
) -> None:
    is_ball = len(names) < c.joint.nv
    name = f"{c.name}:{k}" if is_ball else names[k]
    servo = spec.add_actuator(name=name, target=names[0 if is_ball else k], trntype=mj.mjtTrn.mjTRN_JOINT)
    if is_ball:
        servo.gear = [*list(c.child_pose.rotation.columns())[k], 0.0, 0.0, 0.0]
    if stiffness:
        servo.set_to_position(kp=stiffness, kv=damping)
    else:
        servo.set_to_velocity(kv=damping)


def _check(c: Connection, chain: Chain, k: int) -> None:
    if chain.steps[0].kind == "free" or (is_planar(c) and k < 2):
        what = f"the drive of joint {c.name!r} along axes that are not fixed in its parent"
        raise UnsupportedError(what, LIBRARY, "drive hinges, slides and balls")
