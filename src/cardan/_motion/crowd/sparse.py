"""Symmetric matrices of 6x6 blocks, most of which are zero: order of elimination, factor L L^T, solution.

    A = P^T L L^T P,      L_jj L_jj^T = A_jj - sum_k L_jk L_jk^T,   L_ij = (A_ij - sum_k L_ik L_jk^T) L_jj^-T

A block is six columns of eight lanes, of which six count: a vector for each column. L takes the place of A; instead of
the diagonal of L_jj its inverse is kept. All that is subtracted from a column is, before that is divided: so what is
written stays near the processor, and the rest is read in the order of memory. The pattern has all contacts that are
near, of which most may be open: nothing is done with blocks that nothing was added to.

The order is that of least degree: what has the fewest neighbours goes first, of equals the first. It hangs on the
graph alone, so that the bits of a solution do as well.

Source: George and Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapters 2 and 5.
Cost: 432 operations a product of two blocks.
"""

from __future__ import annotations

from cardan._compiler.kernels import I32, INT, LANES, TRUTH, fma, kernel, scratch, sqrt, tail, unrolled, vectors
from cardan._motion.crowd.sides import clear
from cardan._motion.crowd.tables import CROWDED, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(L=LANES[:, 6], c=INT, a=INT, b=INT)
def subtract_product(L, c, a, b):
    """L_c -= L_a L_b^T."""
    for j in range(6):
        column = L[c, j]
        for k in range(6):
            column = fma(L[a, k], -L[b, k, j], column)
        L[c, j] = column


@kernel(L=LANES[:, 6], c=INT, d=INT, a=INT, b=INT, r=INT)
def subtract_two(L, c, d, a, b, r):
    """L_c -= L_a L_r^T and L_d -= L_b L_r^T, where L_r is read once."""
    for j in range(6):
        one = L[c, j]
        two = L[d, j]
        for k in range(6):
            x = -L[r, k, j]
            one = fma(L[a, k], x, one)
            two = fma(L[b, k], x, two)
        L[c, j] = one
        L[d, j] = two


@kernel(L=LANES[:, 6], d=INT)
def factor_block(L, d):
    """Factor a diagonal block in its place, the inverse of the diagonal in that of the diagonal.

    If it is not positive definite, what is left are no numbers.
    """
    for j in range(6):
        column = L[d, j]
        for k in range(j):
            column = fma(L[d, k], -L[d, k, j], column)
        L[d, j] = column
        inverse = 1.0 / sqrt(L[d, j, j])
        L[d, j] = column * inverse
        L[d, j, j] = inverse


@kernel(L=LANES[:, 6], i=INT, d=INT)
def divide_block(L, i, d):
    """L_i = L_i L_d^-T for a factored diagonal block."""
    for j in range(6):
        column = L[i, j]
        for k in range(j):
            column = fma(L[i, k], -L[d, k, j], column)
        L[i, j] = column * L[d, j, j]


@kernel(c=Crowd, b=INT, inlined=True)
def begin_block(c, b):
    """Begin a block with zeros, if nothing was added to it yet."""
    if c.filled[b] == 0:
        c.filled[b] = 1
        clear(c.L, b)


@kernel(c=Crowd, rows=I32[:], right=INT, end=INT, inlined=True)
def subtract_column(c, rows, right, end):
    """Subtract what a column of L does to that of one of its rows: the products of its blocks with that of the row."""
    waiting = -1
    for left in range(right, end):
        if c.filled[left] == 1:
            begin_block(c, c.at[rows[left]])
            if waiting < 0:
                waiting = left
            else:
                subtract_two(c.L, c.at[rows[waiting]], c.at[rows[left]], waiting, left, right)
                waiting = -1
    if waiting >= 0:
        subtract_product(c.L, c.at[rows[waiting]], waiting, right)


@kernel(c=Crowd, i=INT)
def factor(c, i):
    """Factor the matrix of an island in its place: columns of blocks one after the other, the diagonal block first.

    Column j is L[starts[j] : starts[j + 1]]. What is not `filled` is zero, and nothing is done with it.
    """
    starts = tail(c.starts, c.island_vector[i] + i)
    rows = tail(c.rows, c.island_block[i])
    row_first = tail(c.row_first, c.island_vector[i])
    row_next = tail(c.row_next, c.island_block[i])
    for j in range(c.island_vector[i + 1] - c.island_vector[i]):
        for b in range(starts[j], starts[j + 1]):
            c.at[rows[b]] = b
        right = row_first[j]
        while right >= 0:
            if c.filled[right] == 1:
                subtract_column(c, rows, right, row_next[right, 1])
            right = row_next[right, 0]
        factor_block(c.L, starts[j])
        for b in range(starts[j] + 1, starts[j + 1]):
            if c.filled[b] == 1:
                divide_block(c.L, b, starts[j])


@kernel(c=Crowd, i=INT)
def solve(c, i):
    """Replace x, a vector for each column of an island's matrix in the order of elimination, by A^-1 x."""
    starts = tail(c.starts, c.island_vector[i] + i)
    rows = tail(c.rows, c.island_block[i])
    n = c.island_vector[i + 1] - c.island_vector[i]
    for j in range(n):
        d = starts[j]
        own = scratch(8)
        for e in range(6):
            total = c.x[j, e]
            for k in range(e):
                total = fma(-c.L[d, k, e], own[k], total)
            own[e] = total * c.L[d, e, e]
            c.x[j, e] = own[e]
        for b in range(d + 1, starts[j + 1]):
            if c.filled[b] == 1:
                rest = c.x[rows[b]]
                for k in range(6):
                    rest = fma(c.L[b, k], -own[k], rest)
                c.x[rows[b]] = rest
    for m in range(n):
        j = n - 1 - m
        d = starts[j]
        products = vectors(6)
        for k in unrolled(6):
            products[k] = 0.0
        for b in range(d + 1, starts[j + 1]):
            if c.filled[b] == 1:
                below = c.x[rows[b]]
                for k in unrolled(6):
                    products[k] = fma(c.L[b, k], below, products[k])
        for m_e in range(6):
            e = 5 - m_e
            total = c.x[j, e]
            for k in range(6):
                total -= products[e, k]
            for k in range(e + 1, 6):
                total = fma(-c.L[d, e, k], c.x[j, k], total)
            c.x[j, e] = total * c.L[d, e, e]


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


@kernel(c=Crowd, i=INT, j=INT, returns=TRUTH)
def join_neighbours(c, i, j):
    """Make the other neighbours of i those of its neighbour j, in its place; False if there is no room for them."""
    count = 0
    for k in range(c.degree[j]):
        other = c.neighbours[j, k]
        if other != i:
            c.neighbours[j, count] = other
            c.seen[other] = j
            count += 1
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


@kernel(starts=I32[:], rows=I32[:], n=INT, row_first=I32[:], row_next=I32[:, 2])
def find_rows(starts, rows, n, row_first, row_next):
    """Find the first block of each row, -1 if that is the diagonal; behind each the next one, and its column's end."""
    for j in range(n):
        row_first[j] = -1
    for m in range(n):
        j = n - 1 - m
        for b in range(starts[j] + 1, starts[j + 1]):
            row_next[b, 0] = row_first[rows[b]]
            row_next[b, 1] = starts[j + 1]
            row_first[rows[b]] = b


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
