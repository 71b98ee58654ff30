"""Kernels: what is compiled does what the Python function does, to the bit, and what cannot be said is refused."""

from dataclasses import replace

import numpy as np
import pytest

from cardan._algebra.errors import ParameterError, TargetError
from cardan._compiler.kernels import (
    F64,
    I32,
    I64,
    INT,
    LANES,
    REAL,
    TRUTH,
    Record,
    RowProgram,
    aligned_zeros,
    are_positive,
    call,
    floor,
    fma,
    greater,
    is_any,
    kernel,
    lowest_one,
    run,
    scratch,
    sqrt,
    tail,
    turn,
    unrolled,
    vectors,
)
from cardan._compiler.program import Array, trace

SCALE = 0.5


@kernel(parent=I32[:], i=INT, returns=INT)
def root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel(a=F64[:, 3], n=INT, returns=(REAL, INT))
def total(a, n):
    s = 0.0
    best = -1
    for k in range(n):
        x = a[k]
        s += SCALE * x[0] * x[1] + sqrt(abs(x[2]))
        if best < 0 or a[k, 0] > a[best, 0]:
            best = k
    return s, best


@kernel(a=INT, b=INT, returns=(INT, INT, INT, INT, INT, INT, INT))
def whole(a, b):
    return a // b, a % b, a & b, a | b, a ^ b, (a << 3) >> 1, lowest_one(b)


@kernel(a=INT, returns=(INT, INT, INT, INT, INT, INT))
def shares(a):
    return a // 8, a % 8, a // 1, a % 1, a // 6, a % 6


@kernel(x=REAL, y=REAL, returns=(REAL, REAL, INT, INT, REAL, TRUTH, TRUTH))
def real(x, y):
    chosen = x if x < y else -y
    return min(x, y), max(x, y), floor(x), int(y), fma(x, y, chosen), x != y, not (x <= y < 2.0 and x > -1e9)


@kernel(n=INT, step=INT, found=I64[:], returns=INT)
def jumps(n, step, found):
    count = 0
    for i in range(n, 0, -2):
        if i % step == 0:
            continue
        if i < 3:
            break
        found[count] = i
        count += 1
    while True:
        count += 1
        if count > 7:
            break
    return count


@kernel(C=LANES[:, 2], A=LANES[:, 2], n=INT)
def columns(C, A, n):
    for b in range(n):
        for j in range(2):
            c = C[b, j] * 2.0 + 1.0
            for k in range(2):
                c = fma(A[b, k], -A[b, j, k], c)
            C[b, j] = c
            C[b, j, 7] += 1.0


@kernel(x=LANES[:, 3], n=INT, returns=INT)
def entries(x, n):
    count = 0
    for k in range(n):
        x[k, 2] = greater(abs(x[k, 0]), sqrt(abs(x[k, 1])))
        count += 1 if are_positive(x[k, 0]) else 0
    return count


@kernel(x=LANES[:], returns=REAL)
def least_of_vectors(x):
    x[0] = min(x[0], x[1])
    return 0.0


@kernel(a=F64[:], first=INT, n=INT, returns=REAL)
def own_array(a, first, n):
    squares = scratch(2, 2)
    part = tail(a, first)
    for i in range(2):
        for j in range(2):
            squares[i, j] = part[i] * part[j]
    s = 0.0
    for _ in range(n):
        s += squares[0, 1] + squares[1, 1]
    return s


@kernel(x=LANES[:, 3], by=REAL)
def own_vectors(x, by):
    sums = vectors(2)
    for i in range(2):
        sums[i] = x[0, i]
    for i in range(2):
        sums[i] = fma(x[0, 2], by, sums[1 - i])
    x[0, 0] = sums[0]
    x[0, 1] = sums[1]


def both(own, *arguments):
    """Return what the compiled kernel and the function itself return and leave in copies of the arguments."""
    found = []
    for called in (own, own.python):
        given = [_aligned(a) if isinstance(a, np.ndarray) else a for a in arguments]
        result = called(*given)
        found.append((result, [a for a in given if isinstance(a, np.ndarray)]))
    return found


