"""The text of CUDA kernels, run on the host: in double precision the very bits of our CPU code."""

import numpy as np
import pytest
from host_cuda import HostKernel, needs_compiler

import cardan
from cardan.program.program import Program
from cardan.targets import compile_program
from cardan.targets.cuda.text import cuda_code

pytestmark = needs_compiler
ROBOTS = {
    "arm7": cardan.robots.arm7,
    "quadruped": cardan.robots.quadruped,
    "humanoid": cardan.robots.humanoid,
}


def addresses(arrays, strides):
    return [x for a, stride in zip(arrays, strides, strict=True) for x in (a.ctypes.data, stride)]


def run(program: Program, inputs, dtype=np.float64, order="forward", shared=()):
    """Return what the kernel of a program gives; `shared` names the inputs of which all states have the first row."""
    code = cuda_code(program, single=dtype == np.float32)
    count = max(len(x) for x in inputs)
    outputs = [np.full((count, a.size), 7.0, dtype) for a in program.outputs]
    strides = [0 if a.name in shared else a.size for a in program.inputs] + [a.size for a in program.outputs]
    kernel = HostKernel(code.source, code.name)
    grid = -(-count // code.states)
    kernel.launch(grid, code.threads, code.shared, [count, *addresses([*inputs, *outputs], strides)], order, 3)
    return outputs


def states(program, count, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return [np.ascontiguousarray(rng.standard_normal((count, a.size)), dtype) for a in program.inputs]


def on_this_processor(program, inputs, dtype=np.float64):
    flat = compile_program(program, "llvm")(inputs, len(inputs[0]), np.dtype(dtype))
    ends = np.cumsum([a.size for a in program.outputs])[:-1]
    return np.split(flat, ends, axis=1)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_double_precision_has_the_bits_of_the_processor(robot, function):
    program = getattr(cardan, function).program(ROBOTS[robot]().model())
    inputs = states(program, 150)
    for found, expected in zip(run(program, inputs), on_this_processor(program, inputs), strict=True):
        np.testing.assert_array_equal(found, expected)
