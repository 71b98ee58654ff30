"""`cardan check FILE`: every fault of a robot description, with file and line."""

from __future__ import annotations

import argparse
from typing import Any

from cardan.cli.options import add_json, add_packages, add_trusted, print_json
from cardan.formats import check


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("check", help="all faults of a robot description; exit status 1 if there are errors")
    parser.add_argument("file", metavar="FILE", help="robot description (URDF or JSON)")
    add_packages(parser)
    add_trusted(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the faults and return 1 if one of them is an error."""
    faults = check(args.file, packages=args.package, trusted=args.trusted)
    errors = sum(f.severity == "error" for f in faults)
    if args.json:
        print_json([{"file": f.file, "line": f.line, "severity": f.severity, "message": f.message} for f in faults])
        return int(errors > 0)
    for fault in faults:
        print(fault)
    print(f"{args.file}: {errors} errors, {len(faults) - errors} warnings")
    return int(errors > 0)
