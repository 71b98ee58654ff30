"""`python -m benchmarks arguments`: what a call costs by the kind of its arguments, beside Pinocchio from Python.

Microseconds of a call for one state (a row says where it is for more), medians of rounds in which all take turns:

- bound: `fast = function.bind(model)`, called `fast(q, v, ...)`.
- call: `function(model, q, v, ...)`.
- pin: the same computed by Pinocchio, where its bindings take such arguments.

The controller is that of docs/control-loop.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

import cardan
from benchmarks.robots import Robot, robot

ROUNDS, CALLS = 15, 400
ROWS = 16
Call = Callable[[], Any]
Row = tuple[str, list[Call | None]]


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks arguments", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args(given)
    print(table(robot(args.robot), args.rounds))


def table(which: Robot, rounds: int) -> str:
    """Return the table of one robot."""
    rows = [*_dynamics(which), *_kinematics(which), *_controller(which)]
    calls = [call for _, three in rows for call in three]
    times = iter(measured(calls, rounds))
    lines = [f"| {which.name}: microseconds a call | bound | call | pin |", "|---|---|---|---|"]
    lines += [f"| {name} | " + " | ".join(_told(next(times)) for _ in three) + " |" for name, three in rows]
    return "\n".join(lines)


def _told(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e6 * seconds:.2f}"


def measured(calls: Sequence[Call | None], rounds: int) -> list[float | None]:
    """Return the median time of each call [s]; None for what cannot be called so."""
    usable = [call is not None and _works(call) for call in calls]
    found: list[list[float]] = [[] for _ in calls]
    for number in range(rounds):
        for k in range(len(calls)):
            at = (k + number) % len(calls)
            call = calls[at]
            if call is not None and usable[at]:
                found[at].append(_timed(call))
    return [median(times) if times else None for times in found]


def _works(call: Call) -> bool:
    try:
        call(), call()  # the first compiles
    except Exception:  # whatever a library raises for arguments it does not take
        return False
    return True


def _timed(call: Call) -> float:
    call()
    started = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - started) / CALLS


def _dynamics(which: Robot) -> list[Row]:
    """Return inverse dynamics of all kinds of arrays."""
    model, function = which.model, cardan.inverse_dynamics
    fast = function.bind(model)
    q, v, a = (which.states[k][0].copy() for k in "qva")
    many = [which.states[k][:ROWS].copy() for k in "qva"]
    wide = [np.hstack([x, x]) for x in many]
    kinds = {
        "float64 arrays": (q, v, a),
        "lists": (q.tolist(), v.tolist(), a.tolist()),
        "a column of a trajectory": tuple(np.stack([x] * 5, axis=1)[:, 2] for x in (q, v, a)),
        "whole numbers": (q, v.astype(int), a.astype(int)),
        "float32 beside float64": (q, v.astype(np.float32), a),
        f"X[:, :n], {ROWS} states": tuple(x[:, : x.shape[1] // 2] for x in wide),
        f"one q for {ROWS} states": (q, many[1], many[2]),
    }
    rows: list[Row] = []
    for name, given in kinds.items():
        by_pin = _pinocchio(which, "rnea") if given[1] is v or np.ndim(given[1]) == 1 else None
        rows.append(
            (
                f"inverse dynamics, {name}",
                [
                    lambda given=given: fast(*given),
                    lambda given=given: function(model, *given),
                    None if by_pin is None else (lambda given=given, by_pin=by_pin: by_pin(*given)),
                ],
            )
        )
    by_name = {"q": q, "v": v, "a": a}
    rows.append(("... by keyword", [lambda: fast(**by_name), lambda: function(model, **by_name), None]))
    return rows


def _kinematics(which: Robot) -> list[Row]:
    """Return a Jacobian with its options."""
    model, frame, q = which.model, which.frame, which.states["q"][0].copy()
    fast = cardan.jacobian.bind(model, frame=frame)
    by_pin = _pinocchio(which, "computeFrameJacobian")
    pin = None if by_pin is None else lambda: by_pin(q)
    return [
        ("Jacobian, frame by position", [lambda: fast(q), lambda: cardan.jacobian(model, q, frame), pin]),
        ("Jacobian, frame=", [None, lambda: cardan.jacobian(model, q, frame=frame), None]),
        (
            "Jacobian, frame=, expressed_in=",
            [None, lambda: cardan.jacobian(model, q, frame=frame, expressed_in="world"), None],
        ),
    ]


def _controller(which: Robot) -> list[Row]:
    """Return the controller of docs/control-loop.md with gains of all kinds."""
    model, frame = which.model, which.frame

    @cardan.function(shapes={"target": (3,)})
    def impedance(model: Any, q: Any, v: Any, target: Any, stiffness: float = 400.0, damping: float = 60.0) -> Any:
        J = cardan.jacobian(model, q, frame)[:3]
        x = cardan.frame_transform(model, q, frame)[:3, 3]
        force = stiffness * (target - x) - damping * (J @ v)
        tau = J.T @ force + cardan.bias_forces(model, q, v) - 2.0 * v
        effort = np.array(model.effort_upper)
        return np.clip(tau, -effort, effort)

    fast, by_pin = impedance.bind(model), _pinocchio_impedance(which)
    q, v, target, tau = which.states["q"][0].copy(), which.states["v"][0].copy(), np.ones(3), np.empty(model.nv)
    gains = {
        "Python's floats": (400.0, 60.0),
        "whole numbers": (400, 60),
        "np.float64": (np.float64(400.0), np.float64(60.0)),
        "np.float32": (np.float32(400.0), np.float32(60.0)),
        "arrays": (np.array(400.0), np.array(60.0)),
        "left out": (),
    }
    rows: list[Row] = [
        (
            f"controller, gains {name}",
            [
                lambda given=given: fast(q, v, target, *given, out=tau),
                lambda given=given: impedance(model, q, v, target, *given),
                None if by_pin is None else (lambda given=given: by_pin(q, v, target, *given)),
            ],
        )
        for name, given in gains.items()
    ]
    named = {"stiffness": 400.0, "damping": 60.0}
    rows.append(
        (
            "controller, gains by keyword",
            [lambda: fast(q, v, target, **named, out=tau), lambda: impedance(model, q, v, target, **named), None],
        )
    )
    return rows


def _pin(which: Robot) -> Any:
    """Return Pinocchio, the model, its data and the number of the frame; None where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pin.buildModelFromXML(which.urdf, *((pin.JointModelFreeFlyer(),) if which.base == "floating" else ()))
    return pin, model, model.createData(), model.getFrameId(which.frame)


def _pinocchio(which: Robot, name: str) -> Callable[..., Any] | None:
    """Return one of Pinocchio's algorithms for a robot."""
    found = _pin(which)
    if found is None:
        return None
    pin, model, data, frame = found
    if name == "rnea":
        return lambda q, v, a: pin.rnea(model, data, q, v, a)
    return lambda q: pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)


def _pinocchio_impedance(which: Robot) -> Callable[..., Any] | None:
    """Return the controller as it is written for Pinocchio."""
    found = _pin(which)
    if found is None:
        return None
    pin, model, data, frame = found

    def impedance(q: Any, v: Any, target: Any, stiffness: float = 400.0, damping: float = 60.0) -> Any:
        J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
        x = pin.updateFramePlacement(model, data, frame).translation
        force = stiffness * (target - x) - damping * (J @ v)
        tau = J.T @ force + pin.nonLinearEffects(model, data, q, v) - 2.0 * v
        return np.clip(tau, -model.effortLimit, model.effortLimit)

    return impedance
