"""MuJoCo: one state a call from Python, without contacts and constraints.

Inverse dynamics is kinematics, composite quantities, velocities and `mj_rne`; forward dynamics is `mj_forward`, which
computes all that a simulation step needs. Masses and inertias below 1e-9 are lifted to it, as it refuses less.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco as mj
import numpy as np

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.robots import Robot
from benchmarks.timing import CALLS, Calls

OFF = (mj.mjtDisableBit.mjDSBL_CONSTRAINT, mj.mjtDisableBit.mjDSBL_SPRING, mj.mjtDisableBit.mjDSBL_DAMPER)


def peer() -> Peer:
    """Return the peer."""
    return Mujoco()


class Mujoco:
    """MuJoCo through its Python bindings."""

    name = "mujoco"
    version = mj.__version__
    how = "one state a call from Python; forward dynamics is mj_forward, which does more"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        model = compiled(robot)
        states, functions = in_their_order(robot, model), _functions(model, mj.MjData(model), robot.frame)
        return {name: partial(_ready, function, states) for name, function in functions.items()}


def compiled(robot: Robot) -> Any:
    """Return MuJoCo's model of a robot."""
    spec = mj.MjSpec.from_string(robot.urdf)
    spec.compiler.boundmass = spec.compiler.boundinertia = 1e-9
    spec.compiler.balanceinertia, spec.compiler.fusestatic = True, True
    spec.option.disableflags |= sum(OFF)
    if robot.base == "floating":
        spec.worldbody.first_body().add_freejoint(name="root")
    return spec.compile()


def _functions(model: Any, data: Any, frame: str) -> dict[str, Callable[..., Any]]:
    """Return by quantity a function of q, v, a and tau."""
    qpos, qvel, qacc, applied = data.qpos, data.qvel, data.qacc, data.qfrc_applied
    tau, M, J = np.empty(model.nv), np.empty((model.nv, model.nv)), np.empty((6, model.nv))
    translation, rotation = J[:3], J[3:]
    last = mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, frame)
    last = last if last >= 0 else model.nbody - 1  # its body is fused with the one before it

    def inverse(q: Any, v: Any, a: Any, _: Any) -> np.ndarray:
        qpos[:], qvel[:], qacc[:] = q, v, a
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, 1, tau)
        return tau

    def forward(q: Any, v: Any, _: Any, t: Any) -> np.ndarray:
        qpos[:], qvel[:], applied[:] = q, v, t
        mj.mj_forward(model, data)
        return qacc

    def mass(q: Any, *_: Any) -> np.ndarray:
        qpos[:] = q
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_makeM(model, data)
        mj.mj_fullM(model, data, M)
        return M

    def poses(q: Any, *_: Any) -> np.ndarray:
        qpos[:] = q
        mj.mj_kinematics(model, data)
        return data.xpos

    def jacobian(q: Any, *_: Any) -> np.ndarray:
        qpos[:] = q
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_jacBody(model, data, translation, rotation, last)
        return J

    return {
        quantity.INVERSE: inverse,
        quantity.FORWARD: forward,
        quantity.MASS: mass,
        quantity.POSES: poses,
        quantity.JACOBIAN: jacobian,
    }


def _ready(function: Callable[..., Any], states: list[np.ndarray]) -> Calls:
    rows = [tuple(c[k] for c in states) for k in range(CALLS)]

    def call() -> None:
        for q, v, a, tau in rows:
            function(q, v, a, tau)

    return Calls(lambda: np.array(function(*rows[0])), call)


def in_their_order(robot: Robot, model: Any) -> list[np.ndarray]:
    """Return the states q, v, a, tau with joints in MuJoCo's order; the quaternion has its scalar first."""
    ours = robot.model
    if (model.nq, model.nv) != (ours.nq, ours.nv):
        raise ValueError(f"(nq, nv) are {(model.nq, model.nv)}, ours {(ours.nq, ours.nv)}")
    names = [model.joint(k).name for k in range(model.njnt)]
    iq = np.concatenate([_scalar_first(np.r_[ours.q_slice(n)]) for n in names])
    iv = np.concatenate([np.r_[ours.v_slice(n)] for n in names])
    q, v, a, tau = robot.states.values()
    return [q[:, iq].copy(), *(x[:, iv].copy() for x in (v, a, tau))]


def _scalar_first(entries: np.ndarray) -> np.ndarray:
    return entries[[0, 1, 2, 6, 3, 4, 5]] if len(entries) == 7 else entries
