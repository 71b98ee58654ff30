"""Time-optimal motion along a path, under velocity, acceleration and torque limits.

Along a path q(s), with x = (ds/dt)^2 and u = d2s/dt2, velocities are q' sqrt(x), accelerations q' u + q'' x, torques
    tau = a(s) u + b(s) x + c(s),
    c = tau(q, 0, 0),   a = tau(q, 0, q') - c,   b = tau(q, q', q'') - c,
linear in u and x: one call of the compiled inverse dynamics for all points of the path. What is left is two linear
programs a point in two unknowns, backwards for the speeds from which one can still stop, forwards for the largest of
them; these are the library `toppra`'s. Springs and dry friction go into c. Damping adds d(s) sqrt(x), which is concave:
    sqrt(x) <= (x + x0) / (2 sqrt(x0))   for every x0,   with equality at x0,
so with the x of one solution as x0 of the next, each is allowed and none is slower than the one before. Where damping
helps to brake, it is left out.

Source: Pham and Pham, A new approach to time-optimal path parameterization based on reachability analysis (2018);
Bobrow, Dubowsky and Gibson (1985) for the problem; Lipp and Boyd, Variations and extension of the convex-concave
procedure (2016), for damping.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.checked_numbers import whole
from cardan._algebra.errors import MechanismError, ParameterError, PathError, UnsupportedError
from cardan._dynamics.algorithms.configuration import difference
from cardan._dynamics.algorithms.passive import passive_forces
from cardan._dynamics.algorithms.rnea import inverse_dynamics
from cardan._dynamics.call.signature import check_model
from cardan._motion.trajectories.allowed import Bounds, bounds, check_limited, dof_name
from cardan._motion.trajectories.local import checked_configurations
from cardan._motion.trajectories.piecewise import PiecewisePolynomial
from cardan._motion.trajectories.spline import Spline
from cardan._motion.trajectories.time_laws import TimeLaw
from cardan._motion.trajectories.timed import Timed
from cardan._motion.trajectories.toppra_package import squared_speeds
from cardan._motion.trajectories.trajectory import Trajectory
from cardan._robot.model import Model

WHERE = "time_optimal"
STANDSTILL = 1e-9
"""Of the largest tangent of a path: one this small is no direction."""

CHECKED = 10
"""Points in each stretch of the grid at which the limits are looked at again when all is done."""

FINEST = 8
"""How many times as many points as asked for a grid has at most."""

PASSES = 3
"""How often damping is taken into account anew: the third pass changes the seventh digit of the time."""

CLOSE = 0.999
"""The speed at which the limits hold between the points of the grid, relative to that at them, below which a finer grid
is worth its time."""


class Limits(NamedTuple):
    """Bounds of velocities, accelerations and torques, and whether friction, damping and springs count as torques."""

    passive: bool
    velocity: Bounds
    acceleration: Bounds
    effort: Bounds


class Rows(NamedTuple):
    """Inequalities a u + b x + c + d sqrt(x) <= 0 at n points of a path, and x <= ceiling.

    a, b, c and d have the shape (n, rows), each row divided by the width of its bound; `ceiling` (n,). d >= 0.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    ceiling: np.ndarray

    def linear(self, x0: np.ndarray) -> Rows:
        """Return linear inequalities that imply these, and are the same at x0, shape (n,); at x0 = 0, without d."""
        root, there = np.sqrt(x0)[:, None], (x0 > 0.0)[:, None]
        slope = np.where(there, 0.5 * self.d / np.where(there, root, 1.0), 0.0)
        return self._replace(b=self.b + slope, c=self.c + slope * root**2)

    def gentle(self) -> np.ndarray:
        """Return x0 at which the damping takes half of the room there is to stand, shape (n,); a first guess."""
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.where(self.d > 0.0, np.maximum(-self.c, 0.0) / self.d, np.inf).min(axis=1, initial=np.inf)
        return np.where(np.isfinite(root), root**2, 0.0)


