"""Optimal control: Riccati recursions beside least squares, descents beside their laws, batches, bounds, errors."""

import dataclasses
import pickle
from unittest import mock

import numpy as np
import pytest
import scipy.optimize

import cardan
from cardan import optimal
from cardan._compiler.kernels import RowProgram
from cardan._compiler.runtime import threads
from cardan._motion.optimal import riccati_sweep as page
from cardan._motion.optimal.descent import compiled
from cardan._motion.optimal.motions import Motions
from cardan._motion.optimal.riccati_kernel import Stages, all_stages, room, sizes, zeros
from cardan._motion.optimal.workspace import workspace
from cardan.errors import (
    ConfigurationError,
    DTypeError,
    NotFiniteError,
    ParameterError,
    ShapeError,
    UnknownNameError,
    UnsupportedError,
)
from closeness import close

CART, ARM = cardan.robots.cart_pole().model(), cardan.robots.arm7().model()
DT = 0.03


def linear(T, n, m, batch=(), seed=0):
    """Dynamics and costs of all kinds: A, B, Q, R, final, and the rest by name."""
    rng = np.random.default_rng(seed)
    A = np.eye(n) + 0.1 * rng.normal(size=(*batch, T, n, n))
    B = rng.normal(size=(*batch, T, n, m))
    root = rng.normal(size=(T, n + m, n + m))
    H = root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(n + m)
    rest = {"S": H[:, n:, :n], "q": rng.normal(size=(T, n)), "r": rng.normal(size=(T, m)), "c": rng.normal(size=(T, n))}
    return (A, B, H[:, :n, :n], H[:, n:, n:], np.eye(n)), rest | {"final_slope": rng.normal(size=n)}


def cost_of(given, rest, x, u):
    """The cost of controls, and the states they lead to."""
    A, B, Q, R, final = given
    total = 0.0
    for t in range(len(u)):
        total += 0.5 * x @ Q[t] @ x + u[t] @ rest["S"][t] @ x + 0.5 * u[t] @ R[t] @ u[t]
        total += rest["q"][t] @ x + rest["r"][t] @ u[t]
        x = A[t] @ x + B[t] @ u[t] + rest["c"][t]
    return total + 0.5 * x @ final @ x + rest["final_slope"] @ x


def test_riccati_finds_the_least_cost():
    """No other controls cost less, and the feedback's cost is what P and p say."""
    given, rest = linear(6, 4, 2)
    found = optimal.riccati(*given, **rest)
    rng, x0 = np.random.default_rng(1), np.array([1.0, -2.0, 0.5, 0.3])

    def controls(x):
        us = []
        for t in range(6):
            us.append(found.k[t] + found.K[t] @ x)
            x = given[0][t] @ x + given[1][t] @ us[-1] + rest["c"][t]
        return np.array(us)

    u = controls(x0)
    least = cost_of(given, rest, x0, u)
    for _ in range(5):
        d = rng.normal(size=u.shape)
        sides = [cost_of(given, rest, x0, u + e * d) for e in (-1e-4, 1e-4)]
        assert least < min(sides)
        np.testing.assert_allclose(sides[0], sides[1], rtol=1e-9)  # no slope
    other = np.zeros(4)
    value = [0.5 * x @ found.P[0] @ x + found.p[0] @ x for x in (x0, other)]
    np.testing.assert_allclose(value[0] - value[1], least - cost_of(given, rest, other, controls(other)), rtol=1e-11)
    assert (np.swapaxes(found.P, -1, -2) == found.P).all()


def test_riccati_of_a_batch_and_of_what_is_given_once():
    given, rest = linear(5, 3, 1, batch=(2, 4))
    found = optimal.riccati(*given, **rest)
    assert [a.shape for a in found] == [(2, 4, 5, 1, 3), (2, 4, 5, 1), (2, 4, 6, 3, 3), (2, 4, 6, 3)]
    one = optimal.riccati(given[0][1, 2], given[1][1, 2], *given[2:], **rest)
    for whole, part in zip(found, one, strict=True):
        np.testing.assert_array_equal(whole[1, 2], part)
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])
    found = optimal.riccati(np.tile(A, (400, 1, 1)), B, np.eye(2), np.eye(1), np.eye(2))
    P = found.P[0]  # at rest it obeys the algebraic equation
    H = np.eye(1) + B.T @ P @ B
    close(P, np.eye(2) + A.T @ P @ A - A.T @ P @ B @ np.linalg.solve(H, B.T @ P @ A), 1e-10)


def test_riccati_of_what_overflows_is_refused_without_warnings():
    """NumPy warned of large problems as they ran away."""
    (A, *given), _ = linear(6, 4, 2)
    with pytest.raises(ParameterError, match="positive definite"):  # warnings of ours are errors
        optimal.riccati(1e200 * A, *given)


def test_riccati_of_controls_in_units_of_their_own():
    """And of costs whose matrices are not symmetric, which are those of the symmetric parts; and of no problems."""
    (A, B, Q, R, final), rest = linear(5, 3, 2)
    found = optimal.riccati(A, B, Q, R, final, **rest)
    D, skew = np.diag([1e-9, 1e9]), np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, -2.0, 0.0]])
    scaled = rest | {"S": D @ rest["S"], "r": rest["r"] @ D}
    other = optimal.riccati(A, B @ D, Q + skew, D @ R @ D, final + skew, **scaled)
    close(D @ other.K, found.K, 1e-9)
    close(other.P[:-1], found.P[:-1], 1e-9)
    assert optimal.riccati(np.zeros((0, *A.shape)), B, Q, R, final).K.shape == (0, 5, 2, 3)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_riccati_at_other_scales(scale):
    """Costs in another unit have the same feedback."""
    given, rest = linear(5, 3, 2)
    found = optimal.riccati(*given, **rest)
    scaled = optimal.riccati(
        *given[:2], *(scale * a for a in given[2:]), **{n: a * (1 if n == "c" else scale) for n, a in rest.items()}
    )
    close(scaled.K, found.K, 1e-9)
    close(scaled.k, found.k, 1e-9)


def test_what_riccati_refuses():
    given, rest = linear(4, 3, 2)
    with pytest.raises(ParameterError, match="positive definite"):
        optimal.riccati(*given[:3], -100.0 * np.eye(2), given[4])
    with pytest.raises(ShapeError, match="'R'"):
        optimal.riccati(*given[:3], np.eye(3), given[4])
    with pytest.raises(ShapeError, match="'A'"):
        optimal.riccati(given[0][0], given[1][0], np.eye(3), np.eye(2), np.eye(3))
    with pytest.raises(ShapeError, match="broadcast"):
        optimal.riccati(given[0][:3], *given[1:], **rest)
    with pytest.raises(NotFiniteError, match="q"):
        optimal.riccati(*given, **(rest | {"q": np.full((4, 3), np.nan)}))
    with pytest.raises(DTypeError):
        optimal.riccati(*given[:3], "R", given[4])
    for ragged in (([np.eye(3), [[1.0]]], given[1]), (given[0], [[1.0, 2.0], [3.0]])):  # it was an error of NumPy
        with pytest.raises(DTypeError, match="ragged"):
            optimal.riccati(*ragged, *given[2:])


def swept(knots, ends, mu, weights, bounds=None):
    """P, p, K and k of all knots and problems, by arrays of knots (T, N, ...) and of the ends, of all problems."""
    (T, N, n, m), s = knots["B"].shape, sizes(*knots["B"].shape[2:])
    at = page.Knots(*(knots[name] for name in page.Knots._fields))
    c = Stages(**page.fields_of(at, knots["c"], **ends), **room(n, m))
    c.mu, c.weights = mu, np.ascontiguousarray(weights).reshape(-1)
    if bounds:
        c.low, c.high = (np.ascontiguousarray(b).reshape(-1) for b in bounds)
    all_stages.fixed(**s, IS_BOUNDED=bounds is not None)(c, 0, N)
    assert (c.least > 0.0).all()
    cost, rows = c.cost_to_go.reshape(T + 1, N, n + 1, -1)[..., :n], c.numbers.reshape(T, N, -1)
    K, k = rows[..., : s["SMALL"]].reshape(T, N, m, -1)[..., :n], rows[..., s["SMALL"] : s["SMALL"] + m]
    return cost[..., :n, :], cost[..., n, :], K, k


def in_lanes(array):
    """An array of eight problems first, as eight numbers for one; behind it is room."""
    rows = np.moveaxis(array, 0, -1).reshape(-1, 8)
    found = zeros(len(rows) + 8, 8)
    found[: len(rows)] = rows
    return found


