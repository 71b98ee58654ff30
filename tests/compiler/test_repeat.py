"""Programs run several times on their own results: as many calls, bit for bit, on every target."""

import copy
import gc
import os
import pickle
import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import cardan
from cardan._compiler.program import Array, Graph, Op, Program, expr, trace
from cardan._compiler.program.autodiff import vector_jacobian_product
from cardan._compiler.program.program import Region
from cardan._compiler.program.replay import repeated, replay, straight
from cardan._compiler.targets import Outline
from cardan._compiler.targets.llvm import plan
from cardan._compiler.targets.llvm import target as native
from cardan._dynamics.call.traced import Kernel
from cardan.errors import DTypeError, ParameterError, ProgramError, ShapeError, UnknownNameError
from cardan.joints import CATALOGUE
from mechanisms import random_model
from program_rules import verify
from programs import LOOPS, WRITTEN_OUT, evaluated, item_by_item, long_chain, random_program, run_c, same, written_out
from representatives import represented

BATCHES = (1, 7, 8, 9, 500, 1000, 4097)


class State(NamedTuple):
    q: object
    v: object


@cardan.function
def step(model, q, v, tau, dt: float):
    """Return the state one semi-implicit step later."""
    v = v + dt * cardan.forward_dynamics(model, q, v, tau)
    return State(cardan.integrate(model, q, dt * v), v)


@cardan.function(shapes={"x": (3,), "y": (3,), "z": (2,)})
def shuffled(model, x, y, z):
    """Results that are arguments, numbers, sums; some arguments are not used."""
    return {"x": np.stack([y[1], x[2] + z[0], -x[0]]), "y": x, "w": y, "z": np.stack([z[1] * 0.5, 1.0 + 0.0 * z[0]])}


@cardan.function(returns=("nv",))
def damped(model, q, v):
    return v - 1e-2 * cardan.inverse_dynamics(model, q, v, v)


def pendulum():
    return cardan.robots.double_pendulum().model()


def arguments(model, batch=(), dtype=np.float64):
    rng = np.random.default_rng(3)
    q = model.random_configuration(batch, seed=1).astype(dtype)
    return q, *(rng.normal(size=(*batch, model.nv)).astype(dtype) for _ in range(2)), dtype(1e-3)


def chained(function, model, count, q, v, *rest):
    for _ in range(count):
        q, v = function(model, q, v, *rest)
    return q, v


def traced(function, count=7, sizes=(3, 3)):
    arrays = [Array(name, (size,)) for name, size in zip("xy", sizes, strict=True)]
    program = trace("f", lambda x, y: dict(zip("xy", map(np.array, function(x, y)), strict=True)), arrays)
    return program, verify(repeated(program, count, {"x": "x", "y": "y"}))


def passes(program, target, arrays, count):
    for _ in range(count):
        arrays = evaluated(program, target, arrays)
    return arrays


ROBOTS = ("double_pendulum", "arm7", "quadruped", "humanoid")
REPEATED = [(robot, dtype) for robot in ROBOTS for dtype in (np.float64, np.float32)]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm", "numpy"])
@pytest.mark.parametrize(("robot", "dtype"), represented(REPEATED, by=REPEATED[:3].count))
def test_repeat_is_as_many_calls(robot, dtype, target):
    model = getattr(cardan.robots, robot)().model(base="floating" if robot in ("quadruped", "humanoid") else "fixed")
    one, many = step.on(target), step.repeated(5).on(target)
    for batch in ((), *((rows,) for rows in BATCHES), (2, 3)):
        given = arguments(model, batch, dtype)
        found = many(model, *given)
        assert type(found) is State
        assert same(found, chained(one, model, 5, *given)), batch


EACH = [(np.float64, CATALOGUE[1::4]), (np.float64, CATALOGUE), (np.float32, CATALOGUE)]


