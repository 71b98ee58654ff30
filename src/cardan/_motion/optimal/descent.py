"""Optimal control by iterated Riccati recursions (iLQR): the best controls near a motion, and again near the new one.

A pass linearises the dynamics and expands the costs to second order along the motion, finds k and K
(`riccati_sweep`), and moves again from the start with

    u = u_near + share k + K x

cut off at the bounds. The whole step is tried first, then up to 8 shares of it, each half the one before, until one is
good enough: the cost falls by at least a ten thousandth of what the expansion says,

    -share sum Q_u . k - 1/2 share^2 sum k . Q_uu k

If none is, or Q_uu is not positive definite somewhere, mu grows tenfold. It keeps controls near: each one's entry of
the diagonal of Q_uu gets mu times itself, as Marquardt has it. So a strong joint is not held for the sake of a weak
one, whose entry may be 1e8 times as large. W = mu w keeps states near: w is the largest second derivative of costs by a
q, or by a v. Without W, a large mu takes feedback away, and what is unstable falls over in however short a step. Up to
1/100 of w does it. W does not grow beyond, since mu alone makes steps so small that bounds cut off nothing of the
feedback.

mu grows up to 1, too, if no more than a hundredth of the step is taken. It falls again where half of it is taken or
more, and where a step would gain less than the tolerance: that may be due to mu. Between these it stays, for a share of
a third says that mu is about right. The search ends when a whole step without mu would gain so little. It ends without
convergence when no mu gains at a motion.

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

Several iterations are one call of a kernel (`descent_kernel`), for up to eight problems side by side (`workspace`),
which share a recursion in the lanes of vectors.

Source: Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors through online trajectory optimization
(2012), equation 10 for states that stay near; for bounds, Tassa, Mansard and Todorov, Control-limited differential
dynamic programming (2014); for mu of each control, Marquardt, An algorithm for least-squares estimation of nonlinear
parameters (1963); for costates, Pantoja, Differential dynamic programming and Newton's method (1988). For gaps,
Giftthaler et al., A family of iterative Gauss-Newton shooting methods (2018), and Mastalli et al., Crocoddyl (2020);
for the merit, Nocedal and Wright, Numerical Optimization (2006), section 18.3.
Cost: of an iteration, T steps one after the other, their derivatives all at once, and a Riccati sweep.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.by_identity import ByIdentity
from cardan._algebra.checked_numbers import positive, whole
from cardan._algebra.errors import DTypeError, NotFiniteError, ParameterError, ShapeError, check_known, check_one_of
from cardan._algebra.explained import explained_keywords
from cardan._compiler.runtime.threads import split
from cardan._dynamics.call.arguments import broadcast, check_configuration, numeric_array
from cardan._dynamics.call.public import Reals
from cardan._dynamics.functions.derivatives import derivative, gradient, hessian
from cardan._motion.optimal.constraints import Begin, Constraints, Given, Terms, descended, penalised
from cardan._motion.optimal.descent_kernel import Descent
from cardan._motion.optimal.motions import ByName, Found, Motions
from cardan._motion.optimal.problem import STATE, Problem
from cardan._motion.optimal.workspace import BEGIN, workspace
from cardan._motion.tasks.task import checked_array

WHERE = "optimal.solve"
HESSIANS = ("gauss-newton", "exact")
TOGETHER, CROWD = 8, 64  # problems side by side: in iterations, which take memory for derivatives, and in motions alone
AT_ONCE = 8  # iterations: problems that end leave their places to others afterwards, and an interrupt is seen
ROUNDING = 1e-12  # gaps of a motion found before, relative to its states
THROUGH = "states: "  # names of states to begin with, beside those of parameters
COMPILED: ByIdentity[Problem, dict[bool, tuple[Motions, Constraints | None]]] = ByIdentity()  # of problems that live
FAR = "The motion of the first controls leaves what can be computed: begin with smaller ones, or shorter steps."
NO_COST = "All states of the motion are finite: it is the cost or final_cost that has no number for one of them."
NO_SLOPE = "One reason is a square root at 0, such as the length of v at rest."
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
        left: what the last whole step would have gained, as far as its expansion says, shape (...). Below 0 where it
            would have closed gaps between states and cost more.
        converged: whether that is less than the tolerance, and constraints are met, shape (...).
        iterations: how many each problem took, shape (...).
        violation: of the worst constraint [its unit], or the largest gap that is left [rad, m, rad/s, m/s], shape
            (...); 0 without any. An inequality that is met, but pushes as though it were not, counts by its distance.
        multipliers: of constraints [cost per unit of theirs], shape (..., T + 1, k): those of equalities and
            inequalities at all knots, then those of the last state. The others are 0.
        weight: that of the penalties they came with, rho [cost per squared unit], shape (...); NaN without constraints.

    Examples:
        >>> list(cardan.optimal.Solution.__slots__)[-5:]
        ['converged', 'iterations', 'violation', 'multipliers', 'weight']
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
    multipliers: Reals
    weight: Reals


@explained_keywords
def solve(
    problem: Problem,
    q0: ArrayLike,
    v0: ArrayLike,
    u: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    states: tuple[ArrayLike, ArrayLike] | None = None,
    near: Solution | None = None,
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
        near: the solution of a problem like this one, such as the last one of a loop of control. Constraints begin
            with its multipliers and weights, where it has converged. It says nothing of controls and states.
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
        ShapeError, DTypeError, NotFiniteError: for arrays that do not fit, controls whose motion or cost is not finite,
            and functions without derivatives there, such as a square root at 0.
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
    check_one_of("hessian", hessian, HESSIANS)
    batch, begin, given = checked_problem(WHERE, problem, q0, v0, u, parameters, states)
    motions, constraints = compiled(problem, states is not None)

    def descend(begin: Begin, parameters: Given, most: int = iterations) -> Found:
        near = first(WHERE, motions, begin, parameters)
        return _descended(motions, near, parameters, most, tolerance, hessian == "exact")

    terms = _terms_near(near, batch, Terms.none(begin[2].shape, constraints))
    if constraints:
        found, terms = descended(constraints, descend, begin, given, terms, violation)
    else:
        found = descend(begin, given)
    return Solution(*(batched(a, batch) for a in (*found, *terms)))


def _terms_near(near: Any, batch: tuple[int, ...], none: Terms) -> Terms:
    """Return the terms of a solution, of problems that have converged, for all problems of a batch."""
    if near is None:
        return none
    if not isinstance(near, Solution):
        raise DTypeError(WHERE, "near", got=f"a {type(near).__name__}", expected="a cardan.optimal.Solution")
    (knots, _, k), lead = none.multipliers.shape, near.multipliers.shape[:-2]
    if near.multipliers.shape[-2:] != (knots, k) or broadcast(WHERE, {"near": lead, "the problems": batch}) != batch:
        expected = f"{(*batch, knots, k)}: a solution with as many knots, constraints and problems, or of one problem"
        raise ShapeError(WHERE, "near.multipliers", got=near.multipliers.shape, expected=expected)
    is_known, weight = (np.broadcast_to(own, batch).reshape(-1) for own in (near.converged, near.weight))
    multipliers = _spread(near.multipliers, batch, knots, (k,))
    return Terms(np.where(is_known[:, None], multipliers, 0.0), np.where(is_known, weight, np.nan))


def compiled(problem: Problem, has_gaps: bool = False) -> tuple[Motions, Constraints | None]:
    """Return what descends, and the constraints if there are any, made once for a problem."""
    known = COMPILED.setdefault(problem, {})
    if has_gaps not in known:
        constraints = Constraints(problem) if problem.constraints else None
        known[has_gaps] = Motions(penalised(problem) if constraints else problem, has_gaps), constraints
    return known[has_gaps]


def batched(array: np.ndarray, batch: tuple[int, ...]) -> Any:
    """Return an array with the batch in front, of problems, or of knots and problems."""
    moved = array.swapaxes(0, 1) if array.ndim > 1 else array
    return moved.reshape((*batch, *moved.shape[1:]))[()]


def checked_problem(where: str, problem: Any, q0: Any, v0: Any, u: Any, parameters: Any, states: Any = None) -> Any:
    """Return the batch, what to begin with, and the parameters of all states, as they are computed with.

    Without states to begin with, all are the first one. Controls may be outside the bounds: motions move them there.
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
    first = [checked_array(where, "q0", q0, (model.nq,)), checked_array(where, "v0", v0, (model.nv,))]
    leads = {"q0": first[0].shape[:-1], "v0": first[1].shape[:-1]}
    first = [array[..., None, :] for array in first]  # at one knot
    has_states = states is not None
    states = states if has_states else tuple(first)
    if not isinstance(states, (tuple, list)) or len(states) != 2:
        got = f"a {type(states).__name__}"
        raise DTypeError(where, "states", got=got, expected="a tuple: configurations and velocities")
    parameters |= {THROUGH + name: a for name, a in zip(STATE, states, strict=True)}
    cores = cores | {THROUGH + "q": (model.nq,), THROUGH + "v": (model.nv,)}
    u = numeric_array(where, "u", u)
    if u.ndim < 2 or not u.shape[-2]:
        raise ShapeError(where, "u", got=u.shape, expected=f"(..., T, {problem.controls}): one for each knot")
    u = checked_array(where, "u", u, (problem.controls,))
    T, leads["u"], given = u.shape[-2], u.shape[:-2], dict[str, np.ndarray]()
    for name, core in cores.items():
        array = checked_array(where, name, parameters[name], core)
        given[name] = array = array if array.ndim > len(core) else array[None]
        *lead, knots = array.shape[: array.ndim - len(core)]
        if knots not in (1, T + 1):
            expected = f"(..., {', '.join(map(str, (T + 1, *core)))}), or one for all states"
            raise ShapeError(where, name, got=np.shape(parameters[name]), expected=expected)
        leads[f"parameters[{name!r}]"] = tuple(lead)
    batch = broadcast(where, leads)
    given = {name: _spread(array, batch, T + 1, cores[name]) for name, array in given.items()}
    q, v = (given.pop(THROUGH + name) for name in STATE)
    q[0], v[0] = (_spread(array, batch, 1, array.shape[-1:])[0] for array in first)
    check_configuration(where, "q0", q[0], model.unit_parts)
    for at in q if has_states else ():
        check_configuration(where, THROUGH + "q", at, model.unit_parts)
    return batch, (q, v, _spread(u, batch, T, (problem.controls,))), given


