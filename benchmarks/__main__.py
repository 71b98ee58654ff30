"""`python -m benchmarks`: cardan and its peers in one run. It reports numbers and fails on none."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

os.environ["CARDAN_CACHE_DIR"] = tempfile.mkdtemp(prefix="cardan-benchmark-")  # leave the user's cache alone

from benchmarks import startup
from benchmarks.peers import PEERS, Peer, installed
from benchmarks.report import duration, robot_table, target_table
from benchmarks.robots import NAMES, STATES, Robot, robot
from benchmarks.targets import compared
from benchmarks.timing import SECONDS
from benchmarks.worker import rows_of
from cardan.cli.bench import environment
from cardan.targets.llvm.peak import peak_operations


def main() -> None:
    """Measure, print, write."""
    args = arguments()
    warnings.simplefilter("ignore")  # what peers say about their settings
    peers, absent = installed(args.peers)
    where = environment(peak_operations()) | {p.name: p.version for p in peers}
    where |= {"states": STATES, "runs": args.runs, "system": platform.platform()}
    where["load_average"] = os.getloadavg()[0] if hasattr(os, "getloadavg") else None  # 0 on an idle machine
    print(", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in where.items()))
    for name, reason in absent.items():
        print(f"{name}: not installed ({reason})")
    rows, startups = run(args, peers)
    targets = compared(rows, startups)
    print(f"\nTargets\n{target_table(targets)}")
    result = {"environment": where, "absent": absent, "rows": rows, "startup": startups, "targets": targets}
    write(args, result, [p.name for p in peers])


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=" ".join(NAMES))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), metavar="NAME", help=" ".join(PEERS))
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="rounds; the shortest times count (default 3)")
    parser.add_argument("--quick", action="store_true", help="one round, an instant for each figure")
    parser.add_argument("--json", metavar="FILE", help="write everything that was found")
    parser.add_argument("--plot", metavar="FILE", help="draw time against degrees of freedom (needs matplotlib)")
    args = parser.parse_args()
    args.runs = 1 if args.quick else max(1, args.runs)
    return args


def run(args: argparse.Namespace, peers: list[Peer]) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Return the rows of all robots, and the startup times of those that have targets."""
    rows: list[dict[str, Any]] = []
    startups: dict[str, dict[str, float]] = {}
    for name in args.robots:
        try:
            which = robot(name)
        except FileNotFoundError as error:
            print(f"\n{name}: {error}")
            continue
        found = rows_of(name, [p.name for p in peers], args.runs, 0.01 if args.quick else SECONDS)
        rows += found
        print(
            f"\n{name}, {which.model.nv} degrees of freedom\n{robot_table(found, [p.name for p in peers])}", flush=True
        )
        if name in ("panda", "talos"):
            startups[name] = started(which, args.runs)
    return rows, startups


def started(which: Robot, runs: int) -> dict[str, float]:
    """Return the startup times of a robot, and print them."""
    times = startup.first_call(which, runs) | {"import_s": startup.import_seconds(runs)}
    print(", ".join(f"{name} {duration(seconds)}" for name, seconds in times.items()), flush=True)
    return times


def write(args: argparse.Namespace, result: dict[str, Any], peers: list[str]) -> None:
    """Write the files that were asked for."""
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=2))
    if args.plot:
        from benchmarks.plot import draw

        draw(result["rows"], ["cardan", *peers], args.plot)


if __name__ == "__main__":
    if sys.argv[1:2] == ["simulation"]:
        from benchmarks import simulation

        simulation.main(sys.argv[2:])
    elif sys.argv[1:2] == ["ik"]:
        from benchmarks import ik

        ik.main(sys.argv[2:])
    elif sys.argv[1:2] == ["jax"]:
        from benchmarks import interop_jax

        interop_jax.main(sys.argv[2:])
    elif sys.argv[1:2] == ["torch"]:
        from benchmarks import interop_torch

        interop_torch.main(sys.argv[2:])
    else:
        main()
