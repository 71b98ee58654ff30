"""`python -m benchmarks simulation`: steps of worlds, beside MuJoCo and Newton in the same run.

Every figure is CPU time of the process, in which all run on one thread, a step and a world, the best of rounds in which
all subjects take turns: read ratios. MuJoCo has the same trees, drives and feet, exported by
`cardan.interop.to_mjspec`; Newton reads the same URDF text (`simulation_newton`). Ratios are to the fastest of MuJoCo's
ways, and to the fastest of Newton's CPU solvers that does not diverge.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import cardan
from benchmarks.scenes import SCENES, Scene

DT = 2e-3
STEPS = 10
CALLS = 40
KINEMATICS = "panda"
"""The robot whose poses are computed, too."""
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
        library: whose it is.
        operations: of one step's program, if known.
        best: shortest time of a step and world [s].
    """

    label: str
    run: Callable[[], Any]
    worlds: int
    steps: int
    library: str = "cardan"
    operations: int | None = None
    best: float = field(default=np.inf)

    @property
    def is_free(self) -> bool:
        """Whether nothing touches: compared with peers of which that is true, too."""
        return "no contact" in self.label

    @property
    def is_called(self) -> bool:
        """Whether every step of one world is a call from Python."""
        return self.label.endswith("called")

    @property
    def diverges(self) -> bool:
        """Whether its numbers do not stay finite: nobody is compared with it."""
        return "diverges" in self.label

    def measure(self, seconds: float) -> None:
        """Take turns for so long, and keep the best."""
        end = time.perf_counter() + seconds
        while True:
            begun = time.process_time()
            self.run()
            self.best = min(self.best, (time.process_time() - begun) / (self.worlds * self.steps))
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
                yield Subject(f"{label}, {dtype}, {worlds}", run, worlds, STEPS, operations=operations)
        yield Subject(f"{label}, called", _calls(solver, scene), 1, CALLS, operations=operations)


def _calls(solver: cardan.solvers.Featherstone, scene: Scene) -> Callable[[], None]:
    """Return what takes steps of one world, each a call from Python."""
    control = scene.world.control()
    control.position = scene.targets
    advance = solver.stepper(scene.world.state(q=scene.standing), control)

    def run() -> None:
        for _ in range(CALLS):
            advance()

    return run


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
    rows = []
    for name in args.robots:
        rows += measured(SCENES[name], args.rounds)
        if name == KINEMATICS:
            rows += measured_kinematics(SCENES[name], args.rounds)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


def measured(scene: Scene, rounds: int) -> list[dict[str, Any]]:
    """Return the rows of a scene's steps, and print them."""
    ours, peers = list(subjects(scene)), [*mujoco_steps(scene), *newton_steps(scene)]
    _take_turns((*ours, *peers), rounds)
    print(f"\n{scene.name}, {scene.world.model.nv} degrees of freedom, {len(scene.world.pairs)} contact points")
    return _rows(scene, peers, ours, lambda s: (s.is_free, s.is_called))


def measured_kinematics(scene: Scene, rounds: int) -> list[dict[str, Any]]:
    """Return the rows of poses and twists from coordinates and back, and print them."""
    ours, peers = list(kinematics(scene)), list(newton_kinematics(scene))
    _take_turns((*ours, *peers), rounds)
    print(f"\n{scene.name}, poses and twists of {len(scene.world.links)} links from coordinates, and back")
    return _rows(scene, peers, ours, lambda s: s.label.split(", ")[0])


def _take_turns(subjects: Iterable[Subject], rounds: int) -> None:
    for _ in range(rounds):
        for subject in subjects:
            subject.measure(0.05)


def _rows(
    scene: Scene, peers: list[Subject], ours: list[Subject], kind: Callable[[Subject], Any]
) -> list[dict[str, Any]]:
    """Return what was measured, and print it; compared is what is of the same kind."""
    print(f"  {'':40s} {'operations':>10s} {'time':>12s} {'MuJoCo':>8s} {'Newton':>8s}")
    rows = []
    for s in (*peers, *ours):
        alike = [p for p in peers if kind(p) == kind(s) and not p.diverges]
        ratios = [
            min((p.best for p in alike if p.library == name), default=np.nan) / s.best for name in ("mujoco", "newton")
        ]
        shown = " ".join(f"{x:7.1f}x" if np.isfinite(x) else f"{'-':>8s}" for x in ratios)
        name = s.label if s.library == "cardan" else f"{s.library} {s.label}"
        print(f"  {name:40s} {s.operations or '':>10} {s.best * 1e9:9.0f} ns {shown}", flush=True)
        row = {"robot": scene.name, "label": name, "seconds": s.best, "operations": s.operations}
        rows.append(row | dict(zip(("ratio", "newton_ratio"), ratios, strict=True)))
    return rows


def kinematics(scene: Scene, worlds: int = 4096) -> Iterator[Subject]:
    """Yield cardan's poses and twists from coordinates, and back, in both precisions."""
    model = scene.world.model
    for dtype in ("float64", "float32"):
        q, v = (np.tile(x, (worlds, 1)).astype(dtype) for x in (scene.standing, np.ones(model.nv)))
        poses, twists = cardan.eval_fk(model, q, v)
        forth = partial(cardan.eval_fk, model, q, v)
        back = partial(cardan.eval_ik, model, poses, twists, residual=False)
        for label, run in {"eval_fk": forth, "eval_ik": back}.items():
            run()  # compiled
            yield Subject(f"{label}, {dtype}, {worlds}", run, worlds, 1)


def mujoco_steps(scene: Scene) -> Iterator[Subject]:
    """Yield MuJoCo's steps of a scene, if it is installed."""
    try:
        from benchmarks.simulation_mujoco import steppers
    except ImportError as error:
        print(f"mujoco: not installed ({error})")
        return
    for stepper in steppers(scene, DT):
        yield Subject(*stepper, library="mujoco")


def newton_steps(scene: Scene) -> Iterator[Subject]:
    """Yield the steps of Newton's solvers, if it is installed."""
    try:
        from benchmarks.simulation_newton import steppers
    except ImportError as error:
        print(f"newton: not installed ({error})")
        return
    for stepper in steppers(scene, DT):
        yield Subject(*stepper, library="newton")


def newton_kinematics(scene: Scene) -> Iterator[Subject]:
    """Yield Newton's eval_fk and eval_ik, if it is installed."""
    try:
        from benchmarks import simulation_newton
    except ImportError:
        return  # said before
    for stepper in simulation_newton.kinematics(scene):
        yield Subject(*stepper, library="newton")
