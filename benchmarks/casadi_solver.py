"""`python -m benchmarks casadi_solver`: a minimum-time motion by IPOPT, with forward dynamics in CasADi made four ways.

The seven-joint arm goes from one pose to another, 30 knots, bounds on efforts and speeds, exact Hessians. The ways take
turns; printed are the least wall times of several rounds [s]: of all, and within it of Hessians and Jacobians.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import cardan
from cardan.interop.casadi import wrap

KNOTS = 30


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks casadi_solver", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(given)
    model = cardan.robots.arm7().model()
    warnings.simplefilter("ignore")
    made = {what: timed(make) for what, make in ways(model).items()}
    best: dict[str, list[float]] = {}
    for _ in range(args.rounds):
        for what, (function, _) in made.items():
            figures = minimum_time(model, function)
            best[what] = [*np.minimum(best.get(what, figures)[:3], figures[:3]), *figures[3:]]
    print("| forward dynamics as | solve [s] | Hessians [s] | Jacobians [s] | iterations | T [s] | to make [s] |")
    print("|---|---|---|---|---|---|---|")
    for what, (_, seconds) in made.items():
        figures = " | ".join(f"{figure:.4g}" for figure in best[what])
        print(f"| {what} | {figures} | {seconds:.2f} |")


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call gives, and how long it takes."""
    started = time.perf_counter()
    return make(), time.perf_counter() - started


def ways(model: Any) -> dict[str, Callable[[], Any]]:
    """Return what makes forward dynamics of all knots, by name."""
    return {
        "SX, mapped": lambda: symbolic(model).map(KNOTS),
        "wrap, mapped": lambda: wrap(cardan.forward_dynamics, model).map(KNOTS),
        f"wrap, states={KNOTS}": lambda: wrap(cardan.forward_dynamics, model, states=KNOTS),
        f"wrap, states={KNOTS}, a callback": lambda: wrap(cardan.forward_dynamics, model, states=KNOTS, compiler=""),
    }


def symbolic(model: Any) -> Any:
    """Return forward dynamics as CasADi differentiates it by itself."""
    import casadi

    x = [casadi.SX.sym(name, model.nv) for name in ("q", "v", "tau")]
    return casadi.Function("F", x, [casadi.vertcat(*cardan.forward_dynamics(model, *map(casadi.vertsplit, x)))])


def minimum_time(model: Any, function: Any) -> list[float]:
    """Return the seconds of a solve, of its Hessians and Jacobians, its iterations, and the time of the motion."""
    import casadi

    n = model.nv
    start, goal = np.zeros(n), np.array([1.2, 0.8, -0.5, 0.9, 0.5, 0.6, 0.0])
    opti = casadi.Opti()
    q, v, u, T = (opti.variable(*size) for size in ((n, KNOTS + 1), (n, KNOTS + 1), (n, KNOTS), (1, 1)))
    h, efforts = T / KNOTS, np.where(np.isfinite(model.effort_upper), model.effort_upper, 50.0)
    opti.minimize(T + 1e-6 * casadi.sumsqr(u))
    opti.subject_to(opti.bounded(0.1, T, 5.0))
    opti.subject_to(opti.bounded(-np.tile(efforts, KNOTS), casadi.vec(u), np.tile(efforts, KNOTS)))
    opti.subject_to(opti.bounded(-2.5, casadi.vec(v), 2.5))
    q_mid, v_mid = (q[:, :-1] + q[:, 1:]) / 2, (v[:, :-1] + v[:, 1:]) / 2
    opti.subject_to(casadi.vec(q[:, 1:] - q[:, :-1] - h * v_mid) == 0)
    opti.subject_to(casadi.vec((v[:, 1:] - v[:, :-1]) / h - function(q_mid, v_mid, u)) == 0)
    for given, wanted in ((q[:, 0], start), (q[:, KNOTS], goal), (v[:, 0], 0.0), (v[:, KNOTS], 0.0)):
        opti.subject_to(given == wanted)
    opti.set_initial(T, 2.0)
    opti.set_initial(q, np.linspace(start, goal, KNOTS + 1).T)
    opti.solver("ipopt", {"print_time": 0}, {"print_level": 0, "sb": "yes", "max_iter": 500})
    solution, seconds = timed(opti.solve)
    stats = solution.stats()
    return [seconds, stats["t_wall_nlp_hess_l"], stats["t_wall_nlp_jac_g"], stats["iter_count"], solution.value(T)]