@pytest.mark.parametrize(("dtype", "joints"), represented(EACH, by=EACH[:1].count))
def test_every_joint(dtype, joints, reference_target):
    model = random_model(0, joints=joints)
    given = arguments(model, (9,), dtype)
    assert same(step.repeated(3)(model, *given), chained(step, model, 3, *given))


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_what_is_passed_on_is_read_before_it_is_overwritten(target):
    model, one, many = pendulum(), shuffled.on(target), shuffled.repeated(6).on(target)
    x, y, z = np.arange(27.0).reshape(9, 3), -np.arange(27.0).reshape(9, 3), np.ones((9, 2))
    kept = [a.copy() for a in (x, y, z)]
    given = {"x": x, "y": y, "z": z}
    for _ in range(6):
        given = one(model, given["x"], given["y"], given["z"])
        expected, given = given, {n: given[n] for n in "xyz"}
    found = many(model, x, y, z)
    assert list(found) == ["x", "y", "w", "z"]
    assert same(found.values(), expected.values())
    assert same((x, y, z), kept)
    only = shuffled.repeated(2, {"z": "z"}).on(target)(model, x, y, z)
    assert same(only.values(), one(model, x, y, one(model, x, y, z)["z"]).values())


PLANS = [(7, plan.STACK), (2, 0)]
PLANNED = [(*case, dtype) for case in PLANS for dtype in (np.float64, np.float32)]


@pytest.mark.parametrize(("count", "stack", "dtype"), represented(PLANNED, by=PLANNED[3:].count))
def test_many_blocks_tiles_and_a_workspace_on_the_heap(monkeypatch, dtype, count, stack):
    monkeypatch.setattr(plan, "STACK", stack)
    size = 400 + (stack == 0)  # of another length each: what is compiled is kept by its content
    one, many = traced(lambda x, y: long_chain(x, y, size), count)
    rng = np.random.default_rng(0)
    for rows in (1, 7, 8, 9, 33, 70):
        x, y = rng.uniform(-1.0, 1.0, (2, rows, 3)).astype(dtype)
        assert same(evaluated(many, "llvm", [x, y]), passes(one, "llvm", [x, y], count)), rows
        assert same(evaluated(many, "numpy", [x, y]), passes(one, "numpy", [x, y], count)), rows


@pytest.mark.slow
def test_many_results_written_past_the_caches():
    def grown(x, y):
        return [0.5 * e for e in x], [e + x[0] for e in y]

    one, many = traced(grown, 3, (3, 80))
    rows = 40_000
    x, y = (np.random.default_rng(0).normal(size=(rows, n)) for n in (3, 80))
    assert same(evaluated(many, "llvm", [x, y]), passes(one, "llvm", [x, y], 3))


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_angles_far_away_in_some_lanes_and_some_passes(target):
    """Beyond 1e12 rad another reduction is called; it must begin and end with the pass that needs it."""

    def jumping(x, y):
        return [1e13 * cardan.sin(x[0]), cardan.cos(x[1]), cardan.where(x[2] > 1e12, 1.0, 3e12) + x[1]], [
            cardan.sin(x[2]) + y[0],
            cardan.tan(y[1] * 1e5),
            y[2],
        ]

    one, many = traced(jumping, 11)
    x, y = np.random.default_rng(0).normal(size=(2, 21, 3))
    x[::3] *= 1e13
    assert same(evaluated(many, target, [x, y]), passes(one, target, [x, y], 11))
    single = [x.astype(np.float32), y.astype(np.float32)]
    assert same(evaluated(many, target, single), passes(one, target, single, 11))


def test_not_finite_stays_in_its_row():
    model, given = pendulum(), arguments(pendulum(), (9,))
    given[1][4] = np.nan
    found = step.repeated(3)(model, *given)
    rows = [k for k in range(9) if k != 4]
    assert np.isnan(found.v[4]).all()
    assert same((found.q[rows], found.v[rows]), chained(step, model, 3, *(a[rows] for a in given[:3]), given[3]))


def test_results_where_arguments_are():
    model = pendulum()
    halved = damped.repeated(4, {"v": "result"})
    for rows in (1, 9, 4097):
        q, v, _, _ = arguments(model, (rows,))
        expected = v
        for _ in range(4):
            expected = damped(model, q, expected)
        bound, out = halved.bind(model), v.copy()
        assert bound(q, out, out=out) is out
        assert same([out, bound(q, v), halved(model, q=q, v=v)], [expected] * 3)
        elsewhere = np.empty_like(v)
        bound(q, v, out=elsewhere)
        assert same([elsewhere], [expected])


