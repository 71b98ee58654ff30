"""Which balls may meet: grids of several sizes, hashed.

Balls are in one grid if their diameters are between the same two powers of two, 2^k and 2^(k+1), each in the cell of
its centre. The cells are as long as the largest of those diameters. So two balls that meet have their centres in
neighbouring cells of the larger one's grid. Grids are filled one after
the other, that of the largest cells first. Before a ball is put into its own it looks into that one and all before it.

Source: Ericson, Real-Time Collision Detection (2005), section 7.2.1.
Cost: 27 cells a ball and grid.
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I64, INT, REAL, TRUTH, floor, kernel
from cardan._motion.crowd.tables import Crowd

# pyright: analyzeUnannotatedFunctions=false

FINEST = 2.0**-20
"""How long the cells of the finest grid are [m]."""
ROUNDING = 1.0 + 2.0**-20
"""By how much cells are longer: so that rounding moves no centre of what meets beyond the next cell."""
LEVELS = 48
BOUNDLESS = 1e300
"""How long the cells of the coarsest grid are [m]: what is larger than all others is near everything."""
FARTHEST = 2.0**60
"""The last cell on either side: it holds all beyond, so that its number is whole. Neighbours stay neighbours."""


@kernel(c=Crowd, radius=F64[:], n=INT, returns=INT)
def find_levels(c, radius, n):
    """Find each ball's grid, -1 for a negative radius, and which there are: the coarsest first; return how many."""
    for k in range(LEVELS):
        c.used[k] = 0
        c.width[k] = FINEST
    for i in range(n):
        c.level[i] = -1
        if radius[i] >= 0.0:
            size = FINEST
            k = 0
            while size < 2.0 * radius[i] and k < LEVELS - 1:
                size *= 2.0
                k += 1
            c.level[i] = k
            c.used[k] = 1
            c.width[k] = max(c.width[k], ROUNDING * 2.0 * radius[i])
    c.width[LEVELS - 1] = BOUNDLESS
    count = 0
    for k in range(LEVELS):
        if c.used[k] == 1:
            c.used[count] = k
            c.width[count] = c.width[k]
            count += 1
    for k in range(count // 2):
        other = count - 1 - k
        c.used[k], c.used[other] = c.used[other], c.used[k]
        c.width[k], c.width[other] = c.width[other], c.width[k]
    return count


@kernel(x=INT, y=INT, z=INT, level=INT, mask=INT, returns=INT)
def hashed(x, y, z, level, mask):
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791) ^ (level * 15485863)) & mask


@kernel(place=REAL, width=REAL, returns=INT)
def cell_of(place, width):
    return floor(min(max(place / width, -FARTHEST), FARTHEST))


@kernel(centre=F64[:, 3], radius=F64[:], i=INT, j=INT, returns=TRUTH)
def do_meet(centre, radius, i, j):
    total = 0.0
    for k in range(3):
        d = centre[i, k] - centre[j, k]
        total += d * d
    reach = radius[i] + radius[j]
    return total < reach * reach


@kernel(c=Crowd, centre=F64[:, 3], radius=F64[:], n=INT, grids=INT, returns=INT)
def find_near(c, centre, radius, n, grids):
    """Find pairs of balls that meet; return how many there are, -1 if there is no room for them."""
    count = 0
    for h in range(c.hash_mask + 1):
        c.head[h] = -1
    for g in range(grids):
        for i in range(n):
            if c.level[i] != c.used[g]:
                continue
            for m in range(g + 1):
                x = cell_of(centre[i, 0], c.width[m])
                y = cell_of(centre[i, 1], c.width[m])
                z = cell_of(centre[i, 2], c.width[m])
                for u in range(x - 1, x + 2):
                    for v in range(y - 1, y + 2):
                        for w in range(z - 1, z + 2):
                            j = c.head[hashed(u, v, w, c.used[m], c.hash_mask)]
                            while j >= 0:
                                is_there = c.cell[j, 0] == u and c.cell[j, 1] == v and c.cell[j, 2] == w
                                if is_there and c.level[j] == c.used[m] and do_meet(centre, radius, i, j):
                                    if count == c.near_most:
                                        return -1
                                    c.near[count, 0] = i
                                    c.near[count, 1] = j
                                    count += 1
                                j = c.following[j]
            c.cell[i, 0] = cell_of(centre[i, 0], c.width[g])
            c.cell[i, 1] = cell_of(centre[i, 1], c.width[g])
            c.cell[i, 2] = cell_of(centre[i, 2], c.width[g])
            h = hashed(c.cell[i, 0], c.cell[i, 1], c.cell[i, 2], c.level[i], c.hash_mask)
            c.following[i] = c.head[h]
            c.head[h] = i
    return count


@kernel(keys=I64[:], spare=I64[:], n=INT)
def sort(keys, spare, n):
    """Sort whole numbers, the least first: by merging runs that are twice as long in each pass."""
    width = 1
    while width < n:
        first = 0
        while first < n:
            middle = min(first + width, n)
            last = min(first + 2 * width, n)
            a = first
            b = middle
            for k in range(first, last):
                if b >= last or (a < middle and keys[a] <= keys[b]):
                    spare[k] = keys[a]
                    a += 1
                else:
                    spare[k] = keys[b]
                    b += 1
            first += 2 * width
        for k in range(n):
            keys[k] = spare[k]
        width *= 2
