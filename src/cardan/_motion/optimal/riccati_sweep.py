"""The Riccati recursion: the best feedback for linear dynamics and quadratic costs, knot by knot from the end.

    minimise  sum_t 1/2 x^T Q x + u^T S x + 1/2 u^T R u + q^T x + r^T u   + 1/2 x_T^T P_T x_T + p_T^T x_T
    with      x_(t+1) = A x + B u + c

The least cost from knot t on is 1/2 x^T P_t x + p_t^T x but for a constant. With the P and p of knot t + 1,

    (1)  Q_x  = q + A^T (p + P c)      Q_u  = r + B^T (p + P c)
    (2)  Q_xx = Q + A^T P A            Q_ux = S + B^T P A            Q_uu = R + B^T P B
    (3)  k = argmin 1/2 k^T Q_uu k + Q_u^T k                         K = -Q_uu^-1 Q_ux
    (4)  p_t = Q_x + K^T (Q_uu k + Q_u) + Q_ux^T k                   P_t = Q_xx + K^T Q_ux - mu K^T K

and u = k + K x. In (3) a descent adds mu to the diagonal of Q_uu, and k may have bounds: what is at a bound, and pushed
on, does not move, nor does feedback move it. (4) holds then, too: P_t = Q_xx + K^T Q_uu K + K^T Q_ux + Q_ux^T K for any
K, and what is free has (Q_uu + mu) K = -Q_ux.

Up to `LARGEST` states a stage is a program, whose lanes are problems. Beyond, its straight line would be long: then a
kernel runs all stages of a problem, with the columns of matrices in the lanes (`riccati_kernel`).

Source: Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors (2012), equations 5, 10 and 11; Tassa,
Mansard and Todorov, Control-limited differential dynamic programming (2014), for bounds.
Cost: O(T (n + m)^3).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cardan._algebra.arrays import repeat_while, symbolic
from cardan._algebra.errors import ParameterError, ShapeError
from cardan._algebra.scalar import maximum, minimum, where
from cardan._compiler.program import Array
from cardan._compiler.program.trace import trace
from cardan._compiler.runtime.memory import empty
from cardan._compiler.runtime.threads import split
from cardan._compiler.targets import compile_program, default_target
from cardan._compiler.targets.runner import Runner
from cardan._dynamics.algorithms.linear import Factor, dot, mirrored, transposed
from cardan._dynamics.call.public import Reals
from cardan._motion.optimal.riccati_kernel import PASSES, all_stages, prepared
from cardan._motion.tasks.task import checked_array

WHERE = "riccati"
LARGEST = 12  # states: from there on one problem takes the kernel less time, and from 18 on 16 problems do


class Knots(NamedTuple):
    """What there is at each knot, in the equations' letters: arrays of shape (T, problems, ...), or one knot's."""

    A: Any
    B: Any
    Q: Any
    S: Any
    R: Any
    q: Any
    r: Any


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


class Sweep(NamedTuple):
    """What a descent needs of a sweep: `least` is the least pivot of Q_uu + mu, by knot and problem."""

    P: np.ndarray
    p: np.ndarray
    K: np.ndarray
    k: np.ndarray
    slope: np.ndarray  # Q_u . k, shape (T, problems)
    curve: np.ndarray  # k . Q_uu k
    least: np.ndarray


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
    arrays |= {k: 0.5 * (arrays[k] + _T(arrays[k])) for k in ("Q", "R", "final")}
    N = math.prod(batch)

    def of_all(name: str) -> np.ndarray:
        """Return an array of shape (T, problems, ...)."""
        core = cores[name]
        full = np.broadcast_to(arrays.get(name, np.zeros(core)), (*batch, T, *core)).reshape(N, T, *core)
        return np.ascontiguousarray(np.moveaxis(full, 1, 0))

    def of_end(name: str) -> np.ndarray:
        return np.broadcast_to(arrays.get(name, np.zeros(ends[name])), (*batch, *ends[name])).reshape(N, *ends[name])

    knots = Knots._make(map(of_all, Knots._fields))
    found = sweep(knots, of_end("final"), of_end("final_slope"), np.zeros(knots.A.shape[1]), c=of_all("c"))
    bad = np.argwhere(~(found.least > 0.0))
    if len(bad):
        got = f"{found.least[tuple(bad[-1])]:.3g} as its least pivot at knot {bad[-1][0]}"
        raise ParameterError("R + B^T P B of riccati", got=got, expected="a positive definite matrix")
    return Riccati(*(np.moveaxis(a, 0, 1).reshape(*batch, a.shape[0], *a.shape[2:]) for a in (*found[2:4], *found[:2])))


def _sizes(A: ArrayLike, B: ArrayLike) -> tuple[int, int]:
    """Return how many states and controls there are, as A and B say."""
    for name, array in (("A", A), ("B", B)):
        if np.ndim(array) < 2:
            raise ShapeError(WHERE, name, got=np.shape(array), expected="(..., T, n, n) and (..., T, n, m)")
        if not np.shape(array)[-1]:
            raise ShapeError(WHERE, name, got=np.shape(array), expected="one state and one control at least")
    return np.shape(A)[-1], np.shape(B)[-1]


def _leading(leads: Mapping[str, tuple[int, ...]], ends: Collection[str]) -> tuple[tuple[int, ...], int]:
    """Return the batch, and how many knots there are."""
    try:
        lead = np.broadcast_shapes(*(shape for name, shape in leads.items() if name not in ends))
        batch = np.broadcast_shapes(lead[:-1], *(shape for name, shape in leads.items() if name in ends))
    except ValueError:
        raise ShapeError(WHERE, "arrays", got=dict(leads), expected="leading dimensions that broadcast") from None
    if not lead or not lead[-1]:
        raise ShapeError(WHERE, "A", got="no knots", expected="(..., T, n, n): an A for each knot")
    return batch, lead[-1]


# --- one stage, of symbols ---


def stage(P: Any, p: Any, at: Knots, mu: Any, bounds: Sequence[Any] | None = None, c: Any = None) -> tuple[Any, ...]:
    """Return P_t and p_t, K and k, Q_u . k, k . Q_uu k, and the least pivot of Q_uu + mu 1; `bounds` are those of k."""
    A, B, Q, S, R, q, r = at
    if c is not None:
        p = p + _times(P, c)
    PA, PB = P @ A, P @ B
    Q_x, Q_u = q + _times(_T(A), p), r + _times(_T(B), p)  # (1)
    Q_xx, Q_ux, Q_uu = Q + _symmetric(A, PA), S + _T(B) @ PA, R + _symmetric(B, PB)  # (2)
    H = Q_uu + np.eye(Q_uu.shape[-1]) * mu[..., None, None]
    if bounds is None:
        solved, least = _solved(H, np.concatenate([Q_u[..., None], Q_ux], axis=-1))
        k, K = -solved[..., 0], -solved[..., 1:]  # (3)
    else:
        k, free = _within(H, Q_u, *bounds)
        solved, least = _solved(_of_free(H, free), Q_ux * free[..., None])
        K = -solved
    Qk = _times(Q_uu, k)
    p = Q_x + _times(_T(K), Qk + Q_u) + _times(_T(Q_ux), k)  # (4)
    P = np.array(mirrored(Q_xx.tolist()), dtype=object) + _symmetric(K, Q_ux - mu[..., None, None] * K)
    return P, p, K, k, (Q_u * k).sum(-1), (Qk * k).sum(-1), least


def _T(M: Any) -> Any:
    return np.swapaxes(M, -1, -2)


def _symmetric(X: Any, Y: Any) -> Any:
    """Return X^T Y, which is symmetric, with equal halves."""
    columns = [transposed(M.tolist()) for M in (X, Y)]
    rows = [[dot(x, y) for y in columns[1][: i + 1]] for i, x in enumerate(columns[0])]
    return np.array(mirrored([row + [0.0] * (len(rows) - len(row)) for row in rows]), dtype=object)


def _times(M: Any, x: Any) -> Any:
    return (M @ x[..., None])[..., 0]


def _solved(H: Any, b: Any) -> tuple[Any, Any]:
    """Return H^-1 b and the least pivot, which is above 0 if H is positive definite."""
    factor = Factor(H.tolist())
    rows = transposed([factor.solve(column) for column in b.T.tolist()])
    least = functools.reduce(minimum, [1.0 / e for e in factor.inverse_diagonal])
    return symbolic((e for row in rows for e in row), b.shape), least


def _of_free(H: Any, free: Any) -> Any:
    """Return H with rows and columns of the identity for what is not free."""
    return H * free[..., None] * free[..., None, :] + np.eye(H.shape[-1]) * (1.0 - free)[..., None]


def _within(H: Any, g: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the k between bounds that makes 1/2 k^T H k + g^T k least, and 1 for what is not at one, 0 else.

    Newton steps of what is free, cut off at the bounds, the best of some lengths each: projected Newton. It ends when
    none makes it less.
    """

    def value(k: Any) -> Any:
        return (k * (0.5 * _times(H, k) + g)).sum(-1, keepdims=True)

    def freedom(k: Any) -> Any:
        slope = g + _times(H, k)
        return where((k <= low) & (slope > 0.0), 0.0, where((k >= high) & (slope < 0.0), 0.0, 1.0))

    def going(k: Any, _: Any, gained: Any) -> Any:
        return gained[0] > 0.0

    def better(k: Any, before: Any, _: Any) -> tuple[Any, Any, Any]:
        free = freedom(k)
        step = -_solved(_of_free(H, free), ((g + _times(H, k)) * free)[..., None])[0][..., 0]
        best, found = before, k
        for share in (1.0, 0.5, 0.25, 0.0625, 0.00390625):
            tried = minimum(maximum(k + share * step, low), high)
            cost = value(tried)
            found, best = _of_less(cost, tried, best, found), minimum(cost, best)
        return found, best, before - best

    k = minimum(maximum(0.0 * g, low), high)
    k, _, _ = repeat_while(PASSES, going, better, k, value(k), 1.0 + 0.0 * value(k))
    return k, freedom(k)