def test_several_results_into_those_of_an_earlier_call():
    model, many = pendulum(), step.repeated(4).bind(pendulum())
    given = arguments(model, (9,))
    out = many(*given)
    first = copy.deepcopy(out)
    assert many(*given, out=out) is out
    assert same(out, first)
    once = many(*out, *given[2:])
    many(*out, *given[2:], out=out)  # the arguments lie in it
    assert same(out, once)


def test_threads():
    model, given = pendulum(), arguments(pendulum(), (20_000,))
    many = step.repeated(100)
    assert same(many.on(threads=3)(model, *given), many.on(threads=1)(model, *given))
    few = [a[:9] if np.ndim(a) else a for a in given]
    assert same([a[:9] for a in many(model, *given)], many(model, *few))


def test_very_many_passes_of_one_state():
    model, q, v = pendulum(), *arguments(pendulum())[:2]
    found = damped.repeated(300_000, {"v": "result"})(model, q, v)
    assert found.shape == (2,)
    assert np.isfinite(found).all()


def test_constants_as_inputs():
    model = pendulum().with_inputs("gravity")
    given = arguments(model, (9,))
    gravity = model.input_values()["gravity"] * np.linspace(0.0, 2.0, 9)[:, None]
    q, v = given[:2]
    for _ in range(3):
        q, v = step(model, q, v, *given[2:], gravity=gravity)
    assert same(step.repeated(3)(model, *given, gravity=gravity), (q, v))


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_one_pass_does_what_the_function_does(target):
    model, given = pendulum(), arguments(pendulum(), (9,))
    once = step.repeated(1).on(target)
    assert once.program(model).regions == (Region(0, 67, 1, ((0, 65), (1, 66), (2, 61), (3, 62))),)
    assert same(once(model, *given), step.on(target)(model, *given))


def counted_events(monkeypatch):
    """Return the list of what was traced and compiled from now on."""
    events = []

    def noted(module, name):
        made = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **kw: (events.append(name), made(*a, **kw))[1])

    noted(native, "_compiled")
    noted(Kernel, "traced")
    return events


def test_another_count_neither_traces_nor_compiles(monkeypatch, tmp_path):
    """One machine code serves all counts: those of `repeated`, of a solver's steps and a rollout's `every`."""
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    model, given = pendulum(), arguments(pendulum(), (9,))
    for rows in ([a[0] if np.ndim(a) else a for a in given], given):  # one world and many have machine code each
        step.repeated(7)(model, *rows)
    counts = (1, 2, 3, 7, 100)
    expected = [chained(step, model, count, *given) for count in counts]
    events = counted_events(monkeypatch)
    for count, wanted in zip(counts, expected, strict=True):
        many = step.repeated(count)
        assert same(many(model, *given), wanted)
        assert same(many.bind(model)(*given), many(model, *given))
        many.bind_packed(model)(*[a[0] if np.ndim(a) else a for a in given])
    assert events == []


def test_a_solver_takes_any_number_of_steps_by_one_program(monkeypatch, tmp_path):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    world = cardan.robots.double_pendulum().world()
    solver, state = cardan.solvers.Featherstone(world, dt=1e-3), world.state()
    state.q[...] = 0.3
    control = world.control()
    solver.step(state)
    solver.step(state, control)
    events = counted_events(monkeypatch)
    for count in (1, 2, 5, 20):
        once = state
        for _ in range(count):
            once = solver.step(once)
        assert solver.step(state, steps=count) == once
        path = solver.rollout(state, steps=2 * count, every=count)
        assert same([path.q[1], path.v[1]], [once.q, once.v])
        advance = solver.stepper(state, steps=count)
        advance()
        assert advance.state == once
        solver.step(state, control, steps=count)
    assert events == []


def test_counts_of_equal_models_outlive_the_first_one():
    first, given = pendulum(), arguments(pendulum())
    expected = step.repeated(6)(first, *given)
    del first
    gc.collect()
    model = pendulum()
    assert same(step.repeated(6)(model, *given), expected)
    assert step.repeated(6).program(model).work == 6 * step.program(model).operations


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_any_split_of_a_count_has_the_same_bits(target):
    model = cardan.robots.quadruped().model(base="floating")
    for rows in ((), (11,)):
        given = arguments(model, rows)
        whole = step.repeated(12).on(target)(model, *given)
        for split in ((1,) * 12, (5, 7), (11, 1), (4, 4, 4)):
            q, v = given[:2]
            for count in split:
                q, v = step.repeated(count).on(target)(model, q, v, *given[2:])
            assert same((q, v), whole), split


