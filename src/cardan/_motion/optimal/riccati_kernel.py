"""The stages of a Riccati recursion as a kernel, with the numbers of states and controls compiled in.

Matrices lie in vectors along their columns: those of the controls and one for what is constant first, begun anew for
the states. A vector has eight columns of one problem. Compiled across, `Kernel.across`, it has one column of eight
problems, and nothing is filled up. With P_+ = [[P, p], [p^T, .]] of x and 1, and G = [[B c A], [0 1 0]], a stage is

    H = [R r S; r^T . q^T; S^T q Q] + G^T P_+ G

of which the rows of controls hold Q_uu, Q_u and Q_ux of (1) and (2) in `riccati_sweep`, that of the constant Q_x, and
those of the states Q_xx. What is left and below of the diagonal's vector is not computed.

Of a semi-implicit step the next q follows from q and the next v, joint by joint. With blocks Phi and Psi of joints

    x_+ = T y + c,   T = [[Phi, Psi], [0, 1]],   y = [[0 0 1 0], [B_v 0 A_v]] [u 1 q v]

so that H is found from T^T P T and T^T (p + P c), with the rows of v alone in G.

Cost: (n + m)^3 multiply-adds a stage, eight at once; about half of them where only rows of v are in G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardan._compiler.kernels import (
    F64,
    I64,
    INT,
    LANES,
    REAL,
    Record,
    aligned_zeros,
    fma,
    is_any,
    kernel,
    scratch,
    unrolled,
    vectors,
)

# pyright: analyzeUnannotatedFunctions=false

TOGETHER = 8  # problems side by side
PASSES = 20  # of the search for what is at its bound: two or three are usual
NEAR = 0.02  # a bound nearer than this part of a step is gone to at once: 4 of 6000 problems end early, not 287
LEAST_UNIT = 1e-8  # of mu, beside the largest entry of Q_uu: one of the diagonal may be 0 where Q_uu is not definite

COLUMNS = 8  # in a vector: or one, of eight problems
BESIDE, SUMS = 1, 4  # vectors of a row of a product that are summed up at once, and of four rows
N, M = 1, 1  # states and controls; these and those below are others in each compiled kernel
U, X, W = 1, 1, 2  # vectors of a row of controls and the constant, of states, of both
F, V = 1, 3  # of Q_uu, and of it with what it is solved for
L, SMALL = 2, 8  # vectors of one of `rows`, and the place of k in it
IS_BOUNDED = False  # whether k has bounds
Y = 0  # states that follow from themselves and the other half, as q does
BLOCK, SINGLE = 1, 0  # of how many a block is at most, and from which one on each is by itself
HAS_GAPS, SHARE = False, 8  # whether there is a c, and the place before it in one of `rows`


class Knots(NamedTuple):
    """What there is at a knot, or at all knots and problems, in the equations' letters."""

    A: Any
    B: Any
    Q: Any
    S: Any
    R: Any
    q: Any
    r: Any


