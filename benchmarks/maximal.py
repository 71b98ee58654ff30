"""`python -m benchmarks.maximal`: steps in maximal coordinates beside generalised ones.

Each mechanism is released and steps of 1 ms are taken: what a step costs in a batch on one thread, the error of the
energy at the end, the largest gap of a joint on the way, and how far the centre of mass is from where Runge and Kutta's
fourth order has it. Ratios of times and all errors can be compared between machines, times cannot.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import cardan
from benchmarks.robots import robot
from cardan._dynamics.algorithms import stepping
from cardan._motion.maximal_steps import Closing, Efforts, rigid_start, semi_implicit_step, variational, xpbd

STEP, BATCH, ROUNDS = 1e-3, 1024, 5


class Case(NamedTuple):
    """A mechanism, where it begins, and for how long it moves."""

    name: str
    model: Any
    q: np.ndarray
    v: np.ndarray
    seconds: float


def cases() -> list[Case]:
    """Return the mechanisms."""
    pendulum, bars, panda = cardan.robots.double_pendulum().model(), cardan.robots.four_bar().model(), robot("panda")
    q = cardan.assemble(bars, [0.5, 0.0, 0.0], fixed=("crank_joint",))
    v = cardan.project_velocity(bars, q, [2.0, 0.0, 0.0], fixed=("crank_joint",))
    arm = panda.model
    return [
        Case("double pendulum, from the horizontal", pendulum, np.array([np.pi / 2, 0.0]), np.zeros(2), 2.0),
        Case("four-bar, crank at 2 rad/s", bars, q, v, 0.5),
        Case("Panda, falling", arm, arm.neutral(), np.zeros(arm.nv), 0.5),
    ]


def generalised(name: str) -> Any:
    """Return a step of an integrator in generalised coordinates."""

    @cardan.function
    def generalised_step(model: Any, q: Any, v: Any) -> dict[str, Any]:
        def rate(q: Any, v: Any) -> Any:
            still = [0.0] * model.nv
            if model.closures:
                return cardan.constrained_forward_dynamics.kernel(model, q, v, still).accelerations
            return cardan.forward_dynamics.kernel(model, q, v, still)

        moved = getattr(stepping, name)(model, q, v, rate, STEP)
        return {"q": moved.q, "v": moved.v}

    return generalised_step


def maximal(take: Callable[..., Any], substeps: int = 1) -> Any:
    """Return a step in maximal coordinates."""

    @cardan.function
    def maximal_step(model: Any, q: Any, v: Any) -> dict[str, Any]:
        gaps = []
        for _ in range(substeps):
            step = take(_without_efforts, model, q, v, STEP / substeps)
            q, v, gaps = step.q, step.v, gaps + step.gaps
        return {"q": q, "v": v, "gaps": gaps}

    return maximal_step


def rigid(closing: Closing, substeps: int = 1) -> Any:
    """Return a step that closes joints in some way."""
    return maximal(lambda acting, *state: acting(rigid_start(closing, *state)), substeps)


def _without_efforts(begun: Any, *_: Any) -> Any:
    none = [0.0] * len(begun.q)
    return begun.finish(Efforts(none, none))


METHODS = {
    "generalised, semi-implicit": generalised("semi_implicit"),
    "variational, 1 iteration": rigid(variational(1)),
    "variational, 2 iterations": rigid(variational(2)),
    "XPBD, 1 iteration": rigid(xpbd(1)),
    "XPBD, 4 iterations": rigid(xpbd(4)),
    "XPBD, 5 substeps of 1": rigid(xpbd(1), 5),
    "semi-implicit, 4 parts": maximal(semi_implicit_step),
}


def energy(model: Any, q: Any, v: Any) -> float:
    """Return the energy [J]."""
    return float(cardan.kinetic_energy(model, q, v) + cardan.potential_energy(model, q))


def moved(step: Any, case: Case) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the last state, and the largest gap."""
    q, v, gap = case.q, case.v, 0.0
    bound = step.bind(case.model)
    for _ in range(round(case.seconds / STEP)):
        found = bound(q, v)
        q, v = found["q"], found["v"]
        gap = max(gap, float(np.abs(found.get("gaps", np.zeros(1))).max(initial=0.0)))
    if case.model.closures:
        gap = max(gap, float(np.abs(cardan.loop_residual(case.model, q)).max()))
    return q, v, gap


def nanoseconds(step: Any, case: Case) -> float:
    """Return the time of a step in a batch, the shortest of some rounds."""
    q, v = (np.broadcast_to(x, (BATCH, x.size)).copy() for x in (case.q, case.v))
    bound, times = step.bind(case.model), []
    for _ in range(ROUNDS):
        start = time.thread_time()
        bound(q, v)
        times.append(time.thread_time() - start)
    return 1e9 * min(times) / BATCH


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.maximal", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="leave out the arm, whose programs take a minute to compile"
    )
    quick = parser.parse_args().quick
    cardan.set_num_threads(1)
    columns = (
        "mechanism",
        "step of 1 ms",
        "operations",
        "ns a step",
        "energy error [J]",
        "gap [m, rad]",
        "com error [m]",
    )
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for case in cases()[: 2 if quick else None]:
        q, _, _ = moved(generalised("rk4"), case)
        com, before = cardan.center_of_mass(case.model, q), energy(case.model, case.q, case.v)
        for name, step in METHODS.items():
            q, v, gap = moved(step, case)
            off = float(np.linalg.norm(cardan.center_of_mass(case.model, q) - com))
            figures = f"{step.program(case.model).operations} | {nanoseconds(step, case):.0f}"
            errors = f"{energy(case.model, q, v) - before:+.1e} | {gap:.1e} | {off:.1e}"
            print(f"| {case.name} | {name} | {figures} | {errors} |", flush=True)


if __name__ == "__main__":
    main()
