"""Optimal control by iterated Riccati recursions (iLQR): the best controls near a motion, and again near the new one.

A pass linearises the dynamics and expands the costs to second order along the motion, finds k and K
(`riccati_sweep`), and moves again from the start with

    u = u_near + share k + K x

cut off at the bounds. The whole step is tried first, then 8 shares of it, each half the one before, all at once. One is
taken if the cost falls by at least a ten thousandth of what the expansion says,

    -share sum Q_u . k - 1/2 share^2 sum k . Q_uu k

If none does, or Q_uu is not positive definite somewhere, mu grows tenfold, relative to the largest second derivative by
a control. It falls again with every step taken, and where a step would gain less than the tolerance: that may be due to
mu. The search ends when this holds of a whole step without mu.

Second derivatives of the dynamics are left out (Gauss-Newton), or a second recursion has them: weighed with the
costates lambda_t = q_t + A^T lambda_(t+1), as Newton's method has it. It is tried beside the first one, for far from
the end it may lead nowhere.

States to begin with make it multiple shooting (FDDP): a motion through them has gaps c between where a step leads and
the next state. The recursion counts them, x_(t+1) = A x + B u + c, and a share of it leaves 1 - share of each, so that
the first whole step closes them. Until then costs are compared by a merit, cost + nu sum |c|, whose expansion is

    share g + 1/2 share^2 h - share nu sum |c|

with g and h what x and u of the whole step add to the cost to first and second order. nu is as large as makes this fall
by half of its last term or more, and never becomes smaller.

Problems of a batch descend together, each with its own share, mu and end. None depends on the others.

Source: Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors through online trajectory optimization
(2012); for bounds, Tassa, Mansard and Todorov, Control-limited differential dynamic programming (2014); for costates,
Pantoja, Differential dynamic programming and Newton's method (1988). For gaps, Giftthaler et al., A family of iterative
Gauss-Newton shooting methods (2018), and Mastalli et al., Crocoddyl (2020); for the merit, Nocedal and Wright,
Numerical Optimization (2006), section 18.3.
Cost: of an iteration, T steps one after the other, their derivatives all at once, and a Riccati sweep.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import DTypeError, NotFiniteError, ParameterError, ShapeError, check_known
from cardan._dynamics.call.arguments import check_configuration
from cardan._dynamics.call.public import Reals
from cardan._motion.optimal.constraints import Begin, Constraints, descended, penalised
from cardan._motion.optimal.motions import Found, Motion, Motions, total
from cardan._motion.optimal.problem import STATE, Problem
from cardan._motion.optimal.riccati_sweep import Sweep, sweep
from cardan._motion.tasks.task import checked_array

WHERE = "optimal.solve"
HESSIANS = ("gauss-newton", "exact")
SHARES = 0.5 ** np.arange(1, 9)
ARMIJO = 1e-4
LEAST_MU, MOST_MU = 1e-6, 1e10
THROUGH = "states: "  # names of states to begin with, beside those of parameters
COMPILED: ByIdentity[Problem, dict[bool, tuple[Motions, Constraints | None]]] = ByIdentity()  # of problems that live
TINY = 1e-14  # of the cost a motion begins with: rounding errors, whatever the tolerance


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The motions found. Returned by `solve`.

    Attributes:
        q: configurations [rad, m], shape (..., T + 1, nq).
        v: velocities [rad/s, m/s], shape (..., T + 1, nv).
        u: controls, shape (..., T, m), within the bounds.
        K: gains, shape (..., T, m, 2 nv): u + K x is the best control near the motion, x = (difference(q_near, q),
            v - v_near).
        cost: of each problem, shape (...).
        left: what another whole step would gain, as far as the expansion says, shape (...).
        converged: whether that is less than the tolerance, and constraints are met, shape (...).
        iterations: how many each problem took, shape (...).
        violation: of the worst constraint [its unit], or the largest gap that is left [rad, m, rad/s, m/s], shape
            (...); 0 without any.

    Examples:
        >>> list(cardan.optimal.Solution.__slots__)[-3:]
        ['converged', 'iterations', 'violation']
    """

    q: Reals
    v: Reals
    u: Reals
    K: Reals
    cost: Reals
    left: Reals
    converged: Any
    iterations: Any
    violation: Reals


