"""frax on JAX, CPU, float64: a batch by `vmap` and `jit`, and one call.

See `jax_calls` for threads. The batch is that of cardan, 4096 states.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import frax
import jax

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.peers.jax_calls import jax_calls
from benchmarks.robots import Robot
from benchmarks.timing import Calls

LARGEST = 60  # degrees of freedom; its programs grow with their square
UPWARDS = (0.0, 0.0, 9.81, 0.0, 0.0, 0.0)  # gravity as acceleration of the base [linear; angular], m/s^2


def peer() -> Peer:
    """Return the peer."""
    jax.config.update("jax_enable_x64", True)
    return Frax()


class Frax:
    """frax on the CPU."""

    name = "frax"
    version = f"{version('frax')} on jax {jax.__version__}"
    how = "JAX on the CPU, a batch by vmap and jit"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        if robot.model.nv > LARGEST:
            raise NotImplementedError(f"left out above {LARGEST} degrees of freedom")
        states = {name: jax.numpy.asarray(x) for name, x in robot.states.items()}
        return {
            name: partial(jax_calls, function, [states[k] for k in names])
            for name, (names, function) in _functions(_loaded(robot)).items()
        }


def _loaded(robot: Robot) -> Any:
    """Return frax' robot, which it reads from a file."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "robot.urdf")
        file.write_text(robot.urdf)
        theirs = frax.Robot(str(file), floating_base="quaternion" if robot.base == "floating" else None)
    if (theirs.nq, theirs.nv) != (robot.model.nq, robot.model.nv):
        raise ValueError(f"(nq, nv) are {(theirs.nq, theirs.nv)}, ours {(robot.model.nq, robot.model.nv)}")
    return theirs


def functions_of(robot: Robot) -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
    """Return the names of arguments, and the function of one state, of each quantity."""
    return _functions(_loaded(robot))


def _functions(robot: Any) -> dict[str, tuple[tuple[str, ...], Callable[..., Any]]]:
    gravity = jax.numpy.asarray(UPWARDS)
    return {
        quantity.INVERSE: (("q", "v", "a"), lambda q, v, a: robot.rnea(q, v, a, gravity, None)),
        quantity.FORWARD: (("q", "v", "tau"), lambda q, v, tau: robot.forward_dynamics(q, v, tau, None)),
        quantity.MASS: (("q",), robot.mass_matrix),
        quantity.POSES: (("q",), robot.joint_to_world_transforms),
    }
