"""Symmetric matrices of 6x6 blocks, most of which are zero: order of elimination, factor L L^T, solution.

    A = P^T L L^T P,      column j of L:  L_jj L_jj^T = A_jj - sum_k L_jk L_jk^T,   L_ij = (A_ij - sum_k L_ik L_jk^T) L_jj^-T

A block is six columns of eight lanes, of which six count: a vector for each column. L takes the place of A; instead of
the diagonal of L_jj its inverse is kept. What is subtracted where is a list of triples (target, left, right), made once
for a pattern, and run for each matrix of it.

The order is that of least degree: what has the fewest neighbours goes first, of equals the first. It hangs on the
graph alone, so that the bits of a solution do as well.

Source: George and Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapters 2 and 5.
Cost: 432 operations a triple.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I32, I64, INT, LANES, TRUTH, count_ones, fma, kernel, lowest_one, scratch, sqrt

# pyright: reportIndexIssue=false


@kernel(C=LANES[:, 6], c=INT, A=LANES[:, 6], a=INT, B=LANES[:, 6], b=INT)
def subtract_product(C, c, A, a, B, b):
    """C_c -= A_a B_b^T."""
    for j in range(6):
        column = C[c, j]
        for k in range(6):
            column = fma(A[a, k], -B[b, k, j], column)
        C[c, j] = column


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


@kernel(starts=I32[:], n=INT, triples=I32[:, 3], ends=I32[:], L=LANES[:, 6], returns=TRUTH)
def factor(starts, n, triples, ends, L):
    """Factor a matrix in its place: columns of blocks one after the other, the diagonal block of each first.

    Column j is L[starts[j] : starts[j + 1]]; triples[ends[j - 1] : ends[j]] are what is subtracted with it.
    """
    is_positive = True
    first = 0
    for j in range(n):
        diagonal = starts[j]
        is_positive = factor_block(L, diagonal) and is_positive
        for i in range(diagonal + 1, starts[j + 1]):
            divide_block(L, i, diagonal)
        for t in range(first, ends[j]):
            subtract_product(L, triples[t, 0], L, triples[t, 1], L, triples[t, 2])
        first = ends[j]
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
        for i in range(d + 1, starts[j + 1]):
            row = rows[i]
            for k in range(6):
                total = x[j, k]
                for e in range(6):
                    total = fma(-L[i, k, e], x[row, e], total)
                x[j, k] = total
        for m_e in range(6):
            e = 5 - m_e
            total = x[j, e]
            for k in range(e + 1, 6):
                total = fma(-L[d, e, k], x[j, k], total)
            x[j, e] = total * L[d, e, e]


@kernel(bits=I64[:], words=INT, i=INT, j=INT)
def connect(bits, words, i, j):
    """Note that i and j are neighbours: `words` whole numbers of 32 bits are a row, one for each."""
    bits[i * words + (j >> 5)] |= 1 << (j & 31)
    bits[j * words + (i >> 5)] |= 1 << (i & 31)


@kernel(bits=I64[:], words=INT, i=INT, j=INT)
def without(bits, words, i, j):
    """Forget that j is a neighbour of i."""
    k = i * words + (j >> 5)
    bits[k] -= bits[k] & (1 << (j & 31))


@kernel(bits=I64[:], words=INT, i=INT, returns=INT)
def count_neighbours(bits, words, i):
    """Return how many neighbours i has."""
    total = 0
    for w in range(words):
        total += count_ones(bits[i * words + w])
    return total


@kernel(bits=I64[:], n=INT, words=INT, order=I32[:], degree=I32[:])
def eliminate(bits, n, words, order, degree):
    """Find the order of least degree. Row i of the bits is left with the later neighbours of i, fill and all."""
    for i in range(n):
        degree[i] = count_neighbours(bits, words, i)
    for k in range(n):
        best = -1
        for i in range(n):
            if degree[i] >= 0 and (best < 0 or degree[i] < degree[best]):
                best = i
        order[k] = best
        degree[best] = -1
        for w in range(words):
            left = bits[best * words + w]
            while left != 0:
                i = w * 32 + lowest_one(left)
                left &= left - 1
                for u in range(words):
                    bits[i * words + u] |= bits[best * words + u]
                without(bits, words, i, best)
                without(bits, words, i, i)
                degree[i] = count_neighbours(bits, words, i)


@kernel(bits=I64[:], words=INT, i=INT, place=I32[:], found=I32[:], returns=INT)
def later_neighbours(bits, words, i, place, found):
    """Find the places of the later neighbours of i in the order, the first first; return how many there are."""
    count = 0
    for w in range(words):
        left = bits[i * words + w]
        while left != 0:
            own = place[w * 32 + lowest_one(left)]
            left &= left - 1
            k = count
            while k > 0 and found[k - 1] > own:
                found[k] = found[k - 1]
                k -= 1
            found[k] = own
            count += 1
    return count


@kernel(
    bits=I64[:], n=INT, words=INT, order=I32[:], sizes=I32[:], place=I32[:], columns=I32[:], found=I32[:],
    starts=I32[:], rows=I32[:], most=INT, returns=INT,
)  # fmt: skip
def find_pattern(bits, n, words, order, sizes, place, columns, found, starts, rows, most):
    """Find the rows of each column of L, where i has `sizes[i]` columns; return how many blocks, -1 if beyond `most`.

    `columns[k]` is the first column of what comes at place k of the order, and after the last their number.
    """
    columns[0] = 0
    for k in range(n):
        place[order[k]] = k
        columns[k + 1] = columns[k] + sizes[order[k]]
    count = 0
    for k in range(n):
        later = later_neighbours(bits, words, order[k], place, found)
        for c in range(columns[k], columns[k + 1]):
            starts[c] = count
            needed = columns[k + 1] - c
            for m in range(later):
                needed += columns[found[m] + 1] - columns[found[m]]
            if count + needed > most:
                return -1
            for r in range(c, columns[k + 1]):
                rows[count] = r
                count += 1
            for m in range(later):
                for r in range(columns[found[m]], columns[found[m] + 1]):
                    rows[count] = r
                    count += 1
    starts[columns[n]] = count
    return count


@kernel(starts=I32[:], rows=I32[:], n=INT, triples=I32[:, 3], ends=I32[:], most=INT, returns=INT)
def find_triples(starts, rows, n, triples, ends, most):
    """Find what is subtracted with each column; return how many triples there are, -1 if more than `most`."""
    count = 0
    for j in range(n):
        for p in range(starts[j] + 1, starts[j + 1]):
            if count + starts[j + 1] - p > most:
                return -1
            target = starts[rows[p]]
            for q in range(p, starts[j + 1]):
                while rows[target] != rows[q]:
                    target += 1
                triples[count, 0] = target
                triples[count, 1] = q
                triples[count, 2] = p
                count += 1
        ends[j] = count
    return count


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