def solve(
    problem: Problem,
    q0: ArrayLike,
    v0: ArrayLike,
    u: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    states: tuple[ArrayLike, ArrayLike] | None = None,
    iterations: int = 200,
    tolerance: float = 1e-6,
    hessian: Literal["gauss-newton", "exact"] = "gauss-newton",
    violation: float = 1e-6,
) -> Solution:
    """Return motions from given states whose costs are least, near the controls to begin with.

    Args:
        problem: what moves, and what it costs.
        q0: the first configurations [rad, m], shape (..., nq).
        v0: the first velocities [rad/s, m/s], shape (..., nv).
        u: controls to begin with [the caller's unit], shape (..., T, m), T the number of knots: zeros, those that hold
            the robot, or those of the last solution. What is outside the bounds is moved to them.
        parameters: values of the functions' further arguments by name [their units], each of shape (..., T + 1, *own).
            One that is the same at all knots has shape (..., 1, *own), or its own.
        states: configurations and velocities to begin with [rad, m] [rad/s, m/s], shapes (..., T + 1, nq) and (..., T +
            1, nv), for multiple shooting. They need not be a motion of the controls, and the first ones are q0 and v0.
            By default they are the motion of the controls, which a system that falls over may take far from what is
            asked for.
        iterations: at most so many.
        tolerance: of what is left to gain, relative to the cost [-].
        hessian: `"exact"` adds the second derivatives of the step. Each iteration then tries both and takes the better.
            It takes longer, and converges quadratically in the end. Those of forward dynamics are known: a program of
            9 000 operations for an arm, and of 220 000 for a humanoid.
        violation: of constraints that is allowed [their units]. With constraints there are several descents, each of so
            many iterations at most (`optimal/constraints.py`).

    Returns:
        What was found: a local optimum where it has `converged`. A problem that has not keeps its best motion.

    Raises:
        ShapeError, DTypeError, NotFiniteError: for arrays that do not fit, and controls whose motion is not finite.
        UnknownNameError: for a parameter that no function has.
        ParameterError: for a missing parameter, and a number of iterations, a tolerance or a Hessian that is none.

    Examples:
        >>> @cardan.function(shapes={"u": (1,)})
        ... def step(model, q, v, u):
        ...     v_next = v + 0.05 * cardan.forward_dynamics(model, q, v, [u[0], 0.0])
        ...     return cardan.integrate(model, q, 0.05 * v_next), v_next
        >>> @cardan.function(shapes={"u": (1,)}, returns=())
        ... def cost(model, q, v, u):
        ...     return 1e-3 * u[0] * u[0]
        >>> @cardan.function(returns=())
        ... def final(model, q, v):
        ...     return 10.0 * (q @ q + v @ v)
        >>> problem = cardan.optimal.Problem(cardan.robots.cart_pole().model(), step, cost, final, -50.0, 50.0)
        >>> found = cardan.optimal.solve(problem, [0.5, 0.3], [0.0, 0.0], np.zeros((40, 1)))
        >>> bool(found.converged), found.q.shape, found.K.shape
        (True, (41, 2), (40, 1, 4))
    """
    iterations, tolerance = whole("iterations", iterations, 0), positive("tolerance", tolerance)
    violation = positive("violation", violation)
    if hessian not in HESSIANS:
        raise ParameterError("hessian", got=hessian, expected=", ".join(map(repr, HESSIANS)))
    batch, start, controls, given = checked_problem(WHERE, problem, q0, v0, u, parameters, states)
    begin = tuple(given.pop(THROUGH + name, controls[:0]) for name in STATE)
    motions, constraints = compiled(problem, states is not None)

    def descend(problems: Any, begin: Begin, parameters: Any, most: int = iterations) -> Found:
        at, (q, v, u) = (start[0][problems], start[1][problems]), begin
        near = first(WHERE, motions, at, u, parameters, (q, v) if motions.has_gaps else None)
        return _descended(motions, near, parameters, most, tolerance, hessian == "exact")

    if constraints is None:
        found = descend(slice(None), (*begin, controls), given)
        worst = found.gap
    else:
        found, worst = descended(constraints, descend, (*begin, controls), given, violation)
    parts = zip((*found[:8], worst), (1, 1, 1, 1, 0, 0, 0, 0, 0), strict=True)
    return Solution(*(batched(a, batch, problems) for a, problems in parts))


