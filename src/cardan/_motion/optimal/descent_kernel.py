"""An iteration of a descent as a kernel: expansions, recursion, motions of several shares, and which is taken.

It runs the programs of `motions.py` on some problems side by side. Of a knot and a problem there is a row of numbers:
K, k, q, v, u, the share of k that a motion takes, the gap behind it, and parameters.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I64, INT, LANES, REAL, TRUTH, kernel, run
from cardan._motion.optimal.riccati_kernel import IS_BOUNDED, SMALL, L, M, N, Stages, U, W, X, all_stages

# pyright: analyzeUnannotatedFunctions=false

SHARES = 8  # of a step, each half the one before: all at once if the whole step is none
ARMIJO = 1e-4
LEAST_MU, MOST_MU = 1e-6, 1e10
STATE = 2  # numbers of q and v
SHARE = 13  # places in a row: of the share, before it q, v and u, behind it the gap
HAS_GAPS, IS_EXACT = False, False


class Descent(Stages):
    """What a descent knows of some problems, and the programs that it runs. Arrays: knots, problems, entries."""

    # Programs, by their addresses.
    expansion = INT  # G, HU and HX of all knots
    last_expansion = INT  # P and p of the last state
    curvature = INT  # of the step along costates, to be added to HU and HX
    gap = INT  # of all knots
    whole_step = INT  # a step of all problems from `state`, with feedback
    final = INT  # what the last of `state` costs
    shared_step = INT  # a step of the rows of `tile`
    shared_final = INT
    tolerance = REAL
    lower = F64[:]
    upper = F64[:]
    end = LANES[:]  # P and p of the last state, of each problem
    gains = LANES[:]  # K of the last sound recursion
    curved_HU = LANES[:]
    curved_HX = LANES[:]
    costates = F64[:]
    gaps = F64[:]
    state = F64[:]
    control = F64[:]
    cost_of_knot = F64[:]
    cost_of_last = F64[:]
    tile = LANES[:]  # rows of several shares of several problems
    tile_numbers = F64[:]
    tile_state = F64[:]
    tile_next = F64[:]
    tile_control = F64[:]
    tile_cost = F64[:]
    tile_last = F64[:]
    lane = I64[:]  # the problem of each row of the tile
    tried_state = F64[:]  # of each row of the tile
    tried_control = F64[:]
    tried_cost = F64[:]
    best_state = F64[:]
    best_control = F64[:]
    best_cost = F64[:]
    best_apart = F64[:]
    x = F64[:]
    x_next = F64[:]
    small = F64[:]
    # of each problem
    done = I64[:]
    converged = I64[:]
    iterations = I64[:]
    cost = F64[:]
    apart = F64[:]  # of its gaps, |c|
    widest = F64[:]  # of its gaps
    damping = F64[:]  # mu, relative to the largest second derivative by a control
    nu = F64[:]
    left = F64[:]
    scale = F64[:]
    unsound = F64[:]  # the last mu with which Q_uu was not positive definite, at this motion
    # of each problem, in an iteration
    is_sound = I64[:]  # the recursion: Q_uu + mu is positive definite everywhere, and all of it finite
    was_sound = I64[:]  # one of them
    is_calm = I64[:]
    is_taken = I64[:]
    was_taken = I64[:]
    is_better = I64[:]


@kernel(x=REAL, returns=TRUTH)
def is_finite(x):
    return x - x == 0.0


@kernel(A=LANES[:], at=INT, x=F64[:], count=INT, returns=REAL)
def row_dot(A, at, x, count):
    """Return a row of a matrix, of some vectors, times x."""
    total = 0.0
    for j in range(count):
        total += A[at + j // 8, j % 8] * x[j]
    return total


# --- motions ---


@kernel(c=Descent)
def roll_whole(c):
    """Move all problems by whole steps, from their first states."""
    n = c.problems
    for g in range(n):
        for i in range(STATE):
            c.state[g * STATE + i] = c.numbers[g * 8 * L + SHARE - M - STATE + i]
    for t in range(c.knots):
        run(c.whole_step, n, t * n)
    run(c.final, n)
    for g in range(n):
        total = 0.0
        for t in range(c.knots):
            total += c.cost_of_knot[t * n + g]
        c.tried_cost[g] = total + c.cost_of_last[g]


@kernel(c=Descent, rows=INT)
def roll_shared(c, rows):
    """Move the problems of some rows of the tile, by the shares there."""
    every = SHARES * c.problems
    for r in range(rows):
        c.tried_cost[r] = 0.0
        for i in range(STATE):
            c.tile_state[r * STATE + i] = c.numbers[c.lane[r] * 8 * L + SHARE - M - STATE + i]
            c.tried_state[r * STATE + i] = c.tile_state[r * STATE + i]
    for t in range(c.knots + 1):
        for r in range(rows):
            share = c.tile_numbers[r * 8 * L + SHARE]
            for v in range(L):
                c.tile[r * L + v] = c.rows[(t * c.problems + c.lane[r]) * L + v]
            c.tile_numbers[r * 8 * L + SHARE] = share
        if t < c.knots:
            run(c.shared_step, rows)
            for r in range(rows):
                c.tried_cost[r] += c.tile_cost[r]
                for i in range(STATE):
                    moved = c.tile_next[r * STATE + i]
                    c.tile_state[r * STATE + i] = moved
                    c.tried_state[((t + 1) * every + r) * STATE + i] = moved
                for i in range(M):
                    c.tried_control[(t * every + r) * M + i] = c.tile_control[r * M + i]
    run(c.shared_final, rows)
    for r in range(rows):
        c.tried_cost[r] += c.tile_last[r]


@kernel(c=Descent, g=INT, state=F64[:], control=F64[:], row=INT, every=INT)
def keep(c, g, state, control, row, every):
    """Note a motion of a problem, one of so many."""
    n = c.problems
    for t in range(c.knots + 1):
        for i in range(STATE):
            c.best_state[(t * n + g) * STATE + i] = state[(t * every + row) * STATE + i]
    for t in range(c.knots):
        for i in range(M):
            c.best_control[(t * n + g) * M + i] = control[(t * every + row) * M + i]


@kernel(c=Descent)
def set_gaps(c):
    """Set c of all knots, and of each problem its sum and the largest: 0 of what is closed but for rounding errors."""
    n = c.problems
    run(c.gap, c.knots * n)
    for g in range(n):
        total = 0.0
        widest = 0.0
        for t in range(c.knots):
            for i in range(N):
                gap = c.gaps[(t * n + g) * N + i] if c.apart[g] > 0.0 else 0.0
                c.numbers[(t * n + g) * 8 * L + SHARE + 1 + i] = gap
                total += abs(gap)
                widest = max(widest, abs(gap))
        c.x[g] = total
        c.widest[g] = widest


# --- expansions and recursions ---


@kernel(c=Descent)
def set_expansions(c):
    """Expand dynamics to first and costs to second order near the motions."""
    n = c.problems
    run(c.expansion, c.knots * n)
    run(c.last_expansion, n)
    if HAS_GAPS:
        set_gaps(c)
        for at in range(c.knots * n):
            for i in range(N):
                c.G[(at * N + i) * W + M // 8, M % 8] = c.numbers[at * 8 * L + SHARE + 1 + i]
    for g in range(n):
        largest = 0.0
        for t in range(c.knots):
            at = t * n + g
            for i in range(M):
                largest = max(largest, abs(c.HU[(at * (M + 1) + i) * W + i // 8, i % 8]))
                if IS_BOUNDED:
                    u = c.numbers[at * 8 * L + SHARE - M + i]
                    c.low[at * M + i] = c.lower[i] - u
                    c.high[at * M + i] = c.upper[i] - u
        c.mu[g] = c.damping[g] * (largest if largest > 0.0 else 1.0)


@kernel(c=Descent)
def add_curvature(c):
    """Add the second derivatives of the step, weighed with the costates."""
    n = c.problems
    for g in range(n):
        after = c.x
        for i in range(N):
            after[i] = c.end[(g * (N + 1) + N) * X + i // 8, i % 8]
        for t in range(c.knots - 1, -1, -1):
            at = t * n + g
            for i in range(N):
                c.costates[at * N + i] = after[i]
            for j in range(N):
                c.x_next[j] = c.HU[(at * (M + 1) + M) * W + U + j // 8, j % 8]
                for i in range(N):
                    c.x_next[j] += c.G[(at * N + i) * W + U + j // 8, j % 8] * after[i]
            for j in range(N):
                after[j] = c.x_next[j]
    run(c.curvature, c.knots * n)
    for v in range(c.knots * n * (M + 1) * W):
        c.HU[v] = c.HU[v] + c.curved_HU[v]
    for v in range(c.knots * n * N * X):
        c.HX[v] = c.HX[v] + c.curved_HX[v]


@kernel(c=Descent)
def sweep(c):
    """Run the recursion of all problems that are not done."""
    for g in range(c.problems):
        c.least[g] = 1e300 if c.done[g] == 0 else -1.0
        for v in range((N + 1) * X):
            c.cost_to_go[g * (N + 1) * X + v] = c.end[g * (N + 1) * X + v]
    all_stages(c, 0, c.problems)


@kernel(c=Descent, g=INT)
def set_changes(c, g):
    """Set what a whole step adds to the cost, to first and second order, where there are gaps."""
    slope = 0.0
    curve = 0.0
    for i in range(N):
        c.x[i] = 0.0
    for t in range(c.knots):
        at = t * c.problems + g
        for i in range(M):
            c.small[i] = c.numbers[at * 8 * L + SMALL + i] + row_dot(c.rows, at * L + i * X, c.x, N)
        row = (at * (M + 1) + M) * W
        slope += row_dot(c.HU, row, c.small, M) + row_dot(c.HU, row + U, c.x, N)
        for i in range(M):
            row = (at * (M + 1) + i) * W
            curve += c.small[i] * (row_dot(c.HU, row, c.small, M) + 2.0 * row_dot(c.HU, row + U, c.x, N))
        for i in range(N):
            curve += c.x[i] * row_dot(c.HX, (at * N + i) * X, c.x, N)
            row = (at * N + i) * W
            moved = row_dot(c.G, row, c.small, M) + row_dot(c.G, row + U, c.x, N)
            c.x_next[i] = moved + c.G[row + M // 8, M % 8]
        for i in range(N):
            c.x[i] = c.x_next[i]
    own = g * (N + 1) * X
    slope += row_dot(c.end, own + N * X, c.x, N)
    for i in range(N):
        curve += c.x[i] * row_dot(c.end, own + i * X, c.x, N)
    c.slope[g] = slope
    c.curve[g] = curve


@kernel(c=Descent, g=INT)
def judge(c, g):
    """Say whether a recursion is sound, what a step would gain and how much gaps weigh."""
    is_sound = c.least[g] > 0.0 and is_finite(c.slope[g])
    if HAS_GAPS:
        set_changes(c, g)
        is_sound = is_sound and is_finite(c.slope[g])
    c.is_sound[g] = int(is_sound)
    if is_sound:
        gain = -(c.slope[g] + 0.5 * c.curve[g])
        c.is_calm[g] = int(gain <= c.tolerance * abs(c.cost[g]) + c.scale[g] and c.apart[g] == 0.0)
        c.left[g] = gain
        c.was_sound[g] = 1
        if c.apart[g] > 0.0:
            c.nu[g] = max(c.nu[g], 2.0 * (c.slope[g] + 0.5 * max(c.curve[g], 0.0)) / c.apart[g])
        for t in range(c.knots):
            at = t * c.problems + g
            for v in range(M * X):
                c.gains[at * M * X + v] = c.rows[at * L + v]


# --- the search along a step ---


@kernel(c=Descent, g=INT, row=INT, share=REAL, returns=TRUTH)
def is_enough(c, g, row, share):
    """Return whether the merit falls by enough."""
    merit = c.tried_cost[row] + c.nu[g] * (1.0 - share) * c.apart[g]
    fall = share * (c.nu[g] * c.apart[g] - c.slope[g]) - 0.5 * share * share * c.curve[g]
    return is_finite(merit) and c.cost[g] + c.nu[g] * c.apart[g] - merit > max(ARMIJO * fall, 0.0)


@kernel(c=Descent, g=INT, cost=REAL, apart=REAL, returns=TRUTH)
def is_best(c, g, cost, apart):
    """Return whether a motion has less merit than the best one, and note what it costs then."""
    found = cost + c.nu[g] * apart < c.best_cost[g] + c.nu[g] * c.best_apart[g]
    if found:
        c.best_cost[g] = cost
        c.best_apart[g] = apart
    return found


@kernel(c=Descent)
def search(c):
    """Try a whole step, and shares of it where that is none."""
    roll_whole(c)
    rows = 0
    for g in range(c.problems):
        c.is_taken[g] = 0
        if c.is_sound[g] == 1:
            if is_enough(c, g, g, 1.0):
                c.is_taken[g] = 1
                if is_best(c, g, c.tried_cost[g], 0.0):
                    c.is_better[g] = 1
                    keep(c, g, c.state, c.control, g, c.problems)
            else:
                share = 1.0
                for _ in range(SHARES):
                    share = 0.5 * share
                    c.lane[rows] = g
                    c.tile_numbers[rows * 8 * L + SHARE] = share
                    rows += 1
    if rows > 0:
        roll_shared(c, rows)
    for first in range(0, rows, SHARES):
        g = c.lane[first]
        best = 1e308
        at = first
        share = 1.0
        taken = 0.5
        for s in range(SHARES):
            share = 0.5 * share
            merit = c.tried_cost[first + s] + c.nu[g] * (1.0 - share) * c.apart[g]
            if merit < best:
                best = merit
                at = first + s
                taken = share
        if is_enough(c, g, at, taken):
            c.is_taken[g] = 1
            if is_best(c, g, c.tried_cost[at], (1.0 - taken) * c.apart[g]):
                c.is_better[g] = 1
                keep(c, g, c.tried_state, c.tried_control, at, SHARES * c.problems)
    for g in range(c.problems):
        if c.is_taken[g] == 1:
            c.was_taken[g] = 1
        elif is_best(c, g, c.cost[g], c.apart[g]):
            c.is_better[g] = 0


@kernel(c=Descent, g=INT)
def move(c, g):
    """Go on from the best motion."""
    n = c.problems
    for t in range(c.knots + 1):
        for i in range(STATE):
            c.numbers[(t * n + g) * 8 * L + SHARE - M - STATE + i] = c.best_state[(t * n + g) * STATE + i]
    for t in range(c.knots):
        for i in range(M):
            c.numbers[(t * n + g) * 8 * L + SHARE - M + i] = c.best_control[(t * n + g) * M + i]
    c.cost[g] = c.best_cost[g]
    c.apart[g] = c.best_apart[g]


@kernel(c=Descent, g=INT)
def finish(c, g):
    """Choose the next mu, and say whether a problem is done."""
    mu = c.damping[g]
    is_calm = c.is_calm[g] == 1
    is_taken = c.was_taken[g] == 1
    less = 0.0 if mu <= LEAST_MU else 0.1 * mu
    ended = is_calm and mu <= LEAST_MU
    held = is_calm and not is_taken and less <= 2.0 * c.unsound[g]
    if is_taken:
        c.unsound[g] = -1.0
    elif c.was_sound[g] == 0:
        c.unsound[g] = mu
    c.damping[g] = less if is_taken or is_calm else max(10.0 * mu, LEAST_MU)
    c.iterations[g] += 1
    c.converged[g] = int(ended)
    c.done[g] = int(ended or held or c.damping[g] > MOST_MU)


@kernel(c=Descent)
def iterate(c):
    """Do one iteration of all problems that are not done."""
    set_expansions(c)
    for g in range(c.problems):
        c.best_cost[g] = c.cost[g]
        c.best_apart[g] = c.apart[g]
        c.is_better[g] = 0
        c.is_calm[g] = 0
        c.was_sound[g] = 0
        c.was_taken[g] = 0
    for way in range(2 if IS_EXACT else 1):
        if way == 1:
            add_curvature(c)
        sweep(c)
        for g in range(c.problems):
            judge(c, g)
        search(c)
    for g in range(c.problems):
        if c.done[g] == 0:
            if c.is_better[g] == 1:
                move(c, g)
            finish(c, g)


@kernel(c=Descent)
def begin(c):
    """Find the motions of controls; or, through states, the gaps."""
    if HAS_GAPS:
        set_gaps(c)
        for g in range(c.problems):
            c.apart[g] = c.x[g]
    else:
        for at in range(c.knots * c.problems):
            for i in range(SMALL + M):
                c.numbers[at * 8 * L + i] = 0.0  # K and k
        roll_whole(c)


@kernel(c=Descent, most=INT)
def descend(c, most):
    """Iterate as long as a problem is not done, at most so many times; or begin, where that is less than 0."""
    if most < 0:
        begin(c)
        return
    for _ in range(most):
        going = False
        for g in range(c.problems):
            going = going or c.done[g] == 0
        if not going:
            break
        iterate(c)
    if HAS_GAPS:
        set_gaps(c)
