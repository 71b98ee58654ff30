"""Controls by sampling: many motions at once, and the mean of their controls by costs (MPPI), or the best ones.

Sample k moves from the start by u + e_k, within the bounds. The numbers e_k are normal, with the standard deviation
`noise`, and e_0 = 0. With the costs J_k,

    w_k = exp(-(J_k - min J) / temperature)        u = sum w_k u_k / sum w_k

At the temperature 0, u is the best of the u_k: it costs no more than what was given. No derivatives are taken, so that
costs may jump.

Source: Williams, Aldrich and Theodorou, Model predictive path integral control (2017), algorithm 1 with gamma = 0: what
controls cost, the cost says. Howell et al., Predictive sampling (2022), for the best one.
Cost: 1 + samples motions of T steps, in one call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.checked_numbers import generator, whole
from cardan._algebra.errors import ParameterError, UnsupportedError
from cardan._dynamics.call.arguments import shaped_array
from cardan._dynamics.call.public import Reals
from cardan._motion.optimal.descent import batched, checked_problem, compiled, first, rolled
from cardan._motion.optimal.descent_kernel import Descent
from cardan._motion.optimal.motions import total
from cardan._motion.optimal.problem import Problem

WHERE = "optimal.predictive_sampling"


class Rollout(NamedTuple):
    """A motion by given controls. Returned by `predictive_sampling`.

    Attributes:
        q: configurations [rad, m], shape (..., T + 1, nq).
        v: velocities [rad/s, m/s], shape (..., T + 1, nv).
        u: controls, shape (..., T, m), within the bounds.
        cost: what it costs [the caller's unit], shape (...).

    Examples:
        >>> cardan.optimal.Rollout._fields
        ('q', 'v', 'u', 'cost')
    """

    q: Reals
    v: Reals
    u: Reals
    cost: Reals


def predictive_sampling(
    problem: Problem,
    q0: ArrayLike,
    v0: ArrayLike,
    u: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None,
    *,
    noise: ArrayLike,
    samples: int = 256,
    temperature: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> Rollout:
    """Return a motion whose controls are better than those given, found among random ones near them.

    A controller calls it at every tick, with the last controls shifted by a knot. Step and costs need no derivatives.

    Args:
        problem: what moves, and what it costs; without constraints.
        q0: as for `solve` [rad, m], shape (..., nq).
        v0: as for `solve` [rad/s, m/s], shape (..., nv).
        u: controls to sample about [the caller's unit], shape (..., T, m).
        parameters: as for `solve` [their units].
        noise: standard deviation of the samples about u [the caller's unit], one number or shape (m,).
        samples: how many there are beside u itself.
        temperature: at 0 the best sample is taken. Above, the mean of all is, each weighed with exp(-cost /
            temperature) (MPPI) [the unit of costs].
        seed: of the samples: a number, or a generator, which goes on. All problems of a batch have the same ones.

    Raises:
        ShapeError, DTypeError: for arrays that do not fit.
        NotFiniteError: for a batch with a problem none of whose samples has a finite cost.
        UnknownNameError, ParameterError: as `solve`; for a noise, temperature or number of samples below 0.
        UnsupportedError: for a problem with constraints.

    Examples:
        >>> @cardan.function(shapes={"u": (1,)})
        ... def step(model, q, v, u):
        ...     v_next = v + 0.05 * cardan.forward_dynamics(model, q, v, [u[0], 0.0])
        ...     return cardan.integrate(model, q, 0.05 * v_next), v_next
        >>> @cardan.function(shapes={"u": (1,)}, returns=())
        ... def outside(model, q, v, u):
        ...     return cardan.where(abs(q[0]) > 0.4, 1.0, 0.0)
        >>> @cardan.function(returns=())
        ... def far(model, q, v):
        ...     return q @ q + v @ v
        >>> problem = cardan.optimal.Problem(cardan.robots.cart_pole().model(), step, outside, far, -9.0, 9.0)
        >>> u, rng = np.zeros((20, 1)), np.random.default_rng(0)
        >>> for _ in range(30):
        ...     found = cardan.optimal.predictive_sampling(problem, [0.5, 0.0], [0.0, 0.0], u, noise=1.0, seed=rng)
        ...     u = found.u
        >>> found.q.shape, bool(found.cost < 12.0)  # 20.25 without controls
        ((21, 2), True)
    """
    batch, (q, v, controls), given = checked_problem(WHERE, problem, q0, v0, u, parameters)
    if problem.constraints:
        raise UnsupportedError("a problem with constraints", WHERE, "add them to its costs, which may jump")
    count, (T, _, m), motions = 1 + whole(f"{WHERE}: samples", samples, 0), controls.shape, compiled(problem)[0]
    sigma, heat = shaped_array(WHERE, "noise", noise, (m,), ()), shaped_array(WHERE, "temperature", temperature, ())
    if (sigma < 0.0).any() or heat < 0.0:
        raise ParameterError(f"noise and temperature of {WHERE}", got=(noise, temperature), expected="numbers >= 0")
    e = sigma * generator(f"{WHERE}: seed", seed).standard_normal((T, count, 1, m))
    e[:, 0] = 0.0
    tried = np.clip(np.clip(controls, *motions.bounds)[:, None] + e, *motions.bounds)  # (T, count, problems, m)
    costs = np.empty((count, controls.shape[1]))

    def take(samples: Any, c: Descent, size: int) -> None:
        costs.reshape(-1)[samples] = c.tried_cost[:size]

    def tiled(array: np.ndarray) -> np.ndarray:
        knots, problems, *own = array.shape
        return np.broadcast_to(array[:, None], (knots, count, problems, *own)).reshape(knots, count * problems, *own)

    many = tiled(q), tiled(v), tried.reshape(T, -1, m)
    rolled(motions, many, {name: tiled(a) for name, a in given.items()}, take)
    found = first(WHERE, motions, (q, v, _chosen(tried, costs, float(heat))), given)
    return Rollout(*(batched(a, batch) for a in (found.q, found.v, found.u, found.cost)))


def _chosen(u: np.ndarray, costs: np.ndarray, temperature: float) -> Any:
    """Return controls (T, problems, m) of samples (T, count, problems, m) that cost (count, problems)."""
    costs = np.where(np.isfinite(costs), costs, np.inf)
    if temperature == 0.0:
        return np.take_along_axis(u, costs.argmin(0)[None, None, :, None], axis=1)[:, 0]
    with np.errstate(invalid="ignore"):  # of samples that all run away: their mean is NaN
        w = np.exp(-(costs - costs.min(0)) / temperature)
    return total((w / total(w))[:, None, :, None] * u.swapaxes(0, 1))