def time_optimal(
    model: Model,
    path: Any,
    *,
    velocity: Any = None,
    acceleration: Any = None,
    effort: Any = None,
    passive: bool = False,
    gridpoints: int = 200,
) -> Timed:
    """Return the fastest motion along a path, from rest to rest, within limits.

    Args:
        model: the robot whose inverse dynamics the torques are.
        path: a `Trajectory`, of which the path alone counts, and which must not stand still on the way; or
            configurations to pass through, shape (n, nq): then the path is the spline through them over the distances.
        velocity: largest velocities [rad/s, m/s], one number or shape (nv,); None for the model's.
        acceleration: largest accelerations [rad/s^2, m/s^2], one number or shape (nv,); None for none.
        effort: largest efforts [N m, N], one number or shape (nv,); None for the model's.
        passive: whether the efforts must also overcome the joints' friction, damping and springs (`passive_forces`).
        gridpoints: into how many stretches the path is divided, at least; up to eight times as many are taken where
            torques change fast.

    Returns:
        A trajectory, from time 0. Limits hold at the points of the grid and several between any two.

    Raises:
        PathError: where the limits do not let it follow the path; says where and which joint.
        ParameterError: for a joint that moves without any limit of acceleration or effort, a path that stands still.
        UnsupportedError: for limits of effort of a robot with closed loops.
        MechanismError: for a path of another robot; with `passive`, joints with efforts of their own (`Joint.efforts`).
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
        raise MechanismError(
            f"{WHERE}: the path is of {curve.model.name!r} (nq = {curve.model.nq}), expected {expected}"
        )
    if passive:
        _check_passive(model)
    limits = Limits(
        passive,
        bounds(WHERE, "velocity", velocity, model, (model.velocity_lower, model.velocity_upper)),
        bounds(WHERE, "acceleration", acceleration, model),
        bounds(WHERE, "effort", effort, model, (model.effort_lower, model.effort_upper)),
    )
    if model.closures and limits.effort.finite.any():
        why = "give effort=inf, and acceleration= for the joints that move"
        raise UnsupportedError("efforts within closed loops", WHERE, why)  # inverse dynamics is the tree's
    count, (law, speed, worst) = gridpoints, _fastest(model, curve, limits, gridpoints)
    while speed < CLOSE and count < FINEST * gridpoints:
        count *= 2
        law, speed, worst = _fastest(model, curve, limits, count)
    if not speed > 0.0:
        raise PathError(_own(curve, worst), "no speed is slow enough there; more gridpoints= may find one.")
    return Timed(curve, law.stretched(law.duration / speed))


def _check_passive(model: Model) -> None:
    for node in model.nodes:
        if node.joint.has_efforts:
            what = f"efforts of joint {node.name!r} itself, which may depend on its speed in any way"
            raise UnsupportedError(what, f"{WHERE}(passive=True)", "leave passive=False, and room in effort=")


def _through(model: Model, q: Any) -> Spline:
    """Return the spline through configurations, over the distances between them; what comes twice in a row, once."""
    q = checked_configurations(WHERE, model, q, "path", ndim=2)
    far = np.linalg.norm(difference(model, q[:-1], q[1:]), axis=-1) if len(q) > 1 else np.zeros(0)
    kept = np.concatenate([[True], far > 0.0])
    if kept.sum() < 2:
        raise ParameterError(
            f"{WHERE}: path", got=f"{len(q)} configuration(s), all the same", expected="two that differ"
        )
    return Spline(model, np.concatenate([[0.0], np.cumsum(far[kept[1:]])]), q[kept])


def _fastest(model: Model, path: Trajectory, limits: Limits, count: int) -> tuple[TimeLaw, float, float]:
    """Return the law on a grid, at what share of its speed all limits hold between its points, and where just so."""
    grid = _grid(path, count)
    rows = _rows(model, path, limits, grid)
    x = _profile(rows.linear(rows.gentle()), grid, path, model, limits)
    for _ in range(PASSES if rows.d.any() else 0):
        x = _profile(rows.linear(x), grid, path, model, limits)
    speeds = np.sqrt(x)
    steps = np.diff(grid)
    if (speeds[:-1] + speeds[1:] <= 0.0).any():
        k = int(np.argmin(speeds[:-1] + speeds[1:]))
        raise PathError(_own(path, grid[k]), "it would have to stand still there.")
    return _law(grid, speeds), *_speed_between(model, path, limits, grid, x, np.diff(x) / (2.0 * steps))


def _grid(path: Trajectory, count: int) -> np.ndarray:
    """Return points of the path from 0 to 1, about equally far apart, a spline's knots among them.

    At a knot accelerations change their course: in a stretch around it, they are not what they are at its ends.
    """
    knots = path.knots if isinstance(path, Spline) else np.array(path.interval)
    breaks = (knots - knots[0]) / (knots[-1] - knots[0])
    counts = np.ceil(count * np.diff(breaks) * (1.0 - 1e-12)).astype(int)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(breaks[:-1], breaks[1:], counts, strict=True)]
    return np.concatenate([*pieces, [1.0]])


def _own(path: Trajectory, s: float) -> float:
    """Return a point of the path, from 0 to 1, in its own time."""
    return path.interval[0] + s * path.duration


def _tangents(path: Trajectory, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, q', q'' at points of the path from 0 to 1."""
    q, v, a = path.evaluated(path.interval[0] + path.duration * s)
    return q, v * path.duration, a * path.duration**2


