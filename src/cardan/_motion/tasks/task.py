"""The protocol of a task, on one page.

A task says what a robot is asked to do as an error e(q, target) that is to become 0, m numbers in radians and metres.
How the error changes as the robot moves, de/dt = J v, follows from it; a task may know a shorter way.

What a task is made of (frames, axes, its class) shapes the program that is compiled; its `target`, `weight`, `gain` and
`priority` are numbers that this program is given, so that a new target compiles nothing. A new task is one class:

    @dataclass(frozen=True)
    class Height(Task):
        frame: str
        target: ArrayLike = 0.0

        def target_shape(self, model):
            return ()

        def error(self, model, q, target):
            return cardan.frame_transform(model, q, self.frame)[2, 3] - target
"""

from __future__ import annotations

import functools
import operator
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import number, whole
from cardan._algebra.content import attributes
from cardan._algebra.errors import DTypeError, ParameterError
from cardan._algebra.explained import ExplainedABC
from cardan._dynamics.call.arguments import check_core, check_finite, numeric_array
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.results import packed
from cardan._dynamics.call.signature import check_model, token
from cardan._dynamics.functions.derivatives import derivative
from cardan._robot.joints.state import copied
from cardan._robot.model import Model

# What of a task its program is given, and what stands in the place of it in the program's key.
NUMBERS = {"target": None, "weight": 1.0, "gain": 1.0, "priority": 0}


@dataclass(frozen=True, kw_only=True, eq=False)
class Task(ExplainedABC):
    """What a robot is asked to do.

    A subclass is a frozen dataclass whose fields say what it is about; where it has a target, that is its `target`.

    Args:
        weight: of the entries of the error [-], one number or m of them, each >= 0; leading axes are a batch.
        gain: for `solve_ik`, what share of the error is removed in a step [-], 0 < gain <= 1.
        priority: 0 or more: a task moves the robot only as those of smaller numbers allow.

    Throughout:
        model: the robot.
        q: configuration, shape (nq,) [rad, m].
        target: of the shape `target_shape` says [m, rad, -]; None for a task without.

    Raises:
        ParameterError: for a weight, gain or priority that is none, and a target whose shape the class does not say.

    Examples:
        >>> place = cardan.tasks.FramePosition("tool", (0.4, 0.0, 0.6))
        >>> place.target_shape(arm), place.checked_target(arm).tolist(), place.checked_weight().tolist()
        ((3,), [0.4, 0.0, 0.6], 1.0)
        >>> e, J = place.error(arm, q, np.array([0.4, 0.0, 0.6])), place.jacobian(arm, q, np.array([0.4, 0.0, 0.6]))
        >>> len(e), np.shape(J)
        (3, (3, 7))
        >>> place.check_target(arm, np.zeros(3))
    """

    weight: ArrayLike = 1.0
    gain: float = 1.0
    priority: int = 0

    def __post_init__(self) -> None:
        for name in ("target", "weight"):  # its own: a loop may go on to write to the array it gave
            if isinstance(value := getattr(self, name, None), np.ndarray):
                object.__setattr__(self, name, value.copy())
        self.checked_weight()
        gain = number(f"gain of {type(self).__name__}", self.gain, "a number in (0, 1]", lambda e: 0.0 < e <= 1.0)
        object.__setattr__(self, "gain", gain)
        whole(f"priority of {type(self).__name__}", self.priority, 0)
        # A class that has a target says of which shape: else no program would be given it.
        target = getattr(self, "target", None)
        if target is not None and type(self).target_shape is Task.target_shape:
            hint = "Let target_shape(model) return the shape that error gets it in, () for a number."
            raise ParameterError(f"target of {type(self).__name__}", got=target, expected="None", hint=hint)

    @abstractmethod
    def error(self, model: Model, q: Any, target: Any) -> Any:
        """Return how far the robot is from doing what it is asked, m scalars [rad, m]; 0 where it does.

        It is traced like every function of a model: q and target arrive as arrays of symbols, and what is compiled is
        what is done to them. Functions of cardan may be called in it.
        """

    def target_shape(self, model: Model) -> tuple[int, ...] | None:
        """Return the shape of one target, leading axes apart; None, as here, for a task without a target."""
        return None

    def jacobian(self, model: Model, q: Any, target: Any) -> Any:
        """Return J with de/dt = J v, m rows of nv scalars: here, the derivative of the program of `error`."""
        given = np.empty(0, dtype=object) if target is None else target
        return derivative(error_function(Structure([self])), "q")(model, q, given)

    def linearized(self, model: Model, q: Any, target: Any) -> tuple[Any, Any]:
        """Return the error and its Jacobian; a task to which one comes with the other says so here.

        Examples:
            >>> place = cardan.tasks.FramePosition("tool", (0.4, 0.0, 0.6))
            >>> error, jacobian = place.linearized(arm, q, np.array([0.4, 0.0, 0.6]))
            >>> len(error), len(jacobian)
            (3, 3)
        """
        return self.error(model, q, target), self.jacobian(model, q, target)

    def check_target(self, model: Model, target: np.ndarray) -> None:
        """Raise for targets, shape (..., *target_shape), of finite numbers, that are invalid for other reasons."""

    @property
    def lengths(self) -> Sequence[int]:
        """Numbers of the entries of the error that are lengths [m]: a search measures them by the robot's size."""
        return ()

    @property
    def is_guard(self) -> bool:
        """Whether the error is 0 in most places, and takes long: a search looks at it only where others are solved."""
        return False

    # What follows is the same for every task.

    def checked_weight(self) -> np.ndarray:
        """Return the weight as an array [-]: it may have been changed since the task was made.

        Raises:
            ParameterError: for a weight that is none.
        """
        if isinstance(self.weight, float) and self.weight == 1.0:
            return np.array(1.0)
        weight = numeric_array(type(self).__name__, "weight", self.weight).astype(float)
        if not ((weight >= 0.0) & (weight < np.inf)).all():
            raise ParameterError(f"weight of {type(self).__name__}", got=self.weight, expected="finite numbers >= 0")
        return weight

    def checked_target(
        self, model: Model, target: Any = None, shape: tuple[int, ...] | None = None
    ) -> np.ndarray | None:
        """Return the target as an array of floats [rad, m, -], shape (..., *target_shape); None for a task without.

        Args:
            model: the robot.
            target: another one, which stands in for its own.
            shape: of one target, if it is known already.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ParameterError: for a target that is none, with the row.
        """
        name, shape = type(self).__name__, core(self, model) if shape is None else shape
        if shape == (0,) and self.target_shape(model) is None:
            if target is not None:
                raise ParameterError(f"{name}: target", got=target, expected="None: the task takes none")
            return None
        given = getattr(self, "target", None) if target is None else target
        if given is None:
            expected = f"an array of shape (..., {', '.join(map(str, shape))})"
            raise ParameterError(f"{name}: target", got=None, expected=expected)
        array = checked_array(name, "target", given, shape)
        self.check_target(model, array)
        return array

    @property
    def structure(self) -> Task:
        """The task without its numbers: what its program is made of."""
        bare = object.__new__(type(self))  # `copy` looks for methods that no task has, which takes ten times as long
        for name, value in attributes(self).items():
            object.__setattr__(bare, name, NUMBERS.get(name, value))
        return bare


