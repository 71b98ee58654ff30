"""Symmetric matrices of 6x6 blocks, most of which are zero: order of elimination, factor L L^T, solution.

    A = P^T L L^T P,      L_jj L_jj^T = A_jj - sum_k L_jk L_jk^T,   L_ij = (A_ij - sum_k L_ik L_jk^T) L_jj^-T

A block is six columns of eight lanes, of which six count: a vector for each column. L takes the place of A; instead of
the diagonal of L_jj its inverse is kept. All that is subtracted from a column is, before that is divided: so what is
written stays near the processor, and the rest is read in the order of memory.

The order is that of least degree: what has the fewest neighbours goes first, of equals the first. It hangs on the
graph alone, so that the bits of a solution do as well.

Source: George and Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapters 2 and 5.
Cost: 432 operations a product of two blocks.
"""

from __future__ import annotations

from cardan._compiler.kernels import I32, INT, LANES, TRUTH, fma, kernel, scratch, sqrt, unrolled, vectors
from cardan._motion.crowd.tables import CROWDED, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(C=LANES[:, 6], c=INT, A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT)
def subtract_product(C, c, A, a, B, b):
    """C_c -= A_a B_b^T."""
    for j in range(6):
        column = C[c, j]
        for k in range(6):
            column = fma(A[a, k], -B[b, k, j], column)
        C[c, j] = column


@kernel(C=LANES[:, 6], c=INT, d=INT, A=LANES[:, 6], a=INT, b=INT, B=LANES[:, 6], r=INT)
def subtract_two(C, c, d, A, a, b, B, r):
    """C_c -= A_a B_r^T and C_d -= A_b B_r^T, where B_r is read once."""
    for j in range(6):
        one = C[c, j]
        two = C[d, j]
        for k in range(6):
            x = -B[r, k, j]
            one = fma(A[a, k], x, one)
            two = fma(A[b, k], x, two)
        C[c, j] = one
        C[d, j] = two


@kernel(L=LANES[:, 6], d=INT, returns=TRUTH)
def factor_block(L, d):
    """Factor a diagonal block in its place, the inverse of the diagonal in that of the diagonal.

    False if it is not positive definite: then what is left are no numbers.
    """
    is_positive = True
    for j in range(6):
        column = L[d, j]
        for k in range(j):
            column = fma(L[d, k], -L[d, k, j], column)
        L[d, j] = column
        pivot = L[d, j, j]
        is_positive = is_positive and pivot > 0.0
        inverse = 1.0 / sqrt(pivot)
        L[d, j] = column * inverse
        L[d, j, j] = inverse
    return is_positive


@kernel(L=LANES[:, 6], i=INT, d=INT)
def divide_block(L, i, d):
    """L_i = L_i L_d^-T for a factored diagonal block."""
    for j in range(6):
        column = L[i, j]
        for k in range(j):
            column = fma(L[i, k], -L[d, k, j], column)
        L[i, j] = column * L[d, j, j]


@kernel(starts=I32[:], rows=I32[:], n=INT, lefts=I32[:, 2], ends=I32[:], at=I32[:], L=LANES[:, 6], returns=TRUTH)
def factor(starts, rows, n, lefts, ends, at, L):
    """Factor a matrix in its place: columns of blocks one after the other, the diagonal block of each first.

    Column j is L[starts[j] : starts[j + 1]]; of lefts[ends[j - 1] : ends[j]] see `find_lefts`.
    """
    is_positive = True
    first = 0
    for j in range(n):
        diagonal = starts[j]
        for i in range(diagonal, starts[j + 1]):
            at[rows[i]] = i
        for m in range(first, ends[j]):
            right = lefts[m, 0]
            left = right
            while left + 1 < lefts[m, 1]:
                subtract_two(L, at[rows[left]], at[rows[left + 1]], L, left, left + 1, L, right)
                left += 2
            if left < lefts[m, 1]:
                subtract_product(L, at[rows[left]], L, left, L, right)
        first = ends[j]
        is_positive = factor_block(L, diagonal) and is_positive
        for i in range(diagonal + 1, starts[j + 1]):
            divide_block(L, i, diagonal)
    return is_positive


@kernel(starts=I32[:], rows=I32[:], n=INT, L=LANES[:, 6], x=LANES[:])
def solve(starts, rows, n, L, x):
    """Replace x, a vector for each column in the order of elimination, by A^-1 x."""
    for j in range(n):
        d = starts[j]
        own = scratch(8)
        for e in range(6):
            total = x[j, e]
            for k in range(e):
                total = fma(-L[d, k, e], own[k], total)
            own[e] = total * L[d, e, e]
            x[j, e] = own[e]
        for i in range(d + 1, starts[j + 1]):
            row = rows[i]
            rest = x[row]
            for k in range(6):
                rest = fma(L[i, k], -own[k], rest)
            x[row] = rest
    for m in range(n):
        j = n - 1 - m
        d = starts[j]
        products = vectors(6)
        for k in unrolled(6):
            products[k] = 0.0
        for i in range(d + 1, starts[j + 1]):
            below = x[rows[i]]
            for k in unrolled(6):
                products[k] = fma(L[i, k], below, products[k])
        for k in range(6):
            for e in range(6):
                x[j, k] -= products[k, e]
        for m_e in range(6):
            e = 5 - m_e
            total = x[j, e]
            for k in range(e + 1, 6):
                total = fma(-L[d, e, k], x[j, k], total)
            x[j, e] = total * L[d, e, e]