def _rows(model: Model, path: Trajectory, limits: Limits, grid: np.ndarray) -> Rows:
    """Return the inequalities at points of the path from 0 to 1."""
    q, first, second = _tangents(path, grid)
    _check_moves(path, grid, first)
    hint = "Give acceleration= or effort=, or the limit in the robot's description."
    limited = limits.acceleration.finite | limits.effort.finite
    check_limited(WHERE, "acceleration or effort", limited, np.abs(first).max(axis=0) > 0.0, model, hint)
    zero = np.zeros_like(first)
    c, a, b = inverse_dynamics(model, q, np.stack([zero, zero, first]), np.stack([zero, first, second]))
    still, damping = _passive(model, q, first) if limits.passive else (zero, zero)
    of_effort = _one_sided(a - c, b - c, c + still, damping, limits.effort)
    of_acceleration = _one_sided(first, second, zero, zero, limits.acceleration)
    a, b, c, d = (np.concatenate(pair, axis=1) for pair in zip(of_effort, of_acceleration, strict=True))
    return Rows(a, b, c, np.maximum(d, 0.0), limits.velocity.along(first).min(axis=-1) ** 2)


def _passive(model: Model, q: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return springs and dry friction on the way forwards, and the damping at ds/dt = 1, which grows with the speed."""
    one, two = passive_forces(model, q, np.stack([first, 2.0 * first]))
    return 2.0 * one - two, two - one


def _check_moves(path: Trajectory, grid: np.ndarray, tangents: np.ndarray) -> None:
    sizes = np.linalg.norm(tangents, axis=-1)
    k = int(np.argmin(sizes))
    if not sizes[k] > STANDSTILL * sizes.max():
        hint = "Give the configurations instead, or a Spline without start_velocity and end_velocity."
        got = f"one that stands still at its s = {_own(path, grid[k]):.6g}"
        raise ParameterError(f"{WHERE}: path", got=got, expected="a path with a direction everywhere", hint=hint)


def _one_sided(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, limits: Bounds) -> tuple[np.ndarray, ...]:
    """Return lower <= a u + b x + c + d sqrt(x) <= upper as inequalities <= 0, of the bounds that are finite."""
    width = _width(limits)
    upper, lower = np.isfinite(limits.upper), np.isfinite(limits.lower)
    over = [(e / width)[:, upper] for e in (a, b, c - np.where(upper, limits.upper, 0.0), d)]
    under = [(-e / width)[:, lower] for e in (a, b, c - np.where(lower, limits.lower, 0.0), d)]
    return tuple(np.concatenate(pair, axis=1) for pair in zip(over, under, strict=True))


def _width(limits: Bounds) -> np.ndarray:
    """Return a size for each bound, by which its inequality is divided."""
    sizes = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in limits]
    size = np.maximum(*sizes)
    return np.where(size > 0.0, size, 1.0)


def _profile(rows: Rows, grid: np.ndarray, path: Trajectory, model: Model, limits: Limits) -> np.ndarray:
    """Return x at the points of the grid.

    Raises:
        PathError: where there is none.
    """
    for end in (0, -1):  # there it rests
        _check_holds(rows, grid, end, path, model, limits)
    scale = _scale(rows)
    x, stuck = squared_speeds(grid, rows.a * scale, rows.b * scale, rows.c, rows.ceiling / scale)
    if stuck is not None:
        for k in (stuck, int(np.argmax(rows.c.max(axis=1)))):  # there, or where it would be hardest to stand
            _check_holds(rows, grid, k, path, model, limits)
        raise PathError(_own(path, grid[stuck]), "no speed there is slow enough for what comes after, or fast enough.")
    return x * scale


def _check_holds(rows: Rows, grid: np.ndarray, k: int, path: Trajectory, model: Model, limits: Limits) -> None:
    """Raise where a joint's effort is not enough to stand still at a point of the path."""
    if (rows.c[k] <= 0.0).all():
        return
    q = path.evaluated(np.array(_own(path, grid[k]))).q
    held = inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))
    if limits.passive:
        held = held + passive_forces(model, q, np.zeros(model.nv))
    j = int(np.argmax(np.maximum(held - limits.effort.upper, limits.effort.lower - held)))
    allowed = f"{limits.effort.lower[j]:.6g} to {limits.effort.upper[j]:.6g}"
    why = f"to stand there {dof_name(model, j)} needs {held[j]:.6g}, allowed is {allowed} (N m, N)."
    raise PathError(_own(path, grid[k]), why)


