"""What may be skipped: no bit of a result depends on whether it was, on any target."""

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan._algebra.arrays.made_once import made_once
from cardan._algebra.arrays.repeat import only_where
from cardan._algebra.arrays.sums import Sums
from cardan._compiler.program import Array, expr, trace
from cardan._compiler.program.ops import Op
from cardan._compiler.program.replay import straight
from cardan._compiler.targets import Outline, c
from cardan._compiler.targets.llvm import plan
from cardan.errors import ParameterError, ProgramError, TraceError
from program_rules import verify
from programs import (
    LOOPS,
    c_code,
    evaluated,
    item_by_item,
    never_skipped,
    run_c,
    same,
    skipping_program,
    where_all,
    written_while,
)
from representatives import represented

ROWS = (1, 7, 64, 1000)
EMITTERS = [(emitter, dtype) for emitter in ("", "llvm") for dtype in (np.float64, np.float32)]


def traced(function, *shapes):
    arrays = [Array(name, shape) for name, shape in zip("xyzuv", shapes, strict=False)]
    return verify(trace("f", lambda *given: {"r": function(*given)}, arrays, regions=True))


def chain(x, y, n):
    for k in range(n):
        x, y = 0.7 * x + 0.3 * cardan.sin(y) * x - 0.01 * k, 0.9 * y - 0.2 * x
    return x, y


def chosen(when, n=30):
    """Return a function with two bodies, one in the other."""

    def outer(x, y):
        a, b = chain(x, y, n)
        inner, factor = when(b > 0.0, lambda: (chain(a, y, n), -x), ((x, 0.5), 2.0))
        return [*inner, -factor], a

    def function(x):
        (p, q, r), s = when(x[0] > x[1], outer, ([x[1], 1.0, x[2]], 0.0), x[2], x[3])
        return np.stack([p, q, -r, s, 0.7 * x[2] + 0.3 * cardan.sin(x[3]) * x[2]])

    return function


def states(rows, share, dtype=np.float64):
    """Return states of which a share goes."""
    x = np.random.default_rng(2).uniform(-1.0, 1.0, (rows, 4))
    x[:, :2].sort(axis=1)
    goes = np.arange(rows) % 100 < 100 * share
    x[goes, :2] = x[goes, 1::-1]
    return x.astype(dtype)


@pytest.mark.full  # the bits of passes, below, are those of bodies that are skipped, too
@pytest.mark.parametrize(("emitter", "dtype"), EMITTERS)
def test_bits_of_a_body_do_not_depend_on_others(monkeypatch, emitter, dtype):
    monkeypatch.setenv("CARDAN_EMITTER", emitter)
    program, written = traced(chosen(cardan.when), (4,)), traced(chosen(where_all), (4,))
    assert [region.may_be_skipped for region in program.regions] == [True, True]
    assert not written.regions
    for rows in ROWS:
        for share in (0.0, 0.01, 0.5, 1.0):
            x = [states(rows, share, dtype)]
            found = evaluated(program, "llvm", x)
            assert same(found, evaluated(never_skipped(program), "llvm", x)), (rows, share)
            if rows == 7 or share == 0.01:
                assert same(evaluated(program, "numpy", x), evaluated(written, "numpy", x))
            np.testing.assert_allclose(found, evaluated(program, "numpy", x), rtol=2e-5, atol=2e-6)
            one = [evaluated(program, "llvm", [x[0][k : k + 1]])[0] for k in range(0, rows, 50)]
            assert same([found[0][::50]], [np.concatenate(one)])


def decaying(x):
    """Return what a loop leaves that each state ends at a time of its own; some do not begin, or never end."""
    going = lambda a, b: a < x[2]  # noqa: E731
    body = lambda a, b: (a + 0.02 + 0.1 * cardan.absolute(chain(b, a, 15)[0]), chain(b, a, 15)[1])  # noqa: E731
    return going, body, (x[0], -x[1])


