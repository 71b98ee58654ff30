"""Time-optimal motion along a path, under velocity, acceleration and torque limits.

Along a path q(s), with x = (ds/dt)^2 and u = d2s/dt2, velocities are q' sqrt(x), accelerations q' u + q'' x, torques
    tau = a(s) u + b(s) x + c(s),
    c = tau(q, 0, 0),   a = tau(q, 0, q') - c,   b = tau(q, q', q'') - c,
linear in u and x: one call of the compiled inverse dynamics for all points of the path. What is left is two linear
programs a point in two unknowns, backwards for the speeds from which one can still stop, forwards for the largest of
them; these are the library `toppra`'s.

Source: Pham and Pham, A new approach to time-optimal path parameterization based on reachability analysis (2018);
Bobrow, Dubowsky and Gibson (1985) for the problem.
"""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import MechanismError, ParameterError, PathError, UnsupportedError
from cardan._compiler.runtime.extras import package
from cardan._dynamics.algorithms.configuration import difference
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.call.signature import check_model
from cardan._motion.trajectories.allowed import Bounds, bounds, check_limited, dof_name
from cardan._motion.trajectories.curves import Spline
from cardan._motion.trajectories.piecewise import PiecewisePolynomial
from cardan._motion.trajectories.time_laws import Timed, TimeLaw
from cardan._motion.trajectories.trajectory import Trajectory, checked_configurations
from cardan._robot.model import Model

WHERE = "time_optimal"
STANDSTILL = 1e-9  # of the largest tangent of a path: one this small is no direction
CHECKED = 10  # points in each stretch of the grid at which the limits are looked at again when all is done
FINEST = 8  # how many times as many points as asked for a grid has at most
# The speed at which the limits hold between the points of the grid, relative to that at them, below which a finer grid
# is worth its time.
CLOSE = 0.999
LARGEST = 1e4  # bound of x where nothing else bounds it, in units in which a typical one is 1


class Rows(NamedTuple):
    """Inequalities a u + b x + c <= 0 at n points of a path, and x <= ceiling."""

    a: np.ndarray  # shape (n, rows), as b and c: each row divided by the width of its bound
    b: np.ndarray
    c: np.ndarray
    ceiling: np.ndarray  # shape (n,)

    def scale(self) -> float:
        """Return a typical x, to which the linear programs are scaled: their tolerances are absolute numbers."""
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(self.a > 0.0, -self.c / self.a, np.inf).min(axis=1, initial=np.inf)
        known = [e[np.isfinite(e) & (e > 0.0)] for e in (reach, self.ceiling)]
        return float(min((np.median(e) for e in known if e.size), default=1.0))