def swept_across(knots, ends, mu, weights, bounds=None):
    """K, k, P and p of the first knot, and the least pivots, of eight problems in the lanes of vectors."""
    (T, _, n, m), s = knots["B"].shape, sizes(*knots["B"].shape[2:], 1)
    of = {name: a.swapaxes(0, 1) for name, a in knots.items()}
    r = np.concatenate([of["r"], np.zeros((8, T, 1))], 2)[..., None]
    HU = np.concatenate([of["R"], of["r"][:, :, None]], 2), r, np.concatenate([of["S"], of["q"][:, :, None]], 2)
    arrays = {
        "G": np.concatenate([of["B"], of["c"][..., None], of["A"]], 3),
        "HU": np.concatenate(HU, 3),
        "HX": of["Q"],
    }
    arrays["cost_to_go"] = np.concatenate([np.broadcast_to(ends["final"], (8, n, n)), ends["final_slope"][:, None]], 1)
    arrays |= {"mu": mu, "weights": weights, "least": np.full(8, np.inf), "rows": np.zeros((8, T * s["L"]))}
    arrays |= dict.fromkeys(("slope", "curve", "last"), np.zeros(8))
    if bounds:
        arrays |= dict(zip(("low", "high"), (b.swapaxes(0, 1) for b in bounds), strict=True))
    c = Stages.across()(
        problems=1, knots=T, step_HX=n * n, **room(n, m, 1), **{name: in_lanes(a) for name, a in arrays.items()}
    )
    c.numbers = c.rows
    all_stages.fixed(**s, IS_BOUNDED=bounds is not None).across()(c, 0, 1)
    rows, cost = np.moveaxis(c.rows[:-8], -1, 0).reshape(8, T, -1), np.moveaxis(c.cost_to_go[:-8], -1, 0)
    cost = cost.reshape(8, n + 1, n)
    K, k = rows[..., : m * n].reshape(8, T, m, n), rows[..., m * n :]
    return cost[:, :n], cost[:, n], K.swapaxes(0, 1), k.swapaxes(0, 1), c.least[0]


def times(M, x):
    return (M @ x[..., None])[..., 0]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 9), (7, 2), (8, 8), (17, 4), (14, 7)])
def test_stages_are_the_equations(n, m):
    """Sizes within, at and beyond a vector; gaps and bounds; problems side by side, each as by itself.

    No k within its bounds costs less (Karush, Kuhn and Tucker), and feedback does not move what is at one. P and p are
    those of the K and k that were found.
    """
    rng, T, N = np.random.default_rng(n), 3, 19

    def positive(size):
        root = rng.normal(size=(T, N, size, size))
        return root @ np.swapaxes(root, -1, -2) / size + 0.1 * np.eye(size)

    W, turned = positive(n + m), lambda M: np.swapaxes(M, -1, -2)
    knots = {"A": rng.normal(size=(T, N, n, n)) / n, "B": rng.normal(size=(T, N, n, m)), "Q": W[..., :n, :n]}
    knots |= {"S": W[..., n:, :n], "R": W[..., n:, n:]}
    knots |= {name: rng.normal(size=(T, N, size)) for name, size in (("q", n), ("r", m), ("c", n))}
    ends, mu = {"final": positive(n)[0], "final_slope": rng.normal(size=(N, n))}, rng.uniform(size=N)
    weights = rng.uniform(size=(N, n))
    stay = weights[..., None] * np.eye(n)  # W, in all P but the first
    for limits in (None, (-0.3, 0.2)):
        bounds = limits and [np.full((T, N, m), limit) for limit in limits]
        P, p, K, k = found = swept(knots, ends, mu, weights, bounds)
        np.testing.assert_array_equal(P[-1], ends["final"] + stay)
        A, B, Q, S, R, q, r, c = (knots[name] for name in "ABQSRqrc")
        after = p[1:] + times(P[1:], c)
        Q_u, Q_x = r + times(turned(B), after), q + times(turned(A), after)
        Q_uu, Q_ux, Q_xx = R + turned(B) @ P[1:] @ B, S + turned(B) @ P[1:] @ A, Q + turned(A) @ P[1:] @ A
        H = Q_uu + mu[:, None, None] * Q_uu * np.eye(m)
        slope, at_low, at_high = Q_u + times(H, k), np.zeros(k.shape, bool), np.zeros(k.shape, bool)
        if limits:
            at_low, at_high = k <= limits[0], k >= limits[1]
            assert (at_low | at_high).any()
        free = ~(at_low | at_high)
        assert free.any()
        assert (np.abs(slope[free]) < 1e-12 * max(1.0, np.abs(Q_u).max())).all()
        assert (slope[at_low] >= 0.0).all()
        assert (slope[at_high] <= 0.0).all()
        assert (K[~free] == 0.0).all()
        close((H @ K + Q_ux) * free[..., None], 0.0 * Q_ux, 1e-12)
        close(
            np.concatenate([P[:1], P[1:-1] - stay]),
            Q_xx + turned(K) @ Q_uu @ K + turned(K) @ Q_ux + turned(Q_ux) @ K,
            1e-12,
        )
        close(p[:-1], Q_x + times(turned(K), times(Q_uu, k) + Q_u) + times(turned(Q_ux), k), 1e-12)
        own = {name: np.ascontiguousarray(a[:, 5:6]) for name, a in knots.items()}
        one = {name: a[5:6] for name, a in ends.items()}
        alone = swept(own, one, mu[5:6].copy(), weights[5:6], bounds and [b[:, 5:6] for b in bounds])
        for a, b in zip(alone, found, strict=True):
            np.testing.assert_array_equal(a[:, 0], b[:, 5])
        eight = {name: a[:, :8].copy() for name, a in knots.items()}
        eight["R"][1, 3] -= 1e3 * np.eye(m)  # which is not sound: of no other problem
        limit = bounds and [b[:, :8] for b in bounds]
        across = swept_across(eight, {k: a[:8] for k, a in ends.items()}, mu[:8], weights[:8], limit)
        others = np.arange(8) != 3
        for a, b in zip(across[:2], (P[0], p[0]), strict=True):
            np.testing.assert_array_equal(a[others], b[:8][others])
        for a, b in zip(across[2:4], (K, k), strict=True):
            np.testing.assert_array_equal(a[:, others], b[:, :8][:, others])
        assert ((across[-1] > 0.0) == others).all()


# --- descents ---


@cardan.function(shapes={"u": (1,)})
def step(model, q, v, u):
    v_next = v + DT * cardan.forward_dynamics(model, q, v, [u[0], 0.0])
    return cardan.integrate(model, q, DT * v_next), v_next


@cardan.function(shapes={"u": (1,)}, returns=())
def cost(model, q, v, u):
    return 0.05 * (q @ q + v @ v) + 0.005 * u[0] * u[0]


@cardan.function(returns=())
def final(model, q, v):
    return 500.0 * (q @ q + v @ v)


def total(problem, q0, v0, u):
    """What controls cost, step by step."""
    q, v, found = q0, v0, 0.0
    for control in u:
        found += float(problem.cost(problem.model, q, v, control))
        q, v = problem.step(problem.model, q, v, control)
    return found + float(problem.final_cost(problem.model, q, v))


HANGING, STILL = np.array([0.0, np.pi]), np.zeros(2)


@pytest.mark.slow
def test_a_pole_swings_up():
    problem = optimal.Problem(CART, step, cost, final)
    found = optimal.solve(problem, HANGING, STILL, np.zeros((60, 1)), tolerance=1e-5)
    assert found.converged
    assert np.abs(found.q[-1]).max() < 0.05
    np.testing.assert_allclose(found.cost, total(problem, HANGING, STILL, found.u), rtol=1e-12)
    for k in (0, 20, 50):  # the gradient by one control is small
        sides = []
        for h in (-1e-3, 1e-3):
            u = found.u.copy()
            u[k] += h
            sides.append(total(problem, HANGING, STILL, u))
        assert min(sides) > found.cost - 1e-3 * found.cost
    again = optimal.solve(problem, HANGING, STILL, found.u)
    assert again.cost <= found.cost