def test_repeats_of_repeats(reference_target):
    model = pendulum()
    given = arguments(model, (3,))
    six = step.repeated(2).repeated(3)
    assert six.program(model).regions == step.repeated(6).program(model).regions
    other = step.repeated(2, {"v": "v"}).repeated(2)  # q stands still for two passes, twice
    q, v = given[:2]
    for _ in range(2):
        _, w = step(model, q, v, *given[2:])
        q, v = step(model, q, w, *given[2:])
    np.testing.assert_allclose(np.concatenate(other(model, *given), -1), np.concatenate([q, v], -1), rtol=1e-13)


def test_inside_another_function_it_stays_a_loop(reference_target):
    model = pendulum()
    given = arguments(model, (3,))

    @cardan.function
    def energy_later(model, q, v, tau, dt: float):
        q, v = step.repeated(3)(model, q, v, tau, dt)
        return cardan.kinetic_energy(model, q, v)

    expected = cardan.kinetic_energy(model, *chained(step, model, 3, *given))
    np.testing.assert_allclose(energy_later(model, *given), expected, rtol=1e-12)
    program = verify(energy_later.program(model))
    assert [region.passes for region in program.regions] == [3]


def test_other_scalars():
    sympy = pytest.importorskip("sympy")
    model = pendulum()
    q, v, tau, _ = arguments(model)
    found = step.repeated(2)(model, [sympy.Float(e) for e in q], [sympy.Float(e) for e in v], list(tau), 1e-3)
    expected = chained(step, model, 2, q, v, tau, 1e-3)
    np.testing.assert_allclose(np.array(found.v, float), expected[1], rtol=1e-10)


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3", None, 10**10])
def test_counts_that_are_none(count):
    with pytest.raises(ParameterError, match="whole number from 1"):
        step.repeated(count)


def test_whole_numbers_of_numpy_count():
    assert step.repeated(np.int64(4)) is step.repeated(4)


def test_carrying_what_is_not_there():
    model, q, v = pendulum(), *arguments(pendulum())[:2]
    with pytest.raises(UnknownNameError, match="did you mean 'v'"):
        damped.repeated(2, {"vv": "result"})(model, q, v)
    with pytest.raises(UnknownNameError, match=r"result.*'resolt'.*did you mean 'result'"):
        damped.repeated(2, {"v": "resolt"})(model, q, v)
    with pytest.raises(ParameterError, match=r"carry=\{"):
        damped.repeated(2)(model, q, v)
    with pytest.raises(ParameterError, match="not given"):
        cardan.inverse_dynamics.repeated(2, {"external_forces": "result"})(model, q, v, v)
    with pytest.raises(DTypeError, match="dictionary"):
        step.repeated(2, ["q", "v"])  # pyright: ignore[reportArgumentType]
    for carry in ({}, {"q": 1}):
        with pytest.raises(ParameterError, match="dictionary"):
            step.repeated(2, carry)


def test_carrying_another_shape():
    model = cardan.robots.arm7().model(base="floating")
    given = model.random_configuration(seed=0), np.zeros(model.nv)
    with pytest.raises(ShapeError, match=r"expected \(14,\), as argument 'q' has"):
        damped.repeated(2, {"q": "result"})(model, *given)


def test_printed_pickled_explained():
    model = pendulum()
    many = step.repeated(3)
    program = verify(many.program(model))
    text = many.source(model).splitlines()
    assert text[1] == "  3 times {"
    assert any(line.startswith("  } and on with %0 <- %") for line in text)
    again = pickle.loads(pickle.dumps(program))
    assert again == program
    assert again != straight(program)
    others = (step.repeated(4), step.repeated(3, {"q": "q"}))
    digests = [Outline.of(f.program(model)).digest for f in (step, many, *others)]
    assert len(set(digests)) == 3
    assert digests[1] == digests[2]  # one machine code for all counts
    assert Outline.of(program).passes == 3
    assert Outline.of(program) != Outline.of(others[0].program(model))
    assert program.work == 3 * step.program(model).operations == 3 * program.operations
    assert "3 times (by machine code for any number)" in many.explain(model)
    assert pickle.loads(pickle.dumps(many)) is many
    bound = pickle.loads(pickle.dumps(many.bind(model)))
    given = arguments(model, (9,))
    assert same(bound(*given), many(model, *given))