def time_optimal(
    model: Model,
    path: Any,
    *,
    velocity: Any = None,
    acceleration: Any = None,
    effort: Any = None,
    gridpoints: int = 200,
) -> Timed:
    """Return the fastest motion along a path, from rest to rest, within limits, from time 0 on.

    Limits hold at the points of the grid and several between any two.

    Args:
        model: the robot whose inverse dynamics the torques are.
        path: a `Trajectory`, of which the path alone counts, and which must not stand still on the way; or
            configurations to pass through, shape (n, nq): then the path is the spline through them over the distances.
        velocity: largest velocities [rad/s, m/s], one number or shape (nv,); None for the model's.
        acceleration: largest accelerations [rad/s^2, m/s^2], one number or shape (nv,); None for none.
        effort: largest efforts [N m, N], one number or shape (nv,); None for the model's.
        gridpoints: into how many stretches the path is divided, at least; up to eight times as many are taken where
            torques change fast.

    Raises:
        PathError: where the limits do not let it follow the path; says where and which joint.
        ParameterError: for a joint that moves without any limit of acceleration or effort, a path that stands still.
        UnsupportedError: for limits of effort of a robot with closed loops.
        MechanismError: for a path of another robot.
        ShapeError, DTypeError, NotFiniteError, ConfigurationError: for arrays that do not fit.
        MissingExtraError: if `toppra` is not installed.

    Examples:
        >>> waypoints = [arm.neutral(), 0.5 * q, q]
        >>> fast = cardan.trajectories.time_optimal(arm, waypoints, velocity=1.0, acceleration=5.0, effort=500.0)
        >>> bool(np.allclose(fast.at(fast.interval[1]).q, q))
        True

    Source: Pham and Pham (2018).
    """
    check_model(WHERE, model)
    gridpoints = whole(f"{WHERE}: gridpoints", gridpoints, 2)
    curve = path if isinstance(path, Trajectory) else _through(model, path)
    if curve.model.manifold != model.manifold:
        expected = f"one of {model.name!r} (nq = {model.nq})"
        what = f"the path is of {curve.model.name!r} (nq = {curve.model.nq})"
        raise MechanismError(f"{WHERE}: {what}, expected {expected}")
    own = (model.velocity_lower, model.velocity_upper), None, (model.effort_lower, model.effort_upper)
    given = {"velocity": velocity, "acceleration": acceleration, "effort": effort}
    limits = (bounds(WHERE, *item, model, its) for item, its in zip(given.items(), own, strict=True))
    problem = _PathProblem(model, curve, *limits)
    if model.has_loops and problem.effort.finite.any():
        why = "give effort=inf, and acceleration= for the joints that move"
        raise UnsupportedError("efforts within closed loops", WHERE, why)  # inverse dynamics is the tree's
    count, (law, speed, worst) = gridpoints, problem.fastest(gridpoints)
    while speed < CLOSE and count < FINEST * gridpoints:
        count *= 2
        law, speed, worst = problem.fastest(count)
    if not speed > 0.0:
        raise PathError(problem.time(worst), "no speed is slow enough there; more gridpoints= may find one.")
    return Timed(curve, law.stretched(law.duration / speed))


def _through(model: Model, q: Any) -> Spline:
    """Return the spline through configurations, over the distances between them; what comes twice in a row, once."""
    q = checked_configurations(WHERE, model, q, "path", ndim=2)
    far = np.linalg.norm(difference(model, q[:-1], q[1:]), axis=-1) if len(q) > 1 else np.zeros(0)
    kept = np.concatenate([[True], far > 0.0])
    if kept.sum() < 2:
        got = f"{len(q)} configuration(s), all the same"
        raise ParameterError(f"{WHERE}: path", got=got, expected="two that differ")
    return Spline(model, np.concatenate([[0.0], np.cumsum(far[kept[1:]])]), q[kept])