def _scale(rows: Rows) -> float:
    """Return a typical x, to which the linear programs are scaled: their tolerances are absolute numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(rows.a > 0.0, -rows.c / rows.a, np.inf).min(axis=1, initial=np.inf)
    candidates = [
        np.median(e[np.isfinite(e) & (e > 0.0)]) for e in (reach, rows.ceiling) if (np.isfinite(e) & (e > 0.0)).any()
    ]
    return float(min(candidates, default=1.0))


def _law(grid: np.ndarray, speeds: np.ndarray) -> TimeLaw:
    """Return the law of constant d2s/dt2 between points of the grid with speeds ds/dt."""
    times = 2.0 * np.diff(grid) / (speeds[:-1] + speeds[1:])
    pieces = np.stack([grid[:-1], speeds[:-1] * times, 0.5 * np.diff(speeds) * times], axis=1)
    return TimeLaw(PiecewisePolynomial(np.concatenate([[0.0], np.cumsum(times)]), pieces))


def _speed_between(
    model: Model, path: Trajectory, limits: Limits, grid: np.ndarray, x: np.ndarray, u: np.ndarray
) -> tuple[float, float]:
    """Return to which share of its speed the motion must be slowed for the limits to hold everywhere, and where for.

    At a fraction k of the speed, a u + b x becomes k^2 times as large, d sqrt(x) k times, and c stays.
    """
    part = np.linspace(0.0, 1.0, CHECKED + 1)
    s = (grid[:-1, None] + part * np.diff(grid)[:, None]).ravel()
    rows = _rows(model, path, limits, s)
    along, push = (x[:-1, None] + part * np.diff(x)[:, None]).ravel(), np.repeat(u, len(part))
    moving = rows.a * push[:, None] + rows.b * along[:, None]
    damped, room = rows.d * np.sqrt(along)[:, None], np.maximum(-rows.c, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = 2.0 * room / (damped + np.sqrt(damped**2 + 4.0 * moving * room))  # of moving k^2 + damped k = room
        share = np.where(moving + damped > room, root, 1.0).min(axis=1, initial=1.0)
        share = np.minimum(share, np.where(along > rows.ceiling, np.sqrt(rows.ceiling / along), 1.0))
    worst = int(np.argmin(share))
    return float(share[worst]), float(s[worst])
