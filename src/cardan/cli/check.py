"""`cardan check FILE`: every fault of a robot description, with file and line."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from cardan.cli.options import add_file, add_json, reading, tell
from cardan.formats import check


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("check", help="all faults of a robot description; exit status 1 if there are errors")
    add_file(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the faults and return 1 if one of them is an error."""
    faults = check(args.file, **reading(args))
    errors = sum(f.severity == "error" for f in faults)
    counted = f"{args.file}: {errors} errors, {len(faults) - errors} warnings"
    tell(args, [asdict(fault) for fault in faults], "\n".join(map(str, [*faults, counted])))
    return int(errors > 0)
