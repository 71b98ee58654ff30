"""Inverse kinematics by libraries that take one problem a call: each as its own examples do it, in a loop in Python."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ik import TOLERANCE, Line, Problems, one_by_one

STEPS = 100
"""Steps of one attempt at most."""
Answer = tuple[np.ndarray, bool]


def pinocchio(problems: Problems, seconds: float, runs: int) -> list[Line]:
    """Return the line of damped least-squares steps by pinocchio's Jacobian, clipped to the limits."""
    import pinocchio as pin

    model = pin.buildModelFromXML(problems.robot.urdf)
    data, frame = model.createData(), model.getFrameId(problems.frame)

    def attempt(start: np.ndarray, target: np.ndarray) -> Answer:
        q, wanted = start.copy(), pin.SE3(target)
        for _ in range(STEPS):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log6(data.oMf[frame].actInv(wanted)).vector
            if np.abs(error).max() <= 0.5 * TOLERANCE:
                return q, True
            J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
            damped = J @ J.T + (1e-2 * error @ error + 1e-12) * np.eye(6)
            q = np.clip(q + J.T @ np.linalg.solve(damped, error), model.lowerPositionLimit, model.upperPositionLimit)
        return q, False

    return [one_by_one("pinocchio, damped least squares", problems, attempt, seconds)]


def pink(problems: Problems, seconds: float, runs: int) -> list[Line]:
    """Return the lines of pink's steps by a QP, for each of its solvers that is installed."""
    import pink
    import pinocchio as pin
    import qpsolvers

    model = pin.buildModelFromXML(problems.robot.urdf)
    model.velocityLimit[:] = 1e3  # a step is no time: it may be as long as the position limits allow
    data = model.createData()
    task = pink.tasks.FrameTask(problems.frame, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-2)

    def line(solver: str) -> Line:
        def attempt(start: np.ndarray, target: np.ndarray) -> Answer:
            configuration = pink.Configuration(model, data, start)
            task.set_target(pin.SE3(target))
            for _ in range(STEPS):
                if np.abs(task.compute_error(configuration)).max() <= 0.5 * TOLERANCE:
                    return configuration.q, True
                try:
                    velocity = pink.solve_ik(configuration, [task], 1.0, solver=solver, safety_break=False)
                except pink.exceptions.PinkError:
                    break
                configuration.integrate_inplace(velocity, 1.0)
            return configuration.q, False

        return one_by_one(f"pink, {solver}", problems, attempt, seconds)

    return [line(solver) for solver in qpsolvers.available_solvers]


def mink(problems: Problems, seconds: float, runs: int) -> list[Line]:
    """Return the lines of mink's steps by a QP, for each of its solvers that is installed."""
    import mink
    import mujoco
    import qpsolvers

    model = _mujoco_model(problems, mujoco)
    task = mink.FrameTask(problems.frame, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-2)
    limits = [mink.ConfigurationLimit(model)]

    def line(solver: str) -> Line:
        def attempt(start: np.ndarray, target: np.ndarray) -> Answer:
            configuration = mink.Configuration(model, q=start)
            task.set_target(mink.SE3.from_matrix(target))
            for _ in range(STEPS):
                if np.abs(task.compute_error(configuration)).max() <= 0.5 * TOLERANCE:
                    return configuration.q.copy(), True
                try:
                    velocity = mink.solve_ik(configuration, [task], 1.0, solver=solver, limits=limits)
                except mink.MinkError:
                    break
                configuration.integrate_inplace(velocity, 1.0)
            return configuration.q.copy(), False

        return one_by_one(f"mink, {solver}", problems, attempt, seconds)

    return [line(solver) for solver in qpsolvers.available_solvers]


def _mujoco_model(problems: Problems, mujoco: Any) -> Any:
    """Return the robot in MuJoCo, with bodies that are fixed to others kept apart."""
    options = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>'
    urdf = problems.robot.urdf.replace("</robot>", f"{options}</robot>")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf)
        return mujoco.MjModel.from_xml_path(str(path))
