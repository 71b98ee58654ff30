"""What code generation costs: each function of a robot compiled in a new process, by each emitter of machine code.

`python -m benchmarks.emitters ROBOT FUNCTION` is that process: it prints what it found, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from typing import Any

from benchmarks.quantities import QUANTITIES
from benchmarks.robots import robot

EMITTERS = ("llvm", "direct")
"""What CARDAN_EMITTER may say; a version of cardan that does not know one leaves its column empty."""


def compiled(robot_name: str, quantity: str, emitter: str) -> dict[str, Any]:
    """Return what a fresh process found, or the reason why it found nothing."""
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {"CARDAN_CACHE_DIR": place, "CARDAN_EMITTER": emitter}
        command = [sys.executable, "-m", "benchmarks.emitters", robot_name, quantity]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        return {"reason": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1][-120:]}
    return json.loads(done.stdout)


def table(robot_name: str) -> list[dict[str, Any]]:
    """Return a row for each quantity of a robot; only one column where this cardan has one emitter."""
    which = robot(robot_name)
    quantities = [q.label for q in QUANTITIES if which.model.nv <= q.largest and q.ours() is not None]
    emitters = EMITTERS if has_choice() else EMITTERS[:1]
    return [
        {"robot": robot_name, "quantity": q} | {e: compiled(robot_name, q, e) for e in emitters} for q in quantities
    ]


def has_choice() -> bool:
    """Return whether this cardan has more than one emitter: whether it refuses one that does not exist."""
    return "reason" in compiled("chain10", QUANTITIES[0].name, "no such emitter")


def main(robot_name: str, quantity_name: str) -> None:
    """Compile, time, print."""
    from benchmarks.measure import our_calls
    from benchmarks.timing import stretch

    warnings.simplefilter("ignore")
    (quantity,) = (q for q in QUANTITIES if q.label == quantity_name)
    which, function = robot(robot_name), quantity.ours()
    assert function is not None
    options = quantity.options(which)
    trace = _cpu(lambda: function.program(which.model, **options))
    calls = our_calls(function, which, options)
    code = _cpu(calls.value)
    report = function.explain(which.model, **options)
    size = re.search(r"(\d+) bytes of machine code", report if isinstance(report, str) else str(report))
    assert calls.cached is not None
    state = min(stretch(calls.cached, calls.few, 0.05)[1] for _ in range(5))
    found = {"trace_s": trace, "code_s": code, "bytes": int(size.group(1)) if size else None, "state_s": state}
    print(json.dumps(found))


def _cpu(run: Any) -> float:
    from time import process_time

    before = process_time()
    run()
    return process_time() - before


if __name__ == "__main__":
    main(*sys.argv[1:])
