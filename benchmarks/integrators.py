"""`python -m benchmarks.integrators`: what integrators make of energy and momentum.

Three motions that keep their energy are followed for ten seconds in steps of 10, 5 and 1 ms: a double pendulum from the
horizontal, a body without weight that tumbles about its middle axis, a Panda's seven hinges that swing without friction
or stops. The largest error of the energy on the way [J], of the tumbling body's angular momentum (relative), and what a
step of the Panda costs in a batch on one thread. Errors can be compared between machines, times cannot.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

import cardan
from benchmarks.robots import robot
from benchmarks.scenes import ARM
from cardan import Inertia
from cardan.solvers import Featherstone

INTEGRATORS = ("implicit", "semi_implicit", "midpoint", "rk4")
STEPS, SECONDS, BATCH, ROUNDS = (1e-2, 5e-3, 1e-3), 10.0, 1024, 7


class Motion(NamedTuple):
    """A world without friction, and where it begins."""

    name: str
    world: cardan.World
    q: np.ndarray
    v: np.ndarray


def frictionless(mechanism: cardan.Mechanism) -> cardan.World:
    """Return a mechanism's world without damping, friction or stops, of which nothing touches."""
    free = cardan.Mechanism(mechanism.name)
    for body in mechanism.bodies:
        free.add_body(body.name, body.inertia)
    for c in mechanism.joints:
        free.add_joint(c.name, c.joint, c.parent, c.child, c.parent_pose, c.child_pose)
    return free.world()


def motions() -> list[Motion]:
    """Return the motions."""
    pendulum = frictionless(cardan.robots.double_pendulum())
    b = cardan.WorldBuilder("tumbling body", gravity=(0.0, 0.0, 0.0))
    b.add_body("body", inertia=Inertia(1.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25])))
    shut = {"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0}  # they would fall out
    body, arm = b.finalize(), frictionless(cardan.load_mechanism(robot("panda").urdf).lock(shut).mechanism)
    spin = np.array([0.0, 0.0, 0.0, 0.01, 5.0, 0.02])  # rad/s: about the middle axis, which does not last
    return [
        Motion("double pendulum", pendulum, np.array([np.pi / 2, 0.0]), np.zeros(2)),
        Motion("tumbling body", body, body.initial, spin),
        Motion("Panda", arm, np.array(ARM), np.zeros(7)),
    ]


def errors(motion: Motion, integrator: str, dt: float) -> tuple[float, float]:
    """Return the largest errors of energy [J] and, relatively, of angular momentum; nan if the world diverged."""
    model = motion.world.model
    solver = Featherstone(motion.world, dt, integrator=integrator, contact=None)  # pyright: ignore[reportArgumentType]
    path = solver.rollout(motion.world.state(q=motion.q, v=motion.v), steps=round(SECONDS / dt))
    if path.state.diverged.any():
        return np.nan, np.nan
    energy = cardan.kinetic_energy(model, path.q, path.v) + cardan.potential_energy(model, path.q)
    turning = cardan.centroidal_momentum(model, path.q, path.v)[..., 3:]
    size = np.linalg.norm(turning[0])
    off = np.linalg.norm(turning - turning[0], axis=-1).max() / size if size else np.nan
    return float(np.abs(energy - energy[0]).max()), float(off)


def nanoseconds(motion: Motion, integrator: str) -> float:
    """Return the time of a step and world, the shortest of some rounds."""
    solver = Featherstone(motion.world, 1e-3, integrator=integrator, contact=None)  # pyright: ignore[reportArgumentType]
    state, times = motion.world.state(BATCH, q=motion.q, v=motion.v), []
    solver.step(state, steps=10)
    for _ in range(ROUNDS):
        start = time.thread_time()
        solver.step(state, steps=10)
        times.append(time.thread_time() - start)
    return 1e9 * min(times) / BATCH / 10


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m benchmarks.integrators", description=__doc__).parse_args()
    cardan.set_num_threads(1)
    pendulum, body, arm = motions()
    print(f"{'':14s} Panda ns  {'double pendulum':>25s}  {'tumbling body, 10 / 1 ms (dL/L)':>39s}  {'Panda':>25s}")
    for integrator in INTEGRATORS:
        plain, swung = ([errors(m, integrator, dt)[0] for dt in STEPS] for m in (pendulum, arm))
        tumbled = [errors(body, integrator, dt) for dt in (STEPS[0], STEPS[-1])]
        text = "  ".join(f"{energy:.1e} ({momentum:.1e})" for energy, momentum in tumbled)
        columns = ["  ".join(f"{e:.1e}" for e in row) for row in (plain, swung)]
        cost = nanoseconds(arm, integrator)
        print(f"{integrator:14s} {cost:8.0f}  {columns[0]:>25s}  {text:>39s}  {columns[1]:>25s}", flush=True)


if __name__ == "__main__":
    main()
