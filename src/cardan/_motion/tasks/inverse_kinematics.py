"""Inverse kinematics: configurations in which a robot does what its tasks ask, found by descents from several places.

All problems that are not solved are descended some passes a call. A descent that gets no nearer is given up, and the
next one begins at a random configuration: the first of them is the same for every problem, and so is the second. So
what is found for one does not depend on the others, nor on how a batch is split. At last, what was found best for
problems that nothing solved is brought to rest in its valley.

A descent far from limits ends in a solution more often: for a Panda 67 % do that begin in the middle half of the
limits, 45 % of those that begin anywhere, and 89 % and 66 % for an arm of seven unlike axes. So the first ones do.

Guards (`Task.is_guard`) take long, and are 0 in most places. Where a search may begin anywhere, it goes without them,
in single precision, and looks at them only where it is near a solution. Where they are 0, a descent in double
precision goes on from there. Where they are not, the best of some such places is where one with all tasks begins:
half of those end in a solution, of those from random configurations one of twenty.

Tasks of lower priority count from a solution of the first ones on: it is brought to rest with all of them, these with a
small weight, and then back to a solution of the first ones by the shortest steps.

A descent takes Levenberg-Marquardt steps on the manifold, within bounds, and is one program. With e the errors times
their weights and J their Jacobian, by the velocities that are free to move,

    step = -J^T (J J^T + mu 1)^-1 e  =  -(J^T J + mu 1)^-1 J^T e,        mu = nu |e|^2

by the smaller of the two matrices. nu falls where a step leads to a smaller |e|; where it does not, the step is not
taken and nu grows. As mu falls with |e|^2, the end is quadratic, also where the rows of J depend on one another. A
coordinate is not free where it is at its bound and the gradient J^T e pushes it further; one that a step takes past
its bound stops there.

Source: More (1978); Fan and Yuan (2005) for mu; Kanzow, Yamashita and Fukushima (2004) for the bounds.
Cost: a pass evaluates the errors and J once, and solves one system.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.arrays import repeat, symbolic, when
from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.checked_numbers import positive, truth, whole
from cardan._algebra.errors import ParameterError
from cardan._algebra.explained import Explained, explained_keywords
from cardan._algebra.scalar import absolute, maximum, minimum, where
from cardan._algebra.spatial import SE3, Scalar
from cardan._dynamics.algorithms.configuration import integrate
from cardan._dynamics.algorithms.linear import Factor, Rows, dot, transposed
from cardan._dynamics.call.function import Function
from cardan._motion.tasks.bounds import WithinLimits, bounds_of, clipped, freedoms, other_limits
from cardan._motion.tasks.shipped import ClosedLoops, FramePose
from cardan._motion.tasks.stack import Stack, by_problem, stacked, targets_shape
from cardan._motion.tasks.task import Structure, Task, check_model_without_inputs, checked_array, checked_tasks
from cardan._robot.model import Model

WHERE = "inverse_kinematics"
LOWER = 1e-3  # what a row of the next priority counts: errors share as the squares do, 1 to a million
LONGEST = 6  # calls of one descent: hardly any of those that lead to a solution are longer
# A descent is given up when a call does not bring its squared error down to this part of what it was.
NEARER = 0.3
# Calls that bring to rest: as many, or until some in a row take less than this part off the squared error. One may do
# so only because its damping is still too small.
FINISH, RESTING, STILL = 40, 1e-12, 2
# Weights of limits that are no bounds of entries, one after the other, where the best is outside at rest. As the first
# of all, 1 finds more solutions.
STIFFER = (30.0, 1000.0)
# How far [rad, m] a configuration may be outside limits that are no bounds of its entries.
WITHIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class InverseKinematics(Explained):
    """Configurations for targets, and what they reach.

    Attributes:
        q: the configuration found [rad, m], shape (..., nq), float64; where none does what is asked, that with the
            smallest squared error, each entry times its weight.
        converged: whether all entries of the tasks' errors are within the tolerance, and q within the limits [-],
            (...).
        residual: the largest entry of the errors at q [m, rad], without weights, of those whose weight is not 0, (...).
            Of both, tasks of lower priority are no part.
        restarts: how often a descent was begun anew, from a random configuration [-], (...).
        iterations: passes of all descents [-], (...).

    Examples:
        >>> found = cardan.inverse_kinematics(arm, frame="tool", target=cardan.frame_transform(arm, q, "tool"))
        >>> found.q.shape, bool(found.converged)
        ((7,), True)
    """

    q: np.ndarray
    converged: np.ndarray
    residual: np.ndarray
    restarts: np.ndarray
    iterations: np.ndarray

    def __str__(self) -> str:
        done, count = int(np.sum(self.converged)), int(np.size(self.converged))
        worst = float(np.max(self.residual, initial=0.0))
        return f"{done} of {count} problems solved, largest residual {worst:.3g}, {int(np.sum(self.restarts))} restarts"


@explained_keywords
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
            with `restarts=0` that or none. By default, `model.start_configuration()`.
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

    Source: Sugihara (2011) for the damping; see `tasks/inverse_kinematics.py`.
    """
    check_model_without_inputs(WHERE, model)
    restarts, seed = whole(f"{WHERE}: restarts", restarts, 0), whole(f"{WHERE}: seed", seed, 0)
    tolerance, limits = positive(f"{WHERE}: tolerance", tolerance, "m, rad"), truth(f"{WHERE}: limits", limits)
    starts = starts_of(model, restarts, seed)
    start = starts[0]
    if q0 is not None:
        start = integrate(model, checked_array(WHERE, "q0", q0, (model.nq,)), np.zeros(model.nv))  # on the manifold
    known = _poses.setdefault(model, {})
    alone = known.get((frame, limits)) if tasks is None and target is not None and isinstance(frame, str) else None
    if alone:  # tasks are not made: that would take as long as the search
        pose: Any = alone.task.checked_target(model, target, (4, 4))
        if pose.ndim + start.ndim == 3 and (found := alone.search(model, start, starts, pose.ravel(), tolerance)):
            return found
    stack = Stack(model, asked_tasks(WHERE, model, tasks, frame, target), WHERE)
    parts = [stack, *(_guarded(stack) if q0 is None else ())]
    numbers = [(part.targets(), part.weights()) for part in parts]
    targets, weights = numbers[0]
    is_simple = len(parts) == len({task.priority for task in stack.tasks}) == 1
    if is_simple and not alone and start.ndim + targets.ndim + weights.ndim == 3:
        alone = Alone(stack.tasks[0], descent(stack.structure, stack.size, limits), weights * stack.scales())
        if frame is not None:
            known[frame, limits] = alone
        if found := alone.search(model, start, starts, targets, tolerance):
            return found
    named = {
        f"{what}{k}": a for k, own in enumerate(numbers) for what, a in zip(("targets", "weights"), own, strict=True)
    }
    batch, given = by_problem(WHERE, {"q0": start} | named)
    search, *without_guards = (
        Search(part, limits, given["q0"], starts, given[f"targets{k}"], given[f"weights{k}"], tolerance)
        for k, part in enumerate(parts[:2])
    )
    if without_guards:
        without_guards[0].guards = Guards(parts[2], given["targets2"])
    found = search.run(*without_guards)
    arrays = (getattr(found, field.name) for field in fields(found))
    return InverseKinematics(*(a.reshape((*batch, *a.shape[1:]))[()] for a in arrays))


