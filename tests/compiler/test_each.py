"""One block for several items: as many calls of it, bit for bit, on every target."""

import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, Op, expr, trace
from cardan._compiler.program.program import Column
from cardan._compiler.program.replay import repeated, straight
from cardan._compiler.targets import Outline, c
from cardan._compiler.targets.llvm import plan
from cardan.errors import ParameterError, ProgramError
from program_rules import verify
from programs import LOOPS, evaluated, item_by_item, long_chain, random_program, run_c, same

ITEMS = 5


def chain(x, y, n=600):
    """Return results of many operations, the last two of them numbers."""
    a, b = long_chain(x, y, n)
    return np.stack([*a, *b, 2.0, 0.0])


def traced(function, *shapes):
    arrays = [Array(name, shape) for name, shape in zip("xyzuv", shapes, strict=False)]
    return verify(trace("f", lambda *given: {"r": function(*given)}, arrays, regions=True))


def numbers(rows, *shapes, dtype=np.float64):
    rng = np.random.default_rng(3)
    return [rng.uniform(-1.0, 1.0, (rows, *shape)).astype(dtype) for shape in shapes]


def blocks(n=600, items=ITEMS):
    one = traced(lambda x, y: chain(x, y, n), (3,), (3,))
    shape = (items, 3)
    return one, traced(lambda x, y: np.stack(cardan.each(lambda a, b: chain(a, b, n), x, y)), shape, shape)


def agree(one, many, target, rows, dtype=np.float64, items=ITEMS):
    x, y = numbers(rows, (items, 3), (items, 3), dtype=dtype)
    (found,) = evaluated(many, target, [x, y])
    each = [np.ascontiguousarray(a[:, k]) for k in range(items) for a in (x, y)]
    expected = [evaluated(one, target, each[k : k + 2])[0] for k in range(0, 2 * items, 2)]
    assert same([found], [np.concatenate(expected, axis=1)]), rows


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm", "numpy"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_item_is_a_call(dtype, target):
    one, many = blocks()
    (region,) = many.regions
    assert region.passes == ITEMS
    assert many.operations == one.operations
    assert many.work == ITEMS * one.work
    for rows in (1, 7, 8, 9, 70):
        agree(one, many, target, rows, dtype)


@pytest.mark.parametrize("stack", [plan.STACK, 0])
def test_several_tiles_and_a_workspace_on_the_heap(monkeypatch, stack):
    monkeypatch.setattr(plan, "STACK", stack)
    one, many = blocks(300 + (stack == 0))  # of a length each: what is compiled is kept
    for rows in (1, 9, 70):
        agree(one, many, "llvm", rows)


def test_very_many_items_results_and_columns(monkeypatch):
    """More than a function stores, and results that go past the caches."""
    monkeypatch.setattr(plan, "STORES", 20)
    monkeypatch.setattr(expr, "WORTH", 1)

    def wide(x):
        return cardan.sqrt(x * x) * x[::-1] + x[0]

    one, many = traced(wide, (30,)), traced(lambda x: np.stack(cardan.each(wide, x)), (20, 30))
    (x,) = numbers(9, (20, 30))
    (found,) = evaluated(many, "llvm", [x])
    (expected,) = evaluated(one, "llvm", [x.reshape(-1, 30)])
    assert same([found.reshape(-1, 30)], [expected])
    (large,) = evaluated(many, "llvm", [np.concatenate([x] * 400)])
    assert same([large], [np.concatenate([found] * 400)])


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_what_is_not_finite_stays_in_its_row_and_item(target):
    _, many = blocks()
    x, y = numbers(9, (ITEMS, 3), (ITEMS, 3))
    (sound,) = evaluated(many, target, [x, y])
    x[4, 2, 1] = np.nan
    (found,) = (a.reshape(9, ITEMS, -1) for a in evaluated(many, target, [x, y]))
    assert np.isnan(found[4, 2, :6]).all()
    assert same([np.delete(found[4], 2, 0)], [np.delete(sound.reshape(9, ITEMS, -1)[4], 2, 0)])
    assert same([np.delete(found, 4, 0)], [np.delete(sound.reshape(9, ITEMS, -1), 4, 0)])


