"""A few thousand random calls; `python tests/launch_fuzz.py` runs a hundred thousand."""

import numpy as np
import pytest

import cardan
from launch_fuzz import Functions, run_all, run_case

pytestmark = pytest.mark.skipif(
    cardan.program.default_target() != "llvm", reason="compares the llvm target with the reference"
)


def test_random_calls():
    counts = run_all(4000, 0)
    assert counts.keys() == {"evaluated", "refused", "out"}, counts
    assert min(counts.values()) > 300


def test_a_case_is_a_function_of_its_seed():
    functions = Functions()
    kinds = [run_case(functions, seed) for seed in range(40)]
    assert [run_case(functions, seed) for seed in reversed(range(40))] == kinds[::-1]


@pytest.mark.parametrize("target", ["llvm", "numpy"])
def test_memory_by_keyword(target):
    """It cannot be hashed, which is no reason to refuse it the second time."""
    arm = cardan.robots.double_pendulum().model()
    function = cardan.bias_forces.on(target)
    q, v = np.ones(2), np.full(2, 0.5)
    expected = function(arm, q, v)
    np.testing.assert_array_equal(function(arm, q, v=memoryview(v)), expected)
