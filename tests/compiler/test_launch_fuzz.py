"""A few thousand random calls; `python tests/launch_fuzz.py` runs a hundred thousand."""

import pytest

from cardan._compiler import targets
from launch_fuzz import Cases, run_case
from representatives import represented


@pytest.mark.slow
@pytest.mark.skipif(targets.default_target() != "llvm", reason="compares the llvm target with the reference")
@pytest.mark.parametrize("part", represented(range(4), by=[0].count))
def test_random_calls(part):
    cases = Cases()
    kinds = {run_case(cases, seed) for seed in range(1000 * part, 1000 * (part + 1))}
    assert kinds == {"evaluated", "refused", "out"}
