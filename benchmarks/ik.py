"""`python -m benchmarks ik`: inverse kinematics of random reachable poses, beside pinocchio, pink, mink and newton.

The targets are poses of random configurations within the limits. Everyone begins at the same configurations, one after
the other until a target is reached: those of cardan's own search. What a peer says it has found is looked at by
cardan: within the limits, and all six errors within the tolerance [m, rad]. Peers that take one problem a call get as
many problems as fit in some seconds. All run on one thread, and what counts is CPU time of the process, so that others
on the machine do not; cardan's last line is all threads, by the clock.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.robots import Robot, robot
from cardan._motion.tasks.inverse_kinematics import starts_of
from cardan.robots import urdf_path

ROBOTS = {"arm7": "tool", "panda": "panda_hand"}
"""Robots, and the frame that is to reach."""
PROBLEMS, RESTARTS, TOLERANCE = 10_000, 100, 1e-6
OUTSIDE = 1e-5
"""How far beyond a limit [rad, m] still counts: what a QP is solved to. cardan is within."""
PEERS = {"pinocchio": "ik_peers", "pink": "ik_peers", "mink": "ik_peers", "newton_ik": "ik_newton"}
"""Functions by the module of this folder they are in."""


Clock = Callable[[], float]


@dataclass(frozen=True)
class Problems:
    """Poses a robot is to reach.

    Attributes:
        robot: the robot, fixed.
        frame: name of the body.
        count: how many poses.
    """

    robot: Robot
    frame: str
    count: int

    @cached_property
    def targets(self) -> np.ndarray:
        """Poses, shape (count, 4, 4)."""
        model = self.robot.model
        return cardan.frame_transform(model, model.random_configuration((self.count,), seed=1), self.frame)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where everyone begins, shape (1 + RESTARTS, nq)."""
        return starts_of(self.robot.model, RESTARTS, 0)

    def solved(self, q: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        """Return which of the first targets configurations, shape (n, nq), reach within the limits."""
        model = self.robot.model
        stack = cardan.tasks.Stack(model, cardan.tasks.FramePose(self.frame, self.targets[: len(q)]))
        inside = ((q >= model.lower - OUTSIDE) & (q <= model.upper + OUTSIDE)).all(axis=-1)
        return inside & (np.abs(stack.linearized(q).error).max(axis=-1) <= tolerance)


@dataclass
class Line:
    """A line of the table.

    Attributes:
        label: who, and how.
        problems: how many were tried.
        seconds: what they took.
        solved: share of them that was solved.
        restarts: a problem, on average; None where that is not known.
        note: what else there is to say.
    """

    label: str
    problems: int
    seconds: float
    solved: float
    restarts: float | None = None
    note: str = ""

    @property
    def rate(self) -> float:
        """Problems a second."""
        return self.problems / self.seconds


def cardans(problems: Problems, runs: int) -> list[Line]:
    """Return cardan's lines: a batch on one thread and on all, and single calls."""
    model, threads = problems.robot.model, cardan.num_threads()

    def solve(targets: np.ndarray) -> Any:
        return cardan.inverse_kinematics(model, frame=problems.frame, target=targets, restarts=RESTARTS)

    def line(label: str, clock: Clock = time.process_time) -> Line:
        seconds, found = shortest(lambda: solve(problems.targets), runs, clock)
        return Line(label, problems.count, seconds, problems.solved(found.q).mean(), found.restarts.mean())

    first = time.perf_counter()
    solve(problems.targets[0])
    first = time.perf_counter() - first
    cardan.set_num_threads(1)
    lines = [line("cardan, batch")]
    few = problems.targets[:500]
    seconds, found = shortest(lambda: [solve(X) for X in few], runs)
    q, again = np.array([f.q for f in found]), np.mean([f.restarts for f in found])
    lines.append(Line("cardan, one a call", len(few), seconds, problems.solved(q).mean(), again))
    cardan.set_num_threads(threads)
    lines.append(line(f"cardan, batch, {threads} threads", time.perf_counter))
    lines[0].note = f"the first call, which compiles, takes {first:.1f} s"
    return lines


def shortest(run: Callable[[], Any], runs: int, clock: Clock = time.process_time) -> tuple[float, Any]:
    """Return the shortest time of some runs, and the last result."""
    times = []
    for _ in range(runs):
        started = clock()
        result = run()
        times.append(clock() - started)
    return min(times), result


def one_by_one(
    label: str, problems: Problems, attempt: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, bool]], seconds: float
) -> Line:
    """Return the line of a peer that takes one problem a call: attempt(start, target) -> (q, whether it is there)."""
    attempt(problems.starts[0], problems.targets[0])
    found: list[np.ndarray] = []
    tried, started = 0, time.process_time()
    while len(found) < problems.count and time.process_time() - started < seconds:
        starts, is_there, q = iter(problems.starts), False, problems.starts[0]
        while not is_there and (start := next(starts, None)) is not None:
            q, is_there = attempt(start, problems.targets[len(found)])
            tried += 1
        found.append(q)
    spent = time.process_time() - started
    return Line(label, len(found), spent, problems.solved(np.array(found)).mean(), tried / len(found) - 1.0)


def table(lines: list[Line]) -> str:
    """Return the lines as text, with how many times as fast cardan's first is."""
    rows = [f"{'':34}{'problems':>9}{'solved':>9}{'restarts':>10}{'a second':>11}{'cardan/it':>11}"]
    for line in lines:
        again = "" if line.restarts is None else f"{line.restarts:.2f}"
        ratio = "" if line.label.startswith("cardan") else f"{lines[0].rate / line.rate:.0f}"
        rows.append(
            f"{line.label:34}{line.problems:9}{line.solved:9.2%}{again:>10}{line.rate:11.0f}{ratio:>11}  {line.note}"
        )
    return "\n".join(rows)


def problems_of(name: str, count: int) -> Problems:
    """Return the problems of a robot."""
    which = Robot(name, "fixed", Path(urdf_path(name)).read_text()) if name == "arm7" else robot(name)
    return Problems(which, ROBOTS[name], count)


def main(words: list[str]) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ik", description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS), metavar="NAME")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each peer that takes one problem a call")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="of cardan and newton; the shortest counts")
    parser.add_argument("--json", metavar="FILE", help="write everything that was found")
    args = parser.parse_args(words)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # a line for each step that ends outside the limits by a rounding error
    everything = {}
    for name in args.robots:
        problems = problems_of(name, PROBLEMS)
        lines = cardans(problems, args.runs)
        for peer in args.peers:
            try:
                measure = getattr(importlib.import_module(f"benchmarks.{PEERS[peer]}"), peer)
                lines += measure(problems, args.seconds, args.runs)
            except ImportError as error:
                print(f"{peer}: not installed ({error})")
        print(f"\n{name}, {problems.robot.model.nv} degrees of freedom\n{table(lines)}", flush=True)
        print(f"\n{importlib.import_module('benchmarks.ik_differential').table(problems, args.runs)}", flush=True)
        everything[name] = [asdict(line) | {"rate": line.rate} for line in lines]
    if args.json:
        Path(args.json).write_text(json.dumps(everything, indent=2))
