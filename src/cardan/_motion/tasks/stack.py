"""Several tasks as one: their errors and Jacobians, one below the other, of one compiled program.

stack = Stack(model, [FramePose("tool", X), Posture(home, weight=0.1)])
e, J = stack.linearized(q)            # (..., m), (..., m, nv): weights apart
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.arrays import symbolic
from cardan._algebra.by_identity import ByIdentity, known_of_each
from cardan._algebra.errors import ParameterError, ResultError, ShapeError
from cardan._algebra.explained import Explained
from cardan._dynamics.call.arguments import Shape, broadcast
from cardan._dynamics.call.function import Function
from cardan._dynamics.call.results import packed
from cardan._motion.tasks.task import Structure, Task, checked_tasks, core, error_function, interned
from cardan._robot.model import Model


class Linearization(NamedTuple):
    """Errors of tasks, and how they change: de/dt = J v.

    Attributes:
        error: e [m, rad], shape (..., m), those of the first task first.
        jacobian: J, shape (..., m, nv).

    Examples:
        >>> stack = cardan.tasks.Stack(arm, [cardan.tasks.FramePosition("tool", (0.4, 0.0, 0.6))])
        >>> error, jacobian = stack.linearized(q)
        >>> error.shape, jacobian.shape
        ((3,), (3, 7))
    """

    error: Any
    jacobian: Any


def stacked(tasks: Sequence[Task], model: Model, q: Any, targets: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return the errors of tasks over scalars of any type, one after the other, and the rows of their Jacobians.

    Targets are as `Stack.targets` packs them.
    """
    errors, rows = list[Any](), list[list[Any]]()
    for task, target in zip(tasks, _parted(tasks, model, targets), strict=True):
        error, jacobian = task.linearized(model, q, None if task.target_shape(model) is None else target)
        where, own = f"{type(task).__name__}.jacobian", packed(error, where=f"{type(task).__name__}.error").reshape(-1)
        found, size = packed(jacobian, where=where), len(own)
        if found.shape != (size, model.nv) and found.size + size * model.nv > 0:
            expected = f"{(size, model.nv)}: a row for each entry of the error, of nv numbers"
            raise ResultError(where, got=f"a result of shape {found.shape}", expected=expected)
        errors += own.tolist()
        rows += found.reshape(size, model.nv).tolist()
    return errors, rows


def _parted(tasks: Sequence[Task], model: Model, targets: Any) -> Iterator[Any]:
    """Yield the target of each task, from all side by side; a scalar for one of shape ()."""
    start = 0
    for task in tasks:
        shape = core(task, model)
        part = targets[start : start + math.prod(shape)].reshape(shape)
        start += math.prod(shape)
        yield part if shape else part[()]


def targets_shape(tasks: Sequence[Task]) -> Shape:
    """Return the core shape of the targets of tasks side by side, a function of the model."""
    return lambda model: (sum(math.prod(core(task, model)) for task in tasks),)


@functools.lru_cache(maxsize=256)
def _function(structure: Structure) -> Function[..., Any]:
    tasks = structure.kept()

    def linearized_tasks(model: Model, q: Any, targets: Any) -> Linearization:
        errors, rows = stacked(tasks, model, q, targets)
        jacobian = symbolic((e for row in rows for e in row), (len(errors), model.nv))
        return Linearization(symbolic(errors, (len(errors),)), jacobian)

    return Function(linearized_tasks, {"targets": targets_shape(tasks)})


