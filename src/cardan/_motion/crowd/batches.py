"""What runs side by side: trees of a kind, and pairs of shapes in the order of their kinds."""

from __future__ import annotations

from cardan._compiler.kernels import F64, I32, I64, INT, REAL, kernel, run, sqrt
from cardan._dynamics.algorithms.whips import MOST
from cardan._motion.crowd.tables import BITS, MASK, NEAR, Crowd

# pyright: analyzeUnannotatedFunctions=false


@kernel(to=F64[:], at=INT, source=F64[:], first=INT, count=INT)
def copy(to, at, source, first, count):
    for e in range(count):
        to[at + e] = source[first + e]


@kernel(c=Crowd, flags=I32[:], program=INT, k=INT, value=INT)
def run_where(c, flags, program, k, value):
    """Run a program over the trees of a kind whose flag has a value, side by side, wherever they are."""
    count = 0
    for t in range(c.kind_tree[k], c.kind_tree[k] + c.kind_rows[k]):
        if flags[t] == value:
            c.run_rows[count] = t - c.kind_tree[k]
            count += 1
    run(program, count)


@kernel(c=Crowd, flags=I32[:], programs=I64[:], value=INT)
def run_kinds(c, flags, programs, value):
    """Run the program of each kind that has one over its trees whose flag has a value."""
    for k in range(c.kinds):
        if programs[k] != 0:
            run_where(c, flags, programs[k], k, value)


@kernel(c=Crowd, count=INT, key=INT, p=INT, reach=REAL, returns=INT)
def add_key(c, count, key, p, reach):
    """List a pair; of one that a robot is to be searched for also which one it is, and how far."""
    if count == c.near_most:
        c.lacking = NEAR
        return count
    c.spare[count] = key
    c.spare_at[count] = p
    c.spare_reach[count] = reach
    return count + 1


@kernel(c=Crowd, count=INT)
def order_keys(c, count):
    """Put keys of all worlds in order that are so in each."""
    for k in range(c.pair_kinds + 1):
        c.kind_first[k] = 0
    for k in range(count):
        c.kind_first[(c.spare[k] >> 2 * BITS) + 1] += 1
    for k in range(c.pair_kinds):
        c.kind_first[k + 1] += c.kind_first[k]
    for k in range(count):
        kind = c.spare[k] >> 2 * BITS
        c.keys[c.kind_first[kind]] = c.spare[k]
        c.key_at[c.kind_first[kind]] = c.spare_at[k]
        c.key_reach[c.kind_first[kind]] = c.spare_reach[k]
        c.kind_first[kind] += 1


@kernel(c=Crowd, first=INT, count=INT, returns=INT)
def end_of_kind(c, first, count):
    """Return where pairs of the kind of one end."""
    stop = first
    while stop < count and c.keys[stop] >> 2 * BITS == c.keys[first] >> 2 * BITS:
        stop += 1
    return stop


@kernel(row=F64[16], at=INT, returns=REAL)
def length_from(row, at):
    """Return the length of a vector in the row of a node."""
    return sqrt(row[at] * row[at] + row[at + 1] * row[at + 1] + row[at + 2] * row[at + 2])


@kernel(c=Crowd, row=INT, key=INT, reach=REAL)
def gather_pair(c, row, key, reach):
    kind = key >> 2 * BITS
    a = (key >> BITS) & MASK
    b = key & MASK
    c.pair_a[row] = a
    c.pair_b[row] = b
    copy(c.size_a, row * c.pair_sizes[kind, 0], c.shape_sizes, c.shape_first[a], c.pair_sizes[kind, 0])
    copy(c.size_b, row * c.pair_sizes[kind, 1], c.shape_sizes, c.shape_first[b], c.pair_sizes[kind, 1])
    c.pair_reach[row, 0] = reach
    if c.pair_fixed[kind] == 1:
        motion = c.motion[c.shape_node[a]]
        turn = c.dt / MOST * length_from(motion, 9)
        for e in range(3):
            c.w[row, e] = motion[9 + e] / max(turn, 1.0)  # as `turn_followed`
        c.w[row, 3] = c.dt


@kernel(c=Crowd, programs=I64[:], lacking=INT, kind=INT, rows=INT)
def run_pairs(c, programs, lacking, kind, rows):
    """Find the candidates of pairs of a kind that are gathered, or how far they are apart."""
    if programs[kind] == 0:
        c.lacking = lacking
        c.wanted = kind
    else:
        run(programs[kind], rows)


@kernel(c=Crowd, programs=I64[:], first=INT, end=INT)
def run_joints(c, programs, first, end):
    """Run a program of each kind over the trees of those of some islands that are going on."""
    for k in range(c.kinds):
        if programs[k] != 0 and c.is_leaving == 0:  # then they are decided
            count = 0
            for m in range(c.island_trees[first], c.island_trees[end]):
                if c.tree_kind[c.members[m]] == k and c.island_going[c.island_of[c.members[m]]] == 1:
                    c.run_rows[count] = c.members[m] - c.kind_tree[k]
                    count += 1
            run(programs[k], count)