def compiled(problem: Problem, has_gaps: bool = False) -> tuple[Motions, Constraints | None]:
    """Return what descends, and the constraints if there are any, made once for a problem."""
    known = COMPILED.setdefault(problem, {})
    if has_gaps not in known:
        constraints = Constraints(problem) if problem.constraints else None
        known[has_gaps] = Motions(penalised(problem) if constraints else problem, has_gaps), constraints
    return known[has_gaps]


def batched(array: np.ndarray, batch: tuple[int, ...], axis: int) -> Any:
    """Return an array with the batch in front; `axis` is where the problems are."""
    moved = np.moveaxis(array, axis, 0)
    return moved.reshape((*batch, *moved.shape[1:]))[()]


def checked_problem(where: str, problem: Any, q0: Any, v0: Any, u: Any, parameters: Any, states: Any = None) -> Any:
    """Return the batch, the first states and controls, and the parameters of all states, as they are computed with.

    States to begin with are among the parameters, under names that begin with `THROUGH`.
    """
    if not isinstance(problem, Problem):
        raise DTypeError(where, "problem", got=f"a {type(problem).__name__}", expected="a cardan.optimal.Problem")
    if not isinstance(parameters, Mapping | None):
        raise DTypeError(where, "parameters", got=f"a {type(parameters).__name__}", expected='{"goal": goal}')
    model, cores, parameters = problem.model, problem.parameters, problem.defaults | {**(parameters or {})}
    for name in parameters:
        check_known("parameter", name, cores, where)
    if parameters.keys() != cores.keys():
        raise ParameterError(f"parameters of {where}", got=list(parameters), expected=f"all of {cores}, by name")
    if states is not None:
        if not isinstance(states, (tuple, list)) or len(states) != 2:
            raise DTypeError(
                where, "states", got=f"a {type(states).__name__}", expected="configurations and velocities"
            )
        named = {THROUGH + name: a for name, a in zip(STATE, states, strict=True)}
        cores, parameters = cores | {THROUGH + "q": (model.nq,), THROUGH + "v": (model.nv,)}, parameters | named
    arrays = {"q0": checked_array(where, "q0", q0, (model.nq,)), "v0": checked_array(where, "v0", v0, (model.nv,))}
    arrays["u"] = checked_array(where, "u", u, (problem.controls,))
    if arrays["u"].ndim < 2 or not arrays["u"].shape[-2]:
        raise ShapeError(where, "u", got=arrays["u"].shape, expected=f"(..., T, {problem.controls}): one for each knot")
    T = arrays["u"].shape[-2]
    leads = [arrays["q0"].shape[:-1], arrays["v0"].shape[:-1], arrays["u"].shape[:-2]]
    values: dict[str, np.ndarray] = {}
    for name, core in cores.items():
        array = checked_array(where, name, parameters[name], core)
        array = array if array.ndim > len(core) else array[None]
        lead = array.shape[: array.ndim - len(core)]
        if lead[-1] not in (1, T + 1):
            expected = f"(..., {T + 1}, *{core}), or one for all states"
            raise ShapeError(where, name, got=np.shape(parameters[name]), expected=expected)
        values[name], leads = array, [*leads, lead[:-1]]
    try:
        batch = np.broadcast_shapes(*leads)
    except ValueError:
        raise ShapeError(where, "arrays", got=leads, expected="leading dimensions that broadcast") from None

    def whole_of(array: np.ndarray, *shape: int) -> np.ndarray:
        """Return one of shape (problems, *shape), or (knots, problems, ...)."""
        full = np.broadcast_to(array, (*batch, *shape)).reshape(math.prod(batch), *shape)
        return np.ascontiguousarray(full)

    start = whole_of(arrays["q0"], model.nq), whole_of(arrays["v0"], model.nv)
    check_configuration(where, "q0", start[0], model.unit_parts)
    controls = np.clip(np.moveaxis(whole_of(arrays["u"], T, problem.controls), 1, 0), *problem.bounds)
    given = {n: np.moveaxis(whole_of(a, T + 1, *cores[n]), 1, 0) for n, a in values.items()}
    for q in given.get(THROUGH + "q", ()):
        check_configuration(where, THROUGH + "q", q, model.unit_parts)
    return batch, start, np.ascontiguousarray(controls), {n: np.ascontiguousarray(a) for n, a in given.items()}


