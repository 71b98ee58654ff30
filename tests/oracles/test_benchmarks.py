"""The benchmark runs, and its peers compute what cardan computes; times are not tested."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cardan

pytest.importorskip("pinocchio", reason="needs the `oracles` extra: pinocchio", exc_type=ImportError)
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import quantities as quantity  # noqa: E402
from benchmarks.measure import measure  # noqa: E402
from benchmarks.peers import PEERS, installed  # noqa: E402
from benchmarks.report import robot_table  # noqa: E402
from benchmarks.robots import robot  # noqa: E402
from benchmarks.targets import TARGETS  # noqa: E402
from benchmarks.timing import FIGURES  # noqa: E402

pytestmark = pytest.mark.full


def run(tmp_path, *words):
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"CARDAN_TARGET": "llvm", "PYTHONPATH": path}
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", str(tmp_path / "found.json"), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads((tmp_path / "found.json").read_text())


def test_it_runs(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the `plot` extra: matplotlib")
    files = ("--plot", str(tmp_path / "found.png"), "--page", str(tmp_path / "found.html"))
    out, found = run(tmp_path, "--robots", "chain10", "--peers", "pin", "mujoco", "--emitters", *files)
    for text in (
        "chain10, 10 degrees of freedom",
        "inverse dynamics",
        "Goals",
        "not measured (60x)",
        "drake: not measured",
    ):
        assert text in out
    row = next(r for r in found["rows"] if r["quantity"] == quantity.FORWARD)
    assert row["operations"] > 1000
    assert {"prepare_s", *FIGURES} <= row["cardan"].keys()
    assert row["cardan"]["batch"]["cpu"]["low"] <= row["cardan"]["batch"]["cpu"]["median"]
    assert row["pin"]["ratios"]["call"]["rounds"] == found["environment"]["rounds"]
    assert 0 < row["bounds"]["cached"]["pipe"] < 1.5
    assert {"cardan", "pin", "processor", "peak_gflops", "threads"} <= found["environment"].keys()
    assert len(found["targets"]) == len(TARGETS)
    assert found["emitters"][0]["llvm"]["bytes"] > 1000
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "found.html").read_text()
    assert all(text in page for text in ("<svg", "chain10, 10 degrees", "left out of this run", "take turns"))


def test_a_peer_that_fails_says_so_in_its_cell():
    class Broken:
        name, version, how = "pin", "0", ""

        def load(self, robot):
            raise ValueError("this robot is too good for me")

    rows = measure(robot("chain10"), [Broken()], rounds=1, seconds=0.0)
    assert rows[0]["pin"] == {"reason": "ValueError: this robot is too good for me"}
    assert "ValueError: this robot is..." in robot_table(rows, ["pin"])


def test_a_commit_is_not_slower_than_itself(tmp_path):
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("needs a git checkout")
    words = ["compare", "HEAD", "HEAD", "--robots", "chain10", "--starts", "2", "--rounds", "2", "--seconds", "0.001"]
    command = [sys.executable, "-m", "benchmarks", *words, "--allowed", "20"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    assert "slower by more than 2000 %: nothing" in done.stdout
    trees = subprocess.run(["git", "-C", str(ROOT), "worktree", "list"], capture_output=True, text=True).stdout
    assert "cardan-compare-" not in trees


@pytest.mark.parametrize("name", PEERS)
def test_peers_compute_the_same(name):
    found, absent = installed([name])
    if absent:
        pytest.skip(f"needs {name}: {absent[name]}")
    chain = robot("chain10")
    q, v, a, tau = (x[0] for x in chain.states.values())
    ours = {
        quantity.INVERSE: cardan.inverse_dynamics(chain.model, q, v, a),
        quantity.FORWARD: cardan.forward_dynamics(chain.model, q, v, tau),
        quantity.MASS: np.triu(cardan.mass_matrix(chain.model, q)),
    }
    offers = found[0].load(chain)
    for which, expected in ours.items():
        value = offers[which]().value().reshape(expected.shape)
        value = np.triu(value) if which == quantity.MASS else value  # Pinocchio fills the upper half
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
