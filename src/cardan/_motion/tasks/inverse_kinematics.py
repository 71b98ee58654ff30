"""Inverse kinematics: configurations in which a robot does what its tasks ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.configuration import integrate
from cardan._motion.tasks.frames import FramePose
from cardan._motion.tasks.levenberg_marquardt import descent
from cardan._motion.tasks.search import InverseKinematics, Search, Weights
from cardan._motion.tasks.stack import Stack, by_problem, checked_states
from cardan._motion.tasks.task import Task, check_model_without_inputs, checked_tasks
from cardan._motion.tasks.whole_body import ClosedLoops
from cardan._robot.model import Model

WHERE = "inverse_kinematics"
LOWER = 1e-3  # what a row of the next priority counts: errors share as the squares do, 1 to a million


def inverse_kinematics(
    model: Model,
    tasks: Task | list[Task] | tuple[Task, ...] | None = None,
    *,
    frame: str | None = None,
    target: ArrayLike | SE3 | None = None,
    q0: ArrayLike | None = None,
    restarts: int = 100,
    limits: bool = True,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> InverseKinematics:
    """Return configurations in which a robot does what is asked.

    Args:
        model: the robot. Its loops are closed, too (`ClosedLoops` is added where it is missing).
        tasks: one, or several in a list (`cardan.tasks`); their leading axes are a batch, broadcast against each
            other and q0. Those of the smallest priority are to be solved; the others choose among the solutions near
            the one that is found.
        frame: name of a body or frame, in the place of tasks.
        target: its pose in the world, an `SE3` or homogeneous matrices of shape (..., 4, 4) [m].
        q0: where to begin, shape (..., nq) [rad, m]. Of several solutions the one in whose valley q0 lies is found;
            with `restarts=0` that or none. By default, the neutral configuration.
        restarts: how many random configurations are begun at after that, at most.
        limits: whether the configuration must be within the position limits.
        tolerance: largest accepted entry of an error [m, rad].
        seed: of the random configurations. The same seed gives the same results, for any split of a batch.

    Returns:
        `InverseKinematics(q, converged, residual, restarts, iterations)`; where nothing is found that does what is
        asked, q is the best that was, and converged False.

    Raises:
        ParameterError: for targets that are no poses, with the row.
        UnknownNameError: for a frame that does not exist.
        ShapeError, DTypeError, NotFiniteError: for an array that does not fit.

    Examples:
        >>> target = cardan.frame_transform(arm, q, "tool")
        >>> found = cardan.inverse_kinematics(arm, frame="tool", target=target)
        >>> bool(found.converged), bool(found.residual < 1e-6)
        (True, True)

    Peers: MuJoCo's mink and Pinocchio's pink take steps by a QP (`solve_ik`); Drake `InverseKinematics`,
    roboticstoolbox `ikine_LM` `ikine`, Newton `IKSolver`.

    Source: Sugihara (2011) for the damping; see `tasks/levenberg_marquardt.py`.
    """
    check_model_without_inputs(WHERE, model)
    restarts, seed = whole(f"{WHERE}: restarts", restarts, 0), whole(f"{WHERE}: seed", seed, 0)
    tolerance = positive(f"{WHERE}: tolerance", tolerance, "m, rad")
    stack = Stack(model, _asked(model, tasks, frame, target), WHERE)
    start = model.neutral() if q0 is None else checked_states(WHERE, "q0", q0, model)
    if q0 is not None:
        start = integrate(model, start, np.zeros(model.nv))  # on the manifold
    parts = {"q0": start, "targets": stack.targets(), "weights": stack.weights()}
    batch, given = by_problem(WHERE, parts)
    function, weights = descent(stack.structure, stack.size, bool(limits)), _weights(stack, given["weights"])
    found = Search(function, model, given["q0"], given["targets"], weights, restarts, seed, tolerance).run()
    arrays = (getattr(found, field.name) for field in fields(found))
    return InverseKinematics(*(a.reshape((*batch, *a.shape[1:]))[()] for a in arrays))


def _asked(model: Model, tasks: Any, frame: Any, target: Any) -> Sequence[Task]:
    """Return the tasks: those given, or the pose of a frame, and that the loops are closed."""
    if (tasks is None) == (frame is None) or (frame is None and target is not None):
        got = ", ".join(n for n, v in (("tasks", tasks), ("frame", frame), ("target", target)) if v is not None)
        raise ParameterError(f"what is asked of {WHERE}", got=got or "nothing", expected="tasks, or frame= and target=")
    given = checked_tasks(WHERE, FramePose(frame, target) if frame is not None else tasks)
    is_closed = not model.closures or any(isinstance(task, ClosedLoops) for task in given)
    return given if is_closed else (*given, ClosedLoops(priority=min(task.priority for task in given)))


def _weights(stack: Stack, given: np.ndarray) -> Weights:
    """Return the weights of rows for each stage of a search, from those that were given, shape (n, m)."""
    _, ranks = np.unique([task.priority for task in stack.tasks], return_inverse=True)
    after = np.repeat(ranks, [rows.stop - rows.start for rows in stack.rows])
    first = given * (after == 0)
    return Weights(first * stack.scales(), first, given * LOWER ** after.astype(float))
