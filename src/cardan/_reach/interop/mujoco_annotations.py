"""Actuators, named configurations and disabled contacts in MuJoCo: general actuators, keyframes and exclusions.

An actuator of several coordinates acts on a fixed tendon, whose length is the sum of gear x; its gear there is 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from cardan._algebra.errors import DescriptionWarning
from cardan._reach.interop.mujoco_joints import Chain, bounds, is_planar
from cardan._reach.interop.mujoco_state import MujocoState
from cardan._robot.model import Connection, Model
from cardan._robot.records import Actuator


def drives_said(model: Model) -> set[tuple[str, int]]:
    """Return the coordinates, by joint and index there, whose drive an actuator of the model says, too."""
    connections = {c.name: c for c in model.connections}
    return {key for a in model.actuators if (key := _drive_of(a, connections)) is not None}


def _drive_of(actuator: Actuator, connections: Mapping[str, Connection]) -> tuple[str, int] | None:
    """Return the one coordinate an actuator drives just as the drive there does."""
    moved = _moved(actuator)
    if len(moved) != 1 or actuator.bias is None or actuator.joints[0] not in connections:
        return None
    ((joint, k), gear), (constant, length, rate) = *moved.items(), actuator.bias
    c, gain = connections[joint], (-length or -rate)
    given = (-length * gear * gear, -rate * gear * gear)
    drive = (c.drive_stiffness[k], c.drive_damping[k])
    return (joint, k) if constant == 0.0 and gain == actuator.gain and np.allclose(given, drive, 1e-12, 0.0) else None


def _moved(actuator: Actuator) -> dict[tuple[str, int], float]:
    """Return the gears that are not 0, by joint and index there."""
    rows: Any = zip(actuator.joints, actuator.gear, strict=True)  # pyright: ignore[reportArgumentType]
    return {(joint, k): gear for joint, row in rows for k, gear in enumerate(row) if gear}


def add_actuators(
    mj: Any, spec: Any, model: Model, chains: Mapping[str, Chain], steps: Mapping[str, Sequence[str]]
) -> None:
    """Add the actuators of a model; one that MuJoCo cannot say is left out with a warning."""
    connections = {c.name: c for c in model.connections}
    for actuator in model.actuators:
        why = _why_not(actuator, connections, chains)
        if why:
            message = f"{model.name}: actuator {actuator.name!r} is left out: {why}"
            warnings.warn(DescriptionWarning(message), stacklevel=2)
        else:
            _add_actuator(mj, spec, actuator, connections, chains, steps)


def _why_not(actuator: Actuator, connections: Mapping[str, Connection], chains: Mapping[str, Chain]) -> str:
    moved = _moved(actuator)
    if actuator.kind != "effort" and (actuator.gain is None or actuator.bias is None):
        return "its gain or bias is not known"
    if not moved or not all(joint in connections for joint, _ in moved):
        return "it moves nothing in the tree"
    for joint, k in moved:
        c, kind = connections[joint], chains[joint].steps[0].kind
        if (kind == "free" and k < 3) or (is_planar(c) and k < 2):
            return f"it pushes joint {joint!r} along axes that move with the child"
        if kind in ("ball", "free") and len(actuator.joints) > 1:
            return f"it acts on joint {joint!r}, no hinge or slide, and on others"
    return ""


def _add_actuator(
    mj: Any,
    spec: Any,
    actuator: Actuator,
    connections: Mapping[str, Connection],
    chains: Mapping[str, Chain],
    steps: Mapping[str, Sequence[str]],
) -> None:
    there = spec.add_actuator(name=actuator.name)
    moved = _moved(actuator)
    joint = next(iter(moved))[0]
    kind = chains[joint].steps[0].kind
    if kind in ("ball", "free"):
        there.trntype, there.target = mj.mjtTrn.mjTRN_JOINT, steps[joint][0]
        there.gear = _gear_of_many(connections[joint], kind, moved)
    elif len(moved) == 1:
        ((_, k), gear) = next(iter(moved.items()))
        there.trntype, there.target, there.gear = mj.mjtTrn.mjTRN_JOINT, steps[joint][k], [gear] + [0.0] * 5
    else:
        there.trntype, there.target = mj.mjtTrn.mjTRN_TENDON, f"{actuator.name}:length"
        tendon = spec.add_tendon(name=there.target)
        for (name, k), gear in moved.items():
            tendon.wrap_joint(steps[name][k], gear)
    _set_law(mj, there, actuator)


def _gear_of_many(c: Connection, kind: str, moved: Mapping[tuple[str, int], float]) -> list[float]:
    """Return the gear of a ball or free joint: about axes of the child body, not of the joint."""
    first = 3 if kind == "free" else 0
    about = [moved.get((c.name, first + i), 0.0) for i in range(3)]
    turned = [sum(row[i] * about[i] for i in range(3)) for row in c.child_pose.rotation.rows()]
    return [0.0] * 3 + turned if kind == "free" else turned + [0.0] * 3


def _set_law(mj: Any, there: Any, actuator: Actuator) -> None:
    there.gainprm[0] = 1.0 if actuator.gain is None else actuator.gain
    if any(actuator.bias or ()):
        there.biastype = mj.mjtBias.mjBIAS_AFFINE
        there.biasprm[:3] = list(actuator.bias)  # pyright: ignore[reportArgumentType]
    for key, (lower, upper) in (("ctrl", actuator.control_range), ("force", actuator.effort_range)):
        if math.isfinite(lower) or math.isfinite(upper):
            setattr(there, f"{key}limited", mj.mjtLimited.mjLIMITED_TRUE)
            setattr(there, f"{key}range", bounds(lower, upper))


INITIAL = "initial"
"""The keyframe in which a world begins."""


def add_initial(spec: Any, state: MujocoState, q: np.ndarray, v: np.ndarray) -> None:
    """Add where a world begins, as a keyframe."""
    qpos, qvel = state.to_mujoco(q, v)
    spec.add_key(name=INITIAL, qpos=[float(e) for e in qpos], qvel=[float(e) for e in qvel])


def add_keyframes(spec: Any, model: Model) -> None:
    """Add the named configurations that are no keyframes yet."""
    named = {name: q for name, q in model.named_configurations.items() if name not in {key.name for key in spec.keys}}
    if named:
        state = MujocoState(model)
        for name, q in named.items():
            qpos, _ = state.to_mujoco(np.asarray(q, dtype=float), np.zeros(model.nv))
            spec.add_key(name=name, qpos=[float(e) for e in qpos])


def add_exclusions(spec: Any, pairs: Collection[tuple[str, str]]) -> None:
    for one, other in pairs:
        spec.add_exclude(bodyname1=one, bodyname2=other)
