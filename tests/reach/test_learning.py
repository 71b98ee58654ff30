"""The learning example learns, and its seed decides all."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("matplotlib")

FILE = Path(__file__).parents[2] / "examples" / "learn_swing_up.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("learn_swing_up", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_seed_decides_what_is_learned(example):
    one, same, other = (example.learn(rounds=2, tries=8, best=4, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.full
def test_the_pole_learns_to_swing_up_and_stand(example):
    """Of 500, a pole that hangs earns less than 1 and one that stands from the first second on more than 440."""
    before = example.evaluated(0.1 * np.random.default_rng(0).standard_normal(example.WEIGHTS))
    after = example.evaluated(example.learn(seed=0))
    assert np.median(before) < 60.0
    assert np.median(after) > 400.0