def test_rules_of_regions():
    good = traced(lambda x, y: ([e + y[0] for e in x], [cardan.sin(e) for e in y]))[1]
    (region,) = good.regions
    wrong = [
        (region._replace(passes=0),),
        (region._replace(stop=len(good.instructions) + 1),),
        (region._replace(carried=((len(good.instructions) - 1, 0),)),),
        (region._replace(carried=((0, -1),)),),
        (region._replace(carried=region.carried * 2),),
        (region, region),
        (Region(0, 5, 2, ()), Region(3, 7, 2, ())),
    ]
    for regions in wrong:
        with pytest.raises(ProgramError):
            verify(Program(good.name, good.inputs, good.instructions, good.outputs, good.results, regions))


def test_replayed_on_numbers():
    one, many = traced(lambda x, y: ([e * y[0] for e in x], [cardan.sin(e) for e in y]), 4)
    x = [0.1, 0.2, 0.3, 1.1, 1.2, 1.3]
    expected = x
    for _ in range(4):
        values = replay(one, expected)
        expected = [values[r] for r in one.results]
    values = replay(many, x)
    assert [values[r] for r in many.results] == expected
    out = straight(many)
    assert out.regions == ()
    assert [replay(out, x)[r] for r in out.results] == expected


@pytest.mark.full  # tests/compiler/test_image.py has another process, too
def test_another_process_finds_one_program_for_all_counts(tmp_path):
    """Outline and machine code are kept once; each count is run so often as it says."""
    (tmp_path / "stepping.py").write_text(
        "import cardan\n@cardan.function\ndef push(model, v):\n    return {'v': 1.5 * v - 0.25 * v * v}\n"
    )
    code = (
        "import sys, numpy as np, cardan, stepping\n"
        "model, x = cardan.robots.double_pendulum().model(), np.array([0.3, 0.7])\n"
        "for count in map(int, sys.argv[1:]):\n"
        "    y = x\n"
        "    for _ in range(count): y = 1.5 * y - 0.25 * y * y\n"
        "    np.testing.assert_allclose(stepping.push.repeated(count)(model, x)['v'], y, rtol=1e-13)\n"
        "print('llvmlite' in sys.modules)\n"
    )
    environment = {**os.environ, "CARDAN_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.path.dirname(os.path.dirname(cardan.__file__))])
    found = []
    for counts in (["2", "1"], ["3", "2", "4"], ["2", "3", "1", "4"]):
        run = [sys.executable, "-c", code, *counts]
        done = subprocess.run(run, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.strip())
    assert found[1:] == ["False", "False"]


# --- derivatives ---


def chain(model, q, v, count):
    """Return the derivative by v of that many passes of `damped`, multiplied from pass to pass."""
    by_v, total = cardan.derivative(damped, "v"), np.eye(model.nv)
    for _ in range(count):
        total = by_v(model, q, v) @ total
        v = damped(model, q, v)
    return total


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivative_is_the_product_of_those_of_the_passes(mode, reference_target):
    model = cardan.robots.arm7().model()
    q, v, _, _ = arguments(model)
    found = cardan.derivative(damped.repeated(4, {"v": "result"}), "v", mode=mode)(model, q, v)
    expected = chain(model, q, v, 4)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


def test_products_with_derivatives(reference_target):
    model = cardan.robots.arm7().model()
    q, v, w, _ = arguments(model)
    many, expected = damped.repeated(3, {"v": "result"}), chain(model, q, v, 3)
    found = cardan.vector_jacobian_product(many, "v")(model, q, v, weights=w)
    np.testing.assert_allclose(found, w @ expected, atol=1e-11 * np.abs(expected).max())
    found = cardan.jacobian_vector_product(many, "v")(model, q, v, direction=w)
    np.testing.assert_allclose(found, expected @ w, atol=1e-11 * np.abs(expected).max())


@pytest.mark.slow
def test_derivative_of_a_state_along_the_tangent(reference_target):
    """By q, on quaternions: against differences along the manifold."""
    model = cardan.robots.arm7().model(base="floating")
    q, v, tau, dt = arguments(model)
    many, e, h = step.repeated(3), np.random.default_rng(5).normal(size=model.nv), 1e-6
    found = cardan.derivative(many, "q")(model, q, v, tau, dt)["v"] @ e
    ahead, behind = (many(model, cardan.integrate(model, q, s * h * e), v, tau, dt).v for s in (1.0, -1.0))
    np.testing.assert_allclose(found, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6)


def test_derivative_of_very_many_passes():
    model, q, v = pendulum(), *arguments(pendulum())[:2]
    many = cardan.vector_jacobian_product(damped.repeated(3000, {"v": "result"}), "v")
    np.testing.assert_allclose(many(model, q, v, weights=v), v @ chain(model, q, v, 3000), rtol=1e-9)


def test_reverse_through_many_choices_grows_with_their_number():
    """Each sweep of a projected iteration hangs on all choices of the one before."""

    def operations(sweeps):
        def swept(x, y):
            for _ in range(sweeps):
                x = [cardan.maximum(e + 0.1 * (y[k] - 0.3 * x[k - 1] - e), 0.0) for k, e in enumerate(x)]
            return x, y

        return vector_jacobian_product(traced(swept)[0], ["y"]).operations

    assert operations(12) - operations(8) <= 1.2 * (operations(8) - operations(4))


# --- regions within a function ---


def projection(loop):
    """Return the function whose iterations are done by a loop."""

    @cardan.function(shapes={"A": (4, 4), "b": (4,)})
    def projected(model, A, b, v):
        """Return projected Gauss-Seidel on what is set up before, and more iterations behind and within another."""
        inverses = [1.0 / A[k, k] for k in range(4)]

        def sweep(x):
            x = list(x)
            for k in range(4):
                x[k] = cardan.maximum(x[k] + inverses[k] * (b[k] - sum(A[k, j] * x[j] for j in range(4))), 0.0)
            return np.stack(x)

        def crossed(a, c):
            return c, cardan.sin(a) * loop(4, lambda w: [0.5 * w[0] + A[0, 1], w[1] + w[0]], [c, v[1]])[1]

        x = loop(20, sweep, 0.1 * b)
        a, c = loop(3, crossed, v[0], v[1])
        return {"x": x, "mixed": np.stack([a, c, cardan.sin(a)]), "b": A @ x - b}

    return projected


def problems(rows, dtype=np.float64):
    rng = np.random.default_rng(7)
    L = rng.normal(size=(rows, 4, 4))
    given = L @ np.swapaxes(L, -1, -2) + 4.0 * np.eye(4), rng.normal(size=(rows, 4)), rng.normal(size=(rows, 2))
    return [a.astype(dtype) for a in given]


projected = projection(cardan.repeat)
straight_projected = projection(written_out).on("numpy")


def close(found, expected, dtype=np.float64):
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=50 * np.finfo(dtype).eps, atol=50 * np.finfo(dtype).eps)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_iterations_within_a_function(target, dtype):
    program = verify(projected.program(pendulum()))
    assert [region.passes for region in program.regions] == [20, 3, 4]
    assert program.operations < straight_projected.program(pendulum()).operations / 4
    for rows in (1, 9, 100):
        given = problems(rows, dtype)
        found, expected = (f(pendulum(), *given) for f in (projected.on(target), straight_projected))
        close(found, expected, dtype)