def _spread(array: np.ndarray, batch: tuple[int, ...], knots: int, core: tuple[int, ...]) -> np.ndarray:
    """Return an array (..., knots, *core), or (..., 1, *core), for all problems of a batch, knots first."""
    found = np.empty((knots, math.prod(batch), *core))
    found.swapaxes(0, 1).reshape(*batch, knots, *core)[...] = array
    return found


def _descended(
    motions: Motions, found: Found, given: Given, iterations: int, tolerance: float, is_exact: bool
) -> Found:
    T, N, m, n = found.K.shape
    own = {"cost": found.cost, "left": found.left, "iterations": found.iterations, "converged": found.converged}
    own |= {"widest": found.gap, "apart": found.gap.copy(), "scale": TINY * np.abs(found.cost)}
    own |= {"mu": np.zeros(N), "nu": np.zeros(N), "failed": np.full(N, -1.0), "done": np.zeros(N, dtype=int)}
    arrays = {"q": found.q, "v": found.v, motions.control: found.u}

    def descend(begun: int, problems: Any) -> None:
        held, most = workspace(motions, T, N, TOGETHER), min(AT_ONCE, iterations - begun)
        held.prepare(tolerance, is_exact)
        count = len(found.cost[problems])
        gains = held.c.gains.reshape(T, -1, m, 8 * motions.numbers["X"])[:, :count, :, :n]
        gains[...] = found.K[:, problems] if begun else 0.0  # memory is not touched before there are any
        held.run(problems, {**arrays, **given}, own, most)
        for name, array in arrays.items():
            array[:, problems] = held.rows[: len(array), :count, motions.places[name]]
        for name, array in own.items():
            array[problems] = getattr(held.c, name)[:count]
        found.K[:, problems] = gains

    for begun in range(0, iterations, AT_ONCE):
        live = np.flatnonzero(own["done"] == 0)
        if not len(live):
            break
        _split(TOGETHER, motions.work * T, live, N, functools.partial(descend, begun))
    stuck = np.isnan(found.left)
    for problem in np.flatnonzero(stuck):
        _check_derivatives(
            motions, int(problem), {name: array[:, problem] for name, array in {**arrays, **given}.items()}
        )
    found.left[stuck] = np.inf
    return found