@pytest.mark.slow
@pytest.mark.parametrize(("emitter", "dtype"), represented(EMITTERS, by=[("", np.float32)].count))
def test_bits_of_passes_do_not_depend_on_others(monkeypatch, emitter, dtype):
    monkeypatch.setenv("CARDAN_EMITTER", emitter)

    def function(loop):
        def run(x):
            going, body, start = decaying(x)
            return np.stack(loop(40, going, body, *start))

        return run

    program, written = traced(function(cardan.repeat_while), (4,)), traced(function(written_while), (4,))
    assert program.regions[0].may_be_skipped
    assert program.regions[1].may_end_early
    for rows in ROWS:
        for shift in (-9.0, 0.0, 9.0):
            x = [states(rows, 0.5, dtype)]
            x[0][:, 2] += dtype(shift)
            found = evaluated(program, "llvm", x)
            assert same(found, evaluated(never_skipped(program), "llvm", x)), (rows, shift)
            if rows == 7:
                assert same(evaluated(program, "numpy", x), evaluated(written, "numpy", x))
            one = [evaluated(program, "llvm", [x[0][k : k + 1]])[0] for k in range(0, rows, 50)]
            assert same([found[0][::50]], [np.concatenate(one)])


@pytest.mark.full
def test_several_tiles_and_a_workspace_on_the_heap(monkeypatch):
    monkeypatch.setenv("CARDAN_EMITTER", "llvm")
    monkeypatch.setattr(plan, "STACK", 0)
    program = traced(chosen(cardan.when, 31), (4,))
    for rows, share in ((1, 0.0), (9, 1.0), (1000, 0.01), (1000, 1.0)):
        x = [states(rows, share)]
        assert same(evaluated(program, "llvm", x), evaluated(never_skipped(program), "llvm", x))


# --- random programs ---