class _PathProblem(NamedTuple):
    """A robot on a path, parametrised from 0 to 1, and its limits."""

    model: Model
    path: Trajectory
    velocity: Bounds
    acceleration: Bounds
    effort: Bounds

    def time(self, s: Any) -> Any:
        """Return points of the path in its own time."""
        return self.path.interval[0] + self.path.duration * s

    def fastest(self, count: int) -> tuple[TimeLaw, float, float]:
        """Return the law on a grid, at what share of its speed all limits hold in between, and where just so."""
        grid = _grid(self.path, count)
        rows = self.rows(grid)
        x = self.profile(rows, grid)
        speeds = np.sqrt(x)
        both = speeds[:-1] + speeds[1:]
        if (both <= 0.0).any():
            raise PathError(self.time(grid[int(np.argmin(both))]), "it would have to stand still there.")
        times = 2.0 * np.diff(grid) / both  # of constant d2s/dt2 between points of the grid
        pieces = np.stack([grid[:-1], speeds[:-1] * times, 0.5 * np.diff(speeds) * times], axis=1)
        law = TimeLaw(PiecewisePolynomial(np.concatenate([[0.0], np.cumsum(times)]), pieces))
        return law, *self.speed_between(grid, x)

    def rows(self, grid: np.ndarray) -> Rows:
        model, length = self.model, self.path.duration
        q, v, a = self.path.evaluated(self.time(grid))
        first, second = v * length, a * length**2
        sizes = np.linalg.norm(first, axis=-1)
        k = int(np.argmin(sizes))
        if not sizes[k] > STANDSTILL * sizes.max():
            hint = "Give the configurations instead, or a Spline without start_velocity and end_velocity."
            got = f"one that stands still at its s = {self.time(grid[k]):.6g}"
            raise ParameterError(f"{WHERE}: path", got=got, expected="a path with a direction everywhere", hint=hint)
        hint = "Give acceleration= or effort=, or the limit in the robot's description."
        limited = self.acceleration.finite | self.effort.finite
        check_limited(WHERE, "acceleration or effort", limited, np.abs(first).max(axis=0) > 0.0, model, hint)
        zero = np.zeros_like(first)
        c, a, b = inverse_dynamics(model, q, np.stack([zero, zero, first]), np.stack([zero, first, second]))
        of_effort = _one_sided(a - c, b - c, c, self.effort)
        of_acceleration = _one_sided(first, second, zero, self.acceleration)
        a, b, c = (np.concatenate(pair, axis=1) for pair in zip(of_effort, of_acceleration, strict=True))
        return Rows(a, b, c, self.velocity.along(first).min(axis=-1) ** 2)

    def profile(self, rows: Rows, grid: np.ndarray) -> np.ndarray:
        """Return x at the points of the grid; raise `PathError` where there is none."""
        for end in (0, -1):  # there it rests
            self.check_holds(rows, grid, end)
        scale = rows.scale()
        x, stuck = squared_speeds(grid, rows.a * scale, rows.b * scale, rows.c, rows.ceiling / scale)
        if stuck is not None:
            for k in (stuck, int(np.argmax(rows.c.max(axis=1)))):  # there, or where it would be hardest to stand
                self.check_holds(rows, grid, k)
            why = "no speed there is slow enough for what comes after, or fast enough."
            raise PathError(self.time(grid[stuck]), why)
        return x * scale

    def check_holds(self, rows: Rows, grid: np.ndarray, k: int) -> None:
        """Raise where a joint's effort is not enough to stand still at a point of the path."""
        if (rows.c[k] <= 0.0).all():
            return
        model, zero = self.model, np.zeros(self.model.nv)
        q = self.path.evaluated(np.array(self.time(grid[k]))).q
        effort = inverse_dynamics(model, q, zero, zero)
        lower, upper = self.effort
        j = int(np.argmax(np.maximum(effort - upper, lower - effort)))
        allowed = f"{lower[j]:.6g} to {upper[j]:.6g}"
        why = f"to stand there {dof_name(model, j)} needs {effort[j]:.6g}, allowed is {allowed} (N m, N)."
        raise PathError(self.time(grid[k]), why)

    def speed_between(self, grid: np.ndarray, x: np.ndarray) -> tuple[float, float]:
        """Return to which share of its speed the motion must be slowed for the limits to hold, and where for."""
        # At a fraction k of the speed, a u + b x becomes k^2 times as large, and c stays.
        part, u = np.linspace(0.0, 1.0, CHECKED + 1), np.diff(x) / (2.0 * np.diff(grid))
        s = (grid[:-1, None] + part * np.diff(grid)[:, None]).ravel()
        rows = self.rows(s)
        along, push = (x[:-1, None] + part * np.diff(x)[:, None]).ravel(), np.repeat(u, len(part))
        moving = rows.a * push[:, None] + rows.b * along[:, None]
        room = np.maximum(-rows.c, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(moving > room, np.sqrt(room / moving), 1.0).min(axis=1, initial=1.0)
            share = np.minimum(share, np.where(along > rows.ceiling, np.sqrt(rows.ceiling / along), 1.0))
        worst = int(np.argmin(share))
        return float(share[worst]), float(s[worst])


def _grid(path: Trajectory, count: int) -> np.ndarray:
    """Return points of the path from 0 to 1, about equally far apart, a spline's knots among them."""
    # At a knot accelerations change their course: in a stretch around it, they are not what they are at its ends.
    knots = path.knots if isinstance(path, Spline) else np.array(path.interval)
    breaks = (knots - knots[0]) / (knots[-1] - knots[0])
    # A count that is whole stays, despite rounding.
    counts = np.ceil(count * np.diff(breaks) * (1.0 - 1e-12)).astype(int)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(breaks[:-1], breaks[1:], counts, strict=True)]
    return np.concatenate([*pieces, [1.0]])


