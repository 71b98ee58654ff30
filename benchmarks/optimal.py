"""`python -m benchmarks optimal`: controls of least cost for a Panda, beside Crocoddyl on the same problem.

100 knots of 10 ms, quadratic costs, from zero controls. The two take turns on one thread. Printed is the least
processor time of several rounds, and the cost after each iteration, which is the same to the last digits in the end.

Gravity is off in both. With it, forward dynamics of Crocoddyl 3.2.1 beside Pinocchio 4.1.0 leave gravity out, and their
derivatives do not: its descent then ends where the cost is a thousandth above the least.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import cardan
from benchmarks.robots import robot

DT, KNOTS = 0.01, 100
START = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8])
GOAL = np.array([1.2, 0.4, -0.5, -1.2, 0.5, 2.2, 0.0])
FINGERS = "panda_finger_joint1", "panda_finger_joint2"
TOLERANCE = 1e-9


@cardan.function(shapes={"u": ("nv",)})
def step(model, q, v, u):
    """Return the state after a semi-implicit step."""
    v_next = v + DT * cardan.forward_dynamics(model, q, v, u)
    return cardan.integrate(model, q, DT * v_next), v_next


@cardan.function(shapes={"u": ("nv",), "goal": ("nq",)}, returns=())
def cost(model, q, v, u, goal):
    """Return what a knot costs."""
    e = cardan.difference(model, goal, q)
    return 0.5 * DT * (0.1 * (e @ e + v @ v) + 1e-3 * (u @ u))


@cardan.function(shapes={"goal": ("nq",)}, returns=())
def final_cost(model, q, v, goal):
    """Return what the last state costs."""
    e = cardan.difference(model, goal, q)
    return 50.0 * (e @ e + v @ v)


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks optimal", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args(given)
    cardan.set_num_threads(1)
    solvers: dict[str, Callable[[int | None], tuple[float, int]]] = {"cardan": ours()}
    try:
        solvers["Crocoddyl"] = theirs()
    except ImportError as error:
        print(f"Crocoddyl: not measured ({error})")
    best = dict.fromkeys(solvers, np.inf)
    counts = {name: solve(None)[1] for name, solve in solvers.items()}
    for _ in range(args.rounds):
        for name, solve in solvers.items():
            started = time.thread_time()
            solve(None)
            best[name] = min(best[name], time.thread_time() - started)
    print("| | iterations | ms in all | ms an iteration |\n|---|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {counts[name]} | {1e3 * seconds:.2f} | {1e3 * seconds / counts[name]:.2f} |")
    print(f"\n| iteration | {' | '.join(solvers)} |\n|---|{'---|' * len(solvers)}")
    for k in range(1, 9):
        print(f"| {k} | {' | '.join(f'{solve(k)[0]:.15g}' for solve in solvers.values())} |")


def ours() -> Callable[[int | None], tuple[float, int]]:
    """Return what solves the problem in some iterations, or to the tolerance: the cost and the iterations."""
    mechanism, _ = cardan.load_mechanism(robot("panda").urdf).lock(dict.fromkeys(FINGERS, 0.0))
    model = replace(mechanism.model(), gravity=(0.0, 0.0, 0.0))
    problem, still, u = cardan.optimal.Problem(model, step, cost, final_cost), np.zeros(7), np.zeros((KNOTS, 7))

    def solve(iterations: int | None) -> tuple[float, int]:
        limits = {"iterations": 200, "tolerance": TOLERANCE}
        limits |= {"iterations": iterations, "tolerance": 1e-30} if iterations else {}
        found = cardan.optimal.solve(problem, START, still, u, {"goal": GOAL}, **limits)
        return float(found.cost), int(found.iterations)

    return solve


def theirs() -> Callable[[int | None], tuple[float, int]]:
    """Return the same by Crocoddyl's FDDP; ImportError without it."""
    import crocoddyl
    import pinocchio as pin

    whole = pin.buildModelFromXML(robot("panda").urdf)
    model = pin.buildReducedModel(whole, [whole.getJointId(name) for name in FINGERS], pin.neutral(whole))
    model.gravity.linear = np.zeros(3)
    state = crocoddyl.StateMultibody(model)
    goal = np.concatenate([GOAL, np.zeros(7)])

    def node(weight: float, effort: float, dt: float) -> Any:
        costs = crocoddyl.CostModelSum(state)
        residual = crocoddyl.ResidualModelState(state, goal, 7)
        costs.addCost("x", crocoddyl.CostModelResidual(state, residual), weight)
        if effort:
            residual = crocoddyl.ResidualModelControl(state, 7)
            costs.addCost("u", crocoddyl.CostModelResidual(state, residual), effort)
        full = crocoddyl.ActuationModelFull(state)
        return crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, full, costs), dt
        )

    start = np.concatenate([START, np.zeros(7)])
    problem = crocoddyl.ShootingProblem(start, [node(0.1, 1e-3, DT)] * KNOTS, node(1e2, 0.0, 0.0))
    problem.nthreads = 1
    u = [np.zeros(7)] * KNOTS
    x = problem.rollout(u)

    def solve(iterations: int | None) -> tuple[float, int]:
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = 1e-30 if iterations else TOLERANCE
        solver.solve(x, u, iterations or 200, True, 1e-9)
        return solver.cost, solver.iter

    return solve