@pytest.mark.slow
@pytest.mark.parametrize("hessian", ["gauss-newton", "exact"])
def test_a_cost_that_is_not_convex_in_the_controls_converges(hessian):
    """It begins where a control costs most. Steps had become too short to gain, and were made shorter for that."""

    @cardan.function(shapes={"u": (1,)}, returns=())
    def hill(model, q, v, u):
        return np.cos(u[0]) + 1e-3 * u[0] ** 4 + 0.01 * v @ v

    @cardan.function(returns=())
    def nothing(model, q, v):
        return 0.0 * q[0]

    @cardan.function(returns=())
    def near(model, q, v):
        return 10.0 * (q @ q + v @ v)

    moving = optimal.Problem(CART, step, hill, near, -10.0, 10.0)
    found = optimal.solve(moving, np.array([0.5, 0.3]), STILL, np.zeros((10, 1)), tolerance=1e-12, hessian=hessian)
    assert found.converged
    assert found.iterations < 45
    level = optimal.Problem(CART, step, hill, nothing)
    stays = optimal.solve(level, STILL, STILL, np.zeros((3, 1)), hessian=hessian)
    assert (stays.u == 0.0).all()  # no slope says which way is down, and it does not end for that
    assert not stays.converged
    assert stays.iterations < 20
    assert optimal.solve(level, STILL, STILL, np.full((3, 1), 3.0), hessian=hessian).K.any()
    once = optimal.solve(level, STILL, STILL, np.zeros((3, 1)), iterations=1, hessian=hessian)
    assert (once.K == 0.0).all()  # no recursion was sound, and those of other problems are not its own


@pytest.mark.slow
def test_bounds_hold_and_what_is_at_one_is_pushed_on():
    free = optimal.Problem(CART, step, cost, final)
    bounded = optimal.Problem(CART, step, cost, final, -8.0, 8.0)
    ours = [optimal.solve(p, HANGING, STILL, np.zeros((60, 1)), tolerance=1e-5) for p in (free, bounded)]
    assert np.abs(ours[0].u).max() > 8.0
    assert np.abs(ours[1].u).max() <= 8.0
    assert ours[1].cost > ours[0].cost
    assert (ours[1].K[np.abs(ours[1].u[:, 0]) == 8.0] == 0.0).all()
    h = 1e-6
    for k in range(0, 60, 7):
        slopes = []
        for side in (-h, h):
            u = ours[1].u.copy()
            u[k] += side
            slopes.append(total(bounded, HANGING, STILL, u))
        slope = (slopes[1] - slopes[0]) / (2 * h)
        if abs(ours[1].u[k, 0]) == 8.0:
            assert slope * np.sign(ours[1].u[k, 0]) < 0.0
        else:
            assert abs(slope) < 0.5


def test_what_is_near_a_bound_does_not_hold_up_other_controls():
    """Each problem is one knot: 1/2 u H u + g u between bounds. Some controls begin a rounding error from theirs."""
    m, count, rng = 4, 400, np.random.default_rng(0)

    @cardan.function(shapes={"u": (m,)})
    def rest(model, q, v, u):
        return q, v

    @cardan.function(shapes={"u": (m,), "H": (m, m), "g": (m,)}, returns=())
    def quadratic(model, q, v, u, H, g):
        return 0.5 * (u @ H @ u) + g @ u

    @cardan.function(returns=())
    def nothing(model, q, v):
        return 0.0 * q[0]

    A = rng.normal(size=(count, m, m))
    H, g = A @ A.swapaxes(1, 2) + 0.05 * np.eye(m), 5.0 * rng.normal(size=(count, m))
    away = rng.choice([0.0, 1e-16, 1e-12, 1e-8, 1e-4, 0.5], size=(count, m))
    u = rng.choice([-1.0, 1.0], size=(count, m)) * (1.0 - away)
    problem = optimal.Problem(CART, rest, quadratic, nothing, -1.0, 1.0)
    begin = np.zeros((count, 2))
    found = optimal.solve(problem, begin, begin, u[:, None], {"H": H[:, None], "g": g[:, None]}, tolerance=1e-12)
    slopes = np.einsum("kij,kj->ki", H, found.u[:, 0]) + g
    left = np.clip(found.u[:, 0] - slopes, -1.0, 1.0) - found.u[:, 0]  # 0 of the least cost
    assert found.converged.all()
    assert np.abs(left).max() < 1e-6


@pytest.mark.slow
def test_problems_of_a_batch_do_not_see_each_other(monkeypatch):
    """More than lie side by side, which end one after the other; on two threads, too."""
    problem = optimal.Problem(CART, step, cost, final, -20.0, 20.0)
    q0 = HANGING + np.concatenate([[[0.0, 0.0]], np.random.default_rng(0).uniform(-0.4, 2.9, size=(10, 2))])
    found = optimal.solve(problem, q0, STILL, np.zeros((40, 1)), tolerance=1e-4)
    assert found.q.shape == (11, 41, 2)
    assert found.K.shape == (11, 40, 1, 4)
    assert found.converged.all()
    assert len(np.unique(found.iterations)) > 3
    for k in (0, 1, 6, 7, 8, 10):
        one = optimal.solve(problem, q0[k], STILL, np.zeros((40, 1)), tolerance=1e-4)
        for name in ("q", "u", "K", "cost", "left", "iterations"):
            np.testing.assert_array_equal(getattr(one, name), getattr(found, name)[k], err_msg=name)
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    monkeypatch.setattr(threads, "GRAIN", 1)
    monkeypatch.setattr(threads, "num_threads", lambda: 2)
    other = optimal.solve(problem, q0, STILL, np.zeros((40, 1)), tolerance=1e-4)
    np.testing.assert_array_equal(other.K, found.K)


def standing():
    """Problems of a pole that falls over without controls, and states of poles that stand: no motion of these."""
    problem = optimal.Problem(CART, step, cost, final, -60.0, 60.0)
    q0 = np.array([[1.0, 0.3], [0.1, 0.05], [-0.6, -0.2]])
    q = q0[:, None] * np.linspace(1.0, 0.0, 61)[:, None]
    return problem, q0, np.zeros((60, 1)), (q, 0.0 * q)


@pytest.mark.slow
def test_gaps_between_states_are_closed():
    problem, q0, u, states = standing()
    found = optimal.solve(problem, q0, STILL, u, states=states)
    assert found.converged.all()
    assert (found.violation == 0.0).all()
    assert (found.iterations <= 8).all()
    np.testing.assert_allclose(found.cost[0], total(problem, q0[0], STILL, found.u[0]), rtol=1e-12)
    one = optimal.solve(problem, q0[1], STILL, u, states=[a[1] for a in states])
    np.testing.assert_array_equal(one.u, found.u[1])
    again = optimal.solve(problem, q0, STILL, found.u, states=(found.q, found.v))
    assert (again.iterations == 1).all()
    for most in (1, 2, 3):  # a step may cost more than it gains only to close gaps
        begun = optimal.solve(problem, q0, STILL, u, states=states, iterations=most)
        closed = optimal.solve(problem, q0, STILL, begun.u, states=(begun.q, begun.v), iterations=1)
        assert ((closed.left >= 0.0) | (begun.violation > 0.0)).all()
    stopped = optimal.solve(problem, q0, STILL, u, states=states, iterations=0)
    assert not stopped.converged.any()
    assert (stopped.violation > 0.0).all()
    with pytest.raises(ShapeError, match="states: q"):
        optimal.solve(problem, q0, STILL, u, states=(states[0][:, 1:], states[1]))
    with pytest.raises(DTypeError, match="'states'"):
        optimal.solve(problem, q0, STILL, u, states=states[0])


@pytest.mark.full
@pytest.mark.parametrize("hessian", ["gauss-newton", "exact"])
def test_states_to_begin_with_hold_up_what_falls_over(hessian):
    problem, q0, u, states = standing()
    found = optimal.solve(problem, q0, STILL, u, states=states, hessian=hessian)
    fallen = optimal.solve(problem, q0, STILL, u, hessian=hessian)
    assert (fallen.iterations > found.iterations).all()
    assert (found.cost <= fallen.cost * (1.0 + 1e-6)).all()
    assert (found.cost < 0.9 * fallen.cost).any()


@pytest.mark.full
def test_states_of_quaternions_need_not_be_near_a_motion():
    model = ball()
    problem, given = optimal.Problem(model, moved, near_goal, at_goal), {"goal": model.neutral(), "weight": 0.1}
    q, u = model.random_configuration((31,), seed=5), np.zeros((30, 3))
    found = optimal.solve(problem, q[0], np.zeros(3), u, given, states=(q, np.ones((31, 3))))
    assert found.converged
    assert found.violation == 0.0
    after, _ = moved(model, found.q[:-1], found.v[:-1], found.u)
    np.testing.assert_allclose(cardan.difference(model, after, found.q[1:]), 0.0, atol=1e-14)


