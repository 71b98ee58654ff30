"""Constraints of optimal control by an augmented Lagrangian: a descent with penalties, multipliers, and again.

For equalities c = 0 and inequalities c <= 0 at a knot, its cost gets

    1/(2 rho) |t|^2,      t = lambda + rho c,      of an inequality max(t, 0) in place of t

which is their Lagrangian lambda . c with a penalty rho/2 |c|^2, but for a constant. After each descent lambda becomes
t. What is unmet is |t - lambda| / rho: |c|, or by how much an inequality is violated, or how far away it is where it
pushes all the same. What is found then is allowed, and not the best. A problem ends when its descent has, and nothing
is unmet by more than is allowed. Until then rho becomes ten times as large if what is unmet has not become a quarter.
Where all is met and a descent has not ended, rho is too stiff for it, and becomes a tenth. It also ends where rho is
1e14 times its first, which makes penalties ten times the cost. They are taken to be as large as the geometric mean of
those of all components: neither a limit that is far away nor one that is just met says much of rho. What is 0 but for
what is allowed says nothing: it may be a rounding error, and its square would make rho 1e17.

Problems of a batch have multipliers and weights of their own.

Source: Powell, A method for nonlinear constraints in minimization problems (1969); Rockafellar, Augmented Lagrange
multiplier functions and duality in nonconvex programming (1974), for inequalities; Nocedal and Wright, Numerical
Optimization (2006), section 17.3.
Cost: some three to ten descents, each from the last one's controls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from cardan._algebra.scalar import maximum
from cardan._dynamics.call.function import Function
from cardan._motion.optimal.motions import ByName, Found, called, named, shapes_of, total
from cardan._motion.optimal.problem import CONSTRAINTS, Problem
from cardan._robot.model import Model

MULTIPLIERS, WEIGHT = "cardan_multipliers_", "cardan_weight"  # names of arrays beside the user's begin like this
GROWTH, ENOUGH, FIRST = 10.0, 0.25, 10.0
ROUNDS, MOST = 50, 1e14  # descents, and growth of rho: a problem that needs more has no motion nearby that is allowed
Begin = tuple[np.ndarray, ...]  # configurations, velocities and controls, knots first
Given = Mapping[str, np.ndarray]


def penalised(problem: Problem) -> Problem:
    """Return a problem without constraints, whose costs have their terms; multipliers and weight are parameters."""
    costs = {"cost": _with_terms(problem, problem.cost, at_end=False)}
    costs["final_cost"] = _with_terms(problem, problem.final_cost, at_end=True)
    return replace(problem, **costs, **dict.fromkeys(CONSTRAINTS))


def _with_terms(problem: Problem, cost: Function[..., Any], *, at_end: bool) -> Function[..., Any]:
    constraints = {name: of for name, of in problem.constraints.items() if _is_at_end(name) == at_end}
    if not constraints:
        return cost
    shapes = shapes_of(problem.model, cost, *constraints.values()) | {WEIGHT: ()}
    shapes |= {MULTIPLIERS + name: _size(of, problem.model) for name, of in constraints.items()}

    def cost_with_terms(model: Model, given: Mapping[str, Any]) -> Any:
        total, weight = called(cost, model, given), given[WEIGHT]
        for name, of in constraints.items():
            t = given[MULTIPLIERS + name] + weight * called(of, model, given)
            t = t if _is_equality(name) else maximum(t, 0.0)
            total = total + 0.5 * (t @ t) / weight
        return total

    return named(cost_with_terms, shapes, returns=())


def _is_equality(name: str) -> bool:
    return not name.endswith("inequality")


def _is_at_end(name: str) -> bool:
    return name.startswith("final")


class Constraints:
    """The constraints of a problem and its costs, along motions."""

    def __init__(self, problem: Problem) -> None:
        # not the problem itself, which shall end when nobody has it
        self.control = problem.control
        self.of = {name: ByName.of(of, problem.model) for name, of in problem.constraints.items()}
        sizes = [_size(of, problem.model)[0] for of in problem.constraints.values()]
        ends = pairwise(accumulate(sizes, initial=0))
        self.places = {name: slice(*own) for name, own in zip(self.of, ends, strict=True)}
        self.is_equality = np.repeat([_is_equality(name) for name in self.of], sizes)
        self.costs = [ByName.of(of, problem.model) for of in (problem.cost, problem.final_cost)]

    def _values(self, of: ByName, motion: Found, given: Given, at_end: bool) -> np.ndarray:
        rows = slice(-1, None) if at_end else slice(len(motion.u))
        return np.asarray(of.at(rows, {"q": motion.q, "v": motion.v, self.control: motion.u, **given}))

    def values(self, motion: Found, given: Given) -> np.ndarray:
        """Return c of all constraints, shape (knots + 1, problems, k); 0 at knots that one is not of."""
        found = np.zeros((*motion.q.shape[:2], len(self.is_equality)))
        for name, of in self.of.items():
            own = found[-1:] if _is_at_end(name) else found[:-1]
            own[..., self.places[name]] = self._values(of, motion, given, _is_at_end(name))
        return found

    def cost(self, motion: Found, given: Given) -> np.ndarray:
        """Return what motions cost, without what constraints add."""
        of_knot, of_last = self.costs
        knots, last = self._values(of_knot, motion, given, False), self._values(of_last, motion, given, True)
        return total(knots) + last[0]

    def first_weight(self, values: np.ndarray, cost: np.ndarray, allowed: float) -> np.ndarray:
        """Return of each problem the rho that makes penalties of usual components `FIRST` times the cost."""
        squares = total(np.where(np.isfinite(values), values, 0.0) ** 2)  # (problems, k)
        counted = squares > allowed * allowed  # what is met says nothing, and may be a rounding error
        count = np.maximum(counted.sum(axis=1), 1)
        size = count * np.exp(np.log(np.where(counted, squares, 1.0)).sum(axis=1) / count)
        return np.where(cost != 0.0, FIRST * np.abs(cost) / size, 1.0)

    def pushed(self, values: np.ndarray, least: Any) -> np.ndarray:
        """Return c, of inequalities max(c, least)."""
        return np.where(self.is_equality, values, np.maximum(values, least))


def _size(of: Function[..., Any], model: Model) -> tuple[int, ...]:
    """Return the shape of a constraint's result."""
    return of.program(model).outputs[0].shape


