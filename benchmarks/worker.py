"""One robot in a process of its own: `python -m benchmarks.worker ROBOT ROUNDS SECONDS FILE PEER ...` writes its rows.

A library that aborts takes this process with it, not the benchmark.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from benchmarks.measure import measure
from benchmarks.peers import installed
from benchmarks.robots import robot

CAREFUL = ("pin", "mujoco")  # with these alone it is tried again; the others bring their own compilers and threads


def rows_of(name: str, peers: list[str], rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Return the rows of a robot, measured in a new process; if that dies, in another with fewer peers."""
    rows, death = _attempt(name, peers, rounds, seconds)
    if not death:
        return rows
    print(f"\n{name}: the process died ({death}); once more without {', '.join(p for p in peers if p not in CAREFUL)}")
    rows, again = _attempt(name, [p for p in peers if p in CAREFUL], rounds, seconds)
    if again:
        print(f"{name}: the process died again ({again})")
    lost = {p: {"reason": f"the process died: {death}"} for p in peers if p not in CAREFUL}
    return [row | lost for row in rows]


def _attempt(name: str, peers: list[str], rounds: int, seconds: float) -> tuple[list[dict[str, Any]], str]:
    """Return the rows, and how the process died; empty if it did not."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "rows.json")
        command = [sys.executable, "-m", "benchmarks.worker", name, str(rounds), str(seconds), str(file), *peers]
        empty = os.environ | {"CARDAN_CACHE_DIR": str(Path(place, "cache"))}  # compile times are first times
        done = subprocess.run(command, capture_output=True, text=True, env=empty)
        if done.returncode == 0:
            return json.loads(file.read_text()), ""
        said = done.stderr.strip().splitlines()
        return [], f"status {done.returncode}" + (f": {said[-1][-120:]}" if said else "")


def main(name: str, rounds: str, seconds: str, file: str, *peers: str) -> None:
    """Measure and write."""
    warnings.simplefilter("ignore")  # what peers say about their settings
    rows = measure(robot(name), installed(list(peers))[0], int(rounds), float(seconds))
    Path(file).write_text(json.dumps(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
