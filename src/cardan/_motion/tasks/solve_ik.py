"""Differential inverse kinematics: the velocity that does best what tasks ask, within limits.

The best motion of a step, x = v dt, is found by one quadratic program for each priority. With e the errors of a
priority, J their Jacobian, W their weights and k their gains,

    |W (J x + k e)|^2 + d |x|^2  =  x H x + 2 g x + constant,     H = J^T W^2 J + d 1,   g = J^T W^2 k e

which is one compiled program for all priorities. Each is then minimised by daqp, of the extra `qp`,

    minimise 1/2 x H x + g x     with     lower <= (x, A x) <= upper

whose tolerance is absolute: numbers shall be about 1.

Loops that are to be closed are an equation, K x = -k r: its least solution and a basis N of the motions that keep it
are x = x_0 + N z. Priorities go on from there: each chooses z within all limits, and leaves to the next the motions
that change neither what it asked, the null space of J N, nor a limit that holds it back. So a task of a later priority
cannot disturb one of an earlier, and no equation is left to the solver, whose rows may depend on one another.

Source: Escande, Mansard and Wieber, Hierarchical quadratic programming (2014); Kanoun, Lamiraux and Wieber (2011) for
priorities with limits; Caron's pink for the form of the tasks; Arnstrom, Bemporad and Axehill, A dual active-set solver
for embedded quadratic programming (2022), daqp.
Cost: the tasks' Jacobians, and m nv^2 / 2 for H.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.arrays import symbolic
from cardan._algebra.checked_numbers import positive, truth
from cardan._algebra.errors import InfeasibleError
from cardan._algebra.explained import ExplainedSettings
from cardan._algebra.scalar import absolute, maximum, minimum, where
from cardan._algebra.spatial import Scalar
from cardan._compiler.runtime.extras import package
from cardan._dynamics.algorithms.health import is_sound
from cardan._dynamics.algorithms.linear import Rows, dot
from cardan._dynamics.algorithms.loops import check_no_accelerations, constraints
from cardan._dynamics.call.arguments import are_all, check_finite, numeric_array
from cardan._dynamics.call.function import Function
from cardan._motion.tasks.bounds import coordinates_of_limits, entries_of_limits, other_limits
from cardan._motion.tasks.shipped import ClosedLoops, Damping
from cardan._motion.tasks.stack import Stack, stacked, targets_shape
from cardan._motion.tasks.task import Structure, Task, check_model_without_inputs, checked_tasks
from cardan._robot.model import Model

WHERE = "solve_ik"
# Rows whose singular value is below this, relative to the largest, depend on the others; as in `assemble`.
DEPENDENT = 1e-8
# By how much of the largest limit a priority may pass those that an earlier one has reached: where many meet there is
# else one point to be found, which solvers miss by their roundings. What comes out is put back to the limits.
SLACK = 1e-8


def solve_ik(
    model: Model,
    q: ArrayLike,
    tasks: Task | list[Task] | tuple[Task, ...],
    dt: float,
    *,
    limits: bool = True,
    damping: float = 1e-8,
) -> np.ndarray:
    """Return the velocity that brings a robot nearest to what is asked of it in a step of time.

    Velocities have the shape (..., nv) [rad/s, m/s]. Each minimises the sum of weight^2 (J v dt + gain e)^2 over the
    entries of the errors e, and damping |v dt|^2. Calling it and moving on, `q = cardan.integrate(model, q, v * dt)`,
    is closed-loop inverse kinematics.

    Args:
        model: the robot. Its loops are kept closed (`ClosedLoops` is added where it is missing), and what users
            constrain of places and velocities holds.
        q: where it is, shape (..., nq) [rad, m].
        tasks: one, or several in a list (`cardan.tasks`), with their weights, gains and priorities: tasks of priority 1
            move only as those of priority 0 allow. Leading axes are a batch, broadcast against that of q.
        dt: length of the step [s].
        limits: whether velocity and position limits hold, as bounds. A coordinate outside its position limits moves
            back as fast as its velocity limits allow.
        damping: what a motion costs [1/rad^2, 1/m^2]: it decides where tasks do not.

    Raises:
        NotFiniteError: where a task's error, or its slope, is no number at q, or too large to be squared.
        InfeasibleError: where no motion keeps loops closed and all limits, with the rows and what is in the way.
        MechanismError: for a constraint of accelerations.
        MissingExtraError: without daqp, of the extra `qp`.
        ParameterError, UnknownNameError: for a dt, damping or frame that is none.
        ShapeError, DTypeError, NotFiniteError: for an array that does not fit.

    Examples:
        >>> place = cardan.frame_transform(arm, q, "tool")[:3, 3] + (0.0, 0.0, 0.001)  # 1 mm up
        >>> speed = cardan.solve_ik(arm, q, cardan.tasks.FramePosition("tool", place), dt=0.01)
        >>> bool(np.allclose((cardan.jacobian(arm, q, "tool") @ speed)[:3], (0.0, 0.0, 0.1), atol=1e-5))
        True

    Peers: pink `solve_ik`, mink `solve_ik`.

    Source: Escande, Mansard and Wieber (2014).
    """
    return DifferentialIK(model, tasks, dt, limits=limits, damping=damping)(q)


class DifferentialIK(ExplainedSettings):
    """`solve_ik` prepared for the steps of a control loop: tasks are checked once, only q and targets are new.

    `step(q, *targets)` returns velocities [rad/s, m/s], shape (..., nv). Targets stand in for those of the tasks, in
    their order. For None, and for what is left out, the task's own counts, as it is now. Weights, gains and limits are
    those of the beginning.

    Args:
        model: the robot.
        tasks: as for `solve_ik`.
        dt: length of the step [s].
        limits: whether velocity and position limits hold.
        damping: what a motion costs [1/rad^2, 1/m^2].

    Raises:
        As `solve_ik`; a call raises for its q, its targets, and steps without a solution.

    Examples:
        >>> pose = cardan.frame_transform(arm, q, "tool")
        >>> step = cardan.tasks.DifferentialIK(arm, cardan.tasks.FramePose("tool", pose), dt=0.01)
        >>> pose[2, 3] += 0.001  # 1 mm up
        >>> bool(np.allclose((cardan.jacobian(arm, q, "tool") @ step(q, pose))[:3], (0.0, 0.0, 0.1), atol=1e-5))
        True
    """

    def __init__(
        self,
        model: Model,
        tasks: Task | list[Task] | tuple[Task, ...],
        dt: float,
        *,
        limits: bool = True,
        damping: float = 1e-8,
    ) -> None:
        check_model_without_inputs(WHERE, model)
        check_no_accelerations(WHERE, constraints(model, model.neutral().tolist()))
        self.model: Model = model
        self.dt: float = positive(f"{WHERE}: dt", dt, "s")
        self._damping: float = positive(f"{WHERE}: damping", damping, "1/rad^2, 1/m^2")
        self._best: Solver = partial(solution, package("daqp", WHERE, "qp"))
        asked = checked_tasks(WHERE, tasks)
        closing = [task for task in asked if isinstance(task, ClosedLoops)]
        asked = asked if closing or not model.has_loops else (*asked, ClosedLoops())
        # Something is to be minimised beside the loops.
        self.stack: Stack = Stack(model, asked if len(closing) < len(asked) else (*asked, Damping()), WHERE)
        self._limits = truth("limits", limits)
        # Names of joints with limits that are no entries of q.
        self._others: list[str] = [own.joint for own in other_limits(model)] if limits else []
        self._levels: dict[int, list[int]] = priorities(self.stack)
        self._asked: list[int] = [level for level in self._levels if level >= 0]
        self._no_rows: np.ndarray = np.zeros((0, model.nv))
        levels = tuple((level, tuple(self._levels[level])) for level in self._asked)
        function = differential(self.stack.structure, levels, self._limits, self.stack.size)
        self._run = partial(function, model)  # to bind it takes 150 us
        self._weights, self._gains = self.stack.weights(), self.stack.gains()

    def __reduce__(self) -> Any:  # what is compiled is made again
        made = partial(DifferentialIK, limits=self._limits, damping=self._damping)
        return made, (self.model, self.stack.tasks, self.dt)

    def __call__(self, q: ArrayLike, *targets: Any) -> np.ndarray:
        """Return velocities at q."""
        q, asked = numeric_array(WHERE, "q", q), self.stack.targets(*targets)
        found = self._run(q, asked, self._weights, self._gains, self._damping, self.dt)
        if not are_all(found["sound"] > 0.0):
            check_finite(WHERE, "q", q)
            for name, what in (("e", "errors of the tasks"), ("J", "Jacobian of the tasks")):
                check_finite(WHERE, what, found[name], hint="A direction to the frame itself is none, say.")
        batch = found["e"].shape[:-1]
        rows = np.ndindex(batch) if batch else ((),)  # to make an iterator for one state takes a microsecond
        steps = [Hierarchy(self, found, row) for row in rows]
        motions = [step.solve() for step in steps]
        if failed := [step for step, motion in zip(steps, motions, strict=True) if motion is None]:
            raise InfeasibleError(WHERE, [step.row for step in failed if batch], failed[0].in_the_way())
        x: Any = np.reshape(np.array(motions), (*batch, self.model.nv)) if batch else motions[0]
        check_finite(WHERE, "velocities", x, hint="Squares of the tasks' errors are too large: are the targets right?")
        if -1 not in self._levels:  # those of the velocities' own limits alone are within these to the last digit
            own = (..., slice(self.model.nv))
            x = np.minimum(np.maximum(x, found["lower"][own]), found["upper"][own])
        return x * found["speed"]


class Hierarchy:
    """The motion of one step: what is asked of it, and its limits.

    Inside, a motion is measured by its largest bound, and a sum of squares by the mean of H's diagonal, so that all
    numbers are about 1.
    """

    def __init__(
        self,
        of: DifferentialIK,
        found: Mapping[str, np.ndarray],  # results of the compiled program (`differential`)
        row: tuple[int, ...],  # which of them is the step's
    ) -> None:
        self.of, self.nv, self.found, self.row = of, of.model.nv, found, row
        self.A = self._of("A") if of._others else of._no_rows
        self.lower, self.upper = self._of("lower"), self._of("upper")

    def _of(self, name: str) -> Any:
        return self.found[name][self.row]

    def solve(self) -> np.ndarray | None:
        """Return the motion; None if nothing is within all limits."""
        x, N = self._closed()
        asked = self.of._asked
        for level in asked:
            z = self._best(level, x, N, within=level > asked[0])
            if z is None:
                return None
            x = z if N is None else x + N @ z  # without a basis x is 0: no loop is closed, and nothing was asked before
            if level != asked[-1]:
                N = self._left(level, x, N)
        return x

    def _closed(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the least motion that closes the loops, and a basis of those that keep them so; None for all."""
        closing = self.of._levels.get(-1)
        if not closing:
            return np.zeros(self.nv), None if self.nv else np.zeros((0, 0))
        U, s, V, rank = _decompose(self._of("J")[closing])
        along = (U[:, :rank].T @ self._of("e")[closing]) / (s[:rank] * self._of("unit"))
        return -V[:rank].T @ along, V[rank:].T

    def _best(self, level: int, x: np.ndarray, N: np.ndarray | None, within: bool) -> np.ndarray | None:
        """Return z of the best motion x + N z for the tasks of a priority; `within`: x is within all limits."""
        H, g, A = self._of(f"H{level}"), self._of(f"g{level}"), self.A
        if N is None:
            return self.of._best(Quadratic(H, g, A, self.lower, self.upper))
        A = np.concatenate([np.eye(self.nv), A])
        lower, upper = self.lower - A @ x, self.upper - A @ x
        is_within = within or ((lower <= SLACK).all() and (upper >= -SLACK).all())
        if is_within:  # z = 0 is then a solution for the solver, too, whatever rounding says
            lower, upper = np.minimum(lower, -SLACK), np.maximum(upper, SLACK)
        if not N.shape[1]:  # there is nothing to choose
            return np.zeros(0) if is_within else None
        return self.of._best(Quadratic(N.T @ H @ N, N.T @ (g + H @ x), A @ N, lower, upper))

    def _left(self, level: int, x: np.ndarray, N: np.ndarray | None) -> np.ndarray:
        """Return a basis of the motions that change nothing of what a priority asked, nor leave its active limits."""
        N = np.eye(self.nv) if N is None else N
        rows = [r for r in self.of._levels[level] if self._of("weights")[r] > 0.0]
        J = self._of("J")[rows] * self.of.stack.scales()[rows, None]
        _, _, V, rank = _decompose(J @ N)
        free = N @ V[rank:].T
        _, _, V, rank = _decompose(free[self._pushing(level, x, N)])
        return free @ V[rank:].T

    def _pushing(self, level: int, x: np.ndarray, N: np.ndarray) -> np.ndarray:
        """Return the velocities whose limits hold a priority back: by the multipliers of those that are reached."""
        H, g, damping = (self._of(f"{name}{level}") for name in ("H", "g", "d"))
        reached = np.flatnonzero((x <= self.lower[: self.nv] + SLACK) | (x >= self.upper[: self.nv] - SLACK))
        multipliers = np.linalg.lstsq(N[reached].T, N.T @ (H @ x + g), rcond=DEPENDENT)[0]
        return reached[np.abs(multipliers) > SLACK + 10.0 * damping]  # more than damping alone makes of them

    def in_the_way(self) -> list[str]:
        """Return what no motion can keep: loops, and limits that the least motion closing them breaks."""
        (x, _), model = self._closed(), self.of.model
        broken = (x < self.lower[: self.nv]) | (x > self.upper[: self.nv])
        loops = [f"loop {name!r}" for name in model.constraint_names]
        names = [name for name, (_, own) in model.slices.items() if broken[own].any()] + self.of._others
        return [*loops, *(f"limits of joint {n!r}" for n in dict.fromkeys(names))]