def _descended(
    motions: Motions, motion: Motion, given: Any, iterations: int, tolerance: float, is_exact: bool
) -> Found:
    (T, N, m), n = motion.u.shape, 2 * motions.model.nv
    K, nu = np.zeros((T, N, m, n)), np.zeros(N)
    mu, left, scale = np.zeros(N), np.full(N, np.inf), TINY * np.abs(motion.cost)
    done, converged, count = np.zeros(N, dtype=bool), np.zeros(N, dtype=bool), np.zeros(N, dtype=int)
    unsound = np.full(N, -1.0)  # the last mu with which Q_uu was not positive definite, at this motion
    for _ in range(iterations):
        live = np.flatnonzero(~done)
        if not len(live):
            break
        near, own = _of(motion, live), {name: _part(a, live) for name, a in given.items()}
        better, (taken, sound, calm) = near, np.zeros((3, len(live)), dtype=bool)
        for way in _swept(motions, near, own, mu[live], is_exact):
            back, gain = way.back, -(way.slope + 0.5 * way.curve)
            little = (gain <= tolerance * np.abs(near.cost) + scale[live]) & (near.gaps == 0.0)
            calm = np.where(way.sound, little, calm)  # the last that is sound says so, which is the exact one
            nu[live] = np.maximum(nu[live], way.least_nu(near))
            other, improved = _improved(motions, near, way, nu[live], own)
            better, taken, sound = _better(better, other, nu[live]), taken | improved, sound | way.sound
            K = _placed(K, live[way.sound], back.K, way.sound, within=True)
            left[live[way.sound]] = gain[way.sound]
        motion = _moved(motion, live, better, slice(None), within=True)
        less = np.where(mu[live] <= LEAST_MU, 0.0, 0.1 * mu[live])
        ended, held = calm & (mu[live] <= LEAST_MU), calm & ~taken & (less <= 2.0 * unsound[live])
        unsound[live] = np.where(taken, -1.0, np.where(sound, unsound[live], mu[live]))
        mu[live] = np.where(taken | calm, less, np.maximum(10.0 * mu[live], LEAST_MU))
        count[live] += 1
        converged[live] = ended
        done[live] = ended | held | (mu[live] > MOST_MU)
    gap = np.abs(motions.gaps(motion, given)).max((0, 2)) if motion.gaps.any() else np.zeros(N)
    return Found(*motion[:3], K, motion.cost, left, converged, count, gap)


def first(
    where: str,
    motions: Motions,
    start: tuple[np.ndarray, np.ndarray],
    u: np.ndarray,
    given: Any,
    states: tuple[np.ndarray, np.ndarray] | None = None,
) -> Motion:
    """Return the motion of the first controls, or that through states; NotFiniteError if it is none."""
    if states is None:
        found = motions.motion(start, u, given)
    else:
        q, v = (np.concatenate([at[None], a[1:]]) for at, a in zip(start, states, strict=True))
        found = motions.through((q, v), u, given)
    bad = np.flatnonzero(~np.isfinite(found.cost))
    if len(bad):
        hint = (
            "The motion of the first controls leaves what can be computed: begin with smaller ones, or shorter steps."
        )
        raise NotFiniteError(where, "cost", (int(bad[0]),), float(found.cost[bad[0]]), hint)
    return found


def _of(motion: Motion, problems: np.ndarray) -> Motion:
    q, v, u = (_part(a, problems) for a in motion[:3])
    return Motion(q, v, u, motion.cost[problems], motion.gaps[problems])


def _part(array: np.ndarray, problems: np.ndarray) -> np.ndarray:
    """Return that of some problems; an array of all of them is not copied."""
    return array if len(problems) == array.shape[1] else np.ascontiguousarray(array[:, problems])


def _better(one: Motion, other: Motion, nu: np.ndarray) -> Motion:
    """Return of each problem the motion of less merit."""
    less = np.flatnonzero(other.cost + nu * other.gaps < one.cost + nu * one.gaps)
    return _moved(one, less, other, less)


def _moved(motion: Motion, problems: np.ndarray, other: Motion, places: Any, *, within: bool = False) -> Motion:
    """Return the motions of some problems from the others at these places, and the rest as it is."""
    arrays = [(*m[:3], m.cost[None], m.gaps[None]) for m in (motion, other)]
    q, v, u, cost, gaps = (_placed(to, problems, of, places, within=within) for to, of in zip(*arrays, strict=True))
    return Motion(q, v, u, cost[0], gaps[0])