class PlaceTask(Task):
    """A task whose targets are places [m], and whose error is how far away it is."""

    def target_shape(self, model: Model) -> tuple[int, ...]:
        return (3,)

    @property
    def lengths(self) -> Sequence[int]:
        return range(3)


def checked_array(where: str, name: str, value: Any, core: tuple[int, ...]) -> np.ndarray:
    """Return finite numbers as floats of their own, shape (..., *core)."""
    array = np.array(numeric_array(where, name, value), dtype=float, order="C")
    if array.shape != core:  # without a batch, a call less
        check_core(where, name, array.shape, core)
    check_finite(where, name, array)
    return array


def check_model_without_inputs(where: str, model: Any) -> None:
    """Raise for what is no model, and for one with inputs: solvers have no arguments for these."""
    check_model(where, model)
    if model.inputs:
        hint = "Give them: model.filled_with(model.input_values())."
        raise ParameterError(f"inputs of the model of {where}", got=tuple(model.inputs), expected="none", hint=hint)


def checked_tasks(where: str, tasks: Any) -> tuple[Task, ...]:
    """Return tasks, one or several, as a tuple; raise `DTypeError` for another thing, `ParameterError` for no task."""
    listed = (tasks,) if isinstance(tasks, Task) else tuple(tasks) if isinstance(tasks, (list, tuple)) else (tasks,)
    for task in listed:
        if not isinstance(task, Task):
            got = f"the class {task.__name__}" if isinstance(task, type) else f"a {type(task).__name__}"
            hint = "Tasks are in cardan.tasks, such as FramePose(frame, target)."
            raise DTypeError(where, "tasks", got=got, expected="a task, or several in a list", hint=hint)
    if not listed:
        raise ParameterError(f"tasks of {where}", got=tasks, expected="at least one task")
    return listed


class Structure:
    """Tasks without their numbers, equal to others that are made of the same parts."""

    __slots__ = ("state", "tasks")

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.tasks: tuple[Task, ...] = tuple(task.structure for task in tasks)
        self.state: Any = token(self.tasks)

    def __eq__(self, other: object) -> bool:
        return type(other) is Structure and other.state == self.state

    def __hash__(self) -> int:
        return hash(self.state)

    def kept(self) -> tuple[Task, ...]:
        """Return the tasks as programs keep them, which are traced for other models later: nobody can change these."""
        return copied(self.tasks)


@functools.lru_cache(maxsize=256)
def interned(structure: Structure) -> Structure:
    return structure  # the first that was equal: to look one up that is the same takes a tenth of the time


def core(task: Task, model: Model) -> tuple[int, ...]:
    """Return the shape of a target as a program takes it: for a task without a target, that of an empty array."""
    shape = task.target_shape(model)
    try:
        return (0,) if shape is None else tuple(map(operator.index, shape))
    except TypeError:
        expected = "whole numbers in a tuple, or None for a task without a target"
        raise ParameterError(f"target_shape of {type(task).__name__}", got=shape, expected=expected) from None


def error_of(task: Task, model: Model, q: Any, target: Any) -> np.ndarray:
    """Return the error as an array of m scalars, from the target as a program takes it."""
    given = None if task.target_shape(model) is None else target
    return packed(task.error(model, q, given), where=f"{type(task).__name__}.error").reshape(-1)


@functools.lru_cache(maxsize=256)
def error_function(structure: Structure) -> Function:
    """Return the compiled function (model, q, target) -> error of a task without its numbers."""
    (task,) = structure.kept()

    def task_error(model: Model, q: Any, target: Any) -> np.ndarray:
        return error_of(task, model, q, target)

    return Function(task_error, {"target": lambda model: core(task, model)})
