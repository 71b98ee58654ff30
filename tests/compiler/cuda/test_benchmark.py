"""`python -m benchmarks cuda` runs: with a device that is emulated, and without any."""

import json
import sys
from pathlib import Path

import pytest
from nvrtc import needs_nvrtc

import cardan

sys.path.insert(0, str(Path(__file__).parents[3]))
benchmark = pytest.importorskip("benchmarks.cuda")


@pytest.fixture
def shipped(monkeypatch):
    monkeypatch.setattr(benchmark, "loaded", lambda name: (name, cardan.robots.double_pendulum().model()))


@needs_nvrtc
def test_rates_are_printed(emulation, shipped, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(benchmark.Clock, "bytes_a_second", lambda self: 1e12)
    monkeypatch.setattr(benchmark.Clock, "multiply_adds_a_second", lambda self, architecture: 1e12)
    monkeypatch.setattr(benchmark, "frax_speeds", lambda cases, states: {})
    file = tmp_path / "found.json"
    words = ["--only", "panda", "--states", "200", "--rounds", "1", "--no-table", "--json", str(file)]
    assert benchmark.main(words) == 0
    assert "Emulated (sm_90, 4 multiprocessors), float32, 200 states" in capsys.readouterr().out
    inverse, forward = json.loads(file.read_text())["speed"]
    assert inverse["rate"] == pytest.approx(200 / 0.05)
    assert inverse["memory"] == pytest.approx(4 * 8 * 200 / 0.05 / 1e12)
    assert forward["arithmetic"] > inverse["arithmetic"]


@pytest.mark.full
def test_steps_are_launched(emulation, monkeypatch):
    monkeypatch.setattr(benchmark, "standing_world", self_standing)
    case = next(benchmark.steps())
    benchmark.Clock(benchmark.driver()).launcher(case, 3)()
    assert emulation.launches[-1][-1][0] == 3


def self_standing():
    world = cardan.robots.double_pendulum().world()
    return "pendulum", world, world.model.neutral()