@kernel(c=Crowd, i=INT, j=INT, returns=TRUTH)
def connect(c, i, j):
    """Make i and j neighbours, if they are not; False if one of them has no room for more."""
    for k in range(c.degree[i]):
        if c.neighbours[i, k] == j:
            return True
    if c.degree[i] == CROWDED or c.degree[j] == CROWDED:
        return False
    c.neighbours[i, c.degree[i]] = j
    c.neighbours[j, c.degree[j]] = i
    c.degree[i] += 1
    c.degree[j] += 1
    return True


@kernel(c=Crowd, i=INT, degree=INT)
def put(c, i, degree):
    """Put i first in the list of a degree."""
    first = c.list_head[degree]
    c.list_after[i] = first
    c.list_before[i] = -1
    if first >= 0:
        c.list_before[first] = i
    c.list_head[degree] = i


@kernel(c=Crowd, i=INT, degree=INT)
def take(c, i, degree):
    """Take i out of the list of a degree."""
    if c.list_before[i] >= 0:
        c.list_after[c.list_before[i]] = c.list_after[i]
    else:
        c.list_head[degree] = c.list_after[i]
    if c.list_after[i] >= 0:
        c.list_before[c.list_after[i]] = c.list_before[i]


@kernel(c=Crowd, i=INT, j=INT)
def forget(c, i, j):
    """Take j out of the neighbours of i."""
    last = c.degree[i] - 1
    for k in range(last):
        if c.neighbours[i, k] == j:
            c.neighbours[i, k] = c.neighbours[i, last]
    c.degree[i] = last


@kernel(c=Crowd, i=INT, j=INT, returns=TRUTH)
def join_neighbours(c, i, j):
    """Make the other neighbours of i those of its neighbour j; False if there is no room for them."""
    count = c.degree[j]
    for k in range(count):
        c.seen[c.neighbours[j, k]] = j
    for m in range(c.degree[i]):
        other = c.neighbours[i, m]
        if other != j and c.seen[other] != j:
            if count == CROWDED:
                return False
            c.neighbours[j, count] = other
            count += 1
    for k in range(count):
        c.seen[c.neighbours[j, k]] = -1
    c.degree[j] = count
    return True


@kernel(c=Crowd, n=INT, most=INT, returns=TRUTH)
def eliminate(c, n, most):
    """Find the order of least degree; the neighbours of each are then those that come later, fill and all.

    False if that takes more than so many products of blocks, or something has too many neighbours.
    """
    for d in range(CROWDED + 1):
        c.list_head[d] = -1
    for k in range(n):
        i = n - 1 - k  # so that of equals the first is taken
        put(c, i, c.degree[i])
        c.seen[i] = -1
    products = 0
    for k in range(n):
        d = 0
        while c.list_head[d] < 0:
            d += 1
        i = c.list_head[d]
        take(c, i, d)
        c.order[k] = i
        c.place[i] = k
        below = c.sizes[i]
        for m in range(d):
            below += c.sizes[c.neighbours[i, m]]
        products += c.sizes[i] * below * below // 2
        if products > most:
            return False
        for m in range(d):
            j = c.neighbours[i, m]
            take(c, j, c.degree[j])
            forget(c, j, i)
            if not join_neighbours(c, i, j):
                return False
        for m in range(d):
            j = c.neighbours[i, d - 1 - m]
            put(c, j, c.degree[j])
    return True


@kernel(c=Crowd, i=INT)
def sort_by_place(c, i):
    """Find the places of neighbours in the order, the first first."""
    for m in range(c.degree[i]):
        own = c.place[c.neighbours[i, m]]
        k = m
        while k > 0 and c.later[k - 1] > own:
            c.later[k] = c.later[k - 1]
            k -= 1
        c.later[k] = own


@kernel(c=Crowd, n=INT, starts=I32[:], rows=I32[:], most=INT, returns=INT)
def find_pattern(c, n, starts, rows, most):
    """Find the rows of each column of L, where i has `sizes[i]` columns; return how many blocks, -1 if beyond `most`.

    `columns[k]` is the first column of what comes at place k of the order, and after the last their number.
    """
    c.columns[0] = 0
    for k in range(n):
        c.columns[k + 1] = c.columns[k] + c.sizes[c.order[k]]
    count = 0
    for k in range(n):
        later = c.degree[c.order[k]]
        sort_by_place(c, c.order[k])
        below = 0
        for m in range(later):
            below += c.columns[c.later[m] + 1] - c.columns[c.later[m]]
        for column in range(c.columns[k], c.columns[k + 1]):
            starts[column] = count
            if count + c.columns[k + 1] - column + below > most:
                return -1
            for r in range(column, c.columns[k + 1]):
                rows[count] = r
                count += 1
            for m in range(later):
                for r in range(c.columns[c.later[m]], c.columns[c.later[m] + 1]):
                    rows[count] = r
                    count += 1
    starts[c.columns[n]] = count
    return count


@kernel(starts=I32[:], rows=I32[:], n=INT, lefts=I32[:, 2], ends=I32[:])
def find_lefts(starts, rows, n, lefts, ends):
    """List the blocks of each row before the diagonal, lefts[ends[j - 1] : ends[j]], each with the end of its column."""
    for j in range(n):
        ends[j] = 0
    for j in range(n):
        for i in range(starts[j] + 1, starts[j + 1]):
            ends[rows[i]] += 1
    count = 0
    for j in range(n):
        count += ends[j]
        ends[j] = count - ends[j]  # where the next one goes
    for j in range(n):
        for i in range(starts[j] + 1, starts[j + 1]):
            k = ends[rows[i]]
            lefts[k, 0] = i
            lefts[k, 1] = starts[j + 1]
            ends[rows[i]] = k + 1


@kernel(starts=I32[:], rows=I32[:], row=INT, column=INT, returns=INT)
def find_block(starts, rows, row, column):
    """Return which block of L is in a row and a column of its pattern."""
    low = starts[column]
    high = starts[column + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low