class Terms(NamedTuple):
    """What costs have more for constraints: lambda, shape (T + 1, problems, k), and rho, NaN where nothing says it."""

    multipliers: np.ndarray
    weight: np.ndarray

    @staticmethod
    def none(shape: tuple[int, ...], constraints: Constraints | None) -> Terms:
        """Return those that say nothing, of controls of a shape."""
        k = len(constraints.is_equality) if constraints else 0
        return Terms(np.zeros((shape[0] + 1, shape[1], k)), np.full(shape[1], np.nan))


def descended(
    constraints: Constraints, descend: Callable[..., Found], begin: Begin, given: Given, terms: Terms, allowed: float
) -> tuple[Found, Terms]:
    """Return what descents of the problem with terms find in the end; `gap` is what is unmet, or a gap that is larger.

    `descend(begin, parameters)` returns what problems find from states and controls; with a third argument, after so
    many iterations. Terms are those to begin with, and are returned as they are in the end.
    """
    T, N = begin[2].shape[:2]
    weight, every, multipliers = np.ones(N), np.arange(N), terms.multipliers

    def of(problems: np.ndarray, begin: Begin, *most: int) -> Found:
        terms = {MULTIPLIERS + name: multipliers[..., place] for name, place in constraints.places.items()}
        parameters = {**given, **terms, WEIGHT: np.broadcast_to(weight, (T + 1, N))}
        own = {name: a[:, problems] for name, a in parameters.items()}
        return descend(tuple(a[:, problems] for a in begin), own, *most)

    found = of(every, begin, 0)
    values, unmet, live = constraints.values(found, given), np.full(N, np.inf), every
    first = constraints.first_weight(values, constraints.cost(found, given), allowed)
    weight = np.where(np.isnan(terms.weight), first, terms.weight)
    most = MOST * weight
    for _ in range(ROUNDS):
        _place(found, live, of(live, found[:3]))
        values, before = constraints.values(found, given), unmet.copy()
        pushed = constraints.pushed(values, -multipliers / weight[:, None])  # (t - lambda) / rho
        unmet[live] = np.abs(pushed).max(axis=(0, 2), initial=0.0)[live]
        live = live[(~found.converged | (unmet > allowed))[live] & (weight < most)[live]]
        if not live.size:
            break
        multipliers[:, live] += (weight[:, None] * pushed)[:, live]
        weight[live[unmet[live] > np.maximum(ENOUGH * before[live], allowed)]] *= GROWTH
        weight[live[unmet[live] <= allowed]] /= GROWTH  # too stiff for its descent to end
    unmet = np.maximum(unmet, found.gap)
    converged = found.converged & (unmet <= allowed)
    found = found._replace(cost=constraints.cost(found, given), converged=converged, gap=unmet)
    return found, Terms(multipliers, weight)


def _place(found: Found, problems: np.ndarray, new: Found) -> None:
    """Put in what new descents of some problems found, after the iterations of those before."""
    new.iterations[:] += found.iterations[problems]
    for old, other in zip(found, new, strict=True):
        old[(slice(None), problems) if old.ndim > 1 else problems] = other
