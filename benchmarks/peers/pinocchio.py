"""Pinocchio: one state a call from Python; inverse and forward dynamics of a batch in C++ as well."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks import quantities as quantity
from benchmarks.peers.base import Peer
from benchmarks.robots import Robot
from benchmarks.timing import CALLS, Calls
from cardan import num_threads


def peer() -> Peer:
    """Return the peer."""
    return Pinocchio()


class Pinocchio:
    """Pinocchio through its Python bindings."""

    name = "pin"
    version = pin.__version__
    how = "one state a call from Python; rnea and aba of a batch in C++, too"

    def load(self, robot: Robot) -> dict[str, Callable[[], Calls]]:
        """See `Peer`."""
        root = (pin.JointModelFreeFlyer(),) if robot.base == "floating" else ()
        model = pin.buildModelFromXML(robot.urdf, *root)
        states = in_their_order(robot, model)
        return {
            name: partial(_ready, model, name, letters, function, states)
            for name, (letters, function) in _functions(model, model.createData(), robot.frame).items()
        }


def _functions(model: Any, data: Any, frame: str) -> dict[str, tuple[str, Callable[..., Any]]]:
    """Return by quantity the arguments and the function."""
    last = model.getFrameId(frame)

    def poses(q: np.ndarray) -> None:
        pin.forwardKinematics(model, data, q)
        pin.updateFramePlacements(model, data)

    def jacobian(q: np.ndarray) -> np.ndarray:
        return pin.computeFrameJacobian(model, data, q, last, pin.LOCAL_WORLD_ALIGNED)

    return {
        quantity.INVERSE: ("qva", partial(pin.rnea, model, data)),
        quantity.FORWARD: ("qvt", partial(pin.aba, model, data)),
        quantity.MASS: ("q", partial(pin.crba, model, data)),
        quantity.MASS_INVERSE: ("q", partial(pin.computeMinverse, model, data)),
        quantity.POSES: ("q", poses),
        quantity.JACOBIAN: ("q", jacobian),
        quantity.INVERSE_DERIVATIVES: ("qva", partial(pin.computeRNEADerivatives, model, data)),
        quantity.FORWARD_DERIVATIVES: ("qvt", partial(pin.computeABADerivatives, model, data)),
    }


def _ready(model: Any, name: str, letters: str, function: Callable[..., Any], states: dict[str, np.ndarray]) -> Calls:
    columns = [states[k] for k in letters]
    rows = [tuple(c[k] for c in columns) for k in range(CALLS)]

    def call() -> None:
        for row in rows:
            function(*row)

    one, every = _batches(model, name, columns)
    value = lambda: np.array(function(*rows[0]))  # noqa: E731
    return Calls(value, call=call, out=one, threads=every, states=len(columns[0]))


def _batches(model: Any, name: str, columns: list[np.ndarray]) -> tuple[Callable[[], Any] | None, ...]:
    """Return the batch in C++ on one thread and on all, where there is one."""
    parallel = {quantity.INVERSE: pin.rneaInParallel, quantity.FORWARD: pin.abaInParallel}.get(name)
    if parallel is None:
        return None, None
    pool, out = pin.ModelPool(model, num_threads()), np.empty(columns[1].T.shape, order="F")
    return tuple(partial(parallel, n, pool, *(c.T for c in columns), out) for n in (1, num_threads()))


def in_their_order(robot: Robot, model: Any) -> dict[str, np.ndarray]:
    """Return the states q, v, a, t with joints in Pinocchio's order."""
    ours = robot.model
    if (model.nq, model.nv) != (ours.nq, ours.nv):
        raise ValueError(f"(nq, nv) are {(model.nq, model.nv)}, ours {(ours.nq, ours.nv)}")
    names = ["root" if n == "root_joint" else n for n in list(model.names)[1:]]
    iq = np.concatenate([np.r_[ours.q_slice(n)] for n in names])
    iv = np.concatenate([np.r_[ours.v_slice(n)] for n in names])
    q, v, a, tau = robot.states.values()
    return {"q": q[:, iq].copy(), "v": v[:, iv].copy(), "a": a[:, iv].copy(), "t": tau[:, iv].copy()}
