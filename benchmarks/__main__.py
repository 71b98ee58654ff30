"""`python -m benchmarks`: cardan and its peers in one run. It reports numbers and fails on none.

`python -m benchmarks compare OLD [NEW]` compares two commits; `simulation` and `ik` measure those.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

os.environ["CARDAN_CACHE_DIR"] = tempfile.mkdtemp(prefix="cardan-benchmark-")  # leave the user's cache alone

from benchmarks import arguments as kinds_of_arguments
from benchmarks import emitters, startup
from benchmarks.machine import description
from benchmarks.peers import PEERS, SLOW, Peer, installed
from benchmarks.report import duration, robot_table, target_table
from benchmarks.robots import NAMES, STATES, Robot, robot
from benchmarks.targets import compared
from benchmarks.timing import SECONDS
from benchmarks.worker import rows_of

QUICK = ("panda", "talos")


def main() -> None:
    """Measure, print, write."""
    args = arguments()
    warnings.simplefilter("ignore")  # what peers say about their settings
    peers, absent = installed(args.peers)
    absent |= {name: "left out of this run" for name in PEERS if name not in args.peers}
    where = description() | {"states": STATES, "rounds": args.rounds, "seconds": args.seconds}
    print(", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in where.items()))
    for name, reason in absent.items():
        print(f"{name}: not measured ({reason})")
    rows, startups, emitted = run(args, peers)
    calls = kinds_of_arguments.table(robot(QUICK[0]), args.rounds) if QUICK[0] in args.robots else ""
    print(f"\n{calls}")
    targets = compared(rows, startups)
    print(f"\nGoals\n{target_table(targets)}")
    where |= {peer.name: peer.version for peer in peers} | {"load_average_afterwards": description()["load_average"]}
    result = {"environment": where, "absent": absent, "rows": rows, "startup": startups, "emitters": emitted}
    result |= {"arguments": calls}
    write(args, result | {"targets": targets}, peers)


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=NAMES, metavar="NAME", help=" ".join(NAMES))
    parser.add_argument("--peers", nargs="*", choices=PEERS, metavar="NAME", help=" ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="in which all take turns (default 15)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"a figure, a round (default {SECONDS:g})")
    quick = f"under two minutes: {' and '.join(QUICK)}, 5 short rounds, no peers that compile ({', '.join(SLOW)})"
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument(
        "--emitters", action="store_true", help="compile everything by each emitter of machine code, too"
    )
    parser.add_argument("--json", metavar="FILE", help="write everything that was found")
    parser.add_argument("--page", metavar="FILE", help="write it as one page: HTML, or Markdown for .md")
    parser.add_argument("--plot", metavar="FILE", help="draw time against degrees of freedom (needs matplotlib)")
    args = parser.parse_args()
    args.robots = args.robots or (QUICK if args.quick else NAMES)
    if args.peers is None:
        args.peers = [name for name in PEERS if not (args.quick and name in SLOW)]
    args.rounds, args.seconds = (5, 0.004) if args.quick else (max(1, args.rounds), args.seconds)
    return args


def run(
    args: argparse.Namespace, peers: list[Peer]
) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]], list[dict[str, Any]]]:
    """Return the rows of all robots, the startup times of those that have goals, and what emitters cost."""
    rows: list[dict[str, Any]] = []
    startups: dict[str, dict[str, float]] = {}
    emitted: list[dict[str, Any]] = []
    names = [p.name for p in peers]
    for name in args.robots:
        try:
            which = robot(name)
        except FileNotFoundError as error:
            print(f"\n{name}: {error}")
            continue
        found = rows_of(name, names, args.rounds, args.seconds)
        rows += found
        print(f"\n{name}, {which.model.nv} degrees of freedom\n{robot_table(found, names)}", flush=True)
        if name in QUICK:
            startups[name] = started(which, 1 if args.quick else 3)
        if args.emitters:
            emitted += emitters.table(name)
    return rows, startups, emitted


def started(which: Robot, runs: int) -> dict[str, float]:
    """Return the startup times of a robot, and print them."""
    times = startup.first_call(which, runs) | {"import_s": startup.import_seconds(runs)}
    print(", ".join(f"{name} {duration(seconds)}" for name, seconds in times.items()), flush=True)
    return times


def write(args: argparse.Namespace, result: dict[str, Any], peers: list[Peer]) -> None:
    """Write the files that were asked for."""
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=2))
    if args.page:
        from benchmarks.page import page

        Path(args.page).write_text(page(result, peers, markdown=args.page.endswith(".md")))
    if args.plot:
        from benchmarks.plot import draw

        draw(result["rows"], ["cardan", *(p.name for p in peers)], args.plot)


def other(name: str, words: list[str]) -> int:
    """Run another benchmark by its name, and return its exit status."""
    from importlib import import_module

    return import_module(f"benchmarks.{name}").main(words) or 0


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in (
        "compare",
        "simulation",
        "ik",
        "jax",
        "second_order",
        "casadi_solver",
        "optimal",
        "torch",
        "cuda",
        "clearance",
        "crowds",
        "standing",
        "arguments",
        "long_chains",
    ):
        sys.exit(other(sys.argv[1], sys.argv[2:]))
    main()