@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_a_repeat_of_iterations(target):
    A, b, v = problems(9)
    many = projected.repeated(3).on(target)
    assert [region.passes for region in verify(many.program(pendulum())).regions] == [3, 20, 3, 4]
    found = many(pendulum(), A, b, v)
    for _ in range(3):
        expected = straight_projected(pendulum(), A, b, v)
        b = expected["b"]
    close(found, expected)


@pytest.mark.parametrize("mode", ["forward", pytest.param("reverse", marks=pytest.mark.full)])
def test_derivative_of_iterations(mode):
    found, expected = (
        cardan.derivative(f, "b", mode=mode).on("numpy")(pendulum(), *problems(5))
        for f in (projected, straight_projected)
    )
    close(found, expected)


def test_iterations_on_numbers_arrays_and_spatial_objects():
    assert cardan.repeat(5, lambda x: 2.0 * x, 1.0) == 32.0
    assert cardan.repeat(3, lambda x, y: (y, x + y), 1, 1) == (3, 5)
    np.testing.assert_array_equal(cardan.repeat(2, lambda x: x + 1.0, np.zeros(3)), np.full(3, 2.0))

    @cardan.function
    def squared(model, q):
        X = cardan.frame_transform(model, q, model.body_names[-1])
        return cardan.repeat(3, lambda Y: Y @ Y, cardan.SE3(X[:3, :3], X[:3, 3]))

    q = np.array([0.3, -0.4])
    X = cardan.frame_transform(pendulum(), q, pendulum().body_names[-1])
    np.testing.assert_allclose(squared(pendulum(), q), np.linalg.matrix_power(X, 8), atol=1e-13)


