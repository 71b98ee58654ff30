"""Differential inverse kinematics: the velocity that does best what tasks ask, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import InfeasibleError
from cardan._dynamics.call.arguments import check_finite
from cardan._motion.tasks.quadratic import differential, solver_of
from cardan._motion.tasks.stack import Stack, as_rows, by_problem, checked_states
from cardan._motion.tasks.steps import StepHierarchy, limits_of
from cardan._motion.tasks.task import Task, check_model_without_inputs, checked_tasks
from cardan._motion.tasks.whole_body import ClosedLoops, Damping
from cardan._robot.model import Model

WHERE = "solve_ik"


def solve_ik(
    model: Model,
    q: ArrayLike,
    tasks: Task | list[Task] | tuple[Task, ...],
    dt: float,
    *,
    limits: bool = True,
    damping: float = 1e-8,
    solver: str = "daqp",
) -> np.ndarray:
    """Return the velocity that brings a robot nearest to what is asked of it in a step of time.

    It minimises the sum of weight^2 (J v dt + gain e)^2 over the entries of the errors e, and damping |v dt|^2. Calling
    it and moving on, `q = cardan.integrate(model, q, v * dt)`, is closed-loop inverse kinematics.

    Args:
        model: the robot. Its loops are kept closed (`ClosedLoops` is added where it is missing).
        q: where it is, shape (..., nq) [rad, m].
        tasks: one, or several in a list (`cardan.tasks`), with their weights, gains and priorities: tasks of priority 1
            move only as those of priority 0 allow. Leading axes are a batch, broadcast against that of q.
        dt: length of the step [s].
        limits: whether velocity and position limits hold, as bounds. A coordinate outside its position limits moves
            back as fast as its velocity limits allow.
        damping: what a motion costs [1/rad^2, 1/m^2]: it decides where tasks do not.
        solver: `"daqp"` or `"proxsuite"`, of the extra `qp`.

    Returns:
        Velocities, shape (..., nv) [rad/s, m/s].

    Raises:
        NotFiniteError: where a task's error, or its slope, is no number at q.
        InfeasibleError: where no motion keeps loops closed and all limits, with the rows and what is in the way.
        MissingExtraError: if the solver is not installed.
        ParameterError, UnknownNameError: for a dt, damping, solver or frame that is none.
        ShapeError, DTypeError, NotFiniteError: for an array that does not fit.

    Examples:
        >>> place = cardan.frame_transform(arm, q, "tool")[:3, 3] + (0.0, 0.0, 0.001)  # 1 mm up
        >>> speed = cardan.solve_ik(arm, q, cardan.tasks.FramePosition("tool", place), dt=0.01)
        >>> bool(np.allclose((cardan.jacobian(arm, q, "tool") @ speed)[:3], (0.0, 0.0, 0.1), atol=1e-5))
        True

    Peers: pink `solve_ik`, mink `solve_ik`.

    Source: Escande, Mansard and Wieber (2014); see `tasks/steps.py`.
    """
    check_model_without_inputs(WHERE, model)
    positive(f"{WHERE}: dt", dt, "s")
    positive(f"{WHERE}: damping", damping, "1/rad^2, 1/m^2")
    package = solver_of(solver, WHERE)
    stack = Stack(model, _asked(model, tasks), WHERE)
    q = checked_states(WHERE, "q", q, model)
    batch, given = by_problem(WHERE, {"q": q, "targets": stack.targets(), "weights": stack.weights()})
    given |= {"gains": as_rows(stack.gains(), batch), "damping": as_rows(np.array([damping]), batch)[:, 0]}
    bounds = limits_of(model, limits)
    found = differential(stack, bounds.others)(model, *given.values())
    for name, what in (("e", "errors of the tasks"), ("J", "Jacobian of the tasks")):
        check_finite(WHERE, what, found[name], batch, "A direction to the frame itself is none, say.")
    steps = StepHierarchy(stack, given["weights"], given["damping"], bounds, found, given["q"], dt)
    x = [steps.solve(row, package) for row in range(len(given["q"]))]
    failed = [row for row, motion in enumerate(x) if motion is None]
    if failed:
        rows = [tuple(map(int, np.unravel_index(k, batch))) for k in failed] if batch else []
        raise InfeasibleError(WHERE, rows, steps.in_the_way(failed[0]))
    return steps.of_full_size(np.array(x, dtype=float).reshape(len(x), model.nv)).reshape((*batch, model.nv)) / dt


def _asked(model: Model, tasks: Any) -> Sequence[Task]:
    """Return the tasks, with the loops of the model to be closed, and something to minimise beside these."""
    given = checked_tasks(WHERE, tasks)
    closing = [task for task in given if isinstance(task, ClosedLoops)]
    given = given if closing or not model.closures else (*given, ClosedLoops())
    return given if len(closing) < len(given) else (*given, Damping())