def _of_less(cost: Any, tried: Any, best: Any, found: Any) -> Any:
    """Return the one of two vectors that costs less."""
    return symbolic((where(cost[0] < best[0], x, y) for x, y in zip(tried, found, strict=True)), tried.shape)


# --- all of them ---


def sweep(
    knots: Knots, P: np.ndarray, p: np.ndarray, mu: np.ndarray, bounds: Any = None, c: np.ndarray | None = None
) -> Sweep:
    """Return the stages of all knots of some problems, from the end; P, p and mu are of each problem."""
    (T, N, n, m), known = knots.B.shape, c is not None
    found = Sweep(
        *(empty((T + 1, N, *core), P.dtype) for core in ((n, n), (n,))),
        *(empty((T, N, *core), P.dtype) for core in ((m, n), (m,), (), (), ())),
    )
    found.P[T], found.p[T] = P, p
    if n > LARGEST:
        given = knots._asdict() | found._asdict() | {"mu": mu, "c": c if known else np.zeros((T, N, n))}
        given |= dict(zip(("low", "high"), bounds or (), strict=False))
        arrays = {name: np.ascontiguousarray(a) for name, a in given.items()}
        split(N, T * (n + m) ** 3, 1, None, lambda start, stop: all_stages(prepared(T, N, n, m, arrays), start, stop))
        return found
    rows = [found.P[1:], found.p[1:], *knots, np.broadcast_to(mu, (T, N)), *(bounds or ()), *((c,) if known else ())]
    results = [found.P[:-1], found.p[:-1], *found[2:]]
    _program(n, m, bounds is not None, known).in_turn([a[::-1] for a in rows], [a[::-1] for a in results])
    return found


def _stage_of(P: Any, p: Any, *given: Any) -> tuple[Any, ...]:
    at, mu, rest = Knots._make(given[:7]), given[7], given[8:]
    bounds, c = (rest[:2], rest[2:]) if len(rest) > 1 else (None, rest)
    return stage(P, p, at, mu, bounds, *c)


@functools.cache
def _program(n: int, m: int, is_bounded: bool, has_c: bool) -> Runner:
    """Return a stage of that size, compiled."""
    shapes = {"P": (n, n), "p": (n,), "A": (n, n), "B": (n, m), "Q": (n, n), "S": (m, n), "R": (m, m), "q": (n,)}
    shapes |= {"r": (m,), "mu": ()} | (dict.fromkeys(("low", "high"), (m,)) if is_bounded else {})
    shapes |= {"c": (n,)} if has_c else {}

    def run(*given: Any) -> dict[str, Any]:
        return dict(zip(Sweep._fields, _stage_of(*given), strict=True))

    inputs = [Array(name, shape) for name, shape in shapes.items()]
    return compile_program(trace(f"riccati_{n}_{m}", run, inputs, regions=True), default_target())