def test_iterations_from_numbers_begin_with_a_simpler_pass(reference_target):
    @cardan.function
    def relaxed(model, v):
        return cardan.repeat(10, lambda x: 0.5 * x + v, np.zeros(2))

    (region,) = verify(relaxed.program(pendulum())).regions
    assert region.passes == 9
    v = np.array([1.0, -2.0])
    np.testing.assert_allclose(relaxed(pendulum(), v), v * (2.0 - 2.0**-9), rtol=1e-15)


@pytest.mark.parametrize("target", ["numpy", "llvm"])
def test_counts_that_are_data(target):
    """Each state makes as many passes as it is told; NaN says where there may not be so many."""

    @cardan.function(shapes={"x": (), "n": ()}, returns=())
    def grown(model, x, n):
        return cardan.repeat(n, lambda x: x + 0.1 * x * x, x, most=20)

    counts, x = np.array([-1.0, 0.0, 1.0, 2.5, 7.0, 20.0, 21.0, np.nan, np.inf]), np.linspace(0.1, 0.3, 9)
    found, slope = grown.on(target)(pendulum(), x, counts), cardan.derivative(grown, "x").on(target)
    expected, slopes = x.copy(), np.ones(9)
    for k, passes in enumerate((0, 0, 1, 3, 7, 20)):
        for _ in range(passes):
            slopes[k] *= 1.0 + 0.2 * expected[k]
            expected[k] += 0.1 * expected[k] ** 2
    expected[6:] = slopes[6:] = np.nan
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(slope(pendulum(), x, counts), slopes, rtol=1e-14)


def test_what_no_iteration_changes_is_no_region(reference_target):
    @cardan.function
    def idle(model, v):
        swapped = cardan.repeat(5, lambda x, y: (y, x), v[0], v[1])
        return np.stack([*swapped, cardan.repeat(3, lambda x: v[0] * v[1], v[0])])

    np.testing.assert_array_equal(idle(pendulum(), np.array([2.0, 3.0])), [3.0, 2.0, 6.0])
    assert len(verify(idle.program(pendulum())).regions) == 1


@pytest.mark.parametrize("derived", [None, 2])
def test_what_begins_at_0_and_stays_there_is_known_in_every_pass(derived):
    """Zeros of slips that no contact has were carried, and multiplied with, in each pass."""
    graph = Graph(regions=True)
    x, y = graph.symbols([Array("x", (2,))])
    found = graph.repeated(5, lambda e: (True, [e[0] * y + e[1] * x, e[1] * y]), [x, 0.0], derived)
    assert found[1] == 0.0
    assert [len(r.carried) for r in graph.regions] == [1]
    assert sum(op is Op.MUL for op, *_ in graph.instructions) == 1


def test_what_begins_at_0_and_does_not_stay_there_is_carried(reference_target):
    @cardan.function(returns=("nq",))
    def counted(model, q):
        sums = cardan.repeat(4, lambda x, n, z: (x + n * q[0] + z, n + 1.0, z), q[0] * q[0], 0.0, 0.0)
        return np.stack([sums[0] + 0.0 * q[0], sums[1] * q[0]])

    q = np.random.default_rng(1).uniform(-1.0, 1.0, (9, 2))
    expected = np.stack([q[:, 0] ** 2 + 6.0 * q[:, 0], 4.0 * q[:, 0]], 1)
    np.testing.assert_allclose(counted.on(reference_target)(pendulum(), q), expected, atol=1e-14)


