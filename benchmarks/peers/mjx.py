"""MJX: MuJoCo in JAX, here on the CPU in float64; it is made for accelerators, and this says nothing of those.

XLA takes minutes to compile it for a processor, so `mjx.forward`, its longest, is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import jax
from mujoco import mjx

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.peers.jax_calls import jax_calls
from benchmarks.peers.mujoco import compiled, in_their_order
from benchmarks.robots import Robot
from benchmarks.timing import Calls

LARGEST = 60  # degrees of freedom; its programs grow with their square


def peer() -> Peer:
    """Return the peer."""
    jax.config.update("jax_enable_x64", True)
    return Mjx()


class Mjx:
    """MJX on the CPU."""

    name = "mjx"
    version = f"{version('mujoco-mjx')} on jax {jax.__version__}"
    how = "JAX on the CPU, a batch by vmap and jit; made for accelerators"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        if robot.model.nv > LARGEST:
            raise NotImplementedError(f"left out above {LARGEST} degrees of freedom")
        theirs = compiled(robot)
        states = [jax.numpy.asarray(x) for x in in_their_order(robot, theirs)]
        model = mjx.put_model(theirs)
        data = mjx.make_data(model)
        return {name: partial(jax_calls, f, states) for name, f in _functions(model, data).items()}


def _functions(model: Any, data: Any) -> dict[str, Callable[..., Any]]:
    """Return by quantity a function of q, v, a and tau of one state."""

    def placed(q: Any) -> Any:
        return mjx.com_pos(model, mjx.kinematics(model, data.replace(qpos=q)))

    def inverse(q: Any, v: Any, a: Any, _: Any) -> Any:
        d = mjx.com_vel(model, placed(q).replace(qvel=v, qacc=a))
        return mjx.rne(model, d, flg_acc=True).qfrc_bias

    def mass(q: Any, *_: Any) -> Any:
        return mjx.full_m(model, mjx.crb(model, placed(q)))

    def poses(q: Any, *_: Any) -> Any:
        return mjx.kinematics(model, data.replace(qpos=q)).xpos

    return {quantity.INVERSE: inverse, quantity.MASS: mass, quantity.POSES: poses}