class Stages(Record):
    """What a sweep is given and writes, knots first and then problems; and where it computes."""

    problems = INT
    knots = INT
    kept = INT  # vectors between the P of a knot and of the next one: 0 if they are kept nowhere
    step_HX = INT  # vectors from the HX of a problem to the next one: 0 if it is the same at all knots
    G = LANES[:]  # rows of states; where Y are known, of the others
    HU = LANES[:]  # rows of controls and of the constant
    HX = LANES[:]  # rows of states, of these columns alone
    mu = F64[:]  # of each problem, relative to the diagonal of Q_uu
    weights = F64[:]  # of each problem and state: W, taken where there is a mu
    low = F64[:]
    high = F64[:]
    cost_to_go = LANES[:]  # P, and behind it p, of each problem: of the last state to begin with
    rows = LANES[:]  # of a knot and problem: K, behind it k, and what else a descent has there
    numbers = F64[:]  # the same, one by one
    slope = F64[:]  # of each problem: Q_u . k of all knots, 0 at first
    curve = F64[:]  # k . Q_uu k, likewise
    least = F64[:]  # least pivot of Q_uu + D, or the first that is not above 0: no stage follows. Infinite at first
    last = F64[:]  # the last stage
    moves = F64[:]  # Phi and Psi of a knot: of all columns the first entry of the block, then the second one
    first = I64[:]  # of each of the Y states: the row its block begins with, and the one behind it
    behind = I64[:]
    diagonal = LANES[:]  # of Phi at a knot, where blocks are of one
    moved_P = LANES[:]  # T^T P
    moved_PG = LANES[:]  # T^T P T G
    unit = LANES[:]  # of each column 1 in it, and behind them 0
    PG = LANES[:]
    C = LANES[:]  # rows of controls and of the constant, of H
    D = LANES[:]  # Q_uu + D, Q_u and Q_ux, solved in place
    E = LANES[:]  # Q_uu + D of what is free, and a slope
    rest = LANES[:]  # Q_ux - D K


Across = Stages.across()
"""The same of eight problems, in the lanes of vectors."""


@kernel(to=F64[:], at=INT, given=F64[:], first=INT, count=INT)
def copy(to, at, given, first, count):
    """Copy so many numbers of another array."""
    for i in range(count):
        to[at + i] = given[first + i]


