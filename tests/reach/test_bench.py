"""`cardan bench`: what it prints; times are not tested."""

import json
import os

import pytest

import cardan
from cardan._reach.cli.bench import USUAL, WITH_LOOPS
from cardan.cli import main

ARM = cardan.robots.urdf_path("double_pendulum")
QUADRUPED = cardan.robots.urdf_path("quadruped")


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Time for an instant only."""
    monkeypatch.setattr("cardan._reach.cli.bench.measured.__defaults__", (0.001,))


def run(capsys, *words):
    status = main(["bench", *(str(w) for w in words)])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.slow
def test_table(capsys):
    status, out, _ = run(capsys, ARM, "--batch", 8)
    assert status == 0
    for words in ("nv = 2: times of one state, in batches of 8", *USUAL):
        assert words in out


@pytest.mark.slow
def test_loops_have_functions_of_their_own(capsys, tmp_path):
    """`cardan bench` had refused robots with loops, unless functions were named."""
    cardan.save(cardan.robots.four_bar(), tmp_path / "bars.json")
    status, out, _ = run(capsys, tmp_path / "bars.json", "--batch", 8)
    assert status == 0
    for words in WITH_LOOPS:
        assert words in out


@pytest.mark.slow
def test_json(capsys):
    words = ("--base", "floating", "--json", "--batch", 64, "--function", "inverse_dynamics", "jacobian", "integrate")
    status, out, _ = run(capsys, QUADRUPED, *words)
    result, model = json.loads(out), cardan.load(QUADRUPED, base="floating")
    assert status == 0
    assert (result["robot"], result["nv"]) == (model.name, model.nv)
    names = ("cardan", "python", "numpy", "llvmlite", "machine", "processor", "threads")
    assert set(result["environment"]) == set(names)
    assert [row["function"] for row in result["functions"]] == ["inverse_dynamics", "jacobian", "integrate"]
    first = result["functions"][0]
    assert first["operations"] == cardan.inverse_dynamics.program(model).operations
    assert first["states"] == 64
    assert all(first[k] > 0 for k in ("compile_s", "one_thread_ns", "all_threads_ns", "call_us"))


def test_the_users_cache_is_left_alone(capsys, tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(place))
    run(capsys, ARM, "--batch", 8, "--function", "potential_energy")
    assert (os.environ["CARDAN_CACHE_DIR"], place.exists()) == (str(place), False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--function", "inverse_dynamic"), "'inverse_dynamics'"),
        (("--batch", 0), "a whole number >= 1"),
        (("--function", "jacobian", "--frame", "wrist"), "'wrist'"),
    ],
)
def test_faults(capsys, words, message):
    status, _, err = run(capsys, ARM, *words)
    assert status == 1
    assert message in err


def test_a_robot_that_cannot_move(capsys, tmp_path):
    (tmp_path / "stone.urdf").write_text('<robot name="stone"><link name="base"/></robot>')
    status, out, _ = run(capsys, tmp_path / "stone.urdf")
    assert status == 0
    assert "nv = 0" in out