def _check_derivatives(motions: Motions, problem: int, arrays: Given) -> None:
    """Raise NotFiniteError for a motion that step or costs have no derivatives at."""
    knots, names = slice(len(arrays[motions.control])), (*STATE, motions.control)
    kinds = [("step", derivative(motions.step, names, tangent=(0,)), knots)]
    kinds += [("cost", d(motions.cost, names), knots) for d in (gradient, hessian)]
    kinds += [("final_cost", d(motions.final_cost, STATE), slice(knots.stop, None)) for d in (gradient, hessian)]
    for name, of, rows in kinds:
        found = ByName.of(of, motions.model).at(rows, arrays)
        bad = np.flatnonzero(~np.all([np.isfinite(a).reshape(len(a), -1).all(1) for a in _leaves(found)], axis=0))
        if len(bad):
            knot = int(bad[0]) + (rows.start or 0)
            raise NotFiniteError(WHERE, f"derivatives of {name} at problem, knot ", (problem, knot), np.nan, NO_SLOPE)


def _leaves(found: Any) -> list[np.ndarray]:
    """Return the arrays in nested tuples."""
    return [a for part in found for a in _leaves(part)] if isinstance(found, tuple) else [np.asarray(found)]


def _split(together: int, work: int, problems: np.ndarray, every: int, run: Callable[[Any], None]) -> None:
    """Call run(problems) for some at a time, on several threads if that is worth it; by a slice if there are all."""

    def part(start: int, stop: int) -> None:
        for first in range(start, stop, together):
            own = slice(first, min(first + together, stop))
            run(own if len(problems) == every else problems[own])

    split(len(problems), work, together, None, part)


