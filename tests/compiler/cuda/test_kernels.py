"""The text of CUDA kernels, run on the host: in double precision the very bits of our CPU code."""

import numpy as np
import pytest
from host_cuda import ORDERS, HostKernel, needs_compiler

import cardan
from cardan._compiler.program import Array, expr, trace
from cardan._compiler.program.replay import whole
from cardan._compiler.targets.cuda import text
from cardan._compiler.targets.cuda.staging import THREADS
from cardan._compiler.targets.cuda.text import cuda_code
from cardan._dynamics.algorithms import along
from programs import LOOPS, evaluated, item_by_item, long_chain, never_skipped, random_program, skipping_program
from representatives import represented

ROBOTS = {"arm7": cardan.robots.arm7, "quadruped": cardan.robots.quadruped, "humanoid": cardan.robots.humanoid}


def run(program, inputs, order="forward", strides=None, count=None):
    """Return what the kernel of a program gives; strides are those of inputs, if rows are not one after the other."""
    dtype = inputs[0].dtype
    code = cuda_code(program, single=dtype == np.float32)
    count = count or max(len(x) for x in inputs)
    outputs = [np.full((count, a.size), 7.0, dtype) for a in program.outputs]
    strides = [*(strides or [a.size for a in program.inputs]), *(a.size for a in program.outputs)]
    pointers = [x for a, s in zip([*inputs, *outputs], strides, strict=True) for x in (a.ctypes.data, s)]
    kernel, region = HostKernel(code.source, code.name), whole(program)
    arguments = [count, *pointers, *([region.passes] if region else [])]
    kernel.launch(-(-count // THREADS), THREADS, 0, arguments, order, 3)
    return outputs


def states(program, count, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return [np.ascontiguousarray(rng.standard_normal((count, a.size)), dtype) for a in program.inputs]


def assert_same(found, expected):
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(f, e)


def everything(x):
    a, b = x
    names = ("sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "log", "expm1", "log1p", "absolute", "sign", "floor")
    values = [getattr(cardan, name)(a) for name in names]
    values += [a + b, a - b, a * b, a / b, -a, cardan.atan2(a, b), cardan.minimum(a, b), cardan.maximum(a, b)]
    values += [a * b + 0.3, a * b - b, b - a * b, -(a * b), np.inf + a, np.nan * a]
    conditions = [a < b, a <= b, (a < b) & (b < 1.0), (a < b) | (b < 1.0), ~(a < b), a == b]
    return [*values, *(cardan.where(c, a, -2.5) for c in conditions), b, 0.1, -0.0, a]


EDGES = [0.0, -0.0, 0.5, -2.0, 1.0, -1.0, 3.7, 1e-30, 5e-324, 1e12, -3e15, 1e300, 1.7e308, np.inf, -np.inf, np.nan]


@needs_compiler
def test_every_operation_has_the_bits_of_the_processor():
    program = trace("f", lambda x: {"y": np.array(everything(x), dtype=object)}, [Array("x", (2,))])
    random = np.random.default_rng(0).standard_normal((300, 2)) * 10.0 ** np.random.default_rng(1).integers(
        -9, 10, (300, 1)
    )
    far = 10.0 ** np.random.default_rng(2).uniform(12, 308, (300, 2))
    x = np.concatenate([np.array([(a, b) for a in EDGES for b in EDGES]), random, far, -far])
    found, expected = run(program, [x]), evaluated(program, "llvm", [x])
    assert_same(found, expected)
    np.testing.assert_array_equal(
        np.signbit(found[0])[~np.isnan(found[0])], np.signbit(expected[0])[~np.isnan(found[0])]
    )


@needs_compiler
def test_the_negative_of_a_joined_product_that_is_0_has_its_sign():
    program = trace("f", lambda x: {"y": -(x[2] - x[0] * x[1])}, [Array("x", (3,))])
    x = np.array([[2.0, 3.0, 6.0]])
    assert np.signbit(run(program, [x])[0]) == np.signbit(evaluated(program, "llvm", [x])[0]) == np.array([[True]])


@needs_compiler
def test_every_operation_in_single_precision():
    program = trace("f", lambda x: {"y": np.array(everything(x), dtype=object)}, [Array("x", (2,))])
    x = np.array([(a, b) for a in EDGES[:11] for b in EDGES[:11]]).astype(np.float32)
    expected = evaluated(program, "numpy", [x])[0]
    np.testing.assert_allclose(run(program, [x])[0], expected, rtol=4 * np.finfo(np.float32).eps, atol=1e-6)


@needs_compiler
@pytest.mark.parametrize("robot", represented(ROBOTS, by=["arm7"].count))
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_robots_have_the_bits_of_the_processor(robot, function):
    program = getattr(cardan, function).program(ROBOTS[robot]().model())
    inputs = states(program, 70)
    assert_same(run(program, inputs, "shuffled"), evaluated(program, "llvm", inputs))


@needs_compiler
@pytest.mark.full
def test_loops_over_joints_have_the_bits_of_the_processor(monkeypatch):
    monkeypatch.setattr(along, "LOOP_FROM", 10)
    mechanism = cardan.robots.humanoid()
    for function in (cardan.inverse_dynamics, cardan.forward_dynamics):
        own = mechanism.model(base="fixed", gravity=(0.0, 0.0, -9.7))  # which nobody traced without loops
        program = function.program(own)
        inputs = states(program, 5)
        assert program.columns
        assert_same(run(program, inputs, "shuffled"), evaluated(program, "llvm", inputs))


@needs_compiler
@pytest.mark.full
def test_the_reverse_of_a_scan_has_the_bits_of_the_processor():
    @cardan.function(shapes={"tau": (1000, "nv")})
    def cost(model, q, tau):
        step = lambda v, tau: (v + 1e-3 * cardan.forward_dynamics(model, q, v, tau), None)  # noqa: E731
        v, _ = cardan.scan(step, 1e-3 * q, tau)
        return v @ v

    program = cardan.gradient(cost, "tau").program(cardan.robots.double_pendulum().model())
    inputs = states(program, 5)
    assert [region.passes for region in program.regions] == [1000, 1000]
    assert_same(run(program, inputs, "shuffled"), evaluated(program, "llvm", inputs))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("robot", represented(["quadruped", "humanoid"], by=["quadruped"].count))
@pytest.mark.parametrize("order", ORDERS)
def test_threads_in_any_order_give_the_same(order, robot):
    program = cardan.forward_dynamics.program(ROBOTS[robot]().model())
    inputs = states(program, 33)
    assert_same(run(program, inputs, order), evaluated(program, "llvm", inputs))


@needs_compiler
@pytest.mark.parametrize("count", [1, 31, 32, 127, 129])
def test_any_number_of_states_and_nothing_behind_them(count):
    program = cardan.mass_matrix.program(cardan.robots.arm7().model())
    inputs = states(program, 130)
    outputs = np.full((130, 49), 7.0)
    code = cuda_code(program, single=False)
    pointers = [inputs[0].ctypes.data, 7, outputs.ctypes.data, 49]
    HostKernel(code.source, code.name).launch(-(-count // THREADS), THREADS, 0, [count, *pointers], "backward")
    expected = evaluated(program, "llvm", [inputs[0][:count]])[0]
    np.testing.assert_array_equal(outputs[:count], expected)
    assert np.all(outputs[count:] == 7.0)


@needs_compiler
def test_rows_that_all_states_share_and_rows_apart():
    program = cardan.inverse_dynamics.program(cardan.robots.arm7().model())
    q, v, a = states(program, 40)
    wide = np.full((40, 11), np.nan)
    wide[:, 2:9] = v
    found = run(program, [q, wide[:, 2:], a[:1]], strides=[7, 11, 0], count=40)
    assert_same(found, evaluated(program, "llvm", [q, v, np.repeat(a[:1], 40, axis=0)]))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("seed", represented(range(4), by=range(2).count))
def test_random_programs_with_loops(monkeypatch, seed):
    monkeypatch.setattr(text, "WHOLE", 40)
    monkeypatch.setattr(text, "PART", 30)
    program = random_program(seed, LOOPS, 3)
    inputs = states(program, 37, seed=seed)
    assert_same(run(program, inputs), evaluated(program, "llvm", inputs))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("seed", represented([3, 14], by=[3].count))
@pytest.mark.parametrize("loops", [LOOPS, (cardan.repeat, item_by_item)])
def test_random_programs_that_skip(monkeypatch, seed, loops):
    monkeypatch.setattr(expr, "WORTH", 0)
    monkeypatch.setattr(expr, "WORTH_SKIPPING", -99)
    program = skipping_program(seed, loops, cardan.when, cardan.repeat_while)
    given = states(program, 40)
    assert_same(run(program, given), evaluated(never_skipped(program), "llvm", given))


@needs_compiler
def test_sine_before_a_loop_and_cosine_of_the_same_angle_behind_it():
    def results(x):
        turned = cardan.repeat(3, lambda value: 0.5 * value + x[1], cardan.sin(x[0]))
        return {"y": turned * cardan.cos(x[0])}

    program = trace("f", results, [Array("x", (2,))], regions=True)
    inputs = states(program, 33)
    assert_same(run(program, inputs), evaluated(program, "llvm", inputs))


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("size", [50, 10_000])
def test_long_programs_in_parts_and_whole(monkeypatch, size):
    monkeypatch.setattr(text, "WHOLE", size)
    monkeypatch.setattr(text, "PART", size)

    def results(x, y):
        first, second = long_chain(x, y)
        return {"a": np.array([*first, x[0], 0.5, *first], dtype=object), "b": np.array([*second], dtype=object)}

    program = trace("f", results, [Array("x", (3,)), Array("y", (40,))])
    inputs = states(program, 65)
    assert_same(run(program, inputs), evaluated(program, "llvm", inputs))


@needs_compiler
def test_results_of_no_size_inputs_that_nothing_needs_and_results_without_operations():
    results = lambda x, y: {"none": np.zeros((0,)), "a": np.array([x[1], 2.0, -0.0])}  # noqa: E731
    program = trace("f", results, [Array("x", (2,)), Array("y", (50,))])
    inputs = states(program, 5)
    found = run(program, inputs)
    assert found[0].shape == (5, 0)
    np.testing.assert_array_equal(found[1], np.stack([inputs[0][:, 1], np.full(5, 2.0), np.full(5, -0.0)], axis=1))


@needs_compiler
def test_a_program_of_no_instructions_has_a_kernel():
    program = trace("f", lambda x: {"none": np.zeros((0,))}, [Array("x", (2,))])
    assert [y.shape for y in run(program, states(program, 5))] == [(5, 0)]
