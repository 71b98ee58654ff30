"""Problems of optimal control for the solvers of Crocoddyl: a compiled step and compiled costs are its action models.

A state x is q and v, its changes are those of q along the tangent and of v. So the derivatives of a knot are those that
`optimal.solve` takes, found in one call.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import ShapeError, UnsupportedError
from cardan._compiler.runtime.extras import package
from cardan._dynamics.algorithms.configuration import difference, difference_derivatives, integrate
from cardan._dynamics.functions.named_derivatives import integrate_derivatives
from cardan._motion.optimal.descent import checked_problem, compiled
from cardan._motion.optimal.motions import ByName, Motions
from cardan._motion.optimal.problem import Problem
from cardan._robot.model import Model

__all__ = ["shooting_problem"]
WHERE = "interop.crocoddyl.shooting_problem"


def shooting_problem(
    problem: Problem, q0: ArrayLike, v0: ArrayLike, u: ArrayLike, parameters: Mapping[str, ArrayLike] | None = None
) -> Any:
    """Return a problem as a `crocoddyl.ShootingProblem`, for `SolverFDDP`, `SolverBoxFDDP` and the others.

    Args:
        problem: what moves, and what it costs. Bounds on the controls are those of the action models.
        q0: the first configuration [rad, m], shape (nq,).
        v0: the first velocity [rad/s, m/s], shape (nv,).
        u: controls, shape (T, m) [the caller's unit]: T is the number of knots. Crocoddyl is given them by `solve`.
        parameters: values of the functions' further arguments by name, as for `optimal.solve`.

    Raises:
        MissingExtraError: without crocoddyl.
        UnsupportedError: for a problem with constraints.
        ShapeError: for several problems at once, and arrays that do not fit.
        DTypeError, NotFiniteError, ParameterError, UnknownNameError: as `optimal.solve`.

    Examples:
        >>> from cardan.interop.crocoddyl import shooting_problem
        >>> @cardan.function(shapes={"u": ("nv",)})
        ... def step(model, q, v, u):
        ...     v_next = v + 0.02 * cardan.forward_dynamics(model, q, v, u)
        ...     return cardan.integrate(model, q, 0.02 * v_next), v_next
        >>> @cardan.function(shapes={"u": ("nv",)}, returns=())
        ... def effort(model, q, v, u):
        ...     return 1e-3 * (u @ u)
        >>> @cardan.function(returns=())
        ... def moved(model, q, v):
        ...     return 100.0 * (q[1] - 0.5) ** 2 + v @ v
        >>> problem = cardan.optimal.Problem(arm, step, effort, moved)
        >>> shooting = shooting_problem(problem, q, 0.0 * v, np.zeros((20, 7)))
        >>> import crocoddyl
        >>> solver = crocoddyl.SolverFDDP(shooting)  # solver.solve() moves on from the controls given
        >>> solver.problem.T
        20
    """
    batch, (q, v, controls), given = checked_problem(WHERE, problem, q0, v0, u, parameters)
    if batch:
        raise ShapeError(WHERE, "arrays", got=batch, expected="one problem, without leading dimensions")
    if problem.constraints:
        what = f"a problem with constraints ({', '.join(problem.constraints)})"
        raise UnsupportedError(what, WHERE, "make them terms of the costs, or take cardan.optimal.solve")
    crocoddyl, (State, Action), (motions, _) = _package(), _classes(), compiled(problem)
    state, functions = State(problem.model), (problem.step, problem.cost, problem.final_cost)
    by_name = [ByName.of(function, problem.model) for function in functions]
    parameters_of = ({n: a[k, 0] for n, a in given.items()} for k in range(len(controls) + 1))
    knots = [Action(state, motions, by_name, own) for own in parameters_of]
    return crocoddyl.ShootingProblem(np.concatenate([q[0, 0], v[0, 0]]), knots[:-1], knots[-1])


def _package() -> Any:
    return package("crocoddyl", "cardan.interop.crocoddyl", "crocoddyl")


@functools.cache
def _classes() -> tuple[Any, Any]:
    """Return the classes of states and of action models; their methods have the names that Crocoddyl calls."""
    crocoddyl = _package()
    second, both = crocoddyl.Jcomponent.second, crocoddyl.Jcomponent.both

    class State(crocoddyl.StateAbstract):
        def __init__(self, model: Model) -> None:
            super().__init__(model.nq + model.nv, 2 * model.nv)
            self.model = model
            self.difference, self.integrated = difference.bind(model), integrate.bind(model)
            self.by_difference, self.by_integrate = (
                difference_derivatives.bind(model),
                integrate_derivatives.bind(model),
            )

        def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return q and v of a state, or the parts of its change."""
            return x[: len(x) - self.model.nv], x[len(x) - self.model.nv :]

        def zero(self) -> np.ndarray:
            return np.concatenate([self.model.neutral(), np.zeros(self.model.nv)])

        def rand(self) -> np.ndarray:
            return np.concatenate(
                [self.model.random_configuration(), np.random.default_rng().normal(size=self.model.nv)]
            )

        def diff(self, x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
            (q0, v0), (q1, v1) = self.parts(x0), self.parts(x1)
            return np.concatenate([self.difference(q0, q1), v1 - v0])

        def integrate(self, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
            (q, v), (dq, dv) = self.parts(x), self.parts(dx)
            return np.concatenate([self.integrated(q, dq), v + dv])

        def Jdiff(self, x0: np.ndarray, x1: np.ndarray, which: Any = both) -> list[np.ndarray]:
            return self.chosen(self.by_difference(self.parts(x0)[0], self.parts(x1)[0]), -1.0, which)

        def Jintegrate(self, x: np.ndarray, dx: np.ndarray, which: Any = both) -> list[np.ndarray]:
            return self.chosen(self.by_integrate(self.parts(x)[0], self.parts(dx)[0]), 1.0, which)

        def JintegrateTransport(self, x: np.ndarray, dx: np.ndarray, J: np.ndarray, which: Any) -> np.ndarray:
            J[...] = self.Jintegrate(x, dx, which)[0] @ J  # Crocoddyl itself looks there
            return J

        def chosen(self, by: Sequence[np.ndarray], by_v: float, which: Any) -> list[np.ndarray]:
            """Return derivatives by the first argument, the second or both: blocks of q and of v."""
            none, one = np.zeros((self.model.nv, self.model.nv)), np.eye(self.model.nv)
            J = [np.block([[by[0], none], [none, by_v * one]]), np.block([[by[1], none], [none, one]])]
            return J if which == both else [J[which == second]]

    class Action(crocoddyl.ActionModelAbstract):
        """A knot, or the last state, which Crocoddyl asks for without a control."""

        def __init__(self, state: Any, motions: Motions, by_name: Any, given: Mapping[str, np.ndarray]) -> None:
            super().__init__(state, motions.controls, 0)
            self.motions, self.given, self.parts = motions, given, state.parts
            self.step, self.cost, self.final_cost = by_name
            if motions.is_bounded:
                self.u_lb, self.u_ub = motions.bounds

        def called(self, of: ByName, x: np.ndarray, u: np.ndarray | None) -> Any:
            arrays: Any = {**dict(zip("qv", self.parts(x), strict=True)), self.motions.control: u, **self.given}
            return of.at(..., arrays)

        def calc(self, data: Any, x: np.ndarray, u: np.ndarray | None = None) -> None:
            if u is None:
                data.xnext, data.cost = x, self.called(self.final_cost, x, u)
            else:
                data.xnext = np.concatenate(self.called(self.step, x, u))
                data.cost = self.called(self.cost, x, u)

        def calcDiff(self, data: Any, x: np.ndarray, u: np.ndarray | None = None) -> None:
            if u is None:
                data.Lxx, data.Lx = self.called(self.motions.last_expansion, x, u)
            else:
                A, B, Q, S, R, q, r = self.called(self.motions.expansion, x, u)
                data.Fx, data.Fu, data.Lxx, data.Lxu, data.Luu, data.Lx, data.Lu = A, B, Q, S.T, R, q, r

    return State, Action