def asked_tasks(where: str, model: Model, tasks: Any, frame: Any, target: Any) -> Sequence[Task]:
    """Return the tasks: those given, or the pose of a frame, and that the loops are closed."""
    if (tasks is None) == (frame is None) or (frame is None and target is not None):
        got = ", ".join(n for n, v in (("tasks", tasks), ("frame", frame), ("target", target)) if v is not None)
        raise ParameterError(f"what is asked of {where}", got=got or "nothing", expected="tasks, or frame= and target=")
    given = checked_tasks(where, FramePose(frame, target) if frame is not None else tasks)
    is_closed = not model.has_loops or any(isinstance(task, ClosedLoops) for task in given)
    return given if is_closed else (*given, ClosedLoops(priority=min(task.priority for task in given)))


class Alone(NamedTuple):
    """The search for one problem, of tasks of one priority, without guards."""

    task: Task  # the first
    function: Function[..., Descent]
    weights: np.ndarray  # of all rows, lengths measured by the robot's size, shape (m,)

    def search(
        self, model: Model, q: np.ndarray, starts: np.ndarray, targets: np.ndarray, tolerance: float
    ) -> InverseKinematics | None:
        """Return what a `Search` finds, bit for bit, in a fifth of its time; nothing if that takes many descents."""
        calls = 0
        for restarts in range(len(starts[:ALONE])):
            q, damping, last = starts[restarts] if restarts else q, DAMPING, np.inf
            for _ in range(LONGEST):
                step = self.function(model, q, damping, 1.0, targets, self.weights)
                calls += 1
                if step.residual <= tolerance and step.violation <= WITHIN:
                    numbers: Any = np.True_, step.residual, np.int64(restarts), np.int64(calls * PASSES)
                    return InverseKinematics(step.q, *numbers)
                if not step.cost <= NEARER * last:
                    break
                q, damping, last = step.q, step.damping, step.cost
        return None


