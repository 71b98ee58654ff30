"""Motions of a problem of optimal control, and expansions near them: compiled once, for all knots at once.

A state is near another one by x = (difference(q_near, q), v - v_near), 2 nv numbers. Motions may have gaps: by

    c_t = x of step(q_t, v_t, u_t) near q_(t+1), v_(t+1)

a step then leads away from the next state.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.scalar import maximum, minimum
from cardan._dynamics.algorithms.configuration import difference, integrate
from cardan._dynamics.call.compiled import Bound
from cardan._dynamics.call.function import Function, function
from cardan._dynamics.functions.derivatives import derivative, gradient, hessian
from cardan._motion.optimal.problem import STATE, Problem, taken
from cardan._motion.optimal.riccati_sweep import Knots, Sweep
from cardan._robot.model import Model

ROUNDING = 1e-12  # gaps of a motion found before, relative to its states
NEAR, AFTER = "cardan_near_", "cardan_after_"  # names of arrays beside the user's begin like this


class Motion(NamedTuple):
    """States and controls of some problems, knots first: shapes (T + 1, problems, nq), (..., nv), (T, problems, m)."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    cost: np.ndarray  # of each problem
    gaps: np.ndarray  # of each problem, sum |c|: 0 of a motion without gaps


class Found(NamedTuple):
    """What a descent found: a motion, and the rest as `Solution` has it, problems where `Motion` has them."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    K: np.ndarray
    cost: np.ndarray
    left: np.ndarray
    converged: np.ndarray
    iterations: np.ndarray
    gap: np.ndarray  # the largest entry of c


class ByName(NamedTuple):
    """A function for a problem's model, and the names of the arrays it takes."""

    function: Bound
    names: tuple[str, ...]

    @staticmethod
    def of(function: Function[..., Any], model: Model) -> ByName:
        return ByName(function.bind(model), taken(function, model))

    def at(self, rows: Any, arrays: Mapping[str, np.ndarray]) -> Any:
        """Return what it makes of some rows of arrays."""
        return self.function(*(arrays[name][rows] for name in self.names))


