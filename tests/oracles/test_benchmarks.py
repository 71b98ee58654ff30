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
    words = ("--robots", "chain10", "--peers", "pin", "mujoco", "--plot", str(tmp_path / "found.png"))
    out, found = run(tmp_path, *words)
    for text in ("chain10, 10 degrees of freedom", "inverse dynamics", "Targets", "not measured (50x)"):
        assert text in out
    row = next(r for r in found["rows"] if r["quantity"] == quantity.FORWARD)
    assert row["operations"] > 1000
    assert {"prepare_s", "call_s", "one_thread_s", "all_threads_s"} <= row["cardan"].keys()
    assert row["pin"]["call_s"] > 0
    assert {"cardan", "pin", "processor", "peak_gflops", "threads"} <= found["environment"].keys()
    assert len(found["targets"]) == len(TARGETS)
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")


def test_a_peer_that_fails_says_so_in_its_cell():
    class Broken:
        name, version = "pin", "0"

        def load(self, robot):
            raise ValueError("this robot is too good for me")

    rows = measure(robot("chain10"), [Broken()], runs=1, seconds=0.0)
    assert rows[0]["pin"] == {"reason": "ValueError: this robot is too good for me"}
    assert "ValueError: this robot is..." in robot_table(rows, ["pin"])


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