_poses: ByIdentity[Model, dict[Any, Alone]] = ByIdentity()  # searches for poses of frames, by frame and limits


def _guarded(stack: Stack) -> tuple[Stack, ...]:
    """Return the first tasks that are no guards, and those that are; nothing if one of both is missing."""
    level = min(task.priority for task in stack.tasks)
    first = [task for task in stack.tasks if task.priority == level]
    guards = [task.is_guard and bool(np.any(task.weight)) for task in first]
    parts = [[task for task, is_guard in zip(first, guards, strict=True) if is_guard == kind] for kind in (False, True)]
    return tuple(Stack(stack.model, part, WHERE) for part in parts) if all(parts) else ()


def _weights(stack: Stack, given: np.ndarray) -> Weights:
    """Return the weights of rows for each stage of a search, from those that were given, shape (n, m)."""
    levels = sorted({task.priority for task in stack.tasks})
    after = np.repeat([levels.index(t.priority) for t in stack.tasks], [rows.stop - rows.start for rows in stack.rows])
    first = given * (after == 0)
    return Weights(first * stack.scales(), first, given * LOWER ** after.astype(float))


class Weights(NamedTuple):
    """Weights of the tasks' rows, each of shape (n, m)."""

    search: np.ndarray  # for the search: of the first tasks alone, lengths measured by the robot's size
    first: np.ndarray  # those given, of the first tasks; 0 for the others
    all: np.ndarray  # those of all, the others' smaller