# --- far from where the search begins ---


def drone():
    """A body with four rotors, a problem to get 2 m ahead, and where to begin: without thrust it falls."""
    made = cardan.Mechanism("drone")
    made.add_body("hull", cardan.Inertia(mass=1.0, com=np.zeros(3), inertia=np.diag([0.01, 0.01, 0.02])))
    model, h, most = made.model(base="floating"), 0.02, np.array([500.0, 100.0])  # of the last q and v

    @cardan.function(shapes={"u": (4,)})
    def fly(model, q, v, u):
        turning = 0.2 * (u[1] - u[3]), 0.2 * (u[2] - u[0]), 0.02 * (u[0] - u[1] + u[2] - u[3])  # N m
        still = 0.0 * u[0]
        after = v + h * cardan.forward_dynamics(model, q, v, np.stack([still, still, u.sum(), *turning]))
        return cardan.integrate(model, q, h * after), after

    @cardan.function(shapes={"u": (4,), "goal": ("nq",)}, returns=())
    def thrust(model, q, v, u, goal):
        e = cardan.difference(model, goal, q)
        return h * (0.05 * (e @ e) + 0.025 * (v @ v) + 0.025 * (u @ u))

    @cardan.function(shapes={"goal": ("nq",)}, returns=())
    def arrived(model, q, v, goal):
        e = cardan.difference(model, goal, q)
        return 0.5 * (most[0] * (e @ e) + most[1] * (v @ v))

    goal = np.array([2.0, 1.0, 1.0, 0.0, 0.0, np.sin(0.75), np.cos(0.75)])
    return optimal.Problem(model, fly, thrust, arrived), model.neutral(), np.zeros(6), {"goal": goal}


@pytest.mark.slow
def test_a_drone_that_falls_at_first_gets_to_its_goal():
    """By a step of controls alone, mu without W, the cost was 16 000 after 200 iterations."""
    problem, q0, v0, given = drone()
    found = optimal.solve(problem, q0, v0, np.zeros((100, 4)), given, tolerance=1e-10)
    hovering = optimal.solve(problem, q0, v0, np.full((100, 4), 9.81 / 4), given, tolerance=1e-10)
    assert found.converged
    assert hovering.converged
    np.testing.assert_allclose(found.cost, hovering.cost, rtol=1e-8)

    def moved(u):
        q, v, cost = q0, v0, 0.0
        for control in u:
            cost += float(problem.cost(problem.model, q, v, control, **given))
            q, v = problem.step(problem.model, q, v, control)
        return cost + float(problem.final_cost(problem.model, q, v, **given))

    np.testing.assert_allclose(found.cost, moved(found.u), rtol=1e-12)
    rng, h = np.random.default_rng(0), 1e-4
    for way in rng.normal(size=(3, 100, 4)):  # along any way the cost has no slope: it is the least of a parabola
        before, after = moved(found.u - h * way), moved(found.u + h * way)
        assert abs(after - before) < 1e-3 * (after + before - 2.0 * found.cost)


@cardan.function(shapes={"u": ("nv",)})
def driven(model, q, v, u):
    """A step of 20 ms."""
    after = v + 0.02 * cardan.forward_dynamics(model, q, v, u)
    return cardan.integrate(model, q, 0.02 * after), after


@pytest.mark.slow
def test_an_arm_of_light_links_is_pulled_far():
    """The effort costs little and one joint has to turn: 900 remained of the first 5700, and 6 do."""
    arm = cardan.robots.arm7().model()

    @cardan.function(shapes={"u": ("nv",)}, returns=())
    def little(model, q, v, u):
        return 1e-3 * (u @ u)

    @cardan.function(returns=())
    def turned_to(model, q, v):
        return 100.0 * (q[1] - 0.5) ** 2 + v @ v

    problem = optimal.Problem(arm, driven, little, turned_to)
    found = optimal.solve(problem, arm.random_configuration(seed=0), np.zeros(7), np.zeros((20, 7)))
    assert found.cost < 20.0


@pytest.mark.slow
def test_arms_that_fall_at_first_get_to_their_goal():
    """Entries of Q_uu differ by 1e8. In units of the largest, mu held the shoulder: four of 16 stayed above 400."""
    arm, goal = cardan.robots.arm7().model(), np.array([0.8, 0.6, -0.4, 1.2, 0.3, -0.6, 0.2])

    @cardan.function(shapes={"u": ("nv",)}, returns=())
    def near(model, q, v, u):
        return 0.02 * (0.1 * ((q - goal) @ (q - goal)) + 0.05 * (v @ v) + 1e-3 * (u @ u))

    @cardan.function(returns=())
    def there(model, q, v):
        return 50.0 * ((q - goal) @ (q - goal)) + 5.0 * (v @ v)

    u = 2e-3 * np.random.default_rng(2).normal(size=(16, 60, 7))  # N m, of an arm that stands upright
    found = optimal.solve(optimal.Problem(arm, driven, near, there), np.zeros(7), np.zeros(7), u)
    assert found.converged.sum() >= 15
    assert (found.cost < 10.0).all()


# --- constraints ---


@cardan.function(returns=(2,))
def at_rest(model, q, v):
    return np.concatenate([q, v])


@cardan.function(shapes={"u": (1,), "most": ()}, returns=(2,))
def slow(model, q, v, u, most):
    return np.concatenate([v - most, -most - v])


@cardan.function(shapes={"u": (1,)}, returns=())
def effort_alone(model, q, v, u):
    return 0.5 * u[0] * u[0]


@cardan.function(returns=())
def nothing(model, q, v):
    return 0.0 * q[0]


def block():
    m = cardan.Mechanism("slide", gravity=(0.0, 0.0, 0.0))
    m.add_body("block", cardan.Inertia(2.0))
    m.add_joint("slides", cardan.joints.Prismatic((1.0, 0.0, 0.0)), "world", "block")
    return m.model()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, *(pytest.param(10.0**k, marks=pytest.mark.full) for k in (-6, 6))])
def test_constraints_are_met_with_the_least_effort(scale):
    """To rest at 0: the least controls of a linear system; with bounds on velocities, the conditions of Karush."""
    T, problem = 30, optimal.Problem(block(), pushed, effort_alone, nothing, final_equality=at_rest)
    allowed = 1e-9 * scale
    found = optimal.solve(problem, [scale], [0.0], np.zeros((T, 1)), violation=allowed)
    both = optimal.solve(problem, [[3.0 * scale], [scale]], [0.0], np.zeros((T, 1)), violation=allowed)
    for name in optimal.Solution.__slots__:  # each of a batch by itself, to the bit
        np.testing.assert_array_equal(getattr(both, name)[1], getattr(found, name))
    powers = [DT / 2.0 * np.array([DT * (T - k), 1.0]) for k in range(T)]
    B = np.transpose(powers)  # of the last state by all controls
    close(found.u[:, 0] / scale, np.linalg.lstsq(B, [-1.0, 0.0], rcond=None)[0], 1e-6)
    assert found.converged
    assert found.violation <= allowed

    most = 0.8 * np.abs(found.v).max()
    limited = optimal.Problem(block(), pushed, effort_alone, nothing, inequality=slow, final_equality=at_rest)
    bound = optimal.solve(limited, [scale], [0.0], np.zeros((T, 1)), {"most": most}, violation=allowed)
    assert bound.converged
    assert bound.violation <= allowed
    assert bound.cost > found.cost
    np.testing.assert_allclose(bound.cost, 0.5 * np.sum(bound.u**2), rtol=1e-12)
    active = np.flatnonzero(np.abs(bound.v[:T, 0]) > (1.0 - 1e-6) * most)
    velocities = DT / 2.0 * np.tril(np.ones((T, T)), -1)  # of each knot by all controls
    rows = np.concatenate([B, -velocities[active]])  # the block moves down: v >= -most
    forces = np.linalg.lstsq(rows.T, bound.u[:, 0], rcond=None)[0]
    close(rows.T @ forces / scale, bound.u[:, 0] / scale, 1e-5)
    assert len(active) > 3
    assert (forces[2:] <= 1e-5 * scale).all()


