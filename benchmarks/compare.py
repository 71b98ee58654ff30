"""`python -m benchmarks compare OLD [NEW]`: is a commit slower than another? NEW is the working tree if it is not given.

Both are checked out, each into a temporary worktree, and run in a process of their own with an empty cache. They take turns:
in each round both measure the same figure, one right after the other, in the order ABBA. What is compared is the ratio
of processor times of a round, new over old: a slow moment of the machine slows both. The exit status is 1 if something
became slower by more than `--allowed`, and beyond the spread: if so says the lower quartile of its ratios, too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.quantities import QUANTITIES
from benchmarks.report import duration
from benchmarks.robots import NAMES, robot
from benchmarks.spread import Spread, ratios
from cardan.cli.options import table

ROOT = Path(__file__).parents[1]
FIGURES = ("batch", "cached", "call")
SECONDS = 0.02


@dataclass
class Pair:
    """One figure of one quantity of one robot, of both commits.

    Attributes:
        job: [robot, quantity, figure].
        old, new: processor seconds of a state, a number for each round.
    """

    job: tuple[str, str, str]
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> Spread:
        """How many times as long as the old commit the new one takes."""
        return ratios(self.new, self.old)

    def slower(self, allowed: float) -> bool:
        """Return whether it became slower by more than a fraction, and three quarters of the rounds say so."""
        return self.ratio.low > 1.0 + allowed


class Side:
    """A process that has one commit's cardan, and measures what it is told."""

    def __init__(self, tree: Path, place: Path, files: dict[str, str]) -> None:
        place.mkdir()
        environment = {k: v for k, v in os.environ.items() if k != "CARDAN_TARGET"}
        environment |= {"PYTHONPATH": str(tree / "src"), "CARDAN_CACHE_DIR": str(place), "CARDAN_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).with_name("compare_worker.py")), json.dumps(files)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=place
        )

    def ask(self, *words: Any) -> Any:
        """Return the answer to a question.

        Raises:
            RuntimeError: if the process died.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process of one commit ended with status {self.process.wait()} at {words}")
        return json.loads(answer)

    def end(self) -> None:
        """Let it go."""
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def checked_out(commit: str | None, place: Path) -> Iterator[Path]:
    """Give a commit's files in a temporary worktree; those of the working tree for None."""
    if commit is None:
        yield ROOT
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(place), commit], check=True)
    try:
        yield place
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], check=True)


def measured(old: str, new: str | None, robots: list[str], rounds: int, seconds: float) -> tuple[list[Pair], list[str]]:
    """Return what was measured of both commits, and what only one of them can do."""
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardan-compare-")))
        files = {name: _described(name, place) for name in robots}
        sides = []
        for name, commit in (("old", old), ("new", new)):
            tree = stack.enter_context(checked_out(commit, place / name))
            sides.append(Side(tree, place / f"{name}-cache", files))
            stack.callback(sides[-1].end)
        jobs = [(r, q.name, figure) for r in robots for q in QUANTITIES for figure in FIGURES]
        return _in_turns(sides, jobs, rounds, seconds)


def _described(name: str, place: Path) -> str:
    """Write a robot's description and say where: both commits read the same text."""
    which, file = robot(name), place / f"{name}.json"
    options = {q.name: q.options(which) for q in QUANTITIES}
    functions = {q.name: q.function for q in QUANTITIES if which.model.nv <= q.largest}
    file.write_text(
        json.dumps({"urdf": which.urdf, "base": which.base, "functions": functions, "options": options})
    )
    return str(file)


def _in_turns(
    sides: list[Side], jobs: list[tuple[str, str, str]], rounds: int, seconds: float
) -> tuple[list[Pair], list[str]]:
    pairs, single = [], []
    for job in jobs:
        served = [side.ask("prepare", *job) for side in sides]
        if all(reason is None for reason in served):
            pairs.append(Pair(job))
        elif served[0] != served[1]:
            single.append(f"{' '.join(job)}: {served[0] or 'served'} | {served[1] or 'served'}")
    for turn in range(rounds):
        for pair in pairs:
            order = (0, 1) if turn % 2 else (1, 0)
            found = {k: sides[k].ask("measure", *pair.job, seconds) for k in order}
            pair.old.append(found[0])
            pair.new.append(found[1])
    return pairs, single


def report(pairs: list[Pair], allowed: float) -> str:
    """Return the ratios as a table; `slower` and `faster` mark what is so beyond the spread."""
    header = ("robot", "quantity", "figure", "old", "new", "new / old (middle half)", "")
    return table(header, [_line(pair, allowed) for pair in pairs])


def _line(pair: Pair, allowed: float) -> tuple[str, ...]:
    ratio = pair.ratio
    verdict = "slower" if pair.slower(allowed) else "faster" if ratio.high < 1.0 / (1.0 + allowed) else ""
    times = (duration(Spread.of(values).median) for values in (pair.old, pair.new))
    return (*pair.job, *times, f"{ratio.median:.3f} ({ratio.low:.3f}-{ratio.high:.3f})", verdict)


def main(words: list[str]) -> int:
    """Compare, print, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=__doc__)
    parser.add_argument("old", metavar="OLD", help="a commit, as git knows it")
    parser.add_argument("new", metavar="NEW", nargs="?", help="another (default: the working tree)")
    parser.add_argument("--robots", nargs="+", choices=NAMES, default=["panda", "talos"], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="default 15")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"a figure, a round (default {SECONDS:g})")
    parser.add_argument("--allowed", type=float, default=0.05, help="fraction it may be slower by (default 0.05)")
    args = parser.parse_args(words)
    pairs, single = measured(args.old, args.new, args.robots, max(2, args.rounds), args.seconds)
    print(report(pairs, args.allowed))
    for line in single:
        print(f"not compared: {line}")
    slower = [" ".join(pair.job) for pair in pairs if pair.slower(args.allowed)]
    print(f"slower by more than {100 * args.allowed:g} %: {', '.join(slower) or 'nothing'}")
    return 1 if slower else 0
