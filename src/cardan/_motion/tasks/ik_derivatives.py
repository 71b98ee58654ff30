"""How what inverse kinematics finds changes with the targets, and with where it begins: see `solutions`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import ParameterError
from cardan._algebra.spatial import SE3
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.dependent import lengths
from cardan._dynamics.call.arguments import name_of_row
from cardan._dynamics.functions.assembly import closed_loops, free_coordinates
from cardan._dynamics.functions.solutions import solution_changes
from cardan._motion.tasks.inverse_kinematics import asked_tasks
from cardan._motion.tasks.shipped import ClosedLoops
from cardan._motion.tasks.stack import Stack, by_problem
from cardan._motion.tasks.task import Task, check_model_without_inputs, checked_array
from cardan._robot.model import Model

WHERE = "inverse_kinematics_derivatives"


class InverseKinematicsDerivatives(NamedTuple):
    """How a solution changes along its tangent.

    Attributes:
        dtarget: by the targets, shape (..., nv, m). Column i belongs to targets that are moved so that entry i of the
            tasks' errors, one task after the other, would change by -1: of a pose, by a displacement [m] and a rotation
            [rad] along the axes of its error. It is 0 of entries without weight.
        dq0: by the configuration that the solution is nearest to [rad, m for one of these], shape (..., nv, nv).

    Examples:
        >>> place = cardan.tasks.FramePosition("tool", cardan.frame_transform(arm, q, "tool")[:3, 3])
        >>> by = cardan.inverse_kinematics_derivatives(arm, q, place)
        >>> by.dtarget.shape, by.dq0.shape
        ((7, 3), (7, 7))
    """

    dtarget: np.ndarray
    dq0: np.ndarray


def inverse_kinematics_derivatives(
    model: Model,
    q: ArrayLike,
    tasks: Task | list[Task] | tuple[Task, ...] | None = None,
    *,
    frame: str | None = None,
    target: ArrayLike | SE3 | None = None,
    fixed: Sequence[str] = (),
    tolerance: float = 1e-6,
) -> InverseKinematicsDerivatives:
    """Return the derivatives of a solution of inverse kinematics, by the implicit function theorem.

    Where coordinates are left over, as of an arm of seven axes, more than one solution is there. What is differentiated
    is the one nearest to q0, by the sum of squares of difference(q0, q), at q0 = q. No search is differentiated.

    Args:
        model: the robot. Its loops stay closed.
        q: solutions, such as `inverse_kinematics` returns, shape (..., nq) [rad, m].
        tasks: those of the solution, of one priority; entries of weight 0 are free. Guards as `KeepApart` and limits
            play no part.
        frame: name of a body or frame, in the place of tasks.
        target: its pose in the world, as for `inverse_kinematics`.
        fixed: names of joints that stay as in q0.
        tolerance: largest accepted entry of an error at q [m, rad].

    Returns:
        `InverseKinematicsDerivatives(dtarget, dq0)`.

    Raises:
        ParameterError: for a q that is no solution, or a singular one, with the row and the entry that cannot change;
            for tasks of several priorities.
        UnknownNameError: for a frame or joint that does not exist.
        ShapeError, DTypeError, NotFiniteError: for an array that does not fit.

    Examples:
        >>> target = cardan.frame_transform(arm, q, "tool")
        >>> by = cardan.inverse_kinematics_derivatives(arm, q, frame="tool", target=target)
        >>> by.dtarget.shape, by.dq0.shape
        ((7, 6), (7, 7))
        >>> J = cardan.jacobian(arm, q, "tool")
        >>> bool(np.allclose(J @ by.dtarget, np.eye(6))), bool(np.allclose(J @ by.dq0, 0.0))
        (True, True)
    """
    check_model_without_inputs(WHERE, model)
    asked = [task for task in asked_tasks(WHERE, model, tasks, frame, target) if not task.is_guard]
    if len({task.priority for task in asked}) > 1:
        got, hint = [task.priority for task in asked], "Leave out tasks that only choose among solutions."
        raise ParameterError(f"{WHERE}: priorities of tasks", got=got, expected="one", hint=hint)
    stack = Stack(model, asked, WHERE)
    places = integrate(model, checked_array(WHERE, "q", q, (model.nq,)), np.zeros(model.nv))  # on the manifold
    parts = {"q": places, "targets": stack.targets(), "weights": stack.weights()}
    batch, given = by_problem(WHERE, parts)
    states = given["q"]
    errors, J = stack.function(model, states, given["targets"])
    counting = _counting(given["weights"])
    _check_solution(states, np.abs(errors[:, counting]).max(axis=-1, initial=0.0), batch, tolerance)

    loops = [rows for task, rows in zip(asked, stack.rows, strict=True) if isinstance(task, ClosedLoops)]
    moved = np.setdiff1d(np.flatnonzero(counting), [i for rows in loops for i in range(rows.start, rows.stop)])
    units, rank, J = 1.0 / stack.scales()[moved], len(moved), J[:, moved]
    if model.has_loops:
        closed, own, closed_rank = closed_loops(model, states)
        J, units = np.concatenate([J, closed], axis=1), np.concatenate([units, own])
        rank += closed_rank

    def why(row: int) -> str:
        if row >= len(moved):
            return "Loops are singular there, or fixed joints leave them no way."
        i = int(moved[row])
        k = next(k for k, own in enumerate(stack.rows) if i < own.stop)
        entry = f"Entry {i - stack.rows[k].start} of {type(asked[k]).__name__}"
        return f"{entry} cannot change there beside the others; weight 0 frees it."

    free = free_coordinates(model, fixed)
    dq0, by_offset = solution_changes(WHERE, states, batch, J, free, (units, np.array(lengths(model))), rank, why)
    dtarget = np.zeros((len(states), model.nv, stack.size))
    dtarget[..., moved] = by_offset[..., : len(moved)]
    found = (array.reshape((*batch, *array.shape[1:])) for array in (dtarget, dq0))
    return InverseKinematicsDerivatives(*found)


def _counting(weights: np.ndarray) -> np.ndarray:
    """Return which entries have a weight, shape (m,), in all rows of a batch alike."""
    counting = weights > 0.0
    if (counting != counting[:1]).any():
        expected = "each entry 0 in all rows of a batch, or in none"
        raise ParameterError(f"{WHERE}: weights", got=weights.tolist(), expected=expected)
    return np.all(counting, axis=0)


def _check_solution(q: np.ndarray, residual: np.ndarray, batch: tuple[int, ...], tolerance: float) -> None:
    wrong = np.flatnonzero(~(residual <= tolerance))
    if wrong.size:
        k = int(wrong[0])
        expected = f"a solution, with errors up to {tolerance:g}; the largest is {residual[k]:.3g}"
        raise ParameterError(f"{WHERE}: {name_of_row('q', k, batch)}", got=q[k].tolist(), expected=expected)