# --- what a block takes and returns ---


def test_on_numbers_arrays_and_spatial_objects():
    assert cardan.each(lambda x: 2.0 * x, [1.0, 2.5]) == [2.0, 5.0]
    assert cardan.each(lambda x, y: (y, x + y), [1, 2], (5, 7)) == [(5, 6), (7, 9)]
    np.testing.assert_array_equal(cardan.each(np.cumsum, np.ones((2, 3))), [[1.0, 2.0, 3.0]] * 2)
    assert cardan.each(lambda x: x, []) == []

    @cardan.function
    def turned(model, q):
        poses = [cardan.SE3(None, [e, 0.0, 1.0]) for e in q]
        powers = cardan.each(lambda X, k: (X @ X @ X @ X, [k * q[0]]), poses, [2.0, 3.0])
        return np.stack([*powers[0][0].translation, *powers[1][0].translation, *powers[0][1], *powers[1][1]])

    found = turned.on("numpy")(cardan.robots.double_pendulum().model(), np.array([0.3, -0.4]))
    np.testing.assert_allclose(found, [1.2, 0.0, 4.0, -1.6, 0.0, 4.0, 0.6, 0.9], rtol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_numbers_that_all_items_share_fold_and_others_wait_in_a_table(target):
    def block(x, size, share):
        return chain([*x, size], [share * e for e in (*x, size)])

    def results(loop):
        return lambda x: np.stack(loop(block, [x[0:2], -x[1:3], x[2:4]], [0.5, 0.25, x[0]], [1.0, 1.0, 1.0]))

    many, plain = traced(results(cardan.each), (4,)), traced(results(item_by_item), (4,))
    assert len(many.regions) == 1
    (number,) = (k for k, i in enumerate(many.instructions) if i.op is Op.PASS)
    read = {i.value for i in many.instructions if i.op is Op.ENTRY and i.args == (number,)}
    assert len(read) == 3  # x twice and the size; not the share
    given = numbers(9, (4,))
    (found,), (expected,) = evaluated(many, target, given), evaluated(plain, target, given)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    assert same([evaluated(many, "numpy", given)[0]], [evaluated(plain, "numpy", given)[0]])


@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_what_known_numbers_of_an_item_make_is_a_known_number(target):
    """|x|^2 of a hull's vertices was worked out in each state."""
    corners = np.random.default_rng(5).uniform(-1.0, 1.0, (40, 12, 3))

    def of(vertices, d):
        sizes = [x * x + y * y + z * z for x, y, z in vertices]
        return sum((size * d[0] + x * d[1] for size, (x, *_) in zip(sizes, vertices, strict=True)), 0.0)

    program = traced(lambda d: np.stack(cardan.each(lambda own: of(own, d), corners.tolist())), (2,))
    (d,), ops = numbers(33, (2,)), program.instructions.ops
    assert [region.passes for region in program.regions] == [39]
    for own in (ops[: program.regions[0].start], ops[program.regions[0].start :]):  # the first item, and all others
        assert own.count(Op.MUL) == 24
        assert own.count(Op.ADD) + own.count(Op.SUB) == 23
    expected = [sum((c * c).sum(1) * d[k, 0] + c[:, 0] * d[k, 1]) for k in range(len(d)) for c in corners]
    (found,) = evaluated(program, target, [d])
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-13, atol=1e-13)


def test_from_numbers_alone_the_first_item_is_done_before():
    def results(x):
        return np.stack(cardan.each(lambda c: chain([c, x[0], x[1]], [x[1], c, c]), [0.1, 0.2, 0.3, 0.4]))

    many = traced(results, (2,))
    assert [region.passes for region in many.regions] == [3]
    given = numbers(9, (2,))
    expected = traced(lambda x: np.stack([chain([c, x[0], x[1]], [x[1], c, c]) for c in (0.1, 0.2, 0.3, 0.4)]), (2,))
    np.testing.assert_allclose(*(evaluated(p, "numpy", given)[0] for p in (many, expected)), rtol=1e-13)


