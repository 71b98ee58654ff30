"""`cardan compare A B`: what differs between two robots, and why."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from cardan._reach.cli.options import add_json, add_reading, reading, tell
from cardan._reach.comparison import compare


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("a", metavar="A", help="robot description")
    parser.add_argument("b", metavar="B", help="another")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="relative, of all numbers (default: 1e-9)")
    add_reading(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the comparison and return 1 if there is a difference."""
    found = compare(args.a, args.b, tolerance=args.tolerance, **reading(args))
    tell(args, {"equal": found.equal, **asdict(found)}, found)
    return int(not found.equal)