def test_wrong_iterations():
    for count in (0, -1, 2.5, True, None):
        with pytest.raises(ParameterError, match="whole number from 1"):
            cardan.repeat(count, lambda x: x, 1.0)
    with pytest.raises(ParameterError, match="at least one value"):
        cardan.repeat(2, lambda: ())
    with pytest.raises(ParameterError, match="at most 3"):
        cardan.repeat(4, lambda x: x, 1.0, most=3)
    with pytest.raises(ParameterError, match="most=: got 0"):
        cardan.repeat(4, lambda x: x, 1.0, most=0)
    with pytest.raises(ParameterError, match=r"got \(2,\), expected \(3,\)"):
        cardan.repeat(2, lambda x: x[:2], np.zeros(3))
    with pytest.raises(ParameterError, match="shapes of what the body"):
        cardan.repeat(2, lambda x, y: x, 1.0, 2.0)


@pytest.mark.parametrize("seed", [67, 198, 234])
def test_what_an_inner_loop_carries_from_outside_is_there_in_every_pass_of_the_outer(seed):
    """It was overwritten after the outer loop's first pass, and results were wrong in silence."""
    count, one_by_one = 1 + seed % 4, item_by_item
    program = random_program(seed, (cardan.repeat, one_by_one), count)
    assert any(after < outer.start for outer, inner in nested(program) for _, after in inner.carried)
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((50, a.size)) for a in program.inputs]
    expected = evaluated(random_program(seed, (written_out, one_by_one), count), "llvm", arrays)
    assert same(evaluated(program, "llvm", arrays), expected)


def nested(program):
    """Return pairs of a region and one within it."""
    pairs = [(a, b) for a in program.regions for b in program.regions if a is not b]
    return [(a, b) for a, b in pairs if a.start <= b.start and b.stop <= a.stop]


@pytest.mark.parametrize("seed", represented(range(324), by=range(9).count))
def test_random_programs(monkeypatch, seed):
    """Loops beside and within each other, cut into blocks of a few operations, against the same written out."""
    monkeypatch.setattr(plan, "BLOCK", 3 + seed % 5)
    monkeypatch.setattr(plan, "STORES", 2 + seed % 3)
    monkeypatch.setattr(expr, "WORTH", 0)
    program, plain = (random_program(seed, loops, 1 + seed % 3) for loops in (LOOPS, WRITTEN_OUT))
    given = list(np.random.default_rng(seed).uniform(-1.0, 1.0, (2, 11, 3)))
    expected = evaluated(straight(plain), "numpy", given)
    for target in ("numpy", "llvm") if seed % 3 == 0 or seed >= 24 else ("numpy",):
        for found, wanted in zip(evaluated(program, target, given), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


# --- C ---

IN_C = [(n, dtype) for n in (3, 900) for dtype in (np.float64, np.float32)]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(("n", "dtype"), represented(IN_C, by=lambda case: case != (900, np.float32)))
@pytest.mark.slow
def test_c(tmp_path, dtype, n):
    def swapped(x, y):
        a, b = long_chain(x, y, n)
        return [y[0], *a[1:]], [x[0], x[1], *b[2:]]

    _, many = traced(swapped, 5)
    x, y = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 6, 3)).astype(dtype)
    expected = evaluated(many, "numpy", [x, y])
    run_c(tmp_path, many, [x, y], [x, y])  # the results where the arguments are
    tolerance = 1e4 * np.finfo(dtype).eps
    for found, wanted in zip((x, y), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_iterations_in_c(tmp_path):
    given, program = problems(6), projected.repeated(3).program(pendulum())
    out = {a.name: np.empty((6, a.size)) for a in program.outputs}
    run_c(tmp_path, program, given, list(out.values()))
    A, b, v = given
    for _ in range(3):
        expected = straight_projected(pendulum(), A, b, v)
        b = expected["b"]
    close(out, expected)