class Motions:
    """Motions of a problem; `has_gaps` says whether they may have any."""

    def __init__(self, problem: Problem, has_gaps: bool = False) -> None:
        self.has_gaps = has_gaps
        # not the problem itself, which shall end when nobody has it
        self.model, self.step = problem.model, problem.step
        self.cost, self.final_cost = problem.cost, problem.final_cost
        self.control, self.controls, self.bounds = problem.control, problem.controls, problem.bounds

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.bounds).any())

    def _made(self, kernel: Callable[..., Any], shapes: Mapping[str, Any]) -> Bound:
        """Return a function of these arrays, for the problem's model."""
        return named(kernel, shapes).bind(self.model)

    @cached_property
    def expansion(self) -> ByName:
        names = (*STATE, self.control)
        rates = derivative(self._next, names) if self.has_gaps else derivative(self.step, names, tangent=(0,))
        slope, curve = gradient(self.cost, names), hessian(self.cost, names)
        n, shapes = 2 * self.model.nv, shapes_of(self.model, self.step, self.cost)
        shapes |= self._after if self.has_gaps else {}

        def expansion(model: Model, given: Mapping[str, Any]) -> Knots:
            by, g, H = (called(f, model, given) for f in (rates, slope, curve))
            g, H = np.concatenate(g), _blocks(H)
            A, B = _blocks([[by[j][i] for j in range(2)] for i in range(2)]), np.concatenate(by[2])
            return Knots(A, B, H[:n, :n], H[n:, :n], H[n:, n:], g[:n], g[n:])

        return ByName(self._made(expansion, shapes), tuple(shapes))

    @property
    def _after(self) -> dict[str, tuple[int, ...]]:
        return {AFTER + "q": (self.model.nq,), AFTER + "v": (self.model.nv,)}

    @cached_property
    def _next(self) -> Function[..., Any]:
        """The next state, near what it is to be."""

        def next_state(model: Model, given: Mapping[str, Any]) -> Any:
            q, v = called(self.step, model, given)
            return difference(model, given[AFTER + "q"], q), v - given[AFTER + "v"]

        return named(next_state, shapes_of(self.model, self.step) | self._after)

    @cached_property
    def _to_next(self) -> ByName:
        return ByName.of(self._next, self.model)

    @cached_property
    def _linear(self) -> Bound:
        """The next x of a step as the expansion has it, and what it adds to the cost to first and second order."""
        n, m = 2 * self.model.nv, self.controls

        def linear_step(model: Model, given: Mapping[str, Any]) -> tuple[Any, ...]:
            x, A, B, Q, S, R, q, r, c, K, k = (given[name] for name in shapes)
            u = k + K @ x
            return A @ x + B @ u + c, q @ x + r @ u, x @ (Q @ x) + 2.0 * (u @ (S @ x)) + u @ (R @ u)

        shapes = {"x": (n,), "A": (n, n), "B": (n, m), "Q": (n, n), "S": (m, n), "R": (m, m), "slope": (n,), "r": (m,)}
        shapes |= {"c": (n,), "K": (m, n), "k": (m,)}
        return self._made(linear_step, shapes)

    def changes(self, knots: Knots, c: np.ndarray, P: np.ndarray, p: np.ndarray, back: Sweep) -> tuple[Any, Any]:
        """Return what a whole step adds to the cost, as the expansion has it: to first and to second order."""
        T, x = len(c), np.zeros((len(c) + 1, *c.shape[1:]))
        slopes, curves = np.empty(c.shape[:2]), np.empty(c.shape[:2])
        self._linear.in_turn([x[:-1], *knots, c, back.K, back.k], [x[1:], slopes, curves])
        return total(slopes) + (p * x[T]).sum(-1), total(curves) + ((P @ x[T][..., None])[..., 0] * x[T]).sum(-1)

    @cached_property
    def _curvature(self) -> ByName:
        """Return the second derivatives of costates . x of the next state, near what it is."""
        n, names = 2 * self.model.nv, (*STATE, self.control)
        shapes = shapes_of(self.model, self.step) | self._after | {AFTER + "costates": (n,)}

        def next_along(model: Model, given: Mapping[str, Any]) -> Any:
            return given[AFTER + "costates"] @ np.concatenate(called(self._next, model, given))

        weighed = hessian(named(next_along, shapes), names)

        def curvature(model: Model, given: Mapping[str, Any]) -> tuple[Any, ...]:
            H = _blocks(called(weighed, model, given))
            return H[:n, :n], H[n:, :n], H[n:, n:]

        return ByName(self._made(curvature, shapes), tuple(shapes))

    @cached_property
    def _costate(self) -> Bound:
        n = 2 * self.model.nv

        def costate(model: Model, given: Mapping[str, Any]) -> Any:
            return given["slope"] + given["A"].T @ given["after"]

        return self._made(costate, {"after": (n,), "A": (n, n), "slope": (n,)})

    @cached_property
    def last_expansion(self) -> ByName:
        slope, curve = gradient(self.final_cost, STATE), hessian(self.final_cost, STATE)
        shapes = shapes_of(self.model, self.final_cost)

        def expansion_of_last(model: Model, given: Mapping[str, Any]) -> tuple[Any, Any]:
            return _blocks(called(curve, model, given)), np.concatenate(called(slope, model, given))

        return ByName(self._made(expansion_of_last, shapes), tuple(shapes))

    @cached_property
    def final(self) -> ByName:
        return ByName.of(self.final_cost, self.model)

    @cached_property
    def knot(self) -> ByName:
        return ByName.of(self.cost, self.model)

    @cached_property
    def _near(self) -> ByName:
        """Return one step near a motion, with feedback, compiled, and the names of the parameters it takes."""
        control, limits = self.control, self.bounds if self.is_bounded else None
        n, m, own = 2 * self.model.nv, self.controls, shapes_of(self.model, self.step, self.cost)
        state = {name: own.pop(name) for name in (*STATE, control)}
        near = {NEAR + "q": state["q"], NEAR + "v": state["v"], NEAR + "u": (m,)}
        near |= {NEAR + "K": (m, n), NEAR + "k": (m,), NEAR + "share": ()}
        if self.has_gaps:
            near[NEAR + "c"] = (n,)

        def step_near(model: Model, given: Mapping[str, Any]) -> tuple[Any, ...]:
            q, v, u, K, k, share, *gaps = (given[name] for name in near)
            x = np.concatenate([difference(model, q, given["q"]), given["v"] - v])
            u = u + share * k + K @ x
            if limits is not None:
                u = minimum(maximum(u, limits[0]), limits[1])
            arrays = {**given, control: u}
            q, v = called(self.step, model, arrays)
            for gap in gaps:
                left = (share - 1.0) * gap
                q, v = integrate(model, q, left[: model.nv]), v + left[model.nv :]
            return q, v, u, called(self.cost, model, arrays)

        return ByName(self._made(step_near, {n: state[n] for n in STATE} | near | own), tuple(own))

    def motion(self, start: tuple[np.ndarray, np.ndarray], u: np.ndarray, given: Mapping[str, np.ndarray]) -> Motion:
        """Return the motions from some states by these controls, and what they cost."""
        (T, N, m), n = u.shape, 2 * self.model.nv
        q, v = (np.broadcast_to(a, (T + 1, *a.shape)) for a in start)  # x is multiplied with 0
        K, k = (np.broadcast_to(np.zeros(shape), (T, *shape)) for shape in ((N, m, n), (N, m)))
        return self.motion_near(start, Motion(q, v, u, np.zeros(N), np.zeros(N)), K, k, np.zeros(N), given)

    def through(self, states: tuple[np.ndarray, np.ndarray], u: np.ndarray, given: Mapping[str, np.ndarray]) -> Motion:
        """Return the motions through given states, with gaps, and what they cost."""
        (q, v), knots = states, slice(len(u))
        arrays = {"q": q, "v": v, self.control: u, **given}
        costs = total(self.knot.at(knots, arrays)) + self.final.at(-1, arrays)
        near = Motion(q, v, u, costs, np.ones(u.shape[1]))
        c, size = np.abs(self.gaps(near, given)), np.maximum(np.abs(q).max((0, 2)), np.abs(v).max((0, 2)))
        is_open = c.max((0, 2)) > ROUNDING * np.maximum(size, 1.0)
        return near._replace(gaps=np.where(is_open, total(c.sum(-1)), 0.0))

    def _arrays(self, motion: Motion, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        after = {AFTER + "q": motion.q[1:], AFTER + "v": motion.v[1:]}
        return {"q": motion.q, "v": motion.v, self.control: motion.u, **after, **given}

    def gaps(self, motion: Motion, given: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return c of all knots."""
        c = np.concatenate(self._to_next.at(slice(len(motion.u)), self._arrays(motion, given)), axis=-1)
        return c * (motion.gaps > 0.0)[:, None]  # of those that are closed rounding errors are left

    def motion_near(
        self,
        start: tuple[np.ndarray, np.ndarray],
        near: Motion,
        K: np.ndarray,
        k: np.ndarray,
        share: np.ndarray,
        given: Mapping[str, np.ndarray],
        c: np.ndarray | None = None,
    ) -> Motion:
        """Return the motions from some states by u = u_near + share k + K x, and what they cost.

        Gaps c become 1 - share of them.
        """
        (T, N, m), (step, names) = near.u.shape, self._near
        q, v = np.empty((T + 1, N, self.model.nq)), np.empty((T + 1, N, self.model.nv))
        u, costs = np.empty((T, N, m)), np.empty((T, N))
        q[0], v[0] = start
        rows = [q, v, near.q, near.v, near.u, K, k, np.broadcast_to(share, (T, N)), *([] if c is None else [c])]
        rows += [given[n] for n in names]
        step.in_turn([a[:T] for a in rows], [q[1:], v[1:], u, costs])
        last = self.final.at(-1, {"q": q, "v": v, **given})
        with np.errstate(invalid="ignore", over="ignore"):  # of a motion that runs away, which is not taken
            return Motion(q, v, u, total(costs) + last, (1.0 - share) * near.gaps)

    def knots(self, motion: Motion, given: Mapping[str, np.ndarray]) -> tuple[Knots, np.ndarray, np.ndarray]:
        """Return dynamics to first and costs to second order near a motion, and P and p of the last state."""
        arrays = self._arrays(motion, given)
        return self.expansion.at(slice(len(motion.u)), arrays), *self.last_expansion.at(-1, arrays)

    def with_curvature(self, knots: Knots, p: np.ndarray, motion: Motion, given: Mapping[str, np.ndarray]) -> Knots:
        """Return knots with the second derivatives of the dynamics, weighed with the costates of a motion."""
        T = len(motion.u)
        costates = np.empty((T + 1, *p.shape))
        costates[T] = p
        self._costate.in_turn([a[::-1] for a in (costates[1:], knots.A, knots.q)], [costates[-2::-1]])
        arrays = {**self._arrays(motion, given), AFTER + "costates": costates[1:]}
        xx, ux, uu = self._curvature.at(slice(T), arrays)
        return knots._replace(Q=knots.Q + xx, S=knots.S + ux, R=knots.R + uu)


def named(kernel: Callable[..., Any], shapes: Mapping[str, Any], **options: Any) -> Function[..., Any]:
    """Return a function of the arrays of these names and shapes, which the kernel is given in a mapping."""
    by_position = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("model", *shapes)]

    def by_names(model: Model, *args: Any, **by_name: Any) -> Any:
        return kernel(model, dict(zip(shapes, args, strict=False)) | by_name)

    by_names.__name__ = kernel.__name__
    by_names.__signature__ = inspect.Signature(by_position)  # pyright: ignore[reportFunctionMemberAccess]
    # q and v are what every function knows: derivatives by q go along its tangent
    return function(shapes={n: shape for n, shape in shapes.items() if n not in STATE}, **options)(by_names)


def shapes_of(model: Model, *of: Function[..., Any]) -> dict[str, tuple[int, ...]]:
    """Return the arrays that functions take, and their shapes: q and v first."""
    return {name: f.interface.cores(model)[name] for f in of for name in taken(f, model)}


def called(of: Function[..., Any], model: Model, given: Mapping[str, Any]) -> Any:
    """Return what a function makes of those arrays that it takes."""
    return of(model, **{name: given[name] for name in taken(of, model)})


def total(of_knots: np.ndarray) -> np.ndarray:
    """Return the sum over the knots, in their order: `sum` has another for one problem than for two."""
    return np.add.accumulate(of_knots, axis=0)[-1]


def _blocks(rows: Iterable[Iterable[Any]]) -> np.ndarray:
    return np.concatenate([np.concatenate([*row], axis=1) for row in rows])