def _aligned(a):
    copied = aligned_zeros(a.shape, a.dtype)
    copied[...] = a
    return copied


def check(own, *arguments):
    (compiled, left), (python, right) = both(own, *arguments)
    assert compiled == python
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


def test_loops_and_arrays():
    check(root, np.array([0, 0, 1, 2, 4, 4], dtype=np.int32), 3)
    check(total, np.random.default_rng(0).normal(size=(50, 3)), 50)
    check(jumps, 12, 4, np.zeros(8, dtype=np.int64))
    check(own_array, np.arange(5.0), 2, 3)
    check(own_vectors, np.random.default_rng(1).normal(size=(1, 3, 8)), 0.3)


@pytest.mark.parametrize(("a", "b"), [(7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (0, 5), (2**40 + 5, 1024)])
def test_whole_numbers(a, b):
    check(whole, a, b)
    check(shares, a)


@pytest.mark.parametrize(("x", "y"), [(1.5, 2.5), (-1.5, -2.5), (0.1, 0.1), (1e15, -1e15), (-0.0, 0.0)])
def test_real_numbers(x, y):
    check(real, x, y)


def test_multiply_adds_are_rounded_once():
    x, y = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert real(x, y)[4] == real.python(x, y)[4] == (x * y - y) + 0.0 - 2.0**-60 + (x * y - x * y)


def test_vectors_of_eight():
    rng = np.random.default_rng(1)
    check(columns, rng.normal(size=(3, 2, 8)), rng.normal(size=(3, 2, 8)), 3)


def test_functions_of_the_entries_of_vectors():
    """One NaN is not positive, nor greater than a number; -0 is not negative."""
    x = np.random.default_rng(2).normal(size=(5, 3, 8))
    x[0] = np.abs(x[0])
    x[1, 0], x[2, 0], x[3, :2, 4] = 1.0, -0.0, np.nan
    x[2, 0, 7], x[4, 1, 3] = 1e308, np.nan
    check(entries, x, 5)
    (count, (found,)), _ = both(entries, x, 5)
    assert count == 3
    assert np.isnan(found[3, 2, 4])
    assert found[4, 2, 3] == abs(x[4, 0, 3])
    with pytest.raises(TargetError, match="greater"):
        least_of_vectors(x[0, :2])


class Things(Record):
    count = INT
    size = REAL
    points = F64["things", 2]
    program = INT
    first = INT


@kernel(c=Things)
def advance(c):
    run(c.program, c.count)
    c.count += 1
    c.size = c.points[0, 1]


@kernel(c=Things)
def advance_from(c):
    run(c.program, c.count, c.first)


@kernel(x=REAL, returns=REAL)
def scaled(x):
    return SCALE * x


@kernel(c=Things)
def scale(c):
    c.size = scaled(c.size) + SCALE


class MoreThings(Things):
    factor = REAL


@kernel(c=MoreThings)
def scale_more(c):
    scale(c)
    c.size *= c.factor


def test_numbers_of_the_module_are_fixed_in_all_that_a_kernel_calls():
    """And a record may stand for what it extends."""
    c = MoreThings(size=3.0, factor=2.0)
    c.allocate(things=1)
    assert not c.points.any()
    scale_more(c)
    assert c.size == 4.0
    scale_more.fixed(SCALE=3.0)(c)
    assert c.size == 30.0
    scale_more(c)
    assert c.size == 31.0
    with pytest.raises(TargetError, match=r"kernel scale: no number SCALES"):
        scale.fixed(SCALES=3.0)(c)
    with pytest.raises(TargetError, match="scale takes"):
        kernel(x=REAL)(unrecorded)(1.0)


def unrecorded(x):
    scale(x)


def test_records_and_programs():
    """A kernel runs a program on the first rows of its arrays, here in place."""
    program = trace("double", lambda x: {"y": 2.0 * x}, [Array("x", (2,))])
    c = Things(count=2, size=0.0)
    c.allocate(things=4)
    c.points[...] = 1.0
    found = aligned_zeros((4, 2), float)
    own = RowProgram(program, {"x": c.points, "y": found})
    c.program = own.address
    advance(c)
    assert (c.count, c.size) == (3, 1.0)
    np.testing.assert_array_equal(found, [[2, 2], [2, 2], [0, 0], [0, 0]])
    advance.python(c)
    np.testing.assert_array_equal(found, [[2, 2], [2, 2], [2, 2], [0, 0]])


class Account(Record):
    balance = REAL
    part = INT


@kernel(account=Account)
def double(account):
    account.balance *= 2.0


@kernel(account=Account, times=INT)
def grow(account, times):
    for _ in range(times):
        call(account.part)


def test_kernels_of_other_modules_are_called_by_their_addresses():
    account = Account(balance=3.0)
    part = double.bound(account)
    account.part = part.address
    for own, found in ((grow, 24.0), (grow.python, 192.0)):
        own(account, 3)
        assert account.balance == found
    part()
    assert account.balance == 384.0
    assert "@double" not in grow.text


@pytest.mark.parametrize("native", [True, False])
def test_rows_are_read_and_written_by_columns_of_their_numbers(native):
    """Also from a row on, in tiles that are not full, and by way of arrays that lie in lanes."""
    rng, n, first = np.random.default_rng(0), 37, 8
    placed = {"x": {"by": "of"}, "y": {"by": "to"}, "z": {"in_lanes": True}}

    def made(name, function, *inputs):
        program = trace(name, function, inputs)
        arrays = (tuple(a._replace(**placed[a.name]) for a in own) for own in (program.inputs, program.outputs))
        return replace(program, **dict(zip(("inputs", "outputs"), arrays, strict=True)))

    there = made("there", lambda x: {"z": 2.0 * x}, Array("x", (3,)))
    back = made("back", lambda x, z: {"y": x + z}, Array("x", (3,)), Array("z", (3,)))
    x, y, z = (aligned_zeros((rows, 3), float) for rows in (90, 60, 48))
    x[...], y[...] = rng.standard_normal(x.shape), 0.0
    arrays = {"x": x, "y": y, "z": z, "of": rng.integers(0, 90, 48).astype(np.int32)}
    arrays["to"] = rng.permutation(60)[:48].astype(np.int32)
    for program in (there, back):
        own = RowProgram(program, arrays)
        c = Things(program=own.address, count=n, first=first)
        (advance_from if native else advance_from.python)(c)
    expected, of, to = np.zeros((60, 3)), arrays["of"][first : first + n], arrays["to"][first : first + n]
    expected[to] = x[of] + 2.0 * x[of]
    np.testing.assert_array_equal(y, expected)
    with pytest.raises(ParameterError, match="column of"):
        RowProgram(there, arrays | {"of": arrays["of"].astype(float)})


class Cases(Record):
    count = INT
    half = REAL
    x = F64[:]
    pairs = LANES[:, 2]
    found = F64[:]


COLUMNS = 8


@kernel(x=REAL, y=REAL, returns=(REAL, REAL))
def halved(x, y):
    """Newton's iteration for the root of x, until no case gets nearer; and whether it is an odd one."""
    root = x if x > 1.0 else 1.0
    for _ in range(60):
        next_root = 0.5 * (root + x / root)
        is_nearer = next_root < root
        root = next_root if is_nearer else root
        if not is_any(is_nearer):
            break
    is_odd = (1.0 < x < 2.0 and x != y) or max(x, y) == 3.0 or min(abs(x), y) != y
    return root, 1.0 if is_odd else -root


@kernel(c=Cases)
def choose(c):
    own = scratch(2)
    for k in range(c.count):
        root, odd = halved(c.x[k], c.x[0])
        own[0] = root
        own[1] = -odd
        for i in unrolled(2):
            c.found[2 * k + i] = fma(own[i], c.half, c.pairs[k, i, COLUMNS - 1] if COLUMNS == 1 and k > 0 else 0.25)


def test_cases_in_lanes_have_the_bits_that_each_has_alone():
    """Also those that are ready early, and NaN."""
    x = np.random.default_rng(0).exponential(2.0, size=(6, 8))
    x[1, 2], x[2, 3], x[3] = 3.0, np.nan, [0.0, -1.0, 1.0, 2.0, np.inf, 1e300, 1e-300, 4.0]
    across = choose.fixed(COLUMNS=1).across()
    arrays = {"x": _aligned(x), "pairs": aligned_zeros((6, 2, 8), float), "found": aligned_zeros((12, 8), float)}
    arrays["pairs"][0], arrays["pairs"][1:] = np.nan, 0.25
    c = Cases.across()(count=6, half=0.5, **arrays)
    across(c)
    for g in range(8):
        one = Cases(count=6, half=0.5, x=x[:, g].copy(), pairs=aligned_zeros((6, 2, 8), float), found=np.zeros(12))
        choose(one)
        np.testing.assert_array_equal(c.found[:, g], one.found)
        with np.errstate(all="ignore"):
            choose.python(one)
        np.testing.assert_array_equal(c.found[:, g], one.found)


@kernel(x=F64[:], returns=REAL)
def branch(x):
    if x[0] > 0.0:
        return 1.0
    return x[0]


def broken(x, n):
    for i in unrolled(2):
        if x[i] > 0.0:
            break


def of_data(x, n):
    for i in unrolled(n):
        x[i] = 0.0


def test_what_cannot_be_unrolled_or_across_is_refused():
    with pytest.raises(TargetError, match="of type mask, not TRUTH"):
        _ = branch.across().text
    with pytest.raises(TargetError, match="not unrolled"):
        _ = kernel(x=F64[:], n=INT)(broken).text
    with pytest.raises(TargetError, match="a number that is known"):
        _ = kernel(x=F64[:], n=INT)(of_data).text


@kernel(given=LANES[:], to=LANES[:])
def turn_two(given, to):
    turn(given, 1, 2, to, 3, 1)
    turn(given, 0, 1, to, 12, 2)


def test_vectors_are_turned():
    given, to = np.random.default_rng(0).normal(size=(17, 8)), np.zeros((30, 8))
    (_, (_, compiled)), (_, (_, python)) = both(turn_two, given, to)
    np.testing.assert_array_equal(compiled, python)
    np.testing.assert_array_equal(compiled[3:11], given[1:17:2].T)


@kernel(c=Things)
def advance_twice(c):
    call(c.program)
    call(c.program)


def test_kernels_call_kernels_that_are_bound():
    c = Things(size=3.0)
    c.program = (own := scale.bound(c)).address
    advance_twice(c)
    assert c.size == 1.5
    advance_twice.python(c)
    assert c.size == 1.125
    own()
    assert c.size == 1.0625


def test_arguments_are_checked():
    with pytest.raises(ParameterError, match="I32"):
        root(np.zeros(3), 0)
    with pytest.raises(ParameterError, match="not contiguous"):
        total(np.zeros((6, 3))[::2], 3)
    with pytest.raises(ParameterError, match="types of kernel"):
        kernel(a=INT)(lambda b: b)


def unknown(a):
    return sorted(a)


def two_types(a):
    x = 1
    x = 2.0
    return x + a


def wrong_return(a):
    return float(a)


def lists(a):
    b = [a]
    return b[0]


def mixed(a):
    return a + 1.0


def two_choices(a):
    return 1 if a > 0 else 2.0


def number_as_truth(a):
    return 1 if a > 0 and a else 0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (two_choices, "is of type INT, and is given REAL"),
        (number_as_truth, "is of type INT, and is given TRUTH"),
        (unknown, "cannot call sorted"),
        (two_types, "x is of type INT, and is given REAL"),
        (wrong_return, "said to return"),
        (lists, "no expression List"),
        (mixed, "convert with int"),
    ],
)
def test_what_a_kernel_cannot_say(function, said):
    """The error names the kernel, the file and the line."""
    with pytest.raises(TargetError, match=said) as caught:
        kernel(a=INT, returns=INT)(function)(1)
    assert f"kernel {function.__name__}" in str(caught.value)
    assert "test_loop_kernels.py:" in str(caught.value)
