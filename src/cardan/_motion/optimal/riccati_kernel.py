"""A Riccati sweep as one kernel: the stages of `riccati_sweep`, for any number of states and controls.

Matrices lie in vectors of eight lanes, along their columns: those of the controls first, begun anew for the states, and
one column more for what is constant. With G = [B | A | c] a stage is

    H = [R S r; . Q q] + G^T (P G + [0 | 0 | p])

of which the rows of the controls are Q_uu, Q_ux and Q_u of (1) and (2), and those of the states Q_xx and Q_x. What is
left and below of the diagonal's vector is not computed.

Cost: (n + m)^3 multiply-adds a stage, eight at once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from cardan._compiler.kernels import F64, INT, LANES, REAL, TRUTH, Record, aligned_empty, fma, kernel, tail

# pyright: analyzeUnannotatedFunctions=false

TOGETHER = 16  # problems side by side
PASSES = 20  # of the search for what is at its bound: three to five are usual


@kernel(to=LANES[:], at=INT, of=F64[:], first=INT, count=INT)
def take_row(to, at, of, first, count):
    for v in range(count // 8):
        for e in range(8):
            to[at + v, e] = of[first + 8 * v + e]
    v = count // 8
    for e in range(count % 8):
        to[at + v, e] = of[first + 8 * v + e]


@kernel(to=F64[:], first=INT, of=LANES[:], at=INT, count=INT)
def put_row(to, first, of, at, count):
    for v in range(count // 8):
        for e in range(8):
            to[first + 8 * v + e] = of[at + v, e]
    v = count // 8
    for e in range(count % 8):
        to[first + 8 * v + e] = of[at + v, e]


@kernel(C=LANES[:], X=LANES[:], Y=LANES[:], rows=INT, first=INT, count=INT, wide=INT, across=INT, upper=TRUTH)
def add_product(C, X, Y, rows, first, count, wide, across, upper):
    """C += X^T Y from row `first` of C on, four rows at once; rows of X are `wide` vectors, of C and Y `across`."""
    for r in range(first, rows, 4):
        block = r // 8
        e = r % 8
        for c in range(block if upper else 0, across):
            one = C[r * across + c]
            two = C[(r + 1) * across + c]
            three = C[(r + 2) * across + c]
            four = C[(r + 3) * across + c]
            for k in range(count):
                y = Y[k * across + c]
                x = k * wide + block
                one = fma(y, X[x, e], one)
                two = fma(y, X[x, e + 1], two)
                three = fma(y, X[x, e + 2], three)
                four = fma(y, X[x, e + 3], four)
            C[r * across + c] = one
            C[(r + 1) * across + c] = two
            C[(r + 2) * across + c] = three
            C[(r + 3) * across + c] = four


@kernel(F=LANES[:], m=INT, across=INT, first=INT, returns=REAL)
def solve(F, m, across, first):
    """Replace the right sides of [H | X], from vector `first` on, by H^-1 X.

    Return the least pivot, or the first that is not above 0: then nothing is solved.
    """
    least = F[0, 0]
    for j in range(m):
        d = F[j * across + j // 8, j % 8]
        if not d > 0.0:
            return d
        least = min(least, d)
        for i in range(j + 1, m):
            f = -F[j * across + i // 8, i % 8] / d
            for c in range(i // 8, across):
                F[i * across + c] = fma(F[j * across + c], f, F[i * across + c])
    for j in range(m - 1, -1, -1):
        inverse = 1.0 / F[j * across + j // 8, j % 8]
        for c in range(first, across):
            F[j * across + c] = F[j * across + c] * inverse
        for i in range(j):
            f = -F[i * across + j // 8, j % 8]
            for c in range(first, across):
                F[i * across + c] = fma(F[j * across + c], f, F[i * across + c])
    return least


class Stages(Record):
    """What a sweep is given and writes, flat, knots first and then problems; and where it computes."""

    room: np.ndarray
    problems = INT
    knots = INT
    n = INT
    m = INT
    controls = INT  # vectors of a row of controls
    states = INT  # and of states, with the constant
    is_bounded = INT
    A = F64[:]
    B = F64[:]
    Q = F64[:]
    S = F64[:]
    R = F64[:]
    q = F64[:]
    r = F64[:]
    c = F64[:]
    mu = F64[:]  # of each problem
    low = F64[:]
    high = F64[:]
    P = F64[:]
    p = F64[:]
    K = F64[:]
    k = F64[:]
    slope = F64[:]
    curve = F64[:]
    least = F64[:]
    G = LANES[:]
    PG = LANES[:]
    H = LANES[:]
    F = LANES[:]  # of the rows of controls: Q_uu + mu and what it is solved for
    gains = LANES[:]
    rest = LANES[:]  # Q_ux - mu K
    cost = LANES[:]  # P, and behind it p, of each problem
    free = F64[:]  # 1, or 0 at a bound
    step = F64[:]
    tried = F64[:]
    found = F64[:]
    E = LANES[:]  # of what is free


@kernel(F=LANES[:], across=INT, m=INT, i=INT, x=F64[:], first=INT, returns=REAL)
def row_times(F, across, m, i, x, first):
    """Return row i of a symmetric matrix of which the upper half is there, times x from an entry on."""
    total = 0.0
    for j in range(m):
        total = fma(F[min(i, j) * across + max(i, j) // 8, max(i, j) % 8], x[first + j], total)
    return total


@kernel(c=Stages, at=INT, x=F64[:], first=INT, returns=REAL)
def value(c, at, x, first):
    """Return 1/2 x^T (Q_uu + mu) x + Q_u^T x, of x from an entry on."""
    across = c.controls + c.states
    total = 0.0
    for i in range(c.m):
        slope = c.F[i * across + c.controls + c.n // 8, c.n % 8]
        total = fma(x[first + i], 0.5 * row_times(c.F, across, c.m, i, x, first) + slope, total)
    return total


@kernel(c=Stages, at=INT)
def set_free(c, at):
    """Say what of k is not at a bound and pushed on, and what the slopes are there: `step`."""
    across = c.controls + c.states
    for i in range(c.m):
        slope = c.F[i * across + c.controls + c.n // 8, c.n % 8]
        slope += row_times(c.F, across, c.m, i, c.k, at * c.m)
        k = c.k[at * c.m + i]
        held = (k <= c.low[at * c.m + i] and slope > 0.0) or (k >= c.high[at * c.m + i] and slope < 0.0)
        c.free[i] = 0.0 if held else 1.0
        c.step[i] = slope


@kernel(c=Stages, to=LANES[:], wide=INT)
def leave_free(c, to, wide):
    """Write Q_uu + mu with rows and columns of the identity for what is not free, in rows of so many vectors."""
    across = c.controls + c.states
    for i in range(c.m):
        for j in range(i, c.m):
            to[i * wide + j // 8, j % 8] = c.F[i * across + j // 8, j % 8] * c.free[i] * c.free[j]
        if c.free[i] == 0.0:
            to[i * wide + i // 8, i % 8] = 1.0


@kernel(c=Stages, at=INT)
def set_within(c, at):
    """Find the k between bounds that makes 1/2 k^T H k + g^T k least, and what of it is free.

    Newton steps of what is free, cut off at the bounds, the best of some lengths each: projected Newton. It ends when
    none makes it less.
    """
    own = c.controls + 1
    first = at * c.m
    for i in range(c.m):
        c.k[first + i] = min(max(0.0, c.low[first + i]), c.high[first + i])
    best = value(c, at, c.k, first)
    for _ in range(PASSES):
        set_free(c, at)
        leave_free(c, c.E, own)
        for i in range(c.m):
            c.E[i * own + c.controls, 0] = c.step[i] * c.free[i]
        solve(c.E, c.m, own, c.controls)
        before = best
        share = 1.0
        for _ in range(5):
            for i in range(c.m):
                moved = c.k[first + i] - share * c.E[i * own + c.controls, 0]
                c.tried[i] = min(max(moved, c.low[first + i]), c.high[first + i])
            cost = value(c, at, c.tried, 0)
            if cost < best:
                best = cost
                for i in range(c.m):
                    c.found[i] = c.tried[i]
            share = share * 0.5 if share > 0.25 else share * share
        if not best < before:
            break
        for i in range(c.m):
            c.k[first + i] = c.found[i]
    set_free(c, at)


@kernel(c=Stages, at=INT, own=INT)
def set_expansion(c, at, own):
    """H of a knot, from the costs of it and P and p of the next one."""
    n = c.n
    m = c.m
    across = c.controls + c.states
    first = 8 * c.controls
    block = c.controls + n // 8  # of the constant
    e = n % 8
    for i in range(n):
        take_row(c.G, i * across, c.B, (at * n + i) * m, m)
        take_row(c.G, i * across + c.controls, c.A, (at * n + i) * n, n)
        c.G[i * across + block, e] = c.c[at * n + i]
        for v in range(across):
            c.PG[i * across + v] = 0.0
        c.PG[i * across + block, e] = c.cost[own + n * c.states + i // 8, i % 8]
    add_product(c.PG, tail(c.cost, own), c.G, n, 0, n, c.states, across, False)
    for i in range(m):
        for v in range(across):
            c.H[i * across + v] = 0.0
        take_row(c.H, i * across, c.R, (at * m + i) * m, m)
        take_row(c.H, i * across + c.controls, c.S, (at * m + i) * n, n)
        c.H[i * across + block, e] = c.r[at * m + i]
    for i in range(n):
        row = (first + i) * across
        for v in range(c.controls, across):
            c.H[row + v] = 0.0
        take_row(c.H, row + c.controls, c.Q, (at * n + i) * n, n)
        c.H[row + block, e] = c.q[at * n + i]
    add_product(c.H, c.G, c.PG, m, 0, n, across, across, True)
    add_product(c.H, c.G, c.PG, first + n, first, n, across, across, True)


@kernel(c=Stages, at=INT, mu=REAL)
def set_gains(c, at, mu):
    """K and K of a knot, (3)."""
    across = c.controls + c.states
    block = c.controls + c.n // 8
    for i in range(c.m):
        for v in range(across):
            c.F[i * across + v] = c.H[i * across + v]
        c.F[i * across + i // 8, i % 8] = c.F[i * across + i // 8, i % 8] + mu
    if c.is_bounded == 1:
        set_within(c, at)
        leave_free(c, c.F, across)
        for i in range(c.m):
            if c.free[i] == 0.0:
                for v in range(c.controls, across):
                    c.F[i * across + v] = 0.0
    c.least[at] = solve(c.F, c.m, across, c.controls)
    for i in range(c.m):
        if c.is_bounded == 0:
            c.k[at * c.m + i] = -c.F[i * across + block, c.n % 8]
        for v in range(c.states):
            gain = c.F[i * across + c.controls + v] * -1.0
            c.gains[i * c.states + v] = gain
            c.rest[i * c.states + v] = fma(gain, -mu, c.H[i * across + c.controls + v])
        put_row(c.K, (at * c.m + i) * c.n, c.gains, i * c.states, c.n)


@kernel(c=Stages, at=INT, own=INT)
def set_cost(c, at, own):
    """P and p of a knot, (4), and what a step of k gains."""
    n = c.n
    across = c.controls + c.states
    first = 8 * c.controls
    block = c.controls + n // 8
    p = own + n * c.states
    for i in range(n):
        c.cost[p + i // 8, i % 8] = c.H[(first + i) * across + block, n % 8]
        for v in range(i // 8, c.states):
            row = c.H[(first + i) * across + c.controls + v]
            for k in range(c.m):
                row = fma(c.rest[k * c.states + v], c.gains[k * c.states + i // 8, i % 8], row)
            c.cost[own + i * c.states + v] = row
    slope = 0.0
    curve = 0.0
    for k in range(c.m):
        control = c.k[at * c.m + k]
        Qk = row_times(c.H, across, c.m, k, c.k, at * c.m)
        Qu = c.H[k * across + block, n % 8]
        slope = fma(Qu, control, slope)
        curve = fma(Qk, control, curve)
        for v in range(c.states):
            by_gain = fma(c.gains[k * c.states + v], Qk + Qu, c.cost[p + v])
            c.cost[p + v] = fma(c.H[k * across + c.controls + v], control, by_gain)
    c.slope[at] = slope
    c.curve[at] = curve
    for i in range(n):
        c.p[at * n + i] = c.cost[p + i // 8, i % 8]
        for j in range(i):
            c.cost[own + i * c.states + j // 8, j % 8] = c.cost[own + j * c.states + i // 8, i % 8]
        put_row(c.P, (at * n + i) * n, c.cost, own + i * c.states, n)


@kernel(c=Stages, begin=INT, stop=INT)
def all_stages(c, begin, stop):
    """Write the stages of all knots of some problems, from the end; several side by side, as they lie in memory."""
    n = c.n
    room = (n + 1) * c.states
    for first in range(begin, stop, TOGETHER):
        last = min(first + TOGETHER, stop)
        for problem in range(first, last):
            own = (problem - first) * room
            at = c.knots * c.problems + problem
            for i in range(n):
                c.cost[own + n * c.states + i // 8, i % 8] = c.p[at * n + i]
                take_row(c.cost, own + i * c.states, c.P, (at * n + i) * n, n)
        for t in range(c.knots - 1, -1, -1):
            for problem in range(first, last):
                at = t * c.problems + problem
                own = (problem - first) * room
                set_expansion(c, at, own)
                set_gains(c, at, c.mu[problem])
                set_cost(c, at, own)


class Rooms(threading.local):
    """The room of each thread to compute in, by numbers of states and controls."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Stages] = {}