def test_what_no_item_changes_is_there_once():
    def results(loop):
        return lambda x: np.stack(
            [e for a, b in loop(lambda y: (chain(x[0:3], x[1:4]), chain(y, x[0:3])), [x[0:3], x[1:4]]) for e in (a, b)]
        )

    many, plain = traced(results(cardan.each), (4,)), traced(results(item_by_item), (4,))
    given = numbers(3, (4,))
    assert len(many.regions) == 1
    assert same(evaluated(many, "numpy", given), evaluated(plain, "numpy", given))
    idle = traced(lambda x: np.stack(cardan.each(lambda y: chain(x, x), [x, x, x])), (3,))
    assert idle.regions == ()


def test_short_blocks_are_written_out():
    def results(x):
        return np.stack(cardan.each(lambda a, b: a * b + 1.0, x, x[::-1]))

    many = traced(results, (6,))
    assert many.regions == ()
    assert many.operations == 6  # as written: the products of both orders are one


def test_a_block_is_as_long_as_what_it_does():
    """A short one that iterates many times is run for each item, not written out with its loop."""

    def results(x):
        return np.stack(cardan.each(lambda e: cardan.repeat(50, lambda a: 0.5 * a + cardan.sin(e), e), x))

    many = traced(results, (4,))
    assert [region.passes for region in many.regions] == [4, 50]
    (x,) = given = numbers(3, (4,))
    expected = (x - 2.0 * np.sin(x)) * 0.5**50 + 2.0 * np.sin(x)
    np.testing.assert_allclose(evaluated(many, "numpy", given)[0], expected, rtol=1e-13)


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_within_one_another(target):
    """Items within iterations, iterations within items, items within items, and all of it several times."""

    def results(repeat, each):
        def block(a, b):
            first, second = repeat(4, lambda s, t: (0.5 * chain([s, a, b], [t, b, a], 60)[0], 0.3 * s + a), a, b)
            inner = each(lambda e: chain([e, first, a], [b, e, second], 60), [a, b, second])
            return [first, *(row[1] for row in inner)]

        def sweep(x):
            found = each(block, x[:3], x[1:4])
            return 0.2 * np.stack([e for row in found for e in row[:2]][:4])

        return lambda x: np.stack([*repeat(3, sweep, x), *(e for row in each(block, x[:3], x[1:]) for e in row)])

    def plain_repeat(count, body, *start):
        for _ in range(count):
            start = (body(*start),) if len(start) == 1 else body(*start)
        return start[0] if len(start) == 1 else start

    many, plain = traced(results(cardan.repeat, cardan.each), (4,)), traced(results(plain_repeat, item_by_item), (4,))
    assert sorted(region.passes for region in many.regions) == [3, 3, 3, 3, 3, 4, 4]
    given = numbers(9, (4,))
    (found,), (expected,) = evaluated(many, target, given), evaluated(plain, "numpy", given)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_run_several_times(target):
    def step(x, y):
        return {"x": np.stack([row[0] for row in cardan.each(chain, [x, x[::-1], -x], [y, x, y])]), "y": x}

    one = trace("f", step, [Array("x", (3,)), Array("y", (3,))], regions=True)
    many = verify(repeated(one, 4, {"x": "x", "y": "y"}))
    assert [region.passes for region in many.regions] == [4, 3]
    given = numbers(9, (3,), (3,))
    found = evaluated(many, target, given)
    for _ in range(4):
        given = evaluated(one, target, given)
    assert same(found, given)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_are_those_of_the_written_out(mode):
    def function(loop):
        @cardan.function(shapes={"x": (4,)})
        def results(model, x):
            return np.stack(loop(lambda a, b: chain([a, b, x[0]], [b, b, a], 100)[0], x[:3], x[1:]))

        return results

    model, x = cardan.robots.double_pendulum().model(), np.array([0.1, -0.4, 0.3, 0.7])
    many, plain = function(cardan.each), function(item_by_item)
    assert len(many.program(model).regions) == 1
    found, expected = (cardan.derivative(f, "x", mode=mode).on("numpy")(model, x) for f in (many, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def test_wrong_items():
    with pytest.raises(ParameterError, match=r"got \[2, 3\], expected one length for all sequences"):
        cardan.each(lambda a, b: a, [1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="one length for all sequences"):
        cardan.each(lambda: 1.0)
    with pytest.raises(ParameterError, match="got 5, expected a sequence of items for each argument"):
        cardan.each(lambda a: a, 5)
    with pytest.raises(
        ParameterError, match=r"item 1 of cardan.each: got \[\(2,\)\], expected \[\(3,\)\], as the first has"
    ):
        cardan.each(np.sum, [np.ones(3), np.ones(2)])


# --- the program ---


def test_printed_pickled_and_told_apart():
    one, many = blocks(60)
    text = str(many).splitlines()
    assert f"  {ITEMS} times {{" in text
    assert "  }" in text
    assert f"  column 0: {ITEMS} rows" in text
    assert any(" = put %" in line and line.endswith(" of column 0") for line in text)
    assert any(" = entry %" in line and line.endswith(" of column 4") for line in text)
    again = pickle.loads(pickle.dumps(many))
    assert again == many
    assert Outline.of(again).digest == Outline.of(many).digest
    assert len({Outline.of(program).digest for program in (one, many, blocks(60, 4)[1], straight(many))}) == 4
    assert straight(many).operations == ITEMS * one.operations


def test_rules_of_rows():
    good = traced(lambda x: np.stack(cardan.each(lambda a, b: chain([a, a, b], [b, a, b], 60)[0], x, x[::-1])), (2,))
    (region,) = good.regions
    instructions = list(good.instructions)
    at = {op: [k for k, i in enumerate(instructions) if i.op is op] for op in (Op.AT, Op.PUT, Op.ENTRY, Op.PASS)}

    def changed(k, **fields):
        return {"instructions": tuple(i._replace(**fields) if j == k else i for j, i in enumerate(instructions))}

    for wrong, message in (
        ({"regions": ()}, "no region around it"),
        ({"regions": (region._replace(passes=3),)}, "there is no row 2"),
        ({"columns": good.columns[:-1]}, "there is no column"),
        ({"columns": (Column(2, start=0), *good.columns[1:])}, "writes column 0, which is known"),
        (changed(at[Op.AT][1], value=7.0), "there is no row 7"),
        (changed(at[Op.PUT][1], args=instructions[at[Op.PUT][0]].args), "repeats"),
        (changed(at[Op.ENTRY][0], value=float(len(good.columns) - 1)), "not written yet"),
    ):
        with pytest.raises(ProgramError, match=message):
            verify(replace(good, **wrong))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(
    "seed", [9, 2, *(pytest.param(k, marks=pytest.mark.full) for k in range(60) if k not in (2, 9))]
)
def test_random_programs_in_c(monkeypatch, tmp_path, seed):
    """Loops and items in one another, in parts of a few operations; the results where the arguments are."""
    monkeypatch.setattr(c, "PART", 4 + seed % 7)
    monkeypatch.setattr(expr, "WORTH", 0)
    program = random_program(seed, LOOPS, 1 + seed % 3)
    given = numbers(7, (3,), (3,))
    expected = evaluated(program, "numpy", given)
    run_c(tmp_path, program, given, given)
    for found, wanted in zip(given, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_in_c(tmp_path, dtype):
    def step(x, y):
        found = cardan.each(
            lambda a, b, c: chain(a, [*b, c], 400), [x, x[::-1], -y], [y[:2], x[1:], y[1:]], [0.5, 2.0, y[0]]
        )
        return {"x": 0.3 * np.stack([row[0] for row in found]), "y": found[1][:3]}

    many = repeated(trace("f", step, [Array("x", (3,)), Array("y", (3,))], regions=True), 3, {"x": "x", "y": "y"})
    given = numbers(6, (3,), (3,), dtype=dtype)
    expected = evaluated(many, "numpy", given)
    run_c(tmp_path, many, given, given)  # the results where the arguments are
    assert same(given, expected)
