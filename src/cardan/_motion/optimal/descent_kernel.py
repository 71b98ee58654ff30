"""An iteration of a descent as a kernel: expansions, recursion, motions of several shares, and which is taken.

It runs the programs of `motions.py` on some problems side by side. Of a knot and a problem there is a row of numbers:
K, k, q, v, u, the share of k that a motion takes, the gap behind it, and parameters.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I64, INT, LANES, REAL, TRUTH, call, kernel, run, scratch, turn
from cardan._motion.optimal.riccati_kernel import (
    BLOCK,
    HAS_GAPS,
    IS_BOUNDED,
    SHARE,
    SMALL,
    Across,
    L,
    M,
    N,
    Stages,
    U,
    W,
    X,
    Y,
    all_stages,
    copy,
)

# pyright: analyzeUnannotatedFunctions=false

FEW = 2  # problems that have no need of one another
SHARES = 8  # of a step, each half the one before: tried where the whole step is not good enough
SHORT, LONG = 0.01, 0.5  # mu grows where no more of a step is taken, and falls where so much is
ARMIJO = 1e-4
LEAST_MU, MOST_MU = 1e-6, 1e10
MOST_W = 0.01  # of the largest second derivative of costs: 1 took more iterations, and 0 led nowhere for unstable arms
STATE = 2  # numbers of q and v


class Descent(Stages):
    """What a descent knows of some problems, and the programs that it runs. Arrays: knots, problems, entries."""

    # Programs, by their addresses.
    expansion = INT  # G, HU and HX of all knots, and what moves the known states
    last_expansion = INT  # P and p of the last state
    curvature = INT  # of the step along costates, to be added to HU and HX
    gap = INT  # of all knots
    step_of_tile = INT  # a step near a motion, with feedback, of the rows of `tile`
    final_of_tile = INT  # what the last state costs
    recursion = INT  # the recursion of eight problems at once, or 0 where there are fewer
    tries = INT  # how many rows the tile has
    lanes = INT  # of the program of a step
    ways = INT  # 2 with the recursion that has second derivatives of the step, else 1
    tolerance = REAL
    lower = F64[:]
    upper = F64[:]
    end = LANES[:]  # P and p of the last state, of each problem
    gains = F64[:]  # K of the last sound recursion
    curved_HU = LANES[:]
    curved_HX = LANES[:]
    costates = F64[:]
    gaps = F64[:]
    tile = LANES[:]  # rows of several shares of several problems
    tile_numbers = F64[:]
    lane = I64[:]  # the problem of each row of the tile
    state = F64[:]  # of each row of the tile, at a knot
    state_next = F64[:]
    control = F64[:]
    added = F64[:]  # to the cost
    tried_state = F64[:]
    tried_control = F64[:]
    tried_cost = F64[:]
    best_state = F64[:]
    best_control = F64[:]
    # Of each problem:
    done = I64[:]
    converged = I64[:]
    iterations = I64[:]
    cost = F64[:]
    apart = F64[:]  # of its gaps, |c|: to begin with, whether there are any
    widest = F64[:]  # of its gaps
    nu = F64[:]
    left = F64[:]
    scale = F64[:]
    failed = F64[:]  # the last mu at this motion that led nowhere: Q_uu was not positive definite, or no share gained
    best_cost = F64[:]
    best_apart = F64[:]
    was_sound = I64[:]  # a recursion: Q_uu + mu is positive definite everywhere, and all of it finite
    is_calm = I64[:]
    is_searched = I64[:]  # whether shares of a sound recursion's step are tried
    taken = F64[:]  # the share that was, or 0
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


@kernel(c=Descent, rows=INT, first=INT)
def roll(c, rows, first):
    """Move the problems of some rows of the tile from their first states, by the shares there.

    What stands before place `first` of a row of the tile stays: without feedback, K = 0. Where there are gaps, each
    step is then from the state that is given.
    """
    every = c.tries
    for r in range(rows):
        c.tried_cost[r] = 0.0
    for t in range(c.knots + 1):
        for r in range(rows):
            near = (t * c.problems + c.lane[r]) * 8 * L
            share = c.tile_numbers[r * 8 * L + SHARE]
            copy(c.tile_numbers, r * 8 * L + first, c.numbers, near + first, 8 * L - first)
            c.tile_numbers[r * 8 * L + SHARE] = share
            at = (t * every + r) * STATE
            if t == 0 or (HAS_GAPS and first > 0):
                copy(c.tried_state, at, c.numbers, near + SHARE - M - STATE, STATE)
            copy(c.state, r * STATE, c.tried_state, at, STATE)
        run(c.step_of_tile if t < c.knots else c.final_of_tile, rows)
        for r in range(rows):
            c.tried_cost[r] += c.added[r]
            copy(c.tried_state, ((t + 1) * every + r) * STATE, c.state_next, r * STATE, STATE)
            copy(c.tried_control, (t * every + r) * M, c.control, r * M, M)


@kernel(c=Descent, g=INT, row=INT)
def keep(c, g, row):
    """Note the motion of a row as the best one of a problem."""
    n = c.problems
    every = c.tries
    for t in range(c.knots + 1):
        copy(c.best_state, (t * n + g) * STATE, c.tried_state, (t * every + row) * STATE, STATE)
        copy(c.best_control, (t * n + g) * M, c.tried_control, (t * every + row) * M, M)


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
        c.apart[g] = total
        c.widest[g] = widest


# --- expansions and recursions ---


@kernel(c=Descent, at=INT, by=INT, k=INT, j=INT, returns=REAL)
def entry_of_T(c, at, by, k, j):
    """Return an entry of Phi, or Psi where `by` is 1."""
    return c.moves[((at * 2 + by) * BLOCK + k - c.first[j]) * Y + j]


@kernel(c=Descent, at=INT, x=F64[:])
def move_back(c, at, x):
    """Replace x by T^T x."""
    given = scratch(N)
    copy(given, 0, x, 0, N)
    for j in range(Y):
        x[j] = 0.0
        for k in range(c.first[j], c.behind[j]):
            x[j] += entry_of_T(c, at, 0, k, j) * given[k]
            x[Y + j] += entry_of_T(c, at, 1, k, j) * given[k]


@kernel(c=Descent, g=INT, first=INT, behind=INT)
def set_weights(c, g, first, behind):
    """Set W of some states, q or v: a share of the largest second derivative of costs by one of them."""
    largest = 0.0
    for t in range((c.knots if c.step_HX > 0 else 1) if c.mu[g] > 0.0 else 0):
        for i in range(first, behind):
            largest = max(largest, abs(c.HX[(t * c.problems + g) * c.step_HX + i * X + i // 8, i % 8]))
    for i in range(first, behind):
        largest = max(largest, abs(c.end[(g * (N + 1) + i) * X + i // 8, i % 8]))
    for i in range(first, behind):
        c.weights[g * N + i] = min(c.mu[g], MOST_W) * largest


@kernel(c=Descent)
def set_expansions(c):
    """Expand dynamics to first and costs to second order near the motions."""
    n = c.problems
    run(c.expansion, c.knots * n)
    run(c.last_expansion, n)
    if HAS_GAPS:
        set_gaps(c)
        for at in range(c.knots * n if Y == 0 else 0):
            for i in range(N):
                c.G[(at * N + i) * W + M // 8, M % 8] = c.numbers[at * 8 * L + SHARE + 1 + i]
    for at in range(c.knots * n if IS_BOUNDED else 0):
        for i in range(M):
            u = c.numbers[at * 8 * L + SHARE - M + i]
            c.low[at * M + i] = c.lower[i] - u
            c.high[at * M + i] = c.upper[i] - u
    for g in range(n):
        set_weights(c, g, 0, N // 2)
        set_weights(c, g, N // 2, N)


@kernel(c=Descent)
def add_curvature(c):
    """Add the second derivatives of the step, weighed with the costates."""
    n = c.problems
    after = scratch(N)
    before = scratch(N)
    for g in range(n):
        for i in range(N):
            after[i] = c.end[(g * (N + 1) + N) * X + i // 8, i % 8]
        for t in range(c.knots - 1, -1, -1):
            at = t * n + g
            copy(c.costates, at * N, after, 0, N)
            if Y > 0:
                move_back(c, at, after)
            for j in range(N):
                before[j] = c.HU[(at * (M + 1) + M) * W + U + j // 8, j % 8] + (after[j] if j < Y else 0.0)
                for i in range(N - Y):
                    before[j] += c.G[(at * (N - Y) + i) * W + U + j // 8, j % 8] * after[Y + i]
            copy(after, 0, before, 0, N)
    run(c.curvature, c.knots * n)
    for v in range(c.knots * n * (M + 1) * W):
        own = c.HU[v]
        c.HU[v] = own + c.curved_HU[v]
        c.curved_HU[v] = own
    for v in range(c.knots * n * N * X):
        own = c.HX[v]
        c.HX[v] = own + c.curved_HX[v]
        c.curved_HX[v] = own


@kernel(c=Descent)
def remove_curvature(c):
    """Put back what the second derivatives were added to: numbers that are the same everywhere are written once."""
    for v in range(c.knots * c.problems * (M + 1) * W):
        c.HU[v] = c.curved_HU[v]
    for v in range(c.knots * c.problems * N * X):
        c.HX[v] = c.curved_HX[v]


@kernel(given=LANES[:], at=INT, every=INT, to=LANES[:], rows=INT)
def turn_rows(given, at, every, to, rows):
    """Turn rows of controls, the constant and states of eight problems, so many vectors apart.

    What fills up a vector is written over what is behind it, which is turned after it.
    """
    for r in range(rows):
        for v in range(W):
            place = r * (M + 1 + N) + (8 * v if v < U else M + 1 + 8 * (v - U))
            turn(given, at + r * W + v, every, to, place, 1)


@kernel(given=LANES[:], at=INT, every=INT, to=LANES[:], rows=INT)
def turn_states(given, at, every, to, rows):
    """Turn rows of states alone."""
    for r in range(rows):
        for v in range(X):
            turn(given, at + r * X + v, every, to, r * N + 8 * v, 1)


@kernel(c=Descent, w=Across)
def begin_across(c, w):
    """Write what a recursion across begins with."""
    turn_states(c.end, 0, (N + 1) * X, w.cost_to_go, N + 1)
    for g in range(8):
        w.mu[0, g] = c.mu[g]
        w.least[0, g] = c.least[g]
        w.slope[0, g] = 0.0
        w.curve[0, g] = 0.0
        for i in range(N):
            w.weights[i, g] = c.weights[g * N + i]


@kernel(c=Descent, w=Across, t=INT)
def give_across(c, w, t):
    """Write what the stage across of a knot is given; all knots have one place, which stays in the cache."""
    at = 8 * t
    moves = 2 * BLOCK * Y
    turn_rows(c.G, at * (N - Y) * W, (N - Y) * W, w.G, N - Y)
    turn_rows(c.HU, at * (M + 1) * W, (M + 1) * W, w.HU, M + 1)
    if t == c.knots - 1 or c.step_HX > 0:
        turn_states(c.HX, at * c.step_HX, N * X, w.HX, N)
    turn_states(c.diagonal, at * X, X, w.diagonal, min(Y, 1))
    for g in range(8):
        for i in range(M if IS_BOUNDED else 0):
            w.low[i, g] = c.low[(at + g) * M + i]
            w.high[i, g] = c.high[(at + g) * M + i]
        for i in range(moves):
            w.moves[i, g] = c.moves[(at + g) * moves + i]
        for i in range(N if HAS_GAPS else 0):
            w.numbers[M * N + M + i, g] = c.numbers[(at + g) * 8 * L + SHARE + 1 + i]


@kernel(c=Descent, w=Across, t=INT)
def take_across(c, w, t):
    """Write K and k of a knot that the stage across has found."""
    for i in range(M):
        for v in range(X):
            turn(w.rows, i * N + 8 * v, 1, c.rows, 8 * t * L + i * X + v, L)
    for g in range(8):
        for i in range(M):
            c.numbers[(8 * t + g) * 8 * L + SMALL + i] = w.numbers[M * N + i, g]


@kernel(c=Descent, w=Across)
def sweep(c, w):
    """Run the recursion of all problems that are not done: across, if these are many."""
    waiting = 0
    for g in range(c.problems):
        waiting += 1 - c.done[g]
        c.least[g] = 1e300 if c.done[g] == 0 else -1.0
        c.slope[g] = 0.0
        c.curve[g] = 0.0
    if c.recursion != 0 and waiting > FEW:
        begin_across(c, w)
        for t in range(c.knots - 1, -1, -1):
            give_across(c, w, t)
            call(c.recursion)
            take_across(c, w, t)
        for g in range(8):
            c.least[g] = w.least[0, g]
            c.slope[g] = w.slope[0, g]
            c.curve[g] = w.curve[0, g]
        return
    for v in range(c.problems * (N + 1) * X):
        c.cost_to_go[v] = c.end[v]
    all_stages(c, 0, c.problems)


@kernel(c=Descent, g=INT)
def set_changes(c, g):
    """Set what a whole step adds to the cost, to first and second order, where there are gaps."""
    x = scratch(N)
    x_next = scratch(N)
    u = scratch(M)
    slope = 0.0
    curve = 0.0
    for i in range(N):
        x[i] = 0.0
    for t in range(c.knots):
        at = t * c.problems + g
        for i in range(M):
            u[i] = c.numbers[at * 8 * L + SMALL + i] + row_dot(c.rows, at * L + i * X, x, N)
        row = (at * (M + 1) + M) * W
        slope += row_dot(c.HU, row, u, M) + row_dot(c.HU, row + U, x, N)
        for i in range(M):
            row = (at * (M + 1) + i) * W
            curve += u[i] * (row_dot(c.HU, row, u, M) + 2.0 * row_dot(c.HU, row + U, x, N))
        for i in range(N):
            curve += x[i] * row_dot(c.HX, at * c.step_HX + i * X, x, N)
            row = (at * (N - Y) + i - Y) * W
            x_next[i] = x[i] if i < Y else row_dot(c.G, row, u, M) + row_dot(c.G, row + U, x, N)
        for i in range(N):
            x[i] = c.numbers[at * 8 * L + SHARE + 1 + i] + (x_next[i] if i >= Y else 0.0)
        for j in range(Y):
            for k in range(c.first[j], c.behind[j]):
                x[k] += entry_of_T(c, at, 0, k, j) * x_next[j] + entry_of_T(c, at, 1, k, j) * x_next[Y + j]
    own = g * (N + 1) * X
    slope += row_dot(c.end, own + N * X, x, N)
    for i in range(N):
        curve += x[i] * row_dot(c.end, own + i * X, x, N)
    c.slope[g] = slope
    c.curve[g] = curve


@kernel(c=Descent, g=INT)
def judge(c, g):
    """Say whether a recursion is sound, what a step would gain and how much gaps weigh."""
    is_sound = c.least[g] > 0.0 and is_finite(c.slope[g])
    if HAS_GAPS:
        set_changes(c, g)
        is_sound = is_sound and is_finite(c.slope[g])
    c.is_searched[g] = int(is_sound)
    if is_sound:
        gain = -(c.slope[g] + 0.5 * c.curve[g])
        c.is_calm[g] = int(gain <= c.tolerance * abs(c.cost[g]) + c.scale[g] and c.apart[g] == 0.0)
        c.left[g] = gain
        c.was_sound[g] = 1
        if c.apart[g] > 0.0:
            c.nu[g] = max(c.nu[g], 2.0 * (c.slope[g] + 0.5 * max(c.curve[g], 0.0)) / c.apart[g])
        for t in range(c.knots):
            at = t * c.problems + g
            copy(c.gains, at * SMALL, c.numbers, at * 8 * L, SMALL)
    elif not is_finite(c.left[g]) and c.least[g] != c.least[g]:
        c.left[g] = c.least[g]  # NaN: no recursion was sound, and this one had no numbers


# --- the search along a step ---


@kernel(c=Descent, g=INT, cost=REAL, apart=REAL, returns=TRUTH)
def is_best(c, g, cost, apart):
    """Return whether a motion has less merit than the best one, and note what it costs then."""
    found = cost + c.nu[g] * apart < c.best_cost[g] + c.nu[g] * c.best_apart[g]
    if found:
        c.best_cost[g] = cost
        c.best_apart[g] = apart
    return found


@kernel(c=Descent, g=INT, row=INT, share=REAL)
def choose(c, g, row, share):
    """Take a share of a step if it is good enough."""
    left = (1.0 - share) * c.apart[g]
    merit = c.tried_cost[row] + c.nu[g] * left
    fall = share * (c.nu[g] * c.apart[g] - c.slope[g]) - 0.5 * share * share * c.curve[g]
    falls = c.cost[g] + c.nu[g] * c.apart[g] - merit > max(ARMIJO * fall, 0.0)
    if falls and is_finite(merit):
        c.is_searched[g] = 0
        if is_best(c, g, c.tried_cost[row], left):
            c.taken[g] = share
            c.is_better[g] = 1
            keep(c, g, row)


@kernel(c=Descent)
def search(c):
    """Try the whole step of each problem, and then shares, from the largest on, until one is good enough.

    What is tried at once fills the lanes of a step's program: eight shares of one problem, say, or one of eight.
    """
    share = 1.0
    tried = 0
    while tried <= SHARES:
        waiting = 0
        for g in range(c.problems):
            waiting += int(c.is_searched[g] > 0)
        if waiting == 0:
            break
        count = min(max(c.lanes // waiting, 1), SHARES + 1 - tried)
        rows = 0
        for _ in range(count):
            for g in range(c.problems):
                if c.is_searched[g] > 0:
                    c.lane[rows] = g
                    c.tile_numbers[rows * 8 * L + SHARE] = share
                    rows += 1
            share = 0.5 * share
        roll(c, rows, 0)
        for row in range(rows):
            if c.is_searched[c.lane[row]] > 0:
                choose(c, c.lane[row], row, c.tile_numbers[row * 8 * L + SHARE])
        tried += count


@kernel(c=Descent, g=INT)
def move(c, g):
    """Go on from the best motion."""
    for t in range(c.knots + 1):
        at = t * c.problems + g
        copy(c.numbers, at * 8 * L + SHARE - M - STATE, c.best_state, at * STATE, STATE)
        copy(c.numbers, at * 8 * L + SHARE - M, c.best_control, at * M, M)
    c.cost[g] = c.best_cost[g]
    c.apart[g] = c.best_apart[g]


@kernel(c=Descent, g=INT)
def finish(c, g):
    """Choose the next mu, and say whether a problem is done."""
    mu = c.mu[g]
    is_calm = c.is_calm[g] == 1
    is_taken = c.taken[g] > 0.0
    less = 0.0 if mu <= LEAST_MU else 0.1 * mu
    ended = is_calm and mu <= LEAST_MU
    held = is_calm and not is_taken and less <= 2.0 * c.failed[g]
    if is_taken:
        c.failed[g] = -1.0
    elif not is_calm:
        c.failed[g] = mu
    # a mu of 1 halves a step at least: short steps that gain do not end the search by a mu that grows on
    more = mu if is_taken and mu >= 1.0 else max(10.0 * mu, LEAST_MU)
    if c.taken[g] >= LONG or is_calm:
        c.mu[g] = less
    elif c.taken[g] <= SHORT:
        c.mu[g] = more
    c.iterations[g] += 1
    c.converged[g] = int(ended)
    c.done[g] = int(ended or held or c.mu[g] > MOST_MU)


@kernel(c=Descent, w=Across)
def iterate(c, w):
    """Do one iteration of all problems that are not done."""
    set_expansions(c)
    for g in range(c.problems):
        c.best_cost[g] = c.cost[g]
        c.best_apart[g] = c.apart[g]
        c.is_better[g] = 0
        c.is_calm[g] = 0
        c.was_sound[g] = 0
        c.taken[g] = 0.0
    for way in range(c.ways):
        if way == 1:
            add_curvature(c)
        sweep(c, w)
        for g in range(c.problems):
            judge(c, g)
        if way == 1:
            remove_curvature(c)
        search(c)
        for g in range(c.problems):
            if c.is_searched[g] > 0 and is_best(c, g, c.cost[g], c.apart[g]):
                c.is_better[g] = 0
    for g in range(c.problems):
        if c.done[g] == 0:
            if c.is_better[g] == 1:
                move(c, g)
            finish(c, g)


@kernel(c=Descent)
def begin(c):
    """Find the motions of controls; or, through states, the gaps and costs."""
    for g in range(c.problems):
        c.lane[g] = g
        c.tile_numbers[g * 8 * L + SHARE] = 1.0
        for i in range(SMALL):
            c.tile_numbers[g * 8 * L + i] = 0.0
        c.apart[g] = 1.0 if HAS_GAPS else 0.0
    if HAS_GAPS:
        set_gaps(c)
    for at in range(c.knots * c.problems):
        for i in range(SMALL, SMALL + M):
            c.numbers[at * 8 * L + i] = 0.0  # k
    roll(c, c.problems, SMALL)


@kernel(c=Descent, w=Across, most=INT)
def descend(c, w, most):
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
        iterate(c, w)
    if HAS_GAPS:
        set_gaps(c)