def test_constraints_begin_with_the_multipliers_of_a_solution_nearby():
    T, problem = 30, optimal.Problem(block(), pushed, effort_alone, nothing, inequality=slow, final_equality=at_rest)
    start, most = [[1.0], [1.1]], {"most": 1.3 * 1.1 / (T * DT)}  # 1.5 of the mean speed without a limit
    far = optimal.solve(problem, start, [0.0], np.zeros((T, 1)), most)
    assert far.converged.all()
    again = optimal.solve(problem, start, [0.0], far.u, most, near=far)
    assert again.converged.all()
    assert (again.iterations <= 2).all()
    np.testing.assert_allclose(again.u, far.u, atol=1e-5)
    assert (far.multipliers[..., :2] >= 0.0).all()  # of inequalities, which only push

    cold = optimal.solve(problem, [1.02], [0.0], far.u[0], most)
    one = optimal.Solution(*(getattr(far, name)[0] for name in optimal.Solution.__slots__))
    near = optimal.solve(problem, [1.02], [0.0], far.u[0], most, near=one)
    np.testing.assert_allclose(near.cost, cold.cost, rtol=1e-5)
    assert near.iterations < cold.iterations
    half = dataclasses.replace(far, converged=np.array([True, False]))  # whose second row says nothing
    both = optimal.solve(problem, [[1.02], [1.02]], [0.0], far.u[0], most, near=half)
    for row, alone in enumerate((near, cold)):
        np.testing.assert_array_equal(both.u[row], alone.u)
        np.testing.assert_array_equal(both.multipliers[row], alone.multipliers)
    with pytest.raises(DTypeError, match="near"):
        optimal.solve(problem, start, [0.0], far.u, most, near=far.u)
    for fewer in (far.u[:, 1:], far.u[0]):
        with pytest.raises(ShapeError, match="near"):
            optimal.solve(problem, start if fewer.ndim > 2 else start[0], [0.0], fewer, most, near=far)


@cardan.function(shapes={"u": (1,)}, returns=(2,))
def on_rail(model, q, v, u):
    return np.stack([q[0] - 0.4, -0.4 - q[0]])


@pytest.fixture(scope="module")
def railed():
    return optimal.Problem(CART, step, weak, nothing, -30.0, 30.0, inequality=on_rail, final_equality=at_upright)


@cardan.function(shapes={"u": (1,)}, returns=())
def weak(model, q, v, u):
    return 0.005 * u[0] * u[0]


@cardan.function(returns=(4,))
def at_upright(model, q, v):
    return np.concatenate([q, v])


@pytest.mark.full
def test_a_pole_swings_up_on_a_short_rail(railed):
    """Each of a batch by itself, to the bit; one that cannot says so."""
    q0 = np.array([[0.0, np.pi], [0.0, 3.0]])
    found = optimal.solve(railed, q0, STILL, np.ones((60, 1)))
    assert found.converged.all()
    assert (found.violation <= 1e-6).all()
    assert np.abs(found.q[..., 0]).max() <= 0.4 + 1e-6
    assert np.abs(found.q[:, -1]).max() <= 1e-6
    assert np.abs(found.u).max() <= 30.0
    one = optimal.solve(railed, q0[1], STILL, np.ones((60, 1)))
    for name in optimal.Solution.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(found, name)[1])
    assert one.cost == total(railed, q0[1], STILL, one.u)
    none = optimal.solve(dataclasses.replace(railed, lower=-0.1, upper=0.1), q0[0], STILL, np.ones((60, 1)))
    assert not none.converged
    assert none.violation > 1.0


@pytest.mark.full
def test_constraints_beside_scipy(railed):
    found = optimal.solve(railed, HANGING, STILL, np.ones((60, 1)), tolerance=1e-9)

    def states(u):
        q, v = [HANGING], [STILL]
        for control in u:
            for to, new in zip((q, v), step(CART, q[-1], v[-1], [control]), strict=True):
                to.append(new)
        return np.array(q), np.array(v)

    ends = {"type": "eq", "fun": lambda u: np.concatenate([a[-1] for a in states(u)])}
    rail = {"type": "ineq", "fun": lambda u: 0.4 - np.abs(states(u)[0][:, 0])}
    theirs = scipy.optimize.minimize(
        lambda u: 0.005 * u @ u,
        found.u[:, 0] + 0.01 * np.random.default_rng(0).normal(size=60),
        jac=lambda u: 0.01 * u,
        method="SLSQP",
        bounds=[(-30.0, 30.0)] * 60,
        constraints=[ends, rail],
        options={"maxiter": 200, "ftol": 1e-12},
    )
    assert theirs.success
    np.testing.assert_allclose(found.cost, theirs.fun, rtol=1e-5)


@cardan.function(shapes={"u": (2,), "B": (2,)})
def pulled(model, q, v, u, B):
    v_next = v + np.stack([B @ u])
    return cardan.integrate(model, q, 0.1 * v_next), v_next


@cardan.function(shapes={"u": (2,), "H": (4, 4), "g": (4,)}, returns=())
def bowl(model, q, v, u, H, g):
    z = np.concatenate([q, v, u])
    return 0.5 * z @ H @ z + g @ z


@cardan.function(shapes={"u": (2,), "C": (3, 4), "d": (3,)}, returns=(3,))
def beyond(model, q, v, u, C, d):
    return C @ np.concatenate([q, v, u]) - d


@pytest.mark.slow
def test_an_inequality_does_not_push_from_afar():
    """Convex problems end at one cost, from wherever they begin: two of these had converged 5 and 8 percent above."""
    rng, N, T = np.random.default_rng(0), 256, 10
    F, g, B = rng.normal(size=(N, 1, 4, 4)), rng.normal(size=(N, 1, 4)), rng.normal(size=(N, 1, 2))
    C = 10.0 ** rng.uniform(-2.0, 2.0, (N, 1, 3, 1)) * rng.normal(size=(N, 1, 3, 4))
    given = {"H": F @ F.swapaxes(2, 3) + 0.01 * np.eye(4), "g": g, "B": B, "C": C, "d": rng.uniform(size=(N, 1, 3))}
    problem, start = optimal.Problem(block(), pulled, bowl, nothing, inequality=beyond), np.zeros((N, 1))
    begin = [np.zeros((N, T, 2)), *rng.normal(size=(2, N, T, 2))]
    found = [optimal.solve(problem, start, start, u, given, tolerance=1e-9) for u in begin]
    costs, converged = (np.array([getattr(f, name) for f in found]) for name in ("cost", "converged"))
    costs = costs[:, converged.all(axis=0)]
    assert costs.shape[1] > 250
    assert (np.ptp(costs, axis=0) <= 1e-4 * np.abs(costs).max(axis=0)).all()


def limited(*limits):
    """Return the constraint that a cart and a pole are within limits on both sides."""

    @cardan.function(shapes={"u": (1,)}, returns=(4,))
    def out_of_limits(model, q, v, u):
        return np.concatenate([q - limits, -q - limits])

    return out_of_limits


@pytest.mark.slow
def test_limits_that_are_far_away_say_nothing():
    """A wheel has none: its infinite limit made the cost NaN, and one of 1e7 made penalties of the other too small."""
    u, found = np.full((40, 1), 5.0), []
    for limit in (1e3, 1e7, np.inf):
        problem = optimal.Problem(CART, step, weak, final, -50.0, 50.0, inequality=limited(0.52, limit))
        found.append(optimal.solve(problem, [0.5, 0.3], STILL, u))
        assert found[-1].converged
        assert found[-1].iterations < 5 * found[0].iterations
    close(found[1].cost / found[0].cost, 1.0, 1e-5)


@cardan.function(shapes={"b": (2,), "c": ()}, returns=(1,))
def past(model, q, v, b, c):
    return np.stack([b @ np.concatenate([q, v]) - c])


@pytest.mark.slow
def test_a_start_that_hardly_violates_a_constraint_is_no_stiff_one():
    """Penalties were weighed by what was violated alone: 1e-5 made them so stiff that descents did not end."""
    N, T, rng = 64, 10, np.random.default_rng(0)
    F, g, B = rng.normal(size=(N, 1, 4, 4)), rng.normal(size=(N, 1, 4)), rng.normal(size=(N, 1, 2))
    C, d, b = rng.normal(size=(N, 1, 3, 4)), rng.uniform(size=(N, T + 1, 3)), rng.normal(size=(N, 1, 2))
    z = np.zeros((N, T + 1, 4))
    z[..., 0], z[..., 1] = 0.1 * np.arange(T + 1), 1.0  # without controls
    given = {"H": F @ F.swapaxes(2, 3) + 0.01 * np.eye(4), "g": g, "B": B, "C": C, "b": b}
    given |= {"d": np.sum(C * z[:, :, None], axis=3) + d, "c": np.sum(b[:, 0] * z[:, -1, :2], axis=1)[:, None] - 1e-5}
    problem = optimal.Problem(block(), pulled, bowl, nothing, inequality=beyond, final_inequality=past)
    start = np.zeros((N, 1))
    found = optimal.solve(problem, start, start + 1.0, np.zeros((N, T, 2)), given)
    assert found.converged.all()
    assert found.iterations.sum() < 5000