def _placed(array: np.ndarray, problems: np.ndarray, other: np.ndarray, places: Any, *, within: bool) -> np.ndarray:
    """Return an array with some columns from another, which it is itself if it has all; or write them within it."""
    if len(problems) == array.shape[1] == other.shape[1]:
        return other
    array = array if within else array.copy()
    array[:, problems] = other[:, places]
    return array


class Way(NamedTuple):
    """Where a recursion leads, and what a whole step of it adds to the cost, to first and to second order."""

    back: Sweep
    c: np.ndarray | None  # gaps, shape (T, problems, n)
    slope: np.ndarray
    curve: np.ndarray
    sound: np.ndarray  # whether Q_uu + mu is positive definite everywhere, and all of it finite

    def least_nu(self, near: Motion) -> np.ndarray:
        rises = self.slope + 0.5 * np.maximum(self.curve, 0.0)
        return np.divide(2.0 * rises, near.gaps, out=np.zeros_like(rises), where=self.sound & (near.gaps > 0.0))

    def fall(self, shares: np.ndarray, near: Motion, nu: np.ndarray) -> np.ndarray:
        """Return by how much the merit of shares of a step should fall, shape (shares, problems)."""
        return np.outer(shares, nu * near.gaps - self.slope) - 0.5 * np.outer(shares**2, self.curve)


def _swept(motions: Motions, near: Motion, given: Any, mu: np.ndarray, is_exact: bool) -> Iterator[Way]:
    """Yield the recursion without second derivatives of the dynamics, and that with them if they are asked for."""
    knots, P, p = motions.knots(near, given)
    size = np.abs(np.diagonal(knots.R, axis1=-2, axis2=-1)).max(axis=(0, 2))
    bounds = [limit - near.u for limit in motions.bounds] if motions.is_bounded else None
    mu = mu * np.where(size > 0.0, size, 1.0)
    c = motions.gaps(near, given) if motions.has_gaps else None
    for own in (knots, motions.with_curvature(knots, p, near, given)) if is_exact else (knots,):
        back = sweep(own, P, p, mu, bounds, c)
        adds = (total(back.slope), total(back.curve)) if c is None else motions.changes(own, c, P, p, back)
        sound = (back.least > 0.0).all(0) & np.isfinite(back.slope).all(0) & np.isfinite(adds[0])
        yield Way(back, c, *adds, sound)


def _improved(motions: Motions, near: Motion, way: Way, nu: np.ndarray, given: Any) -> tuple[Motion, np.ndarray]:
    """Return better motions where there are any, the same ones elsewhere, and where."""
    found, taken = near, np.zeros(len(nu), dtype=bool)
    merit, sound = near.cost + nu * near.gaps, way.sound
    for shares in (np.ones(1), SHARES):
        left = np.flatnonzero(sound & ~taken)
        if not len(left):
            break
        tried = _tried(motions, _of(near, left), way, left, shares, given)
        least = ARMIJO * way.fall(shares, near, nu)[:, left]
        tried_merit = tried.cost + np.tile(nu[left], len(shares)) * tried.gaps
        merits = np.where(np.isfinite(tried_merit), tried_merit, np.inf).reshape(len(shares), -1)
        fell = merit[left] - merits
        best = merits.argmin(0)
        rows = np.arange(len(left))
        good = (fell > np.maximum(least, 0.0))[best, rows]
        places = (best * len(left) + rows)[good]
        found = _moved(found, left[good], tried, places)
        taken[left[good]] = True
    return found, taken


def _tried(motions: Motions, near: Motion, way: Way, problems: np.ndarray, shares: np.ndarray, given: Any) -> Motion:
    """Return the motions of all shares of all problems, the problems of a share side by side."""
    times = len(shares)
    K, k, *c = (tiled(_part(a, problems), times) for a in (way.back.K, way.back.k, way.c) if a is not None)
    q, v, u = (tiled(a, times) for a in near[:3])
    near = Motion(q, v, u, near.cost, np.tile(near.gaps, times))
    own = {n: tiled(_part(a, problems), times) for n, a in given.items()}
    return motions.motion_near((q[0], v[0]), near, K, k, np.repeat(shares, len(problems)), own, *c)


def tiled(array: np.ndarray, times: int) -> np.ndarray:
    return array if times == 1 else np.concatenate([array] * times, axis=1)
