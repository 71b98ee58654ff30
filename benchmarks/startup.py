"""What a new process waits for: importing cardan, and the first call of a program that is in the disk cache."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.robots import Robot

_IMPORT = """
import time, numpy
started = time.perf_counter()
import cardan
print(time.perf_counter() - started)
"""
_FIRST_CALL = """
import json, sys, time, warnings
import numpy as np
import cardan
warnings.simplefilter("ignore")
model = cardan.load(open(sys.argv[1]).read(), base=sys.argv[2])
q, v = model.random_configuration(seed=0), np.zeros(model.nv)
started = time.perf_counter()
cardan.inverse_dynamics.program(model)
traced = time.perf_counter()
cardan.inverse_dynamics(model, q, v, v)
print(json.dumps({"trace_s": traced - started, "load_s": time.perf_counter() - traced}))
"""


def import_seconds(runs: int) -> float:
    """Return seconds to import cardan where numpy already is, the shortest of several processes."""
    return min(float(_in_new_process(_IMPORT)) for _ in range(runs))


def first_call(robot: Robot, runs: int) -> dict[str, float]:
    """Return seconds of the first inverse dynamics in a new process, cache filled: to trace, and to load and run."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "robot.urdf")
        file.write_text(robot.urdf)
        found = [json.loads(_in_new_process(_FIRST_CALL, str(file), robot.base)) for _ in range(runs + 1)]
    return min(found[1:], key=lambda f: f["trace_s"] + f["load_s"])  # the first fills the cache


def _in_new_process(code: str, *words: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True).stdout