@cardan.function(shapes={"u": (2,)})
def moved_for(model, q, v, u):
    """Return the state after a time that is a control."""
    a = cardan.forward_dynamics(model, q, v, u[:1])
    return cardan.integrate(model, q, u[1] * (v + 0.5 * u[1] * a)), v + u[1] * a


@cardan.function(shapes={"u": (2,)}, returns=())
def duration(model, q, v, u):
    return u[1]


@cardan.function(returns=(2,))
def at_one(model, q, v):
    return np.concatenate([q - 1.0, v])


@pytest.mark.slow
@pytest.mark.parametrize("length", [0.05, 0.1, 0.2])
def test_what_a_start_meets_but_for_rounding_errors_makes_no_penalty_stiff(length):
    """The block of 2 kg is moved 1 m, from rest to rest, by 2 N in 2 s. It had converged with up to 3.8 s."""
    problem = optimal.Problem(block(), moved_for, duration, nothing, [-2.0, 0.01], [2.0, 0.5], final_equality=at_one)
    push = np.repeat([1.0, -1.0], 10)  # so that it is at rest in the end, but for 1e-17
    found = optimal.solve(problem, [0.0], [0.0], np.stack([push, np.full(20, length)], axis=1))
    assert found.converged
    close(found.cost, 2.0, 1e-5)


# --- samples ---


def test_samples_are_weighed_by_what_they_cost():
    """Costs of motions step by step give the same weights; at the temperature 0 the least one is taken."""
    problem, rng = optimal.Problem(CART, step, cost, final, -1.5, 2.0), np.random.default_rng(7)
    given, noise = rng.normal(size=(5, 1)), 2.0
    e = np.random.default_rng(3).standard_normal((5, 9, 1)) * noise
    e[:, 0] = 0.0
    us = np.clip(given + e.swapaxes(0, 1), -1.5, 2.0)
    costs = np.array([total(problem, HANGING, STILL, u) for u in us])
    w = np.exp(-(costs - costs.min()) / 30.0)

    def sampled(temperature, q0=HANGING):
        return optimal.predictive_sampling(
            problem, q0, STILL, given, noise=noise, samples=8, temperature=temperature, seed=3
        )

    best, mean = sampled(0.0), sampled(30.0)
    assert "expansions" not in vars(compiled(problem)[0])  # no derivatives are made
    np.testing.assert_array_equal(best.u, us[costs.argmin()])
    close(best.cost, costs.min())
    close(mean.u, np.einsum("k,ktm->tm", w / w.sum(), us))
    close(mean.cost, total(problem, HANGING, STILL, mean.u))
    many = sampled(30.0, np.stack([HANGING + 0.1, HANGING]))
    for name in mean._fields:
        np.testing.assert_array_equal(getattr(many, name)[1], getattr(mean, name))


def test_what_sampling_refuses():
    problem, u = optimal.Problem(CART, step, cost, final), np.zeros((5, 1))
    held = dataclasses.replace(problem, final_equality=cardan.function(lambda model, q, v: v))
    with pytest.raises(UnsupportedError, match="constraints"):
        optimal.predictive_sampling(held, HANGING, STILL, u, noise=1.0)
    for wrong in (
        {"noise": -1.0},
        {"noise": 1.0, "temperature": -1.0},
        {"noise": 1.0, "samples": -1},
        {"noise": 1.0, "seed": -1},
    ):
        with pytest.raises(ParameterError, match="predictive_sampling"):
            optimal.predictive_sampling(problem, HANGING, STILL, u, **wrong)
    with pytest.raises(ShapeError, match="noise"):
        optimal.predictive_sampling(problem, HANGING, STILL, u, noise=[1.0, 2.0])
    with pytest.raises(ShapeError, match="temperature"):  # it was an error of Python's float
        optimal.predictive_sampling(problem, HANGING, STILL, u, noise=1.0, temperature=[1.0, 2.0])
    with pytest.raises(NotFiniteError, match="predictive_sampling"):
        optimal.predictive_sampling(problem, HANGING, STILL, u + 1e200, noise=1.0, temperature=1.0, samples=3)


@pytest.mark.slow
def test_constraints_of_no_problems_are_met():
    """They were an error of NumPy that could not reshape."""
    problem = optimal.Problem(block(), pushed, effort_alone, nothing, final_equality=at_rest)
    found = optimal.solve(problem, np.zeros((0, 1)), [0.0], np.zeros((5, 1)))
    assert found.cost.shape == found.converged.shape == (0,)
    assert found.u.shape == (0, 5, 1)


def test_what_constraints_refuse():
    with pytest.raises(ShapeError, match=r"expected \[\(k,\)\], as the final_equality"):
        optimal.Problem(CART, step, cost, final, final_equality=final)
    with pytest.raises(ParameterError, match="inequality of Problem"):
        optimal.Problem(CART, step, cost, final, inequality=at_rest)
    with pytest.raises(ParameterError, match="equality of Problem"):
        optimal.Problem(CART, step, cost, final, equality=lambda model, q, v, u: v)
    with pytest.raises(ParameterError, match="violation"):
        optimal.solve(optimal.Problem(CART, step, cost, final), HANGING, STILL, np.zeros((5, 1)), violation=0.0)


@cardan.function(shapes={"u": ("nv",)})
def moved(model, q, v, u):
    v_next = v + 0.05 * cardan.forward_dynamics(model, q, v, u)
    return cardan.integrate(model, q, 0.05 * v_next), v_next


@cardan.function(shapes={"u": ("nv",), "goal": ("nq",)}, returns=())
def near_goal(model, q, v, u, goal, weight: float = 1.0):
    e = cardan.difference(model, goal, q)
    return weight * (e @ e) + 1e-3 * (u @ u)


@cardan.function(shapes={"goal": ("nq",)}, returns=())
def at_goal(model, q, v, goal):
    e = cardan.difference(model, goal, q)
    return 100.0 * (e @ e + 0.1 * v @ v)


def ball():
    m = cardan.Mechanism("ball")
    m.add_body("stone", cardan.Inertia(mass=2.0, com=[0.0, 0.0, -0.1], inertia=np.diag([0.5, 0.4, 0.3])))
    m.add_joint("turns", cardan.joints.Spherical(), "world", "stone")
    return m.model()


@pytest.mark.full
def test_quaternions_and_goals_that_are_parameters():
    model = ball()
    problem = optimal.Problem(model, moved, near_goal, at_goal)
    assert problem.parameters == {"goal": (4,), "weight": ()}
    goals = model.random_configuration((3,), seed=1)
    given = {"goal": goals[:, None], "weight": 0.1}
    found = optimal.solve(problem, model.neutral(), np.zeros(3), np.zeros((30, 3)), given)
    assert found.converged.all()
    errors = cardan.difference(model, goals, found.q[:, -1])
    assert np.abs(errors).max() < 0.05
    path = np.repeat(goals[:1], 31, axis=0)  # a goal for each state
    one = optimal.solve(
        problem, model.neutral(), np.zeros(3), np.zeros((30, 3)), {"goal": path, "weight": np.full(31, 0.1)}
    )
    np.testing.assert_array_equal(one.u, found.u[0])


@pytest.mark.slow
def test_parameters_of_any_name_numbers_with_defaults_and_options():
    """Names that a descent uses itself are as good as others; a number with one default may be left out."""

    def solved(shapes, taken, given, cost):
        made = cardan.function(shapes={"u": (1,)} | shapes, returns=())(cost)
        problem = optimal.Problem(CART, step, made, final)
        assert problem.parameters.keys() == taken
        return optimal.solve(problem, [0.1, 0.0], STILL, np.zeros((8, 1)), given, hessian="exact")

    none = {"share": (), "K": (), "u_near": (), "v_after": ()}
    found = solved(none, none.keys(), dict.fromkeys(none, 2.0), named)
    same = solved({}, {"weight"}, {}, weighed)
    assert same.converged
    np.testing.assert_array_equal(found.u, same.u)
    assert (solved({}, {"weight"}, {"weight": 3.0}, weighed).u != same.u).any()