SEEDS = [3, 14, *(pytest.param(k, marks=pytest.mark.full) for k in range(100) if k not in (3, 14))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(monkeypatch, seed):
    monkeypatch.setattr(expr, "WORTH", 0)
    monkeypatch.setattr(expr, "WORTH_SKIPPING", -99)
    program = verify(skipping_program(seed, LOOPS, cardan.when, cardan.repeat_while))
    assert any(region.going is not None for region in program.regions) or seed not in (3, 14)
    written = skipping_program(seed, LOOPS, where_all, written_while)
    rng = np.random.default_rng(seed)
    given = [rng.uniform(-1.0, 1.0, (20, 3)) for _ in range(2)]
    with np.errstate(all="ignore"):
        assert same(evaluated(program, "numpy", given), evaluated(written, "numpy", given))
    for rows in (slice(0, 1), slice(3, 5), slice(0, 20)):
        some = [a[rows] for a in given]
        assert same(evaluated(program, "llvm", some), evaluated(never_skipped(program), "llvm", some))


# --- what is undefined where it is skipped ---


def only_there(x):
    """Return what a loop makes of values that it carries only where a condition holds."""
    near = x[0] > x[1]

    def body(total, pair):
        pair = only_where(near, lambda: chain(*pair, 9))
        return 0.5 * total + cardan.where(near, pair[0], 0.25), pair

    total, last = cardan.repeat(4, body, x[2], only_where(near, lambda: chain(x[2], x[3], 9)))
    return np.stack(
        [total, cardan.where(near, last[1], -1.0), only_where(near, lambda: cardan.where(near, last[0], 9.0))]
    )


@pytest.mark.slow
def test_what_is_used_where_it_is_defined_alone_is_not_chosen():
    with pytest.raises(TraceError, match="used outside"):
        traced(only_there, (4,))

    def function(x):
        *found, _ = only_there(x)
        return np.stack(found)

    program, x = traced(function, (4,)), states(64, 0.3)
    assert sum(region.may_be_skipped for region in program.regions) == 2
    assert program.instructions.count_of(Op.SELECT) == 2
    for rows in (slice(0, 64), slice(5, 6), slice(8, 16)):
        some = [x[rows]]
        assert same(evaluated(program, "llvm", some), evaluated(never_skipped(program), "llvm", some))
    assert same(evaluated(program, "numpy", [x]), [function(list(x.T)).T])


def test_a_condition_of_a_pass_defines_nothing_of_the_next():
    def function(x):
        def body(a, pair):
            pair = only_where(a > x[1], lambda: chain(*pair, 9))
            return cardan.where(a > x[1], pair[0], 0.5 * a), pair

        return cardan.repeat(4, body, x[0], (x[2], x[3]))[0]

    with pytest.raises(TraceError, match="used outside"):
        traced(function, (4,))


# --- sums ---


def summed(x, many=3):
    """Return what so many bodies add, pass after pass, to a number, its negative, and zeros."""

    def once(a):
        found, of_numbers = Sums({"number": a, "negative": -x[3]}), Sums({"known": -2.0})
        found.add([("number", x[3]), ("always", 0.5 * a)])
        for k in range(many):
            near = x[0] > x[1] + 0.1 * k

            def body(k=k, near=near):
                b, c = chain(a, x[2], 3 + k)
                found.add([("number", -b), ("negative", c), ("zeros", -c), ("nothing", 0.0)], near)
                of_numbers.add([("known", b)], near)
                return []

            only_where(near, body)
        assert found["nothing"] == 0.0
        total = 0.1 * found["number"] - found["negative"] * found["always"] + 0.3 * found["zeros"]
        return total + 0.1 * of_numbers["known"]

    return np.stack([cardan.repeat(3, once, x[2])])


def test_what_is_skipped_adds_nothing():
    program, x = traced(summed, (4,)), states(64, 0.3)
    for rows in (slice(0, 64), slice(5, 6), slice(8, 16)):
        assert same(evaluated(program, "llvm", [x[rows]]), evaluated(never_skipped(program), "llvm", [x[rows]]))
    np.testing.assert_allclose(evaluated(program, "numpy", [x])[0], summed(list(x.T)).T, rtol=1e-12, atol=1e-14)


def test_what_is_skipped_is_not_read():
    """Behind the bodies there were a choice and a sum for each."""
    few, many = (traced(lambda x, n=n: summed(x, n), (4,)) for n in (3, 9))
    outside = []
    for program in (few, many):
        inside = {k for region in program.regions if region.may_be_skipped for k in region.instructions}
        ops = [op for k, op in enumerate(program.instructions.ops) if k not in inside]
        outside.append([ops.count(op) for op in (Op.ADD, Op.SUB, Op.SELECT, Op.ADDED)])
    assert outside[0][1:] == outside[1][1:] == [outside[0][1], 0, 0]
    assert outside[1][0] - outside[0][0] == 6  # those of the conditions


# --- other targets, derivatives ---


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_in_c(monkeypatch, tmp_path, dtype):
    monkeypatch.setattr(c, "PART", 20)

    def function(x):
        going, body, start = decaying(x)
        a, b = cardan.repeat_while(9, going, body, *start)
        return np.stack([a, b, *chosen(cardan.when)(x), *only_there(x)[:2], *summed(x)])

    program, x = traced(function, (4,)), states(40, 0.4, dtype)
    source = c_code(program, "f").source
    assert "break;" in source
    assert source.count("if (w[") >= 3
    found, expected = (np.empty((40, len(program.results)), dtype) for _ in range(2))
    for number, (which, result) in enumerate(((program, found), (never_skipped(program), expected))):
        folder = tmp_path / str(number)
        folder.mkdir()
        run_c(folder, which, [x], [result])
    assert same([found], [expected])
    np.testing.assert_allclose(found, evaluated(program, "numpy", [x])[0], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives(mode):
    def function(when, loop):
        @cardan.function
        def run(model, q):
            going, body, start = decaying(q)
            return np.stack([*loop(4, going, body, *start), *chosen(when, 12)(q), *summed(q)])

        return cardan.derivative(run, "q", mode=mode)

    model, q = cardan.robots.arm7().model(), np.zeros((64, 7))
    q[:, :4] = states(64, 0.5)
    ours, theirs = function(cardan.when, cardan.repeat_while), function(where_all, written_while)
    expected = theirs.on("numpy")(model, q)
    assert same([ours.on("numpy")(model, q)], [expected])
    np.testing.assert_allclose(ours.on("llvm")(model, q), expected, rtol=1e-9, atol=1e-12)
    steps = 1e-6 * np.eye(7)[:4]
    of_sums = [(summed((q[0] + d).tolist()) - summed((q[0] - d).tolist())) / 2e-6 for d in steps]
    np.testing.assert_allclose(np.ravel(of_sums), expected[0, -1, :4], rtol=1e-6, atol=1e-8)


# --- on numbers and batches ---


def test_on_numbers_and_batches():
    assert cardan.when(False, lambda: 1 / 0, 7.0) == 7.0
    assert cardan.repeat_while(5, lambda x, y: x < 3.0, lambda x, y: (x + y, y), 1.0, 0.5) == (3.0, 0.5)
    assert cardan.repeat_while(2, lambda x: x < 3.0, lambda x: x + 0.5, 1.0) == 2.0
    x = np.array([1.0, -1.0, 3.0])
    a, (b, p) = cardan.when(x > 0.0, lambda x: (x + 1.0, [-x, cardan.SE3(None, [x, 0.0, 0.0])]),
                            (0.0, [x, cardan.SE3(None, [0.0 * x, x, 0.0])]), x)  # fmt: skip
    np.testing.assert_array_equal([a, b], [[2.0, 0.0, 4.0], [-1.0, -1.0, -3.0]])
    np.testing.assert_array_equal(p.translation[1], [0.0, -1.0, 0.0])
    calls = []
    found = cardan.repeat_while(50, lambda y: y < 8.0, lambda y: calls.append(y) or 2.0 * y, np.array([1.0, 9.0, 3.0]))
    np.testing.assert_array_equal(found, [8.0, 9.0, 12.0])
    assert len(calls) == 3


def test_a_condition_that_is_known_folds():
    program = traced(lambda x: np.stack(cardan.when(True, lambda: chain(*x, 50), (0.0, 0.0))), (2,))
    assert not program.regions
    assert Op.SELECT not in program.instructions.ops
    once = traced(lambda x: cardan.repeat_while(9, lambda y, n: n < 1.0, lambda y, n: (y * y, n + 1.0), x, 0.0)[0], ())
    assert not once.regions[1:]
    assert evaluated(once, "numpy", [np.full((1,), 3.0)])[0] == 9.0


@pytest.mark.slow
def test_what_was_made_where_it_may_be_skipped_is_made_again_behind_it():
    made = []

    def function(x):
        def make():
            made.append(0)
            return chain(x[0], x[1], 30)

        def once():
            return made_once("chain", x, make)[0]

        first = cardan.when(x[2] > 0.0, lambda: once() + once(), 0.0)
        return [first, once(), once()]

    program = traced(function, (3,))
    assert len(made) == 2
    x = np.array([[0.3, 0.7, -1.0]])
    (a, _) = chain(0.3, 0.7, 30)
    np.testing.assert_allclose(evaluated(program, "llvm", [x])[0], [[0.0, a, a]], rtol=1e-14)


def test_few_operations_are_written_out():
    assert not traced(lambda x: cardan.when(x[0] > 0.0, lambda: x[0] * x[1] + 1.0, 0.0), (2,)).regions


@pytest.mark.full
def test_in_each_and_in_a_body():
    """A body in each of several items; and in a body items, of which a value is asked for again behind it."""

    def function(when, each):
        def items(x):
            found = each(lambda a, b: chain(a, b, 20)[0], x, x[::-1])
            return (*found, x[0] * x[1] + x[2])

        def run(x):
            rows = each(lambda a, b: when(a < b, lambda: chain(a, b, 40), (a, 0.0))[0], x, x[::-1])
            more = when(x[0] < x[1], items, (0.0,) * 5, x)
            return np.stack([*rows, *more, x[0] * x[1] + x[2]])

        return run

    program = traced(function(cardan.when, cardan.each), (4,))
    assert [r.passes for r in program.regions] == [4, 1, 1, 4]
    written = traced(function(where_all, item_by_item), (4,))
    for rows, share in ((1, 0.0), (9, 1.0), (100, 0.01)):
        x = [states(rows, share)]
        assert same(evaluated(program, "numpy", x), evaluated(written, "numpy", x))
        assert same(evaluated(program, "llvm", x), evaluated(never_skipped(program), "llvm", x))


@pytest.mark.slow
@pytest.mark.parametrize(("emitter", "dtype"), represented(EMITTERS, by=[("llvm", np.float64)].count))
def test_numbers_of_items_are_picked_where_they_are_needed(monkeypatch, emitter, dtype):
    """They wait in the module, side by side; other values wait in rows of the workspace."""
    monkeypatch.setenv("CARDAN_EMITTER", emitter)
    sizes = np.random.default_rng(0).uniform(0.1, 1.0, (6, 5))
    sizes[2, 3] = -0.0

    def function(when, each):
        def one(x, size, far):
            a = size[0] + x * size[1]
            return when(a < 0.5, lambda: chain(size[2] * a + size[3], size[4] * far, 40), (a, size[1] * far))

        return lambda x: np.stack(
            [e for row in each(one, [*x, x[0], x[1]], sizes, [*x[::-1], x[2], x[3]]) for e in row]
        )

    program = traced(function(cardan.when, cardan.each), (4,))
    written = traced(function(where_all, item_by_item), (4,))
    layout = plan.plan_program(program)
    region, body = program.regions
    assert region.passes == 6
    assert body.passes == 1
    assert {rows: len(columns) for rows, columns in layout.records.items()} == {6: 5}
    # Two returned are where the results are, behind four inputs; two given wait behind those.
    assert sorted(layout.columns.values()) == [(4, 2), (5, 2), (16, 2), (17, 2)]
    for rows in ROWS:
        x = [states(rows, 0.4, dtype)]
        found = evaluated(program, "llvm", x)
        assert same(found, evaluated(never_skipped(program), "llvm", x))
        np.testing.assert_allclose(found[0], evaluated(written, "numpy", x)[0], rtol=3e-5, atol=1e-6)


# --- the representation ---


def test_text_digest_and_pickle():
    program = traced(lambda x: np.stack(cardan.repeat_while(7, *decaying(x)[:2], *decaying(x)[2])), (4,))
    text, (begun, loop) = str(program), program.regions
    assert f"  7 times, while %{loop.going} is true {{" in text
    assert f"  1 times if %{begun.going} is true {{" in text
    again = pickle.loads(pickle.dumps(program))
    assert again == program
    assert Outline.of(again).digest == Outline.of(program).digest != Outline.of(never_skipped(program)).digest
    assert repr(loop._replace(going=None)).endswith(f"carried={loop.carried})")  # as digests had it before
    assert not [region for region in straight(program).regions if region.going]


def test_rules():
    program = traced(chosen(cardan.when), (4,))
    outer, inner = program.regions
    last = outer.stop - 1
    for regions in (
        (outer._replace(going=0), inner),
        (outer._replace(going=outer.stop), inner),
        (outer, inner._replace(stop=inner.stop - 2)),
        (outer._replace(carried=((0, last),)), inner),
    ):
        with pytest.raises(ProgramError):
            verify(replace(program, regions=regions))
    rows = traced(lambda x: np.stack(cardan.each(lambda a: cardan.where(a > 0.0, *chain(a, 2.0 - a, 20)), x)), (3,))
    comparison = rows.instructions.ops.index(Op.LT)
    with pytest.raises(ProgramError, match="may end early"):
        verify(replace(rows, regions=(rows.regions[0]._replace(going=comparison),)))


def test_errors():
    leaks = []
    with pytest.raises(TraceError, match="used outside"):
        traced(lambda x: cardan.when(x[0] > 0.0, lambda: leaks.append(chain(*x, 40)) or leaks[0][1], 0.0) + leaks[0][0],
               (2,))  # fmt: skip
    for body in (lambda: (x := 1.0, x), lambda: [1.0]):
        with pytest.raises(ParameterError, match=r"body of cardan\.when returned"):
            traced(lambda x, body=body: cardan.when(x > 0.0, body, 1.0), ())
        with pytest.raises(ParameterError, match=r"body of cardan\.when returned"):
            cardan.when(np.array([True]), body, (1.0, 2.0, 3.0))
    with pytest.raises(ParameterError, match=r"count of cardan\.repeat_while"):
        cardan.repeat_while(0, lambda x: True, lambda x: x, 1.0)