@kernel(A=LANES[:], x=INT, wide=INT, r=INT, B=LANES[:], y=INT, across=INT, count=INT, sums=LANES[:], inlined=True)
def add_product(A, x, wide, r, B, y, across, count, sums):
    """Add rows r to r + 3 of A^T B, of some vectors of B; both matrices from a vector on, row by row."""
    for k in range(count):
        for j in unrolled(BESIDE):
            row = B[y + k * across + j]
            for i in unrolled(4):
                entry = A[x + k * wide + (r + i) // COLUMNS, (r + i) % COLUMNS]
                sums[4 * j + i] = fma(row, entry, sums[4 * j + i])


@kernel(c=Stages, at=INT, A=LANES[:], own=INT, wide=INT, j=INT, first=INT, behind=INT, to=LANES[:])
def move_two(c, at, A, own, wide, j, first, behind, to):
    """Write rows j and Y + j of T^T A, of blocks with these rows of A."""
    place = at * 2 * BLOCK * Y + j
    for v in range(wide):
        known = c.unit[COLUMNS]
        other = A[own + (Y + j) * wide + v]
        for k in range(first, behind):
            row = A[own + k * wide + v]
            known = fma(row, c.moves[place + (k - first) * Y], known)
            other = fma(row, c.moves[place + (BLOCK + k - first) * Y], other)
        to[j * wide + v] = known
        to[(Y + j) * wide + v] = other


@kernel(c=Stages, at=INT, A=LANES[:], own=INT, wide=INT, to=LANES[:])
def move_rows(c, at, A, own, wide, to):
    """Write T^T A, of a matrix from a vector on."""
    for j in range(SINGLE):
        move_two(c, at, A, own, wide, j, c.first[j], c.behind[j], to)
    for j in range(SINGLE, Y):
        move_two(c, at, A, own, wide, j, j, j + 1, to)


@kernel(c=Stages, at=INT, own=INT)
def add_gap(c, at, own):
    """Add P c to p."""
    for v in range(X):
        total = c.cost_to_go[own + N * X + v]
        for k in range(N):
            total = fma(c.cost_to_go[own + k * X + v], c.numbers[at * COLUMNS * L + SHARE + 1 + k], total)
        c.cost_to_go[own + N * X + v] = total


@kernel(sums=LANES[:], r=INT, rows=INT, begin=INT, stop=INT, to=LANES[:], place=INT, wide=INT, inlined=True)
def put(sums, r, rows, begin, stop, to, place, wide):
    """Write sums of so many rows from r on to a matrix from a place on, up to some column of vectors."""
    for j in unrolled(BESIDE):
        if begin + j < stop:
            for i in unrolled(4):
                if i < rows:
                    to[place + (r + i) * wide + begin + j] = sums[4 * j + i]


@kernel(c=Stages, at=INT, A=LANES[:], own=INT, r=INT, v=INT, place=INT, sums=LANES[:], inlined=True)
def set_moved(c, at, A, own, r, v, place, sums):
    """Set what four sums of PG begin with, from a place on: the column of the constant, and rows that are known."""
    for i in unrolled(4):
        p = c.cost_to_go[own + N * X + (r + i) // COLUMNS, (r + i) % COLUMNS]
        sums[place + i] = c.unit[M % COLUMNS if v == M // COLUMNS else COLUMNS] * p
    if Y > 0 and v >= U:
        for i in unrolled(4):
            sums[place + i] = c.diagonal[at * X + v - U] * c.cost_to_go[own + min(r + i, N - 1) * X + v - U]
        for j in range(COLUMNS * (v - U), min(COLUMNS * (v - U) + COLUMNS, SINGLE)):
            for i in unrolled(4):
                entry = A[j * X + (r + i) // COLUMNS, (r + i) % COLUMNS]
                sums[place + i] = fma(c.unit[j % COLUMNS], entry, sums[place + i])


@kernel(c=Stages, at=INT, A=LANES[:], first=INT, own=INT)
def set_products(c, at, A, first, own):
    """Set PG; A has the rows by which those of G count."""
    sums = vectors(SUMS)
    for begin in range(0, W, BESIDE):
        for r in range(0, N, 4):
            for j in unrolled(BESIDE):
                v = min(begin + j, W - 1)
                set_moved(c, at, A, own, r, v, 4 * j, sums)
            add_product(A, first, X, r, c.G, at * (N - Y) * W + begin, W, N - Y, sums)
            put(sums, r, 4, begin, W, c.PG, 0, W)


@kernel(c=Stages, at=INT, PG=LANES[:], own=INT)
def set_expansion(c, at, PG, own):
    """Set H of the controls and the constant; of PG or T^T P T G."""
    sums = vectors(SUMS)
    G = at * (N - Y) * W
    for r in range(0, M + 1, 4):
        for begin in range(r // COLUMNS, W, BESIDE):
            for j in unrolled(BESIDE):
                for i in unrolled(4):
                    sums[4 * j + i] = c.HU[(at * (M + 1) + min(r + i, M)) * W + min(begin + j, W - 1)]
            add_product(c.G, G, W, r, PG, Y * W + begin, W, N - Y, sums)
            put(sums, r, 4, begin, W, c.C, 0, W)
    for v in range(M // COLUMNS, W):
        total = c.C[M * W + v]
        for k in range(N - Y):
            p = (
                PG[(Y + k) * W + M // COLUMNS, M % COLUMNS]
                if Y > 0
                else c.cost_to_go[own + N * X + k // COLUMNS, k % COLUMNS]
            )
            total = fma(c.G[G + k * W + v], p, total)
        c.C[M * W + v] = total
    for j in range(Y):
        c.C[M * W + U + j // COLUMNS, j % COLUMNS] += PG[j * W + M // COLUMNS, M % COLUMNS]


@kernel(A=LANES[:], across=INT, i=INT, f=F64[:], j=INT, step=INT, first=INT)
def add_four(A, across, i, f, j, step, first):
    """Add f times four rows, j and each a step from the one before, to row i, from vector `first` on."""
    for v in range(first, across):
        total = fma(A[j * across + v], f[0], A[i * across + v])
        total = fma(A[(j + step) * across + v], f[1], total)
        total = fma(A[(j + 2 * step) * across + v], f[2], total)
        A[i * across + v] = fma(A[(j + 3 * step) * across + v], f[3], total)


@kernel(A=LANES[:], m=INT, across=INT, first=INT, returns=REAL)
def solve(A, m, across, first):
    """Replace the right sides of [H | x], from vector `first` on, by H^-1 x; four rows are taken at once.

    Return the least pivot, or the first that is not above 0: what is solved then is nothing.
    """
    f = scratch(4)
    inverse = scratch(4)
    least = A[0, 0]
    for begin in range(0, m, 4):
        stop = min(begin + 4, m)
        for j in range(begin, stop):
            d = A[j * across + j // COLUMNS, j % COLUMNS]
            least = least if not least > 0.0 or least <= d else d
            inverse[j - begin] = -1.0 / d
            for i in range(j + 1, stop):
                factor = A[j * across + i // COLUMNS, i % COLUMNS] * inverse[j - begin]
                for v in range(i // COLUMNS, across):
                    A[i * across + v] = fma(A[j * across + v], factor, A[i * across + v])
        for i in range(stop, m):
            for k in range(4):
                f[k] = A[(begin + k) * across + i // COLUMNS, i % COLUMNS] * inverse[k]
            add_four(A, across, i, f, begin, 1, i // COLUMNS)
    for stop in range(m, 0, -4):
        begin = max(stop - 4, 0)
        for j in range(stop - 1, begin - 1, -1):
            scale = 1.0 / A[j * across + j // COLUMNS, j % COLUMNS]
            for v in range(first, across):
                A[j * across + v] = A[j * across + v] * scale
            for i in range(begin, j):
                factor = -A[i * across + j // COLUMNS, j % COLUMNS]
                for v in range(first, across):
                    A[i * across + v] = fma(A[j * across + v], factor, A[i * across + v])
        for i in range(begin):
            for k in range(4):
                f[k] = -A[i * across + (stop - 1 - k) // COLUMNS, (stop - 1 - k) % COLUMNS]
            add_four(A, across, i, f, stop - 1, -1, first)
    return least


@kernel(A=LANES[:], across=INT, i=INT, x=F64[:], first=INT, returns=REAL)
def row_times(A, across, i, x, first):
    """Return row i of a symmetric matrix of which the upper half is there, times x from an entry on."""
    total = 0.0
    for j in range(M):
        total = fma(A[min(i, j) * across + max(i, j) // COLUMNS, max(i, j) % COLUMNS], x[first + j], total)
    return total


@kernel(c=Stages, x=F64[:], first=INT, returns=REAL)
def value(c, x, first):
    """Return 1/2 x^T (Q_uu + D) x + Q_u^T x, of x from an entry on."""
    total = 0.0
    for i in range(M):
        total = fma(x[first + i], 0.5 * row_times(c.D, V, i, x, first) + c.D[i * V + F, 0], total)
    return total


@kernel(c=Stages, at=INT, free=F64[:], slopes=F64[:], begin=F64[:])
def set_free(c, at, free, slopes, begin):
    """Say what of k is not held at a bound, 1 or 0, what the slopes are, and where steps begin: what is held, there.

    What is pushed on at a bound is held, and what is so near to it that a step of its own went far beyond. Else a step
    of all is cut off at once, and what others do because of it is in vain.
    """
    first = at * COLUMNS * L + SMALL
    for i in range(M):
        slope = row_times(c.D, V, i, c.numbers, first) + c.D[i * V + F, 0]
        k = c.numbers[first + i]
        bound = c.low[at * M + i] if slope > 0.0 else c.high[at * M + i]
        gap = abs(bound - k)
        own = c.D[i * V + i // COLUMNS, i % COLUMNS]
        is_near = gap <= 0.0 or (own > 0.0 and gap * own <= NEAR * abs(slope))
        is_held = is_near and abs(slope) > 0.0
        free[i] = 0.0 if is_held else 1.0
        slopes[i] = slope
        begin[i] = bound if is_held else k


@kernel(c=Stages, free=F64[:], to=LANES[:], wide=INT)
def leave_free(c, free, to, wide):
    """Write Q_uu + D with rows and columns of the identity for what is not free, in rows of so many vectors."""
    for i in range(M):
        for j in range(i, M):
            to[i * wide + j // COLUMNS, j % COLUMNS] = c.D[i * V + j // COLUMNS, j % COLUMNS] * free[i] * free[j]
        to[i * wide + i // COLUMNS, i % COLUMNS] = to[i * wide + i // COLUMNS, i % COLUMNS] if free[i] > 0.0 else 1.0


@kernel(c=Stages, at=INT, free=F64[:])
def set_within(c, at, free):
    """Find the k between bounds that makes 1/2 k^T H k + g^T k least, and what of it is free.

    Newton steps of what is free, cut off at the bounds, the longest of some that makes it less: projected Newton. It
    ends when none does, or when nothing was cut off and the same is free behind the step: then k is where the slopes
    of what is free are 0.

    Source: Bertsekas, Projected Newton methods for optimization problems with simple constraints (1982).
    """
    first = at * COLUMNS * L + SMALL
    bound = at * M
    slopes = scratch(M)
    tried = scratch(M)
    begin = scratch(M)
    was_free = scratch(M)
    for i in range(M):
        c.numbers[first + i] = min(max(0.0, c.low[bound + i]), c.high[bound + i])
    best = value(c, c.numbers, first)
    going = 1.0
    set_free(c, at, free, slopes, begin)
    for _ in range(PASSES):
        leave_free(c, free, c.E, F + 1)
        for i in range(M):
            c.E[i * (F + 1) + F, 0] = slopes[i] * free[i]
        solve(c.E, M, F + 1, F)
        before = best
        ends = 0.0
        share = 1.0
        for _ in range(5):
            cut = 0.0
            for i in range(M):
                moved = begin[i] - share * c.E[i * (F + 1) + F, 0]
                tried[i] = min(max(moved, c.low[bound + i]), c.high[bound + i])
                cut = cut if tried[i] == moved and begin[i] == c.numbers[first + i] else 1.0
            cost = value(c, tried, 0)
            is_taken = going > 0.0 and not best < before and cost < best
            for i in range(M):
                c.numbers[first + i] = tried[i] if is_taken else c.numbers[first + i]
            ends = 1.0 if is_taken and share == 1.0 and cut == 0.0 else ends
            best = cost if is_taken else best
            if not is_any(going > 0.0 and not best < before):
                break
            share = share * 0.5 if share > 0.25 else share * share
        copy(was_free, 0, free, 0, M)
        set_free(c, at, free, slopes, begin)
        for i in range(M):
            ends = ends if free[i] == was_free[i] and begin[i] == c.numbers[first + i] else 0.0
        going = going if best < before and ends == 0.0 else 0.0
        if not is_any(going > 0.0):
            break


@kernel(c=Stages, problem=INT, to=F64[:])
def set_damping(c, problem, to):
    """Set D: mu in the unit of each control's own entry of Q_uu, or of a small part of the largest one."""
    mu = c.mu[problem]
    for i in range(M):
        to[i] = mu
    if not is_any(mu > 0.0):
        return
    largest = mu * 0.0
    for i in range(M):
        for j in range(i, M):
            entry = abs(c.C[i * W + j // COLUMNS, j % COLUMNS])
            largest = entry if entry > largest else largest
    least = LEAST_UNIT * largest if largest > 0.0 else 1.0
    for i in range(M):
        own = abs(c.C[i * W + i // COLUMNS, i % COLUMNS])
        to[i] = mu * (own if own > least else least)


@kernel(c=Stages, at=INT, problem=INT, returns=REAL)
def set_gains(c, at, problem):
    """Set K and k of a knot, (3); return the least pivot."""
    damping = scratch(M)
    set_damping(c, problem, damping)
    for i in range(M):
        for v in range(i // COLUMNS, F):
            c.D[i * V + v] = c.C[i * W + v]
        c.D[i * V + i // COLUMNS] = fma(c.unit[i % COLUMNS], damping[i], c.D[i * V + i // COLUMNS])
        c.D[i * V + F] = c.C[i * W + M // COLUMNS, M % COLUMNS]
        for v in range(X):
            c.D[i * V + F + 1 + v] = c.C[i * W + U + v]
    if IS_BOUNDED:
        free = scratch(M)
        set_within(c, at, free)
        leave_free(c, free, c.D, V)
        for i in range(M):
            for v in range(F, V):
                c.D[i * V + v] = c.D[i * V + v] * free[i]
    least = solve(c.D, M, V, F)
    for i in range(M):
        if not IS_BOUNDED:
            c.numbers[at * COLUMNS * L + SMALL + i] = -c.D[i * V + F, 0]
        for v in range(X):
            gain = c.D[i * V + F + 1 + v] * -1.0
            c.rows[at * L + i * X + v] = gain
            c.rest[i * X + v] = fma(gain, -damping[i], c.C[i * W + U + v])
    return least


@kernel(c=Stages, at=INT, PG=LANES[:], own=INT)
def set_cost(c, at, PG, own):
    """Set P of a knot, (4), of PG or T^T P T G."""
    sums = vectors(SUMS)
    for r in range(0, N, 4):
        for begin in range(r // COLUMNS, X, BESIDE):
            for j in unrolled(BESIDE):
                v = min(begin + j, X - 1)
                for i in unrolled(4):
                    sums[4 * j + i] = c.HX[at * c.step_HX + min(r + i, N - 1) * X + v]
                    if r + i < Y:
                        sums[4 * j + i] = sums[4 * j + i] + PG[(r + i) * W + U + v]
            add_product(c.G, at * (N - Y) * W + U, W, r, PG, Y * W + U + begin, W, N - Y, sums)
            add_product(c.rows, at * L, X, r, c.rest, begin, X, M, sums)
            put(sums, r, N - r, begin, X, c.cost_to_go, own, X)
    for i in range(N):
        for j in range(i):
            c.cost_to_go[own + i * X + j // COLUMNS, j % COLUMNS] = c.cost_to_go[
                own + j * X + i // COLUMNS, i % COLUMNS
            ]


@kernel(c=Stages, at=INT, own=INT, problem=INT)
def set_slopes(c, at, own, problem):
    """Set p of a knot, (4), and add what a step of k gains."""
    slope = c.slope[problem]
    curve = c.curve[problem]
    for v in range(X):
        c.cost_to_go[own + N * X + v] = c.C[M * W + U + v]
    for k in range(M):
        control = c.numbers[at * COLUMNS * L + SMALL + k]
        Qk = row_times(c.C, W, k, c.numbers, at * COLUMNS * L + SMALL)
        Qu = c.C[k * W + M // COLUMNS, M % COLUMNS]
        slope = fma(Qu, control, slope)
        curve = fma(Qk, control, curve)
        for v in range(X):
            by_gain = fma(c.rows[at * L + k * X + v], Qk + Qu, c.cost_to_go[own + N * X + v])
            c.cost_to_go[own + N * X + v] = fma(c.C[k * W + U + v], control, by_gain)
    c.slope[problem] = slope
    c.curve[problem] = curve


@kernel(c=Stages, t=INT, problem=INT)
def set_stage(c, t, problem):
    """Set all of a knot and problem: its row, and P and p from those after it."""
    at = t * c.problems + problem
    own = t * c.kept + problem * (N + 1) * X
    after = own + c.kept
    for i in range(N if is_any(c.mu[problem] > 0.0) else 0):
        c.cost_to_go[after + i * X + i // COLUMNS, i % COLUMNS] += c.weights[problem * N + i]
    if Y > 0:
        if HAS_GAPS:
            add_gap(c, at, after)
        move_rows(c, at, c.cost_to_go, after, X, c.moved_P)
        set_products(c, at, c.moved_P, Y * X, after)
        move_rows(c, at, c.PG, 0, W, c.moved_PG)
        set_expansion(c, at, c.moved_PG, after)
    else:
        set_products(c, at, c.cost_to_go, after, after)
        set_expansion(c, at, c.PG, after)
    least = set_gains(c, at, problem)
    known = c.least[problem]
    c.last[problem] = float(t) if known > 0.0 else c.last[problem]
    c.least[problem] = known if not known > 0.0 or known < least else least
    if Y > 0:
        set_cost(c, at, c.moved_PG, own)
    else:
        set_cost(c, at, c.PG, own)
    set_slopes(c, at, own, problem)


@kernel(c=Stages, begin=INT, stop=INT)
def all_stages(c, begin, stop):
    """Write the stages of all knots of some problems, from the end; several side by side, as they lie in memory."""
    for first in range(begin, stop, TOGETHER):
        last = min(first + TOGETHER, stop)
        for t in range(c.knots - 1, -1, -1):
            for problem in range(first, last):
                if is_any(c.least[problem] > 0.0):
                    set_stage(c, t, problem)


def sizes(n: int, m: int, columns: int = 8) -> dict[str, int]:
    """Return the numbers that depend on those of states and controls alone; L is that of rows of K and k."""
    controls, states, own = m // columns + 1, -(-n // columns), -(-m // columns)
    found = {"N": n, "M": m, "U": controls, "X": states, "W": controls + states, "F": own, "V": own + 1 + states}
    found |= {"L": m * states + own, "SMALL": columns * m * states}
    beside = 4 if columns == 1 else 1
    return found | {"COLUMNS": columns, "BESIDE": beside, "SUMS": 4 * beside}


def arranged(knots: Knots, zeros: Callable[..., np.ndarray], c: Any = 0.0) -> dict[str, np.ndarray]:
    """Return what there is at knots as it lies in a sweep, by the names of `Stages`; A and B may lack known rows."""
    A, B, Q, S, R, q, r = knots
    (*lead, rows, m), n = B.shape, Q.shape[-1]
    s = sizes(n, m)
    states = slice(8 * s["U"], 8 * s["U"] + n)
    G, HU, HX = zeros(*lead, rows, 8 * s["W"]), zeros(*lead, m + 1, 8 * s["W"]), zeros(*lead, n, 8 * s["X"])
    G[..., :m], G[..., m], G[..., states], HX[..., :n] = B, c, A, Q
    HU[..., :m, :m], HU[..., :m, m], HU[..., m, :m], HU[..., :m, states], HU[..., m, states] = R, r, r, S, q
    return {"G": G, "HU": HU, "HX": HX}


def arranged_end(P: Any, p: Any, zeros: Callable[..., np.ndarray]) -> np.ndarray:
    """Return P and p as they lie in a sweep."""
    *lead, n = p.shape
    end = zeros(*lead, n + 1, 8 * sizes(n, 1)["X"])
    end[..., :n, :n], end[..., n, :n] = P, p
    return end


def room(n: int, m: int, columns: int = 8) -> dict[str, np.ndarray]:
    """Return the arrays that stages are computed in."""
    s = sizes(n, m, columns)
    rows = {
        "PG": -(-n // 4) * 4 * s["W"] + 4,
        "C": -(-(m + 1) // 4) * 4 * s["W"],
        "D": m * s["V"],
        "E": m * (s["F"] + 1),
    }
    rows |= {"moved_P": n * s["X"] + 4, "moved_PG": n * s["W"] + 4, "rest": m * s["X"] + 4, "unit": 9}
    found = {name: zeros(count, 8) for name, count in rows.items()}
    found["unit"][:columns] = np.repeat(np.eye(columns), 8 // columns, axis=1)
    return found


def zeros(*shape: int) -> np.ndarray:
    """Return an array that begins at a multiple of 64 bytes."""
    return aligned_zeros(shape, float)