def named(model, q, v, u, share, K, u_near, v_after):
    return share * K * u_near * v_after * u[0] * u[0] + v @ v


def weighed(model, q, v, u, weight: float = 16.0, *, frame: str = "world"):
    return weight * u[0] * u[0] + v @ v


@pytest.mark.slow
def test_a_problem_of_linear_dynamics_takes_one_step():
    """Where the expansion is exact, so is the first step; the feedback is that of `riccati`."""
    m = cardan.Mechanism("slide", gravity=(0.0, 0.0, 0.0))
    m.add_body("block", cardan.Inertia(2.0))
    m.add_joint("slides", cardan.joints.Prismatic((1.0, 0.0, 0.0)), "world", "block")
    problem = optimal.Problem(m.model(), pushed, cost_of_block, final)
    found = optimal.solve(problem, [1.0], [0.5], np.zeros((50, 1)))
    assert found.iterations == 2
    A, B = np.array([[1.0, DT], [0.0, 1.0]]), np.array([[DT * DT / 2.0], [DT / 2.0]])
    lqr = optimal.riccati(np.tile(A, (50, 1, 1)), B, 0.2 * np.eye(2), 0.01 * np.eye(1), 1000.0 * np.eye(2))
    close(found.K, lqr.K, 1e-11)


@cardan.function(shapes={"u": (1,)})
def pushed(model, q, v, u):
    v_next = v + DT * cardan.forward_dynamics(model, q, v, u)
    return cardan.integrate(model, q, DT * v_next), v_next


@cardan.function(shapes={"u": (1,)}, returns=())
def cost_of_block(model, q, v, u):
    return 0.1 * (q @ q + v @ v) + 0.005 * u[0] * u[0]


def thrown(kind):
    """Return a model of several joints, and a step of it of some kind, by efforts at all of them."""
    made, parent = cardan.Mechanism("thrown"), "world"
    joints = (
        cardan.joints.Prismatic(axis=[1, 0, 0]),
        cardan.joints.Spherical(),
        cardan.joints.Revolute(axis=[0, 1, 0]),
    )
    for k, joint in enumerate(joints):
        made.add_body(f"b{k}", cardan.Inertia(mass=1.0 + k, com=[0.1, 0.2, 0.1], inertia=np.diag([0.5, 0.6, 0.7])))
        made.add_joint(f"j{k}", joint, parent, f"b{k}", cardan.SE3(translation=[0.1, 0.2, 0.3]))
        parent = f"b{k}"
    model = made.model(base="fixed")

    @cardan.function(shapes={"u": ("nv",)})
    def thrown_step(model, q, v, u):
        v_next = v + DT * cardan.forward_dynamics(model, q, v, u)
        if kind == "locked":
            v_next = np.concatenate([[0.0], v_next[1:4], v_next[3:4]])
        by = {"explicit": v, "midpoint": 0.5 * (v + v_next), "pushed": v_next + 0.1 * DT * u}.get(kind, v_next)
        return cardan.integrate(model, q, DT * by), v_next

    return model, thrown_step


@cardan.function(shapes={"u": ("nv",), "goal": ("nq",)}, returns=())
def thrown_cost(model, q, v, u, goal):
    e = cardan.difference(model, goal, q)
    return 0.5 * (e @ e) + 0.05 * (v @ v) + 1e-3 * (u @ u) + 0.01 * u[0] * v[1]


@cardan.function(shapes={"goal": ("nq",)}, returns=())
def thrown_final(model, q, v, goal):
    e = cardan.difference(model, goal, q)
    return 10.0 * (e @ e) + v @ v


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [
        ("semi-implicit", [range(1), range(1, 4), range(1, 4), range(1, 4), range(4, 5)]),
        ("locked", [range(1), range(1, 4), range(1, 4), range(1, 4), range(1, 5)]),
        ("explicit", []),
        ("midpoint", []),
        ("pushed", []),
    ],
)
def test_semi_implicit_steps_are_found(kind, blocks):
    """By what moves the next q: with the next v in the place of what computes it, nothing of v or u is left."""
    model, of = thrown(kind)
    for has_gaps in (False, True):
        assert Motions(optimal.Problem(model, of, thrown_cost, thrown_final), has_gaps).blocks == blocks


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["semi-implicit", "locked"])
@pytest.mark.parametrize("hessian", ["gauss-newton", "exact"])
@pytest.mark.parametrize("has_gaps", [False, True])
def test_semi_implicit_steps_are_as_others(kind, hessian, has_gaps):
    """Their recursion has rows of v alone: it finds what that of any step finds, but for rounding errors."""
    (model, of), rng, T = thrown(kind), np.random.default_rng(3), 9
    q0, goal = model.random_configuration((2,), seed=4), model.random_configuration(seed=5)
    u, states = rng.normal(size=(2, T, 5)), None
    if has_gaps:
        states = (
            cardan.integrate(model, q0[:, None], 0.2 * rng.normal(size=(2, T + 1, 5))),
            rng.normal(size=(2, T + 1, 5)),
        )
    given = q0, rng.normal(size=(2, 5)), u, {"goal": goal}
    options = {"iterations": 3, "tolerance": 1e-15, "hessian": hessian, "states": states}
    for limit in (None, 2.0):
        problem, same = (
            optimal.Problem(model, of, thrown_cost, thrown_final, limit and -limit, limit) for _ in range(2)
        )
        found = optimal.solve(problem, *given, **options)
        with mock.patch.object(Motions, "blocks", []), mock.patch.object(Motions, "_moves", None):
            expected = optimal.solve(same, *given, **options)
        for name in ("q", "v", "u", "K", "cost", "left"):
            close(getattr(found, name), getattr(expected, name), 1e-9)
        assert (found.iterations == expected.iterations).all()