@dataclass(eq=False)
class Search:
    """The search for solutions of n problems by `descent`."""

    stack: Stack
    limits: bool
    q: np.ndarray  # where the first descents begin, shape (n, nq)
    starts: np.ndarray  # and those after them, but for the first row, shape (1 + restarts, nq)
    targets: np.ndarray
    given: np.ndarray  # weights, shape (n, m)
    tolerance: float  # largest accepted residual [m, rad]
    guards: Guards | None = None
    near: float | None = None  # of a search in single precision: the |e| that is enough

    def __post_init__(self) -> None:
        n, stack = len(self.q), self.stack
        self.restarts = len(self.starts) - 1
        self.model, self.weights = stack.model, _weights(stack, self.given)
        self.function = descent(stack.structure, stack.size, self.limits)
        self.at, self.damping, self.stiffness = self.q.copy(), np.full(n, DAMPING), np.ones(n)
        self.found = InverseKinematics(self.q.copy(), np.zeros(n, bool), np.full(n, np.inf), *np.zeros((2, n), int))
        self.cost, self.violation = np.full(n, np.inf), np.zeros(n)
        if self.near:
            for name in ("at", "damping", "stiffness", "targets"):
                setattr(self, name, getattr(self, name).astype(np.float32))
            self.weights = Weights(*(part.astype(np.float32) for part in self.weights))

    def run(self, alone: Search | None = None) -> InverseKinematics:
        """Return what is found; `alone` is the search for what guards may rule out."""
        if alone:
            self._search_beside(alone)
        else:
            self._search(np.arange(len(self.q)), self.restarts)
        self._finish(np.flatnonzero(~self.found.converged))
        if (self.weights.all != self.weights.first).any():
            self._improve(np.flatnonzero(self.found.converged))
        return self.found

    def _search_beside(self, alone: Search) -> None:
        """Search without guards, and go on with all tasks from what comes nearest to keeping them."""
        near, rows = replace(alone, near=NEAR), np.arange(len(self.q))
        own, alone.found = near.found, self.found
        near.found = replace(self.found, q=own.q, converged=own.converged, residual=own.residual)  # others are one
        for restarts in (*range(ROUND, self.restarts, ROUND), self.restarts):
            near._search(rows, restarts)
            alone._follow(near, rows[near.found.converged[rows]])
            rows = rows[~self.found.converged[rows]]
            is_last = restarts == self.restarts
            tried = rows[(near.cost[rows] < 0.0) | (is_last & np.isinf(self.cost[rows]))]
            self._follow(near, tried)
            near.cost[tried] = np.inf
            rows = rows[~self.found.converged[rows]]
            if not is_last:
                near.found.converged[rows] = False
                near._again(rows)

    def _follow(self, near: Search, rows: np.ndarray) -> None:
        """Make one descent of some problems each, from where another search has led."""
        self._place(rows, near.found.q[rows])
        self._search(rows, 0)

    def _search(self, rows: np.ndarray, restarts: int) -> None:
        """Descend from one start after the other, until problems are solved or have had so many."""
        # Few rows are left for long: these lines then take longer than what descends.
        calls, last = np.zeros(len(rows), int), np.full(len(rows), np.inf)
        while rows.size:
            step = self._descend(rows, self.weights.search)
            reached, solved = self._note(rows, step)
            calls += 1
            goes_on = (step.cost <= NEARER * last) & (calls < LONGEST) & ~reached
            last = step.cost.astype(float)
            again = ~(goes_on | solved) & (self.found.restarts.take(rows) < restarts)
            if again.any():
                self._again(rows[again])
                calls[again], last[again] = 0, np.inf
            kept = (again | (goes_on & ~solved)).nonzero()[0]
            rows, calls, last = rows.take(kept), calls.take(kept), last.take(kept)

    def _again(self, rows: np.ndarray) -> None:
        """Begin anew at the next of the starts."""
        self.found.restarts[rows] += 1
        self._place(rows, self.starts.take(self.found.restarts.take(rows), axis=0))

    def _finish(self, rows: np.ndarray) -> None:
        """Bring what is best of problems that are not solved to rest, by the weights that were given, within limits."""
        for stiffness in (1.0, *STIFFER) if rows.size else ():
            self.stiffness[rows] = stiffness
            self._place(rows, self.found.q[rows])
            self.cost[rows] = np.inf
            for step, of in self._rest(rows, self.weights.first):
                self._note(of, step)
            rows = rows[self.violation[rows] > WITHIN]

    def _improve(self, rows: np.ndarray) -> None:
        """Bring solutions to rest with all tasks, and back to where the first ones are solved."""
        self._place(rows, self.found.q[rows])
        for _ in self._rest(rows, self.weights.all):
            pass
        self._place(rows, self.at[rows])
        for _ in range(LONGEST if rows.size else 0):
            step = self._descend(rows, self.weights.first)
            solved = self._solved(step)
            self.found.q[rows[solved]], self.found.residual[rows[solved]] = step.q[solved], step.residual[solved]
            rows = rows[~solved]

    def _place(self, rows: np.ndarray, q: np.ndarray) -> None:
        self.at[rows], self.damping[rows] = q, DAMPING

    def _descend(self, rows: np.ndarray, weights: np.ndarray) -> Descent:
        # `take` is what `array[rows]` says, in a third of the time.
        numbers = self.at, self.damping, self.stiffness, self.targets, weights
        step = self.function(self.model, *[array.take(rows, axis=0) for array in numbers])
        self.at[rows], self.damping[rows] = step.q, step.damping
        self.found.iterations[rows] += PASSES
        return step

    def _rest(self, rows: np.ndarray, weights: np.ndarray) -> Iterator[tuple[Descent, np.ndarray]]:
        """Go on with problems until they rest, and yield each call's result with the problems it is of."""
        best, still = np.full(len(self.at), np.inf), np.zeros(len(self.at), int)
        for _ in range(FINISH):
            if not rows.size:
                return
            step = self._descend(rows, weights)
            yield step, rows
            falls = step.cost < (1.0 - RESTING) * best[rows]
            best[rows], still[rows] = step.cost, np.where(falls, 0, still[rows] + 1)
            rows = rows[(still[rows] < STILL) & ~self._solved(step)]

    def _solved(self, step: Descent) -> np.ndarray:
        if self.near:
            return step.cost <= self.near * self.near
        return (step.residual <= self.tolerance) & (step.violation <= WITHIN)

    def _note(self, rows: np.ndarray, step: Descent) -> tuple[np.ndarray, np.ndarray]:
        """Note which problems are solved, and what is best; return which are without heed to guards, and which are."""
        found, cost = self._solved(step), step.cost
        solved = found
        if self.guards is not None and found.any():
            short, cost, solved = self.guards.errors(rows[found], step.q[found]), cost.copy(), found.copy()
            cost[found] = -1.0 / np.maximum(short, LITTLE)  # before all that is not found, the best last
            solved[found] = short == 0.0
        better = (solved | (cost < self.cost.take(rows))).nonzero()[0]
        if better.size:
            best = rows.take(better)
            self.found.q[best], self.found.residual[best] = step.q.take(better, axis=0), step.residual.take(better)
            self.violation[best], self.cost[best] = step.violation.take(better), cost.take(better)
            self.found.converged[rows] = solved
        return found, solved


