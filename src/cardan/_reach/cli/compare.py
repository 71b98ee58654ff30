"""`cardan compare A B`: what differs between two robots."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from cardan._reach.cli.options import READING, add, reading, tell
from cardan._reach.comparison import compare


def fill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="robot description")
    parser.add_argument("b", metavar="B", help="another")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="relative, of all numbers (default: 1e-9)")
    add(parser, *READING, "--json")


def run(args: argparse.Namespace) -> int:
    found = compare(args.a, args.b, tolerance=args.tolerance, **reading(args))
    tell(args, {"equal": found.equal, **asdict(found)}, found)
    return int(not found.equal)
