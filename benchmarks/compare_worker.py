"""One commit's side of `benchmarks.compare`: reads questions, a line each, and answers.

It stands alone and uses what cardan has had since its first version, as it is run with any commit's.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cardan

STATES, FEW, CALLS = 4096, 256, 200
LARGEST = 2**28  # bytes of results of a batch


class Jobs:
    """What can be measured, made when it is first asked for."""

    def __init__(self, files: dict[str, str]) -> None:
        self.known = {name: json.loads(Path(file).read_text()) for name, file in files.items()}
        self.models: dict[str, Any] = {}
        self.ready: dict[tuple[str, str], Any] = {}

    def prepare(self, robot: str, quantity: str, figure: str) -> str | None:
        """Make a figure ready; return why it cannot be, or None."""
        try:
            self._runs(robot, quantity)[figure][0]()
        except Exception as error:  # whatever another commit may raise
            return f"{type(error).__name__}: {error}"
        return None

    def measure(self, robot: str, quantity: str, figure: str, seconds: float) -> float:
        """Return processor seconds of a state, from calls that take so long together."""
        run, states = self._runs(robot, quantity)[figure]
        run()
        count, started, wall = 0, time.process_time(), time.perf_counter()
        while count == 0 or time.perf_counter() - wall < seconds:
            run()
            count += states
        return (time.process_time() - started) / count

    def _runs(self, robot: str, quantity: str) -> dict[str, Any]:
        if (robot, quantity) not in self.ready:
            self.ready[robot, quantity] = self._made(robot, quantity)
        return self.ready[robot, quantity]

    def _made(self, robot: str, quantity: str) -> dict[str, Any]:
        description = self.known[robot]
        if robot not in self.models:
            self.models[robot] = cardan.load(description["urdf"], base=description["base"])
        model, options = self.models[robot], description["options"][quantity]
        function = getattr(cardan, description["functions"][quantity])
        program = function.program(model, **options)
        fast = function.bind(model, **options)
        states = min(STATES, max(64, LARGEST // (8 * len(program.results) + 8)))
        arrays = [_random(model, a, states, k) for k, a in enumerate(program.inputs)]
        few, one = ([a[:size].copy() for a in arrays] for size in (FEW, 1))
        single = [a[0] for a in one]
        return {
            "batch": (lambda: fast(*arrays), states),
            "cached": (lambda: fast(*few), FEW),
            "call": (lambda: [fast(*single) for _ in range(CALLS)] and None, CALLS),
        }


def _random(model: Any, array: Any, states: int, seed: int) -> np.ndarray:
    if array.name in ("q", "q0", "q1"):
        return model.random_configuration((states,), seed=seed)
    return np.random.default_rng(seed).normal(size=(states, *array.shape))


def main(files: str) -> None:
    """Answer until there are no more questions."""
    warnings.simplefilter("ignore")
    jobs = Jobs(json.loads(files))
    for line in sys.stdin:
        verb, *words = json.loads(line)
        print(json.dumps({"where": where, "prepare": jobs.prepare, "measure": jobs.measure}[verb](*words)), flush=True)


def where() -> str:
    """Return which cardan this is."""
    return str(Path(cardan.__file__).resolve())


if __name__ == "__main__":
    main(*sys.argv[1:])