ROOMS = Rooms()


def prepared(knots: int, problems: int, n: int, m: int, arrays: Mapping[str, np.ndarray]) -> Stages:
    """Return what this thread is given, until it is given other arrays."""
    found = ROOMS.known.get((n, m)) or ROOMS.known.setdefault((n, m), _with_room(n, m))
    found.point({name: array.__array_interface__["data"][0] for name, array in arrays.items()})
    found.point({"problems": problems, "knots": knots, "is_bounded": int("low" in arrays)})
    return found


def _with_room(n: int, m: int) -> Stages:
    controls, states = -(-m // 8), -(-(n + 1) // 8)
    across = controls + states
    room = {"G": n * across, "PG": 8 * states * across, "H": 8 * across * across, "F": m * across}
    room |= {"gains": m * states, "rest": m * states, "cost": TOGETHER * (n + 1) * states, "E": m * (controls + 1)}
    room |= dict.fromkeys(("free", "step", "tried", "found"), controls)
    found = Stages(n=n, m=m, controls=controls, states=states)
    found.room = aligned_empty((sum(room.values()), 8), float)
    found.room[...] = 0.0
    starts = accumulate(room.values(), initial=found.room.ctypes.data // 64)
    found.point({name: 64 * start for name, start in zip(room, starts, strict=False)})
    return found
