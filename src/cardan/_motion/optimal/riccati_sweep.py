"""The Riccati recursion: the best feedback for linear dynamics and quadratic costs, knot by knot from the end.

    minimise  sum_t 1/2 x^T Q x + u^T S x + 1/2 u^T R u + q^T x + r^T u   + 1/2 x_T^T P_T x_T + p_T^T x_T
    with      x_(t+1) = A x + B u + c

The least cost from knot t on is 1/2 x^T P_t x + p_t^T x but for a constant. With the P and p of knot t + 1,

    (1)  Q_x  = q + A^T (p + P c)      Q_u  = r + B^T (p + P c)
    (2)  Q_xx = Q + A^T P A            Q_ux = S + B^T P A            Q_uu = R + B^T P B
    (3)  k = argmin 1/2 k^T Q_uu k + Q_u^T k                         K = -Q_uu^-1 Q_ux
    (4)  p_t = Q_x + K^T (Q_uu k + Q_u) + Q_ux^T k                   P_t = Q_xx + K^T (Q_ux - D K)

and u = k + K x. In (3) a descent adds D, mu times the diagonal of Q_uu, to Q_uu, and W to the diagonal of P of the next
knot: the cost of leaving the motion that x is counted from. And k may have bounds: what is at a bound,
and pushed on, does not move, nor does feedback move it. (4) holds then, too: P_t = Q_xx + K^T Q_uu K + K^T Q_ux +
Q_ux^T K for any K, and what is free has (Q_uu + D) K = -Q_ux.

`riccati_kernel` has the stages of all knots, compiled for a number of states and controls.

Source: Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors (2012), equations 5, 10 and 11; Tassa,
Mansard and Todorov, Control-limited differential dynamic programming (2014), for bounds.
Cost: O(T (n + m)^3).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.errors import ParameterError, ShapeError
from cardan._compiler.kernels import Kernel
from cardan._compiler.runtime.threads import split
from cardan._dynamics.call.arguments import broadcast, numeric_array
from cardan._dynamics.call.public import Reals
from cardan._motion.optimal.riccati_kernel import (
    TOGETHER,
    Knots,
    Stages,
    all_stages,
    arranged,
    arranged_end,
    room,
    sizes,
    zeros,
)
from cardan._motion.tasks.task import checked_array

WHERE = "riccati"


class Riccati(NamedTuple):
    """The best feedback u = k + K x, and the least cost from each knot on, 1/2 x^T P x + p^T x but for a constant.

    Attributes:
        K: gains [-], shape (..., T, m, n).
        k: controls at x = 0 [-], shape (..., T, m).
        P: second derivatives of the least cost [-], shape (..., T + 1, n, n), symmetric.
        p: first derivatives at x = 0 [-], shape (..., T + 1, n).

    Examples:
        >>> cardan.optimal.Riccati._fields
        ('K', 'k', 'P', 'p')
    """

    K: Reals
    k: Reals
    P: Reals
    p: Reals


def riccati(
    A: ArrayLike,
    B: ArrayLike,
    Q: ArrayLike,
    R: ArrayLike,
    final: ArrayLike,
    *,
    S: ArrayLike | None = None,
    q: ArrayLike | None = None,
    r: ArrayLike | None = None,
    c: ArrayLike | None = None,
    final_slope: ArrayLike | None = None,
) -> Riccati:
    """Return the best feedback for linear dynamics and quadratic costs over T knots.

    What is the same at all knots may be given once. States, controls and costs are in any units [-].

    Args:
        A: of x_next = A x + B u + c [-], shape (..., T, n, n); one of A, B, Q and R has the knots, T.
        B: likewise [-], shape (..., T, n, m).
        Q: second derivatives of the cost of a knot by x [-], shape (..., T, n, n), symmetric.
        R: those by u [-], shape (..., T, m, m), symmetric.
        final: those of the cost of the last state, P_T [-], shape (..., n, n), symmetric.
        S: those by u (rows) and x [-], shape (..., T, m, n); 0 by default.
        q: first derivatives of the cost of a knot by x [-], shape (..., T, n); 0 by default.
        r: those by u [-], shape (..., T, m); 0 by default.
        c: as A [-], shape (..., T, n); 0 by default.
        final_slope: first derivatives of the cost of the last state, p_T [-], shape (..., n); 0 by default.

    Raises:
        ShapeError, DTypeError: for an array that does not fit.
        ParameterError: if R + B^T P B is not positive definite, with the knot.

    Examples:
        >>> A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])  # a mass that is pushed
        >>> found = cardan.optimal.riccati(np.tile(A, (200, 1, 1)), B, np.eye(2), np.eye(1), np.eye(2))
        >>> found.K[0].round(3)
        array([[-0.917, -1.682]])
    """
    n, m = _sizes(A, B)
    cores = {"A": (n, n), "B": (n, m), "Q": (n, n), "S": (m, n), "R": (m, m), "q": (n,), "r": (m,), "c": (n,)}
    ends = {"final": (n, n), "final_slope": (n,)}
    given = {"A": A, "B": B, "Q": Q, "S": S, "R": R, "q": q, "r": r, "c": c}
    given |= {"final": final, "final_slope": final_slope}
    arrays = {k: checked_array(WHERE, k, given[k], core) for k, core in (cores | ends).items() if given[k] is not None}
    batch, T = _leading({k: a.shape[: a.ndim - len((cores | ends)[k])] for k, a in arrays.items()}, ends)
    # x^T Q x is that of the symmetric part
    arrays |= {k: 0.5 * (arrays[k] + np.swapaxes(arrays[k], -1, -2)) for k in ("Q", "R", "final")}
    N, s = math.prod(batch), sizes(n, m)

    def of_all(name: str) -> np.ndarray:
        """Return an array of shape (T, problems, ...)."""
        core = cores[name]
        full = np.broadcast_to(arrays.get(name, np.zeros(core)), (*batch, T, *core)).reshape(N, T, *core)
        return np.ascontiguousarray(np.moveaxis(full, 1, 0))

    def of_end(name: str) -> np.ndarray:
        return np.broadcast_to(arrays.get(name, np.zeros(ends[name])), (*batch, *ends[name])).reshape(N, *ends[name])

    held = fields_of(Knots(*map(of_all, Knots._fields)), of_all("c"), *map(of_end, ends))
    run = lambda start, stop: _stages(n, m)(Stages(**held, **room(n, m)), start, stop)  # noqa: E731
    split(N, T * (n + m) ** 3, TOGETHER, None, run)
    least, last = held["least"], held["last"]
    bad = np.flatnonzero(~(least > 0.0))
    if len(bad):
        worst = bad[last[bad].argmax()]
        got = f"{least[worst]:.3g} as its least pivot at knot {last[worst]:.0f}"
        raise ParameterError("R + B^T P B of riccati", got=got, expected="a positive definite matrix")
    P = held["cost_to_go"].reshape(T + 1, N, n + 1, 8 * s["X"])[..., :n]
    row = held["numbers"].reshape(T, N, 8 * s["L"])
    k, K = row[..., s["SMALL"] : s["SMALL"] + m], row[..., : s["SMALL"]].reshape(T, N, m, 8 * s["X"])[..., :n]
    found = K, k, P[..., :n, :], P[..., n, :]
    return Riccati(*(np.moveaxis(a, 0, 1).reshape(*batch, a.shape[0], *a.shape[2:]) for a in found))


@functools.cache
def _stages(n: int, m: int) -> Kernel:
    """Return the kernel for so many states and controls."""
    return all_stages.fixed(**sizes(n, m))


def fields_of(knots: Knots, c: np.ndarray, final: np.ndarray, final_slope: np.ndarray) -> dict[str, Any]:
    """Return what a sweep is given, but for the room to compute in."""
    T, N, n, m = knots.B.shape
    s = sizes(n, m)
    cost, rows = zeros(T + 1, N, n + 1, 8 * s["X"]), zeros(T * N * s["L"], 8)
    cost[T] = arranged_end(final, final_slope, zeros)
    arrays = arranged(knots, zeros, c) | {"cost_to_go": cost, "rows": rows}
    found: dict[str, Any] = {name: a.reshape(-1, 8) for name, a in arrays.items()}
    found |= {name: np.zeros(N) for name in ("mu", "slope", "curve")}
    found |= {"weights": np.zeros(N * n), "numbers": rows.ravel(), "least": np.full(N, np.inf), "last": np.zeros(N)}
    return found | {"problems": N, "knots": T, "kept": N * (n + 1) * s["X"], "step_HX": n * s["X"]}


def _sizes(A: ArrayLike, B: ArrayLike) -> tuple[int, int]:
    """Return how many states and controls there are, as A and B say."""
    shapes = {name: numeric_array(WHERE, name, array).shape for name, array in (("A", A), ("B", B))}
    for name, shape in shapes.items():
        if len(shape) < 2:
            raise ShapeError(WHERE, name, got=shape, expected="(..., T, n, n) and (..., T, n, m)")
        if not shape[-1]:
            raise ShapeError(WHERE, name, got=shape, expected="one state and one control at least")
    return shapes["A"][-1], shapes["B"][-1]


def _leading(leads: Mapping[str, tuple[int, ...]], ends: Collection[str]) -> tuple[tuple[int, ...], int]:
    """Return the batch, and how many knots there are."""
    lead = broadcast(WHERE, {name: shape for name, shape in leads.items() if name not in ends})
    batch = broadcast(WHERE, {"A": lead[:-1]} | {name: shape for name, shape in leads.items() if name in ends})
    if not lead or not lead[-1]:
        raise ShapeError(WHERE, "A", got="no knots", expected="(..., T, n, n): an A for each knot")
    return batch, lead[-1]