class Guards(NamedTuple):
    """What is to be 0, too, in a solution."""

    stack: Stack
    targets: np.ndarray  # of each problem

    def errors(self, rows: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return the sum of all errors of some problems."""
        errors, _ = self.stack.function(self.stack.model, q, self.targets[rows].astype(q.dtype))
        return np.abs(errors).sum(axis=1)


def starts_of(model: Model, count: int, seed: int) -> np.ndarray:
    """Return where descents begin: where the robot does, and at random configurations, shape (1 + count, nq)."""
    known = _starts.setdefault(model, {})
    if (starts := known.get((count, seed))) is None:
        if len(known) >= FEW:
            known.clear()
        q = model.random_configuration((count,), seed=seed)
        for bound in bounds_of(model):
            middle = 0.5 * (bound.lower + bound.upper)
            if np.isfinite(middle):
                q[:MIDDLE, bound.q] = 0.5 * (q[:MIDDLE, bound.q] + middle)
        starts = known[count, seed] = np.concatenate([model.start_configuration()[None], q])
    return starts


FEW = 4  # lists of starts that are kept: for one target after the other it is the same, or one of a few
# Descents that one problem makes alone: of what nothing solves, more would double the time of the search that follows.
ALONE = 10
MIDDLE = 20  # descents that begin in the middle half of the limits
# Descents without guards before one with them, which costs as much as ten: with 8 or 20 solutions take longer.
ROUND = 12
# How near a solution a descent in single precision ends [rad], lengths by the robot's size: a hundred times what it
# rounds to.
NEAR = 1e-3
LITTLE = 1e-30  # a sum of errors that counts as the least: its inverse is a number in single precision
_starts: ByIdentity[Model, dict[tuple[int, int], np.ndarray]] = ByIdentity()

PASSES = 8  # of one call: rows that are done leave only after it, and each call costs some microseconds
DAMPING = 1e-2  # nu to begin with; it, FALL and GROWTH were chosen for most solutions in a time, of arm7 and the Panda
FALL, GROWTH = 0.5, 4.0
LEAST, MOST = 1e-12, 1e12  # of nu: what follows from it is a number in double precision, whatever the errors
NOWHERE = 1e18  # the errors of no place: their squares are numbers in single precision, too
# The least mu, relative to the matrix's trace: pivots of rows that depend on others stay above rounding errors.
ROUNDING = 1e-13


class Descent(NamedTuple):
    """Where some passes have led."""

    q: Any  # configuration, shape (nq,)
    damping: Any  # nu
    residual: Any  # largest entry of the tasks' errors, times no weight, of those whose weight is not 0 [m, rad]
    violation: Any  # largest distance of a limit coordinate from its limits [m, rad]
    cost: Any  # |e|^2 of the errors times their weights, those of limits among them


class Problem:
    """The tasks of a descent over scalars: their errors and Jacobian, each row times its weight.

    `bounds` are those of entries of q; all other limits are one task more, after the others, of the weight `stiffness`.
    That is None where no limits count.
    """

    def __init__(
        self, tasks: Sequence[Task], model: Model, targets: Any, weights: Sequence[Scalar], stiffness: Scalar | None
    ) -> None:
        others = () if stiffness is None else other_limits(model)
        self.tasks = (*tasks, WithinLimits()) if others else tasks
        self.model, self.targets, self.weights = model, targets, [*weights, *(stiffness for _ in others)]
        self.bounds = () if stiffness is None else bounds_of(model)

    def begin(self, q: Sequence[Scalar], nu: Scalar) -> tuple[Any, ...]:
        """Return what the first pass is given: q to be looked at, which is better than what is nowhere."""
        m, nv = len(self.weights), self.model.nv
        return q, nu * (1.0 / FALL), NOWHERE * NOWHERE, q, [NOWHERE] * m, [[0.0] * nv for _ in range(m)]

    def descend(self, candidate: Sequence[Scalar], nu: Scalar, cost: Scalar, *best: Any) -> tuple[Any, ...]:
        """Return where to look next, nu, and of the best place so far |e|^2, q, the errors and their Jacobian."""
        errors, rows = stacked(self.tasks, self.model, _array(candidate), self.targets)
        weighted = self._weighted(errors)
        new_cost = dot(weighted, weighted)
        better = new_cost < cost
        q, errors, rows = when(better, lambda: (list(candidate), errors, rows), best)
        nu = where(better, maximum(nu * FALL, LEAST), minimum(nu * GROWTH, MOST))
        cost = where(better, new_cost, cost)
        return self._next(q, errors, rows, nu * cost), nu, cost, q, errors, rows

    def _next(self, q: Sequence[Scalar], errors: Sequence[Scalar], rows: Rows, mu: Scalar) -> list[Scalar]:
        e, J = self._weighted(errors), [[w * x for x in row] for w, row in zip(self.weights, rows, strict=True)]
        gradient = [dot([row[i] for row in J], e) for i in range(self.model.nv)]
        free = freedoms(self.model.nv, q, gradient, self.bounds)
        return clipped(self.model.manifold.integrate(q, step(J, e, mu, gradient, free)), self.bounds)

    def _weighted(self, errors: Sequence[Scalar]) -> list[Scalar]:
        return [w * x for w, x in zip(self.weights, errors, strict=True)]


def step(J: Rows, e: Sequence[Scalar], mu: Scalar, gradient: Sequence[Scalar], free: Sequence[Scalar]) -> list[Scalar]:
    """Return the step of the velocities that are free (1), 0 for the others (0); the gradient is J^T e."""
    F = [[x * f for x, f in zip(row, free, strict=True)] for row in J]
    if len(J) <= len(free):
        y = _damped(F, mu).solve(e)
        return [-dot([row[i] for row in F], y) for i in range(len(free))]
    return [-f * x for f, x in zip(free, _damped(transposed(F), mu).solve(gradient), strict=True)]


def _damped(rows: Rows, mu: Scalar) -> Factor:
    """Return the factorisation of A A^T + mu 1, of which the lower triangle is made."""
    A: Rows = [[dot(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]
    least = mu + ROUNDING * sum((row[-1] for row in A), 0.0)
    enough = where(least > 0.0, least, 1.0)  # a matrix of zeros has a factorisation, too: there the step is 0
    for row in A:
        row[-1] = row[-1] + enough
    return Factor(A)


@functools.lru_cache(maxsize=256)
def descent(structure: Structure, size: int, limits: bool) -> Function:
    """Return the compiled function (model, q, damping, stiffness, targets, weights) -> `Descent` of `PASSES` passes."""
    tasks = structure.kept()

    def inverse_kinematics_passes(
        model: Model, q: Any, damping: float, stiffness: float, targets: Any, weights: Any
    ) -> Descent:
        problem = Problem(tasks, model, targets, weights.tolist(), stiffness if limits else None)
        begin = problem.begin(clipped(q.tolist(), problem.bounds), damping)
        _, nu, cost, found, errors, _ = repeat(1 + PASSES, problem.descend, *begin)
        asked = [where(w > 0.0, e, 0.0) for w, e in zip(weights.tolist(), errors, strict=False)]
        return Descent(_array(found), nu, _largest(asked), _largest(errors[size:]), cost)

    return Function(inverse_kinematics_passes, {"targets": targets_shape(tasks), "weights": (size,)})


def _array(entries: Sequence[Scalar]) -> np.ndarray:
    return symbolic(entries, (len(entries),))


def _largest(entries: Sequence[Scalar]) -> Scalar:
    return functools.reduce(maximum, map(absolute, entries), 0.0)
