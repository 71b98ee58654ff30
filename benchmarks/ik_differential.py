"""Steps of differential inverse kinematics, each the QP of a pose and a posture within limits, beside pink and mink.

Everyone solves the same problems: a random configuration, a random reachable pose of a frame, the neutral posture, with
the weights, gains, limits and damping of all others; the frame's error is the logarithm of its pose in the target's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import cardan
from benchmarks.ik import Problems
from cardan.tasks import DifferentialIK, Posture, Task

DT, DAMPING, GAIN, WEIGHT, COUNT = 0.01, 1e-6, 0.5, 0.1, 200
Step = Callable[[int], np.ndarray]


@dataclass(frozen=True, eq=False)
class BodyTwist(Task):
    """A frame's error as pink and mink have it: log(X_target^-1 X), in the frame's axes."""

    frame: str
    target: Any = None

    def target_shape(self, model: cardan.Model) -> tuple[int, ...]:
        """Return that of a pose."""
        return 4, 4

    def error(self, model: cardan.Model, q: Any, target: Any) -> Any:
        """Return the twist."""
        return -cardan.pose_error(cardan.frame_transform(model, q, self.frame), target)


def asked(problems: Problems, targets: np.ndarray) -> list[Task]:
    """Return the tasks."""
    home = problems.starts[0]
    return [BodyTwist(problems.frame, targets, gain=GAIN), Posture(home, weight=WEIGHT, gain=GAIN)]


def cardans(problems: Problems, q: np.ndarray) -> dict[str, Step]:
    """Return cardan's steps, one a call."""

    def step(k: int) -> np.ndarray:
        return cardan.solve_ik(problems.robot.model, q[k], asked(problems, problems.targets[k]), DT, damping=DAMPING)

    prepared = DifferentialIK(problems.robot.model, asked(problems, problems.targets[0]), DT, damping=DAMPING)
    return {"cardan, daqp, one a call": step, "cardan, daqp, prepared": lambda k: prepared(q[k], problems.targets[k])}


def pinks(problems: Problems, q: np.ndarray) -> dict[str, Step]:
    """Return pink's steps, with limits as here: all the way in one step."""
    import pink
    import pinocchio as pin
    import qpsolvers

    model = pin.buildModelFromXML(problems.robot.urdf)
    data = model.createData()
    frame = pink.tasks.FrameTask(problems.frame, 1.0, 1.0, gain=GAIN)
    posture = pink.tasks.PostureTask(WEIGHT, gain=GAIN)
    posture.set_target(problems.starts[0])
    limits = [pink.limits.VelocityLimit(model), pink.limits.ConfigurationLimit(model, config_limit_gain=1.0)]

    def with_solver(solver: str) -> Step:
        def step(k: int) -> np.ndarray:
            configuration = pink.Configuration(model, data, q[k])
            frame.set_target(pin.SE3(problems.targets[k]))
            given = {"damping": DAMPING, "limits": limits, "safety_break": False}
            return pink.solve_ik(configuration, [frame, posture], DT, solver=solver, **given)

        return step

    return {f"pink, {solver}": with_solver(solver) for solver in qpsolvers.available_solvers}


def minks(problems: Problems, q: np.ndarray) -> dict[str, Step]:
    """Return mink's steps."""
    import mink
    import mujoco

    from benchmarks.ik_peers import _mujoco_model

    model = _mujoco_model(problems, mujoco)
    frame = mink.FrameTask(problems.frame, "body", position_cost=1.0, orientation_cost=1.0, gain=GAIN)
    posture = mink.PostureTask(model, cost=WEIGHT, gain=GAIN)
    posture.set_target(problems.starts[0])
    speeds = {model.joint(i).name: speed for i, speed in enumerate(problems.robot.model.velocity_upper)}
    limits = [mink.ConfigurationLimit(model, gain=1.0), mink.VelocityLimit(model, speeds)]

    def step(k: int) -> np.ndarray:
        configuration = mink.Configuration(model, q=q[k])
        frame.set_target(mink.SE3.from_matrix(problems.targets[k]))
        return mink.solve_ik(configuration, [frame, posture], DT, solver="daqp", damping=DAMPING, limits=limits)

    return {"mink, daqp": step}


def table(problems: Problems, runs: int) -> str:
    """Measure, and return steps a second and the largest difference to cardan's velocities as text."""
    model = problems.robot.model
    middle = 0.5 * (model.lower + model.upper)
    q = middle + 0.98 * (model.random_configuration((COUNT,), seed=5) - middle)
    steps = cardans(problems, q)
    for peer in (pinks, minks):
        try:
            steps |= peer(problems, q)
        except ImportError as error:
            print(f"{peer.__name__}: not installed ({error})")
    found = {name: np.array([step(k) for k in range(COUNT)]) for name, step in steps.items()}
    tasks = asked(problems, problems.targets[:COUNT])
    steps["cardan, daqp, batch"] = lambda k: cardan.solve_ik(model, q, tasks, DT, damping=DAMPING)
    found["cardan, daqp, batch"] = steps["cardan, daqp, batch"](0)
    expected, times = next(iter(found.values())), dict.fromkeys(steps, np.inf)
    for _ in range(runs):  # in turns, so that what else the machine does is done to all
        for name, step in steps.items():
            started = time.process_time()
            for k in range(1 if name.endswith("batch") else COUNT):
                step(k)
            times[name] = min(times[name], (time.process_time() - started) / COUNT)
    rows = [f"{'a step of differential IK':34}{'a second':>11}{'us':>9}{'difference':>13}"]
    for name, seconds in times.items():
        off = np.abs(found[name] - expected).max()
        rows.append(f"{name:34}{1.0 / seconds:11.0f}{1e6 * seconds:9.1f}{off:13.1e}")
    return "\n".join(rows)
