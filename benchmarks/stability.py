"""`python -m benchmarks.stability`: robots of example-robot-data released from rest, with their limits and damping.

Who diverges at which step: cardan's implicit step, its explicit one, and MuJoCo's implicitfast with the same trees.
A world has diverged if a number is not finite, or if its total energy rises by more than the tenth part of the fall's.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import cardan

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from robots_data import urdf_files

STEPS = (1e-3, 5e-3, 1e-2)
SECONDS = 1.0


def robots() -> Iterator[tuple[str, cardan.World]]:
    """Yield the robots that load, each on its fixed base (floating ones would only fall)."""
    for path in urdf_files():
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


def released(world: cardan.World, dt: float, seconds: float = SECONDS, **options: object) -> str:
    """Return "ok", or what went wrong, of a robot released in the middle of its limits."""
    solver = cardan.solvers.Featherstone(world, dt, contact=None, **options)  # pyright: ignore[reportArgumentType]
    state = world.state(1, q=world.centre())
    start = float(energy(world, state)[0])
    scale = 9.81 * world.model.mass * 0.1
    every = max(1, round(0.01 / dt))
    for _ in range(round(seconds / (every * dt))):
        state = solver.step(state, steps=every)
        if state.diverged.any() or not np.isfinite(state.q).all():
            return f"diverged at {state.time[0]:.3f} s"
        if (now := float(energy(world, state)[0])) > start + scale:
            return f"energy +{now - start:.3g} J at {state.time[0]:.3f} s"
    return "ok"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stability", description=__doc__)
    parser.add_argument("--only", default="", help="robots whose file name has this")
    args = parser.parse_args()
    cardan.set_num_threads(1)
    for name, world in robots():
        if args.only in name:
            row = [released(world, dt) for dt in STEPS]
            print(f"{name:44s} nv {world.model.nv:3d}  " + "  ".join(f"{e:>12s}" for e in row), flush=True)


if __name__ == "__main__":
    main()
