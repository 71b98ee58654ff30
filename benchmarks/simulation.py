"""`python -m benchmarks simulation`: steps of worlds, beside MuJoCo in the same run.

Every figure is CPU time of one thread, a step and a world, the best of rounds in which all subjects take turns: read
ratios. MuJoCo has the same trees, drives and feet, exported by `cardan.interop.to_mjspec`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cardan
from benchmarks.scenes import SCENES, Scene

DT = 2e-3
STEPS = 10
SOLVERS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "panda": [("implicit, 1 pass", {"contact": None, "iterations": 1}), ("implicit, 2 passes", {"contact": None})],
    "anymal": [
        ("no contact, 1 pass", {"contact": None, "iterations": 1}),
        ("compliant, 1 pass", {"contact": "compliant", "iterations": 1}),
        ("convex, 2 iterations", {"contact": "convex", "iterations": 2}),
        ("convex", {"contact": "convex"}),
    ],
    "g1": [
        ("no contact, 1 pass", {"contact": None, "iterations": 1}),
        ("compliant, 1 pass", {"contact": "compliant", "iterations": 1}),
        ("convex, 2 iterations", {"contact": "convex", "iterations": 2}),
        ("convex", {"contact": "convex"}),
    ],
}


@dataclass
class Subject:
    """Something that takes steps.

    Attributes:
        label: in the table.
        run: takes `steps` steps of `worlds` worlds.
        worlds: how many.
        steps: how many.
        operations: of one step's program, if known.
        best: shortest time of a step and world [s].
    """

    label: str
    run: Callable[[], Any]
    worlds: int
    steps: int
    operations: int | None = None
    best: float = field(default=np.inf)

    @property
    def is_free(self) -> bool:
        """Whether nothing touches: compared with peers of which that is true, too."""
        return "no contact" in self.label

    def measure(self, seconds: float) -> None:
        """Take turns for so long, and keep the best."""
        end = time.perf_counter() + seconds
        while True:
            begun = time.thread_time()
            self.run()
            self.best = min(self.best, (time.thread_time() - begun) / (self.worlds * self.steps))
            if time.perf_counter() > end:
                return


def subjects(scene: Scene, batches: tuple[int, ...] = (256, 4096)) -> Iterator[Subject]:
    """Yield cardan's steps of a scene: each solver, in both precisions, of small and large batches."""
    for label, options in SOLVERS[scene.name]:
        solver = cardan.solvers.Featherstone(scene.world, DT, **options)
        operations = solver.function.trace(scene.world.model, "position").program.operations
        for dtype in ("float64", "float32"):
            for worlds in batches:
                state = scene.world.state(worlds, dtype, q=scene.standing)
                control = scene.world.control(worlds, dtype)
                control.position = scene.targets
                out = solver.step(state, control, steps=STEPS)  # settled a little, compiled
                run = _stepper(solver, out, control)
                yield Subject(f"{label}, {dtype}, {worlds}", run, worlds, STEPS, operations)


def _stepper(solver: cardan.solvers.Solver, state: Any, control: Any) -> Callable[[], Any]:
    spare = state.copy()
    return lambda: solver.step(state, control, steps=STEPS, out=spare)


def main(argv: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks simulation", description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args(argv)
    cardan.set_num_threads(1)
    rows = [row for name in args.robots for row in measured(SCENES[name], args.rounds)]
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


def measured(scene: Scene, rounds: int) -> list[dict[str, Any]]:
    """Return the rows of a scene, and print them."""
    ours, peers = list(subjects(scene)), list(peers_of(scene))
    for _ in range(rounds):
        for subject in (*ours, *peers):
            subject.measure(0.05)
    fastest = {free: min((p.best for p in peers if p.is_free == free), default=np.nan) for free in (True, False)}
    print(f"\n{scene.name}, {scene.world.model.nv} degrees of freedom, {len(scene.world.pairs)} contact points")
    for subject in (*peers, *ours):
        count = f"{subject.operations:7d}" if subject.operations else " " * 7
        ratio = fastest[subject.is_free] / subject.best
        print(f"  {subject.label:40s} {count} {subject.best * 1e9:9.0f} ns {ratio:7.1f}x", flush=True)
    return [
        {
            "robot": scene.name,
            "label": s.label,
            "seconds": s.best,
            "operations": s.operations,
            "ratio": fastest[s.is_free] / s.best,
        }
        for s in (*peers, *ours)
    ]


def peers_of(scene: Scene) -> Iterator[Subject]:
    """Yield MuJoCo's steps of a scene, if it is installed."""
    try:
        from benchmarks.simulation_mujoco import steppers
    except ImportError as error:
        print(f"mujoco: not installed ({error})")
        return
    for label, run, worlds, steps in steppers(scene, DT):
        yield Subject(f"mujoco {label}", run, worlds, steps)