@pytest.mark.slow
@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("limit", [None, 2.0])
def test_eight_problems_at_once_have_the_bits_of_one(has_gaps, limit):
    """With blocks of a quaternion; and what second derivatives were added to is as before in the next call."""
    (model, of), rng, T, N = thrown("semi-implicit"), np.random.default_rng(3), 5, 9
    q0, v0, goal = model.random_configuration((N,), seed=4), rng.normal(size=(N, 5)), model.random_configuration(seed=5)
    u, states = rng.normal(size=(N, T, 5)), None
    if has_gaps:
        states = (
            cardan.integrate(model, q0[:, None], 0.2 * rng.normal(size=(N, T + 1, 5))),
            rng.normal(size=(N, T + 1, 5)),
        )
    problem = optimal.Problem(model, of, thrown_cost, thrown_final, limit and -limit, limit)
    for hessian in ("gauss-newton", "exact", "gauss-newton"):
        options = {"iterations": 3, "tolerance": 1e-15, "hessian": hessian}
        found = optimal.solve(problem, q0, v0, u, {"goal": goal}, states=states, **options)
        for k in (0, 7, 8):
            own = states and tuple(a[k] for a in states)
            one = optimal.solve(problem, q0[k], v0[k], u[k], {"goal": goal}, states=own, **options)
            for name in ("q", "v", "u", "K", "cost", "left", "iterations"):
                np.testing.assert_array_equal(getattr(one, name), getattr(found, name)[k], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("joints", ["a quaternion", "hinges"])
def test_exact_second_derivatives_make_the_end_quadratic(joints):
    """From near the optimum each iteration squares what is left; without them it is a constant part."""
    if joints == "hinges":
        problem, start, u, given = optimal.Problem(CART, step, cost, final), (HANGING, STILL), np.zeros((40, 1)), {}
    else:
        model = ball()
        problem, start, u = (
            optimal.Problem(model, moved, near_goal, at_goal),
            (model.neutral(), np.ones(3)),
            np.zeros((20, 3)),
        )
        given = {"goal": model.random_configuration(seed=1), "weight": 0.1}
    near = optimal.solve(problem, *start, u, given, tolerance=1e-5, hessian="exact")
    found = {
        kind: optimal.solve(problem, *start, near.u, given, tolerance=1e-30, iterations=3, hessian=kind)
        for kind in ("exact", "gauss-newton")
    }
    assert found["exact"].left < 1e-8 * found["gauss-newton"].left
    assert found["exact"].left < 1e-14 * near.cost
    assert found["exact"].cost <= found["gauss-newton"].cost * (1.0 + 1e-14)


def test_vectors_that_are_the_same_at_all_knots_are_written_once():
    """They stand as all the others do after steps that second derivatives were added to, and taken away again."""
    problem = optimal.Problem(CART, step, cost, final)
    optimal.solve(problem, HANGING, STILL, np.zeros((40, 1)), iterations=2, hessian="exact")
    motions, _ = compiled(problem)
    held, (part, _, parts) = workspace(motions, 40, 1, 8), motions.varying
    assert 0 < part.entries < motions.expansions.entries
    assert {whole for whole, _ in parts.values()} == {"G", "HU"}  # the cost is a square, and hinges add velocities
    whole = {a.name: np.zeros((40, a.size)) for a in motions.expansions.outputs}
    RowProgram(motions.expansions, {**held.near, **whole})(40)
    held.programs["expansions"](40)
    for name, array in whole.items():
        np.testing.assert_array_equal(getattr(held.c, name).reshape(40, -1), array, err_msg=name)


# --- what is refused ---


@cardan.function(shapes={"u": (1,)})
def no_number(model, q, v, u):
    return u


@cardan.function(shapes={"w": (1,)}, returns=())
def other_name(model, q, v, w):
    return w[0]


def turned(model, q, v, u):
    return {"v": v, "q": q}


def test_problems_that_are_none():
    with pytest.raises(ParameterError, match="cost of Problem"):
        optimal.Problem(CART, step, lambda q: q, final)
    with pytest.raises(ParameterError, match="cost of Problem"):
        optimal.Problem(CART, step, final, final)
    with pytest.raises(ParameterError, match="cost of Problem"):
        optimal.Problem(CART, step, other_name, final)
    with pytest.raises(ShapeError, match="cost of a Problem"):
        optimal.Problem(CART, step, no_number, final)
    with pytest.raises(ParameterError, match="final_cost"):
        optimal.Problem(CART, step, cost, cardan.mass_matrix)
    with pytest.raises(ShapeError, match="step of a Problem"):
        optimal.Problem(CART, cost, cost, final)
    with pytest.raises(ShapeError, match="lower"):
        optimal.Problem(CART, step, cost, final, np.zeros(2))
    with pytest.raises(ParameterError, match="lower <= upper"):
        optimal.Problem(CART, step, cost, final, 1.0, -1.0)
    with pytest.raises(ShapeError, match="as in the function before"):
        optimal.Problem(CART, step, cardan.function(shapes={"u": (2,)}, returns=())(weighed), final)
    with pytest.raises(ShapeError, match="step of a Problem"):
        optimal.Problem(CART, cardan.function(shapes={"u": (1,)})(turned), cost, final)
    with pytest.raises(ParameterError, match="numbers between"):
        optimal.Problem(CART, step, cost, final, np.inf, np.inf)
    with pytest.raises(ValueError, match="read-only"):
        optimal.Problem(CART, step, cost, final, -1.0, 1.0).bounds[0][:] = -2.0
    with pytest.raises(DTypeError, match="model"):
        optimal.Problem("cart", step, cost, final)


def test_calls_that_do_not_fit():
    problem = optimal.Problem(CART, step, cost, final)
    with pytest.raises(ShapeError, match="'u'"):
        optimal.solve(problem, HANGING, STILL, np.zeros(1))
    with pytest.raises(ShapeError, match="'q0'"):
        optimal.solve(problem, np.zeros(3), STILL, np.zeros((5, 1)))
    with pytest.raises(ShapeError, match="broadcast"):
        optimal.solve(problem, np.zeros((3, 2)), np.zeros((2, 2)), np.zeros((5, 1)))
    with pytest.raises(DTypeError, match="'parameters'"):
        optimal.solve(problem, HANGING, STILL, np.zeros((5, 1)), [0.0])
    with pytest.raises(UnknownNameError, match="goal"):
        optimal.solve(problem, HANGING, STILL, np.zeros((5, 1)), {"goal": 1.0})
    with pytest.raises(ParameterError, match="tolerance"):
        optimal.solve(problem, HANGING, STILL, np.zeros((5, 1)), tolerance=0.0)
    with pytest.raises(ParameterError, match="hessian"):
        optimal.solve(problem, HANGING, STILL, np.zeros((5, 1)), hessian="newton")
    with pytest.raises(DTypeError, match="Problem"):
        optimal.solve(cost, HANGING, STILL, np.zeros((5, 1)))
    with pytest.raises(NotFiniteError, match="begin with smaller"):
        optimal.solve(problem, HANGING, STILL, np.full((50, 1), 1e200))
    with pytest.raises(ShapeError, match=r"'u' has shape \(5,\), expected \(..., T, 1\)"):
        optimal.solve(problem, HANGING, STILL, np.zeros(5))
    with pytest.raises(DTypeError, match="'u'"):
        optimal.solve(problem, HANGING, STILL, "zeros")
    with pytest.raises(DTypeError, match="a tuple: configurations and velocities"):
        optimal.solve(problem, HANGING, STILL, np.zeros((5, 1)), states=np.zeros((6, 2)))
    wanting = optimal.Problem(ball(), moved, near_goal, at_goal)
    with pytest.raises(ShapeError, match=r"expected \(..., 5, 4\), or one for all"):
        optimal.solve(
            wanting, wanting.model.neutral(), np.zeros(3), np.zeros((4, 3)), {"goal": np.ones((4, 4)), "weight": 1.0}
        )
    with pytest.raises(ParameterError, match="goal"):
        optimal.solve(wanting, wanting.model.neutral(), np.zeros(3), np.zeros((4, 3)))
    with pytest.raises(ConfigurationError, match="'q0'"):
        optimal.solve(wanting, np.zeros(4), np.zeros(3), np.zeros((4, 3)), {"goal": np.ones(4), "weight": 1.0})


@cardan.function(shapes={"u": (1,)}, returns=())
def with_root(model, q, v, u):
    return cardan.scalar.sqrt(q[0] + 1.0) + 1e-3 * u[0] * u[0]


@cardan.function(returns=())
def fast(model, q, v):
    return cardan.scalar.sqrt(v @ v)


@pytest.mark.slow
def test_costs_without_numbers_and_without_derivatives_are_named():
    """Such problems ended without a word, as if none were better; a motion that is finite was said not to be."""
    u = np.zeros((5, 1))
    problem = optimal.Problem(CART, step, with_root, final)
    with pytest.raises(NotFiniteError, match="All states of the motion are finite: it is the cost"):
        optimal.solve(problem, [-2.0, 0.0], STILL, u)
    with pytest.raises(NotFiniteError, match=r"derivatives of cost at problem, knot \[1, 0\] is nan.*square root"):
        optimal.solve(problem, [[0.0, 0.0], [-1.0, 0.0]], STILL, u)
    problem, states = optimal.Problem(CART, step, cost, fast), (np.zeros((6, 2)), np.zeros((6, 2)))
    for begin in (None, states):
        with pytest.raises(NotFiniteError, match=r"derivatives of final_cost at problem, knot \[0, 5\]"):
            optimal.solve(problem, STILL, STILL, u, states=begin)


def test_problems_can_be_sent():
    problem = pickle.loads(pickle.dumps(optimal.Problem(CART, step, cost, final)))
    found = optimal.solve(problem, [0.1, 0.0], STILL, np.zeros((10, 1)))
    assert np.isfinite(found.cost)
    assert optimal.solve(problem, [0.1, 0.0], STILL, np.zeros((10, 1)), iterations=0).iterations == 0


def test_bounds_are_the_problems_own():
    """What was written into them later changed a copy of the problem, and not the problem itself."""
    upper = np.array([1.0])
    problem = optimal.Problem(CART, step, cost, final, -1.0, upper)
    upper[:] = 5.0
    assert pickle.loads(pickle.dumps(problem)).bounds[1] == problem.bounds[1] == 1.0


@pytest.mark.slow
def test_what_is_to_be_differentiated_is_refused():
    """Tracers and tensors with gradients were errors of JAX and PyTorch that named no argument."""
    problem, u = optimal.Problem(CART, step, cost, final), np.zeros((5, 1))
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    with pytest.raises(DTypeError, match=r"'u' is a tensor that requires a gradient.*u.detach\(\)"):
        optimal.solve(problem, HANGING, STILL, torch.tensor(u, requires_grad=True))
    with pytest.raises(DTypeError, match=r"'u' is a tracer of JAX.*outside of jax.jit"):
        jax.grad(lambda u: optimal.solve(problem, HANGING, STILL, u).cost)(u)
