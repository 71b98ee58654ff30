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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.arrays import symbolic
from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.checked_numbers import positive
from cardan._algebra.errors import InfeasibleError
from cardan._algebra.spatial import Scalar
from cardan._compiler.runtime.extras import package
from cardan._dynamics.algorithms.configuration import limit_coordinates
from cardan._dynamics.algorithms.linear import dot
from cardan._dynamics.call.arguments import check_finite
from cardan._dynamics.call.function import Function
from cardan._dynamics.functions.derivatives import derivative
from cardan._motion.tasks.bounds import entries_of_limits, other_limits
from cardan._motion.tasks.shipped import ClosedLoops, Damping
from cardan._motion.tasks.stack import Stack, by_problem, stacked, targets_shape
from cardan._motion.tasks.task import Structure, Task, check_model_without_inputs, checked_array, checked_tasks
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
        model: the robot. Its loops are kept closed (`ClosedLoops` is added where it is missing).
        q: where it is, shape (..., nq) [rad, m].
        tasks: one, or several in a list (`cardan.tasks`), with their weights, gains and priorities: tasks of priority 1
            move only as those of priority 0 allow. Leading axes are a batch, broadcast against that of q.
        dt: length of the step [s].
        limits: whether velocity and position limits hold, as bounds. A coordinate outside its position limits moves
            back as fast as its velocity limits allow.
        damping: what a motion costs [1/rad^2, 1/m^2]: it decides where tasks do not.

    Raises:
        NotFiniteError: where a task's error, or its slope, is no number at q.
        InfeasibleError: where no motion keeps loops closed and all limits, with the rows and what is in the way.
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


class DifferentialIK:
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
        self.model: Model = model
        self.dt: float = positive(f"{WHERE}: dt", dt, "s")
        self._damping = np.array([positive(f"{WHERE}: damping", damping, "1/rad^2, 1/m^2")])
        self._best = partial(solution, package("daqp", WHERE, "qp"))
        asked = checked_tasks(WHERE, tasks)
        closing = [task for task in asked if isinstance(task, ClosedLoops)]
        asked = asked if closing or not model.closures else (*asked, ClosedLoops())
        # Something is to be minimised beside the loops.
        self.stack: Stack = Stack(model, asked if len(closing) < len(asked) else (*asked, Damping()), WHERE)
        self._bounds = limits_of(model, limits)
        self._levels = priorities(self.stack)
        self._function = differential(self.stack, self._bounds.others)
        self._weights, self._gains = self.stack.weights(), self.stack.gains()

    def __call__(self, q: ArrayLike, *targets: Any) -> np.ndarray:
        """Return velocities at q."""
        model, q = self.model, checked_array(WHERE, "q", q, (self.model.nq,))
        asked = {"q": q, "targets": self.stack.targets(*targets), "weights": self._weights}
        batch, given = by_problem(WHERE, asked | {"gains": self._gains, "damping": self._damping})
        given["damping"] = given["damping"][:, 0]
        found = self._function(model, *given.values())
        for name, what in (("e", "errors of the tasks"), ("J", "Jacobian of the tasks")):
            check_finite(WHERE, what, found[name], batch, "A direction to the frame itself is none, say.")
        own = given["weights"], given["damping"], self._bounds, found, given["q"], self.dt
        steps = StepHierarchy(self.stack, self._levels, *own)
        x = [steps.solve(row, self._best) for row in range(len(given["q"]))]
        failed = [row for row, motion in enumerate(x) if motion is None]
        if failed:
            rows = [tuple(map(int, np.unravel_index(k, batch))) for k in failed] if batch else []
            raise InfeasibleError(WHERE, rows, steps.in_the_way(failed[0]))
        motions = np.array(x, dtype=float).reshape(len(x), model.nv)
        if not steps.closing:  # those of the velocities' own limits alone are within these to the last digit
            motions = np.minimum(np.maximum(motions, steps.lower), steps.upper)
        return (motions * steps.unit).reshape((*batch, model.nv)) / self.dt


class StepLimits(NamedTuple):
    """The limits of a model as a step has them."""

    places: list[int]  # for each velocity the number of the entry of q that is its limit coordinate; any, where none is
    position: np.ndarray  # least and greatest values of these entries, shape (2, nv); infinite where there is none
    velocity: np.ndarray  # least and greatest velocities, shape (2, nv)
    others: tuple[int, ...]  # numbers of the limit coordinates that are no entries of q
    limits: np.ndarray  # least and greatest values of all limit coordinates, shape (2, nv)


NOTHING = np.array([[-np.inf], [np.inf]])
_known: ByIdentity[Model, StepLimits] = ByIdentity()