def _decompose(J: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return U, s, V of J = U s V with all rows of V, and how many rows of J do not depend on others."""
    U, s, V = np.linalg.svd(J)
    return U, s, V, int((s > DEPENDENT * s.max(initial=0.0)).sum())


def priorities(stack: Stack) -> dict[int, list[int]]:
    """Return the numbers of the rows of each priority, the first one first; those that close loops are of -1."""
    found: dict[int, list[int]] = {}
    for task, rows in zip(stack.tasks, stack.rows, strict=True):
        level = -1 if isinstance(task, ClosedLoops) else task.priority
        found.setdefault(level, []).extend(range(rows.start, rows.stop))
    if stack.model.constraints and (held := _rates_held(stack.model, stack.model.neutral().tolist(), 1.0)[0]):
        found.setdefault(-1, []).extend(range(stack.size, stack.size + len(held)))
    return dict(sorted(found.items()))


def _rates_held(model: Model, q: Sequence[Scalar], dt: Scalar) -> tuple[list[Scalar], Rows]:
    """Return e and J of what users constrain of velocities, A(q) v = b(q): in a step, J is A and e is -b dt."""
    held = [loop for loop in constraints(model, q) if loop.level == 1] if model.constraints else []
    rest = [0.0] * model.nv
    return [dt * e for loop in held for e in loop.rate(q, rest)], [row for loop in held for row in loop.K]


@functools.lru_cache(maxsize=256)
def differential(
    structure: Structure, levels: tuple[tuple[int, tuple[int, ...]], ...], limits: bool, size: int
) -> Function:
    """Return the compiled function (model, q, targets, weights, gains, damping, dt) -> results by name.

    `e` and `J` are all errors times their gains and their Jacobian; `sound` is 1 where their numbers and those of q are
    finite, and 0 where one may be none; `unit` is the largest bound of a motion, in which `lower` and `upper` are
    measured: those of each velocity, then those of A x for limits that are no entries of q. `speed` is unit / dt.
    For each priority p but -1 there are `Hp` and `gp` in these units, and `dp`, the part of damping in Hp.
    """
    tasks = structure.kept()

    def solve_ik(
        model: Model, q: Any, targets: Any, weights: Any, gains: Any, damping: float, dt: float
    ) -> dict[str, Any]:
        errors, J = stacked(tasks, model, q, targets)
        errors, nv = [k * e for k, e in zip(gains, errors, strict=True)], model.nv
        e, K = _rates_held(model, q.tolist(), dt)
        errors, J = [*errors, *e], [*J, *K]
        lower, upper = _motions(model, q, dt) if limits else ([-math.inf] * nv, [math.inf] * nv)
        bounded = [maximum(absolute(a), absolute(b)) for a, b in zip(lower, upper, strict=True) if _are_finite(a, b)]
        largest = functools.reduce(maximum, bounded, 0.0)
        unit = where(largest > 0.0, largest, 1.0)
        found = {
            "e": _array([errors], len(errors))[0],
            "J": _array(J, nv),
            "weights": weights,
            "unit": _array([[unit]], 1)[0],
            "speed": _array([[unit / dt]], 1)[0],
            "sound": where(is_sound(q.tolist(), errors, *J), 1.0, 0.0),
        }
        for level, rows in levels:
            weighted = [[weights[r] * x for x in (*J[r], errors[r])] for r in rows]
            *columns, error = [[row[i] for row in weighted] for i in range(nv + 1)]
            H = [[dot(a, b) + (damping if a is b else 0.0) for b in columns] for a in columns]
            mean = sum((H[i][i] for i in range(nv)), 0.0) / nv if nv else 1.0
            found[f"H{level}"] = _array([[x / mean for x in row] for row in H], nv)
            found[f"g{level}"] = _array([[dot(a, error) / (mean * unit) for a in columns]], nv)[0]
            found[f"d{level}"] = damping / mean
        if limits and (others := coordinates_of_limits(model, q)):
            found["A"] = _array([list(rates) for _, _, rates in others], nv)
            lower += [own.lower - x for own, x, _ in others]
            upper += [own.upper - x for own, x, _ in others]
        ends = _array([[x / unit for x in end] for end in (lower, upper)], len(lower))
        return found | {"lower": ends[0], "upper": ends[1]}

    return Function(solve_ik, {"targets": targets_shape(tasks), "weights": (size,), "gains": (size,)})


def _motions(model: Model, q: Any, dt: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """Return the least and the greatest motion of each velocity in a step, by its limits and those of its entry."""
    entries, ends = entries_of_limits(model), ([], [])
    for i in range(model.nv):
        speeds = [float(bounds[i]) for bounds in (model.velocity_lower, model.velocity_upper)]
        least, most = [dt * speed if math.isfinite(speed) else speed for speed in speeds]
        for found, end, own in zip(ends, (model.lower[i], model.upper[i]), (least, most), strict=True):
            is_bound = i in entries and math.isfinite(end)
            found.append(minimum(maximum(float(end) - q[entries[i]], least), most) if is_bound else own)
    return ends


def _are_finite(*ends: Scalar) -> bool:
    return not any(isinstance(end, float) and math.isinf(end) for end in ends)


def _array(rows: Sequence[Sequence[Scalar]], columns: int) -> np.ndarray:
    return symbolic((e for row in rows for e in row), (len(rows), columns))


class Quadratic(NamedTuple):
    """A quadratic program."""

    H: np.ndarray  # positive definite, shape (n, n)
    g: np.ndarray  # shape (n,)
    A: np.ndarray  # shape (k, n)
    lower: np.ndarray  # n + k numbers, of x first, or k, of A x alone; infinite where there is none
    upper: np.ndarray


Solver = Callable[[Quadratic], np.ndarray | None]  # from a program to its solution; None if no x is within the bounds
# Of the bounds, one after the other: a step is far above both. Where more bounds meet than there are directions, or
# H has large and small values, a solver may find nothing with the first.
TOLERANCES = 1e-11, 1e-7


def solution(module: Any, given: Quadratic) -> np.ndarray | None:
    H, g, A, lower, upper = map(np.ascontiguousarray, given)  # of others it would read what lies behind
    for tolerance in TOLERANCES:
        x, _, flag, _ = module.solve(H, g, A, upper, lower, primal_tol=tolerance)
        if flag > 0:
            return x
    return None