class Stack(Explained):
    """The tasks of one model as one: what solvers of inverse kinematics work on.

    Args:
        model: the robot.
        tasks: one, or several in a list; they become a tuple.
        where: whose tasks they are, for messages.

    Attributes:
        structure: what programs of them are made of.
        rows: for each task, the slice of its rows.

    Throughout:
        q: configurations [rad, m], shape (..., nq).

    Raises:
        DTypeError, ParameterError: for tasks that are none.
        UnknownNameError: for a frame that does not exist.

    Examples:
        >>> reach = cardan.tasks.FramePosition("tool", (0.4, 0.0, 0.6))
        >>> stack = cardan.tasks.Stack(arm, [reach, cardan.tasks.Damping()])
        >>> error, jacobian = stack.linearized(q)
        >>> jacobian.shape, stack.targets().shape, stack.weights().shape, stack.gains().shape, stack.scales().shape
        ((10, 7), (3,), (10,), (10,), (10,))
    """

    def __init__(self, model: Model, tasks: Any, where: str = "Stack") -> None:
        self.model = model
        self.where = where
        self.tasks: tuple[Task, ...] = checked_tasks(where, tasks)
        self.structure: Structure = interned(Structure(self.tasks))
        self.rows: tuple[slice, ...]
        self.rows, self._scales, self._cores = _layout(self.structure, model)

    @property
    def function(self) -> Function[..., Any]:
        """Errors and Jacobian, of the model, q and the targets: the same function for all tasks of one structure."""
        return _function(self.structure)

    @property
    def size(self) -> int:
        """The number m of rows."""
        return self.rows[-1].stop

    def linearized(self, q: Any) -> Linearization:
        """Return errors and Jacobian as `Linearization`, shapes (..., m) and (..., m, nv) [m, rad], weights apart."""
        return self.function(self.model, q, self.targets())

    def targets(self, *others: Any) -> np.ndarray:
        """Return the targets of all tasks side by side, shape (..., k) [m, rad, -], broadcast against each other.

        Args:
            others: in place of the tasks' own, in their order [m, rad, -]; None for one that stays.

        Raises:
            ShapeError, DTypeError, NotFiniteError, ParameterError: for a target that is none, with the row, and more
                targets than tasks.
        """
        if len(others) > len(self.tasks):
            expected = f"at most {len(self.tasks)}, one for each task"
            raise ParameterError(f"number of targets of {self.where}", got=len(others), expected=expected)
        parts = []
        for task, shape, other in itertools.zip_longest(self.tasks, self._cores, others):
            array = task.checked_target(self.model, other, shape)
            array = np.zeros(shape) if array is None else array  # a task without a target takes an empty array
            batch = array.shape[: array.ndim - len(shape)]
            parts.append(array.reshape((*batch, math.prod(shape))) if batch else array.ravel())
        return self._side_by_side("target", parts)

    def weights(self) -> np.ndarray:
        """Return the weights of all rows, shape (..., m) [-]."""
        return self._along_rows("weight", [task.checked_weight() for task in self.tasks])

    def gains(self) -> np.ndarray:
        """Return the gains of all rows, shape (m,) [-]."""
        return self._along_rows("gain", [np.asarray(task.gain, dtype=float) for task in self.tasks])

    def scales(self) -> np.ndarray:
        """Return what makes rows comparable [1/m, -], shape (m,): one over the robot's size for lengths, else 1."""
        return self._scales.copy()

    def _along_rows(self, name: str, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return a number or numbers of each task, one for each of its rows."""
        parts = []
        for task, rows, value in zip(self.tasks, self.rows, values, strict=True):
            size = rows.stop - rows.start
            if value.ndim and value.shape[-1] != size:
                expected = f"one number, or (..., {size}): one for each entry of the error"
                raise ShapeError(type(task).__name__, name, got=value.shape, expected=expected)
            parts.append(value if value.ndim else np.full(size, value))
        return self._side_by_side(name, parts)

    def _side_by_side(self, name: str, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Return what each task has, shapes (..., n), along one last axis."""
        if len(parts) == 1:
            return parts[0]
        if all(p.ndim == 1 for p in parts):
            return np.concatenate(parts)
        whose = [f"{name} of task {k}, {type(task).__name__}" for k, task in enumerate(self.tasks)]
        shape = broadcast(self.where, {n: p.shape[:-1] for n, p in zip(whose, parts, strict=True)})
        wide = [p if p.shape[:-1] == shape else np.broadcast_to(p, (*shape, p.shape[-1])) for p in parts]
        return np.concatenate(wide, axis=-1)


def by_problem(where: str, parts: Mapping[str, np.ndarray]) -> tuple[tuple[int, ...], dict[str, np.ndarray]]:
    """Return the shape of a batch, and each of its arrays (..., n) with a row for each problem."""
    shape = broadcast(where, {name: part.shape[:-1] for name, part in parts.items()})
    whole = {name: np.broadcast_to(part, (*shape, part.shape[-1])) for name, part in parts.items()}
    rows = math.prod(shape)
    return shape, {name: np.ascontiguousarray(part.reshape(rows, part.shape[-1])) for name, part in whole.items()}


@known_of_each
def size_of(model: Model) -> float:
    """Return how large a robot is, about [m]: the longest way from the world over its joints; 1 if it has no length."""
    ways: list[float] = []
    for node in model.nodes:
        own = math.hypot(*map(float, node.placement.translation))
        ways.append(own + (ways[node.parent] if node.parent >= 0 else 0.0))
    ends = [(ways[at.node] if at.node >= 0 else 0.0, at) for at in map(model.attachment, model.body_names)]
    longest = max((way + math.hypot(*map(float, at.pose.translation)) for way, at in ends if at.node >= 0), default=0.0)
    return longest or 1.0


_Layout = tuple[tuple[slice, ...], np.ndarray, tuple[tuple[int, ...], ...]]
_known: ByIdentity[Model, dict[Structure, _Layout]] = ByIdentity()


def _layout(structure: Structure, model: Model) -> _Layout:
    """Return the slice of the rows of each task, the scales of all rows, and the shape of each task's target."""
    known = _known.setdefault(model, {})
    if structure not in known:
        functions = [error_function(Structure([task])) for task in structure.tasks]
        compiled = (function.compiled(model, *function.interface.required(model, {})) for function in functions)
        ends = [0, *itertools.accumulate(program.outputs[0].size for program in compiled)]
        rows, scales = tuple(slice(a, b) for a, b in itertools.pairwise(ends)), np.ones(ends[-1])
        for task, own in zip(structure.tasks, rows, strict=True):
            scales[own][list(task.lengths)] = 1.0 / size_of(model)
        known[structure] = rows, scales, tuple(core(task, model) for task in structure.tasks)
    return known[structure]