def rolled(motions: Motions, begin: Begin, given: Given, take: Callable[[Any, Descent, int], None]) -> None:
    """Move from some states by controls, and let `take` have what was found: which problems, and how many."""
    T, N = begin[2].shape[:2]
    arrays = {**dict(zip((*STATE, motions.control), begin, strict=True)), **given}

    def move(problems: Any) -> None:
        held = workspace(motions, T, N, CROWD)
        take(problems, held.c, held.run(problems, arrays, {}, BEGIN))

    _split(CROWD, len(motions.steps.instructions) * T, np.arange(N), N, move)


def first(where: str, motions: Motions, begin: Begin, given: Given) -> Found:
    """Return the motion of the first controls, or with gaps that through all states; NotFiniteError if it is none."""
    q, v, u = map(np.empty_like, begin)
    T, N, m = u.shape
    cost, left, gap = np.empty(N), np.full(N, np.inf), np.empty(N)

    def take(problems: Any, c: Descent, count: int) -> None:
        state = c.tried_state.reshape(T + 2, -1, motions.states)[:-1, :count]
        q[:, problems], v[:, problems] = state[..., : q.shape[-1]], state[..., q.shape[-1] :]
        u[:, problems] = c.tried_control.reshape(T + 1, -1, m)[:-1, :count]
        cost[problems], gap[problems] = c.tried_cost[:count], c.widest[:count]

    rolled(motions, begin, given, take)
    bad = np.flatnonzero(~np.isfinite(cost))
    if len(bad):
        own = [a[:, bad[0]] for a in (q, v)]
        hint = NO_COST if all(np.isfinite(a).all() for a in own) else FAR
        raise NotFiniteError(where, "cost", (int(bad[0]),), float(cost[bad[0]]), hint)
    if motions.has_gaps:
        size = np.maximum(np.abs(q).max((0, 2)), np.abs(v).max((0, 2)))
        gap[gap <= ROUNDING * np.maximum(size, 1.0)] = 0.0
    K = np.zeros((N, T, m, motions.n)).swapaxes(0, 1)  # as a solution has it: it is most of what is returned
    return Found(q, v, u, K, cost, left, np.zeros(N, dtype=bool), np.zeros(N, dtype=int), gap)
