"""`python -m benchmarks compare OLD [NEW]`: is a commit slower than another? Without NEW: is the working tree?

Both are checked out, each into a temporary worktree, and run in a process of their own. They take turns: in each round
both measure the same figure, one right after the other, now the one first, now the other. What is compared is the ratio
of processor times of a round, new over old: a slow moment of the machine slows both. Where a process happens to lie in
memory makes up to a quarter of difference to the same code, so both are started several times. The exit status is 1 if
something became slower by more than `--allowed`, and beyond the spread: the median of every start says so, and the
lower quartile of all rounds.
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
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.quantities import QUANTITIES
from benchmarks.report import duration
from benchmarks.robots import NAMES, robot
from benchmarks.spread import Spread, ratios
from cardan._reach.cli.options import table

ROOT = Path(__file__).parents[1]
FIGURES = ("batch", "cached", "call")
SECONDS = 0.02


@dataclass
class Pair:
    """One figure of one quantity of one robot, of both commits.

    Attributes:
        job: [robot, quantity, figure].
        old, new: processor seconds of a state, a list for each start of the processes, with a number for each round.
    """

    job: tuple[str, str, str]
    old: list[list[float]] = field(default_factory=list)
    new: list[list[float]] = field(default_factory=list)

    def begin(self) -> None:
        """From here on the processes are new ones."""
        self.old.append([])
        self.new.append([])

    def keep(self, old: float, new: float) -> None:
        """Keep what a round found."""
        self.old[-1].append(old)
        self.new[-1].append(new)

    @property
    def ratio(self) -> Spread:
        """How many times as long as the old commit the new one takes, of all rounds."""
        return ratios([*chain(*self.new)], [*chain(*self.old)])

    def slower(self, allowed: float) -> bool:
        """Return whether it became slower by more than a fraction, whatever start of the processes one looks at."""
        return (
            self.ratio.low > 1.0 + allowed < min(ratios(n, o).median for n, o in zip(self.new, self.old, strict=True))
        )

    def faster(self, allowed: float) -> bool:
        """Return whether the old commit is slower by as much."""
        return Pair(self.job, self.new, self.old).slower(allowed)


class Side:
    """A process that has one commit's cardan, and measures what it is told."""

    def __init__(self, tree: Path, place: Path, files: dict[str, str]) -> None:
        place.mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if k != "CARDAN_TARGET"}
        environment |= {"PYTHONPATH": str(tree / "src"), "CARDAN_CACHE_DIR": str(place), "CARDAN_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).with_name("compare_worker.py")), json.dumps(files)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=place
        )

    def check(self, tree: Path) -> None:
        """Check that it measures what it is to measure.

        Raises:
            RuntimeError: if it found another cardan.
        """
        found = Path(self.ask("where"))
        if not found.is_relative_to(tree.resolve()):
            raise RuntimeError(f"a process was to measure {tree}, but it found {found}")

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


def measured(args: argparse.Namespace) -> tuple[list[Pair], list[str]]:
    """Return what was measured of both commits, and what only one of them can do."""
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardan-compare-")))
        files = {name: _described(name, place) for name in args.robots}
        commits = {"old": args.old, "new": args.new}
        trees = {n: stack.enter_context(checked_out(commit, place / n)) for n, commit in commits.items()}
        pairs = {(r, q.label, f): Pair((r, q.label, f)) for r in args.robots for q in QUANTITIES for f in FIGURES}
        alone: dict[tuple[str, str, str], str] = {}
        for _ in range(args.starts):
            with contextlib.ExitStack() as processes:
                sides = []
                for name, tree in trees.items():
                    sides.append(Side(tree, place / f"{name}-cache", files))
                    processes.callback(sides[-1].end)
                    sides[-1].check(tree)
                _in_turns(sides, pairs, alone, args)
    return list(pairs.values()), list(alone.values())


def _described(name: str, place: Path) -> str:
    """Write a robot's description and say where: both commits read the same text."""
    which, file = robot(name), place / f"{name}.json"
    options = {q.label: q.options(which) for q in QUANTITIES}
    functions = {q.label: q.function for q in QUANTITIES if which.model.nv <= q.largest}
    file.write_text(json.dumps({"urdf": which.urdf, "base": which.base, "functions": functions, "options": options}))
    return str(file)


def _in_turns(sides: list[Side], pairs: dict[Any, Pair], alone: dict[Any, str], args: argparse.Namespace) -> None:
    """Measure every pair for some rounds; take out what does not run on both sides, noting what does on one."""
    for job in list(pairs):
        reasons = [side.ask("prepare", *job) for side in sides]
        if any(reasons):
            del pairs[job]
        if len({reason is None for reason in reasons}) == 2:
            alone[job] = f"{' '.join(job)}: {reasons[0] or 'served'} | {reasons[1] or 'served'}"
    for pair in pairs.values():
        pair.begin()
    for turn in range(args.rounds):
        for pair in pairs.values():
            order = (0, 1) if turn % 2 else (1, 0)
            found = {k: sides[k].ask("measure", *pair.job, args.seconds) for k in order}
            pair.keep(found[0], found[1])


def report(pairs: list[Pair], allowed: float) -> str:
    """Return the ratios as a table; `slower` and `faster` mark what is so beyond the spread."""
    header = ("robot", "quantity", "figure", "old", "new", "new / old (middle half)", "")
    return table(header, [_line(pair, allowed) for pair in pairs])


def _line(pair: Pair, allowed: float) -> tuple[str, ...]:
    ratio = pair.ratio
    verdict = "slower" if pair.slower(allowed) else "faster" if pair.faster(allowed) else ""
    times = (duration(Spread.of([*chain(*values)]).median) for values in (pair.old, pair.new))
    return (*pair.job, *times, f"{ratio.median:.3f} ({ratio.low:.3f}-{ratio.high:.3f})", verdict)


def main(words: list[str]) -> int:
    """Compare, print, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=__doc__)
    parser.add_argument("old", metavar="OLD", help="a commit, as git knows it")
    parser.add_argument("new", metavar="NEW", nargs="?", help="another (default: the working tree)")
    parser.add_argument("--robots", nargs="+", choices=NAMES, default=["panda", "talos"], metavar="NAME")
    parser.add_argument("--starts", type=int, default=4, metavar="N", help="of both processes (default 4)")
    parser.add_argument("--rounds", type=int, default=6, metavar="N", help="of each start (default 6)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"a figure, a round (default {SECONDS:g})")
    parser.add_argument("--allowed", type=float, default=0.05, help="fraction it may be slower by (default 0.05)")
    args = parser.parse_args(words)
    pairs, alone = measured(args)
    print(report(pairs, args.allowed))
    for line in alone:
        print(f"not compared: {line}")
    slower = [" ".join(pair.job) for pair in pairs if pair.slower(args.allowed)]
    print(f"slower by more than {100 * args.allowed:g} %: {', '.join(slower) or 'nothing'}")
    return 1 if slower else 0