def limits_of(model: Model, count: bool) -> StepLimits:
    """Return the limits of a model, looked up once; infinite ones if they do not count."""
    if not count:
        free = np.broadcast_to(NOTHING, (2, model.nv))
        return StepLimits([0] * model.nv, free, free, (), free)
    known = _known.get(model)
    if known is None:
        entries, limits = entries_of_limits(model), np.array([model.lower, model.upper])
        position = np.where([i in entries for i in range(model.nv)], limits, NOTHING)
        velocity = np.array([model.velocity_lower, model.velocity_upper])
        places = [entries.get(i, 0) for i in range(model.nv)]
        known = _known.setdefault(model, StepLimits(places, position, velocity, other_limits(model), limits))
    return known


class StepHierarchy:
    """The motions of a batch of steps: what is asked of each, and its limits.

    Inside, a motion is measured by the largest bound of its row, and a sum of squares by the mean of H's diagonal, so
    that all numbers are about 1.
    """

    def __init__(
        self,
        stack: Stack,
        levels: Mapping[int, list[int]],  # the numbers of the rows of each priority (`priorities`)
        weights: np.ndarray,  # of the tasks' rows, shape (batch, m)
        damping: np.ndarray,  # what a motion costs, shape (batch,)
        bounds: StepLimits,
        found: Mapping[str, np.ndarray],  # results of the compiled program (`differential`)
        q: np.ndarray,  # configurations, shape (batch, nq)
        dt: float,
    ) -> None:
        self.stack, self.model, self.weights, self.found, self.bounds = stack, stack.model, weights, found, bounds
        least, most = dt * bounds.velocity
        # The least and the greatest motion of each velocity in the step, shape (batch, nv), from its own limits.
        ways = bounds.position[:, None] - q.take(bounds.places, axis=1)
        lower, upper = np.minimum(np.maximum(ways, least), most)
        ends = np.maximum(np.abs(lower), np.abs(upper))
        largest = np.where(np.isfinite(ends), ends, 0.0).max(axis=1, initial=0.0)
        self.unit = np.where(largest > 0.0, largest, 1.0)[:, None]
        self.lower, self.upper = lower / self.unit, upper / self.unit
        self.levels = {level: rows for level, rows in levels.items() if level >= 0}
        self.closing = levels.get(-1)
        self.asked = {level: self._normal(found[f"H{level}"], found[f"g{level}"], damping) for level in self.levels}

    def _normal(self, H: np.ndarray, g: np.ndarray, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        size = np.trace(H, axis1=1, axis2=2) / self.model.nv if self.model.nv else np.ones(len(H))
        return H / size[:, None, None], g / (size[:, None] * self.unit), damping / size

    def solve(self, row: int, solver: Solver) -> np.ndarray | None:
        """Return the motion of one step; None if nothing is within all limits."""
        x, N = self._closed(row)
        last = max(self.levels)
        for k, level in enumerate(self.levels):
            z = self._best(row, level, x, N, solver, within=k > 0)
            if z is None:
                return None
            x = x + (z if N is None else N @ z)
            if level != last:
                N = self._left(row, level, x, N)
        return x

    def _closed(self, row: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the least motion that closes the loops, and a basis of those that keep them so; None for all."""
        if not self.closing:
            return np.zeros(self.model.nv), None if self.model.nv else np.zeros((0, 0))
        U, s, V, rank = _decompose(self.found["J"][row][self.closing])
        along = (U[:, :rank].T @ self.found["e"][row][self.closing]) / (s[:rank] * self.unit[row])
        return -V[:rank].T @ along, V[rank:].T

    def _best(
        self, row: int, level: int, x: np.ndarray, N: np.ndarray | None, solver: Solver, within: bool
    ) -> np.ndarray | None:
        """Return z of the best motion x + N z for the tasks of a priority; `within`: x is within all limits."""
        H, g, _ = (part[row] for part in self.asked[level])
        A, lower, upper = self._limits(row)
        if N is None:
            return solver(Quadratic(H, g, A, lower, upper))
        A = np.concatenate([np.eye(len(x)), A])
        lower, upper = lower - A @ x, upper - A @ x
        is_within = within or ((lower <= SLACK).all() and (upper >= -SLACK).all())
        if is_within:  # z = 0 is then a solution for the solver, too, whatever rounding says
            lower, upper = np.minimum(lower, -SLACK), np.maximum(upper, SLACK)
        if not N.shape[1]:  # there is nothing to choose
            return np.zeros(0) if is_within else None
        return solver(Quadratic(N.T @ H @ N, N.T @ (g + H @ x), A @ N, lower, upper))

    def _limits(self, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return A and the least and greatest (x, A x): of each velocity, and of limits that are no entries of q."""
        lower, upper = self.lower[row], self.upper[row]
        others = list(self.bounds.others)
        if not others:
            return np.zeros((0, len(lower))), lower, upper
        least, most = (self.bounds.limits[:, others] - self.found["limited"][row]) / self.unit[row]
        return self.found["rates"][row], np.concatenate([lower, least]), np.concatenate([upper, most])

    def _left(self, row: int, level: int, x: np.ndarray, N: np.ndarray | None) -> np.ndarray:
        """Return a basis of the motions that change nothing of what a priority asked, nor leave its active limits."""
        N = np.eye(len(x)) if N is None else N
        rows = [r for r in self.levels[level] if self.weights[row, r] > 0.0]
        J = self.found["J"][row][rows] * self.stack.scales()[rows, None]
        _, _, V, rank = _decompose(J @ N)
        free = N @ V[rank:].T
        _, _, V, rank = _decompose(free[self._pushing(row, level, x, N)])
        return free @ V[rank:].T

    def _pushing(self, row: int, level: int, x: np.ndarray, N: np.ndarray) -> np.ndarray:
        """Return the velocities whose limits hold a priority back: by the multipliers of those that are reached."""
        H, g, damping = (part[row] for part in self.asked[level])
        reached = np.flatnonzero((x <= self.lower[row] + SLACK) | (x >= self.upper[row] - SLACK))
        multipliers = np.linalg.lstsq(N[reached].T, N.T @ (H @ x + g), rcond=DEPENDENT)[0]
        return reached[np.abs(multipliers) > SLACK + 10.0 * damping]  # more than damping alone makes of them

    def in_the_way(self, row: int) -> list[str]:
        """Return what no motion can keep: loops, and limits that the least motion closing them breaks."""
        x, _ = self._closed(row)
        beyond = {*np.flatnonzero((x < self.lower[row]) | (x > self.upper[row])).tolist(), *self.bounds.others}
        moved = {n: range(*self.model.v_slice(n).indices(self.model.nv)) for n in self.model.joint_names}
        loops = [f"loop {c.name!r}" for c in self.model.closures if c.joint.num_rows]
        return [*loops, *(f"limits of joint {n!r}" for n, own in moved.items() if beyond.intersection(own))]


def _decompose(J: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return U, s, V of J = U s V with all rows of V, and how many rows of J do not depend on others."""
    U, s, V = np.linalg.svd(J)
    return U, s, V, int((s > DEPENDENT * s.max(initial=0.0)).sum())


_rates = derivative(limit_coordinates, "q")


def priorities(stack: Stack) -> dict[int, list[int]]:
    """Return the numbers of the rows of each priority, the first one first; those that close loops are of -1."""
    found: dict[int, list[int]] = {}
    for task, rows in zip(stack.tasks, stack.rows, strict=True):
        level = -1 if isinstance(task, ClosedLoops) else task.priority
        found.setdefault(level, []).extend(range(rows.start, rows.stop))
    return dict(sorted(found.items()))


def differential(stack: Stack, limited: tuple[int, ...]) -> Function:
    """Return the compiled function (model, q, targets, weights, gains, damping) -> results by name.

    For each priority p but -1: `Hp`, `gp`; `e` and `J`, all errors times their gains and their Jacobian; `limited` and
    `rates`, the limit coordinates of these numbers and the rows of their derivative along v.
    """
    levels = tuple((level, tuple(rows)) for level, rows in priorities(stack).items() if level >= 0)
    return _differential(stack.structure, levels, limited, stack.size)


@functools.lru_cache(maxsize=256)
def _differential(
    structure: Structure, levels: tuple[tuple[int, tuple[int, ...]], ...], limited: tuple[int, ...], size: int
) -> Function:
    tasks = structure.kept()

    def differential_tasks(
        model: Model, q: Any, targets: Any, weights: Any, gains: Any, damping: float
    ) -> dict[str, Any]:
        errors, J = stacked(tasks, model, q, targets)
        errors = [k * e for k, e in zip(gains, errors, strict=True)]
        found = {"e": _array([errors], size)[0], "J": _array(J, model.nv)}
        for level, rows in levels:
            weighted = [[weights[r] * x for x in (*J[r], errors[r])] for r in rows]
            *columns, error = [[row[i] for row in weighted] for i in range(model.nv + 1)]
            H = [[dot(a, b) + (damping if a is b else 0.0) for b in columns] for a in columns]
            found[f"H{level}"] = _array(H, model.nv)
            found[f"g{level}"] = _array([[dot(a, error) for a in columns]], model.nv)[0]
        if limited:
            coordinates, rates = model.manifold.limit_coordinates(q), _rates(model, q)
            found["limited"] = _array([[coordinates[i] for i in limited]], len(limited))[0]
            found["rates"] = _array([list(rates[i]) for i in limited], model.nv)
        return found

    return Function(differential_tasks, {"targets": targets_shape(tasks), "weights": (size,), "gains": (size,)})


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