def _one_sided(a: np.ndarray, b: np.ndarray, c: np.ndarray, limits: Bounds) -> tuple[np.ndarray, ...]:
    """Return lower <= a u + b x + c <= upper as inequalities <= 0, of the bounds that are finite."""
    # Each is divided by the larger of its two bounds, so that all numbers are about 1.
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in limits))
    width = np.where(size > 0.0, size, 1.0)
    upper, lower = np.isfinite(limits.upper), np.isfinite(limits.lower)
    over = [(e / width)[:, upper] for e in (a, b, c - np.where(upper, limits.upper, 0.0))]
    under = [(-e / width)[:, lower] for e in (a, b, c - np.where(lower, limits.lower, 0.0))]
    return tuple(np.concatenate(pair, axis=1) for pair in zip(over, under, strict=True))


# --- the library toppra, an extra: imported when it is used, and not before ---


def squared_speeds(
    grid: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, ceiling: np.ndarray
) -> tuple[np.ndarray, int | None]:
    """Return the largest x from 0 to 0 with a u + b x + c <= 0 and x <= ceiling, u = dx/ds / 2, and None.

    If there is none, return zeros, and the point of the grid from which no way leads on. The grid has the shape
    (n + 1,), as x and the ceiling; a, b and c have (n + 1, rows).
    """
    what = "time-optimal path parametrisation"
    algorithm, constraint = (package(f"toppra.{part}", what, "toppra") for part in ("algorithm", "constraint"))

    class Given(constraint.LinearConstraint):  # F (a u + b x + c) <= g; its base is there only if toppra is
        def __init__(self) -> None:
            super().__init__()
            self.identical, self.dof = True, 1  # one F and g for all points

        def compute_constraint_params(self, path: Any, gridpoints: np.ndarray) -> Any:
            # At a point and, with the x that u leads to, x + 2 u ds, at the next; after the last, at that again.
            step = 2.0 * np.diff(gridpoints)[:, None]
            following = [np.concatenate([e[1:], e[-1:]]) for e in (a, b, c)]
            following[0][:-1] += step * b[1:]
            rows = [np.concatenate(pair, axis=1) for pair in zip((a, b, c), following, strict=True)]
            count = rows[0].shape[1]
            bound = np.stack([np.zeros_like(ceiling), np.minimum(ceiling, LARGEST)], axis=1)
            return *rows, np.eye(count), np.zeros(count), None, bound

    path = SimpleNamespace(path_interval=(grid[0], grid[-1]), dof=1)
    logger = logging.getLogger("toppra")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # it tells about failures on the standard error: here they become errors
    try:
        solver = algorithm.TOPPRA([Given()], path, gridpoints=grid, solver_wrapper="seidel")
        found: Any = solver.compute_parameterization(0.0, 0.0, return_data=True)
    finally:
        logger.setLevel(level)
    _, speeds, _, reached = found
    if speeds is not None and not np.isnan(speeds).any():
        return speeds**2, None
    # Where the way back from the end breaks off, or else the way forth.
    broken = np.flatnonzero(np.isnan(reached).any(axis=1))[-1:]
    ends = broken if broken.size or speeds is None else np.flatnonzero(np.isnan(speeds))
    return np.zeros_like(grid), int(ends[0]) if ends.size else 0
