"""What a new process waits for: importing cardan, and the first call of a program that is in the disk cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.robots import Robot

_IMPORT = """
import time, numpy
started = time.process_time()
import cardan
print(time.process_time() - started)
"""
_FIRST_CALL = """
import sys, time, warnings
import numpy as np
began = time.process_time()
import cardan
warnings.simplefilter("ignore")
model = cardan.load(open(sys.argv[1]).read(), base=sys.argv[2])
function = getattr(cardan, sys.argv[3])
q, v = model.random_configuration(seed=0), np.zeros(model.nv)
started = time.process_time()
function(model, q, v, v)
ended = time.process_time()
print(ended - started, ended - began)
"""
FIRST = {"inverse_dynamics": "first_call_s", "forward_dynamics_derivatives": "first_derivatives_s"}
"""Functions, and the names of their first call's time."""


def import_seconds(runs: int) -> float:
    """Return processor seconds to import cardan where numpy already is, the shortest of several processes."""
    return min(float(_in_new_process(_IMPORT)) for _ in range(runs))


def first_call(robot: Robot, runs: int) -> dict[str, float]:
    """Return processor seconds of the first call in a new process of programs that are in the disk cache.

    The time until there is a result, `ready_s`, is that of importing cardan, loading the robot and the first call.
    """
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "robot.urdf")
        file.write_text(robot.urdf)
        found = {what: _first(str(file), robot.base, name, runs) for name, what in FIRST.items()}
    return {what: first for what, (first, _) in found.items()} | {"ready_s": found["first_call_s"][1]}


def _first(file: str, base: str, name: str, runs: int) -> tuple[float, ...]:
    found = [_in_new_process(_FIRST_CALL, file, base, name) for _ in range(runs + 1)]
    return tuple(
        map(min, zip(*(map(float, line.split()) for line in found[1:]), strict=True))
    )  # the first fills the cache


def _in_new_process(code: str, *words: str) -> str:
    """Return what code prints, run as an installed package is: with its bytecode kept."""
    with_bytecode = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=with_bytecode).stdout
