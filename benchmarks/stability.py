"""`python -m benchmarks.stability`: robots of example-robot-data released from rest, with their limits and damping.

Who diverges at which step: cardan's implicit step, its semi-implicit one (which takes no limits), MuJoCo's implicitfast
with the same trees and, where `newton` is installed, its CPU solvers. A world has diverged (`nan`) if its numbers are
not finite or a solver gave it up, and gains energy (`E`) if kinetic and potential energy rise above those of the
beginning by more than all its mass gives in falling by 0.1 m; both with the time at which it was seen [s].
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import cardan

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from robots_data import urdf_files

STEPS = (1e-4, 1e-3, 5e-3, 1e-2)
SECONDS = 1.0
FALL = 0.1  # [m], by which all mass would have to rise


def implicit(world: cardan.World, dt: float) -> cardan.solvers.Solver:
    """Return cardan's default."""
    return cardan.solvers.Featherstone(world, dt, contact=None)


def explicit(world: cardan.World, dt: float) -> cardan.solvers.Solver:
    """Return cardan's semi-implicit Euler method, explicit in all forces."""
    return cardan.solvers.Featherstone(world, dt, integrator="semi_implicit", contact=None, limits=False)


SOLVERS: dict[str, Callable[[cardan.World, float], cardan.solvers.Solver]] = {
    "implicit": implicit,
    "explicit": explicit,
    "MuJoCo": cardan.solvers.MuJoCo,
}


def newton_solvers() -> dict[str, Callable[[cardan.World, float], Callable[[float, float], str]]]:
    """Return what steps a world with each of Newton's solvers; none where it is not installed."""
    try:
        from benchmarks import stability_newton
    except ImportError:
        return {}
    return {f"newton {name}": stability_newton.solver(name) for name in stability_newton.NAMES}


def robots(only: str = "") -> Iterator[tuple[str, cardan.World]]:
    """Yield the robots that load, each on its fixed base (floating ones would only fall)."""
    for path in urdf_files():
        if only not in path.name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mechanism = cardan.load_mechanism(path).without_massless_leaves().mechanism
                world = mechanism.world(self_collision=False)
            except cardan.CardanError:
                continue
        if world.model.nv:
            yield path.name, world


def energy(world: cardan.World, state: cardan.State) -> np.ndarray:
    """Return kinetic and potential energy of each world."""
    return cardan.kinetic_energy(world.model, state.q, state.v) + cardan.potential_energy(world.model, state.q)


def released(world: cardan.World, solver: cardan.solvers.Solver, seconds: float = SECONDS) -> str:
    """Return "ok", or what went wrong and when, of a robot released in the middle of its limits."""
    state = world.state(1, q=world.centre())
    start = float(energy(world, state)[0])
    scale = 9.81 * world.model.mass * FALL
    every = max(1, round(0.01 / solver.dt))
    for _ in range(round(seconds / (every * solver.dt))):
        state = solver.step(state, steps=every)
        if state.diverged.any() or not np.isfinite(state.q).all():
            return f"nan {state.time[0]:.2f}"
        if not float(energy(world, state)[0]) <= start + scale:
            return f"E {state.time[0]:.2f}"
    return "ok"


def outcome(world: cardan.World, solver: str, dt: float) -> str:
    """Return what comes of a robot with a solver, or that the solver does not take it."""
    try:
        if solver in SOLVERS:
            return released(world, SOLVERS[solver](world, dt))
        return newton_solvers()[solver](world, dt)(SECONDS, 9.81 * world.model.mass * FALL)
    except (cardan.CardanError, ValueError, RuntimeError):  # the last two of Newton
        return "refused"


def main() -> None:
    """Print the table, and how many of the robots each solver holds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stability", description=__doc__)
    parser.add_argument("--only", default="", help="robots whose file name has this")
    known = [*SOLVERS, *newton_solvers()]
    parser.add_argument("--solvers", nargs="+", choices=known, default=known)
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS, help="[s]")
    args = parser.parse_args()
    cardan.set_num_threads(1)
    held: Counter[tuple[str, float]] = Counter()
    columns = [(solver, dt) for solver in args.solvers for dt in args.steps]
    heads = [f"{solver.split()[-1][:7]} {1e3 * dt:g}" for solver, dt in columns]
    print(f"{'robot':34s} nv  " + " ".join(f"{head:>11s}" for head in heads), flush=True)
    count = 0
    for name, world in robots(args.only):
        row = {(solver, dt): outcome(world, solver, dt) for solver, dt in columns}
        held.update(column for column, found in row.items() if found == "ok")
        count += 1
        print(f"{name:34s} {world.model.nv:2d}  " + " ".join(f"{row[c]:>11s}" for c in columns), flush=True)
    print(f"{f'ok of {count}':38s}" + " ".join(f"{held[c]:>11d}" for c in columns))


if __name__ == "__main__":
    main()
