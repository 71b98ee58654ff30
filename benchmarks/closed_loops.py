"""Loops as clusters beside loops as constraints and their open tree, in turns. `python -m benchmarks.closed_loops`.

Times of a state in nanoseconds, operations, ratios to the tree, and the relative difference of both ways. Then a step
of a world of the humanoid with true ankles, beside that of the serial robot, by how fast they move. Then Pinocchio, a
state a call from Python, beside one call and a state of a batch.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cardan

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))

import linkages

BATCH, ROUNDS = 1024, 11
ROBOTS: dict[str, Callable[[], Any]] = {
    "four-bar": cardan.robots.four_bar,
    "four-bar, frames tilted": lambda: linkages.tilted(cardan.robots.four_bar()),
    "slider-crank": linkages.slider_crank_of_bars,
    "five-bar": cardan.robots.five_bar,
    "parallelogram on three cranks": linkages.parallelogram,
    "Bennett's linkage": linkages.bennett,
    "parallel ankle": linkages.parallel_ankle,
    "leg with that ankle": linkages.leg_with_ankle,
    "leg like Cassie's": linkages.leg,
    "ten four-bars": lambda: linkages.scissor(10),
    "Stewart platform": cardan.robots.stewart_platform,
    "humanoid with two such ankles": linkages.humanoid_with_ankles,
}


def in_turns(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Return the seconds of processor time of each call, the shortest of several rounds in which all take turns."""
    best = [np.inf] * len(calls)
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            call()
            before = time.thread_time()
            for _ in range(10):
                call()
            best[k] = min(best[k], (time.thread_time() - before) / 10)
    return best


def row(name: str) -> str:
    """Return a robot's line of the table."""
    made = ROBOTS[name]()
    loops = made.model(base="floating") if "humanoid" in name else made.model()
    model, tree, rng = cardan.clustered(loops), loops.spanning_tree(), np.random.default_rng(0)
    q = cardan.integrate(model, model.neutral(), 0.1 * rng.normal(size=(BATCH, model.nv)))
    v, tau = 0.5 * rng.normal(size=(2, BATCH, model.nv))
    out = cardan.converter(model, loops)
    x, dx, of_tree = out.configuration(q), out.velocity(q, v), out.effort(q, tau)
    a = out.acceleration(q, v, cardan.forward_dynamics(model, q, v, tau))
    expected = cardan.constrained_forward_dynamics(loops, x, dx, of_tree).accelerations
    ways = ((cardan.forward_dynamics, tree), (cardan.constrained_forward_dynamics, loops))
    calls = [lambda f=f, m=m: f(m, x, dx, of_tree) for f, m in ways]
    times = in_turns([*calls, lambda: cardan.forward_dynamics(model, q, v, tau)])
    programs = [f.program(m).operations for f, m in (*ways, (cardan.forward_dynamics, model))]
    cells = " | ".join(f"{1e9 * t / BATCH:.1f}; {n}" for t, n in zip(times, programs, strict=True))
    ratios = " | ".join(f"{t / times[0]:.2f}" for t in times[1:])
    off = np.abs(a - expected).max() / np.abs(expected).max()
    return f"| {name} ({loops.nv}, {model.nv}) | {cells} | {ratios} | {off:.0e} |"


def step(world: Any, speed: float, standing: bool) -> Callable[[], Any]:
    """Return a call of a step of robots whose joints move so fast [rad/s], in the air or with their feet on ground."""
    model, rng, state = world.model, np.random.default_rng(0), world.state(worlds=BATCH)
    if standing:
        cardan.simulation.stand(state)
    q = state.q if standing else cardan.integrate(model, state.q, 0.1 * rng.normal(size=(BATCH, model.nv)))
    v, count = speed * rng.normal(size=(BATCH, model.nv)), np.zeros(BATCH)
    v[:, :6] *= 0.1
    function = cardan.solvers.Featherstone(world, dt=2e-3).function
    return lambda: function(model, q, v, count)


def print_steps() -> None:
    """Print the second table."""
    serial, true = cardan.robots.humanoid(), linkages.humanoid_with_ankles()
    print("\n| step of a humanoid at | serial | true ankles | true : serial |\n" + "|---" * 4 + "|")
    for standing in (False, True):
        worlds = serial.world("floating", ground=standing), true.world("floating", ground=standing, loops="clusters")
        for speed in (0.5, 5.0):
            times = in_turns([step(world, speed, standing) for world in worlds])
            cells = " | ".join(f"{1e9 * t / BATCH:.0f}" for t in times)
            where = "standing" if standing else "in the air"
            print(f"| {speed} rad/s, {where} | {cells} | {times[1] / times[0]:.2f} |", flush=True)


def print_pinocchio() -> None:
    """Print the third table."""
    import pinocchio as pin

    from test_closed_loops import CASES, in_their_order, their_solver

    print("\n| mechanism | Pinocchio | `lcaba` | one call: loops; cluster | batch: loops; cluster | ratios |")
    print("|---" * 6 + "|")
    for name in ("four_bar", "stewart_platform", "leg", "humanoid"):
        loops, rng = CASES[name](), np.random.default_rng(0)
        model = cardan.clustered(loops)
        q = cardan.integrate(model, model.neutral(), 0.1 * rng.normal(size=(BATCH, model.nv)))
        v, tau = 0.5 * rng.normal(size=(2, BATCH, model.nv))
        out = cardan.converter(model, loops)
        given = out.configuration(q), out.velocity(q, v), out.effort(q, tau)
        calls = []
        for lcaba in (False, True):
            theirs, solve = their_solver(pin, loops, lcaba=lcaba)
            iq, iv = in_their_order(loops, theirs)
            one = [np.ascontiguousarray(x[0, i]) for x, i in zip(given, (iq, iv, iv), strict=True)]
            calls.append(lambda solve=solve, one=one: solve(*one))
        for function, own, states in (
            (cardan.constrained_forward_dynamics, loops, given),
            (cardan.forward_dynamics, model, (q, v, tau)),
        ):
            bound = function.bind(own)
            calls += [lambda f=bound, x=[e[0] for e in states]: f(*x), lambda f=bound, x=states: f(*x)]
        theirs, lcaba, one, batch, own, together = in_turns(calls)
        cells = f"{one * 1e6:.1f}; {own * 1e6:.1f} us | {batch * 1e9 / BATCH:.0f}; {together * 1e9 / BATCH:.0f} ns"
        fastest = min(theirs, lcaba)
        ratios = f"{fastest / own:.1f} a call, {fastest / together * BATCH:.0f} in batches"
        print(f"| {name} | {theirs * 1e6:.1f} us | {lcaba * 1e6:.1f} us | {cells} | {ratios} |", flush=True)


def main() -> None:
    """Print the tables."""
    print("| mechanism (coordinates, freedoms) | tree | loops | cluster | loops : tree | cluster : tree | difference |")
    print("|" + "---|" * 7)
    for name in ROBOTS:
        print(row(name), flush=True)
    print_steps()
    if importlib.util.find_spec("pinocchio"):
        print_pinocchio()


if __name__ == "__main__":
    cardan.set_num_threads(1)
    main()
